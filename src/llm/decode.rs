//! Decodes responses.

use serde_json::Value;

use super::call::{CallFailure, FailureClass, Model, ModelReply, RateLimits, SoftFailure};
use super::error_body::{ErrorBody, is_error};
use super::{headers, message_text, wire};
use crate::model::{HttpResponse, TokenUsage};

/// The status of a response that carries an answer.
const OK: u16 = 200;

/// Decodes a server's response, received at this time (milliseconds since the epoch).
pub fn decode(model: &Model, response: &HttpResponse, now_ms: i64) -> Result<ModelReply, CallFailure> {
    let pace = headers::rate_limits(response, now_ms);
    if !is_good(response) {
        return Err(decode_error(model, response, pace, now_ms));
    }
    // What is not JSON is reported as garbled, and as a call whose tokens are unknown, since it may be charged.
    let value = serde_json::from_slice::<Value>(&response.body).unwrap_or(Value::Null);
    decode_value(model, &value, header_id(response), pace)
}

/// Decodes a response with a success status.
pub(super) fn decode_value(
    model: &Model,
    value: &Value,
    header_id: Option<String>,
    pace: RateLimits,
) -> Result<ModelReply, CallFailure> {
    let tokens = wire::tokens(model.provider.wire, value);
    let request_id = header_id.or_else(|| body_id(value));
    let failure = |class, message: String, wait| {
        let request_id = request_id.clone();
        let failure = CallFailure::new(class, message);
        Err(CallFailure { retry_after: wait, tokens: Some(tokens), request_id, rate_limits: pace, ..failure })
    };
    if !value.is_object() {
        return failure(FailureClass::Garbled, "the response is not a JSON object".to_owned(), None);
    }
    // A success status proves nothing: gateways also send it with the error of a provider behind them.
    if is_error(value) {
        let error = ErrorBody::from_json(value);
        return failure(error.classify(OK), error.message_line(OK), error.retry_after);
    }
    match wire::answer(model.provider.wire, value) {
        Ok(text) => Ok(ModelReply { text, tokens, request_id, rate_limits: pace }),
        Err(error) => failure(error.class, error.message.to_owned(), None),
    }
}

/// Returns the JSON of a response that is not an answer to a prompt.
pub(super) fn success_json(
    model: &Model,
    response: &HttpResponse,
    now_ms: i64,
) -> Result<Value, CallFailure> {
    if is_good(response) {
        return Ok(serde_json::from_slice(&response.body).unwrap_or(Value::Null));
    }
    Err(decode_error(model, response, headers::rate_limits(response, now_ms), now_ms))
}

/// Decodes a program's output and exit status.
pub fn decode_command(success: bool, stdout: &[u8], stderr: &[u8]) -> Result<ModelReply, CallFailure> {
    let failure = |class, message: String| CallFailure {
        tokens: Some(TokenUsage::default()),
        ..CallFailure::new(class, message)
    };
    if !success {
        let output = if stderr.trim_ascii().is_empty() { stdout } else { stderr };
        let message =
            message_text::redacted_line(&String::from_utf8_lossy(output), message_text::MAX_MESSAGE);
        let message = if message.is_empty() { "the program gave no reason".to_owned() } else { message };
        // Retrying at once would not help; a program that always fails is noticed by its repeated failures.
        return Err(failure(FailureClass::Request, message));
    }
    let Ok(text) = std::str::from_utf8(stdout) else {
        return Err(failure(FailureClass::Garbled, "the program's output is not UTF-8 text".to_owned()));
    };
    if text.trim().is_empty() {
        return Err(failure(FailureClass::Soft(SoftFailure::Empty), "the answer is empty".to_owned()));
    }
    Ok(ModelReply {
        text: text.to_owned(),
        tokens: TokenUsage::default(),
        request_id: None,
        rate_limits: RateLimits::default(),
    })
}

