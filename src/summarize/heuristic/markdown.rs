//! Markdown.

use super::prose::ProseReading;

/// Reads headings and the first paragraph; skips front matter, code, comments, badges and tables.
pub(crate) fn read(text: &str) -> ProseReading {
    let mut reading = ProseReading::default();
    let body = after_front_matter(text, &mut reading);
    let mut state = BlockState::Text;
    let mut previous = "";
    for line in body.lines() {
        state = match state {
            BlockState::Code(fence) => state_in_code(line, fence),
            BlockState::Comment => state_in_comment(line),
            BlockState::Text => read_line(line, previous, &mut reading),
        };
        previous = line;
    }
    reading.end_paragraph();
    reading
}

/// The block that contains the next line.
#[derive(Clone, Copy)]
enum BlockState {
    Text,
    /// Code fenced by this many of these characters.
    Code((char, usize)),
    Comment,
}

fn state_in_code(line: &str, fence: (char, usize)) -> BlockState {
    let trimmed = line.trim();
    // A closing fence is at least as long as the opening one, and has no info string.
    let ends = fence.1 <= trimmed.len() && trimmed.chars().all(|c| c == fence.0);
    if ends { BlockState::Text } else { BlockState::Code(fence) }
}

fn state_in_comment(line: &str) -> BlockState {
    if line.contains("-->") { BlockState::Text } else { BlockState::Comment }
}

fn read_line(line: &str, previous: &str, reading: &mut ProseReading) -> BlockState {
    let trimmed = line.trim();
    if let Some(fence) = fence(trimmed) {
        reading.end_paragraph();
        return BlockState::Code(fence);
    }
    if let Some((_, inside)) = trimmed.split_once("<!--").filter(|(before, _)| before.is_empty()) {
        reading.end_paragraph();
        return state_in_comment(inside);
    }
    if let Some((level, text)) = hash_heading(trimmed) {
        reading.push_heading(level, &inline(text));
        return BlockState::Text;
    }
    if let Some(level) = underline(trimmed).filter(|_| is_text(previous)) {
        // Only the last line of the paragraph is the heading; in a summary the difference does not matter.
        reading.discard_paragraph();
        reading.push_heading(level, &inline(previous.trim()));
        return BlockState::Text;
    }
    // Indented code cannot interrupt a paragraph.
    let is_code = line.starts_with("    ") && previous.trim().is_empty();
    if !is_text(line) || is_code {
        reading.end_paragraph();
        return BlockState::Text;
    }
    if !reading.wants_text() {
        return BlockState::Text;
    }
    let plain = inline(trimmed);
    if !plain.trim().is_empty() {
        reading.push_line(&plain);
    }
    BlockState::Text
}

/// Skips the front matter, and reads the title in it.
fn after_front_matter<'a>(text: &'a str, reading: &mut ProseReading) -> &'a str {
    let Some(mark) = ["---\n", "---\r\n", "+++\n", "+++\r\n"].iter().find(|mark| text.starts_with(**mark))
    else {
        return text;
    };
    let mut end = mark.len();
    let mut title = None;
    for line in text[mark.len()..].split_inclusive('\n') {
        end += line.len();
        let line = line.trim();
        if line == mark.trim() {
            if let Some(title) = title {
                reading.set_title(title);
            }
            return &text[end..];
        }
        if let Some(value) =
            line.strip_prefix("title").and_then(|rest| rest.trim_start().strip_prefix([':', '=']))
        {
            title = Some(value.trim().trim_matches(['"', '\'']));
        }
    }
    text
}

fn fence(trimmed: &str) -> Option<(char, usize)> {
    let mark = trimmed.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = trimmed.chars().take_while(|&c| c == mark).count();
    (3 <= length).then_some((mark, length))
}

fn hash_heading(trimmed: &str) -> Option<(usize, &str)> {
    let level = trimmed.bytes().take_while(|&b| b == b'#').count();
    let rest = &trimmed[level..];
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}

fn underline(trimmed: &str) -> Option<usize> {
    let mark = trimmed.bytes().next()?;
    let level = match mark {
        b'=' => 1,
        b'-' => 2,
        _ => return None,
    };
    (2 <= trimmed.len() && trimmed.bytes().all(|b| b == mark)).then_some(level)
}

