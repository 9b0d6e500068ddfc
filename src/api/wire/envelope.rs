//! The envelope of an answer, which states its guarantees, and the encoding and decoding of JSON.

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::scalars::MissingPath;
use crate::api::fault::ApiError;

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
    // Absent rather than empty, so that most answers are the same as before the key existed.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    missing: &'a [MissingPath],
    data: &'a T,
}

/// Wraps data in an envelope with its guarantees, and returns it on one line, without a newline.
pub fn envelope(
    command: &str,
    freshness: Option<&FreshnessNote>,
    missing: &[MissingPath],
    data: &(impl Serialize + ?Sized),
) -> Vec<u8> {
    let envelope = CommandEnvelope { schema_version: SCHEMA_VERSION, command, freshness, missing, data };
    serde_json::to_vec(&envelope).expect("the keys of answers are strings")
}

pub fn envelope_of_error(command: &str, code: &str, message: &str, hint: &str) -> Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "command": command,
        "error": {"code": code, "message": message, "hint": hint},
    })
}

/// Returns a value as indented JSON, with a newline at the end.
pub fn pretty(value: &(impl Serialize + ?Sized)) -> String {
    let text = serde_json::to_string_pretty(value);
    let mut text = text.expect("the keys of answers are strings");
    text.push('\n');
    text
}

pub(in crate::api) fn decode_json<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(data)
}

/// Decodes an answer that may be nested as deeply as an outline, which is deeper than the 128 levels that the parser
/// allows.
pub(in crate::api) fn decode_nested<T: DeserializeOwned>(data: &[u8]) -> Result<T, serde_json::Error> {
    // Counted in the bytes first: without its own limit, the parser would recurse as deeply as its input is nested, and
    // overflow the stack.
    if MAX_NESTING < nesting_depth(data) {
        return Err(serde_json::Error::custom("the answer is nested more deeply than any outline"));
    }
    let mut reader = serde_json::Deserializer::from_slice(data);
    reader.disable_recursion_limit();
    let value = T::deserialize(&mut reader)?;
    reader.end()?;
    Ok(value)
}

/// Returns how deeply JSON is nested, without parsing it.
fn nesting_depth(data: &[u8]) -> usize {
    let (mut level, mut deepest) = (0_usize, 0);
    let (mut in_text, mut is_escaped) = (false, false);
    for byte in data {
        match byte {
            _ if is_escaped => is_escaped = false,
            // Brackets within strings do not nest, and an escaped quote does not end one.
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

/// What an answer guarantees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FreshnessNote {
    /// Whether the answer reflects every write that returned before the query.
    pub freshness: FreshnessState,
    /// Why the answer is not fresh, or may not be.
    pub reason: Option<String>,
    /// The daemon's clock at the time of the answer: `epoch:sequence`. Absent without a daemon.
    pub clock: Option<String>,
    /// The time of the answer in milliseconds since the Unix epoch.
    pub as_of_ms: i64,
    /// The number of files that have changed and are not yet indexed. None of them is in the answer.
    pub pending: u64,
}

impl FreshnessNote {
    /// Returns the guarantees of an answer for which all files were checked at that time, in milliseconds since the
    /// epoch.
    pub const fn at(as_of_ms: i64) -> Self {
        Self { freshness: FreshnessState::Fresh, reason: None, clock: None, as_of_ms, pending: 0 }
    }

    /// Adds the number of files that could not be read because they kept changing.
    #[must_use]
    pub fn with_unsettled(self, files: u64) -> Self {
        if files == 0 {
            return self;
        }
        let reason = Some(format!("files that kept changing while they were read: {files}"));
        Self { freshness: FreshnessState::Partial, reason, ..self }
    }

    /// Adds whether only files reported by file events were checked.
    #[must_use]
    pub fn with_trusted_events(self, trusted_events: bool) -> Self {
        if !trusted_events {
            return self;
        }
        let reason = Some("only files reported by file events were checked".to_owned());
        Self { freshness: FreshnessState::Stale, reason, ..self }
    }

    /// Fails if the answer has to be fresh and is not, or may not be.
    pub fn require_fresh(&self, require_fresh: bool) -> Result<(), ApiError> {
        // `Partial` is refused as well: the answer lacks files, even if all others are current.
        let is_fresh = self.freshness == FreshnessState::Fresh;
        if is_fresh || !require_fresh {
            return Ok(());
        }
        Err(ApiError::not_fresh(self.reason.as_deref().unwrap_or("its freshness is unknown")))
    }
}

/// Whether an answer reflects every write that returned before the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FreshnessState {
    /// Every write that returned before the query is included.
    Fresh,
    /// Fresh except for files that kept changing while they were read; `reason` states how many.
    Partial,
    /// It may be out of date.
    Stale,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::FileOutline;

    #[test]
    fn brackets_in_strings_do_not_count_as_nesting() {
        assert_eq!(nesting_depth(b"1"), 0);
        assert_eq!(nesting_depth(br#"[{"a[{": "]\"[[", "b": [1]}, []]"#), 3);
        assert_eq!(nesting_depth(b"]]][["), 2);
    }

    #[test]
    fn an_answer_that_is_nested_too_deeply_is_refused() {
        let hostile = "[".repeat(1_000_000);
        let error = decode_nested::<Vec<FileOutline>>(hostile.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("nested more deeply"), "{error}");
        assert!(decode_json::<Vec<FileOutline>>(hostile.as_bytes()).is_err());
    }
}
