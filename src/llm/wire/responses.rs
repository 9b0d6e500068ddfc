//! OpenAI's Responses API.

use serde::Serialize;
use serde_json::{Map, Value};

use super::shared::{
    CacheMode, OpenAiCacheFields, ResponseDefect, StopCause, WireAnswer, count, is_marked, rest,
};
use crate::llm::call::{FailureClass, Model, SoftFailure};
use crate::model::{ModelPrompt, TokenUsage};

/// The path that is appended to the base URL.
pub(crate) const PATH: &str = "/responses";

#[derive(Serialize)]
struct ResponsesBody<'a> {
    model: &'a str,
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    /// Without this, answers are stored for weeks.
    store: bool,
    #[serde(flatten)]
    fields: Option<&'a Map<String, Value>>,
    #[serde(flatten)]
    cache: OpenAiCacheFields,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
    input: ResponsesInput<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ResponsesInput<'a> {
    Text(&'a str),
    /// `instructions` cannot hold a mark, so marked ones are sent as a message.
    Marked([ResponsesMessage<'a>; 2]),
}

#[derive(Serialize)]
struct ResponsesMessage<'a> {
    role: &'static str,
    content: [ResponsesPart<'a>; 1],
}

#[derive(Serialize)]
struct ResponsesPart<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_cache_breakpoint: Option<CacheMode>,
}

pub(crate) fn body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let instructions = prompt.instructions.as_str();
    let part = |text, prompt_cache_breakpoint| {
        [ResponsesPart { r#type: "input_text", text, prompt_cache_breakpoint }]
    };
    let (instructions_apart, input) = if is_marked(model, instructions) {
        let first =
            ResponsesMessage { role: "developer", content: part(instructions, Some(CacheMode::MARK)) };
        let second = ResponsesMessage { role: "user", content: part(&prompt.material, None) };
        (None, ResponsesInput::Marked([first, second]))
    } else {
        (Some(instructions), ResponsesInput::Text(&prompt.material))
    };
    let body = ResponsesBody {
        model: &model.name,
        max_output_tokens: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
        temperature: model.temperature,
        top_p: model.top_p,
        store: false,
        fields: model.quirk_fields(),
        cache: OpenAiCacheFields::new(model, instructions),
        instructions: instructions_apart,
        input,
    };
    serde_json::to_vec(&body).expect("strings and numbers are valid JSON")
}

pub(crate) fn answer(value: &Value) -> Result<WireAnswer, ResponseDefect> {
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
                Some("refusal") => stop = StopCause::Defect(FailureClass::Soft(SoftFailure::Declined)),
                Some(_) | None => {}
            }
        }
    }
    Ok(WireAnswer { text, stop })
}

fn stop(value: &Value) -> Result<StopCause, ResponseDefect> {
    match value.get("status").and_then(Value::as_str) {
        Some("incomplete") => match value.pointer("/incomplete_details/reason").and_then(Value::as_str) {
            Some("content_filter") => Ok(StopCause::Defect(FailureClass::Soft(SoftFailure::Declined))),
            Some(_) | None => Ok(StopCause::Defect(FailureClass::Soft(SoftFailure::CutOff))),
        },
        Some("failed" | "cancelled") => Ok(StopCause::Defect(FailureClass::Overload)),
        Some("queued" | "in_progress") => Err(ResponseDefect::garbled("the answer is not finished")),
        Some(_) | None => Ok(StopCause::Done),
    }
}

pub(crate) fn tokens(value: &Value) -> TokenUsage {
    let read = count(value, "/usage/input_tokens_details/cached_tokens");
    let written = count(value, "/usage/input_tokens_details/cache_write_tokens");
    TokenUsage {
        input: rest(count(value, "/usage/input_tokens"), read, written),
        cache_read: read,
        cache_write: written,
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
        assert_eq!(dispatch::answer(WireFormat::Responses, value).unwrap_err().class, class, "{value}");
    }

    #[test]
    fn openai_is_told_to_store_nothing_and_to_cache_only_the_instructions() {
        let mut model = of_provider("openai", "gpt-5.6-luna");
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.6-luna","max_output_tokens":700,"store":false,"reasoning":{"effort":"none"},"prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"instructions":"Say what it is for.","input":"fn main() {}"}"#
            ]],
        );
        model.min_cacheable_tokens = Some(3);
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.6-luna","max_output_tokens":700,"store":false,"reasoning":{"effort":"none"},"prompt_cache_key":"02466c9779f929d75961a9497b1d35df","prompt_cache_options":{"mode":"explicit"},"input":[{"role":"developer","content":[{"type":"input_text","text":"Say what it is for.","prompt_cache_breakpoint":{"mode":"explicit"}}]},{"role":"user","content":[{"type":"input_text","text":"fn main() {}"}]}]}"#
            ]],
        );
    }

    #[test]
    fn another_server_is_not_sent_fields_of_openai() {
        let mut model = of_provider("openai", "gpt-5.6-luna");
        let mut provider = (*model.provider).clone();
        (model.min_cacheable_tokens, model.temperature) = (Some(0), Some(0.5));
        for address in
            ["https://gateway.example/v1", "https://api.openai.com.example/v1", "http://api.openai.com/v1"]
        {
            address.clone_into(&mut provider.base_url);
            model.provider = std::sync::Arc::new(provider.clone());
            let sent = String::from_utf8(body(&model, &prompt("x"))).unwrap();
            assert!(!sent.contains("cache"), "{sent}");
        }
        check_body(
            &model,
            &expect![[
                r#"{"model":"gpt-5.6-luna","max_output_tokens":700,"temperature":0.5,"store":false,"reasoning":{"effort":"none"},"instructions":"Say what it is for.","input":"fn main() {}"}"#
            ]],
        );
    }

    #[test]
    fn the_text_is_joined_without_the_reasoning() {
        let output = json!([
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "It "}, {"type": "output_text", "text": "starts."}]},
        ]);
        let value = json!({"status": "completed", "error": null, "output": output});
        assert_eq!(dispatch::answer(WireFormat::Responses, &value).unwrap(), "It starts.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        let incomplete = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []});
        lacks(&incomplete("max_output_tokens"), FailureClass::Soft(SoftFailure::CutOff));
        lacks(&incomplete("content_filter"), FailureClass::Soft(SoftFailure::Declined));
        let refused = json!([{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]);
        lacks(&json!({"status": "completed", "output": refused}), FailureClass::Soft(SoftFailure::Declined));
        lacks(&json!({"status": "completed", "output": []}), FailureClass::Soft(SoftFailure::Empty));
        lacks(&json!({"status": "cancelled", "output": []}), FailureClass::Overload);
        lacks(&json!({"status": "in_progress", "output": []}), FailureClass::Garbled);
        for output in [json!(null), json!("x"), json!([{"type": "message"}])] {
            lacks(&json!({"status": "completed", "output": output}), FailureClass::Garbled);
        }
        let part = json!([{"type": "message", "content": [{"type": "output_text"}]}]);
        lacks(&json!({"status": "completed", "output": part}), FailureClass::Garbled);
    }

    #[test]
    fn the_cached_part_is_subtracted_from_the_input() {
        let usage = json!({"input_tokens": 100, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4},
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}});
        let counted =
            TokenUsage { input: Some(10), cache_read: Some(60), cache_write: Some(30), output: Some(9) };
        assert_eq!(tokens(&json!({"usage": usage})), counted);
        assert_eq!(tokens(&json!({"usage": null})), TokenUsage::default());
    }
}
