//! What is told of a run while it goes on.

use std::time::Duration;

use super::End;
use crate::engine::agent::Errand;
use crate::model::Money;

/// Hears of a run. Called from several threads at once.
pub trait Report: Sync {
    /// Something happened.
    fn note(&self, note: &Note<'_>);
}

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Note<'a> {
    /// A question is worked on.
    Began(&'a Errand),
    /// A call was made, and cost that.
    Spent(Money),
    /// A provider is waited for.
    Waiting {
        /// Its name.
        provider: &'a str,
        /// For how long at least.
        time: Duration,
        /// Why, in its words.
        words: &'a str,
    },
    /// A question has come to its end.
    Ended(&'a Errand, &'a End),
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Report for Silent {
    fn note(&self, _note: &Note<'_>) {}
}
