//! Paths and amounts of money in JSON. A path that is not UTF-8 is also given as bytes in hex, so that nothing is lost.

use std::borrow::Cow;
use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::model::{Money, RelPath, path_text, printable};

/// A requested path that failed while others succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingPath {
    /// The path or pattern, as it was given.
    pub path: String,
    /// The stable name of the error.
    pub code: String,
    /// What is wrong with it.
    pub message: String,
}

/// Returns a path as text, and its bytes in hex if they are not UTF-8.
pub(in crate::api) fn wire_path(path: &RelPath) -> (String, Option<String>) {
    // Two names may be the same as lossy text; the bytes in hex distinguish them.
    let text = String::from_utf8_lossy(path.as_bytes()).into_owned();
    (text, path.as_str().is_none().then(|| path_hex(path)))
}

/// Returns the bytes of a path in hex.
pub(super) fn path_hex(path: &RelPath) -> String {
    path.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect()
}

/// Returns a time in ISO 8601, in UTC with milliseconds; `None` if it is out of range.
pub(in crate::api) fn iso_time_of_ns(ns: i64) -> Option<String> {
    let time = jiff::Timestamp::from_millisecond(ns.div_euclid(1_000_000)).ok()?;
    Some(format!("{time:.3}"))
}

/// Returns a time in ISO 8601, in UTC with seconds; `None` if it is out of range.
pub(in crate::api) fn iso_time_of_s(seconds: i64) -> Option<String> {
    jiff::Timestamp::from_second(seconds).ok().map(|time| time.to_string())
}

fn hex_digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

/// Returns a path of an answer for display: bytes that are not UTF-8 and control characters are escaped.
pub fn display_path(path: &str, hex: Option<&str>) -> String {
    let bytes = hex.and_then(parse_hex).and_then(|bytes| RelPath::new(&bytes).ok());
    bytes.map_or_else(|| printable(path), |path| path.to_string())
}

/// Returns a path of an answer as it has to be written in a request.
pub(in crate::api) fn spelled_path(path: &str, hex: Option<&str>) -> String {
    hex.and_then(parse_hex).map_or_else(|| path.to_owned(), |bytes| path_text(&bytes))
}

/// Returns a path as it is written in a URI.
pub(in crate::api) fn encode_uri_path(path: &[u8]) -> String {
    const UNESCAPED: &AsciiSet =
        &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~').remove(b'/');
    percent_encode(path, UNESCAPED).to_string()
}

fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = hex.chars().map(|c| u8::try_from(c.to_digit(16)?).ok()).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

/// An amount in US dollars: an exact decimal in a string, because JSON numbers are often parsed as binary floating
/// point. The names of such keys end with `_usd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Dollars(Money);

impl From<Money> for Dollars {
    fn from(money: Money) -> Self {
        Self(money)
    }
}

impl From<Dollars> for String {
    fn from(dollars: Dollars) -> Self {
        dollars.0.to_decimal()
    }
}

impl TryFrom<String> for Dollars {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Money::from_dollars(&text).map(Self).ok_or_else(|| format!("{text:?} is not an amount in dollars"))
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl JsonSchema for Dollars {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Dollars".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "pattern": "^[0-9]+(\\.[0-9]{1,9})?$"})
    }
}

#[cfg(test)]
mod path_tests {
    use super::*;

    #[test]
    fn a_path_is_displayed_the_same_on_both_ends_of_the_wire() {
        for name in [&b"src/a.py"[..], "\u{fc}\n\u{202e}".as_bytes(), b"\xff\xfe/x\x1b"] {
            let path = RelPath::new(name).unwrap();
            let (text, hex) = wire_path(&path);
            assert_eq!(hex.is_some(), std::str::from_utf8(name).is_err());
            assert_eq!(display_path(&text, hex.as_deref()), path.to_string());
        }
    }

    #[test]
    fn invalid_hex_is_ignored() {
        for hex in ["f", "zz", "", "2f2f"] {
            assert_eq!(display_path("a", Some(hex)), "a", "{hex}");
        }
    }
}

#[cfg(test)]
mod dollars_tests {
    use super::*;

    #[test]
    fn an_amount_is_an_exact_decimal_in_a_string() {
        let dollars = Dollars::from(Money::from_nanos(1_000_000_040));
        assert_eq!(serde_json::to_string(&dollars).unwrap(), r#""1.00000004""#);
        assert_eq!(serde_json::from_str::<Dollars>(r#""1.00000004""#).unwrap(), dollars);
        for wrong in ["0.5", r#""1e3""#, r#""""#, "null"] {
            assert!(serde_json::from_str::<Dollars>(wrong).is_err(), "{wrong}");
        }
    }
}
