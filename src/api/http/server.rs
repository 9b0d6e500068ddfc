//! Accepts, limits and ends connections.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::guard::Transport;
use super::limits::TimedStream;
use super::limits::Timeouts;
use super::limits::{ConnectionLimiter, ConnectionSlot};
use super::page::{self, Page};
use super::response::ApiErrorResponse;
use super::{handlers, limits, response};
use crate::api::daemon_control::DaemonControl;
use crate::api::mcp::McpInfo;
use crate::api::service::{PROTOCOL, VERSION};
use crate::model::PageFile;
use crate::sys::{BoundSocket, LocalListener, ServerStream};

/// How long to wait before accepting again after an error, and for a rejected client to read the error.
const BRIEF_WAIT: Duration = Duration::from_millis(50);

/// [`limits::REQUEST_BYTES`] as lengths of bodies are counted.
const REQUEST_BYTES: u64 = limits::REQUEST_BYTES as u64;

/// Serves one daemon on any number of sockets. Clones share the same server.
#[derive(Clone)]
pub struct HttpServer {
    shared: Arc<ServerState>,
    router: Router,
}

/// The state that all connections share.
pub(super) struct ServerState {
    pub(super) daemon: Arc<dyn DaemonControl>,
    pub(super) timeouts: Timeouts,
    pub(super) working: Arc<Semaphore>,
    pub(super) subscribers: Arc<Semaphore>,
    pub(super) stopping: watch::Sender<bool>,
    pub(super) page: Arc<Page>,
    /// The information about the project for MCP clients.
    pub(super) agents: McpInfo,
    connections: Arc<ConnectionLimiter>,
}

impl HttpServer {
    /// Returns a server that does not listen yet.
    ///
    /// The web page consists of `files`; it is served at the address `page`, once a ticket was requested.
    pub fn new(
        daemon: Arc<dyn DaemonControl>,
        agents: McpInfo,
        files: &[PageFile],
        page: SocketAddr,
    ) -> Self {
        Self::with_timeouts(daemon, agents, limits::TIMEOUTS, Page::new(files, page))
    }

    pub(super) fn with_timeouts(
        daemon: Arc<dyn DaemonControl>,
        agents: McpInfo,
        timeouts: Timeouts,
        page: Page,
    ) -> Self {
        let shared = Arc::new(ServerState {
            daemon,
            timeouts,
            working: Arc::new(Semaphore::new(limits::WORKING)),
            subscribers: Arc::new(Semaphore::new(limits::SUBSCRIBERS)),
            stopping: watch::Sender::new(false),
            page: Arc::new(page),
            agents,
            connections: ConnectionLimiter::new(limits::CONNECTIONS),
        });
        let router = handlers::router(&shared);
        Self { shared, router }
    }

    /// Stops accepting requests on all sockets; those in progress are finished.
    pub fn stop(&self) {
        self.shared.stopping.send_replace(true);
    }

    /// Serves a unix socket until [`HttpServer::stop`]; only programs of the same user and of root are answered.
    ///
    /// Returns when all connections have ended, which takes 2 s at most.
    #[cfg(test)]
    pub async fn serve_unix(&self, listener: BoundSocket) -> io::Result<()> {
        self.serve_unix_until(listener, pending()).await
    }

    /// Serves a unix socket until [`HttpServer::stop`]. Once it is `retired`, it accepts no more connections, but
    /// serves existing ones.
    pub async fn serve_unix_until(
        &self,
        listener: BoundSocket,
        retired: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        self.serve(Transport::Unix, LocalListener::new(listener)?, retired).await
    }

