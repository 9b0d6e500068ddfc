//! Evaluates expressions to values: names in their scopes, annotations, attributes.

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::modules::ModuleTables;
use crate::model::{
    BindingFact, BindingValue, DefinitionKind, ExpressionFact, ExpressionId, IMPLEMENTED_TYPE, ImportId,
    NameId, ScopeKind,
};
use crate::references::lookup::{Fixtures, JavaTables, Namespace, RustExtensions};
use crate::references::project::{DefinitionKey, FileId, NameRules, ProjectIndex, Site};
use crate::references::values::{Value, ValueSet};

/// The maximum depth of one evaluation.
const MAX_DEPTH: usize = 24;
/// The maximum number of steps of one evaluation: values that depend on each other lead to many paths.
const MAX_STEPS: usize = 1 << 16;

/// The tables of all files, which the evaluators of several threads share.
#[derive(Clone)]
pub(in crate::references) struct ProjectTables<'a> {
    pub(in crate::references) modules: Arc<ModuleTables<'a>>,
    pub(in crate::references) fixtures: Arc<Fixtures<'a>>,
    pub(in crate::references) extensions: Arc<RustExtensions<'a>>,
}

/// Evaluates expressions of a project, and caches the bindings of names while one file is joined.
pub(in crate::references) struct Evaluator<'a> {
    pub(in crate::references) index: &'a ProjectIndex<'a>,
    bindings: FxHashMap<(Site, NameId, u32), ValueSet>,
    pub(in crate::references) returns: FxHashMap<DefinitionKey, ValueSet>,
    /// The values of decorated Python functions.
    pub(super) decorated: FxHashMap<DefinitionKey, ValueSet>,
    imports: FxHashMap<(FileId, ImportId), ValueSet>,
    /// The values of inherited Python members on a type, by the type, and the scope and the name of the member.
    pub(in crate::references) inherited: FxHashMap<(DefinitionKey, Site, NameId), ValueSet>,
    pub(in crate::references) aliases: FxHashMap<(Site, ExpressionId), ValueSet>,
    /// The elements and parts of Python displays that are being evaluated, with intermediate results.
    pub(super) open_parts: FxHashMap<(Value, Option<u32>), ValueSet>,
    /// Parameters and parts of tuples in TypeScript.
    pub(in crate::references) parts: FxHashMap<(Site, ExpressionId, u32), ValueSet>,
    pub(super) linear: FxHashMap<DefinitionKey, (Vec<DefinitionKey>, bool)>,
    pub(in crate::references) modules: Arc<ModuleTables<'a>>,
    /// The files whose star imports are being followed, each for a name.
    pub(super) open_stars: Vec<(FileId, String)>,
    /// The results of the first of them so far.
    pub(super) star_answers: FxHashMap<(FileId, String), ValueSet>,
    /// The Rust modules whose glob imports are being followed.
    pub(in crate::references) open_globs: Vec<Site>,
    /// The results of glob imports.
    pub(in crate::references) globs: GlobAnswers,
    /// The results of those imports that are followed for the first of them. They may lack what that one will find.
    pub(in crate::references) glob_answers: GlobAnswers,
    pub(in crate::references) fixtures: Arc<Fixtures<'a>>,
    /// The methods that Rust traits add to types of other projects.
    pub(in crate::references) extensions: Arc<RustExtensions<'a>>,
    /// Whether a Rust trait is in scope, by place.
    pub(in crate::references) traits_in_scope: FxHashMap<(Site, DefinitionKey), bool>,
    /// Each C++ file with everything that it includes, including itself.
    pub(in crate::references) cpp_visible: FxHashMap<FileId, Rc<FxHashSet<FileId>>>,
    pub(in crate::references) java: JavaTables<'a>,
    /// The results of calls in the file that is being joined, which the next call of a chain is made on.
    pub(in crate::references) calls: FxHashMap<(Site, ExpressionId), ValueSet>,
    depth: usize,
    steps: usize,
    /// The number of bindings, functions, imports and types that are being evaluated and may lead back to themselves.
    pub(in crate::references) open: usize,
    /// The number of times that the depth was not enough.
    pub(in crate::references) cuts: usize,
}

