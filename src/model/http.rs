//! An HTTP request and its response, as bytes.

use std::time::Duration;

use secrecy::SecretString;

/// A request to a server.
#[derive(Debug, Clone)]
pub struct HttpRequest {
    pub method: HttpMethod,
    pub url: String,
    /// Names and values of headers, none of them secret.
    pub headers: Vec<(String, String)>,
    /// Names and values of headers that are never shown, logged or stored.
    pub secret_headers: Vec<(String, SecretString)>,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpMethod {
    Get,
    Post,
    Put,
}

impl HttpMethod {
    /// Returns the method as it is sent.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }
}

/// A complete response of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpResponse {
    pub status: u16,
    /// Lower-case names and values of headers; those that are not text are omitted.
    pub headers: Vec<(String, String)>,
    /// The body, decompressed.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// Returns the value of the first header of that name, which must be in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    #[error("{0}")]
    NotAllowed(&'static str),
    #[error("no certificates of authorities are installed")]
    NoCertificates,
    #[error("no connection to {host}: {why}")]
    Unreachable {
        host: String,
        /// The reason in words.
        why: String,
    },
    #[error("no answer within {} s", .0.as_secs())]
    TimedOut(Duration),
    #[error("connection lost: {0}")]
    Broken(String),
    #[error("answer has more than {0} bytes")]
    TooLarge(usize),
    #[error("stopped")]
    Stopped,
}

impl HttpError {
    /// Returns whether the server cannot have received the request.
    pub const fn is_unsent(&self) -> bool {
        match self {
            Self::NotAllowed(_) | Self::NoCertificates | Self::Unreachable { .. } => true,
            Self::TimedOut(_) | Self::Broken(_) | Self::TooLarge(_) | Self::Stopped => false,
        }
    }
}
