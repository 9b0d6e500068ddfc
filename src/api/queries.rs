//! The questions that clients ask: the JSON of the local API, and what MCP's arguments and the flags of the command
//! line
//! become.
//!
//! A question says what a client wants, and leaves the rest to the project's settings, with which the `service` room
//! resolves it. Keys that have been renamed are still read under their old names for one release (`serde(alias)`);
//! [`DEPRECATED_KEYS`] lists them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inline_curation::{HistorySource, InlinePersona, InlinePreset, ItemEntry, NameOrInline};
use crate::model::{
    AggregationStrategy, CacheLifetime, DocsDetail, DocumentPart, FileOrder, MaskMode, ViewMode,
};

/// Keys of earlier releases, each with the key that has taken its place.
pub const DEPRECATED_KEYS: [(&str, &str); 3] =
    [("against", "base"), ("beside", "attachments"), ("measured", "exact_tokens")];

/// Options of an index run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
// Schemas keep the names under which they were published, because generated clients have types of these names.
#[schemars(rename = "IndexAsk")]
pub struct IndexQuery {
    /// Read and hash every file, even if its size and timestamps are unchanged.
    pub verify: bool,
}

/// The outlines to show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "OutlineAsk")]
pub struct OutlineQuery {
    /// Files, folders or patterns, relative to the project's folder; every file with an outline if empty.
    pub files: Vec<String>,
    /// Read and hash the files, even if their size and timestamps are unchanged.
    pub verify: bool,
}

/// The views to show.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ViewAsk")]
pub struct ViewQuery {
    /// Files, folders or patterns, relative to the project's folder.
    pub files: Vec<String>,
    /// How to show them; by default in full, or in a smaller view for files above `limits.max_bytes`.
    pub mode: Option<ModeName>,
    /// How much of the docs skeletons show; by default all of them.
    pub docs: Option<DocsName>,
    /// How to show single symbols, for the mode `masked`.
    pub mask: Vec<MaskEntry>,
    /// Lines to show, for the mode `custom`.
    pub lines: Vec<LineRange>,
    /// The commit, branch or tag that the mode `diff` compares with; by default the last commit.
    #[serde(alias = "against")]
    pub base: Option<String>,
    /// Entries for this answer alone: the one that applies to a file takes the place of that under `[[files]]`, and
    /// decides how the file is shown if there is no `mode`.
    pub items: Vec<ItemEntry>,
    /// Read and hash the files, even if their size and timestamps are unchanged.
    pub verify: bool,
}

/// How to show one symbol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskEntry {
    /// The symbol's name as in outlines.
    pub symbol: String,
    /// How to show it.
    pub show: MaskName,
}

/// A range of lines; in JSON an object, or a text such as `10-12`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "LineRangeJson")]
pub struct LineRange {
    /// The first line, counted from 1.
    pub start: u32,
    /// The last line, inclusive.
    pub end: u32,
}

/// The two ways to write a range of lines.
#[derive(Deserialize, JsonSchema)]
#[serde(
    untagged,
    deny_unknown_fields,
    expecting = "a range of lines is \"10-12\" or {\"start\": 10, \"end\": 12}"
)]
#[schemars(rename = "LineRangeAsk", example = "10-12")]
enum LineRangeJson {
    /// The first and the last line, or the only one: `10-12`, `7`.
    Text(String),
    /// The first and the last line.
    Object {
        /// The first line, counted from 1.
        start: u32,
        /// The last line, inclusive.
        end: u32,
    },
}

impl TryFrom<LineRangeJson> for LineRange {
    type Error = String;

    fn try_from(json: LineRangeJson) -> Result<Self, String> {
        let text = match json {
            LineRangeJson::Object { start, end } => return Ok(Self { start, end }),
            LineRangeJson::Text(text) => text,
        };
        let (start, end) = text.split_once('-').unwrap_or((&text, &text));
        let number = |text: &str| text.trim().parse().ok();
        let range = number(start).zip(number(end)).map(|(start, end)| Self { start, end });
        range.ok_or_else(|| {
            let got: String = text.chars().take(40).collect();
            format!("{got:?} is no range of lines, which is \"10-12\" or {{\"start\": 10, \"end\": 12}}")
        })
    }
}

/// The symbols to find.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SymbolsAsk")]
pub struct SymbolsQuery {
    /// The name, qualified or not: `run`, `Engine.run`, `ns::Engine::run`; behind a module's name: `app.core.Engine`; or a
    /// pattern: `get_*`, `Engine.*`.
    pub name: String,
    /// Whether to include the source of the definitions.
    #[serde(default)]
    pub definition: bool,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    pub ignore_case: bool,
    /// Only symbols of this kind, as in outlines, such as `function` or `class`.
    #[serde(default)]
    pub kind: Option<String>,
}

/// What to search for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SearchAsk")]
pub struct SearchQuery {
    /// Words, a question, the text of an issue, a stack trace or an error message.
    pub query: String,
    /// The most hits; 20 by default.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<u32>,
    /// Only hits of this kind: `file`, or a kind of symbol as in outlines, such as `function` or `class`.
    #[serde(default)]
    pub kind: Option<String>,
}

