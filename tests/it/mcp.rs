//! `slop mcp`, tested as a client uses it: a process with one line of JSON per message.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::daemon::harness::TestDaemon;
use super::sandbox::{Sandbox, list, text, texts};

pub(crate) struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl McpClient {
    /// Starts the server in the project's folder and initializes the session.
    pub(crate) fn start(sandbox: &Sandbox) -> Self {
        Self::start_in(sandbox, &sandbox.root()).0
    }

    /// Starts the server in a folder and returns its answer to the initialization, too.
    pub(crate) fn start_in(sandbox: &Sandbox, folder: &Path) -> (Self, Value) {
        let mut command = sandbox.command(&["mcp"]);
        command.current_dir(folder);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut agent = Self { child, input, output, last_id: 0 };
        let client = json!({"name": "test", "version": "0"});
        let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
        let initialized = agent.request("initialize", &hello)["result"].take();
        assert_eq!(initialized["serverInfo"]["name"], "slop");
        agent.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (agent, initialized)
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(answer["id"], self.last_id, "{answer}");
        answer
    }

    /// Calls a tool and returns whether it failed, and its text.
    #[track_caller]
    pub(crate) fn call_tool(&mut self, tool: &str, arguments: &Value) -> (bool, String) {
        let answer = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        let result = &answer["result"];
        (result["isError"] == true, text(&result["content"][0]["text"]))
    }

    #[track_caller]
    fn call_text(&mut self, tool: &str, arguments: &Value) -> String {
        let (is_refused, words) = self.call_tool(tool, arguments);
        assert!(!is_refused, "{words}");
        words
    }

    /// Closes the input, checks that the server exits silently with success, and returns its standard error.
    #[track_caller]
    pub(crate) fn close(mut self) -> String {
        drop(self.input.take());
        self.exit_summary()
    }

    #[track_caller]
    fn exit_summary(mut self) -> String {
        let (mut out, mut err) = (String::new(), String::new());
        self.output.read_to_string(&mut out).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!(self.child.wait().unwrap().code(), Some(0), "{err}");
        assert_eq!(out, "");
        err
    }
}

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    let body = "        a = 1\n        b = 2\n        return a + b\n";
    sandbox.write("src/engine.py", format!("class Engine:\n    def run(self):\n{body}"));
    sandbox.write("README.md", "# Engines\n\nThey run.\n");
    sandbox
}

#[test]
fn a_document_with_a_command_names_the_corresponding_tool() {
    let sandbox = project();
    let body = |word: &str| {
        (0..60).fold("def long(a):\n".to_owned(), |text, at| format!("{text}    a = {word}(a, {at})\n"))
    };
    sandbox.write("src/long.py", body("plus"));
    let mut agent = McpClient::start(&sandbox);
    let question = json!({"files": ["src/long.py"], "focus": ["src/long.py"], "reader": "r"});
    let words = agent.call_text("slop_aggregate", &question);
    assert!(!words.contains("slop view"), "{words}");
    sandbox.write("src/long.py", body("minus"));
    let words = agent.call_text("slop_aggregate", &question);
    assert!(words.contains("@@ slop view src/long.py --mask long=def\n"), "{words}");
    assert!(
        words.contains(
            "\n[`slop view PATH --lines A-B --mask NAME=def` in the document is the tool slop_view"
        ),
        "{words}"
    );
}

