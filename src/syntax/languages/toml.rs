//! TOML: tables and keys.

use tree_sitter::Node;

use super::lines::{define_with_signature, document_last_symbol, format_data_size, hash_comment_above};
use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, named_children,
};
use crate::syntax::text::{documentation, one_line};

/// TOML, version 1.
pub(super) static TOML: Language = Language {
    marks: ElisionMarks::HASH,
    ..Language::new("toml", tree_sitter_toml_ng::LANGUAGE, "tree-sitter-toml-ng 0.7.0", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("table table_array_element", Visit::Read(table)),
    ("pair", Visit::Read(pair)),
];

/// A text of more bytes than this is shown by its size.
const LONG_TEXT: usize = 400;

/// Reads `[a.b]` or `[[a.b]]` with the keys below it.
fn table<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(key) = children(node).into_iter().find(|child| child.kind().ends_with("_key")) else { return };
    let mut parts = parts(walk, key);
    let Some(name) = parts.pop() else { return };
    let definition = SymbolDefinition::new(SymbolKind::Key, name, SymbolBody::Members(node));
    // The node extends to the next table, so that the comment above it is the end of the one before.
    let start = walk.range(node).start;
    let head = walk.text(node).lines().next().unwrap_or_default();
    let head = head.find('#').filter(|at| !head[..*at].contains(['"', '\''])).map_or(head, |at| &head[..at]);
    if define_with_signature(walk, node, definition.with_owner(&parts.join(".")), one_line(head)) {
        document_last_symbol(walk, |walk| hash_comment_above(walk, start));
    }
}

/// Reads `key = value`.
fn pair<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let named = children(node);
    let (Some(key), Some(value)) = (
        named.iter().find(|child| child.kind().ends_with("_key")),
        named.iter().rev().find(|child| child.is_named() && child.kind() != "comment"),
    ) else {
        return;
    };
    let mut parts = parts(walk, *key);
    let Some(name) = parts.pop() else { return };
    // An inline table is one line, of which nothing is cut.
    let inside = if value.kind() == "inline_table" { SymbolBody::Nothing } else { SymbolBody::Value(*value) };
    let before = walk.symbols.len();
    walk.define(node, SymbolDefinition::new(SymbolKind::Key, name, inside).with_owner(&parts.join(".")));
    if walk.symbols.len() == before {
        return;
    }
    let trailing = child_of_kind(node, "comment").map(|comment| walk.text(comment));
    document_last_symbol(walk, |_| trailing.and_then(documentation));
    cut_text(walk, *value);
}

/// Cuts what is between the quotes of a long text of several lines.
fn cut_text<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    let quotes = text.starts_with("\"\"\"") || text.starts_with("'''");
    if value.kind() == "string" && quotes && LONG_TEXT < text.len() && !value.has_error() {
        walk.cut_where_understood(range.start + 3..range.end - 3, format!("… {}", format_data_size(text)));
    }
}

/// Returns the parts of a key without their quotes.
fn parts<'t>(walk: &OutlineWalk<'t>, key: Node<'t>) -> Vec<String> {
    let (mut parts, mut waiting) = (Vec::new(), vec![key]);
    while let Some(node) = waiting.pop() {
        if node.kind() == "dotted_key" {
            waiting.extend(named_children(node).into_iter().rev());
        } else {
            parts.push(walk.text(node).trim_matches(['"', '\'']).to_owned());
        }
    }
    parts
}
