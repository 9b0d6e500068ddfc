//! Questions and their answers: each question is a type that names the type of its answer.
//!
//! A client uses [`super::ask`] and gets the answer as a value. A transport uses [`AnyQuery`], which has a variant for
//! each question.

use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::fault::ApiError;
use super::local_queries::{
    AllReferencesQuery, ComposeQuery, LocalQuery, MakeSliceQuery, MatchSymbolsQuery, ResolveSlicesQuery,
    SourceTextsQuery, SymbolMatches, WriteDocumentQuery, WrittenDocument,
};
use super::payload::Payload;
use super::queries::{
    AggregateQuery, AuditQuery, CacheClearQuery, CacheExportQuery, CacheGcQuery, CacheStatusQuery,
    CacheVerifyQuery, CallsQuery, CompareDocumentsQuery, CurationQuery, EditCurationQuery,
    EditFragmentsQuery, EditTakesQuery, ExplainQuery, FilesQuery, FindQuery, FragmentsQuery, GivenQuery,
    HistoryQuery, HydrateQuery, ImageQuery, ImpactQuery, IndexQuery, JumpQuery, LinksQuery,
    OpenDocumentQuery, OutlineQuery, ReadDocumentQuery, RedoQuery, RefsQuery, SearchQuery, SimulateQuery,
    SymbolsQuery, TableQuery, TakesQuery, UndoQuery, ViewQuery,
};
use super::wire::{
    AuditResult, CacheExport, CacheFreed, CacheSize, CacheVerdict, ChangeImpact, ComposedDocument,
    CurationEdited, CurationState, DocumentComparison, DocumentLines, DocumentOpened, FileExplanation,
    FileOutline, FileStates, FileTable, FileView, FoundNames, FoundSymbol, FragmentPlace, GivenDocuments,
    HistoryMoved, HistoryState, HydrationResult, ImageContent, IndexRun, LinksState, SearchResult,
    SymbolCalls, SymbolUses, TakesState, decode_json, decode_nested,
};
use crate::engine::{ReferenceGraph, SourceText};
use crate::model::{Document, Slice, SliceResolution};

/// A question with the type of its answer.
pub trait Query: Sized {
    /// The type of the answer.
    type Answer: Send + 'static;

    /// Converts to the enum of all questions.
    fn into_any(self) -> AnyQuery;

    /// Reads the answer of a service.
    fn read_answer(payload: Payload) -> Result<Self::Answer, ApiError>;
}

/// A question with a route of the local API.
pub trait WireQuery:
    Query<Answer: Serialize + DeserializeOwned + JsonSchema> + Serialize + DeserializeOwned
{
    /// The name of the question, which its answers contain.
    const COMMAND: &'static str;
    const PATH: &'static str;
    /// One sentence that describes the question.
    const SUMMARY: &'static str;
    /// Whether the question changes nothing, so that it can be asked with GET.
    const READS: bool = false;
    /// Whether answers are nested as deeply as the symbols of a file, which is deeper than the JSON parser allows.
    const NESTED: bool = false;

    fn body_schema(schemas: &mut SchemaGenerator) -> Schema;

    fn answer_schema(schemas: &mut SchemaGenerator) -> Schema {
        schemas.subschema_for::<Self::Answer>()
    }
}

