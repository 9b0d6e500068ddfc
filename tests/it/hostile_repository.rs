//! Repositories that came from elsewhere: what their settings name is not run.

use std::fs;

use super::sandbox::Sandbox;

/// A partial clone without the contents of its only file, whose settings name a program that fetches them.
fn partial_clone_with_a_program() -> Sandbox {
    let sandbox = Sandbox::repo();
    for (message, text) in [("one", "def f():\n    return 1\n"), ("two", "def f():\n    return 2\n")] {
        sandbox.write("a.py", text);
        sandbox.commit_all(message);
    }
    for revision in ["HEAD~1:a.py", "HEAD:a.py"] {
        let name = String::from_utf8(sandbox.git(&["rev-parse", revision])).unwrap();
        let (folder, file) = name.trim().split_at(2);
        fs::remove_file(sandbox.path(format!(".git/objects/{folder}/{file}"))).unwrap();
    }
    let program = format!("touch '{}'; false", sandbox.path(".git/ran").display());
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", sandbox.root().to_str().unwrap()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadpack", &program),
        ("protocol.allow", "always"),
        ("protocol.file.allow", "always"),
    ] {
        sandbox.git(&["config", key, value]);
    }
    sandbox
}

#[test]
fn no_question_makes_git_fetch_what_a_partial_clone_lacks() {
    let sandbox = partial_clone_with_a_program();
    for (arguments, code) in [
        (&["aggregate", "--tier", "2", "--budget", "300", "--stdout"][..], 0),
        (&["aggregate", "--tier", "3", "--task", "change f", "--stdout"], 0),
        (&["view", "--mode", "diff", "a.py"], 0),
        (&["cache-replay", "HEAD~1..HEAD"], 1),
    ] {
        let ran = sandbox.slop(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
        assert!(!sandbox.path(".git/ran").exists(), "{arguments:?} ran a program that the repository names");
    }
    // The repository does what it is made for: git itself would run the program.
    let diff = sandbox.script("git diff HEAD~1 HEAD");
    super::sandbox::run(diff);
    assert!(sandbox.path(".git/ran").exists());
}
