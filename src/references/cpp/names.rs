//! C++: names in namespaces and types, and the definitions of declarations.
//!
//! A bare name is looked up in the enclosing blocks, types and namespaces, each with what `using` adds; the members of
//! a namespace are those of all files, as a linker sees them, without those that are `static` or in an unnamed
//! namespace elsewhere. A declaration is replaced by its definitions: `A::f` outside of the type, a function of the
//! same namespace in another file. Readings that argument-dependent lookup, macros or a base of a template could change
//! are `likely`.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use crate::model::{BindingFact, BindingValue, DefinitionFlags, DefinitionKind, ScopeKind, UseFact};
use crate::references::evaluation::Evaluator;
use crate::references::lookup::{MAX_DECLARATIONS, joined_namespace, outer_namespace};
use crate::references::project::{DefinitionKey, FileId, Site};
use crate::references::values::{MAX_ALTERNATIVES, Value, ValueSet};

/// The maximum number of namespaces that one `using namespace` leads to.
const MAX_USINGS: usize = 16;

/// Returns whether a file is meant to be included.
fn is_header(path: &str) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "h" | "hh" | "hpp" | "hxx" | "inc" | "inl" | "ipp" | "tcc" | "tpp")
}

impl<'a> Evaluator<'a> {
    /// Returns the possible meanings of a name without a receiver.
    pub(in crate::references) fn cpp_name(&mut self, site: Site, name: &str) -> ValueSet {
        if name == "::" {
            return ValueSet::one(Value::Namespace(0));
        }
        // The members of `a<b>` are those of that specialization, or of the template.
        if let Some((plain, _)) = name.split_once('<')
            && !plain.starts_with("operator")
        {
            let found = self.cpp_name_in_scopes(site, name);
            return if found.values.is_empty() {
                self.cpp_name_in_scopes(site, &format!("{plain}::"))
            } else {
                found
            };
        }
        self.cpp_name_in_scopes(site, name)
    }

    fn cpp_name_in_scopes(&mut self, site: Site, name: &str) -> ValueSet {
        // `a::` is a type or a namespace.
        let (name, is_type) = name.strip_suffix("::").map_or((name, false), |name| (name, true));
        let facts = self.index.facts(site.file);
        let id = facts.find_name(name);
        let (mut at, mut is_certain) = (site.scope, true);
        loop {
            let around = facts.scope(at);
            let found = match around.kind {
                ScopeKind::Implementation if self.modules.cpp.scopes.contains_key(&site.at(at)) => {
                    self.cpp_member_of_outlined(site.at(at), site.at(at), name)
                }
                ScopeKind::Class | ScopeKind::Implementation => {
                    // The head of the function is a macro, so it is a guess that the body is a method of this type.
                    is_certain &= around.definition.is_some();
                    if let Some(class) = self.receiver(site.at(at)) {
                        let (found, is_complete) = self.find_member(class, name, 0);
                        is_certain &= is_complete || found.is_some();
                        let found = found.or_else(|| self.cpp_injected(class, name));
                        let is_outlined =
                            around.kind == ScopeKind::Implementation && around.definition.is_some();
                        let declared = class.at(self.index.definition(class).scope);
                        let find_around = || self.cpp_member_of_outlined(site.at(at), declared, name);
                        found.or_else(|| is_outlined.then(find_around).flatten())
                    } else {
                        is_certain = false;
                        None
                    }
                }
                ScopeKind::Module => self.cpp_member_of_scope(site.at(at), name),
                ScopeKind::Function | ScopeKind::Block => {
                    let bindings = id.map_or(&[][..], |id| facts.bindings_of(at, id));
                    (!bindings.is_empty()).then(|| self.bound(site.file, bindings))
                }
            };
            let found = found.or_else(|| {
                let found = self.cpp_used(site.at(at), name)?;
                is_certain = false;
                Some(found)
            });
            if let Some(mut found) = found.filter(|found| !is_type || self.cpp_may_be_type(found)) {
                if is_type {
                    found.values.retain(|value| self.cpp_is_type(*value));
                }
                found.is_complete &= is_certain;
                return found;
            }
            if at == 0 {
                // A namespace that only macros open, or the standard library.
                return if is_certain { ValueSet::FOREIGN } else { ValueSet::UNKNOWN };
            }
            at = around.parent.min(at - 1);
        }
    }

