//! Python.
//!
//! Whatever `ast.parse` accepts of a source, it accepts of the skeleton: a body becomes `...` at the same indent, and a
//! literal keeps its brackets.

use std::ops::Range;

use tree_sitter::Node;

use crate::model::{Symbol, SymbolKind};
use crate::syntax::outline::{
    ElisionMarks, GrammarField, Language, NamedScope, NodeTable, OutlineWalk, SourceDoc, Visit,
    child_of_kind, children, end_without_comments, is_trivia, visit_descendants,
};
use crate::syntax::preprocess::{LARGE_LITERAL, preprocess_python};
use crate::syntax::text::{
    DocBreak, docstring_break, first_paragraph, format_line_count, is_all_capitals, without_commands,
};

/// Python 3, with what the grammar still knows of Python 2.
pub(in crate::syntax) static PYTHON: Language = Language {
    // The cuts keep valid what `ast.parse` accepts, so that a check would only cost another parse.
    checks_skeleton: false,
    // Python's own functions cut bodies, by indent.
    marks: ElisionMarks::HASH,
    preprocess: Some(preprocess_python),
    read_root: Some(module),
    ..Language::new("python", tree_sitter_python::LANGUAGE, "tree-sitter-python 0.25.0", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("decorated_definition", Visit::Wrapper),
    ("class_definition", Visit::Read(class)),
    ("function_definition", Visit::Read(function)),
    ("expression_statement", Visit::Read(assignment)),
    ("type_alias_statement", Visit::Read(type_alias)),
    ("import_statement", Visit::Preamble(import)),
    ("import_from_statement", Visit::Import("module_name", &[])),
    ("future_import_statement", Visit::Preamble(import_future)),
    // Symbols may be nested in any block statement.
    (
        "block if_statement elif_clause else_clause for_statement while_statement try_statement \
         except_clause finally_clause with_statement match_statement case_clause",
        Visit::Enter,
    ),
];

/// Reads a module: its docstring.
fn module<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    walk.doc = docstring(walk, node);
    add_docstring(walk, node);
}

fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(mut symbol) = definition(walk, node, SymbolKind::Class) else { return };
    if let Some(body) = walk.field(node, GrammarField::Body) {
        symbol.doc = docstring(walk, body);
        add_docstring(walk, body);
        let scope = NamedScope { name: symbol.name.clone(), kind: SymbolKind::Class };
        symbol.children = walk.visit_scope(scope, body);
    }
    walk.add_symbol(symbol);
}

/// Reads a function or a method; its body is not visited.
fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let is_method = walk.scope_kind() == Some(SymbolKind::Class);
    let kind = if is_method { SymbolKind::Method } else { SymbolKind::Function };
    let Some(mut symbol) = definition(walk, node, kind) else { return };
    if let Some(body) = walk.field(node, GrammarField::Body) {
        symbol.doc = docstring(walk, body);
        add_docstring(walk, body);
        if !is_hot(walk, node, body) {
            cut_body(walk, node, body);
        }
    }
    walk.add_symbol(symbol);
}

/// Reads an assignment at the top level or in the body of a class: each name that it binds is a symbol. One in
/// capitals, or like `__all__`, is a constant. Of `A = B = 1` each is one, and of `a, (b, *c) = f()` too.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    cut_literals(walk, node);
    let mut next = child_of_kind(node, "assignment");
    while let Some(assignment) = next {
        let left = walk.field(assignment, GrammarField::Left);
        for name in left.map(|left| target_names(walk.text(left))).unwrap_or_default() {
            bind(walk, node, name);
        }
        next = child_of_kind(assignment, "assignment");
    }
    // `__all__ += …` changes a name that was bound before, but for a module that extends what it imported.
    let augmented = child_of_kind(node, "augmented_assignment");
    if let Some(left) = augmented.and_then(|augmented| walk.field(augmented, GrammarField::Left))
        && walk.text(left) == "__all__"
        && walk.is_first_binding("__all__")
    {
        add_statement_symbol(walk, node, SymbolKind::Constant, "__all__");
    }
}

/// Adds a name that a statement binds. A variable is shown where it is first bound, because scripts rebind theirs many
/// times.
fn bind<'t>(walk: &mut OutlineWalk<'t>, statement: Node<'t>, name: &'t str) {
    let is_first = walk.is_first_binding(name);
    if is_constant(name) {
        add_statement_symbol(walk, statement, SymbolKind::Constant, name);
    } else if is_first && name != "_" {
        let is_field = walk.scope_kind() == Some(SymbolKind::Class);
        let kind = if is_field { SymbolKind::Field } else { SymbolKind::Variable };
        add_statement_symbol(walk, statement, kind, name);
    }
}

