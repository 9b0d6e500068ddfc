//! Rust's modules, implementations, imports and the documentation of a whole file.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::comments::documentation;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::rule::find_first;
use crate::syntax::walk::OutlineWalk;

/// Reads what `//!` and `/*!` at the head say of the file.
pub(super) fn crate_docs<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    walk.doc = inner_docs(walk, root);
}

/// Returns what stands within something and is about it.
fn inner_docs<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> Option<String> {
    let mut text = String::new();
    for child in node.children(&mut node.walk()) {
        let comment = walk.text(child);
        if comment.starts_with("//!") || comment.starts_with("/*!") {
            text.push_str(comment.trim_end());
            text.push('\n');
        } else if !child.kind().ends_with("comment") && !matches!(child.kind(), "inner_attribute_item" | "{")
        {
            break;
        }
    }
    documentation(&text)
}

/// Reads `impl Trait for Type { … }`: its name is the type's, and what is in it belongs to the type.
pub(super) fn implementation<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find_first(node, &["type/name", "type/type", "type"]) else { return };
    let name = walk.text(name).to_owned();
    let inside = find_first(node, &["body"]).map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(SymbolKind::Object, name, inside));
}

/// Reads `mod name { … }`; `mod name;` draws in a file.
pub(super) fn module<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find_first(node, &["name"]) else { return };
    let name = walk.text(name).to_owned();
    match find_first(node, &["body"]) {
        Some(body) => {
            walk.define(node, SymbolDefinition::new(SymbolKind::Module, name, SymbolBody::Members(body)));
            let doc = inner_docs(walk, body);
            if let Some(module) = walk.symbols.last_mut().filter(|module| module.doc.is_none()) {
                module.doc = doc;
            }
        }
        None => walk.add_import(&name),
    }
}

/// Reads `macro_rules!`: what its rules match stays in the skeleton, what they become does not.
pub(super) fn macro_rules<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    let rules = find_all(node, ".macro_rule");
    let inside = rules.first().map_or(SymbolBody::Nothing, |first| SymbolBody::Members(*first));
    walk.define(node, SymbolDefinition::new(SymbolKind::Macro, name, inside));
    for rule in rules {
        if let Some(right) = find(rule, "right") {
            walk.cut_code(right);
        }
    }
}

/// Reads `use a::b;` and `extern crate a;`.
pub(super) fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(path) = find_first(node, &["argument", "name"]) {
        walk.add_import(walk.text(path));
    }
}

/// Reads `const NAME: T = …;`; `const _` only makes the compiler look.
pub(super) fn constant<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), value) = (find(node, "name"), find(node, "value")) else { return };
    match (walk.text(name), value) {
        ("_", Some(value)) => walk.cut_rows(value),
        (name, value) => {
            let inside = value.map_or(SymbolBody::Nothing, SymbolBody::Value);
            walk.define(node, SymbolDefinition::new(SymbolKind::Constant, name.to_owned(), inside));
        }
    }
}
