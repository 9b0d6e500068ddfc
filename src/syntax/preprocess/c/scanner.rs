//! The scanner: where in the text it is, in which scope, and what it has read of the current item; and how it goes from
//! token to token, where a scope begins and where an item ends.

use std::ops::Range;

use super::tokens::{CToken, CTokenKind, ItemTokens, begins_line};
use crate::syntax::text::c_lexemes::{comment_end, is_identifier_byte, quote_end, word_end};
use crate::syntax::text::{Checkpoint, PreprocessedText, SynthesizedItem};

/// Scopes nested deeper than this, or conditions, are for the parser to refuse.
pub(super) const MAX_DEPTH: usize = 200;

/// Reads a text in C or C++ from its beginning to its end: where it is, and what it has read of the current item.
#[derive(Default)]
pub(super) struct CScanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) dialect: Dialect,
    /// Where the search for the next token continues.
    pub(super) at: usize,
    pub(super) tokens: ItemTokens,
    /// What is elided from the current item, and what replaces it.
    pub(super) edits: Vec<(Range<usize>, &'a str)>,
    pub(super) scopes: Vec<OpenScope>,
    pub(super) conditions: Vec<OpenCondition>,
    pub(super) out: PreprocessedText,
    /// Whether the current item has a `=` that is not part of a name.
    pub(super) has_value: bool,
    /// How many raw strings without an end were found.
    pub(super) unended: usize,
    /// Whether assembler code has no end, so that it is not looked for again.
    pub(super) unended_assembly: bool,
    pub(super) is_line_start: bool,
}

/// Which of the two languages a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Dialect {
    #[default]
    C,
    Cpp,
}

/// A scope that encloses the items being read.
#[derive(Debug, Clone)]
pub(super) struct OpenScope {
    pub(super) kind: ScopeKind,
    /// The range of its name; empty where it has none.
    pub(super) name: Range<usize>,
    /// The index of its expected symbol, whose end is not known before its brace is closed.
    pub(super) expected: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// A namespace, or `extern "C" {`.
    Namespace,
    /// A struct, a union or a class.
    Type,
    /// An enumeration.
    Enum,
    /// `MACRO {`: its braces are not given to the grammar.
    Elided,
}

/// An `#if` whose `#endif` is not reached yet.
#[derive(Debug)]
pub(super) struct OpenCondition {
    /// How many brackets were open when it began.
    pub(super) depth: usize,
    /// How many tokens the current item had then, and how many groups were open.
    pub(super) tokens: usize,
    pub(super) groups: usize,
    /// The output so far, to detect whether a branch is empty.
    pub(super) mark: Checkpoint,
    /// Where the current branch began, if it can be abandoned.
    pub(super) branch: Option<(usize, Checkpoint)>,
}

/// An error after which the scanner cannot continue.
#[derive(Debug)]
pub(super) struct Unsupported;

impl<'a> CScanner<'a> {
    pub(super) fn new(text: &'a str, dialect: Dialect) -> Self {
        Self { text, bytes: text.as_bytes(), dialect, is_line_start: true, ..Self::default() }
    }

    pub(super) fn push(&mut self, kind: CTokenKind, length: usize) {
        let end = (self.at + length).min(self.bytes.len());
        self.tokens.push(kind, self.at..end, self.is_line_start);
        self.is_line_start = false;
        self.at = end;
    }

    pub(super) fn clear_item(&mut self) {
        self.tokens.clear();
        self.edits.clear();
        self.has_value = false;
    }

    /// Returns whether the innermost scope is a type, whose functions are methods.
    pub(super) fn is_in_type(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.kind == ScopeKind::Type)
    }

    /// Returns where the current item begins; the current position, where it is empty.
    pub(super) fn start(&self) -> usize {
        self.tokens.top_level(0).map_or(self.at, CToken::start)
    }

    /// Returns the start of the part of the item that is not emitted yet: after the type that it declares variables of.
    pub(super) fn own_start(&self) -> usize {
        let is_tail = self.tokens.is(0, CTokenKind::TypeEnd);
        if is_tail { self.tokens.top_end(0) } else { self.start() }
    }

    /// Returns the text of the `top`-th token in the row of the current item.
    pub(super) fn top_text(&self, top: usize) -> &str {
        self.tokens.top_level(top).map_or("", |token| &self.text[token.range()])
    }
}

