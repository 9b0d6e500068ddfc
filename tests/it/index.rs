//! `slop index`: what is read and parsed, and above all what is not.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::sandbox::{Sandbox, number, text};

/// Returns a project of a hundred different Python files.
fn hundred_files() -> Sandbox {
    let sandbox = Sandbox::repo();
    for n in 0..100 {
        sandbox.write(format!("src/m{n}.py"), format!("def f{n}():\n    return {n}\n"));
    }
    sandbox.commit_all("first");
    sandbox
}

/// Runs `slop index` and returns the numbers of files found, hashed, parsed, reused and removed.
#[track_caller]
fn index(sandbox: &Sandbox) -> [u64; 5] {
    let report = sandbox.json(&["index"]);
    ["files", "hashed", "parsed", "reused", "removed"].map(|key| number(&report[key]))
}

#[test]
fn the_first_run_derives_everything_and_the_second_reads_nothing() {
    let sandbox = hundred_files();
    assert_eq!(index(&sandbox), [100, 100, 100, 0, 0]);
    let again = sandbox.json(&["index"]);
    assert_eq!((number(&again["hashed"]), number(&again["parsed"])), (0, 0));
    assert_eq!((number(&again["bytes"]), number(&again["reused"])), (0, 100));
}

#[test]
fn recently_written_files_without_text_are_not_read_again() {
    let sandbox = Sandbox::repo();
    sandbox.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    sandbox.write("a.py", "x = 1\n");
    assert_eq!(number(&sandbox.json(&["index"])["hashed"]), 2);
    assert_eq!(number(&sandbox.json(&["index"])["hashed"]), 0);
}

#[test]
fn the_json_report_has_stable_keys() {
    let report = hundred_files().json(&["index"]);
    let keys: Vec<&str> = report.as_object().unwrap().keys().map(String::as_str).collect();
    let promised = [
        "bytes", "elapsed_ms", "files", "hashed", "left_out", "parsed", "removed", "reused", "root",
        "root_reason",
    ];
    assert_eq!(keys, promised);
    assert!(report["left_out"].is_object());
}

#[test]
fn the_text_report_is_one_line_and_another_one_names_the_project() {
    let sandbox = hundred_files();
    let ran = sandbox.slop(&["index"]);
    assert!(ran.out.starts_with("100 files: 100 derived, 0 already known, 0 left out; 100 read"), "{ran:?}");
    assert_eq!((ran.out.lines().count(), ran.err.lines().count()), (1, 1));
    assert!(ran.err.starts_with("project: "), "{ran:?}");
}

#[test]
fn a_hundred_moved_files_are_not_parsed() {
    let sandbox = hundred_files();
    index(&sandbox);
    sandbox.git(&["mv", "src", "lib"]);
    assert_eq!(index(&sandbox), [100, 100, 0, 100, 100]);
}

#[test]
fn switching_branches_back_parses_nothing() {
    let sandbox = hundred_files();
    index(&sandbox);
    sandbox.git(&["checkout", "-q", "-b", "other"]);
    for n in 0..30 {
        sandbox.write(format!("src/m{n}.py"), format!("def g{n}():\n    return -{n}\n"));
    }
    fs::remove_file(sandbox.path("src/m99.py")).unwrap();
    sandbox.commit_all("second");
    assert_eq!(index(&sandbox)[2..], [30, 69, 1]);
    sandbox.git(&["checkout", "-q", "main"]);
    assert_eq!(index(&sandbox), [100, 31, 0, 100, 0]);
    sandbox.git(&["checkout", "-q", "other"]);
    assert_eq!(index(&sandbox), [99, 30, 0, 99, 1]);
}

#[test]
fn a_touched_file_is_read_but_not_parsed() {
    let sandbox = hundred_files();
    index(&sandbox);
    let bytes = fs::read(sandbox.path("src/m7.py")).unwrap();
    sandbox.write("src/m7.py", bytes);
    assert_eq!(index(&sandbox), [100, 1, 0, 100, 0]);
}

