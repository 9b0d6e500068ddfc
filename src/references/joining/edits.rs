//! Joins only the changed files after an edit that is invisible to all other files.
//!
//! An edit of a body rarely changes what is visible of a file: its definitions and imports, bindings outside of
//! functions, and the local variables that determine what a function returns or what an attribute is. Other variables
//! are invisible, and so are lambdas, comprehensions and blocks that contain nothing else, and the imports of Java and
//! Go files.

use rustc_hash::FxHashSet;

use super::c::{CNames, renamed_by};
use super::join::{is_joined_by_itself, join_by_itself, join_files};
use crate::model::{
    BindingFact, BindingValue, DefinitionFact, ExpressionFact, ExpressionId, ImportId, NameId, ScopeFact,
    ScopeId, ScopeKind, SourceFacts, UseFact,
};
use crate::references::evaluation::ProjectTables;
use crate::references::found::{ProjectReferences, Reference};
use crate::references::project::{FileId, NameRules, ProjectFile, ProjectIndex, is_in_function};
use crate::references::python::uses_in_variables;

/// Returns the references of changed files; `None` if references of other files may have changed too. `changed` has
/// each changed file with its earlier facts, by file; all other files are unchanged. `kept` returns the references of
/// the other files that are outside of all definitions.
pub fn find_changed_references(
    files: &[ProjectFile],
    changed: &[(u32, &SourceFacts)],
    kept: impl FnOnce() -> Vec<Reference>,
) -> Option<ProjectReferences> {
    let rules = |file: FileId| NameRules::of(files[file as usize].language);
    let facts = |file: FileId| &*files[file as usize].facts;
    let is_alike = |(file, before): &(u32, &SourceFacts)| is_seen_alike(rules(*file), before, facts(*file));
    if !changed.iter().all(is_alike) {
        return None;
    }
    let is_alone = |(file, _): &(u32, &SourceFacts)| rules(*file).is_some_and(is_joined_by_itself);
    if changed.iter().all(is_alone) {
        return Some(joined_by_themselves(files, changed));
    }
    let index = ProjectIndex::new(files);
    let changed: Vec<FileId> = changed.iter().map(|(file, _)| *file).collect();
    Some(join_files(&index, &ProjectTables::new(&index), &changed, &kept()))
}

/// Returns the references of files that are joined by themselves, which needs no tables of all files.
fn joined_by_themselves(files: &[ProjectFile], changed: &[(u32, &SourceFacts)]) -> ProjectReferences {
    let own_names = changed.iter().flat_map(|(file, _)| &files[*file as usize].facts.names);
    let mut names: FxHashSet<&str> = own_names.map(String::as_str).collect();
    names.extend(files.iter().filter(|file| file.language == "c").flat_map(|file| renamed_by(&file.facts)));
    let index = ProjectIndex::of_names(files, |name| names.contains(name));
    let mut c_names = CNames::new(&index);
    let mut found = ProjectReferences::default();
    for (file, _) in changed {
        join_by_itself(&index, &mut c_names, *file, &mut found);
    }
    found
}

/// Returns whether an edit of a file is invisible to other files.
fn is_seen_alike(rules: Option<NameRules>, before: &SourceFacts, after: &SourceFacts) -> bool {
    let (before, after) = (SeenFacts::new(rules, before), SeenFacts::new(rules, after));
    let mut edit = Edit { before: &before, after: &after, alike: FxHashSet::default(), lines: Vec::new() };
    let (a, b) = (before.facts, after.facts);
    are_alike(&before.scopes, &after.scopes, |a, b| edit.is_scope(*a, *b))
        && are_alike(&a.definitions, &b.definitions, |a, b| edit.is_definition(a, b))
        && are_alike(&before.imports, &after.imports, |a, b| edit.is_import(*a, *b))
        && are_alike(&before.bindings, &after.bindings, |a, b| edit.is_binding(a, b))
        && are_alike(&before.uses, &after.uses, |a, b| edit.is_use(a, b))
        // Only in Python does the meaning of another file's name depend on lines.
        && (rules != Some(NameRules::Python) || edit.has_lines_in_order())
}