/// Declares the questions that have a route: for each its type, its answer and its variant of [`AnyQuery`].
macro_rules! wire_queries {
    ($($(#[$doc:meta])* $variant:ident($query:ident) -> $answer:ty {
        command: $command:literal, path: $path:literal, summary: $summary:literal, body: $body:ty
            $(, reads: $reads:literal)? $(, nested: $nested:literal)?
    })*) => {
        $(
            impl Query for $query {
                type Answer = $answer;

                fn into_any(self) -> AnyQuery {
                    AnyQuery::$variant(self.into())
                }

                fn read_answer(payload: Payload) -> Result<$answer, ApiError> {
                    payload.into_value(decode_answer::<Self>)
                }
            }

            impl WireQuery for $query {
                const COMMAND: &'static str = $command;
                const PATH: &'static str = $path;
                const SUMMARY: &'static str = $summary;
                $(const READS: bool = $reads;)?
                $(const NESTED: bool = $nested;)?

                fn body_schema(schemas: &mut SchemaGenerator) -> Schema {
                    schemas.subschema_for::<$body>()
                }
            }
        )*

        impl AnyQuery {
            /// Returns the route of the question; `None` if it can only be asked in this process.
            pub fn path(&self) -> Option<&'static str> {
                match self {
                    $(Self::$variant(_) => Some(<$query>::PATH),)*
                    // Without a route it cannot be sent, so a question about the user's own files cannot leave the
                    // process by accident.
                    Self::Local(_) => None,
                }
            }

            pub fn decode_answer(&self, data: &[u8]) -> Result<Payload, serde_json::Error> {
                match self {
                    $(Self::$variant(_) => decode_answer::<$query>(data).map(Payload::value),)*
                    Self::Local(_) => Err(serde::de::Error::custom("the question has no answer in JSON")),
                }
            }
        }
    };
}

