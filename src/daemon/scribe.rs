//! The sub-agent in the background: what has changed and rested is asked of a model, as far as the settings allow.
//!
//! Nothing waits for it, and nothing ends with it.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::time::Duration;

use secrecy::SecretString;

use super::event::Event;
use super::standing::Plan;
use super::standing::Standing;
use super::standing::WhileItHolds;
use super::standing::plan;
use super::worker::Shop;
use crate::agent;
use crate::agent::Collected;
use crate::agent::Office;
use crate::agent::Outcome;
use crate::agent::Status;
use crate::agent::Why;
use crate::agent::Windows;
use crate::agent::Worded;
use crate::api::AgentStatus;
use crate::config::Inputs;
use crate::engine::Project;
use crate::engine::Silent;
use crate::engine::World;
use crate::engine::agent::Errands;
use crate::model::SummaryKey;
use crate::model::with_causes;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;
use crate::sys::Web;
use crate::sys::refuse_core_files;

/// So many questions are asked before it is looked again which matter most.
const ROUND: usize = 64;
/// How long there is nothing to do where nobody tells of a change.
const REST: Duration = Duration::from_mins(10);
/// After a mishap that may pass, at most.
const AFTER_MISHAP: Duration = Duration::from_mins(1);
/// How often it is looked whether the settings are still the same, where nobody is asked.
const IDLE_LOOK: Duration = Duration::from_secs(5);
/// How often it is looked whether the settings are still the same.
pub(super) const SETTINGS_LOOK: Duration = Duration::from_secs(1);
/// A look for errands is followed by a pause of so many times what it took, so that it takes little of a processor.
const PAUSES_PER_LOOK: u32 = 20;

/// How often the answers of batches are looked for.
const BATCH_LOOK: Duration = Duration::from_mins(5);

/// Looks up the key that a variable of the environment holds.
pub type KeyOf = fn(&str) -> Option<SecretString>;

/// What the scribe is at, for whoever asks.
pub(super) struct Scribe {
    status: Mutex<AgentStatus>,
    key: KeyOf,
}

/// What one round came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Written {
    /// Questions that were answered.
    pub(super) answered: u64,
    /// What they cost, in words.
    pub(super) cost: String,
    /// Questions that are not asked again soon, each with why.
    pub(super) unanswered: Vec<String>,
    /// Why the round ended early.
    pub(super) stopped: Option<String>,
}

impl Scribe {
    pub(super) fn new(key: KeyOf) -> Self {
        Self { status: Mutex::new(AgentStatus::off()), key }
    }

    /// Returns what the scribe is at.
    pub(super) fn status(&self) -> AgentStatus {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, status: AgentStatus) {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
    }
}

/// Has summaries written until the daemon ends; `pokes` tell that files or settings may have changed.
pub(super) fn write_all(shop: &Shop, scribe: &Scribe, pokes: &Receiver<()>) {
    let mut mishaps = 0;
    loop {
        let began = WallClock.monotonic();
        // What a panic leaves half done is made anew in the next round; the ledger is on the disk.
        let end = catch_unwind(AssertUnwindSafe(|| serve(shop, scribe, pokes))).unwrap_or(Some(End::Mishap));
        if AFTER_MISHAP < WallClock.monotonic().saturating_sub(began) {
            mishaps = 0;
        }
        let goes_on = match end {
            None => false,
            Some(End::Anew) => true,
            Some(End::Nobody(inputs)) => wait(shop, pokes, REST, || are_others(shop, &inputs)),
            Some(End::Mishap) => {
                // A cache that somebody deleted is there again at once; a disk that is full may be so for long.
                let rest = SETTINGS_LOOK.saturating_mul(1 << mishaps).min(AFTER_MISHAP);
                mishaps = (mishaps + 1).min(6);
                wait(shop, pokes, rest, || false)
            }
        };
        if !goes_on {
            return;
        }
    }
}

/// Why it is served no more by some settings.
enum End {
    /// They have changed.
    Anew,
    /// By these, nobody is to be asked.
    Nobody(Inputs),
    /// Something went wrong that may pass.
    Mishap,
}

