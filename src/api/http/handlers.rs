//! Handles admitted requests.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Query;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use schemars::{Schema, SchemaGenerator};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::{LIST_ITEMS, REQUEST_BYTES, TEXT_CHARACTERS, is_free_text};
use super::parameters::{PARAMETERS_HINT, SentQuestion, invalid_query, read_parameters};
use super::response::{ApiErrorResponse, ShapeError};
use super::routes::{ROUTES, Route, RouteAction, deprecated_keys};
use super::server::ServerState;
use super::stream::{EventParameters, EventStream, LINES, RunningQuery};
use super::{openapi, response};
use crate::api::body_schema::{BodySchema, without_internal_types};
use crate::api::choices::ReceiptScope;
use crate::api::daemon_control::Stopping;
use crate::api::fault::ApiError;
use crate::api::located_json::{LocatedError, PathSegment, path_text, read_json};
use crate::api::mcp::{self, EndpointLimits};
use crate::api::query::AnyQuery;
use crate::api::service::{CallOptions, PROTOCOL, VERSION, ask_encoded};

/// The most characters of a client's own text that an error repeats.
const QUOTED: usize = 300;

/// Adds the schema of a question's body to a document.
type SchemaOfBody = fn(&mut SchemaGenerator) -> Schema;

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
        let handler = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| async move {
            // A HEAD is answered as a GET, and its body dropped.
            let request = Request { is_get: method != Method::POST, uri, headers, body };
            let answer = answer(&shared, route, &request).await;
            // Set in one place, because most errors are created without knowing the route.
            answer.unwrap_or_else(|refusal| refusal.for_command(route.command).into_response())
        };
        let handlers = match (route.action.is_get(), route.action.is_post()) {
            (true, true) => get(handler.clone()).post(handler),
            (true, false) => get(handler),
            (false, _) => post(handler),
        };
        router = router.route(route.path, handlers);
    }
    let limits = EndpointLimits {
        working: Arc::clone(&shared.working),
        subscribers: Arc::clone(&shared.subscribers),
        stopping: shared.stopping.subscribe(),
        heartbeat: shared.timeouts.heartbeat,
        request_bytes: REQUEST_BYTES,
    };
    let mcp = mcp::endpoint(&shared.daemon, shared.agents.clone(), limits);
    router
        .route_service(mcp::MCP_PATH, mcp)
        .fallback(unknown_route)
        .method_not_allowed_fallback(unknown_method)
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

/// An admitted request.
struct Request {
    /// Whether the question is in query parameters, and must change nothing.
    is_get: bool,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

async fn answer(
    shared: &Arc<ServerState>,
    route: &'static Route,
    request: &Request,
) -> Result<Response, ApiErrorResponse> {
    let Request { uri, headers, .. } = request;
    let daemon = Arc::clone(&shared.daemon);
    match route.action {
        // Neither the status nor stopping compares versions: a client of another version must be able to detect and
        // replace this daemon.
        RouteAction::Status => {
            check_no_keys(request)?;
            let status = run_blocking(move || daemon.status()).await?;
            Ok(response::plain_response(route.command, &status))
        }
        RouteAction::Performance => {
            check_no_keys(request)?;
            let report = run_blocking(move || daemon.performance()).await?;
            Ok(response::plain_response(route.command, &report))
        }
        RouteAction::OpenApi => {
            let _: NoParameters = parse_parameters(uri)?;
            Ok(response::response_with_type(openapi::text().into(), "application/json"))
        }
        RouteAction::PageTicket => {
            check_client(request)?;
            let _: NoParameters = parse_parameters(uri)?;
            let page = Arc::clone(&shared.page);
            let ticket = run_blocking(move || page.issue_ticket()).await?;
            ticket
                .map(|ticket| response::plain_response(route.command, &ticket))
                .map_err(|error| page_failed(&error))
        }
        RouteAction::Stop => {
            let _: NoParameters = parse_parameters(uri)?;
            run_blocking(move || daemon.stop()).await?;
            Ok(response::plain_response(route.command, &Stopping { stopping: true }))
        }
        // Only the protocol is compared here, because every version with the same protocol sends the same events.
        RouteAction::Events => stream_events(shared, uri, headers).await,
        RouteAction::Query { read, body_schema, .. } => {
            check_client(request)?;
            let asked = read_request(request, body_schema)?;
            let call = call_options(route, request, &asked);
            let query = read(&asked.body);
            let query =
                query.map_err(|error| bad_question(request.is_get, &asked.body, body_schema, &error))?;
            check_sizes(&query)?;
            answer_query(shared, route, query, call, headers).await
        }
    }
}

fn page_failed(error: &io::Error) -> ApiErrorResponse {
    let message = format!("the page's port cannot be opened: {error}");
    let hint = "set `ui.listen` to another address of this machine, such as 127.0.0.1:0, and run `slop daemon restart`";
    ApiErrorResponse::from_api_error(ApiError::environment("page_failed", message, hint))
}

/// Checks the version headers of a client.
fn check_client(request: &Request) -> Result<(), ApiErrorResponse> {
    // Compared before the question is parsed, because keys may have a different meaning in another version.
    check_same_protocol(&request.headers)?;
    check_same_version(&request.headers)?;
    check_type(&request.headers, &request.body)
}

/// Checks that a question that has no keys has an empty body.
fn check_no_keys(request: &Request) -> Result<(), ApiErrorResponse> {
    let _: NoParameters = parse_parameters(&request.uri)?;
    if request.is_get || request.body.is_empty() {
        return Ok(());
    }
    check_type(&request.headers, &request.body)?;
    let read: Result<NoParameters, String> = read_json(&request.body);
    let refused = |error: String| {
        let message = format!("invalid body: {}", truncated(&error));
        let hint = "send an empty object, or no body";
        ApiErrorResponse::user(StatusCode::BAD_REQUEST, "bad_json", message, hint)
    };
    read.map(|_| ()).map_err(refused)
}

/// Returns the question of a request.
fn read_request(request: &Request, body_schema: SchemaOfBody) -> Result<SentQuestion<'_>, ApiErrorResponse> {
    if !request.is_get {
        let QueryParameters { require_fresh } = parse_parameters(&request.uri)?;
        return Ok(SentQuestion { body: Cow::Borrowed(&request.body), require_fresh });
    }
    if !request.body.is_empty() {
        let hint = "ask by query parameters, or send the body with POST";
        return Err(ApiErrorResponse::bad_query("body is sent with GET", hint));
    }
    read_parameters(&request.uri, &BodySchema::new(body_schema))
}

