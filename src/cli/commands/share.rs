//! `slop share`

use std::fmt::Display;

use serde_json::{Value, json};

use super::asking;
use super::context::CommandContext;
use crate::agent::{PullReport, ShareCounts};
use crate::api::{ApiError, envelope};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::location::ProcessEnvironment;
use crate::cli::output::CommandOutput;
use crate::cli::share_args::ShareCommand;
use crate::config::ShareMode;
use crate::model::{Money, error_chain};
use crate::render::format_grouped;
use crate::service;
use crate::service::{AgentOverrides, SummarySession, TeamCache, agent_options};
use crate::sys::{Clock, WallClock};

/// The most entries that `verify` lists.
const MAX_LISTED: usize = 20;

pub(super) fn run(command: &ShareCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        ShareCommand::Status => write_status(context),
        ShareCommand::Pull { estimate } => pull(*estimate, context),
        ShareCommand::Push { pack } => push(*pack, context),
        ShareCommand::Keygen { .. } => unreachable!("handled before the project is opened"),
        ShareCommand::Verify => verify(context),
    }
}

/// Returns the team's cache; `None` if the settings name none or disable it.
pub(super) fn team_cache(context: &CommandContext<'_>) -> Result<Option<TeamCache>, ApiError> {
    service::team_cache(context.loaded, &ProcessEnvironment::key)
}

fn required_cache(context: &CommandContext<'_>) -> Result<TeamCache, ApiError> {
    team_cache(context)?.ok_or_else(|| match context.loaded.settings.share.mode {
        ShareMode::Off => {
            let hint = "`slop config show --origin` shows where share.mode is set";
            ApiError::user("share_off", "share.mode is \"off\"", hint)
        }
        ShareMode::Read | ShareMode::ReadWrite => {
            let hint = "name one in your own settings file, as [share] url = \"file:///FOLDER\"";
            ApiError::user("no_share", "no team's cache is configured", hint)
        }
    })
}

fn pull(estimate: bool, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let team = required_cache(context)?;
    if estimate {
        let wanted = with_session(context, count_wanted)?;
        let line = format!("{} would be requested", count_summaries(wanted));
        return context.write_result(&json!({"wanted": wanted}), &line);
    }
    let report = with_session(context, |session| {
        session.repair()?;
        session.pull(&team)
    })?;
    report_refused(&report, context);
    context.write_result(&pull_json(&report), &pull_line(&report))
}

/// Fetches missing summaries before models are called. A failure of the cache is only noted, and the models are called.
/// Returns whether to use the cache for the rest of the run.
pub(super) fn pull_first(
    team: &TeamCache,
    session: &mut SummarySession<'_>,
    context: &mut CommandContext<'_>,
) -> bool {
    let rests = session.team_pause_left(team);
    if 0 < rests {
        let reason = format!("it failed several times, and is paused for {rests} s");
        context.output.note(&format!("the team's cache is not used: {reason}"));
        return false;
    }
    match session.pull(team) {
        Ok(report) => {
            report_refused(&report, context);
            if 0 < report.fetched && !context.output.json {
                context.output.message(&pull_line(&report));
            }
            true
        }
        Err(error) => {
            context.output.note(&format!("the team's cache is not used: {}", error.message));
            false
        }
    }
}

/// Stores the summaries written since the last push, if enabled. A failure of the cache is only noted.
pub(super) fn push_outbox(team: &TeamCache, context: &mut CommandContext<'_>) {
    if team.own_key().is_none() {
        return;
    }
    if let Err(error) = service::push_summaries(&context.location.root, context.loaded, team) {
        let message = &error.message;
        context.output.note(&format!("summaries could not be stored in the team's cache yet: {message}"));
    }
}

