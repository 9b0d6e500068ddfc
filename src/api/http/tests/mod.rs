//! The server against real sockets, over a service that records what reached it.

#![expect(clippy::disallowed_methods, reason = "a test looks at real files")]

mod agents;
mod asking;
mod client;
mod limits;
mod page;
mod strangers;
mod streams;

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::limits::{TIMEOUTS, Timeouts};
use super::page::Page;
use super::server::HttpServer;
use crate::api::service::VERSION;
use crate::api::{
    AgentStatus, AnyQuery, ApiError, ApiErrorKind, AuditQuery, CacheClearQuery, CacheGcQuery,
    CacheStatusQuery, CacheVerifyQuery, CallOptions, Change, ChangeKind, Client, ClientError, ClockPosition,
    ConnectError, DaemonControl, DaemonStatus, Delivery, ExplainQuery, Feed, FeedEvent, FeedEventKind,
    FilesQuery, FreshnessNote, FreshnessState, IndexQuery, McpInfo, OutlineQuery, Payload, PerformanceReport,
    ProgressObserver, QueryJob, Receiver, Service, ServiceAnswer, Subscription, SymbolsQuery, ViewQuery,
};
use crate::engine::{ScanProgress, StepTimings};
use crate::model::RootReason;
use crate::sys::{BindError, bind_local};

const TOKEN: &str = "8c1f4f0e";
/// The timeout of tests.
const DEADLINE: Duration = Duration::from_mins(1);

/// A fake service: names of symbols select special behavior.
struct FakeDaemon {
    asked: Mutex<Vec<AnyQuery>>,
    /// The events so far, for tests that wait for them.
    seen: (Mutex<Vec<&'static str>>, Condvar),
    feed: Feed,
}

impl FakeDaemon {
    fn sees(&self, what: &'static str) {
        self.seen.0.lock().unwrap().push(what);
        self.seen.1.notify_all();
    }

    #[track_caller]
    fn wait_for(&self, what: &str) {
        let seen = self.seen.0.lock().unwrap();
        let (seen, waited) =
            self.seen.1.wait_timeout_while(seen, DEADLINE, |seen| !seen.contains(&what)).unwrap();
        assert!(!waited.timed_out(), "{what} after {seen:?}");
    }

    fn asked(&self) -> Vec<AnyQuery> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Service for FakeDaemon {
    fn answer(&self, ask: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        if call.settings.as_ref().is_some_and(|settings| settings != "ours") {
            return Err(ApiError::other_settings());
        }
        self.asked.lock().unwrap().push(ask.clone());
        let data = match &ask {
            AnyQuery::Symbols(symbols) => match symbols.name.as_str() {
                "wait" => {
                    self.sees("begun");
                    call.job.begin(3);
                    call.job.advance();
                    while !call.job.is_cancelled() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    self.sees("cancelled");
                    return Err(ApiError::environment("cancelled", "go on", ""));
                }
                "slow" | "slow fault" => {
                    call.job.begin(2);
                    call.job.advance();
                    self.wait_for("released");
                    if symbols.name == "slow fault" {
                        return Err(ApiError::environment("list_failed", "list the files", "look"));
                    }
                    json!({"was": "slow"})
                }
                "panic" => panic!("a panic that is asked for"),
                "missing" => return Err(ApiError::user("not_found", "no such thing", "look elsewhere")),
                "wrong" => return Err(ApiError::user("no_such_view", "no such view", "choose another")),
                "broken" => return Err(ApiError::environment("list_failed", "list the files", "look")),
                "large" => json!("x".repeat(32 << 20)),
                _ => json!([symbols.name]),
            },
            AnyQuery::Aggregate(_) => json!({
                "text": "# A \"document\"\n",
                "receipt": {
                    "missing": [{"word": "b.py", "why": "it is gone"}],
                    "problems": [{"section": "beads", "why": "no project", "is_error": false}],
                },
            }),
            _ => json!({"fresh": call.require_fresh, "settings": call.settings}),
        };
        let freshness = FreshnessNote {
            freshness: FreshnessState::Fresh,
            reason: None,
            clock: Some("1:7".to_owned()),
            as_of_ms: 12,
            pending: 0,
        };
        call.job.note("a note".to_owned());
        let payload = Payload::Json(Bytes::from(data.to_string()));
        assert_eq!(receive(ServiceAnswer { freshness, missing: Vec::new(), payload }), Delivery::Arrived);
        Ok(())
    }
}

impl DaemonControl for FakeDaemon {
    fn status(&self) -> DaemonStatus {
        serde_json::from_value(json!({
            "protocol": 1, "version": "0.1.0", "pid": 1, "root": "/project", "project": "project",
            "started_at_ms": 0, "uptime_ms": 0, "mode": "events", "reason": null, "epoch": 1, "sequence": 7,
            "clock": "1:7", "pending": 0, "queue_waiting": 0, "workers": 1, "answers": 0, "overflows": 0,
            "rescans": 0, "events": 0, "watches": 1, "watch_limit": null, "missed": 0,
            "paranoid": {"on": false, "answers": 0, "mistakes": 0}, "last_audit": null, "lag_ms": 0,
            "store": {"bytes": 0, "wal_bytes": 0, "ok": true}, "agent": AgentStatus::disabled(), "rss_bytes": null,
            "fds": null, "listen": null, "settings_problems": [], "settings": "ours"
        }))
        .unwrap()
    }

