//! The OpenAPI document, made from the table of routes and the schemas of questions and answers.
//!
//! `docs/openapi.json` is this document, as a test checks. The schemas include the size limits of the server.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::limits::{LIST_ITEMS, REQUEST_BYTES, TEXT_CHARACTERS, is_free_text};
use super::routes::{ROUTES, Route, RouteAction};
use crate::api::body_schema::{BodySchema, has_type, schema_settings, with_grouped_keys};
use crate::api::daemon_control::{DaemonStatus, PageTicket, PerformanceReport, Stopping};
use crate::api::feed::Change;
use crate::api::queries::{OutlineQuery, ViewQuery};
use crate::api::query::WireQuery;
use crate::api::service::PROTOCOL;
use crate::api::wire::{FreshnessNote, MissingPath, SCHEMA_VERSION};

const ABOUT: &str = "\
The API of slop's daemon, on the Unix socket in the project's cache folder and, if started with `slop watch --listen`, on a loopback \
port.

Every answer about the project's files reflects every write that had returned before the request, or states that it does \
not: see `freshness`. The project's settings supply the defaults of requests.

On the socket, file permissions control access. On a port, every request needs the daemon's token and a `Host` of this \
machine (421). Requests from web pages (`Origin`, `Sec-Fetch-Site`, `OPTIONS`) are refused on both (403).

Limits: bodies of 1 MiB (413) within 30 s (408); headers of 64 KiB within 5 s (the connection is closed); 64 busy \
connections (503).";

/// The error responses: status, name of the component, and when they are sent.
const REFUSALS: &[(&str, &str, &str)] = &[
    (
        "400",
        "BadRequest",
        "The query string or the body does not match this document: `bad_query`, `bad_json`, `bad_body`.",
    ),
    ("401", "Unauthorized", "A request to the port lacks the daemon's token: `unauthorized`."),
    ("403", "Forbidden", "The request comes from a web page, or seems to: `forbidden`."),
    ("404", "NotFound", "The requested item does not exist: `not_found`, `no_such_route`."),
    ("405", "MethodNotAllowed", "The path does not support this method: `no_such_method`."),
    ("406", "NotAcceptable", "The answer is not available in the accepted type: `not_acceptable`."),
    ("408", "RequestTimeout", "The body did not arrive in time: `too_slow`."),
    (
        "409",
        "Conflict",
        "The client has another protocol or other settings: `other_protocol`, `other_settings`.",
    ),
    ("410", "Gone", "The document or its text is no longer kept: `document_gone`."),
    ("413", "ContentTooLarge", "The body is too large: `too_large`."),
    ("415", "UnsupportedMediaType", "The body is not declared as JSON: `not_json`."),
    ("421", "MisdirectedRequest", "The `Host` of a request to the port is not this machine: `wrong_host`."),
    ("422", "Unprocessable", "The query was understood but cannot be answered; the code says why."),
    ("500", "Bug", "The daemon encountered an internal error and continues: `bug`."),
    ("503", "Unavailable", "The same request may succeed later: `busy`, or an error of the environment."),
];

/// Returns the document, indented.
pub(super) fn text() -> String {
    let mut text = serde_json::to_string_pretty(&document()).expect("a value always becomes JSON");
    text.push('\n');
    text
}

