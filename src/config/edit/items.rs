//! Edits of the items of `[[files]]`: finding and adding them, their slices and their masks.

use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::format::{
    detached_comments, insert_comments, last_position, place_table, push_formatted, set_formatted,
    slice_table, text_value,
};
use super::keys::{FILES_KEY, MASK_KEY, SLICES_KEY, item_tables};
use super::page::{SettingsDocument, edit_file};
use crate::aggregate::Selector;
use crate::config::error::Error;
use crate::model::{FileItem, MaskMode, Slice, normalized_path, suggest_known_name};
use crate::sys::Disk;

/// Returns a path without redundant parts: `./a//b/` becomes `a/b`.
pub fn plain_path(path: &str) -> String {
    normalized_path(path)
}

/// Returns the path of an item, without redundant parts.
pub(super) fn item_path(item: &dyn TableLike) -> String {
    plain_path(item.get("path").and_then(Item::as_str).unwrap_or_default())
}

pub(super) fn find(document: &DocumentMut, path: &str) -> Option<usize> {
    let path = plain_path(path);
    item_tables(document.get(FILES_KEY)).into_iter().position(|item| item_path(item) == path)
}

/// Returns the index of the item of a path, which must exist.
pub(super) fn find_required(page: &SettingsDocument, path: &str) -> Result<usize, Error> {
    find(&page.document, path)
        .ok_or_else(|| Error::NoSuchItem { path: page.path.clone(), item: path.to_owned() })
}

/// Returns the index of the item of a path. If there is none, one is added, with the path and with what the items hide
/// over which it takes precedence.
pub(super) fn find_or_add(disk: &dyn Disk, page: &mut SettingsDocument, path: &str) -> usize {
    if let Some(at) = find(&page.document, path) {
        return at;
    }
    let items = item_tables(page.document.get(FILES_KEY)).into_iter();
    let items = items.map(|item| (item_path(item), hidden_symbols(item))).collect();
    let overridden = overridden_hides(disk, &page.path, items, path).into_iter();
    let hidden: Vec<_> =
        overridden.flat_map(|(_, symbols)| symbols).map(|symbol| (symbol, MaskMode::Hide)).collect();
    let mut item = Table::new();
    item.insert("path", Item::Value(text_value(path)));
    if !hidden.is_empty() {
        let mut mask = Item::Value(Value::InlineTable(InlineTable::new()));
        set_inline(&mut mask, &hidden);
        item.insert(MASK_KEY, mask);
    }
    push_item(&mut page.document, item);
    item_tables(page.document.get(FILES_KEY)).len() - 1
}

fn hidden_symbols(item: &dyn TableLike) -> Vec<String> {
    let mask = item.get(MASK_KEY).and_then(Item::as_table_like);
    let hides = |value: &Item| value.as_str().and_then(MaskMode::from_word) == Some(MaskMode::Hide);
    let hidden = mask.into_iter().flat_map(TableLike::iter).filter(|(_, value)| hides(value));
    hidden.map(|(key, _)| key.to_owned()).collect()
}

/// Returns the items, with the symbols that they hide, over which a new item for `path` takes precedence in the
/// settings file `file`: for a file, the item that has applied to it; for a folder or a pattern, all that may apply to
/// the same files, except those for single files.
fn overridden_hides(
    disk: &dyn Disk,
    file: &Path,
    mut items: Vec<(String, Vec<String>)>,
    path: &str,
) -> Vec<(String, Vec<String>)> {
    let selector = Selector::new_lenient;
    let is_folder = |path: &str| disk.entry_names(&file.with_file_name(path)).is_ok();
    if let Some(path) = selector(path).literal_path().filter(|_| !is_folder(path)) {
        let last = items.iter().rposition(|(known, _)| selector(known).selects(&path));
        return last.map(|at| items.swap_remove(at)).into_iter().collect();
    }
    let is_single = |known: &str| selector(known).literal_path().is_some() && !is_folder(known);
    items.retain(|(known, _)| may_overlap(known, path) && !is_single(known));
    items
}

