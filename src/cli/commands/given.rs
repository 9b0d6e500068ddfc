//! `slop given`: what was delivered to agents, and what has changed since.

use super::context::CommandContext;
use super::history::time_text;
use crate::api::{GivenDocuments, GivenFileChange, GivenFileColumns, GivenName, GivenQuery, GivenStep};
use crate::cli::document_args::GivenArgs;
use crate::cli::failure::{self, CommandError};
use crate::render::{format_grouped, format_size};

pub(super) fn run(args: &GivenArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let GivenArgs { name, file, curation, diff } = args;
    let query = GivenQuery { name: name.clone(), curation: curation.clone(), file: file.clone() };
    let given = context.ask(query.clone())?;
    if *diff {
        return write_diffs(&query, given.files.unwrap_or_default(), context);
    }
    if context.output.json {
        return context.write_data(&given);
    }
    if let Some(change) = &given.file {
        write_change(change, context)?;
    } else if name.is_some() {
        write_name(&given, context)?;
    } else {
        for name in &given.names {
            context.write_line(&name_row(name))?;
        }
    }
    Ok(failure::DONE)
}

fn name_row(name: &GivenName) -> String {
    let GivenName { name, curation, at_ms, bytes, tokens, files } = name;
    let curation = curation.as_ref().map_or(String::new(), |curation| format!(" --curation {curation}"));
    let Some(at_ms) = at_ms else { return format!("{:16}  {name}{curation}", "") };
    let (tokens, size) = (format_grouped(*tokens), format_size(*bytes));
    let time = time_text(*at_ms);
    format!("{time}  {name}{curation}  {tokens} tokens, {size}, {files} files")
}

fn write_name(given: &GivenDocuments, context: &mut CommandContext<'_>) -> Result<(), CommandError> {
    let files = given.files.clone().unwrap_or_default();
    let mut same = 0;
    for ((file, state), view) in files.file.iter().zip(&files.state).zip(&files.view) {
        if state == "same" {
            same += 1;
            continue;
        }
        let view = view.as_ref().map_or(String::new(), |view| format!(" ({view})"));
        context.write_line(&format!("{state:7}  {file}{view}"))?;
    }
    context.write_line(&format!("{} files are the same", format_grouped(same)))?;
    for step in &given.history {
        context.write_line(&step_row(step))?;
    }
    Ok(())
}

fn step_row(step: &GivenStep) -> String {
    let (time, tokens) = (time_text(step.at_ms), format_grouped(step.tokens));
    let kept = step.kept_tokens.zip(step.kept_bytes).map(|(kept, bytes)| {
        let percent = 100 * bytes / step.bytes.max(1);
        format!(", {percent} % kept ({} tokens)", format_grouped(kept))
    });
    let first = step.first.as_ref().map(|first| {
        let subject = first.file.as_ref().or(first.section.as_ref()).map_or("", String::as_str);
        format!(", first difference: {subject} {}", first.reason.name())
    });
    format!("{time}  {tokens} tokens{}{}", kept.unwrap_or_default(), first.unwrap_or_default())
}

/// Writes the diff of each changed file, each with a question of its own.
fn write_diffs(
    query: &GivenQuery,
    files: GivenFileColumns,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let is_changed = files.state.iter().map(|state| state == "changed");
    let paths =
        files.file.into_iter().zip(is_changed).filter_map(|(file, is_changed)| is_changed.then_some(file));
    let mut changes = Vec::new();
    for file in paths {
        let given = context.ask(GivenQuery { file: Some(file), ..query.clone() })?;
        let Some(change) = given.file else { continue };
        if !context.output.json {
            write_change(&change, context)?;
        }
        changes.push(change);
    }
    if context.output.json { context.write_data(&changes) } else { Ok(failure::DONE) }
}

fn write_change(change: &GivenFileChange, context: &mut CommandContext<'_>) -> Result<(), CommandError> {
    if let Some(diff) = &change.diff {
        context.output.write_text(diff)?;
    }
    if let Some(reason) = &change.reason {
        context.output.note(&format!("no diff of {}: {reason}", change.file));
    }
    if 0 < change.hidden_lines {
        let lines = change.hidden_lines;
        context.output.note(&format!(
            "{}: {lines} delivered lines are not shown, because a mask now hides symbols of the file",
            change.file
        ));
    }
    Ok(())
}