/// What the glob imports of Rust modules bring, by name; `None` if they bring nothing of that name.
pub(in crate::references) type GlobAnswers =
    FxHashMap<(Site, Namespace), FxHashMap<Box<str>, Option<ValueSet>>>;

/// The bindings of a name in the innermost scope that has any.
pub(in crate::references) enum ScopedName<'a> {
    /// These bindings of that scope.
    Bound(&'a [BindingFact]),
    /// What the file gets from elsewhere without naming it: star imports, the package, the language's own names.
    Outside,
}

impl<'a> Evaluator<'a> {
    pub(in crate::references) fn new(index: &'a ProjectIndex<'a>, tables: ProjectTables<'a>) -> Self {
        let ProjectTables { modules, fixtures, extensions } = tables;
        Self {
            index,
            bindings: FxHashMap::default(),
            returns: FxHashMap::default(),
            decorated: FxHashMap::default(),
            imports: FxHashMap::default(),
            inherited: FxHashMap::default(),
            aliases: FxHashMap::default(),
            open_parts: FxHashMap::default(),
            parts: FxHashMap::default(),
            linear: FxHashMap::default(),
            modules,
            open_stars: Vec::new(),
            star_answers: FxHashMap::default(),
            open_globs: Vec::new(),
            globs: FxHashMap::default(),
            glob_answers: FxHashMap::default(),
            fixtures,
            extensions,
            traits_in_scope: FxHashMap::default(),
            cpp_visible: FxHashMap::default(),
            java: JavaTables::default(),
            calls: FxHashMap::default(),
            depth: 0,
            steps: 0,
            open: 0,
            cuts: 0,
        }
    }

    /// Drops all cached values. A value that depends on itself differs by where its evaluation begins, so nothing may
    /// remain from the previous file.
    pub(in crate::references) fn forget(&mut self) {
        self.bindings.clear();
        self.returns.clear();
        self.decorated.clear();
        self.imports.clear();
        self.inherited.clear();
        self.aliases.clear();
        self.parts.clear();
        self.linear.clear();
        self.globs.clear();
        self.traits_in_scope.clear();
        self.calls.clear();
        self.java = JavaTables::default();
    }

    /// Returns the possible values of an expression.
    pub(in crate::references) fn value(&mut self, site: Site, expression: ExpressionId) -> ValueSet {
        self.deeper(|evaluator| evaluator.value_of(site, expression))
    }

    /// Returns the result of a step that may lead back to itself, like an alias; unknown if it is too deep.
    pub(in crate::references) fn deeper(&mut self, step: impl FnOnce(&mut Self) -> ValueSet) -> ValueSet {
        self.steps = if self.depth == 0 { 0 } else { self.steps + 1 };
        if MAX_DEPTH <= self.depth || MAX_STEPS <= self.steps {
            self.cuts += 1;
            return ValueSet::UNKNOWN;
        }
        self.depth += 1;
        let found = step(self);
        self.depth -= 1;
        found
    }

