//! Reduces the views of files that have to be shown, if a default limit is too small for them.

use super::costs::BudgetUnit;
use super::fit::limit_of;
use super::placed_files::show_as;
use crate::aggregate::RoutingContext;
use crate::engine::document::draft::{DraftDocument, ShownFile};
use crate::engine::document::gather::{WantedView, render_as};
use crate::engine::document::rendering::Renderer;
use crate::model::{SummaryDetail, ViewMode};
use crate::render;

/// The views that a file in focus steps down to, in order.
const STEPS: [ViewMode; 3] = [ViewMode::Skeleton, ViewMode::Outline, ViewMode::Summary];

/// Reduces the views of files that have to be shown until they leave room for others within a default limit, beginning
/// with the last file.
pub(in crate::engine::document) fn step_down(
    renderer: &mut Renderer<'_, '_>,
    draft: &mut DraftDocument,
    routing: &RoutingContext<'_>,
) {
    let limits = draft.remarks.limits;
    let unit = BudgetUnit::for_limits(limits, renderer.cache.workspace.options.counter);
    let (files, limit) = (&mut draft.files, limit_of(limits));
    let size = |shown: &ShownFile| unit.count(&render::block_text(&shown.candidate.block));
    let mut order: Vec<usize> =
        (0..files.len()).filter(|at| files[*at].candidate.rule.is_binding()).collect();
    order.sort_by_key(|at| (routing.focus.place(&files[*at].file.path).unwrap_or(usize::MAX), *at));
    let mut total: u64 = order.iter().map(|at| size(&files[*at])).sum();
    // A fifth is left for the rest of the document.
    let most = limit - limit / 5;
    let Some((first, others)) = order.split_first() else { return };
    let rounds = [others, std::slice::from_ref(first)];
    for (view, at) in rounds
        .iter()
        .flat_map(|files| STEPS.iter().flat_map(move |view| files.iter().rev().map(move |at| (*view, *at))))
    {
        if total <= most {
            return;
        }
        let shown = &mut files[at];
        let before = size(shown);
        let wanted = WantedView::new(view, SummaryDetail::Words);
        let block = render_as(renderer, &shown.file, routing, wanted).block;
        let after = unit.count(&render::block_text(&block));
        if block.content.is_some() && after < before {
            show_as(shown, block);
            total = total - before + after;
        }
    }
}
