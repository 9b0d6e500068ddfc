//! A notebook's outline (headings, cells of code, and what those define) and its skeleton, a script.

use std::fmt::Write;
use std::ops::Range;

use super::cells::{CellKind, CellLine, NotebookCell, ParsedNotebook, parse_notebook};
use crate::model::{Outline, ParseFallback, ParseHealth, Skeleton, Span, Symbol, SymbolKind};
use crate::syntax::languages::{PYTHON, compiled_language};
use crate::syntax::outline::{FileStructure, SkeletonCheck, derive_text};
use crate::syntax::text::{SourceText, first_paragraph, one_line};

/// Id of the file type.
pub(in crate::syntax) const ID: &str = "notebook";

/// The reader of notebooks: the version of the code here, raised when it gives other results, and the grammar of the
/// cells.
pub(in crate::syntax) const READER: &str = "cells 1, tree-sitter-python 0.25.0";

/// Prose of more lines than this is cut to its beginning.
const MOST_PROSE: usize = 12;

/// Returns the structure of a notebook. The code of a kernel that does not run Python is shown and has no symbols.
pub(in crate::syntax) fn derive(text: &str, give_up: &mut dyn FnMut() -> bool) -> FileStructure {
    let Some(notebook) = parse_notebook(text) else {
        let health = ParseHealth::fallen_back(text.len() as u64, ParseFallback::Failed);
        let outline = Outline { health, doc: None, imports: Vec::new(), symbols: Vec::new() };
        return FileStructure {
            outline,
            skeleton: Skeleton { health, text: String::new(), is_checked: true },
        };
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
        let code = (notebook.is_python && cell.is_code()).then(|| code_without_magics(cell));
        let structure = code.and_then(|code| {
            Some(derive_text(compiled_language(PYTHON.id)?, &code, SkeletonCheck::Deferred, give_up))
        });
        add_cell(&mut outline, &source, at + 1, cell, structure.as_ref());
        write_cell(&mut skeleton, cell, notebook.comment, structure.map(|structure| structure.skeleton.text));
    }
    let health = outline.health;
    // Skeletons of Python are not checked, and a script is not a program that could be compared with the notebook.
    FileStructure { outline, skeleton: Skeleton { health, text: skeleton, is_checked: true } }
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
    line.starts_with(['%', '!', '?']) || (line.ends_with('?') && !line.contains(['#', '"', '\'']))
}

/// Appends a cell, with `comment` before lines that are not code; `code` is the skeleton of its code, where there is
/// one.
fn write_cell(script: &mut String, cell: &NotebookCell, comment: &str, code: Option<String>) {
    if !script.is_empty() {
        script.push('\n');
    }
    let kind = match cell.kind {
        CellKind::Code => "",
        CellKind::Markdown => " [markdown]",
        CellKind::Raw => " [raw]",
    };
    let _ = writeln!(script, "{comment} %%{kind}");
    match (cell.kind, code) {
        (CellKind::Code, Some(code)) => script.push_str(&code),
        (CellKind::Code, None) => write_lines(script, cell, "", usize::MAX),
        (CellKind::Markdown | CellKind::Raw, _) => {
            write_lines(script, cell, &format!("{comment} "), MOST_PROSE);
        }
    }
    if !script.ends_with('\n') {
        script.push('\n');
    }
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
        let _ = writeln!(script, "{mark}… {}", crate::syntax::text::format_line_count(more));
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

/// Adds a cell to the outline: the headings of prose, or the code with what `structure` found in it. `number` counts
/// the cells from 1.
fn add_cell(
    outline: &mut Outline,
    source: &SourceText<'_>,
    number: usize,
    cell: &NotebookCell,
    structure: Option<&FileStructure>,
) {
    match cell.kind {
        CellKind::Markdown => add_headings(outline, source, cell),
        CellKind::Code => add_code(outline, source, number, cell, structure),
        CellKind::Raw => {}
    }
}

fn add_headings(outline: &mut Outline, source: &SourceText<'_>, cell: &NotebookCell) {
    let mut in_fence = false;
    for line in &cell.lines {
        in_fence ^= line.text.trim_start().starts_with("```");
        let title = line.text.trim_start_matches('#');
        let level = line.text.len() - title.len();
        if !in_fence && (1..=6).contains(&level) && title.starts_with(' ') {
            let name = one_line(title.trim_end_matches('#'));
            outline.symbols.push(symbol(
                SymbolKind::Heading,
                &name,
                source.span(line.range.clone()),
                &line.text,
            ));
        }
    }
}

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
        for import in &structure.outline.imports {
            if !outline.imports.contains(import) {
                outline.imports.push(import.clone());
            }
        }
        let health = &mut outline.health;
        health.broken_bytes =
            (health.broken_bytes + structure.outline.health.broken_bytes).min(health.total_bytes);
    }
    outline.symbols.push(own);
}

/// Moves a symbol of a cell's code to its position in the notebook.
fn move_to_notebook(symbol: &mut Symbol, source: &SourceText<'_>, cell: &NotebookCell, whole: &Range<usize>) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_in_the_key_is_that_of_the_grammar() {
        assert!(READER.ends_with(PYTHON.grammar_version));
    }

    #[test]
    fn an_invalid_notebook_falls_back() {
        for text in ["{", "[]", "{}", "{\"cells\": 3}"] {
            let structure = derive(text, &mut || false);
            assert_eq!(structure.outline.health.fallback, Some(ParseFallback::Failed), "{text}");
        }
    }
}
