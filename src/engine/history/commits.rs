//! How often the files of a checkout change, according to git's history.
//!
//! All results depend only on the commits and the working tree, so that a fresh clone with an empty cache gives the
//! same answers; what is cached in the store is keyed by commit.

use std::collections::{HashMap, HashSet};

use super::checkout::Checkout;
use crate::engine::artifacts::ArtifactCache;
use crate::model::RelPath;

/// Scores are frozen at the first commit of each run of this many first-parent commits: a score that moved with every
/// commit would itself be what changes the order.
const COMMITS_BETWEEN_FREEZES: u64 = 128;
/// The number of commits after which a change counts half.
const HALF_LIFE: f64 = 100.0;
/// Older commits weigh less than a thousandth.
const COMMITS_COUNTED: &str = "1024";
/// The store's key for the commit at which scores are frozen, and for the scores.
const FROZEN_KEY: &str = "history/frozen";
const SCORES_KEY: &str = "history/scores";
/// The store's key for the changes since then.
const EDITS_KEY: &str = "history/edits";

/// A larger log is requested each time instead of being stored.
const MAX_REMEMBERED: usize = 4 << 20;

/// The commits of a checkout. Paths are those in the project.
#[derive(Debug)]
pub(in crate::engine) struct CommitLog {
    pub(in crate::engine) head: String,
    /// The commit at which scores are frozen.
    pub(in crate::engine) frozen: String,
    /// How often commits up to `frozen` changed a file, where each change is halved with age; in millionths.
    pub(in crate::engine) scores: HashMap<RelPath, u64>,
    /// The changes of each file by the commits since `frozen`, newest first.
    pub(in crate::engine) edits: HashMap<RelPath, Vec<FileEdit>>,
    /// How many commits since `frozen` have changed any file, counted up to the last one that did.
    commits_since: u32,
    /// The prefix of the files' paths in the project.
    prefix: Vec<u8>,
    /// The arguments that disable the filters in git's settings; `None` if one cannot be disabled.
    filters: Option<Vec<String>>,
}

/// The range of commits that a history is read for.
struct HistoryEnds {
    head: String,
    frozen: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engine) struct FileEdit {
    /// The number of the commit; the first after the frozen one is 1.
    pub(in crate::engine) commit: u32,
    /// Git's name for the earlier bytes; `None` if there was no such file, or it was not text.
    pub(in crate::engine) before: Option<String>,
}

impl CommitLog {
    /// Reads the commits of a checkout; `None` outside of git, and before the first commit.
    pub(super) fn read(cache: &mut ArtifactCache<'_>, checkout: &Checkout<'_>) -> Option<Self> {
        let HistoryEnds { head, frozen } = history_ends(cache, checkout)?;
        let scores = checkout.by_path_in_project(scores(cache, checkout, &frozen)?);
        let edits = checkout.by_path_in_project(edits(cache, checkout, &frozen, &head)?);
        let last = edits.values().filter_map(|edits| edits.first()).map(|edit| edit.commit);
        let commits_since = last.max().unwrap_or_default();
        let (prefix, filters) = (checkout.prefix(), checkout.filters());
        Some(Self { head, frozen, scores, edits, commits_since, prefix, filters })
    }

    /// Returns the probability that the next commit changes a file, between 0 and 1, by how many of the last ones did,
    /// weighted by age. Uncommitted changes will be committed.
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    pub(super) fn change_rate(&self, path: &RelPath, is_uncommitted: bool) -> f64 {
        let weight =
            |commit: u32| f64::exp2(-f64::from(self.commits_since.saturating_sub(commit)) / HALF_LIFE);
        let frozen = self.scores.get(path).copied().unwrap_or_default() as f64 / 1_000_000.0;
        let since = self.edits.get(path).into_iter().flatten().map(|edit| weight(edit.commit));
        let changes = frozen * weight(0) + since.sum::<f64>() + f64::from(u8::from(is_uncommitted));
        // The total weight if every commit had changed it.
        let commits = 1.0 / (1.0 - f64::exp2(-1.0 / HALF_LIFE));
        // Half a change is added, because no file is certain to stay unchanged, nor to change.
        ((changes + 0.5) / (commits + 1.0)).min(0.99)
    }

    /// Returns the tracked files whose bytes differ between `head` and the working tree; `None` if git does not report
    /// them.
    pub(super) fn uncommitted(&self, checkout: &Checkout<'_>) -> Option<HashSet<RelPath>> {
        let changed = checkout.changed_since(self.filters.as_deref()?, &self.head)?;
        Some(changed.into_keys().collect())
    }

