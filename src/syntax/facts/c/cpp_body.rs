//! C++: statements and expressions: blocks, locals with their types, lambdas, uses.

use super::cpp::{CppReader, MAX_DEPTH, is_keyword};
use super::tokens::SourceTokenKind as Kind;
use crate::model::{BindingValue, DefinitionFlags, ExpressionFact, ExpressionId, LOOP_ELEMENT, ScopeKind};

/// The maximum number of `return`s that are read of a function.
const MAX_RETURNS: usize = 8;

/// What is open while tokens are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenBlock {
    /// Braces.
    Braces,
    /// A statement with a head, such as `for`, that ends with its block or at a semicolon.
    Statement,
}

/// The state of reading a range of tokens.
struct BodyWalk {
    open: Vec<(u32, OpenBlock)>,
    /// Whether a statement begins here.
    is_start: bool,
    /// The end of the parentheses of the current head, within which semicolons end no statement.
    head_end: usize,
    is_case: bool,
    /// The type of the current declaration, for the names after its commas.
    declared: Option<ExpressionId>,
}

impl CppReader<'_> {
    /// Reads statements, or expressions separated by commas.
    pub(super) fn walk(&mut self, from: usize, end: usize, is_start: bool) {
        if MAX_DEPTH <= self.depth || end <= from {
            return;
        }
        self.depth += 1;
        let outer = self.facts.scope;
        let mut walk = BodyWalk { open: Vec::new(), is_start, head_end: 0, is_case: false, declared: None };
        let mut at = from;
        while at < end {
            at = self.step(&mut walk, at, end).max(at + 1);
        }
        self.facts.scope = outer;
        self.depth -= 1;
    }

    fn open_block(&mut self, walk: &mut BodyWalk, kind: OpenBlock) {
        // Blocks nested too deeply share one scope.
        if walk.open.len() < MAX_DEPTH {
            let outer = self.facts.open_scope(ScopeKind::Block, None);
            walk.open.push((outer, kind));
        }
    }

    fn close_statements(&mut self, walk: &mut BodyWalk) {
        while let Some((outer, OpenBlock::Statement)) = walk.open.last().copied() {
            self.facts.scope = outer;
            walk.open.pop();
        }
    }

    fn step(&mut self, walk: &mut BodyWalk, at: usize, end: usize) -> usize {
        let was_start = std::mem::replace(&mut walk.is_start, false);
        match self.tokens[at].kind {
            Kind::Include | Kind::Define => {
                walk.is_start = was_start;
                self.preprocessor(at)
            }
            Kind::Sign(b'{') => {
                self.open_block(walk, OpenBlock::Braces);
                walk.is_start = true;
                walk.declared = None;
                at + 1
            }
            Kind::Sign(b'}') => {
                if walk.open.iter().any(|(_, kind)| *kind == OpenBlock::Braces) {
                    self.close_statements(walk);
                    if let Some((outer, _)) = walk.open.pop() {
                        self.facts.scope = outer;
                    }
                }
                if self.text(at + 1) != "else" {
                    self.close_statements(walk);
                }
                walk.is_start = true;
                at + 1
            }
            Kind::Sign(b';') => {
                if walk.head_end <= at {
                    self.close_statements(walk);
                }
                walk.is_start = true;
                walk.is_case = false;
                walk.declared = None;
                at + 1
            }
            Kind::Sign(b':') if walk.is_case && !self.is_colons(at) => {
                walk.is_case = false;
                walk.is_start = true;
                at + 1
            }
            Kind::Sign(b')') if at + 1 == walk.head_end => {
                walk.is_start = true;
                at + 1
            }
            Kind::Sign(b'[') => self.bracket(walk, at, end),
            Kind::Sign(b',') => self.next_declarator(walk, at),
            Kind::Sign(b'(') if !was_start && !self.is_object(at) || self.pairs[at] == 0 => at + 1,
            Kind::Sign(b'(') => self.chain(at).1,
            Kind::Word => self.word(walk, at, end, was_start),
            Kind::Sign(b':') if self.is_colons(at) => self.chain(at).1,
            _ => at + 1,
        }
    }

    /// Returns whether a member is selected of what is in parentheses here.
    fn is_object(&self, open: usize) -> bool {
        matches!(self.kind(self.group_end(open)), Some(Kind::Sign(b'.') | Kind::Arrow))
    }

    fn word(&mut self, walk: &mut BodyWalk, at: usize, end: usize, was_start: bool) -> usize {
        match self.text(at) {
            "for" | "if" | "while" | "switch" | "catch" => {
                self.open_block(walk, OpenBlock::Statement);
                let open = (at + 1..at + 3).find(|open| self.is_sign(*open, b'('));
                walk.is_start = true;
                let Some(open) = open else { return at + 1 };
                walk.head_end = self.group_end(open);
                open + 1
            }
            "else" | "do" | "try" => {
                walk.is_start = true;
                at + 1
            }
            "case" | "default" => {
                walk.is_case = true;
                at + 1
            }
            "return" | "co_return" => self.returned(at + 1),
            "using" => {
                walk.is_start = true;
                self.using_item(at, at, end)
            }
            "struct" | "class" | "union" | "enum" if was_start => {
                walk.is_start = true;
                self.type_item(at, at, end, &[], false).unwrap_or(at + 1)
            }
            "this" | "static_cast" | "dynamic_cast" | "const_cast" | "reinterpret_cast" | "new" => {
                self.chain(at).1
            }
            "goto" | "operator" => at + 2,
            text if !is_keyword(text) || was_start && begins_type(text) => {
                if was_start && let Some(next) = self.local(walk, at, end) {
                    return next;
                }
                if is_keyword(text) {
                    return at + 1;
                }
                // A label.
                if was_start && self.is_sign(at + 1, b':') && !self.is_colons(at + 1) {
                    walk.is_start = true;
                    return at + 2;
                }
                let next = self.chain(at).1;
                // A macro that is a statement.
                walk.is_start = was_start && self.is_macro_like(at) && !self.is_sign(next, b'.');
                next
            }
            _ => at + 1,
        }
    }

    fn returned(&mut self, at: usize) -> usize {
        if !self.is_auto || !self.is_word(at) {
            return at;
        }
        let (value, next) = self.value(at);
        let value = if self.is_sign(next, b';') { value } else { 0 };
        if let Some(function) = self.facts.facts.enclosing_definition(self.facts.scope) {
            let fact = self.facts.definition(function);
            if fact.returns.len() < MAX_RETURNS && !fact.flags.has(DefinitionFlags::DECLARED) {
                fact.returns.push(value);
            }
        }
        next.max(at)
    }

    /// Reads the declaration of locals, if one begins here; returns the index after the first name.
    fn local(&mut self, walk: &mut BodyWalk, at: usize, end: usize) -> Option<usize> {
        let name = self.local_name(at, end)?;
        let line = self.line(name);
        let (declared, _) = self.declared_type(at);
        let scope = self.facts.scope;
        if self.is_sign(name, b'[') {
            // `auto [a, b] = c;`
            let (value, next) = self.inferred(self.group_end(name));
            let words = (name + 1..self.close_of(name)).filter(|part| self.is_word(*part));
            for (at, part) in (0..).zip(words.collect::<Vec<_>>()) {
                let id = self.facts.name(self.text(part));
                let value = match value {
                    BindingValue::Value(whole) if whole != 0 => {
                        self.facts.expression(ExpressionFact::Part(whole, at))
                    }
                    _ => 0,
                };
                self.facts.bind(scope, id, BindingValue::Value(value), line);
            }
            return Some(next);
        }
        let (value, next) =
            if declared == 0 { self.inferred(name + 1) } else { (BindingValue::Typed(declared), name + 1) };
        let id = self.facts.name(self.text(name));
        self.facts.bind(scope, id, value, line);
        walk.declared = Some(declared);
        Some(self.initializer(name + 1).unwrap_or(next))
    }

    /// Reads what `auto` stands for; returns it and the index after it.
    fn inferred(&mut self, at: usize) -> (BindingValue, usize) {
        let is_range = self.is_sign(at, b':');
        if !is_range && !self.is_sign(at, b'=') {
            return (BindingValue::Value(0), at);
        }
        let (value, next) = self.value(at + 1);
        let is_whole = matches!(self.kind(next), Some(Kind::Sign(b';' | b',' | b')')));
        let value = match (is_whole, is_range) {
            (false, _) => 0,
            (true, true) => self.facts.expression(ExpressionFact::Part(value, LOOP_ELEMENT)),
            (true, false) => value,
        };
        (BindingValue::Value(value), next.max(at + 1))
    }

    /// Returns the name that a declaration which begins here declares first, or the bracket before several names.
    fn local_name(&self, from: usize, end: usize) -> Option<usize> {
        let mut at = from;
        let (mut is_typed, mut is_marked, mut has_signs) = (false, false, false);
        while at < end {
            let text = self.text(at);
            if matches!(
                text,
                "const"
                    | "static"
                    | "constexpr"
                    | "volatile"
                    | "typename"
                    | "thread_local"
                    | "register"
                    | "struct"
                    | "class"
                    | "enum"
                    | "union"
                    | "extern"
                    | "inline"
            ) {
                is_marked = true;
                at += 1;
            } else if begins_type(text) {
                (is_typed, is_marked) = (true, true);
                at += 1;
            } else if is_typed && matches!(text, "*" | "&") {
                has_signs = true;
                at += 1;
            } else if !is_typed && (self.is_word(at) && !is_keyword(text) || self.is_colons(at)) {
                is_typed = true;
                at = self.path_end_in(at, false);
            } else {
                break;
            }
        }
        if !is_typed {
            return None;
        }
        if self.is_sign(at, b'[') && is_marked {
            return Some(at);
        }
        if !self.is_word(at) || is_keyword(self.text(at)) {
            return None;
        }
        let follows = match self.kind(at + 1) {
            Some(Kind::Sign(b'=')) => {
                !self.is_sign(at + 2, b'=') || self.tokens[at + 1].end != self.tokens[at + 2].start
            }
            Some(Kind::Sign(b';' | b'{' | b'[' | b',')) => true,
            Some(Kind::Sign(b':')) => !self.is_colons(at + 1),
            Some(Kind::Sign(b'(' | b')')) => !has_signs || is_marked,
            _ => false,
        };
        follows.then_some(at)
    }

    /// `, *name = …` of a declaration.
    fn next_declarator(&mut self, walk: &mut BodyWalk, at: usize) -> usize {
        let Some(declared) = walk.declared else { return at + 1 };
        let mut name = at + 1;
        while matches!(self.kind(name), Some(Kind::Sign(b'*' | b'&'))) {
            name += 1;
        }
        let ends = matches!(self.kind(name + 1), Some(Kind::Sign(b'=' | b';' | b',' | b'(' | b'{' | b'[')));
        if !self.is_word(name) || !ends {
            return at + 1;
        }
        let (value, next) =
            if declared == 0 { self.inferred(name + 1) } else { (BindingValue::Typed(declared), name + 1) };
        let id = self.facts.name(self.text(name));
        self.facts.bind(self.facts.scope, id, value, self.line(name));
        self.initializer(name + 1).unwrap_or(next)
    }

    /// Reads an initializer in brackets: its braces are not a block, and its commas do not precede declared names.
    fn initializer(&mut self, open: usize) -> Option<usize> {
        if !self.is_sign(open, b'{') && !self.is_sign(open, b'(') {
            return None;
        }
        let next = self.group_end(open);
        self.walk(open + 1, next - 1, false);
        Some(next)
    }

    /// An attribute, an index or a lambda.
    fn bracket(&mut self, walk: &mut BodyWalk, at: usize, end: usize) -> usize {
        if self.is_sign(at + 1, b'[') {
            walk.is_start = true;
            return self.group_end(at);
        }
        let is_index = 0 < at
            && (matches!(self.kind(at - 1), Some(Kind::Sign(b')' | b']')))
                || self.is_word(at - 1) && !is_keyword(self.text(at - 1)));
        if is_index || self.pairs[at] == 0 {
            return at + 1;
        }
        let mut next = self.group_end(at);
        self.walk(at + 1, next - 1, false);
        let outer = self.facts.open_scope(ScopeKind::Block, None);
        if self.is_sign(next, b'<') {
            next = self.angle_end(next).unwrap_or(next);
        }
        if self.is_sign(next, b'(') {
            self.parameters(next, self.close_of(next));
            next = self.group_end(next);
        }
        // `mutable noexcept -> T {`
        let mut open = next;
        while open < end.min(next + 64)
            && !matches!(self.kind(open), Some(Kind::Sign(b'{' | b';' | b')' | b',')))
        {
            if self.kind(open) == Some(Kind::Arrow) {
                open = self.declared_type(open + 1).1.max(open + 1);
                continue;
            }
            open = if self.is_sign(open, b'(') { self.group_end(open) } else { open + 1 };
        }
        if self.is_sign(open, b'{') && open < end {
            let close = self.close_of(open).max(open + 1);
            let was_auto = std::mem::replace(&mut self.is_auto, false);
            self.walk(open + 1, close, true);
            self.is_auto = was_auto;
            next = close + 1;
        }
        self.facts.scope = outer;
        next
    }
}

/// Keywords that are types, or come before one.
const TYPE_WORDS: [&str; 23] = [
    "auto", "bool", "char", "char16_t", "char32_t", "char8_t", "const", "constexpr", "decltype", "double",
    "extern", "float", "int", "long", "short", "signed", "static", "thread_local", "typename", "unsigned",
    "void", "volatile", "wchar_t",
];

/// Returns whether a keyword can be the first of a declaration in a function.
fn begins_type(word: &str) -> bool {
    TYPE_WORDS.contains(&word)
}
