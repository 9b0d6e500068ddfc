//! Classifies the errors of all providers.
//!
//! Errors are classified by their content, not by the address that was called: servers that speak another vendor's
//! format report errors in their own. The code in the body takes precedence over the status: some responses with
//! status 429 concern the rate and some the quota, and the latter must never be retried.

use serde_json::Value;

use super::call::{FailureClass, SoftFailure};
use super::headers;
use super::message_text::{MAX_MESSAGE, redacted_line, shortened};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ErrorBody {
    /// All codes in it, in lower case, the most general one first.
    codes: Vec<String>,
    message: String,
    /// The status in the body, if there is one.
    status: Option<u16>,
    /// The delay that its details request.
    pub(super) retry_after: Option<std::time::Duration>,
}

/// Codes, separated by spaces, and their classes, the gravest first: the first row that contains one of an error's
/// codes decides.
const CODES: [(FailureClass, &str); 6] = [
    (
        FailureClass::Money,
        "insufficient_quota billing_error billing_not_active billing_hard_limit_reached insufficient_balance \
         payment_required quota_exceeded",
    ),
    (
        FailureClass::Auth,
        "authentication_error invalid_api_key api_key_invalid api_key_expired account_deactivated \
         organization_on_hold unauthenticated unsupported_country_region_territory",
    ),
    (
        FailureClass::Soft(SoftFailure::Declined),
        "content_filter content_policy_violation responsibleaipolicyviolation invalid_prompt bio_policy \
         misalignment_policy_violation",
    ),
    (
        FailureClass::TooLong,
        "context_length_exceeded exceed_context_size_error contextwindowexceedederror request_too_large \
         request_body_too_large_after_decoding string_above_max_length",
    ),
    (
        FailureClass::Rate,
        "rate_limit_error rate_limit_exceeded slow_down resource_exhausted too_many_requests",
    ),
    (FailureClass::Overload, "overloaded_error server_is_overloaded engine_overloaded unavailable"),
];

/// Codes that count only if no status contradicts them.
const WEAK_CODES: [(FailureClass, &str); 3] = [
    (
        FailureClass::Request,
        "model_not_found not_found_error not_found invalid_request_error invalid_argument",
    ),
    (FailureClass::Overload, "api_error server_error internal internal_error timeout_error batch_expired"),
    (FailureClass::Auth, "permission_error permission_denied"),
];

/// Parts of codes that concern payment; there are many, and new ones are added.
const MONEY_CODES: [&str; 3] = ["spend_limit", "usage_limit", "credit_balance"];

/// Parts of messages by which Anthropic reports, without a code, that the balance is used up or a spending limit is
/// reached.
const NO_MONEY: [&str; 3] = [
    "credit balance is too low",
    "reached your specified api usage limits",
    "reached your specified workspace api usage",
];

/// Parts of messages by which servers report, without a code, that a prompt is too long.
const TOO_LONG: [&str; 11] = [
    "prompt is too long",
    "input is too long",
    "request too large",
    "context length",
    "context size",
    "context window",
    "exceed context limit",
    "maximum number of tokens",
    "maximum prompt length",
    "too many input tokens",
    "token count exceeds",
];

/// Returns whether a body with a success status is an error nevertheless.
pub(super) fn is_error(value: &Value) -> bool {
    let named = value.get("error").is_some_and(|error| !error.is_null());
    named || value.get("type").and_then(Value::as_str) == Some("error") || minimax_code(value).is_some()
}