wire_queries! {
    Index(IndexQuery) -> IndexRun {
        command: "index", path: "/v1/index", summary: "Update the cache.", body: IndexQuery
    }
    Files(FilesQuery) -> FileStates {
        command: "files", path: "/v1/files", summary: "List the state of every file of the project.", body: EmptyBody, reads: true
    }
    Links(LinksQuery) -> LinksState {
        command: "links",
        path: "/v1/links",
        summary: "List the linked folders. Only the user can link a folder, with `slop link`.",
        body: EmptyBody,
        reads: true
    }
    Outline(OutlineQuery) -> Vec<FileOutline> {
        command: "outline", path: "/v1/outline", summary: "The symbols of files.", body: OutlineQuery, reads: true, nested: true
    }
    View(ViewQuery) -> Vec<FileView> {
        command: "view", path: "/v1/view", summary: "Views of files.", body: ViewQuery, reads: true
    }
    Image(ImageQuery) -> ImageContent {
        command: "image", path: "/v1/image", summary: "Read an image of the project.", body: ImageQuery, reads: true
    }
    Symbols(SymbolsQuery) -> Vec<FoundSymbol> {
        command: "symbols", path: "/v1/symbols", summary: "Show where a name is defined.", body: SymbolsQuery, reads: true, nested: true
    }
    Search(SearchQuery) -> SearchResult {
        command: "search",
        path: "/v1/search",
        summary: "Find the files and symbols that match a text, best first.",
        body: SearchQuery,
        reads: true
    }
    Find(FindQuery) -> FoundNames {
        command: "find",
        path: "/v1/find",
        summary: "Fuzzy-find files and symbols by name, best match first.",
        body: FindQuery,
        reads: true
    }
    Refs(RefsQuery) -> SymbolUses {
        command: "refs", path: "/v1/refs", summary: "Show who uses a symbol.", body: RefsQuery, reads: true
    }
    Calls(CallsQuery) -> SymbolCalls {
        command: "calls",
        path: "/v1/calls",
        summary: "Show who calls a symbol, or what it calls.",
        body: CallsQuery,
        reads: true
    }
    Impact(ImpactQuery) -> ChangeImpact {
        command: "impact",
        path: "/v1/impact",
        summary: "Show what a change may affect, or which tests to run.",
        body: ImpactQuery,
        reads: true
    }
    Aggregate(AggregateQuery) -> ComposedDocument {
        command: "aggregate",
        path: "/v1/aggregate",
        summary: "Compose one document for one agent. With `Accept: text/markdown`, only the document is returned.",
        body: AggregateQuery,
        reads: true
    }
    OpenDocument(OpenDocumentQuery) -> DocumentOpened {
        command: "document_open",
        path: "/v1/document/open",
        summary: "Compose a document for viewing, without delivering it; returns its composition without the text.",
        body: AggregateQuery,
        reads: true
    }
    ReadDocument(ReadDocumentQuery) -> DocumentLines {
        command: "document_read",
        path: "/v1/document/read",
        summary: "Read lines of an opened document. The texts of the two newest are kept for ten minutes.",
        body: ReadDocumentQuery,
        reads: true
    }
    CompareDocuments(CompareDocumentsQuery) -> DocumentComparison {
        command: "document_compare",
        path: "/v1/document/compare",
        summary: "Show how much of a document a provider's prompt cache can reuse from another one that was sent before.",
        body: CompareDocumentsQuery,
        reads: true
    }
    Given(GivenQuery) -> GivenDocuments {
        command: "given",
        path: "/v1/given",
        summary: "Show what was delivered to agents, and what has changed since.",
        body: GivenQuery,
        reads: true
    }
    Hydrate(HydrateQuery) -> HydrationResult {
        command: "hydrate",
        path: "/v1/hydrate",
        summary: "Place the files of the project by relevance, and save the placements.",
        body: HydrateQuery
    }
    Simulate(SimulateQuery) -> HydrationResult {
        command: "simulate",
        path: "/v1/simulate",
        summary: "Report where a hydration would place the files of the project.",
        body: SimulateQuery,
        reads: true
    }
    Fragments(FragmentsQuery) -> Vec<FragmentPlace> {
        command: "fragments",
        path: "/v1/fragments",
        summary: "List the placements of files.",
        body: FragmentsQuery,
        reads: true
    }
    EditFragments(EditFragmentsQuery) -> Vec<FragmentPlace> {
        command: "edit_fragments",
        path: "/v1/fragments/edit",
        summary: "Pin files, unpin them, or forget their placements.",
        body: EditFragmentsQuery
    }
    Explain(ExplainQuery) -> Vec<FileExplanation> {
        command: "explain",
        path: "/v1/explain",
        summary: "Explain why each file is shown the way it is.",
        body: ExplainQuery,
        reads: true
    }
    Table(TableQuery) -> FileTable {
        command: "table",
        path: "/v1/table",
        summary: "List all files in columns, with how the document of a choice shows them, or only the changes.",
        body: TableQuery,
        reads: true
    }
    Curation(CurationQuery) -> CurationState {
        command: "curation",
        path: "/v1/curation",
        summary: "Show the curation in slop.toml, and how it relates to the current files.",
        body: EmptyBody,
        reads: true
    }
    EditCuration(EditCurationQuery) -> CurationEdited {
        command: "curation_edit",
        path: "/v1/curation/edit",
        summary: "Edit the curation in slop.toml atomically.",
        body: EditCurationQuery
    }
    History(HistoryQuery) -> HistoryState {
        command: "history", path: "/v1/history", summary: "List the earlier states of slop.toml in a take.", body: HistoryQuery, reads: true
    }
    Undo(UndoQuery) -> HistoryMoved {
        command: "undo",
        path: "/v1/undo",
        summary: "Restore slop.toml to its state before the last edit.",
        body: UndoQuery
    }
    Redo(RedoQuery) -> HistoryMoved {
        command: "redo",
        path: "/v1/redo",
        summary: "Restore slop.toml to the newest state after the current one.",
        body: RedoQuery
    }
    Jump(JumpQuery) -> HistoryMoved {
        command: "jump",
        path: "/v1/jump",
        summary: "Restore slop.toml to any earlier state.",
        body: JumpQuery
    }
    Takes(TakesQuery) -> TakesState {
        command: "takes", path: "/v1/takes", summary: "List the takes of the project.", body: EmptyBody, reads: true
    }
    EditTakes(EditTakesQuery) -> TakesState {
        command: "takes_edit",
        path: "/v1/takes/edit",
        summary: "Create, switch to, rename or delete a take.",
        body: EditTakesQuery
    }
    Audit(AuditQuery) -> AuditResult {
        command: "audit",
        path: "/v1/audit",
        summary: "Compare the index with the files on disk.",
        body: EmptyBody,
        reads: true
    }
    CacheStatus(CacheStatusQuery) -> CacheSize {
        command: "cache_status", path: "/v1/cache/status", summary: "Show how much is cached.", body: EmptyBody, reads: true
    }
    CacheClear(CacheClearQuery) -> CacheFreed {
        command: "cache_clear", path: "/v1/cache/clear", summary: "Clear the cache.", body: CacheClearQuery
    }
    CacheVerify(CacheVerifyQuery) -> CacheVerdict {
        command: "cache_verify",
        path: "/v1/cache/verify",
        summary: "Check every cached byte.",
        body: EmptyBody
    }
    CacheExport(CacheExportQuery) -> CacheExport {
        command: "cache_export",
        path: "/v1/cache/export",
        summary: "Return the cached data of each file, page by page.",
        body: CacheExportQuery,
        reads: true,
        nested: true
    }
    CacheGc(CacheGcQuery) -> CacheFreed {
        command: "cache_gc",
        path: "/v1/cache/gc",
        summary: "Delete contents that no file has had for some time.",
        body: CacheGcQuery
    }
}

