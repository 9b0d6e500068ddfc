//! Parts that were elided from a text before it was parsed have to be in the outline again.

use std::ops::Range;

use super::fixtures;
use crate::model::SymbolKind;
use crate::syntax::derive::derive_without_preprocessing;
use crate::syntax::languages::compiled_language;
use crate::syntax::outline::{
    CompiledLanguage, FileStructure, SkeletonCheck, derive_from, error_count, is_trivia, parse,
};
use crate::syntax::text::{ExpectedSymbol, PreprocessedText, SourceText, SynthesizedItem, SynthesizedSymbol};

fn derive_preprocessed(language: &str, text: &str, preprocessed: PreprocessedText) -> FileStructure {
    let source = SourceText::new(text).with_preprocessed(preprocessed);
    derive_from(compiled_language(language).unwrap(), &source, SkeletonCheck::Deferred, &mut || false)
}

/// Returns the comments of a text, and how many errors it has.
fn comments(compiled: &CompiledLanguage, text: &str) -> (Vec<Range<usize>>, usize) {
    let tree = parse(compiled, text, &mut || false).unwrap();
    let mut found = Vec::new();
    let mut stack = vec![tree.root_node()];
    while let Some(node) = stack.pop() {
        if is_trivia(node) && node.kind() == "comment" {
            found.push(node.byte_range());
        }
        stack.extend((0..node.child_count()).filter_map(|at| node.child(at)));
    }
    found.sort_by_key(|range| range.start);
    (found, error_count(tree.root_node()))
}

/// Returns `text` without those ranges.
fn text_without(text: &str, ranges: &[Range<usize>]) -> PreprocessedText {
    let mut preprocessed = PreprocessedText::default();
    let mut at = 0;
    for range in ranges {
        preprocessed.copy(text, at..range.start);
        at = range.end;
    }
    preprocessed.copy(text, at..text.len());
    preprocessed
}

/// Returns the range of a piece of a text that is in it once.
fn range_of(text: &str, piece: &str) -> Range<usize> {
    let start = text.find(piece).unwrap();
    start..start + piece.len()
}

/// Returns the symbols as `kind qualified_name: signature “doc”`, those that were recovered with a `!`.
fn symbol_lines(structure: &FileStructure) -> Vec<String> {
    let mut lines = Vec::new();
    structure.outline.walk(|symbol, _| {
        let mark = if symbol.recovered { "!" } else { "" };
        let doc = symbol.doc.as_ref().map_or(String::new(), |doc| format!(" “{doc}”"));
        let (kind, name) = (symbol.kind.name(), &symbol.qualified_name);
        lines.push(format!("{mark}{kind} {name}: {}{doc}", symbol.signature));
    });
    lines
}

fn expected(text: &str, kind: SymbolKind, name: &str, whole: &str, head: &str) -> ExpectedSymbol {
    ExpectedSymbol {
        kind,
        name: name.to_owned(),
        range: range_of(text, whole),
        signature: range_of(text, head),
    }
}

#[test]
fn elided_comments_document_as_if_they_were_parsed() {
    let mut seen = 0;
    let known = ["idioms.c", "idioms.h", "idioms.cpp", "idioms.hpp", "templates.cpp"];
    for fixture in
        fixtures().into_iter().filter(|fixture| known.iter().any(|name| fixture.path.ends_with(name)))
    {
        let language = compiled_language(fixture.language).unwrap();
        let (comments, errors) = comments(language, &fixture.text);
        let mut preprocessed = text_without(&fixture.text, &comments);
        preprocessed.elided_comments = comments;
        let tree = parse(language, &preprocessed.text, &mut || false).unwrap();
        // Where the grammar guesses, it may guess otherwise without the comments.
        if errors != error_count(tree.root_node()) {
            continue;
        }
        seen += 1;
        let full = derive_without_preprocessing(fixture.language, &fixture.text, &mut || false).unwrap();
        let ours = derive_preprocessed(fixture.language, &fixture.text, preprocessed);
        assert_eq!(ours.outline, full.outline, "{}", fixture.path.display());
        assert_eq!(ours.skeleton.text, full.skeleton.text, "{}", fixture.path.display());
    }
    assert_eq!(seen, known.len());
}

