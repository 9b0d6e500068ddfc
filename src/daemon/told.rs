//! What a daemon tells the person who watches it.

use std::time::Duration;

use crate::engine::FileChange;

/// What a daemon tells, as it happens.
#[derive(Debug)]
pub enum Notice<'a> {
    /// It watches, and answers.
    Watching {
        /// How many folders are watched.
        folders: usize,
        /// Where it answers.
        socket: &'a std::path::Path,
        /// The address where it answers too.
        listen: Option<&'a str>,
    },
    /// Files have changed, and what is known of them is up to date again.
    Refreshed {
        /// What has changed, by path.
        changes: &'a [FileChange],
        /// How long it took.
        elapsed: Duration,
    },
    /// A model was asked for summaries.
    Summarized {
        /// How many questions were answered.
        answered: u64,
        /// What they cost, in words.
        cost: &'a str,
        /// Questions that are not asked again soon, each with why.
        unanswered: &'a [String],
        /// Why it ended early.
        stopped: Option<&'a str>,
    },
    /// Events are not to be trusted: each answer looks at the files.
    Verified {
        /// Why.
        reason: &'a str,
        /// What can be done about it; may be empty.
        hint: &'a str,
    },
    /// Events were lost, and everything is looked at once more.
    Lost {
        /// Why.
        reason: &'a str,
    },
    /// Something that a person should know.
    Note(&'a str),
    /// It ends.
    Stopping {
        /// Why.
        reason: &'a str,
    },
}
