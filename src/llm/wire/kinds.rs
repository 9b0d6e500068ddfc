//! From the name of a wire to its functions.

use secrecy::ExposeSecret;
use secrecy::SecretString;
use serde_json::Value;

use super::anthropic;
use super::chat;
use super::gemini;
use super::ollama;
use super::responses;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Soft;
use crate::llm::Wire;
use crate::model::Prompt;
use crate::model::Tokens;

/// What is in an answer that came with a good status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    /// What the model wrote, without what it thought.
    pub(super) text: String,
    /// Why it stopped.
    pub(super) stop: Stop,
}

/// Why a model stopped, as far as anything depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It was done, or nothing is said.
    Done,
    /// Something else: there are no words that count.
    Lack(Class),
}

/// Why there are no words in an answer that came with a good status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::llm) struct Lack {
    /// Of which kind that is.
    pub(in crate::llm) class: Class,
    /// Why, in words of ours.
    pub(in crate::llm) words: &'static str,
}

impl Lack {
    /// Something that this wire always says is not there, or is no text.
    pub(super) const fn garbled(words: &'static str) -> Self {
        Self { class: Class::Garbled, words }
    }
}

/// Returns the path that is appended to a provider's address.
pub(in crate::llm) fn path(model: &Model) -> String {
    match model.provider.wire {
        Wire::Anthropic => anthropic::PATH.to_owned(),
        Wire::Chat => chat::PATH.to_owned(),
        Wire::Responses => responses::PATH.to_owned(),
        Wire::Gemini => gemini::path(&model.name),
        Wire::Ollama => ollama::PATH.to_owned(),
        Wire::Command => String::new(),
    }
}

/// Returns the body by which a question is asked: the same bytes for the same question.
pub(in crate::llm) fn body(model: &Model, prompt: &Prompt) -> Vec<u8> {
    match model.provider.wire {
        Wire::Anthropic => anthropic::body(model, prompt),
        Wire::Chat => chat::body(model, prompt),
        Wire::Responses => responses::body(model, prompt),
        Wire::Gemini => gemini::body(model, prompt),
        Wire::Ollama => ollama::body(model, prompt),
        Wire::Command => super::command::input(prompt).into_bytes(),
    }
}

/// Returns the headers that a wire wants beside those that its provider's table names.
pub(in crate::llm) const fn headers(wire: Wire) -> &'static [(&'static str, &'static str)] {
    match wire {
        Wire::Anthropic => &[("anthropic-version", anthropic::VERSION)],
        Wire::Chat | Wire::Responses | Wire::Gemini | Wire::Ollama | Wire::Command => &[],
    }
}

/// Returns the header by which a wire takes the key.
pub(in crate::llm) fn secret_header(wire: Wire, key: &SecretString) -> (String, SecretString) {
    let bearer = || SecretString::from(format!("Bearer {}", key.expose_secret()));
    match wire {
        Wire::Anthropic => ("x-api-key".to_owned(), key.clone()),
        Wire::Gemini => ("x-goog-api-key".to_owned(), key.clone()),
        Wire::Chat | Wire::Responses | Wire::Ollama | Wire::Command => ("authorization".to_owned(), bearer()),
    }
}

/// Returns the words of an answer that came with a good status.
pub(in crate::llm) fn answer(wire: Wire, value: &Value) -> Result<String, Lack> {
    let answer = match wire {
        Wire::Anthropic => anthropic::answer(value),
        Wire::Chat => chat::answer(value),
        Wire::Responses => responses::answer(value),
        Wire::Gemini => gemini::answer(value),
        Wire::Ollama => ollama::answer(value),
        Wire::Command => Err(Lack::garbled("a program's answer is no JSON")),
    }?;
    match answer.stop {
        Stop::Lack(class) => Err(Lack { class, words: stop_words(class) }),
        Stop::Done if answer.text.trim().is_empty() => {
            Err(Lack { class: Class::Soft(Soft::Empty), words: "the answer is empty" })
        }
        Stop::Done => Ok(answer.text),
    }
}

/// Returns what was counted; what an answer does not say is `None`.
pub(in crate::llm) fn tokens(wire: Wire, value: &Value) -> Tokens {
    match wire {
        Wire::Anthropic => anthropic::tokens(value),
        Wire::Chat => chat::tokens(value),
        Wire::Responses => responses::tokens(value),
        Wire::Gemini => gemini::tokens(value),
        Wire::Ollama => ollama::tokens(value),
        Wire::Command => Tokens::default(),
    }
}

const fn stop_words(class: Class) -> &'static str {
    match class {
        Class::Soft(Soft::Declined) => "the model, or a filter before it, would not answer",
        Class::Soft(Soft::CutOff) => "the answer was cut off at the most tokens that it may have",
        Class::Soft(Soft::Empty) => "the answer is empty",
        Class::Soft(Soft::Misshapen) => "the answer is not of the shape that was asked for",
        Class::TooLong => "the question and its answer are longer than the model has room for",
        Class::Overload => "the provider gave up in the middle of the answer",
        Class::Rate | Class::Money | Class::Auth | Class::Settings | Class::Request | Class::Garbled => {
            "there is no answer"
        }
    }
}

/// Returns a count, if there is one at that place: a whole number that is not negative.
pub(super) fn count(value: &Value, pointer: &str) -> Option<u64> {
    value.pointer(pointer).and_then(Value::as_u64)
}

/// Returns what is left of all input when the parts that a cache read or took are taken away.
pub(super) fn rest(all: Option<u64>, cache_read: Option<u64>, cache_write: Option<u64>) -> Option<u64> {
    let parts = cache_read.unwrap_or(0).saturating_add(cache_write.unwrap_or(0));
    all.map(|all| all.saturating_sub(parts))
}
