//! Reads an item that is unambiguous without the grammar: one function, variable, field or typedef.
//!
//! Everything else is left to the grammar.

use std::ops::Range;

use super::scanner::{CScanner, Dialect};
use super::tokens::{CToken, CTokenKind};
use super::words::{is_basic_type, is_macro_name, is_specifier, is_statement, is_tag};
use crate::model::SymbolKind;
use crate::syntax::text::SynthesizedSymbol;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemEnding {
    Semicolon,
    /// A function's body, that ends there.
    Body(usize),
}

/// What was read of an item.
#[derive(Debug)]
pub(super) enum ItemReading {
    Symbol(Box<SynthesizedSymbol>),
    /// Nothing that an outline shows.
    Ignored,
    /// It continues after the semicolon: the parameters of a function in the old style.
    Continues,
    /// It imports what is named from there to its end.
    Import(usize),
    /// Something for the grammar; the name, if it is surely a function's.
    Ambiguous(Option<String>),
}

/// Reads one item.
pub(super) struct ItemReader<'s, 'a> {
    pub(super) scanner: &'s CScanner<'a>,
    pub(super) ending: ItemEnding,
    /// Where the item begins in the row of its tokens, without `extern "C"`.
    pub(super) first: usize,
    /// Where it ends in the row: at the semicolon, or after the last token.
    pub(super) end: usize,
    /// Whether a type was read that is not a word: `decltype(…)`, or a macro in place of one.
    pub(super) has_read_type: bool,
    pub(super) is_typedef: bool,
    /// Whether something was read that only the grammar can decide.
    pub(super) is_unsupported: bool,
}

impl CScanner<'_> {
    pub(super) fn read_item(&self, ending: ItemEnding) -> ItemReading {
        let count = self.tokens.len();
        // The semicolon was the last token to be read, so that there is one.
        let end = if ending == ItemEnding::Semicolon { count - 1 } else { count };
        let reader = ItemReader {
            scanner: self,
            ending,
            first: 0,
            end,
            has_read_type: false,
            is_typedef: false,
            is_unsupported: false,
        };
        reader.read()
    }
}

impl ItemReader<'_, '_> {
    pub(super) fn read(mut self) -> ItemReading {
        if !matches!(self.kind(0), Some(CTokenKind::Word | CTokenKind::Scope | CTokenKind::Tilde)) {
            return if self.end == 0 { ItemReading::Ignored } else { ItemReading::Ambiguous(None) };
        }
        if self.word(0) == "extern" && self.is(1, CTokenKind::Literal) {
            self.first = 2;
        }
        if self.word(self.first) == "export" {
            self.first += 1;
        }
        // `EXPORT template <class T> …`
        if self.begins_with_members()
            || (self.word(self.first + 1) == "template" && is_macro_name(self.word(self.first)))
        {
            self.first += 1;
        }
        let first = self.first;
        match self.word(first) {
            "static_assert" | "_Static_assert" | "asm" | "__asm__" | "namespace" => {
                return ItemReading::Ignored;
            }
            "import" | "module" if self.scanner.dialect == Dialect::Cpp => return self.module(first),
            // An explicit instantiation is not shown.
            "template" if !self.is(first + 1, CTokenKind::Angle) => return ItemReading::Ignored,
            "extern" if self.word(first + 1) == "template" => return ItemReading::Ignored,
            word if is_statement(word, self.scanner.dialect) => return ItemReading::Ignored,
            word => self.is_typedef = word == "typedef",
        }
        let mut at = self.first;
        while self.word(at) == "template" && self.is(at + 1, CTokenKind::Angle) {
            at += 2;
            if let Some(end) = self.scanner.clause_end(at) {
                at = end;
            }
        }
        match self.word(at) {
            "using" => return self.using(at),
            "friend" | "concept" | "requires" => return ItemReading::Ambiguous(None),
            _ => {}
        }
        if self.ending == ItemEnding::Semicolon && self.only_announces_type(at) {
            return ItemReading::Ignored;
        }
        self.declaration(at)
    }

    /// Returns whether a macro is on a line of its own in a type, before a whole field: `PyObject_HEAD`.
    fn begins_with_members(&self) -> bool {
        let word = self.word(self.first);
        let is_own_line = self.token(self.first + 1).is_some_and(|next| next.is_line_start);
        let is_name = !is_basic_type(word) && !is_specifier(word) && !is_tag(word);
        let is_field =
            matches!(self.kind(self.first + 2), Some(CTokenKind::Word | CTokenKind::Star | CTokenKind::Less));
        is_own_line
            && is_name
            && is_field
            && self.scanner.is_in_type()
            && !self.word(self.first + 1).is_empty()
    }

