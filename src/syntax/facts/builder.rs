//! Collects the facts of one file while its tree is walked.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::{Node, Tree};

use super::branches::Branches;
use super::rust_macros::MacroFunction;
use super::script_objects::ScriptObjects;
use crate::model::{
    BindingFact, BindingValue, DefinitionFact, DefinitionFlags, DefinitionId, DefinitionKind, ExpressionFact,
    ExpressionId, ImportFact, ImportId, NameId, ScopeFact, ScopeId, ScopeKind, SourceFacts, UseFact,
};

/// Deeper syntax is not read: nobody writes it, and the walk is recursive.
pub(super) const MAX_DEPTH: usize = 200;
/// Longer chains of calls and attributes are unknown, so that reducing every part of a chain takes linear time.
pub(super) const MAX_CHAIN: usize = 12;
/// Deeper scopes are opened only for blocks, so that looking up a name takes a bounded number of steps.
const MAX_SCOPE_DEPTH: u32 = 400;

/// A function that reads a node.
pub(super) type Visit<'t> = fn(&mut FactsBuilder<'t>, Node<'t>);

/// Returns the child of a node with this field name.
pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Option<Node<'t>> {
    node.child_by_field_name(name)
}

/// The facts so far, and the scope that the walk is in.
pub(super) struct FactsBuilder<'t> {
    pub(super) text: &'t str,
    pub(super) facts: SourceFacts,
    pub(super) scope: ScopeId,
    /// Names that a function declares as those of an outer scope: the function's scope, the name, the outer scope.
    pub(super) declared_outer: Vec<(ScopeId, NameId, ScopeId)>,
    /// The meanings of the names in the comprehensions that are being reduced.
    pub(super) element_names: Vec<(NameId, ExpressionId)>,
    /// The first line of the attributes before the next item.
    pub(super) attribute_at: Option<u32>,
    /// The types that each scope defines; later implementations may add to them.
    pub(super) types: FxHashMap<(ScopeId, NameId), DefinitionId>,
    /// The scope of the methods of each Go type.
    pub(super) method_scopes: FxHashMap<NameId, ScopeId>,
    /// The starts of unnamed Go structs.
    pub(super) struct_types: FxHashSet<usize>,
    /// The objects of a JavaScript file.
    pub(super) objects: ScriptObjects<'t>,
    /// The items between the brackets of Rust macros, by the byte at which the brackets begin.
    pub(super) macro_items: Option<&'t FxHashMap<usize, Tree>>,
    /// The functions that Rust macros define, by the names of the macros.
    pub(super) macro_functions: FxHashMap<&'t str, Vec<MacroFunction<'t>>>,
    /// The branches of Python statements.
    pub(super) branches: Branches,
    name_ids: FxHashMap<Cow<'t, str>, NameId>,
    expression_ids: FxHashMap<ExpressionFact, ExpressionId>,
    depth: usize,
    chain: usize,
    /// The number of uses before each scope, and its depth.
    scope_starts: Vec<(usize, u32)>,
    /// The number of uses up to the last use of each name, and the scope that last bound it as a local.
    seen: Vec<(usize, Option<ScopeId>)>,
}

/// The input of [`FactsBuilder::define`].
pub(super) struct NewDefinition<'t> {
    pub(super) name: Node<'t>,
    pub(super) whole: Node<'t>,
    pub(super) kind: DefinitionKind,
    pub(super) flags: u16,
}

