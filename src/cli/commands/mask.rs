//! `slop mask`

use serde_json::Value;
use serde_json::json;

use super::desk::CommandContext;
use super::desk::items_of;
use crate::api::QueryResponse;
use crate::api::ResolvedQuery;
use crate::api::Trust;
use crate::api::mask_to_json;
use crate::api::nearest_symbols;
use crate::api::select_symbols;
use crate::cli::curation_args::MaskCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::edit;
use crate::model::MaskMode;
use crate::model::Outline;
use crate::sys::RealDisk;

/// How many names are offered in place of one that is not there.
const MOST_OFFERED: usize = 3;

pub(super) fn run(command: &MaskCommand, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        MaskCommand::Set { file, masks } => set(file, masks, desk),
        MaskCommand::List { file } => list(file.as_deref(), desk),
        MaskCommand::Remove { file, symbols, all: _ } => remove(file, symbols, desk),
    }
}

fn set(file: &str, masks: &[(String, MaskMode)], desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let path = desk.location.resolve_path(file);
    let response =
        desk.request(ResolvedQuery::Outline { files: vec![path.clone()], trust: Trust::Stamps })?;
    let outlines = outlines(&response);
    for (symbol, _) in masks {
        if !outlines.iter().any(|outline| !select_symbols(outline, symbol).is_empty()) {
            let message = format!("find `{symbol}` in {path}{}", nearest_hint(&outlines, symbol));
            return Err(CommandError::usage(
                message,
                "`slop outline PATH --json` has the qualified names of all",
            ));
        }
    }
    edit::set_masks(&RealDisk, &desk.settings_file(), &path, masks)?;
    if desk.output.json {
        desk.write_data(&json!({"path": path, "mask": mask_to_json(masks)}))?;
        return Ok(failure::DONE);
    }
    for (symbol, mode) in masks {
        desk.write_line(&format!("{path} {symbol} = {}", mode.name()))?;
    }
    Ok(failure::DONE)
}

fn list(file: Option<&str>, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mut listed = Vec::new();
    for item in items_of(file, desk).into_iter().filter(|item| !item.ast_mask.is_empty()) {
        let request = ResolvedQuery::Outline { files: vec![item.path.clone()], trust: Trust::Stamps };
        // A file that is gone has lost its symbols; the list goes on.
        let response = desk.request_or_error(request).ok();
        let outlines = response.as_ref().map(outlines).unwrap_or_default();
        for (symbol, mode) in &item.ast_mask {
            let found: usize = outlines.iter().map(|outline| select_symbols(outline, symbol).len()).sum();
            let near = if found == 0 { nearest_hint(&outlines, symbol) } else { String::new() };
            listed.push((item.path.as_str(), symbol.as_str(), *mode, found, near));
        }
    }
    if desk.output.json {
        let masks = listed.iter().map(|(path, symbol, mode, found, _)| {
            json!({"path": path, "symbol": symbol, "mode": mode.name(), "found": found})
        });
        let data = json!({"masks": masks.collect::<Value>()});
        desk.write_data(&data)?;
        return Ok(failure::DONE);
    }
    for (path, symbol, mode, found, near) in listed {
        let gone = if found == 0 { format!("  (gone{near})") } else { String::new() };
        desk.write_line(&format!("{path} {symbol} = {}{gone}", mode.name()))?;
    }
    Ok(failure::DONE)
}

fn remove(file: &str, symbols: &[String], desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let path = desk.location.resolve_path(file);
    let removed = edit::remove_masks(&RealDisk, &desk.settings_file(), &path, symbols)?;
    if desk.output.json {
        desk.write_data(&json!({"path": path, "removed": removed}))?;
    } else {
        desk.write_line(&format!("{path}: symbols removed: {}", removed.join(", ")))?;
    }
    Ok(failure::DONE)
}

fn outlines(response: &QueryResponse) -> Vec<&Outline> {
    let QueryResponse::Outlines(answers) = response else {
        unreachable!("an outline request is answered by outlines")
    };
    answers.iter().map(|answer| &answer.outline).collect()
}

/// Returns words for names that are like `symbol`, if there are any.
fn nearest_hint(outlines: &[&Outline], symbol: &str) -> String {
    let near = outlines.iter().flat_map(|outline| nearest_symbols(outline, symbol)).take(MOST_OFFERED);
    let near = near.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if near.is_empty() { near } else { format!(", the nearest are {near}") }
}
