//! Answers come from the files as they are now, and `slop audit` finds where an index differs.

use std::fs;
use std::fs::{File, FileTimes};
use std::time::{Duration, SystemTime};

use serde_json::json;

use super::sandbox::Sandbox;

/// The design asks for 200 correct answers in ten runs; these are three of them.
const RUNS: usize = 3;
const EDITS: usize = 20;

#[test]
fn twenty_quick_edits_of_the_same_size_are_all_detected() {
    let mut right = 0;
    for _ in 0..RUNS {
        let sandbox = Sandbox::repo();
        sandbox.write("a.py", "x = 0000\n");
        sandbox.stdout_of(&["index"]);
        for edit in 0..EDITS {
            let text = format!("x = {edit:04}\n");
            sandbox.write("a.py", &text);
            right += usize::from(sandbox.stdout_of(&["view", "a.py", "--bare"]) == text);
        }
    }
    assert_eq!(right, RUNS * EDITS);
}

/// Returns an indexed project with a file whose timestamps are old.
fn settled_project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def one():\n    return 1\n");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let file = File::options().write(true).open(sandbox.path("a.py")).unwrap();
    file.set_times(FileTimes::new().set_modified(long_ago)).unwrap();
    sandbox.stdout_of(&["index"]);
    sandbox
}

#[test]
fn an_edit_with_a_restored_mtime_is_detected() {
    let sandbox = settled_project();
    sandbox.edit_keeping_mtime("a.py", "def two():\n    return 2\n");
    assert!(sandbox.stdout_of(&["view", "a.py"]).contains("def two"));
    sandbox.edit_keeping_mtime("a.py", "def six():\n    return 6\n");
    assert!(sandbox.stdout_of(&["aggregate", "--tier", "2", "--stdout"]).contains("def six"));
}

#[test]
fn a_file_replaced_by_another_is_detected() {
    let sandbox = settled_project();
    let before = fs::metadata(sandbox.path("a.py")).unwrap().modified().unwrap();
    sandbox.write("new", "def two():\n    return 2\n");
    let file = File::options().write(true).open(sandbox.path("new")).unwrap();
    file.set_times(FileTimes::new().set_modified(before)).unwrap();
    fs::rename(sandbox.path("new"), sandbox.path("a.py")).unwrap();
    assert!(sandbox.stdout_of(&["view", "a.py"]).contains("def two"));
}

#[test]
fn every_command_answers_from_the_current_file() {
    for (number, name) in ["outline", "symbol", "aggregate", "skeleton", "export"].iter().enumerate() {
        let sandbox = settled_project();
        sandbox.write("a.py", format!("def new{number}():\n    return 2\n"));
        let wanted = format!("new{number}");
        let said = match *name {
            "outline" => sandbox.stdout_of(&["outline", "a.py"]),
            "symbol" => sandbox.stdout_of(&["symbol", &wanted]),
            "aggregate" => sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]),
            "skeleton" => sandbox.stdout_of(&["view", "a.py", "--mode", "skeleton"]),
            _ => {
                sandbox.stdout_of(&["index"]);
                sandbox.stdout_of(&["cache", "export"])
            }
        };
        assert!(said.contains(&wanted), "{name}: {said}");
        assert!(!said.contains("one"), "{name}: {said}");
    }
}

#[test]
fn a_deleted_symbol_is_not_found() {
    let sandbox = settled_project();
    sandbox.stdout_of(&["symbol", "one"]);
    sandbox.write("a.py", "def two():\n    return 2\n");
    sandbox.slop(&["symbol", "one"]).assert_fails(1, &["error: no symbol named `one`", "hint:"]);
}

#[test]
fn a_definition_is_cut_from_the_current_text() {
    let sandbox = settled_project();
    sandbox.write("a.py", "# moved down\n\n\ndef one():\n    return 'é' + \"x\"\n");
    let said = sandbox.stdout_of(&["symbol", "one", "--definition"]);
    assert!(said.ends_with("def one():\n    return 'é' + \"x\"\n"), "{said}");
    assert!(said.starts_with("a.py:4-5 [Function] one\n"), "{said}");
}

#[test]
fn verify_hashes_every_file() {
    let sandbox = settled_project();
    for question in [&["view", "a.py", "--verify"][..], &["outline", "--verify"], &["index", "--verify"]] {
        sandbox.stdout_of(question);
    }
    let said = sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout", "--verify"]);
    assert!(said.contains("def one"));
}

#[test]
fn a_vanished_file_is_reported_and_does_not_stop_the_run() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def a(): pass\n");
    sandbox.write("b.py", "def b(): pass\n");
    sandbox.commit_all("first");
    sandbox.stdout_of(&["index"]);
    fs::remove_file(sandbox.path("a.py")).unwrap();
    sandbox.slop(&["view", "a.py"]).assert_fails(1, &["no such file: a.py"]);
    let ran = sandbox.slop(&["aggregate", "--tier", "3", "--stdout"]);
    assert_eq!(ran.code, 0);
    assert!(!ran.out.contains("a.py") && ran.out.contains("def b()"), "{}", ran.out);
    let asked = sandbox.slop(&["aggregate", "--tier", "3", "--stdout", "a.py", "b.py"]);
    assert_eq!(asked.code, 4);
    assert!(asked.out.contains("ERROR: file not found: a.py"), "{}", asked.out);
    assert!(asked.out.contains("def b()"), "{}", asked.out);
}

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "def a():\n    pass\n");
    sandbox.write("b.py", "def b():\n    pass\n");
    sandbox.commit_all("Begin");
    sandbox
}

#[test]
fn a_correct_index_has_no_differences() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    let data = sandbox.json(&["audit"]);
    assert_eq!(data, json!({"files": 2, "bytes": 36, "derived": 2, "differences": []}));
    assert_eq!(sandbox.stdout_of(&["audit"]), "2 files, 36 bytes read, 0 differences\n");
}

#[test]
fn every_difference_is_reported_with_its_path_and_none_is_fixed() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    sandbox.write("a.py", "def other():\n    pass\n");
    sandbox.write("new\u{1b}.py", "def new():\n    pass\n");
    std::fs::remove_file(sandbox.path("b.py")).unwrap();
    sandbox.git(&["rm", "-q", "--cached", "b.py"]);
    for _ in 0..2 {
        let ran = sandbox.slop(&["audit"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let told = "a.py: the index has different content\n\
                    b.py: the index has it, and the project does not\n\
                    new\\u{1b}.py: the project has it, and the index does not\n";
        assert!(ran.out.starts_with(told) && ran.out.ends_with(" 3 differences\n"), "{ran:?}");
    }
    let ran = sandbox.slop(&["audit", "--json"]);
    let envelope: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &envelope["data"]["differences"][0]["kind"]), (1, &json!("other_content")));
}

#[test]
fn without_a_cache_there_is_nothing_to_audit() {
    let sandbox = project();
    sandbox.write("slop.toml", "[aggregation]\ncache_enabled = false\n");
    sandbox.slop(&["audit"]).assert_fails(1, &["cache is disabled", "cache_enabled"]);
}
