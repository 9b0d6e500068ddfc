//! The files of a project, and the tables that find a file or a definition by its name.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    BindingFact, BindingValue, DefinitionFact, DefinitionId, ExpressionFact, ScopeId, ScopeKind, SourceFacts,
    is_component_type,
};

/// One file and its facts.
#[derive(Debug, Clone)]
pub struct ProjectFile {
    /// The path from the project's folder, with `/`.
    pub path: String,
    /// Id of the file type.
    pub language: &'static str,
    /// Whether it is a test by its path.
    pub is_test: bool,
    /// The facts about its names; shared, because copies of a file have the same facts.
    pub facts: Arc<SourceFacts>,
}

/// The index of a file in the project.
pub(super) type FileId = u32;

/// A definition of the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct DefinitionKey {
    pub(super) file: FileId,
    pub(super) definition: DefinitionId,
}

impl DefinitionKey {
    /// Returns a scope of the definition's file.
    pub(super) const fn at(self, scope: ScopeId) -> Site {
        Site { file: self.file, scope }
    }
}

/// A scope of a file, in which names are looked up and expressions are evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Site {
    pub(super) file: FileId,
    pub(super) scope: ScopeId,
}

impl Site {
    /// Returns another scope of the same file.
    pub(super) const fn at(self, scope: ScopeId) -> Self {
        Self { scope, ..self }
    }
}

/// The languages with the same rules for resolving names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum NameRules {
    Python,
    Script,
    Rust,
    Go,
    Java,
    C,
    Cpp,
    /// Languages of which only the names are compared.
    ByName,
}

impl NameRules {
    pub(super) fn of(language: &str) -> Option<Self> {
        match language {
            "python" => Some(Self::Python),
            "javascript" | "typescript" | "tsx" => Some(Self::Script),
            _ if is_component_type(language) => Some(Self::Script),
            "rust" => Some(Self::Rust),
            "go" => Some(Self::Go),
            "java" => Some(Self::Java),
            "c" => Some(Self::C),
            "cpp" => Some(Self::Cpp),
            "cmake" | "csharp" | "dockerfile" | "kotlin" | "lua" | "make" | "php" | "protobuf" | "ruby"
            | "scala" | "shell" | "sql" | "swift" | "zig" => Some(Self::ByName),
            _ => None,
        }
    }
}

