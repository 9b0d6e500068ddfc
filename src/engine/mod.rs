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

pub use crate::aggregate::Limits;
pub use crate::aggregate::OutlineLine;
pub use crate::aggregate::nearest as nearest_symbols;
pub use crate::aggregate::select as select_symbols;
pub use crate::discover::file_type;
pub use crate::store::Freed;
pub use crate::store::Verdict;
pub use crate::store::paid::PaidSize;
pub use aggregation::AggregationRequest;
pub use answers::Answer;
pub use answers::Kept;
pub use answers::Selected;
pub use audit::AuditReport;
pub use audit::Difference;
pub use audit::DifferenceKind;
pub use cache::CacheStatus;
pub use cache::Cleared;
pub use cache::Exported;
pub use changes::Change;
pub use changes::ChangeKind;
pub use error::Code;
pub use error::Error;
pub use explaining::Explanation;
pub use explaining::UnderLimits;
pub use folders::Folders;
pub use folders::folders;
pub use given::Memory;
pub use options::Options;
pub use options::World;
pub use output::WrittenBefore;
pub use paid::ClearedPaid;
pub use picks::ViewRequest;
pub use prepared::Prepared;
pub use project::Note;
pub use project::Project;
pub use question::OutlineAnswer;
pub use question::ViewAnswer;
pub use reading::STACK_BYTES;
pub use report::IndexReport;
pub use report::Progress;
pub use report::Silent;
pub use scan::Trust;
pub use sections::Discussion;
pub use sections::ImageFile;
pub use sections::SectionRequest;
pub use status::FileStatus;
pub use status::Freshness;
pub use storing::make_cache_folder;
pub use symbols::SymbolAnswer;
pub use tree::Tree;
pub use tree::TreeCounts;
