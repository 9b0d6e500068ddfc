//! What can be asked, as a table: the router is made of it, and so is the OpenAPI document.

use schemars::JsonSchema;
use schemars::Schema;
use schemars::SchemaGenerator;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Number;
use serde_json::Value;

use crate::api::ask::AggregateAsk;
use crate::api::ask::AnyQuery;
use crate::api::ask::CacheClearAsk;
use crate::api::ask::CacheCollectAsk;
use crate::api::ask::ExplainAsk;
use crate::api::ask::IndexAsk;
use crate::api::ask::OutlineAsk;
use crate::api::ask::SymbolsAsk;
use crate::api::ask::ViewAsk;

/// One thing that can be asked.
pub(in crate::api) struct Route {
    /// The path below the server's address.
    pub(in crate::api) path: &'static str,
    /// What answers say of themselves.
    pub(in crate::api) command: &'static str,
    /// What it is for, in one sentence.
    pub(in crate::api) summary: &'static str,
    /// What is done.
    pub(in crate::api) task: RouteAction,
}

/// What is done at a route.
#[derive(Clone, Copy)]
pub(in crate::api) enum RouteAction {
    /// Tell how the daemon fares.
    Status,
    /// Tell what can be asked.
    OpenApi,
    /// Tell what changes.
    Events,
    /// Stop.
    Stop,
    /// Answer an ask.
    Ask {
        /// Reads the request's body.
        read: fn(&[u8]) -> Result<AnyQuery, serde_json::Error>,
        /// Describes the request's body.
        schema: fn(&mut SchemaGenerator) -> Schema,
    },
}

impl RouteAction {
    /// Says whether the task is asked for by GET, and otherwise by POST.
    pub(in crate::api) const fn is_get(self) -> bool {
        match self {
            Self::Status | Self::OpenApi | Self::Events => true,
            Self::Stop | Self::Ask { .. } => false,
        }
    }
}

/// Nothing more is to be said.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NothingAsk {}

/// An ask that is read as one type and described by the same.
macro_rules! ask {
    ($body:ty, $wrap:expr) => {
        RouteAction::Ask {
            read: |body| parse_body::<$body>(body).map($wrap),
            schema: |generator| generator.subschema_for::<$body>(),
        }
    };
}
/// Everything that can be asked.
pub(in crate::api) const ROUTES: &[Route] = &[
    Route {
        path: "/v1/status",
        command: "status",
        summary: "How the daemon fares. Answered to every protocol and all settings.",
        task: RouteAction::Status,
    },
    Route {
        path: "/v1/openapi.json",
        command: "openapi",
        summary: "This document.",
        task: RouteAction::OpenApi,
    },
    Route {
        path: "/v1/events",
        command: "events",
        summary: "What changes, as server-sent events.",
        task: RouteAction::Events,
    },
    Route {
        path: "/v1/index",
        command: "index",
        summary: "Bring the cache up to date.",
        task: ask!(IndexAsk, AnyQuery::Index),
    },
    Route {
        path: "/v1/files",
        command: "files",
        summary: "The state of every file of the project.",
        task: ask!(NothingAsk, |_| AnyQuery::Files),
    },
    Route {
        path: "/v1/outline",
        command: "outline",
        summary: "The symbols of files.",
        task: ask!(OutlineAsk, AnyQuery::Outline),
    },
    Route {
        path: "/v1/view",
        command: "view",
        summary: "Views of files.",
        task: ask!(ViewAsk, AnyQuery::View),
    },
    Route {
        path: "/v1/symbols",
        command: "symbols",
        summary: "Where a name is defined.",
        task: ask!(SymbolsAsk, AnyQuery::Symbols),
    },
    Route {
        path: "/v1/aggregate",
        command: "aggregate",
        summary: "One document made for one agent. With `Accept: text/markdown` the document alone.",
        task: ask!(AggregateAsk, |ask| AnyQuery::Aggregate(Box::new(ask))),
    },
    Route {
        path: "/v1/explain",
        command: "explain",
        summary: "Why files get the views that they get.",
        task: ask!(ExplainAsk, |ask| AnyQuery::Explain(Box::new(ask))),
    },
    Route {
        path: "/v1/audit",
        command: "audit",
        summary: "Compare the index with the files themselves.",
        task: ask!(NothingAsk, |_| AnyQuery::Audit),
    },
    Route {
        path: "/v1/cache/status",
        command: "cache_status",
        summary: "How much is cached.",
        task: ask!(NothingAsk, |_| AnyQuery::CacheStatus),
    },
    Route {
        path: "/v1/cache/clear",
        command: "cache_clear",
        summary: "Delete what is cached.",
        task: ask!(CacheClearAsk, AnyQuery::CacheClear),
    },
    Route {
        path: "/v1/cache/verify",
        command: "cache_verify",
        summary: "Check every byte that is cached.",
        task: ask!(NothingAsk, |_| AnyQuery::CacheVerify),
    },
    Route {
        path: "/v1/cache/collect",
        command: "cache_collect",
        summary: "Delete what no file has held for long.",
        task: ask!(CacheCollectAsk, AnyQuery::CacheCollect),
    },
    Route {
        path: "/v1/stop",
        command: "stop",
        summary: "Stop the daemon. Answered to every protocol and all settings.",
        task: RouteAction::Stop,
    },
];

/// Returns the path of the route that an ask is asked at.
pub(in crate::api) const fn path_of(ask: &AnyQuery) -> &'static str {
    match ask {
        AnyQuery::Index(_) => "/v1/index",
        AnyQuery::Files => "/v1/files",
        AnyQuery::Outline(_) => "/v1/outline",
        AnyQuery::View(_) => "/v1/view",
        AnyQuery::Symbols(_) => "/v1/symbols",
        AnyQuery::Aggregate(_) => "/v1/aggregate",
        AnyQuery::Explain(_) => "/v1/explain",
        AnyQuery::CacheStatus => "/v1/cache/status",
        AnyQuery::CacheClear(_) => "/v1/cache/clear",
        AnyQuery::CacheVerify => "/v1/cache/verify",
        AnyQuery::CacheCollect(_) => "/v1/cache/collect",
        AnyQuery::Audit => "/v1/audit",
    }
}

/// Reads a body; no body at all is an object in which nothing is said.
fn parse_body<A: DeserializeOwned>(body: &[u8]) -> Result<A, serde_json::Error> {
    let body = if body.is_empty() { b"{}" } else { body };
    // Serde takes a list for an object whose keys are counted; the document promises an object.
    if body.trim_ascii_start().first() == Some(&b'[') {
        return Err(serde::de::Error::custom("invalid type: sequence, expected an object"));
    }
    serde_json::from_slice(body).or_else(|error| {
        let whole = with_integers(body).and_then(|value| serde_json::from_value(value).ok());
        whole.ok_or(error)
    })
}

/// Reads JSON with `3.0` as the integer that it is by JSON Schema, and so by the document. Nothing where there is none.
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
    // Written and read, so that none becomes another on the way; and what is added makes 0 of -0.
    format!("{:.0}", float + 0.0).parse().ok()
}
