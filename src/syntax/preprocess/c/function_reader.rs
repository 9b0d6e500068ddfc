//! Reads what follows the name of a function: parameters, and what is between them and the body.

use super::item_reader::{ItemEnding, ItemReader, ItemReading};
use super::scanner::Dialect;
use super::tokens::{CToken, CTokenKind};
use super::words::{
    is_attribute, is_basic_type, is_macro_name, is_statement, is_trailing_qualifier, macro_function,
    names_test,
};
use crate::model::{SymbolKind, collapse_whitespace};

/// What follows a function's parameters.
enum HeadTrail {
    /// The head ends before this position of the row.
    Head(usize),
    /// What was read as a function is a macro in place of a type, which ends there.
    TypeUpTo(usize),
    /// `int f(a) int a;`
    OldStyle,
    Ambiguous,
}

impl ItemReader<'_, '_> {
    /// Reads a function whose name is at `name` in the row, and whose parameters are at `parameters`.
    pub(super) fn function(&mut self, from: usize, name: usize, parameters: usize) -> ItemReading {
        let is_destructor = self.is(name, CTokenKind::Tilde);
        let text =
            if is_destructor { format!("~{}", self.word(name + 1)) } else { self.word(name).to_owned() };
        let (qualified, scope) = self.qualified(name);
        let is_typed = self.has_read_type || self.has_type(from, qualified);
        // `METHOD(name)(int a) {`, and `METHOD(name)(int a);` among the members of a type, where nothing is called.
        let is_member = self.scanner.is_in_type() && self.scanner.dialect == Dialect::Cpp;
        let is_macro = is_macro_name(&text) && (self.ending != ItemEnding::Semicolon || is_member);
        if let Some(inner) = self.made_name(name, parameters).filter(|_| is_typed || is_macro) {
            return match self.read_trail(parameters + 2, false, false) {
                HeadTrail::Head(head) if self.is_typedef => self.typedef(inner, head),
                // `int CALLBACK(write)(int a);` in a structure of C, which has no functions.
                HeadTrail::Head(head) if self.scanner.is_in_type() && self.scanner.dialect == Dialect::C => {
                    self.symbol(SymbolKind::Field, inner, head, None)
                }
                // Without its body, a test would read as a call.
                HeadTrail::Head(head) => self.as_function(inner, scope, head, is_typed || !names_test(&text)),
                HeadTrail::TypeUpTo(_) | HeadTrail::OldStyle | HeadTrail::Ambiguous => {
                    ItemReading::Ambiguous(Some(inner))
                }
            };
        }
        // `void printflike(1, 2) f(char *a);`
        if is_typed && self.is(parameters + 2, CTokenKind::Paren) && !self.are_parameters(parameters) {
            self.has_read_type = true;
            return self.declaration(parameters + 1);
        }
        // A name without a type before it is a constructor, a macro in place of a type, or the call of a macro.
        let can_be_macro = !is_typed && scope.is_empty() && !is_destructor && !self.is_class(&text);
        match self.read_trail(parameters + 1, can_be_macro, is_macro_name(&text)) {
            HeadTrail::TypeUpTo(after) => {
                self.has_read_type = true;
                self.declaration(after)
            }
            HeadTrail::OldStyle => ItemReading::Continues,
            // `DEFINE_PER_CPU(int, name) = 1;`
            HeadTrail::Ambiguous
                if can_be_macro && is_macro_name(&text) && self.is(parameters + 1, CTokenKind::Equals) =>
            {
                ItemReading::Ignored
            }
            HeadTrail::Ambiguous => ItemReading::Ambiguous(self.sure_name(text)),
            HeadTrail::Head(head) if self.is_typedef => self.typedef(text, head),
            HeadTrail::Head(head) if can_be_macro && is_macro_name(&text) => {
                self.macro_call(&text, parameters, head)
            }
            HeadTrail::Head(head) if can_be_macro && self.ending == ItemEnding::Semicolon => {
                // `Name(int) -> Name<int>;` is a deduction guide.
                let is_guide = self.is(parameters + 1, CTokenKind::Arrow);
                if is_guide { self.as_function(text, scope, head, true) } else { ItemReading::Ignored }
            }
            HeadTrail::Head(_)
                if self.ending == ItemEnding::Semicolon && !self.are_parameters(parameters) =>
            {
                ItemReading::Ambiguous(None)
            }
            HeadTrail::Head(head) => self.as_function(text, scope, head, is_typed),
        }
    }

