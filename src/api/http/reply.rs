//! Answers in their envelope.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

use super::body;
use super::refusal::ApiErrorResponse;
use crate::api::service::EncodedAnswer;
use crate::api::wire::{FreshnessNote, FreshnessState, MissingPath, SCHEMA_VERSION};

/// All of an envelope but the data, which comes last.
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
    let mut head = serde_json::to_string(&head).expect("strings and numbers always become JSON");
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
    response_with_type(body::from_chunks([head, answered.data, tail]), content_type)
}

/// Returns data that is not out of the project.
pub(super) fn plain_response(command: &str, data: &impl Serialize) -> Response {
    #[derive(Serialize)]
    struct PlainEnvelope<'a, T> {
        schema_version: u32,
        command: &'a str,
        data: &'a T,
    }
    let envelope = PlainEnvelope { schema_version: SCHEMA_VERSION, command, data };
    let text = serde_json::to_string(&envelope).expect("strings and numbers always become JSON");
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
    let clock = note.clock.as_deref().and_then(|clock| HeaderValue::from_str(clock).ok());
    if let Some(clock) = clock {
        response.headers_mut().insert("slop-clock", clock);
    }
    Ok(response)
}

/// Returns a response of a type of content.
pub(super) fn response_with_type(body: Body, content_type: &'static str) -> Response {
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}
