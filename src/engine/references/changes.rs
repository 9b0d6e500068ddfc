//! Which symbols differ from a revision of git: those whose own lines do, without those of the symbols within them.

use std::collections::{HashMap, HashSet};

use super::graph::{ReferenceGraph, SymbolId};
use crate::discover::HeaderNeighbors;
use crate::engine::artifacts::{ArtifactCache, identify, text_facts};
use crate::engine::error::Error;
use crate::engine::history::{Baseline, RevisionText, baseline, changed_since, texts_at};
use crate::engine::workspace::KnownFile;
use crate::model::{ContentHash, RelPath, SourceFacts};

/// So many files are compared at once.
const FILES_AT_ONCE: usize = 100;

/// What differs from a revision.
#[derive(Debug, Default)]
pub(super) struct ChangedSymbols {
    /// Symbols that are new or other than they were.
    pub(super) symbols: Vec<SymbolId>,
    /// Files that differ outside of all symbols.
    pub(super) files: Vec<u32>,
    /// Symbols that are gone.
    pub(super) removed: Vec<RemovedSymbol>,
}

/// A symbol that a revision has, and the project has not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemovedSymbol {
    /// The file that it was in.
    pub path: RelPath,
    /// Its name after those of its containers, joined by dots.
    pub qualified_name: String,
}

/// The lines of a symbol, and which occurrence of its name it is.
struct SymbolLines {
    key: (String, usize),
    first_line: u32,
    last_line: u32,
}

/// Returns what differs from a revision in the files that references are read of.
pub(super) fn changed_symbols(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    files: &[KnownFile],
    revision: &str,
) -> Result<ChangedSymbols, Error> {
    let workspace = &cache.workspace;
    let unknown = || Error::NoSuchRevision { revision: revision.to_owned() };
    let Baseline::Commit { id, .. } = baseline(workspace, revision)? else { return Err(unknown()) };
    let mut changed: HashSet<RelPath> =
        changed_since(workspace, &id).ok_or_else(unknown)?.into_keys().collect();
    changed.extend(files.iter().filter(|file| !file.tracked).map(|file| file.path.clone()));
    let mut paths: Vec<&RelPath> = changed.iter().collect();
    paths.sort_unstable();
    let mut found = ChangedSymbols::default();
    for paths in paths.chunks(FILES_AT_ONCE) {
        workspace.check_cancelled()?;
        let old = texts_at(workspace, &id, paths);
        for path in paths {
            let old = match old.get(*path) {
                Some(RevisionText::Text(text)) => text.as_str(),
                Some(RevisionText::Absent | RevisionText::LeftOut(_) | RevisionText::UnaskablePath)
                | None => "",
            };
            compare_file(cache, graph, path, old, &mut found);
        }
    }
    Ok(found)
}

fn compare_file(
    cache: &ArtifactCache<'_>,
    graph: &ReferenceGraph,
    path: &RelPath,
    old: &str,
    found: &mut ChangedSymbols,
) {
    let file = graph.files_named(path.as_bytes()).into_iter().find(|file| graph.path(*file) == path);
    let none = HeaderNeighbors::default();
    let language = match file {
        Some(file) => Some(graph.language(file)),
        // A file that is gone is read as what its name and its text say.
        None => identify(path, old.as_bytes(), &none).ok().map(|content| content.file_type.id),
    };
    let Some(old_facts) = language.and_then(|language| text_facts(&cache.workspace, language, old)) else {
        return;
    };
    let (old_symbols, old_level) = own_hashes(&lines_of_facts(&old_facts), old);
    let ids: Vec<SymbolId> = file.map(|file| graph.symbols_of(file).collect()).unwrap_or_default();
    let new =
        file.and_then(|_| cache.workspace.read_text(path).ok()).map(|(_, text)| text).unwrap_or_default();
    let (new_symbols, new_level) = own_hashes(&lines_of_symbols(graph, &ids), &new);
    let before: HashMap<&(String, usize), &ContentHash> =
        old_symbols.iter().map(|(key, hash)| (key, hash)).collect();
    let is_changed = |(key, hash): &OwnHash| before.get(key) != Some(&hash);
    let changed = ids.iter().zip(&new_symbols).filter(|(_, own)| is_changed(own));
    found.symbols.extend(changed.map(|(id, _)| *id));
    let kept: HashSet<&(String, usize)> = new_symbols.iter().map(|(key, _)| key).collect();
    for (key, _) in old_symbols.iter().filter(|(key, _)| !kept.contains(key)) {
        found.removed.push(RemovedSymbol { path: path.clone(), qualified_name: key.0.clone() });
    }
    found.files.extend(file.filter(|_| old_level != new_level));
}

fn lines_of_facts(facts: &SourceFacts) -> Vec<SymbolLines> {
    let names = (0..)
        .zip(&facts.definitions)
        .map(|(at, fact)| (facts.qualified_name(at), fact.first_line, fact.last_line));
    numbered(names)
}

fn lines_of_symbols(graph: &ReferenceGraph, symbols: &[SymbolId]) -> Vec<SymbolLines> {
    numbered(symbols.iter().map(|id| {
        let symbol = graph.symbol(*id);
        (symbol.qualified_name.to_string(), symbol.first_line, symbol.last_line)
    }))
}

fn numbered(names: impl Iterator<Item = (String, u32, u32)>) -> Vec<SymbolLines> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    names
        .map(|(name, first_line, last_line)| {
            let count = counts.entry(name.clone()).or_default();
            *count += 1;
            SymbolLines { key: (name, *count), first_line, last_line }
        })
        .collect()
}

type OwnHash = ((String, usize), ContentHash);

/// Returns a hash of the lines that belong to each symbol and to none within it, and one of those of no symbol.
fn own_hashes(symbols: &[SymbolLines], text: &str) -> (Vec<OwnHash>, ContentHash) {
    let lines: Vec<&str> = text.lines().collect();
    // A symbol within another one comes after it, and takes its lines from it.
    let mut owners: Vec<Option<usize>> = vec![None; lines.len()];
    for (at, symbol) in symbols.iter().enumerate() {
        let first = (symbol.first_line.max(1) as usize - 1).min(lines.len());
        let end = (symbol.last_line as usize).clamp(first, lines.len());
        owners[first..end].fill(Some(at));
    }
    let mut own: Vec<String> = vec![String::new(); symbols.len()];
    let mut level = String::new();
    for (line, owner) in lines.iter().zip(owners) {
        let text = owner.map_or(&mut level, |at| &mut own[at]);
        // Blank lines around a symbol come and go with others.
        if !line.trim().is_empty() {
            text.push_str(line.trim_end());
            text.push('\n');
        }
    }
    let hash = |text: &String| ContentHash::digest(text.as_bytes());
    let hashes = symbols.iter().zip(&own).map(|(symbol, own)| (symbol.key.clone(), hash(own)));
    (hashes.collect(), hash(&level))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(old: &str, new: &str) -> Vec<String> {
        let hashes = |text: &str| {
            let facts = crate::syntax::source_facts("python", text, &mut || false).unwrap();
            own_hashes(&lines_of_facts(&facts), text)
        };
        let ((old, old_level), (new, new_level)) = (hashes(old), hashes(new));
        let is_new = |hash: &&OwnHash| !old.contains(hash);
        let mut names: Vec<String> = new.iter().filter(is_new).map(|((name, _), _)| name.clone()).collect();
        names.extend((old_level != new_level).then(|| "file".to_owned()));
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
