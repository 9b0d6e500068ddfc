//! The server as a client meets it: lines of JSON on two streams, with answers that are known beforehand.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;
use std::time::Instant;

use bytes::Bytes;
use serde_json::Value;
use serde_json::json;
use tokio::io::AsyncBufReadExt;
use tokio::io::AsyncWriteExt;
use tokio::io::BufReader;
use tokio::io::DuplexStream;
use tokio::io::ReadHalf;
use tokio::io::WriteHalf;

use super::transport::Ending;
use super::transport::Info;
use super::transport::serve_on;
use crate::api::ask::Ask;
use crate::api::fault::Fault;
use crate::api::service::Answered;
use crate::api::service::Call;
use crate::api::service::FreshnessNote;
use crate::api::service::FreshnessState;
use crate::api::service::Service;

type Answer = dyn Fn(&Ask, &Call) -> Result<Value, Fault> + Send + Sync;

/// Answers as it is told to, and remembers what it was asked.
struct Fake {
    answer: Box<Answer>,
    asked: Mutex<Vec<Ask>>,
}

impl Service for Fake {
    fn ask(&self, ask: Ask, call: &Call) -> Result<Answered, Fault> {
        let data = (self.answer)(&ask, call);
        self.asked.lock().unwrap().push(ask);
        let freshness = FreshnessNote {
            freshness: FreshnessState::Partial,
            reason: Some("a.py is being written".to_owned()),
            clock: Some("7:9".to_owned()),
            as_of_ms: 1,
            pending: 0,
        };
        let notes = vec!["the cache was made anew".to_owned()];
        data.map(|data| Answered { freshness, notes, data: Bytes::from(data.to_string()), text: None })
    }
}

fn fake(answer: impl Fn(&Ask, &Call) -> Result<Value, Fault> + Send + Sync + 'static) -> Arc<Fake> {
    Arc::new(Fake { answer: Box::new(answer), asked: Mutex::default() })
}

fn always(data: Value) -> Arc<Fake> {
    fake(move |_, _| Ok(data.clone()))
}

struct Client {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
    stop: tokio::sync::mpsc::Sender<()>,
    last_id: u64,
}

impl Client {
    async fn send(&mut self, message: &Value) {
        self.output.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// Returns the next line, which is one message.
    async fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.input.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).await;
        id
    }

    /// Sends a request, and returns the message that answers it.
    async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    async fn initialize(&mut self, version: &str) -> Value {
        let client = json!({"name": "test", "version": "0"});
        let params = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": client});
        let answer = self.request("initialize", params).await;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        answer["result"].clone()
    }

    /// Calls a tool, and returns its result.
    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// Calls a tool, and returns the words of its answer.
    async fn words(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Calls a tool that refuses, and returns the code and the words.
    async fn refusal(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&result["_meta"]["slop/error"]["code"]), text(&result["content"][0]["text"]))
    }
}

/// Runs a test against a server, which is to end well when the client has left.
fn serve(service: &Arc<Fake>, test: impl AsyncFnOnce(&mut Client)) {
    serve_patiently(service, Duration::from_mins(1), test);
}

fn serve_patiently(service: &Arc<Fake>, patience: Duration, test: impl AsyncFnOnce(&mut Client)) {
    let info = Info { root: PathBuf::from("/work/project"), version: "1.2.3", require_fresh: false };
    serve_as(info, service, patience, test);
}

fn serve_as(info: Info, service: &Arc<Fake>, patience: Duration, test: impl AsyncFnOnce(&mut Client)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 12);
        let (input, output) = tokio::io::split(ours);
        let (stop, stops) = tokio::sync::mpsc::channel(2);
        let mut client = Client { input: BufReader::new(input), output, stop, last_id: 0 };
        let service: Arc<dyn Service> = service.clone();
        let ending = Ending { stops, patience };
        let server = tokio::spawn(serve_on(service, info, tokio::io::split(theirs), ending));
        test(&mut client).await;
        let Client { input, output, stop: _stop, .. } = client;
        drop((input, output));
        server.await.unwrap().unwrap();
    });
}

