//! Reads a declaration up to its name, and what follows the name of a variable.

use super::item_reader::{ItemEnding, ItemReader, ItemReading};
use super::tokens::{CToken, CTokenKind};
use super::words::{
    is_attribute, is_basic_type, is_macro_name, is_specifier, is_statement, is_tag, spells_type,
};
use crate::model::SymbolKind;

/// What a word of a declaration turned out to be.
enum WordReading {
    /// The name, unless another word follows.
    Name,
    /// No part of the name; reading continues at this position.
    Skip(usize),
    /// What decides the whole item.
    Decided(ItemReading),
}

impl ItemReader<'_, '_> {
    /// Reads type and name, from `from` in the row on.
    pub(super) fn declaration(&mut self, from: usize) -> ItemReading {
        let mut name = None;
        let mut at = from;
        loop {
            match self.kind(at) {
                Some(CTokenKind::Word) => match self.word_in_declaration(from, at, name.is_some()) {
                    WordReading::Name => name = Some(at),
                    WordReading::Skip(next) => {
                        at = next;
                        continue;
                    }
                    WordReading::Decided(reading) => return reading,
                },
                Some(CTokenKind::Scope | CTokenKind::Star | CTokenKind::Ampersand) => {}
                Some(CTokenKind::Less) => match self.after_arguments(at) {
                    // `f<int>(…)`: a function template made for a type.
                    Some(after) if self.is(after, CTokenKind::Paren) && name == Some(at - 1) => {
                        return self.function(from, at - 1, after);
                    }
                    Some(after) => {
                        at = after;
                        continue;
                    }
                    None => return ItemReading::Ambiguous(None),
                },
                Some(CTokenKind::Bracket) if self.is_attribute_list(at) => {}
                Some(CTokenKind::Bracket) if name.is_some() && !self.is(at - 1, CTokenKind::Greater) => {}
                Some(CTokenKind::Tilde) if self.is(at + 2, CTokenKind::Paren) => {
                    return self.function(from, at, at + 2);
                }
                Some(CTokenKind::Paren) => return self.parenthesis_in_declaration(from, name, at),
                Some(CTokenKind::Equals | CTokenKind::Colon | CTokenKind::Braces) | None => break,
                Some(_) => return ItemReading::Ambiguous(None),
            }
            at += 1;
        }
        match name {
            Some(name) if self.ending == ItemEnding::Semicolon => self.variable(from, name, at),
            Some(_) | None => ItemReading::Ambiguous(None),
        }
    }

    /// Reads the group at `at` of a declaration: the parameters of a function, or what contains the name.
    fn parenthesis_in_declaration(&mut self, from: usize, name: Option<usize>, at: usize) -> ItemReading {
        if self.has_macro_convention(at) && self.has_type(from, at) {
            return self.macro_convention_function(at);
        }
        if let Some(reading) = self.function_that_returns_array(from, at) {
            return reading;
        }
        if self.is_pointer(at) {
            return self.old_style_with_pointer(at).unwrap_or_else(|| self.pointer(from, at));
        }
        match name {
            // `int (*f)[3]`
            _ if self.is_inside_out(name, at) => ItemReading::Ambiguous(None),
            Some(name) if name + 1 == at => self.function(from, name, at),
            Some(_) | None => ItemReading::Ambiguous(None),
        }
    }

