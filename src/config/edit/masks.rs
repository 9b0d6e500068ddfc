//! Masks are set on items and taken from them.

use std::path::Path;

use toml_edit::InlineTable;
use toml_edit::Item;
use toml_edit::TableLike;
use toml_edit::Value;

use super::arrays;
use super::items;
use super::items::ItemMut;
use super::page::edit_file;
use super::written;
use crate::config::Error;
use crate::config::nearest::nearest;
use crate::model::MaskMode;
use crate::sys::Disk;

const MASK_KEY: &str = "ast_mask";

/// Sets what is shown of symbols, in the item of a path, which is made where there is none.
pub fn set_masks(
    disk: &dyn Disk,
    file: &Path,
    path: &str,
    masks: &[(String, MaskMode)],
) -> Result<(), Error> {
    edit_file(disk, file, |page| {
        let at = items::find_or_add(&mut page.document, path);
        match items::item_at(&mut page.document, at) {
            ItemMut::Headed(item) => {
                let mask =
                    item.entry(MASK_KEY).or_insert(Item::Value(Value::InlineTable(InlineTable::new())));
                match mask {
                    Item::Table(mask) => masks.iter().for_each(|(key, mode)| set_headed(mask, key, *mode)),
                    mask => set_inline(mask, masks),
                }
            }
            ItemMut::Inline(item) => {
                let mut mask =
                    Item::Value(item.get(MASK_KEY).cloned().unwrap_or_else(|| InlineTable::new().into()));
                set_inline(&mut mask, masks);
                if let Item::Value(mask) = mask {
                    arrays::set_formatted(item, MASK_KEY, mask);
                }
            }
        }
        Ok(())
    })
}

fn set_headed(mask: &mut toml_edit::Table, key: &str, mode: MaskMode) {
    let mut value = written::text_value(mode.name());
    match mask.get_mut(key).and_then(Item::as_value_mut) {
        Some(old) => {
            // A value that is put in the place of another would drop the comment behind it.
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => {
            mask.insert(key, Item::Value(value));
        }
    }
}

fn set_inline(mask: &mut Item, masks: &[(String, MaskMode)]) {
    let mask = mask.as_inline_table_mut().expect("a mask is a table, with a header or without");
    for (key, mode) in masks {
        arrays::set_formatted(mask, key, written::text_value(mode.name()));
    }
}

/// Takes symbols off the mask of an item, all of them where none is named, and returns which there were.
pub fn remove_masks(disk: &dyn Disk, file: &Path, path: &str, keys: &[String]) -> Result<Vec<String>, Error> {
    edit_file(disk, file, |page| {
        let at = items::find_required(page, path)?;
        let item: &mut dyn TableLike = match items::item_at(&mut page.document, at) {
            ItemMut::Headed(item) => item,
            ItemMut::Inline(item) => item,
        };
        let Some(mask) = item.get_mut(MASK_KEY).and_then(Item::as_table_like_mut) else {
            return Err(Error::NoSuchMask {
                item: path.to_owned(),
                key: keys.first().cloned(),
                nearest: None,
            });
        };
        let known: Vec<String> = mask.iter().map(|(key, _)| key.to_owned()).collect();
        if let Some(unknown) = keys.iter().find(|key| !known.contains(key)) {
            let nearest = nearest(unknown, known.iter().map(String::as_str)).map(str::to_owned);
            return Err(Error::NoSuchMask { item: path.to_owned(), key: Some(unknown.clone()), nearest });
        }
        let removed = if keys.is_empty() { known } else { keys.to_vec() };
        for key in &removed {
            mask.remove(key);
        }
        if mask.is_empty() {
            item.remove(MASK_KEY);
        }
        Ok(removed)
    })
}
