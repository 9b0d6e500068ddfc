//! The parts of a text shared by all its excerpts: what a skeleton cuts, and where statements and declarations are.
//!
//! A document shows a file in several selections until it keeps its limit. A text is parsed for the first of them
//! alone; its tree, which may take hundreds of megabytes, is not kept.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::language::CompiledLanguage;
use super::parse::{error_count, parse};
use super::skeleton::{SkeletonCut, sort_cuts};
use super::walk::OutlineWalk;
use crate::model::is_component_type;
use crate::syntax::text::{PreprocessedText, SourceText};

/// What all excerpts of a text have in common.
#[derive(Debug)]
pub struct ExcerptParts {
    /// In the order of the text.
    pub(super) cuts: Vec<SkeletonCut>,
    /// The nodes of the tree; the first is its root.
    nodes: Vec<PartNode>,
    /// What a scanner elided, except for conditions of the preprocessor.
    pub(super) elided: Vec<Range<usize>>,
    /// How many errors the text has, if all of it was parsed.
    pub(super) errors: Option<usize>,
}

/// A node of the tree, which may be dropped from an excerpt. Nodes have children here if these can be on other lines
/// than the node is itself.
#[derive(Debug)]
pub(super) struct PartNode {
    start: u32,
    end: u32,
    first_child: u32,
    child_count: u32,
    pub(super) holds: NodeContent,
    /// Whether it can be dropped from a list.
    pub(super) is_item: bool,
    /// Whether it can be dropped wherever it is: a comment, or a decorator of several lines.
    pub(super) is_aside: bool,
}

/// What a node holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NodeContent {
    /// Statements, declarations or elements of a value, any of which may be missing.
    List,
    /// A branch of a statement: what an `else` or a `catch` introduces.
    Branch,
    Other,
}

impl NodeContent {
    /// Returns what nodes of a kind of a language's grammar hold.
    fn from_kind(kind: &str, language: &str) -> Self {
        const LISTS: [&str; 14] = [
            "block", "body", "body_statement", "body_declarations", "chunk", "compound_statement",
            "declaration_list", "document", "preproc_if", "preproc_ifdef", "preproc_else", "section",
            "statements", "stylesheet",
        ];
        const SCRIPT_LISTS: &[&str] = &["object", "array", "object_type"];
        const BRANCHES: [&str; 5] = ["_clause", "else", "elsif", "if_statement", "if_expression"];
        // Kinds whose names mean something else in other grammars, and values that may have functions in them.
        let of_language: &[&str] = match language {
            "javascript" | "typescript" | "tsx" => SCRIPT_LISTS,
            _ if is_component_type(language) => SCRIPT_LISTS,
            "lua" => &["table_constructor"],
            "ruby" => &["hash", "array"],
            "php" => &["array_creation_expression"],
            "go" => &["literal_value"],
            "rust" => &["array_expression", "field_initializer_list", "macro_definition", "token_tree"],
            "java" => &["array_initializer"],
            "csharp" => &["initializer_expression"],
            "zig" => &["struct_declaration", "union_declaration", "enum_declaration", "opaque_declaration"],
            "yaml" => &["block_mapping", "block_sequence"],
            "toml" => &["table", "table_array_element"],
            _ => &[],
        };
        if of_language.contains(&kind)
            || kind == "field_declaration_list"
            || LISTS.iter().any(|end| kind.ends_with(end))
        {
            Self::List
        } else if BRANCHES.iter().any(|end| kind.ends_with(end)) {
            Self::Branch
        } else {
            Self::Other
        }
    }
}

impl PartNode {
    fn new(node: Node<'_>, language: &str, range: &Range<usize>, has_lines: bool) -> Self {
        let kind = node.kind();
        Self {
            start: position(range.start),
            end: position(range.end),
            first_child: 0,
            child_count: 0,
            holds: NodeContent::from_kind(kind, language),
            is_item: node.is_named() && !node.is_error(),
            is_aside: kind.contains("comment") || (has_lines && kind == "decorator"),
        }
    }

