//! What is told of a run while it goes on.

use std::time::Duration;

use super::TaskOutcome;
use crate::engine::summaries::SummaryTask;
use crate::model::Money;

/// Hears of a run. Called from several threads at once.
pub trait RunObserver: Sync {
    /// Something happened.
    fn notify(&self, note: &RunEvent<'_>);
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum RunEvent<'a> {
    /// A question is worked on.
    Started(&'a SummaryTask),
    /// A call was made, and cost that.
    Spent(Money),
    /// A provider is waited for.
    Waiting {
        /// Its name.
        provider: &'a str,
        /// For how long at least.
        retry_in: Duration,
        /// Why, in its words.
        message: &'a str,
    },
    /// A question has come to its end.
    Finished(&'a SummaryTask, &'a TaskOutcome),
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct NoObserver;

impl RunObserver for NoObserver {
    fn notify(&self, _note: &RunEvent<'_>) {}
}
