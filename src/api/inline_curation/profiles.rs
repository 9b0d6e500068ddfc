//! Presets and personas, with the keys that they have in `slop.toml`.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::entries::ItemEntry;
use super::sources::NameOrInline;
use super::views::{FOCUS_VIEWS, TIER_VIEWS, ViewName, focus_view, tier_number, tier_view};
use crate::api::choices::StrategyName;
use crate::model::{Persona, PersonaViews, PreferredModel, Preset, Tier};

/// A set of files with their entries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InlinePreset {
    /// Its name, for a person.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// The files: paths, or entries.
    pub files: Vec<NameOrInline<ItemEntry>>,
    /// Images within the project to add to the document.
    pub screenshots: Vec<String>,
}

/// An agent's profile.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "PersonaFields", into = "PersonaFields")]
pub struct InlinePersona(PersonaFields);

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "InlinePersona")]
struct PersonaFields {
    /// Its name, for a person, and for the name that its documents are recorded under.
    name: Option<String>,
    /// The tier.
    #[serde(deserialize_with = "tier_number")]
    #[schemars(range(min = 1, max = 4))]
    tier: Option<u8>,
    /// How to choose views.
    aggregation_strategy: Option<StrategyName>,
    /// The models to ask, the first one of a provider first.
    preferred_models: Vec<ModelEntry>,
    /// The name of a preset in the settings.
    context_preset: Option<String>,
    /// The system prompt of a provider's request body.
    system_prompt: Option<String>,
    /// Limit documents to this many tokens; 0 for no limit.
    budget_tokens: Option<u64>,
    /// Files to focus on.
    focus: Vec<String>,
    /// The view of files that nothing else decides.
    #[serde(deserialize_with = "tier_view")]
    #[schemars(with = "Option<String>", extend("enum" = TIER_VIEWS))]
    view: Option<ViewName>,
    /// The view of files in focus; requires a tier.
    #[serde(deserialize_with = "focus_view")]
    #[schemars(with = "Option<String>", extend("enum" = FOCUS_VIEWS))]
    focus_view: Option<ViewName>,
    /// The views of files by language, such as `{"markdown": {"view": "full"}}`; requires a tier.
    languages: BTreeMap<String, LanguageEntry>,
}

/// How the files of a language are shown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LanguageEntry {
    /// The view.
    #[serde(deserialize_with = "tier_view")]
    #[schemars(with = "String", extend("enum" = TIER_VIEWS))]
    view: Option<ViewName>,
}

/// A model of a provider, and how it is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    /// The name of the provider.
    provider: String,
    /// The name of the model.
    model: String,
    /// From 0 to 2.
    #[serde(default, deserialize_with = "up_to::<_, 2>")]
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
    /// From 0 to 1.
    #[serde(default, deserialize_with = "up_to::<_, 1>")]
    #[schemars(range(min = 0, max = 1))]
    top_p: Option<f64>,
    /// The most tokens of an answer.
    #[serde(default)]
    max_output_tokens: Option<NonZeroU32>,
}

impl TryFrom<PersonaFields> for InlinePersona {
    type Error = &'static str;

    fn try_from(fields: PersonaFields) -> Result<Self, &'static str> {
        let needs_tier = fields.focus_view.is_some() || !fields.languages.is_empty();
        if needs_tier && fields.tier.is_none() {
            return Err("`focus_view` and `languages` require a `tier`");
        }
        Ok(Self(fields))
    }
}

impl From<InlinePersona> for PersonaFields {
    fn from(persona: InlinePersona) -> Self {
        persona.0
    }
}

impl From<InlinePreset> for Preset {
    fn from(preset: InlinePreset) -> Self {
        Self {
            name: preset.name.unwrap_or_default(),
            description: preset.description.unwrap_or_default(),
            files: preset.files.into_iter().map(Into::into).collect(),
            screenshots: preset.screenshots,
        }
    }
}

impl From<InlinePersona> for Persona {
    fn from(persona: InlinePersona) -> Self {
        let fields = persona.0;
        let languages = fields.languages.into_iter();
        let views = PersonaViews {
            view: fields.view.map(|view| view.0),
            focus_view: fields.focus_view.map(|view| view.0),
            languages: languages.filter_map(|(id, entry)| Some((id, entry.view?.0))).collect(),
        };
        Self {
            name: fields.name.unwrap_or_default(),
            tier: fields.tier.and_then(Tier::from_number),
            aggregation_strategy: fields.aggregation_strategy.map(Into::into),
            preferred_models: fields.preferred_models.into_iter().map(Into::into).collect(),
            context_preset: fields.context_preset,
            budget_tokens: fields.budget_tokens,
            focus: fields.focus,
            views,
            system_prompt: fields.system_prompt.unwrap_or_default(),
        }
    }
}

impl From<ModelEntry> for PreferredModel {
    fn from(entry: ModelEntry) -> Self {
        Self {
            provider: entry.provider,
            model: entry.model,
            temperature: entry.temperature,
            top_p: entry.top_p,
            max_output_tokens: entry.max_output_tokens.map(NonZeroU32::get),
        }
    }
}

fn up_to<'de, D: Deserializer<'de>, const MOST: u32>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let number = Option::<f64>::deserialize(deserializer)?;
    match number {
        Some(number) if !(0.0..=f64::from(MOST)).contains(&number) => {
            Err(D::Error::custom(format!("expected a number from 0 to {MOST}")))
        }
        number => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::inline_curation::read_value;

    #[test]
    fn what_a_name_stands_for_is_refused_with_its_place_too() {
        let preset = json!({"files": ["a", {"path": "b", "force_full": 1}]});
        let error = read_value::<NameOrInline<InlinePreset>>(preset).unwrap_err();
        assert!(error.starts_with("files[1].force_full: invalid type"), "{error}");
        let persona = json!({"preferred_models": [{"provider": "p", "model": "m", "top_p": 1.5}]});
        let error = read_value::<NameOrInline<InlinePersona>>(persona).unwrap_err();
        assert!(error.starts_with("preferred_models[0].top_p: expected a number from 0 to 1"), "{error}");
        let error = read_value::<NameOrInline<InlinePersona>>(json!({"focus_view": "full"})).unwrap_err();
        assert_eq!(error, "`focus_view` and `languages` require a `tier`");
    }
}
