//! Markdown: headings, each with the blocks below it.
//!
//! The nesting of a section depends on the headings around it, so the whole file is read at once. The grammar makes a
//! token of each word, but the text after the first letter of a line does not affect blocks, unless it is a table, HTML
//! or the definition of a link; without it, parsing takes a fourteenth of the time.

use std::ops::Range;

use memchr::{memchr_iter, memmem};
use tree_sitter::Node;

use crate::model::{Symbol, SymbolKind, strip_closing_hashes};
use crate::syntax::outline::{Language, OutlineWalk, child_of_kind, children, find};
use crate::syntax::text::{
    PreprocessedText, TextRewriter, clip_name, first_paragraph, format_line_count, one_line,
};

/// Markdown, as GitHub reads its blocks.
pub(super) static MARKDOWN: Language = Language {
    separator: " > ",
    preprocess: Some(preprocess_markdown),
    read_root: Some(read_document),
    ..Language::new("markdown", tree_sitter_md::LANGUAGE, "tree-sitter-md 0.5.4", &[])
};

/// Sections nested deeper than this, as only broken texts have them, are not visited.
const MAX_DEPTH: usize = 40;

/// Only this much of a paragraph is read: the ends of open links would be searched for again and again.
const MAX_PARAGRAPH_BYTES: usize = 4000;

/// This many paragraphs of a section are searched for one that has text.
const MAX_PARAGRAPHS: usize = 5;

/// A fence of more lines than this is shown by its size, and so is a table or list.
const LONG_BLOCK: usize = 6;

/// This many rows of a table or list stay.
const FIRST_ROWS: usize = 3;

/// What follows the first paragraph stays where it has no more lines than this.
const SHORT_REST: usize = 2;

/// A fence after the first paragraph stays where it has no more lines than this.
const SHORT_FENCE: usize = 5;

/// The rest of a line is kept if it is shorter than this.
const SHORT_LINE: usize = 4;

/// A heading, and the blocks up to the next one.
struct MarkdownSection<'t> {
    /// The heading and its level; none for the blocks above the first.
    heading: Option<(usize, Symbol)>,
    blocks: Vec<Node<'t>>,
}

fn read_document<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    let mut sections = vec![MarkdownSection { heading: None, blocks: Vec::new() }];
    collect(walk, root, 0, &mut sections);
    let docs: Vec<_> = sections.iter().map(|section| doc(walk, section)).collect();
    // The first section is what precedes all headings, and the second is mostly that of the title; later ones do not
    // describe the file.
    walk.doc = docs.iter().take(2).flatten().next().cloned();
    for section in &sections {
        cut_section(walk, section);
    }
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
                let last = sections.last_mut().expect("the section above all headings is never removed");
                last.blocks.push(child);
            }
        }
    }
}

fn heading<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> Option<(usize, Symbol)> {
    let range = trimmed(walk, walk.range(node));
    let level = children(node).iter().find_map(|child| level(child.kind()))?;
    let content = find(node, "heading_content").map_or("", |content| walk.text(content));
    let name = clip_name(title(content));
    let symbol = Symbol {
        kind: SymbolKind::Heading,
        // The headings around it are not known yet.
        qualified_name: String::new(),
        signature: one_line(walk.source.text(range.clone()).lines().next().unwrap_or_default()),
        span: walk.source.span(range),
        doc: None,
        recovered: false,
        children: Vec::new(),
        name,
    };
    (!symbol.name.is_empty()).then_some((level, symbol))
}

/// Returns the level that the marker of a heading has.
fn level(kind: &str) -> Option<usize> {
    let rest = kind.strip_prefix("atx_h").or_else(|| kind.strip_prefix("setext_h"))?;
    rest.get(..1)?.parse().ok()
}

/// Returns the words of a heading, without the signs that close it, its anchor and the targets of links.
fn title(content: &str) -> String {
    let content = strip_closing_hashes(beginning(content).trim());
    // Several renderers read `{#name}` as the anchor of the heading.
    let content = content.split_once("{#").map_or(content, |(before, _)| before);
    one_line(&plain(&plain(content)))
}

/// Returns the part of a text that is read.
fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_PARAGRAPH_BYTES)]
}

/// Returns a text without tags, images and the targets of links; an image may be in a link, which takes two passes.
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
            // All three signs are one byte long.
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
    // A link around an image is left to the second pass.
    (!words.contains('[') && !target.contains('\n')).then_some((words, after))
}

fn is_tag(text: &str) -> bool {
    let name = text.trim_start_matches(['<', '/']);
    text.starts_with('<')
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.find(['>', '\n']).is_some()
}

/// Returns the first paragraph of a section that has text.
fn doc<'t>(walk: &OutlineWalk<'t>, section: &MarkdownSection<'t>) -> Option<String> {
    let mut paragraphs =
        section.blocks.iter().filter(|block| block.kind() == "paragraph").take(MAX_PARAGRAPHS);
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
        let Some((level, mut symbol)) = section.heading else { continue };
        while open.last().is_some_and(|(outer, _)| level <= *outer) {
            close_heading(walk, &mut open);
        }
        let last = section.blocks.last().map_or(0, |block| trimmed(walk, walk.range(*block)).end);
        let names = open.iter().map(|(_, symbol)| symbol.name.as_str()).chain([symbol.name.as_str()]);
        symbol.qualified_name = names.collect::<Vec<_>>().join(" > ");
        symbol.span = walk.source.span(symbol.span.start_byte..last.max(symbol.span.end_byte));
        symbol.doc = doc;
        open.push((level, symbol));
    }
    while !open.is_empty() {
        close_heading(walk, &mut open);
    }
}

