//! Optional limits in tokens: a number from 1, or `"none"`.

use std::fmt;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde::de::{Unexpected, Visitor};
use serde::{Deserializer, Serializer};

/// The value for no limit.
const NONE: &str = "none";

const NO_ROOM: &str = "0 tokens have room for nothing; \"none\" lifts the limit";

/// Parses a limit; 0 means no limit, and null the limit of the settings.
pub(in crate::api) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    deserializer.deserialize_any(LimitVisitor)
}

#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
pub(super) fn serialize<S: Serializer>(limit: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
    match limit {
        None => serializer.serialize_none(),
        Some(0) => serializer.serialize_str(NONE),
        Some(tokens) => serializer.serialize_u64(*tokens),
    }
}

pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [
        {"type": "integer", "format": "uint64", "minimum": 1},
        {"const": NONE},
        {"type": "null"},
    ]})
}

/// Parses a limit from text.
pub(in crate::api) fn parse(text: &str) -> Result<u64, String> {
    match text.parse::<u64>() {
        _ if text == NONE => Ok(0),
        Ok(0) => Err(NO_ROOM.to_owned()),
        Ok(tokens) => Ok(tokens),
        Err(_) => Err("expected a number of tokens from 1 up, or \"none\"".to_owned()),
    }
}

struct LimitVisitor;

impl<'de> Visitor<'de> for LimitVisitor {
    type Value = Option<u64>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer of at least 1, or \"none\"")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_u64<E: serde::de::Error>(self, tokens: u64) -> Result<Self::Value, E> {
        if tokens == 0 { Err(E::custom(NO_ROOM)) } else { Ok(Some(tokens)) }
    }

    fn visit_i64<E: serde::de::Error>(self, tokens: i64) -> Result<Self::Value, E> {
        match u64::try_from(tokens) {
            Ok(tokens) => self.visit_u64(tokens),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(tokens), &self)),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text == NONE { Ok(Some(0)) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::queries::ViewSelection;

    #[test]
    fn a_limit_is_a_positive_number_or_none() {
        let read = |value: Value| serde_json::from_value::<ViewSelection>(json!({"budget": value}));
        for (value, expected) in [(json!(null), None), (json!("none"), Some(0)), (json!(7), Some(7))] {
            let choice = read(value.clone()).unwrap();
            assert_eq!(choice.budget, expected, "{value}");
            assert_eq!(serde_json::to_value(choice).unwrap()["budget"], value);
        }
        for value in [json!(0), json!(-1), json!("7"), json!(true)] {
            let refused = read(value.clone()).unwrap_err().to_string();
            assert!(refused.contains("\"none\""), "{value}: {refused}");
        }
        assert_eq!((parse("none"), parse("7"), parse("0")), (Ok(0), Ok(7), Err(NO_ROOM.to_owned())));
    }
}
