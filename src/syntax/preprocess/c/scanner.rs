//! The state of the scanner: where in the text it is, in which scope, and what it has read of the current item.

use std::ops::Range;

use super::tokens::{CToken, CTokenKind, ItemTokens};
use crate::syntax::text::{Checkpoint, PreprocessedText};

/// An `#if` whose `#endif` was not met yet.
#[derive(Debug)]
pub(super) struct OpenCondition {
    /// How many brackets were open when it began.
    pub(super) depth: usize,
    /// How many tokens the item at hand had then, and how many groups it was in.
    pub(super) tokens: usize,
    pub(super) groups: usize,
    /// How much had been put out, to see whether a branch is empty.
    pub(super) mark: Checkpoint,
    /// Where the branch at hand began, if it can be left out.
    pub(super) branch: Option<(usize, Checkpoint)>,
}

/// Which of the two languages a text is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    C,
    Cpp,
}

impl CScanner<'_> {
    /// Says whether the innermost scope is a type, whose functions are methods.
    pub(super) fn is_in_type(&self) -> bool {
        self.scopes.last().is_some_and(|scope| scope.kind == ScopeKind::Type)
    }

    /// Returns where the item at hand begins; here, where nothing was read of it.
    pub(super) fn start(&self) -> usize {
        self.tokens.top_level(0).map_or(self.at, CToken::start)
    }

    /// Returns where the part of the item begins that was not put out yet: behind the type that it declares things of.
    pub(super) fn own_start(&self) -> usize {
        let is_tail = self.tokens.kind(0) == Some(CTokenKind::TypeEnd);
        if is_tail { self.tokens.top_end(0) } else { self.start() }
    }

    /// Returns the text of the token that is `top`-th in the row of the item at hand.
    pub(super) fn top_text(&self, top: usize) -> &str {
        self.tokens.top_level(top).map_or("", |token| &self.text[token.range()])
    }
}

/// Scopes nested deeper than this, or conditions, are for the parser to refuse.
pub(super) const MAX_DEPTH: usize = 200;

/// Something that no scanner can read on from.
#[derive(Debug)]
pub(super) struct Unsupported;

/// What encloses the items at hand.
#[derive(Debug, Clone)]
pub(super) struct OpenScope {
    pub(super) kind: ScopeKind,
    /// Where its name stands; empty where it has none.
    pub(super) name: Range<usize>,
    /// Where its record is, whose end is not known before its bracket is closed.
    pub(super) record: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ScopeKind {
    /// A namespace, or `extern "C" {`.
    Namespace,
    /// A struct, a union or a class.
    Type,
    Enum,
    /// `MACRO {`: its brackets are not handed to the grammar.
    Elided,
}

/// What is known at a point of the text.
pub(super) struct CScanner<'a> {
    pub(super) text: &'a str,
    pub(super) bytes: &'a [u8],
    pub(super) dialect: Dialect,
    /// Where the next token is looked for.
    pub(super) at: usize,
    /// The item at hand.
    pub(super) tokens: ItemTokens,
    /// What is left out of the item at hand, and what stands there instead.
    pub(super) edits: Vec<(Range<usize>, &'a str)>,
    pub(super) scopes: Vec<OpenScope>,
    pub(super) conditions: Vec<OpenCondition>,
    pub(super) out: PreprocessedText,
    /// Whether the item at hand has a `=` that is no part of a name.
    pub(super) has_value: bool,
    /// How many raw strings were met that nothing ends.
    pub(super) unended: usize,
    pub(super) is_line_start: bool,
}

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

    /// Forgets the item at hand.
    pub(super) fn clear_item(&mut self) {
        self.tokens.clear();
        self.edits.clear();
        self.has_value = false;
    }
}
