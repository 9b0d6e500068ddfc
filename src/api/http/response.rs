//! Responses: answers and errors in their envelopes, and bodies of chunks or of a channel.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::{Body as HttpBody, Frame, SizeHint};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::api::fault::{ApiError, ApiErrorKind};
use crate::api::service::EncodedAnswer;
use crate::api::wire::{FreshnessNote, FreshnessState, MissingPath, SCHEMA_VERSION, envelope_of_error};

#[derive(Debug)]
pub(super) struct ApiErrorResponse {
    pub(super) status: StatusCode,
    pub(super) command: &'static str,
    pub(super) fault: ApiError,
    /// The expected shape of a key, if the error concerns one.
    pub(super) shape: Option<ShapeError>,
}

/// An invalid key of a question.
#[derive(Debug, Serialize)]
pub(super) struct ShapeError {
    /// The key, such as `choice.focus[0]`; empty for the question as a whole.
    pub(super) path: String,
    /// The actual value; null if it is missing.
    pub(super) got: Value,
    /// A description of the expected value.
    pub(super) wanted: String,
    /// A question with a valid value.
    pub(super) example: Value,
}

impl ApiErrorResponse {
    /// Returns an error of the request.
    pub(super) fn user(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<Cow<'static, str>>,
    ) -> Self {
        // The router sets the command later, because a request may be rejected before its route is known.
        Self { status, command: "api", fault: ApiError::user(code, message, hint), shape: None }
    }

    /// Returns the error for an invalid query string.
    pub(super) fn bad_query(message: impl Into<String>, hint: impl Into<Cow<'static, str>>) -> Self {
        Self::user(StatusCode::BAD_REQUEST, "bad_query", message, hint)
    }

    /// Returns the error for a reached limit of the server.
    pub(super) fn busy(what: &str) -> Self {
        let fault = ApiError::environment("busy", what, "try again in a second");
        Self { status: StatusCode::SERVICE_UNAVAILABLE, command: "api", fault, shape: None }
    }

    /// Returns the error for a panic.
    pub(super) fn bug() -> Self {
        let fault = ApiError::environment(
            "bug",
            "internal error in slop",
            "this should not happen: please report it, with the log of the daemon (`slop daemon logs`)",
        );
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, command: "api", fault, shape: None }
    }

    /// Returns the response for an error of the service.
    pub(super) fn from_api_error(fault: ApiError) -> Self {
        Self { status: status(&fault), command: "api", fault, shape: None }
    }

    pub(super) const fn for_command(mut self, command: &'static str) -> Self {
        self.command = command;
        self
    }

    /// Returns the envelope on one line.
    pub(super) fn envelope(&self) -> String {
        self.to_json().to_string()
    }

    /// Returns the envelope as the last line after progress. It includes the status, because that of the response was
    /// sent before the error.
    pub(super) fn last_line(&self) -> String {
        let mut value = self.to_json();
        value["status"] = self.status.as_u16().into();
        format!("{value}\n")
    }

    fn to_json(&self) -> Value {
        let fault = &self.fault;
        let mut envelope = envelope_of_error(self.command, &fault.code, &fault.message, &fault.hint);
        if let Some(shape) = &self.shape {
            envelope["error"]["shape"] = json!(shape);
        }
        envelope
    }
}

/// Returns the status of an error, which may depend on its code.
fn status(fault: &ApiError) -> StatusCode {
    match (&*fault.code, fault.kind) {
        ("not_found", _) => StatusCode::NOT_FOUND,
        ("document_gone", _) => StatusCode::GONE,
        ("other_settings" | "other_protocol" | "other_version" | "revision_moved" | "table_moved", _) => {
            StatusCode::CONFLICT
        }
        // A bug counts as a failure of the environment for exit codes, but 503 would invite the client to retry.
        ("bug", _) => StatusCode::INTERNAL_SERVER_ERROR,
        (_, ApiErrorKind::User) => StatusCode::UNPROCESSABLE_ENTITY,
        (_, ApiErrorKind::Environment) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl IntoResponse for ApiErrorResponse {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.envelope() + "\n"));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match self.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                // One second, because connections and permits become free quickly.
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}

/// The most bytes of notes in a header: clients accept 8 KiB of headers or more.
const MAX_NOTES_BYTES: usize = 4 << 10;

/// An envelope without its data, which comes last.
#[derive(Serialize)]
struct EnvelopeHead<'a> {
    schema_version: u32,
    command: &'a str,
    #[serde(flatten)]
    freshness: &'a FreshnessNote,
    notes: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: &'a [MissingPath],
}

/// Returns the parts of the envelope before and after the data.
pub(super) fn envelope_parts(command: &str, answered: &EncodedAnswer) -> (Bytes, Bytes) {
    let EncodedAnswer { freshness, notes, missing, .. } = answered;
    let head = EnvelopeHead { schema_version: SCHEMA_VERSION, command, freshness, notes, missing };
    let mut head = serde_json::to_string(&head).expect("strings and numbers can be serialized");
    // The object is closed by hand, because serializing the data with the rest would copy it. A serialized struct ends
    // with its closing brace.
    head.truncate(head.len() - 1);
    head.push_str(",\"data\":");
    (head.into(), Bytes::from_static(b"}\n"))
}

