//! A separate daemon for each test, and a client that does not use slop's code.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::sandbox::Sandbox;
pub(crate) use super::super::sandbox::wait_until;

/// The time after which a test counts as hanging.
const DEADLINE: Duration = Duration::from_mins(1);

/// Returns the number of repetitions of a test: `short` in the suite, up to `long` in a nightly run. `tests/soak.sh`
/// sets the variable to the divisor of `long`, and counts the printed numbers.
pub(crate) fn rounds(short: usize, long: usize) -> usize {
    let Some(part) = std::env::var("SLOP_SOAK").ok() else { return short };
    let count = short.max(long / part.parse().unwrap_or(1).max(1));
    let _ = writeln!(std::io::stderr(), "repetitions: {count}");
    count
}

/// Returns whether `tests/soak.sh` is running.
pub(crate) fn is_soak() -> bool {
    std::env::var_os("SLOP_SOAK").is_some()
}

/// A reproducible random number generator (xorshift).
pub(crate) struct TestRng(u64);

impl TestRng {
    /// Returns a generator that yields the same numbers in each run of the suite, and others for each seed of a soak.
    pub(crate) fn new(seed: u64) -> Self {
        let soak =
            std::env::var("SLOP_SOAK_SEED").ok().and_then(|seed| seed.parse::<u64>().ok()).unwrap_or(0);
        Self(seed ^ soak.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(crate) fn next_below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % below
    }
}

/// A daemon in a sandbox's project, which is killed on drop.
pub(crate) struct TestDaemon<'s> {
    pub(crate) sandbox: &'s Sandbox,
    pub(crate) child: Child,
}

impl<'s> TestDaemon<'s> {
    /// Starts `slop watch` and waits until it answers.
    #[track_caller]
    pub(crate) fn start(sandbox: &'s Sandbox) -> Self {
        Self::start_with(sandbox, &[])
    }

    #[track_caller]
    pub(crate) fn start_with(sandbox: &'s Sandbox, flags: &[&str]) -> Self {
        let mut daemon = Self::spawn(sandbox, flags);
        daemon.wait_ready();
        daemon
    }

    /// Starts a daemon with these environment variables.
    #[track_caller]
    pub(crate) fn start_in(sandbox: &'s Sandbox, variables: &[(&str, &str)]) -> Self {
        let mut daemon = Self::spawn_in(sandbox, &[], variables);
        daemon.wait_ready();
        daemon
    }

    /// Starts `slop watch` without waiting.
    pub(crate) fn spawn(sandbox: &'s Sandbox, flags: &[&str]) -> Self {
        Self::spawn_in(sandbox, flags, &[])
    }

    fn spawn_in(sandbox: &'s Sandbox, flags: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = sandbox.command(&[&["watch", "--quiet"], flags].concat());
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        Self { sandbox, child: command.spawn().unwrap() }
    }

    #[track_caller]
    pub(crate) fn wait_ready(&mut self) {
        let deadline = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("the daemon ended: {status}");
            }
            let is_ours = self.try_status().is_some_and(|status| status["pid"] == self.child.id());
            if is_ours {
                return;
            }
            assert!(Instant::now() < deadline, "the daemon never answered");
            thread::sleep(Duration::from_millis(5));
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.sandbox.path(".slop_cache/daemon.sock")
    }

    /// Opens a connection.
    #[track_caller]
    pub(crate) fn connect(&self) -> DaemonConnection {
        DaemonConnection::open(&self.socket()).expect("the daemon accepts connections")
    }

    /// Sends a query on a new connection.
    #[track_caller]
    pub(crate) fn query(&self, route: &str, body: &Value) -> Value {
        self.connect().query(route, body)
    }

    /// Returns the data of `GET /v1/status`.
    #[track_caller]
    pub(crate) fn status(&self) -> Value {
        self.try_status().expect("the daemon reports its status")
    }

    pub(crate) fn try_status(&self) -> Option<Value> {
        let mut connection = DaemonConnection::open(&self.socket())?;
        let (code, mut body) = connection.exchange("GET", "/v1/status", None)?;
        (code == 200).then(|| body["data"].take())
    }

    /// Kills the daemon with SIGKILL.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let id = rustix::process::Pid::from_child(&self.child);
        let signal = match name {
            "TERM" => rustix::process::Signal::TERM,
            "INT" => rustix::process::Signal::INT,
            "HUP" => rustix::process::Signal::HUP,
            "STOP" => rustix::process::Signal::STOP,
            "CONT" => rustix::process::Signal::CONT,
            other => panic!("no signal of a test: {other}"),
        };
        rustix::process::kill_process(id, signal).unwrap();
    }

    /// Waits until the daemon exits and returns its exit code.
    #[track_caller]
    pub(crate) fn wait_for_exit(&mut self) -> Option<i32> {
        let mut code = None;
        wait_until("the daemon exits", || {
            let status = self.child.try_wait().unwrap();
            code = status.and_then(|status| status.code());
            status.is_some()
        });
        code
    }

    /// Checks with `slop audit` that the index matches the files.
    #[track_caller]
    pub(crate) fn assert_audit_is_clean(&self) {
        let ran = self.sandbox.slop(&["audit"]);
        assert_eq!(ran.code, 0, "{ran:?}\n{:#}", self.status());
    }
}

