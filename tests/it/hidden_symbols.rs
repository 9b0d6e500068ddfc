//! No answer of slop shows what a mask hides.

use super::daemon::harness::TestDaemon;
use super::sandbox::Sandbox;
use serde_json::json;

const ENGINE: &str = "\"\"\"The engine.\"\"\"\nimport os\n\nLIMIT = 3\n\n\nclass Engine:\n    \"\"\"Runs things.\"\"\"\n\n    \
    def run(self, speed):\n        \"\"\"Runs at a speed.\"\"\"\n        return speed * LIMIT\n\n    # For zork only.\n    \
    def _zork(self, what):\n        \"\"\"Traces zork.\"\"\"\n        print(\"zork\", what)\n\n\ndef helper():\n    \
    return Engine().run(1)\n\n\ndef zork_key(a):\n    return a\n";
const RING: &str = "#include <stdio.h>\n/* Adds. */\nint add(int a, int b) { return a + b; }\n\n/* zork */\nint zork_c(int a)\n{\n    \
    return add(a, 1);\n}\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("src/engine.py", ENGINE);
    sandbox.write("src/ring.c", RING);
    sandbox.write("src/plain.txt", "one\nzork = 1\nthree\n");
    sandbox.write(
        "slop.toml",
        "[[files]]\npath = 'src/engine.py'\nast_mask = { 'Engine._zork' = 'hide', zork_key = 'hide' }\n\
         [[files]]\npath = 'src/ring.c'\nast_mask = { zork_c = 'hide' }\n\
         [[files]]\npath = 'src/plain.txt'\nast_mask = { zork = 'hide' }\n",
    );
    sandbox.commit_all("first");
    sandbox
}

#[test]
fn a_mask_that_only_hides_leaves_the_rest_visible() {
    let sandbox = project();
    let shown = sandbox.stdout_of(&["aggregate", "--stdout", "src/ring.c"]);
    let expected =
        "#include <stdio.h>\n/* Adds. */\nint add(int a, int b) { return a + b; }\n\n// 5 lines hidden\n";
    assert!(shown.contains(expected), "{shown}");
    let shown = sandbox.stdout_of(&["view", "--bare", "src/engine.py"]);
    assert!(
        shown.contains("        return speed * LIMIT\n\n    ...  # 4 lines hidden\n\n\ndef helper():"),
        "{shown}"
    );
    // Everything else is shown with its line numbers in the file.
    let outline = sandbox.stdout_of(&["outline", "src/engine.py"]);
    assert!(outline.contains("[Function] helper (Lines 20-21)"), "{outline}");
    let lines = sandbox.stdout_of(&["view", "--bare", "--lines", "20-21", "src/engine.py"]);
    assert!(lines.contains("def helper():\n    return Engine().run(1)\n"), "{lines}");
}

#[cfg(unix)]
#[test]
fn a_link_to_a_folder_does_not_circumvent_a_mask() {
    let sandbox = project();
    std::os::unix::fs::symlink("src", sandbox.path("other")).unwrap();
    let ran = sandbox.slop(&["view", "--mode", "full", "other/engine.py"]);
    assert!(ran.err.contains("link") && !ran.out.contains("zork"), "{}{}", ran.out, ran.err);
    assert!(sandbox.stdout_of(&["view", "--mode", "full", "src/engine.py"]).contains("4 lines hidden"));
}

