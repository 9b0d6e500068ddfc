//! What a language must say of itself, and the languages that have said it.

use std::num::NonZeroU16;
use std::sync::OnceLock;

use tree_sitter::Node;
use tree_sitter_language::LanguageFn;

use super::define::ElisionMarks;
use super::languages::LANGUAGES;
use super::notebook;
use super::reduced::PreprocessedText;
use super::reduced::SynthesizedItem;
use super::rule::SymbolRule;
use super::walk::OutlineWalk;

/// A language as its folder describes it.
pub(super) struct Language {
    /// Id of the file type.
    pub(super) id: &'static str,
    /// The grammar.
    pub(super) grammar: LanguageFn,
    /// Name and version of the grammar's crate; part of the key of all that is derived.
    pub(super) grammar_version: &'static str,
    /// What stands between the parts of a qualified name.
    pub(super) separator: &'static str,
    /// Whether comments that belong to no declaration are taken out of a skeleton.
    pub(super) cuts_detached_comments: bool,
    /// Whether a skeleton is parsed once more, to be sure that it has no more errors than its source.
    pub(super) checks_skeleton: bool,
    /// Whether two functions of one scope may bear the same name.
    pub(super) has_overloads: bool,
    /// Kinds of nodes that a signature leaves out where they lead it: decorators, annotations.
    pub(super) signature_excludes: &'static [&'static str],
    /// How a skeleton says what was taken out, where [`Walk::define`] takes it.
    pub(super) marks: ElisionMarks,
    /// Makes of a text one that is quicker to parse and that the grammar understands; `None` where it is not sure of
    /// what it reads, and the text is to be parsed as it is.
    pub(super) preprocess: Option<fn(&str) -> Option<PreprocessedText>>,
    /// Takes out of the skeleton what it does without of something that the scanner supplies.
    pub(super) cut_synthesized: Option<fn(&mut OutlineWalk<'_>, &SynthesizedItem)>,
    /// Says whether a text is nested deeper than the grammar can bear, where brackets do not tell.
    pub(super) is_too_deep: Option<fn(&str) -> bool>,
    /// What to do with each kind of node: the first table that names a kind decides. Kinds that none names are passed
    /// over, with all that is in them.
    pub(super) node_tables: &'static [NodeTable],
    /// Reads the root before its children are visited.
    pub(super) read_root: Option<NodeReader>,
}

/// Kinds of nodes, and what to do with them.
pub(super) type NodeTable = &'static [(&'static str, Visit)];

/// Reads a node that a table cannot describe.
pub(super) type NodeReader = for<'t> fn(&mut OutlineWalk<'t>, Node<'t>);

/// What to do with a kind of node.
#[derive(Clone, Copy)]
pub(super) enum Visit {
    /// Look at its children as if they stood in its place.
    Enter,
    /// Remember where it begins, for it is the first part of the symbol within (decorators, `template<…>`).
    Wrapper,
    /// Remember where it begins, for it is the first part of the symbol after it (attributes that stand beside what
    /// they are about).
    Prefix,
    /// It is a comment.
    Comment,
    /// It is a symbol, or several.
    Define(&'static SymbolRule),
    /// Let this function read it.
    Read(NodeReader),
    /// Let this function read it, and know that a comment above it is about the file: an import, a package's name.
    Preamble(NodeReader),
}

/// The names of the fields that are looked at; looked up once per language instead of at each node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum GrammarField {
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
pub(super) struct CompiledLanguage {
    pub(super) language: &'static Language,
    pub(super) grammar: tree_sitter::Language,
    visits: Vec<Option<Visit>>,
    fields: [u16; GrammarField::ALL.len()],
}

impl CompiledLanguage {
    fn new(language: &'static Language) -> Self {
        let grammar = tree_sitter::Language::new(language.grammar);
        let mut visits = vec![None; grammar.node_kind_count()];
        // A name may stand for several numbers (aliases), so the numbers are asked for their names.
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

    /// Returns what to do with `node`. What the grammar did not understand is looked into, for symbols stand there too.
    pub(super) fn visit(&self, node: Node<'_>) -> Option<Visit> {
        if node.is_error() {
            return Some(Visit::Enter);
        }
        self.visits.get(usize::from(node.kind_id())).copied().flatten()
    }

    /// Says whether a field's number is that of `field`.
    pub(super) fn is_field(&self, id: Option<NonZeroU16>, field: GrammarField) -> bool {
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

/// Says whether files of this type have an outline and a skeleton.
pub fn has_structure(language: &str) -> bool {
    language == notebook::ID || language_index(language).is_some()
}

/// Returns the name and version of the grammar of this type, if it has one.
pub fn grammar_version(language: &str) -> Option<&'static str> {
    if language == notebook::ID {
        return Some(notebook::READER);
    }
    language_index(language).map(|at| LANGUAGES[at].grammar_version)
}

/// Returns the compiled language of that id.
pub(super) fn compiled_language(language: &str) -> Option<&'static CompiledLanguage> {
    static COMPILED: [OnceLock<CompiledLanguage>; LANGUAGES.len()] =
        [const { OnceLock::new() }; LANGUAGES.len()];
    let at = language_index(language)?;
    Some(COMPILED[at].get_or_init(|| CompiledLanguage::new(LANGUAGES[at])))
}

fn language_index(language: &str) -> Option<usize> {
    LANGUAGES.iter().position(|known| known.id == language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::rule::unknown_steps;

    #[test]
    fn fields_are_numbered_as_they_are_listed() {
        for (at, (field, _)) in GrammarField::ALL.iter().enumerate() {
            assert_eq!(*field as usize, at);
        }
    }

    #[test]
    fn every_node_that_a_table_names_is_one_of_its_grammar() {
        for language in LANGUAGES {
            let compiled = compiled_language(language.id).unwrap();
            for (kind, _) in language.node_tables.iter().copied().flatten() {
                assert_ne!(compiled.grammar.id_for_node_kind(kind, true), 0, "{}: {kind}", language.id);
            }
        }
    }

    #[test]
    fn every_step_of_a_rule_is_one_of_its_grammar() {
        for language in LANGUAGES {
            let unknown = unknown_steps(language);
            assert!(unknown.is_empty(), "{}: {unknown:?}", language.id);
        }
    }

    #[test]
    fn every_language_is_a_file_type_of_its_own() {
        let mut ids: Vec<_> = LANGUAGES.iter().map(|language| language.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), LANGUAGES.len());
    }

    #[test]
    fn the_versions_in_the_keys_are_those_that_are_linked() {
        let lock = include_str!("../../Cargo.lock");
        for language in LANGUAGES {
            let (name, version) = language.grammar_version.split_once(' ').unwrap();
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&entry), "{} is not what Cargo.lock pins", language.grammar_version);
        }
    }
}
