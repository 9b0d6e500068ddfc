//! A blocking client of a daemon's socket.
//!
//! Knows: how to distinguish a running daemon from none, and a busy one from one that hangs. Does not know: where the
//! socket is, or what to do without an answer.
//!
//! Start with [`Client::connect`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Incoming};
use hyper::client::conn::http1;
use hyper::http::response::Parts;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::runtime::Runtime;

use crate::api::daemon_control::{DaemonStatus, PageTicket, PerformanceReport, Stopping, TICKET_PATH};
use crate::api::fault::{ApiError, ApiErrorKind};
use crate::api::payload::Payload;
use crate::api::query::AnyQuery;
use crate::api::service::{CallOptions, PROTOCOL, QueryJob, ServiceAnswer, VERSION};
use crate::api::wire::{FreshnessNote, FreshnessState, MissingPath};
use crate::model::lock;
use crate::sys::{ClientStream, connect_local};

/// Why no daemon could be asked.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    #[error("no daemon socket at {}", .0.display())]
    NotThere(PathBuf),
    #[error("no daemon is listening on {}", .0.display())]
    NobodyListens(PathBuf),
    /// Another user listens, whose answers are not trusted.
    #[error("socket {} belongs to another user", .0.display())]
    NotOurs(PathBuf),
    #[error("daemon sent nothing for {} s", .0.as_secs())]
    Silent(Duration),
    #[error("connection to the daemon failed")]
    Broken(#[source] io::Error),
}

#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    #[error(transparent)]
    Unreachable(#[from] ConnectError),
    /// The daemon answered with an error.
    #[error("{}", .0.message)]
    Fault(ApiError),
    #[error("request was cancelled")]
    Cancelled,
    #[error("query has no route to the daemon")]
    NoRoute,
    #[error("invalid answer from the daemon: {0}")]
    NotUnderstood(String),
}

fn io_error(error: hyper::Error) -> ConnectError {
    ConnectError::Broken(io::Error::other(error))
}

/// How long a daemon may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The pause between attempts to connect to a daemon whose connection queue is full.
const RETRY_PAUSE: Duration = Duration::from_millis(10);

/// How often to check whether the client still waits for an answer.
const CANCEL_POLL: Duration = Duration::from_millis(50);

/// How long an idle connection is assumed to be still open.
const MAX_IDLE: Duration = Duration::from_secs(1);

pub struct Client {
    socket: PathBuf,
    runtime: Runtime,
    /// The initial connection, which the first request uses.
    first: Mutex<Option<(ClientStream, Instant)>>,
}

impl Client {
    /// Connects to a daemon's socket.
    pub fn connect(socket: &Path) -> Result<Self, ConnectError> {
        // One thread is enough: a client asks one question at a time, and starting a pool would take longer than the
        // request.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ConnectError::Broken)?;
        let first = runtime.block_on(connect_socket(socket))?;
        let first = Mutex::new(Some((first, Instant::now())));
        Ok(Self { socket: socket.to_owned(), runtime, first })
    }

    pub fn status(&self) -> Result<DaemonStatus, ClientError> {
        self.fetch(get_request("/v1/status"))
    }

    pub fn performance(&self) -> Result<PerformanceReport, ClientError> {
        self.fetch(get_request("/v1/performance"))
    }

    /// Returns a ticket for the daemon's web page.
    pub fn page_ticket(&self) -> Result<PageTicket, ClientError> {
        let request = request("POST", TICKET_PATH).header("slop-version", VERSION).body(Full::default());
        self.fetch(request.expect("the parts of a request of our own are well-formed"))
    }

    /// Asks the daemon to stop, without waiting for it.
    pub fn stop(&self) -> Result<(), ClientError> {
        let request = request("POST", "/v1/stop").body(Full::default());
        self.fetch::<Stopping>(request.expect("the parts of a request of our own are well-formed"))
            .map(|_| ())
    }