fn document() -> Value {
    let settings = schema_settings();
    // Two generators, because optional keys differ: those with a default in questions, those that are skipped when
    // empty in answers.
    let mut asks = settings.clone().for_deserialize().into_generator();
    let mut answers = settings.for_serialize().into_generator();
    let paths: Map<String, Value> = ROUTES
        .iter()
        .map(|route| {
            let mut methods = Map::new();
            if route.action.is_get() {
                methods.insert("get".to_owned(), get_operation(route, &mut answers));
            }
            if route.action.is_post() {
                methods.insert("post".to_owned(), operation(route, &mut asks, &mut answers));
            }
            (route.path.to_owned(), methods.into())
        })
        .collect();
    let mut asks = asks.take_definitions(true);
    // Only questions get limits, because only a client's JSON is rejected for its size.
    asks.values_mut().for_each(|schema| add_limits(schema, false));
    for question in ["AggregateAsk", "ExplainAsk", "HydrateAsk", "SimulateAsk", "TableAsk"] {
        let with_keys = asks.get(question).map(|schema| with_grouped_keys(schema, &asks));
        asks.extend(with_keys.map(|schema| (question.to_owned(), schema)));
    }
    // The definitions of questions replace those of the same name, so that shared types have the limits.
    let mut schemas = answers.take_definitions(true);
    schemas.append(&mut asks);
    schemas.insert("Error".to_owned(), error_schema());
    json!({
        "openapi": "3.1.0",
        "info": info(),
        "servers": [{"url": "http://localhost", "description": "The Unix socket, or a port with its number."}],
        // The empty alternative is the socket, which file permissions protect instead of a token.
        "security": [{}, {"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "headers": header_schemas(),
            "responses": error_responses(),
            "securitySchemes": {"token": token_scheme()},
        },
    })
}

fn token_scheme() -> Value {
    json!({
        "type": "http",
        "scheme": "bearer",
        "description": "The daemon's token. Required only on the port, not on the socket.",
    })
}

fn info() -> Value {
    json!({
        "title": "slop",
        "version": format!("{SCHEMA_VERSION}.{PROTOCOL}.0"),
        "description": ABOUT,
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    })
}

/// Returns the common part of a route's operations.
fn plain_operation(route: &Route, answers: &mut SchemaGenerator) -> Value {
    json!({
        "operationId": route.command,
        "summary": route.summary,
        "parameters": parameters(route),
        "responses": responses(route, answers),
    })
}

/// Returns the operation with query parameters.
fn get_operation(route: &Route, answers: &mut SchemaGenerator) -> Value {
    let mut operation = plain_operation(route, answers);
    if let RouteAction::Query { body_schema, .. } = route.action {
        // The name without a prefix belongs to the POST, which existed first.
        operation["operationId"] = format!("get_{}", route.command).into();
        let schema = BodySchema::new(body_schema);
        let keys = schema.parameters().map(|(name, schema)| {
            let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
            parameter("query", name, &parameter_schema(schema), description)
        });
        let keys: Vec<Value> = keys.collect();
        operation["parameters"].as_array_mut().into_iter().for_each(|all| all.extend(keys.iter().cloned()));
    }
    operation
}

/// Converts the schema of a key to that of a query parameter, which cannot be null.
fn parameter_schema(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(object) = schema.as_object_mut() {
        // A parameter has its description outside of its schema, and is omitted instead of having a default.
        object.retain(|key, _| !matches!(key.as_str(), "description" | "default"));
        for key in ["type", "anyOf"] {
            let Some(list) = object.get_mut(key).and_then(Value::as_array_mut) else { continue };
            list.retain(|kind| kind != "null" && kind.get("type").is_none_or(|kind| kind != "null"));
            if key == "type" && list.len() == 1 {
                let only = list.remove(0);
                object.insert(key.to_owned(), only);
            }
        }
    }
    add_limits(&mut schema, false);
    schema
}

fn operation(route: &Route, queries: &mut SchemaGenerator, answers: &mut SchemaGenerator) -> Value {
    let mut operation = plain_operation(route, answers);
    if let RouteAction::Query { body_schema, .. } = route.action {
        let schema = body_schema(queries);
        operation["requestBody"] = json!({
            "description": format!(
                "The query, in at most {REQUEST_BYTES} bytes. A missing body is the same as an empty object."
            ),
            "required": requires_something(queries, &schema),
            "content": {"application/json": {"schema": schema}},
        });
    }
    if route.action.is_get() && !matches!(route.action, RouteAction::Query { .. }) {
        // The name without a prefix belongs to the GET, which existed first.
        operation["operationId"] = format!("post_{}", route.command).into();
        operation["requestBody"] = json!({
            "description": "An empty object, which may be missing.",
            "required": false,
            "content": {"application/json": {"schema": {"type": "object", "additionalProperties": false}}},
        });
    }
    if route.successor.is_some() {
        operation["deprecated"] = true.into();
    }
    operation
}

/// Returns whether an empty object would be rejected.
fn requires_something(queries: &SchemaGenerator, schema: &Schema) -> bool {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
    let definition = name.and_then(|name| queries.definitions().get(name));
    definition.and_then(|definition| definition["required"].as_array()).is_some_and(|keys| !keys.is_empty())
}

fn parameters(route: &Route) -> Value {
    match route.action {
        RouteAction::Status | RouteAction::Performance | RouteAction::OpenApi | RouteAction::Stop => {
            json!([])
        }
        RouteAction::PageTicket => json!([protocol()]),
        RouteAction::Events => {
            let clock = json!({"type": "string", "pattern": "^\\+?[0-9]{1,19}:\\+?[0-9]{1,19}$"});
            let last = json!({"type": "string", "pattern": "^(\\+?[0-9]{1,19}:\\+?[0-9]{1,19})?$"});
            let number = json!({"type": "integer", "minimum": 0, "maximum": u64::MAX});
            let kind = "(changed|fresh_instance|lost_track)";
            let kinds = json!({"type": "string", "pattern": format!("^{kind}(,{kind})*$")});
            json!([
                parameter(
                    "query",
                    "since",
                    &clock,
                    "Send the events after this clock; by default, from now on."
                ),
                parameter(
                    "header",
                    "last-event-id",
                    &last,
                    "The same, as sent by libraries that resume a stream; takes precedence over `since`."
                ),
                parameter(
                    "query",
                    "kinds",
                    &kinds,
                    "Send only these kinds, separated by commas; `fresh_instance` and `lost_track` are always sent."
                ),
                parameter("query", "limit", &number, "End the stream after this many events."),
                parameter("query", "wait_ms", &number, "End the stream after this many milliseconds."),
                parameter(
                    "query",
                    "every_ms",
                    &number,
                    "Send at most one event in this many milliseconds, at least 100; changes in between are joined."
                ),
                protocol(),
            ])
        }
        RouteAction::Query { .. } => {
            let (switch, text) = (json!({"type": "boolean", "default": false}), json!({"type": "string"}));
            let fresh = "Fail if the answer cannot be guaranteed to be fresh.";
            let settings = "The fingerprint of the settings that the client expects; if the daemon's differ, the request is refused (409).";
            let version =
                "The client's version of slop; if the daemon's differs, the request is refused (409).";
            json!([
                parameter("query", "require_fresh", &switch, fresh),
                parameter("header", "slop-settings", &text, settings),
                parameter("header", "slop-version", &text, version),
                protocol(),
            ])
        }
    }
}

fn parameter(place: &str, name: &str, schema: &Value, description: &str) -> Value {
    json!({"in": place, "name": name, "required": false, "schema": schema, "description": description})
}

fn protocol() -> Value {
    let schema = json!({"type": "string", "const": PROTOCOL.to_string()});
    let description =
        "The protocol version of the client; if the daemon's differs, the request is refused (409).";
    parameter("header", "slop-protocol", &schema, description)
}

fn responses(route: &Route, answers: &mut SchemaGenerator) -> Value {
    let mut good = json!({
        "description": "The answer.",
        "headers": {
            "slop-protocol": {"$ref": "#/components/headers/slop-protocol"},
            "slop-settings": {"$ref": "#/components/headers/slop-settings"},
        },
        "content": response_content(route, answers),
    });
    if has_document(route) {
        for name in ["slop-freshness", "slop-clock", "slop-notes"] {
            good["headers"][name] = json!({"$ref": format!("#/components/headers/{name}")});
        }
    }
    let refused =
        REFUSALS.iter().filter(|(status, ..)| has_status(route, status)).map(|(status, name, _)| {
            ((*status).to_owned(), json!({"$ref": format!("#/components/responses/{name}")}))
        });
    // Only the errors that a route can have, because generated clients do not handle others.
    let mut responses: Map<String, Value> = refused.collect();
    responses.insert("200".to_owned(), good);
    responses.into()
}

/// Returns whether a route can return this error status.
fn has_status(route: &Route, status: &str) -> bool {
    match status {
        // These three concern a body or the project, which only questions have.
        "404" | "415" | "422" => matches!(route.action, RouteAction::Query { .. }),
        "409" => matches!(route.action, RouteAction::Query { .. } | RouteAction::Events),
        "406" => has_document(route),
        _ => true,
    }
}

fn has_document(route: &Route) -> bool {
    route.command == "aggregate"
}

fn response_content(route: &Route, answers: &mut SchemaGenerator) -> Value {
    let (data, note) = match route.action {
        RouteAction::Events => {
            return json!({"text/event-stream": {"schema": event_schema(&answers.subschema_for::<Change>())}});
        }
        RouteAction::OpenApi => return json!({"application/json": {"schema": {"type": "object"}}}),
        RouteAction::Status => (answers.subschema_for::<DaemonStatus>(), None),
        RouteAction::Performance => (answers.subschema_for::<PerformanceReport>(), None),
        RouteAction::PageTicket => (answers.subschema_for::<PageTicket>(), None),
        RouteAction::Stop => (answers.subschema_for::<Stopping>(), None),
        RouteAction::Query { answer_schema, .. } => {
            let data = answer_schema(answers);
            (data, Some(answers.subschema_for::<FreshnessNote>()))
        }
    };
    let can_take_long = note.is_some();
    let mut schema = envelope(route.command, data.as_value(), note);
    if can_miss_paths(route) {
        schema["allOf"][1]["properties"]["missing"] = json!({
            "type": "array",
            "items": answers.subschema_for::<MissingPath>(),
            "description": "The requested paths that are not in the answer; absent if there are none.",
        });
    }
    let mut content = json!({"application/json": {"schema": schema}});
    if can_take_long {
        content["application/x-ndjson"] = json!({"schema": {
            "type": "string",
            "description":
                "Lines of JSON: `{\"progress\":{\"done\":N,\"total\":M}}` during the work, at least one per second, and \
                 finally the envelope; for an error, it includes the `status`.",
        }});
    }
    if has_document(route) {
        content["text/markdown"] = json!({"schema": {"type": "string", "description": "Only the document."}});
    }
    content
}

/// Returns whether an answer may lack some of the requested paths.
fn can_miss_paths(route: &Route) -> bool {
    [OutlineQuery::PATH, ViewQuery::PATH].contains(&route.path)
}

fn event_schema(change: &Schema) -> Value {
    json!({
        "type": "object",
        "description": "The events of the stream, at most 10 a second: changes in between are joined. A comment is sent \
                        every 15 s to keep the connection alive.",
        "required": ["id", "event", "data"],
        "properties": {
            "id": {"type": "string", "description": "The clock after it."},
            "event": {
                "type": "string",
                "enum": ["changed", "fresh_instance", "lost_track"],
                "description":
                    "`changed`: exactly these files. `fresh_instance`: everything may have changed since the requested \
                     clock. `lost_track`: the daemon rescans everything.",
            },
            "data": {
                "type": "string",
                "contentMediaType": "application/json",
                "contentSchema": {
                    "type": "object",
                    "required": ["clock", "changes"],
                    "properties": {"clock": {"type": "string"}, "changes": {"type": "array", "items": change}},
                },
            },
        },
    })
}

fn envelope(command: &str, data: &Value, note: Option<Schema>) -> Value {
    let mut own = json!({
        "type": "object",
        "required": ["schema_version", "command", "data"],
        "properties": {
            "schema_version": {"type": "integer", "const": SCHEMA_VERSION},
            "command": {"type": "string", "const": command},
            "data": data,
        },
    });
    let Some(note) = note else { return own };
    own["required"] = json!(["schema_version", "command", "notes", "data"]);
    own["properties"]["notes"] = json!({
        "type": "array",
        "items": {"type": "string"},
        "description": "Messages for a person.",
    });
    json!({"allOf": [note, own]})
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "description": "The error.",
        "required": ["schema_version", "command", "error"],
        "properties": {
            "schema_version": {"type": "integer", "const": SCHEMA_VERSION},
            "command": {"type": "string", "description": "The query; `api` if it is unknown."},
            "error": {
                "type": "object",
                "required": ["code", "message", "hint"],
                "properties": {
                    "code": {"type": "string", "description": "A stable identifier for programs."},
                    "message": {"type": "string", "description": "The condition that caused the error."},
                    "hint": {"type": "string", "description": "A hint."},
                    "shape": shape_schema(),
                },
            },
        },
    })
}

