//! C++: qualified names, types, template arguments, and chains of calls and members.

use super::cpp::{CppReader, is_keyword};
use super::tokens::SourceTokenKind as Kind;
use crate::model::{ExpressionFact, ExpressionId, UseFact};
use crate::syntax::facts::builder::MAX_CHAIN;

/// Longer template arguments are read as comparisons.
const MAX_ANGLE: usize = 256;
/// The maximum number of template arguments that are read; further ones do not describe elements.
const MAX_ARGUMENTS: usize = 4;

impl CppReader<'_> {
    /// Returns the index after the closing bracket of the template arguments of a declaration or a type.
    pub(super) fn angle_end(&self, open: usize) -> Option<usize> {
        self.angle_end_in(open, true)
    }

    /// Returns the index after the closing bracket of template arguments; `None` if `<` is a comparison, which is
    /// possible in an expression.
    fn angle_end_in(&self, open: usize, is_declaration: bool) -> Option<usize> {
        let mut depth = 0_usize;
        let mut at = open;
        while at < self.tokens.len().min(open + MAX_ANGLE) {
            let is_next =
                |sign: u8| self.is_sign(at + 1, sign) && self.tokens[at].end == self.tokens[at + 1].start;
            match self.tokens[at].kind {
                // `sizeof(a) >= sizeof(b)`
                Kind::Sign(b'<' | b'>') if open < at && is_declaration && self.compares(at) => {}
                Kind::Sign(b'<') if is_next(b'=') || is_next(b'<') => return None,
                Kind::Sign(b'<') => depth += 1,
                Kind::Sign(b'>') => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                Kind::Sign(b'(' | b'[') => {
                    at = self.group_end(at);
                    continue;
                }
                Kind::Sign(b'.') if !(is_next(b'.') || 0 < at && self.is_sign(at - 1, b'.')) => return None,
                Kind::Sign(b'&' | b'|')
                    if !is_declaration
                        && self.text(at) == self.text(at + 1)
                        && !matches!(self.kind(at + 2), Some(Kind::Sign(b'>' | b',' | b'.'))) =>
                {
                    return None;
                }
                Kind::Sign(b'{' | b'}' | b')' | b']' | b';' | b'?')
                | Kind::Arrow
                | Kind::Include
                | Kind::Define => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Returns whether a sign after a call is a comparison, because another call follows.
    fn compares(&self, at: usize) -> bool {
        let next = if self.is_sign(at + 1, b'=') { at + 2 } else { at + 1 };
        self.is_sign(at - 1, b')') && self.text(next) == "sizeof"
    }

    /// Returns the index after a qualified name in a declaration.
    pub(super) fn path_end(&self, from: usize) -> usize {
        self.path_end_in(from, true)
    }

    pub(super) fn path_end_in(&self, from: usize, is_declaration: bool) -> usize {
        let mut at = if self.is_colons(from) { from + 2 } else { from };
        loop {
            if self.text(at) == "template" {
                at += 1;
            }
            if !self.is_word(at) {
                return at;
            }
            at += 1;
            if self.is_sign(at, b'<') {
                at = self.angle_end_in(at, is_declaration).unwrap_or(at);
            }
            if !(self.is_colons(at) && (self.is_word(at + 2) || self.is_sign(at + 2, b'~'))) {
                return at;
            }
            at += 2;
        }
    }

    /// Reads a qualified name; returns it and the index after it.
    pub(super) fn path(&mut self, from: usize, is_expression: bool) -> (ExpressionId, usize) {
        self.read_path(from, usize::MAX, is_expression)
    }

    /// Reads the qualifiers before the name at `limit`, which are types; returns them and the index after the last one.
    pub(super) fn path_until(&mut self, from: usize, limit: usize) -> (ExpressionId, usize) {
        self.read_path(from, limit, false)
    }

    fn read_path(&mut self, from: usize, limit: usize, is_expression: bool) -> (ExpressionId, usize) {
        let mut at = from;
        let mut read: Option<ExpressionId> = None;
        if self.is_colons(at) {
            let global = self.facts.name("::");
            read = Some(self.facts.expression(ExpressionFact::Name(global)));
            at += 2;
        }
        let mut parts = 0;
        loop {
            if self.text(at) == "template" {
                at += 1;
            }
            if !self.is_word(at) || limit <= at || is_keyword(self.text(at)) {
                return (
                    read.unwrap_or(0),
                    if read.is_some() && parts > 0 && self.is_colons(at.saturating_sub(2)) {
                        at - 2
                    } else {
                        at
                    },
                );
            }
            parts += 1;
            let name = at;
            at += 1;
            let angle = if self.is_sign(at, b'<') { self.angle_end_in(at, !is_expression) } else { None };
            let angle = angle.filter(|end| !is_expression || self.may_follow_arguments(*end));
            let after = angle.unwrap_or(at);
            // A qualifier means only a type or a namespace, whatever else has its name.
            let is_type = !is_expression || self.is_colons(after);
            self.use_name(name, read, is_expression && self.is_sign(after, b'('));
            if let Some(last) = self.facts.facts.uses.last_mut() {
                last.is_type = is_type;
            }
            let text = self.text(name);
            let id =
                if is_type { self.facts.composed_name(&format!("{text}::")) } else { self.facts.name(text) };
            let mut expression = match read {
                Some(outer) => self.facts.expression(ExpressionFact::Member(outer, id)),
                None => self.facts.expression(ExpressionFact::Name(id)),
            };
            if let Some(end) = angle {
                for argument in self.template_arguments(at, end - 1) {
                    expression = self.facts.expression(ExpressionFact::Apply(expression, argument));
                }
            }
            at = after;
            read = Some(if parts < MAX_CHAIN { expression } else { 0 });
            let is_more = self.is_colons(at)
                && (self.is_word(at + 2) || self.is_sign(at + 2, b'~'))
                && at + 2 < limit.saturating_add(1);
            if !is_more || limit <= at + 2 {
                return (read.unwrap_or(0), at);
            }
            at += 2;
        }
    }

    /// Returns whether the following token makes `a < b >` template arguments in an expression.
    fn may_follow_arguments(&self, at: usize) -> bool {
        matches!(
            self.kind(at),
            Some(Kind::Sign(b'(' | b'{' | b')' | b',' | b';' | b'>' | b'&' | b'*' | b'.'))
        ) || self.is_colons(at)
    }

    fn template_arguments(&mut self, open: usize, close: usize) -> Vec<ExpressionId> {
        let mut arguments = Vec::new();
        if super::cpp::MAX_DEPTH <= self.depth {
            return arguments;
        }
        self.depth += 1;
        let mut at = open + 1;
        while at < close {
            let end = self.argument_end(at, close);
            let (argument, next) = self.declared_type(at);
            if arguments.len() < MAX_ARGUMENTS {
                arguments.push(argument);
            }
            self.walk(next.max(at).min(end), end, false);
            at = end + 1;
        }
        self.depth -= 1;
        arguments
    }

    pub(super) fn use_name(&mut self, at: usize, receiver: Option<ExpressionId>, is_call: bool) {
        let text = self.text(at);
        if is_keyword(text) {
            return;
        }
        let name = self.facts.name(text);
        let usage = UseFact::new(name, self.line(at), self.facts.scope);
        self.facts.facts.uses.push(UseFact { receiver, is_call, ..usage });
    }

    /// Reads a type with its qualifiers, pointers and references; returns it and the index after it. A type that is
    /// left to the compiler is unknown.
    pub(super) fn declared_type(&mut self, from: usize) -> (ExpressionId, usize) {
        let mut at = from;
        let mut found: Option<ExpressionId> = None;
        while at < self.tokens.len() {
            match self.text(at) {
                "const" | "volatile" | "typename" | "struct" | "class" | "enum" | "union" | "constexpr"
                | "static" | "inline" | "mutable" | "virtual" | "friend" | "extern" | "register"
                | "thread_local" | "explicit" | "constinit" | "consteval" => at += 1,
                "unsigned" | "signed" | "long" | "short" | "int" | "char" | "bool" | "float" | "double"
                | "void" | "wchar_t" | "char8_t" | "char16_t" | "char32_t" => {
                    found = Some(self.facts.expression(ExpressionFact::Literal));
                    at += 1;
                }
                "auto" => {
                    found = Some(0);
                    at += 1;
                }
                "decltype" if self.is_sign(at + 1, b'(') => {
                    let next = self.group_end(at + 1);
                    self.walk(at + 2, next - 1, false);
                    found = Some(0);
                    at = next;
                }
                "[" if self.is_sign(at + 1, b'[') => at = self.group_end(at),
                "*" | "&" if found.is_some() => at += 1,
                "." if self.is_sign(at + 1, b'.') => at += 3,
                text if found.is_none() && (self.is_word(at) && !is_keyword(text) || self.is_colons(at)) => {
                    if let Some(next) = self.specifier_end(at) {
                        at = next;
                        continue;
                    }
                    let (path, next) = self.path(at, false);
                    found = Some(path);
                    at = next.max(at + 1);
                }
                _ => break,
            }
        }
        (found.unwrap_or(0), at)
    }

    /// Returns the index after a macro that expands to a specifier.
    fn specifier_end(&self, at: usize) -> Option<usize> {
        if !self.is_word(at) || !self.is_macro_like(at) {
            return None;
        }
        if self.is_sign(at + 1, b'(') {
            let next = self.group_end(at + 1);
            return self.is_word(next).then_some(next);
        }
        // `MACRO type name` against `TYPE name`
        let is_type = matches!(
            self.kind(at + 2),
            Some(Kind::Sign(b'=' | b';' | b',' | b')' | b'[' | b'(' | b'{' | b':'))
        ) && !self.is_colons(at + 2);
        (self.is_word(at + 1) && (!is_type || is_keyword(self.text(at + 1)))).then_some(at + 1)
    }

    /// Reads the value at the beginning of an expression; returns it and the index after it.
    pub(super) fn value(&mut self, at: usize) -> (ExpressionId, usize) {
        match self.kind(at) {
            Some(Kind::Sign(b'*')) => {
                let (pointer, next) = self.chain(at + 1);
                (self.facts.expression(ExpressionFact::Inner(pointer)), next)
            }
            Some(Kind::Sign(b'&')) => self.chain(at + 1),
            Some(Kind::Literal) => (self.facts.expression(ExpressionFact::Literal), at + 1),
            _ => self.chain(at),
        }
    }

    /// Reads a name or a value and the calls, subscripts and member accesses on it; records the uses.
    pub(super) fn chain(&mut self, from: usize) -> (ExpressionId, usize) {
        let (mut expression, mut at) = self.primary(from);
        if at <= from {
            return (0, at);
        }
        let mut length = 0;
        loop {
            length += 1;
            if MAX_CHAIN < length {
                expression = 0;
            }
            match self.kind(at) {
                Some(Kind::Sign(b'.') | Kind::Arrow) => {
                    let is_arrow = self.kind(at) == Some(Kind::Arrow);
                    let mut name = at + 1;
                    if self.text(name) == "template" {
                        name += 1;
                    }
                    if !self.is_word(name) || is_keyword(self.text(name)) {
                        return (0, at + 1);
                    }
                    if is_arrow {
                        expression = self.facts.expression(ExpressionFact::Inner(expression));
                    }
                    let mut next = name + 1;
                    let angle = if self.is_sign(next, b'<') { self.angle_end_in(next, false) } else { None };
                    // `this->Base::f()`
                    if self.is_colons(angle.unwrap_or(next)) {
                        (expression, at) = self.path(name, true);
                        continue;
                    }
                    if let Some(end) = angle.filter(|end| self.is_sign(*end, b'(')) {
                        self.template_arguments(next, end - 1);
                        next = end;
                    }
                    self.use_name(name, Some(expression), self.is_sign(next, b'('));
                    let id = self.facts.name(self.text(name));
                    expression = self.facts.expression(ExpressionFact::Member(expression, id));
                    at = next;
                }
                Some(Kind::Sign(b'(')) => {
                    let next = self.group_end(at);
                    self.walk(at + 1, next - 1, false);
                    expression = self.facts.expression(ExpressionFact::Call(expression));
                    at = next;
                }
                Some(Kind::Sign(b'[')) => {
                    let next = self.group_end(at);
                    self.walk(at + 1, next - 1, false);
                    expression = self.facts.expression(ExpressionFact::Item(expression));
                    at = next;
                }
                _ => return (expression, at),
            }
        }
    }

    /// Returns whether a cast `(a*) b` or `(a&) b` begins here.
    fn is_cast(&self, open: usize) -> bool {
        let next = self.group_end(open);
        let is_value = self.is_sign(next, b'(')
            || self.text(next) == "this"
            || self.is_word(next) && !is_keyword(self.text(next));
        is_value
            && (self.is_word(open + 1) || self.is_colons(open + 1))
            && matches!(self.kind(next.saturating_sub(2)), Some(Kind::Sign(b'*' | b'&')))
    }

    fn primary(&mut self, at: usize) -> (ExpressionId, usize) {
        match self.text(at) {
            "this" => (self.facts.expression(ExpressionFact::Receiver), at + 1),
            "static_cast" | "dynamic_cast" | "const_cast" | "reinterpret_cast"
                if self.is_sign(at + 1, b'<') =>
            {
                let (declared, next) = self.declared_type(at + 2);
                let next = self.angle_end(at + 1).unwrap_or(next);
                let value = self.facts.expression(ExpressionFact::Instance(declared));
                let end = if self.is_sign(next, b'(') { self.group_end(next) } else { next };
                self.walk(next + 1, end.saturating_sub(1), false);
                (value, end)
            }
            "new" => {
                let from = if self.is_sign(at + 1, b'(') { self.group_end(at + 1) } else { at + 1 };
                let (declared, next) = self.declared_type(from);
                let value = self.facts.expression(ExpressionFact::Instance(declared));
                let end = match self.kind(next) {
                    Some(Kind::Sign(b'(' | b'{')) => self.group_end(next),
                    _ => next,
                };
                self.walk(next + 1, end.saturating_sub(1), false);
                (value, end)
            }
            "(" if self.is_cast(at) => {
                let (declared, _) = self.declared_type(at + 1);
                let value = self.facts.expression(ExpressionFact::Instance(declared));
                (value, self.value(self.group_end(at)).1.max(self.group_end(at)))
            }
            "(" => {
                let close = self.close_of(at);
                let (inner, next) = self.value(at + 1);
                self.walk(next.clamp(at + 1, close.max(at + 1)), close.max(at + 1), false);
                (if next == close { inner } else { 0 }, close + 1)
            }
            // A moved value keeps its type.
            "std" if self.is_colons(at + 1) && self.text(at + 3) == "move" && self.is_sign(at + 4, b'(') => {
                self.primary(at + 4)
            }
            text if self.is_colons(at) || self.is_word(at) && !is_keyword(text) => {
                let (path, next) = self.path(at, true);
                if self.is_sign(next, b'{') && !self.is_macro_like(next.saturating_sub(1)) {
                    let end = self.group_end(next);
                    self.walk(next + 1, end - 1, false);
                    return (self.facts.expression(ExpressionFact::Instance(path)), end);
                }
                (path, next)
            }
            _ => (0, at),
        }
    }
}
