//! C#.
//!
//! The parser is not given branches of `#if` that are not whole statements or members, because they can make the
//! grammar fail on a whole file. If `#if` to `#endif` contains whole members, as it mostly does, the grammar reads all
//! of its branches. If it cuts through a declaration, only the first branch is parsed, as if the others and the
//! directives did not exist.

use std::ops::Range;

use tree_sitter::Node;

use super::braces::block_end;
use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NamedScope, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, children, find,
    find_all,
};
use crate::syntax::text::{PreprocessedText, TextRewriter, format_line_count};

/// C#, up to what the grammar knows of version 13, and the extensions of version 14.
pub(super) static CSHARP: Language = Language {
    cuts_detached_comments: true,
    docs_cross_directives: true,
    has_overloads: true,
    signature_excludes: &["attribute_list", "preproc_if_in_attribute_list"],
    preprocess: Some(preprocess_conditionals),
    ..Language::new("csharp", tree_sitter_c_sharp::LANGUAGE, "tree-sitter-c-sharp 0.23.5", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("using_directive", Visit::Preamble(import)),
    ("namespace_declaration", Visit::members(SymbolKind::Namespace, "body")),
    ("file_scoped_namespace_declaration", Visit::Read(file_namespace)),
    ("class_declaration struct_declaration record_declaration", Visit::Read(class)),
    ("parameter", Visit::leaf(SymbolKind::Property)),
    ("interface_declaration", Visit::members(SymbolKind::Interface, "body")),
    ("enum_declaration", Visit::members(SymbolKind::Enum, "body")),
    ("enum_member_declaration", Visit::leaf(SymbolKind::EnumMember)),
    ("delegate_declaration", Visit::leaf(SymbolKind::Typedef)),
    ("method_declaration", Visit::Read(method)),
    ("constructor_declaration", Visit::code(SymbolKind::Constructor, "body")),
    ("destructor_declaration", Visit::Read(destructor)),
    ("operator_declaration conversion_operator_declaration", Visit::Read(operator)),
    ("property_declaration indexer_declaration event_declaration", Visit::Read(property)),
    ("event_field_declaration field_declaration", Visit::Read(field)),
    ("global_statement", Visit::Read(statement)),
    ("preproc_if preproc_elif preproc_else", Visit::Read(conditional)),
    ("local_function_statement", Visit::code(SymbolKind::Function, "body")),
];

/// Accessors no longer than this are part of a property's signature.
const SHORT_ACCESSORS: usize = 60;

/// The code of lambda expressions and anonymous methods.
const CODE: &[&str] = &["block"];

/// Reads `using static A.B;` and `using X = A.B;`: `A.B`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(path) = children(node).into_iter().rfind(Node::is_named) {
        walk.add_import(walk.text(path));
    }
}

/// Reads `namespace A.B;`: everything that follows is in it, without being indented.
fn file_namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    walk.define(node, SymbolDefinition::new(SymbolKind::Namespace, name.clone(), SymbolBody::Nothing));
    // A file has one namespace of this kind at the most; another is an error, and must not nest.
    if walk.scopes.is_empty() {
        walk.scopes.push(NamedScope { name, kind: SymbolKind::Namespace });
    }
}

/// Reads a branch of a condition that holds whole members.
fn conditional<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    walk.visit_branch(node, node.kind() == "preproc_if");
}

/// Reads a class, a struct or a record: the parameters of a record are its properties.
fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    if name == EXTENSION && walk.text(node).starts_with(EXTENSION) {
        return extension(walk, node);
    }
    let is_record = node.kind() == "record_declaration";
    let is_struct = node.kind() == "struct_declaration" || (is_record && find(node, ".struct").is_some());
    let kind = if is_struct { SymbolKind::Struct } else { SymbolKind::Class };
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::members(find(node, "body"))));
    if let Some(parameters) = find(node, ".parameter_list").filter(|_| is_record) {
        walk.define_leading_members(parameters);
    }
}

/// Reads `extension(Type receiver) { … }`, which the parser is given as a class. As an extension in other languages, it
/// has the name of the type.
fn extension<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(parameters) = find(node, ".parameter_list") else { return };
    let receiver = find(parameters, ".parameter").and_then(|receiver| find(receiver, "type|name"));
    // `extension(string)`, for static members alone, names no parameter, which the grammar does not know.
    let name = walk.text(receiver.unwrap_or(parameters));
    let name = name.trim_matches(['(', ')']).trim().to_owned();
    walk.define(
        node,
        SymbolDefinition::new(SymbolKind::Object, name, SymbolBody::members(find(node, "body"))),
    );
}

