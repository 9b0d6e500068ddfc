//! Packs the part of a document first that stays the same: for every task, and after a commit.
//!
//! A provider's cache keeps what precedes the first byte that differs. So files are selected by what they were at the
//! commit at which scores are frozen: an edit then changes the block of its file, and neither the room of the others nor
//! what is selected of them. What has changed since stands behind what has not.

use std::collections::HashSet;

use super::excerpts::{BlockSelection, head_block, render_blocks, summary_block};
use super::fit::{fit_draft, limit_of, taken};
use super::gather::{DraftDocument, ShownFile};
use super::pack::{
    PackContext, PackMemo, PackableDraft, StablePart, StableView, block_selections, is_ranked, shares,
    shows_summaries, summary_room, views_by_position,
};
use super::pack_costs::FileCosts;
use super::render::Renderer;
use super::request::AggregationRequest;
use crate::aggregate;
use crate::aggregate::{FileDemand, FilePart, PackInput, PackShares, PackSymbol, PackableFile, PackedView};
use crate::engine::artifacts::ContentRef;
use crate::engine::error::Error;
use crate::engine::history::{FrozenContent, ProjectHistory};
use crate::model::{DocumentBlock, FileOrder, ViewMode};

/// Where neither a task nor a focus says what matters, so much of the limit is packed by what the files were at the frozen
/// commit. The rest is for files that were added since. Over 20 commits each of eight histories, 0.84 of the prefix was
/// kept, and 0.80 where all was packed by what the files are.
const UNGUIDED_STABLE_THOUSANDTHS: u64 = 940;
/// The room of what is packed first changes by no less than one part in so many of the limit.
const ROOM_STEPS: u64 = 16;
/// Another room is tried for it if more than one part in so many of the limit would be unused, which happens where pieces
/// cost less than expected. As much is left to the rest of the document.
const UNUSED_PART: u64 = 32;
/// So many rooms are tried at most.
const MOST_ROOMS: usize = 5;

/// How much of a document is packed first, so that it stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StableShare {
    /// Its share of the limit.
    thousandths: u64,
    /// Whether it has rows of names too. Where there is a task, all rows follow at the end of the document.
    has_rows: bool,
}

impl StableShare {
    /// Returns the room within a limit, of which some is taken by what is in the document in any case.
    fn room(self, limit: u64, taken: u64) -> u64 {
        if !self.has_rows {
            // Not a share of what the attachments leave, because these may differ from task to task.
            return limit / 1000 * self.thousandths;
        }
        // In steps, so that a discussion that grows seldom makes the difference.
        let steps = limit.saturating_sub(taken) / (limit / ROOM_STEPS).max(1);
        limit / ROOM_STEPS * steps.min(ROOM_STEPS) / 1000 * self.thousandths
    }

    /// Returns how the room is divided.
    fn parts(self, shares: PackShares) -> PackShares {
        if self.has_rows {
            return PackShares { names: shares.names + shares.paths, paths: 0, ..shares };
        }
        PackShares { signatures: 1000 - shares.bodies, names: 0, paths: 0, ..shares }
    }

    /// Returns a larger room, for what took `used` of a room and was to take `wanted`.
    fn more(room: u64, limit: u64, (wanted, used): (u64, u64)) -> u64 {
        let step = (limit / ROOM_STEPS).max(1);
        let larger = u128::from(room) * u128::from(wanted) / u128::from(used.max(1));
        let larger = u64::try_from(larger).unwrap_or(u64::MAX);
        (larger / step * step).max(room.saturating_add(step))
    }

    /// Returns the next smaller room.
    const fn less(room: u64, limit: u64) -> u64 {
        room.saturating_sub(if limit < ROOM_STEPS { room } else { limit / ROOM_STEPS })
    }

