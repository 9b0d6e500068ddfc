//! Access control: a socket that only its owner can open, no web pages but slop's own, no other host names, and on ports
//! only clients with a token.
//!
//! A browser can be made to send requests here by any page that its user looks at. It tells so (`Origin`,
//! `Sec-Fetch-Site`), it cannot send JSON across origins without asking (`OPTIONS`) first, and a page whose name was
//! bound again to 127.0.0.1 still says its own name (`Host`).
//!
//! The socket's folder has to be the owner's, and no other user may write in it: nobody can then put anything in the socket's
//! place. The socket gets its mode *before* it is bound (on Linux it is created with the mode of the open socket), and
//! once more by its path before it listens; a socket that does not listen refuses connections. So there is no
//! moment at which the umask decides, and the umask, which is the whole process's, need not be touched.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::page::Page;
use super::response::ApiErrorResponse;
use super::routes::TICKET_PATH;
use super::sessions::sha256;

#[derive(Clone)]
pub(super) enum Transport {
    /// A socket that only its owner can open.
    Unix,
    /// A port that every user and every browser of the machine can open.
    Tcp {
        port: u16,
        /// The SHA-256 of the token: two digests are compared, so that nothing of the token's length or beginning
        /// can be inferred from the time that it takes.
        token: [u8; 32],
    },
    /// The port of the web page, which every user and every browser of the machine can open, too.
    Page { port: u16, page: Arc<Page> },
}

impl Transport {
    pub(super) fn tcp(port: u16, token: &str) -> Self {
        Self::Tcp { port, token: sha256(token.as_bytes()) }
    }

    /// Refuses a request that did not come from a program of the user's own.
    pub(super) fn check(&self, head: &Parts) -> Result<(), ApiErrorResponse> {
        match self {
            // A Unix socket has no name that could be rebound to it, so any `Host` is accepted there.
            Self::Unix => check_no_origin(&head.headers)?,
            Self::Tcp { port, .. } => {
                check_host(head, *port)?;
                check_no_origin(&head.headers)?;
            }
            Self::Page { port, .. } => {
                check_host(head, *port)?;
                check_own_origin(&head.headers)?;
            }
        }
        check_site(&head.headers)?;
        // Without an answer to its preflight, a browser sends no JSON across origins.
        if head.method == Method::OPTIONS || head.method == Method::CONNECT {
            return Err(forbidden(format!("method {} is not allowed", head.method)));
        }
        // A ticket opens the page, so it is given only to those who need no token.
        if !matches!(self, Self::Unix) && head.uri.path() == TICKET_PATH {
            return Err(forbidden("tickets are given on the Unix socket only"));
        }
        match self {
            Self::Unix => Ok(()),
            Self::Tcp { token, .. } => {
                let hint = "send `Authorization: Bearer TOKEN`, with the token that the daemon wrote when it began to listen";
                check_token(&head.headers, |shown| constant_time_eq(shown, token), hint)
            }
            // The files of the page say nothing about the project; a browser has to have them before it has a token.
            Self::Page { .. } if !self.is_api(head) => Ok(()),
            Self::Page { page, .. } => {
                check_token(&head.headers, |shown| page.sessions.has_session(shown), "run `slop ui`")
            }
        }
    }

    /// Returns whether a request is for the API, and not for the web page.
    pub(super) fn is_api(&self, head: &Parts) -> bool {
        !matches!(self, Self::Page { .. }) || head.uri.path().starts_with("/v1/")
    }
}

fn check_host(head: &Parts, port: u16) -> Result<(), ApiErrorResponse> {
    let mut named: Vec<&str> = head.uri.authority().map(Authority::as_str).into_iter().collect();
    // A host that is no text is nobody's name, and so is the empty one.
    named.extend(head.headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default()));
    let is_ours = |host: &&str| {
        let Some((name, named_port)) = host.rsplit_once(':') else { return false };
        let is_local = ["127.0.0.1", "[::1]"].contains(&name) || name.eq_ignore_ascii_case("localhost");
        is_local && named_port == port.to_string()
    };
    // All of them have to be ours: a request may name one host in its target and another in a header.
    if !named.is_empty() && named.iter().all(is_ours) {
        return Ok(());
    }
    Err(ApiErrorResponse::user(
        StatusCode::MISDIRECTED_REQUEST,
        "wrong_host",
        "request is for another host",
        "ask http://127.0.0.1 or http://localhost, with the port that the daemon listens on",
    ))
}

fn check_no_origin(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    if headers.contains_key(header::ORIGIN) {
        return Err(forbidden("request comes from a web page: it has an Origin"));
    }
    Ok(())
}

/// Refuses the requests of all pages but the one that is served at the same host and port.
fn check_own_origin(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    // The host was checked before, and is one of this machine.
    let host = headers.get(header::HOST).map(HeaderValue::as_bytes).unwrap_or_default();
    let is_own = |origin: &HeaderValue| origin.as_bytes().strip_prefix(b"http://") == Some(host);
    if headers.get_all(header::ORIGIN).iter().all(is_own) {
        return Ok(());
    }
    Err(forbidden("request comes from another web page: its Origin is not this host"))
}

