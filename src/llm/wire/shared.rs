//! Prompt caching: what a provider is asked to cache.
//!
//! Left to themselves, providers cache up to the end of a prompt, behind the text of one file that no other call
//! begins with, and some charge a quarter more for what they write. So either the end of the instructions is marked,
//! or nothing.

use serde::Serialize;
use serde_json::Value;

use crate::llm::call::{FailureClass, Model};
use crate::llm::catalog::WireFormat;
use crate::model::ContentHash;

/// The most bytes of English in a token, assumed so that marked instructions are long enough in any case.
const BYTES_OF_A_TOKEN: usize = 5;

/// OpenAI's own address: no other server may be sent fields that only OpenAI knows.
const OPENAI: &str = "https://api.openai.com/";

/// From these models on, OpenAI's cache charges for writes, and accepts what to keep.
const FIRST_EXPLICIT: (u32, u32) = (5, 6);

/// Returns whether the end of the instructions is marked for the provider's cache.
pub(crate) fn is_marked(model: &Model, instructions: &str) -> bool {
    let can_be = match model.provider.wire {
        WireFormat::Anthropic => true,
        WireFormat::Chat | WireFormat::Responses => is_openai(model) && has_explicit_caching(&model.name),
        WireFormat::Gemini | WireFormat::Ollama | WireFormat::Command => false,
    };
    let tokens = u32::try_from(instructions.len() / BYTES_OF_A_TOKEN).unwrap_or(u32::MAX);
    can_be && model.provider.marks_cache && model.min_cacheable_tokens.is_some_and(|least| least <= tokens)
}

/// The fields that only OpenAI is sent.
#[derive(Debug, Default, Serialize)]
pub(crate) struct OpenAiCacheFields {
    /// Calls with the same key are routed to the same cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_options: Option<CacheMode>,
}

impl OpenAiCacheFields {
    /// Returns the fields for a prompt with these instructions.
    pub(crate) fn new(model: &Model, instructions: &str) -> Self {
        if !is_openai(model) || !model.provider.marks_cache {
            return Self::default();
        }
        let key = ContentHash::digest(instructions.as_bytes()).to_string().chars().take(32).collect();
        let options = has_explicit_caching(&model.name).then_some(CacheMode::MARK);
        Self { prompt_cache_key: Some(key), prompt_cache_options: options }
    }
}

/// The mode in which only marked prefixes are cached; also the mark itself.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct CacheMode {
    mode: &'static str,
}

impl CacheMode {
    /// The only mode.
    pub(crate) const MARK: Self = Self { mode: "explicit" };
}

fn is_openai(model: &Model) -> bool {
    let mut address = model.provider.base_url.clone();
    address.push('/');
    address.starts_with(OPENAI)
}

/// Returns whether it is `gpt-5.6…`, `gpt-6…` or a later model.
fn has_explicit_caching(name: &str) -> bool {
    let Some(version) = name.strip_prefix("gpt-") else { return false };
    let number = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let (major, rest) = version.split_at(number(version));
    let minor = rest.strip_prefix('.').map_or("", |rest| &rest[..number(rest)]);
    let Ok(major) = major.parse::<u32>() else { return false };
    FIRST_EXPLICIT <= (major, minor.parse().unwrap_or(0))
}

/// The content of a response with a success status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WireAnswer {
    /// The model's text, without its reasoning.
    pub(crate) text: String,
    /// Why it stopped.
    pub(crate) stop: StopCause,
}

/// Why a model stopped, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopCause {
    /// It was done, or gave no reason.
    Done,
    /// For another reason: there is no usable text.
    Defect(FailureClass),
}

/// Why a response with a success status has no usable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResponseDefect {
    /// The class of the failure.
    pub(crate) class: FailureClass,
    /// Our message for it.
    pub(crate) message: &'static str,
}

impl ResponseDefect {
    /// Returns the defect of a response that lacks a required field.
    pub(crate) const fn garbled(message: &'static str) -> Self {
        Self { class: FailureClass::Garbled, message }
    }
}

/// Returns the count at a JSON pointer, if it is a non-negative integer.
pub(crate) fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Returns the input tokens without those that a cache read or wrote.
pub(crate) fn rest(all: Option<u64>, cache_read: Option<u64>, cache_write: Option<u64>) -> Option<u64> {
    let parts = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    all.map(|all| all.saturating_sub(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_newer_openai_models_get_cache_instructions() {
        for name in ["gpt-5.6", "gpt-5.6-luna", "gpt-5.10-mini", "gpt-6-luna", "gpt-6", "gpt-10"] {
            assert!(has_explicit_caching(name), "{name}");
        }
        for name in ["gpt-5.5", "gpt-5-nano", "gpt-4o", "gpt-4.1", "gpt-", "gpt-x", "o4-mini", "mygpt-6", ""]
        {
            assert!(!has_explicit_caching(name), "{name}");
        }
        assert!(!has_explicit_caching("gpt-99999999999999999999"));
    }
}
