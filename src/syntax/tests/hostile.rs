//! Adversarial texts: each is read on a thread with a small stack, and has to give the expected result.

use crate::model::ParseFallback;
use crate::syntax::derive::{derive, derive_without_preprocessing};
use crate::syntax::outline::FileStructure;

/// What a thread of a worker may count on.
const STACK: usize = 2 << 20;
const MIB: usize = 1 << 20;

/// Derives the structure on a small stack; the parser is stopped when it asked `patience` times.
fn derive_on_small_stack(language: &'static str, text: String, patience: usize) -> FileStructure {
    derive_on_small_stack_with(derive, language, text, patience)
}

type DeriveFn = fn(&str, &str, &mut dyn FnMut() -> bool) -> Option<FileStructure>;

fn derive_on_small_stack_with(
    derive: DeriveFn,
    language: &'static str,
    text: String,
    patience: usize,
) -> FileStructure {
    let read = move || {
        let mut asked = 0;
        let mut give_up = || {
            asked += 1;
            patience < asked
        };
        derive(language, &text, &mut give_up).unwrap()
    };
    std::thread::Builder::new().stack_size(STACK).spawn(read).unwrap().join().unwrap()
}

/// Checks that a text whose parse is stopped early gives nothing but the reason. A scanner may leave less than that to
/// the parser, so this also checks that such a text is survived.
#[track_caller]
fn check_fallback(text: &str, expected: ParseFallback) {
    for language in ["python", "c", "cpp"] {
        let structure =
            derive_on_small_stack_with(derive_without_preprocessing, language, text.to_owned(), 3);
        assert_eq!(structure.outline.health.fallback, Some(expected), "{language}");
        assert!(structure.outline.symbols.is_empty());
        assert!(structure.skeleton.text.is_empty());
        let preprocessed = derive_on_small_stack(language, text.to_owned(), 3);
        assert!(
            preprocessed.outline.health.fallback.is_none_or(|fallback| fallback == expected),
            "{language}"
        );
    }
}

/// Checks that nothing breaks, however far the parser gets.
#[track_caller]
fn check_survival(language: &'static str, text: &str) {
    let structure = derive_on_small_stack(language, text.to_owned(), 20_000);
    assert!(structure.skeleton.text.len() <= text.len());
}

fn numbered(count: usize, piece: impl Fn(usize) -> String) -> String {
    (0..count).map(piece).collect::<Vec<_>>().concat()
}

#[test]
fn brackets_without_end_are_not_parsed() {
    check_fallback(&"(".repeat(100_000), ParseFallback::TooDeep);
    check_fallback(&"(".repeat(8 * MIB), ParseFallback::TooDeep);
    check_fallback(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)), ParseFallback::TooDeep);
    check_fallback(&"f(){".repeat(100_000), ParseFallback::TooDeep);
    check_fallback(&"a<".repeat(100_000), ParseFallback::TooDeep);
}

#[test]
fn a_parse_that_takes_too_long_is_stopped() {
    for piece in ["a ", "a a a\n", "#if\n", "\" ", "if x:\n", "*", "- ", "x = [1, 2]; "] {
        check_fallback(&piece.repeat(350_000 / piece.len()), ParseFallback::TimedOut);
    }
}

#[test]
fn a_table_that_would_take_all_memory_is_not_parsed() {
    let table = format!("x = {{{}}}", "1,".repeat(MIB));
    check_fallback(&table, ParseFallback::TooLarge);
    // The scanner elides the rows before tokens are counted.
    assert_eq!(derive_on_small_stack("python", table, usize::MAX - 1).skeleton.text, "x = {...  # 1 line\n}");
    check_fallback(&"a ".repeat(4 * MIB), ParseFallback::TooLarge);
}

#[cfg(all(feature = "lang-markdown", feature = "lang-scala"))]
#[test]
fn a_text_of_very_many_lines_is_not_parsed() {
    for (language, line) in [("markdown", "\n"), ("markdown", "\r"), ("scala", "elif a:\n")] {
        let structure = derive_on_small_stack(language, line.repeat(MIB / line.len()), usize::MAX - 1);
        assert_eq!(structure.outline.health.fallback, Some(ParseFallback::TooLarge), "{language}");
    }
}

#[test]
fn a_step_that_looks_ahead_over_all_comments_is_stopped_within() {
    let mut asked = 0;
    let text = format!("x = 1\n{}", "# comment\n".repeat(100_000));
    let structure = derive_without_preprocessing("python", &text, &mut || {
        asked += 1;
        10 < asked
    });
    assert_eq!(structure.unwrap().outline.health.fallback, Some(ParseFallback::TimedOut));
    assert_eq!(asked, 11);
}

