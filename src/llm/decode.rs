//! An answer, as it came.

use secrecy::ExposeSecret;
use secrecy::SecretString;
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
        return Err(refusal(Class::Overload, words));
    }
    let Ok(text) = std::str::from_utf8(stdout) else {
        return Err(refusal(Class::Garbled, "the program's answer is no text in UTF-8".to_owned()));
    };
    if text.trim().is_empty() {
        return Err(refusal(Class::Soft(Soft::Empty), "the answer is empty".to_owned()));
    }
    Ok(Reply { text: text.to_owned(), tokens: Tokens::default(), request_id: None, pace: Pace::default() })
}

impl Refusal {
    /// Takes the key out of what the provider said: some repeat what they refuse.
    #[must_use]
    pub fn hiding(mut self, key: &SecretString) -> Self {
        let key = key.expose_secret();
        if !key.is_empty() {
            self.words = text::shortened(self.words.replace(key, "(hidden)"), text::MOST_WORDS);
            self.request_id = self.request_id.filter(|id| !id.contains(key));
        }
        self
    }
}

fn of_status(model: &Model, response: &WebResponse, pace: Pace, now_ms: i64) -> Refusal {
    let said = Said::of(&response.body);
    let class = said.class(response.status);
    let told = retry_after::of_headers(response, now_ms).or(said.wait);
    let wait = match class {
        Class::Rate => told.or_else(|| limits::wait(&pace)),
        Class::Overload => told,
        Class::Money | Class::Auth | Class::TooLong | Class::Request | Class::Soft(_) | Class::Garbled => {
            None
        }
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
