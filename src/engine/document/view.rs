//! What a view is made by, and what it is.

use crate::aggregate::FocusLines;
use crate::engine::history::RevisionText;
use crate::engine::workspace::HashedText;
use crate::model::{
    ContentHash, FileItem, MaskMode, ParseFallback, ParseHealth, SkipReason, SummaryDetail,
    SummaryProvenance, ViewMode,
};

/// How a file was rendered.
pub(in crate::engine) struct RenderedView {
    pub(in crate::engine) view: ViewMode,
    pub(in crate::engine) content: Option<ContentHash>,
    pub(in crate::engine) remarks: Vec<String>,
    pub(in crate::engine) body: String,
    pub(in crate::engine) reason: Option<String>,
    /// Who wrote the summary, if the view is one.
    pub(in crate::engine) summary: Option<SummaryProvenance>,
}

/// What a view depends on besides the file.
pub(in crate::engine) struct ViewParams<'a> {
    pub(in crate::engine) view: ViewMode,
    pub(in crate::engine) detail: SummaryDetail,
    /// Whether a model's summary replaces the heuristic's, if the answer has one.
    pub(in crate::engine) by_model: bool,
    pub(in crate::engine) lines: &'a FocusLines,
    /// The file's curated item.
    pub(in crate::engine) item: Option<&'a FileItem>,
    /// What was asked for of this file alone; it overrides the curated item.
    pub(in crate::engine) overrides: Option<&'a ViewOverrides<'a>>,
    /// The text, where it has been read in this run already.
    pub(in crate::engine) text: Option<HashedText>,
}

/// What a view shows, once it could be had.
pub(in crate::engine) struct ViewContent {
    pub(in crate::engine) content: Option<ContentHash>,
    pub(in crate::engine) remark: Option<String>,
    pub(in crate::engine) body: String,
    /// What it does not show although it was asked for.
    pub(in crate::engine) reason: Option<String>,
}

/// Why a view cannot be had.
pub(in crate::engine) enum ViewUnavailable {
    /// The file has nothing to show.
    LeftOut(SkipReason),
    /// Its structure is not known; it has a summary all the same.
    Fallback(ParseFallback),
    /// There is nothing that such a view could show; the file has a summary all the same.
    Words(String),
}

/// What was asked for of one file.
pub(in crate::engine) struct ViewOverrides<'a> {
    /// What a masked view shows.
    pub(in crate::engine) mask: &'a [(String, MaskMode)],
    /// The lines that a custom view shows.
    pub(in crate::engine) lines: &'a [(u32, u32)],
    /// What a diff is against.
    pub(in crate::engine) base: BaseText,
}

/// What a diff compares a file with.
#[derive(Debug, Clone)]
pub(in crate::engine) enum BaseText {
    /// The text, and the revision as it was spelled.
    Known(RevisionText, String),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// Returns a remark about a parse that was not perfect; an error if the file could not be parsed.
pub(in crate::engine) fn health_remark(health: ParseHealth) -> Result<Option<String>, ViewUnavailable> {
    match health.fallback {
        Some(fallback) => Err(ViewUnavailable::Fallback(fallback)),
        None => Ok((!health.is_perfect()).then(|| format!("parse health {health}"))),
    }
}
