//! Values that are given by name or inline in the question.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// The name of a value in the settings, or an inline value. A plain path of a file counts as a name.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum NameOrInline<T> {
    /// A name.
    Name(String),
    /// An inline value.
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
    // Written by hand, because serde's `untagged` loses the error and its location.
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

/// A discussion: its file, or its messages.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(
    inline,
    title = "a string, a list of messages, or an object with `text`",
    extend("examples" = [[{"role": "user", "content": "text"}]])
)]
pub enum HistorySource {
    /// A file: JSON, JSONL or TOML.
    File(String),
    /// Messages: strings, or objects with `role` and `content`.
    Messages(#[schemars(with = "Vec<MessageSchema>")] Vec<Value>),
    /// One text.
    Text(HistoryText),
}

const MESSAGE: &str = "a string, or an object with `role` and `content`";

/// The schema of a message, which is open because providers have many kinds of messages.
struct MessageSchema;

impl JsonSchema for MessageSchema {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"title": MESSAGE, "examples": [{"role": "user", "content": "text"}]})
    }
}

/// A message that is checked while parsing, so that an error has its location. Its content is parsed with the document.
pub(in crate::api) struct CheckedMessage(pub(in crate::api) Value);

impl<'de> Deserialize<'de> for CheckedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let message = Value::deserialize(deserializer)?;
        let wrong = |what: &str| D::Error::custom(format!("{what}, expected {MESSAGE}"));
        let Value::Object(keys) = &message else {
            return if message.is_string() { Ok(Self(message)) } else { Err(wrong("it is not a message")) };
        };
        let is_known = |key: &String| MESSAGE_KEYS.contains(&key.as_str());
        if !keys.keys().any(is_known) {
            return Err(wrong("neither `role` nor `content`"));
        }
        let role = keys.get("role").unwrap_or(&Value::Null);
        if !role.is_null() && !role.is_string() {
            return Err(wrong("`role` is not a string"));
        }
        Ok(Self(message))
    }
}

/// The keys of which a message has at least one. `type` is used by OpenAI's Responses API, and the last two wrap a list
/// of messages.
const MESSAGE_KEYS: [&str; 7] = ["role", "content", "parts", "text", "type", "history", "messages"];

/// A discussion that is one text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HistoryText {
    /// The text.
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

    /// Returns the messages as a JSON list; `None` if they are in a file.
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
        Self::read(deserializer, "the path of a file, a list of messages, or an object with `text`")
    }
}

impl HistorySource {
    /// Parses a discussion; `expected` describes its forms if a string is not the path of a file.
    pub(in crate::api) fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        expected: &'static str,
    ) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HistoryVisitor(expected))
    }
}

struct HistoryVisitor(&'static str);

impl<'de> Visitor<'de> for HistoryVisitor {
    type Value = HistorySource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }

    fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<Self::Value, E> {
        Ok(HistorySource::File(path.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
        let messages = Vec::<CheckedMessage>::deserialize(SeqAccessDeserializer::new(list))?;
        Ok(HistorySource::Messages(messages.into_iter().map(|message| message.0).collect()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        Deserialize::deserialize(MapAccessDeserializer::new(map)).map(HistorySource::Text)
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
