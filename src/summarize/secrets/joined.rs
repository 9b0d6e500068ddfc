//! A text with its string literals joined, in which secrets are found that a program assembles at run time.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::notation::line_after;

/// The maximum number of bytes between two pieces.
const LONGEST_JOINT: usize = 400;

/// What joins two pieces of a text: an operator, spaces or a line break between quotes, or a line continuation.
static JOINT: LazyLock<Regex> = LazyLock::new(|| {
    let line = r"(?:\\?\r?\n[ \t]*)?";
    let sign = r"(?:\+|\.\.?|&|<>|~)";
    let quote = "[\"'`]";
    let between = format!(r"[ \t]*{line}{sign}[ \t]*{line}|[ \t]+|[ \t]*\\?\r?\n[ \t]*");
    Regex::new(&format!(r"^(?:{quote}(?:{between})[rbuf]?{quote}|\\\r?\n[ \t]*)")).expect("a fixed pattern")
});

/// Returns where two pieces of a text are joined.
fn joints(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut done = 0;
    std::iter::from_fn(move || {
        loop {
            let at = done + bytes[done..].iter().position(|b| matches!(b, b'"' | b'\'' | b'`' | b'\\'))?;
            let behind = *bytes.get(at + 1)?;
            done = at + 1;
            // Most quotes begin or end a text that nothing is joined to.
            if !b" \t\r\n\\+.&<>~".contains(&behind) {
                continue;
            }
            let joint = JOINT.find(&text[at..text.floor_char_boundary(at + LONGEST_JOINT)]);
            let is_piece = |end: usize| !begins_key(text, end) && !begins_address(&text[end..]);
            if let Some(joint) = joint.filter(|joint| is_piece(at + joint.end())) {
                done = at + joint.end();
                return Some(at..done);
            }
        }
    })
}

/// Returns whether what begins after an opening quote is a key that has a value of its own, as in
/// `'a': 'b'` and a line with `'c': 'd'`, or `"a" = 1` in TOML.
fn begins_key(text: &str, start: usize) -> bool {
    let Some(quote) = text[..start].chars().next_back().filter(|c| matches!(c, '"' | '\'' | '`')) else {
        return false;
    };
    let line = line_after(text, start);
    let behind = line.find(quote).map(|end| line[end + 1..].trim_start()).unwrap_or_default();
    behind.starts_with(": ") || behind == ":" || behind.starts_with('=') && !behind.starts_with("==")
}

/// Returns whether a text begins with an address: the next argument in `curl -u 'me:word' 'https://host/'`.
fn begins_address(text: &str) -> bool {
    let end = text.bytes().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(text.len());
    0 < end && text[end..].starts_with("://")
}

/// Returns the pieces of a secret that are not between its joints, so that the quotes and the ends of lines there stay.
pub(super) fn pieces(text: &str, span: &Range<usize>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut done = span.start;
    for joint in joints(&text[span.clone()]) {
        pieces.push(done..span.start + joint.start);
        done = span.start + joint.end;
    }
    pieces.push(done..span.end);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// The lines of a text in which pieces are joined, without the joints.
pub(super) struct JoinedText {
    pub(super) text: String,
    /// The start of each run of bytes in `text`, and in the original text.
    runs: Vec<(usize, usize)>,
}

impl JoinedText {
    /// Joins the pieces; returns `None` if there are none.
    pub(super) fn new(text: &str) -> Option<Self> {
        let mut joined = Self { text: String::new(), runs: Vec::new() };
        // How far the text is copied or skipped, and the end of the line being copied.
        let (mut done, mut end) = (0, 0);
        for joint in joints(text) {
            if end <= joint.start {
                joined.push_run(text, done..end);
                let line = text[..joint.start].rfind('\n').map_or(0, |at| at + 1);
                done = line.max(end);
            }
            joined.push_run(text, done..joint.start);
            done = joint.end;
            if end <= done {
                end = text[done..].find('\n').map_or(text.len(), |at| done + at + 1);
            }
        }
        joined.push_run(text, done..end);
        (!joined.runs.is_empty()).then_some(joined)
    }

    fn push_run(&mut self, text: &str, span: Range<usize>) {
        if span.start < span.end {
            self.runs.push((self.text.len(), span.start));
            self.text.push_str(&text[span]);
        }
    }

    /// Returns the range in the original text; `None` if it lies within one piece, where a plain scan finds it.
    pub(super) fn original_span(&self, span: &Range<usize>) -> Option<Range<usize>> {
        let run = |at: usize| self.runs.partition_point(|(start, _)| *start <= at) - 1;
        let (first, last) = (run(span.start), run(span.end - 1));
        let of = |run: usize, at: usize| self.runs[run].1 + at - self.runs[run].0;
        let crosses_lines = self.text[span.clone()].contains('\n');
        (first != last && !crosses_lines).then(|| of(first, span.start)..of(last, span.end - 1) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_joined_and_found_again() {
        let text = "first\nx = 'ab' + 'cd' 'ef'\nlast\ny = \"gh\" \\\n  \"ij\"\n";
        let joined = JoinedText::new(text).unwrap();
        assert_eq!(joined.text, "x = 'abcdef'\ny = \"ghij\"\n");
        let span = joined.text.find("abcdef").map(|at| at..at + 6).unwrap();
        assert_eq!(&text[joined.original_span(&span).unwrap()], "ab' + 'cd' 'ef");
        let alone = joined.text.find("y =").map(|at| at..at + 3).unwrap();
        assert_eq!(joined.original_span(&alone), None);
        assert!(JoinedText::new("nothing 'is' joined\n").is_none());
        let quoted = "ab' + 'cd' 'ef";
        assert_eq!(pieces(quoted, &(0..quoted.len())), [0..2, 7..9, 12..14]);
    }
}
