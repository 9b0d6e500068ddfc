//! The references of a project, indexed by both ends.

use std::collections::HashMap;
use std::sync::Arc;

use crate::model::{
    DefinitionFact, DefinitionFlags, DefinitionKind, ExpressionFact, ExpressionId, RelPath, ScopeKind,
    SourceFacts,
};
use crate::references::{
    InheritedDefinition, ProjectFile, ProjectReferences, Reference, ReferenceGrade, UnresolvedUse,
};

/// The index of a symbol in [`ReferenceGraph::symbols`].
pub type SymbolId = u32;

/// The symbols of a project and the references between them. Data that an edit does not affect is shared with the
/// previous graph.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReferenceGraph {
    files: Arc<Vec<GraphFile>>,
    /// Ordered by file, and within a file by the positions of their names.
    symbols: Vec<GraphSymbol>,
    /// By file and line of the use, then by symbol.
    references: Vec<GraphReference>,
    to_symbol: Adjacency,
    from_symbol: Adjacency,
    children: Arc<Adjacency>,
    stand_ins: Arc<StandIns>,
    unresolved: Arc<UnresolvedUses>,
}

/// Symbols that may be used in place of others: for a member those that it overrides, for a type those that inherit it.
#[derive(Debug, PartialEq, Eq, Default)]
struct StandIns {
    symbols: Vec<SymbolId>,
    of_symbol: Adjacency,
}

/// The uses that could not be resolved.
#[derive(Debug, PartialEq, Eq, Default)]
struct UnresolvedUses {
    /// Sorted by file and line.
    places: Vec<UnresolvedPlace>,
    /// The rows of `places` for each name.
    of_name: HashMap<Box<str>, Vec<u32>>,
}

/// A use of a name that could not be resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnresolvedPlace {
    pub(super) file: u32,
    pub(super) line: u32,
    /// The innermost symbol that contains it.
    pub(super) from: Option<SymbolId>,
}

/// A file of the graph.
#[derive(Debug, PartialEq, Eq)]
struct GraphFile {
    path: RelPath,
    language: &'static str,
    is_test: bool,
    /// The first of its symbols; they end at the first symbol of the next file.
    first_symbol: SymbolId,
}

/// A function, a type or a macro.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphSymbol {
    /// Its qualified name, joined by dots.
    pub qualified_name: Arc<str>,
    /// The index of its file.
    pub file: u32,
    /// Its kind.
    pub kind: DefinitionKind,
    /// Whether it is a member of a type.
    pub is_member: bool,
    /// Its first line including decorators, counted from 1.
    pub first_line: u32,
    /// The line of its name.
    pub line: u32,
    /// Its last line.
    pub last_line: u32,
    /// The enclosing symbol.
    pub(super) parent: Option<SymbolId>,
    /// Whether it only declares what another symbol defines.
    pub(super) is_prototype: bool,
    /// Whether the test framework runs it because of a mark, not its name; for a class, whether its base is a test
    /// case.
    pub(super) is_test_item: bool,
}

/// A use of a name, and a symbol that it may mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphReference {
    /// The index of the file of the use.
    pub file: u32,
    /// The line of the name.
    pub line: u32,
    /// The innermost symbol that contains it.
    pub from: Option<SymbolId>,
    /// The symbol that it refers to.
    pub to: SymbolId,
    /// How certain that is.
    pub grade: ReferenceGrade,
    /// Whether the name is called.
    pub is_call: bool,
    /// Whether it is not a visible use, but may run with the symbol: a fixture that every test has, or the contents of
    /// a variable.
    pub(super) is_implied: bool,
}

