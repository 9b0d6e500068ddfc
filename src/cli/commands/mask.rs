//! `slop mask`

use serde_json::Value;
use serde_json::json;

use super::desk::CommandContext;
use super::desk::items_of;
use crate::api::{MatchSymbolsQuery, SymbolMatches, mask_to_json};
use crate::cli::curation_args::MaskCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::edit;
use crate::model::MaskMode;
use crate::sys::RealDisk;

pub(super) fn run(command: &MaskCommand, desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        MaskCommand::Set { file, masks } => set(file, masks, desk),
        MaskCommand::List { file } => list(file.as_deref(), desk),
        MaskCommand::Remove { file, symbols, all: _ } => remove(file, symbols, desk),
    }
}

fn set(file: &str, masks: &[(String, MaskMode)], desk: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let path = desk.location.resolve_path(file);
    let symbols: Vec<String> = masks.iter().map(|(symbol, _)| symbol.clone()).collect();
    let matches = desk.ask(MatchSymbolsQuery { file: path.clone(), symbols: symbols.clone() })?;
    for (symbol, matches) in symbols.iter().zip(&matches) {
        if matches.found == 0 {
            let message = format!("find `{symbol}` in {path}{}", nearest_hint(matches));
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
        let symbols = item.ast_mask.iter().map(|(symbol, _)| symbol.clone()).collect();
        // A file that is gone has lost its symbols; the list goes on.
        let matches = desk.ask_or_error(MatchSymbolsQuery { file: item.path.clone(), symbols });
        let mut matches = matches.unwrap_or_default().into_iter();
        for (symbol, mode) in &item.ast_mask {
            let matches = matches.next().unwrap_or_default();
            let (found, near) = (matches.found, nearest_hint(&matches));
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

/// Returns text that names symbols like the one that was looked for, if there are any.
fn nearest_hint(matches: &SymbolMatches) -> String {
    let near = matches.nearest.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if near.is_empty() { near } else { format!(", the nearest are {near}") }
}
