//! Composes documents. One whose files are selected and ranked can be composed within several limits.

use std::collections::HashMap;
use std::sync::Arc;

use super::cache::DocumentCaches;
use super::delivery::{
    PendingDelivery, ReaderState, load_reader_state, reduce_to_changes, shown_fingerprints,
};
use super::fit::{assemble, fit_draft, frame_size, limit_of};
use super::focus::step_down;
use super::fragments::fragment_map;
use super::gather::{
    DraftDocument, GatheredFiles, ShownFile, document_plan, gather_files, merged_items, render_as, routing,
    summary_detail,
};
use super::known_views::{leave_out_known, restore_files_with_more, unreduced};
use super::measure::measure;
use super::overview::overview;
use super::pack::{PackContext, PackMemos};
use super::pack_costs::BudgetUnit;
use super::pack_stable::{StablePacker, StableShare};
use super::placed_files::StablePart;
use super::render::{DocumentRun, Renderer};
use super::request::AggregationRequest;
use super::select::{DocumentInputs, InputsDigest};
use super::stability::{set_hydrated_order, set_stability};
use super::symbol_counts::count_symbols;
use super::task::{ReadTask, task_problems, task_receipt};
use crate::aggregate;
use crate::aggregate::{
    CuratedItems, DocumentLimits, DocumentPlan, Focus, NameTree, ReceiptNotes, RoutingContext,
};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::history::{
    CommitCache, LogEnd, PastCommitCache, ProjectHistory, WorktreeStates, note_faults, past_commits,
    project_commits, with_uncommitted,
};
use crate::engine::index::FileSelection;
use crate::engine::ranking::{
    FrozenRankings, FrozenRequest, ProjectRanking, RankingRequest, SourceTexts, path_classes, rank_project,
};
use crate::engine::summaries::ModelSummaries;
use crate::engine::timings::AnswerStep;
use crate::engine::workspace::KnownFile;
use crate::model::{Document, FileOrder, Omission, OmittedFile, Receipt, RelPath, SkipReason};
use crate::search::{ChangeHorizon, PathClass, RankingQuery};
use crate::syntax;

/// The minimum number of tokens of a block in most documents: its heading, its path and its fences.
const LEAST_BLOCK_TOKENS: u64 = 36;

/// A document before its files are made to fit.
pub struct PreparedDocument {
    /// Every file in the view that is wanted; if there are limits, those by their names alone whose views these decide.
    draft: DraftDocument,
    inputs: ComposeInputs,
}

/// What a document is composed from, whatever its limits.
pub(super) struct ComposeInputs {
    request: AggregationRequest,
    pub(super) focus: Focus,
    pub(super) items: CuratedItems,
    pub(super) summaries: ModelSummaries,
    pub(super) history: Option<ProjectHistory>,
    reader: Option<ReaderState>,
    /// The ranks of the draft's files, if there are limits.
    pub(super) ranking: Option<ProjectRanking>,
    /// The ranks of the part that is packed first, if there is one.
    frozen: Option<(StableShare, ProjectRanking)>,
    memos: PackMemos,
}

impl ComposeInputs {
    /// Returns the linked checkout whose commits count for a file; `None` if those of the project do, or none.
    pub(super) fn linked_checkout_of(&self, path: &RelPath) -> Option<String> {
        let commits = &self.history.as_ref()?.commits;
        let name = commits.name_of(path);
        (!name.is_empty() && commits.get(name).is_some()).then(|| name.to_owned())
    }
}

impl PreparedDocument {
    /// Returns the files in the views that are wanted, and what they would be composed with.
    pub(super) fn into_parts(self) -> (DraftDocument, ComposeInputs) {
        (self.draft, self.inputs)
    }

    /// Returns the positions of the files, as a ranking speaks of them.
    pub(super) fn positions(&self) -> HashMap<RelPath, usize> {
        self.draft.files.iter().enumerate().map(|(at, shown)| (shown.file.path.clone(), at)).collect()
    }
}

impl DocumentRun<'_, '_> {
    pub(in crate::engine) fn aggregate(
        &mut self,
        request: &AggregationRequest,
    ) -> Result<(Document, Option<PendingDelivery>), Error> {
        let selected = self.select_for(request)?;
        let (document, pending, _) = self.aggregate_selected(request, selected)?;
        Ok((document, pending))
    }

