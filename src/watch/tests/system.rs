//! Limits, mounts and links of the system itself.

use super::*;

#[test]
fn a_link_is_not_watched_even_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let (root, outside) = (folder.path().join("root"), folder.path().join("outside"));
    std::fs::create_dir_all(&root).unwrap();
    std::fs::create_dir_all(outside.join("deep")).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("a")).unwrap();
    // As for a file that git tracks and whose folder was replaced by a link.
    let folders: Vec<RelPath> = ["a", "a/deep"].map(|path| RelPath::new(path.as_bytes()).unwrap()).into();
    let (watcher, signals, first) = first_signal(&root, Arc::new(move |_, _| Ok(folders.clone())));
    assert_eq!(first, WatchSignal::Watching { folders: 1 });
    std::fs::write(outside.join("deep/f"), "x").unwrap();
    let mark = watcher.request_cookie().unwrap();
    assert_eq!(signals.recv_timeout(PATIENCE).unwrap(), WatchSignal::CookiePassed(mark));
}

#[test]
fn a_folder_created_between_the_listing_and_the_watch_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    std::fs::create_dir(root.join("a")).unwrap();
    let asked = Mutex::new(0);
    let answer = move |_: Option<&LinkedFolder>, below: &[u8]| {
        let found = folders_of(&root, below);
        let mut asked = asked.lock().unwrap();
        *asked += 1;
        if *asked == 1 {
            std::fs::create_dir_all(root.join("a/late/deep")).unwrap();
        }
        Ok(found)
    };
    let (_watcher, _signals, first) = first_signal(folder.path(), Arc::new(answer));
    assert_eq!(first, WatchSignal::Watching { folders: 4 });
}

fn run(program: &str, arguments: &[&str]) -> bool {
    let status = std::process::Command::new(program).args(arguments).status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn the_systems_limits_and_mounts_are_respected() {
    // Runs this test again in a namespace of its own, where a user may mount file systems and lower limits.
    if std::env::var_os(WITHIN).is_some() {
        return within_a_namespace();
    }
    if !run("unshare", &["-Urm", "true"]) {
        // Bypasses the test runner, which captures the output of passing tests.
        let _ =
            writeln!(io::stderr(), "SKIPPED: this machine lets its users have no namespaces of their own");
        return;
    }
    let this = std::env::current_exe().unwrap();
    let name = "watch::tests::system::the_systems_limits_and_mounts_are_respected";
    let mut inner = std::process::Command::new("unshare");
    inner.args(["-Urm", this.to_str().unwrap(), "--exact", name]).env(WITHIN, "1");
    let output = inner.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Set if a test runs in a namespace of its own.
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
    let folders: FolderLister = Arc::new(move |_, below| Ok(folders_of(&owned, below)));

    let (watcher, signals, first) = first_signal(&root, Arc::clone(&folders));
    assert_eq!(first, WatchSignal::Watching { folders: 101 });
    std::fs::write(second.join("d7/f"), "x").unwrap();
    let written = RelPath::new(b"d7/f").unwrap();
    let observed = signals.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(observed, WatchSignal::Touched { paths, .. } if paths == [written]));
    assert!(run("umount", &[second_text]) && run("umount", &["-l", root_text]));
    assert!(!watcher.check_root());
    let mut observed = signals.recv_timeout(PATIENCE).unwrap();
    while matches!(observed, WatchSignal::Touched { .. } | WatchSignal::Lost { .. }) {
        observed = signals.recv_timeout(PATIENCE).unwrap();
    }
    assert_eq!(observed, WatchSignal::RootGone);

    for number in 0..100 {
        std::fs::create_dir(root.join(format!("d{number}"))).unwrap();
    }
    std::fs::write("/proc/sys/user/max_inotify_watches", "50").unwrap();
    let (_watcher, _signals, first) = first_signal(&root, Arc::clone(&folders));
    assert!(
        matches!(first, WatchSignal::Verified { reason, .. } if reason.contains("101") && reason.contains("50"))
    );
    std::fs::write("/proc/sys/user/max_inotify_watches", "150").unwrap();
    // Enough in total, but not in addition to another watcher's.
    let (_watcher, _signals, first) = first_signal(&root, Arc::clone(&folders));
    assert_eq!(first, WatchSignal::Watching { folders: 101 });
    let (_other, _signals, first) = first_signal(&root, Arc::clone(&folders));
    assert!(
        matches!(first, WatchSignal::Verified { reason, .. } if reason.contains("too few watches for 101"))
    );
    std::fs::write("/proc/sys/user/max_inotify_instances", "0").unwrap();
    let (_third, _signals, first) = first_signal(&root, folders);
    assert!(matches!(first, WatchSignal::Verified { reason, .. } if reason.contains("no queue")));
}

#[test]
fn a_file_system_of_this_machine_without_events_is_recognized() {
    let (sender, signals) = mpsc::channel();
    let options = Options {
        root: PathBuf::from("/proc"),
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        epoch: 7,
        watch_limit_percent: 80,
        linked: Vec::new(),
    };
    let sink: SignalSink = Box::new(move |signal| _ = sender.send(signal));
    let _watcher = Watcher::start(options, Arc::new(|_, _| Ok(Vec::new())), sink);
    let observed = signals.recv_timeout(PATIENCE).unwrap();
    assert!(
        matches!(observed, WatchSignal::Verified { reason, .. } if reason.starts_with("/proc is on proc"))
    );
}

#[test]
fn a_folder_created_during_the_second_listing_is_left_to_its_event() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().to_owned();
    std::fs::create_dir(root.join("a")).unwrap();
    let asked = Mutex::new(0);
    let answer = move |_: Option<&LinkedFolder>, below: &[u8]| {
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
    assert_eq!(first, WatchSignal::Watching { folders: 2 });
    let mark = watcher.request_cookie().unwrap();
    while signals.recv_timeout(PATIENCE).unwrap() != WatchSignal::CookiePassed(mark) {}
    assert_eq!(watcher.counts().folders, 5);
}
