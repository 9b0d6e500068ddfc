//! HTTP clients, over HTTP/1.1 and HTTP/2.
//!
//! No server, name service or environment can redirect a request: redirects are not followed, proxies from the
//! environment are not used, and only the loopback interface is reached without TLS, unless the user allows it. Each
//! error says whether anything was sent, which may have been charged.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, Instant};

use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, NoProxy, Proxy, Request, Response, Url};
use secrecy::ExposeSecret;
use tokio::runtime::{Builder, Runtime};

use crate::model::{HttpError, HttpMethod, HttpRequest, HttpResponse, lock};

/// How often the caller is asked whether it still wants the answer.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a connection is kept for the next request.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// The most headers of an answer, and their bytes: ten times what model servers send.
const MAX_HEADERS: usize = 100;
const MAX_HEADER_BYTES: u32 = 64 << 10;
/// How many bytes of a cause are shown: the text comes from a library, but a server may influence it.
const MAX_CAUSE_BYTES: usize = 200;

/// Connects to real servers. Opens nothing before the first request.
pub struct HttpClient {
    proxy: Option<String>,
    /// Whether other machines are reached without TLS.
    allows_plain: bool,
    pool: Mutex<ClientPool>,
}

/// The state that is created by the first request.
#[derive(Default)]
struct ClientPool {
    runtime: Option<Runtime>,
    clients: Vec<(ClientKind, Client)>,
}

/// The kind of client that a request needs. The connect timeout is a property of the client.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ClientKind {
    is_secure: bool,
    connect: Duration,
}

impl HttpClient {
    /// Creates a client. The proxy's address comes from the user's settings, and is only used for `https`.
    pub fn new(proxy: Option<String>) -> Self {
        Self { proxy, allows_plain: false, pool: Mutex::default() }
    }

    /// Also reaches other machines without TLS, if the user allows it.
    pub fn with_plain_hosts(mut self, allows_plain: bool) -> Self {
        self.allows_plain = allows_plain;
        self
    }

    /// Fails if `https` is unavailable, before anything is sent.
    pub fn check_tls(&self) -> Result<(), HttpError> {
        let kind = ClientKind { is_secure: true, connect: Duration::from_secs(5) };
        self.client(kind).map(drop)
    }

    fn client(&self, kind: ClientKind) -> Result<(tokio::runtime::Handle, Client), HttpError> {
        let mut state = lock(&self.pool);
        let handle = match &state.runtime {
            Some(runtime) => runtime.handle().clone(),
            None => state.runtime.insert(start_runtime()?).handle().clone(),
        };
        if let Some((_, client)) = state.clients.iter().find(|(known, _)| *known == kind) {
            return Ok((handle, client.clone()));
        }
        let client =
            if kind.is_secure { self.secure_client(kind)? } else { plain_client(kind, self.allows_plain)? };
        state.clients.push((kind, client.clone()));
        Ok((handle, client))
    }

    fn secure_client(&self, kind: ClientKind) -> Result<Client, HttpError> {
        let mut builder = common_builder(kind).https_only(true);
        if let Some(proxy) = &self.proxy {
            let proxy =
                Proxy::https(proxy).map_err(|_| HttpError::NotAllowed("proxy address is not a URL"))?;
            // Servers on this machine are reached without a proxy.
            builder = builder.proxy(proxy.no_proxy(NoProxy::from_string("localhost,127.0.0.0/8,::1")));
        }
        // Everything else was checked above, so the system's certificate store cannot be read.
        builder.build().map_err(|_| HttpError::NoCertificates)
    }
}

