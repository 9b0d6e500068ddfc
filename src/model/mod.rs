//! The types that rooms exchange, as plain values.
//!
//! Knows: the definitions of contents, paths, outlines, views, tiers and composed documents. Does not know: how any of
//! them is found, parsed, stored or printed. Nothing here is serialized: wire types live in `api`, rows in `store`,
//! each converted by hand.
//!
//! Start with [`ContentHash`], [`RelPath`] and [`Outline`].

mod named_enum;

mod compression;
mod curation;
mod day;
mod document;
mod document_layout;
mod facts;
mod file;
mod fragment;
mod http;
mod line_diff;
mod llm;
mod locking;
mod long_text;
mod nearest;
mod numbers;
mod os_path;
mod outline;
mod page;
mod parallel;
mod path;
mod redaction;
mod resource;
mod root;
#[cfg(test)]
pub(crate) mod testing;
mod text;
mod tool_comment;
mod view;

pub use compression::{compress, decompress};
pub use curation::{
    DocumentDefaults, FileItem, MaskMode, Persona, PersonaViews, PreferredModel, Preset, Slice, SliceAnchors,
    SliceResolution, SliceStatus,
};
pub use day::{SECONDS_A_DAY, utc_day};
pub use document::{
    BeadIssue, BeadsList, DiscussionEntry, Document, DocumentBlock, DocumentPart, FileDetails,
    IgnoredTaskText, MissingFile, Omission, OmittedFile, PackingReceipt, RankScore, Receipt, ReceiptEntry,
    RoutingRule, Screenshot, ScreenshotImage, SectionProblem, StableFiles, SummaryProvenance, TaskReceipt,
    ViewFault,
};
pub use document_layout::{DocumentLayout, DocumentPiece, OVERVIEW, PieceSubject, PrefixCaching};
pub use facts::{
    ANY_INTEGER, AUGMENTED_MODULE, AUTOUSE_FIXTURE, BindingFact, BindingValue, CALL_SIGNATURE,
    DefinitionFact, DefinitionFlags, DefinitionId, DefinitionKind, END_OF_ASSIGNMENT, ExpressionFact,
    ExpressionId, FIXTURE_MARK_PREFIX, FIXTURE_PLUGINS, FIXTURE_PREFIX, FOLDER_OF_MODULES, FUNCTION_TYPE,
    GLOBAL_FILE, IMPLEMENTED_INTERFACE, IMPLEMENTED_TRAIT, IMPLEMENTED_TYPE, ImportFact, ImportId,
    LOOP_ELEMENT, MODULE_EXPORTS, NameId, PARAMETER_TYPES, PARAMETRIZED_PREFIX, REST_TYPE, ScopeFact,
    ScopeId, ScopeKind, SourceFacts, TAGGED_FILE, TYPE_OF_VALUE, TYPE_PARAMETERS, TYPE_VARIABLE_PREFIX,
    UseFact,
};
pub use file::{
    ArtifactKind, ConfigSyntax, ContentFacts, ContentHash, FileRole, FileStamp, FileType, HeaderDialect,
    Producer, SkipReason, hex, is_component_type,
};
pub use fragment::{Depth, Fragment, FragmentName, Pin, Warmth};
pub use http::{HttpError, HttpMethod, HttpRequest, HttpResponse};
pub use line_diff::{compare_lines, longest_ascending, render_hunks};
pub use llm::{
    BodyOptions, CacheLifetime, ModelName, ModelPrompt, Money, PromptCaching, SummaryKey, SummaryModel,
    SummaryScope, TokenUsage, WriterKey,
};
pub use locking::{lock, read_lock, write_lock};
pub use long_text::{CompactText, DocumentText, DocumentTextBuilder, LineIndex, MAX_PLAIN_BYTES};
pub(crate) use named_enum::named_enum;
pub use nearest::{near_name, suggest_known_name, typo_distance};
pub use numbers::format_grouped;
pub use os_path::{address_as_path, address_bytes, bytes_as_path, path_bytes, slashed_bytes};
pub use outline::{
    FileReferences, Outline, ParseFallback, ParseHealth, Skeleton, SkeletonDoc, Span, Symbol, SymbolKind,
    is_plain_word,
};
pub use page::PageFile;
pub use parallel::{STACK_BYTES, in_parallel, on_all_cores, on_all_cores_with};
pub use path::{
    IGNORE_FILES, InvalidPath, RelPath, TEMPORARY_PREFIX, error_chain, is_within, normalized_path,
    parent_folder, path_text, unescaped_path,
};
pub use redaction::{count_redactions, marks_as_identifiers, redaction_mark};
pub use resource::{
    FolderIdentity, LinkedFolder, ResourceKind, is_resource_name, resource_name, split_resource,
};
pub use root::RootReason;
pub use text::{
    BYTE_ORDER_MARK, character_reference, collapse_whitespace, is_invisible, is_unsafe_to_print, printable,
    printable_lines, shell_word, strip_closing_hashes,
};
pub use tool_comment::{is_conditional_comment, is_tool_directive};
pub use view::{AggregationStrategy, DocsDetail, FileOrder, SummaryDetail, Tier, ViewMode};