    fn performance(&self) -> PerformanceReport {
        PerformanceReport::new(&StepTimings::default().summaries(), self.status())
    }

    fn subscribe(&self, since: Option<ClockPosition>) -> Subscription {
        let subscription = self.feed.subscribe(since);
        self.sees("subscribed");
        subscription
    }

    fn stop(&self) {
        self.sees("stopped");
    }

    fn fingerprint(&self) -> String {
        "ours".to_owned()
    }
}

/// A server on a socket and on a port.
struct ApiTestServer {
    folder: TempDir,
    fake: Arc<FakeDaemon>,
    server: HttpServer,
    port: u16,
    runtime: Runtime,
}

impl ApiTestServer {
    fn new() -> Self {
        Self::with(TIMEOUTS)
    }

    fn with(timeouts: Timeouts) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let feed = Feed::new(ClockPosition { epoch: 1, sequence: 0 });
        let fake =
            Arc::new(FakeDaemon { asked: Mutex::default(), seen: (Mutex::default(), Condvar::new()), feed });
        let any_port = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
        let agents = McpInfo {
            root: PathBuf::from("/project"),
            root_reason: RootReason::Named,
            version: VERSION,
            require_fresh: false,
        };
        let server = HttpServer::with_timeouts(
            Arc::<FakeDaemon>::clone(&fake),
            agents,
            timeouts,
            Page::new(page::FILES, any_port),
        );
        let runtime = Runtime::new().unwrap();
        let unix = bind_local(&folder.path().join("socket")).unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let (one, other, third) = (server.clone(), server.clone(), server.clone());
        runtime.spawn(async move { one.serve_unix(unix).await.unwrap() });
        runtime.spawn(async move { other.serve_tcp(tcp, TOKEN).await.unwrap() });
        runtime.spawn(async move { third.serve_page().await.unwrap() });
        Self { folder, fake, server, port, runtime }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    fn client(&self) -> Client {
        Client::connect(&self.socket()).unwrap()
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.socket()).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Sends bytes on the socket, and reads the whole response.
    fn raw(&self, request: &str) -> HttpExchange {
        exchange(self.connect(), request)
    }

    fn raw_tcp(&self, request: &str) -> HttpExchange {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        exchange(stream, request)
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> HttpExchange {
        self.raw(&post(path, &format!("content-type: application/json\r\n{headers}"), body))
    }

    fn symbols(&self, name: &str) -> HttpExchange {
        self.post("/v1/symbols", "", &json!({"name": name}).to_string())
    }
}

impl Drop for ApiTestServer {
    fn drop(&mut self) {
        self.server.stop();
    }
}

/// Returns the JSON of an answer.
fn json_of(answer: &ServiceAnswer) -> &Bytes {
    let Payload::Json(data) = &answer.payload else { panic!("not JSON: {answer:?}") };
    data
}

/// Passes progress on to a function.
struct Observer<F>(F);

impl<F: Fn(usize, usize) + Send + Sync> ProgressObserver for Observer<F> {
    fn progress(&self, done: usize, total: usize) {
        (self.0)(done, total);
    }
}

fn get(path: &str, headers: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{headers}\r\n")
}

fn post(path: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    )
}

/// A response: its status (0 if there is none), head and body.
#[derive(Debug)]
struct HttpExchange {
    status: u16,
    head: String,
    body: String,
}

impl HttpExchange {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

fn exchange(mut stream: impl Read + Write, request: &str) -> HttpExchange {
    // A server that rejects early may close the connection before everything was sent.
    let _ = stream.write_all(request.as_bytes());
    heard(stream)
}

fn heard(mut stream: impl Read) -> HttpExchange {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
    HttpExchange { status, head: head.to_owned(), body }
}

/// Reads until `wanted` was received, and returns everything.
#[track_caller]
fn read_until(stream: &mut impl Read, wanted: &str) -> String {
    let mut text = String::new();
    while !text.contains(wanted) {
        let mut buffer = [0; 256];
        let read = stream.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "{wanted} is not in {text}");
        text.push_str(std::str::from_utf8(&buffer[..read]).unwrap());
    }
    text
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&after[..size.min(after.len())]);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    body
}

fn change(path: &str) -> Change {
    Change {
        path: path.to_owned(),
        path_hex: None,
        kind: ChangeKind::Modified,
        sha256: Some("ab".to_owned()),
    }
}

fn event(sequence: u64, path: &str) -> FeedEvent {
    let clock = ClockPosition { epoch: 1, sequence };
    FeedEvent { kind: FeedEventKind::Changed, clock, changes: vec![change(path)] }
}
