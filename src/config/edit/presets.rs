//! Saves, applies and deletes presets.

use crate::model::suggest_known_name;
use std::path::Path;

use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, TableLike, Value};

use super::format::{
    clear_positions, detached_comments, insert_comments, place_table, set_formatted, text_value,
};
use super::items::{clear_items, item_path, plain_path, push_item};
use super::keys::{FILES_KEY, PRESETS_KEY, item_tables};
use super::page::{SettingsDocument, edit_file};
use crate::config::error::Error;
use crate::sys::Disk;

/// A preset to be saved.
#[derive(Debug, Clone)]
pub struct PresetDraft {
    pub name: String,
    /// Its description; if empty, an existing one is kept.
    pub description: String,
    /// The paths of its files; empty for all files with items in the project.
    pub files: Vec<String>,
    /// Whether an existing preset may be overwritten.
    pub overwrites: bool,
}

/// Saves items of the project's file under a name, in the file `target`, and returns how many.
pub fn save_preset(
    disk: &dyn Disk,
    project: &Path,
    target: &Path,
    draft: &PresetDraft,
) -> Result<usize, Error> {
    // If both are the same file, this reads it once more than necessary; the edit itself compares what it has read.
    let items = edit_file(disk, project, |page| Ok(select_items(&page.document, &draft.files)));
    let files = items?;
    if files.is_empty() {
        return Err(Error::NothingToSave { path: project.to_owned() });
    }
    edit_file(disk, target, |page| put_preset(page, draft, &files))
}

/// Saves items of a file as a preset in the same file, and returns how many.
pub(super) fn save_preset_in(page: &mut SettingsDocument, draft: &PresetDraft) -> Result<usize, Error> {
    let files = select_items(&page.document, &draft.files);
    if files.is_empty() {
        return Err(Error::NothingToSave { path: page.path.clone() });
    }
    put_preset(page, draft, &files)
}

fn put_preset(page: &mut SettingsDocument, draft: &PresetDraft, files: &[Table]) -> Result<usize, Error> {
    let old = page.document.get(PRESETS_KEY).and_then(Item::as_table_like);
    let old = old.and_then(|presets| presets.get(&draft.name));
    if old.is_some() && !draft.overwrites {
        return Err(Error::PresetExists { name: draft.name.clone(), path: page.path.clone() });
    }
    // Built from the old one even if it is overwritten, because its unknown keys may be another program's.
    let preset = build_preset(old.and_then(Item::as_table_like), draft, files);
    insert_preset(&mut page.document, &draft.name, preset);
    Ok(files.len())
}

/// Returns the items of these paths, or all; for a path without an item, an item with only the path.
fn select_items(document: &DocumentMut, paths: &[String]) -> Vec<Table> {
    let known = item_tables(document.get(FILES_KEY));
    if paths.is_empty() {
        return known.into_iter().map(copy_item).collect();
    }
    let mut wanted = Vec::new();
    for path in paths {
        let plain = plain_path(path);
        let of_path = known.iter().filter(|item| item_path(**item) == plain);
        let before = wanted.len();
        wanted.extend(of_path.map(|item| copy_item(*item)));
        if wanted.len() == before {
            wanted.push(plain_item(path));
        }
    }
    wanted
}

fn plain_item(path: &str) -> Table {
    let mut item = Table::new();
    item.insert("path", Item::Value(text_value(path)));
    item
}

/// Returns a copy of an item that can be inserted elsewhere.
fn copy_item(item: &dyn TableLike) -> Table {
    let mut copy = Table::new();
    item.iter().for_each(|(key, _)| copy_entry(item, key, &mut copy));
    // Positions refer to the item's own file, and are meaningless in another.
    clear_positions(&mut copy);
    copy.decor_mut().set_prefix("\n");
    copy
}

