//! Selects what a limited document shows of each file, and renders it.
//!
//! The unit is the symbol: the best ones are shown with their bodies, the next ones as signatures; further files are
//! rows of names, then lines in a tree. `aggregate::pack` selects; `costs` supplies the costs of pieces, and `excerpts`
//! renders blocks.

use std::collections::HashMap;

use rustc_hash::FxHashMap;

use super::costs::{BudgetUnit, CostMemo, DraftCosts, symbols_by_file};
use super::excerpts::{BlockMemo, BlockSelection, render_blocks};
use super::named_files::NamedFiles;
use super::placed_files::{BUDGET_REASON, StablePart, StableView, place_file, place_stable};
use crate::aggregate::{
    BodyTurn, CandidateFile, DocumentPlan, FileDemand, FilePart, ListedFile, NameTree, PackInput, PackShares,
    PackSymbol, PackableFile, PackedView, Packing, ReceiptNotes, RoutingContext,
};
use crate::engine::document::draft::{DraftDocument, ShownFile};
use crate::engine::document::rendering::Renderer;
use crate::engine::ranking::{ProjectRanking, RankedSymbol};
use crate::engine::workspace::KnownState;
use crate::model::{
    AggregationStrategy, DocumentBlock, Omission, OmittedFile, PackingReceipt, RankScore, RelPath, ViewMode,
};
use crate::{aggregate, render};

/// The minimum score of a file, multiplied by its place from the end: where no file has a score, this gives an order.
const MIN_SCORE: f64 = 1e-6;
/// A tree is selected by the cost of its lines, and has folders as well.
const TREE_SLACK: u64 = 40;
/// The document is complete if the selection leaves more than 1/`SPARE_PART` of its room.
const SPARE_PART: u64 = 10;

/// What the files of a document are selected by.
#[derive(Clone, Copy)]
pub(super) struct PackContext<'a> {
    pub(super) ranking: &'a ProjectRanking,
    pub(super) routing: &'a RoutingContext<'a>,
    /// Whether a task or a focus says what matters.
    pub(super) is_guided: bool,
    pub(super) unit: BudgetUnit,
    /// Whether images are not part of the text.
    pub(super) images_apart: bool,
    /// The files that are shown already.
    pub(super) stable: &'a StablePart,
}

/// What was found out while a document was packed; it remains valid for other limits.
#[derive(Default)]
pub(super) struct PackMemo {
    pub(in crate::engine::document) costs: CostMemo,
    pub(in crate::engine::document) blocks: BlockMemo,
    /// Whether costs were corrected when a document was last packed, so that another selection may be better.
    pub(super) is_corrected: bool,
}

/// What was found out while both parts of a document were packed.
#[derive(Default)]
pub(in crate::engine::document) struct PackMemos {
    /// For the current files.
    pub(super) current: PackMemo,
    /// For the current versions of files in the stable part.
    pub(super) changed: PackMemo,
    /// For the files as they were when scores were frozen.
    pub(super) frozen: PackMemo,
}

impl PackMemo {
    /// Records by how much blocks exceed the expected cost of their selections.
    pub(super) fn correct(
        &mut self,
        unit: BudgetUnit,
        selections: &[BlockSelection],
        blocks: &HashMap<usize, DocumentBlock>,
    ) {
        self.is_corrected = false;
        for selection in selections {
            if let Some(block) = blocks.get(&selection.file) {
                let BlockSelection { file, bodies, signatures, .. } = selection;
                self.is_corrected |= self.costs.correct(unit, *file, bodies, signatures, block.body.len());
            }
        }
    }
}

/// Returns whether a limited document decides how a file is shown.
pub(in crate::engine::document) fn is_ranked(candidate: &CandidateFile) -> bool {
    candidate.rule.is_general() && may_be_cut(candidate)
}

/// Returns whether symbols of a file may be shown in place of its wanted view.
fn may_be_cut(candidate: &CandidateFile) -> bool {
    // Changes since an earlier document, and reasons why a file cannot be shown, are shown before anything is selected.
    candidate.block.content.is_some()
        && !matches!(candidate.wanted, ViewMode::Path | ViewMode::None)
        && candidate.block.view != ViewMode::Delta
}