#[test]
fn a_cancelled_parser_starts_the_next_text_from_its_beginning() {
    let mut asked = false;
    derive("c", &"a ".repeat(MIB), &mut || std::mem::replace(&mut asked, true)).unwrap();
    let structure = derive("c", "int f(void);", &mut || false).unwrap();
    assert_eq!(structure.outline.symbols.len(), 1);
    assert!(structure.outline.health.is_perfect());
}

#[test]
fn deeply_nested_blocks_are_read_up_to_the_limit() {
    let indented = numbered(3_000, |depth| format!("{}class A:\n", " ".repeat(depth)));
    check_survival("python", &(indented + &" ".repeat(3_000) + "x = 1\n"));
    let branches = numbered(2_000, |depth| format!("{}if x:\n", " ".repeat(depth)));
    check_survival("python", &(branches + &" ".repeat(2_000) + "def f(): pass\n"));
    for piece in ["namespace a {", "struct A {", "class A { void f() {", "extern \"C\" {", "union {"] {
        check_survival("cpp", &format!("{}{}", piece.repeat(9_000), "}".repeat(9_000)));
        check_survival("c", &format!("{}{}", piece.repeat(9_000), "}".repeat(9_000)));
    }
}

#[test]
fn what_nests_without_brackets_does_not_overflow_the_stack() {
    check_survival("cpp", &format!("{}class A {{}};", "template <class T> ".repeat(50_000)));
    check_survival("cpp", &format!("int x = {}1;", "- ".repeat(200_000)));
    check_survival("cpp", &format!("int {}x;", "*".repeat(200_000)));
    check_survival("cpp", &format!("int {}x;", "a::".repeat(100_000)));
    check_survival("c", &"#if A\n".repeat(100_000));
    check_survival("c", &format!("int x = {}1;", "x ? 1 : ".repeat(50_000)));
    check_survival("python", &format!("x = {}1\n", "not ".repeat(200_000)));
    check_survival("python", &format!("def f():\n    return x{}\n", ".a".repeat(200_000)));
    check_survival("python", &format!("x = {}1\n", "lambda: ".repeat(50_000)));
}

#[test]
fn the_time_for_many_names_is_linear() {
    check_survival("c", &format!("/** {} */ int {}a;", "doc ".repeat(10_000), "a, ".repeat(200_000)));
    check_survival("c", &"int a;\n".repeat(200_000));
    check_survival("c", &numbered(100_000, |n| format!("#include <{n}>\n")));
    check_survival("python", &numbered(100_000, |n| format!("import a{n}\n")));
    check_survival("python", &format!("x = [{}]\n", "[1, 2],".repeat(200_000)));
    check_survival("cpp", &format!("void f({}int a) {{}}", "int a /* b */,".repeat(100_000)));
    let long = "n".repeat(MIB);
    let inside = "int a;".repeat(1_000);
    check_survival("cpp", &format!("namespace {long} {{ namespace {long} {{ {inside} }} }}"));
}

#[test]
fn an_empty_text_is_accepted() {
    for language in ["python", "c", "cpp"] {
        for text in
            ["", "\n", "\r", "\u{feff}", "\0", "\0\0\n\0", "\u{c}", "#", "/*", "\"", "'''", "\\", "\\\n"]
        {
            let structure = derive_on_small_stack(language, text.to_owned(), usize::MAX - 1);
            assert_eq!(structure.skeleton.text, text);
            assert_eq!(structure.outline.health.fallback, None);
        }
    }
}

#[test]
fn nodes_inserted_by_the_grammar_are_not_symbols() {
    let outline =
        derive_on_small_stack("cpp", "return namespace enum {,int ::".to_owned(), usize::MAX - 1).outline;
    outline.walk(|symbol, _| assert!(!symbol.name.is_empty()));
}

#[cfg(feature = "lang-sql")]
#[test]
fn a_quote_of_sql_that_nothing_closes_may_end_within_a_character() {
    check_survival("sql", "CREATE TABLE \"\u{e9}");
    check_survival("sql", &format!("CREATE FUNCTION f() AS '{}\u{e9}", "a\n".repeat(100)));
}

#[test]
fn a_language_without_a_grammar_has_no_structure() {
    assert_eq!(derive("cobol", "", &mut || false), None);
}
