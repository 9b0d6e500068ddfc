//! Reduces a page to its tags, with the attributes that name something.
//!
//! Text, scripts, styles and class attributes are most of a page, and do not affect how its elements nest. Templates are
//! elided with them: their syntax within tags and attributes is what the grammar does not understand.

use memchr::{memchr, memchr2, memmem};

use crate::syntax::text::PreprocessedText;

/// Attributes that the outline shows.
const KEPT_ATTRIBUTES: [&str; 9] = ["id", "name", "rel", "href", "src", "type", "content", "action", "for"];

/// A text of fewer bytes than this stays.
const SHORT: usize = 4;

/// What does not end within this many bytes is not a template: the ends of many open ones would be searched for again
/// and again.
const LONGEST_TEMPLATE: usize = 2000;

/// Returns the tags; `None` where one does not end.
pub(in crate::syntax) fn preprocess_html(text: &str) -> Option<PreprocessedText> {
    let mut scan = HtmlScanner { text, at: 0, copied_until: 0, preprocessed: PreprocessedText::default() };
    while scan.at < text.len() {
        scan.text_up_to_tag();
        if scan.at < text.len() {
            scan.tag()?;
        }
    }
    scan.preprocessed.copy(text, scan.copied_until..text.len());
    Some(scan.preprocessed)
}

struct HtmlScanner<'t> {
    text: &'t str,
    at: usize,
    /// The end of what was copied or elided.
    copied_until: usize,
    preprocessed: PreprocessedText,
}

impl<'t> HtmlScanner<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Elides the text up to the next tag.
    fn text_up_to_tag(&mut self) {
        let from = self.at;
        while let Some(found) = memchr2(b'<', b'{', &self.text.as_bytes()[self.at..]) {
            self.at += found;
            if let Some(end) = template_end(self.rest().as_bytes()) {
                self.at += end;
            } else if is_tag(self.rest()) {
                return self.elide_text(from);
            } else {
                self.at += 1;
            }
        }
        self.at = self.text.len();
        self.elide_text(from);
    }

    fn elide_text(&mut self, from: usize) {
        let content = self.text[from..self.at].trim();
        if SHORT < content.len() || content.contains(['<', '{']) {
            let from = from + (self.text[from..self.at].len() - self.text[from..self.at].trim_start().len());
            // A letter in place of the text, because an element with text and one without differ in the tree.
            self.replace(from, from + content.len(), "x");
        }
    }

    /// Reads a tag, a comment or a declaration.
    fn tag(&mut self) -> Option<()> {
        let rest = self.rest();
        if let Some(comment) = rest.strip_prefix("<!--") {
            self.at += memmem::find(comment.as_bytes(), b"-->")? + 7;
        } else if rest.starts_with("<?") {
            let end = self.at + memmem::find(rest.as_bytes(), b">")? + 1;
            self.replace(self.at, end, "");
            self.preprocessed.repairs += 1;
            self.at = end;
        } else if rest.starts_with("<!") || rest.starts_with("</") {
            self.at += memchr(b'>', rest.as_bytes())? + 1;
        } else {
            let name = self.name();
            self.attributes()?;
            if matches!(name.as_str(), "script" | "style") && !self.text[..self.at].ends_with("/>") {
                self.elide_raw_text(&name)?;
            }
        }
        Some(())
    }

    /// Steps over `<name` and returns the name.
    fn name(&mut self) -> String {
        let rest = &self.rest()[1..];
        let end =
            rest.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/' | '{')).unwrap_or(rest.len());
        let name = rest[..end].to_ascii_lowercase();
        self.at += 1 + end;
        name
    }

    /// Scans the attributes, of which those that are shown stay, and the end of the tag.
    fn attributes(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            let from = self.at;
            match *rest.as_bytes().first()? {
                b'>' => {
                    self.at += 1;
                    return Some(());
                }
                b'<' => return None,
                byte if byte.is_ascii_whitespace() || byte == b'/' => self.at += 1,
                b'{' if template_end(rest.as_bytes()).is_some() => {
                    self.at += template_end(rest.as_bytes())?;
                    self.replace(from, self.at, "");
                    self.preprocessed.repairs += 1;
                }
                _ => {
                    let is_shown = self.attribute()?;
                    if !is_shown {
                        self.replace(from, self.at, "");
                    }
                }
            }
        }
    }

    /// Scans one attribute, and returns whether it is shown.
    fn attribute(&mut self) -> Option<bool> {
        let rest = self.rest();
        let first = rest.chars().next().map_or(1, char::len_utf8);
        let is_end = |c: char| c.is_whitespace() || matches!(c, '>' | '=' | '/' | '<' | '{');
        let end = first + rest[first..].find(is_end)?;
        let name = rest[..end].to_ascii_lowercase();
        let after = rest[end..].trim_start();
        self.at = self.text.len() - after.len();
        let Some(value) = after.strip_prefix('=').map(str::trim_start) else { return Some(true) };
        self.at = self.text.len() - value.len();
        let quote = value.as_bytes().first().copied().filter(|byte| matches!(byte, b'"' | b'\''));
        let mut is_plain = true;
        let mut at = usize::from(quote.is_some());
        loop {
            if let Some(end) = template_end(&value.as_bytes()[at..]) {
                at += end;
                is_plain = false;
                continue;
            }
            let byte = *value.as_bytes().get(at)?;
            match quote {
                Some(quote) if byte == quote => {
                    at += 1;
                    break;
                }
                None if byte.is_ascii_whitespace() || byte == b'>' => break,
                Some(_) | None => at += 1,
            }
        }
        let from = self.at;
        self.at += at;
        let is_shown = KEPT_ATTRIBUTES.contains(&name.as_str());
        if is_shown && !is_plain {
            self.replace(from, self.at, "\"x\"");
            self.preprocessed.repairs += 1;
        }
        Some(is_shown)
    }

    /// Elides a script or a style.
    fn elide_raw_text(&mut self, name: &str) -> Option<()> {
        let from = self.at;
        let mut at = from;
        loop {
            // A script ends only with its own end tag, whatever tags its strings contain.
            at += memmem::find(&self.text.as_bytes()[at..], b"</")?;
            let end = self.text.get(at + 2..at + 2 + name.len());
            if end.is_some_and(|end| end.eq_ignore_ascii_case(name)) {
                break;
            }
            at += 2;
        }
        if from < at && SHORT < self.text[from..at].trim().len() {
            self.replace(from, at, "x");
        }
        self.at = at;
        Some(())
    }

    fn replace(&mut self, from: usize, to: usize, text: &str) {
        // An attribute that is shown may be part of one that is elided.
        if self.copied_until <= from {
            self.preprocessed.copy(self.text, self.copied_until..from);
            self.preprocessed.substitute(text, from..to);
        }
        self.copied_until = to.max(self.copied_until);
    }
}

