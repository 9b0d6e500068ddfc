//! `slop refs`, `callers`, `callees` and `impact`: who uses what, from the files as they are now.

use serde_json::{Value, json};

use super::daemon::harness::TestDaemon;
use super::sandbox::{Sandbox, list, number, text};

/// A project in three languages with a repository.
fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write(
        "src/engine.py",
        "class Engine:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        return 1\n",
    );
    sandbox.write(
        "src/app.py",
        "from engine import Engine\n\n\ndef main():\n    return Engine().run()\n\n\nclass App:\n    def run(self):\n        return main()\n",
    );
    sandbox
        .write("tests/test_app.py", "from app import main\n\n\ndef test_main():\n    assert main() == 1\n");
    sandbox.write("lib/list.h", "int list_add(int n);\n");
    sandbox.write("lib/list.c", "#include \"list.h\"\nint list_add(int n) {\n  return n + 1;\n}\n");
    sandbox.write("lib/main.c", "#include \"list.h\"\nint main(void) {\n  return list_add(1);\n}\n");
    sandbox.write("web/size.ts", "export function size(n: number): number {\n  return n;\n}\n");
    sandbox.write(
        "web/page.ts",
        "import { size } from \"./size\";\n\nexport function draw(): number {\n  return size(2);\n}\n",
    );
    sandbox.commit_all("one");
    sandbox
}

fn edges(data: &Value) -> Vec<String> {
    let place = |place: &Value| {
        let symbol = place["symbol"].as_str().unwrap_or("-");
        format!("{}:{} {symbol}", text(&place["path"]), number(&place["line"]))
    };
    let edge =
        |edge: &Value| format!("{} -> {} {}", place(&edge["from"]), place(&edge["to"]), text(&edge["grade"]));
    list(data).map(edge).collect()
}

#[test]
fn every_use_is_a_line_of_json() {
    let sandbox = project();
    let lines = Value::from(sandbox.json_lines(&["refs", "--all"]));
    let expected = [
        "lib/main.c:3 main -> lib/list.c:2 list_add sure",
        "src/app.py:5 main -> src/engine.py:1 Engine sure",
        "src/app.py:5 main -> src/engine.py:2 Engine.run sure",
        "src/app.py:10 App.run -> src/app.py:4 main sure",
        "src/engine.py:3 Engine.run -> src/engine.py:5 Engine.step sure",
        "tests/test_app.py:5 test_main -> src/app.py:4 main sure",
        "web/page.ts:4 draw -> web/size.ts:1 size sure",
    ];
    assert_eq!(edges(&lines), expected);
    assert_eq!(lines[0]["call"], true);
    let shown = sandbox.stdout_of(&["refs", "--all"]);
    assert!(shown.contains("src/app.py:10 App.run → src/app.py:4 main · sure\n"), "{shown}");
}

#[test]
fn uses_of_a_symbol_have_a_line_a_symbol_and_a_grade() {
    let sandbox = project();
    let ran = sandbox.slop(&["refs", "src/engine.py:run"]);
    assert_eq!(ran.out, "src/engine.py:2-3 [method] Engine.run\n  src/app.py:5 main · sure\n");
    assert_eq!((ran.code, ran.err.as_str()), (0, "1 use\n"));
    let data = sandbox.json(&["refs", "list_add"]);
    assert_eq!(
        data["definitions"][0],
        json!({"path": "lib/list.c", "line": 2, "end_line": 4, "kind": "function", "symbol": "list_add"})
    );
    assert_eq!(edges(&data["references"]), ["lib/main.c:3 main -> lib/list.c:2 list_add sure"]);
    assert_eq!(data["unresolved"], 0);
}

#[test]
fn a_name_of_several_symbols_means_all_of_them() {
    let sandbox = project();
    let ran = sandbox.slop(&["refs", "run"]);
    let expected = "src/app.py:9-10 [method] App.run\nsrc/engine.py:2-3 [method] Engine.run\n  src/app.py:5 main · sure · src/engine.py:2\n";
    assert_eq!((ran.code, ran.out.as_str()), (0, expected));
    // A class or a file narrows it down.
    for symbol in ["App.run", "src/app.py:run"] {
        assert_eq!(sandbox.json(&["refs", symbol])["references"], json!([]));
    }
}

#[test]
fn a_symbol_that_nothing_defines_is_the_users_error() {
    let sandbox = project();
    for arguments in
        [["refs", "no_such"], ["callers", "no_such"], ["callees", "no_such"], ["impact", "no_such"]]
    {
        sandbox.slop(&arguments).assert_fails(1, &["no symbol named `no_such`", "slop symbol"]);
    }
    sandbox.slop(&["impact", "src/no_such.py"]).assert_fails(1, &["no file of the project matches"]);
    sandbox.slop(&["impact", "--diff", "nowhere"]).assert_fails(1, &["no revision `nowhere`"]);
    for arguments in
        [&["refs"][..], &["refs", "run", "--all"], &["impact"], &["callers", "run", "--depth", "0"]]
    {
        assert_eq!(sandbox.slop(arguments).code, 2, "{arguments:?}");
    }
}