/// Returns whether two folders or patterns may select the same file, judging by their beginnings and ends.
fn may_overlap(one: &str, other: &str) -> bool {
    const SPECIAL: [char; 7] = ['*', '?', '[', ']', '{', '}', '\\'];
    let fixed = |path: &str| -> Vec<String> {
        let parts = path.split('/').filter(|part| !part.is_empty() && *part != ".");
        parts.take_while(|part| !part.contains(SPECIAL)).map(str::to_owned).collect()
    };
    // A folder is followed by any path.
    let end = |path: &str| path.rfind(SPECIAL).map_or(String::new(), |at| path[at + 1..].to_owned());
    let (one_end, other_end) = (end(one), end(other));
    fixed(one).iter().zip(&fixed(other)).all(|(one, other)| one == other)
        && (one_end.ends_with(&other_end) || other_end.ends_with(&one_end))
}

/// Returns notes of what a new item for `path` hides because the items over which it takes precedence do, if the
/// upcoming edit adds one to the settings file `file`.
pub fn notes_of_carried_hides(disk: &dyn Disk, file: &Path, items: &[FileItem], path: &str) -> Vec<String> {
    let hides = |item: &FileItem| {
        let hidden = item.ast_mask.iter().filter(|(_, mode)| *mode == MaskMode::Hide);
        (plain_path(&item.path), hidden.map(|(key, _)| key.clone()).collect())
    };
    let items: Vec<(String, Vec<String>)> = items.iter().map(hides).collect();
    if items.iter().any(|(known, _)| *known == plain_path(path)) {
        return Vec::new();
    }
    let overridden = overridden_hides(disk, file, items, path).into_iter();
    let hiding = overridden.filter(|(_, symbols)| !symbols.is_empty());
    let note = |(known, symbols): (String, Vec<String>)| {
        format!("the entry for {path} hides {}, as the one for {known} does", symbols.join(", "))
    };
    hiding.map(note).collect()
}

/// Appends an item, in the syntax of the others.
pub(super) fn push_item(document: &mut DocumentMut, mut item: Table) {
    if let Some(values) = document.get_mut(FILES_KEY).and_then(Item::as_array_mut) {
        push_formatted(values, Value::InlineTable(item.into_inline_table()));
        return;
    }
    // After the sub-tables of the last item, because a header between them would take them over.
    let after = headed_items(document).and_then(|tables| tables.iter().map(last_position).max());
    place_table(document, &mut item, after);
    let entry = document.entry(FILES_KEY).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    entry.as_array_of_tables_mut().expect("what is no list of values is one of tables").push(item);
}

pub(super) fn clear_items(document: &mut DocumentMut) {
    if let Some(values) = document.get_mut(FILES_KEY).and_then(Item::as_array_mut) {
        // An inline list is kept, with its position and the comments above it.
        values.clear();
        return;
    }
    let Some(Item::ArrayOfTables(removed)) = document.remove(FILES_KEY) else { return };
    for table in &removed {
        let (position, comments) = detached_comments(table);
        insert_comments(document, position, &comments);
    }
}

/// Removes an item if only its path is left, and returns whether it did. An item for a path takes precedence over one
/// for a pattern, so it would cancel the latter.
pub(super) fn remove_if_plain(document: &mut DocumentMut, at: usize) -> bool {
    let is_plain = item_at(document, at).into_table().len() == 1;
    if is_plain {
        remove_item(document, at);
    }
    is_plain
}

pub(super) fn remove_item(document: &mut DocumentMut, at: usize) {
    match document.get_mut(FILES_KEY) {
        Some(Item::ArrayOfTables(tables)) => {
            let removed = tables.get(at).map(detached_comments);
            tables.remove(at);
            if tables.is_empty() {
                document.remove(FILES_KEY);
            }
            if let Some((position, comments)) = removed {
                insert_comments(document, position, &comments);
            }
        }
        Some(Item::Value(Value::Array(values))) => {
            values.remove(at);
        }
        Some(Item::Value(_) | Item::Table(_) | Item::None) | None => {}
    }
}