impl ErrorBody {
    /// Reads the body of an error in any format.
    pub(super) fn from_bytes(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::from_json(&value),
            // A page for people, from a proxy or gateway.
            Err(_) => Self { codes: Vec::new(), message: plain_text(body), status: None, retry_after: None },
        }
    }

    pub(super) fn from_json(value: &Value) -> Self {
        // Google answers some streams with a list that contains the error.
        let value = value.get(0).unwrap_or(value);
        let error = match value.get("error") {
            Some(Value::Null) | None => value,
            Some(error) => error,
        };
        let message =
            error.as_str().or_else(|| string_at(error, "/message")).or_else(|| string_at(value, "/message"));
        let message = message
            .or_else(|| string_at(value, "/detail"))
            .or_else(|| string_at(value, "/base_resp/status_msg"));
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self {
            codes: codes(value, error),
            message: message.unwrap_or_default().to_owned(),
            status: status.filter(|status| (400..600).contains(status)),
            retry_after: headers::from_details(error),
        }
    }

    pub(super) fn classify(&self, status: u16) -> FailureClass {
        let status = if status < 400 { self.status.unwrap_or(status) } else { status };
        let message = self.message.to_ascii_lowercase();
        let is_about_money = |code: &String| MONEY_CODES.iter().any(|part| code.contains(part));
        if self.codes.iter().any(is_about_money) || NO_MONEY.iter().any(|words| message.contains(words)) {
            return FailureClass::Money;
        }
        let is_too_long = TOO_LONG.iter().any(|words| message.contains(words));
        match self.class_of_codes(&CODES) {
            // A prompt with more tokens than a minute allows will not fit the next minute either.
            Some(FailureClass::Rate) if message.contains("request too large") => {
                return FailureClass::TooLong;
            }
            Some(class) => return class,
            None => {}
        }
        match class_of_status(status) {
            Some(FailureClass::Request) | None if is_too_long => FailureClass::TooLong,
            // For example a model that this key may not use: another one may be allowed.
            Some(FailureClass::Auth) if status == 403 && self.has_code("model_not_found") => {
                FailureClass::Request
            }
            Some(class) => class,
            None => self.class_of_codes(&WEAK_CODES).unwrap_or(FailureClass::Garbled),
        }
    }

    pub(super) fn message_line(&self, status: u16) -> String {
        let mut words = if status < 400 { String::new() } else { format!("HTTP {status}") };
        let code = self.codes.last().map(|code| redacted_line(code, 80)).filter(|code| !code.is_empty());
        for part in [code, Some(redacted_line(&self.message, MAX_MESSAGE))].into_iter().flatten() {
            if part.is_empty() {
                continue;
            }
            let between = if words.is_empty() { "" } else { ": " };
            words = format!("{words}{between}{part}");
        }
        shortened(words, MAX_MESSAGE)
    }

    fn class_of_codes(&self, table: &[(FailureClass, &str)]) -> Option<FailureClass> {
        table
            .iter()
            .find(|(_, known)| known.split(' ').any(|code| self.has_code(code)))
            .map(|(class, _)| *class)
    }

    fn has_code(&self, code: &str) -> bool {
        self.codes.iter().any(|own| own == code)
    }
}

/// Returns the class of a status alone; `None` if it is not an error.
const fn class_of_status(status: u16) -> Option<FailureClass> {
    match status {
        401 | 403 => Some(FailureClass::Auth),
        402 => Some(FailureClass::Money),
        413 => Some(FailureClass::TooLong),
        429 => Some(FailureClass::Rate),
        // Repeating the request would give the same result.
        501 | 505 => Some(FailureClass::Request),
        408 | 409 | 425 | 500.. => Some(FailureClass::Overload),
        // Redirects are not followed: the address is wrong.
        300..=499 => Some(FailureClass::Request),
        0..=299 => None,
    }
}

fn codes(value: &Value, error: &Value) -> Vec<String> {
    let texts = [
        string_at(error, "/type"),
        string_at(error, "/status"),
        string_at(error, "/code"),
        string_at(error, "/details/error_code"),
    ];
    let mut codes: Vec<String> =
        texts.into_iter().flatten().filter(|code| *code != "error").map(str::to_ascii_lowercase).collect();
    for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
        codes.extend(string_at(detail, "/reason").map(str::to_ascii_lowercase));
        // The daily quota is used up. Google reports it with the same status as the limit per minute.
        let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
        let is_daily =
            |violation: &Value| string_at(violation, "/quotaId").is_some_and(|id| id.contains("PerDay"));
        if violations.into_iter().any(is_daily) {
            codes.push("quota_exceeded".to_owned());
        }
    }
    codes.extend(minimax_code(value).map(str::to_owned));
    codes
}

/// Returns the code for a number of `MiniMax`, which reports errors with a success status; these are the documented
/// ones that matter.
fn minimax_code(value: &Value) -> Option<&'static str> {
    match value.pointer("/base_resp/status_code").and_then(Value::as_i64)? {
        0 => None,
        1002 | 1041 => Some("rate_limit_exceeded"),
        1004 | 2049 => Some("invalid_api_key"),
        1008 | 2056 => Some("insufficient_balance"),
        1026 | 1027 => Some("content_filter"),
        1039 => Some("context_length_exceeded"),
        2013 => Some("invalid_request_error"),
        _ => Some("server_error"),
    }
}

