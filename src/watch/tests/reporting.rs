//! What the machine reports about real folders.

use super::*;

#[test]
fn a_write_is_reported_before_the_cookie_that_follows_it() {
    let scene = WatchScene::watching(&["a/b"]);
    for round in 0..200 {
        scene.write("a/b/f", &round.to_string());
        let observed = scene.observe_until_cookie();
        assert_eq!(observed.paths(), ["a/b/f"], "round {round}");
        assert_eq!(observed.relist, round == 0);
    }
}

#[test]
fn files_in_folders_made_in_one_go_are_all_told() {
    let scene = WatchScene::watching(&[]);
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
    let observed = scene.observe_until_cookie();
    let missed: Vec<_> = written.difference(&observed.paths).collect();
    assert!(missed.is_empty() && observed.relist, "{} missed: {missed:?}", missed.len());
    // And they are watched from then on.
    scene.write("d299/0/1/2/3/4/f", "y");
    assert_eq!(scene.observe_until_cookie().paths(), ["d299/0/1/2/3/4/f"]);
}

#[test]
fn a_folder_whose_files_changed_before_it_was_watched_is_reported() {
    let source = Arc::new(FakeSource::default());
    let scene = WatchScene::with(&[], Arc::<FakeSource>::clone(&source));
    assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
    source.hold();
    scene.write("n/a/f", "x");
    std::fs::remove_file(scene.path("n/a/f")).unwrap();
    source.release_after("n");
    // An answer may have read the file meanwhile, and no event will report that it is gone.
    assert_eq!(scene.observe_until_cookie().paths(), ["n", "n/a"]);
}

#[test]
fn reading_files_tells_nothing() {
    let scene = WatchScene::watching(&["a"]);
    for number in 0..100 {
        scene.write(&format!("a/{number}"), "x");
    }
    scene.observe_until_cookie();
    let before = scene.watcher().counts().events;
    for number in 0..100 {
        std::fs::read(scene.path(&format!("a/{number}"))).unwrap();
    }
    std::fs::read_dir(scene.path("a")).unwrap().for_each(drop);
    let observed = scene.observe_until_cookie();
    assert_eq!((observed.signals, scene.watcher().counts().events), (1, before));
}

#[test]
fn what_happens_in_the_cache_tells_nothing() {
    let scene = WatchScene::watching(&[".slop_cache/deep"]);
    scene.observe_until_cookie();
    scene.write(".slop_cache/index.db", "x");
    scene.write(".slop_cache/cookies/foreign", "x");
    scene.write(".slop_cache/deep/a", "x");
    let observed = scene.observe_until_cookie();
    assert_eq!((observed.signals, scene.watcher().counts().events), (1, 0));
}

#[test]
fn the_close_of_a_writer_is_told_though_nothing_was_written_by_a_call() {
    let scene = WatchScene::watching(&["a"]);
    scene.write("a/f", "x");
    scene.observe_until_cookie();
    // Like a writer through a memory map, of which only the closing is reported.
    drop(std::fs::OpenOptions::new().write(true).open(scene.path("a/f")).unwrap());
    assert_eq!(scene.observe_until_cookie().paths(), ["a/f"]);
}

#[test]
fn an_atomic_save_is_reported_and_causes_a_new_listing() {
    let scene = WatchScene::watching(&["a"]);
    scene.write("a/f", "x");
    scene.observe_until_cookie();
    scene.write("a/f.tmp", "y");
    std::fs::rename(scene.path("a/f.tmp"), scene.path("a/f")).unwrap();
    let observed = scene.observe_until_cookie();
    assert_eq!((observed.paths(), observed.relist), (vec!["a/f", "a/f.tmp"], true));
}

#[test]
fn a_moved_tree_is_reported_only_under_its_new_name() {
    let scene = WatchScene::watching(&["a/b/c"]);
    scene.write("a/b/c/f", "x");
    scene.observe_until_cookie();
    std::fs::rename(scene.path("a"), scene.path("z")).unwrap();
    let observed = scene.observe_until_cookie();
    assert!(observed.relist && observed.paths.contains("z/b/c/f"), "{observed:?}");
    scene.write("z/b/c/f", "y");
    assert_eq!(scene.observe_until_cookie().paths(), ["z/b/c/f"]);
    assert_eq!(scene.watcher().counts().folders, 4);
    // A new folder in its place is a different one.
    scene.write("a/b/g", "x");
    scene.observe_until_cookie();
    scene.write("a/b/g", "y");
    assert_eq!(scene.observe_until_cookie().paths(), ["a/b/g"]);
}

