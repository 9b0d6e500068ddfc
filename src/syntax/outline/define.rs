//! A node becomes a symbol, by a rule or by a function of its language: name, lines, signature, documentation, members,
//! and what the skeleton cuts.

use std::ops::Range;

use tree_sitter::Node;

use super::language::{BodyRule, SymbolRule};
use super::nodes::{child_of_kind, children, find, find_all, is_trivia, visit_descendants};
use super::skeleton::SkeletonCut;
use super::walk::{NamedScope, OutlineWalk};
use crate::model::SymbolKind;
use crate::syntax::text::format_line_count;

/// A literal of more bytes than this is a table: its size is shown, not its rows.
const LARGE_VALUE: usize = 400;

/// A declaration on one line that is no longer than this is shown with its value.
const SHORT_VALUE: usize = 100;

/// A closure on one line that is no longer than this is shown.
const SHORT_CLOSURE: usize = 80;

/// A text of more bytes than this within code is shown by its size.
const LARGE_TEXT: usize = 400;

/// What a reader function found out about a node.
pub(in crate::syntax) struct SymbolDefinition<'t> {
    pub(in crate::syntax) kind: SymbolKind,
    /// Its name, unqualified.
    pub(in crate::syntax) name: String,
    /// What qualifies the name in addition to the scopes around the node, such as the receiver of a method; mostly
    /// nothing.
    pub(in crate::syntax) owner: String,
    /// What separates the two, if it is not the language's separator.
    pub(in crate::syntax) separator: Option<&'static str>,
    pub(in crate::syntax) body: SymbolBody<'t>,
    /// Where its signature ends in the original, where that is not the start of its body.
    pub(in crate::syntax) signature_end: Option<usize>,
}

