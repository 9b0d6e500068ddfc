//! The data derived from files: the database `index.db`.
//!
//! Everything in it can be derived again, so deleting the database only costs time. A row is returned only if its
//! checksum is valid; a damaged one is counted and treated as missing.
//!
//! Each table or group of tables has a file with the methods of [`Store`] that read it; `write` stores the results of a
//! scan, `upkeep` and `report` read all tables. The database may serve all worktrees of a repository: `worktree` and
//! `page` store the files of linked ones, and `scope` separates what is stored by name. Start with [`Store::open`] and
//! [`Store::save`].

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

pub use delivered::{DeliveredFile, DeliveryUpdate, VersionChange};
pub use delivered_document::DeliveredDocument;
pub use file::{FileRow, StoredFileState};
pub use fragment::{HydrationRecord, PlacementUpdate};
pub use open::{OpenedStore, Store};
pub use report::StoreSize;
pub use upkeep::{ClearScope, DeletedRows};
pub use write::{ArtifactBody, ContentArtifacts, WriteBatch};
