//! Values that are named, or written out in the question itself.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The name of what the settings hold, or the same written out. A file that is no more than its path counts as a name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum NameOrInline<T> {
    /// A name.
    Name(String),
    /// What the name would stand for.
    Inline(Box<T>),
}

impl<T> NameOrInline<T> {
    /// Returns the name, if it is one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Name(name) => Some(name),
            Self::Inline(_) => None,
        }
    }
}

impl<T> From<String> for NameOrInline<T> {
    fn from(name: String) -> Self {
        Self::Name(name)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOrInline<T> {
    // Written by hand, because of what is `untagged` serde keeps neither the error nor its place.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NameVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for NameVisitor<T> {
            type Value = NameOrInline<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an object")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
                Ok(NameOrInline::Name(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let inline = T::deserialize(MapAccessDeserializer::new(map))?;
                Ok(NameOrInline::Inline(Box::new(inline)))
            }
        }

        deserializer.deserialize_any(NameVisitor(PhantomData))
    }
}

/// A discussion: the file that holds it, or what was said.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum HistorySource {
    /// A file: JSON, JSONL or TOML.
    File(String),
    /// Messages: strings, or objects with `role` and `content`.
    Messages(Vec<Value>),
    /// One text.
    Text(HistoryText),
}

/// A discussion that is one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryText {
    /// What was said.
    pub text: String,
}

impl HistorySource {
    /// Returns the file, if the discussion is in one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::File(path) => Some(path),
            Self::Messages(_) | Self::Text(_) => None,
        }
    }

    /// Returns what was said, as a JSON list of messages; `None` if a file holds it.
    pub fn messages(&self) -> Option<Vec<u8>> {
        let messages = match self {
            Self::File(_) => return None,
            Self::Messages(messages) => serde_json::to_vec(messages),
            Self::Text(HistoryText { text }) => serde_json::to_vec(&[text]),
        };
        Some(messages.expect("values and texts always become JSON"))
    }
}

impl<'de> Deserialize<'de> for HistorySource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HistoryVisitor;

        impl<'de> Visitor<'de> for HistoryVisitor {
            type Value = HistorySource;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the path of a file, a list of messages, or an object with `text`")
            }

            fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<Self::Value, E> {
                Ok(HistorySource::File(path.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(SeqAccessDeserializer::new(list)).map(HistorySource::Messages)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                Deserialize::deserialize(MapAccessDeserializer::new(map)).map(HistorySource::Text)
            }
        }

        deserializer.deserialize_any(HistoryVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::located_json::convert_located;

    #[test]
    fn a_discussion_is_a_path_or_messages_or_a_text() {
        let read = |value: Value| convert_located::<HistorySource>(value).unwrap();
        assert_eq!(read(json!("talk.json")).file(), Some("talk.json"));
        assert_eq!(read(json!({"text": "So it was."})).messages().unwrap(), br#"["So it was."]"#);
        let messages = json!(["Hello.", {"role": "user", "content": "Fix it."}]);
        assert_eq!(read(messages.clone()).messages().unwrap(), messages.to_string().as_bytes());
        assert!(
            convert_located::<HistorySource>(json!(3))
                .unwrap_err()
                .to_string()
                .contains("a list of messages")
        );
    }
}
