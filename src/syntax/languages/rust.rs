//! Rust, with the items within the braces of a macro: `thread_local!`, `bitflags!`, `cfg_rt!`.
//!
//! There the grammar only yields tokens, because it cannot know what a macro accepts. Tokens that look like an item are
//! treated as one.

use tree_sitter::Node;

use crate::model::{Symbol, SymbolKind};
use crate::syntax::outline::{
    Language, NamedScope, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, children, find,
    find_all, is_trivia,
};
use crate::syntax::text::{documentation, one_line};

/// Rust, up to what the grammar knows of the 2024 edition.
pub(super) static RUST: Language = Language {
    separator: "::",
    read_root: Some(crate_docs),
    ..Language::new("rust", tree_sitter_rust::LANGUAGE, "tree-sitter-rust 0.24.2", &[NODES])
};

const NODES: NodeTable = &[
    ("line_comment block_comment", Visit::Comment),
    ("attribute_item", Visit::Prefix),
    ("function_item", Visit::code(SymbolKind::Function, "body").in_type(SymbolKind::Method)),
    ("function_signature_item", Visit::leaf(SymbolKind::Prototype).in_type(SymbolKind::Method)),
    ("struct_item", Visit::members(SymbolKind::Struct, ".field_declaration_list")),
    ("union_item", Visit::members(SymbolKind::Union, "body")),
    ("enum_item", Visit::members(SymbolKind::Enum, "body")),
    ("enum_variant", Visit::leaf(SymbolKind::EnumMember)),
    ("field_declaration", Visit::leaf(SymbolKind::Field)),
    ("trait_item", Visit::members(SymbolKind::Interface, "body")),
    ("impl_item", Visit::Read(implementation)),
    ("mod_item", Visit::Read(module)),
    ("type_item associated_type", Visit::leaf(SymbolKind::Typedef)),
    ("const_item", Visit::Read(constant)),
    ("static_item", Visit::value(SymbolKind::Variable, "value")),
    ("macro_invocation", Visit::Read(macro_items)),
    ("expression_statement foreign_mod_item declaration_list", Visit::Enter),
    ("macro_definition", Visit::Read(macro_rules)),
    ("use_declaration", Visit::Read(import)),
    ("extern_crate_declaration", Visit::Import("name", &[])),
];

/// The head of an implementation has no more tokens than this.
const LONGEST_HEAD: usize = 200;

/// Macros nested deeper than this are not visited.
const MAX_DEPTH: usize = 8;

/// An item that is no longer than this is shown with its value.
const SHORT_VALUE: usize = 100;

/// Reads the `//!` and `/*!` comments at the head of the file.
fn crate_docs<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    walk.doc = inner_docs(walk, root);
}

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

/// Reads `impl Trait for Type { … }`: its name is the type's, and its members belong to the type.
fn implementation<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    // The name of `a::Name`, or the type of `Name<T>`, before the type as it is written.
    let Some(name) = find(node, "type/name|type/type|type") else { return };
    let inside = SymbolBody::members(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Object, walk.text(name), inside));
}

/// Reads `use a::b;`. In a module of the file, `use super::a;` imports what the file itself has.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(argument) = find(node, "argument") else { return };
    let name = walk.text(argument);
    if walk.is_top_level() || !name.starts_with("super::") {
        walk.add_import(name);
    }
}

/// Reads `mod name { … }`; `mod name;` is an import, unless it is one of tests.
fn module<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = walk.text(name).to_owned();
    let Some(body) = find(node, "body") else {
        let before = std::iter::successors(node.prev_sibling(), Node::prev_sibling);
        let mut attributes = before.take_while(|node| node.kind() == "attribute_item");
        if !attributes.any(|attribute| walk.text(attribute) == "#[cfg(test)]") {
            walk.add_import(&name);
        }
        return;
    };
    walk.define(node, SymbolDefinition::new(SymbolKind::Module, name, SymbolBody::Members(body)));
    let doc = inner_docs(walk, body);
    if let Some(module) = walk.symbols.last_mut().filter(|module| module.doc.is_none()) {
        module.doc = doc;
    }
}

