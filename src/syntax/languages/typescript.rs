//! TypeScript, with JSX and without: what it has beyond JavaScript, and repairs for what its grammar does not support.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;
use tree_sitter::Node;

use super::javascript::{
    JAVASCRIPT_NODES, field, method as javascript_method, read_file_comment, without_bare_ampersands,
};
use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, find, find_all,
};
use crate::syntax::text::{PreprocessedText, TextRewriter};

/// TypeScript without JSX, where `<T>value` is a cast.
pub(super) static TYPESCRIPT: Language = Language {
    cuts_detached_comments: true,
    // What overloads a function is all that its callers see of it.
    has_overloads: true,
    signature_excludes: &["decorator"],
    member_separator: Some(';'),
    preprocess: Some(repair),
    read_root: Some(read_file_comment),
    ..Language::new(
        "typescript",
        tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
        "tree-sitter-typescript 0.23.2",
        &[NODES, JAVASCRIPT_NODES],
    )
};

/// TypeScript with JSX.
pub(super) static TSX: Language = Language {
    id: "tsx",
    grammar: tree_sitter_typescript::LANGUAGE_TSX,
    preprocess: Some(repair_with_jsx),
    respell: Some(without_bare_ampersands),
    ..TYPESCRIPT
};

/// The nodes that JavaScript does not have, or that mean more here.
const NODES: NodeTable = &[
    ("abstract_class_declaration", Visit::members(SymbolKind::Class, "body")),
    ("interface_declaration", Visit::members(SymbolKind::Interface, "body")),
    ("type_alias_declaration", Visit::Read(alias)),
    ("enum_declaration", Visit::members(SymbolKind::Enum, "body")),
    ("enum_assignment", Visit::leaf(SymbolKind::EnumMember)),
    ("property_identifier", Visit::Read(enum_constant)),
    ("function_signature", Visit::leaf(SymbolKind::Prototype)),
    ("method_definition method_signature", Visit::Read(method)),
    ("abstract_method_signature", Visit::leaf(SymbolKind::Method)),
    ("property_signature", Visit::leaf(SymbolKind::Field)),
    ("public_field_definition", Visit::Read(field)),
    ("ambient_declaration", Visit::Wrapper),
    ("module internal_module", Visit::Read(module)),
    // `import a = require("b")`
    ("import_statement", Visit::Import("source|.import_require_clause/source", &['"', '\'', '`'])),
    ("import_alias", Visit::Import(".nested_identifier", &[])),
];

/// `<in out T>`, `<out T>`: how a parameter of a type varies.
static VARIANCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"[<,]\s*(?:/\*[^*]*\*+/\s*)?((?:in\s+out|in|out)\s+)[A-Za-z_$]").expect("the regex is valid")
});

/// `static accessor a = 1`: a field with accessors, which the grammar supports only without other modifiers.
static ACCESSOR: LazyLock<Regex> = LazyLock::new(|| {
    let before = r"(?m)^[ \t]*(?:[@\w.]+(?:\([^()\n]*\))?[ \t]+)*(?:static|readonly|abstract|override)[ \t]+";
    Regex::new(&format!(r"{before}(accessor[ \t]+)[#A-Za-z_$][\w$]*[ \t]*[=:;!?\n]"))
        .expect("the regex is valid")
});

/// `import("a")`, perhaps with attributes.
static IMPORTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^import\(\s*(?:"[^"\n]*"|'[^'\n]*')\s*(?:,[^();]*)?\)"#).expect("the regex is valid")
});

/// What replaces the path of such a file.
const FILE_PLACEHOLDER: &str = "$file";

/// A comment that is longer is not looked through for the end of the code before it.
const MAX_COMMENT: usize = 4096;

type TextRepair = (Range<usize>, &'static str);

/// Reads `type A = …`; an object's type has members.
fn alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let has_members = |value: &Node<'t>| {
        [".property_signature", ".method_signature"].iter().any(|kind| find(*value, kind).is_some())
    };
    let members = find(node, "value").filter(|value| value.kind() == "object_type" && has_members(value));
    let inside = SymbolBody::members(members);
    walk.define(node, SymbolDefinition::new(SymbolKind::Typedef, name, inside));
}