/// Copies an entry with the comments above and after it, but without the layout of the list that it is in.
fn copy_entry(from: &dyn TableLike, name: &str, to: &mut Table) {
    let Some((own, value)) = from.get_key_value(name) else { return };
    let mut value = value.clone();
    if let Some(value) = value.as_value_mut() {
        let suffix = value.decor().suffix().and_then(|suffix| suffix.as_str()).unwrap_or_default();
        let suffix = if suffix.contains('#') { suffix.trim_end().to_owned() } else { String::new() };
        value.decor_mut().set_prefix(" ");
        value.decor_mut().set_suffix(suffix);
    }
    to.insert(name, value);
    let prefix = own.leaf_decor().prefix().and_then(|prefix| prefix.as_str());
    if let (Some(prefix), Some(mut key)) =
        (prefix.filter(|prefix| prefix.contains('#') && prefix.ends_with('\n')), to.key_mut(name))
    {
        key.leaf_decor_mut().set_prefix(prefix.trim_start_matches(' '));
    }
}

/// Returns the preset to write. Unknown keys of the old one are kept, and its description unless there is a new one.
fn build_preset(old: Option<&dyn TableLike>, draft: &PresetDraft, files: &[Table]) -> Table {
    let mut preset = Table::new();
    if let Some(old) = old {
        let others = old.iter().map(|(key, _)| key).filter(|key| *key != FILES_KEY);
        others.for_each(|key| copy_entry(old, key, &mut preset));
    }
    clear_positions(&mut preset);
    if !draft.description.is_empty() {
        preset.insert("description", Item::Value(text_value(&draft.description)));
    }
    // Plain paths become a list on one line, as written by hand; if any item has more keys, all become tables.
    let paths: Option<Array> = files.iter().map(|item| sole_path(item).map(text_value)).collect();
    let files = match paths {
        Some(paths) => Item::Value(Value::Array(paths)),
        None => Item::ArrayOfTables(files.iter().cloned().collect::<ArrayOfTables>()),
    };
    preset.insert(FILES_KEY, files);
    preset
}

/// Returns the path of an item without any other key.
fn sole_path(item: &Table) -> Option<&str> {
    if item.len() == 1 { item.get("path").and_then(Item::as_str) } else { None }
}

fn insert_preset(document: &mut DocumentMut, name: &str, mut preset: Table) {
    if let Some(presets) = document.get_mut(PRESETS_KEY).and_then(Item::as_inline_table_mut) {
        set_formatted(presets, name, Value::InlineTable(preset.into_inline_table()));
        return;
    }
    let known = document.get_mut(PRESETS_KEY).and_then(Item::as_table_mut);
    if let Some(Item::Table(old)) = known.and_then(|presets| presets.get_mut(name))
        && old.position().is_some()
        && !old.is_implicit()
        && !old.is_dotted()
    {
        // Replaces the old one in place, so that the comment above it is kept.
        *preset.decor_mut() = old.decor().clone();
        preset.set_position(old.position());
        old.decor_mut().set_prefix("");
        let (position, comments) = detached_comments(old);
        *old = preset;
        return insert_comments(document, position, &comments);
    }
    if let Some(presets) = document.get_mut(PRESETS_KEY).and_then(Item::as_table_mut) {
        presets.remove(name);
    }
    place_table(document, &mut preset, None);
    let presets = document.entry(PRESETS_KEY).or_insert_with(|| {
        let mut presets = Table::new();
        presets.set_implicit(true);
        Item::Table(presets)
    });
    let presets = presets.as_table_mut().expect("what is not written inline is a table");
    presets.insert(name, Item::Table(preset));
}

/// Replaces the items of the project with those of a preset in the file `source`, without those whose paths are `gone`.
/// Unless `may_lose` is set, curated items are not replaced. Returns the paths of the new items.
pub fn apply_preset(
    disk: &dyn Disk,
    project: &Path,
    source: &Path,
    name: &str,
    gone: &[String],
    may_lose: bool,
) -> Result<Vec<String>, Error> {
    let preset = edit_file(disk, source, |page| preset_items(page, name))?;
    edit_file(disk, project, |page| {
        let preset = without_gone(preset, gone);
        let document = &mut page.document;
        let is_lost =
            // An item with only a path is no loss.
            |item: &&dyn TableLike| 1 < item.len() && !preset.iter().any(|new| is_same_table(*item, new));
        let lost = item_tables(document.get(FILES_KEY)).into_iter().filter(is_lost).map(item_path);
        let lost: Vec<String> = if may_lose { Vec::new() } else { lost.collect() };
        if !lost.is_empty() {
            return Err(Error::WouldLose { items: lost });
        }
        Ok(replace_items(document, preset))
    })
}

