//! C: the name and the parameters of the function that a declaration declares, regardless of macros and conditionals
//! around it.

use super::reader::{CFactsReader, KEYWORDS};
use super::tokens::{SourceToken, SourceTokenKind as Kind};

/// The maximum number of tokens in the declarations of one function's parameters.
const MAX_OLD_STYLE_TOKENS: usize = 256;

impl CFactsReader<'_> {
    /// Returns the name and the parameters of the function that the current item declares.
    pub(super) fn declared_function(&self) -> Option<(usize, usize)> {
        let (name, parameters) = self.function_head(self.item_start)?;
        Some(self.function_in_macro(name, parameters).unwrap_or((name, parameters)))
    }

    /// Returns the first function that the current item declares from `start` on: a later branch of a conditional may
    /// have another head of it, and declarations of parameters may follow.
    fn function_head(&self, start: usize) -> Option<(usize, usize)> {
        let mut found: Option<(usize, usize)> = None;
        let mut at = start;
        while at < self.at && !self.is_sign(at, b';') {
            if self.kind(at) == Some(Kind::Else) && found.is_some() {
                at = self.conditional_end(at);
            } else if let Some(name) = self.name_in_parentheses(at).filter(|_| start < at) {
                found = Some((name, name + 2));
                at = self.group_end(name + 2).max(name + 3);
            } else if self.is_sign(at, b'(') {
                let name = at.checked_sub(1).filter(|name| *name >= start);
                let is_name = name.is_some_and(|name| {
                    let token = self.tokens[name];
                    let is_attribute = found.is_some() && self.text(token).chars().all(|c| !c.is_lowercase());
                    token.kind == Kind::Word && !KEYWORDS.contains(&self.text(token)) && !is_attribute
                });
                if let (true, Some(name)) = (is_name, name) {
                    found = Some(if self.holds_parameters(name) { (name - 1, at + 1) } else { (name, at) });
                }
                at = self.group_end(at).max(at + 1);
            } else {
                at += 1;
            }
        }
        found
    }

    /// Returns the name of a function in parentheses, which prevent the expansion of a macro of that name: `int (f)(int
    /// a);`.
    fn name_in_parentheses(&self, open: usize) -> Option<usize> {
        let is_enclosed = self.is_sign(open, b'(')
            && self.kind(open + 1) == Some(Kind::Word)
            && self.is_sign(open + 2, b')')
            && self.is_sign(open + 3, b'(');
        let before = self.tokens[open.checked_sub(1).filter(|_| is_enclosed)?];
        // A macro's name is followed by its arguments.
        let is_type = before.kind == Kind::Sign(b'*')
            || before.kind == Kind::Word
                && !self.text(before).starts_with("__")
                && self.text(before).chars().any(char::is_lowercase);
        (is_type && !KEYWORDS.contains(&self.text(self.tokens[open + 1]))).then_some(open + 1)
    }

    /// Returns the index of the `#endif` of an `#else`.
    fn conditional_end(&self, start: usize) -> usize {
        let mut depth = 0_usize;
        for at in start..self.at {
            match self.tokens[at].kind {
                Kind::If => depth += 1,
                Kind::EndIf if depth == 0 => return at,
                Kind::EndIf => depth -= 1,
                _ => {}
            }
        }
        self.at
    }

    /// Returns the function that is the whole argument of a macro: `UNUSED(static int f(int a)) {`.
    fn function_in_macro(&self, name: usize, parameters: usize) -> Option<(usize, usize)> {
        let is_macro = self.text(self.tokens[name]).chars().all(|c| !c.is_lowercase());
        let end = self.group_end(parameters);
        if !is_macro || self.item_start < name && self.kind(name - 1) == Some(Kind::Word) {
            return None;
        }
        let open = (parameters + 3..end).find(|at| self.is_sign(*at, b'('))?;
        let is_named = self.kind(open - 1) == Some(Kind::Word)
            && !KEYWORDS.contains(&self.text(self.tokens[open - 1]))
            && (self.kind(open - 2) == Some(Kind::Word) || self.is_sign(open - 2, b'*'));
        (is_named && self.group_end(open) + 1 == end).then_some((open - 1, open))
    }

    /// Returns the opening brace of an old-style function whose parameter declarations end here, as in `int f(a) int a;
    /// {`.
    pub(super) fn old_style_body(&self) -> Option<usize> {
        let item = self.tokens.get(self.item_start..self.at)?;
        let branch = item.iter().rposition(|token| token.kind == Kind::Else);
        let starts = [Some(self.item_start), branch.map(|branch| self.item_start + branch + 1)];
        let is_old_style = starts.iter().flatten().any(|start| self.declares_parameter(*start));
        if !is_old_style {
            return None;
        }
        // Declarations of other kinds may follow a macro that looks like such a head; those of parameters end at a
        // body.
        let mut words = 0;
        let mut at = self.at;
        while at < self.tokens.len().min(self.at + MAX_OLD_STYLE_TOKENS) {
            match self.tokens[at].kind {
                Kind::Sign(b';') => words = 0,
                Kind::Sign(b'{') => return (words <= 1).then_some(at),
                Kind::Word if words == 0 && self.is_sign(at + 1, b'{') => {
                    // `va_dcl {`
                    let is_type = KEYWORDS.contains(&self.text(self.tokens[at]));
                    return (!is_type).then_some(at + 1);
                }
                Kind::Word | Kind::Literal => words += 1,
                Kind::Sign(b'*' | b',' | b'[' | b']' | b'(' | b')') | Kind::If | Kind::EndIf => {}
                Kind::Else => {
                    let next = self.tokens[at..].iter().position(|token| token.kind == Kind::EndIf)?;
                    at += next;
                }
                _ => return None,
            }
            at += 1;
        }
        None
    }

    /// Returns whether the parameters of the head from `start` on are only names, one of which is declared after them.
    fn declares_parameter(&self, start: usize) -> bool {
        let Some((_, parameters)) = self.function_head(start) else { return false };
        let end = self.group_end(parameters);
        let Some(names) = self.tokens.get(parameters + 1..end.saturating_sub(1)) else { return false };
        let are_names = names.iter().enumerate().all(|(place, token)| match place % 2 {
            0 => token.kind == Kind::Word && !KEYWORDS.contains(&self.text(*token)),
            _ => token.kind == Kind::Sign(b','),
        });
        let is_name = |token: &SourceToken| {
            token.kind == Kind::Word && names.iter().any(|name| self.text(*name) == self.text(*token))
        };
        // The declared name is the second word at the earliest.
        are_names
            && self.kind(end) == Some(Kind::Word)
            && self.tokens.get(end + 1..self.at).is_some_and(|rest| rest.iter().any(is_name))
    }

    /// Returns whether a word is a macro whose argument is the parameter list of the function before it: `int f OF((int
    /// a))`.
    fn holds_parameters(&self, word: usize) -> bool {
        let is_macro = self.text(self.tokens[word]).chars().all(|c| !c.is_lowercase());
        let before = (self.item_start + 1..word).next_back().map(|before| self.tokens[before]);
        let is_after_name =
            before.is_some_and(|before| before.kind == Kind::Word && !KEYWORDS.contains(&self.text(before)));
        is_macro && is_after_name && self.is_sign(word + 2, b'(')
    }
}
