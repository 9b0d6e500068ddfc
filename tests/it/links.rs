//! Linked folders: what a user sees of them, and what a hostile project cannot reach through them.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use serde_json::json;

use crate::daemon::harness::{TestDaemon, wait_until};
use crate::sandbox::{Sandbox, number, report_skipped, texts};

const CANARY: &str = "canary_of_another_folder";

/// Returns a project with the folder `lib` next to it.
fn with_lib() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("zoo.py", "def keep():\n    pass\n");
    write(&sandbox.outside("lib/src/part.py"), "def helper(a):\n    return a\n");
    sandbox
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a repository next to the project, with a file that defines a function.
fn repository(sandbox: &Sandbox, name: &str, function: &str) -> String {
    let folder = sandbox.outside(name);
    write(&folder.join("part.py"), &format!("def {function}():\n    pass\n"));
    sandbox.git_in(&folder, &["init", "-q"]);
    sandbox.git_in(&folder, &["add", "."]);
    sandbox.git_in(&folder, &["commit", "-qm", "first"]);
    folder.to_str().unwrap().to_owned()
}

#[test]
fn edits_in_one_checkout_move_no_text_of_the_others() {
    let sandbox = Sandbox::repo();
    sandbox.write("zoo.py", "def keep():\n    pass\n");
    sandbox.commit_all("first");
    for name in ["lib", "web"] {
        let folder = repository(&sandbox, name, &format!("in_{name}"));
        assert_eq!(sandbox.slop(&["link", "add", &folder]).code, 0);
    }
    let document = || sandbox.stdout_of(&["aggregate", "--strategy", "full", "--stdout"]);
    let blocks = |text: &str| -> Vec<String> {
        let files = text.split("\n## File Tree").next().unwrap();
        files.split("\n### ").skip(1).map(|block| block.trim_end().to_owned()).collect()
    };
    let before = blocks(&document());
    let names: Vec<&str> = before.iter().map(|block| block.lines().next().unwrap()).collect();
    assert_eq!(names, ["zoo.py", "@lib/part.py", "@web/part.py"]);
    for (name, at) in [("web", 2), ("lib", 1)] {
        let folder = sandbox.outside(name);
        write(&folder.join("part.py"), "def edited():\n    pass\n");
        // First uncommitted, then committed.
        for _ in 0..2 {
            let after = blocks(&document());
            assert_eq!(after.len(), 3);
            for (place, (old, new)) in before.iter().zip(&after).enumerate() {
                let is_edited = place == at || name == "lib" && place == 2;
                assert_eq!(old != new, is_edited, "{name}: {new}");
            }
            sandbox.git_in(&folder, &["commit", "-qam", "edited", "--allow-empty"]);
        }
    }
}

/// Returns the paths of the files in a document, in its order.
fn shown_paths(document: &str) -> Vec<String> {
    let files = document.split("\n## File Tree").next().unwrap();
    files.split("\n### ").skip(1).map(|block| block.lines().next().unwrap().to_owned()).collect()
}

/// Creates a project with links to the repository `lib` and the folder `notes`; each has some functions in files of
/// their names.
fn with_histories() -> Sandbox {
    let sandbox = Sandbox::repo();
    for folder in ["project", "lib", "notes"] {
        for name in ["a", "b", "c"] {
            write(
                &sandbox.outside(&format!("{folder}/{name}.py")),
                &format!("def {name}():\n    return 0\n"),
            );
        }
    }
    sandbox.commit_all("first");
    let lib = sandbox.outside("lib");
    sandbox.git_in(&lib, &["init", "-q"]);
    sandbox.git_in(&lib, &["add", "."]);
    sandbox.git_in(&lib, &["commit", "-qm", "first"]);
    for folder in ["../lib", "../notes"] {
        assert_eq!(sandbox.slop(&["link", "add", folder]).code, 0);
    }
    sandbox
}

