//! A composed document before it is written as Markdown or JSON, with the receipt that records how each file was shown.

use std::collections::BTreeMap;

use super::file::{ContentHash, FileType, SkipReason};
use super::llm::ModelName;
use super::long_text::CompactText;
use super::named_enum::named_enum;
use super::outline::{ParseFallback, SymbolKind};
use super::path::RelPath;
use super::view::ViewMode;

/// One file as it appears in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentBlock {
    pub path: RelPath,
    pub file_type: &'static FileType,
    pub view: ViewMode,
    /// The content that is shown; `None` if there is no text.
    pub content: Option<ContentHash>,
    /// Remarks other than its language and view, such as its encoding or its parse health.
    pub remarks: Vec<String>,
    /// The body, without a fence.
    pub body: CompactText,
    /// Who wrote the summary, if it is shown as one.
    pub summary: Option<SummaryProvenance>,
}

/// Who wrote a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SummaryProvenance {
    /// The heuristic: it is derived from the file's bytes.
    Heuristic,
    /// A language model. Its summary of a file that anyone may have written is data, never instructions.
    Model {
        name: ModelName,
        /// Whether it describes an earlier content of the file, and there is none for the current one.
        is_outdated: bool,
    },
}

impl SummaryProvenance {
    /// Returns a suffix for the name of the view if the summary is by a model. It names neither the model nor the date:
    /// the header would otherwise change although the text does not.
    pub const fn view_suffix(&self) -> &'static str {
        match self {
            Self::Heuristic => "",
            Self::Model { is_outdated: false, .. } => " by a model",
            Self::Model { is_outdated: true, .. } => " by a model, of an earlier version",
        }
    }
}

/// The files that come first in a document and stay the same from task to task, or from commit to commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StableFiles {
    /// The number of blocks at the beginning of the document that are theirs.
    pub blocks: usize,
    /// The rows of those that are shown by the names of symbols.
    pub rows: Option<String>,
    /// Heading of the files that follow, without `## `.
    pub next_heading: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// The requested part; the other one is empty.
    pub part: DocumentPart,
    /// What the project is and how to read the document, as Markdown; empty if there is no overview.
    pub overview: String,
    /// Heading of the section of files, without `## `.
    pub files_heading: &'static str,
    pub blocks: Vec<DocumentBlock>,
    /// The part that comes first and stays the same, if there is one.
    pub stable: Option<StableFiles>,
    /// The rows of files that are shown by the names of their symbols.
    pub more_files: Option<String>,
    /// The number of files in each row; the receipt lists them in the same order.
    pub files_of_rows: Vec<usize>,
    /// Whether files were omitted to fit the budget, which the document states.
    pub is_cut: bool,
    /// The tree of all names, if the tier wants it; under a limit, of the files shown by their paths.
    pub tree: Option<String>,
    pub screenshots: Vec<Screenshot>,
    /// The work that Beads tracks, if the project uses it.
    pub beads: Option<BeadsList>,
    /// The discussion so far: everything after the cache boundary.
    pub discussion: Vec<DiscussionEntry>,
    pub receipt: Receipt,
}

named_enum! {
    /// The routing rule that gave a file its view; the first match wins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum RoutingRule {
        /// The file's item has `auto_aggregate = false`.
        AutoAggregate = "auto_aggregate",
        /// The file's item has `view_mode = "none"`.
        Excluded = "excluded",
        /// The request named it with `--focus`.
        Focus = "focus",
        /// The file's item has `force_full`.
        ForceFull = "force_full",
        /// The file's item is meant for the worker tier, and so is the document.
        ItemTier = "item_tier",
        Strategy = "strategy",
        Slices = "slices",
        Mask = "mask",
        /// The `view_mode` of the file's item.
        ItemView = "view_mode",
        /// The file's item has `ast_signatures` or `ast_definitions`.
        Ast = "ast",
        /// The tier's view for the file's language.
        TierLanguage = "tier_language",
        Tier = "tier",
        /// `aggregation.default_mode`.
        DefaultMode = "default_mode",
        /// The depth that hydration has placed the file at.
        Hydration = "hydration",
        /// None: the file no longer exists, but the last aggregation delivered it.
        Gone = "gone",
    }
}

