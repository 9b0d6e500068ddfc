//! `CommonJS`: `require`, assignments to the exports of a file, and functions that are assigned as members of its
//! objects.
//!
//! Exports are bound in a type scope without a definition; if `module.exports` is assigned as a whole, the value is
//! bound there as [`MODULE_EXPORTS`]. A required module is bound in the file's scope under the text of the call, which
//! is not an identifier.

use tree_sitter::Node;

use super::reader::{define_class_of, define_function_of, visit};
use super::syntax::{
    chain, created_from, inheritance, is_definable, is_exports, is_own_exports, is_undefined, object_of,
    prototype_owner, required, unquoted,
};
use super::types::value_of;
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, IMPLEMENTED_TRAIT, IMPLEMENTED_TYPE,
    MODULE_EXPORTS, NameId, ScopeId, ScopeKind,
};
use crate::syntax::facts::builder::{FactsBuilder, NewDefinition, field, line_of};
use crate::syntax::outline::{child_of_kind, children, named_children};

/// The target of an assignment.
#[derive(Clone, Copy)]
enum AssignmentTarget<'t> {
    /// `module.exports`
    Exports(Node<'t>),
    /// A member of an object or of the exports, with the scope that contains it.
    Member(ScopeId, Node<'t>),
}

/// Finds the objects, functions and classes to which functions are assigned as members, and whole exports.
pub(super) fn find_objects<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    let mut cursor = root.walk();
    let mut statements = root.named_children(&mut cursor);
    facts.objects.has_export_statements =
        statements.any(|node| node.kind() == "export_statement" && child_of_kind(node, "=").is_none());
    for statement in named_children(root) {
        let Some(assignment) =
            statement.named_child(0).filter(|_| statement.kind() == "expression_statement")
        else {
            continue;
        };
        let (targets, value) = chain(assignment);
        for target in targets {
            if is_exports(facts, target) && value.kind() == "identifier" {
                let name = facts.name_of(value);
                facts.objects.members.insert(name, 0);
                continue;
            }
            let object = match prototype_owner(facts, target) {
                Some(owner) => Some(owner).filter(|_| value.kind() == "object"),
                None => object_of(facts, target).filter(|_| is_definable(value)),
            };
            if let Some(object) = object {
                let name = facts.name_of(object);
                facts.objects.members.insert(name, 0);
            }
        }
    }
}

/// Reads `a = module.exports = value`; returns the value.
pub(super) fn declared_value<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, value: Node<'t>) -> Node<'t> {
    let (targets, value) = chain(value);
    if facts.scope != 0 || name.kind() != "identifier" {
        return value;
    }
    let targets = exported_targets(facts, &targets);
    if targets.is_empty() {
        return value;
    }
    let is_whole = targets.iter().any(|target| matches!(target, AssignmentTarget::Exports(_)));
    if is_whole && value.kind() == "object" {
        let id = facts.name_of(name);
        facts.objects.members.entry(id).or_insert(0);
    }
    let declared = facts.named(name);
    for target in targets {
        bind_target(facts, target, BindingValue::Value(declared));
    }
    value
}

/// Returns those of the targets that are members of objects of this file, or its exports.
fn exported_targets<'t>(facts: &mut FactsBuilder<'t>, targets: &[Node<'t>]) -> Vec<AssignmentTarget<'t>> {
    let mut found = Vec::new();
    for target in targets {
        if is_exports(facts, *target) {
            found.push(AssignmentTarget::Exports(*target));
            continue;
        }
        let property = field(*target, "property").filter(|name| name.kind() == "property_identifier");
        let (Some(object), Some(property)) = (field(*target, "object"), property) else { continue };
        if is_own_exports(facts, object) {
            found.push(AssignmentTarget::Member(exports_scope(facts), property));
        } else if let Some(object) = object_of(facts, *target) {
            let name = facts.name_of(object);
            let members = facts.objects.members.get(&name).copied().filter(|members| *members != 0);
            found.extend(members.map(|members| AssignmentTarget::Member(members, property)));
        }
    }
    found
}

fn exports_scope(facts: &mut FactsBuilder<'_>) -> ScopeId {
    if let Some(known) = facts.objects.exports {
        return known;
    }
    let outer = std::mem::replace(&mut facts.scope, 0);
    facts.open_scope(ScopeKind::Class, None);
    let exports = std::mem::replace(&mut facts.scope, outer);
    facts.objects.exports = Some(exports);
    exports
}

/// Reads an assignment to the exports or to members of objects; returns whether it is one.
pub(super) fn assign<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> bool {
    inherit(facts, node);
    if assign_prototype(facts, node) {
        return true;
    }
    let (lefts, value) = chain(node);
    mark_computed(facts, &lefts);
    let targets = exported_targets(facts, &lefts);
    let is_member = |target: &&AssignmentTarget<'t>| matches!(target, AssignmentTarget::Member(..));
    let Some(first) = targets.iter().find(is_member).or_else(|| targets.first()) else { return false };
    for left in &lefts {
        let object = field(*left, "object").filter(|_| left.kind() == "member_expression");
        if is_own_exports(facts, *left) || object.is_some_and(|object| is_own_exports(facts, object)) {
            continue;
        }
        match object_of(facts, *left) {
            Some(object) => facts.use_name(object, None, false),
            None => facts.deeper(*left, visit),
        }
    }
    assign_targets(facts, node, &targets, *first, value);
    true
}

/// `exports[name] = value`: exports under other names may be that value.
fn mark_computed<'t>(facts: &mut FactsBuilder<'t>, targets: &[Node<'t>]) {
    for target in targets {
        let object = field(*target, "object").filter(|_| target.kind() == "subscript_expression");
        if object.is_some_and(|object| is_own_exports(facts, object)) {
            bind_unknown(facts, line_of(*target));
        }
    }
}

/// Records that a constructor inherits from another one.
pub(super) fn inherit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some((subclass, base)) = inheritance(facts, node).filter(|_| facts.scope == 0) else { return };
    let name = facts.name_of(subclass);
    if let Some(members) = facts.objects.members.get(&name).copied().filter(|members| *members != 0) {
        let (base, implemented) = (value_of(facts, base), facts.name(IMPLEMENTED_TRAIT));
        facts.bind(members, implemented, BindingValue::Value(base), line_of(node));
    }
}