/// Reads a method; one that implements an interface's explicitly is qualified by the interface's name.
fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let inside = SymbolBody::code(find(node, "body"));
    let definition = SymbolDefinition::new(SymbolKind::Method, name, inside);
    walk.define(node, definition.with_owner(explicit_interface(walk, node)));
}

/// Reads `~Name()`.
fn destructor<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let name = format!("~{}", walk.text(name));
    let inside = SymbolBody::code(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Destructor, name, inside));
}

/// Reads `operator +` and `implicit operator int`.
fn operator<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let parts = children(node).into_iter().skip_while(|part| {
        !matches!(part.kind(), "operator" | "implicit" | "explicit")
            && part.kind() != "explicit_interface_specifier"
    });
    let parts = parts.take_while(|part| !matches!(part.kind(), "parameter_list" | "(" | "{" | "=>"));
    let words: Vec<_> = parts.map(|part| walk.text(part)).collect();
    if words.is_empty() {
        return;
    }
    let inside = SymbolBody::code(find(node, "body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Method, words.join(" "), inside));
}

/// Reads a property, an indexer or an event with accessors.
fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let (kind, name) = match (node.kind(), find(node, "name")) {
        ("event_declaration", Some(name)) => (SymbolKind::Event, walk.text(name).to_owned()),
        (_, Some(name)) => (SymbolKind::Property, walk.text(name).to_owned()),
        ("indexer_declaration", None) => (SymbolKind::Property, "this[]".to_owned()),
        (_, None) => return,
    };
    let accessors = find(node, "accessors");
    let bodies =
        find_all(node, "accessors/.accessor_declaration").into_iter().filter_map(|one| find(one, "body"));
    let bodies: Vec<_> = bodies.collect();
    let is_short =
        accessors.is_none_or(|list| bodies.is_empty() && list.byte_range().len() <= SHORT_ACCESSORS);
    let inside = match (accessors, find(node, "value")) {
        (Some(list), _) if !is_short => SymbolBody::Members(list),
        (_, Some(value)) => SymbolBody::Value(value),
        (_, None) => SymbolBody::Nothing,
    };
    walk.define(node, SymbolDefinition::new(kind, name, inside).with_owner(explicit_interface(walk, node)));
    for body in bodies {
        walk.cut_code(body);
    }
    if let Some(value) = find(node, ".arrow_expression_clause") {
        cut_arrow(walk, value);
    } else if let Some(value) = find(node, "value") {
        walk.cut_code_within(value, CODE);
    }
}

/// Cuts the expression that a property returns, where it is long.
fn cut_arrow<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    let range = walk.range(value);
    let text = walk.source.text(range.clone());
    let lines = text.lines().count();
    if 1 < lines && !value.has_error() {
        let end = range.end + usize::from(walk.source.line_suffix(range.end).starts_with(';'));
        walk.cut(range.start..end, format!("{{ get {{ /* {} */ }} }}", format_line_count(lines)));
    }
}

/// Reads fields, constants and events of one declaration.
fn field<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let modifiers = find_all(node, ".modifier");
    let has = |word: &str| modifiers.iter().any(|modifier| walk.text(*modifier) == word);
    let kind = match node.kind() {
        "event_field_declaration" => SymbolKind::Event,
        _ if has("const") || (has("static") && has("readonly")) => SymbolKind::Constant,
        _ => SymbolKind::Field,
    };
    for declarator in find_all(node, ".variable_declaration/.variable_declarator") {
        let Some(name) = walk.name_at(declarator, "name") else { continue };
        let value = children(declarator).into_iter().skip_while(|child| child.kind() != "=").nth(1);
        walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::value(value)));
        if let Some(value) = value {
            walk.cut_code_within(value, CODE);
        }
    }
}

/// Reads a statement outside of all types: `app.MapGet("/x", async () => { … });`.
fn statement<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    walk.visit_children(node);
    let is_plain =
        |child: &Node<'_>| matches!(child.kind(), "expression_statement" | "local_declaration_statement");
    for child in children(node).into_iter().filter(is_plain) {
        walk.cut_code_within(child, CODE);
    }
}

fn explicit_interface<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> &'t str {
    find(node, ".explicit_interface_specifier")
        .map_or("", |name| walk.text(name).trim_end_matches(['.', ' ']))
}

