//! Names that JavaScript gives to values (`const a = …`, `exports.a = …`, imports and exports), and what a skeleton
//! cuts of the values.

use std::collections::HashSet;

use tree_sitter::Node;

use crate::model::SymbolKind;
use crate::syntax::outline::{
    OutlineWalk, SymbolBody, SymbolDefinition, ValueTrimmer, child_of_kind, find, find_all, is_trivia,
    named_children,
};
use crate::syntax::text::{documentation, is_all_capitals};

/// Tags by which a comment declares that it is about the file.
const FILE_TAGS: [&str; 5] = ["@fileoverview", "@file ", "@overview", "@module", "@packageDocumentation"];

/// Returns a name that belongs to nothing but the scopes around it, of a kind that its value may change.
pub(super) fn plain_name<'t>(kind: SymbolKind, name: &str) -> SymbolDefinition<'t> {
    SymbolDefinition::new(kind, name, SymbolBody::Nothing)
}

/// Reads `const a = 1;`, which is a symbol with its whole line, and `var a, b;`, where each name is a symbol of its
/// own.
pub(super) fn variables<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let declarators = find_all(node, ".variable_declarator");
    let is_constant = child_of_kind(node, "const").is_some();
    let kind = if is_constant { SymbolKind::Constant } else { SymbolKind::Variable };
    match declarators[..] {
        [single] => declare(walk, node, single, kind),
        [first, ..] => walk.visit_declared_together(node, first),
        [] => walk.visit_children(node),
    }
}

/// Reads one of several names that are declared together; that is old code, in which capitals mark constants.
pub(super) fn declarator<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) {
    let name = find(node, "name").map_or("", |name| walk.text(name));
    let kind = if is_all_capitals(name) { SymbolKind::Constant } else { SymbolKind::Variable };
    declare(walk, node, node, kind);
}

fn declare<'t>(walk: &mut OutlineWalk<'t>, holder: Node<'t>, declarator: Node<'t>, kind: SymbolKind) {
    let Some(name) = find(declarator, "name") else { return };
    let value = find(declarator, "value");
    // A module that is bound to a name is an import, and not a constant of this file.
    if let Some(source) = value.and_then(|value| required_module(walk, value)) {
        walk.use_comment_as_file_doc();
        walk.add_import(source);
        return;
    }
    if name.kind() == "identifier" {
        return define_binding(walk, holder, plain_name(kind, walk.text(name)), value);
    }
    let Some(value) = value else { return };
    for name in names_in(name) {
        define_plain_value(walk, holder, plain_name(kind, walk.text(name)), value);
    }
}

/// Returns the names in `{ a, b: [c], d = 1, ...e }`, in the order of the text.
fn names_in(pattern: Node<'_>) -> Vec<Node<'_>> {
    let mut names = Vec::new();
    // A stack instead of recursion, because patterns may be nested arbitrarily deeply.
    let mut stack = vec![pattern];
    while let Some(node) = stack.pop() {
        match node.kind() {
            "identifier" | "shorthand_property_identifier_pattern" => names.push(node),
            "object_pattern" | "array_pattern" | "rest_pattern" => {
                stack.extend(significant_children(node).into_iter().rev());
            }
            "pair_pattern" => stack.extend(find(node, "value")),
            "assignment_pattern" | "object_assignment_pattern" => stack.extend(find(node, "left")),
            _ => {}
        }
    }
    names
}

/// Adds a name to the outline, of the kind that its value decides; `holder` is the node of the whole binding.
pub(super) fn define_binding<'t>(
    walk: &mut OutlineWalk<'t>,
    holder: Node<'t>,
    binding: SymbolDefinition<'t>,
    value: Option<Node<'t>>,
) {
    let Some(whole) = value else {
        return walk.define(holder, binding);
    };
    let value = unwrap_value(whole);
    if is_function(value) {
        let kind = function_kind(walk, &binding);
        let inside = SymbolBody::code(elidable_body(walk, value));
        return walk.define(holder, SymbolDefinition { kind, body: inside, ..binding });
    }
    match value.kind() {
        "class" => {
            let inside = SymbolBody::members(find(value, "body"));
            let kind = SymbolKind::Class;
            walk.define(holder, SymbolDefinition { kind, body: inside, ..binding });
        }
        "object" if has_functions(value) => {
            let (kind, body) = (SymbolKind::Object, SymbolBody::Members(value));
            walk.define(holder, SymbolDefinition { kind, body, ..binding });
        }
        "call_expression" => define_call_value(walk, holder, binding, value),
        _ => define_plain_value(walk, holder, binding, whole),
    }
}

/// Adds a value that has no structure: a short one is shown, of a long one code and data are cut.
fn define_plain_value<'t>(
    walk: &mut OutlineWalk<'t>,
    holder: Node<'t>,
    binding: SymbolDefinition<'t>,
    value: Node<'t>,
) {
    let start = walk.range(value).start;
    let mut definition = binding;
    if !walk.is_short(walk.start_with_prefix(holder)..walk.range(value).end) {
        definition = definition.with_signature_end(start);
    }
    walk.define(holder, definition);
    trim_value(walk, value);
}

