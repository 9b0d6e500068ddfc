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
use crate::cli::location::ProcessEnvironment;
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
    let paths = context.daemon_paths();
    match command {
        DaemonCommand::Start(args) => start(args, &paths, environment, context),
        DaemonCommand::Stop => stop(&paths, context),
        DaemonCommand::Restart(args) => {
            // The old daemon must have ended, because only one can hold the lock.
            daemon::stop(&paths).map_err(ApiError::from)?;
            start(args, &paths, environment, context)
        }
        DaemonCommand::Status { spans } => show_status(&paths, *spans, context),
        DaemonCommand::Logs { lines } => logs(&paths, *lines, context),
        DaemonCommand::Unit if std::env::consts::FAMILY == "windows" => {
            let hint = "have the task scheduler run `slop watch` at login";
            Err(ApiError::user("no_systemd", "systemd does not exist on Windows", hint).into())
        }
        DaemonCommand::Unit => {
            let program = program(environment)?;
            context.output.write_text(&daemon::systemd_unit(&program, &paths))?;
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

/// Starts the daemon of a project, unless it is running. A running daemon of a different version is an error.
pub(super) fn ensure_running(
    paths: &DaemonPaths,
    environment: &ProcessEnvironment,
    context: &CommandContext<'_>,
) -> Result<(), CommandError> {
    let settings = context.loaded.engine_options(&context.location.root);
    match daemon::start(&program(environment)?, paths, &settings, &[]).map_err(ApiError::from)? {
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
    paths: &DaemonPaths,
    environment: &ProcessEnvironment,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let listen = args.listen.map(|address| format!("--listen={address}"));
    let paranoid = args.paranoid.then(|| "--paranoid".to_owned());
    let flags: Vec<OsString> = listen.into_iter().chain(paranoid).map(OsString::from).collect();
    let settings = context.loaded.engine_options(&context.location.root);
    let started = daemon::start(&program(environment)?, paths, &settings, &flags).map_err(ApiError::from)?;
    let (pid, is_new, words) = match started {
        StartOutcome::Spawned(pid) => (pid, true, "started"),
        StartOutcome::Running { pid, version } => {
            if version != VERSION {
                let versions = format!("the daemon is slop {version}, this is slop {VERSION}");
                let effect = "commands of this version do not use it";
                context.output.note(&format!("{versions}: {effect}; `slop daemon restart` replaces it"));
            }
            (pid, false, "already runs")
        }
    };
    let status = daemon::status(paths);
    if let Some(status) = &status
        && !is_new
        // A running daemon keeps its flags, because restarting it would end the streams of its clients.
        && has_other_flags(status, args)
    {
        context
            .output
            .note("it runs with different flags; `slop daemon restart` with these flags applies them");
    }
    let listen = status.and_then(|status| status.listen);
    let port = listen.as_ref().map_or(String::new(), |address| format!(", listening on {address}"));
    context.write_result(
        &json!({"pid": pid, "started": is_new, "listen": listen}),
        &format!("{words}, process {pid}{port}"),
    )
}

/// Returns whether a daemon lacks something that the flags request. It may do more than they request.
fn has_other_flags(status: &DaemonStatus, args: &WatchArgs) -> bool {
    let listens = |wanted: SocketAddr| {
        let address: Option<SocketAddr> = status.listen.as_ref().and_then(|address| address.parse().ok());
        address.is_some_and(|address| {
            // Port 0 requests any free port, so every port satisfies it.
            address.ip() == wanted.ip() && [0, address.port()].contains(&wanted.port())
        })
    };
    !args.listen.is_none_or(listens) || (args.paranoid && !status.paranoid.on)
}

fn stop(paths: &DaemonPaths, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let stopped = daemon::stop(paths).map_err(ApiError::from)?;
    let line = stopped.map_or("none runs".to_owned(), |pid| format!("stopped, process {pid}"));
    context.write_result(&json!({"pid": stopped, "stopped": stopped.is_some()}), &line)
}

fn logs(paths: &DaemonPaths, lines: usize, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let bytes = RealDisk.read_suffix(&paths.log, MAX_LOG_BYTES).map_err(|error| {
        let message = format!("daemon log {} cannot be read: {error}", paths.log.display());
        ApiError::environment("unreadable_log", message, "check that it is a file that you can read")
    })?;
    // The end of a long log may begin in the middle of a character.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let skipped = text.lines().count().saturating_sub(lines);
    for line in text.lines().skip(skipped) {
        context.write_line(line)?;
    }
    Ok(failure::DONE)
}

/// The most pending lines; further ones are dropped.
const MAX_LINES: usize = 256;
/// How long to wait at the end for the last lines to be printed.
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
        // Fails if the process already leads a group, as under a supervisor; then it has no terminal to leave.
        let _ = detach_terminal();
    }
    let options = daemon::Options {
        paths: context.daemon_paths(),
        root_reason: context.location.project.reason,
        sources: environment.sources.clone(),
        listen: args.listen,
        key_lookup: ProcessEnvironment::key,
        is_paranoid: args.paranoid,
        is_detached: args.detached,
    };
    let (is_quiet, is_json) = (context.output.is_quiet(), context.output.json);
    // Started before the daemon, so that no notice is lost.
    let printer = LinePrinter::start()?;
    let mut notify = |notice: Notice<'_>| {
        // The log is for problems, and would grow without bound if every edit were logged.
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

/// Prints lines on a thread of its own, so that a blocked reader does not stop the daemon.
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

    /// Prints a line, unless too many are already pending.
    fn print(&self, line: String) {
        // Lines are dropped if the queue is full, because the daemon's loop calls this, and must never block.
        let _ = self.lines.try_send(line);
    }

    /// Waits until the last lines are printed, within a deadline.
    fn finish(self) {
        let Self { lines, thread } = self;
        drop(lines);
        let deadline = WallClock.monotonic().saturating_add(DRAIN_TIMEOUT);
        // Polled, because a thread cannot be joined with a deadline, and the process must end even if its output is not
        // read.
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
            format!("checking every file for each answer: {reason} ({hint})")
        }
        Notice::Lost { reason } => format!("checking everything again: {reason}"),
        Notice::Note(note) => format!("note: {note}"),
        Notice::Stopping { reason } => format!("stopping: {reason}"),
    }
}

/// Returns a line about a round of the summarizer. All unanswered tasks are in the status.
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

/// Returns the first changed files by name, marked as in a diff.
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
