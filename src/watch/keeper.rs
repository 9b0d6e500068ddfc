//! The thread that keeps the watch: it takes what events have said, looks for itself, watches, and tells.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;

use super::backoff::Backoff;
use super::coverage::Coverage;
use super::coverage::World;
use super::inbox::ENTRIES_MAX;
use super::inbox::Extras;
use super::inbox::Inbox;
use super::places::Places;
use super::shared::Shared;
use super::shared::Woken;
use super::signal::Mode;
use super::signal::Signal;
use super::source::Source;
use super::source::files_in;
use super::source::identity;
use super::source::is_folder;
use super::source::make_cookie;
use super::source::make_cookie_folder;
use super::verified::Obstacle;
use super::watcher::Folders;
use super::watcher::Sink;
use crate::model::RelPath;

/// Pauses between watches made anew.
const ANEW_FIRST: Duration = Duration::from_secs(1);
const ANEW_MOST: Duration = Duration::from_mins(1);

/// Pauses between tries to get events where there are none.
const RETRY_FIRST: Duration = Duration::from_mins(1);
const RETRY_MOST: Duration = Duration::from_mins(10);

/// Beyond so many folders that came at once, the whole tree is asked for: one walk is less work than many.
const LOOKS_MAX: usize = 16;

/// The state of the thread.
pub(super) struct Keeper {
    shared: Arc<Shared>,
    world: World,
    sink: Sink,
    root: Option<(u64, u64)>,
    coverage: Option<Coverage>,
    anew: Backoff,
    retry: Duration,
    due: Option<Instant>,
}

impl Keeper {
    pub(super) fn new(
        shared: Arc<Shared>,
        source: Arc<dyn Source>,
        folders: Folders,
        sink: Sink,
        root: Option<(u64, u64)>,
        percent: u64,
    ) -> Self {
        Self {
            shared,
            world: World { limit: source.limit(), source, folders, percent },
            sink,
            root,
            coverage: None,
            anew: Backoff::new(ANEW_FIRST, ANEW_MOST),
            retry: RETRY_FIRST,
            due: None,
        }
    }

    /// Runs until it is stopped or the root is gone.
    pub(super) fn run(mut self) {
        self.renew();
        loop {
            match self.shared.wait(self.due) {
                Woken::Stop => return,
                Woken::Due => self.renew(),
                Woken::Batch(batch) => self.handle(batch),
            }
            if self.shared.lock().counts.mode == Mode::Gone {
                return;
            }
        }
    }

    /// Makes a new watch of everything.
    fn renew(&mut self) {
        self.due = None;
        if !self.has_root() {
            return;
        }
        match self.open() {
            Ok(coverage) => {
                let folders = coverage.len();
                self.coverage = Some(coverage);
                self.retry = RETRY_FIRST;
                self.set_mode(Mode::Watching);
                (self.sink)(Signal::Watching { folders });
                // Also those of the queue before: nobody needs to ask again.
                self.make_cookies();
            }
            Err(obstacle) => self.give_up(obstacle),
        }
    }

    fn open(&mut self) -> Result<Coverage, Obstacle> {
        // First of all, so that the new queue's watches are not counted on top of the old one's.
        self.coverage = None;
        self.world.limit = self.world.source.limit();
        let (instance, wanted) = {
            let mut state = self.shared.lock();
            state.forget();
            state.counts.instances += 1;
            state.counts.limit = self.world.limit;
            (state.counts.instances, state.wanted.clone())
        };
        let shared = Arc::clone(&self.shared);
        let handler = Box::new(move |event| shared.receive(instance, event));
        let watches = self.world.source.open(handler).map_err(Obstacle::NoQueue)?;
        let mut coverage = Coverage::new(watches);
        coverage.cover_root(&self.world, &self.shared.places)?;
        let none = Extras::default();
        let extras = coverage.watch_extras(&self.world, &self.shared.places, &wanted, &none)?;
        self.shared.lock().extras = extras;
        Ok(coverage)
    }

    fn handle(&mut self, mut batch: Inbox) {
        if batch.root && !self.has_root() {
            return;
        }
        if self.coverage.is_none() {
            return;
        }
        if let Some(why) = batch.lost {
            self.lose(why);
            return;
        }
        let done = if batch.full {
            let folders = self.coverage.as_ref().map_or(0, Coverage::len);
            Err(Obstacle::Full { folders: folders as u64, limit: self.world.limit })
        } else {
            self.follow(&mut batch)
        };
        if let Err(obstacle) = done {
            self.give_up(obstacle);
            return;
        }
        let has_cookies = batch.cookies;
        self.tell(batch);
        if has_cookies {
            self.make_cookies();
        }
    }

    /// Watches what came, and no longer what went; enters the files in folders that came.
    fn follow(&mut self, batch: &mut Inbox) -> Result<(), Obstacle> {
        let Some(coverage) = &mut self.coverage else { return Ok(()) };
        let places = &self.shared.places;
        let came = look(batch, coverage, places);
        let is_whole = batch.refolder || LOOKS_MAX < came.len();
        let whole = is_whole.then_some(&b""[..]);
        for below in whole.into_iter().chain(came.iter().map(RelPath::as_bytes)) {
            // Found with the whole tree; what a walk missed while names came and went is asked for by itself.
            if RelPath::new(below).is_ok_and(|folder| coverage.contains(&folder)) {
                continue;
            }
            for folder in coverage.cover(&self.world, places, below)? {
                enter_files(batch, places, &folder);
            }
        }
        self.shared.lock().counts.folders = coverage.len() as u64;
        if batch.extras {
            self.follow_extras(batch)?;
        }
        Ok(())
    }

