//! The web page: its files, its port, and its security headers.
//!
//! The files have addresses `/ui/HASH/NAME`, with a hash of all files together: relative imports lead to files of the
//! same version, and browsers never mix two versions. So they may be cached forever, and nothing else may.

use std::io::{self, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Mutex;

use axum::body::Body;
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::response::{self, ApiErrorResponse};
use super::sessions::{PageSessions, RefusedTicket, TICKET_LIFETIME};
use crate::api::daemon_control::PageTicket;
use crate::model::hex;
use crate::model::{PageFile, lock};

/// The path of the page itself.
const INDEX: &str = "index.html";
const SESSION_PATH: &str = "/ui/session";
/// How the files refer to each other.
const RELATIVE: &str = "\"./";

/// Shorter bodies are not compressed.
const MIN_COMPRESSED_BYTES: u64 = 1024;
/// Larger bodies are not compressed, because that takes longer than sending them on the same machine.
const MAX_COMPRESSED_BYTES: u64 = 32 << 20;

const SECURITY_HEADERS: [(&str, &str); 4] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; worker-src 'self'; connect-src 'self'; \
         img-src 'self' blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
         require-trusted-types-for 'script'; trusted-types worker",
    ),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
];

/// The page of one daemon.
pub(super) struct Page {
    files: Vec<ServedFile>,
    pub(super) sessions: PageSessions,
    listen: SocketAddr,
    /// The listening address, once a ticket was requested.
    bound: Mutex<Option<SocketAddr>>,
    sender: mpsc::Sender<TcpListener>,
    receiver: Mutex<Option<mpsc::Receiver<TcpListener>>>,
}

struct ServedFile {
    path: String,
    content_type: &'static str,
    plain: Bytes,
    compressed: Bytes,
    is_immutable: bool,
}

impl Page {
    /// Returns a page that is not served yet.
    pub(super) fn new(files: &[PageFile], listen: SocketAddr) -> Self {
        let (sender, receiver) = mpsc::channel(1);
        Self {
            files: served_files(files),
            sessions: PageSessions::default(),
            listen,
            bound: Mutex::new(None),
            sender,
            receiver: Mutex::new(Some(receiver)),
        }
    }

    /// Returns a ticket, with the address that it opens. The first call opens the page's port.
    pub(super) fn issue_ticket(&self) -> io::Result<PageTicket> {
        let mut bound = lock(&self.bound);
        let address = match *bound {
            Some(address) => address,
            None => self.open_port()?,
        };
        *bound = Some(address);
        let ticket = self.sessions.issue(Instant::now())?;
        Ok(PageTicket { url: format!("http://{address}/#{ticket}"), expires_in_s: TICKET_LIFETIME.as_secs() })
    }

    fn open_port(&self) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(self.listen)?;
        let address = listener.local_addr()?;
        self.sender.try_send(listener).map_err(|_| io::Error::other("the server of the page has ended"))?;
        Ok(address)
    }

    /// Waits for the port to be opened. Only the first caller gets the listener.
    pub(super) async fn listener(&self) -> Option<TcpListener> {
        let receiver = lock(&self.receiver).take();
        receiver?.recv().await
    }

    /// Answers a request outside of the API: for a file of the page, or for a session.
    pub(super) fn respond(&self, head: &Parts, body: &[u8]) -> Response {
        let path = head.uri.path();
        if path == SESSION_PATH {
            return match head.method {
                Method::POST => self.open_session(body).into_response(),
                _ => {
                    refusal(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", "a session is opened with POST")
                }
            };
        }
        let path = if path == "/" { "/index.html" } else { path };
        let Some(file) = self.files.iter().find(|file| file.path == path) else {
            return refusal(StatusCode::NOT_FOUND, "no_such_route", "no such file of the page");
        };
        if head.method != Method::GET && head.method != Method::HEAD {
            return refusal(StatusCode::METHOD_NOT_ALLOWED, "no_such_method", "a file is read with GET");
        }
        file.respond(accepts_gzip(head))
    }

    fn open_session(&self, body: &[u8]) -> Result<Response, ApiErrorResponse> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct SessionRequest {
            ticket: String,
        }
        #[derive(Serialize)]
        struct Session {
            token: String,
        }
        let request: SessionRequest = serde_json::from_slice(body).map_err(|error| {
            let message = format!("invalid body: {error}");
            ApiErrorResponse::user(StatusCode::BAD_REQUEST, "bad_json", message, "send {\"ticket\": \"…\"}")
        })?;
        let token = match self.sessions.redeem(&request.ticket, Instant::now()) {
            Ok(Ok(token)) => token,
            Ok(Err(refused)) => return Err(refused.into()),
            Err(_) => return Err(ApiErrorResponse::bug()),
        };
        Ok(response::plain_response("ui_session", &Session { token }))
    }
}

