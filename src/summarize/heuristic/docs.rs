//! The purpose of a file, according to its own documentation, else to that of its main type or its only function, else
//! to the names of what it defines.
//!
//! Whether a paragraph is documentation is decided by its words alone. How often it occurs in the project would also
//! reveal boilerplate, but then a summary would depend on other files, and could not be cached by content.

use std::collections::HashSet;

use super::comments::{self, is_boilerplate};
use super::data;
use super::page::SummaryInput;
use super::symbols::{FileSymbols, ShownSymbol};
use crate::model::{Symbol, SymbolKind};
use crate::summarize::words;

/// The maximum size of the description of a file's purpose, in bytes.
pub(crate) const DOC_BYTES: usize = 200;

/// Returns the purpose of the file; `None` if nothing states it.
pub(crate) fn doc(source: &SummaryInput<'_>, symbols: &FileSymbols<'_>) -> Option<String> {
    file_doc(source).or_else(|| symbol_doc(symbols))
}

/// Returns the documentation of the file as a whole.
fn file_doc(source: &SummaryInput<'_>) -> Option<String> {
    let from_outline = || source.outline.and_then(|outline| outline.doc.as_deref()).and_then(meaningful);
    // A paragraph at the head that the outline assigns to a symbol is shown with the symbol's name.
    let is_of_symbol = |paragraph: &String| {
        source
            .outline
            .is_some_and(|outline| outline.symbols.iter().any(|symbol| documents(symbol, paragraph)))
    };
    let at_head_of =
        |text: &str| comments::leading_paragraph(text).filter(|paragraph| !is_of_symbol(paragraph));
    let at_head = || at_head_of(source.text);
    match source.file_type.id {
        "html" => from_outline().or_else(|| data::title(source.text)),
        "c" | "cpp" => {
            // Two words are the heading of a section.
            let at_head = at_head_of(before_includes(source.text)).filter(|doc| 2 < doc.split(' ').count());
            at_head.or_else(|| comments::class_brief(source.text))
        }
        // Their comments have markup, and the outline has already read those at the head.
        "csharp" | "java" if source.outline.is_some() => from_outline(),
        "elixir" => module_doc(source.text).or_else(at_head),
        _ => from_outline().or_else(at_head),
    }
}

/// Returns the first paragraph of the `@moduledoc` of an Elixir file.
fn module_doc(text: &str) -> Option<String> {
    const HEAD_BYTES: usize = 8192;
    let (_, rest) = words::head(text, HEAD_BYTES).split_once("@moduledoc ")?;
    let rest = rest.trim_start_matches(['~', 'S', 's']);
    let doc = match rest.strip_prefix("\"\"\"") {
        Some(long) => long.split_once("\"\"\"").map_or(long, |(doc, _)| doc),
        None => rest.strip_prefix('"')?.split_once('"')?.0,
    };
    meaningful(doc.trim_start().split("\n\n").next().unwrap_or_default())
}

/// Returns the text above the first include. A comment below it is about what follows, unless a tag says that it is
/// about the file.
fn before_includes(text: &str) -> &str {
    const HEAD_BYTES: usize = 8192;
    const TAGS: [&str; 4] = ["\\file", "@file", "\\brief", "@brief"];
    let head = words::head(text, HEAD_BYTES);
    if TAGS.iter().any(|tag| head.contains(tag)) {
        return text;
    }
    let end = if text.starts_with("#include") { Some(0) } else { text.find("\n#include") };
    end.map_or(text, |end| &text[..end])
}

/// Returns whether a paragraph is the documentation of a symbol or of one in it; both may be clipped.
fn documents(symbol: &Symbol, paragraph: &str) -> bool {
    const COMPARED: usize = 40;
    let start = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).take(COMPARED).collect::<String>();
    let is_same = |symbol: &Symbol| symbol.doc.as_deref().is_some_and(|doc| start(doc) == start(paragraph));
    is_same(symbol) || symbol.kind.is_namespace() && symbol.children.iter().any(is_same)
}

/// Returns the documentation of the main type, or of the only public function, with its name; else the names of what
/// the file defines. The documentation of one of several functions would not describe the others.
fn symbol_doc(symbols: &FileSymbols<'_>) -> Option<String> {
    let named = |shown: &ShownSymbol<'_>| {
        let name = words::one_line(&shown.symbol.name);
        let doc = meaningful(shown.symbol.doc.as_deref()?).filter(|doc| is_sentence(doc))?;
        Some(if doc.starts_with(&name) { doc } else { format!("{name}: {doc}") })
    };
    let public: Vec<&ShownSymbol<'_>> = symbols.shown.iter().filter(|shown| !shown.is_private).collect();
    let main_type = public.iter().find(|shown| shown.symbol.kind.is_type());
    // A method of a class of another file says little about this one.
    let mut functions = public.iter().filter(|shown| shown.symbol.kind == SymbolKind::Function);
    let only_function = match (functions.next(), functions.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    };
    let documented =
        main_type.and_then(|shown| named(shown)).or_else(|| only_function.and_then(|shown| named(shown)));
    documented.or_else(|| defined_names(&public))
}

