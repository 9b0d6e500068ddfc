//! The items of a file: they are found by their paths, and made where there are none.

use std::path::Component;
use std::path::Path;

use toml_edit::ArrayOfTables;
use toml_edit::DocumentMut;
use toml_edit::Item;
use toml_edit::Table;
use toml_edit::TableLike;
use toml_edit::Value;

use super::arrays;
use super::page::SettingsDocument;
use super::tables;
use super::tables::last_position;
use super::written;
use crate::config::Error;

/// The key of the items in a file.
pub(super) const FILES_KEY: &str = "files";

/// Returns a path without the parts that mean nothing: `./a//b/` is `a/b`.
pub fn plain_path(path: &str) -> String {
    let parts = Path::new(path).components().filter(|part| *part != Component::CurDir);
    let plain: std::path::PathBuf = parts.collect();
    plain.to_str().unwrap_or(path).to_owned()
}

/// Returns the items of a list, whichever way it is written; paths alone are passed over.
pub(super) fn item_tables(list: Option<&Item>) -> Vec<&dyn TableLike> {
    match list {
        Some(Item::ArrayOfTables(tables)) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Some(Item::Value(Value::Array(values))) => {
            values.iter().filter_map(Value::as_inline_table).map(|table| table as &dyn TableLike).collect()
        }
        Some(Item::Value(_) | Item::Table(_) | Item::None) | None => Vec::new(),
    }
}

/// Returns the path of an item, without the parts that mean nothing.
pub(super) fn item_path(item: &dyn TableLike) -> String {
    plain_path(item.get("path").and_then(Item::as_str).unwrap_or_default())
}

/// Returns where the item of a path stands among the items.
pub(super) fn find(document: &DocumentMut, path: &str) -> Option<usize> {
    let path = plain_path(path);
    item_tables(document.get(FILES_KEY)).into_iter().position(|item| item_path(item) == path)
}

/// Returns where the item of a path stands, which must be there.
pub(super) fn find_required(page: &SettingsDocument, path: &str) -> Result<usize, Error> {
    find(&page.document, path)
        .ok_or_else(|| Error::NoSuchItem { path: page.path.clone(), item: path.to_owned() })
}

/// Returns where the item of a path stands; one that says nothing but the path is made where there is none.
pub(super) fn find_or_add(document: &mut DocumentMut, path: &str) -> usize {
    if let Some(at) = find(document, path) {
        return at;
    }
    let mut item = Table::new();
    item.insert("path", Item::Value(written::text_value(path)));
    push_item(document, item);
    item_tables(document.get(FILES_KEY)).len() - 1
}

/// Puts an item behind the others, in the way they are written.
pub(super) fn push_item(document: &mut DocumentMut, mut item: Table) {
    if let Some(values) = document.get_mut(FILES_KEY).and_then(Item::as_array_mut) {
        arrays::push_formatted(values, Value::InlineTable(item.into_inline_table()));
        return;
    }
    let after = headed_items(document).and_then(|tables| tables.iter().map(last_position).max());
    tables::place_table(document, &mut item, after);
    let entry = document.entry(FILES_KEY).or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    entry.as_array_of_tables_mut().expect("what is no list of values is one of tables").push(item);
}

/// Removes every item.
pub(super) fn clear_items(document: &mut DocumentMut) {
    if let Some(values) = document.get_mut(FILES_KEY).and_then(Item::as_array_mut) {
        values.clear();
        return;
    }
    let Some(Item::ArrayOfTables(removed)) = document.remove(FILES_KEY) else { return };
    for table in &removed {
        let (position, comments) = tables::detached_comments(table);
        tables::insert_comments(document, position, &comments);
    }
}

/// An item in the one way or the other of writing it.
pub(super) enum ItemMut<'a> {
    /// Under a header of its own.
    Headed(&'a mut Table),
    /// Within a list.
    Inline(&'a mut toml_edit::InlineTable),
}

/// Returns the item that stands at `at`.
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

fn headed_items(document: &DocumentMut) -> Option<&ArrayOfTables> {
    document.get(FILES_KEY).and_then(Item::as_array_of_tables)
}
