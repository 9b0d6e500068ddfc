//! Commands that ask one question and print the answer: `index`, `outline`, `view`, `symbol`, `search` and `audit`.

use super::asking::pluralize;
use super::context::{CommandContext, scan_line};
use super::input::read_items;
use crate::api::{
    AuditQuery, AuditResult, FileView, FindQuery, IndexQuery, LineRange, MaskEntry, ModeName, NamedThing,
    OutlineQuery, SearchQuery, SymbolsQuery, ViewQuery, display_path, language_name,
};
use crate::cli::cache_args::IndexArgs;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::file_args::{FindArgs, OutlineArgs, SearchArgs, SymbolArgs, ViewArgs};
use crate::cli::output::{CommandOutput, KIND, MINOR, NAME, thousandths};
use crate::model::printable;
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
        // A line per file and no envelope, so that a reader can process one file at a time.
        if context.output.json {
            context.output.write_json_line(outline)?;
            continue;
        }
        let health = outline.health_percent();
        let health = if outline.is_perfect() { String::new() } else { format!(" · parse health {health}") };
        let path = display_path(&outline.path, outline.path_hex.as_deref());
        let (language, length) = (language_name(&outline.language), outline.length());
        let path = context.output.paint(NAME, &path);
        context.output.write_line(&format!("{path} · {language} · {length}{health}"))?;
        let text = outline.text();
        let text = context.output.visible(&text).into_owned();
        write_outline(&text, context.output)?;
    }
    Ok(context.report_missing_paths())
}

/// Writes the lines of an outline, with different colors for the kinds of symbols and their names.
fn write_outline(text: &str, output: &mut CommandOutput) -> Result<(), CommandError> {
    if !output.has_colors() {
        return Ok(output.write_text(text)?);
    }
    for line in text.lines() {
        let parts = line.find('[').zip(line.find("] ")).zip(line.rfind(" (Lines "));
        let Some(((open, close), lines)) = parts.filter(|((_, close), lines)| close + 2 <= *lines) else {
            output.write_line(line)?;
            continue;
        };
        let (kind, lines_text) =
            (output.paint(KIND, &line[open..=close]), output.paint(MINOR, &line[lines..]));
        output.write_line(&format!("{}{kind} {}{lines_text}", &line[..open], &line[close + 2..lines]))?;
    }
    Ok(())
}

