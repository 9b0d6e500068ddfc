//! Summaries of source code: its doc comment, its imports and its main symbols.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::page::{SummaryInput, SummaryPage};
use super::{comments, data, page};
use crate::model::{Outline, Symbol, SymbolKind};
use crate::summarize::words;

const DOC_BYTES: usize = 200;
const IMPORTS_BYTES: usize = 120;
const SIGNATURE_BYTES: usize = 120;

/// Describes source code by its outline, and by its text where the outline has nothing.
pub(crate) fn describe(source: &SummaryInput<'_>) -> String {
    let symbols = source.outline.map(main_symbols).unwrap_or_default();
    let mut page = SummaryPage::new(&first_line(source));
    if let Some(doc) = doc(source) {
        page.push_clipped(&words::clip(&doc, DOC_BYTES), DOC_BYTES);
    }
    if let Some(outline) = source.outline.filter(|outline| !outline.imports.is_empty()) {
        page.push_clipped(&imports(outline), IMPORTS_BYTES);
    }
    if symbols.is_empty() {
        push(&mut page, source);
    } else {
        push_symbols(&mut page, &symbols);
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
    const KINDS: [(&[SymbolKind], &str, &str); 13] = [
        (&[SymbolKind::Class], "class", "classes"),
        (&[SymbolKind::Struct], "struct", "structs"),
        (&[SymbolKind::Interface], "interface", "interfaces"),
        (&[SymbolKind::Union], "union", "unions"),
        (&[SymbolKind::Enum], "enum", "enums"),
        (&[SymbolKind::Typedef], "typedef", "typedefs"),
        (&[SymbolKind::Table], "table", "tables"),
        (&[SymbolKind::Target], "target", "targets"),
        (&[SymbolKind::Function], "function", "functions"),
        (&[SymbolKind::Method, SymbolKind::Constructor, SymbolKind::Destructor], "method", "methods"),
        (&[SymbolKind::Prototype], "prototype", "prototypes"),
        (&[SymbolKind::Macro], "macro", "macros"),
        (&[SymbolKind::Constant, SymbolKind::Variable], "constant or variable", "constants and variables"),
    ];
    let mut totals = [0; KINDS.len()];
    outline.walk(|symbol, _| {
        for (total, (kinds, ..)) in totals.iter_mut().zip(KINDS) {
            *total += usize::from(kinds.contains(&symbol.kind));
        }
    });
    totals
        .into_iter()
        .zip(KINDS)
        .filter(|(total, _)| 0 < *total)
        .map(|(total, (_, one, many))| words::count(total, one, many))
        .collect()
}

/// Returns the doc comment of the file, unless it is only a license.
fn doc(source: &SummaryInput<'_>) -> Option<String> {
    let said = source.outline.and_then(|outline| outline.doc.as_deref()).map(words::one_line);
    match said {
        Some(doc) if !doc.is_empty() && !comments::is_license(&doc) => Some(doc),
        Some(_) | None if source.file_type.id == "html" => data::title(source.text),
        Some(_) | None => comments::leading_paragraph(source.text),
    }
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

fn push_symbols(page: &mut SummaryPage, symbols: &[&Symbol]) {
    // A line that does not fit may be followed by shorter ones that do; but after a few tries the order would mean
    // little.
    const TRIES: usize = 3;
    let mut missed = 0;
    for symbol in symbols {
        let line = symbol_line(symbol);
        if !line.is_empty() && !page.push(&line) {
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

fn symbol_line(symbol: &Symbol) -> String {
    const MEMBERS_BYTES: usize = 100;
    let signature = words::safe_signature(symbol);
    let signature = signature.trim_end_matches([' ', ':', '{', ';']);
    let head = if signature.is_empty() {
        format!("{} {}", symbol.kind.title().to_lowercase(), words::one_line(&symbol.name))
    } else {
        words::clip(signature, SIGNATURE_BYTES)
    };
    let members = main_members(symbol);
    if members.is_empty() {
        return head;
    }
    format!("{head}: {}", words::join_within(&members, ", ", MEMBERS_BYTES))
}

/// Returns the names that describe a type: its public methods, or its fields if it has none.
fn main_members(symbol: &Symbol) -> Vec<String> {
    const MOST: usize = 6;
    let wanted = |kind: SymbolKind| match kind {
        SymbolKind::Method | SymbolKind::Function | SymbolKind::Prototype => Some(0_u8),
        SymbolKind::Field | SymbolKind::Property | SymbolKind::EnumMember => Some(1),
        _ => None,
    };
    if !symbol.kind.is_type() {
        return Vec::new();
    }
    let public = || symbol.children.iter().filter(|child| !is_private(child));
    let Some(best) = public().filter_map(|child| wanted(child.kind)).min() else {
        return Vec::new();
    };
    let mut members: Vec<&Symbol> = public().filter(|child| wanted(child.kind) == Some(best)).collect();
    if best == 0 {
        members.sort_by_key(|member| importance(member));
    }
    let mut seen = HashSet::new();
    members.retain(|member| seen.insert(member.name.as_str()));
    let more = MOST < members.len();
    let mut names: Vec<String> =
        members.iter().take(MOST).map(|member| words::one_line(&member.name)).collect();
    if more {
        names.push(words::ELLIPSIS.to_string());
    }
    names
}

/// Returns the top-level symbols, most important first; members of namespaces count as top level.
pub(crate) fn main_symbols(outline: &Outline) -> Vec<&Symbol> {
    let mut symbols = Vec::new();
    let mut waiting: Vec<&Symbol> = outline.symbols.iter().rev().collect();
    while let Some(symbol) = waiting.pop() {
        if symbol.kind.is_namespace() && !symbol.children.is_empty() {
            waiting.extend(symbol.children.iter().rev());
        } else {
            symbols.push(symbol);
        }
    }
    // Stable, so that ties keep their position.
    symbols.sort_by_key(|symbol| importance(symbol));
    // A prototype and its function, or a name defined under both `#if` and `#else`, are listed once.
    let mut seen = HashSet::new();
    symbols.retain(|symbol| seen.insert((symbol.kind.is_callable(), symbol.qualified_name.as_str())));
    symbols
}

/// Orders symbols: public before private, types before functions before constants, large before small.
///
/// Sizes are rounded, so that one more line in a function seldom changes the order.
pub(crate) fn importance(symbol: &Symbol) -> (bool, u8, Reverse<usize>) {
    let rank = match symbol.kind {
        SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Union
        | SymbolKind::Enum
        | SymbolKind::Typedef
        | SymbolKind::Interface
        | SymbolKind::Object
        | SymbolKind::Table
        | SymbolKind::Heading
        | SymbolKind::Stage
        | SymbolKind::Module
        | SymbolKind::Namespace => 0,
        SymbolKind::Function
        | SymbolKind::Method
        | SymbolKind::Constructor
        | SymbolKind::Destructor
        | SymbolKind::Target
        | SymbolKind::Prototype => 1,
        SymbolKind::Macro | SymbolKind::Element | SymbolKind::Selector | SymbolKind::Cell => 2,
        SymbolKind::EnumMember
        | SymbolKind::Field
        | SymbolKind::Property
        | SymbolKind::Event
        | SymbolKind::Key
        | SymbolKind::Variable
        | SymbolKind::Constant => 3,
    };
    let lines = symbol.span.end_line.saturating_sub(symbol.span.start_line) as usize;
    let size = words::rounded(lines.saturating_add(symbol.children.len()));
    (is_private(symbol), rank, Reverse(size))
}

fn is_private(symbol: &Symbol) -> bool {
    let is_static_function = symbol.kind == SymbolKind::Function && symbol.signature.starts_with("static ");
    symbol.name.starts_with('_') || is_static_function
}

/// Bytes that are read.
const HEAD_BYTES: usize = 1024 * 1024;

/// Words that begin a declaration at the start of a line.
const KEYWORDS: [&str; 41] = [
    "abstract",
    "async",
    "class",
    "contract",
    "create",
    "data",
    "def",
    "defmodule",
    "defn",
    "defp",
    "defun",
    "entity",
    "enum",
    "export",
    "extension",
    "final",
    "fn",
    "fun",
    "func",
    "function",
    "interface",
    "macro",
    "message",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "proc",
    "procedure",
    "protocol",
    "pub",
    "public",
    "record",
    "sealed",
    "service",
    "struct",
    "sub",
    "trait",
    "type",
    "union",
];

/// Visibility keywords: what begins with them comes first.
const PUBLIC: [&str; 4] = ["pub ", "pub(", "export ", "public "];

/// Adds the declarations to the page, public ones first, as many as fit.
pub(crate) fn push(page: &mut SummaryPage, source: &SummaryInput<'_>) {
    let text = words::head(source.text, HEAD_BYTES);
    if source.file_type.id == "make" {
        let targets = make_targets(text);
        if !targets.is_empty() {
            page.push_clipped(&format!("Targets: {}", words::join_within(&targets, ", ", 300)), 320);
        }
        return;
    }
    let mut found = declarations(text);
    // Stable: among equals the order of the text is kept.
    found.sort_by_key(|line| match line.split_once(' ') {
        _ if PUBLIC.iter().any(|word| line.starts_with(word)) => 0,
        Some((_, name)) if name.starts_with('_') => 2,
        Some(_) | None => 1,
    });
    for line in &found {
        if !page.push(line) {
            page.push_ellipsis();
            return;
        }
    }
}

fn declarations(text: &str) -> Vec<String> {
    const LOOKED_AT: usize = 2000;
    const MOST: usize = 60;
    const LINE_BYTES: usize = 100;
    let mut found: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| is_declaration(line)).take(LOOKED_AT) {
        let line = words::one_line(line);
        let line = without_body(&line);
        let line = words::clip(line.trim_end_matches([' ', '{', ':', '(', ';', '=']), LINE_BYTES);
        if !found.contains(&line) {
            found.push(line);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

fn is_declaration(line: &str) -> bool {
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    let (word, rest) = line.split_at(end);
    if KEYWORDS.iter().any(|keyword| word.eq_ignore_ascii_case(keyword)) {
        // `type = 1` and `data.x()` only use such a word.
        let is_receiver = |c: char| word == "func" && c == '(';
        let is_name = |c: char| {
            c.is_alphanumeric() || matches!(c, '_' | '*' | '\'' | '"' | '$' | '{' | '<') || is_receiver(c)
        };
        let rest = rest
            .strip_prefix('(')
            .map_or(rest, |inside| inside.split_once(')').map_or("", |(_, after)| after));
        if word == "data"
            && !rest.trim_start().starts_with(|c: char| c.is_uppercase())
            && !rest.starts_with(" class")
        {
            return false;
        }
        return !rest.starts_with(" use ")
            && rest.starts_with([' ', '\t'])
            && rest.trim_start().starts_with(is_name);
    }
    // A shell function.
    !word.is_empty() && rest.trim_start().starts_with("()") && rest.trim_end().ends_with('{')
}

/// Removes the body of `sub name { … }`; `export { a, b }` has none.
fn without_body(line: &str) -> &str {
    match line.split_once(" {") {
        Some((head, _)) if head.contains(' ') => head,
        Some(_) | None => line,
    }
}

fn make_targets(text: &str) -> Vec<String> {
    const MOST: usize = 40;
    let mut targets: Vec<String> = Vec::new();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/'));
        let name = words::clip(name, 40);
        if is_name && !rest.starts_with('=') && !targets.contains(&name) {
            targets.push(name);
        }
        if targets.len() == MOST {
            break;
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::{check, summary};
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
    fn many_long_signatures_fill_the_page_and_no_more() {
        let many = (0..5000)
            .map(|number| {
                let signature = format!("def function_{number}({})", "argument: int, ".repeat(number % 40));
                symbol(SymbolKind::Function, &signature, &format!("function_{number}"), 3, vec![])
            })
            .collect();
        let summary = summary("python", &"x\n".repeat(15_000), Some(&outline(None, &[], many)));
        expect![[r"
            Python module, about 20000 lines: about 5000 functions.
            def function_0()
            def function_1(argument: int, )
            def function_2(argument: int, argument: int, )
            def function_3(argument: int, argument: int, argument: int, )
            def function_4(argument: int, argument: int, argument: int, argument: int, )
            def function_5(argument: int, argument: int, argument: int, argument: int, argument: int, )
            def function_6(argument: int, argument: int, argument: int, argument: int, argument: int, argument: int, )
            …"]]
        .assert_eq(&summary);
    }

    #[test]
    fn a_rust_file_shows_public_items_first() {
        check(
            "rust",
            "// Copyright 2024 Somebody\n\n//! Walks trees.\n//!\n//! Slowly.\n\nuse std::fmt;\n\nfn helper(x: u8) -> u8 {\n    x\n}\n\npub(crate) struct Walker {\n    depth: u8,\n}\n\nimpl Walker {\n    pub fn go(&self) {}\n}\n\npub fn walk(root: &Path) -> Result<(), Error> {\n}\n",
            expect![[r"
                Rust source, about 20 lines.
                Walks trees.
                pub(crate) struct Walker
                pub fn walk(root: &Path) -> Result<(), Error>
                fn helper(x: u8) -> u8"]],
        );
    }

    #[test]
    fn a_go_file_shows_its_package() {
        check(
            "go",
            "// Package shop sells things.\npackage shop\n\nimport \"fmt\"\n\ntype Cart struct {\n\titems []Item\n}\n\nfunc (c *Cart) Add(i Item) error {\n}\n\nfunc New() *Cart {\n}\n",
            expect![[r"
                Go source, about 10 lines.
                Package shop sells things.
                package shop
                type Cart struct
                func (c *Cart) Add(i Item) error
                func New() *Cart"]],
        );
    }

    #[test]
    fn a_script_shows_its_functions() {
        check(
            "shell",
            "#!/usr/bin/env bash\n#\n# Deploys the site.\nset -euo pipefail\n\nusage() {\n  echo x\n}\nfunction main {\n  usage\n}\nmain \"$@\"\n",
            expect![[r"
                Shell script, about 10 lines.
                Deploys the site.
                usage()
                function main"]],
        );
    }

    #[test]
    fn tables_and_targets_are_declarations() {
        check(
            "sql",
            "-- The shop's tables.\ncreate table item (\n  id int\n);\nCREATE INDEX x ON item (id);\nSEL x;\n",
            expect![[r"
                SQL source, a few lines.
                The shop's tables.
                create table item
                CREATE INDEX x ON item (id)"]],
        );
        check(
            "make",
            "# Builds it.\nCC := gcc\nall: a b\n\techo\n.PHONY: all\nclean:\n\trm x\n$(OUT): y\n",
            expect![[r"
                Makefile, a few lines.
                Builds it.
                Targets: all, clean"]],
        );
    }

    #[test]
    fn a_web_page_shows_its_title() {
        check(
            "html",
            "<!DOCTYPE html>\n<html><head>\n<title>The\n shop</title></head></html>\n",
            expect![[r"
                HTML page, a few lines.
                The shop"]],
        );
    }
}