#[test]
fn synthesized_symbols_are_between_parsed_ones() {
    let text =
        "/* About the file. */\n#include <a.h>\n/* Adds. */\nint f(int a) /* c */ { return a; }\nint g;\n";
    let elided = [
        range_of(text, "/* About the file. */"),
        range_of(text, "#include <a.h>"),
        range_of(text, "/* Adds. */"),
        range_of(text, "int f(int a) /* c */ { return a; }"),
    ];
    let mut preprocessed = text_without(text, &elided);
    preprocessed.elided_comments = vec![elided[0].clone(), elided[2].clone(), range_of(text, "/* c */")];
    let body = range_of(text, "{ return a; }");
    preprocessed.synthesized = vec![
        SynthesizedItem::Import(elided[1].clone(), range_of(text, "<a.h>")),
        SynthesizedItem::Symbol(SynthesizedSymbol {
            kind: SymbolKind::Function,
            name: "f".to_owned(),
            scope: String::new(),
            range: elided[3].clone(),
            signature: elided[3].start..body.start,
            cut: Some(range_of(text, "int a)").end..body.end),
            has_type: true,
        }),
    ];
    let ours = derive_preprocessed("c", text, preprocessed);
    let full = derive_without_preprocessing("c", text, &mut || false).unwrap();
    assert_eq!(ours, full);
    assert_eq!(symbol_lines(&ours), ["function f: int f(int a) “Adds.”", "variable g: int g"]);
    assert_eq!(ours.outline.imports, ["<a.h>"]);
    assert_eq!(ours.outline.doc.as_deref(), Some("About the file."));
}

#[test]
fn synthesized_members_are_in_their_type() {
    let text = "struct a { /** Width. */ int w; };\n";
    let mut preprocessed = text_without(text, &[range_of(text, "/** Width. */ int w;")]);
    preprocessed.elided_comments = vec![range_of(text, "/** Width. */")];
    preprocessed.synthesized = vec![SynthesizedItem::Symbol(SynthesizedSymbol {
        kind: SymbolKind::Field,
        name: "w".to_owned(),
        scope: String::new(),
        range: range_of(text, "int w;"),
        signature: range_of(text, "int w"),
        cut: None,
        has_type: true,
    })];
    assert_eq!(
        derive_preprocessed("c", text, preprocessed),
        derive_without_preprocessing("c", text, &mut || false).unwrap()
    );
}

#[test]
fn a_symbol_that_the_grammar_missed_is_added_in_its_place() {
    let text = "namespace n {\n// Runs.\nFROB(int) run(int a) {}\nint other();\n}\n";
    let lost = range_of(text, "FROB(int) run(int a) {}");
    let mut preprocessed = text_without(text, &[range_of(text, "// Runs."), lost]);
    preprocessed.elided_comments = vec![range_of(text, "// Runs.")];
    preprocessed.expected_symbols =
        vec![expected(text, SymbolKind::Function, "run", "FROB(int) run(int a) {}", "FROB(int) run(int a)")];
    let structure = derive_preprocessed("cpp", text, preprocessed);
    assert_eq!(
        symbol_lines(&structure),
        [
            "namespace n: namespace n",
            "!function n::run: FROB(int) run(int a) “Runs.”",
            "prototype n::other: int other()"
        ]
    );
    assert!(!structure.outline.health.is_perfect());
}

#[test]
fn a_lost_class_gets_its_members() {
    let text = "class LIB A : B {\nvoid f();\nint x;\nvoid A::g() {}\n};\nint y;\n";
    let mut preprocessed = text_without(
        text,
        &[range_of(text, "class LIB A : B {"), range_of(text, "void A::g() {}"), range_of(text, "};")],
    );
    preprocessed.expected_symbols = vec![
        expected(
            text,
            SymbolKind::Class,
            "A",
            "class LIB A : B {\nvoid f();\nint x;\nvoid A::g() {}\n}",
            "class LIB A : B",
        ),
        expected(text, SymbolKind::Function, "g", "void A::g() {}", "void A::g()"),
    ];
    assert_eq!(
        symbol_lines(&derive_preprocessed("cpp", text, preprocessed)),
        [
            "!class A: class LIB A : B",
            "method A::f: void f()",
            "field A::x: int x",
            "!method A::g: void A::g()",
            "variable y: int y"
        ]
    );
}

#[test]
fn expected_symbols_that_were_found_are_not_added_again() {
    let text = "int f(void) { return 1; }\nTEST(a, b) { return 2; }\n";
    let mut preprocessed = text_without(text, &[]);
    preprocessed.expected_symbols = vec![
        expected(text, SymbolKind::Function, "f", "int f(void) { return 1; }", "int f(void)"),
        expected(text, SymbolKind::Function, "a.b", "TEST(a, b) { return 2; }", "TEST(a, b)"),
    ];
    let structure = derive_preprocessed("cpp", text, preprocessed);
    let names: Vec<_> = structure.outline.symbols.iter().map(|symbol| symbol.name.as_str()).collect();
    assert_eq!(names, ["f", "TEST"]);
    assert!(structure.outline.symbols.iter().all(|symbol| !symbol.recovered));
}
