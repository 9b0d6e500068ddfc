//! What an error means: one classifier for all providers.
//!
//! Errors are read by what they say, not by the address that was asked: servers that speak a foreign wire refuse in
//! their own. And by the code in the body before the status: of the answers with 429, some are about speed and some
//! about money, and those may never be tried again.

use serde_json::Value;

use super::Class;
use super::Soft;
use super::retry_after;
use super::text;

/// An error, as a body tells it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Said {
    /// Every code in it, in lower case, the most general one first.
    codes: Vec<String>,
    /// What it says to a reader.
    message: String,
    /// The status that stands in the body, where one does.
    status: Option<u16>,
    /// How long its details want the server to be left alone.
    pub(super) wait: Option<std::time::Duration>,
}

/// Codes and what they mean, the gravest first: the first line that knows one of an error's codes decides.
const CODES: [(Class, &[&str]); 6] = [
    (
        Class::Money,
        &[
            "insufficient_quota",
            "credit_balance_exhausted",
            "organization_spend_limit_exceeded",
            "project_spend_limit_exceeded",
            "organization_usage_limit_exceeded",
            "enforced_spend_limit_reached",
            "billing_error",
            "billing_not_active",
            "billing_hard_limit_reached",
            "insufficient_balance",
            "payment_required",
            "quota_exceeded",
        ],
    ),
    (
        Class::Auth,
        &[
            "authentication_error",
            "invalid_api_key",
            "api_key_invalid",
            "api_key_expired",
            "account_deactivated",
            "unauthenticated",
            "unsupported_country_region_territory",
        ],
    ),
    (
        Class::Soft(Soft::Declined),
        &["content_filter", "content_policy_violation", "responsibleaipolicyviolation", "invalid_prompt"],
    ),
    (
        Class::TooLong,
        &[
            "context_length_exceeded",
            "exceed_context_size_error",
            "contextwindowexceedederror",
            "request_too_large",
            "string_above_max_length",
        ],
    ),
    (
        Class::Rate,
        &["rate_limit_error", "rate_limit_exceeded", "slow_down", "resource_exhausted", "too_many_requests"],
    ),
    (Class::Overload, &["overloaded_error", "server_is_overloaded", "engine_overloaded", "unavailable"]),
];

/// Codes that mean something only where no status contradicts them.
const WEAK_CODES: [(Class, &[&str]); 3] = [
    (
        Class::Request,
        &["model_not_found", "not_found_error", "not_found", "invalid_request_error", "invalid_argument"],
    ),
    (
        Class::Overload,
        &["api_error", "server_error", "internal", "internal_error", "timeout_error", "batch_expired"],
    ),
    (Class::Auth, &["permission_error", "permission_denied"]),
];

/// Beginnings of sentences by which servers without a code for it say that a question is too long.
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

/// Says whether a body that came with a good status is an error all the same.
pub(super) fn is_error(value: &Value) -> bool {
    let named = value.get("error").is_some_and(|error| !error.is_null());
    named || value.get("type").and_then(Value::as_str) == Some("error") || minimax_code(value).is_some()
}

