//! The meaning of an import, by language.

use rustc_hash::{FxHashMap, FxHashSet};

use super::evaluate::Evaluator;
use crate::model::{
    BindingFact, BindingValue, DefinitionFlags, ExpressionFact, ExpressionId, IMPLEMENTED_TRAIT, ImportFact,
    ImportId, NameId, ScopeKind, SourceFacts,
};
use crate::references::lookup::{
    CommonJsModules, CppTables, GoPackages, JavaPackages, RustModules, ScriptGlobals, ScriptPackages,
};
use crate::references::project::{
    DefinitionKey, FileId, NameRules, ProjectIndex, Site, folder_of, joined, shared_prefix,
};
use crate::references::values::{Value, ValueSet};

/// The tables that find the file of a module's name.
pub(in crate::references) struct ModuleTables<'a> {
    /// Python files by their dotted name, from the folder that contains their outermost package.
    python: FxHashMap<String, Vec<FileId>>,
    /// Names that Python modules and classes give to something with another name: `Old = New`.
    pub(in crate::references) python_aliases: FxHashSet<&'a str>,
    /// The star imports of each file.
    pub(in crate::references) stars: FxHashMap<FileId, Vec<ImportId>>,
    /// The scopes that add members to a type.
    pub(in crate::references) implementations: FxHashMap<DefinitionKey, Vec<Site>>,
    /// Bases of a type that are added outside of its own definition.
    pub(in crate::references) extra_bases: FxHashMap<DefinitionKey, Vec<(Site, ExpressionId)>>,
    pub(in crate::references) rust: RustModules,
    pub(in crate::references) go: GoPackages<'a>,
    pub(in crate::references) java: JavaPackages<'a>,
    pub(in crate::references) cpp: CppTables<'a>,
    pub(in crate::references) common_js: CommonJsModules<'a>,
    pub(in crate::references) script: ScriptPackages<'a>,
    pub(in crate::references) globals: ScriptGlobals<'a>,
    pub(in crate::references) index: &'a ProjectIndex<'a>,
}

impl<'a> ModuleTables<'a> {
    pub(in crate::references) fn new(index: &'a ProjectIndex<'a>) -> Self {
        let mut tables = Self {
            python: FxHashMap::default(),
            python_aliases: FxHashSet::default(),
            stars: FxHashMap::default(),
            implementations: FxHashMap::default(),
            extra_bases: FxHashMap::default(),
            rust: RustModules::new(index),
            go: GoPackages::new(index),
            java: JavaPackages::new(index),
            cpp: CppTables::new(index),
            common_js: CommonJsModules::new(index),
            script: ScriptPackages::new(index),
            globals: ScriptGlobals::new(index),
            index,
        };
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] == Some(NameRules::Python) {
                let name = python_module(index, &file.path);
                tables.python.entry(name).or_default().push(id);
                let aliases = file.facts.bindings.iter().filter(|binding| {
                    is_other_name(&file.facts, binding) || is_renamed_import(&file.facts, binding)
                });
                tables.python_aliases.extend(aliases.map(|binding| file.facts.name(binding.name)));
            }
            let stars = (0..).zip(&file.facts.imports).filter(|(_, import)| import.is_star);
            let stars: Vec<ImportId> = stars.map(|(at, _)| at).collect();
            if !stars.is_empty() {
                tables.stars.insert(id, stars);
            }
        }
        tables
    }

    /// Records that a scope adds members to a type.
    pub(super) fn add_implementation(&mut self, key: DefinitionKey, site: Site) {
        self.implementations.entry(key).or_default().push(site);
        let facts = self.index.facts(site.file);
        let added =
            facts.find_name(IMPLEMENTED_TRAIT).map_or(&[][..], |name| facts.bindings_of(site.scope, name));
        for binding in added {
            if let BindingValue::Value(base) = binding.value {
                self.extra_bases.entry(key).or_default().push((site.at(binding.at), base));
            }
        }
    }

    /// Returns the file or folder that a dotted name means in a Python file.
    fn python_module(&self, from: FileId, module: &str) -> Option<Value> {
        let path = &self.index.file(from).path;
        let dots = module.len() - module.trim_start_matches('.').len();
        if 0 < dots {
            let mut folder = folder_of(path);
            for _ in 1..dots {
                folder = folder_of(folder);
            }
            return self.python_path(&joined(folder, &module[dots..].replace('.', "/")));
        }
        if let Some(candidates) = self.python.get(module) {
            let shared = |file: &FileId| shared_prefix(&self.index.file(*file).path, path);
            // Of two modules with the same name, the nearer one; a module next to a script is visible only from its own
            // folder.
            let visible = candidates.iter().copied().filter(|file| {
                let candidate = &self.index.file(*file).path;
                module.contains('.') || candidate.ends_with("__init__.py") || {
                    let folder = folder_of(candidate);
                    matches!(folder, "" | "src" | "lib" | "Lib") || path.starts_with(folder)
                }
            });
            if let Some(nearest) = visible.max_by_key(|file| (shared(file), std::cmp::Reverse(*file))) {
                return Some(Value::Module(nearest));
            }
        }
        // A folder without `__init__.py` is a package too.
        let below = module.replace('.', "/");
        let own = folder_of(path);
        // A script is run from its own folder; a module of a package is not.
        let is_in_package = self.index.by_path.contains_key(joined(own, "__init__.py").as_str());
        let roots = ["", "src", "lib"].into_iter().chain(Some(own).filter(|_| !is_in_package));
        roots.into_iter().find_map(|root| self.python_path(&joined(root, &below)))
    }

    fn python_path(&self, path: &str) -> Option<Value> {
        for candidate in [format!("{path}/__init__.py"), format!("{path}.py"), format!("{path}/__init__.pyi")]
        {
            if let Some(file) = self.index.by_path.get(candidate.trim_start_matches('/')) {
                return Some(Value::Module(*file));
            }
        }
        self.index.folder_ids.get(path).map(|folder| Value::Folder(*folder))
    }
}

