//! Documents that a page shows: opened without being delivered, read in parts, and compared.

use serde_json::{Value, json};

use super::harness::TestDaemon;
use crate::sandbox::{Sandbox, number, text};

fn project() -> Sandbox {
    let sandbox = Sandbox::new();
    for name in ["a", "b", "c"] {
        let functions: Vec<String> =
            (0..200).map(|at| format!("def {name}_{at}():\n    return {at}\n\n\n")).collect();
        sandbox.write(format!("{name}.py"), functions.concat());
    }
    sandbox.write("slop.toml", "[aggregation]\norder = \"path\"\n");
    sandbox
}

fn open(daemon: &TestDaemon<'_>) -> Value {
    daemon.query("/v1/document/open", &json!({"choice": {"strategy": "full"}, "files": ["*.py"]}))["data"]
        .clone()
}

fn read(daemon: &TestDaemon<'_>, id: &Value, line: u64, lines: u64) -> (u16, Value) {
    daemon.connect().try_query("/v1/document/read", &json!({"id": id, "line": line, "lines": lines}))
}

fn compare(daemon: &TestDaemon<'_>, from: &Value, to: &Value) -> Value {
    daemon.query("/v1/document/compare", &json!({"from": from, "to": to}))["data"].clone()
}

#[test]
fn an_opened_document_is_read_in_parts_and_not_delivered() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let opened = open(&daemon);
    let asked = json!({"choice": {"strategy": "full"}, "files": ["*.py"], "name": "elsewhere"});
    let whole = text(&daemon.query("/v1/aggregate", &asked)["data"]["text"]);
    let (_, all) = read(&daemon, &opened["id"], 1, 2_000);
    let (_, rest) = read(&daemon, &opened["id"], 2_001, 2_000);
    assert_eq!(text(&all["data"]["text"]) + &text(&rest["data"]["text"]), whole);
    assert_eq!(number(&opened["bytes"]), whole.len() as u64);
    let lines: Vec<&str> = whole.lines().collect();
    let blocks = &opened["blocks"];
    for (at, name) in ["a.py", "b.py", "c.py"].iter().enumerate() {
        let line = number(&blocks["line"][at]);
        let count = number(&blocks["lines"][at]);
        let (_, part) = read(&daemon, &opened["id"], line, count);
        let part = text(&part["data"]["text"]);
        assert!(part.starts_with(&format!("### {name}\n")) && part.ends_with("```\n"), "{part}");
        assert_eq!(part.lines().count() as u64, count);
        assert_eq!(blocks["file"][at], *name);
    }
    for section in opened["sections"].as_array().unwrap() {
        let line = usize::try_from(number(&section["line"])).unwrap();
        assert!(
            section["name"] == "Overview" || lines[line - 1].ends_with(&text(&section["name"])),
            "{section}"
        );
    }
    // No document was delivered under the name of an opened one.
    let refused = json!({"from": {"given": "project"}, "to": opened["id"]});
    let (code, envelope) = daemon.connect().try_query("/v1/document/compare", &refused);
    assert_eq!((code, &envelope["error"]["code"]), (404, &json!("not_found")));

    // Under settings that hide some of it, the text is no longer shown.
    let mask = "[[files]]\npath = \"a.py\"\n[files.ast_mask]\na_7 = \"hide\"\n";
    sandbox.write("slop.toml", format!("{}{mask}", sandbox.read("slop.toml")));
    let (code, envelope) = read(&daemon, &opened["id"], 1, 9);
    assert_eq!((code, &envelope["error"]["code"]), (410, &json!("document_gone")));
    let masked = open(&daemon);
    let (_, all) = read(&daemon, &masked["id"], 1, 2_000);
    assert!(!text(&all["data"]["text"]).contains("def a_7()"), "{all}");
    let difference = compare(&daemon, &opened["id"], &masked["id"]);
    assert_eq!(
        (&difference["first"]["file"], &difference["first"]["reason"]),
        (&json!("a.py"), &json!("view"))
    );
    assert!(!difference.to_string().contains("a_7"));
    let masked = masked["id"].clone();
    drop(daemon);
    assert_eq!(read(&TestDaemon::start(&sandbox), &masked, 1, 9).0, 410);
}

