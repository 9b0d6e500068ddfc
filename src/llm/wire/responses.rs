//! OpenAI's Responses.

use serde::Serialize;
use serde_json::Value;

use super::caching::Explicit;
use super::caching::OpenAiCache;
use super::caching::is_marked;
use super::kinds::Answer;
use super::kinds::Lack;
use super::kinds::Stop;
use super::kinds::count;
use super::kinds::rest;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Soft;
use crate::model::Prompt;
use crate::model::Tokens;

/// What is appended to the provider's address.
pub(super) const PATH: &str = "/responses";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    /// Answers are kept for weeks where nothing is said.
    store: bool,
    #[serde(flatten)]
    cache: OpenAiCache,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: Input<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Input<'a> {
    Text(&'a str),
    /// `instructions` have no place for a mark, so where there is one they are a message.
    Marked([Message<'a>; 2]),
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: [Part<'a>; 1],
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_breakpoint: Option<Explicit>,
}

pub(super) fn body(model: &Model, prompt: &Prompt) -> Vec<u8> {
    let instructions = prompt.instructions.as_str();
    let part = |text, prompt_cache_breakpoint| [Part { r#type: "input_text", text, prompt_cache_breakpoint }];
    let (instructions_apart, input) = if is_marked(model, instructions) {
        let first = Message { role: "developer", content: part(instructions, Some(Explicit::MARK)) };
        let second = Message { role: "user", content: part(&prompt.material, None) };
        (None, Input::Marked([first, second]))
    } else {
        (Some(instructions), Input::Text(&prompt.material))
    };
    let body = Body {
        model: &model.name,
        max_output_tokens: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
        temperature: model.temperature,
        top_p: model.top_p,
        store: false,
        cache: OpenAiCache::of(model, instructions),
        instructions: instructions_apart,
        input,
    };
    serde_json::to_vec(&body).expect("texts and numbers are JSON")
}

pub(super) fn answer(value: &Value) -> Result<Answer, Lack> {
    let Some(items) = value.get("output").and_then(Value::as_array) else {
        return Err(Lack::garbled("the answer has no `output`"));
    };
    let mut stop = stop(value)?;
    let mut text = String::new();
    for item in items {
        // What the model thought is an item of a type of its own.
        if item.get("type").and_then(Value::as_str) != Some("message") {
            continue;
        }
        let Some(parts) = item.get("content").and_then(Value::as_array) else {
            return Err(Lack::garbled("a message in the answer has no `content`"));
        };
        for part in parts {
            match part.get("type").and_then(Value::as_str) {
                Some("output_text") => match part.get("text").and_then(Value::as_str) {
                    Some(words) => text.push_str(words),
                    None => return Err(Lack::garbled("a part of the answer has no text")),
                },
                Some("refusal") => stop = Stop::Lack(Class::Soft(Soft::Declined)),
                Some(_) | None => {}
            }
        }
    }
    Ok(Answer { text, stop })
}

fn stop(value: &Value) -> Result<Stop, Lack> {
    match value.get("status").and_then(Value::as_str) {
        Some("incomplete") => match value.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => Ok(Stop::Lack(Class::Soft(Soft::Declined))),
            Some(_) | None => Ok(Stop::Lack(Class::Soft(Soft::CutOff))),
        },
        Some("failed" | "cancelled") => Ok(Stop::Lack(Class::Overload)),
        Some("queued" | "in_progress") => Err(Lack::garbled("the answer is not finished")),
        Some(_) | None => Ok(Stop::Done),
    }
}

pub(super) fn tokens(value: &Value) -> Tokens {
    let read = count(value, "/usage/input_tokens_details/cached_tokens");
    let written = count(value, "/usage/input_tokens_details/cache_write_tokens");
    Tokens {
        input: rest(count(value, "/usage/input_tokens"), read, written),
        cache_read: read,
        cache_write: written,
        output: count(value, "/usage/output_tokens"),
    }
}
