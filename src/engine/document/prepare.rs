//! Prepares documents: gathers their files and ranks them, before a limit is applied.

use std::collections::HashMap;
use std::sync::Arc;

use super::cache::DocumentCaches;
use super::delivery::{ReaderState, load_reader_state, reduce_to_changes};
use super::draft::{DraftDocument, GatheredFiles, ShownFile};
use super::gather::{WantedView, gather_files, render_as};
use super::inputs::{DocumentInputs, InputsDigest, ParsedTask, task_problems, task_receipt};
use super::overview::overview;
use super::packing::{BudgetUnit, PackMemos, StableRanking, StableShare, limit_of};
use super::rendering::Renderer;
use super::request::AggregationRequest;
use super::routing::{merged_items, routing, summary_detail};
use super::run::DocumentRun;
use crate::aggregate::{CuratedItems, Focus, RoutingContext};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::history::{
    CommitCache, FrozenContent, LogEnd, PastCommits, ProjectHistory, WorktreeStates, note_faults,
    past_commits, project_commits, with_uncommitted,
};
use crate::engine::index::FileSelection;
use crate::engine::ranking::{
    FrozenRankings, FrozenRequest, ProjectRanking, RankingRequest, SourceCache, path_classes, rank_project,
};
use crate::engine::summaries::ModelSummaries;
use crate::engine::timings::AnswerStep;
use crate::engine::workspace::{KnownFile, Workspace};
use crate::model::{FileOrder, RelPath, in_parallel};
use crate::search::{ChangeHorizon, PathClass, RankingQuery};

/// A document before its files are made to fit.
pub struct PreparedDocument {
    /// Each file in its wanted view; with limits, files whose views these decide are only named.
    pub(super) draft: DraftDocument,
    pub(super) inputs: ComposeInputs,
}

/// The inputs of a document that do not depend on its limits.
pub(super) struct ComposeInputs {
    pub(super) request: AggregationRequest,
    pub(super) focus: Focus,
    pub(super) items: CuratedItems,
    pub(super) summaries: ModelSummaries,
    pub(super) history: Option<ProjectHistory>,
    pub(super) reader: Option<ReaderState>,
    /// The ranks of the draft's files, if there are limits.
    pub(super) ranking: Option<ProjectRanking>,
    /// What the stable part is packed by, if there is one.
    pub(super) stable: Option<StableRanking>,
    pub(super) memos: PackMemos,
}

impl ComposeInputs {
    /// Returns the linked checkout whose commits count for a file; `None` if those of the project count, or none do.
    pub(super) fn linked_checkout_of(&self, path: &RelPath) -> Option<String> {
        let commits = &self.history.as_ref()?.commits;
        let name = commits.name_of(path);
        (!name.is_empty() && commits.get(name).is_some()).then(|| name.to_owned())
    }
}

impl PreparedDocument {
    /// Returns the files in their wanted views, and the other inputs.
    pub(super) fn into_parts(self) -> (DraftDocument, ComposeInputs) {
        (self.draft, self.inputs)
    }

    /// Returns the positions that a ranking refers to the files by.
    pub(super) fn positions(&self) -> HashMap<RelPath, usize> {
        self.draft.files.iter().enumerate().map(|(at, shown)| (shown.file.path.clone(), at)).collect()
    }
}

