//! Rust: names in their namespaces, paths, imports, fields, and the methods of the standard library's wrappers.

use crate::model::{
    BindingFact, BindingValue, DefinitionKind, ExpressionFact, ExpressionId, IMPLEMENTED_TYPE, ImportFact,
    ImportId, NameId, ScopeId, ScopeKind,
};
use crate::references::evaluation::Evaluator;
use crate::references::lookup::{Namespace, child_of_folder, fits, module_scope};
use crate::references::project::{DefinitionKey, FileId, Site};
use crate::references::values::{Value, ValueSet};

/// The maximum length of a chain of glob imports.
const MAX_DEPTH: usize = 16;

impl Evaluator<'_> {
    /// Returns the meaning of a name in scope.
    pub(in crate::references) fn rust_name(
        &mut self,
        site: Site,
        name: NameId,
        space: Namespace,
    ) -> ValueSet {
        let text = self.index.facts(site.file).name(name);
        self.rust_text(site, text, space, true)
    }

    /// Like [`Self::rust_name`], but without locals and type parameters: only what a definition of the project may be
    /// named by.
    pub(in crate::references) fn rust_definition(
        &mut self,
        site: Site,
        name: NameId,
        space: Namespace,
    ) -> ValueSet {
        let text = self.index.facts(site.file).name(name);
        self.rust_text(site, text, space, false)
    }

    /// Returns the possible meanings of a name at a place.
    pub(super) fn rust_visible(&mut self, site: Site, name: &str, space: Namespace) -> Vec<Value> {
        self.rust_text(site, name, space, true).values
    }

    fn rust_text(&mut self, site: Site, name: &str, space: Namespace, with_locals: bool) -> ValueSet {
        if let (Namespace::Types, Some(module)) = (space, self.rust_keyword(site, name)) {
            return module.map_or(ValueSet::FOREIGN, ValueSet::one);
        }
        let facts = self.index.facts(site.file);
        let id = facts.find_name(name);
        let mut at = site.scope;
        loop {
            let fact = facts.scope(at);
            if !matches!(fact.kind, ScopeKind::Class | ScopeKind::Implementation) {
                let bindings = id.map_or(&[][..], |id| facts.bindings_of(at, id));
                if let Some(found) = self.rust_bound(site.file, bindings, space, with_locals) {
                    return found;
                }
                let is_module = fact.kind == ScopeKind::Module || at == 0;
                if is_module {
                    return self.rust_outside(site.at(at), name, space);
                }
                if let Some(found) = self.glob_member(site.at(at), name, space) {
                    return found;
                }
            }
            at = if at == 0 { 0 } else { fact.parent.min(at - 1) };
        }
    }

    /// Returns the meaning of the bindings of one name in a namespace; `None` if none of them is in it.
    fn rust_bound(
        &mut self,
        file: FileId,
        bindings: &[BindingFact],
        space: Namespace,
        with_locals: bool,
    ) -> Option<ValueSet> {
        let facts = self.index.facts(file);
        let is_in_space = |binding: &&BindingFact| match (binding.value, space) {
            (BindingValue::Import(_), _) => true,
            (BindingValue::Definition(at), _) => fits(facts.definitions[at as usize].kind, space),
            (BindingValue::Default(_), space) => space == Namespace::Types,
            (BindingValue::Value(_) | BindingValue::Typed(_), space) => space == Namespace::Values,
        };
        let own: Vec<(u32, &BindingFact)> =
            (0..).zip(bindings).filter(|(_, binding)| is_in_space(binding)).take(16).collect();
        if own.is_empty() {
            return None;
        }
        let is_local = |binding: &BindingFact| {
            !matches!(binding.value, BindingValue::Definition(_) | BindingValue::Import(_))
        };
        if !with_locals && own.iter().all(|(_, binding)| is_local(binding)) {
            return Some(ValueSet::FOREIGN);
        }
        let found = self.bound_in_rust(file, own);
        let is_known = !found.values.is_empty();
        let found = self.in_space(found, space);
        // An import of a module does not hide a function of that name.
        (!is_known || !found.values.is_empty()).then_some(found)
    }

    /// Returns the values of all bindings of one name. If one of several is imported from another project, they are
    /// conditional, and a build has either.
    pub(in crate::references) fn bound_in_rust<'b>(
        &mut self,
        file: FileId,
        bindings: impl IntoIterator<Item = (u32, &'b BindingFact)>,
    ) -> ValueSet {
        let mut found = ValueSet::FOREIGN;
        let mut without_value = Vec::new();
        for (at, binding) in bindings {
            let value = self.binding(file, binding, at);
            if value.values.is_empty() {
                without_value.push(binding);
            }
            found.merge(value);
        }
        if found.is_complete && !found.values.is_empty() {
            found.is_complete = !without_value.iter().any(|binding| self.is_foreign_import(file, binding));
        }
        found
    }

    /// Returns whether an imported path begins in another project: with no name of the module or of the crate's root.
    fn is_foreign_import(&self, file: FileId, binding: &BindingFact) -> bool {
        let BindingValue::Import(import) = binding.value else { return false };
        let facts = self.index.facts(file);
        let fact = &facts.imports[import as usize];
        // `use name as other` has no path.
        let path = fact.name.filter(|_| facts.name(fact.module).is_empty()).unwrap_or(fact.module);
        let head = facts.name(path).split("::").next().unwrap_or_default();
        let module = self.module_around(Site { file, scope: fact.scope });
        let root = Site { file: self.modules.rust.root(file), scope: 0 };
        let is_bound = |site: Site| {
            let facts = self.index.facts(site.file);
            let bindings = facts.find_name(head).map_or(&[][..], |head| facts.bindings_of(site.scope, head));
            // `extern crate std;` is the same as a path that begins there.
            bindings.iter().any(|binding| match binding.value {
                BindingValue::Import(import) => {
                    let fact = &facts.imports[import as usize];
                    fact.name.is_none() || !matches!(facts.name(fact.module), "" | "::")
                }
                _ => true,
            })
        };
        let is_keyword = matches!(head, "" | "crate" | "$crate" | "self" | "super");
        !is_keyword && !is_bound(module) && !is_bound(root) && self.rust_crate(file, head).is_none()
    }

    /// Keeps the possible meanings of a name in that namespace.
    pub(super) fn in_space(&self, mut found: ValueSet, space: Namespace) -> ValueSet {
        found.values.retain(|value| match value {
            Value::Definition(key) => fits(self.index.definition(*key).kind, space),
            Value::Module(_) | Value::Folder(_) => space == Namespace::Types,
            Value::Instance(_) | Value::Super(_) | Value::Generic { .. } => space != Namespace::Macros,
            Value::Package(_) | Value::Namespace(_) | Value::Entries { .. } => false,
        });
        found
    }

    /// Returns the module that a keyword in a path means; the inner `None` if there is no such module, the outer one if
    /// it is not a keyword.
    #[expect(clippy::option_option, reason = "a keyword may mean no module, and a name may be no keyword")]
    fn rust_keyword(&self, site: Site, name: &str) -> Option<Option<Value>> {
        match name {
            "crate" | "$crate" => Some(Some(Value::Module(self.modules.rust.root(site.file)))),
            "self" => Some(self.module_value(self.module_around(site))),
            "super" => {
                let parent = self.parent_module(self.module_around(site));
                Some(parent.and_then(|parent| self.module_value(parent)))
            }
            _ => None,
        }
    }

    pub(in crate::references) fn module_around(&self, site: Site) -> Site {
        site.at(module_scope(self.index.facts(site.file), site.scope))
    }

    fn module_value(&self, module: Site) -> Option<Value> {
        let Site { file, scope } = module;
        if scope == 0 {
            return Some(Value::Module(file));
        }
        let definition = self.index.facts(file).scope(scope).definition?;
        Some(Value::Definition(DefinitionKey { file, definition }))
    }

    fn parent_module(&self, module: Site) -> Option<Site> {
        let Site { file, scope } = module;
        if scope == 0 {
            return self.modules.rust.parent(file);
        }
        let parent = self.index.facts(file).scope(scope).parent.min(scope - 1);
        Some(self.module_around(module.at(parent)))
    }

    /// Returns what is in scope in a module without being named: glob imports and crates.
    fn rust_outside(&mut self, module: Site, name: &str, space: Namespace) -> ValueSet {
        if let Some(found) = self.glob_member(module, name, space) {
            return found;
        }
        let krate = if space == Namespace::Types { self.rust_crate(module.file, name) } else { None };
        krate.unwrap_or(ValueSet::FOREIGN)
    }

    fn rust_crate(&self, file: FileId, name: &str) -> Option<ValueSet> {
        let (root, is_declared) = self.modules.rust.library(&self.index.file(file).path, name)?;
        Some(ValueSet { values: vec![Value::Module(root)], is_complete: is_declared })
    }

    /// Returns what the glob imports of one scope bring under that name.
    fn glob_member(&mut self, site: Site, name: &str, space: Namespace) -> Option<ValueSet> {
        let facts = self.index.facts(site.file);
        let stars = self.modules.stars.get(&site.file).map_or(&[][..], Vec::as_slice);
        let is_here = |star: &ImportId| facts.imports[*star as usize].scope == site.scope;
        let expansions = self.modules.rust.expansions(site);
        let has_none = expansions.is_empty() && !stars.iter().any(is_here);
        if has_none || self.open_globs.contains(&site) || MAX_DEPTH < self.open_globs.len() {
            return None;
        }
        // Each module is queried once: the number of paths through modules that import each other has no useful limit.
        for answers in [&self.globs, &self.glob_answers] {
            if let Some(known) = answers.get(&(site, space)).and_then(|known| known.get(name)) {
                return known.clone();
            }
        }
        let stars: Vec<ImportId> = stars.iter().copied().filter(is_here).collect();
        let expansions = expansions.to_vec();
        self.open_globs.push(site);
        let mut found = ValueSet::FOREIGN;
        for expansion in expansions {
            let bound = self.bound_in(expansion, name).unwrap_or(ValueSet::FOREIGN);
            let bound = self.in_space(bound, space);
            if bound.values.is_empty() {
                found.merge(self.glob_member(expansion, name, space).unwrap_or(ValueSet::FOREIGN));
            } else {
                found.merge(bound);
            }
        }
        for star in stars {
            let module = facts.name(facts.imports[star as usize].module);
            if let Some(child) = child_of_folder(self.index, site.file, module, name) {
                found.merge(self.in_space(ValueSet::one(Value::Module(child)), space));
                continue;
            }
            let members = self.rust_path(site, module).flat_map(|module| self.member(module, name));
            let members = self.in_space(members, space);
            if !members.values.is_empty() {
                found.merge(members);
            }
        }
        self.open_globs.pop();
        let found = Some(found).filter(|found| !found.values.is_empty());
        // A result that was found while another import was open may be incomplete because of that one.
        let answers = if self.open_globs.is_empty() {
            self.glob_answers.clear();
            &mut self.globs
        } else {
            &mut self.glob_answers
        };
        answers.entry((site, space)).or_default().insert(name.into(), found.clone());
        found
    }

    /// Returns the modules and types that a path means.
    fn rust_path(&mut self, site: Site, path: &str) -> ValueSet {
        let mut parts = path.split("::").map(str::trim);
        let head = parts.next().unwrap_or_default();
        let mut found = if head.is_empty() {
            parts.next().and_then(|name| self.rust_crate(site.file, name)).unwrap_or(ValueSet::FOREIGN)
        } else {
            let mut found = self.rust_text(site, head, Namespace::Types, true);
            if found.values.is_empty() {
                found = self.rust_crate(site.file, head).unwrap_or(found);
            }
            if found.values.is_empty() {
                // Before the 2018 edition a path begins at the root of the crate.
                let root = self.modules.rust.root(site.file);
                found = self.member(Value::Module(root), head);
                found = self.in_space(found, Namespace::Types);
            }
            found
        };
        for part in parts {
            if part != "self" {
                found = found.flat_map(|module| self.member(module, part));
            }
            found = self.in_space(found, Namespace::Types);
        }
        found
    }

    /// Returns the meaning of a `use`, a `mod x;` or an `extern crate`.
    pub(in crate::references) fn rust_import(
        &mut self,
        file: FileId,
        id: ImportId,
        fact: &ImportFact,
    ) -> ValueSet {
        let facts = self.index.facts(file);
        let Some(name) = fact.name else {
            let child = self.modules.rust.child(file, id);
            return child.map_or(ValueSet::UNKNOWN, |child| ValueSet::one(Value::Module(child)));
        };
        let (module, name) = (facts.name(fact.module), facts.name(name));
        let site = Site { file, scope: fact.scope };
        if matches!(module, "" | "::") {
            if let Some(keyword) = self.rust_keyword(site, name).flatten() {
                return ValueSet::one(keyword);
            }
            if module.is_empty() {
                let own = self.rust_module_member(self.module_around(site), name);
                if !own.values.is_empty() {
                    return own;
                }
            }
            return self.rust_crate(file, name).unwrap_or(ValueSet::FOREIGN);
        }
        let found = self.rust_path(site, module);
        if found.values.is_empty() {
            return found;
        }
        let found = found.flat_map(|module| self.member(module, name));
        if found.values.is_empty() { ValueSet::UNKNOWN } else { found }
    }

    /// Returns a name of a module.
    pub(in crate::references) fn rust_module_member(&mut self, site: Site, name: &str) -> ValueSet {
        if name == "super" {
            let parent = self.parent_module(site).and_then(|parent| self.module_value(parent));
            return parent.map_or(ValueSet::FOREIGN, ValueSet::one);
        }
        let mut found = self.bound_in(site, name).unwrap_or(ValueSet::FOREIGN);
        if found.values.is_empty() {
            for space in [Namespace::Types, Namespace::Values, Namespace::Macros] {
                if let Some(members) = self.glob_member(site, name, space) {
                    found.merge(members);
                }
            }
            // An import of another project hides what a glob import brings, unless they are conditional.
            if found.is_complete && !found.values.is_empty() {
                let facts = self.index.facts(site.file);
                let bindings =
                    facts.find_name(name).map_or(&[][..], |name| facts.bindings_of(site.scope, name));
                found.is_complete =
                    !bindings.iter().any(|binding| self.is_foreign_import(site.file, binding));
            }
        }
        found
    }

    /// Returns a field of `self`. Its type parameters are determined by the implementation around the scope, not by the
    /// type.
    pub(in crate::references) fn own_field(
        &mut self,
        site: Site,
        key: DefinitionKey,
        name: &str,
    ) -> ValueSet {
        let found = self.field(Value::Instance(key), name);
        if key.file != site.file {
            return found;
        }
        let facts = self.index.facts(site.file);
        let mut around = std::iter::successors(Some(site.scope), |at| {
            (*at != 0).then(|| facts.scope(*at).parent.min(at.saturating_sub(1)))
        });
        let implementation = around.find(|at| facts.scope(*at).kind == ScopeKind::Implementation);
        let body = self.index.definition(key).body;
        let (Some(implementation), Some(body), Some(id)) = (implementation, body, facts.find_name(name))
        else {
            return found;
        };
        let declared = facts.bindings_of(body, id).iter().find_map(|binding| match binding.value {
            BindingValue::Typed(declared) => Some(declared),
            _ => None,
        });
        let Some(declared) = declared else { return found };
        let argument = self.argument_of_field(site.at(implementation), key, declared);
        let is_known = found.values.iter().any(|value| !matches!(value, Value::Generic { .. }));
        if is_known && argument.is_none() {
            return found;
        }
        let (declared, scope) = argument.unwrap_or((declared, implementation));
        let here = self.instance(site.at(scope), declared);
        if here.values.is_empty() {
            return found;
        }
        ValueSet { is_complete: here.is_complete && !found.values.is_empty(), ..here }
    }

    /// Returns an implementation's argument for the type parameter that a field is declared with, and the scope of that
    /// argument.
    fn argument_of_field(
        &mut self,
        implementation: Site,
        key: DefinitionKey,
        declared: ExpressionId,
    ) -> Option<(ExpressionId, ScopeId)> {
        let facts = self.index.facts(key.file);
        let ExpressionFact::TypeName(name) = facts.expression(declared) else { return None };
        let body = self.index.definition(key).body?;
        let names = self.type_parameter_names(key.at(facts.scope(body).parent));
        let at = names.iter().position(|known| *known == name)?;
        let (implemented, scope) = self.implementation_part(implementation, IMPLEMENTED_TYPE)?;
        let (_, arguments, _) = self.generic_parts(implementation.file, implemented);
        Some((*arguments.get(at)?, scope))
    }

    /// Returns a field of a value.
    pub(in crate::references) fn field(&mut self, object: Value, name: &str) -> ValueSet {
        let (Value::Instance(key) | Value::Definition(key)) = object else {
            return match (object, name.parse()) {
                (Value::Generic { .. }, _) if self.is_plain_of_rust(object) => ValueSet::FOREIGN,
                (Value::Generic { .. }, Ok(at)) => self.part(object, at),
                _ => ValueSet::UNKNOWN,
            };
        };
        let definition = self.index.definition(key);
        if definition.kind == DefinitionKind::Alias {
            let target = self.alias(key);
            return target.flat_map(|target| match target {
                Value::Definition(inner) if inner != key => self.field(target, name),
                _ => ValueSet::UNKNOWN,
            });
        }
        // Variables of a function are no fields; only what it calls its parameters with is known by a name in
        // parentheses.
        let has_fields = definition.kind != DefinitionKind::Function || name.starts_with('(');
        let body = definition.body.filter(|_| has_fields);
        let facts = self.index.facts(key.file);
        let (Some(body), Some(id)) = (body, facts.find_name(name)) else {
            return ValueSet::UNKNOWN;
        };
        let mut found = ValueSet::UNKNOWN;
        for (at, binding) in (0..).zip(facts.bindings_of(body, id)) {
            if matches!(binding.value, BindingValue::Typed(_)) {
                found = self.binding(key.file, binding, at);
            }
        }
        found
    }
}
