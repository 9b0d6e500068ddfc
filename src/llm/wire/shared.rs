//! What the formats have in common: bodies, prompt caching, defects of responses.
//!
//! By default, providers cache up to the end of a prompt, after the text of a file that no other call begins with, and
//! some charge a quarter more for cache writes. So either the end of the instructions is marked, or nothing is.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::llm::call::{FailureClass, Model, SoftFailure};
use crate::llm::provider::WireFormat;
use crate::model::{ContentHash, ModelPrompt, TokenUsage};

/// How prompts are sent in one format, and how its responses are read.
pub(super) struct WireSpec {
    /// The path that is appended to the base URL; `{model}` is the model's name.
    pub(super) path: &'static str,
    /// What is required besides the headers in the provider's table.
    pub(super) headers: &'static [(&'static str, &'static str)],
    /// The header that carries the key, and what precedes the key in it.
    pub(super) key_header: (&'static str, &'static str),
    pub(super) body: fn(&Model, &ModelPrompt) -> Vec<u8>,
    /// Reads the text of a response with a success status, without the model's reasoning.
    pub(super) answer: fn(&Value) -> Result<String, ResponseDefect>,
    /// Reads the tokens used; what is not reported is `None`.
    pub(super) tokens: fn(&Value) -> TokenUsage,
}

/// A JSON object whose fields keep the order in which they are added.
///
/// The order of fields is the order of bytes: a provider's cache finds the beginning of a body only if everything that
/// is the same for many files comes first. `json!` would sort them by name.
pub(crate) struct JsonObject(Vec<u8>);

impl JsonObject {
    pub(crate) fn new() -> Self {
        Self(Vec::new())
    }

    pub(crate) fn field(mut self, name: &str, value: &(impl Serialize + ?Sized)) -> Self {
        const VALID: &str = "strings and numbers are valid JSON, and writing to a vector cannot fail";
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        serde_json::to_writer(&mut self.0, name).expect(VALID);
        self.0.push(b':');
        serde_json::to_writer(&mut self.0, value).expect(VALID);
        self
    }

    pub(crate) fn optional(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.field(name, &value),
            None => self,
        }
    }

    /// Adds what the provider's table has for the model.
    pub(crate) fn fields(self, fields: Option<&Map<String, Value>>) -> Self {
        fields.into_iter().flatten().fold(self, |object, (name, value)| object.field(name, value))
    }

    /// Returns the object, which must have a field.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.0.push(b'}');
        self.0
    }

    pub(crate) fn nested(self) -> Box<RawValue> {
        let text = String::from_utf8(self.finish()).expect("JSON is UTF-8");
        RawValue::from_string(text).expect("an object with a field is valid JSON")
    }
}

/// Returns a message of a conversation.
pub(super) fn message(role: &str, content: &(impl Serialize + ?Sized)) -> Box<RawValue> {
    JsonObject::new().field("role", role).field("content", content).nested()
}

/// Returns a part of a message's content.
pub(super) fn text_part(kind: &str, text: &str, mark: Option<(&str, Value)>) -> Box<RawValue> {
    let part = JsonObject::new().field("type", kind).field("text", text);
    match mark {
        Some((name, mark)) => part.field(name, &mark).nested(),
        None => part.nested(),
    }
}

/// Returns the most tokens that an answer may have.
pub(super) fn most_tokens(model: &Model, prompt: &ModelPrompt) -> u32 {
    model.max_output_tokens.unwrap_or(prompt.answer_tokens)
}

/// The most bytes of English in a token, assumed so that marked instructions are long enough in any case.
const BYTES_OF_A_TOKEN: usize = 5;

/// OpenAI's own address: no other server may be sent fields that only OpenAI knows.
const OPENAI: &str = "https://api.openai.com/";

/// From these models on, OpenAI's cache charges for writes, and accepts what to keep.
const FIRST_EXPLICIT: (u32, u32) = (5, 6);

/// Returns whether the end of the instructions is marked for the provider's cache.
pub(super) fn is_marked(model: &Model, instructions: &str) -> bool {
    let can_be = match model.provider.wire {
        WireFormat::Anthropic => true,
        WireFormat::Chat | WireFormat::Responses => is_openai(model) && has_explicit_caching(&model.name),
        WireFormat::Gemini | WireFormat::Ollama | WireFormat::Command => false,
    };
    let tokens = u32::try_from(instructions.len() / BYTES_OF_A_TOKEN).unwrap_or(u32::MAX);
    can_be && model.provider.marks_cache && model.min_cacheable_tokens.is_some_and(|least| least <= tokens)
}

/// Adds the fields that only OpenAI is sent to a body with these instructions.
pub(super) fn cache_fields(body: JsonObject, model: &Model, instructions: &str) -> JsonObject {
    if !is_openai(model) || !model.provider.marks_cache {
        return body;
    }
    // Calls with the same key are routed to the same cache.
    let key: String = ContentHash::digest(instructions.as_bytes()).to_string().chars().take(32).collect();
    let mode = has_explicit_caching(&model.name).then(explicit_mode);
    body.field("prompt_cache_key", &key).optional("prompt_cache_options", mode)
}

/// Returns the mode in which only marked prefixes are cached; it is also the mark itself.
pub(super) fn explicit_mode() -> Value {
    json!({"mode": "explicit"})
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

/// Why a response with a success status has no usable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResponseDefect {
    /// The class of the failure.
    pub(crate) class: FailureClass,
    /// Our message for it.
    pub(crate) message: &'static str,
}

impl ResponseDefect {
    pub(super) const DECLINED: Self = Self::stopped(FailureClass::Soft(SoftFailure::Declined));
    pub(super) const CUT_OFF: Self = Self::stopped(FailureClass::Soft(SoftFailure::CutOff));

    /// Returns the defect of a response that lacks a required field.
    pub(super) const fn garbled(message: &'static str) -> Self {
        Self { class: FailureClass::Garbled, message }
    }

    /// Returns the defect of a response whose model stopped early.
    pub(super) const fn stopped(class: FailureClass) -> Self {
        let message = match class {
            FailureClass::Soft(SoftFailure::Declined) => "the model or a content filter declined",
            FailureClass::Soft(SoftFailure::CutOff) => "the answer was cut off at its token limit",
            FailureClass::Soft(SoftFailure::Empty) => "the answer is empty",
            FailureClass::Soft(SoftFailure::Misshapen) => "the answer is not in the requested form",
            FailureClass::TooLong => "prompt and answer exceed the model's context",
            FailureClass::Overload => "the provider stopped before the answer was complete",
            FailureClass::Rate
            | FailureClass::Money
            | FailureClass::Auth
            | FailureClass::Settings
            | FailureClass::Request
            | FailureClass::Garbled => "there is no answer",
        };
        Self { class, message }
    }
}

/// Returns the count at a JSON pointer, if it is a non-negative integer.
pub(super) fn count_at(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Returns the input tokens without those that a cache read or wrote.
pub(super) fn uncached_tokens(
    all: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
) -> Option<u64> {
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
