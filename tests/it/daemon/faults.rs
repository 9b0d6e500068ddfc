//! Other programs change files, the cache or the daemon itself in ways that events report late, incorrectly or not at
//! all (F02, F03, F05, F06, F11, F12, F14, F26, F27, F28, F31, F34, F43, F47, F57, F63).

use std::collections::BTreeMap;
use std::fs::{File, FileTimes};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use serde_json::json;

use super::super::sandbox::{Sandbox, report_skipped, run};
use super::harness::{DaemonConnection, TestDaemon, TestRng, is_soak, rounds, wait_until};

/// Returns the paths of all files that the daemon lists.
#[track_caller]
fn listed_files(connection: &mut DaemonConnection) -> Vec<String> {
    let envelope = connection.query("/v1/files", &json!({}));
    assert_eq!(envelope["freshness"], "fresh", "{envelope}");
    let files = envelope["data"]["files"].as_array().unwrap();
    files.iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
}

/// Returns whether a program is installed; if not, reports that the test is skipped.
fn is_installed(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    let ran =
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_there = ran.is_ok_and(|status| status.success());
    if !is_there {
        report_skipped(&format!("`{program} {}` does not run here", arguments.join(" ")));
    }
    is_there
}

#[test]
fn without_cookies_each_answer_checks_the_files() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 0\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    wait_until("it watches", || daemon.status()["mode"] == "events");
    connection.text("a.py");
    let cookies = sandbox.path(".slop_cache/cookies");
    fs::remove_dir_all(&cookies).unwrap();
    fs::write(&cookies, "").unwrap();
    sandbox.write("a.py", "x = 1\n");
    assert_eq!(connection.text("a.py").as_deref(), Some("x = 1\n"));
    assert_eq!(daemon.status()["mode"], "verified");
    for round in 0..rounds(10, 100) {
        let text = format!("x = {round}\n");
        sandbox.write("a.py", &text);
        sandbox.write(format!("new{round}/b.py"), &text);
        assert_eq!(connection.text("a.py").as_ref(), Some(&text));
        assert_eq!(connection.text(&format!("new{round}/b.py")), Some(text));
    }
    fs::remove_file(&cookies).unwrap();
    wait_until("it trusts events again", || daemon.status()["mode"] == "events");
    daemon.assert_audit_is_clean();
}

#[test]
fn a_restored_mtime_hides_no_edit() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def f_000000(): pass\n");
    let then = fs::metadata(sandbox.path("a.py")).unwrap().modified().unwrap();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(100, 10_000) {
        let text = format!("def f_{round:06}(): pass\n");
        let beside = sandbox.path("beside.tmp");
        // Once in place, and once by renaming another file of the same size over it.
        let path = if round % 2 == 0 { sandbox.path("a.py") } else { beside.clone() };
        fs::write(&path, "def f_xxxxxx(): pass\n").unwrap();
        fs::write(&path, &text).unwrap();
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_times(FileTimes::new().set_modified(then))
            .unwrap();
        if path == beside {
            fs::rename(beside, sandbox.path("a.py")).unwrap();
        }
        assert!(connection.outline("a.py").unwrap().contains(&format!("f_{round:06}")), "round {round}");
        assert_eq!(connection.text("a.py"), Some(text));
    }
    daemon.assert_audit_is_clean();
}

#[test]
fn the_end_of_a_huge_write_is_seen_although_it_was_read_halfway() {
    let sandbox = Sandbox::repo();
    let text = |round: usize| format!("x = {round:06}\n").repeat(90_000);
    sandbox.write("a.py", text(0));
    let daemon = TestDaemon::start(&sandbox);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut reader = daemon.connect();
            while !over.load(Ordering::Relaxed) {
                reader.query("/v1/index", &json!({}));
            }
        });
        let mut connection = daemon.connect();
        let mut file = File::options().write(true).open(sandbox.path("a.py")).unwrap();
        for round in 1..=rounds(3, 400) {
            // A single call that overwrites the existing bytes.
            std::io::Seek::rewind(&mut file).unwrap();
            assert_eq!(file.write(text(round).as_bytes()).unwrap(), text(round).len());
            let answer = connection.text("a.py");
            assert!(answer == Some(text(round)), "round {round}: other bytes");
        }
        over.store(true, Ordering::Relaxed);
    });
    daemon.assert_audit_is_clean();
}

