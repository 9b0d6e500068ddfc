//! The sources of the crate as `syn` reads them: files, modules, and the file in which each name is defined.
//!
//! This resolves names the way the compiler does as far as a floor plan needs it: through `use`, groups, globs and
//! re-exports, down to the file that holds the definition. It does not infer types, so that a call of a method
//! (`walk.visit()`) names nothing; a path does (`Walk::visit`, `walk::visit`), and so does the type in a signature.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};

/// The names of the modules from the root of the crate down to one of them.
pub(crate) type ModulePath = Vec<String>;

/// All files of a crate, and its tree of modules.
pub(crate) struct Sources {
    /// The files in the order in which the modules declare them.
    pub(crate) files: Vec<SourceFile>,
    modules: BTreeMap<ModulePath, Module>,
}

/// One file of the crate.
pub(crate) struct SourceFile {
    /// Its path below `src`.
    pub(crate) path: PathBuf,
    /// The module that it is.
    pub(crate) module: ModulePath,
    /// Its text.
    pub(crate) text: String,
    /// Its items.
    pub(crate) syntax: syn::File,
    /// Whether it is compiled into tests alone.
    pub(crate) is_test: bool,
}

/// A path as a file writes it, and the module in which it is written.
pub(crate) struct Reference {
    pub(crate) module: ModulePath,
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// Whether this is a `pub use`, which passes a name on without needing it.
    pub(crate) is_reexport: bool,
}

/// An item, by the file that defines it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Definition {
    pub(crate) file: usize,
    pub(crate) name: String,
}

struct Module {
    file: usize,
    names: BTreeMap<String, Vec<Binding>>,
    globs: Vec<Vec<String>>,
}

enum Binding {
    Item,
    Module(ModulePath),
    Import(Vec<String>),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Item(Definition),
    Module(ModulePath),
}

impl SourceFile {
    /// Returns the room that the file is in, which is the first folder of its path; none for `lib.rs`.
    pub(crate) fn room(&self) -> Option<&str> {
        let mut parts = self.path.components();
        let room = parts.next()?.as_os_str().to_str()?;
        parts.next().map(|_| room)
    }

    /// Returns every path that the file writes in imports and in code, with those in the arguments of macros.
    ///
    /// Without `with_tests` the items that are compiled into tests alone are left out.
    pub(crate) fn references(&self, with_tests: bool) -> Vec<Reference> {
        let mut collector = Collector { module: self.module.clone(), with_tests, references: Vec::new() };
        collector.visit_file(&self.syntax);
        collector.references
    }
}

impl Sources {
    /// Reads the crate whose root is `lib.rs` in the folder `src`.
    pub(crate) fn load(src: &Path) -> Self {
        let mut sources = Self { files: Vec::new(), modules: BTreeMap::new() };
        sources.load_file(src, PathBuf::from("lib.rs"), Vec::new(), false);
        sources
    }

    /// Returns the definitions that a reference names: several where one name is a type and a function.
    pub(crate) fn resolve(&self, reference: &Reference) -> BTreeSet<Definition> {
        let targets = self.resolve_path(&reference.module, &reference.path, &mut BTreeSet::new());
        targets
            .into_iter()
            .filter_map(|target| match target {
                Target::Item(definition) => Some(definition),
                Target::Module(_) => None,
            })
            .collect()
    }

    fn load_file(&mut self, src: &Path, path: PathBuf, module: ModulePath, is_test: bool) {
        let full = src.join(&path);
        let text = fs::read_to_string(&full).unwrap_or_else(|e| panic!("{}: {e}", full.display()));
        let syntax = syn::parse_file(&text).unwrap_or_else(|e| {
            let at = e.span().start();
            panic!("{}:{}:{}: {e}", full.display(), at.line, at.column)
        });
        let file = self.files.len();
        let items = syntax.items.clone();
        let is_face = path.ends_with("mod.rs") || path.ends_with("lib.rs");
        let parent = path.parent().unwrap_or(Path::new("")).to_owned();
        let children = if is_face { parent.clone() } else { path.with_extension("") };
        self.files.push(SourceFile { path, module: module.clone(), text, syntax, is_test });
        self.load_module(src, &items, &Place { file, parent, children, is_test }, module);
    }

