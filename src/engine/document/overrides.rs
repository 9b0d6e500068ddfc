//! Views of what somebody picked out: symbols, lines, changes.

use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::VecDeque;
use std::io::ErrorKind;

use super::render::{ViewContent, ViewParams, ViewUnavailable, health_remark};
use crate::aggregate;
use crate::aggregate::Selector;
use crate::aggregate::SlicePart;
use crate::discover;
use crate::engine::artifacts::ContentRef;
use crate::engine::error::Error;
use crate::engine::history::{Baseline, RevisionText};
use crate::engine::index::{HashedText, KnownFile, KnownState, Trust};
use crate::engine::project::Project;
use crate::engine::queries::{FileSelection, ViewAnswer, with_byte_order_mark};
use crate::model::DocumentBlock;
use crate::model::FileItem;
use crate::model::MaskMode;
use crate::model::Outline;
use crate::model::RelPath;
use crate::model::SkipReason;
use crate::model::Slice;
use crate::model::SliceResolution;
use crate::model::SliceStatus;
use crate::model::ViewMode;
use crate::slices;
use crate::sys::FileKind;

/// So many old contents are held in memory at once: few, for each may be as large as a file that is read.
const CONTENTS_AT_ONCE: usize = 32;

/// So many names of a mask that are gone are told one by one.
const MOST_TOLD: usize = 10;

/// The revision that a diff is against where none is named.
const HEAD: &str = "HEAD";

/// Views that are asked for.
#[derive(Debug, Clone)]
pub struct ViewRequest {
    /// Words for the files.
    pub files: Vec<String>,
    /// The view; `None` for the text, or the largest view that the limits allow.
    pub mode: Option<ViewMode>,
    /// What a masked view shows of single symbols, by their qualified names; empty for what people say of the file.
    pub mask: Vec<(String, MaskMode)>,
    /// First and last line, from 1 and inclusive, of each part that a custom view shows; empty for what people
    /// marked.
    pub lines: Vec<(u32, u32)>,
    /// The revision that a diff is against; `None` for the last commit.
    pub base: Option<String>,
    /// What people say of single files; it fills in what is empty above.
    pub items: Vec<FileItem>,
    /// Whether stamps may save a reading.
    pub trust: Trust,
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

/// What files were. Git is asked for some of them at a time, in the order in which they are wanted.
pub(in crate::engine) struct BaseTexts {
    baseline: Baseline,
    wanted: VecDeque<RelPath>,
    known: HashMap<RelPath, RevisionText>,
}

impl Project<'_> {
    /// Prepares to ask git what the files were that a word names. Of those that it does not name by their paths, the
    /// ones that have not changed are taken out of `files` and counted; those that are gone are put in.
    pub(in crate::engine) fn view_base_texts(
        &self,
        request: &ViewRequest,
        word: &str,
        selection: &mut FileSelection,
    ) -> Result<(BaseTexts, usize), Error> {
        let mut pasts =
            BaseTexts { baseline: Baseline::Nothing(""), wanted: VecDeque::new(), known: HashMap::new() };
        if request.mode != Some(ViewMode::Diff) {
            return Ok((pasts, 0));
        }
        pasts.baseline = self.baseline(request.base.as_deref().unwrap_or(HEAD))?;
        let mut unchanged = 0;
        if let Baseline::Commit { id, .. } = &pasts.baseline
            && !selection.files.iter().all(|file| selection.named.contains(&file.path))
            && let Some(changed) = self.changed_since(id)
        {
            let before = selection.files.len();
            let by_name = &selection.named;
            selection.files.retain(|file| {
                let is_same = file.tracked && !changed.contains_key(&file.path);
                by_name.contains(&file.path) || !is_same
            });
            unchanged = before - selection.files.len();
            let gone = changed.into_iter().filter(|(path, was_file)| *was_file && self.is_deleted(path));
            add_deleted(word, gone.map(|(path, _)| path), &mut selection.files)?;
        }
        pasts.wanted = selection.files.iter().map(|file| file.path.clone()).collect();
        Ok((pasts, unchanged))
    }

    /// Says whether nothing stands at a path that would be listed. Git may track it no more although it is there; a
    /// folder in the place of a file is not that file.
    fn is_deleted(&self, path: &RelPath) -> bool {
        !self.names.is_excluded(path)
            && match self.world.files.stat(path) {
                Ok(stat) => stat.kind == FileKind::Directory,
                Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
            }
    }

