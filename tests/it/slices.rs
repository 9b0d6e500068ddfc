//! `slop slice`: marking lines and finding them again.

use std::fs;
use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use super::sandbox::{CommandOutput, Sandbox, data, texts};

const FILE: &str = "import os\n\ndef one(a):\n    b = a + 1\n    return b\n\ndef two(a):\n    return a\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("a.py", FILE);
    sandbox
}

/// Runs `slop slice resolve` with this standard input.
fn resolve(sandbox: &Sandbox, arguments: &[&str], input: &[u8]) -> CommandOutput {
    let mut command = sandbox.command(&[&["slice", "resolve"], arguments].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A process that has already failed does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input);
    CommandOutput::from_output(&child.wait_with_output().unwrap())
}

#[track_caller]
fn assert_resolves(sandbox: &Sandbox, slice: &str, code: i32, status: &str, lines: (u32, u32)) -> String {
    let ran = resolve(sandbox, &["a.py"], slice.as_bytes());
    let found: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    assert_eq!(
        (ran.code, &found["status"], &found["start_line"], &found["end_line"]),
        (code, &json!(status), &json!(lines.0), &json!(lines.1)),
        "{found}"
    );
    assert_eq!(ran.err, "");
    found["reason"].as_str().unwrap().to_owned()
}

#[test]
fn a_slice_is_made_and_resolved_without_writing_anything() {
    let sandbox = project();
    let made = sandbox.stdout_of(&["slice", "make", "a.py", "3-5", "--tag", "one", "--comment", "adds"]);
    let slice: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(
        (&slice["start_line"], &slice["end_line"], &slice["copies"]),
        (&json!(3), &json!(5), &json!(1))
    );
    assert_eq!((&slice["tag"], &slice["comment"]), (&json!("one"), &json!("adds")));
    assert_eq!(slice["start_context"], json!(["import os", ""]));
    assert_eq!(slice["end_context"], json!(["", "def two(a):", "    return a"]));
    assert_eq!(slice["unique_lines"]["before"], json!(["import os"]));
    assert_eq!(slice["line_hashes"].as_array().unwrap().len(), 3);
    assert_resolves(&sandbox, &made, 0, "exact", (3, 5));
    sandbox.write("a.py", format!("# new\n{FILE}"));
    assert_resolves(&sandbox, &made, 0, "moved", (4, 6));
    sandbox.write("a.py", FILE.replace("a + 1", "a + 2"));
    assert_resolves(&sandbox, &made, 0, "changed", (3, 5));
    sandbox.write("a.py", "import os\n");
    assert_resolves(&sandbox, &made, 1, "stale", (3, 5));
    assert_eq!(fs::read_dir(sandbox.root()).unwrap().count(), 1, "no cache was created");
}

#[test]
fn a_slice_is_in_an_envelope_only_with_the_json_flag() {
    let sandbox = project();
    let slice = sandbox.json(&["slice", "make", "a.py", "7"]);
    assert_eq!((&slice["start_line"], &slice["end_line"]), (&json!(7), &json!(7)));
    let ran = resolve(&sandbox, &["a.py", "--json"], slice.to_string().as_bytes());
    assert_eq!(data(&ran.out)["status"], "exact");
}

#[test]
fn an_invalid_range_is_refused() {
    let sandbox = project();
    let make = |file, range| sandbox.slop(&["slice", "make", file, range]);
    make("a.py", "0-3").assert_fails(2, &["numbered from 1"]);
    make("a.py", "9-2").assert_fails(2, &["ends at 2, before its start at 9"]);
    make("a.py", "x-2").assert_fails(2, &["`x` is not a line number"]);
    make("a.py", "+1-2").assert_fails(2, &["is not a line number"]);
    make("a.py", "99999999999").assert_fails(2, &["is not a line number"]);
    make("a.py", "4-9").assert_fails(1, &["a.py", "4-9", "the text has 8", "hint:"]);
    make("b.py", "1-2").assert_fails(1, &["b.py", "no such file: b.py"]);
    make("../b.py", "1-2").assert_fails(1, &["../b.py", "hint:"]);
    make(".", "1-2").assert_fails(1, &["`.`"]);
    sandbox.write("empty.py", "");
    make("empty.py", "1").assert_fails(1, &["the text has 0"]);
    sandbox.write("b.bin", b"\0\x01\x02");
    make("b.bin", "1").assert_fails(1, &["b.bin", "not text"]);
    sandbox.write(".env", "KEY=1\n");
    make(".env", "1").assert_fails(1, &["secrets"]);
    assert!(!sandbox.path(".slop_cache").exists());
}

