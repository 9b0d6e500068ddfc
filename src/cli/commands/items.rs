//! `slop slice` and `slop mask`: the slices and masks of `[[files]]` in `slop.toml`.

use std::io::Read;

use serde_json::{Value, json};

use super::context::{CommandContext, items_of};
use crate::api::{
    ApiError, MakeSliceQuery, MatchSymbolsQuery, ResolveSlicesQuery, SymbolMatches, mask_to_json, pretty,
    resolution_to_json, slice_from_json, slice_to_json,
};
use crate::cli::curation_args::{MarkArgs, MaskCommand, SliceCommand};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::cli::values::line_range;
use crate::config::edit;
use crate::config::edit::SliceKey;
use crate::model::{MaskMode, Slice, SliceResolution, SliceStatus, collapse_whitespace};
use crate::sys::RealDisk;

/// The most bytes of a slice; a larger input is not a slice.
const MAX_SLICE_BYTES: u64 = 1 << 20;

pub(super) fn run_slice(
    command: &SliceCommand,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    match command {
        SliceCommand::Add(mark) => add_slice(mark, context),
        SliceCommand::List { file } => list_slice(file.as_deref(), context),
        SliceCommand::Remove { file, slice } => remove_slice(file, slice, context),
        SliceCommand::Make(mark) => {
            let slice = context.ask(make_slice_query(mark, context))?;
            write_slice(&slice_to_json(&slice), context)
        }
        // `make` and `resolve` are for programs that store slices themselves, so neither reads or writes `slop.toml`.
        SliceCommand::Resolve { file } => {
            let slices = vec![slice_given()?];
            let resolved =
                context.ask(ResolveSlicesQuery { file: context.location.resolve_path(file), slices })?;
            let [resolution] = &resolved[..] else { return Err(ApiError::bug().into()) };
            write_slice(&resolution_to_json(resolution), context)?;
            // The lines of a stale slice are a guess, which a script must not use unknowingly.
            let is_lost = resolution.status == SliceStatus::Stale;
            Ok(if is_lost { failure::USER } else { failure::DONE })
        }
    }
}

/// Writes a slice as bare JSON, which the other command reads, or with `--json` in an envelope like any answer.
fn write_slice(data: &Value, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    if context.output.json {
        return context.write_data(data);
    }
    context.output.write_json(pretty(data).as_bytes())?;
    Ok(failure::DONE)
}

fn slice_given() -> Result<Slice, CommandError> {
    let hint = "give the slice on standard input, as `slop slice make` prints it";
    let mut text = Vec::new();
    // One byte more than the limit, to detect a slice that is too long.
    let read = std::io::stdin().lock().take(MAX_SLICE_BYTES + 1).read_to_end(&mut text);
    read.map_err(|error| CommandError::usage(format!("standard input cannot be read: {error}"), hint))?;
    if MAX_SLICE_BYTES < text.len() as u64 {
        let message = format!("slice on standard input has more than {MAX_SLICE_BYTES} bytes");
        return Err(CommandError::usage(message, hint));
    }
    let text = String::from_utf8(text)
        .map_err(|_| CommandError::usage("slice on standard input is not UTF-8", hint))?;
    Ok(slice_from_json(&text)?)
}

fn make_slice_query(mark: &MarkArgs, context: &CommandContext<'_>) -> MakeSliceQuery {
    let MarkArgs { file, lines: (start_line, end_line), tag, comment } = mark;
    MakeSliceQuery {
        file: context.location.resolve_path(file),
        start_line: *start_line,
        end_line: *end_line,
        tag: tag.clone(),
        comment: comment.clone(),
    }
}

fn add_slice(mark: &MarkArgs, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let query = make_slice_query(mark, context);
    let path = query.file.clone();
    let slice = context.ask(query)?;
    // The file's text is read before the settings are edited: a slice that cannot be made leaves no entry.
    let label = format!("slice of {path}");
    context.edit_settings(&label, |file| edit::add_slice(&RealDisk, file, &path, &slice))?;
    context.note_carried_hides(std::slice::from_ref(&path));
    let line = format!("{path}:{}-{}{}", mark.lines.0, mark.lines.1, tag_and_comment(&slice));
    context.write_result(&json!({"path": path, "slice": slice_to_json(&slice)}), &line)
}

fn list_slice(file: Option<&str>, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mut found = Vec::new();
    for item in items_of(file, context) {
        // Once per file, because each question reads the file.
        let resolved = resolve(&item.path, &item.custom_slices, context);
        let slices = item.custom_slices.iter().zip(resolved);
        found.extend(slices.map(|(slice, now)| (item.path.as_str(), slice, now)));
    }
    if context.output.json {
        let slices = found.iter().map(|(path, slice, now)| {
            json!({
                "path": path,
                "slice": slice_to_json(slice),
                "status": now.status.name(),
                "start_line": now.start_line,
                "end_line": now.end_line,
                "reason": now.reason,
            })
        });
        let data = json!({"slices": slices.collect::<serde_json::Value>()});
        return context.write_data(&data);
    }
    for (path, slice, now) in found {
        let lines = format!("{}-{}", now.start_line, now.end_line);
        let was = format!("{}-{}", slice.start_line, slice.end_line);
        let was = if was == lines { String::new() } else { format!(", was {was}") };
        let reason =
            if now.status == SliceStatus::Stale { format!(": {}", now.reason) } else { String::new() };
        let status = now.status.name();
        context.write_line(&format!("{path}:{lines} {status}{was}{}{reason}", tag_and_comment(slice)))?;
    }
    Ok(failure::DONE)
}

