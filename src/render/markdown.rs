//! Documents as Markdown.

use super::head::head;
use crate::model::Block;
use crate::model::Document;
use crate::model::ViewMode;

/// Writes a document. The same document always gives the same bytes.
pub fn markdown(document: &Document) -> String {
    let bytes: usize = document.blocks.iter().map(|block| block.body.len() + 200).sum();
    let mut text = String::with_capacity(bytes);
    text.push_str("## ");
    text.push_str(document.files_heading);
    text.push('\n');
    for block in &document.blocks {
        write_block(&mut text, block);
    }
    if let Some(tree) = &document.tree {
        text.push_str("\n## File Tree\n\n");
        write_fenced(&mut text, "", tree);
    }
    text
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
