//! Documents as Markdown.

use super::head::head;
use super::sections::pictures;
use super::sections::suffix;
use super::sections::tracked;
use crate::model::Block;
use crate::model::Document;
use crate::model::ViewMode;

/// A piece of a document's prefix, with which a provider's block may end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
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
pub fn markdown(document: &Document) -> String {
    let bytes: usize = document.blocks.iter().map(|block| block.body.len() + 200).sum();
    let mut text = String::with_capacity(bytes);
    for piece in prefix(document) {
        match piece {
            Piece::Text(words) => text.push_str(&words),
            Piece::Image { markdown, .. } => text.push_str(&markdown),
        }
    }
    text.push_str(&suffix(document));
    text
}

/// Returns what stands before the cache boundary, in pieces: each file is one.
pub fn prefix(document: &Document) -> impl Iterator<Item = Piece<'_>> {
    let blocks = document.blocks.iter().map(|block| {
        let mut text = String::with_capacity(block.body.len() + 200);
        write_block(&mut text, block);
        Piece::Text(text)
    });
    let tree = document.tree.iter().map(|tree| {
        let mut text = "\n## File Tree\n\n".to_owned();
        write_fenced(&mut text, "", tree);
        Piece::Text(text)
    });
    let heading = document.part.has_prefix().then(|| format!("## {}\n", document.files_heading));
    let beads = document.beads.iter().map(|beads| Piece::Text(tracked(beads)));
    heading.into_iter().map(Piece::Text).chain(blocks).chain(tree).chain(pictures(document)).chain(beads)
}

fn write_block(text: &mut String, block: &Block) {
    text.push_str("\n### ");
    text.push_str(&block.path.to_string());
    text.push('\n');
    text.push_str(&head(block));
    text.push_str("\n\n");
    let is_text = matches!(block.view, ViewMode::Full | ViewMode::Skeleton) && block.content.is_some();
    write_fenced(text, if is_text { block.file_type.fence } else { "" }, &block.body);
}

/// Writes a code block whose fence is longer than any run of backticks in it, so that no text can end it.
fn write_fenced(text: &mut String, language: &str, body: &str) {
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

fn longest_run(body: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for byte in body.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
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
    }
}