#[test]
fn documents_of_a_name_are_compared_by_the_prefix_that_a_provider_keeps() {
    let sandbox = project();
    let aggregate =
        || sandbox.stdout_of(&["aggregate", "*.py", "--strategy", "full", "--name", "w", "--stdout"]);
    let before = aggregate();
    sandbox.write("b.py", sandbox.read("b.py").replace("return 20\n", "return -20\n"));
    let after = aggregate();
    let daemon = TestDaemon::start(&sandbox);
    let given = |back: u64| json!({"given": "w", "back": back});
    let kept = compare(&daemon, &given(1), &given(0));
    // If texts are not held, whole blocks are compared.
    let block = after.find("\n### b.py\n").unwrap();
    assert_eq!((number(&kept["kept_bytes"]), number(&kept["of_bytes"])), (block as u64, after.len() as u64));
    let first =
        json!({"file": "b.py", "reason": "edited", "document_line": 2 + after[..block].lines().count()});
    assert_eq!(kept["first"], first, "{kept}");
    assert_eq!(kept["blocks"], json!([{"file": "b.py", "from": 1, "to": 1, "same": false}]));
    // An opened document has the same pieces as any other.
    let opened = open(&daemon);
    assert_eq!(compare(&daemon, &given(0), &opened["id"])["first"], Value::Null);
    sandbox.write("b.py", sandbox.read("b.py").replace("return -20\n", "return 20\n"));
    let back = open(&daemon);
    assert_eq!(number(&back["bytes"]), before.len() as u64);
    let edited = compare(&daemon, &opened["id"], &back["id"]);
    assert_eq!(edited["first"]["line"], 82, "{edited}");
    let common = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
    assert_eq!(number(&edited["common_bytes"]), common as u64);
    sandbox.stdout_of(&["cache", "clear"]);
    let (code, _) =
        daemon.connect().try_query("/v1/document/compare", &json!({"from": given(0), "to": given(0)}));
    assert_eq!(code, 404);
}

#[test]
fn delivered_files_are_listed_with_their_changes() {
    let sandbox = project();
    let aggregate =
        || sandbox.stdout_of(&["aggregate", "*.py", "--strategy", "full", "--name", "w", "--stdout"]);
    aggregate();
    let daemon = TestDaemon::start(&sandbox);
    let given = |body: Value| daemon.query("/v1/given", &body)["data"].clone();
    let change = || given(json!({"name": "w", "file": "a.py"}))["file"].clone();
    assert_eq!(
        change(),
        json!({"file": "a.py", "state": "same", "view": "full", "diff": "", "hidden_lines": 0})
    );
    let edited = sandbox.read("a.py").replace("def a_7():\n    return 7\n", "def a_7():\n    return 77\n");
    sandbox.write("a.py", edited.replace("def a_100():", "def renamed():"));
    sandbox.write("b.py", "");
    std::fs::remove_file(sandbox.path("c.py")).unwrap();
    sandbox.write("d.py", "def new():\n    pass\n");
    let listed = given(json!({"name": "w"}));
    let files = &listed["files"];
    assert_eq!(files["file"], json!(["a.py", "b.py", "c.py", "d.py"]));
    assert_eq!(files["state"], json!(["changed", "changed", "gone", "new"]), "{listed}");
    let diff = text(&change()["diff"]);
    assert!(diff.starts_with("--- a/a.py\n+++ b/a.py\n@@ "), "{diff}");
    for line in ["-    return 7\n+    return 77\n", "-def a_100():\n+def renamed():\n"] {
        assert!(diff.contains(line), "{diff}");
    }
    // What is hidden now was delivered before.
    let mask = "[[files]]\npath = \"a.py\"\n[files.ast_mask]\na_7 = \"hide\"\n";
    sandbox.write("slop.toml", format!("{}{mask}", sandbox.read("slop.toml")));
    let masked = change();
    let diff = text(&masked["diff"]);
    assert!(!masked.to_string().contains("a_7()") && diff.contains("+def renamed():\n"), "{diff}");
    assert!(!diff.contains("\n-") && masked["hidden_lines"] == 3, "{masked}");

    aggregate();
    let listed = given(json!({"name": "w"}));
    let steps = listed["history"].as_array().unwrap();
    assert_eq!((steps.len(), &steps[1]["kept_bytes"]), (2, &Value::Null));
    assert_eq!(steps[0]["first"]["file"], "a.py");
    let names = given(json!({}))["names"].clone();
    assert_eq!((names.as_array().unwrap().len(), &names[0]["name"]), (1, &json!("w")));
    assert_eq!((number(&names[0]["files"]), &names[0]["bytes"]), (3, &steps[0]["bytes"]));
    let shown = sandbox.stdout_of(&["given", "w"]);
    assert!(
        shown.starts_with("3 files are the same\n") && shown.contains("first difference: a.py view"),
        "{shown}"
    );
    sandbox.slop(&["given", "nobody"]).assert_fails(1, &["no document named `nobody`", "hint:"]);
}
