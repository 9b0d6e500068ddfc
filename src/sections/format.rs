//! The formats of files outside of the listing (JSON, JSON Lines, TOML and images), and errors in reading them.

use crate::model::collapse_whitespace;
use serde_json::Value;

/// The syntax of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSyntax {
    Json,
    JsonLines,
    Toml,
}

impl DataSyntax {
    /// Returns the syntax of an extension; `None` if it has none of these.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// Parses a text in the given syntax, or in the first one in which it is valid.
///
/// The parsers reject deep nesting, so no text can exhaust the stack.
pub(super) fn parse(bytes: &[u8], syntax: Option<DataSyntax>) -> Result<Value, Error> {
    // Windows editors begin files with a byte order mark, which JSON parsers reject.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        Error::NotUtf8 { line: before.split(|byte| *byte == b'\n').count() }
    })?;
    match syntax {
        Some(DataSyntax::Json) => parse_json(text),
        Some(DataSyntax::JsonLines) => parse_json_lines(text),
        Some(DataSyntax::Toml) => parse_toml(text),
        // JSON comes first: a single value on one line would be valid JSON Lines as well.
        None => parse_json(text)
            .or_else(|_| parse_json_lines(text))
            .or_else(|_| parse_toml(text))
            .map_err(|_| Error::NoSyntax),
    }
}

fn parse_json(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(|error| syntax_error("JSON", &error))
}

fn parse_json_lines(text: &str) -> Result<Value, Error> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let values = lines.map(|(at, line)| {
        serde_json::from_str(line).map_err(|error: serde_json::Error| Error::Syntax {
            syntax: "JSONL",
            reason: format!("line {}: {}", at + 1, collapse_whitespace(&error.to_string())),
        })
    });
    values.collect::<Result<_, _>>().map(Value::Array)
}

fn parse_toml(text: &str) -> Result<Value, Error> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        Error::Syntax {
            syntax: "TOML",
            reason: format!("line {line}: {}", collapse_whitespace(error.message())),
        }
    })?;
    serde_json::to_value(table).map_err(|error| syntax_error("TOML", &error))
}

fn syntax_error(syntax: &'static str, error: &serde_json::Error) -> Error {
    Error::Syntax { syntax, reason: collapse_whitespace(&error.to_string()) }
}

/// Why a file with a discussion or issues cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("line {line} is not UTF-8")]
    NotUtf8 {
        /// The line with the first invalid byte, from 1.
        line: usize,
    },
    #[error("not valid {syntax}: {reason}")]
    Syntax {
        syntax: &'static str,
        /// The parser's message, on one line.
        reason: String,
    },
    #[error("not JSON, JSONL or TOML")]
    NoSyntax,
    /// There is no list of entries.
    #[error("no entries: expected {wanted}")]
    NoEntries {
        /// The places where one was searched for.
        wanted: &'static str,
    },
    /// An entry is invalid.
    #[error("entry {entry}: {reason}")]
    BadEntry {
        /// The number of the entry, from 1; a line in JSONL.
        entry: usize,
        reason: &'static str,
    },
    #[error("no take `{name}`, the takes are: {}", quoted_list(existing))]
    NoTake { name: String, existing: Vec<String> },
    #[error("several takes, and none is chosen: {}", quoted_list(existing))]
    ManyTakes { existing: Vec<String> },
}

fn quoted_list(names: &[String]) -> String {
    /// A longer list would not help.
    const MAX_LISTED: usize = 20;
    if names.is_empty() {
        return "none".to_owned();
    }
    let mut words: Vec<String> =
        names.iter().take(MAX_LISTED).map(|name| format!("`{}`", name.escape_debug())).collect();
    if MAX_LISTED < names.len() {
        words.push(format!("{} more", names.len() - MAX_LISTED));
    }
    words.join(", ")
}

/// Returns the media type of an image in a format that providers accept (except GIF, which Gemini rejects); `None` for
/// all else.
pub fn image_media_type(bytes: &[u8]) -> Option<&'static str> {
    // By signature, not by extension: a provider rejects an image whose bytes do not match the declared type, and an
    // extension may be wrong.
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::image_media_type;

    #[test]
    fn an_image_is_known_by_its_first_bytes() {
        assert_eq!(image_media_type(b"\x89PNG\r\n\x1a\n\0\0"), Some("image/png"));
        assert_eq!(image_media_type(b"\xff\xd8\xff\xe0\0\x10JFIF"), Some("image/jpeg"));
        assert_eq!(image_media_type(b"GIF89a\x01\0"), Some("image/gif"));
        assert_eq!(image_media_type(b"RIFF\x24\0\0\0WEBPVP8 "), Some("image/webp"));
        assert_eq!(image_media_type(b"RIFF\x24\0\0\0WAVEfmt "), None);
        assert_eq!(image_media_type(b"<svg xmlns=''/>"), None);
        assert_eq!(image_media_type(b"\x89PNG"), None);
        assert_eq!(image_media_type(b""), None);
    }
}
