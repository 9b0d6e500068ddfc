//! HTML: the elements that have a name, and what a skeleton keeps of the others.

use std::ops::Range;

use tree_sitter::Node;

use super::lines::format_data_size;
use crate::model::{Span, SymbolKind};
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, find_all, find_first,
};
use crate::syntax::preprocess::preprocess_html;
use crate::syntax::text::{clip_name, format_line_count, one_line, strip_markup};

/// HTML.
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
    ("script_element", Visit::Read(script)),
    ("style_element", Visit::Read(script)),
];

/// Elements without names that have more bytes than this together are shown by their size.
const LARGE: usize = 200;

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
        let node = find_first(element, &[".start_tag", ".self_closing_tag"])?;
        let name = walk.text(child_of_kind(node, "tag_name")?).to_lowercase();
        let attributes = find_all(node, ".attribute").into_iter().filter_map(|attribute| {
            let name = walk.text(child_of_kind(attribute, "attribute_name")?).to_lowercase();
            let value = find_first(attribute, &[".quoted_attribute_value", ".attribute_value"]);
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
    let before = walk.symbols.len();
    walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Members(node)));
    let signature = match kind {
        SymbolKind::Heading => one_line(walk.text(node)),
        _ if tag.name == "title" => one_line(walk.text(node)),
        _ => one_line(walk.text(tag.node)),
    };
    if let Some(symbol) = walk.symbols.get_mut(before) {
        symbol.signature = signature;
    }
}

/// Reads a script or a style.
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
    if lines <= LONG_SCRIPT && content.len() <= LARGE || node.has_error() {
        return;
    }
    let is_data = tag.attribute("type").is_some_and(|kind| kind.contains("json"));
    let size = format_data_size(content.trim());
    walk.cut(range, if is_data { format!("\"… {size}\"") } else { format!("/* {size} */") });
}

/// Returns the words in an element, without its tags.
fn element_text<'t>(walk: &OutlineWalk<'t>, node: Node<'t>) -> String {
    let mut words = String::new();
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
    if LARGE < text.len() {
        let lines = format_line_count(text.lines().count());
        walk.cut(run.start..run.start + text.len(), format!("<!-- {lines} -->"));
    }
}
