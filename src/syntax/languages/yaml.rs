//! YAML.
//!
//! The grammar's scanner writes the columns of all open blocks into a buffer of 1,024 bytes, and aborts the whole
//! process if they do not fit, at about 200 levels. So a text that is nested this deeply is not parsed.

use tree_sitter::Node;

use super::lines::{define_with_signature, document_last_symbol, hash_comment_above};
use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, find,
};
use crate::syntax::text::{format_line_count, one_line};

/// YAML, version 1.2.
pub(super) static YAML: Language = Language {
    marks: ElisionMarks::HASH,
    is_too_deep: Some(is_too_deep),
    ..Language::new("yaml", tree_sitter_yaml::LANGUAGE, "tree-sitter-yaml 0.7.2", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("document", Visit::Read(document)),
    ("block_node flow_node block_mapping flow_mapping", Visit::Enter),
    ("block_mapping_pair flow_pair", Visit::Read(pair)),
    ("block_sequence", Visit::Read(sequence)),
];

/// Keys of this many levels are shown.
const SHOWN_LEVELS: usize = 2;

/// A nested value of more lines than this is shown by its size.
const LONG_VALUE: usize = 3;

/// A text of more lines than this is shown by its size.
const LONG_TEXT: usize = 6;

/// A pair of no more bytes than this, on one line, is shown with its value.
const SHORT_PAIR: usize = 80;

/// This many blocks may be open at once.
const MAX_OPEN: usize = 100;

/// Reads one document; where there are several each is a symbol.
fn document<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let is_only = node.prev_named_sibling().is_none_or(|other| other.kind() != "document")
        && node.next_named_sibling().is_none_or(|other| other.kind() != "document");
    let Some(content) = children(node).into_iter().find(|child| child.kind().ends_with("_node")) else {
        return;
    };
    // A single document is not a symbol of its own, so that its keys are the top level.
    if is_only {
        return walk.visit_children(node);
    }
    let name = document_name(walk, content).unwrap_or_else(|| format!("document {}", walk.symbols.len() + 1));
    let definition = SymbolDefinition::new(SymbolKind::Object, name.clone(), SymbolBody::Members(node));
    define_with_signature(walk, node, definition, name);
}

/// Returns `Deployment/web` for what is written for Kubernetes.
fn document_name<'t>(walk: &OutlineWalk<'t>, content: Node<'t>) -> Option<String> {
    let kind = scalar(walk, content, "kind")?;
    let name = value_for_key(walk, content, "metadata").and_then(|metadata| scalar(walk, metadata, "name"));
    Some(name.map_or_else(|| kind.to_owned(), |name| format!("{kind}/{name}")))
}

/// Returns the value of a key of a mapping.
fn value_for_key<'t>(walk: &OutlineWalk<'t>, content: Node<'t>, key: &str) -> Option<Node<'t>> {
    let mapping = child_of_kind(content, "block_mapping")?;
    let pairs = children(mapping).into_iter();
    let mut named = pairs.filter(|pair| find(*pair, "key").is_some_and(|node| walk.text(node) == key));
    named.next().and_then(|pair| find(pair, "value"))
}

fn scalar<'t>(walk: &OutlineWalk<'t>, content: Node<'t>, key: &str) -> Option<&'t str> {
    let value = walk.text(value_for_key(walk, content, key)?).trim_matches(['"', '\'']);
    (!value.is_empty() && !value.contains('\n') && value.len() < SHORT_PAIR).then_some(value)
}

/// Reads `key: value`.
fn pair<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let level = level(walk);
    let Some(key) = find(node, "key").filter(|_| level < SHOWN_LEVELS) else { return };
    let value = find(node, "value");
    let key = walk.text(key);
    let name = one_line(key.trim_matches(['"', '\'']));
    let has_keys = value.is_some_and(|value| is_nested(value) && level + 1 < SHOWN_LEVELS);
    let inside = if has_keys { SymbolBody::members(value) } else { SymbolBody::Nothing };
    let signature = signature(walk, node, key);
    let start = walk.range(node).start;
    if define_with_signature(walk, node, SymbolDefinition::new(SymbolKind::Key, name, inside), signature) {
        document_last_symbol(walk, |walk| hash_comment_above(walk, start));
    }
    if let Some(value) = value.filter(|_| !has_keys) {
        cut_value(walk, value);
    }
}

/// Reads a list: its elements that have a name, or the keys of the first.
fn sequence<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let items = children(node).into_iter().filter(|child| child.kind() == "block_sequence_item");
    let items: Vec<_> = items.collect();
    if level(walk) == 0 {
        for item in &items {
            named_item(walk, *item);
        }
    } else if let Some(first) =
        items.first().and_then(|item| item.named_child(0)).filter(|first| is_nested(*first))
    {
        walk.visit_children(first);
    }
    if let Some(second) = items.get(1).filter(|_| 0 < level(walk)) {
        let range = walk.range(*second).start..walk.range(node).end;
        cut_lines(walk, node, range);
    }
}

