//! `slop index` is killed at any moment, or runs several times at once.

use std::process::Child;
use std::process::Stdio;
use std::thread;
use std::time::Duration;
use std::time::Instant;

use super::sandbox::CommandOutput;
use super::sandbox::Sandbox;
use super::sandbox::number;

/// The design asks for 50; so many are quick enough to be run each time.
const KILLS: u32 = 8;
const FILES: u64 = 150;

/// A project that takes some tenths of a second to index.
fn large_project() -> Sandbox {
    let sandbox = Sandbox::repo();
    for file in 0..FILES {
        let function =
            |n| format!("def f{file}_{n}(x):\n    \"\"\"Does {n}.\"\"\"\n    return x + {n}\n\n\n");
        sandbox.write(format!("src/m{file}.py"), (0..40).map(function).collect::<String>());
    }
    sandbox
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
    for kill in 0..KILLS {
        std::fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
        let mut run = start(&sandbox);
        // Spread over the whole run, at moments that are no multiple of anything; a wait is the point of this test.
        let share = 0.02 + 0.96 * (f64::from(kill) * 0.618_034).fract();
        thread::sleep(Duration::from_secs_f64(whole.as_secs_f64() * share));
        run.kill().unwrap();
        let ran = CommandOutput::from_output(&run.wait_with_output().unwrap());
        unfinished += u32::from(ran.code != 0);
        assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
        assert!(sandbox.stdout_of(&["outline", "--json"]) == right, "after the kill at {share}");
        assert_eq!(number(&sandbox.json(&["index"])["parsed"]), 0);
        assert_eq!(sandbox.slop(&["cache", "verify"]).code, 0);
    }
    assert!(0 < unfinished, "no run was killed in its midst");
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
            assert_eq!(number(&super::sandbox::data(&ran.out)["files"]), FILES);
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
