//! From a request that was let in to its response.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::Query;
use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::Uri;
use axum::http::header;
use axum::response::IntoResponse;
use axum::response::Response;
use axum::routing::get;
use axum::routing::post;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::Semaphore;

use super::limits::LIST_ITEMS;
use super::limits::TEXT_CHARACTERS;
use super::progress::LINES;
use super::progress::Work;
use super::refusal::Refusal;
use super::reply;
use super::routes::ROUTES;
use super::routes::Route;
use super::routes::Task;
use super::server::Shared;
use super::stream::EventsQuery;
use super::stream::Telling;
use crate::api::ask::Ask;
use crate::api::keeper::Stopping;
use crate::api::openapi;
use crate::api::service::Call;
use crate::api::service::PROTOCOL;
use crate::api::service::VERSION;

/// Characters of what a client sent that are told back to it.
const QUOTED: usize = 300;

/// How an ask is to be answered.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AskQuery {
    require_fresh: bool,
}

/// No query at all.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct NoQuery {}

/// Returns the router of all routes.
pub(super) fn router(shared: &Arc<Shared>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let shared = Arc::clone(shared);
        let handler = move |uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let answer = answer(&shared, route, &uri, &headers, &body).await;
            answer.unwrap_or_else(|refusal| refusal.of(route.command).into_response())
        };
        let handler = if route.task.is_read() { get(handler) } else { post(handler) };
        router = router.route(route.path, handler);
    }
    router.fallback(no_route).method_not_allowed_fallback(no_method)
}

async fn no_route() -> Refusal {
    let hint = "GET /v1/openapi.json tells every path";
    Refusal::user(StatusCode::NOT_FOUND, "no_such_route", "answer at a path where nothing is", hint)
}

async fn no_method() -> Refusal {
    let (code, hint) = ("no_such_method", "GET /v1/openapi.json tells every path and its method");
    Refusal::user(
        StatusCode::METHOD_NOT_ALLOWED,
        code,
        "answer by a method that the path does not have",
        hint,
    )
}

async fn answer(
    shared: &Arc<Shared>,
    route: &'static Route,
    uri: &Uri,
    headers: &HeaderMap,
    body: &Bytes,
) -> Result<Response, Refusal> {
    let keeper = Arc::clone(&shared.keeper);
    match route.task {
        Task::Status => {
            let _: NoQuery = query(uri)?;
            let status = apart(move || keeper.status()).await?;
            Ok(reply::plain(route.command, &status))
        }
        Task::OpenApi => {
            let _: NoQuery = query(uri)?;
            Ok(reply::with_type(openapi::text().into(), "application/json"))
        }
        Task::Stop => {
            let _: NoQuery = query(uri)?;
            apart(move || keeper.stop()).await?;
            Ok(reply::plain(route.command, &Stopping { stopping: true }))
        }
        Task::Events => events(shared, uri, headers).await,
        Task::Ask { read, .. } => {
            let query: AskQuery = query(uri)?;
            check_same_protocol(headers)?;
            check_same_version(headers)?;
            check_type(headers, body)?;
            let ask = read(body).map_err(|error| bad_json(&error))?;
            check_sizes(&ask)?;
            // Whoever answers reads the settings anew, and compares: what the last answer was made by is of the past.
            let settings =
                headers.get("slop-settings").map(|value| quoted(&String::from_utf8_lossy(value.as_bytes())));
            let call = Call { require_fresh: query.require_fresh, settings, ..Call::default() };
            ask_of(shared, route, ask, call, headers).await
        }
    }
}

async fn ask_of(
    shared: &Arc<Shared>,
    route: &'static Route,
    ask: Ask,
    mut call: Call,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    let permit = permit(&shared.working, "as many are worked on as there may be")?;
    let accepts = |kind: &str| header_text(headers, "accept").is_some_and(|accept| accept.contains(kind));
    let wants_document = accepts("text/markdown") && matches!(ask, Ask::Aggregate(_));
    call.only_text = wants_document && !accepts(LINES);
    let (keeper, job) = (Arc::clone(&shared.keeper), Arc::clone(&call.job));
    let thread = tokio::task::spawn_blocking(move || {
        // Held by the thread, for it may go on for a while after nobody waits for it.
        let _permit = permit;
        keeper.ask(ask, &call)
    });
    let mut work = Work { command: route.command, job, thread };
    if accepts(LINES) {
        return Ok(work.in_lines(shared.patience).await);
    }
    let answered = work.done().await?;
    if !wants_document {
        return Ok(reply::answered(route.command, answered, "application/json"));
    }
    apart(move || reply::document(&answered)).await?
}

