//! Kotlin and its scripts.
//!
//! The parser is not given the bodies of functions. An outline needs none of them, and the grammar loses whole files over
//! a guard of a `when` or a second `catch`. What is not surely the body of a function stays; a text whose brackets do not
//! match is parsed as it is.

use std::ops::Range;

use tree_sitter::Node;

use super::braces::block_end;
use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, children, find,
    find_all,
};
use crate::syntax::text::{PreprocessedText, TextRewriter};

pub(super) static KOTLIN: Language = Language {
    cuts_detached_comments: true,
    has_overloads: true,
    signature_excludes: &["annotation"],
    preprocess: Some(preprocess_kotlin),
    ..Language::new("kotlin", tree_sitter_kotlin_ng::LANGUAGE, "tree-sitter-kotlin-ng 1.1.0", &[NODES])
};

const NODES: NodeTable = &[
    ("line_comment block_comment", Visit::Comment),
    ("package_header", Visit::FileHead),
    ("import", Visit::Preamble(import)),
    ("class_declaration", Visit::Read(class)),
    ("class_parameter", Visit::Read(class_parameter)),
    ("object_declaration", Visit::members(SymbolKind::Object, ".class_body")),
    ("companion_object", Visit::Read(companion)),
    ("enum_entry", Visit::members(SymbolKind::EnumMember, ".class_body").named(".identifier")),
    ("function_declaration", Visit::code(SymbolKind::Function, ".function_body").in_type(SymbolKind::Method)),
    ("secondary_constructor", Visit::Read(constructor)),
    ("anonymous_initializer", Visit::Cut(".block")),
    ("property_declaration", Visit::Read(property)),
    // The grammar may make an accessor a sibling of its property.
    ("getter setter", Visit::Cut(".function_body")),
    ("type_alias", Visit::leaf(SymbolKind::Typedef).named("type")),
];

/// Reads `import a.b.C as D` and `import a.b.*`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(path) = find(node, ".qualified_identifier|.identifier") else { return };
    let path = walk.text(path);
    match child_of_kind(node, "*") {
        Some(_) => walk.add_import(&format!("{path}.*")),
        None => walk.add_import(path),
    }
}

/// Reads a class or an interface: properties that its constructor declares are members too.
fn class<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let kind = if child_of_kind(node, "interface").is_some() {
        SymbolKind::Interface
    } else if find(node, ".enum_class_body").is_some() || has_modifier(walk, node, "enum") {
        SymbolKind::Enum
    } else {
        SymbolKind::Class
    };
    let body = find(node, ".class_body|.enum_class_body");
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::members(body)));
    if let Some(parameters) = find(node, ".primary_constructor/.class_parameters") {
        walk.define_leading_members(parameters);
    }
}

/// Reads a parameter of a constructor, which is a property where it is declared as one.
fn class_parameter<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let declares = ["val", "var"].iter().any(|word| child_of_kind(node, word).is_some());
    if let Some(name) = find(node, ".identifier").filter(|_| declares) {
        walk.define(node, SymbolDefinition::new(SymbolKind::Property, walk.text(name), SymbolBody::Nothing));
    }
}

/// Reads `companion object`, which is named `Companion` where it has no name.
fn companion<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let name = find(node, "name").map_or("Companion", |name| walk.text(name)).to_owned();
    let inside = SymbolBody::members(find(node, ".class_body"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Object, name, inside));
}

/// Reads a constructor in a class's body.
fn constructor<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let inside = SymbolBody::code(find(node, ".block"));
    walk.define(node, SymbolDefinition::new(SymbolKind::Constructor, "constructor", inside));
}

/// Reads a property, or the several that `val (a, b) = …` declares.
fn property<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let kind = match walk.scope_kind() {
        _ if has_modifier(walk, node, "const") => SymbolKind::Constant,
        Some(_) => SymbolKind::Property,
        None => SymbolKind::Variable,
    };
    let one = find_all(node, ".variable_declaration/.identifier");
    let several = find_all(node, ".multi_variable_declaration/.variable_declaration");
    let several = several.into_iter().filter_map(|one| find(one, ".identifier"));
    let value = children(node).into_iter().skip_while(|child| child.kind() != "=").nth(1);
    let value = value.or_else(|| find(node, ".property_delegate|.getter|.setter"));
    for name in one.into_iter().take(1).chain(several) {
        walk.define(node, SymbolDefinition::new(kind, walk.text(name), SymbolBody::value(value)));
    }
    for accessor in find_all(node, ".getter").into_iter().chain(find_all(node, ".setter")) {
        if let Some(body) = find(accessor, ".function_body") {
            walk.cut_code(body);
        }
    }
}

fn has_modifier<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, word: &str) -> bool {
    let modifiers = find(node, ".modifiers").map(children).unwrap_or_default();
    modifiers.into_iter().any(|modifier| walk.text(modifier) == word)
}