/// The files, and tables that find them and their definitions.
pub(super) struct ProjectIndex<'a> {
    pub(super) files: &'a [ProjectFile],
    pub(super) rules: Vec<Option<NameRules>>,
    pub(super) by_path: FxHashMap<&'a str, FileId>,
    /// The files of each folder; the path of the project's folder is empty.
    pub(super) folders: Vec<(&'a str, Vec<FileId>)>,
    pub(super) folder_ids: FxHashMap<&'a str, u32>,
    /// The definitions of each name outside of functions, in the order of the files.
    pub(super) by_name: FxHashMap<&'a str, Vec<DefinitionKey>>,
    /// The names of the definitions within functions.
    pub(super) local_names: FxHashSet<&'a str>,
    /// The names in `by_name` that types have also as fields, in languages where a field may be read like a method. In
    /// Java, the names of the accessors that Lombok generates.
    pub(super) field_names: FxHashSet<(NameRules, &'a str)>,
}

impl<'a> ProjectIndex<'a> {
    pub(super) fn new(files: &'a [ProjectFile]) -> Self {
        Self::of_names(files, |_| true)
    }

    /// Returns the index of the files and of those definitions whose names are wanted.
    pub(super) fn of_names(files: &'a [ProjectFile], is_wanted: impl Fn(&str) -> bool) -> Self {
        let mut index = Self {
            files,
            rules: files.iter().map(|file| NameRules::of(file.language)).collect(),
            by_path: FxHashMap::default(),
            folders: Vec::new(),
            folder_ids: FxHashMap::default(),
            by_name: FxHashMap::default(),
            local_names: FxHashSet::default(),
            field_names: FxHashSet::default(),
        };
        for (id, file) in (0..).zip(files) {
            index.by_path.insert(&file.path, id);
            let folder = folder_of(&file.path);
            index.add_folder(folder, id);
            for (definition, fact) in (0..).zip(&file.facts.definitions) {
                let name = file.facts.name(fact.name);
                if !is_wanted(name) {
                    continue;
                }
                // Definitions outside of functions can be reached from other files and through values of a type.
                if is_in_function(&file.facts, fact.scope) {
                    index.local_names.insert(name);
                } else {
                    let key = DefinitionKey { file: id, definition };
                    index.by_name.entry(name).or_default().push(key);
                }
            }
        }
        index.add_field_names();
        index
    }

    fn add_field_names(&mut self) {
        for (file, rules) in self.files.iter().zip(&self.rules) {
            let facts = &*file.facts;
            let is_field = |binding: &&BindingFact| {
                matches!(binding.value, BindingValue::Value(_) | BindingValue::Typed(_))
                    && facts.scope(binding.scope).kind == ScopeKind::Class
            };
            let fields = facts.bindings.iter().filter(is_field);
            match *rules {
                Some(rules @ (NameRules::Python | NameRules::Script | NameRules::Go)) => {
                    let names = fields.map(|binding| facts.name(binding.name));
                    let names = names.filter(|name| self.by_name.contains_key(name));
                    self.field_names.extend(names.map(|name| (rules, name)));
                }
                Some(NameRules::Java) if has_generated_methods(facts) => {
                    let methods = fields.flat_map(|binding| accessors_of(facts.name(binding.name)));
                    let defined = methods.filter_map(|method| self.by_name.get_key_value(method.as_str()));
                    self.field_names.extend(defined.map(|(name, _)| (NameRules::Java, *name)));
                }
                _ => {}
            }
        }
    }

    /// Adds a file to its folder; the folders above are added too, even without files.
    fn add_folder(&mut self, folder: &'a str, file: FileId) {
        let at = self.folder_id(folder);
        self.folders[at as usize].1.push(file);
        let mut above = folder;
        while !above.is_empty() {
            above = folder_of(above);
            if self.folder_ids.contains_key(above) {
                break;
            }
            self.folder_id(above);
        }
    }

    fn folder_id(&mut self, folder: &'a str) -> u32 {
        let next = u32::try_from(self.folders.len()).unwrap_or(u32::MAX);
        *self.folder_ids.entry(folder).or_insert_with(|| {
            self.folders.push((folder, Vec::new()));
            next
        })
    }

    pub(super) fn file_ids(&self) -> impl Iterator<Item = FileId> + use<> {
        (0..).take(self.files.len())
    }

    pub(super) fn file(&self, file: FileId) -> &'a ProjectFile {
        &self.files[file as usize]
    }

    pub(super) fn facts(&self, file: FileId) -> &'a SourceFacts {
        &self.file(file).facts
    }

    pub(super) fn definition(&self, key: DefinitionKey) -> &'a DefinitionFact {
        &self.facts(key.file).definitions[key.definition as usize]
    }

    pub(super) fn name(&self, key: DefinitionKey) -> &'a str {
        self.facts(key.file).name(self.definition(key).name)
    }

    /// Returns the rules for resolving a file's names. A file without rules has no names, so it gets Python's.
    pub(super) fn rules(&self, file: FileId) -> NameRules {
        self.rules[file as usize].unwrap_or(NameRules::Python)
    }

    /// Returns the type that a definition is a member of.
    pub(super) fn owner(&self, key: DefinitionKey) -> Option<DefinitionKey> {
        let facts = self.facts(key.file);
        let scope = facts.scope(self.definition(key).scope);
        let is_type = matches!(scope.kind, ScopeKind::Class | ScopeKind::Implementation);
        let definition = scope.definition.filter(|_| is_type)?;
        Some(DefinitionKey { file: key.file, definition })
    }
}

fn has_generated_methods(facts: &SourceFacts) -> bool {
    facts.imports.iter().any(|import| facts.name(import.module).starts_with("lombok"))
}

/// Returns the names of the methods that read and set a Java field.
fn accessors_of(field: &str) -> impl Iterator<Item = String> {
    let mut rest = field.chars();
    let property: String = rest.next().into_iter().flat_map(char::to_uppercase).chain(rest).collect();
    ["get", "is", "set"].into_iter().map(move |verb| format!("{verb}{property}"))
}

/// Returns the folder of a path, which is empty for a path without a slash.
pub(super) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns a path below a folder.
pub(super) fn joined(folder: &str, path: &str) -> String {
    match (folder.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (false, true) => folder.to_owned(),
        (false, false) => format!("{folder}/{path}"),
    }
}

/// Returns the value of a key of a manifest.
pub(super) fn manifest_value<'a>(facts: &'a SourceFacts, key: &str) -> Option<&'a str> {
    manifest_values(facts, key).next()
}

/// Returns all values of a key of a manifest, in order.
pub(super) fn manifest_values<'a>(facts: &'a SourceFacts, key: &str) -> impl Iterator<Item = &'a str> {
    let bindings = facts.find_name(key).map_or(&[][..], |name| facts.bindings_of(0, name));
    bindings.iter().filter_map(|binding| match binding.value {
        BindingValue::Value(value) => match facts.expression(value) {
            ExpressionFact::Name(name) => Some(facts.name(name)),
            _ => None,
        },
        _ => None,
    })
}

/// Returns the number of folders that two paths have in common.
pub(super) fn shared_prefix(a: &str, b: &str) -> usize {
    a.split('/').zip(b.split('/')).take_while(|(a, b)| a == b).count()
}

/// Returns whether a scope is that of a function, or within one.
pub(super) fn is_in_function(facts: &SourceFacts, mut scope: ScopeId) -> bool {
    while scope != 0 {
        let fact = facts.scope(scope);
        if fact.kind == ScopeKind::Function {
            return true;
        }
        scope = fact.parent.min(scope - 1);
    }
    false
}
