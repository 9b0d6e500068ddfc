//! Rust: the definitions and values of a file's macros, as far as their rules show them without being expanded.
//!
//! If the brackets of a macro contain only items, as in `pin_project! { struct … }`, these are read as items.

use rustc_hash::FxHashMap;
use tree_sitter::{Node, Range, Tree};

use super::builder::{FactsBuilder, field};
use crate::model::{ExpressionFact, ExpressionId};
use crate::syntax::outline::{CompiledLanguage, child_of_kind, children, named_children, parse_part};

/// The maximum number of macros with items that are read.
const MAX_MACROS: usize = 2000;
/// The maximum number of rules of a macro that are read.
const MAX_RULES: usize = 16;
/// The maximum number of tokens of a type that are read.
const MAX_TYPE: usize = 64;

/// Parses the text between the brackets of the macros that contain items.
pub(super) fn item_trees(
    compiled: &CompiledLanguage,
    text: &str,
    tree: &Tree,
    give_up: &mut dyn FnMut() -> bool,
) -> FxHashMap<usize, Tree> {
    let mut trees = FxHashMap::default();
    let mut ranges = Vec::new();
    brackets_of_items(tree.root_node(), text, &mut ranges);
    while let Some(range) = ranges.pop() {
        if MAX_MACROS <= trees.len() {
            break;
        }
        let Ok(tree) = parse_part(compiled, text, range, give_up) else { break };
        if has_only_items(tree.root_node()) {
            brackets_of_items(tree.root_node(), text, &mut ranges);
            trees.insert(range.start_byte, tree);
        }
    }
    trees
}

/// Adds the ranges between the braces of the macros in item position.
fn brackets_of_items(root: Node<'_>, text: &str, ranges: &mut Vec<Range>) {
    let mut open = vec![root];
    while let Some(node) = open.pop() {
        for child in named_children(node) {
            match child.kind() {
                "mod_item" | "impl_item" | "trait_item" => open.extend(field(child, "body")),
                "expression_statement" => open.push(child),
                "macro_invocation" => {
                    ranges.extend(child_of_kind(child, "token_tree").and_then(|tree| braces(tree, text)));
                }
                "macro_definition" => ranges.extend(fixed_body(child).and_then(|tree| braces(tree, text))),
                _ => {}
            }
        }
    }
}

/// Returns the body of a macro without parameters.
fn fixed_body(definition: Node<'_>) -> Option<Node<'_>> {
    let rule = child_of_kind(definition, "macro_rule")?;
    let is_given_nothing = field(rule, "left").is_some_and(|left| left.named_child_count() == 0);
    field(rule, "right").filter(|_| is_given_nothing)
}

/// Returns the range between braces.
fn braces(tree: Node<'_>, text: &str) -> Option<Range> {
    let first = tree.child(0).filter(|first| first.kind() == "{")?;
    let last = tree.child(tree.child_count().checked_sub(1)?)?;
    let range = Range {
        start_byte: first.end_byte(),
        end_byte: last.start_byte(),
        start_point: first.end_position(),
        end_point: last.start_position(),
    };
    let is_empty = text.get(range.start_byte..range.end_byte).is_none_or(|inner| inner.trim().is_empty());
    (!is_empty).then_some(range)
}

fn has_only_items(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    let is_item = |child: Node<'_>| {
        let kind = child.kind();
        kind.ends_with("_item")
            || matches!(
                kind,
                "line_comment"
                    | "block_comment"
                    | "use_declaration"
                    | "extern_crate_declaration"
                    | "macro_definition"
                    | "macro_invocation"
                    | "empty_statement"
            )
            || kind == "expression_statement"
                && child.named_child(0).is_some_and(|inner| inner.kind() == "macro_invocation")
    };
    !root.has_error() && root.named_children(&mut cursor).all(is_item)
}

/// Returns the items between the brackets of a macro call, or those that a macro expands to, if there are only items.
pub(super) fn items_within<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let brackets = match node.kind() {
        "macro_definition" => fixed_body(node),
        _ => child_of_kind(node, "token_tree"),
    };
    let first = brackets?.child(0)?;
    Some(facts.macro_items?.get(&first.end_byte())?.root_node())
}

/// A function that a rule of a macro defines under a name from its arguments.
#[derive(Debug, Clone)]
pub(super) struct MacroFunction<'t> {
    /// The position of the piece of the arguments that contains the name.
    piece: usize,
    /// Whether the name is at the end of the piece rather than at its beginning.
    is_last: bool,
    /// The number of pieces in each repetition, if they are repeated.
    repeated: Option<usize>,
    pub(super) has_receiver: bool,
    returned: Vec<Node<'t>>,
}

