//! Summaries of source code: its doc comment, its imports and its main symbols.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::page::{SummaryInput, SummaryPage};
use super::{comments, data, declarations, page};
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
        declarations::push(&mut page, source);
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
    let outline_doc = source.outline.and_then(|outline| outline.doc.as_deref()).map(words::one_line);
    match outline_doc {
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
    // Fields stay in the order of the file, which is part of what a record means.
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
    // In C, `static` makes a function private to its file. Static functions of classes are methods.
    let is_static_function = symbol.kind == SymbolKind::Function && symbol.signature.starts_with("static ");
    symbol.name.starts_with('_') || is_static_function
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
}
