//! Curation within a request: entries, presets, personas and discussions that are in no file.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use super::daemon::harness::{DaemonConnection, TestDaemon};
use super::mcp::McpClient;
use super::sandbox::{Sandbox, list, text, texts};

const ENGINE: &str = "class Engine:\n    \"\"\"Runs things.\"\"\"\n\n    def run(self, speed):\n        \"\"\"Runs at a speed.\"\"\"\n        \
    return speed * 3\n\n    def _zork(self):\n        return \"zork\"\n\n\ndef helper():\n    return Engine().run(1)\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("src/engine.py", ENGINE);
    sandbox.write("src/other.py", "def other():\n    return 2\n");
    sandbox.write("README.md", "# Things\n\nA project of things.\n");
    sandbox.write(
        "slop.toml",
        "[[files]]\npath = 'src/engine.py'\nast_mask = { 'Engine.run' = 'sig' }\n\
         [presets.core]\nfiles = ['src/engine.py']\n\
         [personas.reader]\ntier = 3\nview = 'outline'\nfocus = ['src/other.py']\nbudget_tokens = 900\n",
    );
    sandbox.commit_all("one");
    sandbox
}

/// Returns a document's text and the files in its receipt.
#[track_caller]
fn document(client: &mut DaemonConnection, body: &Value) -> (String, Value) {
    let data = client.query("/v1/aggregate", body)["data"].take();
    (text(&data["text"]), data["receipt"].clone())
}

#[track_caller]
fn view_of(receipt: &Value, path: &str) -> (String, String) {
    let file = list(&receipt["files"]).find(|file| file["path"] == path);
    let file = file.unwrap_or_else(|| panic!("{path} is not in {receipt}"));
    (text(&file["view"]), text(&file["rule"]))
}

#[test]
fn two_workers_can_use_different_masks_without_settings() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let masked =
        |mask: Value| json!({"choice": {"tier": 3, "items": [{"path": "src/engine.py", "ast_mask": mask}]}});
    let hiding = masked(json!({"Engine._zork": "hide"}));
    let (one, _) = document(&mut client, &hiding);
    let (two, _) = document(&mut client, &masked(json!({"helper": "def"})));
    assert!(one.contains("return speed * 3") && one.contains("def helper") && !one.contains("zork"), "{one}");
    assert!(two.contains("return Engine().run(1)") && !two.contains("speed"), "{two}");
    // Neither affects requests without curation.
    let (plain, receipt) = document(&mut client, &json!({"choice": {"tier": 3}}));
    assert!(plain.contains("def run(self, speed)") && !plain.contains("return speed"), "{plain}");
    assert_eq!(view_of(&receipt, "src/engine.py"), ("masked".into(), "mask".into()));
    // An entry replaces that of the settings completely, even if it sets nothing.
    let reset = json!({"choice": {"tier": 3, "items": [{"path": "src/*.py"}]}});
    let (_, receipt) = document(&mut client, &reset);
    assert_eq!(view_of(&receipt, "src/engine.py"), ("skeleton".into(), "tier".into()));

    let explain = json!({"file": "src/engine.py", "choice": hiding["choice"]});
    let explained = client.query("/v1/explain", &explain)["data"][0].take();
    assert_eq!(explained["decided_by"], "mask");
    let item =
        json!({"path": "src/engine.py", "custom_slices": [{"start_line": 4, "end_line": 4, "tag": "hot"}]});
    let views =
        client.query("/v1/view", &json!({"files": ["src/engine.py"], "items": [item]}))["data"].take();
    assert_eq!(views[0]["view"], "custom");
    let shown = text(&views[0]["text"]);
    assert!(shown.contains("[Slice: hot]\nLines 4-4:\n    def run(self, speed):\n"), "{shown}");
}

