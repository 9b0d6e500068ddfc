//! The API: questions, answers, their JSON, and the transports.
//!
//! Knows: every question and the type of its answer ([`Query`]), the interface that answers them ([`Service`]), their
//! JSON, and the hint of each error. Does not know: terminals, where settings come from.
//!
//! Start with [`ask`].

mod body_schema;
mod choices;
mod client;
mod comparison;
mod curation;
mod daemon_control;
mod document;
mod fault;
mod feed;
mod feed_reader;
mod http;
mod inline_curation;
mod local_queries;
mod located_json;
mod lsp;
mod mcp;
mod payload;
mod prompt_cache;
mod providers;
mod queries;
mod query;
mod service;
mod tokens;
mod wire;

pub use crate::engine::{LANGUAGE_COUNT, ScanProgress, World};
pub use body_schema::read_json_input;
pub use choices::{
    CacheLifetimeName, DocsName, FormatName, MaskName, ModeName, OrderName, PartName, ReceiptScope,
    StrategyName,
};
#[cfg(test)]
pub use client::ConnectError;
pub use client::{Client, ClientError};
pub use comparison::{ComparedSide, compare_documents, given_step};
pub use curation::{
    item_to_json, mask_to_json, persona_to_json, preset_to_json, resolution_to_json, slice_from_json,
    slice_to_json,
};
pub use daemon_control::{
    AgentStatus, AuditStatus, DaemonControl, DaemonMode, DaemonStatus, PageTicket, ParanoidStatus,
    PerformanceReport, StepSpan, StoreStatus,
};
pub use document::{DocumentRequest, OutputTarget, compose_document, compose_unformatted};
pub use fault::{ApiError, ApiErrorKind, PAID_STORE_HINT};
#[cfg(test)]
pub use feed::ChangeKind;
pub use feed::{Change, ClockPosition, Feed, FeedEvent, FeedEventKind, Subscription};
pub use feed_reader::FeedSource;
pub use http::{HttpServer, random_token};
pub use inline_curation::{
    HistorySource, HistoryText, InlinePersona, InlinePreset, ItemEntry, NameOrInline, SliceEntry, ViewName,
};
pub use local_queries::{
    AllReferencesQuery, ComposeQuery, LocalQuery, MakeSliceQuery, MatchSymbolsQuery, ResolveSlicesQuery,
    SourceTextsQuery, SymbolMatches, WriteDocumentQuery, WrittenDocument,
};
pub use lsp::{LspProject, serve as serve_lsp};
pub use mcp::{McpInfo, serve as serve_mcp};
pub use payload::Payload;
pub use prompt_cache::{PromptCache, PromptCacheUse, SentDocument, prefix_caching};
pub use queries::{
    AggregateQuery, AttachmentOptions, AuditQuery, CacheClearQuery, CacheExportQuery, CacheGcQuery,
    CacheStatusQuery, CacheVerifyQuery, CallDirectionName, CallsQuery, CompareDocumentsQuery,
    ComparedDocument, CurationEdit, CurationQuery, DocumentEdit, DocumentKeys, EditCurationQuery,
    EditFragmentsQuery, EditTakesQuery, ExplainQuery, FileSelect, FilesQuery, FindQuery, FragmentAction,
    FragmentsQuery, GivenDocumentName, GivenQuery, HistoryQuery, HydrateQuery, ImageQuery, ImpactQuery,
    IndexQuery, ItemKeys, JumpQuery, LineRange, LinksQuery, MaskEdit, MaskEntry, NamedThing,
    OpenDocumentQuery, OutlineQuery, PresetSaveEdit, ReadDocumentQuery, RedoQuery, RefsQuery,
    ScreenshotsEdit, SearchQuery, SetEdit, SimulateQuery, SliceAddEdit, SliceChangeEdit, SymbolsQuery,
    TableQuery, TakeAction, TakesQuery, UndoQuery, ViewQuery, ViewSelection, WarmthName,
};
#[cfg(test)]
pub use query::WireQuery;
pub use query::{AnyQuery, Query};
pub use service::{
    CallOptions, Delivery, PROTOCOL, ProgressObserver, QueryJob, Receiver, Service, ServiceAnswer,
    TraceEvent, VERSION, ask, ask_and,
};
#[cfg(test)]
pub use service::{EncodedAnswer, ask_encoded};
pub use tokens::{count_tokens, tool_list_tokens};
#[cfg(test)]
pub use wire::FreshnessState;
pub use wire::{
    AgentSize, AnswerShape, AuditResult, BudgetUse, CacheExport, CacheFreed, CacheSize, CacheVerdict,
    ChangeImpact, ChangedPlace, ComposedDocument, CuratedItem, CurationEdited, CurationState, DocumentLines,
    DocumentOpened, DocumentParts, DocumentReceipt, ExplainedRule, FileExplanation, FileOutline, FileState,
    FileStates, FileTable, FileView, FolderAuthor, FoundHit, FoundSymbol, FragmentPlace, FreshnessNote,
    GivenDocuments, GivenFileChange, GivenFileColumns, GivenName, GivenStep, HistoryMoved, HistoryState,
    HistoryStep, HydrationResult, IgnoredText, ImageContent, IndexRun, LimitEffect, LinkState, LinksState,
    MissingPath, MovedFragment, ReachedPlace, ReceiptFile, ReceiptGroup, ReceiptMissing, ReceiptOmission,
    ReceiptProblem, ReceiptTotals, ReferenceEdge, ReferencePlace, ResolvedMask, SavedPersona, SavedPreset,
    ScorePart, ScoreParts, SearchResult, SummaryAuthor, SymbolCalls, SymbolNode, SymbolPlace, SymbolUses,
    TakeState, TakesState, TaskUnderstanding, TierTotals, display_path, document_json, envelope,
    envelope_of_error, found_text, language_name, pretty,
};