/// Returns whether a line belongs to a paragraph, as opposed to a list, quotation, table, rule, link definition or
/// HTML.
fn is_text(line: &str) -> bool {
    let trimmed = line.trim_start();
    let is_item = ["- ", "* ", "+ "].iter().any(|mark| trimmed.starts_with(mark)) || is_numbered(trimmed);
    let is_definition = trimmed.starts_with('[') && trimmed.contains("]:");
    // The second half of a badge that was wrapped.
    let is_address = trimmed.starts_with("http") && !trimmed.contains(' ');
    !trimmed.is_empty()
        && !is_address
        && !is_item
        && !is_definition
        && !trimmed.starts_with(['<', '|', '#', '>'])
        && trimmed.chars().any(char::is_alphanumeric)
}

fn is_numbered(trimmed: &str) -> bool {
    let rest = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    rest.len() < trimmed.len() && [". ", ") "].iter().any(|mark| rest.starts_with(mark))
}

/// Returns a line without images and without the addresses of its links.
fn inline(line: &str) -> String {
    const LOOKED_AT: usize = 1024;
    let mut plain = String::new();
    let mut rest = &line[..line.floor_char_boundary(LOOKED_AT)];
    let mut open = 0_usize;
    while let Some(c) = rest.chars().next() {
        if let Some(image) = rest.strip_prefix("![") {
            rest = image.split_once(']').map_or("", |(_, after)| after_target(after));
            continue;
        }
        rest = &rest[c.len_utf8()..];
        match c {
            // A bracket that no address follows is literal.
            '[' if rest.contains("](") || rest.contains("][") => open += 1,
            ']' if 0 < open => {
                open -= 1;
                rest = after_target(rest);
            }
            '*' if rest.starts_with('*') => rest = &rest[1..],
            _ => plain.push(c),
        }
    }
    plain
}

/// Skips the `(address)` or `[reference]` of a link.
fn after_target(rest: &str) -> &str {
    let end = match rest.chars().next() {
        Some('(') => ')',
        Some('[') => ']',
        Some(_) | None => return rest,
    };
    rest.split_once(end).map_or("", |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::super::summary::tests::check;
    use super::*;

    #[test]
    fn a_readme_shows_its_title_headings_and_first_paragraph() {
        check(
            "markdown",
            "<p align=\"center\"><img src=\"x\"></p>\n\n# The **Shop** #\n\n[![CI](https://x/b.svg)](https://x)\n![logo](a.png)\n<!-- a\n# comment -->\n[ref]: https://x\n\nA [shop](https://x) for *things*,\nquick and `small`.\n\n## Install\n\n```sh\n# not a heading\n```\n\n## Use\n\n### Deep\n\nLicense\n-------\nMIT\n",
            expect![[r"
                Markdown, about 20 lines: The Shop
                Headings: Install · Use · License
                A shop for *things*, quick and `small`."]],
        );
    }

    #[test]
    fn front_matter_gives_the_title() {
        check(
            "markdown",
            "---\ntitle: \"Our plans\"\ndate: 2020\n---\n\nWe plan.\n\n## Next\n",
            expect![[r"
                Markdown, a few lines: Our plans
                Headings: Next
                We plan."]],
        );
        check(
            "markdown",
            "---\nnever: ends\n",
            expect![[r"
            Markdown, a few lines.
            never: ends"]],
        );
    }

    #[test]
    fn a_heading_may_be_underlined() {
        check(
            "markdown",
            "Title\n=====\n\ntext\n\nPart\n---\n\n- item\n---\n",
            expect![[r"
                Markdown, a few lines: Title
                Headings: Part
                text"]],
        );
    }

    #[test]
    fn a_text_of_lists_alone_shows_its_first_line() {
        check(
            "markdown",
            "- [ ] buy milk\n- [x] sleep\n",
            expect![[r"
            Markdown, a few lines.
            - [ ] buy milk"]],
        );
    }

    #[test]
    fn links_lose_their_addresses() {
        let cases = [
            ("[a](b) c", "a c"),
            ("[a][b] c", "a c"),
            ("x[0] = 1", "x[0] = 1"),
            ("[![a](b)](c)", ""),
            ("![a](b", ""),
            ("**a** b", "a b"),
            ("[a](b", "a"),
        ];
        for (line, expected) in cases {
            assert_eq!(inline(line), expected, "{line}");
        }
    }
}