/// Reads `namespace A.B { … }` and `declare module "a" { … }`.
fn module<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name") else { return };
    let kind = if name.kind() == "string" { SymbolKind::Module } else { SymbolKind::Namespace };
    let name = walk.text(name).trim_matches(['"', '\'']).to_owned();
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::members(find(node, "body"))));
}

/// Reads a name on its own: in an enumeration it is a constant.
fn enum_constant<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if walk.scope_kind() == Some(SymbolKind::Enum) {
        walk.define(
            node,
            SymbolDefinition::new(SymbolKind::EnumMember, walk.text(node), SymbolBody::Nothing),
        );
    }
}

/// Reads a method; `constructor(private a: string)` declares fields too.
fn method<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    javascript_method(walk, node);
    if find(node, "name").is_none_or(|name| walk.text(name) != "constructor") {
        return;
    }
    for kind in [".required_parameter", ".optional_parameter"] {
        for parameter in find_all(node, &format!("parameters/{kind}")) {
            let is_field = [".accessibility_modifier", ".readonly", ".override_modifier"]
                .iter()
                .any(|modifier| find(parameter, modifier).is_some());
            if let Some(name) = find(parameter, "pattern").filter(|_| is_field) {
                walk.define(
                    parameter,
                    SymbolDefinition::new(SymbolKind::Field, walk.text(name), SymbolBody::Nothing),
                );
            }
        }
    }
}

/// Returns the text as the grammar supports it; `None` where there is nothing to repair, as in most files.
fn repair(text: &str) -> Option<PreprocessedText> {
    repair_text(text, false)
}

/// Returns the same of a text with JSX, where a line may begin with an element.
fn repair_with_jsx(text: &str) -> Option<PreprocessedText> {
    repair_text(text, true)
}

fn repair_text(text: &str, has_jsx: bool) -> Option<PreprocessedText> {
    let repairs = text_repairs(text, has_jsx);
    if repairs.is_empty() {
        return None;
    }
    let mut rewriter = TextRewriter::new(text);
    make_repairs(&mut rewriter, repairs);
    Some(rewriter.finish())
}

/// Copies a script in the text of a rewriter, from where it is to `end`, as the grammar supports it.
pub(super) fn copy_repaired(rewriter: &mut TextRewriter<'_>, end: usize, has_jsx: bool) {
    let start = rewriter.done;
    let repairs = text_repairs(&rewriter.text[start..end], has_jsx);
    let moved =
        repairs.into_iter().map(|(range, stand_in)| (range.start + start..range.end + start, stand_in));
    make_repairs(rewriter, moved.collect());
    rewriter.copy_until(end);
}

fn make_repairs(rewriter: &mut TextRewriter<'_>, mut repairs: Vec<TextRepair>) {
    repairs.sort_by_key(|(range, _)| range.start);
    for (range, stand_in) in repairs {
        // Of overlapping repairs the first one is made.
        if rewriter.done <= range.start {
            rewriter.repair(range, stand_in);
        }
    }
}

/// Returns what the grammar does not support in a text, and what it supports instead.
fn text_repairs(text: &str, has_jsx: bool) -> Vec<TextRepair> {
    let mut repairs = removed_words(&VARIANCE, text);
    repairs.extend(removed_words(&ACCESSOR, text));
    repairs.extend(imported_types(text));
    repairs.extend(exported_types(text));
    // With JSX a line may begin with `<Element>`, which looks like the parameters of a type.
    if !has_jsx {
        repairs.extend(unended_signatures(text));
    }
    repairs
}

/// Finds the words that the first group of a pattern matches.
fn removed_words(pattern: &Regex, text: &str) -> Vec<TextRepair> {
    let found = pattern.captures_iter(text).filter_map(|captures| captures.get(1));
    found.map(|words| (words.range(), "")).collect()
}

/// Finds the paths of `import("a").B`, a type of another file, and of `typeof import("a")`, the type of the file
/// itself. The grammar knows neither with all that may surround it: parameters of `B`, or the angles of `f<typeof
/// import("a")>()`, which become comparisons.
fn imported_types(text: &str) -> Vec<TextRepair> {
    let starts = memmem::find_iter(text.as_bytes(), b"import(");
    let found = starts.filter_map(|start| {
        let end = start + IMPORTED.find(&text[start..])?.len();
        let is_type = text[end..].starts_with('.') || text[..start].trim_end().ends_with("typeof");
        is_type.then_some((start..end, FILE_PLACEHOLDER))
    });
    found.collect()
}