impl HttpTransport for HttpClient {
    fn send(
        &self,
        request: &HttpRequest,
        limits: &HttpLimits,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<HttpResponse, HttpError> {
        let url = checked_url(&request.url, self.allows_plain)?;
        let host = host_and_port(&url);
        let kind = ClientKind { is_secure: url.scheme() == "https", connect: limits.connect };
        let asked = to_reqwest(request, url)?;
        if is_stopped() {
            return Err(HttpError::Stopped);
        }
        let (runtime, client) = self.client(kind)?;
        let limits = *limits;
        let (answered, answers) = mpsc::sync_channel(1);
        let call = runtime.spawn(async move {
            let answer = match client.execute(asked).await {
                Ok(answer) => read_response(answer, &limits).await,
                Err(error) => Err(to_http_error(&error, &host)),
            };
            // The receiver may be gone.
            let _ = answered.send(answer);
        });
        let answer = wait_for_answer(&answers, limits.total, is_stopped);
        call.abort();
        answer
    }
}

impl Drop for HttpClient {
    fn drop(&mut self) {
        let state = self.pool.get_mut().unwrap_or_else(PoisonError::into_inner);
        state.clients.clear();
        if let Some(runtime) = state.runtime.take() {
            // A hanging name service must not delay the end of the program.
            runtime.shutdown_background();
        }
    }
}

/// Waits until the answer arrives, the caller no longer wants it, or the time is up.
///
/// The time is measured on this thread, because a timer of the runtime expires only when a worker polls it, and a
/// server that never stops sending keeps a worker busy.
fn wait_for_answer(
    answers: &Receiver<Result<HttpResponse, HttpError>>,
    total: Duration,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<HttpResponse, HttpError> {
    let began = Instant::now();
    loop {
        if is_stopped() {
            return Err(HttpError::Stopped);
        }
        let left = total.saturating_sub(began.elapsed());
        match answers.recv_timeout(left.min(POLL_INTERVAL)) {
            Ok(answer) => return answer,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Err(HttpError::TimedOut(total)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                return Err(HttpError::Broken("the request was cancelled".to_owned()));
            }
        }
    }
}

fn start_runtime() -> Result<Runtime, HttpError> {
    // A second worker serves the other requests while one is kept busy by a server that never stops sending.
    let runtime = Builder::new_multi_thread().worker_threads(2).thread_name("slop-web").enable_all().build();
    runtime.map_err(|_| HttpError::NotAllowed("thread for the connection did not start"))
}

/// Returns the parsed address if it is allowed to send something to it.
fn checked_url(url: &str, allows_plain: bool) -> Result<Url, HttpError> {
    let url = Url::parse(url).map_err(|_| HttpError::NotAllowed("address is not a URL"))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(HttpError::NotAllowed("address contains a user name or password"));
    }
    let may_be_plain = allows_plain || is_loopback(&url);
    match url.scheme() {
        "https" => Ok(url),
        "http" if may_be_plain => Ok(url),
        "http" => Err(HttpError::NotAllowed("address is neither https nor on this machine")),
        _ => Err(HttpError::NotAllowed("address is not https")),
    }
}

/// Returns whether an address is literally a loopback address: no name is resolved.
pub fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn host_and_port(url: &Url) -> String {
    format!("{}:{}", url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or_default())
}

/// Converts a request.
fn to_reqwest(request: &HttpRequest, url: Url) -> Result<Request, HttpError> {
    let method = match request.method {
        HttpMethod::Get => reqwest::Method::GET,
        HttpMethod::Post => reqwest::Method::POST,
        HttpMethod::Put => reqwest::Method::PUT,
    };
    let mut asked = Request::new(method, url);
    for (name, value) in &request.headers {
        insert_header(asked.headers_mut(), name, value, false)?;
    }
    for (name, value) in &request.secret_headers {
        insert_header(asked.headers_mut(), name, value.expose_secret(), true)?;
    }
    if !request.body.is_empty() || request.method != HttpMethod::Get {
        *asked.body_mut() = Some(request.body.clone().into());
    }
    Ok(asked)
}

fn insert_header(headers: &mut HeaderMap, name: &str, value: &str, is_secret: bool) -> Result<(), HttpError> {
    let refused = HttpError::NotAllowed("a header's name or value has invalid characters");
    let (Ok(name), Ok(mut value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value)) else {
        return Err(refused);
    };
    // Keeps the value out of debug output and out of HTTP/2's header compression table.
    value.set_sensitive(is_secret);
    headers.insert(name, value);
    Ok(())
}

fn common_builder(kind: ClientKind) -> ClientBuilder {
    static PROVIDER: Once = Once::new();
    // reqwest panics without an installed provider; an already installed one is fine.
    PROVIDER.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder()
        .no_proxy()
        .redirect(Policy::none())
        // No automatic retries: only code that tracks the money decides on them.
        .retry(reqwest::retry::never())
        .referer(false)
        .connect_timeout(kind.connect)
        .pool_idle_timeout(POOL_IDLE_TIMEOUT)
        .http1_max_headers(MAX_HEADERS)
        .http2_max_header_list_size(MAX_HEADER_BYTES)
        .user_agent(concat!("slop/", env!("CARGO_PKG_VERSION")))
        .resolve_to_addrs("localhost", &loopback_addresses())
}

/// Creates the client without TLS. Unless other machines are allowed, it resolves only `localhost`.
fn plain_client(kind: ClientKind, allows_plain: bool) -> Result<Client, HttpError> {
    let builder = common_builder(kind).tls_certs_only([]);
    let builder = if allows_plain { builder } else { builder.dns_resolver(NoResolver) };
    builder.build().map_err(|_| HttpError::NotAllowed("no connection can be set up"))
}

/// The addresses of `localhost`, regardless of any name service.
fn loopback_addresses() -> [SocketAddr; 2] {
    [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)].map(|here| SocketAddr::new(here, 0))
}

