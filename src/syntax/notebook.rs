//! Jupyter notebooks: their cells of code and of prose, without the output of the code.
//!
//! A notebook is JSON. The lines of its cells are read with their positions, so that the symbols of the code have lines
//! of the file. The skeleton is the notebook as a script in the "percent" format that editors know
//! (<https://jupytext.readthedocs.io/en/latest/formats-scripts.html>): prose in comments, code with its bodies cut.

use std::collections::HashSet;
use std::fmt::Write;
use std::ops::{Range, RangeInclusive};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::model::{
    Outline, ParseFallback, ParseHealth, Skeleton, Span, Symbol, SymbolKind, strip_closing_hashes,
};
use crate::syntax::languages::{PYTHON, compiled_language};
use crate::syntax::outline::{FileStructure, SkeletonCheck, derive_text, fall_back};
use crate::syntax::text::{SourceText, first_paragraph, format_line_count, one_line};

pub(super) const ID: &str = "notebook";

/// The reader of notebooks: the version of the code here, raised when it gives other results, and the grammar of the
/// cells.
pub(super) const READER: &str = "cells 2, tree-sitter-python 0.25.0";

/// Prose of more lines than this is cut to its beginning.
const MAX_PROSE: usize = 12;

/// Returns the structure of a notebook. The code of a kernel that does not run Python is shown and has no symbols.
pub(super) fn derive(text: &str, give_up: &mut dyn FnMut() -> bool) -> FileStructure {
    let Some(notebook) = parse_notebook(text) else {
        return fall_back(text.len(), ParseFallback::Failed);
    };
    let mut outline = Outline {
        health: ParseHealth::perfect(text.len() as u64),
        doc: notebook_doc(&notebook),
        imports: Vec::new(),
        symbols: Vec::new(),
    };
    let source = SourceText::new(text);
    let mut skeleton = String::new();
    for (at, cell) in notebook.cells.iter().enumerate() {
        let code = (notebook.is_python && cell.kind == CellKind::Code).then(|| code_without_magics(cell));
        let structure = code.and_then(|code| {
            Some(derive_text(compiled_language(PYTHON.id)?, &code, SkeletonCheck::Deferred, give_up))
        });
        match cell.kind {
            CellKind::Markdown => add_headings(&mut outline, &source, cell),
            CellKind::Code => add_code(&mut outline, &source, at + 1, cell, structure.as_ref()),
            CellKind::Raw => {}
        }
        write_cell(&mut skeleton, cell, notebook.comment, structure.map(|structure| structure.skeleton.text));
    }
    let mut seen = HashSet::new();
    outline.imports.retain(|import| seen.insert(import.clone()));
    let health = outline.health;
    // Skeletons of Python are not checked, and a script is not a program that could be compared with the notebook.
    FileStructure {
        outline,
        skeleton: Skeleton { health, text: skeleton, docs: Vec::new(), is_checked: true },
    }
}

/// Returns the code of a cell with what only the notebook understands in comments: `%magic`, `!command`, `name?`. A
/// cell that another program runs (`%%bash`) is a comment throughout.
fn code_without_magics(cell: &NotebookCell) -> String {
    let mut code = String::new();
    let first = cell.lines.iter().find(|line| !line.text.trim().is_empty());
    let runs_elsewhere = first.is_some_and(|line| {
        let name = line.text.trim_start().strip_prefix("%%").map(|rest| rest.split(' ').next());
        // These run what follows as Python.
        name.flatten().is_some_and(|name| !["capture", "prun", "time", "timeit"].contains(&name))
    });
    for line in &cell.lines {
        // Commented out and not removed, so that the lines of the code remain those of the cell.
        if runs_elsewhere || is_magic(&line.text) {
            code.push_str("# ");
        }
        code.push_str(&line.text);
        code.push('\n');
    }
    code
}

/// Returns whether a line is for the notebook itself: `%magic`, `!command`, `name?`.
fn is_magic(line: &str) -> bool {
    let line = line.trim();
    // A comment or a text may end with a question mark as well.
    line.starts_with(['%', '!', '?']) || (line.ends_with('?') && !line.contains(['#', '"', '\'']))
}

/// Returns the language of a notebook's kernel, in lower case. `None` if the text is not a notebook.
pub(super) fn language(text: &str) -> Option<String> {
    parse_notebook(text).map(|notebook| notebook.language)
}