/// Reads `macro_rules!`: the matchers of its rules stay in the skeleton, their expansions are cut.
fn macro_rules<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let rules = find_all(node, ".macro_rule");
    // A rule has no members; this makes the signature end where the first rule begins.
    let inside = rules.first().map_or(SymbolBody::Nothing, |first| SymbolBody::Members(*first));
    walk.define(node, SymbolDefinition::new(SymbolKind::Macro, name, inside));
    for rule in rules {
        if let Some(right) = find(rule, "right") {
            walk.cut_code(right);
        }
    }
}

/// Reads `const NAME: T = …;`; `const _` only makes the compiler evaluate something.
fn constant<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (Some(name), value) = (find(node, "name"), find(node, "value")) else { return };
    match (walk.text(name), value) {
        ("_", Some(value)) => walk.cut_rows(value),
        (name, value) => {
            let inside = SymbolBody::value(value);
            walk.define(node, SymbolDefinition::new(SymbolKind::Constant, name, inside));
        }
    }
}

/// Reads a macro in the position of an item.
fn macro_items<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(tree) = find(node, ".token_tree").filter(|tree| is_braces(*tree)) {
        read_items(walk, tree);
    }
}

/// Reads the items among the tokens of a tree.
fn read_items<'t>(walk: &mut OutlineWalk<'t>, tree: Node<'t>) {
    let mut tokens = children(tree);
    // The first token and the last are the braces.
    tokens.pop();
    let (mut at, mut start) = (1, 1);
    while let Some(token) = tokens.get(at) {
        // A keyword without a name after it does not begin an item: `fn(u8)` is a type.
        let item = item_kind(walk, token.kind()).and_then(|kind| Some((kind, name(walk, &tokens[at..])?)));
        if let Some((kind, name)) = item {
            let end = at + item_length(&tokens[at..], kind);
            define_item(walk, kind, name, &tokens[start..end]);
            (at, start) = (end, end);
            continue;
        }
        if is_braces(*token) && is_branch(walk, &tokens[start..at]) && walk.scopes.len() < MAX_DEPTH {
            let kind = walk.scope_kind().unwrap_or(SymbolKind::Module);
            // The empty name adds nothing to qualified names.
            walk.scopes.push(NamedScope { name: String::new(), kind });
            read_items(walk, *token);
            walk.scopes.pop();
        }
        at += 1;
        if matches!(token.kind(), ";" | ",") || is_braces(*token) {
            start = at;
        }
    }
}

/// Returns whether tokens are `if #[cfg(…)]` or `else`, as in `cfg_if!` before items.
fn is_branch(walk: &OutlineWalk<'_>, tokens: &[Node<'_>]) -> bool {
    let words = tokens.iter().filter(|token| !is_trivia(**token)).take(3).map(|token| walk.text(*token));
    matches!(words.collect::<Vec<_>>()[..], ["else"] | ["if", "#", ..] | ["else", "if", "#"])
}

fn item_kind(walk: &OutlineWalk<'_>, keyword: &str) -> Option<SymbolKind> {
    let in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
    Some(match keyword {
        "const" => SymbolKind::Constant,
        "enum" => SymbolKind::Enum,
        "fn" if in_type => SymbolKind::Method,
        "fn" => SymbolKind::Function,
        "impl" => SymbolKind::Object,
        "mod" => SymbolKind::Module,
        "static" => SymbolKind::Variable,
        "struct" => SymbolKind::Struct,
        "trait" => SymbolKind::Interface,
        "type" => SymbolKind::Typedef,
        "union" => SymbolKind::Union,
        _ => return None,
    })
}

