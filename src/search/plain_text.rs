//! Reduces the text of a task to what a program wrote: removes terminal escape sequences and line prefixes of build
//! servers and loggers, expands stack traces that were logged as strings, and truncates long texts.

use std::borrow::Cow;

use crate::model::BYTE_ORDER_MARK;

/// A longer text is cut in the middle, between lines.
const MAX_TASK_BYTES: usize = 256 * 1024;
/// The part that is read from the beginning of such a text, where an issue describes its subject. The rest is read from
/// the end, where a log states the failure.
const HEAD_BYTES: usize = MAX_TASK_BYTES / 4;
/// A longer escape sequence is treated as text.
const MAX_SEQUENCE_BYTES: usize = 64;

/// The text of a task after preparation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainText<'t> {
    /// The text.
    pub text: Cow<'t, str>,
    /// The number of bytes omitted from a text that is too long.
    pub left_out: usize,
}

/// Returns the plain text of a task as it was passed.
pub fn plain_text(task: &str) -> PlainText<'_> {
    let text = match without_sequences(task) {
        Cow::Borrowed(text) => bare_lines(text),
        Cow::Owned(text) => Cow::Owned(bare_lines(&text).into_owned()),
    };
    if text.len() <= MAX_TASK_BYTES {
        return PlainText { text, left_out: 0 };
    }
    let (head_end, tail_start) = (head_end(&text), tail_start(&text));
    let kept = [&text[..head_end], &text[tail_start..]].concat();
    PlainText { text: Cow::Owned(kept), left_out: tail_start - head_end }
}

/// Returns the end of the last line of the part read from the beginning; a position within the line if it is too long.
fn head_end(text: &str) -> usize {
    let end = text.floor_char_boundary(HEAD_BYTES);
    let line_end = text[..end].rfind('\n').filter(|line_end| !text[..*line_end].trim().is_empty());
    line_end.map_or(end, |line_end| line_end + 1)
}

/// Returns the start of the first line of the part read from the end; a position within the line if it is too long.
fn tail_start(text: &str) -> usize {
    let start = text.ceil_char_boundary(text.len() - (MAX_TASK_BYTES - HEAD_BYTES));
    let line_end = text[start..].find('\n').filter(|line_end| !text[start + line_end..].trim().is_empty());
    line_end.map_or(start, |line_end| start + line_end + 1)
}

