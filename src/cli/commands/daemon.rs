//! `slop daemon` and `slop watch`.

use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use serde::Serialize;
use serde_json::json;

use super::context::CommandContext;
use crate::api::{AgentStatus, ApiError, DaemonMode, DaemonStatus, VERSION};
use crate::cli::background_args::{DaemonCommand, WatchArgs};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::place::ProcessEnvironment;
use crate::daemon;
use crate::daemon::{DaemonPaths, FileChange, FileChangeKind, Notice, StartOutcome};
use crate::model::printable;
use crate::render::{format_grouped, format_seconds, format_size};
use crate::sys::{Clock, RealDisk, WallClock, detach_terminal};

/// The most bytes that are read from the end of a log.
const MAX_LOG_BYTES: u64 = 8 << 20;

pub(super) fn run_daemon(
    command: &DaemonCommand,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let places = context.places();
    match command {
        DaemonCommand::Start(args) => start(args, &places, environment, context),
        DaemonCommand::Stop => stop(&places, context),
        DaemonCommand::Restart(args) => {
            // Stopped first, and waited for: only one daemon can hold the lock.
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
                let versions = format!("the daemon is slop {version}, this is slop {VERSION}");
                let effect = "commands of this one do not ask it";
                context.output.note(&format!("{versions}: {effect}; `slop daemon restart` replaces it"));
            }
            (pid, false, "runs already")
        }
    };
    let status = daemon::status(places);
    if let Some(status) = &status
        && !is_new
        // A running daemon keeps its flags; to restart it unasked would end the streams of its clients.
        && has_other_flags(status, args)
    {
        context
            .output
            .note("it runs with other flags than these; `slop daemon restart` with these takes them");
    }
    let listen = status.and_then(|status| status.listen);
    let port = listen.as_ref().map_or(String::new(), |address| format!(", listening on {address}"));
    context.write_result(
        &json!({"pid": pid, "started": is_new, "listen": listen}),
        &format!("{words}, process {pid}{port}"),
    )
}

/// Returns whether a daemon lacks what the flags ask for. It may do more than they ask for.
fn has_other_flags(status: &DaemonStatus, args: &WatchArgs) -> bool {
    let listens = |wanted: SocketAddr| {
        let address: Option<SocketAddr> = status.listen.as_ref().and_then(|address| address.parse().ok());
        address.is_some_and(|address| {
            // Port 0 asks for any free port, so that every port satisfies it.
            address.ip() == wanted.ip() && [0, address.port()].contains(&wanted.port())
        })
    };
    !args.listen.is_none_or(listens) || (args.paranoid && !status.paranoid.on)
}

fn stop(places: &DaemonPaths, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let stopped = daemon::stop(places).map_err(ApiError::from)?;
    let line = stopped.map_or("none runs".to_owned(), |pid| format!("stopped, process {pid}"));
    context.write_result(&json!({"pid": stopped, "stopped": stopped.is_some()}), &line)
}

fn status(places: &DaemonPaths, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let Some(status) = daemon::status(places) else {
        // One that hangs still holds the lock, and to start another would fail: the two cases need different advice.
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
        let root_reason = context.location.project.reason.name();
        return context.write_data(&WithReason { status: &status, root_reason });
    }
    context.write_line(&format!("{:<10} {}", "project", context.location.project.description()))?;
    for (name, value) in table(&status) {
        context.write_line(&format!("{name:<10} {value}"))?;
    }
    Ok(failure::DONE)
}

/// A daemon's status, and why the folder that it watches is the project's for whoever asked.
#[derive(Serialize)]
struct WithReason<'a> {
    #[serde(flatten)]
    status: &'a DaemonStatus,
    root_reason: &'static str,
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
    rows.extend(optional_rows(status));
    rows
}

