//! Questions about references, and their answers.

use std::collections::BTreeSet;
use std::sync::Arc;

pub use super::changes::RemovedSymbol;
use super::changes::changed_symbols;
use super::coverage::put_covered_first;
use super::graph::{GraphReference, ReferenceGraph, SymbolId};
use super::load::{ReferenceCache, graph_of_files, reference_graph};
use super::reach::{Direction, ReachRules, ReachedNode, ReachedSymbol, reach};
use super::symbols::find_symbols;
use super::test_items::TestItems;
use super::test_selection::select_tests;
use super::test_words::order_by_words;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::index::{Trust, select_visible};
use crate::engine::workspace::KnownFile;
use crate::model::is_within;

/// The uses of a symbol.
#[derive(Debug)]
pub struct UsesAnswer {
    /// The graph that the indexes below refer to.
    pub graph: Arc<ReferenceGraph>,
    /// The definitions of the symbol.
    pub definitions: Vec<SymbolId>,
    /// Their uses, by file and line.
    pub references: Vec<GraphReference>,
    /// How many uses of the name could not be resolved.
    pub unresolved: u64,
}

/// The direction in which calls are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallDirection {
    /// To the callers of the symbol.
    Callers,
    /// To the symbols that it calls.
    Callees,
}

/// A question about calls.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// The symbol's name.
    pub symbol: String,
    /// The direction.
    pub direction: CallDirection,
    /// The maximum number of calls on a path.
    pub depth: u32,
}

/// The callers of a symbol, or the symbols that it calls.
#[derive(Debug)]
pub struct CallAnswer {
    /// The graph that the indexes below refer to.
    pub graph: Arc<ReferenceGraph>,
    /// The definitions of the symbol.
    pub definitions: Vec<SymbolId>,
    /// The symbols that were reached, nearest first.
    pub reached: Vec<ReachedSymbol>,
    /// How many uses of the name, or inside the symbol, could not be resolved.
    pub unresolved: u64,
}

/// A question about the impact of a change.
#[derive(Debug, Clone)]
pub struct ImpactRequest {
    /// A file, a folder or a symbol; `None` for the differences from `base`.
    pub target: Option<String>,
    /// The revision that the files are compared with.
    pub base: Option<String>,
    /// The maximum number of references on a path from the change.
    pub depth: u32,
    /// Whether only tests are requested.
    pub only_tests: bool,
}

/// What a change may affect.
#[derive(Debug)]
pub struct ImpactAnswer {
    /// The graph that the indexes below refer to.
    pub graph: Arc<ReferenceGraph>,
    /// The changed symbols and files.
    pub changed: Vec<ReachedNode>,
    /// Symbols that were removed since the revision.
    pub removed: Vec<RemovedSymbol>,
    /// What may be affected, nearest first; or the tests, most likely first.
    pub affected: Vec<ReachedSymbol>,
    /// How many uses of the changed names could not be resolved.
    pub unresolved: u64,
}

/// Returns the uses of a symbol.
pub(in crate::engine) fn uses(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&ReferenceCache>,
    symbol: &str,
) -> Result<UsesAnswer, Error> {
    let graph = reference_graph(cache, kept)?;
    let definitions = find_symbols(&graph, symbol)?;
    let mut references: Vec<GraphReference> =
        definitions.iter().flat_map(|id| graph.uses_of(*id)).copied().collect();
    references.retain(|reference| !reference.is_implied);
    for id in &definitions {
        // A constructor is called by its type's name.
        if let Some(class) = graph.type_constructed_by(*id) {
            references.extend(graph.uses_of(class).filter(|reference| reference.is_call));
        }
    }
    references.sort_by_key(|reference| (reference.file, reference.line, reference.to));
    let unresolved = unresolved_names(&graph, &definitions);
    Ok(UsesAnswer { graph, definitions, references, unresolved })
}

/// Returns the callers of a symbol, or the symbols that it calls.
pub(in crate::engine) fn calls(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&ReferenceCache>,
    request: &CallRequest,
) -> Result<CallAnswer, Error> {
    let graph = reference_graph(cache, kept)?;
    let definitions = find_symbols(&graph, &request.symbol)?;
    let (direction, unresolved) = match request.direction {
        CallDirection::Callers => (Direction::ToUsers, unresolved_names(&graph, &definitions)),
        CallDirection::Callees => {
            (Direction::ToUsed, definitions.iter().map(|id| graph.unresolved_within(*id)).sum())
        }
    };
    let rules = ReachRules { direction, only_calls: true, depth: request.depth };
    let reached = reach(&graph, &definitions, rules);
    Ok(CallAnswer { graph, definitions, reached, unresolved })
}

