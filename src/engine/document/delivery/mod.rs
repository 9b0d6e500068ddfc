//! What the reader of a document has from earlier documents of the same name, and what is new.
//!
//! `reader` records deliveries and reduces the next document to changes, which `delta` shows; `known_views` compares
//! what the reader has with what another request wants, and `delivered` answers what has changed since a delivery. May
//! import `draft`, `packing`, `rendering`, `cache`, `request` and `run`.

mod delivered;
mod delta;
mod known_views;
mod reader;

pub use delivered::{DeliveredFileDiff, DeliveredFileState, DeliveredFileStatus, RecordName};
pub(in crate::engine::document) use known_views::{leave_out_known, restore_files_with_more, unreduced};
pub(in crate::engine) use reader::{PendingDelivery, confirm_delivery};
pub(in crate::engine::document) use reader::{
    ReaderState, load_reader_state, reduce_to_changes, shown_fingerprints,
};
