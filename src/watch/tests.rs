//! The watcher on real folders, with the machine's own inotify and with one that a test tells what to say.

#![expect(clippy::disallowed_methods, reason = "a test looks at real files")]

use std::collections::BTreeSet;
use std::io;
use std::io::Write;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc;
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::inbox::Event;
use super::source::Handler;
use super::source::Inotify;
use super::source::Source;
use super::source::WatchError;
use super::source::Watches;
use super::*;
use crate::model::RelPath;

/// Nothing takes that long but what never comes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The machine's own inotify, on whatever file system the tests run: for what they do themselves it tells of all.
struct Local;

impl Source for Local {
    fn open(&self, handler: Handler) -> io::Result<Box<dyn Watches>> {
        Inotify.open(handler)
    }

    fn limit(&self) -> Option<u64> {
        Inotify.limit()
    }

    fn file_system(&self, _: &Path) -> io::Result<u64> {
        Ok(0)
    }
}

struct Scene {
    folder: tempfile::TempDir,
    watcher: Option<Watcher>,
    signals: Receiver<Signal>,
}

/// What was told up to a cookie.
#[derive(Debug, Default)]
struct Told {
    paths: BTreeSet<String>,
    relist: bool,
    all: bool,
    other: Vec<Signal>,
    signals: usize,
}

