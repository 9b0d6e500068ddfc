//! Lists and tables that are written inline grow in the way they are laid out.

use toml_edit::Array;
use toml_edit::InlineTable;
use toml_edit::Value;

/// Puts a value at the end of a list.
pub(super) fn push_formatted(array: &mut Array, mut value: Value) {
    let (mut prefix, mut suffix) = (String::new(), None);
    if let Some(last) = array.len().checked_sub(1).and_then(|last| array.get_mut(last)) {
        let decor = last.decor_mut();
        prefix = extend_indent(decor.prefix().and_then(|prefix| prefix.as_str()), " ");
        // White space before the bracket is the bracket's; a comment is about the value that it follows.
        suffix = decor.suffix().and_then(|suffix| suffix.as_str()).map(str::to_owned);
        suffix = suffix.filter(|suffix| suffix.trim().is_empty());
        if suffix.is_some() {
            decor.set_suffix("");
        }
    }
    value.decor_mut().set_prefix(prefix);
    value.decor_mut().set_suffix(suffix.unwrap_or_default());
    array.push_formatted(value);
}

/// Puts an entry at the end of a table, or a new value in the place of the old.
pub(super) fn set_formatted(table: &mut InlineTable, key: &str, mut value: Value) {
    if let Some(old) = table.get_mut(key) {
        *value.decor_mut() = old.decor().clone();
        *old = value;
        return;
    }
    let Some(last) = table.iter().last().map(|(key, _)| key.to_owned()) else {
        table.insert(key, value);
        return;
    };
    let prefix =
        table.key(&last).and_then(|key| key.leaf_decor().prefix()).and_then(|prefix| prefix.as_str());
    let prefix = extend_indent(prefix, " ");
    let mut suffix = None;
    if let Some(last) = table.get_mut(&last) {
        let decor = last.decor_mut();
        suffix = decor.suffix().and_then(|suffix| suffix.as_str()).map(str::to_owned);
        suffix = suffix.filter(|suffix| suffix.trim().is_empty());
        if suffix.is_some() {
            decor.set_suffix("");
        }
    }
    value.decor_mut().set_prefix(" ");
    value.decor_mut().set_suffix(suffix.unwrap_or_else(|| " ".to_owned()));
    table.insert(key, value);
    if let Some(mut key) = table.key_mut(key) {
        key.leaf_decor_mut().set_prefix(prefix);
        key.leaf_decor_mut().set_suffix(" ");
    }
}

/// Returns the white space before an element that follows one with this prefix.
fn extend_indent(prefix: Option<&str>, on_a_line: &str) -> String {
    match prefix.unwrap_or_default().rsplit_once('\n') {
        Some((_, indent)) => format!("\n{indent}"),
        None => on_a_line.to_owned(),
    }
}
