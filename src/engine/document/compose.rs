//! Composes documents. One whose files are read and rendered can be fitted into several limits.

use super::delivery::{PendingDelivery, ReaderState, load_reader_state, reduce_to_changes};
use super::fit::{by_importance, fit, measure};
use super::gather::{
    DraftDocument, GatheredFiles, document_plan, gather_files, merged_items, routing, summary_detail,
};
use super::ladders::FitMemo;
use super::render::{DocumentRun, Renderer};
use super::request::AggregationRequest;
use super::select::{DocumentInputs, InputsDigest};
use super::stability::set_stability;
use crate::aggregate;
use crate::aggregate::{CuratedItems, DocumentLimits, Focus, ReceiptNotes, RoutingContext};
use crate::engine::error::Error;
use crate::engine::history::{CommitCache, GitHistory, commit_log};
use crate::engine::index::FileSelection;
use crate::engine::summaries::ModelSummaries;
use crate::model::{Document, FileOrder, Receipt, SkipReason};

/// A document before its files are made to fit.
pub struct PreparedDocument {
    /// Every file in the view that is wanted; by importance if there are limits.
    draft: DraftDocument,
    inputs: ComposeInputs,
}

/// What a document is composed from, whatever its limits.
pub(super) struct ComposeInputs {
    request: AggregationRequest,
    focus: Focus,
    items: CuratedItems,
    summaries: ModelSummaries,
    pub(super) history: Option<GitHistory>,
    reader: Option<ReaderState>,
    memo: FitMemo,
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
        let (PreparedDocument { draft, mut inputs }, digest) = self.prepare_selected(request, selected)?;
        let (document, pending) = self.compose_within(draft, &mut inputs, request.limits)?;
        Ok((document, pending, digest))
    }

    pub(in crate::engine) fn prepare(
        &mut self,
        request: &AggregationRequest,
    ) -> Result<PreparedDocument, Error> {
        let selected = self.select_for(request)?;
        Ok(self.prepare_selected(request, selected)?.0)
    }

    fn prepare_selected(
        &mut self,
        request: &AggregationRequest,
        selected: DocumentInputs,
    ) -> Result<(PreparedDocument, InputsDigest), Error> {
        let DocumentInputs { selection, sections, summaries, digest } = selected;
        let commits = self.caches.map(|caches| &caches.commits);
        let mut renderer = self.renderer(&summaries);
        let (focus, items) = (Focus::new(&request.focus)?, merged_items(&renderer.cache.workspace, request));
        let routing = routing(&renderer.cache.workspace, request, &focus, &items);
        let is_limited = request.limits.is_some();
        let (gathered, history) = gather_with_history(&mut renderer, commits, request, &routing, selection)?;
        let has_tree =
            request.sections.part.has_prefix() && request.tier.as_ref().is_some_and(|tier| tier.tree);
        let tree = has_tree.then(|| {
            let listed = gathered.listed.iter().map(|(path, reason)| (path, reason.map(SkipReason::name)));
            aggregate::build_name_tree(listed, &summaries.folders)
        });
        let plan = document_plan(request, tree, sections);
        let remarks = ReceiptNotes {
            name: request.history.as_ref().map(|history| history.name.clone()),
            limits: request.limits,
            tree_omitted: false,
            omitted: gathered.left_out,
            missing: gathered.missing,
        };
        let mut draft = DraftDocument {
            plan,
            files: gathered.shown,
            unchanged: Vec::new(),
            dropped: Vec::new(),
            remarks,
        };
        let reader = load_reader_state(&mut renderer, request, &draft.files);
        if let Some(reader) = &reader {
            reduce_to_changes(renderer.cache, &mut draft, reader);
        }
        // Only under a limit, because rating files takes a parse of each one whose names are not known yet. And after
        // the files that the reader has were left out: they take no room, but their references count.
        if is_limited {
            let files = std::mem::take(&mut draft.files);
            draft.files = by_importance(renderer.cache, files, &draft.unchanged, &routing, history.as_ref());
        }
        let request = request.clone();
        let memo = FitMemo::default();
        let inputs = ComposeInputs { request, focus, items, summaries, history, reader, memo };
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
    pub(super) fn fit_prepared(
        &mut self,
        prepared: PreparedDocument,
    ) -> Result<(DraftDocument, ComposeInputs), Error> {
        let PreparedDocument { draft, mut inputs } = prepared;
        let ComposeInputs { request, focus, items, summaries, memo, .. } = &mut inputs;
        let mut renderer = self.renderer(summaries);
        let routing = routing(&renderer.cache.workspace, request, focus, items);
        let draft = fit(&mut renderer, draft, memo, &routing, request.sections.images_apart)?;
        Ok((draft, inputs))
    }

    fn compose_within(
        &mut self,
        mut draft: DraftDocument,
        inputs: &mut ComposeInputs,
        limits: DocumentLimits,
    ) -> Result<(Document, Option<PendingDelivery>), Error> {
        let ComposeInputs { request, focus, items, summaries, history, reader, memo } = inputs;
        let mut renderer = self.renderer(summaries);
        let routing = routing(&renderer.cache.workspace, request, focus, items);
        let images_apart = request.sections.images_apart;
        draft.remarks.limits = limits;
        let mut draft = fit(&mut renderer, draft, memo, &routing, images_apart)?;
        // After the budget: whether a block has changed since a commit depends on the view that the file ended up in.
        if let (FileOrder::Stable, Some(history)) = (request.order, &history) {
            set_stability(&mut renderer, &mut draft.files, history, summary_detail(&routing));
        }
        let pending = reader.as_ref().map(|reader| reader.pending_delivery(&draft.files));
        let candidates = draft.files.into_iter().map(|shown| shown.candidate).collect();
        let mut document = aggregate::compose(draft.plan, candidates, draft.remarks);
        // A limit in tokens holds for the exact count; an estimate may be too low for some texts.
        measure(self.cache, &mut document, request.exact_tokens || limits.tokens.is_some(), images_apart);
        check_limits(limits, &document.receipt)?;
        Ok((document, pending))
    }
}

/// Renders each of the files, and asks git for their history if the order depends on it.
fn gather_with_history(
    renderer: &mut Renderer<'_, '_>,
    commits: Option<&CommitCache>,
    request: &AggregationRequest,
    routing: &RoutingContext<'_>,
    selection: FileSelection,
) -> Result<(GatheredFiles, Option<GitHistory>), Error> {
    // Limits need it too: recent changes make a file more important.
    let has_history = request.order == FileOrder::Stable || request.limits.is_some();
    let commits = if has_history { commit_log(renderer.cache, commits, selection.rules) } else { None };
    let workspace = &renderer.cache.workspace;
    let (root, processes) = (workspace.root.clone(), workspace.world.processes);
    let (gathered, history) = std::thread::scope(|scope| {
        // Git finds out what is not committed while the files are rendered.
        let history =
            commits.as_ref().map(|commits| scope.spawn(|| commits.with_uncommitted(processes, &root)));
        let has_prefix = request.sections.part.has_prefix();
        let gathered = if has_prefix {
            gather_files(renderer, request, routing, selection)
        } else {
            Ok(GatheredFiles::default())
        };
        let history = history
            .and_then(|history| history.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        (gathered, history)
    });
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
