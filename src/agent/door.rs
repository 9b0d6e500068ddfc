//! One provider, as all threads of a process see it: whether it may be asked now, and how fast.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::MutexGuard;
use std::sync::PoisonError;
use std::time::Duration;

use super::Options;
use super::outcome::Why;
use super::sending::Sent;
use crate::llm::Breaker;
use crate::llm::Class;
use crate::llm::Failure;
use crate::llm::Gate;
use crate::llm::Pace;
use crate::llm::Rates;
use crate::llm::Refusal;
use crate::llm::RetryBudget;
use crate::llm::Turn;
use crate::model::SummaryKey;
use crate::sys::Clock;

/// A provider that does not answer is waited for while that takes no longer: its first rest, not its second.
const PATIENCE: Duration = Duration::from_secs(45);
/// One that has said itself when to come again is waited for while that takes no longer.
const PATIENCE_IF_ASKED: Duration = Duration::from_mins(2);
/// One that wants money, another key or other settings is not asked again for so long, should the process live that long.
const OFF: Duration = Duration::from_hours(1);
/// A model that refuses so many questions in a row, in the same words, refuses all: its name or its address is wrong.
const MOST_WRONG: u32 = 3;

/// The door of a provider.
#[derive(Debug)]
pub(super) struct Door {
    /// The provider's name.
    pub(super) provider: String,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    breaker: Breaker,
    rates: Rates,
    retries: RetryBudget,
    /// Why it is off, and until when.
    off: Option<(Duration, Class)>,
    /// What it said last that was no answer.
    words: String,
    /// Whether it has asked to be left alone, rather than failed.
    has_asked: bool,
    /// What its models have called wrong since they last answered, by the model's name.
    wrong: BTreeMap<String, Wrong>,
}

/// Questions in a row that one model called wrong.
#[derive(Debug, Default)]
struct Wrong {
    count: u32,
    words: String,
    /// Those that were refused for it.
    refused: Vec<SummaryKey>,
    /// Until when the model is not asked, for it calls everything wrong.
    off: Option<Duration>,
}

impl Wrong {
    fn is_off(&self, now: Duration) -> bool {
        self.off.is_some_and(|until| now < until)
    }
}

/// Whether a call may be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    /// It may, and counts as under way until its [`Inside`] is dropped.
    Go,
    /// Not before that time has passed.
    Wait(Duration),
    /// Not in this run: another model is to be asked.
    Barred(Failure),
}

impl Door {
    pub(super) fn new(provider: &str, options: &Options, now: Duration) -> Self {
        let rates = Rates::new(now, options.concurrency, options.requests_a_minute, options.tokens_a_minute);
        let inner = Inner {
            breaker: Breaker::default(),
            rates,
            retries: RetryBudget::default(),
            off: None,
            words: String::new(),
            has_asked: false,
            wrong: BTreeMap::new(),
        };
        Self { provider: provider.to_owned(), inner: Mutex::new(inner) }
    }

    /// Asks for leave to make a call of about so many tokens to a model.
    pub(super) fn enter(&self, now: Duration, model: &str, tokens: u64) -> Entry {
        /// What is over when another call comes back is looked at again after so long.
        const GLANCE: Duration = Duration::from_millis(20);
        let mut inner = self.inner();
        if let Some(failure) = inner.barred(now, model) {
            return Entry::Barred(failure);
        }
        match inner.breaker.look(now) {
            Gate::Open => {}
            Gate::Closed(time) => return Entry::Wait(time),
            Gate::Probing => return Entry::Wait(GLANCE),
        }
        match inner.rates.enter(now, tokens) {
            Turn::Go => {}
            Turn::Wait(time) => return Entry::Wait(time),
            Turn::Full => return Entry::Wait(GLANCE),
        }
        // It is open: only so does the one question that goes alone count as sent.
        inner.breaker.enter(now);
        Entry::Go
    }

    /// Takes back the leave for a call that was not made, or of which nobody knows what became.
    fn not_sent(&self, now: Duration) {
        let mut inner = self.inner();
        inner.rates.ended(now, &Pace::default());
        inner.breaker.abandoned();
    }

    /// A call to a model has come back.
    fn back(&self, now: Duration, model: &str, sent: &Sent) {
        let mut inner = self.inner();
        inner.heed(now, model, sent);
        inner.rates.ended(now, &sent.pace());
        match sent {
            Sent::Words { .. } => {
                inner.breaker.succeeded();
                inner.rates.succeeded();
            }
            Sent::Refused(refusal) => inner.refused(now, refusal),
            Sent::Lost { words, .. } => {
                inner.words.clone_from(words);
                inner.has_asked = false;
                inner.breaker.failed(now);
            }
            Sent::Stopped => inner.breaker.abandoned(),
        }
    }

    /// A question is asked for the first time.
    pub(super) fn first(&self, now: Duration) {
        self.inner().retries.first(now);
    }

    /// Says whether a question may be asked again, and counts that.
    pub(super) fn may_retry(&self, now: Duration, after: Duration) -> bool {
        after <= PATIENCE_IF_ASKED && self.inner().retries.retry(now)
    }

