//! CSS: rules, and what is in them.

use std::ops::Range;

use memchr::memmem;
use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, children,
};
use crate::syntax::text::one_line;

/// CSS, with nested rules.
pub(super) static CSS: Language = Language {
    separator: " ",
    cuts_detached_comments: true,
    respell: Some(without_unknown_statements),
    ..Language::new("css", tree_sitter_css::LANGUAGE, "tree-sitter-css 0.25.0", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("charset_statement", Visit::FileHead),
    ("import_statement", Visit::Preamble(import)),
    ("declaration", Visit::Read(declaration)),
    ("rule_set media_statement supports_statement scope_statement at_rule", Visit::Read(rule)),
    ("keyframes_statement", Visit::Read(keyframes)),
];

/// Returns a text with spaces in the place of statements that the grammar does not know, such as Tailwind's `@source
/// "a/**";` and `@apply flex [&_svg]:size-4;`, of the quotes before a block, as in `@plugin "a" { … }`, and of a second
/// semicolon. Addresses without quotes become words, as in `url(../a.png)`. `None` where there is none.
fn without_unknown_statements(text: &str) -> Option<String> {
    const KNOWN: [&str; 4] = ["import", "charset", "namespace", "layer"];
    let mut respelled: Option<Vec<u8>> = None;
    let mut replace = |range: Range<usize>, is_replaced: fn(u8) -> bool, with: u8| {
        let bytes = respelled.get_or_insert_with(|| text.as_bytes().to_vec());
        for byte in &mut bytes[range] {
            if is_replaced(*byte) {
                *byte = with;
            }
        }
    };
    let mut at = 0;
    let is_sign = |byte: &u8| matches!(byte, b'@' | b'/' | b'"' | b'\'' | b'(' | b';');
    while let Some(found) = text.as_bytes()[at..].iter().position(is_sign) {
        let start = at + found;
        at = after_token(text, start);
        match text.as_bytes()[start] {
            b'@' => {}
            b'(' => {
                if let Some(address) = unquoted_address(text, start) {
                    at = address.end;
                    replace(address, |_| true, b'x');
                }
                continue;
            }
            b';' => {
                if text[..start].trim_ascii_end().ends_with([';', '{']) {
                    replace(start..at, |_| true, b' ');
                }
                continue;
            }
            _ => continue,
        }
        let name = text[start + 1..].split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next();
        let name = name.unwrap_or_default();
        let end = end_of_prelude(text, start + 1 + name.len());
        let is_block = text[end..].starts_with('{');
        if is_block {
            at = end;
            replace(start..end, |byte| matches!(byte, b'"' | b'\''), b' ');
        } else if !name.is_empty() && !KNOWN.contains(&name) {
            at = end;
            let end = end + usize::from(text[end..].starts_with(';'));
            replace(start..end, |byte| !matches!(byte, b'\n' | b'\r'), b' ');
        }
    }
    respelled.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Returns the address in `url(…)` if it has no quotes; `open` is the position of the parenthesis.
fn unquoted_address(text: &str, open: usize) -> Option<Range<usize>> {
    let is_url =
        text.as_bytes()[..open].last_chunk().is_some_and(|name: &[u8; 3]| name.eq_ignore_ascii_case(b"url"));
    let rest = is_url.then(|| &text[open + 1..])?;
    let length = rest.find([')', '"', '\'', '(', '{', '}', '\n'])?;
    let address = rest[..length].trim_ascii();
    let start = open + 1 + (length - rest[..length].trim_ascii_start().len());
    (rest[length..].starts_with(')') && !address.is_empty()).then_some(start..start + address.len())
}

/// Returns where the head of an at-rule ends: at its block or its semicolon.
fn end_of_prelude(text: &str, start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            b';' | b'{' | b'}' if depth == 0 => return at,
            // A bracket is not closed.
            b'}' => return at,
            _ => {}
        }
        at = after_token(text, at);
    }
    text.len()
}

/// Returns the end of the comment, string or single byte that begins here.
fn after_token(text: &str, start: usize) -> usize {
    let rest = &text.as_bytes()[start..];
    match rest {
        [b'/', b'*', ..] => memmem::find(&rest[2..], b"*/").map_or(text.len(), |end| start + 2 + end + 2),
        [quote @ (b'"' | b'\''), ..] => {
            let mut at = start + 1;
            while let Some(byte) = text.as_bytes().get(at) {
                match byte {
                    b'\\' => at += 1,
                    b'\n' => return at,
                    byte if byte == quote => return at + 1,
                    _ => {}
                }
                at += 1;
            }
            text.len()
        }
        _ => start + 1,
    }
}

/// Reads `@import url("a.css") screen;`.
fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(what) = node.named_child(0) else { return };
    let what = walk.text(what);
    let what = what.strip_prefix("url(").and_then(|what| what.strip_suffix(')')).unwrap_or(what);
    walk.add_import(what.trim_matches(['"', '\'', ' ']));
}

/// Reads `a:hover, .b { … }`, `@media (…) { … }` and similar rules.
fn rule<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(block) = child_of_kind(node, "block") else { return };
    let name = head(walk, node, block);
    if name.contains(['{', '}']) {
        // The grammar failed before this.
        return walk.visit_children(block);
    }
    // Declarations are the body of a rule; only variables and other rules are members.
    let inside = if has_members(walk, block) { SymbolBody::Members(block) } else { SymbolBody::Code(block) };
    walk.define(node, SymbolDefinition::new(SymbolKind::Selector, name, inside));
}

/// Reads `@keyframes name { … }`.
fn keyframes<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(block) = child_of_kind(node, "keyframe_block_list") else { return };
    let name = head(walk, node, block);
    walk.define(node, SymbolDefinition::new(SymbolKind::Selector, name, SymbolBody::Code(block)));
}

/// Reads `--name: value;`; other declarations are the body of a rule.
fn declaration<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = child_of_kind(node, "property_name").map(|name| walk.text(name)) else { return };
    if name.starts_with("--") {
        walk.define(node, SymbolDefinition::new(SymbolKind::Variable, name, SymbolBody::Nothing));
    }
}

fn head<'t>(walk: &OutlineWalk<'t>, node: Node<'t>, block: Node<'t>) -> String {
    one_line(&walk.signature_text(node, walk.range(node).start..walk.range(block).start))
}

/// Returns whether a block contains more than declarations.
fn has_members<'t>(walk: &OutlineWalk<'t>, block: Node<'t>) -> bool {
    children(block).into_iter().any(|child| match child.kind() {
        "declaration" => walk.text(child).starts_with("--"),
        kind => kind.ends_with("_set") || kind.ends_with("_statement") || kind == "at_rule",
    })
}
