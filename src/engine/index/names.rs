//! Resolves names of files that are not paths: `engine.py` for `src/engine.py`, if only one file has that name.

use std::io::ErrorKind;

use super::scope::SnapshotScope;
use super::snapshot::take_snapshot;
use crate::aggregate::nearest_paths;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::{Error, MAX_NEAREST};
use crate::model::RelPath;
use crate::sys::Files;

/// The maximum number of candidates that are listed for an ambiguous name.
const MAX_NAMED: usize = 5;

/// Replaces arguments that are not paths by the path of the only file that ends with them. It is an error if there are
/// several such files, or none.
pub(in crate::engine) fn resolve_names(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
) -> Result<Vec<String>, Error> {
    let mut listed: Option<Vec<RelPath>> = None;
    let mut resolved = Vec::with_capacity(words.len());
    for word in words {
        let Some(path) = missing_path(cache, word)? else {
            resolved.push(word.clone());
            continue;
        };
        if let Some(stored) = paths_if_none_ends_with(cache, &path) {
            resolved.push(only_match(word, path, &stored)?);
            continue;
        }
        let paths = match &mut listed {
            Some(paths) => paths,
            // The project is listed only if a path does not exist.
            None => listed.insert(listed_paths(cache)?),
        };
        resolved.push(only_match(word, path, paths)?);
    }
    Ok(resolved)
}

/// Resolves arguments as [`resolve_names`] does. A name that does not identify a file is noted, and left as it is.
pub(in crate::engine) fn resolve_names_or_note(
    cache: &mut ArtifactCache<'_>,
    words: &[String],
) -> Result<Vec<String>, Error> {
    let mut resolved = Vec::with_capacity(words.len());
    for word in words {
        resolved.push(match resolve_name(cache, word) {
            Err(error @ (Error::NoSuchFile { .. } | Error::AmbiguousName { .. })) => {
                cache.workspace.note(error.to_string());
                word.clone()
            }
            other => other?,
        });
    }
    Ok(resolved)
}

/// Resolves one argument, as [`resolve_names`] does.
pub(in crate::engine) fn resolve_name(cache: &mut ArtifactCache<'_>, word: &str) -> Result<String, Error> {
    Ok(resolve_names(cache, &[word.to_owned()])?.remove(0))
}

/// Returns the path of an argument that does not exist; `None` if it exists, or if the argument may be a pattern.
fn missing_path(cache: &ArtifactCache<'_>, word: &str) -> Result<Option<RelPath>, Error> {
    let workspace = &cache.workspace;
    if word.contains(['*', '?', '[', '{']) {
        return Ok(None);
    }
    let Some(path) = workspace.resolve_path(word)?.filter(|path| !workspace.names.is_excluded(path)) else {
        return Ok(None);
    };
    let is_missing = workspace.files.stat(&path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    Ok(is_missing.then_some(path))
}

fn is_end_of(path: &RelPath, other: &RelPath) -> bool {
    other.as_bytes().strip_suffix(path.as_bytes()).is_some_and(|rest| rest.ends_with(b"/"))
}

/// Returns the paths in a daemon's index, if an argument contains folders and no path ends with it. Listing the project
/// for each missing file would make such answers slow.
fn paths_if_none_ends_with(cache: &mut ArtifactCache<'_>, path: &RelPath) -> Option<Vec<RelPath>> {
    let tree = cache.workspace.tracker.clone()?;
    let rows = cache.shared_rows(&tree);
    if path.parent().is_empty() || rows.keys().any(|other| is_end_of(path, other)) {
        return None;
    }
    let mut paths: Vec<RelPath> = rows.keys().cloned().collect();
    paths.sort_unstable();
    Some(paths)
}

fn listed_paths(cache: &mut ArtifactCache<'_>) -> Result<Vec<RelPath>, Error> {
    let snapshot = take_snapshot(cache, &SnapshotScope::Nothing)?;
    Ok(snapshot.files().iter().map(|found| found.path.clone()).collect())
}

fn only_match(word: &str, path: RelPath, paths: &[RelPath]) -> Result<String, Error> {
    // A file that git tracks and that was deleted has its own message.
    if paths.binary_search(&path).is_ok() {
        return Ok(word.to_owned());
    }
    let mut found = paths.iter().filter(|other| is_end_of(&path, other));
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only.to_string()),
        (Some(first), Some(second)) => {
            let all = [first, second].into_iter().chain(found).take(MAX_NAMED);
            Err(Error::AmbiguousName { paths: all.map(ToString::to_string).collect(), name: path })
        }
        (None, _) => {
            let nearest = nearest_paths(&path.to_string(), paths.iter(), MAX_NEAREST);
            Err(Error::NoSuchFile { path, nearest })
        }
    }
}
