//! `slop lsp`, tested as an editor uses it: a process with headers and JSON on its standard input and output.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use super::sandbox::Sandbox;

struct LspClient<'s> {
    sandbox: &'s Sandbox,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last_id: u64,
}

impl<'s> LspClient<'s> {
    fn start(sandbox: &'s Sandbox) -> Self {
        let mut command = sandbox.command(&["lsp", "--stdio"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { sandbox, child, input, output, last_id: 0 }
    }

    fn initialized(sandbox: &'s Sandbox) -> Self {
        let mut client = Self::start(sandbox);
        let root = format!("file://{}", sandbox.root().display());
        let symbols = json!({"documentSymbol": {"hierarchicalDocumentSymbolSupport": true}});
        let hello = json!({"rootUri": root, "capabilities": {"textDocument": symbols}});
        let answer = client.request("initialize", &hello);
        assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-16");
        client.notify("initialized", &json!({}));
        client
    }

    fn send_text(&mut self, text: &str) {
        self.input.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.send_text(&format!("Content-Length: {}\r\n\r\n{text}", text.len()));
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.receive();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn receive(&mut self) -> Value {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server has exited");
            match line.trim_end().split_once(": ") {
                Some(("Content-Length", value)) => length = value.parse().unwrap(),
                Some(_) => {}
                None => break,
            }
        }
        let mut content = vec![0; length];
        self.output.read_exact(&mut content).unwrap();
        serde_json::from_slice(&content).unwrap()
    }

    fn uri(&self, path: &str) -> String {
        format!("file://{}", self.sandbox.path(path).display())
    }

    /// Asks about a position; lines and columns count from 0.
    fn at(&mut self, method: &str, path: &str, line: u32, character: u32) -> Value {
        let params = json!({
            "textDocument": {"uri": self.uri(path)},
            "position": {"line": line, "character": character},
            "context": {"includeDeclaration": true},
        });
        self.request(method, &params)["result"].take()
    }

    fn exit(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

impl Drop for LspClient<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ENGINE: &str =
    "class Engine:\n    def start(self):\n        \"\"\"Starts it.\"\"\"\n        return 1\n";
const USER: &str = "from engine import Engine\n\n\ndef main():\n    é = '🦀'; Engine().start()\n";

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("engine.py", ENGINE);
    sandbox.write("main.py", USER);
    sandbox
}

fn places(found: &Value) -> Vec<(String, u64, u64)> {
    let place = |one: &Value| {
        let uri = one["uri"].as_str().unwrap();
        let start = &one["range"]["start"];
        let name = uri.rsplit('/').next().unwrap().to_owned();
        (name, start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap())
    };
    found.as_array().unwrap().iter().map(place).collect()
}

#[test]
fn an_editor_finds_definitions_references_and_symbols_in_unsaved_text_too() {
    let sandbox = project();
    let mut client = LspClient::initialized(&sandbox);
    let definition = ("engine.py".to_owned(), 1, 8);
    // The crab is two UTF-16 code units, so `start` begins at column 23.
    let start = ("main.py".to_owned(), 4, 23);
    assert_eq!(
        places(&client.at("textDocument/definition", "main.py", 4, 26)),
        std::slice::from_ref(&definition)
    );
    assert_eq!(places(&client.at("textDocument/references", "engine.py", 1, 9)), [definition, start]);
    let hover = client.at("textDocument/hover", "main.py", 4, 26).to_string();
    assert!(hover.contains("def start(self)") && hover.contains("Starts it."), "{hover}");
    assert_eq!(client.at("textDocument/definition", "main.py", 4, 13), Value::Null);

    let opened =
        json!({"uri": client.uri("engine.py"), "languageId": "python", "version": 1, "text": ENGINE});
    client.notify("textDocument/didOpen", &json!({"textDocument": opened}));
    let top = json!({"line": 0, "character": 0});
    let change = json!({"range": {"start": top, "end": top}, "text": "class New:\n    pass\n\n"});
    let document = json!({"uri": client.uri("engine.py"), "version": 2});
    client.notify("textDocument/didChange", &json!({"textDocument": document, "contentChanges": [change]}));
    let symbols = client.request("textDocument/documentSymbol", &json!({"textDocument": document}));
    let symbols: Vec<_> = symbols["result"].as_array().unwrap().iter().collect();
    assert_eq!((&symbols[0]["name"], &symbols[1]["children"][0]["name"]), (&json!("New"), &json!("start")));
    // The definition is where the editor's unsaved text has it, not the file on disk.
    let moved = ("engine.py".to_owned(), 4, 8);
    assert_eq!(places(&client.at("textDocument/definition", "main.py", 4, 26)), [moved]);
    let folds = client.request("textDocument/foldingRange", &json!({"textDocument": document}));
    assert_eq!(folds["result"].as_array().unwrap().len(), 3);
    let found = client.request("workspace/symbol", &json!({"query": "New"}));
    assert_eq!(found["result"][0]["name"], "New");

    assert_eq!(client.request("shutdown", &Value::Null)["result"], Value::Null);
    client.notify("exit", &Value::Null);
    assert_eq!(client.exit(), Some(0));
}

#[test]
fn malformed_messages_are_refused_and_the_server_continues() {
    let sandbox = project();
    sandbox.write("secret.py", "TOKEN = 'ghp_16C7e42F292c6912E7710c838347Ae178B4a'\n");
    let mut client = LspClient::start(&sandbox);
    assert_eq!(client.request("textDocument/hover", &json!({}))["error"]["code"], -32002);
    client.send_text("garbage\r\n\r\n");
    assert_eq!(client.receive()["error"]["code"], -32700);
    let hello = json!({"rootUri": format!("file://{}", sandbox.root().display()), "capabilities": {}});
    client.request("initialize", &hello);
    assert_eq!(client.request("no/such", &json!({}))["error"]["code"], -32601);
    assert_eq!(client.request("textDocument/hover", &json!({"position": 3}))["error"]["code"], -32602);
    assert_eq!(client.at("textDocument/definition", "not/there.py", 0, 0), Value::Null);
    let hover = client.at("textDocument/hover", "secret.py", 0, 1).to_string();
    assert!(!hover.contains("ghp_16C7"), "{hover}");
    client.notify("exit", &Value::Null);
    assert_eq!(client.exit(), Some(1));
}

#[test]
fn a_note_is_sent_once() {
    let sandbox = project();
    sandbox.write(".git/index", "broken");
    let mut client = LspClient::initialized(&sandbox);
    for id in 100..108 {
        let params = json!({"query": "Engine"});
        client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "workspace/symbol", "params": params}));
    }
    client.send(&json!({"jsonrpc": "2.0", "id": 108, "method": "shutdown"}));
    let (mut notes, mut answers) = (0, 0);
    while answers < 9 {
        let message = client.receive();
        notes += usize::from(message["method"] == "window/logMessage");
        answers += usize::from(message.get("id").is_some());
    }
    assert_eq!(notes, 1);
}
