//! Answers questions on separate threads, with progress and cancellation.

use std::convert::Infallible;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::service::RequestContext;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinError;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::agent_hints::{error_for_agents, with_tools};
use super::show::shorten;
use crate::api::fault::ApiError;
use crate::api::query::Query;
use crate::api::service::{CallOptions, QueryJob, Service, ServiceAnswer, ask};
use crate::api::wire::{FreshnessNote, MissingPath};

/// The number of questions that are answered simultaneously for one client; others wait.
// An agent may send many calls at once, and without a daemon each reads files on all cores.
pub(super) const MAX_CONCURRENT: u32 = 4;

/// How often progress is checked.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

#[derive(Clone)]
pub(super) struct QueryRunner {
    service: Arc<dyn Service>,
    permits: Arc<Semaphore>,
    /// Whether an answer that may not be fresh is an error.
    require_fresh: bool,
}

/// What accompanies an answer: its freshness, missing paths and notes.
pub(super) struct AnswerInfo {
    pub(super) freshness: FreshnessNote,
    pub(super) missing: Vec<MissingPath>,
    pub(super) notes: Vec<String>,
}

/// The work for one call: its cancellation and progress.
#[derive(Debug, Clone)]
pub(super) struct CallWork {
    pub(super) cancelled: CancellationToken,
    progress: watch::Sender<WorkProgress>,
}

/// The number of files read, and the total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct WorkProgress {
    pub(super) done: usize,
    pub(super) total: usize,
}

impl CallWork {
    pub(super) fn new(cancelled: CancellationToken) -> Self {
        Self { cancelled, progress: watch::Sender::default() }
    }

    /// Subscribes to the progress.
    pub(super) fn progress(&self) -> watch::Receiver<WorkProgress> {
        self.progress.subscribe()
    }
}

impl QueryRunner {
    /// Returns a runner that answers as many questions simultaneously as there are permits.
    pub(super) const fn new(service: Arc<dyn Service>, permits: Arc<Semaphore>, require_fresh: bool) -> Self {
        Self { service, permits, require_fresh }
    }

    /// Answers a question. Cancelling the work cancels its job, and the permit is released when the job has ended.
    pub(super) async fn ask<Q: Query + Send + 'static>(
        &self,
        query: Q,
        call_work: &CallWork,
    ) -> Result<(Q::Answer, AnswerInfo), ApiError> {
        let permit = tokio::select! {
            permit = Arc::clone(&self.permits).acquire_owned() => permit,
            // Cancellation is awaited here, too, because a request may spend most of its time in the queue.
            () = call_work.cancelled.cancelled() => return Err(cancelled()),
        };
        let permit = permit.map_err(|_| cancelled())?;
        let job = Arc::new(QueryJob::default());
        let call = CallOptions {
            job: Arc::clone(&job),
            require_fresh: self.require_fresh,
            ..CallOptions::default()
        };
        let service = Arc::clone(&self.service);
        let mut work = tokio::task::spawn_blocking(move || {
            // Held by the thread, which may continue for a moment after the request was cancelled.
            let _permit = permit;
            ask(&*service, query, &call)
        });
        let mut ticks = tokio::time::interval(PROGRESS_EVERY);
        // After a pause, one report is enough.
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                answer = &mut work => {
                    let ServiceAnswer { freshness, missing, payload } = joined(answer)?.map_err(error_for_agents)?;
                    let notes = job.take_notes().iter().map(|note| with_tools(note)).collect();
                    return Ok((payload, AnswerInfo { freshness, missing, notes }));
                }
                () = call_work.cancelled.cancelled() => {
                    job.cancel();
                    return Err(cancelled());
                }
                _ = ticks.tick() => {
                    let (done, total) = job.progress();
                    let now = WorkProgress { done, total };
                    call_work.progress.send_if_modified(|last| std::mem::replace(last, now) != now);
                }
            }
        }
    }
}

/// Waits for work, and meanwhile reports its progress to a client that requested it.
pub(super) async fn report_until<T>(
    context: &RequestContext<RoleServer>,
    progress: watch::Receiver<WorkProgress>,
    work: impl Future<Output = T>,
) -> T {
    tokio::select! {
        done = work => done,
        never = report_progress(context, progress) => match never {},
    }
}

/// Reports progress, if there is any: the protocol requires increasing numbers.
async fn report_progress(
    context: &RequestContext<RoleServer>,
    mut progress: watch::Receiver<WorkProgress>,
) -> Infallible {
    let Some(token) = context.meta.get_progress_token() else { return pending().await };
    let mut reported = 0;
    while progress.changed().await.is_ok() {
        let WorkProgress { done, total } = *progress.borrow_and_update();
        if done <= reported {
            continue;
        }
        reported = done;
        // The protocol uses floats here, which represent every 32-bit number exactly.
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let progress = ProgressNotificationParam::new(token.clone(), number(done))
            .with_total(number(total))
            .with_message("reading files");
        // The task that reads from the client notices if it is gone.
        let _ = context.peer.notify_progress(progress).await;
    }
    pending().await
}

/// Returns the result of a thread, or an error if it panicked.
pub(super) fn joined<T>(result: Result<T, JoinError>) -> Result<T, ApiError> {
    result.map_err(|error| {
        let hint = "this is a bug in slop; asking for something else may still work";
        ApiError::environment("bug", format!("internal error in slop: {error}"), hint)
    })
}

/// Waits until no question is in progress, at most for `timeout`.
pub(super) async fn wait_idle(permits: &Semaphore, timeout: Duration) {
    let _ = tokio::time::timeout(timeout, permits.acquire_many(MAX_CONCURRENT)).await;
}

/// Returns the error for arguments that violate the tool's schema.
pub(super) fn bad_arguments(reason: &str) -> ApiError {
    let message = shorten(format!("invalid arguments: {reason}"));
    ApiError::user("bad_arguments", message, "give the arguments of the tool's input schema, and no others")
}

/// Returns the error of a cancelled request, which is not sent.
fn cancelled() -> ApiError {
    ApiError::user("cancelled", "request was cancelled", "ask again")
}
