//! Makefiles: targets, variables, and included files.

use tree_sitter::Node;

use super::lines::{cut_after_first_line, document_last_symbol, is_defined_nearby};
use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind,
    children, find, find_all,
};
use crate::syntax::preprocess::preprocess_makefile;
use crate::syntax::text::{documentation, format_line_count, one_line};

/// Makefiles, as GNU's make reads them.
pub(super) static MAKE: Language = Language {
    marks: ElisionMarks::HASH,
    preprocess: Some(preprocess_makefile),
    ..Language::new("make", tree_sitter_make::LANGUAGE, "tree-sitter-make 1.1.1", &[NODES])
};

const NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("include_directive", Visit::Preamble(include)),
    ("variable_assignment", Visit::Read(assignment)),
    ("shell_assignment", Visit::Read(assignment)),
    ("define_directive", Visit::Read(definition)),
    ("rule", Visit::Read(rule)),
    ("conditional", Visit::Enter),
    ("else_directive", Visit::Enter),
    ("elsif_directive", Visit::Enter),
    ("export_directive", Visit::Wrapper),
    ("override_directive", Visit::Wrapper),
    ("private_directive", Visit::Wrapper),
];

/// A value of more lines than this is shown by its first line and its size.
const LONG_VALUE: usize = 4;

/// Targets of one rule beyond this number are not shown: each would repeat the whole signature.
const MOST_TARGETS: usize = 100;

/// Reads `include a.mk b.mk`.
fn include<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(files) = find(node, "filenames") else { return };
    for file in children(files).into_iter().filter(Node::is_named) {
        walk.add_import(walk.text(file));
    }
}

/// Reads `NAME := value`; of a variable that is set repeatedly the first assignment is shown.
fn assignment<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    if find(node, "target_or_pattern").is_some() {
        return;
    }
    if !is_defined_nearby(walk, SymbolKind::Variable, &name) {
        walk.define(node, SymbolDefinition::new(SymbolKind::Variable, name, SymbolBody::Nothing));
    }
    let value = walk.range(node);
    if LONG_VALUE < walk.source.text(value.clone()).trim_end().lines().count() && !node.has_error() {
        cut_after_first_line(walk, value);
    }
}

/// Reads `define NAME … endef`.
fn definition<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.name_at(node, "name") else { return };
    let value = find(node, "value");
    let inside = SymbolBody::members(value);
    walk.define(node, SymbolDefinition::new(SymbolKind::Macro, name, inside));
    if let Some(value) = value.filter(|value| !value.has_error()) {
        cut_lines(walk, value);
    }
}

/// Reads a rule: each of its targets, except for special ones such as `.PHONY`.
fn rule<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
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
        let inside = SymbolBody::members(recipe);
        walk.define(node, SymbolDefinition::new(SymbolKind::Target, one_line(name), inside));
        document_last_symbol(walk, |walk| inline_target_doc(walk.source.line_suffix(walk.range(node).start)));
    }
    if let Some(recipe) =
        recipe.filter(|recipe| !recipe.has_error() && !find_all(*recipe, ".recipe_line").is_empty())
    {
        cut_lines(walk, recipe);
    }
}

/// Returns the doc in `target: … ## Words.`, as many makefiles document their targets.
fn inline_target_doc(line: &str) -> Option<String> {
    let (_, doc) = line.split_once("## ")?;
    documentation(doc)
}

/// Cuts lines that begin on a line of their own.
fn cut_lines<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let range = walk.range(node);
    let text = walk.source.text(range.clone());
    let lines = text.trim().lines().count();
    let start = range.start + (text.len() - text.trim_start().len());
    let is_own_line = walk.source.line_prefix(start).trim().is_empty();
    if 1 < lines && is_own_line {
        walk.cut(start..range.start + text.trim_end().len(), format!("# {}", format_line_count(lines)));
    }
}
