//! What a language must say of itself, and the languages that have said it.

use std::num::NonZeroU16;
use std::sync::OnceLock;

use tree_sitter::Node;
use tree_sitter_language::LanguageFn;

use super::define::Marks;
use super::languages::LANGUAGES;
use super::notebook;
use super::reduced::Reduced;
use super::reduced::Supplied;
use super::rule::Rule;
use super::walk::Walk;

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
    pub(super) unsigned: &'static [&'static str],
    /// How a skeleton says what was taken out, where [`Walk::define`] takes it.
    pub(super) marks: Marks,
    /// Makes of a text one that is quicker to parse and that the grammar understands; `None` where it is not sure of
    /// what it reads, and the text is to be parsed as it is.
    pub(super) reduce: Option<fn(&str) -> Option<Reduced>>,
    /// Takes out of the skeleton what it does without of something that the scanner supplies.
    pub(super) cut_supplied: Option<fn(&mut Walk<'_>, &Supplied)>,
    /// Says whether a text is nested deeper than the grammar can bear, where brackets do not tell.
    pub(super) is_too_deep: Option<fn(&str) -> bool>,
    /// What to do with each kind of node: the first table that names a kind decides. Kinds that none names are passed
    /// over, with all that is in them.
    pub(super) nodes: &'static [Nodes],
    /// Reads the root before its children are visited.
    pub(super) root: Option<Reader>,
}

/// Kinds of nodes, and what to do with them.
pub(super) type Nodes = &'static [(&'static str, Visit)];

/// Reads a node that a table cannot describe.
pub(super) type Reader = for<'t> fn(&mut Walk<'t>, Node<'t>);

/// What to do with a kind of node.
#[derive(Clone, Copy)]
pub(super) enum Visit {
    /// Look at its children as if they stood in its place.
    Enter,
    /// Remember where it begins, for it is the first part of the symbol within (decorators, `template<…>`).
    Wrap,
    /// Remember where it begins, for it is the first part of the symbol after it (attributes that stand beside what
    /// they are about).
    Lead,
    /// It is a comment.
    Comment,
    /// It is a symbol, or several.
    Define(&'static Rule),
    /// Let this function read it.
    Read(Reader),
    /// Let this function read it, and know that a comment above it is about the file: an import, a package's name.
    Preamble(Reader),
}

/// The names of the fields that are looked at; looked up once per language instead of at each node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
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

impl Field {
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
pub(super) struct Compiled {
    pub(super) language: &'static Language,
    pub(super) grammar: tree_sitter::Language,
    visits: Vec<Option<Visit>>,
    fields: [u16; Field::ALL.len()],
}

impl Compiled {
    fn new(language: &'static Language) -> Self {
        let grammar = tree_sitter::Language::new(language.grammar);
        let mut visits = vec![None; grammar.node_kind_count()];
        // A name may stand for several numbers (aliases), so the numbers are asked for their names.
        for (id, visit) in visits.iter_mut().enumerate() {
            let id = u16::try_from(id).unwrap_or(u16::MAX);
            if grammar.node_kind_is_named(id) {
                let kind = grammar.node_kind_for_id(id);
                *visit = language
                    .nodes
                    .iter()
                    .copied()
                    .flatten()
                    .find(|(name, _)| Some(*name) == kind)
                    .map(|(_, visit)| *visit);
            }
        }
        let fields = Field::ALL.map(|(_, name)| grammar.field_id_for_name(name).map_or(0, u16::from));
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
    pub(super) fn is_field(&self, id: Option<NonZeroU16>, field: Field) -> bool {
        id.is_some_and(|id| id.get() == self.fields[field as usize])
    }

    /// Returns the child of `node` in that field.
    pub(super) fn child<'t>(&self, node: Node<'t>, field: Field) -> Option<Node<'t>> {
        match self.fields[field as usize] {
            0 => None,
            id => node.child_by_field_id(id),
        }
    }
}

/// Says whether files of this type have an outline and a skeleton.
pub fn has_structure(language: &str) -> bool {
    language == notebook::ID || position(language).is_some()
}

/// Returns the name and version of the grammar of this type, if it has one.
pub fn grammar_version(language: &str) -> Option<&'static str> {
    if language == notebook::ID {
        return Some(notebook::READER);
    }
    position(language).map(|at| LANGUAGES[at].grammar_version)
}

/// Returns the compiled language of that id.
pub(super) fn compiled(language: &str) -> Option<&'static Compiled> {
    static COMPILED: [OnceLock<Compiled>; LANGUAGES.len()] = [const { OnceLock::new() }; LANGUAGES.len()];
    let at = position(language)?;
    Some(COMPILED[at].get_or_init(|| Compiled::new(LANGUAGES[at])))
}

fn position(language: &str) -> Option<usize> {
    LANGUAGES.iter().position(|known| known.id == language)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::rule::unknown_steps;

    #[test]
    fn fields_are_numbered_as_they_are_listed() {
        for (at, (field, _)) in Field::ALL.iter().enumerate() {
            assert_eq!(*field as usize, at);
        }
    }

    #[test]
    fn every_node_that_a_table_names_is_one_of_its_grammar() {
        for language in LANGUAGES {
            let compiled = compiled(language.id).unwrap();
            for (kind, _) in language.nodes.iter().copied().flatten() {
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
