//! An ask at work: who waits for it is told how far it is, and it is told when nobody waits any more.

use std::sync::Arc;
use std::time::Duration;

use axum::response::IntoResponse;
use axum::response::Response;
use bytes::Bytes;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::body;
use super::limits::Patience;
use super::refusal::Refusal;
use super::reply;
use crate::api::fault::Fault;
use crate::api::service::Answered;
use crate::api::service::Job;

/// The type of lines of JSON.
pub(super) const LINES: &str = "application/x-ndjson";

/// An ask on a thread of its own. To drop it is to say that nobody waits.
pub(super) struct Work {
    pub(super) command: &'static str,
    pub(super) job: Arc<Job>,
    pub(super) thread: JoinHandle<Result<Answered, Fault>>,
}

impl Work {
    /// Waits for the answer.
    pub(super) async fn done(&mut self) -> Result<Answered, Refusal> {
        // A thread that did not come back panicked; its message is on the standard error already.
        let answer = (&mut self.thread).await.map_err(|_| Refusal::bug().of(self.command))?;
        answer.map_err(|fault| Refusal::fault(fault).of(self.command))
    }

    /// Answers in lines: how far the work is, and last the envelope.
    ///
    /// An answer that is there at once has the status that it would have alone.
    pub(super) async fn in_lines(mut self, patience: Patience) -> Response {
        if let Ok(done) = tokio::time::timeout(patience.progress, self.done()).await {
            return match done {
                Ok(answered) => reply::answered(self.command, answered, LINES),
                Err(refusal) => refusal.into_response(),
            };
        }
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(self.tell(sender, patience));
        reply::with_type(body::channel(receiver), LINES)
    }

    async fn tell(mut self, lines: mpsc::Sender<Bytes>, patience: Patience) {
        let (mut told, mut told_at) = (None, Instant::now());
        loop {
            let progress = self.job.progress();
            if told != Some(progress) || patience.sign <= told_at.elapsed() {
                let line = json!({"progress": {"done": progress.0, "total": progress.1}});
                if lines.send(format!("{line}\n").into()).await.is_err() {
                    return;
                }
                (told, told_at) = (Some(progress), Instant::now());
            }
            tokio::select! {
                done = self.done() => return self.tell_last(&lines, done).await,
                () = lines.closed() => return,
                () = tokio::time::sleep(patience.progress) => {}
            }
        }
    }

    async fn tell_last(&self, lines: &mpsc::Sender<Bytes>, done: Result<Answered, Refusal>) {
        let pieces = match done {
            Ok(answered) => {
                let (head, tail) = reply::around(self.command, &answered);
                vec![head, answered.data, tail]
            }
            Err(refusal) => vec![refusal.last_line().into()],
        };
        for piece in pieces {
            // Nobody may wait for it any more.
            if lines.send(piece).await.is_err() {
                return;
            }
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.job.cancel();
    }
}

/// Returns how long is left until an instant, and at most `most`.
pub(super) fn left(until: Option<Instant>, most: Duration) -> Duration {
    until.map_or(most, |until| until.saturating_duration_since(Instant::now()).min(most))
}