    fn follow_extras(&mut self, batch: &mut Inbox) -> Result<(), Obstacle> {
        let Some(coverage) = &mut self.coverage else { return Ok(()) };
        let (wanted, old) = {
            let mut state = self.shared.lock();
            (state.wanted.clone(), std::mem::take(&mut state.extras))
        };
        let extras = coverage.watch_extras(&self.world, &self.shared.places, &wanted, &old)?;
        self.shared.lock().extras = extras;
        // Between the old watch and the new one a change may have been missed.
        batch.relist = true;
        Ok(())
    }

    /// Tells what changed, and behind it which cookies came back.
    fn tell(&mut self, batch: Inbox) {
        if batch.all {
            self.shared.lock().counts.floods += 1;
            (self.sink)(Signal::TouchedAll);
        } else if batch.relist || !batch.files.is_empty() {
            let paths = batch.files.into_iter().collect();
            (self.sink)(Signal::Touched { paths, relist: batch.relist });
        }
        let Some(newest) = batch.passed else { return };
        let passed = {
            let mut state = self.shared.lock();
            let later = state.made.split_off(&(newest + 1));
            std::mem::replace(&mut state.made, later)
        };
        for number in passed.into_keys() {
            (self.sink)(Signal::Passed(number));
        }
    }

    fn lose(&mut self, why: String) {
        self.coverage = None;
        {
            let mut state = self.shared.lock();
            state.forget();
            // What the old queue still says is heard no more.
            state.counts.instances += 1;
            state.counts.losses += 1;
        }
        self.set_mode(Mode::Lost);
        self.due = Some(self.anew.next(Instant::now()));
        (self.sink)(Signal::Lost { why });
    }

    /// Watches nothing rather than a part.
    fn give_up(&mut self, obstacle: Obstacle) {
        // Where nothing can be watched any more, the root is the first suspect.
        if !self.has_root() {
            return;
        }
        self.coverage = None;
        {
            let mut state = self.shared.lock();
            state.forget();
            state.made.clear();
        }
        self.set_mode(Mode::Verified);
        if obstacle.may_pass() {
            self.due = Some(Instant::now() + self.retry);
            self.retry = (self.retry + self.retry).min(RETRY_MOST);
        }
        (self.sink)(obstacle.into_signal());
    }

    fn has_root(&mut self) -> bool {
        if self.root.is_some() && identity(&self.shared.places.root).ok() == self.root {
            return true;
        }
        self.coverage = None;
        self.set_mode(Mode::Gone);
        (self.sink)(Signal::RootGone);
        false
    }

    /// Makes the cookies that have not come back, and their folder where it went.
    fn make_cookies(&mut self) {
        let Some(coverage) = &mut self.coverage else { return };
        self.shared.lock().cookies_watched = false;
        if self.shared.lock().made.is_empty() {
            return;
        }
        let places = &self.shared.places;
        // Where no cookie can be made none comes back, and whoever waits for one finds out.
        if make_cookie_folder(places).is_err() {
            return;
        }
        if let Err(obstacle) = coverage.watch_cookies(&self.world, places) {
            self.give_up(obstacle);
            return;
        }
        let numbers: Vec<u64> = {
            let mut state = self.shared.lock();
            state.cookies_watched = true;
            state.made.keys().copied().collect()
        };
        for number in numbers {
            _ = make_cookie(&places.cookie(number));
        }
    }

    fn set_mode(&self, mode: Mode) {
        let folders = self.coverage.as_ref().map_or(0, Coverage::len);
        let mut state = self.shared.lock();
        state.counts.mode = mode;
        state.counts.folders = folders as u64;
    }
}

/// Forgets folders that went, and returns those that came, but none that lies in another of them.
fn look(batch: &mut Inbox, coverage: &mut Coverage, places: &Places) -> BTreeSet<RelPath> {
    let mut came = BTreeSet::new();
    for (path, is_created_only) in std::mem::take(&mut batch.looks) {
        let is_folder = is_folder(&places.path(&path));
        if is_folder {
            batch.files.remove(&path);
        }
        // Found by a look at the folder above it, before its own event was taken.
        if is_folder && is_created_only && coverage.contains(&path) {
            continue;
        }
        coverage.forget(&path);
        let is_within = |up: &[u8]| RelPath::new(up).is_ok_and(|up| came.contains(&up));
        if is_folder && !ancestors(&path).any(is_within) {
            came.insert(path);
        }
    }
    came
}

/// Enters what lies in a folder that was not watched: no event told of it.
fn enter_files(batch: &mut Inbox, places: &Places, folder: &RelPath) {
    batch.relist = true;
    batch.files.remove(folder);
    for name in files_in(&places.path(folder)) {
        let name = std::os::unix::ffi::OsStrExt::as_bytes(name.as_os_str());
        batch.files.extend(RelPath::new(&[folder.as_bytes(), b"/", name].concat()));
    }
    if ENTRIES_MAX < batch.files.len() {
        batch.all = true;
        batch.files.clear();
    }
}

/// Returns the folders above a path, the nearest first.
fn ancestors(path: &RelPath) -> impl Iterator<Item = &[u8]> {
    let bytes = path.as_bytes();
    bytes.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(at, _)| &bytes[..at])
}