    pub(in crate::engine) fn aggregate_selected(
        &mut self,
        request: &AggregationRequest,
        selected: DocumentInputs,
    ) -> Result<(Document, Option<PendingDelivery>, InputsDigest), Error> {
        let mut selected = selected;
        let files = selected.selection.files.len() as u64;
        let limit = limit_of(request.limits);
        let may_be_small = files.saturating_mul(LEAST_BLOCK_TOKENS) <= limit
            && !(request.limits.is_some() && lacks_structure(&selected.selection.files));
        if request.limits.is_ceiling && may_be_small {
            let unlimited = AggregationRequest {
                limits: DocumentLimits { is_ceiling: true, ..DocumentLimits::default() },
                exact_tokens: true,
                ..request.clone()
            };
            let composed = self.compose_selected(&unlimited, selected)?;
            if composed.0.receipt.tokens <= limit {
                return Ok(composed);
            }
            // The files were consumed by the larger document.
            selected = self.select_for(request)?;
        }
        self.compose_selected(request, selected)
    }

    fn compose_selected(
        &mut self,
        request: &AggregationRequest,
        selected: DocumentInputs,
    ) -> Result<(Document, Option<PendingDelivery>, InputsDigest), Error> {
        let (PreparedDocument { draft, mut inputs }, digest) =
            self.prepare_selected(request, selected, ChangeHorizon::Near)?;
        let (document, pending) = self.compose_within(draft, &mut inputs, request.limits)?;
        Ok((document, pending, digest))
    }

    pub(in crate::engine) fn prepare(
        &mut self,
        request: &AggregationRequest,
    ) -> Result<PreparedDocument, Error> {
        let selected = self.select_for(request)?;
        Ok(self.prepare_selected(request, selected, ChangeHorizon::Near)?.0)
    }

    pub(super) fn prepare_selected(
        &mut self,
        request: &AggregationRequest,
        selected: DocumentInputs,
        horizon: ChangeHorizon,
    ) -> Result<(PreparedDocument, InputsDigest), Error> {
        let DocumentInputs { selection, focus, sections, summaries, worktree_states, mut digest } = selected;
        digest.note_contents(&self.cache.workspace, &selection.files);
        let commits = self.caches.map(|caches| &caches.commits);
        let mut renderer = self.renderer(&summaries, request.docs);
        let items = merged_items(&renderer.cache.workspace, request);
        let routing = routing(&renderer.cache.workspace, request, &focus, &items);
        let is_limited = request.limits.is_some();
        let reader = load_reader_state(&mut renderer, request);
        let (gathered, history) = gather_with_history(
            &mut renderer,
            (commits, worktree_states.as_ref()),
            (request, reader.as_ref()),
            &routing,
            selection,
        )?;
        let listed = gathered.listed.iter().map(|(path, _)| path);
        let task = if is_limited { ReadTask::new(renderer.cache, request, listed)? } else { None };
        // A limited document lists the files that it has no room for, instead of all of them.
        let has_names = request.sections.part.has_prefix() && !is_limited;
        let has_tree = request.tier.as_ref().is_some_and(|tier| tier.tree);
        let warm = request.hydrated.as_ref().map(|places| &places.warm).filter(|warm| !warm.is_empty());
        let tree = match warm {
            Some(warm) => Some(NameTree { text: fragment_map(warm), annotated_folders: 0 }),
            None => (has_names && has_tree).then(|| {
                let listed =
                    gathered.listed.iter().map(|(path, reason)| (path, reason.map(SkipReason::name)));
                aggregate::build_name_tree(listed, &summaries.folders)
            }),
        };
        let folder_counts = (has_names && !has_tree)
            .then(|| {
                let is_counted = |file: &&OmittedFile| file.reason == Omission::NoInterest;
                let counted = gathered.left_out.iter().filter(is_counted);
                let shown = gathered.shown.iter().map(|shown| &shown.file.path);
                aggregate::count_by_folder(counted.map(|file| &file.path), shown)
            })
            .flatten();
        let plan = DocumentPlan { folder_counts, ..document_plan(request, tree, sections) };
        let remarks = ReceiptNotes {
            name: request.history.as_ref().map(|history| history.name.clone()),
            limits: request.limits,
            omitted: gathered.left_out,
            missing: gathered.missing,
            task: None,
            packing: None,
        };
        let mut draft = DraftDocument {
            plan,
            files: gathered.shown,
            shown_again: Vec::new(),
            listed: Vec::new(),
            dropped: Vec::new(),
            remarks,
        };
        if let Some(reader) = &reader {
            let mut wanted_block = |renderer: &mut Renderer<'_, '_>, shown: &ShownFile| {
                let (view, detail) = (shown.candidate.wanted, summary_detail(&routing));
                render_as(renderer, view, detail, &shown.file, &routing, (None, None)).block
            };
            reduce_to_changes(&mut renderer, &mut draft, reader, &mut wanted_block);
        }
        // Who has an earlier document has been told what the project is and which files there are: those that came or went
        // since are listed with the changes. What is WARM depends on the task.
        if draft.plan.since_last {
            draft.plan.tree = draft.plan.tree.filter(|_| warm.is_some());
            draft.plan.folder_counts = None;
        } else if request.overview && request.is_whole() && draft.plan.sections.part.has_prefix() {
            draft.plan.overview = overview(&renderer.cache.workspace, &draft.files, request.limits);
        }
        // Nothing of a project without commits is what it was at one of them, whatever is linked to it.
        let has_commits = history.as_ref().is_some_and(|history| history.commits.get("").is_some());
        // Another request is composed like a whole document, so that asked again it selects the same.
        let is_whole = !draft.plan.since_last || reader.as_ref().is_some_and(ReaderState::wants_more);
        let stable = StableShare::of(request, has_commits && is_whole);
        let (mut ranking, mut frozen) = (None, None);
        if is_limited {
            let history = history.as_ref();
            let files: Vec<&KnownFile> = draft.files.iter().map(|shown| &shown.file).collect();
            let classes = path_classes(&self.cache.workspace, &files);
            frozen =
                stable.map(|share| (share, rank_frozen(self.cache, self.caches, &files, &classes, history)));
            let known = frozen.as_ref().map(|(_, frozen)| &frozen.sources);
            let past = self.caches.map(|caches| &caches.past_commits);
            let of_draft =
                RankedDraft { task: task.as_ref(), focus: &focus, history, classes: &classes, known };
            ranking = Some(rank_draft(self.cache, past, (request, horizon), &mut draft, &of_draft));
        }
        let inputs = ComposeInputs {
            request: request.clone(),
            focus,
            items,
            summaries,
            history,
            reader,
            ranking,
            frozen,
            memos: PackMemos::default(),
        };
        Ok((PreparedDocument { draft, inputs }, digest))
    }

