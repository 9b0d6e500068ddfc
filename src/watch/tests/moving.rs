//! After any moves, each wanted folder is watched.

use super::*;
use crate::model::testing::TestNumbers;

fn random_path(dice: &mut TestNumbers) -> String {
    let depth = 1 + dice.below(4);
    (0..depth).map(|_| ["a", "b", "c"][dice.below(3)]).collect::<Vec<_>>().join("/")
}

/// Makes a random change in the tree, which may fail because something exists or is missing.
fn disturb(scene: &WatchScene, dice: &mut TestNumbers) {
    let (one, other) = (scene.path(&random_path(dice)), scene.path(&random_path(dice)));
    match dice.below(8) {
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
    let scene = WatchScene::watching(&[]);
    let mut dice = TestNumbers(1);
    for round in 0..300 {
        for _ in 0..=dice.below(12) {
            disturb(&scene, &mut dice);
        }
        let observed = scene.observe_until_cookie();
        assert!(observed.other.is_empty(), "round {round}: {observed:?}");
        let folders = folders_of(&scene.root(), b"");
        assert_eq!(scene.watcher().counts().folders, folders.len() as u64 + 1, "round {round}: {folders:?}");
        let files: BTreeSet<String> = folders.iter().map(|folder| format!("{folder}/probe")).collect();
        for file in &files {
            scene.write(file, "x");
        }
        let observed = scene.observe_until_cookie().paths;
        assert_eq!(observed, files, "round {round}");
        for file in &files {
            std::fs::remove_file(scene.path(file)).unwrap();
        }
        scene.observe_until_cookie();
    }
}

/// Replaces the folder `c` with a link to `d` just before `c/p` is watched.
struct LinkingSource(PathBuf);

struct LinkingQueue {
    real: Box<dyn WatchQueue>,
    root: Option<PathBuf>,
}

impl EventSource for LinkingSource {
    fn open(&self, handler: EventHandler) -> io::Result<Box<dyn WatchQueue>> {
        Ok(Box::new(LinkingQueue { real: LocalSource.open(handler)?, root: Some(self.0.clone()) }))
    }

    fn limit(&self) -> Option<u64> {
        None
    }

    fn file_system(&self, _: &Path) -> io::Result<u64> {
        Ok(0)
    }
}

impl WatchQueue for LinkingQueue {
    fn watch(&mut self, folders: Vec<PathBuf>, follow: bool) -> Result<Vec<PathBuf>, WatchError> {
        if folders.iter().any(|folder| folder.ends_with("c/p"))
            && let Some(root) = self.root.take()
        {
            std::fs::rename(root.join("c"), root.join("kept")).unwrap();
            std::os::unix::fs::symlink(root.join("d"), root.join("c")).unwrap();
        }
        self.real.watch(folders, follow)
    }

    fn unwatch(&mut self, folders: Vec<PathBuf>) {
        self.real.unwatch(folders);
    }
}

#[test]
fn a_folder_that_was_watched_through_a_link_is_reported_by_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    let scene = WatchScene::in_folder(folder, &["d/p"], Arc::new(LinkingSource(root)));
    assert!(matches!(scene.next(), WatchSignal::Watching { folders: 3 }));
    std::fs::create_dir_all(scene.path("c/p")).unwrap();
    // The link is created in between, and has been checked when the second cookie is back.
    scene.observe_until_cookie();
    scene.observe_until_cookie();
    assert!(scene.path("c").is_symlink());
    for file in ["d/p/probe", "kept/p/probe"] {
        scene.write(file, "x");
        assert_eq!(scene.observe_until_cookie().paths(), [file]);
    }
}
