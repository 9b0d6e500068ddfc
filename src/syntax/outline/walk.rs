//! The walk over the nodes that a language's table names: it collects symbols, imports, docs and cuts.
//!
//! Bodies of functions are never entered, so that a walk touches a small part of the tree.

use std::collections::HashSet;
use std::ops::Range;

use tree_sitter::Node;

use super::docs::SourceDoc;
use super::language::{CompiledLanguage, GrammarField, Visit};
use super::nodes::{child_of_kind, find, signature_line};
use super::skeleton::SkeletonCut;
use crate::model::{Span, Symbol, SymbolKind};
use crate::syntax::text::{
    ElisionCursor, SourceText, clip_name, documentation, format_line_count, is_import_heading,
    is_license_text, is_project_banner, one_line,
};

/// Containers nested deeper than this are not entered: it bounds the stack, and no reader gets that far.
const MAX_DEPTH: usize = 120;

/// Names around a symbol that are longer than this together are not all spelled out.
pub(super) const MAX_SCOPES: usize = 2000;

/// A name around the nodes that are being visited.
pub(in crate::syntax) struct NamedScope {
    /// The name; a qualified one where the text spells it so.
    pub(in crate::syntax) name: String,
    /// The kind of symbol that has it.
    pub(in crate::syntax) kind: SymbolKind,
}

/// A run of comments without a blank line in it.
#[derive(Clone)]
struct CommentRun {
    range: Range<usize>,
    last_line: u32,
}

/// A comment after some code, with the lines below it on which it continues.
struct TrailingComment {
    range: Range<usize>,
    /// The line of the code.
    line: u32,
    /// Where a comment would begin that continues it.
    next_line: u32,
    column: usize,
}

/// What the visit has seen so far.
pub(in crate::syntax) struct OutlineWalk<'t> {
    pub(in crate::syntax) source: &'t SourceText<'t>,
    pub(in crate::syntax) compiled: &'t CompiledLanguage,
    pub(in crate::syntax) scopes: Vec<NamedScope>,
    pub(in crate::syntax) symbols: Vec<Symbol>,
    pub(in crate::syntax) imports: Vec<String>,
    pub(in crate::syntax) doc: Option<String>,
    pub(in crate::syntax) cuts: Vec<SkeletonCut>,
    /// The docs that are not comments.
    pub(in crate::syntax) docs: Vec<SourceDoc>,
    /// Every comment that is not in a body.
    pub(super) comments: Vec<Range<usize>>,
    /// The node that contains the current node together with its decorators or its `template<…>`.
    pub(super) wrapper: Option<Node<'t>>,
    /// Where attributes begin that are siblings of the current node and belong to it.
    prefix_start: Option<usize>,
    /// The comments directly above the current node.
    preceding_comments: Option<CommentRun>,
    /// The documentation above the condition of the preprocessor that is visited: that of the first declaration of each
    /// branch.
    conditional_doc: Option<CommentRun>,
    /// The same for the branch that is visited next.
    branch_doc: Option<CommentRun>,
    /// The comment that trails the code before the current node.
    trailing_comment: Option<TrailingComment>,
    /// Comments that precede the node that is visited next, but belong into it.
    leading_comments: Vec<Node<'t>>,
    depth: usize,
    seen_imports: HashSet<String>,
    bound_names: HashSet<&'t str>,
}

impl<'t> OutlineWalk<'t> {
    pub(in crate::syntax) fn new(source: &'t SourceText<'t>, compiled: &'t CompiledLanguage) -> Self {
        Self {
            source,
            compiled,
            scopes: Vec::new(),
            symbols: Vec::new(),
            imports: Vec::new(),
            doc: None,
            cuts: Vec::new(),
            docs: Vec::new(),
            comments: source.preprocessed().map_or_else(Vec::new, |text| text.elided_comments.clone()),
            wrapper: None,
            prefix_start: None,
            preceding_comments: None,
            conditional_doc: None,
            branch_doc: None,
            trailing_comment: None,
            leading_comments: Vec::new(),
            depth: 0,
            seen_imports: HashSet::new(),
            bound_names: HashSet::new(),
        }
    }

