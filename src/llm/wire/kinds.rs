//! Dispatches from a wire format to its functions.

use secrecy::ExposeSecret;
use secrecy::SecretString;
use serde_json::Value;

use super::anthropic;
use super::chat;
use super::gemini;
use super::ollama;
use super::responses;
use crate::llm::FailureClass;
use crate::llm::Model;
use crate::llm::SoftFailure;
use crate::llm::WireFormat;
use crate::model::ModelPrompt;
use crate::model::TokenUsage;

/// The content of a response with a success status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WireAnswer {
    /// The model's text, without its reasoning.
    pub(super) text: String,
    /// Why it stopped.
    pub(super) stop: StopCause,
}

/// Why a model stopped, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopCause {
    /// It was done, or gave no reason.
    Done,
    /// For another reason: there is no usable text.
    Defect(FailureClass),
}

/// Why a response with a success status has no usable text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::llm) struct ResponseDefect {
    /// The class of the failure.
    pub(in crate::llm) class: FailureClass,
    /// Our message for it.
    pub(in crate::llm) message: &'static str,
}

impl ResponseDefect {
    /// Returns the defect of a response that lacks a required field.
    pub(super) const fn garbled(message: &'static str) -> Self {
        Self { class: FailureClass::Garbled, message }
    }
}

/// Returns the path that is appended to a provider's base URL.
pub(in crate::llm) fn path(model: &Model) -> String {
    match model.provider.wire {
        WireFormat::Anthropic => anthropic::PATH.to_owned(),
        WireFormat::Chat => chat::PATH.to_owned(),
        WireFormat::Responses => responses::PATH.to_owned(),
        WireFormat::Gemini => gemini::path(&model.name),
        WireFormat::Ollama => ollama::PATH.to_owned(),
        WireFormat::Command => String::new(),
    }
}

/// Returns the body for a prompt: the same bytes for the same prompt.
pub(in crate::llm) fn body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    match model.provider.wire {
        WireFormat::Anthropic => anthropic::body(model, prompt),
        WireFormat::Chat => chat::body(model, prompt),
        WireFormat::Responses => responses::body(model, prompt),
        WireFormat::Gemini => gemini::body(model, prompt),
        WireFormat::Ollama => ollama::body(model, prompt),
        WireFormat::Command => super::command::input(prompt).into_bytes(),
    }
}

/// Returns the headers that a wire format requires besides those in the provider's table.
pub(in crate::llm) const fn headers(wire: WireFormat) -> &'static [(&'static str, &'static str)] {
    match wire {
        WireFormat::Anthropic => &[("anthropic-version", anthropic::VERSION)],
        WireFormat::Chat
        | WireFormat::Responses
        | WireFormat::Gemini
        | WireFormat::Ollama
        | WireFormat::Command => &[],
    }
}

/// Returns the header that carries the key.
pub(in crate::llm) fn secret_header(wire: WireFormat, key: &SecretString) -> (String, SecretString) {
    let bearer = || SecretString::from(format!("Bearer {}", key.expose_secret()));
    match wire {
        WireFormat::Anthropic => ("x-api-key".to_owned(), key.clone()),
        WireFormat::Gemini => ("x-goog-api-key".to_owned(), key.clone()),
        WireFormat::Chat | WireFormat::Responses | WireFormat::Ollama | WireFormat::Command => {
            ("authorization".to_owned(), bearer())
        }
    }
}

/// Returns the text of a response with a success status.
pub(in crate::llm) fn answer(wire: WireFormat, value: &Value) -> Result<String, ResponseDefect> {
    let answer = match wire {
        WireFormat::Anthropic => anthropic::answer(value),
        WireFormat::Chat => chat::answer(value),
        WireFormat::Responses => responses::answer(value),
        WireFormat::Gemini => gemini::answer(value),
        WireFormat::Ollama => ollama::answer(value),
        WireFormat::Command => Err(ResponseDefect::garbled("a program's answer is no JSON")),
    }?;
    match answer.stop {
        StopCause::Defect(class) => Err(ResponseDefect { class, message: defect_message(class) }),
        StopCause::Done if answer.text.trim().is_empty() => Err(ResponseDefect {
            class: FailureClass::Soft(SoftFailure::Empty),
            message: "the answer is empty",
        }),
        StopCause::Done => Ok(answer.text),
    }
}

/// Returns the tokens used; what a response does not report is `None`.
pub(in crate::llm) fn tokens(wire: WireFormat, value: &Value) -> TokenUsage {
    match wire {
        WireFormat::Anthropic => anthropic::tokens(value),
        WireFormat::Chat => chat::tokens(value),
        WireFormat::Responses => responses::tokens(value),
        WireFormat::Gemini => gemini::tokens(value),
        WireFormat::Ollama => ollama::tokens(value),
        WireFormat::Command => TokenUsage::default(),
    }
}

const fn defect_message(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Soft(SoftFailure::Declined) => "the model, or a filter before it, would not answer",
        FailureClass::Soft(SoftFailure::CutOff) => {
            "the answer was cut off at the most tokens that it may have"
        }
        FailureClass::Soft(SoftFailure::Empty) => "the answer is empty",
        FailureClass::Soft(SoftFailure::Misshapen) => "the answer is not of the shape that was asked for",
        FailureClass::TooLong => "the question and its answer are longer than the model has room for",
        FailureClass::Overload => "the provider gave up in the middle of the answer",
        FailureClass::Rate
        | FailureClass::Money
        | FailureClass::Auth
        | FailureClass::Settings
        | FailureClass::Request
        | FailureClass::Garbled => "there is no answer",
    }
}

/// Returns the count at a JSON pointer, if it is a non-negative integer.
pub(super) fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Returns the input tokens without those that a cache read or wrote.
pub(super) fn rest(all: Option<u64>, cache_read: Option<u64>, cache_write: Option<u64>) -> Option<u64> {
    let parts = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    all.map(|all| all.saturating_sub(parts))
}