#[test]
fn no_document_view_or_answer_names_a_hidden_symbol() {
    let sandbox = project();
    let documents: [&[&str]; 12] = [
        &[],
        &["--strategy", "summarize"],
        &["--strategy", "full"],
        &["--tier", "1"],
        &["--tier", "2"],
        &["--tier", "3"],
        &["--tier", "3", "--focus", "src"],
        &["--tier", "4"],
        &["--tier", "4", "--focus", "src/engine.py:12"],
        &["--tier", "3", "--budget", "250"],
        &["--tier", "2", "--budget", "400", "--task", "why does run ignore its speed"],
        &["--tier", "3", "--since-last"],
    ];
    for flags in documents {
        let flags = [&["aggregate", "--stdout", "--format", "json"], flags, &["src"]].concat();
        let document = sandbox.stdout_of(&flags);
        assert!(document.contains("engine.py") && !document.contains("zork"), "{flags:?}: {document}");
    }
    let explained = sandbox.stdout_of(&["explain", "--budget", "400", "src/engine.py"]);
    assert!(!explained.contains("zork") && !explained.contains("unstable"), "{explained}");
    let modes = ["full", "skeleton", "outline", "summary", "masked", "ast_signatures", "ast_definitions"];
    for mode in modes {
        let view = sandbox.stdout_of(&["view", "--mode", mode, "src/engine.py", "src/ring.c"]);
        assert!(!view.contains("zork"), "{mode}: {view}");
    }
    for command in
        [&["search", "zork"][..], &["callers", "add"], &["outline", "--json", "src"], &["symbol", "Engine"]]
    {
        let ran = sandbox.slop(command);
        assert!(ran.code == 0 && !ran.out.contains("zork"), "{command:?}: {ran:?}");
    }
    for command in
        [&["symbol", "zork_key"][..], &["symbol", "_zork", "-i"], &["symbol", "*zork*"], &["refs", "zork_c"]]
    {
        sandbox.slop(command).assert_fails(1, &["no symbol named"]);
    }
    // Nor is it suggested for an unknown name, or shown as a change.
    assert!(!sandbox.slop(&["symbol", "zork_kee"]).err.contains("`zork_key`"));
    sandbox
        .write("src/engine.py", ENGINE.replace("return a", "return a + 1").replace("LIMIT = 3", "LIMIT = 4"));
    for command in [&["view", "--mode", "diff", "src/engine.py"][..], &["impact", "--diff", "HEAD"]] {
        let ran = sandbox.slop(command);
        assert!(ran.code == 0 && !ran.out.contains("zork"), "{command:?}: {ran:?}");
    }
}

#[test]
fn a_document_has_the_hash_of_the_whole_file_and_not_of_the_visible_part() {
    let sandbox = project();
    let document = sandbox.aggregate_json(&["src/engine.py"]);
    let expected = sandbox.json(&["status"])["files"]
        .as_array()
        .and_then(|files| files.iter().find(|file| file["path"] == "src/engine.py").cloned())
        .unwrap();
    assert_eq!(document["receipt"]["files"][0]["sha256"], expected["sha256"]);
    let outline = sandbox.json_lines(&["outline", "src/engine.py"]);
    assert_eq!(outline[0]["sha256"], expected["sha256"]);
}

#[test]
fn a_daemon_hides_symbols_as_soon_as_the_settings_change() {
    let sandbox = project();
    let settings = sandbox.read("slop.toml");
    sandbox.write("slop.toml", "");
    let daemon = TestDaemon::start(&sandbox);
    let mut connection = daemon.connect();
    let questions = [
        ("/v1/outline", json!({"files": ["src/engine.py"]})),
        ("/v1/symbols", json!({"name": "helper"})),
        ("/v1/refs", json!({"symbol": "Engine"})),
        ("/v1/aggregate", json!({"choice": {"tier": 2}, "files": ["src"]})),
    ];
    for (settings, is_hidden) in [("", false), (settings.as_str(), true), ("", false)] {
        sandbox.write("slop.toml", settings);
        let answers =
            questions.each_ref().map(|(path, question)| connection.query(path, question).to_string());
        assert_eq!(!answers[0].contains("zork") && !answers[3].contains("zork"), is_hidden, "{answers:?}");
    }
}

