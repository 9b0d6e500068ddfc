//! Asks a daemon by its socket, from a thread that may wait.
//!
//! Knows: how to tell a daemon that is there from one that is not, and that one at work from one that hangs. Does not
//! know: where the socket is, and what to do where nobody answers.
//!
//! Start with [`Client::connect`].

use std::io;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;
use std::time::Instant;

use bytes::Bytes;
use bytes::BytesMut;
use http_body_util::BodyExt;
use http_body_util::Full;
use hyper::Request;
use hyper::Response;
use hyper::body::Body;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::net::UnixStream;
use tokio::runtime::Runtime;

use super::ask::Ask;
use super::fault::Fault;
use super::fault::Kind;
use super::feed::Change;
use super::feed::Event;
use super::feed::EventKind;
use super::feed::Position;
use super::http::path_of;
use super::keeper::DaemonMode;
use super::keeper::DaemonStatus;
use super::service::Answered;
use super::service::FreshnessNote;
use super::service::FreshnessState;
use super::service::PROTOCOL;

/// How long a daemon may take to accept a connection: it does nothing else in between.
const CONNECT: Duration = Duration::from_secs(1);

/// How long a daemon may be silent: at work it says so each second.
const SILENCE: Duration = Duration::from_secs(5);

/// How long a stream of events may be silent: it is told each 15 s that nothing has changed.
const EVENTS_SILENCE: Duration = Duration::from_secs(40);

/// Between two tries to connect to a daemon that has more connections than it has accepted.
const BREATH: Duration = Duration::from_millis(10);

/// How long a connection that was made ahead is thought to be open still.
const YOUNG: Duration = Duration::from_secs(1);

/// Bytes of an answer that room is made for before they come.
const AHEAD: usize = 64 << 20;

/// What a line of progress begins with, as no envelope does.
const PROGRESS: &[u8] = b"{\"progress\":";

/// No daemon can be asked there.
#[derive(Debug, thiserror::Error)]
pub enum Unreachable {
    /// There is no socket.
    #[error("connect to the daemon: there is no socket at {}", .0.display())]
    NotThere(PathBuf),
    /// Nobody listens on the socket.
    #[error("connect to the daemon: nobody listens on {}", .0.display())]
    NobodyListens(PathBuf),
    /// Somebody listens, and says nothing.
    #[error("wait for the daemon: it said nothing for {} s", .0.as_secs())]
    Silent(Duration),
    /// The connection broke, or could not be made.
    #[error("talk to the daemon")]
    Broken(#[source] io::Error),
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No daemon answers, or not to the end.
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
    /// The daemon understood, and says why not.
    #[error("ask the daemon: {}", .0.message)]
    Fault(Fault),
    /// What it says is not what a daemon of this protocol says.
    #[error("read the daemon's answer: {0}")]
    NotUnderstood(String),
}

/// What is known of a daemon before it is asked anything.
#[derive(Debug, Clone, PartialEq)]
pub enum Probe {
    /// It answers by our protocol and our settings.
    Ready(Box<DaemonStatus>),
    /// It looks at the tree for the first time, and answers when it has.
    Starting(Box<DaemonStatus>),
    /// It has other settings than those that were read just now.
    OtherSettings(Box<DaemonStatus>),
    /// It is another version of the program, and has to be restarted.
    OtherProtocol,
}

/// How an ask is to be answered.
#[derive(Default)]
pub struct AskOptions<'a> {
    /// Whether an answer that cannot be vouched for is to be an error.
    pub require_fresh: bool,
    /// The fingerprint of the settings that the answer has to be made by; any, where there is none.
    pub settings: Option<&'a str>,
    /// Is told how many files are done, and of how many.
    pub progress: Option<&'a mut dyn FnMut(usize, usize)>,
}

/// A daemon that can be asked.
pub struct Client {
    socket: PathBuf,
    runtime: Runtime,
    /// The connection that showed that the daemon is there, for the first request.
    first: Mutex<Option<(UnixStream, Instant)>>,
}

