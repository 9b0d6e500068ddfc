//! Resolves the names of symbols: `name`, `Class.method`, or either of them after a path and a colon.

use super::graph::{GraphSymbol, ReferenceGraph, SymbolId};
use crate::engine::error::Error;
use crate::engine::symbol_names::last_name_part;
use crate::engine::symbols::{NearestNames, dotted_spelling, with_dots};

/// Returns the definitions of the name, or an error if there are none.
pub(super) fn find_symbols(graph: &ReferenceGraph, spelling: &str) -> Result<Vec<SymbolId>, Error> {
    let (path, name) = split_path(spelling);
    let name = dotted_spelling(name).replace('#', ".");
    if name.is_empty() {
        return Err(Error::NoSuchSymbol { name: spelling.to_owned(), nearest: Vec::new() });
    }
    let files = path.map(|path| graph.files_named(path.as_bytes()));
    let is_in_file = |symbol: &GraphSymbol| files.as_ref().is_none_or(|files| files.contains(&symbol.file));
    let found: Vec<SymbolId> = (0..)
        .zip(graph.symbols())
        .filter(|(_, symbol)| has_name(symbol, &name) && is_in_file(symbol) && !is_anonymous(graph, symbol))
        .map(|(id, _)| id)
        .collect();
    let (declared, mut found): (Vec<SymbolId>, Vec<SymbolId>) =
        found.into_iter().partition(|id| graph.symbol(*id).is_prototype);
    let is_undefined = |id: &SymbolId| !found.iter().any(|other| is_definition_of(graph, *other, *id));
    // References are to the definition of what is declared, so a declaration with uses has none, such as the method of
    // an interface.
    let kept: Vec<SymbolId> =
        declared.into_iter().filter(|id| graph.uses_of(*id).next().is_some() || is_undefined(id)).collect();
    found.extend(kept);
    found.sort_unstable();
    if found.is_empty() {
        return Err(Error::NoSuchSymbol { name: spelling.to_owned(), nearest: nearest_names(graph, &name) });
    }
    Ok(found)
}

fn nearest_names(graph: &ReferenceGraph, name: &str) -> Vec<String> {
    let mut near = NearestNames::new(last_name_part(name).unwrap_or(name));
    for symbol in graph.symbols() {
        near.offer(last_name_part(&symbol.qualified_name).unwrap_or_default(), true);
    }
    near.into_quoted()
}

/// Splits `path:name`; a name may contain `::`.
fn split_path(spelling: &str) -> (Option<&str>, &str) {
    let colon = spelling.match_indices(':').map(|(at, _)| at).find(|at| {
        let (before, after) = (&spelling[..*at], &spelling[at + 1..]);
        !before.ends_with(':') && !after.starts_with(':')
    });
    match colon {
        Some(at) => (Some(spelling[..at].trim_start_matches("./")), &spelling[at + 1..]),
        None => (None, spelling),
    }
}

/// Returns whether a name is a symbol's name, or the end of its qualified name.
fn has_name(symbol: &GraphSymbol, name: &str) -> bool {
    is_end_of_name(name, &with_dots(&symbol.qualified_name))
}

fn is_end_of_name(end: &str, name: &str) -> bool {
    let rest = name.strip_suffix(end);
    rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// Returns whether a symbol is the definition of one that is only declared. The qualifiers of a C++ definition may
/// begin with the type.
fn is_definition_of(graph: &ReferenceGraph, definition: SymbolId, declared: SymbolId) -> bool {
    let (definition, declared) = (graph.symbol(definition), graph.symbol(declared));
    let (name, declared_name) = (&definition.qualified_name, &declared.qualified_name);
    let language = |symbol: &GraphSymbol| match graph.language(symbol.file) {
        "c" => "cpp",
        language => language,
    };
    language(definition) == language(declared)
        && (name == declared_name || name.contains('.') && is_end_of_name(name, declared_name))
}

/// Returns whether a symbol is an anonymous type. Its qualified name is that of the symbol that contains it.
fn is_anonymous(graph: &ReferenceGraph, symbol: &GraphSymbol) -> bool {
    symbol.parent.is_some_and(|parent| graph.symbol(parent).qualified_name == symbol.qualified_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_at_a_single_colon() {
        assert_eq!(split_path("run"), (None, "run"));
        assert_eq!(split_path("./src/a.py:Engine.run"), (Some("src/a.py"), "Engine.run"));
        assert_eq!(split_path("ns::Engine::run"), (None, "ns::Engine::run"));
        assert_eq!(split_path("a.cc:ns::run"), (Some("a.cc"), "ns::run"));
    }
}
