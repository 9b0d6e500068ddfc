//! Summaries of source code: its doc comment, its imports and its main symbols.

use std::collections::HashSet;

use super::docs::DOC_BYTES;
use super::exports::{Exports, exports};
use super::page::{SummaryInput, SummaryPage};
use super::row_names::returned_keys;
use super::symbols::{FileSymbols, file_symbols, symbol_line, test_title};
use super::templates::{self, TemplateParts};
use super::{declarations, docs, page};
use crate::model::{Outline, Symbol, SymbolKind};
use crate::summarize::words;

const EXPORTS_BYTES: usize = 160;
const IMPORTS_BYTES: usize = 120;
const TESTS_BYTES: usize = 300;
const KEYS_BYTES: usize = 200;

/// Describes source code by its outline, or by its text if the outline is empty.
pub(crate) fn describe(source: &SummaryInput<'_>) -> String {
    let exports = exports(source);
    let symbols = source.outline.map(|outline| file_symbols(outline, source, &exports));
    let symbols = symbols.unwrap_or_default();
    let mut page = SummaryPage::new(&first_line(source));
    let doc = docs::doc(source, &symbols);
    if let Some(doc) = &doc {
        page.push_clipped(&words::clip(doc, DOC_BYTES), DOC_BYTES);
    }
    if let Some(line) = exports_line(&exports, &symbols) {
        page.push_clipped(&line, EXPORTS_BYTES);
    }
    if let Some(outline) = source.outline.filter(|outline| !outline.imports.is_empty()) {
        page.push_clipped(&imports(outline), IMPORTS_BYTES);
    }
    let is_template = templates::is_template(source.file_type.id);
    if is_template {
        TemplateParts::of(source).push_to(&mut page);
    }
    if symbols.is_empty() && exports.is_empty() {
        if source.file_type.id == "php" {
            push_keys(&mut page, source.text);
        }
        if !is_template {
            declarations::push(&mut page, source);
        }
    } else {
        let is_page = source.file_type.id == "html";
        push_symbols(&mut page, &symbols, doc.as_deref().filter(|_| is_page));
        push_tests(&mut page, &symbols);
    }
    page.into_text()
}

fn first_line(source: &SummaryInput<'_>) -> String {
    let opening = page::opening(source);
    let counts = source.outline.map(counts).unwrap_or_default();
    if counts.is_empty() {
        return format!("{opening}.");
    }
    format!("{opening}: {}.", counts.join(", "))
}

/// Returns the counts of the kinds of symbols that matter to a reader.
fn counts(outline: &Outline) -> Vec<String> {
    const KINDS: [(&[SymbolKind], &str, &str); 16] = [
        (&[SymbolKind::Class], "class", "classes"),
        (&[SymbolKind::Struct], "struct", "structs"),
        (&[SymbolKind::Interface], "interface", "interfaces"),
        (&[SymbolKind::Union], "union", "unions"),
        (&[SymbolKind::Enum], "enum", "enums"),
        (&[SymbolKind::Typedef], "typedef", "typedefs"),
        (&[SymbolKind::Table], "table", "tables"),
        (&[SymbolKind::Table], "view", "views"),
        (&[SymbolKind::Table], "index", "indexes"),
        (&[SymbolKind::Table], "sequence", "sequences"),
        (&[SymbolKind::Target], "target", "targets"),
        (&[SymbolKind::Function], "function", "functions"),
        (&[SymbolKind::Method, SymbolKind::Constructor, SymbolKind::Destructor], "method", "methods"),
        (&[SymbolKind::Prototype], "prototype", "prototypes"),
        (&[SymbolKind::Macro], "macro", "macros"),
        (&[SymbolKind::Constant, SymbolKind::Variable], "constant or variable", "constants and variables"),
    ];
    let mut totals = [0; KINDS.len()];
    outline.walk(|symbol, _| {
        for (total, (kinds, one, _)) in totals.iter_mut().zip(KINDS) {
            let is_meant = symbol.kind != SymbolKind::Table || table_word(symbol) == one;
            *total += usize::from(is_meant && kinds.contains(&symbol.kind));
        }
    });
    totals
        .into_iter()
        .zip(KINDS)
        .filter(|(total, _)| 0 < *total)
        .map(|(total, (_, one, many))| words::count(total, one, many))
        .collect()
}

