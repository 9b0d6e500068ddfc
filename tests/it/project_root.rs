//! Which folder a command uses as the project, and how it reports that.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use serde_json::json;

use super::daemon::harness::TestDaemon;
use super::mcp::McpClient;
use super::sandbox::{CommandOutput, Sandbox, data, report_skipped, run, text};

/// Runs the program in any folder.
#[track_caller]
fn slop_at(sandbox: &Sandbox, folder: &Path, arguments: &[&str]) -> CommandOutput {
    let mut command = sandbox.command(arguments);
    command.current_dir(folder);
    run(command)
}

/// Returns the project's folder and the reason, as in the JSON output of a run in a folder.
#[track_caller]
fn root_at(sandbox: &Sandbox, folder: &Path) -> (String, String) {
    let ran = slop_at(sandbox, folder, &["status", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let data = data(&ran.out);
    (text(&data["root"]), text(&data["root_reason"]))
}

fn real(path: &Path) -> String {
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

#[track_caller]
fn check_root(sandbox: &Sandbox, folder: &Path, root: &Path, reason: &str) {
    assert_eq!(root_at(sandbox, folder), (real(root), reason.to_owned()), "{}", folder.display());
}

#[test]
fn a_run_in_a_subfolder_of_a_checkout_covers_the_whole_checkout() {
    let sandbox = Sandbox::repo();
    sandbox.write("src/deep/a.py", "x = 1\n");
    let indexed = sandbox.slop_in("src/deep", &["index"]);
    let root = real(&sandbox.root());
    assert_eq!(indexed.err, format!("project: {root} (the top level of the git checkout)\n"));
    assert!(sandbox.path(".slop_cache/index.db").exists() && !sandbox.path("src/deep/.slop_cache").exists());
    for command in ["index", "status"] {
        let data = data(&sandbox.slop_in("src", &[command, "--json"]).out);
        assert_eq!((&data["root"], &data["root_reason"]), (&json!(root), &json!("git_checkout")));
    }
    assert!(sandbox.slop_in("src/deep", &["view", "a.py"]).out.starts_with("src/deep/a.py · "));
    assert_eq!(sandbox.slop_in("src", &["index", "--quiet"]).err, "");
}

#[test]
fn the_nearest_settings_file_takes_precedence_over_the_enclosing_checkout() {
    let sandbox = Sandbox::repo();
    sandbox.write("part/a.py", "x = 1\n");
    sandbox.write("part/inner/b.py", "x = 1\n");
    sandbox.write("part/slop.toml", "");
    check_root(&sandbox, &sandbox.path("part/inner"), &sandbox.path("part"), "settings_file");
    check_root(&sandbox, &sandbox.root(), &sandbox.root(), "git_checkout");
    let named = sandbox.slop_in("part", &["status", "--project", "inner"]);
    assert!(named.err.contains("/part/inner (named by --project)\n"), "{named:?}");
}

#[test]
fn an_old_cache_in_a_subfolder_of_a_checkout_is_not_used_with_one_note() {
    let sandbox = Sandbox::repo();
    sandbox.write("src/a.py", "x = 1\n");
    fs::create_dir(sandbox.path("src/.slop_cache")).unwrap();
    let ran = sandbox.slop_in("src", &["index"]);
    assert_eq!(ran.err.matches("src/.slop_cache is not used, because the project is").count(), 1, "{ran:?}");
    assert_eq!(fs::read_dir(sandbox.path("src/.slop_cache")).unwrap().count(), 0);
    assert!(!sandbox.slop(&["index"]).err.contains("note:"));
}

#[test]
fn outside_of_git_the_project_is_the_folder_with_a_cache_or_the_current_folder() {
    let sandbox = Sandbox::new();
    sandbox.write("a/b/c.py", "x = 1\n");
    check_root(&sandbox, &sandbox.root(), &sandbox.root(), "current_folder");
    sandbox.stdout_of(&["index"]);
    check_root(&sandbox, &sandbox.path("a/b"), &sandbox.root(), "cache_folder");
    // A checkout below a cache is a project of its own.
    sandbox.git_in(&sandbox.path("a"), &["init", "-q"]);
    check_root(&sandbox, &sandbox.path("a/b"), &sandbox.path("a"), "git_checkout");
}

#[test]
fn the_home_folder_is_a_project_only_if_it_is_named() {
    let sandbox = Sandbox::new();
    let home = sandbox.outside("home");
    fs::create_dir_all(home.join("notes")).unwrap();
    fs::create_dir(home.join(".slop_cache")).unwrap();
    fs::write(home.join("slop.toml"), "").unwrap();
    fs::write(home.join("notes/a.md"), "# A\n").unwrap();
    check_root(&sandbox, &home.join("notes"), &home.join("notes"), "current_folder");
    for arguments in [&["index"][..], &["view", "notes/a.md"], &["watch"], &["daemon", "start"], &["init"]] {
        let refused = slop_at(&sandbox, &home, arguments);
        refused.assert_fails(1, &["is your home folder", "--project"]);
    }
    let refused = data_of_error(&slop_at(&sandbox, &home, &["status", "--json"]));
    assert_eq!(refused, "not_a_project");
    assert_eq!(fs::read_dir(home.join(".slop_cache")).unwrap().count(), 0);
    let named = slop_at(&sandbox, &home, &["index", "--project", "."]);
    assert_eq!(named.code, 0, "{named:?}");
    slop_at(&sandbox, Path::new("/"), &["status"]).assert_fails(1, &["/ is the root of the file system"]);
    slop_at(&sandbox, Path::new("/proc"), &["index"])
        .assert_fails(1, &["/proc is a folder of the operating system"]);
    // Commands that maintain an existing cache work.
    assert_eq!(slop_at(&sandbox, &home, &["cache", "clear"]).code, 0);
}

/// Returns the code of an error in JSON.
#[track_caller]
fn data_of_error(ran: &CommandOutput) -> String {
    let envelope: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    text(&envelope["error"]["code"])
}

#[test]
fn a_worktree_and_a_submodule_are_projects_of_their_own_even_within_another_one() {
    let sandbox = Sandbox::repo();
    sandbox.write("src/a.py", "x = 1\n");
    sandbox.commit_all("first");
    sandbox.git(&["worktree", "add", "-q", "trees/one"]);
    sandbox.git(&["clone", "-q", ".", "../other"]);
    sandbox.git(&["submodule", "--quiet", "add", "../other", "vendor/sub"]);
    sandbox.write("slop.toml", "");
    check_root(&sandbox, &sandbox.path("trees/one/src"), &sandbox.path("trees/one"), "git_checkout");
    check_root(&sandbox, &sandbox.path("vendor/sub/src"), &sandbox.path("vendor/sub"), "git_checkout");
    check_root(&sandbox, &sandbox.path("src"), &sandbox.root(), "settings_file");
}

#[test]
fn a_bare_repository_is_not_a_checkout() {
    let sandbox = Sandbox::new();
    sandbox.git(&["init", "-q", "--bare", "a.git"]);
    check_root(&sandbox, &sandbox.path("a.git/refs"), &sandbox.path("a.git/refs"), "current_folder");
}

#[test]
fn git_hook_variables_and_dubious_ownership_do_not_change_the_project() {
    let sandbox = Sandbox::repo();
    sandbox.write("src/a.py", "x = 1\n");
    let other = sandbox.outside("other");
    fs::create_dir(&other).unwrap();
    sandbox.git_in(&other, &["init", "-q"]);
    let mut hook = sandbox.command(&["status", "--all"]);
    hook.current_dir(sandbox.path("src")).env("GIT_DIR", other.join(".git")).env("GIT_WORK_TREE", &other);
    let ran = run(hook);
    assert!(ran.err.contains("/project (the top level of the git checkout)"), "{ran:?}");
    assert!(ran.out.contains("src/a.py"), "{ran:?}");
    let mut doubted = sandbox.command(&["status", "--all"]);
    doubted.current_dir(sandbox.path("src")).env("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1");
    let ran = run(doubted);
    assert!(ran.err.contains("/project (the top level of the git checkout)"), "{ran:?}");
    assert!(ran.err.contains("safe.directory") && ran.out.contains("src/a.py"), "{ran:?}");
}

#[test]
fn a_daemon_and_an_mcp_server_name_the_project() {
    let sandbox = Sandbox::repo();
    sandbox.write("src/a.py", "x = 1\n");
    let root = real(&sandbox.root());
    let _daemon = TestDaemon::start(&sandbox);
    let status = sandbox.slop_in("src", &["daemon", "status"]);
    let first = format!("project    {root} (the top level of the git checkout)");
    assert_eq!(status.out.lines().next(), Some(first.as_str()));
    let status = data(&sandbox.slop_in("src", &["daemon", "status", "--json"]).out);
    assert_eq!((&status["root"], &status["root_reason"]), (&json!(root), &json!("git_checkout")));
    let (client, hello) = McpClient::start_in(&sandbox, &sandbox.path("src"));
    let words = text(&hello["instructions"]);
    assert!(
        words.ends_with(&format!(" The project is {root} (the top level of the git checkout).")),
        "{words}"
    );
    assert_eq!(hello["_meta"]["slop/project"], json!({"root": root, "root_reason": "git_checkout"}));
    client.close();
}

#[test]
fn an_mcp_server_in_the_home_folder_starts_and_explains_what_to_do() {
    let sandbox = Sandbox::new();
    let (mut client, _) = McpClient::start_in(&sandbox, &sandbox.outside("home"));
    let (is_refused, words) = client.call_tool("slop_status", &json!({}));
    assert!(is_refused && words.contains("not_a_project") && words.contains("--project"), "{words}");
    client.close();
    assert!(!sandbox.outside("home/.slop_cache").exists());
}

#[test]
fn on_a_terminal_the_user_is_asked() {
    let sandbox = Sandbox::new();
    let home = sandbox.outside("home");
    fs::write(home.join("a.md"), "# A\n").unwrap();
    for (answer, code) in [("y", 0), ("n", 1)] {
        // `script` gives the program a terminal.
        let words = "printf '%s\\n' \"$ANSWER\" | script -qec '\"$SLOP\" index' /dev/null";
        let mut command = sandbox.script(words);
        command.current_dir(&home).env("ANSWER", answer).stdin(Stdio::null());
        let ran = run(command);
        if ran.err.contains("not found") {
            report_skipped("no `script` to open a terminal with");
            return;
        }
        assert!(
            ran.out.contains("is your home folder, which is unlikely to be a project. Read it anyway? [y/N]"),
            "{ran:?}"
        );
        assert_eq!((ran.code, ran.out.contains("1 derived")), (code, code == 0), "{ran:?}");
    }
}
