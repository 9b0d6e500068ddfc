//! A symbol made of a node, whatever its language: name, lines, head, documentation, what is in it and what is cut.

use std::ops::Range;

use tree_sitter::Node;

use super::nodes::child_of_kind;
use super::nodes::children;
use super::nodes::is_trivia;
use super::skeleton::Cut;
use super::walk::Scope;
use super::walk::Walk;
use super::walk::count_lines;
use crate::model::Symbol;
use crate::model::SymbolKind;

/// A literal of more bytes than this is a table: its size is told, not its rows.
const LARGE_VALUE: usize = 400;

/// A declaration on one line that is no longer than this is told with its value.
const SHORT_VALUE: usize = 100;

/// What a reader found out of a node.
pub(super) struct Definition<'t> {
    /// What it is.
    pub(super) kind: SymbolKind,
    /// Its name alone.
    pub(super) name: String,
    /// What qualifies the name beside the scopes around the node, as the receiver of a method does; mostly nothing.
    pub(super) owner: String,
    /// What stands between the two, where it is not what the language puts there as a rule.
    pub(super) joint: Option<&'static str>,
    /// What stands in it.
    pub(super) inside: Inside<'t>,
    /// Where its head ends in the original, where that is not where its inside begins.
    pub(super) head_end: Option<usize>,
}

