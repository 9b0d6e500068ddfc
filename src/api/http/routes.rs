//! The table of routes, from which the router and the OpenAPI document are made.

use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use super::body::parse_body;
use crate::api::daemon_control::TICKET_PATH;
use crate::api::located_json::LocatedError;
use crate::api::queries::{
    AggregateQuery, AuditQuery, CacheClearQuery, CacheExportQuery, CacheGcQuery, CacheStatusQuery,
    CacheVerifyQuery, CallsQuery, CompareDocumentsQuery, CurationQuery, DEPRECATED_KEYS, EditCurationQuery,
    EditFragmentsQuery, EditTakesQuery, ExplainQuery, FilesQuery, FindQuery, FragmentsQuery, GivenQuery,
    HistoryQuery, HydrateQuery, ImageQuery, ImpactQuery, IndexQuery, JumpQuery, LinksQuery,
    OpenDocumentQuery, OutlineQuery, ReadDocumentQuery, RedoQuery, RefsQuery, SearchQuery, SimulateQuery,
    SymbolsQuery, TableQuery, TakesQuery, UndoQuery, ViewQuery,
};
use crate::api::query::{AnyQuery, WireQuery};

#[derive(Clone, Copy)]
pub(in crate::api) struct Route {
    pub(in crate::api) path: &'static str,
    /// The name of the command in answers.
    pub(in crate::api) command: &'static str,
    pub(in crate::api) summary: &'static str,
    pub(in crate::api) action: RouteAction,
    /// The path that has replaced this one.
    pub(in crate::api) successor: Option<&'static str>,
}

#[derive(Clone, Copy)]
pub(in crate::api) enum RouteAction {
    Status,
    Performance,
    OpenApi,
    Events,
    PageTicket,
    Stop,
    Query {
        read: fn(&[u8]) -> Result<AnyQuery, LocatedError>,
        /// Whether the question changes nothing, so that GET is allowed, too.
        reads: bool,
        body_schema: fn(&mut SchemaGenerator) -> Schema,
        answer_schema: fn(&mut SchemaGenerator) -> Schema,
    },
}

impl RouteAction {
    pub(in crate::api) const fn is_get(self) -> bool {
        match self {
            Self::Status | Self::Performance | Self::OpenApi | Self::Events => true,
            Self::Query { reads, .. } => reads,
            Self::PageTicket | Self::Stop => false,
        }
    }

    pub(in crate::api) const fn is_post(self) -> bool {
        match self {
            Self::OpenApi | Self::Events => false,
            Self::Status | Self::Performance | Self::PageTicket | Self::Stop | Self::Query { .. } => true,
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
            reads: Q::READS,
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
    Route::of_query::<LinksQuery>(),
    Route::of_query::<OutlineQuery>(),
    Route::of_query::<ViewQuery>(),
    Route::of_query::<ImageQuery>(),
    Route::of_query::<SymbolsQuery>(),
    Route::of_query::<SearchQuery>(),
    Route::of_query::<FindQuery>(),
    Route::of_query::<RefsQuery>(),
    Route::of_query::<CallsQuery>(),
    Route::of_query::<ImpactQuery>(),
    Route::of_query::<AggregateQuery>(),
    Route::of_query::<OpenDocumentQuery>(),
    Route::of_query::<ReadDocumentQuery>(),
    Route::of_query::<CompareDocumentsQuery>(),
    Route::of_query::<GivenQuery>(),
    Route::of_query::<HydrateQuery>(),
    Route::of_query::<SimulateQuery>(),
    Route::of_query::<FragmentsQuery>(),
    Route::of_query::<EditFragmentsQuery>(),
    Route::of_query::<ExplainQuery>(),
    Route::of_query::<TableQuery>(),
    Route::of_query::<CurationQuery>(),
    Route::of_query::<EditCurationQuery>(),
    Route::of_query::<HistoryQuery>(),
    Route::of_query::<UndoQuery>(),
    Route::of_query::<RedoQuery>(),
    Route::of_query::<JumpQuery>(),
    Route::of_query::<TakesQuery>(),
    Route::of_query::<EditTakesQuery>(),
    Route::of_query::<AuditQuery>(),
    Route::of_query::<CacheStatusQuery>(),
    Route::of_query::<CacheClearQuery>(),
    Route::of_query::<CacheVerifyQuery>(),
    Route::of_query::<CacheExportQuery>(),
    Route::of_query::<CacheGcQuery>(),
    Route {
        // Served for one more release, so that clients and daemon need not be updated at the same time.
        path: "/v1/cache/collect",
        command: "cache_collect",
        summary: "The same as `/v1/cache/gc`, under the path of earlier releases.",
        successor: Some(CacheGcQuery::PATH),
        ..Route::of_query::<CacheGcQuery>()
    },
    Route::of_daemon(
        TICKET_PATH,
        "ui_ticket",
        "Return an address that opens the web page once. Available on the Unix socket only.",
        RouteAction::PageTicket,
    ),
    Route::of_daemon(
        "/v1/stop",
        "stop",
        "Stop the daemon. Available to clients with any protocol and settings.",
        RouteAction::Stop,
    ),
];

fn read_query<Q: WireQuery>(body: &[u8]) -> Result<AnyQuery, LocatedError> {
    parse_body::<Q>(body).map(Q::into_any)
}

/// Returns the keys of a body that have been renamed, each with the new one.
pub(super) fn deprecated_keys(body: &[u8]) -> Vec<(&'static str, &'static str)> {
    // The body is parsed again, because serde's aliases do not reveal which name was used.
    let Ok(Value::Object(body)) = serde_json::from_slice(body) else { return Vec::new() };
    let has_key = |key: &str| {
        body.contains_key(key) || body.get("choice").is_some_and(|choice| choice.get(key).is_some())
    };
    DEPRECATED_KEYS.iter().copied().filter(|(old, _)| has_key(old)).collect()
}
