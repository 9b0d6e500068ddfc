//! Anthropic's Messages API, Google's generateContent and Ollama's own chat API.

use serde_json::{Value, json};

use super::shared::{
    JsonObject, ResponseDefect, WireSpec, count_at, is_marked, message, most_tokens, text_part,
    uncached_tokens,
};
use crate::llm::call::{FailureClass, Model};
use crate::model::{ModelPrompt, TokenUsage};

pub(super) const ANTHROPIC: WireSpec = WireSpec {
    path: "/v1/messages",
    // The version of the format, unchanged since its first release.
    headers: &[("anthropic-version", "2023-06-01")],
    key_header: ("x-api-key", ""),
    body: anthropic_body,
    answer: anthropic_answer,
    tokens: anthropic_tokens,
};

pub(super) const GEMINI: WireSpec = WireSpec {
    path: "/v1beta/models/{model}:generateContent",
    headers: &[],
    key_header: ("x-goog-api-key", ""),
    body: gemini_body,
    answer: gemini_answer,
    tokens: gemini_tokens,
};

pub(super) const OLLAMA: WireSpec = WireSpec {
    path: "/api/chat",
    headers: &[],
    key_header: ("authorization", "Bearer "),
    body: ollama_body,
    answer: ollama_answer,
    tokens: ollama_tokens,
};

/// The context length if the provider's table does not set it. Ollama's own default is 4,096 on many machines, and a
/// model is reloaded whenever the number changes, so it is the same for all files.
const CONTEXT_TOKENS: u32 = 16_384;

fn anthropic_body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let is_marked = is_marked(model, &prompt.instructions);
    let mark = is_marked.then(|| ("cache_control", json!({"type": "ephemeral"})));
    JsonObject::new()
        .field("model", &model.name)
        .field("max_tokens", &most_tokens(model, prompt))
        .optional("temperature", model.temperature)
        .optional("top_p", model.top_p)
        .fields(model.quirk_fields())
        .field("system", &[text_part("text", &prompt.instructions, mark)])
        .field("messages", &[message("user", &prompt.material)])
        .finish()
}

fn anthropic_answer(value: &Value) -> Result<String, ResponseDefect> {
    let Some(blocks) = value.get("content").and_then(Value::as_array) else {
        return Err(ResponseDefect::garbled("the answer has no `content`"));
    };
    let mut text = String::new();
    for block in blocks {
        // Other blocks hold the model's reasoning, which is not part of the answer.
        if block.get("type").and_then(Value::as_str) != Some("text") {
            continue;
        }
        let Some(words) = block.get("text").and_then(Value::as_str) else {
            return Err(ResponseDefect::garbled("a block of text in the answer has no text"));
        };
        text.push_str(words);
    }
    match value.get("stop_reason").and_then(Value::as_str) {
        Some("refusal") => Err(ResponseDefect::DECLINED),
        Some("max_tokens") => Err(ResponseDefect::CUT_OFF),
        Some("model_context_window_exceeded") => Err(ResponseDefect::stopped(FailureClass::TooLong)),
        Some(_) | None => Ok(text),
    }
}

/// Returns the tokens used. Anthropic counts input that its cache read and wrote separately.
fn anthropic_tokens(value: &Value) -> TokenUsage {
    TokenUsage {
        input: count_at(value, "/usage/input_tokens"),
        cache_read: count_at(value, "/usage/cache_read_input_tokens"),
        cache_write: count_at(value, "/usage/cache_creation_input_tokens"),
        output: count_at(value, "/usage/output_tokens"),
    }
}

fn gemini_body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let generation = JsonObject::new()
        .field("maxOutputTokens", &most_tokens(model, prompt))
        .optional("temperature", model.temperature)
        .optional("topP", model.top_p)
        .fields(model.quirk_fields());
    let parts = |text: &str| json!([{"text": text}]);
    let user = JsonObject::new().field("role", "user").field("parts", &parts(&prompt.material));
    JsonObject::new()
        .field("generationConfig", &generation.nested())
        .field("systemInstruction", &json!({"parts": parts(&prompt.instructions)}))
        .field("contents", &[user.nested()])
        .finish()
}

