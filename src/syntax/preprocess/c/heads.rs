//! Heads of namespaces and types, up to their `{`, and the clauses in them: `requires A<T> && (sizeof(T) > 2)`.

use std::ops::Range;

use super::scanner::{CScanner, Dialect, ScopeKind};
use super::tokens::{CToken, CTokenKind};
use super::words::{is_attribute, is_macro_name, is_tag, is_trailing_qualifier};
use crate::model::SymbolKind;

/// What the block of a macro begins with that makes a class.
const MEMBERS: [&[u8]; 8] =
    [b"static ", b"public:", b"private:", b"protected:", b"virtual ", b"using ", b"typedef ", b"template"];

/// What opens a scope.
#[derive(Debug)]
pub(super) struct ScopeHead {
    pub(super) kind: ScopeKind,
    /// What kind of symbol it is, where it is one.
    pub(super) symbol: Option<SymbolKind>,
    /// The range of its name; empty where it has none.
    pub(super) name: Range<usize>,
    /// The position of its keyword in the row of tokens.
    pub(super) keyword: usize,
    /// What of the row is not part of its name: macros and attributes.
    removable: Vec<Range<usize>>,
}

/// Returns whether a token may precede the keyword of a type: `template <…> requires A<B> && C` and the like.
fn may_precede_keyword(kind: CTokenKind) -> bool {
    let kinds = [
        CTokenKind::Angle,
        CTokenKind::Literal,
        CTokenKind::Bracket,
        CTokenKind::Less,
        CTokenKind::Greater,
        CTokenKind::Scope,
        CTokenKind::Comma,
    ];
    kinds.contains(&kind) || matches!(kind, CTokenKind::Ampersand | CTokenKind::Operator)
}

/// The words between the keyword of a type and its bases.
struct TypeHeadWords {
    /// Each name with what qualifies it, as places in the row.
    words: Vec<Range<usize>>,
    /// Attributes, and macros with arguments.
    removable: Vec<Range<usize>>,
    /// Where they end.
    rest: usize,
}

