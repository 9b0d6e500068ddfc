//! JavaScript and TypeScript: the files that the name of a module means.

use crate::references::evaluation::ModuleTables;
use crate::references::lookup::{best_pattern, manifest_keys, relative_path};
use crate::references::project::{FileId, NameRules, folder_of, joined, manifest_values, shared_prefix};
use crate::references::values::{Value, ValueSet};

/// Folders of build output, whose sources are in `src`.
const OUTPUT_FOLDERS: [&str; 14] = [
    "dist", "lib", "build", "out", "output", "es", "esm", "cjs", "umd", "commonjs", "module", "types",
    "typings", "dts",
];

/// Extensions of modules; `.d.ts` precedes `.ts`, which is a suffix of it.
const ENDINGS: [&str; 11] =
    [".d.ts", ".d.mts", ".d.cts", ".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs"];

/// Beginnings of modules that bundlers map to the folders of a package's sources: those of Vite, Nuxt and `SvelteKit`.
const SOURCE_ALIASES: [(&str, &[&str]); 6] = [
    ("@/", &["src", "app", ""]),
    ("~/", &["src", "app", ""]),
    ("@@/", &[""]),
    ("~~/", &[""]),
    ("$lib/", &["src/lib"]),
    ("#shared/", &["shared"]),
];

/// The files of some paths of a manifest, and whether they are those files themselves rather than their sources.
struct EntryFiles {
    files: Vec<FileId>,
    is_exact: bool,
}

