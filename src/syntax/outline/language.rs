//! What a language is described by: its grammar, a table of node kinds, and the rules and functions in that table.

use std::num::NonZeroU16;

use tree_sitter::Node;
use tree_sitter_language::LanguageFn;

use super::nodes::NodePath;
use super::skeleton::ElisionMarks;
use super::walk::OutlineWalk;
use crate::model::SymbolKind;
use crate::syntax::text::{PreprocessedText, SynthesizedItem};

/// Kinds of nodes, and what to do with them.
pub(in crate::syntax) type NodeTable = &'static [(&'static str, Visit)];

/// Reads a node that a table cannot describe.
type NodeReader = for<'t> fn(&mut OutlineWalk<'t>, Node<'t>);

/// A language as its file describes it.
pub(in crate::syntax) struct Language {
    /// Id of the file type.
    pub(in crate::syntax) id: &'static str,
    /// The grammar.
    pub(in crate::syntax) grammar: LanguageFn,
    /// Name and version of the grammar's crate; part of the key of all that is derived.
    pub(in crate::syntax) grammar_version: &'static str,
    /// What separates the parts of a qualified name.
    pub(in crate::syntax) separator: &'static str,
    /// Whether comments that belong to no declaration are cut.
    pub(in crate::syntax) cuts_detached_comments: bool,
    /// Whether a skeleton is parsed again, to verify that it has no more errors than its source.
    pub(in crate::syntax) checks_skeleton: bool,
    /// Whether two functions of one scope may have the same name.
    pub(in crate::syntax) has_overloads: bool,
    /// Kinds of nodes that a signature omits where they come first: decorators, annotations.
    pub(in crate::syntax) signature_excludes: &'static [&'static str],
    /// How a skeleton marks what was cut, where `OutlineWalk::define` takes it.
    pub(in crate::syntax) marks: ElisionMarks,
    /// Makes a text quicker to parse and fit for the grammar; returns `None` where the scanner does not support what it
    /// reads, and the text is to be parsed as it is.
    pub(in crate::syntax) preprocess: Option<fn(&str) -> Option<PreprocessedText>>,
    /// Cuts what a skeleton omits of something that the scanner synthesized.
    pub(in crate::syntax) cut_synthesized: Option<fn(&mut OutlineWalk<'_>, &SynthesizedItem)>,
    /// Returns whether a text is nested deeper than the grammar can handle, where brackets do not show it.
    pub(in crate::syntax) is_too_deep: Option<fn(&str) -> bool>,
    /// What to do with each kind of node: the first table that names a kind decides. Kinds that none names are passed
    /// over, with all that is in them.
    pub(in crate::syntax) node_tables: &'static [NodeTable],
    /// Reads the root before its children are visited.
    pub(in crate::syntax) read_root: Option<NodeReader>,
}

impl Language {
    /// Returns a language with members joined by dots, comments and braces as in C, and no peculiarities: a table sets
    /// only the fields in which its language differs, by `..Language::new(…)`.
    pub(in crate::syntax) const fn new(
        id: &'static str,
        grammar: LanguageFn,
        grammar_version: &'static str,
        node_tables: &'static [NodeTable],
    ) -> Self {
        Self {
            id,
            grammar,
            grammar_version,
            separator: ".",
            cuts_detached_comments: false,
            checks_skeleton: true,
            has_overloads: false,
            signature_excludes: &[],
            marks: ElisionMarks::BRACES,
            preprocess: None,
            cut_synthesized: None,
            is_too_deep: None,
            node_tables,
            read_root: None,
        }
    }
}

/// What to do with a kind of node.
#[derive(Clone, Copy)]
pub(in crate::syntax) enum Visit {
    /// Visit its children as if they were in its place.
    Enter,
    /// It is the first part of the symbol within (decorators, `template<…>`), which begins where it begins.
    Wrapper,
    /// It is the first part of the symbol after it (attributes, which are siblings of what they belong to), which
    /// begins where it begins.
    Prefix,
    /// It is a comment.
    Comment,
    /// It is a symbol, or several.
    Define(&'static SymbolRule),
    /// This function reads it.
    Read(NodeReader),
    /// This function reads it, and a comment above it is about the file: an import, a package's name.
    Preamble(NodeReader),
}

/// The fields that are read by id; their ids are looked up once per language instead of at each node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum GrammarField {
    Body,
    Declarator,
    Definition,
    Left,
    ModuleName,
    Name,
    Parameters,
    Path,
    Right,
    Scope,
    Type,
    Value,
}

