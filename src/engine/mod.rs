//! The use cases, and the only place where the rooms of the floor below meet.
//!
//! Knows: how a project is brought up to date, and what each question takes. Does not know: who asks, how an answer
//! is printed, where settings come from.
//!
//! Start with [`Project::open`], then [`Project::index`]: every other use case stands on the scan that it makes.

mod artifacts;
#[cfg(test)]
mod budget_tests;
#[cfg(test)]
mod cancel_tests;
mod document;
mod error;
mod fingerprint;
mod history;
mod index;
#[cfg(test)]
mod masked_tests;
mod options;
mod parallel;
mod project;
mod queries;
mod report;
mod shared;
pub mod summaries;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tree_tests;
#[cfg(test)]
mod words_tests;
mod workspace;

pub use crate::aggregate::DocumentLimits;
pub use crate::aggregate::OutlineLine;
pub use crate::aggregate::nearest_keys as nearest_symbols;
pub use crate::aggregate::select_symbols;
pub use crate::discover::file_type_by_id;
pub use crate::store::IntegrityReport;
pub use crate::store::agent::AgentDbSize;
pub use artifacts::CacheStatus;
pub use artifacts::ClearedCache;
pub use artifacts::ExportedArtifacts;
pub use artifacts::make_cache_folder;
pub use document::AggregationRequest;
pub use document::CachedDocument;
pub use document::DiscussionSource;
pub use document::DocumentHistory;
pub use document::Explanation;
pub use document::ImageFile;
pub use document::LimitedView;
pub use document::PreparedDocument;
pub use document::PriorOutputs;
pub use document::SectionRequest;
pub use document::ViewAnswer;
pub use document::ViewRequest;
pub use error::Code;
pub use error::Error;
pub use index::AuditReport;
pub use index::FileChange;
pub use index::FileChangeKind;
pub use index::FileStatus;
pub use index::Freshness;
pub use index::IndexDifference;
pub use index::Trust;
pub use options::Options;
pub use options::World;
pub use parallel::STACK_BYTES;
pub use project::Project;
pub use queries::OutlineAnswer;
pub use queries::SymbolAnswer;
pub use report::IndexReport;
pub use report::NoProgress;
pub use report::ScanProgress;
pub use shared::WorkspaceCache;
pub use workspace::watch_folders;
