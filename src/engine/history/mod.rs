//! What git knows: earlier contents, revisions, and how often files change.
//!
//! May import `workspace` and `artifacts`.

mod commits;
mod past;
mod revision;

pub(in crate::engine) use commits::{CommitCache, FrozenContent, GitHistory, changed_since, commit_log};
pub(in crate::engine) use past::{LogEnd, PastCommitCache, PastCommits, past_commits};
pub(in crate::engine) use revision::{Baseline, RevisionText, baseline, blobs_named, texts_at};
