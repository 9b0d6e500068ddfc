//! The way of one question: claimed, worded, paid for, asked, until there are words or nobody is left to be asked.
//!
//! What is done after each answer is for [`Attempt`] to say; here it is done.

use std::collections::BTreeSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::hash::Hasher;
use std::mem;
use std::time::Duration;

use super::End;
use super::Note;
use super::Office;
use super::Why;
use super::claims::Until;
use super::claims::refused_until;
use super::door::Door;
use super::door::Entry;
use super::door::Inside;
use super::office::UnderWay;
use super::questions::question;
use super::run::Run;
use super::sending;
use super::sending::Call;
use super::sending::Most;
use super::sending::Sent;
use super::till::Claimed;
use super::till::Held;
use super::till::Refused;
use super::warm::Place;
use super::warm::Warm;
use super::warm::Warming;
use crate::engine::agent::Errand;
use crate::engine::agent::Prepared;
use crate::engine::agent::Withheld;
use crate::llm;
use crate::llm::Attempt;
use crate::llm::Class;
use crate::llm::Effect;
use crate::llm::Event;
use crate::llm::Failure;
use crate::llm::Model;
use crate::llm::Sending;
use crate::model::Money;
use crate::model::Prompt;
use crate::model::SummaryKey;
use crate::model::Tier;
use crate::store::paid::OverCap;
use crate::store::paid::Question;
use crate::store::paid::Reservation;
use crate::store::paid::Settlement;
use crate::store::paid::SpendId;
use crate::store::paid::Summary;

/// One question on its way.
pub(super) struct Course<'c> {
    run: &'c Run<'c>,
    office: &'c Office<'c>,
    errand: &'c Errand,
    /// What a provider said last that was no answer.
    words: String,
    /// Whether the present model has not been asked yet.
    is_first: bool,
    /// Providers that have been asked.
    asked: BTreeSet<&'c str>,
    /// Whether the last one asked was in trouble.
    was_trouble: bool,
    /// The models that called the question wrong.
    wrong: Vec<&'c Model>,
}

/// What came of wanting to make a call.
enum Asked<'c> {
    /// It was made, and the money for it is put aside under this number.
    Made { spend: SpendId, worst: Money, sent: Box<Sent>, settlement: Settlement, under_way: UnderWay<'c> },
    /// It was not: the model's provider is not to be asked now.
    Barred(Failure),
}

impl<'c> Course<'c> {
    pub(super) fn new(run: &'c Run<'c>, errand: &'c Errand) -> Self {
        Self {
            run,
            office: run.office,
            errand,
            words: String::new(),
            is_first: true,
            asked: BTreeSet::new(),
            was_trouble: false,
            wrong: Vec::new(),
        }
    }

    /// Goes all the way. An error ends the whole run.
    pub(super) fn run(mut self) -> Result<End, Why> {
        let held = match self.office.claim(self.errand, self.run.questions)? {
            Claimed::Yours(held) => held,
            Claimed::Done => return Ok(End::Done),
            Claimed::Taken => return Ok(End::Taken),
            Claimed::InBatch => return Ok(End::InBatch),
            Claimed::Refused(why) => return Ok(End::Refused(why)),
        };
        let mut attempt = Attempt::new(self.office.options.chain.len());
        let mut prepared = match self.run.questions.prepare(self.errand, 0) {
            Ok(prepared) => prepared,
            Err(withheld) => return self.withhold(held, withheld),
        };
        loop {
            let model = &self.office.options.chain[attempt.model()];
            let asked = self.ask(model, &prepared)?;
            let (next, effect) = self.step(attempt, model, &asked)?;
            attempt = next;
            match effect {
                Effect::Accept => return self.accept(held, model, &prepared, asked),
                Effect::GiveUp(failure) => return self.give_up(held, failure),
                Effect::AskAgain { after, .. } if self.run.wait(after) => continue,
                Effect::AskAgain { .. } => return Ok(End::Left),
                Effect::Escalate => self.is_first = true,
                Effect::Halve => {}
            }
            prepared = match self.run.questions.prepare(self.errand, attempt.shrink()) {
                Ok(prepared) => prepared,
                Err(withheld) => return self.withhold(held, withheld),
            };
        }
    }

