//! What the transports see of a daemon: questions go to the loop as events, and come back answered.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::SyncSender;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

use super::event::Event;
use super::event::Question;
use crate::api::Answered;
use crate::api::Ask;
use crate::api::Call;
use crate::api::DaemonStatus;
use crate::api::Fault;
use crate::api::Feed;
use crate::api::Keeper;
use crate::api::Position;
use crate::api::Service;
use crate::api::Subscription;

/// How long the loop may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often it is looked whether somebody still waits for an answer.
const LOOK: Duration = Duration::from_secs(1);

/// The daemon, as seen from a socket.
pub(super) struct Front {
    pub(super) events: SyncSender<Event>,
    pub(super) feed: Arc<Feed>,
    /// What the loop said last of itself.
    pub(super) last: Mutex<DaemonStatus>,
    /// Of the settings that the last answer was made by.
    pub(super) fingerprint: Arc<Mutex<String>>,
}

impl Service for Front {
    fn ask(&self, ask: Ask, call: &Call) -> Result<Answered, Fault> {
        let (reply, answer) = sync_channel(1);
        let question = Question { ask, call: call.clone(), reply };
        if self.events.send(Event::Asked(question)).is_err() {
            return Err(stopping());
        }
        loop {
            match answer.recv_timeout(LOOK) {
                // Given up although somebody waits: the daemon is about to end.
                Ok(Err(fault)) if fault.code == "cancelled" && !call.job.is_cancelled() => {
                    return Err(stopping());
                }
                Ok(answer) => return answer,
                Err(RecvTimeoutError::Disconnected) => return Err(stopping()),
                // A worker gives up a cancelled job by itself; one that is still in the queue need not be waited for.
                Err(RecvTimeoutError::Timeout) if call.job.is_cancelled() => return Err(cancelled()),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

impl Keeper for Front {
    fn status(&self) -> DaemonStatus {
        let (reply, status) = sync_channel(1);
        // A queue that is full says enough of how the loop is.
        let asked = self.events.try_send(Event::Status(reply));
        let fresh = asked.ok().and_then(|()| status.recv_timeout(PATIENCE).ok());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match fresh {
            Some(fresh) => *last = fresh,
            // Whoever asks should see that the loop does not turn.
            None => last.lag_ms = u64::try_from(PATIENCE.as_millis()).unwrap_or(u64::MAX),
        }
        last.clone()
    }

    fn subscribe(&self, since: Option<Position>) -> Subscription {
        self.feed.subscribe(since)
    }

    fn stop(&self) {
        let _ = self.events.send(Event::Stop("it was asked to"));
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

pub(super) fn stopping() -> Fault {
    let message = "ask a daemon that is about to end".to_owned();
    Fault::environment("stopping", message, "ask again: without a daemon each command answers by itself")
}

pub(super) fn cancelled() -> Fault {
    let message = "answer a question that nobody waits for any more".to_owned();
    Fault::environment("cancelled", message, "ask again")
}
