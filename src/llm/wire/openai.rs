//! OpenAI's Chat Completions API, with those that are compatible, and its Responses API.

use serde_json::Value;

use super::shared::{
    JsonObject, ResponseDefect, WireSpec, cache_fields, count_at, explicit_mode, is_marked, message,
    most_tokens, text_part, uncached_tokens,
};
use crate::llm::call::{FailureClass, Model};
use crate::model::{ModelPrompt, TokenUsage};

pub(super) const CHAT: WireSpec = WireSpec {
    path: "/chat/completions",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    body: chat_body,
    answer: chat_answer,
    tokens: chat_tokens,
};

pub(super) const RESPONSES: WireSpec = WireSpec {
    path: "/responses",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    body: responses_body,
    answer: responses_answer,
    tokens: responses_tokens,
};

fn chat_body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let instructions = prompt.instructions.as_str();
    let knows_completion = model.provider.wants_completion_tokens;
    let most = if knows_completion { "max_completion_tokens" } else { "max_tokens" };
    // Only a list of parts can hold a mark, and compatible servers may not know lists.
    let system = if is_marked(model, instructions) {
        let mark = Some(("prompt_cache_breakpoint", explicit_mode()));
        message("system", &[text_part("text", instructions, mark)])
    } else {
        message("system", instructions)
    };
    let body = JsonObject::new()
        .field("model", &model.name)
        .field(most, &most_tokens(model, prompt))
        .optional("temperature", model.temperature)
        .optional("top_p", model.top_p)
        .fields(model.quirk_fields());
    cache_fields(body, model, instructions)
        .field("messages", &[system, message("user", &prompt.material)])
        .finish()
}

fn chat_answer(value: &Value) -> Result<String, ResponseDefect> {
    let Some(choice) = value.pointer("/choices/0") else {
        return Err(ResponseDefect::garbled("the answer has no `choices`"));
    };
    match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => return Err(ResponseDefect::CUT_OFF),
        Some("content_filter") => return Err(ResponseDefect::DECLINED),
        // DeepSeek reports missing resources by the former, OpenRouter a broken upstream by the latter.
        Some("insufficient_system_resource" | "error") => {
            return Err(ResponseDefect::stopped(FailureClass::Overload));
        }
        Some(_) | None => {}
    }
    if choice.pointer("/message/refusal").and_then(Value::as_str).is_some_and(|words| !words.is_empty()) {
        return Err(ResponseDefect::DECLINED);
    }
    match choice.pointer("/message/content") {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Null) => Ok(String::new()),
        Some(Value::Array(parts)) => Ok(parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()),
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            Err(ResponseDefect::garbled("the answer's message has no `content`"))
        }
    }
}

fn chat_tokens(value: &Value) -> TokenUsage {
    let all = count_at(value, "/usage/prompt_tokens");
    let written = count_at(value, "/usage/prompt_tokens_details/cache_write_tokens");
    // DeepSeek reports both parts itself.
    let hit = count_at(value, "/usage/prompt_cache_hit_tokens");
    let missed = count_at(value, "/usage/prompt_cache_miss_tokens");
    let read = hit.or_else(|| count_at(value, "/usage/prompt_tokens_details/cached_tokens"));
    let output = count_at(value, "/usage/completion_tokens");
    // Some count reasoning only in the total. It is charged like other output.
    let in_total =
        count_at(value, "/usage/total_tokens").zip(all).map(|(total, all)| total.saturating_sub(all));
    TokenUsage {
        input: missed.or_else(|| uncached_tokens(all, read, written)),
        cache_read: read,
        cache_write: written,
        output: output.map(|output| output.max(in_total.unwrap_or(0))),
    }
}

fn responses_body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let instructions = prompt.instructions.as_str();
    let body = JsonObject::new()
        .field("model", &model.name)
        .field("max_output_tokens", &most_tokens(model, prompt))
        .optional("temperature", model.temperature)
        .optional("top_p", model.top_p)
        // Without this, answers are stored for weeks.
        .field("store", &false)
        .fields(model.quirk_fields());
    let body = cache_fields(body, model, instructions);
    // `instructions` cannot hold a mark, so marked ones are sent as a message.
    let body = if is_marked(model, instructions) {
        let mark = Some(("prompt_cache_breakpoint", explicit_mode()));
        let first = message("developer", &[text_part("input_text", instructions, mark)]);
        let second = message("user", &[text_part("input_text", &prompt.material, None)]);
        body.field("input", &[first, second])
    } else {
        body.field("instructions", instructions).field("input", &prompt.material)
    };
    body.finish()
}

fn responses_answer(value: &Value) -> Result<String, ResponseDefect> {
    let Some(items) = value.get("output").and_then(Value::as_array) else {
        return Err(ResponseDefect::garbled("the answer has no `output`"));
    };
    let mut stop = stop(value)?;
    let mut text = String::new();
    for item in items {
        // The model's reasoning is an item of another type.
        if item.get("type").and_then(Value::as_str) != Some("message") {
            continue;
        }
        let Some(parts) = item.get("content").and_then(Value::as_array) else {
            return Err(ResponseDefect::garbled("a message in the answer has no `content`"));
        };
        for part in parts {
            match part.get("type").and_then(Value::as_str) {
                Some("output_text") => match part.get("text").and_then(Value::as_str) {
                    Some(words) => text.push_str(words),
                    None => return Err(ResponseDefect::garbled("a part of the answer has no text")),
                },
                Some("refusal") => stop = Some(ResponseDefect::DECLINED),
                Some(_) | None => {}
            }
        }
    }
    stop.map_or(Ok(text), Err)
}

/// Returns why the model stopped early, if it did.
fn stop(value: &Value) -> Result<Option<ResponseDefect>, ResponseDefect> {
    match value.get("status").and_then(Value::as_str) {
        Some("incomplete") => match value.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => Ok(Some(ResponseDefect::DECLINED)),
            Some(_) | None => Ok(Some(ResponseDefect::CUT_OFF)),
        },
        Some("failed" | "cancelled") => Ok(Some(ResponseDefect::stopped(FailureClass::Overload))),
        Some("queued" | "in_progress") => Err(ResponseDefect::garbled("the answer is not finished")),
        Some(_) | None => Ok(None),
    }
}

fn responses_tokens(value: &Value) -> TokenUsage {
    let read = count_at(value, "/usage/input_tokens_details/cached_tokens");
    let written = count_at(value, "/usage/input_tokens_details/cache_write_tokens");
    TokenUsage {
        input: uncached_tokens(count_at(value, "/usage/input_tokens"), read, written),
        cache_read: read,
        cache_write: written,
        output: count_at(value, "/usage/output_tokens"),
    }
}
