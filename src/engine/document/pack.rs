//! Selects what a limited document shows of each file, and renders it.
//!
//! The unit is the symbol: of the best ones the bodies are shown, of the next ones the signatures; further files are rows
//! of names, then lines in a tree. `aggregate::pack` selects; `pack_costs` supplies the costs of pieces, and `excerpts`
//! renders blocks.

use std::collections::HashMap;

use super::excerpts::{BlockMemo, BlockSelection, head_block, render_blocks};
use super::gather::{DraftDocument, ShownFile};
use super::pack_costs::{BudgetUnit, CostMemo, DraftCosts, symbols_by_file};
use super::render::Renderer;
use crate::aggregate::{
    CandidateFile, FileDemand, FilePart, ListedFile, NameTree, PackInput, PackShares, PackSymbol,
    PackableFile, PackedView, Packing, RoutingContext,
};
use crate::engine::ranking::ProjectRanking;
use crate::engine::workspace::KnownState;
use crate::model::{
    AggregationStrategy, DocumentBlock, Omission, OmittedFile, PackingReceipt, RankScore, RelPath,
    RoutingRule, Tier, ViewMode,
};
use crate::{aggregate, render};

/// Why a file is shown in another view than wanted.
pub(super) const BUDGET_REASON: &str = "to keep within the budget";
/// The least that a file counts, times its place from the end: where nothing speaks for any file, some order decides.
const LEAST_SCORE: f64 = 1e-6;
/// A tree is selected by what its lines cost, and has folders besides.
const TREE_SLACK: u64 = 40;

/// What the files of a document are selected by.
#[derive(Clone, Copy)]
pub(super) struct PackContext<'a> {
    pub(super) ranking: &'a ProjectRanking,
    pub(super) routing: &'a RoutingContext<'a>,
    /// Whether a task or a focus says what matters.
    pub(super) is_guided: bool,
    pub(super) unit: BudgetUnit,
    /// What is shown already.
    pub(super) stable: &'a StablePart,
}

/// What was found out while a document was packed: it holds for other limits too.
#[derive(Default)]
pub(super) struct PackMemo {
    pub(super) costs: CostMemo,
    pub(super) blocks: BlockMemo,
    /// Whether costs were corrected when a document was last packed, so that another selection may be better.
    pub(super) is_corrected: bool,
}

/// How a file is shown in the parts of a document that are packed first.
pub(super) enum StableView {
    Block(FilePart, DocumentBlock),
    Row {
        part: FilePart,
        /// Its place among the rows of its part.
        place: usize,
        names: Vec<String>,
    },
}

/// The parts of a document that are packed first, by the positions of the files. They are the same for every task, and
/// after a commit everything in them but the blocks of the files that it changed.
pub(super) type StablePart = HashMap<usize, StableView>;

/// Returns whether a limited document decides how a file is shown.
pub(super) fn is_ranked(candidate: &CandidateFile) -> bool {
    // What has changed since an earlier document is shown before anything is selected.
    candidate.rule.is_general()
        && !matches!(candidate.wanted, ViewMode::Path | ViewMode::None)
        && candidate.block.view != ViewMode::Delta
}

/// Shows as much of the files as a budget has room for, and returns also what was selected. The draft's files are in the
/// order that the ranking speaks of.
pub(super) fn pack_draft(
    renderer: &mut Renderer<'_, '_>,
    mut draft: DraftDocument,
    context: &PackContext<'_>,
    memo: &mut PackMemo,
    budget: u64,
) -> (DraftDocument, Packing) {
    let files = std::mem::take(&mut draft.files);
    let packable = packable_files(&files, context);
    let shares = shares(context, budget);
    let packing = select(renderer, &files, &packable, context, &mut memo.costs, (budget, shares), true);
    let receipt = packing_receipt(&packing);
    draft.remarks.packing = Some(receipt);
    let views = views_by_position(&packing, context, files.len());
    let has_summaries = shows_summaries(context.routing);
    let selections = block_selections(&views);
    let mut blocks = render_blocks(renderer, &files, &selections, context, has_summaries, &mut memo.blocks);
    memo.is_corrected = false;
    for selection in &selections {
        if let Some(block) = blocks.get(&selection.file) {
            let selected = (selection.bodies.as_slice(), selection.signatures.as_slice());
            let bytes = block.body.len();
            memo.is_corrected |= memo.costs.correct(context.unit, selection.file, selected, bytes);
        }
    }
    let places = places(context.ranking);
    let mut listed: Vec<((FilePart, usize), ListedFile)> = Vec::new();
    for (at, (mut shown, view)) in files.into_iter().zip(views).enumerate() {
        let score = &context.ranking.scores[at];
        shown.candidate.score = Some(RankScore::of(score.total, &score.parts.named()));
        // A chosen block is missing if the file is not what it was when it was ranked: its name is right all the same.
        let block = blocks.remove(&at);
        match place_file(shown, view.as_ref(), block, context.stable.get(&at), (at, &memo.costs)) {
            PlacedFile::Block(shown) => draft.files.push(shown),
            PlacedFile::Listed(file) => {
                let place = match context.stable.get(&at) {
                    Some(StableView::Row { part, place, .. }) => (*part, *place),
                    Some(StableView::Block(..)) | None => (FilePart::Rest, places[at]),
                };
                listed.push((place, file));
            }
            PlacedFile::Dropped(shown) => {
                draft.remarks.omitted.push(omitted(&shown));
                draft.dropped.push(shown);
            }
        }
    }
    listed.sort_by_key(|(place, _)| *place);
    draft.listed = listed.into_iter().map(|(_, file)| file).collect();
    let room = receipt.paths + receipt.paths / 4 + context.unit.tokens(TREE_SLACK).min(budget / 50);
    add_tree(&mut draft, context.unit, room);
    draft.remarks.omitted.sort_by(|a, b| a.path.cmp(&b.path));
    (draft, packing)
}