/// Returns the names in the target of an assignment; attributes and items are not names. The text is read and not its
/// nodes, because the scanner elides what is between brackets.
fn target_names(target: &str) -> Vec<&str> {
    let mut names = Vec::new();
    // Brackets that index or call something, within which nothing is bound.
    let mut applied = 0_usize;
    let mut item_start = 0;
    // Whether a name, an index or a call precedes.
    let mut is_value = false;
    for line_start in std::iter::once(0).chain(target.match_indices('\n').map(|(at, _)| at + 1)) {
        let line = target[line_start..].lines().next().unwrap_or_default();
        let code = line.split('#').next().unwrap_or_default();
        item_start = item_start.max(line_start);
        for (at, c) in
            code.char_indices().map(|(at, c)| (line_start + at, c)).chain([(line_start + code.len(), ',')])
        {
            match c {
                '(' | '[' if is_value || 0 < applied => applied += 1,
                ')' | ']' if 0 < applied => applied -= 1,
                '(' | '[' | ')' | ']' | ',' | '*' if applied == 0 => {
                    names.extend(Some(target[item_start..at].trim()).filter(|item| is_identifier(item)));
                    item_start = at + c.len_utf8();
                    is_value = matches!(c, ')' | ']');
                }
                _ => is_value |= !c.is_whitespace(),
            }
        }
    }
    names
}

/// Returns whether a part of a target is a name and not an expression, which has signs of ASCII. Names may contain
/// combining marks: `Q̇`.
fn is_identifier(text: &str) -> bool {
    let is_start = |c: char| c.is_alphabetic() || c == '_';
    text.starts_with(is_start) && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || !c.is_ascii())
}

/// Reads `type Name[T] = …`.
fn type_alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let left = walk.field(node, GrammarField::Left).and_then(first_identifier);
    if let Some(name) = left.map(|left| walk.text(left)) {
        add_statement_symbol(walk, node, SymbolKind::Typedef, name);
    }
}

/// Returns the name in `Name`, or in `Name[T]`.
fn first_identifier(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    while node.kind() != "identifier" {
        node = node.named_child(0)?;
    }
    Some(node)
}

/// Adds a symbol that a whole statement makes.
fn add_statement_symbol<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind, name: &str) {
    let range = walk.range(node);
    let signature = walk.signature_text(node, range.clone());
    walk.add_symbol(walk.symbol(node, range.end, kind, name.to_owned(), name, signature));
}

/// Reads `import a, b.c as d`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    for name in children(node).into_iter().filter(tree_sitter::Node::is_named) {
        let name = walk.field(name, GrammarField::Name).unwrap_or(name);
        if name.kind() == "dotted_name" {
            walk.add_import(walk.text(name));
        }
    }
}

/// Reads `from __future__ import b`.
fn import_future<'t>(walk: &mut OutlineWalk<'t>, _node: Node<'t>) {
    walk.add_import("__future__");
}

fn definition<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, kind: SymbolKind) -> Option<Symbol> {
    let name = walk.text(walk.field(node, GrammarField::Name)?);
    let body = walk.field(node, GrammarField::Body);
    let range = walk.range(node);
    let head_end = body.map_or(range.end, |body| walk.range(body).start);
    let head = walk.signature_text(node, range.start..head_end);
    let end = walk.source.original_end(end_without_comments(node));
    Some(Symbol {
        kind,
        name: name.to_owned(),
        qualified_name: walk.qualified(name),
        span: walk.span(node, end),
        signature: head.trim_end().trim_end_matches(':').trim_end().to_owned(),
        doc: None,
        recovered: false,
        children: Vec::new(),
    })
}

fn is_constant(name: &str) -> bool {
    is_all_capitals(name) || (name.starts_with("__") && name.ends_with("__"))
}

