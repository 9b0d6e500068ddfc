//! What a view is made by, and what it is.

use crate::aggregate::FocusLines;
use crate::engine::history::RevisionText;
use crate::engine::workspace::HashedText;
use crate::model::ContentHash;
use crate::model::FileItem;
use crate::model::MaskMode;
use crate::model::ParseFallback;
use crate::model::ParseHealth;
use crate::model::SkipReason;
use crate::model::SummaryDetail;
use crate::model::SummaryProvenance;
use crate::model::ViewMode;

/// How a file was rendered.
pub(in crate::engine) struct RenderedView {
    pub(in crate::engine) view: ViewMode,
    pub(in crate::engine) content: Option<ContentHash>,
    pub(in crate::engine) remarks: Vec<String>,
    pub(in crate::engine) body: String,
    pub(in crate::engine) reason: Option<String>,
    /// Who wrote the words, where the view is a summary.
    pub(in crate::engine) summary: Option<SummaryProvenance>,
}

/// What a rendering depends on beside the file.
pub(in crate::engine) struct ViewParams<'a> {
    pub(in crate::engine) view: ViewMode,
    pub(in crate::engine) detail: SummaryDetail,
    /// Whether a model's words stand in for the heuristic's, where the answer has some.
    pub(in crate::engine) by_model: bool,
    pub(in crate::engine) lines: &'a FocusLines,
    /// What people say of the file.
    pub(in crate::engine) item: Option<&'a FileItem>,
    /// What was asked for of this file alone; it goes before what people say of the file.
    pub(in crate::engine) overrides: Option<&'a ViewOverrides<'a>>,
    /// The text, where it has been read in this run already.
    pub(in crate::engine) text: Option<HashedText>,
}

/// What a view shows, once it could be had.
pub(in crate::engine) struct ViewContent {
    pub(in crate::engine) content: Option<ContentHash>,
    pub(in crate::engine) remark: Option<String>,
    pub(in crate::engine) body: String,
    /// What it does not show although somebody asked for it.
    pub(in crate::engine) reason: Option<String>,
}

/// Why a view cannot be had.
pub(in crate::engine) enum ViewUnavailable {
    /// The file has nothing to show.
    LeftOut(SkipReason),
    /// Its structure is not known; there are words about it all the same.
    Fallback(ParseFallback),
    /// There is nothing that such a view could show; there are words about the file all the same.
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
    /// What it was, and when, as somebody spelled it.
    Known(RevisionText, String),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// Returns what to say of a parse that was not perfect; an error where there was none to speak of.
pub(in crate::engine) fn health_remark(health: ParseHealth) -> Result<Option<String>, ViewUnavailable> {
    match health.fallback {
        Some(fallback) => Err(ViewUnavailable::Fallback(fallback)),
        None => Ok((!health.is_perfect()).then(|| format!("parse health {health}"))),
    }
}