    fn cpp_is_type(&self, value: Value) -> bool {
        match value {
            Value::Definition(key) => self.index.definition(key).kind != DefinitionKind::Function,
            Value::Namespace(_) => true,
            _ => false,
        }
    }

    /// Returns whether a reading may be that of a type: a template's parameter is unknown.
    fn cpp_may_be_type(&self, found: &ValueSet) -> bool {
        found.is_unknown() || found.values.iter().any(|value| self.cpp_is_type(*value))
    }

    /// Returns a type that is named within its own body, or within that of a derived type.
    fn cpp_injected(&mut self, class: DefinitionKey, name: &str) -> Option<ValueSet> {
        let (types, _) = self.linearization(class);
        let named = types.into_iter().find(|known| self.index.name(*known) == name)?;
        Some(ValueSet::one(Value::Definition(named)))
    }

    /// Returns a member of the types and namespaces that `void a::f() {}` is qualified with. They begin around `inner`,
    /// and end where the definition is.
    fn cpp_member_of_outlined(&mut self, site: Site, mut inner: Site, name: &str) -> Option<ValueSet> {
        let mut is_certain = true;
        while inner.scope != 0 && !self.modules.cpp.scopes.contains_key(&inner) {
            let around = self.index.facts(inner.file).scope(inner.scope);
            if matches!(around.kind, ScopeKind::Class | ScopeKind::Implementation)
                && let Some(class) = self.receiver(inner)
            {
                let (found, is_complete) = self.find_member(class, name, 0);
                is_certain &= is_complete;
                if found.is_some() {
                    return found;
                }
            }
            inner.scope = around.parent.min(inner.scope - 1);
        }
        let cpp = &self.modules.cpp;
        let outermost =
            self.cpp_namespace_around(site.at(self.index.facts(site.file).scope(site.scope).parent));
        let mut namespace = cpp.scopes.get(&inner).copied().unwrap_or(0);
        while namespace != outermost && namespace != 0 {
            if let Some(mut found) = self.cpp_declared(site.file, namespace, name) {
                found.is_complete &= is_certain;
                return Some(found);
            }
            let cpp = &self.modules.cpp;
            let outer = outer_namespace(&cpp.namespaces[namespace as usize].path);
            namespace = cpp.ids.get(outer).copied().unwrap_or(0);
        }
        None
    }

    /// Returns the innermost namespace around a scope.
    fn cpp_namespace_around(&self, mut site: Site) -> u32 {
        let facts = self.index.facts(site.file);
        let scopes = &self.modules.cpp.scopes;
        while site.scope != 0 && !scopes.contains_key(&site) {
            site.scope = facts.scope(site.scope).parent.min(site.scope - 1);
        }
        scopes.get(&site).copied().unwrap_or(0)
    }

    /// Returns a member of the namespace whose body is a scope.
    fn cpp_member_of_scope(&mut self, site: Site, name: &str) -> Option<ValueSet> {
        let namespace = self.modules.cpp.scopes.get(&site).copied()?;
        self.cpp_declared(site.file, namespace, name)
    }

    /// Returns what the `using` directives of a scope make visible.
    fn cpp_used(&mut self, site: Site, name: &str) -> Option<ValueSet> {
        let usings = self.modules.cpp.usings.get(&site.file)?.clone();
        let mut found: Option<ValueSet> = None;
        for (_, path) in usings.iter().filter(|(at, _)| *at == site.scope).take(MAX_USINGS) {
            let Some(namespace) = self.cpp_namespace_at(site, path) else { continue };
            if let Some(member) = self.cpp_declared(site.file, namespace, name) {
                match &mut found {
                    Some(found) => found.merge(member),
                    None => found = Some(member),
                }
            }
        }
        found
    }

    /// Returns the namespace that a path means in a scope.
    fn cpp_namespace_at(&self, site: Site, path: &str) -> Option<u32> {
        let cpp = &self.modules.cpp;
        let around = self.cpp_namespace_around(site);
        let mut outer = cpp.namespaces[around as usize].path.as_str();
        loop {
            if let Some(found) = cpp.ids.get(&joined_namespace(outer, path)) {
                return Some(*found);
            }
            if outer.is_empty() {
                return None;
            }
            outer = outer_namespace(outer);
        }
    }

    /// Returns a member of a namespace that any file declares.
    pub(in crate::references) fn cpp_member(&mut self, from: FileId, namespace: u32, name: &str) -> ValueSet {
        self.cpp_declared(from, namespace, name).unwrap_or(ValueSet::FOREIGN)
    }

