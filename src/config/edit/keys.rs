//! The keys of the curation, and the types that edits expect of their values.

use toml_edit::{DocumentMut, Item, TableLike, Value};

pub(super) const FILES_KEY: &str = "files";
pub(super) const MASK_KEY: &str = "ast_mask";
pub(super) const SLICES_KEY: &str = "custom_slices";
pub(super) const PRESETS_KEY: &str = "presets";
pub(super) const DOCUMENT_KEY: &str = "document";

/// Returns the items of a list in either syntax, skipping plain paths.
pub(super) fn item_tables(list: Option<&Item>) -> Vec<&dyn TableLike> {
    match list {
        Some(Item::ArrayOfTables(tables)) => tables.iter().map(|table| table as &dyn TableLike).collect(),
        Some(Item::Value(Value::Array(values))) => {
            values.iter().filter_map(Value::as_inline_table).map(|table| table as &dyn TableLike).collect()
        }
        Some(Item::Value(_) | Item::Table(_) | Item::None) | None => Vec::new(),
    }
}

/// Returns whether the lists and tables that edits change have the expected types.
pub(super) fn has_editable_types(document: &DocumentMut) -> bool {
    let is_table = |item: Option<&Item>| item.is_none_or(Item::is_table_like);
    let is_list = |item: Option<&Item>| match item {
        Some(Item::Value(Value::Array(values))) => values.iter().all(Value::is_inline_table),
        item => item.is_none_or(Item::is_array_of_tables),
    };
    let is_item = |item: &dyn TableLike| is_table(item.get(MASK_KEY)) && is_list(item.get(SLICES_KEY));
    let files = document.get(FILES_KEY);
    is_list(files)
        && item_tables(files).into_iter().all(is_item)
        && is_table(document.get(PRESETS_KEY))
        && is_table(document.get(DOCUMENT_KEY))
}
