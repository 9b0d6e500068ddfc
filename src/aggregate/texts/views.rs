//! Renders all views other than masks and diffs.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::model_text::sanitize_paragraphs;
use crate::aggregate::routing::FocusLines;
use crate::model::{Outline, RelPath, SummaryDetail, Symbol, ViewMode};

/// Replaces a file that is excluded.
pub const EXCLUDED: &str = "(context excluded)";

/// Returns the line that replaces a file that cannot be shown.
pub fn error_line(path: &RelPath, view: ViewMode, reason: &str) -> String {
    if reason == "file not found" {
        format!("ERROR: file not found: {path}")
    } else {
        format!("ERROR in {view} view mode for {path}: {reason}")
    }
}

/// Returns the symbols, one per line: `[Class] Foo (Lines 10-50)`, children indented two spaces.
pub fn render_outline(outline: &Outline) -> String {
    let mut text = String::new();
    outline.walk(|symbol, depth| {
        let line = OutlineLine {
            title: symbol.kind.title(),
            name: &symbol.name,
            lines: (symbol.span.start_line, symbol.span.end_line),
            recovered: symbol.recovered,
        };
        line.write(depth, &mut text);
    });
    if text.is_empty() {
        text.push_str("(no symbols)\n");
    }
    text
}

/// The line of a symbol in an outline.
pub struct OutlineLine<'a> {
    /// Its kind, as `Enum Member`.
    pub title: &'a str,
    pub name: &'a str,
    /// Its first and its last line, from 1.
    pub lines: (u32, u32),
    pub recovered: bool,
}

impl OutlineLine<'_> {
    /// Writes the line of a symbol nested in `depth` others.
    pub fn write(&self, depth: usize, text: &mut String) {
        let Self { title, name, lines: (start, end), recovered } = self;
        let mark = if *recovered { ", recovered" } else { "" };
        let _ =
            writeln!(text, "{:indent$}[{title}] {name} (Lines {start}-{end}{mark})", "", indent = depth * 2);
    }
}

/// The maximum number of tokens of a summary, including the structure below its text.
pub const MAX_SUMMARY_TOKENS: u64 = 150;

/// The lines of a summary: the description of a file, followed by as much of its structure as the tier wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryLines {
    pub words: Vec<String>,
    pub structure: Vec<String>,
}

/// Returns the lines of a summary. They have no line numbers: those change with every edit, and a summary should only
/// change with its meaning. A symbol that the text mentions is not listed again.
pub fn summary_lines(words: &str, outline: Option<&Outline>, detail: SummaryDetail) -> SummaryLines {
    let words: Vec<String> = words.trim_end().lines().map(str::to_owned).collect();
    let mut symbols = outline.map(top_level).unwrap_or_default();
    symbols.sort_by_key(|symbol| reader_rank(symbol));
    let mut seen = HashSet::new();
    let new = symbols.into_iter().filter(|symbol| !is_listed(&words, symbol));
    let lines = new.filter_map(|symbol| match detail {
        SummaryDetail::Words => None,
        SummaryDetail::TopLevel => Some(format!("[{}] {}", symbol.kind.title(), symbol.name)),
        SummaryDetail::Signatures => Some(symbol.signature.clone()),
    });
    let structure = lines.filter(|line| !line.is_empty() && seen.insert(line.clone())).collect();
    SummaryLines { words, structure }
}

/// Returns the lines of a model's summary, which lists no symbols. No line but the first begins like a line of the
/// structure.
pub fn model_summary_lines(words: &str, outline: Option<&Outline>, detail: SummaryDetail) -> SummaryLines {
    let text = sanitize_paragraphs(words).replace('\n', "\n  ");
    SummaryLines { words: text.lines().map(str::to_owned).collect(), ..summary_lines("", outline, detail) }
}

impl SummaryLines {
    /// Returns the text in full.
    pub fn text(&self) -> String {
        join_lines(self.words.iter().chain(&self.structure))
    }

