//! Adds the files of a limited document to the part that their views belong to: its blocks or its rows.

use std::collections::HashMap;
use std::sync::Arc;

use super::costs::CostMemo;
use crate::aggregate::{CandidateFile, FilePart, ListedFile, PackedView};
use crate::engine::document::draft::ShownFile;
use crate::model::{DocumentBlock, RoutingRule, ViewMode};

/// The reason if a file is shown in another view than wanted.
pub(super) const BUDGET_REASON: &str = "to keep within the budget";
/// The reason if a file is shown in full although less is wanted.
const ROOM_REASON: &str = "ranks high, and the budget has room";

/// How a file is shown in the parts of a document that are packed first.
pub(super) enum StableView {
    Block(FilePart, DocumentBlock),
    Row {
        part: FilePart,
        /// Its place among the rows of its part.
        place: usize,
        names: Arc<[String]>,
    },
}

/// The parts of a document that are packed first, by the positions of the files. They are the same for every task, and
/// a commit changes only the blocks of the files that it touches.
pub(super) type StablePart = HashMap<usize, StableView>;

/// A file as a document shows it: as a block, or in a row.
pub(super) struct PlacedFile {
    shown: ShownFile,
    /// The names in its row, empty if it shows only the path; `None` for a block.
    row: Option<Arc<[String]>>,
}

impl PlacedFile {
    const fn block(shown: ShownFile) -> Self {
        Self { shown, row: None }
    }

    /// Adds the file to the blocks; its row is returned if it has one.
    pub(super) fn add_to(self, blocks: &mut Vec<ShownFile>) -> Option<ListedFile> {
        let Some(names) = self.row else {
            blocks.push(self.shown);
            return None;
        };
        Some(ListedFile { file: self.shown.candidate, names })
    }
}

/// Adds a file to the part that its view belongs to. `block` is the rendered block, `stable` how the part that is
/// packed first shows the file.
pub(super) fn place_file(
    mut shown: ShownFile,
    view: &PackedView,
    block: Option<DocumentBlock>,
    stable: Option<&StableView>,
    at: usize,
    costs: &mut CostMemo,
) -> PlacedFile {
    if let Some(block) = block {
        show_as(&mut shown, block);
        return PlacedFile::block(shown);
    }
    match (stable, view) {
        (Some(stable), _) => place_stable(shown, stable),
        (None, PackedView::Given) => PlacedFile::block(shown),
        (None, PackedView::Names(count)) => list(shown, costs.names(at, *count)),
        (None, PackedView::Block { .. } | PackedView::Path) => list(shown, Arc::default()),
    }
}

/// Places a file as the part that is packed first shows it.
pub(super) fn place_stable(mut shown: ShownFile, view: &StableView) -> PlacedFile {
    match view {
        StableView::Block(part, block) => {
            shown.candidate.part = *part;
            show_as(&mut shown, block.clone());
            PlacedFile::block(shown)
        }
        StableView::Row { part, names, .. } => {
            shown.candidate.part = *part;
            list(shown, Arc::clone(names))
        }
    }
}

/// Lists a file by the names of its symbols, or by its path if there are none.
fn list(mut shown: ShownFile, names: Arc<[String]>) -> PlacedFile {
    let view = if names.is_empty() { ViewMode::Path } else { ViewMode::Names };
    note_view(&mut shown.candidate, view);
    let block = &mut shown.candidate.block;
    block.view = view;
    block.remarks.extend(shown.changes.clone());
    PlacedFile { shown, row: Some(names) }
}

/// Shows a file as a block, and records why if it is not the wanted one.
pub(super) fn show_as(shown: &mut ShownFile, mut block: DocumentBlock) {
    block.remarks.extend(shown.changes.clone());
    note_view(&mut shown.candidate, block.view);
    shown.candidate.block = block;
}

/// Records why a file is shown in a view, if that is not the wanted one.
fn note_view(candidate: &mut CandidateFile, view: ViewMode) {
    if view != candidate.wanted && candidate.rule != RoutingRule::Gone {
        let reason = if view == ViewMode::Full { ROOM_REASON } else { BUDGET_REASON };
        candidate.reason = Some(match candidate.reason.take() {
            Some(earlier) => format!("{earlier}; then {reason}"),
            None => reason.to_owned(),
        });
    }
}
