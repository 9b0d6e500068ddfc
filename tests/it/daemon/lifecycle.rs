//! One daemon per project, however it is started and stopped (F20, F25, F45, F51 to F53, F61, F81).

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

use super::super::sandbox::{CommandOutput, Sandbox, run};
use super::harness::{DaemonConnection, TestDaemon, rounds, wait_until};

/// Stops a background daemon when the test ends.
struct StopDaemonOnDrop<'s>(&'s Sandbox);

impl Drop for StopDaemonOnDrop<'_> {
    fn drop(&mut self) {
        let _ = self.0.slop(&["daemon", "stop"]);
    }
}

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def one():\n    return 1\n");
    sandbox
}

#[track_caller]
fn pid(sandbox: &Sandbox) -> u64 {
    sandbox.json(&["daemon", "status"])["pid"].as_u64().unwrap()
}

#[test]
fn of_many_simultaneous_starts_one_runs_and_all_succeed() {
    let sandbox = project();
    let _stopping = StopDaemonOnDrop(&sandbox);
    let runs: Vec<CommandOutput> = thread::scope(|scope| {
        let start = |_| scope.spawn(|| run(sandbox.command(&["daemon", "start"])));
        let starts: Vec<_> = (0..rounds(12, 100)).map(start).collect();
        starts.into_iter().map(|start| start.join().unwrap()).collect()
    });
    for ran in &runs {
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let first = pid(&sandbox);
    thread::sleep(Duration::from_millis(200));
    assert_eq!(pid(&sandbox), first);
}

#[test]
fn a_signal_shuts_a_daemon_down_cleanly_as_soon_as_its_socket_exists() {
    let sandbox = project();
    let mut daemon = TestDaemon::spawn(&sandbox, &[]);
    // Not `wait_until`, which sleeps: signals have to be handled before anyone can see the socket.
    while !daemon.socket().exists() {
        assert!(daemon.child.try_wait().unwrap().is_none(), "the daemon exited");
    }
    daemon.signal("TERM");
    assert_eq!(daemon.wait_for_exit(), Some(0));
    assert!(!daemon.socket().exists());
}

#[test]
fn a_daemon_is_started_queried_and_stopped() {
    let sandbox = project();
    let _stopping = StopDaemonOnDrop(&sandbox);
    assert_eq!(sandbox.slop(&["daemon", "status"]).code, 1);
    assert!(sandbox.stdout_of(&["daemon", "start"]).contains("started"));
    assert!(sandbox.stdout_of(&["daemon", "start"]).contains("already runs"));
    let before = pid(&sandbox);
    assert!(sandbox.stdout_of(&["daemon", "restart"]).contains("started"));
    assert_ne!(pid(&sandbox), before);
    assert!(sandbox.stdout_of(&["daemon", "status"]).contains("events"));
    assert!(sandbox.stdout_of(&["daemon", "stop"]).contains("stopped"));
    assert_eq!(sandbox.slop(&["daemon", "status"]).code, 1);
    assert!(!sandbox.path(".slop_cache/daemon.sock").exists());
    assert!(sandbox.stdout_of(&["daemon", "stop"]).contains("none"));
    assert!(!sandbox.stdout_of(&["daemon", "logs"]).is_empty());
}

#[test]
fn a_second_daemon_in_the_foreground_is_refused() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let ran = sandbox.slop(&["watch"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.err.contains(&daemon.child.id().to_string()), "{ran:?}");
}

#[test]
fn leftovers_of_a_killed_daemon_do_not_stop_the_next() {
    let sandbox = project();
    for _ in 0..rounds(3, 50) {
        let mut daemon = TestDaemon::start(&sandbox);
        daemon.kill();
        assert!(daemon.socket().exists());
    }
    let daemon = TestDaemon::start(&sandbox);
    daemon.assert_audit_is_clean();
}

#[test]
fn each_stop_signal_is_obeyed_and_nothing_is_left() {
    for signal in ["TERM", "INT", "HUP"] {
        let sandbox = project();
        let mut daemon = TestDaemon::start(&sandbox);
        daemon.query("/v1/index", &json!({}));
        daemon.signal(signal);
        assert_eq!(daemon.wait_for_exit(), Some(0), "{signal}");
        assert!(!daemon.socket().exists(), "{signal}");
        assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
        assert_eq!(sandbox.slop(&["audit"]).code, 0);
    }
}

#[test]
fn a_daemon_whose_project_was_deleted_exits() {
    let sandbox = project();
    let mut daemon = TestDaemon::start(&sandbox);
    fs::rename(sandbox.root(), sandbox.outside("moved")).unwrap();
    assert_ne!(daemon.wait_for_exit(), Some(0));

    let sandbox = project();
    let mut daemon = TestDaemon::start(&sandbox);
    // The daemon may write during the deletion.
    wait_until("the project is deleted", || {
        fs::remove_dir_all(sandbox.root()).is_ok() || !sandbox.root().exists()
    });
    assert_ne!(daemon.wait_for_exit(), Some(0));
}

#[test]
fn a_project_that_replaced_another_is_not_served() {
    let sandbox = project();
    let mut daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    fs::rename(sandbox.root(), sandbox.outside("moved")).unwrap();
    sandbox.write("a.py", "other = 1\n");
    // Until it notices, it may answer for its own project, but never for the other.
    let (_, envelope) =
        connection.exchange("POST", "/v1/view", Some(r#"{"files":["a.py"]}"#)).unwrap_or((0, Value::Null));
    assert!(!envelope.to_string().contains("other"), "{envelope}");
    assert_ne!(daemon.wait_for_exit(), Some(0));
}

#[test]
fn a_repeatedly_deleted_cache_costs_no_answer() {
    let sandbox = project();
    sandbox.commit_all("first");
    let daemon = TestDaemon::start(&sandbox);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..rounds(4, 100) {
                thread::sleep(Duration::from_millis(700));
                // The deletion may fail, because the daemon writes meanwhile.
                let _ = run({
                    let mut command = sandbox.script("git clean -fdxq");
                    command.stdin(Stdio::null());
                    command
                });
            }
            over.store(true, Ordering::Relaxed);
        });
        let mut number = 0;
        let mut connection = daemon.connect();
        while !over.load(Ordering::Relaxed) {
            number += 1;
            let text = format!("x = {number}\n");
            sandbox.write("a.py", &text);
            assert_eq!(connection.text("a.py"), Some(text));
        }
    });
    wait_until("the cache exists again", || DaemonConnection::open(&daemon.socket()).is_some());
    let mut connection = daemon.connect();
    connection.query("/v1/index", &json!({}));
    assert_eq!(daemon.status()["pid"], daemon.child.id());
    daemon.assert_audit_is_clean();
}