    /// Notes that a question is refused for what this model said. `false` where it says so to every question: then that
    /// is not for the question to suffer.
    pub(super) fn refuses(&self, now: Duration, model: &str, question: SummaryKey) -> bool {
        let mut inner = self.inner();
        let Some(wrong) = inner.wrong.get_mut(model) else { return true };
        if !wrong.is_off(now) {
            wrong.refused.push(question);
            return true;
        }
        false
    }

    /// Returns the questions that were refused before it was known that the model refuses all.
    pub(super) fn take_wronged(&self) -> Vec<SummaryKey> {
        let mut inner = self.inner();
        let off = inner.wrong.values_mut().filter(|wrong| wrong.off.is_some());
        off.flat_map(|wrong| std::mem::take(&mut wrong.refused)).collect()
    }

    /// Says why a model of this provider cannot be asked in this run.
    pub(super) fn why(&self, now: Duration, model: &str) -> Option<Why> {
        let inner = self.inner();
        let provider = self.provider.clone();
        if let Some(wrong) = inner.wrong.get(model).filter(|wrong| wrong.is_off(now)) {
            return Some(Why::Account { provider, class: Class::Request, words: wrong.words.clone() });
        }
        let words = inner.words.clone();
        match inner.barred(now, model)? {
            Failure::Account => {
                let class = inner.off.map_or(Class::Auth, |(_, class)| class);
                Some(Why::Account { provider, class, words })
            }
            Failure::Outage | Failure::Useless | Failure::Declined => {
                Some(Why::Down { provider, words, retry_in: inner.closed_for(now) })
            }
        }
    }

    /// Returns what it said last that was no answer.
    pub(super) fn words(&self) -> String {
        self.inner().words.clone()
    }

    /// Returns for how long it is left alone.
    pub(super) fn closed_for(&self, now: Duration) -> Duration {
        self.inner().closed_for(now)
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A leave to make one call. It is given back when this is dropped, be it by a panic: else the place would be lost.
pub(super) struct Inside<'d> {
    pub(super) door: &'d Door,
    pub(super) model: &'d str,
    pub(super) clock: &'d dyn Clock,
    pub(super) is_back: bool,
}

impl Inside<'_> {
    /// The call has come back.
    pub(super) fn back(mut self, sent: &Sent) {
        self.door.back(self.clock.monotonic(), self.model, sent);
        self.is_back = true;
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        if !self.is_back {
            self.door.not_sent(self.clock.monotonic());
        }
    }
}

impl Inner {
    /// Says whether waiting is of no use.
    fn barred(&self, now: Duration, model: &str) -> Option<Failure> {
        let is_wrong = self.wrong.get(model).is_some_and(|wrong| wrong.is_off(now));
        if is_wrong || self.off.is_some_and(|(until, _)| now < until) {
            return Some(Failure::Account);
        }
        let patience = if self.has_asked { PATIENCE_IF_ASKED } else { PATIENCE };
        (patience < self.closed_for(now)).then_some(Failure::Outage)
    }

    fn closed_for(&self, now: Duration) -> Duration {
        match self.breaker.look(now) {
            Gate::Closed(time) => time,
            Gate::Open | Gate::Probing => Duration::ZERO,
        }
    }

    /// Counts what a model calls wrong. Any sign that it reads questions ends the row.
    fn heed(&mut self, now: Duration, model: &str, sent: &Sent) {
        let said = match sent {
            Sent::Words { .. } => None,
            Sent::Refused(refusal) => match refusal.class {
                Class::Request => Some(&refusal.words),
                Class::TooLong | Class::Soft(_) => None,
                Class::Rate
                | Class::Overload
                | Class::Money
                | Class::Auth
                | Class::Settings
                | Class::Garbled => return,
            },
            Sent::Lost { .. } | Sent::Stopped => return,
        };
        let Some(said) = said else {
            self.wrong.remove(model);
            return;
        };
        let wrong = self.wrong.entry(model.to_owned()).or_default();
        if !is_same(&wrong.words, said) {
            *wrong = Wrong { words: said.clone(), ..Wrong::default() };
        }
        wrong.count += 1;
        if MOST_WRONG <= wrong.count {
            wrong.off = Some(now + OFF);
        }
    }

    fn refused(&mut self, now: Duration, refusal: &Refusal) {
        self.words.clone_from(&refusal.words);
        match refusal.class {
            Class::Rate => {
                self.rates.complained(now);
                self.breaker.abandoned();
            }
            Class::Overload | Class::Garbled => self.breaker.failed(now),
            Class::Money | Class::Auth | Class::Settings => {
                self.off = Some((now + OFF, refusal.class));
                self.breaker.succeeded();
            }
            Class::TooLong | Class::Request | Class::Soft(_) => self.breaker.succeeded(),
        }
        self.has_asked = refusal.wait.is_some();
        if let Some(time) = refusal.wait {
            self.breaker.pause(now, time);
        }
    }
}

/// Says whether two refusals say the same, but for the numbers in them, such as the name of the request.
fn is_same(one: &str, other: &str) -> bool {
    let letters = |text: &'_ str| text.split(|c: char| c.is_ascii_digit()).collect::<String>();
    letters(one) == letters(other)
}