/// The files of a draft in the form that is selected from; it does not depend on the room.
pub(super) struct PackableDraft<'a> {
    files: &'a [ShownFile],
    /// By rank.
    pub(super) packable: Vec<PackableFile>,
    pub(in crate::engine::document) symbols: Vec<PackSymbol>,
    /// The positions of the ranked symbols of each file that has any.
    pub(super) of_files: FxHashMap<usize, Vec<usize>>,
    /// The ranks of the files, by their positions in the draft.
    pub(in crate::engine::document) ranks: Vec<usize>,
    named: NamedFiles<'a>,
}

impl<'a> PackableDraft<'a> {
    /// Takes the files in the order that the ranking refers to.
    pub(in crate::engine::document) fn new(files: &'a [ShownFile], context: &PackContext<'_>) -> Self {
        let ranks = ranks(context.ranking);
        let named = NamedFiles::from_files(files);
        Self {
            files,
            packable: packable_files(files, context),
            symbols: pack_symbols(files, context, &ranks, &named),
            of_files: symbols_by_file(context.ranking),
            ranks,
            named,
        }
    }

    /// Returns the costs of the pieces of the files.
    pub(in crate::engine::document) fn costs<'c, 'r, 'w>(
        &'c self,
        renderer: &'c mut Renderer<'r, 'w>,
        context: &PackContext<'c>,
        memo: &'c mut CostMemo,
    ) -> DraftCosts<'c, 'r, 'w> {
        DraftCosts {
            renderer,
            files: self.files,
            named: &self.named,
            ranking: context.ranking,
            memo,
            unit: context.unit,
            has_summaries: shows_summaries(context.routing),
            symbols: &self.of_files,
        }
    }

    /// Selects what is shown of each file. `has_bound` says whether a receipt will report how good the selection is.
    pub(in crate::engine::document) fn select(
        &self,
        renderer: &mut Renderer<'_, '_>,
        context: &PackContext<'_>,
        memo: &mut CostMemo,
        (budget, shares): (u64, PackShares),
        has_bound: bool,
    ) -> Packing {
        let mut costs = self.costs(renderer, context, memo);
        let (files, symbols) = (&self.packable, &self.symbols);
        let summary_room = summary_room(context);
        let input = PackInput { budget, shares, files, symbols, has_bound, summary_room };
        aggregate::pack(&input, &mut costs)
    }

    /// Shows as much of the files as a budget has room for.
    pub(in crate::engine::document) fn pack(
        &self,
        renderer: &mut Renderer<'_, '_>,
        draft: &DraftDocument,
        context: &PackContext<'_>,
        memo: &mut PackMemo,
        budget: u64,
    ) -> PackedDraft {
        let shares = shares(context, budget);
        let packing = self.select(renderer, context, &mut memo.costs, (budget, shares), true);
        let views = views_by_position(&packing, context, self.files.len());
        let mut blocks = self.render(renderer, context, memo, &views);
        let (mut files, mut listed, mut dropped) = (Vec::new(), Vec::new(), Vec::new());
        let mut shown_again = Vec::new();
        for (at, view) in views.iter().enumerate() {
            let Some(view) = view else {
                dropped.push(at);
                continue;
            };
            let mut shown = self.files[at].clone();
            shown.candidate.score = Some(score_of(context.ranking, at));
            // A selected block is missing if the file has changed since it was ranked; its name is still right.
            let block = blocks.remove(&at);
            let stable = context.stable.get(&at);
            if let Some(stable) = stable.filter(|_| block.is_some()) {
                place_stable(shown.clone(), stable).add_to(&mut shown_again);
            }
            let placed = place_file(shown, view, block, stable, at, &mut memo.costs);
            if let Some(row) = placed.add_to(&mut files) {
                let place = match context.stable.get(&at) {
                    Some(StableView::Row { part, place, .. }) => (*part, *place),
                    Some(StableView::Block(..)) | None => (FilePart::Rest, self.ranks[at]),
                };
                listed.push((place, at, row));
            }
        }
        listed.sort_by_key(|(place, ..)| *place);
        let room = packing.tokens.paths
            + packing.tokens.paths / 4
            + context.unit.tokens(TREE_SLACK).min(budget / 50);
        let tree = self.path_tree(&mut listed, &mut dropped, context.unit, room);
        let plan = DocumentPlan { tree, ..draft.plan.clone() };
        let listed = listed.into_iter().map(|(.., file)| file).collect();
        let cut = dropped.iter().map(|at| omitted(&self.files[*at]));
        let remarks = remarks_in_text(draft, cut);
        let shown = DraftDocument { plan, files, shown_again, listed, dropped: Vec::new(), remarks };
        PackedDraft { shown, dropped, packing }
    }

    /// Renders the blocks among some views, by the positions of their files, and records by how much they exceed their
    /// costs.
    fn render(
        &self,
        renderer: &mut Renderer<'_, '_>,
        context: &PackContext<'_>,
        memo: &mut PackMemo,
        views: &[Option<PackedView>],
    ) -> HashMap<usize, DocumentBlock> {
        let selections = block_selections(views);
        let has_summaries = shows_summaries(context.routing);
        let blocks =
            render_blocks(renderer, self.files, &selections, context, has_summaries, &mut memo.blocks);
        memo.correct(context.unit, &selections, &blocks);
        blocks
    }

    /// Returns the tree of the files that are shown by their paths; those that are not shown are counted in it. Paths
    /// that do not fit after all are dropped.
    fn path_tree(
        &self,
        listed: &mut Vec<((FilePart, usize), usize, ListedFile)>,
        dropped: &mut Vec<usize>,
        unit: BudgetUnit,
        room: u64,
    ) -> Option<NameTree> {
        let is_path = |file: &ListedFile| file.file.block.view == ViewMode::Path;
        let paths = listed.iter().filter(|(.., file)| is_path(file));
        let paths: Vec<&RelPath> = paths.map(|(.., file)| &file.file.block.path).collect();
        let mut hidden: Vec<&RelPath> = dropped.iter().map(|at| &self.files[*at].file.path).collect();
        hidden.sort_unstable();
        let (text, fitting) = aggregate::fit_path_tree(&paths, &hidden, room, &mut |text| unit.count(text));
        let mut paths = 0;
        listed.retain(|(_, at, file)| {
            paths += usize::from(is_path(file));
            let is_fitting = !is_path(file) || paths <= fitting;
            dropped.extend((!is_fitting).then_some(*at));
            is_fitting
        });
        (0 < fitting).then_some(NameTree { text, annotated_folders: 0 })
    }
}

