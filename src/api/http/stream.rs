//! Long responses: the progress of a question, whose work is cancelled when the client disconnects, and changes as
//! server-sent events.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::limits::Timeouts;
use super::response::{
    ApiErrorResponse, envelope_parts, envelope_response, from_channel, response_with_type,
};
use crate::api::fault::ApiError;
use crate::api::feed::{Change, ClockPosition, FeedEvent, FeedEventKind, InvalidClock, Subscription};
use crate::api::service::{EncodedAnswer, QueryJob};

/// The media type of JSON lines.
pub(super) const LINES: &str = "application/x-ndjson";

/// A question that is answered on a thread of its own. Dropping it cancels the work.
pub(super) struct RunningQuery {
    pub(super) command: &'static str,
    pub(super) job: Arc<QueryJob>,
    pub(super) thread: JoinHandle<Result<EncodedAnswer, ApiError>>,
}

impl RunningQuery {
    pub(super) async fn finished(&mut self) -> Result<EncodedAnswer, ApiErrorResponse> {
        // A thread that cannot be joined has panicked; its message was already written to standard error.
        let answer =
            (&mut self.thread).await.map_err(|_| ApiErrorResponse::bug().for_command(self.command))?;
        answer.map_err(|fault| ApiErrorResponse::from_api_error(fault).for_command(self.command))
    }

    /// Answers in lines: progress, and finally the envelope.
    ///
    /// An immediate answer has its normal status.
    pub(super) async fn stream_lines(mut self, timeouts: Timeouts) -> Response {
        if let Ok(done) = tokio::time::timeout(timeouts.progress, self.finished()).await {
            return match done {
                Ok(answered) => envelope_response(self.command, answered, LINES),
                Err(refusal) => refusal.into_response(),
            };
        }
        // One line may be pending: a slow reader delays progress lines, but never the work itself.
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(self.send_progress(sender, timeouts));
        response_with_type(from_channel(receiver), LINES)
    }

    async fn send_progress(mut self, lines: mpsc::Sender<Bytes>, timeouts: Timeouts) {
        let (mut sent, mut sent_at) = (None, Instant::now());
        loop {
            let progress = self.job.progress();
            if sent != Some(progress) || timeouts.sign <= sent_at.elapsed() {
                let line = json!({"progress": {"done": progress.0, "total": progress.1}});
                if lines.send(format!("{line}\n").into()).await.is_err() {
                    return;
                }
                (sent, sent_at) = (Some(progress), Instant::now());
            }
            tokio::select! {
                done = self.finished() => return self.send_result(&lines, done).await,
                () = lines.closed() => return,
                () = tokio::time::sleep(timeouts.progress) => {}
            }
        }
    }

