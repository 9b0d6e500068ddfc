//! Parses a text into a tree, within limits, and measures how much of it the grammar did not understand.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use tree_sitter::{Node, ParseOptions, Parser, Range, Tree};

use super::language::CompiledLanguage;
use super::nodes::visit_descendants;
use crate::model::{ParseFallback, ParseHealth, marks_as_identifiers};
use crate::syntax::text::SourceText;

/// Brackets nested more deeply than this are not found in real code. Measured: 100,000 levels cost a parser seconds and
/// hundreds of megabytes, 20,000 little of either.
const MAX_NESTING: usize = 20_000;

/// More unclosed `<` than this are not found either. In languages with generic types each of them may be a comparison
/// or a list of arguments, and the parser follows both: measured in Java, 16,000 levels cost 2 GB.
const MAX_ANGLE_NESTING: usize = 2_000;

/// A tree and what is derived from it take 100 to 200 bytes for each token of real code and of tables, and up to 600 in
/// texts full of errors or ambiguities, as measured by tests/bench/hostile.py. With this limit, a file of any bytes
/// needs less than 256 MB. Tokens are counted after preprocessing, which removes most of those of real code.
const MAX_TOKENS: usize = 400_000;

/// The parser is given this many bytes at once; it reads them in a fraction of a millisecond.
const CHUNK: usize = 64 << 10;

thread_local! {
    /// A parser keeps its buffers from one text to the next.
    static PARSER: RefCell<Parser> = RefCell::new(Parser::new());
}

/// Parses `text`; regularly asks `give_up` whether to stop.
pub(in crate::syntax) fn parse(
    compiled: &CompiledLanguage,
    text: &str,
    give_up: &mut dyn FnMut() -> bool,
) -> Result<Tree, ParseFallback> {
    check_limits(compiled, text)?;
    parse_ranges(compiled, text, &[], give_up)
}

/// Parses a part of a text that [`parse`] has parsed, as if it were a text of its own; nodes have their positions in
/// the whole text.
pub(in crate::syntax) fn parse_part(
    compiled: &CompiledLanguage,
    text: &str,
    part: Range,
    give_up: &mut dyn FnMut() -> bool,
) -> Result<Tree, ParseFallback> {
    parse_ranges(compiled, text, &[part], give_up)
}

/// Parses some ranges of a text, or all of it where there are none.
fn parse_ranges(
    compiled: &CompiledLanguage,
    text: &str,
    ranges: &[Range],
    give_up: &mut dyn FnMut() -> bool,
) -> Result<Tree, ParseFallback> {
    let cancel_check = CancelCheck { is_cancelled: RefCell::new(give_up), stopped: Cell::new(false) };
    PARSER.with_borrow_mut(|parser| {
        parser.set_language(&compiled.grammar).map_err(|_| ParseFallback::Failed)?;
        parser.set_included_ranges(ranges).map_err(|_| ParseFallback::Failed)?;
        let mut steps = 0_u32;
        let mut check = |_: &tree_sitter::ParseState| {
            // The parser calls this after every hundred steps, which is far too often to read the clock each time.
            steps = steps.wrapping_add(1);
            let stopped =
                if steps.is_multiple_of(32) { cancel_check.poll() } else { cancel_check.stopped.get() };
            if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut check);
        let text = marks_as_identifiers(text);
        let respelled = compiled.language.respell.and_then(|respell| respell(&text));
        let bytes = respelled.as_deref().unwrap_or(&text).as_bytes();
        // One step may look ahead to the end of the text, as that of Python does over comments: so the clock is checked
        // here too, and a text that has cost too much seems to be at its end.
        let mut read = |at: usize, _| {
            let end = bytes.len().min(at.saturating_add(CHUNK));
            if cancel_check.poll() { &[] } else { bytes.get(at..end).unwrap_or_default() }
        };
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        let stopped = cancel_check.stopped.get();
        if tree.is_none() || stopped {
            // Otherwise the next parse would continue where this one stopped.
            parser.reset();
        }
        tree.filter(|_| !stopped).ok_or(if stopped { ParseFallback::TimedOut } else { ParseFallback::Failed })
    })
}

