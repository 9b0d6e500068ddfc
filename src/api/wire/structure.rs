//! The structure of files: outlines, and the symbols that match a query.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::wire_path;
use crate::engine::{OutlineAnswer, OutlineLine, SymbolAnswer, file_type_by_id};
use crate::model::{ParseFallback, ParseHealth, Symbol, SymbolKind};
use crate::render::format_grouped;

/// The symbols of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FileOutline {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The file's type, such as `python`.
    pub language: String,
    /// SHA-256 of the content.
    pub sha256: String,
    /// The number of lines.
    pub lines: u32,
    /// The share of the file that the grammar understood, from 0 to 1.
    pub health: f64,
    /// Why the structure is not from a complete parse.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<String>,
    /// The top-level symbols, in source order.
    pub symbols: Vec<SymbolNode>,
}

/// A symbol with its nested symbols.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SymbolNode {
    /// The kind, such as `class` or `function`.
    pub kind: String,
    /// Its unqualified name.
    pub name: String,
    /// Its qualified name: `Engine.run`, `ns::Engine::run`.
    pub qualified_name: String,
    /// Its first line, counted from 1.
    pub start_line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// Its declaration on one line.
    pub signature: String,
    /// The first paragraph of its documentation, on one line.
    pub doc: Option<String>,
    /// Whether the parser missed it and the scanner recovered it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
    /// The nested symbols.
    pub children: Vec<SymbolNode>,
}

/// A symbol that matches the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundSymbol {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// SHA-256 of the file's content.
    pub sha256: String,
    /// The kind, such as `class` or `function`.
    pub kind: String,
    /// Its unqualified name.
    pub name: String,
    /// Its qualified name: `Engine.run`, `ns::Engine::run`.
    pub qualified_name: String,
    /// Its first line, counted from 1.
    pub start_line: u32,
    /// Its last line, inclusive.
    pub end_line: u32,
    /// Its declaration on one line.
    pub signature: String,
    /// The first paragraph of its documentation, on one line.
    pub doc: Option<String>,
    /// Whether the parser missed it and the scanner recovered it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
    /// The nested symbols.
    pub children: Vec<SymbolNode>,
    /// Its text, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<String>,
}

impl FileOutline {
    /// Returns the symbols, one per line, as in the view `outline`.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for symbol in &self.symbols {
            symbol.write(0, &mut text);
        }
        if text.is_empty() { self.without_symbols() } else { text }
    }

    /// Returns the line shown instead of symbols if there are none: a file that was not parsed may well have some.
    pub fn without_symbols(&self) -> String {
        match self.fallback.as_deref().and_then(ParseFallback::from_name) {
            Some(fallback) => format!("(no outline: {})\n", fallback.description()),
            None => "(no symbols)\n".to_owned(),
        }
    }

    /// Returns `1 line`, `1,767 lines`: how long the file is.
    pub fn length(&self) -> String {
        if self.lines == 1 {
            "1 line".to_owned()
        } else {
            format!("{} lines", format_grouped(self.lines.into()))
        }
    }

    /// Returns whether the parser understood the whole file.
    pub const fn is_perfect(&self) -> bool {
        1.0 <= self.health && self.fallback.is_none()
    }

    /// Returns the health as a percentage, rounded down.
    #[expect(clippy::cast_possible_truncation, reason = "it is a share of a million")]
    #[expect(clippy::cast_sign_loss, reason = "negative values become 0")]
    pub fn health_percent(&self) -> String {
        // The share was rounded down to millionths when it was made; rounding here only undoes the error of the
        // float.
        let thousandths = (self.health * 1_000_000.0).round() as u32 / 1_000;
        format!("{}.{} %", thousandths / 10, thousandths % 10)
    }
}

impl SymbolNode {
    fn write(&self, depth: usize, text: &mut String) {
        let line = OutlineLine {
            title: kind_title(&self.kind),
            name: &self.name,
            lines: (self.start_line, self.end_line),
            recovered: self.recovered,
        };
        line.write(depth, text);
        for child in &self.children {
            child.write(depth + 1, text);
        }
    }
}

impl FoundSymbol {
    /// Returns the name of the kind for display.
    pub fn kind_title(&self) -> &str {
        kind_title(&self.kind)
    }
}

fn kind_title(kind: &str) -> &str {
    SymbolKind::from_name(kind).map_or(kind, |kind| kind.title())
}

/// Returns the usual spelling of a file type, such as `Python` for `python`.
pub fn language_name(id: &str) -> &str {
    file_type_by_id(id).map_or(id, |file_type| file_type.name)
}

impl From<OutlineAnswer> for FileOutline {
    fn from(answer: OutlineAnswer) -> Self {
        let (path, path_hex) = wire_path(&answer.path);
        let health = answer.outline.health;
        Self {
            path,
            path_hex,
            language: answer.file_type.id.to_owned(),
            sha256: answer.hash.to_string(),
            lines: answer.lines,
            health: rounded_share(health),
            fallback: health.fallback.map(|fallback| ParseFallback::name(fallback).to_owned()),
            symbols: answer.outline.symbols.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Symbol> for SymbolNode {
    fn from(symbol: Symbol) -> Self {
        Self {
            kind: symbol.kind.name().to_owned(),
            name: symbol.name,
            qualified_name: symbol.qualified_name,
            start_line: symbol.span.start_line,
            end_line: symbol.span.end_line,
            signature: symbol.signature,
            doc: symbol.doc,
            recovered: symbol.recovered,
            children: symbol.children.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<SymbolAnswer> for FoundSymbol {
    fn from(answer: SymbolAnswer) -> Self {
        let (path, path_hex) = wire_path(&answer.path);
        let node = SymbolNode::from(answer.symbol);
        Self {
            path,
            path_hex,
            sha256: answer.hash.to_string(),
            kind: node.kind,
            name: node.name,
            qualified_name: node.qualified_name,
            start_line: node.start_line,
            end_line: node.end_line,
            signature: node.signature,
            doc: node.doc,
            recovered: node.recovered,
            children: node.children,
            definition: answer.definition,
        }
    }
}

/// Rounds down to six digits, which show one broken byte in a megabyte, so that 1 means that nothing is broken.
fn rounded_share(health: ParseHealth) -> f64 {
    (health.share() * 1_000_000.0).floor() / 1_000_000.0
}

#[cfg(test)]
mod tests {
    use super::FileOutline;

    #[track_caller]
    fn check(lines: u32, fallback: Option<&str>, length: &str, text: &str) {
        let outline = FileOutline {
            path: "a.py".to_owned(),
            path_hex: None,
            language: "python".to_owned(),
            sha256: String::new(),
            lines,
            health: 0.0,
            fallback: fallback.map(str::to_owned),
            symbols: Vec::new(),
        };
        assert_eq!((outline.length().as_str(), outline.text().as_str()), (length, text));
    }

    #[test]
    fn an_unparsed_file_is_not_reported_as_having_no_symbols() {
        check(1, None, "1 line", "(no symbols)\n");
        check(1_767, Some("too_deep"), "1,767 lines", "(no outline: it is nested too deeply to be parsed)\n");
    }
}
