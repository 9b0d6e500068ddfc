//! Rust: the file of each module, the crate of each file, and the names by which others import a crate.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    BindingValue, DefinitionKind, FOLDER_OF_MODULES, ImportFact, ImportId, ScopeId, ScopeKind, SourceFacts,
};
use crate::references::project::{
    FileId, NameRules, ProjectIndex, Site, folder_of, joined, manifest_value, shared_prefix,
};

/// The maximum depth of a module below its crate's root.
const MAX_DEPTH: usize = 16;

/// The namespaces of Rust: one name may have a meaning in each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::references) enum Namespace {
    Types,
    Values,
    Macros,
}

/// The modules and crates of a project.
pub(in crate::references) struct RustModules {
    /// The file that each `mod x;` means.
    children: FxHashMap<(FileId, ImportId), FileId>,
    /// The scopes of the macros that are expanded to items in a module.
    expansions: FxHashMap<Site, Vec<Site>>,
    /// The module that declares each file.
    parents: FxHashMap<FileId, Site>,
    /// The names that imports give to something with another name.
    aliases: FxHashSet<String>,
    /// The root file of each library by the name it is imported by, and whether a manifest says so.
    crates: FxHashMap<String, (FileId, bool)>,
    /// The root files of renamed dependencies, by the folder of the manifest and by the new name.
    renamed: FxHashMap<String, FxHashMap<String, FileId>>,
}

impl RustModules {
    pub(in crate::references) fn new(index: &ProjectIndex<'_>) -> Self {
        let mut modules = Self {
            children: FxHashMap::default(),
            expansions: FxHashMap::default(),
            parents: FxHashMap::default(),
            aliases: FxHashSet::default(),
            crates: FxHashMap::default(),
            renamed: FxHashMap::default(),
        };
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] == Some(NameRules::Rust) {
                modules.add_children(index, id);
                modules.add_expansions(index, id);
                modules.add_aliases(&file.facts);
                // Without a manifest a crate usually has the name of its folder.
                if let Some(folder) = file.path.strip_suffix("/src/lib.rs")
                    && !index.by_path.contains_key(format!("{folder}/Cargo.toml").as_str())
                {
                    let name = folder.rsplit('/').next().unwrap_or_default().replace('-', "_");
                    modules.crates.entry(name).or_insert((id, false));
                }
            }
        }
        let manifests: Vec<(&str, &SourceFacts)> = index
            .files
            .iter()
            .filter_map(|file| {
                let folder = file.path.strip_suffix("Cargo.toml")?.trim_end_matches('/');
                Some((folder, &*file.facts))
            })
            .collect();
        for (folder, manifest) in &manifests {
            modules.add_crate(index, folder, manifest);
        }
        for (folder, manifest) in &manifests {
            modules.add_renamed(folder, manifest);
        }
        modules
    }

    /// Returns the root file of the library that a file imports by a name, and whether a manifest says so.
    pub(in crate::references) fn library(&self, path: &str, name: &str) -> Option<(FileId, bool)> {
        let mut folder = if self.renamed.is_empty() { "" } else { folder_of(path) };
        loop {
            if let Some(root) = self.renamed.get(folder).and_then(|names| names.get(name)) {
                return Some((*root, true));
            }
            if folder.is_empty() {
                return self.crates.get(name).copied();
            }
            folder = folder_of(folder);
        }
    }

    /// Returns the module that declares a file.
    pub(in crate::references) fn parent(&self, file: FileId) -> Option<Site> {
        self.parents.get(&file).copied()
    }

    /// Returns the file that a `mod x;` means.
    pub(in crate::references) fn child(&self, file: FileId, import: ImportId) -> Option<FileId> {
        self.children.get(&(file, import)).copied()
    }

    /// Returns the scopes of the macros that expand to the items of a module.
    pub(in crate::references) fn expansions(&self, site: Site) -> &[Site] {
        self.expansions.get(&site).map_or(&[], Vec::as_slice)
    }

    fn add_expansions(&mut self, index: &ProjectIndex<'_>, file: FileId) {
        let facts = index.facts(file);
        for usage in facts.uses.iter().filter(|usage| usage.is_type && usage.is_call) {
            if facts.scope(usage.scope).kind != ScopeKind::Module {
                continue;
            }
            let named = index.by_name.get(facts.name(usage.name)).map_or(&[][..], Vec::as_slice);
            let with_items = named.iter().filter_map(|key| {
                let fact = index.definition(*key);
                Some(key.at(fact.body.filter(|_| fact.kind == DefinitionKind::Macro)?))
            });
            let path = &index.file(file).path;
            let nearest = with_items.max_by_key(|Site { file: other, .. }| {
                (*other == file, shared_prefix(&index.file(*other).path, path), std::cmp::Reverse(*other))
            });
            if let Some(nearest) = nearest {
                self.expansions.entry(Site { file, scope: usage.scope }).or_default().push(nearest);
            }
        }
    }

    fn add_crate(&mut self, index: &ProjectIndex<'_>, folder: &str, manifest: &SourceFacts) {
        let path = manifest_value(manifest, "lib.path").unwrap_or("src/lib.rs");
        let name = manifest_value(manifest, "lib.name").or_else(|| manifest_value(manifest, "package.name"));
        if let (Some(name), Some(root)) = (name, index.by_path.get(joined(folder, path).as_str())) {
            self.crates.insert(name.replace('-', "_"), (*root, true));
        }
    }

    /// Adds the dependencies that a manifest renames.
    fn add_renamed(&mut self, folder: &str, manifest: &SourceFacts) {
        for binding in &manifest.bindings {
            let key = manifest.name(binding.name);
            let Some(name) = key.strip_prefix("dependency.") else { continue };
            let package = manifest_value(manifest, key).unwrap_or_default().replace('-', "_");
            if let Some((root, true)) = self.crates.get(&package) {
                self.renamed.entry(folder.to_owned()).or_default().insert(name.to_owned(), *root);
            }
        }
    }

    fn add_aliases(&mut self, facts: &SourceFacts) {
        for binding in &facts.bindings {
            if let BindingValue::Import(import) = binding.value
                && facts.imports[import as usize].name.is_some_and(|name| name != binding.name)
            {
                self.aliases.insert(facts.name(binding.name).to_owned());
            }
        }
    }

    /// Returns whether an import gives this name to something with another name.
    pub(in crate::references) fn is_alias(&self, name: &str) -> bool {
        self.aliases.contains(name)
    }

    fn add_children(&mut self, index: &ProjectIndex<'_>, file: FileId) {
        let facts = index.facts(file);
        for (id, import) in (0..).zip(&facts.imports) {
            let parent = Site { file, scope: module_scope(facts, import.scope) };
            if let Some(folder) = declared_folder(index, file, facts.name(import.module)) {
                let folder = index.folder_ids.get(folder.as_str());
                let files = folder.map_or(&[][..], |folder| &index.folders[*folder as usize].1);
                for child in files.iter().filter(|child| **child != file) {
                    self.parents.entry(*child).or_insert(parent);
                }
            }
            if import.name.is_some() || import.is_star {
                continue;
            }
            if let Some(child) = child_file(index, file, import) {
                self.children.insert((file, id), child);
                self.parents.entry(child).or_insert(parent);
            }
        }
    }

    /// Returns the root file of a file's crate.
    pub(in crate::references) fn root(&self, mut file: FileId) -> FileId {
        for _ in 0..MAX_DEPTH {
            match self.parents.get(&file) {
                Some(parent) if parent.file != file => file = parent.file,
                _ => break,
            }
        }
        file
    }
}