pub(in crate::syntax) fn preprocess_c(text: &str) -> Option<PreprocessedText> {
    CScanner::new(text, Dialect::C).preprocess()
}

pub(in crate::syntax) fn preprocess_cpp(text: &str) -> Option<PreprocessedText> {
    CScanner::new(text, Dialect::Cpp).preprocess()
}

impl CScanner<'_> {
    /// Preprocesses the text; `None` where the scanner does not support it.
    pub(super) fn preprocess(mut self) -> Option<PreprocessedText> {
        // Positions are stored as 32-bit numbers.
        u32::try_from(self.bytes.len()).ok()?;
        loop {
            match self.step() {
                Ok(true) => {}
                Ok(false) => return Some(self.into_preprocessed()),
                // A branch of a condition may be anything but code; only outside of those the whole text is given up.
                Err(Unsupported) => self.abandon_branch().ok()?,
            }
        }
    }

    /// Returns the output. A macro may be defined within an item, and so be read before it.
    fn into_preprocessed(mut self) -> PreprocessedText {
        self.out.synthesized.sort_by_key(|synthesized| synthesized.range().start);
        self.out
    }

    /// Reads one token; returns whether the text continues.
    fn step(&mut self) -> Result<bool, Unsupported> {
        let Some(&byte) = self.bytes.get(self.at) else {
            return self.finish_text();
        };
        match byte {
            b'\n' => {
                self.is_line_start = true;
                self.at += 1;
            }
            // Outside of literals a backslash can only continue a line.
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c | b'\\' => self.at += 1,
            b'/' if matches!(self.bytes.get(self.at + 1), Some(b'/' | b'*')) => self.comment()?,
            b'#' if begins_line(self.bytes, self.at) => self.directive()?,
            b'@' if self.is_line_start && self.placeholder() => {}
            b'"' | b'\'' => {
                let end = quote_end(self.bytes, self.at, &mut self.unended);
                self.push(CTokenKind::Literal, end - self.at);
            }
            b'(' => self.open(CTokenKind::Paren),
            b'[' => self.open(CTokenKind::Bracket),
            b')' => self.close(CTokenKind::Paren)?,
            b']' => self.close(CTokenKind::Bracket)?,
            b'{' => self.open_brace()?,
            b'}' => self.close_brace()?,
            b';' => self.semicolon()?,
            b',' => self.comma(),
            _ if is_identifier_byte(byte) => self.word(),
            _ => self.sign(byte)?,
        }
        Ok(true)
    }

    /// Passes over `@NAME@` at the beginning of a line, which is to be replaced before the text is compiled.
    fn placeholder(&mut self) -> bool {
        let name = word_end(self.bytes, self.at + 1);
        if name == self.at + 1 || self.bytes.get(name) != Some(&b'@') {
            return false;
        }
        let range = self.at..name + 1;
        self.at = range.end;
        self.out.repairs += 1;
        if self.tokens.is_empty() {
            self.out.synthesized.push(SynthesizedItem::Ignored(range));
        } else {
            self.edits.push((range, ""));
        }
        true
    }

    fn comment(&mut self) -> Result<(), Unsupported> {
        let end = comment_end(self.bytes, self.at).ok_or(Unsupported)?;
        let range = self.at..end;
        if !self.tokens.is_empty() {
            // The item has a token, so that a byte precedes the comment. Without a blank there, `int/**/a`
            // would become one word.
            let is_spaced = self.bytes[self.at - 1].is_ascii_whitespace();
            self.edits.push((range.clone(), if is_spaced { "" } else { " " }));
        }
        self.out.elided_comments.push(range);
        self.at = end;
        Ok(())
    }

    fn open(&mut self, kind: CTokenKind) {
        self.tokens.open(kind, self.at..self.at + 1, self.is_line_start);
        self.is_line_start = false;
        self.at += 1;
    }

    fn close(&mut self, kind: CTokenKind) -> Result<(), Unsupported> {
        self.is_line_start = false;
        let is_closed = self.tokens.close(kind, self.at..self.at + 1);
        self.at += 1;
        if is_closed { Ok(()) } else { Err(Unsupported) }
    }

    fn word(&mut self) {
        let mut end = word_end(self.bytes, self.at);
        let is_number = self.bytes[self.at].is_ascii_digit();
        // An apostrophe separates digits since C++14 and C23.
        while is_number && self.bytes.get(end) == Some(&b'\'') {
            end = word_end(self.bytes, end + 1);
        }
        if !is_number && self.is_line_start && self.tokens.is_outside_groups() && !self.tokens.is_empty() {
            self.end_unterminated_macro(end);
        }
        self.push(if is_number { CTokenKind::Number } else { CTokenKind::Word }, end - self.at);
    }

    fn sign(&mut self, byte: u8) -> Result<(), Unsupported> {
        let next = self.bytes.get(self.at + 1).copied().unwrap_or_default();
        let (kind, length) = match (byte, next) {
            (b':', b':') => (CTokenKind::Scope, 2),
            (b'-', b'>') => (CTokenKind::Arrow, 2),
            (b'.', b'.') => (CTokenKind::Ellipsis, 3),
            // Only after `template` a `<` opens a group for certain; anywhere else it may be a comparison.
            (b'<', _) if self.begins_parameters() => {
                self.open(CTokenKind::Angle);
                return Ok(());
            }
            (b'>', _) if self.tokens.innermost() == Some(CTokenKind::Angle) => {
                return self.close(CTokenKind::Angle);
            }
            (b'=' | b'!' | b'<' | b'>' | b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^', b'=')
            | (b'|', b'|')
            | (b'+', b'+')
            | (b'-', b'-') => (CTokenKind::Operator, 2),
            (b'=', _) => (CTokenKind::Equals, 1),
            (b':', _) => (CTokenKind::Colon, 1),
            (b'*', _) => (CTokenKind::Star, 1),
            (b'&', _) => (CTokenKind::Ampersand, 1),
            (b'<', _) => (CTokenKind::Less, 1),
            (b'>', _) => (CTokenKind::Greater, 1),
            (b'~', _) => (CTokenKind::Tilde, 1),
            _ => (CTokenKind::Operator, 1),
        };
        // In `operator=` the sign is part of the name.
        if kind == CTokenKind::Equals && self.tokens.is_outside_groups() && !self.is_after("operator") {
            self.has_value = true;
        }
        self.push(kind, length);
        if kind == CTokenKind::Colon && self.tokens.is_outside_groups() {
            self.end_access_label();
        }
        Ok(())
    }

    /// Returns whether a `<` begins the parameters of a template, or is within them.
    fn begins_parameters(&self) -> bool {
        let is_inside = self.tokens.innermost() == Some(CTokenKind::Angle);
        // Headers in C have templates for those who include them from C++.
        let can_begin = self.dialect == Dialect::Cpp || self.tokens.count() == 1;
        is_inside || (can_begin && self.is_after("template"))
    }

    fn is_after(&self, word: &str) -> bool {
        self.tokens.last().is_some_and(|last| &self.text[last.range()] == word)
    }

    fn open_brace(&mut self) -> Result<(), Unsupported> {
        if !self.tokens.is_outside_groups() || self.has_value || self.is_in_requires() {
            return self.push_braces();
        }
        self.begin_block()
    }

    fn semicolon(&mut self) -> Result<(), Unsupported> {
        if !self.tokens.is_outside_groups() {
            // What was taken for the parameters of a template has no end.
            if self.tokens.innermost() == Some(CTokenKind::Angle) {
                return Err(Unsupported);
            }
            // The argument of a macro may be code.
            self.push(CTokenKind::Semicolon, 1);
            return Ok(());
        }
        if self.tokens.is_empty() {
            self.at += 1;
            return Ok(());
        }
        self.push(CTokenKind::Semicolon, 1);
        self.end_declaration();
        Ok(())
    }

    fn comma(&mut self) {
        self.push(CTokenKind::Comma, 1);
        let is_in_enum = self.scopes.last().is_some_and(|scope| scope.kind == ScopeKind::Enum);
        if is_in_enum && self.tokens.is_outside_groups() {
            self.end_constant();
        }
    }

    fn finish_text(&mut self) -> Result<bool, Unsupported> {
        // Not the end yet: an open condition may have a branch that can be abandoned.
        if !self.scopes.is_empty() || !self.tokens.is_outside_groups() || !self.conditions.is_empty() {
            return Err(Unsupported);
        }
        self.discard_item();
        Ok(false)
    }
}
