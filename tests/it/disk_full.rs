//! A disk without room, or that cannot be written at all: answers stay right, a note says what is not kept, nothing crashes.

use super::sandbox::CommandOutput;
use super::sandbox::Sandbox;
use super::sandbox::report_skipped;
use super::sandbox::run;

/// Runs a script where `.slop_cache` was mounted by another; none where this machine does not let us mount.
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

/// Runs a script where `.slop_cache` is a file system of so many KiB.
fn run_on_small_disk(sandbox: &Sandbox, kib: u32, script: &str) -> Option<CommandOutput> {
    run_where_mounted(sandbox, &format!("mount -t tmpfs -o size={kib}k tmpfs \"$cache\""), script)
}

fn large_project() -> Sandbox {
    let sandbox = Sandbox::repo();
    for file in 0..120 {
        let function =
            |n| format!("def f{file}_{n}(x):\n    \"\"\"Does {n}.\"\"\"\n    return x + {n}\n\n\n");
        sandbox.write(format!("src/m{file}.py"), (0..60).map(function).collect::<String>());
    }
    sandbox.commit_all("first");
    sandbox
}

#[test]
fn commands_answer_when_the_disk_fills_up() {
    let sandbox = large_project();
    for question in ["outline --json", "aggregate --tier 3 --stdout", "view src --mode summary"] {
        let right = run(sandbox.script(&format!("$SLOP {question}"))).out;
        std::fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
        for kib in [4, 64, 256, 1024] {
            let Some(ran) = run_on_small_disk(&sandbox, kib, &format!("$SLOP {question}")) else { return };
            assert_eq!(ran.code, 0, "{question} on {kib} KiB: {}", ran.err);
            assert!(ran.out == right, "{question} on {kib} KiB: {}", ran.err);
            assert!(ran.err.contains("note: "), "{question} on {kib} KiB says nothing");
        }
    }
}

#[test]
fn files_that_a_full_disk_could_not_cache_are_read_again() {
    let sandbox = large_project();
    let right = sandbox.stdout_of(&["outline", "--json"]);
    std::fs::remove_dir_all(sandbox.path(".slop_cache")).unwrap();
    let script = "$SLOP index --json >/dev/null; $SLOP cache verify >&2 || exit 9; $SLOP outline --json";
    let Some(ran) = run_on_small_disk(&sandbox, 512, script) else { return };
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
    // What has changed since is known to no cache: a new content, and an old one under another name.
    sandbox.write("src/new.py", "def fresh():\n    return 1\n");
    sandbox.git(&["mv", "src/m1.py", "src/moved.py"]);
    let same = "mount --bind \"$cache\" \"$cache\" && mount -o remount,bind,ro \"$cache\"";
    for question in
        ["outline --json", "symbol fresh", "symbol f1_7 --definition", "aggregate --tier 3 --stdout"]
    {
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
