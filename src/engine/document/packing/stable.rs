//! First packs the part of a document that stays the same for every task, and after a commit.
//!
//! A provider's cache keeps what precedes the first byte that differs. So files are selected by their versions at the
//! frozen commit, at which scores are computed: an edit then changes the block of its file, but neither the room of the
//! others nor what is selected of them. Changed files follow unchanged ones.

use std::collections::HashSet;

use super::costs::FileCosts;
use super::excerpts::{BlockSelection, render_blocks, summary_block};
use super::fit::{fit_draft, frame_size, limit_of};
use super::pack::{
    PackContext, PackMemo, PackMemos, PackableDraft, PackedDraft, block_selections, decided_size, is_ranked,
    shares, shows_summaries, summary_room, views_by_position,
};
use super::placed_files::{StablePart, StableView};
use crate::aggregate;
use crate::aggregate::{
    BodyTurn, FileDemand, FilePart, PackInput, PackShares, PackSymbol, PackableFile, PackedView,
};
use crate::engine::artifacts::ContentRef;
use crate::engine::document::draft::{DraftDocument, ShownFile};
use crate::engine::document::rendering::Renderer;
use crate::engine::document::request::AggregationRequest;
use crate::engine::error::Error;
use crate::engine::history::{FrozenContent, ProjectHistory};
use crate::model::{DocumentBlock, FileOrder, ViewMode};

/// The share of the limit that is packed by the files' versions at the frozen commit, where neither a task nor a focus
/// says what matters. The rest is for files that were added since. Over 20 commits each of eight histories, 0.84 of the
/// prefix was kept, and 0.80 where all was packed by the current files.
const UNGUIDED_STABLE_THOUSANDTHS: u64 = 940;
/// The room of what is packed first changes in steps of 1/`ROOM_STEPS` of the limit.
const ROOM_STEPS: u64 = 16;
/// 1/`SPARE_PART` of the limit is left for the rest of the document; if that does not use it up, half of this is left
/// for files that grow.
const SPARE_PART: u64 = 16;
/// The maximum number of rooms that are tried.
const MAX_ROOMS: usize = 5;
/// The maximum number of selections for one room, which is repeated if blocks cost more than expected.
const MAX_ROUNDS: usize = 4;

/// How much of a document is packed first, so that it stays the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine::document) struct StableShare {
    /// Its share of the limit.
    thousandths: u64,
    /// Whether it has rows of names too. If there is a task, all rows follow at the end of the document.
    has_rows: bool,
}

