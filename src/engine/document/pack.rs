//! Selects what a limited document shows of each file, and renders it.
//!
//! The unit is the symbol: of the best ones the bodies are shown, of the next ones the signatures; further files are rows
//! of names, then lines in a tree. `aggregate::pack` selects; `pack_costs` tells it what pieces cost, and `excerpts`
//! renders blocks.

use std::collections::HashMap;

use super::excerpts::{BlockMemo, BlockSelection, head_block, render_blocks};
use super::gather::{DraftDocument, ShownFile};
use super::pack_costs::{BudgetUnit, CostMemo, DraftCosts};
use super::render::Renderer;
use crate::aggregate::{
    CandidateFile, FileDemand, ListedFile, NameTree, PackInput, PackShares, PackSymbol, PackableFile,
    PackedView, Packing, RoutingContext,
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
pub(super) struct PackContext<'a> {
    pub(super) ranking: &'a ProjectRanking,
    pub(super) routing: &'a RoutingContext<'a>,
    /// Whether a task or a focus says what matters.
    pub(super) is_guided: bool,
    pub(super) unit: BudgetUnit,
    /// The blocks of the part that does not depend on the task, by the positions of their files.
    pub(super) stable: &'a HashMap<usize, DocumentBlock>,
}

/// What was found out while a document was packed: it holds for other limits too.
#[derive(Default)]
pub(super) struct PackMemo {
    costs: CostMemo,
    blocks: BlockMemo,
}

/// Selects the part of a document that is the same for every task: blocks by general ranks, and nothing that the request
/// insists on. Returns the blocks by the positions of their files.
pub(super) fn pack_stable(
    renderer: &mut Renderer<'_, '_>,
    draft: &DraftDocument,
    context: &PackContext<'_>,
    memo: &mut PackMemo,
    budget: u64,
) -> HashMap<usize, DocumentBlock> {
    let has_summaries = shows_summaries(context.routing);
    let shares = shares(context, budget);
    // Rows and paths follow at the end of the whole document.
    let shares = PackShares { signatures: 1000 - shares.bodies, names: 0, paths: 0, ..shares };
    let symbols = pack_symbols(&draft.files, context);
    let files: Vec<PackableFile> = packable_files(&draft.files, context)
        .into_iter()
        .map(|file| PackableFile { demand: FileDemand::Ranked, ..file })
        .collect();
    let mut costs = DraftCosts {
        renderer,
        files: &draft.files,
        ranking: context.ranking,
        memo: &mut memo.costs,
        unit: context.unit,
        has_summaries,
    };
    let packing =
        aggregate::pack(&PackInput { budget, shares, files: &files, symbols: &symbols }, &mut costs);
    let mut views: Vec<Option<PackedView>> = vec![None; files.len()];
    for packed in packing.files {
        views[context.ranking.order[packed.file]] = Some(packed.view);
    }
    let selections = block_selections(&views);
    render_blocks(renderer, &draft.files, &selections, context, has_summaries, &mut memo.blocks)
}

/// Returns whether a limited document decides how a file is shown.
pub(super) fn is_ranked(candidate: &CandidateFile) -> bool {
    // What has changed since an earlier document is shown as a diff before anything is selected.
    candidate.rule.is_general()
        && !matches!(candidate.wanted, ViewMode::Path | ViewMode::None)
        && candidate.block.view != ViewMode::Diff
}

