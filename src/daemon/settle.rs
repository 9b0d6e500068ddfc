//! Changed files rest here until they are worth a look.
//!
//! An editor empties a file and then writes it, a build writes one in many pieces: who looks at once sees what nobody
//! meant. But a file that is written to all the time must not be put off for ever, nor keep others waiting.

use std::collections::HashMap;
use std::time::Duration;

use crate::model::RelPath;

/// A file is looked at when nothing was heard of it for so long.
const REST: Duration = Duration::from_millis(25);
/// Or so long after the first that was heard.
const MOST_DELAY: Duration = Duration::from_millis(500);
/// Of more files than this it is only kept that there are many: then all are looked at.
const MOST_FILES: usize = 50_000;

/// The files that have changed, and since when.
#[derive(Debug, Default)]
pub(super) struct Settling {
    files: HashMap<RelPath, Times>,
    /// Files may have come or gone, or too many have changed: everything is to be looked at.
    everything: Option<Times>,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    first: Duration,
    last: Duration,
}

impl Times {
    const fn at(now: Duration) -> Self {
        Self { first: now, last: now }
    }

    /// Returns when it is time to look.
    fn due(self) -> Duration {
        self.last.saturating_add(REST).min(self.first.saturating_add(MOST_DELAY))
    }
}

/// What is to be looked at.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Every file of the project.
    Everything,
    /// These files.
    Files(Vec<RelPath>),
}

impl Settling {
    /// Takes in that files have changed.
    pub(super) fn touch(&mut self, paths: impl IntoIterator<Item = RelPath>, now: Duration) {
        for path in paths {
            self.files.entry(path).or_insert(Times::at(now)).last = now;
        }
        if MOST_FILES < self.files.len() {
            self.touch_everything(now);
        }
    }

    /// Takes in that any file may have changed, come or gone.
    pub(super) fn touch_everything(&mut self, now: Duration) {
        self.files.clear();
        self.everything.get_or_insert(Times::at(now)).last = now;
    }

    /// Takes out what is due.
    pub(super) fn due(&mut self, now: Duration) -> Option<Due> {
        if self.everything.is_some_and(|times| times.due() <= now) {
            *self = Self::default();
            return Some(Due::Everything);
        }
        let mut due: Vec<RelPath> =
            self.files.extract_if(|_, times| times.due() <= now).map(|(path, _)| path).collect();
        due.sort_unstable();
        (!due.is_empty()).then_some(Due::Files(due))
    }

    /// Returns when something will be due next.
    pub(super) fn next(&self) -> Option<Duration> {
        self.files.values().chain(&self.everything).map(|times| times.due()).min()
    }

    /// Returns how many files rest here; everything counts as one more.
    pub(super) fn len(&self) -> usize {
        self.files.len() + usize::from(self.everything.is_some())
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

    fn files(names: &[&str]) -> Due {
        Due::Files(names.iter().map(|name| path(name)).collect())
    }

    #[test]
    fn a_file_is_looked_at_when_it_has_rested() {
        let mut settling = Settling::default();
        settling.touch([path("a")], millis(0));
        settling.touch([path("a")], millis(20));
        assert_eq!(settling.due(millis(30)), None);
        assert_eq!(settling.next(), Some(millis(45)));
        assert_eq!(settling.due(millis(45)), Some(files(&["a"])));
        assert_eq!((settling.due(millis(999)), settling.next()), (None, None));
    }

    #[test]
    fn a_file_that_never_rests_is_looked_at_all_the_same() {
        let mut settling = Settling::default();
        let looks = (0..2000).filter(|&now| {
            settling.touch([path("log")], millis(now));
            settling.due(millis(now)).is_some()
        });
        assert_eq!(looks.count(), 3);
    }

    #[test]
    fn a_busy_file_keeps_no_other_waiting() {
        let mut settling = Settling::default();
        settling.touch([path("quiet")], millis(0));
        (0..25).for_each(|now| settling.touch([path("busy")], millis(now)));
        assert_eq!(settling.due(millis(25)), Some(files(&["quiet"])));
    }

    #[test]
    fn everything_holds_each_single_file() {
        let mut settling = Settling::default();
        settling.touch([path("a")], millis(0));
        settling.touch_everything(millis(10));
        assert_eq!(settling.len(), 1);
        assert_eq!(settling.due(millis(34)), None);
        assert_eq!(settling.due(millis(35)), Some(Due::Everything));
        assert_eq!(settling.len(), 0);
    }

    #[test]
    fn too_many_files_are_everything() {
        let mut settling = Settling::default();
        settling.touch((0..=MOST_FILES).map(|number| path(&number.to_string())), millis(0));
        assert_eq!(settling.len(), 1);
        assert_eq!(settling.due(millis(25)), Some(Due::Everything));
    }
}
