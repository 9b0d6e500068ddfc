//! Servers: one request, one whole answer.

use std::time::Duration;

use crate::model::HttpError;
use crate::model::HttpRequest;
use crate::model::HttpResponse;

/// How long a server may take, and how much it may say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpLimits {
    /// Until it is connected to.
    pub connect: Duration,
    /// Between two pieces of its answer, once that has begun.
    pub idle: Duration,
    /// For all of it.
    pub total: Duration,
    /// Bytes of its answer's body, decompressed.
    pub body_bytes: usize,
}

/// Sends requests to servers.
pub trait HttpTransport: Sync {
    /// Sends a request and waits for the whole answer, whatever its status is. Follows no redirection, uses no proxy
    /// that was not asked for, and speaks without TLS to this machine alone. `is_stopped` is asked several times a
    /// second.
    fn send(
        &self,
        request: &HttpRequest,
        limits: &HttpLimits,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<HttpResponse, HttpError>;
}
