//! Files as they were at a revision of git.

use std::collections::HashMap;

use super::blobs::{blobs_at, sizes_at};
use super::commits::git_line;
use crate::discover;
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::RelPath;
use crate::model::SkipReason;

/// What files are compared with.
#[derive(Debug, Clone)]
pub(in crate::engine) enum Baseline {
    /// A commit.
    Commit {
        /// Its id.
        id: String,
        /// Its name, as somebody spelled it.
        label: String,
    },
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// What a file was at a revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum RevisionText {
    /// This text, decoded as that of the working copy is.
    Text(String),
    /// There was no such file.
    Absent,
    /// Nothing that could be shown.
    LeftOut(SkipReason),
    /// Git cannot be asked for it: a line's end is part of its name.
    UnaskablePath,
}

/// Finds the commit that a revision means. Outside of git, and before the first commit, there is nothing to compare
/// with; a revision that git does not know is an error.
pub(in crate::engine) fn baseline(workspace: &Workspace<'_>, revision: &str) -> Result<Baseline, Error> {
    if git_line(workspace, &["rev-parse", "--git-dir"]).is_none() {
        return Ok(Baseline::Nothing("the project is in no git repository"));
    }
    let id = resolve_commit(workspace, revision);
    if id.is_none() && revision == "HEAD" {
        return Ok(Baseline::Nothing("the git repository has no commit yet"));
    }
    match id {
        Some(id) => Ok(Baseline::Commit { id, label: revision.to_owned() }),
        None => Err(Error::NoSuchRevision { revision: revision.to_owned() }),
    }
}

/// Asks git for the commit. Whoever spelled the revision must not be able to pass git an option, or a second word.
fn resolve_commit(workspace: &Workspace<'_>, revision: &str) -> Option<String> {
    if revision.is_empty() || revision.starts_with('-') || revision.contains(char::is_control) {
        return None;
    }
    let commit = format!("{revision}^{{commit}}");
    let id = git_line(workspace, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(id)
}

/// Returns what files were at a commit: an answer for each path. Nothing is read that is larger than a file of the
/// working copy may be.
pub(in crate::engine) fn texts_at(
    workspace: &Workspace<'_>,
    commit: &str,
    paths: &[&RelPath],
) -> HashMap<RelPath, RevisionText> {
    let max_bytes = workspace.options.structure_max_bytes;
    let sizes = sizes_at(workspace, commit, paths);
    let fits = |path: &&&RelPath| sizes.get(**path).is_some_and(|size| *size <= max_bytes);
    let wanted: Vec<&RelPath> = paths.iter().filter(fits).copied().collect();
    let mut contents = blobs_at(workspace, commit, &wanted);
    let past = |path: &RelPath| match contents.remove(path) {
        _ if path.as_bytes().contains(&b'\n') => RevisionText::UnaskablePath,
        Some(bytes) => match discover::read_as_text(&bytes) {
            Ok(text) => RevisionText::Text(text.text.into_owned()),
            Err(reason) => RevisionText::LeftOut(reason),
        },
        None if sizes.contains_key(path) => RevisionText::LeftOut(SkipReason::TooLarge),
        None => RevisionText::Absent,
    };
    paths.iter().copied().map(past).zip(paths).map(|(past, path)| ((*path).clone(), past)).collect()
}