#[test]
fn a_wrong_entry_is_refused_with_its_position_and_key() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let good = json!({"path": "src/engine.py"});
    let cases = [
        (
            json!({"choice": {"items": [good, {"path": "a", "view_mode": "skelton"}]}}),
            "`choice.items[1].view_mode`: ",
        ),
        (json!({"items": [good, {"path": "a", "ast_mask": {"A.b": "maybe"}}]}), "`items[1].ast_mask.A.b`: "),
        (json!({"items": [{"path": "a", "forcefull": true}]}), "`items[0].forcefull`: unknown field"),
        (json!({"preset": {"files": ["a", {"tier": 9}]}}), "`preset.files[1].tier`: no tier 9"),
        (json!({"persona": {"tier": 3, "view": "window"}}), "`persona.view`: unknown variant `window`"),
        (json!({"history": 3}), "`history`: invalid type: integer `3`, expected the path of a file"),
        (
            json!({"tier": 1, "choice": {"tier": 2}}),
            "`tier`: it is given both at the top level and in `choice`",
        ),
    ];
    for (body, begins) in cases {
        let (status, answer) = client.try_query("/v1/aggregate", &body);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("bad_json")), "{body}: {answer}");
        let message = text(&answer["error"]["message"]);
        assert!(message.starts_with(&format!("invalid body: {begins}")), "{message}");
    }
    let entries = vec![good; 10_001];
    assert_eq!(client.try_query("/v1/view", &json!({"files": ["src"], "items": entries})).0, 422);
    // A pattern without matches is not an error, because files come and go.
    let (_, receipt) =
        document(&mut client, &json!({"items": [{"path": "src/gone.py", "force_full": true}]}));
    assert!(texts(&receipt["missing"], "word").contains(&"src/gone.py".to_owned()), "{receipt}");
    let some = json!({"files": ["src/engine.py"], "items": [{"path": "src/gone.py", "force_full": true}]});
    let preset = json!({"preset": {"files": ["src/gone.py", "src/engine.py"]}});
    for body in [some, preset] {
        let (_, receipt) = document(&mut client, &body);
        assert_eq!(texts(&receipt["missing"], "word"), ["src/gone.py"], "{receipt}");
    }
}

#[test]
fn a_mask_without_existing_symbols_is_a_problem_and_the_tiers_view_is_shown() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let masked = |mask: Value| json!({"tier": 3, "files": ["src"], "items": [{"path": "src/engine.py", "ast_mask": mask}]});
    let (_, receipt) = document(&mut client, &masked(json!({"helpr": "sig"})));
    assert_eq!(view_of(&receipt, "src/engine.py"), ("skeleton".into(), "mask".into()));
    let expected = "the mask for `src/engine.py` shows nothing by `helpr`: no symbol of the file has that name \
                    (nearest: helper";
    let problem = &receipt["problems"][0];
    assert!(problem["section"] == "items" && text(&problem["why"]).starts_with(expected), "{receipt}");
    let (_, receipt) = document(&mut client, &masked(json!({"helper": "sig"})));
    assert_eq!((view_of(&receipt, "src/engine.py").0, &receipt["problems"]), ("masked".into(), &json!([])));
}

#[test]
fn a_preset_and_a_persona_need_not_be_in_the_settings() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    // The keys of `choice` and `attachments` are accepted at the top level too.
    let preset = json!({"files": ["README.md", {"path": "src/engine.py", "force_full": true}]});
    let (_, receipt) = document(&mut client, &json!({"tier": 1, "preset": preset}));
    let mut shown = texts(&receipt["files"], "path");
    shown.sort();
    assert_eq!(shown, ["README.md", "src/engine.py"]);
    assert_eq!(view_of(&receipt, "src/engine.py").1, "force_full");
    // The request's own entry takes precedence over that of its preset.
    let items = json!([{"path": "src/engine.py", "view_mode": "outline"}]);
    let (_, receipt) = document(&mut client, &json!({"tier": 1, "preset": "core", "items": items}));
    assert_eq!(view_of(&receipt, "src/engine.py"), ("outline".into(), "view_mode".into()));

    let (_, receipt) = document(&mut client, &json!({"persona": "reader"}));
    assert_eq!((&receipt["budget_tokens"], &receipt["name"]), (&json!(900), &json!("persona-reader")));
    assert_eq!(view_of(&receipt, "src/other.py"), ("full".into(), "focus".into()));
    let inline = json!({
        "name": "mine", "tier": 3, "budget_tokens": 0, "view": "summary", "focus": ["src/other.py"],
        "focus_view": "outline", "languages": {"markdown": {"view": "full"}},
    });
    let (_, receipt) = document(&mut client, &json!({"persona": inline}));
    assert_eq!((&receipt["budget_tokens"], &receipt["name"]), (&Value::Null, &json!("persona-mine")));
    assert_eq!(view_of(&receipt, "src/other.py"), ("outline".into(), "focus".into()));
    assert_eq!(view_of(&receipt, "README.md"), ("full".into(), "tier_language".into()));
    // The question itself takes precedence. Within a limit, a view for all files decides nothing, which is reported.
    let unlimited = client.query("/v1/aggregate", &json!({"persona": inline}));
    assert_eq!(unlimited["notes"], json!([]));
    let body = json!({"persona": inline, "focus": ["README.md"], "budget": 700});
    let limited = client.query("/v1/aggregate", &body);
    assert!(limited["notes"].to_string().contains("the persona's `view`"), "{limited}");
    let (_, receipt) = document(&mut client, &body);
    assert_eq!(receipt["budget_tokens"], 700);
    assert_eq!(view_of(&receipt, "README.md"), ("outline".into(), "focus".into()));
}

