//! Explains why a file is shown as it is: what each routing rule decides, and what the document's limits change.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use super::gather::render_candidate;
use super::inputs::{note_ineffective_masks, resolve_focus};
use super::rendering::{base_text, base_texts, type_or_unknown};
use super::request::AggregationRequest;
use super::routing::{merged_items, route, routing};
use super::run::DocumentRun;
use crate::aggregate::{CandidateFile, Focus, RoutedView, RoutingContext, RuleVerdict};
use crate::engine::artifacts::hide;
use crate::engine::error::Error;
use crate::engine::history::{GitHistory, project_commits, with_uncommitted};
use crate::engine::index::{resolve_name, select_named};
use crate::engine::summaries::choose_summaries;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{
    ContentHash, FileType, Fragment, LinkedFolder, RankScore, RelPath, SkipReason, SummaryProvenance,
    ViewMode,
};
use crate::store::Store;
use crate::{aggregate, render};

/// Why a file is shown as it is.
#[derive(Debug, Clone)]
pub struct Explanation {
    pub path: RelPath,
    /// Its content and its size in bytes, if it has text.
    pub content: Option<(ContentHash, u64)>,
    pub file_type: Option<&'static FileType>,
    /// The encoding of its text, and other remarks in its header line.
    pub remarks: Vec<String>,
    pub left_out: Option<SkipReason>,
    pub verdicts: Vec<RuleVerdict>,
    pub routed: RoutedView,
    pub view: ViewMode,
    /// Why the view is not the one that the rules decided on.
    pub reason: Option<String>,
    /// Who wrote the summary, if the file is shown as one, and why that summary was chosen.
    pub summary: Option<(SummaryProvenance, &'static str)>,
    pub bytes: u64,
    /// Tokens of the view, as [`Explanation::counter`] counts.
    pub tokens: u64,
    /// The name of the token counter.
    pub counter: &'static str,
    /// The linked folder that it is in.
    pub linked: Option<LinkedFolder>,
    /// What the stable order knows of the file; `None` outside of git, and before the first commit.
    pub changes: Option<RecentChanges>,
    /// The tiers in which hydration has placed it or its slices.
    pub fragments: Vec<Fragment>,
    /// How the limits change the view, if there are any and the document contains the file.
    pub under_limits: Option<LimitedView>,
}

/// How a file has changed since the frozen commit, by the history of its own checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentChanges {
    /// The name of the linked checkout; `None` for the project's own.
    pub linked: Option<String>,
    /// The frozen commit.
    pub since: String,
    /// How many later commits changed the file.
    pub commits: usize,
    /// Whether the file differs from its committed version.
    pub is_uncommitted: bool,
}

impl RecentChanges {
    fn of_file(file: &KnownFile, linked: Option<&LinkedFolder>, history: &GitHistory) -> Self {
        Self {
            linked: linked.map(|linked| linked.name.clone()),
            since: history.frozen.clone(),
            commits: history.edits.get(&file.path).map_or(0, Vec::len),
            is_uncommitted: !file.tracked || history.uncommitted.contains(&file.path),
        }
    }
}

/// How the limits of a document change the view of a file.
#[derive(Debug, Clone)]
pub struct LimitedView {
    /// The view; `None` if the file does not fit.
    pub view: Option<ViewMode>,
    /// Why it is not the wanted view.
    pub reason: Option<String>,
    /// Its place among the files by rank, from 1.
    pub place: usize,
    pub files: usize,
    pub score: RankScore,
    /// Its best symbols, if they were ranked.
    pub symbols: Vec<RankedName>,
}

/// A symbol with its score.
#[derive(Debug, Clone)]
pub struct RankedName {
    pub name: String,
    /// Its lines, from 1.
    pub lines: RangeInclusive<u32>,
    pub score: RankScore,
}

/// The maximum number of symbols of a file that are explained.
const MAX_SYMBOLS: usize = 5;

impl DocumentRun<'_, '_> {
    pub(in crate::engine) fn explain(
        &mut self,
        word: &str,
        request: &AggregationRequest,
    ) -> Result<Vec<Explanation>, Error> {
        let (mut focus, items) = (Focus::new(&request.focus)?, merged_items(&self.cache.workspace, request));
        if !request.focus.is_empty() {
            let all = select_named(self.cache, &[], request.trust, &|_| false)?;
            resolve_focus(self.cache, &mut focus, &all.files, true)?;
        }
        let routing = routing(&self.cache.workspace, request, &focus, &items);
        let word = resolve_name(self.cache, word)?;
        let mut selection = select_named(self.cache, &[word], request.trust, &|_| false)?;
        let mut under_limits = self.under_limits(request)?;
        // The document that was composed for that has hidden the same symbols, in texts that are read again here.
        self.cache.workspace.hidden.clear();
        hide(self.cache, &items, &mut selection.files, &mut selection.texts);
        note_ineffective_masks(self.cache, &items, &selection.files)?;
        let commits = project_commits(self.cache, self.caches.map(|caches| &caches.commits), selection.rules);
        let history = commits.map(|commits| {
            let checkouts = commits.checkouts_of(&self.cache.workspace, &selection.files);
            with_uncommitted(&commits, &checkouts, None)
        });
        let summaries =
            choose_summaries(self.cache, self.lookup, request.tier.as_ref(), &selection.files, None);
        let mut renderer = self.renderer(&summaries, request.docs);
        let places = renderer.cache.query_store(Store::fragments).unwrap_or_default();
        let mut explanations = Vec::new();
        for file in selection.files {
            renderer.cache.workspace.check_cancelled()?;
            // A named file must exist; one that a pattern selected may have vanished since it was listed.
            if let (KnownState::LeftOut(reason @ SkipReason::Vanished), true) =
                (&file.state, selection.named.contains(&file.path))
            {
                return Err(Error::LeftOut { path: file.path, reason: *reason });
            }
            let routed = route(&file, &routing);
            let diffs = (routed.view == ViewMode::Diff).then(|| file.path.clone()).into_iter().collect();
            let mut texts = base_texts(&renderer.cache.workspace, request.base.as_deref(), diffs)?;
            let old = base_text(&renderer.cache.workspace, &mut texts, &file.path);
            let candidate = render_candidate(&mut renderer, &file, routed, &routing, None, old);
            let tokens = renderer.cache.count_tokens(&[render::block_text(&candidate.block).as_str()])[0];
            let counter = renderer.cache.workspace.options.counter.name();
            let under_limits = under_limits.remove(&file.path);
            let mut explained = explanation(&file, &routing, candidate);
            (explained.tokens, explained.counter, explained.under_limits) = (tokens, counter, under_limits);
            let of_file = places.iter().filter(|place| place.name.path == explained.path);
            let mount = renderer.cache.workspace.files.mount_of(file.path.as_bytes());
            explained.linked = mount.map(|(mount, _)| mount.linked.clone());
            let own = history.as_ref().and_then(|history| history.of_file(&file.path));
            let changes = own.map(|own| RecentChanges::of_file(&file, explained.linked.as_ref(), own));
            explained.changes = changes;
            explained.fragments = of_file.cloned().collect();
            let hidden = &renderer.cache.workspace.hidden;
            explained.content =
                explained.content.map(|(content, size)| (hidden.file_hash(&file.path, content), size));
            explanations.push(explained);
        }
        Ok(explanations)
    }