#[test]
fn files_of_a_linked_checkout_are_in_the_order_of_its_own_history() {
    let sandbox = with_histories();
    let lib = sandbox.outside("lib");
    let edit = |name: &str, number: u32| {
        write(&lib.join(format!("{name}.py")), &format!("def {name}():\n    return {number}\n"));
    };
    let daemon = TestDaemon::start(&sandbox);
    let check = |in_root: [&str; 3], in_lib: &[&str]| {
        let in_notes = ["a", "b", "c"].map(|name| format!("@notes/{name}.py"));
        let in_root = in_root.iter().map(|name| format!("{name}.py"));
        let in_lib = in_lib.iter().map(|name| format!("@lib/{name}.py"));
        let expected: Vec<String> = in_root.chain(in_lib).chain(in_notes).collect();
        let arguments = ["aggregate", "--strategy", "full", "--budget", "none", "--stdout"];
        for without in [&[][..], &["--no-daemon"]] {
            let document = sandbox.stdout_of(&[&arguments[..], without].concat());
            assert_eq!(shown_paths(&document), expected, "{without:?}");
        }
    };
    check(["a", "b", "c"], &["a", "b", "c"]);
    // The most recently changed file is the most likely to change next, so it comes last.
    edit("a", 1);
    check(["a", "b", "c"], &["b", "c", "a"]);
    edit("b", 1);
    check(["a", "b", "c"], &["c", "a", "b"]);
    // A commit changes the order, even without a change of content.
    sandbox.git_in(&lib, &["commit", "-qm", "second", "b.py"]);
    check(["a", "b", "c"], &["c", "b", "a"]);
    write(&lib.join("d.py"), "def d():\n    return 0\n");
    check(["a", "b", "c"], &["c", "b", "d", "a"]);
    sandbox.git_in(&lib, &["add", "d.py"]);
    sandbox.git_in(&lib, &["commit", "-qm", "third", "d.py"]);
    check(["a", "b", "c"], &["c", "b", "d", "a"]);
    sandbox.git_in(&lib, &["commit", "-qam", "fourth"]);
    edit("b", 2);
    let explained = sandbox.stdout_of(&["explain", "@lib/b.py"]);
    assert!(explained.contains("\n  changes      1 commit of @lib since "), "{explained}");
    assert!(explained.contains(", and not committed\n"), "{explained}");
    check(["a", "b", "c"], &["c", "d", "a", "b"]);
    // The history of the project does not move files of the checkout.
    sandbox.write("b.py", "def b():\n    return 1\n");
    sandbox.commit_all("second");
    check(["a", "c", "b"], &["c", "d", "a", "b"]);
    let explained = sandbox.stdout_of(&["explain", "b.py"]);
    assert!(explained.contains("\n  changes      1 commit of the project since "), "{explained}");
    assert!(!sandbox.stdout_of(&["explain", "@notes/a.py"]).contains("changes  "));
    assert_eq!(number(&daemon.status()["missed"]), 0);
    daemon.assert_audit_is_clean();
    // If the name is given to another folder, that folder's history counts.
    assert_eq!(sandbox.slop(&["link", "remove", "lib"]).code, 0);
    fs::rename(&lib, sandbox.outside("other")).unwrap();
    sandbox.git_in(&sandbox.outside("other"), &["checkout", "-qf", "HEAD~1"]);
    assert_eq!(sandbox.slop(&["link", "add", "../other", "--name", "lib"]).code, 0);
    check(["a", "c", "b"], &["a", "c", "b", "d"]);
}

/// A git that is killed when it is queried about the checkout `lib`, until `mend` is called.
struct MortalGit<'s> {
    sandbox: &'s Sandbox,
    path: String,
}

impl<'s> MortalGit<'s> {
    fn killed_at(sandbox: &'s Sandbox, argument: &str) -> Self {
        let (tools, fails) = (sandbox.outside("tools"), sandbox.outside("fails"));
        let path = std::env::var("PATH").unwrap();
        let fail = format!(
            "[ -e '{}' ] && case \"$PWD $*\" in */lib*{argument}*) kill -9 $$;; esac",
            fails.display()
        );
        write(&tools.join("git"), &format!("#!/bin/sh\n{fail}\nPATH='{path}' exec git \"$@\"\n"));
        fs::set_permissions(tools.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
        write(&fails, "");
        Self { sandbox, path: format!("{}:{path}", tools.display()) }
    }

    fn daemon(&self) -> TestDaemon<'s> {
        TestDaemon::start_in(self.sandbox, &[("PATH", &self.path)])
    }