impl StableShare {
    /// Returns the room within a limit of which `taken` is used in any case.
    fn room(self, limit: u64, taken: u64) -> u64 {
        if !self.has_rows {
            // Not a share of what the attachments leave, because these may differ from task to task.
            return limit / 1000 * self.thousandths;
        }
        // In steps, so that a growing discussion seldom changes the room.
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

    /// Returns the next smaller room.
    const fn less(room: u64, limit: u64) -> u64 {
        room.saturating_sub(if limit < ROOM_STEPS { room } else { limit / ROOM_STEPS })
    }

    /// Returns the share for a request; `None` if nothing is packed first. `is_replayed` says whether the document may
    /// be requested again after each commit, as a whole.
    pub(in crate::engine::document) fn for_request(
        request: &AggregationRequest,
        is_replayed: bool,
    ) -> Option<Self> {
        let is_guided = request.is_guided();
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

/// A file that has changed since scores were frozen, with the selection of its frozen version, whose room it keeps.
struct ReservedRoom {
    /// The position of the file.
    file: usize,
    view: PackedView,
}

/// A file that has changed since scores were frozen, with the number of names in the row of its frozen version.
struct ChangedRow {
    file: usize,
    count: usize,
    /// Its position among the rows.
    place: usize,
}

/// The selection for the first part of a document.
struct SelectedFirst {
    room: u64,
    /// How the files are shown in their frozen versions.
    frozen: StablePart,
    /// The files among them that have changed since, with blocks and with rows.
    changed: Vec<ReservedRoom>,
    changed_rows: Vec<ChangedRow>,
    /// The size of the document with the frozen versions, before the rest of the files are selected. Rooms are chosen
    /// by this, because an edit of one file must not change the room of the others.
    taken: u64,
}

/// The size of a document before the rest of its files are selected.
struct TakenRoom {
    /// The files whose views are curated or requested.
    decided: u64,
    /// What is shown already, and what is not files.
    frame: u64,
}

impl TakenRoom {
    const fn total(&self) -> u64 {
        self.decided + self.frame
    }
}

impl SelectedFirst {
    /// Returns the room, in steps, with which the size of the document may reach `wanted`.
    fn larger_room(&self, wanted: u64, step: u64) -> u64 {
        let larger = u128::from(self.room) * u128::from(wanted) / u128::from(self.taken.max(1));
        let larger = u64::try_from(larger).unwrap_or(u64::MAX);
        (larger / step * step).max(self.room.saturating_add(step))
    }
}

/// The files of a draft in their versions at the frozen commit.
struct FrozenDraft<'p> {
    packable: PackableDraft<'p>,
    /// Whether each file may have changed since, by position.
    has_changed: Vec<bool>,
}

impl<'p> FrozenDraft<'p> {
    /// Takes the files in the order that the frozen ranks refer to. Those that a person has decided on take no room
    /// here, and neither do those that did not exist.
    fn new(files: &'p [ShownFile], history: Option<&ProjectHistory>, frozen: &PackContext<'_>) -> Self {
        let content =
            |shown: &ShownFile| history.map_or(FrozenContent::Current, |of| of.frozen_content(&shown.file));
        let contents: Vec<FrozenContent> = files.iter().map(content).collect();
        let mut packable = PackableDraft::new(files, frozen);
        for (file, at) in packable.packable.iter_mut().zip(frozen.ranking.order.iter()) {
            let is_absent = !is_ranked(&files[*at].candidate) || contents[*at] == FrozenContent::Absent;
            file.demand = if is_absent { FileDemand::Binding(0) } else { FileDemand::Ranked };
        }
        let has_changed = contents.iter().map(|content| *content != FrozenContent::Current).collect();
        Self { packable, has_changed }
    }
}

/// The inputs for packing the first part of a document.
pub(super) struct StablePacker<'p, 'r, 'w> {
    pub(super) renderer: &'p mut Renderer<'r, 'w>,
    pub(super) draft: &'p DraftDocument,
    /// For the current files.
    pub(super) current: PackContext<'p>,
    /// For the files that have changed since scores were frozen, in their current versions.
    pub(super) changed: PackContext<'p>,
    /// For the files as they were when scores were frozen.
    pub(super) frozen: PackContext<'p>,
    pub(super) share: StableShare,
    pub(super) history: Option<&'p ProjectHistory>,
}

impl StablePacker<'_, '_, '_> {
    /// Fits the document into its limit, with a part of it packed first.
    pub(super) fn fit(&mut self, memos: &mut PackMemos, is_guided: bool) -> Result<PackedDraft, Error> {
        let (share, limit) = (self.share, self.limit());
        let before = if share.has_rows { self.taken(&StablePart::new()).total() } else { 0 };
        let frozen = FrozenDraft::new(&self.draft.files, self.history, &self.frozen);
        let mut fit = |room: u64, wanted: u64| -> Result<(u64, u64, PackedDraft), Error> {
            let first = self.select_most(&frozen, room, wanted, &mut memos.frozen);
            let room = first.room;
            let (stable, frame) = self.show(&frozen, first, memos);
            let context = PackContext { is_guided, stable: &stable, ..self.current };
            let (used, packed) = fit_draft(self.renderer, self.draft, &context, &mut memos.current, frame)?;
            Ok((room, used, packed))
        };
        let room = share.room(limit, before);
        let (room, used, packed) = fit(room, before.saturating_add(room))?;
        if !share.has_rows || limit.saturating_sub(used) <= limit / SPARE_PART {
            return Ok(packed);
        }
        // The rest of the document does not have enough to show.
        let (_, used_by_more, more) = fit(room, limit - limit / SPARE_PART / 2)?;
        Ok(if used < used_by_more { more } else { packed })
    }

    /// Selects in a room, and then in larger ones until the size of the document reaches `wanted`. The rest of the
    /// document shows no more of the selected files, so unused room would go to files that hardly matter, such as a
    /// list of changes or a license.
    fn select_most(
        &mut self,
        draft: &FrozenDraft<'_>,
        room: u64,
        wanted: u64,
        memo: &mut PackMemo,
    ) -> SelectedFirst {
        let limit = self.limit();
        let step = (limit / (2 * ROOM_STEPS)).max(1);
        let most = wanted.max(limit - limit / SPARE_PART);
        let mut first = self.select(draft, room, memo);
        for _ in 1..MAX_ROOMS {
            if !self.share.has_rows || wanted <= first.taken.saturating_add(step / 2) {
                break;
            }
            let mut room = first.larger_room(wanted, step);
            let mut larger = self.select(draft, room, memo);
            while most < larger.taken && first.room < room {
                room = room.saturating_sub(step);
                larger = self.select(draft, room, memo);
            }
            if larger.taken <= first.taken {
                break;
            }
            first = larger;
        }
        first
    }

