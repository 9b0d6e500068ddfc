//! Go: packages, which are the files of one folder with one package clause, and what an import path means.

use rustc_hash::FxHashMap;

use super::evaluate::Evaluator;
use super::modules::joined;
use super::project::{FileId, NameRules, ProjectIndex};
use super::rust::manifest_value;
use super::values::{Value, ValueSet};
use crate::model::BindingValue;

/// A package: its folder and its name.
type PackageKey<'a> = (u32, &'a str);

/// The name of a package, and the files that define each of its names.
type PackageMembers<'a> = (&'a str, FxHashMap<&'a str, Vec<FileId>>);

/// The packages of a project.
pub(super) struct GoPackages<'a> {
    /// The packages of each folder, with their names.
    members: FxHashMap<u32, Vec<PackageMembers<'a>>>,
    /// The package of each file.
    of_file: FxHashMap<FileId, PackageKey<'a>>,
    /// The package of each folder that others may import.
    of_folder: FxHashMap<u32, &'a str>,
    /// The path of each module, and the folder of its `go.mod`; the longer paths first.
    modules: Vec<(&'a str, &'a str)>,
}

impl<'a> GoPackages<'a> {
    pub(super) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut packages = Self {
            members: FxHashMap::default(),
            of_file: FxHashMap::default(),
            of_folder: FxHashMap::default(),
            modules: Vec::new(),
        };
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] == Some(NameRules::Go) {
                packages.add(index, id);
            } else if let Some(folder) = file.path.strip_suffix("go.mod")
                && let Some(module) = manifest_value(&file.facts, "module.name")
            {
                packages.modules.push((module, folder.trim_end_matches('/')));
            }
        }
        packages.modules.sort_by_key(|(module, _)| std::cmp::Reverse(module.len()));
        packages
    }

    fn add(&mut self, index: &ProjectIndex<'a>, id: FileId) {
        let file = index.file(id);
        let package = manifest_value(&file.facts, "(package)").unwrap_or_default();
        let folder = super::project::folder_of(&file.path);
        let Some(folder) = index.folder_ids.get(folder).copied() else { return };
        let key = (folder, package);
        self.of_file.insert(id, key);
        if !file.path.ends_with("_test.go") {
            self.of_folder.insert(folder, package);
        }
        let packages = self.members.entry(folder).or_default();
        if !packages.iter().any(|(name, _)| *name == package) {
            packages.push((package, FxHashMap::default()));
        }
        let Some((_, members)) = packages.iter_mut().find(|(name, _)| *name == package) else { return };
        for binding in file.facts.bindings.iter().take_while(|binding| binding.scope == 0) {
            if !matches!(binding.value, BindingValue::Import(_)) {
                let files = members.entry(file.facts.name(binding.name)).or_default();
                if files.last() != Some(&id) {
                    files.push(id);
                }
            }
        }
    }

    /// Returns the folder that an import path means, and whether a manifest says so.
    fn folder(&self, index: &ProjectIndex<'_>, path: &str) -> Option<(u32, bool)> {
        let known = |folder: &str| {
            let folder = *index.folder_ids.get(folder)?;
            self.of_folder.contains_key(&folder).then_some(folder)
        };
        for (module, folder) in &self.modules {
            let Some(below) = path.strip_prefix(module) else { continue };
            if below.is_empty() || below.starts_with('/') {
                return known(&joined(folder, below.trim_start_matches('/'))).map(|folder| (folder, true));
            }
        }
        if let Some(vendored) = known(&format!("vendor/{path}")) {
            return Some((vendored, true));
        }
        // A path of the standard library has no dot in its first part.
        if !self.modules.is_empty() || !path.split('/').next().is_some_and(|host| host.contains('.')) {
            return None;
        }
        let mut tail = path;
        while let Some((_, rest)) = tail.split_once('/') {
            if let Some(folder) = known(rest) {
                return Some((folder, false));
            }
            tail = rest;
        }
        None
    }
}

impl Evaluator<'_> {
    /// Returns the folder that a file of Go is in.
    pub(super) fn folder_of_file(&self, file: FileId) -> Option<u32> {
        self.modules.go.of_file.get(&file).map(|(folder, _)| *folder)
    }

    /// Returns the package that an import path means.
    pub(super) fn go_import(&self, path: &str) -> ValueSet {
        match self.modules.go.folder(self.index, path) {
            Some((folder, is_declared)) => {
                ValueSet { values: vec![Value::Folder(folder)], is_complete: is_declared }
            }
            None => ValueSet::FOREIGN,
        }
    }

    /// Returns a name of the package that a folder has for others.
    pub(super) fn go_member(&mut self, folder: u32, name: &str) -> Option<ValueSet> {
        let package = *self.modules.go.of_folder.get(&folder)?;
        Some(self.go_package_member((folder, package), name).unwrap_or(ValueSet::FOREIGN))
    }

    /// Returns a name of the package that a file is in.
    pub(super) fn go_outside(&mut self, file: FileId, name: &str) -> Option<ValueSet> {
        let key = *self.modules.go.of_file.get(&file)?;
        self.go_package_member(key, name)
    }

    fn go_package_member(&mut self, key: PackageKey<'_>, name: &str) -> Option<ValueSet> {
        let packages = self.modules.go.members.get(&key.0)?;
        let (_, members) = packages.iter().find(|(package, _)| *package == key.1)?;
        let files = members.get(name)?.clone();
        let mut found = ValueSet::FOREIGN;
        for file in files {
            if let Some(bound) = self.bound_in(file, 0, name) {
                found.merge(bound);
            }
        }
        Some(found)
    }
}
