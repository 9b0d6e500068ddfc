//! Files at a git revision, and the blobs of earlier commits.

use std::collections::{BTreeMap, HashMap};

use super::checkout::Checkout;
use crate::engine::error::Error;
use crate::engine::workspace::{Workspace, decode_shown};
use crate::model::{RelPath, SkipReason};

/// The base that files are compared with.
#[derive(Debug, Clone)]
pub(in crate::engine) enum Baseline {
    Commit {
        id: String,
        /// The commit of the same revision in each linked checkout, by [`Checkout::name`]; a checkout without one has
        /// no entry.
        linked: BTreeMap<String, String>,
        /// The revision as it was given.
        label: String,
    },
    /// Nothing, for this reason.
    Nothing(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum RevisionText {
    /// This text, decoded like that of the working copy.
    Text(String),
    Absent,
    /// A content that cannot be shown.
    LeftOut(SkipReason),
    /// Git cannot be asked for it, because its path contains a line break.
    UnaskablePath,
    /// It is in a linked folder that does not have the revision.
    NoRevision,
}

/// Resolves a revision to a commit. Outside of git, and before the first commit, there is nothing to compare with; a
/// revision that git does not know is an error.
pub(in crate::engine) fn baseline(workspace: &Workspace<'_>, revision: &str) -> Result<Baseline, Error> {
    let project = Checkout::of_project(workspace);
    if project.line(&["rev-parse", "--git-dir"]).is_none() {
        return Ok(Baseline::Nothing("the project is in no git repository"));
    }
    let id = resolve_commit(&project, revision);
    if id.is_none() && revision == "HEAD" {
        return Ok(Baseline::Nothing("the git repository has no commit yet"));
    }
    let id = id.ok_or_else(|| Error::NoSuchRevision { revision: revision.to_owned() })?;
    let linked = Checkout::linked(workspace).into_iter();
    let linked = linked
        .filter_map(|checkout| Some((checkout.name().to_owned(), resolve_commit(&checkout, revision)?)));
    Ok(Baseline::Commit { id, linked: linked.collect(), label: revision.to_owned() })
}

/// Asks git for the commit. A crafted revision must not be able to pass git an option, or a second argument.
fn resolve_commit(checkout: &Checkout<'_>, revision: &str) -> Option<String> {
    if revision.is_empty() || revision.starts_with('-') || revision.contains(char::is_control) {
        return None;
    }
    let commit = format!("{revision}^{{commit}}");
    let id = checkout.line(&["rev-parse", "--verify", "--quiet", "--end-of-options", &commit])?;
    // The answer becomes part of later commands, so only an id is accepted.
    let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(id)
}

impl Baseline {
    /// Returns the checkouts that have the commit, each with its id there.
    fn checkouts<'w>(&self, workspace: &Workspace<'w>) -> Vec<(Checkout<'w>, &str)> {
        let Self::Commit { id, linked, .. } = self else { return Vec::new() };
        let mut found = vec![(Checkout::of_project(workspace), id.as_str())];
        for checkout in Checkout::linked(workspace) {
            if let Some(id) = linked.get(checkout.name()) {
                found.push((checkout, id));
            }
        }
        found
    }
}

/// Returns the tracked files whose bytes differ between a commit and the working tree, including those that exist in
/// only one of them, each with whether it is a regular file in the commit. `None` if git does not report those of the
/// project.
pub(in crate::engine) fn changed_since(
    workspace: &Workspace<'_>,
    baseline: &Baseline,
) -> Option<HashMap<RelPath, bool>> {
    let changed_in = |(checkout, id): &(Checkout<'_>, &str)| checkout.changed_since(&checkout.filters()?, id);
    let checkouts = baseline.checkouts(workspace);
    let (project, linked) = checkouts.split_first()?;
    let mut changed = changed_in(project)?;
    changed.extend(linked.iter().filter_map(changed_in).flatten());
    Some(changed)
}

/// Returns the texts of files at a commit: an answer for each path. A blob that is larger than the limit for files of
/// the working copy is not read.
pub(in crate::engine) fn texts_at(
    workspace: &Workspace<'_>,
    baseline: &Baseline,
    paths: &[&RelPath],
) -> HashMap<RelPath, RevisionText> {
    let mut texts: HashMap<RelPath, RevisionText> =
        paths.iter().map(|path| ((*path).clone(), RevisionText::NoRevision)).collect();
    for (checkout, commit) in baseline.checkouts(workspace) {
        let inside = paths.iter().filter_map(|path| Some((*path, checkout.path_inside(workspace, path)?)));
        let (paths, inside): (Vec<&RelPath>, Vec<&[u8]>) = inside.unzip();
        texts.extend(texts_in(workspace, &checkout, commit, &paths, &inside));
    }
    texts
}

fn texts_in(
    workspace: &Workspace<'_>,
    checkout: &Checkout<'_>,
    commit: &str,
    paths: &[&RelPath],
    inside: &[&[u8]],
) -> Vec<(RelPath, RevisionText)> {
    if paths.is_empty() {
        return Vec::new();
    }
    // `./` makes the path relative to the checkout's folder, which may be below the repository's root.
    let name = |path: &&[u8]| [commit.as_bytes(), b":./", path].concat();
    let names: Vec<Vec<u8>> = inside.iter().map(name).collect();
    let most = workspace.options.structure_max_bytes;
    let sizes = blob_sizes(checkout, &names);
    let blobs = blobs_of_sizes(checkout, most, &names, &sizes);
    let text = |path: &RelPath, size: Option<u64>, bytes: Option<Vec<u8>>| match bytes {
        _ if path.as_bytes().contains(&b'\n') => RevisionText::UnaskablePath,
        Some(bytes) => match decode_shown(&bytes) {
            Ok(text) => RevisionText::Text(text.text.into_owned()),
            Err(reason) => RevisionText::LeftOut(reason),
        },
        None if size.is_some() => RevisionText::LeftOut(SkipReason::TooLarge),
        None => RevisionText::Absent,
    };
    let found = paths.iter().zip(sizes.into_iter().zip(blobs));
    found.map(|(path, (size, bytes))| ((*path).clone(), text(path, size, bytes))).collect()
}

/// A name that git never resolves.
const NOTHING: &[u8] = b"-";

/// Returns the bytes of the blobs with these names, such as a blob's id or `commit:./path`, each in the checkout of a
/// file; `None` for blobs that do not exist, or exceed the limit for files.
pub(in crate::engine) fn blobs_named(
    workspace: &Workspace<'_>,
    names: &[(&RelPath, Vec<u8>)],
) -> Vec<Option<Vec<u8>>> {
    let most = workspace.options.structure_max_bytes;
    let mut contents = vec![None; names.len()];
    for checkout in Checkout::all(workspace) {
        let inside =
            (0..).zip(names).filter(|(_, (path, _))| checkout.path_inside(workspace, path).is_some());
        let (places, names): (Vec<usize>, Vec<Vec<u8>>) =
            inside.map(|(at, (_, name))| (at, name.clone())).unzip();
        if names.is_empty() {
            continue;
        }
        let blobs = blobs_of_sizes(&checkout, most, &names, &blob_sizes(&checkout, &names));
        for (at, blob) in places.into_iter().zip(blobs) {
            contents[at] = blob;
        }
    }
    contents
}

fn blobs_of_sizes(
    checkout: &Checkout<'_>,
    most: u64,
    names: &[Vec<u8>],
    sizes: &[Option<u64>],
) -> Vec<Option<Vec<u8>>> {
    // The sizes are requested first, because git would send blobs of any size, which are held in memory.
    let wanted = names.iter().zip(sizes).map(|(name, size)| match size {
        Some(size) if *size <= most => name.as_slice(),
        // Requested anyway, under a name that does not exist: answers are matched with names by position.
        Some(_) | None => NOTHING,
    });
    let answer = checkout.git(&["cat-file", "--batch"], &name_lines(wanted));
    read_batch(&answer.map(|finished| finished.stdout).unwrap_or_default(), names.len())
}

/// Returns the sizes of the blobs with these names, in bytes.
fn blob_sizes(checkout: &Checkout<'_>, names: &[Vec<u8>]) -> Vec<Option<u64>> {
    let lines = name_lines(names.iter().map(Vec::as_slice));
    let answer = checkout.git(&["cat-file", "--batch-check"], &lines);
    let answer = answer.map(|finished| finished.stdout).unwrap_or_default();
    let size = |line: &str| {
        // From the end, because git repeats a missing name, which may contain spaces.
        let mut words = line.rsplitn(3, ' ');
        let (size, kind) = (words.next()?, words.next()?);
        size.parse().ok().filter(|_| kind == "blob")
    };
    let mut sizes: Vec<Option<u64>> = String::from_utf8_lossy(&answer).lines().map(size).collect();
    sizes.resize(names.len(), None);
    sizes
}

/// Returns names as input for git, one per line. A name with a line break cannot be requested.
fn name_lines<'n>(names: impl Iterator<Item = &'n [u8]>) -> Vec<u8> {
    let line = |name: &'n [u8]| [if name.contains(&b'\n') { NOTHING } else { name }, b"\n"].concat();
    names.flat_map(line).collect()
}

/// Parses the output of `git cat-file --batch` for `names` names: `<id> blob <size>`, the bytes, a line break; or
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
        // Git may have ended early; the rest of its output is not a file.
        let Some(bytes) = answer.get(..size) else { break };
        // A folder of that name has bytes too: git's encoding of its entries.
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
