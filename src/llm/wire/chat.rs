//! OpenAI's chat completions, and those of all who speak them too.

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
pub(super) const PATH: &str = "/chat/completions";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(flatten)]
    cache: OpenAiCache,
    messages: [Message<'a>; 2],
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    /// The one shape that has a place for a mark; servers that are merely compatible may not know it.
    Marked([Part<'a>; 1]),
}

#[derive(Serialize)]
struct Part<'a> {
    r#type: &'static str,
    text: &'a str,
    prompt_cache_breakpoint: Explicit,
}

pub(super) fn body(model: &Model, prompt: &Prompt) -> Vec<u8> {
    let most = model.max_output_tokens.unwrap_or(prompt.answer_tokens);
    let knows_completion = model.provider.wants_completion_tokens;
    let instructions = prompt.instructions.as_str();
    let content = if is_marked(model, instructions) {
        Content::Marked([Part {
            r#type: "text",
            text: instructions,
            prompt_cache_breakpoint: Explicit::MARK,
        }])
    } else {
        Content::Text(instructions)
    };
    let body = Body {
        model: &model.name,
        max_completion_tokens: knows_completion.then_some(most),
        max_tokens: (!knows_completion).then_some(most),
        temperature: model.temperature,
        top_p: model.top_p,
        cache: OpenAiCache::of(model, instructions),
        messages: [
            Message { role: "system", content },
            Message { role: "user", content: Content::Text(&prompt.material) },
        ],
    };
    serde_json::to_vec(&body).expect("texts and numbers are JSON")
}

pub(super) fn answer(value: &Value) -> Result<Answer, Lack> {
    let Some(choice) = value.pointer("/choices/0") else {
        return Err(Lack::garbled("the answer has no `choices`"));
    };
    let stop = match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => Stop::Lack(Class::Soft(Soft::CutOff)),
        Some("content_filter") => Stop::Lack(Class::Soft(Soft::Declined)),
        // DeepSeek's word for a server that ran out of room, and OpenRouter's for one that broke.
        Some("insufficient_system_resource" | "error") => Stop::Lack(Class::Overload),
        Some(_) | None => Stop::Done,
    };
    if stop != Stop::Done {
        return Ok(Answer { text: String::new(), stop });
    }
    let refused =
        choice.pointer("/message/refusal").and_then(Value::as_str).is_some_and(|words| !words.is_empty());
    if refused {
        return Ok(Answer { text: String::new(), stop: Stop::Lack(Class::Soft(Soft::Declined)) });
    }
    let text = match choice.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => String::new(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            return Err(Lack::garbled("the answer's message has no `content`"));
        }
    };
    Ok(Answer { text, stop })
}

pub(super) fn tokens(value: &Value) -> Tokens {
    let all = count(value, "/usage/prompt_tokens");
    let written = count(value, "/usage/prompt_tokens_details/cache_write_tokens");
    // DeepSeek says both parts itself.
    let hit = count(value, "/usage/prompt_cache_hit_tokens");
    let missed = count(value, "/usage/prompt_cache_miss_tokens");
    let read = hit.or_else(|| count(value, "/usage/prompt_tokens_details/cached_tokens"));
    let output = count(value, "/usage/completion_tokens");
    // Some count what a model thinks in the total alone. It is paid for like the rest of the output.
    let in_total = count(value, "/usage/total_tokens").zip(all).map(|(total, all)| total.saturating_sub(all));
    Tokens {
        input: missed.or_else(|| rest(all, read, written)),
        cache_read: read,
        cache_write: written,
        output: output.map(|output| output.max(in_total.unwrap_or(0))),
    }
}