#[test]
fn calls_are_followed_up_to_a_depth() {
    let sandbox = project();
    let ran = sandbox.slop(&["callers", "step"]);
    assert_eq!(ran.out, "src/engine.py:5-6 [method] Engine.step\n  src/engine.py:3 Engine.run · sure\n");
    let ran = sandbox.slop(&["callers", "step", "--depth", "3"]);
    let expected = "  src/engine.py:3 Engine.run · sure\n  src/app.py:5 main · sure · 2 steps\n  src/app.py:10 App.run · sure · 3 steps\n  tests/test_app.py:5 test_main · sure · 3 steps\n";
    assert!(ran.out.ends_with(expected), "{}", ran.out);
    let ran = sandbox.slop(&["callees", "main", "--quiet"]);
    let expected = "  src/engine.py:1 Engine · sure\n  src/engine.py:2 Engine.run · sure\n";
    assert!(ran.out.contains(expected) && ran.err.is_empty(), "{ran:?}");
}

#[test]
fn a_change_is_followed_to_the_tests() {
    let sandbox = project();
    let ran = sandbox.slop(&["impact", "src/engine.py", "--tests"]);
    assert_eq!(ran.out, "tests/test_app.py:4 test_main · sure · 2 steps\n");
    // Only the changed symbols count, not the whole file.
    assert_eq!(sandbox.stdout_of(&["impact", "--diff", "HEAD"]), "");
    sandbox
        .write("src/app.py", sandbox.read("src/app.py").replace("        return main()", "        return 2"));
    assert_eq!(sandbox.stdout_of(&["impact", "--diff", "HEAD", "--tests"]), "");
    sandbox.write("src/engine.py", sandbox.read("src/engine.py").replace("return 1", "return 2"));
    let data = sandbox.json(&["impact", "--diff", "HEAD", "--tests"]);
    let changed: Vec<_> = list(&data["changed"]).map(|changed| text(&changed["symbol"])).collect();
    assert_eq!(changed, ["App.run", "Engine.step"]);
    assert_eq!(data["affected"][0]["symbol"], "test_main");
    assert_eq!(data["affected"][0]["distance"], 3);
    // A path is relative to the current folder.
    let ran = sandbox.slop_in("src", &["impact", "engine.py", "--depth", "1"]);
    assert_eq!(ran.out, "src/app.py:4 main · sure · 1 step\n");
}

#[test]
fn an_edit_is_reflected_at_once_with_a_daemon_and_without() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let query = |route: &str, body: Value| daemon.query(route, &body)["data"].take();
    let ask = |symbol: &str| edges(&query("/v1/refs", json!({"symbol": symbol}))["references"]);
    assert_eq!(ask("list_add").len(), 1);
    sandbox
        .write("lib/more.c", "#include \"list.h\"\nint more(void) {\n  return list_add(list_add(2));\n}\n");
    assert_eq!(ask("list_add").len(), 3);
    sandbox.write("web/page.ts", "export function draw(): number {\n  return 3;\n}\n");
    assert_eq!(ask("size"), [""; 0]);
    for arguments in [
        &["refs", "list_add", "--json"][..],
        &["refs", "--all", "--json"],
        &["callers", "step", "--depth", "9", "--json"],
        &["callees", "App.run", "--depth", "9"],
        &["impact", "src", "--tests"],
    ] {
        let alone = sandbox.stdout_of(&[arguments, &["--no-daemon"]].concat());
        assert_eq!(data_of(&sandbox.stdout_of(arguments)), data_of(&alone), "{arguments:?}");
    }
    let all = query("/v1/refs", json!({}));
    let lines = Value::from(sandbox.json_lines(&["refs", "--all"]));
    assert_eq!(all["references"], lines);
    let impact = query("/v1/impact", json!({"target": "Engine.step", "tests": true}));
    assert_eq!(impact["affected"][0]["symbol"], "test_main");
    let calls = query("/v1/calls", json!({"symbol": "src/app.py:main", "direction": "callees"}));
    assert_eq!(list(&calls["calls"]).count(), 2);
}

/// Returns an answer without the clock, which differs between two answers.
fn data_of(out: &str) -> String {
    match serde_json::from_str::<Value>(out) {
        Ok(envelope) => envelope["data"].to_string(),
        Err(_) => out.to_owned(),
    }
}

#[test]
fn a_java_constructor_is_called_by_enum_constants_and_subclasses() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "Shapes.java",
        "class Shape {\n    Shape(int sides) {}\n}\n\
         class Square extends Shape {\n    Square() {\n        super(4);\n    }\n    Shape copy() {\n        return new Shape(4);\n    }\n}\n\
         enum Size {\n    SMALL(1),\n    LARGE(2) {};\n    Size(int factor) {}\n}\n\
         enum Side { LEFT, RIGHT }\n",
    );
    let lines = |symbol: &str| -> Vec<u64> {
        let data = sandbox.json(&["refs", symbol]);
        data["references"]
            .as_array()
            .unwrap()
            .iter()
            .map(|edge| edge["from"]["line"].as_u64().unwrap())
            .collect()
    };
    assert_eq!(lines("Shape.Shape"), [6, 9]);
    assert_eq!(lines("Size.Size"), [13, 14]);
    assert_eq!(lines("Side"), Vec::<u64>::new());
    let callers = sandbox.stdout_of(&["callers", "Shape.Shape"]);
    assert!(
        callers.contains("Shapes.java:6 Square.Square") && callers.contains("Shapes.java:9 Square.copy"),
        "{callers}"
    );
    assert!(sandbox.stdout_of(&["callers", "Size.Size"]).contains("Shapes.java:13"), "{callers}");
    // Of all edges, only those of names on their lines are listed.
    let edges = sandbox.stdout_of(&["refs", "--all", "--json"]);
    assert!(edges.contains(r#""line":9,"#) && !edges.contains(r#""line":6,"#), "{edges}");
}