fn shape_schema() -> Value {
    json!({
        "type": "object",
        "description": "The shape of the key that is wrong; absent if the error is another one.",
        "required": ["path", "got", "wanted", "example"],
        "properties": {
            "path": {"type": "string", "description": "The key, such as `choice.focus[0]`; empty for the query as a whole."},
            "got": {"description": "The value of the key; null if it is missing or long."},
            "wanted": {"type": "string", "description": "What the value should be, in words."},
            "example": {"description": "A part of a query that has such a value."},
        },
    })
}

fn error_responses() -> Value {
    let refusals = REFUSALS.iter().map(|(status, name, description)| {
        let mut response = json!({
            "description": description,
            "headers": {"slop-protocol": {"$ref": "#/components/headers/slop-protocol"}},
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}},
        });
        let more = match *status {
            "401" => Some(("www-authenticate", json!({"type": "string", "const": "Bearer"}))),
            "405" => Some(("allow", json!({"type": "string"}))),
            "503" => Some(("retry-after", json!({"type": "integer", "minimum": 0}))),
            _ => None,
        };
        if let Some((header, schema)) = more {
            response["headers"][header] = json!({"schema": schema});
        }
        ((*name).to_owned(), response)
    });
    refusals.collect::<Map<_, _>>().into()
}