/// What a draft shows within some room.
pub(in crate::engine::document) struct PackedDraft {
    /// The draft without the files that are not shown. It mentions them only as far as the document does.
    pub(super) shown: DraftDocument,
    /// The positions of the files that are not shown.
    dropped: Vec<usize>,
    packing: Packing,
}

impl PackedDraft {
    /// Returns the draft without the files that are not shown, which it mentions only as far as the document does.
    pub(in crate::engine::document) const fn shown(&self) -> &DraftDocument {
        &self.shown
    }

    /// Returns whether more room would not show more.
    pub(super) fn is_complete(&self, room: u64) -> bool {
        self.dropped.is_empty() && self.packing.tokens.total() + room / SPARE_PART < room
    }

    /// Returns the draft with the complete remarks on the files that it does not show.
    pub(in crate::engine::document) fn finish(
        self,
        draft: DraftDocument,
        ranking: &ProjectRanking,
    ) -> DraftDocument {
        let Self { mut shown, dropped, packing } = self;
        shown.remarks = draft.remarks;
        shown.remarks.packing = Some(packing_receipt(&packing));
        // Most files of a large project.
        shown.dropped.reserve_exact(dropped.len());
        shown.remarks.omitted.reserve(dropped.len());
        let mut files: Vec<Option<ShownFile>> = draft.files.into_iter().map(Some).collect();
        for at in dropped {
            let Some(mut file) = files[at].take() else { continue };
            file.candidate.score = Some(score_of(ranking, at));
            file.candidate.reason = Some(BUDGET_REASON.to_owned());
            shown.remarks.omitted.push(omitted(&file));
            shown.dropped.push(file);
        }
        shown.remarks.omitted.sort_by(|a, b| a.path.cmp(&b.path));
        shown
    }
}