#[test]
fn every_tool_answers_from_the_current_files() {
    let sandbox = project();
    let mut agent = McpClient::start(&sandbox);
    let words = agent.call_text("slop_aggregate", &json!({"tier": 1}));
    assert!(words.contains("\n### src/engine.py\n") && words.contains(" tokens of 20000, "), "{words}");
    let words = agent.call_text("slop_view", &json!({"files": ["src"], "mode": "skeleton"}));
    assert!(words.contains("def run(self):") && !words.contains("return a + b"), "{words}");
    let words = agent.call_text("slop_outline", &json!({"files": [sandbox.path("src/engine.py")]}));
    assert!(words.contains("1-5 [class] class Engine\n  2-5 [method] def run(self)\n"), "{words}");
    let words = agent.call_text("slop_symbol", &json!({"name": "Engine.run", "definition": true}));
    assert!(words.starts_with("src/engine.py:2-5 [method] Engine.run\n"), "{words}");
    let words = agent.call_text("slop_refs", &json!({"mode": "uses", "target": "src/engine.py:Engine"}));
    assert!(words.starts_with("src/engine.py:1-5 [class] Engine\n[0 uses]\n"), "{words}");
    // Answers reflect the files at the time of the query.
    sandbox.write("src/engine.py", "class Engine:\n    def walk(self):\n        return 2\n");
    let words =
        agent.call_text("slop_view", &json!({"files": ["src/engine.py"], "symbols": ["Engine.walk"]}));
    assert!(
        words.contains("return 2") && words.ends_with("[fresh: this is how the files were when you asked]")
    );
    let gone = json!({"files": ["src/../src/engine.py"], "symbols": ["Engine.run"]});
    let (is_refused, words) = agent.call_tool("slop_view", &gone);
    assert!(is_refused && words.contains("code: no_such_symbol"), "{words}");
    assert!(words.contains("the mask names what is not there: `Engine.run`\n"), "{words}");
    let misspelled = json!({"files": ["src/engine.py"], "symbols": ["Engine.wlak"]});
    let (is_refused, words) = agent.call_tool("slop_view", &misspelled);
    assert!(is_refused && words.contains("`Engine.wlak` (nearest: Engine.walk)"), "{words}");
    let (is_refused, words) = agent.call_tool("slop_symbol", &json!({"name": "Engine.run"}));
    assert!(is_refused && words.contains("code: not_found"), "{words}");
    let (_, words) = agent.call_tool("slop_symbol", &json!({"name": "wlak"}));
    assert!(words.contains("no symbol named `wlak` in the project; nearest names: `walk`"), "{words}");
    let answer = agent.request("tools/call", &json!({"name": "slop_status", "arguments": {}}));
    let files = &answer["result"]["structuredContent"]["files"];
    assert_eq!(texts(files, "path"), ["README.md", "src/engine.py"]);
    assert_eq!(agent.close(), "");
}

#[test]
fn an_agent_cannot_see_a_hidden_symbol_by_requesting_it() {
    let sandbox = project();
    let body = "    def run(self):\n        return 1\n\n    def _key(self):\n        return \"hunter2\"\n";
    sandbox.write("src/engine.py", format!("class Engine:\n{body}"));
    let mut agent = McpClient::start(&sandbox);
    let mask = json!({"Engine._key": "hide"});
    let own = json!([{"path": "src/engine.py", "ast_mask": mask}]);
    for items in [own, json!([])] {
        for symbol in ["Engine._key", "Engine._kye", "Engine"] {
            let arguments = json!({"files": ["src/engine.py"], "symbols": [symbol], "items": items});
            let (is_refused, words) = agent.call_tool("slop_view", &arguments);
            assert_eq!(is_refused, symbol != "Engine", "{words}");
            let named = words.replace(&format!("`{symbol}`"), "");
            assert!(!named.contains("hunter2") && !named.contains("_key"), "{symbol}: {words}");
        }
        sandbox.write(
            "slop.toml",
            "[[files]]\npath = \"src/engine.py\"\nast_mask = { \"Engine._key\" = \"hide\" }\n",
        );
    }
    // The user may look at it: the mask of the command line replaces that of the settings.
    let view = sandbox.stdout_of(&["view", "src/engine.py", "--mask", "Engine._key=def"]);
    assert!(view.contains("hunter2"), "{view}");
    agent.close();
}

#[test]
fn every_file_is_a_resource() {
    let sandbox = project();
    sandbox.write("a b%20[1].md", "# Odd\n");
    let mut agent = McpClient::start(&sandbox);
    let answer = agent.request("resources/list", &json!({}));
    let resources = &answer["result"]["resources"];
    assert_eq!(texts(resources, "title"), ["README.md", "a b%20[1].md", "src/engine.py"]);
    let contents: Vec<String> = list(resources)
        .map(|resource| {
            let answer = agent.request("resources/read", &json!({"uri": resource["uri"]}));
            text(&answer["result"]["contents"][0]["text"])
        })
        .collect();
    assert_eq!(contents[..2], ["# Engines\n\nThey run.\n", "# Odd\n"]);
    let answer = agent.request("resources/read", &json!({"uri": "slop://view/outline/src/engine.py"}));
    let outline = text(&answer["result"]["contents"][0]["text"]);
    assert!(outline.starts_with("[Class] Engine"), "{outline}");
    agent.close();
}

