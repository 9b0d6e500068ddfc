//! `slop history`, `undo`, `redo` and `jump`: the earlier states of `slop.toml`.

use super::context::CommandContext;
use crate::api::{HistoryMoved, HistoryQuery, JumpQuery, RedoQuery, UndoQuery};
use crate::cli::curation_args::HistoryArgs;
use crate::cli::failure::{self, CommandError};

pub(super) fn list(args: &HistoryArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let history = context.ask(HistoryQuery { take: args.take.clone() })?;
    if context.output.json {
        return context.write_data(&history);
    }
    for entry in &history.entries {
        let marker = if history.current == Some(entry.id) { '*' } else { ' ' };
        // The states in between belong to another branch.
        let branch = entry.parent.filter(|parent| parent + 1 != entry.id);
        let branch = branch.map_or(String::new(), |parent| format!(", after {parent}"));
        let line = format!("{marker} {:>4}  {}  {}{branch}", entry.id, time_text(entry.at_ms), entry.label);
        context.write_line(&line)?;
    }
    if history.current.is_some() && !history.is_recorded {
        context.output.note("slop.toml was edited since; `slop undo` restores the state marked with *");
    }
    Ok(failure::DONE)
}

pub(super) fn undo(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let revision = context.loaded.revision.clone();
    let moved = context.ask(UndoQuery { revision })?;
    report(&moved, context)
}

pub(super) fn redo(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let revision = context.loaded.revision.clone();
    let moved = context.ask(RedoQuery { revision })?;
    report(&moved, context)
}

pub(super) fn jump(to: i64, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let revision = context.loaded.revision.clone();
    let moved = context.ask(JumpQuery { revision, to })?;
    report(&moved, context)
}

fn report(moved: &HistoryMoved, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let entry = &moved.entry;
    context.write_result(moved, &format!("slop.toml is at state {}: {}", entry.id, entry.label))
}

/// Returns a time in milliseconds since the epoch as date and minute, in UTC.
pub(super) fn time_text(at_ms: i64) -> String {
    let time = jiff::Timestamp::from_millisecond(at_ms).unwrap_or_default();
    time.strftime("%Y-%m-%d %H:%M").to_string()
}
