//! JSON to cells.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A notebook as far as it is read.
pub(super) struct ParsedNotebook {
    pub(super) cells: Vec<NotebookCell>,
    /// Whether its kernel runs Python; a kernel that does not declare its language is assumed to.
    pub(super) is_python: bool,
    /// What a comment begins with in the language of its kernel.
    pub(super) comment: &'static str,
}

/// Languages of kernels whose comments begin with two slashes, by how their names begin.
const SLASHES: [&str; 10] =
    ["c#", "c++", "csharp", "go", "java", "kotlin", "rust", "scala", "swift", "typescript"];

/// A cell.
pub(super) struct NotebookCell {
    pub(super) kind: CellKind,
    pub(super) lines: Vec<CellLine>,
    /// How many bytes of the notebook are the output of its code.
    pub(super) output_bytes: usize,
}

/// What a cell contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    /// A program.
    Code,
    /// Prose.
    Markdown,
    /// What is for another program.
    Raw,
}

/// A line of a cell, without its end.
pub(super) struct CellLine {
    pub(super) text: String,
    /// Its range in the notebook's text: itself, quotes included, or the text of the whole cell.
    pub(super) range: Range<usize>,
}

impl NotebookCell {
    pub(super) fn is_code(&self) -> bool {
        self.kind == CellKind::Code
    }
}

#[derive(Deserialize)]
struct RawNotebook<'a> {
    #[serde(borrow)]
    cells: Option<Vec<&'a RawValue>>,
    /// Of format 3, which has no cells of its own.
    #[serde(borrow)]
    worksheets: Option<Vec<RawSheet<'a>>>,
    metadata: Option<NotebookMetadata>,
}

#[derive(Deserialize)]
struct RawSheet<'a> {
    #[serde(borrow)]
    cells: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawCell<'a> {
    cell_type: String,
    /// `input` is what format 3 calls the source of code.
    #[serde(borrow, alias = "input")]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    outputs: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct NotebookMetadata {
    kernelspec: Option<KernelInfo>,
    language_info: Option<KernelInfo>,
}

#[derive(Deserialize)]
struct KernelInfo {
    name: Option<String>,
    language: Option<String>,
}

/// Returns the cells of a notebook; `None` where the text is none. A text without a word is one without cells, as an
/// editor makes it before anything is written.
pub(super) fn parse_notebook(text: &str) -> Option<ParsedNotebook> {
    if text.trim().is_empty() {
        return Some(ParsedNotebook { cells: Vec::new(), is_python: true, comment: "#" });
    }
    let raw: RawNotebook<'_> = serde_json::from_str(text).ok()?;
    if raw.cells.is_none() && raw.worksheets.is_none() {
        return None;
    }
    let language = raw.metadata.and_then(NotebookMetadata::language);
    let language = language.map_or_else(|| "python".to_owned(), |name| name.to_ascii_lowercase());
    let sheets = raw.worksheets.unwrap_or_default().into_iter().flat_map(|sheet| sheet.cells);
    let cells = raw.cells.unwrap_or_default().into_iter().chain(sheets);
    Some(ParsedNotebook {
        cells: cells.filter_map(|cell| parse_cell(text, cell)).collect(),
        is_python: language.contains("python"),
        comment: if SLASHES.iter().any(|name| language.starts_with(name)) { "//" } else { "#" },
    })
}

/// Parses a cell; an invalid cell is skipped, and one whose source is invalid has no lines.
fn parse_cell(text: &str, raw: &RawValue) -> Option<NotebookCell> {
    let cell: RawCell<'_> = serde_json::from_str(raw.get()).ok()?;
    let kind = match cell.cell_type.as_str() {
        "code" => CellKind::Code,
        "markdown" | "heading" => CellKind::Markdown,
        _ => CellKind::Raw,
    };
    let lines = cell.source.and_then(|source| parse_lines(text, source)).unwrap_or_default();
    let outputs = cell.outputs.map_or("", RawValue::get);
    let output_bytes = if outputs == "[]" { 0 } else { outputs.len() };
    Some(NotebookCell { kind, lines, output_bytes })
}

/// Parses a text that is written as a string, or as a list of strings, mostly one for each line.
fn parse_lines(text: &str, source: &RawValue) -> Option<Vec<CellLine>> {
    let pieces: Vec<&RawValue> =
        if source.get().starts_with('"') { vec![source] } else { serde_json::from_str(source.get()).ok()? };
    let mut lines: Vec<CellLine> = Vec::new();
    let mut continues = false;
    for piece in pieces {
        let range = borrowed_range(text, piece.get());
        let piece: String = serde_json::from_str(piece.get()).ok()?;
        for part in piece.split_inclusive('\n') {
            let own = part.trim_end_matches(['\n', '\r']);
            match lines.last_mut().filter(|_| continues) {
                Some(last) => {
                    last.text.push_str(own);
                    last.range.end = range.end;
                }
                None => lines.push(CellLine { text: own.to_owned(), range: range.clone() }),
            }
            continues = !part.ends_with('\n');
        }
    }
    Some(lines)
}

/// Returns the range of `part`, which is borrowed from `text`, in it.
fn borrowed_range(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr()).min(text.len());
    start..(start + part.len()).min(text.len())
}

impl NotebookMetadata {
    /// Returns the name of the kernel's language.
    fn language(self) -> Option<String> {
        let named = self.language_info.and_then(|info| info.name);
        named.or_else(|| self.kernelspec.and_then(|kernel| kernel.language))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_range_in_the_notebook() {
        let text = r#"{"cells": [{"cell_type": "code", "source": ["a = 1\n", "b = \"é\""]}]}"#;
        let notebook = parse_notebook(text).unwrap();
        let lines: Vec<_> = notebook.cells[0]
            .lines
            .iter()
            .map(|line| (line.text.as_str(), &text[line.range.clone()]))
            .collect();
        assert_eq!(lines, [("a = 1", r#""a = 1\n""#), ("b = \"é\"", r#""b = \"é\"""#)]);
    }

    #[test]
    fn lines_of_a_single_string_share_its_range() {
        let text = r#"{"cells": [{"cell_type": "markdown", "source": "a\nb"}], "metadata": {}}"#;
        let notebook = parse_notebook(text).unwrap();
        let lines = &notebook.cells[0].lines;
        assert_eq!(lines.len(), 2);
        assert_eq!(&text[lines[1].range.clone()], r#""a\nb""#);
    }

    #[test]
    fn cells_of_format_3_are_in_sheets() {
        let text =
            r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": ["def old(a):\n", "    pass"]}]}]}"#;
        let notebook = parse_notebook(text).unwrap();
        assert_eq!(notebook.cells[0].lines[1].text, "    pass");
    }

    #[test]
    fn an_invalid_cell_costs_no_other() {
        let text =
            r#"{"cells": [{"cell_type": "code", "source": 5}, 3, {"cell_type": "code", "source": ["x"]}]}"#;
        let notebook = parse_notebook(text).unwrap();
        assert_eq!(notebook.cells.iter().map(|cell| cell.lines.len()).collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn the_kernel_decides_the_language() {
        let of = |name: &str| {
            parse_notebook(&format!(
                r#"{{"cells": [], "metadata": {{"language_info": {{"name": "{name}"}}}}}}"#
            ))
            .unwrap()
            .is_python
        };
        assert!(of("python") && of("ipython3"));
        assert!(!of("julia") && !of("typescript"));
    }
}
