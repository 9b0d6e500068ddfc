//! Which files are listed, compared with git; and languages that a build may lack.

use std::fs;

use super::sandbox::Sandbox;

/// Checks slop's listing against git's and returns the files with their states.
#[track_caller]
fn check_against_git(sandbox: &Sandbox) -> Vec<(String, String)> {
    let listed = sandbox.git(&["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
    let mut listed: Vec<String> = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty())
        .map(|path| String::from_utf8(path.to_vec()).unwrap().trim_end_matches('/').to_owned())
        .collect();
    listed.sort();
    listed.dedup();
    let status = sandbox.status();
    let ours: Vec<&String> = status.iter().map(|(path, _)| path).collect();
    assert_eq!(ours, listed.iter().collect::<Vec<_>>());
    status
}

#[track_caller]
fn state<'a>(status: &'a [(String, String)], path: &str) -> &'a str {
    let found = status.iter().find(|(listed, _)| listed == path);
    &found.unwrap_or_else(|| panic!("{path} is not listed")).1
}

/// Returns a project with contradicting ignore files in three folders.
fn project_with_ignore_files() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write(".gitignore", "*.log\nbuild/\n/root_only\n!keep.log\n**/deep/*.tmp\n");
    sandbox.write("sub/.gitignore", "!*.log\n*.md\n");
    sandbox.write("sub/deep/.gitignore", "*\n!*.py\n!.gitignore\n");
    for file in ["a.py", "x.log", "keep.log", "build/b.py", "root_only", "sub/root_only"] {
        sandbox.write(file, "x\n");
    }
    for file in
        ["sub/y.log", "sub/z.md", "sub/deep/c.py", "sub/deep/c.txt", "o/deep/a.tmp", ".hidden", ".d/e"]
    {
        sandbox.write(file, "x\n");
    }
    sandbox
}

#[test]
fn nested_ignore_files_and_negations_work_as_in_git() {
    let sandbox = project_with_ignore_files();
    let status = check_against_git(&sandbox);
    assert!(status.iter().any(|(path, _)| path == "sub/y.log"));
    assert!(status.iter().any(|(path, _)| path == ".hidden"));
    assert!(!status.iter().any(|(path, _)| path == "build/b.py"));
}

#[test]
fn a_tracked_file_that_an_ignore_rule_matches_is_listed() {
    let sandbox = project_with_ignore_files();
    sandbox.git(&["add", "-f", "x.log", "build/b.py"]);
    sandbox.commit_all("first");
    let status = check_against_git(&sandbox);
    assert_eq!(state(&status, "build/b.py"), "new");
}

#[test]
fn ignore_rules_outside_of_the_tree_apply() {
    let sandbox = project_with_ignore_files();
    fs::create_dir_all(sandbox.path(".git/info")).unwrap();
    fs::write(sandbox.path(".git/info/exclude"), "a.py\n").unwrap();
    fs::write(sandbox.outside("excludes"), "*.log\n").unwrap();
    let excludes = sandbox.outside("excludes");
    sandbox.git(&["config", "core.excludesFile", excludes.to_str().unwrap()]);
    let status = check_against_git(&sandbox);
    assert!(!status.iter().any(|(path, _)| path == "a.py"));
}

#[test]
fn submodules_and_nested_repositories_are_listed_but_not_entered() {
    let sandbox = project_with_ignore_files();
    let other = sandbox.outside("other");
    fs::create_dir(&other).unwrap();
    sandbox.git_in(&other, &["init", "-q"]);
    fs::write(other.join("inner.py"), "x = 1\n").unwrap();
    sandbox.git_in(&other, &["add", "-A"]);
    sandbox.git_in(&other, &["commit", "-q", "-m", "inner"]);
    sandbox.git(&["submodule", "--quiet", "add", other.to_str().unwrap(), "vendor/sub"]);
    let nested = sandbox.path("nested");
    sandbox.git(&["clone", "-q", other.to_str().unwrap(), nested.to_str().unwrap()]);
    let status = check_against_git(&sandbox);
    assert_eq!(state(&status, "vendor/sub"), "submodule");
    assert_eq!(state(&status, "nested"), "nested_repository");
    sandbox.slop(&["view", "vendor/sub"]).assert_fails(1, &["vendor/sub", "a project of its own"]);
}

#[test]
fn a_worktree_and_a_folder_below_a_repository_list_their_own_files() {
    let sandbox = project_with_ignore_files();
    sandbox.commit_all("first");
    let worktree = sandbox.outside("worktree");
    sandbox.git(&["worktree", "add", "-q", worktree.to_str().unwrap()]);
    fs::write(worktree.join("only_here.py"), "x = 1\n").unwrap();
    let flag = worktree.to_str().unwrap();
    let said = sandbox.stdout_of(&["status", "--all", "--project", flag]);
    assert!(said.contains("only_here.py") && said.contains("sub/y.log"), "{said}");
    assert!(!sandbox.stdout_of(&["status", "--all"]).contains("only_here.py"));
    let below = sandbox.stdout_of(&["status", "--all", "--project", "sub"]);
    assert!(below.contains(" y.log") && !below.contains("a.py"), "{below}");
}