/// Returns what a change may affect.
pub(in crate::engine) fn impact(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&ReferenceCache>,
    request: &ImpactRequest,
) -> Result<ImpactAnswer, Error> {
    let mut files = select_visible(cache, Trust::Stamps)?.files;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let graph = graph_of_files(cache, kept, &files)?;
    let mut removed = Vec::new();
    let mut changed: Vec<ReachedNode> = Vec::new();
    if let Some(target) = &request.target {
        changed = named_nodes(cache, &graph, &files, target)?;
    }
    if let Some(base) = &request.base {
        let differing = changed_symbols(cache, &graph, &files, base)?;
        removed = differing.removed;
        changed.extend(differing.symbols.into_iter().map(ReachedNode::Symbol));
        changed.extend(differing.files.into_iter().map(ReachedNode::File));
    }
    let mut symbols: Vec<SymbolId> = changed.iter().filter_map(|node| symbol_of(*node)).collect();
    let unresolved = unresolved_names(&graph, &symbols);
    // Symbols inside a named symbol change with it.
    let within: Vec<SymbolId> = match request.target {
        Some(_) => symbols.iter().flat_map(|symbol| graph.within(*symbol)).collect(),
        None => Vec::new(),
    };
    symbols.extend(within);
    symbols.sort_unstable();
    symbols.dedup();
    let all: BTreeSet<ReachedNode> =
        changed.iter().copied().chain(symbols.iter().map(|symbol| ReachedNode::Symbol(*symbol))).collect();
    let affected = if request.only_tests {
        let items = TestItems::new(&graph);
        let tests = select_tests(&graph, &items, &all, request.depth);
        let tests = order_by_words(cache, &graph, &items, &symbols, tests);
        put_covered_first(cache, &graph, &items.inherited, &symbols, tests)
    } else {
        let rules = ReachRules { direction: Direction::ToUsers, only_calls: false, depth: request.depth };
        let mut affected = reach(&graph, &symbols, rules);
        affected.retain(|reached| !all.contains(&reached.node));
        affected
    };
    Ok(ImpactAnswer { graph, changed, removed, affected, unresolved })
}

fn symbol_of(node: ReachedNode) -> Option<SymbolId> {
    match node {
        ReachedNode::Symbol(symbol) => Some(symbol),
        ReachedNode::File(_) => None,
    }
}

/// Returns the symbols of a file, a folder or a symbol.
fn named_nodes(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    files: &[KnownFile],
    target: &str,
) -> Result<Vec<ReachedNode>, Error> {
    // If it is not a path, it may still be a symbol.
    let path = cache.workspace.resolve_path(target).ok().flatten();
    let folder = target.trim_end_matches('/');
    let extension = target.rsplit_once('.').map(|(_, extension)| extension.as_bytes());
    let names_file = || {
        target.contains('/')
            || extension.is_some() && files.iter().any(|file| file.path.extension() == extension)
    };
    let is_meant = |file: &[u8]| match &path {
        Some(path) => file == path.as_bytes() || is_within(file, path.as_bytes()),
        None => folder == "." || !folder.is_empty() && is_within(file, folder.as_bytes()),
    };
    if !files.iter().any(|file| is_meant(file.path.as_bytes())) {
        return match find_symbols(graph, target) {
            Ok(symbols) => Ok(symbols.into_iter().map(ReachedNode::Symbol).collect()),
            Err(_) if !target.contains(':') && names_file() => {
                Err(Error::NothingSelected { word: target.to_owned() })
            }
            Err(error) => Err(error),
        };
    }
    let meant = (0..graph.file_count()).filter(|file| is_meant(graph.path(*file).as_bytes()));
    // Top-level symbols; nested ones follow from them.
    let outermost = |id: &SymbolId| graph.symbol(*id).parent.is_none();
    let nodes = meant.flat_map(|file| {
        let symbols = graph.symbols_of(file).filter(outermost).map(ReachedNode::Symbol);
        symbols.chain([ReachedNode::File(file)])
    });
    Ok(nodes.collect())
}

/// Returns how many uses of the names of symbols could not be resolved.
fn unresolved_names(graph: &ReferenceGraph, symbols: &[SymbolId]) -> u64 {
    let names: BTreeSet<&str> = symbols.iter().map(|id| graph.symbol(*id).name()).collect();
    names.iter().map(|name| graph.unresolved_of(name)).sum()
}
