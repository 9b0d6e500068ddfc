//! The tables that were last answered, and when each of their rows last changed.
//!
//! Each row has the number of the answer in which it changed. So the changes since any earlier answer are known,
//! however many clients there are, and only the newest table of a choice is kept.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use super::basis::{TableBasis, TableUpdate};
use super::rows::{TableNames, TableRow, TableTotals};
use crate::engine::document::{AggregationRequest, InputsKey};
use crate::engine::index::SeenFiles;
use crate::model::lock;

/// For a larger project, the document is only composed for a client that has the estimates.
const QUICK_FILES: usize = 2_000;
/// The maximum number of choices whose tables are cached.
const MAX_TABLES: usize = 4;

/// A version of a table, written `table:change`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableClock {
    /// The number of the table; different for another choice or another daemon.
    table: u64,
    /// The number of the change.
    change: u64,
}

impl fmt::Display for TableClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.table, self.change)
    }
}

impl FromStr for TableClock {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (table, change) = text.split_once(':').unwrap_or((text, ""));
        Ok(Self { table: table.parse()?, change: change.parse()? })
    }
}

/// A request for a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRequest {
    /// The client's identifier of the choice; the same text means the same choice, whatever settings it results in.
    pub choice: String,
    pub aggregation: AggregationRequest,
    /// The clock of the client's table.
    pub since: Option<TableClock>,
    /// Whether only files reported by events are checked.
    pub trusts_events: bool,
}

/// A table as it was computed.
#[derive(Clone)]
pub(super) struct FoundTable {
    pub(super) rows: Arc<Vec<TableRow>>,
    pub(super) totals: TableTotals,
    pub(super) is_exact: bool,
    pub(super) problem: Option<String>,
    pub(super) key: Option<Arc<InputsKey>>,
    /// The data for updating it; `None` if it can only be computed again.
    pub(super) basis: Option<(Arc<TableBasis>, Arc<SeenFiles>)>,
}

/// The tables of the last choices.
pub(in crate::engine) struct TableCache {
    tables: Mutex<KeptTables>,
    quick_files: usize,
}

impl Default for TableCache {
    fn default() -> Self {
        Self::composing(QUICK_FILES)
    }
}

#[derive(Default)]
struct KeptTables {
    /// The numbers of the first and of the next table.
    first: u64,
    next: u64,
    /// The number of answers that were begun, and of changes.
    begun: u64,
    changes: u64,
    names: Arc<TableNames>,
    /// The change in which files last came or went.
    names_since: u64,
    /// The number of the answer that the names come from.
    names_begun: u64,
    tables: VecDeque<KeptTable>,
}

struct KeptTable {
    choice: String,
    number: u64,
    /// The change in which it was first answered with these files.
    since: u64,
    /// The number of the answer that it comes from.
    begun: u64,
    found: FoundTable,
    /// For each row, the change in which it last changed.
    changed: Vec<u64>,
    /// The last change of anything else.
    newest: u64,
}

/// The last table of a choice.
pub(super) struct LastTable {
    pub(super) clock: TableClock,
    /// The number of the answer that it comes from.
    pub(super) begun: u64,
    pub(super) found: FoundTable,
    pub(super) names: Arc<TableNames>,
}

impl LastTable {
    /// Returns whether the client has its estimates and waits for the document. A client that trusts events does not.
    pub(super) fn is_awaited(&self, request: &TableRequest) -> bool {
        !self.found.is_exact && !request.trusts_events && request.since == Some(self.clock)
    }
}

/// A table as returned to a client.
pub(super) struct TableVersion {
    pub(super) clock: TableClock,
    pub(super) found: FoundTable,
    pub(super) names: Arc<TableNames>,
    /// The rows that have changed since the given clock; `None` if the client needs the whole table.
    pub(super) changed: Option<Vec<usize>>,
}

/// What identifies a table that an update is based on: its clock, and the number of the answer that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableBase {
    pub(super) clock: TableClock,
    pub(super) begun: u64,
}

impl TableCache {
    /// Returns a cache that composes the document at once for up to `quick_files` files.
    pub(in crate::engine) fn composing(quick_files: usize) -> Self {
        Self { tables: Mutex::default(), quick_files }
    }

    /// Returns the maximum number of files for which the document is composed at once.
    pub(super) const fn quick_files(&self) -> usize {
        self.quick_files
    }

    /// Returns the number of an answer that is about to be made. Results of answers take precedence in this order.
    pub(super) fn begin(&self, now_ms: u64) -> u64 {
        let mut kept = lock(&self.tables);
        if kept.first == 0 {
            // Based on the time, so that clocks of an earlier process are not mistaken for current ones.
            kept.first = now_ms.max(1);
            kept.next = kept.first;
        }
        kept.begun += 1;
        kept.begun
    }

    /// Returns the last table of a choice with its names, if these are current.
    pub(super) fn last(&self, choice: &str) -> Option<LastTable> {
        let kept = lock(&self.tables);
        let table = kept.tables.iter().find(|table| table.choice == choice)?;
        let last = || LastTable {
            clock: table.clock(),
            begun: table.begun,
            found: table.found.clone(),
            names: Arc::clone(&kept.names),
        };
        (kept.names_since <= table.since).then(last)
    }