#[test]
fn writes_through_a_memory_map_are_seen_when_it_is_closed() {
    // Python, because safe Rust cannot write through a memory map.
    if !is_installed("python3", &["-c", "import mmap"]) {
        return;
    }
    let script = "import mmap, sys\n\
        for line in sys.stdin:\n    \
            f = open('a.py', 'r+b'); m = mmap.mmap(f.fileno(), 0)\n    \
            m[6:12] = b'dirtyA'; print('dirty', flush=True); sys.stdin.readline()\n    \
            m[6:12] = line.strip().encode(); m.close(); f.close(); print('closed', flush=True)\n";
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def f_000000(): pass\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let mut writer = Command::new("python3")
        .args(["-c", script])
        .current_dir(sandbox.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(writer.stdout.take().unwrap()).lines();
    let mut input = writer.stdin.take().unwrap();
    for round in 0..rounds(3, 200) {
        writeln!(input, "{round:06}").unwrap();
        assert_eq!(said.next().unwrap().unwrap(), "dirty");
        // Long enough for the stamp of the first write to be trusted; the second write does not change the stamp.
        thread::sleep(Duration::from_millis(150));
        connection.outline("a.py");
        writeln!(input).unwrap();
        assert_eq!(said.next().unwrap().unwrap(), "closed");
        let outline = connection.outline("a.py").unwrap();
        assert!(outline.contains(&format!("f_{round:06}")), "round {round}: {outline}");
    }
    drop(input);
    writer.wait().unwrap();
    daemon.assert_audit_is_clean();
}

#[test]
fn a_branch_switch_of_all_files_blocks_no_answer_and_ends_correctly() {
    let sandbox = Sandbox::repo();
    let count = rounds(300, 100_000);
    for branch in ["one", "two"] {
        for file in 0..count {
            sandbox
                .write(format!("d{}/{branch}{}.py", file % 100, file / 2), format!("x = '{branch}{file}'\n"));
            sandbox.write(format!("d{}/both{file}.py", file % 100), format!("x = '{branch}{file}'\n"));
        }
        sandbox.git(&["checkout", "-q", "--orphan", branch]);
        sandbox.commit_all(branch);
        sandbox.git(&["rm", "-rq", "."]);
        sandbox.git(&["commit", "-q", "-m", "none"]);
    }
    sandbox.git(&["checkout", "-q", "one~1"]);
    let daemon = TestDaemon::start(&sandbox);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut connection = daemon.connect();
            sandbox.write("apart.py", "x = 1\n");
            while !over.load(Ordering::Relaxed) {
                assert_eq!(connection.text("apart.py").as_deref(), Some("x = 1\n"));
            }
        });
        let mut connection = daemon.connect();
        for turn in 0..rounds(2, 10) {
            let branch = if turn % 2 == 0 { "two" } else { "one" };
            sandbox.git(&["checkout", "-q", &format!("{branch}~1")]);
            for file in [0, count / 3, count - 1] {
                let answer = connection.text(&format!("d{}/both{file}.py", file % 100));
                assert_eq!(answer, Some(format!("x = '{branch}{file}'\n")));
            }
        }
        over.store(true, Ordering::Relaxed);
    });
    let rss = daemon.status()["rss_bytes"].as_u64().unwrap();
    assert!(rss < 400 << 20, "{rss} bytes");
    daemon.assert_audit_is_clean();
}

/// A few names that become files, folders and links, and swap places.
struct PathShuffler<'s> {
    sandbox: &'s Sandbox,
    dice: TestRng,
}

impl PathShuffler<'_> {
    fn random_path(&mut self) -> PathBuf {
        let depth = 1 + self.dice.next_below(3);
        let parts = (0..depth).map(|_| ["a", "b", "c"][self.dice.next_below(3)]);
        self.sandbox.root().join(parts.collect::<PathBuf>())
    }

    /// Makes one random change. A change that fails is fine too.
    fn apply_random_change(&mut self) {
        let (one, other) = (self.random_path(), self.random_path());
        let _ = match self.dice.next_below(7) {
            0 => fs::create_dir_all(&one),
            1 => fs::rename(&one, &other),
            2 => fs::remove_dir_all(&one),
            3 => fs::remove_file(&one),
            4 => symlink(&other, &one),
            5 => fs::hard_link(&one, &other),
            _ => fs::write(&one, format!("x = {:04}\n", self.dice.next_below(10_000))),
        };
    }
}

/// Returns everything below a folder: the text of files, `None` for links.
fn walk(folder: &Path, root: &Path, found: &mut BTreeMap<String, Option<String>>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if [".git", ".slop_cache"].contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() {
            walk(&path, root, found);
        } else {
            found.insert(name, kind.is_file().then(|| fs::read_to_string(&path).unwrap()));
        }
    }
}

