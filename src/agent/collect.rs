//! Brings the answers of batches, whoever submitted them, and however long ago.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::Office;
use super::Why;
use super::batch::name_of;
use super::claims::Until;
use super::claims::refused_until;
use super::course;
use super::course::Source;
use super::post;
use super::post::Trouble;
use super::questions::words_of;
use super::sending;
use super::sending::Most;
use super::sending::Sent;
use crate::llm;
use crate::llm::Failure;
use crate::llm::Model;
use crate::llm::Refusal;
use crate::llm::Reply;
use crate::llm::Wire;
use crate::llm::batch;
use crate::llm::batch::Listed;
use crate::llm::batch::Progress;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::model::WebResponse;
use crate::store;
use crate::store::paid::Batch;
use crate::store::paid::BatchItem;
use crate::store::paid::Paid;

/// A batch that the provider does not know so long after it was made is not there.
const LOST_AFTER_MS: i64 = 25 * 60 * 60 * 1000;
/// A provider's clock may differ from ours by so much, and its making of a batch may take so long.
const SLACK_MS: i64 = 15 * 60 * 1000;
/// So many lists of a hundred batches each are looked through for one that was lost.
const MOST_LISTS: usize = 10;

/// What came of batches.
#[derive(Debug, Default)]
pub struct Collected {
    /// Questions that were answered; their summaries are kept.
    pub answered: u64,
    /// Questions without a usable answer.
    pub refused: u64,
    /// Questions whose answers are still to come.
    pub waiting: u64,
    /// Questions of which nobody knows what became: they count as their worst.
    pub lost: u64,
    /// What the answers cost.
    pub spent: Money,
    /// Why not all could be looked at.
    pub stopped: Option<Why>,
}

/// What came back to a question, by the question's name.
type Answer = (String, Result<Reply, Refusal>);

