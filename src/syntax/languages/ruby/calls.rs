//! Calls that declare something in Ruby: `require`, `attr_reader`, `private def …`, and blocks that hold declarations.

use tree_sitter::Node;

use super::bodies::cut_body;
use super::bodies::enter;
use super::symbols::set_method_separator;
use crate::model::SymbolKind;
use crate::syntax::define::SymbolBody;
use crate::syntax::define::SymbolDefinition;
use crate::syntax::rule::find;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::words::one_line;

/// Calls whose block is code that runs some time: tests, hooks, tasks.
const CODE: [&str; 17] = [
    "after",
    "around",
    "at_exit",
    "background",
    "before",
    "delete",
    "example",
    "file",
    "get",
    "let",
    "let!",
    "post",
    "put",
    "rule",
    "setup",
    "subject",
    "teardown",
];

/// Reads a call that stands for itself.
pub(super) fn call<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(method) = find(node, "method") else { return };
    let has_receiver = find(node, "receiver").is_some();
    match walk.text(method) {
        "require" | "require_relative" | "load" if !has_receiver => import(walk, node, 0),
        "autoload" if !has_receiver => import(walk, node, 1),
        "attr_accessor" | "attr_reader" | "attr_writer" | "attr" | "cattr_accessor" | "class_attribute"
        | "mattr_accessor" | "cattr_reader" | "mattr_reader" => {
            for name in names(walk, node) {
                define(walk, node, SymbolKind::Property, name);
            }
        }
        "define_method" | "define_singleton_method" => defined_method(walk, node),
        "alias_method" => {
            if let Some(name) = names(walk, node).into_iter().next() {
                define(walk, node, SymbolKind::Method, name);
            }
        }
        "namespace" if !has_receiver => group(walk, node, SymbolKind::Namespace),
        "refine" => group(walk, node, SymbolKind::Object),
        "task" if !has_receiver => task(walk, node),
        "create_table" => table(walk, node),
        name @ ("describe" | "context" | "feature" | "shared_examples" | "shared_context" | "it"
        | "specify" | "scenario" | "test" | "should") => test(walk, node, name),
        name => other(walk, node, name),
    }
}

/// Reads what a file is drawn in by.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, at: usize) {
    walk.use_comment_as_file_doc();
    let source = arguments(node).into_iter().nth(at).filter(|source| source.kind() == "string");
    if let Some(source) = source {
        walk.add_import(walk.text(source).trim_matches(['"', '\'']));
    }
}

/// Reads `define_method(:name) do … end`.
fn defined_method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = names(walk, node).into_iter().next() else { return };
    define(walk, node, SymbolKind::Method, name);
    if let Some(block) = find(node, "block") {
        cut_body(walk, block);
    }
}

/// Reads a task of Rake.
fn task<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let first = arguments(node).into_iter().next();
    let name = first.map(|first| find(first, "key").unwrap_or(first)).map(|name| walk.text(name));
    let Some(name) = name.map(plain) else { return };
    let head_end = find(node, "block").map_or(walk.range(node).end, |block| walk.range(block).start);
    let definition = SymbolDefinition::new(SymbolKind::Target, name.to_owned(), SymbolBody::Nothing);
    walk.define(node, definition.with_signature_end(head_end));
    if let Some(block) = find(node, "block") {
        cut_body(walk, block);
    }
}

/// Reads a table of a schema; its columns stay in the skeleton.
fn table<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(name) = names(walk, node).into_iter().next() {
        let head_end = find(node, "block").map_or(walk.range(node).end, |block| walk.range(block).start);
        walk.define(
            node,
            SymbolDefinition::new(SymbolKind::Table, name, SymbolBody::Nothing).with_signature_end(head_end),
        );
    }
}

/// Reads a test or a group of tests, which are named by what they say: `describe Frame`.
fn test<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, word: &str) {
    let Some(block) = find(node, "block") else { return };
    let title = arguments(node).into_iter().next().map_or("", |title| plain(walk.text(title)));
    let name = one_line(&format!("{word} {title}"));
    let head_end = walk.range(block).start;
    let is_group = !matches!(word, "it" | "specify" | "scenario" | "test" | "should");
    let body = find(block, "body").filter(|_| is_group);
    let kind = if is_group { SymbolKind::Module } else { SymbolKind::Function };
    let inside = body.map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(kind, name, inside).with_signature_end(head_end));
    if !is_group {
        cut_body(walk, block);
    }
}

/// Reads a block that gives a name to what is in it.
fn group<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind) {
    let first = arguments(node).into_iter().next().map(|first| walk.text(first));
    let (Some(name), Some(block)) = (first.map(plain), find(node, "block")) else { return };
    let head_end = walk.range(block).start;
    let inside = find(block, "body").map_or(SymbolBody::Nothing, SymbolBody::Members);
    walk.define(node, SymbolDefinition::new(kind, name.to_owned(), inside).with_signature_end(head_end));
}

/// Looks into what any other call is handed: a method that it marks, or a block with declarations.
fn other<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, name: &str) {
    let marks = |argument: &Node<'_>| matches!(argument.kind(), "method" | "singleton_method" | "call");
    if arguments(node).iter().any(marks) {
        return walk.visit_wrapped(node);
    }
    match find(node, "block") {
        Some(block) if CODE.contains(&name) => cut_body(walk, block),
        Some(block) => enter(walk, block),
        None => {}
    }
}

fn define<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind, name: String) {
    let head_end = find(node, "block").map_or(walk.range(node).end, |block| walk.range(block).start);
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Nothing).with_signature_end(head_end));
    set_method_separator(walk, "#");
}

/// Returns the names that a call is handed as symbols or strings.
fn names(walk: &OutlineWalk<'_>, call: Node<'_>) -> Vec<String> {
    let handed = arguments(call).into_iter();
    let names = handed.filter(|argument| matches!(argument.kind(), "simple_symbol" | "string"));
    names.map(|name| plain(walk.text(name)).to_owned()).collect()
}

fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let list = find(call, "arguments");
    list.map(|list| list.named_children(&mut list.walk()).collect()).unwrap_or_default()
}

fn plain(name: &str) -> &str {
    name.trim_start_matches(':').trim_matches(['"', '\'']).trim_end_matches(':')
}