    /// Makes one call.
    fn ask(&mut self, model: &'c Model, prepared: &Prepared) -> Result<Asked<'c>, Why> {
        let door = self.office.door(model);
        if !self.begin(model, door) {
            return Ok(Asked::Barred(Failure::Outage));
        }
        let _warming = self.warm(model, &prepared.prompt)?;
        let key = self.office.keys.get(&model.provider.name);
        let sending = llm::encode(model, &prepared.prompt, key);
        // A token is about three bytes of code.
        let about = sending.body().len() as u64 / 3 + u64::from(prepared.prompt.answer_tokens);
        if let Err(failure) = self.enter(door, &model.name, about)? {
            return Ok(Asked::Barred(failure));
        }
        let worst = sending::worst(model, prepared, &sending);
        let clock = self.office.windows.clock;
        let inside = Inside { door, model: &model.name, clock, is_back: false };
        let (spend, under_way) = self.reserve(model, worst)?;
        let sent = self.send(model, &sending);
        inside.back(&sent);
        let output = sending::most_output(model, prepared.prompt.answer_tokens);
        let most = Most::new(sending.body().len() as u64, output);
        let settlement = sent.settlement(model, most, self.office.windows.now_ms());
        self.run.spent(settlement.cost.unwrap_or(worst), sent.is_absurd(most));
        if !matches!(sent, Sent::Words { .. }) {
            self.office.till.settle(spend, &settlement).map_err(Why::Store)?;
        }
        Ok(Asked::Made { spend, worst, sent: Box::new(sent), settlement, under_way })
    }

    /// Counts the first call to a model. One to another model of a provider that was in trouble is no first call: else
    /// a chain of three would ask such a provider three times.
    fn begin(&mut self, model: &'c Model, door: &Door) -> bool {
        if !mem::take(&mut self.is_first) {
            return true;
        }
        let now = self.office.windows.clock.monotonic();
        let is_new = self.asked.insert(&model.provider.name);
        if !is_new && self.was_trouble {
            return door.may_retry(now, Duration::ZERO);
        }
        door.first(now);
        true
    }

    /// Waits while another call brings the same instructions into the provider's cache.
    fn warm(&self, model: &Model, prompt: &Prompt) -> Result<Option<Warming<'c>>, Why> {
        let Some(beginning) = Warm::beginning(model, prompt) else { return Ok(None) };
        loop {
            match self.run.warm.enter(&beginning) {
                Place::First(warming) => return Ok(Some(warming)),
                Place::Free => return Ok(None),
                Place::Behind => {}
            }
            if !self.run.wait(Duration::from_millis(20)) {
                return Err(Why::Interrupted);
            }
        }
    }

    /// Waits until the provider may be asked.
    fn enter(&self, door: &Door, model: &str, tokens: u64) -> Result<Result<(), Failure>, Why> {
        let mut is_told = false;
        loop {
            match door.enter(self.office.windows.clock.monotonic(), model, tokens) {
                Entry::Go => return Ok(Ok(())),
                Entry::Barred(failure) => return Ok(Err(failure)),
                Entry::Wait(time) => {
                    if !is_told && Duration::from_secs(1) < time {
                        let (provider, words) = (door.provider.as_str(), &door.words());
                        self.run.report.note(&Note::Waiting { provider, time, words });
                        is_told = true;
                    }
                    // Others may have widened or closed it meanwhile, so that it is looked at again.
                    if !self.run.wait(time.min(Duration::from_millis(200))) {
                        return Err(Why::Interrupted);
                    }
                }
            }
        }
    }

    /// Puts the money for a call aside. Calls that are under way hold their worst, most of which comes back: what has no
    /// room beside them may have it behind them.
    fn reserve(&self, model: &Model, worst: Money) -> Result<(SpendId, UnderWay<'c>), Why> {
        let (till, caps) = (&self.office.till, self.office.options.caps);
        loop {
            let (at_ms, day) = (self.office.windows.now_ms(), self.office.today());
            let reservation = Reservation {
                errand: self.errand.id,
                by: model.full_name(),
                worst,
                holder: till.holder().to_owned(),
                is_batch: false,
                at_ms,
                day,
            };
            match till.reserve(&reservation, &caps, self.office).map_err(Why::Store)? {
                Ok(reserved) => return Ok(reserved),
                Err(Refused { cap, are_others: true }) if cap != OverCap::Calls => {}
                Err(Refused { cap, .. }) => {
                    let spent = till.spent(day).map_err(Why::Store)?;
                    return Err(Why::OverCap { cap, caps, spent, next: worst });
                }
            }
            if !self.run.wait(Duration::from_millis(50)) {
                // Should it be another reason by which the run ends, that one was noted first.
                return Err(Why::Interrupted);
            }
        }
    }