impl Office<'_> {
    /// Takes in the answers that have come since, and keeps them as what they were asked for.
    pub fn collect(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> Collected {
        let mut collected = Collected::default();
        // Bound, so that the database is not held while a provider is asked.
        let batches = self.till.paid().open_batches();
        let batches = match batches {
            Ok(batches) => batches,
            Err(error) => return Collected { stopped: Some(Why::Store(error)), ..collected },
        };
        let known: BTreeSet<&str> = batches.iter().filter_map(|batch| batch.remote_id.as_deref()).collect();
        for batch in &batches {
            let before = collected.answered + collected.refused + collected.lost;
            let done = self.collect_one(batch, &known, is_stopped, &mut collected);
            let after = collected.answered + collected.refused + collected.lost;
            collected.waiting += (batch.items.len() as u64).saturating_sub(after - before);
            if let Err(why) = done {
                let is_last = matches!(why, Why::Interrupted | Why::Store(_));
                collected.stopped.get_or_insert(why);
                if is_last {
                    break;
                }
            }
        }
        collected
    }

    /// Returns the questions whose answers are still to come.
    pub fn in_batches(&self) -> Result<BTreeSet<SummaryKey>, store::Error> {
        in_batches(&self.till.paid())
    }

    fn collect_one(
        &self,
        batch: &Batch,
        known: &BTreeSet<&str>,
        is_stopped: &(dyn Fn() -> bool + Sync),
        collected: &mut Collected,
    ) -> Result<(), Why> {
        // Whoever is not in the chain any more is asked nothing; the money stays put aside.
        let Some(model) = self.options.chain.iter().find(|model| model.full_name() == batch.by) else {
            return Ok(());
        };
        let model = &Model { price: model.price.map(|price| price.halved()), ..model.clone() };
        if let Some(id) = &batch.remote_id {
            let Progress::Ended { results, failed } = self.progress(model, id, is_stopped)? else {
                return Ok(());
            };
            if failed.is_some() {
                collected.refused += batch.items.len() as u64;
                return self.cancel(batch.id).map_err(Why::Store);
            }
            let answers = self.answers(model, &results, is_stopped)?;
            return self.take_all(model, batch, answers, collected).map_err(Why::Store);
        }
        self.find(model, batch, known, is_stopped, collected)
    }

    /// Collects a batch whose name was never heard, where it is found by its answers.
    fn find(
        &self,
        model: &Model,
        batch: &Batch,
        known: &BTreeSet<&str>,
        is_stopped: &(dyn Fn() -> bool + Sync),
        collected: &mut Collected,
    ) -> Result<(), Why> {
        let mut may_be_under_way = false;
        for listed in self.candidates(model, batch, known, is_stopped)? {
            let Progress::Ended { results, failed } = listed.progress else {
                may_be_under_way = true;
                continue;
            };
            // Only one that bears our tag can be told to be ours without an answer.
            if failed.is_some() {
                collected.refused += batch.items.len() as u64;
                return self.cancel(batch.id).map_err(Why::Store);
            }
            let answers = self.answers(model, &results, is_stopped)?;
            let is_ours = |name: &String| batch.items.iter().any(|item| name_of(&item.errand) == *name);
            if answers.iter().any(|(name, _)| is_ours(name)) {
                let at_ms = self.windows.now_ms();
                self.till.paid().batch_submitted(batch.id, &listed.id, at_ms).map_err(Why::Store)?;
                return self.take_all(model, batch, answers, collected).map_err(Why::Store);
            }
        }
        if may_be_under_way {
            return Ok(());
        }
        self.not_found(batch, collected).map_err(Why::Store)
    }

    /// Takes in all answers of a batch, which is over then.
    fn take_all(
        &self,
        model: &Model,
        batch: &Batch,
        answers: Vec<Answer>,
        collected: &mut Collected,
    ) -> Result<(), store::Error> {
        let mut open: BTreeMap<String, &BatchItem> =
            batch.items.iter().map(|item| (name_of(&item.errand), item)).collect();
        for (name, answer) in answers {
            let Some(item) = open.remove(&name) else { continue };
            self.take(model, item, answer, collected)?;
        }
        collected.lost += open.len() as u64;
        self.till.paid().batch_done(batch.id)
    }

    /// Takes in one answer.
    fn take(
        &self,
        model: &Model,
        item: &BatchItem,
        answer: Result<Reply, Refusal>,
        collected: &mut Collected,
    ) -> Result<(), store::Error> {
        let now_ms = self.windows.now_ms();
        let BatchItem { errand, spend, question } = item;
        let tiers: Vec<Tier> = question.keys.iter().map(|(tier, _)| *tier).collect();
        let sent = match answer {
            Ok(reply) => sending::read(reply, |answer| words_of(answer, &tiers)),
            Err(refusal) => Sent::Refused(refusal),
        };
        let settlement = sent.settlement(model, self.most_of_any(model), now_ms);
        collected.spent = collected.spent + settlement.cost.unwrap_or_default();
        if let Sent::Words { words, .. } = &sent {
            let source = Source { model, worst: settlement.cost.unwrap_or_default() };
            let summaries = course::summaries(question, &source, words, &settlement);
            collected.answered += 1;
            return self.till.accept(*spend, &settlement, *errand, &summaries, &question.paths);
        }
        collected.refused += 1;
        self.till.settle(*spend, &settlement)?;
        let Sent::Refused(refusal) = sent else { return Ok(()) };
        match refused_until(Failure::of(refusal.class), now_ms) {
            Some(Until(until_ms)) => {
                let keys = (*errand, self.options.wish.refusal_of(errand));
                self.till.refuse(keys, &refusal.words, until_ms, now_ms)
            }
            None => Ok(()),
        }
    }

    /// Returns what no question can have passed: of one in a batch nobody knows any more how long it was.
    fn most_of_any(&self, model: &Model) -> Most {
        /// The most bytes that JSON makes of one.
        const ESCAPED: u64 = 6;
        const INSTRUCTIONS: u64 = 64 << 10;
        let wish = &self.options.wish;
        let material = (wish.material_bytes as u64).saturating_mul(ESCAPED);
        let output = sending::most_output(model, wish.answer_tokens);
        Most::new(material.saturating_add(INSTRUCTIONS), output)
    }

    fn progress(
        &self,
        model: &Model,
        id: &str,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Progress, Why> {
        let request = batch::encode_poll(model, id, self.keys.get(&model.provider.name));
        let decode = |response: &_, now_ms| batch::decode_poll(model, response, now_ms);
        post::ask(&self.windows, &request, is_stopped, decode).map_err(|trouble| trouble.why(model))
    }

    /// Fetches all lists of answers. One that cannot be fetched leaves all of them for the next time.
    fn answers(
        &self,
        model: &Model,
        results: &[String],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Answer>, Why> {
        let mut answers = Vec::new();
        for name in results {
            let request = batch::encode_results(model, name, self.keys.get(&model.provider.name));
            let decode = |response: &_, now_ms| read(model, response, now_ms);
            let fetched = post::ask(&self.windows, &request, is_stopped, decode);
            answers.extend(fetched.map_err(|trouble: Trouble| trouble.why(model))?);
        }
        Ok(answers)
    }

    /// Returns what could be a batch whose name was never heard. Other projects may have made some that look like it.
    fn candidates(
        &self,
        model: &Model,
        batch: &Batch,
        known: &BTreeSet<&str>,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<Listed>, Why> {
        let names: Vec<String> = batch.items.iter().map(|item| name_of(&item.errand)).collect();
        let tag = batch::tag(names.iter().map(String::as_str));
        let has_tags = model.provider.wire != Wire::Anthropic;
        let may_be = |listed: &Listed| {
            let is_close = (listed.created_ms - batch.at_ms).abs() <= SLACK_MS;
            let is_as_large = listed.items.is_none_or(|items| items == names.len() as u64);
            let is_tagged = !has_tags || listed.tag.as_ref() == Some(&tag);
            is_close && is_as_large && is_tagged && !known.contains(listed.id.as_str())
        };
        let (key, mut before) = (self.keys.get(&model.provider.name), None::<String>);
        let mut found = Vec::new();
        for _ in 0..MOST_LISTS {
            let request = batch::encode_list(model, before.as_deref(), key);
            let decode = |response: &_, now_ms| batch::decode_list(model, response, now_ms);
            let page = post::ask(&self.windows, &request, is_stopped, decode);
            let page = page.map_err(|trouble| trouble.why(model))?;
            // The newest come first.
            before = page
                .last()
                .filter(|last| batch.at_ms - SLACK_MS < last.created_ms)
                .map(|last| last.id.clone());
            found.extend(page.into_iter().filter(&may_be));
            if before.is_none() {
                break;
            }
        }
        Ok(found)
    }

    fn not_found(&self, batch: &Batch, collected: &mut Collected) -> Result<(), store::Error> {
        if self.windows.now_ms() - batch.at_ms < LOST_AFTER_MS {
            return Ok(());
        }
        // It may have been made, and charged, and deleted since: it counts as its worst.
        collected.lost += batch.items.len() as u64;
        self.till.paid().batch_done(batch.id)
    }
}

/// Returns the questions that are in batches.
pub(super) fn in_batches(paid: &Paid) -> Result<BTreeSet<SummaryKey>, store::Error> {
    let batches = paid.open_batches()?;
    Ok(batches.iter().flat_map(|batch| &batch.items).map(|item| item.errand).collect())
}

/// Reads a list of answers; what comes in its place is a refusal, and no empty list.
fn read(model: &Model, response: &WebResponse, now_ms: i64) -> Result<Vec<Answer>, Refusal> {
    if !(200..300).contains(&response.status) {
        llm::decode(model, response, now_ms)?;
    }
    Ok(batch::decode_results(model, &response.body))
}
