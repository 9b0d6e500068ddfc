//! The API as seen by other programs (F77 to F79, F82), and by commands that find a running daemon.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{FileExt, PermissionsExt, chown, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use serde_json::{Value, json};

use super::super::mcp::McpClient;
use super::super::sandbox::{CommandOutput, Sandbox, run, text};
use super::harness::{TestDaemon, rounds, wait_until};

/// The longest silence on a socket before the test counts as hanging.
const SILENCE: Duration = Duration::from_mins(1);

fn project() -> Sandbox {
    let sandbox = Sandbox::repo();
    sandbox.write("src/engine.py", "class Engine:\n    def run(self):\n        return 1\n");
    sandbox.write("src/other.py", "from engine import Engine\n\n\ndef main():\n    Engine().run()\n");
    sandbox.write("a b.md", "# Odd\n\nWords.\n");
    sandbox.write("x.bin", b"\xff\xfe\0bytes");
    sandbox.write(b"odd\xff.txt", "text\n");
    sandbox.write(".env", "KEY=1\n");
    sandbox.commit_all("one");
    sandbox.write("a b.md", "# Odd\n\nOther words.\n");
    sandbox
}

/// A daemon's port and token.
struct ListenAddress {
    address: String,
    token: String,
}

impl ListenAddress {
    fn read_from(sandbox: &Sandbox) -> Self {
        let file = sandbox.path(".slop_cache/daemon.listen");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let listener: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
        Self { address: text(&listener["address"]), token: text(&listener["token"]) }
    }

    /// Sends a raw request and returns the status and the whole response.
    fn send_raw(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        exchange(&mut stream, request)
    }
}

/// Sends a request and closes the connection.
fn exchange(stream: &mut (impl Read + Write), request: &str) -> (u16, String) {
    // The server may refuse the request and close the connection before it is completely sent.
    let _ = stream.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let heard = String::from_utf8_lossy(&bytes).into_owned();
    let status = heard.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
    (status, heard)
}

/// Returns the number of sockets that a daemon has open, its own and those of clients.
fn open_sockets(daemon: &TestDaemon<'_>) -> usize {
    let open = fs::read_dir(format!("/proc/{}/fd", daemon.child.id())).unwrap();
    let target = |entry: std::io::Result<fs::DirEntry>| fs::read_link(entry.ok()?.path()).ok();
    open.filter_map(target).filter(|target| target.to_string_lossy().starts_with("socket:")).count()
}

fn request(line: &str, fields: &[&str], body: &str) -> String {
    let fields: String = fields.iter().flat_map(|field| [*field, "\r\n"]).collect();
    let length = body.len();
    format!("{line} HTTP/1.1\r\n{fields}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}")
}

#[test]
fn agents_are_served_on_the_port_from_the_current_files() {
    let sandbox = project();
    let _daemon = TestDaemon::start_with(&sandbox, &["--listen", "127.0.0.1:0"]);
    let port = ListenAddress::read_from(&sandbox);
    let (host, word) = (format!("Host: {}", port.address), format!("Authorization: Bearer {}", port.token));
    let fields =
        [&host, &word, "Content-Type: application/json", "Accept: application/json, text/event-stream"];
    let call = |tool: &str, arguments: &Value| {
        let params = json!({"name": tool, "arguments": arguments});
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (status, heard) = port.send_raw(&request("POST /mcp", &fields, &body.to_string()));
        assert_eq!(status, 200, "{heard}");
        let body = heard.split_once("\r\n\r\n").unwrap().1;
        let answer: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {heard}"));
        text(&answer["result"]["content"][0]["text"])
    };
    let words = call("slop_symbol", &json!({"name": "Engine.run", "definition": true}));
    assert!(
        words.starts_with("src/engine.py:2-3 [method] Engine.run\n") && words.contains("return 1"),
        "{words}"
    );
    sandbox.write("src/engine.py", "class Engine:\n    def run(self):\n        return 2\n");
    let words = call("slop_view", &json!({"files": [sandbox.path("src/engine.py")]}));
    assert!(words.contains("return 2") && words.ends_with("how the files were when you asked]"), "{words}");
    let words = call("slop_view", &json!({"files": ["../foreign.txt"]}));
    assert!(words.contains("code: outside_project\n"), "{words}");
}

