//! Text under a budget: cleaning, clipping, joining, rounding.
//!
//! Every part of a file that reaches a summary passes [`one_line`].

use super::secrets;
use crate::model::{Symbol, is_invisible};

/// Marks where something was cut.
pub(super) const ELLIPSIS: char = '…';

/// The maximum number of bytes that are read of a piece of text: far more than is ever shown of it.
const PIECE_BYTES: usize = 4096;

/// Returns about the first `bytes` of the text, ending at a word boundary if possible.
///
/// The word at the boundary is dropped as a whole, because half a secret is not recognized as one.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let kept = &text[..text.floor_char_boundary(bytes)];
    match kept.rfind(char::is_whitespace) {
        Some(border) if !kept[..border].trim().is_empty() => &kept[..border],
        Some(_) | None => kept,
    }
}

/// Returns a text as one line that is safe to show: no control or hidden characters, no escapes, no fences, no
/// secrets.
pub fn one_line(text: &str) -> String {
    // Cleaned first: hidden characters could split a secret so that it is not recognized.
    secrets::redact_line(&cleaned(head(text, PIECE_BYTES)))
}

/// Returns a symbol's signature for a summary. If the name of a value indicates a secret, only the name is shown,
/// however the language writes the value.
pub fn safe_signature(symbol: &Symbol) -> String {
    let signature = symbol.signature.as_str();
    let is_value = !symbol.kind.is_callable() && !symbol.kind.is_type() && !symbol.kind.is_namespace();
    if !is_value || secrets::key_secrecy(&symbol.name) == secrets::KeySecrecy::Public {
        return one_line(signature);
    }
    match signature.find(symbol.name.as_str()) {
        Some(at) if at + symbol.name.len() < signature.len() => {
            format!("{} = {}", one_line(&signature[..at + symbol.name.len()]), secrets::REDACTED)
        }
        Some(_) | None => one_line(&symbol.name),
    }
}

/// Returns the text in at most `budget` bytes, cut at a word boundary and marked with an ellipsis.
pub(super) fn clip(text: &str, budget: usize) -> String {
    if text.len() <= budget {
        return text.to_owned();
    }
    let Some(room) = budget.checked_sub(ELLIPSIS.len_utf8()) else {
        return String::new();
    };
    let kept = &text[..text.floor_char_boundary(room)];
    let at_word = match kept.rfind(char::is_whitespace) {
        // A boundary in the first half would cost too much text.
        Some(border) if kept.len() / 2 < border => &kept[..border],
        Some(_) | None => kept,
    };
    format!("{}{ELLIPSIS}", at_word.trim_end_matches([' ', '\n', ',', ';', ':']))
}

/// Joins as many whole items as fit `budget` bytes; an ellipsis replaces the others.
pub(super) fn join_within<T: AsRef<str>>(items: &[T], separator: &str, budget: usize) -> String {
    let all: usize = items.iter().map(|item| separator.len() + item.as_ref().len()).sum();
    let reserve = if all <= budget + separator.len() { 0 } else { separator.len() + ELLIPSIS.len_utf8() };
    let mut text = String::new();
    for (index, item) in items.iter().enumerate() {
        let item = item.as_ref();
        let between = if index == 0 { "" } else { separator };
        if text.len() + between.len() + item.len() + reserve <= budget {
            text.push_str(between);
            text.push_str(item);
            continue;
        }
        if index == 0 {
            return clip(item, budget);
        }
        text.push_str(separator);
        text.push(ELLIPSIS);
        break;
    }
    text
}

/// Returns a count: exact up to ten, then rounded, so that one more seldom changes the text.
pub(super) fn count(number: usize, one: &str, many: &str) -> String {
    match number {
        1 => format!("1 {one}"),
        0..=10 => format!("{number} {many}"),
        _ => format!("about {} {many}", rounded(number)),
    }
}

/// Returns a number of lines, never exact.
pub(super) fn lines(number: u32) -> String {
    match number {
        0 | 1 => "1 line".to_owned(),
        2..=10 => "a few lines".to_owned(),
        _ => count(number as usize, "line", "lines"),
    }
}

/// Returns a size, never exact.
pub(super) fn size(bytes: usize) -> String {
    const KIB: usize = 1024;
    const MIB: usize = KIB * KIB;
    match bytes {
        0..KIB => "under 1 KiB".to_owned(),
        KIB..MIB => format!("about {} KiB", rounded(bytes / KIB)),
        _ => format!("about {} MiB", rounded(bytes / MIB)),
    }
}

/// Returns the nearest of 1, 2, 5, 10, 20, 50, 100 …
pub(super) fn rounded(number: usize) -> usize {
    let mut step = 1_usize;
    while step <= number / 10 {
        step *= 10;
    }
    // Halves instead of quotients: 14 is rounded to 10, 15 to 20.
    match number.saturating_mul(2) / step {
        0 => 0,
        1..3 => step,
        3..7 => step * 2,
        7..15 => step * 5,
        _ => step.saturating_mul(10),
    }
}

