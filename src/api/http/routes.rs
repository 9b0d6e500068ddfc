//! The table of routes, from which the router and the OpenAPI document are made.

use schemars::{Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use crate::api::queries::{
    AggregateQuery, AuditQuery, CacheClearQuery, CacheGcQuery, CacheStatusQuery, CacheVerifyQuery,
    CallsQuery, DEPRECATED_KEYS, ExplainQuery, FilesQuery, ImpactQuery, IndexQuery, OutlineQuery, RefsQuery,
    SearchQuery, SymbolsQuery, ViewQuery,
};
use crate::api::query::{AnyQuery, WireQuery};

#[derive(Clone, Copy)]
pub(in crate::api) struct Route {
    pub(in crate::api) path: &'static str,
    /// The name that answers give.
    pub(in crate::api) command: &'static str,
    pub(in crate::api) summary: &'static str,
    pub(in crate::api) action: RouteAction,
    /// The path that has taken this one's place.
    pub(in crate::api) successor: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(in crate::api) enum RouteAction {
    Status,
    Performance,
    OpenApi,
    Events,
    Stop,
    Query {
        read: fn(&[u8]) -> Result<AnyQuery, serde_json::Error>,
        body_schema: fn(&mut SchemaGenerator) -> Schema,
        answer_schema: fn(&mut SchemaGenerator) -> Schema,
    },
}

impl RouteAction {
    pub(in crate::api) const fn is_get(self) -> bool {
        match self {
            Self::Status | Self::Performance | Self::OpenApi | Self::Events => true,
            Self::Stop | Self::Query { .. } => false,
        }
    }
}

impl Route {
    const fn of_daemon(
        path: &'static str,
        command: &'static str,
        summary: &'static str,
        action: RouteAction,
    ) -> Self {
        Self { path, command, summary, action, successor: None }
    }

    const fn of_query<Q: WireQuery>() -> Self {
        let action = RouteAction::Query {
            read: read_query::<Q>,
            body_schema: Q::body_schema,
            answer_schema: Q::answer_schema,
        };
        Self { path: Q::PATH, command: Q::COMMAND, summary: Q::SUMMARY, action, successor: None }
    }
}

pub(in crate::api) const ROUTES: &[Route] = &[
    Route::of_daemon(
        "/v1/status",
        "status",
        "Show the daemon's status. Available to clients with any protocol and settings.",
        RouteAction::Status,
    ),
    Route::of_daemon(
        "/v1/performance",
        "performance",
        "Show how long the steps of answers have taken since the start of the daemon, and its status.",
        RouteAction::Performance,
    ),
    Route::of_daemon("/v1/openapi.json", "openapi", "This document.", RouteAction::OpenApi),
    Route::of_daemon("/v1/events", "events", "Stream changes as server-sent events.", RouteAction::Events),
    Route::of_query::<IndexQuery>(),
    Route::of_query::<FilesQuery>(),
    Route::of_query::<OutlineQuery>(),
    Route::of_query::<ViewQuery>(),
    Route::of_query::<SymbolsQuery>(),
    Route::of_query::<SearchQuery>(),
    Route::of_query::<RefsQuery>(),
    Route::of_query::<CallsQuery>(),
    Route::of_query::<ImpactQuery>(),
    Route::of_query::<AggregateQuery>(),
    Route::of_query::<ExplainQuery>(),
    Route::of_query::<AuditQuery>(),
    Route::of_query::<CacheStatusQuery>(),
    Route::of_query::<CacheClearQuery>(),
    Route::of_query::<CacheVerifyQuery>(),
    Route::of_query::<CacheGcQuery>(),
    Route {
        // Served for one more release, so that a client need not be updated in the same moment as the daemon.
        path: "/v1/cache/collect",
        command: "cache_collect",
        summary: "The same as `/v1/cache/gc`, under the path of earlier releases.",
        successor: Some(CacheGcQuery::PATH),
        ..Route::of_query::<CacheGcQuery>()
    },
    Route::of_daemon(
        "/v1/stop",
        "stop",
        "Stop the daemon. Available to clients with any protocol and settings.",
        RouteAction::Stop,
    ),
];

fn read_query<Q: WireQuery>(body: &[u8]) -> Result<AnyQuery, serde_json::Error> {
    parse_body::<Q>(body).map(Q::into_any)
}

/// Reads a body; a missing one is an empty object.
fn parse_body<A: DeserializeOwned>(body: &[u8]) -> Result<A, serde_json::Error> {
    let body = if body.is_empty() { b"{}" } else { body };
    // Serde takes a list for an object whose keys are counted; the document promises an object.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(serde::de::Error::custom("invalid type: sequence, expected an object"));
    }
    // Tried only after a failure: hardly any client writes `3.0` for `3`, and the body is read twice for it.
    serde_json::from_slice(body).or_else(|error| {
        let whole = with_integers(body).and_then(|value| serde_json::from_value(value).ok());
        whole.ok_or(error)
    })
}

/// Returns the keys of a body that have been renamed, each with the new one.
pub(super) fn deprecated_keys(body: &[u8]) -> Vec<(&'static str, &'static str)> {
    // The body is parsed once more, because serde's aliases do not reveal which of the names was used.
    let Ok(Value::Object(body)) = serde_json::from_slice(body) else { return Vec::new() };
    let has_key = |key: &str| {
        body.contains_key(key) || body.get("choice").is_some_and(|choice| choice.get(key).is_some())
    };
    DEPRECATED_KEYS.iter().copied().filter(|(old, _)| has_key(old)).collect()
}

/// Reads JSON in which numbers such as `3.0` become integers, which they are in JSON Schema; `None` if there are none.
fn with_integers(body: &[u8]) -> Option<Value> {
    let mut value = serde_json::from_slice(body).ok()?;
    let mut rest = vec![&mut value];
    let mut is_other = false;
    while let Some(value) = rest.pop() {
        match value {
            Value::Number(number) => {
                if let Some(whole) = as_integer(number) {
                    *number = whole.into();
                    is_other = true;
                }
            }
            Value::Array(items) => rest.extend(items),
            Value::Object(fields) => rest.extend(fields.values_mut()),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    is_other.then_some(value)
}

fn as_integer(number: &Number) -> Option<u64> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    // Through text, because a cast would turn a number beyond 64 bits into the largest one; adding 0 turns -0 into 0.
    format!("{:.0}", float + 0.0).parse().ok()
}