    fn mend(&self) {
        fs::remove_file(self.sandbox.outside("fails")).unwrap();
    }
}

/// Returns the files of the linked checkout in a document's order, and the notes.
fn shown_in_lib(sandbox: &Sandbox) -> (Vec<String>, String) {
    let ran = sandbox.slop(&["aggregate", "--strategy", "full", "--budget", "none", "--stdout"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let in_lib = shown_paths(&ran.out).into_iter().filter(|path| path.starts_with("@lib/"));
    (in_lib.collect(), ran.err)
}

#[test]
fn a_daemon_retries_git_for_the_history_of_a_linked_checkout() {
    let sandbox = with_histories();
    write(&sandbox.outside("lib/a.py"), "def a():\n    return 1\n");
    let git = MortalGit::killed_at(&sandbox, "--is-shallow-repository");
    let daemon = git.daemon();
    let (order, notes) = shown_in_lib(&sandbox);
    assert_eq!(order, ["@lib/a.py", "@lib/b.py", "@lib/c.py"]);
    assert!(notes.contains("note: git did not answer in ") && notes.contains("killed"), "{notes}");
    git.mend();
    let expected = ["@lib/b.py", "@lib/c.py", "@lib/a.py"].map(str::to_owned).to_vec();
    assert_eq!(shown_in_lib(&sandbox), (expected, String::new()));
    drop(daemon);
}

#[test]
fn a_daemon_retries_git_for_the_files_of_a_linked_checkout() {
    let sandbox = with_histories();
    let lib = sandbox.outside("lib");
    // Git lists the tracked files; a walk leaves out ignored ones.
    write(&lib.join(".gitignore"), "b.py\n");
    let git = MortalGit::killed_at(&sandbox, "ls-files");
    let daemon = git.daemon();
    let (walked, notes) = shown_in_lib(&sandbox);
    assert!(
        !walked.contains(&"@lib/b.py".to_owned()) && walked.contains(&"@lib/c.py".to_owned()),
        "{walked:?}"
    );
    assert!(notes.contains("note: @lib: the tree was walked"), "{notes}");
    git.mend();
    let (listed, notes) = shown_in_lib(&sandbox);
    assert!(listed.contains(&"@lib/b.py".to_owned()) && notes.is_empty(), "{listed:?} {notes}");
    drop(daemon);
}

#[test]
fn a_linked_checkout_has_its_own_order_if_the_project_is_not_in_a_repository() {
    let sandbox = with_histories();
    fs::remove_dir_all(sandbox.path(".git")).unwrap();
    write(&sandbox.outside("lib/a.py"), "def a():\n    return 1\n");
    let document = sandbox.stdout_of(&["aggregate", "--strategy", "full", "--budget", "none", "--stdout"]);
    let expected = ["a.py", "b.py", "c.py", "@lib/b.py", "@lib/c.py", "@lib/a.py"];
    assert_eq!(shown_paths(&document)[..6], expected);
}

#[test]
fn the_part_that_is_packed_first_follows_the_history_of_each_checkout() {
    let sandbox = with_histories();
    let lib = sandbox.outside("lib");
    write(&lib.join("a.py"), "def a():\n    return 1\n");
    sandbox.git_in(&lib, &["commit", "-qam", "second"]);
    let limited = || {
        let document = sandbox.stdout_of(&["aggregate", "--tier", "3", "--budget", "3000", "--stdout"]);
        let (kept, changed) = document.split_once("\n## Changed lately").expect("something has changed");
        (shown_paths(kept), kept.to_owned(), changed.to_owned())
    };
    let (paths, ..) = limited();
    assert_eq!(paths, ["a.py", "b.py", "c.py", "@lib/b.py", "@lib/c.py"]);
    write(&lib.join("b.py"), "def b():\n    return 2\n");
    let (paths, kept, changed) = limited();
    assert_eq!(paths, ["a.py", "b.py", "c.py", "@lib/c.py"]);
    assert!(changed.contains("### @lib/a.py") && changed.contains("return 2"), "{changed}");
    // Another edit of a changed file leaves the first part of the document as it is.
    write(&lib.join("b.py"), "def b():\n    return 3\n");
    let (_, after, changed) = limited();
    assert!(after == kept && changed.contains("return 3"), "{changed}");
}

#[test]
fn files_of_a_linked_folder_are_files_of_the_project() {
    let sandbox = with_lib();
    write(&sandbox.outside("lib/copy.py"), "def keep():\n    pass\n");
    write(&sandbox.outside("lib/.gitignore"), "ignored.py\n");
    write(&sandbox.outside("lib/ignored.py"), CANARY);
    write(&sandbox.outside("lib/config/id_rsa"), CANARY);
    write(&sandbox.outside("lib/slop.toml"), "[[resources]]\nname = \"x\"\npath = \"../home\"\nbroken");
    assert_eq!(sandbox.slop(&["link", "add", "../lib"]).code, 0);
    let mode = fs::metadata(sandbox.outside("config/slop/links.toml")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let index = sandbox.json(&["index"]);
    // One of two equal files is parsed.
    assert_eq!((index["files"].as_u64(), index["parsed"].as_u64()), (Some(3), Some(2)));
    sandbox.slop(&["view", "@lib/slop.toml"]).assert_fails(1, &["the settings of slop"]);
    let view = sandbox.slop(&["view", "@lib/src/part.py", "--bare"]);
    assert!(view.out.contains("def helper(a):"), "{}", view.err);
    assert!(sandbox.slop(&["symbol", "helper"]).out.contains("@lib/src/part.py:1"));
    sandbox.write("slop.toml", "[secrets]\nallow = [\"config/*\"]\n");
    let document = sandbox.slop(&["aggregate", "--tier", "3", "--focus", "@lib/src/part.py", "--stdout"]);
    assert_eq!(document.code, 0);
    let (own, linked) = (document.out.find("### zoo.py"), document.out.find("### @lib/copy.py"));
    assert!(own.is_some() && linked.is_some() && own < linked, "{}", document.out);
    assert!(!document.out.contains(CANARY));

    // While the folder is missing, the rest works; when it is back, nothing is derived again.
    fs::rename(sandbox.outside("lib"), sandbox.outside("away")).unwrap();
    let gone = sandbox.slop(&["index", "--json"]);
    assert!(gone.code == 4 && gone.out.contains("\"resource_gone\":"), "{}", gone.out);
    let view = sandbox.slop(&["view", "@lib/src/part.py"]);
    assert!(view.err.contains("@lib/src/part.py: resource gone"), "{}", view.err);
    fs::rename(sandbox.outside("away"), sandbox.outside("lib")).unwrap();
    let back = sandbox.json(&["index"]);
    assert_eq!((back["hashed"].as_u64(), back["parsed"].as_u64()), (Some(0), Some(0)));

    write(&sandbox.outside("lib/src/part.py"), "def helper_now(a):\n    return a\n");
    assert!(sandbox.slop(&["view", "@lib/src/part.py", "--bare"]).out.contains("helper_now"));
    assert!(!sandbox.outside("lib/.slop_cache").exists());
    assert_eq!(sandbox.slop(&["link", "remove", "lib"]).code, 0);
    assert!(!sandbox.slop(&["status", "--all"]).out.contains("@lib"));
}

#[test]
fn a_linked_checkout_has_its_own_history() {
    let sandbox = Sandbox::repo();
    sandbox.write("own.py", "def own():\n    return 1\n");
    sandbox.commit_all("first");
    let lib = sandbox.outside("lib");
    write(&lib.join("a_quiet.py"), "def quiet():\n    return 1\n");
    write(&lib.join("gone.py"), "def gone():\n    return 1\n");
    repository(&sandbox, "lib", "busy");
    for round in 0..5 {
        write(&lib.join("part.py"), &format!("def busy():\n    return {round}\n"));
        sandbox.git_in(&lib, &["commit", "-qam", "Round the widget"]);
    }
    write(&sandbox.outside("notes/note.py"), "def note():\n    return 1\n");
    for folder in ["../lib", "../notes"] {
        assert_eq!(sandbox.slop(&["link", "add", folder]).code, 0);
    }
    // The history ranks the files.
    let score = |path: &str| {
        let places = sandbox.json_lines(&["fragments"]);
        let place = places.iter().find(|place| place["path"] == path).unwrap();
        (place["relevance_score"].as_f64().unwrap() * 1000.0).round()
    };
    let hydrate = || sandbox.json(&["hydrate"]);
    hydrate();
    assert!(score("@lib/a_quiet.py") < score("@lib/part.py"));
    let why = |path: &str| sandbox.stdout_of(&["explain", path]);
    assert!(why("@lib/part.py").contains(", by commits of @lib"), "{}", why("@lib/part.py"));
    assert!(!why("own.py").contains(", by commits of"), "{}", why("own.py"));
    assert!(score("@notes/note.py") < score("@lib/a_quiet.py"));
    let found = sandbox.json(&["search", "round widget"]);
    assert_eq!(found["hits"][0]["path"], "@lib/part.py", "{found}");
    // A commit there changes the places.
    for round in 0..9 {
        write(&lib.join("a_quiet.py"), &format!("def quiet():\n    return {round}\n"));
        sandbox.git_in(&lib, &["commit", "-qam", "Turn"]);
    }
    hydrate();
    assert!(score("@lib/part.py") < score("@lib/a_quiet.py"));
    assert_eq!(sandbox.stdout_of(&["impact", "--diff", "HEAD"]), "");

    // Diffs are based on it alone.
    write(&lib.join("part.py"), "def busy():\n    return 100\n");
    fs::remove_file(lib.join("gone.py")).unwrap();
    let diff = sandbox.stdout_of(&["view", "@lib/part.py", "--mode", "diff", "--bare"]);
    assert!(diff.contains("-    return 4\n+    return 100") && !diff.contains("+def busy"), "{diff}");
    let all = sandbox.stdout_of(&["view", ".", "--mode", "diff", "--bare"]);
    assert!(all.contains("+    return 100") && all.contains("-def gone():"), "{all}");
    assert!(!all.contains("a_quiet") && !all.contains("+def note"), "{all}");
    let data = sandbox.json(&["impact", "--diff", "HEAD"]).to_string();
    assert!(data.contains("busy") && data.contains("gone"), "{data}");
    assert!(!data.contains("quiet") && !data.contains("note"), "{data}");
    // A revision name is resolved in each checkout.
    sandbox.git(&["tag", "v1"]);
    sandbox.git_in(&lib, &["tag", "v1", "HEAD~12"]);
    let earlier = sandbox.stdout_of(&["view", "@lib/part.py", "--mode", "diff", "--base", "v1", "--bare"]);
    assert!(earlier.contains("-    return 1\n+    return 100"), "{earlier}");

    // A revision that the checkout does not have is an error for its files, and the project's own files are shown.
    sandbox.git(&["tag", "only-here"]);
    let ran = sandbox.slop(&["view", "@lib/part.py", "--mode", "diff", "--base", "only-here"]);
    assert!(ran.out.contains("its linked folder has no revision only-here"), "{ran:?}");
    let data = sandbox.json(&["impact", "--diff", "only-here"]).to_string();
    assert!(!data.contains("busy"), "{data}");
}

#[test]
fn a_project_reaches_no_folder_outside_without_consent() {
    let sandbox = with_lib();
    write(&sandbox.outside("lib/canary.py"), &format!("{CANARY} = 1\n"));
    write(&sandbox.outside("home/.ssh/canary.py"), &format!("{CANARY} = 2\n"));
    symlink(sandbox.outside("home/.ssh"), sandbox.path("way")).unwrap();
    let absolute = sandbox.outside("lib").canonicalize().unwrap();
    let proposals = [("a", "../lib"), ("b", absolute.to_str().unwrap()), ("c", "way"), ("d", "../home/.ssh")];
    let text = |(name, path)| format!("[[resources]]\nname = \"{name}\"\npath = \"{path}\"\n");
    sandbox.write("slop.toml", proposals.map(text).concat());
    for arguments in [
        &["aggregate", "--tier", "3", "--budget", "none", "--stdout"][..],
        &["view", "@a/canary.py"],
        &["view", "@c/canary.py"],
        &["symbol", CANARY],
        &["link", "trust", "a"],
        &["link", "trust", "c", "--yes"],
    ] {
        let ran = sandbox.slop(arguments);
        assert!(!ran.out.contains(CANARY) && !ran.err.contains(&format!("{CANARY} =")), "{arguments:?}");
    }
    let note = "slop.toml proposes @a = ../lib; 'slop link trust' shows what that is";
    assert!(sandbox.slop(&["index"]).err.contains(note));
    let trusted = sandbox.slop(&["link", "trust", "a", "--yes"]);
    assert!(trusted.code == 0 && trusted.err.contains("2 files"), "{}", trusted.err);
    assert!(sandbox.slop(&["view", "@a/canary.py"]).out.contains(CANARY));

    // Another folder in its place needs consent again.
    fs::rename(sandbox.outside("lib"), sandbox.outside("kept")).unwrap();
    write(&sandbox.outside("lib/canary.py"), &format!("other_{CANARY} = 1\n"));
    let other = sandbox.slop(&["view", "@a/canary.py"]);
    assert!(other.code != 0 && !other.out.contains(CANARY) && other.err.contains(note), "{}", other.err);
}

#[test]
fn all_checkouts_within_a_project_are_linked_by_one_command() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def own():\n    pass\n");
    let other = sandbox.outside("other");
    write(&other.join("part.py"), "def part():\n    pass\n");
    sandbox.git_in(&other, &["init", "-q"]);
    sandbox.git_in(&other, &["add", "."]);
    sandbox.git_in(&other, &["commit", "-qm", "first"]);
    let other = other.to_str().unwrap().to_owned();
    for folder in ["vendor/part", "vendor/away"] {
        sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &other, folder]);
    }
    sandbox.commit_all("second");
    sandbox.git(&["submodule", "--quiet", "deinit", "-f", "vendor/away"]);
    sandbox.git(&["clone", "-q", &other, "tools/Part"]);
    assert!(sandbox.slop(&["symbol", "part"]).code != 0);
    let added = sandbox.slop(&["link", "add", "--submodules"]);
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.err.contains("vendor/away is not linked: it is not checked out"), "{added:?}");
    let root = sandbox.root().canonicalize().unwrap();
    let expected = format!("@part = {0}/tools/Part\n@part-2 = {0}/vendor/part\n", root.display());
    assert_eq!(added.out, expected);
    let found = sandbox.slop(&["symbol", "part"]).out;
    assert!(found.contains("@part/part.py:1") && found.contains("@part-2/part.py:1"), "{found}");
    // A second run links nothing twice, and adds a submodule that was checked out in between.
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"]);
    let again = sandbox.json(&["link", "add", "--submodules"]);
    assert_eq!(again["added"].as_array().unwrap().len(), 1, "{again}");
    assert_eq!(again["added"][0]["name"], "away");
    let none = sandbox.slop(&["link", "add", "--submodules"]);
    assert_eq!((none.code, &*none.out), (0, ""));
    assert!(none.err.contains("all checkouts within the project are linked"), "{none:?}");
    assert_eq!(sandbox.slop(&["link", "add"]).code, 2);
}

