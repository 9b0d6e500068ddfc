//! Documents as Markdown.

use memchr::memchr_iter;

use super::head::head_line;
use super::sections::screenshot_pieces;
use super::sections::suffix_text;
use super::sections::tracked_work;
use crate::model::Document;
use crate::model::DocumentBlock;
use crate::model::ViewMode;

/// What a document says that does not show all files that it should. It counts and names none: that is in the receipt,
/// and would change with every edit.
pub const OMISSION_NOTE: &str = "\n### (further files)\nleft out for want of room; the receipt names them\n";

/// A piece of a document's prefix, with which a provider's block may end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrefixPiece<'a> {
    /// Text.
    Text(String),
    /// An image, for readers that take images as such.
    Image {
        /// Its media type.
        media_type: &'static str,
        /// Its bytes.
        bytes: &'a [u8],
        /// What stands for it in Markdown.
        markdown: String,
        /// What is said of it where it is shown as an image.
        caption: String,
    },
}

/// Writes a document: its prefix, then its suffix. The same document always gives the same bytes.
pub fn render_markdown(document: &Document) -> String {
    let bytes: usize = document.blocks.iter().map(|block| block.body.len() + 200).sum();
    let mut text = String::with_capacity(bytes);
    // As `prefix` has it, but without a piece for each file: that would write every byte twice.
    if document.part.has_prefix() {
        text.push_str(&files_heading(document));
    }
    for block in &document.blocks {
        text.push('\n');
        write_block(&mut text, block);
    }
    pieces_after_files(document).for_each(|piece| push_markdown(&mut text, piece));
    text.push_str(&suffix_text(document));
    text
}

fn files_heading(document: &Document) -> String {
    format!("## {}\n", document.files_heading)
}

fn push_markdown(text: &mut String, piece: PrefixPiece<'_>) {
    match piece {
        PrefixPiece::Text(words) => text.push_str(&words),
        PrefixPiece::Image { markdown, .. } => text.push_str(&markdown),
    }
}

/// Returns what stands before the cache boundary, in pieces: each file is one.
pub fn prefix_pieces(document: &Document) -> impl Iterator<Item = PrefixPiece<'_>> {
    let blocks = document.blocks.iter().map(|block| {
        let mut text = String::with_capacity(block.body.len() + 200);
        text.push('\n');
        write_block(&mut text, block);
        PrefixPiece::Text(text)
    });
    let heading = document.part.has_prefix().then(|| files_heading(document));
    heading.into_iter().map(PrefixPiece::Text).chain(blocks).chain(pieces_after_files(document))
}

/// Returns what stands behind the files in the prefix.
fn pieces_after_files(document: &Document) -> impl Iterator<Item = PrefixPiece<'_>> {
    let cut = document.is_cut.then(|| PrefixPiece::Text(OMISSION_NOTE.to_owned()));
    let tree = document.tree.iter().map(|tree| PrefixPiece::Text(tree_section(tree)));
    let beads = document.beads.iter().map(|beads| PrefixPiece::Text(tracked_work(beads)));
    cut.into_iter().chain(tree).chain(screenshot_pieces(document)).chain(beads)
}

/// Returns the section that the tree of names is.
pub fn tree_section(tree: &str) -> String {
    let mut text = "\n## File Tree\n\n".to_owned();
    write_fenced(&mut text, "", tree);
    text
}

/// Returns all that a document holds beside its heading and its files, as Markdown.
pub fn attachments(document: &Document) -> String {
    let mut text = String::new();
    pieces_after_files(document).for_each(|piece| push_markdown(&mut text, piece));
    text.push_str(&suffix_text(document));
    text
}

/// Returns the same, where the images themselves are sent beside the text.
pub fn attachments_without_images(document: &Document) -> String {
    let mut text = String::new();
    pieces_after_files(document).for_each(|piece| match piece {
        PrefixPiece::Text(words) => text.push_str(&words),
        PrefixPiece::Image { caption, .. } => text.push_str(&caption),
    });
    text.push_str(&suffix_text(document));
    text
}

/// Returns what a file adds to a document, from the `#` of its head to the empty line behind it. No token of
/// `o200k_base` crosses from a line's end to a `#`, so that documents have as many tokens as their files have together.
pub fn block_text(block: &DocumentBlock) -> String {
    let mut text = String::with_capacity(block.body.len() + 200);
    write_block(&mut text, block);
    text.push('\n');
    text
}

fn write_block(text: &mut String, block: &DocumentBlock) {
    text.push_str("### ");
    text.push_str(&block.path.to_string());
    text.push('\n');
    text.push_str(&head_line(block));
    text.push('\n');
    if block.view != ViewMode::Path {
        text.push('\n');
        write_fenced(text, fence_language(block), &block.body);
    }
}

fn fence_language(block: &DocumentBlock) -> &'static str {
    match block.view {
        _ if block.content.is_none() => "",
        // A notebook is JSON; what its skeleton makes of it is a script.
        ViewMode::Skeleton if block.file_type.id == "notebook" => "python",
        ViewMode::Full | ViewMode::Skeleton | ViewMode::Definitions | ViewMode::Masked => {
            block.file_type.fence
        }
        ViewMode::Diff => "diff",
        ViewMode::Outline
        | ViewMode::Summary
        | ViewMode::Window
        | ViewMode::Custom
        | ViewMode::Signatures
        | ViewMode::Path
        | ViewMode::None => "",
    }
}

/// Writes a code block whose fence is longer than any run of backticks in it, so that no text can end it.
pub fn write_fenced(text: &mut String, language: &str, body: &str) {
    let fence = "`".repeat((longest_run(body) + 1).max(3));
    text.push_str(&fence);
    text.push_str(language);
    text.push('\n');
    text.push_str(body);
    if !body.is_empty() && !body.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(&fence);
    text.push('\n');
}

/// Returns how many backticks stand side by side at most.
fn longest_run(body: &str) -> usize {
    let (mut longest, mut run, mut next) = (0, 0, 0);
    for at in memchr_iter(b'`', body.as_bytes()) {
        run = if at == next { run + 1 } else { 1 };
        next = at + 1;
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, expected: &str) {
        let mut text = String::new();
        write_fenced(&mut text, "md", body);
        assert_eq!(text, expected);
    }

    #[test]
    fn no_text_can_end_its_own_fence() {
        check("a\n", "```md\na\n```\n");
        check("a", "```md\na\n```\n");
        check("", "```md\n```\n");
        check("````\nx\n````\n", "`````md\n````\nx\n````\n`````\n");
        check("`a` ``b`` c```", "````md\n`a` ``b`` c```\n````\n");
        check("` ` ` `", "```md\n` ` ` `\n```\n");
    }
}