    /// Sends a question, and waits as long as the daemon is working and the job is not cancelled. Cancelling closes the
    /// connection, at the latest when the client is dropped, which cancels the daemon's work.
    pub fn ask(&self, query: &AnyQuery, call: &CallOptions) -> Result<ServiceAnswer, ClientError> {
        let Some(path) = query.path() else { return Err(ClientError::NoRoute) };
        let parameters = if call.require_fresh { "?require_fresh=true" } else { "" };
        // The version is sent so that the daemon refuses if it differs, because another version may answer differently
        // in the same protocol.
        let request = request("POST", &format!("{path}{parameters}"))
            .header("content-type", "application/json")
            // Progress lines also show that the daemon is working, so that a long computation does not count as
            // silence.
            .header("accept", "application/x-ndjson")
            .header("slop-protocol", PROTOCOL)
            .header("slop-version", VERSION);
        let request = match &call.settings {
            Some(settings) => request.header("slop-settings", settings),
            None => request,
        };
        let request = request.body(Full::from(body_of(query)));
        // Every fingerprint that a daemon returned is a valid header.
        let request = request.map_err(|error| ClientError::NotUnderstood(error.to_string()))?;
        let asking = async {
            let response = self.send(request).await?;
            let (head, mut body) = response.into_parts();
            check_version(&head)?;
            Ok::<_, ClientError>((head.status.as_u16(), read_body(&mut body, &call.job).await?))
        };
        let (status, body) = self.runtime.block_on(async {
            tokio::select! {
                answer = asking => answer,
                () = wait_cancelled(&call.job) => Err(ClientError::Cancelled),
            }
        })?;
        parse_answer(status, &body, call)
    }

    fn fetch<T: for<'a> Deserialize<'a>>(&self, request: Request<Full<Bytes>>) -> Result<T, ClientError> {
        self.runtime.block_on(async {
            let (head, mut body) = self.send(request).await?.into_parts();
            let body = read_body(&mut body, &QueryJob::default()).await?;
            parse_data(head.status.as_u16(), &body)
        })
    }

    /// Sends a request on a connection of its own.
    async fn send(&self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, ClientError> {
        // Connections are not reused: a new one costs less than checking whether an old one is still alive.
        let first = lock(&self.first).take();
        let stream = match first {
            Some((stream, since)) if since.elapsed() < MAX_IDLE => stream,
            Some(_) | None => connect_socket(&self.socket).await?,
        };
        send_on(stream, request).await
    }
}

/// Sends a request on a connection of its own, for a caller with a runtime of its own.
pub(super) async fn exchange(
    socket: &Path,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, ClientError> {
    send_on(connect_socket(socket).await?, request).await
}

async fn send_on(
    stream: ClientStream,
    request: Request<Full<Bytes>>,
) -> Result<Response<Incoming>, ClientError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io_error)?;
    // The driver ends with its connection, which is only for this request, so it need not be awaited.
    tokio::spawn(connection);
    let response = tokio::time::timeout(MAX_SILENCE, sender.send_request(request)).await;
    Ok(response.map_err(|_| ConnectError::Silent(MAX_SILENCE))?.map_err(io_error)?)
}

async fn wait_cancelled(job: &QueryJob) {
    while !job.is_cancelled() {
        tokio::time::sleep(CANCEL_POLL).await;
    }
}

fn get_request(path: &str) -> Request<Full<Bytes>> {
    let request = request("GET", path).body(Full::default());
    request.expect("the parts of a request of our own are well-formed")
}

/// Begins a request that is the only one on its connection.
pub(super) fn request(method: &str, path: &str) -> hyper::http::request::Builder {
    let request = Request::builder().method(method).uri(path);
    request.header("host", "localhost").header("connection", "close")
}

/// Checks that the daemon has the same version: an old daemon that does not know about versions does not refuse by
/// itself.
fn check_version(head: &Parts) -> Result<(), ClientError> {
    let version = head.headers.get("slop-version");
    if version.is_some_and(|version| version.as_bytes() == VERSION.as_bytes()) {
        return Ok(());
    }
    Err(ClientError::NotUnderstood("it is another version's".to_owned()))
}

async fn connect_socket(socket: &Path) -> Result<ClientStream, ConnectError> {
    let begun = Instant::now();
    loop {
        let error = match connect_local(socket).await {
            Ok(stream) => return stream.ok_or_else(|| ConnectError::NotOurs(socket.to_owned())),
            Err(error) => error,
        };
        match error.kind() {
            io::ErrorKind::NotFound => return Err(ConnectError::NotThere(socket.to_owned())),
            io::ErrorKind::ConnectionRefused => return Err(ConnectError::NobodyListens(socket.to_owned())),
            // The system's queue is full: the daemon is busy, or hangs.
            io::ErrorKind::WouldBlock if begun.elapsed() < CONNECT_TIMEOUT => {
                tokio::time::sleep(RETRY_PAUSE).await;
            }
            io::ErrorKind::WouldBlock => return Err(ConnectError::Silent(CONNECT_TIMEOUT)),
            _ => return Err(ConnectError::Broken(error)),
        }
    }
}

/// Returns the body of a question, without its name, which is the path.
fn body_of(query: &AnyQuery) -> Vec<u8> {
    let mut value = serde_json::to_value(query).expect("a question with a path becomes JSON");
    if let Some(fields) = value.as_object_mut() {
        fields.remove("ask");
    }
    value.to_string().into_bytes()
}

