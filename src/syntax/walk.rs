//! The visit to those nodes of a tree that a language's table names: it collects symbols, imports, docs and cuts.
//!
//! Bodies of functions are never entered, so that a walk touches a small part of the tree.

use std::ops::Range;

use tree_sitter::Node;

use super::comments::is_about_copying;
use super::comments::unmark;
use super::language::Compiled;
use super::language::Field;
use super::language::Visit;
use super::nodes::comments_within;
use super::skeleton::Cut;
use super::source::Source;
use super::words::first_paragraph;
use super::words::one_line;
use crate::model::Span;
use crate::model::Symbol;
use crate::model::SymbolKind;

/// Containers nested deeper than this are not looked into: it bounds the stack, and no reader gets that far.
const MAX_DEPTH: usize = 120;

/// A name around the nodes that are being visited.
pub(super) struct Scope {
    /// The name; a qualified one where the text spells it so.
    pub(super) name: String,
    /// What bears it.
    pub(super) kind: SymbolKind,
}

/// A run of comments without a blank line in it.
#[derive(Clone)]
struct Comments {
    range: Range<usize>,
    last_line: u32,
}

/// What the visit has seen so far.
pub(super) struct Walk<'t> {
    pub(super) source: &'t Source<'t>,
    pub(super) compiled: &'t Compiled,
    pub(super) scopes: Vec<Scope>,
    pub(super) symbols: Vec<Symbol>,
    pub(super) imports: Vec<String>,
    pub(super) doc: Option<String>,
    pub(super) cuts: Vec<Cut>,
    /// Where the decorators or the `template<…>` of the node at hand begin.
    wrapped_at: Option<usize>,
    /// The comments directly above the node at hand.
    above: Option<Comments>,
    depth: usize,
}

impl<'t> Walk<'t> {
    pub(super) fn new(source: &'t Source<'t>, compiled: &'t Compiled) -> Self {
        Self {
            source,
            compiled,
            scopes: Vec::new(),
            symbols: Vec::new(),
            imports: Vec::new(),
            doc: None,
            cuts: Vec::new(),
            wrapped_at: None,
            above: None,
            depth: 0,
        }
    }

