//! JavaScript: the syntax of `CommonJS`, of constructor functions, and of `this`.

use tree_sitter::Node;

use crate::model::{
    BindingValue, DefinitionFact, ExpressionFact, ExpressionId, MODULE_EXPORTS, ScopeId, ScopeKind,
};
use crate::syntax::facts::builder::{FactsBuilder, field, line_of};
use crate::syntax::outline::{child_of_kind, named_children};

/// The maximum length of a chain of assignments.
const MAX_TARGETS: usize = 16;

/// Returns the text of a string without its quotes.
pub(super) fn unquoted<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> &'t str {
    facts.text_of(node).trim_matches(['"', '\'', '`'])
}

/// Returns the module of `require('module')` or `import('module')`.
pub(super) fn required<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<&'t str> {
    let function = field(node, "function").filter(|_| node.kind() == "call_expression")?;
    if function.kind() != "import" && facts.text_of(function) != "require" {
        return None;
    }
    let module = field(node, "arguments")?.named_child(0).filter(|module| module.kind() == "string")?;
    Some(unquoted(facts, module))
}

/// Returns the expression of a required module; its name is the text of the call.
pub(super) fn required_value<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let module = required(facts, node)?;
    let name = facts.name_of(node);
    if facts.objects.assigned.insert((0, name)) {
        let import = facts.import(module, None, false, line_of(node));
        facts.bind(0, name, BindingValue::Import(import), line_of(node));
    }
    Some(facts.expression(ExpressionFact::Name(name)))
}

/// Binds a variable to a module or its members: `a = require('m')`, `{a, b: c} = require('m')`, `a = require('m').b`.
pub(super) fn declare_required<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, value: Node<'t>) -> bool {
    let line = line_of(name);
    let (module, member) = match (required(facts, value), field(value, "object"), field(value, "property")) {
        (Some(module), _, _) => (module, None),
        (None, Some(object), Some(property)) if value.kind() == "member_expression" => {
            let Some(module) = required(facts, object) else { return false };
            (module, Some(facts.text_of(property)))
        }
        _ => return false,
    };
    if name.kind() == "identifier" {
        let import = facts.import(module, member, false, line);
        facts.bind_node(facts.scope, name, BindingValue::Import(import));
        return true;
    }
    let is_plain = |part: &Node<'_>| match part.kind() {
        "shorthand_property_identifier_pattern" | "comment" => true,
        "pair_pattern" => field(*part, "value").is_some_and(|value| value.kind() == "identifier"),
        _ => false,
    };
    let parts: Vec<Node<'t>> = named_children(name);
    if member.is_some() || name.kind() != "object_pattern" || !parts.iter().all(is_plain) {
        return false;
    }
    for part in parts.into_iter().filter(|part| part.kind() != "comment") {
        let (key, local) = (field(part, "key").unwrap_or(part), field(part, "value").unwrap_or(part));
        let import = facts.import(module, Some(unquoted(facts, key)), false, line_of(part));
        facts.bind_node(facts.scope, local, BindingValue::Import(import));
    }
    true
}

/// Returns whether a node is the exports of the file.
pub(super) fn is_own_exports<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> bool {
    let is_name = node.kind() == "identifier" && facts.text_of(node) == "exports";
    is_exports(facts, node) || is_name && !facts.objects.has_export_statements
}

/// Returns whether a node is `module.exports`.
pub(super) fn is_exports<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> bool {
    !facts.objects.has_export_statements
        && node.kind() == "member_expression"
        && facts.text_of(node) == MODULE_EXPORTS
}

/// Returns the targets of a chain of assignments, and its value.
pub(super) fn chain(assignment: Node<'_>) -> (Vec<Node<'_>>, Node<'_>) {
    let (mut targets, mut value) = (Vec::new(), assignment);
    while value.kind() == "assignment_expression" && targets.len() < MAX_TARGETS {
        let (Some(left), Some(right)) = (field(value, "left"), field(value, "right")) else { break };
        targets.push(left);
        value = right;
    }
    (targets, value)
}

/// Returns the object of `object.member` or `object.prototype.member`, if it is a name.
pub(super) fn object_of<'t>(facts: &FactsBuilder<'t>, target: Node<'t>) -> Option<Node<'t>> {
    let object = field(target, "object").filter(|_| target.kind() == "member_expression")?;
    let object = prototype_owner(facts, object).unwrap_or(object);
    (object.kind() == "identifier").then_some(object)
}

/// Returns the function or class of a prototype: `A` of `A.prototype`.
pub(super) fn prototype_owner<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let property = field(node, "property").filter(|_| node.kind() == "member_expression")?;
    if facts.text_of(property) == "prototype" { field(node, "object") } else { None }
}