    /// Reads `type (CONVENTION name)(…)`, of which what follows the parameters is at `after`.
    pub(super) fn function_in_parentheses(&mut self, name: String, after: usize) -> ItemReading {
        match self.read_trail(after, false, false) {
            HeadTrail::Head(head) if self.is_typedef => self.typedef(name, head),
            HeadTrail::Head(head) => self.as_function(name, String::new(), head, true),
            HeadTrail::TypeUpTo(_) | HeadTrail::OldStyle | HeadTrail::Ambiguous => {
                ItemReading::Ambiguous(Some(name))
            }
        }
    }

    /// Returns `name` of `int MACRO(name)(…)` and `MACRO(int, name)(…)`, and `Fixture.name` of `BENCHMARK_F(Fixture,
    /// name)(…)`.
    fn made_name(&self, name: usize, parameters: usize) -> Option<String> {
        if !self.is(parameters + 1, CTokenKind::Paren) || self.is(name, CTokenKind::Tilde) {
            return None;
        }
        let arguments: Vec<&[CToken]> =
            self.scanner.tokens.group(parameters).split(|token| token.kind == CTokenKind::Comma).collect();
        let word = |argument: &[CToken]| match argument {
            [word] if word.kind == CTokenKind::Word => Some(&self.scanner.text[word.range()]),
            _ => None,
        };
        let words: Vec<&str> = arguments.iter().map_while(|argument| word(argument)).collect();
        if names_test(self.word(name)) && 2 <= words.len() {
            return macro_function(self.word(name), &words);
        }
        // Types come first.
        arguments.last().and_then(|last| word(last)).map(str::to_owned)
    }