/// Returns the rows of what not every daemon has.
fn optional_rows(status: &DaemonStatus) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    if status.paranoid.on {
        let (answers, mistakes) =
            (format_grouped(status.paranoid.answers), format_grouped(status.paranoid.mistakes));
        rows.push(("paranoid", format!("{answers} answers, {mistakes} mistakes")));
    }
    if let Some(audit) = status.last_audit {
        rows.push(("audit", format!("{} differences", format_grouped(audit.differences))));
    }
    rows.extend(status.settings_problems.iter().map(|problem| ("settings", problem.clone())));
    rows.extend(status.listen.as_ref().map(|address| ("listening", address.clone())));
    rows.extend(status.rss_bytes.map(|bytes| ("memory", format_size(bytes))));
    rows
}

/// Returns the state of the sub-agent, its tasks, and its costs of the day.
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
    let bytes = RealDisk.read_suffix(&places.log, MAX_LOG_BYTES).map_err(|error| {
        let message = format!("daemon log {} cannot be read: {error}", places.log.display());
        ApiError::environment("unreadable_log", message, "see whether it is a file that you can read")
    })?;
    // The end of a long log may begin in the middle of a character.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let skipped = text.lines().count().saturating_sub(lines);
    for line in text.lines().skip(skipped) {
        context.write_line(line)?;
    }
    Ok(failure::DONE)
}

/// The most lines that wait to be read; further ones are dropped.
const MAX_LINES: usize = 256;
/// How long to wait at the end for the last lines to be read.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);
const DRAIN_POLL: Duration = Duration::from_millis(5);
/// The most changed files that are named on a line.
const MAX_NAMES: usize = 4;

pub(super) fn watch(
    args: &WatchArgs,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    if args.detached {
        // One that leads a group already, as under a supervisor, has no terminal to leave.
        let _ = detach_terminal();
    }
    let options = daemon::Options {
        places: context.places(),
        sources: environment.sources.clone(),
        listen: args.listen,
        key_lookup: ProcessEnvironment::key,
        is_paranoid: args.paranoid,
        is_detached: args.detached,
    };
    let (is_quiet, is_json) = (context.output.is_quiet(), context.output.json);
    // Started before the daemon, so that no notice comes before there is anybody to print it.
    let printer = LinePrinter::start()?;
    let mut notify = |notice: Notice<'_>| {
        // A log is read when something is amiss, and nobody is there to cut one that grows with each edit.
        let is_for_nobody = args.detached && matches!(notice, Notice::Refreshed { .. });
        if !is_quiet && !is_for_nobody {
            printer.print(if is_json { as_json(&notice).to_string() } else { with_time(&notice) });
        }
    };
    let ended = daemon::run(options, &mut notify);
    printer.finish();
    ended.map_err(ApiError::from)?;
    Ok(failure::DONE)
}

/// Prints lines on a thread of its own: a reader that does not read must not stop the daemon.
struct LinePrinter {
    lines: SyncSender<String>,
    thread: JoinHandle<()>,
}

impl LinePrinter {
    fn start() -> Result<Self, CommandError> {
        let (lines, waiting) = sync_channel::<String>(MAX_LINES);
        let print = move || {
            let mut stdout = std::io::stdout();
            for line in waiting {
                // The reader may be gone; the daemon continues.
                let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
            }
        };
        let thread = thread::Builder::new().name("print".to_owned()).spawn(print);
        let thread = thread.map_err(|error| {
            let hint = "try again when the machine has fewer threads to run";
            ApiError::environment("no_thread", format!("thread did not start: {error}"), hint)
        })?;
        Ok(Self { lines, thread })
    }

    /// Prints a line, unless too many wait to be read already.
    fn print(&self, line: String) {
        // Lines are dropped rather than waited for: the daemon's loop calls this, and must never block.
        let _ = self.lines.try_send(line);
    }

    /// Waits until the last lines are printed, if somebody reads them.
    fn finish(self) {
        let Self { lines, thread } = self;
        drop(lines);
        let deadline = WallClock.monotonic().saturating_add(DRAIN_TIMEOUT);
        // Polled, because a thread cannot be joined with a deadline, and the process must end although nobody reads.
        while !thread.is_finished() && WallClock.monotonic() < deadline {
            WallClock.sleep(DRAIN_POLL);
        }
    }
}