impl CScanner<'_> {
    /// Reads the current item as the head of a scope; `None` where it is something else.
    pub(super) fn scope_head(&self) -> Option<ScopeHead> {
        let count = self.tokens.len();
        let plain =
            |kind| ScopeHead { kind, symbol: None, name: 0..0, keyword: count, removable: Vec::new() };
        // Only what may precede the keyword of a scope is accepted, because bodies and values begin with the same
        // brace.
        let mut clauses = Vec::new();
        let mut top = 0;
        while top < count {
            match self.tokens.kind(top)? {
                CTokenKind::Word => {
                    let word = self.top_text(top);
                    // The grammar of C has no namespaces, but what is in one is worth reading: headers are
                    // shared with C++.
                    if word == "namespace" && self.dialect == Dialect::C {
                        return Some(plain(ScopeKind::Elided));
                    }
                    if word == "namespace" {
                        return self.namespace_head(top);
                    }
                    if is_tag(word) {
                        let mut head = self.type_head(top)?;
                        head.removable.extend(clauses);
                        return Some(head);
                    }
                    if let Some(end) = self.clause_end(top) {
                        clauses.push(top..end);
                        top = end;
                        continue;
                    }
                }
                CTokenKind::Paren => {
                    let name = self.top_text(top.checked_sub(1)?);
                    if !is_attribute(name) && !is_macro_name(name) {
                        return None;
                    }
                }
                kind if may_precede_keyword(kind) => {}
                _ => return None,
            }
            top += 1;
        }
        if self.top_text(0) == "extern" && self.tokens.is(count - 1, CTokenKind::Literal) {
            return Some(plain(ScopeKind::Namespace));
        }
        let is_macro = count == 1 && (is_macro_name(self.top_text(0)) || self.top_text(0) == "export");
        is_macro.then(|| plain(ScopeKind::Elided))
    }

    /// Reads `MACRO(Name, …) {` and `MACRO(8) Name MACRO {` as the head of a class, where the block looks like the body
    /// of one: it begins with a member, and a semicolon follows it.
    pub(super) fn macro_class(&mut self) -> Option<ScopeHead> {
        let is_call = self.tokens.is(1, CTokenKind::Paren);
        if self.dialect == Dialect::C || !is_call || !is_macro_name(self.top_text(0)) {
            return None;
        }
        let is_name_behind = match self.tokens.len() {
            2 => false,
            3 => self.tokens.is(2, CTokenKind::Word),
            4 => self.tokens.is(2, CTokenKind::Word) && is_macro_name(self.top_text(3)),
            _ => return None,
        };
        let inside = self.bytes[self.at + 1..].trim_ascii_start();
        if !MEMBERS.iter().any(|member| inside.starts_with(member)) {
            return None;
        }
        let conditions = self.conditions.len();
        // This only looks ahead: a condition that begins in the block must not be left open by it.
        let end = self.matching_brace(self.at).ok().filter(|_| self.conditions.len() == conditions)?;
        let is_ended = self.bytes[end..].trim_ascii_start().first() == Some(&b';');
        let own = if is_name_behind { self.tokens.top_level(2) } else { self.tokens.group(1).first() };
        let name = own.filter(|name| is_ended && name.kind == CTokenKind::Word)?.range();
        let (open, close) = (self.tokens.top_level(1)?.start(), self.tokens.top_end(1));
        let keyword = self.tokens.top_level(0)?.range();
        self.edits.push((keyword, "struct"));
        if is_name_behind {
            self.edits.push((open..close, ""));
            self.edits.extend(self.tokens.top_level(3).map(|last| (last.range(), "")));
        } else {
            self.edits.extend([(open..name.start, " "), (name.end..close, "")]);
        }
        self.out.repairs += 1;
        let symbol = Some(SymbolKind::Struct);
        Some(ScopeHead { kind: ScopeKind::Type, symbol, name, keyword: 0, removable: Vec::new() })
    }

    fn namespace_head(&self, keyword: usize) -> Option<ScopeHead> {
        let mut names: Option<Range<usize>> = None;
        let mut removable = Vec::new();
        let mut was_word = false;
        for top in keyword + 1..self.tokens.len() {
            match self.tokens.kind(top)? {
                CTokenKind::Word if self.top_text(top) == "inline" => {}
                // `namespace a EXPORT {`
                CTokenKind::Word if was_word => removable.push(top..top + 1),
                CTokenKind::Word | CTokenKind::Scope => {
                    let token = self.tokens.top_level(top)?;
                    names = Some(names.map_or(token.start(), |names| names.start)..token.end());
                    was_word = token.kind == CTokenKind::Word;
                }
                CTokenKind::Bracket | CTokenKind::Paren => removable.push(top..top + 1),
                _ => return None,
            }
        }
        let symbol = names.is_some().then_some(SymbolKind::Namespace);
        Some(ScopeHead {
            kind: ScopeKind::Namespace,
            symbol,
            name: names.unwrap_or(0..0),
            keyword,
            removable,
        })
    }

    fn type_head(&self, keyword: usize) -> Option<ScopeHead> {
        let (kind, symbol) = match self.top_text(keyword) {
            "enum" => (ScopeKind::Enum, SymbolKind::Enum),
            "class" => (ScopeKind::Type, SymbolKind::Class),
            "union" => (ScopeKind::Type, SymbolKind::Union),
            _ => (ScopeKind::Type, SymbolKind::Struct),
        };
        let is_scoped = kind == ScopeKind::Enum && is_tag(self.top_text(keyword + 1));
        let TypeHeadWords { words: names, mut removable, rest } =
            self.names(if is_scoped { keyword + 2 } else { keyword + 1 })?;
        let count = self.tokens.len();
        // What has a semicolon or a call before its brace is a function that returns the type.
        let is_function = (rest..count).any(|top| self.tokens.is(top, CTokenKind::Semicolon))
            || (self.tokens.is(rest, CTokenKind::Less) && !self.ends_as_type(rest));
        if is_function {
            return None;
        }
        let own = self.own_name(&names);
        for (at, name) in names.iter().enumerate() {
            let is_final = matches!(self.top_text(name.start), "final" | "sealed");
            if Some(at) != own && !is_final {
                removable.push(name.clone());
            }
        }
        let name =
            own.and_then(|own| names[own].end.checked_sub(1)).and_then(|top| self.tokens.top_level(top));
        let name = name.map_or(0..0, CToken::range);
        Some(ScopeHead { kind, symbol: Some(symbol), name, keyword, removable })
    }

    /// Reads the words between the keyword of a type and its bases.
    fn names(&self, first: usize) -> Option<TypeHeadWords> {
        let mut top = first;
        let mut names: Vec<Range<usize>> = Vec::new();
        let mut removable = Vec::new();
        while top < self.tokens.len() {
            match self.tokens.kind(top)? {
                CTokenKind::Word if self.tokens.is(top + 1, CTokenKind::Paren) => {
                    let continues =
                        self.tokens.kind(top + 2).is_some_and(|kind| kind != CTokenKind::Semicolon)
                            && !is_trailing_qualifier(self.top_text(top + 2));
                    let is_macro = is_macro_name(self.top_text(top)) || self.top_text(top).starts_with("__");
                    if !(is_attribute(self.top_text(top)) || continues && is_macro) {
                        return None;
                    }
                    removable.push(top..top + 2);
                    top += 2;
                    continue;
                }
                CTokenKind::Word => {
                    match names.last_mut().filter(|last| last.end == top && self.is_scope(top - 1)) {
                        Some(last) => last.end = top + 1,
                        None => names.push(top..top + 1),
                    }
                }
                CTokenKind::Scope => match names.last_mut().filter(|last| last.end == top) {
                    Some(last) => last.end = top + 1,
                    None => names.push(top..top + 1),
                },
                CTokenKind::Bracket => removable.push(top..top + 1),
                CTokenKind::Less | CTokenKind::Colon => break,
                _ => return None,
            }
            top += 1;
        }
        Some(TypeHeadWords { words: names, removable, rest: top })
    }

    fn is_scope(&self, top: usize) -> bool {
        self.tokens.is(top, CTokenKind::Scope)
    }

    /// Returns whether what follows a `<` in a head can be that of a type: `class A<int> : B {`, and not `struct A<int>
    /// f() {`.
    fn ends_as_type(&self, less: usize) -> bool {
        let mut depth = 0_usize;
        for top in less..self.tokens.len() {
            match self.tokens.kind(top) {
                Some(CTokenKind::Less) => depth += 1,
                Some(CTokenKind::Greater) => depth = depth.saturating_sub(1),
                Some(CTokenKind::Colon) if depth == 0 => return true,
                Some(CTokenKind::Paren) if depth == 0 => return false,
                Some(_) | None => {}
            }
        }
        true
    }

    /// Returns which of the words between the keyword and the bases is the name: the last one, macros aside.
    fn own_name(&self, names: &[Range<usize>]) -> Option<usize> {
        let text = |name: &Range<usize>| self.top_text(name.end - 1);
        let is_final = |word: &str| matches!(word, "final" | "sealed" | "abstract");
        let candidates = || (0..names.len()).rev().filter(|at| !is_final(text(&names[*at])));
        // In `class EXPORT Name` the macro is in capitals; only where every candidate is, one of them is the name.
        let plain = candidates().find(|at| !is_macro_name(text(&names[*at])));
        let in_capitals = candidates().find(|at| !text(&names[*at]).ends_with("FINAL"));
        plain.or(in_capitals).or_else(|| candidates().next())
    }

    /// Elides from the head of a scope what the grammar does not understand there.
    pub(super) fn repair_head(&mut self, head: &ScopeHead) {
        for range in &head.removable {
            let start = self.tokens.top_level(range.start).map_or(0, CToken::start);
            self.edits.push((start..self.tokens.top_end(range.end - 1), ""));
            self.out.repairs += 1;
        }
        self.repair_lead(head.keyword);
    }

    /// Returns whether a `{` here contains requirements: `requires requires(T t) {`. What follows `)`, as in `void f()
    /// requires (a) {`, is a clause, and the `{` after it is a body's.
    pub(super) fn is_in_requires(&self) -> bool {
        let count = self.tokens.len();
        // 0 wraps around to a position that the row does not have.
        let has_parameters = self.tokens.is(count.wrapping_sub(1), CTokenKind::Paren);
        let Some(word) = count.checked_sub(if has_parameters { 2 } else { 1 }) else { return false };
        if self.dialect == Dialect::C || self.top_text(word) != "requires" {
            return false;
        }
        let before = word.checked_sub(1).map_or("", |before| self.top_text(before));
        // `void f() && requires (a) {` has no clause before it.
        let is_in_clause = (0..word).any(|top| self.top_text(top) == "requires");
        is_in_clause && matches!(before, "requires" | "&" | "||" | "!" | "and" | "or" | "not")
    }

    /// Returns where in the row the clause ends whose `requires` is at `top`; `None` where none is there.
    pub(super) fn clause_end(&self, top: usize) -> Option<usize> {
        if self.dialect == Dialect::C || self.top_text(top) != "requires" {
            return None;
        }
        let mut at = top + 1;
        loop {
            at = self.operand_end(at)?;
            let is_and = self.top_text(at) == "&" && self.top_text(at + 1) == "&";
            at += match self.top_text(at) {
                "&" if is_and => 2,
                "||" | "and" | "or" => 1,
                _ => return Some(at),
            };
        }
    }

    /// Returns where one operand of a clause ends: a name, a group, or `requires (…) {…}`.
    fn operand_end(&self, first: usize) -> Option<usize> {
        let mut at = first;
        while matches!(self.top_text(at), "!" | "not") {
            at += 1;
        }
        if self.tokens.is(at, CTokenKind::Paren) {
            return Some(at + 1);
        }
        if self.top_text(at) == "requires" {
            at += if self.tokens.is(at + 1, CTokenKind::Paren) { 2 } else { 1 };
            return (self.tokens.is(at, CTokenKind::Braces)).then_some(at + 1);
        }
        loop {
            at += usize::from(self.tokens.is(at, CTokenKind::Scope));
            at += usize::from(self.top_text(at) == "template");
            if !self.tokens.is(at, CTokenKind::Word) {
                return None;
            }
            at += 1;
            if self.tokens.is(at, CTokenKind::Less) {
                at = self.closed_angle(at)?;
            }
            if !self.tokens.is(at, CTokenKind::Scope) {
                return Some(at);
            }
        }
    }

    /// Returns where the arguments of a template end whose `<` is at `less` in the row.
    fn closed_angle(&self, less: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for top in less..self.tokens.len() {
            match self.tokens.kind(top)? {
                CTokenKind::Less => depth += 1,
                // The search begins at a `<`, so that the depth is at least 1 here.
                CTokenKind::Greater => depth -= 1,
                CTokenKind::Semicolon => return None,
                _ => {}
            }
            if depth == 0 {
                return Some(top + 1);
            }
        }
        None
    }
}