    /// Returns the share of a request; `None` if nothing is packed first. `is_replayed` says whether the document may be
    /// asked for again after each commit, as a whole.
    pub(super) fn of(request: &AggregationRequest, is_replayed: bool) -> Option<Self> {
        let is_guided = request.task.is_some() || !request.focus.is_empty();
        let share = request.tier.as_ref().map_or(0, |tier| u64::from(tier.stable_thousandths));
        let (thousandths, has_rows) = match request.task {
            Some(_) => (share, false),
            None if !is_guided && is_replayed && request.order == FileOrder::Stable => {
                (UNGUIDED_STABLE_THOUSANDTHS, true)
            }
            None => (0, false),
        };
        (request.limits.is_some() && 0 < thousandths).then_some(Self { thousandths, has_rows })
    }
}

/// A file that has changed since scores were frozen, and what was selected of it then, whose room it keeps.
struct ReservedRoom {
    /// The position of the file.
    file: usize,
    view: PackedView,
}

/// What comes first in a document.
#[derive(Default)]
struct PackedFirst {
    stable: StablePart,
    /// What the document takes with it, before the rest of the files are selected.
    taken: u64,
}

/// What a part of a document is packed from, and by what.
pub(super) struct StablePacker<'p, 'r, 'w> {
    pub(super) renderer: &'p mut Renderer<'r, 'w>,
    pub(super) draft: &'p DraftDocument,
    /// By what the files are.
    pub(super) now: PackContext<'p>,
    /// By what they were when scores were frozen.
    pub(super) then: PackContext<'p>,
    pub(super) images_apart: bool,
}