    /// Returns how the limits change each file, if there are any: the answer for one file takes fitting all of them
    /// together.
    fn under_limits(&mut self, request: &AggregationRequest) -> Result<HashMap<RelPath, LimitedView>, Error> {
        if !request.limits.is_some() {
            return Ok(HashMap::new());
        }
        // If the document cannot be composed, there is nothing to explain.
        let mut prepared = self.prepare(request)?;
        self.compose(&mut prepared, request.limits)?;
        // Packed once more, because a document does not say what was dropped and why; the memos of the first time make
        // it cheap.
        let positions: HashMap<RelPath, usize> = prepared.positions();
        let (draft, inputs) = self.pack_prepared(prepared)?;
        let Some(ranking) = inputs.ranking else { return Ok(HashMap::new()) };
        let shown = draft.files.into_iter().map(|shown| (shown.candidate, true));
        let listed = draft.listed.into_iter().map(|listed| (listed.file, true));
        let dropped = draft.dropped.into_iter().map(|shown| (shown.candidate, false));
        let mut places = vec![0; ranking.order.len()];
        for (place, at) in (1..).zip(ranking.order.iter()) {
            places[*at] = place;
        }
        let limited = shown.chain(listed).chain(dropped).filter_map(|(candidate, is_shown)| {
            let at = *positions.get(&candidate.block.path)?;
            let symbols =
                ranking.symbols.iter().filter(|symbol| symbol.file == at && !symbol.name.is_empty());
            let symbols = symbols.map(|symbol| RankedName {
                name: symbol.name.clone(),
                lines: symbol.lines.clone(),
                score: RankScore::new(symbol.score, &symbol.parts.named()),
            });
            let view = LimitedView {
                view: is_shown.then_some(candidate.block.view),
                reason: candidate.reason,
                place: places[at],
                files: places.len(),
                score: RankScore::new(ranking.scores[at].total, &ranking.scores[at].parts.named()),
                symbols: symbols.take(MAX_SYMBOLS).collect(),
            };
            Some((candidate.block.path, view))
        });
        Ok(limited.collect())
    }
}

/// Returns the explanation of a file as far as it depends on the rules.
fn explanation(file: &KnownFile, routing: &RoutingContext<'_>, candidate: CandidateFile) -> Explanation {
    let (content, file_type, left_out) = match &file.state {
        KnownState::Content { hash, file_type, facts } => (Some((*hash, facts.size)), Some(*file_type), None),
        KnownState::LeftOut(reason) => (None, None, Some(*reason)),
    };
    // With heading and fences, as a budget counts it.
    let bytes = render::block_text(&candidate.block).len() as u64;
    Explanation {
        path: file.path.clone(),
        content,
        file_type,
        remarks: candidate.block.remarks,
        left_out,
        verdicts: aggregate::explain_routing(&file.path, type_or_unknown(file), routing),
        routed: RoutedView { view: candidate.wanted, rule: candidate.rule },
        view: candidate.block.view,
        reason: candidate.reason,
        summary: candidate.block.summary.map(|by| (by.clone(), summary_reason(&by, routing))),
        bytes,
        tokens: 0,
        counter: "",
        linked: None,
        changes: None,
        fragments: Vec::new(),
        under_limits: None,
    }
}

fn summary_reason(by: &SummaryProvenance, routing: &RoutingContext<'_>) -> &'static str {
    match (by, routing.tier.map(|tier| tier.by_model)) {
        (SummaryProvenance::Model { is_outdated: false, .. }, _) => "written for this content and tier",
        (SummaryProvenance::Model { is_outdated: true, .. }, _) => {
            "written for this tier when the file's content was another, and none is for this one"
        }
        (SummaryProvenance::Heuristic, None) => "no tier is asked for",
        (SummaryProvenance::Heuristic, Some(false)) => "the tier's setting `summary` is \"heuristic\"",
        (SummaryProvenance::Heuristic, Some(true)) => "no model has written of this content for the tier",
    }
}