/// Shows as much of the files as a budget has room for. The draft's files are in the order that the ranking speaks of.
pub(super) fn pack_draft(
    renderer: &mut Renderer<'_, '_>,
    mut draft: DraftDocument,
    context: &PackContext<'_>,
    memo: &mut PackMemo,
    budget: u64,
) -> DraftDocument {
    let files = std::mem::take(&mut draft.files);
    let has_summaries = shows_summaries(context.routing);
    let packing = {
        let symbols = pack_symbols(&files, context);
        let packable = packable_files(&files, context);
        let mut costs = DraftCosts {
            renderer,
            files: &files,
            ranking: context.ranking,
            memo: &mut memo.costs,
            unit: context.unit,
            has_summaries,
        };
        let shares = shares(context, budget);
        aggregate::pack(&PackInput { budget, shares, files: &packable, symbols: &symbols }, &mut costs)
    };
    draft.remarks.packing = Some(packing_receipt(&packing));
    let mut views: Vec<Option<PackedView>> = vec![None; files.len()];
    let mut listed_order = Vec::new();
    for packed in packing.files {
        let at = context.ranking.order[packed.file];
        if matches!(packed.view, PackedView::Names(_) | PackedView::Path) {
            listed_order.push(at);
        }
        views[at] = Some(packed.view);
    }
    let selections = block_selections(&views);
    let mut blocks = render_blocks(renderer, &files, &selections, context, has_summaries, &mut memo.blocks);
    let mut listed: HashMap<usize, ListedFile> = HashMap::new();
    for (at, (mut shown, view)) in files.into_iter().zip(views).enumerate() {
        let score = &context.ranking.scores[at];
        shown.candidate.score = Some(RankScore::of(score.total, &score.parts.named()));
        let names = match view {
            Some(PackedView::Given) => {
                if let Some(block) = context.stable.get(&at) {
                    show_as(&mut shown, block.clone());
                    shown.candidate.is_stable_part = true;
                }
                draft.files.push(shown);
                continue;
            }
            Some(PackedView::Block { .. }) => {
                if let Some(block) = blocks.remove(&at) {
                    show_as(&mut shown, block);
                    draft.files.push(shown);
                    continue;
                }
                // The file is not what it was when it was ranked: its name is right all the same.
                listed_order.push(at);
                Vec::new()
            }
            Some(PackedView::Names(count)) => {
                let names = memo.costs.names(at, count);
                if let Some(head) = memo.costs.head(at).filter(|_| names.is_empty()) {
                    let block = head_block(&shown.candidate.block, head);
                    show_as(&mut shown, block);
                    draft.files.push(shown);
                    listed_order.retain(|listed| *listed != at);
                    continue;
                }
                names
            }
            Some(PackedView::Path) => Vec::new(),
            None => {
                draft.remarks.omitted.push(omitted(&shown));
                shown.candidate.reason = Some(BUDGET_REASON.to_owned());
                draft.dropped.push(shown);
                continue;
            }
        };
        let view = if names.is_empty() { ViewMode::Path } else { ViewMode::Names };
        let block = DocumentBlock { view, ..shown.candidate.block.clone() };
        show_as(&mut shown, block);
        listed.insert(at, ListedFile { file: shown.candidate, names });
    }
    draft.listed = listed_order.iter().filter_map(|at| listed.remove(at)).collect();
    let room = draft.remarks.packing.map_or(0, |packing| packing.paths);
    let room = room + room / 4 + context.unit.tokens(TREE_SLACK).min(budget / 50);
    add_tree(&mut draft, context.unit, room);
    draft.remarks.omitted.sort_by(|a, b| a.path.cmp(&b.path));
    draft
}

/// Returns whether blocks begin with a summary, as the tiers show files that plan and distribute work.
fn shows_summaries(routing: &RoutingContext<'_>) -> bool {
    match routing.strategy {
        AggregationStrategy::Full => false,
        AggregationStrategy::Summarize => true,
        AggregationStrategy::Auto => {
            routing.tier.map_or(routing.default_mode, |tier| tier.view) == ViewMode::Summary
        }
    }
}

fn shares(context: &PackContext<'_>, budget: u64) -> PackShares {
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

fn packable_files(files: &[ShownFile], context: &PackContext<'_>) -> Vec<PackableFile> {
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

/// Returns the symbols of the files whose views are selected.
fn pack_symbols(files: &[ShownFile], context: &PackContext<'_>) -> Vec<PackSymbol> {
    let ranking = context.ranking;
    let mut places = vec![0; files.len()];
    for (place, at) in ranking.order.iter().enumerate() {
        places[*at] = place;
    }
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

fn block_selections(views: &[Option<PackedView>]) -> Vec<BlockSelection> {
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
fn show_as(shown: &mut ShownFile, block: DocumentBlock) {
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
        draft.remarks.omitted.push(OmittedFile { path: candidate.block.path, reason });
    }
}

/// A file that could not be shown anyway is left out for that reason.
fn omitted(shown: &ShownFile) -> OmittedFile {
    let reason = match &shown.file.state {
        KnownState::LeftOut(reason) => Omission::LeftOut(*reason),
        KnownState::Content { .. } => Omission::Budget { wanted: shown.candidate.wanted },
    };
    OmittedFile { path: shown.file.path.clone(), reason }
}

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