#[test]
fn a_daemon_survives_a_cache_that_is_deleted_while_it_is_recreated() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    // Longer than two of its looks at the folder.
    let end = Instant::now() + Duration::from_secs(3);
    while Instant::now() < end {
        let _ = fs::remove_dir_all(sandbox.path(".slop_cache"));
    }
    wait_until("the cache exists again", || DaemonConnection::open(&daemon.socket()).is_some());
    assert_eq!(daemon.status()["pid"], daemon.child.id());
}

#[test]
fn a_deleted_database_is_recreated_and_filled() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    daemon.query("/v1/index", &json!({}));
    for name in ["index.db", "index.db-wal", "index.db-shm"] {
        let _ = fs::remove_file(sandbox.path(format!(".slop_cache/{name}")));
    }
    sandbox.write("b.py", "x = 1\n");
    daemon.query("/v1/index", &json!({}));
    wait_until("the index is complete again", || sandbox.slop(&["audit"]).code == 0);
}

#[test]
fn a_daemon_killed_under_load_loses_no_acknowledged_data() {
    let sandbox = Sandbox::repo();
    for file in 0..20 {
        sandbox.write(format!("f{file}.py"), "x = 0\n");
    }
    for round in 0..rounds(8, 1000) {
        let mut daemon = TestDaemon::start(&sandbox);
        let over = AtomicBool::new(false);
        thread::scope(|scope| {
            let load = scope.spawn(|| {
                let Some(mut connection) = DaemonConnection::open(&daemon.socket()) else { return };
                let mut number = 0;
                while !over.load(Ordering::Relaxed) {
                    number += 1;
                    let file = format!("f{}.py", number % 20);
                    sandbox.write(&file, format!("def f{number}_{round}():\n    return {number}\n"));
                    let body = json!({"files": [file]}).to_string();
                    if connection.exchange("POST", "/v1/outline", Some(&body)).is_none() {
                        return;
                    }
                }
            });
            thread::sleep(Duration::from_millis(20 + (round as u64 * 37) % 180));
            let id = rustix::process::Pid::from_child(&daemon.child);
            rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
            over.store(true, Ordering::Relaxed);
            load.join().unwrap();
        });
        daemon.wait_for_exit();
        let verified = sandbox.json(&["cache", "verify", "--no-daemon"]);
        assert_eq!((&verified["damaged"], &verified["structure"]), (&json!([]), &Value::Null), "{verified}");
    }
    let daemon = TestDaemon::start(&sandbox);
    daemon.query("/v1/index", &json!({}));
    daemon.assert_audit_is_clean();
}