/// Returns the lines of cells that are on some lines of a notebook, as the skeleton shows them, with comments in place
/// of what is between them. `None` if the text is not a notebook.
pub(super) fn excerpt(text: &str, lines: &[RangeInclusive<u32>]) -> Option<String> {
    let notebook = parse_notebook(text)?;
    let source = SourceText::new(text);
    let is_shown = |line: &CellLine| {
        let span = source.span(line.range.clone());
        lines.iter().any(|lines| *lines.start() <= span.end_line && span.start_line <= *lines.end())
    };
    let comment = notebook.comment;
    let (mut script, mut skipped) = (String::new(), 0);
    for cell in &notebook.cells {
        let shown: Vec<bool> = cell.lines.iter().map(is_shown).collect();
        if !shown.contains(&true) {
            skipped += usize::from(cell.lines.iter().any(|line| !line.text.trim().is_empty()));
            continue;
        }
        write_skipped_cells(&mut script, comment, &mut skipped);
        write_cell_head(&mut script, cell, comment);
        write_shown_lines(&mut script, cell, &shown, &notebook);
        write_output_size(&mut script, cell, comment);
    }
    write_skipped_cells(&mut script, comment, &mut skipped);
    Some(script)
}

fn write_skipped_cells(script: &mut String, comment: &str, skipped: &mut usize) {
    if 0 < *skipped {
        let gap = if script.is_empty() { "" } else { "\n" };
        let _ =
            writeln!(script, "{gap}{comment} … {skipped} {}", if *skipped == 1 { "cell" } else { "cells" });
        *skipped = 0;
    }
}

/// Appends those lines of a cell that are shown, with a comment for each gap.
fn write_shown_lines(script: &mut String, cell: &NotebookCell, shown: &[bool], notebook: &ParsedNotebook) {
    let is_code = cell.kind == CellKind::Code;
    let mark = if is_code { String::new() } else { format!("{} ", notebook.comment) };
    let code = if is_code && notebook.is_python {
        code_without_magics(cell)
    } else {
        cell.lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect()
    };
    let lines: Vec<(&str, &bool)> = code.lines().zip(shown).collect();
    for run in lines.chunk_by(|a, b| a.1 == b.1) {
        if *run[0].1 || run.iter().all(|(line, _)| line.trim().is_empty()) {
            for (line, _) in run {
                script.push_str(format!("{mark}{line}").trim_end());
                script.push('\n');
            }
        } else {
            let _ = writeln!(script, "{} … {}", notebook.comment, format_line_count(run.len()));
        }
    }
}

/// Appends a cell, with `comment` before lines that are not code; `code` is the skeleton of its code, where there is
/// one.
fn write_cell(script: &mut String, cell: &NotebookCell, comment: &str, code: Option<String>) {
    write_cell_head(script, cell, comment);
    match (cell.kind, code) {
        (CellKind::Code, Some(code)) => script.push_str(&code),
        (CellKind::Code, None) => write_lines(script, cell, "", usize::MAX),
        (CellKind::Markdown | CellKind::Raw, _) => {
            write_lines(script, cell, &format!("{comment} "), MAX_PROSE);
        }
    }
    if !script.ends_with('\n') {
        script.push('\n');
    }
    write_output_size(script, cell, comment);
}

fn write_cell_head(script: &mut String, cell: &NotebookCell, comment: &str) {
    if !script.is_empty() {
        script.push('\n');
    }
    let kind = match cell.kind {
        CellKind::Code => "",
        CellKind::Markdown => " [markdown]",
        CellKind::Raw => " [raw]",
    };
    // Writing to a `String` cannot fail.
    let _ = writeln!(script, "{comment} %%{kind}");
}

fn write_output_size(script: &mut String, cell: &NotebookCell, comment: &str) {
    if 0 < cell.output_bytes {
        let _ = writeln!(script, "{comment} output left out: {} bytes", cell.output_bytes);
    }
}

fn write_lines(script: &mut String, cell: &NotebookCell, mark: &str, most: usize) {
    for line in cell.lines.iter().take(most) {
        script.push_str(format!("{mark}{}", line.text).trim_end());
        script.push('\n');
    }
    let more = cell.lines.len().saturating_sub(most);
    if 0 < more {
        let _ = writeln!(script, "{mark}… {}", format_line_count(more));
    }
}

