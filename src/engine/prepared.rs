//! A document whose files are read and rendered, and that can be made to fit into more than one limit.

use super::aggregation::AggregationRequest;
use super::aggregation::Gathered;
use super::aggregation::detail;
use super::aggregation::plan;
use super::aggregation::tree_of;
use super::answers::Kept;
use super::answers::Selected;
use super::error::Error;
use super::fitting::Whole;
use super::given::Recall;
use super::history::History;
use super::ladders::Memo;
use super::project::Project;
use super::question::Selection;
use crate::aggregate;
use crate::aggregate::Focus;
use crate::aggregate::Items;
use crate::aggregate::Limits;
use crate::aggregate::Remarks;
use crate::aggregate::Routing;
use crate::aggregate::Sections;
use crate::model::Document;
use crate::model::Order;
use crate::model::Receipt;

/// A document before its files are made to fit.
pub struct Prepared {
    /// Everything as it is wanted; the files by importance where there are limits.
    whole: Whole,
    basis: Basis,
}

/// What a document stands on, whatever its limits.
pub(super) struct Basis {
    request: AggregationRequest,
    focus: Focus,
    items: Items,
    pub(super) history: Option<History>,
    recall: Option<Recall>,
    memo: Memo,
}

impl Project<'_> {
    /// Composes the document that was asked for, from the files as they are now.
    pub fn aggregate(&mut self, request: &AggregationRequest) -> Result<Document, Error> {
        let Prepared { whole, mut basis } = self.prepare(request)?;
        self.composed(whole, &mut basis, request.limits)
    }

    /// Composes the document that was asked for from files that were found for it. What is to be compared with it
    /// comes back too.
    pub fn aggregate_selected(
        &mut self,
        request: &AggregationRequest,
        selected: Selected,
    ) -> Result<(Document, Kept), Error> {
        let (selection, sections, kept) = selected.split();
        let Prepared { whole, mut basis } = self.prepare_selected(request, selection, sections)?;
        Ok((self.composed(whole, &mut basis, request.limits)?, kept))
    }

    /// Reads the files of a document as they are now, and renders each as it is wanted.
    pub fn prepare(&mut self, request: &AggregationRequest) -> Result<Prepared, Error> {
        let (selection, sections, _) = self.select_for(request)?.split();
        self.prepare_selected(request, selection, sections)
    }

    fn prepare_selected(
        &mut self,
        request: &AggregationRequest,
        selection: Selection,
        sections: Sections,
    ) -> Result<Prepared, Error> {
        let (focus, items) = (Focus::new(&request.focus)?, self.items(request));
        let routing = self.routing(request, &focus, &items);
        let is_limited = request.limits.is_some();
        let (gathered, history) = self.gather_with_history(request, &routing, selection)?;
        let tree = request
            .tier
            .as_ref()
            .is_some_and(|tier| tier.tree)
            .then(|| tree_of(&gathered.listed, &self.words.folders));
        let tree = tree.filter(|_| request.sections.part.has_prefix());
        let plan = plan(request, tree, sections);
        let remarks = Remarks {
            name: request.memory.as_ref().map(|memory| memory.name.clone()),
            limits: request.limits,
            without_tree: false,
            left_out: gathered.left_out,
            missing: gathered.missing,
        };
        let mut whole =
            Whole { plan, files: gathered.shown, unchanged: Vec::new(), crowded_out: Vec::new(), remarks };
        let recall = self.recall(request, &whole.files);
        if let Some(recall) = &recall {
            self.only_changes(&mut whole, recall);
        }
        if is_limited {
            let files = std::mem::take(&mut whole.files);
            whole.files = self.by_importance(files, &whole.unchanged, &routing, history.as_ref());
        }
        let request = request.clone();
        let basis = Basis { request, focus, items, history, recall, memo: Memo::default() };
        Ok(Prepared { whole, basis })
    }

    /// Shows each of the files, and asks git for their history where that decides on their order.
    fn gather_with_history(
        &mut self,
        request: &AggregationRequest,
        routing: &Routing<'_>,
        selection: Selection,
    ) -> Result<(Gathered, Option<History>), Error> {
        let has_history = request.order == Order::Stable || request.limits.is_some();
        let commits = if has_history { self.commits_by(selection.rules) } else { None };
        let (root, processes) = (self.root.clone(), self.world.processes);
        let (gathered, history) = std::thread::scope(|scope| {
            // What is not committed git finds out while the files are rendered.
            let history =
                commits.as_ref().map(|commits| scope.spawn(|| commits.with_changes(processes, &root)));
            let has_prefix = request.sections.part.has_prefix();
            let gathered =
                if has_prefix { self.gather(request, routing, selection) } else { Ok(Gathered::default()) };
            let history = history
                .and_then(|history| history.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            (gathered, history)
        });
        Ok((gathered?, history))
    }

    /// Composes a document within other limits than those that it was prepared for. Nothing is read that was read.
    pub fn compose(&mut self, prepared: &mut Prepared, limits: Limits) -> Result<Document, Error> {
        self.composed(prepared.whole.clone(), &mut prepared.basis, limits)
    }

    /// Decides what becomes of each file within the limits that were asked for.
    pub(super) fn fitted(&mut self, prepared: Prepared) -> Result<(Whole, Basis), Error> {
        let Prepared { mut whole, mut basis } = prepared;
        let Basis { request, focus, items, memo, .. } = &mut basis;
        whole = {
            let routing = self.routing(request, focus, items);
            self.fit(whole, memo, &routing, request.sections.images_apart)?
        };
        Ok((whole, basis))
    }

    fn composed(&mut self, mut whole: Whole, basis: &mut Basis, limits: Limits) -> Result<Document, Error> {
        let Basis { request, focus, items, history, recall, memo } = basis;
        let routing: Routing<'_> = self.routing(request, focus, items);
        let images_apart = request.sections.images_apart;
        whole.remarks.limits = limits;
        let mut whole = self.fit(whole, memo, &routing, images_apart)?;
        if let (Order::Stable, Some(history)) = (request.order, &history) {
            self.weigh(&mut whole.files, history, detail(&routing));
        }
        self.promise = recall.as_ref().map(|recall| recall.promise(&whole.files));
        let candidates = whole.files.into_iter().map(|shown| shown.candidate).collect();
        let mut document = aggregate::compose(whole.plan, candidates, whole.remarks);
        self.measure(&mut document, request.is_measured || limits.tokens.is_some(), images_apart);
        within(limits, &document.receipt)?;
        Ok(document)
    }
}

/// The document as it is written has the last word on its size.
fn within(limits: Limits, receipt: &Receipt) -> Result<(), Error> {
    match (limits.tokens, limits.bytes) {
        (Some(budget), _) if budget < receipt.tokens => {
            Err(Error::OverBudget { tokens: receipt.tokens, budget })
        }
        (_, Some(limit)) if limit < receipt.bytes => Err(Error::OverSize { bytes: receipt.bytes, limit }),
        (_, _) => Ok(()),
    }
}