/// Every folder below, but `.git`, the cache, and those called `ignored`.
fn folders_of(root: &Path, below: &[u8]) -> Vec<RelPath> {
    let mut found = Vec::new();
    let mut open = match RelPath::new(below) {
        Ok(below) => {
            let is_real = std::fs::symlink_metadata(root.join(below.as_path())).is_ok_and(|m| m.is_dir());
            let counts = below.parts().all(|part| part != b"ignored");
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

impl Scene {
    fn new(folders: &[&str]) -> Self {
        Self::with(folders, Arc::new(Local))
    }

    fn with(folders: &[&str], source: Arc<dyn Source>) -> Self {
        let folder = tempfile::tempdir().unwrap();
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
        };
        let watcher = Watcher::start_with(
            options,
            Arc::new(move |below| Ok(folders_of(&root_of_folders, below))),
            Box::new(move |signal| _ = sender.send(signal)),
            source,
        );
        Self { folder, watcher: Some(watcher), signals }
    }

    /// As [`Self::new`], once it watches.
    fn watching(folders: &[&str]) -> Self {
        let scene = Self::new(folders);
        assert!(matches!(scene.next(), Signal::Watching { .. }));
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
    fn next(&self) -> Signal {
        self.signals.recv_timeout(PATIENCE).unwrap()
    }

    /// Returns all that is told up to a cookie that is made now.
    #[track_caller]
    fn sync(&self) -> Told {
        let mark = self.watcher().mark().unwrap();
        let mut told = Told::default();
        loop {
            told.signals += 1;
            match self.next() {
                Signal::Passed(number) if number == mark => return told,
                Signal::Passed(_) => {}
                Signal::Touched { paths, relist } => {
                    told.paths.extend(paths.iter().map(ToString::to_string));
                    told.relist |= relist;
                }
                Signal::TouchedAll => told.all = true,
                other => told.other.push(other),
            }
        }
    }
}

impl Told {
    fn paths(&self) -> Vec<&str> {
        self.paths.iter().map(String::as_str).collect()
    }
}

#[test]
fn a_write_is_told_before_the_cookie_that_follows_it() {
    let scene = Scene::watching(&["a/b"]);
    for round in 0..200 {
        scene.write("a/b/f", &round.to_string());
        let told = scene.sync();
        assert_eq!(told.paths(), ["a/b/f"], "round {round}");
        assert_eq!(told.relist, round == 0);
    }
}

#[test]
fn files_in_folders_made_in_one_go_are_all_told() {
    let scene = Scene::watching(&[]);
    let mut written = BTreeSet::new();
    for number in 0..300 {
        let mut folder = format!("d{number}");
        for level in 0..6 {
            let file = format!("{folder}/f");
            scene.write(&file, "x");
            written.insert(file);
            folder = format!("{folder}/{level}");
        }
    }
    let told = scene.sync();
    let missed: Vec<_> = written.difference(&told.paths).collect();
    assert!(missed.is_empty() && told.relist, "{} missed: {missed:?}", missed.len());
    // And they are watched from then on.
    scene.write("d299/0/1/2/3/4/f", "y");
    assert_eq!(scene.sync().paths(), ["d299/0/1/2/3/4/f"]);
}

#[test]
fn reading_files_tells_nothing() {
    let scene = Scene::watching(&["a"]);
    for number in 0..100 {
        scene.write(&format!("a/{number}"), "x");
    }
    scene.sync();
    let before = scene.watcher().counts().events;
    for number in 0..100 {
        std::fs::read(scene.path(&format!("a/{number}"))).unwrap();
    }
    std::fs::read_dir(scene.path("a")).unwrap().for_each(drop);
    let told = scene.sync();
    assert_eq!((told.signals, scene.watcher().counts().events), (1, before));
}

#[test]
fn what_happens_in_the_cache_tells_nothing() {
    let scene = Scene::watching(&[".slop_cache/deep"]);
    scene.sync();
    scene.write(".slop_cache/index.db", "x");
    scene.write(".slop_cache/cookies/foreign", "x");
    scene.write(".slop_cache/deep/a", "x");
    let told = scene.sync();
    assert_eq!((told.signals, scene.watcher().counts().events), (1, 0));
}

#[test]
fn the_close_of_a_writer_is_told_though_nothing_was_written_by_a_call() {
    let scene = Scene::watching(&["a"]);
    scene.write("a/f", "x");
    scene.sync();
    // As one who wrote through a map does: only the end is seen.
    drop(std::fs::OpenOptions::new().write(true).open(scene.path("a/f")).unwrap());
    assert_eq!(scene.sync().paths(), ["a/f"]);
}

#[test]
fn an_atomic_save_is_told_and_has_files_listed_anew() {
    let scene = Scene::watching(&["a"]);
    scene.write("a/f", "x");
    scene.sync();
    scene.write("a/f.tmp", "y");
    std::fs::rename(scene.path("a/f.tmp"), scene.path("a/f")).unwrap();
    let told = scene.sync();
    assert_eq!((told.paths(), told.relist), (vec!["a/f", "a/f.tmp"], true));
}

#[test]
fn a_tree_that_moves_is_told_under_its_new_name_alone() {
    let scene = Scene::watching(&["a/b/c"]);
    scene.write("a/b/c/f", "x");
    scene.sync();
    std::fs::rename(scene.path("a"), scene.path("z")).unwrap();
    let told = scene.sync();
    assert!(told.relist && told.paths.contains("z/b/c/f"), "{told:?}");
    scene.write("z/b/c/f", "y");
    assert_eq!(scene.sync().paths(), ["z/b/c/f"]);
    assert_eq!(scene.watcher().counts().folders, 4);
    // And another one in its place is another one.
    scene.write("a/b/g", "x");
    scene.sync();
    scene.write("a/b/g", "y");
    assert_eq!(scene.sync().paths(), ["a/b/g"]);
}

#[test]
fn a_tree_that_was_moved_out_is_not_watched_and_one_moved_in_is() {
    let scene = Scene::watching(&["a/b"]);
    let outside = scene.folder.path().join("outside");
    std::fs::rename(scene.path("a"), &outside).unwrap();
    assert!(scene.sync().relist);
    assert_eq!(scene.watcher().counts().folders, 1);
    std::fs::write(outside.join("b/f"), "x").unwrap();
    let told = scene.sync();
    assert_eq!(told.signals, 1, "{told:?}");
    std::fs::rename(&outside, scene.path("back")).unwrap();
    let told = scene.sync();
    assert!(told.relist && told.paths.contains("back/b/f"), "{told:?}");
    scene.write("back/b/f", "y");
    assert_eq!(scene.sync().paths(), ["back/b/f"]);
}

#[test]
fn a_folder_that_is_deleted_and_made_again_is_watched_again() {
    let scene = Scene::watching(&["a/b"]);
    for round in 0..50 {
        std::fs::remove_dir_all(scene.path("a")).unwrap();
        scene.write("a/b/f", "x");
        assert!(scene.sync().paths.contains("a/b/f"), "round {round}");
        scene.write("a/b/f", "y");
        assert_eq!(scene.sync().paths(), ["a/b/f"], "round {round}");
    }
    assert_eq!(scene.watcher().counts().folders, 3);
}

#[test]
fn links_are_not_followed_and_not_even_where_one_took_a_folders_place() {
    let scene = Scene::new(&["a", "b"]);
    let outside = scene.folder.path().join("outside");
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::os::unix::fs::symlink(&outside, scene.path("a/out")).unwrap();
    std::os::unix::fs::symlink("..", scene.path("a/loop")).unwrap();
    scene.sync();
    assert_eq!(scene.watcher().counts().folders, 3);
    std::fs::remove_dir(scene.path("b")).unwrap();
    std::os::unix::fs::symlink(&outside, scene.path("b")).unwrap();
    assert!(scene.sync().paths.contains("b"));
    std::fs::write(outside.join("deep/f"), "x").unwrap();
    std::fs::write(outside.join("f"), "x").unwrap();
    assert_eq!(scene.sync().signals, 1);
    assert_eq!(scene.watcher().counts().folders, 2);
}

#[test]
fn ignored_folders_are_not_watched_and_a_changed_rule_has_folders_asked_for_anew() {
    let scene = Scene::watching(&["ignored/deep", "a/ignored"]);
    scene.write("ignored/deep/f", "x");
    scene.write("a/ignored/f", "x");
    assert_eq!(scene.sync().signals, 1);
    assert_eq!(scene.watcher().counts().folders, 2);
    scene.write("a/.gitignore", "x");
    let told = scene.sync();
    assert_eq!((told.paths(), told.relist), (vec!["a/.gitignore"], true));
}

#[test]
fn folders_that_are_wanted_no_more_are_dropped_and_new_ones_added() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, signals) = mpsc::channel();
    let wanted = Arc::new(Mutex::new(vec![RelPath::new(b"a").unwrap()]));
    for name in ["a", "b"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        std::fs::write(folder.path().join(name).join("f"), "x").unwrap();
    }
    let options = Options {
        root: folder.path().to_owned(),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
    };
    let answer = Arc::clone(&wanted);
    let watcher = Watcher::start_with(
        options,
        Arc::new(move |_| Ok(answer.lock().unwrap().clone())),
        Box::new(move |signal| _ = sender.send(signal)),
        Arc::new(Local),
    );
    let next = || signals.recv_timeout(PATIENCE).unwrap();
    assert_eq!(next(), Signal::Watching { folders: 2 });
    *wanted.lock().unwrap() = vec![RelPath::new(b"b").unwrap()];
    watcher.refolder();
    // What came to be watched is told, for nobody told of it before.
    let b = RelPath::new(b"b/f").unwrap();
    assert_eq!(next(), Signal::Touched { paths: vec![b], relist: true });
    std::fs::write(folder.path().join("a/f"), "y").unwrap();
    watcher.refolder();
    let mark = watcher.mark().unwrap();
    assert_eq!(next(), Signal::Passed(mark));
    assert_eq!(watcher.counts().folders, 2);
}

#[test]
fn files_outside_of_the_tree_have_files_listed_anew_and_others_beside_them_do_not() {
    let scene = Scene::watching(&[".git/refs"]);
    scene.write(".git/index", "x");
    let elsewhere = scene.folder.path().join("config/git/ignore");
    scene.watcher().extra(vec![scene.path(".git/index"), elsewhere.clone()]);
    scene.sync();
    scene.write(".git/index.lock", "y");
    scene.write(".git/refs/main", "y");
    assert_eq!(scene.sync().signals, 1);
    std::fs::rename(scene.path(".git/index.lock"), scene.path(".git/index")).unwrap();
    let told = scene.sync();
    assert_eq!((told.paths(), told.relist), (vec![], true));
    // A file whose folders are not even there.
    std::fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    scene.sync();
    std::fs::write(&elsewhere, "x").unwrap();
    assert!(scene.sync().relist);
    std::fs::write(&elsewhere, "y").unwrap();
    assert!(scene.sync().relist);
    // The same files once more are nothing new.
    scene.watcher().extra(vec![scene.path(".git/index"), elsewhere]);
    assert_eq!(scene.sync().signals, 1);
}

#[test]
fn cookies_come_back_though_the_cache_is_deleted_again_and_again() {
    let scene = Scene::watching(&[]);
    for round in 0..50 {
        std::fs::remove_dir_all(scene.path(".slop_cache")).unwrap();
        scene.write("f", &round.to_string());
        assert!(scene.sync().paths.contains("f"));
    }
    assert!(scene.path(".slop_cache/CACHEDIR.TAG").exists());
    assert!(std::fs::read_dir(scene.path(".slop_cache/cookies")).unwrap().next().is_none());
}

#[test]
fn a_cookie_that_was_on_its_way_as_its_folder_went_comes_back_too() {
    let scene = Scene::watching(&[]);
    scene.sync();
    for _ in 0..100 {
        std::fs::remove_dir_all(scene.path(".slop_cache/cookies")).unwrap();
        // Another one made the folder, which nobody watches yet.
        std::fs::create_dir(scene.path(".slop_cache/cookies")).unwrap();
        scene.sync();
    }
}

#[test]
fn an_idle_watcher_does_not_make_the_cache_anew() {
    let scene = Scene::watching(&[]);
    scene.sync();
    std::fs::remove_dir_all(scene.path(".slop_cache")).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert!(!scene.path(".slop_cache").exists());
}

#[test]
fn a_root_that_goes_is_told_and_ends_the_watch() {
    let changes: [fn(&Path); 3] = [
        |root| std::fs::remove_dir_all(root).unwrap(),
        |root| std::fs::rename(root, root.with_extension("moved")).unwrap(),
        |root| {
            std::fs::rename(root, root.with_extension("moved")).unwrap();
            std::fs::create_dir(root).unwrap();
        },
    ];
    for change in changes {
        let scene = Scene::watching(&["a"]);
        assert!(scene.watcher().check_root());
        change(&scene.root());
        assert!(!scene.watcher().check_root());
        let mut told = scene.next();
        while matches!(told, Signal::Touched { .. }) {
            told = scene.next();
        }
        assert_eq!(told, Signal::RootGone);
        assert!(scene.signals.recv().is_err(), "the thread has ended");
    }
}

#[test]
fn a_root_whose_parent_was_renamed_is_found_gone_when_asked() {
    let scene = Scene::watching(&[]);
    let parent = scene.folder.path();
    std::fs::rename(parent, parent.with_extension("moved")).unwrap();
    assert!(!scene.watcher().check_root());
    assert_eq!(scene.next(), Signal::RootGone);
    std::fs::rename(parent.with_extension("moved"), parent).unwrap();
}

#[test]
fn a_watcher_that_is_dropped_tells_nothing_more() {
    let mut scene = Scene::watching(&[]);
    scene.watcher = None;
    scene.write("f", "x");
    assert!(scene.signals.recv().is_err());
}

#[test]
fn a_burst_is_one_signal_to_a_slow_receiver() {
    let scene_folder = tempfile::tempdir().unwrap();
    let root = scene_folder.path().to_owned();
    let (sender, signals) = mpsc::sync_channel(0);
    let options = Options {
        root: root.clone(),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
    };
    let sink: Sink = Box::new(move |signal| _ = sender.send(signal));
    let watcher = Watcher::start_with(options, Arc::new(|_| Ok(Vec::new())), sink, Arc::new(Local));
    assert!(matches!(signals.recv().unwrap(), Signal::Watching { .. }));
    std::fs::write(root.join("first"), "x").unwrap();
    // The thread waits with the first until it is taken.
    while watcher.counts().events == 0 {
        std::thread::yield_now();
    }
    std::thread::sleep(Duration::from_millis(20));
    for round in 0..3 {
        for number in 0..200 {
            std::fs::write(root.join(number.to_string()), round.to_string()).unwrap();
        }
    }
    while watcher.counts().events < 600 {
        std::thread::yield_now();
    }
    let mark = watcher.mark().unwrap();
    let mut told = Vec::new();
    loop {
        match signals.recv().unwrap() {
            Signal::Passed(number) if number == mark => break,
            signal => told.push(signal),
        }
    }
    assert!(told.len() <= 4, "{} signals", told.len());
}

/// The machine's own source, but what a test has it say and refuse on top.
#[derive(Default)]
struct Fake {
    handlers: Mutex<Vec<Arc<Mutex<Handler>>>>,
    limit: Option<u64>,
    file_system: u64,
    /// How many queues are refused before one is granted.
    refused: Mutex<u32>,
    /// How many watches one queue grants.
    granted: Option<usize>,
    /// What the system said while nothing was to be heard of it.
    held: Arc<Mutex<Option<Vec<Event>>>>,
}

impl Fake {
    /// Keeps to itself what the system says, from now on.
    fn hold(&self) {
        *self.held.lock().unwrap() = Some(Vec::new());
    }

    /// Passes on what was held, once that is about a path of this name.
    fn release_after(&self, name: &str) {
        let is_there = |event: &Event| matches!(event, Event::At(_, path) if path.ends_with(name));
        while !self.held.lock().unwrap().as_ref().unwrap().iter().any(is_there) {
            std::thread::yield_now();
        }
        let held = self.held.lock().unwrap().take().unwrap();
        for event in held {
            self.say(event);
        }
    }

    /// Has the newest queue say something.
    fn say(&self, event: Event) {
        let handler = Arc::clone(self.handlers.lock().unwrap().last().unwrap());
        (handler.lock().unwrap())(event);
    }

    /// Has the first queue, which may be closed, say something.
    fn say_late(&self, event: Event) {
        let handler = Arc::clone(self.handlers.lock().unwrap().first().unwrap());
        (handler.lock().unwrap())(event);
    }

    fn opened(&self) -> usize {
        self.handlers.lock().unwrap().len()
    }
}

impl Source for Fake {
    fn open(&self, handler: Handler) -> io::Result<Box<dyn Watches>> {
        let mut refused = self.refused.lock().unwrap();
        if 0 < *refused {
            *refused -= 1;
            return Err(io::Error::from_raw_os_error(rustix::io::Errno::MFILE.raw_os_error()));
        }
        let handler = Arc::new(Mutex::new(handler));
        self.handlers.lock().unwrap().push(Arc::clone(&handler));
        let held = Arc::clone(&self.held);
        let real = Local.open(Box::new(move |event| match held.lock().unwrap().as_mut() {
            Some(held) => held.push(event),
            None => (handler.lock().unwrap())(event),
        }))?;
        Ok(Box::new(Granted { real, left: self.granted }))
    }

    fn limit(&self) -> Option<u64> {
        self.limit
    }

    fn file_system(&self, _: &Path) -> io::Result<u64> {
        Ok(self.file_system)
    }
}

struct Granted {
    real: Box<dyn Watches>,
    left: Option<usize>,
}

impl Watches for Granted {
    fn watch(&mut self, folders: Vec<PathBuf>, follow: bool) -> Result<Vec<PathBuf>, WatchError> {
        if let Some(left) = self.left {
            self.left = Some(left.checked_sub(folders.len()).ok_or(WatchError::Full)?);
        }
        self.real.watch(folders, follow)
    }

    fn unwatch(&mut self, folders: Vec<PathBuf>) {
        self.real.unwatch(folders);
    }
}

#[track_caller]
fn expect_verified(scene: &Scene, words: &[&str]) {
    let Signal::Verified { why, hint } = scene.next() else { panic!("not verified") };
    for word in words {
        assert!(why.contains(word), "{why}");
    }
    assert!(!hint.is_empty());
    assert_eq!(scene.watcher().mark().unwrap_err().kind(), io::ErrorKind::Unsupported);
    let counts = scene.watcher().counts();
    assert_eq!((counts.mode, counts.folders), (Mode::Verified, 0));
}

#[test]
fn a_lost_track_makes_a_new_queue_that_sees_what_the_old_one_did_not() {
    for event in [
        Event::Lost("overflow".to_owned()),
        Event::Lost("error".to_owned()),
        Event::Unmounted(PathBuf::from("/elsewhere")),
    ] {
        let fake = Arc::new(Fake::default());
        let scene = Scene::with(&["a"], Arc::clone(&fake) as Arc<dyn Source>);
        assert!(matches!(scene.next(), Signal::Watching { folders: 2 }));
        fake.say(event);
        assert!(matches!(scene.next(), Signal::Lost { .. }));
        assert!(matches!(scene.next(), Signal::Watching { folders: 2 }));
        assert_eq!((fake.opened(), scene.watcher().counts().losses), (2, 1));
        // Of the old one nothing is heard.
        fake.say_late(Event::Lost("late".to_owned()));
        scene.write("a/b/c", "x");
        assert!(scene.sync().paths.contains("a/b/c"));
        assert_eq!(fake.opened(), 2);
    }
}

#[test]
fn a_root_that_is_gone_as_folders_are_asked_for_is_no_lack_of_events() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let gone = root.clone();
    let folders: Folders = Arc::new(move |_| {
        std::fs::remove_dir(&gone).unwrap();
        Err(io::ErrorKind::NotFound.into())
    });
    let (_watcher, _signals, first) = first_signal(&root, folders);
    assert_eq!(first, Signal::RootGone);
}