fn remove_slice(file: &str, word: &str, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let path = context.location.resolve_path(file);
    let mut keys = Vec::new();
    if let Ok((start_line, end_line)) = line_range(word) {
        // The list shows the current lines of slices, so a user most likely types these.
        for item in items_of(Some(file), context) {
            let resolved = resolve(&item.path, &item.custom_slices, context);
            for (slice, now) in item.custom_slices.iter().zip(resolved) {
                let is_found = now.status != SliceStatus::Stale;
                if is_found && (now.start_line, now.end_line) == (start_line, end_line) {
                    keys.push(SliceKey::Lines(slice.start_line, slice.end_line));
                }
            }
        }
        keys.push(SliceKey::Lines(start_line, end_line));
    }
    // Tags come last: an argument that looks like a range of lines is unlikely to be one.
    keys.push(SliceKey::Tag(word.to_owned()));
    let label = format!("slice removed from {path}");
    let removed = context.edit_settings(&label, |file| edit::remove_slices(&RealDisk, file, &path, &keys))?;
    let line = format!("{path}: slices removed: {removed}");
    context.write_result(&json!({"path": path, "removed": removed}), &line)
}

/// Returns where each slice of a file is now. A file that cannot be read has stale slices.
fn resolve(path: &str, slices: &[Slice], context: &mut CommandContext<'_>) -> Vec<SliceResolution> {
    if slices.is_empty() {
        return Vec::new();
    }
    let stale = |slice: &Slice, reason: &str| SliceResolution {
        status: SliceStatus::Stale,
        start_line: slice.start_line,
        end_line: slice.end_line,
        reason: reason.to_owned(),
    };
    match context.ask_or_error(ResolveSlicesQuery { file: path.to_owned(), slices: slices.to_vec() }) {
        Ok(resolutions) => resolutions,
        Err(fault) => {
            let reason = fault.message;
            slices.iter().map(|slice| stale(slice, &reason)).collect()
        }
    }
}

fn tag_and_comment(slice: &Slice) -> String {
    let tag =
        if slice.tag.is_empty() { String::new() } else { format!(" [{}]", collapse_whitespace(&slice.tag)) };
    let comment = if slice.comment.is_empty() {
        String::new()
    } else {
        format!(" ({})", collapse_whitespace(&slice.comment))
    };
    tag + &comment
}

pub(super) fn run_mask(command: &MaskCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        MaskCommand::Set { file, masks } => set_mask(file, masks, context),
        MaskCommand::List { file } => list_mask(file.as_deref(), context),
        MaskCommand::Remove { file, symbols, all: _ } => remove_mask(file, symbols, context),
    }
}

fn set_mask(
    file: &str,
    masks: &[(String, MaskMode)],
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let path = context.location.resolve_path(file);
    let symbols: Vec<String> = masks.iter().map(|(symbol, _)| symbol.clone()).collect();
    let matches = context.ask(MatchSymbolsQuery { file: path.clone(), symbols: symbols.clone() })?;
    for (symbol, matches) in symbols.iter().zip(&matches) {
        // Nothing is written unless every symbol was found: with a misspelled name, the intended symbol would stay
        // hidden.
        if matches.found == 0 {
            let message = format!("no symbol `{symbol}` in {path}{}", matches.suggestion());
            let hint = "`slop outline PATH --json` has the qualified names of all";
            return Err(ApiError::user("no_such_symbol", message, hint).into());
        }
    }
    let label = format!("mask of {path}: {}", symbols.join(", "));
    context.edit_settings(&label, |file| edit::set_masks(&RealDisk, file, &path, masks))?;
    context.note_carried_hides(std::slice::from_ref(&path));
    if context.output.json {
        return context.write_data(&json!({"path": path, "mask": mask_to_json(masks)}));
    }
    for (symbol, mode) in masks {
        context.write_line(&format!("{path} {symbol} = {}", mode.name()))?;
    }
    Ok(failure::DONE)
}

fn list_mask(file: Option<&str>, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mut listed = Vec::new();
    for item in items_of(file, context).into_iter().filter(|item| !item.ast_mask.is_empty()) {
        let symbols = item.ast_mask.iter().map(|(symbol, _)| symbol.clone()).collect();
        // A file that is gone has no symbols; the others are still listed.
        let matches = context.ask_or_error(MatchSymbolsQuery { file: item.path.clone(), symbols });
        let mut matches = matches.unwrap_or_default().into_iter();
        for (symbol, mode) in &item.ast_mask {
            let matches = matches.next().unwrap_or_default();
            listed.push((item.path.as_str(), symbol.as_str(), *mode, matches));
        }
    }
    if context.output.json {
        // `mode` is the older name of `show`, which the entries of `curation show` use.
        let masks = listed.iter().map(|(path, symbol, mode, SymbolMatches { found, nearest })| {
            let show = mode.name();
            json!({"path": path, "symbol": symbol, "show": show, "mode": show, "found": found, "nearest": nearest})
        });
        let data = json!({"masks": masks.collect::<Value>()});
        return context.write_data(&data);
    }
    for (path, symbol, mode, matches) in listed {
        let gone =
            if matches.found == 0 { format!("  (gone{})", matches.suggestion()) } else { String::new() };
        context.write_line(&format!("{path} {symbol} = {}{gone}", mode.name()))?;
    }
    Ok(failure::DONE)
}

fn remove_mask(file: &str, symbols: &[String], context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let path = context.location.resolve_path(file);
    let label = format!("symbols removed from the mask of {path}");
    let removed =
        context.edit_settings(&label, |file| edit::remove_masks(&RealDisk, file, &path, symbols))?;
    let line = format!("{path}: symbols removed: {}", removed.join(", "));
    context.write_result(&json!({"path": path, "removed": removed}), &line)
}