/// Returns `text` with the bodies of its functions empty; `None` where the scanner does not support what it reads.
fn preprocess_kotlin(text: &str) -> Option<PreprocessedText> {
    let mut scan = KotlinScanner {
        text,
        at: 0,
        level: BracketLevel::new(0),
        around: Vec::new(),
        annotation: None,
        rewriter: TextRewriter::new(text),
    };
    let mut before = b' ';
    while let Some(byte) = scan.byte() {
        match byte {
            b'{' if scan.level.content == BraceContent::Code => scan.cut_block()?,
            b'{' => {
                scan.cut_delegate();
                scan.open_bracket(b'}');
            }
            b',' => {
                // A comma ends the delegation: in `A by b(), C` another supertype follows.
                scan.level.delegate = None;
                scan.at += 1;
            }
            b'(' => scan.open_bracket(b')'),
            b'[' if scan.is_empty_literal() => scan.fill_literal()?,
            b'[' => scan.open_bracket(b']'),
            b'}' | b')' | b']' => scan.close_bracket(byte)?,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => scan.word(before),
            _ => scan.at = token_end(text, scan.at, 0)?,
        }
        if !byte.is_ascii_whitespace() {
            before = byte;
        }
    }
    scan.around.is_empty().then(|| scan.rewriter.finish())
}

/// What the next braces on a level contain, by the last keyword before them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum BraceContent {
    /// Members, or what is not known.
    Unknown,
    /// Members of a type.
    Members,
    /// What a function does.
    Code,
}

/// Brackets that are open.
struct BracketLevel {
    close: u8,
    content: BraceContent,
    /// The start of the delegation of a type: `by` in the head of a class.
    delegate: Option<usize>,
}

impl BracketLevel {
    const fn new(close: u8) -> Self {
        Self { close, content: BraceContent::Unknown, delegate: None }
    }
}

struct KotlinScanner<'a> {
    text: &'a str,
    at: usize,
    /// The innermost bracket that is open, and those around it.
    level: BracketLevel,
    around: Vec<BracketLevel>,
    /// The annotation that was read last, where it has no arguments.
    annotation: Option<Range<usize>>,
    rewriter: TextRewriter<'a>,
}

impl KotlinScanner<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn set_brace_content(&mut self, content: BraceContent) {
        (self.level.content, self.level.delegate) = (content, None);
    }

    fn open_bracket(&mut self, close: u8) {
        self.around.push(std::mem::replace(&mut self.level, BracketLevel::new(close)));
        self.at += 1;
    }

    fn close_bracket(&mut self, close: u8) -> Option<()> {
        // If brackets do not match, nobody knows what a body is.
        if self.level.close != close {
            return None;
        }
        self.level = self.around.pop()?;
        if close == b'}' {
            self.set_brace_content(BraceContent::Unknown);
        }
        self.at += 1;
        Some(())
    }

    fn cut_block(&mut self) -> Option<()> {
        let end = block_end(self.text, self.at, 0, token_end)?;
        self.rewriter.replace(self.at + 1..end - 1, "");
        self.at = end;
        Some(())
    }

    /// Elides `by d()` from a head: the grammar gives the class's body to `d` as its last argument.
    fn cut_delegate(&mut self) {
        // An edit must not begin before the last one ended.
        if let Some(start) = self.level.delegate.take_if(|start| self.rewriter.done <= *start) {
            self.rewriter.replace(start..self.at, "");
        }
    }

    /// Elides an annotation directly before an accessor, where the grammar supports none.
    fn cut_annotation(&mut self, accessor: usize) {
        let Some(annotation) = self.annotation.take().filter(|found| self.rewriter.done <= found.start)
        else {
            return;
        };
        if self.text[annotation.end..accessor].trim().is_empty() {
            self.rewriter.replace(annotation, "");
        }
    }

    /// Returns whether an empty array literal begins here, which the grammar takes for an error.
    fn is_empty_literal(&self) -> bool {
        self.text[self.at + 1..].trim_start().starts_with(']')
    }

    fn fill_literal(&mut self) -> Option<()> {
        let end = self.at + self.text[self.at..].find(']')?;
        self.rewriter.repair(self.at + 1..end, "0");
        self.at = end + 1;
        Some(())
    }

    /// Reads a word, which may decide what the next braces contain.
    fn word(&mut self, before: u8) {
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        if end == 0 {
            // A sign beyond ASCII.
            self.at += rest.chars().next().map_or(1, char::len_utf8);
            return;
        }
        let (word, next) = (&rest[..end], rest[end..].trim_start());
        if word == "value" && next.starts_with("class ") {
            // After an annotation the grammar takes `value` for a name.
            self.rewriter.replace(self.at..self.at + end, "public");
        }
        let next = next.as_bytes().first();
        self.at += end;
        if matches!(before, b':' | b'.' | b'@') {
            // `Foo::class` and `this.get` are not keywords.
            self.annotation = (before == b'@').then(|| self.at - end - 1..self.at);
            return;
        }
        if matches!(word, "get" | "set") {
            self.cut_annotation(self.at - end);
        }
        let in_head = self.level.content == BraceContent::Members;
        match (word, next) {
            ("class" | "interface" | "object", _) => self.set_brace_content(BraceContent::Members),
            // The braces of a property may be a lambda that is its value, which is not a body.
            ("val" | "var" | "typealias", _) => self.set_brace_content(BraceContent::Unknown),
            ("by", _) if in_head => self.level.delegate = Some(self.at - end),
            ("fun", _) => self.set_brace_content(BraceContent::Code),
            ("constructor" | "get" | "set", Some(b'(')) | ("init", Some(b'{')) if !in_head => {
                self.set_brace_content(BraceContent::Code);
            }
            _ => {}
        }
    }
}