    pub(in crate::syntax) fn visit_children(&mut self, node: Node<'t>) {
        let leading = std::mem::take(&mut self.leading_comments);
        let branch_doc = self.branch_doc.take();
        // The root extends from end to end, whatever was elided before its first child and after its last.
        let range = if self.depth == 0 { 0..self.source.original_text().len() } else { self.range(node) };
        let mut place = ElisionCursor::new(self.source, range.start);
        self.visit_inside(|walk| {
            walk.preceding_comments = branch_doc;
            for comment in leading {
                walk.record_comment(walk.range(comment), 0);
            }
            let mut cursor = node.walk();
            let mut more = cursor.goto_first_child();
            while more {
                walk.visit_child(cursor.node(), &mut place);
                more = cursor.goto_next_sibling();
            }
            walk.visit_elided_until(&mut place, range.end);
        });
    }

    fn visit_child(&mut self, child: Node<'t>, place: &mut ElisionCursor) {
        let child_range = self.range(child);
        self.visit_elided_until(place, child_range.start);
        match self.compiled.visit(child) {
            // It is about what it is in, as `//!` is in Rust, and not about what follows.
            Some(Visit::Comment) if is_inner_doc(child) => {
                self.comments.push(child_range);
                self.detach_comments();
            }
            Some(Visit::Comment) => {
                self.comments.push(child_range.clone());
                self.record_comment(child_range, place.last_code_line);
            }
            Some(Visit::Prefix) => self.record_prefix(child_range),
            None if self.passes_doc_on(child_range.start) => {
                self.detach_distant_comments(false, child_range.start);
                place.advance_past(self.source, child_range.end);
            }
            visit => {
                let is_preamble =
                    matches!(visit, Some(Visit::Preamble(_) | Visit::Import(..) | Visit::FileHead))
                        || is_preprocessor_condition(child);
                self.detach_distant_comments(is_preamble, child_range.start);
                self.visit(child, visit);
                self.preceding_comments = None;
                self.prefix_start = None;
                place.advance_past(self.source, child_range.end);
            }
        }
    }

    /// Visits what is one level deeper, unless that is too deep.
    pub(super) fn visit_inside(&mut self, visit: impl FnOnce(&mut Self)) {
        if self.depth == MAX_DEPTH {
            return;
        }
        self.depth += 1;
        // What precedes the parent does not document its first child.
        let outer = (self.preceding_comments.take(), self.prefix_start.take());
        visit(self);
        self.detach_comments();
        (self.preceding_comments, self.prefix_start) = outer;
        self.depth -= 1;
    }

    /// Visits a branch of a condition of the preprocessor, whose first declaration has the documentation that is above
    /// the condition; `is_first` is whether the condition begins with this branch.
    pub(in crate::syntax) fn visit_branch(&mut self, branch: Node<'t>, is_first: bool) {
        let outer = self.conditional_doc.clone();
        if is_first {
            self.conditional_doc =
                if self.has_crossing_doc() { self.preceding_comments.take() } else { None };
        }
        let line = self.source.line(self.range(branch).start);
        self.branch_doc = self.conditional_doc.clone().map(|doc| CommentRun { last_line: line, ..doc });
        // Only the symbol directly within a wrapper begins with it.
        let wrapper = self.wrapper.take();
        self.visit_children(branch);
        self.wrapper = wrapper;
        self.conditional_doc = if is_first { outer } else { self.conditional_doc.take() };
    }

    /// Returns whether the comments above the current node are documentation of the next declaration, whatever
    /// directives are between them.
    fn has_crossing_doc(&self) -> bool {
        let comment = self.preceding_comment();
        self.compiled.language.docs_cross_directives
            && (comment.starts_with("///") || comment.starts_with("/**"))
    }

    /// Returns whether what begins at `start` is part of a directive that the documentation above is not about.
    fn passes_doc_on(&self, start: usize) -> bool {
        self.has_crossing_doc()
            && (self.source.line_prefix(start).trim_start().starts_with('#')
                || self.source.text(start..start + 1) == "#")
    }

    /// Makes the node that is visited next begin with comments that the grammar puts before it.
    #[cfg_attr(not(feature = "lang-ruby"), expect(dead_code, reason = "only Ruby's comments precede a node"))]
    pub(in crate::syntax) fn prepend_comments(&mut self, comments: Vec<Node<'t>>) {
        self.leading_comments = comments;
    }

    fn visit(&mut self, node: Node<'t>, visit: Option<&Visit>) {
        match visit {
            Some(Visit::Enter) => {
                // Only the symbol directly within a wrapper begins with it, not those of a block in it.
                let wrapper = self.wrapper.take();
                self.visit_children(node);
                self.wrapper = wrapper;
            }
            Some(Visit::Wrapper) => self.visit_wrapped(node),
            Some(Visit::Define(rule)) => rule.apply(self, node),
            Some(Visit::Read(read) | Visit::Preamble(read)) => read(self, node),
            Some(Visit::Import(path, quotes)) => {
                if let Some(name) = find(node, path) {
                    self.add_import(self.text(name).trim_matches(*quotes));
                }
            }
            Some(Visit::Cut(path)) => {
                if let Some(code) = find(node, path) {
                    self.cut_code(code);
                }
            }
            Some(Visit::Comment | Visit::Prefix | Visit::FileHead) | None => {}
        }
    }

