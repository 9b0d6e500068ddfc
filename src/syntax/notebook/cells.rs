//! JSON to cells.

use std::ops::Range;

use serde::Deserialize;
use serde_json::value::RawValue;

/// A notebook as far as it is read.
pub(super) struct Notebook {
    pub(super) cells: Vec<Cell>,
    /// Whether its kernel speaks Python; one that does not say is taken for one that does.
    pub(super) is_python: bool,
}

/// A cell.
pub(super) struct Cell {
    pub(super) kind: CellKind,
    pub(super) lines: Vec<Line>,
    /// Bytes of what its code has put out, as they stand in the notebook.
    pub(super) output_bytes: usize,
}

/// What a cell holds.
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
pub(super) struct Line {
    pub(super) text: String,
    /// Where it stands in the notebook's text: itself, quotes included, or the text of the whole cell.
    pub(super) range: Range<usize>,
}

impl Cell {
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
    metadata: Option<Metadata>,
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
struct Metadata {
    kernelspec: Option<Kernel>,
    language_info: Option<Kernel>,
}

#[derive(Deserialize)]
struct Kernel {
    name: Option<String>,
    language: Option<String>,
}

/// Returns the cells of a notebook; `None` where the text is none.
pub(super) fn read(text: &str) -> Option<Notebook> {
    let raw: RawNotebook<'_> = serde_json::from_str(text).ok()?;
    let is_python = raw.metadata.as_ref().is_none_or(Metadata::is_python);
    let sheets = raw.worksheets.unwrap_or_default().into_iter().flat_map(|sheet| sheet.cells);
    let cells = raw.cells.map(|cells| cells.into_iter().chain(sheets).collect::<Vec<_>>())?;
    let cells = cells.into_iter().map(|cell| read_cell(text, cell)).collect::<Option<_>>()?;
    Some(Notebook { cells, is_python })
}

fn read_cell(text: &str, raw: &RawValue) -> Option<Cell> {
    let cell: RawCell<'_> = serde_json::from_str(raw.get()).ok()?;
    let kind = match cell.cell_type.as_str() {
        "code" => CellKind::Code,
        "markdown" | "heading" => CellKind::Markdown,
        _ => CellKind::Raw,
    };
    let lines = cell.source.map_or(Some(Vec::new()), |source| read_lines(text, source))?;
    let outputs = cell.outputs.map_or("", RawValue::get);
    let output_bytes = if outputs == "[]" { 0 } else { outputs.len() };
    Some(Cell { kind, lines, output_bytes })
}

/// Reads a text that is written as a string, or as a list of strings, mostly one for each line.
fn read_lines(text: &str, source: &RawValue) -> Option<Vec<Line>> {
    let pieces: Vec<&RawValue> =
        if source.get().starts_with('"') { vec![source] } else { serde_json::from_str(source.get()).ok()? };
    let mut lines: Vec<Line> = Vec::new();
    let mut goes_on = false;
    for piece in pieces {
        let range = place(text, piece.get());
        let piece: String = serde_json::from_str(piece.get()).ok()?;
        for part in piece.split_inclusive('\n') {
            let own = part.trim_end_matches(['\n', '\r']);
            match lines.last_mut().filter(|_| goes_on) {
                Some(last) => {
                    last.text.push_str(own);
                    last.range.end = range.end;
                }
                None => lines.push(Line { text: own.to_owned(), range: range.clone() }),
            }
            goes_on = !part.ends_with('\n');
        }
    }
    Some(lines)
}

/// Returns where `part`, which is borrowed from `text`, stands in it.
fn place(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr()).min(text.len());
    start..(start + part.len()).min(text.len())
}

impl Metadata {
    fn is_python(&self) -> bool {
        let named = self.language_info.as_ref().and_then(|info| info.name.as_deref());
        let spoken = self.kernelspec.as_ref().and_then(|kernel| kernel.language.as_deref());
        named.or(spoken).is_none_or(|name| name.to_ascii_lowercase().contains("python"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_knows_where_it_stands() {
        let text = r#"{"cells": [{"cell_type": "code", "source": ["a = 1\n", "b = \"é\""]}]}"#;
        let notebook = read(text).unwrap();
        let lines: Vec<_> = notebook.cells[0]
            .lines
            .iter()
            .map(|line| (line.text.as_str(), &text[line.range.clone()]))
            .collect();
        assert_eq!(lines, [("a = 1", r#""a = 1\n""#), ("b = \"é\"", r#""b = \"é\"""#)]);
    }

    #[test]
    fn a_text_in_one_piece_stands_in_one_place() {
        let text = r#"{"cells": [{"cell_type": "markdown", "source": "a\nb"}], "metadata": {}}"#;
        let notebook = read(text).unwrap();
        let lines = &notebook.cells[0].lines;
        assert_eq!(lines.len(), 2);
        assert_eq!(&text[lines[1].range.clone()], r#""a\nb""#);
    }

    #[test]
    fn the_kernel_says_what_is_spoken() {
        let of = |name: &str| {
            read(&format!(r#"{{"cells": [], "metadata": {{"language_info": {{"name": "{name}"}}}}}}"#))
                .unwrap()
                .is_python
        };
        assert!(of("python") && of("ipython3"));
        assert!(!of("julia"));
    }
}
