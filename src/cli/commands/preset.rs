//! `slop preset` and `slop persona`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::context::{CommandContext, missing_paths, require_existing};
use crate::api::{persona_to_json, preset_to_json};
use crate::cli::curation_args::{PersonaCommand, PresetCommand};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::edit;
use crate::config::edit::PresetDraft;
use crate::model::{Tier, collapse_whitespace, printable_lines};
use crate::render::format_grouped;
use crate::service::{find_persona, find_preset};
use crate::sys::RealDisk;

pub(super) fn run_preset(
    command: &PresetCommand,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    match command {
        PresetCommand::Save { name, files, description, user, force } => {
            let draft = PresetDraft {
                name: name.clone(),
                description: description.clone(),
                files: context.location.resolve_paths(files),
                overwrites: *force,
            };
            save_preset(&draft, *user, context)
        }
        PresetCommand::List => list_preset(context),
        PresetCommand::Show { name } => show_preset(name, context),
        PresetCommand::Apply { name, yes } => apply_preset(name, *yes, context),
        PresetCommand::Delete { name } => delete_preset(name, context),
    }
}

fn save_preset(
    draft: &PresetDraft,
    user: bool,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    require_existing(&draft.files, context)?;
    let project = context.settings_file();
    // The items come from the project's file, wherever the preset is saved.
    let target = if user { user_file(context)? } else { project.clone() };
    let label = format!("preset {} saved", draft.name);
    let count =
        context.edit_settings(&label, |project| edit::save_preset(&RealDisk, project, &target, draft))?;
    let path = target.display().to_string();
    let line = format!("{path}: {} ({})", draft.name, entries(count));
    context.write_result(&json!({"name": draft.name, "path": path, "files": count}), &line)
}

fn list_preset(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let presets = &context.loaded.curation.presets;
    if context.output.json {
        let presets = presets.iter().map(|preset| {
            let (value, origin) = (&preset.value, preset.origin.to_string());
            let files = value.files.len();
            json!({"name": value.name, "description": value.description, "files": files, "origin": origin})
        });
        let data = json!({"presets": presets.collect::<Value>()});
        return context.write_data(&data);
    }
    for preset in presets {
        let (value, files) = (&preset.value, entries(preset.value.files.len()));
        // On one line, because each preset is a row.
        let description = collapse_whitespace(&value.description);
        let description = if description.is_empty() { description } else { format!(": {description}") };
        context.write_line(&format!("{} ({files}, {}){description}", value.name, preset.origin))?;
    }
    Ok(failure::DONE)
}

fn show_preset(name: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find_preset(name, &context.loaded.curation)?;
    let gone = missing_paths(preset.value.files.iter().map(|item| item.path.as_str()), context);
    if context.output.json {
        let mut data = preset_to_json(&preset.value);
        data["origin"] = preset.origin.to_string().into();
        data["gone"] = json!(gone);
        return context.write_data(&data);
    }
    let file = preset.origin.file().expect("a preset is written in a file");
    // Printed as it is in the file, with its comments.
    let text = edit::saved_text(&RealDisk, file, "presets", name)?;
    context.output.write_text(&printable_lines(&text.unwrap_or_default()))?;
    report_missing(&gone, context);
    Ok(failure::DONE)
}

fn apply_preset(name: &str, may_lose: bool, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find_preset(name, &context.loaded.curation)?;
    let gone = missing_paths(preset.value.files.iter().map(|item| item.path.as_str()), context);
    let source = preset.origin.file().expect("a preset is written in a file");
    let project = context.settings_file();
    // Missing files are left out, because their entries would be reported in every document.
    let applied = context.edit_settings(&format!("preset {name} applied"), |project| {
        edit::apply_preset(&RealDisk, project, source, name, &gone, may_lose)
    })?;
    let line = format!("{}: {} from {name}", project.display(), entries(applied.len()));
    context.write_result(&json!({"name": name, "files": applied, "gone": gone}), &line)?;
    report_missing(&gone, context);
    Ok(failure::DONE)
}

fn delete_preset(name: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let preset = find_preset(name, &context.loaded.curation)?;
    let file = preset.origin.file().expect("a preset is written in a file");
    context
        .edit_settings(&format!("preset {name} deleted"), |_| edit::delete_preset(&RealDisk, file, name))?;
    let path = file.display().to_string();
    context.write_result(&json!({"name": name, "path": path}), &format!("{path}: deleted {name}"))
}

fn report_missing(gone: &[String], context: &mut CommandContext<'_>) {
    if !gone.is_empty() {
        context.output.note(&format!("missing files of the preset: {}", gone.join(", ")));
    }
}

fn user_file(context: &CommandContext<'_>) -> Result<PathBuf, CommandError> {
    let file = context.user_file.map(std::path::Path::to_owned);
    file.ok_or_else(|| {
        CommandError::usage(
            "no location is known for the user's own settings",
            "set HOME, or name a file with SLOP_CONFIG",
        )
    })
}

fn entries(count: usize) -> String {
    format!("{} {}", format_grouped(count as u64), if count == 1 { "entry" } else { "entries" })
}

pub(super) fn run_persona(
    command: &PersonaCommand,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    match command {
        PersonaCommand::List => list_persona(context),
        PersonaCommand::Show { name } => show_persona(name, context),
    }
}

fn list_persona(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let personas = &context.loaded.curation.personas;
    if context.output.json {
        let personas = personas.iter().map(|persona| {
            let value = &persona.value;
            json!({
                "name": value.name,
                "tier": value.tier.map(Tier::number),
                "context_preset": value.context_preset,
                "origin": persona.origin.to_string(),
            })
        });
        let data = json!({"personas": personas.collect::<Value>()});
        return context.write_data(&data);
    }
    for persona in personas {
        let value = &persona.value;
        let tier = value.tier.map_or(String::new(), |tier| format!("tier {}, ", tier.number()));
        let preset = value.context_preset.as_ref().map_or(String::new(), |name| format!("preset {name}, "));
        let model = value.preferred_models.first();
        let model = model.map_or(String::new(), |model| format!("{} of {}, ", model.model, model.provider));
        context.write_line(&format!("{} ({tier}{preset}{model}{})", value.name, persona.origin))?;
    }
    Ok(failure::DONE)
}

fn show_persona(name: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let persona = find_persona(name, &context.loaded.curation)?;
    if context.output.json {
        let mut data = persona_to_json(&persona.value);
        data["origin"] = persona.origin.to_string().into();
        context.write_data(&data)?;
    } else {
        let file = persona.origin.file().expect("a persona is written in a file");
        let text = edit::saved_text(&RealDisk, file, "personas", name)?;
        context.output.write_text(&printable_lines(&text.unwrap_or_default()))?;
    }
    let preset = persona.value.context_preset.as_deref();
    if let Some(preset) = preset.filter(|preset| context.loaded.curation.preset(preset).is_none()) {
        // Only a note, because the user's persona may be meant for projects that have the preset.
        context.output.note(&format!("there is no preset named `{preset}`, to which the persona refers"));
    }
    Ok(failure::DONE)
}
