//! Ollama's own chat API.

use serde::Serialize;
use serde_json::{Map, Value};

use super::shared::{ResponseDefect, StopCause, WireAnswer, count};
use crate::llm::call::{FailureClass, Model, SoftFailure};
use crate::model::{ModelPrompt, TokenUsage};

/// The path that is appended to the base URL.
pub(crate) const PATH: &str = "/api/chat";

/// The context length if the provider's table does not set it. Ollama's own default is 4,096 on many machines, and a
/// model is reloaded whenever the number changes, so it is the same for all files.
const CONTEXT_TOKENS: u32 = 16_384;

#[derive(Serialize)]
struct OllamaBody<'a> {
    model: &'a str,
    stream: bool,
    /// A prompt that is too long must be an error instead of being truncated silently, at either end.
    truncate: bool,
    shift: bool,
    #[serde(flatten)]
    fields: Option<&'a Map<String, Value>>,
    options: OllamaOptions,
    messages: [OllamaMessage<'a>; 2],
}

#[derive(Serialize)]
struct OllamaOptions {
    num_ctx: u32,
    num_predict: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
}

#[derive(Serialize)]
struct OllamaMessage<'a> {
    role: &'static str,
    content: &'a str,
}

pub(crate) fn body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let body = OllamaBody {
        model: &model.name,
        stream: false,
        truncate: false,
        shift: false,
        fields: model.quirk_fields(),
        options: OllamaOptions {
            num_ctx: model.provider.context_tokens.unwrap_or(CONTEXT_TOKENS),
            num_predict: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
            temperature: model.temperature,
            top_p: model.top_p,
        },
        messages: [
            OllamaMessage { role: "system", content: &prompt.instructions },
            OllamaMessage { role: "user", content: &prompt.material },
        ],
    };
    serde_json::to_vec(&body).expect("strings and numbers are valid JSON")
}

pub(crate) fn answer(value: &Value) -> Result<WireAnswer, ResponseDefect> {
    if value.get("done") == Some(&Value::Bool(false)) {
        return Err(ResponseDefect::garbled("the answer is not finished"));
    }
    let Some(text) = value.pointer("/message/content").and_then(Value::as_str) else {
        return Err(ResponseDefect::garbled("the answer's message has no `content`"));
    };
    let stop = match value.get("done_reason").and_then(Value::as_str) {
        Some("length") => StopCause::Defect(FailureClass::Soft(SoftFailure::CutOff)),
        Some(_) | None => StopCause::Done,
    };
    Ok(WireAnswer { text: text.to_owned(), stop })
}

pub(crate) fn tokens(value: &Value) -> TokenUsage {
    TokenUsage {
        input: count(value, "/prompt_eval_count"),
        cache_read: None,
        cache_write: None,
        output: count(value, "/eval_count"),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::super::dispatch;
    use super::*;
    use crate::llm::catalog::WireFormat;
    use crate::llm::testing::{of_provider, prompt};

    #[track_caller]
    fn check_body(model: &Model, expected: &Expect) {
        expected.assert_eq(&String::from_utf8(body(model, &prompt("fn main() {}"))).unwrap());
    }

    #[track_caller]
    fn lacks(value: &Value, class: FailureClass) {
        assert_eq!(dispatch::answer(WireFormat::Ollama, value).unwrap_err().class, class, "{value}");
    }

    #[test]
    fn ollama_gets_a_context_length_and_must_not_truncate() {
        let mut model = of_provider("ollama", "qwen3:8b");
        check_body(
            &model,
            &expect![[
                r#"{"model":"qwen3:8b","stream":false,"truncate":false,"shift":false,"think":false,"options":{"num_ctx":16384,"num_predict":700},"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        let mut provider = (*model.provider).clone();
        provider.context_tokens = None;
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.2), Some(0.9), Some(4_000));
        model.provider = std::sync::Arc::new(provider);
        check_body(
            &model,
            &expect![[
                r#"{"model":"qwen3:8b","stream":false,"truncate":false,"shift":false,"think":false,"options":{"num_ctx":16384,"num_predict":4000,"temperature":0.2,"top_p":0.9},"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn the_text_excludes_the_reasoning() {
        let value =
            json!({"message": {"content": "It.", "thinking": "Hm."}, "done": true, "done_reason": "stop"});
        assert_eq!(dispatch::answer(WireFormat::Ollama, &value).unwrap(), "It.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        lacks(
            &json!({"message": {"content": "It"}, "done_reason": "length"}),
            FailureClass::Soft(SoftFailure::CutOff),
        );
        lacks(
            &json!({"message": {"content": ""}, "done_reason": "load"}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        lacks(&json!({"message": {"content": "It"}, "done": false}), FailureClass::Garbled);
        for value in [json!({}), json!({"message": {}}), json!({"message": {"content": null}})] {
            lacks(&value, FailureClass::Garbled);
        }
    }

    #[test]
    fn missing_counts_are_not_zero() {
        let value = json!({"eval_count": 8});
        assert_eq!(tokens(&value), TokenUsage { output: Some(8), ..TokenUsage::default() });
    }
}