    fn cpp_declared(&mut self, from: FileId, namespace: u32, name: &str) -> Option<ValueSet> {
        let cpp = &self.modules.cpp;
        let path = &cpp.namespaces[namespace as usize].path;
        let inner = cpp.ids.get(&joined_namespace(path, name)).copied();
        let declared = self.cpp_declarations(from, namespace, name);
        let is_own = declared.iter().any(|(file, _)| *file == from);
        let mut found = inner.map_or(ValueSet::FOREIGN, |inner| ValueSet::one(Value::Namespace(inner)));
        let mut is_found = inner.is_some();
        let mut has_function = false;
        for (file, binding) in declared {
            let definition = match binding.value {
                BindingValue::Definition(definition) => {
                    Some(&self.index.facts(file).definitions[definition as usize])
                }
                _ => None,
            };
            let is_hidden = match definition {
                Some(fact) if fact.kind == DefinitionKind::Module => {
                    // A macro may open it.
                    if fact.flags.has(DefinitionFlags::PROTOTYPE) {
                        found.merge(ValueSet::one(Value::Namespace(0)));
                        is_found = true;
                    }
                    true
                }
                // A header is part of every file that includes it.
                Some(fact) => {
                    fact.flags.has(DefinitionFlags::PRIVATE)
                        && file != from
                        && !is_header(&self.index.file(file).path)
                }
                // A variable of another file counts only if this file declares none.
                None => file != from && is_own,
            };
            if is_hidden {
                continue;
            }
            is_found = true;
            has_function |= definition.is_some_and(|fact| fact.kind == DefinitionKind::Function);
            if found.values.len() < 8 || has_function {
                found.merge(self.bound(file, std::slice::from_ref(binding)));
            }
        }
        is_found.then_some(found)
    }

    /// Returns the declarations of a name in a namespace; for types, those that are defined, and that the file
    /// includes.
    fn cpp_declarations(
        &mut self,
        from: FileId,
        namespace: u32,
        name: &str,
    ) -> Vec<(FileId, &'a BindingFact)> {
        let mut declared =
            self.modules.cpp.namespaces[namespace as usize].members.get(name).cloned().unwrap_or_default();
        if 1 < declared.len() {
            let index = self.index;
            let visible = self.cpp_visible(from);
            let is_type = |(file, binding): &(FileId, &BindingFact)| match binding.value {
                BindingValue::Definition(definition) => {
                    let kind = index.facts(*file).definitions[definition as usize].kind;
                    matches!(kind, DefinitionKind::Class | DefinitionKind::Alias)
                }
                _ => true,
            };
            // The definition of a type that is only declared here may be included elsewhere.
            let is_whole = |(file, binding): &(FileId, &BindingFact)| match binding.value {
                BindingValue::Definition(definition) => {
                    let flags = index.facts(*file).definitions[definition as usize].flags;
                    !flags.has(DefinitionFlags::PROTOTYPE)
                }
                _ => true,
            };
            if declared.iter().any(|found| is_type(found) && is_whole(found)) {
                declared.retain(|found| !is_type(found) || is_whole(found));
            }
            if declared.iter().any(|found| visible.contains(&found.0)) {
                declared.retain(|found| visible.contains(&found.0) || !is_type(found));
            }
            // A set of values has a limited size.
            if MAX_ALTERNATIVES < declared.len() {
                declared.sort_by_cached_key(|found| self.cpp_distance(from, found.0, is_whole(found)));
            }
        }
        declared
    }

    /// Returns an order of the files with declarations of a name: first definitions that a file includes, then files
    /// with definitions that have an include in common with it, then other declarations that it includes, and last
    /// what has nothing to do with it, such as a copy of all headers in one.
    fn cpp_distance(&mut self, from: FileId, file: FileId, is_whole: bool) -> u8 {
        let visible = self.cpp_visible(from);
        match (visible.contains(&file), is_whole) {
            (true, true) => 0,
            (false, true) if !self.cpp_visible(file).is_disjoint(&visible) => 1,
            (true, false) => 2,
            (false, _) => 3,
        }
    }

    /// Returns whether a file includes any of some definitions.
    pub(in crate::references) fn cpp_sees_one_of(&mut self, file: FileId, targets: &[DefinitionKey]) -> bool {
        let visible = self.cpp_visible(file);
        targets.iter().any(|key| visible.contains(&key.file))
    }