/// Reads an element of a list that is the whole document.
fn named_item<'t>(walk: &mut OutlineWalk<'t>, item: Node<'t>) {
    let Some(content) = item.named_child(0) else { return };
    let name =
        ["name", "id", "key", "title", "alias", "case"].iter().find_map(|key| scalar(walk, content, key));
    if let Some(name) = name {
        let name = one_line(name);
        let head = walk.text(item).lines().next().map(one_line).unwrap_or_default();
        define_with_signature(
            walk,
            item,
            SymbolDefinition::new(SymbolKind::Object, name, SymbolBody::Members(content)),
            head,
        );
    }
}

/// Returns how many keys are around what is being read.
fn level(walk: &OutlineWalk<'_>) -> usize {
    walk.scopes.iter().filter(|scope| scope.kind == SymbolKind::Key).count()
}

/// Returns whether a value contains keys or elements.
fn is_nested(value: Node<'_>) -> bool {
    children(value)
        .iter()
        .any(|child| matches!(child.kind(), "block_mapping" | "block_sequence" | "flow_mapping"))
}

fn signature<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, key: &str) -> String {
    let whole = walk.text(node);
    if whole.len() <= SHORT_PAIR && !whole.contains('\n') {
        return one_line(whole);
    }
    // An anchor is what others refer to.
    let anchor = find(node, "value/.anchor").map_or("", |anchor| walk.text(anchor));
    one_line(&format!("{key}: {anchor}")).trim_end_matches([':', ' ']).to_owned()
}

fn cut_value<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    if let Some(text) = child_of_kind(value, "block_scalar") {
        return cut_text(walk, text);
    }
    if !is_nested(value) || value.kind() != "block_node" {
        return;
    }
    if let Some(nested) = children(value).into_iter().find(|child| child.kind().starts_with("block_")) {
        let range = walk.range(nested);
        cut_lines(walk, value, range);
    }
}

/// Cuts lines, except those that others may refer to.
fn cut_lines<'t>(walk: &mut OutlineWalk<'t>, holder: Node<'t>, range: std::ops::Range<usize>) {
    let text = walk.source.text(range.clone()).trim_end();
    let lines = text.lines().count();
    // An anchor that is cut would break the aliases that refer to it.
    if lines <= LONG_VALUE || holder.has_error() || text.contains(" &") {
        return;
    }
    walk.cut(range.start..range.start + text.len(), format!("# {}", format_line_count(lines)));
}

/// Cuts the lines of a `|` text, and leaves their number.
fn cut_text<'t>(walk: &mut OutlineWalk<'t>, text: Node<'t>) {
    let range = walk.range(text);
    let whole = walk.source.text(range.clone()).trim_end();
    let lines = whole.lines().count();
    let Some(head) = whole.find('\n').filter(|_| LONG_TEXT < lines && !text.has_error()) else { return };
    let inner = &whole[head + 1..];
    let Some(first) = inner.lines().find(|line| !line.trim().is_empty()) else { return };
    let indent = first.len() - first.trim_start().len();
    let start = range.start + head + 1;
    let indent = inner.lines().next().map_or(0, |line| line.len().min(indent)).max(indent);
    let indent = " ".repeat(indent);
    let mark = format!("{indent}… {}", format_line_count(lines - 1));
    walk.cut_where_understood(start..range.start + whole.len(), mark);
}

/// Returns whether more blocks are open at once than the grammar can handle.
fn is_too_deep(text: &str) -> bool {
    let mut open: Vec<usize> = Vec::new();
    text.lines().any(|line| {
        let mut column = line.len() - line.trim_start_matches([' ', '\t']).len();
        let mut rest = &line[column..];
        if rest.is_empty() {
            return false;
        }
        // A line closes the blocks that begin in its column or to the right of it.
        open.truncate(open.partition_point(|other| *other < column));
        open.push(column);
        // `- - a` opens a block for each dash, and so do `? ` and `: `.
        while rest.starts_with(['-', '?', ':'])
            && rest[1..].starts_with([' ', '\t'])
            && open.len() <= MAX_OPEN
        {
            let own = rest.len() - rest[1..].trim_start_matches([' ', '\t']).len();
            column += own;
            rest = &rest[own..];
            open.push(column);
        }
        MAX_OPEN < open.len()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_is_the_number_of_open_blocks() {
        let steps = |count: usize| (0..count).fold(String::new(), |text, at| text + &" ".repeat(at) + "k:\n");
        assert!(!is_too_deep(&steps(100)));
        assert!(is_too_deep(&steps(101)));
        assert!(is_too_deep(&"- ".repeat(400)));
        assert!(!is_too_deep(&"a:\n  - b: c\n    d: e\n".repeat(1_000)));
    }

    #[test]
    fn text_that_would_crash_the_grammar_is_not_parsed() {
        let text = (0..3_000).fold(String::new(), |text, at| text + &" ".repeat(at) + "k:\n");
        let structure = crate::syntax::derive::derive("yaml", &text, &mut || false).unwrap();
        assert_eq!(structure.outline.health.fallback, Some(crate::model::ParseFallback::TooDeep));
    }
}
