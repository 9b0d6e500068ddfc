//! Updates a cached table: the stamps of all files are compared, and only the rows of changed files are computed again.

use std::sync::Arc;

use super::basis::{TableBasis, TableUpdate};
use super::rows::{TableRow, row};
use super::versions::{FoundTable, LastTable, TableBase, TableCache, TableRequest, TableVersion};
use crate::aggregate::Focus;
use crate::engine::document::{AggregationRequest, DocumentInputs, DocumentRun, merged_items};
use crate::engine::error::Error;
use crate::engine::index::{ChangedFiles, Freshness, SeenFiles, files_changed_since, rows_of};
use crate::engine::summaries::{add_summarized_tiers, summaries_generation};
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::RelPath;

/// Returns the data for updating a table of these files; `None` if it depends on more than can be compared.
pub(super) fn basis_of(
    run: &mut DocumentRun<'_, '_>,
    request: &AggregationRequest,
    selected: &DocumentInputs,
    summaries: Option<u64>,
    order: &[usize],
) -> Option<(Arc<TableBasis>, Arc<SeenFiles>)> {
    let inputs = selected.key().filter(|_| request.is_whole())?;
    let seen = SeenFiles::new(run.cache, &selected.selection.files)?;
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, at)| places[*at] = place);
    let focus = selected.focus.clone();
    let basis = TableBasis { request: request.clone(), inputs, focus, summaries, places };
    Some((Arc::new(basis), Arc::new(seen)))
}

/// How often an answer tries to update a table that other answers update concurrently, before it makes a new one.
const UPDATE_TRIES: usize = 3;

/// The state of the cached table of a choice.
pub(super) enum KeptTableState {
    /// It was updated.
    Updated(TableVersion),
    /// It is unchanged, and the client has its estimates and waits for the document.
    Awaited,
    /// It has to be computed again.
    Outdated,
}

/// Updates the cached table of a choice.
pub(super) fn update_table(
    run: &mut DocumentRun<'_, '_>,
    tables: &TableCache,
    request: &TableRequest,
    aggregation: &AggregationRequest,
    begun: u64,
) -> Result<KeptTableState, Error> {
    // Repeated if another answer has changed the table in the meantime: its own event often closely follows an edit.
    for _ in 0..UPDATE_TRIES {
        let state = try_update(run, tables, request, aggregation, begun)?;
        if let Some(state) = state {
            return Ok(state);
        }
    }
    Ok(KeptTableState::Outdated)
}

/// Updates the cached table; `None` if another answer has changed it in the meantime.
fn try_update(
    run: &mut DocumentRun<'_, '_>,
    tables: &TableCache,
    request: &TableRequest,
    aggregation: &AggregationRequest,
    begun: u64,
) -> Result<Option<KeptTableState>, Error> {
    let Some(last) = tables.last(&request.choice) else { return Ok(Some(KeptTableState::Outdated)) };
    let base = TableBase { clock: last.clock, begun: last.begun };
    let update = find_update(run, &last, aggregation, request.trusts_events)?;
    let Some(update) = update else { return Ok(Some(KeptTableState::Outdated)) };
    if update.rows.is_none() && last.is_awaited(request) {
        return Ok(Some(KeptTableState::Awaited));
    }
    // The rows are changed in place, unless another answer holds them.
    drop(last);
    let updated = tables.update(base, begun, update, request.since);
    Ok(updated.map(KeptTableState::Updated))
}

fn find_update(
    run: &mut DocumentRun<'_, '_>,
    last: &LastTable,
    aggregation: &AggregationRequest,
    trusts_events: bool,
) -> Result<Option<TableUpdate>, Error> {
    let Some((basis, seen)) = &last.found.basis else { return Ok(None) };
    let with_items = AggregationRequest { items: aggregation.items.clone(), ..basis.request.clone() };
    if with_items != *aggregation
        || basis.summaries != summaries_generation(run.cache, run.lookup)
        || !run.is_made_of(aggregation, &basis.inputs)?
    {
        return Ok(None);
    }
    let other_items = (basis.request.items != aggregation.items).then(|| {
        let merged = |request| merged_items(&run.cache.workspace, request);
        let (before, now) = (merged(&basis.request), merged(aggregation));
        (now.difference(&before), before, now)
    });
    let is_curated_anew = |path: &RelPath| {
        other_items.as_ref().is_some_and(|(difference, before, now)| {
            difference.find(path).is_some() && !now.apply_as(before, path)
        })
    };
    let looked_into = files_changed_since(run.cache, seen, &is_curated_anew, trusts_events)?;
    let Some(ChangedFiles { files: looked_into, trusted_events }) = looked_into else { return Ok(None) };
    let rows_seen = rows_of(run.cache, &looked_into);
    let is_changed = |(at, file): &(usize, KnownFile)| {
        is_curated_anew(&file.path)
            || !seen.is_same(*at, file, &run.cache.workspace)
                && !is_left_out_as(&last.found.rows[basis.places[*at]], file)
    };
    let (places, mut files): (Vec<usize>, Vec<KnownFile>) =
        looked_into.into_iter().filter(is_changed).map(|(at, file)| (basis.places[at], file)).unzip();
    // Which files a focus argument selects depends on all files and their types.
    let has_type = |(place, file): (&usize, &KnownFile)| {
        last.found.rows[*place].language == file.file_type().map(|file_type| file_type.id)
    };
    if !aggregation.focus.is_empty() && !places.iter().zip(&files).all(has_type) {
        return Ok(None);
    }
    let changed = ChangedPlaces { places: &places, files: &mut files };
    let rows = (!changed.places.is_empty())
        .then(|| changed_rows(run, &last.found, aggregation, &basis.focus, changed));
    let budget_tokens = aggregation.limits.tokens;
    let request = other_items.is_some().then(|| aggregation.clone());
    Ok(Some(TableUpdate { rows, seen: rows_seen, budget_tokens, request, trusted_events }))
}

/// The changed files of a table, each with the position of its row.
struct ChangedPlaces<'c> {
    places: &'c [usize],
    files: &'c mut [KnownFile],
}

/// Returns the rows of changed files.
fn changed_rows(
    run: &mut DocumentRun<'_, '_>,
    found: &FoundTable,
    request: &AggregationRequest,
    focus: &Focus,
    ChangedPlaces { places, files }: ChangedPlaces<'_>,
) -> Vec<(usize, TableRow)> {
    let paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
    let before = paths.iter().zip(places).map(|(path, place)| {
        let row = &found.rows[*place];
        (path, (&row.placement, row.has_text()))
    });
    let before = before.collect();
    let (mut changed, placements) = run.changed_placements(request, focus, files, &before);
    add_summarized_tiers(run.cache, run.lookup, &mut changed);
    let rows = changed.into_iter().zip(placements).map(|(file, placement)| row(file, placement));
    places.iter().copied().zip(rows).collect()
}

/// Returns whether a file is left out for the same reason as before.
fn is_left_out_as(row: &TableRow, file: &KnownFile) -> bool {
    matches!((row.state, &file.state), (Freshness::LeftOut(before), KnownState::LeftOut(reason)) if before == *reason)
}