    /// Visits the children of `node`.
    pub(super) fn enter(&mut self, node: Node<'t>) {
        if self.depth == MAX_DEPTH {
            return;
        }
        self.depth += 1;
        let outer = self.above.take();
        let mut last_line = 0;
        let mut cursor = node.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            match self.compiled.visit(child) {
                Some(Visit::Comment) => self.meet_comment(child, last_line),
                visit => {
                    self.leave_comments_unless_above(child);
                    self.visit(child, visit);
                    self.above = None;
                    last_line = self.source.line(self.range(child).end.saturating_sub(1));
                }
            }
            more = cursor.goto_next_sibling();
        }
        self.detach_comments();
        self.above = outer;
        self.depth -= 1;
    }

    fn visit(&mut self, node: Node<'t>, visit: Option<Visit>) {
        match visit {
            Some(Visit::Enter) => {
                let wrapped_at = self.wrapped_at.take();
                self.enter(node);
                self.wrapped_at = wrapped_at;
            }
            Some(Visit::Wrap) => self.unwrap(node),
            Some(Visit::Read(read)) => read(self, node),
            Some(Visit::Comment) | None => {}
        }
    }

    /// Visits what is inside of a wrapper as if it began where the wrapper begins.
    fn unwrap(&mut self, wrapper: Node<'t>) {
        let outermost = self.wrapped_at.is_none();
        if outermost {
            self.wrapped_at = Some(self.range(wrapper).start);
        }
        let mut cursor = wrapper.walk();
        let mut more = cursor.goto_first_child();
        while more {
            let child = cursor.node();
            let visit = self.compiled.visit(child);
            if !matches!(visit, Some(Visit::Comment)) {
                self.visit(child, visit);
            }
            more = cursor.goto_next_sibling();
        }
        if outermost {
            self.wrapped_at = None;
        }
    }

    /// Visits the inside of something that has a name, and returns the symbols found there.
    pub(super) fn inside(&mut self, scope: Scope, body: Node<'t>) -> Vec<Symbol> {
        let wrapped_at = self.wrapped_at.take();
        let around = std::mem::take(&mut self.symbols);
        self.scopes.push(scope);
        self.enter(body);
        self.scopes.pop();
        self.wrapped_at = wrapped_at;
        std::mem::replace(&mut self.symbols, around)
    }

    /// Returns the child of `node` in that field.
    pub(super) fn field(&self, node: Node<'t>, field: Field) -> Option<Node<'t>> {
        self.compiled.child(node, field)
    }

    /// Returns where `node` stands in the original text.
    pub(super) fn range(&self, node: Node<'_>) -> Range<usize> {
        self.source.original_range(node.byte_range())
    }

    /// Returns the original text of `node`.
    pub(super) fn text(&self, node: Node<'_>) -> &'t str {
        self.source.text(self.range(node))
    }

    /// Returns where `node` begins, with its decorators or its `template<…>`.
    pub(super) fn start(&self, node: Node<'_>) -> usize {
        self.wrapped_at.unwrap_or_else(|| self.range(node).start)
    }

    /// Returns the span from the start of `node`, wrappers included, to `end`.
    pub(super) fn span(&self, node: Node<'_>, end: usize) -> Span {
        let start = self.start(node);
        self.source.span(start..end.max(start))
    }

    /// Returns the name with those around it.
    pub(super) fn qualified(&self, name: &str) -> String {
        let separator = self.compiled.language.separator;
        let mut qualified = String::new();
        for scope in self.scopes.iter().filter(|scope| !scope.name.is_empty()) {
            qualified.push_str(&scope.name);
            qualified.push_str(separator);
        }
        qualified.push_str(name);
        qualified
    }

    /// Returns the kind of the innermost scope.
    pub(super) fn scope_kind(&self) -> Option<SymbolKind> {
        self.scopes.last().map(|scope| scope.kind)
    }

    /// Returns the text of `range` on one line, without the comments in it.
    pub(super) fn head(&self, node: Node<'t>, range: Range<usize>) -> String {
        let text = self.source.text(range.clone());
        if !text.contains(['#', '/']) {
            return one_line(text);
        }
        let mut plain = String::with_capacity(text.len());
        let mut at = range.start;
        for comment in comments_within(node, &range) {
            let comment = self.source.original_range(comment);
            plain.push_str(self.source.text(at..comment.start.min(range.end)));
            plain.push(' ');
            at = comment.end;
        }
        plain.push_str(self.source.text(at.min(range.end)..range.end));
        one_line(&plain)
    }

    /// Remembers what the file draws in, each name once.
    pub(super) fn import(&mut self, name: &str) {
        let name = one_line(name);
        if !name.is_empty() && !self.imports.contains(&name) {
            self.imports.push(name);
        }
    }

    /// Returns the first paragraph of the comment directly above the node at hand.
    pub(super) fn doc_above(&self) -> Option<String> {
        let comments = self.above.as_ref()?;
        let text = self.source.text(comments.range.clone());
        if is_about_copying(text) {
            return None;
        }
        first_paragraph(&unmark(text))
    }

    /// Returns the text of the comment directly above the node at hand, markers included.
    pub(super) fn comment_above(&self) -> &'t str {
        self.above.as_ref().map_or("", |comments| self.source.text(comments.range.clone()))
    }

    fn meet_comment(&mut self, node: Node<'t>, last_code_line: u32) {
        let range = self.range(node);
        // A line comment's node may hold the line's end.
        let text = self.source.text(range.clone());
        let range = range.start..range.start + text.trim_end().len();
        let span = self.source.span(range.clone());
        if span.start_line == last_code_line {
            // It trails what stands on its line, and is about that.
            return;
        }
        match &mut self.above {
            Some(above) if span.start_line <= above.last_line + 1 => {
                above.range.end = range.end;
                above.last_line = span.end_line;
            }
            Some(_) | None => {
                self.detach_comments();
                self.above = Some(Comments { range, last_line: span.end_line });
            }
        }
    }

    fn leave_comments_unless_above(&mut self, node: Node<'t>) {
        let line = self.source.line(self.range(node).start);
        if self.above.as_ref().is_some_and(|above| above.last_line + 1 < line) {
            self.detach_comments();
        }
    }

    /// Lets go of comments that belong to no declaration: they may be about the file.
    fn detach_comments(&mut self) {
        let Some(comments) = self.above.take() else { return };
        let text = self.source.text(comments.range.clone());
        let at_head = self.symbols.is_empty() && self.scopes.is_empty();
        if at_head && self.doc.is_none() && !is_about_copying(text) {
            self.doc = first_paragraph(&unmark(text));
            return;
        }
        let lines = text.lines().count();
        if self.compiled.language.cuts_detached_comments && 2 < lines {
            self.cuts.push(Cut::new(comments.range, format!("/* {} of comment */", count_lines(lines))));
        }
    }
}

/// Returns `1 line`, `34 lines`: the size of what was taken away.
pub(super) fn count_lines(lines: usize) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}