/// An item in either syntax.
pub(super) enum ItemMut<'a> {
    /// Under a header of its own.
    Headed(&'a mut Table),
    /// Within a list.
    Inline(&'a mut toml_edit::InlineTable),
}

pub(super) fn item_at(document: &mut DocumentMut, at: usize) -> ItemMut<'_> {
    const THERE: &str = "the item was just found";
    match document.get_mut(FILES_KEY).expect(THERE) {
        Item::ArrayOfTables(tables) => ItemMut::Headed(tables.get_mut(at).expect(THERE)),
        list => {
            let values = list.as_array_mut().expect("what is no list of tables is one of values");
            ItemMut::Inline(values.iter_mut().filter_map(Value::as_inline_table_mut).nth(at).expect(THERE))
        }
    }
}

impl<'a> ItemMut<'a> {
    pub(super) fn into_table(self) -> &'a mut dyn TableLike {
        match self {
            Self::Headed(item) => item,
            Self::Inline(item) => item,
        }
    }

    /// Appends a value, or replaces the old one.
    pub(super) fn set(&mut self, key: &str, value: Value) {
        match self {
            Self::Headed(item) => set_headed(item, key, value),
            Self::Inline(item) => set_formatted(item, key, value),
        }
    }

    pub(super) fn remove(&mut self, key: &str) {
        match self {
            Self::Headed(item) => drop(item.remove(key)),
            Self::Inline(item) => drop(item.remove(key)),
        }
    }
}

fn headed_items(document: &DocumentMut) -> Option<&ArrayOfTables> {
    document.get(FILES_KEY).and_then(Item::as_array_of_tables)
}

/// Selects slices of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SliceKey {
    /// The slice that was marked at these lines.
    Lines(u32, u32),
    /// The slices with this tag.
    Tag(String),
    /// The slice with this index in its item.
    Index(usize),
}

impl SliceKey {
    fn matches(&self, index: usize, slice: &dyn TableLike) -> bool {
        let line = |key| slice.get(key).and_then(Item::as_integer);
        match self {
            Self::Lines(start, end) => {
                (line("start_line"), line("end_line")) == (Some((*start).into()), Some((*end).into()))
            }
            Self::Tag(tag) => slice.get("tag").and_then(Item::as_str) == Some(tag),
            Self::Index(wanted) => index == *wanted,
        }
    }
}

/// Adds a slice to the item of a path, which is created if there is none.
pub fn add_slice(disk: &dyn Disk, file: &Path, path: &str, slice: &Slice) -> Result<(), Error> {
    edit_file(disk, file, |page| add_slice_to(disk, page, path, slice))
}

pub(super) fn add_slice_to(
    disk: &dyn Disk,
    page: &mut SettingsDocument,
    path: &str,
    slice: &Slice,
) -> Result<(), Error> {
    let at = find_or_add(disk, page, path);
    let document = &mut page.document;
    let key = SliceKey::Lines(slice.start_line, slice.end_line);
    let item = item_tables(document.get(FILES_KEY))[at];
    if item_tables(item.get(SLICES_KEY)).into_iter().any(|known| key.matches(0, known)) {
        let (item, lines) = (path.to_owned(), (slice.start_line, slice.end_line));
        return Err(Error::SliceExists { item, lines });
    }
    insert_slice(page, at, slice);
    Ok(())
}

/// A change of a slice; `None` leaves a field unchanged.
#[derive(Debug, Clone, Default)]
pub struct SliceChange {
    /// New lines, with the anchors to find them again.
    pub lines: Option<Slice>,
    pub tag: Option<String>,
    pub comment: Option<String>,
}

