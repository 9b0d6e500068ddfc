//! The tables whose rows can be checked and copied one by one.

use rusqlite::Connection;

use super::spend::{self, CounterName, LedgerRow};
use super::{summary, work};
use crate::store::sqlite::{Error, RowColumns};

/// A table of the database.
pub(in crate::store::agent) struct Table {
    /// Its name.
    pub(in crate::store::agent) name: &'static str,
    /// What reports call a row of it.
    pub(in crate::store::agent) row_label: &'static str,
    /// Returns whether a row is what was once written.
    pub(in crate::store::agent) is_intact: fn(&RowColumns<'_>) -> bool,
    /// Adds a row of an older or newer state of the database, if it is intact and the row that is there is not better.
    pub(in crate::store::agent) merge: fn(&Connection, &RowColumns<'_>) -> Result<(), Error>,
}

/// The tables whose damaged rows may be deleted. A batch comes before its items, which are nothing without it.
///
/// `lease` is not among them: a lease means nothing once its process has ended.
pub(in crate::store::agent) const TABLES: [Table; 6] = [
    Table {
        name: "summary",
        row_label: "summary by a model",
        is_intact: |columns| summary::from_columns(columns).is_some(),
        merge: |connection, columns| {
            let Some(summary) = summary::from_columns(columns) else { return Ok(()) };
            summary::insert_if_absent(connection, &summary).map(drop)
        },
    },
    Table {
        name: "latest",
        row_label: "last summary of a path",
        is_intact: |columns| summary::latest_from_columns(columns).is_some(),
        merge: |connection, columns| {
            let Some(latest) = summary::latest_from_columns(columns) else { return Ok(()) };
            summary::upsert_latest(connection, &latest).map(drop)
        },
    },
    Table {
        name: "refusal",
        row_label: "refusal of a model",
        is_intact: |columns| work::refusal_from_columns(columns).is_some(),
        merge: |connection, columns| {
            let Some(refused) = work::refusal_from_columns(columns) else { return Ok(()) };
            work::upsert_refusal(connection, &refused)
        },
    },
    Table {
        name: "batch",
        row_label: "batch of calls",
        is_intact: |columns| work::batch_from_columns(columns).is_some(),
        merge: |connection, columns| {
            let Some(batch) = work::batch_from_columns(columns) else { return Ok(()) };
            match work::select_batch(connection, batch.id)? {
                // Without the provider's name for it, nobody could fetch its answers.
                Some(there) if there.remote_id.is_some() => Ok(()),
                Some(_) | None => work::upsert_batch(connection, &batch),
            }
        },
    },
    Table {
        name: "batch_item",
        row_label: "call of a batch",
        is_intact: |columns| work::item_from_columns(columns).is_some(),
        merge: |connection, columns| {
            let Some((batch, item)) = work::item_from_columns(columns) else { return Ok(()) };
            work::upsert_item(connection, batch, &item)
        },
    },
    Table {
        name: "counter",
        row_label: "count",
        is_intact: |columns| spend::counter_from_columns(columns).is_some(),
        merge: |connection, columns| match spend::counter_from_columns(columns) {
            Some((name @ (CounterName::Calls | CounterName::ClosedDay), value)) => {
                let there = spend::counter(connection, name)?;
                spend::set_counter(connection, name, there.map_or(value, |there| there.max(value)))
            }
            Some((CounterName::Generation, _)) | None => Ok(()),
        },
    },
];

/// The ledger, whose rows are never deleted.
pub(in crate::store::agent) const LEDGER: Table = Table {
    name: "spend",
    row_label: "call in the ledger (it counts as the larger of its numbers)",
    is_intact: |columns| spend::from_columns(columns).is_some(),
    merge: |connection, columns| {
        let Some(row) = spend::from_columns(columns) else { return Ok(()) };
        match spend::get(connection, row.id)? {
            // A call that was settled stays so: a row that is still open is an older one.
            Some(LedgerRow::Intact(there)) if !there.is_open() => Ok(()),
            Some(LedgerRow::Intact(_) | LedgerRow::Damaged(_)) | None => spend::upsert(connection, &row),
        }
    },
};
