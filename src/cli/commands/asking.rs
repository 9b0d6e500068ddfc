//! Running the sub-agent for a command: opening the project, reading keys, and reporting progress.

use std::sync::Mutex;
use std::time::Duration;

use super::context::CommandContext;
use crate::agent::{
    AgentWorld, CapExceeded, CollectedBatches, FailureClass, Options, RunEvent, RunObserver, RunOutcome,
    StopReason,
};
use crate::api::{ApiError, World};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::location::ProcessEnvironment;
use crate::cli::progress::TerminalProgress;
use crate::model::{Money, Tier, lock};
use crate::render::format_grouped;
use crate::service;
use crate::service::{AskOptions, ProviderKeys, SummarySession, TeamCache, agent_keys};
use crate::sys::{Clock, HttpClient, InterruptFlag, WallClock};

const MAX_LISTED: usize = 5;

/// Returns a number with its noun, in the singular or the plural.
pub(super) fn pluralize(count: u64, one: &str, several: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{} {several}", format_grouped(count)) }
}

/// Rejects empty file arguments, such as an unset shell variable: they would select the whole project.
pub(super) fn reject_empty<'w>(mut words: impl Iterator<Item = &'w str>) -> Result<(), CommandError> {
    if words.any(|word| word.trim().is_empty()) {
        let message = "name of a file or folder is empty";
        return Err(CommandError::usage(message, "name one, or `.` for the whole project"));
    }
    Ok(())
}

/// Returns the tiers with these numbers, which the flags have checked.
pub(super) fn parse_tiers(numbers: &[u8]) -> Vec<Tier> {
    let mut tiers: Vec<Tier> = numbers.iter().filter_map(|number| Tier::from_number(*number)).collect();
    // A tier that is named twice must not be written and paid for twice.
    tiers.sort_unstable();
    tiers.dedup();
    tiers
}

/// Reads the keys of all configured providers, and disables core dumps, which would contain them.
pub(super) fn load_keys(options: &Options) -> Result<ProviderKeys, ApiError> {
    // A run is not refused because the system does not allow setting the limit.
    let _ = crate::sys::disable_core_dumps();
    agent_keys(&options.chain, &ProcessEnvironment::key)
}

pub(super) fn with_world<T>(
    context: &mut CommandContext<'_>,
    work: impl FnOnce(&mut CommandContext<'_>, World<'_>) -> Result<T, CommandError>,
) -> Result<T, CommandError> {
    let (root, bar) = (&context.location.root, context.progress());
    service::with_world(root, &bar, |world| work(context, world))
}

/// Runs all tasks, with a progress bar on a terminal, until they are done, the user interrupts, or the time is up.
pub(super) fn run_questions(
    context: &mut CommandContext<'_>,
    writing: &mut SummarySession<'_>,
    keys: ProviderKeys,
    proxy: Option<String>,
    most: Option<Duration>,
    team: Option<&TeamCache>,
) -> Result<RunOutcome, CommandError> {
    let interrupt = watch_interrupt()?;
    // Monotonic, so that setting the system's clock does not affect the wait.
    let end = most.map(|most| WallClock.monotonic() + most);
    let is_stopped = || interrupt.is_set() || end.is_some_and(|end| end <= WallClock.monotonic());
    let network = open_network(writing, proxy)?;
    let commands = writing.commands().clone();
    let world = AgentWorld { network: &network, commands: &commands, clock: &WallClock };
    let bar = TerminalProgress::for_questions(context.output.is_interactive() && !context.output.json);
    let shown = RunDisplay { bar: &bar, state: Mutex::default() };
    let options = AskOptions { observer: &shown, is_stopped: &is_stopped, waits: most.is_some(), team };
    let outcome = writing.ask(keys, world, options);
    bar.finish();
    // Shown before an error is returned, because they may explain it.
    for note in writing.take_notes() {
        context.output.note(&note);
    }
    let mut outcome = outcome?;
    // A timeout is not an interruption: the document is composed with the available summaries.
    if !interrupt.is_set() && end.is_some() && matches!(outcome.stopped, Some(StopReason::Interrupted)) {
        outcome.stopped = None;
    }
    Ok(outcome)
}

pub(super) fn collect_batches(
    writing: &SummarySession<'_>,
    keys: &ProviderKeys,
    proxy: Option<String>,
) -> Result<CollectedBatches, CommandError> {
    let network = HttpClient::new(proxy);
    let commands = writing.commands().clone();
    let world = AgentWorld { network: &network, commands: &commands, clock: &WallClock };
    Ok(writing.collect(keys, world)?)
}

pub(super) fn ask_in_batches(
    context: &mut CommandContext<'_>,
    writing: &mut SummarySession<'_>,
    keys: ProviderKeys,
    proxy: Option<String>,
) -> Result<RunOutcome, CommandError> {
    let interrupt = watch_interrupt()?;
    let network = open_network(writing, proxy)?;
    let commands = writing.commands().clone();
    let world = AgentWorld { network: &network, commands: &commands, clock: &WallClock };
    let asked = writing.ask_in_batches(keys, world, &|| interrupt.is_set());
    for note in writing.take_notes() {
        context.output.note(&note);
    }
    Ok(asked?)
}

