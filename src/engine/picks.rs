//! Views of what somebody picked out: symbols, lines, changes.

use std::collections::HashMap;
use std::collections::HashSet;
use std::collections::VecDeque;
use std::io::ErrorKind;

use super::artifacts::Subject;
use super::error::Error;
use super::project::Project;
use super::question::Selection;
use super::question::ViewAnswer;
use super::reading::ReadText;
use super::rendering::Hindrance;
use super::rendering::Rendering;
use super::rendering::Shown;
use super::rendering::health_remark;
use super::revision::Baseline;
use super::revision::Past;
use super::scan::KnownFile;
use super::scan::KnownState;
use super::scan::Trust;
use super::slices::with_mark;
use crate::aggregate;
use crate::aggregate::Selector;
use crate::aggregate::SlicePart;
use crate::discover;
use crate::model::Block;
use crate::model::FileItem;
use crate::model::LeftOut;
use crate::model::MaskMode;
use crate::model::Outline;
use crate::model::RelPath;
use crate::model::Resolution;
use crate::model::Slice;
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
    pub against: Option<String>,
    /// What people say of single files; it fills in what is empty above.
    pub items: Vec<FileItem>,
    /// Whether stamps may save a reading.
    pub trust: Trust,
}

/// What was asked for of one file.
pub(super) struct Picks<'a> {
    /// What a masked view shows.
    pub(super) mask: &'a [(String, MaskMode)],
    /// The lines that a custom view shows.
    pub(super) lines: &'a [(u32, u32)],
    /// What a diff is against.
    pub(super) old: Old,
}

/// What a diff compares a file with.
#[derive(Debug, Clone)]
pub(super) enum Old {
    /// What it was, and when, as somebody spelled it.
    Known(Past, String),
    /// Nothing, for this reason.
    Nothing(&'static str),
}

/// What files were. Git is asked for some of them at a time, in the order in which they are wanted.
pub(super) struct Pasts {
    baseline: Baseline,
    wanted: VecDeque<RelPath>,
    known: HashMap<RelPath, Past>,
}

impl Project<'_> {
    /// Prepares to ask git what the files were that a word names. Of those that it does not name by their paths, the
    /// ones that have not changed are taken out of `files` and counted; those that are gone are put in.
    pub(super) fn pasts(
        &self,
        request: &ViewRequest,
        word: &str,
        selection: &mut Selection,
    ) -> Result<(Pasts, usize), Error> {
        let mut pasts =
            Pasts { baseline: Baseline::Nothing(""), wanted: VecDeque::new(), known: HashMap::new() };
        if request.mode != Some(ViewMode::Diff) {
            return Ok((pasts, 0));
        }
        pasts.baseline = self.baseline(request.against.as_deref().unwrap_or(HEAD))?;
        let mut unchanged = 0;
        if let Baseline::Commit { id, .. } = &pasts.baseline
            && !selection.files.iter().all(|file| selection.by_name.contains(&file.path))
            && let Some(changed) = self.changed_since(id)
        {
            let before = selection.files.len();
            let by_name = &selection.by_name;
            selection.files.retain(|file| {
                let is_same = file.tracked && !changed.contains_key(&file.path);
                by_name.contains(&file.path) || !is_same
            });
            unchanged = before - selection.files.len();
            let gone = changed.into_iter().filter(|(path, was_file)| *was_file && self.is_deleted(path));
            add_gone(word, gone.map(|(path, _)| path), &mut selection.files)?;
        }
        pasts.wanted = selection.files.iter().map(|file| file.path.clone()).collect();
        Ok((pasts, unchanged))
    }

    /// Says whether nothing stands at a path that would be listed. Git may track it no more although it is there; a
    /// folder in the place of a file is not that file.
    fn is_deleted(&self, path: &RelPath) -> bool {
        !self.names.is_apart(path)
            && match self.world.files.stat(path) {
                Ok(stat) => stat.kind == FileKind::Directory,
                Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
            }
    }

    /// Prepares to ask git what files were that an aggregation shows as diffs.
    pub(super) fn pasts_of(&self, against: Option<&str>, wanted: VecDeque<RelPath>) -> Result<Pasts, Error> {
        let baseline = match (against, wanted.is_empty()) {
            (None, true) => Baseline::Nothing(""),
            (revision, _) => self.baseline(revision.unwrap_or(HEAD))?,
        };
        Ok(Pasts { baseline, wanted, known: HashMap::new() })
    }

    /// Returns what a file is compared with.
    pub(super) fn old(&self, pasts: &mut Pasts, path: &RelPath) -> Old {
        let (id, label) = match &pasts.baseline {
            Baseline::Nothing(why) => return Old::Nothing(why),
            Baseline::Commit { id, label } => (id, label.clone()),
        };
        while !pasts.known.contains_key(path) && !pasts.wanted.is_empty() {
            let count = CONTENTS_AT_ONCE.min(pasts.wanted.len());
            let some: Vec<RelPath> = pasts.wanted.drain(..count).collect();
            pasts.known.extend(self.text_at(id, &some.iter().collect::<Vec<_>>()));
        }
        Old::Known(pasts.known.remove(path).unwrap_or(Past::Absent), label)
    }

    /// Returns the diff of a file that is no more; `None` where it was no text that may be shown. Its name may speak of
    /// secrets although no such file is there.
    pub(super) fn view_of_deleted(&self, path: &RelPath, old: Old) -> Option<ViewAnswer> {
        let Old::Known(Past::Text(text), label) = old else { return None };
        if self.names.left_out(path).is_some() {
            return None;
        }
        let block = Block {
            path: path.clone(),
            file_type: discover::unknown_type(),
            view: ViewMode::Diff,
            content: None,
            remarks: vec![format!("deleted since {label}")],
            body: aggregate::view_diff(path, Some(&text), None, &label),
            summary: None,
        };
        Some(ViewAnswer { block, why: None })
    }