/// Runs a test against a server that is initialized.
fn serve_ready(service: &Arc<Fake>, test: impl AsyncFnOnce(&mut Client)) {
    serve(service, async |client| {
        client.initialize("2025-11-25").await;
        test(client).await;
    });
}

#[test]
fn a_server_that_is_to_be_fresh_asks_for_nothing_less() {
    for require_fresh in [false, true] {
        let fake = fake(move |_, call| {
            assert_eq!(call.require_fresh, require_fresh);
            Ok(json!([]))
        });
        let info = Info { root: PathBuf::from("/work/project"), version: "1.2.3", require_fresh };
        serve_as(info, &fake, Duration::from_mins(1), async |client| {
            client.initialize("2025-11-25").await;
            client.call("slop_symbol", json!({"name": "run"})).await;
        });
        assert_eq!(fake.asked.lock().unwrap().len(), 1);
    }
}

/// Works until nobody waits for it any more, and says whether that came about in time: before the SDK would do it by
/// itself.
fn is_cancelled_in_time(call: &Call) -> bool {
    let begun = Instant::now();
    while !call.job.is_cancelled() && begun.elapsed() < Duration::from_secs(4) {
        std::thread::yield_now();
    }
    call.job.is_cancelled()
}

fn file(path: &str, state: &str) -> Value {
    json!({"path": path, "state": state, "reason": null, "language": "python", "sha256": null, "summary_by": null})
}

fn view(path: &str, view: &str, text: &str) -> Value {
    json!({
        "path": path, "language": "python", "view": view, "sha256": "ab", "head": "Python", "remarks": [],
        "text": text, "why": null,
    })
}

#[test]
fn the_first_answer_needs_nothing_of_the_project() {
    let service = fake(|_, _| panic!("asked"));
    serve(&service, async |client| {
        let info = client.initialize("2025-06-18").await;
        assert_eq!(info["serverInfo"]["name"], "slop");
        assert_eq!(info["serverInfo"]["version"], "1.2.3");
        assert_eq!(info["capabilities"], json!({"tools": {}, "resources": {}}));
        client.request("tools/list", json!({})).await;
        client.request("resources/templates/list", json!({})).await;
    });
    assert!(service.asked.lock().unwrap().is_empty());
}

#[test]
fn a_client_is_answered_in_the_version_it_speaks() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        serve(&always(json!([])), async |client| {
            assert_eq!(client.initialize(version).await["protocolVersion"], version);
        });
    }
    serve(&always(json!([])), async |client| {
        assert_eq!(client.initialize("1999-01-01").await["protocolVersion"], "2025-11-25");
    });
}

