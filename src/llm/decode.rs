//! An answer, as it came.

use serde_json::Value;

use super::Class;
use super::Model;
use super::Pace;
use super::Refusal;
use super::Reply;
use super::Soft;
use super::failure::Said;
use super::failure::is_error;
use super::limits;
use super::retry_after;
use super::text;
use super::wire;
use crate::model::Tokens;
use crate::model::WebResponse;

/// The status of an answer that is not refused by it.
const GOOD: u16 = 200;

/// Reads what a model's server answered, at this moment (milliseconds since the epoch).
pub fn decode(model: &Model, response: &WebResponse, now_ms: i64) -> Result<Reply, Refusal> {
    let pace = limits::pace(response, now_ms);
    if !is_good(response) {
        return Err(of_status(model, response, pace, now_ms));
    }
    let value = serde_json::from_slice::<Value>(&response.body).unwrap_or(Value::Null);
    of_good(model, &value, header_id(response), pace)
}

/// Reads an answer that came with a good status.
pub(super) fn of_good(
    model: &Model,
    value: &Value,
    header_id: Option<String>,
    pace: Pace,
) -> Result<Reply, Refusal> {
    let tokens = wire::tokens(model.provider.wire, value);
    let request_id = header_id.or_else(|| body_id(value));
    let refusal = |class, words, wait| {
        let request_id = request_id.clone();
        Err(Refusal { class, words, wait, tokens: Some(tokens), request_id, pace })
    };
    if !value.is_object() {
        return refusal(Class::Garbled, "the answer is no JSON object".to_owned(), None);
    }
    if is_error(value) {
        let said = Said::of_json(value);
        return refusal(said.class(GOOD), said.words(GOOD), said.wait);
    }
    match wire::answer(model.provider.wire, value) {
        Ok(text) => Ok(Reply { text, tokens, request_id, pace }),
        Err(lack) => refusal(lack.class, lack.words.to_owned(), None),
    }
}

/// Returns the JSON of an answer that is about something else than a question.
pub(super) fn good_value(model: &Model, response: &WebResponse, now_ms: i64) -> Result<Value, Refusal> {
    if is_good(response) {
        return Ok(serde_json::from_slice(&response.body).unwrap_or(Value::Null));
    }
    Err(of_status(model, response, limits::pace(response, now_ms), now_ms))
}

/// Reads what a program wrote, and whether it ended well.
pub fn decode_command(success: bool, stdout: &[u8], stderr: &[u8]) -> Result<Reply, Refusal> {
    let refusal = |class, words| Refusal {
        class,
        words,
        wait: None,
        tokens: Some(Tokens::default()),
        request_id: None,
        pace: Pace::default(),
    };
    if !success {
        let said = if stderr.trim_ascii().is_empty() { stdout } else { stderr };
        let words = text::printable(&String::from_utf8_lossy(said), text::MOST_WORDS);
        let words = if words.is_empty() { "the program says nothing of why".to_owned() } else { words };
        // It would fare no better in a second; whether it fails always is seen when it does again.
        return Err(refusal(Class::Request, words));
    }
    let Ok(text) = std::str::from_utf8(stdout) else {
        return Err(refusal(Class::Garbled, "the program's answer is no text in UTF-8".to_owned()));
    };
    if text.trim().is_empty() {
        return Err(refusal(Class::Soft(Soft::Empty), "the answer is empty".to_owned()));
    }
    Ok(Reply { text: text.to_owned(), tokens: Tokens::default(), request_id: None, pace: Pace::default() })
}

fn of_status(model: &Model, response: &WebResponse, pace: Pace, now_ms: i64) -> Refusal {
    let said = Said::of(&response.body);
    let class = said.class(response.status);
    let told = retry_after::of_headers(response, now_ms).or(said.wait);
    let wait = match class {
        Class::Rate => told.or_else(|| limits::wait(&pace)),
        Class::Overload => told,
        Class::Money
        | Class::Auth
        | Class::Settings
        | Class::TooLong
        | Class::Request
        | Class::Soft(_)
        | Class::Garbled => None,
    };
    let value = serde_json::from_slice::<Value>(&response.body).unwrap_or(Value::Null);
    let tokens = wire::tokens(model.provider.wire, &value);
    Refusal {
        class: told_to_retry(class, retry_after::should_retry(response)),
        words: said.words(response.status),
        wait,
        tokens: (tokens != Tokens::default()).then_some(tokens),
        request_id: header_id(response).or_else(|| body_id(&value)),
        pace,
    }
}

