//! For whom a document is made: a tier or a persona, and the preset that it sees.

use super::desk::Desk;
use super::persona;
use super::preset;
use crate::cli::document_args::Choice;
use crate::cli::failure::Failure;
use crate::config::Saved;
use crate::model::Persona;
use crate::model::Preset;
use crate::model::Tier;

/// For whom a document is made.
#[derive(Debug, Default)]
pub(super) struct Profile {
    pub(super) tier: Option<Tier>,
    pub(super) persona: Option<Persona>,
    pub(super) preset: Option<Saved<Preset>>,
}

impl Desk<'_> {
    /// Returns for whom a document is made: what a flag names wins over what the persona brings.
    pub(super) fn profile(&self, choice: &Choice) -> Result<Profile, Failure> {
        let persona = choice.persona.as_deref().map(|name| persona::find(name, self)).transpose()?;
        let persona = persona.map(|persona| persona.value.clone());
        let brought = persona.as_ref().and_then(|persona| persona.context_preset.as_deref());
        let preset = match (choice.preset.as_deref(), brought, &choice.persona) {
            (Some(name), ..) => Some(preset::find(name, self)?.clone()),
            (None, Some(name), Some(persona)) => Some(preset::brought(name, persona, self)?.clone()),
            (None, ..) => None,
        };
        let tier = choice.tier.and_then(Tier::from_number);
        let tier = tier.or(persona.as_ref().and_then(|persona| persona.tier));
        Ok(Profile { tier, persona, preset })
    }
}
