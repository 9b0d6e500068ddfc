//! Declarations of the commands that edit slices, masks, presets and personas.

#![expect(clippy::doc_markdown, reason = "these comments are shown as plain help texts")]

use std::path::PathBuf;

use clap::{Args as Arguments, Subcommand};

use super::values::{file_word, line_range, mask, mode, whole_number};
use crate::config::edit::ItemMode;
use crate::model::{MaskMode, ViewMode};

/// Arguments of `item`.
#[derive(Debug, Arguments)]
pub struct ItemArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: ItemCommand,
}

/// The subcommands of `item`.
#[derive(Debug, Subcommand)]
pub enum ItemCommand {
    /// Set how files are shown
    ///
    /// Changes the entry of each path under `[[files]]` in slop.toml, or adds one. Each flag replaces the others;
    /// masks, slices and other keys of the entry are kept. A pattern must be quoted, and becomes one entry.
    // The flags of the group would make the line too long for a terminal.
    #[command(override_usage = "slop item set [OPTIONS] <PATH>... <FLAG>")]
    #[command(after_help = "Examples:
  slop item set src/engine.py README.md --force-full
  slop item set 'tests/**/*.py' --signatures
  slop item set src/engine.py --clear")]
    Set {
        /// Files, folders or patterns
        #[arg(value_name = "PATH", required = true, value_parser = file_word())]
        paths: Vec<String>,
        /// The mode to set.
        #[command(flatten)]
        mode: ItemModeArgs,
    },
    /// List the entries under `[[files]]` in slop.toml
    #[command(after_help = "Example:
  slop item list")]
    List {
        /// List only the entry of this path, as written in slop.toml
        #[arg(value_name = "PATH", value_parser = file_word())]
        path: Option<String>,
    },
    /// Remove entries from slop.toml
    ///
    /// Entries with a mask or with slices are removed only with --yes.
    #[command(after_help = "Example:
  slop item remove src/engine.py")]
    Remove {
        /// Paths or patterns, as written in slop.toml
        #[arg(value_name = "PATH", required = true, value_parser = file_word())]
        paths: Vec<String>,
        /// Remove masks and slices too
        #[arg(long)]
        yes: bool,
    },
}

/// The mode flags of `item set`, exactly one of which is given.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Arguments)]
#[group(required = true, multiple = false)]
pub struct ItemModeArgs {
    /// Show them in full, whatever the tier
    #[arg(long)]
    pub force_full: bool,
    /// Show them as the tier specifies
    #[arg(long)]
    pub auto_aggregate: bool,
    /// Show the signatures of all symbols
    #[arg(long)]
    pub signatures: bool,
    /// Show the definitions of all symbols
    #[arg(long)]
    pub definitions: bool,
    /// Show this view of them
    #[arg(long, value_name = "MODE", value_parser = mode())]
    pub view: Option<ViewMode>,
    /// Remove these settings, and entries without any others
    #[arg(long)]
    pub clear: bool,
}

impl ItemModeArgs {
    /// Returns the mode to set; `None` to remove it.
    pub fn chosen(&self) -> Option<ItemMode> {
        let flags = [
            (self.force_full, ItemMode::ForceFull),
            (self.auto_aggregate, ItemMode::AutoAggregate),
            (self.signatures, ItemMode::Signatures),
            (self.definitions, ItemMode::Definitions),
        ];
        let flag = flags.into_iter().find(|(is_given, _)| *is_given).map(|(_, mode)| mode);
        flag.or(self.view.map(ItemMode::View))
    }
}

/// Arguments of `slice`.
#[derive(Debug, Arguments)]
pub struct SliceArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: SliceCommand,
}

/// The subcommands of `slice`.
#[derive(Debug, Subcommand)]
pub enum SliceCommand {
    /// Add a slice of a file to slop.toml
    ///
    /// Creates an entry for the file under `[[files]]` if there is none. The rest of slop.toml is left unchanged.
    #[command(after_help = "Example:
  slop slice add src/engine.py 10-25 --tag 'hot loop' --comment 'why it matters'")]
    Add(MarkArgs),
    /// List the slices in slop.toml and where each is now
    #[command(after_help = "Example:
  slop slice list src/engine.py")]
    List {
        /// List only the slices of this file, as written in slop.toml
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: Option<String>,
    },
    /// Remove slices of a file from slop.toml
    #[command(after_help = "Example:
  slop slice remove src/engine.py 'hot loop'")]
    Remove {
        /// The file, as written in slop.toml
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: String,
        /// The slice's current lines, its original lines, or its tag
        #[arg(value_name = "A-B|TAG")]
        slice: String,
    },
    /// Print a slice as JSON: the lines, and the context needed to find them again
    ///
    /// Nothing is written. The output can be passed to `slop slice resolve`.
    #[command(after_help = "Example:
  slop slice make src/engine.py 10-25 --tag 'hot loop' > slice.json")]
    Make(MarkArgs),
    /// Show where a slice is now
    ///
    /// Reads the slice as JSON from standard input and prints {status, start_line, end_line, reason}. The status is
    /// exact (same text, same lines), moved (same text, different lines), changed (the edited lines), or stale (not
    /// found, or found equally well at several places). If it is stale, the lines are a guess and the exit code is 1.
    #[command(after_help = "Example:
  slop slice resolve src/engine.py < slice.json")]
    Resolve {
        /// The file that the slice was made from
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: String,
    },
}

