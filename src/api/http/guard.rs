//! Access control: a socket that only its owner can open, no web pages except slop's own, no other host names, and on
//! ports only clients with a token.
//!
//! Any page that a user views can make the browser send requests here. But the browser names that page (`Origin`,
//! `Sec-Fetch-Site`), it cannot send JSON across origins without a preflight (`OPTIONS`), and a page whose name was
//! rebound to 127.0.0.1 still sends its own name (`Host`).

use std::sync::Arc;

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

use super::page::Page;
use super::response::ApiErrorResponse;
use super::sessions::sha256;
use crate::api::daemon_control::TICKET_PATH;

#[derive(Clone)]
pub(super) enum Transport {
    /// A socket that only its owner can open.
    Unix,
    /// A port that every user and every browser of the machine can open.
    Tcp {
        port: u16,
        /// The SHA-256 of the token: digests are compared, so that the time of the comparison reveals nothing about the
        /// token.
        token: [u8; 32],
    },
    /// The port of the web page, which every user and every browser of the machine can open, too.
    Page { port: u16, page: Arc<Page> },
}

impl Transport {
    pub(super) fn tcp(port: u16, token: &str) -> Self {
        Self::Tcp { port, token: sha256(token.as_bytes()) }
    }

    /// Rejects a request that does not come from a program of the user.
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
        // Without an answer to its preflight, a browser does not send JSON across origins.
        if head.method == Method::OPTIONS || head.method == Method::CONNECT {
            return Err(forbidden(format!("method {} is not allowed", head.method)));
        }
        // A ticket opens the page, so it is only issued on the socket, where no token is required.
        if !matches!(self, Self::Unix) && head.uri.path() == TICKET_PATH {
            return Err(forbidden("tickets are issued on the Unix socket only"));
        }
        match self {
            Self::Unix => Ok(()),
            Self::Tcp { token, .. } => {
                let hint = "send `Authorization: Bearer TOKEN`, with the token that the daemon wrote when it began to listen";
                check_token(&head.headers, |shown| constant_time_eq(shown, token), hint)
            }
            // The files of the page disclose nothing about the project; a browser has to load them before it has a
            // token.
            Self::Page { .. } if !self.is_api(head) => Ok(()),
            Self::Page { page, .. } => {
                check_token(&head.headers, |shown| page.sessions.has_session(shown), "run `slop ui`")
            }
        }
    }

    /// Returns whether a request is for the API, as opposed to the web page.
    pub(super) fn is_api(&self, head: &Parts) -> bool {
        !matches!(self, Self::Page { .. }) || head.uri.path().starts_with("/v1/")
    }
}

fn check_host(head: &Parts, port: u16) -> Result<(), ApiErrorResponse> {
    let mut named: Vec<&str> = head.uri.authority().map(Authority::as_str).into_iter().collect();
    // A host that is not text counts as empty, which is not an allowed name.
    named.extend(head.headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default()));
    let is_ours = |host: &&str| {
        let Some((name, named_port)) = host.rsplit_once(':') else { return false };
        let is_local = ["127.0.0.1", "[::1]"].contains(&name) || name.eq_ignore_ascii_case("localhost");
        is_local && named_port == port.to_string()
    };
    // All hosts have to be ours, because a request may have one in its target and another in a header.
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

/// Rejects the requests of all pages except the one that is served at the same host and port.
fn check_own_origin(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    // The host was already checked to be this machine.
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
    // Two headers are rejected, because it would be ambiguous which of them counts.
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

/// Compares all bytes in constant time.
fn constant_time_eq(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |different, (one, other)| different | (one ^ other)) == 0
}
