//! The description of a language: its grammar, a table of node kinds, and the rules and functions in that table.

use std::collections::HashMap;
use std::num::NonZeroU16;

use tree_sitter::Node;
use tree_sitter_language::LanguageFn;

use super::nodes::NodePath;
use super::skeleton::ElisionMarks;
use super::walk::OutlineWalk;
use crate::model::SymbolKind;
use crate::syntax::text::{PreprocessedText, SynthesizedItem};

/// Kinds of nodes, separated by spaces, and what to do with them.
pub(in crate::syntax) type NodeTable = &'static [(&'static str, Visit)];

/// Reads a node that a table cannot describe.
type NodeReader = for<'t> fn(&mut OutlineWalk<'t>, Node<'t>);

/// A language as its file describes it.
#[expect(clippy::struct_excessive_bools, reason = "each flag is an independent property of a language")]
pub(in crate::syntax) struct Language {
    pub(in crate::syntax) id: &'static str,
    pub(in crate::syntax) grammar: LanguageFn,
    /// Name and version of the grammar's crate; part of the key of all that is derived.
    pub(in crate::syntax) grammar_version: &'static str,
    /// What separates the parts of a qualified name.
    pub(in crate::syntax) separator: &'static str,
    /// Whether comments that belong to no declaration are cut.
    pub(in crate::syntax) cuts_detached_comments: bool,
    /// Whether documentation (`///`, `/**`) belongs to the next declaration, whatever directives are between them.
    pub(in crate::syntax) docs_cross_directives: bool,
    /// Whether a skeleton is parsed again, to verify that it has no more errors than its source.
    pub(in crate::syntax) checks_skeleton: bool,
    /// Whether two functions of one scope may have the same name.
    pub(in crate::syntax) has_overloads: bool,
    /// Kinds of nodes that a signature omits where they come first: decorators, annotations.
    pub(in crate::syntax) signature_excludes: &'static [&'static str],
    /// What separates the members of a type on one line, where the ends of their lines do too.
    pub(in crate::syntax) member_separator: Option<char>,
    /// How a skeleton marks what was cut, where `OutlineWalk::define` takes it.
    pub(in crate::syntax) marks: ElisionMarks,
    /// Makes a text faster to parse and suitable for the grammar; returns `None` if the scanner does not support it, so
    /// that it has to be parsed unchanged.
    pub(in crate::syntax) preprocess: Option<fn(&str) -> Option<PreprocessedText>>,
    /// The same for a text that the grammar does not understand as it is.
    pub(in crate::syntax) preprocess_broken: Option<fn(&str) -> Option<PreprocessedText>>,
    /// Returns a text of the same length that the grammar does not misread as it does this one; `None` where there is
    /// nothing to misread. Only the parser sees it.
    pub(in crate::syntax) respell: Option<fn(&str) -> Option<String>>,
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
            docs_cross_directives: false,
            checks_skeleton: true,
            has_overloads: false,
            signature_excludes: &[],
            member_separator: None,
            marks: ElisionMarks::BRACES,
            preprocess: None,
            preprocess_broken: None,
            respell: None,
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
    Define(SymbolRule),
    /// What a path leads to is the name of an import, without these quotes. A comment above it is about the file.
    Import(NodePath, &'static [char]),
    /// What a path leads to is code that is not a symbol, and is cut.
    Cut(NodePath),
    /// Nothing of it is shown, and a comment above it is about the file: the name of a package.
    FileHead,
    /// This function reads it.
    Read(NodeReader),
    /// This function reads it, and a comment above it is about the file: imports that a path cannot describe.
    Preamble(NodeReader),
}

impl Visit {
    /// Returns a symbol of which an outline shows nothing but the signature. Its name is in the field `name`, as in all
    /// of these.
    pub(in crate::syntax) const fn leaf(kind: SymbolKind) -> Self {
        Self::symbol(kind, BodyRule::None)
    }

    /// Returns a symbol whose members are visited.
    pub(in crate::syntax) const fn members(kind: SymbolKind, path: NodePath) -> Self {
        Self::symbol(kind, BodyRule::Members(path))
    }

    /// Returns a symbol whose code a skeleton cuts.
    pub(in crate::syntax) const fn code(kind: SymbolKind, path: NodePath) -> Self {
        Self::symbol(kind, BodyRule::Code(path))
    }

    /// Returns a symbol of whose value a skeleton cuts what is within its brackets where it is large.
    pub(in crate::syntax) const fn value(kind: SymbolKind, path: NodePath) -> Self {
        Self::symbol(kind, BodyRule::Value(path))
    }

    const fn symbol(kind: SymbolKind, body: BodyRule) -> Self {
        Self::Define(SymbolRule { kind, in_type: None, each: "", name: "name", body })
    }

    /// Sets what the symbol is directly within a type.
    pub(in crate::syntax) const fn in_type(mut self, kind: SymbolKind) -> Self {
        if let Self::Define(rule) = &mut self {
            rule.in_type = Some(kind);
        }
        self
    }

    /// Sets where the symbol's name is.
    pub(in crate::syntax) const fn named(mut self, name: NodePath) -> Self {
        if let Self::Define(rule) = &mut self {
            rule.name = name;
        }
        self
    }

