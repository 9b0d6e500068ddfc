//! `slop daemon`

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use serde_json::json;

use super::context::CommandContext;
use crate::api::{AgentStatus, ApiError, DaemonMode, DaemonStatus, VERSION};
use crate::cli::daemon_args::{DaemonCommand, WatchArgs};
use crate::cli::environment::ProcessEnvironment;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::daemon;
use crate::daemon::{DaemonPaths, StartOutcome};
use crate::render::{format_grouped, format_seconds, format_size};
use crate::sys::RealDisk;

/// Of a log that is longer, the end is read.
const MOST_LOG: u64 = 8 << 20;

pub(super) fn run(
    command: &DaemonCommand,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let places = context.places();
    match command {
        DaemonCommand::Start(args) => start(args, &places, environment, context),
        DaemonCommand::Stop => stop(&places, context),
        DaemonCommand::Restart(args) => {
            daemon::stop(&places).map_err(ApiError::from)?;
            start(args, &places, environment, context)
        }
        DaemonCommand::Status => status(&places, context),
        DaemonCommand::Logs { lines } => logs(&places, *lines, context),
        DaemonCommand::Unit => {
            let program = program(environment)?;
            context.output.write_text(&daemon::systemd_unit(&program, &places))?;
            Ok(failure::DONE)
        }
    }
}

fn program(environment: &ProcessEnvironment) -> Result<PathBuf, CommandError> {
    environment.program.clone().ok_or_else(|| {
        let hint = "start `slop watch` by hand, in the background";
        ApiError::environment("no_program", "path of the running program is unknown", hint).into()
    })
}

fn start(
    args: &WatchArgs,
    places: &DaemonPaths,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let listen = args.listen.map(|address| format!("--listen={address}"));
    let paranoid = args.paranoid.then(|| "--paranoid".to_owned());
    let flags: Vec<OsString> = listen.into_iter().chain(paranoid).map(OsString::from).collect();
    let settings = context.loaded.engine_options(&context.location.root);
    let started = daemon::start(&program(environment)?, places, &settings, &flags).map_err(ApiError::from)?;
    let (pid, is_new, words) = match started {
        StartOutcome::Spawned(pid) => (pid, true, "started"),
        StartOutcome::Running { pid, version } => {
            if version != VERSION {
                let why = "commands of this one do not ask it";
                let words = format!("the daemon is slop {version}, this is slop {VERSION}: {why}");
                context.output.note(&format!("{words}; `slop daemon restart` replaces it"));
            }
            (pid, false, "runs already")
        }
    };
    let status = daemon::status(places);
    if let Some(status) = &status
        && !is_new
        && has_other_flags(status, args)
    {
        context
            .output
            .note("it runs with other flags than these; `slop daemon restart` with these takes them");
    }
    let listen = status.and_then(|status| status.listen);
    if context.output.json {
        context.write_data(&json!({"pid": pid, "started": is_new, "listen": listen}))?;
        return Ok(failure::DONE);
    }
    let port = listen.map_or(String::new(), |address| format!(", listening on {address}"));
    context.output.write_line(&format!("{words}, process {pid}{port}"))?;
    Ok(failure::DONE)
}

/// Returns whether a daemon does not do what flags ask for. What they do not ask for it may do.
fn has_other_flags(status: &DaemonStatus, args: &WatchArgs) -> bool {
    let listens = |wanted: SocketAddr| {
        let address: Option<SocketAddr> = status.listen.as_ref().and_then(|address| address.parse().ok());
        address.is_some_and(|address| {
            address.ip() == wanted.ip() && [0, address.port()].contains(&wanted.port())
        })
    };
    !args.listen.is_none_or(listens) || (args.paranoid && !status.paranoid.on)
}

fn stop(places: &DaemonPaths, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let stopped = daemon::stop(places).map_err(ApiError::from)?;
    if context.output.json {
        context.write_data(&json!({"pid": stopped, "stopped": stopped.is_some()}))?;
        return Ok(failure::DONE);
    }
    context
        .output
        .write_line(&stopped.map_or("none runs".to_owned(), |pid| format!("stopped, process {pid}")))?;
    Ok(failure::DONE)
}