/// Finds `export type * from "a"`.
fn exported_types(text: &str) -> Vec<TextRepair> {
    let starts = memmem::find_iter(text.as_bytes(), b"export type *");
    starts.map(|start| ("export".len() + start.."export type".len() + start, "")).collect()
}

/// Finds where a signature ends with its line and one with parameters of its own follows.
fn unended_signatures(text: &str) -> Vec<TextRepair> {
    let starts = memmem::find_iter(text.as_bytes(), b"<").filter_map(|start| {
        let parameter = text[start + 1..].trim_start();
        let parameter = parameter.strip_prefix("const ").unwrap_or(parameter);
        // The parameters of a type begin with a capital by convention; anything else may be a comparison.
        if !parameter.starts_with(char::is_uppercase) {
            return None;
        }
        let line = text[..start].trim_end_matches([' ', '\t']).strip_suffix('\n')?;
        let end = without_comments(line);
        let ends = end.ends_with(|c: char| {
            c.is_alphanumeric() || matches!(c, '>' | ']' | '}' | '_' | '$' | '\'' | '"' | '`')
        });
        ends.then_some((end.len()..end.len(), ";"))
    });
    starts.collect()
}

/// Returns what precedes the comments at the end of a text.
fn without_comments(text: &str) -> &str {
    let mut text = text.trim_end();
    loop {
        let start = match text.strip_suffix("*/") {
            Some(inside) => block_comment_start(inside),
            None => line_comment_start(text),
        };
        let Some(start) = start else { return text };
        text = text[..start].trim_end();
    }
}

/// Returns where the comment begins that a text ends in. It is not looked for far away, because each line of a file may
/// end one that has no beginning.
fn block_comment_start(inside: &str) -> Option<usize> {
    let from = inside.floor_char_boundary(inside.len().saturating_sub(MAX_COMMENT));
    inside[from..].rfind("/*").map(|at| from + at)
}

/// Returns where the comment begins that goes to the end of a text. Where no blank precedes `//`, it may be part of a
/// string.
fn line_comment_start(text: &str) -> Option<usize> {
    let line = text.rfind('\n').map_or(0, |end| end + 1);
    let mut marks = text[line..].match_indices("//").map(|(at, _)| line + at);
    marks.find(|at| *at == line || text[..*at].ends_with(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let repaired = repair(text);
        assert_eq!(repaired.as_ref().map_or(text, |preprocessed| preprocessed.text.as_str()), expected);
    }

    #[test]
    fn unsupported_syntax_is_rewritten() {
        check("interface A<in out T, out U> {}", "interface A<T, U> {}");
        check("{\n  (): B\n  /** C. */\n  <T>(a: T): C\n}", "{\n  (): B;\n  /** C. */\n  <T>(a: T): C\n}");
        check("export type * from './a';", "export * from './a';");
        check("  @a() static accessor b = 1;\n", "  @a() static b = 1;\n");
        check("  protected override readonly accessor b: C\n", "  protected override readonly b: C\n");
        check("let a: import(\"b\").C<D>;", "let a: $file.C<D>;");
        check("a = b<typeof import('c')>()\n", "a = b<typeof $file>()\n");
        check("typeof import('a', { with: { b: 'c' } })[d]", "typeof $file[d]");
        check("{\n  (a: A): B<A>\n  <T>(a: T): C\n}", "{\n  (a: A): B<A>;\n  <T>(a: T): C\n}");
        for (end, comments) in [("B", "\n// C.\n/* D. */ // E."), ("{ b: B }", " // C."), ("'b://'", "")] {
            let text = |sign| format!("{{\n  (): {end}{sign}{comments}\n\n  <\n    T,\n  >(a: T): F\n}}");
            check(&text(""), &text(";"));
        }
    }

    #[test]
    fn supported_syntax_is_not_rewritten() {
        for text in ["for (const a in b) c(d, inner);", "await import('a');", "a\n  < b"] {
            check(text, text);
        }
    }
}
