//! The inputs and contents of views; views of parts of a file: symbols, lines, changes.

use std::collections::{HashMap, VecDeque};

use crate::aggregate::{FocusLines, SliceDepths, SlicePart};
use crate::engine::artifacts::{ArtifactCache, ContentRef, TextVersions, hide_in_earlier};
use crate::engine::error::Error;
use crate::engine::history::{Baseline, RevisionText, baseline, texts_at};
use crate::engine::workspace::{HashedText, HiddenSymbols, Workspace, with_byte_order_mark};
use crate::model::{
    CompactText, ContentHash, Depth, DocumentBlock, FileItem, MaskMode, Outline, ParseFallback, ParseHealth,
    RelPath, SkipReason, Slice, SliceResolution, SliceStatus, SummaryDetail, ViewFault, ViewMode,
};
use crate::{aggregate, slices};

/// One view of one file.
#[derive(Debug, Clone)]
pub struct ViewAnswer {
    pub block: DocumentBlock,
    /// Why the view is not the requested one.
    pub reason: Option<String>,
    /// The problem, if the file could not be read, shown or parsed.
    pub fault: Option<ViewFault>,
}

/// What a view depends on besides the file.
pub(in crate::engine::document) struct ViewParams<'a> {
    pub(in crate::engine::document) view: ViewMode,
    pub(in crate::engine::document) detail: SummaryDetail,
    /// Whether a model's summary replaces the heuristic's, if the answer has one.
    pub(in crate::engine::document) by_model: bool,
    pub(in crate::engine::document) lines: &'a FocusLines,
    pub(in crate::engine::document) item: Option<&'a FileItem>,
    /// The slices that a hydrated document shows; `None` for all marked slices.
    pub(in crate::engine::document) slices: Option<&'a SliceDepths>,
    /// The request for this file alone; it overrides the curated item.
    pub(in crate::engine::document) overrides: Option<&'a ViewOverrides<'a>>,
    /// The text, if it has been read in this run already.
    pub(in crate::engine::document) text: Option<HashedText>,
}

/// The content of a view.
pub(super) struct ViewContent {
    pub(in crate::engine::document) content: Option<ContentHash>,
    pub(in crate::engine::document) remark: Option<String>,
    pub(in crate::engine::document) body: CompactText,
    /// Why something that was requested is not shown.
    pub(in crate::engine::document) reason: Option<String>,
}

/// Why a view is not available.
pub(super) enum ViewUnavailable {
    /// The file has nothing to show.
    LeftOut(SkipReason),
    /// Its structure is not known; it still has a summary.
    Fallback(ParseFallback),
    /// The view would be empty, for this reason; the file still has a summary.
    Words(String),
}

impl ViewUnavailable {
    /// Returns the fault, for programs.
    pub(in crate::engine::document) const fn fault(&self) -> ViewFault {
        match self {
            Self::LeftOut(reason) => ViewFault::LeftOut(*reason),
            Self::Fallback(fallback) => ViewFault::Parse(*fallback),
            Self::Words(_) => ViewFault::NoView,
        }
    }

    /// Returns why the file is shown as a summary instead of in this view; `None` if it cannot be shown at all.
    pub(super) fn fallback_reason(&self, view: ViewMode) -> Option<String> {
        match self {
            Self::Fallback(fallback) => Some(format!("no {view}: {}", fallback.description())),
            Self::Words(words) => Some(format!("no {view} view: {words}")),
            Self::LeftOut(_) => None,
        }
    }
}

/// The request for one file.
pub(in crate::engine::document) struct ViewOverrides<'a> {
    pub(in crate::engine::document) mask: &'a [(String, MaskMode)],
    pub(in crate::engine::document) keeps_hidden: bool,
    pub(in crate::engine::document) lines: &'a [(u32, u32)],
    pub(in crate::engine::document) base: BaseText,
}

