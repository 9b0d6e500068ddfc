//! Without events, or when they stop, each answer checks the files (F16 to F19, F48, F49, F60).

use std::fs;
use std::io::Write;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::super::sandbox::{Sandbox, report_skipped};
use super::harness::{DaemonConnection, TestDaemon, rounds, wait_until};

/// Starts a daemon through a shell script in its own namespaces, in which `$SLOP` is the program.
fn start_in<'s>(sandbox: &'s Sandbox, unshare: &[&str], script: &str) -> Option<TestDaemon<'s>> {
    let may = Command::new("unshare").args(unshare).args(["true"]).stderr(Stdio::null()).status();
    if !may.is_ok_and(|status| status.success()) {
        report_skipped("this machine lets its users have no namespaces of their own");
        return None;
    }
    let command = sandbox.script("true");
    let program = env!("CARGO_BIN_EXE_slop");
    let mut inner = Command::new("unshare");
    inner.args(unshare).args(["sh", "-c", script]).current_dir(sandbox.root()).env_clear();
    inner.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    inner.env("SLOP", program).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::inherit());
    let child: Child = inner.spawn().unwrap();
    Some(TestDaemon { sandbox, child })
}

#[track_caller]
fn wait_for_answers(daemon: &TestDaemon<'_>) {
    wait_until("it answers", || daemon.try_status().is_some());
}

#[track_caller]
fn wait_for_mode(daemon: &TestDaemon<'_>, mode: &str) -> Value {
    wait_until(mode, || daemon.try_status().is_some_and(|status| status["mode"] == mode));
    daemon.status()
}

/// Writes and queries files in existing and new folders.
#[track_caller]
fn assert_nothing_stale(daemon: &TestDaemon<'_>, times: usize) {
    let mut connection = daemon.connect();
    for number in 0..times {
        let text = format!("x = {number:04}\n");
        let file = if number % 5 == 0 { format!("new{number}/a/f.py") } else { "d0/f.py".to_owned() };
        daemon.sandbox.write(&file, &text);
        assert_eq!(connection.text(&file), Some(text));
        if number % 10 == 0 {
            let envelope = connection.query("/v1/outline", &json!({"files": [format!("new{number}")]}));
            assert_eq!(envelope["data"][0]["path"], file);
            assert_eq!(envelope["freshness"], "fresh");
        }
    }
}

#[test]
fn with_too_few_watches_at_the_start_answers_check_the_files() {
    let sandbox = Sandbox::repo();
    for folder in 0..100 {
        sandbox.write(format!("d{folder}/f.py"), "x = 1\n");
    }
    let script = "echo 50 > /proc/sys/user/max_inotify_watches && exec $SLOP watch --quiet";
    let Some(daemon) = start_in(&sandbox, &["-Ur"], script) else { return };
    wait_for_answers(&daemon);
    let status = wait_for_mode(&daemon, "verified");
    assert!(status["reason"].as_str().unwrap().contains("50"), "{status}");
    assert_eq!(status["watches"], 0, "{status}");
    assert_nothing_stale(&daemon, rounds(100, 2000));
}

#[test]
fn with_too_few_watches_later_answers_check_the_files() {
    let sandbox = Sandbox::repo();
    for folder in 0..30 {
        sandbox.write(format!("d{folder}/f.py"), "x = 1\n");
    }
    let script = "echo 60 > /proc/sys/user/max_inotify_watches && exec $SLOP watch --quiet";
    let Some(daemon) = start_in(&sandbox, &["-Ur"], script) else { return };
    wait_for_mode(&daemon, "events");
    for folder in 30..100 {
        sandbox.write(format!("d{folder}/f.py"), "x = 1\n");
    }
    wait_for_mode(&daemon, "verified");
    assert_nothing_stale(&daemon, rounds(100, 2000));
}

#[test]
fn without_an_inotify_instance_answers_check_the_files() {
    let sandbox = Sandbox::repo();
    sandbox.write("d0/f.py", "x = 1\n");
    let script = "echo 0 > /proc/sys/user/max_inotify_instances && exec $SLOP watch --quiet";
    let Some(daemon) = start_in(&sandbox, &["-Ur"], script) else { return };
    wait_for_answers(&daemon);
    wait_for_mode(&daemon, "verified");
    assert_nothing_stale(&daemon, rounds(100, 2000));
}

