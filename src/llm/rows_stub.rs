//! A stand-in for the rows of `config/providers.toml`, until those are merged.

use super::Provider;
use super::Wire;

/// Returns the providers that slop knows.
pub fn built_in_providers() -> Vec<Provider> {
    let row = |name: &str, wire, base_url: &str, base: &str, key: &str| Provider {
        name: name.to_owned(),
        wire,
        base_url: base_url.to_owned(),
        base_variable: Some(base.to_owned()),
        key_variables: Some(key.to_owned()).filter(|key| !key.is_empty()).into_iter().collect(),
        key_file: None,
        needs_key: !key.is_empty(),
        headers: Vec::new(),
        command: Vec::new(),
        is_free: name == "ollama",
        marks_cache: name == "anthropic",
        wants_completion_tokens: false,
        has_batches: false,
        context_tokens: None,
    };
    vec![
        row(
            "anthropic",
            Wire::Anthropic,
            "https://api.anthropic.com",
            "ANTHROPIC_BASE_URL",
            "ANTHROPIC_API_KEY",
        ),
        row("openai", Wire::Responses, "https://api.openai.com/v1", "OPENAI_BASE_URL", "OPENAI_API_KEY"),
        row("ollama", Wire::Ollama, "http://127.0.0.1:11434", "OLLAMA_HOST", ""),
    ]
}
