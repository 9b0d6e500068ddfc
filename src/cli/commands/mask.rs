//! `slop mask`

use serde_json::{Value, json};

use super::context::{CommandContext, items_of};
use crate::api::{MatchSymbolsQuery, SymbolMatches, mask_to_json};
use crate::cli::curation_args::MaskCommand;
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::edit;
use crate::model::MaskMode;
use crate::sys::RealDisk;

pub(super) fn run(command: &MaskCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        MaskCommand::Set { file, masks } => set(file, masks, context),
        MaskCommand::List { file } => list(file.as_deref(), context),
        MaskCommand::Remove { file, symbols, all: _ } => remove(file, symbols, context),
    }
}

fn set(
    file: &str,
    masks: &[(String, MaskMode)],
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let path = context.location.resolve_path(file);
    let symbols: Vec<String> = masks.iter().map(|(symbol, _)| symbol.clone()).collect();
    let matches = context.ask(MatchSymbolsQuery { file: path.clone(), symbols: symbols.clone() })?;
    for (symbol, matches) in symbols.iter().zip(&matches) {
        if matches.found == 0 {
            let message = format!("no symbol `{symbol}` in {path}{}", nearest_hint(matches));
            return Err(CommandError::usage(
                message,
                "`slop outline PATH --json` has the qualified names of all",
            ));
        }
    }
    edit::set_masks(&RealDisk, &context.settings_file(), &path, masks)?;
    if context.output.json {
        context.write_data(&json!({"path": path, "mask": mask_to_json(masks)}))?;
        return Ok(failure::DONE);
    }
    for (symbol, mode) in masks {
        context.write_line(&format!("{path} {symbol} = {}", mode.name()))?;
    }
    Ok(failure::DONE)
}

fn list(file: Option<&str>, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let mut listed = Vec::new();
    for item in items_of(file, context).into_iter().filter(|item| !item.ast_mask.is_empty()) {
        let symbols = item.ast_mask.iter().map(|(symbol, _)| symbol.clone()).collect();
        // A file that is gone has lost its symbols; the list goes on.
        let matches = context.ask_or_error(MatchSymbolsQuery { file: item.path.clone(), symbols });
        let mut matches = matches.unwrap_or_default().into_iter();
        for (symbol, mode) in &item.ast_mask {
            let matches = matches.next().unwrap_or_default();
            let (found, near) = (matches.found, nearest_hint(&matches));
            listed.push((item.path.as_str(), symbol.as_str(), *mode, found, near));
        }
    }
    if context.output.json {
        let masks = listed.iter().map(|(path, symbol, mode, found, _)| {
            json!({"path": path, "symbol": symbol, "mode": mode.name(), "found": found})
        });
        let data = json!({"masks": masks.collect::<Value>()});
        context.write_data(&data)?;
        return Ok(failure::DONE);
    }
    for (path, symbol, mode, found, near) in listed {
        let gone = if found == 0 { format!("  (gone{near})") } else { String::new() };
        context.write_line(&format!("{path} {symbol} = {}{gone}", mode.name()))?;
    }
    Ok(failure::DONE)
}

fn remove(file: &str, symbols: &[String], context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let path = context.location.resolve_path(file);
    let removed = edit::remove_masks(&RealDisk, &context.settings_file(), &path, symbols)?;
    if context.output.json {
        context.write_data(&json!({"path": path, "removed": removed}))?;
    } else {
        context.write_line(&format!("{path}: symbols removed: {}", removed.join(", ")))?;
    }
    Ok(failure::DONE)
}

/// Returns text that names symbols like the one that was looked for, if there are any.
fn nearest_hint(matches: &SymbolMatches) -> String {
    let near = matches.nearest.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if near.is_empty() { near } else { format!(", the nearest are {near}") }
}