#[test]
fn only_the_user_can_open_the_socket() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&daemon.socket()), 0o600);
    assert_eq!(mode(&sandbox.path(".slop_cache/daemon.lock")), 0o600);
}

#[test]
fn a_project_with_a_long_path_has_its_socket_elsewhere() {
    let sandbox = project();
    let deep = format!("{}deep", "a_rather_long_name_of_a_folder/".repeat(8));
    sandbox.write(format!("{deep}/slop.toml"), "");
    sandbox.write(format!("{deep}/b.py"), "x = 1\n");
    fs::create_dir(sandbox.outside("run")).unwrap();
    let slop = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.current_dir(sandbox.path(&deep)).env("XDG_RUNTIME_DIR", sandbox.outside("run"));
        run(command)
    };
    let started = slop(&["daemon", "start"]);
    assert_eq!(started.code, 0, "{started:?}");
    let process = |ran: &CommandOutput| ran.out.split("process ").nth(1).unwrap().trim().to_owned();
    // Everything but the socket is deleted, as `git clean -fdx` does.
    fs::remove_dir_all(sandbox.path(&deep).join(".slop_cache")).unwrap();
    wait_until("the lock exists again", || sandbox.path(&deep).join(".slop_cache/daemon.lock").exists());
    thread::sleep(Duration::from_millis(100));
    let status = slop(&["daemon", "status"]);
    assert!(status.out.contains(&process(&started)), "{started:?} {status:?}");
    let stopped = slop(&["daemon", "stop"]);
    assert_eq!((status.code, stopped.code), (0, 0), "{status:?} {stopped:?}");
    assert!(!sandbox.path(format!("{deep}/.slop_cache/daemon.sock")).exists());
}

#[test]
fn a_replaced_daemon_does_not_delete_the_next_ones_socket() {
    let sandbox = project();
    let mut first = TestDaemon::start(&sandbox);
    first.signal("STOP");
    for name in ["daemon.lock", "daemon.sock"] {
        fs::remove_file(sandbox.path(format!(".slop_cache/{name}"))).unwrap();
    }
    let second = TestDaemon::start(&sandbox);
    first.signal("CONT");
    assert_ne!(first.wait_for_exit(), Some(0));
    assert_eq!(second.status()["pid"], second.child.id());
}

#[test]
fn a_deleted_socket_is_recreated_and_the_old_one_closed() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut before = daemon.connect();
    for _ in 0..2 {
        fs::remove_file(daemon.socket()).unwrap();
        wait_until("the socket exists again", || daemon.try_status().is_some());
    }
    // Existing connections stay open.
    assert_eq!(before.text("a.py").as_deref(), Some("def one():\n    return 1\n"));
    // 00010000 is the kernel's flag of a listening socket.
    let name = daemon.socket().display().to_string();
    let listening = || {
        let sockets = fs::read_to_string("/proc/net/unix").unwrap();
        sockets.lines().filter(|line| line.ends_with(&name) && line.contains(" 00010000 ")).count()
    };
    wait_until("the old socket is closed", || listening() == 1);
}

#[test]
fn a_deleted_lock_is_recreated_and_the_socket_stays() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let lock = sandbox.path(".slop_cache/daemon.lock");
    let inode = |path: &std::path::Path| fs::metadata(path).map(|found| found.ino()).ok();
    let socket = inode(&daemon.socket());
    fs::remove_file(&lock).unwrap();
    let pid = daemon.child.id().to_string();
    wait_until("the lock exists again", || fs::read_to_string(&lock).is_ok_and(|text| text == pid));
    assert_eq!(daemon.status()["pid"], daemon.child.id());
    assert_eq!(inode(&daemon.socket()), socket);
}

#[test]
fn a_stopped_daemon_is_reported_as_stopped_and_removes_its_files() {
    let sandbox = project();
    for _ in 0..rounds(4, 100) {
        sandbox.stdout_of(&["daemon", "start"]);
        let stopped = sandbox.stdout_of(&["daemon", "stop"]);
        assert!(stopped.contains("stopped"), "{stopped}");
        assert_eq!(fs::read_to_string(sandbox.path(".slop_cache/daemon.lock")).unwrap(), "");
    }
}