/// What a symbol contains.
#[derive(Clone, Copy)]
pub(in crate::syntax) enum SymbolBody<'t> {
    /// Nothing that an outline shows.
    Nothing,
    /// Members, which are visited.
    Members(Node<'t>),
    /// Code, which a skeleton cuts.
    Code(Node<'t>),
    /// A value, of which a skeleton cuts what is within its brackets where it is large.
    Value(Node<'t>),
}

impl<'t> SymbolBody<'t> {
    pub(in crate::syntax) fn members(node: Option<Node<'t>>) -> Self {
        node.map_or(Self::Nothing, Self::Members)
    }

    pub(in crate::syntax) fn code(node: Option<Node<'t>>) -> Self {
        node.map_or(Self::Nothing, Self::Code)
    }

    pub(in crate::syntax) fn value(node: Option<Node<'t>>) -> Self {
        node.map_or(Self::Nothing, Self::Value)
    }
}

impl<'t> SymbolDefinition<'t> {
    /// Returns a definition that only what is around it qualifies.
    pub(in crate::syntax) fn new(kind: SymbolKind, name: impl Into<String>, body: SymbolBody<'t>) -> Self {
        let name = name.into();
        Self { kind, name, owner: String::new(), separator: None, body, signature_end: None }
    }

    /// Sets what qualifies the name in addition to the scopes around it.
    pub(in crate::syntax) fn with_owner(mut self, owner: &str) -> Self {
        owner.clone_into(&mut self.owner);
        self
    }

    pub(in crate::syntax) const fn with_separator(mut self, separator: &'static str) -> Self {
        self.separator = Some(separator);
        self
    }

    pub(in crate::syntax) const fn with_signature_end(mut self, end: usize) -> Self {
        self.signature_end = Some(end);
        self
    }
}

impl SymbolRule {
    /// Reads a node as the rule describes it.
    pub(super) fn apply<'t>(&self, walk: &mut OutlineWalk<'t>, node: Node<'t>) {
        for place in find_all(node, self.each) {
            let inside = self.body.resolve(place);
            let kind = match self.in_type {
                Some(kind) if walk.scope_kind().is_some_and(is_member_container) => kind,
                Some(_) | None => self.kind,
            };
            match (find(place, self.name), inside) {
                (Some(name), inside) => {
                    let name = walk.text(name).to_owned();
                    walk.define(node, SymbolDefinition::new(kind, name, inside));
                }
                // A symbol without a name cannot be requested, but its members can.
                (None, SymbolBody::Members(body)) => walk.visit_children(body),
                (None, SymbolBody::Nothing | SymbolBody::Code(_) | SymbolBody::Value(_)) => {}
            }
        }
    }
}

impl BodyRule {
    fn resolve(self, node: Node<'_>) -> SymbolBody<'_> {
        match self {
            Self::None => SymbolBody::Nothing,
            Self::Members(path) => SymbolBody::members(find(node, path)),
            Self::Code(path) => SymbolBody::code(find(node, path)),
            Self::Value(path) => SymbolBody::value(find(node, path)),
        }
    }
}

/// Returns whether such a symbol contains members: a constant of an enumeration may have some of its own.
fn is_member_container(kind: SymbolKind) -> bool {
    kind.is_type() || kind == SymbolKind::EnumMember
}

impl<'t> OutlineWalk<'t> {
    /// Adds `node` to the outline as `definition` describes it; visits its members, or cuts its body.
    pub(in crate::syntax) fn define(&mut self, node: Node<'t>, definition: SymbolDefinition<'t>) {
        let SymbolDefinition { kind, name, owner, separator, body: inside, signature_end: head_end } =
            definition;
        let range = self.range(node);
        // Some nodes include the white space up to the next one.
        let end = range.start + self.source.text(range.clone()).trim_end().len();
        let full = if owner.is_empty() {
            name.clone()
        } else {
            format!("{owner}{}{name}", separator.unwrap_or(self.compiled.language.separator))
        };
        let signature = self.signature(node, end, inside, head_end);
        let mut symbol = self.symbol(node, end, kind, name, &full, signature);
        match inside {
            SymbolBody::Nothing => {}
            SymbolBody::Members(body) => {
                symbol.children = self.visit_scope(NamedScope { name: full, kind }, body);
            }
            SymbolBody::Code(body) => self.cut_code(body),
            SymbolBody::Value(value) => self.cut_rows(value),
        }
        self.add_symbol(symbol);
    }

    /// Visits members that precede the body of the symbol that was defined last, as those in its parameters do.
    pub(in crate::syntax) fn define_leading_members(&mut self, place: Node<'t>) {
        let Some(owner) = self.symbols.last() else { return };
        let scope = NamedScope { name: owner.name.clone(), kind: owner.kind };
        let members = self.visit_scope(scope, place);
        if let Some(owner) = self.symbols.last_mut() {
            owner.children.splice(0..0, members);
        }
    }

    /// Returns the signature on one line, without what precedes it (`Language::signature_excludes`).
    fn signature(
        &self,
        node: Node<'t>,
        end: usize,
        inside: SymbolBody<'t>,
        head_end: Option<usize>,
    ) -> String {
        let start = self.signature_start(node);
        let head_end = match inside {
            _ if head_end.is_some() => head_end.unwrap_or(end),
            SymbolBody::Nothing => end,
            SymbolBody::Members(body) | SymbolBody::Code(body) => self.body_start(node, body),
            SymbolBody::Value(value) if self.is_short(start..end) => self.range(value).end.max(end),
            SymbolBody::Value(value) => self.range(value).start,
        };
        let holder = self.outermost(node);
        let head = self.signature_text(holder, start..head_end.max(start));
        // A signature that ends within a call is closed again, so that it reads as one: `describe("frames", …)`.
        let closers = if head_end < end { self.closing_brackets(holder, head_end) } else { String::new() };
        if !closers.is_empty() {
            let head = head.trim_end_matches(|c: char| c.is_whitespace() || c == '{');
            let blank = if head.ends_with(['(', '[']) { "" } else { " " };
            return format!("{head}{blank}…{closers}");
        }
        let head =
            head.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '=' | ':' | ';' | ','));
        if head.ends_with("=>") && head_end < end {
            // Without a mark of its value an arrow function would not be one.
            let is_block = self.source.text(head_end..end).starts_with('{');
            return format!("{head} {}", if is_block { "{…}" } else { "…" });
        }
        head.to_owned()
    }

    /// Visits the names that are declared together, each as its own symbol with the keyword before `first` of them:
    /// `export let a = 1, b = 2`.
    pub(in crate::syntax) fn visit_declared_together(&mut self, node: Node<'t>, first: Node<'t>) {
        let keyword = self.signature_up_to(node, self.range(first).start);
        let before = self.symbols.len();
        // With what is around the declaration each would begin where the first does.
        let wrapper = self.wrapper.take();
        self.visit_children(node);
        self.wrapper = wrapper;
        self.prefix_signatures(before, &keyword);
    }

    /// Puts a keyword before the signatures of the symbols from `first` on, which were declared together and of which
    /// it precedes only the first, or none.
    pub(in crate::syntax) fn prefix_signatures(&mut self, first: usize, keyword: &str) {
        for symbol in self.symbols.iter_mut().skip(first) {
            symbol.signature.insert_str(0, &format!("{keyword} "));
        }
    }

    /// Returns what closes the parentheses below `node` that enclose `at`, such as those of a call with a function as
    /// its argument.
    fn closing_brackets(&self, node: Node<'t>, at: usize) -> String {
        let mut closers = String::new();
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            let range = self.range(child);
            if at <= range.start {
                break;
            }
            let is_around = at < range.end;
            if is_around && is_parenthesized(child) {
                closers.push(')');
            }
            more = if is_around { cursor.goto_first_child() } else { cursor.goto_next_sibling() };
        }
        closers
    }

    /// Returns where a body begins: at its brace, or at the end of the node, where the grammar gives it no node of its
    /// own.
    fn body_start(&self, node: Node<'t>, body: Node<'t>) -> usize {
        if body != node {
            return self.range(body).start;
        }
        child_of_kind(node, "{").map_or(self.range(node).end, |bracket| self.range(bracket).start)
    }

    /// Returns whether a range is a short line, which is shown as it is.
    pub(in crate::syntax) fn is_short(&self, range: Range<usize>) -> bool {
        range.len() <= SHORT_VALUE && !self.source.text(range).contains('\n')
    }

    /// Returns where the signature begins: after decorators and similar prefixes.
    fn signature_start(&self, node: Node<'t>) -> usize {
        let holder = self.outermost(node);
        let first = first_signature_node(holder, self.compiled.language.signature_excludes);
        self.range(first.unwrap_or(holder)).start
    }

    pub(in crate::syntax) fn cut_code(&mut self, body: Node<'t>) {
        // Near an error, the grammar may be wrong about where the body begins and ends.
        if body.has_error() {
            return;
        }
        self.cut_body_range(self.range(body));
    }

    /// Cuts what nodes of these kinds within a value do: closures, and the functions of objects that have no class of
    /// their own. A short one on one line stays.
    #[cfg_attr(
        not(any(
            feature = "lang-csharp",
            feature = "lang-java",
            feature = "lang-kotlin",
            feature = "lang-scala",
            feature = "lang-swift"
        )),
        expect(dead_code, reason = "JavaScript trims its values by its own rules")
    )]
    pub(in crate::syntax) fn cut_code_within(&mut self, value: Node<'t>, kinds: &[&str]) {
        visit_descendants(value, &mut |node| {
            let is_code = kinds.contains(&node.kind());
            let text = self.text(node).trim();
            if is_code && (SHORT_CLOSURE < text.len() || text.contains('\n')) {
                self.cut_code(node);
            }
            !is_code
        });
    }

    /// Cuts a range as a body, except for the white space around it.
    pub(in crate::syntax) fn cut_body_range(&mut self, range: Range<usize>) {
        let text = self.source.text(range.clone());
        let start = range.start + (text.len() - text.trim_start().len());
        let text = text.trim();
        // `{}` and `;` are shorter than any mark.
        if text.split_whitespace().collect::<String>().len() <= 2 {
            return;
        }
        let mut range = start..start + text.len();
        if text.starts_with('=') {
            // A short expression is worth more than its size.
            if self.is_short(range.clone()) {
                return;
            }
            // A block in place of `=> expression;` must not be followed by a semicolon.
            range.end += usize::from(self.source.line_suffix(range.end).starts_with(';'));
        }
        let size = format_line_count(text.lines().count());
        let (before, after) = self.compiled.language.marks.body;
        // A mark of several lines keeps the indent of the line that it is on.
        let line_end = format!("{}{}", self.source.line_ending(), self.indent(range.start));
        self.cut(range, format!("{before}{size}{after}").replace('\n', &line_end));
    }

    pub(super) fn indent(&self, at: usize) -> &'t str {
        let line = self.source.text(self.source.line_start(at)..at);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Cuts what is between the brackets of a large literal: its own, or the outermost large ones within it, such as
    /// those of a call or of a block.
    pub(in crate::syntax) fn cut_rows(&mut self, value: Node<'t>) {
        if value.has_error() {
            return;
        }
        visit_descendants(value, &mut |node| {
            let range = self.range(node);
            let is_large = LARGE_VALUE <= range.len();
            if !is_large || !is_bracketed(node) {
                return is_large;
            }
            let size = format_line_count(self.source.text(range.clone()).lines().count());
            let (before, after) = self.compiled.language.marks.data;
            // Each bracket is one byte, as `is_bracketed` has verified.
            self.cut(range.start + 1..range.end - 1, format!("{before}{size}{after}"));
            false
        });
    }

    /// Replaces a range with a mark that the grammar might misread: it is not made where the grammar had to guess.
    pub(in crate::syntax) fn cut_where_understood(&mut self, range: Range<usize>, mark: String) {
        self.cuts.push(SkeletonCut::new(range, mark));
    }

    /// Replaces a range with a mark, as it is.
    pub(in crate::syntax) fn replace_with_mark(&mut self, range: Range<usize>, mark: String) {
        self.cuts.push(SkeletonCut::new(range, mark.clone()).with_conservative_mark(mark));
    }

    /// Replaces a range with a mark; with a line ending after it where the mark would swallow what follows on the line.
    pub(in crate::syntax) fn cut(&mut self, range: Range<usize>, mut mark: String) {
        let follows = !self.source.line_suffix(range.end).trim().is_empty();
        if self.compiled.language.marks.ends_line && follows {
            mark.push_str(self.source.line_ending());
        }
        self.replace_with_mark(range, mark);
    }

    /// Cuts the inside of a long text; `from` and `until` are how many bytes at its ends stay.
    pub(in crate::syntax) fn cut_text(&mut self, text: Node<'t>, from: usize, until: usize) {
        let range = self.range(text);
        if range.len() < LARGE_TEXT || text.has_error() {
            return;
        }
        let size = format_line_count(self.text(text).lines().count());
        self.replace_with_mark(range.start + from..range.end - until, format!(" /* {size} */ "));
    }
}

