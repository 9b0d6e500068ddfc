//! One version of a file for comparison: its symbols with their lines, and its text if that is known.

use super::symbol_lines::{OwnHashes, SymbolLines, outline_lines};
use crate::model::{Outline, Symbol, collapse_whitespace};

/// The maximum length of a signature or a name, in bytes.
pub(super) const MAX_HEAD_BYTES: usize = 160;

/// One version of a file.
pub struct FileVersion<'a> {
    pub(super) heads: Vec<SymbolHead>,
    pub(super) lines: Vec<SymbolLines>,
    pub(super) hashes: OwnHashes,
    pub(super) imports: Vec<String>,
    pub(super) text: Option<&'a str>,
}

/// What a delta shows of a symbol.
pub(super) struct SymbolHead {
    pub(super) name: String,
    pub(super) signature: String,
    pub(super) parent: Option<usize>,
}

impl<'a> FileVersion<'a> {
    /// Returns a version whose text is known.
    pub fn from_text(outline: Option<&Outline>, text: &'a str) -> Self {
        let lines = outline.map(outline_lines).unwrap_or_default();
        let hashes = OwnHashes::of_text(&lines, text);
        let heads = outline.map(|outline| heads(outline, &|symbol| symbol.signature.clone()));
        let imports = outline.map(|outline| outline.imports.clone()).unwrap_or_default();
        Self { heads: heads.unwrap_or_default(), lines, hashes, imports, text: Some(text) }
    }

    /// Returns a version of which only the structure is known; `None` if the hashes do not match the outline.
    pub fn from_structure(
        outline: &Outline,
        hashes: OwnHashes,
        signature: &dyn Fn(&Symbol) -> String,
    ) -> Option<Self> {
        let lines = outline_lines(outline);
        let imports = outline.imports.clone();
        let heads = heads(outline, signature);
        (lines.len() == hashes.symbols.len()).then_some(Self { heads, lines, hashes, imports, text: None })
    }

    pub(super) fn name(&self, at: usize) -> String {
        clip(&self.lines[at].qualified_name)
    }

    pub(super) fn line_count(&self, at: usize) -> u32 {
        (self.lines[at].last_line + 1).saturating_sub(self.lines[at].first_line)
    }
}

fn heads(outline: &Outline, signature: &dyn Fn(&Symbol) -> String) -> Vec<SymbolHead> {
    let mut heads = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    outline.walk(|symbol, depth| {
        open.truncate(depth);
        let parent = open.last().copied();
        open.push(heads.len());
        heads.push(SymbolHead { name: symbol.name.clone(), signature: signature(symbol), parent });
    });
    heads
}

/// Returns a text on one line, truncated if it is very long.
pub(super) fn clip(text: &str) -> String {
    let line = collapse_whitespace(text);
    if line.len() <= MAX_HEAD_BYTES {
        return line;
    }
    format!("{}…", &line[..line.floor_char_boundary(MAX_HEAD_BYTES)])
}
