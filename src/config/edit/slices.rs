//! Slices are added to items and removed from them.

use std::path::Path;

use toml_edit::ArrayOfTables;
use toml_edit::Item;
use toml_edit::TableLike;
use toml_edit::Value;

use super::arrays;
use super::items;
use super::items::ItemMut;
use super::page::Page;
use super::page::edit;
use super::tables;
use super::tables::last_position;
use super::written;
use crate::config::Error;
use crate::model::Slice;
use crate::sys::Disk;

const SLICES: &str = "custom_slices";

/// Which slices of an item are meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SliceKey {
    /// The one that was marked at these lines.
    Lines(u32, u32),
    /// Those of this tag.
    Tag(String),
}

impl SliceKey {
    fn means(&self, slice: &dyn TableLike) -> bool {
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
    edit(disk, file, |page| {
        let document = &mut page.document;
        let at = items::find_or_add(document, path);
        let key = SliceKey::Lines(slice.start_line, slice.end_line);
        let item = items::all(document.get(items::FILES))[at];
        if items::all(item.get(SLICES)).into_iter().any(|known| key.means(known)) {
            let (item, lines) = (path.to_owned(), (slice.start_line, slice.end_line));
            return Err(Error::SliceExists { item, lines });
        }
        add(page, at, slice);
        Ok(())
    })
}

fn add(page: &mut Page, at: usize, slice: &Slice) {
    let document = &mut page.document;
    let mut table = written::slice(slice);
    let after = match items::at(document, at) {
        ItemMut::Headed(item) if !item.get(SLICES).is_some_and(Item::is_value) => last_position(item),
        ItemMut::Headed(item) => {
            let slices = item.get_mut(SLICES).and_then(Item::as_array_mut);
            let slices = slices.expect("what is no list of tables is one of values");
            return arrays::push(slices, table.into_inline_table().into());
        }
        ItemMut::Inline(item) => {
            let mut slices = item.get(SLICES).and_then(Value::as_array).cloned().unwrap_or_default();
            arrays::push(&mut slices, table.into_inline_table().into());
            return arrays::set(item, SLICES, slices.into());
        }
    };
    tables::settle(document, &mut table, Some(after));
    if let ItemMut::Headed(item) = items::at(document, at) {
        let slices = item.entry(SLICES).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
        slices.as_array_of_tables_mut().expect("what is no list of values is one of tables").push(table);
    }
}

/// Removes slices of the item of a path, and returns how many there were.
pub fn remove_slices(disk: &dyn Disk, file: &Path, path: &str, keys: &[SliceKey]) -> Result<usize, Error> {
    edit(disk, file, |page| {
        let at = items::must_find(page, path)?;
        // A word may be read in two ways; the first that means anything is taken.
        for key in keys {
            let removed = remove(page, at, key);
            if 0 < removed {
                return Ok(removed);
            }
        }
        Err(Error::NoSuchSlice { item: path.to_owned() })
    })
}

fn remove(page: &mut Page, at: usize, key: &SliceKey) -> usize {
    let document = &mut page.document;
    let (mut removed, mut comments) = (0, Vec::new());
    let item: &mut dyn TableLike = match items::at(document, at) {
        ItemMut::Headed(item) => item,
        ItemMut::Inline(item) => item,
    };
    let is_empty = match item.get_mut(SLICES) {
        Some(Item::ArrayOfTables(slices)) => {
            slices.retain(|slice| {
                if key.means(slice) {
                    comments.push(tables::comments_left_by(slice));
                    removed += 1;
                    return false;
                }
                true
            });
            slices.is_empty()
        }
        Some(Item::Value(Value::Array(slices))) => {
            let before = slices.len();
            slices.retain(|slice| !slice.as_inline_table().is_some_and(|slice| key.means(slice)));
            removed = before - slices.len();
            slices.is_empty()
        }
        Some(Item::Value(_) | Item::Table(_) | Item::None) | None => false,
    };
    if is_empty && 0 < removed {
        item.remove(SLICES);
    }
    for (position, comments) in comments {
        tables::put_comments(document, position, &comments);
    }
    removed
}
