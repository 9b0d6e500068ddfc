//! Ruby: classes, modules, methods, constants, and the calls that declare something.

use std::ops::Range;

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NamedScope, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit,
    children, find, find_all, named_children,
};
use crate::syntax::text::{format_line_count, one_line};

/// Ruby, up to what the grammar knows of 3.
pub(super) static RUBY: Language = Language {
    separator: "::",
    marks: ElisionMarks::HASH,
    ..Language::new("ruby", tree_sitter_ruby::LANGUAGE, "tree-sitter-ruby 0.23.1", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("class module", Visit::Read(container)),
    ("singleton_class", Visit::Read(singleton_class)),
    ("method singleton_method", Visit::Read(method)),
    ("alias", Visit::Read(alias)),
    ("assignment operator_assignment", Visit::Read(assignment)),
    ("call", Visit::Read(call)),
    ("argument_list", Visit::Wrapper),
    ("heredoc_body", Visit::Read(heredoc)),
    ("body_statement begin if unless elsif then else if_modifier unless_modifier", Visit::Enter),
];

/// Calls that create a class if they have a block.
const MAKERS: [&str; 4] = ["Class.new", "Data.define", "Module.new", "Struct.new"];

/// Calls whose block is code that runs later: tests, hooks, tasks.
const CODE: [&str; 17] = [
    "after", "around", "at_exit", "background", "before", "delete", "example", "file", "get", "let", "let!",
    "post", "put", "rule", "setup", "subject", "teardown",
];

/// A text or a list of more bytes than this is shown by its size.
const LARGE_VALUE: usize = 400;

/// Reads `class Name < Other` and `module Name`.
fn container<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let kind = if node.kind() == "class" { SymbolKind::Class } else { SymbolKind::Module };
    let head_end = walk.range(find(node, "superclass").unwrap_or(name)).end;
    let name = walk.text(name).trim_start_matches("::").to_owned();
    let body = find(node, "body");
    if let Some(body) = body {
        walk.prepend_comments(comments_before(node, body));
    }
    let inside = SymbolBody::members(body);
    walk.define(node, SymbolDefinition::new(kind, name, inside).with_signature_end(head_end));
}

/// Reads `class << self`: its members belong to the class around it.
fn singleton_class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    // The empty name adds nothing to qualified names, and shows `set_method_separator` what is around a
    // method.
    walk.scopes.push(NamedScope { name: String::new(), kind: SymbolKind::Object });
    enter(walk, node);
    walk.scopes.pop();
}

/// Reads `def name` and `def self.name`.
fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let object = find(node, "object").map(|object| walk.text(object));
    let head = find(node, "parameters").unwrap_or(name);
    // An endless method on one line is shown whole: there is no more of it than its value.
    let head_end = if is_endless(node) && !walk.text(node).contains('\n') { node } else { head };
    let head_end = walk.range(head_end).end;
    let name = walk.text(name).to_owned();
    let kind = match name.as_str() {
        "initialize" => SymbolKind::Constructor,
        _ if walk.scopes.is_empty() && object.is_none() => SymbolKind::Function,
        _ => SymbolKind::Method,
    };
    // The body is cut below and not here, because the comments that the grammar puts before it go with it.
    let mut definition = SymbolDefinition::new(kind, name, SymbolBody::Nothing).with_signature_end(head_end);
    if let Some(object) = object.filter(|object| *object != "self") {
        definition = definition.with_owner(object).with_separator(".");
    }
    walk.define(node, definition);
    set_method_separator(walk, if object.is_some() { "." } else { "#" });
    if is_in_singleton(walk) && object.is_none() {
        // Out of its `class << self` it would read as a method of instances.
        rewrite_signature(walk, |signature| signature.replacen("def ", "def self.", 1));
    }
    cut_body(walk, node);
}

/// Reads `alias new old`.
fn alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(name) = find(node, "name").filter(|name| name.kind() != "global_variable") {
        let name = walk.text(name).trim_start_matches(':').to_owned();
        walk.define(node, SymbolDefinition::new(SymbolKind::Method, name, SymbolBody::Nothing));
        set_method_separator(walk, "#");
        wrap_in_singleton(walk);
    }
}

/// Returns whether what is read is within `class << self`, whose name is empty.
fn is_in_singleton(walk: &OutlineWalk<'_>) -> bool {
    walk.scopes.last().is_some_and(|scope| scope.name.is_empty())
}

/// Puts the class of `class << self` around the call that was defined last, where it is in one.
fn wrap_in_singleton(walk: &mut OutlineWalk<'_>) {
    if is_in_singleton(walk) {
        rewrite_signature(walk, |signature| format!("class << self; {signature}; end"));
    }
}

