//! Asks are answered on threads of their own, with progress, until nobody wants the answer any more.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::ProgressNotificationParam;
use rmcp::model::ProgressToken;
use rmcp::service::RequestContext;
use tokio::sync::Semaphore;
use tokio::time::MissedTickBehavior;

use super::refusal::Refusal;
use crate::api::ask::Ask;
use crate::api::service::Answered;
use crate::api::service::Call;
use crate::api::service::Job;
use crate::api::service::Service;

/// So many asks are answered at once; others wait.
pub(super) const MOST_AT_ONCE: u32 = 4;

/// How often progress is told, to whom wants to know.
const PROGRESS_EVERY: Duration = Duration::from_millis(250);

/// The service, and a limit on what it is asked at once.
pub(super) struct Questions {
    service: Arc<dyn Service>,
    seats: Arc<Semaphore>,
    /// Whether an answer that cannot be vouched for is to be an error.
    require_fresh: bool,
}

impl Questions {
    pub(super) fn new(service: Arc<dyn Service>, require_fresh: bool) -> Self {
        Self { service, seats: Arc::new(Semaphore::new(MOST_AT_ONCE as usize)), require_fresh }
    }

    /// Returns what [`settled`] waits on.
    pub(super) fn seats(&self) -> Arc<Semaphore> {
        Arc::clone(&self.seats)
    }

    /// Answers an ask. A request that is cancelled takes its job with it, and leaves its seat when the job has ended.
    pub(super) async fn ask(
        &self,
        ask: Ask,
        context: &RequestContext<RoleServer>,
    ) -> Result<Answered, Refusal> {
        let seat = tokio::select! {
            seat = Arc::clone(&self.seats).acquire_owned() => seat,
            () = context.ct.cancelled() => return Err(Refusal::cancelled()),
        };
        let seat = seat.map_err(|_| Refusal::cancelled())?;
        let job = Arc::new(Job::default());
        let call = Call { job: Arc::clone(&job), require_fresh: self.require_fresh, ..Call::default() };
        let service = Arc::clone(&self.service);
        let mut work = tokio::task::spawn_blocking(move || {
            let _seat = seat;
            service.ask(ask, &call)
        });
        let mut teller = Teller { token: context.meta.get_progress_token(), told: 0 };
        let mut ticks = tokio::time::interval(PROGRESS_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                answer = &mut work => {
                    let answer = answer.map_err(|error| Refusal::bug(&format!("answer: {error}")))?;
                    return Ok(answer?);
                }
                () = context.ct.cancelled() => {
                    job.cancel();
                    return Err(Refusal::cancelled());
                }
                _ = ticks.tick(), if teller.token.is_some() => teller.tell(&job, context).await,
            }
        }
    }
}

/// Tells a client how far the work is.
struct Teller {
    token: Option<ProgressToken>,
    told: usize,
}

impl Teller {
    /// Tells it, if it went on: the protocol wants numbers that only grow.
    async fn tell(&mut self, job: &Job, context: &RequestContext<RoleServer>) {
        let (done, total) = job.progress();
        let Some(token) = self.token.as_ref().filter(|_| self.told < done) else { return };
        self.told = done;
        let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let progress = ProgressNotificationParam::new(token.clone(), number(done))
            .with_total(number(total))
            .with_message("reading files");
        // A client that is gone is noticed by whoever reads from it.
        let _ = context.peer.notify_progress(progress).await;
    }
}

/// Waits until no ask is being answered, but no longer than that.
pub(super) async fn settled(seats: &Semaphore, patience: Duration) {
    let _ = tokio::time::timeout(patience, seats.acquire_many(MOST_AT_ONCE)).await;
}