    /// Returns whether an item only declares that there is a type of that name.
    fn only_announces_type(&self, at: usize) -> bool {
        let word = self.word(at);
        if !is_tag(word) {
            return false;
        }
        let name = if word == "enum" && is_tag(self.word(at + 1)) { at + 2 } else { at + 1 };
        self.is(name, CTokenKind::Word)
            && (name + 1 == self.end || (word == "enum" && self.is(name + 1, CTokenKind::Colon)))
            || (word == "class"
                && is_macro_name(self.word(name))
                && name + 2 == self.end
                && self.is(name + 1, CTokenKind::Word))
    }

    /// Reads `import name;` and `module name;`, which the grammar takes for declarations.
    pub(super) fn module(&self, at: usize) -> ItemReading {
        match self.kind(at + 1) {
            Some(CTokenKind::Equals | CTokenKind::Paren | CTokenKind::Star | CTokenKind::Scope) => {
                ItemReading::Ambiguous(None)
            }
            Some(_) if self.word(at) == "import" => {
                ItemReading::Import(self.token(at + 1).map_or(0, CToken::start))
            }
            Some(_) | None => ItemReading::Ignored,
        }
    }

    /// Reads `using Name = …;`; other `using` declarations are not symbols.
    pub(super) fn using(&self, at: usize) -> ItemReading {
        let name = at + 1;
        if !self.is(name + 1, CTokenKind::Equals) {
            let has_value = (name..self.end).any(|top| self.is(top, CTokenKind::Equals));
            return if has_value { ItemReading::Ambiguous(None) } else { ItemReading::Ignored };
        }
        self.symbol(SymbolKind::Typedef, self.word(name).to_owned(), self.end, None)
    }

    /// Makes a symbol of the item, whose head ends before the token at `head_end` of the row.
    pub(super) fn symbol(
        &self,
        kind: SymbolKind,
        name: String,
        head_end: usize,
        cut: Option<Range<usize>>,
    ) -> ItemReading {
        if self.is_unsupported || name.is_empty() {
            return ItemReading::Ambiguous(Some(name).filter(|name| !name.is_empty()));
        }
        // `export` belongs to the item, unlike the other words that `first` passes over.
        let first = if self.word(0) == "export" { 0 } else { self.first };
        let start = self.token(first).map_or(0, CToken::start);
        let end = match self.ending {
            ItemEnding::Body(end) => end,
            ItemEnding::Semicolon => self.scanner.at,
        };
        ItemReading::Symbol(Box::new(SynthesizedSymbol {
            kind,
            name,
            scope: String::new(),
            range: start..end,
            signature: start..self.end_before(head_end).max(start),
            cut,
            has_type: true,
        }))
    }

    pub(super) fn kind(&self, top: usize) -> Option<CTokenKind> {
        self.scanner.tokens.kind(top).filter(|_| top < self.end)
    }

    pub(super) fn is(&self, top: usize, kind: CTokenKind) -> bool {
        self.kind(top) == Some(kind)
    }

    pub(super) fn token(&self, top: usize) -> Option<&CToken> {
        self.scanner.tokens.top_level(top)
    }

    /// Returns the text of a token of the row, if it is a word.
    pub(super) fn word(&self, top: usize) -> &str {
        if self.is(top, CTokenKind::Word) { self.scanner.top_text(top) } else { "" }
    }

    /// Returns the end of the text that precedes a token of the row.
    pub(super) fn end_before(&self, top: usize) -> usize {
        top.checked_sub(1).map_or(0, |last| self.scanner.tokens.top_end(last))
    }

    /// Returns whether something between two positions of the row can be a type.
    pub(super) fn has_type(&self, from: usize, to: usize) -> bool {
        (from..to).any(|top| match self.kind(top) {
            Some(CTokenKind::Word) => !is_specifier(self.word(top)),
            // A type may end with its arguments or with a star.
            Some(CTokenKind::Greater | CTokenKind::Star) => true,
            Some(_) | None => false,
        })
    }

    /// Returns whether a macro follows the name: `int a __initdata`.
    pub(super) fn is_trailing_macro(&self, top: usize, from: usize) -> bool {
        let (word, before) = (self.word(top), self.word(top.saturating_sub(1)));
        let looks_so = is_macro_name(word) || word.starts_with("__");
        if !looks_so || top < from + 2 || before.is_empty() || is_basic_type(before) || is_specifier(before) {
            return false;
        }
        match self.kind(top - 2) {
            Some(CTokenKind::Word) => !is_specifier(self.word(top - 2)) && !is_tag(self.word(top - 2)),
            Some(CTokenKind::Star | CTokenKind::Greater | CTokenKind::Ampersand) => true,
            Some(_) | None => false,
        }
    }
}