impl DocumentRun<'_, '_> {
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
        let (caches, states) = (self.caches, worktree_states.as_ref());
        let mut renderer = self.renderer(&summaries, request.docs);
        let items = merged_items(&renderer.cache.workspace, request);
        let routing = routing(&renderer.cache.workspace, request, &focus, &items);
        let reader = load_reader_state(&mut renderer, caches, request);
        let gathering = GatherInputs {
            request,
            routing: &routing,
            reader: reader.as_ref(),
            commits: caches.map(|caches| &caches.commits),
            states,
        };
        let (gathered, history) = gathering.gather(&mut renderer, selection)?;
        let listed = gathered.listed.iter().map(|(path, _)| path);
        let is_limited = request.limits.is_some();
        let task = if is_limited { ParsedTask::new(renderer.cache, request, listed)? } else { None };
        let mut draft = DraftDocument::new(request, gathered, sections, &summaries.folders);
        if let Some(reader) = &reader {
            let mut wanted_block = |renderer: &mut Renderer<'_, '_>, shown: &ShownFile| {
                let wanted = WantedView::new(shown.candidate.wanted, summary_detail(&routing));
                render_as(renderer, &shown.file, &routing, wanted).block
            };
            reduce_to_changes(&mut renderer, &mut draft, reader, &mut wanted_block);
        }
        introduce_project(&renderer.cache.workspace, request, &mut draft);
        let (mut ranking, mut stable) = (None, None);
        if is_limited {
            let share = stable_share(request, history.as_ref(), reader.as_ref(), &draft);
            let files: Vec<&KnownFile> = draft.files.iter().map(|shown| &shown.file).collect();
            let classes = path_classes(&self.cache.workspace, &files);
            let own = SourceCache::default();
            let trusted = caches.filter(|_| !self.cache.workspace.paranoid);
            let sources = trusted.map_or(&own, |caches| &caches.sources);
            let rank = RankInputs {
                request,
                horizon,
                task: task.as_ref(),
                focus: &focus,
                history: history.as_ref(),
                files: &files,
                classes: &classes,
                caches,
                sources,
            };
            stable = share.map(|share| rank.stable(self.cache, share));
            let current = rank.current(self.cache);
            if let Some(task) = &task {
                note_task(&mut draft, task, &current);
            }
            ranking = Some(current);
        }
        let request = request.clone();
        let memos = PackMemos::default();
        let inputs =
            ComposeInputs { request, focus, items, summaries, history, reader, ranking, stable, memos };
        Ok((PreparedDocument { draft, inputs }, digest))
    }
}

/// What decides which files are shown, and how.
struct GatherInputs<'a> {
    request: &'a AggregationRequest,
    routing: &'a RoutingContext<'a>,
    reader: Option<&'a ReaderState>,
    /// The commits that the documents of a process share.
    commits: Option<&'a CommitCache>,
    states: Option<&'a WorktreeStates>,
}

impl GatherInputs<'_> {
    /// Renders each of the files, and gets their history from git if the order depends on it.
    fn gather(
        &self,
        renderer: &mut Renderer<'_, '_>,
        selection: FileSelection,
    ) -> Result<(GatheredFiles, Option<ProjectHistory>), Error> {
        let Self { request, routing, reader, commits: shared, states } = *self;
        // Limits need the history too: recent changes make a file more important. A hydrated document has the order of
        // its places.
        let is_ordered = request.order == FileOrder::Stable && request.hydrated.is_none();
        let has_history = is_ordered || request.limits.is_some();
        let commits =
            if has_history { project_commits(renderer.cache, shared, selection.rules) } else { None };
        // Only the checkouts that contain any of the files are queried.
        let checkouts = commits.as_ref().map_or_else(Vec::new, |commits| {
            commits.checkouts_of(&renderer.cache.workspace, &selection.files)
        });
        let gather = || {
            if !request.sections.part.has_prefix() {
                return Ok(GatheredFiles::default());
            }
            let _timer = renderer.cache.workspace.steps.time(AnswerStep::Render);
            let is_followed = |path: &RelPath| reader.is_some_and(|reader| reader.follows(path));
            gather_files(renderer, request, routing, selection, &is_followed)
        };
        let (history, gathered) = match &commits {
            None => (None, gather()),
            // Git determines uncommitted changes while the files are rendered.
            Some(commits) => {
                let history = || with_uncommitted(commits, &checkouts, shared.zip(states));
                let (history, gathered) = in_parallel(history, gather);
                (Some(history), gathered)
            }
        };
        note_faults(&mut renderer.cache.workspace, &checkouts);
        Ok((gathered?, history))
    }
}

/// Adds an overview of the project for a new reader. A reader with an earlier document has that, and the list of files:
/// those added or removed since are listed with the changes. The WARM fragments depend on the task.
fn introduce_project(workspace: &Workspace<'_>, request: &AggregationRequest, draft: &mut DraftDocument) {
    let plan = &mut draft.plan;
    if plan.since_last {
        let is_map = request.hydrated.as_ref().is_some_and(|places| !places.warm.is_empty());
        plan.tree = plan.tree.take().filter(|_| is_map);
        plan.folder_counts = None;
    } else if request.overview && request.is_whole() && plan.sections.part.has_prefix() {
        plan.overview = overview(workspace, &draft.files, request.limits);
    }
}

/// Returns how much of a document is packed first so that it stays the same; `None` if nothing is.
fn stable_share(
    request: &AggregationRequest,
    history: Option<&ProjectHistory>,
    reader: Option<&ReaderState>,
    draft: &DraftDocument,
) -> Option<StableShare> {
    // Without commits of its own, a project has no earlier state, regardless of linked folders.
    let has_commits = history.is_some_and(|history| history.commits.get("").is_some());
    // A request other than the last one is composed like a whole document, so that it selects the same when repeated.
    let is_whole = !draft.plan.since_last || reader.is_some_and(ReaderState::wants_more);
    StableShare::for_request(request, has_commits && is_whole)
}

