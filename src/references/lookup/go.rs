//! Go: packages, which are the files of one folder with one package clause, and the packages that import paths mean.

use rustc_hash::FxHashMap;

use crate::model::BindingValue;
use crate::references::project::{FileId, NameRules, ProjectIndex, folder_of, joined, manifest_value};

/// A package: its folder and its name.
pub(in crate::references) type PackageKey<'a> = (u32, &'a str);

/// The name of a package, and the files that define each of its names.
type PackageMembers<'a> = (&'a str, FxHashMap<&'a str, Vec<FileId>>);

/// The packages of a project.
pub(in crate::references) struct GoPackages<'a> {
    /// The packages of each folder, with their names.
    members: FxHashMap<u32, Vec<PackageMembers<'a>>>,
    /// The package of each file.
    of_file: FxHashMap<FileId, PackageKey<'a>>,
    /// The importable package of each folder.
    of_folder: FxHashMap<u32, &'a str>,
    /// The path of each module, and the folder of its `go.mod`; longer paths first.
    modules: Vec<(&'a str, &'a str)>,
}

impl<'a> GoPackages<'a> {
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
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
        let folder = folder_of(&file.path);
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

    /// Returns the folder of an import path, and whether a manifest declares it.
    pub(in crate::references) fn folder(&self, index: &ProjectIndex<'_>, path: &str) -> Option<(u32, bool)> {
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
        // A path of the standard library has no dot in its first component.
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

    /// Returns the package of a file.
    pub(in crate::references) fn package(&self, file: FileId) -> Option<PackageKey<'a>> {
        self.of_file.get(&file).copied()
    }

    /// Returns the importable package of a folder.
    pub(in crate::references) fn exported(&self, folder: u32) -> Option<PackageKey<'a>> {
        self.of_folder.get(&folder).map(|package| (folder, *package))
    }

    /// Returns the files of a package that define a name.
    pub(in crate::references) fn files(&self, key: PackageKey<'_>, name: &str) -> Option<&[FileId]> {
        let (_, members) = self.members.get(&key.0)?.iter().find(|(package, _)| *package == key.1)?;
        members.get(name).map(Vec::as_slice)
    }
}
