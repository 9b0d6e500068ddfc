//! Data from git: earlier contents, revisions, and how often files change.
//!
//! May import `workspace` and `artifacts`.

mod checkout;
mod commits;
mod past;
mod project_history;
mod revision;

pub(in crate::engine) use checkout::{Checkout, note_faults};
pub(in crate::engine) use past::{LogEnd, PastCommitCache, PastCommits, past_commits};
pub(in crate::engine) use project_history::{
    CommitCache, FrozenContent, GitHistory, ProjectHistory, WorktreeStates, project_commits, with_uncommitted,
};
pub(in crate::engine) use revision::{
    Baseline, RevisionText, baseline, blobs_named, changed_since, texts_at,
};