    /// Reads the word at `at` of a declaration that begins at `from`.
    fn word_in_declaration(&mut self, from: usize, at: usize, has_name: bool) -> WordReading {
        let word = self.word(at);
        let takes_arguments = self.is(at + 1, CTokenKind::Paren);
        let after = if takes_arguments { at + 2 } else { at + 1 };
        if is_statement(word, self.scanner.dialect) {
            return WordReading::Decided(ItemReading::Ambiguous(None));
        }
        if takes_arguments && (is_attribute(word) || spells_type(word)) {
            self.has_read_type |= spells_type(word);
            return WordReading::Skip(after);
        }
        // `int f OF((int a)) {`
        let inside = self.scanner.tokens.group(at + 1);
        let holds_parameters = inside.first().is_some_and(|first| first.kind == CTokenKind::Paren);
        if takes_arguments && holds_parameters && self.is_after_name(from, at) {
            let name = self.word(at - 1).to_owned();
            return WordReading::Decided(self.function_in_parentheses(name, after));
        }
        let is_qualifier = takes_arguments && self.ending == ItemEnding::Semicolon;
        if (has_name && self.is_after_array(at)) || (is_qualifier && self.is_after_name(from, at)) {
            return WordReading::Skip(after);
        }
        match word {
            "operator" => return WordReading::Decided(self.operator(from, at)),
            "requires" | "template" => self.is_unsupported = true,
            "typedef" => self.is_typedef = true,
            _ => {}
        }
        WordReading::Name
    }

    /// Reads what follows the name of a variable, a field or a `typedef`, from `at` on.
    pub(super) fn variable(&self, from: usize, name: usize, at: usize) -> ItemReading {
        // `int a __initdata;` declares `a`.
        let name = if self.is_trailing_macro(name, from) { name - 1 } else { name };
        let (qualified, scope) = self.qualified(name);
        let has_type = self.has_read_type || self.has_type(from, qualified);
        if is_basic_type(self.word(name)) || is_specifier(self.word(name)) {
            // `int : 3;` fills a place.
            return if self.is(at, CTokenKind::Colon) {
                ItemReading::Ignored
            } else {
                ItemReading::Ambiguous(None)
            };
        }
        if !has_type {
            // A word alone is a macro that needs no arguments.
            return if qualified + 1 == self.end {
                ItemReading::Ignored
            } else {
                ItemReading::Ambiguous(None)
            };
        }
        // Several names in one declaration are left to the grammar, which has a node for each of them.
        if (at..self.end).any(|top| self.is(top, CTokenKind::Comma)) {
            return ItemReading::Ambiguous(None);
        }
        let is_field = self.scanner.is_in_type();
        let kind = self.variable_kind();
        let head_end = match self.kind(at) {
            Some(CTokenKind::Equals | CTokenKind::Braces) if !is_field => at,
            Some(_) | None => self.end,
        };
        let value = if self.is(at, CTokenKind::Equals) { at + 1 } else { at };
        // Only a list can be a table; any other value stays.
        let is_list = self.is(value, CTokenKind::Braces) && value + 1 == self.end;
        let cut = if is_list { self.token(value).map(CToken::range) } else { None };
        let mut reading = self.symbol(kind, self.word(name).to_owned(), head_end, cut);
        if let ItemReading::Symbol(symbol) = &mut reading {
            symbol.scope = scope;
        }
        reading
    }

    /// Returns what a variable is here.
    fn variable_kind(&self) -> SymbolKind {
        match (self.is_typedef, self.scanner.is_in_type()) {
            (true, _) => SymbolKind::Typedef,
            (false, true) => SymbolKind::Field,
            (false, false) => SymbolKind::Variable,
        }
    }

    /// Returns whether a word qualifies the array before it: `char name[] PROGMEM = …`, `int a[2] ALIGNED(16);`.
    fn is_after_array(&self, at: usize) -> bool {
        let is_array = |top: usize| self.is(top, CTokenKind::Bracket) && !self.is_attribute_list(top);
        at.checked_sub(1).is_some_and(is_array) && self.ending == ItemEnding::Semicolon
    }

    /// Returns whether the macro call at `at` follows a name that is declared, as in `int a GUARDED_BY(b) = 1;`.
    fn is_after_name(&self, from: usize, at: usize) -> bool {
        if at < from + 2 || !is_macro_name(self.word(at)) {
            return false;
        }
        let (name, before) = (self.word(at - 1), self.word(at - 2));
        let is_name = !name.is_empty() && !is_basic_type(name) && !is_specifier(name) && !is_macro_name(name);
        let has_type = (from..at - 1).any(|top| {
            let word = self.word(top);
            !word.is_empty() && !is_specifier(word) && !is_macro_name(word)
        });
        let ends = matches!(
            self.kind(at + 2),
            None | Some(CTokenKind::Equals | CTokenKind::Braces | CTokenKind::Word)
        );
        is_name && has_type && ends && !is_tag(before)
    }

