//! Views of a text as the program that reads it will see it: strings joined, base64 decoded.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::GeneralPurpose;
use base64::engine::GeneralPurposeConfig;
use regex::Regex;

/// The least and most bytes of base64 that are decoded.
const SHORTEST: usize = 20;
const LONGEST: usize = 64 << 10;

/// What joins two pieces of a text: an operator, spaces or a line break between quotes, or a line continuation.
static JOINT: LazyLock<Regex> = LazyLock::new(|| {
    let line = r"(?:\\?\r?\n[ \t]*)?";
    let sign = r"(?:\+|\.\.?|&|<>|~)";
    let quote = "[\"'`]";
    let between = format!(r"[ \t]*{line}{sign}[ \t]*{line}|[ \t]+|[ \t]*\\?\r?\n[ \t]*");
    Regex::new(&format!(r"{quote}(?:{between})[rbuf]?{quote}|\\\r?\n[ \t]*")).expect("a fixed pattern")
});

/// The lines of a text in which pieces are joined, without the joints.
pub(super) struct JoinedText {
    /// The lines.
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
        for joint in JOINT.find_iter(text) {
            if end <= joint.start() {
                joined.push_run(text, done..end);
                let line = text[..joint.start()].rfind('\n').map_or(0, |at| at + 1);
                done = line.max(end);
            }
            joined.push_run(text, done..joint.start());
            done = joint.end();
            end = text[done..].find('\n').map_or(text.len(), |at| done + at + 1);
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

/// Returns the texts that are encoded in base64, with their ranges.
pub(super) fn decode_base64_runs(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < text.len() {
            let start = at + text.as_bytes()[at..].iter().position(|b| is_base64(*b))?;
            let length = text.as_bytes()[start..].iter().take_while(|b| is_base64(**b)).count();
            at = start + length;
            if (SHORTEST..=LONGEST).contains(&length)
                && let Some(inner) = decode(&text[start..at])
            {
                return Some((start..at, inner));
            }
        }
        None
    })
}

fn is_base64(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'_' | b'-' | b'=')
}

/// Decodes base64 of either alphabet, if the result is text.
fn decode(packed: &str) -> Option<String> {
    const LAX: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let alphabet = if packed.contains(['-', '_']) { alphabet::URL_SAFE } else { alphabet::STANDARD };
    // A leading name, as in `KEY=…`, is not part of it.
    let inner = packed.trim_end_matches('=');
    let inner = inner.rsplit('=').next()?;
    let text = String::from_utf8(GeneralPurpose::new(&alphabet, LAX).decode(inner).ok()?).ok()?;
    let is_plain = |c: char| !c.is_control() || matches!(c, '\n' | '\r' | '\t');
    (SHORTEST / 2 <= text.len() && text.chars().all(is_plain)).then_some(text)
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
    }

    #[test]
    fn base64_of_texts_is_unpacked_and_of_other_bytes_is_not() {
        let texts: Vec<_> =
            decode_base64_runs("KEY=cGFzc3dvcmQ9aHVudGVyMiE= SGVsbG8 AAECAwQFBgcICQoLDA0ODxAREhM=").collect();
        assert_eq!(texts, [(0..28, "password=hunter2!".to_owned())]);
    }
}