/// Reads `A.prototype = { … }`; returns whether a node is such an assignment.
fn assign_prototype<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> bool {
    let (Some(left), Some(right)) = (field(node, "left"), field(node, "right")) else { return false };
    let Some(owner) = prototype_owner(facts, left).filter(|_| right.kind() == "object") else { return false };
    let name = facts.name_of(owner);
    match facts.objects.members.get(&name).copied() {
        Some(members) if members != 0 && facts.scope == 0 => {
            facts.deeper(owner, visit);
            read_object(facts, members, right);
            true
        }
        _ => false,
    }
}

/// Reads `export = value` of TypeScript.
pub(super) fn export_whole<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if let Some(value) = node.named_child(0) {
        let value = value_of(facts, value);
        let (exports, name) = (exports_scope(facts), facts.name(MODULE_EXPORTS));
        facts.bind(exports, name, BindingValue::Value(value), line_of(node));
    }
}

/// Reads a function, a class or an object without a name that the file exports by default; returns whether it is one.
pub(super) fn export_default<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> bool {
    let (Some(name), Some(value)) = (child_of_kind(node, "default"), field(node, "value")) else {
        return false;
    };
    let is_object = value.kind() == "object";
    if facts.objects.is_component || !is_object && !is_definable(value) {
        return false;
    }
    for decorator in children(node).into_iter().filter(|child| child.kind() == "decorator") {
        facts.deeper(decorator, visit);
    }
    let definition = if is_object {
        let (object, members) = open_object(facts, name, node);
        read_object(facts, members, value);
        object
    } else {
        define(facts, 0, name, node, value)
    };
    facts.bind_node(0, name, BindingValue::Definition(definition));
    true
}

fn bind_unknown(facts: &mut FactsBuilder<'_>, line: u32) {
    let (exports, name) = (exports_scope(facts), facts.name(MODULE_EXPORTS));
    facts.bind(exports, name, BindingValue::Value(0), line);
}

fn assign_targets<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    targets: &[AssignmentTarget<'t>],
    first: AssignmentTarget<'t>,
    value: Node<'t>,
) {
    let bound = if is_undefined(facts, value) {
        return;
    } else if facts.scope == 0 && is_definable(value) {
        let whole = node.parent().filter(|parent| parent.kind() == "expression_statement").unwrap_or(node);
        let (scope, name) = match first {
            AssignmentTarget::Member(scope, name) => (scope, name),
            AssignmentTarget::Exports(name) => (exports_scope(facts), field(value, "name").unwrap_or(name)),
        };
        BindingValue::Definition(define(facts, scope, name, whole, value))
    } else if let (AssignmentTarget::Exports(_), "object") = (first, value.kind()) {
        let exports = exports_scope(facts);
        let name = facts.name(MODULE_EXPORTS);
        if !facts.objects.assigned.insert((exports, name)) {
            bind_unknown(facts, line_of(node));
        }
        read_object(facts, exports, value);
        return;
    } else {
        let bound = BindingValue::Value(value_of(facts, value));
        facts.deeper(value, visit);
        bound
    };
    for target in targets {
        bind_target(facts, *target, bound);
    }
}

