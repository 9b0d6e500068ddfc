//! Where the sub-agent works: one for each process and project.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::hash::Hasher;
use std::path::Path;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;

use secrecy::SecretString;

use super::Error;
use super::Options;
use super::Outcome;
use super::Questions;
use super::Report;
use super::State;
use super::Status;
use super::Why;
use super::door::Door;
use super::run::Run;
use super::till::Till;
use crate::engine::agent::Errand;
use crate::llm::Model;
use crate::store;
use crate::store::paid::PaidRecovery;
use crate::store::paid::Spent;
use crate::sys::Clock;
use crate::sys::Commands;
use crate::sys::Network;

/// The world, as far as the sub-agent looks at it.
#[derive(Clone, Copy)]
pub struct Windows<'w> {
    /// Servers.
    pub network: &'w dyn Network,
    /// Programs.
    pub commands: &'w dyn Commands,
    /// Time.
    pub clock: &'w dyn Clock,
}

impl Windows<'_> {
    /// Returns the time of day in milliseconds since the epoch.
    pub(super) fn now_ms(&self) -> i64 {
        self.clock.now_ns() / 1_000_000
    }
}

/// Where questions are asked. It remembers between runs which providers are to be left alone, and holds a lock by which
/// other processes know that its claims are alive.
pub struct Office<'w> {
    pub(super) windows: Windows<'w>,
    pub(super) options: Options,
    /// By the provider's name.
    pub(super) keys: BTreeMap<String, SecretString>,
    pub(super) till: Till,
    doors: BTreeMap<String, Door>,
    recovery: Option<PaidRecovery>,
    under_way: AtomicU32,
    waiting: AtomicU64,
    runs: AtomicU32,
    /// Why the last run ended before all was asked, and when that may be over.
    stopped: Mutex<Option<(State, Option<Duration>)>>,
}