impl ModuleTables<'_> {
    /// Returns the meaning of a module in a script: a relative path, a path mapped by `paths` of its `tsconfig.json`, a
    /// package of the project, or a path in the package around the file, which is tried below its folders from the
    /// innermost to the outermost. Unknown if the manifests name a file that does not exist.
    pub(in crate::references) fn script_module(&self, from: FileId, module: &str) -> ValueSet {
        let folder = folder_of(&self.index.file(from).path);
        if module.starts_with('.') {
            let mut path = relative_path(folder, module);
            // `.`, `..` and paths that end with a slash are folders.
            if matches!(module.rsplit('/').next(), Some("" | "." | "..")) {
                path = joined(&path, "index");
            }
            return self.script_path(&path).map_or(ValueSet::FOREIGN, one_file);
        }
        let configured = self.configured_module(from, module);
        if let Some(found) = configured.as_ref().filter(|found| !found.values.is_empty()) {
            return found.clone();
        }
        let packaged = self.package_module(from, module);
        if let Some(found) = packaged.as_ref().filter(|found| !found.values.is_empty()) {
            return found.clone();
        }
        let is_named = configured.is_some() || packaged.is_some();
        let unknown = if is_named { ValueSet::UNKNOWN } else { ValueSet::FOREIGN };
        self.module_around(folder, module).map_or(unknown, one_file)
    }

    /// Returns what the nearest `tsconfig.json` maps a module to; `None` if it does not map it.
    fn configured_module(&self, from: FileId, module: &str) -> Option<ValueSet> {
        let file = self.index.file(from);
        let config = self.script.config_of(&file.path)?;
        let is_sure = file.language != "javascript" || config.is_of_javascript;
        let mapped = best_pattern(config.paths.iter().map(|(pattern, targets)| (*pattern, targets)), module);
        if let Some((targets, rest)) = mapped {
            let folder = config.base_url.as_deref().unwrap_or(&config.paths_folder);
            for target in targets {
                let path = relative_path(folder, &target.replacen('*', rest, 1));
                let found =
                    self.script_path(&path).map(|file| EntryFiles { files: vec![file], is_exact: true });
                if let Some(found) = found.or_else(|| self.package_entry(&path)) {
                    return Some(found.into_values(is_sure));
                }
            }
        }
        let below = config.base_url.as_ref().and_then(|base| self.script_path(&joined(base, module)));
        if let Some(file) = below {
            return Some(EntryFiles { files: vec![file], is_exact: true }.into_values(is_sure));
        }
        // Types of other projects are mapped too, and `*` matches anything.
        let (targets, rest) = mapped?;
        let is_foreign = rest == module || targets.iter().any(|target| target.contains("node_modules"));
        (!is_foreign).then_some(ValueSet::UNKNOWN)
    }

    /// Returns the entry of the package in a folder, or the sources of a path in the output of a package.
    fn package_entry(&self, path: &str) -> Option<EntryFiles> {
        if let Some(package) = self.script.package_in(path) {
            return Some(self.package_files(package, ".")).filter(|found| !found.files.is_empty());
        }
        let package = self.script.package_around(path)?;
        let folder = folder_of(&self.index.file(package).path);
        let file = self.source_of(folder, path.strip_prefix(folder)?.trim_start_matches('/'))?;
        Some(EntryFiles { files: vec![file], is_exact: false })
    }

    /// Returns the meaning of a package name of the project, or of `#a` in its own package; `None` if there is no such
    /// package.
    fn package_module(&self, from: FileId, module: &str) -> Option<ValueSet> {
        let path = &self.index.file(from).path;
        if module.starts_with('#') {
            let package = self.script.package_around(path)?;
            let facts = self.index.facts(package);
            let (key, rest) = best_pattern(manifest_keys(facts, "imports "), module)?;
            let targets: Vec<&str> = manifest_values(facts, key).collect();
            let found = self.entry_files(folder_of(&self.index.file(package).path), &targets, rest);
            return Some(found.into_values(true));
        }
        let mut name = module;
        let candidates = loop {
            if let Some(candidates) = self.script.packages(name) {
                break candidates;
            }
            name = name.rsplit_once('/')?.0;
        };
        let shared = |package: &FileId| shared_prefix(&self.index.file(*package).path, path);
        let nearest = candidates
            .iter()
            .copied()
            .max_by_key(|package| (shared(package), std::cmp::Reverse(*package)))?;
        let is_linked = candidates.len() == 1 && self.script.is_linked(self.index, path, nearest);
        Some(self.package_files(nearest, &format!(".{}", &module[name.len()..])).into_values(is_linked))
    }

    /// Returns the files of a package that `.` or `./path` in it means.
    fn package_files(&self, package: FileId, below: &str) -> EntryFiles {
        let (facts, folder) = (self.index.facts(package), folder_of(&self.index.file(package).path));
        let mut found = EntryFiles { files: Vec::new(), is_exact: false };
        if let Some((key, rest)) = best_pattern(manifest_keys(facts, "exports "), below) {
            let targets: Vec<&str> = manifest_values(facts, key).collect();
            found = self.entry_files(folder, &targets, rest);
        }
        let main: Vec<&str> = manifest_values(facts, "package.main").filter(|_| below == ".").collect();
        if found.files.is_empty() {
            found = self.entry_files(folder, &main, "");
        }
        if !found.files.is_empty() {
            return found;
        }
        // Without an entry in the manifest, a path is relative to the package's folder.
        let is_said = !main.is_empty() || manifest_keys(facts, "exports ").next().is_some();
        let path = below.trim_start_matches(['.', '/']);
        let path = if path.is_empty() { "index" } else { path };
        let beside = self.script_path(&joined(folder, path));
        let source = || self.script_path(&joined(&joined(folder, "src"), path));
        let file = beside.or_else(|| self.source_of(folder, path)).or_else(source);
        EntryFiles { files: file.into_iter().collect(), is_exact: beside.is_some() && !is_said }
    }

    /// Returns the files of some paths of a manifest, in which `*` is replaced by `rest`.
    fn entry_files(&self, folder: &str, targets: &[&str], rest: &str) -> EntryFiles {
        let mut found = EntryFiles { files: Vec::new(), is_exact: true };
        for target in targets {
            let target = target.replace('*', rest);
            let path = relative_path(folder, &target);
            let exact = self.script_path(&path);
            let source = || self.source_of(folder, target.trim_start_matches("./"));
            let Some(file) = exact.or_else(source) else { continue };
            found.is_exact &= exact.is_some();
            if !found.files.contains(&file) {
                found.files.push(file);
            }
        }
        // Declaration files describe the other files, which are preferred.
        let is_declaration = |file: &FileId| {
            let path = &self.index.file(*file).path;
            [".d.ts", ".d.mts", ".d.cts"].iter().any(|ending| path.ends_with(ending))
        };
        if !found.files.iter().all(is_declaration) {
            found.files.retain(|file| !is_declaration(file));
        }
        found
    }

    /// Returns the source of a path in the output of a package: `dist/esm/a.mjs` is built from `src/a.ts` or `a.ts`.
    fn source_of(&self, folder: &str, path: &str) -> Option<FileId> {
        let mut below = path;
        while let Some((_, rest)) = below.split_once('/').filter(|(first, _)| OUTPUT_FOLDERS.contains(first))
        {
            below = rest;
        }
        if below.len() == path.len() {
            return None;
        }
        let stem = ENDINGS.iter().find_map(|ending| below.strip_suffix(ending)).unwrap_or(below);
        let sources = joined(folder, "src");
        // Output may keep the folder of the sources.
        [joined(&sources, stem), joined(folder, stem)].iter().find_map(|path| self.script_path(path))
    }

    /// Returns the file of a path in a package around a folder.
    fn module_around(&self, folder: &str, module: &str) -> Option<FileId> {
        let alias =
            SOURCE_ALIASES.iter().find_map(|(alias, folders)| Some((*folders, module.strip_prefix(alias)?)));
        // `@scope/package/path` or `package/path`. A package without a path usually belongs to another project.
        let parts = if module.starts_with('@') { 2 } else { 1 };
        let in_package = || Some((&["src"][..], module.splitn(parts + 1, '/').nth(parts)?));
        let (sources, path) = alias.or_else(in_package)?;
        let mut folder = folder;
        loop {
            let mut candidates = sources.iter().map(|below| joined(&joined(folder, below), path));
            if let Some(found) = candidates.find_map(|path| self.script_path(&path)) {
                return Some(found);
            }
            if folder.is_empty() {
                return None;
            }
            folder = folder_of(folder);
        }
    }

    /// Returns the file of a path without its extension, or with the extension of its compiled form.
    fn script_path(&self, path: &str) -> Option<FileId> {
        let endings = [".js", ".mjs", ".cjs", ".jsx"];
        let stem = endings.iter().find_map(|ending| path.strip_suffix(ending)).unwrap_or(path);
        let stems = [stem.to_owned(), path.to_owned(), joined(path, "index")];
        let endings = ["", ".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs"];
        let mut candidates =
            stems.iter().flat_map(|stem| endings.iter().map(move |ending| format!("{stem}{ending}")));
        candidates.find_map(|path| {
            let file = *self.index.by_path.get(path.as_str())?;
            (self.index.rules[file as usize] == Some(NameRules::Script)).then_some(file)
        })
    }
}

impl EntryFiles {
    /// Returns the modules of the files; the set is complete if the manifest `is_binding`.
    fn into_values(self, is_binding: bool) -> ValueSet {
        let is_complete = is_binding && self.is_exact && self.files.len() == 1;
        ValueSet { values: self.files.into_iter().map(Value::Module).collect(), is_complete }
    }
}

fn one_file(file: FileId) -> ValueSet {
    ValueSet::one(Value::Module(file))
}
