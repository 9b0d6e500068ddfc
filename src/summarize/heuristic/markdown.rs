//! Markdown.
//!
//! The first paragraph should say what the text is about. So tables, badges and their labels are skipped, and a quotation
//! or an HTML heading directly below the title counts as a paragraph: many READMEs describe their project that way.

use super::prose_reading::ProseReading;
use crate::model::{character_reference, strip_closing_hashes};

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
            BlockState::Tag(heading) => state_in_tag(line, heading, &mut reading),
            BlockState::Heading(level) => read_html_heading(line, level, &mut reading),
            BlockState::Table(depth) => state_in_table(line, depth, &mut reading),
            BlockState::Text => read_line(line, previous, &mut reading),
        };
        previous = line;
    }
    reading.finish();
    reading
}

/// The block that contains the next line.
#[derive(Clone, Copy)]
enum BlockState {
    Text,
    /// Code fenced by at least this many of these characters.
    Code((char, usize)),
    Comment,
    /// An HTML tag that is not closed yet, within a heading of that level.
    Tag(Option<usize>),
    /// The text of a heading in HTML.
    Heading(usize),
    /// HTML tables: how many are open, one in the other.
    Table(usize),
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

/// Skips a table, whose cells are mostly logos and names of sponsors.
fn state_in_table(line: &str, depth: usize, reading: &mut ProseReading) -> BlockState {
    // A table that is never closed must not hide the rest of the text.
    if hash_heading(line.trim()).is_some() {
        return read_line(line, "", reading);
    }
    let lower = line.to_ascii_lowercase();
    let depth = (depth + lower.matches("<table").count()).saturating_sub(lower.matches("</table").count());
    if 0 < depth {
        return BlockState::Table(depth);
    }
    // What follows the sponsors' table is about the project again.
    reading.end_appeal();
    BlockState::Text
}

fn read_line(line: &str, previous: &str, reading: &mut ProseReading) -> BlockState {
    let trimmed = line.trim();
    if let Some(quoted) = trimmed.strip_prefix('>') {
        reading.end_paragraph();
        reading.push_quoted_line(&inline(quoted));
        return BlockState::Text;
    }
    reading.end_quote();
    if let Some(fence) = fence(trimmed) {
        reading.end_paragraph();
        reading.end_list();
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
    let is_code = line.starts_with("    ") && previous.trim().is_empty() && !trimmed.starts_with('<');
    if is_definition(trimmed) || is_code {
        reading.end_paragraph();
        return BlockState::Text;
    }
    if let Some(level) = html_heading(trimmed) {
        reading.end_paragraph();
        return read_html_heading(trimmed, level, reading);
    }
    let is_html = trimmed.starts_with('<');
    if is_html && trimmed.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("<table")) {
        reading.end_paragraph();
        return state_in_table(line, 0, reading);
    }
    let inline = read_inline(trimmed);
    let plain = inline.text.trim();
    if !is_text(plain) {
        // A line of images is not a paragraph, and does not interrupt one.
        if plain.is_empty() && !trimmed.is_empty() && !is_html {
            return BlockState::Text;
        }
        reading.end_paragraph();
        if let Some(item) = item_text(plain) {
            reading.push_item(item);
        }
    } else if plain.ends_with(':') && (trimmed.contains("![") || trimmed.contains("<img")) {
        // The label of a badge.
        reading.end_paragraph();
    } else if reading.wants_text() {
        reading.push_line(plain);
        reading.add_links(inline.links, inline.unlinked);
    } else if previous.trim().is_empty() {
        reading.end_list();
    } else {
        reading.continue_item(plain);
    }
    if inline.is_open { BlockState::Tag(None) } else { BlockState::Text }
}

/// Returns the level of an HTML heading at the start of a line.
fn html_heading(trimmed: &str) -> Option<usize> {
    let rest = trimmed.strip_prefix("<h").or_else(|| trimmed.strip_prefix("<H"))?;
    let level = rest.chars().next()?.to_digit(10).filter(|level| (1..=6).contains(level))?;
    rest[1..].starts_with(['>', ' ']).then_some(level as usize)
}

/// Reads a line of an HTML heading, which may have several.
fn read_html_heading(line: &str, level: usize, reading: &mut ProseReading) -> BlockState {
    let inline = read_inline(line.trim());
    let is_blank = line.trim().is_empty();
    reading.push_heading_text(&inline.text);
    if is_blank || line.contains("</h") || line.contains("</H") {
        reading.end_html_heading(level);
        return BlockState::Text;
    }
    if inline.is_open { BlockState::Tag(Some(level)) } else { BlockState::Heading(level) }
}

/// Skips the attributes of a tag; what follows it on its last line is read like a line.
fn state_in_tag(line: &str, heading: Option<usize>, reading: &mut ProseReading) -> BlockState {
    match (line.split_once('>'), heading) {
        (Some((_, rest)), Some(level)) if rest.trim().is_empty() => BlockState::Heading(level),
        (Some((_, rest)), Some(level)) => read_html_heading(rest, level, reading),
        (Some((_, rest)), None) => read_line(rest, "<", reading),
        // A blank line ends any block of HTML.
        (None, _) if line.trim().is_empty() => BlockState::Text,
        (None, _) => BlockState::Tag(heading),
    }
}

/// Skips the front matter, and reads the title in it.
fn after_front_matter<'a>(text: &'a str, reading: &mut ProseReading) -> &'a str {
    let Some(mark) = ["---\n", "---\r\n", "+++\n", "+++\r\n"].iter().find(|mark| text.starts_with(**mark))
    else {
        return text;
    };
    let mut end = mark.len();
    let (mut title, mut description) = (None, None);
    for line in text[mark.len()..].split_inclusive('\n') {
        end += line.len();
        let line = line.trim();
        if line == mark.trim() {
            if let Some(title) = title {
                reading.set_title(title);
            }
            if let Some(description) = description {
                reading.push_line(description);
                reading.end_paragraph();
            }
            return &text[end..];
        }
        let value = |key: &str| {
            let value = line.strip_prefix(key)?.trim_start().strip_prefix([':', '='])?;
            Some(value.trim().trim_matches(['"', '\''])).filter(|value| !value.is_empty())
        };
        title = value("title").or(title).or_else(|| value("name"));
        description = description.or_else(|| value("description")).or_else(|| value("about"));
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
    is_heading.then(|| (level, strip_closing_hashes(rest.trim())))
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

fn is_definition(trimmed: &str) -> bool {
    trimmed.starts_with('[') && trimmed.contains("]:")
}

/// Returns whether a line belongs to a paragraph, as opposed to a list, quotation, table or rule.
fn is_text(line: &str) -> bool {
    let trimmed = line.trim_start();
    let is_item = item_text(trimmed).is_some();
    // The second half of a badge that was wrapped.
    let is_address = trimmed.starts_with("http") && !trimmed.contains(' ');
    !trimmed.is_empty()
        && !is_address
        && !is_item
        && !is_definition(trimmed)
        && !trimmed.starts_with(['<', '|', '#', '>'])
        && trimmed.chars().any(char::is_alphanumeric)
}

/// Returns the text of a list item; `None` if the line does not begin one.
fn item_text(trimmed: &str) -> Option<&str> {
    let rest = trimmed.trim_start_matches(|c: char| c.is_ascii_digit());
    let marks: &[&str] = if rest.len() < trimmed.len() { &[". ", ") "] } else { &["- ", "* ", "+ "] };
    marks.iter().find_map(|mark| rest.strip_prefix(mark)).map(str::trim_start)
}

/// A line without markup.
#[derive(Default)]
struct InlineText {
    text: String,
    links: usize,
    /// The number of letters and digits outside of links.
    unlinked: usize,
    /// Whether a tag is not closed on the line.
    is_open: bool,
}

/// Returns a line without images, tags and the addresses of its links.
fn inline(line: &str) -> String {
    read_inline(line).text
}

/// Reads a line without images, tags and the addresses of its links.
fn read_inline(line: &str) -> InlineText {
    const LOOKED_AT: usize = 1024;
    let mut inline = InlineText::default();
    let mut rest = &line[..line.floor_char_boundary(LOOKED_AT)];
    let mut open = 0_usize;
    let mut is_code = false;
    while let Some(c) = rest.chars().next() {
        if let Some(image) = rest.strip_prefix("![") {
            rest = image.split_once(']').map_or("", |(_, after)| after_target(after));
            continue;
        }
        if let Some(comment) = rest.strip_prefix("<!--").filter(|_| !is_code) {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        if let Some((length, character)) = character_reference(rest).filter(|_| !is_code) {
            inline.unlinked += usize::from(open == 0 && character.is_alphanumeric());
            inline.text.push(character);
            rest = &rest[length..];
            continue;
        }
        if let Some(address) = address_in_brackets(rest).filter(|_| !is_code) {
            inline.links += 1;
            inline.text.push_str(address);
            rest = &rest[address.len() + 2..];
            continue;
        }
        if let Some(name) = tag_name(rest).filter(|_| !is_code) {
            match name {
                "a" => (open, inline.links) = (open + 1, inline.links + 1),
                "/a" => open = open.saturating_sub(1),
                "br" | "/td" | "/p" => inline.text.push(' '),
                _ => {}
            }
            let Some(end) = rest.find('>') else {
                inline.is_open = true;
                break;
            };
            rest = &rest[end + 1..];
            continue;
        }
        let before = inline.text.chars().next_back();
        rest = &rest[c.len_utf8()..];
        is_code ^= c == '`';
        match c {
            // A bracket that no address follows is literal.
            '[' if rest.contains("](") || rest.contains("][") => {
                (open, inline.links) = (open + 1, inline.links + 1);
            }
            '[' if !is_code && is_reference(before, rest) => {
                let (name, after) = rest.split_once(']').unwrap_or((rest, ""));
                inline.text.push_str(name);
                (inline.links, rest) = (inline.links + 1, after);
            }
            // The text of a link may begin on an earlier line.
            ']' if 0 < open || rest.starts_with("(http") => {
                open = open.saturating_sub(1);
                rest = after_target(rest);
            }
            '*' if rest.starts_with('*') => rest = &rest[1..],
            _ => {
                inline.unlinked += usize::from(open == 0 && c.is_alphanumeric());
                inline.text.push(c);
            }
        }
    }
    inline
}

/// Returns the address at the start of a text: `<https://example.org>`.
fn address_in_brackets(text: &str) -> Option<&str> {
    let (address, _) = text.strip_prefix('<')?.split_once('>')?;
    let is_address = address.starts_with("http://") || address.starts_with("https://");
    (is_address && !address.contains(char::is_whitespace)).then_some(address)
}

/// Returns whether a bracket after that character opens a link by its own text, as in `a [WSGI] server`.
fn is_reference(before: Option<char>, rest: &str) -> bool {
    const LONGEST: usize = 60;
    let near = &rest[..rest.floor_char_boundary(LONGEST)];
    let Some((name, after)) = near.split_once(']') else { return false };
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_' | '.');
    before.is_none_or(char::is_whitespace)
        && name.starts_with(char::is_alphabetic)
        && 2 < name.len()
        && name.chars().all(is_name)
        && !after.starts_with(|c: char| c.is_alphanumeric() || c == '(')
}

/// Returns the name of the HTML tag at the start of a text; an address in angle brackets counts as one, too.
fn tag_name(text: &str) -> Option<&str> {
    const NAMES: [&str; 46] = [
        "a", "abbr", "b", "big", "blockquote", "br", "center", "code", "dd", "details", "div", "dl", "dt",
        "em", "font", "h1", "h2", "h3", "h4", "h5", "h6", "hr", "http", "https", "i", "iframe", "img", "kbd",
        "li", "mailto", "ol", "p", "picture", "pre", "source", "span", "strong", "sub", "summary", "sup",
        "table", "tbody", "td", "th", "tr", "ul",
    ];
    let inside = text.strip_prefix('<')?;
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let is_tag = NAMES.iter().any(|known| known.eq_ignore_ascii_case(&name[..end]));
    is_tag.then(|| &inside[..inside.len() - name.len() + end])
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
    fn nothing_below_the_heading_of_an_appeal_is_what_a_readme_says() {
        check(
            "markdown",
            "# Donate\n\n![x](y)\n\n## Sponsors\n\n### Big Corp\n\nBig Corp is big.\n\n## About\n\nTakes gifts.\n",
            expect![[r"
                Markdown, about 10 lines.
                Headings: Big Corp · About
                Takes gifts."]],
        );
    }

    #[track_caller]
    fn check_paragraph(text: &str, paragraph: &str) {
        assert_eq!(read(text).paragraph.as_deref().unwrap_or_default(), paragraph, "{text}");
    }

    #[test]
    fn a_table_of_sponsors_is_not_what_a_readme_says() {
        let table =
            "<table align=\"center\">\n<tr>\n<td\n>\n<p\n>\nBig Corp is big.\n</p>\n</td>\n</tr>\n</table>\n";
        let about = "<p align=\"center\">A client for the browser</p>\n";
        let sponsors = "<h3 align=\"center\">Gold sponsors <br /></h3>\n";
        check_paragraph(
            &format!("{sponsors}{table}{table}<h3>Silver sponsors</h3>\n{table}\n{about}"),
            "A client for the browser",
        );
        check_paragraph(
            &format!("# Shop\n\n<table><tr><td>\nCells\n\n{about}\n## Use\n\nOpen it.\n"),
            "Open it.",
        );
        check_paragraph("<table><tr><td>Outer<table></table></td>\nstill</tr></table>\n\nWords.\n", "Words.");
    }

    #[test]
    fn a_quotation_or_an_html_heading_below_the_title_describes_the_project() {
        check_paragraph(
            "# ora\n\n> Elegant [terminal](https://x) spinner\n\n## Install\n\nOne line.\n",
            "Elegant terminal spinner",
        );
        check_paragraph("# ora\n\n> [!NOTE]\n> It moved.\n\nA spinner.\n", "A spinner.");
        check_paragraph("# ora\n\n> **Warning**: old\n\nA spinner.\n", "A spinner.");
        check_paragraph("# ora\n\nA spinner.\n\n> Wise words\n", "A spinner.");
        check_paragraph("# ora\n\n> Next generation\n\nA spinner.\n", "A spinner.");
        let heads = "<h1>\nFlame\n</h1>\n<h4>Simple to use screenshots.</h4>\n";
        check_paragraph(&format!("{heads}\n## Use\n\nRun it.\n"), "Simple to use screenshots.");
        check_paragraph(&format!("{heads}\nTakes screenshots.\n\n## Use\n"), "Takes screenshots.");
        check_paragraph("<h1>Flame</h1>\n<h2>Getting started</h2>\n\nRun it.\n", "Run it.");
        check_paragraph("<h1>Flame</h1>\n<h4>Editor | Blog | Docs</h4>\n\n## Use\n\nRun it.\n", "Run it.");
    }

    #[test]
    fn links_labels_and_pointers_are_not_what_a_readme_says() {
        for skipped in [
            "API Documentation: [latest release](https://x) – [main branch](https://y)",
            "**Documentation**: <a href=\"https://x\">https://x.example.org/docs</a>",
            "Last build: [![CI](https://x/b.svg)](https://x)",
            "[<img src=\"a\"\nalt=\"Get it\"\nheight=\"80\">](https://x)",
            "See the [website](https://x) for documentation and APIs.",
            ":memo: Available Translations: A B C.",
            "If you find this project useful, please cite:",
            "JavaScript\n· TypeScript\n· Flow\n· JSX",
            "Using npm:",
            "Welcome to Shop!",
            "Shop https://x.example https://y.example",
        ] {
            check_paragraph(&format!("# Shop\n\n{skipped}\n\nShop sells things.\n"), "Shop sells things.");
        }
    }

    #[test]
    fn comments_and_character_references_are_read_as_html_reads_them() {
        check(
            "markdown",
            "# Shop&nbsp;&nbsp; <!-- omit in toc -->\n\nTom &amp; Jerry&#x27;s &#40;old&#41; `&lt;` &unknown; shop.\n",
            expect![[r"
                Markdown, a few lines: Shop
                Tom & Jerry's (old) `&lt;` &unknown; shop."]],
        );
    }

    #[test]
    fn a_heading_may_end_with_a_hash_sign() {
        check(
            "markdown",
            "# Learn C#\n\n## F# ##\n\nWords.\n",
            expect![[r"
                Markdown, a few lines: Learn C#
                Headings: F#
                Words."]],
        );
    }

    #[test]
    fn a_paragraph_that_announces_a_list_includes_its_first_items() {
        check(
            "markdown",
            "# Plug\n\nPlug is:\n\n  1. A specification for\n     web *applications*.\n  2. Adapters\n\n## Use\n\n- no\n",
            expect![[r"
                Markdown, about 10 lines: Plug
                Headings: Use
                Plug is: A specification for web *applications*; Adapters"]],
        );
        check(
            "markdown",
            "# Plug\n\nRun this:\n\n```sh\nplug\n```\n\n- no\n",
            expect![[r"
                Markdown, a few lines: Plug
                Run this:"]],
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
    fn markup_badges_and_appeals_are_not_the_first_paragraph() {
        check(
            "markdown",
            "<h1 align=\"center\">\n  <img src=\"logo.svg\"\n       alt=\"Shop\">\n  The Shop\n</h1>\n\n<p align=\"center\">\n  <a href=\"https://x\"><img src=\"badge.svg\"/></a>\n  <a href=\"https://docs\">Docs</a> • <a href=\"https://chat\">Chat</a>\n</p>\n\n[English](a) | [Deutsch](b)\n\nSponsored by [nobody](https://x), thanks!\n\n<p>A <strong>fast</strong> [WSGI] shop\nfor `List<T>`.</p>\n\n## Sponsors\n\n## Use\n\n[WSGI]: https://wsgi\n",
            expect![[r"
                Markdown, about 20 lines: The Shop
                Headings: Use
                A fast WSGI shop for `List<T>`."]],
        );
    }

    #[test]
    fn front_matter_gives_a_description() {
        check(
            "markdown",
            "---\nname: Bug report\nabout: Tell us what is broken\ntitle: ''\n---\n\n- [ ] done\n",
            expect![[r"
                Markdown, a few lines: Bug report
                Tell us what is broken"]],
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
    fn a_text_that_consists_of_lists_shows_its_first_line() {
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
            ("a [WSGI] server [x] y", "a WSGI server [x] y"),
            ("[![a](b)](c)", ""),
            ("![a](b", ""),
            ("**a** b", "a b"),
            ("[a](b", "a"),
            ("a at <https://b.org/c>.", "a at https://b.org/c."),
        ];
        for (line, expected) in cases {
            assert_eq!(inline(line), expected, "{line}");
        }
    }
}