#[test]
fn a_tree_moved_out_is_not_watched_and_one_moved_in_is() {
    let scene = WatchScene::watching(&["a/b"]);
    let outside = scene.folder.path().join("outside");
    std::fs::rename(scene.path("a"), &outside).unwrap();
    assert!(scene.observe_until_cookie().relist);
    assert_eq!(scene.watcher().counts().folders, 1);
    std::fs::write(outside.join("b/f"), "x").unwrap();
    let observed = scene.observe_until_cookie();
    assert_eq!(observed.signals, 1, "{observed:?}");
    std::fs::rename(&outside, scene.path("back")).unwrap();
    let observed = scene.observe_until_cookie();
    assert!(observed.relist && observed.paths.contains("back/b/f"), "{observed:?}");
    scene.write("back/b/f", "y");
    assert_eq!(scene.observe_until_cookie().paths(), ["back/b/f"]);
}

#[test]
fn a_deleted_and_recreated_folder_is_watched_again() {
    let scene = WatchScene::watching(&["a/b"]);
    for round in 0..50 {
        std::fs::remove_dir_all(scene.path("a")).unwrap();
        scene.write("a/b/f", "x");
        assert!(scene.observe_until_cookie().paths.contains("a/b/f"), "round {round}");
        scene.write("a/b/f", "y");
        assert_eq!(scene.observe_until_cookie().paths(), ["a/b/f"], "round {round}");
    }
    assert_eq!(scene.watcher().counts().folders, 3);
}

#[test]
fn links_are_not_followed_even_in_place_of_a_folder() {
    let scene = WatchScene::new(&["a", "b"]);
    let outside = scene.folder.path().join("outside");
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::os::unix::fs::symlink(&outside, scene.path("a/out")).unwrap();
    std::os::unix::fs::symlink("..", scene.path("a/loop")).unwrap();
    scene.observe_until_cookie();
    assert_eq!(scene.watcher().counts().folders, 3);
    std::fs::remove_dir(scene.path("b")).unwrap();
    std::os::unix::fs::symlink(&outside, scene.path("b")).unwrap();
    assert!(scene.observe_until_cookie().paths.contains("b"));
    std::fs::write(outside.join("deep/f"), "x").unwrap();
    std::fs::write(outside.join("f"), "x").unwrap();
    assert_eq!(scene.observe_until_cookie().signals, 1);
    assert_eq!(scene.watcher().counts().folders, 2);
}

#[test]
fn ignored_folders_are_not_watched_and_a_changed_rule_causes_a_new_listing() {
    let scene = WatchScene::watching(&["ignored/deep", "a/ignored"]);
    scene.write("ignored/deep/f", "x");
    scene.write("a/ignored/f", "x");
    assert_eq!(scene.observe_until_cookie().signals, 1);
    assert_eq!(scene.watcher().counts().folders, 2);
    scene.write("a/.gitignore", "x");
    let observed = scene.observe_until_cookie();
    assert_eq!((observed.paths(), observed.relist), (vec!["a/.gitignore"], true));
}

#[test]
fn unwanted_folders_are_dropped_and_new_ones_added() {
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
        linked: Vec::new(),
    };
    let answer = Arc::clone(&wanted);
    let watcher = Watcher::start_with(
        options,
        Arc::new(move |_, _| Ok(answer.lock().unwrap().clone())),
        Box::new(move |signal| _ = sender.send(signal)),
        Arc::new(LocalSource),
    );
    let next = || signals.recv_timeout(PATIENCE).unwrap();
    assert_eq!(next(), WatchSignal::Watching { folders: 2 });
    *wanted.lock().unwrap() = vec![RelPath::new(b"b").unwrap()];
    watcher.relist_folders();
    // Newly watched folders are reported, because no event reported them before.
    let paths = ["b", "b/f"].map(|path| RelPath::new(path.as_bytes()).unwrap()).to_vec();
    assert_eq!(next(), WatchSignal::Touched { paths, relist: true });
    std::fs::write(folder.path().join("a/f"), "y").unwrap();
    watcher.relist_folders();
    let mark = watcher.request_cookie().unwrap();
    assert_eq!(next(), WatchSignal::CookiePassed(mark));
    assert_eq!(watcher.counts().folders, 2);
}

#[test]
fn only_the_named_files_outside_of_the_tree_cause_a_new_listing() {
    let scene = WatchScene::watching(&[".git/refs"]);
    scene.write(".git/index", "x");
    let elsewhere = scene.folder.path().join("config/git/ignore");
    scene.watcher().set_extra_files(vec![scene.path(".git/index"), elsewhere.clone()]);
    scene.observe_until_cookie();
    scene.write(".git/index.lock", "y");
    scene.write(".git/refs/main", "y");
    assert_eq!(scene.observe_until_cookie().signals, 1);
    std::fs::rename(scene.path(".git/index.lock"), scene.path(".git/index")).unwrap();
    let observed = scene.observe_until_cookie();
    assert_eq!((observed.paths(), observed.relist), (vec![], true));
    // A file whose folders do not exist.
    std::fs::create_dir_all(elsewhere.parent().unwrap()).unwrap();
    scene.observe_until_cookie();
    std::fs::write(&elsewhere, "x").unwrap();
    assert!(scene.observe_until_cookie().relist);
    std::fs::write(&elsewhere, "y").unwrap();
    assert!(scene.observe_until_cookie().relist);
    // Setting the same files again changes nothing.
    scene.watcher().set_extra_files(vec![scene.path(".git/index"), elsewhere]);
    assert_eq!(scene.observe_until_cookie().signals, 1);
}