/// Returns the first paragraph of the first prose that is more than a heading.
fn notebook_doc(notebook: &ParsedNotebook) -> Option<String> {
    let prose = notebook.cells.iter().filter(|cell| cell.kind == CellKind::Markdown);
    let mut texts = prose.map(|cell| {
        let lines = cell.lines.iter().map(|line| line.text.as_str());
        lines.filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    });
    texts.find_map(|text| first_paragraph(&text))
}

fn add_headings(outline: &mut Outline, source: &SourceText<'_>, cell: &NotebookCell) {
    let mut in_fence = false;
    for line in &cell.lines {
        in_fence ^= line.text.trim_start().starts_with("```");
        let title = line.text.trim_start_matches('#');
        let level = line.text.len() - title.len();
        if !in_fence && (1..=6).contains(&level) && title.starts_with(' ') {
            let name = one_line(strip_closing_hashes(title.trim()));
            let span = source.span(line.range.clone());
            outline.symbols.push(symbol(SymbolKind::Heading, &name, span, &line.text));
        }
    }
}

/// Adds code with what `structure` found in it. `number` counts the cells from 1.
fn add_code(
    outline: &mut Outline,
    source: &SourceText<'_>,
    number: usize,
    cell: &NotebookCell,
    structure: Option<&FileStructure>,
) {
    let is_significant = |line: &&CellLine| !line.text.trim().is_empty() && !is_magic(&line.text);
    let some = || cell.lines.iter().find(|line| !line.text.trim().is_empty());
    let Some(first) = cell.lines.iter().find(is_significant).or_else(some) else { return };
    let whole = cell.lines.first().map_or(0, |line| line.range.start)
        ..cell.lines.last().map_or(0, |line| line.range.end);
    let mut own =
        symbol(SymbolKind::Cell, &format!("cell {number}"), source.span(whole.clone()), &first.text);
    if let Some(structure) = structure {
        own.doc = structure.outline.doc.clone().filter(|doc| !is_magic(doc));
        own.children.clone_from(&structure.outline.symbols);
        for child in &mut own.children {
            move_to_notebook(child, source, cell, &whole);
        }
        outline.imports.extend_from_slice(&structure.outline.imports);
        // Measured in the decoded text of the cell, which is shorter than its JSON: an approximation, and
        // never more than the whole.
        let health = &mut outline.health;
        health.broken_bytes =
            (health.broken_bytes + structure.outline.health.broken_bytes).min(health.total_bytes);
    }
    outline.symbols.push(own);
}

/// Moves a symbol of a cell's code to its position in the notebook.
fn move_to_notebook(symbol: &mut Symbol, source: &SourceText<'_>, cell: &NotebookCell, whole: &Range<usize>) {
    // By lines and not by bytes, because escapes make the bytes of a line in the JSON differ from those of
    // its source.
    let line =
        |number: u32| cell.lines.get((number as usize).saturating_sub(1)).map(|line| line.range.clone());
    let start = line(symbol.span.start_line).map_or(whole.start, |range| range.start);
    let end = line(symbol.span.end_line).map_or(whole.end, |range| range.end);
    symbol.span = source.span(start..end.max(start));
    for child in &mut symbol.children {
        move_to_notebook(child, source, cell, whole);
    }
}

fn symbol(kind: SymbolKind, name: &str, span: Span, signature: &str) -> Symbol {
    Symbol {
        kind,
        name: name.to_owned(),
        qualified_name: name.to_owned(),
        span,
        signature: one_line(signature),
        doc: None,
        recovered: false,
        children: Vec::new(),
    }
}

/// A notebook as far as it is read.
struct ParsedNotebook {
    cells: Vec<NotebookCell>,
    /// The language of its kernel, in lower case.
    language: String,
    /// Whether its kernel runs Python; a kernel that does not declare its language is assumed to.
    is_python: bool,
    comment: &'static str,
}

/// Languages of kernels whose comments begin with two slashes, by how their names begin.
const SLASHES: [&str; 10] =
    ["c#", "c++", "csharp", "go", "java", "kotlin", "rust", "scala", "swift", "typescript"];

