//! The state shared by the system's thread, which only adds events, the watching thread, and the threads of users.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::inbox::{EventInbox, ExtraFiles, WatchEvent, WatchPaths};
use super::signal::{WatchCounts, WatchMode};
use crate::model::{LinkedFolder, lock};

/// The most outstanding cookies; older ones are forgotten.
const MAX_COOKIES: usize = 1024;

/// The shared state. The lock is never held while waiting for anything.
#[derive(Debug)]
pub(super) struct SharedWatch {
    state: Mutex<WatchState>,
    wake: Condvar,
    pub(super) places: WatchPaths,
}

#[derive(Debug, Default)]
pub(super) struct WatchState {
    pub(super) inbox: EventInbox,
    pub(super) extras: ExtraFiles,
    /// Files outside of the tree to be watched.
    pub(super) wanted_extras: Vec<PathBuf>,
    pub(super) wanted_links: Vec<LinkedFolder>,
    /// The linked folders that cannot be watched, by name, with the reason.
    pub(super) unwatched_links: BTreeMap<String, String>,
    pub(super) counts: WatchCounts,
    pub(super) is_stopping: bool,
    /// Cookies that were requested and have not come back.
    pub(super) outstanding_cookies: BTreeMap<u64, Instant>,
    last_cookie: u64,
    /// Whether the folder of cookies is known to be watched.
    pub(super) cookies_watched: bool,
}

/// Why the watching thread wakes up.
pub(super) enum WakeReason {
    Stop,
    /// The deadline that it waited for has passed.
    Due,
    Batch(EventInbox),
}

impl SharedWatch {
    pub(super) fn new(places: WatchPaths) -> Self {
        Self { state: Mutex::default(), wake: Condvar::new(), places }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, WatchState> {
        lock(&self.state)
    }

    /// Changes the state and wakes the watching thread.
    pub(super) fn update(&self, change: impl FnOnce(&mut WatchState)) {
        change(&mut self.lock());
        self.wake.notify_all();
    }

    /// Adds an event of the queue with the number `instance`.
    pub(super) fn receive(&self, instance: u64, event: WatchEvent) {
        let mut state = self.lock();
        // A late event of a queue that was replaced. Its change is covered by the rescan that follows each replacement.
        if state.counts.instances != instance {
            return;
        }
        let was_empty = state.inbox.is_empty();
        let WatchState { inbox, extras, .. } = &mut *state;
        let is_cookie = matches!(&event, WatchEvent::Path(_, path) if path.starts_with(&self.places.cookies));
        if !inbox.push(event, &self.places, extras) {
            return;
        }
        if is_cookie {
            let passed = state.inbox.newest_cookie.and_then(|number| state.outstanding_cookies.get(&number));
            let took = passed.map(Instant::elapsed);
            state.counts.last_cookie = took.or(state.counts.last_cookie);
        } else {
            state.counts.events += 1;
        }
        // The thread takes the whole inbox, so only the first entry has to wake it.
        if was_empty {
            self.wake.notify_all();
        }
    }

    pub(super) fn wait(&self, due: Option<Instant>) -> WakeReason {
        let mut state = self.lock();
        loop {
            if state.is_stopping {
                return WakeReason::Stop;
            }
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            // Before the inbox, because a constantly changing tree must not postpone a new watch.
            if left.is_some_and(|left| left.is_zero()) {
                return WakeReason::Due;
            }
            if !state.inbox.is_empty() {
                return WakeReason::Batch(std::mem::take(&mut state.inbox));
            }
            state = match left {
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

impl WatchState {
    /// Returns the number of a new cookie; `None` if no cookie can come back.
    pub(super) fn next_cookie(&mut self) -> Option<u64> {
        match self.counts.mode {
            // After a mere loss of track, cookies are still accepted: the new watch creates those that are outstanding.
            WatchMode::Verified | WatchMode::Gone => return None,
            WatchMode::Starting | WatchMode::Watching | WatchMode::Lost => {}
        }
        self.last_cookie += 1;
        self.outstanding_cookies.insert(self.last_cookie, Instant::now());
        if MAX_COOKIES < self.outstanding_cookies.len() {
            self.outstanding_cookies.pop_first();
        }
        Some(self.last_cookie)
    }

    /// Forgets the events of a queue that no longer exists.
    pub(super) fn reset(&mut self) {
        // Kept, because a pending check of the root does not depend on the queue.
        let check_root = self.inbox.check_root;
        self.inbox = EventInbox { check_root, ..EventInbox::default() };
        self.extras = ExtraFiles::default();
        self.cookies_watched = false;
    }
}