/// What the files of a draft are ranked by.
struct RankInputs<'a> {
    request: &'a AggregationRequest,
    horizon: ChangeHorizon,
    task: Option<&'a ParsedTask<'a>>,
    focus: &'a Focus,
    history: Option<&'a ProjectHistory>,
    files: &'a [&'a KnownFile],
    /// The class of each file.
    classes: &'a [PathClass],
    caches: Option<&'a DocumentCaches>,
    /// Texts that are not read again.
    sources: &'a SourceCache,
}

impl RankInputs<'_> {
    /// Ranks the files by the task, by those in focus and by history.
    fn current(&self, cache: &mut ArtifactCache<'_>) -> ProjectRanking {
        let query = self.task.map_or_else(RankingQuery::empty, ParsedTask::query);
        // Without a task or a focus, ranks that changed with every commit would select something else after each, and a
        // provider would find little of the previous document in its cache. Hydration keeps places by its own rule, and
        // files that were moved since the frozen commit have no history there.
        let is_frozen = !self.request.is_guided() && self.horizon == ChangeHorizon::Near;
        let past = self.past(cache, if is_frozen { LogEnd::Frozen } else { LogEnd::Head });
        let in_focus = |path: &_| self.focus.lines(path).is_some();
        let (limits, counter) = (self.request.limits, cache.workspace.options.counter);
        let ranking = RankingRequest {
            query: &query,
            in_focus: &in_focus,
            past: &past,
            horizon: self.horizon,
            frozen_at: None,
            room: Some(BudgetUnit::for_limits(limits, counter).to_tokens(limit_of(limits))),
            kept: self.sources,
            classes: self.classes,
        };
        rank_project(cache, &ranking, self.files)
    }

    /// Ranks the files regardless of the task and the focus.
    fn stable(&self, cache: &mut ArtifactCache<'_>, share: StableShare) -> StableRanking {
        let frozen = self.frozen(cache);
        let changed = self.task.map(|_| self.changed_since(cache, &frozen));
        StableRanking { share, frozen, changed }
    }

    /// Ranks the symbols of the files that may have changed since the frozen commit, in their current versions.
    fn changed_since(&self, cache: &mut ArtifactCache<'_>, frozen: &ProjectRanking) -> ProjectRanking {
        let past = self.past(cache, LogEnd::Frozen);
        let has_changed = |at: &usize| {
            let content = self.history.map(|history| history.frozen_content(self.files[*at]));
            content.is_some_and(|content| content != FrozenContent::Current)
        };
        let mut changed: Vec<usize> = frozen.sources.keys().copied().filter(has_changed).collect();
        changed.sort_unstable();
        let files: Vec<&KnownFile> = changed.iter().map(|at| self.files[*at]).collect();
        let classes: Vec<PathClass> = changed.iter().map(|at| self.classes[*at]).collect();
        let request = RankingRequest {
            query: &RankingQuery::empty(),
            in_focus: &|_| false,
            past: &past,
            horizon: ChangeHorizon::Near,
            frozen_at: None,
            room: None,
            kept: self.sources,
            classes: &classes,
        };
        rank_project(cache, &request, &files).within(frozen, &changed)
    }

    /// Ranks the files as they were at the frozen commit.
    fn frozen(&self, cache: &mut ArtifactCache<'_>) -> ProjectRanking {
        let past = self.past(cache, LogEnd::Frozen);
        let unkept = FrozenRankings::default();
        let rankings = self.caches.map_or(&unkept, |caches| &caches.rankings);
        let Self { files, classes, history, sources: kept, .. } = *self;
        rankings.rank(cache, &FrozenRequest { files, classes, history, past: &past, kept })
    }

    fn past(&self, cache: &mut ArtifactCache<'_>, end: LogEnd) -> Arc<PastCommits> {
        let shared = self.caches.map(|caches| &caches.past_commits);
        self.history.map_or_else(Arc::default, |history| past_commits(cache, shared, &history.commits, end))
    }
}

/// Adds to the receipt what was understood of a task.
fn note_task(draft: &mut DraftDocument, task: &ParsedTask<'_>, ranking: &ProjectRanking) {
    draft.remarks.task = Some(task_receipt(task, ranking));
    // If the reader has everything, there is nothing that could match.
    if !draft.files.is_empty() {
        draft.plan.sections.problems.extend(task_problems(task, ranking));
    }
}
