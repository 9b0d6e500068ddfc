//! The watcher on real folders, with the machine's own inotify and with a fake one that a test controls.

#![expect(clippy::disallowed_methods, reason = "a test looks at real files")]

mod losing;
mod moving;
mod reporting;
mod system;

use std::collections::BTreeSet;
use std::io;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use super::SystemEvents;
use super::inbox::WatchEvent;
use super::source::{EventHandler, EventSource, WatchError, WatchQueue};
use super::*;
use crate::model::{LinkedFolder, RelPath, ResourceKind};

/// The timeout of tests.
const PATIENCE: Duration = Duration::from_secs(20);

/// The machine's own inotify, on any file system: for local changes it reports everything.
struct LocalSource;

impl EventSource for LocalSource {
    fn open(&self, handler: EventHandler) -> io::Result<Box<dyn WatchQueue>> {
        SystemEvents.open(handler)
    }

    fn limit(&self) -> Option<u64> {
        SystemEvents.limit()
    }

    fn file_system(&self, _: &Path) -> io::Result<u64> {
        Ok(0)
    }
}

struct WatchScene {
    folder: tempfile::TempDir,
    watcher: Option<Watcher>,
    signals: Receiver<WatchSignal>,
}

/// The signals up to a cookie.
#[derive(Debug, Default)]
struct ObservedSignals {
    paths: BTreeSet<String>,
    relist: bool,
    all: bool,
    other: Vec<WatchSignal>,
    signals: usize,
}

/// All folders below, except `.git`, the cache, and those called `ignored`.
fn folders_of(root: &Path, below: &[u8]) -> Vec<RelPath> {
    let mut found = Vec::new();
    let mut open = match RelPath::new(below) {
        Ok(below) => {
            let is_real = std::fs::symlink_metadata(root.join(below.as_path())).is_ok_and(|m| m.is_dir());
            let counts = below.components().all(|part| part != b"ignored");
            if is_real && counts { vec![below] } else { vec![] }
        }
        Err(_) => children(root, b""),
    };
    while let Some(folder) = open.pop() {
        open.extend(children(root, folder.as_bytes()));
        found.push(folder);
    }
    found
}

fn children(root: &Path, folder: &[u8]) -> Vec<RelPath> {
    use std::os::unix::ffi::OsStrExt;
    let path = root.join(std::ffi::OsStr::from_bytes(folder));
    let Ok(entries) = std::fs::read_dir(path) else { return Vec::new() };
    let entries = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let names = entries.map(|entry| entry.file_name());
    let names = names.filter(|name| ![".git", ".slop_cache", "ignored"].iter().any(|apart| name == apart));
    let path = |name: std::ffi::OsString| {
        let slash: &[u8] = if folder.is_empty() { b"" } else { b"/" };
        RelPath::new(&[folder, slash, name.as_bytes()].concat()).ok()
    };
    names.filter_map(path).collect()
}

impl WatchScene {
    fn new(folders: &[&str]) -> Self {
        Self::with(folders, Arc::new(LocalSource))
    }

    fn with(folders: &[&str], source: Arc<dyn EventSource>) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), folders, source)
    }

    fn in_folder(folder: tempfile::TempDir, folders: &[&str], source: Arc<dyn EventSource>) -> Self {
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join(".slop_cache")).unwrap();
        for folder in folders {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let (sender, signals) = mpsc::channel();
        let root_of_folders = root.canonicalize().unwrap();
        let options = Options {
            root,
            cache_dir: RelPath::new(b".slop_cache").unwrap(),
            epoch: 7,
            watch_limit_percent: 80,
            linked: Vec::new(),
        };
        let watcher = Watcher::start_with(
            options,
            Arc::new(move |_, below| Ok(folders_of(&root_of_folders, below))),
            Box::new(move |signal| _ = sender.send(signal)),
            source,
        );
        Self { folder, watcher: Some(watcher), signals }
    }

    /// Like [`Self::new`], but waits until it watches.
    fn watching(folders: &[&str]) -> Self {
        let scene = Self::new(folders);
        assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
        scene
    }

    fn watcher(&self) -> &Watcher {
        self.watcher.as_ref().unwrap()
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("root")
    }

    fn path(&self, below: &str) -> PathBuf {
        self.root().join(below)
    }

    fn write(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[track_caller]
    fn next(&self) -> WatchSignal {
        self.signals.recv_timeout(PATIENCE).unwrap()
    }

    /// Returns all signals up to a cookie that is requested now.
    #[track_caller]
    fn observe_until_cookie(&self) -> ObservedSignals {
        let mark = self.watcher().request_cookie().unwrap();
        let mut observed = ObservedSignals::default();
        loop {
            observed.signals += 1;
            match self.next() {
                WatchSignal::CookiePassed(number) if number == mark => return observed,
                WatchSignal::CookiePassed(_) => {}
                WatchSignal::Touched { paths, relist } => {
                    observed.paths.extend(paths.iter().map(ToString::to_string));
                    observed.relist |= relist;
                }
                WatchSignal::AllTouched => observed.all = true,
                other => observed.other.push(other),
            }
        }
    }
}