/// Replaces the items of a file with those of a preset in the same file, and returns how many there are.
pub(super) fn apply_preset_in(
    page: &mut SettingsDocument,
    name: &str,
    gone: &[String],
) -> Result<usize, Error> {
    let preset = without_gone(preset_items(page, name)?, gone);
    Ok(replace_items(&mut page.document, preset).len())
}

fn without_gone(mut preset: Vec<Table>, gone: &[String]) -> Vec<Table> {
    let is_gone = |path: &str| gone.iter().any(|gone| gone == path);
    preset.retain(|item| !item.get("path").and_then(Item::as_str).is_some_and(is_gone));
    preset
}

fn replace_items(document: &mut DocumentMut, items: Vec<Table>) -> Vec<String> {
    clear_items(document);
    let paths = items.iter().map(|item| item_path(item)).collect();
    for item in items {
        push_item(document, item);
    }
    paths
}

fn preset_items(page: &SettingsDocument, name: &str) -> Result<Vec<Table>, Error> {
    let presets = page.document.get(PRESETS_KEY).and_then(Item::as_table_like);
    let preset = presets.and_then(|presets| presets.get(name)).and_then(Item::as_table_like);
    let Some(preset) = preset else { return Err(no_such_preset(page, name)) };
    let list = preset.get(FILES_KEY);
    let Some(values) = list.and_then(Item::as_array) else {
        return Ok(item_tables(list).into_iter().map(copy_item).collect());
    };
    let item = |value: &Value| match value {
        Value::InlineTable(item) => copy_item(item),
        value => plain_item(value.as_str().unwrap_or_default()),
    };
    Ok(values.iter().map(item).collect())
}

/// Returns whether two items are equal, whatever their syntax.
pub(super) fn is_same_table(one: &dyn TableLike, other: &dyn TableLike) -> bool {
    one.len() == other.len()
        && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| is_same_item(value, other)))
}

fn is_same_item(one: &Item, other: &Item) -> bool {
    if let (Some(one), Some(other)) = (one.as_table_like(), other.as_table_like()) {
        return is_same_table(one, other);
    }
    let (tables, others) = (item_tables(Some(one)), item_tables(Some(other)));
    if !tables.is_empty() || !others.is_empty() {
        return tables.len() == others.len()
            && tables.into_iter().zip(others).all(|(one, other)| is_same_table(one, other));
    }
    match (one.as_value(), other.as_value()) {
        (Some(Value::Array(one)), Some(Value::Array(other))) => {
            let item = |value: &Value| Item::Value(value.clone());
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same_item(&item(one), &item(other)))
        }
        // Compared by value, because `'a'` and `"a"` are equal.
        (Some(Value::String(one)), Some(Value::String(other))) => one.value() == other.value(),
        // Numbers and booleans are compared as written: different spellings only cause a needless confirmation.
        (Some(one), Some(other)) => one.to_string().trim() == other.to_string().trim(),
        (None, _) | (_, None) => false,
    }
}

pub fn delete_preset(disk: &dyn Disk, file: &Path, name: &str) -> Result<(), Error> {
    edit_file(disk, file, |page| delete_preset_in(page, name))
}

pub(super) fn delete_preset_in(page: &mut SettingsDocument, name: &str) -> Result<(), Error> {
    let presets = page.document.get_mut(PRESETS_KEY).and_then(Item::as_table_like_mut);
    let Some(removed) = presets.and_then(|presets| presets.remove(name)) else {
        return Err(no_such_preset(page, name));
    };
    if let Item::Table(removed) = removed {
        let (position, comments) = detached_comments(&removed);
        insert_comments(&mut page.document, position, &comments);
    }
    Ok(())
}

fn no_such_preset(page: &SettingsDocument, name: &str) -> Error {
    let presets = page.document.get(PRESETS_KEY).and_then(Item::as_table_like);
    let names = presets.into_iter().flat_map(|presets| presets.iter().map(|(name, _)| name));
    Error::NoSuchPreset { name: name.to_owned(), suggestion: suggest_known_name(name, names) }
}