/// Returns the module of that name among those that a macro declares for the files of a folder.
pub(in crate::references) fn child_of_folder(
    index: &ProjectIndex<'_>,
    file: FileId,
    module: &str,
    name: &str,
) -> Option<FileId> {
    let folder = declared_folder(index, file, module)?;
    let child = *index.by_path.get(joined(&folder, &format!("{name}.rs")).as_str())?;
    (child != file).then_some(child)
}

/// Returns the folder whose files are all modules, if an import stands for that; it is below the folder of the crate.
fn declared_folder(index: &ProjectIndex<'_>, file: FileId, module: &str) -> Option<String> {
    let below = module.strip_prefix(FOLDER_OF_MODULES)?;
    let mut folder = folder_of(&index.file(file).path);
    while !folder.is_empty() && !index.by_path.contains_key(joined(folder, "Cargo.toml").as_str()) {
        folder = folder_of(folder);
    }
    Some(joined(folder, below))
}

/// Returns the file that `mod x;` means.
fn child_file(index: &ProjectIndex<'_>, file: FileId, import: &ImportFact) -> Option<FileId> {
    let path = &index.file(file).path;
    let facts = index.facts(file);
    let name = facts.name(import.module);
    let folder = folder_of(path);
    if name.contains('.') {
        return index.by_path.get(below(folder, name).as_str()).copied();
    }
    let mut inner = String::new();
    let mut scope = module_scope(facts, import.scope);
    while scope != 0 {
        let fact = facts.scope(scope);
        let module = fact.definition.map_or("", |at| facts.name(facts.definitions[at as usize].name));
        inner = joined(module, &inner);
        scope = module_scope(facts, fact.parent.min(scope - 1));
    }
    let stem = path.rsplit('/').next().unwrap_or_default().trim_end_matches(".rs");
    let own = joined(folder, stem);
    // The root file of a binary or a test has its modules in the same folder, whatever its name.
    let folders: &[&str] = if matches!(stem, "mod" | "lib" | "main") { &[folder] } else { &[&own, folder] };
    folders.iter().find_map(|folder| {
        let module = joined(&joined(folder, &inner), name);
        let candidates = [format!("{module}.rs"), format!("{module}/mod.rs")];
        candidates.iter().find_map(|path| index.by_path.get(path.as_str()).copied())
    })
}

/// Returns a path below a folder, with `../` resolved.
fn below(folder: &str, path: &str) -> String {
    let (mut folder, mut rest) = (folder, path);
    while let Some(up) = rest.strip_prefix("../") {
        folder = folder_of(folder);
        rest = up;
    }
    joined(folder, rest.trim_start_matches("./"))
}

/// Returns the innermost module scope around a scope.
pub(in crate::references) fn module_scope(facts: &SourceFacts, mut scope: ScopeId) -> ScopeId {
    while scope != 0 && facts.scope(scope).kind != ScopeKind::Module {
        scope = facts.scope(scope).parent.min(scope - 1);
    }
    scope
}

/// Returns whether a name in that namespace may mean such a definition.
pub(in crate::references) fn fits(kind: DefinitionKind, space: Namespace) -> bool {
    match kind {
        DefinitionKind::Function => space == Namespace::Values,
        DefinitionKind::Class => space != Namespace::Macros,
        DefinitionKind::Interface | DefinitionKind::Alias | DefinitionKind::Module => {
            space == Namespace::Types
        }
        DefinitionKind::Macro => space == Namespace::Macros,
    }
}