/// Defines a function or a class in the scope of its object.
fn define<'t>(
    facts: &mut FactsBuilder<'t>,
    scope: ScopeId,
    name: Node<'t>,
    whole: Node<'t>,
    value: Node<'t>,
) -> DefinitionId {
    let outer = std::mem::replace(&mut facts.scope, scope);
    let definition = if value.kind() == "class" {
        define_class_of(facts, name, whole, value)
    } else {
        define_function_of(facts, name, whole, value, 0)
    };
    facts.scope = outer;
    // The name of a function expression is visible only in its own body.
    let body = facts.definition(definition).body;
    if let (Some(own), Some(body)) = (field(value, "name"), body) {
        facts.bind_node(body, own, BindingValue::Definition(definition));
    }
    definition
}

fn bind_target<'t>(facts: &mut FactsBuilder<'t>, target: AssignmentTarget<'t>, value: BindingValue) {
    let (scope, name, node) = match target {
        AssignmentTarget::Exports(node) => (exports_scope(facts), facts.name(MODULE_EXPORTS), node),
        AssignmentTarget::Member(scope, node) => (scope, facts.name_of(node), node),
    };
    bind_member(facts, scope, name, value, line_of(node));
}

fn bind_member(facts: &mut FactsBuilder<'_>, scope: ScopeId, name: NameId, value: BindingValue, line: u32) {
    facts.bind(scope, name, value, line);
    // Which one counts is decided at run time.
    if !facts.objects.assigned.insert((scope, name)) || facts.scope != 0 {
        facts.bind(scope, name, BindingValue::Value(0), line);
    }
}

/// Binds the members of an object in a scope.
fn read_object<'t>(facts: &mut FactsBuilder<'t>, scope: ScopeId, object: Node<'t>) {
    for part in children(object) {
        let key = field(part, "key").or_else(|| field(part, "name")).unwrap_or(part);
        match part.kind() {
            "shorthand_property_identifier" => {
                let value = facts.named(part);
                bind_target(facts, AssignmentTarget::Member(scope, part), BindingValue::Value(value));
                facts.use_name(part, None, false);
            }
            "method_definition" if key.kind() == "property_identifier" && facts.scope == 0 => {
                let outer = std::mem::replace(&mut facts.scope, scope);
                facts.deeper(part, visit);
                facts.scope = outer;
            }
            "pair" if matches!(key.kind(), "property_identifier" | "string") => {
                let Some(value) = field(part, "value") else { continue };
                let bound = if is_definable(value) && key.kind() == "property_identifier" && facts.scope == 0
                {
                    BindingValue::Definition(define(facts, scope, key, part, value))
                } else {
                    let bound = value_of(facts, value);
                    facts.deeper(value, visit);
                    BindingValue::Value(bound)
                };
                let name = facts.name(unquoted(facts, key));
                bind_member(facts, scope, name, bound, line_of(key));
            }
            "spread_element" => {
                let module = part.named_child(0).and_then(|value| required(facts, value));
                if let Some(module) = module.filter(|_| facts.objects.exports == Some(scope)) {
                    facts.import(module, None, true, line_of(part));
                } else if facts.objects.exports == Some(scope) {
                    bind_unknown(facts, line_of(part));
                }
                facts.visit_children(part, visit);
            }
            _ => facts.deeper(part, visit),
        }
    }
}

/// Declares a variable to whose value members are assigned, if the value is an object; returns whether it is one.
pub(super) fn declare_object<'t>(
    facts: &mut FactsBuilder<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    value: Node<'t>,
) -> bool {
    let base = created_from(facts, value);
    let id = facts.name_of(name);
    let is_object = value.kind() == "object" || base.is_some();
    if facts.scope != 0 || !is_object || facts.objects.members.get(&id) != Some(&0) {
        return false;
    }
    let (object, members) = open_object(facts, name, whole);
    facts.bind_node(0, name, BindingValue::Definition(object));
    if let Some(base) = base {
        let base = value_of(facts, base);
        facts.definition(object).bases.push(base);
    }
    facts.objects.members.insert(id, members);
    if value.kind() == "object" {
        read_object(facts, members, value);
    } else {
        facts.deeper(value, visit);
    }
    true
}

/// Defines an object without binding its name; returns it and the scope of its members.
fn open_object<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, whole: Node<'t>) -> (DefinitionId, ScopeId) {
    let flags = DefinitionFlags::DYNAMIC;
    let object = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Module, flags });
    let outer = facts.open_body(object, ScopeKind::Class);
    (object, std::mem::replace(&mut facts.scope, outer))
}

/// Opens the scope of the members that are assigned to a function or a class.
pub(super) fn open_members<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, owner: DefinitionId) {
    let id = facts.name_of(name);
    if facts.scope != 0 || facts.objects.members.get(&id) != Some(&0) {
        return;
    }
    let outer = facts.open_scope(ScopeKind::Implementation, Some(owner));
    let members = std::mem::replace(&mut facts.scope, outer);
    facts.objects.members.insert(id, members);
    let (owner, implemented) = (facts.named(name), facts.name(IMPLEMENTED_TYPE));
    facts.bind(members, implemented, BindingValue::Value(owner), line_of(name));
}