/// Adds the result of a call, by the functions in its arguments, or by an object of functions.
fn define_call_value<'t>(
    walk: &mut OutlineWalk<'t>,
    holder: Node<'t>,
    binding: SymbolDefinition<'t>,
    call: Node<'t>,
) {
    if let Some(object) = object_argument(call) {
        let (kind, body) = (SymbolKind::Object, SymbolBody::Members(object));
        return walk.define(holder, SymbolDefinition { kind, body, ..binding });
    }
    // Within a function, the result is local.
    if walk.scopes.is_empty()
        && let Some(members) = made_members(walk, call)
    {
        let (kind, body) = (SymbolKind::Object, SymbolBody::Members(members));
        return walk.define(holder, SymbolDefinition { kind, body, ..binding });
    }
    let innermost = find(call, "function").map(unwrap_value).filter(|function| is_function(*function));
    if let Some(body) = innermost.and_then(|function| find(function, "body")) {
        // An immediately invoked function, for its result.
        return walk.define(holder, SymbolDefinition { body: SymbolBody::Members(body), ..binding });
    }
    match function_argument(walk, call).and_then(|function| elidable_body(walk, function)) {
        Some(body) => {
            walk.define(holder, SymbolDefinition { body: SymbolBody::Code(body), ..binding });
            trim_value(walk, call);
        }
        None => define_plain_value(walk, holder, binding, call),
    }
}

fn function_kind(walk: &OutlineWalk<'_>, binding: &SymbolDefinition<'_>) -> SymbolKind {
    let is_in_type = walk.scope_kind().is_some_and(SymbolKind::is_type);
    if is_in_type || binding.kind == SymbolKind::Method { SymbolKind::Method } else { SymbolKind::Function }
}

/// Reads what a comment at the head documents of the file, wherever it is among others.
pub(in crate::syntax::languages) fn read_file_comment<'t>(walk: &mut OutlineWalk<'t>, root: Node<'t>) {
    for child in root.children(&mut root.walk()) {
        // Only at the head: further down such a tag is not about the file.
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

/// Reads `export …`: the exported symbol begins with it. A re-export from another file is an import.
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

/// Reads `export default value`, which has a name only where the value has one.
fn export_value<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>, whole: Node<'t>) {
    let value = unwrap_value(whole);
    // The name is declared elsewhere in the file, and shown there.
    if matches!(value.kind(), "identifier" | "member_expression") {
        return;
    }
    let name = find(value, "name").map_or("default", |name| walk.text(name)).to_owned();
    define_binding(walk, node, plain_name(SymbolKind::Constant, &name), Some(whole));
}

/// Returns what a value imports, where it does nothing else: `require("a")`, `require("a").b`.
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

/// Returns a text without its quotation marks.
pub(super) fn unquoted(text: &str) -> &str {
    text.trim_matches(['"', '\'', '`'])
}

/// The value of an arrow function that is no longer than this is shown.
const SHORT_ARROW: usize = 80;

/// Functions are searched for in nested objects up to this depth.
const MAX_OBJECTS: usize = 3;

/// Functions are searched for in nested calls up to this depth.
const MAX_CALLS: usize = 4;

