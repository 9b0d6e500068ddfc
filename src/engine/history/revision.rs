//! Files as they were at a revision of git, and the blobs of earlier commits.

use std::collections::HashMap;

use super::commits::{git, git_line};
use crate::discover;
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::{RelPath, SkipReason};

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

/// A name under which git has nothing.
const NOTHING: &str = "-";

/// Returns the bytes that git has under each of these names, such as a blob's or `commit:./path`; `None` for what
/// it does not have, and for what is larger than a file that is read.
pub(in crate::engine) fn blobs_named(workspace: &Workspace<'_>, names: &[String]) -> Vec<Option<Vec<u8>>> {
    let sizes = sizes_of(workspace, names);
    let most = workspace.options.structure_max_bytes;
    let fits = |size: &Option<u64>| size.is_some_and(|size| size <= most);
    let wanted: Vec<&str> = names
        .iter()
        .zip(&sizes)
        .map(|(name, size)| if fits(size) { name.as_str() } else { NOTHING })
        .collect();
    let answer = git(workspace, &["cat-file", "--batch"], name_lines(&wanted).as_bytes());
    read_batch(&answer.map(|finished| finished.stdout).unwrap_or_default(), names.len())
}

/// Returns how many bytes git has under each of these names.
fn sizes_of(workspace: &Workspace<'_>, names: &[String]) -> Vec<Option<u64>> {
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let answer = git(workspace, &["cat-file", "--batch-check"], name_lines(&names).as_bytes());
    let answer = answer.map(|finished| finished.stdout).unwrap_or_default();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let size = |line: &str| line.rsplit(' ').next().and_then(|size| size.parse().ok());
    let mut sizes: Vec<Option<u64>> = answer.lines().map(size).collect();
    sizes.resize(names.len(), None);
    sizes
}

/// Returns the bytes that files had at a commit, as far as it holds them.
pub(in crate::engine) fn blobs_at(
    workspace: &Workspace<'_>,
    commit: &str,
    wanted: &[&RelPath],
) -> HashMap<RelPath, Vec<u8>> {
    let wanted = without_newlines(wanted);
    let answer = git(workspace, &["cat-file", "--batch"], &blob_names_at(commit, &wanted));
    let contents = read_batch(&answer.map(|finished| finished.stdout).unwrap_or_default(), wanted.len());
    let found = wanted.into_iter().zip(contents);
    found.filter_map(|(path, bytes)| Some((path.clone(), bytes?))).collect()
}

/// Returns how many bytes files had at a commit, as far as it holds them.
pub(in crate::engine) fn sizes_at(
    workspace: &Workspace<'_>,
    commit: &str,
    wanted: &[&RelPath],
) -> HashMap<RelPath, u64> {
    let wanted = without_newlines(wanted);
    let answer = git(workspace, &["cat-file", "--batch-check"], &blob_names_at(commit, &wanted));
    let answer = answer.map(|finished| finished.stdout).unwrap_or_default();
    let lines = String::from_utf8_lossy(&answer).into_owned();
    let sizes = wanted.iter().zip(lines.lines()).filter_map(|(path, line)| {
        let mut words = line.rsplitn(3, ' ');
        let (size, kind) = (words.next()?, words.next()?);
        Some(((*path).clone(), size.parse().ok().filter(|_| kind == "blob")?))
    });
    sizes.collect()
}

/// Returns the paths that git can be asked for: one with a line's end in its name is taken for changed.
fn without_newlines<'p>(paths: &[&'p RelPath]) -> Vec<&'p RelPath> {
    paths.iter().copied().filter(|path| !path.as_bytes().contains(&b'\n')).collect()
}

/// Returns names as git reads them, one a line. One with a line's end in it cannot be asked for.
fn name_lines(names: &[&str]) -> String {
    let line = |name: &&str| format!("{}\n", if name.contains('\n') { NOTHING } else { name });
    names.iter().map(line).collect()
}

/// Returns the names of files at a commit, one a line.
fn blob_names_at(commit: &str, paths: &[&RelPath]) -> Vec<u8> {
    let mut names = Vec::new();
    for path in paths {
        names.extend_from_slice(format!("{commit}:./").as_bytes());
        names.extend_from_slice(path.as_bytes());
        names.push(b'\n');
    }
    names
}

/// Reads what `git cat-file --batch` answers to so many names: `<id> blob <size>`, the bytes, a line's end; or
/// `<name> missing`.
fn read_batch(mut answer: &[u8], names: usize) -> Vec<Option<Vec<u8>>> {
    let mut contents = Vec::new();
    while contents.len() < names {
        let Some(end) = answer.iter().position(|byte| *byte == b'\n') else { break };
        let head = String::from_utf8_lossy(&answer[..end]).into_owned();
        answer = &answer[end + 1..];
        let mut words = head.rsplitn(3, ' ');
        let (Some(size), Some(kind)) = (words.next(), words.next()) else { break };
        let Ok(size) = size.parse::<usize>() else {
            contents.push(None);
            continue;
        };
        let Some(bytes) = answer.get(..size) else { break };
        contents.push((kind == "blob").then(|| bytes.to_vec()));
        answer = answer.get(size + 1..).unwrap_or_default();
    }
    contents.resize(names, None);
    contents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_with_a_missing_file_is_read_to_its_end() {
        let answer = b"11 blob 3\na\nb\nabc:./x y missing\n22 tree 2\nzz\n33 blob 0\n\n";
        let contents = read_batch(answer, 5);
        assert_eq!(contents, [Some(b"a\nb".to_vec()), None, None, Some(Vec::new()), None]);
    }
}
