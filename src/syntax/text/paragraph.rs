//! Where the first paragraph of a comment or docstring ends.

/// The mark of what is left out after a first paragraph.
const MARK: &str = " [...]";

/// What opens a comment of several lines, and what closes it.
const BLOCKS: [(&str, &str); 3] = [("/*", "*/"), ("<!--", "-->"), ("--[[", "]]")];

/// Comments of several lines that are not cut, because what closes them depends on how they begin.
const UNKNOWN: [&str; 4] = ["--[=", "#[[", "#[=", "=begin"];

/// The end of a first paragraph.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::syntax) struct DocBreak {
    /// The offset at which the rest begins.
    pub(in crate::syntax) at: usize,
    /// What replaces the rest.
    pub(in crate::syntax) mark: String,
}

/// How a line ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineState {
    /// In a comment that ends with the line.
    Line,
    /// In a comment that is closed by this.
    Block(&'static str),
    /// Behind a comment that was closed.
    Closed,
}

/// Returns where the first paragraph of a run of comments ends; `None` if it has only one, or if it cannot be cut so
/// that it still closes.
pub(in crate::syntax) fn comment_break(comments: &str) -> Option<DocBreak> {
    let (mut state, mut offset, mut paragraph) = (LineState::Line, 0, ParagraphEnd::default());
    for line in comments.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let (content, next) = read_line(line.trim(), state)?;
        let is_open = matches!(next, LineState::Block(_));
        if paragraph.ends_before(content) {
            let LastLine { end, state } = paragraph.last?;
            let mark = match state {
                LineState::Line => MARK.to_owned(),
                LineState::Block(close) => format!("{MARK} {close}"),
                LineState::Closed => String::new(),
            };
            return Some(DocBreak { at: end, mark });
        }
        // In some languages comments nest, so that one `*/` would not close them all.
        if next != LineState::Line && content.contains("/*") {
            return None;
        }
        let end = start + line.trim_end().len();
        paragraph.add(content, LastLine { end, state: next });
        state = if is_open { next } else { LineState::Line };
    }
    None
}

/// Returns where the first paragraph of a docstring's text ends, if it has more.
pub(in crate::syntax) fn docstring_break(text: &str) -> Option<DocBreak> {
    let (mut offset, mut paragraph) = (0, ParagraphEnd::default());
    for line in text.split_inclusive('\n') {
        let start = offset;
        offset += line.len();
        let content = line.trim();
        if paragraph.ends_before(content) {
            return paragraph.last.map(|last| DocBreak { at: last.end, mark: MARK.to_owned() });
        }
        // A backslash that ends a line would begin an escape together with the mark.
        let end = start + line.trim_end().trim_end_matches('\\').trim_end().len();
        paragraph.add(content, LastLine { end, state: LineState::Line });
    }
    None
}

/// Returns the words of a line of comments, and how the line ends; `None` for comments that cannot be cut.
fn read_line(line: &str, state: LineState) -> Option<(&str, LineState)> {
    let close = match state {
        LineState::Block(close) => Some(close),
        LineState::Line | LineState::Closed => {
            if UNKNOWN.iter().any(|open| line.starts_with(open)) {
                return None;
            }
            BLOCKS.iter().find(|(open, _)| line.starts_with(open)).map(|(_, close)| *close)
        }
    };
    let Some(close) = close else { return Some((line, LineState::Line)) };
    // An opening mark is not searched: `/*/` does not close itself.
    let opened = if matches!(state, LineState::Block(_)) { 0 } else { 2 };
    let Some(end) = line.get(opened..)?.find(close).map(|at| opened + at) else {
        return Some((&line[opened..], LineState::Block(close)));
    };
    let rest = line[end + close.len()..].trim();
    // What follows on the same line may be anything.
    rest.is_empty().then_some((&line[opened..end], LineState::Closed))
}

/// The last line of a paragraph so far.
#[derive(Clone, Copy)]
struct LastLine {
    end: usize,
    state: LineState,
}

/// Finds the end of a paragraph, line by line.
#[derive(Default)]
struct ParagraphEnd {
    last: Option<LastLine>,
    /// Whether a line says more than what the comment belongs to.
    has_text: bool,
}

impl ParagraphEnd {
    /// Returns whether the paragraph ends before a line.
    fn ends_before(&self, line: &str) -> bool {
        let words = without_markers(line);
        let begins_field = || begins_field(words) || begins_xml_field(line);
        self.last.is_some() && (words.is_empty() || (self.has_text && begins_field()))
    }

