//! The tokens of an item.

use std::ops::Range;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Word,
    Number,
    /// A string or a character.
    Text,
    /// `(` and what opens the other groups; their `mate` is where they are closed.
    Paren,
    Bracket,
    /// The `<` of `template <…>`.
    Angle,
    /// `{…}`, whole: what is in it is not looked at.
    Braces,
    /// What closes a group.
    Close,
    /// The `}` of a type, or of an enumeration: what follows declares things of that type.
    TypeEnd,
    /// `::`
    Scope,
    /// `->`
    Arrow,
    Equals,
    Colon,
    Comma,
    Semicolon,
    Star,
    Ampersand,
    Less,
    Greater,
    Tilde,
    /// `...`
    Ellipsis,
    /// Any other sign, of one or two bytes.
    Sign,
}

/// A token, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Where the group ends that it opens; its own place for any other.
    pub(super) mate: u32,
    pub(super) kind: Kind,
    /// Whether it is the first of its line.
    pub(super) is_fresh: bool,
}

impl Token {
    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    pub(super) fn end(&self) -> usize {
        self.end as usize
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.start()..self.end()
    }
}

/// The tokens between two semicolons, and those of them that are in no group.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    all: Vec<Token>,
    /// Where in `all` those are that are in no group; one that opens a group stands for the whole of it.
    tops: Vec<u32>,
    /// The groups that are open.
    open: Vec<u32>,
}

impl Tokens {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.tops.clear();
        self.open.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns every token, in groups and out of them.
    pub(super) fn all(&self) -> &[Token] {
        &self.all
    }

    /// Returns how many tokens there are, in groups and out of them.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Says whether the last token is in no group.
    pub(super) fn is_level(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns what kind of group the next token is in.
    pub(super) fn innermost(&self) -> Option<Kind> {
        self.open.last().map(|at| self.all[*at as usize].kind)
    }

    pub(super) fn last(&self) -> Option<&Token> {
        self.all.last()
    }

    /// Returns how many tokens, or whole groups, stand in a row.
    pub(super) fn len(&self) -> usize {
        self.tops.len()
    }

    /// Returns the token that is `top`-th in the row.
    pub(super) fn top(&self, top: usize) -> Option<&Token> {
        self.tops.get(top).map(|at| &self.all[*at as usize])
    }

    pub(super) fn kind(&self, top: usize) -> Option<Kind> {
        self.top(top).map(|token| token.kind)
    }

    /// Returns where the token ends that is `top`-th in the row, or the group that it opens.
    pub(super) fn top_end(&self, top: usize) -> usize {
        self.top(top).map_or(0, |token| self.all[token.mate as usize].end())
    }

    /// Returns where the group ends that a token opens.
    pub(super) fn mate_end(&self, token: &Token) -> usize {
        self.all.get(token.mate as usize).map_or(0, Token::end)
    }

    /// Returns what is in the group that is `top`-th in the row, groups in it included, without its brackets.
    pub(super) fn within(&self, top: usize) -> &[Token] {
        let Some(at) = self.tops.get(top) else { return &[] };
        let mate = self.all[*at as usize].mate;
        self.all.get(*at as usize + 1..mate as usize).unwrap_or_default()
    }

    /// Appends a token.
    pub(super) fn push(&mut self, kind: Kind, range: Range<usize>, is_fresh: bool) {
        let at = index(self.all.len());
        if self.open.is_empty() {
            self.tops.push(at);
        }
        self.all.push(Token { start: index(range.start), end: index(range.end), mate: at, kind, is_fresh });
    }

    /// Appends a token that opens a group.
    pub(super) fn open(&mut self, kind: Kind, range: Range<usize>, is_fresh: bool) {
        self.push(kind, range, is_fresh);
        self.open.push(index(self.all.len() - 1));
    }

    /// Appends a token that closes a group of that kind; says whether there was one.
    pub(super) fn close(&mut self, kind: Kind, range: Range<usize>) -> bool {
        // `a < b)`: what seemed to open a group of template parameters compares.
        while kind != Kind::Angle && self.innermost() == Some(Kind::Angle) {
            self.open.pop();
        }
        if self.innermost() != Some(kind) {
            return false;
        }
        let at = index(self.all.len());
        self.all.push(Token {
            start: index(range.start),
            end: index(range.end),
            mate: at,
            kind: Kind::Close,
            is_fresh: false,
        });
        if let Some(open) = self.open.pop() {
            self.all[open as usize].mate = at;
        }
        true
    }
}

/// A text that is scanned is smaller than 4 GiB: `Scanner::run` looks.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
