//! What happens when the system reports too little, or nothing.

use super::*;

#[test]
fn a_lost_track_makes_a_new_queue_that_sees_what_the_old_one_did_not() {
    for event in [
        WatchEvent::Lost("overflow".to_owned()),
        WatchEvent::Lost("error".to_owned()),
        WatchEvent::Unmounted(PathBuf::from("/elsewhere")),
    ] {
        let fake = Arc::new(FakeSource::default());
        let scene = WatchScene::with(&["a"], Arc::clone(&fake) as Arc<dyn EventSource>);
        assert!(matches!(scene.next(), WatchSignal::Watching { folders: 2 }));
        fake.emit(event);
        assert!(matches!(scene.next(), WatchSignal::Lost { .. }));
        assert!(matches!(scene.next(), WatchSignal::Watching { folders: 2 }));
        assert_eq!((fake.opened(), scene.watcher().counts().losses), (2, 1));
        // Events of the old queue are ignored.
        fake.emit_from_first(WatchEvent::Lost("late".to_owned()));
        scene.write("a/b/c", "x");
        assert!(scene.observe_until_cookie().paths.contains("a/b/c"));
        assert_eq!(fake.opened(), 2);
    }
}

#[test]
fn a_root_removed_during_the_listing_is_reported_as_gone() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let gone = root.clone();
    let folders: FolderLister = Arc::new(move |_, _| {
        std::fs::remove_dir(&gone).unwrap();
        Err(io::ErrorKind::NotFound.into())
    });
    let (_watcher, _signals, first) = first_signal(&root, folders);
    assert_eq!(first, WatchSignal::RootGone);
}

#[test]
fn many_losses_at_once_are_one() {
    let fake = Arc::new(FakeSource::default());
    let scene = WatchScene::with(&["a"], Arc::clone(&fake) as Arc<dyn EventSource>);
    assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
    for _ in 0..1000 {
        fake.emit_from_first(WatchEvent::Lost("storm".to_owned()));
    }
    assert!(matches!(scene.next(), WatchSignal::Lost { .. }));
    assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
    assert_eq!(scene.observe_until_cookie().signals, 1);
    assert_eq!(fake.opened(), 2);
}

#[test]
fn a_cookie_passes_when_the_queue_tells_of_it_and_no_sooner() {
    let fake = Arc::new(FakeSource::default());
    let scene = WatchScene::with(&["a"], Arc::clone(&fake) as Arc<dyn EventSource>);
    assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
    scene.observe_until_cookie();
    fake.hold();
    scene.write("a/late", "x");
    let mark = scene.watcher().request_cookie().unwrap();
    // The cookie's file was created and deleted; the queue has reported neither it nor earlier events.
    fake.emit(WatchEvent::Path(
        super::inbox::PathChange::Modified,
        scene.root().canonicalize().unwrap().join("a/other"),
    ));
    let WatchSignal::Touched { paths, .. } = scene.next() else { panic!("passed before it was observed") };
    assert_eq!(paths, [RelPath::new(b"a/other").unwrap()]);
    fake.release_after(&format!("7-{mark}"));
    let mut observed = Vec::new();
    loop {
        match scene.next() {
            WatchSignal::CookiePassed(number) if number == mark => break,
            WatchSignal::Touched { paths, .. } => observed.extend(paths),
            other => panic!("{other:?}"),
        }
    }
    assert!(observed.contains(&RelPath::new(b"a/late").unwrap()), "{observed:?}");
}

#[test]
fn a_cookie_requested_during_a_loss_comes_back_after_the_new_watch() {
    let fake = Arc::new(FakeSource::default());
    let scene = WatchScene::with(&["a"], Arc::clone(&fake) as Arc<dyn EventSource>);
    assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
    fake.emit(WatchEvent::Lost("overflow".to_owned()));
    let mark = scene.watcher().request_cookie().unwrap();
    let mut observed = Vec::new();
    while observed.last() != Some(&WatchSignal::CookiePassed(mark)) {
        observed.push(scene.next());
    }
    let at = |wanted: fn(&WatchSignal) -> bool| observed.iter().position(wanted).unwrap();
    assert!(
        at(|s| matches!(s, WatchSignal::Lost { .. })) < at(|s| matches!(s, WatchSignal::Watching { .. }))
    );
    assert_eq!(at(|s| matches!(s, WatchSignal::CookiePassed(_))), observed.len() - 1);
}