fn decode_error(model: &Model, response: &HttpResponse, pace: RateLimits, now_ms: i64) -> CallFailure {
    let error = ErrorBody::from_bytes(&response.body);
    let class = error.classify(response.status);
    let delay = headers::from_headers(response, now_ms).or(error.retry_after);
    let wait = match class {
        FailureClass::Rate => delay.or_else(|| headers::exhausted_for(&pace)),
        FailureClass::Overload => delay,
        FailureClass::Money
        | FailureClass::Auth
        | FailureClass::Settings
        | FailureClass::TooLong
        | FailureClass::Request
        | FailureClass::Soft(_)
        | FailureClass::Garbled => None,
    };
    let value = serde_json::from_slice::<Value>(&response.body).unwrap_or(Value::Null);
    // An error may be charged: it is if its body counts tokens.
    let tokens = wire::tokens(model.provider.wire, &value);
    CallFailure {
        class: apply_retry_advice(class, headers::should_retry(response)),
        message: error.message_line(response.status),
        retry_after: wait,
        tokens: (tokens != TokenUsage::default()).then_some(tokens),
        request_id: header_id(response).or_else(|| body_id(&value)),
        rate_limits: pace,
    }
}

/// Lets the server's retry advice override the class of its status, except for payment and keys.
const fn apply_retry_advice(class: FailureClass, advice: Option<bool>) -> FailureClass {
    match (class, advice) {
        (FailureClass::Request | FailureClass::Garbled, Some(true)) => FailureClass::Overload,
        // A rate limit that waiting does not lift is a used-up quota.
        (FailureClass::Rate, Some(false)) => FailureClass::Money,
        (FailureClass::Overload, Some(false)) => FailureClass::Request,
        (
            FailureClass::Rate
            | FailureClass::Overload
            | FailureClass::Money
            | FailureClass::Auth
            | FailureClass::Settings
            | FailureClass::TooLong
            | FailureClass::Request
            | FailureClass::Soft(_)
            | FailureClass::Garbled,
            Some(_) | None,
        ) => class,
    }
}

fn is_good(response: &HttpResponse) -> bool {
    (200..300).contains(&response.status)
}

fn header_id(response: &HttpResponse) -> Option<String> {
    ["request-id", "x-request-id"]
        .into_iter()
        .find_map(|name| response.header(name))
        .and_then(message_text::call_id)
}