    /// Visits what is inside a wrapper as if it began where the wrapper begins.
    pub(in crate::syntax) fn visit_wrapped(&mut self, wrapper: Node<'t>) {
        if self.depth == MAX_DEPTH {
            return;
        }
        self.depth += 1;
        let before = self.symbols.len();
        let outermost = self.wrapper.is_none();
        if outermost {
            self.wrapper = Some(wrapper);
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
            self.wrapper = None;
            // Where the grammar is lost, a wrapper contains symbols that it does not wrap.
            self.symbols[before..].sort_by_key(|symbol| symbol.span.start_byte);
        }
        self.depth -= 1;
    }

    /// Visits the inside of something that has a name, and returns the symbols in it.
    pub(in crate::syntax) fn visit_scope(&mut self, scope: NamedScope, body: Node<'t>) -> Vec<Symbol> {
        self.collect_symbols(scope, |walk| walk.visit_children(body))
    }

    /// Returns the symbols that `visit` finds inside something that has a name.
    pub(super) fn collect_symbols(
        &mut self,
        scope: NamedScope,
        visit: impl FnOnce(&mut Self),
    ) -> Vec<Symbol> {
        let wrapper = self.wrapper.take();
        let around = std::mem::take(&mut self.symbols);
        let bound_around = std::mem::take(&mut self.bound_names);
        // Every member repeats the name in its qualified name, so a name of a megabyte would be copied for each.
        self.scopes.push(NamedScope { name: clip_name(scope.name), kind: scope.kind });
        visit(self);
        self.scopes.pop();
        self.wrapper = wrapper;
        self.bound_names = bound_around;
        std::mem::replace(&mut self.symbols, around)
    }

    /// Adds a symbol to the outline. One without a name is the grammar's guess at what is missing from the text, and
    /// could not be asked for.
    pub(in crate::syntax) fn add_symbol(&mut self, symbol: Symbol) {
        if !symbol.name.is_empty() {
            self.symbols.push(symbol);
        }
    }

    /// Returns a symbol that extends from `node`, wrappers included, to `end`, with the doc above it and without
    /// members. `full` is its name with what qualifies it in addition to the scopes around it.
    pub(in crate::syntax) fn symbol(
        &self,
        node: Node<'_>,
        end: usize,
        kind: SymbolKind,
        name: String,
        full: &str,
        signature: String,
    ) -> Symbol {
        Symbol {
            kind,
            qualified_name: self.qualified(full),
            name,
            span: self.span(node, end),
            signature,
            doc: self.preceding_doc(),
            recovered: false,
            children: Vec::new(),
        }
    }

    /// Returns the text of the node that a path leads to, which is a name.
    pub(in crate::syntax) fn name_at(&self, node: Node<'t>, path: &str) -> Option<String> {
        find(node, path).map(|name| self.text(name).to_owned())
    }

