//! A model and its parameters.

use std::sync::Arc;

use serde_json::Map;
use serde_json::Value;

use super::Provider;
use super::TokenPrice;
use crate::model::ModelName;

/// A model and its parameters. What is `None` is not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// The provider that offers it.
    pub provider: Arc<Provider>,
    /// Its name, as the provider spells it.
    pub name: String,
    /// Sampling temperature, if configured: many models reject any.
    pub temperature: Option<f64>,
    /// Nucleus sampling, likewise.
    pub top_p: Option<f64>,
    /// The most tokens of an answer, reasoning included, if it is not left to the prompt.
    pub max_output_tokens: Option<u32>,
    /// Its price; `None` if unknown. A free model has a price of zero.
    pub price: Option<TokenPrice>,
    /// From how many tokens on the provider caches a prompt's prefix; `None` if unknown.
    pub min_cacheable_tokens: Option<u32>,
}

impl Model {
    /// Returns its name together with its provider's.
    pub fn full_name(&self) -> ModelName {
        ModelName { provider: self.provider.name.clone(), model: self.name.clone() }
    }

    /// Returns the additional fields that the provider expects in a body for this model.
    pub(super) fn quirk_fields(&self) -> Option<&Map<String, Value>> {
        self.provider.quirk(&self.name).map(|quirk| &quirk.fields)
    }
}