fn body_id(value: &Value) -> Option<String> {
    ["request_id", "responseId", "id"]
        .into_iter()
        .find_map(|name| value.get(name)?.as_str())
        .and_then(message_text::call_id)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::message_text;
    use super::super::provider::WireFormat;
    use super::super::testing::{NOW_MS, model, response};
    use super::*;

    /// Answers with a summary, one for each wire format.
    fn good(wire: WireFormat) -> Value {
        match wire {
            WireFormat::Anthropic => {
                json!({"id": "msg_1", "type": "message", "content": [{"type": "text", "text": "It."}],
                "stop_reason": "end_turn", "usage": {"input_tokens": 3, "output_tokens": 2}})
            }
            WireFormat::Chat => {
                json!({"id": "c_1", "choices": [{"message": {"content": "It."}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
            }
            WireFormat::Responses => json!({"id": "r_1", "status": "completed", "error": null,
                "output": [{"type": "message", "content": [{"type": "output_text", "text": "It."}]}],
                "usage": {"input_tokens": 3, "output_tokens": 2}}),
            WireFormat::Gemini => {
                json!({"candidates": [{"content": {"parts": [{"text": "It."}]}, "finishReason": "STOP"}],
                "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}, "responseId": "g_1"})
            }
            WireFormat::Ollama => json!({"message": {"content": "It."}, "done": true, "done_reason": "stop",
                "prompt_eval_count": 3, "eval_count": 2}),
            WireFormat::Command => json!({}),
        }
    }

    fn network() -> impl Iterator<Item = WireFormat> {
        WireFormat::ALL.into_iter().filter(|wire| *wire != WireFormat::Command)
    }

    #[test]
    fn an_answer_has_its_text_token_counts_id_and_limits() {
        for wire in network() {
            let headers = [("x-ratelimit-remaining-requests", "7"), ("x-ratelimit-reset-requests", "1s")];
            let reply =
                decode(&model(wire), &response(200, &headers, &good(wire).to_string()), NOW_MS).unwrap();
            assert_eq!(reply.text, "It.", "{wire:?}");
            assert_eq!((reply.tokens.input, reply.tokens.output), (Some(3), Some(2)), "{wire:?}");
            assert_eq!(reply.request_id.is_some(), wire != WireFormat::Ollama, "{wire:?}");
            assert_eq!(reply.rate_limits.requests.map(|window| window.remaining), Some(7), "{wire:?}");
        }
        let headers = [("request-id", "req_1")];
        let reply = decode(
            &model(WireFormat::Anthropic),
            &response(200, &headers, &good(WireFormat::Anthropic).to_string()),
            NOW_MS,
        );
        assert_eq!(reply.unwrap().request_id.as_deref(), Some("req_1"));
    }

    #[test]
    fn a_response_in_another_format_is_garbled_and_may_be_charged() {
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
                let failure = decode(&model(wire), &response(200, &[], body), NOW_MS).unwrap_err();
                assert_eq!(failure.class, FailureClass::Garbled, "{wire:?} {body}");
                assert!(failure.tokens.is_some(), "{wire:?} {body}");
            }
        }
    }

    #[test]
    fn a_body_that_is_nested_too_deeply_is_garbled() {
        let body = "[".repeat(1_000_000);
        for status in [200, 500] {
            let failure =
                decode(&model(WireFormat::Chat), &response(status, &[], &body), NOW_MS).unwrap_err();
            assert!(failure.message.len() <= message_text::MAX_MESSAGE);
        }
    }

    #[test]
    fn a_program_answers_by_its_output_and_exit_status() {
        assert_eq!(decode_command(true, b"It.\n", b"warning").unwrap().text, "It.\n");
        let class = |success, stdout: &[u8], stderr: &[u8]| {
            decode_command(success, stdout, stderr).unwrap_err().class
        };
        assert_eq!(class(true, b" \n", b""), FailureClass::Soft(SoftFailure::Empty));
        assert_eq!(class(true, b"\xff\xfe", b""), FailureClass::Garbled);
        assert_eq!(class(false, b"It.", b"no network"), FailureClass::Request);
        assert_eq!(
            decode_command(false, b"", b"\x1b[31mnot\nlogged in").unwrap_err().message,
            "[31mnot logged in"
        );
        assert_eq!(decode_command(false, b"why", b" ").unwrap_err().message, "why");
        assert_eq!(decode_command(false, b"", b"").unwrap_err().message, "the program gave no reason");
    }

    /// Returns arbitrary JSON, half of whose names are known to the wire formats.
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

    fn read_in_every_way(response: &HttpResponse) {
        for wire in WireFormat::ALL {
            let model = model(wire);
            for answer in
                [decode(&model, response, NOW_MS), decode_command(false, &response.body, &response.body)]
            {
                if let Err(failure) = answer {
                    assert!(failure.message.len() <= message_text::MAX_MESSAGE);
                    assert!(!failure.message.chars().any(char::is_control), "{:?}", failure.message);
                }
            }
            drop(super::super::batch::decode_submitted(&model, response, NOW_MS));
            drop(super::super::batch::decode_poll(&model, response, NOW_MS));
            drop(super::super::batch::decode_list(&model, response, NOW_MS));
            drop(super::super::batch::decode_results(&model, &response.body));
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_stop(status in any::<u16>(), headers in any_headers(), body in prop::collection::vec(any::<u8>(), 0..200)) {
            read_in_every_way(&HttpResponse { status, headers, body });
        }

        #[test]
        fn no_json_makes_it_stop(
            status in prop::sample::select(vec![200, 201, 302, 400, 429, 500]),
            headers in any_headers(),
            body in any_json(),
        ) {
            read_in_every_way(&HttpResponse { status, headers, body: body.to_string().into_bytes() });
        }

        #[test]
        fn no_cut_makes_it_stop(cut in 0usize..400) {
            for wire in network() {
                let mut body = good(wire).to_string().into_bytes();
                let is_whole = body.len() <= cut;
                body.truncate(cut);
                let answer = decode(&model(wire), &HttpResponse { status: 200, headers: Vec::new(), body }, NOW_MS);
                prop_assert_eq!(answer.is_ok(), is_whole);
            }
        }
    }
}