#[test]
fn too_many_folders_for_the_limit_are_not_watched_at_all() {
    let folders: Vec<String> = (0..40).map(|number| format!("d{number}")).collect();
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    let fake = Arc::new(FakeSource { limit: Some(50), ..FakeSource::default() });
    expect_verified(&WatchScene::with(&folders, fake), &["41", "80 %", "50"]);
    let fake = Arc::new(FakeSource { limit: Some(60), ..FakeSource::default() });
    let scene = WatchScene::with(&folders, fake);
    assert_eq!(scene.next(), WatchSignal::Watching { folders: 41 });
    for number in 0..30 {
        std::fs::create_dir(scene.path(&format!("late{number}"))).unwrap();
    }
    let mut observed = scene.next();
    while matches!(observed, WatchSignal::Touched { .. }) {
        observed = scene.next();
    }
    let WatchSignal::Verified { reason, .. } = observed else { panic!("{observed:?}") };
    assert!(reason.contains("60"), "{reason}");
    assert_eq!(scene.watcher().counts().folders, 0);
}

#[test]
fn a_denied_watch_ends_all_others() {
    let fake = Arc::new(FakeSource { granted: Some(3), ..FakeSource::default() });
    expect_verified(&WatchScene::with(&["a", "b", "c"], fake), &["4 folders"]);
}

#[test]
fn without_a_queue_there_are_no_events() {
    let fake = Arc::new(FakeSource { refused: Mutex::new(1), ..FakeSource::default() });
    expect_verified(&WatchScene::with(&["a"], fake), &["no queue", "Too many open files"]);
}

#[test]
fn a_file_system_without_events_is_not_watched() {
    let fake = Arc::new(FakeSource { file_system: 0x6969, ..FakeSource::default() });
    let scene = WatchScene::with(&["a"], Arc::clone(&fake) as Arc<dyn EventSource>);
    expect_verified(&scene, &["NFS"]);
    scene.write("a/f", "x");
    assert!(scene.signals.try_recv().is_err());
    // The root is checked all the same.
    std::fs::remove_dir_all(scene.root()).unwrap();
    assert!(!scene.watcher().check_root());
    assert_eq!(scene.next(), WatchSignal::RootGone);
}

#[test]
fn too_many_changes_are_reported_as_a_whole_and_new_folders_are_watched() {
    let fake = Arc::new(FakeSource::default());
    let scene = WatchScene::with(&["a"], Arc::clone(&fake) as Arc<dyn EventSource>);
    assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
    let root = scene.root().canonicalize().unwrap();
    // Folders whose own events are lost in the flood.
    scene.write("new/deep/f", "x");
    for number in 0..120_000 {
        let path = root.join(format!("a/{number}"));
        fake.emit(WatchEvent::Path(super::inbox::PathChange::Modified, path));
    }
    scene.observe_until_cookie();
    scene.write("new/deep/f", "y");
    assert!(scene.observe_until_cookie().paths.contains("new/deep/f"));
}

#[test]
fn without_a_listing_nothing_is_watched() {
    let folder = tempfile::tempdir().unwrap();
    let (sender, signals) = mpsc::channel();
    let options = Options {
        root: folder.path().to_owned(),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
        linked: Vec::new(),
    };
    let folders: FolderLister = Arc::new(|_, _| Err(io::Error::other("a trap")));
    let sink: SignalSink = Box::new(move |signal| _ = sender.send(signal));
    let _watcher = Watcher::start_with(options, folders, sink, Arc::new(LocalSource));
    let observed = signals.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(observed, WatchSignal::Verified { reason, .. } if reason.contains("a trap")));
}

