//! `slop` keeps, for every file of a project, what a language model needs: outlines, skeletons, summaries, and
//! documents composed of them.
//!
//! Programs use it through [`Project`], and ask it questions that are types: [`OutlineQuery`], [`ViewQuery`],
//! [`SymbolsQuery`], [`SearchQuery`], [`RefsQuery`], [`CallsQuery`], [`ImpactQuery`], [`AggregateQuery`] and
//! [`ExplainQuery`]. Three programs in the folder `examples` of the repository show it at work: `task_context` composes
//! the context for a task, `change_impact` finds what a change may touch, and `agent_turns` sends two agents what has
//! changed.
//!
//! Show files ([`ViewQuery`]):
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("engine.py"), "def run(a):\n    b = a + 1\n    c = b * a\n    return b + c\n")?;
//! # let project = slop::Project::open(folder.path())?;
//! let mode = Some(slop::ModeName::Skeleton);
//! let query = slop::ViewQuery { files: vec!["engine.py".to_owned()], mode, ..slop::ViewQuery::default() };
//! let views = project.ask(query)?;
//! assert!(!views[0].text.contains("return b + c"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Find definitions ([`SymbolsQuery`]):
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("engine.py"), "def run():\n    return 1\n")?;
//! # let project = slop::Project::open(folder.path())?;
//! let symbols = project.ask(slop::SymbolsQuery { name: "run".to_owned(), ..slop::SymbolsQuery::default() })?;
//! assert_eq!((symbols[0].path.as_str(), symbols[0].start_line), ("engine.py", 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Find who uses them ([`RefsQuery`]):
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("engine.py"), "def run():\n    return 1\n\n\nrun()\n")?;
//! # let project = slop::Project::open(folder.path())?;
//! let uses = project.ask(slop::RefsQuery { symbol: Some("run".to_owned()) })?;
//! assert_eq!((uses.references[0].from.path.as_str(), uses.references[0].from.line), ("engine.py", 5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Compose a document ([`AggregateQuery`]):
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("engine.py"), "def run():\n    return 1\n")?;
//! # let project = slop::Project::open(folder.path())?;
//! let choice = slop::ViewSelection { tier: Some(1), ..slop::ViewSelection::default() };
//! let document = project.ask(slop::AggregateQuery { choice, ..slop::AggregateQuery::default() })?;
//! assert!(document.text.is_some_and(|text| text.text().contains("engine.py")));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Explain views ([`ExplainQuery`]):
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("engine.py"), "def run():\n    return 1\n")?;
//! # let project = slop::Project::open(folder.path())?;
//! let choice = slop::ViewSelection::default();
//! let explained = project.ask(slop::ExplainQuery { file: "engine.py".to_owned(), choice, ..slop::ExplainQuery::default() })?;
//! assert_eq!(explained[0].view, "summary");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! List symbols ([`OutlineQuery`]):
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # std::fs::write(folder.path().join("engine.py"), "def run():\n    return 1\n")?;
//! # let project = slop::Project::open(folder.path())?;
//! let outlines = project.ask(slop::OutlineQuery::default())?;
//! assert_eq!(outlines[0].symbols[0].signature, "def run()");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ARCHITECTURE.md describes how the code is laid out. Each folder is a room, private to this crate, so that the
//! compiler reports what no other room uses; each room's `mod.rs` describes what it is for.

// Windows needs a few calls that no crate has a safe function for; `tests/architecture.rs` keeps them in one file.
// Code that only left-out languages and engines use is not an error.
#![cfg_attr(
    not(all(feature = "languages-all", feature = "share-redis", feature = "share-s3")),
    allow(dead_code, unused_imports)
)]
#![cfg_attr(not(windows), forbid(unsafe_code))]

pub(crate) mod agent;
pub(crate) mod aggregate;
pub(crate) mod api;
pub(crate) mod cli;
pub(crate) mod config;
pub(crate) mod daemon;
pub(crate) mod discover;
pub(crate) mod engine;
pub(crate) mod install;
pub(crate) mod llm;
pub(crate) mod model;
pub(crate) mod references;
pub(crate) mod render;
pub(crate) mod search;
pub(crate) mod sections;
pub(crate) mod service;
pub(crate) mod share;
pub(crate) mod slices;
pub(crate) mod store;
pub(crate) mod summarize;
pub(crate) mod syntax;
pub(crate) mod sys;
pub(crate) mod ui;
pub(crate) mod watch;

