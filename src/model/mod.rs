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

pub use artifact::ArtifactKind;
pub use artifact::ContentFacts;
pub use artifact::Producer;
pub use body::BodyOptions;
pub use causes::error_chain;
pub use curation::FileItem;
pub use curation::MaskMode;
pub use curation::Persona;
pub use curation::PreferredModel;
pub use curation::Preset;
pub use curation::Slice;
pub use curation::SliceAnchors;
pub use curation::SliceResolution;
pub use curation::SliceStatus;
pub use document::Document;
pub use document::DocumentBlock;
pub use document::MissingFile;
pub use document::Omission;
pub use document::OmittedFile;
pub use document::Receipt;
pub use document::ReceiptEntry;
pub use document::RoutingRule;
pub use document::SummaryProvenance;
pub use file::FileStamp;
pub use file::SkipReason;
pub use file_type::ConfigSyntax;
pub use file_type::FileRole;
pub use file_type::FileType;
pub use file_type::HeaderDialect;
pub use hash::ContentHash;
pub use hash::ParseHashError;
pub use llm::ModelName;
pub use llm::ModelPrompt;
pub use llm::ModelSummary;
pub use llm::Money;
pub use llm::SummaryKey;
pub use llm::SummaryModel;
pub use llm::SummaryScope;
pub use llm::TokenUsage;
pub use outline::Outline;
pub use outline::ParseFallback;
pub use outline::ParseHealth;
pub use outline::Skeleton;
pub use outline::Span;
pub use outline::Symbol;
pub use outline::SymbolKind;
pub use path::IGNORE_FILES;
pub use path::InvalidPath;
pub use path::RelPath;
pub use path::printable;
pub use path::printable_lines;
pub use references::FileReferences;
pub use references::is_plain_word;
pub use sections::BeadIssue;
pub use sections::BeadsList;
pub use sections::DiscussionEntry;
pub use sections::DocumentPart;
pub use sections::Screenshot;
pub use sections::ScreenshotImage;
pub use sections::SectionProblem;
pub use view::AggregationStrategy;
pub use view::FileOrder;
pub use view::SummaryDetail;
pub use view::Tier;
pub use view::ViewMode;
pub use web::HttpError;
pub use web::HttpMethod;
pub use web::HttpRequest;
pub use web::HttpResponse;