/// Selects what is shown of each file. `has_bound` says whether a receipt is to say how good the selection is.
pub(super) fn select(
    renderer: &mut Renderer<'_, '_>,
    files: &[ShownFile],
    packable: &[PackableFile],
    context: &PackContext<'_>,
    memo: &mut CostMemo,
    (budget, shares): (u64, PackShares),
    has_bound: bool,
) -> Packing {
    let symbols = pack_symbols(files, context);
    let mut costs = draft_costs(renderer, files, context, memo);
    let input = PackInput { budget, shares, files: packable, symbols: &symbols, has_bound };
    aggregate::pack(&input, &mut costs)
}

pub(super) fn draft_costs<'a, 'r, 'w>(
    renderer: &'a mut Renderer<'r, 'w>,
    files: &'a [ShownFile],
    context: &PackContext<'a>,
    memo: &'a mut CostMemo,
) -> DraftCosts<'a, 'r, 'w> {
    DraftCosts {
        symbols: symbols_by_file(context.ranking),
        renderer,
        files,
        ranking: context.ranking,
        memo,
        unit: context.unit,
        has_summaries: shows_summaries(context.routing),
    }
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

/// Returns the places of the files by rank, by their positions in the draft.
pub(super) fn places(ranking: &ProjectRanking) -> Vec<usize> {
    let mut places = vec![0; ranking.order.len()];
    for (place, at) in ranking.order.iter().enumerate() {
        places[*at] = place;
    }
    places
}

/// Where a file is in a document.
pub(super) enum PlacedFile {
    Block(ShownFile),
    Listed(ListedFile),
    Dropped(ShownFile),
}

/// Puts a file where its view belongs. `block` is what was rendered for it, `stable` how the part that is packed first
/// shows it.
fn place_file(
    mut shown: ShownFile,
    view: Option<&PackedView>,
    block: Option<DocumentBlock>,
    stable: Option<&StableView>,
    (at, costs): (usize, &CostMemo),
) -> PlacedFile {
    let names = match view {
        None => {
            shown.candidate.reason = Some(BUDGET_REASON.to_owned());
            return PlacedFile::Dropped(shown);
        }
        Some(PackedView::Given) => {
            return match stable {
                Some(stable) => place_stable(shown, stable),
                None => PlacedFile::Block(shown),
            };
        }
        Some(PackedView::Names(count)) => costs.names(at, *count),
        Some(PackedView::Block { .. } | PackedView::Path) => Vec::new(),
    };
    let has_row = matches!(view, Some(PackedView::Names(_)));
    let head = costs.head(at).filter(|_| has_row && names.is_empty());
    let block = block.or_else(|| head.map(|head| head_block(&shown.candidate.block, head)));
    if let Some(block) = block {
        show_as(&mut shown, block);
        return PlacedFile::Block(shown);
    }
    list(shown, names)
}

/// Puts a file where the part that is packed first shows it.
pub(super) fn place_stable(mut shown: ShownFile, view: &StableView) -> PlacedFile {
    match view {
        StableView::Block(part, block) => {
            shown.candidate.part = *part;
            show_as(&mut shown, block.clone());
            PlacedFile::Block(shown)
        }
        StableView::Row { part, names, .. } => {
            shown.candidate.part = *part;
            list(shown, names.clone())
        }
    }
}

/// Lists a file by the names of its symbols, or by its path where it has none.
fn list(mut shown: ShownFile, names: Vec<String>) -> PlacedFile {
    let view = if names.is_empty() { ViewMode::Path } else { ViewMode::Names };
    let row = DocumentBlock { view, ..shown.candidate.block.clone() };
    show_as(&mut shown, row);
    PlacedFile::Listed(ListedFile { file: shown.candidate, names })
}

/// Returns whether blocks begin with a summary, as the tiers show files that plan and distribute work.
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
    let tokens = context.unit.to_tokens(budget);
    let tier = context.routing.tier.map(|tier| tier.tier);
    match context.routing.strategy {
        AggregationStrategy::Auto => PackShares::for_tier(tier, context.is_guided, tokens),
        AggregationStrategy::Full => {
            PackShares { bodies: 1000, signatures: 0, names: 0, paths: 0, row_names: 3 }
        }
        AggregationStrategy::Summarize => PackShares {
            bodies: 0,
            ..PackShares::for_tier(Some(Tier::Orchestrator), context.is_guided, tokens)
        },
    }
}