/// Returns where what begins at `at` ends: a comment, a literal, a name in quotes, or a single byte.
fn token_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    match rest {
        [b'/', b'/', ..] => Some(text[at..].find('\n').map_or(text.len(), |end| at + end)),
        [b'/', b'*', ..] => comment_end(text, at),
        [b'"', ..] => string_end(text, at, depth),
        [b'\'', b'\\', _, ..] => quoted_end(text, at + 3, '\''),
        [b'\'', ..] => quoted_end(text, at + 1, '\''),
        [b'`', ..] => quoted_end(text, at + 1, '`'),
        _ => Some(at + 1),
    }
}

/// Returns where a quotation is closed on its line.
fn quoted_end(text: &str, at: usize, mark: char) -> Option<usize> {
    let rest = text.get(at..)?;
    let end = rest.find([mark, '\n'])?;
    rest[end..].starts_with(mark).then_some(at + end + 1)
}

/// Comments may be nested.
fn comment_end(text: &str, at: usize) -> Option<usize> {
    let (mut at, mut depth) = (at, 0_usize);
    loop {
        at += text.get(at..)?.find(['/', '*'])?;
        match text.as_bytes().get(at..at + 2)? {
            b"/*" => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return Some(at);
        }
    }
}

fn string_end(text: &str, at: usize, depth: usize) -> Option<usize> {
    let is_raw = text[at..].starts_with("\"\"\"");
    let mut at = at + if is_raw { 3 } else { 1 };
    loop {
        at += text.get(at..)?.find(['"', '\\', '$', '\n'])?;
        match &text.as_bytes()[at..] {
            [b'$', b'{', ..] => {
                at = block_end(text, at + 1, depth, token_end)?;
                continue;
            }
            [b'"', b'"', b'"', ..] if is_raw => {
                // Further quotation marks belong to the string, and precede those that close it.
                let more = text[at + 3..].bytes().take_while(|byte| *byte == b'"').count();
                return Some(at + 3 + more);
            }
            [b'"', ..] if !is_raw => return Some(at + 1),
            [b'\n', ..] if !is_raw => return None,
            [b'\\', ..] if !is_raw => at += 1,
            _ => {}
        }
        // What is escaped may be a character of several bytes.
        at += text.get(at..)?.chars().next()?.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(preprocess_kotlin(text).map(|preprocessed| preprocessed.text).as_deref(), expected);
    }

    #[test]
    fn bodies_are_emptied_and_members_stay() {
        check(
            "class A(val f: () -> Unit = { a }) { fun g() { b } }",
            Some("class A(val f: () -> Unit = { a }) { fun g() {} }"),
        );
        check(
            "fun f() = if (a) { b } else { c }\nval x = y { z }",
            Some("fun f() = if (a) {} else {}\nval x = y { z }"),
        );
        check(
            "class A @Inject constructor(x: B) : C() { init { d } }",
            Some("class A @Inject constructor(x: B) : C() { init {} }"),
        );
        check("fun interface A { fun b() }", Some("fun interface A { fun b() }"));
        check(
            "val x get() { a }\nconstructor(y: Z) : this() { b }",
            Some("val x get() {}\nconstructor(y: Z) : this() {}"),
        );
    }

    #[test]
    fn braces_in_literals_and_comments_do_not_count() {
        check("fun f() { \"}${ \"}\" }\"; '}'; '\\''; `}` /* /* } */ } */ // }\n }", Some("fun f() {}"));
        check("fun f() { \"\"\"a\"\"}${b}\"\"\"\" } val x = 1", Some("fun f() {} val x = 1"));
    }

    #[test]
    fn delegation_is_elided_from_a_head() {
        check("class A : B by c(), D { e }", Some("class A : B by c(), D { e }"));
        check("class A : D, B by c() { val e by f { } }", Some("class A : D, B { val e by f { } }"));
    }

    #[test]
    fn what_the_grammar_stumbles_over_is_replaced() {
        check("@A value class B(val c: D)", Some("@A public class B(val c: D)"));
        check("val a: B @C get() = d", Some("val a: B  get() = d"));
        check("annotation class A(val b: Array<C> = [ ])", Some("annotation class A(val b: Array<C> = [0])"));
    }

    #[test]
    fn signs_beyond_ascii_are_copied() {
        check("\u{feff}fun größe() { → } 😀", Some("\u{feff}fun größe() {} 😀"));
    }

    #[test]
    fn unmatched_brackets_are_not_preprocessed() {
        for text in
            ["fun f() {", "fun f() }", "(]", "\"", "fun f() { \"${ }", "/* /* */", "'a", "fun f() { \"\\"]
        {
            check(text, None);
        }
        check(&"\"${".repeat(10_000), None);
    }
}
