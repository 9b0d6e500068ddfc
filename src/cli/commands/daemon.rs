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

use serde_json::json;

use super::context::CommandContext;
use super::daemon_status::show_status;
use crate::api::{ApiError, DaemonStatus, VERSION};
use crate::cli::background_args::{DaemonCommand, WatchArgs};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::place::ProcessEnvironment;
use crate::daemon;
use crate::daemon::{DaemonPaths, FileChange, FileChangeKind, HydrationCounts, Notice, StartOutcome};
use crate::model::printable;
use crate::render::{format_grouped, format_seconds};
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
        DaemonCommand::Status { spans } => show_status(&places, *spans, context),
        DaemonCommand::Logs { lines } => logs(&places, *lines, context),
        DaemonCommand::Unit if std::env::consts::FAMILY == "windows" => {
            let hint = "have the task scheduler run `slop watch` at login";
            Err(ApiError::user("no_systemd", "systemd does not exist on Windows", hint).into())
        }
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

/// Starts the daemon of a project, unless it runs. One of another version is an error.
pub(super) fn ensure_running(
    places: &DaemonPaths,
    environment: &ProcessEnvironment,
    context: &CommandContext<'_>,
) -> Result<(), CommandError> {
    let settings = context.loaded.engine_options(&context.location.root);
    match daemon::start(&program(environment)?, places, &settings, &[]).map_err(ApiError::from)? {
        StartOutcome::Running { version, .. } if version != VERSION => {
            let message = format!("the running daemon is slop {version}, this is slop {VERSION}");
            let hint = "replace it with this version: `slop daemon restart`";
            Err(ApiError::user("other_version", message, hint).into())
        }
        StartOutcome::Running { .. } | StartOutcome::Spawned(_) => Ok(()),
    }
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
        root_reason: context.location.project.reason,
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
        Notice::Hydrated(counts) => {
            let HydrationCounts { stored, promoted, demoted, skipped } = *counts;
            let [stored, promoted, demoted, skipped] =
                [stored, promoted, demoted, skipped].map(format_grouped);
            format!(
                "hydrated: {stored} fragments stored, {promoted} promoted, {demoted} demoted, {skipped} skipped"
            )
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
        Notice::Hydrated(HydrationCounts { stored, promoted, demoted, skipped }) => {
            json!({"event": "hydrated", "stored": stored, "promoted": promoted, "demoted": demoted, "skipped": skipped})
        }
        Notice::Verified { reason, hint } => json!({"event": "verified", "why": reason, "hint": hint}),
        Notice::Lost { reason } => json!({"event": "lost_track", "why": reason}),
        Notice::Note(note) => json!({"event": "note", "note": note}),
        Notice::Stopping { reason } => json!({"event": "stopping", "why": reason}),
    }
}