#[test]
fn files_outside_of_a_sparse_checkout_are_not_files_of_the_project() {
    let sandbox = Sandbox::repo();
    for file in ["lib/a.py", "docs/b.md", "docs/c.md"] {
        sandbox.write(file, "x = 1\n");
    }
    sandbox.commit_all("first");
    sandbox.git(&["sparse-checkout", "set", "lib"]);
    let paths = || -> Vec<String> { sandbox.status().into_iter().map(|(path, _)| path).collect() };
    assert_eq!(paths(), ["lib/a.py"]);
    // Such a file counts if it exists anyway, and the loss of an expected file counts too.
    sandbox.write("docs/c.md", "here\n");
    assert_eq!(paths(), ["docs/c.md", "lib/a.py"]);
    fs::remove_file(sandbox.path("lib/a.py")).unwrap();
    assert_eq!(state(&sandbox.status(), "lib/a.py"), "vanished");
}

#[test]
fn a_merge_with_conflicts_lists_each_file_once() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 0\n");
    sandbox.commit_all("first");
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    sandbox.write("a.py", "x = 1\n");
    sandbox.commit_all("theirs");
    sandbox.git(&["checkout", "-q", "main"]);
    sandbox.write("a.py", "x = 2\n");
    sandbox.commit_all("ours");
    sandbox.git(&["read-tree", "-m", "HEAD~1", "HEAD", "other"]);
    assert_eq!(String::from_utf8(sandbox.git(&["ls-files", "-u"])).unwrap().lines().count(), 3);
    let status = check_against_git(&sandbox);
    assert_eq!(status.len(), 1);
    assert_eq!(sandbox.json(&["index"])["files"], 1);
}

#[test]
fn outside_of_git_ignore_files_apply_and_hidden_files_are_skipped_and_hidden_folders_listed() {
    let sandbox = Sandbox::new();
    sandbox.write(".gitignore", "*.log\n");
    sandbox.write(".ignore", "*.bak\n");
    sandbox.write("sub/.slopignore", "private.py\n!wanted.log\n");
    for file in ["a.py", "a.log", "a.bak", ".hidden.py", ".git_like/x.py", "sub/private.py", "sub/wanted.log"]
    {
        sandbox.write(file, "x = 1\n");
    }
    let status = sandbox.status();
    let paths: Vec<&str> = status.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, [".git_like", "a.py", "sub/wanted.log"]);
    assert_eq!(state(&status, ".git_like"), "hidden_folder");
    assert_eq!(sandbox.json(&["index"])["files"], 2);
}

#[test]
fn the_cache_and_the_output_folder_are_never_listed() {
    for sandbox in [Sandbox::new(), Sandbox::repo()] {
        sandbox.write("a.py", "x = 1\n");
        sandbox.write("slop.toml", "[project]\noutput_dir = \"out/contexts\"\n");
        for _ in 0..2 {
            sandbox.stdout_of(&["aggregate", "--tier", "1"]);
        }
        sandbox.write("out/other.py", "y = 1\n");
        let paths: Vec<String> = sandbox.status().into_iter().map(|(path, _)| path).collect();
        assert_eq!(paths, ["a.py", "out/other.py", "slop.toml"]);
        sandbox.slop(&["view", "out/contexts/project_001.md"]).assert_fails(1, &["not part of the project"]);
        sandbox.slop(&["view", ".slop_cache/index.db"]).assert_fails(1, &["not part of the project"]);
    }
}

#[test]
fn a_project_without_files_works() {
    for sandbox in [Sandbox::new(), Sandbox::repo()] {
        assert_eq!(sandbox.json(&["index"])["files"], 0);
        assert_eq!(sandbox.status(), []);
        assert_eq!(sandbox.stdout_of(&["aggregate", "--tier", "2", "--stdout"]), "## Files (Summary)\n");
    }
}

/// Runs only in builds without the optional grammars.
#[cfg(not(feature = "lang-swift"))]
#[test]
fn a_file_in_a_language_that_is_not_built_in_is_listed_with_a_note() {
    let sandbox = Sandbox::new();
    sandbox.write("a.swift", "/// Starts.\nfunc start() {}\n");
    sandbox.write("b.py", "def stop(): ...\n");
    assert_eq!(sandbox.json(&["index"])["files"], 2);
    let views = sandbox.json(&["view", "a.swift", "b.py", "--mode", "skeleton"]);
    assert_eq!((views[0]["path"].as_str(), views[0]["view"].as_str()), (Some("a.swift"), Some("summary")));
    assert_eq!(views[0]["why"], "no skeleton view: this slop was built without lang-swift");
    assert_eq!((views[1]["view"].as_str(), &views[1]["why"]), (Some("skeleton"), &serde_json::Value::Null));
    let full = sandbox.json(&["view", "a.swift", "--mode", "full"]);
    assert_eq!((full[0]["view"].as_str(), &full[0]["why"]), (Some("full"), &serde_json::Value::Null));
    sandbox
        .slop(&["outline", "a.swift"])
        .assert_fails(1, &["a.swift", "this slop was built without lang-swift"]);
}

#[test]
fn a_type_without_any_grammar_names_no_feature() {
    let sandbox = Sandbox::new();
    sandbox.write("a.pl", "sub start { 1 }\n");
    let views = sandbox.json(&["view", "a.pl", "--mode", "skeleton"]);
    assert_eq!(views[0]["why"], "no skeleton view for this type of file");
    sandbox.slop(&["outline", "a.pl"]).assert_fails(1, &["a.pl", "its type (Perl) has none"]);
}