impl ObservedSignals {
    fn paths(&self) -> Vec<&str> {
        self.paths.iter().map(String::as_str).collect()
    }
}

/// The machine's own source, with additional events and failures injected by tests.
#[derive(Default)]
struct FakeSource {
    handlers: Mutex<Vec<Arc<Mutex<EventHandler>>>>,
    limit: Option<u64>,
    file_system: u64,
    /// How many times opening a queue fails.
    refused: Mutex<u32>,
    /// The number of watches that one queue grants.
    granted: Option<usize>,
    /// The system's events that are held back; `None` if they are passed on.
    held: Arc<Mutex<Option<Vec<WatchEvent>>>>,
}

impl FakeSource {
    /// Holds back the system's events from now on.
    fn hold(&self) {
        *self.held.lock().unwrap() = Some(Vec::new());
    }

    /// Passes on the held events, once one of them is about a path with this name.
    fn release_after(&self, name: &str) {
        let is_there =
            |event: &WatchEvent| matches!(event, WatchEvent::Path(_, path) if path.ends_with(name));
        while !self.held.lock().unwrap().as_ref().unwrap().iter().any(is_there) {
            std::thread::yield_now();
        }
        let held = self.held.lock().unwrap().take().unwrap();
        for event in held {
            self.emit(event);
        }
    }

    /// Emits an event from the newest queue.
    fn emit(&self, event: WatchEvent) {
        let handler = Arc::clone(self.handlers.lock().unwrap().last().unwrap());
        (handler.lock().unwrap())(event);
    }

    /// Emits an event from the first queue, which may be closed.
    fn emit_from_first(&self, event: WatchEvent) {
        let handler = Arc::clone(self.handlers.lock().unwrap().first().unwrap());
        (handler.lock().unwrap())(event);
    }

    fn opened(&self) -> usize {
        self.handlers.lock().unwrap().len()
    }
}

impl EventSource for FakeSource {
    fn open(&self, handler: EventHandler) -> io::Result<Box<dyn WatchQueue>> {
        let mut refused = self.refused.lock().unwrap();
        if 0 < *refused {
            *refused -= 1;
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error()));
        }
        let handler = Arc::new(Mutex::new(handler));
        self.handlers.lock().unwrap().push(Arc::clone(&handler));
        let held = Arc::clone(&self.held);
        let real = LocalSource.open(Box::new(move |event| match held.lock().unwrap().as_mut() {
            Some(held) => held.push(event),
            None => (handler.lock().unwrap())(event),
        }))?;
        Ok(Box::new(LimitedQueue { real, left: self.granted }))
    }

    fn limit(&self) -> Option<u64> {
        self.limit
    }

    fn file_system(&self, _: &Path) -> io::Result<u64> {
        Ok(self.file_system)
    }
}

struct LimitedQueue {
    real: Box<dyn WatchQueue>,
    left: Option<usize>,
}

impl WatchQueue for LimitedQueue {
    fn watch(&mut self, folders: Vec<PathBuf>, follow: bool) -> Result<Vec<PathBuf>, WatchError> {
        if let Some(left) = self.left {
            self.left = Some(left.checked_sub(folders.len()).ok_or(WatchError::OutOfWatches)?);
        }
        self.real.watch(folders, follow)
    }

    fn unwatch(&mut self, folders: Vec<PathBuf>) {
        self.real.unwatch(folders);
    }
}

#[track_caller]
fn expect_verified(scene: &WatchScene, words: &[&str]) {
    let WatchSignal::Verified { reason, hint } = scene.next() else { panic!("not verified") };
    for word in words {
        assert!(reason.contains(word), "{reason}");
    }
    assert!(!hint.is_empty());
    assert_eq!(scene.watcher().request_cookie().unwrap_err().kind(), io::ErrorKind::Unsupported);
    let counts = scene.watcher().counts();
    assert_eq!((counts.mode, counts.folders), (WatchMode::Verified, 0));
}

/// Watches with a custom folder list, and returns the first signal.
fn first_signal(root: &Path, folders: FolderLister) -> (Watcher, Receiver<WatchSignal>, WatchSignal) {
    let (sender, signals) = mpsc::channel();
    let options = Options {
        root: root.to_owned(),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
        linked: Vec::new(),
    };
    let sink: SignalSink = Box::new(move |signal| _ = sender.send(signal));
    let watcher = Watcher::start_with(options, folders, sink, Arc::new(LocalSource));
    let first = signals.recv_timeout(PATIENCE).unwrap();
    (watcher, signals, first)
}