impl Evaluator<'_> {
    /// Returns the meaning of an import, by the rules of its language.
    pub(in crate::references) fn imported(&mut self, file: FileId, import: ImportId) -> ValueSet {
        let facts = self.index.facts(file);
        let Some(fact) = facts.imports.get(import as usize) else { return ValueSet::UNKNOWN };
        match self.index.rules(file) {
            NameRules::Rust => return self.rust_import(file, import, fact),
            NameRules::Go => return self.go_import(facts.name(fact.module)),
            NameRules::Java => return self.java_import(file, fact),
            _ => {}
        }
        let name = fact.name.map(|name| facts.name(name));
        self.module(file, fact).flat_map(|module| match (name, module) {
            (Some(name), _) => {
                let own = self.own_submodule(file, module, name);
                own.map_or_else(|| self.member(module, name), ValueSet::one)
            }
            (None, Value::Module(module)) => self.exported_whole(module),
            (None, _) => ValueSet::one(module),
        })
    }

    /// Returns the meaning of `from . import name` in `__init__.py`: as a member of the package, the name would be
    /// bound to this very import.
    fn own_submodule(&self, file: FileId, module: Value, name: &str) -> Option<Value> {
        let path = &self.index.file(file).path;
        let is_own = module == Value::Module(file) && path.ends_with("__init__.py");
        if is_own { self.modules.python_path(&joined(folder_of(path), name)) } else { None }
    }

    pub(in crate::references) fn module(&mut self, file: FileId, import: &ImportFact) -> ValueSet {
        let module = self.index.facts(file).name(import.module);
        let found = match self.index.rules(file) {
            NameRules::Python => self.modules.python_module(file, module),
            NameRules::Script => {
                let found = self.modules.script_module(file, module);
                let declared = self.modules.globals.module(module).filter(|_| found.values.is_empty());
                return declared.map_or(found, ValueSet::one);
            }
            NameRules::Go => self.go_import(module).values.first().copied(),
            _ => None,
        };
        found.map_or(ValueSet::FOREIGN, ValueSet::one)
    }

    /// Returns a name of a module, or of a scope in it.
    pub(super) fn member_of_module(&mut self, site: Site, name: &str) -> ValueSet {
        if self.index.rules(site.file) == NameRules::Rust {
            return self.rust_module_member(site, name);
        }
        let exported = if site.scope == 0 { self.exported_member(site.file, name) } else { None };
        if let Some(found) = exported {
            return found;
        }
        let is_hidden = site.scope == 0 && self.has_exports(site.file);
        if !is_hidden && let Some(found) = self.bound_in(site, name) {
            return found;
        }
        // Another file may add to a TypeScript namespace.
        if site.scope != 0 {
            return ValueSet::UNKNOWN;
        }
        if self.index.rules(site.file) == NameRules::Python
            && self.index.file(site.file).path.ends_with("/__init__.py")
        {
            let folder = folder_of(&self.index.file(site.file).path);
            if let Some(module) = self.modules.python_path(&joined(folder, name)) {
                return ValueSet::one(module);
            }
        }
        self.star_member(site.file, name)
    }

    /// Returns what the star imports of a file bring under that name.
    fn star_member(&mut self, file: FileId, name: &str) -> ValueSet {
        self.with_stars(file, name, &[], ValueSet::FOREIGN)
    }

    /// Returns the meaning of a name of a file that star imports may bind too. `own` has the other bindings of the name
    /// in the file, which mean `bound`.
    pub(super) fn with_stars(
        &mut self,
        file: FileId,
        name: &str,
        own: &[BindingFact],
        bound: ValueSet,
    ) -> ValueSet {
        let stars = self.modules.stars.get(&file).cloned().unwrap_or_default();
        if stars.is_empty() {
            return bound;
        }
        // Each file is queried once: the number of paths through a cycle of modules has no useful limit.
        let key = (file, name.to_owned());
        if let Some(known) = self.star_answers.get(&key) {
            return known.clone();
        }
        if self.star_depth(file, name) {
            return bound;
        }
        let mut found = bound;
        let is_script = self.index.rules(file) == NameRules::Script;
        for star in stars {
            let Some(fact) = self.index.facts(file).imports.get(star as usize) else { continue };
            // A binding of the file after a star import replaces it, except in the other branch of a statement.
            let is_before = |line: u32| own.iter().all(|binding| binding.line <= line);
            if !is_before(fact.branch_end.unwrap_or(fact.line)) {
                continue;
            }
            let modules = self.module(file, fact);
            let may_lack = modules.values.iter().any(|module| self.chooses_exports(*module));
            if !is_script && name.starts_with('_') && !may_lack {
                continue;
            }
            let mut member = modules.flat_map(|module| self.member(module, name));
            if is_script {
                member.values.retain(|value| !self.is_private_to_module(*value, name));
            }
            if member.values.is_empty() {
                if is_script && found.values.is_empty() {
                    found.is_complete &= member.is_complete;
                }
                continue;
            }
            let is_rival = !found.values.is_empty() && found.values != member.values;
            if fact.branch_end.is_some() {
                found.merge(member);
                found.is_complete &= !is_rival;
            } else {
                // The last one that has the name counts; an export list may lack the name.
                found = ValueSet { is_complete: member.is_complete && !(is_rival && may_lack), ..member };
            }
        }
        self.open_stars.pop();
        if self.open_stars.is_empty() {
            self.star_answers.clear();
        } else {
            self.star_answers.insert(key, found.clone());
        }
        found
    }

    /// Returns whether a Python module lists what a star import of it brings.
    fn chooses_exports(&self, module: Value) -> bool {
        let Value::Module(file) = module else { return false };
        let facts = self.index.facts(file);
        facts.find_name("__all__").is_some_and(|name| !facts.bindings_of(0, name).is_empty())
    }

    /// Returns whether a script's own definition of that name is not exported.
    fn is_private_to_module(&self, value: Value, name: &str) -> bool {
        let Value::Definition(key) = value else { return false };
        let fact = self.index.definition(key);
        fact.scope == 0 && fact.flags.has(DefinitionFlags::PRIVATE) && self.index.name(key) == name
    }

    /// Records that the star imports of a file are being followed for a name; returns whether they already were, or too
    /// many are.
    fn star_depth(&mut self, file: FileId, name: &str) -> bool {
        let is_open = 8 < self.open_stars.len()
            || self.open_stars.iter().any(|(open, of_name)| *open == file && of_name == name);
        if !is_open {
            self.open_stars.push((file, name.to_owned()));
        }
        is_open
    }

    pub(super) fn member_of_folder(&mut self, folder: u32, name: &str) -> ValueSet {
        let path = self.index.folders[folder as usize].0;
        match self.modules.python_path(&joined(path, name)) {
            Some(module) => ValueSet::one(module),
            None => self.go_member(folder, name).unwrap_or(ValueSet::FOREIGN),
        }
    }

    /// Returns the meaning of a name that no scope of its file binds.
    pub(in crate::references) fn outside(&mut self, file: FileId, name: NameId) -> ValueSet {
        let name = self.index.facts(file).name(name);
        if self.index.rules(file) == NameRules::Go
            && let Some(found) = self.go_outside(file, name)
        {
            return found;
        }
        if name == "exports" && self.has_exports(file) {
            return self.exported_whole(file);
        }
        let found = self.star_member(file, name);
        // A name that a script re-exports takes precedence over a global one.
        if self.is_script(file) && found.values.is_empty() { self.script_global(name) } else { found }
    }
}

