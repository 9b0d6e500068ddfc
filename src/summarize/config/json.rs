//! JSON, parsed into a tree that is no deeper than what is shown.

use std::fmt;

use serde::de::DeserializeSeed;
use serde::de::Deserializer;
use serde::de::Error;
use serde::de::IgnoredAny;
use serde::de::MapAccess;
use serde::de::SeqAccess;
use serde::de::Visitor;

use super::ConfigValue;
use super::value::MAX_DEPTH;

/// Parses JSON without comments; returns `None` if that fails.
pub(super) fn read(text: &str) -> Option<ConfigValue> {
    let mut parser = serde_json::Deserializer::from_str(text);
    let value = JsonSeed { depth: 0 }.deserialize(&mut parser).ok()?;
    parser.end().ok()?;
    Some(value)
}

/// A value to be parsed, `depth` tables below the root.
#[derive(Clone, Copy)]
struct JsonSeed {
    depth: usize,
}

impl<'de> DeserializeSeed<'de> for JsonSeed {
    type Value = ConfigValue;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<ConfigValue, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for JsonSeed {
    type Value = ConfigValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<ConfigValue, E> {
        // `Debug` keeps the decimal point of `1.0`.
        Ok(ConfigValue::Literal(format!("{value:?}")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Text(value.to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<ConfigValue, E> {
        Ok(ConfigValue::Literal("null".to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<ConfigValue, A::Error> {
        let mut length = 0;
        let mut first = None;
        if self.depth == 0 {
            // One level deeper: lists in lists in lists are not followed.
            first = items.next_element_seed(Self { depth: 1 })?.map(Box::new);
            length += usize::from(first.is_some());
        }
        while items.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok(ConfigValue::Array { length, first })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<ConfigValue, A::Error> {
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
        Ok(if self.depth < MAX_DEPTH { ConfigValue::Table(shown) } else { ConfigValue::Keys(number) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_order_of_its_keys() {
        let Some(ConfigValue::Table(entries)) = read("{\"z\": 1, \"a\": -2, \"m\": \"x\"}") else {
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