// What `Project::ask` takes and returns, including the types of nested fields: a caller could not name them
// otherwise.
pub use api::{
    AggregateQuery, ApiError, ApiErrorKind, AttachmentOptions, BudgetUse, CacheLifetimeName,
    CallDirectionName, CallsQuery, ChangeImpact, ChangedPlace, ComposedDocument, DocsName, DocumentParts,
    DocumentReceipt, ExplainQuery, ExplainedRule, FileExplanation, FileOutline, FileView, FolderAuthor,
    FormatName, FoundHit, FoundSymbol, HistorySource, HistoryText, IgnoredText, ImpactQuery, InlinePersona,
    InlinePreset, ItemEntry, LimitEffect, LineRange, MaskEntry, MaskName, ModeName, NameOrInline, OrderName,
    OutlineQuery, PartName, Query, ReachedPlace, ReceiptFile, ReceiptGroup, ReceiptMissing, ReceiptOmission,
    ReceiptProblem, ReceiptScope, ReceiptTotals, ReferenceEdge, ReferencePlace, RefsQuery, ScorePart,
    ScoreParts, SearchQuery, SearchResult, SliceEntry, StrategyName, SummaryAuthor, SymbolCalls, SymbolNode,
    SymbolPlace, SymbolUses, SymbolsQuery, TaskUnderstanding, ViewName, ViewQuery, ViewSelection,
};
// The binary only calls this, so that everything it does can be tested through the library.
pub use cli::main;
pub use model::DocumentText;
pub use service::Project;

/// What the tests and benchmarks of this repository use. It is not part of the library, and may change at any time.
#[doc(hidden)]
pub mod internals {
    pub mod api {
        pub use crate::api::{
            AnswerShape, DocumentRequest, FormatName as DocumentFormat, ReceiptScope, compose_document,
        };
    }
    pub mod cli {
        pub use crate::cli::CliArgs;
    }
    pub mod config {
        pub use crate::config::{ConfigInputs, Settings, load, settings_reference};
    }
    pub mod discover {
        pub use crate::discover::{
            HeaderNeighbors, all_file_types, content_facts, detect_file_type, is_header, read_as_text,
        };
    }
    pub mod engine {
        pub use crate::engine::{
            AggregationRequest, CachedDocument, DocumentHistory, DocumentLimits, NoProgress, Project,
            SectionRequest, Trust, WorkspaceCache, World,
        };
    }
    pub mod model {
        pub use crate::model::{
            AggregationStrategy, BodyOptions, CacheLifetime, ContentHash, DocsDetail, FileOrder, ModelName,
            Money, Outline, PromptCaching, RelPath, Skeleton, Span, SummaryKey, SummaryScope, Symbol, Tier,
            TokenUsage, ViewMode,
        };
    }
    pub mod references {
        pub use crate::references::{
            ProjectFile, ProjectReferences, Reference, UnresolvedUse, decode_facts, encode_facts,
            find_changed_references, find_references,
        };
    }
    pub mod slices {
        pub use crate::slices::{create_slice, locate_slice};
    }
    pub mod store {
        pub use crate::store::authenticate_rows;
        pub mod agent {
            pub use crate::store::agent::{
                AgentDb, SpendCaps, SpendOutcome, SpendReservation, SpendSettlement, StoredSummary,
            };
        }
    }
    pub mod summarize {
        pub mod secrets {
            pub use crate::summarize::secrets::scan;
        }
    }
    pub mod syntax {
        pub use crate::syntax::{
            FileStructure, checked_skeleton, count_errors, derive, derive_without_preprocessing,
            has_structure, preprocessed_text, source_facts,
        };
    }
    pub mod sys {
        pub use crate::sys::{Clock, RealDisk, RealFiles, RealProcesses, WallClock};
    }
}