/// Returns an answer in its envelope. The data, which may be many megabytes, is not copied.
pub(super) fn envelope_response(
    command: &str,
    answered: EncodedAnswer,
    content_type: &'static str,
) -> Response {
    let (head, tail) = envelope_parts(command, &answered);
    response_with_type(from_chunks([head, answered.data, tail]), content_type)
}

/// Returns data about the daemon itself, which has no freshness.
pub(super) fn plain_response(command: &str, data: &impl Serialize) -> Response {
    #[derive(Serialize)]
    struct PlainEnvelope<'a, T> {
        schema_version: u32,
        command: &'a str,
        data: &'a T,
    }
    let envelope = PlainEnvelope { schema_version: SCHEMA_VERSION, command, data };
    let text = serde_json::to_string(&envelope).expect("strings and numbers can be serialized");
    response_with_type(Body::from(text + "\n"), "application/json")
}

/// Returns only the text of a document, with its freshness in headers.
pub(super) fn document_response(answered: &EncodedAnswer) -> Result<Response, ApiErrorResponse> {
    #[derive(Deserialize)]
    struct Document<'a> {
        #[serde(borrow)]
        text: Option<Cow<'a, str>>,
    }
    let decoded =
        || serde_json::from_slice::<Document<'_>>(&answered.data).ok().and_then(|document| document.text);
    // Most documents come with their decoded text; decoding it from JSON would copy it.
    let text = answered.text.clone().or_else(|| decoded().map(|text| text.into_owned().into()));
    let Some(text) = text else {
        return Err(ApiErrorResponse::user(
            StatusCode::NOT_ACCEPTABLE,
            "not_acceptable",
            "no document in the answer to return as text/markdown",
            "accept application/json, or ask for a document in the format `markdown` and without `dry_run`",
        ));
    };
    let mut response = response_with_type(Body::from(text), "text/markdown; charset=utf-8");
    let note = &answered.freshness;
    let freshness = match note.freshness {
        FreshnessState::Fresh => "fresh",
        FreshnessState::Partial => "partial",
        FreshnessState::Stale => "stale",
    };
    response.headers_mut().insert("slop-freshness", HeaderValue::from_static(freshness));
    // A clock consists of digits and a colon, so it is always a valid header.
    let clock = note.clock.as_deref().and_then(|clock| HeaderValue::from_str(clock).ok());
    if let Some(clock) = clock {
        response.headers_mut().insert("slop-clock", clock);
    }
    if let Some(notes) = notes_header(&answered.notes) {
        response.headers_mut().insert("slop-notes", notes);
    }
    Ok(response)
}

/// Returns notes as a JSON array in ASCII; only the first ones if all are too long for a header.
fn notes_header(notes: &[String]) -> Option<HeaderValue> {
    let mut text = String::new();
    for note in notes {
        let quoted = Value::from(note.as_str()).to_string();
        let mut escaped = String::new();
        for character in quoted.chars() {
            if character.is_ascii() {
                escaped.push(character);
                continue;
            }
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        }
        if MAX_NOTES_BYTES < text.len() + escaped.len() {
            break;
        }
        text.push(if text.is_empty() { '[' } else { ',' });
        text.push_str(&escaped);
    }
    HeaderValue::from_str(&(text + "]")).ok().filter(|text| text.len() > 1)
}

pub(super) fn response_with_type(body: Body, content_type: &'static str) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Returns a body of several chunks, which avoids copying a large one between two small ones.
pub(super) fn from_chunks<const N: usize>(pieces: [Bytes; N]) -> Body {
    Body::new(ChunkedBody(pieces.into_iter().filter(|piece| !piece.is_empty()).collect()))
}

/// Returns a body with the messages of a channel, until its sender is dropped.
pub(super) fn from_channel(receiver: mpsc::Receiver<Bytes>) -> Body {
    Body::new(ChannelBody(receiver))
}

/// Returns a body that keeps a guard until it has been sent or dropped.
pub(super) fn with_guard(body: Body, kept: impl Send + Unpin + 'static) -> Body {
    Body::new(GuardedBody { body, _kept: kept })
}

struct ChunkedBody(VecDeque<Bytes>);

impl HttpBody for ChunkedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.pop_front().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    // With an exact size, hyper sends a `Content-Length`, with which the client allocates its buffer at once.
    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}

struct ChannelBody(mpsc::Receiver<Bytes>);

impl HttpBody for ChannelBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| Ok(Frame::data(piece))))
    }
}

struct GuardedBody<T> {
    body: Body,
    _kept: T,
}

impl<T: Unpin> HttpBody for GuardedBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_in_a_header_are_ascii_and_limited() {
        let notes = ["a \"note\"\n".to_owned(), "é 🙂".to_owned()];
        let text = notes_header(&notes).unwrap();
        assert_eq!(text, r#"["a \"note\"\n","\u00e9 \ud83d\ude42"]"#);
        assert_eq!(serde_json::from_slice::<Vec<String>>(text.as_bytes()).unwrap(), notes);
        assert_eq!(notes_header(&[]), None);
        assert_eq!(notes_header(&["n".repeat(3000), "n".repeat(3000)]).unwrap().len(), 3004);
    }
}
