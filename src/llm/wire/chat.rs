//! OpenAI's Chat Completions API and compatible ones.

use serde::Serialize;
use serde_json::{Map, Value};

use super::shared::{
    CacheMode, OpenAiCacheFields, ResponseDefect, StopCause, WireAnswer, count, is_marked, rest,
};
use crate::llm::call::{FailureClass, Model, SoftFailure};
use crate::model::{ModelPrompt, TokenUsage};

/// The path that is appended to the base URL.
pub(crate) const PATH: &str = "/chat/completions";

#[derive(Serialize)]
struct ChatBody<'a> {
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
    fields: Option<&'a Map<String, Value>>,
    #[serde(flatten)]
    cache: OpenAiCacheFields,
    messages: [ChatMessage<'a>; 2],
}

#[derive(Serialize)]
struct ChatMessage<'a> {
    role: &'static str,
    content: ChatContent<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ChatContent<'a> {
    Text(&'a str),
    /// The only form that can hold a mark; compatible servers may not know it.
    Marked([ChatPart<'a>; 1]),
}

#[derive(Serialize)]
struct ChatPart<'a> {
    r#type: &'static str,
    text: &'a str,
    prompt_cache_breakpoint: CacheMode,
}

pub(crate) fn body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let most = model.max_output_tokens.unwrap_or(prompt.answer_tokens);
    let knows_completion = model.provider.wants_completion_tokens;
    let instructions = prompt.instructions.as_str();
    let content = if is_marked(model, instructions) {
        ChatContent::Marked([ChatPart {
            r#type: "text",
            text: instructions,
            prompt_cache_breakpoint: CacheMode::MARK,
        }])
    } else {
        ChatContent::Text(instructions)
    };
    let body = ChatBody {
        model: &model.name,
        max_completion_tokens: knows_completion.then_some(most),
        max_tokens: (!knows_completion).then_some(most),
        temperature: model.temperature,
        top_p: model.top_p,
        fields: model.quirk_fields(),
        cache: OpenAiCacheFields::new(model, instructions),
        messages: [
            ChatMessage { role: "system", content },
            ChatMessage { role: "user", content: ChatContent::Text(&prompt.material) },
        ],
    };
    serde_json::to_vec(&body).expect("strings and numbers are valid JSON")
}

pub(crate) fn answer(value: &Value) -> Result<WireAnswer, ResponseDefect> {
    let Some(choice) = value.pointer("/choices/0") else {
        return Err(ResponseDefect::garbled("the answer has no `choices`"));
    };
    let stop = match choice.get("finish_reason").and_then(Value::as_str) {
        Some("length") => StopCause::Defect(FailureClass::Soft(SoftFailure::CutOff)),
        Some("content_filter") => StopCause::Defect(FailureClass::Soft(SoftFailure::Declined)),
        // DeepSeek reports missing resources by the former, OpenRouter a broken upstream by the latter.
        Some("insufficient_system_resource" | "error") => StopCause::Defect(FailureClass::Overload),
        Some(_) | None => StopCause::Done,
    };
    if stop != StopCause::Done {
        return Ok(WireAnswer { text: String::new(), stop });
    }
    let refused =
        choice.pointer("/message/refusal").and_then(Value::as_str).is_some_and(|words| !words.is_empty());
    if refused {
        return Ok(WireAnswer {
            text: String::new(),
            stop: StopCause::Defect(FailureClass::Soft(SoftFailure::Declined)),
        });
    }
    let text = match choice.pointer("/message/content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) => String::new(),
        Some(Value::Array(parts)) => parts.iter().filter_map(|part| part.get("text")?.as_str()).collect(),
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
            return Err(ResponseDefect::garbled("the answer's message has no `content`"));
        }
    };
    Ok(WireAnswer { text, stop })
}

