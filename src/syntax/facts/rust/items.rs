//! Rust: structs, enums, traits with derives, implementations, type aliases, and macros.

use tree_sitter::Node;

use super::tokens::macro_use;
use super::types::{bounds_of, declared_type, macro_name};
use crate::model::{
    BindingValue, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact, ExpressionId,
    FOLDER_OF_MODULES, IMPLEMENTED_TRAIT, IMPLEMENTED_TYPE, NameId, ScopeKind, TYPE_PARAMETERS, UseFact,
};
use crate::syntax::facts::builder::{FactsBuilder, NewDefinition, field, line_of};
use crate::syntax::facts::rust_macros::{items_within, macro_functions, macro_values, pieces_of_call};
use crate::syntax::outline::{child_of_kind, children};

/// A function that reads a node within an item.
type Visit = for<'t> fn(&mut FactsBuilder<'t>, Node<'t>);

fn define<'t>(
    facts: &mut FactsBuilder<'t>,
    name: Node<'t>,
    whole: Node<'t>,
    kind: DefinitionKind,
    flags: u16,
) -> DefinitionId {
    let first_line = facts.attribute_at.take();
    let definition = facts.define(&NewDefinition { name, whole, kind, flags });
    if let Some(first_line) = first_line {
        facts.definition(definition).first_line = first_line;
    }
    definition
}

pub(super) fn define_bound<'t>(
    facts: &mut FactsBuilder<'t>,
    node: Node<'t>,
    kind: DefinitionKind,
    flags: u16,
) -> Option<DefinitionId> {
    let name = field(node, "name")?;
    let definition = define(facts, name, node, kind, flags);
    facts.bind_node(facts.scope, name, BindingValue::Definition(definition));
    if matches!(kind, DefinitionKind::Class | DefinitionKind::Interface) {
        let name = facts.name_of(name);
        facts.types.insert((facts.scope, name), definition);
    }
    Some(definition)
}

/// Binds the type parameters of an item to their bounds, including those of its `where` clause.
pub(super) fn type_parameters<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    if let Some(parameters) = field(node, "type_parameters") {
        for parameter in children(parameters) {
            let Some(name) = field(parameter, "name").filter(|_| parameter.kind() == "type_parameter") else {
                continue;
            };
            let bounds = field(parameter, "bounds");
            let bound = bounds.map_or(0, |bounds| bounds_of(facts, bounds));
            facts.bind_node(facts.scope, name, BindingValue::Default(bound));
            for part in [bounds, field(parameter, "default_type")].into_iter().flatten() {
                facts.deeper(part, visit);
            }
        }
    }
    let Some(clause) = child_of_kind(node, "where_clause") else { return };
    for predicate in children(clause).into_iter().filter(|child| child.kind() == "where_predicate") {
        let (Some(left), Some(bounds)) = (field(predicate, "left"), field(predicate, "bounds")) else {
            continue;
        };
        if left.kind() == "type_identifier" {
            let bound = bounds_of(facts, bounds);
            facts.bind_node(facts.scope, left, BindingValue::Default(bound));
        } else {
            facts.deeper(left, visit);
        }
        facts.deeper(bounds, visit);
    }
}

/// Returns the texts of the attributes of an item, the last one first.
pub(super) fn attributes_before<'t>(
    facts: &FactsBuilder<'t>,
    item: Node<'t>,
) -> impl Iterator<Item = &'t str> {
    let last = item.prev_sibling().filter(|_| facts.attribute_at.is_some());
    let text = facts.text;
    std::iter::successors(last, Node::prev_sibling)
        .take_while(|found| found.kind() == "attribute_item")
        .map(move |found| text.get(found.byte_range()).unwrap_or_default())
}

pub(super) fn define_struct<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    let derived = derived_traits(facts, node);
    let Some(class) = define_bound(facts, node, DefinitionKind::Class, 0) else { return };
    facts.definition(class).bases.extend(derived);
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node, visit);
    bind_parameter_names(facts, node);
    facts.open_body(class, ScopeKind::Class);
    if let Some(body) = field(node, "body") {
        fields(facts, body, visit);
    }
    facts.scope = outer;
}

/// Binds the names of type parameters in order; an implementation uses them to map its arguments.
fn bind_parameter_names<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let Some(parameters) = field(node, "type_parameters") else { return };
    let mut all = 0;
    for parameter in children(parameters) {
        if let Some(name) = field(parameter, "name").filter(|_| parameter.kind() == "type_parameter") {
            let name = facts.named(name);
            all = facts.expression(ExpressionFact::Apply(all, name));
        }
    }
    let types = facts.name(TYPE_PARAMETERS);
    facts.bind(facts.scope, types, BindingValue::Value(all), line_of(parameters));
}

const POSITIONS: [&str; 8] = ["0", "1", "2", "3", "4", "5", "6", "7"];

