//! Paths in JSON: as text, and as bytes in hex where they are no UTF-8, so that nothing is lost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::{RelPath, path_text, printable};

/// A path that was asked for and cannot be answered for, while others can.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MissingPath {
    /// The path or pattern, as it was given.
    pub path: String,
    /// The stable name of the error.
    pub code: String,
    /// What is wrong with it.
    pub message: String,
}

/// Returns a path as text, and its bytes in hex where they are no UTF-8.
pub(in crate::api) fn wire_path(path: &RelPath) -> (String, Option<String>) {
    let text = String::from_utf8_lossy(path.as_bytes()).into_owned();
    let hex = || path.as_bytes().iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex_digit).collect();
    (text, path.as_str().is_none().then(hex))
}

fn hex_digit(nibble: u8) -> char {
    char::from_digit(u32::from(nibble), 16).unwrap_or('0')
}

/// Returns a path of an answer as a person is to see it: what is not UTF-8, and what a terminal would obey, escaped.
pub fn display_path(path: &str, hex: Option<&str>) -> String {
    let bytes = hex.and_then(parse_hex).and_then(|bytes| RelPath::new(&bytes).ok());
    bytes.map_or_else(|| printable(path), |path| path.to_string())
}

/// Returns a path of an answer as text by which the file can be asked for.
pub(in crate::api) fn spelled_path(path: &str, hex: Option<&str>) -> String {
    hex.and_then(parse_hex).map_or_else(|| path.to_owned(), |bytes| path_text(&bytes))
}

fn parse_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Vec<u8> = hex.chars().map(|c| c.to_digit(16)?.try_into().ok()).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_shown_alike_before_and_after_the_wire() {
        for name in [&b"src/a.py"[..], "\u{fc}\n\u{202e}".as_bytes(), b"\xff\xfe/x\x1b"] {
            let path = RelPath::new(name).unwrap();
            let (text, hex) = wire_path(&path);
            assert_eq!(hex.is_some(), std::str::from_utf8(name).is_err());
            assert_eq!(display_path(&text, hex.as_deref()), path.to_string());
        }
    }

    #[test]
    fn hex_that_is_none_leaves_the_text() {
        for hex in ["f", "zz", "", "2f2f"] {
            assert_eq!(display_path("a", Some(hex)), "a", "{hex}");
        }
    }
}
