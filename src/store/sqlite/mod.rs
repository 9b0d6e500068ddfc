//! A SQLite file of slop's: opening it, its schema and migrations, and rows that carry a checksum.
//!
//! Does not know what the two databases hold. Imports `model` alone. Start with `DatabaseFile`.

mod database;
mod error;
mod files;
mod migrate;
mod row;
#[cfg(test)]
mod testing;

pub use database::IntegrityReport;
pub use error::Error;

pub(super) use database::{DatabaseFile, check_structure, describe_error, fence};
pub(super) use files::{
    FileInode, absolute, exists, file_error, lock_folder, metadata_if_exists, open_bytes, remove_if_exists,
    remove_logs, rename, rename_with_logs, with_suffix,
};
pub(super) use migrate::{AGENT_SCHEMA, INDEX_SCHEMA};
pub(super) use row::{
    ChecksumBuilder, RowChecksum, RowColumns, money_to_column, select_each, select_first, tokens_to_columns,
};
#[cfg(test)]
pub(super) use testing::DatabaseFolder;