    fn load_module(&mut self, src: &Path, items: &[syn::Item], place: &Place, module: ModulePath) {
        let mut scope = Module { file: place.file, names: BTreeMap::new(), globs: Vec::new() };
        for item in items {
            match item {
                syn::Item::Mod(item) => {
                    let name = item.ident.to_string();
                    let path = [&module[..], std::slice::from_ref(&name)].concat();
                    scope.bind(&name, Binding::Module(path.clone()));
                    let is_test = place.is_test || is_of_tests(&item.attrs) || names_tests(&name);
                    if let Some((_, items)) = &item.content {
                        let children = place.children.join(&name);
                        let place =
                            Place { file: place.file, parent: place.parent.clone(), children, is_test };
                        self.load_module(src, items, &place, path);
                    } else {
                        let file = place.file_of_child(src, item);
                        self.load_file(src, file, path, is_test);
                    }
                }
                syn::Item::Use(item) => scope.import(item),
                item => {
                    if let Some(name) = name_of(item) {
                        scope.bind(&name, Binding::Item);
                    }
                    // What functions import for themselves alone is seen as if the module did.
                    let mut inner = InnerImports { scope: &mut scope };
                    inner.visit_item(item);
                }
            }
        }
        self.modules.insert(module, scope);
    }

    fn resolve_path(
        &self,
        from: &[String],
        path: &[String],
        visited: &mut BTreeSet<(ModulePath, String)>,
    ) -> BTreeSet<Target> {
        let Some((first, rest)) = path.split_first() else { return BTreeSet::new() };
        let mut targets = match first.as_str() {
            "crate" => BTreeSet::from([Target::Module(Vec::new())]),
            "self" => BTreeSet::from([Target::Module(from.to_vec())]),
            "super" => parent(from),
            name => self.look_up(from, name, visited),
        };
        for segment in rest {
            targets = targets
                .into_iter()
                .flat_map(|target| match target {
                    // A variant, a constant or a function of the type.
                    Target::Item(_) => BTreeSet::from([target]),
                    Target::Module(module) if segment == "super" => parent(&module),
                    Target::Module(module) if segment == "self" => BTreeSet::from([Target::Module(module)]),
                    Target::Module(module) => self.look_up_or_assume(&module, segment, visited),
                })
                .collect();
        }
        targets
    }

    /// Looks up a name that has to be in the module; what a macro defines there is the module's own.
    fn look_up_or_assume(
        &self,
        module: &[String],
        name: &str,
        visited: &mut BTreeSet<(ModulePath, String)>,
    ) -> BTreeSet<Target> {
        let is_new = !visited.contains(&(module.to_vec(), name.to_owned()));
        let found = self.look_up(module, name, visited);
        match self.modules.get(module) {
            Some(scope) if found.is_empty() && is_new && !module.is_empty() => {
                BTreeSet::from([Target::Item(Definition { file: scope.file, name: name.to_owned() })])
            }
            Some(_) | None => found,
        }
    }

    fn look_up(
        &self,
        module: &[String],
        name: &str,
        visited: &mut BTreeSet<(ModulePath, String)>,
    ) -> BTreeSet<Target> {
        let Some(scope) = self.modules.get(module) else { return BTreeSet::new() };
        // `pub use outline::outline` is looked up through itself: then only what is defined here counts.
        let is_new = visited.insert((module.to_vec(), name.to_owned()));
        let mut found = BTreeSet::new();
        for binding in scope.names.get(name).into_iter().flatten() {
            match binding {
                Binding::Item => {
                    found.insert(Target::Item(Definition { file: scope.file, name: name.to_owned() }));
                }
                Binding::Module(path) => {
                    found.insert(Target::Module(path.clone()));
                }
                Binding::Import(path) if is_new => {
                    found.extend(self.resolve_path(module, path, visited));
                }
                Binding::Import(_) => {}
            }
        }
        if found.is_empty() && is_new {
            for glob in &scope.globs {
                for target in self.resolve_path(module, glob, visited) {
                    if let Target::Module(source) = target {
                        found.extend(self.look_up(&source, name, visited));
                    }
                }
            }
        }
        visited.remove(&(module.to_vec(), name.to_owned()));
        found
    }
}

/// Returns the name of the room that a path leads into, where it starts in this crate.
pub(crate) fn room_of(reference: &Reference) -> Option<&str> {
    let mut rest = &reference.path[..];
    match rest.first()?.as_str() {
        "crate" => rest = &rest[1..],
        "super" => {
            let supers = rest.iter().take_while(|segment| *segment == "super").count();
            if supers < reference.module.len() {
                return Some(&reference.module[0]);
            }
            rest = &rest[supers..];
        }
        _ => return None,
    }
    rest.first().map(String::as_str)
}

/// Where a module is on disk.
struct Place {
    file: usize,
    /// The folder of its file.
    parent: PathBuf,
    /// The folder of its children.
    children: PathBuf,
    is_test: bool,
}

impl Place {
    fn file_of_child(&self, src: &Path, item: &syn::ItemMod) -> PathBuf {
        let name = item.ident.to_string();
        let given = item.attrs.iter().find(|attribute| attribute.path().is_ident("path"));
        if let Some(syn::Meta::NameValue(pair)) = given.map(|attribute| &attribute.meta)
            && let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value
        {
            return self.parent.join(path.value());
        }
        let plain = self.children.join(format!("{name}.rs"));
        if src.join(&plain).exists() { plain } else { self.children.join(name).join("mod.rs") }
    }
}