/// The uses to find.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "RefsAsk")]
pub struct RefsQuery {
    /// The symbol: `run`, `Engine.run`, `src/engine.py:run`. By default, every use of any symbol.
    pub symbol: Option<String>,
}

/// The calls to find.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CallsAsk")]
pub struct CallsQuery {
    /// The symbol: `run`, `Engine.run`, `src/engine.py:run`.
    pub symbol: String,
    /// Whether to find those that call it, or those that it calls.
    pub direction: CallDirectionName,
    /// How many calls may lie between the symbol and another one; 1 by default.
    #[serde(default)]
    #[schemars(range(min = 1))]
    pub depth: Option<u32>,
}

/// The change whose impact to find: of a target, or since a revision.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ImpactAsk")]
pub struct ImpactQuery {
    /// A file, a folder or a symbol that changes.
    pub target: Option<String>,
    /// The commit, branch or tag since which files have changed.
    pub base: Option<String>,
    /// How many references may lie between the change and what it touches; by default 3, or for tests any number.
    #[schemars(range(min = 1))]
    pub depth: Option<u32>,
    /// Whether to return only tests, the most likely first.
    pub tests: bool,
}

/// In which direction calls are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallDirectionName {
    /// To those that call the symbol.
    Callers,
    /// To those that the symbol calls.
    Callees,
}

/// The options that select views.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "ChoiceAsk")]
pub struct ViewSelection {
    /// Compose for this tier: 1 orchestrator, 2 tech lead, 3 worker, 4 QA.
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// Compose for this persona: the name of one in the settings, or a persona; not together with a tier.
    pub persona: Option<NameOrInline<InlinePersona>>,
    /// Aggregate the files of this preset, shown as the preset specifies: the name of one in the settings, or a preset.
    pub preset: Option<NameOrInline<InlinePreset>>,
    /// Entries for this answer alone. The one that applies to a file takes the place of all others: of the preset's, and
    /// of those under `[[files]]`. They do not select files.
    pub items: Vec<ItemEntry>,
    /// How to choose views.
    pub strategy: Option<StrategyName>,
    /// Files to focus on: a path, a name, part of a path, a pattern, or `path:line`.
    pub focus: Vec<String>,
    /// How much of the docs skeletons show; by default as `aggregation.docs` sets.
    pub docs: Option<DocsName>,
    /// What the reader is about to do, such as the text of an issue; decides what a limited document shows. Without a
    /// limit, the document has 20000 tokens.
    pub task: Option<String>,
    /// The revision that diffs are based on; by default the last commit.
    #[serde(alias = "against")]
    pub base: Option<String>,
    /// Limit the document to this many tokens, spent on what matters most; 0 for no limit, not even the tier's.
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
    /// Patterns of which each file has to match one, if there are any.
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
    /// Whether to count tokens exactly in the receipt, which takes time.
    #[serde(alias = "measured")]
    pub exact_tokens: bool,
    /// Whether to return only the receipt of what would be composed.
    pub dry_run: bool,
    /// The files that the receipt lists.
    pub receipt: ReceiptScope,
    /// Whether to return the text in two parts, before and after the place up to which a provider caches it.
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
    /// How long Anthropic keeps what it caches.
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

/// What to delete from the cache; by default everything except summaries by models.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "these are the flags of a command, each by itself")]
#[schemars(rename = "CacheClearAsk")]
pub struct CacheClearQuery {
    /// Only what is cached for these files.
    pub files: Vec<String>,
    /// The summaries.
    pub summaries: bool,
    /// The outlines, skeletons and references.
    pub structure: bool,
    /// The summaries by models, of all files or of the given ones. Writing them again costs money.
    pub agent: bool,
    /// Everything, including summaries by models.
    pub all: bool,
}

/// What to export from the cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "CacheExportAsk")]
pub struct CacheExportQuery {
    /// Files, folders or patterns, relative to the project's folder; every file if empty.
    pub files: Vec<String>,
    /// The `next` of the page before; by default, the first page.
    pub after: Option<String>,
    /// The most files of a page; 1000 by default.
    #[schemars(range(min = 1, max = 10_000))]
    pub limit: Option<u32>,
}

/// How long contents that no file has are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CacheCollectAsk")]
pub struct CacheGcQuery {
    /// The number of days.
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

/// A view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModeName {
    /// The text.
    Full,
    /// A short description of the file.
    Summary,
    /// The symbols, one per line.
    Outline,
    /// Signatures, docs and types, without bodies.
    Skeleton,
    /// The symbols of a mask.
    Masked,
    /// A range of lines.
    Custom,
    /// The changes.
    Diff,
    /// Only a note that the file is excluded.
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
    /// Its definition; `full` means the same.
    #[serde(alias = "full")]
    Def,
    /// Its signature.
    Sig,
    /// Its signature, and what its doc says first.
    Agg,
    /// Hidden.
    Hide,
}

/// How views are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StrategyName {
    /// By tier, focus and the entry of each file.
    Auto,
    /// Summaries.
    Summarize,
    /// Texts.
    Full,
}

