//! Parses JSON with errors that contain the location of the invalid value.

use std::fmt;

use serde::de::{DeserializeOwned, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

/// A segment of a path in a JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathSegment {
    Key(String),
    Index(usize),
}

/// An error with its location in JSON.
#[derive(Debug)]
pub(super) struct LocatedError {
    /// Empty if the error concerns the whole value or the syntax.
    pub(super) path: Vec<PathSegment>,
    pub(super) error: serde_json::Error,
}

impl LocatedError {
    /// Returns an error about the whole value.
    pub(super) const fn of_whole(error: serde_json::Error) -> Self {
        Self { path: Vec::new(), error }
    }

    /// Returns the error without its location. If the path is known, line and column are omitted.
    pub(super) fn reason(&self) -> String {
        let text = self.error.to_string();
        let has_place = self.error.is_data() && !self.path.is_empty();
        let reason = text.rsplit_once(" at line ").filter(|_| has_place).map(|(reason, _)| reason.to_owned());
        reason.unwrap_or(text)
    }

    fn at_its_place(error: serde_path_to_error::Error<serde_json::Error>) -> Self {
        let path = error.path().iter().filter_map(|segment| match segment {
            // In JSON, the variant of an enum is the only key of an object.
            Segment::Map { key } | Segment::Enum { variant: key } => Some(PathSegment::Key(key.clone())),
            Segment::Seq { index } => Some(PathSegment::Index(*index)),
            Segment::Unknown => None,
        });
        Self { path: path.collect(), error: error.into_inner() }
    }
}

/// Formats the location before the error: `items[0].tier: no tier 5`.
impl fmt::Display for LocatedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let separator = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{}{separator}{}", path_text(&self.path), self.reason())
    }
}

/// Parses JSON. The message of an error begins with the location of the invalid value, such as `items[0].tier`.
pub(super) fn read_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, String> {
    parse_located(text).map_err(|error| error.to_string())
}

/// Parses JSON.
pub(super) fn parse_located<T: DeserializeOwned>(text: &[u8]) -> Result<T, LocatedError> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(LocatedError::at_its_place)?;
    deserializer.end().map_err(LocatedError::of_whole)?;
    Ok(value)
}

/// Converts a value like [`parse_located`].
pub(super) fn convert_located<T: DeserializeOwned>(value: Value) -> Result<T, LocatedError> {
    serde_path_to_error::deserialize(value).map_err(LocatedError::at_its_place)
}

/// A value without duplicate keys. [`Value`] itself keeps the last of duplicates.
pub(super) struct UniqueValue(pub(super) Value);

impl<'de> Deserialize<'de> for UniqueValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(UniqueValue(item)) = list.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            if fields.contains_key(&key) {
                return Err(serde::de::Error::custom(format!("duplicate field `{key}`")));
            }
            let UniqueValue(value) = object.next_value()?;
            fields.insert(key, value);
        }
        Ok(fields.into())
    }
}

/// Formats a path for messages: `choice.focus[0]`.
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
