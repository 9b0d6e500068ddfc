//! Decodes the responses to requests about batches.

use serde_json::Value;

use super::encode::is_anthropic;
use crate::llm::call::{CallFailure, FailureClass, Model, ModelReply, RateLimits};
use crate::llm::decode::{decode_value, success_json};
use crate::llm::error_body::ErrorBody;
use crate::llm::message_text;
use crate::model::{HttpResponse, TokenUsage};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitStep {
    /// The items were uploaded as a file with this id; a batch must be created from it.
    Uploaded(String),
    Batch(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchProgress {
    Running,
    Ended {
        /// Ids of the result files, for [`super::encode_results`]. An item without a result was not processed, or its
        /// result is lost.
        results: Vec<String>,
        /// Why the batch failed as a whole, if it did.
        failed: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedBatch {
    pub id: String,
    /// When it was created, in milliseconds since the epoch.
    pub created_ms: i64,
    /// The [`super::tag`] of its items, if the provider stores it.
    pub tag: Option<String>,
    /// The number of its items, if the provider reports it.
    pub items: Option<u64>,
    pub progress: BatchProgress,
}

pub fn decode_submitted(
    model: &Model,
    response: &HttpResponse,
    now_ms: i64,
) -> Result<SubmitStep, CallFailure> {
    let value = success_json(model, response, now_ms)?;
    let kind = ["object", "type"].into_iter().find_map(|name| value.get(name)?.as_str());
    match (kind, id(&value)) {
        (Some("batch" | "message_batch"), Some(id)) => Ok(SubmitStep::Batch(id)),
        (Some("file"), Some(id)) => Ok(SubmitStep::Uploaded(id)),
        _ => Err(garbled("the response names neither a batch nor a file")),
    }
}

pub fn decode_poll(
    model: &Model,
    response: &HttpResponse,
    now_ms: i64,
) -> Result<BatchProgress, CallFailure> {
    let value = success_json(model, response, now_ms)?;
    progress(model, &value).ok_or_else(|| garbled("the response has no batch status"))
}

/// Decodes a list of batches; entries that are not batches are left out.
pub fn decode_list(
    model: &Model,
    response: &HttpResponse,
    now_ms: i64,
) -> Result<Vec<ListedBatch>, CallFailure> {
    let value = success_json(model, response, now_ms)?;
    let Some(batches) = value.get("data").and_then(Value::as_array) else {
        return Err(garbled("the response is not a list of batches"));
    };
    Ok(batches.iter().filter_map(|batch| listed(model, batch)).collect())
}

/// Decodes a list of results, each with the id of its item. Malformed lines are left out.
pub fn decode_results(model: &Model, body: &[u8]) -> Vec<(String, Result<ModelReply, CallFailure>)> {
    let answer = |line: &[u8]| {
        let value: Value = serde_json::from_slice(line).ok()?;
        let id = value.get("custom_id")?.as_str()?.to_owned();
        let answer = if is_anthropic(model) {
            decode_anthropic_line(model, &value)
        } else {
            decode_openai_line(model, &value)
        };
        Some((id, answer))
    };
    body.split(|byte| *byte == b'\n').filter_map(answer).collect()
}

fn id(value: &Value) -> Option<String> {
    value.get("id").and_then(Value::as_str).and_then(message_text::call_id)
}

fn listed(model: &Model, batch: &Value) -> Option<ListedBatch> {
    let created = batch.get("created_at")?;
    let created_ms = match created.as_str() {
        Some(moment) => moment.parse::<jiff::Timestamp>().ok()?.as_millisecond(),
        None => created.as_i64()?.checked_mul(1_000)?,
    };
    let counts = batch.get("request_counts").and_then(Value::as_object);
    // OpenAI reports the sum, Anthropic its parts.
    let items = counts.map(|counts| match counts.get("total") {
        Some(total) => total.as_u64().unwrap_or(0),
        None => counts.values().filter_map(Value::as_u64).fold(0, u64::saturating_add),
    });
    Some(ListedBatch {
        id: id(batch)?,
        created_ms,
        tag: batch.pointer("/metadata/slop").and_then(Value::as_str).and_then(message_text::call_id),
        items,
        progress: progress(model, batch)?,
    })
}

fn progress(model: &Model, batch: &Value) -> Option<BatchProgress> {
    if is_anthropic(model) {
        return match batch.get("processing_status")?.as_str()? {
            "ended" => Some(BatchProgress::Ended { results: id(batch).into_iter().collect(), failed: None }),
            _ => Some(BatchProgress::Running),
        };
    }
    let status = batch.get("status")?.as_str()?;
    let file = |name| batch.get(name).and_then(Value::as_str).and_then(message_text::call_id);
    let results = [file("output_file_id"), file("error_file_id")].into_iter().flatten().collect();
    match status {
        "completed" | "expired" | "cancelled" => Some(BatchProgress::Ended { results, failed: None }),
        "failed" => {
            let reason =
                batch.pointer("/errors/data/0/message").and_then(Value::as_str).unwrap_or("no reason given");
            Some(BatchProgress::Ended {
                results,
                failed: Some(message_text::redacted_line(reason, message_text::MAX_MESSAGE)),
            })
        }
        _ => Some(BatchProgress::Running),
    }
}

fn decode_anthropic_line(model: &Model, line: &Value) -> Result<ModelReply, CallFailure> {
    let Some(result) = line.get("result") else {
        return Err(garbled("a result line has no `result`"));
    };
    match result.get("type").and_then(Value::as_str) {
        Some("succeeded") => {
            decode_value(model, result.get("message").unwrap_or(&Value::Null), None, RateLimits::default())
        }
        Some("errored") => {
            let error = result.get("error").unwrap_or(&Value::Null);
            Err(uncharged(&ErrorBody::from_json(error), 200))
        }
        Some("expired" | "canceled") => {
            Err(CallFailure::new(FailureClass::Overload, "the batch ended before this item"))
        }
        Some(_) | None => Err(garbled("a result line has a `result` of an unknown type")),
    }
}

fn decode_openai_line(model: &Model, line: &Value) -> Result<ModelReply, CallFailure> {
    if line.get("error").is_some_and(|error| !error.is_null()) {
        return Err(uncharged(&ErrorBody::from_json(line), 200));
    }
    let status = line
        .pointer("/response/status_code")
        .and_then(Value::as_u64)
        .and_then(|code| u16::try_from(code).ok());
    let (Some(status), Some(body)) = (status, line.pointer("/response/body")) else {
        return Err(garbled("a result line has no `response`"));
    };
    if !(200..300).contains(&status) {
        return Err(uncharged(&ErrorBody::from_json(body), status));
    }
    let request_id =
        line.pointer("/response/request_id").and_then(Value::as_str).and_then(message_text::call_id);
    decode_value(model, body, request_id, RateLimits::default())
}

fn uncharged(error: &ErrorBody, status: u16) -> CallFailure {
    CallFailure::new(error.classify(status), error.message_line(status))
}

/// Returns the failure for a response that is not an answer. It may have been charged.
fn garbled(message: &str) -> CallFailure {
    CallFailure { tokens: Some(TokenUsage::default()), ..CallFailure::new(FailureClass::Garbled, message) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::llm::call::SoftFailure;
    use crate::llm::testing::{NOW_MS, of_provider, response};

    fn anthropic() -> Model {
        of_provider("anthropic", "m")
    }

    fn openai() -> Model {
        of_provider("openai", "m")
    }

    fn good(value: &Value) -> HttpResponse {
        response(200, &[], &value.to_string())
    }

    #[test]
    fn a_submission_has_an_id() {
        let read = |model: &Model, value: Value| decode_submitted(model, &good(&value), NOW_MS);
        let batch = json!({"id": "msgbatch_1", "type": "message_batch", "processing_status": "in_progress"});
        assert_eq!(read(&anthropic(), batch), Ok(SubmitStep::Batch("msgbatch_1".to_owned())));
        let file = json!({"id": "file-1", "object": "file", "purpose": "batch"});
        assert_eq!(read(&openai(), file), Ok(SubmitStep::Uploaded("file-1".to_owned())));
        let batch = json!({"id": "batch_1", "object": "batch", "status": "validating"});
        assert_eq!(read(&openai(), batch), Ok(SubmitStep::Batch("batch_1".to_owned())));
        for value in [
            json!({}),
            json!({"id": 1, "object": "batch"}),
            json!({"id": "a b", "object": "batch"}),
            json!(null),
        ] {
            assert_eq!(read(&openai(), value).unwrap_err().class, FailureClass::Garbled);
        }
        let refused = decode_submitted(&openai(), &response(402, &[], "{}"), NOW_MS);
        assert_eq!(refused.unwrap_err().class, FailureClass::Money);
    }

    #[test]
    fn a_batch_runs_until_it_has_ended() {
        let read = |model: &Model, value: Value| decode_poll(model, &good(&value), NOW_MS).unwrap();
        for status in ["in_progress", "canceling"] {
            let batch = json!({"id": "b_1", "processing_status": status, "results_url": null});
            assert_eq!(read(&anthropic(), batch), BatchProgress::Running);
        }
        // The URL in the response is not used, so the key is sent nowhere else.
        let batch =
            json!({"id": "b_1", "processing_status": "ended", "results_url": "https://evil.example/"});
        let ended = |results: &[&str], failed: Option<&str>| BatchProgress::Ended {
            results: results.iter().map(|name| (*name).to_owned()).collect(),
            failed: failed.map(str::to_owned),
        };
        assert_eq!(read(&anthropic(), batch), ended(&["b_1"], None));

        for status in ["validating", "in_progress", "finalizing", "cancelling"] {
            assert_eq!(read(&openai(), json!({"id": "b_1", "status": status})), BatchProgress::Running);
        }
        let batch =
            json!({"id": "b_1", "status": "completed", "output_file_id": "f_1", "error_file_id": "f_2"});
        assert_eq!(read(&openai(), batch), ended(&["f_1", "f_2"], None));
        let batch = json!({"id": "b_1", "status": "expired", "output_file_id": "f_1", "error_file_id": null});
        assert_eq!(read(&openai(), batch), ended(&["f_1"], None));
        let batch = json!({"id": "b_1", "status": "failed", "errors": {"data": [{"message": "Bad\nline"}]}});
        assert_eq!(read(&openai(), batch), ended(&[], Some("Bad line")));
        assert_eq!(
            decode_poll(&openai(), &good(&json!({})), NOW_MS).unwrap_err().class,
            FailureClass::Garbled
        );
    }

    #[test]
    fn a_lost_batch_is_found_in_the_list_by_its_time_or_its_tag() {
        let counts = json!({"processing": 3, "succeeded": 2, "errored": 1, "canceled": 0, "expired": 0});
        let data = json!([
            {"id": "b_1", "created_at": "2026-11-21T09:00:00Z", "processing_status": "in_progress", "request_counts": counts},
            {"id": "b_2", "created_at": "yesterday", "processing_status": "ended"},
            "nonsense",
        ]);
        let listed = decode_list(&anthropic(), &good(&json!({"data": data})), NOW_MS).unwrap();
        let first = ListedBatch {
            id: "b_1".to_owned(),
            created_ms: NOW_MS,
            tag: None,
            items: Some(6),
            progress: BatchProgress::Running,
        };
        assert_eq!(listed, std::slice::from_ref(&first));
        let data = json!([{"id": "b_1", "created_at": NOW_MS / 1_000, "status": "validating",
            "request_counts": {"total": 6, "completed": 1, "failed": 1}, "metadata": {"slop": "t"}}]);
        let listed = decode_list(&openai(), &good(&json!({"data": data})), NOW_MS).unwrap();
        assert_eq!(listed, [ListedBatch { tag: Some("t".to_owned()), ..first }]);
        assert_eq!(
            decode_list(&openai(), &good(&json!([])), NOW_MS).unwrap_err().class,
            FailureClass::Garbled
        );
    }

    /// The text; or the failure's class, and whether it is charged.
    type ShortAnswer = Result<String, (FailureClass, bool)>;

    fn read(model: &Model, lines: &[Value]) -> Vec<(String, ShortAnswer)> {
        let body = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        let short = |answer: Result<ModelReply, CallFailure>| match answer {
            Ok(reply) => Ok(reply.text),
            Err(refusal) => Err((refusal.class, refusal.tokens.is_some())),
        };
        decode_results(model, body.as_bytes()).into_iter().map(|(id, answer)| (id, short(answer))).collect()
    }

    #[test]
    fn anthropics_results_are_unordered_and_only_successes_are_charged() {
        let message = |stop: &str| json!({"type": "message", "content": [{"type": "text", "text": "It."}], "stop_reason": stop});
        let line = |id: &str, result: Value| json!({"custom_id": id, "result": result});
        let error = |kind: &str| json!({"type": "errored", "error": {"type": "error", "error": {"type": kind, "message": "x"}}});
        let lines = [
            line("b", json!({"type": "succeeded", "message": message("end_turn")})),
            line("a", json!({"type": "succeeded", "message": message("refusal")})),
            line("c", error("invalid_request_error")),
            line("d", error("api_error")),
            line("e", json!({"type": "expired"})),
            line("f", json!({"type": "canceled"})),
            line("g", json!({"type": "succeeded"})),
            line("h", json!({"type": "lost"})),
            json!({"custom_id": "i"}),
            json!({"result": {"type": "expired"}}),
            json!("nonsense"),
        ];
        let expected = [
            ("b", Ok("It.".to_owned())),
            ("a", Err((FailureClass::Soft(SoftFailure::Declined), true))),
            ("c", Err((FailureClass::Request, false))),
            ("d", Err((FailureClass::Overload, false))),
            ("e", Err((FailureClass::Overload, false))),
            ("f", Err((FailureClass::Overload, false))),
            ("g", Err((FailureClass::Garbled, true))),
            ("h", Err((FailureClass::Garbled, true))),
            ("i", Err((FailureClass::Garbled, true))),
        ];
        assert_eq!(read(&anthropic(), &lines), expected.map(|(id, answer)| (id.to_owned(), answer)));
    }

    #[test]
    fn openais_answers_are_in_two_files_of_one_shape() {
        let body = json!({"status": "completed", "output": [{"type": "message", "content": [{"type": "output_text", "text": "It."}]}]});
        let answered = json!({"status_code": 200, "request_id": "req_1", "body": body});
        let refused = json!({"status_code": 400, "body": {"error": {"code": "context_length_exceeded", "message": "x"}}});
        let lines = [
            json!({"custom_id": "a", "response": answered, "error": null}),
            json!({"custom_id": "b", "response": refused, "error": null}),
            json!({"custom_id": "c", "response": null, "error": {"code": "batch_expired", "message": "Not in time."}}),
            json!({"custom_id": "d", "response": null, "error": null}),
            json!({"custom_id": "e", "response": {"status_code": 70_000, "body": {}}}),
        ];
        let expected = [
            ("a", Ok("It.".to_owned())),
            ("b", Err((FailureClass::TooLong, false))),
            ("c", Err((FailureClass::Overload, false))),
            ("d", Err((FailureClass::Garbled, true))),
            ("e", Err((FailureClass::Garbled, true))),
        ];
        assert_eq!(read(&openai(), &lines), expected.map(|(id, answer)| (id.to_owned(), answer)));
        let line = json!({"custom_id": "a", "response": answered_with_name()});
        let answers = decode_results(&openai(), line.to_string().as_bytes());
        assert_eq!(answers[0].1.as_ref().unwrap().request_id.as_deref(), Some("req_1"));
    }

    fn answered_with_name() -> Value {
        let part = json!({"type": "output_text", "text": "It."});
        json!({"status_code": 200, "request_id": "req_1", "body": {"id": "r_1", "output": [{"type": "message", "content": [part]}]}})
    }

    #[test]
    fn a_truncated_result_line_is_left_out() {
        let whole = json!({"custom_id": "a", "result": {"type": "expired"}}).to_string();
        let body = format!("{whole}\r\n\n{}", &whole[..whole.len() - 1]);
        assert_eq!(decode_results(&anthropic(), body.as_bytes()).len(), 1);
        assert!(decode_results(&anthropic(), b"").is_empty());
    }
}