    /// Applies an update by the answer `begun` to the table that `base` identifies, and returns
    /// the changes since `since`; `None` if another answer has changed the table in the meantime.
    pub(super) fn update(
        &self,
        base: TableBase,
        begun: u64,
        update: TableUpdate,
        since: Option<TableClock>,
    ) -> Option<TableVersion> {
        let mut kept = lock(&self.tables);
        // The result of an answer that compares all files counts even if it was begun before one that trusted events.
        let begun = if update.trusted_events { base.begun } else { begun };
        let is_base = |table: &KeptTable| TableBase { clock: table.clock(), begun: table.begun } == base;
        let at = kept.tables.iter().position(|table| is_base(table) && kept.names_since <= table.since)?;
        let mut table = kept.tables.remove(at)?;
        kept.changes = table.update(update, begun, kept.changes);
        kept.names_begun = kept.names_begun.max(begun);
        Some(kept.answered(table, since))
    }

    /// Caches the table computed by the answer `begun`, and returns the changes since `since`.
    pub(super) fn record(
        &self,
        choice: &str,
        begun: u64,
        names: TableNames,
        found: FoundTable,
        since: Option<TableClock>,
    ) -> TableVersion {
        let mut kept = lock(&self.tables);
        if let Some(names) = kept.record_names(begun, names) {
            // Files came or went in the meantime. The client gets an invalid clock, and so the whole table next time.
            let clock = TableClock { table: 0, change: 0 };
            return TableVersion { clock, names: Arc::new(names), changed: None, found };
        }
        let at = kept.tables.iter().position(|table| table.choice == choice);
        let mut table = match at.and_then(|at| kept.tables.remove(at)) {
            Some(mut table) if kept.names_since <= table.since => {
                if table.begun < begun {
                    kept.changes = table.replace(found, begun, kept.changes);
                }
                table
            }
            Some(_) | None => {
                let number = kept.next;
                kept.next += 1;
                kept.changes += 1;
                let (since, changed) = (kept.changes, vec![kept.changes; found.rows.len()]);
                KeptTable { choice: choice.to_owned(), number, since, begun, found, changed, newest: since }
            }
        };
        table.begun = table.begun.max(begun);
        kept.answered(table, since)
    }

    /// Returns the names of a table, if at that clock it had the project's current files: `names`, as found by the
    /// answer `begun`.
    pub(super) fn names_at(
        &self,
        clock: TableClock,
        begun: u64,
        names: TableNames,
    ) -> Option<Arc<TableNames>> {
        let mut kept = lock(&self.tables);
        if kept.record_names(begun, names).is_some() {
            return None;
        }
        let is_known = (kept.first..kept.next).contains(&clock.table)
            && (kept.names_since..=kept.changes).contains(&clock.change);
        is_known.then(|| Arc::clone(&kept.names))
    }
}

impl KeptTables {
    /// Caches a table as the most recent one, and returns it with the changes since `since`.
    fn answered(&mut self, table: KeptTable, since: Option<TableClock>) -> TableVersion {
        let version = TableVersion {
            clock: table.clock(),
            found: table.found.clone(),
            names: Arc::clone(&self.names),
            changed: since.and_then(|since| table.changed_since(since)),
        };
        self.tables.push_front(table);
        self.tables.truncate(MAX_TABLES);
        version
    }

    /// Records the existing files as found by the answer `begun`. Returns the current names if a later answer has found
    /// others.
    fn record_names(&mut self, begun: u64, names: TableNames) -> Option<TableNames> {
        let is_later = self.names_begun < begun;
        if *self.names != names {
            if !is_later {
                return Some(names);
            }
            self.names = Arc::new(names);
            self.changes += 1;
            self.names_since = self.changes;
        }
        self.names_begun = self.names_begun.max(begun);
        None
    }
}

impl KeptTable {
    const fn clock(&self) -> TableClock {
        TableClock { table: self.number, change: self.newest }
    }

    /// Applies an update. Returns the number of the last change.
    fn update(&mut self, update: TableUpdate, begun: u64, changes: u64) -> u64 {
        let TableUpdate { rows, seen, budget_tokens, request, .. } = update;
        if let Some((basis, known)) = &mut self.found.basis {
            // Copied only while another answer about the same table is being made.
            Arc::make_mut(known).replace(seen);
            if let Some(request) = request {
                Arc::make_mut(basis).request = request;
            }
        }
        self.begun = self.begun.max(begun);
        let Some(rows) = rows else { return changes };
        let change = changes + 1;
        let kept = Arc::make_mut(&mut self.found.rows);
        for (at, row) in rows {
            if kept[at] != row {
                (kept[at], self.changed[at]) = (row, change);
            }
        }
        let tokens = kept.iter().map(|row| row.placement.tokens).sum();
        self.found.totals = TableTotals { tokens, bytes: 0, budget_tokens };
        (self.found.is_exact, self.found.problem, self.found.key) = (false, None, None);
        self.newest = change;
        change
    }

    /// Replaces the computed table. Returns the number of the last change.
    fn replace(&mut self, found: FoundTable, begun: u64, changes: u64) -> u64 {
        let change = changes + 1;
        let mut is_changed = self.found.totals != found.totals
            || self.found.is_exact != found.is_exact
            || self.found.problem != found.problem;
        for ((old, new), changed) in self.found.rows.iter().zip(&*found.rows).zip(&mut self.changed) {
            if old != new {
                *changed = change;
                is_changed = true;
            }
        }
        (self.found, self.begun) = (found, begun);
        if !is_changed {
            return changes;
        }
        self.newest = change;
        change
    }

    /// Returns the rows that have changed since a clock; `None` if the clock is not one of this table.
    fn changed_since(&self, since: TableClock) -> Option<Vec<usize>> {
        let is_known = since.table == self.number && (self.since..=self.newest).contains(&since.change);
        let changed = self.changed.iter().enumerate().filter(|(_, changed)| since.change < **changed);
        is_known.then(|| changed.map(|(at, _)| at).collect())
    }
}