/// Removes terminal escape sequences, and the remains of color codes that lost their escape character, as in
/// `[31mFAILED[0m`.
fn without_sequences(text: &str) -> Cow<'_, str> {
    let mut plain = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = text[at..].find(['\u{1b}', '[']).map(|found| at + found) {
        let length = sequence_length(&text[found..]);
        let before = &text[copied..found];
        // Source code that prints colors is quoted, not colored.
        let is_source =
            || ["x1b", "x1B", "u001b", "033", "\\e"].iter().any(|escape| before.ends_with(escape));
        at = found + length.max(1);
        if 0 < length && !(text[found..].starts_with('[') && is_source()) {
            // Web pages and editors show these in place of the escape character.
            plain.push_str(before.trim_end_matches(['\u{fffd}', '␛']));
            copied = at;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    plain.push_str(&text[copied..]);
    Cow::Owned(plain)
}

/// Returns the length of the escape sequence, or of the remains of a color code, at the start of a text; zero if there
/// is neither.
fn sequence_length(text: &str) -> usize {
    let (escape, sequence) = text.strip_prefix('\u{1b}').map_or((0, text), |sequence| (1, sequence));
    let bytes = sequence.as_bytes();
    let bytes = &bytes[..bytes.len().min(MAX_SEQUENCE_BYTES)];
    let is_parameter = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
    match bytes.first() {
        Some(b'[') if escape == 0 => {
            let parameters = bytes[1..].iter().take_while(|byte| is_parameter(byte)).count();
            let is_color = 0 < parameters && bytes.get(1 + parameters) == Some(&b'm');
            if is_color { parameters + 2 } else { 0 }
        }
        Some(b'[') => {
            let last = bytes.iter().skip(1).position(|byte| !(0x20..0x40).contains(byte));
            let is_end = |last: usize| (0x40..0x7f).contains(&bytes[last + 1]);
            escape + last.map_or(0, |last| last + 1 + usize::from(is_end(last)))
        }
        // A title or a link, up to a bell or to `ESC \`, which is then a sequence by itself.
        Some(b']') => {
            let end = sequence.find(['\u{7}', '\u{1b}', '\n']).unwrap_or(0);
            escape + end + usize::from(sequence.as_bytes()[end] == 7)
        }
        // A character set, which `tput sgr0` selects with a letter.
        Some(b'(' | b')') => escape + 1 + usize::from(bytes.get(1).is_some_and(u8::is_ascii_alphanumeric)),
        Some(b'\\') => escape + 1,
        _ => escape,
    }
}

/// Removes line prefixes, and splits strings that contain a stack trace into lines.
fn bare_lines(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if !text.split_inclusive('\n').any(|line| 0 < prefix_length(line) || has_escaped_stack(line)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let line = &line[prefix_length(line)..];
        if has_escaped_stack(line) {
            push_unescaped(&mut plain, line);
        } else {
            plain.push_str(line);
        }
    }
    Cow::Owned(plain)
}

/// Returns the length of a line prefix that the program did not write, with the space at its end; zero for most lines.
fn prefix_length(line: &str) -> usize {
    let rest = without_container(without_time(line));
    line.len() - rest.len()
}

/// Removes a time: `2026-11-22T16:09:04.1234567Z make`; also with the names of job and step that `gh run view --log`
/// writes before it, and with the process name of a system log after it, as in `Nov 22 16:09:04 host app[7]: make`.
fn without_time(line: &str) -> &str {
    let after_tabs = line.match_indices('\t').nth(1).map_or(line, |(tab, _)| &line[tab + 1..]);
    let after_time = |text: &'_ str| -> Option<usize> {
        let text_without_mark = text.trim_start_matches(BYTE_ORDER_MARK);
        let (time, rest) = text_without_mark.split_once(' ')?;
        let is_zone = time.ends_with('Z') || time.get(19..).is_some_and(|zone| zone.contains(['+', '-']));
        let is_time = 20 <= time.len() && time.starts_with("20") && time.contains(':') && is_zone;
        is_time.then_some(rest.len())
    };
    if let Some(rest) = after_time(line).or_else(|| after_time(after_tabs)) {
        let rest = &line[line.len() - rest..];
        return without_process(rest).unwrap_or(rest);
    }
    // `Nov 22 16:09:04 host app[7]: make`
    let is_clock = |clock: &str| {
        let bytes = clock.as_bytes();
        bytes.len() == 8 && bytes[2] == b':' && bytes[5] == b':' && bytes[0].is_ascii_digit()
    };
    let is_month =
        line.get(..4).is_some_and(|month| month.ends_with(' ') && month.starts_with(char::is_uppercase));
    let clock = line.get(7..15).filter(|clock| is_month && is_clock(clock));
    clock.and_then(|_| without_process(line.get(16..)?)).unwrap_or(line)
}

/// Removes `host app[7]: ` or `app[web.1]: `.
fn without_process(line: &str) -> Option<&str> {
    // `error[E0308]:` is not a process.
    let is_process = |word: &str| {
        let inside =
            word.strip_suffix("]:").and_then(|word| word.split_once('[')).map_or("", |(_, inside)| inside);
        inside.ends_with(|c: char| c.is_ascii_digit())
            && !inside.starts_with(|c: char| c.is_ascii_uppercase())
    };
    let (first, rest) = line.split_once(' ')?;
    if is_process(first) {
        return Some(rest);
    }
    rest.split_once(' ').filter(|(second, _)| is_process(second)).map(|(_, rest)| rest)
}

/// Removes the name of the container that `docker compose logs` puts before a line: `web-1  | make`.
fn without_container(line: &str) -> &str {
    let Some((name, rest)) = line.split_once('|') else { return line };
    let name = name.trim_end_matches(' ');
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_numbered = name.rsplit(['-', '_']).next().is_some_and(|number| {
        number.len() < name.len() && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    });
    let is_word = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.bytes().all(is_name);
    let is_container = is_numbered && is_word && name.len() < 64;
    if is_container { rest.strip_prefix(' ').unwrap_or(rest) } else { line }
}

/// Returns whether a line contains a stack trace in a string, as written by a JSON logger.
fn has_escaped_stack(line: &str) -> bool {
    [r"\n  File ", r"\n    at ", r"\n\tat "].iter().any(|start| line.contains(start))
}