/// Returns the SQL name of a symbol of the kind used for tables.
fn table_word(symbol: &Symbol) -> &'static str {
    let mut words = symbol.signature.split_whitespace();
    let word = words.find_map(|word| {
        let known = ["table", "view", "index", "sequence"];
        known.into_iter().find(|known| word.eq_ignore_ascii_case(known))
    });
    word.unwrap_or("table")
}

/// Returns the names that the file exports without defining them; those that it defines are shown as symbols.
fn exports_line(exports: &Exports, symbols: &FileSymbols<'_>) -> Option<String> {
    let names: Vec<String> = exports
        .names
        .iter()
        .map(|name| words::one_line(name))
        .filter(|name| !name.is_empty() && !symbols.defines(name))
        .collect();
    let label = "Exports: ";
    (!names.is_empty())
        .then(|| format!("{label}{}", words::join_within(&names, ", ", EXPORTS_BYTES - label.len())))
}

fn imports(outline: &Outline) -> String {
    const LOOKED_AT: usize = 60;
    let names: Vec<String> = outline
        .imports
        .iter()
        .take(LOOKED_AT)
        .map(|name| words::one_line(name))
        .filter(|name| !name.is_empty())
        .collect();
    if names.is_empty() {
        return String::new();
    }
    let label = "Imports: ";
    format!("{label}{}", words::join_within(&names, ", ", IMPORTS_BYTES - label.len()))
}

/// Adds the keys of the array of which a PHP file consists.
fn push_keys(page: &mut SummaryPage, text: &str) {
    let keys = returned_keys(text);
    if !keys.is_empty() {
        let label = "Keys: ";
        let room = page.room().min(KEYS_BYTES).saturating_sub(label.len());
        page.push_clipped(&format!("{label}{}", words::join_within(&keys, ", ", room)), KEYS_BYTES);
    }
}

/// Adds the lines of the symbols; `title` is already shown in the description of an HTML page.
fn push_symbols(page: &mut SummaryPage, symbols: &FileSymbols<'_>, title: Option<&str>) {
    // A line that does not fit may be followed by shorter ones that do, but after a few tries the order would mean
    // little.
    const TRIES: usize = 3;
    let mut missed = 0;
    let mut seen = HashSet::new();
    for symbol in &symbols.shown {
        if title.is_some_and(|title| element_text(&symbol.symbol.signature) == title) {
            continue;
        }
        let line = symbol_line(symbol);
        // Overloads differ in what was clipped, if at all.
        if !line.is_empty() && seen.insert(line.clone()) && !page.push(&line) {
            missed += 1;
        }
        if missed == TRIES {
            break;
        }
    }
    if 0 < missed {
        page.push_ellipsis();
    }
}

/// Returns what an element of HTML contains, without the tags in it.
fn element_text(element: &str) -> String {
    let mut text = String::new();
    let mut parts = element.split('<');
    text.extend(parts.next());
    text.extend(parts.filter_map(|part| part.split_once('>').map(|(_, after)| after)));
    words::one_line(&text)
}