    fn add(&mut self, line: &str, last: LastLine) {
        let words = without_markers(line);
        if words.is_empty() {
            return;
        }
        self.last = Some(last);
        let names =
            ["brief", "short", "summary", "description", "desc", "fileoverview", "overview", "details"];
        self.has_text |=
            field_name(words).is_none_or(|name| names.contains(&name)) && !begins_xml_field(line);
    }
}

/// Returns a line without what marks it as a comment or draws a line; a single letter is a part of such a drawing.
fn without_markers(line: &str) -> &str {
    let words = line.trim_matches(|c: char| c.is_whitespace() || "/*#!<-=_~+;%".contains(c));
    if words.chars().nth(1).is_none() { "" } else { words }
}

/// Returns whether a line begins a field, such as a parameter, a list of them, or an example.
fn begins_field(words: &str) -> bool {
    field_name(words).is_some() || words.starts_with(">>>") || words.starts_with("```")
}

/// Returns whether a line begins a field of C#'s documentation: any of its elements but the summary.
fn begins_xml_field(line: &str) -> bool {
    const FIELDS: [&str; 9] = [
        "param", "returns", "typeparam", "exception", "remarks", "example", "seealso", "value", "permission",
    ];
    let Some(tag) = line.trim_start_matches(['/', '*', ' ']).strip_prefix('<') else { return false };
    let end = tag.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(tag.len());
    FIELDS.contains(&&tag[..end])
}

/// Returns the name of a field: of `@param x`, `\\param x`, `:param x: …`.
fn field_name(words: &str) -> Option<&str> {
    let rest = words.strip_prefix(['@', '\\', ':'])?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let name = &rest[..end];
    // `:class:`Name` …` and `@p n is copied` are words of the text.
    let is_inline =
        rest[end..].starts_with(":`") || ["a", "b", "c", "e", "em", "p", "ref", "link"].contains(&name);
    (!name.is_empty() && rest.starts_with(char::is_alphabetic) && !is_inline).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(comment: &str, expected: &str) {
        let cut = comment_break(comment);
        let cut = cut.map_or(comment.to_owned(), |cut| format!("{}{}", &comment[..cut.at], cut.mark));
        assert_eq!(cut, expected);
    }

    #[test]
    fn a_comment_ends_as_it_began() {
        check("// One.\n//\n// Two.", "// One. [...]");
        check("/* One.\n\n   Two. */", "/* One. [...] */");
        check("/* One. */\n/* ---- */\n/* Two. */", "/* One. */");
        check("/**\n * One.\n * @param a b\n */", "/**\n * One. [...] */");
        check("-- One.\n--\n-- Two.", "-- One. [...]");
        check("--[[ One.\n\nTwo. ]]", "--[[ One. [...] ]]");
        check("<!-- One.\n\nTwo. -->", "<!-- One. [...] -->");
    }

    #[test]
    fn tags_that_name_their_subject_are_not_paragraphs() {
        check("/*!\n \\class A\n \\brief One.\n\n Two.\n*/", "/*!\n \\class A\n \\brief One. [...] */");
        check("/* ===== */\n/* One.\n * Two. */", "/* ===== */\n/* One.\n * Two. */");
    }

    #[test]
    fn a_summary_ends_before_the_other_elements() {
        check(
            "/// <summary>\n/// One <b>a</b>.\n/// </summary>\n/// <param name=\"a\">Two</param>\n/// <returns>b</returns>",
            "/// <summary>\n/// One <b>a</b>.\n/// </summary> [...]",
        );
        let only_fields = "/// <param name=\"a\">One</param>\n/// <returns>Two</returns>";
        check(only_fields, only_fields);
    }

    #[test]
    fn text_that_might_not_close_is_not_cut() {
        for comment in
            ["/* One /* two */\n\nthree */", "=begin\nOne.\n\nTwo.\n=end", "--[==[ One.\n\nTwo ]==]"]
        {
            check(comment, comment);
        }
    }

    #[test]
    fn a_docstring_ends_before_its_fields() {
        let cut = |text: &str| docstring_break(text).map(|cut| text[..cut.at].to_owned());
        assert_eq!(cut("One.\n\nTwo.").as_deref(), Some("One."));
        assert_eq!(cut("\\\nOne.\n:param a: b").as_deref(), Some("\\\nOne."));
        assert_eq!(cut("One :class:`A`\n:class:`B` two."), None);
        assert_eq!(cut("One.\n"), None);
    }
}