#[test]
fn a_linked_folder_that_cannot_be_watched_does_not_affect_others() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    for name in ["root/.slop_cache", "root/a", "good/b", "bad/c"] {
        std::fs::create_dir_all(base.join(name)).unwrap();
    }
    let link = |name: &str| LinkedFolder {
        name: name.to_owned(),
        kind: ResourceKind::Directory,
        path: base.join(name),
        identity: None,
        linked_at_s: None,
    };
    let root = base.join("root");
    let folders: FolderLister = Arc::new(move |linked, below| match linked {
        Some(linked) if linked.name == "bad" => Err(io::Error::other("a trap")),
        Some(linked) => Ok(folders_of(&linked.path, below)),
        None => Ok(folders_of(&root, below)),
    });
    let (sender, signals) = mpsc::channel();
    let options = Options {
        root: base.join("root"),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
        linked: ["bad", "good", "missing"].map(link).to_vec(),
    };
    let sink: SignalSink = Box::new(move |signal| _ = sender.send(signal));
    let watcher = Watcher::start_with(options, folders, sink, Arc::new(LocalSource));
    let scene = WatchScene { folder, watcher: Some(watcher), signals };
    // The root, `a`, `@good` and `@good/b`.
    assert_eq!(scene.next(), WatchSignal::Watching { folders: 4 });
    let unwatched = scene.watcher().unwatched_links();
    assert_eq!(unwatched.keys().collect::<Vec<_>>(), ["bad"]);
    assert!(unwatched["bad"].contains("a trap"));
    std::fs::write(base.join("bad/c/f"), "x").unwrap();
    scene.write("a/f", "x");
    std::fs::write(base.join("good/b/f"), "x").unwrap();
    std::fs::create_dir_all(base.join("good/new")).unwrap();
    std::fs::write(base.join("good/new/f"), "x").unwrap();
    let observed = scene.observe_until_cookie();
    assert_eq!(observed.paths(), ["@good/b/f", "@good/new", "@good/new/f", "a/f"]);
    // A linked folder that appears is watched from then on.
    std::fs::create_dir_all(base.join("missing/d")).unwrap();
    scene.watcher().check_links();
    assert_eq!(scene.next(), WatchSignal::Watching { folders: 7 });
    std::fs::write(base.join("missing/d/f"), "x").unwrap();
    assert_eq!(scene.observe_until_cookie().paths(), ["@missing/d/f"]);
}

#[test]
fn a_queue_that_overflows_is_replaced_and_folders_of_that_time_are_watched() {
    let fake = Arc::new(FakeSource::default());
    let scene = WatchScene::with(&["a"], Arc::clone(&fake) as Arc<dyn EventSource>);
    assert!(matches!(scene.next(), WatchSignal::Watching { .. }));
    let handler = Arc::clone(&fake.handlers.lock().unwrap()[0]);
    // The system's thread is held at the first event, and its queue fills up.
    let held = handler.lock().unwrap();
    let most = std::fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let most: usize = most.trim().parse().unwrap();
    assert!(most <= 1 << 20, "this machine's queue is too long for the test");
    let (one, other) = (scene.path("a/f"), scene.path("a/g"));
    std::fs::write(&one, "x").unwrap();
    for _ in 0..most / 4 + 100 {
        // Two events each, never the same twice in a row, which the system would merge.
        std::fs::rename(&one, &other).unwrap();
        std::fs::rename(&other, &one).unwrap();
    }
    scene.write("late/deep/f", "x");
    drop(held);
    let mut observed = Vec::new();
    while !matches!(observed.last(), Some(WatchSignal::Watching { .. })) {
        observed.push(scene.next());
    }
    assert!(
        observed
            .iter()
            .any(|signal| matches!(signal, WatchSignal::Lost { reason } if reason.contains("overflowed")))
    );
    assert_eq!(observed.last(), Some(&WatchSignal::Watching { folders: 4 }));
    scene.write("late/deep/f", "y");
    assert!(scene.observe_until_cookie().paths.contains("late/deep/f"));
}