/// Binds the fields of a struct or of a variant.
fn fields<'t>(facts: &mut FactsBuilder<'t>, body: Node<'t>, visit: Visit) {
    let mut cursor = body.walk();
    if body.kind() == "ordered_field_declaration_list" {
        let types = body.children_by_field_name("type", &mut cursor);
        for (declared, position) in types.zip(POSITIONS) {
            let name = facts.name(position);
            let expression = declared_type(facts, declared);
            facts.bind(facts.scope, name, BindingValue::Typed(expression), line_of(declared));
            facts.deeper(declared, visit);
        }
        return;
    }
    for found in body.named_children(&mut cursor).filter(|child| child.kind() == "field_declaration") {
        let (Some(name), Some(declared)) = (field(found, "name"), field(found, "type")) else { continue };
        let expression = declared_type(facts, declared);
        facts.bind_node(facts.scope, name, BindingValue::Typed(expression));
        facts.deeper(declared, visit);
    }
}

pub(super) fn define_enum<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    let derived = derived_traits(facts, node);
    let Some(kind) = define_bound(facts, node, DefinitionKind::Class, 0) else { return };
    facts.definition(kind).bases.extend(derived);
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node, visit);
    facts.open_body(kind, ScopeKind::Class);
    let whole = facts.expression(ExpressionFact::ReceiverType);
    let variants = field(node, "body").map(children).unwrap_or_default();
    for variant in variants.into_iter().filter(|child| child.kind() == "enum_variant") {
        let flags = DefinitionFlags::PROTOTYPE;
        let Some(definition) = define_bound(facts, variant, DefinitionKind::Class, flags) else { continue };
        facts.definition(definition).bases.push(whole);
        let within = facts.open_body(definition, ScopeKind::Class);
        if let Some(body) = field(variant, "body") {
            fields(facts, body, visit);
        }
        facts.scope = within;
        facts.visit_field(variant, "value", visit);
    }
    facts.scope = outer;
}

pub(super) fn define_trait<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    let Some(interface) = define_bound(facts, node, DefinitionKind::Interface, 0) else { return };
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node, visit);
    if let Some(bounds) = field(node, "bounds") {
        for bound in
            children(bounds).into_iter().filter(|bound| bound.is_named() && bound.kind() != "lifetime")
        {
            let base = declared_type(facts, bound);
            facts.definition(interface).bases.push(base);
        }
        facts.deeper(bounds, visit);
    }
    facts.open_body(interface, ScopeKind::Class);
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

pub(super) fn implementation<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    let Some(implemented) = field(node, "type") else { return };
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node, visit);
    let declared = declared_type(facts, implemented);
    let implemented_trait = field(node, "trait");
    let (name, line) = (type_name(implemented), line_of(node));
    let first_line = facts.attribute_at.take();
    let known = local_type(facts, outer, name);
    let definition = known.unwrap_or_else(|| {
        let inner = std::mem::replace(&mut facts.scope, outer);
        let kind = DefinitionKind::Class;
        let stand_in = NewDefinition { name, whole: node, kind, flags: DefinitionFlags::PROTOTYPE };
        let definition = facts.define(&stand_in);
        facts.definition(definition).first_line = first_line.unwrap_or(line);
        facts.scope = inner;
        definition
    });
    for part in [implemented_trait, Some(implemented)].into_iter().flatten() {
        facts.deeper(part, visit);
    }
    let within = facts.scope;
    let added = implemented_trait.map(|found| declared_type(facts, found));
    facts.open_scope(ScopeKind::Implementation, Some(definition));
    if known.is_none() {
        facts.definition(definition).body = Some(facts.scope);
    }
    let body = std::mem::replace(&mut facts.scope, within);
    let name = facts.name(IMPLEMENTED_TYPE);
    facts.bind(body, name, BindingValue::Value(declared), line);
    if let Some(added) = added {
        let name = facts.name(IMPLEMENTED_TRAIT);
        facts.bind(body, name, BindingValue::Value(added), line);
    }
    facts.scope = body;
    facts.visit_field(node, "body", visit);
    facts.scope = outer;
}

/// Returns the node of a type's own name: in `a::Name`, in `&Name<T>`.
fn type_name(mut node: Node<'_>) -> Node<'_> {
    loop {
        let inner = match node.kind() {
            "generic_type" | "reference_type" | "pointer_type" => field(node, "type"),
            "scoped_type_identifier" => field(node, "name"),
            "dynamic_type" => field(node, "trait"),
            _ => None,
        };
        match inner {
            Some(inner) => node = inner,
            None => return node,
        }
    }
}

/// Returns the type of that name that this scope has defined so far.
fn local_type<'t>(facts: &mut FactsBuilder<'t>, scope: u32, name: Node<'t>) -> Option<DefinitionId> {
    let name = facts.name_of(name);
    facts.types.get(&(scope, name)).copied()
}

/// Traits of the standard library whose derivation adds no member of the project.
const STANDARD_DERIVES: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// Returns the traits that the attributes of a type derive.
fn derived_traits<'t>(facts: &mut FactsBuilder<'t>, item: Node<'t>) -> Vec<ExpressionId> {
    let lists = attributes_before(facts, item).filter_map(|text| {
        let list = text.strip_prefix("#[derive")?.trim_start();
        list.strip_prefix('(')?.split(')').next()
    });
    let paths = lists.flat_map(|list| list.split(',').map(str::trim));
    let paths: Vec<&'t str> =
        paths.filter(|path| !path.is_empty() && !STANDARD_DERIVES.contains(path)).collect();
    paths.into_iter().map(|path| path_in_text(facts, path)).collect()
}

