//! The latest commits with their subjects and the files that they changed, from which files are ranked.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;

use super::commits::{CommitLog, git};
use crate::engine::artifacts::ArtifactCache;
use crate::model::RelPath;
use crate::search::MAX_COMMITS;

/// A log of more bytes than this is asked for each time rather than remembered.
const MAX_REMEMBERED: usize = 4 << 20;

/// The latest commits that are not merges, the newest first.
#[derive(Debug, Default)]
pub(in crate::engine) struct PastCommits {
    /// The files that the commits changed.
    paths: FxHashMap<RelPath, u32>,
    commits: Vec<SubjectAndFiles>,
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
    /// Positions among these files.
    pub(in crate::engine) files: Vec<usize>,
    /// How many files it changed in all.
    pub(in crate::engine) changed_files: usize,
}

/// The commit up to which commits are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum LogEnd {
    Head,
    /// The one at which scores are frozen.
    Frozen,
}

impl LogEnd {
    /// How the store remembers the log.
    const fn key(self) -> &'static str {
        match self {
            Self::Head => "history/subjects",
            Self::Frozen => "history/frozen_subjects",
        }
    }
}

/// The commits that were read last up to each end, in a process that stays.
#[derive(Default)]
pub(in crate::engine) struct PastCommitCache([Mutex<Option<NamedCommits>>; 2]);

/// Commits, and the name of the last of them.
type NamedCommits = (String, Arc<PastCommits>);

/// Returns the latest commits up to an end; none if git does not report them.
pub(in crate::engine) fn past_commits(
    cache: &mut ArtifactCache<'_>,
    shared: Option<&PastCommitCache>,
    commits: &CommitLog,
    end: LogEnd,
) -> Arc<PastCommits> {
    let last = if end == LogEnd::Head { &commits.head } else { &commits.frozen };
    let slot = shared.map(|shared| &shared.0[end as usize]);
    if let Some(slot) = slot {
        let known = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, past)) = known.as_ref().filter(|(of, _)| of == last) {
            return Arc::clone(past);
        }
    }
    let past = Arc::new(log(cache, last, end).map(|log| PastCommits::parse(&log)).unwrap_or_default());
    if let Some(slot) = slot {
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some((last.clone(), Arc::clone(&past)));
    }
    past
}

/// Returns git's log, as it is remembered or new.
fn log(cache: &mut ArtifactCache<'_>, head: &str, end: LogEnd) -> Option<Vec<u8>> {
    // The head is a part of the value, so that the log of another one is never taken for this one's.
    let title = format!("{head}\n");
    let remembered = cache.query_store(|store| store.get_meta(end.key())).flatten();
    if let Some(log) = remembered.as_deref().and_then(|bytes| bytes.strip_prefix(title.as_bytes())) {
        return Some(log.to_vec());
    }
    let most = MAX_COMMITS.to_string();
    // `--relative`, because the project may be a folder of its repository.
    let arguments = [
        "log", "--no-merges", "--name-only", "--no-renames", "--no-ext-diff", "--relative", "-z",
        "--format=%x01%s", "-n", &most, head, "--",
    ];
    let log = git(&cache.workspace, &arguments, b"")?.stdout;
    if log.len() <= MAX_REMEMBERED {
        cache.remember(end.key(), &[title.as_bytes(), &log].concat());
    }
    Some(log)
}

impl PastCommits {
    /// Reads a log in which a byte 1 and the subject precede the names that each commit changed.
    fn parse(log: &[u8]) -> Self {
        let mut past = Self::default();
        for entry in log.split(|byte| *byte == 0) {
            // Even with `-z`, a line feed separates a commit's format from its first name.
            let entry = entry.strip_prefix(b"\n").unwrap_or(entry);
            if let Some(subject) = entry.strip_prefix(&[1]) {
                past.commits.push(SubjectAndFiles { subject: subject.to_vec(), files: Vec::new() });
            } else if let (Some(commit), Ok(path)) = (past.commits.last_mut(), RelPath::new(entry)) {
                let next = u32::try_from(past.paths.len()).unwrap_or(u32::MAX);
                commit.files.push(*past.paths.entry(path).or_insert(next));
            }
        }
        past
    }

    /// Returns the commits in terms of some files.
    pub(in crate::engine) fn of_files<'a>(
        &'a self,
        files: impl Iterator<Item = &'a RelPath>,
    ) -> Vec<CommitOfFiles<'a>> {
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
        self.commits.iter().map(of_files).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_read_with_subjects_and_files() {
        let log = b"\x01Add a\0\nsrc/a.py\0src/b.py\0\x01Empty\0\x01Fix b\0\nsrc/b.py\0gone.py\0";
        let past = PastCommits::parse(log);
        let files = ["src/b.py", "new.py", "src/a.py"].map(|path| RelPath::new(path.as_bytes()).unwrap());
        let commits = past.of_files(files.iter());
        let commits: Vec<_> = commits
            .iter()
            .map(|commit| (commit.subject, commit.files.clone(), commit.changed_files))
            .collect();
        let expected: [(&[u8], Vec<usize>, usize); 3] =
            [(b"Add a", vec![2, 0], 2), (b"Empty", vec![], 0), (b"Fix b", vec![0], 2)];
        assert_eq!(commits, expected);
        assert!(PastCommits::parse(b"").commits.is_empty());
    }
}
