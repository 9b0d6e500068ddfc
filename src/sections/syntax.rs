//! JSON, lines of JSON and TOML become one kind of value.

use serde_json::Value;

use super::error::Error;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataSyntax {
    /// One value of JSON.
    Json,
    /// A value of JSON on each line.
    JsonLines,
    /// TOML.
    Toml,
}

impl DataSyntax {
    /// Returns the syntax that an extension stands for; `None` where it says nothing.
    pub fn from_extension(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::JsonLines),
            "toml" => Some(Self::Toml),
            _ => None,
        }
    }
}

/// Reads a text as the syntax that is given, or as the first that it keeps.
///
/// The parsers themselves refuse what is nested too deeply, so no text can exhaust the stack.
pub(super) fn parse(bytes: &[u8], syntax: Option<DataSyntax>) -> Result<Value, Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        Error::NotUtf8 { line: before.split(|byte| *byte == b'\n').count() }
    })?;
    match syntax {
        Some(DataSyntax::Json) => parse_json(text),
        Some(DataSyntax::JsonLines) => parse_json_lines(text),
        Some(DataSyntax::Toml) => parse_toml(text),
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
            why: format!("line {}: {}", at + 1, one_line(&error)),
        })
    });
    values.collect::<Result<_, _>>().map(Value::Array)
}

fn parse_toml(text: &str) -> Result<Value, Error> {
    let table: toml::Table = toml::from_str(text).map_err(|error| {
        let line = error.span().map_or(1, |span| text[..span.start].lines().count().max(1));
        Error::Syntax { syntax: "TOML", why: format!("line {line}: {}", one_line(&error.message())) }
    })?;
    serde_json::to_value(table).map_err(|error| syntax_error("TOML", &error))
}

fn syntax_error(syntax: &'static str, error: &serde_json::Error) -> Error {
    Error::Syntax { syntax, why: one_line(error) }
}

fn one_line(error: &impl std::fmt::Display) -> String {
    error.to_string().split_whitespace().collect::<Vec<_>>().join(" ")
}