/// Serves by the settings as they are now, until that ends; `None` where the daemon ends.
fn serve(shop: &Shop, scribe: &Scribe, pokes: &Receiver<()>) -> Option<End> {
    let Ok(inputs) = shop.sources.inputs(&shop.root) else { return Some(End::Mishap) };
    let plan = match plan(shop, &inputs, scribe.key) {
        Ok(Some(plan)) => plan,
        Ok(None) => {
            scribe.set(AgentStatus::off());
            return Some(End::Nobody(inputs));
        }
        Err(fault) => {
            scribe.set(AgentStatus::stopped(fault.message.clone()));
            return Some(End::Nobody(inputs));
        }
    };
    let Plan { options, keys, engine, cache } = plan.clone();
    if !keys.is_empty() {
        // Where the system does not let us, the keys are as safe as the environment that they came from.
        let _ = refuse_core_files();
    }
    let Ok(files) = RealFiles::open(&shop.root) else { return Some(End::Mishap) };
    let world = World {
        clock: &WallClock,
        disk: &RealDisk,
        files: &files,
        processes: &RealProcesses,
        progress: &Silent,
    };
    let web = Web::new(options.proxy.clone());
    let windows = Windows { network: &web, commands: &RealProcesses, clock: &WallClock };
    let office = match Office::open(&cache, windows, options, keys) {
        Ok(office) => office,
        Err(error) => {
            scribe.set(AgentStatus::stopped(with_causes(&error)));
            return Some(End::Mishap);
        }
    };
    if let Some(recovery) = office.recovery() {
        // The loop ends before this thread does.
        let _ = shop.events.send(Event::Salvaged(recovery.to_string()));
    }
    let Ok(mut project) = Project::open(&shop.root, engine, world) else { return Some(End::Mishap) };
    project.share(Arc::clone(&shop.tree));
    let standing = Standing::new(shop, scribe.key, plan, inputs);
    let mut looked = None;
    loop {
        let Some(pending) = bring_home(&office, &standing, &mut looked) else { return Some(End::Mishap) };
        let rest = round(&mut project, &office, scribe, &standing, &pending);
        match rest {
            Rest::Over if shop.is_stopping.load(Ordering::Relaxed) => return None,
            Rest::Over => return Some(End::Mishap),
            Rest::For(rest) if !wait(shop, pokes, rest.min(next_look(&pending)), || standing.is_past()) => {
                return None;
            }
            Rest::For(_) if standing.is_past() => return Some(End::Anew),
            Rest::For(_) => {}
        }
    }
}

/// What is done after a round.
enum Rest {
    /// Nothing, for so long; then the next round.
    For(Duration),
    /// Everything is opened anew.
    Over,
}

/// Takes in what batches have brought, where it is time to look, and returns the questions that are still in some;
/// `None` where the books cannot be read.
fn bring_home(
    office: &Office<'_>,
    standing: &Standing<'_>,
    looked: &mut Option<Duration>,
) -> Option<BTreeSet<SummaryKey>> {
    let now = WallClock.monotonic();
    if looked.is_none_or(|at| BATCH_LOOK <= now.saturating_sub(at)) {
        *looked = Some(now);
        let Collected { answered, spent, stopped, .. } = office.collect(&|| standing.has_fallen());
        standing.tell(&Outcome { answered, stopped, spent, ..Outcome::default() });
    }
    office.in_batches().ok()
}

/// Returns how long it may take until batches are looked at again.
fn next_look(pending: &BTreeSet<SummaryKey>) -> Duration {
    if pending.is_empty() { REST } else { BATCH_LOOK }
}

/// Finds out what there is to ask, and asks the most important of it.
fn round(
    project: &mut Project<'_>,
    office: &Office<'_>,
    scribe: &Scribe,
    standing: &Standing<'_>,
    pending: &BTreeSet<SummaryKey>,
) -> Rest {
    let began = WallClock.monotonic();
    let wish = &office.options().wish;
    let Ok(mut errands) = project.errands(wish) else { return Rest::Over };
    // Else they would take the places of those that can be asked.
    errands.ready.retain(|errand| !pending.contains(&errand.id));
    // What is to be told of the files is told by those who answer.
    project.take_notes();
    let look = WallClock.monotonic().saturating_sub(began);
    let pause = look.saturating_mul(PAUSES_PER_LOOK).max(SETTINGS_LOOK);
    scribe.show(office, &errands);
    if errands.ready.is_empty() {
        return Rest::For(errands.next_in.unwrap_or(REST).clamp(pause, REST));
    }
    let preparer = project.preparer(&errands, wish);
    let worded = WhileItHolds { worded: Worded { preparer: &preparer, wish }, standing };
    let batch = errands.ready.iter().take(ROUND).cloned().collect();
    let report = Live { scribe, office, errands: &errands };
    let outcome = office.run(batch, &worded, &report, &|| standing.has_fallen());
    scribe.show(office, &errands);
    let rest = rest_after(&outcome, pause);
    standing.tell(&outcome);
    if standing.is_past() { Rest::For(Duration::ZERO) } else { rest }
}

