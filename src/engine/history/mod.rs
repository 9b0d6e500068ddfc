//! What git knows: earlier contents, commits, and how often files change.

mod blobs;
mod commits;
mod revision;

pub(in crate::engine) use commits::{CommitLog, GitHistory};
pub(in crate::engine) use revision::{Baseline, RevisionText};
