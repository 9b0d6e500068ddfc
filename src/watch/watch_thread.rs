//! The watching thread: it handles reported events, checks the file system, adds watches, and sends signals.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::coverage::{FolderCoverage, WatchEnvironment};
use super::inbox::{EventInbox, ExtraFiles, MAX_ENTRIES, WatchPaths, WatchedMount};
use super::shared::{SharedWatch, WakeReason};
use super::signal::{FolderLister, SignalSink, WatchMode, WatchObstacle, WatchSignal};
use super::source::{EventSource, files_in, is_folder, make_cookie_folder, remake_cookie};
use crate::model::{FolderIdentity, LinkedFolder, RelPath, path_bytes};
use crate::sys::file_identity;

/// The first and longest pause before a new watch is set up.
const REWATCH_FIRST: Duration = Duration::from_secs(1);
const REWATCH_MAX: Duration = Duration::from_mins(1);

/// The first and longest pause between attempts to get events when there are none.
const RETRY_FIRST: Duration = Duration::from_mins(1);
const RETRY_MAX: Duration = Duration::from_mins(10);

/// The maximum number of folders that are walked individually: beyond it, one walk of the whole tree is less work.
const MAX_FOLDER_CHECKS: usize = 16;

pub(super) struct WatchThread {
    shared: Arc<SharedWatch>,
    environment: WatchEnvironment,
    sink: SignalSink,
    root: Option<(u64, u64)>,
    coverage: Option<FolderCoverage>,
    rewatch_backoff: Backoff,
    retry_pause: Duration,
    next_attempt: Option<Instant>,
}

impl WatchThread {
    pub(super) fn new(
        shared: Arc<SharedWatch>,
        source: Arc<dyn EventSource>,
        folders: FolderLister,
        sink: SignalSink,
        root: Option<(u64, u64)>,
        percent: u64,
    ) -> Self {
        Self {
            shared,
            environment: WatchEnvironment { limit: source.limit(), source, folders, limit_percent: percent },
            sink,
            root,
            coverage: None,
            rewatch_backoff: Backoff::new(REWATCH_FIRST, REWATCH_MAX),
            retry_pause: RETRY_FIRST,
            next_attempt: None,
        }
    }

    /// Runs until it is stopped or the root is gone.
    pub(super) fn run(mut self) {
        self.rewatch();
        loop {
            match self.shared.wait(self.next_attempt) {
                WakeReason::Stop => return,
                WakeReason::Due => self.rewatch(),
                WakeReason::Batch(batch) => self.handle(batch),
            }
            if self.shared.lock().counts.mode == WatchMode::Gone {
                return;
            }
        }
    }

    /// Sets up a new watch of everything.
    fn rewatch(&mut self) {
        self.next_attempt = None;
        if !self.verify_root() {
            return;
        }
        match self.open() {
            Ok(coverage) => {
                let folders = coverage.len();
                self.coverage = Some(coverage);
                self.retry_pause = RETRY_FIRST;
                self.set_mode(WatchMode::Watching);
                // Sent before any cookie, because queries that wait for one rely on the rescan that this signal causes.
                (self.sink)(WatchSignal::Watching { folders });
                // Including those of the previous queue, which need not be requested again.
                self.make_cookies();
            }
            Err(obstacle) => self.suspend(obstacle),
        }
    }

    fn open(&mut self) -> Result<FolderCoverage, WatchObstacle> {
        // Dropped first, so that the new queue's watches are not added to the old one's.
        self.coverage = None;
        self.environment.limit = self.environment.source.limit();
        let (instance, wanted) = {
            let mut state = self.shared.lock();
            state.reset();
            state.counts.instances += 1;
            state.counts.limit = self.environment.limit;
            (state.counts.instances, state.wanted_extras.clone())
        };
        let links = self.shared.lock().wanted_links.clone();
        self.shared.places.set_mounts(links.iter().map(find_mount).collect());
        let shared = Arc::clone(&self.shared);
        let handler = Box::new(move |event| shared.receive(instance, event));
        let watches = self.environment.source.open(handler).map_err(WatchObstacle::from_open)?;
        let mut coverage = FolderCoverage::new(watches);
        coverage.cover_root(&self.environment, &self.shared.places)?;
        let none = ExtraFiles::default();
        let extras = coverage.watch_extras(&self.environment, &self.shared.places, &wanted, &none)?;
        self.shared.lock().extras = extras;
        Ok(coverage)
    }

    fn handle(&mut self, mut batch: EventInbox) {
        if batch.check_root && !self.verify_root() {
            return;
        }
        // Remains of the old queue; the new watch is followed by a rescan.
        if self.coverage.is_none() {
            return;
        }
        if let Some(reason) = batch.lost {
            self.lose_track(reason);
            return;
        }
        // This needs a new watch of everything: until then, new linked folders are compared as if they could not be
        // watched.
        if batch.check_mounts && self.next_attempt.is_none() && self.are_mounts_outdated() {
            self.next_attempt = Some(self.rewatch_backoff.next_attempt(Instant::now()));
        }
        let done = if batch.out_of_watches {
            let folders = self.coverage.as_ref().map_or(0, FolderCoverage::len);
            Err(WatchObstacle::OutOfWatches { folders: folders as u64, limit: self.environment.limit })
        } else {
            self.update_watches(&mut batch)
        };
        if let Err(obstacle) = done {
            self.suspend(obstacle);
            return;
        }
        let has_cookies = batch.remake_cookies;
        self.publish(batch);
        if has_cookies {
            self.make_cookies();
        }
    }