#[test]
fn a_slice_of_a_file_without_text_is_stale() {
    let sandbox = project();
    let made = sandbox.stdout_of(&["slice", "make", "a.py", "3-5"]);
    sandbox.write("a.py", b"\0\x01\x02");
    assert_eq!(assert_resolves(&sandbox, &made, 1, "stale", (3, 5)), "not text");
    fs::remove_file(sandbox.path("a.py")).unwrap();
    assert_eq!(assert_resolves(&sandbox, &made, 1, "stale", (3, 5)), "file not found");
    sandbox.write(".env", "KEY=1\n");
    resolve(&sandbox, &[".env"], made.as_bytes()).assert_fails(1, &["secrets"]);
}

#[test]
fn input_that_is_not_a_slice_is_refused() {
    let sandbox = project();
    let refuses =
        |input: &str, words: &[&str]| resolve(&sandbox, &["a.py"], input.as_bytes()).assert_fails(1, words);
    refuses("", &["slice as JSON", "hint:"]);
    refuses("1-2", &["slice as JSON"]);
    refuses("{\"start_line\": 1}", &["end_line"]);
    refuses("{\"start_line\": 3, \"end_line\": 2}", &["`end_line` 2 is before `start_line` 3"]);
    refuses("{\"start_line\": 0, \"end_line\": 2}", &["start_line: invalid value"]);
    refuses("{\"start_line\": 1, \"end_line\": 2, \"content_hash\": 3}", &["content_hash: invalid type"]);
    refuses(&" ".repeat((1 << 20) + 1), &["1048576 bytes"]);
    resolve(&sandbox, &["a.py"], b"\xff").assert_fails(1, &["not UTF-8"]);
}

#[test]
fn the_old_format_of_anchors_is_read() {
    let sandbox = project();
    sandbox.write("a.py", format!("# new\n{FILE}"));
    let old = |anchors: Value| json!({"start_line": 3, "end_line": 5, "anchor_lines": anchors}).to_string();
    let both = json!({"before": ["import os", ""], "after": ["", "def two(a):"]});
    let reason = assert_resolves(&sandbox, &old(both), 0, "changed", (4, 6));
    assert!(reason.contains("content_hash"), "{reason}");
    assert_resolves(&sandbox, &old(json!(["import os", ""])), 1, "stale", (3, 5));
    let made = sandbox.stdout_of(&["slice", "make", "a.py", "4-6"]);
    let mut slice: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(texts(&json!([{"line": slice["start_context"][0]}]), "line"), ["# new"]);
    slice["anchor_lines"] = slice["start_context"].take();
    assert_resolves(&sandbox, &slice.to_string(), 0, "exact", (4, 6));
}

#[test]
fn slices_of_texts_in_other_encodings_use_the_decoded_text() {
    let sandbox = project();
    sandbox.write("a.py", b"# caf\xe9\nx = 1\n");
    let made = sandbox.stdout_of(&["slice", "make", "a.py", "1"]);
    sandbox.write("a.py", "\u{feff}# first\n# café\nx = 1\n");
    assert_resolves(&sandbox, &made, 0, "moved", (2, 2));
    // For git, a new byte order mark changes the first line.
    sandbox.write("a.py", "\u{feff}# café\nx = 1\n");
    assert_resolves(&sandbox, &made, 1, "stale", (1, 1));
}
