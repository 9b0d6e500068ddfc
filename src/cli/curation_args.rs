//! The commands that edit slices, masks, presets and personas, declared.

#![expect(clippy::doc_markdown, reason = "these comments are help texts, and read as they stand")]

use clap::Args as Arguments;
use clap::Subcommand;

use super::values::line_range;
use super::values::mask;
use crate::model::MaskMode;

/// Arguments of `slice`.
#[derive(Debug, Arguments)]
pub struct SliceArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: SliceCommand,
}

/// What can be done with slices.
#[derive(Debug, Subcommand)]
pub enum SliceCommand {
    /// Mark lines of a file in slop.toml
    ///
    /// An entry for the file is made under `[[files]]` where there is none. All else in slop.toml stays as it is.
    #[command(after_help = "Example:
  slop slice add src/engine.py 10-25 --tag 'hot loop' --comment 'why it matters'")]
    Add {
        /// A file
        #[arg(value_name = "PATH")]
        file: String,
        /// The first and the last line, from 1
        #[arg(value_name = "A-B", value_parser = line_range)]
        lines: (u32, u32),
        /// Name the slice
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        tag: String,
        /// Say why it matters
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        comment: String,
    },
    /// List the slices in slop.toml, and where each is now
    List {
        /// List those of this file alone, as it is spelled in slop.toml
        #[arg(value_name = "PATH")]
        file: Option<String>,
    },
    /// Remove slices of a file from slop.toml
    Remove {
        /// The file, as it is spelled in slop.toml
        #[arg(value_name = "PATH")]
        file: String,
        /// The lines that the slice is at now, or those that it was marked at, or a tag
        #[arg(value_name = "A-B|TAG")]
        slice: String,
    },
    /// Print a slice as JSON: the lines, and what it takes to find them again
    ///
    /// Nothing is written. What is printed can be given to `slop slice resolve`.
    #[command(after_help = "Example:
  slop slice make src/engine.py 10-25 --tag 'hot loop' > slice.json")]
    Make {
        /// A file
        #[arg(value_name = "PATH")]
        file: String,
        /// The first and the last line, from 1
        #[arg(value_name = "A-B", value_parser = line_range)]
        lines: (u32, u32),
        /// Name the slice
        #[arg(long, value_name = "NAME", default_value = "", hide_default_value = true)]
        tag: String,
        /// Say why it matters
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        comment: String,
    },
    /// Say where a slice is now
    ///
    /// Reads the slice as JSON from the standard input and prints {status, start_line, end_line, reason}. The status is
    /// exact (the same text at the same lines), moved (the same text at others), changed (what became of it), or stale
    /// (not found, or at several places that are equally good): then the lines are a guess, and the exit code is 1.
    #[command(after_help = "Example:
  slop slice resolve src/engine.py < slice.json")]
    Resolve {
        /// The file that the slice was made of
        #[arg(value_name = "PATH")]
        file: String,
    },
}

/// Arguments of `mask`.
#[derive(Debug, Arguments)]
pub struct MaskArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: MaskCommand,
}

/// What can be done with masks.
#[derive(Debug, Subcommand)]
pub enum MaskCommand {
    /// Set what is shown of symbols: def (the text), sig (the signature) or hide
    ///
    /// A symbol is named by its qualified name, as `slop outline --json` has it. Where several have that name, all of
    /// them are meant; name(parameters) is the one that takes these, and name#2 the second in the file.
    #[command(after_help = "Examples:
  slop mask set src/engine.py Engine=sig Engine.run=def Engine._debug=hide
  slop mask set src/engine.cpp 'Engine::run(int speed)=def' 'Engine::run#2=sig'")]
    Set {
        /// A file or a pattern
        #[arg(value_name = "PATH")]
        file: String,
        /// A symbol, and what is shown of it
        #[arg(value_name = "SYMBOL=def|sig|hide", required = true, value_parser = mask)]
        masks: Vec<(String, MaskMode)>,
    },
    /// List the masks in slop.toml, and the symbols in them that are gone
    List {
        /// List that of this file alone, as it is spelled in slop.toml
        #[arg(value_name = "PATH")]
        file: Option<String>,
    },
    /// Take symbols off the mask of a file
    Remove {
        /// The file, as it is spelled in slop.toml
        #[arg(value_name = "PATH")]
        file: String,
        /// Symbols, as they are spelled in slop.toml
        #[arg(value_name = "SYMBOL", required_unless_present = "all")]
        symbols: Vec<String>,
        /// Take off all of them
        #[arg(long, conflicts_with = "symbols")]
        all: bool,
    },
}

/// Arguments of `preset`.
#[derive(Debug, Arguments)]
pub struct PresetArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PresetCommand,
}

/// What can be done with presets.
#[derive(Debug, Subcommand)]
pub enum PresetCommand {
    /// Save files with what slop.toml says of each
    #[command(after_help = "Examples:
  slop preset save review                      all that is under [[files]]
  slop preset save engine src/engine.py tests --description 'the engine and its tests'")]
    Save {
        /// A name
        #[arg(value_parser = preset_name)]
        name: String,
        /// Files, folders or patterns; without any, all that slop.toml has under `[[files]]`
        #[arg(value_name = "FILES")]
        files: Vec<String>,
        /// Say what it is for
        #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
        description: String,
        /// Save it in the user's own settings, for every project
        #[arg(long)]
        user: bool,
        /// Overwrite the preset of that name
        #[arg(long)]
        force: bool,
    },
    /// List the presets
    List,
    /// Print a preset as it is saved, and say which of its files are gone
    Show {
        /// Its name
        name: String,
    },
    /// Put a preset's files in the place of all that slop.toml has under `[[files]]`
    ///
    /// Files that are gone are told and left out. What was curated by hand and is not in the preset is replaced with
    /// --yes alone.
    Apply {
        /// Its name
        name: String,
        /// Replace what was curated
        #[arg(long)]
        yes: bool,
    },
    /// Delete a preset
    Delete {
        /// Its name
        name: String,
    },
}

/// Arguments of `persona`.
#[derive(Debug, Arguments)]
pub struct PersonaArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: PersonaCommand,
}

/// What can be done with personas.
#[derive(Debug, Subcommand)]
pub enum PersonaCommand {
    /// List the personas
    List,
    /// Print a persona as it is written
    Show {
        /// Its name
        name: String,
    },
}

fn preset_name(name: &str) -> Result<String, String> {
    if name.trim().is_empty() || name.contains(|c: char| c == '/' || c.is_control()) {
        return Err("a name is some text on one line, without `/`".to_owned());
    }
    Ok(name.to_owned())
}
