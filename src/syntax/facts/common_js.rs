//! CommonJS: `require`, what a file assigns to its exports, and functions that are assigned as members of its objects.
//!
//! Exports are bound in a scope of a type that has no definition, where a whole other value of `module.exports` has that
//! name. What a file requires is bound in its scope by the text of the call, which is no identifier.

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::Node;

use super::builder::{FactsBuilder, IMPLEMENTED_TRAIT, IMPLEMENTED_TYPE, NewDefinition, field, line_of};
use super::script::{define_class_of, define_function_of, visit};
use super::script_modules::unquoted;
use super::script_types::value_of;
use crate::model::{
    BindingValue, DefinitionFact, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact,
    ExpressionId, MODULE_EXPORTS, NameId, ScopeId, ScopeKind,
};
use crate::syntax::outline::children;

/// Longer chains of assignments are not read.
const MAX_TARGETS: usize = 16;

/// The objects of a file of JavaScript whose members are assigned to them.
#[derive(Default)]
pub(super) struct ScriptObjects {
    /// The scope of the exports, once there are some.
    exports: Option<ScopeId>,
    /// The scope of the members of each object of the file's scope; the file's own until the object is declared.
    members: FxHashMap<NameId, ScopeId>,
    /// The scopes of arrow functions, in which `this` is that of what is around them.
    arrows: FxHashSet<ScopeId>,
    /// What has been assigned.
    assigned: FxHashSet<(ScopeId, NameId)>,
}

/// What is assigned to.
#[derive(Clone, Copy)]
enum AssignmentTarget<'t> {
    /// `module.exports`
    Exports(Node<'t>),
    /// A member of an object or of the exports, by the scope that has it.
    Member(ScopeId, Node<'t>),
}

/// Records whether the current scope is that of an arrow function.
pub(super) fn mark_arrow(facts: &mut FactsBuilder<'_>, function: Node<'_>) {
    if function.kind() == "arrow_function" {
        facts.objects.arrows.insert(facts.scope);
    }
}

/// Returns whether `this` is a value of the type around the current scope: in other functions, it is whatever they are
/// called on.
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

/// Finds the objects, functions and classes to which functions are assigned as members, and what is exported as a whole.
pub(super) fn find_objects<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    let mut cursor = root.walk();
    for statement in root.named_children(&mut cursor) {
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

/// Returns what a chain of assignments assigns to, and its value.
fn chain(assignment: Node<'_>) -> (Vec<Node<'_>>, Node<'_>) {
    let (mut targets, mut value) = (Vec::new(), assignment);
    while value.kind() == "assignment_expression" && targets.len() < MAX_TARGETS {
        let (Some(left), Some(right)) = (field(value, "left"), field(value, "right")) else { break };
        targets.push(left);
        value = right;
    }
    (targets, value)
}

fn is_definable(value: Node<'_>) -> bool {
    matches!(value.kind(), "function_expression" | "generator_function" | "arrow_function" | "class")
}

fn is_exports<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> bool {
    node.kind() == "member_expression" && facts.text_of(node) == MODULE_EXPORTS
}

/// Returns the object of `object.member` or `object.prototype.member`, where it is a name.
fn object_of<'t>(facts: &FactsBuilder<'t>, target: Node<'t>) -> Option<Node<'t>> {
    let object = field(target, "object").filter(|_| target.kind() == "member_expression")?;
    let object = prototype_owner(facts, object).unwrap_or(object);
    (object.kind() == "identifier").then_some(object)
}

/// Returns the function or class of its prototype: `A` of `A.prototype`.
pub(super) fn prototype_owner<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<Node<'t>> {
    let property = field(node, "property").filter(|_| node.kind() == "member_expression")?;
    if facts.text_of(property) == "prototype" { field(node, "object") } else { None }
}

/// Returns whether a node is the exports of the file.
pub(super) fn is_own_exports<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> bool {
    is_exports(facts, node) || node.kind() == "identifier" && facts.text_of(node) == "exports"
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

/// Returns the expression of a module that is required; its name is the text of the call.
pub(super) fn required_value<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> Option<ExpressionId> {
    let module = required(facts, node)?;
    let name = facts.name_of(node);
    if facts.objects.assigned.insert((0, name)) {
        let import = facts.import(module, None, false, line_of(node));
        facts.bind(0, name, BindingValue::Import(import), line_of(node));
    }
    Some(facts.expression(ExpressionFact::Name(name)))
}

/// Binds what a variable gets from a module: `a = require('m')`, `{a, b: c} = require('m')`, `a = require('m').b`.
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
    let parts: Vec<Node<'t>> = name.named_children(&mut name.walk()).collect();
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

/// `exports[name] = value`: what is exported by other names may be that.
fn mark_computed<'t>(facts: &mut FactsBuilder<'t>, targets: &[Node<'t>]) {
    for target in targets {
        let object = field(*target, "object").filter(|_| target.kind() == "subscript_expression");
        if object.is_some_and(|object| is_own_exports(facts, object)) {
            bind_unknown(facts, line_of(*target));
        }
    }
}

/// Returns what inherits and from what, where a statement has a constructor inherit from another one.
fn inheritance<'t>(facts: &FactsBuilder<'t>, node: Node<'t>) -> Option<(Node<'t>, Node<'t>)> {
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

/// Records that a constructor inherits from another one.
pub(super) fn inherit<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some((heir, base)) = inheritance(facts, node).filter(|_| facts.scope == 0) else { return };
    let name = facts.name_of(heir);
    if let Some(members) = facts.objects.members.get(&name).copied().filter(|members| *members != 0) {
        let (base, implemented) = (value_of(facts, base), facts.name(IMPLEMENTED_TRAIT));
        facts.bind(members, implemented, BindingValue::Value(base), line_of(node));
    }
}

/// Reads `A.prototype = { … }`; returns whether a node is that.
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

/// Returns whether a value is `void 0` or `undefined`: compilers announce the names of exports by those.
fn is_undefined<'t>(facts: &FactsBuilder<'t>, value: Node<'t>) -> bool {
    value.kind() == "undefined" || facts.text_of(value) == "void 0"
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
    // The name of the expression is known in its own body alone.
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
    // Which one counts is decided when it runs.
    if !facts.objects.assigned.insert((scope, name)) || facts.scope != 0 {
        facts.bind(scope, name, BindingValue::Value(0), line);
    }
}

/// Binds what an object has of members in a scope.
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

/// Declares a variable whose members are assigned to it, if its value is an object; returns whether it is one.
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
    let flags = DefinitionFlags::DYNAMIC;
    let object = facts.define(&NewDefinition { name, whole, kind: DefinitionKind::Module, flags });
    facts.bind_node(0, name, BindingValue::Definition(object));
    if let Some(base) = base {
        let base = value_of(facts, base);
        facts.definition(object).bases.push(base);
    }
    let outer = facts.open_body(object, ScopeKind::Class);
    let members = std::mem::replace(&mut facts.scope, outer);
    facts.objects.members.insert(id, members);
    if value.kind() == "object" {
        read_object(facts, members, value);
    } else {
        facts.deeper(value, visit);
    }
    true
}

/// Returns `base` of `Object.create(base)`.
fn created_from<'t>(facts: &FactsBuilder<'t>, value: Node<'t>) -> Option<Node<'t>> {
    let function = field(value, "function").filter(|_| value.kind() == "call_expression")?;
    if facts.text_of(function) != "Object.create" {
        return None;
    }
    field(value, "arguments")?.named_child(0)
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

/// Returns the scope of the attributes of `this`: that of a type, or of the members of a function that constructs.
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
