//! From a request that was let in to its response.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Query;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::{LIST_ITEMS, TEXT_CHARACTERS};
use super::response::ApiErrorResponse;
use super::routes::{ROUTES, Route, RouteAction, deprecated_keys};
use super::server::ServerState;
use super::stream::{EventParameters, EventStream};
use super::stream::{LINES, RunningQuery};
use super::{openapi, response};
use crate::api::daemon_control::Stopping;
use crate::api::query::AnyQuery;
use crate::api::service::{CallOptions, PROTOCOL, VERSION, ask_encoded};

/// The most characters of a client's own text that an error repeats.
const QUOTED: usize = 300;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct QueryParameters {
    require_fresh: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NoParameters {}

pub(super) fn router(shared: &Arc<ServerState>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let shared = Arc::clone(shared);
        let handler = move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let answer = answer(&shared, route, &uri, &headers, &body).await;
            // Named here once: what refuses a request does not know its route.
            answer.unwrap_or_else(|refusal| refusal.for_command(route.command).into_response())
        };
        let handler = if route.action.is_get() { get(handler) } else { post(handler) };
        router = router.route(route.path, handler);
    }
    router.fallback(unknown_route).method_not_allowed_fallback(unknown_method)
}

async fn unknown_route(uri: Uri) -> ApiErrorResponse {
    let hint = "GET /v1/openapi.json lists every path";
    let message = format!("no such route: {}", truncated(uri.path()));
    ApiErrorResponse::user(StatusCode::NOT_FOUND, "no_such_route", message, hint)
}

async fn unknown_method() -> ApiErrorResponse {
    let (code, hint) = ("no_such_method", "GET /v1/openapi.json lists every path and its method");
    ApiErrorResponse::user(StatusCode::METHOD_NOT_ALLOWED, code, "no such method for this path", hint)
}

async fn answer(
    shared: &Arc<ServerState>,
    route: &'static Route,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response, ApiErrorResponse> {
    let daemon = Arc::clone(&shared.daemon);
    match route.action {
        // Neither the status nor a stop compares versions: a client of another version must be able to find out, and
        // to replace this daemon.
        RouteAction::Status => {
            let _: NoParameters = parse_parameters(uri)?;
            let status = run_blocking(move || daemon.status()).await?;
            Ok(response::plain_response(route.command, &status))
        }
        RouteAction::Performance => {
            let _: NoParameters = parse_parameters(uri)?;
            let report = run_blocking(move || daemon.performance()).await?;
            Ok(response::plain_response(route.command, &report))
        }
        RouteAction::OpenApi => {
            let _: NoParameters = parse_parameters(uri)?;
            Ok(response::response_with_type(openapi::text().into(), "application/json"))
        }
        RouteAction::Stop => {
            let _: NoParameters = parse_parameters(uri)?;
            run_blocking(move || daemon.stop()).await?;
            Ok(response::plain_response(route.command, &Stopping { stopping: true }))
        }
        // Only the protocol is compared here, because every version of it sends the same events.
        RouteAction::Events => stream_events(shared, uri, headers).await,
        RouteAction::Query { read, .. } => {
            let call = call_options(route, uri, headers, body)?;
            let query = read(body).map_err(|error| bad_json(&error))?;
            check_sizes(&query)?;
            answer_query(shared, route, query, call, headers).await
        }
    }
}

