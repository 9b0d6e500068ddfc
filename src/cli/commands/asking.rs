//! How commands ask models: the project opened for it, the keys, and what is shown while it goes on.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Duration;

use super::desk::Desk;
use crate::agent::Class;
use crate::agent::Collected;
use crate::agent::Note;
use crate::agent::Options;
use crate::agent::Outcome;
use crate::agent::OverCap;
use crate::agent::Report;
use crate::agent::Why;
use crate::agent::Windows;
use crate::api::Fault;
use crate::api::World;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::progress::Bar;
use crate::model::Money;
use crate::model::Tier;
use crate::render::grouped;
use crate::service::Keys;
use crate::service::Writing;
use crate::service::agent_keys;
use crate::sys::Clock;
use crate::sys::Interrupt;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;
use crate::sys::Web;

/// So many questions that were not answered are told one by one.
const MOST_TOLD: usize = 5;

/// Returns a number with what is counted: one of it, or several.
pub(super) fn counted(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", grouped(count)) }
}

/// Refuses words for files that are empty, as those of a variable that was not set. They would mean the whole project.
pub(super) fn refuse_empty<'w>(mut words: impl Iterator<Item = &'w str>) -> Result<(), Failure> {
    if words.any(|word| word.trim().is_empty()) {
        let message = "take an empty word for a file or a folder";
        return Err(Failure::usage(message, "name one, or `.` for the whole project"));
    }
    Ok(())
}

/// Returns the tiers of these numbers, which were checked to be some.
pub(super) fn tiers(numbers: &[u8]) -> Vec<Tier> {
    let mut tiers: Vec<Tier> = numbers.iter().filter_map(|number| Tier::from_number(*number)).collect();
    tiers.sort_unstable();
    tiers.dedup();
    tiers
}

/// Reads the keys of all whom these options ask, and sees that they stay in this process.
pub(super) fn keys(options: &Options) -> Result<Keys, Fault> {
    // Where the limit cannot be set there is no limit to be had: that is no reason to refuse.
    let _ = crate::sys::refuse_core_files();
    agent_keys(&options.chain, &Environment::key)
}