/// Returns the name after a keyword; of an implementation, that of its type.
fn name<'t>(walk: &OutlineWalk<'t>, tokens: &[Node<'t>]) -> Option<&'t str> {
    let head = &tokens[1..];
    if tokens[0].kind() != "impl" {
        let mut named = head.iter().skip_while(|token| matches!(walk.text(**token), "ref" | "mut"));
        return named.next().filter(|token| token.kind() == "identifier").map(|token| walk.text(*token));
    }
    // The limit keeps many `impl` without braces from taking the square of their number.
    let head = &head[..head.iter().take(LONGEST_HEAD).position(|token| is_braces(*token))?];
    // The last one, because the bounds before it may contain others: `for<'a> Fn(&'a u8)`.
    let target = head.iter().rposition(|token| token.kind() == "for").map_or(head, |at| &head[at + 1..]);
    let mut depth = 0_usize;
    let named = target.iter().find(|token| {
        match token.kind() {
            "<" => depth += 1,
            ">" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.kind() == "identifier"
    });
    named.map(|token| walk.text(*token))
}

fn item_length(tokens: &[Node<'_>], kind: SymbolKind) -> usize {
    // A value may contain braces; any other item with braces ends with them.
    let is_value = matches!(kind, SymbolKind::Constant | SymbolKind::Variable | SymbolKind::Typedef);
    let last = tokens.iter().position(|token| token.kind() == ";" || (!is_value && is_braces(*token)));
    last.map_or(tokens.len(), |last| last + 1)
}

fn define_item<'t>(walk: &mut OutlineWalk<'t>, kind: SymbolKind, name: &str, tokens: &[Node<'t>]) {
    let mut docs = String::new();
    let first = tokens.iter().position(|token| !is_trivia(*token)).unwrap_or(tokens.len());
    let (above, tokens) = tokens.split_at(first);
    for comment in above {
        docs.push_str(walk.text(*comment).trim_end());
        docs.push('\n');
    }
    let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return };
    let range = walk.range(*first).start..walk.range(*last).end;
    let body = Some(*last).filter(|last| is_braces(*last) && kind != SymbolKind::Constant);
    let mut symbol = Symbol {
        kind,
        name: name.to_owned(),
        qualified_name: walk.qualified(name),
        span: walk.source.span(range),
        signature: signature(walk, tokens, body),
        doc: documentation(&docs),
        recovered: false,
        children: Vec::new(),
    };
    match body {
        Some(body) if kind.is_callable() => walk.cut_code(body),
        Some(body) if walk.scopes.len() < MAX_DEPTH => symbol.children = members(walk, kind, name, body),
        Some(_) | None => {}
    }
    walk.add_symbol(symbol);
}

/// Returns what precedes the body, or a long value, without attributes.
fn signature<'t>(walk: &OutlineWalk<'t>, tokens: &[Node<'t>], body: Option<Node<'t>>) -> String {
    let signed = (0..tokens.len()).find(|at| !is_attribute(tokens, *at)).map_or(tokens, |at| &tokens[at..]);
    let (Some(first), Some(last)) = (signed.first(), signed.last()) else { return String::new() };
    let range = walk.range(*first).start..walk.range(*last).end;
    let is_short = range.len() <= SHORT_VALUE;
    let value = signed.iter().find(|token| token.kind() == "=" && !is_short);
    let end = body.or(value.copied()).map_or(range.end, |cut| walk.range(cut).start);
    let signature = one_line(walk.source.text(range.start..end.max(range.start)));
    signature.trim_end_matches([';', ',', ' ']).to_owned()
}

fn is_attribute(tokens: &[Node<'_>], at: usize) -> bool {
    let follows = at.checked_sub(1).is_some_and(|before| tokens[before].kind() == "#");
    let token = tokens[at];
    token.kind() == "#" || (follows && token.kind() == "token_tree") || is_trivia(token)
}

fn members<'t>(walk: &mut OutlineWalk<'t>, kind: SymbolKind, name: &str, body: Node<'t>) -> Vec<Symbol> {
    let around = std::mem::take(&mut walk.symbols);
    walk.scopes.push(NamedScope { name: name.to_owned(), kind });
    read_items(walk, body);
    walk.scopes.pop();
    std::mem::replace(&mut walk.symbols, around)
}

fn is_braces(token: Node<'_>) -> bool {
    token.kind() == "token_tree" && token.child(0).is_some_and(|first| first.kind() == "{")
}
