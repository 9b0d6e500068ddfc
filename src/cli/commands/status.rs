//! `slop status`

use super::context::CommandContext;
use crate::api::{FileState, FilesQuery, display_path, language_name};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::model::SkipReason;
use crate::render::format_grouped;

/// The states of files, as they are in JSON and in words, in the order in which they are counted.
const STATES: [(&str, &str); 4] =
    [("fresh", "fresh"), ("stale", "stale"), ("new", "new"), ("left_out", "left out")];

pub(super) fn run(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let states = &context.ask(FilesQuery {})?;
    if context.output.json {
        context.write_data(states)?;
        return Ok(failure::DONE);
    }
    for file in &states.files {
        let word = STATES.iter().find(|(state, _)| *state == file.state).map_or("", |(_, word)| word);
        let path = display_path(&file.path, file.path_hex.as_deref());
        context.output.write_line(&format!("{word:<9} {path}{}", file_details(file)))?;
    }
    let counts = STATES.map(|(state, word)| {
        let count = states.files.iter().filter(|file| file.state == state).count();
        format!("{} {word}", format_grouped(count as u64))
    });
    context.output.message(&counts.join(", "));
    Ok(failure::DONE)
}

/// Returns the details that follow a path: why the file is left out, or its language.
fn file_details(file: &FileState) -> String {
    match (&file.reason, &file.language) {
        (Some(reason), _) => {
            let words = SkipReason::from_name(reason).map_or("", SkipReason::description);
            format!("  ({reason}: {words})")
        }
        (None, Some(language)) => {
            let tiers: Vec<String> = file.agent_tiers.iter().map(ToString::to_string).collect();
            let model = if tiers.is_empty() {
                String::new()
            } else {
                format!(" and, for tier {}, by a model", tiers.join(" and "))
            };
            format!("  ({}, summary by {}{model})", language_name(language), summary_maker(file))
        }
        (None, None) => String::new(),
    }
}

/// Returns who made a file's summary, without the versions: those are in the JSON.
fn summary_maker(file: &FileState) -> &str {
    let made_by = file.summary_by.as_deref().unwrap_or("nobody");
    made_by.split('/').next().unwrap_or(made_by)
}