    pub(in crate::syntax) fn field(&self, node: Node<'t>, field: GrammarField) -> Option<Node<'t>> {
        self.compiled.child_by_field(node, field)
    }

    /// Returns the range of `node` in the original text.
    pub(in crate::syntax) fn range(&self, node: Node<'_>) -> Range<usize> {
        self.source.original_range(node.byte_range())
    }

    pub(in crate::syntax) fn text(&self, node: Node<'_>) -> &'t str {
        self.source.text(self.range(node))
    }

    /// Returns the node that contains `node` together with its decorators or its `template<…>`; itself where nothing
    /// does.
    pub(in crate::syntax) fn outermost(&self, node: Node<'t>) -> Node<'t> {
        self.wrapper.unwrap_or(node)
    }

    /// Returns where `node` begins, with its decorators or its `template<…>`.
    pub(in crate::syntax) fn start_with_prefix(&self, node: Node<'_>) -> usize {
        let start = self.range(self.wrapper.unwrap_or(node)).start;
        self.prefix_start.map_or(start, |lead| lead.min(start))
    }

    /// Returns the span from the start of `node`, wrappers included, to `end`.
    pub(in crate::syntax) fn span(&self, node: Node<'_>, end: usize) -> Span {
        let start = self.start_with_prefix(node);
        self.source.span(start..end.max(start))
    }

    /// Returns the name with those around it.
    pub(in crate::syntax) fn qualified(&self, name: &str) -> String {
        let separator = self.compiled.language.separator;
        let mut qualified = String::new();
        let length: usize = self.scopes.iter().map(|scope| scope.name.len()).sum();
        // Names without end, each within the next, would fill the memory when all are spelled out for each.
        let outer = if length <= MAX_SCOPES { 0 } else { self.scopes.len() - 1 };
        for scope in self.scopes[outer..].iter().filter(|scope| !scope.name.is_empty()) {
            qualified.push_str(&scope.name);
            // PHP's namespaces end with their own.
            if !scope.name.ends_with('\\') {
                qualified.push_str(separator);
            }
        }
        qualified.push_str(name);
        qualified
    }

    /// Returns whether the current node is within no other that is visited.
    pub(in crate::syntax) const fn is_top_level(&self) -> bool {
        self.depth <= 1
    }

    pub(in crate::syntax) fn scope_kind(&self) -> Option<SymbolKind> {
        self.scopes.last().map(|scope| scope.kind)
    }

    /// Returns on one line the text from the start of `node`, wrappers included, to `end`.
    pub(in crate::syntax) fn signature_up_to(&self, node: Node<'t>, end: usize) -> String {
        self.signature_text(self.wrapper.unwrap_or(node), self.start_with_prefix(node)..end)
    }

    /// Returns the text of `range` on one line, without the comments in it.
    pub(in crate::syntax) fn signature_text(&self, node: Node<'t>, range: Range<usize>) -> String {
        signature_line(self.source, Some(node), range, self.compiled.language.member_separator)
    }

    /// Adds an import, each name once.
    pub(in crate::syntax) fn add_import(&mut self, name: &str) {
        let name = one_line(name);
        // The list keeps the order of the text; the set only answers whether a name is in it.
        if !name.is_empty() && self.seen_imports.insert(name.clone()) {
            self.imports.push(name);
        }
    }

    /// Records that the file, or the innermost scope, binds a name, and returns whether it did not before.
    pub(in crate::syntax) fn is_first_binding(&mut self, name: &'t str) -> bool {
        self.bound_names.insert(name)
    }

    /// Returns the first paragraph of the comment directly above the current node.
    pub(in crate::syntax) fn preceding_doc(&self) -> Option<String> {
        let doc = documentation(self.preceding_comment())?;
        // A license is at the head of a file. Further down the same words may describe a symbol, such as a parser of
        // licenses.
        (!(self.is_before_symbols() && is_license_text(&doc))).then_some(doc)
    }

    /// Returns the text of the comment directly above the current node, markers included.
    pub(in crate::syntax) fn preceding_comment(&self) -> &'t str {
        self.preceding_comments.as_ref().map_or("", |comments| self.source.text(comments.range.clone()))
    }

    /// Remembers attributes; the comments above them are above what they belong to.
    fn record_prefix(&mut self, range: Range<usize>) {
        self.detach_distant_comments(false, range.start);
        self.prefix_start = self.prefix_start.or(Some(range.start));
        if let Some(above) = &mut self.preceding_comments {
            above.last_line = self.source.line(range.end.saturating_sub(1));
        }
    }

    /// Records a comment with that range of the original; `last_code_line` is the line of the last code before it.
    pub(super) fn record_comment(&mut self, range: Range<usize>, last_code_line: u32) {
        // A line comment's node may include the line ending.
        let text = self.source.text(range.clone());
        let range = range.start..range.start + text.trim_end().len();
        let span = self.source.span(range.clone());
        let column = range.start - self.source.line_start(range.start);
        // After an attribute it is about that; what the attribute belongs to has its own above.
        if self.prefix_start.is_some() && !self.source.line_prefix(range.start).trim().is_empty() {
            return;
        }
        let (line, next_line) = (span.start_line, span.end_line + 1);
        if line == last_code_line {
            self.document_trailed_symbols(range.clone(), line, None);
            self.trailing_comment = Some(TrailingComment { range, line, next_line, column });
            return;
        }
        let continues =
            self.trailing_comment.take_if(|trailing| trailing.next_line == line && trailing.column == column);
        if let Some(TrailingComment { range: before, line, .. }) = continues {
            let range = before.start..range.end;
            self.document_trailed_symbols(range.clone(), line, Some(before));
            self.trailing_comment = Some(TrailingComment { range, line, next_line, column });
            return;
        }
        match &mut self.preceding_comments {
            // A comment between attributes is not part of those above them.
            Some(above) if span.start_line <= above.last_line + 1 && self.prefix_start.is_none() => {
                above.range.end = range.end;
                above.last_line = span.end_line;
            }
            Some(_) | None => {
                self.detach_comments();
                self.preceding_comments = Some(CommentRun { range, last_line: span.end_line });
            }
        }
    }

    /// Gives the comment to the names declared on that line, where their documentation is no other than what the
    /// comment was `before` it continued.
    fn document_trailed_symbols(&mut self, comment: Range<usize>, line: u32, before: Option<Range<usize>>) {
        let Some(span) = self.symbols.last().map(|last| last.span).filter(|span| span.end_line == line)
        else {
            return;
        };
        let before = before.and_then(|before| documentation(self.source.text(before)));
        let comment = self.source.text(comment);
        // These marks document what precedes them by definition, so the kind of symbol does not matter.
        let points_back = ["///<", "//!<", "/**<", "/*!<"].iter().any(|mark| comment.starts_with(mark));
        let documented = self.symbols.iter_mut().rev().take_while(|symbol| symbol.span == span);
        for symbol in documented.filter(|symbol| symbol.doc == before) {
            if points_back || is_value_kind(symbol.kind) {
                symbol.doc = documentation(comment);
            }
        }
    }

    /// Makes the comment above the current node the file's own documentation, where it is at the head.
    pub(in crate::syntax) fn use_comment_as_file_doc(&mut self) {
        self.set_file_doc(self.preceding_comment());
    }

    /// Makes a comment at the file's head the file's own documentation, where it has none yet.
    fn set_file_doc(&mut self, comment: &str) -> bool {
        if self.doc.is_some() || !self.is_before_symbols() {
            return false;
        }
        let is_about_file = |doc: &String| {
            !is_license_text(doc) && !is_project_banner(comment, doc) && !is_import_heading(doc)
        };
        self.doc = documentation(comment).filter(is_about_file);
        self.doc.is_some()
    }

    /// Returns whether no symbol was found yet.
    fn is_before_symbols(&self) -> bool {
        self.symbols.is_empty() && self.scopes.is_empty()
    }

    /// Detaches the last comments, unless what begins at `start` is directly below them. A comment above a preamble is
    /// not about that, so it may be about the file.
    pub(super) fn detach_distant_comments(&mut self, is_preamble: bool, start: usize) {
        if is_preamble
            && !self.set_file_doc(self.preceding_comment())
            && is_license_text(self.preceding_comment())
        {
            self.detach_comments();
        }
        let line = self.source.line(start);
        if self.has_crossing_doc()
            && let Some(above) = &mut self.preceding_comments
            && above.last_line < line
        {
            let between = self.source.text(above.range.end.min(start)..start);
            let mut lines = between.lines().skip(1).filter(|line| !line.trim().is_empty());
            if lines.all(|line| line.trim_start().starts_with('#')) {
                above.last_line = line - 1;
            }
        }
        if self.preceding_comments.as_ref().is_some_and(|above| above.last_line + 1 < line) {
            self.detach_comments();
        }
    }

    /// Clears the comments above what was just read: they were about that.
    pub(super) fn clear_comments(&mut self) {
        self.preceding_comments = None;
    }

    /// Detaches comments that belong to no declaration: they may be about the file.
    fn detach_comments(&mut self) {
        let Some(comments) = self.preceding_comments.take() else { return };
        let text = self.source.text(comments.range.clone());
        if self.set_file_doc(text) {
            return;
        }
        let lines = text.lines().count();
        if self.compiled.language.cuts_detached_comments && 2 < lines {
            self.cuts.push(SkeletonCut::new(
                comments.range,
                format!("/* {} of comment */", format_line_count(lines)),
            ));
        }
    }
}

/// Returns whether a comment after such a symbol is about it: after a function's body it may be about anything.
fn is_value_kind(kind: SymbolKind) -> bool {
    let values = [SymbolKind::Constant, SymbolKind::EnumMember, SymbolKind::Field, SymbolKind::Variable];
    values.contains(&kind)
}

/// Returns whether the grammar marks a comment as being about what it is in.
fn is_inner_doc(comment: Node<'_>) -> bool {
    child_of_kind(comment, "inner_doc_comment_marker").is_some()
}

/// Returns whether a node is a condition of the preprocessor, such as those among includes.
fn is_preprocessor_condition(node: Node<'_>) -> bool {
    matches!(node.kind(), "preproc_ifdef" | "preproc_if" | "preproc_call")
}