    /// Returns whether a group after a type contains the name.
    fn is_inside_out(&self, name: Option<usize>, at: usize) -> bool {
        let is_typed = name.is_some_and(|name| name + 1 == at && is_basic_type(self.word(name)));
        let begins_with_star =
            self.scanner.tokens.group(at).first().is_some_and(|t| t.kind == CTokenKind::Star);
        let next = self.kind(at + 1);
        is_typed && next != Some(CTokenKind::Paren) || begins_with_star && next == Some(CTokenKind::Bracket)
    }

    /// Reads `type (&name(…))[3]`, a function that returns an array; `None` if the group at `at` begins no such
    /// function.
    fn function_that_returns_array(&mut self, from: usize, at: usize) -> Option<ItemReading> {
        let inside = self.scanner.tokens.group(at);
        let is_sign = |token: &&CToken| matches!(token.kind, CTokenKind::Star | CTokenKind::Ampersand);
        let signs = inside.iter().take_while(is_sign).count();
        let [name, open, ..] = inside.get(signs..)? else { return None };
        let is_last = inside.last().is_some_and(|last| last.end() == self.scanner.tokens.mate_end(open));
        let is_function = 0 < signs
            && name.kind == CTokenKind::Word
            && open.kind == CTokenKind::Paren
            && is_last
            && self.is(at + 1, CTokenKind::Bracket)
            && self.has_type(from, at);
        let name = self.scanner.text[name.range()].to_owned();
        is_function.then(|| self.function_in_parentheses(name, at + 1))
    }

    /// Returns whether a group is that of `(*name)(…)`, or of `(CONVENTION *name)(…)`.
    fn is_pointer(&self, at: usize) -> bool {
        let has_star = match self.scanner.tokens.group(at) {
            [star, last] => star.kind == CTokenKind::Star && last.kind == CTokenKind::Word,
            [first, second, ..] => first.kind == CTokenKind::Star || second.kind == CTokenKind::Star,
            _ => false,
        };
        has_star && self.is(at + 1, CTokenKind::Paren)
    }

    /// Returns whether a group is that of `type (CONVENTION name)(…)`, with the star in the macro or without one.
    fn has_macro_convention(&self, at: usize) -> bool {
        match self.scanner.tokens.group(at) {
            [macro_name, name] => {
                let word = &self.scanner.text[macro_name.range()];
                macro_name.kind == CTokenKind::Word
                    && name.kind == CTokenKind::Word
                    && is_macro_name(word)
                    && self.is(at + 1, CTokenKind::Paren)
            }
            _ => false,
        }
    }

    /// Reads `type (CONVENTION name)(…)`: a pointer where the macro's name ends with `P`, as those do that contain a
    /// star.
    fn macro_convention_function(&mut self, at: usize) -> ItemReading {
        let [macro_name, name] = self.scanner.tokens.group(at) else { return ItemReading::Ambiguous(None) };
        let is_pointer = self.is_typedef || self.scanner.text[macro_name.range()].ends_with('P');
        let name = self.scanner.text[name.range()].to_owned();
        if !is_pointer {
            return self.function_in_parentheses(name, at + 2);
        }
        let ends = matches!(self.kind(at + 2), None | Some(CTokenKind::Equals));
        if !ends || self.ending != ItemEnding::Semicolon {
            return ItemReading::Ambiguous(None);
        }
        let kind = self.variable_kind();
        self.symbol(kind, name, at + 2, None)
    }

