//! Files that are difficult for a long-running daemon (F22, F23, F27, F29, F30, F35 to F40, F44).

use std::fs::{File, FileTimes};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};
use std::{fs, thread};

use serde_json::json;

use super::super::sandbox::Sandbox;
use super::harness::{TestDaemon, rounds, wait_until};

#[test]
fn the_daemons_own_reads_and_writes_do_not_wake_it() {
    let sandbox = Sandbox::repo();
    for file in 0..300 {
        sandbox.write(format!("d{}/f{file}.py", file % 10), format!("x = {file}\n"));
    }
    let daemon = TestDaemon::start(&sandbox);
    daemon.query("/v1/index", &json!({"verify": true}));
    wait_until("nothing is pending", || daemon.status()["pending"] == 0);
    let before = daemon.status();
    daemon.query("/v1/index", &json!({"verify": true}));
    daemon.query("/v1/aggregate", &json!({"choice": {"tier": 3}}));
    let after = daemon.status();
    // The cookie of each query causes events of its own, in the cache folder.
    assert_eq!(before["sequence"], after["sequence"], "{after}");
    assert_eq!((&after["pending"], &after["missed"]), (&json!(0), &json!(0)), "{after}");
}

#[test]
fn links_are_not_followed_and_their_targets_not_watched() {
    let sandbox = Sandbox::repo();
    for folder in 0..50 {
        fs::create_dir_all(sandbox.outside(&format!("outside/d{folder}"))).unwrap();
    }
    sandbox.write("d/f.py", "x = 1\n");
    symlink(sandbox.outside("outside"), sandbox.path("out")).unwrap();
    symlink("..", sandbox.path("d/loop")).unwrap();
    symlink("/", sandbox.path("top")).unwrap();
    let daemon = TestDaemon::start(&sandbox);
    wait_until("it watches", || daemon.status()["mode"] == "events");
    let watches = daemon.status()["watches"].as_u64().unwrap();
    assert!(watches < 20, "{watches}");
}

#[test]
fn a_file_with_a_future_timestamp_is_neither_stale_nor_read_forever() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    let tomorrow = SystemTime::now() + Duration::from_hours(24);
    let file = File::options().write(true).open(sandbox.path("a.py")).unwrap();
    file.set_times(FileTimes::new().set_modified(tomorrow)).unwrap();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(20, 1000) {
        let text = format!("x = {:04}\n", round + 2);
        sandbox.write("a.py", &text);
        let file = File::options().write(true).open(sandbox.path("a.py")).unwrap();
        file.set_times(FileTimes::new().set_modified(tomorrow)).unwrap();
        assert_eq!(connection.text("a.py"), Some(text));
    }
    wait_until("it becomes idle", || daemon.status()["pending"] == 0);
    let before = daemon.status()["sequence"].clone();
    assert_eq!(daemon.status()["sequence"], before);
}

#[test]
fn two_unicode_spellings_of_a_name_are_two_files() {
    let sandbox = Sandbox::repo();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for (name, text) in [
        ("caf\u{e9}.py", "x = 1\n"),
        ("cafe\u{301}.py", "x = 2\n"),
        ("Cafe.py", "x = 3\n"),
        ("cafe.py", "x = 4\n"),
    ] {
        sandbox.write(name, text);
    }
    assert_eq!(connection.text("caf\u{e9}.py").as_deref(), Some("x = 1\n"));
    assert_eq!(connection.text("cafe\u{301}.py").as_deref(), Some("x = 2\n"));
    assert_eq!(connection.text("Cafe.py").as_deref(), Some("x = 3\n"));
    assert_eq!(connection.text("cafe.py").as_deref(), Some("x = 4\n"));
    daemon.assert_audit_is_clean();
}

#[test]
fn an_edit_through_another_hard_link_is_seen() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def f_0000(): pass\n");
    fs::hard_link(sandbox.path("a.py"), sandbox.outside("other")).unwrap();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(100, 10_000) {
        let text = format!("def f_{round:04}(): pass\n");
        fs::write(sandbox.outside("other"), &text).unwrap();
        let outline = connection.outline("a.py").unwrap();
        assert!(outline.contains(&format!("f_{round:04}")), "round {round}: {outline}");
        assert_eq!(connection.text("a.py"), Some(text));
    }
}