    /// Returns git's name for the committed bytes of a file. A path that is not UTF-8 has none; its file counts as
    /// changed.
    pub(in crate::engine) fn committed_name(&self, path: &RelPath) -> Option<String> {
        let inside = path.as_bytes().strip_prefix(self.prefix.as_slice())?;
        Some(format!("{}:./{}", self.head, std::str::from_utf8(inside).ok()?))
    }
}

fn history_ends(cache: &mut ArtifactCache<'_>, checkout: &Checkout<'_>) -> Option<HistoryEnds> {
    // Both questions in one process, because starting git takes longer than either of them.
    let about = checkout.line(&["rev-parse", "--is-shallow-repository", "HEAD^{commit}"])?;
    let (_, head) = about.split_once('\n')?;
    Some(HistoryEnds { frozen: frozen_commit(cache, checkout, &about)?, head: head.to_owned() })
}

/// Returns the changes by the first-parent commits after `frozen`, up to `head`.
fn edits(
    cache: &mut ArtifactCache<'_>,
    checkout: &Checkout<'_>,
    frozen: &str,
    head: &str,
) -> Option<HashMap<RelPath, Vec<FileEdit>>> {
    // The value contains the commits, so that the log up to another head is never used for this one.
    let title = format!("{frozen} {head}\n");
    let key = checkout.key(EDITS_KEY);
    let remembered = cache.query_store(|store| store.get_meta(&key)).flatten();
    if let Some(log) = remembered.as_deref().and_then(|bytes| bytes.strip_prefix(title.as_bytes())) {
        return Some(read_edits(log));
    }
    let range = format!("{frozen}..{head}");
    // Merges count as one change, that of the branch. Renames are not followed, so that each entry has exactly one
    // path. Blobs keep their full names, by which they are requested later. `--relative`, because the project may be a
    // folder of its repository. `--` ends the revisions: a file may be named like one.
    let log = [
        "log",
        "--first-parent",
        "--diff-merges=first-parent",
        "--raw",
        "--no-abbrev",
        "--no-renames",
        "--no-ext-diff",
        "--relative",
        "-z",
        "--format=%x01",
        &range,
        "--",
    ];
    let log = checkout.git(&log, b"")?.stdout;
    if log.len() <= MAX_REMEMBERED {
        cache.remember(&key, &[title.as_bytes(), &log].concat());
    }
    Some(read_edits(&log))
}

/// Returns the commit at which scores are frozen. `about` is whether the repository is shallow, and its head: a shallow
/// repository that gets its missing commits is counted again although its head is the same.
fn frozen_commit(cache: &mut ArtifactCache<'_>, checkout: &Checkout<'_>, about: &str) -> Option<String> {
    let (_, head) = about.split_once('\n')?;
    let key = checkout.key(FROZEN_KEY);
    let remembered = cache.query_store(|store| store.get_meta(&key)).flatten();
    let remembered = remembered.and_then(|bytes| String::from_utf8(bytes).ok());
    if let Some((of, frozen)) = remembered.as_deref().and_then(|text| text.split_once(' '))
        && of == about
    {
        return Some(frozen.to_owned());
    }
    let count: u64 = checkout.line(&["rev-list", "--count", "--first-parent", head])?.parse().ok()?;
    // Counted from the first commit, so that every clone freezes its scores at the same ones.
    let back = count.checked_sub(1)? % COMMITS_BETWEEN_FREEZES;
    let frozen = checkout.line(&["rev-parse", "--verify", "--quiet", &format!("{head}~{back}")])?;
    cache.remember(&key, format!("{about} {frozen}").as_bytes());
    Some(frozen)
}

fn scores(
    cache: &mut ArtifactCache<'_>,
    checkout: &Checkout<'_>,
    frozen: &str,
) -> Option<HashMap<RelPath, u64>> {
    let key = checkout.key(SCORES_KEY);
    let remembered = cache.query_store(|store| store.get_meta(&key)).flatten();
    if let Some(scores) = remembered.and_then(|bytes| read_scores(&bytes, frozen)) {
        return Some(scores);
    }
    let log = [
        "log",
        "--first-parent",
        "--diff-merges=first-parent",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        "--relative",
        "-z",
        "--format=%x01",
        "-n",
        COMMITS_COUNTED,
        frozen,
        "--",
    ];
    let log = checkout.git(&log, b"")?.stdout;
    let scores = count_scores(&log);
    cache.remember(&key, &write_scores(&scores, frozen));
    Some(scores)
}

