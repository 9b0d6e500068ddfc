//! Deltas of made-up texts.

use super::symbol_lines::{OwnHashes, outline_lines};
use super::*;
use crate::model::{Outline, ParseHealth, RelPath, Span, Symbol, SymbolKind};

/// Reads the outline of a text in which `fn NAME` begins a function, and `type NAME` begins a type that contains
/// everything indented below it.
fn outline(text: &str) -> Outline {
    let mut symbols: Vec<Symbol> = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let is_inner = line.starts_with(' ');
        let siblings = match symbols.last_mut() {
            Some(around) if is_inner && around.kind == SymbolKind::Struct => &mut around.children,
            _ => &mut symbols,
        };
        let head = line.trim().strip_prefix("fn ").or_else(|| line.strip_prefix("type "));
        match head {
            Some(head) => {
                let name = head.split('(').next().unwrap().to_owned();
                let kind = if line.starts_with("type") { SymbolKind::Struct } else { SymbolKind::Function };
                let span = Span { start_byte: 0, end_byte: 0, start_line: number, end_line: number };
                let signature = line.trim().to_owned();
                let qualified_name = if is_inner { format!("T.{name}") } else { name.clone() };
                siblings.push(Symbol {
                    kind,
                    name,
                    qualified_name,
                    span,
                    signature,
                    doc: None,
                    recovered: false,
                    children: vec![],
                });
            }
            None if line.starts_with(' ') => siblings.last_mut().unwrap().span.end_line = number,
            None => {}
        }
        if let Some(around) = symbols.last_mut().filter(|_| is_inner) {
            around.span.end_line = number;
        }
    }
    let imports = text.lines().filter_map(|line| line.strip_prefix("use ").map(str::to_owned)).collect();
    Outline { health: ParseHealth::perfect(1), doc: None, imports, symbols }
}

fn options(path: &RelPath) -> DeltaOptions<'_> {
    DeltaOptions { path, is_file_text: true, max_symbols: 100 }
}

#[track_caller]
fn check(old: &str, new: &str, expected: &str) {
    let path = RelPath::new(b"a.x").unwrap();
    let (old_outline, new_outline) = (outline(old), outline(new));
    let (before, after) =
        (FileVersion::from_text(Some(&old_outline), old), FileVersion::from_text(Some(&new_outline), new));
    assert_eq!(render_delta(&before, &after, &options(&path)).text, expected);
}

const OLD: &str =
    "use a\n\ntype T\n  fn run(x)\n    one\n    two\n\n  fn stop()\n    three\nfn last()\n  four\n";

#[test]
fn a_small_change_is_shown_and_a_large_one_counted() {
    check(OLD, &OLD.replace("two", "2"), "@@ changed T.run\n-    two\n+    2\n");
    let many = "    more\n".repeat(9);
    let expected = "@@ changed lines T.run 9/12\n@@ slop view a.x --mask T.run=def\n";
    check(OLD, &OLD.replace("    two\n", &format!("    two\n{many}")), expected);
    let expected =
        "@@ changed T.run 10/12, signature\n-fn run(x)\n+fn run(x, y)\n@@ slop view a.x --mask T.run=def\n";
    check(
        OLD,
        &OLD.replace("run(x)", "run(x, y)").replace("    two\n", &format!("    two\n{many}")),
        expected,
    );
}

#[test]
fn what_is_new_is_shown_by_its_signature_and_what_is_gone_by_its_name() {
    let new = OLD.replace("  fn stop()\n    three\n", "").replace("use a", "use b") + "fn more(z)\n  five\n";
    let expected = "@@ added fn more(z)\n@@ removed T.stop\n@@ changed outside of symbols\n-use a\n+use b\n\
        @@ slop view a.x --mask more=def\n";
    check(OLD, &new, expected);
    let expected = "@@ added type T { run, stop }\n@@ slop view a.x --mask T=def\n";
    check("use a\n\nfn last()\n  four\n", OLD, expected);
    check(OLD, "use a\n\nfn last()\n  four\n", "@@ removed T { run, stop }\n");
}

#[test]
fn moved_symbols_and_blank_lines_are_reported() {
    let moved =
        "use a\n\nfn last()\n  four\ntype T\n  fn run(x)\n    one\n    two\n\n  fn stop()\n    three\n";
    check(OLD, moved, "@@ moved or respaced last\n");
    check(OLD, &OLD.replace("one\n", "one\n\n    \n"), "@@ moved or respaced T.run\n");
    check(OLD, &OLD.replace("use a\n", "use a\n\n\n"), "@@ only blank lines, or the order of symbols\n");
}

