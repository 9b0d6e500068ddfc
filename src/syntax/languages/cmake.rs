//! CMake: the commands that declare something.

use tree_sitter::Node;

use super::lines::{define_with_signature, is_defined_nearby};
use crate::model::SymbolKind;
use crate::syntax::outline::{
    ElisionMarks, Language, NodeTable, OutlineWalk, SymbolBody, SymbolDefinition, Visit, child_of_kind, find,
    find_all,
};
use crate::syntax::text::{format_line_count, one_line};

pub(super) static CMAKE: Language = Language {
    separator: "::",
    marks: ElisionMarks::HASH,
    ..Language::new("cmake", tree_sitter_cmake::LANGUAGE, "tree-sitter-cmake 0.7.6", &[NODES])
};

const NODES: NodeTable = &[
    ("line_comment bracket_comment", Visit::Comment),
    ("function_def macro_def", Visit::Read(function)),
    ("normal_command", Visit::Read(command)),
    ("if_condition foreach_loop while_loop block_def body", Visit::Enter),
];

/// A command of more lines than this is shown by its first line and its size.
const LONG_COMMAND: usize = 6;

/// Reads `function(name …) … endfunction()`, or a macro.
fn function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(head) = find(node, ".function_command|.macro_command") else { return };
    let Some(name) = find(head, ".argument_list/.argument") else { return };
    let kind = if node.kind() == "macro_def" { SymbolKind::Macro } else { SymbolKind::Function };
    let definition = SymbolDefinition::new(kind, walk.text(name), SymbolBody::Nothing);
    let is_symbol = define_with_signature(walk, node, definition, one_line(walk.text(head)));
    if let Some(body) = child_of_kind(node, "body").filter(|_| is_symbol) {
        cut_body(walk, body);
    }
}

/// Cuts the commands between the first and the last line of a definition.
fn cut_body<'t>(walk: &mut OutlineWalk<'t>, body: Node<'t>) {
    let range = walk.range(body);
    let text = walk.source.text(range.clone());
    let lines = text.trim().lines().count();
    if lines == 0 || body.has_error() {
        return;
    }
    let start = range.start + (text.len() - text.trim_start().len());
    let end = range.start + text.trim_end().len();
    walk.cut(start..end, format!("# {}", format_line_count(lines)));
}

/// Reads a command that declares or imports something.
fn command<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(command) = child_of_kind(node, "identifier").map(|name| walk.text(name).to_lowercase()) else {
        return;
    };
    // Before anything is read, because commands that make no symbol may be long, too.
    cut_arguments(walk, node);
    let arguments = find_all(node, ".argument_list/.argument");
    let Some(first) = arguments.first().map(|first| walk.text(*first)) else { return };
    let kind = match command.as_str() {
        "include" | "find_package" | "add_subdirectory" | "find_dependency" => {
            return walk.add_import(first.trim_matches('"'));
        }
        "project" => SymbolKind::Module,
        "add_executable" | "add_library" | "add_custom_target" | "add_test" => SymbolKind::Target,
        "set"
        | "option"
        | "cmake_dependent_option"
        | "find_program"
        | "find_library"
        | "find_path"
        | "find_file" => SymbolKind::Variable,
        "define_property" => SymbolKind::Property,
        _ => return,
    };
    let name = match (command.as_str(), first) {
        // An older form of the command has the name without the word.
        ("add_test", "NAME") => arguments.get(1).map_or("", |name| walk.text(*name)),
        _ => first,
    };
    let name = name.trim_matches('"').to_owned();
    if !(kind == SymbolKind::Variable && is_defined_nearby(walk, kind, &name)) {
        walk.define(node, SymbolDefinition::new(kind, name, SymbolBody::Nothing));
    }
}

/// Cuts the later lines of a long list of arguments.
fn cut_arguments<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(list) = child_of_kind(node, "argument_list") else { return };
    let range = walk.range(list);
    let text = walk.source.text(range.clone()).trim_end();
    let lines = text.lines().count();
    let first = text.lines().next().map_or(0, str::len);
    // A bracket or a quote that is open at the end of the line would swallow the mark.
    let is_split = find_all(node, ".argument_list/.argument").iter().any(|argument| {
        let argument = walk.range(*argument);
        argument.start < range.start + first && range.start + first < argument.end
    });
    let is_balanced = text[..first].matches('(').count() == text[..first].matches(')').count();
    if LONG_COMMAND < lines && is_balanced && !is_split && !node.has_error() {
        let cut = range.start + first..range.start + text.len();
        walk.cut(cut, format!("  # {}", format_line_count(lines - 1)));
    }
}