/// Declares the questions that can only be asked in this process.
macro_rules! local_queries {
    ($($variant:ident($query:ident) -> $answer:ty;)*) => {$(
        impl Query for $query {
            type Answer = $answer;

            fn into_any(self) -> AnyQuery {
                AnyQuery::Local(LocalQuery::$variant(self.into()))
            }

            fn read_answer(payload: Payload) -> Result<$answer, ApiError> {
                payload.into_value(|_| Err(serde::de::Error::custom("the question has no answer in JSON")))
            }
        }
    )*};
}

local_queries! {
    MakeSlice(MakeSliceQuery) -> Slice;
    ResolveSlices(ResolveSlicesQuery) -> Vec<SliceResolution>;
    MatchSymbols(MatchSymbolsQuery) -> Vec<SymbolMatches>;
    SourceTexts(SourceTextsQuery) -> Vec<Option<SourceText>>;
    AllReferences(AllReferencesQuery) -> Arc<ReferenceGraph>;
    Compose(ComposeQuery) -> Document;
    WriteDocument(WriteDocumentQuery) -> WrittenDocument;
}

/// Any of the questions. In JSON the key `ask` names it.
// Boxed where a variant is far larger than the others: questions are moved through channels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum AnyQuery {
    Index(IndexQuery),
    Files(FilesQuery),
    Links(LinksQuery),
    Outline(OutlineQuery),
    View(ViewQuery),
    Image(ImageQuery),
    Symbols(SymbolsQuery),
    Search(SearchQuery),
    Find(FindQuery),
    Refs(RefsQuery),
    Calls(CallsQuery),
    Impact(ImpactQuery),
    Aggregate(Box<AggregateQuery>),
    OpenDocument(Box<OpenDocumentQuery>),
    ReadDocument(ReadDocumentQuery),
    CompareDocuments(CompareDocumentsQuery),
    Given(GivenQuery),
    Hydrate(Box<HydrateQuery>),
    Simulate(Box<SimulateQuery>),
    Fragments(FragmentsQuery),
    EditFragments(EditFragmentsQuery),
    Explain(Box<ExplainQuery>),
    Table(Box<TableQuery>),
    Curation(CurationQuery),
    EditCuration(EditCurationQuery),
    History(HistoryQuery),
    Undo(UndoQuery),
    Redo(RedoQuery),
    Jump(JumpQuery),
    Takes(TakesQuery),
    EditTakes(EditTakesQuery),
    CacheStatus(CacheStatusQuery),
    CacheClear(CacheClearQuery),
    CacheExport(CacheExportQuery),
    CacheVerify(CacheVerifyQuery),
    // The name in earlier releases, which clients may still send.
    #[serde(alias = "cache_collect")]
    CacheGc(CacheGcQuery),
    Audit(AuditQuery),
    /// A question that no daemon answers, because it writes files or its answer has no JSON.
    #[serde(skip)]
    Local(LocalQuery),
}

/// A request body without keys.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NothingAsk")]
struct EmptyBody {}

fn decode_answer<Q: WireQuery>(data: &[u8]) -> Result<Q::Answer, serde_json::Error> {
    if Q::NESTED { decode_nested(data) } else { decode_json(data) }
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
