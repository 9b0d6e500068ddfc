//! Rust: the imports of `use` and `extern crate`.

use std::borrow::Cow;

use tree_sitter::Node;

use crate::model::BindingValue;
use crate::syntax::facts::builder::{FactsBuilder, field, line_of};
use crate::syntax::outline::named_children;

/// Longer paths are not imported.
const MAX_PATH: usize = 400;

pub(super) fn extern_crate<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    facts.attribute_at = None;
    let Some(name) = field(node, "name") else { return };
    let bound = field(node, "alias").unwrap_or(name);
    let import = facts.import("::", Some(facts.text_of(name)), false, line_of(name));
    facts.bind_node(facts.scope, bound, BindingValue::Import(import));
}

/// Reads a part of a `use` below the path before it.
pub(super) fn import<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, before: &str) {
    match node.kind() {
        "use_list" => {
            for item in named_children(node) {
                facts.deeper(item, |facts, item| import(facts, item, before));
            }
        }
        "scoped_use_list" => {
            let path = field(node, "path").map_or("", |path| facts.text_of(path));
            let below = below(before, path);
            // The limit keeps the total length of paths in nested lists proportional to the text.
            if let Some(list) = field(node, "list").filter(|_| below.len() < MAX_PATH) {
                facts.deeper(list, |facts, list| import(facts, list, &below));
            }
        }
        "use_wildcard" => {
            let path = node.named_child(0).map_or("", |path| facts.text_of(path));
            let module = facts.any_name(Cow::Owned(below(before, path)));
            facts.import_named(module, None, true, line_of(node));
        }
        "use_as_clause" => {
            let Some(path) = field(node, "path") else { return };
            import_name(facts, path, before, field(node, "alias"));
        }
        "identifier" | "scoped_identifier" | "self" | "crate" | "super" => {
            import_name(facts, node, before, None);
        }
        _ => {}
    }
}

/// Returns a path below another one.
fn below(before: &str, path: &str) -> String {
    let path: String = path.split_whitespace().collect();
    match (before.is_empty(), path.is_empty()) {
        (true, _) => path,
        (false, true) => before.to_owned(),
        (false, false) => format!("{before}::{path}"),
    }
}

fn import_name<'t>(facts: &mut FactsBuilder<'t>, path: Node<'t>, before: &str, alias: Option<Node<'t>>) {
    let whole = below(before, facts.text_of(path));
    // `use a::{self}` imports `a`.
    let whole = whole.strip_suffix("::self").unwrap_or(&whole);
    let (module, name) = whole.rsplit_once("::").unwrap_or(("", whole));
    let (module, name) = (Cow::Owned(module.to_owned()), Cow::Owned(name.to_owned()));
    let (module, name) = (facts.any_name(module), facts.any_name(name));
    let import = facts.import_named(module, Some(name), false, line_of(path));
    match alias {
        Some(alias) => facts.bind_node(facts.scope, alias, BindingValue::Import(import)),
        None => facts.bind(facts.scope, name, BindingValue::Import(import), line_of(path)),
    }
}