    /// Sets the path to each of several symbols that are declared together.
    pub(in crate::syntax) const fn each(mut self, each: NodePath) -> Self {
        if let Self::Define(rule) = &mut self {
            rule.each = each;
        }
        self
    }
}

/// The fields that are read by id; their ids are looked up once per language instead of at each node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::syntax) enum GrammarField {
    Body,
    Declarator,
    Left,
    Name,
    Parameters,
    Right,
    Type,
    Value,
}

impl GrammarField {
    /// The names of the fields, in their order.
    const NAMES: [&str; 8] = ["body", "declarator", "left", "name", "parameters", "right", "type", "value"];
}

/// A language with its names turned into the grammar's numbers.
pub(in crate::syntax) struct CompiledLanguage {
    pub(in crate::syntax) language: &'static Language,
    pub(in crate::syntax) grammar: tree_sitter::Language,
    visits: Vec<Option<&'static Visit>>,
    fields: [u16; GrammarField::NAMES.len()],
}

impl CompiledLanguage {
    pub(in crate::syntax) fn new(language: &'static Language) -> Self {
        let grammar = tree_sitter::Language::new(language.grammar);
        let mut by_kind: HashMap<&str, &'static Visit> = HashMap::new();
        for (kinds, visit) in language.node_tables.iter().copied().flatten() {
            for kind in kinds.split(' ') {
                // The first table that names a kind decides, so that C++ can override what it shares with
                // C.
                by_kind.entry(kind).or_insert(visit);
            }
        }
        // Indexed by the id of the kind, because every node that the walk passes is looked up. A name may have several
        // ids (aliases), so the ids are mapped to their names.
        let ids = (0..grammar.node_kind_count()).map(|id| u16::try_from(id).unwrap_or(u16::MAX));
        // Keywords are kinds, too, and some are spelled like a named kind, such as `class` in Ruby.
        let named = ids.map(|id| grammar.node_kind_for_id(id).filter(|_| grammar.node_kind_is_named(id)));
        let visits = named.map(|kind| by_kind.get(kind?).copied()).collect();
        let fields = GrammarField::NAMES.map(|name| grammar.field_id_for_name(name).map_or(0, u16::from));
        Self { language, grammar, visits, fields }
    }

    /// Returns what to do with `node`. What the grammar did not understand is entered, because it may contain symbols
    /// too.
    pub(in crate::syntax) fn visit(&self, node: Node<'_>) -> Option<&'static Visit> {
        if node.is_error() {
            return Some(&Visit::Enter);
        }
        self.visits.get(usize::from(node.kind_id())).copied().flatten()
    }

    /// Returns whether a field's id is that of `field`.
    pub(in crate::syntax) fn is_field(&self, id: Option<NonZeroU16>, field: GrammarField) -> bool {
        // A field that the grammar does not have is 0 here, which no id is.
        id.is_some_and(|id| id.get() == self.fields[field as usize])
    }

    pub(super) fn child_by_field<'t>(&self, node: Node<'t>, field: GrammarField) -> Option<Node<'t>> {
        match self.fields[field as usize] {
            0 => None,
            id => node.child_by_field_id(id),
        }
    }
}

/// How a kind of node becomes a symbol, or several.
#[derive(Clone, Copy)]
pub(in crate::syntax) struct SymbolRule {
    pub(super) kind: SymbolKind,
    /// What it is directly within a type, where that is something else.
    pub(super) in_type: Option<SymbolKind>,
    /// Where several things are declared together: the path to each. The paths below begin there.
    pub(super) each: NodePath,
    /// The path to its name. A node without a name is not a symbol, but its members are.
    pub(super) name: NodePath,
    pub(super) body: BodyRule,
}

/// What a symbol contains, and the path to it.
#[derive(Clone, Copy)]
pub(super) enum BodyRule {
    None,
    Members(NodePath),
    Code(NodePath),
    Value(NodePath),
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
    let visits = language.node_tables.iter().copied().flatten().map(|(_, visit)| visit);
    let paths = visits.flat_map(|visit| match visit {
        Visit::Define(SymbolRule { each, name, body, .. }) => match body {
            BodyRule::None => vec![each, name],
            BodyRule::Members(path) | BodyRule::Code(path) | BodyRule::Value(path) => vec![each, name, path],
        },
        Visit::Import(path, _) | Visit::Cut(path) => vec![path],
        Visit::Enter
        | Visit::Wrapper
        | Visit::Prefix
        | Visit::Comment
        | Visit::FileHead
        | Visit::Read(_)
        | Visit::Preamble(_) => Vec::new(),
    });
    let steps =
        paths.flat_map(|path| path.split(['/', '|'])).filter(|step| !step.is_empty() && !is_known(step));
    steps.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::GrammarField::{self, Body, Declarator, Left, Name, Parameters, Right, Type, Value};

    #[test]
    fn fields_are_numbered_in_their_order() {
        let fields = [Body, Declarator, Left, Name, Parameters, Right, Type, Value];
        let names = ["body", "declarator", "left", "name", "parameters", "right", "type", "value"];
        assert_eq!(fields.map(|field| GrammarField::NAMES[field as usize]), names);
    }
}
