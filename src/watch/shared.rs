//! What the threads of the watcher share: the system's one, which only enters events, the keeper's, and its users'.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Condvar;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Instant;

use super::inbox::Event;
use super::inbox::Extras;
use super::inbox::Inbox;
use super::places::Places;
use super::signal::Counts;
use super::signal::Mode;

/// Cookies that never come back are forgotten, the oldest first.
const COOKIES_MAX: usize = 1024;

/// What the threads share. The lock is never held while anything is waited for.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    pub(super) places: Places,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) inbox: Inbox,
    pub(super) extras: Extras,
    /// Files outside of the tree that are wanted.
    pub(super) wanted: Vec<PathBuf>,
    pub(super) counts: Counts,
    pub(super) stop: bool,
    /// Cookies that were made, or are to be, and have not come back.
    pub(super) made: BTreeMap<u64, Instant>,
    last_cookie: u64,
    /// Whether the folder of cookies is watched, as far as is known.
    pub(super) cookies_watched: bool,
}

/// What the keeper is woken for.
pub(super) enum Woken {
    Stop,
    /// The time that it waited for has come.
    Due,
    Batch(Inbox),
}

impl Shared {
    pub(super) fn new(places: Places) -> Self {
        Self { state: Mutex::default(), wake: Condvar::new(), places }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes the keeper.
    pub(super) fn ask(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.wake.notify_all();
    }

    /// Enters an event of the queue that was made as the `instance`th.
    pub(super) fn receive(&self, instance: u64, event: Event) {
        let mut state = self.lock();
        if state.counts.instances != instance {
            return;
        }
        let was_empty = state.inbox.is_empty();
        let State { inbox, extras, .. } = &mut *state;
        let is_cookie = matches!(&event, Event::At(_, path) if path.starts_with(&self.places.cookies));
        if !inbox.push(event, &self.places, extras) {
            return;
        }
        if is_cookie {
            let passed = state.inbox.passed.and_then(|number| state.made.get(&number));
            let took = passed.map(Instant::elapsed);
            state.counts.last_cookie = took.or(state.counts.last_cookie);
        } else {
            state.counts.events += 1;
        }
        if was_empty {
            self.wake.notify_all();
        }
    }

    /// Waits for something to do.
    pub(super) fn wait(&self, due: Option<Instant>) -> Woken {
        let mut state = self.lock();
        loop {
            if state.stop {
                return Woken::Stop;
            }
            let left = due.map(|due| due.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Woken::Due;
            }
            if !state.inbox.is_empty() {
                return Woken::Batch(std::mem::take(&mut state.inbox));
            }
            state = match left {
                None => self.wake.wait(state).unwrap_or_else(PoisonError::into_inner),
                Some(left) => self.wake.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0,
            };
        }
    }
}

impl State {
    /// Takes the next cookie's number; none where no cookie can come back.
    pub(super) fn next_cookie(&mut self) -> Option<u64> {
        match self.counts.mode {
            Mode::Verified | Mode::Gone => return None,
            Mode::Starting | Mode::Watching | Mode::Lost => {}
        }
        self.last_cookie += 1;
        self.made.insert(self.last_cookie, Instant::now());
        if COOKIES_MAX < self.made.len() {
            self.made.pop_first();
        }
        Some(self.last_cookie)
    }

    /// Forgets what came from a queue that is no more.
    pub(super) fn forget(&mut self) {
        let Inbox { root, refolder: _, extras: _, .. } = std::mem::take(&mut self.inbox);
        self.inbox.root = root;
        self.extras = Extras::default();
        self.cookies_watched = false;
    }
}