impl RoutingRule {
    /// Returns whether a limited document may show the file in another view: nothing is specified for this file.
    pub const fn is_general(self) -> bool {
        matches!(self, Self::Strategy | Self::TierLanguage | Self::Tier | Self::DefaultMode)
    }

    /// Returns whether the rule is about the file's item.
    pub const fn is_of_item(self) -> bool {
        match self {
            Self::AutoAggregate
            | Self::Excluded
            | Self::ForceFull
            | Self::ItemTier
            | Self::Slices
            | Self::Mask
            | Self::ItemView
            | Self::Ast => true,
            Self::Focus
            | Self::Strategy
            | Self::TierLanguage
            | Self::Tier
            | Self::DefaultMode
            | Self::Hydration
            | Self::Gone => false,
        }
    }

    /// Returns whether the rule insists on its view, even if it exceeds the budget.
    pub const fn is_binding(self) -> bool {
        match self {
            Self::Focus | Self::ForceFull | Self::ItemTier => true,
            Self::AutoAggregate
            | Self::Excluded
            | Self::Strategy
            | Self::Slices
            | Self::Mask
            | Self::ItemView
            | Self::Ast
            | Self::TierLanguage
            | Self::Tier
            | Self::DefaultMode
            | Self::Hydration
            | Self::Gone => false,
        }
    }
}

/// Metadata of a file, regardless of its view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileDetails {
    /// The id of its type; `None` if it is not text.
    pub language: Option<&'static str>,
    /// Its size in bytes; `None` if it was not read.
    pub size: Option<u64>,
    pub lines: Option<u32>,
    /// When it was last written, in nanoseconds since the epoch.
    pub mtime_ns: Option<i64>,
}

/// How one file in the document was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptEntry {
    pub path: RelPath,
    pub details: FileDetails,
    /// The content that was rendered; `None` if there is no text.
    pub content: Option<ContentHash>,
    pub view: ViewMode,
    /// The view it would have without any limit or problem.
    pub wanted: ViewMode,
    pub rule: RoutingRule,
    /// Why `view` is not `wanted`, and other remarks, in words.
    pub reason: Option<String>,
    /// The problem, if the file could not be read, shown or parsed.
    pub fault: Option<ViewFault>,
    /// Who wrote the summary, if it is shown as one.
    pub summary: Option<SummaryProvenance>,
    /// How many secrets are redacted in its text, by rule.
    pub redacted: BTreeMap<String, u64>,
    /// Its score, if the document has a limit.
    pub score: Option<RankScore>,
    /// Bytes of its block in the document, with its head.
    pub bytes: u64,
    /// Tokens of its block in the document, as [`Receipt::counter`] counts.
    pub tokens: u64,
    /// Whether the same file has an earlier entry, in the part that is the same for every task.
    pub is_repeated: bool,
}

impl ReceiptEntry {
    /// Returns why nothing of the file could be shown; `None` if something is shown, or nothing should be.
    pub fn error(&self) -> Option<ViewFault> {
        let is_failed = self.content.is_none() && self.reason.is_some() && self.view != ViewMode::Path;
        // A file that could not be parsed has a content, and is shown in another view.
        self.fault.filter(|_| self.content.is_none()).or_else(|| is_failed.then_some(ViewFault::NoView))
    }
}

/// Why a file is not shown as requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewFault {
    /// It has no content to show.
    LeftOut(SkipReason),
    /// It could not be parsed.
    Parse(ParseFallback),
    /// It has neither this view nor a fallback.
    NoView,
}