fn header_schemas() -> Value {
    let header = |schema: Value, description: &str| json!({"schema": schema, "description": description});
    json!({
        "slop-protocol": header(json!({"type": "integer"}), "The protocol version of the daemon."),
        "slop-settings": header(json!({"type": "string"}), "The fingerprint of the daemon's settings."),
        "slop-version": header(json!({"type": "string"}), "The daemon's version of slop."),
        "slop-freshness": header(
            json!({"type": "string", "enum": ["fresh", "partial", "stale"]}),
            "The freshness of a document that is returned without an envelope.",
        ),
        "slop-clock": header(json!({"type": "string"}), "The `clock` of a document that is returned without an envelope."),
        "slop-notes": header(
            json!({"type": "string"}),
            "The `notes` of a document that is returned without an envelope: a JSON array of strings in ASCII, with those that \
             fit 4 KiB. Missing if there are none.",
        ),
    })
}

/// Adds the limits of texts, lists and numbers to a schema of questions, except where it has its own limits or is
/// prose.
fn add_limits(schema: &mut Value, is_free: bool) {
    // An optional value has a list of types, one of which is `null`.
    let (has_text, has_items) = (has_type(schema, "string"), has_type(schema, "array"));
    if let Some(object) = schema.as_object_mut() {
        // Enumerated values need no limit.
        let is_closed = object.contains_key("enum") || object.contains_key("const");
        let (is_text, is_list) = (has_text && !is_closed, has_items);
        let largest = match object.get("format").and_then(Value::as_str) {
            Some("uint32") => Some(u64::from(u32::MAX)),
            Some("uint64") => Some(u64::MAX),
            Some(_) | None => None,
        };
        if let Some(largest) = largest
            && !object.contains_key("maximum")
        {
            object.insert("maximum".to_owned(), largest.into());
        }
        if is_text && !is_free {
            object.insert("maxLength".to_owned(), TEXT_CHARACTERS.into());
        }
        if is_list {
            object.insert("maxItems".to_owned(), LIST_ITEMS.into());
        }
    }
    // Every value is visited, because schemas nest in keys of many names: `properties`, `items`, `anyOf`.
    match schema {
        Value::Object(object) => {
            object.iter_mut().for_each(|(key, inner)| add_limits(inner, is_free || is_free_text(key)));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| add_limits(item, is_free)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn the_committed_document_is_current() {
        expect_file!["../../../docs/openapi.json"].assert_eq(&text());
    }

    #[test]
    fn the_documentation_lists_the_routes_without_get() {
        let page = include_str!("../../../docs/api.md");
        let (_, after) = page.split_once("These are all except\n").unwrap();
        let (list, _) = after.split_once(". To send a list").unwrap();
        let mut named: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
        let mut refuse: Vec<&str> =
            ROUTES.iter().filter(|route| !route.action.is_get()).map(|route| route.path).collect();
        named.sort_unstable();
        refuse.sort_unstable();
        assert_eq!(named, refuse);
    }

    #[test]
    fn every_reference_can_be_resolved() {
        let document = document();
        let mut rest = vec![&document];
        let mut references = 0;
        while let Some(value) = rest.pop() {
            if let Some(path) = value.get("$ref").and_then(Value::as_str) {
                assert!(document.pointer(path.trim_start_matches('#')).is_some(), "{path}");
                references += 1;
            }
            match value {
                Value::Object(object) => rest.extend(object.values()),
                Value::Array(items) => rest.extend(items),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
            }
        }
        assert!(100 < references, "{references}");
    }

    #[test]
    fn size_limits_are_documented() {
        let document = document();
        let files = &document["components"]["schemas"]["OutlineAsk"]["properties"]["files"];
        assert_eq!((&files["maxItems"], &files["items"]["maxLength"]), (&json!(10_000), &json!(4096)));
        let tier = &document["components"]["schemas"]["ChoiceAsk"]["properties"]["tier"];
        assert_eq!((&tier["minimum"], &tier["maximum"]), (&json!(1), &json!(4)));
    }
}