    /// Reads `type (*name)(…)`.
    fn pointer(&self, from: usize, at: usize) -> ItemReading {
        let inside = self.scanner.tokens.group(at);
        let mut words = inside.iter().filter(|token| token.kind == CTokenKind::Word);
        // The words before the last are calling conventions.
        let name = words.next_back();
        let is_simple = inside.iter().all(|token| {
            matches!(token.kind, CTokenKind::Star | CTokenKind::Word) || {
                matches!(token.kind, CTokenKind::Bracket | CTokenKind::Close | CTokenKind::Number)
            }
        });
        let Some(name) = name.filter(|_| is_simple && self.has_type(from, at)) else {
            return ItemReading::Ambiguous(None);
        };
        let is_bracketed = inside.iter().any(|token| token.kind == CTokenKind::Bracket);
        let after = (at + 2..self.end).find(|top| !is_macro_name(self.word(*top))).unwrap_or(self.end);
        let ends = matches!(self.kind(after), None | Some(CTokenKind::Equals));
        if !ends || is_bracketed || self.ending != ItemEnding::Semicolon {
            return ItemReading::Ambiguous(None);
        }
        let is_field = self.scanner.is_in_type();
        let kind = self.variable_kind();
        if (at + 2..self.end).any(|top| self.is(top, CTokenKind::Comma)) {
            return ItemReading::Ambiguous(None);
        }
        let head_end = if is_field { self.end } else { after };
        self.symbol(kind, self.scanner.text[name.range()].to_owned(), head_end, None)
    }

    /// Returns where the arguments of a template end that begin at `less`; `None` where it may be a comparison.
    fn after_arguments(&self, less: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for top in less..self.end {
            match self.kind(top)? {
                CTokenKind::Less => depth += 1,
                CTokenKind::Greater => {
                    // The search begins at a `<`, so that the depth is at least 1 here.
                    depth -= 1;
                    if depth == 0 {
                        return Some(top + 1);
                    }
                }
                kind if is_argument(kind) => {}
                _ => return None,
            }
        }
        None
    }

    fn is_attribute_list(&self, at: usize) -> bool {
        self.scanner.tokens.group(at).first().is_some_and(|inner| inner.kind == CTokenKind::Bracket)
    }

    /// Returns where the qualified name begins whose last part is at `name` in the row, and what qualifies it.
    pub(super) fn qualified(&self, name: usize) -> (usize, String) {
        let mut start = name;
        while 2 <= start && self.is(start - 1, CTokenKind::Scope) && self.is_glued(start - 2) {
            start = match self.kind(start - 2) {
                Some(CTokenKind::Word) => start - 2,
                Some(CTokenKind::Greater) => match self.before_arguments(start - 2) {
                    Some(before) => before,
                    None => break,
                },
                Some(_) | None => break,
            };
        }
        if start == name {
            return (name, String::new());
        }
        let range = self.token(start).map_or(0, CToken::start)..self.end_before(name - 1);
        let text = self.scanner.text.get(range).unwrap_or_default();
        (start, text.split_whitespace().collect())
    }

    /// Returns whether nothing is between a token of the row and the next: in `void ::f()` the name is global.
    fn is_glued(&self, top: usize) -> bool {
        let next = self.token(top + 1).map_or(0, CToken::start);
        !is_basic_type(self.word(top)) || self.end_before(top + 1) == next
    }

    /// Returns the position of the word whose arguments end with the `>` at `greater`.
    fn before_arguments(&self, greater: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for top in (self.first..=greater).rev() {
            match self.kind(top)? {
                CTokenKind::Greater => depth += 1,
                CTokenKind::Less => {
                    depth -= 1;
                    if depth == 0 {
                        return top.checked_sub(1).filter(|word| self.is(*word, CTokenKind::Word));
                    }
                }
                _ => {}
            }
        }
        None
    }
}

/// Returns whether a token can be between the `<` and `>` of template arguments.
fn is_argument(kind: CTokenKind) -> bool {
    let words = matches!(
        kind,
        CTokenKind::Word | CTokenKind::Number | CTokenKind::Scope | CTokenKind::Comma | CTokenKind::Ellipsis
    );
    words
        || matches!(kind, CTokenKind::Star | CTokenKind::Ampersand | CTokenKind::Paren | CTokenKind::Bracket)
}