/// Opens the world for a command that asks, or looks at what was asked.
pub(super) fn in_world<T>(
    desk: &mut Desk<'_>,
    work: impl FnOnce(&mut Desk<'_>, World<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let root = &desk.place.root;
    let files = RealFiles::open(root).map_err(|error| Fault::no_project(root, &error))?;
    let bar = Bar::new(desk.output.has_audience() && !desk.output.json);
    let world = World {
        clock: &WallClock,
        disk: &RealDisk,
        files: &files,
        processes: &RealProcesses,
        progress: &bar,
    };
    work(desk, world)
}

/// Asks, with a bar on the terminal, until all is answered, a person stops it or the time is over.
pub(super) fn ask(
    desk: &mut Desk<'_>,
    writing: &mut Writing<'_>,
    keys: Keys,
    proxy: Option<String>,
    most: Option<Duration>,
) -> Result<Outcome, Failure> {
    let interrupt = interrupt()?;
    let end = most.map(|most| WallClock.monotonic() + most);
    let is_stopped = || interrupt.is_asked() || end.is_some_and(|end| end <= WallClock.monotonic());
    let network = network(writing, proxy)?;
    let windows = Windows { network: &network, commands: &RealProcesses, clock: &WallClock };
    let bar = Bar::of_questions(desk.output.has_audience() && !desk.output.json);
    let shown = Shown { bar: &bar, state: Mutex::default() };
    let outcome = writing.ask(keys, windows, most.is_some(), &shown, &is_stopped);
    bar.finish();
    for note in writing.take_notes() {
        desk.output.note(&note);
    }
    let mut outcome = outcome?;
    if !interrupt.is_asked() && end.is_some() && matches!(outcome.stopped, Some(Why::Interrupted)) {
        outcome.stopped = None;
    }
    Ok(outcome)
}

/// Brings home what batches have brought.
pub(super) fn collect(
    writing: &Writing<'_>,
    keys: &Keys,
    proxy: Option<String>,
) -> Result<Collected, Failure> {
    let network = Web::new(proxy);
    let windows = Windows { network: &network, commands: &RealProcesses, clock: &WallClock };
    Ok(writing.collect(keys, windows)?)
}

/// Hands over in a batch what there is to ask.
pub(super) fn ask_in_batches(
    desk: &mut Desk<'_>,
    writing: &mut Writing<'_>,
    keys: Keys,
    proxy: Option<String>,
) -> Result<Outcome, Failure> {
    let interrupt = interrupt()?;
    let network = network(writing, proxy)?;
    let windows = Windows { network: &network, commands: &RealProcesses, clock: &WallClock };
    let asked = writing.ask_in_batches(keys, windows, &|| interrupt.is_asked());
    for note in writing.take_notes() {
        desk.output.note(&note);
    }
    Ok(asked?)
}

/// Opens the window to servers, if it can be one to those that are asked.
fn network(writing: &Writing<'_>, proxy: Option<String>) -> Result<Web, Fault> {
    let network = Web::new(proxy);
    if writing.is_all_secure() {
        let hint = "install your system's certificates of authorities (ca-certificates), or name them in SSL_CERT_FILE";
        let fault = |error| Fault::environment("no_certificates", format!("ask a model: {error}"), hint);
        network.can_be_secure().map_err(fault)?;
    }
    Ok(network)
}

fn interrupt() -> Result<Interrupt, Fault> {
    let fault = |error| Fault::environment("no_thread", format!("take signals: {error}"), "try again");
    Interrupt::heed().map_err(fault)
}

/// Tells which questions were not answered, and why.
pub(super) fn tell_unanswered(outcome: &Outcome, desk: &mut Desk<'_>) {
    let refused = outcome.refused.iter().map(|(errand, why)| (&errand.place, why.clone()));
    let withheld = outcome.withheld.iter().map(|(errand, why)| (&errand.place, why.to_string()));
    let all: Vec<_> = withheld.chain(refused).collect();
    for (place, why) in all.iter().take(MOST_TOLD) {
        desk.output.note(&format!("no summary of {place}: {why}"));
    }
    if MOST_TOLD < all.len() {
        desk.output.note(&format!("and none of {} more; --json tells of all", all.len() - MOST_TOLD));
    }
    if 0 < outcome.absurd {
        let words = "are said to have taken more tokens than was sent or asked for, and count as their worst";
        desk.output.note(&format!("{} calls {words}", outcome.absurd));
    }
    if let (Some(trouble), None) = (&outcome.trouble, &outcome.stopped) {
        let left = counted(outcome.left, "question is", "questions are");
        desk.output.note(&format!("{left} left, run this again to ask them: {trouble}"));
    }
    if let Some(why) = &outcome.stopped {
        desk.output.note(&format!("stopped before all was asked: {why}{}", remedy(why)));
    }
}

/// Returns what a person can do about it, with what leads over to it.
fn remedy(why: &Why) -> String {
    match (why, why.setting()) {
        (Why::OverCap { cap: OverCap::Total, .. }, Some(setting)) => {
            format!("; allow more by {setting} in your own settings file, no day gives it back")
        }
        (_, Some(setting)) => {
            format!("; allow more by {setting} in your own settings file, or go on tomorrow")
        }
        (Why::Account { class: Class::Request, .. }, None) => {
            "; look at the model's name and the provider's base_url or command in your own settings file, and run this \
             again"
                .to_owned()
        }
        (Why::Account { class: Class::Settings, .. }, None) => {
            "; change your own settings file, and run this again".to_owned()
        }
        (Why::Account { .. }, None) => "; look after the account or the key, and run this again".to_owned(),
        (Why::Down { .. } | Why::Store(_), None) => "; run this again later, what came is kept".to_owned(),
        (Why::Interrupted | Why::OverCap { .. }, None) => "; run this again to go on".to_owned(),
    }
}

/// Returns the exit code that says what came of a run.
pub(super) fn exit_code(outcome: &Outcome) -> u8 {
    match &outcome.stopped {
        Some(why) => exit_code_of(why),
        None if 0 < outcome.left && outcome.answered + outcome.done == 0 => failure::ENVIRONMENT,
        None if !outcome.refused.is_empty() || !outcome.withheld.is_empty() || 0 < outcome.left => {
            failure::INCOMPLETE
        }
        None => failure::DONE,
    }
}

/// Returns the exit code of a run that ended too early.
pub(super) const fn exit_code_of(why: &Why) -> u8 {
    match why {
        Why::OverCap { .. } | Why::Account { .. } => failure::USER,
        Why::Down { .. } | Why::Store(_) => failure::ENVIRONMENT,
        Why::Interrupted => failure::INCOMPLETE,
    }
}

/// Shows a run on a bar.
struct Shown<'b> {
    bar: &'b Bar,
    state: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    begun: usize,
    ended: usize,
    spent: Money,
}

impl Report for Shown<'_> {
    fn note(&self, note: &Note<'_>) {
        let mut seen = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match note {
            Note::Began(_) => seen.begun += 1,
            Note::Spent(money) => seen.spent = seen.spent + *money,
            Note::Waiting { provider, time, .. } => {
                self.bar.says(format!("waiting {} s for {provider}", time.as_secs().max(1)));
                return;
            }
            Note::Ended(..) => seen.ended += 1,
        }
        self.bar.reaches(seen.ended, seen.begun);
        self.bar.grows(seen.begun);
        self.bar.says(seen.spent.to_string());
    }
}
