//! Collects the results of batches, whichever process submitted them, and however long ago.

use std::collections::{BTreeMap, BTreeSet};

use super::batch_submit::custom_id;
use super::call::{self, CallResult, UsageCeiling};
use super::core::{AgentCore, RetryAt, retry_at};
use super::ledger::in_batches;
use super::outcome::StopReason;
use super::prompts::{parse_answer, summary_rows};
use super::service::SummaryService;
use crate::llm::batch::{BatchProgress, ListedBatch};
use crate::llm::{self, CallFailure, GiveUpReason, Model, ModelReply, WireFormat, batch};
use crate::model::{HttpRequest, HttpResponse, Money, SummaryKey, Tier};
use crate::store;
use crate::store::agent::{BatchItem, CallBatch};

/// A batch that the provider does not list after this time does not exist.
const LOST_AFTER_MS: i64 = 25 * 60 * 60 * 1000;
/// How far a provider's clock may differ from ours, including the time it takes to create a batch.
const CLOCK_SLACK_MS: i64 = 15 * 60 * 1000;
/// How many lists of a hundred batches each are searched for a lost one.
const MAX_LISTS: usize = 10;

#[derive(Debug, Default)]
pub struct CollectedBatches {
    /// Tasks that were answered; their summaries are stored.
    pub answered: u64,
    /// Tasks without a usable answer.
    pub refused: u64,
    /// Tasks whose results are still to come.
    pub waiting: u64,
    /// Tasks whose result is unknown: they count at their worst cost.
    pub lost: u64,
    pub spent: Money,
    /// Why not every batch was checked.
    pub stopped: Option<StopReason>,
}

/// The result of one item, with the item's id.
type BatchAnswer = (String, Result<ModelReply, CallFailure>);

struct BatchCollection<'c> {
    core: &'c AgentCore<'c>,
    model: Model,
    batch: &'c CallBatch,
    is_stopped: &'c (dyn Fn() -> bool + Sync),
    collected: &'c mut CollectedBatches,
}

impl SummaryService<'_> {
    /// Fetches the results that have arrived and stores the summaries.
    pub fn collect(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> CollectedBatches {
        let mut collected = CollectedBatches::default();
        // Bound to a variable, so that the database is not locked during requests to the provider.
        let batches = self.core.claims.db().open_batches();
        let batches = match batches {
            Ok(batches) => batches,
            Err(error) => return CollectedBatches { stopped: Some(StopReason::Store(error)), ..collected },
        };
        let known: BTreeSet<&str> = batches.iter().filter_map(|batch| batch.remote_id.as_deref()).collect();
        for batch in &batches {
            let before = collected.answered + collected.refused + collected.lost;
            let done = self.collect_one(batch, &known, is_stopped, &mut collected);
            let after = collected.answered + collected.refused + collected.lost;
            collected.waiting += (batch.items.len() as u64).saturating_sub(after - before);
            if let Err(reason) = done {
                // The failure of one provider must not keep the results of the others from being collected.
                let is_last = matches!(reason, StopReason::Interrupted | StopReason::Store(_));
                collected.stopped.get_or_insert(reason);
                if is_last {
                    break;
                }
            }
        }
        collected
    }

    /// Returns the tasks whose results are still to come.
    pub fn in_batches(&self) -> Result<BTreeSet<SummaryKey>, store::Error> {
        in_batches(&self.core.claims.db())
    }

    fn collect_one(
        &self,
        batch: &CallBatch,
        known: &BTreeSet<&str>,
        is_stopped: &(dyn Fn() -> bool + Sync),
        collected: &mut CollectedBatches,
    ) -> Result<(), StopReason> {
        let core = &self.core;
        // A model that is no longer in the chain is not called; the money of its batches stays reserved.
        let Some(model) = core.options.chain.iter().find(|model| model.full_name() == batch.model) else {
            return Ok(());
        };
        // The ledger expects the price that was reserved, which is that of a batch.
        let model = Model { price: model.price.map(|price| price.halved()), ..model.clone() };
        let mut collection = BatchCollection { core, model, batch, is_stopped, collected };
        match &batch.remote_id {
            Some(id) => collection.collect_known(id),
            None => collection.find_lost(known),
        }
    }
}