    /// Serves a loopback port until [`HttpServer::stop`], to clients with the token.
    ///
    /// A port can be reached by every user of the machine, and by web pages in their browsers; see `guard`.
    pub async fn serve_tcp(&self, listener: std::net::TcpListener, token: &str) -> io::Result<()> {
        let address = listener.local_addr()?;
        // The command line rejects these as well; this is the last check before the port is open to others.
        if !address.ip().is_loopback() || token.is_empty() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "port is reachable from other machines, or has no token",
            ));
        }
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        self.serve(Transport::tcp(address.port(), token), listener, pending()).await
    }

    /// Serves the web page, from the first request for a ticket until [`HttpServer::stop`].
    pub async fn serve_page(&self) -> io::Result<()> {
        let mut stopping = self.shared.stopping.subscribe();
        let listener = tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => None,
            listener = self.shared.page.listener() => listener,
        };
        let Some(listener) = listener else { return Ok(()) };
        let port = listener.local_addr()?.port();
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        self.serve(Transport::Page { port, page: Arc::clone(&self.shared.page) }, listener, pending()).await
    }

    async fn serve<L: ConnectionSource>(
        &self,
        transport: Transport,
        listener: L,
        retired: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let mut stopping = self.shared.stopping.subscribe();
        let mut retired = pin!(retired);
        let mut connections = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                // In this order, so that a stop takes effect even while connections keep arriving.
                biased;
                _ = stopping.wait_for(|stopping| *stopping) => break,
                () = retired.as_mut() => break,
                accepted = listener.accept() => accepted,
            };
            // Ended connections are removed here, or the set would grow for as long as the server runs.
            while connections.try_join_next().is_some() {}
            match accepted {
                Ok(Some(mut stream)) => match self.shared.connections.acquire() {
                    Some(slot) => {
                        let conversation =
                            self.clone().serve_connection(stream, transport.clone(), Arc::new(slot));
                        connections.spawn(conversation);
                    }
                    // Answered inline: the error is short, and a task for each would defeat the limit.
                    None => reject_busy(&mut stream).await,
                },
                // Other users get no response at all.
                Ok(None) => {}
                // Usually the process has no free file descriptors, until other connections end.
                Err(_) => tokio::time::sleep(BRIEF_WAIT).await,
            }
        }
        // Connections that are not accepted yet are rejected at once.
        drop(listener);
        self.finish(connections, stopping).await;
        Ok(())
    }

    /// Waits for the remaining connections of a socket.
    async fn finish(&self, mut connections: JoinSet<()>, mut stopping: watch::Receiver<bool>) {
        // Clients of a retired socket are served until the whole server stops.
        tokio::select! {
            biased;
            _ = stopping.wait_for(|stopping| *stopping) => {}
            () = all_ended(&mut connections) => {}
        }
        let _ = tokio::time::timeout(self.shared.timeouts.stop, all_ended(&mut connections)).await;
        // Aborted after the grace period, because an unread answer must not prevent the process from ending.
        connections.shutdown().await;
    }

    /// Answers the requests of one connection.
    async fn serve_connection<S>(self, stream: S, transport: Transport, slot: Arc<ConnectionSlot>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let timeouts = self.shared.timeouts;
        let mut stopping = self.shared.stopping.subscribe();
        let service = service_fn(|request| self.respond(&transport, &slot, request));
        // A client that reads nothing would otherwise hold its slot forever, because a pending write has no timeout
        // of its own.
        let stream = TokioIo::new(TimedStream::new(stream, timeouts.read));
        let mut connection = pin!(
            http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(timeouts.head)
                .max_buf_size(limits::BUFFER_BYTES)
                .max_headers(limits::HEADERS)
                .serve_connection(stream, service)
        );
        tokio::select! {
            // The connection is closed, so errors cannot be reported.
            _ = connection.as_mut() => return,
            // Only idle connections are evicted, so no answer is lost.
            () = slot.evicted() => return,
            _ = stopping.wait_for(|stopping| *stopping) => {}
        }
        connection.as_mut().graceful_shutdown();
        let _ = tokio::time::timeout(timeouts.stop, connection).await;
    }

    async fn respond(
        &self,
        transport: &Transport,
        slot: &Arc<ConnectionSlot>,
        request: Request<Incoming>,
    ) -> Result<Response, Infallible> {
        let (head, body) = request.into_parts();
        // The slot is idle until the whole body has arrived, so that thousands of unfinished requests do not lock out
        // other clients.
        let is_api = transport.is_api(&head);
        let mut response = match self.read_allowed_body(transport, &head, body).await {
            Ok(body) => match slot.begin_request() {
                Some(busy) => {
                    let response = self.dispatch(transport, head, body).await?;
                    // Busy until the last byte was sent, because an eviction would truncate the answer.
                    response.map(|body| response::with_guard(body, busy))
                }
                None => ApiErrorResponse::busy("limit of connections reached").into_response(),
            },
            Err(refusal) => refusal.into_response(),
        };
        if is_api {
            // Errors have the headers, too: from any response, a client of another version detects that it has to
            // restart the daemon.
            self.add_version_headers(&mut response);
        }
        if matches!(transport, Transport::Page { .. }) {
            page::add_security_headers(&mut response);
        }
        let headers = response.headers_mut();
        // An answer becomes outdated with an edit, so it must not be cached.
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        Ok(response)
    }

    /// Answers an admitted request.
    async fn dispatch(
        &self,
        transport: &Transport,
        head: Parts,
        body: Bytes,
    ) -> Result<Response, Infallible> {
        let Transport::Page { page, .. } = transport else { return self.call_router(head, body).await };
        // Other pages cannot submit forms as JSON.
        if head.method == Method::POST
            && let Err(refused) = handlers::check_type(&head.headers, &body)
        {
            return Ok(refused.into_response());
        }
        if !transport.is_api(&head) {
            return Ok(page.respond(&head, &body));
        }
        let response = self.call_router(head.clone(), body).await?;
        Ok(page::with_compressed_body(&head, response).await)
    }

    async fn call_router(&self, head: Parts, body: Bytes) -> Result<Response, Infallible> {
        let request = Request::from_parts(head, Body::from(body));
        TowerToHyperService::new(self.router.clone()).call(request).await
    }

    /// Reads the body of a request, if its head passes the checks.
    async fn read_allowed_body(
        &self,
        transport: &Transport,
        head: &Parts,
        body: Incoming,
    ) -> Result<Bytes, ApiErrorResponse> {
        // Checked before the body is read, so that unauthorized clients cannot make the daemon buffer anything.
        transport.check(head)?;
        // A client that expects `100 Continue` is not asked to send a too large body.
        let is_refused_at_once =
            REQUEST_BYTES < body.size_hint().lower() && head.headers.contains_key(header::EXPECT);
        if is_refused_at_once {
            return Err(too_large());
        }
        let read = tokio::time::timeout(self.shared.timeouts.body, read_body(body)).await;
        read.unwrap_or_else(|_| {
            let (code, hint) = ("too_slow", "send the whole body at once");
            let message = "body did not arrive in time";
            Err(ApiErrorResponse::user(StatusCode::REQUEST_TIMEOUT, code, message, hint))
        })
    }

    fn add_version_headers(&self, response: &mut Response) {
        let headers = response.headers_mut();
        headers.insert(HeaderName::from_static("slop-protocol"), HeaderValue::from(PROTOCOL));
        headers.insert(HeaderName::from_static("slop-version"), HeaderValue::from_static(VERSION));
        if let Ok(settings) = HeaderValue::from_str(&self.shared.daemon.fingerprint()) {
            headers.insert(HeaderName::from_static("slop-settings"), settings);
        }
    }
}

