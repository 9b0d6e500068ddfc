//! The tokens of an item, and the bytes they are made of: comments, strings and lines of the preprocessor.

use std::ops::Range;

use memchr::memchr2;

use crate::syntax::text::c_lexemes::{comment_end, line_end, quoted_end};

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CTokenKind {
    Word,
    Number,
    /// A string or a character.
    Literal,
    /// `(` and what opens the other groups; their `mate` is where they are closed.
    Paren,
    Bracket,
    /// The `<` of `template <…>`.
    Angle,
    /// `{…}`, whole: its contents are not read.
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
    Operator,
}

/// A token and its range.
#[derive(Debug, Clone, Copy)]
pub(super) struct CToken {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The index of the token that closes the group it opens; its own index for any other.
    matching: u32,
    pub(super) kind: CTokenKind,
    /// Whether it is the first of its line.
    pub(super) is_line_start: bool,
}

impl CToken {
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
pub(super) struct ItemTokens {
    all: Vec<CToken>,
    /// The indexes in `all` of the tokens that are in no group; a token that opens a group represents the whole group.
    top_levels: Vec<u32>,
    /// The groups that are open.
    open: Vec<u32>,
}

impl ItemTokens {
    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.top_levels.clear();
        self.open.clear();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns every token, in groups and out of them.
    pub(super) fn all(&self) -> &[CToken] {
        &self.all
    }

    /// Returns how many tokens there are, in groups and out of them.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// Returns whether the last token is in no group.
    pub(super) fn is_outside_groups(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Returns what kind of group the next token is in.
    pub(super) fn innermost(&self) -> Option<CTokenKind> {
        self.open.last().map(|at| self.all[*at as usize].kind)
    }

    pub(super) fn last(&self) -> Option<&CToken> {
        self.all.last()
    }

    /// Returns the number of tokens, or whole groups, in the row.
    pub(super) fn len(&self) -> usize {
        self.top_levels.len()
    }

    /// Returns the token that is `top`-th in the row.
    pub(super) fn top_level(&self, top: usize) -> Option<&CToken> {
        self.top_levels.get(top).map(|at| &self.all[*at as usize])
    }

    pub(super) fn kind(&self, top: usize) -> Option<CTokenKind> {
        self.top_level(top).map(|token| token.kind)
    }

    pub(super) fn is(&self, top: usize, kind: CTokenKind) -> bool {
        self.kind(top) == Some(kind)
    }

    /// Returns where the token ends that is `top`-th in the row, or the group that it opens.
    pub(super) fn top_end(&self, top: usize) -> usize {
        self.top_level(top).map_or(0, |token| self.all[token.matching as usize].end())
    }

    /// Returns where the group ends that a token opens.
    pub(super) fn mate_end(&self, token: &CToken) -> usize {
        self.all.get(token.matching as usize).map_or(0, CToken::end)
    }

    /// Returns what is in the group that is `top`-th in the row, groups in it included, without its brackets.
    pub(super) fn group(&self, top: usize) -> &[CToken] {
        let Some(at) = self.top_levels.get(top) else { return &[] };
        let mate = self.all[*at as usize].matching;
        self.all.get(*at as usize + 1..mate as usize).unwrap_or_default()
    }

    pub(super) fn push(&mut self, kind: CTokenKind, range: Range<usize>, is_fresh: bool) {
        let at = index(self.all.len());
        if self.open.is_empty() {
            self.top_levels.push(at);
        }
        self.all.push(CToken {
            start: index(range.start),
            end: index(range.end),
            matching: at,
            kind,
            is_line_start: is_fresh,
        });
    }

    /// Appends a token that opens a group.
    pub(super) fn open(&mut self, kind: CTokenKind, range: Range<usize>, is_fresh: bool) {
        self.push(kind, range, is_fresh);
        self.open.push(index(self.all.len() - 1));
    }

    /// Appends a token that closes a group of that kind; returns whether there was one.
    pub(super) fn close(&mut self, kind: CTokenKind, range: Range<usize>) -> bool {
        // `a < b)`: what seemed to open a group of template parameters compares.
        while kind != CTokenKind::Angle && self.innermost() == Some(CTokenKind::Angle) {
            self.open.pop();
        }
        if self.innermost() != Some(kind) {
            return false;
        }
        let at = index(self.all.len());
        self.all.push(CToken {
            start: index(range.start),
            end: index(range.end),
            matching: at,
            kind: CTokenKind::Close,
            is_line_start: false,
        });
        if let Some(open) = self.open.pop() {
            self.all[open as usize].matching = at;
        }
        true
    }
}

/// Converts a position to 32 bits: `CScanner::preprocess` refuses texts of 4 GiB and more.
fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// Returns whether a `#` is the first sign on its line.
pub(super) fn begins_line(bytes: &[u8], at: usize) -> bool {
    let before = bytes[..at].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | 0x0c));
    before.is_none_or(|byte| *byte == b'\n')
}

/// Returns where a directive ends that begins at `at`: at the end of its line, or of the last line of a comment that
/// begins in it.
pub(super) fn directive_end(bytes: &[u8], at: usize) -> usize {
    let mut at = at;
    let mut end = line_end(bytes, at);
    // Only a comment can extend a directive beyond its line.
    while let Some(found) = memchr2(b'/', b'"', &bytes[at..end]) {
        let sign = at + found;
        if bytes[sign] == b'"' {
            // A `/*` within a string begins no comment.
            at = quoted_end(bytes, sign).min(end);
            continue;
        }
        match bytes.get(sign + 1) {
            Some(b'/') => return end,
            Some(b'*') => match comment_end(bytes, sign) {
                Some(after) => {
                    at = after;
                    if end < at {
                        end = line_end(bytes, at);
                    }
                }
                // A comment that nothing closes takes the rest of the text, as it does for a compiler.
                None => return bytes.len(),
            },
            Some(_) | None => at = sign + 1,
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directive_includes_a_comment_of_several_lines() {
        assert_eq!(directive_end(b"#if 1 /* a\nb */ c\nd", 0), 17);
        assert_eq!(directive_end(b"#if 1 // /* a\nb", 0), 13);
        assert_eq!(directive_end(b"#error don't \"\nb", 0), 14);
    }
}