    /// Watches new folders, stops watching removed ones, and adds the files in new folders.
    fn update_watches(&mut self, batch: &mut EventInbox) -> Result<(), WatchObstacle> {
        let Some(coverage) = &mut self.coverage else { return Ok(()) };
        let places = &self.shared.places;
        let came = check_folders(batch, coverage, places);
        let is_whole = batch.relist_folders || MAX_FOLDER_CHECKS < came.len();
        let whole = is_whole.then_some(&b""[..]);
        for below in whole.into_iter().chain(came.iter().map(RelPath::as_bytes)) {
            // Found with the whole tree; folders that the walk missed because names changed meanwhile are checked
            // individually.
            if RelPath::new(below).is_ok_and(|folder| coverage.contains(&folder)) {
                continue;
            }
            for folder in coverage.cover(&self.environment, places, below)? {
                insert_files(batch, places, &folder);
            }
        }
        let unwatched_links = coverage.unwatched_links().clone();
        {
            let mut state = self.shared.lock();
            state.counts.folders = coverage.len() as u64;
            state.unwatched_links = unwatched_links;
        }
        if batch.rewatch_extras {
            self.update_extras(batch)?;
        }
        Ok(())
    }

    fn update_extras(&mut self, batch: &mut EventInbox) -> Result<(), WatchObstacle> {
        let Some(coverage) = &mut self.coverage else { return Ok(()) };
        let (wanted, old) = {
            let mut state = self.shared.lock();
            (state.wanted_extras.clone(), std::mem::take(&mut state.extras))
        };
        let extras = coverage.watch_extras(&self.environment, &self.shared.places, &wanted, &old)?;
        self.shared.lock().extras = extras;
        // A change may have been missed between the old watch and the new one.
        batch.relist = true;
        Ok(())
    }

    /// Reports the changes, and then the cookies that came back.
    fn publish(&mut self, batch: EventInbox) {
        if batch.everything {
            (self.sink)(WatchSignal::AllTouched);
        } else if batch.relist || !batch.files.is_empty() {
            let paths = batch.files.into_iter().collect();
            (self.sink)(WatchSignal::Touched { paths, relist: batch.relist });
        }
        let Some(newest) = batch.newest_cookie else { return };
        let passed = {
            let mut state = self.shared.lock();
            // Events arrive in order, so a cookie proves that all earlier ones have passed.
            state.outstanding_cookies.extract_if(..=newest, |_, _| true).collect::<Vec<_>>()
        };
        for (number, _) in passed {
            (self.sink)(WatchSignal::CookiePassed(number));
        }
    }

    fn lose_track(&mut self, reason: String) {
        self.coverage = None;
        {
            let mut state = self.shared.lock();
            state.reset();
            // Late events of the old queue are ignored.
            state.counts.instances += 1;
            state.counts.losses += 1;
        }
        self.set_mode(WatchMode::Lost);
        self.next_attempt = Some(self.rewatch_backoff.next_attempt(Instant::now()));
        (self.sink)(WatchSignal::Lost { reason });
    }

    /// Stops watching: watching only a part would be useless.
    fn suspend(&mut self, obstacle: WatchObstacle) {
        // If nothing can be watched anymore, the root may be gone.
        if !self.verify_root() {
            return;
        }
        self.coverage = None;
        {
            let mut state = self.shared.lock();
            state.reset();
            state.outstanding_cookies.clear();
        }
        self.set_mode(WatchMode::Verified);
        if obstacle.may_pass() {
            self.next_attempt = Some(Instant::now() + self.retry_pause);
            self.retry_pause = (self.retry_pause + self.retry_pause).min(RETRY_MAX);
        }
        (self.sink)(obstacle.into_signal());
    }

    fn are_mounts_outdated(&self) -> bool {
        let wanted = self.shared.lock().wanted_links.clone();
        !wanted.iter().map(find_mount).eq(self.shared.places.mounts().iter().cloned())
    }

    fn verify_root(&mut self) -> bool {
        if self.root.is_some() && file_identity(&self.shared.places.root).ok() == self.root {
            return true;
        }
        self.coverage = None;
        self.set_mode(WatchMode::Gone);
        (self.sink)(WatchSignal::RootGone);
        false
    }

    /// Creates the cookies that have not come back, and their folder if it is gone.
    fn make_cookies(&mut self) {
        let Some(coverage) = &mut self.coverage else { return };
        self.shared.lock().cookies_watched = false;
        if self.shared.lock().outstanding_cookies.is_empty() {
            return;
        }
        let places = &self.shared.places;
        // If no cookie can be created, the wait for it times out.
        if make_cookie_folder(places).is_err() {
            return;
        }
        if let Err(obstacle) = coverage.watch_cookies(&self.environment, places) {
            self.suspend(obstacle);
            return;
        }
        let numbers: Vec<u64> = {
            let mut state = self.shared.lock();
            state.cookies_watched = true;
            state.outstanding_cookies.keys().copied().collect()
        };
        for number in numbers {
            // A cookie that cannot be created does not come back, and the queries that wait for it time out.
            _ = remake_cookie(&places.cookie(number));
        }
    }