    fn value_of(&mut self, site: Site, expression: ExpressionId) -> ValueSet {
        match self.index.facts(site.file).expression(expression) {
            ExpressionFact::Unknown => ValueSet::UNKNOWN,
            ExpressionFact::Literal => ValueSet::FOREIGN,
            ExpressionFact::TypeName(name) if self.index.rules(site.file) == NameRules::Rust => {
                self.rust_name(site, name, Namespace::Types)
            }
            ExpressionFact::TypeName(_) if self.index.rules(site.file) == NameRules::Java => {
                ValueSet::FOREIGN
            }
            ExpressionFact::Name(name) | ExpressionFact::TypeName(name) => self.name(site, name),
            ExpressionFact::Field(object, name) => {
                let is_receiver = self.index.facts(site.file).expression(object) == ExpressionFact::Receiver;
                let name = self.index.facts(site.file).name(name);
                let object = self.value(site, object);
                let found = match object.values[..] {
                    [Value::Instance(key)] if is_receiver => self.own_field(site, key, name),
                    _ => object.flat_map(|object| self.field(object, name)),
                };
                // A parameter without a declared type does not contradict what is known otherwise.
                let is_undeclared = found.is_unknown() && name.starts_with('(');
                if is_undeclared { ValueSet::FOREIGN } else { found }
            }
            ExpressionFact::Member(object, name) => {
                let object = self.value(site, object);
                self.attributes(site.file, object, name)
            }
            ExpressionFact::Call(function) if self.index.rules(site.file) == NameRules::Rust => {
                self.call_of_rust(site, function)
            }
            ExpressionFact::Call(function) => self.call_expression(site, function),
            ExpressionFact::Part(..) | ExpressionFact::Item(_)
                if self.index.rules(site.file) == NameRules::Java =>
            {
                let typed = self.java_type(site, expression);
                self.java_value(typed)
            }
            ExpressionFact::Item(whole) => {
                let whole = self.value(site, whole);
                whole.flat_map(|whole| self.item(whole))
            }
            ExpressionFact::Part(whole, at) if self.is_script(site.file) => self.script_part(site, whole, at),
            ExpressionFact::Part(whole, at) => {
                let whole = self.value(site, whole);
                whole.flat_map(|whole| self.part(whole, at))
            }
            ExpressionFact::Instance(declared) => self.instance(site, declared),
            ExpressionFact::Apply(..) if self.is_python(site.file) => self.generic_value(site, expression),
            ExpressionFact::Apply(..) if self.is_rust_aggregate(site.file, expression) => {
                ValueSet::one(Value::Generic { site, expression })
            }
            ExpressionFact::Apply(generic, _) => self.value(site, generic),
            ExpressionFact::Either(left, right) => {
                let mut found = self.value(site, left);
                found.merge(self.value(site, right));
                found
            }
            ExpressionFact::Inner(outer) => {
                let outer = self.value(site, outer);
                outer.flat_map(|outer| self.inner(outer))
            }
            ExpressionFact::Awaited(awaited) => {
                let awaited = self.value(site, awaited);
                awaited.flat_map(|awaited| self.awaited_in_python(awaited))
            }
            ExpressionFact::Receiver => match self.receiver(site) {
                Some(class) => ValueSet::one(Value::Instance(class)),
                None => self.foreign_receiver(site),
            },
            ExpressionFact::ReceiverType => {
                self.receiver(site).map_or(ValueSet::UNKNOWN, |class| ValueSet::one(Value::Definition(class)))
            }
            ExpressionFact::Super => {
                self.receiver(site).map_or(ValueSet::UNKNOWN, |class| ValueSet::one(Value::Super(class)))
            }
        }
    }

    /// Returns the result of reading an attribute of some values.
    pub(super) fn attributes(&mut self, file: FileId, objects: ValueSet, name: NameId) -> ValueSet {
        let name = self.index.facts(file).name(name);
        // In C++ only a type or a namespace is meant.
        let name = name.strip_suffix("::").unwrap_or(name);
        objects.flat_map(|object| match object {
            Value::Namespace(namespace) => self.cpp_member(file, namespace, name),
            _ => self.attribute(object, name),
        })
    }

    /// Returns the type around a scope.
    pub(in crate::references) fn receiver(&mut self, mut site: Site) -> Option<DefinitionKey> {
        let facts = self.index.facts(site.file);
        loop {
            let fact = facts.scope(site.scope);
            match (fact.kind, fact.definition) {
                (ScopeKind::Class, Some(definition)) => {
                    return Some(DefinitionKey { file: site.file, definition });
                }
                (ScopeKind::Implementation, _) => return self.implemented(site),
                (ScopeKind::Function, Some(definition))
                    if self.is_constructing(DefinitionKey { file: site.file, definition }) =>
                {
                    return Some(DefinitionKey { file: site.file, definition });
                }
                _ if site.scope == 0 => return None,
                _ => site.scope = fact.parent.min(site.scope - 1),
            }
        }
    }

