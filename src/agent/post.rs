//! Requests about batches: sent once, without the doors, for there are a handful a day.

use std::time::Duration;

use super::Why;
use super::Windows;
use super::hush;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Refusal;
use crate::model::WebError;
use crate::model::WebRequest;
use crate::model::WebResponse;
use crate::sys::WebLimits;

/// Thousands of questions take a while to be sent, and their answers to be fetched.
const TIMEOUT: Duration = Duration::from_mins(10);
/// The most bytes of an answer: that of thousands of questions.
const MOST_BYTES: usize = 64 << 20;

/// There is no answer to a request about a batch.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The provider did not do it.
    Refused { class: Class, words: String },
    /// It may have.
    Unknown { words: String },
    /// Nobody waited.
    Stopped,
}

impl Trouble {
    /// Says why a run ends for it.
    pub(super) fn why(self, model: &Model) -> Why {
        let provider = model.provider.name.clone();
        match self {
            Self::Refused { class: class @ (Class::Money | Class::Auth | Class::Settings), words } => {
                Why::Account { provider, class, words }
            }
            Self::Refused { words, .. } | Self::Unknown { words } => {
                Why::Down { provider, words, retry_in: Duration::from_mins(1) }
            }
            Self::Stopped => Why::Interrupted,
        }
    }
}

/// Sends a request and reads what comes back.
pub(super) fn ask<T>(
    windows: &Windows<'_>,
    request: &WebRequest,
    is_stopped: &(dyn Fn() -> bool + Sync),
    decode: impl FnOnce(&WebResponse, i64) -> Result<T, Refusal>,
) -> Result<T, Trouble> {
    let limits = WebLimits {
        connect: Duration::from_secs(5),
        idle: Duration::from_mins(1),
        total: TIMEOUT,
        body_bytes: MOST_BYTES,
    };
    let response = hush::send(windows, request, &limits, is_stopped).map_err(|error| match error {
        WebError::Stopped => Trouble::Stopped,
        error if error.is_unsent() => Trouble::Refused { class: Class::Overload, words: error.to_string() },
        error => Trouble::Unknown { words: error.to_string() },
    })?;
    decode(&response, windows.now_ms()).map_err(|refusal| match refusal.tokens {
        None => Trouble::Refused { class: refusal.class, words: refusal.words },
        // A good status, and nothing in it that says what was done.
        Some(_) => Trouble::Unknown { words: refusal.words },
    })
}