/// Returns the expression of a path in the text.
fn path_in_text<'t>(facts: &mut FactsBuilder<'t>, path: &'t str) -> ExpressionId {
    let mut found = None;
    for part in path.split("::").map(str::trim).filter(|part| !part.is_empty()) {
        let name = facts.name(part);
        found = Some(facts.expression(match found {
            Some(before) => ExpressionFact::Member(before, name),
            None => ExpressionFact::TypeName(name),
        }));
    }
    found.unwrap_or(0)
}

pub(super) fn define_alias<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    let Some(alias) = define_bound(facts, node, DefinitionKind::Alias, 0) else { return };
    let outer = facts.open_scope(ScopeKind::Block, None);
    type_parameters(facts, node, visit);
    let (declared, bounds) = (field(node, "type"), field(node, "bounds"));
    let target = match (declared, bounds) {
        (Some(declared), _) => declared_type(facts, declared),
        (None, Some(bounds)) => bounds_of(facts, bounds),
        (None, None) => 0,
    };
    facts.definition(alias).bases.push(target);
    // `type Result<T, E = Error>`: the default of the second argument.
    let parameters = field(node, "type_parameters").map(children).unwrap_or_default();
    let defaults: Vec<Node<'t>> =
        parameters.into_iter().filter_map(|parameter| field(parameter, "default_type")).collect();
    if let [default] = defaults.as_slice() {
        let default = declared_type(facts, *default);
        facts.definition(alias).bases.push(default);
    }
    for part in [declared, bounds].into_iter().flatten() {
        facts.deeper(part, visit);
    }
    facts.scope = outer;
}

/// Reads a macro call: the text between its brackets may be items, and the macro may define functions under names in
/// its arguments.
pub(super) fn macro_call<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    if let Some(items) = items_within(facts, node) {
        if let Some(name) = macro_name(node) {
            facts.use_macro(name);
        }
        return facts.visit_children(items, visit);
    }
    let mut defined = Vec::new();
    match macro_name(node) {
        Some(name) if facts.text_of(name) == "dir" => modules_of_folder(facts, node),
        Some(name) => defined = define_made_functions(facts, name, node),
        None => {}
    }
    let first = facts.facts.uses.len();
    macro_use(facts, node);
    if !defined.is_empty() {
        // The name of a definition is not a use of it.
        let uses = facts.facts.uses.split_off(first);
        let is_use = |found: &UseFact| found.receiver.is_some() || !defined.contains(&found.name);
        facts.facts.uses.extend(uses.into_iter().filter(is_use));
    }
}

pub(super) fn define_macro<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>, visit: Visit) {
    let Some(defined) = define_bound(facts, node, DefinitionKind::Macro, 0) else { return };
    let values = macro_values(facts, node);
    facts.definition(defined).bases.extend(values);
    if let Some(items) = items_within(facts, node) {
        let outer = facts.open_body(defined, ScopeKind::Block);
        facts.visit_children(items, visit);
        facts.scope = outer;
    }
    if let Some(name) = field(node, "name") {
        let made = macro_functions(facts, node);
        facts.macro_functions.insert(facts.text_of(name), made);
    }
}

/// Defines the functions that a call of a macro of this file defines; returns their names.
fn define_made_functions<'t>(
    facts: &mut FactsBuilder<'t>,
    macro_name: Node<'t>,
    node: Node<'t>,
) -> Vec<NameId> {
    let mut defined = Vec::new();
    let is_item = matches!(
        facts.facts.scope(facts.scope).kind,
        ScopeKind::Module | ScopeKind::Class | ScopeKind::Implementation
    );
    let Some(made) = facts.macro_functions.get(facts.text_of(macro_name)).filter(|_| is_item).cloned() else {
        return defined;
    };
    let pieces = pieces_of_call(node);
    for function in made {
        for name in function.names(&pieces) {
            let flags =
                DefinitionFlags::DECLARED | if function.has_receiver { 0 } else { DefinitionFlags::STATIC };
            let kind = DefinitionKind::Function;
            let definition = facts.define(&NewDefinition { name, whole: name, kind, flags });
            facts.bind_node(facts.scope, name, BindingValue::Definition(definition));
            let outer = facts.open_body(definition, ScopeKind::Function);
            let returned = function.returned(facts);
            facts.definition(definition).returns.push(returned);
            facts.scope = outer;
            defined.push(facts.name_of(name));
        }
    }
    defined
}

/// Reads `automod::dir!("tests/suite")`, which declares a module for each file of a folder.
fn modules_of_folder<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    let text = facts.text_of(node);
    let Some(folder) = text.strip_prefix("automod::dir!").and_then(|rest| rest.split('"').nth(1)) else {
        return;
    };
    let module = facts.composed_name(&format!("{FOLDER_OF_MODULES}{folder}"));
    facts.import_named(module, None, true, line_of(node));
}