pub(super) fn change_slice_of(
    page: &mut SettingsDocument,
    path: &str,
    index: usize,
    change: &SliceChange,
) -> Result<(), Error> {
    let at = find_required(page, path)?;
    let item = item_at(&mut page.document, at).into_table();
    let slice = match item.get_mut(SLICES_KEY) {
        Some(Item::ArrayOfTables(slices)) => slices.get_mut(index).map(ItemMut::Headed),
        Some(Item::Value(Value::Array(slices))) => {
            slices.iter_mut().filter_map(Value::as_inline_table_mut).nth(index).map(ItemMut::Inline)
        }
        Some(Item::Value(_) | Item::Table(_) | Item::None) | None => None,
    };
    let mut slice = slice.ok_or_else(|| Error::NoSliceAt { item: path.to_owned(), index })?;
    if let Some(lines) = &change.lines {
        let anchored = slice_table(&Slice { tag: String::new(), comment: String::new(), ..lines.clone() });
        for key in ANCHOR_KEYS.into_iter().filter(|key| !anchored.contains_key(key)) {
            slice.remove(key);
        }
        for (key, value) in anchored {
            slice.set(&key, value.into_value().expect("a slice has no tables with headers"));
        }
    }
    for (key, text) in [("tag", &change.tag), ("comment", &change.comment)] {
        match text.as_deref() {
            Some("") => slice.remove(key),
            Some(text) => slice.set(key, text_value(text)),
            None => {}
        }
    }
    Ok(())
}

/// The keys by which a slice is found again.
const ANCHOR_KEYS: [&str; 7] =
    ["content_hash", "start_context", "end_context", "anchor_lines", "line_hashes", "unique_lines", "copies"];

fn insert_slice(page: &mut SettingsDocument, at: usize, slice: &Slice) {
    let document = &mut page.document;
    let mut table = slice_table(slice);
    let after = match item_at(document, at) {
        // A slice gets a header of its own unless the item already has inline slices, so that the file's syntax stays
        // uniform.
        ItemMut::Headed(item) if !item.get(SLICES_KEY).is_some_and(Item::is_value) => last_position(item),
        ItemMut::Headed(item) => {
            let slices = item.get_mut(SLICES_KEY).and_then(Item::as_array_mut);
            let slices = slices.expect("what is no list of tables is one of values");
            return push_formatted(slices, table.into_inline_table().into());
        }
        ItemMut::Inline(item) => {
            let mut slices = item.get(SLICES_KEY).and_then(Value::as_array).cloned().unwrap_or_default();
            push_formatted(&mut slices, table.into_inline_table().into());
            return set_formatted(item, SLICES_KEY, slices.into());
        }
    };
    place_table(document, &mut table, Some(after));
    if let ItemMut::Headed(item) = item_at(document, at) {
        let slices = item.entry(SLICES_KEY).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        slices.as_array_of_tables_mut().expect("what is no list of values is one of tables").push(table);
    }
}

/// Removes slices of the item of a path, and returns how many there were.
pub fn remove_slices(disk: &dyn Disk, file: &Path, path: &str, keys: &[SliceKey]) -> Result<usize, Error> {
    edit_file(disk, file, |page| remove_slices_of(page, path, keys))
}

pub(super) fn remove_slices_of(
    page: &mut SettingsDocument,
    path: &str,
    keys: &[SliceKey],
) -> Result<usize, Error> {
    let at = find_required(page, path)?;
    // An argument may have two readings; the first one that selects anything is used.
    for key in keys {
        let removed = delete_slices(page, at, key);
        if 0 < removed {
            remove_if_plain(&mut page.document, at);
            return Ok(removed);
        }
    }
    Err(Error::NoSuchSlice { item: path.to_owned() })
}

fn delete_slices(page: &mut SettingsDocument, at: usize, key: &SliceKey) -> usize {
    let document = &mut page.document;
    let (mut removed, mut comments, mut index) = (0, Vec::new(), 0..);
    let mut is_meant = |slice: &dyn TableLike| key.matches(index.next().unwrap_or_default(), slice);
    let item = item_at(document, at).into_table();
    let is_empty = match item.get_mut(SLICES_KEY) {
        Some(Item::ArrayOfTables(slices)) => {
            slices.retain(|slice| {
                if is_meant(slice) {
                    // Inserted again below: an empty line separates them from the removed slice.
                    comments.push(detached_comments(slice));
                    removed += 1;
                    return false;
                }
                true
            });
            slices.is_empty()
        }
        Some(Item::Value(Value::Array(slices))) => {
            let before = slices.len();
            slices.retain(|slice| !slice.as_inline_table().is_some_and(|slice| is_meant(slice)));
            removed = before - slices.len();
            slices.is_empty()
        }
        Some(Item::Value(_) | Item::Table(_) | Item::None) | None => false,
    };
    // An empty list would be clutter.
    if is_empty && 0 < removed {
        item.remove(SLICES_KEY);
    }
    for (position, comments) in comments {
        insert_comments(document, position, &comments);
    }
    removed
}