#[test]
fn equal_lines_of_one_symbol_are_told_apart_by_their_numbers() {
    let text = "fn f()\n  x = 1\n  x = 1\n  x = 1\nfn g()\n  y = 1\n";
    let changed = text.replacen("  x = 1\n  x = 1\n", "  x = 1\n  x = 2\n", 1);
    check(text, &changed, "@@ changed f at 3\n-  x = 1\n+  x = 2\n");
    // The same line in another symbol does not matter.
    check(
        &text.replace("y = 1", "x = 4"),
        &text.replace("y = 1", "x = 5"),
        "@@ changed g\n-  x = 4\n+  x = 5\n",
    );
    let rows = "a = 1\n{\n}\n".repeat(3);
    let ends = rows.replacen("a = 1", "a = 2", 1) + "a = 1\n";
    check(&rows, &ends, "@@ changed at 1\n-a = 1\n+a = 2\n@@ at 10\n+a = 1\n");
}

#[test]
fn a_long_line_is_shown_where_it_has_changed() {
    let line = |end: &str| format!("  {}{end}{}\n", "a".repeat(500), "z".repeat(500));
    let text = |end: &str| format!("fn f()\n{}", line(end));
    let (kept, after) = ("a".repeat(40), "z".repeat(119));
    let expected = format!("@@ changed f\n-…{kept}1{after}…\n+…{kept}2{after}…\n");
    check(&text("1"), &text("2"), &expected);
    check(&text("1"), "fn f()\n", &format!("@@ changed f\n-  {}…\n", "a".repeat(158)));
}

#[test]
fn ranges_of_lines_that_are_far_from_each_other_stay_apart() {
    let text = |mark: &str| {
        let row =
            |n: usize| if n.is_multiple_of(40) { format!("{mark} {n}\n") } else { format!("row {n}\n") };
        (0..400).map(row).collect::<String>()
    };
    let expected = "@@ changed 10 lines: slop view a.x --lines 1-81 --lines 121-121 --lines 161-161 \
        --lines 201-201 --lines 241-241 --lines 281-281 --lines 321-321 --lines 361-361\n";
    check(&text("old"), &text("new"), expected);
}

#[test]
fn a_text_without_symbols_is_compared_by_lines() {
    check("a\nb\nc\n", "a\nB\nc\n", "@@ changed\n-b\n+B\n");
    check("a\nb\nc\n", "a\nc\n", "@@ changed\n-b\n");
    let rows = |sign: &str| (0..50).fold(String::new(), |text, n| text + &format!("{sign} row {n}\n"));
    let expected = "@@ changed 50 lines: slop view a.x --lines 1-50\n";
    check(&rows("old"), &rows("new"), expected);
}

#[test]
fn without_the_texts_the_structure_is_compared() {
    let path = RelPath::new(b"a.x").unwrap();
    let version = |text: &str| {
        let outline = outline(text);
        let hashes = OwnHashes::of_text(&outline_lines(&outline), text);
        FileVersion::from_structure(&outline, hashes, &|symbol| symbol.signature.clone()).unwrap()
    };
    let new = OLD.replace("use a", "use b").replace("two", "2").replace("stop()", "stop(now)");
    let delta = render_delta(&version(OLD), &version(&new), &options(&path));
    let expected = "@@ changed T.stop, signature\n-fn stop()\n+fn stop(now)\n@@ changed T.run\n\
        @@ changed outside of symbols, imports +b -a\n@@ slop view a.x --mask NAME=def\n";
    assert_eq!(delta.text, expected);
}

#[test]
fn many_symbols_of_one_container_are_listed_below_its_name() {
    let body = "    a line of this length\n".repeat(9);
    let text = |suffix: &str| {
        let method =
            |n: usize| format!("  fn m{n}()\n{}", body.replace("length", &format!("length{suffix}")));
        format!("type T\n{}", (0..3).map(method).collect::<String>())
    };
    let expected = "@@ changed lines in T: m0 9/10, m1 9/10, m2 9/10\n@@ slop view a.x --mask NAME=def\n";
    check(&text(""), &text("2"), expected);
    let expected = "@@ added in T: fn m0(); fn m1(); fn m2()\n@@ slop view a.x --mask NAME=def\n";
    check("type T\n", &text(""), expected);
}

#[test]
fn a_table_of_data_is_not_named_in_full() {
    let path = RelPath::new(b"it's a.x").unwrap();
    let new = (0..9).fold(String::new(), |text, n| text + &format!("fn key{n}()\n"));
    let outlines = (outline(""), outline(&new));
    let (old, new) =
        (FileVersion::from_text(Some(&outlines.0), ""), FileVersion::from_text(Some(&outlines.1), &new));
    let delta = render_delta(&old, &new, &DeltaOptions { max_symbols: 1, ..options(&path) });
    let expected =
        "@@ added fn key0()\n@@ 8 more symbols have changed\n@@ slop view 'it'\\''s a.x' --mask key0=def\n";
    assert_eq!((delta.text.as_str(), delta.has_removed), (expected, false));
}