impl StablePacker<'_, '_, '_> {
    /// Fits the document into its limit, with a part of it packed first.
    pub(super) fn fit(
        &mut self,
        share: StableShare,
        history: Option<&ProjectHistory>,
        (memo, memo_then): (&mut PackMemo, &mut PackMemo),
        is_guided: bool,
    ) -> Result<DraftDocument, Error> {
        let limit = limit_of(self.draft.remarks.limits);
        let (mut room, mut stable) = self.pack_fully(share, history, (&mut *memo, &mut *memo_then));
        let mut best: Option<(u64, DraftDocument)> = None;
        for _ in 0..MOST_ROOMS {
            let context = PackContext { is_guided, stable: &stable, ..self.now };
            let (used, fitted) = fit_draft(self.renderer, self.draft, &context, memo, self.images_apart)?;
            if best.as_ref().is_some_and(|(most, _)| used <= *most) {
                break;
            }
            best = Some((used, fitted));
            if !share.has_rows || limit.saturating_sub(used) <= limit / UNUSED_PART {
                break;
            }
            room = StableShare::more(room, limit, (limit, used));
            stable = self.pack(share, room, history, (&mut *memo, &mut *memo_then)).stable;
        }
        Ok(best.map_or_else(|| self.draft.clone(), |(_, fitted)| fitted))
    }

    /// Packs what comes first, and returns it with its room. Of these files the rest of the document shows nothing more, so
    /// that what they leave unused would go to files that hardly matter: to a list of changes, or to a picture.
    fn pack_fully(
        &mut self,
        share: StableShare,
        history: Option<&ProjectHistory>,
        (memo, memo_then): (&mut PackMemo, &mut PackMemo),
    ) -> (u64, StablePart) {
        let limit = limit_of(self.draft.remarks.limits);
        let before = if share.has_rows { self.taken(&StablePart::new()) } else { 0 };
        let wanted = share.room(limit, before);
        let mut room = wanted;
        let mut best = self.pack(share, room, history, (&mut *memo, &mut *memo_then));
        for _ in 1..MOST_ROOMS {
            let used = best.taken.saturating_sub(before);
            if !share.has_rows || wanted <= used.saturating_add(limit / UNUSED_PART) {
                break;
            }
            let more = StableShare::more(room, limit, (wanted, used));
            let larger = self.pack(share, more, history, (&mut *memo, &mut *memo_then));
            if larger.taken <= best.taken {
                break;
            }
            (room, best) = (more, larger);
        }
        (room, best.stable)
    }

    /// Packs what comes first within a room, or less if that would leave too little of the limit to the rest of the document,
    /// which has files that were added since.
    fn pack(
        &mut self,
        share: StableShare,
        mut room: u64,
        history: Option<&ProjectHistory>,
        (memo, memo_then): (&mut PackMemo, &mut PackMemo),
    ) -> PackedFirst {
        let limit = limit_of(self.draft.remarks.limits);
        // What pieces cost is close, and no more, before they are put together.
        while 0 < room {
            let (mut stable, reserved) = self.select_by_then(share, room, history, memo_then);
            stable.extend(self.show_changed(&reserved, memo, memo_then));
            let taken = self.taken(&stable);
            if taken <= limit - limit / UNUSED_PART {
                return PackedFirst { stable, taken };
            }
            room = StableShare::less(room, limit);
        }
        PackedFirst::default()
    }

    /// Returns what the document takes before the rest of the files are selected.
    fn taken(&mut self, stable: &StablePart) -> u64 {
        let context = PackContext { stable, ..self.now };
        taken(self.renderer, self.draft, &context, self.images_apart)
    }

    /// Selects by general ranks, and nothing that the request insists on. With a `history`, files are selected by what they
    /// were at its frozen commit, and those whose blocks may have changed since are returned with the rooms that they had:
    /// nothing else takes their place.
    fn select_by_then(
        &mut self,
        share: StableShare,
        room: u64,
        history: Option<&ProjectHistory>,
        memo: &mut PackMemo,
    ) -> (StablePart, Vec<ReservedRoom>) {
        let files = &self.draft.files;
        let frozen: Vec<FrozenContent> = files
            .iter()
            .map(|shown| {
                history.map_or(FrozenContent::Current, |history| history.frozen_content(&shown.file))
            })
            .collect();
        let mut packable = PackableDraft::new(files, &self.then);
        for (file, at) in packable.packable.iter_mut().zip(&self.then.ranking.order) {
            let is_absent = !is_ranked(&files[*at].candidate) || frozen[*at] == FrozenContent::Absent;
            // It takes no room here.
            file.demand = if is_absent { FileDemand::Binding(0) } else { FileDemand::Ranked };
        }
        let shares = share.parts(shares(&self.then, room));
        let packing = packable.select(self.renderer, &self.then, &mut memo.costs, (room, shares), false);
        let mut views = views_by_position(&packing, &self.then, files.len());
        let has_changed = |file: usize| frozen[file] != FrozenContent::Current;
        let mut reserved = Vec::new();
        for (file, view) in views.iter_mut().enumerate() {
            if has_changed(file) && matches!(view, Some(PackedView::Block { .. })) {
                reserved.extend(view.take().map(|view| ReservedRoom { file, view }));
            }
        }
        let mut stable = self.render(self.then, memo, &views, FilePart::Stable);
        for (at, view) in views.iter().enumerate() {
            if let Some(PackedView::Names(count)) = view {
                let row = self.row((at, *count), has_changed(at), memo, packable.places[at]);
                stable.extend(row.map(|row| (at, row)));
            }
        }
        (stable, reserved)
    }

    /// Returns the row of a file, or its first lines if it has no names; `None` if none of its names are left.
    fn row(
        &mut self,
        (file, count): (usize, usize),
        has_changed: bool,
        memo: &PackMemo,
        place: usize,
    ) -> Option<StableView> {
        let shown = &self.draft.files[file];
        let mut names = memo.costs.names(file, count);
        if has_changed {
            let then = names.len();
            // They keep their order of then, which the sizes of symbols decide too.
            keep_names_of_now(self.renderer, shown, &mut names);
            let part = if names.len() < then { FilePart::Changed } else { FilePart::Stable };
            return (!names.is_empty()).then_some(StableView::Row { part, place, names });
        }
        let head = memo.costs.head(file).filter(|_| names.is_empty());
        let head = head.map(|head| head_block(&shown.candidate.block, head));
        let row = StableView::Row { part: FilePart::Stable, place, names };
        Some(head.map_or(row, |head| StableView::Block(FilePart::Stable, head)))
    }

    /// Shows files that have changed since scores were frozen, each in its own room, so that none of them depends on what
    /// became of another one.
    fn show_changed(
        &mut self,
        reserved: &[ReservedRoom],
        memo: &mut PackMemo,
        memo_then: &PackMemo,
    ) -> StablePart {
        let files = &self.draft.files;
        let now = PackableDraft::new(files, &self.now);
        let mut views = vec![None; files.len()];
        let mut all = now.costs(self.renderer, &self.now, &mut memo.costs);
        for ReservedRoom { file, view } in reserved {
            let (Some(own), PackedView::Block { bodies, signatures, .. }) = (now.of_files.get(file), view)
            else {
                continue;
            };
            let tokens = memo_then.costs.pieces(self.now.unit, *file, (bodies, signatures));
            let pieces: Vec<PackSymbol> =
                own.iter().map(|at| PackSymbol { file: 0, ..now.symbols[*at] }).collect();
            let packable = [PackableFile { score: 1.0, demand: FileDemand::Ranked }];
            let (budget, shares) = (tokens.total(), tokens.shares());
            let input = PackInput {
                budget,
                shares,
                files: &packable,
                symbols: &pieces,
                has_bound: false,
                summary_room: summary_room(&self.now),
            };
            let mut costs = FileCosts { all: &mut all, place: now.places[*file], symbols: own };
            let packed = aggregate::pack(&input, &mut costs).files.pop().map(|packed| packed.view);
            views[*file] = packed.and_then(|view| view.with_symbols(own));
        }
        let mut changed = self.render(self.now, memo, &views, FilePart::Changed);
        for room in reserved {
            if let Some(StableView::Block(part, block)) = changed.get_mut(&room.file)
                && self.is_as_then(room, block)
            {
                *part = FilePart::Stable;
            }
        }
        changed
    }

    /// Returns whether a file was shown as it is now when its room was reserved. Most edits do not touch the summary and the
    /// signatures of a file; an excerpt names the content that it is of.
    fn is_as_then(&mut self, room: &ReservedRoom, block: &DocumentBlock) -> bool {
        let (Some(earlier), PackedView::Block { bodies, signatures, is_whole }) =
            (self.then.ranking.earlier.get(&room.file), &room.view)
        else {
            return false;
        };
        if block.view != ViewMode::Summary || !bodies.is_empty() {
            return false;
        }
        let shown = ShownFile { file: earlier.clone(), ..self.draft.files[room.file].clone() };
        let (file, is_whole) = (room.file, *is_whole);
        let selection = BlockSelection { file, bodies: Vec::new(), signatures: signatures.clone(), is_whole };
        let earlier = summary_block(self.renderer, &shown, &selection, &self.then);
        earlier.is_some_and(|earlier| earlier.body == block.body && earlier.remarks == block.remarks)
    }

    /// Renders the blocks among some views.
    fn render(
        &mut self,
        context: PackContext<'_>,
        memo: &mut PackMemo,
        views: &[Option<PackedView>],
        part: FilePart,
    ) -> StablePart {
        let mut selections = block_selections(views);
        let symbols = &context.ranking.symbols;
        let has_name = |symbol: &&usize| !symbols[**symbol].name.is_empty();
        let with_names: HashSet<usize> =
            symbols.iter().filter(|symbol| !symbol.name.is_empty()).map(|symbol| symbol.file).collect();
        // A file of which only imports or a docstring had room is left to the rest of the document, where it gets names.
        selections.retain(|BlockSelection { file, bodies, signatures, .. }| {
            !with_names.contains(file) || bodies.iter().chain(signatures).any(|symbol| has_name(&symbol))
        });
        let has_summaries = shows_summaries(context.routing);
        let files = &self.draft.files;
        let blocks =
            render_blocks(self.renderer, files, &selections, &context, has_summaries, &mut memo.blocks);
        blocks.into_iter().map(|(at, block)| (at, StableView::Block(part, block))).collect()
    }
}

/// Removes the names of symbols that a file does not have any more.
fn keep_names_of_now(renderer: &mut Renderer<'_, '_>, shown: &ShownFile, names: &mut Vec<String>) {
    let outline = ContentRef::from_file(&shown.file).and_then(|subject| renderer.cache.outline(&subject));
    let mut now = HashSet::new();
    if let Some(outline) = &outline {
        outline.walk(|symbol, _| {
            now.insert(symbol.name.as_str());
        });
    }
    // A method may be named with its type.
    names.retain(|name| {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        now.contains(name.as_str()) || now.contains(last)
    });
}