/// Returns whether the author asked to keep the body: `# [HOT]` above the head, in it or first in the body, or a
/// decorator named `core_logic`.
fn is_hot<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, body: Node<'t>) -> bool {
    let start = walk.start_with_prefix(node);
    let head = walk.source.text(start..walk.range(body).start);
    let above = walk.preceding_comment();
    let first_line = walk.source.line_suffix(walk.range(body).start);
    let has_mark = |text: &str| text.contains("# [HOT]") || text.contains("#[HOT]");
    let is_decorated = head.lines().map(str::trim).any(|line| {
        let name = line.strip_prefix('@').and_then(|rest| rest.split(['(', ' ', '#']).next());
        name.is_some_and(|name| name.rsplit('.').next() == Some("core_logic"))
    });
    has_mark(above) || has_mark(head) || (first_line.starts_with('#') && has_mark(first_line)) || is_decorated
}

/// Returns the statement that documents a block: a string that comes first in it.
fn docstring_statement(block: Node<'_>) -> Option<Node<'_>> {
    docstring_node(block).map(|(statement, _)| statement)
}

/// Returns the first paragraph of what documents a block.
fn docstring<'t>(walk: &OutlineWalk<'t>, block: Node<'t>) -> Option<String> {
    let (_, string) = docstring_node(block)?;
    let text = if string.kind() == "concatenated_string" {
        let pieces = children(string).into_iter().filter(|piece| piece.kind() == "string");
        pieces.map(|piece| content(walk, piece)).collect::<Option<String>>()?
    } else {
        content(walk, string)?
    };
    first_paragraph(&without_commands(&text))
}

/// Records where the docstring of a block is, so that a skeleton can show less of it.
fn add_docstring<'t>(walk: &mut OutlineWalk<'t>, block: Node<'t>) {
    let Some((statement, string)) = docstring_node(block).filter(|(statement, _)| !statement.has_error())
    else {
        return;
    };
    let range = walk.range(statement);
    let is_alone = walk.source.line_prefix(range.start).trim().is_empty()
        && walk.source.line_suffix(range.end).trim().is_empty();
    let is_module = block.kind() == "module";
    let is_only = block.named_children(&mut block.walk()).filter(|child| !is_trivia(*child)).nth(1).is_none();
    // Nothing may precede `from __future__ import`.
    let placeholder = if is_module || (is_alone && !is_only) { "" } else { "..." };
    if is_module && !is_alone {
        return;
    }
    let rest = (string.kind() == "string").then(|| docstring_rest(walk, string)).flatten();
    walk.docs.push(SourceDoc { range, rest, placeholder });
}

/// Returns what follows the first paragraph of a docstring, up to its quotes.
fn docstring_rest<'t>(walk: &OutlineWalk<'t>, string: Node<'t>) -> Option<(Range<usize>, String)> {
    let start = walk.range(child_of_kind(string, "string_start")?).end;
    let end = walk.range(child_of_kind(string, "string_end")?).start;
    let DocBreak { at, mark } = docstring_break(walk.source.text(start..end))?;
    Some((start + at..end, mark))
}

/// Returns the statement that documents a block, and the string in it.
fn docstring_node(block: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let mut cursor = block.walk();
    let statement = block.named_children(&mut cursor).find(|child| !is_trivia(*child))?;
    if statement.kind() != "expression_statement" || statement.named_child_count() != 1 {
        return None;
    }
    let mut string = statement.named_child(0)?;
    // Each step goes one level down, so the loop ends with the tree.
    while string.kind() == "parenthesized_expression" {
        string = string.named_children(&mut string.walk()).find(|child| !is_trivia(*child))?;
    }
    matches!(string.kind(), "string" | "concatenated_string").then_some((statement, string))
}

/// Returns the text between the quotes. Neither bytes nor f-strings are docstrings.
fn content<'t>(walk: &OutlineWalk<'t>, string: Node<'t>) -> Option<String> {
    let start = child_of_kind(string, "string_start")?;
    let end = child_of_kind(string, "string_end")?;
    let prefix = walk.text(start).to_ascii_lowercase();
    if prefix.contains(['b', 'f', 't']) {
        return None;
    }
    let text = walk.source.text(walk.range(start).end..walk.range(end).start);
    Some(if prefix.contains('r') { text.to_owned() } else { unescaped(text) })
}

/// Resolves the escapes that a documentation uses; others stay as they are written.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, rest.clone().next()) {
            ('\\', Some(next @ ('\\' | '\'' | '"'))) => plain.push(next),
            ('\\', Some('n')) => plain.push('\n'),
            ('\\', Some('t')) => plain.push('\t'),
            ('\\', Some('\n')) => {}
            _ => {
                plain.push(c);
                continue;
            }
        }
        rest.next();
    }
    plain
}

