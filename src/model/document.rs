//! An aggregation before it is written as Markdown or JSON, with the receipt that says what became of each file.

use super::Beads;
use super::ContentHash;
use super::FileType;
use super::LeftOut;
use super::Part;
use super::Problem;
use super::RelPath;
use super::Screenshot;
use super::Utterance;
use super::ViewMode;

/// One file as it stands in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The file.
    pub path: RelPath,
    /// Its type.
    pub file_type: &'static FileType,
    /// How it is shown.
    pub view: ViewMode,
    /// The content that is shown; `None` where no text could be had.
    pub content: Option<ContentHash>,
    /// What is said of the file beside its language and view, such as its encoding or its parse health.
    pub remarks: Vec<String>,
    /// What is shown; without a fence.
    pub body: String,
}

/// The composed document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Which part of it was asked for; the other one is empty.
    pub part: Part,
    /// Heading of the section of files, without `## `.
    pub files_heading: &'static str,
    /// The files, in their order.
    pub blocks: Vec<Block>,
    /// The tree of all names, if the tier wants it.
    pub tree: Option<String>,
    /// The screenshots, as they were named.
    pub screenshots: Vec<Screenshot>,
    /// The work that Beads tracks, if the project is in that mode.
    pub beads: Option<Beads>,
    /// What was said so far: all that stands behind the cache boundary.
    pub discussion: Vec<Utterance>,
    /// What became of each file.
    pub receipt: Receipt,
}

/// Which rule of the routing gave a file its view, first match first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// The request named it with `--focus`.
    Focus,
    /// The strategy of the request or of the settings.
    Strategy,
    /// The tier's view for the file's language.
    TierLanguage,
    /// The tier's view.
    Tier,
    /// `aggregation.default_mode`.
    DefaultMode,
}

impl Rule {
    /// Returns the stable name, as in the receipt.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Focus => "focus",
            Self::Strategy => "strategy",
            Self::TierLanguage => "tier_language",
            Self::Tier => "tier",
            Self::DefaultMode => "default_mode",
        }
    }
}

/// What became of one file that stands in the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceiptEntry {
    /// The file.
    pub path: RelPath,
    /// The content that was rendered; `None` where no text could be had.
    pub content: Option<ContentHash>,
    /// How it is shown.
    pub view: ViewMode,
    /// How it would have been shown, had nothing stood in the way.
    pub wanted: ViewMode,
    /// The rule that wanted it so.
    pub rule: Rule,
    /// Why `view` is not `wanted`, in words.
    pub why: Option<String>,
    /// Bytes of its body in the document.
    pub bytes: u64,
    /// Tokens of its body, as [`Receipt::counter`] counts.
    pub tokens: u64,
}

/// A file that the project lists and the document does not show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedFile {
    /// The file.
    pub path: RelPath,
    /// Why.
    pub reason: LeftOut,
}

/// What became of each file of the project that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Number of the tier, if one was asked for.
    pub tier: Option<u8>,
    /// Stable name of the strategy.
    pub strategy: &'static str,
    /// Stable name of the order.
    pub order: &'static str,
    /// Name of the way tokens were counted.
    pub counter: &'static str,
    /// The files of the document, in its order.
    pub files: Vec<ReceiptEntry>,
    /// The files that are not in it, by path.
    pub left_out: Vec<OmittedFile>,
    /// What could not be had beside the files.
    pub problems: Vec<Problem>,
}