impl BatchCollection<'_> {
    /// Stores the results of a batch whose id is known, if it has ended.
    fn collect_known(&mut self, id: &str) -> Result<(), StopReason> {
        let request = batch::encode_poll(&self.model, id, self.core.key(&self.model));
        match self.request(&request, batch::decode_poll)? {
            BatchProgress::Running => Ok(()),
            BatchProgress::Ended { failed: Some(_), .. } => self.fail(),
            BatchProgress::Ended { results, failed: None } => {
                let answers = self.fetch_answers(&results)?;
                self.accept_all(answers).map_err(StopReason::Store)
            }
        }
    }

    /// Collects a batch whose id was never received, if one with its items is found.
    fn find_lost(&mut self, known: &BTreeSet<&str>) -> Result<(), StopReason> {
        let mut may_be_running = false;
        for listed in self.candidates(known)? {
            let BatchProgress::Ended { results, failed } = listed.progress else {
                may_be_running = true;
                continue;
            };
            // Without results, only our tag can tell that the batch is ours.
            if failed.is_some() {
                return self.fail();
            }
            let answers = self.fetch_answers(&results)?;
            let is_ours =
                |name: &String| self.batch.items.iter().any(|item| custom_id(&item.task_key) == *name);
            if answers.iter().any(|(name, _)| is_ours(name)) {
                let (at_ms, mut db) = (self.core.world.clock.now_ms(), self.core.claims.db());
                db.mark_batch_submitted(self.batch.id, &listed.id, at_ms).map_err(StopReason::Store)?;
                drop(db);
                return self.accept_all(answers).map_err(StopReason::Store);
            }
        }
        if may_be_running || self.core.world.clock.now_ms() - self.batch.at_ms < LOST_AFTER_MS {
            return Ok(());
        }
        // It may have been created, charged and deleted since, so it counts at its worst cost.
        self.collected.lost += self.batch.items.len() as u64;
        self.core.claims.db().delete_batch(self.batch.id).map_err(StopReason::Store)
    }

    /// Gives up a batch that failed as a whole.
    fn fail(&mut self) -> Result<(), StopReason> {
        self.collected.refused += self.batch.items.len() as u64;
        self.core.cancel(self.batch.id).map_err(StopReason::Store)
    }

    /// Stores all results of a batch, which is then closed.
    fn accept_all(&mut self, answers: Vec<BatchAnswer>) -> Result<(), store::Error> {
        let mut open: BTreeMap<String, &BatchItem> =
            self.batch.items.iter().map(|item| (custom_id(&item.task_key), item)).collect();
        for (name, answer) in answers {
            // The results come from outside: an id may be foreign, or occur twice, and then the first result has
            // settled the call.
            let Some(item) = open.remove(&name) else { continue };
            self.accept_one(item, answer)?;
        }
        // They may have been charged although no result arrived, so they are not settled here as free.
        self.collected.lost += open.len() as u64;
        self.core.claims.db().delete_batch(self.batch.id)
    }

    fn accept_one(
        &mut self,
        item: &BatchItem,
        answer: Result<ModelReply, CallFailure>,
    ) -> Result<(), store::Error> {
        let (now_ms, claims, model) = (self.core.world.clock.now_ms(), &self.core.claims, &self.model);
        let BatchItem { task_key, spend, question, .. } = item;
        let tiers: Vec<Tier> = question.keys.iter().map(|(tier, _)| *tier).collect();
        let result = match answer {
            Ok(reply) => call::check_reply(reply, |answer| parse_answer(answer, &tiers)),
            Err(failure) => CallResult::Failed(failure),
        };
        let settlement = result.settlement(model, self.usage_ceiling(), now_ms);
        self.collected.spent = self.collected.spent + settlement.cost.unwrap_or_default();
        if let CallResult::Answered { summaries, .. } = &result {
            let cost = settlement.cost.unwrap_or_default();
            let rows = summary_rows(question, &model.full_name(), cost, summaries, &settlement);
            self.collected.answered += 1;
            return claims.accept(*spend, &settlement, *task_key, &rows, &question.paths);
        }
        self.collected.refused += 1;
        claims.db().settle(*spend, &settlement)?;
        let CallResult::Failed(failure) = result else { return Ok(()) };
        match retry_at(GiveUpReason::from_class(failure.class), now_ms) {
            Some(RetryAt(until_ms)) => {
                claims.refuse(self.core.task_keys(*task_key), &failure.message, until_ms, now_ms)
            }
            // The subject is not at fault: the task can be claimed again once the batch is deleted.
            None => Ok(()),
        }
    }

    /// Returns a ceiling that no task can exceed: the size of an item in a batch is no longer known.
    fn usage_ceiling(&self) -> UsageCeiling {
        /// The most bytes that one byte of text takes in JSON.
        const ESCAPED: u64 = 6;
        const INSTRUCTIONS: u64 = 64 << 10;
        let policy = &self.core.options.policy;
        let material = (policy.material_bytes as u64).saturating_mul(ESCAPED);
        let output = call::max_output_tokens(&self.model, policy.answer_tokens);
        UsageCeiling::new(material.saturating_add(INSTRUCTIONS), output)
    }

    /// Sends a request about batches and decodes the response.
    fn request<T>(
        &self,
        request: &HttpRequest,
        decode: fn(&Model, &HttpResponse, i64) -> Result<T, CallFailure>,
    ) -> Result<T, StopReason> {
        let decode = |response: &_, now_ms| decode(&self.model, response, now_ms);
        let result = call::send_batch_request(&self.core.world, request, self.is_stopped, decode);
        result.map_err(|error| error.into_stop_reason(&self.model))
    }

    /// Fetches all result files. If one cannot be fetched, all of them are left for the next time.
    fn fetch_answers(&self, results: &[String]) -> Result<Vec<BatchAnswer>, StopReason> {
        let mut answers = Vec::new();
        for name in results {
            let request = batch::encode_results(&self.model, name, self.core.key(&self.model));
            answers.extend(self.request(&request, decode_answers)?);
        }
        Ok(answers)
    }

    /// Returns batches that may be one whose id was never received. Other projects may have similar ones.
    fn candidates(&self, known: &BTreeSet<&str>) -> Result<Vec<ListedBatch>, StopReason> {
        let (batch, key) = (self.batch, self.core.key(&self.model));
        let names: Vec<String> = batch.items.iter().map(|item| custom_id(&item.task_key)).collect();
        let tag = batch::tag(names.iter().map(String::as_str));
        // Anthropic's batches have no metadata. There only the time, the number of items and, in the end, the ids in
        // the results show whose batch it is.
        let has_tags = self.model.provider.wire != WireFormat::Anthropic;
        let may_be = |listed: &ListedBatch| {
            let is_close = (listed.created_ms - batch.at_ms).abs() <= CLOCK_SLACK_MS;
            let is_as_large = listed.items.is_none_or(|items| items == names.len() as u64);
            let is_tagged = !has_tags || listed.tag.as_ref() == Some(&tag);
            is_close && is_as_large && is_tagged && !known.contains(listed.id.as_str())
        };
        let mut before = None::<String>;
        let mut found = Vec::new();
        for _ in 0..MAX_LISTS {
            let request = batch::encode_list(&self.model, before.as_deref(), key);
            let page = self.request(&request, batch::decode_list)?;
            // The newest come first.
            let oldest = page.last().filter(|last| batch.at_ms - CLOCK_SLACK_MS < last.created_ms);
            before = oldest.map(|last| last.id.clone());
            found.extend(page.into_iter().filter(&may_be));
            if before.is_none() {
                break;
            }
        }
        Ok(found)
    }
}

/// Reads a list of results; an error response is an error, not an empty list.
fn decode_answers(
    model: &Model,
    response: &HttpResponse,
    now_ms: i64,
) -> Result<Vec<BatchAnswer>, CallFailure> {
    if !(200..300).contains(&response.status) {
        llm::decode(model, response, now_ms)?;
    }
    Ok(batch::decode_results(model, &response.body))
}
