//! `slop preset`

use std::path::PathBuf;

use serde_json::Value;
use serde_json::json;

use super::desk::CommandContext;
use super::desk::missing_paths;
use crate::api::preset_to_json;
use crate::cli::curation_args::PresetCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::SavedEntry;
use crate::config::edit;
use crate::config::edit::PresetDraft;
use crate::model::Preset;
use crate::model::printable_lines;
use crate::render::format_grouped;
use crate::sys::RealDisk;

pub(super) fn run(command: &PresetCommand, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        PresetCommand::Save { name, files, description, user, force } => {
            let draft = PresetDraft {
                name: name.clone(),
                description: description.clone(),
                files: desk.location.resolve_paths(files),
                overwrites: *force,
            };
            save(&draft, *user, desk)
        }
        PresetCommand::List => list(desk),
        PresetCommand::Show { name } => show(name, desk),
        PresetCommand::Apply { name, yes } => apply(name, *yes, desk),
        PresetCommand::Delete { name } => delete(name, desk),
    }
}

fn save(draft: &PresetDraft, user: bool, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let is_outside = |path: &&String| path.is_empty() || path.starts_with("../") || *path == "..";
    let missing = missing_paths(draft.files.iter().map(String::as_str), desk);
    let outside = draft.files.iter().find(is_outside);
    if let Some(path) = outside.or(missing.first()) {
        let message = format!("find `{path}` in the project");
        return Err(CommandError::usage(message, "`slop status` lists the files of the project"));
    }
    let project = desk.settings_file();
    let target = if user { user_file(desk)? } else { project.clone() };
    let count = edit::save_preset(&RealDisk, &project, &target, draft)?;
    let path = target.display().to_string();
    if desk.output.json {
        desk.write_data(&json!({"name": draft.name, "path": path, "files": count}))?;
    } else {
        desk.write_line(&format!("{path}: {} ({})", draft.name, entries(count)))?;
    }
    Ok(failure::DONE)
}

fn list(desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let presets = &desk.loaded.curation.presets;
    if desk.output.json {
        let presets = presets.iter().map(|preset| {
            let (value, origin) = (&preset.value, preset.origin.to_string());
            let files = value.files.len();
            json!({"name": value.name, "description": value.description, "files": files, "origin": origin})
        });
        let data = json!({"presets": presets.collect::<Value>()});
        desk.write_data(&data)?;
        return Ok(failure::DONE);
    }
    for preset in presets {
        let (value, files) = (&preset.value, entries(preset.value.files.len()));
        let description = value.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let description = if description.is_empty() { description } else { format!(": {description}") };
        desk.write_line(&format!("{} ({files}, {}){description}", value.name, preset.origin))?;
    }
    Ok(failure::DONE)
}

fn show(name: &str, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find(name, desk)?;
    let gone = missing_paths(preset.value.files.iter().map(|item| item.path.as_str()), desk);
    if desk.output.json {
        let mut data = preset_to_json(&preset.value);
        data["origin"] = preset.origin.to_string().into();
        data["gone"] = json!(gone);
        desk.write_data(&data)?;
        return Ok(failure::DONE);
    }
    let file = preset.origin.file().expect("a preset is written in a file");
    let text = edit::saved_text(&RealDisk, file, "presets", name)?;
    desk.output.write_text(&printable_lines(&text.unwrap_or_default()))?;
    report_missing(&gone, desk);
    Ok(failure::DONE)
}

fn apply(name: &str, may_lose: bool, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find(name, desk)?;
    let gone = missing_paths(preset.value.files.iter().map(|item| item.path.as_str()), desk);
    let source = preset.origin.file().expect("a preset is written in a file");
    let project = desk.settings_file();
    let applied = edit::apply_preset(&RealDisk, &project, source, name, &gone, may_lose)?;
    if desk.output.json {
        desk.write_data(&json!({"name": name, "files": applied.files, "gone": gone}))?;
    } else {
        desk.write_line(&format!("{}: {} from {name}", project.display(), entries(applied.files.len())))?;
    }
    report_missing(&gone, desk);
    Ok(failure::DONE)
}

fn delete(name: &str, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find(name, desk)?;
    let file = preset.origin.file().expect("a preset is written in a file");
    edit::delete_preset(&RealDisk, file, name)?;
    let path = file.display().to_string();
    if desk.output.json {
        desk.write_data(&json!({"name": name, "path": path}))?;
    } else {
        desk.write_line(&format!("{path}: deleted {name}"))?;
    }
    Ok(failure::DONE)
}

/// Returns the preset of that name.
fn find<'a>(name: &str, desk: &CommandContext<'a>) -> Result<&'a SavedEntry<Preset>, CommandError> {
    let curation = &desk.loaded.curation;
    let names = curation.presets.iter().map(|preset| preset.value.name.as_str());
    curation.preset(name).ok_or_else(|| unknown_name(name, "preset", names))
}

/// Returns the failure that there is nothing of that name.
pub(super) fn unknown_name<'n>(name: &str, kind: &str, known: impl Iterator<Item = &'n str>) -> CommandError {
    let near = crate::config::nearest_name(name, known);
    let near = near.map_or(String::new(), |near| format!(", the nearest known is `{near}`"));
    CommandError::usage(
        format!("find a {kind} named `{name}`{near}"),
        format!("`slop {kind} list` says which {kind}s there are"),
    )
}

fn report_missing(gone: &[String], desk: &mut CommandContext<'_>) {
    if !gone.is_empty() {
        desk.output.note(&format!("files of the preset that are gone: {}", gone.join(", ")));
    }
}

fn user_file(desk: &CommandContext<'_>) -> Result<PathBuf, CommandError> {
    let file = desk.user_file.map(std::path::Path::to_owned);
    file.ok_or_else(|| {
        CommandError::usage("find the user's own settings", "set HOME, or name a file with SLOP_CONFIG")
    })
}

fn entries(count: usize) -> String {
    format!("{} {}", format_grouped(count as u64), if count == 1 { "entry" } else { "entries" })
}
