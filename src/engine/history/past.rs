//! The latest commits with their subjects and the files that they changed, from which files are ranked.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::checkout::Checkout;
use super::project_history::ProjectCommits;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::last_value::LastValue;
use crate::model::RelPath;
use crate::search::MAX_COMMITS;

/// A larger log is requested each time instead of being stored.
const MAX_REMEMBERED: usize = 4 << 20;

/// The latest non-merge commits of the project's checkout and of each linked one.
#[derive(Debug, Default)]
pub(in crate::engine) struct PastCommits {
    /// The files that the commits changed.
    paths: FxHashMap<RelPath, u32>,
    /// The commits of each checkout, newest first.
    histories: Vec<Vec<SubjectAndFiles>>,
}

#[derive(Debug)]
struct SubjectAndFiles {
    subject: Vec<u8>,
    /// Numbers from `paths`.
    files: Vec<u32>,
}

/// A commit, and which of some files it changed.
pub(in crate::engine) struct CommitOfFiles<'a> {
    pub(in crate::engine) subject: &'a [u8],
    /// Positions in the list of these files.
    pub(in crate::engine) files: Vec<usize>,
    /// The total number of files that it changed.
    pub(in crate::engine) changed_files: usize,
}

/// The last commit of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum LogEnd {
    Head,
    /// The commit at which scores are frozen.
    Frozen,
}

impl LogEnd {
    fn choose<'a>(self, head: &'a str, frozen: &'a str) -> &'a str {
        if self == Self::Head { head } else { frozen }
    }

    /// Returns the store's key for the log.
    const fn key(self) -> &'static str {
        match self {
            Self::Head => "history/subjects",
            Self::Frozen => "history/frozen_subjects",
        }
    }
}

/// The latest commits up to each end, as cached by a long-running process.
#[derive(Default)]
pub(in crate::engine) struct PastCommitCache([LastValue<String, PastCommits>; 2]);

/// Returns the latest commits up to an end, of the project's checkout and of each linked one; empty for those where git
/// fails.
pub(in crate::engine) fn past_commits(
    cache: &mut ArtifactCache<'_>,
    shared: Option<&PastCommitCache>,
    commits: &ProjectCommits,
    end: LogEnd,
) -> Arc<PastCommits> {
    let last = commits.iter().map(|(name, log)| format!("{name} {} ", end.choose(&log.head, &log.frozen)));
    let last: String = last.collect();
    let slot = shared.map(|shared| &shared.0[end as usize]);
    if let Some(past) = slot.and_then(|slot| slot.get(&last)) {
        return past;
    }
    let mut past = PastCommits::default();
    for checkout in Checkout::all(&cache.workspace) {
        let Some(commits) = commits.get(checkout.name()) else { continue };
        if let Some(log) = log(cache, &checkout, end.choose(&commits.head, &commits.frozen), end) {
            past.add(&log, &|path| checkout.path_in_project(path));
        }
    }
    let past = Arc::new(past);
    if let Some(slot) = slot {
        slot.insert(last, &past);
    }
    past
}

/// Returns git's log, from the store or from git.
fn log(cache: &mut ArtifactCache<'_>, checkout: &Checkout<'_>, last: &str, end: LogEnd) -> Option<Vec<u8>> {
    // The value contains the commit, so that the log up to another one is never used for this one.
    let title = format!("{last}\n");
    let key = checkout.key(end.key());
    let remembered = cache.query_store(|store| store.get_meta(&key)).flatten();
    if let Some(log) = remembered.as_deref().and_then(|bytes| bytes.strip_prefix(title.as_bytes())) {
        return Some(log.to_vec());
    }
    let most = MAX_COMMITS.to_string();
    // `--relative`, because the project may be a folder of its repository.
    let arguments = [
        "log", "--no-merges", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z",
        "--format=%x01%s", "-n", &most, last, "--",
    ];
    let log = checkout.git(&arguments, b"")?.stdout;
    if log.len() <= MAX_REMEMBERED {
        cache.remember(&key, &[title.as_bytes(), &log].concat());
    }
    Some(log)
}

impl PastCommits {
    /// Adds a log in which a byte 1 and the subject precede the names changed by each commit.
    fn add(&mut self, log: &[u8], path_in_project: &dyn Fn(&[u8]) -> Option<RelPath>) {
        let mut commits: Vec<SubjectAndFiles> = Vec::new();
        for entry in log.split(|byte| *byte == 0) {
            // Even with `-z`, a line feed separates a commit's format from its first name.
            let entry = entry.strip_prefix(b"\n").unwrap_or(entry);
            if let Some(subject) = entry.strip_prefix(&[1]) {
                commits.push(SubjectAndFiles { subject: subject.to_vec(), files: Vec::new() });
            } else if let (Some(commit), Some(path)) = (commits.last_mut(), path_in_project(entry)) {
                let next = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
                commit.files.push(*self.paths.entry(path).or_insert(next));
            }
        }
        self.histories.push(commits);
    }

    /// Returns whether any of the commits changed any of some files.
    pub(in crate::engine) fn has_any_of<'a>(&self, mut files: impl Iterator<Item = &'a RelPath>) -> bool {
        files.any(|path| self.paths.contains_key(path))
    }

    /// Returns the commits of each checkout in terms of some files.
    pub(in crate::engine) fn of_files<'a>(
        &'a self,
        files: impl Iterator<Item = &'a RelPath>,
    ) -> Vec<Vec<CommitOfFiles<'a>>> {
        let mut positions = vec![None; self.paths.len()];
        for (position, path) in files.enumerate() {
            if let Some(number) = self.paths.get(path) {
                positions[*number as usize] = Some(position);
            }
        }
        let of_files = |commit: &'a SubjectAndFiles| CommitOfFiles {
            subject: &commit.subject,
            files: commit.files.iter().filter_map(|number| positions[*number as usize]).collect(),
            changed_files: commit.files.len(),
        };
        self.histories.iter().map(|commits| commits.iter().map(of_files).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_with_subjects_and_files() {
        let log = b"\x01Add a\0\nsrc/a.py\0src/b.py\0\x01Empty\0\x01Fix b\0\nsrc/b.py\0gone.py\0";
        let mut past = PastCommits::default();
        past.add(log, &|path| RelPath::new(path).ok());
        past.add(b"\x01In a library\0\na.py\0", &|path| RelPath::new(&[b"@lib/", path].concat()).ok());
        let files = ["src/b.py", "new.py", "src/a.py", "@lib/a.py"]
            .map(|path| RelPath::new(path.as_bytes()).unwrap());
        let histories = past.of_files(files.iter());
        let plain = |commit: &CommitOfFiles<'_>| {
            (String::from_utf8_lossy(commit.subject).into_owned(), commit.files.clone(), commit.changed_files)
        };
        let histories: Vec<Vec<_>> =
            histories.iter().map(|commits| commits.iter().map(plain).collect()).collect();
        let of_project = vec![
            ("Add a".to_owned(), vec![2, 0], 2),
            ("Empty".to_owned(), vec![], 0),
            ("Fix b".to_owned(), vec![0], 2),
        ];
        assert_eq!(histories, [of_project, vec![("In a library".to_owned(), vec![3], 1)]]);
    }
}