#[test]
fn many_losses_at_once_are_one() {
    let fake = Arc::new(Fake::default());
    let scene = Scene::with(&["a"], Arc::clone(&fake) as Arc<dyn Source>);
    assert!(matches!(scene.next(), Signal::Watching { .. }));
    for _ in 0..1000 {
        fake.say_late(Event::Lost("storm".to_owned()));
    }
    assert!(matches!(scene.next(), Signal::Lost { .. }));
    assert!(matches!(scene.next(), Signal::Watching { .. }));
    assert_eq!(scene.sync().signals, 1);
    assert_eq!(fake.opened(), 2);
}

#[test]
fn a_cookie_passes_when_the_queue_tells_of_it_and_no_sooner() {
    let fake = Arc::new(Fake::default());
    let scene = Scene::with(&["a"], Arc::clone(&fake) as Arc<dyn Source>);
    assert!(matches!(scene.next(), Signal::Watching { .. }));
    scene.sync();
    fake.hold();
    scene.write("a/late", "x");
    let mark = scene.watcher().mark().unwrap();
    // The cookie's file came and went; the queue has not told of it, nor of what came before it.
    fake.say(Event::At(super::inbox::What::Written, scene.root().canonicalize().unwrap().join("a/other")));
    let Signal::Touched { paths, .. } = scene.next() else { panic!("passed before it was told") };
    assert_eq!(paths, [RelPath::new(b"a/other").unwrap()]);
    fake.release_after(&format!("7-{mark}"));
    let mut told = Vec::new();
    loop {
        match scene.next() {
            Signal::Passed(number) if number == mark => break,
            Signal::Touched { paths, .. } => told.extend(paths),
            other => panic!("{other:?}"),
        }
    }
    assert!(told.contains(&RelPath::new(b"a/late").unwrap()), "{told:?}");
}