/// Returns `text` without the branches and directives that the grammar does not support; `None` if there are none, or
/// if the scanner does not support the text.
fn preprocess_conditionals(text: &str) -> Option<PreprocessedText> {
    // Most texts have none of these, and need no scan.
    if !["#if", "#pragma", EXTENSION].iter().any(|word| text.contains(word)) {
        return None;
    }
    // As after a brace: at the beginning of a text a whole declaration can begin.
    let mut scan = ConditionalScanner { text, last: b'{', ..ConditionalScanner::default() };
    let mut at = 0;
    let mut at_line_start = true;
    while let Some(byte) = text.as_bytes().get(at).copied() {
        if byte == b'#' && at_line_start {
            let end = text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
            scan.directive(at..end)?;
            at = end;
            continue;
        }
        // Bytes beyond ASCII are those of a byte order mark, which may precede the first directive.
        at_line_start = byte == b'\n' || (at_line_start && (byte.is_ascii_whitespace() || 0x7f < byte));
        if byte == b'e' && matches!(scan.last, b'{' | b'}' | b';') && is_extension(text, at) {
            let end = at + EXTENSION.len();
            scan.replaced.push((at..end, EXTENSION_CLASS));
            scan.repairs += 1;
            scan.record_byte(byte);
            at = end;
            continue;
        }
        let end = token_end(text, at, 0)?;
        if !(byte.is_ascii_whitespace() || text[at..].starts_with("//") || text[at..].starts_with("/*")) {
            scan.record_byte(byte);
        }
        at = end;
    }
    (scan.groups.is_empty() && !scan.replaced.is_empty()).then(|| scan.finish())
}

/// The word that begins members for another type, and what it is replaced by: the grammar knows no such members, but
/// the rest of their head is that of a class.
const EXTENSION: &str = "extension";
const EXTENSION_CLASS: &str = "class extension";

/// Returns whether a member begins at `at` that adds members to another type: `extension<T>(IEnumerable<T> source) {`.
fn is_extension(text: &str, at: usize) -> bool {
    /// The longest head.
    const MAX_HEAD: usize = 1000;
    let Some(rest) = text[at..text.floor_char_boundary(at + MAX_HEAD)].strip_prefix(EXTENSION) else {
        return false;
    };
    let is_open = rest.trim_start().starts_with(['<', '(']);
    let (Some(head_end), Some(parameters_end)) = (rest.find('{'), rest.find(')')) else { return false };
    is_open && parameters_end < head_end && !rest[..head_end].contains([';', '}', '"'])
}

/// What follows a directive is not looked for farther away.
const MAX_LOOKAHEAD: usize = 2000;

/// What is between an `#if` and its `#endif`.
struct ConditionalGroup {
    /// The line of `#if`.
    first: Range<usize>,
    /// Where the second branch begins, if there is one.
    second: Option<usize>,
    /// How many braces were open at its start, and the byte before it.
    depth: isize,
    before: u8,
    /// How many braces were open at the end of its first branch, and the byte before that end.
    first_end: Option<(isize, u8)>,
    is_unsupported: bool,
}

#[derive(Default)]
struct ConditionalScanner<'a> {
    text: &'a str,
    groups: Vec<ConditionalGroup>,
    /// A range that the parser is not given, and its replacement.
    replaced: Vec<(Range<usize>, &'static str)>,
    repairs: usize,
    depth: isize,
    /// The last byte that is neither a comment nor white space.
    last: u8,
}

