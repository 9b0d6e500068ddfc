//! Rules: what a language's table says of a node that a table can describe.

use tree_sitter::Node;

use super::define::SymbolBody;
use super::define::SymbolDefinition;
use super::walk::OutlineWalk;
use crate::model::SymbolKind;

/// The way from a node to one below it: steps with `/` between them, each the name of a field, or a kind of child with
/// a dot before it. An empty way stays where it is. The first node on each step is taken, all on the last where all are
/// asked for: `declarator/name`, `.type_spec`.
pub(super) type NodePath = &'static str;

/// How a kind of node becomes a symbol, or several.
#[derive(Debug)]
pub(super) struct SymbolRule {
    /// What it is.
    pub(super) kind: SymbolKind,
    /// What it is directly within a type, where that is something else.
    pub(super) in_type: Option<SymbolKind>,
    /// Where several things are declared at once: the way to each. The ways below begin there.
    pub(super) each: NodePath,
    /// The ways to its name; the first that leads somewhere. A symbol without a name is none, but its members are.
    pub(super) name: &'static [NodePath],
    /// What stands in it.
    pub(super) body: BodyRule,
}

/// What stands in a symbol, and the ways there; the first that leads somewhere.
#[derive(Debug, Clone, Copy)]
pub(super) enum BodyRule {
    /// Nothing that an outline tells: the whole of it is the signature.
    None,
    /// Members, which are visited.
    Members(&'static [NodePath]),
    /// Code, which a skeleton leaves out.
    Code(&'static [NodePath]),
    /// A value, of which a skeleton leaves out what is within its brackets where it is large.
    Value(&'static [NodePath]),
}

impl SymbolRule {
    /// Returns a rule for a symbol whose name is in the field `name`.
    pub(super) const fn new(kind: SymbolKind, body: BodyRule) -> Self {
        Self { kind, in_type: None, each: "", name: &["name"], body }
    }

    /// Says what it is directly within a type.
    pub(super) const fn in_type(mut self, kind: SymbolKind) -> Self {
        self.in_type = Some(kind);
        self
    }

    /// Says where its name is.
    pub(super) const fn named(mut self, name: &'static [NodePath]) -> Self {
        self.name = name;
        self
    }

    /// Says the way to each of several things that are declared at once.
    pub(super) const fn each(mut self, each: NodePath) -> Self {
        self.each = each;
        self
    }

    /// Reads a node as the rule says.
    pub(super) fn apply<'t>(&self, walk: &mut OutlineWalk<'t>, node: Node<'t>) {
        for place in find_all(node, self.each) {
            let inside = self.body.resolve(place);
            let kind = match self.in_type {
                Some(kind) if walk.scope_kind().is_some_and(is_member_container) => kind,
                Some(_) | None => self.kind,
            };
            match (find_first(place, self.name), inside) {
                (Some(name), inside) => {
                    let name = walk.text(name).to_owned();
                    walk.define(node, SymbolDefinition::new(kind, name, inside));
                }
                (None, SymbolBody::Members(body)) => walk.visit_children(body),
                (None, SymbolBody::Nothing | SymbolBody::Code(_) | SymbolBody::Value(_)) => {}
            }
        }
    }
}

impl BodyRule {
    fn resolve(self, node: Node<'_>) -> SymbolBody<'_> {
        match self {
            Self::None => SymbolBody::Nothing,
            Self::Members(ways) => find_first(node, ways).map_or(SymbolBody::Nothing, SymbolBody::Members),
            Self::Code(ways) => find_first(node, ways).map_or(SymbolBody::Nothing, SymbolBody::Code),
            Self::Value(ways) => find_first(node, ways).map_or(SymbolBody::Nothing, SymbolBody::Value),
        }
    }
}

/// Says whether what stands in such a symbol are members: a constant of an enumeration may have some of its own.
fn is_member_container(kind: SymbolKind) -> bool {
    kind.is_type() || kind == SymbolKind::EnumMember
}

/// Returns the first node that one of the ways leads to.
pub(super) fn find_first<'t>(node: Node<'t>, ways: &[NodePath]) -> Option<Node<'t>> {
    ways.iter().find_map(|way| find(node, way))
}

/// Returns the first node that a way leads to.
pub(super) fn find<'t>(node: Node<'t>, way: &str) -> Option<Node<'t>> {
    let mut steps = way.split('/').filter(|step| !step.is_empty());
    steps.try_fold(node, |node, step| follow_step(node, step).into_iter().next())
}

/// Returns every node that the last step of a way leads to.
pub(super) fn find_all<'t>(node: Node<'t>, way: &str) -> Vec<Node<'t>> {
    let (before, last) = way.rsplit_once('/').unwrap_or(("", way));
    match find(node, before) {
        Some(node) if last.is_empty() => vec![node],
        Some(node) => follow_step(node, last),
        None => Vec::new(),
    }
}

fn follow_step<'t>(node: Node<'t>, step: &str) -> Vec<Node<'t>> {
    let mut cursor = node.walk();
    match step.strip_prefix('.') {
        Some(kind) => node.children(&mut cursor).filter(|child| child.kind() == kind).collect(),
        // A field may hold the signs between its nodes too.
        None => node.children_by_field_name(step, &mut cursor).filter(Node::is_named).collect(),
    }
}

/// Returns the steps of all ways in the tables of `language` that its grammar does not know: a test wants none.
#[cfg(test)]
pub(super) fn unknown_steps(language: &super::language::Language) -> Vec<String> {
    use super::language::Visit;

    let grammar = tree_sitter::Language::new(language.grammar);
    let is_known = |step: &str| match step.strip_prefix('.') {
        Some(kind) => grammar.id_for_node_kind(kind, true) != 0 || grammar.id_for_node_kind(kind, false) != 0,
        None => grammar.field_id_for_name(step).is_some(),
    };
    let rules = language.node_tables.iter().copied().flatten().filter_map(|(_, visit)| match visit {
        Visit::Define(rule) => Some(*rule),
        Visit::Enter
        | Visit::Wrapper
        | Visit::Prefix
        | Visit::Comment
        | Visit::Read(_)
        | Visit::Preamble(_) => None,
    });
    let ways = rules.flat_map(|rule| {
        let body = match rule.body {
            BodyRule::None => &[][..],
            BodyRule::Members(ways) | BodyRule::Code(ways) | BodyRule::Value(ways) => ways,
        };
        rule.name.iter().chain(body).copied().chain([rule.each])
    });
    let steps = ways.flat_map(|way| way.split('/')).filter(|step| !step.is_empty() && !is_known(step));
    steps.map(str::to_owned).collect()
}