/// Returns a value without what only wraps it: parentheses, types, `await`, and names that are assigned to on the way.
pub(super) fn unwrap_value(value: Node<'_>) -> Node<'_> {
    let mut value = value;
    loop {
        // A unary operator is often there only to make a function an expression: `!function () { … }()`.
        let inner = match value.kind() {
            "parenthesized_expression"
            | "as_expression"
            | "satisfies_expression"
            | "non_null_expression"
            | "type_assertion"
            | "await_expression"
            | "unary_expression" => {
                significant_children(value).into_iter().find(|inner| inner.kind() != "type_arguments")
            }
            "assignment_expression" => find(value, "right"),
            _ => None,
        };
        match inner {
            Some(inner) => value = inner,
            None => return value,
        }
    }
}

/// Returns the children that are neither comments nor punctuation.
pub(super) fn significant_children(node: Node<'_>) -> Vec<Node<'_>> {
    named_children(node).into_iter().filter(|child| !is_trivia(*child)).collect()
}

/// Returns whether a node is a function that is not a declaration.
pub(super) fn is_function(node: Node<'_>) -> bool {
    matches!(node.kind(), "arrow_function" | "function_expression" | "generator_function")
}

/// Returns whether an object contains functions or classes, so that it is more than data.
pub(super) fn has_functions(object: Node<'_>) -> bool {
    object.kind() == "object" && has_functions_within(object, MAX_OBJECTS)
}

fn has_functions_within(object: Node<'_>, depth: usize) -> bool {
    significant_children(object).into_iter().any(|member| match member.kind() {
        "method_definition" => true,
        "pair" => find(member, "value").map(unwrap_value).is_some_and(|value| {
            is_function(value)
                || value.kind() == "class"
                || (value.kind() == "object" && 0 < depth && has_functions_within(value, depth - 1))
        }),
        _ => false,
    })
}

/// Returns the body of a function that a skeleton cuts; `None` where it is a short value.
fn elidable_body<'t>(walk: &OutlineWalk<'t>, function: Node<'t>) -> Option<Node<'t>> {
    let body = find(function, "body")?;
    let text = walk.text(body);
    // A block is code, however short it is; a short expression says more than its size would.
    let is_short = body.kind() != "statement_block" && text.len() <= SHORT_ARROW && !text.contains('\n');
    (!is_short).then_some(body)
}

/// Returns the function among the arguments of a call, where it has a body to cut: `memo(function () { … })`. It may be
/// an argument of a call among the arguments.
fn function_argument<'t>(walk: &OutlineWalk<'t>, call: Node<'t>) -> Option<Node<'t>> {
    let mut call = call;
    for _ in 0..MAX_CALLS {
        let args: Vec<_> = arguments(call).into_iter().map(unwrap_value).collect();
        let function = args.iter().find(|argument| is_function(**argument));
        if let Some(function) = function.filter(|function| elidable_body(walk, **function).is_some()) {
            return Some(*function);
        }
        call = *args.iter().find(|argument| argument.kind() == "call_expression")?;
    }
    None
}

/// Returns the object with functions among the arguments of a call: `View.extend({ render() { … } })`.
fn object_argument(call: Node<'_>) -> Option<Node<'_>> {
    arguments(call).into_iter().map(unwrap_value).find(|argument| has_functions(*argument))
}

/// Returns where the members are of an object that a function makes for a call, as for a store: `create((set) => ({
/// add() { … } }))`, `defineStore("a", () => { function add() { … } return { add } })`. It may be a call among the
/// arguments that has the function.
fn made_members<'t>(walk: &OutlineWalk<'t>, call: Node<'t>) -> Option<Node<'t>> {
    let mut call = call;
    for _ in 0..MAX_CALLS {
        let args: Vec<_> = arguments(call).into_iter().map(unwrap_value).collect();
        if let Some(function) = args.iter().find(|argument| is_function(**argument)) {
            let body = find(*function, "body").map(unwrap_value)?;
            if body.kind() == "object" {
                return has_functions(body).then_some(body);
            }
            let statements = significant_children(body);
            let last = statements.last().filter(|last| last.kind() == "return_statement")?;
            let returned = significant_children(*last).first().copied().map(unwrap_value)?;
            if returned.kind() != "object" {
                return None;
            }
            let names = function_names(walk, &statements);
            let is_function_name = |member: &Node<'t>| names.contains(walk.text(*member));
            let has_names = significant_children(returned).iter().any(is_function_name);
            return if has_names {
                Some(body)
            } else {
                Some(returned).filter(|object| has_functions(*object))
            };
        }
        call = *args.iter().find(|argument| argument.kind() == "call_expression")?;
    }
    None
}

/// Returns the names of the functions that some statements declare.
fn function_names<'t>(walk: &OutlineWalk<'t>, statements: &[Node<'t>]) -> HashSet<&'t str> {
    let mut names = HashSet::new();
    for statement in statements {
        match statement.kind() {
            "function_declaration" | "generator_function_declaration" => {
                names.extend(find(*statement, "name").map(|name| walk.text(name)));
            }
            "lexical_declaration" | "variable_declaration" => {
                let declarators = find_all(*statement, ".variable_declarator").into_iter();
                let functions = declarators.filter(|declarator| {
                    find(*declarator, "value").map(unwrap_value).is_some_and(is_function)
                });
                names.extend(
                    functions.filter_map(|declarator| find(declarator, "name")).map(|name| walk.text(name)),
                );
            }
            _ => {}
        }
    }
    names
}

pub(super) fn arguments(call: Node<'_>) -> Vec<Node<'_>> {
    find_all(call, "arguments")
        .into_iter()
        .filter(|list| list.kind() == "arguments")
        .flat_map(significant_children)
        .collect()
}

/// How JavaScript's values are trimmed.
const VALUES: ValueTrimmer = ValueTrimmer { cut_function, cut_literal };

/// Cuts code and data within a value.
pub(super) fn trim_value<'t>(walk: &mut OutlineWalk<'t>, value: Node<'t>) {
    VALUES.trim_value(walk, value);
}

fn cut_function<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) -> bool {
    let is_code = is_function(node) || node.kind() == "method_definition";
    if let Some(body) = elidable_body(walk, node).filter(|_| is_code) {
        walk.cut_code(body);
    }
    is_code
}

fn cut_literal<'t>(walk: &mut OutlineWalk<'t>, node: Node<'t>) -> bool {
    match node.kind() {
        "array" | "object" => walk.cut_rows(node),
        "template_string" => walk.cut_text(node, 1, 1),
        _ => return false,
    }
    true
}