fn are_alike<T>(before: &[T], after: &[T], mut is_alike: impl FnMut(&T, &T) -> bool) -> bool {
    before.len() == after.len() && before.iter().zip(after).all(|(before, after)| is_alike(before, after))
}

/// What is visible of a file to others, besides its definitions: everything except what is within functions or imported
/// only for the file, unless something visible depends on it.
struct SeenFacts<'a> {
    facts: &'a SourceFacts,
    /// In ascending order, as are the imports.
    scopes: Vec<ScopeId>,
    imports: Vec<ImportId>,
    bindings: Vec<BindingFact>,
    uses: Vec<UseFact>,
}

impl<'a> SeenFacts<'a> {
    fn new(rules: Option<NameRules>, facts: &'a SourceFacts) -> Self {
        let (bindings, hidden) = seen_bindings(rules, facts);
        let import_of = |binding: &BindingFact| match binding.value {
            BindingValue::Import(import) => Some(import),
            _ => None,
        };
        let hidden_imports: FxHashSet<ImportId> = hidden.iter().filter_map(import_of).collect();
        let is_seen = |import: &ImportId| !hidden_imports.contains(import);
        let imports = (0..).take(facts.imports.len()).filter(is_seen).collect();
        let mut seen = Self { facts, scopes: Vec::new(), imports, bindings, uses: seen_uses(rules, facts) };
        seen.scopes = seen.seen_scopes();
        seen
    }

    /// Returns the scopes, except lambdas, comprehensions and blocks within functions that contain nothing visible.
    fn seen_scopes(&self) -> Vec<ScopeId> {
        let facts = self.facts;
        let is_inner = |scope: &ScopeFact| {
            matches!(scope.kind, ScopeKind::Function | ScopeKind::Block)
                && scope.definition.is_none()
                && is_in_function(facts, scope.parent)
        };
        let mut is_seen: Vec<bool> = facts.scopes.iter().map(|scope| !is_inner(scope)).collect();
        let of_bindings = self.bindings.iter().flat_map(|binding| [binding.scope, binding.at]);
        let of_definitions = facts.definitions.iter().flat_map(|fact| [Some(fact.scope), fact.body]);
        let of_imports = self.imports.iter().map(|import| facts.imports[*import as usize].scope);
        let of_uses = self.uses.iter().map(|usage| usage.scope);
        for scope in of_bindings.chain(of_definitions.flatten()).chain(of_imports).chain(of_uses) {
            is_seen[scope as usize] = true;
        }
        // Each scope follows the one that contains it.
        for (at, scope) in facts.scopes.iter().enumerate().rev() {
            if is_seen[at] {
                is_seen[scope.parent as usize] = true;
            }
        }
        (0..).zip(is_seen).filter(|(_, is_seen)| *is_seen).map(|(scope, _)| scope).collect()
    }
}

/// Returns the bindings of a file that are visible to others, and the remaining ones, on which nothing visible depends.
fn seen_bindings(rules: Option<NameRules>, facts: &SourceFacts) -> (Vec<BindingFact>, Vec<BindingFact>) {
    let (mut hidden, mut seen): (Vec<BindingFact>, Vec<BindingFact>) =
        facts.bindings.iter().partition(|binding| may_be_hidden(rules, facts, binding));
    if !has_values(rules) {
        return (seen, hidden);
    }
    let mut names = NamesInExpressions { facts, names: FxHashSet::default(), visited: FxHashSet::default() };
    for definition in &facts.definitions {
        definition.bases.iter().chain(&definition.returns).for_each(|at| names.add(*at));
    }
    let mut new = seen.clone();
    while !new.is_empty() {
        new.iter().filter_map(expression_of).for_each(|at| names.add(at));
        let is_named = |binding: &BindingFact| names.names.contains(facts.plain_name(binding.name));
        (new, hidden) = hidden.into_iter().partition(is_named);
        seen.extend(&new);
    }
    // Several bindings of one name keep their order.
    seen.sort_by_key(|binding| (binding.scope, binding.name));
    (seen, hidden)
}

