//! The tables of C and C++: functions, macros and namespaces, and what a skeleton cuts of them.

use std::ops::Range;

use tree_sitter::Node;

use super::declarations::{
    cut_initializer, declaration, defined_type, enumerator, read_macro_class, type_definition, type_specifier,
};
use super::declarators::{function_kind, is_keyword, lost_conversion, resolve_declarator, spelled_name};
use crate::model::{Symbol, SymbolKind};
use crate::syntax::outline::{
    GrammarField, Language, NamedScope, NodeTable, OutlineWalk, SkeletonCut, Visit, child_of_kind, children,
};
use crate::syntax::text::{SynthesizedItem, format_line_count};

/// C, with the extensions of GCC and of Microsoft that the grammar knows.
pub(in crate::syntax::languages) static C: Language = Language {
    separator: "::",
    cuts_detached_comments: true,
    preprocess: Some(crate::syntax::preprocess::preprocess_c),
    cut_synthesized: Some(cut_synthesized),
    ..Language::new("c", tree_sitter_c::LANGUAGE, "tree-sitter-c 0.24.2", &[C_NODES])
};

/// The nodes of C; C++ has them too.
const C_NODES: NodeTable = &[
    ("comment", Visit::Comment),
    ("function_definition", Visit::Read(function_definition)),
    ("declaration field_declaration", Visit::Read(declaration)),
    ("type_definition", Visit::Read(type_definition)),
    ("struct_specifier union_specifier enum_specifier", Visit::Read(type_specifier)),
    ("enumerator", Visit::Read(enumerator)),
    ("preproc_include", Visit::Import("path", &['"'])),
    ("preproc_def", Visit::Read(object_macro)),
    ("preproc_function_def", Visit::Read(macro_definition)),
    // Both branches of a condition are entered: it is not known here what is defined.
    (
        "preproc_if preproc_ifdef preproc_else preproc_elif preproc_elifdef linkage_specification \
         declaration_list field_declaration_list enumerator_list attributed_statement",
        Visit::Enter,
    ),
];

/// C++, up to what the grammar knows of C++20.
pub(in crate::syntax::languages) static CPP: Language = Language {
    separator: "::",
    cuts_detached_comments: true,
    has_overloads: true,
    preprocess: Some(crate::syntax::preprocess::preprocess_cpp),
    cut_synthesized: Some(cut_synthesized),
    ..Language::new("cpp", tree_sitter_cpp::LANGUAGE, "tree-sitter-cpp 0.23.4", &[CPP_NODES, C_NODES])
};

/// The nodes that C does not have, or that mean more here.
const CPP_NODES: NodeTable = &[
    ("template_declaration", Visit::Wrapper),
    ("namespace_definition", Visit::Read(namespace)),
    ("alias_declaration concept_definition", Visit::Read(alias)),
    ("declaration", Visit::Read(declaration_or_import)),
    ("class_specifier", Visit::Read(type_specifier)),
    ("friend_declaration", Visit::Read(friend)),
    // `public:` in a class that the grammar takes for a function.
    ("labeled_statement", Visit::Enter),
];

/// Reads a function's definition, and cuts its body.
fn function_definition<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(declarator) = walk.field(node, GrammarField::Declarator) else { return };
    let Some(declared) = resolve_declarator(walk, declarator) else { return };
    // `MACRO(name) {` reads as a type and a name in parentheses, and is a function.
    if !declared.is_function && declarator.kind() != "parenthesized_declarator" {
        read_macro_class(walk, node);
        return;
    }
    let spelled =
        lost_conversion(walk, node, declared.name).unwrap_or_else(|| spelled_name(walk, declared.name));
    if is_keyword(&spelled.name) || spelled.name.is_empty() {
        // After an error inside a function, the grammar takes `if (…) {` for another function.
        return;
    }
    let end = walk.range(node).end;
    let body = body_range(walk, node);
    let head_end = body.as_ref().map_or(end, |body| body.start);
    let signature = signature(walk, node, head_end);
    let before = walk.symbols.len();
    if let Some(made) = defined_type(walk, node) {
        type_specifier(walk, made);
    }
    let (kind, full) = (function_kind(walk, &spelled.scope, &spelled.name), spelled.full());
    walk.add_symbol(walk.symbol(node, end, kind, spelled.name, &full, signature));
    // In `static struct made_here {…} f(void) {` the function begins before the type does.
    walk.symbols[before..].sort_by_key(|symbol| symbol.span.start_byte);
    if let Some(body) = body {
        // If declarations of parameters precede the body, it would not be a prototype without the body.
        let is_old_style = child_of_kind(node, "declaration").is_some();
        cut_body(walk, has_return_type(walk, node) && !is_old_style, body);
    }
}