#[test]
fn a_symbolic_link_instead_of_a_submodule_and_a_worktree_of_the_project_are_not_linked() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def own():\n    pass\n");
    sandbox.commit_all("first");
    for folder in ["private", "shelf/private"] {
        let private = sandbox.outside(folder);
        write(&private.join("part.py"), &format!("def {CANARY}():\n    pass\n"));
        sandbox.git_in(&private, &["init", "-q"]);
        sandbox.git_in(&private, &["add", "."]);
        sandbox.git_in(&private, &["commit", "-qm", "first"]);
    }
    // The link is at the submodule itself, and at a folder above it.
    let commit = String::from_utf8(sandbox.git(&["rev-parse", "HEAD"])).unwrap();
    for path in ["here", "above/private"] {
        sandbox.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},{path}", commit.trim())]);
    }
    sandbox.git(&["commit", "-qm", "hostile"]);
    symlink(sandbox.outside("private"), sandbox.path("here")).unwrap();
    symlink(sandbox.outside("shelf"), sandbox.path("above")).unwrap();
    sandbox.git(&["worktree", "add", "-q", "trees/one"]);
    let added = sandbox.json(&["link", "add", "--submodules"]);
    assert_eq!(added["added"].as_array().map(Vec::len), Some(0), "{added}");
    let left_out = added["left_out"].to_string();
    assert!(
        left_out.contains(r#"{"path":"here","reason":"it is a symbolic link, or behind one"}"#),
        "{added}"
    );
    assert!(left_out.contains(r#"{"path":"above/private","reason":"it is a symbolic link"#), "{added}");
    assert!(
        left_out.contains(r#"{"path":"trees/one","reason":"it is a worktree of the project's own"#),
        "{added}"
    );
    assert_eq!(sandbox.json(&["link", "list"])["links"].as_array().map(Vec::len), Some(0));
    assert!(!sandbox.slop(&["symbol", CANARY]).out.contains(".py"));
    assert_eq!(sandbox.slop(&["symbol", "own"]).out.matches("a.py").count(), 1);
}

#[test]
fn submodules_of_submodules_are_linked_in_one_run() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def own():\n    pass\n");
    let inner = repository(&sandbox, "inner", "deepest");
    let outer = repository(&sandbox, "outer", "between");
    let add = ["-c", "protocol.file.allow=always", "submodule", "--quiet", "add"];
    let outer_folder = sandbox.outside("outer");
    sandbox.git_in(&outer_folder, &[&add[..], &[&*inner, "deps/inner"]].concat());
    sandbox.git_in(&outer_folder, &["commit", "-qam", "second"]);
    sandbox.git(&[&add[..], &[&*outer, "vendor/outer"]].concat());
    let first = sandbox.json(&["link", "add", "--submodules"]);
    assert_eq!(texts(&first["added"], "name"), ["outer"]);
    assert_eq!(first["left_out"][0]["path"], "vendor/outer/deps/inner");
    // A submodule that is checked out later is found within the linked one.
    let update =
        ["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init", "--recursive"];
    sandbox.git(&update);
    assert_eq!(texts(&sandbox.json(&["link", "add", "--submodules"])["added"], "name"), ["inner"]);
    for name in ["inner", "outer"] {
        assert_eq!(sandbox.slop(&["link", "remove", name]).code, 0);
    }
    let both = sandbox.json(&["link", "add", "--submodules"]);
    assert_eq!(
        (texts(&both["added"], "name"), &both["left_out"]),
        (vec!["outer".into(), "inner".into()], &json!([]))
    );
    assert_eq!(sandbox.json(&["link", "list"])["links"][0]["state"], "linked");
    // Each file has one name, by whichever path it is named.
    assert_eq!(sandbox.slop(&["symbol", "deepest"]).out.matches("part.py:1").count(), 1);
    let status = sandbox.slop(&["status", "--all"]).out;
    assert!(status.contains("@inner/part.py") && !status.contains("deps/inner"), "{status}");
    let path = sandbox.root().join("vendor/outer/deps/inner/part.py");
    assert!(sandbox.slop(&["view", path.to_str().unwrap()]).out.contains("@inner/part.py"));
    // A linked folder may only contain separate checkouts.
    fs::create_dir(sandbox.path("vendor/outer/plain")).unwrap();
    let plain = sandbox.slop(&["link", "add", "vendor/outer/plain"]);
    assert!(plain.code != 0 && plain.err.contains("cannot be linked"), "{plain:?}");
}

#[test]
fn a_request_lists_links_and_changes_none() {
    let sandbox = with_lib();
    sandbox.write("slop.toml", "[[resources]]\nname = \"other\"\npath = \"../config\"\n");
    assert_eq!(sandbox.slop(&["link", "add", "../lib"]).code, 0);
    let alone = sandbox.json(&["link", "list"]);
    let daemon = TestDaemon::start(&sandbox);
    let (code, listed) = daemon.connect().exchange("GET", "/v1/links", None).unwrap();
    assert_eq!((code, &listed["data"]), (200, &alone));
    assert_eq!(texts(&listed["data"]["links"], "state"), ["linked", "refused"]);
    let links = fs::read(sandbox.outside("config/slop/links.toml")).unwrap();
    for body in [json!({"add": "../home"}), json!({"remove": "lib"}), json!({"trust": ["other"]})] {
        assert_eq!(daemon.connect().try_query("/v1/links", &body).0, 400, "{body}");
    }
    for route in ["/v1/links/add", "/v1/links/trust", "/v1/links/remove", "/v1/links/edit"] {
        assert_eq!(daemon.connect().try_query(route, &json!({})).0, 404, "{route}");
    }
    assert_eq!(fs::read(sandbox.outside("config/slop/links.toml")).unwrap(), links);
}

#[test]
fn a_daemon_watches_linked_folders() {
    let sandbox = with_lib();
    let other = repository(&sandbox, "other", "between");
    write(&sandbox.outside("other/.gitignore"), "ignored/\n");
    for folder in ["../lib", "../other"] {
        assert_eq!(sandbox.slop(&["link", "add", folder]).code, 0);
    }
    let daemon = TestDaemon::start(&sandbox);
    let clock = || number(&daemon.status()["sequence"]);
    // The first refresh has found all files, and everything that it depends on is watched.
    wait_until("the project is indexed", || 0 < clock() && daemon.status()["pending"] == 0);
    if daemon.status()["mode"] != "events" {
        report_skipped("no events come from this file system");
        return;
    }
    assert_eq!(daemon.status()["unwatched_links"], json!({}));
    // No query is sent: writes are noticed only through their events.
    let is_refreshed = |change: &dyn Fn()| {
        let before = clock();
        change();
        wait_until("the daemon has refreshed a linked folder", || before < clock());
    };
    is_refreshed(&|| write(&sandbox.outside("lib/src/part.py"), "def edited():\n    pass\n"));
    is_refreshed(&|| write(&sandbox.outside("lib/new/deep/file.py"), "def deep():\n    pass\n"));
    is_refreshed(&|| write(&sandbox.outside("other/new.py"), "def another():\n    pass\n"));
    let (lib, away) = (sandbox.outside("lib"), sandbox.outside("away"));
    is_refreshed(&|| fs::rename(&lib, &away).unwrap());
    let gone = sandbox.slop(&["symbol", "deep"]);
    assert!(!gone.out.contains("@lib"), "{gone:?}");
    is_refreshed(&|| fs::rename(&away, &lib).unwrap());
    is_refreshed(&|| write(&sandbox.outside("lib/new/deep/file.py"), "def deeper():\n    pass\n"));
    let found = sandbox.slop(&["symbol", "deeper"]);
    assert!(found.out.contains("@lib/new/deep/file.py:1"), "{found:?}");

    // A folder that is no longer linked is no longer watched.
    assert_eq!(sandbox.slop(&["link", "remove", "other"]).code, 0);
    let root = || json!({"files": ["zoo.py"], "mode": "full"});
    daemon.query("/v1/view", &root());
    wait_until("no event comes from a folder that is no longer linked", || {
        let before = number(&daemon.status()["events"]);
        fs::write(Path::new(&other).join("new.py"), CANARY).unwrap();
        // The answer waits for all earlier events.
        daemon.query("/v1/view", &root());
        number(&daemon.status()["events"]) == before
    });
    assert_eq!(number(&daemon.status()["missed"]), 0);
    daemon.assert_audit_is_clean();
}
