//! A question that is being answered: its progress is streamed, and it is cancelled when the client disconnects.

use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::limits::Timeouts;
use super::refusal::ApiErrorResponse;
use super::{body, reply};
use crate::api::fault::ApiError;
use crate::api::service::{EncodedAnswer, QueryJob};

/// The type of lines of JSON.
pub(super) const LINES: &str = "application/x-ndjson";

/// A question that is answered on a thread of its own. Dropping it cancels the work.
pub(super) struct RunningQuery {
    pub(super) command: &'static str,
    pub(super) job: Arc<QueryJob>,
    pub(super) thread: JoinHandle<Result<EncodedAnswer, ApiError>>,
}

impl RunningQuery {
    /// Waits for the answer.
    pub(super) async fn finished(&mut self) -> Result<EncodedAnswer, ApiErrorResponse> {
        // A thread that cannot be joined has panicked; its message is on standard error already.
        let answer =
            (&mut self.thread).await.map_err(|_| ApiErrorResponse::bug().for_command(self.command))?;
        answer.map_err(|fault| ApiErrorResponse::from_api_error(fault).for_command(self.command))
    }

    /// Answers in lines: how far the work is, and last the envelope.
    ///
    /// An answer that is there at once has the status that it would have alone.
    pub(super) async fn stream_lines(mut self, patience: Timeouts) -> Response {
        if let Ok(done) = tokio::time::timeout(patience.progress, self.finished()).await {
            return match done {
                Ok(answered) => reply::envelope_response(self.command, answered, LINES),
                Err(refusal) => refusal.into_response(),
            };
        }
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(self.send_progress(sender, patience));
        reply::response_with_type(body::from_channel(receiver), LINES)
    }

    async fn send_progress(mut self, lines: mpsc::Sender<Bytes>, patience: Timeouts) {
        let (mut sent, mut sent_at) = (None, Instant::now());
        loop {
            let progress = self.job.progress();
            if sent != Some(progress) || patience.sign <= sent_at.elapsed() {
                let line = json!({"progress": {"done": progress.0, "total": progress.1}});
                if lines.send(format!("{line}\n").into()).await.is_err() {
                    return;
                }
                (sent, sent_at) = (Some(progress), Instant::now());
            }
            tokio::select! {
                done = self.finished() => return self.send_result(&lines, done).await,
                () = lines.closed() => return,
                () = tokio::time::sleep(patience.progress) => {}
            }
        }
    }

    async fn send_result(&self, lines: &mpsc::Sender<Bytes>, done: Result<EncodedAnswer, ApiErrorResponse>) {
        let pieces = match done {
            Ok(answered) => {
                let (head, tail) = reply::envelope_parts(self.command, &answered);
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

impl Drop for RunningQuery {
    fn drop(&mut self) {
        self.job.cancel();
    }
}

/// Returns how long is left until an instant, and at most `most`.
pub(super) fn remaining(until: Option<Instant>, most: Duration) -> Duration {
    until.map_or(most, |until| until.saturating_duration_since(Instant::now()).min(most))
}