#[test]
fn a_cookie_that_is_made_while_track_is_lost_comes_back_behind_the_new_watch() {
    let fake = Arc::new(Fake::default());
    let scene = Scene::with(&["a"], Arc::clone(&fake) as Arc<dyn Source>);
    assert!(matches!(scene.next(), Signal::Watching { .. }));
    fake.say(Event::Lost("overflow".to_owned()));
    let mark = scene.watcher().mark().unwrap();
    let mut told = Vec::new();
    while told.last() != Some(&Signal::Passed(mark)) {
        told.push(scene.next());
    }
    let at = |wanted: fn(&Signal) -> bool| told.iter().position(wanted).unwrap();
    assert!(at(|s| matches!(s, Signal::Lost { .. })) < at(|s| matches!(s, Signal::Watching { .. })));
    assert_eq!(at(|s| matches!(s, Signal::Passed(_))), told.len() - 1);
}

#[test]
fn too_many_folders_for_the_limit_are_not_watched_at_all() {
    let folders: Vec<String> = (0..40).map(|number| format!("d{number}")).collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let fake = Arc::new(Fake { limit: Some(50), ..Fake::default() });
    expect_verified(&Scene::with(&folders, fake), &["41", "80 %", "50"]);
    let fake = Arc::new(Fake { limit: Some(60), ..Fake::default() });
    let scene = Scene::with(&folders, fake);
    assert_eq!(scene.next(), Signal::Watching { folders: 41 });
    for number in 0..30 {
        std::fs::create_dir(scene.path(&format!("late{number}"))).unwrap();
    }
    let mut told = scene.next();
    while matches!(told, Signal::Touched { .. }) {
        told = scene.next();
    }
    let Signal::Verified { why, .. } = told else { panic!("{told:?}") };
    assert!(why.contains("60"), "{why}");
    assert_eq!(scene.watcher().counts().folders, 0);
}