fn check_site(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    let fetched = headers.get_all(HeaderName::from_static("sec-fetch-site"));
    // A browser sends `none` if its user typed the address or opened a bookmark.
    if fetched.iter().any(|site| site != "none" && site != "same-origin") {
        return Err(forbidden("request comes from a web page of another site"));
    }
    Ok(())
}

fn forbidden(message: impl Into<String>) -> ApiErrorResponse {
    let hint = "the API is for programs, not for web pages";
    ApiErrorResponse::user(StatusCode::FORBIDDEN, "forbidden", message, hint)
}

fn check_token(
    headers: &HeaderMap,
    is_ours: impl FnOnce(&[u8; 32]) -> bool,
    hint: &'static str,
) -> Result<(), ApiErrorResponse> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let bearer = given.next().and_then(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
    });
    // Two headers are refused, because it would depend on the reader which of them counts.
    let is_known = bearer.is_some_and(|bearer| is_ours(&sha256(bearer)));
    if is_known && given.next().is_none() {
        return Ok(());
    }
    Err(ApiErrorResponse::user(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "request lacks the daemon's token",
        hint,
    ))
}

/// Compares all bytes, wherever they begin to differ.
fn constant_time_eq(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |different, (one, other)| different | (one ^ other)) == 0
}

/// Bytes of the longest path that a socket can have.
// `sun_path` has 108 bytes on Linux, the last of which is the NUL.
pub const SOCKET_PATH_BYTES: usize = 107;

/// Connections that the system keeps until they are accepted.
const BACKLOG: i32 = 128;

/// Why no socket can be had at a path.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("socket path {} has {} bytes, limit is {SOCKET_PATH_BYTES}", .0.display(), .0.as_os_str().len())]
    TooLong(PathBuf),
    /// The folder is not one in which only we can write.
    #[error("socket folder {} {reason}", .folder.display())]
    UnsafeFolder { folder: PathBuf, reason: &'static str },
    #[error("{} exists and is not a socket", .0.display())]
    Occupied(PathBuf),
    #[error("socket {} is in use", .0.display())]
    InUse(PathBuf),
    #[error("socket {} cannot be bound", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Binds a socket that only its owner can connect to, and listens on it.
///
/// A socket that was left behind is replaced if nobody listens on it any more. The caller holds the daemon's lock, so
/// that nobody else binds here between that check and the removal.
pub fn bind_unix(path: &Path) -> Result<UnixListener, BindError> {
    if SOCKET_PATH_BYTES < path.as_os_str().as_bytes().len() {
        return Err(BindError::TooLong(path.to_owned()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Checked before anything at the path is examined: in a folder of others, both could be swapped in between.
    check_folder(folder)?;
    remove_stale_socket(path)?;
    let failed = |errno: Errno| BindError::Io { path: path.to_owned(), source: errno.into() };
    let socket = new_socket().map_err(failed)?;
    let owner = Mode::RUSR | Mode::WUSR;
    // Other systems than Linux may refuse this; the mode is set by the path, too, before anybody can connect.
    let _ = rustix::fs::fchmod(&socket, owner);
    let address = SocketAddrUnix::new(path).map_err(failed)?;
    rustix::net::bind(&socket, &address).map_err(failed)?;
    rustix::fs::chmod(path, owner).map_err(failed)?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed)?;
    Ok(UnixListener::from(socket))
}

fn check_folder(folder: &Path) -> Result<(), BindError> {
    let unsafe_because = |reason| Err(BindError::UnsafeFolder { folder: folder.to_owned(), reason });
    // A link is refused, even to a safe folder: it could be pointed elsewhere before the socket is bound.
    let stat = lstat(folder)?;
    let Some(stat) = stat else { return unsafe_because("does not exist") };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return unsafe_because("is not a folder");
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return unsafe_because("belongs to another user");
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return unsafe_because("is writable by other users");
    }
    Ok(())
}

fn remove_stale_socket(path: &Path) -> Result<(), BindError> {
    let Some(stat) = lstat(path)? else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
        return Err(BindError::Occupied(path.to_owned()));
    }
    let failed = |source| BindError::Io { path: path.to_owned(), source };
    let address = SocketAddrUnix::new(path).map_err(|errno| failed(errno.into()))?;
    let socket = new_socket().map_err(|errno| failed(errno.into()))?;
    match rustix::net::connect(&socket, &address) {
        // Do not wait: a listener with a full backlog is running as well.
        Ok(()) | Err(Errno::AGAIN) => Err(BindError::InUse(path.to_owned())),
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path).map_err(failed),
        Err(errno) => Err(failed(errno.into())),
    }
}

fn new_socket() -> rustix::io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

/// Returns the metadata of a path, without following a link.
fn lstat(path: &Path) -> Result<Option<Stat>, BindError> {
    match rustix::fs::lstat(path) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(BindError::Io { path: path.to_owned(), source: errno.into() }),
    }
}