    /// Returns as many lines as fit in [`MAX_SUMMARY_TOKENS`]: the first two, which say what the file is; then the
    /// structure if the symbols were chosen by name, else the rest of the text. `tokens` has the tokens of each line,
    /// text before structure.
    pub fn fit(&self, tokens: &[u64], is_chosen: bool) -> String {
        const HEAD: usize = 2;
        let mut room = MAX_SUMMARY_TOKENS;
        let (words, head) = (self.words.len(), HEAD.min(self.words.len()));
        let rest = if is_chosen {
            (words..tokens.len()).chain(head..words).collect::<Vec<_>>()
        } else {
            (head..tokens.len()).collect()
        };
        let mut lines: Vec<Option<String>> = vec![None; tokens.len()];
        for at in 0..head {
            let line = &self.words[at];
            // No text has more tokens than bytes.
            let bytes = usize::try_from(room).unwrap_or(usize::MAX).saturating_sub(1);
            let fits = tokens[at] <= room;
            let shown = if fits { line } else { &line[..line.floor_char_boundary(bytes)] };
            room = room.saturating_sub(if fits { tokens[at] } else { bytes as u64 + 1 });
            lines[at] = Some(shown.to_owned()).filter(|shown| !shown.is_empty());
        }
        for at in rest {
            // A line that is too long must not exclude the shorter ones after it: a constructor with many parameters
            // would leave a file without any names.
            let Some(left) = room.checked_sub(tokens[at]) else { continue };
            room = left;
            let line = self.words.get(at).or_else(|| self.structure.get(at - words));
            lines[at] = line.cloned();
        }
        join_lines(lines.iter().flatten())
    }
}