/// Reads a body. A too large one is read further and discarded: otherwise the socket would be closed while the client
/// is still writing, and many clients would report that instead of the response.
async fn read_body(mut body: Incoming) -> Result<Bytes, ApiErrorResponse> {
    let (mut kept, mut length) = (BytesMut::new(), 0_u64);
    while let Some(frame) = body.frame().await {
        let hint = "send the whole body, as long as its `Content-Length`";
        let incomplete =
            |_| ApiErrorResponse::user(StatusCode::BAD_REQUEST, "bad_body", "body is incomplete", hint);
        let Ok(data) = frame.map_err(incomplete)?.into_data() else { continue };
        length = length.saturating_add(data.len() as u64);
        if length <= REQUEST_BYTES {
            kept.extend_from_slice(&data);
            continue;
        }
        kept = BytesMut::new();
        if limits::DRAINED_BYTES < length {
            break;
        }
    }
    if length <= REQUEST_BYTES { Ok(kept.freeze()) } else { Err(too_large()) }
}

fn too_large() -> ApiErrorResponse {
    let message = format!("body has more than {REQUEST_BYTES} bytes");
    let hint =
        "send less: folders and patterns instead of many files, and a long `history` as the path of a file";
    ApiErrorResponse::user(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message, hint)
}

async fn all_ended(connections: &mut JoinSet<()>) {
    while connections.join_next().await.is_some() {}
}

trait ConnectionSource: Send + Sync {
    type Stream: AsyncRead + AsyncWrite + Unpin + Send + 'static;

    /// Waits for a connection; `None` if it is another user's.
    fn accept(&self) -> impl Future<Output = io::Result<Option<Self::Stream>>> + Send;
}

impl ConnectionSource for LocalListener {
    type Stream = ServerStream;

    async fn accept(&self) -> io::Result<Option<ServerStream>> {
        Self::accept(self).await
    }
}

impl ConnectionSource for TcpListener {
    type Stream = TcpStream;

    async fn accept(&self) -> io::Result<Option<TcpStream>> {
        let (stream, peer) = Self::accept(self).await?;
        Ok(peer.ip().is_loopback().then_some(stream))
    }
}

/// Writes a short error, without waiting for a client that does not read it.
async fn reject_busy(stream: &mut (impl AsyncWrite + Unpin)) {
    let envelope = ApiErrorResponse::busy("limit of connections reached").envelope();
    let response = format!(
        "HTTP/1.1 503 Service Unavailable\r\ncontent-type: application/json\r\nretry-after: 1\r\n\
         connection: close\r\nslop-protocol: {PROTOCOL}\r\nslop-version: {VERSION}\r\ncontent-length: {}\r\n\r\n{envelope}",
        envelope.len()
    );
    let _ = tokio::time::timeout(BRIEF_WAIT, stream.write_all(response.as_bytes())).await;
}
