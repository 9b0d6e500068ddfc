//! Sanitizes text written by a model.

use crate::model::is_invisible;

/// The maximum length of a model's summary in a document, in bytes. Answers are limited to less on arrival.
const MAX_BYTES: usize = 8 << 10;
/// The limit for a text that shares a line with others.
const MAX_LINE_BYTES: usize = 400;
/// Marks a truncation.
const CUT: &str = " […]";

/// Returns the text as paragraphs, one per line and none empty, without terminal control characters, bidirectional
/// controls and invisible characters.
pub(super) fn sanitize_paragraphs(words: &str) -> String {
    let words = truncate(words, MAX_BYTES);
    if is_plain(&words) {
        return words;
    }
    let mut text = String::with_capacity(words.len());
    for line in words.split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}']) {
        let before = text.len();
        for word in line.split_whitespace() {
            let at = text.len();
            let space = if at == before { "" } else { " " };
            text.push_str(space);
            text.extend(word.chars().filter(|c| !c.is_control() && !is_invisible(*c)));
            // A word of only invisible characters must not leave a second space behind.
            if text.len() == at + space.len() {
                text.truncate(at);
            }
        }
        if before < text.len() {
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

pub fn sanitize_line(words: &str) -> String {
    truncate(&sanitize_paragraphs(words).replace('\n', " "), MAX_LINE_BYTES)
}

fn truncate(words: &str, most: usize) -> String {
    if words.len() <= most {
        return words.to_owned();
    }
    // The mark counts toward the limit; both limits are far longer than it.
    let end = words.floor_char_boundary(most - CUT.len());
    format!("{}{CUT}", &words[..end])
}

/// Returns whether a text needs no sanitizing, as is usual.
fn is_plain(words: &str) -> bool {
    let is_usual = |byte: u8| byte.is_ascii_graphic() || byte == b' ';
    words.bytes().all(is_usual) && words.trim_ascii() == words && !words.contains("  ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(words: &str, expected: &str) {
        assert_eq!(sanitize_paragraphs(words), expected);
    }

    #[test]
    fn a_text_keeps_its_paragraphs_and_loses_control_characters() {
        check("It reads.\n\n It  writes.\t\n", "It reads.\nIt writes.");
        check("\u{1b}[31mred\u{1b}[0m \u{202e}won\u{202c} \u{200b} x\0y", "[31mred[0m won xy");
        check("a\rb\u{2028}c", "a\nb\nc");
        check(" \n\u{feff}\n", "");
        check("", "");
        check("It reads.", "It reads.");
        check(" It  reads. ", "It reads.");
    }

    #[test]
    fn overlong_texts_are_truncated() {
        let text = sanitize_paragraphs(&"ä".repeat(1 << 20));
        assert!(text.len() <= MAX_BYTES && text.ends_with(CUT), "{}", text.len());
        let line = sanitize_line(&"word\n".repeat(1 << 10));
        assert!(line.len() <= MAX_LINE_BYTES && !line.contains('\n'), "{line}");
    }
}