/// The text that a diff compares a file with.
#[derive(Debug, Clone)]
pub(in crate::engine::document) enum BaseText {
    Known(RevisionText, String),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// Returns a remark about an imperfect parse; an error if the file could not be parsed.
pub(super) fn health_remark(health: ParseHealth) -> Result<Option<String>, ViewUnavailable> {
    match health.fallback {
        Some(fallback) => Err(ViewUnavailable::Fallback(fallback)),
        None => Ok((!health.is_perfect()).then(|| format!("parse health {health}"))),
    }
}

/// The maximum number of missing names of a mask that are listed.
const MAX_LISTED_NAMES: usize = 10;

/// Renders the requested mask of symbols, or else the curated one.
pub(super) fn masked_view(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    rendering: &mut ViewParams<'_>,
) -> Result<ViewContent, ViewUnavailable> {
    let requested = rendering.overrides.map(|overrides| overrides.mask).filter(|mask| !mask.is_empty());
    let curated = rendering.item.map(|item| item.ast_mask.as_slice());
    let mask = requested.or(curated).unwrap_or_default();
    if mask.is_empty() {
        return Err(ViewUnavailable::Words("no mask says which symbols to show".to_owned()));
    }
    let mut missing = None;
    let mut view = |text: &str, outline: &Outline, language: &str| {
        let view = aggregate::render_masked(text, outline, mask, language);
        missing = missing_symbols(&view.missing);
        view.body
    };
    // Rendered from the file itself, so that hidden symbols are replaced by a note; a mask that must not reveal
    // anything is rendered from the text without them.
    let is_kept = requested.is_some() && rendering.overrides.is_some_and(|overrides| overrides.keeps_hidden);
    let hidden = cache.workspace.hidden.of_content(subject.path, &subject.hash).filter(|_| !is_kept);
    let outlined = hidden.and_then(|hidden| Some((&hidden.original.1, hidden.outline.as_ref()?)));
    let shown = match outlined {
        Some((text, outline)) => {
            let body = view(text, outline, subject.file_type.id);
            symbols_body(body, subject.hash, outline.health)
        }
        None => symbols_view(cache, subject, rendering, view),
    };
    match (shown, missing) {
        (Ok(shown), reason) => Ok(ViewContent { reason, ..shown }),
        // Nothing is shown because the names of the mask are gone, which is more specific than that there is no symbol.
        (Err(ViewUnavailable::Words(_)), Some(reason)) => Err(ViewUnavailable::Words(reason)),
        (Err(unavailable), _) => Err(unavailable),
    }
}

/// Shows the result of `view` for a file's text and its symbols.
pub(super) fn symbols_view(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    rendering: &mut ViewParams<'_>,
    view: impl FnOnce(&str, &Outline, &str) -> String,
) -> Result<ViewContent, ViewUnavailable> {
    let gone = || ViewUnavailable::LeftOut(SkipReason::Unstable);
    let outline = cache.outline(subject).ok_or_else(gone)?;
    health_remark(outline.health)?;
    let (hash, text) = view_text(&cache.workspace, subject, rendering)?;
    if hash != subject.hash {
        // The line numbers of the outline do not match this text.
        return Err(gone());
    }
    symbols_body(view(&text, &outline, subject.file_type.id), hash, outline.health)
}

fn symbols_body(
    body: String,
    hash: ContentHash,
    health: ParseHealth,
) -> Result<ViewContent, ViewUnavailable> {
    let remark = health_remark(health)?;
    if body.is_empty() {
        return Err(ViewUnavailable::Words("there is no symbol to show".to_owned()));
    }
    Ok(ViewContent { content: Some(hash), remark, body: body.into(), reason: None })
}

/// Shows the requested lines.
pub(super) fn slices_view(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    rendering: &mut ViewParams<'_>,
) -> Result<ViewContent, ViewUnavailable> {
    let lines = rendering.overrides.map(|overrides| overrides.lines).unwrap_or_default();
    let marked = rendering.item.map(|item| item.custom_slices.as_slice()).unwrap_or_default();
    if lines.is_empty() && marked.is_empty() {
        return Err(ViewUnavailable::Words("nothing says which lines to show".to_owned()));
    }
    let (hash, text) = view_text(&cache.workspace, subject, rendering)?;
    let text = with_byte_order_mark((hash, text));
    if !lines.is_empty() {
        let parts = lines.iter().map(|(start, end)| SlicePart::from_lines(&text, *start, *end));
        let body = aggregate::render_slices(&parts.collect::<Vec<_>>());
        return Ok(ViewContent { content: Some(hash), remark: None, body: body.into(), reason: None });
    }
    let mut found = find_slices(&cache.workspace, subject.path, &hash, &text, marked);
    if let Some(depths) = rendering.slices {
        found.retain(|found| depths.contains_key(&found.slice.name()));
    }
    let warnings = slice_warnings(&found);
    let is_whole =
        |slice: &Slice| rendering.slices.is_none_or(|depths| depths.get(&slice.name()) == Some(&Depth::FULL));
    let parts = found.into_iter().map(
        |FoundSlice { slice, part, .. }| {
            if is_whole(slice) { part } else { part.without_lines() }
        },
    );
    let body = aggregate::render_slices(&parts.collect::<Vec<_>>());
    Ok(ViewContent { content: Some(hash), remark: None, body: body.into(), reason: warnings })
}

/// A slice in the text of its file.
pub(in crate::engine::document) struct FoundSlice<'i> {
    pub(in crate::engine::document) slice: &'i Slice,
    resolution: SliceResolution,
    pub(in crate::engine::document) part: SlicePart,
}