    /// Shows what was asked for of single symbols, or else what people said of them.
    pub(super) fn show_masked(
        &mut self,
        subject: &Subject<'_>,
        rendering: &mut Rendering<'_>,
    ) -> Result<Shown, Hindrance> {
        let asked = rendering.picks.map(|picks| picks.mask).filter(|mask| !mask.is_empty());
        let said = rendering.item.map(|item| item.ast_mask.as_slice());
        let mask = asked.or(said).unwrap_or_default();
        if mask.is_empty() {
            return Err(Hindrance::Words("no mask says which symbols to show".to_owned()));
        }
        let mut missing = None;
        let shown = self.show_symbols(subject, rendering, |text, outline, language| {
            let view = aggregate::view_masked(text, outline, mask, language);
            missing = missing_words(&view.missing);
            view.body
        });
        match (shown, missing) {
            (Ok(shown), why) => Ok(Shown { why, ..shown }),
            (Err(Hindrance::Words(_)), Some(why)) => Err(Hindrance::Words(why)),
            (Err(hindrance), _) => Err(hindrance),
        }
    }

    /// Shows what `view` makes of a file's text and its symbols.
    pub(super) fn show_symbols(
        &mut self,
        subject: &Subject<'_>,
        rendering: &mut Rendering<'_>,
        view: impl FnOnce(&str, &Outline, &str) -> String,
    ) -> Result<Shown, Hindrance> {
        let gone = || Hindrance::LeftOut(LeftOut::Unstable);
        let outline = self.outline(subject).ok_or_else(gone)?;
        let remark = health_remark(outline.health)?;
        let (hash, text) = self.text_for(subject, rendering)?;
        if hash != subject.hash {
            // The outline speaks of other lines than these.
            return Err(gone());
        }
        let body = view(&text, &outline, subject.file_type.id);
        if body.is_empty() {
            return Err(Hindrance::Words("there is no symbol to show".to_owned()));
        }
        Ok(Shown { content: Some(hash), remark, body, why: None })
    }

    /// Shows the lines that were asked for.
    pub(super) fn show_slices(
        &mut self,
        subject: &Subject<'_>,
        rendering: &mut Rendering<'_>,
    ) -> Result<Shown, Hindrance> {
        let lines = rendering.picks.map(|picks| picks.lines).unwrap_or_default();
        let marked = rendering.item.map(|item| item.custom_slices.as_slice()).unwrap_or_default();
        if lines.is_empty() && marked.is_empty() {
            return Err(Hindrance::Words("nothing says which lines to show".to_owned()));
        }
        let (hash, text) = self.text_for(subject, rendering)?;
        let text = with_mark((hash, text));
        if !lines.is_empty() {
            let parts = lines.iter().map(|(start, end)| SlicePart::plain(&text, *start, *end));
            let body = aggregate::view_slices(&parts.collect::<Vec<_>>());
            return Ok(Shown { content: Some(hash), remark: None, body, why: None });
        }
        let found: Vec<(&Slice, Resolution)> =
            marked.iter().map(|slice| (slice, slices::resolve(slice, &text))).collect();
        let parts = found.iter().map(|(slice, found)| SlicePart::marked(&text, slice, found));
        let body = aggregate::view_slices(&parts.collect::<Vec<_>>());
        Ok(Shown { content: Some(hash), remark: None, body, why: doubts(&found) })
    }

    /// Shows what has changed since the revision that was asked for, or else since the last commit.
    pub(super) fn show_diff(
        &mut self,
        subject: &Subject<'_>,
        rendering: &mut Rendering<'_>,
    ) -> Result<Shown, Hindrance> {
        let old = match rendering.picks {
            Some(picks) => picks.old.clone(),
            None => Old::Nothing("nothing says what to compare it with"),
        };
        let (past, label) = match old {
            Old::Known(past, label) => (past, label),
            Old::Nothing(why) => return Err(Hindrance::Words(why.to_owned())),
        };
        let old = match past {
            Past::Text(text) => Some(text),
            Past::Absent => None,
            Past::LeftOut(reason) => {
                return Err(Hindrance::Words(format!("at {label}, {}", reason.words())));
            }
            Past::Unaskable => {
                let why = "git cannot be asked for a name with a line's end in it";
                return Err(Hindrance::Words(why.to_owned()));
            }
        };
        let (hash, text) = self.text_for(subject, rendering)?;
        let body = aggregate::view_diff(subject.path, old.as_deref(), Some(&text), &label);
        Ok(Shown { content: Some(hash), remark: Some(format!("against {label}")), body, why: None })
    }

    fn text_for(&self, subject: &Subject<'_>, rendering: &mut Rendering<'_>) -> Result<ReadText, Hindrance> {
        let text = rendering.text.take();
        text.map_or_else(|| self.text(subject.path), Ok).map_err(Hindrance::LeftOut)
    }
}

/// Adds the files that a word means among those that are gone.
fn add_gone(
    word: &str,
    gone: impl Iterator<Item = RelPath>,
    files: &mut Vec<KnownFile>,
) -> Result<(), Error> {
    let selector = Selector::new(word)?;
    let listed: HashSet<RelPath> = files.iter().map(|file| file.path.clone()).collect();
    let gone = gone.filter(|path| !listed.contains(path) && selector.selects(path));
    let state = || KnownState::LeftOut(LeftOut::Vanished);
    files.extend(gone.map(|path| KnownFile { path, tracked: false, state: state() }));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Says which slices are not what they were.
fn doubts(found: &[(&Slice, Resolution)]) -> Option<String> {
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
fn missing_words(missing: &[(String, Vec<String>)]) -> Option<String> {
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
