//! A document whose files are read and rendered, and that can be made to fit into more than one limit.

use super::cache::{DocumentInputs, InputsDigest};
use super::delivery::ReaderState;
use super::fit::DraftDocument;
use super::gather::{AggregationRequest, GatheredFiles, document_plan, name_tree, summary_detail};
use super::ladders::FitMemo;
use crate::aggregate;
use crate::aggregate::CuratedItems;
use crate::aggregate::DocumentLimits;
use crate::aggregate::DocumentSections;
use crate::aggregate::Focus;
use crate::aggregate::ReceiptNotes;
use crate::aggregate::RoutingContext;
use crate::engine::error::Error;
use crate::engine::history::GitHistory;
use crate::engine::project::Project;
use crate::engine::queries::FileSelection;
use crate::model::Document;
use crate::model::FileOrder;
use crate::model::Receipt;

/// A document before its files are made to fit.
pub struct PreparedDocument {
    /// Everything as it is wanted; the files by importance where there are limits.
    draft: DraftDocument,
    basis: ComposeInputs,
}

/// What a document stands on, whatever its limits.
pub(in crate::engine) struct ComposeInputs {
    request: AggregationRequest,
    focus: Focus,
    items: CuratedItems,
    pub(in crate::engine) history: Option<GitHistory>,
    reader: Option<ReaderState>,
    memo: FitMemo,
}

impl Project<'_> {
    /// Composes the document that was asked for, from the files as they are now.
    pub fn aggregate(&mut self, request: &AggregationRequest) -> Result<Document, Error> {
        let PreparedDocument { draft: whole, mut basis } = self.prepare(request)?;
        self.compose_within(whole, &mut basis, request.limits)
    }

    /// Composes the document that was asked for from files that were found for it. What is to be compared with it
    /// comes back too.
    pub fn aggregate_selected(
        &mut self,
        request: &AggregationRequest,
        selected: DocumentInputs,
    ) -> Result<(Document, InputsDigest), Error> {
        let (selection, sections, kept) = selected.split();
        let PreparedDocument { draft: whole, mut basis } =
            self.prepare_selected(request, selection, sections)?;
        Ok((self.compose_within(whole, &mut basis, request.limits)?, kept))
    }

    /// Reads the files of a document as they are now, and renders each as it is wanted.
    pub fn prepare(&mut self, request: &AggregationRequest) -> Result<PreparedDocument, Error> {
        let (selection, sections, _) = self.select_for(request)?.split();
        self.prepare_selected(request, selection, sections)
    }

    fn prepare_selected(
        &mut self,
        request: &AggregationRequest,
        selection: FileSelection,
        sections: DocumentSections,
    ) -> Result<PreparedDocument, Error> {
        let (focus, items) = (Focus::new(&request.focus)?, self.merged_items(request));
        let routing = self.routing(request, &focus, &items);
        let is_limited = request.limits.is_some();
        let (gathered, history) = self.gather_with_history(request, &routing, selection)?;
        let tree = request
            .tier
            .as_ref()
            .is_some_and(|tier| tier.tree)
            .then(|| name_tree(&gathered.listed, &self.summaries.folders));
        let tree = tree.filter(|_| request.sections.part.has_prefix());
        let plan = document_plan(request, tree, sections);
        let remarks = ReceiptNotes {
            name: request.history.as_ref().map(|memory| memory.name.clone()),
            limits: request.limits,
            tree_omitted: false,
            omitted: gathered.left_out,
            missing: gathered.missing,
        };
        let mut whole = DraftDocument {
            plan,
            files: gathered.shown,
            unchanged: Vec::new(),
            dropped: Vec::new(),
            remarks,
        };
        let recall = self.load_reader_state(request, &whole.files);
        if let Some(recall) = &recall {
            self.reduce_to_changes(&mut whole, recall);
        }
        if is_limited {
            let files = std::mem::take(&mut whole.files);
            whole.files = self.by_importance(files, &whole.unchanged, &routing, history.as_ref());
        }
        let request = request.clone();
        let basis =
            ComposeInputs { request, focus, items, history, reader: recall, memo: FitMemo::default() };
        Ok(PreparedDocument { draft: whole, basis })
    }

    /// Shows each of the files, and asks git for their history where that decides on their order.
    fn gather_with_history(
        &mut self,
        request: &AggregationRequest,
        routing: &RoutingContext<'_>,
        selection: FileSelection,
    ) -> Result<(GatheredFiles, Option<GitHistory>), Error> {
        let has_history = request.order == FileOrder::Stable || request.limits.is_some();
        let commits = if has_history { self.commit_log(selection.rules) } else { None };
        let (root, processes) = (self.root.clone(), self.world.processes);
        let (gathered, history) = std::thread::scope(|scope| {
            // What is not committed git finds out while the files are rendered.
            let history =
                commits.as_ref().map(|commits| scope.spawn(|| commits.with_uncommitted(processes, &root)));
            let has_prefix = request.sections.part.has_prefix();
            let gathered = if has_prefix {
                self.gather_files(request, routing, selection)
            } else {
                Ok(GatheredFiles::default())
            };
            let history = history
                .and_then(|history| history.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (gathered, history)
        });
        Ok((gathered?, history))
    }

    /// Composes a document within other limits than those that it was prepared for. Nothing is read that was read.
    pub fn compose(
        &mut self,
        prepared: &mut PreparedDocument,
        limits: DocumentLimits,
    ) -> Result<Document, Error> {
        self.compose_within(prepared.draft.clone(), &mut prepared.basis, limits)
    }

    /// Decides what becomes of each file within the limits that were asked for.
    pub(in crate::engine) fn fit_prepared(
        &mut self,
        prepared: PreparedDocument,
    ) -> Result<(DraftDocument, ComposeInputs), Error> {
        let PreparedDocument { draft: mut whole, mut basis } = prepared;
        let ComposeInputs { request, focus, items, memo, .. } = &mut basis;
        whole = {
            let routing = self.routing(request, focus, items);
            self.fit(whole, memo, &routing, request.sections.images_apart)?
        };
        Ok((whole, basis))
    }

    fn compose_within(
        &mut self,
        mut whole: DraftDocument,
        basis: &mut ComposeInputs,
        limits: DocumentLimits,
    ) -> Result<Document, Error> {
        let ComposeInputs { request, focus, items, history, reader: recall, memo } = basis;
        let routing: RoutingContext<'_> = self.routing(request, focus, items);
        let images_apart = request.sections.images_apart;
        whole.remarks.limits = limits;
        let mut whole = self.fit(whole, memo, &routing, images_apart)?;
        if let (FileOrder::Stable, Some(history)) = (request.order, &history) {
            self.set_stability(&mut whole.files, history, summary_detail(&routing));
        }
        self.pending_delivery = recall.as_ref().map(|recall| recall.pending_delivery(&whole.files));
        let candidates = whole.files.into_iter().map(|shown| shown.candidate).collect();
        let mut document = aggregate::compose(whole.plan, candidates, whole.remarks);
        self.measure(&mut document, request.exact_tokens || limits.tokens.is_some(), images_apart);
        check_limits(limits, &document.receipt)?;
        Ok(document)
    }
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