/// How long a daemon may be silent: it reports every second that it is working.
// Five times the interval of these reports, so that a busy machine is not mistaken for a hanging daemon.
const MAX_SILENCE: Duration = Duration::from_secs(5);

/// The most bytes that are preallocated for an answer.
const MAX_PREALLOCATED: usize = 64 << 20;

/// The beginning of a progress line, which differs from that of every envelope.
const PROGRESS: &[u8] = b"{\"progress\":";

/// Reads a body to its end, and records progress lines at its beginning in the job.
pub(super) async fn read_body(body: &mut Incoming, job: &QueryJob) -> Result<Bytes, ConnectError> {
    let expected = body.size_hint().exact().and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(0);
    let mut read = BytesMut::with_capacity(expected.min(MAX_PREALLOCATED));
    loop {
        let frame = tokio::time::timeout(MAX_SILENCE, body.frame()).await;
        let Some(frame) = frame.map_err(|_| ConnectError::Silent(MAX_SILENCE))? else { break };
        let Ok(data) = frame.map_err(io_error)?.into_data() else { continue };
        read.extend_from_slice(&data);
        // Progress lines only precede the envelope. A line may arrive in pieces: an incomplete one waits for the next
        // frame.
        while read.starts_with(PROGRESS) {
            let Some(end) = memchr::memchr(b'\n', &read) else { break };
            report_progress(&read.split_to(end + 1), job);
        }
    }
    Ok(read.freeze())
}

fn report_progress(line: &[u8], job: &QueryJob) {
    #[derive(Deserialize)]
    struct ProgressLine {
        progress: ProgressCount,
    }
    #[derive(Deserialize)]
    struct ProgressCount {
        done: usize,
        total: usize,
    }
    if let Ok(line) = serde_json::from_slice::<ProgressLine>(line) {
        job.set_progress(line.progress.done, line.progress.total);
    }
}

/// Parses the envelope of an answer, without copying the data.
fn parse_answer(status: u16, body: &Bytes, call: &CallOptions) -> Result<ServiceAnswer, ClientError> {
    #[derive(Deserialize)]
    struct AnswerEnvelope<'a> {
        freshness: FreshnessState,
        reason: Option<String>,
        clock: Option<String>,
        as_of_ms: i64,
        pending: u64,
        notes: Vec<String>,
        #[serde(default)]
        missing: Vec<MissingPath>,
        #[serde(borrow)]
        data: &'a RawValue,
    }
    // An error has no `data` and fails here, whatever its status, which is 200 after progress lines.
    let Ok(envelope) = serde_json::from_slice::<AnswerEnvelope<'_>>(body) else {
        return Err(parse_error(status, body));
    };
    envelope.notes.into_iter().for_each(|note| call.job.note(note));
    Ok(ServiceAnswer {
        freshness: FreshnessNote {
            freshness: envelope.freshness,
            reason: envelope.reason,
            clock: envelope.clock,
            as_of_ms: envelope.as_of_ms,
            pending: envelope.pending,
        },
        missing: envelope.missing,
        payload: Payload::Json(body.slice_ref(envelope.data.get().as_bytes())),
    })
}

/// Returns the data of an envelope of the daemon's own.
fn parse_data<T: for<'a> Deserialize<'a>>(status: u16, body: &[u8]) -> Result<T, ClientError> {
    #[derive(Deserialize)]
    struct DataEnvelope<T> {
        data: T,
    }
    let envelope = serde_json::from_slice::<DataEnvelope<T>>(body);
    envelope.map(|envelope| envelope.data).map_err(|_| parse_error(status, body))
}

/// Returns the error that a daemon sent, or one that its response cannot be read.
pub(super) fn parse_error(status: u16, body: &[u8]) -> ClientError {
    #[derive(Deserialize)]
    struct ErrorEnvelope {
        error: DaemonErrorBody,
        /// The status of the error: after progress lines, the response's own status was sent before the error.
        status: Option<u16>,
    }
    #[derive(Deserialize)]
    struct DaemonErrorBody {
        code: String,
        message: String,
        hint: String,
    }
    match serde_json::from_slice::<ErrorEnvelope>(body) {
        Ok(ErrorEnvelope { error: DaemonErrorBody { code, message, hint }, status: reported }) => {
            // The kind is not part of the JSON. The server answers errors of users with 4xx, so that the status shows
            // the two apart.
            let is_environment = 500 <= reported.unwrap_or(status);
            let kind = if is_environment { ApiErrorKind::Environment } else { ApiErrorKind::User };
            ClientError::Fault(ApiError { code: code.into(), message, hint: hint.into(), kind })
        }
        Err(error) => ClientError::NotUnderstood(format!("status {status}, {error}")),
    }
}