/// Arguments of `slice add` and `slice make`.
#[derive(Debug, Arguments)]
pub struct MarkArgs {
    /// A file
    #[arg(value_name = "PATH", value_parser = file_word())]
    pub file: String,
    /// The first and the last line, counted from 1
    #[arg(value_name = "A-B", value_parser = line_range)]
    pub lines: (u32, u32),
    /// Name the slice
    #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
    pub tag: String,
    /// Describe why the lines matter
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub comment: String,
}

/// Arguments of `mask`.
#[derive(Debug, Arguments)]
pub struct MaskArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: MaskCommand,
}

/// The subcommands of `mask`.
#[derive(Debug, Subcommand)]
pub enum MaskCommand {
    /// Set what is shown of symbols: def (the definition), sig (the signature), agg (with its doc) or hide
    ///
    /// Symbols are given by their qualified names, as in `slop outline --json`. A name that several symbols share
    /// selects all of them; name(parameters) selects the one with these parameters, and name#2 the second one in the
    /// file.
    #[command(after_help = "Examples:
  slop mask set src/engine.py Engine=sig Engine.run=def Engine._debug=hide
  slop mask set src/engine.cpp 'Engine::run(int speed)=def' 'Engine::run#2=sig'")]
    Set {
        /// A file or a pattern
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: String,
        /// A symbol and what to show of it
        #[arg(value_name = "SYMBOL=def|sig|agg|hide", required = true, value_parser = mask)]
        masks: Vec<(String, MaskMode)>,
    },
    /// List the masks in slop.toml, with symbols that no longer exist
    #[command(after_help = "Example:
  slop mask list")]
    List {
        /// List only the mask of this file, as written in slop.toml
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: Option<String>,
    },
    /// Remove symbols from the mask of a file
    #[command(after_help = "Example:
  slop mask remove src/engine.py Engine.run")]
    Remove {
        /// The file, as written in slop.toml
        #[arg(value_name = "PATH", value_parser = file_word())]
        file: String,
        /// Symbols, as written in slop.toml
        #[arg(value_name = "SYMBOL", required_unless_present = "all")]
        symbols: Vec<String>,
        /// Remove all of them
        #[arg(long, conflicts_with = "symbols")]
        all: bool,
    },
}

/// Arguments of `preset`.
#[derive(Debug, Arguments)]
pub struct PresetArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: PresetCommand,
}

/// The subcommands of `preset`.
#[derive(Debug, Subcommand)]
pub enum PresetCommand {
    /// Save files with their settings from slop.toml as a preset
    #[command(after_help = "Examples:
  slop preset save review                      everything under [[files]]
  slop preset save engine src/engine.py tests --description 'the engine and its tests'")]
    Save {
        /// The preset's name
        #[arg(value_parser = preset_name)]
        name: String,
        /// Files, folders or patterns [default: everything under `[[files]]` in slop.toml]
        #[arg(value_name = "FILES", value_parser = file_word())]
        files: Vec<String>,
        /// Describe what the preset is for
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
        /// Save it in the user's settings, for all projects
        #[arg(long)]
        user: bool,
        /// Overwrite an existing preset of that name
        #[arg(long)]
        force: bool,
    },
    /// List the presets
    #[command(after_help = "Example:
  slop preset list")]
    List,
    /// Print a preset, and report which of its files are missing
    #[command(after_help = "Example:
  slop preset show review")]
    Show {
        /// The name
        name: String,
    },
    /// Replace everything under `[[files]]` in slop.toml with a preset's files
    ///
    /// Missing files are reported and left out. Entries that were curated by hand and are not in the preset are
    /// replaced only with --yes.
    #[command(after_help = "Example:
  slop preset apply review")]
    Apply {
        /// The name
        name: String,
        /// Replace entries that were curated by hand
        #[arg(long)]
        yes: bool,
    },
    /// Delete a preset
    #[command(after_help = "Example:
  slop preset delete review")]
    Delete {
        /// The name
        name: String,
    },
}

