//! Java: the packages of a project and their types.

use rustc_hash::FxHashMap;

use crate::references::project::{DefinitionKey, NameRules, ProjectIndex};

/// The packages of the files of a project.
#[derive(Default)]
pub(in crate::references) struct JavaPackages<'a> {
    /// Each package with its types, including packages that only contain other packages.
    pub(in crate::references) packages: Vec<(String, FxHashMap<&'a str, Vec<DefinitionKey>>)>,
    pub(in crate::references) ids: FxHashMap<String, u32>,
}

impl<'a> JavaPackages<'a> {
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut found = Self::default();
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] != Some(NameRules::Java) {
                continue;
            }
            // The first import of a file is its own package.
            let package = file.facts.imports.first().map_or("", |import| file.facts.name(import.module));
            let package = found.package(package);
            for (definition, fact) in (0..).zip(&file.facts.definitions) {
                if fact.scope == 0 {
                    let types = &mut found.packages[package as usize].1;
                    let key = DefinitionKey { file: id, definition };
                    types.entry(file.facts.name(fact.name)).or_default().push(key);
                }
            }
        }
        found
    }

    fn package(&mut self, name: &str) -> u32 {
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        if let Some((outer, _)) = name.rsplit_once('.') {
            self.package(outer);
        }
        let id = u32::try_from(self.packages.len()).unwrap_or(u32::MAX);
        self.packages.push((name.to_owned(), FxHashMap::default()));
        self.ids.insert(name.to_owned(), id);
        id
    }
}
