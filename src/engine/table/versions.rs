//! The tables that were answered last, and since when each of their rows is what it is.
//!
//! Each row has the number of the answer in which it changed. So what has changed since any earlier answer is known,
//! however many clients ask, and only the newest table of a choice is kept.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex};

use super::basis::{TableBasis, TableUpdate};
use super::rows::{TableNames, TableRow, TableTotals};
use crate::engine::document::{AggregationRequest, InputsKey};
use crate::engine::index::SeenFiles;
use crate::model::lock;

/// The document of a project with more files is composed only for a client that has the estimates.
const QUICK_FILES: usize = 2_000;
/// The maximum number of choices whose tables are kept.
const MAX_TABLES: usize = 4;

/// A moment in the life of one table, written `table:change`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableClock {
    /// The number of the table: another choice, or another daemon, has another one.
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

/// A table that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRequest {
    /// What the client calls the choice; the same text means the same choice, whatever the settings make of it.
    pub choice: String,
    pub aggregation: AggregationRequest,
    /// The clock of the table that the client has.
    pub since: Option<TableClock>,
    /// Whether only files that events have reported are examined.
    pub trusts_events: bool,
}

/// A table as it was found out.
#[derive(Clone)]
pub(super) struct FoundTable {
    pub(super) rows: Arc<Vec<TableRow>>,
    pub(super) totals: TableTotals,
    pub(super) is_exact: bool,
    pub(super) problem: Option<String>,
    pub(super) key: Option<Arc<InputsKey>>,
    /// By what it is brought up to date; `None` if it can only be found out anew.
    pub(super) basis: Option<(Arc<TableBasis>, Arc<SeenFiles>)>,
}

/// The tables of the choices that were asked for last.
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
    /// The number of the first table, and of the next one.
    first: u64,
    next: u64,
    /// How many answers were begun, and how many changes there were.
    begun: u64,
    changes: u64,
    names: Arc<TableNames>,
    /// The change by which files came or went last.
    names_since: u64,
    /// When the answer was begun that the names are of.
    names_begun: u64,
    tables: VecDeque<KeptTable>,
}

struct KeptTable {
    choice: String,
    number: u64,
    /// The change with which it was first answered with these files.
    since: u64,
    /// When the answer was begun that it is of.
    begun: u64,
    found: FoundTable,
    /// For each row the change in which it became what it is.
    changed: Vec<u64>,
    /// The change in which anything else of it became what it is.
    newest: u64,
}

/// The last table of a choice.
pub(super) struct LastTable {
    pub(super) clock: TableClock,
    /// When the answer was begun that it is of.
    pub(super) begun: u64,
    pub(super) found: FoundTable,
    pub(super) names: Arc<TableNames>,
}

impl LastTable {
    /// Returns whether a client has its estimates, and waits for the document. One that trusts events does not.
    pub(super) fn is_awaited(&self, request: &TableRequest) -> bool {
        !self.found.is_exact && !request.trusts_events && request.since == Some(self.clock)
    }
}

/// A table as a client gets it.
pub(super) struct TableVersion {
    pub(super) clock: TableClock,
    pub(super) found: FoundTable,
    pub(super) names: Arc<TableNames>,
    /// The rows that have changed since the clock that was given; `None` if the client needs the whole.
    pub(super) changed: Option<Vec<usize>>,
}

impl TableCache {
    /// Returns a cache for which the document of `quick_files` is composed at once.
    pub(in crate::engine) fn composing(quick_files: usize) -> Self {
        Self { tables: Mutex::default(), quick_files }
    }

    /// Returns of how many files the document is composed at once.
    pub(super) const fn quick_files(&self) -> usize {
        self.quick_files
    }

    /// Returns the number of an answer that is about to be made. What answers find out counts in this order.
    pub(super) fn begin(&self, now_ms: u64) -> u64 {
        let mut kept = lock(&self.tables);
        if kept.first == 0 {
            // By the time, so that no clock of an earlier process is taken for one of this.
            kept.first = now_ms.max(1);
            kept.next = kept.first;
        }
        kept.begun += 1;
        kept.begun
    }

    /// Returns the last table of a choice with its names, if it has the names of now.
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

    /// Takes in what the answer `begun` has found to have changed of the table of `base` and the answer it was of, and
    /// returns what the client lacks that has the table of `since`; `None` if another answer has changed it meanwhile.
    pub(super) fn update(
        &self,
        base: (TableClock, u64),
        begun: u64,
        update: TableUpdate,
        since: Option<TableClock>,
    ) -> Option<TableVersion> {
        let mut kept = lock(&self.tables);
        // What an answer finds that compares all files counts, although it was begun before one that trusted events.
        let begun = if update.trusted_events { base.1 } else { begun };
        let is_base = |table: &KeptTable| (table.clock(), table.begun) == base;
        let at = kept.tables.iter().position(|table| is_base(table) && kept.names_since <= table.since)?;
        let mut table = kept.tables.remove(at)?;
        kept.changes = table.update(update, begun, kept.changes);
        kept.names_begun = kept.names_begun.max(begun);
        Some(kept.answered(table, since))
    }

    /// Keeps the table that the answer `begun` has found out, and returns what the client lacks that has the table of
    /// `since`.
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
            // Files came or went meanwhile. The client gets the clock of no table, and so the whole the next time.
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

    /// Returns the names of a table, if it had at that clock the files that the project has now: `names`, as an answer
    /// that was `begun` has found them.
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
    /// Keeps a table as the one that was asked for last, and returns it for a client that has the table of `since`.
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

    /// Takes in the files that there are, as the answer `begun` has found them. Returns them if a later answer has found
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

    /// Takes in what has changed. Returns the number of the last change.
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

    /// Replaces what was found out. Returns the number of the last change.
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

    /// Returns the rows that have changed since a clock; `None` if that is none of this table.
    fn changed_since(&self, since: TableClock) -> Option<Vec<usize>> {
        let is_known = since.table == self.number && (self.since..=self.newest).contains(&since.change);
        let changed = self.changed.iter().enumerate().filter(|(_, changed)| since.change < **changed);
        is_known.then(|| changed.map(|(at, _)| at).collect())
    }
}
