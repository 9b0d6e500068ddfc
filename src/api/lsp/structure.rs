//! Outlines in the form of the protocol: symbols with their ranges, and folding ranges.

use std::ops::Range;

use serde_json::{Value, json};

use super::context::ClientFile;
use super::text::{TextRange, is_in_name, names_in};
use crate::model::{Outline, Symbol, SymbolKind};

/// Returns the symbols of a file, nested as they are in the text.
pub(super) fn document_symbols(file: &ClientFile) -> Vec<Value> {
    let symbols = file.source.outline.iter().flat_map(|outline| &outline.symbols);
    symbols.map(|symbol| document_symbol(file, symbol)).collect()
}

fn document_symbol(file: &ClientFile, symbol: &Symbol) -> Value {
    let SymbolRanges { range, name } = symbol_ranges(file, symbol);
    let children: Vec<Value> = symbol.children.iter().map(|child| document_symbol(file, child)).collect();
    // The grammar lost it, so its end is uncertain.
    let recovered = if symbol.recovered { " (recovered)" } else { "" };
    json!({
        "name": shown_name(symbol),
        "detail": format!("{}{recovered}", symbol.signature),
        "kind": kind_number(symbol.kind),
        "range": range,
        "selectionRange": name,
        "children": children,
    })
}

/// Returns the symbols of a file as a flat list, for clients without support for nested ones.
pub(super) fn flat_symbols(file: &ClientFile) -> Vec<Value> {
    let mut symbols = Vec::new();
    if let Some(outline) = &file.source.outline {
        outline.walk(|symbol, _| {
            let own = shown_name(symbol);
            let container = symbol.qualified_name.strip_suffix(&own);
            let container = container.map(|name| name.trim_end_matches(['.', ':', '#'])).unwrap_or_default();
            symbols.push(json!({
                "name": own,
                "kind": kind_number(symbol.kind),
                "location": {"uri": file.uri, "range": symbol_ranges(file, symbol).range},
                "containerName": container,
            }));
        });
    }
    symbols
}

/// Returns the symbols of a file whose names contain the characters of a query in order. A query with an uppercase
/// letter is case-sensitive.
pub(super) fn matching_symbols(file: &ClientFile, query: &str) -> Vec<Value> {
    let is_exact = query.chars().any(char::is_uppercase);
    let has_characters = |name: &str| {
        let mut characters =
            name.chars().flat_map(|c| if is_exact { vec![c] } else { c.to_lowercase().collect() });
        query.chars().filter(|c| !c.is_whitespace()).all(|wanted| characters.any(|c| c == wanted))
    };
    let mut symbols = Vec::new();
    if let Some(outline) = &file.source.outline {
        outline.walk(|symbol, _| {
            if has_characters(&symbol.name) {
                symbols.push(json!({
                    "name": shown_name(symbol),
                    "kind": kind_number(symbol.kind),
                    "location": {"uri": file.uri, "range": symbol_ranges(file, symbol).name},
                    "containerName": file.path.0,
                }));
            }
        });
    }
    symbols
}

/// Returns the folding ranges: each symbol from the line of its name, so that its decorators stay visible.
pub(super) fn folding_ranges(file: &ClientFile, max: usize) -> Vec<Value> {
    let mut lines: Vec<(u32, u32)> = Vec::new();
    if let Some(outline) = &file.source.outline {
        outline.walk(|symbol, _| {
            let SymbolRanges { range, name } = symbol_ranges(file, symbol);
            // A range that ends at the beginning of a line does not include it.
            let is_before = range.end.character == 0 && range.start.line < range.end.line;
            let fold = (name.start.line, range.end.line - u32::from(is_before));
            if fold.0 < fold.1 {
                lines.push(fold);
            }
        });
    }
    lines.sort_unstable();
    lines.dedup();
    lines.truncate(max);
    lines.into_iter().map(|(start, end)| json!({"startLine": start, "endLine": end})).collect()
}

/// The ranges of a symbol.
pub(super) struct SymbolRanges {
    /// The whole symbol.
    pub(super) range: TextRange,
    /// Its name, within that.
    pub(super) name: TextRange,
}

pub(super) fn symbol_ranges(file: &ClientFile, symbol: &Symbol) -> SymbolRanges {
    let range = file.span_range(&symbol.span);
    let name = file.range(name_in(&file.source.text, symbol));
    let name = if range.contains(&name) { name } else { TextRange { start: range.start, end: range.start } };
    SymbolRanges { range, name }
}

/// Returns the innermost symbol with a name at a line, counted from 1.
pub(super) fn symbol_at<'o>(outline: &'o Outline, name: &str, line: u32) -> Option<&'o Symbol> {
    let mut found = None;
    outline.walk(|symbol, _| {
        let has_line = (symbol.span.start_line..=symbol.span.end_line).contains(&line);
        if has_line && symbol.name == name {
            found = Some(symbol);
        }
    });
    found
}