#[test]
fn cookies_come_back_although_the_cache_is_deleted_repeatedly() {
    let scene = WatchScene::watching(&[]);
    for round in 0..50 {
        std::fs::remove_dir_all(scene.path(".slop_cache")).unwrap();
        scene.write("f", &round.to_string());
        assert!(scene.observe_until_cookie().paths.contains("f"));
    }
    assert!(scene.path(".slop_cache/CACHEDIR.TAG").exists());
    assert!(std::fs::read_dir(scene.path(".slop_cache/cookies")).unwrap().next().is_none());
}

#[test]
fn a_cookie_with_the_largest_number_does_not_end_the_watch() {
    let scene = WatchScene::watching(&[]);
    scene.observe_until_cookie();
    scene.write(&format!(".slop_cache/cookies/7-{}", u64::MAX), "");
    scene.observe_until_cookie();
    scene.write("f", "x");
    assert!(scene.observe_until_cookie().paths.contains("f"));
}

#[test]
fn a_pending_cookie_comes_back_although_its_folder_is_deleted() {
    let scene = WatchScene::watching(&[]);
    scene.observe_until_cookie();
    for _ in 0..100 {
        std::fs::remove_dir_all(scene.path(".slop_cache/cookies")).unwrap();
        // Another process created the folder, which is not watched yet.
        std::fs::create_dir(scene.path(".slop_cache/cookies")).unwrap();
        scene.observe_until_cookie();
    }
}

#[test]
fn a_cookie_created_before_its_folder_is_watched_comes_back() {
    let scene = WatchScene::watching(&[]);
    for number in 1..9 {
        scene.write(&format!(".slop_cache/cookies/7-{number}"), "");
    }
    scene.observe_until_cookie();
}

#[test]
fn an_idle_watcher_does_not_recreate_the_cache() {
    let scene = WatchScene::watching(&[]);
    scene.observe_until_cookie();
    std::fs::remove_dir_all(scene.path(".slop_cache")).unwrap();
    // This is reported after the watcher has noticed that the cache is gone.
    scene.write("a", "x");
    let is_seen = |path: &RelPath| path.as_bytes() == b"a";
    while !matches!(scene.next(), WatchSignal::Touched { paths, .. } if paths.iter().any(is_seen)) {}
    assert!(!scene.path(".slop_cache").exists());
}

#[test]
fn a_removed_root_is_reported_and_ends_the_watch() {
    let changes: [fn(&Path); 3] = [
        |root| std::fs::remove_dir_all(root).unwrap(),
        |root| std::fs::rename(root, root.with_extension("moved")).unwrap(),
        |root| {
            std::fs::rename(root, root.with_extension("moved")).unwrap();
            std::fs::create_dir(root).unwrap();
        },
    ];
    for change in changes {
        let scene = WatchScene::watching(&["a"]);
        assert!(scene.watcher().check_root());
        change(&scene.root());
        assert!(!scene.watcher().check_root());
        let mut observed = scene.next();
        while matches!(observed, WatchSignal::Touched { .. }) {
            observed = scene.next();
        }
        assert_eq!(observed, WatchSignal::RootGone);
        assert!(scene.signals.recv().is_err(), "the thread has ended");
    }
}

#[test]
fn a_root_whose_parent_was_renamed_is_found_gone_when_asked() {
    let scene = WatchScene::watching(&[]);
    let parent = scene.folder.path();
    std::fs::rename(parent, parent.with_extension("moved")).unwrap();
    assert!(!scene.watcher().check_root());
    assert_eq!(scene.next(), WatchSignal::RootGone);
    std::fs::rename(parent.with_extension("moved"), parent).unwrap();
}

#[test]
fn a_dropped_watcher_sends_no_more_signals() {
    let mut scene = WatchScene::watching(&[]);
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
        linked: Vec::new(),
    };
    let sink: SignalSink = Box::new(move |signal| _ = sender.send(signal));
    let watcher = Watcher::start_with(options, Arc::new(|_, _| Ok(Vec::new())), sink, Arc::new(LocalSource));
    assert!(matches!(signals.recv().unwrap(), WatchSignal::Watching { .. }));
    std::fs::write(root.join("first"), "x").unwrap();
    // The thread waits until the first one is received.
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
    let mark = watcher.request_cookie().unwrap();
    let mut observed = Vec::new();
    loop {
        match signals.recv().unwrap() {
            WatchSignal::CookiePassed(number) if number == mark => break,
            signal => observed.push(signal),
        }
    }
    assert!(observed.len() <= 4, "{} signals", observed.len());
}
