//! Reads JSON with errors that name the place of the wrong value.

use std::fmt;

use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::Segment;

/// A step from a value of JSON to one in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathSegment {
    Key(String),
    Index(usize),
}

/// Why JSON is not what was expected, and the place in it.
#[derive(Debug)]
pub(super) struct LocatedError {
    /// Empty if the error is about the whole, or about the syntax.
    pub(super) path: Vec<PathSegment>,
    pub(super) error: serde_json::Error,
}

impl LocatedError {
    /// Returns an error about the whole.
    pub(super) const fn of_whole(error: serde_json::Error) -> Self {
        Self { path: Vec::new(), error }
    }

    fn at_its_place(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let path = error.path().iter().filter_map(|segment| match segment {
            // The variant of an enum is the only key of an object in JSON.
            Segment::Map { key } | Segment::Enum { variant: key } => Some(PathSegment::Key(key.clone())),
            Segment::Seq { index } => Some(PathSegment::Index(*index)),
            Segment::Unknown => None,
        });
        Self { path: path.collect(), error: error.into_inner() }
    }
}

/// Prints the place before the error: `items[0].tier: no tier 5`.
impl fmt::Display for LocatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{}", path_text(&self.path), self.error)
    }
}

/// Reads JSON. The message of an error begins with the place of the wrong value, such as `items[0].tier`.
pub fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    parse_located(text).map_err(|error| error.to_string())
}

/// Reads JSON.
pub(super) fn parse_located<T: DeserializeOwned>(text: &[u8]) -> Result<T, LocatedError> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(LocatedError::at_its_place)?;
    deserializer.end().map_err(LocatedError::of_whole)?;
    Ok(value)
}

/// Converts a value as [`parse_located`] reads a text.
pub(super) fn convert_located<T: DeserializeOwned>(value: Value) -> Result<T, LocatedError> {
    serde_path_to_error::deserialize(value).map_err(LocatedError::at_its_place)
}

/// Returns a path as it is written in messages: `choice.focus[0]`.
pub(super) fn path_text(path: &[PathSegment]) -> String {
    let mut text = String::new();
    for segment in path {
        match segment {
            PathSegment::Key(key) if text.is_empty() => text.push_str(key),
            PathSegment::Key(key) => text.extend([".", key]),
            PathSegment::Index(index) => text.extend(["[", &index.to_string(), "]"]),
        }
    }
    text
}
