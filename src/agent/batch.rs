//! Submits many tasks at once, at half the price, for completion within a day.
//!
//! The money for a whole batch is reserved in one transaction, together with its items, before anything is sent. A
//! process that dies in between leaves a batch that the provider may or may not have: `batch_collect.rs` looks for it
//! there.

use super::Error;
use super::PromptSource;
use super::RunOutcome;
use super::StopReason;
use super::SummaryService;
use super::post;
use super::post::BatchHttpError;
use super::questions::question_row;
use super::sending;
use super::till::ClaimGuard;
use super::till::ClaimOutcome;
use crate::engine::summaries::PreparedPrompt;
use crate::engine::summaries::SummaryTask;
use crate::engine::summaries::WithheldReason;
use crate::llm;
use crate::llm::FailureClass;
use crate::llm::Model;
use crate::llm::WireFormat;
use crate::llm::batch;
use crate::llm::batch::BatchEntry;
use crate::llm::batch::SubmitStep;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::store::agent::BatchId;
use crate::store::agent::BatchQuestion;
use crate::store::agent::CapExceeded;
use crate::store::agent::NewBatch;
use crate::store::agent::SpendReservation;
use crate::store::agent::SpendTotals;

/// The most tasks in one batch: the results are read in one piece.
const MAX_ITEMS: usize = 2_000;
/// The most bytes in one batch.
const MAX_BYTES: usize = 48 << 20;

/// Tasks that are claimed and prepared, to be submitted together.
struct PendingBatch<'o> {
    items: Vec<PreparedTask<'o>>,
    bytes: usize,
    /// What they can cost at worst.
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

