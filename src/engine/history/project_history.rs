//! Git's history of a project: that of its own checkout, and that of each linked one.
//!
//! Checkouts are independent: work in one affects neither the order of the others' files nor the questions to git about
//! them.

use std::collections::{BTreeMap, HashSet};
use std::ops::Deref;
use std::sync::{Arc, Mutex};

use super::checkout::{Checkout, LINKED_KEYS, PerCheckout, note_faults};
use super::commits::CommitLog;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::last_value::LastValue;
use crate::engine::workspace::KnownFile;
use crate::model::{ContentHash, RelPath, lock, on_all_cores};

/// The store's key for the list of linked checkouts with histories.
const LINKED_KEY: &str = "history/linked";

/// The commits of the checkouts of a project.
pub(in crate::engine) type ProjectCommits = PerCheckout<Arc<CommitLog>>;

/// Git's history of a project.
pub(in crate::engine) struct ProjectHistory {
    pub(in crate::engine) commits: Arc<ProjectCommits>,
    checkouts: PerCheckout<GitHistory>,
}

/// Git's history of a checkout.
#[derive(Debug)]
pub(in crate::engine) struct GitHistory {
    commits: Arc<CommitLog>,
    /// The tracked files whose bytes differ between `head` and the working tree.
    pub(in crate::engine) uncommitted: Arc<HashSet<RelPath>>,
}

impl Deref for GitHistory {
    type Target = CommitLog;

    fn deref(&self) -> &CommitLog {
        &self.commits
    }
}

impl GitHistory {
    /// Returns the probability that the next commit changes a file, between 0 and 1.
    pub(in crate::engine) fn change_rate(&self, path: &RelPath) -> f64 {
        self.commits.change_rate(path, self.uncommitted.contains(path))
    }
}

/// The content of a file at the frozen commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) enum FrozenContent {
    /// The same as now.
    Current,
    /// The blob of this name.
    Blob(String),
    /// There was no such file, or it was not text.
    Absent,
}

impl ProjectHistory {
    /// Returns the history of a checkout by its name.
    pub(in crate::engine) fn of_checkout(&self, name: &str) -> Option<&GitHistory> {
        self.checkouts.get(name)
    }

    /// Returns the history of the checkout that a file is in.
    pub(in crate::engine) fn of_file(&self, path: &RelPath) -> Option<&GitHistory> {
        self.checkouts.of_file(path)
    }

    /// Returns the content of a file at the frozen commit of its checkout.
    pub(in crate::engine) fn frozen_content(&self, file: &KnownFile) -> FrozenContent {
        let history = self.of_file(&file.path);
        let edits = history.and_then(|history| history.edits.get(&file.path));
        let before = match (edits.and_then(|edits| edits.last()), history) {
            (Some(oldest), _) => oldest.before.clone(),
            (None, _) if !file.tracked => None,
            (None, Some(history)) if history.uncommitted.contains(&file.path) => {
                history.committed_name(&file.path)
            }
            (None, _) => return FrozenContent::Current,
        };
        before.map_or(FrozenContent::Absent, FrozenContent::Blob)
    }
}

/// The last results of git, as cached by a long-running process.
#[derive(Default)]
pub(in crate::engine) struct CommitCache {
    commits: LastValue<ContentHash, ProjectCommits>,
    /// By the names of the checkouts.
    uncommitted: Mutex<UncommittedFiles>,
}

type UncommittedFiles = BTreeMap<String, (ContentHash, Arc<HashSet<RelPath>>)>;

/// Hashes of the state of git's files and of all files in the working tree, by the name of the checkout.
pub(in crate::engine) type WorktreeStates = BTreeMap<String, ContentHash>;

/// Returns the commits of the project; `None` if no checkout has any. They stay the same as long as `key` does, a hash
/// of the stamps of git's files, if it is known.
pub(in crate::engine) fn project_commits(
    cache: &mut ArtifactCache<'_>,
    shared: Option<&CommitCache>,
    key: Option<ContentHash>,
) -> Option<Arc<ProjectCommits>> {
    let shared = shared.zip(key);
    if let Some(commits) = shared.as_ref().and_then(|(shared, key)| shared.commits.get(key)) {
        return Some(commits);
    }
    let checkouts = Checkout::all(&cache.workspace);
    forget_unlinked(cache, &checkouts);
    let logs = checkouts
        .iter()
        .map(|checkout| (checkout.name().to_owned(), CommitLog::read(cache, checkout).map(Arc::new)));
    let logs: Vec<_> = logs.collect();
    let has_failed = note_faults(&mut cache.workspace, &checkouts);
    let commits = Arc::new(PerCheckout::new(&cache.workspace, logs));
    commits.iter().next()?;
    // After a failure, git is asked again the next time: the failure may be temporary.
    if let Some((shared, key)) = shared.filter(|_| !has_failed) {
        shared.commits.insert(key, &commits);
    }
    Some(commits)
}

/// Deletes the histories of checkouts that are no longer linked.
fn forget_unlinked(cache: &mut ArtifactCache<'_>, checkouts: &[Checkout<'_>]) {
    let linked = checkouts.iter().filter(|checkout| !checkout.name().is_empty());
    let prefixes: Vec<String> = linked.map(|checkout| checkout.key("")).collect();
    let names = prefixes.concat().into_bytes();
    let known = cache.query_store(|store| store.get_meta(LINKED_KEY)).flatten().unwrap_or_default();
    if known == names {
        return;
    }
    let keys = cache.query_store(|store| store.list_meta(LINKED_KEYS)).unwrap_or_default();
    for (key, _) in keys {
        if !prefixes.iter().any(|prefix| key.starts_with(prefix)) {
            cache.forget(&key);
        }
    }
    cache.remember(LINKED_KEY, &names);
}

/// Adds the uncommitted changes in these checkouts. They stay the same as long as a checkout's state does, if it is
/// known.
pub(in crate::engine) fn with_uncommitted(
    commits: &Arc<ProjectCommits>,
    checkouts: &[Checkout<'_>],
    shared: Option<(&CommitCache, &WorktreeStates)>,
) -> ProjectHistory {
    let found = on_all_cores(checkouts, |checkout| {
        let log = commits.get(checkout.name())?;
        uncommitted(log, checkout, shared)
    });
    let mut found: BTreeMap<&str, _> = checkouts.iter().map(Checkout::name).zip(found).collect();
    let checkouts = commits
        .map(|name, log| Some(GitHistory { commits: Arc::clone(log), uncommitted: found.remove(name)?? }));
    ProjectHistory { commits: Arc::clone(commits), checkouts }
}

fn uncommitted(
    log: &CommitLog,
    checkout: &Checkout<'_>,
    shared: Option<(&CommitCache, &WorktreeStates)>,
) -> Option<Arc<HashSet<RelPath>>> {
    let name = checkout.name();
    let shared = shared.and_then(|(shared, states)| Some((shared, states.get(name)?)));
    if let Some((shared, state)) = shared
        && let Some((of, known)) = lock(&shared.uncommitted).get(name)
        && of == state
    {
        return Some(Arc::clone(known));
    }
    let found = Arc::new(log.uncommitted(checkout)?);
    if let Some((shared, state)) = shared {
        lock(&shared.uncommitted).insert(name.to_owned(), (*state, Arc::clone(&found)));
    }
    Some(found)
}
