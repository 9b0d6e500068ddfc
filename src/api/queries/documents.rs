//! Questions for documents, and the options that select views.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::token_limit;
use crate::api::choices::{
    CacheLifetimeName, DocsName, FormatName, OrderName, PartName, ReceiptScope, StrategyName,
};
use crate::api::inline_curation::{
    HistorySource, InlinePersona, InlinePreset, ItemEntry, NameOrInline, tier_number,
};

/// The options that select views.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ChoiceAsk")]
pub struct ViewSelection {
    /// Compose for this tier: 1 orchestrator, 2 tech lead, 3 worker, 4 QA.
    #[serde(deserialize_with = "tier_number")]
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// Compose for this persona: the name of one in the settings, or a persona; not together with a tier.
    pub persona: Option<NameOrInline<InlinePersona>>,
    /// Aggregate the files of this preset, shown as the preset specifies: the name of one in the settings, or a preset.
    pub preset: Option<NameOrInline<InlinePreset>>,
    /// Entries for this answer only. The one that applies to a file replaces all others: the preset's, and those under
    /// `[[files]]`. They do not select files.
    pub items: Vec<ItemEntry>,
    /// How to choose views.
    pub strategy: Option<StrategyName>,
    /// Files to focus on: a path, a name, part of a path, a pattern, `path:line` or `path:4-9`.
    pub focus: Vec<String>,
    /// How much of the docs skeletons show; by default as `aggregation.docs` sets.
    pub docs: Option<DocsName>,
    /// The reader's task, such as the text of an issue; determines what a limited document shows. Without a limit, the
    /// document is limited to 20000 tokens.
    pub task: Option<String>,
    /// The base revision of diffs; by default the last commit.
    #[serde(alias = "against")]
    pub base: Option<String>,
    /// Limit the document to this many tokens, spent on what matters most; "none" for no limit, not even the tier's.
    // Internally, 0 means no limit.
    #[serde(with = "token_limit")]
    #[schemars(schema_with = "token_limit::schema")]
    pub budget: Option<u64>,
    /// Limit the document to this many tokens if neither `budget` nor the settings set a limit.
    #[schemars(range(min = 1))]
    pub default_budget: Option<u64>,
    /// Limit the document to this many bytes, in the same way.
    #[schemars(range(min = 1))]
    pub max_bytes: Option<u64>,
}

/// The document to compose.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in JSON")]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "AggregateAsk")]
pub struct AggregateQuery {
    /// Files, folders or patterns to aggregate; the whole project if empty.
    pub files: Vec<String>,
    /// Patterns, at least one of which each file has to match, if there are any.
    pub include: Vec<String>,
    /// Patterns of files to leave out.
    pub exclude: Vec<String>,
    /// The options that select views.
    pub choice: ViewSelection,
    /// The order of the files.
    pub order: Option<OrderName>,
    /// The format of the document.
    pub format: FormatName,
    /// Show what has changed since the last aggregation of the same name, `items` and inline preset.
    pub since_last: bool,
    /// The name under which the document is recorded.
    pub name: Option<String>,
    /// The attachments of the document.
    #[serde(alias = "beside")]
    pub attachments: AttachmentOptions,
    /// Whether to aggregate the HOT files, each at its depth in the hydration, with a map of the WARM ones.
    pub hydrated: bool,
    /// Whether to count tokens exactly in the receipt, which takes time.
    #[serde(alias = "measured")]
    pub exact_tokens: bool,
    /// Whether to return only the receipt of what would be composed.
    pub dry_run: bool,
    /// The files that the receipt lists.
    pub receipt: ReceiptScope,
    /// Whether to return the text in two parts: the one that a provider caches, and the rest.
    pub parts: bool,
    /// Read and hash every file, even if its size and timestamps are unchanged.
    pub verify: bool,
}

/// The attachments of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "BesideAsk")]
pub struct AttachmentOptions {
    /// The discussion to append to the document: the path of a file, a list of messages, or an object with a `text`.
    pub history: Option<HistorySource>,
    /// The take of the discussion to use.
    pub take: Option<String>,
    /// The part of the document to return.
    pub part: PartName,
    /// Images to add, as links: paths or patterns.
    pub screenshots: Vec<String>,
    /// Whether to embed the images in the document.
    pub screenshots_inline: bool,
    /// The model named in a provider's request body.
    pub model: Option<String>,
    /// How many prefixes of the prompt a provider's request body asks to cache, from 0 to 3.
    #[schemars(range(max = 3))]
    pub cache_marks: Option<u8>,
    /// How long Anthropic keeps the cached prefix.
    pub cache_ttl: Option<CacheLifetimeName>,
}

/// The files whose views to explain.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExplainAsk")]
pub struct ExplainQuery {
    /// A file, a folder or a pattern.
    pub file: String,
    /// The options that select views.
    #[serde(default)]
    pub choice: ViewSelection,
}

/// The document to open, as in an [`AggregateQuery`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OpenDocumentQuery(pub AggregateQuery);

/// The lines of an opened document to read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DocumentReadAsk")]
pub struct ReadDocumentQuery {
    /// The `id` of the document.
    pub id: String,
    /// The first line, counted from 1.
    #[schemars(range(min = 1))]
    pub line: u64,
    /// How many lines.
    #[schemars(range(min = 1, max = 2000))]
    pub lines: u64,
}

/// The documents to compare from the perspective of a provider's prompt cache.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "DocumentCompareAsk")]
pub struct CompareDocumentsQuery {
    /// The document that was sent before.
    pub from: ComparedDocument,
    /// The document that is sent after it.
    pub to: ComparedDocument,
}

/// A document to compare.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ComparedDocument {
    /// The `id` of an opened document.
    Opened(String),
    /// A document that was delivered under a name.
    Given(GivenDocumentName),
}

impl<'de> Deserialize<'de> for ComparedDocument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match NameOrInline::<GivenDocumentName>::deserialize(deserializer)? {
            NameOrInline::Name(id) => Self::Opened(id),
            NameOrInline::Inline(given) => Self::Given(*given),
        })
    }
}

/// A document that was delivered under a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GivenDocumentName {
    /// The name.
    pub given: String,
    /// The `curation` of the name, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curation: Option<String>,
    /// How many documents of the name were delivered after it; 0 for the last one.
    #[serde(default)]
    pub back: usize,
}

/// Asks what was delivered to agents, and what has changed since.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "GivenAsk")]
pub struct GivenQuery {
    /// The name of documents; without one, all names are listed.
    pub name: Option<String>,
    /// The `curation` of the name, if it has one.
    pub curation: Option<String>,
    /// The file whose changes to show.
    pub file: Option<String>,
}
