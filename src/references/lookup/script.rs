//! TypeScript: the tables of names that need no import, and of the language's own generic types.

use rustc_hash::FxHashMap;

use super::script_packages::below;
use crate::model::{
    AUGMENTED_MODULE, BindingFact, BindingValue, GLOBAL_FILE, ScopeId, ScopeKind, SourceFacts,
};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex, folder_of};
use crate::references::values::Value;

/// Types of the language whose values contain others.
pub(in crate::references) const CONTAINERS: [&str; 16] = [
    "Array", "ReadonlyArray", "Set", "ReadonlySet", "WeakSet", "Map", "ReadonlyMap", "WeakMap", "Promise",
    "PromiseLike", "Iterable", "IterableIterator", "Iterator", "Generator", "AsyncIterable",
    "AsyncGenerator",
];

/// Folders whose names Nuxt imports into all other files
/// (<https://nuxt.com/docs/4.x/guide/concepts/auto-imports>); stores are those of its module for Pinia.
const NUXT_FOLDERS: [&str; 3] = ["composables", "utils", "stores"];

/// Declarations that no import names.
#[derive(Default)]
pub(in crate::references) struct ScriptGlobals<'a> {
    /// The bindings of each name; of several interfaces the first.
    pub(in crate::references) names: FxHashMap<&'a str, Vec<(FileId, &'a BindingFact)>>,
    /// The declarations of modules that may be of other projects.
    modules: FxHashMap<&'a str, DefinitionKey>,
    /// The bodies in which `declare module` adds to a module.
    pub(in crate::references) augmented: Vec<DefinitionKey>,
    /// The Vue components of each name that they may be registered by.
    components: FxHashMap<String, Vec<FileId>>,
}

impl<'a> ScriptGlobals<'a> {
    /// Finds the declarations, and records which of them add members to another one.
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut globals = Self::default();
        let is_nuxt =
            |path: &str| path.rsplit('/').next().is_some_and(|name| name.starts_with("nuxt.config."));
        let nuxt =
            index.files.iter().map(|file| file.path.as_str()).find(|path| is_nuxt(path)).map(folder_of);
        for (id, file) in (0..).zip(index.files) {
            if index.rules[id as usize] != Some(NameRules::Script) {
                continue;
            }
            let facts = &*file.facts;
            if file.language == "vue" {
                for name in component_names(&file.path) {
                    globals.components.entry(name).or_default().push(id);
                }
            }
            let below = nuxt.and_then(|folder| below(folder, &file.path));
            if below.is_some_and(|path| folder_of(path).split('/').any(|name| NUXT_FOLDERS.contains(&name))) {
                globals.add_scope(id, facts, 0);
            }
            let is_declaration = [".d.ts", ".d.mts", ".d.cts"].iter().any(|end| file.path.ends_with(end));
            let is_global = is_declaration && facts.find_name(GLOBAL_FILE).is_some();
            for (scope, fact) in (0..).zip(&facts.scopes) {
                if fact.kind != ScopeKind::Module {
                    continue;
                }
                match fact.definition {
                    Some(definition) if is_augmented(facts, scope) => {
                        let key = DefinitionKey { file: id, definition };
                        globals.modules.entry(index.name(key)).or_insert(key);
                        globals.augmented.push(key);
                    }
                    None if scope != 0 || is_global => globals.add_scope(id, facts, scope),
                    _ => {}
                }
            }
        }
        globals
    }

    fn add_scope(&mut self, file: FileId, facts: &'a SourceFacts, scope: ScopeId) {
        for binding in bindings_in(facts, scope) {
            let name = facts.name(binding.name);
            let is_imported = matches!(binding.value, BindingValue::Import(_));
            // A container of the language is known by its arguments.
            if !is_imported && !name.starts_with('(') && !CONTAINERS.contains(&name) {
                self.names.entry(name).or_default().push((file, binding));
            }
        }
    }

    /// Returns the declaration of a module.
    pub(in crate::references) fn module(&self, name: &str) -> Option<Value> {
        self.modules.get(name).copied().map(Value::Definition)
    }

    /// Returns the files of the components that may be registered under a name.
    pub(in crate::references) fn components(&self, name: &str) -> Vec<FileId> {
        self.components.get(name).cloned().unwrap_or_default()
    }
}

/// Returns the names that a Vue component in a folder `components` may be registered by: that of its file, and the one
/// that Nuxt makes of its path, without the folders that the file's name repeats.
fn component_names(path: &str) -> Vec<String> {
    let nested = || path.split_once("/components/").map(|(_, below)| below);
    let Some(below) = below("components", path).or_else(nested) else { return Vec::new() };
    let (folder, file) = below.rsplit_once('/').unwrap_or(("", below));
    let own = pascal_case(file.split('.').next().unwrap_or_default());
    let folders: Vec<String> = folder.split('/').map(pascal_case).collect();
    let repeated = (0..folders.len()).find(|from| own.starts_with(&folders[*from..].concat()));
    let mut names = vec![folders[..repeated.unwrap_or(folders.len())].concat() + &own];
    if own == "Index" {
        names = vec![folders.concat()];
    } else if names[0] != own {
        names.push(own);
    }
    names
}

fn pascal_case(name: &str) -> String {
    let capitalized = |word: &str| {
        let mut letters = word.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect::<String>())
            .unwrap_or_default()
    };
    name.split(['-', '_']).map(capitalized).collect()
}

fn is_augmented(facts: &SourceFacts, scope: ScopeId) -> bool {
    facts.find_name(AUGMENTED_MODULE).is_some_and(|name| !facts.bindings_of(scope, name).is_empty())
}

/// Returns the bindings of a scope.
pub(in crate::references) fn bindings_in(facts: &SourceFacts, scope: ScopeId) -> &[BindingFact] {
    let first = facts.bindings.partition_point(|binding| binding.scope < scope);
    let count = facts.bindings[first..].partition_point(|binding| binding.scope == scope);
    &facts.bindings[first..first + count]
}

#[cfg(test)]
mod tests {
    use super::component_names;

    #[test]
    fn a_component_has_the_name_of_its_file_and_of_its_folders() {
        let check = |path: &str, expected: &[&str]| assert_eq!(component_names(path), expected, "{path}");
        check("app/components/common/CommonTooltip.vue", &["CommonTooltip"]);
        check("components/base/form/Input.client.vue", &["BaseFormInput", "Input"]);
        check("components/song-list/index.vue", &["SongList"]);
        check("src/components/größe.vue", &["Größe"]);
        check("src/error.vue", &[]);
        check("mycomponents/Input.vue", &[]);
        check("my-components/components/Input.vue", &["Input"]);
    }
}
