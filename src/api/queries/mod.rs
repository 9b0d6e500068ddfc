//! The questions that clients ask: the JSON of the local API, to which MCP's arguments and the flags of the command
//! line are converted.
//!
//! A question has what a client requests, and leaves the rest to the project's settings, with which the `service` room
//! resolves it. Renamed keys are still read under their old names for one release (`serde(alias)`); [`DEPRECATED_KEYS`]
//! lists them.

mod code;
mod curation;
mod documents;
mod find;
mod hydration;
mod maintenance;
mod table;
pub(in crate::api) mod token_limit;

pub use code::{
    CallDirectionName, CallsQuery, ImageQuery, ImpactQuery, LineRange, MaskEntry, OutlineQuery, RefsQuery,
    SearchQuery, SymbolsQuery, ViewQuery,
};
pub use curation::{
    CurationEdit, CurationQuery, DocumentEdit, DocumentKeys, EditCurationQuery, EditTakesQuery, FileSelect,
    HistoryQuery, ItemKeys, JumpQuery, MaskEdit, PresetSaveEdit, RedoQuery, ScreenshotsEdit, SetEdit,
    SliceAddEdit, SliceChangeEdit, TakeAction, TakesQuery, UndoQuery,
};
pub use documents::{
    AggregateQuery, AttachmentOptions, CompareDocumentsQuery, ComparedDocument, ExplainQuery,
    GivenDocumentName, GivenQuery, OpenDocumentQuery, ReadDocumentQuery, ViewSelection,
};
pub use find::{FindQuery, NamedThing};
pub use hydration::{
    EditFragmentsQuery, FragmentAction, FragmentsQuery, HydrateQuery, SimulateQuery, WarmthName,
};
pub use maintenance::{
    AuditQuery, CacheClearQuery, CacheExportQuery, CacheGcQuery, CacheStatusQuery, CacheVerifyQuery,
    FilesQuery, IndexQuery, LinksQuery,
};
pub use table::TableQuery;

/// Keys of earlier releases, each with its replacement.
pub const DEPRECATED_KEYS: [(&str, &str); 3] =
    [("against", "base"), ("beside", "attachments"), ("measured", "exact_tokens")];
