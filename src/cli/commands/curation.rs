//! `slop curation`: shows the curation in `slop.toml`, and applies several edits at once.

use super::context::CommandContext;
use super::input::read_json_file;
use crate::api::{CurationEdit, CurationQuery, EditCurationQuery, pretty};
use crate::cli::curation_args::{CurationCommand, CurationEditArgs};
use crate::cli::failure::{self, CommandError};

pub(super) fn run_curation(
    command: &CurationCommand,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    match command {
        CurationCommand::Show => show_curation(context),
        CurationCommand::Edit(args) => edit_curation(args, context),
    }
}

fn show_curation(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let state = context.ask(CurationQuery {})?;
    if context.output.json {
        return context.write_data(&state);
    }
    context.output.write_json(pretty(&state).as_bytes())?;
    Ok(failure::DONE)
}

fn edit_curation(args: &CurationEditArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let hint = "write a JSON list of edits; docs/curation.md has all of them";
    let edits: Vec<CurationEdit> = read_json_file(&args.edits, "edits", hint)?;
    let revision = match &args.revision {
        Some(revision) => revision.clone(),
        None => context.ask(CurationQuery {})?.revision,
    };
    let query = EditCurationQuery { revision, label: args.label.clone(), edits, dry_run: args.dry_run };
    let edited = context.ask(query)?;
    let verb = if args.dry_run { "would be written" } else { "written" };
    let line = format!("entries {verb}: {}, files: {}", edited.entries_written, edited.files_affected);
    context.write_result(&edited, &line)
}
