//! Leaves out what the reader already has, when the request differs from the last one of its name.
//!
//! Such a document is composed as if the reader had nothing of the unchanged files, because the request may want more
//! of them than was shown. What the reader has is left out afterwards, so that its space is not filled with something
//! else, and a request that differs little from the last one gets a small answer.

use std::collections::{HashMap, HashSet};

use super::delta::named_changes;
use super::reader::{ReaderState, is_failed, shown_fingerprints};
use crate::aggregate;
use crate::aggregate::NameTree;
use crate::engine::document::draft::{DraftDocument, ShownFile};
use crate::engine::document::rendering::Renderer;
use crate::model::{ContentHash, DocumentBlock, Omission, OmittedFile, RelPath, SummaryProvenance, ViewMode};
use crate::store::DeliveredFile;

/// Leaves out the files of which the reader already has everything that is shown.
pub(in crate::engine::document) fn leave_out_known(
    renderer: &mut Renderer<'_, '_>,
    draft: &mut DraftDocument,
    reader: &ReaderState,
) {
    let is_limited = draft.remarks.limits.is_some();
    let fingerprints = shown_fingerprints(renderer, &draft.files);
    let files = std::mem::take(&mut draft.files);
    for (mut shown, hash) in files.into_iter().zip(fingerprints) {
        if is_known(renderer, reader, &shown, hash, is_limited) {
            let details = shown.file.details();
            let reason = Omission::Unchanged;
            draft.remarks.omitted.push(OmittedFile { path: shown.file.path, details, reason });
        } else {
            leave_out_known_lines(renderer, &mut shown, reader);
            draft.files.push(shown);
        }
    }
    draft.shown_again.retain(|shown| reader.unchanged_row(&shown.candidate.block).is_none());
    leave_out_known_rows(draft, reader);
    draft.remarks.omitted.sort_by(|a, b| a.path.cmp(&b.path));
    let has_rows = !draft.listed.is_empty() || !draft.dropped.is_empty();
    draft.plan.is_unchanged = draft.files.is_empty() && !has_rows;
}

/// Leaves out the lines of a text that the reader already has.
fn leave_out_known_lines(renderer: &mut Renderer<'_, '_>, shown: &mut ShownFile, reader: &ReaderState) {
    let block = &mut shown.candidate.block;
    if !matches!(block.view, ViewMode::Full | ViewMode::Excerpt) || shown.changes.is_some() {
        return;
    }
    let Some(row) = reader.unchanged_row(block) else { return };
    let Some(given) = reader.seen_text(renderer, &row.path) else { return };
    let read = renderer.cache.workspace.read_text(&row.path).ok();
    let Some((_, source)) = read.filter(|(hash, _)| Some(*hash) == block.content) else { return };
    let language = block.file_type.id;
    let shorter = aggregate::without_known_lines(&given, &block.body.text(), &source, language);
    if let Some(text) = shorter {
        let shorter = DocumentBlock { view: ViewMode::Excerpt, body: text.into(), ..block.clone() };
        shown.full_block = Some(Box::new(std::mem::replace(block, shorter)));
    }
}

/// Leaves out the names and paths of files that the reader has something of: a name adds nothing to that.
fn leave_out_known_rows(draft: &mut DraftDocument, reader: &ReaderState) {
    let is_known = |block: &DocumentBlock| reader.unchanged_row(block).is_some();
    let omitted = &mut draft.remarks.omitted;
    let listed = draft.listed.len();
    draft.listed.retain(|row| {
        let (block, details, reason) = (&row.file.block, row.file.details, Omission::Unchanged);
        let is_known = is_known(block);
        omitted.extend(is_known.then(|| OmittedFile { path: block.path.clone(), details, reason }));
        !is_known
    });
    let mut dropped: HashSet<RelPath> = HashSet::new();
    draft.dropped.retain(|shown| {
        let is_known = is_known(&shown.candidate.block);
        dropped.extend(is_known.then(|| shown.file.path.clone()));
        !is_known
    });
    for file in omitted.iter_mut().filter(|file| dropped.contains(&file.path)) {
        file.reason = Omission::Unchanged;
    }
    if draft.remarks.limits.is_some() && listed != draft.listed.len() {
        draft.plan.tree = path_tree(draft);
    }
}

/// Returns the tree of the files that are shown only by their paths.
fn path_tree(draft: &DraftDocument) -> Option<NameTree> {
    let blocks = draft.listed.iter().map(|row| &row.file.block);
    let paths: Vec<&RelPath> =
        blocks.filter(|block| block.view == ViewMode::Path).map(|block| &block.path).collect();
    let mut hidden: Vec<&RelPath> = draft.dropped.iter().map(|shown| &shown.file.path).collect();
    hidden.sort_unstable();
    let text = aggregate::render_path_tree(&paths, &hidden);
    (!paths.is_empty()).then_some(NameTree { text, annotated_folders: 0 })
}

/// Returns whether a file is unchanged since its delivery and the reader has everything that is shown of it.
fn is_known(
    renderer: &mut Renderer<'_, '_>,
    reader: &ReaderState,
    shown: &ShownFile,
    hash: ContentHash,
    is_limited: bool,
) -> bool {
    let block = &shown.candidate.block;
    let row = reader.unchanged_row(block).filter(|_| !is_failed(&shown.candidate));
    let Some(row) = row.filter(|_| block.view != ViewMode::Delta) else { return false };
    if (row.shown == hash || covers(row.view, block)) && !reader.lacks_lines(renderer, &row.path) {
        return true;
    }
    // The signatures that follow the words depend on what is left of a limit.
    let is_summary = block.view == ViewMode::Summary && is_limited && !is_by_model(block);
    (is_summary && !is_name(row.view)) || !shows_more(renderer, reader, row, block)
}