/// Refuses a text that would exhaust the memory or the stack of the parser.
fn check_limits(compiled: &CompiledLanguage, text: &str) -> Result<(), ParseFallback> {
    // Counting brackets is cheaper than tracking their depth, and rules out almost every text.
    let brackets = text.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count();
    if MAX_NESTING < brackets && MAX_NESTING < nesting_depth(text.as_bytes()) {
        return Err(ParseFallback::TooDeep);
    }
    if MAX_ANGLE_NESTING < memchr::memchr_iter(b'<', text.as_bytes()).count()
        && MAX_ANGLE_NESTING < angle_nesting_depth(text.as_bytes())
    {
        return Err(ParseFallback::TooDeep);
    }
    if compiled.language.is_too_deep.is_some_and(|is_too_deep| is_too_deep(text)) {
        return Err(ParseFallback::TooDeep);
    }
    // A text has no more tokens than bytes, so that only large ones are counted.
    if MAX_TOKENS < text.len() && MAX_TOKENS < approximate_token_count(text.as_bytes()) {
        return Err(ParseFallback::TooLarge);
    }
    Ok(())
}

/// Polls a cancellation callback until it returns true, and remembers that it did.
struct CancelCheck<'a> {
    is_cancelled: RefCell<&'a mut dyn FnMut() -> bool>,
    stopped: Cell<bool>,
}

impl CancelCheck<'_> {
    fn poll(&self) -> bool {
        if !self.stopped.get() {
            self.stopped.set((self.is_cancelled.borrow_mut())());
        }
        self.stopped.get()
    }
}

/// Returns how deep brackets are nested, by a plain count that knows neither strings nor comments: enough to keep a
/// hostile text from the parser, and far below the limit for any other.
fn nesting_depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in bytes {
        match byte {
            b'(' | b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Returns how deep `<` is nested within what no semicolon and no brace divides, where comparisons count like brackets.
fn angle_nesting_depth(bytes: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in bytes {
        match byte {
            b'<' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'>' => depth = depth.saturating_sub(1),
            b';' | b'{' | b'}' => depth = 0,
            _ => {}
        }
    }
    deepest
}

/// Returns approximately how many tokens a text has, by a plain count that takes comments and strings for code: runs of
/// word characters, and every other character that is not a space. The end of a line counts, because many grammars have
/// a token for it, and that of Markdown a node for each empty line; there, a carriage return ends a line too.
fn approximate_token_count(bytes: &[u8]) -> usize {
    let (mut count, mut in_word, mut last) = (0, false, b' ');
    for byte in bytes {
        let is_part = byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
        let ends_line = *byte == b'\r' || (*byte == b'\n' && last != b'\r');
        let begins = if is_part { !in_word } else { ends_line || !byte.is_ascii_whitespace() };
        count += usize::from(begins);
        (in_word, last) = (is_part, *byte);
    }
    count
}

/// Returns the share of bytes of the original in error nodes below `root`, and in `recovered` bytes more.
pub(super) fn parse_health(root: Node<'_>, source: &SourceText<'_>, recovered: usize) -> ParseHealth {
    let mut broken = recovered;
    for_each_error(root, &mut |node| broken += source.original_range(node.byte_range()).len());
    let total = source.original_text().len() as u64;
    ParseHealth { broken_bytes: (broken as u64).min(total), total_bytes: total, fallback: None }
}

/// Returns the number of error nodes and missing tokens below `root`.
pub(in crate::syntax) fn error_count(root: Node<'_>) -> usize {
    let mut count = 0;
    for_each_error(root, &mut |_| count += 1);
    count
}

/// Calls `report` with each outermost error node and each missing token. Only branches that contain one are entered.
fn for_each_error<'t>(root: Node<'t>, report: &mut dyn FnMut(Node<'t>)) {
    if !root.has_error() {
        return;
    }
    visit_descendants(root, &mut |node| {
        let is_error = node.is_error() || node.is_missing();
        if is_error {
            report(node);
        }
        node.has_error() && !is_error
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angle_brackets_nest_within_a_statement() {
        assert_eq!(angle_nesting_depth(b"a<b<c>>> d<e"), 2);
        assert_eq!(angle_nesting_depth(b"if (a < b) { x(a < c); y(b < c) }"), 1);
    }

    #[test]
    fn tokens_are_words_and_punctuation() {
        assert_eq!(approximate_token_count(b""), 0);
        assert_eq!(approximate_token_count(b"int a_1[] = {10, 2};\n"), 12);
        assert_eq!(approximate_token_count("größe += 1".as_bytes()), 4);
        assert_eq!(approximate_token_count(b"a\r\nb\r\r\n\n"), 6);
    }
}
