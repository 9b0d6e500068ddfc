//! C++: the declarators of functions and variables, parameters and return types.

use super::cpp::{CppReader, ItemHead, is_keyword};
use super::tokens::SourceTokenKind as Kind;
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId,
    IMPLEMENTED_TYPE, NameId, ScopeKind,
};
use crate::syntax::preprocess::macro_function;

/// The declarator of a function or a variable.
struct Declarator {
    /// The range of its name in tokens, including qualifiers.
    path: (usize, usize),
    /// The last part of the name; for an operator, the word `operator`.
    name: usize,
    /// The opening bracket of the parameters.
    parameters: usize,
}

impl<'t> CppReader<'t> {
    /// Reads a function or variables; `at` is after the specifiers.
    pub(super) fn declaration(
        &mut self,
        start: usize,
        at: usize,
        end: usize,
        class: Option<&'t str>,
        head: &ItemHead,
    ) -> usize {
        let (declarator, stop) = self.declarator(at, end);
        let is_cut = matches!(self.kind(stop), Some(Kind::Include | Kind::Define));
        let Some(declarator) = declarator else {
            return self.variables(at, stop, if is_cut { stop } else { end });
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
                next = if is_cut { stop } else { stop + 1 };
            }
        }
        let name = declarator.name;
        let is_variable = class.is_none() && !self.looks_like_prototype(at, &declarator)
            || self.is_annotation(at, &declarator);
        if body.is_none() && is_variable {
            return self.variables(at, declarator.parameters, end);
        }
        let last = body.map_or(next, |body| self.handlers_end(self.group_end(body))).saturating_sub(1);
        let first = if head.templates.is_empty() { at.min(declarator.path.0) } else { start };
        // A macro that expands to the head of a function.
        let is_macro = at == declarator.path.0
            && class != Some(self.text(name))
            && self.is_macro_like(name)
            && name == declarator.path.0;
        if is_macro {
            self.function_of_macro(&declarator, body, last);
            return last + 1;
        }
        let outer = self.qualified_scope(declarator.path.0, self.name_start(name), start);
        let is_constructor = self.constructor_owner(declarator.path.0, name, class);
        let id = self.function_name(name, declarator.parameters);
        let function = self.add(DefinitionKind::Function, id, first.min(start), name, flags);
        self.set_end(function, last);
        // `A(…)` means the type, and `~A` is not called by its name.
        if !is_constructor {
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
            // The body of a function-try-block is a block before its handlers.
            let is_whole = self.close_of(body) == last;
            self.walk(body + usize::from(is_whole), last.max(body + 1), true);
            next = last + 1;
        }
        self.is_auto = was_auto;
        self.facts.scope = outer;
        next
    }

    /// Returns the index after the `catch` handlers of a function-try-block.
    fn handlers_end(&self, mut end: usize) -> usize {
        while self.text(end) == "catch" && self.is_sign(end + 1, b'(') {
            let open = self.group_end(end + 1);
            if !self.is_sign(open, b'{') {
                break;
            }
            end = self.group_end(open);
        }
        end
    }

    /// Reads a function whose head is a macro. It may be a method of a type that is derived from the first argument, as
    /// in `TEST_F(Fixture, name) {}`, which is called by no name.
    fn function_of_macro(&mut self, declarator: &Declarator, body: Option<usize>, last: usize) {
        let argument = declarator.parameters + 1;
        let arguments: Vec<&str> = (argument..self.close_of(declarator.parameters))
            .filter(|at| self.is_word(*at))
            .map(|at| self.text(at))
            .take(2)
            .collect();
        let has_title = self.kind(argument) == Some(Kind::Literal);
        let name = macro_function(self.text(declarator.name), &arguments);
        // Macros of other names may define anything.
        let name = name.filter(|name| name.contains('.') && !has_title && body.is_some());
        let function = name.map(|name| {
            let id = self.facts.composed_name(&name);
            let function = self.add(DefinitionKind::Function, id, declarator.name, declarator.name, 0);
            self.set_end(function, last);
            function
        });
        let outer = self.facts.open_scope(ScopeKind::Implementation, None);
        if self.is_word(argument) && matches!(self.kind(argument + 1), Some(Kind::Sign(b',' | b')'))) {
            let base = self.facts.composed_name(&format!("{}::", self.text(argument)));
            let base = self.facts.expression(ExpressionFact::Name(base));
            let id = self.facts.name(IMPLEMENTED_TYPE);
            self.facts.bind(self.facts.scope, id, BindingValue::Value(base), self.line(argument));
        }
        match function {
            Some(function) => self.facts.open_body(function, ScopeKind::Function),
            None => self.facts.open_scope(ScopeKind::Function, None),
        };
        if let Some(body) = body {
            self.walk(body + 1, last.max(body + 1), true);
        }
        self.facts.scope = outer;
    }

    fn namespace_scope(&self) -> u32 {
        let mut scope = self.facts.scope;
        while scope != 0 && self.facts.facts.scopes[scope as usize].kind != ScopeKind::Module {
            scope = self.facts.facts.scopes[scope as usize].parent;
        }
        scope
    }

    /// Returns the index of the tilde before a name, or that of the name.
    pub(super) fn name_start(&self, name: usize) -> usize {
        if 0 < name && self.is_sign(name - 1, b'~') { name - 1 } else { name }
    }

    /// Returns whether a function is a constructor or a destructor.
    fn constructor_owner(&self, path: usize, name: usize, class: Option<&str>) -> bool {
        if 0 < name && self.is_sign(name - 1, b'~') || class == Some(self.text(name)) {
            return true;
        }
        // `A::A`, `A<T>::A`
        if name < path + 3 || !self.is_colons(name - 2) {
            return false;
        }
        let mut before = name - 3;
        if self.is_sign(before, b'>') {
            before = (path..before).rev().find(|at| self.is_sign(at + 1, b'<')).unwrap_or(before);
        }
        self.text(before) == self.text(name)
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

    /// Returns whether `a b(c)` declares a function rather than a variable: whether its parameters look like types.
    fn looks_like_prototype(&self, at: usize, declarator: &Declarator) -> bool {
        if at == declarator.path.0 {
            return false;
        }
        let first = declarator.parameters + 1;
        self.is_sign(first, b')')
            || self.is_word(first)
            || self.is_colons(first)
            || self.is_sign(first, b'.')
            || self.is_sign(first, b'[')
    }

    /// Returns whether a macro annotates a variable, as in `a b MACRO(c);`.
    fn is_annotation(&self, at: usize, declarator: &Declarator) -> bool {
        let name = declarator.name;
        if name < at + 2 || name != declarator.path.0 || !self.is_macro_like(name) {
            return false;
        }
        // `a* const b`
        let is_const = at + 2 < name && self.text(name - 2) == "const";
        let before = name - 2 - usize::from(is_const);
        let is_typed = match self.kind(before) {
            Some(Kind::Sign(b'*' | b'&' | b'>')) => true,
            Some(Kind::Word) => !is_const && !is_keyword(self.text(before)),
            _ => false,
        };
        is_typed && self.is_word(name - 1) && !is_keyword(self.text(name - 1))
    }

    /// Finds the declarator of a function, and the end of its head.
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
                    at = self.group_end(at);
                }
                Kind::Sign(b'[') => at = self.group_end(at),
                Kind::Sign(b'<') if 0 < at && (self.is_word(at - 1) && self.text(at - 1) != "operator") => {
                    at = self.angle_end(at).unwrap_or(at + 1);
                }
                Kind::Sign(b'{' | b';' | b'}' | b'=') | Kind::Include | Kind::Define => break,
                Kind::Sign(b':') if self.is_colons(at) => at += 2,
                Kind::Sign(b':') if found.is_some() || fallback.is_some() => break,
                Kind::Word if self.text(at) == "operator" && found.is_none() => {
                    let open = self.operator_parameters(at, end);
                    found = Some(Declarator {
                        path: (self.path_start(from, at), open),
                        name: at,
                        parameters: open,
                    });
                    at = self.group_end(open);
                }
                Kind::Word if self.text(at) == "requires" && found.is_some() => {
                    at = self.requires_end(at + 1, end).max(at + 1);
                }
                _ => at += 1,
            }
        }
        (found.or(fallback), at)
    }

    /// Returns the opening bracket of an operator's parameters.
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

    /// Returns the opening brace of the body after the initializers of a constructor.
    fn initializers_end(&self, colon: usize, end: usize) -> Option<usize> {
        let mut at = colon + 1;
        while at < end {
            match self.tokens[at].kind {
                Kind::Sign(b'(') => at = self.group_end(at),
                Kind::Sign(b'{') if self.is_word(at - 1) || self.is_sign(at - 1, b'>') => {
                    at = self.group_end(at);
                }
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
            // `operator T()` returns the type that it converts to.
            if self.text(declarator.name) == "operator" && self.is_word(declarator.name + 1) {
                let (declared, _) = self.declared_type(declarator.name + 1);
                self.declare_returned(function, declared);
            }
            return;
        }
        let is_auto = (from..declarator.path.0).take(6).any(|at| self.text(at) == "auto");
        if arrow.is_none() && is_auto {
            self.is_auto = true;
            return;
        }
        let (mut declared, mut next) = self.declared_type(from);
        // What was read so far is a macro that expands to specifiers.
        while arrow.is_none()
            && from < next
            && next < declarator.path.0
            && self.is_word(next)
            && !is_keyword(self.text(next))
        {
            (declared, next) = self.declared_type(next);
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
            let (declared, mut next) = self.declared_type(at);
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
                    if name.is_none()
                        && self.is_word(inner)
                        && matches!(self.kind(next + 1), Some(Kind::Sign(b'*' | b'&')))
                    {
                        name = Some(inner);
                    }
                    next = self.group_end(next);
                    continue;
                }
                if self.is_word(next) && !is_keyword(self.text(next)) {
                    name = Some(next);
                }
                next = if self.is_sign(next, b'[') || self.is_sign(next, b'{') {
                    self.group_end(next)
                } else {
                    next + 1
                };
            }
            if let Some(name) = name {
                let id = self.facts.name(self.text(name));
                let value =
                    if declared == 0 { BindingValue::Value(0) } else { BindingValue::Typed(declared) };
                self.facts.bind(self.facts.scope, id, value, self.line(name));
            }
            at = next.max(at) + 1;
        }
    }

    /// Returns the end of an argument: the comma after it, or the end of all arguments.
    pub(super) fn argument_end(&self, from: usize, end: usize) -> usize {
        let mut at = from;
        while at < end && !self.is_sign(at, b',') {
            at = match self.kind(at) {
                Some(Kind::Sign(b'(' | b'[' | b'{')) => self.group_end(at),
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
        let (mut declared, mut at) = self.declared_type(at);
        while self.is_word(at)
            && !is_keyword(self.text(at))
            && self.is_word(at + 1)
            && !is_keyword(self.text(at + 1))
            && !(self.is_macro_like(at + 1) && self.is_sign(at + 2, b'('))
        {
            (declared, at) = self.declared_type(at);
        }
        if at < next && self.is_word(at) && !is_keyword(self.text(at)) {
            let is_inferred = declared == 0 && self.is_sign(at + 1, b'=');
            let mut read_to = at;
            let value = if is_inferred {
                let (value, after) = self.value(at + 2);
                read_to = after;
                BindingValue::Value(if self.is_sign(after, b';') { value } else { 0 })
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
            // The names after commas.
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
                    Some(Kind::Sign(b'(' | b'[' | b'{')) => self.group_end(comma),
                    _ => comma + 1,
                };
            }
        }
        self.walk(at, next.saturating_sub(usize::from(self.is_sign(next.saturating_sub(1), b';'))), false);
        next
    }
}