/// Returns whether a block shows lines of a file that its reader does not have.
pub(super) fn shows_more(
    renderer: &mut Renderer<'_, '_>,
    reader: &ReaderState,
    row: &DeliveredFile,
    block: &DocumentBlock,
) -> bool {
    if is_name(row.view) || is_by_model(block) {
        return true;
    }
    let Some(given) = reader.seen_text(renderer, &row.path) else { return true };
    let body = block.body.text();
    match block.view {
        ViewMode::Full
        | ViewMode::Window
        | ViewMode::Masked
        | ViewMode::Custom
        | ViewMode::Definitions
        | ViewMode::Excerpt => {
            let read = renderer.cache.workspace.read_text(&row.path).ok();
            let source = read.filter(|(hash, _)| Some(*hash) == block.content);
            source.is_none_or(|(_, source)| aggregate::has_new_lines(&given, &body, &source))
        }
        ViewMode::Skeleton | ViewMode::Outline | ViewMode::Summary | ViewMode::Signatures => {
            aggregate::has_new_lines(&given, &body, &body)
        }
        ViewMode::Diff | ViewMode::Delta => true,
        ViewMode::Names | ViewMode::Path | ViewMode::None => false,
    }
}

/// Returns whether a block adds nothing for a reader who has a view of the same file.
pub(super) fn covers(view: ViewMode, block: &DocumentBlock) -> bool {
    let is_structure = matches!(block.view, ViewMode::Outline | ViewMode::Signatures | ViewMode::Summary);
    let is_covered = match view {
        ViewMode::Full => block.view != ViewMode::Diff,
        ViewMode::Skeleton => is_structure,
        _ => false,
    };
    is_covered && !is_by_model(block)
}

const fn is_by_model(block: &DocumentBlock) -> bool {
    matches!(block.summary, Some(SummaryProvenance::Model { .. }))
}

const fn is_name(view: ViewMode) -> bool {
    matches!(view, ViewMode::Names | ViewMode::Path | ViewMode::None)
}

/// Returns the record of a file that is shown with a text, including what the reader was shown of it earlier: skeletons
/// and excerpts show one part after another.
pub(super) fn with_earlier_views(
    renderer: &mut Renderer<'_, '_>,
    reader: &ReaderState,
    row: DeliveredFile,
    text: String,
) -> (DeliveredFile, Option<String>) {
    let is_part = |view| matches!(view, ViewMode::Skeleton | ViewMode::Excerpt);
    // Where the reader lacks lines of a full text, an excerpt adds some.
    let is_of_text = |before: &DeliveredFile| {
        before.view == ViewMode::Full && row.view == ViewMode::Excerpt && before.wanted == row.wanted
    };
    let before = reader.row(&row.path).filter(|before| is_part(before.view) || is_of_text(before));
    let Some(before) = before.filter(|_| is_part(row.view)) else { return (row, Some(text)) };
    let Some(given) = reader.given_text(renderer, &row.path) else { return (row, Some(text)) };
    // A skeleton is compared with later ones; an excerpt is not.
    if row.view == ViewMode::Skeleton {
        let is_first = before.view == ViewMode::Skeleton;
        let others = if is_first { aggregate::split_shown(&given).1 } else { aggregate::seen_lines(&given) };
        let merged = aggregate::merge_shown(&text, others);
        return (row, merged.or(Some(text)));
    }
    let is_same = before.wanted == row.wanted;
    if is_same && let Some(merged) = aggregate::merge_part(&given, &text) {
        return (before.clone(), Some(merged));
    }
    let merged = aggregate::merge_shown(aggregate::seen_lines(&given), &text);
    (row, merged.or(Some(text)))
}

/// Returns a draft in which changed files are selected like others.
pub(in crate::engine::document) fn unreduced(draft: &DraftDocument) -> DraftDocument {
    let mut trial = draft.clone();
    for shown in &mut trial.files {
        if let Some(candidate) = shown.unreduced.take() {
            shown.candidate = *candidate;
            shown.full_block = None;
        }
    }
    trial
}

/// Shows changed files themselves, with the names of what has changed, if `packed` shows more of them than the reader
/// has.
pub(in crate::engine::document) fn restore_files_with_more(
    renderer: &mut Renderer<'_, '_>,
    draft: &mut DraftDocument,
    packed: &DraftDocument,
    reader: &ReaderState,
) {
    let blocks: HashMap<&RelPath, &DocumentBlock> =
        packed.files.iter().map(|shown| (&shown.file.path, &shown.candidate.block)).collect();
    for shown in &mut draft.files {
        let Some(candidate) = shown.unreduced.take() else { continue };
        let path = &shown.file.path;
        let (Some(block), Some(row)) = (blocks.get(path), reader.row(path)) else { continue };
        if shows_more(renderer, reader, row, block) {
            shown.changes = Some(named_changes(&shown.candidate.block));
            shown.candidate = *candidate;
            shown.full_block = None;
        }
    }
}
