//! The nouns that cross room borders, as plain values.
//!
//! Knows: what a content, a path, an outline, a view, a tier and a composed document *are*. Does not know:
//! how any of them is found, parsed, stored or printed. Nothing here is serialized: wire types live in
//! `api`, rows in `store`, each converted by hand.
//!
//! Start with [`ContentHash`], [`RelPath`] and [`Outline`].

mod artifact;
mod body;
mod causes;
mod curation;
mod document;
mod file;
mod file_type;
mod hash;
mod llm;
mod outline;
mod path;
mod references;
mod sections;
mod view;
mod web;

pub use artifact::Artifact;
pub use artifact::Facts;
pub use artifact::Producer;
pub use body::BodyOptions;
pub use causes::with_causes;
pub use curation::Anchors;
pub use curation::FileItem;
pub use curation::MaskMode;
pub use curation::Persona;
pub use curation::PreferredModel;
pub use curation::Preset;
pub use curation::Resolution;
pub use curation::Slice;
pub use curation::SliceStatus;
pub use document::Block;
pub use document::Document;
pub use document::MissingFile;
pub use document::Omission;
pub use document::OmittedFile;
pub use document::Receipt;
pub use document::ReceiptEntry;
pub use document::Rule;
pub use document::SummaryBy;
pub use file::LeftOut;
pub use file::Stamp;
pub use file_type::ConfigSyntax;
pub use file_type::Dialect;
pub use file_type::FileType;
pub use file_type::Role;
pub use hash::ContentHash;
pub use hash::ParseHashError;
pub use llm::ModelName;
pub use llm::Money;
pub use llm::Prompt;
pub use llm::Scope;
pub use llm::SummaryKey;
pub use llm::Tokens;
pub use llm::Writer;
pub use llm::WrittenSummary;
pub use outline::Fallback;
pub use outline::Health;
pub use outline::Outline;
pub use outline::Skeleton;
pub use outline::Span;
pub use outline::Symbol;
pub use outline::SymbolKind;
pub use path::BadPath;
pub use path::IGNORE_FILES;
pub use path::RelPath;
pub use path::printable;
pub use path::printable_lines;
pub use references::References;
pub use references::is_plain_word;
pub use sections::Bead;
pub use sections::Beads;
pub use sections::Part;
pub use sections::Picture;
pub use sections::Problem;
pub use sections::Screenshot;
pub use sections::Utterance;
pub use view::Order;
pub use view::Strategy;
pub use view::SummaryDetail;
pub use view::Tier;
pub use view::ViewMode;
pub use web::Method;
pub use web::WebError;
pub use web::WebRequest;
pub use web::WebResponse;