    async fn send_result(&self, lines: &mpsc::Sender<Bytes>, done: Result<EncodedAnswer, ApiErrorResponse>) {
        let pieces = match done {
            Ok(answered) => {
                let (head, tail) = envelope_parts(self.command, &answered);
                vec![head, answered.data, tail]
            }
            Err(refusal) => vec![refusal.last_line().into()],
        };
        for piece in pieces {
            // The client may be gone.
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

/// Returns the time until an instant, at most `most`.
pub(super) fn remaining(until: Option<Instant>, most: Duration) -> Duration {
    until.map_or(most, |until| until.saturating_duration_since(Instant::now()).min(most))
}

/// Events buffered for a slow reader, in addition to those in the feed: each may be large.
const WAITING: usize = 1;

/// The default minimum time between two events of a stream. Events in between are joined.
const EVENT_INTERVAL: Duration = Duration::from_millis(100);
/// The longest minimum that a client can request.
const LONGEST_INTERVAL: Duration = Duration::from_hours(1);

/// The query parameters of an event stream.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EventParameters {
    /// The position after which events are sent.
    since: Option<String>,
    limit: Option<u64>,
    wait_ms: Option<u64>,
    /// The minimum time between two events.
    every_ms: Option<u64>,
    /// The names of the kinds to send, separated by commas.
    kinds: Option<String>,
}

impl EventParameters {
    /// Returns the position after which to send events: that of the last received event, else that of the query.
    pub(super) fn position(&self, headers: &HeaderMap) -> Result<Option<ClockPosition>, ApiErrorResponse> {
        // A client that resumes a stream repeats the address of its first request, with an old `since`, so the header
        // takes precedence. It is empty if no event has been received yet.
        let last = headers.get("last-event-id").filter(|value| !value.is_empty());
        let last = last.map(|value| value.to_str().unwrap_or_default());
        let since = self.since.as_deref().map(position).transpose()?;
        Ok(last.map(position).transpose()?.or(since))
    }

    /// Returns the minimum time between two events.
    fn interval(&self) -> Duration {
        Duration::from_millis(self.every_ms.unwrap_or_default()).clamp(EVENT_INTERVAL, LONGEST_INTERVAL)
    }

    /// Returns the requested kinds; `None` for all.
    pub(super) fn kinds(&self) -> Result<Option<Vec<FeedEventKind>>, ApiErrorResponse> {
        let kinds = self.kinds.as_ref().map(|kinds| kinds.split(',').map(event_kind).collect());
        kinds.transpose()
    }
}

fn event_kind(name: &str) -> Result<FeedEventKind, ApiErrorResponse> {
    FeedEventKind::parse(name).ok_or_else(|| {
        let hint = "GET /v1/openapi.json lists the kinds of events";
        ApiErrorResponse::bad_query("not a kind of event", hint)
    })
}

fn position(text: &str) -> Result<ClockPosition, ApiErrorResponse> {
    text.parse().map_err(|error: InvalidClock| {
        let hint = "give the `id` of an event, or the `clock` of an answer";
        ApiErrorResponse::bad_query(error.to_string(), hint)
    })
}

pub(super) struct EventStream {
    pub(super) subscription: Subscription,
    pub(super) query: EventParameters,
    /// The requested kinds; `None` for all.
    pub(super) kinds: Option<Vec<FeedEventKind>>,
    pub(super) timeouts: Timeouts,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) permit: OwnedSemaphorePermit,
}

impl EventStream {
    /// Returns a streaming response that ends at its limit, when the client disconnects, or when the server stops.
    pub(super) fn start(self) -> Response {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(self.run(sender));
        response_with_type(from_channel(receiver), "text/event-stream")
    }

    async fn run(mut self, stream: mpsc::Sender<Bytes>) {
        // The client chooses the number, so a time beyond the range of the clock means no end.
        let until =
            self.query.wait_ms.and_then(|wait| Instant::now().checked_add(Duration::from_millis(wait)));
        let mut left = self.query.limit;
        let (mut not_before, interval) = (Instant::now(), self.query.interval());
        // The first bytes guarantee the client that no later event is missed.
        let mut piece = Bytes::from_static(b": watching\n\n");
        loop {
            if stream.send(piece).await.is_err() || left == Some(0) {
                break;
            }
            let pause = remaining(until, self.timeouts.heartbeat);
            tokio::select! {
                event = next_event(&mut self.subscription, self.kinds.as_deref(), not_before) => {
                    let Some(event) = event else { break };
                    not_before = Instant::now() + interval;
                    left = left.map(|left| left - 1);
                    piece = encode_event(&event);
                }
                () = stream.closed() => break,
                _ = self.stopping.wait_for(|stopping| *stopping) => break,
                () = tokio::time::sleep(pause) => {
                    if until.is_some_and(|until| until <= Instant::now()) {
                        break;
                    }
                    piece = Bytes::from_static(b":\n\n");
                }
            }
        }
        // A stream counts toward the limit until it ends, however it ends.
        drop(self.permit);
    }
}

/// Waits until another event may be sent, and then for the event.
///
/// Nothing is read from the subscription before that, so no event is lost if the future is dropped while waiting.
async fn next_event(
    subscription: &mut Subscription,
    kinds: Option<&[FeedEventKind]>,
    not_before: Instant,
) -> Option<Arc<FeedEvent>> {
    tokio::time::sleep_until(not_before).await;
    subscription.next_joined(kinds).await
}

#[derive(Serialize)]
struct EventPayload<'a> {
    clock: String,
    changes: &'a [Change],
}

fn encode_event(event: &FeedEvent) -> Bytes {
    let clock = event.clock.to_string();
    let data = EventPayload { clock: clock.clone(), changes: &event.changes };
    let data = serde_json::to_string(&data).expect("strings and numbers always become JSON");
    format!("id: {clock}\nevent: {}\ndata: {data}\n\n", event.kind.name()).into()
}