/// Returns whether a binding is invisible to other files unless something visible depends on it.
fn may_be_hidden(rules: Option<NameRules>, facts: &SourceFacts, binding: &BindingFact) -> bool {
    let scope = facts.scope(binding.scope);
    // Other files can find the members of a class within a function by name.
    let is_local = || {
        matches!(scope.kind, ScopeKind::Function | ScopeKind::Block) && is_in_function(facts, binding.scope)
    };
    let is_lambda = scope.definition.is_none();
    let may_be = match binding.value {
        BindingValue::Value(_) => is_local(),
        // In Python, other files may use the types of parameters.
        BindingValue::Typed(_) => (rules != Some(NameRules::Python) || is_lambda) && is_local(),
        BindingValue::Default(_) => (!has_values(rules) || is_lambda) && is_local(),
        // Other files cannot find the imports of a Java or Go file by name, unless it defines the name too.
        BindingValue::Import(import) => {
            let same = facts.bindings_of(binding.scope, binding.name);
            matches!(rules, Some(NameRules::Java | NameRules::Go))
                && !facts.imports[import as usize].is_star
                && same.iter().all(|binding| matches!(binding.value, BindingValue::Import(_)))
        }
        BindingValue::Definition(_) => false,
    };
    may_be && !facts.name(binding.name).starts_with('(')
}

/// Returns whether the meaning of names depends on values.
fn has_values(rules: Option<NameRules>) -> bool {
    rules.is_some_and(|rules| !is_joined_by_itself(rules))
}

/// Returns the expression that a name is bound to, or the one that declares its type.
fn expression_of(binding: &BindingFact) -> Option<ExpressionId> {
    match binding.value {
        BindingValue::Value(at) | BindingValue::Default(at) | BindingValue::Typed(at) => Some(at),
        BindingValue::Definition(_) | BindingValue::Import(_) => None,
    }
}

/// Returns the uses of a file that affect what is visible of it: the contents of Python module variables, and what Rust
/// macros add to a module.
fn seen_uses(rules: Option<NameRules>, facts: &SourceFacts) -> Vec<UseFact> {
    match rules {
        Some(NameRules::Python) => uses_in_variables(facts).collect(),
        Some(NameRules::Rust) => {
            let is_in_module = |usage: &&UseFact| facts.scope(usage.scope).kind == ScopeKind::Module;
            let macros = facts.uses.iter().filter(|usage| usage.is_type && usage.is_call);
            macros.filter(is_in_module).copied().collect()
        }
        _ => Vec::new(),
    }
}

/// The names that some expressions of a file mention.
struct NamesInExpressions<'a> {
    facts: &'a SourceFacts,
    names: FxHashSet<&'a str>,
    visited: FxHashSet<ExpressionId>,
}

impl NamesInExpressions<'_> {
    fn add(&mut self, expression: ExpressionId) {
        let mut open = vec![expression];
        while let Some(at) = open.pop() {
            if self.visited.insert(at) {
                let fact = self.facts.expression(at);
                self.names.extend(fact.name().map(|name| self.facts.plain_name(name)));
                open.extend(fact.operands());
            }
        }
    }
}

/// What is visible of a file before and after an edit.
struct Edit<'a> {
    before: &'a SeenFacts<'a>,
    after: &'a SeenFacts<'a>,
    /// The expressions that are known to be equal.
    alike: FxHashSet<(ExpressionId, ExpressionId)>,
    /// The lines of what is visible, before and after.
    lines: Vec<(u32, u32)>,
}