impl ConditionalScanner<'_> {
    fn record_byte(&mut self, byte: u8) {
        match byte {
            b'{' => self.depth += 1,
            b'}' => self.depth -= 1,
            _ => {}
        }
        if let Some(group) = self.groups.last_mut() {
            // The branch closes a brace that was opened before it.
            group.is_unsupported |= self.depth < group.depth;
        }
        self.last = byte;
    }

    fn directive(&mut self, line: Range<usize>) -> Option<()> {
        let words = self.text[line.clone()].trim_start_matches('#').trim_start();
        let name_end = words.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(words.len());
        match &words[..name_end] {
            "if" => {
                // After any of these a whole member can begin; after anything else the branch cuts through
                // one.
                let is_unsupported = !matches!(self.last, b'{' | b'}' | b';' | b']')
                    || begins_within_statement(self.text, line.end);
                let (depth, before) = (self.depth, self.last);
                self.groups.push(ConditionalGroup {
                    first: line,
                    second: None,
                    depth,
                    before,
                    first_end: None,
                    is_unsupported,
                });
            }
            "elif" | "else" => {
                let end = (self.depth, self.last);
                let group = self.groups.last_mut()?;
                group.end_branch(end);
                group.second.get_or_insert(line.start);
                group.is_unsupported |= begins_within_statement(self.text, line.end);
                // Each branch begins in the state in which the first one began.
                (self.depth, self.last) = (group.depth, group.before);
            }
            "endif" => {
                let mut group = self.groups.pop()?;
                group.end_branch((self.depth, self.last));
                group.is_unsupported |= begins_within_statement(self.text, line.end);
                // What follows continues the first branch, which is the one that is parsed.
                (self.depth, self.last) = group.first_end?;
                if group.is_unsupported {
                    self.repairs += 1;
                    self.replaced.push((group.first, ""));
                    self.replaced.push((group.second.unwrap_or(line.start)..line.end, ""));
                }
            }
            // The grammar does not support everything that compilers accept there.
            "pragma" => self.replaced.push((line, "")),
            _ => {}
        }
        Some(())
    }

    fn finish(mut self) -> PreprocessedText {
        self.replaced.sort_by_key(|(range, _)| (range.start, range.end));
        let mut rewriter = TextRewriter::new(self.text);
        rewriter.preprocessed.repairs = self.repairs;
        for (range, with) in self.replaced {
            // What is within an elided branch is elided with it.
            let start = range.start.max(rewriter.done);
            let with = if start == range.start { with } else { "" };
            rewriter.replace(start..range.end.max(start), with);
        }
        rewriter.finish()
    }
}

impl ConditionalGroup {
    fn end_branch(&mut self, end: (isize, u8)) {
        let (depth, last) = end;
        self.is_unsupported |= depth != self.depth || !matches!(last, b'{' | b'}' | b';' | b']');
        self.first_end.get_or_insert(end);
    }
}

/// Returns whether what follows, after comments and directives, is a part of a statement or an expression: `else`, a
/// label of a `switch`, an operator.
fn begins_within_statement(text: &str, at: usize) -> bool {
    // Not far: each of many directives may be followed by all the others.
    let mut rest = text[at..text.floor_char_boundary(at.saturating_add(MAX_LOOKAHEAD))].trim_start();
    loop {
        let end = match rest.as_bytes() {
            [b'#', ..] | [b'/', b'/', ..] => rest.find('\n'),
            [b'/', b'*', ..] => rest.find("*/").map(|end| end + 2),
            _ => break,
        };
        rest = rest[end.unwrap_or(rest.len())..].trim_start();
    }
    let word_end = rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(rest.len());
    matches!(&rest[..word_end], "else" | "catch" | "finally" | "case" | "default")
        || rest.starts_with(['.', ',', ')', '?', ':', '&', '|', '=', '+'])
}

/// Returns where what begins at `at` ends: a comment, a literal, or a single character. `None` where it never does.
fn token_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    match rest.as_bytes() {
        [b'/', b'/', ..] => Some(rest.find('\n').map_or(text.len(), |end| at + end)),
        [b'/', b'*', ..] => rest[2..].find("*/").map(|end| at + end + 4),
        [b'\'', ..] => character_end(text, at + 1),
        [b'"' | b'$' | b'@', ..] => {
            let prefix = rest.len() - rest.trim_start_matches(['$', '@']).len();
            if rest[prefix..].starts_with('"') {
                string_end(text, at, at + prefix, depth)
            } else {
                Some(at + prefix.max(1))
            }
        }
        _ => Some(at + rest.chars().next()?.len_utf8()),
    }
}

fn character_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let escaped = if rest.starts_with('\\') { 2 } else { 0 };
    let end = rest.get(escaped..)?.find(['\'', '\n'])? + escaped;
    rest[end..].starts_with('\'').then_some(at + end + 1)
}

