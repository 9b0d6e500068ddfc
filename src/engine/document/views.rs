//! Views of single files.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::ErrorKind;

use super::inputs::note_ineffective_masks;
use super::rendering::{
    BaseText, BaseTexts, HEAD, Renderer, ViewAnswer, ViewOverrides, ViewParams, base_text, without_old_lines,
};
use super::request::ViewRequest;
use super::run::DocumentRun;
use crate::aggregate::{CuratedItems, FocusLines, Selector, view_of_item};
use crate::engine::artifacts::{SkeletonPrefetch, TextVersions, hide, hide_in_earlier, type_of_text};
use crate::engine::error::Error;
use crate::engine::history::{Baseline, RevisionText, baseline, changed_since};
use crate::engine::index::{FileArgument, FileSelection, FileSelector, resolve_name};
use crate::engine::summaries::ModelSummaries;
use crate::engine::workspace::{HashedText, KnownFile, KnownState, Workspace};
use crate::model::{DocumentBlock, FileItem, RelPath, SkipReason, SummaryDetail, ViewMode};
use crate::sys::{FileKind, Files};
use crate::{aggregate, discover};

impl DocumentRun<'_, '_> {
    pub(in crate::engine) fn views(&mut self, request: &ViewRequest) -> Result<Vec<ViewAnswer>, Error> {
        let (mut answers, mut left_out, mut unchanged) = (Vec::new(), 0, 0);
        let mut masked = Vec::new();
        // No tier is requested, so summaries are the heuristic's.
        let summaries = ModelSummaries::default();
        let mut renderer = self.renderer(&summaries, request.docs);
        let layer = |items: &[FileItem]| CuratedItems::new(renderer.cache.workspace.relative_items(items));
        let items = layer(&request.items).overridden_by(layer(&request.overrides));
        // One selection for each word, because answers come in the order of the arguments.
        let is_diff = request.mode == Some(ViewMode::Diff);
        let wants_text = |_: &RelPath| request.mode.is_none_or(ViewMode::needs_text);
        let mut selector = FileSelector::new(renderer.cache, request.trust, &wants_text);
        for word in &request.files {
            // The diff of a deleted file is requested by the path that it had.
            let word = &if is_diff { word.clone() } else { resolve_name(renderer.cache, word)? };
            let mut selection = selector.select(renderer.cache, &[FileArgument::required(word)])?;
            let (mut texts, same) =
                view_base_texts(&renderer.cache.workspace, request, word, &mut selection)?;
            unchanged += same;
            hide(renderer.cache, &items, &mut selection.files, &mut selection.texts);
            if items.any(|item| !item.ast_mask.is_empty()) {
                masked.extend(selection.files.iter().cloned());
            }
            let is_skeleton = request.mode == Some(ViewMode::Skeleton);
            renderer.prefetch = SkeletonPrefetch::new(selection.files.iter().filter(|_| is_skeleton));
            for file in selection.files {
                renderer.cache.workspace.check_cancelled()?;
                let old = base_text(&renderer.cache.workspace, &mut texts, &file.path);
                if let KnownState::LeftOut(SkipReason::Vanished) = file.state
                    && let Some(deleted) =
                        view_of_deleted(&renderer.cache.workspace, &items, &file.path, old.clone())
                {
                    answers.push(deleted);
                    continue;
                }
                match file.state {
                    KnownState::LeftOut(reason) if selection.named.contains(&file.path) => {
                        return Err(Error::LeftOut { path: file.path, reason });
                    }
                    KnownState::LeftOut(reason) if !reason.is_error() => {
                        left_out += 1;
                        continue;
                    }
                    KnownState::LeftOut(_) | KnownState::Content { .. } => {}
                }
                let text = selection.texts.remove(&file.path);
                answers.push(view(&mut renderer, request, &items, ViewedFile { file: &file, old, text }));
            }
        }
        note_ineffective_masks(renderer.cache, &items, &masked)?;
        if 0 < unchanged {
            renderer.cache.workspace.note(format!("files that have not changed: {unchanged}"));
        }
        if 0 < left_out {
            renderer.cache.workspace.note(format!(
                "files that have no text to show: {left_out}; `slop status` says which and why"
            ));
        }
        Ok(answers)
    }
}

/// A file that is to be shown.
struct ViewedFile<'f> {
    file: &'f KnownFile,
    /// What a diff compares it with.
    old: BaseText,
    /// Its text, if it was read just now.
    text: Option<HashedText>,
}

