//! The databases: every line of SQL in the program is in this folder.
//!
//! Knows: tables, transactions, migrations, checksums, and what to do with a database file that is damaged or another
//! program's. Does not know: the files of the project, how an artifact is made, what time it is (callers pass times).
//!
//! There are three databases, separated by the cost of losing them: `index` is disposable, `agent` was paid for, and
//! `history` has earlier states of the curation. None imports another; all are built on the files of this folder, which
//! do not know their content: `database` (opening and checking a file), `migrate` (its schema), `row` (columns and
//! checksums) and `compression` (large values). Start with [`Store::open`] and [`agent::AgentDb::open`]. `coverage`
//! reads a file of another program. The reason for each table is in `migrations/`.

pub mod agent;
mod compression;
mod coverage;
mod database;
mod error;
mod history;
mod index;
mod migrate;
mod row;
#[cfg(test)]
mod testing;

pub use coverage::CoverageFile;
#[cfg(test)]
pub(crate) use coverage::write_coverage;
pub use database::IntegrityReport;
pub use error::Error;
pub use history::{HISTORY_DATABASE, HistoryChange, HistoryDb, HistoryEntry};
pub use index::{
    ArtifactBody, ClearScope, ContentArtifacts, DeletedRows, DeliveredDocument, DeliveredFile,
    DeliveryUpdate, FileRow, HydrationRecord, OpenedStore, PlacementUpdate, Store, StoreSize,
    StoredFileState, VersionChange, WriteBatch,
};
pub use row::authenticate_rows;
