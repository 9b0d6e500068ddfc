//! `slop watch`

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::Write;
use std::sync::mpsc::SyncSender;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;

use super::desk::Desk;
use crate::api::Fault;
use crate::cli::daemon_args::WatchArgs;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::daemon;
use crate::daemon::Change;
use crate::daemon::ChangeKind;
use crate::daemon::Told;
use crate::model::printable;
use crate::render::grouped;
use crate::render::seconds;
use crate::sys::Clock;
use crate::sys::WallClock;
use crate::sys::leave_terminal;

/// Lines that wait to be read; more are not kept.
const MOST_LINES: usize = 256;
/// How long the last lines may take to be read.
const LAST_LINES: Duration = Duration::from_millis(300);
const PAUSE: Duration = Duration::from_millis(5);
/// So many changed files are named on a line.
const MOST_NAMES: usize = 4;

pub(super) fn run(args: &WatchArgs, environment: &Environment, desk: &mut Desk<'_>) -> Result<u8, Failure> {
    if args.detached {
        // One that leads a group already, as under a supervisor, has no terminal to leave.
        let _ = leave_terminal();
    }
    let options = daemon::Options {
        places: desk.places(),
        sources: environment.sources.clone(),
        listen: args.listen,
        key: Environment::key,
        is_paranoid: args.paranoid,
        is_detached: args.detached,
    };
    let (is_quiet, is_json) = (desk.output.is_quiet(), desk.output.json);
    let printer = Printer::start()?;
    let mut tell = |told: Told<'_>| {
        // A log is read when something is amiss, and nobody is there to cut one that grows with each edit.
        let is_for_nobody = args.detached && matches!(told, Told::Refreshed { .. });
        if !is_quiet && !is_for_nobody {
            printer.print(if is_json { as_json(&told).to_string() } else { dated(&told) });
        }
    };
    let ended = daemon::run(options, &mut tell);
    printer.finish();
    ended.map_err(Fault::from)?;
    Ok(failure::DONE)
}

/// Prints lines on a thread of its own: a reader that does not read must not stop the daemon.
struct Printer {
    lines: SyncSender<String>,
    thread: JoinHandle<()>,
}

impl Printer {
    fn start() -> Result<Self, Failure> {
        let (lines, waiting) = sync_channel::<String>(MOST_LINES);
        let print = move || {
            let mut stdout = std::io::stdout();
            for line in waiting {
                // Whoever listened may be gone; the daemon goes on.
                let _ = writeln!(stdout, "{line}").and_then(|()| stdout.flush());
            }
        };
        let thread = thread::Builder::new().name("print".to_owned()).spawn(print);
        let thread = thread.map_err(|error| {
            let hint = "try again when the machine has fewer threads to run";
            Fault::environment("no_thread", format!("start a thread: {error}"), hint)
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
        let deadline = WallClock.monotonic().saturating_add(LAST_LINES);
        while !thread.is_finished() && WallClock.monotonic() < deadline {
            WallClock.sleep(PAUSE);
        }
    }
}

fn dated(told: &Told<'_>) -> String {
    let now = jiff::Zoned::now().strftime("%H:%M:%S");
    format!("{now} {}", printable(&line(told)))
}

fn line(told: &Told<'_>) -> String {
    match told {
        Told::Watching { folders, socket, listen } => {
            let name = socket.file_name().unwrap_or(OsStr::new("")).display();
            let port = listen.map_or(String::new(), |address| format!(" and {address}"));
            format!("watching {} folders, answering at {name}{port}", grouped(*folders as u64))
        }
        Told::Refreshed { changes, took } => {
            let files = if changes.len() == 1 { "file" } else { "files" };
            let count = grouped(changes.len() as u64);
            format!("refreshed {count} {files} in {}: {}", seconds(*took), names(changes))
        }
        Told::Written { answered, cost, unanswered, stopped } => {
            written(*answered, cost, unanswered, *stopped)
        }
        Told::Verified { why, hint: "" } => format!("looking at every file for each answer: {why}"),
        Told::Verified { why, hint } => format!("looking at every file for each answer: {why} ({hint})"),
        Told::Lost { why } => format!("looking at everything once more: {why}"),
        Told::Note(note) => format!("note: {note}"),
        Told::Stopping { why } => format!("stopping: {why}"),
    }
}

/// Returns what a model wrote, and what it did not. All that is not asked again is in the status.
fn written(answered: u64, cost: &str, unanswered: &[String], stopped: Option<&str>) -> String {
    let summaries = if answered == 1 { "answer" } else { "answers" };
    let mut line = format!("{} {summaries} of a model for {cost}", grouped(answered));
    if let Some(first) = unanswered.first() {
        let _ = write!(line, "; {} not asked or not answered, as {first}", grouped(unanswered.len() as u64));
    }
    if let Some(why) = stopped {
        let _ = write!(line, "; stopped: {why}");
    }
    line
}

/// Returns the first of some changed files by name, marked as in a diff.
fn names(changes: &[Change]) -> String {
    let mark = |change: &Change| match change.kind {
        ChangeKind::Added => format!("+{}", change.path),
        ChangeKind::Modified => change.path.to_string(),
        ChangeKind::Removed => format!("-{}", change.path),
    };
    let mut names: Vec<String> = changes.iter().take(MOST_NAMES).map(mark).collect();
    if let more @ 1.. = changes.len().saturating_sub(MOST_NAMES) {
        names.push(format!("and {} more", grouped(more as u64)));
    }
    names.join(", ")
}

fn as_json(told: &Told<'_>) -> serde_json::Value {
    match told {
        Told::Watching { folders, socket, listen } => {
            json!({"event": "watching", "folders": folders, "socket": socket.to_string_lossy(), "listen": listen})
        }
        Told::Refreshed { changes, took } => {
            let changes: Vec<crate::api::Change> = changes.iter().cloned().map(Into::into).collect();
            json!({"event": "refreshed", "took_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX), "changes": changes})
        }
        Told::Written { answered, cost, unanswered, stopped } => {
            json!({"event": "written", "answered": answered, "cost": cost, "unanswered": unanswered, "stopped": stopped})
        }
        Told::Verified { why, hint } => json!({"event": "verified", "why": why, "hint": hint}),
        Told::Lost { why } => json!({"event": "lost_track", "why": why}),
        Told::Note(note) => json!({"event": "note", "note": note}),
        Told::Stopping { why } => json!({"event": "stopping", "why": why}),
    }
}