async fn events(shared: &Arc<Shared>, uri: &Uri, headers: &HeaderMap) -> Result<Response, Refusal> {
    let query: EventsQuery = query(uri)?;
    check_same_protocol(headers)?;
    let since = query.position(headers)?;
    let permit = permit(&shared.subscribers, "as many wait for events as may")?;
    let keeper = Arc::clone(&shared.keeper);
    let subscription = apart(move || keeper.subscribe(since)).await?;
    let (patience, stopping) = (shared.patience, shared.stopping.subscribe());
    Ok(Telling { subscription, query, patience, stopping, permit }.begin())
}

/// Does what may wait or panic away from the threads that serve everybody.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Refusal::bug())
}

fn permit(permits: &Arc<Semaphore>, why: &str) -> Result<OwnedSemaphorePermit, Refusal> {
    Arc::clone(permits).try_acquire_owned().map_err(|_| Refusal::busy(why))
}

fn query<Q: DeserializeOwned>(uri: &Uri) -> Result<Q, Refusal> {
    let query = Query::try_from_uri(uri).map(|Query(query)| query);
    query.map_err(|error| {
        let message = format!("read the query: {}", quoted(&error.body_text()));
        Refusal::user(
            StatusCode::BAD_REQUEST,
            "bad_query",
            message,
            "GET /v1/openapi.json tells every parameter",
        )
    })
}

fn check_same_protocol(headers: &HeaderMap) -> Result<(), Refusal> {
    let protocol = headers.get("slop-protocol");
    if protocol.is_none_or(|protocol| protocol.as_bytes() == PROTOCOL.to_string().as_bytes()) {
        return Ok(());
    }
    let message = format!("answer in another protocol than {PROTOCOL}");
    let hint = "restart the daemon with the program that you ask with: `slop daemon restart`";
    Err(Refusal::user(StatusCode::CONFLICT, "other_protocol", message, hint))
}

fn check_same_version(headers: &HeaderMap) -> Result<(), Refusal> {
    if headers.get("slop-version").is_none_or(|version| version.as_bytes() == VERSION.as_bytes()) {
        return Ok(());
    }
    let message = format!("answer as another version than {VERSION} would");
    let hint = "restart the daemon with the program that you ask with: `slop daemon restart`";
    Err(Refusal::user(StatusCode::CONFLICT, "other_version", message, hint))
}

/// Demands that a body is said to be JSON: what a form of a web page can send is not.
fn check_type(headers: &HeaderMap, body: &Bytes) -> Result<(), Refusal> {
    let kind = header_text(headers, header::CONTENT_TYPE.as_str());
    let kind = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim());
    if kind.is_some_and(|kind| kind.eq_ignore_ascii_case("application/json"))
        || (kind.is_none() && body.is_empty())
    {
        return Ok(());
    }
    let (message, hint) =
        ("read a body that is not said to be JSON", "send `Content-Type: application/json`");
    Err(Refusal::user(StatusCode::UNSUPPORTED_MEDIA_TYPE, "not_json", message, hint))
}

fn bad_json(error: &serde_json::Error) -> Refusal {
    let message = format!("read the body: {}", quoted(&error.to_string()));
    Refusal::user(StatusCode::BAD_REQUEST, "bad_json", message, "GET /v1/openapi.json describes every body")
}

/// Refuses texts and lists that are longer than anything that could be meant.
fn check_sizes(ask: &Ask) -> Result<(), Refusal> {
    let value = serde_json::to_value(ask).expect("an ask becomes the JSON that it was read from");
    let mut rest = vec![&value];
    while let Some(value) = rest.pop() {
        match value {
            Value::String(text) if TEXT_CHARACTERS < text.chars().count() => {
                return Err(too_long(&format!("a text of more than {TEXT_CHARACTERS} characters")));
            }
            Value::Array(items) if LIST_ITEMS < items.len() => {
                return Err(too_long(&format!("a list of more than {LIST_ITEMS} items")));
            }
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

fn too_long(what: &str) -> Refusal {
    let hint = "name folders or patterns instead of many files";
    Refusal::user(StatusCode::UNPROCESSABLE_ENTITY, "too_long", format!("take {what}"), hint)
}

fn header_text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Cuts what holds a client's own words.
fn quoted(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}
