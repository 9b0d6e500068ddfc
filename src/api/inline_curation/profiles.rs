//! Presets and personas, with the keys that they have in `slop.toml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::entries::{ItemEntry, nonempty_text, paths_or_entries};
use super::sources::NameOrInline;
use super::views::{
    FOCUS_VIEWS, TIER_VIEWS, ViewName, focus_view, required_tier_view, tier_number, tier_view,
};
use crate::api::choices::StrategyName;
use crate::model::{Persona, PersonaViews, PreferredModel, Preset, Tier};

/// A set of files with their entries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InlinePreset {
    /// Its name, for display.
    pub name: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// The files: paths, or entries.
    #[serde(deserialize_with = "paths_or_entries")]
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
#[schemars(
    rename = "InlinePersona",
    extend("dependentRequired" = {"focus_view": ["tier"], "languages": ["tier"]})
)]
struct PersonaFields {
    /// Its name, for display, and for the name under which its documents are recorded.
    name: Option<String>,
    /// The tier.
    #[serde(deserialize_with = "tier_number")]
    #[schemars(range(min = 1, max = 4))]
    tier: Option<u8>,
    /// How to choose views.
    aggregation_strategy: Option<StrategyName>,
    /// The models to use; for each provider, the first one counts.
    preferred_models: Vec<ModelEntry>,
    /// The name of a preset in the settings.
    context_preset: Option<String>,
    /// The system prompt of a provider's request body.
    system_prompt: Option<String>,
    /// Limit documents to this many tokens; 0 for no limit.
    budget_tokens: Option<u32>,
    /// Files to focus on.
    focus: Vec<String>,
    /// The default view of files.
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
    #[serde(deserialize_with = "required_tier_view")]
    #[schemars(with = "String", extend("enum" = TIER_VIEWS))]
    view: ViewName,
}

/// A model of a provider, with its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ModelEntry {
    /// The name of the provider.
    #[serde(deserialize_with = "nonempty_text")]
    #[schemars(length(min = 1))]
    provider: String,
    /// The name of the model.
    #[serde(deserialize_with = "nonempty_text")]
    #[schemars(length(min = 1))]
    model: String,
    /// The temperature, from 0 to 2.
    #[serde(default, deserialize_with = "up_to::<_, 2>")]
    #[schemars(range(min = 0, max = 2))]
    temperature: Option<f64>,
    /// The nucleus sampling probability, from 0 to 1.
    #[serde(default, deserialize_with = "up_to::<_, 1>")]
    #[schemars(range(min = 0, max = 1))]
    top_p: Option<f64>,
    /// The most tokens of an answer.
    #[serde(default, deserialize_with = "output_tokens")]
    #[schemars(range(min = 1, max = PreferredModel::MAX_OUTPUT_TOKENS))]
    max_output_tokens: Option<u32>,
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
            languages: languages.map(|(id, entry)| (id, entry.view.0)).collect(),
        };
        Self {
            name: fields.name.unwrap_or_default(),
            tier: fields.tier.and_then(Tier::from_number),
            aggregation_strategy: fields.aggregation_strategy.map(Into::into),
            preferred_models: fields.preferred_models.into_iter().map(Into::into).collect(),
            context_preset: fields.context_preset,
            budget_tokens: fields.budget_tokens.map(Into::into),
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
            max_output_tokens: entry.max_output_tokens,
        }
    }
}

impl From<&Preset> for InlinePreset {
    fn from(preset: &Preset) -> Self {
        Self {
            name: Some(preset.name.clone()),
            description: Some(preset.description.clone()),
            files: preset.files.iter().map(|item| NameOrInline::Inline(Box::new(item.into()))).collect(),
            screenshots: preset.screenshots.clone(),
        }
    }
}

impl From<&Persona> for InlinePersona {
    fn from(persona: &Persona) -> Self {
        let languages = persona.views.languages.iter();
        Self(PersonaFields {
            name: Some(persona.name.clone()),
            tier: persona.tier.map(Tier::number),
            aggregation_strategy: persona.aggregation_strategy.map(Into::into),
            preferred_models: persona.preferred_models.iter().map(Into::into).collect(),
            context_preset: persona.context_preset.clone(),
            system_prompt: Some(persona.system_prompt.clone()),
            // The limit in the settings is the same.
            budget_tokens: persona.budget_tokens.map(|tokens| u32::try_from(tokens).unwrap_or(u32::MAX)),
            focus: persona.focus.clone(),
            view: persona.views.view.map(ViewName),
            focus_view: persona.views.focus_view.map(ViewName),
            languages: languages
                .map(|(id, view)| (id.clone(), LanguageEntry { view: ViewName(*view) }))
                .collect(),
        })
    }
}

impl From<&PreferredModel> for ModelEntry {
    fn from(model: &PreferredModel) -> Self {
        Self {
            provider: model.provider.clone(),
            model: model.model.clone(),
            temperature: model.temperature,
            top_p: model.top_p,
            max_output_tokens: model.max_output_tokens,
        }
    }
}

fn output_tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    const MOST: u32 = PreferredModel::MAX_OUTPUT_TOKENS;
    let number = Option::<u32>::deserialize(deserializer)?;
    match number {
        Some(number) if !(1..=MOST).contains(&number) => {
            Err(D::Error::custom(format!("expected a whole number from 1 to {MOST}")))
        }
        number => Ok(number),
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
    use crate::api::located_json::convert_located;

    #[test]
    fn errors_in_inline_values_have_a_location_too() {
        let preset = json!({"files": ["a", {"path": "b", "force_full": 1}]});
        let error = convert_located::<NameOrInline<InlinePreset>>(preset).unwrap_err().to_string();
        assert!(error.starts_with("files[1].force_full: invalid type"), "{error}");
        let persona = json!({"preferred_models": [{"provider": "p", "model": "m", "top_p": 1.5}]});
        let error = convert_located::<NameOrInline<InlinePersona>>(persona).unwrap_err().to_string();
        assert!(error.starts_with("preferred_models[0].top_p: expected a number from 0 to 1"), "{error}");
        let error = convert_located::<NameOrInline<InlinePersona>>(json!({"focus_view": "full"}))
            .unwrap_err()
            .to_string();
        assert_eq!(error, "`focus_view` and `languages` require a `tier`");
    }
}