/// Returns the end of the string whose prefix begins at `start` and whose quotation mark is at `quote`.
fn string_end(text: &str, start: usize, quote: usize, depth: usize) -> Option<usize> {
    let marks = text[quote..].bytes().take_while(|byte| *byte == b'"').count();
    let prefix = &text[start..quote];
    let is_verbatim = prefix.contains('@');
    if 3 <= marks && !is_verbatim {
        // A raw string ends with as many marks as it begins with.
        let end = text[quote + marks..].find(&text[quote..quote + marks])? + quote + 2 * marks;
        let more = text[end..].bytes().take_while(|byte| *byte == b'"').count();
        return Some(end + more);
    }
    let has_holes = prefix.contains('$');
    let mut at = quote + 1;
    loop {
        at += text.get(at..)?.find(['"', '\\', '{', '\n'])?;
        match &text.as_bytes()[at..] {
            [b'"', b'"', ..] if is_verbatim => at += 2,
            [b'"', ..] => return Some(at + 1),
            [b'\n', ..] if !is_verbatim => return None,
            [b'{', b'{', ..] if has_holes => at += 2,
            [b'{', ..] if has_holes => at = block_end(text, at, depth, token_end)?,
            [b'\\', ..] if !is_verbatim => at += 1 + text.get(at + 1..)?.chars().next()?.len_utf8(),
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(preprocess_conditionals(text).map(|preprocessed| preprocessed.text).as_deref(), expected);
    }

    #[test]
    fn whole_members_stay() {
        check("class A {\n#if X\n void F() { }\n#else\n int x;\n#endif\n}", None);
        check("class A { string s = @\"\n#if\n\"; }", None);
    }

    #[test]
    fn the_first_branch_of_a_declaration_stays() {
        check(
            "#if X\npublic class A\n#elif Y\nclass A\n#else\nclass C\n#endif\n{ }",
            Some("public class A\n{ }"),
        );
        check("class A\n#if X\n: B\n#endif\n{ }", Some("class A\n: B\n{ }"));
        check("#if X\nclass A {\n#else\nclass B {\n#endif\n}\n", Some("class A {\n}\n"));
    }

    #[test]
    fn parts_of_a_statement_lose_their_directives() {
        check("if (a) { }\n#if X\nelse { }\n#endif\n", Some("if (a) { }\nelse { }\n"));
        check(
            "if (a) { }\n#if X\n// b\nelse if (b) { }\n#endif\nelse { }",
            Some("if (a) { }\n// b\nelse if (b) { }\nelse { }"),
        );
        check("#if X\nif (a) { }\n#else\nif (b) { }\n#endif\n\nelse { }", Some("if (a) { }\n\nelse { }"));
        check(
            "switch (a) {\n#if X\ncase B: c(); break;\n#endif\n}",
            Some("switch (a) {\ncase B: c(); break;\n}"),
        );
        check("try { }\n#if X\n#if Y\ncatch { }\n#endif\n#endif\n", Some("try { }\ncatch { }\n"));
        check("#if X\nelsewhere();\n#endif\n", None);
    }

    #[test]
    fn a_nested_branch_is_elided_with_its_parent() {
        check("a(\n#if X\nb\n#else\n#if Y\nc\n#endif\n#pragma d\n#endif\n);", Some("a(\nb\n);"));
    }

    #[test]
    fn an_extension_is_parsed_as_a_class() {
        check(
            "static class A {\n    extension<T>(B<T> b) where T : C\n    { int D => 1; }\n}",
            Some("static class A {\n    class extension<T>(B<T> b) where T : C\n    { int D => 1; }\n}"),
        );
        check("class A { void F() { extension(1); if (a) { } } }", None);
        check("class A { int extension; extension(int a) => 1; }", None);
    }

    #[test]
    fn open_conditions_are_not_preprocessed() {
        for text in ["a\n#if X\n", "a\n#else\n#if\n", "a\n#if X\n'\n#endif\n", "#pragma\n\""] {
            check(text, None);
        }
    }
}

#[cfg(test)]
mod literals_tests {
    use super::*;

    #[test]
    fn literals_are_skipped_as_a_whole() {
        for text in [
            "\"a\\\"b\"",
            "@\"a\\\"",
            "@\"a\"\"b\"",
            "$\"{{ {(a ? \"}\" : $\"{b}\")} }}\"",
            "$@\"\n{a}\"\"\"",
            "\"\"\"a\"b\"\"\"",
            "$$\"\"\"\n{{a}} \"\" \"\"\"",
            "'\\''",
            "'\"'",
            "/* \" */",
            "// \"",
            "\"\"",
            "é",
        ] {
            assert_eq!(token_end(text, 0, 0), Some(text.len()), "{text}");
        }
    }

    #[test]
    fn an_open_literal_has_no_end() {
        for text in ["\"a", "\"a\n\"", "'", "/* ", "$\"{", "\"\"\"a\"\"", "\"\\"] {
            assert_eq!(token_end(text, 0, 0), None, "{text}");
        }
        assert_eq!(token_end(&"$\"{".repeat(10_000), 0, 0), None);
    }
}
