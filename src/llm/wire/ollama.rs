//! Ollama's own chat.

use serde::Serialize;
use serde_json::Map;
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

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    /// What is too long is to be an error, not to be cut without a word: neither the question nor, on the way, the
    /// beginning of it.
    truncate: bool,
    shift: bool,
    #[serde(flatten)]
    fields: Option<&'a Map<String, Value>>,
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
        truncate: false,
        shift: false,
        fields: model.fields(),
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
        assert_eq!(wire::answer(Wire::Ollama, value).unwrap_err().class, class, "{value}");
    }

    #[test]
    fn it_gets_room_and_is_to_cut_nothing_without_a_word() {
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
    fn the_words_are_without_what_the_model_thought() {
        let value =
            json!({"message": {"content": "It.", "thinking": "Hm."}, "done": true, "done_reason": "stop"});
        assert_eq!(wire::answer(Wire::Ollama, &value).unwrap(), "It.");
    }

    #[test]
    fn an_answer_without_a_summary_says_of_which_kind_it_is() {
        lacks(&json!({"message": {"content": "It"}, "done_reason": "length"}), Class::Soft(Soft::CutOff));
        lacks(&json!({"message": {"content": ""}, "done_reason": "load"}), Class::Soft(Soft::Empty));
        lacks(&json!({"message": {"content": "It"}, "done": false}), Class::Garbled);
        for value in [json!({}), json!({"message": {}}), json!({"message": {"content": null}})] {
            lacks(&value, Class::Garbled);
        }
    }

    #[test]
    fn what_is_not_counted_is_not_0() {
        let value = json!({"eval_count": 8});
        assert_eq!(tokens(&value), Tokens { output: Some(8), ..Tokens::default() });
    }
}
