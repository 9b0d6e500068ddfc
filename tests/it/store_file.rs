//! The files of the cache: damage, kills, full disks and concurrent runs never make an answer wrong.

use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use rusqlite::Connection;

use super::daemon::harness::rounds;
use super::samples::{LARGE_PROJECT_FILES, large_project, sample_project};
use super::sandbox::{CommandOutput, Sandbox, number, report_skipped, run};

const QUESTIONS: [&[&str]; 5] = [
    &["outline", "--json"],
    &["view", "src/engine.py", "--mode", "skeleton"],
    &["aggregate", "--tier", "1", "--stdout"],
    &["aggregate", "--tier", "3", "--focus", "engine.py", "--stdout"],
    &["symbol", "Engine.run", "--definition"],
];

fn answers(sandbox: &Sandbox) -> Vec<String> {
    QUESTIONS.iter().map(|question| sandbox.stdout_of(question)).collect()
}

/// Damages the cache and checks that the first answer has one note and all answers are correct.
#[track_caller]
fn check_rebuilt(harm: impl Fn(&Sandbox)) {
    let sandbox = sample_project();
    let right = answers(&sandbox);
    for question in QUESTIONS {
        harm(&sandbox);
        let ran = sandbox.slop(question);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{}", ran.err);
        assert!(ran.err.contains("note: the cache was rebuilt: "), "{}", ran.err);
        assert!(ran.err.contains("the old file is now index.db."), "{}", ran.err);
        let again = sandbox.slop(question);
        assert_eq!((again.out, again.err.as_str()), (ran.out, ""));
    }
    assert_eq!(answers(&sandbox), right);
    sandbox.stdout_of(&["cache", "verify"]);
}

#[test]
fn garbage_instead_of_the_store_is_moved_aside() {
    check_rebuilt(|sandbox| sandbox.write(".slop_cache/index.db", "this is no database\n".repeat(500)));
}

#[test]
fn a_truncated_store_is_moved_aside() {
    check_rebuilt(|sandbox| {
        sandbox.stdout_of(&["index"]);
        let file = fs::File::options().write(true).open(sandbox.path(".slop_cache/index.db")).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    });
}

#[test]
fn a_database_of_another_program_is_moved_aside_intact() {
    check_rebuilt(|sandbox| {
        let path = sandbox.path(".slop_cache/index.db");
        for end in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(sandbox.path(format!(".slop_cache/index.db{end}")));
        }
        let connection = Connection::open(path).unwrap();
        connection.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    });
    let sandbox = sample_project();
    sandbox.write(".slop_cache/nothing", "");
    let path = sandbox.path(".slop_cache/index.db");
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let before = fs::read(&path).unwrap();
    sandbox.stdout_of(&["index"]);
    let kept = fs::read_dir(sandbox.path(".slop_cache")).unwrap().map(|entry| entry.unwrap().path());
    let kept: Vec<_> = kept.filter(|path| fs::read(path).unwrap() == before).collect();
    assert_eq!(kept.len(), 1);
}

#[test]
fn a_store_of_a_newer_slop_is_refused_and_unchanged() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["index"]);
    let path = sandbox.path(".slop_cache/index.db");
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(&path).unwrap();
    let commands = [&["index"][..], &["status"], &["cache", "clear"], &["cache", "verify"]];
    for command in QUESTIONS.iter().chain(&commands) {
        let ran = sandbox.slop(command);
        assert_eq!(ran.code, 1, "{command:?} {ran:?}");
        assert!(ran.err.contains("schema 99") && ran.err.contains("hint: use the newer slop"), "{}", ran.err);
    }
    let ran = sandbox.slop(&["index", "--json"]);
    assert!(ran.out.contains("\"code\":\"store_too_new\""), "{}", ran.out);
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_deleted_store_is_recreated() {
    let sandbox = sample_project();
    let right = answers(&sandbox);
    fs::remove_file(sandbox.path(".slop_cache/index.db")).unwrap();
    assert_eq!(answers(&sandbox), right);
    fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
    assert_eq!(answers(&sandbox), right);
}

#[test]
fn without_a_cache_the_answers_are_the_same() {
    let sandbox = sample_project();
    let right = answers(&sandbox);
    let other = sample_project();
    other.git(&["config", "core.excludesFile", "/dev/null"]);
    fs::write(other.path(".git/info/exclude"), "slop.toml\n").unwrap();
    other.write("slop.toml", "[aggregation]\ncache_enabled = false\n");
    assert_eq!(answers(&other), right);
    assert!(!other.path(".slop_cache").exists());
}