impl Drop for TestDaemon<'_> {
    fn drop(&mut self) {
        // If a test fails because its daemon has exited, the exit status is printed.
        if thread::panicking()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            let _ = writeln!(std::io::stderr(), "the daemon had ended: {status}");
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that stays open between queries.
pub(crate) struct DaemonConnection {
    stream: BufReader<UnixStream>,
}

impl DaemonConnection {
    pub(crate) fn open(socket: &std::path::Path) -> Option<Self> {
        let stream = UnixStream::connect(socket).ok()?;
        stream.set_read_timeout(Some(DEADLINE)).ok()?;
        Some(Self { stream: BufReader::new(stream) })
    }

    /// Sends a query, which must succeed, and returns the envelope.
    #[track_caller]
    pub(crate) fn query(&mut self, route: &str, body: &Value) -> Value {
        let (code, envelope) = self.try_query(route, body);
        assert_eq!(code, 200, "{route} {body}: {envelope}");
        envelope
    }

    /// Sends a query and returns the status code and the envelope.
    #[track_caller]
    pub(crate) fn try_query(&mut self, route: &str, body: &Value) -> (u16, Value) {
        self.exchange("POST", route, Some(&body.to_string())).expect("the daemon answers")
    }

    /// Returns the text of a file according to the daemon; `None` if it reports that the file does not exist.
    #[track_caller]
    pub(crate) fn text(&mut self, path: &str) -> Option<String> {
        let (code, envelope) = self.try_query("/v1/view", &json!({"files": [path], "mode": "full"}));
        if code == 200 {
            assert_eq!(envelope["freshness"], "fresh", "{envelope}");
            return Some(envelope["data"][0]["text"].as_str().unwrap().to_owned());
        }
        assert_eq!(envelope["error"]["code"], "not_found", "{envelope}");
        None
    }

    /// Returns the outline of a file, which the daemon may have cached; a text is read each time it
    /// is shown. `None` if the daemon reports that the file does not exist.
    #[track_caller]
    pub(crate) fn outline(&mut self, path: &str) -> Option<String> {
        let (code, envelope) = self.try_query("/v1/outline", &json!({"files": [path]}));
        let is_there = code == 200;
        assert!(is_there || envelope["error"]["code"] == "not_found", "{envelope}");
        assert!(!is_there || envelope["freshness"] == "fresh", "{envelope}");
        is_there.then(|| envelope["data"][0].to_string())
    }

    /// Sends a request and returns the status code and the body; `None` if the connection breaks.
    pub(crate) fn exchange(&mut self, method: &str, route: &str, body: Option<&str>) -> Option<(u16, Value)> {
        let (code, bytes) = self.exchange_bytes(method, route, body)?;
        Some((code, serde_json::from_slice(&bytes).unwrap_or(Value::Null)))
    }

    pub(crate) fn exchange_bytes(
        &mut self,
        method: &str,
        route: &str,
        body: Option<&str>,
    ) -> Option<(u16, Vec<u8>)> {
        let body = body.unwrap_or("");
        let head = format!(
            "{method} {route} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let stream = self.stream.get_mut();
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(body.as_bytes()).ok()?;
        self.read_response()
    }

    fn read_response(&mut self) -> Option<(u16, Vec<u8>)> {
        let mut line = String::new();
        self.stream.read_line(&mut line).ok()?;
        let code = line.split(' ').nth(1)?.parse().ok()?;
        let (mut length, mut is_chunked) = (0, false);
        loop {
            line.clear();
            self.stream.read_line(&mut line).ok()?;
            let header = line.trim_end().to_ascii_lowercase();
            if header.is_empty() {
                break;
            }
            if let Some(value) = header.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            is_chunked |= header == "transfer-encoding: chunked";
        }
        let mut bytes = vec![0; length];
        if is_chunked {
            bytes = self.read_chunks()?;
        } else {
            self.stream.read_exact(&mut bytes).ok()?;
        }
        Some((code, bytes))
    }

    fn read_chunks(&mut self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).ok()?;
            let length = usize::from_str_radix(line.trim(), 16).ok()?;
            let begins = bytes.len();
            bytes.resize(begins + length + 2, 0);
            self.stream.read_exact(&mut bytes[begins..]).ok()?;
            bytes.truncate(begins + length);
            if length == 0 {
                return Some(bytes);
            }
        }
    }
}
