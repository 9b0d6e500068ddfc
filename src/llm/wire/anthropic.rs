//! Anthropic's Messages API.

use serde::Serialize;
use serde_json::{Map, Value};

use super::shared::{ResponseDefect, StopCause, WireAnswer, count, is_marked};
use crate::llm::call::{FailureClass, Model, SoftFailure};
use crate::model::{ModelPrompt, TokenUsage};

/// The path that is appended to the base URL.
pub(crate) const PATH: &str = "/v1/messages";

/// The version of the format, unchanged since its first release.
pub(crate) const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct MessagesBody<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(flatten)]
    fields: Option<&'a Map<String, Value>>,
    system: [SystemBlock<'a>; 1],
    messages: [UserMessage<'a>; 1],
}

#[derive(Serialize)]
struct UserMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct SystemBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

pub(crate) fn body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let mark = is_marked(model, &prompt.instructions).then_some(CacheControl { r#type: "ephemeral" });
    let body = MessagesBody {
        model: &model.name,
        max_tokens: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
        temperature: model.temperature,
        top_p: model.top_p,
        fields: model.quirk_fields(),
        // The order of fields is the order of bytes: instructions before material, for the provider's cache.
        system: [SystemBlock { r#type: "text", text: &prompt.instructions, cache_control: mark }],
        messages: [UserMessage { role: "user", content: &prompt.material }],
    };
    serde_json::to_vec(&body).expect("strings and numbers are valid JSON")
}

pub(crate) fn answer(value: &Value) -> Result<WireAnswer, ResponseDefect> {
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
    let stop = match value.get("stop_reason").and_then(Value::as_str) {
        Some("refusal") => StopCause::Defect(FailureClass::Soft(SoftFailure::Declined)),
        Some("max_tokens") => StopCause::Defect(FailureClass::Soft(SoftFailure::CutOff)),
        Some("model_context_window_exceeded") => StopCause::Defect(FailureClass::TooLong),
        Some(_) | None => StopCause::Done,
    };
    Ok(WireAnswer { text, stop })
}

/// Returns the tokens used. Anthropic counts input that its cache read and wrote separately.
pub(crate) fn tokens(value: &Value) -> TokenUsage {
    TokenUsage {
        input: count(value, "/usage/input_tokens"),
        cache_read: count(value, "/usage/cache_read_input_tokens"),
        cache_write: count(value, "/usage/cache_creation_input_tokens"),
        output: count(value, "/usage/output_tokens"),
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
        assert_eq!(dispatch::answer(WireFormat::Anthropic, value).unwrap_err().class, class, "{value}");
    }

    #[test]
    fn unset_parameters_are_not_sent() {
        check_body(
            &of_provider("anthropic", "claude-haiku-5-5"),
            &expect![[
                r#"{"model":"claude-haiku-5-5","max_tokens":700,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn set_parameters_come_before_the_material() {
        let mut model = of_provider("minimax", "MiniMax-M3");
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.2), Some(0.9), Some(4_000));
        check_body(
            &model,
            &expect![[
                r#"{"model":"MiniMax-M3","max_tokens":4000,"temperature":0.2,"top_p":0.9,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn long_instructions_are_marked_at_their_end_and_short_ones_are_not() {
        let mut model = of_provider("anthropic", "claude-haiku-5-5");
        model.min_cacheable_tokens = Some(4);
        check_body(
            &model,
            &expect![[
                r#"{"model":"claude-haiku-5-5","max_tokens":700,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for."}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        let marks = |model: &Model| {
            String::from_utf8(body(model, &prompt("x"))).unwrap().matches("cache_control").count()
        };
        assert_eq!(marks(&model), 0, "18 bytes are no more than 3 tokens");
        model.min_cacheable_tokens = Some(3);
        check_body(
            &model,
            &expect![[
                r#"{"model":"claude-haiku-5-5","max_tokens":700,"thinking":{"type":"disabled"},"system":[{"type":"text","text":"Say what it is for.","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        assert_eq!(marks(&model), 1);
        let mut other = of_provider("vllm", "m");
        other.min_cacheable_tokens = Some(0);
        assert_eq!(marks(&other), 0, "nobody said that it takes marks");
    }

    #[test]
    fn the_text_is_joined_without_the_reasoning() {
        let content = json!([
            {"type": "thinking", "thinking": "Hm.", "signature": "x"},
            {"type": "text", "text": "It starts "},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "text", "text": "all."},
        ]);
        let value = json!({"type": "message", "content": content, "stop_reason": "end_turn"});
        assert_eq!(dispatch::answer(WireFormat::Anthropic, &value).unwrap(), "It starts all.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        let stopped =
            |reason: &str| json!({"content": [{"type": "text", "text": "It"}], "stop_reason": reason});
        lacks(&stopped("refusal"), FailureClass::Soft(SoftFailure::Declined));
        lacks(&stopped("max_tokens"), FailureClass::Soft(SoftFailure::CutOff));
        lacks(&stopped("model_context_window_exceeded"), FailureClass::TooLong);
        lacks(&json!({"content": [], "stop_reason": "end_turn"}), FailureClass::Soft(SoftFailure::Empty));
        lacks(&json!({"content": [{"type": "text", "text": " \n"}]}), FailureClass::Soft(SoftFailure::Empty));
        lacks(
            &json!({"content": [{"type": "thinking", "thinking": "x"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        for content in [
            json!(null),
            json!("x"),
            json!({}),
            json!([{"type": "text"}]),
            json!([{"type": "text", "text": 1}]),
        ] {
            lacks(&json!({"content": content}), FailureClass::Garbled);
        }
    }

    #[test]
    fn the_parts_of_the_count_are_separate_and_missing_ones_are_not_zero() {
        let value =
            json!({"usage": {"cache_read_input_tokens": 1066, "input_tokens": 13, "output_tokens": 8}});
        let counted =
            TokenUsage { input: Some(13), cache_read: Some(1_066), cache_write: None, output: Some(8) };
        assert_eq!(tokens(&value), counted);
        for usage in
            [json!(null), json!({"input_tokens": "13", "output_tokens": -1}), json!({"input_tokens": 1.5})]
        {
            assert_eq!(tokens(&json!({"usage": usage})), TokenUsage::default());
        }
    }
}
