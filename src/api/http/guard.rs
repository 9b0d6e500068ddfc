//! Access control: no web pages, no other host names, and on TCP only clients with the token.
//!
//! A browser can be made to send requests here by any page that its user looks at. It tells so (`Origin`,
//! `Sec-Fetch-Site`), it cannot send JSON across origins without asking (`OPTIONS`) first, and a page whose name was
//! bound again to 127.0.0.1 still says its own name (`Host`).

use axum::http::request::Parts;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use sha2::{Digest, Sha256};

use super::refusal::ApiErrorResponse;

/// The way by which a request came.
#[derive(Debug, Clone)]
pub(super) enum Transport {
    /// A socket that only its owner can open.
    Unix,
    /// A port that every user and every browser of the machine can open.
    Tcp {
        /// The port that is listened on.
        port: u16,
        /// The SHA-256 of the token: two digests are compared, so that nothing of the token's length or beginning
        /// can be inferred from the time that it takes.
        token: [u8; 32],
    },
}

impl Transport {
    /// Returns the door of a port.
    pub(super) fn tcp(port: u16, token: &str) -> Self {
        Self::Tcp { port, token: sha256(token.as_bytes()) }
    }

    /// Refuses a request that did not come from a program of the user's own.
    pub(super) fn check(&self, head: &Parts) -> Result<(), ApiErrorResponse> {
        if let Self::Tcp { port, .. } = self {
            check_host(head, *port)?;
        }
        check_origin(&head.headers)?;
        if head.method == Method::OPTIONS || head.method == Method::CONNECT {
            return Err(forbidden(format!("method {} is not allowed", head.method)));
        }
        match self {
            Self::Unix => Ok(()),
            Self::Tcp { token, .. } => check_token(&head.headers, token),
        }
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

fn check_origin(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    if headers.contains_key(header::ORIGIN) {
        return Err(forbidden("request comes from a web page: it has an Origin"));
    }
    let fetched = headers.get_all(HeaderName::from_static("sec-fetch-site"));
    if fetched.iter().any(|site| site != "none" && site != "same-origin") {
        return Err(forbidden("request comes from a web page of another site"));
    }
    Ok(())
}

fn forbidden(message: impl Into<String>) -> ApiErrorResponse {
    let hint = "the API is for programs, not for web pages";
    ApiErrorResponse::user(StatusCode::FORBIDDEN, "forbidden", message, hint)
}

fn check_token(headers: &HeaderMap, token: &[u8; 32]) -> Result<(), ApiErrorResponse> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let bearer = given.next().and_then(|value| {
        let (scheme, token) = value.as_bytes().split_at_checked(7)?;
        scheme.eq_ignore_ascii_case(b"bearer ").then_some(token)
    });
    let is_known = bearer.is_some_and(|bearer| constant_time_eq(&sha256(bearer), token));
    if is_known && given.next().is_none() {
        return Ok(());
    }
    Err(ApiErrorResponse::user(
        StatusCode::UNAUTHORIZED,
        "unauthorized",
        "request lacks the daemon's token",
        "send `Authorization: Bearer TOKEN`, with the token that the daemon wrote when it began to listen",
    ))
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Compares all bytes, wherever they begin to differ.
fn constant_time_eq(one: &[u8; 32], other: &[u8; 32]) -> bool {
    one.iter().zip(other).fold(0, |different, (one, other)| different | (one ^ other)) == 0
}
