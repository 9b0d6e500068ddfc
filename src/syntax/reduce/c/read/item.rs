//! Reads one item: what it can be at all is decided here.

use super::super::Dialect;
use super::super::names::is_basic_type;
use super::super::names::is_in_capitals;
use super::super::names::is_specifier;
use super::super::names::is_statement;
use super::super::names::is_tag;
use super::super::scan::Scanner;
use super::super::tokens::Kind;
use super::super::tokens::Token;
use crate::syntax::reduced::ReadSymbol;

/// How an item ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) enum Ending {
    Semicolon,
    /// A function's body, that ends there.
    Body(usize),
}

/// What was read of an item.
#[derive(Debug)]
pub(in super::super) enum Read {
    /// A symbol.
    Symbol(Box<ReadSymbol>),
    /// Nothing that an outline shows.
    Nothing,
    /// It goes on behind the semicolon: the parameters of a function in the old style.
    Open,
    /// It draws in what is named from there on to its end.
    Import(usize),
    /// Something for the grammar; the name, if it is surely a function's.
    Unsure(Option<String>),
}

/// Reads one item.
pub(super) struct Reader<'s, 'a> {
    pub(super) scanner: &'s Scanner<'a>,
    pub(super) ending: Ending,
    /// Where the item begins in the row of its tokens, without `extern "C"`.
    pub(super) first: usize,
    /// Where it ends in the row: at the semicolon, or behind the last token.
    pub(super) end: usize,
    /// Whether a type was read that is no word: `decltype(…)`, or a macro in place of one.
    pub(super) has_read_type: bool,
    pub(super) is_typedef: bool,
    /// Whether something was met that the grammar has to look at.
    pub(super) is_odd: bool,
}

impl Scanner<'_> {
    /// Reads the item at hand.
    pub(in super::super) fn read(&self, ending: Ending) -> Read {
        let count = self.tokens.len();
        let end = if ending == Ending::Semicolon { count - 1 } else { count };
        let reader = Reader {
            scanner: self,
            ending,
            first: 0,
            end,
            has_read_type: false,
            is_typedef: false,
            is_odd: false,
        };
        reader.read()
    }
}

impl Reader<'_, '_> {
    pub(super) fn read(mut self) -> Read {
        if !matches!(self.kind(0), Some(Kind::Word | Kind::Scope | Kind::Tilde)) {
            return if self.end == 0 { Read::Nothing } else { Read::Unsure(None) };
        }
        if self.word(0) == "extern" && self.kind(1) == Some(Kind::Text) {
            self.first = 2;
        }
        if self.word(self.first) == "export" {
            self.first += 1;
        }
        // `EXPORT template <class T> …`
        if self.begins_with_members()
            || (self.word(self.first + 1) == "template" && is_in_capitals(self.word(self.first)))
        {
            self.first += 1;
        }
        let first = self.first;
        match self.word(first) {
            "static_assert" | "_Static_assert" | "asm" | "__asm__" | "namespace" => return Read::Nothing,
            "import" | "module" if self.scanner.dialect == Dialect::Cpp => return self.module(first),
            // What a template is made for is said elsewhere.
            "template" if self.kind(first + 1) != Some(Kind::Angle) => return Read::Nothing,
            "extern" if self.word(first + 1) == "template" => return Read::Nothing,
            word if is_statement(word) => return Read::Nothing,
            word => self.is_typedef = word == "typedef",
        }
        let mut at = self.first;
        while self.word(at) == "template" && self.kind(at + 1) == Some(Kind::Angle) {
            at += 2;
            if let Some(end) = self.scanner.clause_end(at) {
                at = end;
            }
        }
        match self.word(at) {
            "using" => return self.using(at),
            "friend" | "concept" | "requires" => return Read::Unsure(None),
            _ => {}
        }
        if self.ending == Ending::Semicolon && self.only_announces_type(at) {
            return Read::Nothing;
        }
        self.declaration(at)
    }

    /// Says whether a macro stands on a line of its own in a type, before a whole field: `PyObject_HEAD`.
    pub(super) fn begins_with_members(&self) -> bool {
        let word = self.word(self.first);
        let is_own_line = self.token(self.first + 1).is_some_and(|next| next.is_fresh);
        let is_name = !is_basic_type(word) && !is_specifier(word) && !is_tag(word);
        let is_field = matches!(self.kind(self.first + 2), Some(Kind::Word | Kind::Star | Kind::Less));
        is_own_line
            && is_name
            && is_field
            && self.scanner.is_in_type()
            && !self.word(self.first + 1).is_empty()
    }

