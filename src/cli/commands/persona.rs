//! `slop persona`

use serde_json::{Value, json};

use super::context::CommandContext;
use super::preset::unknown_name;
use crate::api::persona_to_json;
use crate::cli::curation_args::PersonaCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::{SavedEntry, edit};
use crate::model::{Persona, Tier, printable_lines};
use crate::sys::RealDisk;

pub(super) fn run(command: &PersonaCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        PersonaCommand::List => list(context),
        PersonaCommand::Show { name } => show(name, context),
    }
}

fn list(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
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
        context.write_data(&data)?;
        return Ok(failure::DONE);
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

/// Returns the persona of that name.
fn find<'a>(name: &str, context: &CommandContext<'a>) -> Result<&'a SavedEntry<Persona>, CommandError> {
    let curation = &context.loaded.curation;
    let names = curation.personas.iter().map(|persona| persona.value.name.as_str());
    curation.persona(name).ok_or_else(|| unknown_name(name, "persona", names))
}

fn show(name: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let persona = find(name, context)?;
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
        context.output.note(&format!("there is no preset named `{preset}`, which the persona sees"));
    }
    Ok(failure::DONE)
}