/// Returns whether a binding of a module or a class gives another name to a named value: `Old = New`.
pub(in crate::references) fn is_other_name(facts: &SourceFacts, binding: &BindingFact) -> bool {
    let BindingValue::Value(value) = binding.value else { return false };
    binding.at == binding.scope
        && matches!(facts.scope(binding.scope).kind, ScopeKind::Module | ScopeKind::Class)
        && matches!(facts.expression(value), ExpressionFact::Name(_) | ExpressionFact::Member(..))
}

/// Returns whether a binding renames its import: `from a import b as c`.
fn is_renamed_import(facts: &SourceFacts, binding: &BindingFact) -> bool {
    let BindingValue::Import(import) = binding.value else { return false };
    facts.imports[import as usize].name.is_some_and(|name| name != binding.name)
}

/// Returns the dotted name of a file, from the folder that contains its outermost package.
fn python_module(index: &ProjectIndex<'_>, path: &str) -> String {
    let stem = path.strip_suffix(".py").or_else(|| path.strip_suffix(".pyi")).unwrap_or(path);
    let stem = stem.strip_suffix("/__init__").unwrap_or(stem);
    let mut root = folder_of(path);
    while !root.is_empty() && index.by_path.contains_key(format!("{root}/__init__.py").as_str()) {
        root = folder_of(root);
    }
    stem.strip_prefix(root).unwrap_or(stem).trim_start_matches('/').replace('/', ".")
}