#[test]
fn after_any_sequence_of_renames_answers_match_the_disk() {
    let sandbox = Sandbox::repo();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let mut fishy = PathShuffler { sandbox: &sandbox, dice: TestRng::new(0x2545_f491_4f6c_dd1d) };
    for sequence in 0..rounds(150, 10_000) {
        for _ in 0..=fishy.dice.next_below(8) {
            fishy.apply_random_change();
        }
        let mut there = BTreeMap::new();
        walk(&sandbox.root(), &sandbox.root(), &mut there);
        let names: Vec<&str> = there.keys().map(String::as_str).collect();
        assert_eq!(listed_files(&mut connection), names, "sequence {sequence}");
        let texts: Vec<_> = there.iter().filter_map(|(name, text)| Some((name, text.clone()?))).collect();
        if let Some((name, text)) = texts.get(fishy.dice.next_below(texts.len().max(1))) {
            assert_eq!(connection.text(name).as_ref(), Some(text), "sequence {sequence}: {name}");
        }
    }
    daemon.assert_audit_is_clean();
}

/// Saves as editors do.
fn save_as_editor(folder: &Path, how: usize, text: &str) {
    let (file, beside) = (folder.join("a.py"), folder.join("a.py.tmp"));
    match how {
        // In place, in two halves.
        0 => fs::write(&file, text).unwrap(),
        1 => {
            let mut file = File::create(&file).unwrap();
            let (first, second) = text.split_at(text.len() / 2);
            file.write_all(first.as_bytes()).unwrap();
            file.write_all(second.as_bytes()).unwrap();
        }
        // A renamed new file; and with the old one kept, as vim does.
        2 => {
            fs::write(&beside, text).unwrap();
            fs::rename(&beside, &file).unwrap();
        }
        3 => {
            fs::rename(&file, folder.join("a.py~")).unwrap();
            fs::write(&file, text).unwrap();
            fs::remove_file(folder.join("a.py~")).unwrap();
        }
        4 => {
            fs::remove_file(&file).unwrap();
            fs::write(&file, text).unwrap();
        }
        // Through a link to another file, which remains a link until it is replaced.
        _ => {
            fs::write(&beside, text).unwrap();
            fs::remove_file(&file).unwrap();
            fs::hard_link(&beside, &file).unwrap();
            fs::remove_file(&beside).unwrap();
        }
    }
}

#[test]
fn answers_have_the_new_text_however_an_editor_saves() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(60, 6_000) {
        let text = format!("def f_{round:06}(): pass\n");
        save_as_editor(&sandbox.root(), round % 6, &text);
        assert!(connection.outline("a.py").unwrap().contains(&format!("f_{round:06}")), "round {round}");
        assert_eq!(connection.text("a.py"), Some(text), "round {round}");
        assert_eq!(listed_files(&mut connection), ["a.py"], "round {round}");
    }
    daemon.assert_audit_is_clean();
}

#[test]
fn a_stopped_daemon_answers_with_later_changes_when_continued() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    connection.text("a.py");
    for round in 0..rounds(2, 20) {
        daemon.signal("STOP");
        let text = format!("x = {round:04}\n");
        for number in 0..200 {
            sandbox.write(format!("d{}/f{number}.py", number % 7), &text);
        }
        sandbox.write("a.py", &text);
        // Longer than the timeout of a cookie.
        thread::sleep(Duration::from_millis(if is_soak() { 6_000 } else { 1_100 }));
        daemon.signal("CONT");
        assert_eq!(connection.text("a.py").as_ref(), Some(&text));
        assert_eq!(connection.text("d3/f199.py"), Some(text));
        assert_eq!(listed_files(&mut connection).len(), 201);
    }
    daemon.assert_audit_is_clean();
}

#[test]
fn a_continuously_written_file_does_not_delay_others() {
    let sandbox = Sandbox::repo();
    for file in ["hot.py", "other.py"] {
        sandbox.write(file, "x = 1\n");
    }
    let daemon = TestDaemon::start(&sandbox);
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0;
            while !over.load(Ordering::Relaxed) {
                number += 1;
                sandbox.write("hot.py", format!("x = {number}\n"));
                thread::sleep(Duration::from_millis(1));
            }
        });
        let mut connection = daemon.connect();
        for round in 0..rounds(200, 20_000) {
            let text = format!("x = {round}\n");
            sandbox.write("other.py", &text);
            assert_eq!(connection.text("other.py"), Some(text));
        }
        over.store(true, Ordering::Relaxed);
    });
    wait_until("nothing is pending", || daemon.status()["pending"] == 0);
    assert_eq!(daemon.status()["missed"], 0);
    daemon.assert_audit_is_clean();
}