impl Said {
    /// Reads the body of an error, whatever it is.
    pub(super) fn of(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of_json(&value),
            // A page for people, made by something between here and there.
            Err(_) => Self { codes: Vec::new(), message: plain_text(body), status: None, wait: None },
        }
    }

    /// Reads an error in JSON.
    pub(super) fn of_json(value: &Value) -> Self {
        // Google answers some streams by a list with the error in it.
        let value = value.get(0).unwrap_or(value);
        let error = match value.get("error") {
            Some(Value::Null) | None => value,
            Some(error) => error,
        };
        let message =
            error.as_str().or_else(|| string(error, "/message")).or_else(|| string(value, "/message"));
        let message =
            message.or_else(|| string(value, "/detail")).or_else(|| string(value, "/base_resp/status_msg"));
        let status = error.get("code").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
        Self {
            codes: codes(value, error),
            message: message.unwrap_or_default().to_owned(),
            status: status.filter(|status| (400..600).contains(status)),
            wait: retry_after::of_details(error),
        }
    }

    /// Says of which kind it is.
    pub(super) fn class(&self, status: u16) -> Class {
        let status = if status < 400 { self.status.unwrap_or(status) } else { status };
        let message = self.message.to_ascii_lowercase();
        // Anthropic has no code for it.
        if message.contains("credit balance is too low") {
            return Class::Money;
        }
        let is_too_long = TOO_LONG.iter().any(|words| message.contains(words));
        match self.class_of_codes(&CODES) {
            // A question that alone has more tokens than a minute allows will have them in the next minute too.
            Some(Class::Rate) if message.contains("request too large") => return Class::TooLong,
            Some(class) => return class,
            None => {}
        }
        match class_of_status(status) {
            Some(Class::Request) if is_too_long => Class::TooLong,
            // Such as a model that this key may not use: another one may be allowed.
            Some(Class::Auth) if status == 403 && self.has("model_not_found") => Class::Request,
            Some(class) => class,
            None if is_too_long => Class::TooLong,
            None => self.class_of_codes(&WEAK_CODES).unwrap_or(Class::Garbled),
        }
    }

    /// Returns it in words.
    pub(super) fn words(&self, status: u16) -> String {
        let mut words = if status < 400 { String::new() } else { format!("HTTP {status}") };
        let code = self.codes.last().map(|code| text::printable(code, 80)).filter(|code| !code.is_empty());
        for part in [code, Some(text::printable(&self.message, text::MOST_WORDS))].into_iter().flatten() {
            if part.is_empty() {
                continue;
            }
            let between = if words.is_empty() { "" } else { ": " };
            words = format!("{words}{between}{part}");
        }
        text::shortened(words, text::MOST_WORDS)
    }

    fn class_of_codes(&self, table: &[(Class, &[&str])]) -> Option<Class> {
        table.iter().find(|(_, known)| known.iter().any(|code| self.has(code))).map(|(class, _)| *class)
    }

    fn has(&self, code: &str) -> bool {
        self.codes.iter().any(|said| said == code)
    }
}

/// Returns what a status alone means; `None` where it is not one of an error.
const fn class_of_status(status: u16) -> Option<Class> {
    match status {
        401 | 403 => Some(Class::Auth),
        402 => Some(Class::Money),
        413 => Some(Class::TooLong),
        429 => Some(Class::Rate),
        // Nobody who is asked again by the same method would answer otherwise.
        501 | 505 => Some(Class::Request),
        408 | 409 | 425 | 500.. => Some(Class::Overload),
        // No redirection is followed: the address is wrong.
        300..=499 => Some(Class::Request),
        0..=299 => None,
    }
}

fn codes(value: &Value, error: &Value) -> Vec<String> {
    let said = [
        string(error, "/type"),
        string(error, "/status"),
        string(error, "/code"),
        string(error, "/details/error_code"),
    ];
    let mut codes: Vec<String> =
        said.into_iter().flatten().filter(|code| *code != "error").map(str::to_ascii_lowercase).collect();
    for detail in error.get("details").and_then(Value::as_array).into_iter().flatten() {
        codes.extend(string(detail, "/reason").map(str::to_ascii_lowercase));
        // A day's allowance is used up. Google gives the same status to that and to a minute's.
        let violations = detail.get("violations").and_then(Value::as_array).into_iter().flatten();
        let is_daily =
            |violation: &Value| string(violation, "/quotaId").is_some_and(|id| id.contains("PerDay"));
        if violations.into_iter().any(is_daily) {
            codes.push("quota_exceeded".to_owned());
        }
    }
    codes.extend(minimax_code(value).map(str::to_owned));
    codes
}

/// MiniMax refuses with a good status and a number; these are the ones that its page names.
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

fn string<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer).and_then(Value::as_str)
}

/// Returns the beginning of a body that is no JSON; of a page in HTML, nothing: its words are for a browser.
fn plain_text(body: &[u8]) -> String {
    let head = String::from_utf8_lossy(&body[..body.len().min(4 * text::MOST_WORDS)]);
    if head.trim_start().starts_with('<') { String::new() } else { head.into_owned() }
}
