//! Linked worktrees of a repository: they share a cache, and no answer comes from another worktree.

use std::fs;

use super::sandbox::{Sandbox, data, number, run};

/// A repository with a worktree that has a different `a.py`; both are indexed.
fn repository_with_worktree() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def in_main():\n    return 1\n");
    sandbox.write("b.py", "def in_both():\n    return 1\n");
    sandbox.commit_all("one");
    let linked = sandbox.outside("linked");
    sandbox.git(&["worktree", "add", "-q", linked.to_str().unwrap()]);
    sandbox
}

#[test]
fn worktrees_share_a_cache_and_answers_come_from_the_right_worktree() {
    let sandbox = repository_with_worktree();
    let linked = sandbox.outside("linked");
    let in_linked = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.current_dir(&linked);
        run(command)
    };
    assert_eq!(sandbox.slop(&["index"]).code, 0);
    fs::write(linked.join("a.py"), "def in_linked():\n    return 2\n").unwrap();
    let first = data(&in_linked(&["index", "--json"]).out);
    // Only the new content was derived, and nothing is stored in the worktree.
    assert_eq!((number(&first["files"]), number(&first["parsed"])), (2, 1), "{first}");
    assert!(!linked.join(".slop_cache").exists());
    let second = data(&in_linked(&["index", "--json"]).out);
    assert_eq!((number(&second["hashed"]), number(&second["parsed"])), (0, 0), "{second}");
    for _ in 0..2 {
        let (main, own) = (sandbox.stdout_of(&["outline"]), in_linked(&["outline"]).out);
        assert!(main.contains("in_main") && !main.contains("in_linked"), "{main}");
        assert!(own.contains("in_linked") && !own.contains("in_main"), "{own}");
    }
    // Clearing the cache in one worktree reports what stays, and removes nothing of the other.
    let cleared = in_linked(&["cache", "clear"]);
    assert!(cleared.err.contains("other worktrees of the repository share the cache (1)"), "{cleared:?}");
    assert_eq!(number(&sandbox.json(&["index"])["hashed"]), 0);
    assert_eq!(number(&data(&in_linked(&["index", "--json"]).out)["parsed"]), 1);
    assert_eq!(number(&sandbox.json(&["cache", "status"])["linked_worktrees"]), 1);
    // The removal of a worktree is noticed.
    sandbox.git(&["worktree", "remove", "--force", linked.to_str().unwrap()]);
    assert_eq!(sandbox.slop(&["index"]).code, 0);
    assert_eq!(number(&sandbox.json(&["cache", "status"])["linked_worktrees"]), 0);
}

#[test]
fn a_git_file_unknown_to_its_repository_is_not_followed_to_a_cache() {
    let sandbox = repository_with_worktree();
    let hostile = sandbox.outside("hostile");
    fs::create_dir_all(&hostile).unwrap();
    fs::copy(sandbox.outside("linked").join(".git"), hostile.join(".git")).unwrap();
    fs::write(hostile.join("a.py"), "def hostile():\n    return 1\n").unwrap();
    let mut command = sandbox.command(&["index"]);
    command.current_dir(&hostile);
    let indexed = run(command);
    assert!(indexed.err.contains("this worktree has a cache of its own"), "{indexed:?}");
    assert!(hostile.join(".slop_cache/index.db").exists());
    assert!(!sandbox.path(".slop_cache").exists());
}

#[test]
fn clones_share_a_cache_where_the_user_lists_them() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def in_main():\n    return 1\n");
    sandbox.write("b.py", "def in_both():\n    return 1\n");
    sandbox.commit_all("one");
    let clone = sandbox.outside("clone");
    let root = sandbox.root().canonicalize().unwrap();
    let make_clone = || {
        sandbox.git(&["clone", "-q", root.to_str().unwrap(), clone.to_str().unwrap()]);
    };
    make_clone();
    let in_clone = |arguments: &[&str]| {
        let mut command = sandbox.command(arguments);
        command.current_dir(&clone);
        run(command)
    };
    let setting = format!("[trust]\nclones = [{root:?}, {clone:?}]\n");
    assert_eq!(number(&sandbox.json(&["index"])["parsed"]), 2);
    // A project cannot configure that itself.
    fs::write(clone.join("slop.toml"), &setting).unwrap();
    let own = in_clone(&["index", "--json"]);
    assert!(own.err.contains("trust.clones"), "{own:?}");
    assert!(clone.join(".slop_cache/index.db").exists());
    fs::remove_file(clone.join("slop.toml")).unwrap();
    fs::remove_dir_all(clone.join(".slop_cache")).unwrap();

    sandbox.write_user_settings(&setting);
    assert_eq!(number(&data(&in_clone(&["index", "--json"]).out)["parsed"]), 0);
    assert!(!clone.join(".slop_cache").exists());
    fs::write(clone.join("a.py"), "def in_clone():\n    return 2\n").unwrap();
    // A worktree of the clone shares it, too.
    let linked = sandbox.outside("of_clone");
    sandbox.git_in(&clone, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    let mut index = sandbox.command(&["index", "--json"]);
    index.current_dir(&linked);
    assert_eq!(number(&data(&run(index).out)["parsed"]), 0);
    for _ in 0..2 {
        let (main, own) = (sandbox.stdout_of(&["outline"]), in_clone(&["outline"]).out);
        assert!(main.contains("in_main") && !main.contains("in_clone"), "{main}");
        assert!(own.contains("in_clone") && !own.contains("in_main"), "{own}");
    }
    assert_eq!(number(&sandbox.json(&["index"])["hashed"]), 0);
    assert_eq!(number(&sandbox.json(&["cache", "status"])["linked_worktrees"]), 2);
    // Another clone in its place starts without the old one's artifacts.
    fs::remove_dir_all(&linked).unwrap();
    fs::remove_dir_all(&clone).unwrap();
    make_clone();
    assert!(in_clone(&["outline"]).out.contains("in_main"));
    assert_eq!(sandbox.slop(&["index"]).code, 0);
    assert_eq!(number(&sandbox.json(&["cache", "status"])["linked_worktrees"]), 1);
    fs::remove_dir_all(&clone).unwrap();
    assert_eq!(sandbox.slop(&["index"]).code, 0);
    assert_eq!(number(&sandbox.json(&["cache", "status"])["linked_worktrees"]), 0);
}
