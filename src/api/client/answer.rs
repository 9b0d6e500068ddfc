//! What a daemon answers, taken out of lines and envelopes.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::{ClientError, ConnectError, io_error};
use crate::api::fault::{ApiError, ApiErrorKind};
use crate::api::query::Payload;
use crate::api::service::{CallOptions, QueryJob, ServiceAnswer};
use crate::api::wire::{FreshnessNote, FreshnessState, MissingPath};

/// How long a daemon may be silent: at work it says so each second.
pub(super) const MAX_SILENCE: Duration = Duration::from_secs(5);

/// Bytes of an answer that room is made for before they come.
const MAX_PREALLOCATED: usize = 64 << 20;

/// What a line of progress begins with, as no envelope does.
const PROGRESS: &[u8] = b"{\"progress\":";

/// Reads a body to its end. Lines of progress at its beginning are recorded in the job.
pub(super) async fn read_body(body: &mut Incoming, job: &QueryJob) -> Result<Bytes, ConnectError> {
    let expected = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let mut read = BytesMut::with_capacity(expected.min(MAX_PREALLOCATED));
    loop {
        let frame = tokio::time::timeout(MAX_SILENCE, body.frame()).await;
        let Some(frame) = frame.map_err(|_| ConnectError::Silent(MAX_SILENCE))? else { break };
        let Ok(data) = frame.map_err(io_error)?.into_data() else { continue };
        read.extend_from_slice(&data);
        while read.starts_with(PROGRESS) {
            let Some(end) = memchr::memchr(b'\n', &read) else { break };
            report_progress(&read.split_to(end + 1), job);
        }
    }
    Ok(read.freeze())
}

fn report_progress(line: &[u8], job: &QueryJob) {
    #[derive(Deserialize)]
    struct ProgressLine {
        progress: ProgressCount,
    }
    #[derive(Deserialize)]
    struct ProgressCount {
        done: usize,
        total: usize,
    }
    if let Ok(line) = serde_json::from_slice::<ProgressLine>(line) {
        job.set_progress(line.progress.done, line.progress.total);
    }
}

/// Takes an answer out of its envelope. Its data stays where it is.
pub(super) fn parse_answer(
    status: u16,
    body: &Bytes,
    call: &CallOptions,
) -> Result<ServiceAnswer, ClientError> {
    #[derive(Deserialize)]
    struct AnswerEnvelope<'a> {
        freshness: FreshnessState,
        reason: Option<String>,
        clock: Option<String>,
        as_of_ms: i64,
        pending: u64,
        notes: Vec<String>,
        #[serde(default)]
        missing: Vec<MissingPath>,
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let Ok(envelope) = serde_json::from_slice::<AnswerEnvelope<'_>>(body) else {
        return Err(parse_error(status, body));
    };
    envelope.notes.into_iter().for_each(|note| call.job.note(note));
    Ok(ServiceAnswer {
        freshness: FreshnessNote {
            freshness: envelope.freshness,
            reason: envelope.reason,
            clock: envelope.clock,
            as_of_ms: envelope.as_of_ms,
            pending: envelope.pending,
        },
        missing: envelope.missing,
        payload: Payload::Json(body.slice_ref(envelope.data.get().as_bytes())),
    })
}

/// Returns the data of an envelope of the daemon's own.
pub(super) fn parse_data<T: for<'a> Deserialize<'a>>(status: u16, body: &[u8]) -> Result<T, ClientError> {
    #[derive(Deserialize)]
    struct DataEnvelope<T> {
        data: T,
    }
    let envelope = serde_json::from_slice::<DataEnvelope<T>>(body);
    envelope.map(|envelope| envelope.data).map_err(|_| parse_error(status, body))
}

/// Returns the error that a daemon sent, or one that its response cannot be read.
fn parse_error(status: u16, body: &[u8]) -> ClientError {
    #[derive(Deserialize)]
    struct ErrorEnvelope {
        error: DaemonErrorBody,
        /// The status of the error: after lines of progress, the response's own status was sent before the error.
        status: Option<u16>,
    }
    #[derive(Deserialize)]
    struct DaemonErrorBody {
        code: String,
        message: String,
        hint: String,
    }
    match serde_json::from_slice::<ErrorEnvelope>(body) {
        Ok(ErrorEnvelope { error: DaemonErrorBody { code, message, hint }, status: reported }) => {
            let is_environment = 500 <= reported.unwrap_or(status);
            let kind = if is_environment { ApiErrorKind::Environment } else { ApiErrorKind::User };
            ClientError::Fault(ApiError { code: code.into(), message, hint: hint.into(), kind })
        }
        Err(error) => ClientError::NotUnderstood(format!("status {status}, {error}")),
    }
}