pub(crate) fn tokens(value: &Value) -> TokenUsage {
    let all = count(value, "/usage/prompt_tokens");
    let written = count(value, "/usage/prompt_tokens_details/cache_write_tokens");
    // DeepSeek reports both parts itself.
    let hit = count(value, "/usage/prompt_cache_hit_tokens");
    let missed = count(value, "/usage/prompt_cache_miss_tokens");
    let read = hit.or_else(|| count(value, "/usage/prompt_tokens_details/cached_tokens"));
    let output = count(value, "/usage/completion_tokens");
    // Some count reasoning only in the total. It is charged like other output.
    let in_total = count(value, "/usage/total_tokens").zip(all).map(|(total, all)| total.saturating_sub(all));
    TokenUsage {
        input: missed.or_else(|| rest(all, read, written)),
        cache_read: read,
        cache_write: written,
        output: output.map(|output| output.max(in_total.unwrap_or(0))),
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
        assert_eq!(dispatch::answer(WireFormat::Chat, value).unwrap_err().class, class, "{value}");
    }

    #[test]
    fn a_compatible_server_is_not_sent_fields_of_openai() {
        check_body(
            &of_provider("vllm", "Qwen/Qwen4-8B"),
            &expect![[
                r#"{"model":"Qwen/Qwen4-8B","max_tokens":700,"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        let mut model = of_provider("openrouter", "openai/gpt-6-luna");
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.0), Some(1.0), Some(50));
        model.min_cacheable_tokens = Some(0);
        check_body(
            &model,
            &expect![[
                r#"{"model":"openai/gpt-6-luna","max_tokens":50,"temperature":0.0,"top_p":1.0,"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn openai_is_told_to_cache_nothing_or_only_the_instructions() {
        let mut model = of_provider("openai-chat", "gpt-6-luna");
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-6-luna","max_completion_tokens":700,"reasoning_effort":"none","prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        model.min_cacheable_tokens = Some(3);
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-6-luna","max_completion_tokens":700,"reasoning_effort":"none","prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"messages":[{"role":"system","content":[{"type":"text","text":"Say what it is for.","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
        model.name = "gpt-5.4-nano".to_owned();
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.4-nano","max_completion_tokens":700,"prompt_cache_key":"02466c9779f929d75961a9497b1d35df","messages":[{"role":"system","content":"Say what it is for."},{"role":"user","content":"fn main() {}"}]}"#
            ]],
        );
    }

    #[test]
    fn the_content_is_a_string_or_a_list_of_parts() {
        let said =
            |content: Value| json!({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]});
        let words = |value: &Value| dispatch::answer(WireFormat::Chat, value).unwrap();
        assert_eq!(words(&said(json!("It starts all."))), "It starts all.");
        assert_eq!(
            words(&said(json!([{"type": "text", "text": "It "}, {"type": "text", "text": "starts"}]))),
            "It starts"
        );
        let thought = json!({"choices": [{"message": {"content": "It.", "reasoning_content": "Hm."}}]});
        assert_eq!(words(&thought), "It.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        let stopped =
            |reason: &str| json!({"choices": [{"message": {"content": "It"}, "finish_reason": reason}]});
        lacks(&stopped("length"), FailureClass::Soft(SoftFailure::CutOff));
        lacks(&stopped("content_filter"), FailureClass::Soft(SoftFailure::Declined));
        lacks(&stopped("insufficient_system_resource"), FailureClass::Overload);
        lacks(
            &json!({"choices": [{"message": {"content": null, "refusal": "No."}}]}),
            FailureClass::Soft(SoftFailure::Declined),
        );
        lacks(
            &json!({"choices": [{"message": {"content": null}, "finish_reason": "stop"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        for value in [json!({}), json!({"choices": []}), json!({"choices": [{}]}), json!({"choices": "x"})] {
            lacks(&value, FailureClass::Garbled);
        }
        lacks(&json!({"choices": [{"message": {"role": "assistant"}}]}), FailureClass::Garbled);
        lacks(&json!({"choices": [{"message": {"content": 7}}]}), FailureClass::Garbled);
    }

    #[test]
    fn the_cached_part_is_subtracted_from_the_input() {
        let usage = json!({"prompt_tokens": 1079, "completion_tokens": 8, "total_tokens": 1087,
            "prompt_tokens_details": {"cached_tokens": 1000, "cache_write_tokens": 66}});
        let counted =
            TokenUsage { input: Some(13), cache_read: Some(1_000), cache_write: Some(66), output: Some(8) };
        assert_eq!(tokens(&json!({"usage": usage})), counted);
        let usage = json!({"prompt_tokens": 5, "prompt_tokens_details": null});
        assert_eq!(tokens(&json!({"usage": usage})), TokenUsage { input: Some(5), ..TokenUsage::default() });
        let nonsense = json!({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}});
        assert_eq!(tokens(&json!({"usage": nonsense})).input, Some(0));
    }

    #[test]
    fn deepseeks_own_counts_come_first() {
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 8, "prompt_cache_hit_tokens": 64,
            "prompt_cache_miss_tokens": 36, "prompt_tokens_details": {"cached_tokens": 1}});
        let counted =
            TokenUsage { input: Some(36), cache_read: Some(64), cache_write: None, output: Some(8) };
        assert_eq!(tokens(&json!({"usage": usage})), counted);
    }

    #[test]
    fn output_that_only_the_total_includes_is_counted() {
        let usage = json!({"prompt_tokens": 100, "completion_tokens": 8, "total_tokens": 158});
        assert_eq!(tokens(&json!({"usage": usage})).output, Some(58));
    }
}
