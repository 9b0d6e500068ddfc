//! JSON's keys, and what of their values a skeleton keeps.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::languages::lines::define_with_signature;
use crate::syntax::languages::lines::format_data_size;
use crate::syntax::nodes::children;
use crate::syntax::rule::find;
use crate::syntax::skeleton::SkeletonCut;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::words::one_line;

/// Keys of so many levels are told.
const LEVELS: usize = 2;

/// What is nested and has more bytes than this is told by its size.
const LARGE: usize = 80;

/// Elements after the first that have more bytes than this are told by their size.
const MANY: usize = 200;

/// A string of more bytes than this is cut off.
const LONG_STRING: usize = 300;

/// So much of a string stays.
const BEGINNING: usize = 80;

/// A pair of no more bytes than this, on one line, is told with its value.
const SHORT_PAIR: usize = 80;

/// Reads `"key": value`.
pub(super) fn pair<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(key), Some(value)) = (find(node, "key"), find(node, "value")) else { return };
    let level = walk.scopes.len();
    if LEVELS <= level {
        return;
    }
    let key = walk.text(key);
    let name = one_line(key.trim_matches('"'));
    let is_nested = matches!(value.kind(), "object" | "array");
    let has_keys = is_nested && level + 1 < LEVELS;
    let inside = if has_keys { SymbolBody::Members(node) } else { SymbolBody::Nothing };
    let whole = walk.text(node);
    let is_short = whole.len() <= SHORT_PAIR && !whole.contains('\n');
    let signature = one_line(if is_short { whole } else { key });
    define_with_signature(walk, node, SymbolDefinition::new(SymbolKind::Key, name, inside), signature);
    match value.kind() {
        "object" | "array" if !has_keys => cut_nested(walk, value),
        "string" => cut_string(walk, value),
        _ => {}
    }
}

/// Reads an array: its first element tells what the others are like.
pub(super) fn array<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let elements = children(node).into_iter().filter(|child| child.is_named() && child.kind() != "comment");
    let Some(first) = elements.take(1).next() else { return };
    match first.kind() {
        "object" => object(walk, first),
        "array" => cut_nested(walk, first),
        "string" => cut_string(walk, first),
        _ => {}
    }
    cut_rest(walk, node, first);
}

/// Reads an object; where a scanner left out the later keys of a table, the skeleton says so.
pub(super) fn object<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    walk.visit_children(node);
    if let Some(last) = children(node).into_iter().rev().find(|child| child.kind() == "pair") {
        cut_rest(walk, node, last);
    }
}

/// Takes out what follows `last` up to the bracket that closes `node`, where it is much.
fn cut_rest<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, last: Node<'t>) {
    let end = walk.range(last).end;
    let rest = end..walk.range(node).end.saturating_sub(1).max(end);
    let text = walk.source.text(rest.clone()).trim_end();
    if MANY < text.len() && !node.has_error() && text.starts_with(',') {
        let size = format_data_size(text);
        let mark = if node.kind() == "object" {
            format!(", \"…\": \"{size}\"")
        } else {
            format!(", \"… {size}\"")
        };
        walk.cuts.push(
            SkeletonCut::new(rest.start..rest.start + text.len(), mark.clone()).with_conservative_mark(mark),
        );
    }
}

fn cut_nested<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    if text.len() < LARGE || value.has_error() {
        return;
    }
    let size = format_data_size(text);
    let mark =
        if value.kind() == "object" { format!("\"…\": \"{size}\"") } else { format!("\"… {size}\"") };
    walk.cuts
        .push(SkeletonCut::new(range.start + 1..range.end - 1, mark.clone()).with_conservative_mark(mark));
}

fn cut_string<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    if text.len() < LONG_STRING || value.has_error() {
        return;
    }
    let mut characters = text.char_indices();
    let mut kept = 0;
    while let Some((at, character)) = characters.next() {
        if BEGINNING <= at {
            kept = at;
            break;
        }
        if character == '\\' {
            // What is escaped is not taken apart.
            let escaped = characters.next();
            if escaped.is_some_and(|(_, escaped)| escaped == 'u') {
                characters.nth(3);
            }
        }
    }
    let mark = format!("… {}", format_data_size(text));
    walk.cuts
        .push(SkeletonCut::new(range.start + kept..range.end - 1, mark.clone()).with_conservative_mark(mark));
}