/// The rows of a table that belong to each symbol.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Adjacency {
    /// Where the rows of each symbol begin in `rows`; one more entry than symbols.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Adjacency {
    /// `owners` has the owning symbol of each row.
    fn new(symbols: usize, owners: &[Option<SymbolId>]) -> Self {
        let mut starts = vec![0; symbols + 1];
        for owner in owners.iter().flatten() {
            starts[*owner as usize + 1] += 1;
        }
        for at in 0..symbols {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut rows = vec![0; starts[symbols] as usize];
        for (row, owner) in (0..).zip(owners) {
            if let Some(owner) = owner {
                rows[next[*owner as usize] as usize] = row;
                next[*owner as usize] += 1;
            }
        }
        Self { starts, rows }
    }

    fn rows_of(&self, symbol: SymbolId) -> &[u32] {
        let at = symbol as usize;
        &self.rows[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl UnresolvedUses {
    /// Several uses on one line keep their order.
    fn new(mut named: Vec<(UnresolvedPlace, &str)>) -> Self {
        named.sort_by_key(|(place, _)| (place.file, place.line));
        let mut uses = Self::default();
        for (row, (place, name)) in (0..).zip(named) {
            uses.places.push(place);
            match uses.of_name.get_mut(name) {
                Some(rows) => rows.push(row),
                None => drop(uses.of_name.insert(name.into(), vec![row])),
            }
        }
        uses
    }

    /// Returns the uses with their names, in order.
    fn named(&self) -> impl Iterator<Item = (UnresolvedPlace, &str)> {
        let mut names = vec![""; self.places.len()];
        for (name, rows) in &self.of_name {
            for row in rows {
                names[*row as usize] = name;
            }
        }
        self.places.iter().copied().zip(names)
    }
}

impl ReferenceGraph {
    /// Builds the graph from the references of files. `paths` has the paths of the files, in the same order.
    pub(super) fn new(files: &[ProjectFile], paths: &[RelPath], found: &ProjectReferences) -> Self {
        let mut graph = Self::default();
        let mut graph_files = Vec::with_capacity(files.len());
        for (file, path) in files.iter().zip(paths) {
            let first_symbol = index(graph.symbols.len());
            graph.symbols.extend(symbols(&file.facts, index(graph_files.len()), first_symbol));
            graph_files.push(GraphFile {
                path: path.clone(),
                language: file.language,
                is_test: file.is_test,
                first_symbol,
            });
        }
        graph.files = Arc::new(graph_files);
        graph.set_references(graph.references_of(&found.references));
        let parents: Vec<_> = graph.symbols.iter().map(|symbol| symbol.parent).collect();
        graph.children = Arc::new(Adjacency::new(graph.symbols.len(), &parents));
        graph.stand_ins = Arc::new(graph.stand_ins(&found.inherited));
        graph.unresolved = Arc::new(UnresolvedUses::new(graph.unresolved_places(files, &found.unresolved)));
        graph
    }

    /// Returns the graph after an edit of some files that other files do not see; `found` has the references of only
    /// these files. `files` are those of the graph, in the same order, as are the edited ones.
    pub(super) fn edited(&self, files: &[ProjectFile], edited: &[u32], found: &ProjectReferences) -> Self {
        let mut graph = self.clone();
        for file in edited {
            let range = self.symbols_range(*file);
            let new = symbols(&files[*file as usize].facts, *file, range.start);
            graph.symbols.splice(range.start as usize..range.end as usize, new);
        }
        let is_kept = |file: u32| edited.binary_search(&file).is_err();
        let mut references = self.references_of(&found.references);
        references.extend(self.references.iter().filter(|reference| is_kept(reference.file)));
        graph.set_references(references);
        let had_unresolved = self.unresolved.places.iter().any(|place| !is_kept(place.file));
        if had_unresolved || !found.unresolved.is_empty() {
            let mut unresolved = self.unresolved_places(files, &found.unresolved);
            unresolved.extend(self.unresolved.named().filter(|(place, _)| is_kept(place.file)));
            graph.unresolved = Arc::new(UnresolvedUses::new(unresolved));
        }
        graph
    }

    /// Returns whether the graph results from an edit that other files do not see.
    #[cfg(test)]
    pub(super) fn is_edit_of(&self, before: &Self) -> bool {
        !std::ptr::eq(self, before) && Arc::ptr_eq(&self.files, &before.files)
    }

    fn references_of(&self, found: &[Reference]) -> Vec<GraphReference> {
        let reference = |found: &Reference| GraphReference {
            file: found.from_file,
            line: found.from_line,
            from: found.from_definition.map(|definition| self.symbol_of(found.from_file, definition)),
            to: self.symbol_of(found.to_file, found.to_definition),
            grade: found.grade,
            is_call: found.is_call,
            is_implied: found.is_implied,
        };
        found.iter().map(reference).collect()
    }

    /// Returns the references outside of all symbols, except for those of some files, which must be sorted.
    pub(super) fn outer_references(&self, except: &[u32]) -> Vec<Reference> {
        let is_outer = |reference: &&GraphReference| {
            reference.from.is_none() && except.binary_search(&reference.file).is_err()
        };
        let reference = |outer: &GraphReference| {
            let to_file = self.symbol(outer.to).file;
            Reference {
                from_file: outer.file,
                from_line: outer.line,
                from_definition: None,
                to_file,
                to_definition: outer.to - self.files[to_file as usize].first_symbol,
                grade: outer.grade,
                is_call: outer.is_call,
                is_implied: outer.is_implied,
            }
        };
        self.references.iter().filter(is_outer).map(reference).collect()
    }

    fn symbol_of(&self, file: u32, definition: u32) -> SymbolId {
        self.files[file as usize].first_symbol + definition
    }

    fn set_references(&mut self, mut references: Vec<GraphReference>) {
        references.sort_by_key(|reference| (reference.file, reference.line, reference.to));
        let sources: Vec<_> = references.iter().map(|reference| reference.from).collect();
        let targets: Vec<_> = references.iter().map(|reference| Some(reference.to)).collect();
        self.from_symbol = Adjacency::new(self.symbols.len(), &sources);
        self.to_symbol = Adjacency::new(self.symbols.len(), &targets);
        self.references = references;
    }

    fn stand_ins(&self, inherited: &[InheritedDefinition]) -> StandIns {
        let mut stand_ins = StandIns::default();
        let mut owners = Vec::with_capacity(inherited.len());
        for inherited in inherited {
            let own = self.symbol_of(inherited.file, inherited.definition);
            let base = self.symbol_of(inherited.base_file, inherited.base_definition);
            // Callers of the overridden member may run this one; users of a type that inherits use the base too.
            let is_member = self.symbols[own as usize].is_member && self.symbols[base as usize].is_member;
            let (owner, stand_in) = if is_member { (own, base) } else { (base, own) };
            owners.push(Some(owner));
            stand_ins.symbols.push(stand_in);
        }
        stand_ins.of_symbol = Adjacency::new(self.symbols.len(), &owners);
        stand_ins
    }

    /// Returns the unresolved uses, with their names.
    fn unresolved_places<'f>(
        &self,
        files: &'f [ProjectFile],
        found: &[UnresolvedUse],
    ) -> Vec<(UnresolvedPlace, &'f str)> {
        let place = |found: &UnresolvedUse| {
            let from = found.from_definition.map(|definition| self.symbol_of(found.file, definition));
            let place = UnresolvedPlace { file: found.file, line: found.line, from };
            (place, files[found.file as usize].facts.name(found.name))
        };
        found.iter().map(place).collect()
    }

    /// Returns all visible references, by file and line of the use.
    pub fn references(&self) -> impl Iterator<Item = &GraphReference> {
        self.references.iter().filter(|reference| !reference.is_implied)
    }

    /// Returns all references, including invisible ones.
    pub(super) fn all_references(&self) -> impl Iterator<Item = &GraphReference> {
        self.references.iter()
    }

    /// Returns all symbols, by file.
    pub(super) fn symbols(&self) -> &[GraphSymbol] {
        &self.symbols
    }

    /// Returns a symbol.
    pub fn symbol(&self, symbol: SymbolId) -> &GraphSymbol {
        &self.symbols[symbol as usize]
    }

    /// Returns the path of a file.
    pub fn path(&self, file: u32) -> &RelPath {
        &self.files[file as usize].path
    }

    /// Returns how many uses of any name could not be resolved.
    pub fn unresolved(&self) -> u64 {
        self.unresolved.places.len() as u64
    }

    /// Returns how many uses inside a symbol could not be resolved.
    pub(super) fn unresolved_within(&self, symbol: SymbolId) -> u64 {
        let GraphSymbol { file, first_line, last_line, .. } = self.symbol(symbol);
        let before =
            |end: (u32, u32)| self.unresolved.places.partition_point(|place| (place.file, place.line) < end);
        (before((*file, last_line + 1)) - before((*file, *first_line))) as u64
    }

    /// Returns how many uses of one name could not be resolved.
    pub(super) fn unresolved_of(&self, name: &str) -> u64 {
        self.unresolved.of_name.get(name).map_or(0, |rows| rows.len() as u64)
    }

    /// Returns the uses of one name that could not be resolved.
    pub(super) fn unresolved_uses_of(&self, name: &str) -> impl Iterator<Item = &UnresolvedPlace> {
        let rows = self.unresolved.of_name.get(name).map_or(&[][..], Vec::as_slice);
        rows.iter().map(|row| &self.unresolved.places[*row as usize])
    }

    /// Returns the symbols whose users may use this one: for a member those that it overrides, for a type those that
    /// inherit it.
    pub(super) fn stand_ins_of(&self, symbol: SymbolId) -> impl Iterator<Item = SymbolId> {
        self.stand_ins.of_symbol.rows_of(symbol).iter().map(|row| self.stand_ins.symbols[*row as usize])
    }

    /// Returns the type whose constructor a symbol is: calling the type's name calls the constructor.
    pub(super) fn type_constructed_by(&self, symbol: SymbolId) -> Option<SymbolId> {
        let fact = self.symbol(symbol);
        let parent = fact.parent.filter(|_| fact.is_member && fact.kind == DefinitionKind::Function)?;
        let is_named_as_type = fact.name() == self.symbol(parent).name();
        (is_named_as_type || matches!(fact.name(), "__init__" | "__new__" | "constructor")).then_some(parent)
    }

    /// Returns the members of a type, and the functions inside a function.
    pub(super) fn children_of(&self, symbol: SymbolId) -> &[SymbolId] {
        self.children.rows_of(symbol)
    }

    /// Returns the innermost symbol of a file that contains a line, including decorators.
    pub(super) fn symbol_at(&self, file: u32, line: u32) -> Option<SymbolId> {
        let symbols = self.symbols_range(file);
        let first = symbols.start;
        let file_symbols = &self.symbols[symbols.start as usize..symbols.end as usize];
        let count = file_symbols.partition_point(|symbol| symbol.first_line <= line);
        let last = first + index(count).checked_sub(1)?;
        std::iter::successors(Some(last), |at| self.symbol(*at).parent)
            .find(|at| line <= self.symbol(*at).last_line)
    }

    /// Returns whether a file is a test, by its path.
    pub(super) fn is_test(&self, file: u32) -> bool {
        self.files[file as usize].is_test
    }

    /// Returns the number of files.
    pub(super) fn file_count(&self) -> u32 {
        index(self.files.len())
    }

    /// Returns the language of a file.
    pub(super) fn language(&self, file: u32) -> &'static str {
        self.files[file as usize].language
    }

    /// Returns the file with that path, or those whose paths end with it.
    pub(super) fn files_named(&self, path: &[u8]) -> Vec<u32> {
        let all = || (0..).zip(self.files.iter());
        let exact: Vec<u32> =
            all().filter(|(_, file)| file.path.as_bytes() == path).map(|(at, _)| at).collect();
        if !exact.is_empty() {
            return exact;
        }
        let is_tail = |file: &GraphFile| {
            let rest = file.path.as_bytes().strip_suffix(path);
            rest.is_some_and(|rest| rest.ends_with(b"/"))
        };
        all().filter(|(_, file)| is_tail(file)).map(|(at, _)| at).collect()
    }

    /// Returns the symbols of a file.
    pub(super) fn symbols_of(&self, file: u32) -> impl Iterator<Item = SymbolId> + use<> {
        self.symbols_range(file)
    }

    fn symbols_range(&self, file: u32) -> std::ops::Range<SymbolId> {
        let end = self.files.get(file as usize + 1).map(|next| next.first_symbol);
        self.files[file as usize].first_symbol..end.unwrap_or(index(self.symbols.len()))
    }

    /// Returns the uses of a symbol.
    pub(super) fn uses_of(&self, symbol: SymbolId) -> impl Iterator<Item = &GraphReference> {
        self.to_symbol.rows_of(symbol).iter().map(|at| &self.references[*at as usize])
    }

    /// Returns what a symbol uses, without the uses of nested symbols.
    pub(super) fn uses_by(&self, symbol: SymbolId) -> impl Iterator<Item = &GraphReference> {
        self.from_symbol.rows_of(symbol).iter().map(|at| &self.references[*at as usize])
    }

    /// Returns the symbols inside a symbol, at any depth.
    pub(super) fn within(&self, symbol: SymbolId) -> Vec<SymbolId> {
        let mut found = self.children.rows_of(symbol).to_vec();
        let mut at = 0;
        while let Some(child) = found.get(at).copied() {
            found.extend(self.children.rows_of(child));
            at += 1;
        }
        found
    }
}

impl GraphSymbol {
    /// Returns its unqualified name.
    pub fn name(&self) -> &str {
        self.qualified_name.rsplit('.').next().unwrap_or(&self.qualified_name)
    }
}

/// Returns the symbols of a file; the first has the given number.
fn symbols(facts: &SourceFacts, file: u32, first_symbol: SymbolId) -> impl Iterator<Item = GraphSymbol> {
    (0..index(facts.definitions.len())).map(move |definition| {
        let symbol = symbol(facts, definition);
        GraphSymbol { file, parent: symbol.parent.map(|parent| first_symbol + parent), ..symbol }
    })
}

/// Returns a symbol of a file; its parent is an index within that file.
fn symbol(facts: &SourceFacts, definition: u32) -> GraphSymbol {
    let fact = &facts.definitions[definition as usize];
    let scope = facts.scope(fact.scope);
    // The scope of JavaScript's exports is a type scope without a definition.
    let is_member = match scope.kind {
        ScopeKind::Class => scope.definition.is_some(),
        ScopeKind::Implementation => true,
        _ => false,
    };
    GraphSymbol {
        qualified_name: facts.qualified_name(definition).into(),
        file: 0,
        kind: fact.kind,
        is_member,
        first_line: fact.first_line,
        line: fact.name_line,
        last_line: fact.last_line,
        parent: facts.enclosing_definition(fact.scope),
        is_prototype: fact.flags.has(DefinitionFlags::PROTOTYPE),
        is_test_item: fact.flags.has(DefinitionFlags::TEST_ITEM) || is_test_case(facts, fact),
    }
}

/// Returns whether a class inherits from something named as a test case, such as those of unittest and frameworks based
/// on it.
fn is_test_case(facts: &SourceFacts, fact: &DefinitionFact) -> bool {
    let is_case = |base: &ExpressionId| match facts.expression(*base) {
        ExpressionFact::Name(name) | ExpressionFact::Member(_, name) => {
            facts.name(name).ends_with("TestCase")
        }
        _ => false,
    };
    fact.kind == DefinitionKind::Class && fact.bases.iter().any(is_case)
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("the definitions of a project are fewer than its bytes, which fit the memory")
}