impl Client {
    /// Connects to a daemon's socket.
    pub fn connect(socket: &Path) -> Result<Self, Unreachable> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(Unreachable::Broken)?;
        let first = runtime.block_on(connected(socket))?;
        let first = Mutex::new(Some((first, Instant::now())));
        Ok(Self { socket: socket.to_owned(), runtime, first })
    }

    /// Looks whether the daemon can be asked by who has these settings.
    pub fn probe(&self, settings: &str) -> Result<Probe, ClientError> {
        let (head, body) = self.runtime.block_on(async {
            let response = self.send(self.get("/v1/status")).await?;
            let (head, mut body) = response.into_parts();
            Ok::<_, ClientError>((head, whole(&mut body, &mut None).await?))
        })?;
        let protocol = head.headers.get("slop-protocol");
        if protocol.is_none_or(|protocol| protocol.as_bytes() != PROTOCOL.to_string().as_bytes()) {
            return Ok(Probe::OtherProtocol);
        }
        let status: Box<DaemonStatus> = understood(head.status.as_u16(), &body)?;
        if status.protocol != PROTOCOL {
            return Ok(Probe::OtherProtocol);
        }
        if status.settings != settings {
            return Ok(Probe::OtherSettings(status));
        }
        Ok(match status.mode {
            DaemonMode::Starting => Probe::Starting(status),
            DaemonMode::Events | DaemonMode::Verified => Probe::Ready(status),
        })
    }

    /// Returns how the daemon fares.
    pub fn status(&self) -> Result<DaemonStatus, ClientError> {
        self.fetch(self.get("/v1/status"))
    }

    /// Asks the daemon to stop, and does not wait until it has.
    pub fn stop(&self) -> Result<(), ClientError> {
        let request = self.request("POST", "/v1/stop").body(Full::default());
        self.fetch::<Value>(request.expect("the parts of a request of our own are well-formed")).map(|_| ())
    }

    /// Asks, and waits for as long as the daemon is at work.
    pub fn ask(&self, ask: &Ask, options: AskOptions<'_>) -> Result<Answered, ClientError> {
        let mut progress = options.progress;
        let query = if options.require_fresh { "?require_fresh=true" } else { "" };
        let request = self
            .request("POST", &format!("{}{query}", path_of(ask)))
            .header("content-type", "application/json")
            .header("accept", "application/x-ndjson")
            .header("slop-protocol", PROTOCOL);
        let request = match options.settings {
            Some(settings) => request.header("slop-settings", settings),
            None => request,
        };
        let request = request.body(Full::from(body_of(ask)));
        // Only a fingerprint that no daemon gave can be no header.
        let request = request.map_err(|error| ClientError::NotUnderstood(error.to_string()))?;
        let (status, body) = self.runtime.block_on(async {
            let response = self.send(request).await?;
            let (head, mut body) = response.into_parts();
            Ok::<_, ClientError>((head.status.as_u16(), whole(&mut body, &mut progress).await?))
        })?;
        answered(status, &body)
    }

    /// Returns what changes from now on, or after a position.
    pub fn events(&self, since: Option<Position>) -> Result<Events<'_>, ClientError> {
        let query = since.map_or_else(String::new, |since| format!("?since={since}"));
        let request = self.get(&format!("/v1/events{query}"));
        let body = self.runtime.block_on(async {
            let (head, mut body) = self.send(request).await?.into_parts();
            if head.status.is_success() {
                return Ok(body);
            }
            Err(fault_of(head.status.as_u16(), &whole(&mut body, &mut None).await?))
        })?;
        Ok(Events { client: self, body, buffer: BytesMut::new() })
    }

    fn get(&self, path: &str) -> Request<Full<Bytes>> {
        let request = self.request("GET", path).body(Full::default());
        request.expect("the parts of a request of our own are well-formed")
    }

    #[expect(clippy::unused_self, reason = "requests are a client's")]
    fn request(&self, method: &str, path: &str) -> hyper::http::request::Builder {
        Request::builder().method(method).uri(path).header("host", "localhost")
    }

    fn fetch<T: for<'a> Deserialize<'a>>(&self, request: Request<Full<Bytes>>) -> Result<T, ClientError> {
        self.runtime.block_on(async {
            let (head, mut body) = self.send(request).await?.into_parts();
            let body = whole(&mut body, &mut None).await?;
            understood(head.status.as_u16(), &body)
        })
    }

    /// Sends a request on a connection of its own: one costs less than to find out whether an old one still lives.
    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        let first = self.first.lock().ok().and_then(|mut first| first.take());
        let stream = match first {
            Some((stream, since)) if since.elapsed() < YOUNG => stream,
            Some(_) | None => connected(&self.socket).await?,
        };
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(broken)?;
        tokio::spawn(connection);
        let response = tokio::time::timeout(SILENCE, sender.send_request(request)).await;
        Ok(response.map_err(|_| Unreachable::Silent(SILENCE))?.map_err(broken)?)
    }
}