/// How much of the docs skeletons show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocsName {
    /// The first paragraph of each comment and docstring.
    Brief,
    /// All of them.
    Full,
    /// None.
    None,
}

/// How long a provider keeps the cached prefix of a prompt after its last use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CacheLifetimeName {
    /// Five minutes.
    #[serde(rename = "5m")]
    FiveMinutes,
    /// One hour; writing to the cache costs more.
    #[serde(rename = "1h")]
    OneHour,
}

/// The order of a document's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OrderName {
    /// Rarely changed files first.
    Stable,
    /// By path.
    Path,
    /// In the order of the request.
    Given,
}

/// The format of a document.
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

impl FormatName {
    pub(crate) const fn extension(self) -> &'static str {
        match self {
            Self::Markdown => "md",
            Self::Json | Self::Anthropic | Self::Openai | Self::Gemini => "json",
        }
    }
}

/// The files that a receipt lists. Its totals are about all files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReceiptScope {
    /// Every file, in the document or not.
    All,
    /// The files of which the document shows more than the name, and those that an error or an entry leaves out.
    #[default]
    Shown,
    /// No file.
    None,
}

/// A part of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartName {
    /// The whole text.
    #[default]
    Whole,
    /// The part that a provider caches: everything except the discussion.
    Prefix,
    /// Only the discussion.
    Suffix,
}

impl ModeName {
    /// Returns the name of a mode; `None` for modes that cannot be requested.
    pub const fn from_mode(mode: ViewMode) -> Option<Self> {
        match mode {
            ViewMode::Full => Some(Self::Full),
            ViewMode::Summary => Some(Self::Summary),
            ViewMode::Outline => Some(Self::Outline),
            ViewMode::Skeleton => Some(Self::Skeleton),
            ViewMode::Masked => Some(Self::Masked),
            ViewMode::Custom => Some(Self::Custom),
            ViewMode::Diff => Some(Self::Diff),
            ViewMode::None => Some(Self::None),
            ViewMode::Signatures => Some(Self::AstSignatures),
            ViewMode::Definitions => Some(Self::AstDefinitions),
            ViewMode::Window | ViewMode::Delta | ViewMode::Excerpt | ViewMode::Names | ViewMode::Path => None,
        }
    }
}

impl From<ModeName> for ViewMode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Full => Self::Full,
            ModeName::Summary => Self::Summary,
            ModeName::Outline => Self::Outline,
            ModeName::Skeleton => Self::Skeleton,
            ModeName::Masked => Self::Masked,
            ModeName::Custom => Self::Custom,
            ModeName::Diff => Self::Diff,
            ModeName::None => Self::None,
            ModeName::AstSignatures => Self::Signatures,
            ModeName::AstDefinitions => Self::Definitions,
        }
    }
}

/// Declares the conversions between the names in questions and the values in `model`, which are never serialized.
macro_rules! same_names {
    ($($name:ident = $value:ident { $($variant:ident = $of:ident),* })*) => {$(
        impl From<$name> for $value {
            fn from(name: $name) -> Self {
                match name { $($name::$variant => Self::$of,)* }
            }
        }

        impl From<$value> for $name {
            fn from(value: $value) -> Self {
                match value { $($value::$of => Self::$variant,)* }
            }
        }
    )*};
}

same_names! {
    MaskName = MaskMode { Def = Definition, Sig = Signature, Agg = Summary, Hide = Hide }
    CacheLifetimeName = CacheLifetime { FiveMinutes = FiveMinutes, OneHour = OneHour }
    DocsName = DocsDetail { Brief = Brief, Full = Full, None = None }
    StrategyName = AggregationStrategy { Auto = Auto, Summarize = Summarize, Full = Full }
    OrderName = FileOrder { Stable = Stable, Path = Path, Given = Given }
    PartName = DocumentPart { Whole = Whole, Prefix = Prefix, Suffix = Suffix }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_can_be_asked_for_has_its_own_name_in_json() {
        for mode in ViewMode::ALL {
            let Some(name) = ModeName::from_mode(mode) else { continue };
            assert_eq!(ViewMode::from(name), mode);
            assert_eq!(serde_json::to_value(name).unwrap(), mode.name());
        }
    }

    #[test]
    fn the_other_names_are_those_of_the_settings() {
        for mode in MaskMode::ALL {
            assert_eq!(serde_json::to_value(MaskName::from(mode)).unwrap(), mode.name());
        }
        for strategy in AggregationStrategy::ALL {
            assert_eq!(serde_json::to_value(StrategyName::from(strategy)).unwrap(), strategy.name());
        }
        for detail in DocsDetail::ALL {
            assert_eq!(serde_json::to_value(DocsName::from(detail)).unwrap(), detail.name());
        }
        for lifetime in CacheLifetime::ALL {
            assert_eq!(serde_json::to_value(CacheLifetimeName::from(lifetime)).unwrap(), lifetime.name());
        }
        for order in FileOrder::ALL {
            assert_eq!(serde_json::to_value(OrderName::from(order)).unwrap(), order.name());
        }
    }
}
