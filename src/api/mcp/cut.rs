//! Texts are kept to what an agent can take, at the end of a line where there is one.

/// So many characters an answer may have, but for what is said about it: some 10,000 tokens, which is less than
/// what common clients cut off without a word.
pub(super) const MAX_CHARACTERS: usize = 40_000;

/// The most characters of an agent's own text that an error repeats.
const MAX_QUOTED: usize = 1_000;

/// Returns words that may hold what an agent gave, which may be of any length.
pub(super) fn shorten(words: String) -> String {
    match words.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// The beginning of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TruncatedText<'a> {
    /// What fits.
    pub(super) head: &'a str,
    /// How many lines are shown; the last of them in part where `is_within_line`.
    pub(super) lines: usize,
    /// Whether the cut is within a line, for the first line alone is too long.
    pub(super) is_within_line: bool,
}

/// Returns the beginning of a text of at most so many characters; `None` if all of it fits.
pub(super) fn truncate(text: &str, characters: usize) -> Option<TruncatedText<'_>> {
    let (end, _) = text.char_indices().nth(characters)?;
    let head = &text[..end];
    match head.rfind('\n') {
        Some(at) => {
            let head = &head[..=at];
            Some(TruncatedText { head, lines: head.matches('\n').count(), is_within_line: false })
        }
        None => Some(TruncatedText { head, lines: 1, is_within_line: true }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_behind_a_line() {
        assert_eq!(truncate("a\nb\n", 4), None);
        let head = |head, lines, is_within_line| Some(TruncatedText { head, lines, is_within_line });
        assert_eq!(truncate("a\nbcd\n", 4), head("a\n", 1, false));
        assert_eq!(truncate("äöü", 2), head("äö", 1, true));
        assert_eq!(truncate("", 0), None);
        assert_eq!(truncate("a", 0), head("", 1, true));
    }
}