#[test]
fn an_agent_places_files_and_keeps_the_places() {
    let sandbox = Sandbox::repo();
    for name in ["cookies", "routing", "mail", "cache"] {
        let function =
            |at| format!("def {name}_{at}(value):\n    total = value * {at}\n    return total\n\n\n");
        sandbox.write(format!("src/{name}.py"), (0..15).map(function).collect::<String>());
    }
    sandbox.commit_all("first");
    let mut agent = McpClient::start(&sandbox);
    let hot = |agent: &mut McpClient| {
        let answer = agent.request("resources/read", &json!({"uri": "slop://fragments/HOT"}));
        let lines = text(&answer["result"]["contents"][0]["text"]);
        let places = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        places.map(|place| text(&place["path"])).collect::<Vec<_>>()
    };
    // A document that is not hydrated places nothing.
    agent.call_text("slop_aggregate", &json!({"focus": ["cookies.py"], "hydrate": false}));
    assert_eq!(hot(&mut agent), Vec::<String>::new());
    for refused in [json!({"files": ["src/mail.py"]}), json!({"preset": "core"})] {
        let mut arguments = refused.clone();
        arguments["hydrate"] = true.into();
        let (is_refused, words) = agent.call_tool("slop_aggregate", &arguments);
        assert!(is_refused && words.contains("code: bad_arguments"), "{words}");
    }
    assert_eq!(hot(&mut agent), Vec::<String>::new());
    let asked = json!({"focus": ["cookies.py"], "budget": 450, "hydrate": true});
    let words = agent.call_text("slop_aggregate", &asked);
    assert!(words.contains("def cookies_14(value)") && !words.contains("def mail_14(value)"), "{words}");
    assert!(
        words.contains(" of 450, ") && words.contains("; slop://fragments/{tier} lists them]"),
        "{words}"
    );
    let places = hot(&mut agent);
    assert!(places.contains(&"src/cookies.py".to_owned()), "{places:?}");
    // The command line has the same places, and they stay until another hydration is requested.
    assert_eq!(texts(&sandbox.json_lines(&["fragments", "--tier", "hot"]).into(), "path"), places);
    let document = agent.request("resources/read", &json!({"uri": "slop://hydrated"}));
    let document = text(&document["result"]["contents"][0]["text"]);
    assert!(words.starts_with(document.trim_end()), "{document}\n---\n{words}");
    let again = agent.call_text("slop_aggregate", &asked);
    assert!(again.contains("; 0 promoted, 0 demoted; "), "{again}");
    // A daemon hydrates for an agent as well.
    let _daemon = TestDaemon::start(&sandbox);
    let moved = json!({"focus": ["mail.py"], "budget": 450, "hydrate": true, "reader": "one"});
    let words = agent.call_text("slop_aggregate", &moved);
    assert!(words.contains("def mail_14(value)"), "{words}");
    assert!(hot(&mut agent).contains(&"src/mail.py".to_owned()));
    agent.close();
}

#[test]
fn an_edit_of_a_file_that_was_read_is_reported_to_the_client() {
    let sandbox = project();
    let mut agent = McpClient::start(&sandbox);
    let engine = json!({"uri": "slop://view/skeleton/src/engine.py"});
    let refused = agent.request("resources/subscribe", &engine);
    assert_eq!(refused["error"]["data"]["code"], "no_daemon", "{refused}");
    let _daemon = TestDaemon::start(&sandbox);
    assert_eq!(agent.request("resources/subscribe", &engine)["result"], json!({}));
    sandbox.write("README.md", "# Others\n");
    sandbox.write("src/engine.py", "class Engine:\n    pass\n");
    let mut line = String::new();
    agent.output.read_line(&mut line).unwrap();
    let received: Value = serde_json::from_str(&line).unwrap();
    let expected = json!({"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": engine});
    assert_eq!(received, expected);
    let answer = agent.request("resources/read", &engine);
    assert_eq!(text(&answer["result"]["contents"][0]["text"]), "class Engine:\n    pass\n");
    agent.close();
}