/// Returns the first symbol with a qualified name, whatever its separators.
pub(super) fn symbol_named<'o>(outline: &'o Outline, qualified_name: &str) -> Option<&'o Symbol> {
    let dotted = |name: &str| name.replace("::", ".").replace('#', ".");
    let wanted = dotted(qualified_name);
    let mut found = None;
    outline.walk(|symbol, _| {
        if found.is_none() && dotted(&symbol.qualified_name) == wanted {
            found = Some(symbol);
        }
    });
    found
}

/// Returns the range of a symbol's name in its text. The outline has only the signature, so the name is found by its
/// surroundings there, to distinguish it from the same word in a decorator or a type.
pub(super) fn name_in(text: &str, symbol: &Symbol) -> Range<usize> {
    let (start, name) = (symbol.span.start_byte, symbol.name.as_str());
    let nowhere = start..start;
    let Some(own) = text.get(start..symbol.span.end_byte) else { return nowhere };
    let in_signature = names_in(&symbol.signature, name);
    let mut around: Vec<Surroundings<'_>> =
        in_signature.map(|range| Surroundings::new(&symbol.signature, range)).collect();
    if symbol.kind.is_callable() {
        // The name of a constructor or of a qualified function may occur twice, and parameters follow the right one.
        around.sort_by_key(|around| around.after != Some('('));
    }
    let is_same = |range: &Range<usize>, with_after: bool| {
        let Some(expected) = around.first() else { return true };
        let found = Surroundings::new(own, range.clone());
        found.before == expected.before
            && (!with_after || expected.after.is_none() || found.after == expected.after)
    };
    let found = names_in(own, name).find(|range| is_same(range, true));
    let found = found.or_else(|| names_in(own, name).find(|range| is_same(range, false)));
    let found = found.or_else(|| names_in(own, name).next());
    found.map_or(nowhere, |range| start + range.start..start + range.end)
}

/// The surroundings of a name.
struct Surroundings<'t> {
    /// The word or character before it.
    before: &'t str,
    /// The character after it.
    after: Option<char>,
}

impl<'t> Surroundings<'t> {
    fn new(text: &'t str, range: Range<usize>) -> Self {
        let before = text[..range.start].trim_end();
        let word = before.trim_end_matches(is_in_name);
        let last = before.chars().next_back().map_or(0, char::len_utf8);
        let start = if word.len() == before.len() { before.len() - last } else { word.len() };
        Self { before: &before[start..], after: text[range.end..].trim_start().chars().next() }
    }
}

/// Returns the name for display, because the protocol does not allow empty ones.
fn shown_name(symbol: &Symbol) -> String {
    if symbol.name.trim().is_empty() { format!("({})", symbol.kind.title()) } else { symbol.name.clone() }
}

/// Returns the number of a kind in the protocol.
pub(super) const fn kind_number(kind: SymbolKind) -> u32 {
    match kind {
        SymbolKind::Module | SymbolKind::Cell => 2,
        SymbolKind::Namespace | SymbolKind::Stage => 3,
        SymbolKind::Class | SymbolKind::Typedef | SymbolKind::Selector => 5,
        SymbolKind::Method | SymbolKind::Destructor => 6,
        SymbolKind::Property => 7,
        SymbolKind::Field | SymbolKind::Element => 8,
        SymbolKind::Constructor => 9,
        SymbolKind::Enum => 10,
        SymbolKind::Interface => 11,
        SymbolKind::Function | SymbolKind::Prototype | SymbolKind::Macro | SymbolKind::Target => 12,
        SymbolKind::Variable => 13,
        SymbolKind::Constant => 14,
        SymbolKind::Heading => 15,
        SymbolKind::Object => 19,
        SymbolKind::Key => 20,
        SymbolKind::EnumMember => 22,
        SymbolKind::Struct | SymbolKind::Union | SymbolKind::Table => 23,
        SymbolKind::Event => 24,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Span;

    #[track_caller]
    fn check(kind: SymbolKind, name: &str, signature: &str, text: &str, expected: usize) {
        let span = Span { start_byte: 1, end_byte: text.len(), start_line: 1, end_line: 1 };
        let symbol = Symbol {
            kind,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            span,
            signature: signature.to_owned(),
            doc: None,
            recovered: false,
            children: Vec::new(),
        };
        assert_eq!(name_in(text, &symbol).start, expected, "{text}");
    }

    #[test]
    fn a_name_is_not_mistaken_for_the_same_word_elsewhere() {
        let function = SymbolKind::Function;
        check(
            function,
            "run",
            "def run(a)",
            " @app.route('/run')\n@run.cached(1)\ndef  run(a):\n  run()",
            40,
        );
        check(function, "run", "run_t *run(run_t run)", " run_t *run(run_t run) {}", 8);
        check(SymbolKind::Constructor, "Foo", "Foo::Foo(int a)", " Foo::Foo(int a) {}", 6);
        check(function, "make", "make *make(int n)", " make *\nmake(int n) {}", 8);
        check(SymbolKind::Constant, "A", "const A: u8 = 1", " #[doc = \"A\"]\nconst A: u8 = 1;", 20);
        // The signature has another name, or there is none in the text.
        check(function, "b", "def a()", " def b(): pass", 5);
        check(function, "c", "def c()", " def b(): pass", 1);
    }
}
