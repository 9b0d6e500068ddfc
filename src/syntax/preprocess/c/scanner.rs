//! The state of the scanner: where in the text it is, in which scope, and what it has read of the current item.

use std::ops::Range;

use super::tokens::{CToken, CTokenKind, ItemTokens};
use crate::syntax::text::{Checkpoint, PreprocessedText};

/// Scopes nested deeper than this, or conditions, are for the parser to refuse.
pub(super) const MAX_DEPTH: usize = 200;

/// Reads a text in C or C++ from its beginning to its end: where it is, and what it has read of the current item.
pub(super) struct CScanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) dialect: Dialect,
    /// Where the search for the next token continues.
    pub(super) at: usize,
    /// The current item.
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
    pub(super) is_line_start: bool,
}

/// Which of the two languages a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
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

/// Something that no scanner can read on from.
#[derive(Debug)]
pub(super) struct Unsupported;

impl<'a> CScanner<'a> {
    pub(super) fn new(text: &'a str, dialect: Dialect) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            dialect,
            at: 0,
            tokens: ItemTokens::default(),
            edits: Vec::new(),
            scopes: Vec::new(),
            conditions: Vec::new(),
            out: PreprocessedText::default(),
            has_value: false,
            unended: 0,
            is_line_start: true,
        }
    }

    pub(super) fn push(&mut self, kind: CTokenKind, length: usize) {
        let end = (self.at + length).min(self.bytes.len());
        self.tokens.push(kind, self.at..end, self.is_line_start);
        self.is_line_start = false;
        self.at = end;
    }

    /// Clears the current item.
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
        let is_tail = self.tokens.kind(0) == Some(CTokenKind::TypeEnd);
        if is_tail { self.tokens.top_end(0) } else { self.start() }
    }

    /// Returns the text of the `top`-th token in the row of the current item.
    pub(super) fn top_text(&self, top: usize) -> &str {
        self.tokens.top_level(top).map_or("", |token| &self.text[token.range()])
    }
}