impl Module {
    fn bind(&mut self, name: &str, binding: Binding) {
        self.names.entry(name.to_owned()).or_default().push(binding);
    }

    fn import(&mut self, item: &syn::ItemUse) {
        for import in imports(&item.tree) {
            match import.name {
                Some(name) => self.bind(&name, Binding::Import(import.path)),
                None => self.globs.push(import.path),
            }
        }
    }
}

/// One name of a `use`, which may have a group of them; a glob has no name.
struct Import {
    path: Vec<String>,
    name: Option<String>,
    line: usize,
}

fn imports(tree: &syn::UseTree) -> Vec<Import> {
    fn add(tree: &syn::UseTree, before: &[String], found: &mut Vec<Import>) {
        let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        // `use a::{self, B}` imports `a` by its own name.
        let import = |path: Vec<String>, name: &syn::Ident| {
            let line = name.span().start().line;
            let name = if name == "self" { before.last().cloned() } else { Some(name.to_string()) };
            Import { path, name, line }
        };
        match tree {
            syn::UseTree::Path(tree) => add(&tree.tree, &with(&tree.ident), found),
            syn::UseTree::Name(tree) => found.push(import(with(&tree.ident), &tree.ident)),
            syn::UseTree::Rename(tree) => found.push(import(with(&tree.ident), &tree.rename)),
            syn::UseTree::Glob(tree) => {
                let line = tree.star_token.spans[0].start().line;
                found.push(Import { path: before.to_vec(), name: None, line });
            }
            syn::UseTree::Group(tree) => {
                tree.items.iter().for_each(|tree| add(tree, before, found));
            }
        }
    }
    let mut found = Vec::new();
    add(tree, &[], &mut found);
    found
}

struct InnerImports<'m> {
    scope: &'m mut Module,
}

impl<'ast> Visit<'ast> for InnerImports<'_> {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.scope.import(item);
    }
}

struct Collector {
    module: ModulePath,
    with_tests: bool,
    references: Vec<Reference>,
}

impl Collector {
    fn add(&mut self, path: Vec<String>, line: usize, is_reexport: bool) {
        self.references.push(Reference { module: self.module.clone(), path, line, is_reexport });
    }

    /// Reads the paths of at least two segments in tokens that `syn` does not parse.
    fn read_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut line = 0;
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.finish_path(&mut path, line);
                    }
                    line = ident.span().start().line;
                    path.push(ident.to_string());
                    colons = 0;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => colons += 1,
                TokenTree::Group(group) => {
                    let is_group_of_names = colons == 2;
                    let before = std::mem::take(&mut path);
                    self.finish_path(&mut before.clone(), line);
                    self.read_tokens(group.stream());
                    if is_group_of_names {
                        self.add(before, line, false);
                    }
                    colons = 0;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => {
                    self.finish_path(&mut path, line);
                    colons = 0;
                }
            }
        }
        self.finish_path(&mut path, line);
    }

    fn finish_path(&mut self, path: &mut Vec<String>, line: usize) {
        let path = std::mem::take(path);
        if 1 < path.len() {
            self.add(path, line, false);
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if self.with_tests || !is_of_tests(attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if self.with_tests || !is_of_tests(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !self.with_tests && names_tests(&item.ident.to_string()) {
            return;
        }
        self.module.push(item.ident.to_string());
        visit::visit_item_mod(self, item);
        self.module.pop();
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let is_reexport = !matches!(item.vis, syn::Visibility::Inherited);
        for import in imports(&item.tree) {
            self.add(import.path, import.line, is_reexport);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            let line = path.segments.first().map_or(0, |segment| segment.ident.span().start().line);
            self.add(segments, line, false);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, invocation: &'ast syn::Macro) {
        visit::visit_macro(self, invocation);
        self.read_tokens(invocation.tokens.clone());
    }

    fn visit_meta_list(&mut self, list: &'ast syn::MetaList) {
        self.read_tokens(list.tokens.clone());
    }

    // `pub(in crate::room)` names no item.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
}

/// Returns whether an item is compiled into tests alone: `#[test]`, `#[cfg(test)]` or `#[cfg(all(test, …))]`.
pub(crate) fn is_of_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            condition == "test" || condition.starts_with("all (test ,")
        }
        syn::Meta::List(_) | syn::Meta::NameValue(_) => false,
    })
}

fn names_tests(module: &str) -> bool {
    module == "tests" || module.ends_with("_tests")
}

/// Returns the attributes of an item.
pub(crate) fn attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Mod(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn name_of(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

fn parent(module: &[String]) -> BTreeSet<Target> {
    let mut parent = module.to_vec();
    parent.pop();
    BTreeSet::from([Target::Module(parent)])
}
