//! Fits a document into its limits: packs it, measures it, and packs it again with more or less room.
//!
//! The costs of pieces are approximate; only the composed document is measured exactly.

use super::costs::BudgetUnit;
use super::measure;
use super::pack::{PackContext, PackMemo, PackableDraft, PackedDraft, remarks_in_text};
use super::placed_files::{StablePart, place_stable};
use crate::aggregate;
use crate::aggregate::{CandidateFile, DocumentLimits};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::document::draft::DraftDocument;
use crate::engine::document::rendering::Renderer;
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::Document;

/// The maximum number of times a document is packed to use what is left of its limit.
const MAX_ROUNDS: usize = 5;
/// The maximum number of times it is packed until it fits.
const MAX_ROUNDS_UNTIL_IT_FITS: usize = 16;
/// A document is large enough if it leaves at most 1/`UNUSED_PART` of its limit unused.
const UNUSED_PART: u64 = 50;

/// Packs as much of a draft as its limits allow; if not even the binding files fit, only those. Also returns its size.
/// `frame` is the size of everything that is in the document in any case.
pub(super) fn fit_draft(
    renderer: &mut Renderer<'_, '_>,
    draft: &DraftDocument,
    context: &PackContext<'_>,
    memo: &mut PackMemo,
    frame: u64,
) -> Result<(u64, PackedDraft), Error> {
    let limit = limit_of(draft.remarks.limits);
    let packable = PackableDraft::new(&draft.files, context);
    let mut search = RoomSearch::new(limit, limit.saturating_sub(frame));
    let mut best: Option<(u64, PackedDraft)> = None;
    for round in 0..MAX_ROUNDS_UNTIL_IT_FITS {
        if MAX_ROUNDS <= round && best.is_some() {
            break;
        }
        renderer.cache.workspace.check_cancelled()?;
        let packed = packable.pack(renderer, draft, context, memo, search.room);
        let (used, over) = measure_draft(renderer.cache, &packed.shown, context);
        let goes_on = if 0 < over {
            // The selection for this room is too large; with corrected costs, another may be selected.
            memo.is_corrected || search.shrink(over, MAX_ROUNDS <= round)
        } else {
            let left = limit - used;
            let is_enough = left <= limit / UNUSED_PART || packed.is_complete(search.room);
            if best.as_ref().is_none_or(|(size, _)| *size < used) {
                best = Some((used, packed));
            }
            !is_enough && search.grow(left)
        };
        if !goes_on {
            break;
        }
    }
    if let Some(best) = best {
        return Ok(best);
    }
    // If that is too large, the document is refused when it is measured.
    let context = PackContext { stable: &StablePart::new(), ..*context };
    let packable = PackableDraft::new(&draft.files, &context);
    let mut least = packable.pack(renderer, draft, &context, memo, 0);
    least.shown.listed.clear();
    least.shown.plan.tree = None;
    let used = size(renderer.cache, &least.shown, &context);
    Ok((used, least))
}

/// Returns the limit in the unit that a budget is counted in.
pub(in crate::engine::document) fn limit_of(limits: DocumentLimits) -> u64 {
    limits.tokens.or(limits.bytes).unwrap_or(u64::MAX)
}

/// Assembles the parts of a draft, with the current content hashes of the files on disk.
pub(in crate::engine::document) fn assemble(workspace: &Workspace<'_>, mut draft: DraftDocument) -> Document {
    let shown = draft.files.into_iter().chain(draft.shown_again);
    let mut candidates: Vec<CandidateFile> = shown.map(|shown| shown.candidate).collect();
    for file in candidates.iter_mut().chain(draft.listed.iter_mut().map(|listed| &mut listed.file)) {
        set_file_hash(workspace, file);
    }
    aggregate::compose(draft.plan, candidates, &draft.listed, draft.remarks)
}

/// Assembles a document that is only measured: its receipt does not list the files.
fn assemble_to_measure(workspace: &Workspace<'_>, draft: &DraftDocument) -> Document {
    let shown = draft.files.iter().chain(&draft.shown_again);
    let mut candidates: Vec<CandidateFile> = shown.map(|shown| shown.candidate.clone()).collect();
    for file in &mut candidates {
        set_file_hash(workspace, file);
    }
    aggregate::compose_draft(draft.plan.clone(), candidates, &draft.listed, draft.remarks.clone())
}

