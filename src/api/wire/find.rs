//! Files and symbols found by their names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::wire_path;
use crate::engine::{FindAnswer, FindHit};

/// The files and symbols whose names contain the characters of a query, in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundNames {
    /// The hits, the best first.
    pub hits: Vec<FoundName>,
    /// Whether there are more.
    pub more: bool,
}

/// A file or a symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundName {
    /// `file` or `symbol`.
    pub of: String,
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// The name of the symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The kind of the symbol, as in outlines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The first line of the symbol, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_line: Option<u32>,
    /// How well it matches; comparable only within one answer.
    pub score: u32,
    /// The characters that match in the symbol's name, or in the path of a file: for each run, the position of its
    /// first character and the position after its last.
    pub ranges: Vec<(usize, usize)>,
}

impl From<FindAnswer> for FoundNames {
    fn from(answer: FindAnswer) -> Self {
        Self { hits: answer.hits.into_iter().map(Into::into).collect(), more: answer.has_more }
    }
}

impl From<FindHit> for FoundName {
    fn from(hit: FindHit) -> Self {
        let (path, path_hex) = wire_path(&hit.path);
        let of = if hit.symbol.is_some() { "symbol" } else { "file" };
        let (mut name, mut kind, mut start_line) = (None, None, None);
        if let Some((symbol, of_kind, line)) = hit.symbol {
            (name, kind, start_line) = (Some(symbol), Some(of_kind.name().to_owned()), Some(line));
        }
        Self {
            of: of.to_owned(),
            path,
            path_hex,
            name,
            kind,
            start_line,
            score: hit.score,
            ranges: hit.ranges,
        }
    }
}