    /// Reads `operator …` at `at` of the row.
    pub(super) fn operator(&mut self, from: usize, at: usize) -> ItemReading {
        let mut parameters = at + 1;
        // In `operator()(int a)` the first pair is the name.
        if self.is(parameters, CTokenKind::Paren) && self.is(parameters + 1, CTokenKind::Paren) {
            parameters += 1;
        }
        while !matches!(self.kind(parameters), Some(CTokenKind::Paren) | None) {
            parameters += 1;
        }
        if self.kind(parameters).is_none() {
            return ItemReading::Ambiguous(None);
        }
        let start = self.token(at).map_or(0, CToken::start);
        let text = self.scanner.text.get(start..self.end_before(parameters)).unwrap_or_default();
        let words = collapse_whitespace(text);
        let name = match words.strip_prefix("operator ") {
            Some(sign) if !sign.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                format!("operator{sign}")
            }
            Some(_) | None => words,
        };
        let (qualified, scope) = self.qualified(at);
        let is_typed = self.has_read_type || self.has_type(from, qualified);
        match self.read_trail(parameters + 1, false, false) {
            HeadTrail::Head(head) => self.as_function(name, scope, head, is_typed),
            HeadTrail::TypeUpTo(_) | HeadTrail::OldStyle | HeadTrail::Ambiguous => {
                ItemReading::Ambiguous(Some(name))
            }
        }
    }

    fn as_function(&self, name: String, scope: String, head: usize, is_typed: bool) -> ItemReading {
        let kind = self.function_kind(&scope, &name);
        let cut = match self.ending {
            ItemEnding::Body(end) => Some(self.end_before(head)..end),
            ItemEnding::Semicolon => None,
        };
        // What ends with a declaration of a parameter is not a prototype, whatever precedes the name.
        let is_old_style = self.scanner.bytes[..self.end_before(head)].ends_with(b";");
        let mut reading = self.symbol(kind, name, head, cut);
        if let ItemReading::Symbol(symbol) = &mut reading {
            (symbol.scope, symbol.has_type) = (scope, is_typed && !is_old_style);
        }
        reading
    }

    fn typedef(&self, name: String, head: usize) -> ItemReading {
        if head != self.end || self.ending != ItemEnding::Semicolon {
            return ItemReading::Ambiguous(None);
        }
        self.symbol(SymbolKind::Typedef, name, head, None)
    }

    /// Reads what follows the parameters, from `at` on.
    fn read_trail(&mut self, first: usize, can_be_macro: bool, is_in_capitals_itself: bool) -> HeadTrail {
        let mut at = first;
        loop {
            let word = self.word(at);
            let takes_arguments = self.is(at + 1, CTokenKind::Paren);
            match self.kind(at) {
                None => return HeadTrail::Head(at),
                Some(CTokenKind::Word)
                    if at == first && self.is_old_style(self.scanner.tokens.group(at - 1), at) =>
                {
                    return match self.ending {
                        ItemEnding::Semicolon => HeadTrail::OldStyle,
                        // What is declared there are the types of the parameters.
                        ItemEnding::Body(_) => HeadTrail::Head(self.end),
                    };
                }
                // `A::A() try : a(1) {`
                Some(CTokenKind::Word) if word == "try" && self.ending != ItemEnding::Semicolon => {
                    return HeadTrail::Head(at);
                }
                Some(CTokenKind::Word) if word == "requires" => match self.scanner.clause_end(at) {
                    Some(end) => at = end,
                    None => return HeadTrail::Ambiguous,
                },
                Some(CTokenKind::Word) if is_attribute(word) && takes_arguments => at += 2,
                Some(CTokenKind::Word) if is_trailing_qualifier(word) => at += 1,
                // `JEMALLOC_ATTR(malloc) je_malloc(size_t size) {`
                Some(CTokenKind::Word)
                    if is_in_capitals_itself && takes_arguments && !is_macro_name(word) =>
                {
                    return HeadTrail::TypeUpTo(at);
                }
                Some(CTokenKind::Word) if can_be_macro => {
                    let is_trailing = is_macro_name(word) && !self.continues(at);
                    return if is_trailing { HeadTrail::Ambiguous } else { HeadTrail::TypeUpTo(at) };
                }
                Some(CTokenKind::Word) if is_macro_name(word) || word.starts_with("__") => {
                    at += if takes_arguments { 2 } else { 1 };
                }
                // A function of C++ with a body has nothing but macros there: `A(int a) lib_noexcept : b(a) {`.
                Some(CTokenKind::Word)
                    if !takes_arguments
                        && (self.scanner.dialect == Dialect::C || self.ending != ItemEnding::Semicolon) =>
                {
                    at += 1;
                }
                // `int f(char *a) attribute_printf(1, 2);`
                Some(CTokenKind::Word)
                    if takes_arguments && !can_be_macro && !is_statement(word, self.scanner.dialect) =>
                {
                    at += 2;
                }
                Some(CTokenKind::Arrow) => return self.after_return_type(at + 1),
                Some(CTokenKind::Equals) if at + 2 == self.end => return HeadTrail::Head(self.end),
                Some(CTokenKind::Colon) if self.ending != ItemEnding::Semicolon => {
                    return HeadTrail::Head(at);
                }
                Some(CTokenKind::Ampersand | CTokenKind::Bracket) => at += 1,
                Some(CTokenKind::Star | CTokenKind::Scope) if can_be_macro => return HeadTrail::TypeUpTo(at),
                Some(_) => return HeadTrail::Ambiguous,
            }
        }
    }

    /// Returns whether something follows a word that can be a function's or a variable's name.
    fn continues(&self, at: usize) -> bool {
        matches!(
            self.kind(at + 1),
            Some(CTokenKind::Word | CTokenKind::Paren | CTokenKind::Scope | CTokenKind::Star)
        ) || self.ending == ItemEnding::Semicolon
    }

    fn after_return_type(&self, at: usize) -> HeadTrail {
        for top in at..self.end {
            match self.kind(top) {
                Some(CTokenKind::Equals | CTokenKind::Colon) => return HeadTrail::Ambiguous,
                Some(CTokenKind::Word) if self.word(top) == "requires" => {
                    let is_whole = self.scanner.clause_end(top) == Some(self.end);
                    return if is_whole { HeadTrail::Head(self.end) } else { HeadTrail::Ambiguous };
                }
                Some(_) | None => {}
            }
        }
        HeadTrail::Head(self.end)
    }

    /// Reads `int (*f(a))() int a; {`, a function that returns a pointer to a function; `None` if the group at `at`
    /// begins no such function.
    pub(super) fn old_style_with_pointer(&self, at: usize) -> Option<ItemReading> {
        let inside = self.scanner.tokens.group(at);
        let stars = inside.iter().take_while(|token| token.kind == CTokenKind::Star).count();
        let [name, open, parameters @ .., close] = inside.get(stars..)? else { return None };
        let is_function = name.kind == CTokenKind::Word
            && open.kind == CTokenKind::Paren
            && self.scanner.tokens.mate_end(open) == close.end();
        if !is_function || !self.is_old_style(parameters, at + 2) {
            return None;
        }
        Some(match self.ending {
            ItemEnding::Semicolon => ItemReading::Continues,
            ItemEnding::Body(_) => {
                let name = self.scanner.text[name.range()].to_owned();
                self.as_function(name, String::new(), self.end, true)
            }
        })
    }

    /// Returns whether the words from `at` on declare one of the parameters `names`: `int f(a) int a;`.
    fn is_old_style(&self, names: &[CToken], at: usize) -> bool {
        let are_names = names.iter().enumerate().all(|(place, token)| {
            token.kind == if place % 2 == 0 { CTokenKind::Word } else { CTokenKind::Comma }
        });
        if names.is_empty() || !are_names || self.scanner.dialect != Dialect::C {
            return false;
        }
        let is_name = |top: usize| {
            let word = self.word(top);
            !word.is_empty() && names.iter().any(|name| &self.scanner.text[name.range()] == word)
        };
        // The declared name is the second word at the earliest, and one statement has few words.
        (at + 1..self.end.min(at + 12)).any(is_name)
    }

    /// Returns whether what is in parentheses can be parameters, and not the arguments of a constructor.
    fn are_parameters(&self, parameters: usize) -> bool {
        // `A a(1);` defines a variable, and `A a(B);` may be either: only a literal or an operator decides, because a
        // name may be that of a type.
        let mut is_value = false;
        let mut may_count = false;
        let inside = self.scanner.tokens.group(parameters);
        let mut was_macro = false;
        let mut macro_end = 0;
        for token in inside {
            // `int a DEFAULT(-1)`
            if token.start() < macro_end {
                continue;
            }
            if was_macro && token.kind == CTokenKind::Paren {
                macro_end = self.scanner.tokens.mate_end(token);
            }
            was_macro = token.kind == CTokenKind::Word && is_macro_name(&self.scanner.text[token.range()]);
            match token.kind {
                CTokenKind::Equals => is_value = true,
                CTokenKind::Comma => (is_value, may_count) = (false, may_count),
                CTokenKind::Bracket | CTokenKind::Less | CTokenKind::Paren => may_count = true,
                CTokenKind::Number if !is_value && !may_count => return false,
                CTokenKind::Literal | CTokenKind::Arrow | CTokenKind::Operator | CTokenKind::Braces
                    if !is_value =>
                {
                    return false;
                }
                _ => {}
            }
        }
        true
    }

    /// Reads `MACRO(a, b) {`, which is a function; a declaration of that form is not.
    fn macro_call(&self, name: &str, parameters: usize, head: usize) -> ItemReading {
        if self.ending == ItemEnding::Semicolon {
            return ItemReading::Ignored;
        }
        if let Some((name, scope)) = self.function_in_macro(parameters) {
            return self.as_function(name, scope, head, true);
        }
        let inside = self.scanner.tokens.group(parameters);
        let text = |token: &CToken| &self.scanner.text[token.range()];
        // `TEST_CASE("title", "[tag]") {` and `TEST_CASE_METHOD(Fixture, "title") {` have no name but that of the
        // macro.
        let has_title = inside.iter().take(3).any(|token| text(token).starts_with('"'));
        let words = inside.iter().filter(|token| token.kind == CTokenKind::Word);
        let arguments: Vec<&str> = words.map(text).take(2).collect();
        let named = if has_title { None } else { macro_function(name, &arguments) };
        let name = named.unwrap_or_else(|| name.to_owned());
        self.as_function(name, String::new(), head, false)
    }

    /// Returns the name, and what qualifies it, of the function that a macro holds as a whole: `UNUSED(static int f(int
    /// a)) {`.
    fn function_in_macro(&self, parameters: usize) -> Option<(String, String)> {
        let inside = self.scanner.tokens.group(parameters);
        let text = |at: usize| inside.get(at).map_or("", |token| &self.scanner.text[token.range()]);
        let is_word = |at: usize| inside.get(at).is_some_and(|token| token.kind == CTokenKind::Word);
        let open = inside.iter().position(|token| token.kind == CTokenKind::Paren)?;
        let end = self.scanner.tokens.mate_end(&inside[open]);
        let is_last = inside[open + 1..].iter().all(|token| {
            token.start() < end
                || token.kind == CTokenKind::Word && is_trailing_qualifier(&self.scanner.text[token.range()])
        });
        let name = open.checked_sub(1).filter(|name| is_last && is_word(*name))?;
        let mut start = name;
        while 2 <= start && inside[start - 1].kind == CTokenKind::Scope && is_word(start - 2) {
            start -= 2;
        }
        let is_typed = start.checked_sub(1).is_some_and(|before| {
            is_word(before) || matches!(inside[before].kind, CTokenKind::Star | CTokenKind::Ampersand)
        });
        let are_words = (0..start).all(|at| inside[at].kind != CTokenKind::Comma);
        if is_statement(text(name), self.scanner.dialect) || !are_words || !(is_typed || start < name) {
            return None;
        }
        let scope: String = if start < name { (start..name - 1).map(text).collect() } else { String::new() };
        Some((text(name).to_owned(), scope))
    }

    fn sure_name(&self, name: String) -> Option<String> {
        let is_name = !is_statement(&name, self.scanner.dialect) && !is_basic_type(&name);
        (self.ending != ItemEnding::Semicolon && is_name).then_some(name)
    }

    fn is_class(&self, name: &str) -> bool {
        self.class().is_some_and(|class| class == name)
    }

    /// Returns the name of the type that the item is in.
    fn class(&self) -> Option<&str> {
        let scope = self.scanner.scopes.last().filter(|_| self.scanner.is_in_type())?;
        Some(&self.scanner.text[scope.name.clone()])
    }

    /// Returns what kind of function a name is, by the same rule as the walk.
    fn function_kind(&self, scope: &str, name: &str) -> SymbolKind {
        let class = if scope.is_empty() { self.class() } else { scope.rsplit("::").next() };
        // `A::A() = default;` is one with a body.
        let is_announced = self.ending == ItemEnding::Semicolon
            && !matches!(self.word(self.end - 1), "default" | "delete")
            && !self.scanner.is_in_type();
        let Some(class) = class else {
            return if is_announced { SymbolKind::Prototype } else { SymbolKind::Function };
        };
        // `A<int>::A` is a constructor.
        let class = class.split('<').next().unwrap_or(class);
        if is_announced {
            SymbolKind::Prototype
        } else if name == class {
            SymbolKind::Constructor
        } else if name.starts_with('~') {
            SymbolKind::Destructor
        } else {
            SymbolKind::Method
        }
    }
}
