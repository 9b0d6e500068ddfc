//! The text of each view.

use std::fmt::Write as _;

use super::focus::FocusLines;
use super::words::sanitize_paragraphs;
use crate::model::Outline;
use crate::model::RelPath;
use crate::model::SummaryDetail;
use crate::model::Symbol;
use crate::model::ViewMode;

/// What stands in place of a file that is not to be shown.
pub const EXCLUDED: &str = "(context excluded)";

/// Returns the line that stands in place of a file that cannot be shown.
pub fn error_line(path: &RelPath, view: ViewMode, reason: &str) -> String {
    if reason == "file not found" {
        format!("ERROR: file not found: {path}")
    } else {
        format!("ERROR in {view} view mode for {path}: {reason}")
    }
}

/// Returns the symbols, one a line: `[Class] Foo (Lines 10-50)`, children indented two spaces.
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

/// What an outline's line tells of one symbol.
pub struct OutlineLine<'a> {
    /// Its kind, as `Enum Member`.
    pub title: &'a str,
    /// Its name alone.
    pub name: &'a str,
    /// Its first and its last line, from 1.
    pub lines: (u32, u32),
    /// Whether the grammar lost it.
    pub recovered: bool,
}

impl OutlineLine<'_> {
    /// Writes the line of a symbol that stands within `depth` others.
    pub fn write(&self, depth: usize, text: &mut String) {
        let Self { title, name, lines: (start, end), recovered } = self;
        let mark = if *recovered { ", recovered" } else { "" };
        let _ =
            writeln!(text, "{:indent$}[{title}] {name} (Lines {start}-{end}{mark})", "", indent = depth * 2);
    }
}

/// Returns the words about a file, and below them as much of its structure as the tier wants. No line numbers: those
/// change with every edit, and what a summary says should change when its meaning does.
pub fn render_summary(words: &str, outline: Option<&Outline>, detail: SummaryDetail) -> String {
    let mut text = words.trim_end().to_owned();
    text.push('\n');
    let Some(outline) = outline else { return text };
    match detail {
        SummaryDetail::Words => {}
        SummaryDetail::TopLevel => {
            for symbol in top_level(outline) {
                let _ = writeln!(text, "[{}] {}", symbol.kind.title(), symbol.name);
            }
        }
        SummaryDetail::Signatures => {
            // The words name the most important ones already.
            let is_told = |signature: &str| words.lines().any(|line| line.starts_with(signature));
            for symbol in top_level(outline).into_iter().filter(|symbol| !is_told(&symbol.signature)) {
                let _ = writeln!(text, "{}", symbol.signature);
            }
        }
    }
    text
}

/// Returns a model's words about a file, and below them as much of its structure as the tier wants. The words are made
/// such that no line but the first begins like one of the structure.
pub fn render_model_summary(words: &str, outline: Option<&Outline>, detail: SummaryDetail) -> String {
    let mut text = sanitize_paragraphs(words).replace('\n', "\n  ");
    // The words have told of nothing as the heuristic's do, which lists signatures.
    text.push_str(&render_summary("", outline, detail));
    text
}

/// Returns what a reader from afar wants to know of: the types and functions of the top level and of its namespaces.
fn top_level(outline: &Outline) -> Vec<&Symbol> {
    let mut found = Vec::new();
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

/// Returns `margin` lines on each side of the lines that were named, each with its number; what is left out between
/// them is a line of its own. The whole text where no line was named.
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
        let _ = writeln!(out, "     …  ({left_out} lines)");
        *left_out = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ParseHealth;
    use crate::model::Span;
    use crate::model::SymbolKind;

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
    fn an_outline_is_a_line_a_symbol() {
        let text = render_outline(&outline());
        let expected = "[Namespace] space (Lines 10-50)\n  [Class] Engine (Lines 10-50)\n    [Method] run (Lines 10-50)\n[Constant] LIMIT (Lines 10-50)\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_summary_carries_the_detail_that_is_asked_for() {
        let outline = outline();
        let view = |detail| render_summary("Words.\n", Some(&outline), detail);
        assert_eq!(view(SummaryDetail::Words), "Words.\n");
        assert_eq!(view(SummaryDetail::TopLevel), "Words.\n[Class] Engine\n");
        assert_eq!(view(SummaryDetail::Signatures), "Words.\nclass Engine\n");
        let told = render_summary("Words.\nclass Engine: run", Some(&outline), SummaryDetail::Signatures);
        assert_eq!(told, "Words.\nclass Engine: run\n");
        assert_eq!(render_summary("Words.", None, SummaryDetail::TopLevel), "Words.\n");
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