#[test]
fn pipes_sockets_and_unreadable_files_block_nothing() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    rustix::fs::mkfifoat(rustix::fs::CWD, sandbox.path("pipe.py"), rustix::fs::Mode::RWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(sandbox.path("socket.py")).unwrap();
    sandbox.write("locked.py", "x = 1\n");
    fs::set_permissions(sandbox.path("locked.py"), fs::Permissions::from_mode(0o000)).unwrap();
    let daemon = TestDaemon::start(&sandbox);
    daemon.query("/v1/index", &json!({}));
    let envelope = daemon.query("/v1/files", &json!({}));
    let state = |name: &str| {
        let files = envelope["data"]["files"].as_array().unwrap();
        let file = files.iter().find(|file| file["path"] == name).map(|file| file["state"].clone());
        file.unwrap_or_default()
    };
    assert_eq!(state("a.py"), "fresh");
    // A file becomes a pipe and back between the stat and the read.
    for _ in 0..rounds(50, 10_000) {
        fs::remove_file(sandbox.path("a.py")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, sandbox.path("a.py"), rustix::fs::Mode::RWXU).unwrap();
        daemon.connect().try_query("/v1/view", &json!({"files": ["a.py"]}));
        fs::remove_file(sandbox.path("a.py")).unwrap();
        sandbox.write("a.py", "x = 2\n");
        assert_eq!(daemon.connect().text("a.py").as_deref(), Some("x = 2\n"));
    }
}

#[test]
fn a_huge_sparse_file_is_listed_but_not_read() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    let daemon = TestDaemon::start(&sandbox);
    wait_until("it has settled", || daemon.status()["pending"] == 0);
    let before = daemon.status()["rss_bytes"].as_u64().unwrap();
    File::create(sandbox.path("giant.py")).unwrap().set_len(10 << 30).unwrap();
    let (code, envelope) = daemon.connect().try_query("/v1/view", &json!({"files": ["giant.py"]}));
    assert!(code == 422 || code == 200, "{code} {envelope}");
    daemon.query("/v1/index", &json!({}));
    let after = daemon.status()["rss_bytes"].as_u64().unwrap();
    // Far less than the file, and far more than what an allocator keeps from one answer to the next.
    assert!(after < before + (256 << 20), "{before} {after}");
}

/// A folder is repeatedly swapped for a link to another while its file is queried.
#[test]
fn no_byte_of_a_swapped_in_folder_is_ever_shown() {
    let sandbox = Sandbox::repo();
    fs::create_dir(sandbox.outside("secret")).unwrap();
    fs::write(sandbox.outside("secret/f.py"), "CANARY = 1\n").unwrap();
    sandbox.write("d/f.py", "x = 1\n");
    let daemon = TestDaemon::start(&sandbox);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (folder, aside) = (sandbox.path("d"), sandbox.path("aside"));
            while !over.load(Ordering::Relaxed) {
                fs::rename(&folder, &aside).unwrap();
                symlink(sandbox.outside("secret"), &folder).unwrap();
                fs::remove_file(&folder).unwrap();
                fs::rename(&aside, &folder).unwrap();
            }
        });
        let mut connection = daemon.connect();
        for round in 0..rounds(200, 100_000) {
            let (route, body) = match round % 3 {
                0 => ("/v1/view", json!({"files": ["d/f.py"]})),
                1 => ("/v1/outline", json!({})),
                _ => ("/v1/aggregate", json!({"choice": {"strategy": "full"}})),
            };
            let (_, envelope) = connection.try_query(route, &body);
            assert!(!envelope.to_string().contains("CANARY"), "{envelope}");
        }
        over.store(true, Ordering::Relaxed);
    });
}

/// Any worker may be the first to read the settings, and the listing is shared.
#[test]
fn changed_secret_patterns_apply_from_the_next_query() {
    let sandbox = Sandbox::repo();
    sandbox.write("plain.txt", "nothing\n");
    sandbox.write("token.txt", "CANARY\n");
    sandbox.write("gen/out.txt", "made\n");
    sandbox.write("slop.toml", "");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(8, 200) {
        sandbox.write("slop.toml", "");
        let envelope = connection.query("/v1/view", &json!({"files": ["*.txt"], "mode": "full"}));
        assert!(envelope.to_string().contains("CANARY"), "{round}: {envelope}");
        sandbox.write("slop.toml", "[secrets]\nnames = [\"token.txt\"]\n");
        let envelope = connection.query("/v1/view", &json!({"files": ["*.txt"], "mode": "full"}));
        assert!(!envelope.to_string().contains("CANARY"), "{round}: {envelope}");
    }
    // Files that are no longer listed are no longer in the index.
    sandbox.write("slop.toml", "[project]\noutput_dir = \"gen\"\n");
    connection.query("/v1/files", &json!({}));
    wait_until("the index matches the settings", || sandbox.slop(&["audit"]).code == 0);
}