#[test]
fn a_port_answers_programs_with_the_token_and_no_web_page() {
    let sandbox = project();
    let daemon = TestDaemon::start_with(&sandbox, &["--listen", "127.0.0.1:0"]);
    let port = ListenAddress::read_from(&sandbox);
    let number = port.address.rsplit_once(':').unwrap().1.to_owned();
    let host = format!("Host: {}", port.address);
    let word = format!("Authorization: Bearer {}", port.token);
    let json = "Content-Type: application/json";
    let good: [&str; 3] = [&host, &word, json];
    let ask = |fields: &[&str]| request("POST /v1/files", fields, "{}");
    assert_eq!(port.send_raw(&ask(&good)).0, 200);
    let local = format!("Host: localhost:{number}");
    assert_eq!(port.send_raw(&ask(&[&local, &word, json])).0, 200);

    let mut cases: Vec<(String, u16)> = Vec::new();
    let wrong_words = [
        String::new(),
        "Authorization: Bearer".to_owned(),
        "Authorization: Bearer ".to_owned(),
        format!("Authorization: Bearer {}0", port.token),
        format!("Authorization: Bearer {}", &port.token[1..]),
        format!("Authorization: Bearer {}", port.token.to_uppercase()),
        format!("Authorization: Basic {}", port.token),
        format!("Authorization: {}", port.token),
        format!("Cookie: token={}", port.token),
        format!("X-Token: {}", port.token),
        format!("{word}\r\n{word}"),
    ];
    for wrong in &wrong_words {
        let fields: Vec<&str> =
            [&host, wrong.as_str(), json].into_iter().filter(|field| !field.is_empty()).collect();
        cases.push((ask(&fields), 401));
    }
    cases.push((request(&format!("POST /v1/files?token={}", port.token), &[&host, json], "{}"), 401));
    for name in ["evil.example", "127.0.0.1", "localhost", "0.0.0.0", "[::1]", "127.0.0.1:1", ""] {
        let (plain, ported) = (format!("Host: {name}"), format!("Host: evil.{name}:{number}"));
        cases.push((ask(&[&plain, &word, json]), 421));
        cases.push((ask(&[&ported, &word, json]), 421));
    }
    cases.push((ask(&[&word, json]), 421));
    cases.push((request("POST http://evil.example/v1/files", &good, "{}"), 421));
    for origin in ["null", "http://evil.example", &format!("http://localhost:{number}"), ""] {
        let origin = format!("Origin: {origin}");
        cases.push((ask(&[&host, &word, json, &origin]), 403));
        cases.push((
            request("OPTIONS /v1/files", &[&host, &origin, "Access-Control-Request-Method: POST"], ""),
            403,
        ));
    }
    for site in ["cross-site", "same-site"] {
        cases.push((ask(&[&host, &word, json, &format!("Sec-Fetch-Site: {site}")]), 403));
    }
    cases.push((request("OPTIONS *", &[&host, &word], ""), 403));
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/json",
        "",
    ] {
        let kind = format!("Content-Type: {kind}");
        cases.push((ask(&[&host, &word, &kind]), 415));
    }
    cases.push((ask(&[&host, &word]), 415));

    let before = daemon.status();
    for (request, status) in &cases {
        let (heard_status, heard) = port.send_raw(request);
        assert_eq!(heard_status, *status, "{request}\n{heard}");
        assert!(!heard.to_ascii_lowercase().contains("access-control"), "{request}\n{heard}");
        assert!(!heard.contains("engine.py") && !heard.contains(&port.token), "{request}\n{heard}");
    }
    assert!(40 <= cases.len(), "{}", cases.len());
    assert_eq!(daemon.status()["answers"], before["answers"]);
}

