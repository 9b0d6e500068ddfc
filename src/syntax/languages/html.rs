//! HTML: the elements that have a name, and what a skeleton keeps of the others.
//!
//! The parser is given the tags of a page, with the attributes that name something. Text, scripts, styles and class
//! attributes are most of a page, and do not affect how its elements nest. Templates are elided with them: their syntax
//! within tags and attributes is what the grammar does not understand.

use std::ops::Range;

use memchr::{memchr, memchr2, memmem};
use tree_sitter::Node;

use super::lines::{define_with_signature, format_data_size};
use crate::model::{Span, SymbolKind};
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, find, find_all,
};
use crate::syntax::text::{
    PreprocessedText, TextRewriter, clip_name, format_line_count, one_line, strip_markup,
};

pub(super) static HTML: Language = Language {
    separator: " > ",
    marks: ElisionMarks { body: ("<!-- ", " -->"), data: ("<!-- ", " -->"), ends_line: false },
    preprocess: Some(preprocess_html),
    read_root: Some(document),
    ..Language::new("html", tree_sitter_html::LANGUAGE, "tree-sitter-html 0.23.2", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("element", Visit::Read(element)),
    ("script_element style_element", Visit::Read(script)),
];

/// Elements without names that have more bytes than this together are shown by their size.
const LARGE_ELEMENTS: usize = 200;

/// Scripts and styles of more lines than this are shown by their size.
const LONG_SCRIPT: usize = 3;

/// The name and attributes of a tag.
struct HtmlTag<'t> {
    name: String,
    node: Node<'t>,
    attributes: Vec<(String, &'t str)>,
}

impl<'t> HtmlTag<'t> {
    fn from_element(walk: &OutlineWalk<'t>, element: Node<'t>) -> Option<Self> {
        let node = find(element, ".start_tag|.self_closing_tag")?;
        let name = walk.text(child_of_kind(node, "tag_name")?).to_lowercase();
        let attributes = find_all(node, ".attribute").into_iter().filter_map(|attribute| {
            let name = walk.text(child_of_kind(attribute, "attribute_name")?).to_lowercase();
            let value = find(attribute, ".quoted_attribute_value|.attribute_value");
            Some((name, value.map_or("", |value| walk.text(value).trim_matches(['"', '\'']))))
        });
        Some(Self { name, node, attributes: attributes.collect() })
    }

    fn attribute(&self, name: &str) -> Option<&'t str> {
        let mut found = self.attributes.iter().filter(|(known, value)| known == name && !value.is_empty());
        found.next().map(|(_, value)| *value)
    }
}

/// Reads the title of the page.
fn document<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    // The walk visits the children of the root after this.
    walk.doc = description(walk, root);
}

/// Returns the description in a page's head.
fn description<'t>(walk: &OutlineWalk<'t>, root: Node<'t>) -> Option<String> {
    let page = children(root).into_iter().find(|child| child.kind() == "element")?;
    let head = std::iter::once(page).chain(children(page)).find(|child| {
        child.kind() == "element" && HtmlTag::from_element(walk, *child).is_some_and(|tag| tag.name == "head")
    })?;
    let mut title = None;
    for element in children(head).into_iter().filter(|child| child.kind() == "element") {
        let Some(tag) = HtmlTag::from_element(walk, element) else { continue };
        match tag.name.as_str() {
            "meta" if tag.attribute("name") == Some("description") => {
                return tag.attribute("content").map(|content| one_line(&strip_markup(content)));
            }
            // Only for a page that has no description.
            "title" => title = Some(element_text(walk, element)),
            _ => {}
        }
    }
    title.map(|title| strip_markup(&title).into_owned()).filter(|title| !title.is_empty())
}

/// Reads an element: a heading, a form and its fields, or one with an id; visits the children of any other.
fn element<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(tag) = HtmlTag::from_element(walk, node) else { return walk.visit_children(node) };
    let level = tag
        .name
        .strip_prefix('h')
        .and_then(|level| level.parse::<u8>().ok())
        .filter(|level| (1..=6).contains(level));
    let before = walk.symbols.len();
    let named = tag.attribute("id");
    match tag.name.as_str() {
        "title" => define(walk, node, &tag, SymbolKind::Element, "title"),
        "link" if tag.attribute("rel") == Some("stylesheet") => {
            walk.add_import(tag.attribute("href").unwrap_or_default());
        }
        _ if level.is_some() => define(walk, node, &tag, SymbolKind::Heading, &element_text(walk, node)),
        "form" => {
            let name = named.or(tag.attribute("name")).or(tag.attribute("action")).unwrap_or("form");
            define(walk, node, &tag, SymbolKind::Element, name);
        }
        "input" | "select" | "textarea" | "button" if tag.attribute("name").is_some() => {
            let name = tag.attribute("name").unwrap_or_default();
            define(walk, node, &tag, SymbolKind::Field, name);
        }
        _ => match named {
            Some(id) => define(walk, node, &tag, SymbolKind::Element, id),
            None => walk.visit_children(node),
        },
    }
    if tag.name != "head" && level.is_none() {
        cut_runs(walk, node, before);
    }
}

fn define<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, tag: &HtmlTag<'t>, kind: SymbolKind, name: &str) {
    let name = clip_name(one_line(name));
    let signature = match kind {
        SymbolKind::Heading => one_line(walk.text(node)),
        _ if tag.name == "title" => one_line(walk.text(node)),
        _ => one_line(walk.text(tag.node)),
    };
    let definition = SymbolDefinition::new(kind, name, SymbolBody::Members(node));
    define_with_signature(walk, node, definition, signature);
}