pub(super) fn packable_files(files: &[ShownFile], context: &PackContext<'_>) -> Vec<PackableFile> {
    let ranking = context.ranking;
    let from_end = (1..=ranking.order.len()).rev();
    let packable = ranking.order.iter().zip(from_end).map(|(at, from_end)| {
        let candidate = &files[*at].candidate;
        let cost = || context.unit.count(&render::block_text(&candidate.block));
        let demand = match candidate.rule {
            // It has its room already.
            _ if context.stable.contains_key(at) => FileDemand::Binding(0),
            rule if rule.is_binding() => FileDemand::Binding(cost()),
            _ if is_ranked(candidate) => FileDemand::Ranked,
            _ => FileDemand::Curated(cost()),
        };
        #[expect(clippy::cast_precision_loss, reason = "a number of files")]
        let least = LEAST_SCORE * from_end as f64;
        PackableFile { score: ranking.scores[*at].total.max(least), demand }
    });
    packable.collect()
}

/// Returns what the files take whose views a person or the request decided on.
pub(super) fn decided_size(draft: &DraftDocument, context: &PackContext<'_>) -> u64 {
    let decided = packable_files(&draft.files, context).into_iter().map(|file| match file.demand {
        FileDemand::Binding(tokens) | FileDemand::Curated(tokens) => tokens,
        FileDemand::Ranked => 0,
    });
    decided.sum()
}

/// Returns the symbols of the files whose views are selected.
pub(super) fn pack_symbols(files: &[ShownFile], context: &PackContext<'_>) -> Vec<PackSymbol> {
    let ranking = context.ranking;
    let places = places(ranking);
    let symbols = ranking.symbols.iter().map(|symbol| {
        let candidate = &files[symbol.file].candidate;
        // The lines of a notebook are JSON, so that its symbols are only named.
        let is_notebook = candidate.block.file_type.id == "notebook";
        let is_shown = is_ranked(candidate) && !is_notebook && !context.stable.contains_key(&symbol.file);
        PackSymbol {
            file: places[symbol.file],
            score: symbol.score.max(LEAST_SCORE),
            has_body: is_shown,
            has_signature: is_shown && symbol.signature.is_some(),
        }
    });
    symbols.collect()
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

/// Shows a file as a block, and says why if it is not the wanted one.
pub(super) fn show_as(shown: &mut ShownFile, block: DocumentBlock) {
    let candidate = &mut shown.candidate;
    if block.view != candidate.wanted && candidate.rule != RoutingRule::Gone {
        candidate.reason = Some(match candidate.reason.take() {
            Some(earlier) => format!("{earlier}; then {BUDGET_REASON}"),
            None => BUDGET_REASON.to_owned(),
        });
    }
    candidate.block = block;
}

/// Adds the tree of the files that are shown by their paths; those that are not shown are counted in it.
fn add_tree(draft: &mut DraftDocument, unit: BudgetUnit, room: u64) {
    let is_path = |listed: &&ListedFile| listed.file.block.view == ViewMode::Path;
    let shown: Vec<&RelPath> =
        draft.listed.iter().filter(is_path).map(|listed| &listed.file.block.path).collect();
    let mut hidden: Vec<&RelPath> = draft.dropped.iter().map(|shown| &shown.file.path).collect();
    hidden.sort_unstable();
    let (text, fitting) = aggregate::fit_path_tree(&shown, &hidden, room, &mut |text| unit.count(text));
    draft.plan.tree = (0 < fitting).then_some(NameTree { text, annotated_folders: 0 });
    // What has no room after all is left out.
    let mut paths = 0;
    let mut rest = Vec::new();
    draft.listed.retain(|listed| {
        if listed.file.block.view != ViewMode::Path {
            return true;
        }
        paths += 1;
        if fitting < paths {
            rest.push(listed.file.clone());
        }
        paths <= fitting
    });
    for candidate in rest {
        let reason = Omission::Budget { wanted: candidate.wanted };
        let details = candidate.details;
        draft.remarks.omitted.push(OmittedFile { path: candidate.block.path, details, reason });
    }
}

/// A file that could not be shown anyway is left out for that reason.
fn omitted(shown: &ShownFile) -> OmittedFile {
    let reason = match &shown.file.state {
        KnownState::LeftOut(reason) => Omission::LeftOut(*reason),
        KnownState::Content { .. } => Omission::Budget { wanted: shown.candidate.wanted },
    };
    OmittedFile { path: shown.file.path.clone(), details: shown.file.details(), reason }
}

/// Returns what a receipt says of a selection, but for how good it is: to find that out takes longer than selecting, and
/// most selections of a document are replaced by the next one.
const fn packing_receipt(packing: &Packing) -> PackingReceipt {
    PackingReceipt {
        chosen: packing.tokens.given,
        bodies: packing.tokens.bodies,
        signatures: packing.tokens.signatures,
        names: packing.tokens.names,
        paths: packing.tokens.paths,
        shortfall_percent: 0,
    }
}
