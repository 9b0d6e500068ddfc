//! What a skeleton keeps of a section: its first paragraph and what is short.

use std::ops::Range;

use tree_sitter::Node;

use super::sections::MarkdownSection;
use super::sections::fenced;
use super::sections::trimmed;
use crate::syntax::nodes::children;
use crate::syntax::skeleton::SkeletonCut;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::walk::format_line_count;

/// A fence of more lines than this is told by its size, and so is a table or list.
const LONG: usize = 6;

/// So many rows of a table or list stay.
const FIRST_ROWS: usize = 3;

/// What follows the first paragraph stays where it has no more lines than this.
const SHORT_REST: usize = 2;

/// A fence after the first paragraph stays where it has no more lines than this.
const SHORT_FENCE: usize = 5;

/// Takes out what follows the first paragraph of each section, and what is long before it.
pub(super) fn cut_sections<'t>(walk: &mut OutlineWalk<'t>, sections: &[MarkdownSection<'t>]) {
    for section in sections {
        cut_section(walk, section);
    }
}

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

/// Takes out blocks that follow each other.
fn cut_run(walk: &mut OutlineWalk<'_>, run: Option<Range<usize>>) {
    let Some(run) = run else { return };
    let lines = count(walk, run.clone());
    if SHORT_REST < lines {
        let mark = format!("<!-- {} -->", format_line_count(lines));
        walk.cuts.push(SkeletonCut::new(run, mark.clone()).with_conservative_mark(mark));
    }
}

/// Takes out what is long in a block that stays.
fn cut_block<'t>(walk: &mut OutlineWalk<'t>, block: Node<'t>) {
    if block.has_error() {
        return;
    }
    match block.kind() {
        "fenced_code_block" => {
            let Some(inside) = fenced(walk, block) else { return };
            let lines = count(walk, inside.clone());
            if LONG < lines {
                walk.cuts.push(SkeletonCut::new(inside, format!("… {}", format_line_count(lines))));
            }
        }
        "pipe_table" => cut_rows(walk, block, "pipe_table_row", |rows| format!("| … {rows} rows |")),
        "list" => cut_rows(walk, block, "list_item", |rows| format!("- … {rows} items")),
        "html_block" | "indented_code_block" => {
            let range = trimmed(walk, walk.range(block));
            let lines = count(walk, range.clone());
            if LONG < lines {
                walk.cuts.push(SkeletonCut::new(range, format!("<!-- {} -->", format_line_count(lines))));
            }
        }
        _ => {}
    }
}

fn cut_rows<'t>(walk: &mut OutlineWalk<'t>, block: Node<'t>, kind: &str, mark: impl Fn(usize) -> String) {
    let rows: Vec<_> = children(block).into_iter().filter(|child| child.kind() == kind).collect();
    let range = trimmed(walk, walk.range(block));
    let Some(first) = rows.get(FIRST_ROWS).filter(|_| LONG < count(walk, range.clone())) else { return };
    let start = walk.range(*first).start;
    walk.cuts.push(SkeletonCut::new(start..range.end, mark(rows.len() - FIRST_ROWS)));
}

fn count(walk: &OutlineWalk<'_>, range: Range<usize>) -> usize {
    walk.source.text(range).lines().count()
}