#[test]
fn a_watch_that_is_refused_ends_all_others() {
    let fake = Arc::new(Fake { granted: Some(3), ..Fake::default() });
    expect_verified(&Scene::with(&["a", "b", "c"], fake), &["4 folders"]);
}

#[test]
fn without_a_queue_there_are_no_events() {
    let fake = Arc::new(Fake { refused: Mutex::new(1), ..Fake::default() });
    expect_verified(&Scene::with(&["a"], fake), &["no queue", "Too many open files"]);
}

#[test]
fn a_file_system_without_events_is_not_watched() {
    let fake = Arc::new(Fake { file_system: 0x6969, ..Fake::default() });
    let scene = Scene::with(&["a"], Arc::clone(&fake) as Arc<dyn Source>);
    expect_verified(&scene, &["NFS"]);
    scene.write("a/f", "x");
    assert!(scene.signals.try_recv().is_err());
    // The root is looked after all the same.
    std::fs::remove_dir_all(scene.root()).unwrap();
    assert!(!scene.watcher().check_root());
    assert_eq!(scene.next(), Signal::RootGone);
}

#[test]
fn more_changes_than_are_told_one_by_one_are_all_and_folders_among_them_are_watched() {
    let fake = Arc::new(Fake::default());
    let scene = Scene::with(&["a"], Arc::clone(&fake) as Arc<dyn Source>);
    assert!(matches!(scene.next(), Signal::Watching { .. }));
    let root = scene.root().canonicalize().unwrap();
    // Folders whose own events are lost in the flood.
    scene.write("new/deep/f", "x");
    for number in 0..120_000 {
        let path = root.join(format!("a/{number}"));
        fake.say(Event::At(super::inbox::What::Written, path));
    }
    scene.sync();
    scene.write("new/deep/f", "y");
    assert!(scene.sync().paths.contains("new/deep/f"));
}

