//! Function definitions.

use std::ops::Range;

use tree_sitter::Node;

use super::declarations::defined_type;
use super::declarators::lost_conversion;
use super::declarators::resolve_declarator;
use super::declarators::spelled_name;
use super::types::read_macro_class;
use super::types::type_specifier;
use crate::model::Symbol;
use crate::model::SymbolKind;
use crate::syntax::language::GrammarField;
use crate::syntax::nodes::children;
use crate::syntax::skeleton::SkeletonCut;
use crate::syntax::walk::OutlineWalk;
use crate::syntax::walk::format_line_count;

/// Reads a function's definition, and takes its body out.
pub(in crate::syntax::languages) fn function_definition<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let Some(declarator) = walk.field(node, GrammarField::Declarator) else {
        return;
    };
    let Some(declared) = resolve_declarator(walk, declarator) else {
        return;
    };
    // `MACRO(name) {` reads as a type and a name in parentheses, and is a function.
    if !declared.is_function && declarator.kind() != "parenthesized_declarator" {
        read_macro_class(walk, node);
        return;
    }
    let spelled =
        lost_conversion(walk, node, declared.name).unwrap_or_else(|| spelled_name(walk, declared.name));
    if is_keyword(&spelled.name) || spelled.name.is_empty() {
        // The grammar lost its way inside of a function, and takes `if (…) {` for another.
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
    let symbol = Symbol {
        kind: function_kind(walk, &spelled.scope, &spelled.name),
        qualified_name: walk.qualified(&spelled.full()),
        name: spelled.name,
        span: walk.span(node, end),
        signature,
        doc: walk.preceding_doc(),
        recovered: false,
        children: Vec::new(),
    };
    walk.add_symbol(symbol);
    // In `static struct made_here {…} f(void) {` the function begins before the type does.
    walk.symbols[before..].sort_by_key(|symbol| symbol.span.start_byte);
    if let Some(body) = body {
        cut_body(walk, has_return_type(walk, node), body);
    }
}

/// Says whether a type stands before the name, or none is wanted there: a constructor outside of its class would read
/// as a call if it were a prototype.
fn has_return_type<'t>(walk: &OutlineWalk<'t>, function: Node<'t>) -> bool {
    walk.field(function, GrammarField::Type).is_some() || walk.scope_kind().is_some_and(SymbolKind::is_type)
}

/// Returns a function's head on one line, with `{…}` for the members of a type that is defined in it.
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

/// Returns what kind of function a name is, by what stands around it.
pub(super) fn function_kind(walk: &OutlineWalk<'_>, scope: &str, name: &str) -> SymbolKind {
    let class = if scope.is_empty() {
        let inside = walk.scopes.last().filter(|scope| scope.kind.is_type());
        inside.map(|scope| scope.name.as_str())
    } else {
        Some(scope.rsplit("::").next().unwrap_or(scope))
    };
    let Some(class) = class else {
        return SymbolKind::Function;
    };
    let class = class.split('<').next().unwrap_or(class);
    if name == class {
        SymbolKind::Constructor
    } else if name.starts_with('~') {
        SymbolKind::Destructor
    } else {
        SymbolKind::Method
    }
}

/// Returns what a prototype does without: the body, an initializer list before it, and the parameters' types of a
/// head in the style of K&R. It begins where the head ends.
fn body_range(walk: &OutlineWalk<'_>, function: Node<'_>) -> Option<Range<usize>> {
    let mut head_end = function.start_byte();
    for child in children(function) {
        match child.kind() {
            // `= default`, `= delete` and `= 0` are part of the head, and there is no body then.
            "default_method_clause" | "delete_method_clause" | "pure_virtual_clause" => return None,
            "compound_statement"
            | "field_initializer_list"
            | "try_statement"
            | "constructor_try_statement"
            | "declaration" => {
                // What a scanner took out after the head is part of it, unless it is a comment.
                let between = walk.source.original_end(head_end)..walk.range(child).start;
                return Some(walk.source.elided_code_end(between)..walk.range(function).end);
            }
            "comment" => {}
            _ => head_end = child.end_byte(),
        }
    }
    None
}

/// Takes out a body. A comment to the end of the line would swallow what follows on it, so that there is another mark
/// for a body that something follows.
pub(super) fn cut_body(walk: &mut OutlineWalk<'_>, is_typed: bool, body: Range<usize>) {
    let mut body = body;
    if walk.source.line_prefix(body.start).trim_start().starts_with('#') {
        // `#endif` stands between the head and the body, and nothing may be put on its line.
        body.start += walk.source.line_suffix(body.start).len();
        body.start += walk.source.text(body.clone()).find('{').unwrap_or(0);
    }
    if !has_balanced_conditions(walk.source.text(body.clone())) {
        // A condition that begins in the head, or ends behind the body, has to stay whole.
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

/// Says whether each `#if` of a text has its `#endif` there, and no branch belongs to one that begins above.
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

/// Says whether a name can be no function's, whatever the grammar made of it.
pub(super) fn is_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 36] = [
        "__attribute__",
        "__typeof__",
        "alignas",
        "case",
        "catch",
        "class",
        "const",
        "decltype",
        "defined",
        "do",
        "else",
        "enum",
        "export",
        "extern",
        "for",
        "goto",
        "if",
        "import",
        "namespace",
        "noexcept",
        "private",
        "protected",
        "public",
        "return",
        "sizeof",
        "static",
        "static_assert",
        "struct",
        "switch",
        "template",
        "typedef",
        "typename",
        "typeof",
        "union",
        "using",
        "while",
    ];
    KEYWORDS.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_stays_whole_in_a_skeleton() {
        let text = "#ifdef A\nint f(int a)\n#else\nint f(int a, int b)\n#endif\n{\n    int c = a;\n    return c;\n}\nint g;\n";
        let skeleton = crate::syntax::checked_skeleton("c", text, &mut || false).unwrap().text;
        assert_eq!(skeleton.matches("#if").count(), skeleton.matches("#endif").count(), "{skeleton}");
        assert!(!skeleton.contains("return c") && skeleton.contains("int g;"), "{skeleton}");
        assert!(
            has_balanced_conditions("{\n#if A\n#else\n#endif\n}") && !has_balanced_conditions("\n#endif\n{}")
        );
    }

    #[test]
    fn keywords_are_found_and_names_are_not() {
        assert!(is_keyword("if") && is_keyword("__attribute__") && is_keyword("while"));
        assert!(!is_keyword("iff") && !is_keyword(""));
    }
}