fn script<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(tag) = HtmlTag::from_element(walk, node) else { return };
    if let Some(source) = tag.attribute("src") {
        walk.add_import(source);
    }
    let text = child_of_kind(node, "raw_text").filter(|text| !walk.text(*text).trim().is_empty());
    let Some(text) = text else { return };
    let name = tag.attribute("id").unwrap_or(&tag.name);
    define(walk, node, &tag, SymbolKind::Element, name);
    let range = walk.range(text);
    let content = walk.source.text(range.clone());
    let lines = content.trim().lines().count();
    if lines <= LONG_SCRIPT && content.len() <= LARGE_ELEMENTS || node.has_error() {
        return;
    }
    // A comment would not be JSON.
    let is_data = tag.attribute("type").is_some_and(|kind| kind.contains("json"));
    let size = format_data_size(content.trim());
    walk.cut(range, if is_data { format!("\"… {size}\"") } else { format!("/* {size} */") });
}

/// Returns the words in an element, without its tags.
fn element_text<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> String {
    let mut words = String::new();
    // An explicit stack instead of recursion, because elements may be nested deeper than the call stack allows.
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        match node.kind() {
            "text" | "entity" => {
                words.push_str(walk.text(node));
                words.push(' ');
            }
            "element" => waiting.extend(children(node).into_iter().rev()),
            _ => {}
        }
    }
    words.trim().to_owned()
}

/// Cuts the children of an element that contain no symbol, where they are large.
fn cut_runs<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, before: usize) {
    let own = walk.range(node).start;
    let found: &[_] = walk.symbols.get(before..).unwrap_or_default();
    let spans: Vec<Span> = match found {
        [only] if only.span.start_byte == own => only.children.iter().map(|symbol| symbol.span).collect(),
        _ => found.iter().map(|symbol| symbol.span).collect(),
    };
    if spans.is_empty() {
        return;
    }
    let (mut spans, mut run) = (spans.into_iter().peekable(), None::<Range<usize>>);
    for child in children(node) {
        let range = walk.range(child);
        while spans.next_if(|span| span.start_byte < range.start).is_some() {}
        let has_symbol = spans.peek().is_some_and(|span| span.start_byte < range.end);
        let is_tag = child.kind().ends_with("_tag") || child.is_error();
        if has_symbol || is_tag {
            cut_run(walk, run.take());
        } else {
            run = Some(run.map_or(range.start, |run| run.start)..range.end);
        }
    }
    cut_run(walk, run);
}

fn cut_run(walk: &mut OutlineWalk<'_>, run: Option<Range<usize>>) {
    let Some(run) = run else { return };
    let text = walk.source.text(run.clone()).trim_end();
    if LARGE_ELEMENTS < text.len() {
        let lines = format_line_count(text.lines().count());
        walk.cut(run.start..run.start + text.len(), format!("<!-- {lines} -->"));
    }
}

/// Attributes that the outline shows.
const KEPT_ATTRIBUTES: [&str; 9] = ["id", "name", "rel", "href", "src", "type", "content", "action", "for"];

/// A text of fewer bytes than this stays.
const SHORT_TEXT: usize = 4;

/// What does not end within this many bytes is not a template: the ends of many open ones would be searched for again
/// and again.
const LONGEST_TEMPLATE: usize = 2000;

/// Returns the tags; `None` where one does not end.
fn preprocess_html(text: &str) -> Option<PreprocessedText> {
    let mut scan = HtmlScanner { text, at: 0, rewriter: TextRewriter::new(text) };
    while scan.at < text.len() {
        scan.text_up_to_tag();
        if scan.at < text.len() {
            scan.tag()?;
        }
    }
    Some(scan.rewriter.finish())
}

struct HtmlScanner<'t> {
    text: &'t str,
    at: usize,
    rewriter: TextRewriter<'t>,
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
        if SHORT_TEXT < content.len() || content.contains(['<', '{']) {
            let from = from + (self.text[from..self.at].len() - self.text[from..self.at].trim_start().len());
            // A letter in place of the text, because an element with text and one without differ in the tree.
            self.replace(from, from + content.len(), "x");
        }
    }

    /// Reads a tag, a comment or a declaration.
    fn tag(&mut self) -> Option<()> {
        let rest = self.rest();
        if let Some(comment) = rest.strip_prefix("<!--") {
            // The lengths of `<!--` and of `-->`.
            self.at += memmem::find(comment.as_bytes(), b"-->")? + 7;
        } else if rest.starts_with("<?") {
            let end = self.at + memmem::find(rest.as_bytes(), b">")? + 1;
            self.replace(self.at, end, "");
            self.rewriter.preprocessed.repairs += 1;
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
                // A tag within a tag: the page is malformed, and the grammar recovers from that better than a guess
                // would.
                b'<' => return None,
                byte if byte.is_ascii_whitespace() || byte == b'/' => self.at += 1,
                b'{' if template_end(rest.as_bytes()).is_some() => {
                    self.at += template_end(rest.as_bytes())?;
                    self.replace(from, self.at, "");
                    self.rewriter.preprocessed.repairs += 1;
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
        // At least one character belongs to the name, so that the scan always advances.
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
            self.rewriter.preprocessed.repairs += 1;
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
        if from < at && SHORT_TEXT < self.text[from..at].trim().len() {
            self.replace(from, at, "x");
        }
        self.at = at;
        Some(())
    }

    fn replace(&mut self, from: usize, to: usize, text: &str) {
        // An attribute that is shown may be part of one that is elided.
        if self.rewriter.done <= from {
            self.rewriter.replace(from..to, text);
        }
        self.rewriter.done = to.max(self.rewriter.done);
    }
}

/// Returns the length of the template directive that begins here: `{{ … }}`, `{% … %}`, `{# … #}`.
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
