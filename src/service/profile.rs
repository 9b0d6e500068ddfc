//! The reader of a document: tier, persona and preset, named or defined by the question, and the name under which
//! documents are recorded.

use crate::api::{ApiError, NameOrInline, ViewSelection};
use crate::config::{Curation, SavedEntry};
use crate::model::{ContentHash, DocumentDefaults, Persona, Preset, Tier, suggest_known_name};

/// The reader that a document is made for.
#[derive(Debug, Default)]
pub(super) struct DocumentProfile {
    pub(super) tier: Option<Tier>,
    pub(super) persona: Option<Persona>,
    pub(super) preset: Option<Preset>,
}

impl DocumentProfile {
    /// Resolves tier, persona and preset: what the question names takes precedence over what the persona defines.
    pub(super) fn resolve(choice: &ViewSelection, curation: &Curation) -> Result<Self, ApiError> {
        // A persona may define another tier, and one of the two would be ignored silently.
        if choice.tier.is_some() && choice.persona.is_some() {
            let message = "both a tier and a persona are given".to_owned();
            return Err(ApiError::user("bad_ask", message, "give a tier or a persona"));
        }
        let persona = match &choice.persona {
            Some(NameOrInline::Name(name)) => Some(find_persona(name, curation)?.value.clone()),
            Some(NameOrInline::Inline(persona)) => Some((**persona).clone().into()),
            None => None,
        };
        let of_persona =
            persona.as_ref().and_then(|persona| Some((persona.context_preset.as_deref()?, &*persona.name)));
        let preset = match (&choice.preset, of_persona) {
            (Some(NameOrInline::Name(name)), _) => Some(find_preset(name, curation)?.value.clone()),
            (Some(NameOrInline::Inline(preset)), _) => Some((**preset).clone().into()),
            (None, Some((name, persona))) => Some(preset_of_persona(name, persona, curation)?),
            (None, None) => None,
        };
        let tier = choice.tier.map(tier).transpose()?;
        let tier = tier.or(persona.as_ref().and_then(|persona| persona.tier));
        Ok(Self { tier, persona, preset })
    }

    /// Returns the limit in tokens that the question or, failing that, the persona sets; 0 means that there is no
    /// limit.
    pub(super) fn budget(&self, choice: &ViewSelection) -> Option<u64> {
        choice.budget.or_else(|| self.persona.as_ref().and_then(|persona| persona.budget_tokens))
    }
}

/// Returns whether the persona of a choice, or else of `[document]`, has views for files that are not in focus.
pub(super) fn has_persona_views(choice: &ViewSelection, curation: &Curation) -> bool {
    let views = match &choice.persona {
        Some(NameOrInline::Inline(persona)) => Some(Persona::from((**persona).clone()).views),
        Some(NameOrInline::Name(name)) => curation.persona(name).map(|saved| saved.value.views.clone()),
        None => {
            let name = curation.document.persona.as_ref().filter(|_| choice.tier.is_none());
            name.and_then(|name| curation.persona(name)).map(|saved| saved.value.views.clone())
        }
    };
    views.is_some_and(|views| views.view.is_some() || !views.languages.is_empty())
}

/// Fills what a choice leaves open from `[document]`. A choice that names a persona is complete. The preset, which
/// selects files, is not used if the question selects files itself.
pub(super) fn with_defaults(
    mut choice: ViewSelection,
    selects_files: bool,
    defaults: &DocumentDefaults,
) -> ViewSelection {
    if choice.persona.is_some() {
        return choice;
    }
    if choice.tier.is_none() {
        choice.tier = defaults.tier.map(Tier::number);
        choice.persona = defaults.persona.clone().map(NameOrInline::Name);
    }
    if choice.preset.is_none() && !selects_files {
        choice.preset = defaults.preset.clone().map(NameOrInline::Name);
    }
    if choice.focus.is_empty() {
        choice.focus.clone_from(&defaults.focus);
    }
    // A limit in bytes is a limit, too.
    if choice.max_bytes.is_none() {
        choice.budget = choice.budget.or(defaults.budget_tokens);
    }
    choice
}

/// Returns the default name under which a document is recorded, made of its reader and its content. The project's name
/// is not part of it, so that the same project in another folder has the same receipt.
pub(super) fn default_name(profile: &DocumentProfile) -> String {
    // A persona defined by the question may have no name; its tier is used then.
    let persona = profile.persona.as_ref().filter(|persona| !persona.name.is_empty());
    let persona = persona.map(|persona| format!("persona-{}", persona.name));
    let tier = profile.tier.map(|tier| format!("tier-{}", tier.number()));
    let preset = profile.preset.as_ref().filter(|preset| !preset.name.is_empty());
    let preset = preset.map(|preset| format!("preset-{}", preset.name));
    // A persona has a tier, so naming the tier would be redundant.
    let parts: Vec<String> = persona.or(tier).into_iter().chain(preset).collect();
    if parts.is_empty() { "project".to_owned() } else { parts.join("/") }
}

/// Returns a hash of the entries that a question defines; `None` if it has none.
pub(super) fn curation_hash(choice: &ViewSelection) -> Option<ContentHash> {
    let preset = match &choice.preset {
        Some(NameOrInline::Inline(preset)) => Some(&preset.files),
        Some(NameOrInline::Name(_)) | None => None,
    };
    if choice.items.is_empty() && preset.is_none() {
        return None;
    }
    let text = serde_json::to_vec(&(&choice.items, preset)).expect("entries always become JSON");
    Some(ContentHash::digest(&text))
}

fn tier(number: u8) -> Result<Tier, ApiError> {
    let message = || format!("no tier {number}");
    let hint = "tiers are numbered from 1 to 4";
    Tier::from_number(number).ok_or_else(|| ApiError::user("bad_ask", message(), hint))
}

/// Returns the persona of that name, which must exist.
pub fn find_persona<'c>(name: &str, curation: &'c Curation) -> Result<&'c SavedEntry<Persona>, ApiError> {
    curation.persona(name).ok_or_else(|| {
        let known = curation.personas.iter().map(|persona| persona.value.name.as_str());
        let message = format!("no persona named `{name}`{}", suggest_known_name(name, known));
        ApiError::user("no_such_persona", message, "`slop persona list` lists the personas")
    })
}

/// Returns the preset of that name, which must exist.
pub fn find_preset<'c>(name: &str, curation: &'c Curation) -> Result<&'c SavedEntry<Preset>, ApiError> {
    curation.preset(name).ok_or_else(|| {
        let known = curation.presets.iter().map(|preset| preset.value.name.as_str());
        let message = format!("no preset named `{name}`{}", suggest_known_name(name, known));
        ApiError::user("no_such_preset", message, "`slop preset list` lists the presets")
    })
}

fn preset_of_persona(name: &str, persona: &str, curation: &Curation) -> Result<Preset, ApiError> {
    let found = curation.preset(name).map(|preset| preset.value.clone());
    found.ok_or_else(|| {
        // A persona defined by a request need not have a name.
        let persona = if persona.is_empty() { String::new() } else { format!(" `{persona}`") };
        let message = format!("no preset named `{name}`, which the persona{persona} refers to");
        let hint =
            "save a preset of that name, fix the persona's context_preset, or name another in `preset`";
        ApiError::user("no_such_preset", message, hint)
    })
}