/// Returns those remarks of the receipt that are written in the document. Of the files that do not fit, which may be
/// most of a project, one is enough for the note that there are some.
pub(super) fn remarks_in_text(
    draft: &DraftDocument,
    omitted: impl Iterator<Item = OmittedFile>,
) -> ReceiptNotes {
    let is_cut = |file: &OmittedFile| matches!(file.reason, Omission::Budget { .. });
    let omitted = draft.remarks.omitted.iter().cloned().chain(omitted).find(is_cut).into_iter().collect();
    ReceiptNotes { omitted, limits: draft.remarks.limits, ..ReceiptNotes::default() }
}

fn score_of(ranking: &ProjectRanking, at: usize) -> RankScore {
    let score = &ranking.scores[at];
    RankScore::new(score.total, &score.parts.named())
}

/// Returns how the files are shown, by their positions in the draft.
pub(super) fn views_by_position(
    packing: &Packing,
    context: &PackContext<'_>,
    files: usize,
) -> Vec<Option<PackedView>> {
    let mut views = vec![None; files];
    for packed in &packing.files {
        views[context.ranking.order[packed.file]] = Some(packed.view.clone());
    }
    views
}

/// Returns the ranks of the files, by their positions in the draft.
fn ranks(ranking: &ProjectRanking) -> Vec<usize> {
    let mut ranks = vec![0; ranking.order.len()];
    for (rank, at) in ranking.order.iter().enumerate() {
        ranks[*at] = rank;
    }
    ranks
}

/// Returns the maximum number of tokens of signatures in a summary, where blocks begin with one. What does not fit next
/// to the words is cut when the summary is rendered.
pub(super) fn summary_room(context: &PackContext<'_>) -> Option<u64> {
    shows_summaries(context.routing).then(|| context.unit.tokens(aggregate::MAX_SUMMARY_TOKENS))
}

/// Returns whether blocks begin with a summary, as in the tiers that plan and distribute work.
pub(super) fn shows_summaries(routing: &RoutingContext<'_>) -> bool {
    match routing.strategy {
        AggregationStrategy::Full => false,
        AggregationStrategy::Summarize => true,
        AggregationStrategy::Auto => {
            routing.tier.map_or(routing.default_mode, |tier| tier.view) == ViewMode::Summary
        }
    }
}

pub(super) fn shares(context: &PackContext<'_>, budget: u64) -> PackShares {
    let tier = context.routing.tier.map(|tier| tier.tier);
    match context.routing.strategy {
        AggregationStrategy::Auto => {
            PackShares::for_tier(tier, context.is_guided, context.unit.to_tokens(budget))
        }
        AggregationStrategy::Full => {
            PackShares { bodies: 1000, signatures: 0, names: 0, paths: 0, row_names: 3 }
        }
        AggregationStrategy::Summarize => {
            PackShares { bodies: 0, signatures: 500, names: 460, paths: 40, row_names: 2 }
        }
    }
}

fn packable_files(files: &[ShownFile], context: &PackContext<'_>) -> Vec<PackableFile> {
    let ranking = context.ranking;
    let from_end = (1..=ranking.order.len()).rev();
    let packable = ranking.order.iter().zip(from_end).map(|(at, from_end)| {
        let candidate = &files[*at].candidate;
        let cost = || context.unit.count(&render::block_text(&candidate.block));
        let demand = match candidate.rule {
            // Its room is reserved already. A task may need more of it than the block that is the same for every task.
            _ if context.stable.contains_key(at) => {
                let may_be_shown_again = context.is_guided && is_ranked(candidate);
                if may_be_shown_again { FileDemand::Shown } else { FileDemand::Binding(0) }
            }
            rule if rule.is_binding() => FileDemand::Binding(cost()),
            _ if is_ranked(candidate) => FileDemand::Ranked,
            _ => FileDemand::Curated(cost()),
        };
        #[expect(clippy::cast_precision_loss, reason = "a number of files")]
        let least = MIN_SCORE * from_end as f64;
        let turn = match (context.is_guided, candidate.block.file_type.is_program()) {
            (true, true) => BodyTurn::First,
            (true, false) | (false, true) => BodyTurn::Shared,
            (false, false) => BodyTurn::Last,
        };
        PackableFile { score: ranking.scores[*at].total.max(least), demand, turn }
    });
    packable.collect()
}

