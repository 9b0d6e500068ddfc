//! Answers requests for a table with as little work as possible: only changes are computed, and the document is only
//! composed if that is fast, or if a client that has the estimates asks again.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::rows::{TableNames, TableRow, TableTotals, rows_in_order};
use super::update::{KeptTableState, basis_of, update_table};
use super::versions::{FoundTable, LastTable, TableCache, TableClock, TableRequest, TableVersion};
use crate::engine::document::{AggregationRequest, ComposedPlacements, DocumentRun, Placements};
use crate::engine::error::Error;
use crate::engine::index::{FileStatus, listed_files};
use crate::engine::summaries::{add_summarized_tiers, summaries_generation};
use crate::model::{FileOrder, RelPath};

/// A table, or the changes in it.
pub struct TableAnswer {
    /// `None` if the table is not cached.
    pub clock: Option<TableClock>,
    pub names: Arc<TableNames>,
    pub rows: Arc<Vec<TableRow>>,
    /// The rows that have changed since the request's clock; `None` if the answer is the whole table.
    pub changed: Option<Vec<usize>>,
    pub totals: TableTotals,
    pub is_exact: bool,
    /// Why the document cannot be composed.
    pub problem: Option<String>,
}

/// Returns the table of a choice. Without a cache of tables, it is complete and exact.
pub(in crate::engine) fn file_table(
    run: &mut DocumentRun<'_, '_>,
    tables: Option<&TableCache>,
    request: &TableRequest,
) -> Result<TableAnswer, Error> {
    let begun = tables.map_or(0, |tables| tables.begin(now_ms(run)));
    let aggregation = without_order(&request.aggregation);
    let kept = match tables {
        Some(tables) => update_table(run, tables, request, &aggregation, begun)?,
        None => KeptTableState::Outdated,
    };
    let is_awaited = match kept {
        KeptTableState::Updated(version) => return Ok(version.into()),
        KeptTableState::Awaited => true,
        KeptTableState::Outdated => false,
    };
    let (names, found) = find_table(run, tables, request, &aggregation, is_awaited)?;
    Ok(match tables {
        Some(tables) => tables.record(&request.choice, begun, names, found, request.since).into(),
        None => answer(None, Arc::new(names), found, None),
    })
}

/// Computes the whole table; with the document, if a client is known to wait for it.
fn find_table(
    run: &mut DocumentRun<'_, '_>,
    tables: Option<&TableCache>,
    request: &TableRequest,
    aggregation: &AggregationRequest,
    is_awaited: bool,
) -> Result<(TableNames, FoundTable), Error> {
    // Before any lookup: summaries written in the meantime make the next answer look again.
    let summaries = summaries_generation(run.cache, run.lookup);
    let selected = run.select_for(aggregation)?;
    let mut files = run.all_files(aggregation, &selected)?;
    let (names, order) = TableNames::from_files(files.iter().map(|file| &file.path));
    let is_quick = tables.is_none_or(|tables| files.len() <= tables.quick_files());
    let basis = if is_quick { None } else { basis_of(run, aggregation, &selected, summaries, &order) };
    let last = tables.and_then(|tables| tables.last(&request.choice));
    let last = last.filter(|last| *last.names == names);
    // A client with outdated estimates gets new estimates: more changes may follow.
    let has_key = |last: &LastTable| selected.key().is_none_or(|key| last.found.key.as_ref() == Some(&key));
    let has_estimates = last.as_ref().is_some_and(|last| last.is_awaited(request) && has_key(last));
    let composes = is_quick || is_awaited || has_estimates;
    let known = last.as_ref().map(|last| known_placements(&last.found, &last.names));
    let placed = run.placements(aggregation, &files, selected, known.as_ref(), composes)?;
    add_summarized_tiers(run.cache, run.lookup, &mut files);
    let found = FoundTable { basis, ..found_table(files, &order, placed, aggregation.limits.tokens) };
    Ok((names, found))
}

impl From<TableVersion> for TableAnswer {
    fn from(TableVersion { clock, found, names, changed }: TableVersion) -> Self {
        answer(Some(clock), names, found, changed)
    }
}

/// Returns the files of these rows, if the table had the project's current files at that clock.
pub(in crate::engine) fn table_files(
    run: &mut DocumentRun<'_, '_>,
    tables: &TableCache,
    clock: TableClock,
    rows: &[RangeInclusive<usize>],
) -> Result<Option<Vec<RelPath>>, Error> {
    let begun = tables.begin(now_ms(run));
    let files = listed_files(run.cache)?;
    let (names, _) = TableNames::from_files(files.paths());
    let Some(names) = tables.names_at(clock, begun, names) else { return Ok(None) };
    let selected: Option<Vec<&[RelPath]>> = rows.iter().map(|rows| names.paths.get(rows.clone())).collect();
    Ok(selected.map(|selected| selected.concat()))
}

fn now_ms(run: &DocumentRun<'_, '_>) -> u64 {
    u64::try_from(run.cache.workspace.world.clock.now_ms()).unwrap_or(1)
}

/// Returns the request with files in path order: without a limit, the order does not affect the table, and computing it
/// takes longer than everything else.
fn without_order(request: &AggregationRequest) -> AggregationRequest {
    let order = if request.limits.is_some() { request.order } else { FileOrder::Path };
    AggregationRequest { order, history: None, counts_symbols: false, ..request.clone() }
}

fn known_placements<'k>(found: &'k FoundTable, names: &'k TableNames) -> ComposedPlacements<'k> {
    let rows = names.paths.iter().zip(&*found.rows);
    ComposedPlacements {
        key: found.key.as_ref(),
        files: rows.map(|(path, row)| (path, (&row.placement, row.has_text()))).collect(),
        tokens: found.totals.tokens,
        bytes: found.totals.bytes,
        is_exact: found.is_exact,
        problem: found.problem.as_deref(),
    }
}

fn found_table(
    files: Vec<FileStatus>,
    order: &[usize],
    placed: Placements,
    budget_tokens: Option<u64>,
) -> FoundTable {
    let Placements { files: placements, tokens, bytes, is_exact, problem, key } = placed;
    FoundTable {
        rows: Arc::new(rows_in_order(files, order, placements)),
        totals: TableTotals { tokens, bytes, budget_tokens },
        is_exact,
        problem,
        key,
        basis: None,
    }
}

fn answer(
    clock: Option<TableClock>,
    names: Arc<TableNames>,
    found: FoundTable,
    changed: Option<Vec<usize>>,
) -> TableAnswer {
    let FoundTable { rows, totals, is_exact, problem, .. } = found;
    TableAnswer { clock, names, rows, changed, totals, is_exact, problem }
}
