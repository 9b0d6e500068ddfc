//! What a template or a function requires: `requires A<T> && (sizeof(T) > 2)`.

use super::Dialect;
use super::scan::CScanner;
use super::tokens::CTokenKind;

impl CScanner<'_> {
    /// Says whether a `{` here holds requirements: `requires requires(T t) {`. What follows `)`, as in
    /// `void f() requires (a) {`, is a clause, and the `{` behind it is a body's.
    pub(super) fn is_in_requires(&self) -> bool {
        let count = self.tokens.len();
        let has_parameters = self.tokens.kind(count.wrapping_sub(1)) == Some(CTokenKind::Paren);
        let Some(word) = count.checked_sub(if has_parameters { 2 } else { 1 }) else { return false };
        if self.dialect == Dialect::C || self.top_text(word) != "requires" {
            return false;
        }
        let before = word.checked_sub(1).map_or("", |before| self.top_text(before));
        // `void f() && requires (a) {` has no clause before it.
        let is_in_clause = (0..word).any(|top| self.top_text(top) == "requires");
        is_in_clause && matches!(before, "requires" | "&" | "||" | "!" | "and" | "or" | "not")
    }

    /// Returns where in the row the clause ends whose `requires` is at `top`; `None` where none is there.
    pub(super) fn clause_end(&self, top: usize) -> Option<usize> {
        if self.dialect == Dialect::C || self.top_text(top) != "requires" {
            return None;
        }
        let mut at = top + 1;
        loop {
            at = self.operand_end(at)?;
            let is_and = self.top_text(at) == "&" && self.top_text(at + 1) == "&";
            at += match self.top_text(at) {
                "&" if is_and => 2,
                "||" | "and" | "or" => 1,
                _ => return Some(at),
            };
        }
    }

    /// Returns where one operand of a clause ends: a name, a group, or `requires (…) {…}`.
    fn operand_end(&self, first: usize) -> Option<usize> {
        let mut at = first;
        while matches!(self.top_text(at), "!" | "not") {
            at += 1;
        }
        if self.tokens.kind(at) == Some(CTokenKind::Paren) {
            return Some(at + 1);
        }
        if self.top_text(at) == "requires" {
            at += if self.tokens.kind(at + 1) == Some(CTokenKind::Paren) { 2 } else { 1 };
            return (self.tokens.kind(at) == Some(CTokenKind::Braces)).then_some(at + 1);
        }
        loop {
            at += usize::from(self.tokens.kind(at) == Some(CTokenKind::Scope));
            at += usize::from(self.top_text(at) == "template");
            if self.tokens.kind(at) != Some(CTokenKind::Word) {
                return None;
            }
            at += 1;
            if self.tokens.kind(at) == Some(CTokenKind::Less) {
                at = self.closed_angle(at)?;
            }
            if self.tokens.kind(at) != Some(CTokenKind::Scope) {
                return Some(at);
            }
        }
    }

    /// Returns where the arguments of a template end whose `<` is at `less` in the row.
    fn closed_angle(&self, less: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for top in less..self.tokens.len() {
            match self.tokens.kind(top)? {
                CTokenKind::Less => depth += 1,
                CTokenKind::Greater => depth -= 1,
                CTokenKind::Semicolon => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(top + 1);
            }
        }
        None
    }
}
