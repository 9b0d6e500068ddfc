//! `slop take`: versions of the curation, one of which is in `slop.toml`.

use super::context::CommandContext;
use crate::api::{EditTakesQuery, TakeAction, TakeState, TakesQuery};
use crate::cli::curation_args::TakeCommand;
use crate::cli::failure::{self, CommandError};
use crate::render::format_grouped;

pub(super) fn run_take(command: &TakeCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let plain = |action, name: &String| EditTakesQuery {
        revision: context.loaded.revision.clone(),
        action,
        name: name.clone(),
        from: None,
        to: None,
        force: false,
    };
    let (query, line) = match command {
        TakeCommand::List => return list(context),
        TakeCommand::Create { name, from } => {
            let query = EditTakesQuery { from: from.clone(), ..plain(TakeAction::Create, name) };
            (query, format!("take created: {name}; `slop take switch` makes it the current one"))
        }
        TakeCommand::Switch { name } => (plain(TakeAction::Switch, name), format!("current take: {name}")),
        TakeCommand::Rename { name, to } => {
            let query = EditTakesQuery { to: Some(to.clone()), ..plain(TakeAction::Rename, name) };
            (query, format!("take renamed: {name} is now {to}"))
        }
        TakeCommand::Delete { name, yes } => {
            let query = EditTakesQuery { force: *yes, ..plain(TakeAction::Delete, name) };
            (query, format!("take deleted: {name}"))
        }
    };
    let takes = context.ask(query)?;
    context.write_result(&takes, &line)
}

fn list(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let takes = context.ask(TakesQuery {})?;
    if context.output.json {
        return context.write_data(&takes);
    }
    for take in &takes.takes {
        let marker = if take.name == takes.current { '*' } else { ' ' };
        context.write_line(&format!("{marker} {} ({})", take.name, counts(take)))?;
    }
    Ok(failure::DONE)
}

/// Describes the content of a take: `3 entries, 1 mask`.
fn counts(take: &TakeState) -> String {
    let counts = [
        (take.entries, "entry", "entries"),
        (take.masks, "mask", "masks"),
        (take.slices, "slice", "slices"),
        (take.screenshots, "screenshot", "screenshots"),
        (take.document, "default of documents", "defaults of documents"),
    ];
    let counts = counts.iter().filter(|(count, _, _)| 0 < *count);
    let counts = counts.map(|(count, one, several)| {
        format!("{} {}", format_grouped(*count as u64), if *count == 1 { one } else { several })
    });
    let counts: Vec<String> = counts.collect();
    if counts.is_empty() { "nothing curated".to_owned() } else { counts.join(", ") }
}