    /// Prepares to ask git what files were that an aggregation shows as diffs.
    pub(in crate::engine) fn base_texts(
        &self,
        against: Option<&str>,
        wanted: VecDeque<RelPath>,
    ) -> Result<BaseTexts, Error> {
        let baseline = match (against, wanted.is_empty()) {
            (None, true) => Baseline::Nothing(""),
            (revision, _) => self.baseline(revision.unwrap_or(HEAD))?,
        };
        Ok(BaseTexts { baseline, wanted, known: HashMap::new() })
    }

    /// Returns what a file is compared with.
    pub(in crate::engine) fn base_text(&self, pasts: &mut BaseTexts, path: &RelPath) -> BaseText {
        let (id, label) = match &pasts.baseline {
            Baseline::Nothing(why) => return BaseText::Nothing(why),
            Baseline::Commit { id, label } => (id, label.clone()),
        };
        while !pasts.known.contains_key(path) && !pasts.wanted.is_empty() {
            let count = CONTENTS_AT_ONCE.min(pasts.wanted.len());
            let some: Vec<RelPath> = pasts.wanted.drain(..count).collect();
            pasts.known.extend(self.texts_at(id, &some.iter().collect::<Vec<_>>()));
        }
        BaseText::Known(pasts.known.remove(path).unwrap_or(RevisionText::Absent), label)
    }

    /// Returns the diff of a file that is no more; `None` where it was no text that may be shown. Its name may speak of
    /// secrets although no such file is there.
    pub(in crate::engine) fn view_of_deleted(&self, path: &RelPath, old: BaseText) -> Option<ViewAnswer> {
        let BaseText::Known(RevisionText::Text(text), label) = old else { return None };
        if self.names.skip_reason(path).is_some() {
            return None;
        }
        let block = DocumentBlock {
            path: path.clone(),
            file_type: discover::unknown_type(),
            view: ViewMode::Diff,
            content: None,
            remarks: vec![format!("deleted since {label}")],
            body: aggregate::render_diff(path, Some(&text), None, &label),
            summary: None,
        };
        Some(ViewAnswer { block, reason: None })
    }

    /// Shows what was asked for of single symbols, or else what people said of them.
    pub(in crate::engine) fn masked_view(
        &mut self,
        subject: &ContentRef<'_>,
        rendering: &mut ViewParams<'_>,
    ) -> Result<ViewContent, ViewUnavailable> {
        let asked = rendering.overrides.map(|picks| picks.mask).filter(|mask| !mask.is_empty());
        let said = rendering.item.map(|item| item.ast_mask.as_slice());
        let mask = asked.or(said).unwrap_or_default();
        if mask.is_empty() {
            return Err(ViewUnavailable::Words("no mask says which symbols to show".to_owned()));
        }
        let mut missing = None;
        let shown = self.symbols_view(subject, rendering, |text, outline, language| {
            let view = aggregate::render_masked(text, outline, mask, language);
            missing = missing_symbols(&view.missing);
            view.body
        });
        match (shown, missing) {
            (Ok(shown), why) => Ok(ViewContent { reason: why, ..shown }),
            (Err(ViewUnavailable::Words(_)), Some(why)) => Err(ViewUnavailable::Words(why)),
            (Err(hindrance), _) => Err(hindrance),
        }
    }

    /// Shows what `view` makes of a file's text and its symbols.
    pub(in crate::engine) fn symbols_view(
        &mut self,
        subject: &ContentRef<'_>,
        rendering: &mut ViewParams<'_>,
        view: impl FnOnce(&str, &Outline, &str) -> String,
    ) -> Result<ViewContent, ViewUnavailable> {
        let gone = || ViewUnavailable::LeftOut(SkipReason::Unstable);
        let outline = self.outline(subject).ok_or_else(gone)?;
        let remark = health_remark(outline.health)?;
        let (hash, text) = self.view_text(subject, rendering)?;
        if hash != subject.hash {
            // The outline speaks of other lines than these.
            return Err(gone());
        }
        let body = view(&text, &outline, subject.file_type.id);
        if body.is_empty() {
            return Err(ViewUnavailable::Words("there is no symbol to show".to_owned()));
        }
        Ok(ViewContent { content: Some(hash), remark, body, reason: None })
    }