#[test]
fn no_daemon_starts_where_others_could_replace_its_socket() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    let cache = sandbox.path(".slop_cache");
    for mode in [0o777, 0o770, 0o722] {
        fs::set_permissions(&cache, fs::Permissions::from_mode(mode)).unwrap();
        let ran = sandbox.slop(&["watch", "--quiet"]);
        ran.assert_fails(3, &["writable by other users", ".slop_cache"]);
        assert!(!cache.join("daemon.sock").exists());
    }
    fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
    let elsewhere = sandbox.outside("elsewhere");
    fs::write(&elsewhere, "precious").unwrap();
    symlink(&elsewhere, cache.join("daemon.sock")).unwrap();
    sandbox.slop(&["watch", "--quiet"]).assert_fails(3, &["daemon.sock", "not a socket"]);
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "precious");
    // A dangling link is not a socket either, and nothing is created at its target.
    fs::remove_file(&elsewhere).unwrap();
    sandbox.slop(&["watch", "--quiet"]).assert_fails(3, &["daemon.sock", "not a socket"]);
    assert!(!elsewhere.exists());
    // Commands still answer by themselves.
    assert!(sandbox.stdout_of(&["view", "src/engine.py"]).contains("class Engine"));
}

#[test]
fn a_daemon_that_may_not_use_the_cache_folder_leaves_no_file_in_it() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    let cache = sandbox.path(".slop_cache");
    if chown(&cache, Some(1), None).is_ok() {
        // As root, which may write everywhere.
        for command in [&["daemon", "start"][..], &["watch"]] {
            sandbox.slop(command).assert_fails(1, &[".slop_cache belongs to another user"]);
        }
    } else {
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o500)).unwrap();
        sandbox
            .slop(&["daemon", "start"])
            .assert_fails(3, &[".slop_cache cannot be used: Permission denied"]);
        fs::set_permissions(&cache, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(cache.join("daemon.log"), "").unwrap();
        fs::set_permissions(cache.join("daemon.log"), fs::Permissions::from_mode(0o400)).unwrap();
        sandbox
            .slop(&["daemon", "start"])
            .assert_fails(3, &["daemon.log cannot be written: Permission denied"]);
    }
    assert!(!cache.join("daemon.lock").exists());
}