/// A resolver that fails for every name: the last safeguard against plain HTTP to another machine.
struct NoResolver;

impl Resolve for NoResolver {
    fn resolve(&self, _: Name) -> Resolving {
        Box::pin(async { Err("only this machine is reached without TLS".into()) })
    }
}

async fn read_response(mut answer: Response, limits: &HttpLimits) -> Result<HttpResponse, HttpError> {
    let status = answer.status().as_u16();
    let headers = answer.headers().iter().filter_map(|(name, value)| {
        let value = value.to_str().ok()?;
        Some((name.as_str().to_owned(), value.to_owned()))
    });
    let headers = headers.collect();
    let mut body = Vec::new();
    loop {
        let piece = tokio::time::timeout(limits.idle, answer.chunk()).await;
        let piece = piece.map_err(|_| HttpError::TimedOut(limits.idle))?;
        let Some(piece) = piece.map_err(|error| HttpError::Broken(innermost_cause(&error)))? else {
            return Ok(HttpResponse { status, headers, body });
        };
        // Cannot underflow: the body never exceeds the limit. Checked piece by piece, because a server may announce any
        // length.
        if limits.body_bytes - body.len() < piece.len() {
            return Err(HttpError::TooLarge(limits.body_bytes));
        }
        body.extend_from_slice(&piece);
    }
}

/// Converts the error of a request that got no response head.
fn to_http_error(error: &reqwest::Error, host: &str) -> HttpError {
    if error.is_connect() || error.is_builder() {
        return HttpError::Unreachable { host: host.to_owned(), why: innermost_cause(error) };
    }
    HttpError::Broken(innermost_cause(error))
}

/// Returns the innermost cause: the outer ones repeat the address.
fn innermost_cause(error: &reqwest::Error) -> String {
    let mut innermost: &dyn Error = error;
    while let Some(deeper) = innermost.source() {
        innermost = deeper;
    }
    let mut words: String = innermost.to_string().chars().filter(|c| !c.is_control()).collect();
    words.truncate(words.floor_char_boundary(MAX_CAUSE_BYTES));
    words
}

/// Limits on the time and the size of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    pub connect: Duration,
    /// Between two pieces of the answer, once it has begun.
    pub idle: Duration,
    pub total: Duration,
    /// The most bytes of the decompressed body.
    pub body_bytes: usize,
}

/// Sends requests to servers.
pub trait HttpTransport: Sync {
    /// Sends a request and waits for the whole answer, whatever its status. Follows no redirect, uses no proxy that was
    /// not configured, and reaches only this machine without TLS. `is_stopped` is polled several times a second.
    fn send(
        &self,
        request: &HttpRequest,
        limits: &HttpLimits,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<HttpResponse, HttpError>;
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
