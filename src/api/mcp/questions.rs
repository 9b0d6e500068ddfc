//! Asks are answered on threads of their own, with progress, until nobody wants the answer any more.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::RequestContext;
use tokio::sync::Semaphore;
use tokio::time::MissedTickBehavior;

use super::refusal::ToolError;
use crate::api::query::Query;
use crate::api::service::{CallOptions, QueryJob, Reply, Service, ask};
use crate::api::wire::{FreshnessNote, MissingPath};

/// So many asks are answered at once; others wait.
pub(super) const MAX_CONCURRENT: u32 = 4;

/// How often progress is reported to a client that wants it.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// The service, and a limit on what it is asked at once.
pub(super) struct QueryRunner {
    service: Arc<dyn Service>,
    seats: Arc<Semaphore>,
    /// Whether an answer that cannot be vouched for is to be an error.
    require_fresh: bool,
}

/// What is said about an answer besides the answer itself.
pub(super) struct AnswerInfo {
    /// What the answer can be relied on for.
    pub(super) freshness: FreshnessNote,
    /// The paths that were asked for and cannot be answered for.
    pub(super) missing: Vec<MissingPath>,
    /// Notes for the user.
    pub(super) notes: Vec<String>,
}

impl QueryRunner {
    pub(super) fn new(service: Arc<dyn Service>, require_fresh: bool) -> Self {
        Self { service, seats: Arc::new(Semaphore::new(MAX_CONCURRENT as usize)), require_fresh }
    }

    /// Returns the permits that [`wait_idle`] waits for.
    pub(super) fn permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.seats)
    }

    /// Answers an ask. A request that is cancelled takes its job with it, and leaves its seat when the job has ended.
    pub(super) async fn ask<Q: Query + Send + 'static>(
        &self,
        query: Q,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Q::Answer, AnswerInfo), ToolError> {
        let seat = tokio::select! {
            seat = Arc::clone(&self.seats).acquire_owned() => seat,
            () = context.ct.cancelled() => return Err(ToolError::cancelled()),
        };
        let seat = seat.map_err(|_| ToolError::cancelled())?;
        let job = Arc::new(QueryJob::default());
        let call = CallOptions {
            job: Arc::clone(&job),
            require_fresh: self.require_fresh,
            ..CallOptions::default()
        };
        let service = Arc::clone(&self.service);
        let mut work = tokio::task::spawn_blocking(move || {
            let _seat = seat;
            ask(&*service, query, &call)
        });
        let mut reporter = ProgressReporter { token: context.meta.get_progress_token(), reported: 0 };
        let mut ticks = tokio::time::interval(PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                answer = &mut work => {
                    let answer = answer.map_err(|error| ToolError::bug(&format!("internal error in slop: {error}")))?;
                    let Reply { freshness, missing, answer } = answer?;
                    return Ok((answer, AnswerInfo { freshness, missing, notes: job.take_notes() }));
                }
                () = context.ct.cancelled() => {
                    job.cancel();
                    return Err(ToolError::cancelled());
                }
                _ = ticks.tick(), if reporter.token.is_some() => reporter.report(&job, context).await,
            }
        }
    }
}

/// Tells a client how far the work is.
struct ProgressReporter {
    token: Option<ProgressToken>,
    reported: usize,
}

impl ProgressReporter {
    /// Tells it, if it went on: the protocol wants numbers that only grow.
    async fn report(&mut self, job: &QueryJob, context: &RequestContext<RoleServer>) {
        let (done, total) = job.progress();
        let Some(token) = self.token.as_ref().filter(|_| self.reported < done) else { return };
        self.reported = done;
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let progress = ProgressNotificationParam::new(token.clone(), number(done))
            .with_total(number(total))
            .with_message("reading files");
        // A client that is gone is noticed by the task that reads from it.
        let _ = context.peer.notify_progress(progress).await;
    }
}

/// Waits until no ask is being answered, but no longer than that.
pub(super) async fn wait_idle(seats: &Semaphore, patience: Duration) {
    let _ = tokio::time::timeout(patience, seats.acquire_many(MAX_CONCURRENT)).await;
}
