//! Declarations of the commands about the cache: `index`, `status` and `cache`.

use clap::{Args as Arguments, Subcommand, ValueEnum};

use super::values::{file_word, whole_number};

/// Arguments of `index`.
#[derive(Debug, Arguments)]
pub struct IndexArgs {
    /// Read and hash every file, even if its size and timestamps are unchanged
    #[arg(long)]
    pub verify: bool,
}

/// Arguments of `status`.
#[derive(Debug, Arguments)]
pub struct StatusArgs {
    /// List every file with its state
    #[arg(long)]
    pub all: bool,
    /// Show the sizes of folders instead: their files, and an estimate of their tokens
    #[arg(long, value_name = "WHAT", conflicts_with = "all")]
    pub by: Option<StatusGrouping>,
}

/// The grouping of `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StatusGrouping {
    /// By folder.
    Folder,
}

/// Arguments of `cache`.
#[derive(Debug, Arguments)]
pub struct CacheArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: CacheCommand,
}

/// The subcommands of `cache`.
#[derive(Debug, Subcommand)]
pub enum CacheCommand {
    /// Show how much is cached
    #[command(after_help = "Example:
  slop cache status --json | jq .data.bytes_on_disk")]
    Status,
    /// Clear the cache or part of it
    ///
    /// What is deleted is derived again when it is needed. The cache contains nothing written by hand. It also records
    /// what the last aggregations contained, so the next --since-last shows everything.
    ///
    /// Summaries written by models cost money. They are deleted only with --yes or --agent, or after confirmation on
    /// the terminal. The record of what has been spent is kept, and still counts.
    #[command(after_help = "Examples:
  slop cache clear
  slop cache clear src/engine.py")]
    Clear {
        /// Delete only what is cached for these files
        #[arg(value_name = "PATH", conflicts_with_all = ["summaries", "structure"], value_parser = file_word())]
        files: Vec<String>,
        /// Delete the summaries
        #[arg(long)]
        summaries: bool,
        /// Delete the outlines, skeletons and references
        #[arg(long)]
        structure: bool,
        /// Delete the summaries written by models, of all files or of the given ones
        #[arg(long)]
        agent: bool,
        /// Also delete the summaries written by models, without confirmation
        #[arg(long, conflicts_with_all = ["files", "summaries", "structure", "agent"])]
        yes: bool,
    },
    /// Check every cached byte and delete damaged entries
    #[command(after_help = "Example:
  slop cache verify")]
    Verify,
    /// Delete entries for contents that no file has had for some time, and those of older versions of slop
    ///
    /// Aggregation names that have not been used for that long are dropped, together with the record of their
    /// documents.
    #[command(after_help = "Example:
  slop cache gc --days 7")]
    Gc {
        /// Keep contents that a file has had within the last N days
        #[arg(long, value_name = "N", default_value_t = 30, value_parser = whole_number::<u32>(0..))]
        days: u32,
    },
    /// Print the cached data: one line of JSON per file, and one per summary by a model
    ///
    /// The line of a file has its outline as text and as a tree, and its heuristic summary. Files with symbols that a
    /// mask hides are omitted.
    #[command(after_help = "Examples:
  slop cache export | jq -r .file_path
  slop cache export src/ring.c | jq -r .outline")]
    Export {
        /// Print only the data of these files, folders or patterns
        files: Vec<String>,
    },
}