impl SummaryService<'_> {
    /// Submits these tasks to the first model of the chain that supports batches, as far as the caps allow. They are
    /// counted as `submitted`; [`SummaryService::collect`] fetches the results.
    pub fn submit(
        &self,
        errands: Vec<SummaryTask>,
        questions: &dyn PromptSource,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<RunOutcome, Error> {
        let model = batch_model(&self.options.chain)?;
        let mut outcome = RunOutcome::default();
        let mut rest = errands.into_iter();
        while outcome.stopped.is_none() {
            let before = rest.len();
            if let Err(why) = self.submit_next_batch(&model, &mut rest, questions, is_stopped, &mut outcome) {
                outcome.stopped = Some(why);
            }
            if rest.len() == 0 || rest.len() == before {
                break;
            }
        }
        outcome.remaining += rest.len() as u64;
        Ok(outcome)
    }

    /// Fills one batch and submits it.
    fn submit_next_batch(
        &self,
        model: &Model,
        rest: &mut std::vec::IntoIter<SummaryTask>,
        questions: &dyn PromptSource,
        is_stopped: &(dyn Fn() -> bool + Sync),
        outcome: &mut RunOutcome,
    ) -> Result<(), StopReason> {
        let mut bundle = PendingBatch { items: Vec::new(), bytes: 0, worst: Money::ZERO };
        let filled = self.fill_batch(&mut bundle, model, rest, questions, is_stopped, outcome);
        let over = filled.inspect_err(|_| outcome.remaining += bundle.items.len() as u64)?;
        self.submit_batch(model, bundle, is_stopped, outcome)?;
        let Some((cap, next)) = over else { return Ok(()) };
        // What was reserved just now is part of what is spent.
        let spent = self.spent().map_err(StopReason::Store)?;
        Err(StopReason::OverCap { cap, caps: self.options.caps, spent, next })
    }

    /// Fills a batch. Returns the cap that has no room for another task, and what that task could cost.
    fn fill_batch<'o>(
        &'o self,
        bundle: &mut PendingBatch<'o>,
        model: &Model,
        rest: &mut std::vec::IntoIter<SummaryTask>,
        questions: &dyn PromptSource,
        is_stopped: &(dyn Fn() -> bool + Sync),
        outcome: &mut RunOutcome,
    ) -> Result<Option<(CapExceeded, Money)>, StopReason> {
        let spent = self.spent().map_err(StopReason::Store)?;
        let caps = self.options.caps;
        let room = CapHeadroom {
            money: caps.day.saturating_sub(spent.day).min(caps.total.saturating_sub(spent.total)),
            calls: caps.calls_a_day.saturating_sub(spent.calls),
        };
        let most_items = MAX_ITEMS.min(batch::most_items(model));
        let most_bytes = MAX_BYTES.min(batch::most_bytes(model));
        while bundle.items.len() < most_items && bundle.bytes < most_bytes {
            if is_stopped() {
                return Err(StopReason::Interrupted);
            }
            let Some(errand) = rest.next() else { break };
            let packed = self
                .claim_and_prepare(model, errand, questions, outcome)
                .inspect_err(|_| outcome.remaining += 1)?;
            let Some(packed) = packed else { continue };
            let calls = bundle.items.len() as u64;
            if room.money < bundle.worst + packed.worst || room.calls <= calls {
                outcome.remaining += 1;
                let cap = if room.calls <= calls { CapExceeded::Calls } else { self.nearest_cap(&spent) };
                return Ok(Some((cap, packed.worst)));
            }
            bundle.bytes += packed.prepared.prompt.material.len() + packed.prepared.prompt.instructions.len();
            bundle.worst = bundle.worst + packed.worst;
            bundle.items.push(packed);
        }
        Ok(None)
    }

    /// Claims and prepares a task; returns `None` if it must not be sent.
    fn claim_and_prepare(
        &self,
        model: &Model,
        errand: SummaryTask,
        questions: &dyn PromptSource,
        outcome: &mut RunOutcome,
    ) -> Result<Option<PreparedTask<'_>>, StopReason> {
        let held = match self.claim(&errand, questions)? {
            ClaimOutcome::Acquired(held) => held,
            ClaimOutcome::Done => return Ok(increment(&mut outcome.done)),
            ClaimOutcome::InProgress => return Ok(increment(&mut outcome.in_progress)),
            ClaimOutcome::InBatch => return Ok(increment(&mut outcome.in_batch)),
            ClaimOutcome::Refused(why) => {
                outcome.refused.push((errand, why));
                return Ok(None);
            }
        };
        let prepared = match questions.prepare(&errand, 0) {
            Ok(prepared) => prepared,
            Err(WithheldReason::Changed) => return Ok(increment(&mut outcome.remaining)),
            Err(withheld) => {
                self.withhold(held, &withheld)?;
                outcome.withheld.push((errand, withheld));
                return Ok(None);
            }
        };
        let sending = llm::encode(model, &prepared.prompt, None);
        let worst = sending::worst_cost(model, &prepared, &sending);
        let question = question_row(questions, &errand, &model.full_name(), &prepared);
        Ok(Some(PreparedTask { claim: held, task: errand, prepared, question, worst }))
    }

    fn submit_batch(
        &self,
        model: &Model,
        bundle: PendingBatch<'_>,
        is_stopped: &(dyn Fn() -> bool + Sync),
        outcome: &mut RunOutcome,
    ) -> Result<(), StopReason> {
        if bundle.items.is_empty() {
            return Ok(());
        }
        let count = bundle.items.len() as u64;
        let id = self.reserve_batch(model, &bundle).inspect_err(|_| outcome.remaining += count)?;
        let names: Vec<String> = bundle.items.iter().map(|packed| custom_id(&packed.task.id)).collect();
        let prompts = bundle.items.iter().map(|packed| &packed.prepared.prompt);
        let items: Vec<BatchEntry<'_>> =
            names.iter().zip(prompts).map(|(id, prompt)| BatchEntry { id, prompt }).collect();
        let sent = self.send_batch(model, &items, is_stopped);
        // The batch row protects the tasks from now on, whatever the outcome of the request.
        bundle.items.into_iter().for_each(|packed| drop(packed.claim));
        let at_ms = self.world.now_ms();
        match sent {
            Ok(remote_id) => {
                outcome.submitted += count;
                outcome.calls += count;
                self.claims.db().mark_batch_submitted(id, &remote_id, at_ms).map_err(StopReason::Store)
            }
            Err(trouble) => {
                outcome.remaining += count;
                if matches!(trouble, BatchHttpError::Refused { .. }) {
                    self.cancel(id).map_err(StopReason::Store)?;
                }
                Err(trouble.into_stop_reason(model))
            }
        }
    }

    fn reserve_batch(&self, model: &Model, bundle: &PendingBatch<'_>) -> Result<BatchId, StopReason> {
        let (at_ms, day, caps) = (self.world.now_ms(), self.today(), self.options.caps);
        let reservation = |packed: &PreparedTask<'_>| SpendReservation {
            task_key: packed.task.id,
            model: model.full_name(),
            max_cost: packed.worst,
            holder: self.claims.holder().to_owned(),
            is_batch: true,
            at_ms,
            day,
        };
        let calls =
            bundle.items.iter().map(|packed| (reservation(packed), packed.question.clone())).collect();
        let new = NewBatch { model: model.full_name(), calls, at_ms };
        match self.claims.reserve_batch(&new, &caps).map_err(StopReason::Store)? {
            Ok(id) => Ok(id),
            Err(cap) => {
                let spent = self.spent().map_err(StopReason::Store)?;
                Err(StopReason::OverCap { cap, caps, spent, next: bundle.worst })
            }
        }
    }

    /// Sends the batch, in one request or two, and returns the provider's id for it.
    fn send_batch(
        &self,
        model: &Model,
        items: &[BatchEntry<'_>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, BatchHttpError> {
        let key = self.keys.get(&model.provider.name);
        let decode = |response: &_, now_ms| batch::decode_submitted(model, response, now_ms);
        let request = batch::encode_submit(model, items, key);
        let file = match post::send_batch_request(&self.world, &request, is_stopped, decode) {
            Ok(SubmitStep::Batch(id)) => return Ok(id),
            Ok(SubmitStep::Uploaded(file)) => file,
            // An uploaded file alone costs nothing.
            Err(BatchHttpError::Unknown { message: words })
                if model.provider.wire != WireFormat::Anthropic =>
            {
                return Err(BatchHttpError::Refused { class: FailureClass::Overload, message: words });
            }
            Err(trouble) => return Err(trouble),
        };
        let tag = batch::tag(items.iter().map(|item| item.id));
        let request = batch::encode_create(model, &file, &tag, key);
        match post::send_batch_request(&self.world, &request, is_stopped, decode)? {
            SubmitStep::Batch(id) => Ok(id),
            SubmitStep::Uploaded(_) => {
                Err(BatchHttpError::Unknown { message: "no batch was created from the file".to_owned() })
            }
        }
    }

    /// Returns the cap that is reached first.
    fn nearest_cap(&self, spent: &SpendTotals) -> CapExceeded {
        let caps = &self.options.caps;
        let (day, total) = (caps.day.saturating_sub(spent.day), caps.total.saturating_sub(spent.total));
        if total < day { CapExceeded::Total } else { CapExceeded::Day }
    }
}

/// Returns the first model of a chain that supports batches, with its price halved.
pub fn batch_model(chain: &[Model]) -> Result<Model, Error> {
    let model = chain.iter().find(|model| batch::is_possible(model)).ok_or(Error::NoBatches)?;
    Ok(Model { price: model.price.map(|price| price.halved()), ..model.clone() })
}

/// Returns the id by which the result of a task is found again.
pub(super) fn custom_id(errand: &SummaryKey) -> String {
    errand.0.to_string()
}

fn increment<T>(number: &mut u64) -> Option<T> {
    *number += 1;
    None
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
