//! The parts of a component: scripts, styles, the template, and other blocks.

use std::ops::Range;

use memchr::memmem;

/// How a framework writes its components.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    /// Everything is in an element; expressions are in attributes and in double braces.
    Vue,
    /// What is not in a script or a style is the template; expressions are in braces.
    Svelte,
    /// The same, with a script between lines of dashes at the beginning, and JSX in the expressions.
    Astro,
}

/// A longer tag is none, so that the end of many open ones is not searched for again and again.
const MAX_TAG: usize = 4 << 10;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SectionKind {
    /// Code in JavaScript or TypeScript.
    Script,
    Template,
    /// A style, or something that only another tool understands.
    Other,
}

/// A part of a component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section<'t> {
    pub(super) kind: SectionKind,
    /// The name of its element, or `template`.
    pub(super) name: &'t str,
    /// All of it, with its tags.
    pub(super) range: Range<usize>,
    /// Its opening tag, or its first line.
    pub(super) head: Range<usize>,
    /// What is in it. Of a template without an element, all but the first line.
    pub(super) content: Range<usize>,
    /// The value of its attribute `src`.
    pub(super) source: Option<Range<usize>>,
}

/// Returns the parts of a component, in the order of the text.
pub(super) fn sections(text: &str, dialect: Dialect) -> Vec<Section<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    if dialect == Dialect::Astro
        && let Some(front_matter) = front_matter(text)
    {
        at = front_matter.range.end;
        found.push(front_matter);
    }
    let mut template_start = at;
    while let Some(next) = memchr::memchr(b'<', &text.as_bytes()[at..]) {
        let start = at + next;
        let rest = &text[start..];
        at = start + 1;
        if rest.starts_with("<!--") {
            at = memmem::find(rest.as_bytes(), b"-->").map_or(text.len(), |end| start + end + 3);
            continue;
        }
        // An element of the template may have the same name; that of a section begins its line.
        let begins_line = start == 0 || text[..start].ends_with('\n');
        let name = &rest[1..=name_length(&rest[1..])];
        let is_section = match dialect {
            Dialect::Vue => !name.is_empty(),
            Dialect::Svelte | Dialect::Astro => begins_line && matches!(name, "script" | "style"),
        };
        if !is_section {
            continue;
        }
        let Some(section) = element(text, start, name) else {
            // Of a component that is being written, a template that is not closed must not hide a script after it.
            let script = text[at..].find("\n<script").filter(|_| name != "script");
            let Some(script) = script else { break };
            at += script;
            continue;
        };
        if dialect != Dialect::Vue {
            found.extend(template(text, template_start..start));
            template_start = section.range.end;
        }
        at = section.range.end;
        found.push(section);
    }
    if dialect != Dialect::Vue {
        found.extend(template(text, template_start..text.len()));
    }
    found
}

/// Returns the length of the name of an element at the beginning of a text.
pub(super) fn name_length(text: &str) -> usize {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
    let end = text.find(|c: char| !is_part(c)).unwrap_or(text.len());
    if text.starts_with(|c: char| c.is_ascii_alphabetic()) { end } else { 0 }
}

/// Returns the script between two lines of dashes at the beginning of a text.
fn front_matter(text: &str) -> Option<Section<'_>> {
    let start = text.len() - text.trim_start().len();
    let head = start..start + text[start..].find('\n')?;
    if text[head.clone()].trim_end() != "---" {
        return None;
    }
    let end = head.end + memmem::find(&text.as_bytes()[head.end..], b"\n---")? + 1;
    Some(Section {
        kind: SectionKind::Script,
        name: "script",
        range: start..end + "---".len(),
        content: head.end..end,
        head,
        source: None,
    })
}

/// Returns the template that is in a range, if that is not blank.
fn template(text: &str, range: Range<usize>) -> Option<Section<'_>> {
    let inside = text[range.clone()].trim_start();
    let start = range.end - inside.len();
    let inside = inside.trim_end();
    if inside.is_empty() {
        return None;
    }
    let first_line = inside.find('\n').unwrap_or(inside.len());
    let (head, end) = (start..start + first_line, start + inside.len());
    Some(Section {
        kind: SectionKind::Template,
        name: "template",
        range: start..end,
        content: head.end..end,
        head,
        source: None,
    })
}

/// Returns the section whose element begins at `start`; `None` if it has no end.
fn element<'t>(text: &'t str, start: usize, name: &'t str) -> Option<Section<'t>> {
    let head = start..start + tag_length(&text[start..])?;
    let tag = &text[head.clone()];
    let content =
        if tag.ends_with("/>") { head.end..head.end } else { head.end..closing_tag(text, head.end, name)? };
    let end = if content.is_empty() && tag.ends_with("/>") {
        head.end
    } else {
        content.end + memchr::memchr(b'>', &text.as_bytes()[content.end..])? + 1
    };
    let attribute = |wanted: &str| {
        let value = head.start + tag.find(&format!(" {wanted}=\""))? + wanted.len() + 3;
        Some(value..value + text[value..].find('"')?)
    };
    let is_script = |language: &str| matches!(language, "ts" | "tsx" | "js" | "jsx" | "typescript");
    let is_code = attribute("lang").is_none_or(|language| is_script(&text[language]))
        && attribute("type").is_none_or(|kind| text[kind].ends_with("script") || tag.contains("\"module\""));
    let kind = match name {
        "script" if is_code => SectionKind::Script,
        "template" => SectionKind::Template,
        _ => SectionKind::Other,
    };
    Some(Section { kind, name, range: start..end, source: attribute("src"), head, content })
}

/// Returns the length of a tag at the beginning of a text, in which `>` may be quoted.
fn tag_length(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, byte) in text.bytes().take(MAX_TAG).enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(at + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Returns where the tag begins that closes an element. Templates may be nested.
fn closing_tag(text: &str, from: usize, name: &str) -> Option<usize> {
    let close = format!("</{name}");
    let open = format!("<{name}");
    let (mut at, mut depth) = (from, 0_usize);
    loop {
        let end = at + text[at..].find(&close)?;
        if name == "template" {
            // A template without content is closed by its own tag.
            let opened = text[at..end].match_indices(&open).filter(|(start, _)| {
                let tag = &text[at + start..end];
                !tag_length(tag).is_some_and(|length| tag[..length].ends_with("/>"))
            });
            depth += opened.count();
        }
        if depth == 0 {
            return Some(end);
        }
        depth -= 1;
        at = end + close.len();
    }
}