/// What a daemon tells, one by one.
pub struct Events<'a> {
    client: &'a Client,
    body: Incoming,
    buffer: BytesMut,
}

impl Iterator for Events<'_> {
    type Item = Result<Event, ClientError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(message) = take_message(&mut self.buffer) {
                match event_of(&message) {
                    // A comment: the daemon is there, and nothing has changed.
                    None => continue,
                    told => return told,
                }
            }
            let frame = self
                .client
                .runtime
                .block_on(async { tokio::time::timeout(EVENTS_SILENCE, self.body.frame()).await });
            match frame {
                Err(_) => return Some(Err(Unreachable::Silent(EVENTS_SILENCE).into())),
                Ok(None) => return None,
                Ok(Some(Err(error))) => return Some(Err(broken(error).into())),
                Ok(Some(Ok(frame))) => self.buffer.extend(frame.into_data().ok()),
            }
        }
    }
}

async fn connected(socket: &Path) -> Result<UnixStream, Unreachable> {
    let begun = Instant::now();
    loop {
        let error = match UnixStream::connect(socket).await {
            Ok(stream) => return Ok(stream),
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound => return Err(Unreachable::NotThere(socket.to_owned())),
            io::ErrorKind::ConnectionRefused => return Err(Unreachable::NobodyListens(socket.to_owned())),
            // More are waiting than the system keeps: the daemon is busy, or hangs.
            io::ErrorKind::WouldBlock if begun.elapsed() < CONNECT => tokio::time::sleep(BREATH).await,
            io::ErrorKind::WouldBlock => return Err(Unreachable::Silent(CONNECT)),
            _ => return Err(Unreachable::Broken(error)),
        }
    }
}

/// Reads a body to its end, but for the lines of progress at its beginning, which are told.
async fn whole(
    body: &mut Incoming,
    progress: &mut Option<&mut dyn FnMut(usize, usize)>,
) -> Result<Bytes, Unreachable> {
    let expected = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let mut read = BytesMut::with_capacity(expected.min(AHEAD));
    loop {
        let frame = tokio::time::timeout(SILENCE, body.frame()).await;
        let Some(frame) = frame.map_err(|_| Unreachable::Silent(SILENCE))? else { break };
        let Ok(data) = frame.map_err(broken)?.into_data() else { continue };
        read.extend_from_slice(&data);
        while read.starts_with(PROGRESS) {
            let Some(end) = memchr::memchr(b'\n', &read) else { break };
            tell(&read.split_to(end + 1), progress);
        }
    }
    Ok(read.freeze())
}

fn tell(line: &[u8], progress: &mut Option<&mut dyn FnMut(usize, usize)>) {
    #[derive(Deserialize)]
    struct Line {
        progress: Done,
    }
    #[derive(Deserialize)]
    struct Done {
        done: usize,
        total: usize,
    }
    if let (Some(progress), Ok(line)) = (progress, serde_json::from_slice::<Line>(line)) {
        progress(line.progress.done, line.progress.total);
    }
}

