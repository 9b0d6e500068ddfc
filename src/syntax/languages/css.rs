//! CSS: rules, and what is in them.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, children,
};
use crate::syntax::text::one_line;

/// CSS, with nested rules.
pub(super) static CSS: Language = Language {
    separator: " ",
    cuts_detached_comments: true,
    ..Language::new("css", tree_sitter_css::LANGUAGE, "tree-sitter-css 0.25.0", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("charset_statement", Visit::FileHead),
    ("import_statement", Visit::Preamble(import)),
    ("declaration", Visit::Read(declaration)),
    ("rule_set media_statement supports_statement scope_statement at_rule", Visit::Read(rule)),
    ("keyframes_statement", Visit::Read(keyframes)),
];

/// Reads `@import url("a.css") screen;`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(what) = node.named_child(0) else { return };
    let what = walk.text(what);
    let what = what.strip_prefix("url(").and_then(|what| what.strip_suffix(')')).unwrap_or(what);
    walk.add_import(what.trim_matches(['"', '\'', ' ']));
}

/// Reads `a:hover, .b { … }`, `@media (…) { … }` and similar rules.
fn rule<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(block) = child_of_kind(node, "block") else { return };
    let name = head(walk, node, block);
    if name.contains(['{', '}']) {
        // The grammar was lost before this.
        return walk.visit_children(block);
    }
    // Declarations are the body of a rule; only variables and other rules are members.
    let inside = if has_members(walk, block) { SymbolBody::Members(block) } else { SymbolBody::Code(block) };
    walk.define(node, SymbolDefinition::new(SymbolKind::Selector, name, inside));
}

/// Reads `@keyframes name { … }`.
fn keyframes<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(block) = child_of_kind(node, "keyframe_block_list") else { return };
    let name = head(walk, node, block);
    walk.define(node, SymbolDefinition::new(SymbolKind::Selector, name, SymbolBody::Code(block)));
}

/// Reads `--name: value;`; other declarations are the body of a rule.
fn declaration<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = child_of_kind(node, "property_name").map(|name| walk.text(name)) else { return };
    if name.starts_with("--") {
        walk.define(node, SymbolDefinition::new(SymbolKind::Variable, name, SymbolBody::Nothing));
    }
}

fn head<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, block: Node<'t>) -> String {
    one_line(&walk.signature_text(node, walk.range(node).start..walk.range(block).start))
}

/// Returns whether a block has more in it than declarations.
fn has_members<'t>(walk: &OutlineWalk<'t>, block: Node<'t>) -> bool {
    children(block).into_iter().any(|child| match child.kind() {
        "declaration" => walk.text(child).starts_with("--"),
        kind => kind.ends_with("_set") || kind.ends_with("_statement") || kind == "at_rule",
    })
}