    /// Shows the lines that were asked for.
    pub(in crate::engine) fn slices_view(
        &mut self,
        subject: &ContentRef<'_>,
        rendering: &mut ViewParams<'_>,
    ) -> Result<ViewContent, ViewUnavailable> {
        let lines = rendering.overrides.map(|picks| picks.lines).unwrap_or_default();
        let marked = rendering.item.map(|item| item.custom_slices.as_slice()).unwrap_or_default();
        if lines.is_empty() && marked.is_empty() {
            return Err(ViewUnavailable::Words("nothing says which lines to show".to_owned()));
        }
        let (hash, text) = self.view_text(subject, rendering)?;
        let text = with_byte_order_mark((hash, text));
        if !lines.is_empty() {
            let parts = lines.iter().map(|(start, end)| SlicePart::from_lines(&text, *start, *end));
            let body = aggregate::render_slices(&parts.collect::<Vec<_>>());
            return Ok(ViewContent { content: Some(hash), remark: None, body, reason: None });
        }
        let found: Vec<(&Slice, SliceResolution)> =
            marked.iter().map(|slice| (slice, slices::locate_slice(slice, &text))).collect();
        let parts = found.iter().map(|(slice, found)| SlicePart::from_resolution(&text, slice, found));
        let body = aggregate::render_slices(&parts.collect::<Vec<_>>());
        Ok(ViewContent { content: Some(hash), remark: None, body, reason: slice_warnings(&found) })
    }

    /// Shows what has changed since the revision that was asked for, or else since the last commit.
    pub(in crate::engine) fn diff_view(
        &mut self,
        subject: &ContentRef<'_>,
        rendering: &mut ViewParams<'_>,
    ) -> Result<ViewContent, ViewUnavailable> {
        let old = match rendering.overrides {
            Some(picks) => picks.base.clone(),
            None => BaseText::Nothing("nothing says what to compare it with"),
        };
        let (past, label) = match old {
            BaseText::Known(past, label) => (past, label),
            BaseText::Nothing(why) => return Err(ViewUnavailable::Words(why.to_owned())),
        };
        let old = match past {
            RevisionText::Text(text) => Some(text),
            RevisionText::Absent => None,
            RevisionText::LeftOut(reason) => {
                return Err(ViewUnavailable::Words(format!("at {label}, {}", reason.description())));
            }
            RevisionText::UnaskablePath => {
                let why = "git cannot be asked for a name with a line's end in it";
                return Err(ViewUnavailable::Words(why.to_owned()));
            }
        };
        let (hash, text) = self.view_text(subject, rendering)?;
        let body = aggregate::render_diff(subject.path, old.as_deref(), Some(&text), &label);
        Ok(ViewContent { content: Some(hash), remark: Some(format!("against {label}")), body, reason: None })
    }

    fn view_text(
        &self,
        subject: &ContentRef<'_>,
        rendering: &mut ViewParams<'_>,
    ) -> Result<HashedText, ViewUnavailable> {
        let text = rendering.text.take();
        text.map_or_else(|| self.read_text(subject.path), Ok).map_err(ViewUnavailable::LeftOut)
    }
}

/// Adds the files that a word means among those that are gone.
fn add_deleted(
    word: &str,
    gone: impl Iterator<Item = RelPath>,
    files: &mut Vec<KnownFile>,
) -> Result<(), Error> {
    let selector = Selector::new(word)?;
    let listed: HashSet<RelPath> = files.iter().map(|file| file.path.clone()).collect();
    let gone = gone.filter(|path| !listed.contains(path) && selector.selects(path));
    let state = || KnownState::LeftOut(SkipReason::Vanished);
    files.extend(gone.map(|path| KnownFile { path, tracked: false, state: state() }));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Says which slices are not what they were.
fn slice_warnings(found: &[(&Slice, SliceResolution)]) -> Option<String> {
    let doubts = found.iter().filter_map(|(slice, found)| {
        let what = match found.status {
            SliceStatus::Exact | SliceStatus::Moved => return None,
            SliceStatus::Changed => "has changed",
            SliceStatus::Stale => "is lost",
        };
        let Slice { tag, start_line, end_line, .. } = slice;
        Some(format!("the slice {tag:?} of lines {start_line}-{end_line} {what}: {}", found.reason))
    });
    let doubts: Vec<String> = doubts.collect();
    (!doubts.is_empty()).then(|| doubts.join("; "))
}

/// Says which names of a mask no symbol bears.
fn missing_symbols(missing: &[(String, Vec<String>)]) -> Option<String> {
    let words = missing.iter().take(MOST_TOLD).map(|(key, near)| match near.len() {
        0 => format!("`{key}`"),
        _ => format!("`{key}` (nearest: {})", near.join(", ")),
    });
    let mut words: Vec<String> = words.collect();
    if MOST_TOLD < missing.len() {
        words.push(format!("{} more", missing.len() - MOST_TOLD));
    }
    (!words.is_empty()).then(|| format!("the mask names what is not there: {}", words.join("; ")))
}
