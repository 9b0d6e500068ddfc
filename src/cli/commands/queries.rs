//! Commands that ask one question and print the answer: `index`, `outline`, `view`, `symbol`, `search`, `status` and `audit`.

use super::context::{CommandContext, scan_line};
use super::document::thousandths;
use crate::api::{
    AuditQuery, FileState, FileView, FilesQuery, IndexQuery, LineRange, MaskEntry, ModeName, OutlineQuery,
    SearchQuery, SymbolsQuery, ViewQuery, display_path, language_name,
};
use crate::cli::args::{IndexArgs, OutlineArgs, SearchArgs, SymbolArgs, ViewArgs};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::model::{SkipReason, printable};
use crate::render::{format_grouped, format_size};

pub(super) fn index(args: &IndexArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let report = &context.ask(IndexQuery { verify: args.verify })?;
    if context.output.json {
        context.write_project_data(report)?;
    } else {
        context.report_project();
        context.output.write_line(&scan_line(report))?;
    }
    Ok(if report.has_errors() { failure::INCOMPLETE } else { failure::DONE })
}

pub(super) fn outline(args: &OutlineArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = OutlineQuery { files: context.location.resolve_paths(&args.files), verify: args.verify };
    let outlines = context.ask(query)?;
    for outline in &outlines {
        // A line per file, and no envelope: a reader can handle one file at a time, however many there are.
        if context.output.json {
            context.output.write_json_line(outline)?;
            continue;
        }
        let health = outline.health_percent();
        let health = if outline.is_perfect() { String::new() } else { format!(" · parse health {health}") };
        let path = display_path(&outline.path, outline.path_hex.as_deref());
        let (language, lines) = (language_name(&outline.language), format_grouped(outline.lines.into()));
        context.output.write_line(&format!("{path} · {language} · {lines} lines{health}"))?;
        context.output.write_text(&outline.text())?;
    }
    Ok(context.report_missing_paths())
}

pub(super) fn view(args: &ViewArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mask = args.mask.iter();
    let views = &context.ask(ViewQuery {
        files: context.location.resolve_paths(&args.files),
        mode: args.chosen_mode().and_then(ModeName::from_mode),
        mask: mask.map(|(symbol, mode)| MaskEntry { symbol: symbol.clone(), show: (*mode).into() }).collect(),
        lines: args.lines.iter().map(|&(start, end)| LineRange { start, end }).collect(),
        base: args.base().cloned(),
        verify: args.verify,
    })?;
    let is_failed = views.iter().any(FileView::is_failed);
    if context.output.json {
        context.write_data(views)?;
        return Ok(view_exit_code(is_failed, context));
    }
    for view in views {
        if !args.bare {
            let why = view.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
            let path = display_path(&view.path, view.path_hex.as_deref());
            context.output.write_line(&format!("{path} · {}{why}", view.head))?;
        }
        context.output.write_text(&view.text)?;
        // With `--bare` the output is the view byte for byte, so that it can be redirected into a file.
        if !args.bare && !view.text.ends_with('\n') {
            context.output.write_text("\n")?;
        }
    }
    Ok(view_exit_code(is_failed, context))
}

fn view_exit_code(is_failed: bool, context: &mut CommandContext<'_>) -> u8 {
    let code = context.report_missing_paths();
    if is_failed { failure::INCOMPLETE } else { code }
}

pub(super) fn symbol(args: &SymbolArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = SymbolsQuery { name: args.name.clone(), definition: args.definition };
    let symbols = &context.ask(query)?;
    if context.output.json {
        // Written before the error below: for a program an empty list is an answer, and the exit code says the rest.
        context.write_data(symbols)?;
    }
    if symbols.is_empty() {
        let message = format!("no symbol named `{}` in the project", args.name);
        return Err(CommandError::usage(message, "`slop outline` lists the symbols of every file"));
    }
    if context.output.json {
        return Ok(failure::DONE);
    }
    for symbol in symbols {
        if args.signature {
            context.output.write_line(&symbol.signature)?;
            continue;
        }
        let path = display_path(&symbol.path, symbol.path_hex.as_deref());
        let place = format!("{path}:{}-{}", symbol.start_line, symbol.end_line);
        context.output.write_line(&format!("{place} [{}] {}", symbol.kind_title(), symbol.qualified_name))?;
        match &symbol.definition {
            Some(text) => context.output.write_line(text.trim_end_matches(['\n', '\r']))?,
            None => context.output.write_line(&format!("  {}", symbol.signature))?,
        }
        if let (Some(doc), None) = (&symbol.doc, &symbol.definition) {
            context.output.write_line(&format!("  {doc}"))?;
        }
    }
    Ok(failure::DONE)
}

pub(super) fn search(args: &SearchArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = SearchQuery { query: args.query.clone(), limit: Some(args.limit), kind: args.kind.clone() };
    let found = &context.ask(query)?;
    if context.output.json {
        return context.write_data(found);
    }
    if found.hits.is_empty() {
        context.output.note("nothing in the project matches");
    }
    for hit in &found.hits {
        let path = display_path(&hit.path, hit.path_hex.as_deref());
        let place = match (hit.start_line, hit.end_line) {
            (Some(first), Some(last)) => format!("{path}:{first}-{last}"),
            (_, _) => path,
        };
        let name = if hit.name.is_empty() { String::new() } else { format!(" {}", printable(&hit.name)) };
        let parts =
            hit.score.parts.iter().map(|part| format!("{} {}", part.part, thousandths(part.thousandths)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        let score = thousandths(hit.score.thousandths);
        context.output.write_line(&format!("{place} [{}]{name}  {score}: {parts}", hit.kind))?;
    }
    Ok(failure::DONE)
}

/// The states of files by their names in JSON and for people, in the order in which they are counted.
const STATES: [(&str, &str); 4] =
    [("fresh", "fresh"), ("stale", "stale"), ("new", "new"), ("left_out", "left out")];

pub(super) fn status(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let states = &context.ask(FilesQuery {})?;
    if context.output.json {
        return context.write_project_data(states);
    }
    context.report_project();
    for file in &states.files {
        let word = STATES.iter().find(|(state, _)| *state == file.state).map_or("", |(_, word)| word);
        let path = display_path(&file.path, file.path_hex.as_deref());
        context.output.write_line(&format!("{word:<9} {path}{}", file_details(file)))?;
    }
    let counts = STATES.map(|(state, word)| {
        let count = states.files.iter().filter(|file| file.state == state).count();
        format!("{} {word}", format_grouped(count as u64))
    });
    // The counts are no rows of the list, so they go to standard error.
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

pub(super) fn audit(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let audit = &context.ask(AuditQuery {})?;
    let is_clean = audit.differences.is_empty();
    // Differences count as the user's to act on; `slop index` removes those that are mere edits.
    let code = if is_clean { failure::DONE } else { failure::USER };
    if context.output.json {
        context.write_data(audit)?;
        return Ok(code);
    }
    for difference in &audit.differences {
        let path = display_path(&difference.path, difference.path_hex.as_deref());
        context.output.write_line(&format!("{path}: {}", difference.description()))?;
    }
    let (files, differences) = (format_grouped(audit.files), format_grouped(audit.differences.len() as u64));
    let plural = if audit.differences.len() == 1 { "difference" } else { "differences" };
    context
        .output
        .write_line(&format!("{files} files, {} read, {differences} {plural}", format_size(audit.bytes)))?;
    Ok(code)
}
