//! The test helpers of this room.

use std::sync::Arc;

use super::call::Model;
use super::provider::{WireFormat, built_in_providers};
use crate::model::{HttpResponse, ModelPrompt};

/// 2026-11-21 09:00:00 UTC.
pub(super) const NOW_MS: i64 = 1_795_251_600_000;

/// Returns the model `m` of a built-in provider with that wire format.
pub(super) fn model(wire: WireFormat) -> Model {
    let name = match wire {
        WireFormat::Anthropic => "anthropic",
        WireFormat::Chat => "vllm",
        WireFormat::Responses => "openai",
        WireFormat::Gemini => "gemini",
        WireFormat::Ollama => "ollama",
        WireFormat::Command => "command",
    };
    of_provider(name, "m")
}

/// Returns a model of a built-in provider.
pub(super) fn of_provider(provider: &str, name: &str) -> Model {
    let provider = built_in_providers().into_iter().find(|known| known.name == provider).unwrap();
    Model {
        provider: Arc::new(provider),
        name: name.to_owned(),
        temperature: None,
        top_p: None,
        max_output_tokens: None,
        price: None,
        min_cacheable_tokens: None,
    }
}

pub(super) fn prompt(material: &str) -> ModelPrompt {
    ModelPrompt {
        instructions: "Say what it is for.".to_owned(),
        material: material.to_owned(),
        answer_tokens: 700,
    }
}

/// Returns a server's response.
pub(super) fn response(status: u16, headers: &[(&str, &str)], body: &str) -> HttpResponse {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    HttpResponse { status, headers, body: body.as_bytes().to_vec() }
}
