//! Observes a run in progress.

use std::time::Duration;

use super::TaskOutcome;
use crate::engine::summaries::SummaryTask;
use crate::model::Money;

/// Receives the events of a run. Called from several threads at once.
pub trait RunObserver: Sync {
    /// Handles an event.
    fn notify(&self, note: &RunEvent<'_>);
}

/// Something that happened during a run.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    /// A task was started.
    Started(&'a SummaryTask),
    /// A call was made, at this cost.
    Spent(Money),
    /// A call waits for a provider.
    Waiting {
        /// The provider's name.
        provider: &'a str,
        /// The least time to wait.
        retry_in: Duration,
        /// The provider's last message.
        message: &'a str,
    },
    /// A task has ended.
    Finished(&'a SummaryTask, &'a TaskOutcome),
}

/// Ignores all events.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl RunObserver for NoObserver {
    fn notify(&self, _note: &RunEvent<'_>) {}
}