impl Edit<'_> {
    fn is_scope(&self, a: ScopeId, b: ScopeId) -> bool {
        let (a, b) = (self.before.facts.scope(a), self.after.facts.scope(b));
        (a.kind, a.definition) == (b.kind, b.definition) && self.is_place(a.parent, b.parent)
    }

    /// Returns whether two scopes have the same position among the visible ones.
    fn is_place(&self, a: ScopeId, b: ScopeId) -> bool {
        self.before.scopes.binary_search(&a) == self.after.scopes.binary_search(&b)
    }

    fn is_definition(&mut self, a: &DefinitionFact, b: &DefinitionFact) -> bool {
        self.lines.extend([
            (a.first_line, b.first_line),
            (a.name_line, b.name_line),
            (a.last_line, b.last_line),
        ]);
        self.is_name(a.name, b.name)
            && (a.kind, a.flags, a.body.is_some()) == (b.kind, b.flags, b.body.is_some())
            && self.is_place(a.scope, b.scope)
            && a.body.zip(b.body).is_none_or(|(a, b)| self.is_place(a, b))
            && are_alike(&a.bases, &b.bases, |a, b| self.is_expression(*a, *b))
            && are_alike(&a.returns, &b.returns, |a, b| self.is_expression(*a, *b))
    }

    fn is_import(&mut self, a: ImportId, b: ImportId) -> bool {
        let (before, after) = (self.before.facts, self.after.facts);
        let (a, b) = (&before.imports[a as usize], &after.imports[b as usize]);
        self.lines.push((a.line, b.line));
        self.lines.extend(a.branch_end.zip(b.branch_end));
        self.is_name(a.module, b.module)
            && a.name.map(|name| before.name(name)) == b.name.map(|name| after.name(name))
            && (a.is_star, a.branch_end.is_some()) == (b.is_star, b.branch_end.is_some())
            && self.is_place(a.scope, b.scope)
    }

    fn is_binding(&mut self, a: &BindingFact, b: &BindingFact) -> bool {
        self.lines.push((a.line, b.line));
        self.is_name(a.name, b.name)
            && self.is_place(a.scope, b.scope)
            && self.is_place(a.at, b.at)
            && match (a.value, b.value) {
                (BindingValue::Definition(a), BindingValue::Definition(b)) => a == b,
                (BindingValue::Import(a), BindingValue::Import(b)) => {
                    self.before.imports.binary_search(&a) == self.after.imports.binary_search(&b)
                }
                (BindingValue::Value(a), BindingValue::Value(b))
                | (BindingValue::Default(a), BindingValue::Default(b))
                | (BindingValue::Typed(a), BindingValue::Typed(b)) => self.is_expression(a, b),
                _ => false,
            }
    }

    fn is_use(&mut self, a: &UseFact, b: &UseFact) -> bool {
        self.lines.push((a.line, b.line));
        let operands = |usage: &UseFact| usage.receiver.into_iter().chain(usage.applied).collect::<Vec<_>>();
        self.is_name(a.name, b.name)
            && (a.is_call, a.is_type, a.is_implied) == (b.is_call, b.is_type, b.is_implied)
            && self.is_place(a.scope, b.scope)
            && (a.receiver.is_some(), a.applied.is_some()) == (b.receiver.is_some(), b.applied.is_some())
            && are_alike(&operands(a), &operands(b), |a, b| self.is_expression(*a, *b))
    }

    fn is_name(&self, a: NameId, b: NameId) -> bool {
        self.before.facts.name(a) == self.after.facts.name(b)
    }

    /// Returns whether two expressions have the same structure.
    fn is_expression(&mut self, a: ExpressionId, b: ExpressionId) -> bool {
        let mut open = vec![(a, b)];
        while let Some((a, b)) = open.pop() {
            if !self.alike.insert((a, b)) {
                continue;
            }
            let (before, after) = (self.before.facts, self.after.facts);
            let (a, b) = (before.expression(a), after.expression(b));
            let is_part = match (a, b) {
                (ExpressionFact::Part(_, a), ExpressionFact::Part(_, b)) => a == b,
                _ => std::mem::discriminant(&a) == std::mem::discriminant(&b),
            };
            let is_named = a.name().map(|name| before.name(name)) == b.name().map(|name| after.name(name));
            if !is_part || !is_named {
                return false;
            }
            open.extend(a.operands().zip(b.operands()));
        }
        true
    }

    /// Returns whether lines are in their earlier order, so that names are bound in the same order as before.
    fn has_lines_in_order(mut self) -> bool {
        self.lines.sort_unstable();
        self.lines.dedup();
        self.lines.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1)
    }
}
