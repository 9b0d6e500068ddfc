//! The watcher on real folders, with the machine's own inotify and with one that a test tells what to say.

use std::collections::BTreeSet;
use std::io;
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
        Self::with(folders, Arc::new(Inotify))
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
