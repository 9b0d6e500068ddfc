//! Counts the symbols of the files of a document, for its receipt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use super::cache::{FileSymbols, SymbolCounts};
use super::draft::ShownFile;
use crate::engine::artifacts::{ArtifactCache, ContentRef};
use crate::model::{Outline, Receipt, RelPath, Symbol, SymbolKind, ViewFault, lock};
use crate::syntax;

/// The maximum number of counts that are kept. One takes some hundred bytes.
const MAX_KEPT: usize = 100_000;

/// The symbols of the files that have a block.
#[derive(Default)]
pub(super) struct CountedSymbols {
    kinds: BTreeMap<SymbolKind, u64>,
    /// The files that could not be parsed.
    faults: FxHashMap<RelPath, ViewFault>,
}

/// Counts the symbols of those files that have a structure.
pub(super) fn count_symbols(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&Mutex<SymbolCounts>>,
    files: &[ShownFile],
) -> CountedSymbols {
    let kept = kept.filter(|_| !cache.workspace.paranoid);
    let mut counted = CountedSymbols::default();
    for shown in files.iter().filter(|shown| shown.candidate.block.content.is_some()) {
        let Some(subject) = ContentRef::from_file(&shown.file) else { continue };
        if !syntax::has_structure(subject.file_type.id) {
            continue;
        }
        let Some(file) = file_symbols(cache, kept, &subject) else { continue };
        for (kind, count) in &file.kinds {
            *counted.kinds.entry(*kind).or_default() += count;
        }
        counted
            .faults
            .extend(file.health.fallback.map(|why| (shown.file.path.clone(), ViewFault::Parse(why))));
    }
    counted
}

/// Returns the counts of one content, and keeps them for the next answer.
pub(super) fn file_symbols(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&Mutex<SymbolCounts>>,
    subject: &ContentRef<'_>,
) -> Option<Arc<FileSymbols>> {
    let known = kept_symbols(kept, subject);
    if known.is_some() {
        return known;
    }
    let counted = Arc::new(symbols_of(&cache.outline(subject)?));
    if let Some(kept) = kept {
        let mut kept = lock(kept);
        // Happens rarely, so everything is dropped at once: tracking the order of use is not worth its cost.
        if MAX_KEPT <= kept.len() {
            kept.clear();
        }
        kept.insert(subject.key(), Arc::clone(&counted));
    }
    Some(counted)
}

/// Returns the counts of one content, if they are kept.
pub(super) fn kept_symbols(
    kept: Option<&Mutex<SymbolCounts>>,
    subject: &ContentRef<'_>,
) -> Option<Arc<FileSymbols>> {
    kept.and_then(|kept| lock(kept).get(&subject.key()).cloned())
}

fn symbols_of(outline: &Outline) -> FileSymbols {
    let mut kinds = BTreeMap::new();
    let mut stack: Vec<&Symbol> = outline.symbols.iter().collect();
    while let Some(symbol) = stack.pop() {
        *kinds.entry(symbol.kind).or_default() += 1;
        stack.extend(&symbol.children);
    }
    FileSymbols { kinds, health: outline.health }
}

impl FileSymbols {
    /// Returns the number of symbols.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.kinds.values().sum::<u64>()).unwrap_or(u32::MAX)
    }
}

impl CountedSymbols {
    /// Adds the counts to a receipt, and the files that could not be parsed.
    pub(super) fn note_in(self, receipt: &mut Receipt) {
        receipt.symbols = self.kinds;
        for entry in receipt.files.iter_mut().filter(|entry| entry.fault.is_none()) {
            entry.fault = self.faults.get(&entry.path).copied();
        }
    }
}