#[test]
fn a_folder_with_very_many_files_is_listed_completely() {
    let sandbox = Sandbox::repo();
    let count = rounds(3_000, 200_000);
    let daemon = TestDaemon::start(&sandbox);
    fs::create_dir(sandbox.path("many")).unwrap();
    for file in 0..count {
        fs::write(sandbox.path(format!("many/{file:06}.txt")), "text\n").unwrap();
    }
    let mut connection = daemon.connect();
    assert_eq!(listed_files(&mut connection).len(), count);
    sandbox.write("many/000007.txt", "other\n");
    assert_eq!(connection.text("many/000007.txt").as_deref(), Some("other\n"));
    daemon.assert_audit_is_clean();
}

#[test]
fn a_project_on_an_unmounted_file_system_is_no_longer_served() {
    let unshared = ["-Urm", "sh", "-c", "mount -t tmpfs tmpfs /mnt"];
    if !is_installed("unshare", &unshared) {
        return;
    }
    let sandbox = Sandbox::new();
    // The program is on the root file system, the project on its own.
    let script = "mount -t tmpfs tmpfs $PWD && cd $PWD && echo 'x = 1' > a.py && { $SLOP watch --quiet & } \
        && until $SLOP daemon status > ../status; do sleep 0.05; done && cd .. && umount -l project && wait $! \
        && echo 0 > code || echo $? > code";
    let mut command = sandbox.script("true");
    let environment: Vec<_> =
        command.get_envs().map(|(n, v)| (n.to_owned(), v.unwrap_or_default().to_owned())).collect();
    command = Command::new("unshare");
    command.args(["-Urm", "sh", "-c", script]).current_dir(sandbox.root()).env_clear().envs(environment);
    run(command);
    let code = fs::read_to_string(sandbox.outside("code")).unwrap();
    assert_ne!(code.trim(), "0", "it exited successfully");
    assert!(code.trim().parse::<u32>().unwrap() < 128, "{code}");
}

#[test]
fn writes_through_another_mount_are_seen() {
    if !is_installed("unshare", &["-Urm", "true"]) {
        return;
    }
    let sandbox = Sandbox::repo();
    sandbox.write("d/a.py", "x = 1\n");
    fs::create_dir(sandbox.outside("bound")).unwrap();
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    for round in 0..rounds(5, 200) {
        let script = format!(
            "mount --bind . ../bound && echo 'x = {round:04}' > ../bound/d/a.py && mkdir ../bound/n{round} \
             && echo 'y = 1' > ../bound/n{round}/b.py"
        );
        let ran =
            Command::new("unshare").args(["-Urm", "sh", "-c", &script]).current_dir(sandbox.root()).status();
        assert!(ran.unwrap().success());
        assert_eq!(connection.text("d/a.py"), Some(format!("x = {round:04}\n")));
        assert_eq!(connection.text(&format!("n{round}/b.py")).as_deref(), Some("y = 1\n"));
    }
    daemon.assert_audit_is_clean();
}

#[test]
fn a_database_locked_by_another_program_blocks_no_answer() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 0\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    connection.text("a.py");
    wait_until("nothing is pending", || daemon.status()["pending"] == 0);
    for round in 1..=rounds(1, 5) {
        let other = rusqlite::Connection::open(sandbox.path(".slop_cache/index.db")).unwrap();
        other.busy_timeout(Duration::from_secs(10)).unwrap();
        other.execute_batch("BEGIN EXCLUSIVE").unwrap();
        thread::scope(|scope| {
            let text = format!("def f():\n    return {round}\n");
            sandbox.write("a.py", &text);
            let asked = scope.spawn(|| connection.text("a.py"));
            thread::sleep(Duration::from_millis(if is_soak() { 10_000 } else { 500 }));
            other.execute_batch("ROLLBACK").unwrap();
            assert_eq!(asked.join().unwrap(), Some(text));
        });
    }
    wait_until("the index is complete again", || sandbox.slop(&["audit"]).code == 0);
    assert!(
        !sandbox
            .root()
            .join(".slop_cache")
            .read_dir()
            .unwrap()
            .any(|entry| { entry.unwrap().file_name().to_string_lossy().contains("corrupt") })
    );
}

