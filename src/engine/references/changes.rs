//! Finds symbols that differ from a git revision: those whose own lines differ, excluding the lines of nested symbols.

use std::collections::HashSet;

use super::graph::{ReferenceGraph, SymbolId};
use crate::aggregate::{CuratedItems, OwnHashes, SymbolLines, compare_symbols};
use crate::engine::artifacts::{ArtifactCache, TextVersions, hide_in_earlier, text_facts, type_of_text};
use crate::engine::error::Error;
use crate::engine::history::{Baseline, RevisionText, baseline, changed_since, texts_at};
use crate::engine::workspace::KnownFile;
use crate::model::{RelPath, SourceFacts};

/// The number of files that are compared at a time.
const FILES_AT_ONCE: usize = 100;

/// The differences from a revision.
#[derive(Debug, Default)]
pub(super) struct ChangedSymbols {
    /// Symbols that are new or changed.
    pub(super) symbols: Vec<SymbolId>,
    /// Files that differ outside of all symbols.
    pub(super) files: Vec<u32>,
    /// Removed symbols.
    pub(super) removed: Vec<RemovedSymbol>,
}

/// A symbol that exists in a revision but no longer in the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedSymbol {
    /// The file that it was in.
    pub path: RelPath,
    /// Its qualified name, joined by dots.
    pub qualified_name: String,
}

/// Returns the differences from a revision in the files of supported languages.
pub(super) fn changed_symbols(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    files: &[KnownFile],
    revision: &str,
) -> Result<ChangedSymbols, Error> {
    let workspace = &cache.workspace;
    let unknown = || Error::NoSuchRevision { revision: revision.to_owned() };
    let baseline = baseline(workspace, revision)?;
    if let Baseline::Nothing(reason) = baseline {
        return Err(Error::NothingToCompare { reason });
    }
    let mut changed: HashSet<RelPath> =
        changed_since(workspace, &baseline).ok_or_else(unknown)?.into_keys().collect();
    changed.extend(files.iter().filter(|file| !file.tracked).map(|file| file.path.clone()));
    let mut paths: Vec<&RelPath> = changed.iter().collect();
    paths.sort_unstable();
    let items = CuratedItems::new(workspace.relative_items(&workspace.options.items));
    let mut found = ChangedSymbols::default();
    for paths in paths.chunks(FILES_AT_ONCE) {
        workspace.check_cancelled()?;
        let old = texts_at(workspace, &baseline, paths);
        for path in paths {
            let old = match old.get(*path) {
                Some(RevisionText::Text(text)) => text.as_str(),
                // Missing data about a file is not a change.
                Some(RevisionText::NoRevision) => continue,
                Some(RevisionText::Absent | RevisionText::LeftOut(_) | RevisionText::UnaskablePath)
                | None => "",
            };
            compare_file(cache, graph, &items, EarlierFile { path, text: old }, &mut found);
        }
    }
    Ok(found)
}

/// A file as it was at a revision; it had no text if it did not exist.
struct EarlierFile<'f> {
    path: &'f RelPath,
    text: &'f str,
}

