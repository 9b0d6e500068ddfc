//! Linked folders: what a user sees of them, and what a hostile project cannot have.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use crate::sandbox::Sandbox;

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
    // Of two equal files one is parsed.
    assert_eq!((index["files"].as_u64(), index["parsed"].as_u64()), (Some(4), Some(3)));
    let view = sandbox.slop(&["view", "@lib/src/part.py", "--bare"]);
    assert!(view.out.contains("def helper(a):"), "{}", view.err);
    assert!(sandbox.slop(&["symbol", "helper"]).out.contains("@lib/src/part.py:1"));
    sandbox.write("slop.toml", "[secrets]\nallow = [\"config/*\"]\n");
    let document = sandbox.slop(&["aggregate", "--tier", "3", "--focus", "@lib/src/part.py", "--stdout"]);
    assert_eq!(document.code, 0);
    let (own, linked) = (document.out.find("### zoo.py"), document.out.find("### @lib/copy.py"));
    assert!(own.is_some() && linked.is_some() && own < linked, "{}", document.out);
    assert!(!document.out.contains(CANARY));

    // Gone: the rest goes on. Back again: nothing is derived anew.
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

    // Another folder in its place is asked for again.
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
    // Again: nothing is linked twice, and one that is checked out meanwhile is added.
    sandbox.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"]);
    let again = sandbox.json(&["link", "add", "--submodules"]);
    assert_eq!(again["added"].as_array().unwrap().len(), 1, "{again}");
    assert_eq!(again["added"][0]["name"], "away");
    let none = sandbox.slop(&["link", "add", "--submodules"]);
    assert_eq!((none.code, &*none.out), (0, ""));
    assert!(none.err.contains("no checkout within the project that is not linked"), "{none:?}");
    assert_eq!(sandbox.slop(&["link", "add"]).code, 2);
}

#[test]
fn a_link_in_the_place_of_a_submodule_and_an_own_worktree_are_not_linked() {
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
    assert!(left_out.contains("here is not linked: it is a symbolic link, or behind one"), "{added}");
    assert!(left_out.contains("trees/one is not linked: it is a worktree of the project's own"), "{added}");
    assert_eq!(sandbox.json(&["link", "list"])["links"].as_array().map(Vec::len), Some(0));
    assert!(!sandbox.slop(&["symbol", CANARY]).out.contains(".py"));
    assert_eq!(sandbox.slop(&["symbol", "own"]).out.matches("a.py").count(), 1);
}
