//! A model that is asked, and how.

use std::sync::Arc;

use serde_json::Map;
use serde_json::Value;

use super::Provider;
use super::TokenPrice;
use crate::model::ModelName;

/// A model that is asked, and how. What is `None` is not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Where it is asked.
    pub provider: Arc<Provider>,
    /// Its name, as the provider spells it.
    pub name: String,
    /// Sampling temperature, where somebody set one: many models refuse any.
    pub temperature: Option<f64>,
    /// Nucleus sampling, likewise.
    pub top_p: Option<f64>,
    /// The most tokens of an answer, with what it thinks, where that is not for the prompt to say.
    pub max_output_tokens: Option<u32>,
    /// What it costs; `None` where that is not known. What is free has a price of nothing.
    pub price: Option<TokenPrice>,
    /// From how many tokens on the provider keeps the beginning of a prompt; `None` where that is not known.
    pub min_cacheable_tokens: Option<u32>,
}

impl Model {
    /// Returns its name together with its provider's.
    pub fn full_name(&self) -> ModelName {
        ModelName { provider: self.provider.name.clone(), model: self.name.clone() }
    }

    /// Returns the fields that this model's provider wants in a body for it beside those of the wire.
    pub(super) fn quirk_fields(&self) -> Option<&Map<String, Value>> {
        self.provider.quirk(&self.name).map(|quirk| &quirk.fields)
    }
}
