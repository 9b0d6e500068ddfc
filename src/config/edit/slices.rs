//! Slices are added to items and removed from them.

use std::path::Path;

use toml_edit::ArrayOfTables;
use toml_edit::Item;
use toml_edit::TableLike;
use toml_edit::Value;

use super::arrays;
use super::items;
use super::items::ItemMut;
use super::page::SettingsDocument;
use super::page::edit_file;
use super::tables;
use super::tables::last_position;
use super::written;
use crate::config::Error;
use crate::model::Slice;
use crate::sys::Disk;

const SLICES_KEY: &str = "custom_slices";

/// Which slices of an item are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SliceKey {
    /// The one that was marked at these lines.
    Lines(u32, u32),
    /// Those of this tag.
    Tag(String),
}

impl SliceKey {
    fn matches(&self, slice: &dyn TableLike) -> bool {
        let line = |key| slice.get(key).and_then(Item::as_integer);
        match self {
            Self::Lines(start, end) => {
                (line("start_line"), line("end_line")) == (Some((*start).into()), Some((*end).into()))
            }
            Self::Tag(tag) => slice.get("tag").and_then(Item::as_str) == Some(tag),
        }
    }
}

/// Adds a slice to the item of a path, which is made where there is none.
pub fn add_slice(disk: &dyn Disk, file: &Path, path: &str, slice: &Slice) -> Result<(), Error> {
    edit_file(disk, file, |page| {
        let document = &mut page.document;
        let at = items::find_or_add(document, path);
        let key = SliceKey::Lines(slice.start_line, slice.end_line);
        let item = items::item_tables(document.get(items::FILES_KEY))[at];
        if items::item_tables(item.get(SLICES_KEY)).into_iter().any(|known| key.matches(known)) {
            let (item, lines) = (path.to_owned(), (slice.start_line, slice.end_line));
            return Err(Error::SliceExists { item, lines });
        }
        insert_slice(page, at, slice);
        Ok(())
    })
}

fn insert_slice(page: &mut SettingsDocument, at: usize, slice: &Slice) {
    let document = &mut page.document;
    let mut table = written::slice_table(slice);
    let after = match items::item_at(document, at) {
        ItemMut::Headed(item) if !item.get(SLICES_KEY).is_some_and(Item::is_value) => last_position(item),
        ItemMut::Headed(item) => {
            let slices = item.get_mut(SLICES_KEY).and_then(Item::as_array_mut);
            let slices = slices.expect("what is no list of tables is one of values");
            return arrays::push_formatted(slices, table.into_inline_table().into());
        }
        ItemMut::Inline(item) => {
            let mut slices = item.get(SLICES_KEY).and_then(Value::as_array).cloned().unwrap_or_default();
            arrays::push_formatted(&mut slices, table.into_inline_table().into());
            return arrays::set_formatted(item, SLICES_KEY, slices.into());
        }
    };
    tables::place_table(document, &mut table, Some(after));
    if let ItemMut::Headed(item) = items::item_at(document, at) {
        let slices = item.entry(SLICES_KEY).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        slices.as_array_of_tables_mut().expect("what is no list of values is one of tables").push(table);
    }
}

/// Removes slices of the item of a path, and returns how many there were.
pub fn remove_slices(disk: &dyn Disk, file: &Path, path: &str, keys: &[SliceKey]) -> Result<usize, Error> {
    edit_file(disk, file, |page| {
        let at = items::find_required(page, path)?;
        // A word may be read in two ways; the first that means anything is taken.
        for key in keys {
            let removed = delete_slices(page, at, key);
            if 0 < removed {
                return Ok(removed);
            }
        }
        Err(Error::NoSuchSlice { item: path.to_owned() })
    })
}

fn delete_slices(page: &mut SettingsDocument, at: usize, key: &SliceKey) -> usize {
    let document = &mut page.document;
    let (mut removed, mut comments) = (0, Vec::new());
    let item: &mut dyn TableLike = match items::item_at(document, at) {
        ItemMut::Headed(item) => item,
        ItemMut::Inline(item) => item,
    };
    let is_empty = match item.get_mut(SLICES_KEY) {
        Some(Item::ArrayOfTables(slices)) => {
            slices.retain(|slice| {
                if key.matches(slice) {
                    comments.push(tables::detached_comments(slice));
                    removed += 1;
                    return false;
                }
                true
            });
            slices.is_empty()
        }
        Some(Item::Value(Value::Array(slices))) => {
            let before = slices.len();
            slices.retain(|slice| !slice.as_inline_table().is_some_and(|slice| key.matches(slice)));
            removed = before - slices.len();
            slices.is_empty()
        }
        Some(Item::Value(_) | Item::Table(_) | Item::None) | None => false,
    };
    if is_empty && 0 < removed {
        item.remove(SLICES_KEY);
    }
    for (position, comments) in comments {
        tables::insert_comments(document, position, &comments);
    }
    removed
}