    /// Returns a file and everything that it includes.
    fn cpp_visible(&mut self, file: FileId) -> Rc<FxHashSet<FileId>> {
        if let Some(known) = self.cpp_visible.get(&file) {
            return Rc::clone(known);
        }
        let index = self.index;
        let mut found = FxHashSet::default();
        found.insert(file);
        let mut open = vec![file];
        while let Some(next) = open.pop() {
            let facts = index.facts(next);
            for import in facts.imports.iter().filter(|import| import.is_star) {
                let target = self.modules.cpp.paths.find(index, next, facts.name(import.module));
                if let Some(target) = target.filter(|target| found.insert(*target)) {
                    open.push(target);
                }
            }
        }
        let found = Rc::new(found);
        self.cpp_visible.insert(file, Rc::clone(&found));
        found
    }

    /// Keeps the declarations that a file includes, if there are any, with their definitions elsewhere.
    fn cpp_keep_visible(&mut self, from: FileId, found: &mut Vec<DefinitionKey>) {
        let visible = self.cpp_visible(from);
        let seen: Vec<DefinitionKey> =
            found.iter().copied().filter(|key| visible.contains(&key.file)).collect();
        if seen.is_empty() || seen.len() == found.len() {
            return;
        }
        let mut kept = Vec::new();
        for key in std::mem::take(found) {
            let fact = self.index.definition(key);
            let is_function =
                fact.kind == DefinitionKind::Function && !fact.flags.has(DefinitionFlags::PROTOTYPE);
            let mut is_kept = visible.contains(&key.file);
            if !is_kept && is_function {
                let included = self.cpp_visible(key.file);
                is_kept = seen.iter().any(|declared| included.contains(&declared.file));
            }
            if is_kept {
                kept.push(key);
            }
        }
        *found = kept;
    }

    /// Returns the definitions of some declarations, and those that are definitions themselves.
    pub(in crate::references) fn cpp_definitions(
        &mut self,
        from: FileId,
        found: &[DefinitionKey],
    ) -> Vec<DefinitionKey> {
        let mut found = found.to_vec();
        self.cpp_keep_visible(from, &mut found);
        let mut whole: Vec<DefinitionKey> = Vec::new();
        let mut declared: Vec<DefinitionKey> = Vec::new();
        for key in &found {
            let fact = self.index.definition(*key);
            if !fact.flags.has(DefinitionFlags::PROTOTYPE) {
                whole.push(*key);
                continue;
            }
            declared.push(*key);
            if fact.kind != DefinitionKind::Function {
                continue;
            }
            let defined = match self.index.owner(*key) {
                Some(owner) => self.cpp_outlined(owner, self.index.name(*key)),
                None => Vec::new(),
            };
            whole.extend(defined);
        }
        let mut found = if whole.is_empty() { declared } else { whole };
        found.sort_unstable();
        found.dedup();
        // The name of a template does not mean its specialization.
        let is_primary = |key: &DefinitionKey| {
            let fact = self.index.definition(*key);
            fact.kind != DefinitionKind::Class || !fact.flags.has(DefinitionFlags::STATIC)
        };
        if found.iter().any(is_primary) {
            found.retain(is_primary);
        }
        // If several files define the same type, the one in this file counts.
        if 1 < found.len() && found.iter().any(|key| key.file == from) {
            let is_type = |key: &DefinitionKey| self.index.definition(*key).kind == DefinitionKind::Class;
            if found.iter().all(is_type) {
                found.retain(|key| key.file == from);
            }
        }
        found
    }

    /// Replaces types that are only declared within their type by their definitions: `class A::B {};`.
    pub(in crate::references) fn cpp_whole_types(&mut self, mut found: ValueSet) -> ValueSet {
        for value in &mut found.values {
            let Value::Definition(key) = *value else { continue };
            let fact = self.index.definition(key);
            if fact.kind != DefinitionKind::Class || !fact.flags.has(DefinitionFlags::PROTOTYPE) {
                continue;
            }
            let Some(owner) = self.index.owner(key) else { continue };
            let defined = self.cpp_outlined(owner, self.index.name(key));
            let whole = defined.into_iter().find(|key| {
                let fact = self.index.definition(*key);
                fact.kind == DefinitionKind::Class && !fact.flags.has(DefinitionFlags::PROTOTYPE)
            });
            *value = whole.map_or(*value, Value::Definition);
        }
        found
    }

