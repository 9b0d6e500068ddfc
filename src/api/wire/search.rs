//! The hits of a search.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::explanation::ScoreParts;
use super::scalars::wire_path;
use crate::engine::{HitKind, SearchAnswer, SearchHit};

/// The files and symbols that match a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResult {
    /// The hits, the best first.
    pub hits: Vec<FoundHit>,
    /// Whether anything in the project matches.
    pub matched: bool,
}

/// A file or a symbol that matches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundHit {
    /// The file, relative to the project's folder.
    pub path: String,
    /// The bytes of the path in hex, if it is not UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_hex: Option<String>,
    /// `file`, the kind of the symbol as in outlines, or `lines` for lines outside of all symbols.
    pub kind: String,
    /// The name of the symbol; null for a file, and for lines outside of all symbols.
    #[serde(default)]
    pub name: Option<String>,
    /// The first line, counted from 1; null for a file.
    #[serde(default)]
    pub start_line: Option<u32>,
    /// The last line, inclusive; null for a file.
    #[serde(default)]
    pub end_line: Option<u32>,
    /// Its score by parts.
    pub score: ScoreParts,
}

impl From<SearchAnswer> for SearchResult {
    fn from(answer: SearchAnswer) -> Self {
        Self { hits: answer.hits.into_iter().map(Into::into).collect(), matched: answer.has_matches }
    }
}

impl From<SearchHit> for FoundHit {
    fn from(hit: SearchHit) -> Self {
        let (path, path_hex) = wire_path(&hit.path);
        let kind = match hit.kind {
            Some(HitKind::File) => "file",
            Some(HitKind::Symbol(kind)) => kind.name(),
            None => "lines",
        };
        Self {
            path,
            path_hex,
            kind: kind.to_owned(),
            name: Some(hit.name).filter(|name| !name.is_empty()),
            start_line: hit.lines.as_ref().map(|lines| *lines.start()),
            end_line: hit.lines.as_ref().map(|lines| *lines.end()),
            score: hit.score.into(),
        }
    }
}