/// Returns how long what a template does is that begins here: `{{ … }}`, `{% … %}`, `{# … #}`.
fn template_end(text: &[u8]) -> Option<usize> {
    let closer = match text.get(..2)? {
        b"{{" => "}}",
        b"{%" => "%}",
        b"{#" => "#}",
        _ => return None,
    };
    let near = &text[..text.len().min(LONGEST_TEMPLATE)];
    memmem::find(near, closer.as_bytes()).map(|end| end + 2)
}

/// Returns whether a tag begins here.
fn is_tag(text: &str) -> bool {
    let next = text.as_bytes().get(1);
    text.starts_with('<')
        && next.is_some_and(|next| next.is_ascii_alphabetic() || matches!(next, b'/' | b'!' | b'?'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(preprocess_html(text).map(|preprocessed| preprocessed.text).as_deref(), expected);
    }

    #[test]
    fn tags_stay() {
        check("<p class=\"a\" id=b>Some words <b>bold text</b></p>\n", Some("<p  id=b>x <b>x</b></p>\n"));
        check("<!-- a --><input disabled name='x'/>", Some("<!-- a --><input disabled name='x'/>"));
        check("<script src=a.js>if (a < b) {}</script>", Some("<script src=a.js>x</script>"));
    }

    #[test]
    fn templates_are_elided() {
        check("{% if \"<a>\" %}<a href=\"{% url \"x\" %}\" {{ y }}>z</a>", Some("x<a href=\"x\" >z</a>"));
        check("<?xml version='1.0'?><a>", Some("<a>"));
    }

    #[test]
    fn a_page_with_an_open_tag_is_not_preprocessed() {
        for text in ["<a", "<a <b>", "<!-- ", "<script>x", "<a b=\"c>"] {
            check(text, None);
        }
    }
}