/// Returns the options for the answer.
fn call_options(route: &Route, request: &Request, asked: &SentQuestion<'_>) -> CallOptions {
    // The service compares them with the current settings, not with those of the last answer.
    let settings = request.headers.get("slop-settings");
    let settings = settings.map(|value| truncated(&String::from_utf8_lossy(value.as_bytes())));
    let call = CallOptions {
        require_fresh: asked.require_fresh,
        settings,
        is_read_only: request.is_get,
        ..CallOptions::default()
    };
    if let Some(successor) = route.successor {
        call.job.note(format!("the path `{}` is deprecated: use `{successor}`", route.path));
    }
    for (old, new) in deprecated_keys(&asked.body) {
        call.job.note(format!("the key `{old}` is deprecated: use `{new}`"));
    }
    call
}

async fn answer_query(
    shared: &Arc<ServerState>,
    route: &'static Route,
    mut query: AnyQuery,
    mut call: CallOptions,
    headers: &HeaderMap,
) -> Result<Response, ApiErrorResponse> {
    // Rejected instead of queued: work for disconnected clients also holds permits, and a queue would outlive its
    // clients.
    let permit = acquire_permit(&shared.working, "limit of concurrent requests reached")?;
    let accepts = |kind: &str| header_text(headers, "accept").is_some_and(|accept| accept.contains(kind));
    let wants_document = accepts("text/markdown") && matches!(query, AnyQuery::Aggregate(_));
    // Progress lines end with an envelope, which contains the document as JSON.
    call.only_text = wants_document && !accepts(LINES);
    if let AnyQuery::Aggregate(query) = &mut query
        && call.only_text
    {
        // Counting for a receipt that is not sent would waste time.
        query.receipt = ReceiptScope::None;
    }
    let (daemon, job) = (Arc::clone(&shared.daemon), Arc::clone(&call.job));
    let thread = tokio::task::spawn_blocking(move || {
        // Held by the thread, which may continue for a while after the client has disconnected.
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
    let (since, kinds) = (query.position(headers)?, query.kinds()?);
    let permit = acquire_permit(&shared.subscribers, "limit of event streams reached")?;
    let daemon = Arc::clone(&shared.daemon);
    let subscription = run_blocking(move || daemon.subscribe(since)).await?;
    let (timeouts, stopping) = (shared.timeouts, shared.stopping.subscribe());
    Ok(EventStream { subscription, query, kinds, timeouts, stopping, permit }.start())
}

/// Runs work that may block or panic on a thread that serves no other client.
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
    query.map_err(|error| invalid_query(&error.body_text()))
}

fn check_same_protocol(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    let message = format!("client speaks another protocol than {PROTOCOL}");
    check_same(headers, "slop-protocol", &PROTOCOL.to_string(), "other_protocol", message)
}

fn check_same_version(headers: &HeaderMap) -> Result<(), ApiErrorResponse> {
    let message = format!("client has another version than {VERSION}");
    check_same(headers, "slop-version", VERSION, "other_version", message)
}

/// Rejects a client that sends a different value of a header; one without the header is not slop itself.
fn check_same(
    headers: &HeaderMap,
    name: &str,
    ours: &str,
    code: &'static str,
    message: String,
) -> Result<(), ApiErrorResponse> {
    if headers.get(name).is_none_or(|value| value.as_bytes() == ours.as_bytes()) {
        return Ok(());
    }
    let hint = "restart the daemon with the same program as the client: `slop daemon restart`";
    Err(ApiErrorResponse::user(StatusCode::CONFLICT, code, message, hint))
}

/// Requires that the body is declared as JSON.
pub(super) fn check_type(headers: &HeaderMap, body: &[u8]) -> Result<(), ApiErrorResponse> {
    // A web page can submit a form to any address, but not as JSON, which needs a preflight that is rejected.
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

/// Returns the error for an invalid question, with the expected shape.
fn bad_question(
    is_get: bool,
    body: &[u8],
    body_schema: SchemaOfBody,
    LocatedError { path, error }: &LocatedError,
) -> ApiErrorResponse {
    let (code, what, document) = if is_get {
        ("bad_query", "query", PARAMETERS_HINT)
    } else {
        ("bad_json", "body", "GET /v1/openapi.json describes every body")
    };
    let place = path_text(path);
    let at = if place.is_empty() { String::new() } else { format!("`{}`: ", truncated(&place)) };
    let error_text = error.to_string();
    // Serde lists only the keys of one object, without those that may also be at the top level.
    let error_text =
        error_text.split_once(", expected one of `").map_or(&*error_text, |(unknown, _)| unknown);
    // The line refers to the equivalent body, and parameters have no lines.
    let error_text = match error_text.rsplit_once(" at line ") {
        Some((reason, _)) if is_get => reason,
        Some(_) | None => error_text,
    };
    let refused = |reason: &str, hint: String| {
        let message = format!("invalid {what}: {at}{}", truncated(reason));
        ApiErrorResponse::user(StatusCode::BAD_REQUEST, code, message, hint)
    };
    // Invalid JSON has no keys.
    let Some(sent) = serde_json::from_slice::<Value>(body).ok().filter(|_| error.is_data()) else {
        return refused(error_text, document.to_owned());
    };
    // For an unknown key, the expectation is the object without it.
    let schema = BodySchema::new(body_schema);
    let meant = schema.meant_key(path).map(|key| format!("did you mean `{key}`? ")).unwrap_or_default();
    let (path, wanted, example) = schema.expectation(path);
    let place = path_text(path);
    let subject = if place.is_empty() { what.to_owned() } else { format!("`{}`", truncated(&place)) };
    let hint = format!("{meant}{subject} is {wanted}, as in {example}; {document}");
    let rejected = path.iter().try_fold(&sent, |value, segment| match segment {
        PathSegment::Key(key) => value.get(key),
        PathSegment::Index(index) => value.get(*index),
    });
    // Values of clients are repeated only if they are short.
    let got = rejected.filter(|value| !place.is_empty() && value.to_string().len() <= QUOTED).cloned();
    let reason = without_internal_types(error_text, &wanted);
    let shape = ShapeError { path: truncated(&place), got: got.unwrap_or_default(), wanted, example };
    ApiErrorResponse { shape: Some(shape), ..refused(&reason, hint) }
}

/// Rejects strings and lists above the limits that the OpenAPI document states.
fn check_sizes(query: &AnyQuery) -> Result<(), ApiErrorResponse> {
    let value = serde_json::to_value(query).expect("a question can be serialized to JSON");
    // The parsed question is checked instead of the body, with numbers and defaults as they will be used.
    let mut rest = vec![(&value, false)];
    while let Some((value, is_free)) = rest.pop() {
        match value {
            // `maxLength` in JSON Schema counts characters, not bytes.
            Value::String(text) if !is_free && TEXT_CHARACTERS < text.chars().count() => {
                return Err(too_long(&format!("text of more than {TEXT_CHARACTERS} characters")));
            }
            Value::Array(items) if LIST_ITEMS < items.len() => {
                return Err(too_long(&format!("list of more than {LIST_ITEMS} items")));
            }
            Value::Array(items) => rest.extend(items.iter().map(|item| (item, is_free))),
            Value::Object(fields) => rest.extend(fields.iter().map(|(key, value)| {
                // A discussion that is a string is the path of a file.
                (value, is_free || is_free_text(key) || key == "history" && !value.is_string())
            })),
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

/// Shortens the text of a client.
fn truncated(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}