fn rewrite_signature(walk: &mut OutlineWalk<'_>, rewrite: impl FnOnce(&str) -> String) {
    if let Some(last) = walk.symbols.last_mut() {
        last.signature = rewrite(&last.signature);
    }
}

/// Puts `separator` between the method that was defined last and its owner, as Ruby's documentation does.
fn set_method_separator(walk: &mut OutlineWalk<'_>, separator: &str) {
    let separator = if is_in_singleton(walk) { "." } else { separator };
    if let Some(last) = walk.symbols.last_mut()
        && let Some(owner) = last.qualified_name.strip_suffix(&format!("::{}", last.name))
    {
        last.qualified_name = format!("{owner}{separator}{}", last.name);
    }
}

/// Reads `NAME = value` and `$name = value`; local variables are not shown.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
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
        let block = find(right, "block/body").filter(|_| makes_class(walk, right));
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

/// Reads a call that is a statement.
fn call<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(method) = find(node, "method") else { return };
    let has_receiver = find(node, "receiver").is_some();
    match walk.text(method) {
        // `loader.require` is a method of some object.
        "require" | "require_relative" | "load" if !has_receiver => import(walk, node, 0),
        "autoload" if !has_receiver => import(walk, node, 1),
        "attr_accessor" | "attr_reader" | "attr_writer" | "attr" | "cattr_accessor" | "class_attribute"
        | "mattr_accessor" | "cattr_reader" | "mattr_reader" => {
            for name in names(walk, node) {
                define_member(walk, node, SymbolKind::Property, name);
            }
        }
        "has_many"
        | "has_one"
        | "belongs_to"
        | "has_and_belongs_to_many"
        | "has_one_attached"
        | "has_many_attached"
        | "enum"
            if !has_receiver =>
        {
            if let Some(name) = first_name(walk, node) {
                define_member(walk, node, SymbolKind::Property, name);
            }
        }
        "delegate" if !has_receiver => {
            for name in names(walk, node) {
                define_member(walk, node, SymbolKind::Method, name);
            }
        }
        // A scope of a model: `scope :active, -> { … }`. Routes have scopes too, with blocks.
        "scope" if !has_receiver && find(node, "block").is_none() && 1 < arguments(node).len() => {
            if let Some(name) = names(walk, node).into_iter().next() {
                define(walk, node, SymbolKind::Method, name);
                set_method_separator(walk, ".");
            }
        }
        "define_method" | "define_singleton_method" => defined_method(walk, node),
        "alias_method" => {
            if let Some(name) = names(walk, node).into_iter().next() {
                define_member(walk, node, SymbolKind::Method, name);
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

/// Reads a call that imports a file.
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
    define_member(walk, node, SymbolKind::Method, name);
    if let Some(block) = find(node, "block") {
        cut_body(walk, block);
    }
}

/// Reads a task of Rake.
fn task<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let first = arguments(node).into_iter().next();
    let name = first.map(|first| find(first, "key").unwrap_or(first)).map(|name| walk.text(name));
    let Some(name) = name.map(plain) else { return };
    define(walk, node, SymbolKind::Target, name.to_owned());
    if let Some(block) = find(node, "block") {
        cut_body(walk, block);
    }
}

/// Reads a table of a schema; its columns stay in the skeleton.
fn table<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(name) = names(walk, node).into_iter().next() {
        define(walk, node, SymbolKind::Table, name);
    }
}

/// Reads a test or a group of tests, which are named by their titles: `describe Frame`.
fn test<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, word: &str) {
    let Some(block) = find(node, "block") else { return };
    let title = arguments(node).into_iter().next().map_or("", |title| plain(walk.text(title)));
    let name = one_line(&format!("{word} {title}"));
    let head_end = walk.range(block).start;
    let is_group = !matches!(word, "it" | "specify" | "scenario" | "test" | "should");
    let body = find(block, "body").filter(|_| is_group);
    let kind = if is_group { SymbolKind::Module } else { SymbolKind::Function };
    let inside = SymbolBody::members(body);
    walk.define(node, SymbolDefinition::new(kind, name, inside).with_signature_end(head_end));
    if !is_group {
        cut_body(walk, block);
    }
}

/// Reads a block that names a scope.
fn group<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind) {
    let first = arguments(node).into_iter().next().map(|first| walk.text(first));
    let (Some(name), Some(block)) = (first.map(plain), find(node, "block")) else { return };
    let head_end = walk.range(block).start;
    let inside = SymbolBody::members(find(block, "body"));
    walk.define(node, SymbolDefinition::new(kind, name, inside).with_signature_end(head_end));
}

/// Reads the arguments of any other call: a method that it marks, or a block with declarations.
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

/// Adds what a call declares, whose signature ends before its block.
fn define<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind, name: String) {
    let head_end = find(node, "block").map_or(walk.range(node).end, |block| walk.range(block).start);
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Nothing).with_signature_end(head_end));
}