fn join_lines<'a>(lines: impl Iterator<Item = &'a String>) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns whether the text about a file shows a symbol: in a line that begins with its signature, among the members of
/// a type, or as a test.
fn is_listed(words: &[String], symbol: &Symbol) -> bool {
    const MAX_COMPARED: usize = 100;
    let signature = symbol.signature.trim_end_matches([' ', ':', '{', ';', '=']);
    let signature = &signature[..signature.floor_char_boundary(MAX_COMPARED)];
    let begins = |line: &str| {
        let rest = line.strip_prefix(signature)?;
        // `fn run` is not shown by `fn runner`.
        Some(signature.len() == MAX_COMPARED || !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let names = |line: &str| {
        let (head, members) = line.rsplit_once(": ")?;
        let separator = if head == "Tests" { "; " } else { ", " };
        Some(head != "Imports" && members.split(separator).any(|member| member == symbol.name))
    };
    words
        .iter()
        .skip(1)
        .any(|line| !signature.is_empty() && begins(line).unwrap_or(false) || names(line).unwrap_or(false))
}

/// The order of symbols for a reader: public ones, private ones, tests.
fn reader_rank(symbol: &Symbol) -> u8 {
    const TESTS: [&str; 6] = ["it(", "it.", "test(", "test.", "describe(", "TEST"];
    let is_test = symbol.name.starts_with("test_")
        || symbol.qualified_name.starts_with("tests::")
        || TESTS.iter().any(|start| symbol.signature.starts_with(start));
    let is_private = symbol.name.starts_with('_') || symbol.signature.starts_with("static ");
    if is_test { 2 } else { u8::from(is_private) }
}

/// Returns the symbols for an overview: types and functions at the top level and in its namespaces.
fn top_level(outline: &Outline) -> Vec<&Symbol> {
    let mut found = Vec::new();
    // A stack instead of recursion, because namespaces may be nested arbitrarily deep.
    let mut stack: Vec<&Symbol> = outline.symbols.iter().rev().collect();
    while let Some(symbol) = stack.pop() {
        match symbol.kind {
            kind if kind.is_namespace() => stack.extend(symbol.children.iter().rev()),
            kind if kind.is_callable() || kind.is_type() => found.push(symbol),
            _ => {}
        }
    }
    found
}

/// Returns `margin` lines on each side of the given lines, with line numbers; each gap is marked by a line. Returns the
/// whole text if no line is given.
pub fn render_window(text: &str, lines: &FocusLines, margin: u32) -> String {
    if lines.0.is_empty() {
        return text.to_owned();
    }
    let is_shown = |number: u32| lines.0.iter().any(|line| number.abs_diff(*line) <= margin);
    let mut out = String::new();
    let mut left_out = 0;
    for (number, row) in (1..).zip(text.lines()) {
        if !is_shown(number) {
            left_out += 1;
            continue;
        }
        write_gap(&mut out, &mut left_out);
        let _ = writeln!(out, "{number:>6}  {row}");
    }
    write_gap(&mut out, &mut left_out);
    out
}

fn write_gap(out: &mut String, left_out: &mut u32) {
    if 0 < *left_out {
        let unit = if *left_out == 1 { "line" } else { "lines" };
        let _ = writeln!(out, "     …  ({left_out} {unit})");
        *left_out = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ParseHealth, Span, SymbolKind};

    fn symbol(kind: SymbolKind, name: &str, children: Vec<Symbol>) -> Symbol {
        Symbol {
            kind,
            name: name.to_owned(),
            qualified_name: name.to_owned(),
            span: Span { start_byte: 0, end_byte: 0, start_line: 10, end_line: 50 },
            signature: format!("{} {name}", kind.name()),
            doc: None,
            recovered: false,
            children,
        }
    }

    fn outline() -> Outline {
        let run = symbol(SymbolKind::Method, "run", vec![]);
        let engine = symbol(SymbolKind::Class, "Engine", vec![run]);
        let space = symbol(SymbolKind::Namespace, "space", vec![engine]);
        let symbols = vec![space, symbol(SymbolKind::Constant, "LIMIT", vec![])];
        Outline { health: ParseHealth::perfect(1), doc: None, imports: vec![], symbols }
    }

    #[test]
    fn an_outline_has_one_line_per_symbol() {
        let text = render_outline(&outline());
        let expected = "[Namespace] space (Lines 10-50)\n  [Class] Engine (Lines 10-50)\n    [Method] run (Lines 10-50)\n[Constant] LIMIT (Lines 10-50)\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_summary_has_the_requested_detail() {
        let outline = outline();
        let view = |words, detail| summary_lines(words, Some(&outline), detail).text();
        assert_eq!(view("Words.\n", SummaryDetail::Words), "Words.\n");
        assert_eq!(view("Words.\n", SummaryDetail::TopLevel), "Words.\n[Class] Engine\n");
        assert_eq!(view("Words.\n", SummaryDetail::Signatures), "Words.\nclass Engine\n");
        assert_eq!(summary_lines("Words.", None, SummaryDetail::TopLevel).text(), "Words.\n");
        assert_eq!(summary_lines("", None, SummaryDetail::TopLevel).text(), "");
    }

    #[test]
    fn a_symbol_that_the_words_show_is_not_listed_again() {
        let outline = outline();
        for detail in [SummaryDetail::TopLevel, SummaryDetail::Signatures] {
            for shown in ["class Engine: run", "mod all: Engine, Other", "Tests: Other; Engine"] {
                let words = format!("Words.\n{shown}\n");
                assert_eq!(summary_lines(&words, Some(&outline), detail).text(), words);
            }
            let other = summary_lines("Words.\nclass Engineer", Some(&outline), detail);
            assert_eq!(other.structure.len(), 1, "another symbol with a longer name");
        }
    }

    #[test]
    fn public_symbols_precede_private_ones_and_tests() {
        let names = ["test_it", "_hidden", "shown"];
        let symbols = names.map(|name| symbol(SymbolKind::Function, name, vec![])).into();
        let outline = Outline { symbols, ..outline() };
        let text = summary_lines("Words.", Some(&outline), SummaryDetail::TopLevel).text();
        assert_eq!(text, "Words.\n[Function] shown\n[Function] _hidden\n[Function] test_it\n");
    }

    #[test]
    fn a_summary_keeps_its_token_limit() {
        let lines = |count: usize, name: &str| (0..count).map(|n| format!("{name}{n}")).collect::<Vec<_>>();
        let summary = SummaryLines { words: lines(4, "w"), structure: lines(4, "s") };
        assert_eq!(summary.fit(&[40; 8], false), "w0\nw1\nw2\n");
        assert_eq!(summary.fit(&[40; 8], true), "w0\nw1\ns0\n");
        assert_eq!(summary.fit(&[10; 8], true), summary.text());
        let one_is_long = [10, 10, 10, 10, 200, 10, 10, 10];
        assert_eq!(summary.fit(&one_is_long, true), summary.text().replace("s0\n", ""));
        let long = SummaryLines { words: vec!["é".repeat(1000); 3], structure: vec![] };
        assert!(long.fit(&[500; 3], false).len() as u64 <= MAX_SUMMARY_TOKENS);
    }

    #[test]
    fn a_window_shows_the_lines_around_and_counts_the_rest() {
        let text = (1..=20).fold(String::new(), |text, n| text + &format!("row {n}\n"));
        let view = render_window(&text, &FocusLines(vec![10]), 1);
        assert_eq!(
            view,
            "     …  (8 lines)\n     9  row 9\n    10  row 10\n    11  row 11\n     …  (9 lines)\n"
        );
        assert_eq!(render_window("a\n", &FocusLines(vec![]), 1), "a\n");
    }
}
