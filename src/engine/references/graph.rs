//! The references of a project, with what finds them by either end.

use std::collections::HashMap;

use crate::model::{DefinitionFlags, DefinitionKind, FileRole, FileType, RelPath, ScopeKind, SourceFacts};
use crate::references::{InheritedDefinition, ProjectFile, ProjectReferences, ReferenceGrade, UnresolvedUse};
use crate::search::PathClass;

/// The index of a symbol in [`ReferenceGraph::symbols`].
pub type SymbolId = u32;

/// The symbols of a project and the references between them.
#[derive(Debug, Default)]
pub struct ReferenceGraph {
    files: Vec<GraphFile>,
    /// In the order of the files, and within a file in that of the names.
    symbols: Vec<GraphSymbol>,
    /// By file and line of the use, and then by symbol.
    references: Vec<GraphReference>,
    to_symbol: Adjacency,
    from_symbol: Adjacency,
    children: Adjacency,
    /// What may run or be meant where a symbol is: for a member what it overrides, for a type what inherits it.
    stand_ins: Vec<SymbolId>,
    to_stand_in: Adjacency,
    /// The uses that could not be resolved, by file and line.
    unresolved: Vec<UnresolvedPlace>,
    /// The rows of `unresolved` of each name.
    unresolved_names: HashMap<Box<str>, Vec<u32>>,
}

/// A use of a name that could not be resolved.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnresolvedPlace {
    pub(super) file: u32,
    pub(super) line: u32,
    /// The innermost symbol around it.
    pub(super) from: Option<SymbolId>,
}

/// A file of the graph.
#[derive(Debug)]
struct GraphFile {
    path: RelPath,
    language: &'static str,
    is_test: bool,
    /// The first of its symbols; they end where those of the next file begin.
    first_symbol: SymbolId,
}

/// A function, a type or a macro.
#[derive(Debug)]
pub struct GraphSymbol {
    /// Its name after those of its containers, joined by dots.
    pub qualified_name: Box<str>,
    /// The index of its file.
    pub file: u32,
    /// What it is.
    pub kind: DefinitionKind,
    /// Whether it is a member of a type.
    pub is_member: bool,
    /// Its first line with decorators, counted from 1.
    pub first_line: u32,
    /// The line of its name.
    pub line: u32,
    /// Its last line.
    pub last_line: u32,
    /// The symbol around it.
    pub(super) parent: Option<SymbolId>,
    /// Whether it only declares what another one defines.
    pub(super) is_prototype: bool,
    /// Whether the framework of the tests runs it by a mark, not by its name.
    pub(super) is_test_item: bool,
}

/// A use of a name, and a symbol that it may mean.
#[derive(Debug, Clone, Copy)]
pub struct GraphReference {
    /// The index of the file of the use.
    pub file: u32,
    /// The line of the name.
    pub line: u32,
    /// The innermost symbol around it.
    pub from: Option<SymbolId>,
    /// What it means.
    pub to: SymbolId,
    /// How sure that is.
    pub grade: ReferenceGrade,
    /// Whether the name is called.
    pub is_call: bool,
}

/// For each symbol the rows of a table that belong to it.
#[derive(Debug, Default)]
struct Adjacency {
    /// Where the rows of each symbol begin in `rows`; one more than there are symbols.
    starts: Vec<u32>,
    rows: Vec<u32>,
}

impl Adjacency {
    /// `owners` has the symbol that each row belongs to.
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

    fn of(&self, symbol: SymbolId) -> &[u32] {
        let at = symbol as usize;
        &self.rows[self.starts[at] as usize..self.starts[at + 1] as usize]
    }
}