#[test]
fn folders_that_cannot_be_told_are_not_watched() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, signals) = mpsc::channel();
    let options = Options {
        root: folder.path().to_owned(),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
    };
    let folders: Folders = Arc::new(|_| Err(io::Error::other("a trap")));
    let sink: Sink = Box::new(move |signal| _ = sender.send(signal));
    let _watcher = Watcher::start_with(options, folders, sink, Arc::new(Local));
    let told = signals.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(told, Signal::Verified { why, .. } if why.contains("a trap")));
}

#[test]
fn a_queue_that_overflows_is_replaced_and_folders_of_that_time_are_watched() {
    let fake = Arc::new(Fake::default());
    let scene = Scene::with(&["a"], Arc::clone(&fake) as Arc<dyn Source>);
    assert!(matches!(scene.next(), Signal::Watching { .. }));
    let handler = Arc::clone(&fake.handlers.lock().unwrap()[0]);
    // The system's thread is held at the first event, and its queue fills up.
    let held = handler.lock().unwrap();
    let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let most: usize = most.trim().parse().unwrap();
    assert!(most <= 1 << 20, "this machine's queue is too long for the test");
    let (one, other) = (scene.path("a/f"), scene.path("a/g"));
    std::fs::write(&one, "x").unwrap();
    for _ in 0..most / 4 + 100 {
        // Two events each, never the same twice in a row, which the system would tell once.
        std::fs::rename(&one, &other).unwrap();
        std::fs::rename(&other, &one).unwrap();
    }
    scene.write("late/deep/f", "x");
    drop(held);
    let mut told = Vec::new();
    while !matches!(told.last(), Some(Signal::Watching { .. })) {
        told.push(scene.next());
    }
    assert!(told.iter().any(|signal| matches!(signal, Signal::Lost { why } if why.contains("overflowed"))));
    assert_eq!(told.last(), Some(&Signal::Watching { folders: 4 }));
    scene.write("late/deep/f", "y");
    assert!(scene.sync().paths.contains("late/deep/f"));
}