#[test]
fn a_client_is_served_regardless_of_others() {
    let sandbox = project();
    let daemon = TestDaemon::start_with(&sandbox, &["--listen", "127.0.0.1:0"]);
    let port = ListenAddress::read_from(&sandbox);
    let sockets = open_sockets(&daemon);
    let mut good = daemon.connect();
    let (mut crowd, mut answered) = (Vec::new(), 0);
    for number in 0..rounds(300, 10_000) {
        if let Ok(mut slow) = UnixStream::connect(daemon.socket()) {
            let _ = slow.write_all(b"POST /v1/files HTTP/1.1\r\nHost: x\r\nContent-Le");
            crowd.push(slow);
        }
        if number % 10 == 0 {
            // Like any idle connection, this one may have been closed to make room.
            let text =
                good.exchange("POST", "/v1/view", Some("{\"files\":[\"src/engine.py\"],\"mode\":\"full\"}"));
            match text {
                Some((200, envelope)) => {
                    assert_eq!(envelope["freshness"], "fresh");
                    answered += 1;
                }
                Some((503, _)) | None => good = daemon.connect(),
                Some(other) => panic!("{other:?}"),
            }
        }
        // The limit of open files for a process.
        crowd.truncate(500);
    }
    assert_ne!(answered, 0);
    let fields = [&*format!("Host: {}", port.address), &*format!("Authorization: Bearer {}", port.token)];
    let fields = [fields[0], fields[1], "Content-Type: application/json"];
    let deep = format!("{{\"files\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let wide = format!("{{\"files\":[\"{}\"]}}", "**/*{a,b}[a-z]?".repeat(270));
    let huge = " ".repeat((1 << 20) + 1);
    let line = format!("GET /{}", "x".repeat(1 << 20));
    let stuffing = format!("X: {}", "y".repeat(1 << 17));
    let cases = [
        (request("POST /v1/outline", &fields, &deep), [400, 400]),
        (request("POST /v1/outline", &fields, &wide), [404, 422]),
        (request("POST /v1/outline", &fields, &huge), [413, 0]),
        (request(&line, &fields, ""), [414, 431]),
        (request("POST /v1/files", &[fields[0], fields[1], fields[2], &stuffing], "{}"), [431, 0]),
    ];
    for (request, expected) in cases {
        let (status, heard) = port.send_raw(&request);
        assert!(expected.contains(&status), "{status} for {expected:?}: {request:.300}\n{heard:.300}");
    }
    drop(crowd);
    drop(good);
    wait_until("all connections are closed", || open_sockets(&daemon) <= sockets);
    assert_eq!(daemon.connect().text("a b.md").as_deref(), Some("# Odd\n\nOther words.\n"));
}

#[test]
fn work_for_disconnected_clients_is_cancelled() {
    let sandbox = Sandbox::repo();
    for file in 0..400 {
        sandbox.write(format!("d{}/f{file}.py", file % 20), format!("def f{file}():\n    return {file}\n"));
    }
    let daemon = TestDaemon::start(&sandbox);
    let sockets = open_sockets(&daemon);
    for round in 0..rounds(60, 5000) {
        let body = "{\"verify\":true}";
        let head = format!("Host: x\r\nContent-Type: application/json\r\nContent-Length: {}", body.len());
        let mut stream = UnixStream::connect(daemon.socket()).unwrap();
        write!(stream, "POST /v1/index HTTP/1.1\r\n{head}\r\n\r\n{body}").unwrap();
        if round % 3 == 0 {
            // Some clients disconnect after the work has begun.
            wait_until("an answer is computed", || {
                daemon.status()["answers"].as_u64().unwrap() > round as u64 / 3
            });
        }
    }
    wait_until("no client is served", || {
        daemon.status()["queue_waiting"] == 0 && open_sockets(&daemon) <= sockets
    });
    assert_eq!(daemon.connect().text("d0/f0.py").as_deref(), Some("def f0():\n    return 0\n"));
    daemon.assert_audit_is_clean();
}

/// A stream of events, as kinds and data.
struct EventStream(BufReader<UnixStream>);

impl EventStream {
    /// Subscribes, and returns once the stream confirms that no later event is missed.
    fn open(daemon: &TestDaemon<'_>, query: &str) -> Self {
        let mut stream = UnixStream::connect(daemon.socket()).unwrap();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        write!(stream, "GET /v1/events{query} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut events = Self(BufReader::new(stream));
        while events.read_line() != ": watching" {}
        events
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream has ended");
        line.trim_end().to_owned()
    }

    fn next_event(&mut self) -> (String, Value) {
        loop {
            if let Some(kind) = self.read_line().strip_prefix("event: ") {
                let data = self.read_line();
                return (
                    kind.to_owned(),
                    serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap(),
                );
            }
        }
    }
}

/// Waits until the initial files are indexed and reported.
fn wait_until_settled(daemon: &TestDaemon<'_>) {
    wait_until("all files are indexed", || {
        let status = daemon.status();
        status["mode"] == "events" && status["pending"] == 0
    });
}

#[test]
fn subscribers_receive_each_change_once() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    wait_until_settled(&daemon);
    let clock = text(&daemon.status()["clock"]);
    let mut events = EventStream::open(&daemon, "");
    let mut clocks = vec![clock.clone()];
    for (text, kind) in [("x = 1\n", "added"), ("x = 2\n", "modified"), ("", "removed")] {
        match kind {
            "removed" => fs::remove_file(sandbox.path("new.py")).unwrap(),
            _ => sandbox.write("new.py", text),
        }
        let (event, data) = events.next_event();
        let changes = data["changes"].as_array().unwrap();
        assert_eq!((&*event, changes.len()), ("changed", 1), "{data}");
        assert_eq!((&changes[0]["path"], &changes[0]["kind"]), (&json!("new.py"), &json!(kind)));
        assert_eq!(changes[0]["sha256"].is_string(), kind != "removed");
        clocks.push(data["clock"].as_str().unwrap().to_owned());
    }
    // Later subscribers resume from the clock that they know, and receive in one event what has changed since.
    for clock in &clocks[..3] {
        let (event, data) = EventStream::open(&daemon, &format!("?since={clock}")).next_event();
        assert_eq!((&*event, &data["clock"]), ("changed", &json!(clocks[3])));
        let changes = data["changes"].as_array().unwrap();
        assert_eq!((changes.len(), &changes[0]["kind"]), (1, &json!("removed")), "{data}");
    }
    let (epoch, _) = clock.split_once(':').unwrap();
    for unknown in ["1:1".to_owned(), format!("{epoch}:999")] {
        let (event, data) = EventStream::open(&daemon, &format!("?since={unknown}")).next_event();
        assert_eq!((&*event, &data["changes"]), ("fresh_instance", &json!([])), "{unknown}");
        assert_eq!(data["clock"], clocks[3]);
    }
}

/// Stops the background work however a test ends.
struct StopFlag<'s>(&'s AtomicBool);

impl Drop for StopFlag<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

#[test]
fn an_answer_that_is_not_fresh_is_refused_on_request() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let envelope = daemon.query("/v1/outline?require_fresh=true", &json!({}));
    assert_eq!((&envelope["freshness"], &envelope["reason"]), (&json!("fresh"), &Value::Null));
    assert_eq!(sandbox.slop(&["outline", "--require-fresh"]).code, 0);
    // A file that is written continuously cannot be read. It is so large that reading it takes longer than a tick of
    // the clock that stamps files. The threads that write sleep in between: however busy the machine is, one that wakes
    // up soon has its turn, and they leave the processor to the daemon.
    sandbox.write("slop.toml", "[limits]\nstructure_max_bytes = 100000000\n");
    sandbox.write("log.txt", "line\n".repeat(8_000_000));
    let file = fs::File::options().write(true).open(sandbox.path("log.txt")).unwrap();
    let is_writing = AtomicBool::new(true);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while is_writing.load(Ordering::Relaxed) {
                    file.write_all_at(b"Line", 0).unwrap();
                    thread::sleep(Duration::from_millis(1));
                }
            });
        }
        let stopping = StopFlag(&is_writing);
        let ask = json!({"choice": {"tier": 1}});
        let mut refused = Value::Null;
        wait_until("an answer is refused", || {
            let (code, envelope) = daemon.connect().try_query("/v1/aggregate?require_fresh=true", &ask);
            if code == 200 {
                assert_eq!(envelope["freshness"], "fresh", "{envelope}");
                return false;
            }
            refused = envelope;
            true
        });
        assert_eq!(refused["error"]["code"], "not_fresh", "{refused}");
        assert!(text(&refused["error"]["message"]).contains("kept changing"), "{refused}");
        let envelope = daemon.query("/v1/aggregate", &ask);
        assert!(text(&envelope["data"]["text"]).contains("src/engine.py"), "{envelope}");
        drop(stopping);
    });
    assert_eq!(
        daemon.query("/v1/view?require_fresh=true", &json!({"files": ["log.txt"]}))["freshness"],
        "fresh"
    );
}

