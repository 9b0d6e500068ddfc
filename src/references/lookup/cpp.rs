//! C++: the namespaces of a project, and their declarations.

use rustc_hash::{FxHashMap, FxHashSet};

use super::includes::IncludePaths;
use crate::model::{
    BindingFact, BindingValue, DefinitionFlags, DefinitionKind, ScopeId, ScopeKind, SourceFacts,
};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex, Site};

/// The maximum number of declarations of one name in one namespace that are considered.
pub(in crate::references) const MAX_DECLARATIONS: usize = 64;

/// The members of a namespace, in all files.
#[derive(Default)]
pub(in crate::references) struct CppNamespace<'a> {
    pub(in crate::references) path: String,
    pub(in crate::references) members: FxHashMap<&'a str, Vec<(FileId, &'a BindingFact)>>,
}

/// The namespaces of a project, and the definitions outside of types.
#[derive(Default)]
pub(in crate::references) struct CppTables<'a> {
    pub(in crate::references) namespaces: Vec<CppNamespace<'a>>,
    pub(in crate::references) ids: FxHashMap<String, u32>,
    /// The namespace of each file and scope that is the body of one, or the scope of a definition `a::f` in one.
    pub(in crate::references) scopes: FxHashMap<Site, u32>,
    /// The definitions `A::f` by the last name of `A` and by `f`.
    pub(in crate::references) outlined: FxHashMap<(&'a str, &'a str), Vec<DefinitionKey>>,
    /// For each file, the scopes with the namespaces whose members are visible in them.
    pub(in crate::references) usings: FxHashMap<FileId, Vec<(ScopeId, &'a str)>>,
    /// The names of macros.
    pub(in crate::references) macros: FxHashSet<&'a str>,
    pub(in crate::references) paths: IncludePaths<'a>,
}

impl<'a> CppTables<'a> {
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut tables = Self::default();
        if !index.rules.contains(&Some(NameRules::Cpp)) {
            return tables;
        }
        tables.paths = IncludePaths::new(index);
        tables.namespace("");
        let is_read = |id: FileId| matches!(index.rules[id as usize], Some(NameRules::Cpp | NameRules::C));
        for id in (0..).take(index.files.len()).filter(|id| is_read(*id)) {
            tables.add_file(id, index.facts(id));
        }
        // The namespaces of all files are known.
        for id in (0..).take(index.files.len()).filter(|id| is_read(*id)) {
            tables.add_outlined_functions(index, id);
        }
        tables
    }

    fn namespace(&mut self, path: &str) -> u32 {
        if let Some(known) = self.ids.get(path) {
            return *known;
        }
        let id = u32::try_from(self.namespaces.len()).unwrap_or(u32::MAX);
        self.namespaces.push(CppNamespace { path: path.to_owned(), members: FxHashMap::default() });
        self.ids.insert(path.to_owned(), id);
        id
    }

    fn add_file(&mut self, file: FileId, facts: &'a SourceFacts) {
        self.scopes.insert(Site { file, scope: 0 }, 0);
        for (at, scope) in (0..).zip(&facts.scopes) {
            let Some(definition) = scope.definition else { continue };
            let fact = &facts.definitions[definition as usize];
            if scope.kind != ScopeKind::Module {
                continue;
            }
            let around = self.scopes.get(&Site { file, scope: scope.parent }).copied().unwrap_or(0);
            // Members of inline and unnamed namespaces are visible in the enclosing namespace.
            let id = if fact.flags.has(DefinitionFlags::STATIC) {
                around
            } else {
                let path = joined_namespace(&self.namespaces[around as usize].path, facts.name(fact.name));
                self.namespace(&path)
            };
            self.scopes.insert(Site { file, scope: at }, id);
        }
        for binding in &facts.bindings {
            let name = facts.name(binding.name);
            if let BindingValue::Definition(definition) = binding.value
                && facts.definitions[definition as usize].kind == DefinitionKind::Macro
            {
                self.macros.insert(name);
            }
            let Some(namespace) = self.scopes.get(&Site { file, scope: binding.scope }) else { continue };
            let members = self.namespaces[*namespace as usize].members.entry(name).or_default();
            if members.len() < MAX_DECLARATIONS {
                members.push((file, binding));
            }
        }
        for (at, fact) in (0..).zip(&facts.definitions) {
            let scope = facts.scope(fact.scope);
            if let (ScopeKind::Implementation, Some(owner)) = (scope.kind, scope.definition) {
                let owner = facts.name(facts.definitions[owner as usize].name);
                let owner = owner.rsplit('.').next().unwrap_or(owner);
                let key = DefinitionKey { file, definition: at };
                self.outlined.entry((owner, facts.name(fact.name))).or_default().push(key);
            }
        }
        for import in facts.imports.iter().filter(|import| !import.is_star) {
            self.usings.entry(file).or_default().push((import.scope, facts.name(import.module)));
        }
    }

    /// Adds the definitions `a::f` of functions to the namespace `a`.
    fn add_outlined_functions(&mut self, index: &ProjectIndex<'a>, file: FileId) {
        let facts = index.facts(file);
        for (at, scope) in (0..).zip(&facts.scopes) {
            let Some(owner) = scope.definition.filter(|_| scope.kind == ScopeKind::Implementation) else {
                continue;
            };
            let Some(around) = self.scopes.get(&Site { file, scope: scope.parent }) else { continue };
            let owner = facts.name(facts.definitions[owner as usize].name).replace('.', "::");
            let Some(namespace) = self.qualifying_namespace(index, *around, &owner) else { continue };
            self.scopes.insert(Site { file, scope: at }, namespace);
            let first = facts.bindings.partition_point(|binding| binding.scope < at);
            for binding in facts.bindings[first..].iter().take_while(|binding| binding.scope == at) {
                let members = &mut self.namespaces[namespace as usize].members;
                let members = members.entry(facts.name(binding.name)).or_default();
                if members.len() < MAX_DECLARATIONS {
                    members.push((file, binding));
                }
            }
        }
    }

    /// Returns the namespace that a qualifier means within another namespace; `None` if it may be a type.
    fn qualifying_namespace(&self, index: &ProjectIndex<'a>, around: u32, qualifier: &str) -> Option<u32> {
        let is_type = |(file, binding): &(FileId, &BindingFact)| match binding.value {
            BindingValue::Definition(definition) => {
                let kind = index.facts(*file).definitions[definition as usize].kind;
                matches!(kind, DefinitionKind::Class | DefinitionKind::Alias)
            }
            _ => false,
        };
        let last = qualifier.rsplit("::").next().unwrap_or(qualifier);
        let mut outer = self.namespaces[around as usize].path.as_str();
        loop {
            let path = joined_namespace(outer, qualifier);
            let owner = self.ids.get(outer_namespace(&path));
            let declared = owner.and_then(|owner| self.namespaces[*owner as usize].members.get(last));
            if declared.is_some_and(|declared| declared.iter().any(is_type)) {
                return None;
            }
            if let Some(found) = self.ids.get(&path) {
                return Some(*found);
            }
            if outer.is_empty() {
                return None;
            }
            outer = outer_namespace(outer);
        }
    }
}

/// Returns the path of the namespace that contains another one.
pub(in crate::references) fn outer_namespace(path: &str) -> &str {
    path.rsplit_once("::").map_or("", |(outer, _)| outer)
}

/// Returns the path of a member of a namespace.
pub(in crate::references) fn joined_namespace(outer: &str, inner: &str) -> String {
    if outer.is_empty() { inner.to_owned() } else { format!("{outer}::{inner}") }
}