impl From<RefusedTicket> for ApiErrorResponse {
    fn from(refused: RefusedTicket) -> Self {
        let code = match refused {
            RefusedTicket::Unknown => "unknown_ticket",
            RefusedTicket::UsedBefore => "used_ticket",
        };
        Self::user(StatusCode::FORBIDDEN, code, refused.to_string(), "run `slop ui` for a new ticket")
    }
}

impl ServedFile {
    fn respond(&self, compressed: bool) -> Response {
        let body = if compressed { &self.compressed } else { &self.plain };
        let mut response = response::response_with_type(Body::from(body.clone()), self.content_type);
        if compressed {
            mark_compressed(&mut response);
        }
        if self.is_immutable {
            let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
            response.headers_mut().insert(header::CACHE_CONTROL, forever);
        }
        response
    }
}

fn refusal(status: StatusCode, code: &'static str, message: &str) -> Response {
    let hint = "the page is at /, and `slop ui` has its address";
    ApiErrorResponse::user(status, code, message, hint).for_command("ui").into_response()
}

/// Compresses the files, and assigns their addresses.
fn served_files(files: &[PageFile]) -> Vec<ServedFile> {
    let mut digest = Sha256::new();
    for file in files {
        // With lengths, so that different sets never have the same bytes.
        for text in [file.name, &file.text] {
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text);
        }
    }
    let hash = hex(&digest.finalize()[..8]);
    let served = files.iter().map(|file| {
        let is_index = file.name == INDEX;
        let folder = if is_index { "/".to_owned() } else { format!("/ui/{hash}/") };
        // Only the page itself has a fixed address, so it contains those of the others.
        let text = if is_index {
            file.text.replace(RELATIVE, &format!("\"/ui/{hash}/"))
        } else {
            file.text.clone().into_owned()
        };
        ServedFile {
            path: folder + file.name,
            content_type: file.content_type,
            compressed: compressed(text.as_bytes(), Compression::best()),
            plain: text.into(),
            is_immutable: !is_index,
        }
    });
    served.collect()
}

fn compressed(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    encoder.write_all(bytes).expect("writing to a vector does not fail");
    encoder.finish().expect("writing to a vector does not fail").into()
}

/// Compresses the answer if the browser accepts that.
pub(super) async fn with_compressed_body(head: &Parts, response: Response) -> Response {
    // A stream has no size, and must not be delayed by compression.
    let size = response.body().size_hint().exact().unwrap_or(0);
    let is_encoded = response.headers().contains_key(header::CONTENT_ENCODING);
    if is_encoded || !(MIN_COMPRESSED_BYTES..=MAX_COMPRESSED_BYTES).contains(&size) || !accepts_gzip(head) {
        return response;
    }
    let (parts, body) = response.into_parts();
    let Ok(body) = body.collect().await else { return ApiErrorResponse::bug().into_response() };
    let plain = body.to_bytes();
    let level = Compression::fast();
    let Ok(body) = tokio::task::spawn_blocking(move || compressed(&plain, level)).await else {
        return ApiErrorResponse::bug().into_response();
    };
    let mut response = Response::from_parts(parts, Body::from(body));
    mark_compressed(&mut response);
    response
}

fn mark_compressed(response: &mut Response) {
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    headers.remove(header::CONTENT_LENGTH);
}

fn accepts_gzip(head: &Parts) -> bool {
    let mut accepted =
        head.headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepted.any(|value| {
        value.split(',').any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            is_gzip && !parts.any(|weight| weight == "q=0")
        })
    })
}

/// Adds the headers that confine the page to its own files and its own origin.
pub(super) fn add_security_headers(response: &mut Response) {
    for (name, value) in SECURITY_HEADERS {
        response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}