fn define_member<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind, name: String) {
    define(walk, node, kind, name);
    set_method_separator(walk, "#");
    wrap_in_singleton(walk);
}

/// Returns the names among the arguments of a call, which are symbols or strings.
fn names(walk: &OutlineWalk<'_>, call: Node<'_>) -> Vec<String> {
    let args = arguments(call).into_iter();
    let names = args.filter(|argument| matches!(argument.kind(), "simple_symbol" | "string"));
    names.map(|name| plain(walk.text(name)).to_owned()).collect()
}

/// Returns what the first argument names: a symbol, a string, or the key of a pair as in `enum status: [:draft]`.
fn first_name(walk: &OutlineWalk<'_>, call: Node<'_>) -> Option<String> {
    let first = arguments(call).into_iter().next()?;
    let name = find(first, "key").unwrap_or(first);
    let is_name = matches!(name.kind(), "simple_symbol" | "string" | "hash_key_symbol");
    is_name.then(|| plain(walk.text(name)).to_owned())
}

fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    let list = find(call, "arguments");
    list.map(|list| named_children(list)).unwrap_or_default()
}

fn plain(name: &str) -> &str {
    name.trim_start_matches(':').trim_matches(['"', '\'']).trim_end_matches(':')
}

/// Returns the comments that the grammar puts before a body though they are in it.
fn comments_before<'t>(holder: Node<'t>, body: Node<'t>) -> Vec<Node<'t>> {
    // A comment on the first line is about the head.
    let first_line = holder.start_position().row;
    children(holder)
        .into_iter()
        .take_while(|child| child.start_byte() < body.start_byte())
        .filter(|child| child.kind() == "comment" && first_line < child.start_position().row)
        .collect()
}

/// Visits what is in `holder` as part of the scopes around it.
fn enter<'t>(walk: &mut OutlineWalk<'t>, holder: Node<'t>) {
    if let Some(body) = find(holder, "body") {
        walk.prepend_comments(comments_before(holder, body));
        walk.visit_children(body);
    }
}

/// Cuts the body of a method or a block, with the comments that it begins with. A body on one line stays, because its
/// mark would need more than one.
fn cut_body<'t>(walk: &mut OutlineWalk<'t>, holder: Node<'t>) {
    let Some(body) = find(holder, "body") else { return };
    let range = walk.range(holder);
    if body.has_error() || !walk.source.text(range).contains('\n') {
        return;
    }
    let first = comments_before(holder, body).into_iter().next().unwrap_or(body);
    let range = walk.range(first).start..walk.range(body).end;
    if is_endless(holder) {
        cut_expression(walk, range);
    } else {
        walk.cut_body_range(range);
    }
}

/// Returns whether a method has a value in place of a body: `def size = @size`.
fn is_endless(method: Node<'_>) -> bool {
    children(method).into_iter().any(|child| child.kind() == "=")
}

/// A value must be replaced with a value.
fn cut_expression(walk: &mut OutlineWalk<'_>, range: Range<usize>) {
    let size = format_line_count(walk.source.text(range.clone()).lines().count());
    walk.cut(range, format!("nil # {size}"));
}

/// Reads the text of `<<~TEXT`, which follows the statement that it is part of.
fn heredoc<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    let line = walk.source.line(range.start);
    let end = walk.source.span(range.clone());
    if let Some(last) = walk.symbols.last_mut().filter(|last| last.span.end_line == line) {
        last.span.end_byte = end.end_byte;
        last.span.end_line = end.end_line;
    }
    cut_heredoc(walk, node);
}

fn cut_heredoc<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    let Some(mark) = children(node).into_iter().find(|child| child.kind() == "heredoc_end") else { return };
    if LARGE_VALUE <= range.len() && !node.has_error() {
        // Whole lines, because the terminator has to stay alone on its line.
        let end = walk.source.line_start(walk.range(mark).start);
        let text = walk.source.text(range.start..end);
        let begin = range.start + text.find('\n').map_or(0, |at| at + 1);
        let size = format_line_count(walk.source.text(begin..end).lines().count());
        let line_end = walk.source.line_ending();
        // Within the text this is not a comment, but it reads as one.
        walk.replace_with_mark(begin..end, format!("# {size}{line_end}"));
    }
}

/// Cuts the words of a long `%w[…]`.
fn cut_words<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let value = find(value, "receiver").unwrap_or(value);
    let range = walk.range(value);
    if !matches!(value.kind(), "string_array" | "symbol_array")
        || range.len() < LARGE_VALUE
        || value.has_error()
    {
        return;
    }
    let [first, .., last] = &children(value)[..] else { return };
    let inner = walk.range(*first).end..walk.range(*last).start;
    let size = format_line_count(walk.source.text(range).lines().count());
    walk.replace_with_mark(inner, format!(" # {size} "));
}
