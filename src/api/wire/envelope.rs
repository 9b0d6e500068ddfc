//! The envelope of an answer, and encoding and decoding of JSON.

use serde::Serialize;
use serde::de::{DeserializeOwned, Error};
use serde_json::{Value, json};

use super::freshness::FreshnessNote;
use super::path::MissingPath;

/// The deepest nesting of an answer: two levels for each level of symbols, of which an outline has no more than 121.
const MAX_NESTING: usize = 300;

/// Version of the JSON that slop speaks.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct CommandEnvelope<'a, T: ?Sized> {
    schema_version: u32,
    command: &'a str,
    #[serde(flatten)]
    freshness: Option<&'a FreshnessNote>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: &'a [MissingPath],
    data: &'a T,
}

/// Wraps data with what it can be relied on for, and returns it on one line, without a line's end.
pub fn envelope(
    command: &str,
    freshness: Option<&FreshnessNote>,
    missing: &[MissingPath],
    data: &(impl Serialize + ?Sized),
) -> Vec<u8> {
    let envelope = CommandEnvelope { schema_version: SCHEMA_VERSION, command, freshness, missing, data };
    serde_json::to_vec(&envelope).expect("answers have texts as keys, and so always become JSON")
}

/// Wraps an error.
pub fn envelope_of_error(command: &str, code: &str, message: &str, hint: &str) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "error": {"code": code, "message": message, "hint": hint},
    })
}

/// Returns a value as JSON for people and programs alike, with a line's end.
pub fn pretty(value: &(impl Serialize + ?Sized)) -> String {
    let text = serde_json::to_string_pretty(value);
    let mut text = text.expect("answers have texts as keys, and so always become JSON");
    text.push('\n');
    text
}

/// Returns a value, read from JSON.
pub(in crate::api) fn decode_json<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(data)
}

/// Reads what may be nested as deeply as an outline is, which is more than the 128 levels that the parser allows.
pub(in crate::api) fn decode_nested<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    if MAX_NESTING < nesting_depth(data) {
        return Err(serde_json::Error::custom("an answer that is nested deeper than outlines are"));
    }
    let mut reader = serde_json::Deserializer::from_slice(data);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Returns how deeply JSON is nested, without reading it.
fn nesting_depth(data: &[u8]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in data {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            b'[' | b'{' if !in_text => {
                level += 1;
                deepest = deepest.max(level);
            }
            b']' | b'}' if !in_text => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::FileOutline;

    #[test]
    fn nesting_is_counted_outside_of_strings() {
        assert_eq!(nesting_depth(b"1"), 0);
        assert_eq!(nesting_depth(br#"[{"a[{": "]\"[[", "b": [1]}, []]"#), 3);
        assert_eq!(nesting_depth(b"]]][["), 2);
    }

    #[test]
    fn an_answer_that_is_nested_without_end_is_refused() {
        let hostile = "[".repeat(1_000_000);
        let error = decode_nested::<Vec<FileOutline>>(hostile.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("nested deeper"), "{error}");
        assert!(decode_json::<Vec<FileOutline>>(hostile.as_bytes()).is_err());
    }
}
