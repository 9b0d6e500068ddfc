//! A makefile's targets, variables and what it includes.

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::comments::documentation;
use crate::syntax::define::Definition;
use crate::syntax::define::Inside;
use crate::syntax::languages::lines::cut_after_first_line;
use crate::syntax::languages::lines::document_last;
use crate::syntax::languages::lines::is_known;
use crate::syntax::nodes::child_of_kind;
use crate::syntax::nodes::children;
use crate::syntax::rule::find;
use crate::syntax::rule::find_all;
use crate::syntax::walk::Walk;
use crate::syntax::walk::count_lines;
use crate::syntax::words::one_line;

/// A value of more lines than this is told by its first and its size.
const LONG_VALUE: usize = 4;

/// Of more targets than this in one rule the others are not told: each would repeat the whole head.
const MOST_TARGETS: usize = 100;

/// Reads `include a.mk b.mk`.
pub(super) fn include<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(files) = find(node, "filenames") else { return };
    for file in children(files).into_iter().filter(Node::is_named) {
        walk.import(walk.text(file));
    }
}

/// Reads `NAME := value`; of what is set again and again the first is told.
pub(super) fn assignment<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name").map(|name| walk.text(name).to_owned()) else { return };
    if find(node, "target_or_pattern").is_some() {
        return;
    }
    if !is_known(walk, SymbolKind::Variable, &name) {
        walk.define(node, Definition::new(SymbolKind::Variable, name, Inside::Nothing));
    }
    let value = walk.range(node);
    if LONG_VALUE < walk.source.text(value.clone()).trim_end().lines().count() && !node.has_error() {
        cut_after_first_line(walk, value);
    }
}

/// Reads `define NAME … endef`.
pub(super) fn definition<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let Some(name) = find(node, "name").map(|name| walk.text(name).to_owned()) else { return };
    let value = find(node, "value");
    let inside = value.map_or(Inside::Nothing, Inside::Members);
    walk.define(node, Definition::new(SymbolKind::Macro, name, inside));
    if let Some(value) = value.filter(|value| !value.has_error()) {
        cut_lines(walk, value);
    }
}

/// Reads a rule: each of its targets, but for those that only tell make something, as `.PHONY` does.
pub(super) fn rule<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let recipe = child_of_kind(node, "recipe");
    let targets = child_of_kind(node, "targets").or_else(|| find(node, "target"));
    // Over several lines the grammar was lost before this.
    let targets =
        targets.filter(|targets| !walk.text(*targets).contains('\n') || walk.text(*targets).contains("\\\n"));
    for target in
        targets.map_or_else(Vec::new, children).into_iter().filter(Node::is_named).take(MOST_TARGETS)
    {
        let name = walk.text(target);
        let is_special = name.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_uppercase));
        if is_special {
            continue;
        }
        let inside = recipe.map_or(Inside::Nothing, Inside::Members);
        walk.define(node, Definition::new(SymbolKind::Target, one_line(name), inside));
        document_last(walk, |walk| said_beside(walk.source.after_on_line(walk.range(node).start)));
    }
    if let Some(recipe) =
        recipe.filter(|recipe| !recipe.has_error() && !find_all(*recipe, ".recipe_line").is_empty())
    {
        cut_lines(walk, recipe);
    }
}

/// Returns what `target: … ## Words.` says, as many makefiles document their targets.
fn said_beside(line: &str) -> Option<String> {
    let (_, said) = line.split_once("## ")?;
    documentation(said)
}

/// Takes out lines that begin on a line of their own.
fn cut_lines<'t>(walk: &mut Walk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    let text = walk.source.text(range.clone());
    let lines = text.trim().lines().count();
    let start = range.start + (text.len() - text.trim_start().len());
    let is_own_line = walk.source.before_on_line(start).trim().is_empty();
    if 1 < lines && is_own_line {
        walk.cut(start..range.start + text.trim_end().len(), format!("# {}", count_lines(lines)));
    }
}