#[test]
fn a_child_of_a_dead_daemon_does_not_hold_its_lock() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    // A git that leaves a child process behind, as background maintenance does.
    let tools = sandbox.outside("tools");
    fs::create_dir(&tools).unwrap();
    let path = std::env::var("PATH").unwrap();
    let wrapper = format!(
        "#!/bin/sh\nsleep 20 > /dev/null 2>&1 < /dev/null &\necho $! >> {}\nPATH='{path}' exec git \"$@\"\n",
        sandbox.outside("children").display()
    );
    fs::write(tools.join("git"), wrapper).unwrap();
    fs::set_permissions(tools.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut first = TestDaemon::start_in(&sandbox, &[("PATH", &format!("{}:{path}", tools.display()))]);
    first.query("/v1/index", &json!({}));
    first.kill();
    let children = fs::read_to_string(sandbox.outside("children")).unwrap();
    assert!(!children.is_empty(), "git was never run");
    let second = TestDaemon::start(&sandbox);
    assert_eq!(second.connect().text("a.py").as_deref(), Some("x = 1\n"));
    for child in children.lines() {
        // It may also have exited by itself.
        let _ = Command::new("kill").arg(child).stderr(Stdio::null()).status();
    }
}

/// A system call on the database fails once, as on a full or broken disk.
#[test]
fn a_failing_system_call_does_not_make_an_answer_wrong() {
    if !is_installed("strace", &["-f", "-qq", "-o", "/dev/null", "true"]) {
        return;
    }
    let mut failed = 0;
    for call in ["pwrite64:error=ENOSPC", "pwrite64:error=EIO", "fdatasync:error=EIO", "pread64:error=EIO"] {
        for nth in 1..=rounds(1, 100) {
            let sandbox = Sandbox::repo();
            sandbox.write("a.py", "def one():\n    return 1\n");
            sandbox.stdout_of(&["index", "--no-daemon"]);
            sandbox.write("a.py", "def two():\n    return 2\n");
            let files = "-P $PWD/.slop_cache/index.db -P $PWD/.slop_cache/index.db-wal";
            let inject = format!("inject={call}:when={nth}");
            let script =
                format!("strace -f -qq -o ../calls {files} -e {inject} $SLOP outline a.py --no-daemon");
            let ran = run(sandbox.script(&script));
            let calls = fs::read_to_string(sandbox.outside("calls")).unwrap();
            failed += calls.matches("(INJECTED)").count();
            assert!(ran.code == 0 && ran.out.contains("two"), "{inject}: {ran:?}");
            assert!(sandbox.stdout_of(&["outline", "a.py", "--no-daemon"]).contains("two"), "{inject}");
            assert_eq!(sandbox.slop(&["audit", "--no-daemon"]).code, 0, "{inject}");
        }
    }
    assert!(0 < failed, "no call failed");
}

/// The clock of the daemon and of commands is set back and forward by up to a year; files keep stamps of the real
/// clock.
#[test]
fn answers_stay_right_while_the_clock_is_set_back_and_forward() {
    if !is_installed("faketime", &["-f", "+0", "true"]) {
        return;
    }
    let library =
        Command::new("faketime").args(["-m", "-f", "+0", "printenv", "LD_PRELOAD"]).output().unwrap();
    let library = String::from_utf8(library.stdout).unwrap();
    let sandbox = Sandbox::repo();
    let offset = sandbox.outside("offset");
    let set_clock = |seconds: &str| fs::write(&offset, format!("{seconds}\n")).unwrap();
    set_clock("+0");
    sandbox.write("a.py", "x = 0\n");
    let clock = [
        ("LD_PRELOAD", library.trim()),
        ("FAKETIME_TIMESTAMP_FILE", offset.to_str().unwrap()),
        ("FAKETIME_NO_CACHE", "1"),
        ("DONT_FAKE_MONOTONIC", "1"),
    ];
    let daemon = TestDaemon::start_in(&sandbox, &clock);
    let mut connection = daemon.connect();
    let steps = ["-31536000", "+31536000", "-86400", "+2", "-2", "+86400", "-1", "+0"];
    for round in 0..rounds(3, 100) {
        for step in steps {
            set_clock(step);
            for edit in 0..4 {
                let text = format!("x = '{round} {step} {edit}'\n");
                sandbox.write("a.py", &text);
                assert_eq!(connection.text("a.py"), Some(text), "{step}");
            }
            sandbox.write("b.py", format!("def f_{round}(): pass\n"));
            let variables = clock.map(|(name, value)| format!("{name}='{value}'")).join(" ");
            let asked = run(sandbox.script(&format!("{variables} $SLOP outline b.py --no-daemon")));
            assert!(asked.code == 0 && asked.out.contains(&format!("f_{round}")), "{step}: {asked:?}");
        }
    }
    set_clock("+0");
    wait_until("nothing is pending", || daemon.status()["pending"] == 0);
    daemon.assert_audit_is_clean();
}