/// Returns the first part of `node` that is shown in a signature. Annotations may be within a list of modifiers, which
/// comes first.
fn first_signature_node<'t>(node: Node<'t>, unsigned: &[&str]) -> Option<Node<'t>> {
    children(node)
        .into_iter()
        .filter(|child| !unsigned.contains(&child.kind()) && !is_trivia(*child))
        .find_map(|child| {
            let leads = child.child(0).is_some_and(|first| unsigned.contains(&first.kind()));
            if leads { first_signature_node(child, unsigned) } else { Some(child) }
        })
}

fn is_parenthesized(node: Node<'_>) -> bool {
    ends(node) == ["(", ")"]
}

/// Returns whether `node` is a pair of brackets that may be empty.
fn is_bracketed(node: Node<'_>) -> bool {
    let is_pair = matches!(ends(node), ["(", ")"] | ["[", "]"] | ["{", "}"]);
    is_pair && !["parenthesized", "tuple"].iter().any(|kind| node.kind().starts_with(kind))
}

/// Returns the kinds of the first and the last child.
fn ends(node: Node<'_>) -> [&str; 2] {
    let ends = [node.child(0), node.child(node.child_count().saturating_sub(1))];
    ends.map(|end| end.map_or("", |end| end.kind()))
}

/// How a language's values are trimmed.
pub(in crate::syntax) struct ValueTrimmer {
    /// Cuts the code of a function; returns whether the node is one.
    pub(in crate::syntax) cut_function: for<'t> fn(&mut OutlineWalk<'t>, Node<'t>) -> bool,
    /// Cuts the rows of a large literal; returns whether the node is a literal, large or not.
    pub(in crate::syntax) cut_literal: for<'t> fn(&mut OutlineWalk<'t>, Node<'t>) -> bool,
}

impl ValueTrimmer {
    /// Cuts the code within a value, and the literals that contain none.
    pub(in crate::syntax) fn trim_value<'t>(&self, walk: &mut OutlineWalk<'t>, value: Node<'t>) {
        // Functions first: a literal that contains one is not a table, and keeps its rows.
        let mut functions = Vec::new();
        visit_descendants(value, &mut |node| {
            let is_function = (self.cut_function)(walk, node);
            if is_function {
                functions.push(node.start_byte());
            }
            !is_function
        });
        visit_descendants(value, &mut |node| {
            let next = functions.partition_point(|&start| start < node.start_byte());
            let has_function = functions.get(next).is_some_and(|&start| start < node.end_byte());
            // A function itself has lost its code already.
            let is_function = functions.get(next) == Some(&node.start_byte());
            !is_function && (has_function || !(self.cut_literal)(walk, node))
        });
    }
}
