//! C++: namespaces, types and their members, functions and their out-of-line definitions, read from tokens.
//!
//! As in C, scanning tokens is faster than parsing, and macros that expand to specifiers, attributes or namespaces do
//! not break it: a word in capitals before a declaration is skipped. `cpp_body` reads statements, `cpp_paths` names and
//! types.
//!
//! An out-of-line definition `A::f` is in its own scope of kind `Implementation`, whose definition has the qualifier as
//! its name, joined by dots, and as its base. Members of inline and unnamed namespaces, and of a namespace that a macro
//! opens, belong to the enclosing scope. A `using namespace` is an import without a name that is not a star import;
//! `#include` is a star import.

use super::cpp_tokens::cpp_tokens;
use super::tokens::{SourceToken, SourceTokenKind as Kind};
use crate::model::{
    BindingValue, DefinitionFact, DefinitionFlags, DefinitionId, DefinitionKind, NameId, SourceFacts,
};
use crate::syntax::facts::builder::{FactsBuilder, index};

/// Deeper brackets are not read.
pub(super) const MAX_DEPTH: usize = 100;

/// Returns the facts of a text.
pub(in crate::syntax::facts) fn source_facts(text: &str) -> SourceFacts {
    let read = cpp_tokens(text);
    let mut reader = CppReader {
        facts: FactsBuilder::new(text),
        tokens: read.tokens,
        pairs: read.pairs,
        depth: 0,
        is_hidden: false,
        is_auto: false,
    };
    reader.items(0, reader.tokens.len(), None);
    reader.facts.finish()
}

pub(super) struct CppReader<'t> {
    pub(super) facts: FactsBuilder<'t>,
    pub(super) tokens: Vec<SourceToken>,
    pub(super) pairs: Vec<u32>,
    pub(super) depth: usize,
    /// Whether the current namespace is unnamed, so that other files do not see its contents.
    pub(super) is_hidden: bool,
    /// Whether the return type of the current function is deduced from its `return` statements.
    pub(super) is_auto: bool,
}

/// The specifiers of a declaration before its declarator.
#[derive(Default)]
pub(super) struct ItemHead {
    pub(super) templates: Vec<(usize, usize)>,
    pub(super) flags: u16,
    pub(super) is_inline: bool,
    pub(super) is_friend: bool,
}

