//! C++: namespaces, types, enumerations, aliases and template parameters.

use super::cpp::{CppReader, ItemHead};
use super::tokens::SourceTokenKind as Kind;
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId, NameId,
    ScopeKind,
};

/// The positions of the parts of a type's head.
struct TypeHead {
    path: usize,
    path_end: usize,
    /// The last part of the path.
    name: usize,
    /// The opening brace of the body, or the semicolon.
    open: usize,
    has_bases: bool,
    is_body: bool,
}

impl CppReader<'_> {
    /// `namespace a::b { … }`, `namespace a = b;`
    pub(super) fn namespace(&mut self, start: usize, at: usize, end: usize, head: &ItemHead) -> usize {
        let mut open = at + 1;
        let mut names = Vec::new();
        while open < end && !matches!(self.kind(open), Some(Kind::Sign(b'{' | b';' | b'='))) {
            if self.is_sign(open, b'[') || self.is_sign(open, b'(') {
                open = self.group_end(open);
                continue;
            }
            if self.is_word(open)
                && self.text(open) != "inline"
                && !(self.is_macro_like(open) && self.is_word(open + 1))
            {
                names.push((open, head.is_inline || self.text(open - 1) == "inline"));
            }
            open += 1;
        }
        if self.is_sign(open, b'=')
            && let Some((name, _)) = names.first()
        {
            let (target, next) = self.path(open + 1, false);
            let id = self.facts.name(self.text(*name));
            self.facts.bind(self.facts.scope, id, BindingValue::Value(target), self.line(*name));
            return next;
        }
        if !self.is_sign(open, b'{') {
            return open + 1;
        }
        let outer = self.facts.scope;
        let close = self.close_of(open);
        let is_unnamed = names.is_empty();
        if is_unnamed {
            names.push((at, true));
        }
        for (name, is_inline) in names {
            let text = if is_unnamed { "" } else { self.text(name) };
            let flags = if is_inline { DefinitionFlags::STATIC } else { 0 }
                | if is_unnamed { DefinitionFlags::PRIVATE } else { 0 };
            let id = self.facts.name(text);
            let module = self.add(DefinitionKind::Module, id, start, name, flags);
            self.set_end(module, close);
            self.facts.bind(self.facts.scope, id, BindingValue::Definition(module), self.line(name));
            self.facts.open_body(module, ScopeKind::Module);
        }
        let is_hidden = self.is_hidden || is_unnamed;
        let was_hidden = std::mem::replace(&mut self.is_hidden, is_hidden);
        self.items(open + 1, close.max(open + 1), None);
        self.is_hidden = was_hidden;
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
            equals = self.group_end(equals);
        }
        if self.is_word(name) && self.is_sign(equals, b'=') {
            let id = self.facts.name(self.text(name));
            let alias = self.add(DefinitionKind::Alias, id, start, name, 0);
            self.facts.bind(scope, id, BindingValue::Definition(alias), line);
            let (target, _) = self.declared_type(equals + 1);
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
    pub(super) fn typedef_item(&mut self, start: usize, at: usize, end: usize) -> usize {
        let mut from = at + 1;
        if matches!(self.text(from), "struct" | "class" | "union" | "enum") {
            from = self.type_item(start, from, end, &[], false).unwrap_or(from + 1);
        }
        let (target, after) = self.declared_type(from);
        let next = self.to_semicolon(from, end);
        let mut name = next.saturating_sub(2);
        // `typedef a (*b)(c);`
        if self.is_sign(name, b')')
            && let Some(open) = (after..name).find(|open| self.is_sign(*open, b'('))
        {
            name = self.close_of(open).saturating_sub(1);
        }
        if self.is_word(name) && from < name {
            let id = self.facts.name(self.text(name));
            let alias = self.add(DefinitionKind::Alias, id, start, name, 0);
            self.facts.definition(alias).bases.push(target);
            self.facts.bind(self.facts.scope, id, BindingValue::Definition(alias), self.line(name));
        }
        next
    }

    /// `class a final : b { … } c;`, `enum class a;`. `None` if the keyword belongs to the type of another declaration.
    pub(super) fn type_item(
        &mut self,
        start: usize,
        keyword: usize,
        end: usize,
        templates: &[(usize, usize)],
        is_friend: bool,
    ) -> Option<usize> {
        let head = self.type_head(keyword, end)?;
        let TypeHead { path, path_end, name, open, has_bases, is_body } = head;
        if is_friend {
            return Some(open + 1);
        }
        let is_enum = self.text(keyword) == "enum";
        let is_named = path < path_end;
        let text = if is_named { self.text(name) } else { "" };
        let after = if is_body { self.group_end(open) } else { open + 1 };
        if !is_named && !is_enum && self.is_sign(after, b';') {
            // The members of an unnamed type without a variable belong to the enclosing scope.
            self.items(open + 1, self.close_of(open).max(open + 1), Some(text));
            return Some(after);
        }
        let is_special = name + 1 < path_end;
        let mut flags = if is_body { 0 } else { DefinitionFlags::PROTOTYPE };
        if is_special {
            flags |= DefinitionFlags::STATIC;
        }
        let id = self.facts.name(text);
        let outer = self.qualified_scope(path, name, start);
        let class = self.add(DefinitionKind::Class, id, start, if is_named { name } else { keyword }, flags);
        let known_as = if is_named { id } else { self.facts.composed_name(&format!("(unnamed) {keyword}")) };
        self.facts.bind(self.facts.scope, known_as, BindingValue::Definition(class), self.line(name));
        if is_special {
            let special = self.special_name(name, path_end);
            self.facts.bind(self.facts.scope, special, BindingValue::Definition(class), self.line(name));
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
        if is_body
            && !self.is_sign(next, b';')
            && next < end
            && self.text(keyword - usize::from(0 < keyword)) != "typedef"
        {
            next = self.variables_of(next, end, known_as);
        }
        Some(next)
    }

    /// Reads the head of a type, up to its body or a semicolon.
    fn type_head(&self, keyword: usize, end: usize) -> Option<TypeHead> {
        let is_enum = self.text(keyword) == "enum";
        let mut path = keyword + 1;
        while path < end {
            let is_macro = self.is_word(path) && self.is_macro_like(path);
            path = match self.text(path) {
                "class" | "struct" if is_enum => path + 1,
                "alignas" | "__attribute__" | "__declspec" => self.group_end(path + 1),
                "[" => self.group_end(path),
                _ if is_macro && self.is_sign(path + 1, b'[') => path + 1,
                _ if is_macro && self.is_word(path + 1) && self.text(path + 1) != "final" => path + 1,
                _ if is_macro && self.is_sign(path + 1, b'(') => self.group_end(path + 1),
                _ => break,
            };
        }
        let path_end = if self.is_word(path) { self.path_end(path) } else { path };
        let mut open = if self.text(path_end) == "final" { path_end + 1 } else { path_end };
        let has_bases = self.is_sign(open, b':');
        while has_bases && open < end && !matches!(self.kind(open), Some(Kind::Sign(b'{' | b';'))) {
            let angle = if self.is_sign(open, b'<') { self.angle_end(open) } else { None };
            open = match self.kind(open) {
                Some(Kind::Sign(b'(')) => self.group_end(open),
                _ => angle.unwrap_or(open + 1),
            };
        }
        let is_body = self.is_sign(open, b'{');
        if !(is_body || self.is_sign(open, b';') && path < path_end) {
            return None;
        }
        // The last part of `a::b<c>`.
        let (mut name, mut part) = (path, path);
        while part < path_end {
            if self.is_word(part) {
                name = part;
            }
            part = if self.is_sign(part, b'<') { self.angle_end(part).unwrap_or(part + 1) } else { part + 1 };
        }
        Some(TypeHead { path, path_end, name, open, has_bases, is_body })
    }

    /// `struct { … } a, b;`
    fn variables_of(&mut self, from: usize, end: usize, class: NameId) -> usize {
        let next = self.to_semicolon(from, end);
        let scope = self.facts.scope;
        let of_type = self.facts.expression(ExpressionFact::Name(class));
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
            let is_path = self.is_word(at)
                && !matches!(
                    self.text(at),
                    "public" | "private" | "protected" | "virtual" | "final" | "typename"
                );
            if is_path || self.is_colons(at) {
                let (base, next) = self.declared_type(at);
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

    /// Binds enumerators in the scope of the enumeration, and in the enclosing one.
    fn enumerators(&mut self, from: usize, end: usize, class: DefinitionId, around: u32) {
        let name = self.facts.facts.definitions[class as usize].name;
        let of_type = self.facts.expression(ExpressionFact::Name(name));
        let mut is_start = true;
        let mut at = from;
        while at < end {
            if is_start && self.is_word(at) && !self.is_sign(at + 1, b'(') {
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
            at = if self.is_sign(at, b'(') { self.group_end(at) } else { at + 1 };
        }
    }

    /// Returns the name of a specialization: that of the template with the arguments as written.
    fn special_name(&mut self, name: usize, end: usize) -> NameId {
        let written: String = (name..end.min(name + 64)).map(|at| self.text(at)).collect();
        self.facts.composed_name(&written)
    }

    /// Opens the scope of the qualifiers of a name, if it has any; returns the scope to go back to.
    pub(super) fn qualified_scope(&mut self, path: usize, name: usize, start: usize) -> u32 {
        let outer = self.facts.scope;
        if name <= path {
            return outer;
        }
        let (base, after) = self.path_until(path, name);
        if after <= path {
            return outer;
        }
        let last = after.saturating_sub(1);
        let base = if self.is_word(path)
            && self.is_sign(path + 1, b'<')
            && self.angle_end(path + 1) == Some(after)
        {
            let special = self.special_name(path, after);
            self.facts.expression(ExpressionFact::Name(special))
        } else {
            base
        };
        let mut written = String::new();
        let mut at = path;
        while at < after {
            if self.is_sign(at, b'<') {
                at = self.angle_end(at).unwrap_or(at + 1);
                continue;
            }
            written.push_str(self.text(at));
            at += 1;
        }
        let written = written.trim_start_matches("::").trim_end_matches("::").replace("::", ".");
        let id = self.facts.composed_name(&written);
        let flags = DefinitionFlags::STATIC | DefinitionFlags::PROTOTYPE;
        let owner = self.add(DefinitionKind::Module, id, start, last, flags);
        self.facts.definition(owner).bases.push(base);
        self.facts.open_body(owner, ScopeKind::Implementation);
        outer
    }

    pub(super) fn template_parameters(&mut self, open: usize, close: usize) {
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
                        let next = self.group_end(at);
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
}
