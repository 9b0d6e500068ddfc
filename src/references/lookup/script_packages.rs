//! JavaScript and TypeScript: the modules that the manifests of a project declare.

use rustc_hash::FxHashMap;

use crate::model::SourceFacts;
use crate::references::project::{FileId, ProjectIndex, folder_of, joined, manifest_value, manifest_values};

/// The maximum length of a chain of configurations that extend each other.
const MAX_EXTENDS: usize = 8;

/// The packages and configurations of a project.
pub(in crate::references) struct ScriptPackages<'a> {
    /// The `package.json` files of each name.
    by_name: FxHashMap<&'a str, Vec<FileId>>,
    /// The `package.json` of each folder that has one.
    by_folder: FxHashMap<&'a str, FileId>,
    /// The folders of manifests that list the packages of a workspace, with the patterns of their folders.
    workspaces: Vec<(&'a str, Vec<&'a str>)>,
    /// The configuration of each folder that has one.
    configs: FxHashMap<&'a str, ScriptConfig<'a>>,
}

/// The module settings of a `tsconfig.json` or a `jsconfig.json`, including those that it extends.
#[derive(Default)]
pub(in crate::references) struct ScriptConfig<'a> {
    /// The folder that modules are tried in.
    pub(in crate::references) base_url: Option<String>,
    /// Patterns of modules, with the paths that are tried for them.
    pub(in crate::references) paths: Vec<(&'a str, Vec<&'a str>)>,
    /// The folder of these paths if there is no `base_url`.
    pub(in crate::references) paths_folder: String,
    /// Whether it applies to JavaScript.
    pub(in crate::references) is_of_javascript: bool,
}

impl<'a> ScriptPackages<'a> {
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut packages = Self {
            by_name: FxHashMap::default(),
            by_folder: FxHashMap::default(),
            workspaces: Vec::new(),
            configs: FxHashMap::default(),
        };
        for (id, file) in (0..).zip(index.files) {
            match file.language {
                "json" if file.path.rsplit('/').next() == Some("package.json") => {
                    packages.add_package(index, id);
                }
                "json" => packages.add_config(index, id),
                "yaml" => packages.add_workspaces(index, id),
                _ => {}
            }
        }
        packages
    }

    fn add_package(&mut self, index: &ProjectIndex<'a>, id: FileId) {
        let file = index.file(id);
        self.by_folder.insert(folder_of(&file.path), id);
        if let Some(name) = manifest_value(&file.facts, "package.name").filter(|name| !name.is_empty()) {
            self.by_name.entry(name).or_default().push(id);
        }
        self.add_workspaces(index, id);
    }

    fn add_workspaces(&mut self, index: &ProjectIndex<'a>, id: FileId) {
        let file = index.file(id);
        let patterns: Vec<&str> = manifest_values(&file.facts, "package.workspaces").collect();
        if !patterns.is_empty() {
            self.workspaces.push((folder_of(&file.path), patterns));
        }
    }

    /// Adds a configuration to its folder: of several, one that maps modules takes precedence, then `tsconfig.json`.
    fn add_config(&mut self, index: &ProjectIndex<'a>, id: FileId) {
        let path = &index.file(id).path;
        let config = read_config(index, id, 0);
        let is_main = path.ends_with("tsconfig.json");
        let is_mapping = |config: &ScriptConfig<'_>| !config.paths.is_empty() || config.base_url.is_some();
        let folder = folder_of(path);
        let is_better = self.configs.get(folder).is_none_or(|known| {
            is_mapping(&config) && !is_mapping(known) || is_main && is_mapping(&config) == is_mapping(known)
        });
        if is_better {
            self.configs.insert(folder, config);
        }
    }

    /// Returns the nearest configuration above a file.
    pub(in crate::references) fn config_of(&self, path: &str) -> Option<&ScriptConfig<'a>> {
        nearest(&self.configs, path)
    }

    /// Returns the `package.json` of the package around a path.
    pub(in crate::references) fn package_around(&self, path: &str) -> Option<FileId> {
        nearest(&self.by_folder, path).copied()
    }

    /// Returns the `package.json` of a folder.
    pub(in crate::references) fn package_in(&self, folder: &str) -> Option<FileId> {
        self.by_folder.get(folder).copied()
    }

    /// Returns the manifests of the packages of a name.
    pub(in crate::references) fn packages(&self, name: &str) -> Option<&[FileId]> {
        self.by_name.get(name).map(Vec::as_slice)
    }

    /// Returns whether a package name means that package in a file: both are in one workspace, or the file is in the
    /// package.
    pub(in crate::references) fn is_linked(
        &self,
        index: &ProjectIndex<'_>,
        path: &str,
        package: FileId,
    ) -> bool {
        let folder = folder_of(&index.file(package).path);
        self.package_around(path) == Some(package)
            || self.workspaces.iter().any(|(root, patterns)| {
                below(root, path).is_some()
                    && below(root, folder).is_some_and(|folder| is_member(patterns, folder))
            })
    }
}