/// Returns the size of the files whose views are curated or requested.
pub(super) fn decided_size(draft: &DraftDocument, context: &PackContext<'_>) -> u64 {
    let decided = packable_files(&draft.files, context).into_iter().map(|file| match file.demand {
        FileDemand::Binding(tokens) | FileDemand::Curated(tokens) => tokens,
        FileDemand::Ranked | FileDemand::Shown => 0,
    });
    decided.sum()
}

/// Returns the symbols of the files whose views are selected.
fn pack_symbols(
    files: &[ShownFile],
    context: &PackContext<'_>,
    ranks: &[usize],
    named: &NamedFiles<'_>,
) -> Vec<PackSymbol> {
    let ranking = context.ranking;
    let symbols = ranking.symbols.iter().map(|symbol| {
        let candidate = &files[symbol.file].candidate;
        let is_pointed_to = 0.0 < symbol.parts.frame;
        let is_only_named = ranking.scores[symbol.file].is_generated()
            || named.contains(candidate, is_pointed_to)
            // Text outside of the cells of a notebook is JSON.
            || candidate.block.file_type.is_notebook() && symbol.kind.is_none();
        // A curated view that does not fit is replaced by what its rank has room for.
        let is_shown = may_be_cut(candidate) && !candidate.rule.is_binding() && !is_only_named;
        let stable = context.stable.get(&symbol.file);
        PackSymbol {
            file: ranks[symbol.file],
            score: symbol.score.max(MIN_SCORE),
            has_body: is_shown
                && stable.is_none_or(|view| context.is_guided && lacks_body(view, symbol, ranking)),
            has_signature: is_shown && stable.is_none() && symbol.signature.is_some(),
            is_pointed_to,
        }
    });
    symbols.collect()
}

/// Returns whether a file that is shown already is shown without the body of one of its symbols.
fn lacks_body(view: &StableView, symbol: &RankedSymbol, ranking: &ProjectRanking) -> bool {
    let StableView::Block(_, block) = view else { return true };
    let source = ranking.sources.get(&symbol.file);
    let body = source.and_then(|source| source.text.get(symbol.bytes.clone()));
    body.is_some_and(|body| !block.body.text().contains(body))
}

pub(super) fn block_selections(views: &[Option<PackedView>]) -> Vec<BlockSelection> {
    let blocks = views.iter().enumerate().filter_map(|(file, view)| match view {
        Some(PackedView::Block { bodies, signatures, is_whole }) => Some(BlockSelection {
            file,
            bodies: bodies.clone(),
            signatures: signatures.clone(),
            is_whole: *is_whole,
        }),
        _ => None,
    });
    blocks.collect()
}

/// A file that could not be shown anyway is left out for that reason.
fn omitted(shown: &ShownFile) -> OmittedFile {
    let reason = match &shown.file.state {
        KnownState::LeftOut(reason) => Omission::LeftOut(*reason),
        KnownState::Content { .. } => Omission::Budget { wanted: shown.candidate.wanted },
    };
    OmittedFile { path: shown.file.path.clone(), details: shown.file.details(), reason }
}

/// Returns a selection as a receipt reports it.
fn packing_receipt(packing: &Packing) -> PackingReceipt {
    PackingReceipt {
        chosen: packing.tokens.given,
        bodies: packing.tokens.bodies,
        signatures: packing.tokens.signatures,
        names: packing.tokens.names,
        paths: packing.tokens.paths,
        shortfall_percent: packing.shortfall_percent(),
    }
}
