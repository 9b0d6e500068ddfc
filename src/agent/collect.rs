//! Collects the results of batches, whichever process submitted them, and however long ago.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use super::StopReason;
use super::SummaryService;
use super::batch::custom_id;
use super::claims::RetryAt;
use super::claims::retry_at;
use super::course;
use super::course::SummaryOrigin;
use super::post;
use super::post::BatchHttpError;
use super::questions::parse_answer;
use super::sending;
use super::sending::CallResult;
use super::sending::UsageCeiling;
use crate::llm;
use crate::llm::CallFailure;
use crate::llm::GiveUpReason;
use crate::llm::Model;
use crate::llm::ModelReply;
use crate::llm::WireFormat;
use crate::llm::batch;
use crate::llm::batch::BatchProgress;
use crate::llm::batch::ListedBatch;
use crate::model::HttpResponse;
use crate::model::Money;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::store;
use crate::store::agent::AgentDb;
use crate::store::agent::BatchItem;
use crate::store::agent::CallBatch;

/// A batch that the provider does not list after this time does not exist.
const LOST_AFTER_MS: i64 = 25 * 60 * 60 * 1000;
/// How far a provider's clock may differ from ours, including the time it takes to create a batch.
const CLOCK_SLACK_MS: i64 = 15 * 60 * 1000;
/// How many lists of a hundred batches each are searched for a lost one.
const MAX_LISTS: usize = 10;

/// The result of collecting batches.
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
    /// What the answers cost.
    pub spent: Money,
    /// Why not every batch was checked.
    pub stopped: Option<StopReason>,
}

/// The result of one item, with the item's id.
type BatchAnswer = (String, Result<ModelReply, CallFailure>);