/// Checks what a request for an answer says besides its question, and returns how to answer.
fn call_options(
    route: &Route,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<CallOptions, ApiErrorResponse> {
    let parameters: QueryParameters = parse_parameters(uri)?;
    // Compared before the body is read: another version may mean something else by the same keys.
    check_same_protocol(headers)?;
    check_same_version(headers)?;
    check_type(headers, body)?;
    // The service compares them with the settings as they are now, and not with those of the last answer.
    let settings =
        headers.get("slop-settings").map(|value| truncated(&String::from_utf8_lossy(value.as_bytes())));
    let call = CallOptions { require_fresh: parameters.require_fresh, settings, ..CallOptions::default() };
    if let Some(successor) = route.successor {
        call.job.note(format!("the path `{}` is deprecated: use `{successor}`", route.path));
    }
    for (old, new) in deprecated_keys(body) {
        call.job.note(format!("the key `{old}` is deprecated: use `{new}`"));
    }
    Ok(call)
}

async fn answer_query(
    shared: &Arc<ServerState>,
    route: &'static Route,
    query: AnyQuery,
    mut call: CallOptions,
    headers: &HeaderMap,
) -> Result<Response, ApiErrorResponse> {
    // Refused rather than queued: work of clients that are gone holds permits too, and a queue would outlive its
    // clients.
    let permit = acquire_permit(&shared.working, "limit of concurrent requests reached")?;
    let accepts = |kind: &str| header_text(headers, "accept").is_some_and(|accept| accept.contains(kind));
    let wants_document = accepts("text/markdown") && matches!(query, AnyQuery::Aggregate(_));
    // Lines of progress end in an envelope, which holds the document as JSON.
    call.only_text = wants_document && !accepts(LINES);
    let (daemon, job) = (Arc::clone(&shared.daemon), Arc::clone(&call.job));
    let thread = tokio::task::spawn_blocking(move || {
        // Held by the thread, for it may go on for a while after nobody waits for it.
        let _permit = permit;
        ask_encoded(&*daemon, query, &call)
    });
    let mut work = RunningQuery { command: route.command, job, thread };
    if accepts(LINES) {
        return Ok(work.stream_lines(shared.timeouts).await);
    }
    let answered = work.finished().await?;
    if !wants_document {
        return Ok(response::envelope_response(route.command, answered, "application/json"));
    }
    run_blocking(move || response::document_response(&answered)).await?
}

async fn stream_events(
    shared: &Arc<ServerState>,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Response, ApiErrorResponse> {
    let query: EventParameters = parse_parameters(uri)?;
    check_same_protocol(headers)?;
    let since = query.position(headers)?;
    let permit = acquire_permit(&shared.subscribers, "limit of event streams reached")?;
    let daemon = Arc::clone(&shared.daemon);
    let subscription = run_blocking(move || daemon.subscribe(since)).await?;
    let (timeouts, stopping) = (shared.timeouts, shared.stopping.subscribe());
    Ok(EventStream { subscription, query, timeouts, stopping, permit }.start())
}

/// Runs what may block or panic on a thread that serves no other client.
async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiErrorResponse> {
    tokio::task::spawn_blocking(work).await.map_err(|_| ApiErrorResponse::bug())
}

fn acquire_permit(permits: &Arc<Semaphore>, message: &str) -> Result<OwnedSemaphorePermit, ApiErrorResponse> {
    Arc::clone(permits).try_acquire_owned().map_err(|_| ApiErrorResponse::busy(message))
}

fn parse_parameters<Q: DeserializeOwned>(uri: &Uri) -> Result<Q, ApiErrorResponse> {
    let query = Query::try_from_uri(uri).map(|Query(query)| query);
    query.map_err(|error| {
        let message = format!("invalid query: {}", truncated(&error.body_text()));
        ApiErrorResponse::user(
            StatusCode::BAD_REQUEST,
            "bad_query",
            message,
            "GET /v1/openapi.json lists every parameter",
        )
    })
}

fn check_same_protocol(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    let message = format!("client speaks another protocol than {PROTOCOL}");
    check_same(headers, ("slop-protocol", &PROTOCOL.to_string()), "other_protocol", message)
}

fn check_same_version(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    let message = format!("client has another version than {VERSION}");
    check_same(headers, ("slop-version", VERSION), "other_version", message)
}

/// Refuses a client that sends another value of a header than ours; one that sends none is no program of slop.
fn check_same(
    headers: &HeaderMap,
    (name, ours): (&str, &str),
    code: &'static str,
    message: String,
) -> Result<(), ApiErrorResponse> {
    if headers.get(name).is_none_or(|value| value.as_bytes() == ours.as_bytes()) {
        return Ok(());
    }
    let hint = "restart the daemon with the program that you ask with: `slop daemon restart`";
    Err(ApiErrorResponse::user(StatusCode::CONFLICT, code, message, hint))
}

/// Requires that the body is declared as JSON.
fn check_type(headers: &HeaderMap, body: &Bytes) -> Result<(), ApiErrorResponse> {
    // A web page can submit a form to any address, but not as JSON: that needs a preflight, which is refused.
    let kind = header_text(headers, header::CONTENT_TYPE.as_str());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
        || (kind.is_none() && body.is_empty())
    {
        return Ok(());
    }
    let (message, hint) = ("body is not declared as JSON", "send `Content-Type: application/json`");
    Err(ApiErrorResponse::user(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message, hint))
}

fn bad_json(error: &serde_json::Error) -> ApiErrorResponse {
    let message = format!("invalid body: {}", truncated(&error.to_string()));
    ApiErrorResponse::user(
        StatusCode::BAD_REQUEST,
        "bad_json",
        message,
        "GET /v1/openapi.json describes every body",
    )
}

/// Rejects strings and lists above the limits that the OpenAPI document states.
fn check_sizes(query: &AnyQuery) -> Result<(), ApiErrorResponse> {
    let value = serde_json::to_value(query).expect("a question becomes the JSON that it was read from");
    // The parsed question is checked, and not the body: numbers and defaults are as they will be used.
    let mut rest = vec![&value];
    while let Some(value) = rest.pop() {
        match value {
            // `maxLength` in JSON Schema counts characters, and not bytes.
            Value::String(text) if TEXT_CHARACTERS < text.chars().count() => {
                return Err(too_long(&format!("text of more than {TEXT_CHARACTERS} characters")));
            }
            Value::Array(items) if LIST_ITEMS < items.len() => {
                return Err(too_long(&format!("list of more than {LIST_ITEMS} items")));
            }
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

fn too_long(what: &str) -> ApiErrorResponse {
    let hint = "name folders or patterns instead of many files";
    ApiErrorResponse::user(StatusCode::UNPROCESSABLE_ENTITY, "too_long", what, hint)
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Shortens a text that a client sent.
fn truncated(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}