    /// Shows the current versions of what was selected, or less if the document would exceed its limit. Also returns
    /// the size of its frame.
    fn show(
        &mut self,
        draft: &FrozenDraft<'_>,
        mut first: SelectedFirst,
        memos: &mut PackMemos,
    ) -> (StablePart, u64) {
        let limit = self.limit();
        // The costs of pieces are approximate until the document is composed.
        while 0 < first.room {
            let mut stable = first.frozen;
            for ReservedRoom { file, .. } in &first.changed {
                stable.remove(file);
            }
            for row in &first.changed_rows {
                stable.remove(&row.file);
                stable.extend(self.current_row(row, &mut memos.frozen).map(|current| (row.file, current)));
            }
            stable.extend(self.show_changed(&first.changed, memos));
            let taken = self.taken(&stable);
            if taken.total() <= limit {
                return (stable, taken.frame);
            }
            first = self.select(draft, StableShare::less(first.room, limit), &mut memos.frozen);
        }
        let nothing = StablePart::new();
        let frame = self.taken(&nothing).frame;
        (nothing, frame)
    }

    fn limit(&self) -> u64 {
        limit_of(self.draft.remarks.limits)
    }

    /// Returns the size of the document before the rest of the files are selected.
    fn taken(&mut self, stable: &StablePart) -> TakenRoom {
        let context = PackContext { stable, ..self.current };
        TakenRoom {
            decided: decided_size(self.draft, &context),
            frame: frame_size(self.renderer.cache, self.draft, &context),
        }
    }

    /// Selects by frozen ranks, without the binding files. With a history, files are selected by their versions at its
    /// frozen commit, and those that may have changed since keep the rooms that they had then, which nothing else can
    /// take.
    fn select(&mut self, draft: &FrozenDraft<'_>, room: u64, memo: &mut PackMemo) -> SelectedFirst {
        let FrozenDraft { packable, has_changed } = draft;
        let shares = self.share.parts(shares(&self.frozen, room));
        let mut round = 0;
        let (views, mut blocks) = loop {
            round += 1;
            let packing =
                packable.select(self.renderer, &self.frozen, &mut memo.costs, (room, shares), false);
            let views = views_by_position(&packing, &self.frozen, has_changed.len());
            let blocks = self.render(self.frozen, memo, &views, FilePart::Stable);
            // With the corrected costs, another selection may be better.
            if !memo.is_corrected || round == MAX_ROUNDS {
                break (views, blocks);
            }
        };
        let (mut changed, mut changed_rows) = (Vec::new(), Vec::new());
        for (file, view) in views.into_iter().enumerate() {
            match view {
                Some(PackedView::Names(count)) => {
                    let place = packable.ranks[file];
                    if has_changed[file] {
                        changed_rows.push(ChangedRow { file, count, place });
                    }
                    let names = memo.costs.names(file, count);
                    blocks.insert(file, StableView::Row { part: FilePart::Stable, place, names });
                }
                Some(view @ PackedView::Block { .. }) if has_changed[file] => {
                    changed.push(ReservedRoom { file, view });
                }
                _ => {}
            }
        }
        let taken = self.taken(&blocks).total();
        SelectedFirst { room, frozen: blocks, changed, changed_rows, taken }
    }

    /// Returns the current row of a file; `None` if none of its names are left.
    fn current_row(&mut self, row: &ChangedRow, memo: &mut PackMemo) -> Option<StableView> {
        let mut names = memo.costs.names(row.file, row.count).to_vec();
        let frozen = names.len();
        // They keep their frozen order, which also depends on the sizes of symbols.
        retain_current_names(self.renderer, &self.draft.files[row.file], &mut names);
        let part = if names.len() < frozen { FilePart::Changed } else { FilePart::Stable };
        (!names.is_empty()).then(|| StableView::Row { part, place: row.place, names: names.into() })
    }