#[test]
fn files_of_linked_folders_are_resources_and_their_edits_are_reported() {
    let sandbox = project();
    let part = sandbox.outside("lib/part.py");
    fs::create_dir(part.parent().unwrap()).unwrap();
    fs::write(&part, "def part():\n    return 1\n").unwrap();
    assert_eq!(sandbox.slop(&["link", "add", "../lib"]).code, 0);
    let mut agent = McpClient::start(&sandbox);
    let listed = agent.request("resources/list", &json!({}));
    let resource = list(&listed["result"]["resources"]).find(|resource| resource["title"] == "@lib/part.py");
    let address = json!({"uri": resource.unwrap()["uri"]});
    assert_eq!(address["uri"], "slop://view/full/%40lib/part.py");
    let _daemon = TestDaemon::start(&sandbox);
    assert_eq!(agent.request("resources/subscribe", &address)["result"], json!({}));
    fs::write(&part, "def edited():\n    return 1\n").unwrap();
    let mut line = String::new();
    agent.output.read_line(&mut line).unwrap();
    let received: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(received["params"], address, "{received}");
    let answer = agent.request("resources/read", &address);
    assert_eq!(text(&answer["result"]["contents"][0]["text"]), "def edited():\n    return 1\n");
    agent.close();
}

#[test]
fn no_argument_of_an_agent_reaches_outside_of_the_project() {
    let sandbox = project();
    std::fs::write(sandbox.outside("foreign.txt"), "FOREIGN").unwrap();
    std::os::unix::fs::symlink(sandbox.outside("foreign.txt"), sandbox.path("link.txt")).unwrap();
    let mut agent = McpClient::start(&sandbox);
    let absolute = sandbox.outside("foreign.txt").to_str().unwrap().to_owned();
    for word in
        ["../foreign.txt", "src/../../foreign.txt", &absolute, "link.txt", "a\0b", "", "%2e%2e/foreign.txt"]
    {
        for tool in ["slop_view", "slop_outline"] {
            let (_, words) = agent.call_tool(tool, &json!({"files": [word]}));
            assert!(!words.contains("FOREIGN"), "{word}: {words}");
        }
        let (_, words) =
            agent.call_tool("slop_aggregate", &json!({"files": [word], "focus": [word], "tier": 3}));
        assert!(!words.contains("FOREIGN"), "{word}: {words}");
        let answer = agent.request("resources/read", &json!({"uri": format!("slop://view/full/{word}")}));
        assert!(!answer.to_string().contains("FOREIGN"), "{word}: {answer}");
    }
    agent.close();
}

#[test]
fn invalid_settings_are_reported_to_the_agent() {
    let sandbox = project();
    sandbox.write("slop.toml", "limits = 3\n");
    let mut agent = McpClient::start(&sandbox);
    let (is_refused, words) = agent.call_tool("slop_status", &json!({}));
    assert!(is_refused && words.contains("slop.toml"), "{words}");
    // The settings apply as they are at the time of the query.
    sandbox.write("slop.toml", "");
    agent.call_text("slop_status", &json!({}));
    agent.close();
}

#[test]
fn a_signal_ends_the_server_while_a_client_is_connected() {
    let sandbox = project();
    let mut agent = McpClient::start(&sandbox);
    agent.call_text("slop_status", &json!({}));
    let id = agent.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    agent.exit_summary();
}

#[test]
fn a_missing_project_folder_is_an_error_at_startup() {
    let sandbox = project();
    let ran = sandbox.slop(&["mcp", "--project", "nowhere"]);
    ran.assert_fails(1, &["project folder `nowhere` cannot be opened", "--project"]);
}

#[test]
fn every_line_that_cannot_be_read_is_answered() {
    let sandbox = project();
    let mut agent = McpClient::start(&sandbox);
    let unreadable: [&[u8]; 5] = [
        b"not json",
        b"{\"jsonrpc\":\"2.0\",",
        b"{\"id\":1,\"method\":\"\\ud800\"}",
        b"\xff\xfe",
        b"[1,\x00]",
    ];
    for line in unreadable {
        agent.input.as_mut().unwrap().write_all(&[line, b"\n\n"].concat()).unwrap();
        let mut answer = String::new();
        agent.output.read_line(&mut answer).unwrap();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32700), &Value::Null), "{line:?}");
    }
    assert_eq!(agent.request("ping", &json!({}))["result"], json!({}));
}

#[test]
fn a_projects_discussion_is_not_handed_to_an_agent() {
    let sandbox = project();
    sandbox.write("history.toml", "history = ['User: of a file']\n");
    sandbox.write_user_settings("tiers.2.history = true\n");
    let mut agent = McpClient::start(&sandbox);
    let (_, document) = agent.call_tool("slop_aggregate", &json!({"tier": 2}));
    assert!(!document.contains("of a file"), "{document}");
    let (_, document) = agent.call_tool("slop_aggregate", &json!({"tier": 2, "history": "of the agent"}));
    assert!(document.contains("of the agent") && !document.contains("of a file"), "{document}");
}