/// Cuts the body of a function, except for its docstring.
fn cut_body<'t>(walk: &mut OutlineWalk<'t>, function: Node<'t>, body: Node<'t>) {
    if body.has_error() || children(function).iter().any(Node::is_error) {
        // Near an error, the grammar may be wrong about where the body begins and ends.
        return;
    }
    let docstring = docstring_statement(body);
    let Some(first) = first_statement_after(body, docstring) else { return };
    let start = walk.range(first).start;
    let end = walk.source.original_end(end_without_comments(body));
    if end <= start {
        return;
    }
    let lines = walk.source.line(end - 1) - walk.source.line(start) + 1;
    let mark = format!("...  # {}", format_line_count(lines as usize));
    let above = docstring.or_else(|| child_of_kind(function, ":"));
    let indent = walk.source.line_prefix(start);
    let above_end = above.map(|above| walk.range(above).end);
    match above_end {
        // The comments between the head and the first statement are cut with the body, where they surely belong to it.
        Some(above_end) if is_indent(indent) && is_free(walk, above_end, start) => {
            walk.cut_where_understood(above_end..end, format!("{}{indent}{mark}", walk.source.line_ending()));
        }
        Some(_) | None => walk.cut_where_understood(start..end, mark),
    }
}

fn first_statement_after<'t>(body: Node<'t>, docstring: Option<Node<'t>>) -> Option<Node<'t>> {
    let mut cursor = body.walk();
    let after = docstring.map_or(0, |docstring| docstring.end_byte());
    body.named_children(&mut cursor).find(|child| !is_trivia(*child) && after <= child.start_byte())
}

fn is_indent(text: &str) -> bool {
    text.chars().all(|c| c == ' ' || c == '\t' || c == '\u{c}')
}

/// Returns whether only comments and white space are between the head and the first statement, on lines of their own.
fn is_free(walk: &OutlineWalk<'_>, from: usize, to: usize) -> bool {
    let between = walk.source.text(from..to);
    let mut lines = between.split('\n').map(str::trim);
    between.contains('\n') && lines.all(|line| line.is_empty() || line.starts_with('#'))
}

/// Cuts the rows of large lists, dictionaries, sets and tuples that a statement assigns.
fn cut_literals<'t>(walk: &mut OutlineWalk<'t>, statement: Node<'t>) {
    if walk.range(statement).len() < LARGE_LITERAL || statement.has_error() {
        return;
    }
    let mut value =
        child_of_kind(statement, "assignment").and_then(|node| walk.field(node, GrammarField::Right));
    while let Some(node) = value.filter(|node| node.kind() == "assignment") {
        value = walk.field(node, GrammarField::Right);
    }
    let Some(value) = value else { return };
    visit_descendants(value, &mut |node| {
        let is_literal = matches!(node.kind(), "list" | "dictionary" | "set" | "tuple");
        let is_table = is_literal && LARGE_LITERAL <= walk.range(node).len();
        if is_table {
            cut_rows(walk, node);
        }
        // The literals within a lambda are code, and a string has none but those in its fields.
        !is_table && node.kind() != "string" && node.kind() != "lambda"
    });
}

fn cut_rows<'t>(walk: &mut OutlineWalk<'t>, literal: Node<'t>) {
    let range = walk.range(literal);
    let lines = walk.source.line(range.end - 1) - walk.source.line(range.start) + 1;
    // The mark is a comment, and a comment ends with its line: so the closing bracket gets one of its own.
    let mark = format!("...  # {}{}", format_line_count(lines as usize), walk.source.line_ending());
    walk.cut_where_understood(range.start + 1..range.end - 1, mark);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_bind_names_but_not_indexes_or_attributes() {
        assert_eq!(target_names("a"), ["a"]);
        assert_eq!(target_names("a, (b, *c)"), ["a", "b", "c"]);
        assert_eq!(target_names("(\n  a,  # b, c\n  d\n)"), ["a", "d"]);
        assert_eq!(target_names("a.b, c[0], d[e, f], self.g(h, (i, j)).k"), Vec::<&str>::new());
        assert_eq!(target_names("é, ª"), ["é", "ª"]);
    }

    #[test]
    fn common_escapes_are_resolved_and_others_kept() {
        assert_eq!(unescaped(r#"It\'s a \"line\"\n\d \\"#), "It's a \"line\"\n\\d \\");
        assert_eq!(unescaped("one \\\nline\\"), "one line\\");
    }
}