#[test]
fn a_discussion_in_the_body_leaves_the_prefix_unchanged() {
    let sandbox = project();
    sandbox.write("history.toml", "history = ['From a file.']\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let long = "word ".repeat(2_000);
    let messages =
        json!([{"role": "user", "content": "Make it faster."}, {"role": "tool", "content": null}, long]);
    let body = json!({"tier": 2, "history": messages});
    let (said, _) = document(&mut client, &body);
    let discussion = said.split("## Discussion History").nth(1).unwrap();
    assert!(discussion.contains("user: Make it faster.\n\n---\n\n"), "{discussion}");
    assert!(discussion.contains(long.trim()) && !said.contains("From a file."));
    let (text_alone, _) = document(&mut client, &json!({"tier": 2, "history": {"text": "Only this."}}));
    assert!(text_alone.contains("Only this."));
    let prefix = |text: &str| text.split("## Discussion History").next().unwrap().to_owned();
    assert_eq!(prefix(&said), prefix(&text_alone));
    let (prefix_alone, _) = document(&mut client, &json!({"tier": 2, "history": messages, "part": "prefix"}));
    assert_eq!(prefix(&said).trim_end(), prefix_alone.trim_end());
    let (status, answer) = client.try_query("/v1/aggregate", &json!({"history": [{"role": "user"}]}));
    assert_eq!((status, &answer["error"]["code"]), (422, &json!("bad_discussion")), "{answer}");
    assert!(text(&answer["error"]["message"]).contains("entry 1"), "{answer}");
}

#[test]
fn documents_of_one_name_and_different_curation_are_not_compared() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let ask = |mask: &Value| json!({"tier": 3, "name": "worker", "since_last": true, "items": [{"path": "src/engine.py", "ast_mask": mask}]});
    let (open, closed) = (json!({"Engine": "def"}), json!({"Engine": "def", "Engine._zork": "hide"}));
    assert!(document(&mut client, &ask(&open)).0.contains("zork"));
    let (first, _) = document(&mut client, &ask(&closed));
    assert!(first.contains("return speed * 3") && !first.contains("zork"), "{first}");
    sandbox
        .write("src/engine.py", ENGINE.replace("speed * 3", "speed * 4").replace("\"zork\"", "\"zork 2\""));
    let (second, _) = document(&mut client, &ask(&closed));
    assert!(second.contains("+        return speed * 4") && !second.contains("zork"), "{second}");
    assert!(!second.contains("README"), "{second}");
    assert!(document(&mut client, &ask(&open)).0.contains("zork 2"));
}

#[test]
fn an_agent_sends_its_entries_and_discussion() {
    let sandbox = project();
    sandbox.write("shot.png", b"\x89PNG\r\n\x1a\n");
    let mut agent = McpClient::start(&sandbox);
    let preset = json!({"files": ["src/engine.py"]}).to_string();
    let arguments = json!({
        "preset": preset, "items": [{"path": "src/engine.py", "ast_mask": {"helper": "def"}}],
        "history": "We agreed on it.", "screenshots": ["shot.png"],
    });
    let (is_refused, words) = agent.call_tool("slop_aggregate", &arguments);
    assert!(!is_refused && words.contains("def helper") && !words.contains("speed"), "{words}");
    assert!(
        words.contains("We agreed on it.") && words.contains("shot.png") && !words.contains("README"),
        "{words}"
    );
    let items = json!([{"path": "src/engine.py", "ast_mask": {"Engine.run": "sig"}}]);
    let (_, words) = agent.call_tool("slop_view", &json!({"files": ["src/engine.py"], "items": items}));
    assert!(words.contains("def run(self, speed)") && !words.contains("helper"), "{words}");
    let wrong = json!({"items": [{"path": "src/engine.py", "tier": 7}]});
    let (is_refused, words) = agent.call_tool("slop_aggregate", &wrong);
    assert!(is_refused && words.contains("invalid arguments: items[0].tier: no tier 7"), "{words}");
    agent.close();
}

