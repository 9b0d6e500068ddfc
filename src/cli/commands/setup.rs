//! Commands around the program itself: `init`, `config`, `completions` and `man`.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use serde_json::json;

use super::context::CommandContext;
use crate::api::{ApiError, envelope};
use crate::cli::args::{CliArgs, ConfigCommand, InitArgs};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::location::ProcessEnvironment;
use crate::cli::location::ProjectLocation;
use crate::cli::output::CommandOutput;
use crate::config::commented_template;
use crate::config::edit::{ConvertedProject, convert_older};
use crate::service::{SETTINGS_FILE, settings_error};
use crate::sys::{Disk, RealDisk};

pub(super) fn init(
    args: &InitArgs,
    place: &ProjectLocation,
    environment: &ProcessEnvironment,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    let path = place.root.join(SETTINGS_FILE);
    let text = match &args.from {
        Some(older) => converted(&environment.current_folder.join(older), output)?,
        None => commented_template(),
    };
    // `create_new` fails if the file exists, even if it appeared just now, so nothing written by hand is replaced.
    let created = RealDisk.create_new(&path, text.as_bytes());
    created.map_err(|error| ApiError::write_failed(&path, &error))?;
    if output.json {
        let data = serde_json::json!({"path": path.to_string_lossy()});
        output.write_envelope(&crate::api::envelope("init", None, &[], &data))?;
    } else {
        output.write_path(&path)?;
    }
    Ok(failure::DONE)
}

/// Converts an older file to the text of a new settings file, and notes what could not be converted.
fn converted(older: &Path, output: &mut CommandOutput) -> Result<String, CommandError> {
    let unreadable = |reason: &str| {
        let message = format!("older project file {} cannot be read: {reason}", older.display());
        CommandError::usage(message, "give the path of a TOML file with --from")
    };
    let bytes = RealDisk.read(older).map_err(|error| unreadable(&error.to_string()))?;
    let bytes = bytes.ok_or_else(|| unreadable("no such file"))?;
    let ConvertedProject { text, notes } =
        convert_older(older, &bytes).map_err(|error| settings_error(&error))?;
    for note in &notes {
        output.note(note);
    }
    Ok(text)
}

pub(super) fn print_config(
    command: &ConfigCommand,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let ConfigCommand::Show { origin } = command;
    if context.output.json {
        let values = context.loaded.values.iter().map(|value| {
            json!({
                "key": value.key,
                "value": value.value,
                "origin": value.origin.to_string(),
                "help": value.help,
            })
        });
        let data = json!({"values": values.collect::<serde_json::Value>()});
        context.output.write_envelope(&envelope("config", None, &[], &data))?;
        return Ok(failure::DONE);
    }
    for value in &context.loaded.values {
        let origin = if *origin { format!("  # {}", value.origin) } else { String::new() };
        context.output.write_line(&format!("{} = {}{origin}", value.key, value.value))?;
    }
    Ok(failure::DONE)
}

pub(super) fn completions(shell: Shell, output: &mut CommandOutput) -> Result<u8, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CliArgs::command(), "slop", &mut script);
    output.write_text(&String::from_utf8_lossy(&script))?;
    Ok(failure::DONE)
}

pub(super) fn man(command: Option<&str>, output: &mut CommandOutput) -> Result<u8, CommandError> {
    let mut page = CliArgs::command();
    // Global flags reach the commands only once the root command is built.
    page.build();
    if let Some(name) = command {
        let found = page.find_subcommand(name).cloned();
        page = found.ok_or_else(|| {
            CommandError::usage(format!("no command named `{name}`"), "`slop --help` lists the commands")
        })?;
    }
    let mut text = Vec::new();
    Man::new(page).render(&mut text)?;
    output.write_text(&String::from_utf8_lossy(&text))?;
    Ok(failure::DONE)
}