/// Numbers that look like chance and are the same each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn path(&mut self) -> String {
        let depth = 1 + self.roll(4);
        (0..depth).map(|_| ["a", "b", "c"][self.roll(3)]).collect::<Vec<_>>().join("/")
    }
}

/// Does something to the tree that may as well fail, for what is in the way or missing.
fn disturb(scene: &Scene, dice: &mut Dice) {
    let (one, other) = (scene.path(&dice.path()), scene.path(&dice.path()));
    match dice.roll(8) {
        0 | 1 => _ = std::fs::create_dir_all(one),
        2 => _ = std::fs::remove_dir_all(one),
        3 | 4 => _ = std::fs::rename(one, other),
        5 => _ = std::fs::write(one, "x"),
        6 => _ = std::fs::remove_file(one),
        _ => _ = std::os::unix::fs::symlink(other, one),
    }
}

#[test]
fn whatever_was_moved_about_each_folder_is_watched_and_no_other() {
    let scene = Scene::watching(&[]);
    let mut dice = Dice(1);
    for round in 0..300 {
        for _ in 0..=dice.roll(12) {
            disturb(&scene, &mut dice);
        }
        let told = scene.sync();
        assert!(told.other.is_empty(), "round {round}: {told:?}");
        let folders = folders_of(&scene.root(), b"");
        assert_eq!(scene.watcher().counts().folders, folders.len() as u64 + 1, "round {round}: {folders:?}");
        let files: BTreeSet<String> = folders.iter().map(|folder| format!("{folder}/probe")).collect();
        for file in &files {
            scene.write(file, "x");
        }
        let told = scene.sync().paths;
        assert_eq!(told, files, "round {round}");
        for file in &files {
            std::fs::remove_file(scene.path(file)).unwrap();
        }
        scene.sync();
    }
}

/// Watches with an answer of the test's own, and returns the first signal.
fn first_signal(root: &Path, folders: Folders) -> (Watcher, Receiver<Signal>, Signal) {
    let (sender, signals) = mpsc::channel();
    let options = Options {
        root: root.to_owned(),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
    };
    let sink: Sink = Box::new(move |signal| _ = sender.send(signal));
    let watcher = Watcher::start_with(options, folders, sink, Arc::new(Local));
    let first = signals.recv_timeout(PATIENCE).unwrap();
    (watcher, signals, first)
}

#[test]
fn a_link_is_not_watched_even_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("a")).unwrap();
    // As for a file that git tracks, and whose folder a link replaced.
    let folders: Vec<RelPath> = ["a", "a/deep"].map(|path| RelPath::new(path.as_bytes()).unwrap()).into();
    let (watcher, signals, first) = first_signal(&root, Arc::new(move |_| Ok(folders.clone())));
    assert_eq!(first, Signal::Watching { folders: 1 });
    std::fs::write(outside.join("deep/f"), "x").unwrap();
    let mark = watcher.mark().unwrap();
    assert_eq!(signals.recv_timeout(PATIENCE).unwrap(), Signal::Passed(mark));
}