impl<'t> FactsBuilder<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let mut builder = Self {
            text,
            facts: SourceFacts::default(),
            scope: 0,
            declared_outer: Vec::new(),
            element_names: Vec::new(),
            attribute_at: None,
            types: FxHashMap::default(),
            method_scopes: FxHashMap::default(),
            struct_types: FxHashSet::default(),
            objects: ScriptObjects::default(),
            macro_items: None,
            macro_functions: FxHashMap::default(),
            branches: Branches::default(),
            name_ids: FxHashMap::default(),
            expression_ids: FxHashMap::default(),
            depth: 0,
            chain: 0,
            scope_starts: vec![(0, 0)],
            seen: Vec::new(),
        };
        builder.facts.scopes.push(ScopeFact { parent: 0, kind: ScopeKind::Module, definition: None });
        builder.expression(ExpressionFact::Unknown);
        builder
    }

    /// Returns the text of a node.
    pub(super) fn text_of(&self, node: Node<'t>) -> &'t str {
        self.text.get(node.byte_range()).unwrap_or_default()
    }

    pub(super) fn name(&mut self, name: &'t str) -> NameId {
        self.any_name(Cow::Borrowed(name))
    }

    /// Returns the index of a name that is assembled from parts of the text.
    pub(super) fn any_name(&mut self, name: Cow<'t, str>) -> NameId {
        if let Some(known) = self.name_ids.get(&name) {
            return *known;
        }
        if name.contains('\n') {
            // The path of a module or a body in a text full of errors; facts are stored with one name per line.
            let on_one_line = self.any_name(Cow::Owned(name.replace('\n', " ")));
            self.name_ids.insert(name, on_one_line);
            return on_one_line;
        }
        let at = index(self.facts.names.len());
        self.facts.names.push(name.clone().into_owned());
        self.name_ids.insert(name, at);
        at
    }

    /// Returns the index of a name that is not contained in the text.
    pub(super) fn composed_name(&mut self, name: &str) -> NameId {
        if let Some(known) = self.name_ids.get(name) {
            return *known;
        }
        self.any_name(Cow::Owned(name.to_owned()))
    }

    pub(super) fn name_of(&mut self, node: Node<'t>) -> NameId {
        self.name(self.text_of(node))
    }

    pub(super) fn expression(&mut self, fact: ExpressionFact) -> ExpressionId {
        let expressions = &mut self.facts.expressions;
        *self.expression_ids.entry(fact).or_insert_with(|| {
            expressions.push(fact);
            index(expressions.len() - 1)
        })
    }

    /// Returns the expression of a name in scope.
    pub(super) fn named(&mut self, node: Node<'t>) -> ExpressionId {
        let name = self.name_of(node);
        self.expression(ExpressionFact::Name(name))
    }

    /// Returns the expression of a built-in type, or of one that the text cannot name otherwise.
    pub(super) fn named_type(&mut self, name: &str) -> ExpressionId {
        let name = self.composed_name(name);
        self.expression(ExpressionFact::TypeName(name))
    }

    /// Returns an expression with one operand, which `reduce` reduces.
    pub(super) fn unary(
        &mut self,
        expression: fn(ExpressionId) -> ExpressionFact,
        operand: Option<Node<'t>>,
        reduce: fn(&mut Self, Node<'t>) -> ExpressionId,
    ) -> ExpressionId {
        let operand = self.chained(operand, reduce);
        self.expression(expression(operand))
    }

    /// Returns a member of an object, which `reduce` reduces; unknown without a name.
    pub(super) fn member(
        &mut self,
        object: Option<Node<'t>>,
        name: Option<Node<'t>>,
        reduce: fn(&mut Self, Node<'t>) -> ExpressionId,
    ) -> ExpressionId {
        let object = self.chained(object, reduce);
        let Some(name) = name else { return 0 };
        let name = self.name_of(name);
        self.expression(ExpressionFact::Member(object, name))
    }

    /// Returns a generic type with arguments, which `reduce` reduces.
    pub(super) fn applied(
        &mut self,
        generic: ExpressionId,
        arguments: impl IntoIterator<Item = Node<'t>>,
        reduce: fn(&mut Self, Node<'t>) -> ExpressionId,
    ) -> ExpressionId {
        arguments.into_iter().fold(generic, |generic, argument| {
            let argument = self.chained(Some(argument), reduce);
            self.expression(ExpressionFact::Apply(generic, argument))
        })
    }

    /// Reduces an operand with `reduce`, unless the chain is too long already.
    pub(super) fn chained(
        &mut self,
        node: Option<Node<'t>>,
        reduce: fn(&mut Self, Node<'t>) -> ExpressionId,
    ) -> ExpressionId {
        let Some(node) = node else { return 0 };
        if MAX_CHAIN <= self.chain {
            return 0;
        }
        self.chain += 1;
        let expression = reduce(self, node);
        self.chain -= 1;
        expression
    }

    /// Visits each named child of a node, unless it is too deep.
    pub(super) fn visit_children(&mut self, node: Node<'t>, visit: fn(&mut Self, Node<'t>)) {
        if MAX_DEPTH <= self.depth {
            return;
        }
        self.depth += 1;
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            visit(self, child);
        }
        self.depth -= 1;
    }

    /// Visits a node that is not reached as a child, with the same depth limit.
    pub(super) fn deeper(&mut self, node: Node<'t>, visit: impl FnOnce(&mut Self, Node<'t>)) {
        if MAX_DEPTH <= self.depth {
            return;
        }
        self.depth += 1;
        visit(self, node);
        self.depth -= 1;
    }

    /// Visits a field of a node, if the node has it.
    pub(super) fn visit_field(&mut self, node: Node<'t>, name: &str, visit: fn(&mut Self, Node<'t>)) {
        if let Some(child) = field(node, name) {
            self.deeper(child, visit);
        }
    }

    /// Visits the children of a node in a new scope.
    pub(super) fn in_block(&mut self, node: Node<'t>, visit: fn(&mut Self, Node<'t>)) {
        let outer = self.open_scope(ScopeKind::Block, None);
        self.visit_children(node, visit);
        self.scope = outer;
    }

    /// Returns the expression for either of two values.
    pub(super) fn either(
        &mut self,
        left: Option<Node<'t>>,
        right: Option<Node<'t>>,
        reduce: fn(&mut Self, Node<'t>) -> ExpressionId,
    ) -> ExpressionId {
        let left = self.chained(left, reduce);
        let right = self.chained(right, reduce);
        self.expression(ExpressionFact::Either(left, right))
    }

    /// Opens a scope within the current one and enters it; returns the one to go back to.
    pub(super) fn open_scope(&mut self, kind: ScopeKind, definition: Option<DefinitionId>) -> ScopeId {
        let outer = self.scope;
        self.facts.scopes.push(ScopeFact { parent: outer, kind, definition });
        let depth = self.scope_starts.get(outer as usize).map_or(0, |(_, depth)| depth + 1);
        self.scope_starts.push((self.facts.uses.len(), depth));
        self.scope = index(self.facts.scopes.len() - 1);
        outer
    }

    /// Adds a definition to the current scope, without a binding.
    pub(super) fn define(&mut self, new: &NewDefinition<'t>) -> DefinitionId {
        let name = self.name_of(new.name);
        self.facts.definitions.push(DefinitionFact {
            name,
            kind: new.kind,
            scope: self.scope,
            body: None,
            first_line: line_of(new.whole),
            name_line: line_of(new.name),
            last_line: index(new.whole.end_position().row + 1),
            flags: DefinitionFlags(new.flags),
            bases: Vec::new(),
            returns: Vec::new(),
        });
        index(self.facts.definitions.len() - 1)
    }

    /// Adds an unnamed definition to the current scope.
    pub(super) fn define_unnamed(
        &mut self,
        at: Node<'t>,
        whole: Node<'t>,
        kind: DefinitionKind,
    ) -> DefinitionId {
        let definition = self.define(&NewDefinition { name: at, whole, kind, flags: 0 });
        let name = self.name("");
        let fact = self.definition(definition);
        fact.name = name;
        fact.first_line = fact.first_line.min(fact.name_line);
        definition
    }

    /// Opens the scope of a definition's body.
    pub(super) fn open_body(&mut self, definition: DefinitionId, kind: ScopeKind) -> ScopeId {
        let outer = self.open_scope(kind, Some(definition));
        self.facts.definitions[definition as usize].body = Some(self.scope);
        outer
    }

    pub(super) fn definition(&mut self, definition: DefinitionId) -> &mut DefinitionFact {
        &mut self.facts.definitions[definition as usize]
    }

    /// Binds a name in a scope to a value that is evaluated in the current one.
    pub(super) fn bind(&mut self, scope: ScopeId, name: NameId, value: BindingValue, line: u32) {
        self.facts.bindings.push(BindingFact { scope, name, value, at: self.scope, line });
    }

    pub(super) fn bind_node(&mut self, scope: ScopeId, node: Node<'t>, value: BindingValue) {
        let name = self.name_of(node);
        self.bind(scope, name, value, line_of(node));
    }

    /// Binds a local that is visible only from here on.
    pub(super) fn bind_local(&mut self, scope: ScopeId, node: Node<'t>, value: BindingValue) {
        let name = self.name_of(node);
        self.seen(name).1 = Some(scope);
        self.bind(scope, name, value, line_of(node));
    }

    /// Returns whether the current scope has used or bound a name before.
    pub(super) fn is_seen_here(&mut self, name: NameId) -> bool {
        let start = self.scope_starts[self.scope as usize].0;
        let scope = self.scope;
        let seen = self.seen(name);
        start < seen.0 || seen.1 == Some(scope)
    }

    /// Returns whether another scope may be opened within the current one to hide a name.
    pub(super) fn can_hide(&self) -> bool {
        self.scope_starts[self.scope as usize].1 < MAX_SCOPE_DEPTH
    }

    fn seen(&mut self, name: NameId) -> &mut (usize, Option<ScopeId>) {
        let at = name as usize;
        if self.seen.len() <= at {
            self.seen.resize(at + 1, (0, None));
        }
        &mut self.seen[at]
    }

    pub(super) fn import(
        &mut self,
        module: &'t str,
        name: Option<&'t str>,
        is_star: bool,
        line: u32,
    ) -> ImportId {
        let module = self.name(module);
        let name = name.map(|name| self.name(name));
        self.import_named(module, name, is_star, line)
    }

    pub(super) fn import_named(
        &mut self,
        module: NameId,
        name: Option<NameId>,
        is_star: bool,
        line: u32,
    ) -> ImportId {
        self.facts.imports.push(ImportFact {
            module,
            name,
            is_star,
            scope: self.scope,
            line,
            branch_end: None,
        });
        index(self.facts.imports.len() - 1)
    }

    pub(super) fn use_name(&mut self, node: Node<'t>, receiver: Option<ExpressionId>, is_call: bool) {
        let name = self.name_of(node);
        self.use_composed(node, name, receiver, is_call);
        if receiver.is_none() {
            self.seen(name).0 = self.facts.uses.len();
        }
    }

    /// Adds the use of a member, and visits the object before it. `fields` are the grammar's field names of the object
    /// and the member; `value_of` reduces the object to an expression.
    pub(super) fn use_member(
        &mut self,
        node: Node<'t>,
        fields: [&str; 2],
        is_call: bool,
        value_of: fn(&mut Self, Node<'t>) -> ExpressionId,
        visit: fn(&mut Self, Node<'t>),
    ) {
        let [Some(object), Some(name)] = fields.map(|name| field(node, name)) else { return };
        let receiver = value_of(self, object);
        self.use_name(name, Some(receiver), is_call);
        self.deeper(object, visit);
    }

    /// Adds the use of a macro, which is marked as both a call and a type.
    pub(super) fn use_macro(&mut self, node: Node<'t>) {
        self.use_type(node, None);
        if let Some(last) = self.facts.uses.last_mut() {
            last.is_call = true;
        }
    }

    /// Records a call of a constructor of the type `name` where something else is written.
    pub(super) fn use_implied_constructor(&mut self, node: Node<'t>, name: NameId) {
        self.use_composed(node, name, None, true);
        if let Some(last) = self.facts.uses.last_mut() {
            (last.is_type, last.is_implied) = (true, true);
        }
    }

    /// Visits the name of a type whose constructor is called: the first use that `visit` adds is both a call and a type.
    pub(super) fn use_constructor(&mut self, visit: impl FnOnce(&mut Self)) {
        let first = self.facts.uses.len();
        visit(self);
        if let Some(used) = self.facts.uses.get_mut(first) {
            (used.is_call, used.is_type) = (true, true);
        }
    }

    /// Records the use of a name that is looked up under another name.
    pub(super) fn use_composed(
        &mut self,
        node: Node<'t>,
        name: NameId,
        receiver: Option<ExpressionId>,
        is_call: bool,
    ) {
        let usage = UseFact::new(name, line_of(node), self.scope);
        self.facts.uses.push(UseFact { receiver, is_call, ..usage });
    }

    /// Records what the most recently used name is applied to.
    pub(super) fn apply_last_use(&mut self, applied: ExpressionId) {
        if let Some(last) = self.facts.uses.last_mut() {
            last.applied = Some(applied);
        }
    }

    pub(super) fn use_type(&mut self, node: Node<'t>, receiver: Option<ExpressionId>) {
        self.use_name(node, receiver, false);
        if let Some(last) = self.facts.uses.last_mut() {
            last.is_type = true;
        }
    }

    /// Returns the innermost enclosing scope whose kind is not `Block`.
    pub(super) fn function_scope(&self) -> ScopeId {
        let mut scope = self.scope;
        while scope != 0 && self.facts.scopes[scope as usize].kind == ScopeKind::Block {
            scope = self.facts.scopes[scope as usize].parent;
        }
        scope
    }

    /// Returns the innermost type scope around the current one.
    pub(super) fn class_scope(&self) -> Option<ScopeId> {
        let mut scope = self.scope;
        while scope != 0 {
            let fact = self.facts.scopes[scope as usize];
            if matches!(fact.kind, ScopeKind::Class | ScopeKind::Implementation) {
                return Some(scope);
            }
            scope = fact.parent;
        }
        None
    }

    /// Returns the facts with the tables in the order that lookups need.
    pub(super) fn finish(mut self) -> SourceFacts {
        let facts = &mut self.facts;
        let mut order: Vec<NameId> = (0..index(facts.names.len())).collect();
        order.sort_unstable_by(|a, b| facts.names[*a as usize].cmp(&facts.names[*b as usize]));
        let mut new_ids = vec![0; order.len()];
        for (new, old) in (0..).zip(&order) {
            new_ids[*old as usize] = new;
        }
        let mut names = std::mem::take(&mut facts.names);
        facts.names = order.iter().map(|old| std::mem::take(&mut names[*old as usize])).collect();
        renumber(facts, &new_ids);
        facts.bindings.sort_by_key(|binding| (binding.scope, binding.name));
        self.facts
    }
}

/// Replaces each name by its index in the sorted table.
fn renumber(facts: &mut SourceFacts, new_ids: &[NameId]) {
    let replace = |name: &mut NameId| *name = new_ids[*name as usize];
    facts.definitions.iter_mut().for_each(|definition| replace(&mut definition.name));
    facts.bindings.iter_mut().for_each(|binding| replace(&mut binding.name));
    facts.uses.iter_mut().for_each(|found| replace(&mut found.name));
    for import in &mut facts.imports {
        replace(&mut import.module);
        import.name.iter_mut().for_each(replace);
    }
    for expression in &mut facts.expressions {
        if let ExpressionFact::Name(name)
        | ExpressionFact::TypeName(name)
        | ExpressionFact::Member(_, name)
        | ExpressionFact::Field(_, name) = expression
        {
            replace(name);
        }
    }
}

/// Returns the line that a node begins on, counted from 1.
pub(super) fn line_of(node: Node<'_>) -> u32 {
    index(node.start_position().row + 1)
}

/// Returns an index into a table of a file, which has fewer bytes than a `u32` counts.
pub(super) fn index(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
