//! What changes, as server-sent events.

use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};
use tokio::time::Instant;

use super::limits::Timeouts;
use super::refusal::ApiErrorResponse;
use super::{body, progress, reply};
use axum::http::StatusCode;

use crate::api::feed::{Change, ClockPosition, FeedEvent, InvalidClock, Subscription};

/// Events buffered for a slow reader, in addition to those in the feed: each may be large.
const WAITING: usize = 1;

/// From where on, and how long, events are wanted.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EventParameters {
    /// The position after which.
    since: Option<String>,
    /// So many at most.
    limit: Option<u64>,
    /// So long at most.
    wait_ms: Option<u64>,
}

impl EventParameters {
    /// Returns the position after which events are wanted: where a stream was broken off, else as asked for. Whoever
    /// takes a broken stream up again asks at the same address as before.
    pub(super) fn position(&self, headers: &HeaderMap) -> Result<Option<ClockPosition>, ApiErrorResponse> {
        // It is empty if no event has been received yet.
        let last = headers.get("last-event-id").filter(|value| !value.is_empty());
        let last = last.map(|value| value.to_str().unwrap_or_default());
        let since = self.since.as_deref().map(position).transpose()?;
        Ok(last.map(position).transpose()?.or(since))
    }
}

fn position(text: &str) -> Result<ClockPosition, ApiErrorResponse> {
    text.parse().map_err(|error: InvalidClock| {
        let hint = "give the `id` of an event, or the `clock` of an answer";
        ApiErrorResponse::user(StatusCode::BAD_REQUEST, "bad_query", error.to_string(), hint)
    })
}

/// A stream of events to one client.
pub(super) struct EventStream {
    pub(super) subscription: Subscription,
    pub(super) query: EventParameters,
    pub(super) patience: Timeouts,
    pub(super) stopping: watch::Receiver<bool>,
    pub(super) permit: OwnedSemaphorePermit,
}

impl EventStream {
    /// Returns a streaming response that ends at its limit, when the client disconnects, or when the server stops.
    pub(super) fn start(self) -> Response {
        let (sender, receiver) = mpsc::channel(WAITING);
        tokio::spawn(self.run(sender));
        reply::response_with_type(body::from_channel(receiver), "text/event-stream")
    }

    async fn run(mut self, stream: mpsc::Sender<Bytes>) {
        let until =
            self.query.wait_ms.and_then(|wait| Instant::now().checked_add(Duration::from_millis(wait)));
        let mut left = self.query.limit;
        // The first bytes say that from now on nothing is missed.
        let mut piece = Bytes::from_static(b": watching\n\n");
        loop {
            if stream.send(piece).await.is_err() || left == Some(0) {
                break;
            }
            let pause = progress::remaining(until, self.patience.heartbeat);
            tokio::select! {
                event = self.subscription.next() => {
                    let Some(event) = event else { break };
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
        drop(self.permit);
    }
}

/// The data of an event.
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