fn gemini_answer(value: &Value) -> Result<String, ResponseDefect> {
    let Some(candidate) = value.pointer("/candidates/0") else {
        return match value.pointer("/promptFeedback/blockReason") {
            Some(_) => Err(ResponseDefect::DECLINED),
            None => Err(ResponseDefect::garbled("the answer has no `candidates`")),
        };
    };
    let stop = match candidate.get("finishReason").and_then(Value::as_str) {
        Some("MAX_TOKENS") => Some(ResponseDefect::CUT_OFF),
        Some(
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
            | "MODEL_ARMOR",
        ) => Some(ResponseDefect::DECLINED),
        Some(_) | None => None,
    };
    // A candidate that was stopped early may have no content at all.
    let Some(content) = candidate.get("content") else {
        return match candidate.get("finishReason") {
            Some(Value::String(_)) => stop.map_or(Ok(String::new()), Err),
            Some(_) | None => Err(ResponseDefect::garbled("the answer's candidate has no `content`")),
        };
    };
    let mut text = String::new();
    match content.get("parts") {
        Some(Value::Array(parts)) => {
            for part in parts.iter().filter(|part| part.get("thought") != Some(&Value::Bool(true))) {
                text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
            }
        }
        // Google's JSON omits empty lists.
        None => {}
        Some(_) => return Err(ResponseDefect::garbled("the answer's `parts` are not a list")),
    }
    stop.map_or(Ok(text), Err)
}

fn gemini_tokens(value: &Value) -> TokenUsage {
    let read = count_at(value, "/usageMetadata/cachedContentTokenCount");
    let written = count_at(value, "/usageMetadata/candidatesTokenCount");
    let thought = count_at(value, "/usageMetadata/thoughtsTokenCount");
    TokenUsage {
        input: uncached_tokens(count_at(value, "/usageMetadata/promptTokenCount"), read, None),
        cache_read: read,
        cache_write: None,
        // Reasoning is not in the first count, and Google's JSON omits zeros.
        output: match (written, thought) {
            (None, None) => None,
            (Some(_), _) | (_, Some(_)) => Some(written.unwrap_or(0).saturating_add(thought.unwrap_or(0))),
        },
    }
}

fn ollama_body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let options = JsonObject::new()
        .field("num_ctx", &model.provider.context_tokens.unwrap_or(CONTEXT_TOKENS))
        .field("num_predict", &most_tokens(model, prompt))
        .optional("temperature", model.temperature)
        .optional("top_p", model.top_p);
    JsonObject::new()
        .field("model", &model.name)
        .field("stream", &false)
        // A prompt that is too long must be an error instead of being truncated silently, at either end.
        .field("truncate", &false)
        .field("shift", &false)
        .fields(model.quirk_fields())
        .field("options", &options.nested())
        .field("messages", &[message("system", &prompt.instructions), message("user", &prompt.material)])
        .finish()
}

fn ollama_answer(value: &Value) -> Result<String, ResponseDefect> {
    if value.get("done") == Some(&Value::Bool(false)) {
        return Err(ResponseDefect::garbled("the answer is not finished"));
    }
    let Some(text) = value.pointer("/message/content").and_then(Value::as_str) else {
        return Err(ResponseDefect::garbled("the answer's message has no `content`"));
    };
    match value.get("done_reason").and_then(Value::as_str) {
        Some("length") => Err(ResponseDefect::CUT_OFF),
        Some(_) | None => Ok(text.to_owned()),
    }
}

fn ollama_tokens(value: &Value) -> TokenUsage {
    TokenUsage {
        input: count_at(value, "/prompt_eval_count"),
        cache_read: None,
        cache_write: None,
        output: count_at(value, "/eval_count"),
    }
}
