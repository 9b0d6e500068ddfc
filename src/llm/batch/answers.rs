//! What comes back.

use serde_json::Value;

use super::questions::is_anthropic;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Pace;
use crate::llm::Refusal;
use crate::llm::Reply;
use crate::llm::decode;
use crate::llm::failure::Said;
use crate::llm::text;
use crate::model::WebResponse;

/// How far submitting is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Submitted {
    /// The questions are there as a file of this name, and a batch is to be made of it.
    Uploaded(String),
    /// There is a batch of this name.
    Batch(String),
}

/// How far a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// It is worked on.
    Running,
    /// It is not worked on any more.
    Ended {
        /// Names of the lists of answers, for [`super::encode_results`]. A question that is in none of them was not
        /// asked, or its answer is lost.
        results: Vec<String>,
        /// Why it was not worked on at all, where that is so.
        failed: Option<String>,
    },
}

/// One batch of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub id: String,
    /// When it was made, in milliseconds since the epoch.
    pub created_ms: i64,
    /// What [`super::tag`] says of its questions, where the provider keeps that.
    pub tag: Option<String>,
    /// How many questions it has, where the provider says so.
    pub items: Option<u64>,
    /// How far it is.
    pub progress: Progress,
}

/// Reads the answer to what submits questions.
pub fn decode_submitted(model: &Model, response: &WebResponse, now_ms: i64) -> Result<Submitted, Refusal> {
    let value = decode::good_value(model, response, now_ms)?;
    let kind = ["object", "type"].into_iter().find_map(|name| value.get(name)?.as_str());
    match (kind, id(&value)) {
        (Some("batch" | "message_batch"), Some(id)) => Ok(Submitted::Batch(id)),
        (Some("file"), Some(id)) => Ok(Submitted::Uploaded(id)),
        _ => Err(garbled("the answer names no batch and no file")),
    }
}

/// Reads how far a batch is.
pub fn decode_poll(model: &Model, response: &WebResponse, now_ms: i64) -> Result<Progress, Refusal> {
    let value = decode::good_value(model, response, now_ms)?;
    progress(model, &value).ok_or_else(|| garbled("the answer does not say how far the batch is"))
}

/// Reads a list of batches; what in it is none is left out.
pub fn decode_list(model: &Model, response: &WebResponse, now_ms: i64) -> Result<Vec<Listed>, Refusal> {
    let value = decode::good_value(model, response, now_ms)?;
    let Some(batches) = value.get("data").and_then(Value::as_array) else {
        return Err(garbled("the answer is no list of batches"));
    };
    Ok(batches.iter().filter_map(|batch| listed(model, batch)).collect())
}

/// Reads a list of answers, with the names of their questions. Lines that are none are left out.
pub fn decode_results(model: &Model, body: &[u8]) -> Vec<(String, Result<Reply, Refusal>)> {
    let answer = |line: &[u8]| {
        let value: Value = serde_json::from_slice(line).ok()?;
        let id = value.get("custom_id")?.as_str()?.to_owned();
        let answer = if is_anthropic(model) { of_anthropic(model, &value) } else { of_openai(model, &value) };
        Some((id, answer))
    };
    body.split(|byte| *byte == b'\n').filter_map(answer).collect()
}

fn id(value: &Value) -> Option<String> {
    value.get("id").and_then(Value::as_str).and_then(text::name)
}

fn listed(model: &Model, batch: &Value) -> Option<Listed> {
    let created = batch.get("created_at")?;
    let created_ms = match created.as_str() {
        Some(moment) => moment.parse::<jiff::Timestamp>().ok()?.as_millisecond(),
        None => created.as_i64()?.checked_mul(1_000)?,
    };
    let counts = batch.get("request_counts").and_then(Value::as_object);
    // OpenAI gives the sum, Anthropic its parts.
    let items = counts.map(|counts| match counts.get("total") {
        Some(total) => total.as_u64().unwrap_or(0),
        None => counts.values().filter_map(Value::as_u64).fold(0, u64::saturating_add),
    });
    Some(Listed {
        id: id(batch)?,
        created_ms,
        tag: batch.pointer("/metadata/slop").and_then(Value::as_str).and_then(text::name),
        items,
        progress: progress(model, batch)?,
    })
}

fn progress(model: &Model, batch: &Value) -> Option<Progress> {
    if is_anthropic(model) {
        return match batch.get("processing_status")?.as_str()? {
            "ended" => Some(Progress::Ended { results: id(batch).into_iter().collect(), failed: None }),
            _ => Some(Progress::Running),
        };
    }
    let status = batch.get("status")?.as_str()?;
    let file = |name| batch.get(name).and_then(Value::as_str).and_then(text::name);
    let results = [file("output_file_id"), file("error_file_id")].into_iter().flatten().collect();
    match status {
        "completed" | "expired" | "cancelled" => Some(Progress::Ended { results, failed: None }),
        "failed" => {
            let why = batch
                .pointer("/errors/data/0/message")
                .and_then(Value::as_str)
                .unwrap_or("it says nothing of why");
            Some(Progress::Ended { results, failed: Some(text::printable(why, text::MOST_WORDS)) })
        }
        _ => Some(Progress::Running),
    }
}

fn of_anthropic(model: &Model, line: &Value) -> Result<Reply, Refusal> {
    let Some(result) = line.get("result") else {
        return Err(garbled("a line of the answers has no `result`"));
    };
    match result.get("type").and_then(Value::as_str) {
        Some("succeeded") => {
            decode::of_good(model, result.get("message").unwrap_or(&Value::Null), None, Pace::default())
        }
        Some("errored") => {
            let error = result.get("error").unwrap_or(&Value::Null);
            Err(uncharged(&Said::of_json(error), 200))
        }
        Some("expired" | "canceled") => Err(refusal(Class::Overload, "the batch ended before this question")),
        Some(_) | None => Err(garbled("a line of the answers has a `result` of no known type")),
    }
}

fn of_openai(model: &Model, line: &Value) -> Result<Reply, Refusal> {
    if line.get("error").is_some_and(|error| !error.is_null()) {
        return Err(uncharged(&Said::of_json(line), 200));
    }
    let status = line
        .pointer("/response/status_code")
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    let (Some(status), Some(body)) = (status, line.pointer("/response/body")) else {
        return Err(garbled("a line of the answers has no `response`"));
    };
    if !(200..300).contains(&status) {
        return Err(uncharged(&Said::of_json(body), status));
    }
    let request_id = line.pointer("/response/request_id").and_then(Value::as_str).and_then(text::name);
    decode::of_good(model, body, request_id, Pace::default())
}

fn uncharged(said: &Said, status: u16) -> Refusal {
    Refusal { words: said.words(status), ..refusal(said.class(status), "") }
}

fn refusal(class: Class, words: &str) -> Refusal {
    Refusal {
        class,
        words: words.to_owned(),
        wait: None,
        tokens: None,
        request_id: None,
        pace: Pace::default(),
    }
}

/// Something came that is no answer. It may be charged.
fn garbled(words: &str) -> Refusal {
    Refusal { tokens: Some(crate::model::Tokens::default()), ..refusal(Class::Garbled, words) }
}
