//! Packs drafts of a document within its limits, the stable part first if there is one.

use super::costs::BudgetUnit;
use super::fit::{fit_draft, frame_size};
use super::pack::{PackContext, PackMemos, PackedDraft};
use super::placed_files::StablePart;
use super::stable::{StablePacker, StableShare};
use crate::aggregate::RoutingContext;
use crate::engine::document::draft::DraftDocument;
use crate::engine::document::rendering::Renderer;
use crate::engine::error::Error;
use crate::engine::history::ProjectHistory;
use crate::engine::ranking::ProjectRanking;

/// The ranks that the stable part of a document is packed by, regardless of a task.
pub(in crate::engine::document) struct StableRanking {
    pub(in crate::engine::document) share: StableShare,
    /// Of the files as they were at the frozen commit.
    pub(in crate::engine::document) frozen: ProjectRanking,
    /// The current symbols of the files that have changed since; `None` if the other ranks do not depend on a task
    /// either.
    pub(in crate::engine::document) changed: Option<ProjectRanking>,
}

/// What the drafts of one document are packed by.
pub(in crate::engine::document) struct DraftPacker<'p> {
    pub(in crate::engine::document) ranking: &'p ProjectRanking,
    /// What the stable part is packed by, if there is one.
    pub(in crate::engine::document) stable: Option<&'p StableRanking>,
    pub(in crate::engine::document) history: Option<&'p ProjectHistory>,
    pub(in crate::engine::document) routing: &'p RoutingContext<'p>,
    /// Whether a task or a focus says what matters.
    pub(in crate::engine::document) is_guided: bool,
    pub(in crate::engine::document) images_apart: bool,
    pub(in crate::engine::document) memos: &'p mut PackMemos,
}

impl DraftPacker<'_> {
    /// Selects as much of a draft as fits its limits.
    pub(in crate::engine::document) fn pack(
        &mut self,
        renderer: &mut Renderer<'_, '_>,
        draft: &DraftDocument,
    ) -> Result<PackedDraft, Error> {
        let Self { ranking, history, routing, is_guided, images_apart, .. } = *self;
        let unit = BudgetUnit::for_limits(draft.remarks.limits, renderer.cache.workspace.options.counter);
        let nothing = StablePart::new();
        let current = PackContext { ranking, routing, is_guided, unit, images_apart, stable: &nothing };
        let Some(StableRanking { share, frozen, changed }) = self.stable else {
            let frame = frame_size(renderer.cache, draft, &current);
            let memo = &mut self.memos.current;
            return Ok(fit_draft(renderer, draft, &current, memo, frame)?.1);
        };
        // By current scores: a recently added symbol is likely to change again.
        let current = PackContext { is_guided: false, ..current };
        let frozen = PackContext { ranking: frozen, ..current };
        let changed = PackContext { ranking: changed.as_ref().unwrap_or(ranking), ..current };
        let share = *share;
        let mut packer = StablePacker { renderer, draft, current, changed, frozen, share, history };
        packer.fit(self.memos, is_guided)
    }
}