fn status(places: &DaemonPaths, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let Some(status) = daemon::status(places) else {
        if let Some(hangs) = daemon::unresponsive(places) {
            return Err(ApiError::from(hangs).into());
        }
        let message = "no daemon is running for this project";
        return Err(ApiError::user(
            "no_daemon",
            message,
            "`slop daemon start` starts one, `slop watch` in the foreground",
        )
        .into());
    };
    if context.output.json {
        context.write_data(&status)?;
        return Ok(failure::DONE);
    }
    for (name, value) in table(&status) {
        context.write_line(&format!("{name:<10} {value}"))?;
    }
    Ok(failure::DONE)
}

fn table(status: &DaemonStatus) -> Vec<(&'static str, String)> {
    let mode = match status.mode {
        DaemonMode::Starting => "starting",
        DaemonMode::Events => "events",
        DaemonMode::Verified => "verified",
    };
    let reason = status.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
    let uptime = format_seconds(std::time::Duration::from_millis(status.uptime_ms));
    let limit = status.watch_limit.map_or(String::new(), |limit| format!(" of {}", format_grouped(limit)));
    let mut rows = vec![
        ("process", format!("{}, slop {}, for {uptime}", status.pid, status.version)),
        ("mode", format!("{mode}{reason}")),
        ("clock", status.clock.clone()),
        ("pending", format_grouped(status.pending)),
        (
            "answers",
            format!("{}, {} waiting", format_grouped(status.answers), format_grouped(status.queue_waiting)),
        ),
        ("watches", format!("{}{limit}", format_grouped(status.watches))),
        (
            "events",
            format!(
                "{}, {} overflows, {} rescans",
                format_grouped(status.events),
                status.overflows,
                status.rescans
            ),
        ),
        ("missed", format_grouped(status.missed)),
        ("lag", format!("{} ms", status.lag_ms)),
        (
            "store",
            format!("{}, log {}", format_size(status.store.bytes), format_size(status.store.wal_bytes)),
        ),
        ("agent", agent_line(&status.agent)),
    ];
    if status.paranoid.on {
        let (answers, mistakes) =
            (format_grouped(status.paranoid.answers), format_grouped(status.paranoid.mistakes));
        rows.push(("paranoid", format!("{answers} answers, {mistakes} mistakes")));
    }
    if let Some(audit) = status.last_audit {
        rows.push(("audit", format!("{} differences", format_grouped(audit.differences))));
    }
    rows.extend(status.listen.as_ref().map(|address| ("listening", address.clone())));
    rows.extend(status.rss_bytes.map(|bytes| ("memory", format_size(bytes))));
    rows
}

/// Returns what the sub-agent is at, how much there is to do, and what it costs.
fn agent_line(agent: &AgentStatus) -> String {
    if agent.models.is_empty() {
        let reason = agent.reason.as_ref().map_or(String::new(), |reason| format!(": {reason}"));
        return format!("{}{reason}", agent.state);
    }
    let mut line = format!(
        "{}, {} to ask, {} under way, {} done, {} of {} today",
        agent.state,
        format_grouped(agent.ready),
        agent.in_flight,
        format_grouped(agent.done),
        agent.spent_today_usd,
        agent.cap_day_usd,
    );
    if let Some(reason) = &agent.reason {
        line.push_str(": ");
        line.push_str(reason);
    }
    line
}

fn logs(places: &DaemonPaths, lines: usize, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let bytes = RealDisk.read_suffix(&places.log, MOST_LOG).map_err(|error| {
        let message = format!("daemon log {} cannot be read: {error}", places.log.display());
        ApiError::environment("unreadable_log", message, "see whether it is a file that you can read")
    })?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let skipped = text.lines().count().saturating_sub(lines);
    for line in text.lines().skip(skipped) {
        context.write_line(line)?;
    }
    Ok(failure::DONE)
}
