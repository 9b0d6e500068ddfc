//! Ollama's own chat.

use serde::Serialize;
use serde_json::Value;

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
pub(super) const PATH: &str = "/api/chat";

/// The room that a model gets where the provider's table does not say it. Ollama's own default is 4,096 on many
/// machines, and a model is loaded anew whenever the number changes, so it is the same for all files.
const CONTEXT_TOKENS: u32 = 16_384;

#[expect(clippy::struct_excessive_bools, reason = "each is a field of Ollama's")]
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    /// A summary needs no thinking, which would eat up the tokens that it may have.
    think: bool,
    /// What is too long is to be an error, not to be cut without a word: neither the question nor, on the way, the
    /// beginning of it.
    truncate: bool,
    shift: bool,
    options: Choices,
    messages: [Message<'a>; 2],
}

#[derive(Serialize)]
struct Choices {
    num_ctx: u32,
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: &'a str,
}

pub(super) fn body(model: &Model, prompt: &Prompt) -> Vec<u8> {
    let body = Body {
        model: &model.name,
        stream: false,
        think: false,
        truncate: false,
        shift: false,
        options: Choices {
            num_ctx: model.provider.context_tokens.unwrap_or(CONTEXT_TOKENS),
            num_predict: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
            temperature: model.temperature,
            top_p: model.top_p,
        },
        messages: [
            Message { role: "system", content: &prompt.instructions },
            Message { role: "user", content: &prompt.material },
        ],
    };
    serde_json::to_vec(&body).expect("texts and numbers are JSON")
}

pub(super) fn answer(value: &Value) -> Result<Answer, Lack> {
    if value.get("done") == Some(&Value::Bool(false)) {
        return Err(Lack::garbled("the answer is not finished"));
    }
    let Some(text) = value.pointer("/message/content").and_then(Value::as_str) else {
        return Err(Lack::garbled("the answer's message has no `content`"));
    };
    let stop = match value.get("done_reason").and_then(Value::as_str) {
        Some("length") => Stop::Lack(Class::Soft(Soft::CutOff)),
        Some(_) | None => Stop::Done,
    };
    Ok(Answer { text: text.to_owned(), stop })
}

pub(super) fn tokens(value: &Value) -> Tokens {
    Tokens {
        input: count(value, "/prompt_eval_count"),
        cache_read: None,
        cache_write: None,
        output: count(value, "/eval_count"),
    }
}
