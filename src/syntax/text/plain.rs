//! Source text and documentation as plain text: on one line, and without the markup of Javadoc, XML and HTML.
//!
//! Only tags that such documentation uses are taken for tags: `List<T>` and `<stdio.h>` stay as they are.

use std::borrow::Cow;

use crate::model::character_reference;

/// The longest signature or doc paragraph, in bytes; what is longer ends with `…`.
const MAX_LINE: usize = 300;

/// Tags that mean nothing to a reader of plain text; their contents stay.
const PLAIN: [&str; 26] = [
    "a", "b", "big", "c", "cite", "code", "del", "dfn", "em", "font", "i", "ins", "kbd", "para", "q", "s",
    "samp", "small", "span", "strong", "sub", "summary", "sup", "tt", "u", "var",
];

/// Tags that end a paragraph.
const BREAKS: [&str; 36] = [
    "blockquote", "br", "center", "dd", "div", "dl", "dt", "example", "exception", "h1", "h2", "h3", "h4",
    "h5", "h6", "hr", "img", "inheritdoc", "item", "li", "list", "ol", "p", "param", "pre", "remarks",
    "returns", "seealso", "table", "tbody", "td", "th", "tr", "typeparam", "ul", "value",
];

/// Tags that name something, and are replaced by its name.
const NAMES: [&str; 3] = ["paramref", "see", "typeparamref"];

/// Nothing longer between braces is taken for a tag, so that many unclosed ones cost little.
const LONGEST_TAG: usize = 500;

