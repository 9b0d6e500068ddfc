//! JSON, read by its parser into a tree that is no deeper than what is shown.

use std::fmt;

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::Error;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;

use super::Value;
use super::value::MAX_DEPTH;

/// Reads JSON without comments; `None` where it does not parse.
pub(super) fn read(text: &str) -> Option<Value> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = Node { depth: 0 }.deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    Some(value)
}

/// A value to be read, `depth` tables below the root.
#[derive(Clone, Copy)]
struct Node {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for Node {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Literal(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Literal(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Literal(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        // Debug keeps the point of `1.0`.
        Ok(Value::Literal(format!("{value:?}")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Text(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Literal("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut length = 0;
        let mut first = None;
        if self.depth == 0 {
            // One deeper: a list in a list in a list is not followed.
            first = items.next_element_seed(Self { depth: 1 })?.map(Box::new);
            length += usize::from(first.is_some());
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok(Value::Array { length, first })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut shown = Vec::new();
        let mut number = 0;
        while let Some(key) = entries.next_key::<String>()? {
            number += 1;
            if self.depth < MAX_DEPTH {
                shown.push((key, entries.next_value_seed(Self { depth: self.depth + 1 })?));
            } else {
                entries.next_value::<IgnoredAny>()?;
            }
        }
        Ok(if self.depth < MAX_DEPTH { Value::Table(shown) } else { Value::Keys(number) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_order_of_its_keys() {
        let Some(Value::Table(entries)) = read("{\"z\": 1, \"a\": -2, \"m\": \"x\"}") else {
            panic!("a table");
        };
        let keys: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["z", "a", "m"]);
    }

    #[test]
    fn what_does_not_parse_is_none() {
        assert_eq!(read("{} {}"), None);
        assert_eq!(read("{\"a\": }"), None);
        assert_eq!(read("1e999"), None);
    }
}
