//! OpenAI's Responses.

use serde::Serialize;
use serde_json::Map;
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
    fields: Option<&'a Map<String, Value>>,
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
        fields: model.fields(),
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

#[cfg(test)]
mod tests {
    use expect_test::Expect;
    use expect_test::expect;
    use serde_json::json;

    use super::*;
    use crate::llm::Wire;
    use crate::llm::testing::of_provider;
    use crate::llm::testing::prompt;
    use crate::llm::wire;

    #[track_caller]
    fn check_body(model: &Model, expected: &Expect) {
        expected.assert_eq(&String::from_utf8(body(model, &prompt("fn main() {}"))).unwrap());
    }

    #[track_caller]
    fn lacks(value: &Value, class: Class) {
        assert_eq!(wire::answer(Wire::Responses, value).unwrap_err().class, class, "{value}");
    }

    #[test]
    fn openai_is_told_to_store_nothing_and_to_keep_nothing_or_the_instructions_alone() {
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
    fn another_server_is_sent_nothing_that_only_openai_knows() {
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
    fn the_words_are_joined_without_what_the_model_thought() {
        let output = json!([
            {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "message", "content": [{"type": "output_text", "text": "It "}, {"type": "output_text", "text": "starts."}]},
        ]);
        let value = json!({"status": "completed", "error": null, "output": output});
        assert_eq!(wire::answer(Wire::Responses, &value).unwrap(), "It starts.");
    }

    #[test]
    fn an_answer_without_a_summary_says_of_which_kind_it_is() {
        let incomplete = |reason: &str| json!({"status": "incomplete", "incomplete_details": {"reason": reason}, "output": []});
        lacks(&incomplete("max_output_tokens"), Class::Soft(Soft::CutOff));
        lacks(&incomplete("content_filter"), Class::Soft(Soft::Declined));
        let refused = json!([{"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}]);
        lacks(&json!({"status": "completed", "output": refused}), Class::Soft(Soft::Declined));
        lacks(&json!({"status": "completed", "output": []}), Class::Soft(Soft::Empty));
        lacks(&json!({"status": "cancelled", "output": []}), Class::Overload);
        lacks(&json!({"status": "in_progress", "output": []}), Class::Garbled);
        for output in [json!(null), json!("x"), json!([{"type": "message"}])] {
            lacks(&json!({"status": "completed", "output": output}), Class::Garbled);
        }
        let part = json!([{"type": "message", "content": [{"type": "output_text"}]}]);
        lacks(&json!({"status": "completed", "output": part}), Class::Garbled);
    }

    #[test]
    fn the_cached_part_is_taken_out_of_the_whole_input() {
        let usage = json!({"input_tokens": 100, "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 4},
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30}});
        let counted =
            Tokens { input: Some(10), cache_read: Some(60), cache_write: Some(30), output: Some(9) };
        assert_eq!(tokens(&json!({"usage": usage})), counted);
        assert_eq!(tokens(&json!({"usage": null})), Tokens::default());
    }
}