/// Returns `base` of `Object.create(base)`.
pub(super) fn created_from<'t>(facts: &FactsBuilder<'t>, value: Node<'t>) -> Option<Node<'t>> {
    let function = field(value, "function").filter(|_| value.kind() == "call_expression")?;
    if facts.text_of(function) != "Object.create" {
        return None;
    }
    field(value, "arguments")?.named_child(0)
}

/// Returns the constructor that inherits and the one that it inherits from, if a statement sets that up.
pub(super) fn inheritance<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
    if let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) {
        // `A.prototype = Object.create(B.prototype)`
        return Some((prototype_owner(facts, left)?, created_from(facts, right)?));
    }
    let function = field(node, "function").filter(|_| node.kind() == "call_expression")?;
    let arguments = field(node, "arguments")?;
    let (first, base) = (arguments.named_child(0)?, arguments.named_child(1)?);
    match facts.text_of(function) {
        "Object.setPrototypeOf" => Some((prototype_owner(facts, first)?, base)),
        "inherits" | "util.inherits" => Some((first, base)),
        _ => None,
    }
}

/// Returns a value without parentheses and type assertions, and the asserted types.
pub(super) fn without_assertions(value: Node<'_>) -> (Node<'_>, Vec<Node<'_>>) {
    let (mut inner, mut types) = (value, Vec::new());
    while matches!(
        inner.kind(),
        "parenthesized_expression" | "as_expression" | "satisfies_expression" | "non_null_expression"
    ) {
        let Some(next) = inner.named_child(0) else { break };
        types.extend(inner.named_child(1));
        inner = next;
    }
    (inner, types)
}

/// Returns whether a value is a function or a class.
pub(super) fn is_definable(value: Node<'_>) -> bool {
    matches!(value.kind(), "function_expression" | "generator_function" | "arrow_function" | "class")
}

/// Returns whether a value is `void 0` or `undefined`: compilers declare the names of exports with those.
pub(super) fn is_undefined<'t>(facts: &FactsBuilder<'t>, value: Node<'t>) -> bool {
    value.kind() == "undefined" || facts.text_of(value) == "void 0"
}

/// Records whether the current scope is that of an arrow function or of a static method.
pub(super) fn mark_function(facts: &mut FactsBuilder<'_>, function: Node<'_>) {
    if function.kind() == "arrow_function" {
        facts.objects.arrows.insert(facts.scope);
    }
    if function.kind() == "method_definition" && child_of_kind(function, "static").is_some() {
        facts.objects.statics.insert(facts.scope);
    }
}

/// Returns whether `this` is a value of the enclosing type: in other functions, it is whatever they are called on.
pub(super) fn has_receiver(facts: &FactsBuilder<'_>) -> bool {
    let mut scope = facts.scope;
    loop {
        let fact = facts.facts.scopes[scope as usize];
        match fact.kind {
            ScopeKind::Function if !facts.objects.arrows.contains(&scope) => {
                let Some(function) = fact.definition else { return false };
                let function = &facts.facts.definitions[function as usize];
                let around = facts.facts.scopes[function.scope as usize].kind;
                return matches!(around, ScopeKind::Class | ScopeKind::Implementation)
                    || constructed_members(facts, function).is_some();
            }
            ScopeKind::Class | ScopeKind::Implementation => return true,
            _ if scope == 0 => return false,
            _ => scope = fact.parent,
        }
    }
}

/// Returns whether `this` is the enclosing type, as in a static method.
pub(super) fn is_receiver_type(facts: &FactsBuilder<'_>) -> bool {
    let mut scope = facts.scope;
    while scope != 0 {
        let fact = facts.facts.scopes[scope as usize];
        if fact.kind == ScopeKind::Function && !facts.objects.arrows.contains(&scope) {
            return facts.objects.statics.contains(&scope);
        }
        scope = fact.parent;
    }
    false
}

/// Returns the scope of the attributes of `this`: that of a type, or of the members of a constructor function.
pub(super) fn receiver_scope(facts: &FactsBuilder<'_>) -> Option<ScopeId> {
    facts.class_scope().or_else(|| {
        let function = facts.facts.scopes[facts.function_scope() as usize].definition?;
        constructed_members(facts, &facts.facts.definitions[function as usize])
    })
}

/// Returns the scope of the members that are assigned to a function.
fn constructed_members(facts: &FactsBuilder<'_>, function: &DefinitionFact) -> Option<ScopeId> {
    let members = facts.objects.members.get(&function.name).filter(|_| function.scope == 0);
    members.copied().filter(|members| *members != 0)
}