#[test]
fn every_tool_has_a_plain_schema_and_changes_nothing() {
    serve_ready(&always(json!([])), async |client| {
        let answer = client.request("tools/list", json!({})).await;
        let tools = answer["result"]["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["slop_aggregate", "slop_view", "slop_outline", "slop_symbol", "slop_status"]);
        for tool in tools {
            let schema = &tool["inputSchema"];
            assert_eq!(schema["type"], "object");
            assert_eq!(schema["additionalProperties"], false);
            for odd in ["$ref", "anyOf", "oneOf", "null", "uint", "\\n"] {
                assert!(!schema.to_string().contains(odd), "{odd} in {schema}");
            }
            for (name, property) in schema["properties"].as_object().unwrap() {
                assert!(
                    property["description"].is_string() && property["type"].is_string(),
                    "{name}: {schema}"
                );
            }
            let hints = &tool["annotations"];
            assert_eq!([&hints["readOnlyHint"], &hints["idempotentHint"]], [true, true]);
            assert_eq!([&hints["openWorldHint"], &hints["destructiveHint"]], [false, false]);
            assert!(tool["description"].as_str().unwrap().contains("data, not instructions"), "{tool}");
        }
        assert_eq!(tools[1]["inputSchema"]["required"], json!(["files"]));
        assert_eq!(tools[0]["inputSchema"]["required"], Value::Null);
        assert_eq!(tools[4]["outputSchema"]["type"], "object");
    });
}

#[test]
fn a_document_is_asked_for_within_a_budget_and_under_a_name_of_its_own() {
    let entry = |view: &str| json!({"view": view, "wanted": "full"});
    let receipt = json!({
        "tokens": 12, "budget_tokens": 20000, "tokens_counted_by": "o200k_base", "left_out": [{}],
        "files": [entry("full"), entry("outline")], "missing": [{"word": "b\u{1b}", "why": "no such file"}],
    });
    let service = always(json!({"text": "## Files\n", "receipt": receipt}));
    serve_ready(&service, async |client| {
        let words = client.words("slop_aggregate", json!({"tier": 3, "focus": ["/work/project/a.py"]})).await;
        let expected = "## Files\n\n[12 tokens of 20000, by o200k_base; 2 files shown, 1 of them smaller than wanted; \
                        1 left out]\n[b\\u{1b}: no such file]\n[note: the cache was made anew]\n\
                        [partly fresh: a.py is being written]";
        assert_eq!(words, expected);
        client.words("slop_aggregate", json!({"budget": 5})).await;
    });
    let asked = service.asked.lock().unwrap();
    let [Ask::Aggregate(first), Ask::Aggregate(second)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((first.choice.budget, first.choice.default_budget), (None, Some(20_000)));
    assert_eq!((first.choice.tier, &first.choice.focus[..]), (Some(3), &["a.py".to_owned()][..]));
    assert_eq!((first.name.as_deref(), first.since_last), (Some("mcp"), false));
    assert_eq!(second.choice.budget, Some(5));
}

#[test]
fn views_are_asked_for_by_what_is_wanted_of_the_files() {
    let service = always(json!([view("a.py", "custom", "x\n")]));
    serve_ready(&service, async |client| {
        let words = client.words("slop_view", json!({"files": ["./a.py"], "symbols": ["A.run"]})).await;
        assert!(words.starts_with("### a.py\nPython\n\n```python\nx\n```\n"), "{words}");
        client.words("slop_view", json!({"files": ["a.py"], "lines": [{"start": 2, "end": 3}]})).await;
        client.words("slop_view", json!({"files": ["a.py"], "mode": "diff", "against": "v1"})).await;
        client.words("slop_view", json!({"files": ["a.py"], "mode": null})).await;
    });
    let asked = serde_json::to_value(&*service.asked.lock().unwrap()).unwrap();
    let keys =
        |at: usize| [&asked[at]["mode"], &asked[at]["mask"], &asked[at]["lines"], &asked[at]["against"]];
    assert_eq!(asked[0]["files"], json!(["a.py"]));
    let none = json!([]);
    let mask = json!([{"symbol": "A.run", "show": "def"}]);
    assert_eq!(keys(0), [&json!("masked"), &mask, &none, &Value::Null]);
    assert_eq!(keys(1), [&json!("custom"), &none, &json!([{"start": 2, "end": 3}]), &Value::Null]);
    assert_eq!(keys(2), [&json!("diff"), &none, &none, &json!("v1")]);
    assert_eq!(keys(3), [&Value::Null, &none, &none, &Value::Null]);
}

#[test]
fn arguments_that_make_no_sense_are_refused_with_words_and_ask_nothing() {
    let service = fake(|_, _| panic!("asked"));
    serve_ready(&service, async |client| {
        for (tool, arguments) in [
            ("slop_view", json!({})),
            ("slop_view", json!({"files": []})),
            ("slop_view", json!({"files": "a.py"})),
            ("slop_view", json!({"files": ["a.py"], "mode": "window"})),
            ("slop_view", json!({"files": ["a.py"], "mode": "full", "lines": [{"start": 1, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "symbols": ["a"], "lines": [{"start": 1, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "lines": [{"start": 0, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "lines": [{"start": 3, "end": 2}]})),
            ("slop_view", json!({"files": ["a.py"], "lines": [{"start": 1, "end": 99_999_999_999_u64}]})),
            ("slop_outline", json!({"files": [], "x": 1})),
            ("slop_symbol", json!({"names": "a"})),
            ("slop_status", json!({"state": "old"})),
            ("slop_aggregate", json!({"tier": 5})),
            ("slop_aggregate", json!({"budget": 0})),
            ("slop_aggregate", json!({"budget": -1})),
            ("slop_aggregate", json!({"tier": 1, "persona": "reviewer"})),
        ] {
            let (code, words) = client.refusal(tool, arguments.clone()).await;
            assert_eq!(code, "bad_arguments", "{arguments}");
            assert!(words.starts_with("error: cannot read the arguments: "), "{words}");
        }
    });
    assert!(service.asked.lock().unwrap().is_empty());
}

#[test]
fn faults_of_the_protocol_are_errors_of_the_protocol() {
    serve_ready(&always(json!([])), async |client| {
        let answer = client.request("tools/call", json!({"name": "rm", "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        let answer = client.request("no/such/method", json!({})).await;
        assert_eq!(answer["error"]["code"], -32601, "{answer}");
        // What is no JSON is passed over, however deep it is.
        client.output.write_all(b"garbage\n\xff\xfe\n\n").await.unwrap();
        client.output.write_all(("[".repeat(5_000) + "\n").as_bytes()).await.unwrap();
        assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    });
}

#[test]
fn a_fault_is_told_with_what_an_agent_can_do() {
    let service = fake(|ask, _| match ask {
        Ask::View(_) => {
            Err(Fault::user("not_found", "show b.py: file not found", "`slop status` lists the files"))
        }
        _ => panic!("the panic of this test"),
    });
    serve_ready(&service, async |client| {
        let (code, words) = client.refusal("slop_view", json!({"files": ["b.py"]})).await;
        assert_eq!(code, "not_found");
        assert!(
            words.contains("cannot show b.py: file not found\ncode: not_found\nhint: slop_status"),
            "{words}"
        );
        // However long the words are that an agent gave, it is not told all of them again.
        let long = "x".repeat(100_000);
        let answers = [
            client.request("tools/call", json!({"name": &long})).await,
            client.request("tools/call", json!({"name": "slop_view", "arguments": {&long: 1}})).await,
            client.request("resources/read", json!({"uri": &long})).await,
        ];
        assert!(answers.iter().all(|answer| answer.to_string().len() < 5_000), "{answers:?}");
        // Not even a panic takes the server down.
        let (code, _) = client.refusal("slop_outline", json!({"files": ["b.py"]})).await;
        assert_eq!(code, "bug");
        assert_eq!(client.request("ping", json!({})).await["result"], json!({}));
    });
}

#[test]
fn a_symbol_is_shown_in_words_and_as_values() {
    let symbol = |path: &str| {
        json!({
            "kind": "method", "name": "run", "qualified_name": "A.run", "start_line": 3, "end_line": 4,
            "signature": "def run(self)", "doc": "Runs.", "children": [], "sha256": "ab", "path": path,
        })
    };
    let service = fake(move |ask, _| match ask {
        Ask::Symbols(ask) if ask.name == "run" => Ok(json!([symbol("a.py")])),
        Ask::Symbols(ask) if ask.name == "many" => Ok(json!(vec![symbol("b.py"); 80])),
        _ => Ok(json!([])),
    });
    serve_ready(&service, async |client| {
        let result = client.call("slop_symbol", json!({"name": "run"})).await;
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(words.starts_with("a.py:3-4 [method] A.run\ndef run(self)\nRuns.\n\n"), "{words}");
        let place = json!({
            "path": "a.py", "start_line": 3, "end_line": 4, "kind": "method", "qualified_name": "A.run",
            "signature": "def run(self)",
        });
        assert_eq!(result["structuredContent"], json!({"total": 1, "symbols": [place]}));
        let result = client.call("slop_symbol", json!({"name": "many"})).await;
        assert_eq!(result["structuredContent"]["symbols"].as_array().unwrap().len(), 50);
        let words = result["content"][0]["text"].as_str().unwrap();
        assert!(words.contains("[cut: 50 of 80 are shown"), "{words}");
        let (code, _) = client.refusal("slop_symbol", json!({"name": "none"})).await;
        assert_eq!(code, "not_found");
    });
}

#[test]
fn an_outline_is_a_line_for_each_symbol() {
    let run = json!({
        "kind": "method", "name": "run", "qualified_name": "A.run", "start_line": 3, "end_line": 4,
        "signature": "def run(self)", "doc": null, "children": [],
    });
    let class = json!({
        "kind": "class", "name": "A", "qualified_name": "A", "start_line": 1, "end_line": 4,
        "signature": "class A", "doc": null, "children": [run],
    });
    let outline = |symbols: Vec<Value>| {
        json!([{
            "path": "a.py", "language": "python", "sha256": "ab", "lines": 4, "health": 1.0, "symbols": symbols,
        }])
    };
    let (short, long) = (outline(vec![class.clone()]), outline(vec![class; 5_000]));
    let service = fake(move |ask, _| match ask {
        Ask::Outline(ask) if ask.files == ["a.py"] => Ok(short.clone()),
        Ask::Outline(ask) if ask.files == ["long"] => Ok(long.clone()),
        _ => Ok(json!([])),
    });
    serve_ready(&service, async |client| {
        let words = client.words("slop_outline", json!({"files": ["a.py"]})).await;
        let expected = "### a.py\npython · 4 lines\n1-4 [class] class A\n  3-4 [method] def run(self)\n";
        assert!(words.starts_with(expected), "{words}");
        let words = client.words("slop_outline", json!({"files": ["long"]})).await;
        assert!(words.chars().count() < 41_000 && words.contains("[cut within a.py: "), "{}", words.len());
        let words = client.words("slop_outline", json!({"files": ["none"]})).await;
        assert!(words.starts_with("[none of these files has an outline"), "{words}");
    });
}

#[test]
fn long_views_are_cut_behind_a_line_and_say_how_to_go_on() {
    let lines: Vec<String> = (1..=10_000).map(|number| format!("line {number}\n")).collect();
    let lines = lines.concat();
    let answers = json!([view("a \"b\".py", "full", &lines), view("c.py", "full", "x\n")]);
    let service = fake(move |ask, _| match ask {
        Ask::View(ask) if ask.files == ["one"] => Ok(json!([view("o.js", "full", &"é".repeat(90_000))])),
        Ask::View(ask) if ask.files == ["ticks"] => Ok(json!([view("t.md", "full", "```\nx\n```\n")])),
        _ => Ok(answers.clone()),
    });
    serve_ready(&service, async |client| {
        let words = client.words("slop_view", json!({"files": ["."]})).await;
        assert!(words.chars().count() < 41_000, "{}", words.len());
        let (shown, rest) = words.split_once("```\n\n[cut: lines ").unwrap();
        let next: u32 = rest.split_once('-').unwrap().0.parse().unwrap();
        assert!(shown.ends_with(&format!("\nline {}\n", next - 1)), "{next}");
        let call = format!(r#"{{"files": ["a \"b\".py"], "lines": [{{"start": {next}, "end": 10000}}]}}"#);
        assert!(rest.contains(&call), "{rest}");
        assert!(rest.contains("[cut: 1 file is not shown: c.py; "), "{rest}");
        let words = client.words("slop_view", json!({"files": ["one"]})).await;
        assert!(words.contains("[cut: 40000 of 90000 characters are shown; the line is too long"), "{words}");
        // No text ends the fence that it stands in.
        let words = client.words("slop_view", json!({"files": ["ticks"]})).await;
        assert!(words.contains("````python\n```\nx\n```\n````\n"), "{words}");
    });
}

#[test]
fn the_list_of_files_is_told_in_pages() {
    let mut files: Vec<Value> =
        (0..250).map(|number| file(&format!("src/{number:03}.py"), "fresh")).collect();
    files.push(file("docs/a.md", "stale"));
    files.push(file("srcs/b\u{1b}[31m.py", "left_out"));
    let service = always(json!({"files": files}));
    serve_ready(&service, async |client| {
        let mut found = Vec::new();
        let mut arguments = json!({"below": "/work/project/src/"});
        loop {
            let result = client.call("slop_status", arguments.clone()).await;
            let page = result["structuredContent"].clone();
            assert_eq!(page["counts"], json!({"fresh": 250, "stale": 1, "new": 0, "left_out": 1}));
            assert_eq!(page["matching"], 250);
            found.extend(page["files"].as_array().unwrap().iter().map(|file| file["path"].clone()));
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            arguments["cursor"] = json!(cursor);
        }
        let expected: Vec<Value> = (0..250).map(|number| json!(format!("src/{number:03}.py"))).collect();
        assert_eq!(found, expected);
        let words = client.words("slop_status", json!({"state": "left_out"})).await;
        assert!(words.contains("\nleft_out srcs/b\\u{1b}[31m.py (python)\n"), "{words}");
    });
}

#[test]
fn files_are_resources_in_pages() {
    let mut files: Vec<Value> =
        (0..450).map(|number| file(&format!("a b/{number:03}.py"), "fresh")).collect();
    files[449]["size"] = json!(5_000_000_000_u64);
    files.push(file("z.png", "left_out"));
    let mut odd = file("\u{fffd}.py", "fresh");
    odd["path_hex"] = json!("ff2e7079");
    files.push(odd);
    let service = always(json!({"files": files}));
    serve_ready(&service, async |client| {
        let (mut found, mut cursor) = (Vec::new(), None);
        loop {
            let params = cursor.map_or(json!({}), |cursor: String| json!({"cursor": cursor}));
            let answer = client.request("resources/list", params).await;
            let page = &answer["result"];
            found.extend(page["resources"].as_array().unwrap().clone());
            let Some(next) = page["nextCursor"].as_str() else { break };
            cursor = Some(next.to_owned());
        }
        assert_eq!(found.len(), 450);
        let last = json!({
            "uri": "slop://view/full/a%20b/449.py", "name": "449.py", "title": "a b/449.py",
            "mimeType": "text/plain", "size": 5_000_000_000_u64,
        });
        assert_eq!(found[449], last);
    });
}

#[test]
fn a_resource_is_a_view_of_one_file() {
    let service = fake(|ask, _| match ask {
        Ask::View(ask) if ask.files == ["a b.py"] => Ok(json!([view("a b.py", "outline", "[Class] A\n")])),
        Ask::View(ask) if ask.files == ["src"] => Ok(json!([view("src/a.py", "full", "")])),
        _ => Err(Fault::environment("store_unusable", "open", "")),
    });
    serve_ready(&service, async |client| {
        let read = async |client: &mut Client, uri: &str| {
            client.request("resources/read", json!({"uri": uri})).await
        };
        let answer = read(client, "slop://view/outline/a%20b.py").await;
        let contents = &answer["result"]["contents"][0];
        assert_eq!(contents["text"], "[Class] A\n");
        assert_eq!(contents["_meta"]["slop/freshness"]["clock"], "7:9");
        // A folder is none, and what cannot be a path is not even asked about.
        for uri in ["slop://view/full/src", "slop://view/full/../x", "file:///etc/passwd"] {
            let answer = read(client, uri).await;
            assert_eq!(answer["error"]["code"], -32002, "{answer}");
            assert_eq!(answer["error"]["data"]["uri"], uri);
        }
        let answer = read(client, "slop://view/full/c.py").await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
    });
    assert_eq!(service.asked.lock().unwrap().len(), 3);
}

#[test]
fn a_request_that_is_cancelled_takes_its_work_with_it() {
    let (at_work, mut is_at_work) = tokio::sync::mpsc::unbounded_channel();
    let (ended, end) = mpsc::channel();
    let ended = Mutex::new(ended);
    let service = fake(move |_, call| {
        at_work.send(()).unwrap();
        ended.lock().unwrap().send(is_cancelled_in_time(call)).unwrap();
        Ok(json!([]))
    });
    serve_ready(&service, async |client| {
        let id = client.begin("tools/call", json!({"name": "slop_status"})).await;
        is_at_work.recv().await.unwrap();
        let params = json!({"requestId": id, "reason": "no need"});
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        // The next message answers the next request: none comes for the one that was cancelled.
        client.request("ping", json!({})).await;
    });
    assert!(end.recv().unwrap());
}

#[test]
fn a_client_that_asks_for_it_is_told_how_far_the_work_is() {
    let (go, gone) = mpsc::channel();
    let gone = Mutex::new(gone);
    let service = fake(move |_, call| {
        call.job.begins(9);
        call.job.advances();
        gone.lock().unwrap().recv().unwrap();
        Ok(json!([]))
    });
    serve_ready(&service, async |client| {
        let params =
            json!({"name": "slop_outline", "arguments": {"files": ["a"]}, "_meta": {"progressToken": "t"}});
        let id = client.begin("tools/call", params).await;
        let told = client.receive().await;
        assert_eq!(told["method"], "notifications/progress");
        let expected =
            json!({"progressToken": "t", "progress": 1.0, "total": 9.0, "message": "reading files"});
        assert_eq!(told["params"], expected);
        go.send(()).unwrap();
        assert_eq!(client.receive().await["id"], id);
    });
}

#[test]
fn what_was_asked_before_the_input_ended_is_still_answered() {
    let (go, gone) = mpsc::channel();
    let gone = Mutex::new(gone);
    let service = fake(move |_, _| {
        gone.lock().unwrap().recv().unwrap();
        Ok(json!({"files": []}))
    });
    serve_ready(&service, async |client| {
        let id = client.begin("tools/call", json!({"name": "slop_status"})).await;
        client.output.shutdown().await.unwrap();
        go.send(()).unwrap();
        assert_eq!(client.receive().await["id"], id);
    });
}

#[test]
fn what_takes_too_long_when_the_client_has_left_is_given_up() {
    let (at_work, mut is_at_work) = tokio::sync::mpsc::unbounded_channel();
    let (ended, end) = mpsc::channel();
    let ended = Mutex::new(ended);
    let service = fake(move |_, call| {
        at_work.send(()).unwrap();
        ended.lock().unwrap().send(is_cancelled_in_time(call)).unwrap();
        Ok(json!([]))
    });
    serve_patiently(&service, Duration::from_millis(1), async |client| {
        client.initialize("2025-11-25").await;
        client.begin("tools/call", json!({"name": "slop_status"})).await;
        is_at_work.recv().await.unwrap();
    });
    assert!(end.recv().unwrap());
}

#[test]
fn a_server_that_is_stopped_gives_up_its_work_and_ends() {
    let (at_work, mut is_at_work) = tokio::sync::mpsc::unbounded_channel();
    let (ended, end) = mpsc::channel();
    let ended = Mutex::new(ended);
    let service = fake(move |_, call| {
        at_work.send(()).unwrap();
        ended.lock().unwrap().send(is_cancelled_in_time(call)).unwrap();
        Ok(json!([]))
    });
    serve_ready(&service, async |client| {
        client.begin("tools/call", json!({"name": "slop_status"})).await;
        is_at_work.recv().await.unwrap();
        client.stop.send(()).await.unwrap();
        // The stream ends though the client has not left.
        let mut rest = String::new();
        while client.input.read_line(&mut rest).await.unwrap() != 0 {}
    });
    assert!(end.recv().unwrap());
}

#[test]
fn a_client_that_leaves_at_once_has_done_nothing_wrong() {
    serve(&always(json!([])), async |_| {});
}
