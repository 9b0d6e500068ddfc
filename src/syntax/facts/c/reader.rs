//! C: functions, macros, includes and uses, read from tokens without parsing.
//!
//! What decides a reference in C is lexical: whether a name is a field, a local variable, a macro or a function. A scan
//! determines that ten times faster than a parse, and macros do not break it.

use std::ops::Range;

use super::macros::DefiningMacros;
use super::tokens::{SourceToken, SourceTokenKind as Kind, tokens};
use crate::model::{
    BindingValue, DefinitionFact, DefinitionFlags, DefinitionKind, ExpressionFact, NameId, ScopeKind,
    SourceFacts, UseFact,
};
use crate::syntax::facts::builder::{FactsBuilder, index};

/// Conditionals nested deeper than this are not balanced.
const MAX_CONDITIONALS: usize = 64;

pub(super) const KEYWORDS: [&str; 46] = [
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "_Bool", "_Atomic", "_Alignof", "_Generic", "_Noreturn", "_Static_assert",
    "__attribute__", "__asm__", "asm", "__declspec", "__typeof__", "typeof",
];

/// Returns the facts of a text.
pub(in crate::syntax::facts) fn source_facts(text: &str) -> SourceFacts {
    let mut reader = CFactsReader {
        facts: FactsBuilder::new(text),
        tokens: tokens(text),
        at: 0,
        item_start: 0,
        depth: 0,
        conditionals: Vec::new(),
        macros: DefiningMacros::default(),
    };
    while reader.at < reader.tokens.len() {
        reader.top_level();
    }
    reader.facts.finish()
}

pub(super) struct CFactsReader<'t> {
    pub(super) facts: FactsBuilder<'t>,
    pub(super) tokens: Vec<SourceToken>,
    pub(super) at: usize,
    /// The first token of the current declaration.
    pub(super) item_start: usize,
    /// The number of open braces of namespaces and `extern "C"`.
    depth: usize,
    /// The depth of braces at each `#if`, which its `#else` restores, and whether it is an `#if 0`.
    conditionals: Vec<(usize, bool)>,
    pub(super) macros: DefiningMacros<'t>,
}

