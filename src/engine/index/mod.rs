//! The current state of the project: a snapshot of all listed files, read where stamps are not enough, with the cache
//! updated.
//!
//! Start with [`take_snapshot`](snapshot::take_snapshot) and [`scan()`]; [`FileSelector`] resolves what a request names.
//! May import `workspace` and `artifacts`.

mod audit;
mod changes;
mod examine;
mod names;
mod scan;
mod scope;
mod seen;
mod selection;
mod snapshot;
mod status;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree_tests;

pub use audit::{AuditReport, IndexDifference};
pub use changes::{FileChange, FileChangeKind};
pub use scan::Trust;
pub use status::{FileStatus, Freshness};

pub(in crate::engine) use audit::audit;
pub(in crate::engine) use changes::{refresh, refresh_all};
pub(in crate::engine) use names::{resolve_name, resolve_names, resolve_names_or_note};
pub(in crate::engine) use scan::{ScanRequest, index, scan};
pub(in crate::engine) use seen::{ChangedFiles, SeenFiles, files_changed_since, rows_of};
pub(in crate::engine) use selection::{
    FileArgument, FileSelection, FileSelector, note_unreadable, select_contents, select_named, select_visible,
};
pub(in crate::engine) use status::{listed_files, selected_status, status};