fn push(pack: bool, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let team = required_cache(context)?;
    let (root, loaded) = (&context.location.root, context.loaded);
    let report = if pack {
        service::pack_summaries(root, loaded, &team, WallClock.now_ms())?
    } else {
        service::push_all_summaries(root, loaded, &team)?
    };
    if 0 < report.unfit {
        let unfit = asking::pluralize(report.unfit, "summary is", "summaries are");
        context.output.note(&format!("{unfit} too long to be shared"));
    }
    let data = json!({"stored": report.stored, "present": report.present, "unfit": report.unfit});
    let line = format!(
        "{} stored, {} already there",
        count_summaries(report.stored),
        format_grouped(report.present)
    );
    context.write_result(&data, &line)
}

fn verify(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let team = required_cache(context)?;
    let report = service::verify_summaries(&context.location.root, context.loaded, &team)?;
    let broken = report.broken.iter();
    let broken = broken.map(|(key, defect)| json!({"key": key.0.to_string(), "why": defect.to_string()}));
    let data = json!({
        "intact": report.intact,
        "absent": report.absent,
        "broken": broken.collect::<Value>(),
    });
    for (key, defect) in report.broken.iter().take(MAX_LISTED) {
        context.output.note(&format!("entry of {} is invalid: {defect}", key.0));
    }
    let line = format!(
        "{} valid, {} missing or by another writer, {} invalid",
        format_grouped(report.intact),
        format_grouped(report.absent),
        format_grouped(report.broken.len() as u64)
    );
    context.write_result(&data, &line)?;
    Ok(if report.broken.is_empty() { failure::DONE } else { failure::USER })
}

fn write_status(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let settings = &context.loaded.settings.share;
    let url = settings.url.as_ref().map(ToString::to_string);
    let mode = settings.mode.name();
    let writers: Vec<String> = settings.writers.iter().map(|writer| writer.name.clone()).collect();
    let counts = service::share_counts(&context.location.root, context.loaded)?;
    let memory = service::team_memory(&context.location.root, context.loaded, &ProcessEnvironment::key);
    // Which summaries are missing depends on the models, so without any model none is missing.
    let lacking = with_session(context, count_wanted).ok();
    let reached = match team_cache(context) {
        Ok(Some(team)) => Some(team.check().map_err(|error| error_chain(&error))),
        Ok(None) => None,
        Err(error) => Some(Err(error.message)),
    };
    for risk in service::signing_risks(context.loaded, &ProcessEnvironment::key) {
        context.output.note(&risk);
    }
    if context.output.json {
        let ShareCounts { own, fetched, disbelieved, outbox, saved } = counts;
        return context.write_data(&json!({
            "url": url,
            "mode": mode,
            "writers": writers,
            "reachable": reached.as_ref().map(Result::is_ok),
            "reason": reached.and_then(Result::err),
            "own": own,
            "fetched": fetched,
            "disbelieved": disbelieved,
            "lacking": lacking,
            "refused": memory.refused,
            "rests_seconds": memory.rests_seconds,
            "outbox": outbox,
            "saved_usd": saved.to_decimal(),
        }));
    }
    context.write_line(&format!("url       {}", url.as_deref().unwrap_or("none: nothing is shared")))?;
    let state = match &reached {
        None => "not used".to_owned(),
        Some(Ok(())) => "can be reached".to_owned(),
        Some(Err(reason)) => format!("cannot be used: {reason}"),
    };
    let rests = match memory.rests_seconds {
        0 => String::new(),
        seconds => format!("; left alone for {seconds} s, because it failed several times"),
    };
    context.write_line(&format!("mode      {mode}; {state}{rests}"))?;
    let names = if writers.is_empty() { "nobody".to_owned() } else { writers.join(", ") };
    context.write_line(&format!("believed  {names}"))?;
    write_counts(&counts, lacking, context)?;
    if !memory.refused.is_empty() {
        context.write_line(&format!("refused   {} at the last pull", count_refused(&memory.refused)))?;
    }
    Ok(failure::DONE)
}