impl<'t> CFactsReader<'t> {
    pub(super) fn text(&self, token: SourceToken) -> &'t str {
        self.facts.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.kind(at) == Some(Kind::Sign(sign))
    }

    /// Reads one token outside of functions, or a whole function, type or initializer.
    fn top_level(&mut self) {
        let token = self.tokens[self.at];
        match token.kind {
            Kind::Include | Kind::Define => self.preprocessor(token),
            Kind::Sign(b';') => {
                if let Some(open) = self.old_style_body() {
                    self.at = open;
                } else {
                    self.prototype();
                    self.begin_item();
                }
            }
            Kind::Sign(b'=') => self.initializer(),
            Kind::Sign(b'{') => self.open_brace(),
            Kind::Sign(b'}') => {
                self.depth = self.depth.saturating_sub(1);
                self.begin_item();
            }
            Kind::Sign(b'(') => {
                let is_whole = self.defined_by_macro();
                self.at = self.group_end(self.at);
                if is_whole {
                    self.item_start = self.at;
                }
            }
            Kind::Else => {
                // The branches of a conditional are alternatives: what one leaves open, the next one begins with.
                self.at += 1;
            }
            _ => self.at += 1,
        }
    }

    fn begin_item(&mut self) {
        self.at += 1;
        self.item_start = self.at;
    }

    fn preprocessor(&mut self, token: SourceToken) {
        let name = self.text(token);
        if token.kind == Kind::Include {
            self.facts.import(name, None, true, token.line);
        } else if !name.is_empty() {
            self.define_macro(token, name);
        }
        self.at += 1;
    }

    fn define_macro(&mut self, token: SourceToken, name: &'t str) {
        let rest = self.facts.text.get(token.end as usize..).unwrap_or_default();
        let body = rest.split('\n').next().unwrap_or_default();
        let mut flags = 0;
        let mut bases = Vec::new();
        if body.starts_with('(') {
            flags = DefinitionFlags::STATIC;
            self.macros.add(name, rest);
        } else {
            let target = body.split("/*").next().unwrap_or_default().trim();
            let is_name = target.chars().all(|c| c.is_alphanumeric() || c == '_');
            if is_name && target.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                let target = self.facts.name(target);
                bases.push(self.facts.expression(ExpressionFact::Name(target)));
            }
        }
        let definition = self.add_token(DefinitionKind::Macro, token, flags);
        self.facts.definition(definition).bases = bases;
    }

    /// Adds a definition whose name is a token.
    fn add_token(&mut self, kind: DefinitionKind, token: SourceToken, flags: u16) -> u32 {
        let name = self.facts.name(self.text(token));
        self.add(kind, name, token.line, flags)
    }

    /// Adds a definition that consists of a line, and binds its name.
    pub(super) fn add(&mut self, kind: DefinitionKind, name: NameId, line: u32, flags: u16) -> u32 {
        let scope = self.facts.scope;
        self.facts.facts.definitions.push(DefinitionFact {
            name,
            kind,
            scope,
            body: None,
            first_line: line,
            name_line: line,
            last_line: line,
            flags: DefinitionFlags(flags),
            bases: Vec::new(),
            returns: Vec::new(),
        });
        let definition = index(self.facts.facts.definitions.len() - 1);
        self.facts.bind(scope, name, BindingValue::Definition(definition), line);
        definition
    }

    /// Returns the index after a bracketed group, ignoring conditionals within it.
    pub(super) fn group_end(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for at in open..self.tokens.len() {
            match self.tokens[at].kind {
                Kind::Sign(b'(' | b'[') => depth += 1,
                Kind::Sign(b')' | b']') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                // An unclosed bracket ends with the declaration, so that reading stays linear.
                Kind::Sign(b'{' | b'}' | b';') => return at,
                _ => {}
            }
        }
        self.tokens.len()
    }

    pub(super) fn has_word(&self, word: &str) -> bool {
        let item = self.tokens.get(self.item_start..self.at).unwrap_or_default();
        item.iter().take(64).any(|token| token.kind == Kind::Word && self.text(*token) == word)
    }

    fn prototype(&mut self) {
        if self.has_word("typedef") {
            self.type_name();
            return;
        }
        if let Some((name, parameters)) = self.declared_function() {
            // `(*name)(…)` is a variable.
            let is_plain = !self.is_sign(parameters + 1, b'*') || name + 1 == parameters;
            if is_plain && self.item_start < name {
                let flags = DefinitionFlags::PROTOTYPE
                    | if self.has_word("static") { DefinitionFlags::PRIVATE } else { 0 };
                self.add_token(DefinitionKind::Function, self.tokens[name], flags);
            }
        }
    }

    /// `typedef … name;`
    fn type_name(&mut self) {
        let last = self.at.checked_sub(1).map(|at| self.tokens[at]);
        if let Some(last) = last.filter(|token| token.kind == Kind::Word) {
            self.add_token(DefinitionKind::Alias, last, 0);
        }
    }

    fn open_brace(&mut self) {
        let is_type = ["struct", "union", "enum"].iter().any(|word| self.has_word(word));
        let function = self.declared_function().filter(|(name, _)| self.item_start <= *name);
        match function {
            Some((name, parameters)) => self.function(name, parameters),
            None if self.has_word("extern") || self.has_word("namespace") => {
                self.depth += 1;
                self.begin_item();
            }
            None if is_type => self.type_body(),
            None => self.unnamed_body(),
        }
    }

    /// Reads the body of a function whose head is a macro.
    fn unnamed_body(&mut self) {
        let inside = self.braces(self.at);
        let outer = self.facts.open_scope(ScopeKind::Function, None);
        self.body(inside.clone());
        self.facts.scope = outer;
        self.at = inside.end.max(inside.start);
        self.item_start = self.at;
    }

    /// `struct name { … }`, whose body has no uses.
    fn type_body(&mut self) {
        let previous = self.tokens[self.at - 1];
        let end = self.braces(self.at).end;
        if previous.kind == Kind::Word && !KEYWORDS.contains(&self.text(previous)) {
            let definition = self.add_token(DefinitionKind::Class, previous, 0);
            let last = self.tokens.get(end.saturating_sub(1)).map_or(previous.line, |token| token.line);
            self.facts.definition(definition).last_line = last;
        }
        self.at = end.max(self.at + 1);
    }

    /// Returns the range between the braces that open at `open`, including the closing one. The branches of a
    /// conditional begin at the same depth; those of a conditional that began before the braces have their own heads,
    /// which open them again.
    fn braces(&mut self, open: usize) -> Range<usize> {
        let mut depth = 0_usize;
        let (mut start, mut before_other_head) = (open + 1, 0);
        self.conditionals.clear();
        for at in open..self.tokens.len() {
            match self.tokens[at].kind {
                Kind::Sign(b'{') => {
                    if depth == 0 {
                        start = at + 1;
                    }
                    depth += 1;
                }
                Kind::Sign(b'}') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && !self.conditionals.iter().any(|(_, is_skipped)| *is_skipped) {
                        return start..at + 1;
                    }
                }
                Kind::If if self.conditionals.len() < MAX_CONDITIONALS => {
                    let is_skipped = self.text(self.tokens[at]) == "0";
                    self.conditionals.push((depth, is_skipped));
                }
                Kind::Else => {
                    if let Some((begin, is_skipped)) = self.conditionals.last_mut() {
                        depth = *begin;
                        *is_skipped = false;
                    } else {
                        before_other_head = before_other_head.max(depth);
                        depth = 0;
                    }
                }
                Kind::EndIf => match self.conditionals.pop() {
                    // No compiler sees the braces in `#if 0`.
                    Some((begin, true)) => depth = begin,
                    None if depth == 0 => depth = before_other_head,
                    Some(_) | None => {}
                },
                _ => {}
            }
        }
        start..self.tokens.len()
    }

    /// `= …;`: names in it are uses.
    fn initializer(&mut self) {
        self.at += 1;
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.tokens[self.at].kind {
                Kind::Sign(b'{' | b'(') => depth += 1,
                Kind::Sign(b'}' | b')' | b';') if depth == 0 => return,
                Kind::Sign(b'}' | b')') => depth -= 1,
                Kind::Word => self.word(),
                Kind::Include | Kind::Define => {
                    let token = self.tokens[self.at];
                    self.preprocessor(token);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    fn function(&mut self, name: usize, parameters: usize) {
        let token = self.tokens[name];
        let inside = self.braces(self.at);
        let first_line = self.tokens[self.item_start].line;
        let flags = if self.has_word("static") { DefinitionFlags::PRIVATE } else { 0 };
        let function = self.add_token(DefinitionKind::Function, token, flags);
        let last_line = self.tokens.get(inside.end.saturating_sub(1)).map_or(token.line, |token| token.line);
        let definition = self.facts.definition(function);
        (definition.first_line, definition.last_line) = (first_line, last_line);
        let outer = self.facts.open_body(function, ScopeKind::Function);
        self.parameters(parameters);
        self.body(inside.clone());
        self.facts.scope = outer;
        self.at = inside.end.max(inside.start);
        self.item_start = self.at;
    }

    /// Binds the names of parameters: the last word before a comma, a bracket or the end.
    fn parameters(&mut self, open: usize) {
        let end = self.group_end(open);
        for at in open + 1..end.saturating_sub(1).max(open + 1) {
            let ends = matches!(self.kind(at + 1), Some(Kind::Sign(b',' | b')' | b'[')));
            if self.kind(at) == Some(Kind::Word) && ends && !self.is_tag(at) {
                self.bind_local(at);
            }
        }
    }

    fn bind_local(&mut self, at: usize) {
        let token = self.tokens[at];
        let text = self.text(token);
        if !KEYWORDS.contains(&text) {
            let name = self.facts.name(text);
            self.facts.bind(self.facts.scope, name, BindingValue::Default(0), token.line);
        }
    }

    fn body(&mut self, inside: Range<usize>) {
        let mut is_declaration = false;
        let mut parens = 0_usize;
        self.at = inside.start;
        while self.at < inside.end {
            let at = self.at;
            match self.tokens[at].kind {
                Kind::Include | Kind::Define => {
                    let token = self.tokens[at];
                    let outer = std::mem::replace(&mut self.facts.scope, 0);
                    self.preprocessor(token);
                    self.facts.scope = outer;
                    continue;
                }
                Kind::Word
                    if self.declares_local(at) || is_declaration && parens == 0 && self.continues(at) =>
                {
                    is_declaration = true;
                    self.bind_local(at);
                }
                Kind::Word => self.word(),
                Kind::Sign(b';' | b'{' | b'}') => {
                    is_declaration = false;
                    parens = 0;
                }
                Kind::Sign(b'(') => parens += 1,
                Kind::Sign(b')') => parens = parens.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Returns whether the word is the name of a type after `struct`, `union` or `enum`.
    fn is_tag(&self, at: usize) -> bool {
        let previous = at.checked_sub(1).map(|at| self.tokens[at]);
        previous.is_some_and(|token| {
            token.kind == Kind::Word && matches!(self.text(token), "struct" | "union" | "enum")
        })
    }

    /// Returns whether the word is the second of `type name`, possibly with stars in between.
    fn declares_local(&self, at: usize) -> bool {
        if self.is_tag(at) {
            return false;
        }
        if !matches!(self.kind(at + 1), Some(Kind::Sign(b'=' | b';' | b',' | b'[' | b')' | b':'))) {
            return false;
        }
        let mut before = at;
        while 0 < before && self.is_sign(before - 1, b'*') {
            before -= 1;
        }
        let has_stars = before < at;
        let Some(previous) = before.checked_sub(1).map(|at| self.tokens[at]) else { return false };
        if previous.kind != Kind::Word {
            return false;
        }
        let word = self.text(previous);
        if matches!(word, "return" | "else" | "case" | "goto" | "sizeof" | "do" | "default") {
            return false;
        }
        let is_comparison = self.is_sign(at + 1, b'=') && self.is_sign(at + 2, b'=');
        if !has_stars {
            return !is_comparison;
        }
        // `a * b;` is a multiplication unless it begins a statement.
        let mut start = before - 1;
        while 0 < start && self.kind(start - 1) == Some(Kind::Word) {
            start -= 1;
        }
        let begins = start.checked_sub(1).map(|at| self.tokens[at].kind);
        !is_comparison
            && matches!(begins, None | Some(Kind::Sign(b';' | b'{' | b'}' | b'(')))
            && !(self.is_sign(at + 1, b')'))
    }

    /// Returns whether the word is a further name of a declaration: `, name`.
    fn continues(&self, at: usize) -> bool {
        let mut before = at;
        while 0 < before && self.is_sign(before - 1, b'*') {
            before -= 1;
        }
        0 < before
            && self.is_sign(before - 1, b',')
            && matches!(self.kind(at + 1), Some(Kind::Sign(b'=' | b';' | b',' | b'[')))
    }

    /// Records the use of a word, unless it is a keyword, a field or a label.
    fn word(&mut self) {
        let (at, token) = (self.at, self.tokens[self.at]);
        let text = self.text(token);
        if KEYWORDS.contains(&text) {
            return;
        }
        let previous = at.checked_sub(1).map(|at| self.tokens[at]);
        if let Some(previous) = previous {
            match previous.kind {
                Kind::Sign(b'.') | Kind::Arrow => return,
                Kind::Word if self.text(previous) == "goto" => return,
                _ => {}
            }
        }
        let is_type = self.is_tag(at);
        let is_call = self.is_sign(at + 1, b'(');
        let name = self.facts.name(text);
        let usage = UseFact::new(name, token.line, self.facts.scope);
        self.facts.facts.uses.push(UseFact { is_call, is_type, ..usage });
    }
}