/// Returns a documentation as plain text: `{@link Foo#bar}` becomes `Foo.bar`, `<see cref="Foo"/>` becomes `Foo`, a
/// `<p>` an empty line, and tags for styling are removed.
pub(in crate::syntax) fn strip_markup(text: &str) -> Cow<'_, str> {
    if !text.contains(['<', '{', '&']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['<', '{', '&']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let (length, replacement) = parse_tag(rest, out.chars().next_back())
            .or_else(|| parse_inline_tag(rest))
            // Replaced once, from left to right: `&amp;lt;` becomes `&lt;`, as its author meant it.
            .or_else(|| character_reference(rest).map(|(length, c)| (length, c.to_string())))
            // All three are one byte long, so that the rest begins with a character.
            .unwrap_or_else(|| (1, rest[..1].to_owned()));
        out.push_str(&replacement);
        rest = &rest[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Parses a tag at the start of `text`: its length, and its replacement.
fn parse_tag(text: &str, before: Option<char>) -> Option<(usize, String)> {
    let inner = text.strip_prefix('<')?;
    // Where another `<` comes first, this one is a comparison or a type.
    let end = inner.find(['<', '>']).filter(|&end| inner[end..].starts_with('>'))?;
    let (inner, closes) =
        inner[..end].strip_prefix('/').map_or((&inner[..end], false), |inner| (inner, true));
    let name_end = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
    let (name, attributes) = inner.split_at(name_end);
    let attributes = attributes.trim_end_matches('/');
    if !(attributes.is_empty() || attributes.starts_with(char::is_whitespace)) {
        return None;
    }
    let name = name.to_ascii_lowercase();
    // `Map<value>` is a type, while what follows a word directly as a tag mostly ends its line or raises a letter.
    let follows_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if follows_name && !closes && !["br", "li", "ol", "p", "pre", "sub", "sup", "ul"].contains(&name.as_str())
    {
        return None;
    }
    let replacement = if NAMES.contains(&name.as_str()) {
        if closes { String::new() } else { named_target(attributes) }
    } else if BREAKS.contains(&name.as_str()) {
        "\n\n".to_owned()
    } else if PLAIN.contains(&name.as_str()) {
        String::new()
    } else {
        return None;
    };
    Some((end + 2, replacement))
}

/// Returns what the attributes of such a tag name: `Foo` of `cref="T:Foo"`.
fn named_target(attributes: &str) -> String {
    let value = attributes.split('"').nth(1).unwrap_or_default();
    let value = if attributes.contains("cref") { without_prefix(value) } else { value };
    value.replace('{', "<").replace('}', ">")
}

fn without_prefix(cref: &str) -> &str {
    match cref.split_once(':') {
        Some((kind, name)) if kind.len() == 1 => name,
        Some(_) | None => cref,
    }
}

/// Parses `{@code text}` and `{@link Foo#bar(int) label}` at the start of `text`.
fn parse_inline_tag(text: &str) -> Option<(usize, String)> {
    let inner = text.strip_prefix("{@")?;
    let end = closing_brace(inner)?;
    let (name, content) = inner[..end].split_once(char::is_whitespace).unwrap_or((&inner[..end], ""));
    let content = content.trim();
    let replacement = match name {
        "link" | "linkplain" | "tutorial" => link_label(content),
        "inheritDoc" | "inheritdoc" | "docRoot" => String::new(),
        _ => content.to_owned(),
    };
    Some((end + 3, replacement))
}

/// Returns where the brace that is open at the start of `text` is closed.
fn closing_brace(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take(LONGEST_TAG) {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the label of a link, else what it leads to: `Foo.bar` of `Foo#bar(int, long)`.
fn link_label(content: &str) -> String {
    if let Some((_, label)) = content.split_once('|') {
        return label.trim().to_owned();
    }
    // A blank within the parentheses of a signature does not begin the label.
    let mut depth = 0_usize;
    let target_end = content.find(|c: char| {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && c.is_whitespace()
    });
    match target_end {
        Some(end) => content[end..].trim().to_owned(),
        None => content.trim_start_matches('#').replace('#', "."),
    }
}

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

/// Returns a text with a separator after each line within braces that ends a member, and that nothing else separates
/// from the next.
pub(in crate::syntax) fn with_separators(text: &str, separator: char) -> Cow<'_, str> {
    // What follows such an end, or precedes such a beginning of a line, continues the line.
    const OPEN: &str = "{([,;|&=?:+-*/.";
    const CONTINUING: &str = "})],;|&?.:=+*/";
    if !text.contains('{') || !text.contains('\n') {
        return Cow::Borrowed(text);
    }
    let mut separated = String::with_capacity(text.len() + 16);
    let mut brackets = Vec::new();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    while let Some(line) = lines.next() {
        for c in line.chars() {
            match c {
                '{' | '(' | '[' => brackets.push(c),
                '}' | ')' | ']' => drop(brackets.pop()),
                _ => {}
            }
        }
        separated.push_str(line);
        let Some(next) = lines.peek() else { break };
        let is_ended = !line.ends_with(|c| OPEN.contains(c)) && !line.ends_with("=>");
        let is_member = brackets.last() == Some(&'{') && is_ended;
        if is_member && !next.starts_with(|c| CONTINUING.contains(c)) {
            separated.push(separator);
        }
        separated.push('\n');
    }
    Cow::Owned(separated)
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

/// Returns whether a name is written as constants are where the language does not mark them.
pub(in crate::syntax) fn is_all_capitals(name: &str) -> bool {
    name.contains(char::is_uppercase) && !name.contains(char::is_lowercase)
}

/// Returns the name, cut off where it is too long for a line.
pub(in crate::syntax) fn clip_name(name: String) -> String {
    if name.len() <= MAX_LINE { name } else { clip(name) }
}

fn clip(mut line: String) -> String {
    line.truncate(line.floor_char_boundary(MAX_LINE));
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

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(strip_markup(text), expected);
    }

    #[test]
    fn a_link_is_read_as_its_label_or_its_target() {
        check("See {@link Foo#bar(int, long)}.", "See Foo.bar(int, long).");
        check("See {@link Foo the foo} and {@linkplain #bar}.", "See the foo and bar.");
        check("{@code a{b}c} &lt; {@value}", "a{b}c < ");
        check("{@link Foo|the foo}", "the foo");
    }

    #[test]
    fn tags_are_removed() {
        check("<b>Bold</b> and <a href=\"x\">linked</a>.<p>More", "Bold and linked.\n\nMore");
        check("<summary>Says <see cref=\"T:Foo\"/> of <paramref name=\"x\"/>.</summary>", "Says Foo of x.");
        check("<see cref=\"List{T}\" />", "List<T>");
    }

    #[test]
    fn text_that_only_looks_like_a_tag_is_kept() {
        check(
            "Map<b> of List<value>, <stdio.h>, a < b > c & d, {a} <",
            "Map<b> of List<value>, <stdio.h>, a < b > c & d, {a} <",
        );
        check("{@link never closed", "{@link never closed");
        check("Vec<T> <T>", "Vec<T> <T>");
    }

    #[test]
    fn a_signature_over_several_lines_becomes_one_line() {
        assert_eq!(one_line("def f(\n    a: int,\n    b=1,\n) -> str"), "def f(a: int, b=1) -> str");
        assert_eq!(one_line("int\tf ( void )"), "int f (void)");
    }

    #[test]
    fn members_on_lines_of_their_own_are_separated() {
        let separated = |text: &str| one_line(&with_separators(text, ';'));
        assert_eq!(
            separated(
                "f({ a,\n b\n}: {\n  a: X<Y>\n\n  b: {\n c: D[] }\n  e?: () =>\n void,\n  g:\n | 1\n})"
            ),
            "f({ a, b }: { a: X<Y>; b: { c: D[] }; e?: () => void, g: | 1 })"
        );
        assert_eq!(separated("f(\n a\n b)"), "f(a b)");
        assert_eq!(separated("{ a: 1 }\n b"), "{ a: 1 } b");
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
