//! Questions as query parameters: a GET is equivalent to a POST with the same keys.

use std::borrow::Cow;

use axum::extract::Query;
use axum::http::Uri;
use serde_json::{Map, Value};

use super::response::ApiErrorResponse;
use crate::api::body_schema::BodySchema;
use crate::api::located_json::PathSegment;

/// The hint for wrong parameters.
pub(super) const PARAMETERS_HINT: &str = "GET /v1/openapi.json lists every parameter";

/// A question as sent, in query parameters or in a body.
pub(super) struct SentQuestion<'r> {
    /// The body, or the equivalent of the parameters.
    pub(super) body: Cow<'r, [u8]>,
    pub(super) require_fresh: bool,
}

/// Parses the parameters of a GET. A list is a repeated parameter; keys of nested objects are written with a dot, as in
/// `choice.focus`.
pub(super) fn read_parameters(
    uri: &Uri,
    schema: &BodySchema,
) -> Result<SentQuestion<'static>, ApiErrorResponse> {
    let pairs = Query::<Vec<(String, String)>>::try_from_uri(uri);
    let Query(pairs) = pairs.map_err(|error| invalid_query(&error.body_text()))?;
    let (mut body, mut require_fresh) = (Map::new(), None);
    for (name, text) in pairs {
        if name == "require_fresh" {
            let value = text.parse().map_err(|_| invalid_query("`require_fresh` is true or false"))?;
            if require_fresh.replace(value).is_some() {
                return Err(given_twice(&name));
            }
            continue;
        }
        let keys: Vec<&str> = name.split('.').collect();
        let path: Vec<PathSegment> = keys.iter().map(|key| PathSegment::Key((*key).to_owned())).collect();
        let Some((value, is_item)) = schema.parameter_value(&path, &text) else {
            return Err(unknown_parameter(schema, &name, &path));
        };
        insert(&mut body, &keys, value, is_item).map_err(|()| given_twice(&name))?;
    }
    let require_fresh = require_fresh.unwrap_or(false);
    let body = Value::Object(body).to_string().into_bytes();
    Ok(SentQuestion { body: Cow::Owned(body), require_fresh })
}

/// Inserts a value at a path of keys, or appends it to the list there.
fn insert(body: &mut Map<String, Value>, keys: &[&str], value: Value, is_item: bool) -> Result<(), ()> {
    let Some((key, objects)) = keys.split_last() else { return Err(()) };
    let mut object = body;
    for outer in objects {
        let inner = object.entry(*outer).or_insert_with(|| Value::Object(Map::new()));
        object = inner.as_object_mut().ok_or(())?;
    }
    if is_item {
        let list = object.entry(*key).or_insert_with(|| Value::Array(Vec::new()));
        list.as_array_mut().ok_or(())?.push(value);
        return Ok(());
    }
    object.insert((*key).to_owned(), value).map_or(Ok(()), |_| Err(()))
}

fn given_twice(name: &str) -> ApiErrorResponse {
    invalid_query(&format!("parameter is given twice, or both as a whole and in parts: `{}`", short(name)))
}

fn unknown_parameter(schema: &BodySchema, name: &str, path: &[PathSegment]) -> ApiErrorResponse {
    let meant = schema.meant_key(path).map(|key| format!("did you mean `{key}`? ")).unwrap_or_default();
    let known: Vec<&str> = schema.parameters().map(|(key, _)| key.as_str()).collect();
    let known = if known.is_empty() { String::new() } else { format!("there are {}; ", known.join(", ")) };
    let message = format!("invalid query: no such parameter: `{}`", short(name));
    ApiErrorResponse::bad_query(message, format!("{meant}{known}{PARAMETERS_HINT}"))
}

/// Returns the error for an invalid query string.
pub(super) fn invalid_query(reason: &str) -> ApiErrorResponse {
    ApiErrorResponse::bad_query(format!("invalid query: {}", short(reason)), PARAMETERS_HINT)
}

/// Shortens a text that may contain a client's value.
fn short(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::queries::{AggregateQuery, ViewQuery};
    use crate::api::query::WireQuery;

    #[track_caller]
    fn check<Q: WireQuery>(query: &str, expected: &Value) {
        let uri: Uri = format!("/x?{query}").parse().unwrap();
        let asked = read_parameters(&uri, &BodySchema::new(Q::body_schema)).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&asked.body).unwrap(), *expected, "{query}");
    }

    #[test]
    fn parameters_are_equivalent_to_a_body() {
        check::<AggregateQuery>(
            "tier=3&budget=8000&files=src&files=a%20b.py&choice.focus=x.py:3&parts=true&receipt=all",
            &json!({
                "tier": 3, "budget": 8000, "files": ["src", "a b.py"], "choice": {"focus": ["x.py:3"]},
                "parts": true, "receipt": "all",
            }),
        );
        check::<AggregateQuery>("choice.task=12&name=7", &json!({"choice": {"task": "12"}, "name": "7"}));
        check::<ViewQuery>(
            "files=a.py&lines=10-12&lines=%7B%22start%22:1,%22end%22:2%7D&mask=%5B%7B%22symbol%22:%22f%22%7D%5D",
            &json!({
                "files": ["a.py"], "lines": ["10-12", {"start": 1, "end": 2}],
                "mask": [{"symbol": "f"}],
            }),
        );
        // Invalid values are rejected when the question is parsed.
        check::<AggregateQuery>("tier=three", &json!({"tier": "three"}));
    }

    #[test]
    fn an_unknown_parameter_is_rejected() {
        for query in ["tir=3", "choice=3", "choice.tir=1", "tier=1&tier=2", "require_fresh=maybe", "=", "."] {
            let uri: Uri = format!("/x?{query}").parse().unwrap();
            let refused = read_parameters(&uri, &BodySchema::new(AggregateQuery::body_schema));
            assert!(refused.is_err() || query == "choice=3", "{query}");
        }
    }
}