/// Commands that a daemon answers and whose output is reproducible.
const COMMANDS: &[&[&str]] = &[
    &["status"],
    &["outline"],
    &["outline", "src/engine.py", "a b.md"],
    &["outline", "missing.py"],
    &["outline", "x.bin"],
    &["view", "src/engine.py"],
    &["view", "src/engine.py", "--bare"],
    &["view", "src/engine.py", "-m", "skeleton"],
    &["view", "src/engine.py", "--mask", "Engine.run=def"],
    &["view", "src/engine.py", "--lines", "2-3"],
    &["view", "src/engine.py", "--lines", "20-30"],
    &["view", "a b.md", "-m", "diff"],
    &["view", "a b.md", "--base", "nonsense"],
    &["view", "*.md", "src"],
    &["view", "x.bin"],
    &["view", ".env"],
    &["view", "missing.py"],
    &["view", "../outside"],
    &["view", "["],
    &["symbol", "run"],
    &["symbol", "Engine.run", "--definition"],
    &["symbol", "nothing"],
    &["aggregate", "--tier", "1", "--stdout"],
    &["aggregate", "--tier", "3", "--focus", "engine.py", "--stdout"],
    &["aggregate", "--tier", "2", "--stdout", "--budget", "1"],
    &["aggregate", "--persona", "nobody", "--stdout"],
    &["aggregate", "src", "--stdout", "--format", "json"],
    &["explain", "src/engine.py", "--tier", "3"],
    &["explain", "missing.py", "--tier", "3"],
    &["audit"],
];

