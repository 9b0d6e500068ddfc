//! What JavaScript's files draw in and hand out.

use tree_sitter::Node;

use super::bindings::NameBinding;
use super::bindings::define_binding;
use super::values::significant_children;
use super::values::unwrap_value;
use crate::model::SymbolKind;
use crate::syntax::comments::documentation;
use crate::syntax::rule::find;
use crate::syntax::rule::find_first;
use crate::syntax::walk::OutlineWalk;

/// Words by which a comment says that it is about the file.
const FILE_TAGS: [&str; 5] = ["@fileoverview", "@file ", "@overview", "@module", "@packageDocumentation"];

/// Reads what a comment at the head says of the file, wherever it stands among others.
pub(in crate::syntax::languages) fn read_file_comment<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    for child in root.children(&mut root.walk()) {
        if child.kind() != "comment" && child.kind() != "hash_bang_line" {
            return;
        }
        let comment = walk.text(child);
        if FILE_TAGS.iter().any(|tag| comment.contains(tag)) {
            walk.doc = documentation(comment);
            return;
        }
    }
}

/// Reads `import a from "b"` and TypeScript's `import a = require("b")`.
pub(super) fn import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(source) = find_first(node, &["source", ".import_require_clause/source"]) {
        walk.add_import(unquoted(walk.text(source)));
    }
}

/// Reads `export …`: what it hands out begins with it. What it hands on from another file is drawn in.
pub(super) fn export<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    if let Some(source) = find(node, "source") {
        walk.use_comment_as_file_doc();
        return walk.add_import(unquoted(walk.text(source)));
    }
    match find(node, "value") {
        Some(value) => export_value(walk, node, value),
        None => walk.visit_wrapped(node),
    }
}

/// Reads `export default value`, which bears a name only where the value has one of its own.
fn export_value<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, whole: Node<'t>) {
    let value = unwrap_value(whole);
    if matches!(value.kind(), "identifier" | "member_expression") {
        return;
    }
    let name = find(value, "name").map_or("default", |name| walk.text(name)).to_owned();
    define_binding(walk, node, NameBinding::new(SymbolKind::Constant, &name), Some(whole));
}

/// Returns what a value draws in, where it does nothing else: `require("a")`, `require("a").b`.
pub(super) fn required_module<'t>(walk: &OutlineWalk<'t>, value: Node<'t>) -> Option<&'t str> {
    let mut value = unwrap_value(value);
    while value.kind() == "member_expression" {
        value = unwrap_value(find(value, "object")?);
    }
    if value.kind() != "call_expression" {
        return None;
    }
    let function = find(value, "function")?;
    let is_import = function.kind() == "import" || walk.text(function) == "require";
    let source = find(value, "arguments").map(significant_children)?.into_iter().next()?;
    (is_import && source.kind() == "string").then(|| unquoted(walk.text(source)))
}

/// Returns what stands between quotation marks.
pub(super) fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}