/// Arguments of `curation`.
#[derive(Debug, Arguments)]
pub struct CurationArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: CurationCommand,
}

/// The subcommands of `curation`.
#[derive(Debug, Subcommand)]
pub enum CurationCommand {
    /// Print the whole curation as JSON
    ///
    /// Includes items, presets, personas, screenshots and `[document]`, with the current lines of slices and whether
    /// the symbols in masks still exist.
    #[command(after_help = "Example:
  slop curation show")]
    Show,
    /// Make several edits atomically: all of them, or none if one fails
    ///
    /// The edits are a JSON list, as for /v1/curation/edit of the daemon. Files that make up a whole folder become one
    /// entry for the folder.
    #[command(after_help = "Examples:
  slop curation edit edits.json --dry-run
  echo '[{\"set\": {\"files\": {\"paths\": [\"src\"]}, \"to\": {\"ast_signatures\": true}}}]' | slop curation edit -")]
    Edit(CurationEditArgs),
}

/// Arguments of `curation edit`.
#[derive(Debug, Arguments)]
pub struct CurationEditArgs {
    /// A file with a JSON list of edits, or - for standard input
    #[arg(value_name = "FILE")]
    pub edits: PathBuf,
    /// Write nothing unless slop.toml has this revision
    #[arg(long, value_name = "REVISION")]
    pub revision: Option<String>,
    /// Describe the edits
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub label: String,
    /// Print what would be written, without writing it
    #[arg(long)]
    pub dry_run: bool,
}

/// Arguments of `take`.
#[derive(Debug, Arguments)]
pub struct TakeArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: TakeCommand,
}

/// The subcommands of `take`.
#[derive(Debug, Subcommand)]
pub enum TakeCommand {
    /// List the takes; `*` marks the current one
    #[command(after_help = "Example:
  slop take list")]
    List,
    /// Create a take as a copy of the current one, or of another
    ///
    /// It does not become the current one.
    #[command(after_help = "Examples:
  slop take create review
  slop take create parser --from review")]
    Create {
        /// The name of the new take
        name: String,
        /// The take to copy [default: the current one]
        #[arg(long, value_name = "TAKE")]
        from: Option<String>,
    },
    /// Switch to another take
    ///
    /// Moves the entries, screenshots and `[document]` in slop.toml to slop.takes.toml, and those of the other take to
    /// slop.toml. All other settings are kept. Each take has a history of its own for `slop undo`.
    #[command(after_help = "Example:
  slop take switch review")]
    Switch {
        /// The name
        name: String,
    },
    /// Rename a take
    #[command(after_help = "Example:
  slop take rename review second-review")]
    Rename {
        /// The name
        #[arg(value_name = "OLD")]
        name: String,
        /// The new name
        #[arg(value_name = "NEW")]
        to: String,
    },
    /// Delete a take that is not current, with its history
    ///
    /// A take that is not empty is deleted only with --yes.
    #[command(after_help = "Example:
  slop take delete review --yes")]
    Delete {
        /// The name
        name: String,
        /// Delete the take even if it is not empty
        #[arg(long)]
        yes: bool,
    },
}

/// Arguments of `history`.
#[derive(Debug, Arguments)]
pub struct HistoryArgs {
    /// List the states of this take [default: the current one]
    #[arg(long, value_name = "TAKE")]
    pub take: Option<String>,
}

/// Arguments of `jump`.
#[derive(Debug, Arguments)]
pub struct JumpArgs {
    /// The number of the state in `slop history`
    #[arg(value_name = "STATE", value_parser = whole_number::<i64>(1..))]
    pub to: i64,
}

/// Arguments of `persona`.
#[derive(Debug, Arguments)]
pub struct PersonaArgs {
    /// The subcommand.
    #[command(subcommand)]
    pub command: PersonaCommand,
}

/// The subcommands of `persona`.
#[derive(Debug, Subcommand)]
pub enum PersonaCommand {
    /// List the personas
    #[command(after_help = "Example:
  slop persona list")]
    List,
    /// Print a persona
    #[command(after_help = "Example:
  slop persona show reviewer")]
    Show {
        /// The name
        name: String,
    },
}

fn preset_name(name: &str) -> Result<String, String> {
    if name.trim().is_empty() || name.contains(|c: char| c == '/' || c.is_control()) {
        return Err("not a non-empty line of text without `/`".to_owned());
    }
    Ok(name.to_owned())
}