impl<'t> CppReader<'t> {
    pub(super) fn text(&self, at: usize) -> &'t str {
        let Some(token) = self.tokens.get(at) else { return "" };
        self.facts.text.get(token.start as usize..token.end as usize).unwrap_or_default()
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.kind(at) == Some(Kind::Sign(sign))
    }

    pub(super) fn is_word(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Word)
    }

    /// Returns whether there are two adjacent colons here.
    pub(super) fn is_colons(&self, at: usize) -> bool {
        self.is_sign(at, b':')
            && self.is_sign(at + 1, b':')
            && self.tokens[at].end == self.tokens[at + 1].start
    }

    /// Returns the index after a bracketed group, or after the opening bracket if it is never closed.
    pub(super) fn group_end(&self, open: usize) -> usize {
        match self.pairs.get(open) {
            Some(close) if 0 < *close => *close as usize + 1,
            _ => open + 1,
        }
    }

    /// Returns the index of the closing bracket of a group, or of the opening one if it is never closed.
    pub(super) fn close_of(&self, open: usize) -> usize {
        self.group_end(open) - 1
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.tokens.get(at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    pub(super) fn is_macro_like(&self, at: usize) -> bool {
        let text = self.text(at);
        2 <= text.len()
            && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
    }

    /// Reads the declarations of a namespace, or of the body of a type of that name.
    pub(super) fn items(&mut self, from: usize, end: usize, class: Option<&'t str>) {
        if MAX_DEPTH <= self.depth {
            return;
        }
        self.depth += 1;
        let mut at = from;
        while at < end {
            at = match self.tokens[at].kind {
                Kind::Include | Kind::Define => self.preprocessor(at),
                Kind::Sign(b';' | b'}' | b')' | b']' | b',') => at + 1,
                _ => self.item(at, end, class).max(at + 1),
            };
        }
        self.depth -= 1;
    }

    pub(super) fn preprocessor(&mut self, at: usize) -> usize {
        let (token, name) = (self.tokens[at], self.text(at));
        let outer = std::mem::replace(&mut self.facts.scope, 0);
        if token.kind == Kind::Include {
            self.facts.import(name, None, true, token.line);
        } else if !name.is_empty() {
            let rest = self.facts.text.get(token.end as usize..).unwrap_or_default();
            let flags = if rest.starts_with('(') { DefinitionFlags::STATIC } else { 0 };
            let id = self.facts.name(name);
            let definition = self.add(DefinitionKind::Macro, id, at, at, flags);
            self.facts.bind(0, id, BindingValue::Definition(definition), token.line);
            self.namespaces_of_macro(at);
        }
        self.facts.scope = outer;
        at + 1
    }

    /// `#define X_BEGIN namespace x {`: the declarations after the macro seem to be in no namespace.
    fn namespaces_of_macro(&mut self, at: usize) {
        let rest = self.facts.text.get(self.tokens[at].end as usize..).unwrap_or_default();
        let mut lines = rest.split('\n');
        let mut is_continued = true;
        for line in lines.by_ref().take(8) {
            if !is_continued {
                return;
            }
            is_continued = line.trim_end().ends_with('\\');
            for part in line.split("namespace ").skip(1) {
                let name = part.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
                if !name.is_empty() && part.contains('{') {
                    let id = self.facts.name(name);
                    let flags = DefinitionFlags::STATIC | DefinitionFlags::PROTOTYPE;
                    let definition = self.add(DefinitionKind::Module, id, at, at, flags);
                    self.facts.bind(0, id, BindingValue::Definition(definition), self.line(at));
                }
            }
        }
    }

    /// Adds a definition with this name and first token, without a binding.
    pub(super) fn add(
        &mut self,
        kind: DefinitionKind,
        name: NameId,
        first: usize,
        at: usize,
        flags: u16,
    ) -> DefinitionId {
        let (first_line, line) = (self.line(first), self.line(at));
        let is_hidden = self.is_hidden && kind != DefinitionKind::Module;
        let flags = flags | if is_hidden { DefinitionFlags::PRIVATE } else { 0 };
        self.facts.facts.definitions.push(DefinitionFact {
            name,
            kind,
            scope: self.facts.scope,
            body: None,
            first_line: first_line.min(line),
            name_line: line,
            last_line: line,
            flags: DefinitionFlags(flags),
            bases: Vec::new(),
            returns: Vec::new(),
        });
        index(self.facts.facts.definitions.len() - 1)
    }

    pub(super) fn set_end(&mut self, definition: DefinitionId, last: usize) {
        let line = self.line(last);
        let fact = self.facts.definition(definition);
        fact.last_line = line.max(fact.name_line);
    }

    /// Reads one declaration; returns the index after it.
    fn item(&mut self, start: usize, end: usize, class: Option<&'t str>) -> usize {
        let mut head = ItemHead::default();
        let mut at = start;
        while at < end {
            let text = self.text(at);
            match text {
                "template" if self.is_sign(at + 1, b'<') => {
                    let close = self.angle_end(at + 1).unwrap_or(at + 2);
                    head.templates.push((at + 1, close));
                    at = close;
                }
                // An explicit instantiation.
                "template" => return self.to_semicolon(at, end),
                "requires" => at = self.requires_end(at + 1, end),
                "public" | "private" | "protected" | "signals" | "slots"
                    if self.is_sign(at + 1, b':') && !self.is_colons(at + 1) =>
                {
                    return at + 2;
                }
                "extern" if self.kind(at + 1) == Some(Kind::Literal) => {
                    if self.is_sign(at + 2, b'{') {
                        let close = self.close_of(at + 2);
                        self.items(at + 3, close, class);
                        return close + 1;
                    }
                    at += 2;
                }
                "static" => {
                    // A static member of a type is visible everywhere.
                    head.flags |=
                        if class.is_none() { DefinitionFlags::PRIVATE } else { DefinitionFlags::STATIC };
                    at += 1;
                }
                "inline" => {
                    head.is_inline = true;
                    at += 1;
                }
                "friend" => {
                    head.is_friend = true;
                    at += 1;
                }
                "extern" | "constexpr" | "consteval" | "constinit" | "virtual" | "thread_local"
                | "mutable" | "export" | "volatile" | "register" | "typename" => at += 1,
                "explicit" | "alignas" | "__attribute__" | "__declspec" => {
                    at = if self.is_sign(at + 1, b'(') { self.group_end(at + 1) } else { at + 1 };
                }
                "[" if self.is_sign(at + 1, b'[') => at = self.group_end(at),
                "namespace" => return self.namespace(start, at, end, &head),
                "using" => return self.using_item(start, at, end),
                "typedef" => return self.typedef_item(start, at, end),
                "static_assert" => {
                    let next = self.to_semicolon(at, end);
                    self.walk(at + 1, next, false);
                    return next;
                }
                "class" | "struct" | "union" | "enum" => {
                    if let Some(next) = self.type_item(start, at, end, &head.templates, head.is_friend) {
                        return next;
                    }
                    at += 1;
                }
                _ if self.is_word(at) && self.is_macro_like(at) => match self.macro_end(at) {
                    Some((next, true)) => {
                        self.walk(at, next, false);
                        return next;
                    }
                    Some((next, false)) => at = next,
                    None => break,
                },
                _ => break,
            }
        }
        self.declaration(start, at, end, class, &head)
    }

    /// Returns the index after a macro before a declaration, and whether it is a statement of its own; `None` if the
    /// word may be a type.
    fn macro_end(&self, at: usize) -> Option<(usize, bool)> {
        if self.is_sign(at + 1, b'(') {
            let next = self.group_end(at + 1);
            return match self.kind(next) {
                // The head of a function, or a constructor.
                Some(Kind::Sign(b'{' | b':' | b'=')) => None,
                Some(Kind::Sign(b';')) => Some((next + 1, true)),
                Some(Kind::Include | Kind::Define) => Some((next, true)),
                Some(Kind::Word)
                    if matches!(self.text(next), "const" | "noexcept" | "override" | "final") =>
                {
                    None
                }
                _ => Some((next, false)),
            };
        }
        match self.kind(at + 1) {
            Some(Kind::Word | Kind::Sign(b'[' | b'~')) => Some((at + 1, false)),
            // A preprocessor line ends what precedes it.
            Some(Kind::Include | Kind::Define) => Some((at + 1, true)),
            _ => None,
        }
    }

    pub(super) fn to_semicolon(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end {
            match self.tokens[at].kind {
                Kind::Sign(b';') => return at + 1,
                Kind::Sign(b'(' | b'[' | b'{') => at = self.group_end(at),
                Kind::Sign(b'}') => return at,
                _ => at += 1,
            }
        }
        end
    }

    /// Returns the index after a `requires` clause.
    pub(super) fn requires_end(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end {
            at = match self.kind(at) {
                Some(Kind::Sign(b'(')) => self.group_end(at),
                Some(Kind::Sign(b'!')) => at + 1,
                Some(Kind::Word) => self.path_end(at),
                _ => return at,
            };
            let sign = self.text(at);
            if matches!(sign, "&" | "|") && self.text(at + 1) == sign {
                at += 2;
                continue;
            }
            if !self.is_sign(at, b'(') {
                return at;
            }
        }
        at
    }
}

/// The keywords of the language, sorted for binary search.
const KEYWORDS: [&str; 88] = [
    "__attribute__", "__declspec", "alignas", "alignof", "and", "asm", "auto", "bool", "break", "case",
    "catch", "char", "char16_t", "char32_t", "char8_t", "class", "co_await", "co_return", "co_yield",
    "concept", "const", "const_cast", "consteval", "constexpr", "constinit", "continue", "decltype",
    "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
    "false", "final", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable",
    "namespace", "new", "noexcept", "not", "nullptr", "operator", "or", "override", "private", "protected",
    "public", "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
    "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
    "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while",
];

pub(super) fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keywords_are_sorted_for_binary_search() {
        assert!(KEYWORDS.is_sorted());
    }
}
