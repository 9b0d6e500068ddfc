//! Anthropic's Messages.

use serde::Serialize;
use serde_json::Value;

use super::caching::is_marked;
use super::kinds::Answer;
use super::kinds::Lack;
use super::kinds::Stop;
use super::kinds::count;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Soft;
use crate::model::Prompt;
use crate::model::Tokens;

/// What is appended to the provider's address.
pub(super) const PATH: &str = "/v1/messages";

/// The version of the format, which has been the same since there is one.
pub(super) const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    system: [Block<'a>; 1],
    messages: [Message<'a>; 1],
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct Block<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Mark>,
}

#[derive(Serialize)]
struct Mark {
    r#type: &'static str,
}

pub(super) fn body(model: &Model, prompt: &Prompt) -> Vec<u8> {
    let mark = is_marked(model, &prompt.instructions).then_some(Mark { r#type: "ephemeral" });
    let body = Body {
        model: &model.name,
        max_tokens: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
        temperature: model.temperature,
        top_p: model.top_p,
        system: [Block { r#type: "text", text: &prompt.instructions, cache_control: mark }],
        messages: [Message { role: "user", content: &prompt.material }],
    };
    serde_json::to_vec(&body).expect("texts and numbers are JSON")
}

pub(super) fn answer(value: &Value) -> Result<Answer, Lack> {
    let Some(blocks) = value.get("content").and_then(Value::as_array) else {
        return Err(Lack::garbled("the answer has no `content`"));
    };
    let mut text = String::new();
    for block in blocks {
        // Beside text there is what the model thought, which is not for readers.
        if block.get("type").and_then(Value::as_str) != Some("text") {
            continue;
        }
        let Some(words) = block.get("text").and_then(Value::as_str) else {
            return Err(Lack::garbled("a block of text in the answer has no text"));
        };
        text.push_str(words);
    }
    let stop = match value.get("stop_reason").and_then(Value::as_str) {
        Some("refusal") => Stop::Lack(Class::Soft(Soft::Declined)),
        Some("max_tokens") => Stop::Lack(Class::Soft(Soft::CutOff)),
        Some("model_context_window_exceeded") => Stop::Lack(Class::TooLong),
        Some(_) | None => Stop::Done,
    };
    Ok(Answer { text, stop })
}

/// Anthropic counts what its cache read and wrote apart from the rest of the input.
pub(super) fn tokens(value: &Value) -> Tokens {
    Tokens {
        input: count(value, "/usage/input_tokens"),
        cache_read: count(value, "/usage/cache_read_input_tokens"),
        cache_write: count(value, "/usage/cache_creation_input_tokens"),
        output: count(value, "/usage/output_tokens"),
    }
}