fn with_time(notice: &Notice<'_>) -> String {
    let now = jiff::Zoned::now().strftime("%H:%M:%S");
    format!("{now} {}", printable(&notice_line(notice)))
}

fn notice_line(notice: &Notice<'_>) -> String {
    match notice {
        Notice::Watching { folders, socket, listen } => {
            let name = socket.file_name().unwrap_or(OsStr::new("")).display();
            let port = listen.map_or(String::new(), |address| format!(" and {address}"));
            format!("watching {} folders, answering at {name}{port}", format_grouped(*folders as u64))
        }
        Notice::Refreshed { changes, elapsed: took } => {
            let files = if changes.len() == 1 { "file" } else { "files" };
            let count = format_grouped(changes.len() as u64);
            format!("refreshed {count} {files} in {}: {}", format_seconds(*took), file_names(changes))
        }
        Notice::Summarized { answered, cost, unanswered, stopped } => {
            summaries_line(*answered, cost, unanswered, *stopped)
        }
        Notice::Verified { reason, hint: "" } => format!("looking at every file for each answer: {reason}"),
        Notice::Verified { reason, hint } => {
            format!("looking at every file for each answer: {reason} ({hint})")
        }
        Notice::Lost { reason } => format!("looking at everything once more: {reason}"),
        Notice::Note(note) => format!("note: {note}"),
        Notice::Stopping { reason } => format!("stopping: {reason}"),
    }
}

/// Returns what a model wrote, and what it did not. All that is not asked again is in the status.
fn summaries_line(answered: u64, cost: &str, unanswered: &[String], stopped: Option<&str>) -> String {
    let summaries = if answered == 1 { "answer" } else { "answers" };
    let mut line = format!("{} {summaries} of a model for {cost}", format_grouped(answered));
    if let Some(first) = unanswered.first() {
        let _ = write!(
            line,
            "; {} not asked or not answered, as {first}",
            format_grouped(unanswered.len() as u64)
        );
    }
    if let Some(reason) = stopped {
        let _ = write!(line, "; stopped: {reason}");
    }
    line
}

/// Returns the first of some changed files by name, marked as in a diff.
fn file_names(changes: &[FileChange]) -> String {
    let mark = |change: &FileChange| match change.kind {
        FileChangeKind::Added => format!("+{}", change.path),
        FileChangeKind::Modified => change.path.to_string(),
        FileChangeKind::Removed => format!("-{}", change.path),
    };
    let mut names: Vec<String> = changes.iter().take(MAX_NAMES).map(mark).collect();
    if let more @ 1.. = changes.len().saturating_sub(MAX_NAMES) {
        names.push(format!("and {} more", format_grouped(more as u64)));
    }
    names.join(", ")
}

fn as_json(notice: &Notice<'_>) -> serde_json::Value {
    // The names of events and keys are for programs, and stay when the types behind them are renamed.
    match notice {
        Notice::Watching { folders, socket, listen } => {
            json!({"event": "watching", "folders": folders, "socket": socket.to_string_lossy(), "listen": listen})
        }
        Notice::Refreshed { changes, elapsed: took } => {
            let changes: Vec<crate::api::Change> = changes.iter().cloned().map(Into::into).collect();
            json!({"event": "refreshed", "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX), "changes": changes})
        }
        Notice::Summarized { answered, cost, unanswered, stopped } => {
            json!({"event": "written", "answered": answered, "cost": cost, "unanswered": unanswered, "stopped": stopped})
        }
        Notice::Verified { reason, hint } => json!({"event": "verified", "why": reason, "hint": hint}),
        Notice::Lost { reason } => json!({"event": "lost_track", "why": reason}),
        Notice::Note(note) => json!({"event": "note", "note": note}),
        Notice::Stopping { reason } => json!({"event": "stopping", "why": reason}),
    }
}