#[test]
fn the_same_content_under_two_names_is_parsed_once() {
    let sandbox = Sandbox::repo();
    for name in ["a.py", "b.py", "deep/er/c.py"] {
        sandbox.write(name, "def f():\n    return 1\n");
    }
    assert_eq!(index(&sandbox), [3, 3, 1, 2, 0]);
    let outlines = sandbox.json_lines(&["outline"]);
    assert_eq!(outlines.len(), 3);
    assert!(outlines.iter().all(|outline| outline["symbols"][0]["name"] == "f"));
}

#[test]
fn the_same_content_in_two_languages_is_parsed_for_each() {
    let sandbox = Sandbox::repo();
    sandbox.write("a.py", "x = 1\n");
    sandbox.write("a.txt", "x = 1\n");
    assert_eq!(index(&sandbox), [2, 2, 2, 0, 0]);
    assert_eq!(sandbox.json_lines(&["outline"]).len(), 1);
}

#[test]
fn removed_files_are_counted_once() {
    let sandbox = hundred_files();
    index(&sandbox);
    for n in 0..5 {
        fs::remove_file(sandbox.path(format!("src/m{n}.py"))).unwrap();
    }
    sandbox.commit_all("fewer");
    assert_eq!(index(&sandbox), [95, 0, 0, 95, 5]);
    assert_eq!(index(&sandbox), [95, 0, 0, 95, 0]);
}

#[test]
fn a_removed_file_that_reappears_is_not_parsed() {
    let sandbox = hundred_files();
    index(&sandbox);
    let bytes = fs::read(sandbox.path("src/m3.py")).unwrap();
    sandbox.git(&["rm", "-q", "src/m3.py"]);
    assert_eq!(index(&sandbox)[4], 1);
    sandbox.write("src/again.py", bytes);
    assert_eq!(index(&sandbox), [100, 1, 0, 100, 0]);
}

#[test]
fn every_file_that_git_lists_is_in_the_report() {
    let sandbox = hundred_files();
    sandbox.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\0");
    sandbox.write(".env", "TOKEN=1\n");
    sandbox.write("history.toml", "");
    sandbox.write(".gitignore", "ignored*\n");
    sandbox.write("ignored.py", "x = 1\n");
    std::os::unix::fs::symlink("src/m1.py", sandbox.path("link.py")).unwrap();
    let report = sandbox.json(&["index"]);
    let left_out: BTreeMap<&str, u64> =
        report["left_out"].as_object().unwrap().iter().map(|(k, v)| (k.as_str(), number(v))).collect();
    assert_eq!(left_out, BTreeMap::from([("binary", 1), ("history", 1), ("secret", 1), ("symlink", 1)]));
    let listed = sandbox.git(&["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = String::from_utf8(listed).unwrap().lines().count() as u64;
    assert_eq!(number(&report["files"]) + left_out.values().sum::<u64>(), listed);
}

#[test]
fn a_verifying_run_reads_everything_and_parses_nothing() {
    let sandbox = hundred_files();
    index(&sandbox);
    let report = sandbox.json(&["index", "--verify"]);
    assert_eq!((number(&report["hashed"]), number(&report["parsed"])), (100, 0));
}

#[test]
fn queries_fill_the_cache_as_an_index_run_does() {
    let sandbox = hundred_files();
    sandbox.stdout_of(&["aggregate", "--tier", "2", "--stdout"]);
    assert_eq!(index(&sandbox)[2], 0);
    let outline = &sandbox.json_lines(&["outline", "src/m1.py"])[0];
    assert_eq!(text(&outline["symbols"][0]["qualified_name"]), "f1");
    assert!(matches!(outline["sha256"], Value::String(_)));
}

#[test]
fn an_unreadable_file_is_reported_by_the_exit_code() {
    let sandbox = hundred_files();
    // A UTF-16 byte order mark followed by half of a surrogate pair.
    sandbox.write("src/m1.py", b"\xff\xfe\x00\xd8");
    let ran = sandbox.slop(&["index", "--json"]);
    assert_eq!(ran.code, 4, "{ran:?}");
    assert_eq!(super::sandbox::data(&ran.out)["left_out"]["undecodable"], 1);
}

#[test]
fn a_deleted_file_is_reported_but_not_an_error() {
    let sandbox = hundred_files();
    fs::remove_file(sandbox.path("src/m1.py")).unwrap();
    let report = sandbox.json(&["index"]);
    assert_eq!(report["left_out"]["vanished"], 1);
}