    /// Returns the type that an implementation belongs to. In C++ that is the qualifier of `A::f`, which is a base of
    /// the scope's definition.
    fn implemented(&mut self, site: Site) -> Option<DefinitionKey> {
        let found = match self.index.facts(site.file).scope(site.scope).definition {
            Some(owner) if self.index.rules(site.file) == NameRules::Cpp => {
                let fact = self.index.definition(DefinitionKey { file: site.file, definition: owner });
                self.value(site.at(fact.scope), *fact.bases.first()?)
            }
            _ => self.bound_in(site, IMPLEMENTED_TYPE)?,
        };
        found.values.into_iter().find_map(|value| match value {
            Value::Definition(key) => Some(key),
            _ => None,
        })
    }

    /// Returns a Python display as it is, and for a type with arguments the type; the whole expression if the project
    /// does not define the type.
    fn generic_value(&mut self, site: Site, expression: ExpressionId) -> ValueSet {
        let whole = Value::Generic { site, expression };
        if self.is_display(whole) {
            return ValueSet::one(whole);
        }
        let generic = self.generic_root(site.file, expression);
        let found = self.value(site, generic);
        if found.values.is_empty() && found.is_complete { ValueSet::one(whole) } else { found }
    }

    fn name(&mut self, site: Site, name: NameId) -> ValueSet {
        let text = self.index.facts(site.file).name(name);
        match self.index.rules(site.file) {
            NameRules::Rust => match text.strip_suffix('!') {
                Some(text) => return self.value_of_macro(site.file, text),
                None => return self.rust_name(site, name, Namespace::Values),
            },
            NameRules::Java => return self.java_name(site, text),
            NameRules::Cpp => return self.cpp_name(site, text),
            _ => {}
        }
        match self.scoped_name(site, name, None) {
            ScopedName::Bound(bindings) => self.bound(site.file, bindings),
            ScopedName::Outside => self.outside(site.file, name),
        }
    }

