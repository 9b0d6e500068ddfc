//! Definitions of one name in several branches of a statement, one of which runs.

use tree_sitter::Node;

use crate::model::{DefinitionFlags, DefinitionId, NameId, ScopeId};
use crate::syntax::facts::branches::{Branch, BranchBinding};
use crate::syntax::facts::builder::FactsBuilder;

/// The maximum number of definitions of one name in branches; further ones are assumed to replace those before.
const MAX_ALTERNATIVES: usize = 8;

/// Visits the body of a definition, to which the branches around the definition do not apply.
pub(super) fn visit_body<'t>(
    facts: &mut FactsBuilder<'t>,
    definition: Node<'t>,
    visit: fn(&mut FactsBuilder<'t>, Node<'t>),
) {
    let open = std::mem::take(&mut facts.branches.open);
    facts.visit_field(definition, "body", visit);
    facts.branches.open = open;
}

/// Visits a child of a statement as one of its branches.
pub(super) fn in_branch<'t>(
    facts: &mut FactsBuilder<'t>,
    statement: Node<'t>,
    child: Node<'t>,
    visit: fn(&mut FactsBuilder<'t>, Node<'t>),
) {
    facts.branches.open.push(Branch { statement: statement.start_byte(), start: child.start_byte() });
    facts.deeper(child, visit);
    facts.branches.open.pop();
}

/// Marks the definitions of a name that alternative branches also bind; called for each new definition or import.
pub(super) fn mark_alternatives(
    facts: &mut FactsBuilder<'_>,
    scope: ScopeId,
    name: NameId,
    definition: Option<DefinitionId>,
) {
    let branches = facts.branches.open.clone();
    if branches.is_empty() {
        return;
    }
    let known = facts.branches.bindings.entry((scope, name)).or_default();
    if MAX_ALTERNATIVES <= known.len() {
        return;
    }
    let is_alternative = |(_, others): &&BranchBinding| {
        // The outermost difference decides: branches of different statements are unrelated.
        let differing = others.iter().zip(&branches).find(|(other, own)| other != own);
        differing.is_some_and(|(other, own)| other.statement == own.statement)
    };
    let mut alternatives: Vec<Option<DefinitionId>> =
        known.iter().filter(is_alternative).map(|(other, _)| *other).collect();
    known.push((definition, branches));
    if !alternatives.is_empty() {
        alternatives.push(definition);
    }
    for alternative in alternatives.into_iter().flatten() {
        facts.definition(alternative).flags.0 |= DefinitionFlags::ALTERNATIVE;
    }
}
