//! Google's generateContent API.

use serde::Serialize;
use serde_json::{Map, Value};

use super::dispatch::path_part;
use super::shared::{ResponseDefect, StopCause, WireAnswer, count, rest};
use crate::llm::call::{FailureClass, Model, SoftFailure};
use crate::model::{ModelPrompt, TokenUsage};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GeminiBody<'a> {
    generation_config: GenerationConfig<'a>,
    system_instruction: GeminiContent<'a>,
    contents: [GeminiContent<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig<'a> {
    max_output_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(flatten)]
    fields: Option<&'a Map<String, Value>>,
}

#[derive(Serialize)]
struct GeminiContent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [GeminiPart<'a>; 1],
}

#[derive(Serialize)]
struct GeminiPart<'a> {
    text: &'a str,
}

/// Returns the path that is appended to the base URL; it contains the model's name.
pub(crate) fn path(name: &str) -> String {
    let name = name.strip_prefix("models/").unwrap_or(name);
    format!("/v1beta/models/{}:generateContent", path_part(name))
}

pub(crate) fn body(model: &Model, prompt: &ModelPrompt) -> Vec<u8> {
    let body = GeminiBody {
        generation_config: GenerationConfig {
            max_output_tokens: model.max_output_tokens.unwrap_or(prompt.answer_tokens),
            temperature: model.temperature,
            top_p: model.top_p,
            fields: model.quirk_fields(),
        },
        system_instruction: GeminiContent { role: None, parts: [GeminiPart { text: &prompt.instructions }] },
        contents: [GeminiContent { role: Some("user"), parts: [GeminiPart { text: &prompt.material }] }],
    };
    serde_json::to_vec(&body).expect("strings and numbers are valid JSON")
}

