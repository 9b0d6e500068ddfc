//! The server from a client's perspective: lines of JSON on two streams, with a fake service.

mod ending;
mod protocol;
mod resources;
mod subscriptions;
mod tasks;
mod tools;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

use super::transport::{McpInfo, ShutdownSignals, serve_on};
use crate::api::fault::ApiError;
use crate::api::feed_reader::FeedSource;
use crate::api::payload::Payload;
use crate::api::query::AnyQuery;
use crate::api::service::{CallOptions, Receiver, Service, ServiceAnswer};
use crate::api::wire::{FreshnessNote, FreshnessState};
use crate::model::RootReason;

type FakeAnswer = dyn Fn(&AnyQuery, &CallOptions) -> Result<Value, ApiError> + Send + Sync;

/// A service with configured answers that records its questions.
struct FakeService {
    answer: Box<FakeAnswer>,
    asked: Mutex<Vec<AnyQuery>>,
    feed_socket: PathBuf,
}

impl FeedSource for FakeService {
    fn feed_socket(&self) -> Result<PathBuf, ApiError> {
        Ok(self.feed_socket.clone())
    }
}

impl Service for FakeService {
    fn answer(&self, ask: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        let data = (self.answer)(&ask, call);
        self.asked.lock().unwrap().push(ask);
        let freshness = FreshnessNote {
            freshness: FreshnessState::Partial,
            reason: Some("a.py is being written".to_owned()),
            clock: Some("7:9".to_owned()),
            as_of_ms: 1,
            pending: 0,
        };
        call.job.note("the cache was made anew".to_owned());
        let payload = Payload::Json(Bytes::from(data?.to_string()));
        receive(ServiceAnswer { freshness, missing: Vec::new(), payload });
        Ok(())
    }
}

fn fake(
    answer: impl Fn(&AnyQuery, &CallOptions) -> Result<Value, ApiError> + Send + Sync + 'static,
) -> Arc<FakeService> {
    Arc::new(FakeService { answer: Box::new(answer), asked: Mutex::default(), feed_socket: PathBuf::new() })
}

fn always(data: Value) -> Arc<FakeService> {
    fake(move |_, _| Ok(data.clone()))
}

struct TestClient {
    input: BufReader<ReadHalf<DuplexStream>>,
    output: WriteHalf<DuplexStream>,
    stop: tokio::sync::mpsc::Sender<()>,
    last_id: u64,
}

impl TestClient {
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

    /// Calls a tool, and returns the text of its answer.
    async fn words(&mut self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{result}");
        result["content"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Calls a tool that fails, and returns the code and the text.
    async fn refusal(&mut self, tool: &str, arguments: Value) -> (String, String) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        (text(&result["_meta"]["slop/error"]["code"]), text(&result["content"][0]["text"]))
    }
}

/// Runs a test against a server, which must end without an error when the client disconnects.
fn serve(service: &Arc<FakeService>, test: impl AsyncFnOnce(&mut TestClient)) {
    serve_patiently(service, Duration::from_mins(1), test);
}

fn serve_patiently(service: &Arc<FakeService>, patience: Duration, test: impl AsyncFnOnce(&mut TestClient)) {
    let info = McpInfo {
        root: PathBuf::from("/home/me/project"),
        root_reason: RootReason::GitCheckout,
        version: "1.2.3",
        require_fresh: false,
    };
    serve_as(info, service, patience, test);
}

fn serve_as(
    info: McpInfo,
    service: &Arc<FakeService>,
    patience: Duration,
    test: impl AsyncFnOnce(&mut TestClient),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 12);
        let (input, output) = tokio::io::split(ours);
        let (stop, stops) = tokio::sync::mpsc::channel(2);
        let mut client = TestClient { input: BufReader::new(input), output, stop, last_id: 0 };
        let service = Arc::clone(service);
        let ending = ShutdownSignals { stops, patience };
        let (server_input, server_output) = tokio::io::split(theirs);
        let server = tokio::spawn(serve_on(service, info, server_input, server_output, ending));
        test(&mut client).await;
        let TestClient { input, output, stop: _stop, .. } = client;
        drop((input, output));
        server.await.unwrap().unwrap();
    });
}

/// Runs a test against a server that is initialized.
fn serve_ready(service: &Arc<FakeService>, test: impl AsyncFnOnce(&mut TestClient)) {
    serve(service, async |client| {
        client.initialize("2025-11-25").await;
        test(client).await;
    });
}

#[test]
fn require_fresh_is_passed_to_the_service() {
    for require_fresh in [false, true] {
        let fake = fake(move |_, call| {
            assert_eq!(call.require_fresh, require_fresh);
            Ok(json!([]))
        });
        let info = McpInfo {
            root: PathBuf::from("/home/me/project"),
            root_reason: RootReason::GitCheckout,
            version: "1.2.3",
            require_fresh,
        };
        serve_as(info, &fake, Duration::from_mins(1), async |client| {
            client.initialize("2025-11-25").await;
            client.call("slop_symbol", json!({"name": "run"})).await;
        });
        assert_eq!(fake.asked.lock().unwrap().len(), 1);
    }
}

/// Works until it is cancelled, and returns whether that happened in time, before the SDK's own timeout.
fn is_cancelled_in_time(call: &CallOptions) -> bool {
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