    /// Shows files that have changed since scores were frozen, each in its own room, so that they do not depend on each
    /// other.
    fn show_changed(&mut self, reserved: &[ReservedRoom], memos: &mut PackMemos) -> StablePart {
        let files = &self.draft.files;
        let current = PackableDraft::new(files, &self.changed);
        let mut views = vec![None; files.len()];
        let mut all = current.costs(self.renderer, &self.changed, &mut memos.changed.costs);
        for ReservedRoom { file, view } in reserved {
            let (Some(own), PackedView::Block { bodies, signatures, .. }) =
                (current.of_files.get(file), view)
            else {
                continue;
            };
            let tokens = memos.frozen.costs.pieces(self.changed.unit, *file, bodies, signatures);
            let pieces: Vec<PackSymbol> =
                own.iter().map(|at| PackSymbol { file: 0, ..current.symbols[*at] }).collect();
            let packable = [PackableFile { score: 1.0, demand: FileDemand::Ranked, turn: BodyTurn::First }];
            let (budget, shares) = (tokens.total(), tokens.shares());
            let input = PackInput {
                budget,
                shares,
                files: &packable,
                symbols: &pieces,
                has_bound: false,
                summary_room: summary_room(&self.changed),
            };
            let mut costs = FileCosts { all: &mut all, place: current.ranks[*file], symbols: own };
            let packed = aggregate::pack(&input, &mut costs).files.pop().map(|packed| packed.view);
            views[*file] = packed.and_then(|view| view.with_symbols(own));
        }
        let mut changed = self.render(self.changed, &mut memos.changed, &views, FilePart::Changed);
        for room in reserved {
            if let Some(StableView::Block(part, block)) = changed.get_mut(&room.file)
                && self.is_unchanged(room, block)
            {
                *part = FilePart::Stable;
            }
        }
        changed
    }

    /// Returns whether a file, when its room was reserved, was shown as it is now. Most edits do not affect the summary
    /// and the signatures of a file; an excerpt names the content that it is of.
    fn is_unchanged(&mut self, room: &ReservedRoom, block: &DocumentBlock) -> bool {
        let (Some(earlier), PackedView::Block { bodies, signatures, is_whole }) =
            (self.frozen.ranking.versions.get(&room.file), &room.view)
        else {
            return false;
        };
        if block.view != ViewMode::Summary || !bodies.is_empty() {
            return false;
        }
        let shown = ShownFile { file: earlier.clone(), ..self.draft.files[room.file].clone() };
        let (file, is_whole) = (room.file, *is_whole);
        let selection = BlockSelection { file, bodies: Vec::new(), signatures: signatures.clone(), is_whole };
        let earlier = summary_block(self.renderer, &shown, &selection, &self.frozen);
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
        // A file of which only imports or a docstring fit is left to the rest of the document, where its names are
        // shown.
        selections.retain(|BlockSelection { file, bodies, signatures, .. }| {
            !with_names.contains(file) || bodies.iter().chain(signatures).any(|symbol| has_name(&symbol))
        });
        let has_summaries = shows_summaries(context.routing);
        let files = &self.draft.files;
        let blocks =
            render_blocks(self.renderer, files, &selections, &context, has_summaries, &mut memo.blocks);
        memo.correct(context.unit, &selections, &blocks);
        blocks.into_iter().map(|(at, block)| (at, StableView::Block(part, block))).collect()
    }
}

/// Removes the names of symbols that a file no longer has.
fn retain_current_names(renderer: &mut Renderer<'_, '_>, shown: &ShownFile, names: &mut Vec<String>) {
    let outline = ContentRef::from_file(&shown.file).and_then(|subject| renderer.cache.outline(&subject));
    let outline = outline.filter(|outline| !outline.symbols.is_empty());
    let Some(outline) = outline else {
        // Its names were found in its text, or are its first lines.
        let text = renderer.cache.workspace.read_text(&shown.file.path).map(|(_, text)| text);
        names.retain(|name| text.as_ref().is_ok_and(|text| text.contains(name.as_str())));
        return;
    };
    let mut current = HashSet::new();
    outline.walk(|symbol, _| {
        current.insert(aggregate::row_name(symbol));
    });
    // A method may be qualified with its type.
    names.retain(|name| {
        let last = name.rsplit(['.', ':']).next().unwrap_or(name);
        current.contains(name.as_str()) || current.contains(last)
    });
}
