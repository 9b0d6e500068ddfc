//! The server against real sockets, over a service that tells what reached it.

#![expect(clippy::disallowed_methods, reason = "a test looks at real files")]

use std::io::Read;
use std::io::Write;
use std::net::Shutdown;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Condvar;
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::bind_unix;
use super::limits::PATIENCE;
use super::limits::Patience;
use super::server::Server;
use super::unix::BindError;
use crate::api::Answered;
use crate::api::Ask;
use crate::api::AskOptions;
use crate::api::CacheClearAsk;
use crate::api::CacheCollectAsk;
use crate::api::Call;
use crate::api::Change;
use crate::api::ChangeKind;
use crate::api::ChoiceAsk;
use crate::api::Client;
use crate::api::ClientError;
use crate::api::DaemonStatus;
use crate::api::Event;
use crate::api::EventKind;
use crate::api::ExplainAsk;
use crate::api::Fault;
use crate::api::Feed;
use crate::api::FreshnessNote;
use crate::api::FreshnessState;
use crate::api::IndexAsk;
use crate::api::Job;
use crate::api::Keeper;
use crate::api::Kind;
use crate::api::OutlineAsk;
use crate::api::Position;
use crate::api::Service;
use crate::api::Subscription;
use crate::api::SymbolsAsk;
use crate::api::Unreachable;
use crate::api::ViewAsk;
use crate::api::service::VERSION;

const TOKEN: &str = "8c1f4f0e";
/// Whatever takes longer hangs.
const DEADLINE: Duration = Duration::from_mins(1);

/// Answers by what it was asked; names of symbols tell it what to do instead.
struct Fake {
    asked: Mutex<Vec<Ask>>,
    /// What has happened, told to who waits for it.
    seen: (Mutex<Vec<&'static str>>, Condvar),
    feed: Feed,
}

impl Fake {
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

    fn asked(&self) -> Vec<Ask> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Service for Fake {
    fn ask(&self, ask: Ask, call: &Call) -> Result<Answered, Fault> {
        if call.settings.as_ref().is_some_and(|settings| settings != "ours") {
            return Err(Fault::other_settings());
        }
        self.asked.lock().unwrap().push(ask.clone());
        let data = match &ask {
            Ask::Symbols(symbols) => match symbols.name.as_str() {
                "wait" => {
                    self.sees("begun");
                    call.job.begins(3);
                    call.job.advances();
                    while !call.job.is_cancelled() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    self.sees("cancelled");
                    return Err(Fault::environment("cancelled", "go on", ""));
                }
                "slow" | "slow fault" => {
                    call.job.begins(2);
                    call.job.advances();
                    self.wait_for("released");
                    if symbols.name == "slow fault" {
                        return Err(Fault::environment("list_failed", "list the files", "look"));
                    }
                    json!({"was": "slow"})
                }
                "panic" => panic!("a panic that is asked for"),
                "missing" => return Err(Fault::user("not_found", "find it", "look elsewhere")),
                "wrong" => return Err(Fault::user("no_such_view", "view it", "choose another")),
                "broken" => return Err(Fault::environment("list_failed", "list the files", "look")),
                "large" => json!("x".repeat(32 << 20)),
                _ => json!([symbols.name]),
            },
            Ask::Aggregate(_) => json!({"text": "# A \"document\"\n", "receipt": {}}),
            _ => json!({"fresh": call.require_fresh, "settings": call.settings}),
        };
        let freshness = FreshnessNote {
            freshness: FreshnessState::Fresh,
            reason: None,
            clock: Some("1:7".to_owned()),
            as_of_ms: 12,
            pending: 0,
        };
        let notes = vec!["a note".to_owned()];
        Ok(Answered { freshness, notes, data: Bytes::from(data.to_string()), text: None })
    }
}

impl Keeper for Fake {
    fn status(&self) -> DaemonStatus {
        serde_json::from_value(json!({
            "protocol": 1, "version": "0.1.0", "pid": 1, "root": "/project", "project": "project",
            "started_at_ms": 0, "uptime_ms": 0, "mode": "events", "reason": null, "epoch": 1, "sequence": 7,
            "clock": "1:7", "pending": 0, "queue_waiting": 0, "workers": 1, "answers": 0, "overflows": 0,
            "rescans": 0, "events": 0, "watches": 1, "watch_limit": null, "missed": 0,
            "paranoid": {"on": false, "answers": 0, "mistakes": 0}, "last_audit": null, "lag_ms": 0,
            "store": {"bytes": 0, "wal_bytes": 0, "ok": true}, "agent": {"state": "off"}, "rss_bytes": null,
            "fds": null, "listen": null, "settings": "ours"
        }))
        .unwrap()
    }

