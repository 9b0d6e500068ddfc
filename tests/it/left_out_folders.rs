//! Folders that are left out as a whole, folders with too many files, and the output folder.

use std::fs;

use serde_json::json;

use super::daemon::harness::{TestDaemon, wait_until};
use super::sandbox::{Sandbox, list, number, report_skipped, run, text};

fn write_all(sandbox: &Sandbox, files: &[&str]) {
    for file in files {
        sandbox.write(file, "x = 1\n");
    }
}

/// Returns the listed paths, each with its reason if it is left out.
#[track_caller]
fn listed(sandbox: &Sandbox) -> Vec<String> {
    let data = sandbox.json(&["status"]);
    let line = |file: &serde_json::Value| match file["reason"].as_str() {
        Some(reason) => format!("{}: {reason}", text(&file["path"])),
        None => text(&file["path"]),
    };
    list(&data["files"]).map(line).collect()
}

#[test]
fn outside_of_git_dependency_and_hidden_folders_are_one_line_each() {
    let sandbox = Sandbox::new();
    write_all(
        &sandbox,
        &["src/a.py", "src/__pycache__/a.py", ".venv/lib/b.py", "web/node_modules/c/d.py", ".idea/x.py"],
    );
    let all =
        [".idea: hidden_folder", ".venv: skipped_folder", "src/__pycache__: skipped_folder", "src/a.py"];
    assert_eq!(listed(&sandbox)[..4], all);
    assert_eq!(listed(&sandbox)[4..], ["web/node_modules: skipped_folder"]);
    let left_out = &sandbox.json(&["index"])["left_out"];
    assert_eq!(*left_out, json!({"skipped_folder": 3, "hidden_folder": 1}));
    let receipt = &sandbox.aggregate_json(&["--tier", "2"])["receipt"];
    assert!(receipt.to_string().contains("web/node_modules"), "{receipt}");
    let status = sandbox.stdout_of(&["status", "--all"]);
    assert!(
        status.contains("left out  .venv  (skipped_folder: a folder that discover.skip names)\n"),
        "{status}"
    );
    // A file that is named is read.
    assert!(sandbox.stdout_of(&["view", "web/node_modules/c/d.py"]).contains("x = 1"));
}

#[test]
fn the_names_of_folders_to_leave_out_are_a_setting() {
    let sandbox = Sandbox::new();
    write_all(&sandbox, &["build/a.py", "data/b.py"]);
    sandbox.write("slop.toml", "[discover]\nskip = []\n");
    assert_eq!(listed(&sandbox), ["build/a.py", "data/b.py", "slop.toml: settings"]);
    sandbox.write("slop.toml", "[discover]\nskip = [\"data\"]\n");
    assert_eq!(listed(&sandbox), ["build/a.py", "data: skipped_folder", "slop.toml: settings"]);
    sandbox.write("slop.toml", "[discover]\nskip = [\"data/raw\"]\n");
    let wanted = "slop.toml:2: `discover.skip` is [\"data/raw\"], not a list of folder names, without `/`";
    sandbox.slop(&["status"]).assert_fails(1, &[wanted]);
}

#[test]
fn in_a_checkout_tracked_files_keep_their_folder_and_untracked_folders_are_left_out() {
    let sandbox = Sandbox::repo();
    write_all(&sandbox, &["vendor/lib/a.py", ".github/b.py", "src/c.py"]);
    sandbox.commit_all("first");
    write_all(&sandbox, &["vendor/lib/new.py", ".new/d.py", "node_modules/e/f.py", "src/build/g.py"]);
    let expected = [
        ".github/b.py",
        ".new/d.py",
        "node_modules: skipped_folder",
        "src/build: skipped_folder",
        "src/c.py",
        "vendor/lib/a.py",
        "vendor/lib/new.py",
    ];
    assert_eq!(listed(&sandbox), expected);
    sandbox.git(&["add", "src/build/g.py"]);
    assert!(listed(&sandbox).contains(&"src/build/g.py".to_owned()));
}

