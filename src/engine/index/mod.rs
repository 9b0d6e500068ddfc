//! The project as it is now: every listed file, read where its stamp is not enough, and the cache brought up to date.

mod audit;
mod changes;
mod examine;
mod scan;
mod snapshot;
mod status;

pub use audit::AuditReport;
pub use audit::IndexDifference;
pub use audit::IndexDifferenceKind;
pub use changes::FileChange;
pub use changes::FileChangeKind;
pub use examine::STACK_BYTES;
pub use scan::Trust;
pub use status::FileStatus;
pub use status::Freshness;

pub(in crate::engine) use examine::{ExaminedFile, HashedText, LARGE_BYTES, ReadOutcome};
pub(in crate::engine) use scan::{KnownFile, KnownState, PRODUCERS, ScanRequest, state_from_row};
pub(in crate::engine) use snapshot::TOLD_BY_NS;