/// Returns the text on one line, without characters that a terminal or a viewer would not show as text.
pub(super) fn cleaned(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' || c == '\u{9b}' {
            chars = after_escape(c, chars);
        } else if c.is_whitespace() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !c.is_control() && !is_invisible(c) && !would_make_a_fence(&line, c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Returns what follows a terminal escape sequence, whose first character has been consumed.
fn after_escape(first: char, chars: std::str::Chars<'_>) -> std::str::Chars<'_> {
    const LONGEST_TITLE: usize = 256;
    let mut rest = chars.clone();
    // U+009B is the form of `ESC [` in one character.
    let kind = if first == '\u{9b}' { Some('[') } else { rest.next() };
    match kind {
        Some('[') => {
            for c in rest.by_ref() {
                if !matches!(c, ' '..='?') {
                    break;
                }
            }
            rest
        }
        // A title or a link: up to its end, if that is near; the search must not read the same text twice.
        Some(']' | 'P' | '_' | '^') => {
            let inside = rest.as_str();
            let near = &inside[..inside.floor_char_boundary(LONGEST_TITLE)];
            match near.find(['\u{7}', '\u{1b}', '\u{9c}']) {
                Some(end) => inside[end..].chars(),
                None => rest,
            }
        }
        // An intermediate character is followed by a final one: `ESC ( B` selects a character set.
        Some(' '..='/') => {
            rest.next();
            rest
        }
        Some('0'..='~') => rest,
        Some(_) | None => chars,
    }
}

fn would_make_a_fence(line: &str, c: char) -> bool {
    match c {
        // A third mark would open or close a code block of the document that the line becomes part of.
        '`' => line.ends_with("``"),
        '~' => line.ends_with("~~"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_steps_of_one_two_five() {
        let cases = [
            (0, 0),
            (1, 1),
            (3, 2),
            (4, 5),
            (8, 10),
            (11, 10),
            (14, 10),
            (15, 20),
            (34, 20),
            (35, 50),
            (74, 50),
            (75, 100),
            (212, 200),
            (999, 1000),
            (8_388_608, 10_000_000),
        ];
        for (number, expected) in cases {
            assert_eq!(rounded(number), expected, "{number}");
        }
        assert_eq!(rounded(usize::MAX), 10_000_000_000_000_000_000);
    }

    #[test]
    fn counts_are_exact_up_to_ten() {
        assert_eq!(count(0, "class", "classes"), "0 classes");
        assert_eq!(count(1, "class", "classes"), "1 class");
        assert_eq!(count(10, "class", "classes"), "10 classes");
        assert_eq!(count(11, "class", "classes"), "about 10 classes");
        assert_eq!(lines(7), "a few lines");
        assert_eq!(lines(180), "about 200 lines");
        assert_eq!(size(1023), "under 1 KiB");
        assert_eq!(size(300_000), "about 200 KiB");
        assert_eq!(size(8 << 20), "about 10 MiB");
    }

    #[test]
    fn a_clip_ends_at_a_word_and_within_the_budget() {
        assert_eq!(clip("one two", 7), "one two");
        assert_eq!(clip("one two three, four", 18), "one two three…");
        assert_eq!(clip("abcdefghij", 8), "abcde…");
        assert_eq!(clip("ääääää", 8), "ää…");
        assert_eq!(clip("abc", 2), "");
    }

    #[test]
    fn a_list_shows_whole_items_and_an_ellipsis() {
        assert_eq!(join_within(&["a", "b", "c"], ", ", 7), "a, b, c");
        assert_eq!(join_within(&["alpha", "beta", "gamma"], ", ", 16), "alpha, beta, …");
        assert_eq!(join_within(&["alphabet soup"], ", ", 10), "alphabe…");
        assert_eq!(join_within::<&str>(&[], ", ", 10), "");
    }

    #[test]
    fn terminal_escapes_are_removed() {
        assert_eq!(one_line("a\x1b[31;1mred\x1b[0m b"), "ared b");
        assert_eq!(one_line("\x1b]0;title\x07text"), "text");
        assert_eq!(one_line("\x1b]8;;http://x\x1b\\link"), "link");
        assert_eq!(one_line("\x1b(Bplain \u{9b}2Jtext\x1b"), "plain text");
        assert_eq!(one_line("\x1b]never ends"), "never ends");
    }

    #[test]
    fn invisible_characters_are_removed() {
        assert_eq!(one_line("a\u{202e}b\u{200b}c\u{feff}\u{0}d\u{e0041}"), "abcd");
        assert_eq!(one_line("  a \t\r\n\u{2028} b\u{c}  "), "a b");
    }

    #[test]
    fn a_fence_cannot_be_assembled_from_pieces() {
        assert_eq!(one_line("```rust"), "``rust");
        assert_eq!(one_line("``\u{200b}`x ~~~~"), "``x ~~");
    }

    #[test]
    fn a_head_does_not_split_a_word() {
        assert_eq!(head("one two three", 9), "one two");
        assert_eq!(head("onetwothree", 4), "onet");
        assert_eq!(head("äöü", 3), "ä");
    }
}