/// Moves the innermost heading into the one around it, which ends no earlier.
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
fn trimmed(walk: &OutlineWalk<'_>, range: Range<usize>) -> Range<usize> {
    let text = walk.source.text(range.clone());
    range.start..range.start + text.trim_end().len()
}

/// Cuts what follows the first paragraph of a section, and what is long before it.
fn cut_section<'t>(walk: &mut OutlineWalk<'t>, section: &MarkdownSection<'t>) {
    let is_paragraph = |block: &Node<'_>| block.kind() == "paragraph";
    let first = section.blocks.iter().position(is_paragraph).map_or(section.blocks.len(), |at| at + 1);
    let (before, after) = section.blocks.split_at(first);
    for block in before {
        cut_block(walk, *block);
    }
    let mut run: Option<Range<usize>> = None;
    for block in after {
        let range = trimmed(walk, walk.range(*block));
        let is_kept = block.kind() == "fenced_code_block" && count(walk, range.clone()) <= SHORT_FENCE
            || block.kind() == "link_reference_definition"
            || block.is_error();
        if is_kept {
            cut_run(walk, run.take());
        } else {
            run = Some(run.map_or(range.start, |run| run.start)..range.end);
        }
    }
    cut_run(walk, run);
}

/// Cuts adjacent blocks.
fn cut_run(walk: &mut OutlineWalk<'_>, run: Option<Range<usize>>) {
    let Some(run) = run else { return };
    let lines = count(walk, run.clone());
    if SHORT_REST < lines {
        let mark = format!("<!-- {} -->", format_line_count(lines));
        walk.replace_with_mark(run, mark);
    }
}

/// Cuts what is long in a block that stays.
fn cut_block<'t>(walk: &mut OutlineWalk<'t>, block: Node<'t>) {
    if block.has_error() {
        return;
    }
    match block.kind() {
        "fenced_code_block" => {
            let Some(content) = child_of_kind(block, "code_fence_content") else { return };
            let inside = trimmed(walk, walk.range(content));
            let lines = count(walk, inside.clone());
            if LONG_BLOCK < lines {
                walk.cut_where_understood(inside, format!("… {}", format_line_count(lines)));
            }
        }
        "pipe_table" => cut_rows(walk, block, "pipe_table_row", |rows| format!("| … {rows} rows |")),
        "list" => cut_rows(walk, block, "list_item", |rows| format!("- … {rows} items")),
        "html_block" | "indented_code_block" => {
            let range = trimmed(walk, walk.range(block));
            let lines = count(walk, range.clone());
            if LONG_BLOCK < lines {
                walk.cut_where_understood(range, format!("<!-- {} -->", format_line_count(lines)));
            }
        }
        _ => {}
    }
}

fn cut_rows<'t>(walk: &mut OutlineWalk<'t>, block: Node<'t>, kind: &str, mark: impl Fn(usize) -> String) {
    let rows: Vec<_> = children(block).into_iter().filter(|child| child.kind() == kind).collect();
    let range = trimmed(walk, walk.range(block));
    let Some(first) = rows.get(FIRST_ROWS).filter(|_| LONG_BLOCK < count(walk, range.clone())) else {
        return;
    };
    let start = walk.range(*first).start;
    walk.cut_where_understood(start..range.end, mark(rows.len() - FIRST_ROWS));
}

fn count(walk: &OutlineWalk<'_>, range: Range<usize>) -> usize {
    walk.source.text(range).lines().count()
}

/// Returns the text with the words of its lines elided.
#[expect(clippy::unnecessary_wraps, reason = "scanners may give up on a text, but this one never does")]
fn preprocess_markdown(text: &str) -> Option<PreprocessedText> {
    let mut rewriter = TextRewriter::new(text);
    let mut line = 0;
    let ends = memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    for end in ends {
        if let Some(words) = elidable_text(&text[line..end]) {
            // A letter and not nothing, because a line without text would end its paragraph.
            rewriter.replace(line + words.start..line + words.end, "x");
        }
        line = (end + 1).min(text.len());
    }
    Some(rewriter.finish())
}

/// Returns the range of a line that no block depends on.
fn elidable_text(line: &str) -> Option<Range<usize>> {
    let end = line.trim_end().len();
    // Blocks are recognized by the signs before the first letter.
    let start = line.find(char::is_alphabetic).filter(|start| start + SHORT_LINE < end)?;
    let (before, after) = line[..end].split_at(start);
    // A fence, a link's definition, a tag; and what could end HTML or be a cell.
    let is_block = before.contains(['`', '~', '[', '<', '|', '\\']) || before.contains("+++");
    let ends_block =
        ["-->", "</", "?>", "]]>"].iter().any(|end| memmem::find(after.as_bytes(), end.as_bytes()).is_some());
    (!is_block && !ends_block && !after.contains('|')).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_may_end_with_a_hash_sign() {
        for (words, expected) in
            [("Learn C#", "Learn C#"), ("F# ##", "F#"), ("Title\t#", "Title"), ("##", ""), ("a \\#", "a \\#")]
        {
            assert_eq!(title(words), expected, "{words}");
        }
    }

    #[test]
    fn words_are_elided_and_blocks_are_kept() {
        let text = "# Title here #\n\n- an item\n  of words\n```rust\nlet a = 1;\n```\n|a b c|\n<b>hello</b>\n> quoted words\n";
        let expected = "# x\n\n- x\n  x\n```rust\nx\n```\n|a b c|\n<b>hello</b>\n> x\n";
        assert_eq!(preprocess_markdown(text).unwrap().text, expected);
    }
}