#[test]
fn a_command_prints_the_same_with_and_without_a_daemon() {
    let sandbox = project();
    sandbox.stdout_of(&["index"]);
    let daemon = TestDaemon::start(&sandbox);
    wait_until_settled(&daemon);
    let mut not_asked = Vec::new();
    for command in COMMANDS {
        for more in [&[][..], &["--json"]] {
            let before = daemon.status()["answers"].as_u64().unwrap();
            let with = normalized_output(&sandbox.slop(&[*command, more].concat()));
            // Only usage errors are reported before the daemon is queried.
            if with.0 != 2 && before == daemon.status()["answers"].as_u64().unwrap() {
                not_asked.push([*command, more].concat());
            }
            let before = daemon.status()["answers"].clone();
            let without = normalized_output(&sandbox.slop(&[*command, more, &["--no-daemon"]].concat()));
            assert_eq!(with, without, "{command:?} {more:?}");
            assert_eq!(daemon.status()["answers"], before, "{command:?}");
        }
    }
    // A JSON document needs more than the daemon sends, so the command composes it.
    let composed = COMMANDS.iter().filter(|command| command[0] == "aggregate");
    assert_eq!(not_asked, composed.map(|command| [*command, &["--json"]].concat()).collect::<Vec<_>>());
}

#[test]
fn an_error_message_is_the_same_for_every_client() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let mut agent = McpClient::start(&sandbox);
    for (file, message) in [
        ("nope.py", "no such file: nope.py"),
        ("../outside.py", "`../outside.py` is not in the project: path has an empty component, `.` or `..`"),
        (".env", ".env holds secrets by its name"),
    ] {
        for door in [&[][..], &["--no-daemon"]] {
            let told = sandbox.slop(&[&["view", file], door].concat()).err;
            assert!(told.starts_with(&format!("error: {message}\nhint: ")), "{told}");
            let envelope = sandbox.slop(&[&["view", file, "--json"], door].concat()).out;
            let envelope: Value = serde_json::from_str(&envelope).unwrap();
            assert_eq!(envelope["error"]["message"], message);
        }
        let (code, envelope) = daemon.connect().try_query("/v1/view", &json!({"files": [file]}));
        assert!(code == 422 || code == 404, "{code}");
        assert_eq!(envelope["error"]["message"], message);
        let answer =
            agent.request("tools/call", &json!({"name": "slop_view", "arguments": {"files": [file]}}));
        let told = text(&answer["result"]["content"][0]["text"]);
        assert!(told.starts_with(&format!("error: {message}\ncode: ")), "{told}");
    }
    agent.close();
}

/// Returns a run's exit code and output, without times and the daemon's progress.
fn normalized_output(ran: &CommandOutput) -> (i32, String, String) {
    let Ok(mut envelope) = serde_json::from_str::<Value>(&ran.out) else {
        return (ran.code, without_times(&ran.out), without_times(&ran.err));
    };
    for key in ["clock", "as_of_ms", "pending"] {
        envelope.as_object_mut().unwrap().remove(key);
    }
    (ran.code, envelope.to_string(), without_times(&ran.err))
}