    pub(in crate::engine) fn compose(
        &mut self,
        prepared: &mut PreparedDocument,
        limits: DocumentLimits,
    ) -> Result<(Document, Option<PendingDelivery>), Error> {
        // The draft is kept, because a format that adds bytes has the document composed again within a smaller limit.
        self.compose_within(prepared.draft.clone(), &mut prepared.inputs, limits)
    }

    /// Decides what each file is shown as within the limits that were asked for.
    pub(super) fn pack_prepared(
        &mut self,
        prepared: PreparedDocument,
    ) -> Result<(DraftDocument, ComposeInputs), Error> {
        let PreparedDocument { draft, mut inputs } = prepared;
        let draft = self.show_within(draft, &mut inputs)?;
        Ok((draft, inputs))
    }

    fn compose_within(
        &mut self,
        mut draft: DraftDocument,
        inputs: &mut ComposeInputs,
        limits: DocumentLimits,
    ) -> Result<(Document, Option<PendingDelivery>), Error> {
        draft.remarks.limits = limits;
        let files = draft.files.iter().filter(|_| inputs.reader.is_some());
        let known: HashMap<RelPath, KnownFile> =
            files.map(|shown| (shown.file.path.clone(), shown.file.clone())).collect();
        let mut draft = self.show_within(draft, inputs)?;
        let ComposeInputs { request, focus, items, summaries, history, reader, .. } = inputs;
        let counts = self.caches.map(|caches| &caches.symbols);
        let mut renderer = self.renderer(summaries, request.docs);
        let routing = routing(&renderer.cache.workspace, request, focus, items);
        if let Some(reader) = reader.as_ref().filter(|reader| reader.wants_more()) {
            leave_out_known(&mut renderer, &mut draft, reader);
        }
        // After the budget: whether a block has changed since a commit depends on the view that the file ended up in.
        let timer = renderer.cache.workspace.steps.time(AnswerStep::Order);
        let files = draft.files.len();
        draft.files.append(&mut draft.shown_again);
        match (request.order, &request.hydrated, &history) {
            (FileOrder::Stable, Some(places), _) => {
                set_hydrated_order(&renderer.cache.workspace, &mut draft.files, places);
            }
            (FileOrder::Stable, None, Some(history)) => {
                set_stability(&mut renderer, &mut draft.files, history, summary_detail(&routing));
            }
            (FileOrder::Stable | FileOrder::Given | FileOrder::Path, _, _) => {}
        }
        draft.shown_again = draft.files.split_off(files);
        drop(timer);
        let pending = reader.as_ref().map(|reader| {
            let fingerprints = shown_fingerprints(&renderer, &draft.files);
            reader.pending_delivery(&mut renderer, &draft, &fingerprints, &known)
        });
        let counted = request.counts_symbols.then(|| count_symbols(renderer.cache, counts, &draft.files));
        let _timer = self.cache.workspace.steps.time(AnswerStep::Compose);
        let mut document = assemble(&self.cache.workspace, draft);
        if let Some(counted) = counted {
            counted.note_in(&mut document.receipt);
        }
        // A limit in tokens holds for the exact count; an estimate may be too low for some texts.
        let is_exact = request.exact_tokens || limits.tokens.is_some();
        measure(self.cache, &mut document, is_exact, request.sections.images_apart);
        check_limits(limits, &document.receipt)?;
        Ok((document, pending))
    }