    fn send(&self, model: &Model, sending: &Sending) -> Sent {
        let timeout = self.office.options.timeout;
        let call = Call { model, errand: self.errand, sending, timeout };
        sending::send(&call, &self.office.windows, self.run.questions, self.run.is_stopped)
    }

    fn step(
        &mut self,
        attempt: Attempt,
        model: &'c Model,
        asked: &Asked<'_>,
    ) -> Result<(Attempt, Effect), Why> {
        let sent = match asked {
            Asked::Barred(failure) => return Ok(attempt.step(Event::Barred(*failure), 0.0)),
            Asked::Made { sent, .. } => sent,
        };
        let (next, effect) = match &**sent {
            Sent::Words { .. } => attempt.step(Event::Answered, 0.0),
            Sent::Refused(refusal) => {
                self.was_trouble = Failure::of(refusal.class) == Failure::Outage;
                self.words.clone_from(&refusal.words);
                if refusal.class == Class::Request {
                    self.wrong.push(model);
                }
                attempt.step(Event::Refused(refusal), jitter())
            }
            Sent::Lost { words, .. } => {
                self.was_trouble = true;
                self.words.clone_from(words);
                attempt.step(Event::Lost, jitter())
            }
            Sent::Stopped => return Err(Why::Interrupted),
        };
        // A provider in trouble is asked again only while that is a small part of all that it is asked.
        if let Effect::AskAgain { after, is_retry: true } = effect
            && !self.office.door(model).may_retry(self.office.windows.clock.monotonic(), after)
        {
            return Ok(next.step(Event::Barred(Failure::Outage), 0.0));
        }
        Ok((next, effect))
    }

    fn accept(
        &self,
        held: Held<'c>,
        model: &Model,
        prepared: &Prepared,
        asked: Asked<'_>,
    ) -> Result<End, Why> {
        let Asked::Made { spend, worst, sent, settlement, under_way } = asked else { return Ok(End::Left) };
        let Sent::Words { words, .. } = &*sent else { return Ok(End::Left) };
        let question = question(self.run.questions, self.errand, &model.full_name(), prepared);
        let summaries = summaries(&question, &Source { model, worst }, words, &settlement);
        held.accept(spend, &settlement, &summaries, &question.paths).map_err(Why::Store)?;
        // Only now is the call settled.
        drop(under_way);
        Ok(End::Answered)
    }

    fn withhold(&self, held: Held<'c>, withheld: Withheld) -> Result<End, Why> {
        self.office.withhold(held, &withheld)?;
        Ok(End::Withheld(withheld))
    }

    fn give_up(self, held: Held<'c>, failure: Failure) -> Result<End, Why> {
        let now_ms = self.office.windows.now_ms();
        let Some(Until(until_ms)) = refused_until(failure, now_ms) else {
            // Where nobody else can be asked either, the run ends.
            return self.office.closed().map_or(Ok(End::Left), Err);
        };
        let (_, id) = self.office.keys_of(self.errand);
        let now = self.office.windows.clock.monotonic();
        if !self.wrong.iter().all(|model| self.office.door(model).refuses(now, &model.name, id)) {
            return self.office.closed().map_or(Ok(End::Left), Err);
        }
        held.refuse(&self.words, until_ms, now_ms).map_err(Why::Store)?;
        Ok(End::Refused(self.words))
    }
}

/// Where a summary came from.
pub(super) struct Source<'s> {
    pub(super) model: &'s Model,
    pub(super) worst: Money,
}

/// Returns the rows of what one call brought.
pub(super) fn summaries(
    question: &Question,
    source: &Source<'_>,
    words: &[(Tier, String)],
    settlement: &Settlement,
) -> Vec<Summary> {
    let row = |(tier, key): &(Tier, SummaryKey)| {
        let (_, text) = words.iter().find(|(of, _)| of == tier)?;
        Some(Summary {
            key: *key,
            subject: question.subject,
            language: question.language.clone(),
            scope: question.scope,
            tier: *tier,
            prompt: question.prompt.clone(),
            by: source.model.full_name(),
            text: text.clone(),
            tokens: settlement.tokens,
            cost: settlement.cost.unwrap_or(source.worst),
            at_ms: settlement.at_ms,
        })
    };
    question.keys.iter().filter_map(row).collect()
}

/// Returns a number from 0 to 1 by chance.
fn jitter() -> f64 {
    let chance = RandomState::new().build_hasher().finish();
    f64::from(u32::try_from(chance >> 32).unwrap_or(0)) / f64::from(u32::MAX)
}

#[cfg(test)]
#[path = "course_tests.rs"]
mod tests;