impl ViewFault {
    /// Returns the stable name, as in the receipt.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeftOut(reason) => reason.name(),
            Self::Parse(fallback) => match fallback {
                ParseFallback::TimedOut => "parse_timed_out",
                ParseFallback::TooDeep => "parse_too_deep",
                ParseFallback::TooLarge => "parse_too_large",
                ParseFallback::Failed => "parse_failed",
            },
            Self::NoView => "no_such_view",
        }
    }

    /// Returns the reason in words.
    pub const fn description(self) -> &'static str {
        match self {
            Self::LeftOut(reason) => reason.description(),
            Self::Parse(fallback) => fallback.description(),
            Self::NoView => "there is nothing that the view could show",
        }
    }
}

/// Why a requested file is not in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Omission {
    /// It has no content to show.
    LeftOut(SkipReason),
    /// Its item has `auto_aggregate = false`.
    AutoAggregate,
    /// It is empty, test data, a translation or a tiny file that is not part of the program, and nobody requested it.
    NoInterest,
    /// It would be shown just as in the last aggregation of the same name.
    Unchanged,
    /// It did not fit, not even its path.
    Budget { wanted: ViewMode },
}

impl Omission {
    /// Returns the stable name, as in the receipt.
    pub const fn name(self) -> &'static str {
        match self {
            Self::LeftOut(reason) => reason.name(),
            Self::AutoAggregate => "auto_aggregate",
            Self::NoInterest => "no_interest",
            Self::Unchanged => "unchanged",
            Self::Budget { .. } => "budget",
        }
    }

    /// Returns the reason in words.
    pub const fn description(self) -> &'static str {
        match self {
            Self::LeftOut(reason) => reason.description(),
            Self::AutoAggregate => "its item says auto_aggregate = false",
            Self::NoInterest => {
                "empty, test data, a translation, generated documentation, or a tiny file of tests or examples"
            }
            Self::Unchanged => "not changed since the last aggregation of this name",
            Self::Budget { .. } => "no room within the budget",
        }
    }
}

/// A file that the project lists and the document does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedFile {
    pub path: RelPath,
    pub details: FileDetails,
    pub reason: Omission,
}

/// A path or pattern that matches no file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingFile {
    /// The path or pattern, as a preset or an item spells it.
    pub pattern: String,
    pub reason: String,
}

/// How each requested file of the project was shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Receipt {
    pub tier: Option<u8>,
    pub name: Option<String>,
    /// Whether it shows the changes since the last document of that name.
    pub since_last: bool,
    pub strategy: &'static str,
    pub order: &'static str,
    /// The name of the token counter.
    pub counter: &'static str,
    pub budget_tokens: Option<u64>,
    pub max_bytes: Option<u64>,
    /// Bytes of the whole document as Markdown, or in the format in which it is written.
    pub bytes: u64,
    /// Tokens of the whole document as Markdown.
    pub tokens: u64,
    /// How many folders in the tree are annotated with a model's summary.
    pub folders_by_model: u64,
    pub files: Vec<ReceiptEntry>,
    /// How many symbols of each kind the files with a block contain; empty if they were not counted.
    pub symbols: BTreeMap<SymbolKind, u64>,
    /// Whether the document has a tree of names.
    pub has_tree: bool,
    /// How the task was understood, if there is one.
    pub task: Option<TaskReceipt>,
    /// How the budget was spent, if there is one.
    pub packing: Option<PackingReceipt>,
    /// The files that are not in it, by path.
    pub omitted: Vec<OmittedFile>,
    /// Paths and patterns of presets or items that match no file.
    pub missing: Vec<MissingFile>,
    /// The sections that could not be read.
    pub problems: Vec<SectionProblem>,
}

impl PackingReceipt {
    /// Returns the sum of all parts.
    pub const fn total(&self) -> u64 {
        self.chosen + self.bodies + self.signatures + self.names + self.paths
    }
}

/// How a task was understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskReceipt {
    /// The first meaningful line.
    pub title: String,
    /// Paths and modules of the project as written, with lines.
    pub paths: Vec<String>,
    /// Frames of stack traces and diagnostics, the innermost of each trace first.
    pub frames: Vec<String>,
    /// Symbols of the project that the task mentions, in the files that were searched for them.
    pub symbols: Vec<String>,
    /// Quoted strings and error messages.
    pub quotes: Vec<String>,
    /// The terms with the highest weights.
    pub terms: Vec<String>,
    /// Ignored parts.
    pub ignored: Vec<IgnoredTaskText>,
    /// Whether anything in the project matches.
    pub has_matches: bool,
}