#[test]
fn a_folder_made_between_the_answer_and_the_watch_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    std::fs::create_dir(root.join("a")).unwrap();
    let asked = Mutex::new(0);
    let answer = move |below: &[u8]| {
        let found = folders_of(&root, below);
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        if *asked == 1 {
            std::fs::create_dir_all(root.join("a/late/deep")).unwrap();
        }
        Ok(found)
    };
    let (_watcher, _signals, first) = first_signal(folder.path(), Arc::new(answer));
    assert_eq!(first, Signal::Watching { folders: 4 });
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let status = std::process::Command::new(program).args(arguments).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn limits_and_mounts_of_the_system_itself_are_obeyed() {
    // In a namespace of its own, where a user may mount, and lower the limits: there this program runs this test again.
    if std::env::var_os(WITHIN).is_some() {
        return within_a_namespace();
    }
    if !run("unshare", &["-Urm", "true"]) {
        // Past the test runner, which keeps to itself what a passing test prints.
        let _ =
            writeln!(io::stderr(), "SKIPPED: this machine lets its users have no namespaces of their own");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "watch::tests::limits_and_mounts_of_the_system_itself_are_obeyed";
    let mut inner = std::process::Command::new("unshare");
    inner.args(["-Urm", this.to_str().unwrap(), "--exact", name]).env(WITHIN, "1");
    assert!(inner.status().unwrap().success());
}

/// Set where a test runs in a namespace of its own.
const WITHIN: &str = "SLOP_TEST_NAMESPACE";

fn within_a_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let (root, second) = (folder.path().join("root"), folder.path().join("second"));
    std::fs::create_dir(&root).unwrap();
    std::fs::create_dir(&second).unwrap();
    let [root_text, second_text] = [&root, &second].map(|path| path.to_str().unwrap());
    assert!(run("mount", &["-t", "tmpfs", "none", root_text]));
    assert!(run("mount", &["--bind", root_text, second_text]));
    for number in 0..100 {
        std::fs::create_dir(root.join(format!("d{number}"))).unwrap();
    }
    let owned = root.clone();
    let folders: Folders = Arc::new(move |below| Ok(folders_of(&owned, below)));

    let (watcher, signals, first) = first_signal(&root, Arc::clone(&folders));
    assert_eq!(first, Signal::Watching { folders: 101 });
    std::fs::write(second.join("d7/f"), "x").unwrap();
    let written = RelPath::new(b"d7/f").unwrap();
    let told = signals.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(told, Signal::Touched { paths, .. } if paths == [written]));
    assert!(run("umount", &[second_text]) && run("umount", &["-l", root_text]));
    assert!(!watcher.check_root());
    let mut told = signals.recv_timeout(PATIENCE).unwrap();
    while matches!(told, Signal::Touched { .. } | Signal::Lost { .. }) {
        told = signals.recv_timeout(PATIENCE).unwrap();
    }
    assert_eq!(told, Signal::RootGone);

    for number in 0..100 {
        std::fs::create_dir(root.join(format!("d{number}"))).unwrap();
    }
    std::fs::write("/proc/sys/user/max_inotify_watches", "50").unwrap();
    let (_watcher, _signals, first) = first_signal(&root, Arc::clone(&folders));
    assert!(matches!(first, Signal::Verified { why, .. } if why.contains("101") && why.contains("50")));
    std::fs::write("/proc/sys/user/max_inotify_watches", "150").unwrap();
    // Enough by the number, but not with what another one has.
    let (_watcher, _signals, first) = first_signal(&root, Arc::clone(&folders));
    assert_eq!(first, Signal::Watching { folders: 101 });
    let (_other, _signals, first) = first_signal(&root, Arc::clone(&folders));
    assert!(matches!(first, Signal::Verified { why, .. } if why.contains("too few watches for 101")));
    std::fs::write("/proc/sys/user/max_inotify_instances", "0").unwrap();
    let (_third, _signals, first) = first_signal(&root, folders);
    assert!(matches!(first, Signal::Verified { why, .. } if why.contains("no queue")));
}

#[test]
fn a_file_system_of_the_machine_itself_that_has_no_events_is_known() {
    let (sender, signals) = mpsc::channel();
    let options = Options {
        root: PathBuf::from("/proc"),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
    };
    let sink: Sink = Box::new(move |signal| _ = sender.send(signal));
    let _watcher = Watcher::start(options, Arc::new(|_| Ok(Vec::new())), sink);
    let told = signals.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(told, Signal::Verified { why, .. } if why.starts_with("/proc lies on proc")));
}

#[test]
fn a_folder_that_comes_during_the_second_look_is_left_to_its_event() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    std::fs::create_dir(root.join("a")).unwrap();
    let asked = Mutex::new(0);
    let answer = move |below: &[u8]| {
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        if *asked == 2 {
            std::fs::create_dir(root.join("b")).unwrap();
        }
        let found = folders_of(&root, below);
        if *asked == 2 {
            std::fs::create_dir_all(root.join("b/c/d")).unwrap();
        }
        Ok(found)
    };
    let (watcher, signals, first) = first_signal(folder.path(), Arc::new(answer));
    assert_eq!(first, Signal::Watching { folders: 2 });
    let mark = watcher.mark().unwrap();
    while signals.recv_timeout(PATIENCE).unwrap() != Signal::Passed(mark) {}
    assert_eq!(watcher.counts().folders, 5);
}
