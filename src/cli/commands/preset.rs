//! `slop preset`

use std::path::PathBuf;

use serde_json::{Value, json};

use super::context::{CommandContext, missing_paths};
use crate::api::preset_to_json;
use crate::cli::curation_args::PresetCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::edit::PresetDraft;
use crate::config::{SavedEntry, edit};
use crate::model::{Preset, printable_lines};
use crate::render::format_grouped;
use crate::sys::RealDisk;

pub(super) fn run(command: &PresetCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        PresetCommand::Save { name, files, description, user, force } => {
            let draft = PresetDraft {
                name: name.clone(),
                description: description.clone(),
                files: context.location.resolve_paths(files),
                overwrites: *force,
            };
            save(&draft, *user, context)
        }
        PresetCommand::List => list(context),
        PresetCommand::Show { name } => show(name, context),
        PresetCommand::Apply { name, yes } => apply(name, *yes, context),
        PresetCommand::Delete { name } => delete(name, context),
    }
}

fn save(draft: &PresetDraft, user: bool, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let is_outside = |path: &&String| path.is_empty() || path.starts_with("../") || *path == "..";
    let missing = missing_paths(draft.files.iter().map(String::as_str), context);
    let outside = draft.files.iter().find(is_outside);
    if let Some(path) = outside.or(missing.first()) {
        let message = format!("no file of the project matches `{path}`");
        return Err(CommandError::usage(message, "`slop status` lists the files of the project"));
    }
    let project = context.settings_file();
    let target = if user { user_file(context)? } else { project.clone() };
    let count = edit::save_preset(&RealDisk, &project, &target, draft)?;
    let path = target.display().to_string();
    if context.output.json {
        context.write_data(&json!({"name": draft.name, "path": path, "files": count}))?;
    } else {
        context.write_line(&format!("{path}: {} ({})", draft.name, entries(count)))?;
    }
    Ok(failure::DONE)
}

fn list(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let presets = &context.loaded.curation.presets;
    if context.output.json {
        let presets = presets.iter().map(|preset| {
            let (value, origin) = (&preset.value, preset.origin.to_string());
            let files = value.files.len();
            json!({"name": value.name, "description": value.description, "files": files, "origin": origin})
        });
        let data = json!({"presets": presets.collect::<Value>()});
        context.write_data(&data)?;
        return Ok(failure::DONE);
    }
    for preset in presets {
        let (value, files) = (&preset.value, entries(preset.value.files.len()));
        let description = value.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = if description.is_empty() { description } else { format!(": {description}") };
        context.write_line(&format!("{} ({files}, {}){description}", value.name, preset.origin))?;
    }
    Ok(failure::DONE)
}

fn show(name: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find(name, context)?;
    let gone = missing_paths(preset.value.files.iter().map(|item| item.path.as_str()), context);
    if context.output.json {
        let mut data = preset_to_json(&preset.value);
        data["origin"] = preset.origin.to_string().into();
        data["gone"] = json!(gone);
        context.write_data(&data)?;
        return Ok(failure::DONE);
    }
    let file = preset.origin.file().expect("a preset is written in a file");
    let text = edit::saved_text(&RealDisk, file, "presets", name)?;
    context.output.write_text(&printable_lines(&text.unwrap_or_default()))?;
    report_missing(&gone, context);
    Ok(failure::DONE)
}

fn apply(name: &str, may_lose: bool, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find(name, context)?;
    let gone = missing_paths(preset.value.files.iter().map(|item| item.path.as_str()), context);
    let source = preset.origin.file().expect("a preset is written in a file");
    let project = context.settings_file();
    let applied = edit::apply_preset(&RealDisk, &project, source, name, &gone, may_lose)?;
    if context.output.json {
        context.write_data(&json!({"name": name, "files": applied.files, "gone": gone}))?;
    } else {
        context.write_line(&format!(
            "{}: {} from {name}",
            project.display(),
            entries(applied.files.len())
        ))?;
    }
    report_missing(&gone, context);
    Ok(failure::DONE)
}

fn delete(name: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find(name, context)?;
    let file = preset.origin.file().expect("a preset is written in a file");
    edit::delete_preset(&RealDisk, file, name)?;
    let path = file.display().to_string();
    if context.output.json {
        context.write_data(&json!({"name": name, "path": path}))?;
    } else {
        context.write_line(&format!("{path}: deleted {name}"))?;
    }
    Ok(failure::DONE)
}

/// Returns the preset of that name.
fn find<'a>(name: &str, context: &CommandContext<'a>) -> Result<&'a SavedEntry<Preset>, CommandError> {
    let curation = &context.loaded.curation;
    let names = curation.presets.iter().map(|preset| preset.value.name.as_str());
    curation.preset(name).ok_or_else(|| unknown_name(name, "preset", names))
}

/// Returns the failure that there is nothing of that name.
pub(super) fn unknown_name<'n>(name: &str, kind: &str, known: impl Iterator<Item = &'n str>) -> CommandError {
    let near = crate::config::nearest_name(name, known);
    let near = near.map_or(String::new(), |near| format!(", the nearest known is `{near}`"));
    CommandError::usage(
        format!("no {kind} named `{name}`{near}"),
        format!("`slop {kind} list` says which {kind}s there are"),
    )
}

fn report_missing(gone: &[String], context: &mut CommandContext<'_>) {
    if !gone.is_empty() {
        context.output.note(&format!("files of the preset that are gone: {}", gone.join(", ")));
    }
}

fn user_file(context: &CommandContext<'_>) -> Result<PathBuf, CommandError> {
    let file = context.user_file.map(std::path::Path::to_owned);
    file.ok_or_else(|| {
        CommandError::usage(
            "no place for the user's own settings is known",
            "set HOME, or name a file with SLOP_CONFIG",
        )
    })
}

fn entries(count: usize) -> String {
    format!("{} {}", format_grouped(count as u64), if count == 1 { "entry" } else { "entries" })
}
