//! Submits many tasks at once, at half the price, for completion within a day.
//!
//! The money for a whole batch is reserved in one transaction, together with its items, before anything is sent. A
//! process that dies in between leaves a batch that the provider may or may not have: `batch_collect.rs` looks for it
//! there.

use super::call::{self, BatchHttpError};
use super::core::AgentCore;
use super::ledger::ClaimGuard;
use super::options::Error;
use super::outcome::{RunOutcome, StopReason, TaskOutcome};
use super::prompts::{PromptSource, question_row};
use super::service::SummaryService;
use crate::engine::summaries::{PreparedPrompt, SummaryTask};
use crate::llm::batch::{BatchEntry, SubmitStep};
use crate::llm::{self, FailureClass, Model, WireFormat, batch};
use crate::model::{Money, SummaryKey};
use crate::store::agent::{BatchId, BatchQuestion, CapExceeded, NewBatch, SpendTotals};

/// The most tasks in one batch: the results are read in one piece.
const MAX_ITEMS: usize = 2_000;
/// The most bytes in one batch.
const MAX_BYTES: usize = 48 << 20;

/// Tasks that are claimed and prepared, to be submitted together.
struct PendingBatch<'o> {
    items: Vec<PreparedTask<'o>>,
    bytes: usize,
    worst: Money,
}

struct PreparedTask<'o> {
    claim: ClaimGuard<'o>,
    task: SummaryTask,
    prepared: PreparedPrompt,
    question: BatchQuestion,
    worst: Money,
}

/// What is left of the caps before another task is added to a batch.
struct CapHeadroom {
    money: Money,
    calls: u64,
}

struct BatchSubmission<'s> {
    core: &'s AgentCore<'s>,
    model: Model,
    prompts: &'s dyn PromptSource,
    is_stopped: &'s (dyn Fn() -> bool + Sync),
    outcome: RunOutcome,
}

impl SummaryService<'_> {
    /// Submits these tasks to the first model of the chain that supports batches, as far as the caps allow. They are
    /// counted as `submitted`; [`SummaryService::collect`] fetches the results.
    pub fn submit(
        &self,
        tasks: Vec<SummaryTask>,
        prompts: &dyn PromptSource,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<RunOutcome, Error> {
        let model = batch_model(&self.core.options.chain)?;
        let outcome = RunOutcome::default();
        let mut submission = BatchSubmission { core: &self.core, model, prompts, is_stopped, outcome };
        let mut rest = tasks.into_iter();
        while submission.outcome.stopped.is_none() {
            let before = rest.len();
            if let Err(reason) = submission.submit_next_batch(&mut rest) {
                submission.outcome.stopped = Some(reason);
            }
            // A pass that took no task would be repeated forever.
            if rest.len() == 0 || rest.len() == before {
                break;
            }
        }
        submission.outcome.remaining += rest.len() as u64;
        Ok(submission.outcome)
    }
}

impl<'s> BatchSubmission<'s> {
    fn submit_next_batch(&mut self, rest: &mut std::vec::IntoIter<SummaryTask>) -> Result<(), StopReason> {
        let mut pending = PendingBatch { items: Vec::new(), bytes: 0, worst: Money::ZERO };
        let filled = self.fill_batch(&mut pending, rest);
        let over = filled.inspect_err(|_| self.outcome.remaining += pending.items.len() as u64)?;
        self.submit_batch(pending)?;
        let Some((cap, next)) = over else { return Ok(()) };
        // What was reserved just now is part of what is spent.
        let spent = self.core.spent().map_err(StopReason::Store)?;
        Err(StopReason::OverCap { cap, caps: self.core.options.caps, spent, next })
    }

    /// Fills a batch. Returns the cap that has no room for another task, and what that task could cost.
    fn fill_batch(
        &mut self,
        pending: &mut PendingBatch<'s>,
        rest: &mut std::vec::IntoIter<SummaryTask>,
    ) -> Result<Option<(CapExceeded, Money)>, StopReason> {
        // Not binding: another process may spend meanwhile, so `reserve_batch` checks the caps again in the
        // transaction that reserves. Here they only decide how many prompts are prepared.
        let spent = self.core.spent().map_err(StopReason::Store)?;
        let caps = self.core.options.caps;
        let headroom = CapHeadroom {
            money: caps.day.saturating_sub(spent.day).min(caps.total.saturating_sub(spent.total)),
            calls: caps.calls_a_day.saturating_sub(spent.calls),
        };
        let max_items = MAX_ITEMS.min(batch::most_items(&self.model));
        let max_bytes = MAX_BYTES.min(batch::most_bytes(&self.model));
        while pending.items.len() < max_items && pending.bytes < max_bytes {
            if (self.is_stopped)() {
                return Err(StopReason::Interrupted);
            }
            let Some(task) = rest.next() else { break };
            let prepared = self.claim_and_prepare(task).inspect_err(|_| self.outcome.remaining += 1)?;
            let Some(prepared) = prepared else { continue };
            // Each item is a call in the ledger, so the cap on calls counts items, not batches.
            let calls = pending.items.len() as u64;
            if headroom.money < pending.worst + prepared.worst || headroom.calls <= calls {
                self.outcome.remaining += 1;
                // The task was taken from `rest`, so it is counted here; the claim is released when `prepared` is
                // dropped.
                let is_calls = headroom.calls <= calls;
                let cap = if is_calls { CapExceeded::Calls } else { self.nearest_cap(&spent) };
                return Ok(Some((cap, prepared.worst)));
            }
            let prompt = &prepared.prepared.prompt;
            // Counted before they are encoded: the lower of the providers' limits is about four times as high as
            // ours, which leaves room for the escapes of JSON.
            pending.bytes += prompt.material.len() + prompt.instructions.len();
            pending.worst = pending.worst + prepared.worst;
            pending.items.push(prepared);
        }
        Ok(None)
    }