pub(super) fn view(args: &ViewArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mask = args.mask.iter();
    let views = &context.ask(ViewQuery {
        files: context.location.resolve_paths(&args.files),
        mode: args.chosen_mode().and_then(ModeName::from_mode),
        docs: args.docs.map(Into::into),
        mask: mask.map(|(symbol, mode)| MaskEntry { symbol: symbol.clone(), show: (*mode).into() }).collect(),
        keeps_hidden: false,
        lines: args.lines.iter().map(|&(start, end)| LineRange { start, end }).collect(),
        base: args.base().cloned(),
        items: read_items(args.items.as_deref())?,
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
            let why = context.output.visible(&why).into_owned();
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
    let query = SymbolsQuery {
        name: args.name.clone(),
        definition: args.definition,
        ignore_case: args.ignore_case,
        kind: args.kind.clone(),
    };
    let symbols = &context.ask(query)?;
    if context.output.json {
        // Written before the error below, because an empty list is an answer for a program, next to the exit code.
        context.write_data(symbols)?;
    }
    if symbols.is_empty() {
        let kind = args.kind.as_ref().map_or(String::new(), |kind| format!(" of the kind {kind}"));
        let message = format!("no symbol named `{}`{kind} in the project", args.name);
        let hint = "patterns such as get_* match several names, and `-i` ignores case; `slop outline` lists all symbols";
        return Err(CommandError::usage(message, hint));
    }
    if context.output.json {
        return Ok(failure::DONE);
    }
    for symbol in symbols {
        if args.signature {
            context.output.write_text(&symbol.signature)?;
            context.output.write_text("\n")?;
            continue;
        }
        let path = display_path(&symbol.path, symbol.path_hex.as_deref());
        let place = format!("{path}:{}-{}", symbol.start_line, symbol.end_line);
        let place = context.output.paint(NAME, &place);
        let kind = context.output.paint(KIND, &format!("[{}]", symbol.kind_title()));
        let name = context.output.visible(&symbol.qualified_name).into_owned();
        context.output.write_line(&format!("{place} {kind} {name}"))?;
        match &symbol.definition {
            Some(text) => context.output.write_text(&format!("{}\n", text.trim_end_matches(['\n', '\r'])))?,
            None => context.output.write_text(&format!("  {}\n", symbol.signature))?,
        }
        if let (Some(doc), None) = (&symbol.doc, &symbol.definition) {
            context.output.write_text(&format!("  {doc}\n"))?;
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
        let what =
            if found.matched { "nothing of that kind matches" } else { "nothing in the project matches" };
        context.output.note(what);
    }
    for hit in &found.hits {
        let path = display_path(&hit.path, hit.path_hex.as_deref());
        let place = match (hit.start_line, hit.end_line) {
            (Some(first), Some(last)) => format!("{path}:{first}-{last}"),
            (_, _) => path,
        };
        let name = hit.name.as_deref().map(|name| format!(" {}", printable(name))).unwrap_or_default();
        let parts =
            hit.score.parts.iter().map(|part| format!("{} {}", part.part, thousandths(part.thousandths)));
        let parts = parts.collect::<Vec<_>>().join(", ");
        let score = thousandths(hit.score.thousandths);
        context.output.write_line(&format!("{place} [{}]{name}  {score}: {parts}", hit.kind))?;
    }
    Ok(failure::DONE)
}

pub(super) fn find(args: &FindArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let of = match (args.files, args.symbols) {
        (true, _) => vec![NamedThing::File],
        (false, true) => vec![NamedThing::Symbol],
        (false, false) => Vec::new(),
    };
    let found = &context.ask(FindQuery { query: args.query.clone(), of, limit: Some(args.limit) })?;
    if context.output.json {
        return context.write_data(found);
    }
    if found.hits.is_empty() {
        context.output.note("no name has these characters in this order");
    }
    for hit in &found.hits {
        let path = display_path(&hit.path, hit.path_hex.as_deref());
        let line = hit.start_line.map(|line| format!(":{line}")).unwrap_or_default();
        let kind = hit.kind.as_deref().unwrap_or("file");
        let name = hit.name.as_deref().map(|name| format!(" {}", printable(name))).unwrap_or_default();
        context.output.write_line(&format!("{path}{line} [{kind}]{name}"))?;
    }
    Ok(failure::DONE)
}

pub(super) fn audit(context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let audit = &context.ask(AuditQuery {})?;
    let is_clean = audit.differences.is_empty();
    // Differences require the user's attention; `slop index` resolves those caused by edits.
    let code = if is_clean { failure::DONE } else { failure::USER };
    if context.output.json {
        context.write_data(audit)?;
        return Ok(code);
    }
    if is_unindexed(audit) {
        context.output.write_line(&format!(
            "nothing is indexed: none of the project's {} files is in the cache; `slop index` indexes them",
            format_grouped(audit.files)
        ))?;
        return Ok(code);
    }
    for difference in &audit.differences {
        let path = display_path(&difference.path, difference.path_hex.as_deref());
        context.output.write_line(&format!("{path}: {}", difference.description()))?;
    }
    let differences = pluralize(audit.differences.len() as u64, "difference", "differences");
    let (files, read) = (pluralize(audit.files, "file", "files"), format_size(audit.bytes));
    context.output.write_line(&format!("{files}, {read} read, {differences}"))?;
    Ok(code)
}

/// Returns whether the index has none of the project's files, as after `slop cache clear`.
fn is_unindexed(audit: &AuditResult) -> bool {
    let missing = audit.differences.iter().filter(|difference| difference.kind == "not_indexed").count();
    0 < audit.files && missing as u64 == audit.files
}