/// Sets what is shown of symbols in the item of a path, which is created if there is none.
pub fn set_masks(
    disk: &dyn Disk,
    file: &Path,
    path: &str,
    masks: &[(String, MaskMode)],
) -> Result<(), Error> {
    edit_file(disk, file, |page| {
        set_masks_of(disk, page, path, masks);
        Ok(())
    })
}

pub(super) fn set_masks_of(
    disk: &dyn Disk,
    page: &mut SettingsDocument,
    path: &str,
    masks: &[(String, MaskMode)],
) {
    let at = find_or_add(disk, page, path);
    match item_at(&mut page.document, at) {
        ItemMut::Headed(item) => {
            let mask = item.entry(MASK_KEY).or_insert(Item::Value(Value::InlineTable(InlineTable::new())));
            match mask {
                Item::Table(mask) => {
                    for (key, mode) in masks {
                        set_headed(mask, key, text_value(mode.name()));
                    }
                }
                mask => set_inline(mask, masks),
            }
        }
        ItemMut::Inline(item) => {
            let mut mask =
                Item::Value(item.get(MASK_KEY).cloned().unwrap_or_else(|| InlineTable::new().into()));
            set_inline(&mut mask, masks);
            if let Item::Value(mask) = mask {
                set_formatted(item, MASK_KEY, mask);
            }
        }
    }
}

/// Appends a value to a table with a header, or replaces the old one.
pub(super) fn set_headed(table: &mut Table, key: &str, mut value: Value) {
    match table.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            // Replacing a value would drop the comment after it.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            table.insert(key, Item::Value(value));
        }
    }
}

fn set_inline(mask: &mut Item, masks: &[(String, MaskMode)]) {
    let mask = mask.as_inline_table_mut().expect("a mask is a table, with a header or without");
    for (key, mode) in masks {
        set_formatted(mask, key, text_value(mode.name()));
    }
}

/// Removes symbols from the mask of an item, all of them if none is named, and returns the removed ones.
pub fn remove_masks(disk: &dyn Disk, file: &Path, path: &str, keys: &[String]) -> Result<Vec<String>, Error> {
    edit_file(disk, file, |page| remove_masks_of(page, path, keys))
}

pub(super) fn remove_masks_of(
    page: &mut SettingsDocument,
    path: &str,
    keys: &[String],
) -> Result<Vec<String>, Error> {
    let at = find_required(page, path)?;
    let item = item_at(&mut page.document, at).into_table();
    let Some(mask) = item.get_mut(MASK_KEY).and_then(Item::as_table_like_mut) else {
        let (item, key) = (path.to_owned(), keys.first().cloned());
        return Err(Error::NoSuchMask { item, key, suggestion: String::new() });
    };
    let known: Vec<String> = mask.iter().map(|(key, _)| key.to_owned()).collect();
    // A typo in one name leaves the whole mask unchanged, because the error ends the edit before anything is written.
    if let Some(unknown) = keys.iter().find(|key| !known.contains(key)) {
        let suggestion = suggest_known_name(unknown, known.iter().map(String::as_str));
        return Err(Error::NoSuchMask { item: path.to_owned(), key: Some(unknown.clone()), suggestion });
    }
    let removed = if keys.is_empty() { known } else { keys.to_vec() };
    for key in &removed {
        mask.remove(key);
    }
    if mask.is_empty() {
        item.remove(MASK_KEY);
        remove_if_plain(&mut page.document, at);
    }
    Ok(removed)
}