#[test]
fn a_file_system_that_is_mounted_below_the_project_is_not_walked() {
    let sandbox = Sandbox::new();
    write_all(&sandbox, &["a.py", "other/below.py"]);
    let words = "mount -t tmpfs none other && echo 'y = 1' > other/mounted.py && exec \"$SLOP\" status --all";
    let mut probe = sandbox.script("unshare -Urm true");
    if !probe.output().is_ok_and(|probe| probe.status.success()) {
        report_skipped("no namespaces to mount a file system in");
        return;
    }
    let ran = run(sandbox.script(&format!("exec unshare -Urm sh -c '{}'", words.replace('\'', "'\\''"))));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        ran.out.contains("left out  other  (other_file_system: a folder on another file system)\n"),
        "{ran:?}"
    );
    assert!(!ran.out.contains("mounted.py"), "{ran:?}");
}

#[test]
fn a_folder_with_too_many_files_must_be_named_unless_git_lists_them() {
    let sandbox = Sandbox::new();
    write_all(&sandbox, &["a.py", "b.py", "sub/c.py", "node_modules/d.py"]);
    sandbox.write_user_settings("[discover]\nmax_files = 3\n");
    for arguments in
        [&["index"][..], &["status"], &["aggregate", "--stdout"], &["watch"], &["daemon", "start"]]
    {
        let refused = sandbox.slop(arguments);
        refused.assert_fails(
            1,
            &["more than 3 files and is not in a git checkout", "--project", "discover.max_files"],
        );
    }
    assert!(!sandbox.path(".slop_cache").exists(), "no cache is created in a refused folder");
    // A query for one file lists no folder.
    assert!(sandbox.stdout_of(&["view", "a.py"]).contains("x = 1"));
    assert_eq!(sandbox.json(&["index", "--project", "."])["files"], 3);
    sandbox.write("slop.toml", "discover.max_files = 5\n");
    assert_eq!(sandbox.json(&["index"])["files"], 3);
    fs::remove_file(sandbox.path("slop.toml")).unwrap();
    sandbox.git(&["init", "-q"]);
    assert_eq!(sandbox.json(&["index"])["files"], 3);
}

#[test]
fn a_daemon_watches_all_kept_folders_and_no_others() {
    let sandbox = Sandbox::repo();
    write_all(&sandbox, &["src/a.py", "vendor/lib/b.py"]);
    sandbox.commit_all("first");
    for folder in 0..30 {
        sandbox.write(format!("node_modules/p{folder}/c.py"), "x = 1\n");
    }
    let daemon = TestDaemon::start(&sandbox);
    wait_until("the first scan", || daemon.status()["mode"] == "events");
    let watches = number(&daemon.status()["watches"]);
    assert!(watches < 30, "{watches} watches");
    // A new folder below a kept one is noticed, with its files.
    sandbox.write("vendor/lib2/deep/d.py", "def late(): ...\n");
    assert!(sandbox.stdout_of(&["symbol", "late"]).contains("vendor/lib2/deep/d.py"));
    wait_until("the new folders are watched", || watches + 2 <= number(&daemon.status()["watches"]));
    sandbox.write("vendor/lib2/deep/d.py", "def later(): ...\n");
    assert!(sandbox.stdout_of(&["symbol", "later"]).contains("vendor/lib2/deep/d.py"));
    write_all(&sandbox, &["node_modules/new/deep/e.py", "src/build/f.py"]);
    assert!(listed(&sandbox).contains(&"src/build: skipped_folder".to_owned()));
    assert!(number(&daemon.status()["watches"]) < 30);
    assert_eq!(daemon.status()["missed"], 0);
}

#[test]
fn a_new_output_folder_is_ignored_by_git_and_an_existing_one_is_left_as_it_is() {
    let sandbox = Sandbox::repo();
    write_all(&sandbox, &["a.py"]);
    sandbox.stdout_of(&["aggregate", "--tier", "1"]);
    assert_eq!(sandbox.read("slop_out/.gitignore"), "*\n");
    assert!(!String::from_utf8(sandbox.git(&["status", "--porcelain"])).unwrap().contains("slop_out"));
    sandbox.write("slop_out/.gitignore", "!*\n");
    sandbox.stdout_of(&["aggregate", "--tier", "1"]);
    assert_eq!(sandbox.read("slop_out/.gitignore"), "!*\n");
    sandbox.write("slop.toml", "project.output_dir = 'mine'\n");
    fs::create_dir(sandbox.path("mine")).unwrap();
    sandbox.stdout_of(&["aggregate", "--tier", "1"]);
    assert!(sandbox.path("mine/project_001.md").exists() && !sandbox.path("mine/.gitignore").exists());
}
