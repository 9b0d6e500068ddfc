//! Where the statements of a script begin and end, and the tokens they are made of.

use std::ops::Range;

/// The maximum number of tokens that are read of a statement; the rest is data.
const MAX_TOKENS: usize = 20_000;

/// The end of a block that is never closed is searched for this many times in one script.
const MAX_RETRIES: usize = 8;

/// The keyword of what is created is within this many tokens.
const HEAD_TOKENS: usize = 16;

/// A name in brackets, and the indent of a line, are no longer than this.
const MAX_SPAN_BYTES: usize = 200;

/// The end of a text between dollar signs is searched for without success at most this many times.
const MAX_FAILURES: usize = 100;

/// A statement, without the sign that ends it.
#[derive(Debug)]
pub(super) struct SqlStatement<'a> {
    /// The whole script.
    pub(super) text: &'a str,
    /// Its tokens; only the first ones if there are many.
    pub(super) tokens: Vec<SqlToken>,
    pub(super) range: Range<usize>,
    /// The code between `BEGIN` and `END`, where it has some.
    pub(super) block: Option<Range<usize>>,
    /// The lines of data that follow it, up to `\.` and with it.
    pub(super) data: Option<Range<usize>>,
}

impl SqlStatement<'_> {
    /// Returns the word at `at` in capitals; nothing where there is none.
    pub(super) fn keyword_at(&self, at: usize) -> String {
        let token = self.tokens.get(at).filter(|token| token.kind == SqlTokenKind::Word);
        token.map_or_else(String::new, |token| self.text[token.range.clone()].to_ascii_uppercase())
    }

    /// Returns whether all of its tokens are recorded.
    pub(super) fn is_whole(&self) -> bool {
        self.tokens.len() < MAX_TOKENS
    }

    /// Returns whether the token at `at` is this punctuation.
    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.kind == SqlTokenKind::Punctuation(sign))
    }
}

/// What is known of the statement that is being read.
struct StatementState<'a> {
    statement: SqlStatement<'a>,
    depth: usize,
    holds_code: bool,
    opened: Option<usize>,
}

pub(super) fn split_statements(text: &str) -> Vec<SqlStatement<'_>> {
    // A line with nothing but a slash ends what Oracle runs; within, a semicolon ends nothing.
    let has_slashes = text.lines().any(|line| line.trim_end() == "/");
    let mut reader = StatementReader {
        text,
        tokens: SqlTokens::new(text),
        delimiter: ";".to_owned(),
        retries: 0,
        has_slashes,
    };
    let mut found = Vec::new();
    while let Some(statement) = reader.statement() {
        found.push(statement);
    }
    found
}

struct StatementReader<'a> {
    text: &'a str,
    tokens: SqlTokens<'a>,
    delimiter: String,
    retries: usize,
    has_slashes: bool,
}

