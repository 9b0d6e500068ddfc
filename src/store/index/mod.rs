//! What is derived from files: the database `index.db`.
//!
//! Nothing in it is precious: deleting the database costs time, never truth. So a row is returned only if its checksum
//! holds; a damaged one is counted and treated as missing.
//!
//! A file for each table or group of tables, each with the methods of [`Store`] that read it; `write` stores what a scan
//! found, `upkeep` and `report` read all tables. The database may serve all worktrees of a repository: `worktree` and `page` have
//! the files of linked ones, and `scope` keeps apart what is kept under a name. Start with [`Store::open`] and [`Store::save`].

mod artifact;
mod codec;
mod content;
mod delivered;
mod delivered_document;
mod file;
mod fragment;
mod meta;
mod open;
mod page;
mod producer;
mod report;
mod scope;
#[cfg(test)]
mod testing;
mod upkeep;
mod worktree;
mod write;

pub use delivered::{DeliveredFile, DeliveryUpdate};
pub use delivered_document::DeliveredDocument;
pub use file::{FileRow, StoredFileState};
pub use fragment::{HydrationRecord, PlacementUpdate};
pub use open::{OpenedStore, Store};
pub use report::StoreSize;
pub use upkeep::{ClearScope, DeletedRows};
pub use write::{ArtifactBody, ContentArtifacts, WriteBatch};