pub(crate) fn answer(value: &Value) -> Result<WireAnswer, ResponseDefect> {
    let declined = WireAnswer {
        text: String::new(),
        stop: StopCause::Defect(FailureClass::Soft(SoftFailure::Declined)),
    };
    let Some(candidate) = value.pointer("/candidates/0") else {
        return match value.pointer("/promptFeedback/blockReason") {
            Some(_) => Ok(declined),
            None => Err(ResponseDefect::garbled("the answer has no `candidates`")),
        };
    };
    let stop = match candidate.get("finishReason").and_then(Value::as_str) {
        Some("MAX_TOKENS") => StopCause::Defect(FailureClass::Soft(SoftFailure::CutOff)),
        Some(
            "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE"
            | "MODEL_ARMOR",
        ) => declined.stop,
        Some(_) | None => StopCause::Done,
    };
    // A candidate that was stopped early may have no content at all.
    let Some(content) = candidate.get("content") else {
        return match candidate.get("finishReason") {
            Some(Value::String(_)) => Ok(WireAnswer { text: String::new(), stop }),
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
    Ok(WireAnswer { text, stop })
}

pub(crate) fn tokens(value: &Value) -> TokenUsage {
    let read = count(value, "/usageMetadata/cachedContentTokenCount");
    let written = count(value, "/usageMetadata/candidatesTokenCount");
    let thought = count(value, "/usageMetadata/thoughtsTokenCount");
    TokenUsage {
        input: rest(count(value, "/usageMetadata/promptTokenCount"), read, None),
        cache_read: read,
        cache_write: None,
        // Reasoning is not in the first count, and Google's JSON omits zeros.
        output: match (written, thought) {
            (None, None) => None,
            (Some(_), _) | (_, Some(_)) => Some(written.unwrap_or(0).saturating_add(thought.unwrap_or(0))),
        },
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
        assert_eq!(dispatch::answer(WireFormat::Gemini, value).unwrap_err().class, class, "{value}");
    }

    #[test]
    fn the_model_is_in_the_path_and_unset_parameters_are_not_sent() {
        check_body(
            &of_provider("gemini", "gemini-3.8-flash"),
            &expect![[
                r#"{"generationConfig":{"maxOutputTokens":700,"thinkingConfig":{"thinkingLevel":"low"}},"systemInstruction":{"parts":[{"text":"Say what it is for."}]},"contents":[{"role":"user","parts":[{"text":"fn main() {}"}]}]}"#
            ]],
        );
        assert_eq!(path("gemini-3.8-flash"), "/v1beta/models/gemini-3.8-flash:generateContent");
        assert_eq!(path("models/gemini-3.8-flash"), "/v1beta/models/gemini-3.8-flash:generateContent");
        assert_eq!(path("../files?x#y"), "/v1beta/models/..%2Ffiles%3Fx%23y:generateContent");
        assert_eq!(path(".."), "/v1beta/models/%2E%2E:generateContent");
    }

    #[test]
    fn set_parameters_are_sent() {
        let mut model = of_provider("gemini", "gemini-2.5-flash");
        (model.temperature, model.top_p, model.max_output_tokens) = (Some(0.2), Some(0.9), Some(4_000));
        check_body(
            &model,
            &expect![[
                r#"{"generationConfig":{"maxOutputTokens":4000,"temperature":0.2,"topP":0.9,"thinkingConfig":{"thinkingBudget":0}},"systemInstruction":{"parts":[{"text":"Say what it is for."}]},"contents":[{"role":"user","parts":[{"text":"fn main() {}"}]}]}"#
            ]],
        );
    }

    #[test]
    fn the_text_is_joined_without_the_reasoning() {
        let parts = json!([{"text": "Hm.", "thought": true}, {"text": "It "}, {"text": "starts."}, {"inlineData": {}}]);
        let value = json!({"candidates": [{"content": {"parts": parts}, "finishReason": "STOP"}]});
        assert_eq!(dispatch::answer(WireFormat::Gemini, &value).unwrap(), "It starts.");
    }

    #[test]
    fn an_answer_without_a_summary_has_a_class() {
        for reason in ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"] {
            lacks(
                &json!({"candidates": [{"finishReason": reason}]}),
                FailureClass::Soft(SoftFailure::Declined),
            );
        }
        lacks(
            &json!({"promptFeedback": {"blockReason": "SAFETY"}}),
            FailureClass::Soft(SoftFailure::Declined),
        );
        let cut =
            json!({"candidates": [{"content": {"parts": [{"text": "It"}]}, "finishReason": "MAX_TOKENS"}]});
        lacks(&cut, FailureClass::Soft(SoftFailure::CutOff));
        lacks(
            &json!({"candidates": [{"content": {"role": "model"}, "finishReason": "STOP"}]}),
            FailureClass::Soft(SoftFailure::Empty),
        );
        lacks(&json!({"candidates": [{"finishReason": "OTHER"}]}), FailureClass::Soft(SoftFailure::Empty));
        for value in [
            json!({}),
            json!({"candidates": []}),
            json!({"candidates": [{}]}),
            json!({"candidates": [{"content": {"parts": 1}}]}),
        ] {
            lacks(&value, FailureClass::Garbled);
        }
    }

    #[test]
    fn reasoning_is_output_and_the_cached_part_is_subtracted_from_the_input() {
        let usage = json!({"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 9,
            "thoughtsTokenCount": 30, "totalTokenCount": 139});
        let counted =
            TokenUsage { input: Some(40), cache_read: Some(60), cache_write: None, output: Some(39) };
        assert_eq!(tokens(&json!({"usageMetadata": usage})), counted);
        let usage = json!({"promptTokenCount": 100, "thoughtsTokenCount": 30});
        let counted = TokenUsage { input: Some(100), output: Some(30), ..TokenUsage::default() };
        assert_eq!(tokens(&json!({"usageMetadata": usage})), counted);
        assert_eq!(tokens(&json!({"usageMetadata": {"promptTokenCount": 1}})).output, None);
    }
}
