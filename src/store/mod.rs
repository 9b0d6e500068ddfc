//! The SQLite room: every line of SQL in the program lives under this folder.
//!
//! Knows: tables, transactions, migrations, checksums, what to do with a database file that is damaged or another
//! program's. Does not know: files of the project, how an artifact is made, what time it is (callers pass times in).
//!
//! Nothing in here is precious: deleting the database costs time, never truth. So a row is served only where its
//! checksum holds; one whose checksum does not is as good as absent, and counted.
//!
//! Start with [`Store::open`] and [`Store::save`]; then read the file named after the table you care about. A table's
//! reason stands in `migrations/`.

mod artifact;
mod checksum;
mod clear;
mod codec;
mod content;
mod database;
mod error;
mod export;
mod file;
mod gc;
mod given;
mod meta;
mod migrate;
mod open;
pub mod paid;
mod producer;
mod references;
#[cfg(test)]
mod samples;
mod save;
mod size;
mod token_count;
mod verify;

pub use artifact::SearchedOutline;
pub use clear::ClearScope;
pub use clear::DeletedRows;
pub use error::Error;
pub use export::ExportRow;
pub use file::FileRow;
pub use file::StoredFileState;
pub use given::DeliveredFile;
pub use given::DeliveryUpdate;
pub use open::OpenedStore;
pub use open::Store;
pub use open::StoreRecovery;
pub use save::ArtifactBody;
pub use save::ContentArtifacts;
pub use save::WriteBatch;
pub use size::ArtifactTotals;
pub use size::StoreSize;
pub use verify::IntegrityReport;
