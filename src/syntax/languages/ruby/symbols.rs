//! Ruby's classes, modules, methods and constants.

use tree_sitter::Node;

use super::bodies::comments_before;
use super::bodies::cut_body;
use super::bodies::cut_words;
use super::bodies::enter;
use super::bodies::is_endless;
use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::rule::find_first;
use crate::syntax::walk::NamedScope;
use crate::syntax::walk::OutlineWalk;

/// What makes a class where it is called with a block.
const MAKERS: [&str; 4] = ["Class.new", "Data.define", "Module.new", "Struct.new"];

/// Reads `class Name < Other`.
pub(super) fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    container(walk, node, SymbolKind::Class);
}

/// Reads `module Name`.
pub(super) fn module<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    container(walk, node, SymbolKind::Module);
}

fn container<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind) {
    let Some(name) = find(node, "name") else { return };
    let head_end = walk.range(find(node, "superclass").unwrap_or(name)).end;
    let name = walk.text(name).trim_start_matches("::").to_owned();
    let body = find(node, "body");
    if let Some(body) = body {
        walk.prepend_comments(comments_before(node, body));
    }
    let inside = body.map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(kind, name, inside).with_signature_end(head_end));
}

/// Reads `class << self`: what is in it belongs to the class around it.
pub(super) fn singleton_class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    walk.scopes.push(NamedScope { name: String::new(), kind: SymbolKind::Object });
    enter(walk, node);
    walk.scopes.pop();
}

/// Reads `def name` and `def self.name`.
pub(super) fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let object = find(node, "object").map(|object| walk.text(object));
    let head = find(node, "parameters").unwrap_or(name);
    let head_end = if is_endless(node) && !walk.text(node).contains('\n') { node } else { head };
    let head_end = walk.range(head_end).end;
    let name = walk.text(name).to_owned();
    let kind = match name.as_str() {
        "initialize" => SymbolKind::Constructor,
        _ if walk.scopes.is_empty() && object.is_none() => SymbolKind::Function,
        _ => SymbolKind::Method,
    };
    let mut definition = SymbolDefinition::new(kind, name, SymbolBody::Nothing).with_signature_end(head_end);
    if let Some(object) = object.filter(|object| *object != "self") {
        definition = definition.with_owner(object).with_separator(".");
    }
    walk.define(node, definition);
    set_method_separator(walk, if object.is_some() { "." } else { "#" });
    cut_body(walk, node);
}

/// Reads `alias new old`.
pub(super) fn alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(name) = find(node, "name").filter(|name| name.kind() != "global_variable") {
        let name = walk.text(name).trim_start_matches(':').to_owned();
        walk.define(node, SymbolDefinition::new(SymbolKind::Method, name, SymbolBody::Nothing));
        set_method_separator(walk, "#");
    }
}

/// Puts `joint` between the method that was defined last and what it belongs to, as Ruby's documentation does.
pub(super) fn set_method_separator(walk: &mut OutlineWalk<'_>, joint: &str) {
    let is_of_class = walk.scopes.last().is_some_and(|scope| scope.name.is_empty());
    let joint = if is_of_class { "." } else { joint };
    if let Some(last) = walk.symbols.last_mut()
        && let Some(owner) = last.qualified_name.strip_suffix(&format!("::{}", last.name))
    {
        last.qualified_name = format!("{owner}{joint}{}", last.name);
    }
}

/// Reads `NAME = value` and `$name = value`; local variables are nobody's business.
pub(super) fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(left), Some(right)) = (find(node, "left"), find(node, "right")) else { return };
    let several = [find_all(left, ".constant"), find_all(left, ".global_variable")].concat();
    let names = if left.kind() == "left_assignment_list" { several } else { vec![left] };
    for name in names {
        let kind = match name.kind() {
            "constant" | "scope_resolution" => SymbolKind::Constant,
            "global_variable" => SymbolKind::Variable,
            "class_variable" => SymbolKind::Field,
            _ => continue,
        };
        let name = walk.text(name).to_owned();
        let block = find_first(right, &["block/body"]).filter(|_| makes_class(walk, right));
        match block {
            Some(body) => {
                let head_end = walk.range(right).start + walk.text(right).find(" do").unwrap_or(0);
                let definition = SymbolDefinition::new(SymbolKind::Class, name, SymbolBody::Members(body));
                walk.define(node, definition.with_signature_end(head_end));
            }
            None if makes_class(walk, right) => {
                walk.define(node, SymbolDefinition::new(SymbolKind::Class, name, SymbolBody::Nothing));
            }
            None => walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Value(right))),
        }
    }
    cut_words(walk, right);
}

fn makes_class(walk: &OutlineWalk<'_>, value: Node<'_>) -> bool {
    let text = walk.text(value);
    value.kind() == "call" && MAKERS.iter().any(|maker| text.starts_with(maker))
}
