//! The commands that edit masks, presets and personas, declared.

use clap::Args as Arguments;
use clap::Subcommand;

use crate::model::MaskMode;

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
        #[arg(value_name = "SYMBOL=def|sig|hide", required = true, value_parser = symbol_mode)]
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

/// Reads `SYMBOL=MODE`; a symbol's name may hold signs of equality itself.
fn symbol_mode(word: &str) -> Result<(String, MaskMode), String> {
    let expected = || "write SYMBOL=def, SYMBOL=sig or SYMBOL=hide".to_owned();
    let (symbol, mode) = word.rsplit_once('=').ok_or_else(expected)?;
    let mode = MaskMode::from_name(mode).ok_or_else(expected)?;
    if symbol.trim().is_empty() { Err(expected()) } else { Ok((symbol.trim().to_owned(), mode)) }
}

fn preset_name(name: &str) -> Result<String, String> {
    if name.trim().is_empty() || name.contains(|c: char| c == '/' || c.is_control()) {
        return Err("a name is some text on one line, without `/`".to_owned());
    }
    Ok(name.to_owned())
}
