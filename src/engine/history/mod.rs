//! What git knows: earlier contents, commits, and how often files change.

mod blobs;
mod commits;
mod revision;

pub(in crate::engine) use blobs::blobs_named;
pub(in crate::engine) use commits::{CommitCache, GitHistory, changed_since, commit_log};
pub(in crate::engine) use revision::{Baseline, RevisionText, baseline, texts_at};