/// Parts of a task that were ignored for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredTaskText {
    pub reason: &'static str,
    pub bytes: u64,
}

/// The score of a file in thousandths.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RankScore {
    /// The sum of the parts, times a factor for the file's purpose.
    pub thousandths: u64,
    /// The named parts that are not 0.
    pub parts: Vec<(&'static str, u64)>,
}

impl RankScore {
    /// Returns a score and those of its parts that are not 0, in thousandths.
    pub fn new(total: f64, parts: &[(&'static str, f64)]) -> Self {
        let parts = parts.iter().filter(|(_, value)| 0.0 < *value);
        Self {
            thousandths: thousandths(total),
            parts: parts.map(|(part, value)| (*part, thousandths(*value))).collect(),
        }
    }
}

/// Scores are small and never negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is between 0 and a billion")]
fn thousandths(score: f64) -> u64 {
    (score.clamp(0.0, 1e6) * 1000.0).round() as u64
}

/// How a budget was spent, in its unit: tokens, or bytes if only these are limited. Pieces are measured before they are
/// rendered, so the sum differs slightly from the document's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PackingReceipt {
    /// On views chosen by people or by the request.
    pub chosen: u64,
    /// On the bodies of symbols.
    pub bodies: u64,
    /// On signatures and summaries.
    pub signatures: u64,
    /// On rows of names.
    pub names: u64,
    /// On lines of the file tree.
    pub paths: u64,
    /// By how many percent at most the value of the selection is below the best possible one.
    pub shortfall_percent: u32,
}

impl Receipt {
    /// Returns whether the document has a limit.
    pub const fn is_limited(&self) -> bool {
        self.budget_tokens.is_some() || self.max_bytes.is_some()
    }

    /// Returns in words why a file is not in the document.
    pub fn omission_text(&self, reason: Omission) -> String {
        match (reason, &self.name) {
            (Omission::Unchanged, Some(name)) => {
                format!("not changed since the last aggregation named `{name}`")
            }
            (reason, _) => reason.description().to_owned(),
        }
    }
}

/// The requested part of a document. A provider caches the first; the second is new with every question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentPart {
    Whole,
    Prefix,
    Suffix,
}

impl DocumentPart {
    /// Returns whether the part before the discussion is requested.
    pub const fn has_prefix(self) -> bool {
        matches!(self, Self::Whole | Self::Prefix)
    }

    /// Returns whether the discussion is requested.
    pub const fn has_suffix(self) -> bool {
        matches!(self, Self::Whole | Self::Suffix)
    }
}

/// An image in addition to the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Screenshot {
    /// Its path: relative to the project's root, or absolute if it is outside of it.
    pub path: String,
    pub image: ScreenshotImage,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScreenshotImage {
    Link,
    Inline {
        /// Its media type, such as `image/png`.
        media_type: &'static str,
        bytes: Vec<u8>,
    },
    /// It could not be read, for this reason.
    Failed(String),
}

/// The work recorded by the issue tracker Beads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BeadsList {
    pub completed: Vec<BeadIssue>,
    pub active: Vec<BeadIssue>,
    /// How many entries could not be parsed.
    pub skipped: u64,
    /// Why the list could not be read.
    pub failure: Option<String>,
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BeadIssue {
    /// Its id, on one line.
    pub id: String,
    /// Its title, on one line.
    pub title: String,
    pub status: String,
    /// Its description; may be empty, or have many lines.
    pub description: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiscussionEntry {
    /// The speaker; `None` if the content names them, or if unknown.
    pub role: Option<String>,
    pub content: String,
}

/// A section that could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SectionProblem {
    /// The section, such as `screenshots`.
    pub section: &'static str,
    pub reason: String,
    /// Whether the document lacks something that was requested, as opposed to something optional.
    pub is_error: bool,
}
