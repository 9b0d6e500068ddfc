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

pub use cache::AgentSize;
pub use cache::AuditResult;
pub use cache::CacheFreed;
pub use cache::CacheSize;
pub use cache::CacheVerdict;
pub use document::ComposedDocument;
pub use document::document_json;
pub(in crate::api) use document::encode_document;
pub use dollars::Dollars;
pub use envelope::SCHEMA_VERSION;
pub(in crate::api) use envelope::decode_json;
pub(in crate::api) use envelope::decode_nested;
pub use envelope::envelope;
pub use envelope::envelope_of_error;
pub use envelope::pretty;
pub use explained::ExplainedRule;
pub use explained::FileExplanation;
pub use explained::LimitEffect;
pub use exported::exported_json;
pub use files::FileState;
pub use files::FileStates;
pub use files::FileView;
pub use files::IndexRun;
pub use freshness::{FreshnessNote, FreshnessState};
pub use path::MissingPath;
pub use path::display_path;
pub(super) use path::spelled_path;
pub(super) use path::wire_path;
pub use receipt::DocumentReceipt;
pub use receipt::FolderAuthor;
pub use receipt::ReceiptFile;
pub use receipt::ReceiptMissing;
pub use receipt::ReceiptOmission;
pub use receipt::ReceiptProblem;
pub use receipt::SummaryAuthor;
pub use structure::FileOutline;
pub use structure::FoundSymbol;
pub use structure::SymbolNode;
pub use structure::language_name;