    /// Finds the innermost scope that binds a name. The body of a Python class runs once: a use on a line does not see
    /// what it binds later, except for a class that an annotation names before its definition.
    pub(in crate::references) fn scoped_name(
        &self,
        mut site: Site,
        name: NameId,
        line: Option<u32>,
    ) -> ScopedName<'a> {
        let facts = self.index.facts(site.file);
        let rules = self.index.rules(site.file);
        let mut left_function = false;
        let mut later: &[BindingFact] = &[];
        loop {
            let fact = facts.scope(site.scope);
            let is_python_class = rules == NameRules::Python && fact.kind == ScopeKind::Class;
            // In Python the names of a class are visible in its own block but not in its methods; in other languages
            // members need a receiver or are looked up with what the class inherits.
            let is_hidden = match rules {
                NameRules::Python => is_python_class && left_function,
                _ => matches!(fact.kind, ScopeKind::Class | ScopeKind::Implementation),
            };
            if !is_hidden {
                let bindings = facts.bindings_of(site.scope, name);
                // An attribute of `self` is not a name of the body.
                let is_before = |binding: &BindingFact| {
                    line.is_none_or(|line| binding.line < line)
                        && facts.scope(binding.at).kind != ScopeKind::Function
                };
                if !bindings.is_empty() && (!is_python_class || bindings.iter().any(is_before)) {
                    return ScopedName::Bound(bindings);
                }
                if later.is_empty() && bindings.iter().any(|binding| self.is_class(site.file, binding)) {
                    later = bindings;
                }
            }
            left_function |= fact.kind == ScopeKind::Function;
            if site.scope == 0 {
                return if later.is_empty() { ScopedName::Outside } else { ScopedName::Bound(later) };
            }
            site.scope = fact.parent.min(site.scope - 1);
        }
    }

    fn is_class(&self, file: FileId, binding: &BindingFact) -> bool {
        let BindingValue::Definition(definition) = binding.value else { return false };
        self.index.definition(DefinitionKey { file, definition }).kind == DefinitionKind::Class
    }

    /// Returns the values of all bindings of one name.
    pub(in crate::references) fn bound(&mut self, file: FileId, bindings: &[BindingFact]) -> ValueSet {
        if self.index.rules(file) == NameRules::Rust {
            return self.bound_in_rust(file, (0..).zip(bindings).take(16));
        }
        let mut found = ValueSet::FOREIGN;
        let has_declared = bindings.iter().any(|binding| matches!(binding.value, BindingValue::Typed(_)));
        // A TypeScript variable has its declared type, whatever is assigned to it.
        let is_fixed = self.is_script(file)
            && (0..).zip(bindings.iter().take(16)).any(|(at, binding)| {
                matches!(binding.value, BindingValue::Typed(_))
                    && !self.binding(file, binding, at).values.is_empty()
            });
        for (at, binding) in (0..).zip(bindings.iter().take(16)) {
            if is_fixed && matches!(binding.value, BindingValue::Value(_)) {
                continue;
            }
            let mut value = self.binding(file, binding, at);
            if has_declared && matches!(binding.value, BindingValue::Value(_)) {
                // An empty list says less than its declaration.
                value.values.retain(|value| !self.is_display(*value));
            }
            // Values that are assigned to a name with a declared type count only if they are known.
            if !has_declared || !matches!(binding.value, BindingValue::Value(_)) || value.is_complete {
                found.merge(value);
            }
        }
        match bindings.first() {
            Some(first) if first.scope == 0 && self.is_python(file) => {
                let name = self.index.facts(file).name(first.name);
                self.with_stars(file, name, bindings, found)
            }
            _ => found,
        }
    }

    pub(in crate::references) fn binding(
        &mut self,
        file: FileId,
        binding: &BindingFact,
        at: u32,
    ) -> ValueSet {
        if let BindingValue::Definition(definition) = binding.value {
            return ValueSet::one(Value::Definition(DefinitionKey { file, definition }));
        }
        if let BindingValue::Import(import) = binding.value {
            return self.import(file, import);
        }
        let key = (Site { file, scope: binding.scope }, binding.name, at);
        if let Some(known) = self.bindings.get(&key) {
            return known.clone();
        }
        // A value that depends on itself is unknown.
        self.bindings.insert(key, ValueSet::UNKNOWN);
        self.open += 1;
        let found = match binding.value {
            BindingValue::Typed(declared) => self.instance(Site { file, scope: binding.at }, declared),
            BindingValue::Default(0) => self.fixture_value(file, binding).unwrap_or(ValueSet::UNKNOWN),
            BindingValue::Default(value) => {
                let mut found = self.value(Site { file, scope: binding.at }, value);
                found.is_complete = false;
                found
            }
            BindingValue::Value(value) => {
                let facts = self.index.facts(file);
                let scope = facts.scope(binding.scope);
                // `make = make` in the body of a Python class refers to the name outside of the class.
                let is_of_outer = facts.expression(value) == ExpressionFact::Name(binding.name)
                    && (scope.kind, binding.at) == (ScopeKind::Class, binding.scope)
                    && self.is_python(file);
                let scope = if is_of_outer { scope.parent } else { binding.at };
                self.value(Site { file, scope }, value)
            }
            BindingValue::Definition(_) | BindingValue::Import(_) => ValueSet::UNKNOWN,
        };
        self.open -= 1;
        self.bindings.insert(key, found.clone());
        found
    }

    /// Returns the meaning of an import.
    pub(in crate::references) fn import(&mut self, file: FileId, import: ImportId) -> ValueSet {
        if let Some(known) = self.imports.get(&(file, import)) {
            return known.clone();
        }
        // Two Rust imports may bind one name, and one may lead to the other; then it does not restrict that one.
        let is_rust = self.index.rules(file) == NameRules::Rust;
        let open = if is_rust { ValueSet::FOREIGN } else { ValueSet::UNKNOWN };
        self.imports.insert((file, import), open);
        self.open += 1;
        let found = self.imported(file, import);
        self.open -= 1;
        if found.values.is_empty() && !self.open_stars.is_empty() {
            // The name that is being looked up may lead back to this import.
            self.imports.remove(&(file, import));
        } else {
            self.imports.insert((file, import), found.clone());
        }
        found
    }

    /// Returns the target of a type alias.
    pub(in crate::references) fn alias(&mut self, key: DefinitionKey) -> ValueSet {
        let fact = self.index.definition(key);
        match fact.bases.first() {
            Some(base) => self.value(key.at(fact.scope), *base),
            None => ValueSet::UNKNOWN,
        }
    }
}
