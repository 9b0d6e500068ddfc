//! References of small projects, as a reader would state them.

use std::sync::Arc;

use super::{ProjectFile, find_references};
use crate::model::{
    BindingFact, BindingValue, DefinitionFact, DefinitionFlags, DefinitionKind, ExpressionFact, ScopeFact,
    ScopeKind, SourceFacts, UseFact,
};

/// A C file that defines one function and calls another.
fn c_file(path: &str, defines: &str, flags: u16, calls: &str) -> ProjectFile {
    let mut names = vec![defines.to_owned(), calls.to_owned()];
    names.sort();
    names.dedup();
    let id = |name: &str| u32::try_from(names.binary_search(&name.to_owned()).unwrap()).unwrap();
    let scope = |parent, kind, definition| ScopeFact { parent, kind, definition };
    let facts = SourceFacts {
        scopes: vec![scope(0, ScopeKind::Module, None), scope(0, ScopeKind::Function, Some(0))],
        definitions: vec![DefinitionFact {
            name: id(defines),
            kind: DefinitionKind::Function,
            scope: 0,
            body: Some(1),
            first_line: 1,
            name_line: 1,
            last_line: 3,
            flags: DefinitionFlags(flags),
            bases: Vec::new(),
            returns: Vec::new(),
        }],
        bindings: vec![BindingFact {
            scope: 0,
            name: id(defines),
            value: BindingValue::Definition(0),
            at: 0,
            line: 1,
        }],
        expressions: vec![ExpressionFact::Unknown],
        uses: vec![UseFact { is_call: true, ..UseFact::new(id(calls), 2, 1) }],
        imports: Vec::new(),
        names,
    };
    ProjectFile { path: path.to_owned(), language: "c", is_test: false, facts: Arc::new(facts) }
}

fn shown(files: &[ProjectFile]) -> Vec<String> {
    let found = find_references(files);
    let row = |reference: &super::Reference| {
        let (from, to) = (&files[reference.from_file as usize], &files[reference.to_file as usize]);
        format!("{} -> {} {}", from.path, to.path, reference.grade.name())
    };
    found.references.iter().map(row).collect()
}

#[test]
fn a_name_that_is_unique_in_the_project_is_likely_and_not_sure() {
    let files = [c_file("a.c", "run", 0, "stop"), c_file("b.c", "stop", 0, "exit")];
    assert_eq!(shown(&files), ["a.c -> b.c likely"]);
}

#[test]
fn a_static_function_is_seen_in_its_own_file_only() {
    let files = [c_file("a.c", "run", 0, "stop"), c_file("b.c", "stop", DefinitionFlags::PRIVATE, "stop")];
    assert_eq!(shown(&files), ["b.c -> b.c sure"]);
}

#[test]
fn of_two_definitions_the_nearer_one_is_likely_and_equally_near_ones_are_maybe() {
    let files = [
        c_file("x/a.c", "run", 0, "stop"),
        c_file("x/b.c", "stop", 0, "exit"),
        c_file("y/b.c", "stop", 0, "exit"),
    ];
    assert_eq!(shown(&files), ["x/a.c -> x/b.c likely"]);
    let files = [
        c_file("z/a.c", "run", 0, "stop"),
        c_file("x/b.c", "stop", 0, "exit"),
        c_file("y/b.c", "stop", 0, "exit"),
    ];
    assert_eq!(shown(&files), ["z/a.c -> x/b.c maybe", "z/a.c -> y/b.c maybe"]);
}

#[test]
fn facts_survive_encoding_and_damage_is_noticed() {
    let facts = SourceFacts::clone(&c_file("a.c", "run", 0, "stop").facts);
    let bytes = super::encode_facts(&facts);
    assert_eq!(super::decode_facts(&bytes), Some(facts));
    for length in 0..bytes.len() {
        assert_eq!(super::decode_facts(&bytes[..length]), None);
    }
    assert_eq!(super::decode_facts(&[]), None);
}