    /// Decides what each file is shown as, within the draft's limits.
    fn show_within(
        &mut self,
        mut draft: DraftDocument,
        inputs: &mut ComposeInputs,
    ) -> Result<DraftDocument, Error> {
        let ComposeInputs { request, focus, items, summaries, history, reader, ranking, frozen, memos } =
            inputs;
        let mut renderer = self.renderer(summaries, request.docs);
        let limits = draft.remarks.limits;
        let Some(ranking) = ranking.as_ref().filter(|_| limits.is_some()) else { return Ok(draft) };
        let _timer = renderer.cache.workspace.steps.time(AnswerStep::Fit);
        let routing = routing(&renderer.cache.workspace, request, focus, items);
        let unit = BudgetUnit::of(limits, renderer.cache.workspace.options.counter);
        if limits.is_default {
            step_down(&mut renderer, &mut draft.files, &routing, (unit, limit_of(limits)));
        }
        let images_apart = request.sections.images_apart;
        let is_guided = request.is_guided();
        let nothing = StablePart::new();
        let current = PackContext { ranking, routing: &routing, is_guided, unit, stable: &nothing };
        let mut fit = |renderer: &mut Renderer<'_, '_>, draft: &DraftDocument| {
            let Some((share, frozen)) = frozen else {
                let frame = frame_size(renderer.cache, draft, &current, images_apart);
                return fit_draft(renderer, draft, &current, &mut memos.current, (frame, images_apart))
                    .map(|(_, packed)| packed);
            };
            // By current scores: a symbol that was added lately is likely to change again.
            let current = PackContext { is_guided: false, ..current };
            let frozen = PackContext { ranking: frozen, ..current };
            let (share, history) = (*share, history.as_ref());
            let mut packer = StablePacker { renderer, draft, current, frozen, share, history, images_apart };
            packer.fit(memos, is_guided)
        };
        // Whether the request wants more of a file than its changes is seen by what would be selected of it.
        if let Some(reader) =
            reader.as_ref().filter(|_| draft.files.iter().any(|shown| shown.unreduced.is_some()))
        {
            let packed = fit(&mut renderer, &unreduced(&draft))?;
            restore_files_with_more(&mut renderer, &mut draft, &packed.shown, reader);
        }
        Ok(fit(&mut renderer, &draft)?.finish(draft, ranking))
    }
}

/// Returns whether most programs among some files are in languages without a grammar. Their summaries say next to nothing, so
/// that a document of those is small because it is poor, and not because there is little to show.
fn lacks_structure(files: &[KnownFile]) -> bool {
    let types = files.iter().filter_map(KnownFile::file_type);
    let (with, without): (Vec<_>, Vec<_>) = types
        .filter(|file_type| file_type.is_program())
        .partition(|file_type| syntax::has_structure(file_type.id));
    with.len() < without.len()
}

/// What the files of a draft are ranked by, besides what was asked for.
struct RankedDraft<'a> {
    task: Option<&'a ReadTask<'a>>,
    focus: &'a Focus,
    history: Option<&'a ProjectHistory>,
    /// What each of the files is for.
    classes: &'a [PathClass],
    /// Texts of some of the files.
    known: Option<&'a SourceTexts>,
}

