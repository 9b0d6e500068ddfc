//! What a notebook's outline tells: its headings, its cells of code, and what those define.

use std::ops::Range;

use super::cells::CellKind;
use super::cells::CellLine;
use super::cells::NotebookCell;
use super::cells::ParsedNotebook;
use super::script::is_magic;
use crate::model::Outline;
use crate::model::Span;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::source::SourceText;
use crate::syntax::structure::FileStructure;
use crate::syntax::words::first_paragraph;
use crate::syntax::words::one_line;

/// Returns the first paragraph of the first prose that is more than a heading.
pub(super) fn notebook_doc(notebook: &ParsedNotebook) -> Option<String> {
    let prose = notebook.cells.iter().filter(|cell| cell.kind == CellKind::Markdown);
    let mut texts = prose.map(|cell| {
        let lines = cell.lines.iter().map(|line| line.text.as_str());
        lines.filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n")
    });
    texts.find_map(|text| first_paragraph(&text))
}

/// Adds a cell to the outline: the headings of prose, or the code with what `structure` found in it. `number` counts
/// the cells from 1.
pub(super) fn add_cell(
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
    let is_telling = |line: &&CellLine| !line.text.trim().is_empty() && !is_magic(&line.text);
    let some = || cell.lines.iter().find(|line| !line.text.trim().is_empty());
    let Some(first) = cell.lines.iter().find(is_telling).or_else(some) else { return };
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

/// Moves a symbol of a cell's code to where it stands in the notebook.
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