/// Replaces the cache folder and checks that answers are correct, with a note.
#[track_caller]
fn check_without_folder(harm: impl Fn(&Sandbox)) {
    let sandbox = sample_project();
    let right = answers(&sandbox);
    fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
    fs::write(sandbox.path(".git/info/exclude"), ".slop_cache\n").unwrap();
    harm(&sandbox);
    for (question, right) in QUESTIONS.iter().zip(right) {
        let ran = sandbox.slop(question);
        assert_eq!((ran.code, ran.out), (0, right), "{}", ran.err);
        assert!(ran.err.contains("nothing is kept"), "{}", ran.err);
    }
}

#[test]
fn a_file_or_a_link_in_place_of_the_cache_is_untouched() {
    check_without_folder(|sandbox| sandbox.write(".slop_cache", "mine\n"));
    check_without_folder(|sandbox| {
        let outside = sandbox.outside("outside");
        let _ = fs::create_dir(&outside);
        std::os::unix::fs::symlink(&outside, sandbox.path(".slop_cache")).unwrap();
    });
}

#[test]
fn a_read_only_cache_does_not_affect_answers() {
    let sandbox = sample_project();
    let right = answers(&sandbox);
    sandbox.write("src/new.py", "def fresh(): pass\n");
    let folder = sandbox.path(".slop_cache");
    for entry in fs::read_dir(&folder).unwrap() {
        fs::set_permissions(entry.unwrap().path(), fs::Permissions::from_mode(0o444)).unwrap();
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    let said = sandbox.stdout_of(&["outline", "--json"]);
    assert!(said.contains("fresh") && said.len() > right[0].len());
    let again = answers(&sandbox);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(again[2].contains("src/new.py"));
    assert_eq!(again[4], right[4]);
}

#[test]
fn the_cache_folder_hides_itself_from_git_and_from_backups() {
    let sandbox = sample_project();
    sandbox.stdout_of(&["index"]);
    assert_eq!(sandbox.read(".slop_cache/.gitignore"), "*\n");
    let tag = sandbox.read(".slop_cache/CACHEDIR.TAG");
    assert!(tag.starts_with("Signature: 8a477f597d28d172789f06886806bc55\n"));
    let mode = fs::metadata(sandbox.path(".slop_cache")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(sandbox.git(&["status", "--porcelain"]), b"");
}

#[test]
fn no_read_only_command_writes_outside_of_the_cache() {
    let sandbox = sample_project();
    let before = sandbox.tree();
    let git_before = fs::metadata(sandbox.path(".git/index")).unwrap().modified().unwrap();
    let others: [&[&str]; 10] = [
        &["index"],
        &["status"],
        &["explain", "src"],
        &["cache", "status"],
        &["cache", "verify"],
        &["cache", "gc"],
        &["cache", "export"],
        &["config", "show"],
        &["man"],
        &["cache", "clear"],
    ];
    for command in QUESTIONS.iter().chain(&others) {
        sandbox.stdout_of(command);
    }
    assert!(sandbox.tree() == before);
    assert_eq!(fs::metadata(sandbox.path(".git/index")).unwrap().modified().unwrap(), git_before);
    assert_eq!(fs::read_dir(sandbox.outside("config")).unwrap().count(), 0);
    // Only the key, which exists already.
    for folder in ["home", "home/.local", "home/.local/state", "home/.local/state/slop"] {
        assert_eq!(fs::read_dir(sandbox.outside(folder)).unwrap().count(), 1, "{folder}");
    }
}

#[test]
fn the_cache_is_in_the_configured_folder() {
    let sandbox = sample_project();
    sandbox.write("slop.toml", "[aggregation]\ncache_dir = \"var/cache\"\n");
    sandbox.stdout_of(&["index"]);
    assert!(sandbox.path("var/cache/index.db").is_file());
    assert!(!sandbox.path(".slop_cache").exists());
    assert!(sandbox.status().iter().all(|(path, _)| !path.starts_with("var/")));
}

/// Sleeps for a part of the duration of a run. These tests have to sleep: over many kills, the moments are spread
/// irregularly over the whole run.
fn sleep_within(whole: Duration, kill: usize) {
    let turn = f64::from(u32::try_from(kill).unwrap()) * 0.618_034;
    thread::sleep(whole.mul_f64(0.02 + 0.96 * turn.fract()));
}

fn start(sandbox: &Sandbox) -> Child {
    let mut command = sandbox.command(&["index", "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn after_a_kill_at_any_moment_the_next_run_is_correct() {
    let sandbox = large_project();
    let began = Instant::now();
    sandbox.stdout_of(&["index"]);
    let whole = began.elapsed();
    let right = sandbox.stdout_of(&["outline", "--json"]);
    let mut unfinished = 0;
    for kill in 0..rounds(4, 100) {
        std::fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
        let mut run = start(&sandbox);
        sleep_within(whole, kill);
        run.kill().unwrap();
        let ran = CommandOutput::from_output(&run.wait_with_output().unwrap());
        unfinished += u32::from(ran.code != 0);
        assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
        assert!(sandbox.stdout_of(&["outline", "--json"]) == right, "after kill {kill}");
        assert_eq!(number(&sandbox.json(&["index"])["parsed"]), 0);
        assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
    }
    assert!(0 < unfinished, "no run was killed before it finished");
}

#[test]
fn after_a_kill_during_hydration_the_places_are_the_old_or_the_new_ones() {
    let sandbox = large_project();
    let requests = [("src/m1.py", "900"), ("src/m2.py", "2000")];
    let requests = requests.map(|(focus, budget)| ["hydrate", "--focus", focus, "--budget", budget]);
    let places = || -> Vec<String> {
        let keys = ["path", "part", "tier", "detail_depth", "pinned_depth"];
        let rows = sandbox.json_lines(&["fragments"]);
        rows.iter().map(|place| keys.map(|key| place[key].to_string()).join(" ")).collect()
    };
    sandbox.stdout_of(&requests[0]);
    sandbox.stdout_of(&["fragments", "pin", "src/m3.py", "--depth", "2"]);
    let began = Instant::now();
    sandbox.stdout_of(&requests[1]);
    let whole = began.elapsed();
    let mut after = places();
    let mut unfinished = 0;
    for kill in 0..rounds(4, 1_000) {
        let (before, request) = (after, requests[kill % 2]);
        let mut run = sandbox.command(&request).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        sleep_within(whole, kill);
        run.kill().unwrap();
        run.wait().unwrap();
        let killed = places();
        sandbox.stdout_of(&request);
        after = places();
        assert_ne!(before, after);
        assert!(killed == before || killed == after, "a mixture of places after kill {kill}");
        let pinned = after.iter().find(|place| place.starts_with("\"src/m3.py\"")).unwrap();
        assert!(pinned.ends_with(" 2"), "the pin is lost after kill {kill}: {pinned}");
        unfinished += u32::from(killed == before);
    }
    assert!(0 < unfinished, "no run was killed before it finished");
    assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
}

#[test]
fn artifacts_stored_by_a_killed_run_are_not_derived_again() {
    let sandbox = large_project();
    sandbox.stdout_of(&["index"]);
    std::fs::remove_file(sandbox.path("src/m1.py")).unwrap();
    let mut run = start(&sandbox);
    run.kill().unwrap();
    run.wait().unwrap();
    assert_eq!(number(&sandbox.json(&["index"])["parsed"]), 0);
}

#[test]
fn concurrent_runs_all_succeed() {
    let sandbox = large_project();
    let mut right = None;
    for at_once in [2, 4] {
        let _ = std::fs::remove_dir_all(sandbox.path(".slop_cache"));
        let runs: Vec<Child> = (0..at_once).map(|_| start(&sandbox)).collect();
        for run in runs {
            let ran = CommandOutput::from_output(&run.wait_with_output().unwrap());
            assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{ran:?}");
            assert_eq!(number(&super::sandbox::data(&ran.out)["files"]), LARGE_PROJECT_FILES);
        }
        assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
        let outlines = sandbox.stdout_of(&["outline", "--json"]);
        assert!(right.get_or_insert_with(|| outlines.clone()) == &outlines);
        assert_eq!(number(&sandbox.json(&["index"])["hashed"]), 0);
    }
}

#[test]
fn a_concurrent_clear_and_index_both_succeed() {
    let sandbox = large_project();
    let right = sandbox.stdout_of(&["outline", "--json"]);
    for _ in 0..3 {
        sandbox.stdout_of(&["cache", "clear"]);
        let run = start(&sandbox);
        sandbox.stdout_of(&["cache", "clear"]);
        let ran = CommandOutput::from_output(&run.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(sandbox.stdout_of(&["outline", "--json"]) == right);
    }
    assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
}

/// Runs a script with another mount on `.slop_cache`; returns `None` if this user cannot mount.
fn run_where_mounted(sandbox: &Sandbox, mount: &str, script: &str) -> Option<CommandOutput> {
    let mut probe = sandbox.script("unshare -Urm true");
    if !probe.output().is_ok_and(|output| output.status.success()) {
        report_skipped("this user may mount nothing, so that no disk could be made small");
        return None;
    }
    std::fs::create_dir_all(sandbox.path(".slop_cache")).unwrap();
    let mut command = sandbox.script("exec unshare -Urm sh -c \"$SCRIPT\"");
    command.env("SCRIPT", format!("cache=\"$PWD/.slop_cache\"; {mount} || exit 99; {script}"));
    Some(run(command))
}

/// Runs a script with a file system of `kib` KiB on `.slop_cache`.
fn run_on_small_disk(sandbox: &Sandbox, kib: u32, script: &str) -> Option<CommandOutput> {
    run_where_mounted(sandbox, &format!("mount -t tmpfs -o size={kib}k tmpfs \"$cache\""), script)
}

#[test]
fn commands_answer_when_the_disk_fills_up() {
    let sandbox = large_project();
    for (question, kib) in
        [("outline --json", 4), ("aggregate --tier 3 --stdout", 256), ("view src --mode summary", 256)]
    {
        let right = run(sandbox.script(&format!("$SLOP {question}"))).out;
        std::fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
        let Some(ran) = run_on_small_disk(&sandbox, kib, &format!("$SLOP {question}")) else { return };
        assert_eq!(ran.code, 0, "{question} on {kib} KiB: {}", ran.err);
        assert!(ran.out == right, "{question} on {kib} KiB: {}", ran.err);
        assert!(ran.err.contains("note: "), "{question} on {kib} KiB says nothing");
    }
}

#[test]
fn files_that_a_full_disk_could_not_cache_are_read_again() {
    let sandbox = large_project();
    let right = sandbox.stdout_of(&["outline", "--json"]);
    std::fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
    let script = "$SLOP index --json >/dev/null; $SLOP cache verify >&2 || exit 9; $SLOP outline --json";
    let Some(ran) = run_on_small_disk(&sandbox, 256, script) else { return };
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.out == right);
}

#[test]
fn an_output_on_a_full_disk_fails_and_leaves_no_file() {
    let sandbox = large_project();
    let flags = "--strategy full -o .slop_cache/context.md";
    let script =
        format!("$SLOP aggregate {flags}; code=$?; ls .slop_cache | grep -v -e index -e stamp; exit $code");
    std::fs::write(sandbox.path("slop.toml"), "[aggregation]\ncache_enabled = false\n").unwrap();
    let Some(ran) = run_on_small_disk(&sandbox, 64, &script) else { return };
    ran.assert_fails(3, &["context.md", "hint: check the folder's permissions and the room on the disk"]);
}

#[test]
fn commands_answer_when_the_cache_is_on_a_read_only_disk() {
    let sandbox = large_project();
    sandbox.stdout_of(&["index"]);
    // Changes that the cache does not know: a new content, and an old one under another name.
    sandbox.write("src/new.py", "def fresh():\n    return 1\n");
    sandbox.git(&["mv", "src/m1.py", "src/moved.py"]);
    let same = "mount --bind \"$cache\" \"$cache\" && mount -o remount,bind,ro \"$cache\"";
    for question in ["symbol fresh", "symbol f1_7 --definition", "aggregate --tier 3 --stdout"] {
        let mut right = None;
        for mount in [same, "mount -t tmpfs -o ro tmpfs \"$cache\""] {
            let Some(ran) = run_where_mounted(&sandbox, mount, &format!("$SLOP {question}")) else { return };
            assert_eq!(ran.code, 0, "{question}: {}", ran.err);
            assert!(ran.err.contains("note: "), "{question} says nothing");
            assert!(right.get_or_insert_with(|| ran.out.clone()) == &ran.out, "{question}: {}", ran.err);
        }
        assert!(right.unwrap().contains(if question.contains("f1_7") { "src/moved.py" } else { "fresh" }));
    }
}