/// Returns the names of the types and functions, the most important first, if there are more than the summary shows
/// anyway.
fn defined_names(public: &[&ShownSymbol<'_>]) -> Option<String> {
    /// A summary has room for the lines of about this many symbols.
    const SHOWN_ANYWAY: usize = 6;
    let mut seen = HashSet::new();
    let is_meant = |kind: SymbolKind| kind.is_type() || kind == SymbolKind::Function;
    let meant = public.iter().filter(|shown| is_meant(shown.symbol.kind));
    let names = meant.map(|shown| words::one_line(&shown.symbol.name));
    let names: Vec<String> = names.filter(|name| !name.is_empty() && seen.insert(name.clone())).collect();
    let label = "Defines: ";
    (SHOWN_ANYWAY < names.len())
        .then(|| format!("{label}{}", words::join_within(&names, ", ", DOC_BYTES - label.len())))
}

/// Returns whether a comment reads like documentation rather than like a heading or a remark.
fn is_sentence(doc: &str) -> bool {
    const WORDS: usize = 4;
    !doc.starts_with(|c: char| c.is_lowercase()) && (WORDS <= doc.split(' ').count() || !doc.is_ascii())
}

fn meaningful(doc: &str) -> Option<String> {
    let doc = words::one_line(doc);
    (comments::says_something(&doc) && !is_boilerplate(&doc)).then_some(doc)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::{check, summary};
    use super::*;
    use crate::model::{Outline, ParseHealth, Span};

    const QT_LICENSE: &str = "/****************************************************************************\n\
        **\n** Copyright (C) 2016 The Qt Company Ltd.\n** Contact: https://www.qt.io/licensing/\n**\n\
        ** This file is part of the QtSerialPort module of the Qt Toolkit.\n**\n** $QT_BEGIN_LICENSE:LGPL$\n\
        ** Commercial License Usage\n** Licensees holding valid commercial Qt licenses may use this file in\n\
        ** accordance with the agreement provided with the Software.\n**\n** $QT_END_LICENSE$\n**\n\
        ****************************************************************************/\n";

    fn symbol(kind: SymbolKind, signature: &str, name: &str, doc: Option<&str>) -> Symbol {
        Symbol {
            kind,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: 1, end_line: 1 },
            signature: signature.to_owned(),
            doc: doc.map(str::to_owned),
            recovered: false,
            children: Vec::new(),
        }
    }

    fn outline(doc: Option<&str>, symbols: Vec<Symbol>) -> Outline {
        Outline { health: ParseHealth::perfect(1), doc: doc.map(str::to_owned), imports: Vec::new(), symbols }
    }

    #[test]
    fn a_license_of_several_paragraphs_is_not_documentation() {
        let class = outline(None, vec![symbol(SymbolKind::Class, "class Port", "Port", None)]);
        let text = format!("{QT_LICENSE}#include <QtCore>\nclass Port;\n");
        expect![[r"
            C++ source, about 20 lines: 1 class.
            class Port"]]
        .assert_eq(&summary("cpp", &text, Some(&class)));
    }

    #[test]
    fn a_banner_is_not_documentation() {
        let banner = "//\n//  W A R N I N G\n//  -------------\n//\n// This file is not part of the Qt API. It may change from version to version\n// without notice.\n//\n// We mean it.\n//\nclass A;\n";
        check(
            "cpp",
            banner,
            expect![[r"
            C++ source, a few lines.
            class A"]],
        );
        check(
            "go",
            "// +build windows\n\n// Code generated by mockgen. DO NOT EDIT.\n\npackage a\n",
            expect![[r"
            Generated Go source, a few lines.
            package a"]],
        );
    }

    #[test]
    fn a_class_documented_in_the_middle_of_a_file_states_its_purpose() {
        let text = format!(
            "{QT_LICENSE}#include \"port.h\"\nstatic int x;\n/*!\n    \\class Port\n    \\inmodule Serial\n\n    \\brief Reads and writes\n    serial ports.\n\n    Much more.\n*/\n"
        );
        let outline =
            outline(None, vec![symbol(SymbolKind::Function, "int Port::open()", "Port::open", None)]);
        expect![[r"
            C++ source, about 20 lines: 1 function.
            Port: Reads and writes serial ports.
            int Port::open()"]]
        .assert_eq(&summary("cpp", &text, Some(&outline)));
    }

    #[test]
    fn an_undocumented_file_shows_the_documentation_of_its_main_type_or_only_public_function() {
        let types = outline(
            None,
            vec![
                symbol(SymbolKind::Function, "def _helper()", "_helper", Some("Helps the others.")),
                symbol(SymbolKind::Function, "def main()", "main", Some("Starts the whole shop.")),
                symbol(SymbolKind::Class, "class Shop", "Shop", Some("Sells many small things.")),
            ],
        );
        assert!(summary("python", "x = 1\n", Some(&types)).contains("\nShop: Sells many small things.\n"));
        let functions = outline(Some("Copyright 2020 Somebody"), types.symbols[..2].to_vec());
        assert!(summary("python", "x = 1\n", Some(&functions)).contains("\nmain: Starts the whole shop.\n"));
    }

    #[test]
    fn documentation_with_markup_describes_its_type() {
        let class = || symbol(SymbolKind::Class, "class Port", "Port", Some("Reads ports with a Reader."));
        let outline = outline(None, vec![class()]);
        for (language, comment, name) in [
            ("csharp", "/// <summary>\n/// Reads ports with a <see cref=\"Reader\"/>.\n/// </summary>", "C#"),
            ("java", "/** Reads ports with a {@link Reader}. */", "Java"),
        ] {
            let expected =
                format!("{name} source, a few lines: 1 class.\nPort: Reads ports with a Reader.\nclass Port");
            let text = format!("{comment}\nclass Port {{ }}\n");
            assert_eq!(summary(language, &text, Some(&outline)), expected);
        }
    }

    #[test]
    fn an_undocumented_file_of_several_functions_shows_their_names() {
        let named = |name: &str| {
            let doc = Some("Does a thing that nobody would guess from its name.");
            symbol(SymbolKind::Function, &format!("def {name}(first_argument, second_argument)"), name, doc)
        };
        let two = outline(None, ["load", "store"].map(named).to_vec());
        expect![[r"
            Python module, 1 line: 2 functions.
            def load(first_argument, second_argument)
            def store(first_argument, second_argument)"]]
        .assert_eq(&summary("python", "x = 1\n", Some(&two)));
        let functions = ["load", "store", "delete", "rename", "list_all", "_check", "copy", "move_to"];
        let many = outline(None, functions.map(named).to_vec());
        let summary = summary("python", "x = 1\n", Some(&many));
        let expected = "\nDefines: load, store, delete, rename, list_all, copy, move_to\ndef load(";
        assert!(summary.contains(expected), "{summary}");
    }

    #[test]
    fn tests_come_last_and_are_shown_by_title() {
        let mixed = outline(
            None,
            vec![
                symbol(SymbolKind::Function, "it('reads all', () => …)", "it reads all", None),
                symbol(SymbolKind::Function, "function helper()", "helper", None),
                symbol(SymbolKind::Function, "it('writes all', () => …)", "it writes all", None),
            ],
        );
        expect![[r"
            JavaScript source, 1 line: 3 functions.
            function helper()
            Tests: reads all; writes all"]]
        .assert_eq(&summary("javascript", "x();", Some(&mixed)));
    }

    #[test]
    fn a_package_shows_what_it_exports() {
        let constants =
            outline(None, vec![symbol(SymbolKind::Constant, "__all__ = [\"Shop\"]", "__all__", None)]);
        expect![[r"
            Python module, a few lines: 1 constant or variable.
            Exports: Shop, Cart"]]
        .assert_eq(&summary(
            "python",
            "from .shop import Shop\n__all__ = [\n    \"Shop\",  # x\n    'Cart',\n]\n",
            Some(&constants),
        ));
        expect![[r"
            Python module, a few lines.
            Exports: Shop, Basket, * from .b"]]
        .assert_eq(&summary(
            "python",
            "from .a import Shop, Cart as Basket, _x\nfrom .b import *",
            Some(&outline(None, vec![])),
        ));
        let main = outline(
            None,
            vec![
                symbol(SymbolKind::Class, "class Small", "Small", None),
                symbol(SymbolKind::Function, "function main()", "main", None),
            ],
        );
        expect![[r"
            JavaScript source, a few lines: 1 class, 1 function.
            Exports: * from ./other
            function main() (default export)
            class Small"]]
        .assert_eq(&summary(
            "javascript",
            "class Small {}\nfunction main() {}\nexport default main;\nexport * from './other';\n",
            Some(&main),
        ));
    }
}
