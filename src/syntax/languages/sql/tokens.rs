//! The words of a script.

use std::ops::Range;

/// What a piece of a script is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlTokenKind {
    /// A word or a number.
    Word,
    /// A name in quotes.
    Quoted,
    /// A text in quotes.
    Text,
    /// A text between dollar signs.
    DollarQuoted,
    /// A sign.
    Punctuation(u8),
    /// A line that speaks to the client and not to the server: `\connect`, `\.`.
    ClientCommand,
}

/// A piece of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SqlToken {
    /// What it is.
    pub(super) kind: SqlTokenKind,
    /// Where it stands.
    pub(super) range: Range<usize>,
}

/// A name in brackets is no longer than this, nor is what a line is indented by.
const NEAR: usize = 200;

/// So many times the end of a text between dollar signs is looked for in vain.
const MOST_FAILURES: usize = 100;

/// Reads a script token by token.
pub(super) struct SqlTokens<'a> {
    text: &'a str,
    /// Where the next token is looked for.
    pub(super) at: usize,
    /// How often the end of a text between dollar signs was looked for in vain.
    failures: usize,
    /// Whether a backslash in a text escapes what follows, as it does in `MySQL`.
    escapes: bool,
}

impl<'a> SqlTokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        let escapes = text.contains('`') || text.contains("ENGINE=");
        Self { text, at: 0, failures: 0, escapes }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn byte(&self, at: usize) -> u8 {
        self.bytes().get(at).copied().unwrap_or(0)
    }

    fn is_next(&self, start: &str) -> bool {
        self.bytes()[self.at..].starts_with(start.as_bytes())
    }

    /// Returns where the line ends that holds `at`.
    pub(super) fn line_end(&self, at: usize) -> usize {
        self.find_from("\n", at).unwrap_or(self.text.len())
    }

    fn find_from(&self, what: &str, from: usize) -> Option<usize> {
        let rest = self.bytes().get(from..)?;
        memchr::memmem::find(rest, what.as_bytes()).map(|found| from + found)
    }

    /// Says whether only white space stands before `at` on its line.
    pub(super) fn is_line_start(&self, at: usize) -> bool {
        let before = &self.bytes()[at.saturating_sub(NEAR)..at];
        let code = before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
        code.map_or(before.len() < NEAR, |code| before[code] == b'\n')
    }

    /// Passes over white space and comments. What `MySQL` alone is to run, `/*!50003 … */`, is no comment.
    fn skip_trivia(&mut self) {
        while self.at < self.text.len() {
            if self.byte(self.at).is_ascii_whitespace() {
                self.at += 1;
            } else if self.is_next("--") || (self.byte(self.at) == b'#' && self.is_line_start(self.at)) {
                self.at = self.line_end(self.at);
            } else if self.is_next("/*!") {
                self.at += 3;
                while self.byte(self.at).is_ascii_digit() {
                    self.at += 1;
                }
            } else if self.is_next("/*") {
                self.at = self.find_from("*/", self.at + 2).map_or(self.text.len(), |end| end + 2);
            } else if self.is_next("*/") {
                self.at += 2;
            } else {
                return;
            }
        }
    }

    /// Returns where a text in quotes ends; a quote that stands twice is part of it.
    fn quoted_end(&self, quote: u8, escapes: bool) -> usize {
        let mut at = self.at + 1;
        while at < self.text.len() {
            let byte = self.byte(at);
            let is_doubled = byte == quote && self.byte(at + 1) == quote;
            if is_doubled || byte == b'\\' && escapes {
                at += 2;
            } else if byte == quote {
                return at + 1;
            } else {
                at += 1;
            }
        }
        self.text.len()
    }

    /// Returns where a text between dollar signs ends.
    fn dollar_end(&mut self) -> Option<usize> {
        let name = self.bytes()[self.at + 1..].iter().position(|byte| !is_part(*byte) || *byte == b'$')?;
        let tag_end = self.at + 1 + name;
        if self.byte(tag_end) != b'$' || self.byte(self.at + 1).is_ascii_digit() {
            return None;
        }
        let tag = self.text.get(self.at..=tag_end).filter(|_| self.failures < MOST_FAILURES)?;
        let found = self.find_from(tag, tag_end + 1);
        self.failures += usize::from(found.is_none());
        Some(found? + tag.len())
    }

    fn word_end(&self) -> usize {
        let rest = &self.bytes()[self.at..];
        self.at + rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len())
    }
}

impl Iterator for SqlTokens<'_> {
    type Item = SqlToken;

    fn next(&mut self) -> Option<SqlToken> {
        self.skip_trivia();
        let start = self.at;
        let first = *self.bytes().get(start)?;
        let (kind, end) = match first {
            b'\'' => {
                let escapes =
                    self.escapes || start.checked_sub(1).is_some_and(|at| self.byte(at) | 32 == b'e');
                (SqlTokenKind::Text, self.quoted_end(first, escapes))
            }
            b'"' | b'`' => (SqlTokenKind::Quoted, self.quoted_end(first, false)),
            b'[' if self.byte(start + 1).is_ascii_alphabetic() && !self.escapes => {
                let near = &self.bytes()[start..self.text.len().min(start + NEAR)];
                let in_name = |byte: &u8| is_part(*byte) || matches!(byte, b'[' | b' ' | b'-' | b'.');
                let end = near.iter().position(|byte| !in_name(byte)).filter(|end| near[*end] == b']');
                end.map_or((SqlTokenKind::Punctuation(first), start + 1), |end| {
                    (SqlTokenKind::Quoted, start + end + 1)
                })
            }
            b'$' => self.dollar_end().map_or((SqlTokenKind::Punctuation(first), start + 1), |end| {
                (SqlTokenKind::DollarQuoted, end)
            }),
            b'\\' if self.is_line_start(self.at) => (SqlTokenKind::ClientCommand, self.line_end(start)),
            _ if is_part(first) => (SqlTokenKind::Word, self.word_end()),
            _ => (SqlTokenKind::Punctuation(first), start + 1),
        };
        self.at = end.min(self.text.len());
        Some(SqlToken { kind, range: start..self.at })
    }
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'@') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = SqlTokens::new(text).map(|token| &text[token.range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn comments_are_passed_over_and_texts_are_whole() {
        check(
            "a -- b\n/* c */ 'd''e;' \"f g\" $$h;$$ $x$ $$ $x$",
            &["a", "'d''e;'", "\"f g\"", "$$h;$$", "$x$ $$ $x$"],
        );
        check("/*!50003 CREATE*/ `a b`", &["CREATE", "`a b`"]);
        check("E'\\'' 'a\\' b", &["E", "'\\''", "'a\\'", "b"]);
    }

    #[test]
    fn what_has_no_end_ends_with_the_text() {
        check("'a", &["'a"]);
        check("$a$ b", &["$", "a$", "b"]);
        check("[a\n", &["[", "a"]);
    }
}