impl fmt::Debug for Office<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Office").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'w> Office<'w> {
    /// Opens an office over the database in `folder`, the project's cache. Nobody is asked, and no connection is made.
    pub fn open(
        folder: &Path,
        windows: Windows<'w>,
        options: Options,
        keys: BTreeMap<String, SecretString>,
    ) -> Result<Self, Error> {
        check(&options, &keys)?;
        let chance = RandomState::new().build_hasher().finish();
        let (till, recovery) = Till::open(folder, chance)?;
        let now = windows.clock.monotonic();
        let names = options.chain.iter().map(|model| model.provider.name.clone());
        let doors = names.map(|name| (name.clone(), Door::new(&name, &options, now))).collect();
        Ok(Self {
            windows,
            options,
            keys,
            till,
            doors,
            recovery,
            under_way: AtomicU32::new(0),
            waiting: AtomicU64::new(0),
            runs: AtomicU32::new(0),
            stopped: Mutex::new(None),
        })
    }

    /// Asks these questions, in about this order, and returns when all that can be answered is, or the run has to end.
    /// A question that is `left` can be asked again by another run; whoever repeats runs does so only after one that
    /// answered something.
    pub fn run(
        &self,
        errands: Vec<Errand>,
        questions: &dyn Questions,
        report: &dyn Report,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Outcome {
        let threads = errands.len().min(self.options.concurrency.max(1) as usize);
        let run = Run::new(self, questions, report, is_stopped, errands);
        if let Some(why) = self.closed() {
            run.stop(why);
        }
        let at_work = UnderWay::new(&self.runs);
        std::thread::scope(|scope| {
            for number in 0..threads {
                let builder = std::thread::Builder::new().name(format!("agent-{number}"));
                // A machine that has no room for one more thread is asked for no further ones.
                if builder.spawn_scoped(scope, || run.work()).is_err() {
                    break;
                }
            }
        });
        drop(at_work);
        self.note_waiting(0);
        let mut outcome = run.into_outcome();
        self.take_back(&mut outcome);
        if 0 < outcome.left {
            let said = self.doors.values().map(|door| (&door.provider, door.words()));
            let said =
                said.filter(|(_, words)| !words.is_empty()).map(|(name, words)| format!("{name}: {words}"));
            outcome.trouble = said.into_iter().next();
        }
        self.note_stopped(outcome.stopped.as_ref());
        outcome
    }

    /// Returns what the office was opened with.
    pub const fn options(&self) -> &Options {
        &self.options
    }

    /// Says what became of a database that was found damaged.
    pub const fn recovery(&self) -> Option<&PaidRecovery> {
        self.recovery.as_ref()
    }

    /// Returns how much has been spent, today and in all.
    pub fn spent(&self) -> Result<Spent, store::Error> {
        self.till.spent(self.today())
    }

    /// Says what the office is at.
    pub fn status(&self) -> Result<Status, store::Error> {
        let now = self.windows.clock.monotonic();
        let stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = match stopped {
            _ if self.runs.load(Ordering::Relaxed) != 0 => self.at_work(now),
            Some((State::Paused { why, .. }, Some(until))) if now < until => {
                State::Paused { why, time: Some(until.saturating_sub(now)) }
            }
            Some((state @ State::Stopped { .. }, _)) => state,
            Some(_) | None => State::Idle,
        };
        Ok(Status {
            state,
            in_flight: self.under_way.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            spent: self.spent()?,
            caps: self.options.caps,
        })
    }

    pub(super) fn door(&self, model: &Model) -> &Door {
        self.doors.get(&model.provider.name).expect("there is a door for each provider of the chain")
    }

    /// Says why no model can be asked; `None` where one can.
    pub(super) fn closed(&self) -> Option<Why> {
        let now = self.windows.clock.monotonic();
        let mut first = None;
        for model in &self.options.chain {
            let why = self.door(model).why(now, &model.name)?;
            first.get_or_insert(why);
        }
        first
    }

    /// Counts a call as under way until what is returned is dropped.
    pub(super) fn under_way(&self) -> UnderWay<'_> {
        UnderWay::new(&self.under_way)
    }

    /// Says whether any call is under way.
    pub(super) fn has_calls(&self) -> bool {
        self.under_way.load(Ordering::Relaxed) != 0
    }

    pub(super) fn note_waiting(&self, count: u64) {
        self.waiting.store(count, Ordering::Relaxed);
    }

    pub(super) fn today(&self) -> i64 {
        self.windows.now_ms().div_euclid(24 * 60 * 60 * 1000)
    }

    /// What was refused before it was known that a model refuses everything can be asked again.
    fn take_back(&self, outcome: &mut Outcome) {
        let wronged: Vec<_> = self.doors.values().flat_map(Door::take_wronged).collect();
        if wronged.is_empty() {
            return;
        }
        if let Err(error) = self.till.forgive(&wronged) {
            outcome.stopped.get_or_insert(Why::Store(error));
            return;
        }
        let before = outcome.refused.len();
        outcome.refused.retain(|(errand, _)| !wronged.contains(&self.keys_of(errand).1));
        outcome.left += (before - outcome.refused.len()) as u64;
    }

    fn at_work(&self, now: Duration) -> State {
        let rests = self.doors.values().map(|door| (door.closed_for(now), door));
        match rests.max_by_key(|(time, _)| *time) {
            Some((time, door)) if !time.is_zero() && self.under_way.load(Ordering::Relaxed) == 0 => {
                State::Paused { why: format!("{}: {}", door.provider, door.words()), time: Some(time) }
            }
            Some(_) | None => State::Working,
        }
    }

    fn note_stopped(&self, why: Option<&Why>) {
        let now = self.windows.clock.monotonic();
        let state = why.map(|why| match why {
            Why::Down { retry_in, .. } => {
                (State::Paused { why: why.to_string(), time: Some(*retry_in) }, Some(now + *retry_in))
            }
            Why::OverCap { .. } | Why::Account { .. } | Why::Store(_) => {
                (State::Stopped { why: why.to_string() }, None)
            }
            Why::Interrupted => (State::Idle, None),
        });
        *self.stopped.lock().unwrap_or_else(PoisonError::into_inner) = state;
    }
}

/// A call, or a run, that is under way. It is counted until this is dropped.
pub(super) struct UnderWay<'o>(&'o AtomicU32);

impl<'o> UnderWay<'o> {
    fn new(count: &'o AtomicU32) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Looks whether every model of the chain may be asked at all.
fn check(options: &Options, keys: &BTreeMap<String, SecretString>) -> Result<(), Error> {
    if options.chain.is_empty() {
        return Err(Error::NoModels);
    }
    for model in &options.chain {
        let provider = &model.provider;
        if !provider.is_free && model.price.is_none() {
            return Err(Error::NoPrice(model.full_name()));
        }
        if provider.needs_key && !keys.contains_key(&provider.name) {
            let variables = provider.key_variables.clone();
            return Err(Error::NoKey { provider: provider.name.clone(), variables });
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "office_tests.rs"]
mod tests;