/// Returns the body of an ask: what it says, without its name, which is the path.
fn body_of(ask: &Ask) -> Vec<u8> {
    let mut value = serde_json::to_value(ask).expect("an ask always becomes JSON");
    if let Some(fields) = value.as_object_mut() {
        fields.remove("ask");
    }
    value.to_string().into_bytes()
}

/// Takes an answer out of its envelope. Its data stays where it is.
fn answered(status: u16, body: &Bytes) -> Result<Answered, ClientError> {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        freshness: FreshnessState,
        reason: Option<String>,
        clock: Option<String>,
        as_of_ms: i64,
        pending: u64,
        notes: Vec<String>,
        #[serde(borrow)]
        data: &'a RawValue,
    }
    let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(body) else {
        return Err(fault_of(status, body));
    };
    Ok(Answered {
        freshness: FreshnessNote {
            freshness: envelope.freshness,
            reason: envelope.reason,
            clock: envelope.clock,
            as_of_ms: envelope.as_of_ms,
            pending: envelope.pending,
        },
        notes: envelope.notes,
        data: body.slice_ref(envelope.data.get().as_bytes()),
    })
}

fn understood<T: for<'a> Deserialize<'a>>(status: u16, body: &[u8]) -> Result<T, ClientError> {
    #[derive(Deserialize)]
    struct Envelope<T> {
        data: T,
    }
    let envelope = serde_json::from_slice::<Envelope<T>>(body);
    envelope.map(|envelope| envelope.data).map_err(|_| fault_of(status, body))
}

/// Returns the fault that a daemon tells, or that it tells none.
fn fault_of(status: u16, body: &[u8]) -> ClientError {
    #[derive(Deserialize)]
    struct Envelope {
        error: Told,
        /// Behind lines of progress the response's own status was told before there was a fault.
        status: Option<u16>,
    }
    #[derive(Deserialize)]
    struct Told {
        code: String,
        message: String,
        hint: String,
    }
    match serde_json::from_slice::<Envelope>(body) {
        Ok(Envelope { error: Told { code, message, hint }, status: told }) => {
            let is_environment = 500 <= told.unwrap_or(status);
            let kind = if is_environment { Kind::Environment } else { Kind::User };
            ClientError::Fault(Fault { code: code.into(), message, hint: hint.into(), kind })
        }
        Err(error) => ClientError::NotUnderstood(format!("status {status}, {error}")),
    }
}

/// Takes what stands before the next empty line.
fn take_message(buffer: &mut BytesMut) -> Option<Bytes> {
    let end = memchr::memmem::find(buffer, b"\n\n")?;
    Some(buffer.split_to(end + 2).freeze())
}

/// Reads one message of a stream; none where it is a comment.
fn event_of(message: &[u8]) -> Option<Result<Event, ClientError>> {
    #[derive(Deserialize)]
    struct Data {
        clock: String,
        changes: Vec<Change>,
    }
    let field = |name: &[u8]| {
        message.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name)?.strip_prefix(b": "))
    };
    let (kind, data) = (field(b"event")?, field(b"data")?);
    let read = || {
        let kind = match kind {
            b"changed" => EventKind::Changed,
            b"fresh_instance" => EventKind::FreshInstance,
            b"lost_track" => EventKind::LostTrack,
            _ => return Err("an event of an unknown kind".to_owned()),
        };
        let data: Data = serde_json::from_slice(data).map_err(|error| error.to_string())?;
        let clock = data.clock.parse().map_err(|error: super::feed::NoPosition| error.to_string())?;
        Ok(Event { kind, clock, changes: data.changes })
    };
    Some(read().map_err(ClientError::NotUnderstood))
}

fn broken(error: hyper::Error) -> Unreachable {
    Unreachable::Broken(io::Error::other(error))
}