impl ReferenceGraph {
    /// Joins what was found to the files that it was found in. The paths are those of the files, in their order.
    pub(super) fn new(
        files: &[ProjectFile],
        paths: &[(RelPath, &'static FileType)],
        found: &ProjectReferences,
    ) -> Self {
        let mut graph = Self::default();
        for (file, (path, file_type)) in files.iter().zip(paths) {
            graph.add_file(file, path, file_type.role);
        }
        let symbol = |file: u32, definition: u32| graph.files[file as usize].first_symbol + definition;
        let reference = |found: &crate::references::Reference| GraphReference {
            file: found.from_file,
            line: found.from_line,
            from: found.from_definition.map(|definition| symbol(found.from_file, definition)),
            to: symbol(found.to_file, found.to_definition),
            grade: found.grade,
            is_call: found.is_call,
        };
        let mut references: Vec<GraphReference> = found.references.iter().map(reference).collect();
        references.sort_by_key(|reference| (reference.file, reference.line, reference.to));
        let sources: Vec<_> = references.iter().map(|reference| reference.from).collect();
        let targets: Vec<_> = references.iter().map(|reference| Some(reference.to)).collect();
        graph.from_symbol = Adjacency::new(graph.symbols.len(), &sources);
        graph.to_symbol = Adjacency::new(graph.symbols.len(), &targets);
        let parents: Vec<_> = graph.symbols.iter().map(|symbol| symbol.parent).collect();
        graph.children = Adjacency::new(graph.symbols.len(), &parents);
        graph.references = references;
        graph.add_stand_ins(&found.inherited);
        graph.add_unresolved(files, &found.unresolved);
        graph
    }

    fn add_stand_ins(&mut self, inherited: &[InheritedDefinition]) {
        let mut owners = Vec::with_capacity(inherited.len());
        for inherited in inherited {
            let symbol = |file: u32, definition: u32| self.files[file as usize].first_symbol + definition;
            let own = symbol(inherited.file, inherited.definition);
            let base = symbol(inherited.base_file, inherited.base_definition);
            // Who calls the overridden member may run this one; who uses a type that inherits uses the base too.
            let is_member = self.symbols[own as usize].is_member && self.symbols[base as usize].is_member;
            let (owner, stand_in) = if is_member { (own, base) } else { (base, own) };
            owners.push(Some(owner));
            self.stand_ins.push(stand_in);
        }
        self.to_stand_in = Adjacency::new(self.symbols.len(), &owners);
    }

    fn add_unresolved(&mut self, files: &[ProjectFile], found: &[UnresolvedUse]) {
        let mut found: Vec<&UnresolvedUse> = found.iter().collect();
        found.sort_by_key(|unresolved| (unresolved.file, unresolved.line));
        for (row, unresolved) in (0..).zip(found) {
            let GraphFile { first_symbol, .. } = self.files[unresolved.file as usize];
            let from = unresolved.from_definition.map(|definition| first_symbol + definition);
            self.unresolved.push(UnresolvedPlace { file: unresolved.file, line: unresolved.line, from });
            let name = files[unresolved.file as usize].facts.name(unresolved.name);
            match self.unresolved_names.get_mut(name) {
                Some(rows) => rows.push(row),
                None => drop(self.unresolved_names.insert(name.into(), vec![row])),
            }
        }
    }

    fn add_file(&mut self, file: &ProjectFile, path: &RelPath, role: FileRole) {
        let first_symbol = index(self.symbols.len());
        let at = index(self.files.len());
        self.symbols.extend((0..index(file.facts.definitions.len())).map(|definition| {
            let symbol = symbol(&file.facts, definition);
            GraphSymbol { file: at, parent: symbol.parent.map(|parent| first_symbol + parent), ..symbol }
        }));
        let is_test = PathClass::of(path, role, false) == PathClass::Test;
        self.files.push(GraphFile { path: path.clone(), language: file.language, is_test, first_symbol });
    }

    /// Returns all references, by file and line of the use.
    pub fn references(&self) -> &[GraphReference] {
        &self.references
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
        self.unresolved.len() as u64
    }

    /// Returns how many uses within a symbol could not be resolved.
    pub(super) fn unresolved_within(&self, symbol: SymbolId) -> u64 {
        let GraphSymbol { file, first_line, last_line, .. } = self.symbol(symbol);
        let before =
            |end: (u32, u32)| self.unresolved.partition_point(|place| (place.file, place.line) < end);
        (before((*file, last_line + 1)) - before((*file, *first_line))) as u64
    }

    /// Returns how many uses of one name could not be resolved.
    pub(super) fn unresolved_of(&self, name: &str) -> u64 {
        self.unresolved_names.get(name).map_or(0, |rows| rows.len() as u64)
    }

    /// Returns the uses of one name that could not be resolved.
    pub(super) fn unresolved_uses_of(&self, name: &str) -> impl Iterator<Item = &UnresolvedPlace> {
        let rows = self.unresolved_names.get(name).map_or(&[][..], Vec::as_slice);
        rows.iter().map(|row| &self.unresolved[*row as usize])
    }

    /// Returns the symbols whose users may use this one: for a member those that it overrides, for a type those that
    /// inherit it.
    pub(super) fn stand_ins_of(&self, symbol: SymbolId) -> impl Iterator<Item = SymbolId> {
        self.to_stand_in.of(symbol).iter().map(|row| self.stand_ins[*row as usize])
    }

    /// Returns the members of a type, and the functions within a function.
    pub(super) fn children_of(&self, symbol: SymbolId) -> &[SymbolId] {
        self.children.of(symbol)
    }

    /// Returns the innermost symbol of a file that has a line, with its decorators.
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

    /// Returns how many files there are.
    pub(super) fn file_count(&self) -> u32 {
        index(self.files.len())
    }

    /// Returns the language of a file.
    pub(super) fn language(&self, file: u32) -> &'static str {
        self.files[file as usize].language
    }

    /// Returns the file of that path, or those whose paths end in it.
    pub(super) fn files_named(&self, path: &[u8]) -> Vec<u32> {
        let all = || (0..).zip(&self.files);
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
        self.to_symbol.of(symbol).iter().map(|at| &self.references[*at as usize])
    }

    /// Returns what a symbol uses, without what the symbols within it use.
    pub(super) fn uses_by(&self, symbol: SymbolId) -> impl Iterator<Item = &GraphReference> {
        self.from_symbol.of(symbol).iter().map(|at| &self.references[*at as usize])
    }

    /// Returns the symbols within a symbol, at any depth.
    pub(super) fn within(&self, symbol: SymbolId) -> Vec<SymbolId> {
        let mut found = self.children.of(symbol).to_vec();
        let mut at = 0;
        while let Some(child) = found.get(at).copied() {
            found.extend(self.children.of(child));
            at += 1;
        }
        found
    }
}

impl GraphSymbol {
    /// Returns its name without those of its containers.
    pub fn name(&self) -> &str {
        self.qualified_name.rsplit('.').next().unwrap_or(&self.qualified_name)
    }
}

/// Returns a symbol of a file, whose parent is an index of the same file's.
fn symbol(facts: &SourceFacts, definition: u32) -> GraphSymbol {
    let fact = &facts.definitions[definition as usize];
    let scope = facts.scope(fact.scope);
    // The scope of the exports of JavaScript is one of a type that has no definition.
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
        is_test_item: fact.flags.has(DefinitionFlags::TEST_ITEM),
    }
}

fn index(at: usize) -> u32 {
    u32::try_from(at).expect("the definitions of a project are fewer than its bytes, which fit the memory")
}