fn without_times(said: &str) -> String {
    let without = |line: &str| match line.rsplit_once("; ") {
        Some((before, time)) if time.ends_with(" ms") || time.ends_with(" s") => before.to_owned(),
        Some(_) | None => line.to_owned(),
    };
    said.lines().map(without).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_command_with_other_settings_does_not_use_the_daemon() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let arguments = ["view", "src/engine.py"];
    let own = sandbox.stdout_of(&arguments);
    let mut command = sandbox.command(&arguments);
    command.env("SLOP_LIMITS_MAX_BYTES", "20");
    let ran = run(command);
    assert!(own.contains("full") && ran.out.contains("summary"), "{own} {ran:?}");
    let before = daemon.status()["answers"].clone();
    let mut command = sandbox.command(&["status"]);
    command.env("SLOP_NO_DAEMON", "1");
    assert_eq!(run(command).code, 0);
    assert_eq!(daemon.status()["answers"], before);
    // Changes of the project's file apply to both from the next query on.
    sandbox.write("slop.toml", "[limits]\nmax_bytes = 20\n");
    let now = sandbox.slop(&arguments);
    assert_eq!((now.code, &now.out), (ran.code, &ran.out));
    assert!(before.as_u64().unwrap() < daemon.status()["answers"].as_u64().unwrap());
}

#[test]
fn a_change_that_was_not_received_is_sent_again() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    sandbox.stdout_of(&["aggregate", "--tier", "3", "--stdout"]);
    assert_ne!(daemon.status()["answers"], 0);
    sandbox.write("new.py", "def new():\n    return 1\n");
    let full = "\"$SLOP\" aggregate --tier 3 --since-last --stdout >/dev/full";
    assert_eq!(run(sandbox.script(full)).code, 3);
    let since = ["aggregate", "--tier", "3", "--since-last", "--stdout"];
    let first = sandbox.stdout_of(&since);
    assert!(first.contains("def new()") && !first.contains("class Engine"), "{first}");
    assert!(!sandbox.stdout_of(&since).contains("def new()"));
}

#[test]
fn a_request_too_large_for_the_daemon_is_answered_locally() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let long = "x".repeat(5000);
    let with = normalized_output(&sandbox.slop(&["symbol", &long]));
    assert_eq!(with, normalized_output(&sandbox.slop(&["symbol", &long, "--no-daemon"])));
    assert_eq!(daemon.status()["answers"], 0);
}

#[test]
fn a_daemon_of_another_version_is_not_used_and_reported() {
    let sandbox = project();
    let mut status = TestDaemon::start(&sandbox).status();
    status["version"] = json!("0.0.1-other");
    let body = json!({"schema_version": 1, "command": "daemon status", "data": status}).to_string();
    let socket = sandbox.path(".slop_cache/daemon.sock");
    let _ = fs::remove_file(&socket);
    let listener = UnixListener::bind(&socket).unwrap();
    // A fake daemon without version checks, as in the first release, which answers everything.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
            let head = format!("HTTP/1.1 200 OK\r\nslop-protocol: 1\r\ncontent-length: {}", body.len());
            let _ = write!(stream, "{head}\r\n\r\n{body}");
        }
    });
    let ran = sandbox.slop(&["daemon", "start"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.starts_with("already runs, process "), "{ran:?}");
    assert!(ran.err.contains("slop 0.0.1-other") && ran.err.contains("slop daemon restart"), "{ran:?}");
    assert!(sandbox.stdout_of(&["view", "src/engine.py"]).contains("class Engine"));
}