    /// Returns its range in the original text.
    pub(super) const fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl ExcerptParts {
    /// Parses a text; `None` if it cannot be parsed.
    pub(in crate::syntax) fn new(
        compiled: &CompiledLanguage,
        text: &str,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let mut source = SourceText::new(text);
        if let Some(preprocessed) = compiled.language.preprocess.and_then(|preprocess| preprocess(text)) {
            source = source.with_preprocessed(preprocessed);
        }
        let tree = parse(compiled, source.parsed_text(), give_up).ok()?;
        let mut walk = OutlineWalk::new(&source, compiled);
        if let Some(read) = compiled.language.read_root {
            read(&mut walk, tree.root_node());
        }
        walk.visit_children(tree.root_node());
        let mut cuts = std::mem::take(&mut walk.cuts);
        sort_cuts(&mut cuts);
        // The errors of a preprocessed copy are not those of the source.
        let errors = source.preprocessed().is_none().then(|| error_count(tree.root_node()));
        Some(Self {
            cuts,
            nodes: nodes(&source, &tree, compiled.language.id),
            elided: elided(&source),
            errors,
        })
    }

    /// Parses a body that the scanner of its language has elided; `None` if it cannot be parsed. Nothing is cut from
    /// it, and its errors are not counted.
    pub(super) fn of_body(
        compiled: &CompiledLanguage,
        text: &str,
        range: &Range<usize>,
        give_up: &mut dyn FnMut() -> bool,
    ) -> Option<Self> {
        let body = text[range.clone()].trim_start();
        let mut start = range.end - body.len();
        let mut parsed = PreprocessedText::default();
        if compiled.language.id == "python" {
            // What is indented has to be in a block.
            start = text[..start].rfind('\n').map_or(0, |end| end + 1);
            parsed.substitute("if 1:\n", start..start);
        }
        parsed.copy(text, start..range.end);
        let source = SourceText::new(text).with_preprocessed(parsed);
        let tree = parse(compiled, source.parsed_text(), give_up).ok()?;
        Some(Self {
            cuts: Vec::new(),
            nodes: nodes(&source, &tree, compiled.language.id),
            elided: Vec::new(),
            errors: None,
        })
    }

    /// Returns the approximate size in bytes.
    pub fn memory_size(&self) -> usize {
        size_of::<Self>()
            + self.nodes.len() * size_of::<PartNode>()
            + self.cuts.len() * size_of::<SkeletonCut>()
            + self.elided.len() * size_of::<Range<usize>>()
    }

    /// Returns whether the tree has the statements of a body, and not only what a scanner put in its place.
    pub(super) fn has_statements_of(&self, body: &Range<usize>) -> bool {
        let is_within = |node: &PartNode| {
            let own = node.range();
            body.start <= own.start && own.end <= body.end && own.len() * 2 < body.len()
        };
        self.nodes.iter().any(|node| node.is_item && is_within(node))
    }

    /// Returns the root, which is a list whatever its kind.
    pub(super) fn root(&self) -> &PartNode {
        &self.nodes[0]
    }

    pub(super) fn is_root(&self, node: &PartNode) -> bool {
        std::ptr::eq(node, self.root())
    }

    /// Returns the innermost list that a position is in, the whole text excepted.
    pub(super) fn innermost_list(&self, at: usize) -> Option<Range<usize>> {
        let (mut node, mut list) = (self.root(), None);
        while let Some(child) = self.children(node).iter().find(|child| child.range().contains(&at)) {
            if child.holds == NodeContent::List {
                list = Some(child.range());
            }
            node = child;
        }
        list
    }

    pub(super) fn children(&self, node: &PartNode) -> &[PartNode] {
        &self.nodes[node.first_child as usize..][..node.child_count as usize]
    }
}

/// Returns the nodes of a tree, the children of each one after the other.
fn nodes(source: &SourceText<'_>, tree: &Tree, language: &str) -> Vec<PartNode> {
    let root = tree.root_node();
    let mut nodes = vec![PartNode::new(root, language, &source.original_range(root.byte_range()), true)];
    let mut open = vec![(0, root)];
    let mut cursor = root.walk();
    while let Some((at, parent)) = open.pop() {
        let first = nodes.len();
        // To the parser, what is between the brackets of a macro is any tokens: some may be missing.
        let is_of_macro = parent.kind() == "token_tree";
        for child in parent.children(&mut cursor) {
            let range = source.original_range(child.byte_range());
            let span = source.span(range.clone());
            let has_lines = span.start_line < span.end_line;
            let mut node = PartNode::new(child, language, &range, has_lines);
            node.is_item |= is_of_macro && !is_bracket(child.kind());
            // What is on one line is wanted as a whole or not at all, except for the elements of a list.
            if 0 < child.child_count() && (node.holds == NodeContent::List || has_lines) {
                open.push((nodes.len(), child));
            }
            nodes.push(node);
        }
        nodes[at].first_child = position(first);
        nodes[at].child_count = position(nodes.len() - first);
    }
    nodes.shrink_to_fit();
    nodes
}

/// Returns whether a token is one of a pair, so that neither may be missing.
fn is_bracket(kind: &str) -> bool {
    matches!(kind, "(" | ")" | "[" | "]" | "{" | "}")
}

/// Returns the ranges of what a scanner elided that may be missing.
fn elided(source: &SourceText<'_>) -> Vec<Range<usize>> {
    let Some(preprocessed) = source.preprocessed() else { return Vec::new() };
    // A condition of the preprocessor has another half, which may be wanted.
    let is_condition = |range: &Range<usize>| {
        let directive = source.text(range.clone()).strip_prefix('#').map(str::trim_start);
        directive.is_some_and(|name| ["if", "el", "endif"].iter().any(|word| name.starts_with(word)))
    };
    let items = preprocessed.synthesized.iter().map(|item| whole_directive(source, item.range()));
    preprocessed.elided_comments.iter().cloned().chain(items.filter(|range| !is_condition(range))).collect()
}

/// Returns all lines of the directive of the preprocessor that a range is in; the range, if it is in none.
fn whole_directive(source: &SourceText<'_>, range: Range<usize>) -> Range<usize> {
    let text = source.original_text();
    let line_start = |at: usize| text[..at].rfind('\n').map_or(0, |end| end + 1);
    let continues = |end: usize| text[..end].trim_end_matches(['\n', '\r']).ends_with('\\');
    let mut start = line_start(range.start);
    while 0 < start && continues(start) {
        start = line_start(start - 1);
    }
    if !text[start..].trim_start().starts_with('#') {
        return range;
    }
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |end| at + end + 1);
    let mut end = line_end(range.end.saturating_sub(1).max(start));
    while end < text.len() && continues(end) {
        end = line_end(end);
    }
    start..end
}

/// Returns a position in a text or among its nodes. What is parsed has fewer bytes than four billion.
fn position(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
