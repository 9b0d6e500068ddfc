//! Declarations of `share`, the cache of models' summaries that a team shares.

use clap::{Args as Arguments, Subcommand};

/// Arguments of `share`.
#[derive(Debug, Arguments)]
pub struct ShareArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: ShareCommand,
}

/// The subcommands of `share`.
#[derive(Debug, Subcommand)]
pub enum ShareCommand {
    /// Show the address, whether it can be reached, and what was fetched and stored
    #[command(after_help = "Example:
  slop share status")]
    Status,
    /// Fetch the missing summaries
    #[command(after_help = "Examples:
  slop share pull --estimate
  slop share pull")]
    Pull {
        /// Show how many summaries would be requested, without requesting them
        #[arg(long)]
        estimate: bool,
    },
    /// Store the summaries that were paid for here
    ///
    /// Summaries that others have already stored are kept.
    #[command(after_help = "Examples:
  slop share push
  slop share push --pack")]
    Push {
        /// Store all of them as one object, which others fetch in one request; only for S3
        #[arg(long)]
        pack: bool,
    },
    /// Print a new key for the team, or a pair of keys for a writer
    ///
    /// Keys go to standard output; what to do with them goes to standard error. Nothing is written to a file.
    #[command(after_help = "Examples:
  slop share keygen > ~/.config/slop/team.key
  slop share keygen --writer ci")]
    Keygen {
        /// The name of the writer
        #[arg(long, value_name = "NAME", value_parser = writer_name)]
        writer: Option<String>,
    },
    /// Read every summary that was stored from here back, and check it
    ///
    /// The exit code is 1 if an entry is invalid.
    #[command(after_help = "Example:
  slop share verify")]
    Verify,
}

fn writer_name(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    if !text.is_empty() && text.chars().all(is_name) {
        return Ok(text.to_owned());
    }
    Err("expected letters, digits, `-`, `_`, `.` and `@`".to_owned())
}
