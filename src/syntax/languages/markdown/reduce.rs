//! What of a Markdown text its blocks depend on: how each line begins.
//!
//! The grammar makes a token of each word. What stands after the first letter of a line is of no weight for blocks,
//! unless it is a table, HTML or the definition of a link; so it goes, and a fourteenth of the time stays.

use memchr::memchr_iter;
use memchr::memmem;

use crate::syntax::reduced::PreprocessedText;

/// A rest of a line that is shorter than this stays.
const SHORT: usize = 4;

/// Returns the text with the words of its lines left out.
#[expect(clippy::unnecessary_wraps, reason = "a scanner may refuse a text; this one never has to")]
pub(super) fn preprocess_markdown(text: &str) -> Option<PreprocessedText> {
    let mut reduced = PreprocessedText::default();
    let (mut line, mut copied) = (0, 0);
    let ends = memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    for end in ends {
        if let Some(words) = elidable_text(&text[line..end]) {
            reduced.copy(text, copied..line + words.start);
            reduced.substitute("x", line + words.start..line + words.end);
            copied = line + words.end;
        }
        line = (end + 1).min(text.len());
    }
    reduced.copy(text, copied..text.len());
    Some(reduced)
}

/// Returns where in a line stands what no block depends on.
fn elidable_text(line: &str) -> Option<std::ops::Range<usize>> {
    let end = line.trim_end().len();
    let start = line.find(char::is_alphabetic).filter(|start| start + SHORT < end)?;
    let (before, after) = line[..end].split_at(start);
    // A fence, a link's definition, a tag; and what could end HTML or hold a cell.
    let is_block = before.contains(['`', '~', '[', '<', '|', '\\']) || before.contains("+++");
    let ends_block =
        ["-->", "</", "?>", "]]>"].iter().any(|end| memmem::find(after.as_bytes(), end.as_bytes()).is_some());
    (!is_block && !ends_block && !after.contains('|')).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_left_out_and_blocks_are_not() {
        let text = "# Title here #\n\n- an item\n  of words\n```rust\nlet a = 1;\n```\n|a b c|\n<b>hello</b>\n> quoted words\n";
        let expected = "# x\n\n- x\n  x\n```rust\nx\n```\n|a b c|\n<b>hello</b>\n> x\n";
        assert_eq!(preprocess_markdown(text).unwrap().text, expected);
    }
}
