//! Answers as JSON. Every key here is a promise; [`SCHEMA_VERSION`] is raised when one is broken.
//!
//! Start with the file that is named after what you look for.

mod cache;
mod document;
mod dollars;
mod envelope;
mod explained;
mod exported;
mod files;
mod freshness;
mod path;
mod receipt;
mod sections;
mod structure;

pub use cache::{AgentSize, AuditResult, CacheFreed, CacheSize, CacheVerdict};
pub(in crate::api) use document::encode_document;
pub use document::{ComposedDocument, document_json};
pub use dollars::Dollars;
pub use envelope::{SCHEMA_VERSION, envelope, envelope_of_error, pretty};
pub(in crate::api) use envelope::{decode_json, decode_nested};
pub use explained::{ExplainedRule, FileExplanation, LimitEffect};
pub use exported::exported_json;
pub use files::{FileState, FileStates, FileView, IndexRun};
pub use freshness::{FreshnessNote, FreshnessState};
pub use path::{MissingPath, display_path};
pub(super) use path::{spelled_path, wire_path};
pub use receipt::{
    DocumentReceipt, FolderAuthor, ReceiptFile, ReceiptMissing, ReceiptOmission, ReceiptProblem,
    SummaryAuthor,
};
pub use structure::{FileOutline, FoundSymbol, SymbolNode, language_name};