impl<'a> StatementReader<'a> {
    fn statement(&mut self) -> Option<SqlStatement<'a>> {
        let first = self.next_first_token()?;
        let start = first.range.start;
        let after = self.tokens.at;
        let looks_for_blocks = self.retries < MAX_RETRIES;
        let (statement, is_whole) = self.read(first.clone(), looks_for_blocks);
        if is_whole {
            return Some(statement);
        }
        // The apparent block has no end: the statement ends where any other would.
        self.retries += 1;
        self.tokens.at = after;
        let (statement, _) = self.read(first, false);
        debug_assert!(start < self.tokens.at);
        Some(statement)
    }

    /// Returns the first token of a statement, after the commands for the client.
    fn next_first_token(&mut self) -> Option<SqlToken> {
        loop {
            let token = self.tokens.next()?;
            let word = &self.text[token.range.clone()];
            if token.kind == SqlTokenKind::Word && word.eq_ignore_ascii_case("delimiter") {
                let end = self.tokens.line_end(token.range.end);
                let delimiter = self.text[token.range.end..end].trim();
                if !delimiter.is_empty() {
                    delimiter.clone_into(&mut self.delimiter);
                }
                self.tokens.at = end;
            } else if self.is_at_delimiter(&token) {
                self.tokens.at = token.range.start + self.delimiter.len();
            } else if token.kind != SqlTokenKind::ClientCommand
                && !self.is_batch_separator(&token)
                && word != ";"
            {
                return Some(token);
            }
        }
    }

    fn is_at_delimiter(&self, token: &SqlToken) -> bool {
        self.text[token.range.start..].starts_with(&self.delimiter)
    }

    /// Returns whether a token ends a batch: `GO` or `/` on a line of its own.
    fn is_batch_separator(&self, token: &SqlToken) -> bool {
        let word = &self.text[token.range.clone()];
        if word != "/" && !word.eq_ignore_ascii_case("go") {
            return false;
        }
        let after = self.text[token.range.end..].trim_start_matches([' ', '\t', '\r']);
        self.tokens.is_line_start(token.range.start) && (after.is_empty() || after.starts_with('\n'))
    }

    /// Reads a statement up to its end; returns whether all blocks in it were closed.
    fn read(&mut self, first: SqlToken, looks_for_blocks: bool) -> (SqlStatement<'a>, bool) {
        let range = first.range.clone();
        let statement = SqlStatement { text: self.text, tokens: vec![first], range, block: None, data: None };
        let mut reading = StatementState { statement, depth: 0, holds_code: false, opened: None };
        let mut before = String::new();
        while let Some(token) = self.tokens.next() {
            let closes_batch = self.is_batch_separator(&token);
            // Within code a semicolon ends a statement of that code, and in a script for Oracle not even
            // the one after its last `END` ends the unit.
            let runs_on = 0 < reading.depth || (reading.holds_code && self.has_slashes);
            // A delimiter that the script has chosen itself is in no code.
            let is_end = self.is_at_delimiter(&token) && !(runs_on && self.delimiter == ";");
            if is_end || closes_batch || token.kind == SqlTokenKind::ClientCommand {
                self.tokens.at =
                    if is_end { token.range.start + self.delimiter.len() } else { token.range.end };
                if is_end {
                    reading.statement.data = self.copied_data(&reading.statement);
                }
                return (reading.statement, true);
            }
            if looks_for_blocks && token.kind == SqlTokenKind::Word {
                let word = self.text[token.range.clone()].to_ascii_uppercase();
                reading.track_block_keyword(&word, &before, &token);
                before = word;
            } else {
                before.clear();
            }
            reading.statement.range.end = token.range.end;
            if reading.statement.tokens.len() < MAX_TOKENS {
                reading.statement.tokens.push(token);
            }
        }
        (reading.statement, reading.depth == 0)
    }

    /// Returns the lines that `COPY … FROM stdin` is followed by.
    fn copied_data(&mut self, statement: &SqlStatement<'_>) -> Option<Range<usize>> {
        let last = statement.tokens.last()?.range.clone();
        // A query in parentheses is copied out of the database, and no data follows.
        let is_query = statement.is_sign(1, b'(');
        let is_copy = statement.keyword_at(0) == "COPY" && !is_query && statement.tokens.len() < 1_000;
        let from = (0..statement.tokens.len()).any(|at| statement.keyword_at(at) == "STDIN");
        if !is_copy || !from || MAX_RETRIES <= self.retries {
            return None;
        }
        let start = self.tokens.line_end(last.end) + 1;
        // From the line ending before the data, because the data may be empty.
        let Some(end) = self.text.get(start - 1..).and_then(|rest| rest.find("\n\\.")) else {
            self.retries += 1;
            return None;
        };
        let end = start + end;
        self.tokens.at = end + "\\.".len();
        Some(start..self.tokens.at)
    }
}