struct NotebookCell {
    kind: CellKind,
    lines: Vec<CellLine>,
    /// How many bytes of the notebook are the output of its code.
    output_bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellKind {
    /// A program.
    Code,
    /// Prose.
    Markdown,
    /// What is for another program.
    Raw,
}

/// A line of a cell, without its end.
struct CellLine {
    text: String,
    /// Its range in the notebook's text: itself, quotes included, or the text of the whole cell.
    range: Range<usize>,
}

// Raw values, because outputs may be megabytes of images of which only the length is needed, and because
// each line needs its position in the file.
#[derive(Deserialize)]
struct RawNotebook<'a> {
    #[serde(borrow)]
    cells: Option<Vec<&'a RawValue>>,
    /// The worksheets of format 3, which contain its cells.
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
fn parse_notebook(text: &str) -> Option<ParsedNotebook> {
    if text.trim().is_empty() {
        return Some(ParsedNotebook {
            cells: Vec::new(),
            language: PYTHON.id.to_owned(),
            is_python: true,
            comment: "#",
        });
    }
    let raw: RawNotebook<'_> = serde_json::from_str(text).ok()?;
    if raw.cells.is_none() && raw.worksheets.is_none() {
        return None;
    }
    let language = raw.metadata.and_then(|metadata| {
        let named = metadata.language_info.and_then(|info| info.name);
        named.or_else(|| metadata.kernelspec?.language)
    });
    let language = language.map_or_else(|| "python".to_owned(), |name| name.to_ascii_lowercase());
    let sheets = raw.worksheets.unwrap_or_default().into_iter().flat_map(|sheet| sheet.cells);
    let cells = raw.cells.unwrap_or_default().into_iter().chain(sheets);
    Some(ParsedNotebook {
        cells: cells.filter_map(|cell| parse_cell(text, cell)).collect(),
        is_python: language.contains("python"),
        comment: if SLASHES.iter().any(|name| language.starts_with(name)) { "//" } else { "#" },
        language,
    })
}

/// Parses a cell; an invalid cell is skipped, and one whose source is invalid has no lines.
fn parse_cell(text: &str, raw: &RawValue) -> Option<NotebookCell> {
    let cell: RawCell<'_> = serde_json::from_str(raw.get()).ok()?;
    let kind = match cell.cell_type.as_str() {
        "code" => CellKind::Code,
        // Format 3 has cells of their own for headings.
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
            // A line may be split over several strings, although Jupyter writes one string for each line.
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
    // Both are in one allocation. The limits make a mistake about that harmless.
    let start = part.as_ptr().addr().saturating_sub(text.as_ptr().addr()).min(text.len());
    start..(start + part.len()).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_its_range_in_the_notebook() {
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
    fn an_invalid_cell_does_not_affect_others() {
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

    #[test]
    fn the_version_in_the_key_is_that_of_the_grammar() {
        assert!(READER.ends_with(PYTHON.grammar_version));
    }

    #[test]
    fn an_excerpt_has_the_cells_of_its_lines_without_their_output() {
        let text = r##"{"cells": [
{"cell_type": "markdown", "source": [
 "# Title\n",
 "Prose."]},
{"cell_type": "code", "outputs": [{"data": "aaaa"}], "source": [
 "%time\n",
 "def first():\n",
 "    return 1\n",
 "\n",
 "def second():\n",
 "    return 2"]},
{"cell_type": "code", "source": ["first()"]},
{"cell_type": "code", "source": ["second()"]}
]}"##;
        let function = excerpt(text, &[7..=8]).unwrap();
        let expected = "# … 1 cell\n\n# %%\n# … 1 line\ndef first():\n    return 1\n# … 3 lines\n\
                        # output left out: 18 bytes\n\n# … 2 cells\n";
        assert_eq!(function, expected);
        let all = excerpt(text, &[1..=99]).unwrap();
        assert!(all.starts_with("# %% [markdown]\n# # Title\n# Prose.\n\n# %%\n# %time\ndef first"), "{all}");
        assert!(!all.contains('…') && !all.contains("aaaa"), "{all}");
        assert_eq!(excerpt("[]", &[1..=1]), None);
    }

    #[test]
    fn an_invalid_notebook_has_no_structure() {
        for text in ["{", "[]", "{}", "{\"cells\": 3}"] {
            let structure = derive(text, &mut || false);
            assert_eq!(structure.outline.health.fallback, Some(ParseFallback::Failed), "{text}");
        }
    }
}
