//! Answers as JSON. Clients rely on every key here; [`SCHEMA_VERSION`] is raised by an incompatible change.
//!
//! Each file is named after the answer that it defines.

mod cache;
mod curation;
mod document;
mod document_view;
mod envelope;
mod explanation;
mod exported;
mod files;
mod find;
mod given;
mod hydration;
mod links;
mod receipt;
mod receipt_totals;
mod references;
mod scalars;
mod search;
mod structure;
mod table;

pub use cache::{AgentSize, AuditResult, CacheFreed, CacheSize, CacheVerdict};
pub use curation::{
    CuratedItem, CurationEdited, CurationState, HistoryMoved, HistoryState, HistoryStep, ResolvedMask,
    SavedPersona, SavedPreset, TakeState, TakesState,
};
pub(in crate::api) use document::encode_document;
pub use document::{AnswerShape, ComposedDocument, DocumentParts, document_json};
pub use document_view::{
    ComparedBlock, DifferenceReason, DocumentComparison, DocumentLines, DocumentOpened, FirstDifference,
};
pub use envelope::{FreshnessNote, FreshnessState, SCHEMA_VERSION, envelope, envelope_of_error, pretty};
pub(in crate::api) use envelope::{decode_json, decode_nested};
pub use explanation::{ExplainedRule, FileExplanation, LimitEffect, ScorePart, ScoreParts};
pub use exported::CacheExport;
pub use files::{FileState, FileStates, FileView, ImageContent, IndexRun};
pub use find::FoundNames;
pub use given::{GivenDocuments, GivenFileChange, GivenFileColumns, GivenName, GivenStep};
pub use hydration::{FragmentPlace, HydrationResult, MovedFragment, TierTotals};
pub use links::{LinkState, LinksState};
pub(in crate::api) use receipt::ReceiptFaults;
pub use receipt::{
    BudgetUse, DocumentReceipt, FolderAuthor, IgnoredText, ReceiptFile, ReceiptMissing, ReceiptOmission,
    ReceiptProblem, SummaryAuthor, TaskUnderstanding,
};
pub use receipt_totals::{ReceiptGroup, ReceiptTotals};
pub use references::{
    ChangeImpact, ChangedPlace, ReachedPlace, ReferenceEdge, ReferencePlace, SymbolCalls, SymbolPlace,
    SymbolUses, found_text,
};
pub use scalars::{Dollars, MissingPath, display_path};
pub(super) use scalars::{encode_uri_path, spelled_path, wire_path};
pub use search::{FoundHit, SearchResult};
pub use structure::{FileOutline, FoundSymbol, SymbolNode, language_name};
pub use table::FileTable;