impl SummaryService<'_> {
    /// Fetches the results that have arrived and stores the summaries.
    pub fn collect(&self, is_stopped: &(dyn Fn() -> bool + Sync)) -> CollectedBatches {
        let mut collected = CollectedBatches::default();
        // Bound to a variable, so that the database is not locked during requests to the provider.
        let batches = self.claims.db().open_batches();
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
            if let Err(why) = done {
                let is_last = matches!(why, StopReason::Interrupted | StopReason::Store(_));
                collected.stopped.get_or_insert(why);
                if is_last {
                    break;
                }
            }
        }
        collected
    }

    /// Returns the tasks whose results are still to come.
    pub fn in_batches(&self) -> Result<BTreeSet<SummaryKey>, store::Error> {
        in_batches(&self.claims.db())
    }

    fn collect_one(
        &self,
        batch: &CallBatch,
        known: &BTreeSet<&str>,
        is_stopped: &(dyn Fn() -> bool + Sync),
        collected: &mut CollectedBatches,
    ) -> Result<(), StopReason> {
        // A model that is no longer in the chain is not called; its money stays reserved.
        let Some(model) = self.options.chain.iter().find(|model| model.full_name() == batch.model) else {
            return Ok(());
        };
        let model = &Model { price: model.price.map(|price| price.halved()), ..model.clone() };
        if let Some(id) = &batch.remote_id {
            let BatchProgress::Ended { results, failed } = self.poll_progress(model, id, is_stopped)? else {
                return Ok(());
            };
            if failed.is_some() {
                collected.refused += batch.items.len() as u64;
                return self.cancel(batch.id).map_err(StopReason::Store);
            }
            let answers = self.fetch_answers(model, &results, is_stopped)?;
            return self.accept_all(model, batch, answers, collected).map_err(StopReason::Store);
        }
        self.find_lost_batch(model, batch, known, is_stopped, collected)
    }

    /// Collects a batch whose id was never received, if one with its items is found.
    fn find_lost_batch(
        &self,
        model: &Model,
        batch: &CallBatch,
        known: &BTreeSet<&str>,
        is_stopped: &(dyn Fn() -> bool + Sync),
        collected: &mut CollectedBatches,
    ) -> Result<(), StopReason> {
        let mut may_be_under_way = false;
        for listed in self.candidates(model, batch, known, is_stopped)? {
            let BatchProgress::Ended { results, failed } = listed.progress else {
                may_be_under_way = true;
                continue;
            };
            // Without results, only our tag can tell that the batch is ours.
            if failed.is_some() {
                collected.refused += batch.items.len() as u64;
                return self.cancel(batch.id).map_err(StopReason::Store);
            }
            let answers = self.fetch_answers(model, &results, is_stopped)?;
            let is_ours = |name: &String| batch.items.iter().any(|item| custom_id(&item.task_key) == *name);
            if answers.iter().any(|(name, _)| is_ours(name)) {
                let at_ms = self.world.now_ms();
                self.claims
                    .db()
                    .mark_batch_submitted(batch.id, &listed.id, at_ms)
                    .map_err(StopReason::Store)?;
                return self.accept_all(model, batch, answers, collected).map_err(StopReason::Store);
            }
        }
        if may_be_under_way {
            return Ok(());
        }
        self.expire_lost_batch(batch, collected).map_err(StopReason::Store)
    }

    /// Stores all results of a batch, which is then closed.
    fn accept_all(
        &self,
        model: &Model,
        batch: &CallBatch,
        answers: Vec<BatchAnswer>,
        collected: &mut CollectedBatches,
    ) -> Result<(), store::Error> {
        let mut open: BTreeMap<String, &BatchItem> =
            batch.items.iter().map(|item| (custom_id(&item.task_key), item)).collect();
        for (name, answer) in answers {
            let Some(item) = open.remove(&name) else { continue };
            self.accept_one(model, item, answer, collected)?;
        }
        collected.lost += open.len() as u64;
        self.claims.db().delete_batch(batch.id)
    }

    /// Stores one result.
    fn accept_one(
        &self,
        model: &Model,
        item: &BatchItem,
        answer: Result<ModelReply, CallFailure>,
        collected: &mut CollectedBatches,
    ) -> Result<(), store::Error> {
        let now_ms = self.world.now_ms();
        let BatchItem { task_key: errand, spend, question } = item;
        let tiers: Vec<Tier> = question.keys.iter().map(|(tier, _)| *tier).collect();
        let sent = match answer {
            Ok(reply) => sending::check_reply(reply, |answer| parse_answer(answer, &tiers)),
            Err(refusal) => CallResult::Failed(refusal),
        };
        let settlement = sent.settlement(model, self.usage_ceiling(model), now_ms);
        collected.spent = collected.spent + settlement.cost.unwrap_or_default();
        if let CallResult::Answered { summaries: words, .. } = &sent {
            let source = SummaryOrigin { model, worst: settlement.cost.unwrap_or_default() };
            let summaries = course::summaries(question, &source, words, &settlement);
            collected.answered += 1;
            return self.claims.accept(*spend, &settlement, *errand, &summaries, &question.paths);
        }
        collected.refused += 1;
        self.claims.settle(*spend, &settlement)?;
        let CallResult::Failed(refusal) = sent else { return Ok(()) };
        match retry_at(GiveUpReason::from_class(refusal.class), now_ms) {
            Some(RetryAt(until_ms)) => {
                let keys = (*errand, self.options.policy.refusal_key(errand));
                self.claims.refuse(keys, &refusal.message, until_ms, now_ms)
            }
            None => Ok(()),
        }
    }

    /// Returns a ceiling that no task can exceed: the size of an item in a batch is no longer known.
    fn usage_ceiling(&self, model: &Model) -> UsageCeiling {
        /// The most bytes that JSON makes of one byte.
        const ESCAPED: u64 = 6;
        const INSTRUCTIONS: u64 = 64 << 10;
        let wish = &self.options.policy;
        let material = (wish.material_bytes as u64).saturating_mul(ESCAPED);
        let output = sending::max_output_tokens(model, wish.answer_tokens);
        UsageCeiling::new(material.saturating_add(INSTRUCTIONS), output)
    }

    fn poll_progress(
        &self,
        model: &Model,
        id: &str,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<BatchProgress, StopReason> {
        let request = batch::encode_poll(model, id, self.keys.get(&model.provider.name));
        let decode = |response: &_, now_ms| batch::decode_poll(model, response, now_ms);
        post::send_batch_request(&self.world, &request, is_stopped, decode)
            .map_err(|trouble| trouble.into_stop_reason(model))
    }

    /// Fetches all result files. If one cannot be fetched, all of them are left for the next time.
    fn fetch_answers(
        &self,
        model: &Model,
        results: &[String],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<BatchAnswer>, StopReason> {
        let mut answers = Vec::new();
        for name in results {
            let request = batch::encode_results(model, name, self.keys.get(&model.provider.name));
            let decode = |response: &_, now_ms| decode_answers(model, response, now_ms);
            let fetched = post::send_batch_request(&self.world, &request, is_stopped, decode);
            answers.extend(fetched.map_err(|trouble: BatchHttpError| trouble.into_stop_reason(model))?);
        }
        Ok(answers)
    }

    /// Returns batches that may be one whose id was never received. Other projects may have similar ones.
    fn candidates(
        &self,
        model: &Model,
        batch: &CallBatch,
        known: &BTreeSet<&str>,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Vec<ListedBatch>, StopReason> {
        let names: Vec<String> = batch.items.iter().map(|item| custom_id(&item.task_key)).collect();
        let tag = batch::tag(names.iter().map(String::as_str));
        let has_tags = model.provider.wire != WireFormat::Anthropic;
        let may_be = |listed: &ListedBatch| {
            let is_close = (listed.created_ms - batch.at_ms).abs() <= CLOCK_SLACK_MS;
            let is_as_large = listed.items.is_none_or(|items| items == names.len() as u64);
            let is_tagged = !has_tags || listed.tag.as_ref() == Some(&tag);
            is_close && is_as_large && is_tagged && !known.contains(listed.id.as_str())
        };
        let (key, mut before) = (self.keys.get(&model.provider.name), None::<String>);
        let mut found = Vec::new();
        for _ in 0..MAX_LISTS {
            let request = batch::encode_list(model, before.as_deref(), key);
            let decode = |response: &_, now_ms| batch::decode_list(model, response, now_ms);
            let page = post::send_batch_request(&self.world, &request, is_stopped, decode);
            let page = page.map_err(|trouble| trouble.into_stop_reason(model))?;
            // The newest come first.
            before = page
                .last()
                .filter(|last| batch.at_ms - CLOCK_SLACK_MS < last.created_ms)
                .map(|last| last.id.clone());
            found.extend(page.into_iter().filter(&may_be));
            if before.is_none() {
                break;
            }
        }
        Ok(found)
    }

    fn expire_lost_batch(
        &self,
        batch: &CallBatch,
        collected: &mut CollectedBatches,
    ) -> Result<(), store::Error> {
        if self.world.now_ms() - batch.at_ms < LOST_AFTER_MS {
            return Ok(());
        }
        // It may have been created, charged and deleted since, so it counts at its worst cost.
        collected.lost += batch.items.len() as u64;
        self.claims.db().delete_batch(batch.id)
    }
}

/// Returns the tasks that are in batches.
pub(super) fn in_batches(paid: &AgentDb) -> Result<BTreeSet<SummaryKey>, store::Error> {
    let batches = paid.open_batches()?;
    Ok(batches.iter().flat_map(|batch| &batch.items).map(|item| item.task_key).collect())
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