    fn subscribe(&self, since: Option<Position>) -> Subscription {
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
struct House {
    folder: TempDir,
    fake: Arc<Fake>,
    server: Server,
    port: u16,
    runtime: Runtime,
}

impl House {
    fn new() -> Self {
        Self::with(PATIENCE)
    }

    fn with(patience: Patience) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let feed = Feed::new(Position { epoch: 1, sequence: 0 });
        let fake = Arc::new(Fake { asked: Mutex::default(), seen: (Mutex::default(), Condvar::new()), feed });
        let server = Server::with_patience(Arc::<Fake>::clone(&fake), patience);
        let runtime = Runtime::new().unwrap();
        let unix = bind_unix(&folder.path().join("socket")).unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let (one, other) = (server.clone(), server.clone());
        runtime.spawn(async move { one.serve_unix(unix).await.unwrap() });
        runtime.spawn(async move { other.serve_tcp(tcp, TOKEN).await.unwrap() });
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

    /// Sends bytes on the socket, and reads all that comes.
    fn raw(&self, request: &str) -> Heard {
        exchange(self.connect(), request)
    }

    fn raw_tcp(&self, request: &str) -> Heard {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        exchange(stream, request)
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> Heard {
        self.raw(&post(path, &format!("content-type: application/json\r\n{headers}"), body))
    }

    fn symbols(&self, name: &str) -> Heard {
        self.post("/v1/symbols", "", &json!({"name": name}).to_string())
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.server.stop();
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

/// A response: its status (0 where there is none), head and body.
#[derive(Debug)]
struct Heard {
    status: u16,
    head: String,
    body: String,
}

impl Heard {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

fn exchange(mut stream: impl Read + Write, request: &str) -> Heard {
    // A server that refuses early may close before all was sent.
    let _ = stream.write_all(request.as_bytes());
    heard(stream)
}

fn heard(mut stream: impl Read) -> Heard {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let body = if head.contains("transfer-encoding: chunked") { unchunked(body) } else { body.to_owned() };
    Heard { status, head: head.to_owned(), body }
}

/// Reads until something was read, and returns all of it.
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

fn event(sequence: u64, path: &str) -> Event {
    let clock = Position { epoch: 1, sequence };
    Event { kind: EventKind::Changed, clock, changes: vec![change(path)] }
}

#[test]
fn an_ask_is_answered_in_an_envelope_that_says_what_it_can_be_relied_on_for() {
    let house = House::new();
    let heard =
        house.post("/v1/index?require_fresh=true", "slop-settings: ours\r\nslop-protocol: 1\r\n", "{}");
    assert_eq!(heard.status, 200, "{heard:?}");
    assert_eq!(
        heard.body,
        "{\"schema_version\":1,\"command\":\"index\",\"freshness\":\"fresh\",\"reason\":null,\"clock\":\"1:7\",\
         \"as_of_ms\":12,\"pending\":0,\"notes\":[\"a note\"],\"data\":{\"fresh\":true,\"settings\":\"ours\"}}\n"
    );
    for header in
        ["slop-protocol: 1", "slop-settings: ours", "content-type: application/json", "no-store", "nosniff"]
    {
        assert!(heard.head.contains(header), "{header} in {}", heard.head);
    }
    assert!(!heard.head.contains("access-control"));
    assert_eq!(house.fake.asked(), [Ask::Index(IndexAsk::default())]);
}

#[test]
fn each_fault_has_its_status() {
    let house = House::new();
    for (name, status, code) in [
        ("missing", 404, "not_found"),
        ("wrong", 422, "no_such_view"),
        ("broken", 503, "list_failed"),
        ("panic", 500, "bug"),
        ("found", 200, ""),
    ] {
        let heard = house.symbols(name);
        assert_eq!((heard.status, &*heard.code()), (status, code), "{name}: {heard:?}");
        assert_eq!(heard.json()["command"], "symbols", "{name}");
    }
}

#[test]
fn a_request_that_is_none_is_refused_before_anything_is_asked() {
    let house = House::new();
    let json = "content-type: application/json\r\n";
    let deep = format!("{{\"files\":{}", "[".repeat(100_000));
    let long = json!({"files": ["x".repeat(4097)]}).to_string();
    let many = json!({"files": vec!["x"; 10_001]}).to_string();
    let other = "content-type: application/json\r\nslop-settings: other\r\n";
    let newer = "content-type: application/json\r\nslop-protocol: 2\r\n";
    let version = "content-type: application/json\r\nslop-version: 0.0.0\r\n";
    let cases = [
        (get("/", ""), 404, "no_such_route"),
        (get("/v1/statu", ""), 404, "no_such_route"),
        (get("/v1/../v1/status", ""), 404, "no_such_route"),
        (get("/v1/%2e%2e/etc/passwd", ""), 404, "no_such_route"),
        (get("/v1/status%00", ""), 404, "no_such_route"),
        (get("//v1/status", ""), 404, "no_such_route"),
        (get("/v1/index", ""), 405, "no_such_method"),
        (post("/v1/status", json, "{}"), 405, "no_such_method"),
        (get("/v1/status?verbose=1", ""), 400, "bad_query"),
        (get("/v1/events?since=now", ""), 400, "bad_query"),
        (get("/v1/events", "last-event-id: 1\r\n"), 400, "bad_query"),
        (post("/v1/index?require_fresh=maybe", json, "{}"), 400, "bad_query"),
        (post("/v1/index", "", "{}"), 415, "not_json"),
        (post("/v1/index", "content-type: text/plain\r\n", "{}"), 415, "not_json"),
        (post("/v1/index", "content-type: application/x-www-form-urlencoded\r\n", "a=b"), 415, "not_json"),
        (post("/v1/index", json, "{"), 400, "bad_json"),
        (post("/v1/index", json, "[true]"), 400, "bad_json"),
        (post("/v1/index", json, "null"), 400, "bad_json"),
        (post("/v1/index", json, "{\"verify\":1}"), 400, "bad_json"),
        (post("/v1/index", json, "{\"verfy\":true}"), 400, "bad_json"),
        (post("/v1/index", json, "{} {}"), 400, "bad_json"),
        (post("/v1/files", json, "{\"files\":[]}"), 400, "bad_json"),
        (post("/v1/outline", json, &deep), 400, "bad_json"),
        (post("/v1/symbols", json, ""), 400, "bad_json"),
        (post("/v1/outline", json, &long), 422, "too_long"),
        (post("/v1/outline", json, &many), 422, "too_long"),
        (post("/v1/index", json, &" ".repeat((1 << 20) + 1)), 413, "too_large"),
        (post("/v1/index", other, "{}"), 409, "other_settings"),
        (post("/v1/index", newer, "{}"), 409, "other_protocol"),
        (post("/v1/index", version, "{}"), 409, "other_version"),
    ];
    for (request, status, code) in cases {
        let heard = house.raw(&request);
        let begins: String = request.chars().take(120).collect();
        assert_eq!((heard.status, &*heard.code()), (status, code), "{begins}\n{heard:?}");
        assert!(heard.body.len() < 1000, "{begins}");
    }
    assert_eq!(house.fake.asked(), []);
}

#[test]
fn bad_json_is_told_by_key_and_place() {
    let house = House::new();
    let heard = house.post("/v1/index", "", "{\"verfy\": true}");
    let message = heard.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("`verfy`") && message.contains("line 1 column 8"), "{message}");
}

#[test]
fn a_whole_number_is_one_however_it_is_written() {
    let house = House::new();
    let status = |days: &str| house.post("/v1/cache/collect", "", &format!("{{\"days\":{days}}}")).status;
    for days in ["30", "30.0", "3e1", "0.0", "-0.0"] {
        assert_eq!(status(days), 200, "{days}");
    }
    let asked = house.fake.asked();
    let days = |ask: &Ask| if let Ask::CacheCollect(ask) = ask { ask.days } else { u32::MAX };
    assert_eq!(asked.iter().map(days).collect::<Vec<_>>(), [30, 30, 30, 0, 0]);
    for days in ["30.5", "-1", "-1.0", "4294967296.0", "1e300", "\"30\""] {
        assert_eq!(status(days), 400, "{days}");
    }
    assert_eq!(house.fake.asked(), []);
}

#[test]
fn words_reach_the_service_as_they_are() {
    let house = House::new();
    for word in ["../x", "/etc/passwd", "file:///etc", "a\0b", "%2e%2e", "\u{202e}x", "a\nb", "..\\x", ""] {
        assert_eq!(house.symbols(word).status, 200, "{word:?}");
        let ask = SymbolsAsk { name: word.to_owned(), definition: false };
        assert_eq!(house.fake.asked(), [Ask::Symbols(ask)]);
    }
}

#[test]
fn web_pages_and_strangers_are_refused() {
    let house = House::new();
    let port = house.port;
    let authorization = format!("authorization: Bearer {TOKEN}\r\n");
    let request = |method: &str, host: &str, rest: &str| {
        let host = if host.is_empty() { String::new() } else { format!("host: {host}\r\n") };
        format!("{method} /v1/status HTTP/1.1\r\n{host}connection: close\r\n{rest}\r\n")
    };
    let ours = format!("127.0.0.1:{port}");
    let mut cases = Vec::new();
    for host in
        [ours.clone(), format!("localhost:{port}"), format!("LOCALHOST:{port}"), format!("[::1]:{port}")]
    {
        cases.push((request("GET", &host, &authorization), 200));
        cases.push((request("GET", &host, ""), 401));
        cases.push((request("OPTIONS", &host, &authorization), 403));
    }
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        format!("localhost.evil.example:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.0.0.2:{port}"),
        format!("0.0.0.0:{port}"),
        format!("user@127.0.0.1:{port}"),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        "127.0.0.1:1".to_owned(),
        format!("127.0.0.1:0{port}"),
        format!("localhost.:{port}"),
        String::new(),
    ] {
        cases.push((request("GET", &host, &authorization), 421));
        cases.push((request("OPTIONS", &host, ""), 421));
    }
    cases.push((request("GET", &ours, &format!("host: {ours}\r\nhost: evil\r\n{authorization}")), 421));
    cases.push((get(&format!("http://evil.example:{port}/v1/status"), &authorization), 421));
    for origin in
        ["http://evil.example".to_owned(), "null".to_owned(), format!("http://{ours}"), String::new()]
    {
        let headers = format!("origin: {origin}\r\n{authorization}");
        cases.push((request("GET", &ours, &headers), 403));
        cases.push((request("OPTIONS", &ours, &headers), 403));
    }
    for (site, status) in
        [("none", 200), ("same-origin", 200), ("same-site", 403), ("cross-site", 403), ("x", 403)]
    {
        cases.push((request("GET", &ours, &format!("sec-fetch-site: {site}\r\n{authorization}")), status));
    }
    for wrong in [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Bearer {TOKEN}x"),
        format!("Bearer {}", &TOKEN[1..]),
        format!("Basic {TOKEN}"),
        TOKEN.to_owned(),
        format!("Bearer {TOKEN}\r\nauthorization: Bearer x"),
    ] {
        cases.push((request("GET", &ours, &format!("authorization: {wrong}\r\n")), 401));
    }
    let form = "content-type: text/plain\r\n";
    cases.push((post("/v1/stop", "", "").replace("localhost", &ours), 401));
    cases.push((post("/v1/index", &format!("{form}{authorization}"), "{}").replace("localhost", &ours), 415));
    assert!(60 <= cases.len(), "{}", cases.len());
    for (request, status) in cases {
        let heard = house.raw_tcp(&request);
        assert_eq!(heard.status, status, "{request}\n{heard:?}");
        assert!(!heard.head.contains("access-control"), "{request}");
    }
    assert_eq!(house.fake.asked(), []);
    assert_eq!(*house.fake.seen.0.lock().unwrap(), [""; 0]);
}

#[test]
fn a_web_page_is_refused_on_the_socket_too() {
    let house = House::new();
    assert_eq!(house.raw(&get("/v1/status", "origin: http://evil.example\r\n")).status, 403);
    assert_eq!(house.raw(&get("/v1/status", "sec-fetch-site: cross-site\r\n")).status, 403);
    assert_eq!(house.raw(&get("/v1/status", "").replace("GET", "OPTIONS")).status, 403);
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
}

#[test]
fn a_port_that_others_can_reach_is_not_served() {
    let house = House::new();
    for (address, token) in [("0.0.0.0:0", TOKEN), ("127.0.0.1:0", "")] {
        let listener = std::net::TcpListener::bind(address).unwrap();
        let served = house.runtime.block_on(house.server.serve_tcp(listener, token));
        assert_eq!(served.unwrap_err().kind(), std::io::ErrorKind::InvalidInput, "{address}");
    }
}

#[test]
fn a_socket_is_its_owners_alone() {
    let house = House::new();
    let mode = std::fs::symlink_metadata(house.socket()).unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o600);
    assert!(matches!(bind_unix(&house.socket()), Err(BindError::InUse(_))));
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
}

#[test]
fn no_socket_is_made_where_others_could_put_theirs() {
    let folder = tempfile::tempdir().unwrap();
    for (mode, is_safe) in [(0o777, false), (0o770, false), (0o757, false), (0o755, true), (0o700, true)] {
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        let bound = bind_unix(&folder.path().join("socket"));
        assert_eq!(bound.is_ok(), is_safe, "{mode:o}: {bound:?}");
        assert!(is_safe || matches!(bound, Err(BindError::UnsafeFolder { .. })));
    }
    let link = folder.path().join("link");
    symlink(folder.path(), &link).unwrap();
    assert!(matches!(bind_unix(&link.join("socket")), Err(BindError::UnsafeFolder { .. })));
    assert!(matches!(bind_unix(&folder.path().join("no/socket")), Err(BindError::UnsafeFolder { .. })));
}

#[test]
fn only_a_socket_that_nobody_listens_on_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    drop(bind_unix(&at("left")).unwrap());
    assert!(at("left").exists());
    drop(bind_unix(&at("left")).unwrap());
    std::fs::write(at("file"), "precious").unwrap();
    symlink(at("left"), at("link")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    for name in ["file", "link", "dangling"] {
        assert!(matches!(bind_unix(&at(name)), Err(BindError::Occupied(_))), "{name}");
    }
    assert_eq!(std::fs::read_to_string(at("file")).unwrap(), "precious");
    assert!(!at("nowhere").exists());
    assert!(matches!(bind_unix(&at(&"x".repeat(120))), Err(BindError::TooLong(_))));
}

#[test]
fn thousands_that_never_finish_a_request_do_not_keep_out_one_that_does() {
    let house = House::new();
    let mut slow = Vec::new();
    for number in 0..1000 {
        let mut stream = house.connect();
        let _ = match number % 3 {
            0 => stream.write_all(b"GET /v1/status HTTP/1.1\r\nhost: "),
            1 => stream.write_all(b"POST /v1/index HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{"),
            _ => Ok(()),
        };
        // The system gives a process so many files, and as many as the server keeps are enough to hold every seat.
        if 200 < slow.len() {
            slow.remove(0);
        }
        slow.push(stream);
        if number % 50 == 0 {
            let heard = house.raw(&get("/v1/status", ""));
            assert_eq!(heard.status, 200, "after {number}: {heard:?}");
        }
    }
    assert_eq!(house.symbols("found").status, 200);
}

#[test]
fn where_all_are_being_answered_the_next_is_told_to_come_again() {
    let house = House::new();
    let asking: Vec<_> = (0..super::limits::CONNECTIONS)
        .map(|_| {
            let mut stream = house.connect();
            let body = json!({"name": "wait"}).to_string();
            stream
                .write_all(post("/v1/symbols", "content-type: application/json\r\n", &body).as_bytes())
                .unwrap();
            stream
        })
        .collect();
    let begun = || house.fake.seen.0.lock().unwrap().iter().filter(|seen| **seen == "begun").count();
    while begun() < asking.len() {
        std::thread::yield_now();
    }
    let heard = house.raw(&get("/v1/status", ""));
    assert_eq!((heard.status, &*heard.code()), (503, "busy"));
    assert!(heard.head.contains("retry-after: 1"));
    drop(asking);
    house.fake.wait_for("cancelled");
    while house.raw(&get("/v1/status", "")).status != 200 {
        std::thread::yield_now();
    }
}

#[test]
fn a_head_or_a_body_that_does_not_come_is_not_waited_for() {
    let quick = Duration::from_millis(50);
    let house = House::with(Patience { head: quick, body: quick, ..PATIENCE });
    for begun in ["", "GET /v1/status HTTP/1.1\r\nhost: x\r\n"] {
        let mut stream = house.connect();
        stream.write_all(begun.as_bytes()).unwrap();
        assert_ne!(heard(stream).status, 200, "{begun}");
    }
    let mut stream = house.connect();
    stream.write_all(b"POST /v1/index HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{").unwrap();
    assert_eq!(heard(stream).status, 408);
    assert_eq!(house.fake.asked(), []);
}

#[test]
fn a_line_without_an_end_and_a_head_without_an_end_are_cut() {
    let house = House::new();
    let chunk = "x".repeat(1 << 20);
    for begun in ["", "GET /v1/status HTTP/1.1\r\nhost: ", "GET /"] {
        let mut stream = house.connect();
        let mut sent = stream.write_all(begun.as_bytes()).is_ok();
        let mut megabytes = 0;
        while sent && megabytes < 1024 {
            sent = stream.write_all(chunk.as_bytes()).is_ok();
            megabytes += 1;
        }
        assert!(megabytes < 16, "{begun}: {megabytes} MiB were taken");
    }
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
}

#[test]
fn who_does_not_read_is_not_waited_for() {
    let house = House::with(Patience { read: Duration::from_millis(50), ..PATIENCE });
    let mut stream = house.connect();
    let body = json!({"name": "large"}).to_string();
    stream.write_all(post("/v1/symbols", "content-type: application/json\r\n", &body).as_bytes()).unwrap();
    stream.set_write_timeout(Some(DEADLINE)).unwrap();
    // Nobody takes this, so that it waits until the server has hung up.
    while stream.write_all(b"x").is_ok() {}
    assert_eq!(house.symbols("found").status, 200);
    assert!(heard(stream).body.len() < 32 << 20);
}

#[test]
fn a_client_that_goes_is_not_worked_for() {
    let house = House::new();
    for accept in ["", "accept: application/x-ndjson\r\n"] {
        let mut stream = house.connect();
        let (headers, body) =
            (format!("content-type: application/json\r\n{accept}"), json!({"name": "wait"}));
        stream.write_all(post("/v1/symbols", &headers, &body.to_string()).as_bytes()).unwrap();
        house.fake.wait_for("begun");
        assert!(!house.fake.seen.0.lock().unwrap().contains(&"cancelled"));
        stream.shutdown(Shutdown::Both).unwrap();
        drop(stream);
        house.fake.wait_for("cancelled");
        house.fake.seen.0.lock().unwrap().clear();
    }
}

#[test]
fn a_panic_is_told_as_a_bug_and_others_are_served() {
    let house = House::new();
    for _ in 0..100 {
        assert_eq!(house.symbols("panic").status, 500);
    }
    assert_eq!(house.symbols("found").status, 200);
}

#[test]
fn lines_tell_progress_and_last_the_answer() {
    let quick = Duration::from_millis(5);
    for (name, last) in [
        ("slow", json!({"data": {"was": "slow"}, "error": null, "status": null})),
        ("slow fault", json!({"data": null, "error": "list_failed", "status": 503})),
    ] {
        let house = House::with(Patience { progress: quick, sign: quick, ..PATIENCE });
        let mut stream = house.connect();
        let headers = "content-type: application/json\r\naccept: application/x-ndjson\r\n";
        let request = post("/v1/symbols", headers, &json!({"name": name}).to_string());
        stream.write_all(request.as_bytes()).unwrap();
        let begun = read_until(&mut stream, "{\"progress\":{\"done\":1,\"total\":2}}\n");
        assert!(begun.contains("content-type: application/x-ndjson"), "{begun}");
        assert!(!begun.contains("schema_version"), "{begun}");
        house.fake.sees("released");
        let heard = heard(begun.as_bytes().chain(stream));
        let line: Value = serde_json::from_str(heard.body.lines().last().unwrap()).unwrap();
        let told = json!({"data": line["data"], "error": line["error"]["code"], "status": line["status"]});
        assert_eq!(told, last);
    }
}

#[test]
fn what_was_asked_before_the_server_stops_is_answered() {
    let house = House::with(Patience { stop: DEADLINE, ..PATIENCE });
    let mut asking = house.connect();
    let request = post("/v1/symbols", "content-type: application/json\r\n", "{\"name\":\"slow\"}");
    asking.write_all(request.as_bytes()).unwrap();
    while house.fake.asked.lock().unwrap().is_empty() {
        std::thread::yield_now();
    }
    let mut idle = house.connect();
    house.server.stop();
    assert_eq!(idle.read(&mut [0]).unwrap_or(0), 0);
    house.fake.sees("released");
    assert_eq!(heard(asking).json()["data"], json!({"was": "slow"}));
}

#[test]
fn a_document_is_given_alone_where_that_is_accepted() {
    let house = House::new();
    let heard = house.post("/v1/aggregate", "accept: text/markdown\r\n", "{}");
    assert_eq!(heard.body, "# A \"document\"\n");
    for header in ["content-type: text/markdown", "slop-freshness: fresh", "slop-clock: 1:7"] {
        assert!(heard.head.contains(header), "{header} in {}", heard.head);
    }
}

#[test]
fn events_are_told_as_they_come_and_from_where_a_stream_broke_off() {
    let house = House::new();
    (1..=3).for_each(|sequence| house.fake.feed.publish(event(sequence, "a.py")));
    let told = "id: 1:3\nevent: changed\n\
                data: {\"clock\":\"1:3\",\"changes\":[{\"path\":\"a.py\",\"kind\":\"modified\",\"sha256\":\"ab\"}]}\n\n";
    let heard = house.raw(&get("/v1/events?since=1:2&limit=1", ""));
    assert!(heard.head.contains("content-type: text/event-stream"));
    assert_eq!(heard.body, format!(": watching\n\n{told}"));
    for (since, last) in [("", "1:2"), ("since=1:1&", "1:2"), ("since=1:2&", "")] {
        let request = get(&format!("/v1/events?{since}limit=1"), &format!("last-event-id: {last}\r\n"));
        assert_eq!(house.raw(&request).body, heard.body, "{since} {last}");
    }
    let wrong = get("/v1/events?since=1:2&wait_ms=0", "last-event-id: {}\r\n");
    assert_eq!((house.raw(&wrong).status, &*house.raw(&wrong).code()), (400, "bad_query"));
    let heard = house.raw(&get("/v1/events?since=9:2&limit=1", ""));
    assert!(
        heard.body.ends_with("id: 1:3\nevent: fresh_instance\ndata: {\"clock\":\"1:3\",\"changes\":[]}\n\n")
    );
    assert_eq!(house.raw(&get("/v1/events?wait_ms=0", "")).body, ": watching\n\n");
    assert_eq!(house.raw(&get("/v1/events?limit=0", "")).body, ": watching\n\n");
}

#[test]
fn a_stream_shows_that_it_lives_and_ends_when_the_server_stops() {
    let house = House::with(Patience { heartbeat: Duration::from_millis(5), ..PATIENCE });
    let mut stream = house.connect();
    stream.write_all(get("/v1/events", "").as_bytes()).unwrap();
    read_until(&mut stream, "\n:\n");
    house.server.stop();
    assert!(stream.read_to_end(&mut Vec::new()).is_ok());
}

#[test]
fn so_many_wait_for_events_that_some_connections_are_left() {
    let house = House::new();
    let waiting: Vec<_> = (0..super::limits::SUBSCRIBERS)
        .map(|_| {
            let mut stream = house.connect();
            stream.write_all(get("/v1/events", "").as_bytes()).unwrap();
            let mut first = [0; 8];
            stream.read_exact(&mut first).unwrap();
            stream
        })
        .collect();
    let heard = house.raw(&get("/v1/events", ""));
    assert_eq!((heard.status, &*heard.code()), (503, "busy"));
    assert_eq!(house.raw(&get("/v1/status", "")).status, 200);
    drop(waiting);
}

#[test]
fn the_client_is_answered_what_the_service_answered() {
    let house = House::new();
    let client = house.client();
    let options = AskOptions { require_fresh: true, settings: Some("ours"), ..AskOptions::default() };
    let answered = client.ask(&Ask::Files, options).unwrap();
    assert_eq!(answered.data, "{\"fresh\":true,\"settings\":\"ours\"}");
    assert_eq!(answered.notes, ["a note"]);
    assert_eq!(answered.freshness.clock.as_deref(), Some("1:7"));
    let symbols = |name: &str| Ask::Symbols(SymbolsAsk { name: name.to_owned(), definition: true });
    let large = client.ask(&symbols("large"), AskOptions::default()).unwrap();
    assert_eq!(large.data.len(), (32 << 20) + 2);
    let asks = [
        Ask::Index(IndexAsk::default()),
        Ask::Files,
        Ask::Outline(OutlineAsk { files: vec!["a \"b\"".to_owned()], verify: true }),
        Ask::View(ViewAsk::default()),
        symbols("f"),
        Ask::Aggregate(Box::default()),
        Ask::Explain(Box::new(ExplainAsk { file: "a".to_owned(), choice: ChoiceAsk::default() })),
        Ask::CacheStatus,
        Ask::CacheClear(CacheClearAsk::default()),
        Ask::CacheVerify,
        Ask::CacheCollect(CacheCollectAsk { days: 3 }),
        Ask::Audit,
    ];
    house.fake.asked();
    for ask in &asks {
        client.ask(ask, AskOptions::default()).unwrap();
    }
    assert_eq!(house.fake.asked(), asks);
}

#[test]
fn the_client_is_told_of_progress_and_faults() {
    let quick = Duration::from_millis(5);
    let house = House::with(Patience { progress: quick, sign: quick, ..PATIENCE });
    let client = house.client();
    let symbols = |name: &str| Ask::Symbols(SymbolsAsk { name: name.to_owned(), definition: false });
    let mut told = Vec::new();
    let mut tell = |done, total| {
        told.push((done, total));
        // The first may come before the work has begun.
        if done == 1 {
            house.fake.sees("released");
        }
    };
    let options = AskOptions { progress: Some(&mut tell), ..AskOptions::default() };
    assert_eq!(client.ask(&symbols("slow"), options).unwrap().data, "{\"was\":\"slow\"}");
    assert!(told.contains(&(1, 2)), "{told:?}");
    for (name, code, kind) in [
        ("missing", "not_found", Kind::User),
        ("broken", "list_failed", Kind::Environment),
        ("slow fault", "list_failed", Kind::Environment),
        ("panic", "bug", Kind::Environment),
    ] {
        let error = client.ask(&symbols(name), AskOptions::default()).unwrap_err();
        let ClientError::Fault(fault) = error else { panic!("{name}: {error}") };
        assert_eq!((&*fault.code, fault.kind), (code, kind), "{name}");
    }
    let options = AskOptions { settings: Some("other"), ..AskOptions::default() };
    let error = client.ask(&Ask::Files, options).unwrap_err();
    assert!(matches!(error, ClientError::Fault(fault) if fault.code == "other_settings"));
}

#[test]
fn a_client_that_is_told_to_give_up_takes_the_work_with_it() {
    let house = House::new();
    let job = Job::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            house.fake.wait_for("begun");
            job.cancel();
        });
        let ask = Ask::Symbols(SymbolsAsk { name: "wait".to_owned(), definition: false });
        let options = AskOptions { job: Some(&job), ..AskOptions::default() };
        let answered = house.client().ask(&ask, options);
        assert!(matches!(answered, Err(ClientError::Cancelled)), "{answered:?}");
    });
    house.fake.wait_for("cancelled");
}

#[test]
fn the_client_takes_no_answer_of_another_version() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let listener = bind_unix(&socket).unwrap();
    let body = "{\"freshness\":\"fresh\",\"reason\":null,\"clock\":null,\"as_of_ms\":0,\"pending\":0,\"notes\":[],\"data\":[]}";
    let ours = format!("slop-version: {VERSION}\r\n");
    for (version, is_taken) in [("", false), ("slop-version: 0.0.0\r\n", false), (&*ours, true)] {
        let client = Client::connect(&socket).unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let length = body.len();
        let answer = format!("HTTP/1.1 200 OK\r\n{version}content-length: {length}\r\n\r\n{body}");
        let answering = std::thread::spawn(move || {
            read_until(&mut stream, "\r\n\r\n");
            stream.write_all(answer.as_bytes()).unwrap();
            stream
        });
        let answered = client.ask(&Ask::Files, AskOptions::default());
        drop(answering.join().unwrap());
        assert_eq!(answered.is_ok(), is_taken, "{version}: {answered:?}");
        assert!(is_taken || matches!(answered, Err(ClientError::NotUnderstood(_))), "{version}");
    }
}

#[test]
fn the_client_knows_whom_it_can_ask() {
    let house = House::new();
    let client = house.client();
    assert_eq!(client.status().unwrap().project, "project");
    client.stop().unwrap();
    house.fake.wait_for("stopped");
    let nowhere = Client::connect(&house.folder.path().join("nowhere"));
    assert!(matches!(nowhere, Err(Unreachable::NotThere(_))));
    let left = house.folder.path().join("left");
    drop(bind_unix(&left).unwrap());
    assert!(matches!(Client::connect(&left), Err(Unreachable::NobodyListens(_))));
}
