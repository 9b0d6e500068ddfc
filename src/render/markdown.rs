//! Documents as Markdown.

use super::head::head;
use crate::model::Block;
use crate::model::Document;
use crate::model::ViewMode;

/// The piece of a document that says that files are missing. It counts and names none: that is in the receipt, and
/// would change with every edit.
pub const CUT_PIECE: &str = "### (further files)\nleft out for want of room; the receipt names them\n\n";

/// Writes a document. The same document always gives the same bytes.
pub fn markdown(document: &Document) -> String {
    pieces(document).concat()
}

/// Returns a document in pieces: what stands before the files, each file, each section behind them. Each piece begins
/// with `#`, and all but the last end with an empty line. There no token of `o200k_base` crosses from one piece to the
/// next, so that a document has as many tokens as its pieces have together.
pub fn pieces(document: &Document) -> Vec<String> {
    let mut pieces = vec![format!("## {}\n\n", document.files_heading)];
    pieces.extend(document.blocks.iter().map(block_piece));
    if document.is_cut {
        pieces.push(CUT_PIECE.to_owned());
    }
    if let Some(tree) = &document.tree {
        pieces.push(tree_piece(tree));
    }
    // A text ends with one line's end.
    let last = pieces.last_mut().expect("there is always a heading");
    last.truncate(last.trim_end_matches('\n').len() + 1);
    pieces
}

/// Returns the piece of a document that a file is.
pub fn block_piece(block: &Block) -> String {
    let mut text = String::with_capacity(block.body.len() + 200);
    text.push_str("### ");
    text.push_str(&block.path.to_string());
    text.push('\n');
    text.push_str(&head(block));
    text.push_str("\n\n");
    if block.view != ViewMode::Path {
        write_fenced(&mut text, fence_language(block), &block.body);
        text.push('\n');
    }
    text
}

/// Returns the piece of a document that the tree of names is.
pub fn tree_piece(tree: &str) -> String {
    let mut text = "## File Tree\n\n".to_owned();
    write_fenced(&mut text, "", tree);
    text.push('\n');
    text
}

fn fence_language(block: &Block) -> &'static str {
    match block.view {
        _ if block.content.is_none() => "",
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