fn view(
    renderer: &mut Renderer<'_, '_>,
    request: &ViewRequest,
    items: &CuratedItems,
    ViewedFile { file, old, text }: ViewedFile<'_>,
) -> ViewAnswer {
    let lines = FocusLines(Vec::new());
    let overrides = ViewOverrides {
        mask: &request.mask,
        keeps_hidden: request.keeps_hidden,
        lines: &request.lines,
        base: old,
    };
    // A view that is requested by name is shown regardless of its size.
    let max_bytes =
        if request.mode.is_some() { u64::MAX } else { renderer.cache.workspace.options.max_bytes };
    // A diff must be requested: its base is looked up before the files are.
    let of_item =
        items.find_override(&file.path).and_then(view_of_item).filter(|view| *view != ViewMode::Diff);
    let view = request.mode.or(of_item).unwrap_or(ViewMode::Full);
    let (detail, item, overrides) = (SummaryDetail::Words, items.find(&file.path), Some(&overrides));
    // No tier is requested, so the summary is the heuristic's.
    let (by_model, slices) = (false, None);
    let rendering = ViewParams { view, detail, by_model, lines: &lines, item, slices, overrides, text };
    let mut answer = renderer.render(file, rendering, max_bytes);
    let block = &mut answer.block;
    let hidden = &renderer.cache.workspace.hidden;
    block.content = block.content.map(|content| hidden.file_hash(&block.path, content));
    answer
}

/// Prepares to ask git for the earlier contents of the files that a word names. Of files that it does not name by path,
/// unchanged ones are removed from `files` and counted, and deleted ones are added.
fn view_base_texts(
    workspace: &Workspace<'_>,
    request: &ViewRequest,
    word: &str,
    selection: &mut FileSelection,
) -> Result<(BaseTexts, usize), Error> {
    let mut texts =
        BaseTexts { baseline: Baseline::Nothing(""), wanted: VecDeque::new(), known: HashMap::new() };
    if request.mode != Some(ViewMode::Diff) {
        return Ok((texts, 0));
    }
    texts.baseline = baseline(workspace, request.base.as_deref().unwrap_or(HEAD))?;
    let mut unchanged = 0;
    if matches!(texts.baseline, Baseline::Commit { .. })
        // A named file is shown even if it has not changed; only folders and patterns are narrowed down.
        && !selection.files.iter().all(|file| selection.named.contains(&file.path))
        && let Some(changed) = changed_since(workspace, &texts.baseline)
    {
        let before = selection.files.len();
        let by_name = &selection.named;
        selection.files.retain(|file| {
            // Git's diff does not list untracked files, which are all new.
            let is_same = file.tracked && !changed.contains_key(&file.path);
            by_name.contains(&file.path) || !is_same
        });
        unchanged = before - selection.files.len();
        let gone = changed.into_iter().filter(|(path, was_file)| *was_file && is_deleted(workspace, path));
        add_deleted(word, gone.map(|(path, _)| path), &mut selection.files)?;
    }
    texts.wanted = selection.files.iter().map(|file| file.path.clone()).collect();
    Ok((texts, unchanged))
}

/// Returns the diff of a deleted file; `None` if it was not a text that may be shown. Its name may suggest secrets
/// although no such file exists.
fn view_of_deleted(
    workspace: &Workspace<'_>,
    items: &CuratedItems,
    path: &RelPath,
    old: BaseText,
) -> Option<ViewAnswer> {
    let BaseText::Known(RevisionText::Text(text), label) = old else { return None };
    if workspace.names.skip_reason(path).is_some() {
        return None;
    }
    let file_type = type_of_text(path, &text);
    let item = items.find(path);
    let mask = item.map(|item| item.ast_mask.as_slice()).unwrap_or_default();
    let earlier = hide_in_earlier(workspace, path, TextVersions { old: text, new: None }, mask, file_type);
    let (mut body, mut reason) = (aggregate::render_diff(path, Some(&earlier.text), None, &label), None);
    // It may have had another name until the last commit. A pattern may also be about other files.
    if earlier.lacks_hidden && item.is_some_and(|item| item.is_of(path)) {
        (body, reason) = without_old_lines(&body, &label);
    }
    let block = DocumentBlock {
        path: path.clone(),
        file_type: discover::unknown_type(),
        view: ViewMode::Diff,
        content: None,
        remarks: vec![format!("deleted since {label}")],
        body: body.into(),
        summary: None,
    };
    Some(ViewAnswer { block, reason, fault: None })
}

/// Adds the deleted files that a word matches.
fn add_deleted(
    word: &str,
    gone: impl Iterator<Item = RelPath>,
    files: &mut Vec<KnownFile>,
) -> Result<(), Error> {
    let selector = Selector::new(word)?;
    let listed: HashSet<RelPath> = files.iter().map(|file| file.path.clone()).collect();
    let gone = gone.filter(|path| !listed.contains(path) && selector.selects(path));
    let state = || KnownState::LeftOut(SkipReason::Vanished);
    files.extend(gone.map(|path| KnownFile { path, tracked: false, state: state(), stamp: None }));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(())
}

/// Returns whether there is no file at a path. Git may have stopped tracking a file that is still there; a folder in
/// the place of a file is not that file.
fn is_deleted(workspace: &Workspace<'_>, path: &RelPath) -> bool {
    !workspace.names.is_excluded(path)
        && match workspace.files.stat(path) {
            Ok(stat) => stat.kind == FileKind::Directory,
            Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
        }
}
