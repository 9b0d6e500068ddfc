//! The use cases, and the only place where the rooms of the floor below meet.
//!
//! Knows: how a project is brought up to date, and what each question takes. Does not know: who asks, how an answer
//! is printed, where settings come from.
//!
//! Start with [`Project::open`], then [`Project::index`]: every other use case stands on the scan that it makes.

pub mod agent;
mod aggregation;
mod answers;
mod artifacts;
mod audit;
#[cfg(test)]
mod budget_tests;
mod cache;
#[cfg(test)]
mod cancel_tests;
mod changes;
mod checking;
mod contents;
mod derive;
mod error;
mod explaining;
mod fitting;
mod folders;
mod freshness;
mod given;
mod history;
mod importance;
mod ladders;
mod listed;
#[cfg(test)]
mod masked_tests;
mod options;
mod output;
mod paid;
mod parallel;
mod picks;
mod prepared;
mod project;
mod question;
mod reading;
mod rendering;
mod report;
mod revision;
mod scan;
mod sections;
mod shown;
mod sight;
mod slices;
mod stability;
mod status;
mod storing;
mod symbols;
#[cfg(test)]
mod tests;
mod tokens;
mod tree;
#[cfg(test)]
mod tree_tests;
#[cfg(test)]
mod words_tests;

pub use crate::aggregate::DocumentLimits;
pub use crate::aggregate::OutlineLine;
pub use crate::aggregate::nearest_keys as nearest_symbols;
pub use crate::aggregate::select_symbols;
pub use crate::discover::file_type_by_id;
pub use crate::store::DeletedRows;
pub use crate::store::IntegrityReport;
pub use crate::store::paid::AgentDbSize;
pub use aggregation::AggregationRequest;
pub use answers::CachedDocument;
pub use answers::DocumentInputs;
pub use answers::InputsDigest;
pub use audit::AuditReport;
pub use audit::IndexDifference;
pub use audit::IndexDifferenceKind;
pub use cache::CacheStatus;
pub use cache::ClearedCache;
pub use cache::ExportedArtifacts;
pub use changes::FileChange;
pub use changes::FileChangeKind;
pub use error::Code;
pub use error::Error;
pub use explaining::Explanation;
pub use explaining::LimitedView;
pub use folders::WatchFolders;
pub use folders::watch_folders;
pub use given::DocumentHistory;
pub use options::Options;
pub use options::World;
pub use output::PriorOutputs;
pub use paid::ClearedSummaries;
pub use picks::ViewRequest;
pub use prepared::PreparedDocument;
pub use project::Note;
pub use project::Project;
pub use question::OutlineAnswer;
pub use question::ViewAnswer;
pub use reading::STACK_BYTES;
pub use report::IndexReport;
pub use report::NoProgress;
pub use report::ScanProgress;
pub use scan::Trust;
pub use sections::DiscussionSource;
pub use sections::ImageFile;
pub use sections::SectionRequest;
pub use status::FileStatus;
pub use status::Freshness;
pub use storing::make_cache_folder;
pub use symbols::SymbolAnswer;
pub use tree::WorkspaceCache;
pub use tree::WorkspaceCounts;
