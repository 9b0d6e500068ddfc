//! Composes documents. Once its files are selected and ranked, a document can be composed within several limits.

use std::collections::HashMap;

use super::delivery::{
    PendingDelivery, leave_out_known, restore_files_with_more, shown_fingerprints, unreduced,
};
use super::draft::DraftDocument;
use super::inputs::{DocumentInputs, InputsDigest};
use super::packing::{DraftPacker, assemble, limit_of, measure, step_down};
use super::prepare::{ComposeInputs, PreparedDocument};
use super::rendering::Renderer;
use super::request::AggregationRequest;
use super::routing::{routing, summary_detail};
use super::run::DocumentRun;
use super::stability::{set_hydrated_order, set_stability};
use super::symbol_counts::count_symbols;
use crate::aggregate::{DocumentLimits, RoutingContext};
use crate::engine::error::Error;
use crate::engine::history::ProjectHistory;
use crate::engine::timings::AnswerStep;
use crate::engine::workspace::KnownFile;
use crate::model::{Document, FileOrder, Receipt, RelPath};
use crate::search::ChangeHorizon;
use crate::syntax;

/// The minimum number of tokens of a block in most documents: heading, path and fences.
const MIN_BLOCK_TOKENS: u64 = 36;

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
        let may_be_small = files.saturating_mul(MIN_BLOCK_TOKENS) <= limit
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

    pub(in crate::engine) fn compose(
        &mut self,
        prepared: &mut PreparedDocument,
        limits: DocumentLimits,
    ) -> Result<(Document, Option<PendingDelivery>), Error> {
        // The draft is cloned, because for a format that adds bytes the document is composed again within a smaller
        // limit.
        self.compose_within(prepared.draft.clone(), &mut prepared.inputs, limits)
    }

    /// Decides how each file is shown within the requested limits.
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
        order_files(&mut renderer, &mut draft, request, history.as_ref(), &routing);
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

    /// Decides how each file is shown within the draft's limits.
    fn show_within(
        &mut self,
        mut draft: DraftDocument,
        inputs: &mut ComposeInputs,
    ) -> Result<DraftDocument, Error> {
        let ComposeInputs { request, focus, items, summaries, history, reader, ranking, stable, memos } =
            inputs;
        let mut renderer = self.renderer(summaries, request.docs);
        let limits = draft.remarks.limits;
        let Some(ranking) = ranking.as_ref().filter(|_| limits.is_some()) else { return Ok(draft) };
        let _timer = renderer.cache.workspace.steps.time(AnswerStep::Fit);
        let routing = routing(&renderer.cache.workspace, request, focus, items);
        if limits.is_default {
            step_down(&mut renderer, &mut draft, &routing);
        }
        let mut packer = DraftPacker {
            ranking,
            stable: stable.as_ref(),
            history: history.as_ref(),
            routing: &routing,
            is_guided: request.is_guided(),
            images_apart: request.sections.images_apart,
            memos,
        };
        // Whether the request wants more of a file than its changes shows in what would be selected of the whole file.
        if let Some(reader) =
            reader.as_ref().filter(|_| draft.files.iter().any(|shown| shown.unreduced.is_some()))
        {
            let selected = packer.pack(&mut renderer, &unreduced(&draft))?;
            restore_files_with_more(&mut renderer, &mut draft, selected.shown(), reader);
        }
        Ok(packer.pack(&mut renderer, &draft)?.finish(draft, ranking))
    }
}

/// Orders the files so that a provider's cache keeps as much as possible. This follows the packing, because whether a
/// block has changed since a commit depends on the view that was chosen for the file.
fn order_files(
    renderer: &mut Renderer<'_, '_>,
    draft: &mut DraftDocument,
    request: &AggregationRequest,
    history: Option<&ProjectHistory>,
    routing: &RoutingContext<'_>,
) {
    let _timer = renderer.cache.workspace.steps.time(AnswerStep::Order);
    if request.order != FileOrder::Stable {
        return;
    }
    let files = draft.files.len();
    draft.files.append(&mut draft.shown_again);
    match (&request.hydrated, history) {
        (Some(places), _) => set_hydrated_order(&renderer.cache.workspace, &mut draft.files, places),
        (None, Some(history)) => {
            set_stability(renderer, &mut draft.files, history, summary_detail(routing));
        }
        (None, None) => {}
    }
    draft.shown_again = draft.files.split_off(files);
}

/// Returns whether most of the programs among some files are in languages without a grammar. Their summaries say so
/// little that a document of them is small although there is more to show.
fn lacks_structure(files: &[KnownFile]) -> bool {
    let types = files.iter().filter_map(KnownFile::file_type);
    let (with, without): (Vec<_>, Vec<_>) = types
        .filter(|file_type| file_type.is_program())
        .partition(|file_type| syntax::has_structure(file_type.id));
    with.len() < without.len()
}

/// Checks the size of the document as it is written.
fn check_limits(limits: DocumentLimits, receipt: &Receipt) -> Result<(), Error> {
    match (limits.tokens, limits.bytes) {
        (Some(budget), _) if budget < receipt.tokens => {
            Err(Error::OverBudget { tokens: receipt.tokens, budget })
        }
        (_, Some(limit)) if limit < receipt.bytes => Err(Error::OverSize { bytes: receipt.bytes, limit }),
        (_, _) => Ok(()),
    }
}
