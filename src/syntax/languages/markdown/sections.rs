//! Markdown's headings, each with what stands under it.

use std::ops::Range;

use tree_sitter::Node;

use super::skeleton::cut_sections;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::rule::find;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::words::clip_name;
use crate::syntax::words::first_paragraph;
use crate::syntax::words::one_line;

/// Sections nested deeper than this, as mutants of the grammar have them, are not looked into.
const MAX_DEPTH: usize = 40;

/// So much of a paragraph is looked at: links that do not end would be looked for again and again.
const LONGEST: usize = 4000;

/// So many paragraphs of a section are looked at for one that says something.
const MOST_PARAGRAPHS: usize = 5;

/// A heading, and the blocks up to the next one.
pub(super) struct MarkdownSection<'t> {
    /// The heading; none for what stands above the first.
    heading: Option<MarkdownHeading>,
    /// What stands under it.
    pub(super) blocks: Vec<Node<'t>>,
}

struct MarkdownHeading {
    level: usize,
    name: String,
    line: String,
    start: usize,
    end: usize,
}

/// Reads a whole text.
pub(super) fn read_document<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    let mut sections = vec![MarkdownSection { heading: None, blocks: Vec::new() }];
    collect(walk, root, 0, &mut sections);
    let docs: Vec<_> = sections.iter().map(|section| doc(walk, section)).collect();
    walk.doc = docs.iter().take(2).flatten().next().cloned();
    cut_sections(walk, &sections);
    add_nested_headings(walk, sections, docs);
}

fn collect<'t>(
    walk: &OutlineWalk<'t>,
    node: Node<'t>,
    depth: usize,
    sections: &mut Vec<MarkdownSection<'t>>,
) {
    for child in children(node) {
        match child.kind() {
            "section" if depth < MAX_DEPTH => collect(walk, child, depth + 1, sections),
            "atx_heading" | "setext_heading" => {
                let heading = heading(walk, child);
                sections.push(MarkdownSection { heading, blocks: Vec::new() });
            }
            _ => {
                let last = sections.last_mut().expect("there is one for what stands above all headings");
                last.blocks.push(child);
            }
        }
    }
}

fn heading<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> Option<MarkdownHeading> {
    let range = trimmed(walk, walk.range(node));
    let level = children(node).iter().find_map(|child| level(child.kind()))?;
    let content = find(node, "heading_content").map_or("", |content| walk.text(content));
    let name = clip_name(title(content));
    let line = one_line(walk.source.text(range.clone()).lines().next().unwrap_or_default());
    (!name.is_empty()).then_some(MarkdownHeading { level, name, line, start: range.start, end: range.end })
}

/// Returns the level that the marker of a heading says.
fn level(kind: &str) -> Option<usize> {
    let rest = kind.strip_prefix("atx_h").or_else(|| kind.strip_prefix("setext_h"))?;
    rest.get(..1)?.parse().ok()
}

/// Returns the words of a heading, without the signs that close it, its anchor and the targets of links.
fn title(content: &str) -> String {
    let content = beginning(content).trim().trim_end_matches('#').trim_end();
    let content = content.split_once("{#").map_or(content, |(before, _)| before);
    one_line(&plain(&plain(content)))
}

/// Returns the part of a text that is looked at.
fn beginning(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns a text without tags, images and the targets of links; an image may stand in a link, which twice takes away.
fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['[', '!', '<']) {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((words, after)) = link(rest.strip_prefix('!').unwrap_or(rest)) {
            if !rest.starts_with('!') {
                plain.push_str(words);
            }
            rest = after;
        } else if let Some(end) = rest.find('>').filter(|_| is_tag(rest)) {
            rest = &rest[end + 1..];
        } else {
            plain.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    plain.push_str(rest);
    plain
}

/// Splits `[words](target) rest`.
fn link(text: &str) -> Option<(&str, &str)> {
    let (words, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (target, after) = rest.split_once(')')?;
    (!words.contains('[') && !target.contains('\n')).then_some((words, after))
}

fn is_tag(text: &str) -> bool {
    let name = text.trim_start_matches(['<', '/']);
    text.starts_with('<')
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.find(['>', '\n']).is_some()
}

/// Returns the first paragraph of a section that says something.
fn doc<'t>(walk: &OutlineWalk<'t>, section: &MarkdownSection<'t>) -> Option<String> {
    let mut paragraphs =
        section.blocks.iter().filter(|block| block.kind() == "paragraph").take(MOST_PARAGRAPHS);
    paragraphs.find_map(|block| {
        first_paragraph(&plain(&plain(beginning(walk.text(*block)))))
            .filter(|words| words.contains(char::is_alphabetic))
    })
}

/// Makes symbols of the headings, each within the one before it of a lower level.
fn add_nested_headings<'t>(
    walk: &mut OutlineWalk<'t>,
    sections: Vec<MarkdownSection<'t>>,
    docs: Vec<Option<String>>,
) {
    let mut open: Vec<(usize, Symbol)> = Vec::new();
    for (section, doc) in sections.into_iter().zip(docs) {
        let Some(heading) = section.heading else { continue };
        while open.last().is_some_and(|(level, _)| heading.level <= *level) {
            close_heading(walk, &mut open);
        }
        let last = section.blocks.last().map_or(heading.end, |block| trimmed(walk, walk.range(*block)).end);
        let names = open.iter().map(|(_, symbol)| symbol.name.as_str()).chain([heading.name.as_str()]);
        let qualified_name = names.collect::<Vec<_>>().join(" > ");
        let symbol = Symbol {
            kind: SymbolKind::Heading,
            qualified_name,
            span: walk.source.span(heading.start..last.max(heading.end)),
            signature: heading.line,
            doc,
            recovered: false,
            children: Vec::new(),
            name: heading.name,
        };
        open.push((heading.level, symbol));
    }
    while !open.is_empty() {
        close_heading(walk, &mut open);
    }
}

/// Gives the innermost heading to the one around it, which ends no earlier.
fn close_heading(walk: &mut OutlineWalk<'_>, open: &mut Vec<(usize, Symbol)>) {
    let Some((_, symbol)) = open.pop() else { return };
    match open.last_mut() {
        Some((_, around)) => {
            around.span.end_byte = around.span.end_byte.max(symbol.span.end_byte);
            around.span.end_line = around.span.end_line.max(symbol.span.end_line);
            around.children.push(symbol);
        }
        None => walk.symbols.push(symbol),
    }
}

/// Returns a range without the white space at its end.
pub(super) fn trimmed(walk: &OutlineWalk<'_>, range: Range<usize>) -> Range<usize> {
    let text = walk.source.text(range.clone());
    range.start..range.start + text.trim_end().len()
}

/// Returns the lines of a fence between its first and its last.
pub(super) fn fenced<'t>(walk: &OutlineWalk<'t>, block: Node<'t>) -> Option<Range<usize>> {
    child_of_kind(block, "code_fence_content").map(|content| trimmed(walk, walk.range(content)))
}
