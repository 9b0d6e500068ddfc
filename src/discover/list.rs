//! The files of a project: git's answer in a checkout, a walk elsewhere.

use std::path::Path;

use super::Error;
use super::NameRules;
use super::git;
use super::walk;
use crate::model::RelPath;
use crate::model::SkipReason;
use crate::sys::Processes;

/// A file that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscoveredFile {
    /// Where it lies.
    pub path: RelPath,
    /// Why it is not rendered, as far as a look at its name and kind tells.
    pub skip_reason: Option<SkipReason>,
    /// Whether git tracks it; never outside of git.
    pub tracked: bool,
}

/// Who listed the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListingSource {
    /// `git ls-files`.
    Git,
    /// The walk.
    Walk,
}

/// The files of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileListing {
    /// The files by path, each once.
    pub files: Vec<DiscoveredFile>,
    /// Who listed them.
    pub source: ListingSource,
    /// What a user may want to know of the listing: why git was not heard, which folders could not be read.
    pub notes: Vec<String>,
    /// The folders that the walk entered, in no order; empty where git listed the files, which tells none.
    pub folders: Vec<RelPath>,
}

/// Lists the files below the folder `root`.
///
/// In a git checkout these are exactly the files that `git ls-files --cached --others --exclude-standard` lists
/// there. Elsewhere, and where git refuses to answer, the tree is walked. What is apart by [`Names::is_apart`] is in
/// neither.
pub fn list(root: &Path, names: &NameRules, processes: &dyn Processes) -> Result<FileListing, Error> {
    // The real path, so that a link to a folder within a checkout is known to be in it.
    let root = root.canonicalize().map_err(Error::Root)?;
    // Asked for its error alone: to git and to the walk a folder that cannot be read is an empty one.
    root.read_dir().map_err(Error::Root)?;

    let mut listing = list_unsorted(&root, names, processes)?;
    listing.files.sort_by(|one, other| one.path.cmp(&other.path));
    listing.files.dedup_by(merge_duplicate);
    Ok(listing)
}

fn list_unsorted(root: &Path, names: &NameRules, processes: &dyn Processes) -> Result<FileListing, Error> {
    if !is_in_checkout(root) {
        return walk::walk(root, names);
    }
    match git::ls_files(root, names, processes) {
        Ok(listing) => Ok(listing),
        Err(why_not) => {
            let mut listing = walk::walk(root, names)?;
            listing.notes.insert(0, why_not);
            Ok(listing)
        }
    }
}

/// Looks for `.git`, which is a file in worktrees and submodules. Whether git takes it for a repository, git says.
fn is_in_checkout(root: &Path) -> bool {
    root.ancestors().any(|folder| folder.join(".git").exists())
}

/// Drops `later` if it is the same file as the one before it: an unmerged file has an entry for each side.
fn merge_duplicate(later: &mut DiscoveredFile, kept: &mut DiscoveredFile) -> bool {
    if later.path != kept.path {
        return false;
    }
    kept.skip_reason = kept.skip_reason.or(later.skip_reason);
    kept.tracked |= later.tracked;
    true
}
