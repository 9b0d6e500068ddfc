//! `slop slice`

use std::io::Read;

use serde_json::Value;

use super::context::CommandContext;
use super::slices;
use crate::api::{
    ApiError, MakeSliceQuery, ResolveSlicesQuery, pretty, resolution_to_json, slice_from_json, slice_to_json,
};
use crate::cli::curation_args::SliceCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::model::{Slice, SliceStatus};

/// The most that is read of a slice; more is something else.
const MAX_SLICE_BYTES: u64 = 1 << 20;

pub(super) fn run(command: &SliceCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        SliceCommand::Add { file, lines, tag, comment } => slices::add(file, *lines, tag, comment, context),
        SliceCommand::List { file } => slices::list(file.as_deref(), context),
        SliceCommand::Remove { file, slice } => slices::remove(file, slice, context),
        SliceCommand::Make { file, lines: (start_line, end_line), tag, comment } => {
            let query = MakeSliceQuery {
                file: context.location.resolve_path(file),
                start_line: *start_line,
                end_line: *end_line,
                tag: tag.clone(),
                comment: comment.clone(),
            };
            let slice = context.ask(query)?;
            write(&slice_to_json(&slice), context)?;
            Ok(failure::DONE)
        }
        SliceCommand::Resolve { file } => {
            let slices = vec![slice_given()?];
            let resolved =
                context.ask(ResolveSlicesQuery { file: context.location.resolve_path(file), slices })?;
            let [resolution] = &resolved[..] else { return Err(ApiError::bug().into()) };
            write(&resolution_to_json(resolution), context)?;
            let is_lost = resolution.status == SliceStatus::Stale;
            Ok(if is_lost { failure::USER } else { failure::DONE })
        }
    }
}

/// The answer is bare JSON, for it is what the other command reads; with `--json` it is in an envelope as any answer.
fn write(data: &Value, context: &mut CommandContext<'_>) -> Result<(), CommandError> {
    if context.output.json {
        return context.write_data(data);
    }
    Ok(context.output.write_text(&pretty(data))?)
}

fn slice_given() -> Result<Slice, CommandError> {
    let hint = "give the slice on the standard input, as `slop slice make` prints it";
    let mut text = Vec::new();
    let read = std::io::stdin().lock().take(MAX_SLICE_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| CommandError::usage(format!("standard input cannot be read: {error}"), hint))?;
    if MAX_SLICE_BYTES < text.len() as u64 {
        let message = format!("slice on the standard input has more than {MAX_SLICE_BYTES} bytes");
        return Err(CommandError::usage(message, hint));
    }
    let text = String::from_utf8(text)
        .map_err(|_| CommandError::usage("slice on the standard input is not UTF-8", hint))?;
    Ok(slice_from_json(&text)?)
}
