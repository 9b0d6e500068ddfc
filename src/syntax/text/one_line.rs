//! Source text and sizes as one line of plain text.

/// The longest signature or doc paragraph, in bytes; what is longer ends with `…`.
const MAX_LINE: usize = 300;

/// Returns `text` on one line: runs of white space become a space, none stays just inside brackets.
pub(in crate::syntax) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len().min(MAX_LINE) + 4);
    for word in text.split_whitespace() {
        let opens = line.ends_with(['(', '[']);
        let closes = word.starts_with([')', ']']);
        // A list over several lines may end with a comma, which on one line looks like a missing element.
        if closes && line.ends_with(',') {
            line.pop();
        }
        if !line.is_empty() && !opens && !closes && !word.starts_with(',') {
            line.push(' ');
        }
        // A control character in a source must not reach a reader's terminal.
        line.extend(word.chars().filter(|c| !c.is_control()));
        if MAX_LINE < line.len() {
            return clip(line);
        }
    }
    line
}

/// Returns the first paragraph of a documentation on one line; `None` where it has no words.
pub(in crate::syntax) fn first_paragraph(text: &str) -> Option<String> {
    let mut line = String::new();
    for row in text.lines().map(str::trim) {
        let is_ruler = !row.is_empty() && !row.contains(char::is_alphanumeric);
        if row.is_empty() || is_ruler {
            if line.is_empty() {
                continue;
            }
            break;
        }
        for word in row.split_whitespace() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.extend(word.chars().filter(|c| !c.is_control()));
        }
        if MAX_LINE < line.len() {
            return Some(clip(line));
        }
    }
    (!line.is_empty()).then_some(line)
}

/// Returns the name, cut off where it is too long for a line.
pub(in crate::syntax) fn clip_name(name: String) -> String {
    if name.len() <= MAX_LINE { name } else { clip(name) }
}

fn clip(mut line: String) -> String {
    let mut end = MAX_LINE;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    line.truncate(end);
    line.push('…');
    line
}

/// Returns the number of lines of a text that replaces a body, as words.
pub(in crate::syntax) fn format_text_size(text: &str) -> String {
    format_line_count(text.trim().lines().count())
}

/// Returns `1 line`, `34 lines`: the size of what was cut.
pub(in crate::syntax) fn format_line_count(lines: usize) -> String {
    if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_over_several_lines_becomes_one_line() {
        assert_eq!(one_line("def f(\n    a: int,\n    b=1,\n) -> str"), "def f(a: int, b=1) -> str");
        assert_eq!(one_line("int\tf ( void )"), "int f (void)");
    }

    #[test]
    fn a_long_line_is_clipped_at_a_character() {
        let line = one_line(&"é".repeat(400));
        assert!(line.ends_with('…') && line.len() <= MAX_LINE + 3);
    }

    #[test]
    fn the_first_paragraph_is_the_first_with_words() {
        assert_eq!(first_paragraph("\n=====\nOne\n  two.\n\nThree."), Some("One two.".to_owned()));
        assert_eq!(first_paragraph(" \n---\n"), None);
    }
}