/// Ranks the files of a draft by the task, by those in focus, and by history. What was understood of the task is noted
/// for the receipt.
fn rank_draft(
    cache: &mut ArtifactCache<'_>,
    shared: Option<&PastCommitCache>,
    (request, horizon): (&AggregationRequest, ChangeHorizon),
    draft: &mut DraftDocument,
    &RankedDraft { task, focus, history, classes, known }: &RankedDraft<'_>,
) -> ProjectRanking {
    let query = task.map_or_else(RankingQuery::empty, ReadTask::query);
    // Without a task and a focus, ranks that moved with every commit would select something else after each, and a provider
    // would find little of the document before in its cache.
    let is_guided = request.is_guided();
    // Places are kept by a rule of their own, and files that were moved since the frozen commit have no history in it.
    let is_frozen = !is_guided && horizon == ChangeHorizon::Near;
    let end = if is_frozen { LogEnd::Frozen } else { LogEnd::Head };
    let past =
        history.map_or_else(Arc::default, |history| past_commits(cache, shared, &history.commits, end));
    let files: Vec<&KnownFile> = draft.files.iter().map(|shown| &shown.file).collect();
    let in_focus = |path: &_| focus.lines(path).is_some();
    let ranking = RankingRequest {
        query: &query,
        in_focus: &in_focus,
        past: &past,
        horizon,
        frozen_at: None,
        room: Some(room_of(cache, request.limits)),
        known,
        classes,
    };
    let ranking = rank_project(cache, &ranking, &files);
    if let Some(task) = task {
        draft.remarks.task = Some(task_receipt(task, &ranking));
        // Where the reader has everything, there is nothing that could match.
        if !draft.files.is_empty() {
            draft.plan.sections.problems.extend(task_problems(task, &ranking));
        }
    }
    ranking
}

/// Returns about how many tokens a document may have.
fn room_of(cache: &ArtifactCache<'_>, limits: DocumentLimits) -> u64 {
    BudgetUnit::of(limits, cache.workspace.options.counter).to_tokens(limit_of(limits))
}

/// Ranks files as they were at the frozen commit, without regard to the task and the files in focus.
fn rank_frozen(
    cache: &mut ArtifactCache<'_>,
    caches: Option<&DocumentCaches>,
    files: &[&KnownFile],
    classes: &[PathClass],
    history: Option<&ProjectHistory>,
) -> ProjectRanking {
    let shared = caches.map(|caches| &caches.past_commits);
    let past = history
        .map_or_else(Arc::default, |history| past_commits(cache, shared, &history.commits, LogEnd::Frozen));
    let unkept = FrozenRankings::default();
    let rankings = caches.map_or(&unkept, |caches| &caches.rankings);
    rankings.rank(cache, &FrozenRequest { files, classes, history, past: &past })
}

/// Renders each of the files, and asks git for their history if the order depends on it.
fn gather_with_history(
    renderer: &mut Renderer<'_, '_>,
    (shared, states): (Option<&CommitCache>, Option<&WorktreeStates>),
    (request, reader): (&AggregationRequest, Option<&ReaderState>),
    routing: &RoutingContext<'_>,
    selection: FileSelection,
) -> Result<(GatheredFiles, Option<ProjectHistory>), Error> {
    // Limits need it too: recent changes make a file more important. A hydrated document has the order of its places.
    let is_ordered = request.order == FileOrder::Stable && request.hydrated.is_none();
    let has_history = is_ordered || request.limits.is_some();
    let commits = if has_history { project_commits(renderer.cache, shared, selection.rules) } else { None };
    // Of a checkout that no file is in, nothing is asked.
    let checkouts = commits
        .as_ref()
        .map_or_else(Vec::new, |commits| commits.checkouts_of(&renderer.cache.workspace, &selection.files));
    let (gathered, history) = std::thread::scope(|scope| {
        // Git finds out what is not committed while the files are rendered.
        let (checkouts, shared) = (&checkouts, shared.zip(states));
        let history =
            commits.as_ref().map(|commits| scope.spawn(move || with_uncommitted(commits, checkouts, shared)));
        let has_prefix = request.sections.part.has_prefix();
        let gathered = if has_prefix {
            let _timer = renderer.cache.workspace.steps.time(AnswerStep::Render);
            let is_followed = |path: &RelPath| reader.is_some_and(|reader| reader.follows(path));
            gather_files(renderer, request, routing, selection, &is_followed)
        } else {
            Ok(GatheredFiles::default())
        };
        let history =
            history.map(|history| history.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (gathered, history)
    });
    note_faults(&mut renderer.cache.workspace, &checkouts);
    Ok((gathered?, history))
}

/// The document as it is written has the last word on its size.
fn check_limits(limits: DocumentLimits, receipt: &Receipt) -> Result<(), Error> {
    match (limits.tokens, limits.bytes) {
        (Some(budget), _) if budget < receipt.tokens => {
            Err(Error::OverBudget { tokens: receipt.tokens, budget })
        }
        (_, Some(limit)) if limit < receipt.bytes => Err(Error::OverSize { bytes: receipt.bytes, limit }),
        (_, _) => Ok(()),
    }
}