#[test]
fn invalid_settings_do_not_prevent_stopping_the_daemon() {
    let sandbox = project();
    let _stopping = StopDaemonOnDrop(&sandbox);
    sandbox.stdout_of(&["daemon", "start"]);
    sandbox.write("slop.toml", "this is = = no TOML");
    let status = sandbox.slop(&["daemon", "status"]);
    assert_eq!(status.code, 0, "{status:?}");
    assert!(status.err.contains("slop.toml"), "{status:?}");
    assert_eq!(sandbox.slop(&["daemon", "logs"]).code, 0);
    assert_eq!(sandbox.slop(&["daemon", "start"]).code, 1);
    let stopped = sandbox.slop(&["daemon", "stop"]);
    assert!(stopped.code == 0 && stopped.out.contains("stopped"), "{stopped:?}");
}

#[test]
fn a_hanging_daemon_is_not_reported_as_missing() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    daemon.signal("STOP");
    // Without the flag, nothing waits for an answer.
    fs::remove_file(daemon.socket()).unwrap();
    let status = sandbox.slop(&["daemon", "status"]);
    assert_eq!(status.code, 3, "{status:?}");
    assert!(status.err.contains(&daemon.child.id().to_string()), "{status:?}");
}

#[test]
fn only_loopback_addresses_can_be_listened_on() {
    let sandbox = project();
    for address in ["127.0.0.2:0", "0.0.0.0:0", "[::]:0"] {
        let ran = sandbox.slop(&["watch", "--listen", address]);
        assert_eq!(ran.code, 2, "{address}: {ran:?}");
    }
}

#[test]
fn an_unreadable_log_is_named_in_the_error() {
    let sandbox = project();
    fs::create_dir_all(sandbox.path(".slop_cache/daemon.log")).unwrap();
    let ran = sandbox.slop(&["daemon", "logs"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.err.contains("daemon.log"), "{ran:?}");
}

#[test]
fn starting_a_daemon_again_reports_its_address_and_differing_flags() {
    let sandbox = project();
    let _stopping = StopDaemonOnDrop(&sandbox);
    let started = sandbox.stdout_of(&["daemon", "start", "--listen", "127.0.0.1:0"]);
    let address = sandbox.json(&["daemon", "status"])["listen"].as_str().unwrap().to_owned();
    assert!(started.contains(&address), "{started}");
    let listener = sandbox.path(".slop_cache/daemon.listen");
    assert!(fs::read_to_string(&listener).unwrap().contains(&address));
    assert!(sandbox.stdout_of(&["daemon", "status"]).contains(&address));
    let same = sandbox.slop(&["daemon", "start", "--listen", "127.0.0.1:0"]);
    assert!(same.out.contains("already runs") && !same.err.contains("different flags"), "{same:?}");
    let other = sandbox.slop(&["daemon", "start", "--paranoid"]);
    assert!(other.out.contains("already runs") && other.err.contains("different flags"), "{other:?}");
    // The address of the port is written again.
    let before = fs::read_to_string(&listener).unwrap();
    fs::remove_file(&listener).unwrap();
    wait_until("it is written again", || fs::read_to_string(&listener).is_ok_and(|text| text == before));
}

#[test]
fn the_background_log_is_truncated_at_start_and_does_not_grow_with_edits() {
    let sandbox = project();
    let _stopping = StopDaemonOnDrop(&sandbox);
    sandbox.stdout_of(&["daemon", "start"]);
    let log = sandbox.path(".slop_cache/daemon.log");
    fs::remove_file(&log).unwrap();
    wait_until("the log exists again", || log.exists());
    sandbox.write("a.py", "x = 1\n");
    wait_until("the edit is indexed", || {
        sandbox.json(&["daemon", "status"])["sequence"].as_u64().is_some_and(|sequence| 0 < sequence)
    });
    sandbox.stdout_of(&["daemon", "stop"]);
    let text = fs::read_to_string(&log).unwrap();
    assert!(text.contains("stopping") && !text.contains("refreshed"), "{text}");
}

#[test]
fn systemd_accepts_the_unit() {
    let sandbox = project();
    let unit = sandbox.outside("slop-test.service");
    fs::write(&unit, sandbox.stdout_of(&["daemon", "unit"])).unwrap();
    let mut verify = std::process::Command::new("systemd-analyze");
    verify.args(["--user", "verify", "--man=no"]).arg(&unit).env("XDG_RUNTIME_DIR", sandbox.outside(""));
    let Ok(verified) = verify.output() else {
        eprintln!("SKIPPED: there is no systemd-analyze here, so nobody has checked the unit");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr);
    assert!(verified.status.success() && !said.contains("slop-test"), "{said}");
}
