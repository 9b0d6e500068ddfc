//! C++: namespaces, types and their members, functions and their out-of-line definitions, read from tokens.
//!
//! As in C, a scan of tokens is quicker than a parse, and macros that expand to specifiers, attributes or namespaces do not
//! break it: a word in capitals before a declaration is skipped. `cpp_body` reads statements, `cpp_paths` names and types.
//!
//! An out-of-line definition `A::f` is in a scope of its own of kind `Implementation`, whose definition has the qualifier as
//! its name and as its base. Members of inline and unnamed namespaces, and of a namespace that a macro opens, are members of
//! what is around them. A `using namespace` is an import without a name that is no star; `#include` is a star.

use super::builder::{FactsBuilder, index};
use super::c_tokens::{SourceToken, SourceTokenKind as Kind};
use super::cpp_tokens::cpp_tokens;
use crate::model::{
    BindingValue, DefinitionFact, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId,
    NameId, ScopeKind, SourceFacts,
};

/// Deeper brackets are not read.
pub(super) const MAX_DEPTH: usize = 100;

/// Returns the facts of a text.
pub(super) fn source_facts(text: &str) -> SourceFacts {
    let read = cpp_tokens(text);
    let mut reader = CppReader {
        facts: FactsBuilder::new(text),
        tokens: read.tokens,
        pairs: read.pairs,
        depth: 0,
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
    /// Whether the return type of the current function is that of what it returns.
    pub(super) is_auto: bool,
}

/// What the head of a declaration says before its declarator.
#[derive(Default)]
struct ItemHead {
    templates: Vec<(usize, usize)>,
    flags: u8,
    is_inline: bool,
    is_friend: bool,
}

/// A function's or variable's declarator.
struct Declarator {
    /// The first token of its name, qualifiers included, and the one behind it.
    path: (usize, usize),
    /// The last part of the name: of `operator` and a sign, the former.
    name: usize,
    /// The bracket that opens the parameters.
    parameters: usize,
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

    /// Returns whether two colons without a gap are here.
    pub(super) fn is_colons(&self, at: usize) -> bool {
        self.is_sign(at, b':')
            && self.is_sign(at + 1, b':')
            && self.tokens[at].end == self.tokens[at + 1].start
    }

    /// Returns the index behind a group that a bracket opens; behind the bracket where nothing closes it.
    pub(super) fn behind(&self, open: usize) -> usize {
        match self.pairs.get(open) {
            Some(close) if 0 < *close => *close as usize + 1,
            _ => open + 1,
        }
    }

    /// Returns the index of the bracket that closes a group, or that of the opening one where nothing does.
    pub(super) fn close_of(&self, open: usize) -> usize {
        self.behind(open) - 1
    }

    pub(super) fn line(&self, at: usize) -> u32 {
        self.tokens.get(at).or(self.tokens.last()).map_or(1, |token| token.line)
    }

    pub(super) fn is_macro_like(&self, at: usize) -> bool {
        let text = self.text(at);
        2 <= text.len() && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
    }

    /// Reads declarations of a namespace, or of the body of a type of that name.
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
            let definition = self.add(DefinitionKind::Macro, id, (at, at), flags);
            self.facts.bind(0, id, BindingValue::Definition(definition), token.line);
            self.namespaces_of_macro(at);
        }
        self.facts.scope = outer;
        at + 1
    }

    /// `#define X_BEGIN namespace x {`: what is behind the macro looks as if it were in no namespace.
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
                    let definition = self.add(DefinitionKind::Module, id, (at, at), flags);
                    self.facts.bind(0, id, BindingValue::Definition(definition), self.line(at));
                }
            }
        }
    }

    /// Adds a definition whose name and first token are these, without a binding.
    pub(super) fn add(
        &mut self,
        kind: DefinitionKind,
        name: NameId,
        (first, at): (usize, usize),
        flags: u8,
    ) -> DefinitionId {
        let (first_line, line) = (self.line(first), self.line(at));
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

    fn set_end(&mut self, definition: DefinitionId, last: usize) {
        let line = self.line(last);
        let fact = self.facts.definition(definition);
        fact.last_line = line.max(fact.name_line);
    }

    /// Reads one declaration; returns the index behind it.
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
                    head.flags |= if class.is_none() { DefinitionFlags::PRIVATE } else { DefinitionFlags::STATIC };
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
                "extern" | "constexpr" | "consteval" | "constinit" | "virtual" | "thread_local" | "mutable"
                | "export" | "volatile" | "register" | "typename" => at += 1,
                "explicit" | "alignas" | "__attribute__" | "__declspec" => {
                    at = if self.is_sign(at + 1, b'(') { self.behind(at + 1) } else { at + 1 };
                }
                "[" if self.is_sign(at + 1, b'[') => at = self.behind(at),
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

    /// Returns the index behind a macro before a declaration, and whether it is a statement of its own; `None` where the
    /// word may be a type.
    fn macro_end(&self, at: usize) -> Option<(usize, bool)> {
        if self.is_sign(at + 1, b'(') {
            let next = self.behind(at + 1);
            return match self.kind(next) {
                // The head of a function, or a constructor.
                Some(Kind::Sign(b'{' | b':' | b'=')) => None,
                Some(Kind::Sign(b';')) => Some((next + 1, true)),
                Some(Kind::Word) if matches!(self.text(next), "const" | "noexcept" | "override" | "final") => None,
                _ => Some((next, false)),
            };
        }
        match self.kind(at + 1) {
            Some(Kind::Word) => Some((at + 1, false)),
            Some(Kind::Sign(b'[' | b'~')) => Some((at + 1, false)),
            _ => None,
        }
    }

    pub(super) fn to_semicolon(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end {
            match self.tokens[at].kind {
                Kind::Sign(b';') => return at + 1,
                Kind::Sign(b'(' | b'[' | b'{') => at = self.behind(at),
                Kind::Sign(b'}') => return at,
                _ => at += 1,
            }
        }
        end
    }

    /// Returns the index behind a clause of constraints.
    fn requires_end(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end {
            at = match self.kind(at) {
                Some(Kind::Sign(b'(')) => self.behind(at),
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

    /// `namespace a::b { … }`, `namespace a = b;`
    fn namespace(&mut self, start: usize, at: usize, end: usize, head: &ItemHead) -> usize {
        let mut open = at + 1;
        let mut names = Vec::new();
        while open < end && !matches!(self.kind(open), Some(Kind::Sign(b'{' | b';' | b'='))) {
            if self.is_sign(open, b'[') || self.is_sign(open, b'(') {
                open = self.behind(open);
                continue;
            }
            if self.is_word(open) && self.text(open) != "inline" && !(self.is_macro_like(open) && self.is_word(open + 1)) {
                names.push(open);
            }
            open += 1;
        }
        if self.is_sign(open, b'=') {
            if let Some(name) = names.first() {
                let (target, next) = self.path(open + 1, false);
                let id = self.facts.name(self.text(*name));
                self.facts.bind(self.facts.scope, id, BindingValue::Value(target), self.line(*name));
                return next;
            }
        }
        if !self.is_sign(open, b'{') {
            return open + 1;
        }
        let outer = self.facts.scope;
        let close = self.close_of(open);
        let flags = match (names.is_empty(), head.is_inline) {
            (true, _) => DefinitionFlags::STATIC | DefinitionFlags::PRIVATE,
            (false, true) => DefinitionFlags::STATIC,
            (false, false) => 0,
        };
        if names.is_empty() {
            names.push(at);
        }
        for name in names {
            let text = if flags & DefinitionFlags::PRIVATE == 0 { self.text(name) } else { "" };
            let id = self.facts.name(text);
            let module = self.add(DefinitionKind::Module, id, (start, name), flags);
            self.set_end(module, close);
            self.facts.bind(self.facts.scope, id, BindingValue::Definition(module), self.line(name));
            self.facts.open_body(module, ScopeKind::Module);
        }
        self.items(open + 1, close.max(open + 1), None);
        self.facts.scope = outer;
        close + 1
    }

    /// `using namespace a;`, `using a::b;`, `using a = b;`
    pub(super) fn using_item(&mut self, start: usize, at: usize, end: usize) -> usize {
        let scope = self.facts.scope;
        let line = self.line(at);
        if self.text(at + 1) == "namespace" {
            let next = self.to_semicolon(at, end);
            let (first, last) = (at + 2, next.saturating_sub(2).max(at + 2));
            let (from, to) = (self.tokens.get(first), self.tokens.get(last));
            if let (Some(from), Some(to)) = (from, to) {
                let written = self.facts.text.get(from.start as usize..to.end as usize).unwrap_or_default();
                self.facts.import(written.trim_start_matches("::"), None, false, line);
            }
            return next;
        }
        let name = at + 1;
        let mut equals = name + 1;
        while self.is_sign(equals, b'[') {
            equals = self.behind(equals);
        }
        if self.is_word(name) && self.is_sign(equals, b'=') {
            let id = self.facts.name(self.text(name));
            let alias = self.add(DefinitionKind::Alias, id, (start, name), 0);
            self.facts.bind(scope, id, BindingValue::Definition(alias), line);
            let (target, _) = self.declared_type(equals + 1, true);
            self.facts.definition(alias).bases.push(target);
            let next = self.to_semicolon(equals, end);
            self.set_end(alias, next.saturating_sub(1));
            return next;
        }
        // `using a::b, c::d;`
        let mut at = name;
        while at < end {
            let from = if self.text(at) == "typename" { at + 1 } else { at };
            let (target, next) = self.path(from, false);
            let last = next.saturating_sub(1);
            if self.is_word(last) && from < last {
                let id = self.facts.name(self.text(last));
                self.facts.bind(scope, id, BindingValue::Value(target), line);
            }
            if !self.is_sign(next, b',') {
                break;
            }
            at = next + 1;
        }
        self.to_semicolon(at, end)
    }

    /// `typedef a b;`, also with the body of a type.
    fn typedef_item(&mut self, start: usize, at: usize, end: usize) -> usize {
        let mut from = at + 1;
        if matches!(self.text(from), "struct" | "class" | "union" | "enum") {
            from = self.type_item(start, from, end, &[], false).unwrap_or(from + 1);
        }
        let (target, behind) = self.declared_type(from, true);
        let next = self.to_semicolon(from, end);
        let mut name = next.saturating_sub(2);
        // `typedef a (*b)(c);`
        if self.is_sign(name, b')')
            && let Some(open) = (behind..name).find(|open| self.is_sign(*open, b'('))
        {
            name = self.close_of(open).saturating_sub(1);
        }
        if self.is_word(name) && from < name {
            let id = self.facts.name(self.text(name));
            let alias = self.add(DefinitionKind::Alias, id, (start, name), 0);
            self.facts.definition(alias).bases.push(target);
            self.facts.bind(self.facts.scope, id, BindingValue::Definition(alias), self.line(name));
        }
        next
    }

    /// `class a final : b { … } c;`, `enum class a;`. `None` where the keyword belongs to the type of something else.
    pub(super) fn type_item(
        &mut self,
        start: usize,
        keyword: usize,
        end: usize,
        templates: &[(usize, usize)],
        is_friend: bool,
    ) -> Option<usize> {
        let is_enum = self.text(keyword) == "enum";
        let mut at = keyword + 1;
        while at < end {
            match self.text(at) {
                "class" | "struct" if is_enum => at += 1,
                "alignas" | "__attribute__" | "__declspec" => at = self.behind(at + 1),
                "[" => at = self.behind(at),
                _ if self.is_word(at) && self.is_macro_like(at) && self.is_word(at + 1) && self.text(at + 1) != "final" => {
                    at += 1;
                }
                _ if self.is_word(at) && self.is_macro_like(at) && self.is_sign(at + 1, b'(') => at = self.behind(at + 1),
                _ => break,
            }
        }
        let path = at;
        let path_end = if self.is_word(at) { self.path_end(at) } else { at };
        let mut open = path_end;
        if self.text(open) == "final" {
            open += 1;
        }
        let has_bases = self.is_sign(open, b':');
        while has_bases && open < end && !matches!(self.kind(open), Some(Kind::Sign(b'{' | b';'))) {
            let angle = if self.is_sign(open, b'<') { self.angle_end(open) } else { None };
            open = match self.kind(open) {
                Some(Kind::Sign(b'(')) => self.behind(open),
                _ => angle.unwrap_or(open + 1),
            };
        }
        let is_body = self.is_sign(open, b'{');
        if !is_body && !(self.is_sign(open, b';') && path < path_end) {
            return None;
        }
        if is_friend {
            return Some(open + 1);
        }
        // The last part of `a::b<c>`.
        let mut name = path;
        let mut part = path;
        while part < path_end {
            if self.is_word(part) {
                name = part;
            }
            part = if self.is_sign(part, b'<') { self.angle_end(part).unwrap_or(part + 1) } else { part + 1 };
        }
        let is_named = path < path_end;
        let text = if is_named { self.text(name) } else { "" };
        let is_special = name + 1 < path_end;
        let mut flags = if is_body { 0 } else { DefinitionFlags::PROTOTYPE };
        if is_special {
            flags |= DefinitionFlags::STATIC;
        }
        let id = self.facts.name(text);
        let outer = self.qualified_scope(path, name, start);
        let class = self.add(DefinitionKind::Class, id, (start, if is_named { name } else { keyword }), flags);
        if is_named {
            self.facts.bind(self.facts.scope, id, BindingValue::Definition(class), self.line(name));
            if is_special {
                let special = self.special_name(name, path_end);
                self.facts.bind(self.facts.scope, special, BindingValue::Definition(class), self.line(name));
            }
        }
        let around = self.facts.scope;
        self.facts.open_body(class, ScopeKind::Class);
        for (open, close) in templates {
            self.template_parameters(*open, *close);
        }
        if has_bases {
            let bases = self.bases(path_end, open);
            if !is_enum {
                self.facts.definition(class).bases = bases;
            }
        }
        let mut next = open + 1;
        if is_body {
            let close = self.close_of(open);
            self.set_end(class, close);
            if is_enum {
                self.enumerators(open + 1, close, class, around);
            } else {
                self.items(open + 1, close.max(open + 1), Some(text));
            }
            next = close + 1;
        }
        self.facts.scope = outer;
        if is_body && !self.is_sign(next, b';') && next < end && self.text(keyword - usize::from(0 < keyword)) != "typedef" {
            next = self.variables_of(next, end, class);
        }
        Some(next)
    }

    /// `struct { … } a, b;`
    fn variables_of(&mut self, from: usize, end: usize, class: DefinitionId) -> usize {
        let next = self.to_semicolon(from, end);
        let fact = &self.facts.facts.definitions[class as usize];
        let (name, scope) = (fact.name, self.facts.scope);
        let of_type = self.facts.expression(ExpressionFact::Name(name));
        for at in from..next.min(from + 32) {
            if self.is_word(at) && matches!(self.kind(at + 1), Some(Kind::Sign(b',' | b';' | b'[' | b'='))) {
                let id = self.facts.name(self.text(at));
                self.facts.bind(scope, id, BindingValue::Typed(of_type), self.line(at));
            }
        }
        next
    }

    /// `: public a, b<c>`
    fn bases(&mut self, from: usize, end: usize) -> Vec<ExpressionId> {
        let mut bases = Vec::new();
        let mut at = from;
        while at < end {
            let is_path = self.is_word(at) && !matches!(self.text(at), "public" | "private" | "protected" | "virtual" | "final" | "typename");
            if is_path || self.is_colons(at) {
                let (base, next) = self.declared_type(at, true);
                if bases.len() < 32 {
                    bases.push(base);
                }
                at = next.max(at + 1);
            } else {
                at += 1;
            }
        }
        bases
    }

    /// Binds enumerators in the scope of the enumeration, and in the one around it.
    fn enumerators(&mut self, from: usize, end: usize, class: DefinitionId, around: u32) {
        let name = self.facts.facts.definitions[class as usize].name;
        let of_type = self.facts.expression(ExpressionFact::Name(name));
        let mut is_start = true;
        let mut at = from;
        while at < end {
            if is_start && self.is_word(at) && !self.is_macro_like_call(at) {
                let id = self.facts.name(self.text(at));
                for scope in [self.facts.scope, around] {
                    self.facts.bind(scope, id, BindingValue::Typed(of_type), self.line(at));
                }
            }
            is_start = self.is_sign(at, b',');
            if self.is_sign(at, b'=') {
                let next = (at..end).find(|at| self.is_sign(*at, b',')).unwrap_or(end);
                self.walk(at + 1, next, false);
                at = next;
                continue;
            }
            at = if self.is_sign(at, b'(') { self.behind(at) } else { at + 1 };
        }
    }

    fn is_macro_like_call(&self, at: usize) -> bool {
        self.is_sign(at + 1, b'(')
    }

    /// Returns the name of a specialization: that of the template with the arguments as they are written.
    fn special_name(&mut self, name: usize, end: usize) -> NameId {
        let written: String = (name..end.min(name + 64)).map(|at| self.text(at)).collect();
        self.facts.composed_name(&written)
    }

    /// Opens the scope that the qualifiers of a name lead to, if it has some; returns the scope to go back to.
    fn qualified_scope(&mut self, path: usize, name: usize, start: usize) -> u32 {
        let outer = self.facts.scope;
        if name <= path {
            return outer;
        }
        let (base, behind) = self.path_until(path, name, true);
        if behind <= path {
            return outer;
        }
        let last = behind.saturating_sub(1);
        let base = if self.is_word(path) && self.is_sign(path + 1, b'<') && self.angle_end(path + 1) == Some(behind) {
            let special = self.special_name(path, behind);
            self.facts.expression(ExpressionFact::Name(special))
        } else {
            base
        };
        let mut written = String::new();
        let mut at = path;
        while at < behind {
            if self.is_sign(at, b'<') {
                at = self.angle_end(at).unwrap_or(at + 1);
                continue;
            }
            written.push_str(self.text(at));
            at += 1;
        }
        let written = written.trim_start_matches("::").trim_end_matches("::").to_owned();
        let id = self.facts.composed_name(&written);
        let owner = self.add(DefinitionKind::Module, id, (start, last), DefinitionFlags::STATIC);
        self.facts.definition(owner).bases.push(base);
        self.facts.open_body(owner, ScopeKind::Implementation);
        outer
    }

    fn template_parameters(&mut self, open: usize, close: usize) {
        let mut at = open + 1;
        let end = close.saturating_sub(1);
        while at < end {
            // The name is the last word before a comma, a default or the end.
            let mut last = None;
            let mut default = None;
            while at < end && !self.is_sign(at, b',') {
                if self.is_sign(at, b'=') && default.is_none() {
                    default = Some(at + 1);
                }
                if self.is_word(at) && default.is_none() {
                    last = Some(at);
                }
                at = match self.kind(at) {
                    Some(Kind::Sign(b'(' | b'[' | b'{')) => {
                        let next = self.behind(at);
                        self.walk(at + 1, next - 1, false);
                        next
                    }
                    Some(Kind::Sign(b'<')) => self.angle_end(at).unwrap_or(at + 1),
                    Some(Kind::Word) if default.is_some() => self.chain(at).1.max(at + 1),
                    _ => at + 1,
                };
            }
            if let Some(last) = last.filter(|last| !matches!(self.text(*last), "typename" | "class")) {
                let id = self.facts.name(self.text(last));
                self.facts.bind(self.facts.scope, id, BindingValue::Default(0), self.line(last));
            }
            at += 1;
        }
    }

    /// Reads a function or variables; `at` is behind the specifiers.
    fn declaration(&mut self, start: usize, at: usize, end: usize, class: Option<&'t str>, head: &ItemHead) -> usize {
        let (declarator, stop) = self.declarator(at, end);
        let Some(declarator) = declarator else {
            return self.variables(at, stop, end);
        };
        let mut body = None;
        let mut flags = head.flags;
        let mut next = stop;
        match self.kind(stop) {
            Some(Kind::Sign(b'{')) => body = Some(stop),
            Some(Kind::Sign(b':')) => body = self.initializers_end(stop, end),
            Some(Kind::Sign(b'=')) => {
                next = self.to_semicolon(stop, end);
                if self.kind(stop + 1) == Some(Kind::Literal) {
                    flags |= DefinitionFlags::PROTOTYPE;
                }
            }
            _ => {
                flags |= DefinitionFlags::PROTOTYPE;
                next = stop + 1;
            }
        }
        let name = declarator.name;
        if body.is_none() && class.is_none() && !self.looks_like_prototype(at, &declarator) {
            return self.variables(at, declarator.parameters, end);
        }
        let last = body.map_or(next.saturating_sub(1), |body| self.close_of(body));
        let first = if head.templates.is_empty() { at.min(declarator.path.0) } else { start };
        // A macro that stands for the head of a function.
        let is_macro = at == declarator.path.0 && class != Some(self.text(name)) && self.is_macro_like(name) && name == declarator.path.0;
        if is_macro {
            let outer = self.facts.open_scope(ScopeKind::Function, None);
            // What it is called with are names of its own.
            if let Some(body) = body {
                self.walk(body + 1, last.max(body + 1), true);
            }
            self.facts.scope = outer;
            return last + 1;
        }
        let outer = self.qualified_scope(declarator.path.0, self.name_start(name), start);
        let owner = self.constructor_owner(declarator.path.0, name, class);
        let id = self.function_name(name, declarator.parameters);
        let function = self.add(DefinitionKind::Function, id, (first.min(start), name), flags);
        self.set_end(function, last);
        if owner {
            // `A(…)` means the type, and `~A` is not called by its name.
        } else {
            let scope = if head.is_friend { self.namespace_scope() } else { self.facts.scope };
            self.facts.bind(scope, id, BindingValue::Definition(function), self.line(name));
        }
        self.facts.open_body(function, ScopeKind::Function);
        for (open, close) in &head.templates {
            self.template_parameters(*open, *close);
        }
        let was_auto = std::mem::replace(&mut self.is_auto, false);
        self.return_type(function, at, &declarator, stop);
        self.parameters(declarator.parameters, self.close_of(declarator.parameters));
        if self.is_sign(stop, b':')
            && let Some(body) = body
        {
            self.walk(stop + 1, body, false);
        }
        if let Some(body) = body {
            self.walk(body + 1, last.max(body + 1), true);
            next = last + 1;
        }
        self.is_auto = was_auto;
        self.facts.scope = outer;
        next
    }

    fn namespace_scope(&self) -> u32 {
        let mut scope = self.facts.scope;
        while scope != 0 && self.facts.facts.scopes[scope as usize].kind != ScopeKind::Module {
            scope = self.facts.facts.scopes[scope as usize].parent;
        }
        scope
    }

    /// Returns the index of the tilde before a name, or that of the name.
    fn name_start(&self, name: usize) -> usize {
        if 0 < name && self.is_sign(name - 1, b'~') { name - 1 } else { name }
    }

    /// Returns whether a function is a constructor or a destructor.
    fn constructor_owner(&self, path: usize, name: usize, class: Option<&str>) -> bool {
        if 0 < name && self.is_sign(name - 1, b'~') || class == Some(self.text(name)) {
            return true;
        }
        // `A::A`, `A<T>::A`
        let mut before = name.saturating_sub(2);
        if before <= path && !self.is_word(before) || name < path + 3 {
            return false;
        }
        if self.is_sign(before, b'>') {
            before = (path..before).find(|at| self.is_sign(at + 1, b'<')).unwrap_or(before);
        }
        self.is_colons(name.saturating_sub(2)) && {
            let before = name - 3;
            let before = if self.is_sign(before, b'>') {
                (path..before).rev().find(|at| self.is_sign(at + 1, b'<')).unwrap_or(before)
            } else {
                before
            };
            self.text(before) == self.text(name)
        }
    }

    fn function_name(&mut self, name: usize, parameters: usize) -> NameId {
        if 0 < name && self.is_sign(name - 1, b'~') {
            return self.facts.composed_name(&format!("~{}", self.text(name)));
        }
        if self.text(name) == "operator" {
            let mut written = String::from("operator");
            for at in name + 1..parameters {
                if self.is_word(at) && at == name + 1 {
                    written.push(' ');
                }
                written.push_str(self.text(at));
            }
            return self.facts.composed_name(&written);
        }
        self.facts.name(self.text(name))
    }

    /// Returns whether `a b(c)` declares a function and not a variable: whether its parameters look like types.
    fn looks_like_prototype(&self, at: usize, declarator: &Declarator) -> bool {
        if at == declarator.path.0 {
            return false;
        }
        let first = declarator.parameters + 1;
        self.is_sign(first, b')') || self.is_word(first) || self.is_colons(first) || self.is_sign(first, b'.') || self.is_sign(first, b'[')
    }

    /// Finds the declarator of a function, and where its head ends.
    fn declarator(&self, from: usize, end: usize) -> (Option<Declarator>, usize) {
        let (mut found, mut fallback): (Option<Declarator>, Option<Declarator>) = (None, None);
        let mut at = from;
        while at < end {
            match self.tokens[at].kind {
                Kind::Sign(b'(') => {
                    if found.is_none()
                        && let Some(declarator) = self.declarator_before(from, at)
                    {
                        if self.is_macro_like(declarator.name) {
                            fallback = fallback.or(Some(declarator));
                        } else {
                            found = Some(declarator);
                        }
                    }
                    at = self.behind(at);
                }
                Kind::Sign(b'[') => at = self.behind(at),
                Kind::Sign(b'<') if 0 < at && (self.is_word(at - 1) && self.text(at - 1) != "operator") => {
                    at = self.angle_end(at).unwrap_or(at + 1);
                }
                Kind::Sign(b'{' | b';' | b'}') => break,
                Kind::Sign(b'=') => break,
                Kind::Sign(b':') if self.is_colons(at) => at += 2,
                Kind::Sign(b':') if found.is_some() || fallback.is_some() => break,
                Kind::Include | Kind::Define => break,
                Kind::Word if self.text(at) == "operator" && found.is_none() => {
                    let open = self.operator_parameters(at, end);
                    found = Some(Declarator { path: (self.path_start(from, at), open), name: at, parameters: open });
                    at = self.behind(open);
                }
                Kind::Word if self.text(at) == "requires" && found.is_some() => at = self.requires_end(at + 1, end).max(at + 1),
                _ => at += 1,
            }
        }
        (found.or(fallback), at)
    }

    /// Returns the bracket that opens the parameters of an operator.
    fn operator_parameters(&self, at: usize, end: usize) -> usize {
        let mut open = at + 1;
        if self.is_sign(open, b'(') && self.is_sign(open + 1, b')') {
            open += 2;
        }
        while open < end.min(at + 24) && !self.is_sign(open, b'(') {
            open += 1;
        }
        open.min(end.saturating_sub(1))
    }

    fn declarator_before(&self, from: usize, open: usize) -> Option<Declarator> {
        let mut name = open.checked_sub(1).filter(|name| from <= *name)?;
        // `f<int>(`
        if self.is_sign(name, b'>') {
            name = (from..name).rev().take(64).find(|at| self.is_sign(*at, b'<'))?.checked_sub(1)?;
        }
        let is_name = from <= name && self.is_word(name) && !is_keyword(self.text(name));
        is_name.then(|| Declarator { path: (self.path_start(from, name), open), name, parameters: open })
    }

    /// Returns the first token of the qualified name that ends with this one.
    fn path_start(&self, from: usize, name: usize) -> usize {
        let mut at = self.name_start(name).max(from);
        while from + 2 <= at && self.is_colons(at - 2) {
            let mut before = at - 2;
            if from < before && self.is_sign(before - 1, b'>') {
                let mut depth = 0_usize;
                let mut open = before;
                while from < open {
                    open -= 1;
                    match self.tokens[open].kind {
                        Kind::Sign(b'>') => depth += 1,
                        Kind::Sign(b'<') => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                    if depth == 0 || 64 < before - open {
                        break;
                    }
                }
                before = open;
            }
            if before <= from || !self.is_word(before - 1) || is_keyword(self.text(before - 1)) {
                return at - 2;
            }
            at = before - 1;
        }
        at
    }

    /// Returns the brace of the body behind the initializers of a constructor.
    fn initializers_end(&self, colon: usize, end: usize) -> Option<usize> {
        let mut at = colon + 1;
        while at < end {
            match self.tokens[at].kind {
                Kind::Sign(b'(') => at = self.behind(at),
                Kind::Sign(b'{') if self.is_word(at - 1) || self.is_sign(at - 1, b'>') => at = self.behind(at),
                Kind::Sign(b'{') => return Some(at),
                Kind::Sign(b';' | b'}') => return None,
                _ => at += 1,
            }
        }
        None
    }

    fn return_type(&mut self, function: DefinitionId, at: usize, declarator: &Declarator, stop: usize) {
        let close = self.close_of(declarator.parameters);
        let arrow = (close..stop).take(64).find(|at| self.kind(*at) == Some(Kind::Arrow));
        let from = arrow.map_or(at, |arrow| arrow + 1);
        if arrow.is_none() && declarator.path.0 <= at {
            // `operator T()` returns what it converts to.
            if self.text(declarator.name) == "operator" && self.is_word(declarator.name + 1) {
                let (declared, _) = self.declared_type(declarator.name + 1, true);
                self.declare_returned(function, declared);
            }
            return;
        }
        let is_auto = (from..declarator.path.0).take(6).any(|at| self.text(at) == "auto");
        if arrow.is_none() && is_auto {
            self.is_auto = true;
            return;
        }
        let (mut declared, mut next) = self.declared_type(from, true);
        // What was read so far is a macro that stands for specifiers.
        while arrow.is_none() && from < next && next < declarator.path.0 && self.is_word(next) && !is_keyword(self.text(next)) {
            (declared, next) = self.declared_type(next, true);
        }
        self.declare_returned(function, declared);
    }

    fn declare_returned(&mut self, function: DefinitionId, declared: ExpressionId) {
        let fact = self.facts.definition(function);
        fact.returns.push(declared);
        fact.flags.0 |= DefinitionFlags::DECLARED;
    }

    /// Binds parameters to their types.
    pub(super) fn parameters(&mut self, open: usize, close: usize) {
        let mut at = open + 1;
        while at < close {
            let (declared, mut next) = self.declared_type(at, true);
            let mut name = None;
            while next < close && !self.is_sign(next, b',') {
                if self.is_sign(next, b'=') {
                    let end = self.argument_end(next + 1, close);
                    self.walk(next + 1, end, false);
                    next = end;
                    break;
                }
                if self.is_sign(next, b'(') {
                    // `(*name)(…)`, `(&name)[n]`
                    let inner = self.close_of(next).saturating_sub(1);
                    if name.is_none() && self.is_word(inner) && matches!(self.kind(next + 1), Some(Kind::Sign(b'*' | b'&'))) {
                        name = Some(inner);
                    }
                    next = self.behind(next);
                    continue;
                }
                if self.is_word(next) && !is_keyword(self.text(next)) {
                    name = Some(next);
                }
                next = if self.is_sign(next, b'[') || self.is_sign(next, b'{') { self.behind(next) } else { next + 1 };
            }
            if let Some(name) = name {
                let id = self.facts.name(self.text(name));
                let value = if declared == 0 { BindingValue::Value(0) } else { BindingValue::Typed(declared) };
                self.facts.bind(self.facts.scope, id, value, self.line(name));
            }
            at = next.max(at) + 1;
        }
    }

    /// Returns the end of an argument: the comma behind it, or the end of all.
    pub(super) fn argument_end(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && !self.is_sign(at, b',') {
            at = match self.kind(at) {
                Some(Kind::Sign(b'(' | b'[' | b'{')) => self.behind(at),
                Some(Kind::Sign(b'<')) => self.angle_end(at).unwrap_or(at + 1),
                _ => at + 1,
            };
        }
        at.min(end)
    }

    /// Fields, globals: `a b = c, *d{e}, f[g];`
    fn variables(&mut self, at: usize, stop: usize, end: usize) -> usize {
        let next = self.to_semicolon(at, end).max(stop);
        let scope = self.facts.scope;
        let (mut declared, mut at) = self.declared_type(at, true);
        while self.is_word(at) && !is_keyword(self.text(at)) && self.is_word(at + 1) && !is_keyword(self.text(at + 1)) {
            (declared, at) = self.declared_type(at, true);
        }
        if at < next && self.is_word(at) && !is_keyword(self.text(at)) {
            let is_inferred = declared == 0 && self.is_sign(at + 1, b'=');
            let mut read_to = at;
            let value = if is_inferred {
                let (value, behind) = self.value(at + 2);
                read_to = behind;
                BindingValue::Value(if self.is_sign(behind, b';') { value } else { 0 })
            } else if declared == 0 {
                BindingValue::Value(0)
            } else {
                BindingValue::Typed(declared)
            };
            let path = self.path_end(at);
            let name = if at + 1 < path { path - 1 } else { at };
            let id = self.facts.name(self.text(name));
            if name == at {
                self.facts.bind(scope, id, value, self.line(name));
            }
            at = path.max(read_to);
            // The names behind commas.
            let mut comma = at;
            while comma < next {
                if self.is_sign(comma, b',') {
                    let mut other = comma + 1;
                    while matches!(self.kind(other), Some(Kind::Sign(b'*' | b'&'))) {
                        other += 1;
                    }
                    if self.is_word(other) {
                        let id = self.facts.name(self.text(other));
                        self.facts.bind(scope, id, value, self.line(other));
                    }
                }
                comma = match self.kind(comma) {
                    Some(Kind::Sign(b'(' | b'[' | b'{')) => self.behind(comma),
                    _ => comma + 1,
                };
            }
        }
        self.walk(at, next.saturating_sub(usize::from(self.is_sign(next.saturating_sub(1), b';'))), false);
        next
    }
}

/// Returns whether a word is one of the language and no name.
pub(super) fn is_keyword(word: &str) -> bool {
    matches!(
        word,
        "alignas" | "alignof" | "asm" | "auto" | "bool" | "break" | "case" | "catch" | "char" | "char8_t" | "char16_t"
            | "char32_t" | "class" | "concept" | "const" | "consteval" | "constexpr" | "constinit" | "const_cast"
            | "continue" | "co_await" | "co_return" | "co_yield" | "decltype" | "default" | "delete" | "do" | "double"
            | "dynamic_cast" | "else" | "enum" | "explicit" | "export" | "extern" | "false" | "float" | "for" | "friend"
            | "goto" | "if" | "inline" | "int" | "long" | "mutable" | "namespace" | "new" | "noexcept" | "nullptr"
            | "operator" | "private" | "protected" | "public" | "register" | "reinterpret_cast" | "requires" | "return"
            | "short" | "signed" | "sizeof" | "static" | "static_assert" | "static_cast" | "struct" | "switch"
            | "template" | "this" | "thread_local" | "throw" | "true" | "try" | "typedef" | "typeid" | "typename"
            | "union" | "unsigned" | "using" | "virtual" | "void" | "volatile" | "wchar_t" | "while" | "override"
            | "final" | "__attribute__" | "__declspec" | "and" | "or" | "not"
    )
}
