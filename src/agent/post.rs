//! Requests about batches: sent once, without the provider gate, because there are only a few a day.

use std::time::Duration;

use super::AgentWorld;
use super::StopReason;
use super::hush;
use crate::llm::CallFailure;
use crate::llm::FailureClass;
use crate::llm::Model;
use crate::model::HttpError;
use crate::model::HttpRequest;
use crate::model::HttpResponse;
use crate::sys::HttpLimits;

/// Uploading thousands of prompts takes a while, and so does downloading their results.
const TIMEOUT: Duration = Duration::from_mins(10);
/// The most bytes of a response: the results of thousands of tasks.
const MOST_BYTES: usize = 64 << 20;

/// Why a request about a batch has no result.
#[derive(Debug)]
pub(super) enum BatchHttpError {
    /// The provider did not execute it.
    Refused { class: FailureClass, message: String },
    /// The provider may have executed it.
    Unknown { message: String },
    /// The caller stopped it.
    Stopped,
}

impl BatchHttpError {
    /// Returns the reason for which a run ends.
    pub(super) fn into_stop_reason(self, model: &Model) -> StopReason {
        let provider = model.provider.name.clone();
        match self {
            Self::Refused {
                class: class @ (FailureClass::Money | FailureClass::Auth | FailureClass::Settings),
                message: words,
            } => StopReason::Account { provider, class, message: words },
            Self::Refused { message: words, .. } | Self::Unknown { message: words } => {
                StopReason::Unreachable { provider, message: words, retry_in: Duration::from_mins(1) }
            }
            Self::Stopped => StopReason::Interrupted,
        }
    }
}

/// Sends a request and decodes the response.
pub(super) fn send_batch_request<T>(
    windows: &AgentWorld<'_>,
    request: &HttpRequest,
    is_stopped: &(dyn Fn() -> bool + Sync),
    decode: impl FnOnce(&HttpResponse, i64) -> Result<T, CallFailure>,
) -> Result<T, BatchHttpError> {
    let limits = HttpLimits {
        connect: Duration::from_secs(5),
        idle: Duration::from_mins(1),
        total: TIMEOUT,
        body_bytes: MOST_BYTES,
    };
    let response =
        hush::send_scrubbed(windows, request, &limits, is_stopped).map_err(|error| match error {
            HttpError::Stopped => BatchHttpError::Stopped,
            error if error.is_unsent() => {
                BatchHttpError::Refused { class: FailureClass::Overload, message: error.to_string() }
            }
            error => BatchHttpError::Unknown { message: error.to_string() },
        })?;
    decode(&response, windows.now_ms()).map_err(|refusal| match refusal.tokens {
        None => BatchHttpError::Refused { class: refusal.class, message: refusal.message },
        // A success status without the expected content.
        Some(_) => BatchHttpError::Unknown { message: refusal.message },
    })
}