impl<'t> MacroFunction<'t> {
    /// Returns the names that the pieces of a call give it.
    pub(super) fn names(&self, pieces: &[Option<[Node<'t>; 2]>]) -> Vec<Node<'t>> {
        let step = self.repeated.unwrap_or(usize::MAX).max(1);
        let given = pieces.iter().skip(self.piece).step_by(step).copied().flatten();
        given.map(|[first, last]| if self.is_last { last } else { first }).collect()
    }

    /// Returns its declared return type.
    pub(super) fn returned(&self, facts: &mut FactsBuilder<'t>) -> ExpressionId {
        if self.returned.is_empty() {
            return facts.expression(ExpressionFact::Literal);
        }
        type_of_tokens(facts, &self.returned, &mut 0)
    }
}

/// Returns the functions that a macro defines under names from its arguments.
pub(super) fn macro_functions<'t>(facts: &FactsBuilder<'t>, definition: Node<'t>) -> Vec<MacroFunction<'t>> {
    let mut found: Vec<MacroFunction<'t>> = Vec::new();
    for (left, right) in rules(definition) {
        let tokens = body_tokens(right);
        for at in (0..tokens.len()).filter(|at| tokens[*at].kind() == "fn") {
            let Some(name) = tokens.get(at + 1).filter(|name| name.kind() == "metavariable") else {
                continue;
            };
            let Some((piece, is_last, repeated)) = piece_of(facts, left, facts.text_of(*name)) else {
                continue;
            };
            let is_known = found.iter().any(|known| (known.piece, known.repeated) == (piece, repeated));
            let rest = &tokens[at + 2..];
            let parameters = rest
                .iter()
                .position(|token| token.kind() == "token_tree" && facts.text_of(*token).starts_with('('));
            let Some(parameters) = parameters.filter(|_| !is_known) else { continue };
            let has_receiver = child_of_kind(rest[parameters], "self").is_some();
            let after = &rest[parameters + 1..];
            let is_declared = after.first().is_some_and(|sign| sign.kind() == "->");
            let declared = after.iter().skip(1).take(MAX_TYPE);
            let declared = declared.take_while(|token| {
                let is_body = token.kind() == "token_tree" && facts.text_of(**token).starts_with('{');
                !is_body && !matches!(token.kind(), "where" | ";")
            });
            let returned = if is_declared { declared.copied().collect() } else { Vec::new() };
            found.push(MacroFunction { piece, is_last, repeated, has_receiver, returned });
        }
    }
    found
}

/// Returns the patterns and the bodies of the rules of a macro.
fn rules(definition: Node<'_>) -> impl Iterator<Item = (Node<'_>, Node<'_>)> {
    let rules = children(definition).into_iter().filter(|child| child.kind() == "macro_rule").take(MAX_RULES);
    rules.filter_map(|rule| Some((field(rule, "left")?, field(rule, "right")?)))
}

/// Returns the tokens of a rule's body, including repeated ones.
fn body_tokens(body: Node<'_>) -> Vec<Node<'_>> {
    let mut tokens = Vec::new();
    for token in children(body) {
        match token.kind() {
            "token_repetition" => tokens.extend(children(token)),
            _ => tokens.push(token),
        }
    }
    tokens
}

fn is_separator(kind: &str) -> bool {
    matches!(kind, "," | ";" | "=>")
}

/// Returns the position of the piece of a pattern with this name, whether the name is at the end of it, and the number
/// of pieces if they are repeated; `None` if the name is neither at the end nor at the beginning of a piece.
fn piece_of<'t>(
    facts: &FactsBuilder<'t>,
    pattern: Node<'t>,
    name: &str,
) -> Option<(usize, bool, Option<usize>)> {
    let tokens = children(pattern);
    if let Some((piece, is_last)) = place_among(facts, &tokens, name) {
        return Some((piece, is_last, None));
    }
    let at = tokens.iter().position(|token| {
        token.kind() == "token_repetition_pattern" && place_among(facts, &children(*token), name).is_some()
    })?;
    let inner = children(tokens[at]);
    let (piece, is_last) = place_among(facts, &inner, name)?;
    Some((separators(&tokens[..at]) + piece, is_last, Some(separators(&inner).max(1))))
}

fn separators(tokens: &[Node<'_>]) -> usize {
    tokens.iter().filter(|token| is_separator(token.kind())).count()
}

/// Returns the position of the piece of these tokens that has a name, and whether the name is at its end.
fn place_among<'t>(facts: &FactsBuilder<'t>, tokens: &[Node<'t>], name: &str) -> Option<(usize, bool)> {
    let at = tokens.iter().position(|token| {
        token.kind() == "token_binding_pattern"
            && field(*token, "name").is_some_and(|found| facts.text_of(found) == name)
    })?;
    let is_border = |token: Option<&Node<'_>>| {
        token.is_none_or(|token| {
            is_separator(token.kind()) || matches!(token.kind(), "(" | ")" | "[" | "]" | "{" | "}")
        })
    };
    let is_first = is_border(at.checked_sub(1).and_then(|before| tokens.get(before)));
    let is_last = is_border(tokens.get(at + 1));
    (is_first || is_last).then(|| (separators(&tokens[..at]), is_last))
}

/// Returns the first and the last name of each piece of a macro's arguments.
pub(super) fn pieces_of_call(call: Node<'_>) -> Vec<Option<[Node<'_>; 2]>> {
    let mut pieces: Vec<Option<[Node<'_>; 2]>> = vec![None];
    for token in child_of_kind(call, "token_tree").map(children).unwrap_or_default() {
        match (token.kind(), pieces.last_mut()) {
            ("identifier", Some(piece)) => *piece = Some([piece.map_or(token, |[first, _]| first), token]),
            (kind, _) if is_separator(kind) => pieces.push(None),
            _ => {}
        }
    }
    pieces
}

/// Reads a type from tokens.
fn type_of_tokens<'t>(facts: &mut FactsBuilder<'t>, tokens: &[Node<'t>], at: &mut usize) -> ExpressionId {
    let mut found = 0;
    while let Some(token) = tokens.get(*at).copied() {
        match token.kind() {
            "identifier" | "primitive_type" | "metavariable" => {
                let text = facts.text_of(token);
                found = match (text, token.kind()) {
                    ("Self", _) => facts.expression(ExpressionFact::ReceiverType),
                    ("$crate", _) => named_type(facts, found, text),
                    (_, "metavariable") => 0,
                    _ => named_type(facts, found, text),
                };
            }
            "crate" | "super" | "self" => found = named_type(facts, found, facts.text_of(token)),
            "<" => {
                *at += 1;
                loop {
                    let argument = type_of_tokens(facts, tokens, at);
                    found = facts.expression(ExpressionFact::Apply(found, argument));
                    if tokens.get(*at).is_none_or(|token| token.kind() != ",") {
                        break;
                    }
                    *at += 1;
                }
            }
            "::" | "&" | "mut" | "mutable_specifier" | "dyn" | "impl" => {}
            _ => return found,
        }
        *at += 1;
    }
    found
}

fn named_type<'t>(facts: &mut FactsBuilder<'t>, before: ExpressionId, name: &'t str) -> ExpressionId {
    let name = facts.name(name);
    facts.expression(match before {
        0 => ExpressionFact::TypeName(name),
        _ => ExpressionFact::Member(before, name),
    })
}

/// Returns the values of a macro's rules that are calls of a function: `Arg::new(…)`.
pub(super) fn macro_values<'t>(facts: &mut FactsBuilder<'t>, definition: Node<'t>) -> Vec<ExpressionId> {
    let mut values = Vec::new();
    for (_, body) in rules(definition) {
        let value = body_value(facts, &inner_tokens(body));
        if value != 0 && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Returns the tokens of a body without the brackets around it.
fn inner_tokens<'t>(body: Node<'t>) -> Vec<Node<'t>> {
    let mut tokens = children(body);
    loop {
        let end = tokens.len().saturating_sub(1);
        let inner: Vec<Node<'t>> = tokens.get(1..end).map(<[Node<'t>]>::to_vec).unwrap_or_default();
        match inner.as_slice() {
            [only] if only.kind() == "token_tree" => tokens = children(*only),
            _ => return inner,
        }
    }
}