/// Adds the titles of the tests, which come after everything else.
fn push_tests(page: &mut SummaryPage, symbols: &FileSymbols<'_>) {
    const LOOKED_AT: usize = 60;
    let mut titles: Vec<String> = symbols.tests.iter().take(LOOKED_AT).map(|test| test_title(test)).collect();
    titles.dedup();
    let label = "Tests: ";
    let room = page.room().min(TESTS_BYTES).saturating_sub(label.len());
    let joined = words::join_within(&titles, "; ", room);
    if !joined.is_empty() {
        page.push_clipped(&format!("{label}{joined}"), TESTS_BYTES);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::summary;
    use super::*;
    use crate::model::{ParseHealth, Span};

    fn symbol(kind: SymbolKind, signature: &str, name: &str, lines: u32, children: Vec<Symbol>) -> Symbol {
        Symbol {
            kind,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: 1, end_line: lines },
            signature: signature.to_owned(),
            doc: None,
            recovered: false,
            children,
        }
    }

    fn outline(doc: Option<&str>, imports: &[&str], symbols: Vec<Symbol>) -> Outline {
        Outline {
            health: ParseHealth::perfect(1),
            doc: doc.map(str::to_owned),
            imports: imports.iter().map(|&name| name.to_owned()).collect(),
            symbols,
        }
    }

    fn engine() -> Outline {
        use SymbolKind::{Class, Constant, Constructor, Function, Method};
        outline(
            Some("Runs jobs, one after another, and keeps what they gave."),
            &["os.path", "collections", "typing"],
            vec![
                symbol(Constant, "LIMIT = 10", "LIMIT", 1, vec![]),
                symbol(Constant, "API_KEY = \"hunter2\"", "API_KEY", 1, vec![]),
                symbol(Function, "def _helper(x)", "_helper", 90, vec![]),
                symbol(Function, "def main(argv: list[str]) -> int:", "main", 12, vec![]),
                symbol(Class, "class Small:", "Small", 3, vec![]),
                symbol(
                    Class,
                    "class Engine(Base):",
                    "Engine",
                    120,
                    vec![
                        symbol(Constructor, "def __init__(self)", "__init__", 9, vec![]),
                        symbol(Method, "def stop(self)", "stop", 5, vec![]),
                        symbol(Method, "def run(self)", "run", 40, vec![]),
                        symbol(Method, "def _debug(self)", "_debug", 80, vec![]),
                    ],
                ),
            ],
        )
    }

    #[test]
    fn a_module_shows_its_doc_its_imports_and_its_main_symbols() {
        expect![[r"
            Python module, about 200 lines: 2 classes, 2 functions, 4 methods, 2 constants and variables.
            Runs jobs, one after another, and keeps what they gave.
            Imports: os.path, collections, typing
            class Engine(Base): run, stop
            class Small
            def main(argv: list[str]) -> int
            LIMIT = 10
            API_KEY = [redacted]
            def _helper(x)"]]
        .assert_eq(&summary("python", &"x\n".repeat(212), Some(&engine())));
    }

    #[test]
    fn a_few_more_lines_do_not_change_the_summary() {
        let mut longer = engine();
        for symbol in &mut longer.symbols {
            symbol.span.start_line += 7;
            symbol.span.end_line += 8;
        }
        assert_eq!(
            summary("python", &"x\n".repeat(212), Some(&engine())),
            summary("python", &"x\n".repeat(220), Some(&longer))
        );
    }

    #[test]
    fn a_license_is_not_documentation() {
        let text = "/* Copyright 2020 A. License: MIT. */\n\n/* Reads frames from a port. */\nint f(void);\n";
        let licensed = outline(Some("Copyright 2020 A. License: MIT."), &[], vec![]);
        expect![[r"
            C source, a few lines.
            Reads frames from a port."]]
        .assert_eq(&summary("c", text, Some(&licensed)));
    }

    #[test]
    fn a_c_file_shows_public_functions_first_and_each_once() {
        let functions = outline(
            None,
            &["<stdio.h>", "\"list.h\""],
            vec![
                symbol(SymbolKind::Prototype, "int open_port(void);", "open_port", 1, vec![]),
                symbol(SymbolKind::Function, "static int helper(int n)", "helper", 50, vec![]),
                symbol(SymbolKind::Function, "int open_port(void)", "open_port", 20, vec![]),
                symbol(SymbolKind::Macro, "MAX(a, b)", "MAX", 1, vec![]),
                symbol(
                    SymbolKind::Enum,
                    "enum color",
                    "color",
                    3,
                    vec![
                        symbol(SymbolKind::EnumMember, "RED", "RED", 1, vec![]),
                        symbol(SymbolKind::EnumMember, "BLUE", "BLUE", 1, vec![]),
                    ],
                ),
            ],
        );
        expect![[r#"
            C source, about 100 lines: 1 enum, 2 functions, 1 prototype, 1 macro.
            Imports: <stdio.h>, "list.h"
            enum color: RED, BLUE
            int open_port(void)
            MAX(a, b)
            static int helper(int n)"#]]
        .assert_eq(&summary("c", &"x\n".repeat(90), Some(&functions)));
    }

    #[test]
    fn a_ruby_module_is_shown_with_its_methods() {
        use SymbolKind::{Class, Constant, Method, Module};
        let members = vec![
            symbol(Method, "def self.load(path)", "load", 5, vec![]),
            symbol(Class, "class Site", "Site", 9, vec![symbol(Method, "def render", "render", 3, vec![])]),
            symbol(Constant, "LIMIT = 3", "LIMIT", 1, vec![]),
        ];
        let outline = outline(None, &[], vec![symbol(Module, "module Shop", "Shop", 20, members)]);
        expect![[r"
            Ruby source, 1 line: 1 class, 2 methods, 1 constant or variable.
            module Shop: load
            class Site: render
            LIMIT = 3"]]
        .assert_eq(&summary("ruby", "x", Some(&outline)));
    }

    #[test]
    fn views_and_indexes_are_not_counted_as_tables() {
        let table = |signature: &str, name: &str| symbol(SymbolKind::Table, signature, name, 1, vec![]);
        let tables = vec![
            table("CREATE TABLE view_counts", "view_counts"),
            table("create or replace view v", "v"),
            table("CREATE MATERIALIZED VIEW m", "m"),
            table("CREATE UNIQUE INDEX i ON t (id)", "i"),
        ];
        let first = "SQL source, 1 line: 1 table, 2 views, 1 index.\n";
        assert!(summary("sql", "x", Some(&outline(None, &[], tables))).starts_with(first));
    }

    #[test]
    fn the_title_of_a_page_is_shown_once() {
        let headings = vec![
            symbol(SymbolKind::Heading, "<h1>The <b>shop</b></h1>", "The shop", 1, vec![]),
            symbol(SymbolKind::Element, "<title>The shop</title>", "title", 1, vec![]),
            symbol(SymbolKind::Heading, "<h2>The shop window</h2>", "The shop window", 1, vec![]),
        ];
        expect![[r"
            HTML page, 1 line.
            The shop
            <h2>The shop window</h2>"]]
        .assert_eq(&summary("html", "x", Some(&outline(Some("The shop"), &[], headings))));
    }

    #[test]
    fn php_settings_show_their_keys() {
        let text = "<?php\n\nreturn [\n    'path' => env('a'),\n    'disks' => [\n        'local' => 1,\n    ],\n];\n";
        let summary = summary("php", text, Some(&outline(None, &["Env"], vec![])));
        assert_eq!(summary, "PHP source, a few lines.\nImports: Env\nKeys: path, disks");
    }

    #[test]
    fn parameters_in_the_head_are_not_repeated_as_members() {
        let field = |signature: &str, name: &str| symbol(SymbolKind::Property, signature, name, 1, vec![]);
        let record = symbol(
            SymbolKind::Class,
            "data class User(val id: Int, val name: String)",
            "User",
            3,
            vec![field("val id: Int", "id"), field("val name: String", "name"), field("val key: Int", "key")],
        );
        let summary = summary("kotlin", "x", Some(&outline(None, &[], vec![record])));
        assert!(summary.ends_with("\ndata class User(val id: Int, val name: String): key"), "{summary}");
    }

    #[test]
    fn members_of_namespaces_are_top_level() {
        let nested = outline(
            None,
            &[],
            vec![symbol(
                SymbolKind::Namespace,
                "namespace a",
                "a",
                50,
                vec![symbol(SymbolKind::Class, "class B", "a::B", 40, vec![])],
            )],
        );
        expect![[r"
            C++ source, 1 line: 1 class.
            class B"]]
        .assert_eq(&summary("cpp", "x", Some(&nested)));
    }

    #[test]
    fn many_long_signatures_do_not_exceed_the_page() {
        let many = (0..5000)
            .map(|number| {
                let signature = format!("def function_{number}({})", "argument: int, ".repeat(number % 40));
                symbol(SymbolKind::Function, &signature, &format!("function_{number}"), 3, vec![])
            })
            .collect();
        let summary = summary("python", &"x\n".repeat(15_000), Some(&outline(None, &[], many)));
        expect![[r"
            Python module, about 20000 lines: about 5000 functions.
            Defines: function_0, function_1, function_2, function_3, function_4, function_5, function_6, function_7, function_8, function_9, function_10, function_11, function_12, function_13, function_14, …
            def function_0()
            def function_1(argument: int, )
            def function_2(argument: int, argument: int, )
            def function_3(argument: int, argument: int, argument: int, )
            def function_4(argument: int, argument: int, argument: int, argument: int, )
            def function_5(argument: int, argument: int, argument: int, argument: int, argument: int, )
            …"]]
        .assert_eq(&summary);
    }
}
