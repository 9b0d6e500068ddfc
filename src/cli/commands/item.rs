//! `slop item`: the entries of `[[files]]` in `slop.toml`, and how they show their files.

use serde_json::{Value, json};

use super::context::{CommandContext, items_of, require_existing};
use crate::api::item_to_json;
use crate::cli::curation_args::{ItemCommand, ItemModeArgs};
use crate::cli::failure;
use crate::cli::failure::CommandError;
use crate::config::edit;
use crate::config::edit::{ItemChange, ItemMode};
use crate::model::{FileItem, Tier};
use crate::sys::RealDisk;

pub(super) fn run_item(command: &ItemCommand, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    match command {
        ItemCommand::Set { paths, mode } => set_mode(&context.location.resolve_paths(paths), mode, context),
        ItemCommand::List { path } => list_items(path.as_deref(), context),
        ItemCommand::Remove { paths, yes } => {
            let paths = context.location.resolve_paths(paths);
            let removed = context
                .edit_settings("item remove", |file| edit::remove_items(&RealDisk, file, &paths, *yes))?;
            let line = format!("items removed: {removed}");
            context.write_result(&json!({"paths": paths, "removed": removed}), &line)
        }
    }
}

fn set_mode(
    paths: &[String],
    mode: &ItemModeArgs,
    context: &mut CommandContext<'_>,
) -> Result<u8, CommandError> {
    let chosen = mode.chosen();
    let changes = if let Some(mode) = chosen {
        require_existing(paths, context)?;
        let label = format!("{} on {}", mode_words(mode), paths.join(", "));
        let changes =
            context.edit_settings(&label, |file| edit::set_item_mode(&RealDisk, file, paths, mode))?;
        context.note_carried_hides(paths);
        changes
    } else {
        // The item of a file that is gone can still be cleared.
        let label = format!("clear {}", paths.join(", "));
        context.edit_settings(&label, |file| edit::clear_item_mode(&RealDisk, file, paths))?
    };
    note_precedence(paths, chosen, context);
    if context.output.json {
        let items =
            paths.iter().zip(&changes).map(|(path, change)| json!({"path": path, "change": change.name()}));
        let data = json!({"mode": chosen.map(mode_words), "items": items.collect::<Value>()});
        return context.write_data(&data);
    }
    for (path, change) in paths.iter().zip(&changes) {
        let words = match (chosen, change) {
            (Some(mode), _) => mode_words(mode),
            (None, ItemChange::Removed) => "removed".to_owned(),
            (None, ItemChange::Added | ItemChange::Changed) => "cleared".to_owned(),
        };
        context.write_line(&format!("{path}: {words}"))?;
    }
    Ok(failure::DONE)
}

/// Returns the mode as in `slop.toml`: its key, followed by the view if it has one.
fn mode_words(mode: ItemMode) -> String {
    match mode {
        ItemMode::View(view) => format!("{} {}", mode.key(), view.name()),
        ItemMode::ForceFull | ItemMode::AutoAggregate | ItemMode::Signatures | ItemMode::Definitions => {
            mode.key().to_owned()
        }
    }
}

/// Notes the items whose mask or slices take precedence over the mode that was set.
fn note_precedence(paths: &[String], mode: Option<ItemMode>, context: &mut CommandContext<'_>) {
    // Only this mode takes precedence over masks and slices; if the tier decides, they prevent nothing that was
    // requested.
    let Some(mode) = mode.filter(|mode| !matches!(mode, ItemMode::ForceFull | ItemMode::AutoAggregate))
    else {
        return;
    };
    for path in paths {
        let path = edit::plain_path(path);
        let items = context.loaded.curation.files.iter().filter(|item| edit::plain_path(&item.path) == path);
        let is_decided = |item: &FileItem| !item.ast_mask.is_empty() || !item.custom_slices.is_empty();
        if items.into_iter().any(is_decided) {
            let key = mode.key();
            context.output.note(&format!("{path} has a mask or slices, which take precedence over {key}"));
        }
    }
}

fn list_items(path: Option<&str>, context: &mut CommandContext<'_>) -> Result<u8, CommandError> {
    let items = items_of(path, context);
    if context.output.json {
        let items: Value = items.into_iter().map(item_to_json).collect();
        return context.write_data(&json!({"items": items}));
    }
    for item in items {
        let words = item_words(item);
        let separator = if words.is_empty() { "" } else { ": " };
        context.write_line(&format!("{}{separator}{}", item.path, words.join(", ")))?;
    }
    Ok(failure::DONE)
}

/// Describes an item without its path.
fn item_words(item: &FileItem) -> Vec<String> {
    let flags = [
        (!item.auto_aggregate, "auto_aggregate false"),
        (item.force_full, "force_full"),
        (item.ast_signatures, "ast_signatures"),
        (item.ast_definitions, "ast_definitions"),
        (item.selected, "selected"),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set).map(|(_, words)| words.to_owned());
    let view = item.view_mode.map(|view| format!("view_mode {}", view.name()));
    let tier = item.tier.map(|tier| format!("tier {}", Tier::number(tier)));
    let counts = [(item.ast_mask.len(), "masked symbols"), (item.custom_slices.len(), "slices")];
    let counts = counts.into_iter().filter(|(count, _)| 0 < *count);
    flags.chain(view).chain(tier).chain(counts.map(|(count, what)| format!("{what} {count}"))).collect()
}