fn body_value<'t>(facts: &mut FactsBuilder<'t>, tokens: &[Node<'t>]) -> ExpressionId {
    let is_let = tokens.first().is_some_and(|token| token.kind() == "let");
    if !is_let {
        let (value, length) = call_value(facts, tokens);
        return if length == tokens.len() { value } else { 0 };
    }
    // `{ let x = …; …; x }`
    let start = tokens.iter().take(4).position(|token| token.kind() == "=");
    let (Some(start), Some(last)) = (start, tokens.last()) else { return 0 };
    if start == 0 || facts.text_of(tokens[start - 1]) != facts.text_of(*last) {
        return 0;
    }
    call_value(facts, &tokens[start + 1..]).0
}

/// Reads a path with its call and the method calls after it; returns the value and the number of tokens.
fn call_value<'t>(facts: &mut FactsBuilder<'t>, tokens: &[Node<'t>]) -> (ExpressionId, usize) {
    let (mut value, mut at, mut is_called) = (0, 0, false);
    while let Some(token) = tokens.get(at).copied() {
        match token.kind() {
            "identifier" | "metavariable" | "crate" => {
                let text = facts.text_of(token);
                if value == 0 && token.kind() == "metavariable" && text != "$crate" {
                    return (0, at);
                }
                value = named_type(facts, value, text);
            }
            "::" | "." => {}
            "token_tree" if value != 0 && facts.text_of(token).starts_with('(') => {
                value = facts.expression(ExpressionFact::Call(value));
                is_called = true;
            }
            _ => break,
        }
        at += 1;
    }
    (if is_called { value } else { 0 }, at)
}
