//! Delays changed files until they have settled.
//!
//! An editor empties a file and then writes it, and a build writes one in many pieces, so a file that is read at once
//! may be incomplete. But a file that is written to all the time must not be postponed forever, nor delay others.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::RelPath;

/// A file is refreshed after no event about it for this long.
const QUIET_PERIOD: Duration = Duration::from_millis(25);
/// A file is refreshed at the latest this long after the first event about it.
const MAX_DELAY: Duration = Duration::from_millis(500);
/// The pause after a refresh, as a multiple of its duration, so that a burst of changes uses only part of a core.
const REST_FACTOR: u32 = 3;
/// With more changed files than this everything is refreshed instead.
const MAX_FILES: usize = 50_000;

/// The files that have changed, and since when.
#[derive(Debug, Default)]
pub(super) struct ChangeDebouncer {
    files: HashMap<RelPath, ChangeTimes>,
    /// Set if files may have been added or removed, or too many have changed: then everything is refreshed.
    all_files: Option<ChangeTimes>,
    /// The end of the pause after the last refresh; nothing is due earlier.
    rests_until: Duration,
}

#[derive(Debug, Clone, Copy)]
struct ChangeTimes {
    first: Duration,
    last: Duration,
}

impl ChangeTimes {
    const fn starting_at(now: Duration) -> Self {
        Self { first: now, last: now }
    }

    fn due_at(self) -> Duration {
        self.last.saturating_add(QUIET_PERIOD).min(self.first.saturating_add(MAX_DELAY))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum DueChanges {
    AllFiles,
    Files(Vec<RelPath>),
}

impl ChangeDebouncer {
    pub(super) fn record(&mut self, paths: impl IntoIterator<Item = RelPath>, now: Duration) {
        for path in paths {
            self.files.entry(path).or_insert(ChangeTimes::starting_at(now)).last = now;
        }
        // This bounds the memory: from now on, a refresh of everything replaces the single files.
        if MAX_FILES < self.files.len() {
            self.record_all(now);
        }
    }

    /// Records that any file may have changed, appeared or disappeared.
    pub(super) fn record_all(&mut self, now: Duration) {
        // A refresh of everything includes them.
        self.files.clear();
        self.all_files.get_or_insert(ChangeTimes::starting_at(now)).last = now;
    }

    /// Records that a refresh has ended, and how long it took.
    pub(super) fn record_refresh(&mut self, now: Duration, took: Duration) {
        self.rests_until = now.saturating_add(took.saturating_mul(REST_FACTOR).min(MAX_DELAY));
    }

    pub(super) fn take_due(&mut self, now: Duration) -> Option<DueChanges> {
        if now < self.rests_until {
            return None;
        }
        if self.all_files.is_some_and(|times| times.due_at() <= now) {
            // A refresh of everything includes the files that have not settled yet.
            *self = Self::default();
            return Some(DueChanges::AllFiles);
        }
        let mut due: Vec<RelPath> =
            self.files.extract_if(|_, times| times.due_at() <= now).map(|(path, _)| path).collect();
        due.sort_unstable();
        (!due.is_empty()).then_some(DueChanges::Files(due))
    }

    /// Returns when something will be due next.
    pub(super) fn next_due(&self) -> Option<Duration> {
        let due = self.files.values().chain(&self.all_files).map(|times| times.due_at()).min();
        due.map(|due| due.max(self.rests_until))
    }

    /// Returns how many files are delayed; a refresh of everything counts as one more.
    pub(super) fn len(&self) -> usize {
        self.files.len() + usize::from(self.all_files.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Duration = Duration::from_secs(100);

    fn path(name: &str) -> RelPath {
        RelPath::new(name.as_bytes()).unwrap()
    }

    fn millis(millis: u64) -> Duration {
        START + Duration::from_millis(millis)
    }

    fn files(names: &[&str]) -> DueChanges {
        DueChanges::Files(names.iter().map(|name| path(name)).collect())
    }

    #[test]
    fn a_file_is_looked_at_when_it_has_rested() {
        let mut settling = ChangeDebouncer::default();
        settling.record([path("a")], millis(0));
        settling.record([path("a")], millis(20));
        assert_eq!(settling.take_due(millis(30)), None);
        assert_eq!(settling.next_due(), Some(millis(45)));
        assert_eq!(settling.take_due(millis(45)), Some(files(&["a"])));
        assert_eq!((settling.take_due(millis(999)), settling.next_due()), (None, None));
    }

    #[test]
    fn a_file_that_never_rests_is_looked_at_all_the_same() {
        let mut settling = ChangeDebouncer::default();
        let looks = (0..2000).filter(|&now| {
            settling.record([path("log")], millis(now));
            settling.take_due(millis(now)).is_some()
        });
        assert_eq!(looks.count(), 3);
    }

    #[test]
    fn a_busy_file_keeps_no_other_waiting() {
        let mut settling = ChangeDebouncer::default();
        settling.record([path("quiet")], millis(0));
        (0..25).for_each(|now| settling.record([path("busy")], millis(now)));
        assert_eq!(settling.take_due(millis(25)), Some(files(&["quiet"])));
    }

    #[test]
    fn a_refresh_of_everything_includes_single_files() {
        let mut settling = ChangeDebouncer::default();
        settling.record([path("a")], millis(0));
        settling.record_all(millis(10));
        assert_eq!(settling.len(), 1);
        assert_eq!(settling.take_due(millis(34)), None);
        assert_eq!(settling.take_due(millis(35)), Some(DueChanges::AllFiles));
        assert_eq!(settling.len(), 0);
    }

    #[test]
    fn a_burst_of_changes_is_refreshed_in_few_batches() {
        let mut settling = ChangeDebouncer::default();
        let mut batches = Vec::new();
        for now in 0..1000 {
            settling.record([path(&now.to_string())], millis(now));
            if let Some(DueChanges::Files(due)) = settling.take_due(millis(now)) {
                batches.push(due.len());
                settling.record_refresh(millis(now), Duration::from_millis(20));
            }
        }
        assert_eq!(batches, [[1].as_slice(), &[60; 16]].concat());
        assert_eq!(settling.next_due(), Some(millis(1045)), "60 ms after the last batch");
        settling.record_refresh(millis(1000), Duration::from_secs(9));
        assert_eq!(settling.take_due(millis(1499)), None);
        assert!(
            settling.take_due(millis(1500)).is_some(),
            "a long refresh delays the next one by half a second"
        );
    }

    #[test]
    fn too_many_files_cause_a_refresh_of_everything() {
        let mut settling = ChangeDebouncer::default();
        settling.record((0..=MAX_FILES).map(|number| path(&number.to_string())), millis(0));
        assert_eq!(settling.len(), 1);
        assert_eq!(settling.take_due(millis(25)), Some(DueChanges::AllFiles));
    }
}