impl GrammarField {
    const ALL: [(Self, &'static str); 12] = [
        (Self::Body, "body"),
        (Self::Declarator, "declarator"),
        (Self::Definition, "definition"),
        (Self::Left, "left"),
        (Self::ModuleName, "module_name"),
        (Self::Name, "name"),
        (Self::Parameters, "parameters"),
        (Self::Path, "path"),
        (Self::Right, "right"),
        (Self::Scope, "scope"),
        (Self::Type, "type"),
        (Self::Value, "value"),
    ];
}

/// A language with its names turned into the grammar's numbers.
pub(in crate::syntax) struct CompiledLanguage {
    pub(in crate::syntax) language: &'static Language,
    pub(in crate::syntax) grammar: tree_sitter::Language,
    visits: Vec<Option<Visit>>,
    fields: [u16; GrammarField::ALL.len()],
}

impl CompiledLanguage {
    pub(in crate::syntax) fn new(language: &'static Language) -> Self {
        let grammar = tree_sitter::Language::new(language.grammar);
        // Indexed by the id of the kind, because every node that the walk passes is looked up.
        let mut visits = vec![None; grammar.node_kind_count()];
        // A name may have several ids (aliases), so the ids are mapped to their names.
        for (id, visit) in visits.iter_mut().enumerate() {
            let id = u16::try_from(id).unwrap_or(u16::MAX);
            if grammar.node_kind_is_named(id) {
                let kind = grammar.node_kind_for_id(id);
                *visit = language
                    .node_tables
                    .iter()
                    .copied()
                    .flatten()
                    .find(|(name, _)| Some(*name) == kind)
                    .map(|(_, visit)| *visit);
            }
        }
        let fields = GrammarField::ALL.map(|(_, name)| grammar.field_id_for_name(name).map_or(0, u16::from));
        Self { language, grammar, visits, fields }
    }

    /// Returns what to do with `node`. What the grammar did not understand is entered, because it may contain symbols
    /// too.
    pub(in crate::syntax) fn visit(&self, node: Node<'_>) -> Option<Visit> {
        if node.is_error() {
            return Some(Visit::Enter);
        }
        self.visits.get(usize::from(node.kind_id())).copied().flatten()
    }

    /// Returns whether a field's id is that of `field`.
    pub(in crate::syntax) fn is_field(&self, id: Option<NonZeroU16>, field: GrammarField) -> bool {
        id.is_some_and(|id| id.get() == self.fields[field as usize])
    }

    /// Returns the child of `node` in that field.
    pub(super) fn child_by_field<'t>(&self, node: Node<'t>, field: GrammarField) -> Option<Node<'t>> {
        match self.fields[field as usize] {
            0 => None,
            id => node.child_by_field_id(id),
        }
    }
}

/// How a kind of node becomes a symbol, or several.
#[derive(Debug)]
pub(in crate::syntax) struct SymbolRule {
    /// What it is.
    pub(in crate::syntax) kind: SymbolKind,
    /// What it is directly within a type, where that is something else.
    pub(in crate::syntax) in_type: Option<SymbolKind>,
    /// Where several things are declared together: the path to each. The paths below begin there.
    pub(in crate::syntax) each: NodePath,
    /// The paths to its name, of which the first that exists counts. A node without a name is not a symbol, but its
    /// members are.
    pub(in crate::syntax) name: &'static [NodePath],
    /// What is in it.
    pub(in crate::syntax) body: BodyRule,
}

/// What a symbol contains, and the paths to it, of which the first that exists counts.
#[derive(Debug, Clone, Copy)]
pub(in crate::syntax) enum BodyRule {
    /// Nothing that an outline shows: the signature is all of it.
    None,
    /// Members, which are visited.
    Members(&'static [NodePath]),
    /// Code, which a skeleton cuts.
    Code(&'static [NodePath]),
    /// A value, of which a skeleton cuts what is within its brackets where it is large.
    Value(&'static [NodePath]),
}

impl SymbolRule {
    /// Returns a rule for a symbol whose name is in the field `name`.
    pub(in crate::syntax) const fn new(kind: SymbolKind, body: BodyRule) -> Self {
        Self { kind, in_type: None, each: "", name: &["name"], body }
    }

    /// Sets what it is directly within a type.
    pub(in crate::syntax) const fn in_type(mut self, kind: SymbolKind) -> Self {
        self.in_type = Some(kind);
        self
    }

    /// Sets where its name is.
    pub(in crate::syntax) const fn named(mut self, name: &'static [NodePath]) -> Self {
        self.name = name;
        self
    }

    /// Sets the path to each of several things that are declared together.
    pub(in crate::syntax) const fn each(mut self, each: NodePath) -> Self {
        self.each = each;
        self
    }
}

/// Returns the steps of all paths in the tables of `language` that its grammar does not have: a test expects none.
#[cfg(test)]
pub(in crate::syntax) fn unknown_steps(language: &Language) -> Vec<String> {
    use Visit;

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
    let paths = rules.flat_map(|rule| {
        let body = match rule.body {
            BodyRule::None => &[][..],
            BodyRule::Members(paths) | BodyRule::Code(paths) | BodyRule::Value(paths) => paths,
        };
        rule.name.iter().chain(body).copied().chain([rule.each])
    });
    let steps = paths.flat_map(|path| path.split('/')).filter(|step| !step.is_empty() && !is_known(step));
    steps.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_numbered_as_they_are_listed() {
        for (at, (field, _)) in GrammarField::ALL.iter().enumerate() {
            assert_eq!(*field as usize, at);
        }
    }
}
