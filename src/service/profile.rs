//! For whom a document is made: a tier or a persona, and the preset that it sees.

use crate::api::{ApiError, ViewSelection};
use crate::config::{Curation, SavedEntry, nearest_name};
use crate::model::{Persona, Preset, Tier};

/// For whom a document is made.
#[derive(Debug, Default)]
pub(super) struct DocumentProfile {
    pub(super) tier: Option<Tier>,
    pub(super) persona: Option<Persona>,
    pub(super) preset: Option<Preset>,
}

impl DocumentProfile {
    /// Resolves tier, persona and preset: what the question names takes precedence over what the persona defines.
    pub(super) fn resolve(choice: &ViewSelection, curation: &Curation) -> Result<Self, ApiError> {
        if choice.tier.is_some() && choice.persona.is_some() {
            let message = "both a tier and a persona are given".to_owned();
            return Err(ApiError::user("bad_ask", message, "give a tier or a persona"));
        }
        let persona = choice.persona.as_deref().map(|name| persona(name, curation)).transpose()?;
        let brought = persona.as_ref().and_then(|persona| persona.context_preset.as_deref());
        let preset = match (choice.preset.as_deref(), brought, &choice.persona) {
            (Some(name), ..) => Some(preset(name, curation)?),
            (None, Some(name), Some(persona)) => Some(preset_of_persona(name, persona, curation)?),
            (None, ..) => None,
        };
        let tier = choice.tier.map(tier).transpose()?;
        let tier = tier.or(persona.as_ref().and_then(|persona| persona.tier));
        Ok(Self { tier, persona, preset })
    }
}

fn tier(number: u8) -> Result<Tier, ApiError> {
    let message = || format!("no tier {number}");
    let hint = "tiers are numbered from 1 to 4";
    Tier::from_number(number).ok_or_else(|| ApiError::user("bad_ask", message(), hint))
}

fn persona(name: &str, curation: &Curation) -> Result<Persona, ApiError> {
    let found = curation.persona(name).map(|persona| persona.value.clone());
    found.ok_or_else(|| {
        let known = curation.personas.iter().map(|persona: &SavedEntry<Persona>| persona.value.name.as_str());
        let message = format!("no persona named `{name}`{}", nearest_hint(name, known));
        ApiError::user("no_such_persona", message, "`slop persona list` says which personas there are")
    })
}

fn preset(name: &str, curation: &Curation) -> Result<Preset, ApiError> {
    let found = curation.preset(name).map(|preset| preset.value.clone());
    found.ok_or_else(|| {
        let known = curation.presets.iter().map(|preset: &SavedEntry<Preset>| preset.value.name.as_str());
        let message = format!("no preset named `{name}`{}", nearest_hint(name, known));
        ApiError::user("no_such_preset", message, "`slop preset list` says which presets there are")
    })
}

fn preset_of_persona(name: &str, persona: &str, curation: &Curation) -> Result<Preset, ApiError> {
    let found = curation.preset(name).map(|preset| preset.value.clone());
    found.ok_or_else(|| {
        let message = format!("no preset named `{name}`, which the persona `{persona}` refers to");
        let hint =
            "save a preset of that name, fix the persona's context_preset, or name another with --preset";
        ApiError::user("no_such_preset", message, hint)
    })
}

/// Returns words that name the known name that is most like this one.
pub(super) fn nearest_hint<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    nearest_name(name, known).map_or(String::new(), |near| format!(", the nearest known is `{near}`"))
}
