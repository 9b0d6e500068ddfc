//! What the transports see of a daemon: questions go to the loop as events, and come back answered.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::SyncSender;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::event::DaemonEvent;
use super::event::PendingQuery;
use crate::api::AnyQuery;
use crate::api::ApiError;
use crate::api::CallOptions;
use crate::api::ClockPosition;
use crate::api::DaemonControl;
use crate::api::DaemonStatus;
use crate::api::Delivery;
use crate::api::Feed;
use crate::api::Receiver;
use crate::api::Service;
use crate::api::Subscription;

/// How long the loop may take to say how it is.
const STATUS_TIMEOUT: Duration = Duration::from_secs(1);
/// How often it is looked whether somebody still waits for an answer.
const CANCEL_POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The daemon, as seen from a socket.
pub(super) struct ServiceHandle {
    pub(super) events: SyncSender<DaemonEvent>,
    pub(super) feed: Arc<Feed>,
    /// What the loop said last of itself.
    pub(super) last_status: Mutex<DaemonStatus>,
    /// Of the settings that the last answer was made by.
    pub(super) fingerprint: Arc<Mutex<String>>,
}

impl Service for ServiceHandle {
    fn answer(&self, query: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        let (reply, answer) = sync_channel(1);
        let question = PendingQuery { query, call: call.clone(), reply };
        if self.events.send(DaemonEvent::QueryReceived(question)).is_err() {
            return Err(stopping_error());
        }
        loop {
            match answer.recv_timeout(CANCEL_POLL_INTERVAL) {
                // Given up although somebody waits: the daemon is about to end.
                Ok(Err(fault)) if fault.code == "cancelled" && !call.job.is_cancelled() => {
                    return Err(stopping_error());
                }
                Ok(answer) => {
                    let _: Delivery = receive(answer?);
                    return Ok(());
                }
                Err(RecvTimeoutError::Disconnected) => return Err(stopping_error()),
                // A worker gives up a cancelled job by itself; one that is still in the queue need not be waited for.
                Err(RecvTimeoutError::Timeout) if call.job.is_cancelled() => return Err(cancelled_error()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl DaemonControl for ServiceHandle {
    fn status(&self) -> DaemonStatus {
        let (reply, status) = sync_channel(1);
        // A queue that is full says enough of how the loop is.
        let asked = self.events.try_send(DaemonEvent::StatusRequested(reply));
        let fresh = asked.ok().and_then(|()| status.recv_timeout(STATUS_TIMEOUT).ok());
        let mut last = self.last_status.lock().unwrap_or_else(PoisonError::into_inner);
        match fresh {
            Some(fresh) => *last = fresh,
            // Whoever asks should see that the loop does not turn.
            None => last.lag_ms = u64::try_from(STATUS_TIMEOUT.as_millis()).unwrap_or(u64::MAX),
        }
        last.clone()
    }

    fn subscribe(&self, since: Option<ClockPosition>) -> Subscription {
        self.feed.subscribe(since)
    }

    fn stop(&self) {
        let _ = self.events.send(DaemonEvent::Stop("it was asked to"));
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(super) fn stopping_error() -> ApiError {
    let message = "ask a daemon that is about to end".to_owned();
    ApiError::environment("stopping", message, "ask again: without a daemon each command answers by itself")
}

pub(super) fn cancelled_error() -> ApiError {
    let message = "answer a question that nobody waits for any more".to_owned();
    ApiError::environment("cancelled", message, "ask again")
}
