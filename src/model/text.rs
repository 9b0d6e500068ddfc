//! Prepares texts for display: escapes invisible characters, collapses white space, and quotes shell words.

/// The character that marks a text as Unicode, if it is the first.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns whether a character has no glyph, or changes how others are displayed.
pub const fn is_invisible(c: char) -> bool {
    // Zero-width characters and variation selectors are included although scripts and emoji use them: like Unicode
    // tags, they can carry a text that only a model reads.
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Returns whether a character could break a line, control a terminal, or be hidden from a reader.
pub fn is_unsafe_to_print(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible(c)
}

/// Returns whether a text consists of printable ASCII, as most names do.
pub(super) fn is_plain_ascii(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

/// Returns a text for a terminal or a line of a document: characters that are unsafe to print are escaped.
pub fn printable(text: &str) -> String {
    if is_plain_ascii(text) {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_unsafe_to_print(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// Returns a text like [`printable`], but keeps line breaks and tabs.
pub fn printable_lines(text: &str) -> String {
    let line = |line: &str| line.split('\t').map(printable).collect::<Vec<_>>().join("\t");
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

/// Returns a text on one line, with each run of white space collapsed to a space.
pub fn collapse_whitespace(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the text of a Markdown heading without its closing hashes. These follow a space: the hash in `# C#` belongs
/// to the name.
pub fn strip_closing_hashes(words: &str) -> &str {
    let open = words.trim_end_matches('#');
    if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { words }
}

/// Decodes the HTML character reference at the beginning of a text (`&amp;`, `&#40;`, `&#x27;`). Returns the character
/// and the length of the reference. Spaces of any width become plain ones.
pub fn character_reference(text: &str) -> Option<(usize, char)> {
    const MAX_REFERENCE_BYTES: usize = 10;
    const NAMED: [(&str, char); 14] = [
        ("amp", '&'),
        ("apos", '\''),
        ("copy", '©'),
        ("emsp", ' '),
        ("ensp", ' '),
        ("gt", '>'),
        ("hellip", '…'),
        ("lt", '<'),
        ("mdash", '—'),
        ("middot", '·'),
        ("nbsp", ' '),
        ("ndash", '–'),
        ("quot", '"'),
        ("thinsp", ' '),
    ];
    let near = &text[..text.floor_char_boundary(MAX_REFERENCE_BYTES)];
    let (name, _) = near.strip_prefix('&')?.split_once(';')?;
    let number = |digits: &str| match digits.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => digits.parse().ok(),
    };
    let character = match name.strip_prefix('#') {
        Some(digits) => char::from_u32(number(digits)?).filter(|c| !is_unsafe_to_print(*c))?,
        None => NAMED.into_iter().find(|(known, _)| *known == name)?.1,
    };
    Some((name.len() + "&;".len(), if character.is_whitespace() { ' ' } else { character }))
}

/// Returns a text quoted as one shell word, for calls that a reader may copy.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "_-./:=@+,%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_escaped() {
        assert_eq!(
            printable("a\u{202e}b\u{1b}[2J\u{2028}\u{fe0f}\u{e0041}ä"),
            r"a\u{202e}b\u{1b}[2J\u{2028}\u{fe0f}\u{e0041}ä"
        );
        assert_eq!(printable_lines("a\tb\n\u{200b}"), "a\tb\n\\u{200b}");
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_would_split_or_change_it() {
        assert_eq!(
            [shell_word("a/b=c"), shell_word(""), shell_word("a b'c")],
            ["a/b=c", "''", r"'a b'\''c'"]
        );
    }
}
