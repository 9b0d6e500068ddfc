//! What the preprocessor reads: includes and macros.

use std::ops::Range;

use tree_sitter::Node;

use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::GrammarField;
use crate::syntax::skeleton::SkeletonCut;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::walk::format_line_count;

/// Reads `#include`.
pub(in crate::syntax::languages) fn include<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(path) = walk.field(node, GrammarField::Path) {
        walk.add_import(walk.text(path).trim_matches('"'));
    }
}

/// Reads a macro with parameters; of its value the skeleton keeps the size alone.
pub(in crate::syntax::languages) fn macro_definition<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, GrammarField::Name) else {
        return;
    };
    let name = walk.text(name).to_owned();
    let range = walk.range(node);
    let head_end = walk.field(node, GrammarField::Parameters).map_or(range.end, |node| walk.range(node).end);
    let symbol = Symbol {
        kind: SymbolKind::Macro,
        qualified_name: name.clone(),
        span: walk.span(node, range.start + walk.source.text(range.clone()).trim_end().len()),
        signature: walk.signature_text(node, range.start..head_end),
        doc: walk.preceding_doc(),
        name,
        recovered: false,
        children: Vec::new(),
    };
    walk.add_symbol(symbol);
    cut_value_of(walk, node, 1);
}

/// Reads a macro without parameters: no symbol, but a value of many lines is taken out of the skeleton.
pub(in crate::syntax::languages) fn object_macro<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    cut_value_of(walk, node, 3);
}

fn cut_value_of<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, min_lines: usize) {
    if let Some(value) = walk.field(node, GrammarField::Value) {
        cut_value(walk, walk.range(value), min_lines);
    }
}

/// Takes out the value of a macro that has so many lines or more.
pub(super) fn cut_value(walk: &mut OutlineWalk<'_>, range: Range<usize>, min_lines: usize) {
    let text = walk.source.text(range.clone()).trim_end();
    let lines = text.lines().count();
    if min_lines <= lines && !text.contains("/*") {
        let value = range.start..range.start + text.len();
        walk.cuts.push(SkeletonCut::new(value, format!("/* {} */", format_line_count(lines))));
    }
}
