//! Many questions at once, for half the price, within a day.
//!
//! The money for all of them is put aside in one transaction before anything is sent, and what they are is kept. A
//! process that dies in between leaves a batch of which nobody knows whether the provider has it: `collect.rs` looks
//! for it there.

use super::Error;
use super::Office;
use super::Outcome;
use super::Questions;
use super::Why;
use super::post;
use super::post::Trouble;
use super::questions::question;
use super::sending;
use super::till::Claimed;
use super::till::Held;
use crate::engine::agent::Errand;
use crate::engine::agent::Prepared;
use crate::engine::agent::Withheld;
use crate::llm;
use crate::llm::Class;
use crate::llm::Model;
use crate::llm::Wire;
use crate::llm::batch;
use crate::llm::batch::Item;
use crate::llm::batch::Submitted;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::store::paid::BatchId;
use crate::store::paid::NewBatch;
use crate::store::paid::OverCap;
use crate::store::paid::Question;
use crate::store::paid::Reservation;
use crate::store::paid::Spent;

/// The most questions of one batch: their answers are read in one piece.
const MOST_ITEMS: usize = 2_000;
/// The most bytes of one batch.
const MOST_BYTES: usize = 48 << 20;

/// Questions that are to go together, claimed and worded.
struct Bundle<'o> {
    items: Vec<Packed<'o>>,
    bytes: usize,
    /// What they could cost at worst.
    worst: Money,
}

struct Packed<'o> {
    held: Held<'o>,
    errand: Errand,
    prepared: Prepared,
    question: Question,
    worst: Money,
}

/// What stops before another question is taken into a bundle.
struct Room {
    money: Money,
    calls: u64,
}