impl FoundSlice<'_> {
    pub(in crate::engine::document) fn is_lost(&self) -> bool {
        self.resolution.status == SliceStatus::Stale
    }
}

/// Finds slices in the file itself, whose lines were marked; they are shown without what is hidden.
pub(in crate::engine::document) fn find_slices<'i>(
    workspace: &Workspace<'_>,
    path: &RelPath,
    hash: &ContentHash,
    text: &str,
    marked: &'i [Slice],
) -> Vec<FoundSlice<'i>> {
    let hidden = workspace.hidden.of_content(path, hash);
    let whole = hidden.map_or(text, |hidden| hidden.original.1.as_str());
    let find = |slice| {
        let resolution = slices::locate_slice(slice, whole);
        let part = SlicePart::from_resolution(text, slice, &resolution);
        FoundSlice { slice, resolution, part }
    };
    marked.iter().map(find).collect()
}

/// Shows the changes since the requested revision, or else since the last commit.
pub(super) fn diff_view(
    cache: &mut ArtifactCache<'_>,
    subject: &ContentRef<'_>,
    rendering: &mut ViewParams<'_>,
) -> Result<ViewContent, ViewUnavailable> {
    let old = match rendering.overrides {
        Some(overrides) => overrides.base.clone(),
        None => BaseText::Nothing("nothing says what to compare it with"),
    };
    let (past, label) = match old {
        BaseText::Known(past, label) => (past, label),
        BaseText::Nothing(reason) => return Err(ViewUnavailable::Words(reason.to_owned())),
    };
    let old = match past {
        RevisionText::Text(text) => Some(text),
        RevisionText::Absent => None,
        RevisionText::LeftOut(reason) => {
            return Err(ViewUnavailable::Words(format!("at {label}, {}", reason.description())));
        }
        RevisionText::UnaskablePath => {
            let reason = "git cannot be asked for a name with a line's end in it";
            return Err(ViewUnavailable::Words(reason.to_owned()));
        }
        RevisionText::NoRevision => {
            return Err(ViewUnavailable::Words(format!("its linked folder has no revision {label}")));
        }
    };
    let (hash, text) = view_text(&cache.workspace, subject, rendering)?;
    let mask = rendering.item.map(|item| item.ast_mask.as_slice()).unwrap_or_default();
    let hide = |old| {
        let versions = TextVersions { old, new: Some(&text) };
        hide_in_earlier(&cache.workspace, subject.path, versions, mask, subject.file_type)
    };
    let old = old.map(hide);
    let may_show_hidden = old.as_ref().is_some_and(|old| old.may_show_hidden);
    let diff =
        aggregate::render_diff(subject.path, old.as_ref().map(|old| old.text.as_str()), Some(&text), &label);
    let (body, reason) = if may_show_hidden { without_old_lines(&diff, &label) } else { (diff, None) };
    Ok(ViewContent {
        content: Some(hash),
        remark: Some(format!("against {label}")),
        body: body.into(),
        reason,
    })
}

/// Returns a diff without the removed lines, and the reason for that.
pub(in crate::engine::document) fn without_old_lines(diff: &str, label: &str) -> (String, Option<String>) {
    let (body, lines) = aggregate::without_old_lines(diff);
    let reason = (0 < lines).then(|| {
        let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
        format!("not shown: {lines} of {label} that may be of what its mask hides")
    });
    (body, reason)
}

fn view_text(
    workspace: &Workspace<'_>,
    subject: &ContentRef<'_>,
    rendering: &mut ViewParams<'_>,
) -> Result<HashedText, ViewUnavailable> {
    // Taken and not cloned: no view needs the text twice, and it may be large.
    let text = rendering.text.take();
    text.map_or_else(|| workspace.read_text(subject.path), Ok).map_err(ViewUnavailable::LeftOut)
}