/// Sets the hash of the file on disk in place of that of the visible part of its content.
fn set_file_hash(workspace: &Workspace<'_>, file: &mut CandidateFile) {
    let block = &mut file.block;
    block.content = block.content.map(|content| workspace.hidden.file_hash(&block.path, content));
}

/// Searches for the largest room with which a document fits.
struct RoomSearch {
    limit: u64,
    room: u64,
    /// The largest room that is known to fit, and the smallest that is known not to.
    enough: u64,
    too_much: u64,
}

impl RoomSearch {
    const fn new(limit: u64, room: u64) -> Self {
        Self { limit, room, enough: 0, too_much: u64::MAX }
    }

    /// Increases the room by what was left. Returns whether there is a room to try.
    fn grow(&mut self, left: u64) -> bool {
        self.enough = self.room;
        self.room = self.room.saturating_add(left);
        self.stay_between()
    }

    /// Reduces the room, because the document exceeded its limit by `over`; at most to half, if `by_half`. Returns
    /// whether there is a room to try.
    fn shrink(&mut self, over: u64, by_half: bool) -> bool {
        self.too_much = self.room;
        // In proportion, and a little less, because pieces are dropped as a whole.
        let size = u128::from(self.limit.saturating_add(over)).max(1);
        let less = u128::from(self.room) * u128::from(self.limit) / size;
        self.room = u64::try_from(less).unwrap_or(self.room);
        self.room = self.room.saturating_sub(self.room / 64 + 1);
        if by_half {
            self.room = self.room.min(self.too_much / 2);
        }
        self.stay_between()
    }

    fn stay_between(&mut self) -> bool {
        if !self.is_between() {
            self.room = self.enough.midpoint(self.too_much.min(self.enough.saturating_mul(2)));
        }
        self.is_between()
    }

    const fn is_between(&self) -> bool {
        self.enough < self.room && self.room < self.too_much
    }
}

/// Returns the size of everything that is in the document in any case: what is shown already, and what is not files.
pub(super) fn frame_size(
    cache: &mut ArtifactCache<'_>,
    draft: &DraftDocument,
    context: &PackContext<'_>,
) -> u64 {
    let mut stable: Vec<usize> = context.stable.keys().copied().collect();
    stable.sort_unstable();
    let (mut files, mut listed) = (Vec::new(), Vec::new());
    for at in stable {
        listed.extend(place_stable(draft.files[at].clone(), &context.stable[&at]).add_to(&mut files));
    }
    let frame = DraftDocument {
        plan: draft.plan.clone(),
        files,
        shown_again: Vec::new(),
        listed,
        dropped: Vec::new(),
        remarks: remarks_in_text(draft, std::iter::empty()),
    };
    size(cache, &frame, context)
}

/// Returns the size of the document of a draft, and by how much it exceeds the limits.
fn measure_draft(
    cache: &mut ArtifactCache<'_>,
    draft: &DraftDocument,
    context: &PackContext<'_>,
) -> (u64, u64) {
    let PackContext { unit, images_apart, .. } = *context;
    let limits = draft.remarks.limits;
    let document = assemble_to_measure(&cache.workspace, draft);
    let used = measure::size(cache, &document, unit, images_apart);
    // The bytes differ from the size only if both are limited.
    let bytes = match (limits.tokens, limits.bytes) {
        (Some(_), Some(most)) => {
            measure::size(cache, &document, BudgetUnit::Bytes, images_apart).saturating_sub(most)
        }
        (_, _) => 0,
    };
    (used, used.saturating_sub(limit_of(limits)).max(unit.of_bytes(bytes)))
}

/// Returns the size of the document of a draft.
fn size(cache: &mut ArtifactCache<'_>, draft: &DraftDocument, context: &PackContext<'_>) -> u64 {
    let document = assemble_to_measure(&cache.workspace, draft);
    measure::size(cache, &document, context.unit, context.images_apart)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_stays_between_a_room_that_fits_and_one_that_is_too_large() {
        let mut search = RoomSearch::new(1_000, 900);
        assert!(search.shrink(500, false) && search.room < 600, "{}", search.room);
        let small = search.room;
        assert!(search.grow(200) && small < search.room && search.room < 900);
        assert!(search.grow(1_000) && search.room < 900, "{}", search.room);
        let mut none = RoomSearch::new(10, 0);
        assert!(!none.shrink(5, false));
    }
}