fn string_at<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// Returns the beginning of a body that is not JSON, but nothing of an HTML page.
fn plain_text(body: &[u8]) -> String {
    let head = String::from_utf8_lossy(&body[..body.len().min(4 * MAX_MESSAGE)]);
    if head.trim_start().starts_with('<') { String::new() } else { head.into_owned() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::call::CallFailure;
    use super::super::decode::decode;
    use super::super::provider::WireFormat;
    use super::super::testing::{NOW_MS, model, response};
    use super::*;

    #[track_caller]
    fn refused(wire: WireFormat, status: u16, headers: &[(&str, &str)], body: &str) -> CallFailure {
        let refusal = decode(&model(wire), &response(status, headers, body), NOW_MS).unwrap_err();
        assert!(refusal.message.len() <= MAX_MESSAGE && !refusal.message.chars().any(char::is_control));
        refusal
    }

    #[track_caller]
    fn check(wire: WireFormat, status: u16, body: &str, class: FailureClass) {
        assert_eq!(refused(wire, status, &[], body).class, class, "{status} {body}");
    }

    #[test]
    fn rate_limits_are_distinguished_from_payment_by_the_code_and_not_the_status() {
        let limit = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Number of request tokens has exceeded your per-minute rate limit"}}"#;
        let refusal =
            refused(WireFormat::Anthropic, 429, &[("retry-after", "2"), ("request-id", "req_1")], limit);
        assert_eq!((refusal.class, refusal.retry_after), (FailureClass::Rate, Some(Duration::from_secs(2))));
        assert_eq!(refusal.request_id.as_deref(), Some("req_1"));
        assert_eq!(
            refusal.message,
            "HTTP 429: rate_limit_error: Number of request tokens has exceeded your per-minute rate limit"
        );
        assert_eq!(refusal.tokens, None);

        let ramp = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Too steep.","details":{"error_code":"ramp_limit_exceeded"}}}"#;
        check(WireFormat::Anthropic, 429, ramp, FailureClass::Rate);
        for code in ["contract_spend_limit_reached", "linked_organization_spend_limit_reached"] {
            check(
                WireFormat::Anthropic,
                429,
                &ramp.replace("ramp_limit_exceeded", code),
                FailureClass::Money,
            );
        }

        let spent = r#"{"type":"error","error":{"type":"rate_limit_error","message":"Usage is paused.","details":{"error_code":"enforced_spend_limit_reached"}}}"#;
        let refusal = refused(WireFormat::Anthropic, 429, &[], spent);
        assert_eq!((refusal.class, refusal.retry_after), (FailureClass::Money, None));
        assert_eq!(refusal.message, "HTTP 429: enforced_spend_limit_reached: Usage is paused.");
    }

    #[test]
    fn openais_spent_quotas_are_about_money() {
        for code in [
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
            "insufficient_quota",
        ] {
            let body = json!({"error": {"message": "You exceeded it.", "type": "insufficient_quota", "param": null, "code": code}});
            for wire in [WireFormat::Responses, WireFormat::Chat] {
                check(wire, 429, &body.to_string(), FailureClass::Money);
            }
            let body = json!({"error": {"message": "You exceeded it.", "type": null, "code": code}});
            check(WireFormat::Responses, 429, &body.to_string(), FailureClass::Money);
        }
    }

    #[test]
    fn openais_rates_and_slow_downs_are_waited_for() {
        let rate = r#"{"error":{"message":"Rate limit reached for gpt-6-luna","type":"tokens","param":null,"code":"rate_limit_exceeded"}}"#;
        let headers = [
            ("x-ratelimit-remaining-requests", "0"),
            ("x-ratelimit-reset-requests", "6m0s"),
            ("x-ratelimit-remaining-tokens", "5"),
            ("x-ratelimit-reset-tokens", "1h"),
        ];
        let refusal = refused(WireFormat::Responses, 429, &headers, rate);
        assert_eq!((refusal.class, refusal.retry_after), (FailureClass::Rate, Some(Duration::from_mins(6))));
        check(
            WireFormat::Chat,
            503,
            r#"{"error":{"message":"Slow down","type":"slow_down","code":"slow_down"}}"#,
            FailureClass::Rate,
        );
        let minute = r#"{"error":{"message":"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 37000.","type":"tokens","code":"rate_limit_exceeded"}}"#;
        check(WireFormat::Chat, 429, minute, FailureClass::TooLong);
    }

    #[test]
    fn geminis_minute_is_waited_for_and_its_day_is_not() {
        let body = |quota: &str| {
            let violations = json!([{"quotaMetric": "generativelanguage.googleapis.com/generate_content_free_tier_requests", "quotaId": quota}]);
            let details = json!([
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": violations},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s"},
            ]);
            let error = json!({"code": 429, "message": "You exceeded your current quota.", "status": "RESOURCE_EXHAUSTED", "details": details});
            json!({"error": error}).to_string()
        };
        let minute = refused(
            WireFormat::Gemini,
            429,
            &[],
            &body("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"),
        );
        assert_eq!(
            (minute.class, minute.retry_after),
            (FailureClass::Rate, Some(Duration::from_millis(34_500)))
        );
        let day =
            refused(WireFormat::Gemini, 429, &[], &body("GenerateRequestsPerDayPerProjectPerModel-FreeTier"));
        assert_eq!((day.class, day.retry_after), (FailureClass::Money, None));
        check(
            WireFormat::Gemini,
            402,
            r#"{"error":{"code":402,"message":"Prepaid credits are used up.","status":"FAILED_PRECONDITION"}}"#,
            FailureClass::Money,
        );
        check(
            WireFormat::Gemini,
            429,
            r#"[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]"#,
            FailureClass::Rate,
        );
    }

    #[test]
    fn payment_errors_are_recognized_by_status_and_by_anthropics_messages() {
        check(
            WireFormat::Chat,
            402,
            r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
            FailureClass::Money,
        );
        check(
            WireFormat::Anthropic,
            402,
            r#"{"type":"error","error":{"type":"billing_error","message":"Pay."}}"#,
            FailureClass::Money,
        );
        for message in [
            "Your credit balance is too low to access the Anthropic API.",
            "You have reached your specified API usage limits. You will regain access on 2026-12-01.",
            "You have reached your specified workspace API usage limits.",
        ] {
            let body =
                json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}});
            check(WireFormat::Anthropic, 400, &body.to_string(), FailureClass::Money);
        }
    }

    #[test]
    fn a_failing_server_is_retried() {
        let overloaded = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
        check(WireFormat::Anthropic, 529, overloaded, FailureClass::Overload);
        check(
            WireFormat::Responses,
            503,
            r#"{"error":{"message":"Busy","type":"server_is_overloaded","code":null}}"#,
            FailureClass::Overload,
        );
        check(
            WireFormat::Gemini,
            503,
            r#"{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}"#,
            FailureClass::Overload,
        );
        for status in [408, 409, 500, 502, 503, 504, 520, 529, 599] {
            check(WireFormat::Chat, status, "<html><h1>Bad gateway</h1></html>", FailureClass::Overload);
            check(WireFormat::Chat, status, "", FailureClass::Overload);
        }
        let refusal = refused(WireFormat::Chat, 503, &[("retry-after", "Sat, 21 Nov 2026 09:00:20 GMT")], "");
        assert_eq!(
            (refusal.retry_after, refusal.message.as_str()),
            (Some(Duration::from_secs(20)), "HTTP 503")
        );
    }

    #[test]
    fn a_rejected_key_is_distinguished_from_an_invalid_request() {
        check(
            WireFormat::Anthropic,
            401,
            r#"{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}"#,
            FailureClass::Auth,
        );
        check(
            WireFormat::Anthropic,
            401,
            r#"{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}"#,
            FailureClass::Auth,
        );
        check(
            WireFormat::Responses,
            401,
            r#"{"error":{"message":"You didn't provide an API key.","type":"invalid_request_error","code":null}}"#,
            FailureClass::Auth,
        );
        check(
            WireFormat::Anthropic,
            403,
            r#"{"type":"error","error":{"type":"permission_error","message":"No."}}"#,
            FailureClass::Auth,
        );
        let gemini = r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}"#;
        check(WireFormat::Gemini, 400, gemini, FailureClass::Auth);
        check(
            WireFormat::Responses,
            403,
            r#"{"error":{"message":"Project has no access to model","type":"invalid_request_error","code":"model_not_found"}}"#,
            FailureClass::Request,
        );
    }

    #[test]
    fn all_messages_about_long_prompts_are_recognized() {
        let llama = r#"{"error":{"code":400,"message":"request (20022 tokens) exceeds the available context size (4096 tokens)","type":"exceed_context_size_error","n_prompt_tokens":20022,"n_ctx":4096}}"#;
        check(WireFormat::Anthropic, 400, llama, FailureClass::TooLong);
        check(
            WireFormat::Anthropic,
            413,
            r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            FailureClass::TooLong,
        );
        check(
            WireFormat::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}"#,
            FailureClass::TooLong,
        );
        check(
            WireFormat::Responses,
            400,
            r#"{"error":{"message":"Too long","type":"invalid_request_error","code":"context_length_exceeded"}}"#,
            FailureClass::TooLong,
        );
        check(
            WireFormat::Chat,
            400,
            r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#,
            FailureClass::TooLong,
        );
        check(
            WireFormat::Gemini,
            400,
            r#"{"error":{"code":400,"message":"The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}"#,
            FailureClass::TooLong,
        );
        check(
            WireFormat::Ollama,
            400,
            r#"{"error":"the input length exceeds the context length"}"#,
            FailureClass::TooLong,
        );
    }

    #[test]
    fn an_invalid_request_is_not_retried() {
        check(
            WireFormat::Anthropic,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"temperature: not supported"}}"#,
            FailureClass::Request,
        );
        check(
            WireFormat::Anthropic,
            404,
            r#"{"type":"error","error":{"type":"not_found_error","message":"model: claude-9"}}"#,
            FailureClass::Request,
        );
        check(WireFormat::Ollama, 404, r#"{"error":"model 'nope' not found"}"#, FailureClass::Request);
        check(
            WireFormat::Chat,
            422,
            r#"{"detail":[{"loc":["body","messages"],"msg":"field required"}]}"#,
            FailureClass::Request,
        );
        for status in [300, 301, 302, 307, 400, 404, 405, 415, 422, 501] {
            check(WireFormat::Chat, status, "<html>", FailureClass::Request);
        }
        let words = refused(WireFormat::Ollama, 404, &[], r#"{"error":"model 'nope' not found"}"#).message;
        assert_eq!(words, "HTTP 404: model 'nope' not found");
    }

    #[test]
    fn a_content_filter_declines() {
        let body =
            r#"{"error":{"message":"Filtered","type":"invalid_request_error","code":"content_filter"}}"#;
        check(WireFormat::Chat, 400, body, FailureClass::Soft(SoftFailure::Declined));
    }

    #[test]
    fn errors_with_a_success_status_may_be_charged() {
        let router = r#"{"error":{"code":429,"message":"Provider returned error"},"user_id":"u"}"#;
        let refusal = refused(WireFormat::Chat, 200, &[], router);
        assert_eq!(refusal.class, FailureClass::Rate);
        assert!(refusal.tokens.is_some());
        check(
            WireFormat::Chat,
            200,
            r#"{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}"#,
            FailureClass::Money,
        );
        check(
            WireFormat::Chat,
            200,
            r#"{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#,
            FailureClass::Rate,
        );
        let failed = r#"{"status":"failed","error":{"code":"server_error","message":"Oops"},"output":[]}"#;
        check(WireFormat::Responses, 200, failed, FailureClass::Overload);
        check(
            WireFormat::Anthropic,
            200,
            r#"{"type":"error","error":{"type":"api_error","message":"Oops"}}"#,
            FailureClass::Overload,
        );
        check(WireFormat::Ollama, 200, r#"{"error":"out of memory"}"#, FailureClass::Garbled);
    }

    #[test]
    fn explicit_retry_advice_counts_except_for_payment_errors() {
        let told = |status, word, body: &str| {
            refused(WireFormat::Responses, status, &[("x-should-retry", word)], body).class
        };
        assert_eq!(told(400, "true", ""), FailureClass::Overload);
        assert_eq!(told(503, "false", ""), FailureClass::Request);
        assert_eq!(told(429, "false", ""), FailureClass::Money);
        assert_eq!(told(429, "true", ""), FailureClass::Rate);
        assert_eq!(told(503, "perhaps", ""), FailureClass::Overload);
        assert_eq!(told(401, "true", ""), FailureClass::Auth);
        assert_eq!(told(429, "true", r#"{"error":{"type":"insufficient_quota"}}"#), FailureClass::Money);
    }

    #[test]
    fn tokens_counted_in_an_error_are_reported() {
        let body = r#"{"error":{"message":"x"},"usage":{"prompt_tokens":7,"completion_tokens":0}}"#;
        let tokens = refused(WireFormat::Chat, 500, &[], body).tokens.unwrap();
        assert_eq!((tokens.input, tokens.output, tokens.cache_read), (Some(7), Some(0), None));
    }
}