#[test]
fn entries_come_from_a_file_on_the_command_line() {
    let sandbox = project();
    fs::write(sandbox.outside("items.json"), r#"[{"path": "src/engine.py", "ast_mask": {"helper": "def"}}]"#)
        .unwrap();
    let shown = sandbox.stdout_of(&["aggregate", "--stdout", "--tier", "3", "--items", "../items.json"]);
    assert!(shown.contains("return Engine().run(1)") && !shown.contains("speed"), "{shown}");
    let shown = sandbox.stdout_of(&["view", "src/engine.py", "--bare", "--items", "../items.json"]);
    assert_eq!(shown, "def helper():\n    return Engine().run(1)\n");
    fs::write(sandbox.outside("items.json"), r#"[{"path": "a"}, {"path": "b", "tier": "x"}]"#).unwrap();
    let ran = sandbox.slop(&["aggregate", "--stdout", "--items", "../items.json"]);
    assert_eq!(ran.code, 1);
    let error = "invalid items in ../items.json: [1].tier: invalid type: string \"x\", expected an integer from 1 to 4\n";
    assert!(ran.err.contains(error), "{}", ran.err);
    fs::write(sandbox.outside("items.json"), r#"[{"path": "a", "viewmode": "full"}, "b"]"#).unwrap();
    let ran = sandbox.slop(&["aggregate", "--stdout", "--items", "../items.json"]);
    assert!(ran.err.contains("; did you mean `view_mode`?\n"), "{}", ran.err);
    fs::write(sandbox.outside("items.json"), r#"["b"]"#).unwrap();
    let ran = sandbox.slop(&["aggregate", "--stdout", "--items", "../items.json"]);
    assert!(
        ran.err.contains("[0]: invalid type: string \"b\", expected an object with path\n"),
        "{}",
        ran.err
    );
    let many: Vec<String> = (0..40_000).map(|at| format!("{{\"path\": \"src/module{at}.py\"}}")).collect();
    fs::write(sandbox.outside("items.json"), format!("[{}]", many.join(","))).unwrap();
    let ran = sandbox.slop(&["aggregate", "--stdout", "--items", "../items.json"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("items in ../items.json are larger than 1048576 bytes"), "{}", ran.err);
}

#[test]
fn secrets_in_slice_comments_and_in_roles_are_not_shown() {
    let sandbox = project();
    let secret = concat!("ghp_", "x7Kq2mVn9RtB4wLz8YpC3hJd6FsG1aEu5TiO");
    let slice = json!({"start_line": 1, "end_line": 2, "tag": secret, "comment": format!("token {secret}")});
    let settings = format!(
        "[[files]]\npath = 'src/other.py'\n[[files.custom_slices]]\nstart_line = 1\nend_line = 1\n\
         tag = '{secret}'\ncomment = 'see {secret}'\n"
    );
    sandbox.write("slop.toml", &settings);
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let items = json!([{"path": "src/engine.py", "custom_slices": [slice]}]);
    let history = json!([{"role": secret, "content": "Hello."}]);
    let body = json!({"tier": 3, "items": items, "history": history, "receipt": "all"});
    for (path, body) in [
        ("/v1/aggregate", body),
        ("/v1/view", json!({"files": ["src/engine.py"], "items": items})),
        ("/v1/view", json!({"files": ["src/other.py"], "mode": "custom"})),
        ("/v1/hydrate", json!({})),
        ("/v1/curation", json!({})),
    ] {
        let answer = client.query(path, &body).to_string();
        assert!(!answer.contains(&secret[4..]), "{path}: {answer}");
        assert!(path == "/v1/hydrate" || answer.contains("(redacted:"), "{path}: {answer}");
    }
}

#[test]
fn an_entry_for_a_file_that_is_not_shown_is_a_problem() {
    let sandbox = project();
    sandbox.write("data.bin", b"\0\x01\x02");
    sandbox.write(".env", "A=1\n");
    sandbox.write("src/\u{e9}.py", "def e():\n    return 1\n");
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let entries = json!([{"path": "data.bin", "force_full": true}, {"path": ".env"}, {"path": "src/other.py"},
        {"path": "*.bin"}, {"path": "data.bin/x", "auto_aggregate": false}]);
    // The first answer reads the files.
    for _ in 0..2 {
        let answer = client
            .query("/v1/aggregate", &json!({"tier": 3, "files": ["src", "data.bin"], "items": entries}));
        let notes = answer["notes"].to_string();
        assert!(notes.contains("the entry for `.env` shows nothing: holds secrets by its name"), "{notes}");
        assert!(!notes.contains("data.bin"), "{notes}");
        let answer = client.query("/v1/aggregate", &json!({"tier": 3, "items": entries}));
        let problems = &answer["data"]["receipt"]["problems"];
        let expected = "the entry for `data.bin` shows nothing: not text";
        assert!(list(problems).any(|problem| problem["why"] == expected), "{problems}");
    }
}

#[test]
fn a_lost_slice_of_an_entry_is_a_problem() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let items = json!([{"path": "src/engine.py", "custom_slices": [{"start_line": 900, "end_line": 901}]}]);
    let answer =
        daemon.connect().query("/v1/aggregate", &json!({"files": ["src/engine.py"], "items": items}));
    let expected = "src/engine.py: the slice of lines 900-901 is lost";
    let problem = &answer["data"]["receipt"]["problems"][0];
    assert!(text(&problem["why"]).starts_with(expected) && problem["is_error"] == true, "{answer}");
    assert!(answer["notes"].to_string().contains(expected), "{answer}");
}

#[test]
fn a_bare_document_reports_missing_parts_in_its_headers() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let body =
        json!({"files": ["src"], "items": [{"path": "nope.py"}], "screenshots": ["a.png"]}).to_string();
    let mut stream = UnixStream::connect(daemon.socket()).unwrap();
    let length = body.len();
    write!(
        stream,
        "POST /v1/aggregate HTTP/1.1\r\nhost: slop\r\nconnection: close\r\naccept: text/markdown\r\n\
         content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut heard = String::new();
    stream.read_to_string(&mut heard).unwrap();
    let notes = heard.lines().find(|line| line.starts_with("slop-notes: ")).unwrap_or_default();
    assert!(notes.contains("nope.py: an entry of `items`"), "{heard}");
    assert!(notes.contains("screenshots: a.png: file not found"), "{heard}");
}

#[test]
fn a_record_with_a_single_curation_is_found_without_naming_it() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut client = daemon.connect();
    let entries = |state: &str| json!([{"path": "src/engine.py", "ast_mask": {"helper": state}}]);
    client.query("/v1/aggregate", &json!({"tier": 3, "name": "w", "items": entries("sig")}));
    let given = client.query("/v1/given", &json!({"name": "w"}));
    assert_eq!(given["data"]["names"][0]["name"], "w", "{given}");
    assert!(given["data"]["names"][0]["curation"].is_string(), "{given}");
    client.query("/v1/aggregate", &json!({"tier": 3, "name": "w", "items": entries("def")}));
    sandbox
        .slop(&["given", "w"])
        .assert_fails(1, &["documents named `w` are remembered by curation: ", "--curation"]);
}

#[test]
fn an_entry_that_matches_no_file_is_reported_whatever_files_are_requested() {
    let sandbox = project();
    let paths = ["nope/*.py", "/etc/passwd", "../x", "nope.py"];
    let entries = paths.iter().chain(&["src/*"]).map(|path| json!({"path": path}));
    sandbox.write("items.json", json!(entries.collect::<Vec<_>>()).to_string());
    for files in [&[][..], &["src"]] {
        let document = sandbox.aggregate_json(&[&["--items", "items.json"], files].concat());
        let missing = document["receipt"]["missing"].as_array().unwrap();
        let mut words: Vec<&str> = missing.iter().map(|missing| missing["word"].as_str().unwrap()).collect();
        words.sort_unstable();
        assert_eq!(words, ["../x", "/etc/passwd", "nope.py", "nope/*.py"], "{files:?}");
    }
}