    /// Returns the definitions of a member outside of its type.
    fn cpp_outlined(&mut self, owner: DefinitionKey, name: &'a str) -> Vec<DefinitionKey> {
        let class = self.index.name(owner);
        let candidates = self.modules.cpp.outlined.get(&(class, name)).cloned().unwrap_or_default();
        let mut found = Vec::new();
        for key in candidates.into_iter().take(MAX_DECLARATIONS) {
            let scope = self.index.definition(key).scope;
            let receiver = self.receiver(key.at(scope));
            if receiver.is_none_or(|receiver| receiver == owner || self.is_same_type(receiver, owner)) {
                found.push(key);
            }
        }
        // A file that does not include this definition of the type has another one of the same name.
        let sees =
            |evaluator: &mut Self, key: &DefinitionKey| evaluator.cpp_visible(key.file).contains(&owner.file);
        if found.iter().any(|key| sees(self, key)) {
            found.retain(|key| sees(self, key));
        }
        found
    }

    /// Returns whether two definitions are of one type: a template and its specialization.
    fn is_same_type(&self, a: DefinitionKey, b: DefinitionKey) -> bool {
        let namespace =
            |key: DefinitionKey| self.modules.cpp.scopes.get(&key.at(self.index.definition(key).scope));
        self.index.name(a) == self.index.name(b) && namespace(a).is_some() && namespace(a) == namespace(b)
    }

    /// Returns whether some functions are the overloads of one name in one namespace or type.
    pub(in crate::references) fn cpp_is_one_set(&self, targets: &[DefinitionKey]) -> bool {
        let index = self.index;
        let space = |key: &DefinitionKey| {
            let fact = index.definition(*key);
            let owner = index.facts(key.file).scope(fact.scope);
            let namespace = self.modules.cpp.scopes.get(&key.at(fact.scope)).copied();
            let owner = owner.definition.filter(|_| namespace.is_none());
            let owner = owner.map_or("", |owner| {
                let facts = index.facts(key.file);
                facts.name(facts.definitions[owner as usize].name)
            });
            (owner.rsplit('.').next().unwrap_or(owner), namespace)
        };
        targets.windows(2).all(|pair| space(&pair[0]) == space(&pair[1]))
    }

    /// Returns whether a use may have another reading that the scopes do not show: by the types of its arguments, or by
    /// a macro.
    pub(in crate::references) fn cpp_has_rivals(
        &self,
        usage: &UseFact,
        name: &str,
        targets: &[DefinitionKey],
    ) -> bool {
        let index = self.index;
        let is_macro = |key: &DefinitionKey| index.definition(*key).kind == DefinitionKind::Macro;
        if self.modules.cpp.macros.contains(name) {
            return !targets.iter().all(is_macro) || usage.receiver.is_some();
        }
        let is_function = |key: &&DefinitionKey| index.definition(**key).kind == DefinitionKind::Function;
        if usage.receiver.is_some() || !usage.is_call || !targets.iter().any(|key| is_function(&key)) {
            return false;
        }
        let space =
            |key: &DefinitionKey| self.modules.cpp.scopes.get(&key.at(index.definition(*key).scope)).copied();
        let own = targets.first().and_then(space);
        let all = index.by_name.get(name).map_or(&[][..], Vec::as_slice);
        // A member is found before argument-dependent lookup.
        own.is_some() && all.iter().filter(is_function).filter_map(space).any(|other| Some(other) != own)
    }

    /// Returns the meaning of a bare use; a variable has none.
    pub(in crate::references) fn cpp_bare(&mut self, file: FileId, usage: &UseFact) -> ValueSet {
        let name = self.index.facts(file).name(usage.name);
        let found = if usage.is_type {
            self.cpp_name(Site { file, scope: usage.scope }, &format!("{name}::"))
        } else {
            self.cpp_name(Site { file, scope: usage.scope }, name)
        };
        if found.values.is_empty() && !found.is_complete && self.cpp_is_local(file, usage) {
            return ValueSet::FOREIGN;
        }
        found
    }

    fn cpp_is_local(&self, file: FileId, usage: &UseFact) -> bool {
        let facts = self.index.facts(file);
        let mut at = usage.scope;
        while at != 0 {
            if !facts.bindings_of(at, usage.name).is_empty() {
                return true;
            }
            at = facts.scope(at).parent.min(at - 1);
        }
        false
    }
}