    /// Claims and prepares a task; returns `None` if it must not be sent.
    fn claim_and_prepare(&mut self, task: SummaryTask) -> Result<Option<PreparedTask<'s>>, StopReason> {
        let claim = match self.core.claim(&task, self.prompts)? {
            Ok(claim) => claim,
            Err(outcome) => {
                self.outcome.record(task, outcome);
                return Ok(None);
            }
        };
        let prepared = match self.prompts.prepare(&task, 0) {
            Ok(prepared) => prepared,
            Err(withheld) => {
                self.core.withhold(claim, &withheld)?;
                self.outcome.record(task, TaskOutcome::Withheld(withheld));
                return Ok(None);
            }
        };
        // Encoded without the key: only the length of the body matters here.
        let request = llm::encode(&self.model, &prepared.prompt, None);
        let worst = call::worst_cost(&self.model, &prepared, &request);
        let question = question_row(self.prompts, &task, &self.model.full_name(), &prepared);
        Ok(Some(PreparedTask { claim, task, prepared, question, worst }))
    }

    fn submit_batch(&mut self, pending: PendingBatch<'_>) -> Result<(), StopReason> {
        if pending.items.is_empty() {
            return Ok(());
        }
        let count = pending.items.len() as u64;
        let id = self.reserve_batch(&pending).inspect_err(|_| self.outcome.remaining += count)?;
        let names: Vec<String> = pending.items.iter().map(|item| custom_id(&item.task.id)).collect();
        let prompts = pending.items.iter().map(|item| &item.prepared.prompt);
        let entries: Vec<BatchEntry<'_>> =
            names.iter().zip(prompts).map(|(id, prompt)| BatchEntry { id, prompt }).collect();
        let result = self.send_batch(&entries);
        // The batch row protects the tasks from now on, whatever the outcome of the request.
        pending.items.into_iter().for_each(|item| drop(item.claim));
        let at_ms = self.core.world.clock.now_ms();
        match result {
            Ok(remote_id) => {
                self.outcome.submitted += count;
                self.outcome.calls += count;
                self.core.claims.db().mark_batch_submitted(id, &remote_id, at_ms).map_err(StopReason::Store)
            }
            Err(error) => {
                self.outcome.remaining += count;
                // Only a refusal is certain not to be charged. After any other error the row stays, so that `collect`
                // looks for the batch at the provider.
                if matches!(error, BatchHttpError::Refused { .. }) {
                    self.core.cancel(id).map_err(StopReason::Store)?;
                }
                Err(error.into_stop_reason(&self.model))
            }
        }
    }

    fn reserve_batch(&self, pending: &PendingBatch<'_>) -> Result<BatchId, StopReason> {
        let caps = self.core.options.caps;
        let call = |item: &PreparedTask<'_>| {
            (self.core.reservation(&item.task, &self.model, item.worst, true), item.question.clone())
        };
        let calls = pending.items.iter().map(call).collect();
        let new = NewBatch { model: self.model.full_name(), calls, at_ms: self.core.world.clock.now_ms() };
        match self.core.claims.reserve_batch(&new, &caps).map_err(StopReason::Store)? {
            Ok(id) => Ok(id),
            Err(cap) => {
                let spent = self.core.spent().map_err(StopReason::Store)?;
                Err(StopReason::OverCap { cap, caps, spent, next: pending.worst })
            }
        }
    }

    /// Sends the batch, in one request or two, and returns the provider's id for it.
    fn send_batch(&self, entries: &[BatchEntry<'_>]) -> Result<String, BatchHttpError> {
        let (model, key) = (&self.model, self.core.key(&self.model));
        let decode = |response: &_, now_ms| batch::decode_submitted(model, response, now_ms);
        let request = batch::encode_submit(model, entries, key);
        let file = match call::send_batch_request(&self.core.world, &request, self.is_stopped, decode) {
            Ok(SubmitStep::Batch(id)) => return Ok(id),
            Ok(SubmitStep::Uploaded(file)) => file,
            // An uploaded file alone costs nothing.
            Err(BatchHttpError::Unknown { message }) if model.provider.wire != WireFormat::Anthropic => {
                return Err(BatchHttpError::Refused { class: FailureClass::Overload, message });
            }
            Err(error) => return Err(error),
        };
        let tag = batch::tag(entries.iter().map(|entry| entry.id));
        let request = batch::encode_create(model, &file, &tag, key);
        match call::send_batch_request(&self.core.world, &request, self.is_stopped, decode)? {
            SubmitStep::Batch(id) => Ok(id),
            SubmitStep::Uploaded(_) => {
                Err(BatchHttpError::Unknown { message: "no batch was created from the file".to_owned() })
            }
        }
    }

    /// Returns the cap that is reached first.
    fn nearest_cap(&self, spent: &SpendTotals) -> CapExceeded {
        let caps = &self.core.options.caps;
        let (day, total) = (caps.day.saturating_sub(spent.day), caps.total.saturating_sub(spent.total));
        if total < day { CapExceeded::Total } else { CapExceeded::Day }
    }
}

/// Returns the first model of a chain that supports batches, with its price halved.
pub fn batch_model(chain: &[Model]) -> Result<Model, Error> {
    let model = chain.iter().find(|model| batch::is_possible(model)).ok_or(Error::NoBatches)?;
    // Reservations must use the price that will be charged, or the caps would stop a batch at half of what it may
    // cost.
    Ok(Model { price: model.price.map(|price| price.halved()), ..model.clone() })
}

/// Returns the id by which the result of a task is found again.
pub(super) fn custom_id(task: &SummaryKey) -> String {
    task.0.to_string()
}
