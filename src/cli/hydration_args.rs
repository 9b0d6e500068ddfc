//! Declarations of the flags of `hydrate`, `simulate` and `fragments`.

use std::path::PathBuf;

use clap::{Args as Arguments, Subcommand, ValueEnum};

use super::document_args::ViewSelectionArgs;
use super::values::{file_word, whole_number};

/// Arguments of `hydrate` and `simulate`.
#[derive(Debug, Arguments)]
pub struct HydrateArgs {
    /// Place files of several projects within one budget: a file with a plan, or the folders of the projects
    ///
    /// A plan is TOML or JSON: `[plan]` with `name` and `budget_tokens`, and `[[project]]` for each project, with
    /// `path` and, if wanted, `share` (the part of the budget that it gets, from 0 to 1), `focus` and `tier`. The rest
    /// of the budget goes to the best files of all projects, but no project gets less than a twentieth. Each project is
    /// opened with its own cache, settings and linked folders. Without a budget, the limit is your own
    /// `hydration.hot_tokens`.
    #[arg(long, value_name = "FILE|PROJECT", num_args = 1.., conflicts_with = "preset")]
    pub plan: Vec<PathBuf>,
    /// The flags that select views.
    #[command(flatten)]
    pub choice: ViewSelectionArgs,
}

/// Arguments of `fragments`.
#[derive(Debug, Arguments)]
#[command(args_conflicts_with_subcommands = true)]
pub struct FragmentsArgs {
    /// List only the fragments of this tier
    #[arg(long, value_name = "TIER", value_enum, ignore_case = true)]
    pub tier: Option<WarmthArg>,
    /// Also print what each fragment shows now
    #[arg(long)]
    pub text: bool,
    /// A command, instead of listing them.
    #[command(subcommand)]
    pub command: Option<FragmentsCommand>,
}

/// Commands of `fragments`.
#[derive(Debug, Subcommand)]
pub enum FragmentsCommand {
    /// Make files, or slices of them, HOT from the next hydration on
    #[command(after_help = "Examples:
  slop fragments pin src/engine.py
  slop fragments pin src/engine.py --slice 'hot loop'
  slop fragments pin 'src/**/*.proto' --depth 2")]
    Pin {
        /// Files, folders or patterns
        #[arg(value_name = "PATH", required = true, value_parser = file_word())]
        paths: Vec<String>,
        /// Only the slices with this tag, or marked at these lines
        #[arg(long, value_name = "TAG|A-B")]
        slice: Option<String>,
        /// Show them at this depth, from 0 to 9 [default: as deep as fits]
        ///
        /// 9 is the text, 4 to 8 a skeleton, 2 and 3 an outline, 1 a summary, 0 the path.
        #[arg(long, value_name = "DEPTH", value_parser = whole_number::<u8>(0..=9))]
        depth: Option<u8>,
    },
    /// Undo `pin`
    #[command(after_help = "Examples:
  slop fragments unpin src/engine.py")]
    Unpin {
        /// Files, folders or patterns
        #[arg(value_name = "PATH", required = true, value_parser = file_word())]
        paths: Vec<String>,
        /// Only the slices with this tag, or marked at these lines
        #[arg(long, value_name = "TAG|A-B")]
        slice: Option<String>,
    },
    /// Forget the placements, pins and uses of files; relevant files will be placed again
    #[command(after_help = "Examples:
  slop fragments forget docs")]
    Forget {
        /// Files, folders or patterns
        #[arg(value_name = "PATH", required = true, value_parser = file_word())]
        paths: Vec<String>,
        /// Only the slices with this tag, or marked at these lines
        #[arg(long, value_name = "TAG|A-B")]
        slice: Option<String>,
    },
}

/// A tier of fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "UPPER")]
pub enum WarmthArg {
    /// In the context.
    Hot,
    /// Prepared, and listed in the map.
    Warm,
    /// Known by its name, a line of words, and its hash.
    Cold,
}
