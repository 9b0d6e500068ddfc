//! What the preprocessor reads: includes and macros.

use tree_sitter::Node;

use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::Field;
use crate::syntax::skeleton::Cut;
use crate::syntax::walk::Walk;
use crate::syntax::walk::count_lines;

/// Reads `#include`.
pub(in crate::syntax::languages) fn include<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    if let Some(path) = walk.field(node, Field::Path) {
        walk.import(walk.text(path).trim_matches('"'));
    }
}

/// Reads a macro with parameters; of its value the skeleton keeps the size alone.
pub(in crate::syntax::languages) fn macro_definition<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, Field::Name) else {
        return;
    };
    let name = walk.text(name).to_owned();
    let range = walk.range(node);
    let head_end = walk.field(node, Field::Parameters).map_or(range.end, |node| walk.range(node).end);
    let symbol = Symbol {
        kind: SymbolKind::Macro,
        qualified_name: name.clone(),
        span: walk.span(node, range.start + walk.source.text(range.clone()).trim_end().len()),
        signature: walk.head(node, range.start..head_end),
        doc: walk.doc_above(),
        name,
        recovered: false,
        children: Vec::new(),
    };
    walk.add(symbol);
    cut_value(walk, node, 1);
}

/// Reads a macro without parameters: no symbol, but a value of many lines is taken out of the skeleton.
pub(in crate::syntax::languages) fn object_macro<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    cut_value(walk, node, 3);
}

fn cut_value<'t>(walk: &mut Walk<'t>, node: Node<'t>, min_lines: usize) {
    let Some(value) = walk.field(node, Field::Value) else {
        return;
    };
    let range = walk.range(value);
    let text = walk.source.text(range.clone()).trim_end();
    let lines = text.lines().count();
    if min_lines <= lines && !text.contains("/*") {
        walk.cuts
            .push(Cut::new(range.start..range.start + text.len(), format!("/* {} */", count_lines(lines))));
    }
}