#[test]
fn a_daemon_finds_a_symbol_wherever_it_is_now() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let places = |name: &str| -> Vec<String> {
        let found = daemon.query("/v1/symbols", &json!({"name": name}));
        found["data"].as_array().unwrap().iter().map(|symbol| text(&symbol["path"])).collect()
    };
    assert_eq!(places("Engine.run"), ["src/engine.py"]);
    assert_eq!(places("start"), [""; 0]);
    sandbox.write("src/engine.py", "class Engine:\n    def start(self):\n        return 1\n");
    assert_eq!(places("start"), ["src/engine.py"]);
    assert_eq!(places("run"), [""; 0]);
    sandbox.write("src/new.py", "def start():\n    pass\n");
    assert_eq!(places("start"), ["src/engine.py", "src/new.py"]);
    fs::rename(sandbox.path("src/new.py"), sandbox.path("src/moved.py")).unwrap();
    fs::remove_file(sandbox.path("src/engine.py")).unwrap();
    assert_eq!(places("start"), ["src/moved.py"]);
    sandbox.write("slop.toml", "[[files]]\npath = \"src/moved.py\"\nast_mask = { start = \"hide\" }\n");
    assert_eq!(places("start"), [""; 0]);
}

#[test]
fn the_times_of_the_steps_of_answers_are_shown() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    sandbox.stdout_of(&["outline", "src/engine.py"]);
    sandbox.stdout_of(&["aggregate", "--tier", "1"]);
    let report = sandbox.json(&["daemon", "status", "--spans"]);
    let count = |name: &str| {
        let spans = report["spans"].as_array().unwrap();
        let span = spans.iter().find(|span| span["name"] == name).unwrap();
        assert!(span["p50_us"].as_u64() <= span["p99_us"].as_u64(), "{span}");
        assert!(span["p99_us"].as_u64() <= span["max_us"].as_u64(), "{span}");
        assert!(span["max_us"].as_u64().unwrap() <= span["total_us"].as_u64().unwrap() + 1, "{span}");
        span["count"].as_u64().unwrap()
    };
    assert_eq!(count("answer"), 2);
    for step in ["cookie", "list", "stat", "read", "parse", "derive", "store", "render", "compose"] {
        assert_ne!(count(step), 0, "{step}");
    }
    let shown = sandbox.stdout_of(&["daemon", "status", "--spans"]);
    assert!(shown.lines().any(|line| line.starts_with("answer ") && line.contains(" 2 ")), "{shown}");
    let (code, served) = daemon.connect().exchange("GET", "/v1/performance", None).unwrap();
    assert_eq!((code, &served["data"]["since_ms"]), (200, &report["started_at_ms"]));
    assert_eq!(served["data"]["status"]["pid"], report["pid"]);
    assert_eq!(served["data"]["spans"].as_array().unwrap().len(), 13);
}

#[test]
fn the_served_openapi_document_is_the_committed_one() {
    let sandbox = project();
    let daemon = TestDaemon::start(&sandbox);
    let (code, served) = daemon.connect().exchange_bytes("GET", "/v1/openapi.json", None).unwrap();
    let committed = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/openapi.json")).unwrap();
    assert_eq!((code, served == committed), (200, true));
}

#[test]
fn paranoid_mode_counts_answers_and_finds_no_mistake() {
    let sandbox = project();
    let daemon = TestDaemon::start_with(&sandbox, &["--paranoid"]);
    let mut connection = daemon.connect();
    let count = rounds(100, 10_000);
    for round in 0..count {
        let name = format!("d{}/f.py", round % 9);
        let text = format!("x = {round:06}\n");
        sandbox.write(&name, &text);
        assert_eq!(connection.text(&name), Some(text));
    }
    let envelope = connection.query("/v1/files", &json!({}));
    assert_eq!(envelope["freshness"], "fresh");
    let paranoid = daemon.status()["paranoid"].clone();
    assert_eq!((&paranoid["on"], &paranoid["mistakes"]), (&json!(true), &json!(0)), "{paranoid}");
    assert!(count as u64 <= paranoid["answers"].as_u64().unwrap(), "{paranoid}");
}