fn write_counts(
    counts: &ShareCounts,
    lacking: Option<u64>,
    context: &mut CommandContext<'_>,
) -> Result<(), CommandError> {
    let ShareCounts { own, fetched, disbelieved, outbox, saved } = *counts;
    let lacking = lacking.map_or("-".to_owned(), format_grouped);
    let (own, fetched) = (format_grouped(own), format_grouped(fetched));
    context.write_line(&format!("here      {own} own, {fetched} fetched, {lacking} missing"))?;
    if 0 < disbelieved {
        let hidden = count_summaries(disbelieved);
        context.write_line(&format!("hidden    {hidden} by untrusted writers"))?;
    }
    context.write_line(&format!("outbox    {}", format_grouped(outbox)))?;
    if saved != Money::ZERO {
        context.write_line(&format!("saved     {saved}, according to the writers"))?;
    }
    Ok(())
}

/// Prints new keys.
pub(super) fn generate_keys(
    command: &str,
    writer: Option<&str>,
    output: &mut CommandOutput,
) -> Result<u8, CommandError> {
    let keys = service::generate_keys(writer)?;
    if output.json {
        let data = match &keys.writer {
            None => json!({"team_key": keys.secret}),
            Some(entry) => json!({"signing_key": keys.secret, "writer": entry}),
        };
        output.write_envelope(&envelope(command, None, &[], &data))?;
        return Ok(failure::DONE);
    }
    output.write_line(&keys.secret)?;
    let files = "in a file that only you can read, and its path in your own settings file as";
    match &keys.writer {
        None => output.message(&format!("the team's key: put it {files} share.team_key_file")),
        Some(entry) => {
            output.write_line(entry)?;
            output.message(&format!("first line, the secret: put it {files} share.signing_key_file"));
            output.message("second line, public: everyone who is to trust it adds it to share.writers");
        }
    }
    Ok(failure::DONE)
}

fn count_wanted(session: &mut SummarySession<'_>) -> Result<u64, ApiError> {
    session.count_wanted()
}

fn with_session<T>(
    context: &mut CommandContext<'_>,
    work: impl FnOnce(&mut SummarySession<'_>) -> Result<T, ApiError>,
) -> Result<T, CommandError> {
    let options = agent_options(context.loaded, AgentOverrides::default())?;
    asking::with_world(context, |context, world| {
        let mut session = SummarySession::open(&context.location.root, context.loaded, options, world)?;
        let done = work(&mut session);
        for note in session.take_notes() {
            context.output.note(&note);
        }
        Ok(done?)
    })
}

fn report_refused(report: &PullReport, context: &mut CommandContext<'_>) {
    let count: u64 = report.refused.values().sum();
    if count == 0 {
        return;
    }
    let entries = asking::pluralize(count, "entry", "entries");
    let reasons = count_refused(report.refused.iter());
    context.output.note(&format!("{entries} of the team's cache rejected: {reasons}"));
}

fn count_refused<'r>(refused: impl IntoIterator<Item = (&'r (impl Display + 'r), &'r u64)>) -> String {
    let reasons = refused.into_iter().map(|(reason, count)| format!("{} {reason}", format_grouped(*count)));
    reasons.collect::<Vec<_>>().join(", ")
}

fn pull_line(report: &PullReport) -> String {
    let (fetched, wanted) = (format_grouped(report.fetched), count_summaries(report.wanted));
    let saved = if report.saved == Money::ZERO { String::new() } else { format!("; {} saved", report.saved) };
    format!("fetched {fetched} of {wanted} from the team's cache{saved}")
}

fn pull_json(report: &PullReport) -> Value {
    let refused = report.refused.iter().map(|(defect, count)| (defect.to_string(), json!(count)));
    json!({
        "wanted": report.wanted,
        "fetched": report.fetched,
        "refused": refused.collect::<serde_json::Map<_, _>>(),
        "saved_usd": report.saved.to_decimal(),
    })
}

fn count_summaries(count: u64) -> String {
    asking::pluralize(count, "summary", "summaries")
}
