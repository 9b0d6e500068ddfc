//! What the tests of this room share.

use std::sync::Arc;

use super::Model;
use super::Wire;
use super::built_in_providers;
use crate::model::Prompt;
use crate::model::WebResponse;

/// 2026-11-21 09:00:00 in UTC.
pub(super) const NOW_MS: i64 = 1_795_251_600_000;

/// Returns the model `m` of the first built-in provider with that wire that is asked over a network, or of a program.
pub(super) fn model(wire: Wire) -> Model {
    let name = match wire {
        Wire::Anthropic => "anthropic",
        Wire::Chat => "vllm",
        Wire::Responses => "openai",
        Wire::Gemini => "gemini",
        Wire::Ollama => "ollama",
        Wire::Command => "command",
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

/// Returns a question about that material.
pub(super) fn prompt(material: &str) -> Prompt {
    Prompt {
        instructions: "Say what it is for.".to_owned(),
        material: material.to_owned(),
        answer_tokens: 700,
    }
}

/// Returns a server's answer.
pub(super) fn response(status: u16, headers: &[(&str, &str)], body: &str) -> WebResponse {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    WebResponse { status, headers, body: body.as_bytes().to_vec() }
}
