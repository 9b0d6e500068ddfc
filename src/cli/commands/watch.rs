//! `slop watch`

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;

use super::context::CommandContext;
use crate::api::ApiError;
use crate::cli::daemon_args::WatchArgs;
use crate::cli::environment::ProcessEnvironment;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::daemon;
use crate::daemon::{FileChange, FileChangeKind, Notice};
use crate::model::printable;
use crate::render::{format_grouped, format_seconds};
use crate::sys::{Clock, WallClock, detach_terminal};

/// Lines that wait to be read; more are not kept.
const MAX_LINES: usize = 256;
/// How long the last lines may take to be read.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);
const DRAIN_POLL: Duration = Duration::from_millis(5);
/// So many changed files are named on a line.
const MAX_NAMES: usize = 4;

pub(super) fn run(
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
        let _ = self.lines.try_send(line);
    }

    /// Lets the last lines out, if somebody reads them.
    fn finish(self) {
        let Self { lines, thread } = self;
        drop(lines);
        let deadline = WallClock.monotonic().saturating_add(DRAIN_TIMEOUT);
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
        Notice::Verified { reason: why, hint: "" } => format!("looking at every file for each answer: {why}"),
        Notice::Verified { reason: why, hint } => {
            format!("looking at every file for each answer: {why} ({hint})")
        }
        Notice::Lost { reason: why } => format!("looking at everything once more: {why}"),
        Notice::Note(note) => format!("note: {note}"),
        Notice::Stopping { reason: why } => format!("stopping: {why}"),
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
    if let Some(why) = stopped {
        let _ = write!(line, "; stopped: {why}");
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
        Notice::Verified { reason: why, hint } => json!({"event": "verified", "why": why, "hint": hint}),
        Notice::Lost { reason: why } => json!({"event": "lost_track", "why": why}),
        Notice::Note(note) => json!({"event": "note", "note": note}),
        Notice::Stopping { reason: why } => json!({"event": "stopping", "why": why}),
    }
}
