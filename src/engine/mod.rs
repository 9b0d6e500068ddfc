//! The use cases, and the only place where the rooms of the floor below meet.
//!
//! Knows: how the data of a project is updated, and how each question is answered. Does not know: who asks, how an
//! answer is printed, where settings come from.
//!
//! Start with [`Project::open`], then [`Project::index`]: every other use case relies on the scan that it makes.
//! `project.rs` has one method for each use case, which calls a function of one of these folders. A folder imports only
//! those above it in this list:
//!
//! - `workspace`: where the project is, which files it lists, and what is cached about them between answers
//! - `artifacts`: what is derived from contents, and the store for it
//! - `index`: the current state of the project; files are read where their stamps are not enough
//! - `history`: earlier contents, revisions and commits from git
//! - `ranking`: which files and symbols matter for a task, for files in focus, or in general
//! - `references`: who uses what, over the whole project
//! - `summaries`: which summaries a model is asked for, and which of them are shown
//! - `document`: from the selected files to the delivered text
//! - `table`: the state of each file, how a document shows it, and what has changed

mod artifacts;
mod document;
mod error;
mod find;
mod fingerprint;
mod history;
mod index;
mod last_value;
mod lru;
mod mounts;
mod options;
mod project;
mod queries;
mod ranking;
mod references;
mod shared;
mod source_texts;
pub mod summaries;
mod symbol_names;
mod symbols;
mod table;
#[cfg(test)]
mod testing;
mod timings;
mod workspace;

pub use crate::aggregate::{
    Covering, CoveringEntry, DocumentLimits, ESTIMATE, HydrationLimits, OutlineLine, TokenCounter,
    nearest_keys as nearest_symbols, render_outline, select_symbols,
};
pub use crate::discover::{are_of_one_repository, enclosing_checkout, file_type_by_id, run_git};
pub use crate::store::agent::AgentDbSize;
pub use crate::store::authenticate_rows as authenticate_cache;
pub use crate::store::{
    DeliveredDocument, HISTORY_DATABASE, HistoryChange, HistoryDb, HistoryEntry, IntegrityReport,
};
pub use crate::syntax::LANGUAGE_COUNT;
pub use artifacts::{CacheStatus, ClearedCache, ExportedArtifacts, cache_folder, make_cache_folder};
pub use document::{
    AggregationRequest, BeadsRequest, CachedDocument, DeliveredFileDiff, DeliveredFileState,
    DeliveredFileStatus, DiscussionSource, DiscussionText, DocumentCacheKey, DocumentHistory, Explanation,
    HydratedPlaces, HydrationAnswer, HydrationRequest, ImageFile, LimitedView, NamedFragments,
    OpenedDocument, PreparedDocument, PriorOutputs, RankedName, RecentChanges, RecordName, SectionRequest,
    UNKNOWN_SYMBOLS, ViewAnswer, ViewRequest,
};
pub use error::{Code, Error};
pub use find::{FindAnswer, FindHit, FindRequest};
pub use index::{AuditReport, FileChange, FileChangeKind, FileStatus, Freshness, IndexDifference, Trust};
pub use options::{IndexReport, NoProgress, Options, ScanProgress, World};
pub use project::Project;
pub use queries::OutlineAnswer;
pub use ranking::{HitKind, SearchAnswer, SearchHit, SearchRequest};
pub use references::{
    CallAnswer, CallDirection, CallRequest, GraphReference, ImpactAnswer, ImpactRequest, ReachedNode,
    ReachedSymbol, ReferenceGraph, SymbolId, UsesAnswer,
};
pub use shared::WorkspaceCache;
pub use source_texts::{SourceRequest, SourceText};
pub use symbols::{SymbolAnswer, SymbolRequest};
pub use table::{TableAnswer, TableClock, TableNames, TableRequest, TableRow, TableTotals};
pub use timings::{AnswerStep, StepSummary, StepTimings};
pub use workspace::{
    LinkedSize, check_file_count, checkouts_within, measure_linked, redact_slices, watch_folders,
};
