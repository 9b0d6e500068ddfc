//! Error responses: a status, and the envelope of an error.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

use crate::api::fault::{ApiError, ApiErrorKind};
use crate::api::wire::envelope_of_error;

/// The error.
#[derive(Debug)]
pub(super) struct ApiErrorResponse {
    pub(super) status: StatusCode,
    pub(super) command: &'static str,
    pub(super) fault: ApiError,
}

impl ApiErrorResponse {
    /// The request is at fault.
    pub(super) fn user(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        hint: &'static str,
    ) -> Self {
        Self { status, command: "api", fault: ApiError::user(code, message, hint) }
    }

    /// Too much is going on.
    pub(super) fn busy(what: &str) -> Self {
        let fault = ApiError::environment("busy", what, "try again in a second");
        Self { status: StatusCode::SERVICE_UNAVAILABLE, command: "api", fault }
    }

    /// The answerer died of the question.
    pub(super) fn bug() -> Self {
        let fault = ApiError::environment(
            "bug",
            "internal error in slop",
            "this should not happen: please report it, with the log of the daemon (`slop daemon logs`)",
        );
        Self { status: StatusCode::INTERNAL_SERVER_ERROR, command: "api", fault }
    }

    /// The question was understood, and cannot be answered.
    pub(super) fn from_api_error(fault: ApiError) -> Self {
        Self { status: status(&fault), command: "api", fault }
    }

    /// Sets the command whose answer this replaces.
    pub(super) const fn for_command(mut self, command: &'static str) -> Self {
        self.command = command;
        self
    }

    /// Returns the envelope, in one line.
    pub(super) fn envelope(&self) -> String {
        self.to_json().to_string()
    }

    /// Returns the envelope as the last of some lines: it has the status, too, because that of the response was sent
    /// before there was a fault.
    pub(super) fn last_line(&self) -> String {
        let mut value = self.to_json();
        value["status"] = self.status.as_u16().into();
        format!("{value}\n")
    }

    fn to_json(&self) -> Value {
        let fault = &self.fault;
        envelope_of_error(self.command, &fault.code, &fault.message, &fault.hint)
    }
}

/// Returns the status that goes with a fault, by its stable code where one has a status of its own.
fn status(fault: &ApiError) -> StatusCode {
    match (&*fault.code, fault.kind) {
        ("not_found", _) => StatusCode::NOT_FOUND,
        ("other_settings" | "other_protocol" | "other_version", _) => StatusCode::CONFLICT,
        ("bug", _) => StatusCode::INTERNAL_SERVER_ERROR,
        (_, ApiErrorKind::User) => StatusCode::UNPROCESSABLE_ENTITY,
        (_, ApiErrorKind::Environment) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl IntoResponse for ApiErrorResponse {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.envelope() + "\n"));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        match self.status {
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            _ => {}
        }
        response
    }
}
