//! The questions that clients ask: the JSON of the local API, and what MCP's arguments and the flags of the command line
//! become.
//!
//! A question says what a client wants, and leaves the rest to the project's settings, with which the `service` room
//! resolves it. Keys that have been renamed are still read under their old names for one release (`serde(alias)`);
//! [`DEPRECATED_KEYS`] lists them.

use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;

/// Keys of earlier releases, each with the key that has taken its place.
pub const DEPRECATED_KEYS: [(&str, &str); 3] =
    [("against", "base"), ("beside", "attachments"), ("measured", "exact_tokens")];

/// What is asked of an index run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "IndexAsk")]
pub struct IndexQuery {
    /// Read and hash every file, whatever its stamp says.
    pub verify: bool,
}

/// Which outlines are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "OutlineAsk")]
pub struct OutlineQuery {
    /// Files, folders or patterns, from the project's folder; every file that has an outline, where there is none.
    pub files: Vec<String>,
    /// Read and hash the files, whatever their stamps say.
    pub verify: bool,
}

/// Which views are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ViewAsk")]
pub struct ViewQuery {
    /// Files, folders or patterns, from the project's folder.
    pub files: Vec<String>,
    /// How to show them; without it in full, or as large as `limits.max_bytes` allows.
    pub mode: Option<ModeName>,
    /// What to show of single symbols, for the mode `masked`.
    pub mask: Vec<MaskEntry>,
    /// Lines to show, for the mode `custom`.
    pub lines: Vec<LineRange>,
    /// The commit, branch or tag that the mode `diff` compares with; without it, the last commit.
    #[serde(alias = "against")]
    pub base: Option<String>,
    /// Read and hash the files, whatever their stamps say.
    pub verify: bool,
}

/// What to show of one symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskEntry {
    /// The symbol's name, as outlines give it.
    pub symbol: String,
    /// How to show it.
    pub show: MaskName,
}

/// Some lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LineRange {
    /// The first line, from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

/// Which symbols are wanted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SymbolsAsk")]
pub struct SymbolsQuery {
    /// The name, qualified or not: `run`, `Engine.run`, `ns::Engine::run`.
    pub name: String,
    /// Whether the definitions' texts are wanted.
    #[serde(default)]
    pub definition: bool,
}

/// What decides about views.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ChoiceAsk")]
pub struct ViewSelection {
    /// Compose for this tier: 1 orchestrator, 2 tech lead, 3 worker, 4 QA.
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// Compose for this persona; not together with a tier.
    pub persona: Option<String>,
    /// Aggregate the files of this preset, and show them as it says.
    pub preset: Option<String>,
    /// Pick the views this way.
    pub strategy: Option<StrategyName>,
    /// Files in focus: a path, a name, a part of a path, a pattern, or `path:line`.
    pub focus: Vec<String>,
    /// The revision that diffs are against; without it, the last commit.
    #[serde(alias = "against")]
    pub base: Option<String>,
    /// Keep within so many tokens: the least important files are shown smaller.
    #[schemars(range(min = 1))]
    pub budget: Option<u64>,
    /// Keep within so many tokens where neither `budget` nor the settings say how many.
    #[schemars(range(min = 1))]
    pub default_budget: Option<u64>,
    /// Keep the document within so many bytes, in the same way.
    #[schemars(range(min = 1))]
    pub max_bytes: Option<u64>,
}

/// Which document is wanted.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of its own in JSON")]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "AggregateAsk")]
pub struct AggregateQuery {
    /// Files, folders or patterns to aggregate; the whole project where there is none.
    pub files: Vec<String>,
    /// What decides about views.
    pub choice: ViewSelection,
    /// The order of the files.
    pub order: Option<OrderName>,
    /// How the document is written.
    pub format: FormatName,
    /// Show what has changed since the last aggregation of the same name.
    pub since_last: bool,
    /// The name that the document is remembered by.
    pub name: Option<String>,
    /// What the document holds besides the files.
    #[serde(alias = "beside")]
    pub attachments: AttachmentOptions,
    /// Whether the receipt gives exact counts of tokens, which costs time.
    #[serde(alias = "measured")]
    pub exact_tokens: bool,
    /// Whether the receipt of what would be composed is all that is wanted.
    pub dry_run: bool,
    /// Read and hash every file, whatever its stamp says.
    pub verify: bool,
}

/// What a document holds besides the files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "BesideAsk")]
pub struct AttachmentOptions {
    /// A file with the discussion that the document ends with.
    pub history: Option<String>,
    /// Of the takes of a discussion, this one.
    pub take: Option<String>,
    /// Which part of the document is wanted.
    pub part: PartName,
    /// Images to show, as links.
    pub screenshots: Vec<String>,
    /// Whether the images themselves are to be in the document.
    pub screenshots_inline: bool,
    /// The model that a provider's body names.
    pub model: Option<String>,
}

/// Which files' views are to be explained.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ExplainAsk")]
pub struct ExplainQuery {
    /// A file, a folder or a pattern.
    pub file: String,
    /// What decides about views.
    #[serde(default)]
    pub choice: ViewSelection,
}

/// What is to be deleted from the cache; everything but what models wrote where nothing is said.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of a command, each by itself")]
#[schemars(rename = "CacheClearAsk")]
pub struct CacheClearQuery {
    /// What is known of these files alone.
    pub files: Vec<String>,
    /// The summaries.
    pub summaries: bool,
    /// The outlines, skeletons and references.
    pub structure: bool,
    /// The summaries that models wrote, of all files or of the given ones. To have them again costs money.
    pub agent: bool,
    /// Everything, and the summaries that models wrote.
    pub all: bool,
}

/// How long what no file holds is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CacheCollectAsk")]
pub struct CacheGcQuery {
    /// So many days.
    pub days: u32,
}

/// Asks for the state of every file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilesQuery {}

/// Asks how much is cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheStatusQuery {}

/// Asks for a check of every byte that is cached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheVerifyQuery {}

/// Asks for a comparison of the index with the files themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuditQuery {}

/// A view mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeName {
    /// The text.
    Full,
    /// Some words about the file.
    Summary,
    /// The symbols, one a line.
    Outline,
    /// Signatures, docs and types; bodies taken out.
    Skeleton,
    /// Single symbols, by the mask.
    Masked,
    /// Some lines.
    Custom,
    /// What has changed.
    Diff,
    /// Nothing but that the file is excluded.
    None,
    /// The signatures of all symbols.
    AstSignatures,
    /// The definitions of all symbols.
    AstDefinitions,
}

/// How a symbol is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaskName {
    /// Its definition.
    Def,
    /// Its signature.
    Sig,
    /// Not at all.
    Hide,
}

/// How views are picked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyName {
    /// By the tier, the focus and what is said of each file.
    Auto,
    /// Summaries.
    Summarize,
    /// Texts.
    Full,
}

/// The order of a document's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderName {
    /// What seldom changes first.
    Stable,
    /// By path.
    Path,
    /// As they were named.
    Given,
}

/// How a document is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FormatName {
    /// Markdown.
    #[default]
    Markdown,
    /// JSON: sections, files and the receipt.
    Json,
    /// The body of a request to Anthropic's Messages API.
    Anthropic,
    /// The body of a request to OpenAI's Chat Completions API.
    Openai,
    /// The body of a request to Gemini's generateContent.
    Gemini,
}

/// A part of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartName {
    /// All of it.
    #[default]
    Whole,
    /// What a provider caches: all but the discussion.
    Prefix,
    /// The discussion alone.
    Suffix,
}