/// Adds a line with its escapes decoded.
fn push_unescaped(plain: &mut String, line: &str) {
    let mut rest = line;
    while let Some((before, escaped)) = rest.split_once('\\') {
        plain.push_str(before);
        let character = match escaped.as_bytes().first() {
            Some(b'n') => "\n",
            Some(b't') => "\t",
            Some(b'r') => "",
            Some(b'"') => "\"",
            Some(b'\\') => "\\",
            Some(b'/') => "/",
            _ => {
                plain.push('\\');
                rest = escaped;
                continue;
            }
        };
        plain.push_str(character);
        rest = &escaped[1..];
    }
    plain.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(task: &str, expected: &str) {
        assert_eq!(plain_text(task), PlainText { text: expected.into(), left_out: 0 }, "{task:?}");
    }

    #[test]
    fn the_sequences_of_a_terminal_are_removed() {
        check("\u{1b}[31mFAILED\u{1b}[0m tests/a.py::\u{1b}[1mtest_b\u{1b}[0m", "FAILED tests/a.py::test_b");
        check("\u{1b}[38;5;9mred\u{1b}[K\u{1b}[2A\u{1b}[?25l.", "red.");
        check("\u{1b}]8;;file:///a.py\u{1b}\\a.py\u{1b}]8;;\u{1b}\\ \u{1b}]0;title\u{7}b", "a.py b");
        check("\u{fffd}[31mred\u{fffd}[0m ␛[1;32mgreen␛[0m", "red green");
        check("[31mFAILED[0m a[3] b[12]", "FAILED a[3] b[12]");
        check("\u{1b}[1mbold\u{1b}(B\u{1b}[m plain\u{1b}(", "bold plain");
        check("\u{1b}", "");
        check("\u{1b}[é", "é");
    }

    #[test]
    fn source_code_that_prints_escape_sequences_is_kept() {
        for text in [r#"print("\x1b[31m" + name + "\033[0m")"#, "items[0] and [m"] {
            check(text, text);
        }
    }

    #[test]
    fn times_before_lines_are_removed() {
        check(
            "\u{feff}2026-11-22T16:09:04.1234567Z make\n2026-11-22T16:09:05.1Z  a.c:3: b\n",
            "make\n a.c:3: b\n",
        );
        check("build\tRun tests\t2026-11-22T16:09:04.1234567Z FAILED a\n", "FAILED a\n");
        check("2026-11-22T16:09:04.12+00:00 app[web.1]:   File \"a.py\"\n", "  File \"a.py\"\n");
        check("Nov 22 16:09:04 host app[7]:   at a (b.js:1:2)\n", "  at a (b.js:1:2)\n");
        for text in
            ["built 2026-11-22T16:09:04.1234567Z a\n", "May 22 16:09:04 was the time\n", "2026-11-22 a: b\n"]
        {
            check(text, text);
        }
    }

    #[test]
    fn names_of_containers_are_removed() {
        check("web-1  |   File \"a.py\"\nmy_db_2 | a | b\n", "  File \"a.py\"\na | b\n");
        for text in ["| a-1 | b |\n", "a | b\n", "1154 | code\n", "x - 1 | y\n", "-1 | y\n"] {
            check(text, text);
        }
    }

    #[test]
    fn a_stack_trace_in_a_string_is_split_into_lines() {
        check(
            r#"{"exc": "Traceback:\n  File \"a.py\", line 3, in b\n    c()\nE: no", "at": "C:\\a"}"#,
            "{\"exc\": \"Traceback:\n  File \"a.py\", line 3, in b\n    c()\nE: no\", \"at\": \"C:\\a\"}",
        );
        check(r"java.lang.Error: x\n\tat a.B.c(B.java:3)", "java.lang.Error: x\n\tat a.B.c(B.java:3)");
        for text in [r#"printf("a\nb\n")"#, r"C:\new\table"] {
            check(text, text);
        }
    }

    #[test]
    fn a_long_text_is_cut_in_the_middle_between_lines() {
        let line = "word of a line\n";
        let text = format!("the issue\n{}the failure\n", line.repeat(MAX_TASK_BYTES / line.len() + 10));
        let PlainText { text: plain, left_out } = plain_text(&text);
        assert!(0 < left_out && plain.len() <= MAX_TASK_BYTES, "{left_out}");
        assert_eq!(plain.len() + left_out, text.len());
        assert!(plain.starts_with("the issue\nword") && plain.ends_with("line\nthe failure\n"));
        assert!(plain.lines().all(|line| ["the issue", "word of a line", "the failure"].contains(&line)));
        let single = plain_text(&"é".repeat(MAX_TASK_BYTES)).left_out;
        assert_eq!(single, MAX_TASK_BYTES);
    }

    #[test]
    fn hostile_texts_are_read_to_their_ends() {
        for piece in
            ["\u{1b}", "\u{1b}[", "\u{1b}]", "[", "[1;", "[31m", "\u{fffd}", "\t", "\t\t20", "20Z \n"]
        {
            // In quadratic time, this would take minutes.
            plain_text(&piece.repeat(1_000_000 / piece.len()));
        }
    }
}
