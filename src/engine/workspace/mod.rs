//! The files of a project on disk: their location, their listing, and what is cached about them between answers.
//!
//! Imports no other folder of this room. Start with [`Workspace`], which is passed to everything else.

mod cache_location;
mod files;
mod hidden;
mod lister;
mod listing;
mod root;
mod text;
mod tracker;

pub use listing::{LinkedSize, check_file_count, checkouts_within, measure_linked, watch_folders};
pub use text::redact_slices;
pub use tracker::WorkspaceCounts;

pub(in crate::engine) use cache_location::CacheLocation;
pub(in crate::engine) use files::{
    HashedText, KnownFile, KnownState, is_racy, window_ns, with_byte_order_mark,
};
pub(in crate::engine) use hidden::HiddenSymbols;
pub(in crate::engine) use listing::EVENT_DEADLINE_NS;
pub(in crate::engine) use root::Workspace;
pub(in crate::engine) use text::{CleanContents, RawText, decode_shown};
pub(in crate::engine) use tracker::{FileRows, TrackedListing, TreeSnapshot, TreeTracker};