/// Returns the HTTP client, after checking that it can verify certificates if all models need that.
fn open_network(writing: &SummarySession<'_>, proxy: Option<String>) -> Result<HttpClient, ApiError> {
    let network = HttpClient::new(proxy);
    // Checked before anything is reserved: each call would otherwise fail with its maximum cost on the ledger. A
    // chain with a local model can do without certificates.
    if writing.is_all_secure() {
        let hint = "install your system's CA certificates (ca-certificates), or name them in SSL_CERT_FILE";
        let fault = |error: crate::model::HttpError| {
            ApiError::environment("no_certificates", error.to_string(), hint)
        };
        network.check_tls().map_err(fault)?;
    }
    Ok(network)
}

fn watch_interrupt() -> Result<InterruptFlag, ApiError> {
    let fault = |error| {
        ApiError::environment("no_thread", format!("thread for signals did not start: {error}"), "try again")
    };
    InterruptFlag::install().map_err(fault)
}

pub(super) fn report_unanswered(outcome: &RunOutcome, context: &mut CommandContext<'_>) {
    let refused = outcome.refused.iter().map(|(task, reason)| (&task.location, reason.clone()));
    let withheld = outcome.withheld.iter().map(|(task, reason)| (&task.location, reason.to_string()));
    // Withheld files come first, because the user has to look at them.
    let all: Vec<_> = withheld.chain(refused).collect();
    for (place, reason) in all.iter().take(MAX_LISTED) {
        context.output.note(&format!("no summary of {place}: {reason}"));
    }
    if MAX_LISTED < all.len() {
        context.output.note(&format!("and none of {} more; --json lists all", all.len() - MAX_LISTED));
    }
    if 0 < outcome.implausible {
        let words = "reported more tokens than possible, and count at their worst cost";
        context.output.note(&format!("{} calls {words}", outcome.implausible));
    }
    if let (Some(error), None) = (&outcome.last_error, &outcome.stopped) {
        let left = pluralize(outcome.remaining, "question is", "questions are");
        context.output.note(&format!("{left} left, run this again to continue: {error}"));
    }
    if let Some(reason) = &outcome.stopped {
        context.output.note(&format!("stopped early: {reason}{}", advice(reason)));
    }
}

/// Returns advice for the user, beginning with the punctuation that joins it to the message.
fn advice(reason: &StopReason) -> String {
    match (reason, reason.setting()) {
        (StopReason::OverCap { cap: CapExceeded::Total, .. }, Some(setting)) => {
            format!("; allow more by {setting} in your own settings file, no day gives it back")
        }
        (_, Some(setting)) => {
            format!("; allow more by {setting} in your own settings file, or go on tomorrow")
        }
        (StopReason::Account { class: FailureClass::Request, .. }, None) => {
            "; look at the model's name and the provider's base_url or command in your own settings file, and run this \
             again"
                .to_owned()
        }
        (StopReason::Account { class: FailureClass::Settings, .. }, None) => {
            "; change your own settings file, and run this again".to_owned()
        }
        (StopReason::Account { .. }, None) => "; look after the account or the key, and run this again".to_owned(),
        (StopReason::Unreachable { .. } | StopReason::Store(_), None) => "; run this again later, what came is kept".to_owned(),
        (StopReason::OverCap { cap: CapExceeded::DayClosed, .. }, None) => {
            "; go on tomorrow (UTC)".to_owned()
        }
        (StopReason::Interrupted | StopReason::OverCap { .. }, None) => "; run this again to go on".to_owned(),
    }
}

pub(super) fn exit_code(outcome: &RunOutcome) -> u8 {
    match &outcome.stopped {
        Some(reason) => exit_code_of(reason),
        // Without any response or reached limit, the network is probably down.
        None if 0 < outcome.remaining && outcome.answered + outcome.done == 0 => failure::ENVIRONMENT,
        None if !outcome.refused.is_empty() || !outcome.withheld.is_empty() || 0 < outcome.remaining => {
            failure::INCOMPLETE
        }
        None => failure::DONE,
    }
}

/// Returns the exit code of a run that ended too early.
pub(super) const fn exit_code_of(reason: &StopReason) -> u8 {
    match reason {
        StopReason::OverCap { .. } | StopReason::Account { .. } => failure::USER,
        StopReason::Unreachable { .. } | StopReason::Store(_) => failure::ENVIRONMENT,
        StopReason::Interrupted => failure::INCOMPLETE,
    }
}

struct RunDisplay<'b> {
    bar: &'b TerminalProgress,
    state: Mutex<RunCounts>,
}

#[derive(Default)]
struct RunCounts {
    begun: usize,
    ended: usize,
    spent: Money,
}

impl RunObserver for RunDisplay<'_> {
    fn notify(&self, note: &RunEvent<'_>) {
        let mut seen = lock(&self.state);
        match note {
            RunEvent::Started => seen.begun += 1,
            RunEvent::Spent(money) => seen.spent = seen.spent + *money,
            RunEvent::Waiting { provider, retry_in: time } => {
                self.bar.set_message(format!("waiting {} s for {provider}", time.as_secs().max(1)));
                return;
            }
            RunEvent::Finished => seen.ended += 1,
        }
        self.bar.set_position(seen.ended, seen.begun);
        // The total grows with the tasks that have begun: how many folders become ready is not known in advance.
        self.bar.set_total(seen.begun);
        self.bar.set_message(seen.spent.to_string());
    }
}
