//! Parses the body of a request as a question.

use serde_json::{Map, Number, Value};

use crate::api::body_schema::KEY_GROUPS;
use crate::api::located_json::{LocatedError, PathSegment, UniqueValue, convert_located, parse_located};
use crate::api::queries::{AttachmentOptions, ViewSelection};
use crate::api::query::WireQuery;

/// Returns the [`KEY_GROUPS`] that a question has.
pub(super) fn key_groups(command: &str) -> &'static [&'static str] {
    match command {
        "aggregate" | "document_open" => KEY_GROUPS,
        "explain" | "table" | "hydrate" | "simulate" => &["choice"],
        _ => &[],
    }
}

/// Parses a body; a missing one is an empty object.
pub(super) fn parse_body<Q: WireQuery>(body: &[u8]) -> Result<Q, LocatedError> {
    let body = if body.is_empty() { b"{}" } else { body };
    // Serde accepts a list instead of an object, and names internal types in its errors; the OpenAPI document promises
    // an object.
    if body.trim_ascii_start().first() != Some(&b'{') {
        let UniqueValue(value) = parse_located(body)?;
        let message = format!("invalid type: {}, expected an object", name_of_kind(&value));
        return Err(LocatedError::of_whole(serde::de::Error::custom(message)));
    }
    let error = match parse_located(body) {
        Ok(query) => return Ok(query),
        Err(error) => error,
    };
    // Only after a failure, because few clients write `3.0` for `3`, or keys of an object at the top level, for which
    // the body is parsed twice. Parsing from a value also avoids that a number in place of a name is reported as
    // invalid JSON.
    let UniqueValue(mut value) = parse_located(body)?;
    let nested = nest_keys(&mut value, key_groups(Q::COMMAND))?;
    let has_integers = make_integers(&mut value);
    let is_first_kept = nested.is_empty() && error.error.is_data();
    // Without either, a second attempt would fail in the same way.
    if is_first_kept && !has_integers {
        return Err(error);
    }
    convert_located(value).map_err(|second| if is_first_kept { error } else { as_written(second, &nested) })
}

fn name_of_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "sequence",
        Value::Object(_) => "object",
    }
}

/// Moves keys of groups from the top level to their objects. Returns them.
fn nest_keys(value: &mut Value, groups: &[&str]) -> Result<Vec<String>, LocatedError> {
    let mut nested = Vec::new();
    let Value::Object(fields) = value else { return Ok(nested) };
    for group in groups {
        for key in group_keys(group).keys() {
            let Some(moved) = fields.remove(key) else { continue };
            let inner = fields.entry(*group).or_insert_with(|| Map::new().into());
            let Value::Object(inner) = inner else { continue };
            if inner.insert(key.clone(), moved).is_some() {
                let message = format!("it is given both at the top level and in `{group}`");
                let path = vec![PathSegment::Key(key.clone())];
                return Err(LocatedError { path, error: serde::de::Error::custom(message) });
            }
            nested.push(key.clone());
        }
    }
    Ok(nested)
}

/// Returns the keys of one of the objects that [`key_groups`] names.
fn group_keys(group: &str) -> Map<String, Value> {
    let defaults = match group {
        "choice" => serde_json::to_value(ViewSelection::default()),
        _ => serde_json::to_value(AttachmentOptions::default()),
    };
    match defaults {
        Ok(Value::Object(keys)) => keys,
        _ => Map::new(),
    }
}

/// Returns an error with the location as the client wrote it, not where the key was moved to.
fn as_written(mut error: LocatedError, nested: &[String]) -> LocatedError {
    if let [PathSegment::Key(group), PathSegment::Key(key), ..] = error.path.as_slice()
        && KEY_GROUPS.contains(&group.as_str())
        && nested.contains(key)
    {
        error.path.remove(0);
    }
    error
}

/// Converts numbers such as `3.0`, which JSON Schema considers integers. Returns whether there were any.
fn make_integers(value: &mut Value) -> bool {
    let mut rest = vec![value];
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
    is_other
}

fn as_integer(number: &Number) -> Option<u64> {
    let float = number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0)?;
    // Through text, because a cast would saturate numbers beyond 64 bits; adding 0 turns -0 into 0.
    format!("{:.0}", float + 0.0).parse().ok()
}
