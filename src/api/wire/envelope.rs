//! What stands around an answer, so that a program knows what it got.

use serde::Serialize;
use serde_json::Value;
use serde_json::json;

use crate::api::service::FreshnessNote;

/// Version of the JSON that slop speaks.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct CommandEnvelope<'a, T: ?Sized> {
    schema_version: u32,
    command: &'a str,
    #[serde(flatten)]
    freshness: Option<&'a FreshnessNote>,
    data: &'a T,
}

/// Wraps data with what it can be relied on for, and returns it on one line, without a line's end.
pub fn envelope(
    command: &str,
    freshness: Option<&FreshnessNote>,
    data: &(impl Serialize + ?Sized),
) -> Vec<u8> {
    let envelope = CommandEnvelope { schema_version: SCHEMA_VERSION, command, freshness, data };
    serde_json::to_vec(&envelope).expect("answers have texts as keys, and so always become JSON")
}

/// Wraps why there is no answer, whoever found it out.
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