/// Returns whether a type precedes the name, or none is needed there: a constructor outside of its class would read as
/// a call if it were a prototype.
fn has_return_type<'t>(walk: &OutlineWalk<'t>, function: Node<'t>) -> bool {
    walk.field(function, GrammarField::Type).is_some() || walk.scope_kind().is_some_and(SymbolKind::is_type)
}

/// Returns a function's signature on one line, with `{…}` for the members of a type that is defined in it.
fn signature<'t>(walk: &OutlineWalk<'t>, function: Node<'t>, head_end: usize) -> String {
    let made = defined_type(walk, function).and_then(|made| walk.field(made, GrammarField::Body));
    let head = match made.map(|body| walk.range(body)) {
        Some(body) => {
            let (before, after) = (
                walk.signature_up_to(function, body.start),
                walk.signature_text(function, body.end..head_end),
            );
            format!("{before} {{…}} {after}")
        }
        None => walk.signature_up_to(function, head_end),
    };
    head.trim_end_matches([';', ' ']).to_owned()
}

/// Returns what a prototype omits: the body, and an initializer list before it. It begins where the signature ends.
fn body_range(walk: &OutlineWalk<'_>, function: Node<'_>) -> Option<Range<usize>> {
    let mut head_end = function.start_byte();
    for child in children(function) {
        match child.kind() {
            // `= default`, `= delete` and `= 0` are part of the signature, and there is no body then.
            "default_method_clause" | "delete_method_clause" | "pure_virtual_clause" => return None,
            "compound_statement"
            | "field_initializer_list"
            | "try_statement"
            | "constructor_try_statement" => {
                // What a scanner elided after the signature is part of it, unless it is a comment.
                let between = walk.source.original_end(head_end)..walk.range(child).start;
                return Some(walk.source.elided_code_end(between)..walk.range(function).end);
            }
            "comment" => {}
            _ => head_end = child.end_byte(),
        }
    }
    None
}

/// Cuts a body. A comment to the end of the line would swallow whatever follows on that line, so in that case another
/// mark is used.
fn cut_body(walk: &mut OutlineWalk<'_>, is_typed: bool, body: Range<usize>) {
    let mut body = body;
    if walk.source.line_prefix(body.start).trim_start().starts_with('#') {
        // `#endif` is between the signature and the body, and nothing may be put on its line.
        body.start += walk.source.line_suffix(body.start).len();
        body.start += walk.source.text(body.clone()).find('{').unwrap_or(0);
    }
    if !has_balanced_conditions(walk.source.text(body.clone())) {
        // A condition that begins before the body, or ends after it, has to stay whole.
        body.start += walk.source.text(body.clone()).find('{').unwrap_or(0);
        if !has_balanced_conditions(walk.source.text(body.clone())) {
            return;
        }
    }
    let text = walk.source.text(body.clone());
    let is_empty = text.split_whitespace().eq(["{", "}"]) || text.trim() == "{}";
    if is_empty {
        return;
    }
    let lines = format_line_count(text.trim().lines().count());
    let is_last = walk.source.line_suffix(body.end).trim().is_empty();
    let size = if is_last { format!("  // {lines}") } else { format!(" /* {lines} */") };
    let end = if is_typed { ";" } else { " {}" };
    walk.cuts
        .push(SkeletonCut::new(body, format!("{end}{size}")).with_conservative_mark(format!(" {{}}{size}")));
}

/// Returns whether each `#if` of a text has its `#endif` there, and no branch belongs to one that begins above.
fn has_balanced_conditions(text: &str) -> bool {
    let mut depth = 0_usize;
    for line in text.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let directive = directive.trim_start();
        if directive.starts_with("if") {
            depth += 1;
        } else if directive.starts_with("el") && depth == 0 {
            return false;
        } else if directive.starts_with("endif") {
            let Some(outer) = depth.checked_sub(1) else { return false };
            depth = outer;
        }
    }
    depth == 0
}

/// Reads a macro with parameters; the skeleton keeps only the size of its value.
fn macro_definition<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, GrammarField::Name).map(|name| walk.text(name)) else { return };
    let range = walk.range(node);
    let head_end = walk.field(node, GrammarField::Parameters).map_or(range.end, |node| walk.range(node).end);
    let signature = walk.signature_text(node, range.start..head_end);
    let end = range.start + walk.text(node).trim_end().len();
    let symbol = walk.symbol(node, end, SymbolKind::Macro, name.to_owned(), name, signature);
    // Macros know no scopes.
    walk.add_symbol(Symbol { qualified_name: name.to_owned(), ..symbol });
    cut_macro_value(walk, node, 1);
}