/// An overlay mount sends no events for writes to its lower folder.
#[test]
fn on_a_file_system_without_events_answers_check_the_files() {
    let sandbox = Sandbox::new();
    for folder in ["lower", "upper", "work"] {
        fs::create_dir(sandbox.outside(folder)).unwrap();
    }
    for file in 0..20 {
        fs::write(sandbox.outside("lower").join(format!("f{file}.py")), "x = 1\n").unwrap();
    }
    // The merged folder and its socket are visible only in the daemon's namespace, so a shell there queries through the
    // command line.
    let script = "mount -t overlay overlay -o lowerdir=$PWD/../lower,upperdir=$PWD/../upper,workdir=$PWD/../work $PWD \
        && cd $PWD && { $SLOP watch --quiet & } && while read -r line; do eval \"$line\"; done; kill %1; wait";
    let Some(mut daemon) = start_in(&sandbox, &["-Urm"], script) else { return };
    let mut shell = daemon.child.stdin.take().unwrap();
    let report = sandbox.outside("report");
    let mut say = |line: &str| writeln!(shell, "{line}").unwrap();
    say("until $SLOP daemon status --json > ../status; do sleep 0.05; done");
    for number in 0..rounds(20, 200) {
        say(&format!("echo 'x = {number:04}' > ../lower/f{}.py", number % 20));
        say(&format!("$SLOP view f{}.py --bare >> ../report", number % 20));
    }
    say("touch ../done");
    drop(shell);
    if !wait_for_file(&mut daemon, &sandbox) {
        report_skipped("no overlay can be mounted here");
        return;
    }
    let wanted: String =
        (0..rounds(20, 200)).fold(String::new(), |all, number| all + &format!("x = {number:04}\n"));
    assert_eq!(fs::read_to_string(report).unwrap(), wanted);
    let status: Value =
        serde_json::from_str(&fs::read_to_string(sandbox.outside("status")).unwrap()).unwrap();
    assert_eq!(status["data"]["mode"], "verified", "{status}");
}

/// Waits for the last action of the script. Returns false if the script has exited before.
fn wait_for_file(daemon: &mut TestDaemon<'_>, sandbox: &Sandbox) -> bool {
    let done = sandbox.outside("done");
    let mut has_ended = false;
    wait_until("the script is done", || {
        has_ended = daemon.child.try_wait().unwrap().is_some();
        done.exists() || has_ended
    });
    done.exists()
}

/// Tests a full disk, and one without a free inode for a cookie.
#[test]
fn the_daemon_answers_on_a_full_disk() {
    for options in ["size=3m", "size=64m,nr_inodes=70"] {
        let sandbox = Sandbox::new();
        let script = format!(
            "mount -t tmpfs tmpfs -o {options} $PWD && cd $PWD && mkdir src && {{ $SLOP watch --quiet & }} \
             && while read -r line; do eval \"$line\"; done; kill %1; wait"
        );
        let Some(mut daemon) = start_in(&sandbox, &["-Urm"], &script) else { return };
        let mut shell = daemon.child.stdin.take().unwrap();
        let mut say = |line: &str| writeln!(shell, "{line}").unwrap();
        say("for i in 1 2 3 4 5; do echo \"x = $i\" > src/f$i.py; done");
        say("until $SLOP daemon status > ../status; do sleep 0.05; done");
        // Without free space, or without free inodes.
        say("head -c 8m /dev/zero > fill 2> /dev/null; touch $(seq -f n%g 100) 2> /dev/null");
        say("for i in 1 2 3 4 5; do $SLOP view src/f$i.py --bare >> ../report; done");
        say("mv src/f1.py src/g1.py; $SLOP view src/g1.py --bare >> ../report");
        say("rm -f fill n*; echo 'x = 9' > src/f9.py; $SLOP view src/f9.py --bare >> ../report");
        say("$SLOP daemon status > ../status && touch ../done");
        drop(shell);
        if !wait_for_file(&mut daemon, &sandbox) {
            report_skipped("no tmpfs can be mounted here");
            return;
        }
        let report = fs::read_to_string(sandbox.outside("report")).unwrap();
        assert_eq!(report, "x = 1\nx = 2\nx = 3\nx = 4\nx = 5\nx = 1\nx = 9\n", "{options}");
    }
}

#[test]
fn a_daemon_works_with_a_low_limit_of_open_files() {
    let sandbox = Sandbox::repo();
    for folder in 0..30 {
        sandbox.write(format!("d{folder}/f.py"), "x = 1\n");
    }
    let Some(daemon) = start_in(&sandbox, &["-U"], "ulimit -n 64 && exec $SLOP watch --quiet") else {
        return;
    };
    wait_for_answers(&daemon);
    let crowd: Vec<_> = (0..100).filter_map(|_| DaemonConnection::open(&daemon.socket())).collect();
    drop(crowd);
    assert_nothing_stale(&daemon, rounds(50, 500));
}