#[test]
fn an_ineffective_hide_is_a_problem_and_a_note_in_every_answer() {
    let sandbox = project();
    sandbox.write("src/other.py", "def other():\n    return 2\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("other.py", sandbox.path("src/link.py")).unwrap();
    sandbox.commit_all("second");
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let hide = |path: &str, key: &str| json!([{"path": path, "ast_mask": {key: "hide"}}]);
    let mut cases = vec![
        (hide("src/Other.py", "other"), "`src/Other.py` hides nothing: no file of the project"),
        (hide("other.py", "other"), "(nearest: src/other.py"),
        (hide("src\\other.py", "other"), "no file of the project has that path"),
        (hide("*.rb", "other"), "`*.rb` hides nothing"),
        (
            hide("src/other.py", "othr"),
            "`src/other.py` hides nothing by `othr`: no symbol of the file has that name (nearest: other)",
        ),
        (hide("src", "othr"), "`src` hides nothing by `othr`"),
    ];
    if cfg!(unix) {
        cases.push((hide("src/link.py", "other"), "`src/link.py` hides nothing: no file"));
    }
    for (items, expected) in cases {
        let body = json!({"files": ["src/other.py"], "tier": 3, "receipt": "none", "items": items});
        let answer = client.query("/v1/aggregate", &body);
        let is_said = |list: &serde_json::Value| list.to_string().replace("\\\\", "\\").contains(expected);
        let problems = &answer["data"]["receipt"]["problems"];
        assert!(
            is_said(problems) && problems[0]["section"] == "items" && is_said(&answer["notes"]),
            "{answer}"
        );
        let view = client.query("/v1/view", &json!({"files": ["src/other.py"], "items": items}));
        assert!(is_said(&view["notes"]), "{view}");
        let explain = json!({"file": "src/other.py", "choice": {"tier": 3, "items": items}});
        assert!(is_said(&client.query("/v1/explain", &explain)["notes"]), "{items}");
    }
    // A focused file is reported as masked only if it is, and an entry for a file that is not in the answer is not a
    // mistake.
    let items = hide("src/other.py", "othr");
    let body = json!({"files": ["src/other.py"], "tier": 3, "focus": ["src/other.py"], "items": items});
    let file = client.query("/v1/aggregate", &body)["data"]["receipt"]["files"][0].take();
    assert_eq!(file["view"], "full");
    assert_eq!(
        file["why"],
        "its mask hides nothing; the mask names what is not there: `othr` (nearest: other)"
    );
    for items in [hide("src/engine.py", "Engine._zork"), hide("src/other.py", "other")] {
        let body = json!({"files": ["src/other.py"], "tier": 3, "items": items});
        let answer = client.query("/v1/aggregate", &body);
        assert_eq!(
            (&answer["notes"], &answer["data"]["receipt"]["problems"]),
            (&json!([]), &json!([])),
            "{answer}"
        );
    }
}

#[test]
fn a_hide_in_the_settings_that_names_no_symbol_any_more_is_a_problem_and_a_note() {
    let sandbox = project();
    sandbox.write("src/ring.c", RING.replace("zork_c", "renamed"));
    let document = sandbox.slop(&["aggregate", "--stdout", "--tier", "3", "--format", "json", "src/ring.c"]);
    let expected = "the mask for `src/ring.c` hides nothing by `zork_c`: no symbol of the file has that name";
    assert!(document.code == 0 && document.err.contains(expected), "{document:?}");
    let receipt = sandbox.aggregate_json(&["--tier", "3", "src/ring.c"])["receipt"].take();
    let [problem] = &receipt["problems"].as_array().unwrap()[..] else { panic!("{receipt}") };
    assert!(problem["why"].as_str().unwrap().contains(expected) && problem["is_error"] == false, "{problem}");
    // A mask that removes nothing from the text is not called one.
    assert_eq!(receipt["files"][0]["view"], "full");
    // The hidden symbol of a pattern may be in some of its files only.
    sandbox.write("slop.toml", "[[files]]\npath = 'src/*.c'\nast_mask = { zork_c = 'hide' }\n");
    assert!(!sandbox.slop(&["aggregate", "--stdout"]).err.contains("zork_c"));
}

#[test]
fn a_slice_next_to_a_hidden_symbol_does_not_reveal_it_through_the_settings_file() {
    let sandbox = project();
    sandbox.stdout_of(&["slice", "add", "src/engine.py", "20-21"]);
    assert!(sandbox.read("slop.toml").contains("Traces zork"));
    for flags in [
        &["--tier", "3"][..],
        &["--strategy", "full"],
        &["--tier", "3", "--budget", "2000"],
        &["slop.toml", "src"],
    ] {
        let document = sandbox.slop(&[&["aggregate", "--stdout", "--format", "json"], flags].concat());
        assert!(
            document.out.contains("engine.py") && !document.out.contains("zork"),
            "{flags:?}: {document:?}"
        );
    }
    assert!(!sandbox.slop(&["search", "Traces zork"]).out.contains("slop.toml"));
    sandbox.slop(&["view", "slop.toml"]).assert_fails(1, &["the settings of slop"]);
}

#[test]
fn a_mask_that_hides_is_found_and_set_again() {
    let sandbox = project();
    let listed = sandbox.stdout_of(&["mask", "list", "src/engine.py"]);
    assert!(listed.contains("Engine._zork = hide") && !listed.contains("gone"), "{listed}");
    assert_eq!(sandbox.json(&["curation", "show"])["items"][0]["mask"][0]["found"], 1);
    for mode in ["hide", "sig"] {
        sandbox.stdout_of(&["mask", "set", "src/engine.py", &format!("Engine._zork={mode}")]);
    }
    sandbox.slop(&["mask", "set", "src/engine.py", "Engine._gone=hide"]).assert_fails(1, &["no symbol"]);
}

#[test]
fn a_diff_does_not_show_hidden_symbols_under_other_names_or_in_other_files() {
    let sandbox = project();
    sandbox.write("src/gone.py", "def shown():\n    return 1\n\n\ndef zork_gone():\n    return \"zork\"\n");
    sandbox.write("src/old.py", "def stays():\n    return 1\n\n\ndef zork_moved():\n    return \"zork\"\n");
    sandbox.write(
        "src/renamed.py",
        "def limit():\n    return 1\n\n\ndef zork_old(a):\n    return \"zork\" + a\n",
    );
    sandbox.commit_all("second");
    sandbox.write(
        "slop.toml",
        "[[files]]\npath = 'src/gone.py'\nast_mask = { zork_gone = 'hide' }\n\
         [[files]]\npath = 'src/new.py'\nast_mask = { zork_moved = 'hide' }\n\
         [[files]]\npath = 'src/renamed.py'\nast_mask = { secret = 'hide' }\n",
    );
    let full = ["aggregate", "--stdout", "--strategy", "full", "--since-last", "--name", "full"];
    let tier = ["aggregate", "--stdout", "--tier", "3", "--since-last", "--name", "tier"];
    sandbox.stdout_of(&full);
    sandbox.stdout_of(&tier);
    std::fs::remove_file(sandbox.path("src/gone.py")).unwrap();
    sandbox.write("src/old.py", "def stays():\n    return 2\n");
    sandbox.write("src/new.py", "def zork_moved():\n    return \"zork\"\n");
    sandbox
        .write("src/renamed.py", "def limit():\n    return 2\n\n\ndef secret(a):\n    return \"zork\" + a\n");
    let diff = sandbox
        .slop(&["view", "--mode", "diff", "src/gone.py", "src/old.py", "src/new.py", "src/renamed.py"]);
    assert!(diff.code == 0 && !diff.out.contains("zork") && !diff.out.contains("secret"), "{diff:?}");
    for shown in [
        "-def shown():",
        "-    return 1",
        "+    return 2",
        "not shown: 3 lines of HEAD that may be of what its mask hides",
    ] {
        assert!(diff.out.contains(shown), "{shown}: {diff:?}");
    }
    std::fs::remove_file(sandbox.path("src/renamed.py")).unwrap();
    let deleted = sandbox.slop(&["view", "--mode", "diff", "src"]);
    assert!(deleted.out.contains("not shown: 6 lines") && !deleted.out.contains("zork"), "{deleted:?}");
    for command in [&["impact", "--diff", "HEAD"][..], &full, &tier] {
        let ran = sandbox.slop(command);
        assert!(
            ran.code == 0 && !ran.out.contains("zork") && !ran.err.contains("zork"),
            "{command:?}: {ran:?}"
        );
    }
}

#[test]
fn a_diff_with_unchanged_hidden_symbols_shows_removed_lines() {
    let sandbox = project();
    sandbox
        .write("src/engine.py", ENGINE.replace("LIMIT = 3", "LIMIT = 4").replace("zork\", what", "zork\""));
    let diff = sandbox.stdout_of(&["view", "--mode", "diff", "src/engine.py"]);
    assert!(diff.contains("-LIMIT = 3\n+LIMIT = 4") && !diff.contains("zork"), "{diff}");
}