/// What stands in a symbol.
#[derive(Clone, Copy)]
pub(super) enum Inside<'t> {
    /// Nothing that an outline tells.
    Nothing,
    /// Members, which are visited.
    Members(Node<'t>),
    /// Code, which a skeleton leaves out.
    Code(Node<'t>),
    /// A value, of which a skeleton leaves out what is within its brackets where it is large.
    Value(Node<'t>),
}

/// How a language's skeleton says what was taken out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Marks {
    /// What stands for a body, with the size between the two: `("{ /* ", " */ }")`. A line's end in it is followed by
    /// the indent of the line on which the body begins.
    pub(super) body: (&'static str, &'static str),
    /// What stands for the rows of a literal between its brackets.
    pub(super) rows: (&'static str, &'static str),
    /// Whether a mark goes to the end of its line, so that nothing may follow it there.
    pub(super) ends_line: bool,
}

impl Marks {
    /// Bodies in braces and comments as in C.
    pub(super) const BRACES: Self =
        Self { body: ("{ /* ", " */ }"), rows: (" /* ", " */ "), ends_line: false };

    /// Bodies that end with a word, and comments that begin with `#`.
    pub(super) const HASH: Self = Self { body: ("# ", ""), rows: ("  # ", ""), ends_line: true };
}

impl<'t> Definition<'t> {
    /// Returns a definition that only what is around it qualifies.
    pub(super) const fn new(kind: SymbolKind, name: String, inside: Inside<'t>) -> Self {
        Self { kind, name, owner: String::new(), joint: None, inside, head_end: None }
    }

    /// Says what qualifies the name beside the scopes around it.
    pub(super) fn owned_by(mut self, owner: &str) -> Self {
        owner.clone_into(&mut self.owner);
        self
    }

    /// Says what stands between the name and what qualifies it.
    pub(super) const fn joined_by(mut self, joint: &'static str) -> Self {
        self.joint = Some(joint);
        self
    }

    /// Says where its head ends.
    pub(super) const fn with_head_end(mut self, end: usize) -> Self {
        self.head_end = Some(end);
        self
    }
}

impl<'t> Walk<'t> {
    /// Takes `node` into the outline as `definition` says; visits its members, or takes its body out of the skeleton.
    pub(super) fn define(&mut self, node: Node<'t>, definition: Definition<'t>) {
        let Definition { kind, name, owner, joint, inside, head_end } = definition;
        let range = self.range(node);
        // Some nodes hold the white space up to the next one.
        let end = range.start + self.source.text(range.clone()).trim_end().len();
        let full = if owner.is_empty() {
            name.clone()
        } else {
            format!("{owner}{}{name}", joint.unwrap_or(self.compiled.language.separator))
        };
        let mut symbol = Symbol {
            kind,
            qualified_name: self.qualified(&full),
            name,
            span: self.span(node, end),
            signature: self.signature(node, end, inside, head_end),
            doc: self.doc_above(),
            recovered: false,
            children: Vec::new(),
        };
        match inside {
            Inside::Nothing => {}
            Inside::Members(body) => symbol.children = self.inside(Scope { name: full, kind }, body),
            Inside::Code(body) => self.cut_code(body),
            Inside::Value(value) => self.cut_rows(value),
        }
        self.add(symbol);
    }

    /// Visits members that stand before the body of the symbol that was defined last, as those in its parameters do.
    pub(super) fn define_ahead(&mut self, place: Node<'t>) {
        let Some(owner) = self.symbols.last() else { return };
        let scope = Scope { name: owner.name.clone(), kind: owner.kind };
        let ahead = self.inside(scope, place);
        if let Some(owner) = self.symbols.last_mut() {
            owner.children.splice(0..0, ahead);
        }
    }

    /// Returns the head on one line, without what only leads to it (`Language::unsigned`).
    fn signature(&self, node: Node<'t>, end: usize, inside: Inside<'t>, head_end: Option<usize>) -> String {
        let start = self.signed_start(node);
        let head_end = match inside {
            _ if head_end.is_some() => head_end.unwrap_or(end),
            Inside::Nothing => end,
            Inside::Members(body) | Inside::Code(body) => self.inside_start(node, body),
            Inside::Value(value) if self.is_short(start..end) => self.range(value).end.max(end),
            Inside::Value(value) => self.range(value).start,
        };
        let holder = self.outermost(node);
        let head = self.head(holder, start..head_end.max(start));
        let closers = if head_end < end { self.closers(holder, head_end) } else { String::new() };
        if !closers.is_empty() {
            let head = head.trim_end_matches(|c: char| c.is_whitespace() || c == '{');
            let blank = if head.ends_with(['(', '[']) { "" } else { " " };
            return format!("{head}{blank}…{closers}");
        }
        head.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '{' | '=' | ':' | ';' | ','))
            .to_owned()
    }

    /// Returns what closes the round brackets below `node` within which `at` stands, as that of a call is that is handed
    /// a function.
    fn closers(&self, node: Node<'t>, at: usize) -> String {
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
            if is_around && is_round(child) {
                closers.push(')');
            }
            more = if is_around { cursor.goto_first_child() } else { cursor.goto_next_sibling() };
        }
        closers
    }

    /// Returns where a body begins; at its bracket, or nowhere, where the grammar gives it no node of its own.
    fn inside_start(&self, node: Node<'t>, body: Node<'t>) -> usize {
        if body != node {
            return self.range(body).start;
        }
        child_of_kind(node, "{").map_or(self.range(node).end, |bracket| self.range(bracket).start)
    }

    /// Says whether a range is a line that is told as it is.
    pub(super) fn is_short(&self, range: Range<usize>) -> bool {
        range.len() <= SHORT_VALUE && !self.source.text(range).contains('\n')
    }

    /// Returns where the signature begins: behind decorators and the like.
    fn signed_start(&self, node: Node<'t>) -> usize {
        let holder = self.outermost(node);
        let first = first_signed(holder, self.compiled.language.unsigned);
        self.range(first.unwrap_or(holder)).start
    }

    /// Takes a body out of the skeleton.
    pub(super) fn cut_code(&mut self, body: Node<'t>) {
        // Where the grammar is lost it may be wrong about where the body begins and ends.
        if body.has_error() {
            return;
        }
        self.cut_lines(self.range(body));
    }

    /// Takes a range out of the skeleton as a body, but for the white space around it.
    pub(super) fn cut_lines(&mut self, range: Range<usize>) {
        let text = self.source.text(range.clone());
        let start = range.start + (text.len() - text.trim_start().len());
        let text = text.trim();
        if text.split_whitespace().collect::<String>().len() <= 2 {
            return;
        }
        let mut range = start..start + text.len();
        if text.starts_with('=') {
            // What is one short expression tells more than its size does.
            if self.is_short(range.clone()) {
                return;
            }
            // A block in place of `=> expression;` wants no semicolon.
            range.end += usize::from(self.source.after_on_line(range.end).starts_with(';'));
        }
        let size = count_lines(text.lines().count());
        let (before, after) = self.compiled.language.marks.body;
        // A mark of several lines keeps the indent of what it stands in.
        let line_end = format!("{}{}", self.source.line_end(), self.indent(range.start));
        self.cut(range, format!("{before}{size}{after}").replace('\n', &line_end));
    }

    fn indent(&self, at: usize) -> &'t str {
        let line = self.source.text(self.source.line_start(at)..at);
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    /// Takes out what stands between the brackets of a large literal: its own, or the outermost large ones within it, as
    /// those of a call or of a block are.
    pub(super) fn cut_rows(&mut self, value: Node<'t>) {
        if value.has_error() {
            return;
        }
        let mut cursor = value.walk();
        loop {
            let node = cursor.node();
            let range = self.range(node);
            let is_large = LARGE_VALUE <= range.len();
            let is_cut = is_large && is_bracketed(node);
            if is_cut {
                let size = count_lines(self.source.text(range.clone()).lines().count());
                let (before, after) = self.compiled.language.marks.rows;
                self.cut(range.start + 1..range.end - 1, format!("{before}{size}{after}"));
            }
            if is_large && !is_cut && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    /// Puts a mark in place of a range, as it is.
    pub(super) fn put(&mut self, range: Range<usize>, mark: String) {
        self.cuts.push(Cut::new(range, mark.clone()).or_carefully(mark));
    }

    /// Puts a mark in place of a range; on a line of its own where something would follow it that it must not swallow.
    pub(super) fn cut(&mut self, range: Range<usize>, mut mark: String) {
        let follows = !self.source.after_on_line(range.end).trim().is_empty();
        if self.compiled.language.marks.ends_line && follows {
            mark.push_str(self.source.line_end());
        }
        self.put(range, mark);
    }
}

/// Returns the first part of `node` that a signature tells. Annotations may stand within a list of modifiers, which
/// stands first.
fn first_signed<'t>(node: Node<'t>, unsigned: &[&str]) -> Option<Node<'t>> {
    children(node)
        .into_iter()
        .filter(|child| !unsigned.contains(&child.kind()) && !is_trivia(*child))
        .find_map(|child| {
            let leads = child.child(0).is_some_and(|first| unsigned.contains(&first.kind()));
            if leads { first_signed(child, unsigned) } else { Some(child) }
        })
}

/// Says whether a node is what stands between round brackets.
fn is_round(node: Node<'_>) -> bool {
    let ends = [node.child(0), node.child(node.child_count().saturating_sub(1))];
    ends.map(|end| end.map_or("", |end| end.kind())) == ["(", ")"]
}

/// Says whether `node` is brackets that may stand empty.
fn is_bracketed(node: Node<'_>) -> bool {
    let ends = [node.child(0), node.child(node.child_count().saturating_sub(1))];
    let [Some(first), Some(last)] = ends.map(|end| end.map(|end| end.kind())) else { return false };
    let is_pair = matches!((first, last), ("(", ")") | ("[", "]") | ("{", "}"));
    is_pair && !["parenthesized", "tuple"].iter().any(|kind| node.kind().starts_with(kind))
}

/// Returns how many lines a text has that stands in for a body, in words.
pub(super) fn lines_of(text: &str) -> String {
    count_lines(text.trim().lines().count())
}