    /// Says whether an item only says that there is a type of that name.
    pub(super) fn only_announces_type(&self, at: usize) -> bool {
        let word = self.word(at);
        if !is_tag(word) {
            return false;
        }
        let name = if word == "enum" && is_tag(self.word(at + 1)) { at + 2 } else { at + 1 };
        self.kind(name) == Some(Kind::Word)
            && (name + 1 == self.end || (word == "enum" && self.kind(name + 1) == Some(Kind::Colon)))
            || (word == "class"
                && is_in_capitals(self.word(name))
                && name + 2 == self.end
                && self.kind(name + 1) == Some(Kind::Word))
    }

    /// Reads `import name;` and `module name;`, which are declarations to the grammar where they are something else.
    pub(super) fn module(&self, at: usize) -> Read {
        match self.kind(at + 1) {
            Some(Kind::Equals | Kind::Paren | Kind::Star | Kind::Scope) => Read::Unsure(None),
            Some(_) if self.word(at) == "import" => Read::Import(self.token(at + 1).map_or(0, Token::start)),
            Some(_) | None => Read::Nothing,
        }
    }

    /// Reads `using Name = …;`; other uses of the word give no symbol.
    pub(super) fn using(&self, at: usize) -> Read {
        let name = at + 1;
        if self.kind(name + 1) != Some(Kind::Equals) {
            let has_value = (name..self.end).any(|top| self.kind(top) == Some(Kind::Equals));
            return if has_value { Read::Unsure(None) } else { Read::Nothing };
        }
        self.symbol(crate::model::SymbolKind::Typedef, self.word(name).to_owned(), self.end, None)
    }

    /// Makes a symbol of the item, whose head ends before the token at `head_end` of the row.
    pub(super) fn symbol(
        &self,
        kind: crate::model::SymbolKind,
        name: String,
        head_end: usize,
        cut: Option<std::ops::Range<usize>>,
    ) -> Read {
        if self.is_odd || name.is_empty() {
            return Read::Unsure(Some(name).filter(|name| !name.is_empty()));
        }
        let first = if self.word(0) == "export" { 0 } else { self.first };
        let start = self.token(first).map_or(0, Token::start);
        let end = match self.ending {
            Ending::Body(end) => end,
            Ending::Semicolon => self.scanner.at,
        };
        Read::Symbol(Box::new(ReadSymbol {
            kind,
            name,
            scope: String::new(),
            range: start..end,
            head: start..self.end_of(head_end).max(start),
            cut,
            is_typed: true,
        }))
    }

    pub(super) fn kind(&self, top: usize) -> Option<Kind> {
        self.scanner.tokens.kind(top).filter(|_| top < self.end)
    }

    pub(super) fn token(&self, top: usize) -> Option<&Token> {
        self.scanner.tokens.top(top)
    }

    /// Returns the text of a token of the row, if it is a word.
    pub(super) fn word(&self, top: usize) -> &str {
        if self.kind(top) == Some(Kind::Word) { self.scanner.top_text(top) } else { "" }
    }

    /// Returns where the text ends that stands before a token of the row.
    pub(super) fn end_of(&self, top: usize) -> usize {
        top.checked_sub(1).map_or(0, |last| self.scanner.tokens.top_end(last))
    }

    /// Says whether something between two places of the row can be a type.
    pub(super) fn has_type(&self, from: usize, to: usize) -> bool {
        (from..to).any(|top| match self.kind(top) {
            Some(Kind::Word) => !is_specifier(self.word(top)),
            Some(Kind::Greater | Kind::Star) => true,
            Some(_) | None => false,
        })
    }

    /// Says whether a macro stands behind the name: `int a __initdata`.
    pub(super) fn is_spare(&self, top: usize, from: usize) -> bool {
        let (word, before) = (self.word(top), self.word(top.saturating_sub(1)));
        let looks_so = is_in_capitals(word) || word.starts_with("__");
        if !looks_so || top < from + 2 || before.is_empty() || is_basic_type(before) || is_specifier(before) {
            return false;
        }
        match self.kind(top - 2) {
            Some(Kind::Word) => !is_specifier(self.word(top - 2)) && !is_tag(self.word(top - 2)),
            Some(Kind::Star | Kind::Greater | Kind::Ampersand) => true,
            Some(_) | None => false,
        }
    }
}