/// Reads a macro without parameters: no symbol, but a value of many lines is cut.
fn object_macro<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    cut_macro_value(walk, node, 3);
}

fn cut_macro_value<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, min_lines: usize) {
    if let Some(value) = walk.field(node, GrammarField::Value) {
        cut_value(walk, walk.range(value), min_lines);
    }
}

/// Cuts the value of a macro that has at least `min_lines` lines.
fn cut_value(walk: &mut OutlineWalk<'_>, range: Range<usize>, min_lines: usize) {
    let text = walk.source.text(range.clone()).trim_end();
    let lines = text.lines().count();
    if min_lines <= lines && !text.contains("/*") {
        let value = range.start..range.start + text.len();
        walk.cut_where_understood(value, format!("/* {} */", format_line_count(lines)));
    }
}

/// Cuts the body, the value or the rows of what the scanner synthesized.
fn cut_synthesized(walk: &mut OutlineWalk<'_>, synthesized: &SynthesizedItem) {
    match synthesized {
        SynthesizedItem::Import(..) | SynthesizedItem::Ignored(_) => {}
        SynthesizedItem::MacroValue(value) => cut_value(walk, value.clone(), 3),
        SynthesizedItem::Symbol(symbol) => {
            let Some(cut) = symbol.cut.clone() else { return };
            if symbol.kind == SymbolKind::Macro {
                cut_value(walk, cut, 1);
            } else if symbol.kind.is_callable() {
                let is_typed = symbol.has_type || walk.scope_kind().is_some_and(SymbolKind::is_type);
                cut_body(walk, is_typed, cut);
            } else {
                cut_initializer(walk, cut);
            }
        }
    }
}

/// Reads a namespace; the symbols of one without a name belong to the scope around it.
fn namespace<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(body) = walk.field(node, GrammarField::Body) else { return };
    let Some(name) = walk.field(node, GrammarField::Name) else {
        walk.visit_children(body);
        return;
    };
    let name = namespace_name(walk.text(name));
    let range = walk.range(node);
    let signature = walk.signature_text(node, range.start..walk.range(body).start);
    let mut symbol = walk.symbol(node, range.end, SymbolKind::Namespace, name.clone(), &name, signature);
    symbol.children = walk.visit_scope(NamedScope { name, kind: SymbolKind::Namespace }, body);
    walk.add_symbol(symbol);
}

/// Returns `a::b` for `a :: inline b`.
fn namespace_name(text: &str) -> String {
    let parts = text.split("::").map(|part| part.trim().trim_start_matches("inline ").trim());
    parts.collect::<Vec<_>>().join("::")
}

/// Reads `friend …`: a function that is declared in a class and belongs to the scope around the class.
fn friend<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let class = walk.scopes.pop();
    walk.visit_wrapped(node);
    walk.scopes.extend(class);
}

/// Reads a declaration; `import name;` looks like one to the grammar.
fn declaration_or_import<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let is_import = walk.field(node, GrammarField::Type).is_some_and(|first| walk.text(first) == "import");
    match walk.field(node, GrammarField::Declarator) {
        Some(name) if is_import => walk.add_import(walk.text(name)),
        Some(_) | None => declaration(walk, node),
    }
}

/// Reads `using Name = …;` or `concept Name = …;`.
fn alias<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(name) = walk.field(node, GrammarField::Name).map(|name| walk.text(name)) else { return };
    let end = walk.range(node).end;
    let signature = walk.signature_up_to(node, end).trim_end_matches([';', ' ']).to_owned();
    walk.add_symbol(walk.symbol(node, end, SymbolKind::Typedef, name.to_owned(), name, signature));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preprocessor_condition_stays_whole_in_a_skeleton() {
        let text = "#ifdef A\nint f(int a)\n#else\nint f(int a, int b)\n#endif\n{\n    int c = a;\n    return c;\n}\nint g;\n";
        let skeleton = crate::syntax::derive::checked_skeleton("c", text, &mut || false).unwrap().text;
        assert_eq!(skeleton.matches("#if").count(), skeleton.matches("#endif").count(), "{skeleton}");
        assert!(!skeleton.contains("return c") && skeleton.contains("int g;"), "{skeleton}");
        assert!(
            has_balanced_conditions("{\n#if A\n#else\n#endif\n}") && !has_balanced_conditions("\n#endif\n{}")
        );
    }

    #[test]
    fn keywords_are_distinguished_from_names() {
        assert!(is_keyword("if") && is_keyword("__attribute__") && is_keyword("while"));
        assert!(!is_keyword("iff") && !is_keyword(""));
    }
}