/// Parses a log in which a byte 1 precedes the names changed by each commit.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a weight is between 0 and a million"
)]
fn count_scores(log: &[u8]) -> HashMap<RelPath, u64> {
    let mut scores = HashMap::new();
    let mut age = -1.0;
    for entry in log.split(|byte| *byte == 0) {
        // Even with `-z`, a line feed separates a commit's format from its first name.
        let entry = entry.strip_prefix(b"\n").unwrap_or(entry);
        // A file with this very byte as its name counts as a commit; the only effect is that others age by one more.
        if entry == [1] {
            age += 1.0;
            continue;
        }
        let Ok(path) = RelPath::new(entry) else { continue };
        // Rounded, so that platform differences in the last digits of `exp2` do not affect the order of files.
        let weight = (1_000_000.0 * f64::exp2(-age / HALF_LIFE)).round() as u64;
        *scores.entry(path).or_insert(0) += weight;
    }
    scores
}

fn write_scores(scores: &HashMap<RelPath, u64>, frozen: &str) -> Vec<u8> {
    let mut bytes = frozen.as_bytes().to_vec();
    for (path, score) in scores {
        // NUL is the only byte that occurs in no path.
        bytes.push(0);
        bytes.extend_from_slice(score.to_string().as_bytes());
        bytes.push(b' ');
        bytes.extend_from_slice(path.as_bytes());
    }
    bytes
}

fn read_scores(bytes: &[u8], frozen: &str) -> Option<HashMap<RelPath, u64>> {
    let mut entries = bytes.split(|byte| *byte == 0);
    if entries.next() != Some(frozen.as_bytes()) {
        return None;
    }
    let mut scores = HashMap::new();
    for entry in entries {
        let space = entry.iter().position(|byte| *byte == b' ')?;
        let score = std::str::from_utf8(&entry[..space]).ok()?.parse().ok()?;
        scores.insert(RelPath::new(&entry[space + 1..]).ok()?, score);
    }
    Some(scores)
}

/// Parses a raw log in which a byte 1 precedes the entries of each commit, newest commit first. An entry is
/// `:<mode> <mode> <blob before> <blob after> <status>`, and the path.
pub(super) fn read_edits(log: &[u8]) -> HashMap<RelPath, Vec<FileEdit>> {
    let is_commit = |entry: &[u8]| entry == [1];
    let entries = || log.split(|byte| *byte == 0).map(|entry| entry.strip_prefix(b"\n").unwrap_or(entry));
    let commits = entries().filter(|entry| is_commit(entry)).count();
    // Counted from the oldest, so that commits keep their numbers, which are stored, when others follow.
    let mut commit = u32::try_from(commits).unwrap_or(u32::MAX).saturating_add(1);
    let mut edits: HashMap<RelPath, Vec<FileEdit>> = HashMap::new();
    let mut before = None;
    for entry in entries() {
        if is_commit(entry) {
            commit = commit.saturating_sub(1);
        } else if let Some(change) = entry.strip_prefix(b":") {
            before = Some(blob_before(change));
        } else if let (Some(before), Ok(path)) = (before.take(), RelPath::new(entry)) {
            edits.entry(path).or_default().push(FileEdit { commit, before });
        }
    }
    edits
}

/// Returns the blob before a change, if it was a file: a submodule or a link is not.
fn blob_before(change: &[u8]) -> Option<String> {
    let words: Vec<&str> = std::str::from_utf8(change).ok()?.split(' ').collect();
    let [mode, _, blob, ..] = words[..] else { return None };
    mode.starts_with("100").then(|| blob.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> RelPath {
        RelPath::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_change_counts_less_with_each_commit() {
        let scores = count_scores(b"\x01\0\na\0b\0\x01\0\na\0");
        assert_eq!(scores[&path("b")], 1_000_000);
        assert_eq!(scores[&path("a")], 1_000_000 + 993_092);
    }

    #[test]
    fn scores_are_read_back_for_the_commit_that_they_belong_to() {
        let scores = HashMap::from([(path("a b"), 7), (path("c"), 9)]);
        let bytes = write_scores(&scores, "abc");
        assert_eq!(read_scores(&bytes, "abc"), Some(scores));
        assert_eq!(read_scores(&bytes, "abd"), None);
        assert_eq!(read_scores(b"abc\0x", "abc"), None);
    }

    #[test]
    fn edits_are_read_the_newest_first_and_counted_from_the_frozen_commit() {
        let log = b"\x01\0\n:100644 100644 aa bb M\0a\0:000000 100644 00 cc A\0b\0\x01\0\n:100755 100644 dd aa M\0a\0";
        let edits = read_edits(log);
        let edit = |commit, before: Option<&str>| FileEdit { commit, before: before.map(str::to_owned) };
        assert_eq!(edits[&path("a")], [edit(2, Some("aa")), edit(1, Some("dd"))]);
        assert_eq!(edits[&path("b")], [edit(2, None)]);
    }
}