fn rest_after(outcome: &Outcome, pause: Duration) -> Rest {
    match &outcome.stopped {
        Some(Why::Store(_)) => Rest::Over,
        Some(Why::Down { retry_in, .. }) => Rest::For((*retry_in).max(pause)),
        Some(Why::OverCap { .. } | Why::Account { .. }) => Rest::For(REST),
        Some(Why::Interrupted) => Rest::For(Duration::ZERO),
        // What was answered may have made folders ready.
        None if 0 < outcome.answered + outcome.done => Rest::For(Duration::ZERO),
        None if outcome.left + outcome.taken == 0 => Rest::For(pause),
        None => Rest::For(AFTER_MISHAP),
    }
}

/// Waits until so long has passed or `is_over` says so; says whether the daemon goes on. A poke ends the wait, but not
/// before the machine had a second of rest.
fn wait(shop: &Shop, pokes: &Receiver<()>, rest: Duration, is_over: impl Fn() -> bool) -> bool {
    let end = WallClock.monotonic().saturating_add(rest);
    loop {
        let left = end.saturating_sub(WallClock.monotonic());
        match pokes.recv_timeout(left.min(IDLE_LOOK)) {
            Ok(()) => {
                let pause = pokes.recv_timeout(SETTINGS_LOOK.min(left));
                pokes.try_iter().for_each(drop);
                return !matches!(pause, Err(RecvTimeoutError::Disconnected)) && goes_on(shop);
            }
            Err(RecvTimeoutError::Disconnected) => return false,
            Err(RecvTimeoutError::Timeout) if left <= IDLE_LOOK || is_over() => return goes_on(shop),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn goes_on(shop: &Shop) -> bool {
    !shop.is_stopping.load(Ordering::Relaxed)
}

/// Says whether the settings are others than these. Where they cannot be read, these hold.
fn are_others(shop: &Shop, inputs: &Inputs) -> bool {
    shop.sources.inputs(&shop.root).is_ok_and(|now| now != *inputs)
}

impl Standing<'_> {
    fn tell(&self, outcome: &Outcome) {
        let refused = outcome.refused.iter().map(|(errand, why)| format!("{}: {why}", errand.place));
        let withheld = outcome.withheld.iter().map(|(errand, why)| format!("{}: {why}", errand.place));
        let stopped = outcome.stopped.as_ref().filter(|why| !matches!(why, Why::Interrupted));
        let written = Written {
            answered: outcome.answered,
            cost: outcome.spent.to_string(),
            unanswered: refused.chain(withheld).collect(),
            stopped: stopped.map(ToString::to_string),
        };
        if written.answered == 0 && written.unanswered.is_empty() && written.stopped.is_none() {
            return;
        }
        // The loop ends before this thread does.
        let _ = self.shop.events.send(Event::Written(written));
    }
}

/// Keeps the status up to date while questions are asked.
struct Live<'l, 'w> {
    scribe: &'l Scribe,
    office: &'l Office<'w>,
    errands: &'l Errands,
}

impl agent::Report for Live<'_, '_> {
    fn note(&self, _note: &agent::Note<'_>) {
        self.scribe.show(self.office, self.errands);
    }
}

impl Scribe {
    fn show(&self, office: &Office<'_>, errands: &Errands) {
        let Ok(Status { state, in_flight, waiting, spent, caps }) = office.status() else { return };
        let why = match &state {
            agent::State::Paused { why, .. } | agent::State::Stopped { why } => Some(why.clone()),
            agent::State::Off | agent::State::Idle | agent::State::Working => None,
        };
        self.set(AgentStatus {
            state: state.name().to_owned(),
            reason: why,
            models: office.options().chain.iter().map(|model| model.full_name().to_string()).collect(),
            in_flight,
            waiting: if in_flight == 0 { 0 } else { waiting },
            ready: errands.ready.len() as u64,
            done: errands.done,
            young: errands.young,
            refused: errands.refused,
            not_asked: errands.not_asked,
            spent_today_usd: spent.day.into(),
            spent_total_usd: spent.total.into(),
            cap_day_usd: caps.day.into(),
            cap_total_usd: caps.total.into(),
        });
    }
}
