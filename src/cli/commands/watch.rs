//! `slop watch`

use std::ffi::OsStr;

use serde_json::json;

use super::desk::Desk;
use crate::api::Fault;
use crate::cli::daemon_args::WatchArgs;
use crate::cli::environment::Environment;
use crate::cli::failure;
use crate::cli::failure::Failure;
use crate::cli::output::Output;
use crate::daemon;
use crate::daemon::Change;
use crate::daemon::ChangeKind;
use crate::daemon::Told;
use crate::model::printable;
use crate::render::grouped;
use crate::render::seconds;
use crate::sys::leave_terminal;

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
        is_paranoid: args.paranoid,
        is_detached: args.detached,
    };
    let output = &mut *desk.output;
    let is_quiet = output.is_quiet();
    let mut tell = |told: Told<'_>| {
        // A log is read when something is amiss, and nobody is there to cut one that grows with each edit.
        let is_for_nobody = args.detached && matches!(told, Told::Refreshed { .. });
        if !is_quiet && !is_for_nobody {
            // Whoever listened may be gone; the daemon goes on.
            let _ = write(&told, output);
        }
    };
    daemon::run(options, &mut tell).map_err(Fault::from)?;
    Ok(failure::DONE)
}

fn write(told: &Told<'_>, output: &mut Output) -> std::io::Result<()> {
    if output.json {
        output.json_line(&as_json(told))?;
    } else {
        let now = jiff::Zoned::now().strftime("%H:%M:%S");
        output.line(&format!("{now} {}", printable(&line(told))))?;
    }
    output.finish()
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
        Told::Verified { why, hint: "" } => format!("looking at every file for each answer: {why}"),
        Told::Verified { why, hint } => format!("looking at every file for each answer: {why} ({hint})"),
        Told::Lost { why } => format!("looking at everything once more: {why}"),
        Told::Note(note) => format!("note: {note}"),
        Told::Stopping { why } => format!("stopping: {why}"),
    }
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
        Told::Verified { why, hint } => json!({"event": "verified", "why": why, "hint": hint}),
        Told::Lost { why } => json!({"event": "lost_track", "why": why}),
        Told::Note(note) => json!({"event": "note", "note": note}),
        Told::Stopping { why } => json!({"event": "stopping", "why": why}),
    }
}