fn compare_file(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    items: &CuratedItems,
    EarlierFile { path, text: old }: EarlierFile<'_>,
    found: &mut ChangedSymbols,
) {
    let file = graph.files_named(path.as_bytes()).into_iter().find(|file| graph.path(*file) == path);
    let new = file.and_then(|_| cache.workspace.read_text(path).ok()).map(|(_, text)| text);
    let file_type = type_of_text(path, new.as_deref().unwrap_or(old));
    // The earlier version is masked too; otherwise, hidden symbols would seem to have been removed.
    let item = items.find(path);
    let mask = item.map(|item| item.ast_mask.as_slice()).unwrap_or_default();
    let versions = TextVersions { old: old.to_owned(), new: new.as_deref() };
    let earlier = hide_in_earlier(&cache.workspace, path, versions, mask, file_type);
    let is_gone_under_other_name =
        new.is_none() && earlier.lacks_hidden && item.is_some_and(|item| item.is_of(path));
    let may_name_hidden = earlier.may_show_hidden || is_gone_under_other_name;
    let (old, new) = (earlier.text.as_str(), new.unwrap_or_default());
    // The language of a removed file is determined by its name and text.
    let language = file.map_or(file_type.id, |file| graph.language(file));
    let timeout = cache.workspace.options.parse_timeout;
    let facts_in = |language| text_facts(&cache.workspace, language, old, timeout);
    let Some(old_facts) = facts_in(language) else {
        return;
    };
    let old_symbols = lines_of_facts(&old_facts);
    let old_hashes = OwnHashes::of_text(&old_symbols, old);
    let ids: Vec<SymbolId> = file.map(|file| graph.symbols_of(file).collect()).unwrap_or_default();
    let new_symbols = lines_of_symbols(graph, &ids);
    let new_hashes = OwnHashes::of_text(&new_symbols, &new);
    let comparison = compare_symbols((&old_symbols, &old_hashes), (&new_symbols, &new_hashes));
    let changed = ids.iter().zip(&comparison.is_changed).filter(|(_, is_changed)| **is_changed);
    found.symbols.extend(changed.map(|(id, _)| *id));
    let removed = old_symbols.into_iter().zip(&comparison.new_positions).filter(|(_, new)| new.is_none());
    let removed = removed.filter(|_| !may_name_hidden);
    found.removed.extend(
        removed
            .map(|(symbol, _)| RemovedSymbol { path: path.clone(), qualified_name: symbol.qualified_name }),
    );
    found.files.extend(file.filter(|_| comparison.is_rest_changed));
}

fn lines_of_facts(facts: &SourceFacts) -> Vec<SymbolLines> {
    let symbols = (0..).zip(&facts.definitions).map(|(at, fact)| SymbolLines {
        qualified_name: facts.qualified_name(at),
        first_line: fact.first_line,
        last_line: fact.last_line,
    });
    symbols.collect()
}

fn lines_of_symbols(graph: &ReferenceGraph, symbols: &[SymbolId]) -> Vec<SymbolLines> {
    let lines = symbols.iter().map(|id| {
        let symbol = graph.symbol(*id);
        SymbolLines {
            qualified_name: symbol.qualified_name.to_string(),
            first_line: symbol.first_line,
            last_line: symbol.last_line,
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(old: &str, new: &str) -> Vec<String> {
        let hashes = |text: &str| {
            let facts = crate::syntax::source_facts("python", text, &mut || false).unwrap();
            let symbols = lines_of_facts(&facts);
            let hashes = OwnHashes::of_text(&symbols, text);
            (symbols, hashes)
        };
        let ((old, old_hashes), (new, new_hashes)) = (hashes(old), hashes(new));
        let found = compare_symbols((&old, &old_hashes), (&new, &new_hashes));
        let changed = new.into_iter().zip(found.is_changed).filter(|(_, is_changed)| *is_changed);
        let mut names: Vec<String> = changed.map(|(symbol, _)| symbol.qualified_name).collect();
        names.extend(found.is_rest_changed.then(|| "file".to_owned()));
        names
    }

    #[test]
    fn a_change_belongs_to_the_innermost_symbol_around_it() {
        let old =
            "X = 1\nclass A:\n    y = 1\n    def run(self):\n        return 1\n    def stop(self): ...\n";
        assert_eq!(changed(old, old), [""; 0]);
        assert_eq!(changed(old, &old.replace("return 1", "return 2")), ["A.run"]);
        assert_eq!(changed(old, &old.replace("y = 1", "y = 2")), ["A"]);
        assert_eq!(changed(old, &old.replace("X = 1", "X = 2")), ["file"]);
        assert_eq!(changed(old, &format!("\n\n{old}def more(): ...\n")), ["more"]);
    }
}