/// Reads a configuration and those that it extends; its own values take precedence.
fn read_config<'a>(index: &ProjectIndex<'a>, id: FileId, depth: usize) -> ScriptConfig<'a> {
    let file = index.file(id);
    let (facts, folder) = (&*file.facts, folder_of(&file.path));
    let paths = manifest_keys(facts, "paths ");
    let mut config = ScriptConfig {
        base_url: manifest_value(facts, "tsconfig.baseUrl").map(|base| relative_path(folder, base)),
        paths: paths.map(|(pattern, key)| (pattern, manifest_values(facts, key).collect())).collect(),
        paths_folder: folder.to_owned(),
        is_of_javascript: file.path.ends_with("jsconfig.json"),
    };
    let mut extended: Vec<&str> = manifest_values(facts, "tsconfig.extends").collect();
    extended.reverse();
    for name in extended.into_iter().filter(|name| name.starts_with('.') && depth < MAX_EXTENDS) {
        let path = relative_path(folder, name);
        let found = index.by_path.get(path.as_str());
        let Some(other) = found.or_else(|| index.by_path.get(format!("{path}.json").as_str())) else {
            continue;
        };
        if index.file(*other).language != "json" {
            continue;
        }
        let other = read_config(index, *other, depth + 1);
        if config.base_url.is_none() {
            config.base_url = other.base_url;
        }
        if config.paths.is_empty() {
            (config.paths, config.paths_folder) = (other.paths, other.paths_folder);
        }
    }
    config
}

/// Returns the keys of a manifest with a prefix: the rest of each, and the key itself.
pub(in crate::references) fn manifest_keys<'a>(
    facts: &'a SourceFacts,
    prefix: &'static str,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let first = facts.names.partition_point(|name| name.as_str() < prefix);
    let keys =
        facts.names[first..].iter().map_while(move |key| Some((key.strip_prefix(prefix)?, key.as_str())));
    keys.filter(|(_, key)| manifest_value(facts, key).is_some())
}

/// Returns the value of the pattern that matches a module best, and what its `*` matches: a pattern without `*`, or the
/// one with the most text before it.
pub(in crate::references) fn best_pattern<'p, 'm, T>(
    patterns: impl Iterator<Item = (&'p str, T)>,
    module: &'m str,
) -> Option<(T, &'m str)> {
    let mut best = None;
    let mut best_length = 0;
    for (pattern, found) in patterns {
        let Some((before, after)) = pattern.split_once('*') else {
            if pattern == module {
                return Some((found, ""));
            }
            continue;
        };
        let rest = module.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
        if let Some(rest) = rest.filter(|_| best.is_none() || best_length < before.len()) {
            best = Some((found, rest));
            best_length = before.len();
        }
    }
    best
}

/// Returns the path that a relative path means in a folder.
pub(in crate::references) fn relative_path(folder: &str, relative: &str) -> String {
    let mut path = folder.to_owned();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => path.truncate(folder_of(&path).len()),
            _ => path = joined(&path, part),
        }
    }
    path
}

/// Returns the entry of the nearest folder above a path.
fn nearest<'t, T>(table: &'t FxHashMap<&str, T>, path: &str) -> Option<&'t T> {
    let mut folder = folder_of(path);
    loop {
        let found = table.get(folder);
        if found.is_some() || folder.is_empty() {
            return found;
        }
        folder = folder_of(folder);
    }
}

/// Returns the rest of a path below a folder.
pub(super) fn below<'p>(folder: &str, path: &'p str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if folder.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

/// Returns whether the patterns of a workspace include a folder; those after `!` exclude it.
fn is_member(patterns: &[&str], folder: &str) -> bool {
    let mut is_in = false;
    for pattern in patterns {
        match pattern.strip_prefix('!') {
            Some(pattern) if is_match(pattern, folder) => return false,
            Some(_) => {}
            None => is_in |= is_match(pattern, folder),
        }
    }
    is_in
}

/// Returns whether a pattern matches a path: `*` is any part of a name, `**` any number of folders.
fn is_match(pattern: &str, path: &str) -> bool {
    let pattern: Vec<&str> = pattern.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let path: Vec<&str> = path.split('/').collect();
    let (mut next, mut at) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < path.len() {
        match pattern.get(next) {
            Some(&"**") => {
                next += 1;
                retry = Some((next, at));
            }
            Some(part) if is_part(part, path[at]) => {
                next += 1;
                at += 1;
            }
            _ => {
                let Some((after, from)) = retry else { return false };
                retry = Some((after, from + 1));
                (next, at) = (after, from + 1);
            }
        }
    }
    pattern[next..].iter().all(|part| *part == "**")
}

fn is_part(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| rest.ends_with(after)),
        None => pattern == name,
    }
}