/// Lets the server's own word stand above what its status means; not above what is about money or keys.
const fn told_to_retry(class: Class, told: Option<bool>) -> Class {
    match (class, told) {
        (Class::Request | Class::Garbled, Some(true)) => Class::Overload,
        // Too much, and no use to wait: an allowance is used up.
        (Class::Rate, Some(false)) => Class::Money,
        (Class::Overload, Some(false)) => Class::Request,
        (
            Class::Rate
            | Class::Overload
            | Class::Money
            | Class::Auth
            | Class::Settings
            | Class::TooLong
            | Class::Request
            | Class::Soft(_)
            | Class::Garbled,
            Some(_) | None,
        ) => class,
    }
}

fn is_good(response: &WebResponse) -> bool {
    (200..300).contains(&response.status)
}

fn header_id(response: &WebResponse) -> Option<String> {
    ["request-id", "x-request-id"].into_iter().find_map(|name| response.header(name)).and_then(text::name)
}

fn body_id(value: &Value) -> Option<String> {
    ["request_id", "responseId", "id"]
        .into_iter()
        .find_map(|name| value.get(name)?.as_str())
        .and_then(text::name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::llm::Wire;
    use crate::llm::testing::NOW_MS;
    use crate::llm::testing::model;
    use crate::llm::testing::response;

    /// Answers with a summary in them, one for each wire that has any.
    fn good(wire: Wire) -> Value {
        match wire {
            Wire::Anthropic => {
                json!({"id": "msg_1", "type": "message", "content": [{"type": "text", "text": "It."}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 2}})
            }
            Wire::Chat => {
                json!({"id": "c_1", "choices": [{"message": {"content": "It."}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
            }
            Wire::Responses => json!({"id": "r_1", "status": "completed", "error": null,
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "It."}]}],
                "usage": {"input_tokens": 3, "output_tokens": 2}}),
            Wire::Gemini => {
                json!({"candidates": [{"content": {"parts": [{"text": "It."}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}, "responseId": "g_1"})
            }
            Wire::Ollama => json!({"message": {"content": "It."}, "done": true, "done_reason": "stop",
                "prompt_eval_count": 3, "eval_count": 2}),
            Wire::Command => json!({}),
        }
    }

    fn network() -> impl Iterator<Item = Wire> {
        Wire::ALL.into_iter().filter(|wire| *wire != Wire::Command)
    }

    #[test]
    fn an_answer_has_its_words_its_counts_its_name_and_the_limits() {
        for wire in network() {
            let headers = [("x-ratelimit-remaining-requests", "7"), ("x-ratelimit-reset-requests", "1s")];
            let reply =
                decode(&model(wire), &response(200, &headers, &good(wire).to_string()), NOW_MS).unwrap();
            assert_eq!(reply.text, "It.", "{wire:?}");
            assert_eq!((reply.tokens.input, reply.tokens.output), (Some(3), Some(2)), "{wire:?}");
            assert_eq!(reply.request_id.is_some(), wire != Wire::Ollama, "{wire:?}");
            assert_eq!(reply.pace.requests.map(|window| window.remaining), Some(7), "{wire:?}");
        }
        let headers = [("request-id", "req_1")];
        let reply = decode(
            &model(Wire::Anthropic),
            &response(200, &headers, &good(Wire::Anthropic).to_string()),
            NOW_MS,
        );
        assert_eq!(reply.unwrap().request_id.as_deref(), Some("req_1"));
    }

    #[test]
    fn what_is_no_answer_of_the_wire_is_garbled_and_may_be_charged() {
        let half = "{\"id\": \"msg_1\", \"content\": [{\"type\": \"te";
        for wire in network() {
            for body in [
                "",
                " ",
                "null",
                "7",
                "\"x\"",
                "[]",
                "{}",
                half,
                "<html><h1>Log in</h1></html>",
                "event: ping\n\n",
            ] {
                let refusal = decode(&model(wire), &response(200, &[], body), NOW_MS).unwrap_err();
                assert_eq!(refusal.class, Class::Garbled, "{wire:?} {body}");
                assert!(refusal.tokens.is_some(), "{wire:?} {body}");
            }
        }
    }

    #[test]
    fn a_body_that_is_nested_too_deeply_is_garbled() {
        let body = "[".repeat(1_000_000);
        for status in [200, 500] {
            let refusal = decode(&model(Wire::Chat), &response(status, &[], &body), NOW_MS).unwrap_err();
            assert!(refusal.words.len() <= text::MOST_WORDS);
        }
    }

    #[test]
    fn a_program_answers_by_what_it_writes_and_how_it_ends() {
        assert_eq!(decode_command(true, b"It.\n", b"warning").unwrap().text, "It.\n");
        let class = |success, stdout: &[u8], stderr: &[u8]| {
            decode_command(success, stdout, stderr).unwrap_err().class
        };
        assert_eq!(class(true, b" \n", b""), Class::Soft(Soft::Empty));
        assert_eq!(class(true, b"\xff\xfe", b""), Class::Garbled);
        assert_eq!(class(false, b"It.", b"no network"), Class::Request);
        assert_eq!(
            decode_command(false, b"", b"\x1b[31mnot\nlogged in").unwrap_err().words,
            "[31mnot logged in"
        );
        assert_eq!(decode_command(false, b"why", b" ").unwrap_err().words, "why");
        assert_eq!(decode_command(false, b"", b"").unwrap_err().words, "the program says nothing of why");
    }

    /// Returns any JSON, with names that wires know as often as others.
    fn any_json() -> impl Strategy<Value = Value> {
        let name = prop_oneof![
            prop::sample::select(vec![
                "content",
                "type",
                "text",
                "error",
                "message",
                "code",
                "details",
                "choices",
                "usage",
                "prompt_tokens",
                "prompt_tokens_details",
                "cached_tokens",
                "output",
                "status",
                "candidates",
                "parts",
                "promptFeedback",
                "usageMetadata",
                "custom_id",
                "result",
                "response",
                "body",
                "base_resp",
                "status_code",
                "violations",
                "finish_reason",
                "stop_reason",
                "data",
                "id",
                "created_at",
                "request_counts",
            ])
            .prop_map(str::to_owned),
            any::<String>(),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<u64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
            prop::sample::select(vec![
                "text", "message", "error", "failed", "ended", "errored", "34.5s", "refusal"
            ])
            .prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 6, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(name.clone(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn any_headers() -> impl Strategy<Value = Vec<(String, String)>> {
        let name = prop::sample::select(vec![
            "retry-after",
            "retry-after-ms",
            "x-should-retry",
            "request-id",
            "x-ratelimit-remaining-requests",
            "x-ratelimit-reset-requests",
            "anthropic-ratelimit-requests-remaining",
            "anthropic-ratelimit-requests-reset",
        ]);
        let value = prop_oneof![
            any::<String>(),
            "[0-9.hmsµ:TZ-]{0,24}",
            any::<i64>().prop_map(|number| number.to_string())
        ];
        prop::collection::vec((name.prop_map(str::to_owned), value), 0..5)
    }

    fn read_in_every_way(response: &WebResponse) {
        for wire in Wire::ALL {
            let model = model(wire);
            for answer in
                [decode(&model, response, NOW_MS), decode_command(false, &response.body, &response.body)]
            {
                if let Err(refusal) = answer {
                    assert!(refusal.words.len() <= text::MOST_WORDS);
                    assert!(!refusal.words.chars().any(char::is_control), "{:?}", refusal.words);
                }
            }
            drop(crate::llm::batch::decode_submitted(&model, response, NOW_MS));
            drop(crate::llm::batch::decode_poll(&model, response, NOW_MS));
            drop(crate::llm::batch::decode_list(&model, response, NOW_MS));
            drop(crate::llm::batch::decode_results(&model, &response.body));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_stop(status in any::<u16>(), headers in any_headers(), body in prop::collection::vec(any::<u8>(), 0..200)) {
            read_in_every_way(&WebResponse { status, headers, body });
        }

        #[test]
        fn no_json_makes_it_stop(
            status in prop::sample::select(vec![200, 201, 302, 400, 429, 500]),
            headers in any_headers(),
            body in any_json(),
        ) {
            read_in_every_way(&WebResponse { status, headers, body: body.to_string().into_bytes() });
        }

        #[test]
        fn no_cut_makes_it_stop(cut in 0usize..400) {
            for wire in network() {
                let mut body = good(wire).to_string().into_bytes();
                let is_whole = body.len() <= cut;
                body.truncate(cut);
                let answer = decode(&model(wire), &WebResponse { status: 200, headers: Vec::new(), body }, NOW_MS);
                prop_assert_eq!(answer.is_ok(), is_whole);
            }
        }
    }
}