    fn set_mode(&self, mode: WatchMode) {
        let folders = self.coverage.as_ref().map_or(0, FolderCoverage::len);
        let unwatched_links = self.coverage.as_ref().map(|coverage| coverage.unwatched_links().clone());
        let mut state = self.shared.lock();
        state.unwatched_links = unwatched_links.unwrap_or_default();
        state.counts.mode = mode;
        state.counts.folders = folders as u64;
    }
}

/// Checks whether a linked folder exists now.
pub(super) fn find_mount(linked: &LinkedFolder) -> WatchedMount {
    let found = file_identity(&linked.path).ok().filter(|_| is_folder(&linked.path));
    let found = found.map(|(dev, ino)| FolderIdentity { dev, ino });
    // A folder that replaced it is not linked.
    let identity = found.filter(|found| linked.identity.as_ref().is_none_or(|linked| linked == found));
    WatchedMount { point: linked.mount_point(), linked: linked.clone(), identity }
}

/// Forgets removed folders, and returns the outermost new ones.
fn check_folders(
    batch: &mut EventInbox,
    coverage: &mut FolderCoverage,
    places: &WatchPaths,
) -> BTreeSet<RelPath> {
    let mut came = BTreeSet::new();
    for (path, is_created_only) in std::mem::take(&mut batch.folder_checks) {
        let is_folder = is_folder(&places.path(&path));
        if is_folder {
            batch.files.remove(&path);
        }
        // Already found through its parent, before its own event was handled.
        if is_folder && is_created_only && coverage.contains(&path) {
            continue;
        }
        coverage.forget(places, &path);
        let is_within = |up: &[u8]| RelPath::new(up).is_ok_and(|up| came.contains(&up));
        if is_folder && !path.ancestors().any(is_within) {
            came.insert(path);
        }
    }
    came
}

/// Adds a newly watched folder and the files in it, which no event reported. The folder's own name covers files that an
/// answer read and that were deleted before it was watched.
fn insert_files(batch: &mut EventInbox, places: &WatchPaths, folder: &RelPath) {
    batch.relist = true;
    batch.files.insert(folder.clone());
    for name in files_in(&places.path(folder)) {
        batch.files.extend(RelPath::new(&[folder.as_bytes(), b"/", path_bytes(&name)].concat()));
    }
    if MAX_ENTRIES < batch.files.len() {
        batch.everything = true;
        batch.files.clear();
    }
}

/// Pauses that double from `first` to `most`, and start over after a quiet time as long as the last pause, twice.
#[derive(Debug)]
pub(super) struct Backoff {
    first: Duration,
    most: Duration,
    pause: Duration,
    last: Option<Instant>,
}

impl Backoff {
    pub(super) fn new(first: Duration, most: Duration) -> Self {
        Self { first, most, pause: first, last: None }
    }

    /// Returns when the next attempt may be made if one is wanted now. The first one is immediate.
    pub(super) fn next_attempt(&mut self, now: Instant) -> Instant {
        let due = match self.last {
            None => now,
            // A single loss is repaired at once; only repeated losses have to wait, because each new watch walks the
            // whole tree.
            Some(last) if last + self.pause + self.pause <= now => {
                self.pause = self.first;
                now
            }
            Some(last) => {
                let due = (last + self.pause).max(now);
                self.pause = (self.pause + self.pause).min(self.most);
                due
            }
        };
        self.last = Some(due);
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storm_of_losses_makes_few_watches_and_one_behind_the_last() {
        let start = Instant::now();
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_mins(1));
        let mut tries = Vec::new();
        let mut due: Option<Instant> = None;
        // As in the thread: a loss while a watch is already due changes nothing.
        for number in 0..1000 {
            let now = start + Duration::from_millis(10 * number);
            if due.is_some_and(|due| due <= now) {
                tries.extend(due.take());
            }
            due = due.or_else(|| Some(backoff.next_attempt(now)));
        }
        tries.extend(due);
        assert!(tries.len() <= 12, "{} tries", tries.len());
        assert!(start + Duration::from_millis(9990) <= *tries.last().unwrap());
        assert!(tries.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn pauses_grow_to_the_maximum_and_start_over_after_a_quiet_time() {
        let start = Instant::now();
        let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_mins(1));
        let mut last = backoff.next_attempt(start);
        assert_eq!(last, start);
        let mut pauses = Vec::new();
        for _ in 0..8 {
            let next = backoff.next_attempt(last);
            pauses.push((next - last).as_secs());
            last = next;
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        let later = last + Duration::from_secs(121);
        assert_eq!(backoff.next_attempt(later), later);
        assert_eq!(backoff.next_attempt(later) - later, Duration::from_secs(1));
    }
}
