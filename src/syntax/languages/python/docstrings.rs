//! Python's docstrings: which statement is one, and what it says.

use tree_sitter::Node;

use crate::syntax::comments::without_commands;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::nodes::is_trivia;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::words::first_paragraph;

/// Returns the statement that documents a block: a string that stands first in it.
pub(super) fn docstring_statement(block: Node<'_>) -> Option<Node<'_>> {
    docstring_node(block).map(|(statement, _)| statement)
}

/// Returns the first paragraph of what documents a block.
pub(super) fn docstring<'t>(walk: &OutlineWalk<'t>, block: Node<'t>) -> Option<String> {
    let (_, string) = docstring_node(block)?;
    let text = if string.kind() == "concatenated_string" {
        let pieces = children(string).into_iter().filter(|piece| piece.kind() == "string");
        pieces.map(|piece| content(walk, piece)).collect::<Option<String>>()?
    } else {
        content(walk, string)?
    };
    first_paragraph(&without_commands(&text))
}

/// Returns the statement that documents a block, and the string in it.
fn docstring_node(block: Node<'_>) -> Option<(Node<'_>, Node<'_>)> {
    let mut cursor = block.walk();
    let statement = block.named_children(&mut cursor).find(|child| !is_trivia(*child))?;
    if statement.kind() != "expression_statement" || statement.named_child_count() != 1 {
        return None;
    }
    let mut string = statement.named_child(0)?;
    // Each step goes one level down, so the loop ends with the tree.
    while string.kind() == "parenthesized_expression" {
        string = string.named_children(&mut string.walk()).find(|child| !is_trivia(*child))?;
    }
    matches!(string.kind(), "string" | "concatenated_string").then_some((statement, string))
}

/// Returns what stands between the quotes. Neither bytes nor what is computed document anything.
fn content<'t>(walk: &OutlineWalk<'t>, string: Node<'t>) -> Option<String> {
    let start = child_of_kind(string, "string_start")?;
    let end = child_of_kind(string, "string_end")?;
    let prefix = walk.text(start).to_ascii_lowercase();
    if prefix.contains(['b', 'f', 't']) {
        return None;
    }
    let text = walk.source.text(walk.range(start).end..walk.range(end).start);
    Some(if prefix.contains('r') { text.to_owned() } else { unescaped(text) })
}

/// Resolves the escapes that a documentation uses; others stay as they are written.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, rest.clone().next()) {
            ('\\', Some(next @ ('\\' | '\'' | '"'))) => plain.push(next),
            ('\\', Some('n')) => plain.push('\n'),
            ('\\', Some('t')) => plain.push('\t'),
            ('\\', Some('\n')) => {}
            _ => {
                plain.push(c);
                continue;
            }
        }
        rest.next();
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_escapes_are_resolved_and_others_left() {
        assert_eq!(unescaped(r#"It\'s a \"line\"\n\d \\"#), "It's a \"line\"\n\\d \\");
        assert_eq!(unescaped("one \\\nline\\"), "one line\\");
    }
}
