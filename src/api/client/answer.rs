//! What a daemon answers, taken out of lines and envelopes.

use std::time::Duration;

use bytes::Bytes;
use bytes::BytesMut;
use http_body_util::BodyExt;
use hyper::body::Body;
use hyper::body::Incoming;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::ClientError;
use super::error::Unreachable;
use super::error::broken;
use crate::api::fault::Fault;
use crate::api::fault::Kind;
use crate::api::service::Answered;
use crate::api::service::FreshnessNote;
use crate::api::service::FreshnessState;

/// How long a daemon may be silent: at work it says so each second.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// Bytes of an answer that room is made for before they come.
const AHEAD: usize = 64 << 20;

/// What a line of progress begins with, as no envelope does.
const PROGRESS: &[u8] = b"{\"progress\":";

/// Reads a body to its end, but for the lines of progress at its beginning, which are told.
pub(super) async fn whole(
    body: &mut Incoming,
    progress: &mut Option<&mut dyn FnMut(usize, usize)>,
) -> Result<Bytes, Unreachable> {
    let expected = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let mut read = BytesMut::with_capacity(expected.min(AHEAD));
    loop {
        let frame = tokio::time::timeout(SILENCE, body.frame()).await;
        let Some(frame) = frame.map_err(|_| Unreachable::Silent(SILENCE))? else { break };
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        read.extend_from_slice(&data);
        while read.starts_with(PROGRESS) {
            let Some(end) = memchr::memchr(b'\n', &read) else { break };
            tell(&read.split_to(end + 1), progress);
        }
    }
    Ok(read.freeze())
}

fn tell(line: &[u8], progress: &mut Option<&mut dyn FnMut(usize, usize)>) {
    #[derive(Deserialize)]
    struct Line {
        progress: Done,
    }
    #[derive(Deserialize)]
    struct Done {
        done: usize,
        total: usize,
    }
    if let (Some(progress), Ok(line)) = (progress, serde_json::from_slice::<Line>(line)) {
        progress(line.progress.done, line.progress.total);
    }
}

/// Takes an answer out of its envelope. Its data stays where it is.
pub(super) fn answered(status: u16, body: &Bytes) -> Result<Answered, ClientError> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        freshness: FreshnessState,
        reason: Option<String>,
        clock: Option<String>,
        as_of_ms: i64,
        pending: u64,
        notes: Vec<String>,
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(body) else {
        return Err(fault_of(status, body));
    };
    Ok(Answered {
        freshness: FreshnessNote {
            freshness: envelope.freshness,
            reason: envelope.reason,
            clock: envelope.clock,
            as_of_ms: envelope.as_of_ms,
            pending: envelope.pending,
        },
        notes: envelope.notes,
        data: body.slice_ref(envelope.data.get().as_bytes()),
        text: None,
    })
}

/// Returns the data of an envelope of the daemon's own.
pub(super) fn understood<T: for<'a> Deserialize<'a>>(status: u16, body: &[u8]) -> Result<T, ClientError> {
    #[derive(Deserialize)]
    struct Envelope<T> {
        data: T,
    }
    let envelope = serde_json::from_slice::<Envelope<T>>(body);
    envelope.map(|envelope| envelope.data).map_err(|_| fault_of(status, body))
}

/// Returns the fault that a daemon tells, or that it tells none.
fn fault_of(status: u16, body: &[u8]) -> ClientError {
    #[derive(Deserialize)]
    struct Envelope {
        error: Told,
        /// Behind lines of progress the response's own status was told before there was a fault.
        status: Option<u16>,
    }
    #[derive(Deserialize)]
    struct Told {
        code: String,
        message: String,
        hint: String,
    }
    match serde_json::from_slice::<Envelope>(body) {
        Ok(Envelope { error: Told { code, message, hint }, status: told }) => {
            let is_environment = 500 <= told.unwrap_or(status);
            let kind = if is_environment { Kind::Environment } else { Kind::User };
            ClientError::Fault(Fault { code: code.into(), message, hint: hint.into(), kind })
        }
        Err(error) => ClientError::NotUnderstood(format!("status {status}, {error}")),
    }
}
