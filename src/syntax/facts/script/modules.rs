//! JavaScript and TypeScript: ECMAScript imports and exports.

use rustc_hash::FxHashSet;
use tree_sitter::Node;

use super::syntax::unquoted;
use super::types::value_of;
use crate::model::{
    AUGMENTED_MODULE, BindingValue, DefinitionFlags, DefinitionId, GLOBAL_FILE, ScopeId, ScopeKind,
};
use crate::syntax::facts::builder::{FactsBuilder, field, index, line_of};
use crate::syntax::outline::{child_of_kind, named_children};

/// Reads an ECMAScript import, or `import a = require('m')`.
pub(super) fn import<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) {
    if let Some(clause) = child_of_kind(node, "import_require_clause") {
        if let (Some(name), Some(source)) = (clause.named_child(0), field(clause, "source")) {
            let import = facts.import(unquoted(facts, source), None, false, line_of(name));
            facts.bind_node(facts.scope, name, BindingValue::Import(import));
        }
        return;
    }
    let Some(source) = field(node, "source") else { return };
    let (module, line) = (unquoted(facts, source), line_of(node));
    let Some(clause) = child_of_kind(node, "import_clause") else { return };
    for item in named_children(clause) {
        match item.kind() {
            "identifier" => {
                let import = facts.import(module, Some("default"), false, line);
                facts.bind_node(facts.scope, item, BindingValue::Import(import));
            }
            "namespace_import" => {
                let Some(name) = item.named_child(0) else { continue };
                let import = facts.import(module, None, false, line);
                facts.bind_node(facts.scope, name, BindingValue::Import(import));
            }
            _ => {
                for part in named_children(item) {
                    let Some(name) = field(part, "name") else { continue };
                    let import = facts.import(module, Some(facts.text_of(name)), false, line_of(name));
                    let alias = field(part, "alias").unwrap_or(name);
                    facts.bind_node(facts.scope, alias, BindingValue::Import(import));
                }
            }
        }
    }
}

/// Reads the exports of a file, including those re-exported from another file; returns whether the statement contains
/// more.
pub(super) fn export<'t>(facts: &mut FactsBuilder<'t>, node: Node<'t>) -> bool {
    let module = field(node, "source").map(|source| unquoted(facts, source));
    let line = line_of(node);
    if let Some(clause) = child_of_kind(node, "export_clause") {
        for part in named_children(clause) {
            let Some(name) = field(part, "name") else { continue };
            let alias = field(part, "alias");
            let value = match module {
                Some(module) => {
                    BindingValue::Import(facts.import(module, Some(facts.text_of(name)), false, line))
                }
                None if alias.is_some() => BindingValue::Value(facts.named(name)),
                None => continue,
            };
            facts.bind_node(0, alias.unwrap_or(name), value);
        }
        return false;
    }
    if let Some(namespace) = child_of_kind(node, "namespace_export") {
        if let (Some(name), Some(module)) = (namespace.named_child(0), module) {
            let import = facts.import(module, None, false, line);
            facts.bind_node(0, name, BindingValue::Import(import));
        }
        return false;
    }
    if let Some(module) = module {
        facts.import(module, None, true, line);
        return false;
    }
    let is_default = child_of_kind(node, "default").is_some();
    let named = field(node, "declaration").and_then(|declaration| field(declaration, "name"));
    let exported = named.or_else(|| field(node, "value"));
    if let (true, Some(exported)) = (is_default, exported) {
        let value = value_of(facts, exported);
        let name = facts.name("default");
        facts.bind(0, name, BindingValue::Value(value), line);
    }
    true
}

/// Marks a file that declares types and is not a module: in a declaration file, such types are global.
pub(super) fn mark_global<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    let (mut is_module, mut is_declaring) = (false, false);
    for statement in named_children(root) {
        is_module |= matches!(statement.kind(), "import_statement" | "export_statement");
        is_declaring |= matches!(
            statement.kind(),
            "ambient_declaration" | "interface_declaration" | "type_alias_declaration"
        );
    }
    if is_declaring && !is_module {
        let name = facts.name(GLOBAL_FILE);
        facts.bind(0, name, BindingValue::Value(0), 1);
    }
}

/// Marks the definitions of a module that it does not export: `export *` of another file leaves them out. The
/// declarations of other code are exported without saying so.
pub(super) fn mark_private<'t>(facts: &mut FactsBuilder<'t>, root: Node<'t>) {
    let (mut names, mut lines) = (FxHashSet::default(), Vec::new());
    for statement in named_children(root) {
        match statement.kind() {
            "ambient_declaration" => return,
            "export_statement" => {
                lines.push(line_of(statement)..=index(statement.end_position().row + 1));
                let clause =
                    child_of_kind(statement, "export_clause").map(named_children).unwrap_or_default();
                let exported = clause.into_iter().filter_map(|part| field(part, "name"));
                let default = field(statement, "value").filter(|value| value.kind() == "identifier");
                for name in exported.chain(default) {
                    names.insert(facts.name_of(name));
                }
            }
            _ => {}
        }
    }
    if lines.is_empty() {
        return;
    }
    for definition in facts.facts.definitions.iter_mut().filter(|definition| definition.scope == 0) {
        let is_exported = names.contains(&definition.name)
            || lines.iter().any(|lines| lines.contains(&definition.first_line));
        if !is_exported {
            definition.flags.0 |= DefinitionFlags::PRIVATE;
        }
    }
}

/// Opens the body of `declare module 'name'`, which adds to a module or declares one of another project.
pub(super) fn augment<'t>(facts: &mut FactsBuilder<'t>, name: Node<'t>, module: DefinitionId) -> ScopeId {
    let import = facts.import(unquoted(facts, name), None, false, line_of(name));
    let own = facts.name(unquoted(facts, name));
    facts.definition(module).name = own;
    let outer = facts.open_body(module, ScopeKind::Module);
    let marker = facts.name(AUGMENTED_MODULE);
    facts.bind(facts.scope, marker, BindingValue::Import(import), line_of(name));
    outer
}