/// Describes the slices that are not where they were marked, or not as they were.
pub(in crate::engine::document) fn slice_warnings(found: &[FoundSlice<'_>]) -> Option<String> {
    let warnings = found.iter().filter_map(|FoundSlice { slice, resolution: found, .. }| {
        let what = match found.status {
            SliceStatus::Exact | SliceStatus::Moved => return None,
            SliceStatus::Changed if slice.anchors.content_hash.is_none() => "may have changed",
            SliceStatus::Changed => "has changed",
            SliceStatus::Stale => "is lost",
        };
        let Slice { tag, start_line, end_line, .. } = slice;
        let tag = if tag.is_empty() { String::new() } else { format!(" {tag:?}") };
        Some(format!("the slice{tag} of lines {start_line}-{end_line} {what}: {}", found.reason))
    });
    let warnings: Vec<String> = warnings.collect();
    (!warnings.is_empty()).then(|| warnings.join("; "))
}

/// Returns why a file that should be shown in full is not, or why it is although a mask should hide some of it.
pub(super) fn hidden_reason(hidden: &HiddenSymbols) -> String {
    let what = if hidden.hides_nothing() { "nothing" } else { "some of its symbols" };
    let gone = aggregate::ineffective_hides(
        &hidden.original.1,
        hidden.outline.as_ref(),
        &hidden.mask,
        MAX_LISTED_NAMES,
    );
    let gone = missing_symbols(&gone).map(|gone| format!("; {gone}")).unwrap_or_default();
    format!("its mask hides {what}{gone}")
}

/// The beginning of the reason if a mask names symbols that the file does not have.
pub const UNKNOWN_SYMBOLS: &str = "the mask names what is not there";

/// Returns a message with the names of a mask that match no symbol.
fn missing_symbols(missing: &[(String, Vec<String>)]) -> Option<String> {
    let words = missing.iter().take(MAX_LISTED_NAMES).map(|(key, near)| match near.len() {
        0 => format!("`{key}`"),
        _ => format!("`{key}` (nearest: {})", near.join(", ")),
    });
    let mut words: Vec<String> = words.collect();
    if MAX_LISTED_NAMES < missing.len() {
        words.push(format!("{} more", missing.len() - MAX_LISTED_NAMES));
    }
    (!words.is_empty()).then(|| format!("{UNKNOWN_SYMBOLS}: {}", words.join("; ")))
}

/// The number of earlier contents that are in memory at once: few, because each may be as large as the largest file
/// that is read.
pub(in crate::engine::document) const CONTENTS_AT_ONCE: usize = 32;

/// The base of a diff if none is named.
pub(in crate::engine::document) const HEAD: &str = "HEAD";

/// The earlier contents of files. Git is asked for some of them at a time, in the order in which they are wanted.
pub(in crate::engine::document) struct BaseTexts {
    pub(in crate::engine::document) baseline: Baseline,
    pub(in crate::engine::document) wanted: VecDeque<RelPath>,
    pub(in crate::engine::document) known: HashMap<RelPath, RevisionText>,
}

/// Prepares to ask git for the earlier contents of files that an aggregation shows as diffs.
pub(in crate::engine::document) fn base_texts(
    workspace: &Workspace<'_>,
    against: Option<&str>,
    wanted: VecDeque<RelPath>,
) -> Result<BaseTexts, Error> {
    let baseline = match (against, wanted.is_empty()) {
        // Without a diff git need not be asked. A named revision is resolved anyway, so that a misspelled one is an
        // error and not ignored.
        (None, true) => Baseline::Nothing(""),
        (revision, _) => baseline(workspace, revision.unwrap_or(HEAD))?,
    };
    Ok(BaseTexts { baseline, wanted, known: HashMap::new() })
}

/// Returns the text that a file is compared with.
pub(in crate::engine::document) fn base_text(
    workspace: &Workspace<'_>,
    texts: &mut BaseTexts,
    path: &RelPath,
) -> BaseText {
    let label = match &texts.baseline {
        Baseline::Nothing(reason) => return BaseText::Nothing(reason),
        Baseline::Commit { label, .. } => label.clone(),
    };
    while !texts.known.contains_key(path) && !texts.wanted.is_empty() {
        let count = CONTENTS_AT_ONCE.min(texts.wanted.len());
        let some: Vec<RelPath> = texts.wanted.drain(..count).collect();
        texts.known.extend(texts_at(workspace, &texts.baseline, &some.iter().collect::<Vec<_>>()));
    }
    BaseText::Known(texts.known.remove(path).unwrap_or(RevisionText::Absent), label)
}
