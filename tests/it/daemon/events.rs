//! Answers are correct although events are lost, late or too many (F07, F10 to F13, F24, F32, F33).

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::super::sandbox::Sandbox;
use super::harness::{DaemonConnection, TestDaemon, rounds, wait_until};

/// Returns the paths in an outline of the whole project.
#[track_caller]
fn listed_paths(connection: &mut DaemonConnection) -> Vec<String> {
    let envelope = connection.query("/v1/files", &json!({}));
    assert_eq!(envelope["freshness"], "fresh", "{envelope}");
    paths(&envelope["data"]["files"])
}

fn paths(files: &Value) -> Vec<String> {
    files.as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn files_in_folders_created_at_once_are_all_found() {
    let sandbox = Sandbox::repo();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let count = rounds(60, 300);
    for number in 0..count {
        let mut folder = format!("tree{number}");
        sandbox.write(format!("{folder}/f.py"), format!("x = {number}\n"));
        for level in ["a", "b", "c", "d"] {
            folder = format!("{folder}/{level}");
            sandbox.write(format!("{folder}/f.py"), format!("x = {number}\n"));
        }
    }
    assert_eq!(listed_paths(&mut connection).len(), count * 5);
    // Later edits in them are seen too.
    for number in 0..count {
        let file = format!("tree{number}/a/b/c/d/f.py");
        sandbox.write(&file, "y = 1\n");
        assert_eq!(connection.text(&file).as_deref(), Some("y = 1\n"));
    }
    assert_eq!(daemon.status()["missed"], 0);
    daemon.assert_audit_is_clean();
}

#[test]
fn the_daemon_survives_an_overflow_of_the_event_queue() {
    let sandbox = Sandbox::repo();
    sandbox.write("first.py", "x = 1\n");
    for folder in 0..50 {
        fs::create_dir_all(sandbox.path(format!("many/{folder}"))).unwrap();
    }
    let daemon = TestDaemon::start(&sandbox);
    wait_until("it watches", || daemon.status()["watches"].as_u64() == Some(52));
    daemon.signal("STOP");
    // The queue holds 16,384 events.
    for number in 0..20_000 {
        fs::write(sandbox.path(format!("many/{}/{}.txt", number % 50, number / 50)), "text\n").unwrap();
    }
    sandbox.write("late/folder/f.py", "x = 1\n");
    daemon.signal("CONT");
    let mut connection = daemon.connect();
    assert_eq!(listed_paths(&mut connection).len(), 20_002);
    wait_until("it watches again", || daemon.status()["mode"] == "events");
    sandbox.write("late/folder/f.py", "x = 2\n");
    assert_eq!(connection.text("late/folder/f.py").as_deref(), Some("x = 2\n"));
    let status = daemon.status();
    assert!(1 <= status["overflows"].as_u64().unwrap(), "{status}");
    daemon.assert_audit_is_clean();
}

#[test]
fn moving_a_tree_out_and_in_is_detected() {
    let sandbox = Sandbox::repo();
    for file in ["keep.py", "tree/a.py", "tree/b/c.py"] {
        sandbox.write(file, "x = 1\n");
    }
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(5, 100) {
        fs::rename(sandbox.path("tree"), sandbox.outside("tree")).unwrap();
        assert_eq!(listed_paths(&mut connection), ["keep.py"]);
        assert_eq!(connection.text("tree/a.py"), None);
        let text = format!("x = {round}\n");
        fs::write(sandbox.outside("tree/b/c.py"), &text).unwrap();
        fs::rename(sandbox.outside("tree"), sandbox.path("tree")).unwrap();
        assert_eq!(listed_paths(&mut connection), ["keep.py", "tree/a.py", "tree/b/c.py"]);
        assert_eq!(connection.text("tree/b/c.py"), Some(text));
    }
    daemon.assert_audit_is_clean();
}

#[test]
fn an_edited_ignore_file_takes_effect_immediately() {
    let sandbox = Sandbox::repo();
    for file in ["a.py", "gen/b.py", "gen/deep/c.py"] {
        sandbox.write(file, "x = 1\n");
    }
    sandbox.write(".gitignore", "");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(20, 100) {
        sandbox.write(".gitignore", "gen/\n");
        assert_eq!(listed_paths(&mut connection), [".gitignore", "a.py"]);
        sandbox.write("gen/deep/c.py", format!("x = {round}\n"));
        sandbox.write(".gitignore", "");
        assert_eq!(listed_paths(&mut connection), [".gitignore", "a.py", "gen/b.py", "gen/deep/c.py"]);
        assert_eq!(connection.text("gen/deep/c.py"), Some(format!("x = {round}\n")));
    }
    daemon.assert_audit_is_clean();
}

#[test]
fn tracking_or_ignoring_files_in_git_takes_effect_immediately() {
    let sandbox = Sandbox::repo();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write("forced.log", "text\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    assert_eq!(listed_paths(&mut connection), [".gitignore"]);
    sandbox.git(&["add", "-f", "forced.log"]);
    assert_eq!(listed_paths(&mut connection), [".gitignore", "forced.log"]);
    sandbox.git(&["rm", "-q", "--cached", "forced.log"]);
    assert_eq!(listed_paths(&mut connection), [".gitignore"]);
    sandbox.write("private", "text\n");
    assert_eq!(listed_paths(&mut connection), [".gitignore", "private"]);
    sandbox.write(".git/info/exclude", "private\n");
    assert_eq!(listed_paths(&mut connection), [".gitignore"]);
}

#[test]
fn a_name_may_become_a_file_a_folder_and_a_link() {
    let sandbox = Sandbox::repo();
    sandbox.write("other/f.py", "x = 1\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let thing = sandbox.path("thing");
    for round in 0..rounds(20, 1000) {
        let text = format!("x = {round}\n");
        fs::write(&thing, &text).unwrap();
        assert_eq!(connection.text("thing"), Some(text.clone()));
        fs::remove_file(&thing).unwrap();
        sandbox.write("thing/f.py", &text);
        assert_eq!(listed_paths(&mut connection), ["other/f.py", "thing/f.py"]);
        assert_eq!(connection.text("thing/f.py"), Some(text));
        fs::remove_dir_all(&thing).unwrap();
        symlink("other", &thing).unwrap();
        assert_eq!(listed_paths(&mut connection), ["other/f.py", "thing"]);
        fs::remove_file(&thing).unwrap();
        assert_eq!(listed_paths(&mut connection), ["other/f.py"]);
    }
    daemon.assert_audit_is_clean();
}

#[test]
fn folders_may_swap_places() {
    let sandbox = Sandbox::repo();
    sandbox.write("a/f.py", "a = 1\n");
    sandbox.write("b/f.py", "b = 1\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let [a, b, c] = ["a", "b", "c"].map(|name| sandbox.path(name));
    for round in 0..rounds(20, 1000) {
        fs::rename(&a, &c).unwrap();
        fs::rename(&b, &a).unwrap();
        fs::rename(&c, &b).unwrap();
        let (in_a, in_b) = if round % 2 == 0 { ("b = 1\n", "a = 1\n") } else { ("a = 1\n", "b = 1\n") };
        assert_eq!(connection.text("a/f.py").as_deref(), Some(in_a));
        assert_eq!(connection.text("b/f.py").as_deref(), Some(in_b));
    }
    // The watches moved with the folders and report their current names.
    sandbox.write("a/new.py", "x = 1\n");
    sandbox.write("b/new.py", "x = 2\n");
    assert_eq!(listed_paths(&mut connection), ["a/f.py", "a/new.py", "b/f.py", "b/new.py"]);
    assert_eq!(daemon.status()["missed"], 0);
    daemon.assert_audit_is_clean();
}

#[test]
fn changes_while_no_daemon_ran_are_seen_by_the_next() {
    let sandbox = Sandbox::repo();
    for file in 0..50 {
        sandbox.write(format!("f{file}.py"), format!("x = {file:03}\n"));
    }
    for round in 0..rounds(3, 50) {
        let mut daemon = TestDaemon::start(&sandbox);
        assert_eq!(listed_paths(&mut daemon.connect()).len(), 50);
        daemon.kill();
        drop(daemon);
        for file in 0..50 {
            sandbox.edit_keeping_mtime(&format!("f{file}.py"), &format!("y = {:03}\n", round + file));
        }
        let daemon = TestDaemon::start(&sandbox);
        let mut connection = daemon.connect();
        for file in 0..50 {
            let text = format!("y = {:03}\n", round + file);
            assert_eq!(connection.text(&format!("f{file}.py")), Some(text));
        }
        daemon.assert_audit_is_clean();
    }
}

#[test]
fn a_query_during_startup_is_answered_completely() {
    let sandbox = Sandbox::repo();
    let count = rounds(2_000, 100_000);
    for file in 0..count {
        sandbox.write(format!("d{}/f{file}.py", file % 100), format!("x = {file}\n"));
    }
    let mut daemon = TestDaemon::spawn(&sandbox, &[]);
    let mut connection = None;
    wait_until("it accepts connections", || {
        connection = DaemonConnection::open(&daemon.socket());
        connection.is_some()
    });
    assert_eq!(listed_paths(&mut connection.unwrap()).len(), count);
    daemon.wait_ready();
}