impl StatementState<'_> {
    /// Tracks a word, in capitals, that may open or close a block.
    fn track_block_keyword(&mut self, word: &str, before: &str, token: &SqlToken) {
        // Only in the head: further on these words may be names of columns.
        if self.statement.tokens.len() < HEAD_TOKENS {
            self.holds_code |=
                matches!(word, "FUNCTION" | "PROCEDURE" | "PROC" | "TRIGGER" | "PACKAGE" | "EVENT" | "BODY");
        }
        if !self.holds_code {
            return;
        }
        match word {
            "BEGIN" if self.opened.is_none() => {
                self.opened = Some(token.range.end);
                self.depth += 1;
            }
            // `END CASE` was counted with its `END`, and `END IF` closes what was not counted.
            "CASE" if before != "END" && 0 < self.depth => self.depth += 1,
            "BEGIN" => self.depth += 1,
            // `BEGIN TRANSACTION` opens no block, although its first word was counted.
            "TRAN" | "TRANSACTION" if before == "BEGIN" => self.depth -= usize::from(0 < self.depth),
            "IF" | "LOOP" | "WHILE" | "REPEAT" | "FOR" if before == "END" => self.depth += 1,
            "END" if 0 < self.depth => {
                self.depth -= 1;
                self.statement.block = self.opened.map(|opened| opened..token.range.start);
            }
            _ => {}
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SqlTokenKind {
    Word,
    /// A name in quotes.
    Quoted,
    /// A text in quotes.
    Text,
    /// A text between dollar signs.
    DollarQuoted,
    Punctuation(u8),
    /// A command for the client and not for the server: `\connect`, `\.`.
    ClientCommand,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SqlToken {
    pub(super) kind: SqlTokenKind,
    pub(super) range: Range<usize>,
}

/// Reads a script token by token.
struct SqlTokens<'a> {
    text: &'a str,
    /// Where the search for the next token continues.
    at: usize,
    /// How often the end of a text between dollar signs was searched for in vain.
    failures: usize,
    /// Whether a backslash in a text escapes what follows, as it does in `MySQL`.
    escapes: bool,
}

impl<'a> SqlTokens<'a> {
    fn new(text: &'a str) -> Self {
        // Only MySQL writes these. In standard SQL a backslash is a letter like any other, and must not
        // hide the quote that ends a text.
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

    fn line_end(&self, at: usize) -> usize {
        self.find_from("\n", at).unwrap_or(self.text.len())
    }

    fn find_from(&self, what: &str, from: usize) -> Option<usize> {
        let rest = self.bytes().get(from..)?;
        memchr::memmem::find(rest, what.as_bytes()).map(|found| from + found)
    }

    /// Returns whether only white space precedes `at` on its line.
    fn is_line_start(&self, at: usize) -> bool {
        let before = &self.bytes()[at.saturating_sub(MAX_SPAN_BYTES)..at];
        let code = before.iter().rposition(|byte| !matches!(byte, b' ' | b'\t'));
        code.map_or(before.len() < MAX_SPAN_BYTES, |code| before[code] == b'\n')
    }

    /// Skips white space and comments. What only `MySQL` runs, `/*!50003 … */`, is not a comment.
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
                // This closes `/*!`, whose inside is read.
                self.at += 2;
            } else {
                return;
            }
        }
    }

    /// Returns the end of a quoted text; a doubled quote is part of it.
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
        let tag = self.text.get(self.at..=tag_end).filter(|_| self.failures < MAX_FAILURES)?;
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
                // PostgreSQL's `E'…'` has escapes as well.
                let escapes =
                    self.escapes || start.checked_sub(1).is_some_and(|at| self.byte(at) | 32 == b'e');
                (SqlTokenKind::Text, self.quoted_end(first, escapes))
            }
            b'"' | b'`' => (SqlTokenKind::Quoted, self.quoted_end(first, false)),
            // A name in SQL Server, but not the index of an array in PostgreSQL.
            b'[' if self.byte(start + 1).is_ascii_alphabetic() && !self.escapes => {
                let near = &self.bytes()[start..self.text.len().min(start + MAX_SPAN_BYTES)];
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
        let found: Vec<_> =
            split_statements(text).into_iter().map(|statement| &text[statement.range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_statement_ends_with_its_delimiter() {
        check("a b; -- c;\n;d 'e;'", &["a b", "d 'e;'"]);
        check("a\nGO\nb\n/\n", &["a", "b"]);
        check("DELIMITER //\na; b//\nDELIMITER ;\nc;d", &["a; b", "c", "d"]);
        check("a;\n\\connect x\nb;", &["a", "b"]);
    }

    #[test]
    fn a_semicolon_within_a_block_does_not_end_the_statement() {
        check(
            "CREATE TRIGGER t BEGIN a; CASE b WHEN 1 THEN 2 END; END; c;",
            &["CREATE TRIGGER t BEGIN a; CASE b WHEN 1 THEN 2 END; END", "c"],
        );
        check(
            "CREATE PROCEDURE t() BEGIN IF a THEN b; END IF; END; c;",
            &["CREATE PROCEDURE t() BEGIN IF a THEN b; END IF; END", "c"],
        );
        check("BEGIN; a; END; b", &["BEGIN", "a", "END", "b"]);
        check(
            "CREATE FUNCTION f IS x int; BEGIN y; END;\n/\nc;",
            &["CREATE FUNCTION f IS x int; BEGIN y; END;", "c"],
        );
    }

    #[test]
    fn a_block_without_an_end_does_not_swallow_other_statements() {
        check("CREATE TRIGGER t BEGIN a; b; c", &["CREATE TRIGGER t BEGIN a", "b", "c"]);
    }

    #[test]
    fn copied_data_is_not_a_statement() {
        let text = "COPY a FROM stdin;\n1;2\n'3\n\\.\nb;";
        let found = split_statements(text);
        assert_eq!(found.len(), 2);
        assert_eq!(&text[found[0].data.clone().unwrap()], "1;2\n'3\n\\.");
    }
}

#[cfg(test)]
mod tokens_tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = SqlTokens::new(text).map(|token| &text[token.range]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn comments_are_skipped_and_strings_are_single_tokens() {
        check(
            "a -- b\n/* c */ 'd''e;' \"f g\" $$h;$$ $x$ $$ $x$",
            &["a", "'d''e;'", "\"f g\"", "$$h;$$", "$x$ $$ $x$"],
        );
        check("/*!50003 CREATE*/ `a b`", &["CREATE", "`a b`"]);
        check("E'\\'' 'a\\' b", &["E", "'\\''", "'a\\'", "b"]);
    }

    #[test]
    fn an_unclosed_token_ends_with_the_text() {
        check("'a", &["'a"]);
        check("$a$ b", &["$", "a$", "b"]);
        check("[a\n", &["[", "a"]);
    }
}