impl Office<'_> {
    /// Hands these questions to the first model of the chain that takes many at once, as far as the caps allow. Those
    /// that were are `handed_over`; [`Office::collect`] brings their answers.
    pub fn submit(
        &self,
        errands: Vec<Errand>,
        questions: &dyn Questions,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Outcome, Error> {
        let model = batch_model(&self.options.chain)?;
        let mut outcome = Outcome::default();
        let mut rest = errands.into_iter();
        while outcome.stopped.is_none() {
            let before = rest.len();
            if let Err(why) = self.submit_one(&model, &mut rest, questions, is_stopped, &mut outcome) {
                outcome.stopped = Some(why);
            }
            if rest.len() == 0 || rest.len() == before {
                break;
            }
        }
        outcome.left += rest.len() as u64;
        Ok(outcome)
    }

    /// Fills one bundle and hands it over.
    fn submit_one(
        &self,
        model: &Model,
        rest: &mut std::vec::IntoIter<Errand>,
        questions: &dyn Questions,
        is_stopped: &(dyn Fn() -> bool + Sync),
        outcome: &mut Outcome,
    ) -> Result<(), Why> {
        let mut bundle = Bundle { items: Vec::new(), bytes: 0, worst: Money::ZERO };
        let filled = self.fill(&mut bundle, model, rest, questions, is_stopped, outcome);
        let over = filled.inspect_err(|_| outcome.left += bundle.items.len() as u64)?;
        self.hand_over(model, bundle, is_stopped, outcome)?;
        let Some((cap, next)) = over else { return Ok(()) };
        // What was put aside just now is a part of what is spent.
        let spent = self.spent().map_err(Why::Store)?;
        Err(Why::OverCap { cap, caps: self.options.caps, spent, next })
    }

    /// Fills a bundle. Returns which cap has no room for another question, and what that could cost.
    fn fill<'o>(
        &'o self,
        bundle: &mut Bundle<'o>,
        model: &Model,
        rest: &mut std::vec::IntoIter<Errand>,
        questions: &dyn Questions,
        is_stopped: &(dyn Fn() -> bool + Sync),
        outcome: &mut Outcome,
    ) -> Result<Option<(OverCap, Money)>, Why> {
        let spent = self.spent().map_err(Why::Store)?;
        let caps = self.options.caps;
        let room = Room {
            money: caps.day.saturating_sub(spent.day).min(caps.total.saturating_sub(spent.total)),
            calls: caps.calls_a_day.saturating_sub(spent.calls),
        };
        let most_items = MOST_ITEMS.min(batch::most_items(model));
        let most_bytes = MOST_BYTES.min(batch::most_bytes(model));
        while bundle.items.len() < most_items && bundle.bytes < most_bytes {
            if is_stopped() {
                return Err(Why::Interrupted);
            }
            let Some(errand) = rest.next() else { break };
            let packed = self.pack(model, errand, questions, outcome).inspect_err(|_| outcome.left += 1)?;
            let Some(packed) = packed else { continue };
            let calls = bundle.items.len() as u64;
            if room.money < bundle.worst + packed.worst || room.calls <= calls {
                outcome.left += 1;
                let cap = if room.calls <= calls { OverCap::Calls } else { self.nearer(&spent) };
                return Ok(Some((cap, packed.worst)));
            }
            bundle.bytes += packed.prepared.prompt.material.len() + packed.prepared.prompt.instructions.len();
            bundle.worst = bundle.worst + packed.worst;
            bundle.items.push(packed);
        }
        Ok(None)
    }

    /// Claims and words a question; `None` where it is not to be asked.
    fn pack(
        &self,
        model: &Model,
        errand: Errand,
        questions: &dyn Questions,
        outcome: &mut Outcome,
    ) -> Result<Option<Packed<'_>>, Why> {
        let held = match self.claim(&errand, questions)? {
            Claimed::Yours(held) => held,
            Claimed::Done => return Ok(count(&mut outcome.done)),
            Claimed::Taken => return Ok(count(&mut outcome.taken)),
            Claimed::InBatch => return Ok(count(&mut outcome.in_batch)),
            Claimed::Refused(why) => {
                outcome.refused.push((errand, why));
                return Ok(None);
            }
        };
        let prepared = match questions.prepare(&errand, 0) {
            Ok(prepared) => prepared,
            Err(Withheld::Changed) => return Ok(count(&mut outcome.left)),
            Err(withheld) => {
                self.withhold(held, &withheld)?;
                outcome.withheld.push((errand, withheld));
                return Ok(None);
            }
        };
        let sending = llm::encode(model, &prepared.prompt, None);
        let worst = sending::worst(model, &prepared, &sending);
        let question = question(questions, &errand, &model.full_name(), &prepared);
        Ok(Some(Packed { held, errand, prepared, question, worst }))
    }

    fn hand_over(
        &self,
        model: &Model,
        bundle: Bundle<'_>,
        is_stopped: &(dyn Fn() -> bool + Sync),
        outcome: &mut Outcome,
    ) -> Result<(), Why> {
        if bundle.items.is_empty() {
            return Ok(());
        }
        let count = bundle.items.len() as u64;
        let id = self.reserve_bundle(model, &bundle).inspect_err(|_| outcome.left += count)?;
        let names: Vec<String> = bundle.items.iter().map(|packed| name_of(&packed.errand.id)).collect();
        let prompts = bundle.items.iter().map(|packed| &packed.prepared.prompt);
        let items: Vec<Item<'_>> =
            names.iter().zip(prompts).map(|(id, prompt)| Item { id, prompt }).collect();
        let sent = self.send_bundle(model, &items, is_stopped);
        // The batch holds the questions by now, whatever became of it.
        bundle.items.into_iter().for_each(|packed| drop(packed.held));
        let at_ms = self.windows.now_ms();
        match sent {
            Ok(remote_id) => {
                outcome.handed_over += count;
                outcome.calls += count;
                self.till.paid().batch_submitted(id, &remote_id, at_ms).map_err(Why::Store)
            }
            Err(trouble) => {
                outcome.left += count;
                if matches!(trouble, Trouble::Refused { .. }) {
                    self.cancel(id).map_err(Why::Store)?;
                }
                Err(trouble.why(model))
            }
        }
    }

    fn reserve_bundle(&self, model: &Model, bundle: &Bundle<'_>) -> Result<BatchId, Why> {
        let (at_ms, day, caps) = (self.windows.now_ms(), self.today(), self.options.caps);
        let reservation = |packed: &Packed<'_>| Reservation {
            errand: packed.errand.id,
            by: model.full_name(),
            worst: packed.worst,
            holder: self.till.holder().to_owned(),
            is_batch: true,
            at_ms,
            day,
        };
        let calls =
            bundle.items.iter().map(|packed| (reservation(packed), packed.question.clone())).collect();
        let new = NewBatch { by: model.full_name(), calls, at_ms };
        match self.till.reserve_batch(&new, &caps).map_err(Why::Store)? {
            Ok(id) => Ok(id),
            Err(cap) => {
                let spent = self.spent().map_err(Why::Store)?;
                Err(Why::OverCap { cap, caps, spent, next: bundle.worst })
            }
        }
    }

    /// Sends all of it, in one step or two, and returns the provider's name for it.
    fn send_bundle(
        &self,
        model: &Model,
        items: &[Item<'_>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<String, Trouble> {
        let key = self.keys.get(&model.provider.name);
        let decode = |response: &_, now_ms| batch::decode_submitted(model, response, now_ms);
        let request = batch::encode_submit(model, items, key);
        let file = match post::ask(&self.windows, &request, is_stopped, decode) {
            Ok(Submitted::Batch(id)) => return Ok(id),
            Ok(Submitted::Uploaded(file)) => file,
            // A file alone costs nothing.
            Err(Trouble::Unknown { words }) if model.provider.wire != Wire::Anthropic => {
                return Err(Trouble::Refused { class: Class::Overload, words });
            }
            Err(trouble) => return Err(trouble),
        };
        let tag = batch::tag(items.iter().map(|item| item.id));
        let request = batch::encode_create(model, &file, &tag, key);
        match post::ask(&self.windows, &request, is_stopped, decode)? {
            Submitted::Batch(id) => Ok(id),
            Submitted::Uploaded(_) => {
                Err(Trouble::Unknown { words: "no batch was made of the file".to_owned() })
            }
        }
    }

    /// Says which cap is met first.
    fn nearer(&self, spent: &Spent) -> OverCap {
        let caps = &self.options.caps;
        let (day, total) = (caps.day.saturating_sub(spent.day), caps.total.saturating_sub(spent.total));
        if total < day { OverCap::Total } else { OverCap::Day }
    }
}

/// Returns the first model of a chain that takes many questions at once, at the price that it asks for that.
pub fn batch_model(chain: &[Model]) -> Result<Model, Error> {
    let model = chain.iter().find(|model| batch::is_possible(model)).ok_or(Error::NoBatches)?;
    Ok(Model { price: model.price.map(|price| price.halved()), ..model.clone() })
}

/// Returns the name by which a question's answer is found again.
pub(super) fn name_of(errand: &SummaryKey) -> String {
    errand.0.to_string()
}

fn count<T>(number: &mut u64) -> Option<T> {
    *number += 1;
    None
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
