//! Answers with the curation of a project, and with the entries whose files have changed since.

use super::history::CurationHistory;
use super::resolved::{QuerySettings, ResolvedQuery, complete};
use super::takes::read_takes;
use crate::api::{
    ApiError, CuratedItem, CurationQuery, CurationState, DocumentKeys, HistoryState, MatchSymbolsQuery,
    ResolvedMask, SavedPersona, SavedPreset, SymbolMatches,
};
use crate::config::Curation;
use crate::config::edit::TakesSummary;
use crate::engine::{Project, Trust, nearest_symbols, redact_slices, select_symbols};
use crate::model::{DocumentDefaults, FileItem, SliceResolution, SliceStatus, Tier, error_chain};

pub(super) fn resolve_curation(settings: QuerySettings<'_>) -> ResolvedQuery {
    let (mut curation, revision) = (settings.loaded.curation.clone(), settings.loaded.revision.clone());
    let saved = curation.presets.iter_mut().flat_map(|saved| &mut saved.value.files);
    curation.files.iter_mut().chain(saved).for_each(redact_slices);
    let history = CurationHistory::new(settings.root, settings.loaded);
    complete::<CurationQuery>(move |project| {
        // Without a readable history, the answer only lacks undo and redo.
        let steps = history.state(None).unwrap_or_default();
        let takes = read_takes(&history.root)?;
        Ok(curation_state(project, &curation, revision, &steps, takes))
    })
}

fn curation_state(
    project: &mut Project<'_>,
    curation: &Curation,
    revision: String,
    history: &HistoryState,
    takes: TakesSummary,
) -> CurationState {
    let presets = curation.presets.iter();
    let personas = curation.personas.iter();
    CurationState {
        revision,
        items: curation.files.iter().map(|item| curated_item(project, item)).collect(),
        presets: presets.map(|saved| SavedPreset::new(&saved.value, saved.origin.to_string())).collect(),
        personas: personas.map(|saved| SavedPersona::new(&saved.value, saved.origin.to_string())).collect(),
        screenshots: curation.screenshots.clone(),
        document: document_keys(&curation.document),
        take: takes.current,
        takes: takes.takes.into_iter().map(|take| take.name).collect(),
        can_undo: history.can_undo,
        can_redo: history.can_redo,
    }
}

fn document_keys(defaults: &DocumentDefaults) -> DocumentKeys {
    let DocumentDefaults { tier, persona, preset, focus, budget_tokens } = defaults.clone();
    DocumentKeys { tier: tier.map(Tier::number), persona, preset, focus, budget_tokens }
}

/// Returns an item with the current positions of its slices. For a file that cannot be read, slices are stale, and
/// symbols are not found.
fn curated_item(project: &mut Project<'_>, item: &FileItem) -> CuratedItem {
    let slices = if item.custom_slices.is_empty() { Vec::new() } else { resolve_slices(project, item) };
    let symbols: Vec<String> = item.ast_mask.iter().map(|(symbol, _)| symbol.clone()).collect();
    let counts = if symbols.is_empty() {
        Vec::new()
    } else {
        let query = MatchSymbolsQuery { file: item.path.clone(), symbols };
        match_symbols(project, query).unwrap_or_default()
    };
    let mut counts = counts.into_iter();
    let mask = item.ast_mask.iter().map(|(symbol, show)| {
        let matched = counts.next().unwrap_or_default();
        let nearest = if matched.found == 0 { matched.nearest } else { Vec::new() };
        ResolvedMask { symbol: symbol.clone(), show: (*show).into(), found: matched.found, nearest }
    });
    let mask = mask.collect();
    CuratedItem::new(item, &slices, mask)
}

fn resolve_slices(project: &Project<'_>, item: &FileItem) -> Vec<SliceResolution> {
    project.resolve_slices(&item.path, &item.custom_slices).unwrap_or_else(|error| {
        let reason = error_chain(&error);
        let stale = item.custom_slices.iter().map(|slice| SliceResolution {
            status: SliceStatus::Stale,
            start_line: slice.start_line,
            end_line: slice.end_line,
            reason: reason.clone(),
        });
        stale.collect()
    })
}

/// The most similar names that are suggested for one that no symbol has.
const MAX_NEAREST: usize = 3;

pub(super) fn match_symbols(
    project: &mut Project<'_>,
    query: MatchSymbolsQuery,
) -> Result<Vec<SymbolMatches>, ApiError> {
    // A mask lists the names that it hides, and is edited by those names.
    let outlines = project.unmasked_outlines(&[query.file], Trust::Stamps)?;
    let outlines: Vec<_> = outlines.iter().map(|answer| &answer.outline).collect();
    // The path of a mask may be a pattern: a symbol exists if any of its files has it.
    let matches = query.symbols.iter().map(|symbol| SymbolMatches {
        found: outlines.iter().map(|outline| select_symbols(outline, symbol).len()).sum(),
        nearest: outlines
            .iter()
            .flat_map(|outline| nearest_symbols(outline, symbol))
            .take(MAX_NEAREST)
            .collect(),
    });
    Ok(matches.collect())
}
