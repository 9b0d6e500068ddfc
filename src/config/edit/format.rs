//! Writes TOML so that the layout and the comments around an edit are preserved.
//!
//! `toml_edit` keeps a comment with the table below it, and those at the end of the file separately. So a table that is
//! inserted last takes over the comments at the end, which would otherwise be separated from their subject; and one
//! that is removed leaves behind the comments that an empty line separates from it.

use std::fmt::Write as _;

use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, Value};

use crate::model::Slice;

/// Appends a value to a list.
pub(super) fn push_formatted(array: &mut Array, mut value: Value) {
    let (mut prefix, mut suffix) = (String::new(), None);
    // A new value is laid out like the last one: on a line of its own, or on the same line.
    if let Some(last) = array.len().checked_sub(1).and_then(|last| array.get_mut(last)) {
        prefix = extend_indent(last.decor().prefix().and_then(|prefix| prefix.as_str()));
        suffix = take_space_after(last);
    }
    value.decor_mut().set_prefix(prefix);
    value.decor_mut().set_suffix(suffix.unwrap_or_default());
    array.push_formatted(value);
}

/// Removes and returns the white space between the last value and the closing bracket. A comment there is kept, because
/// it belongs to the value.
fn take_space_after(last: &mut Value) -> Option<String> {
    let suffix = last.decor().suffix().and_then(|suffix| suffix.as_str()).map(str::to_owned);
    let suffix = suffix.filter(|suffix| suffix.trim().is_empty())?;
    last.decor_mut().set_suffix("");
    Some(suffix)
}

/// Appends an entry to a table, or replaces its value.
pub(super) fn set_formatted(table: &mut InlineTable, key: &str, mut value: Value) {
    if let Some(old) = table.get_mut(key) {
        // The decor of the old value contains the comment after it.
        *value.decor_mut() = old.decor().clone();
        *old = value;
        return;
    }
    // An empty table has no layout to follow, so the library's is used.
    let Some(last) = table.iter().last().map(|(key, _)| key.to_owned()) else {
        table.insert(key, value);
        return;
    };
    let prefix =
        table.key(&last).and_then(|key| key.leaf_decor().prefix()).and_then(|prefix| prefix.as_str());
    let prefix = extend_indent(prefix);
    let suffix = table.get_mut(&last).and_then(take_space_after);
    value.decor_mut().set_prefix(" ");
    value.decor_mut().set_suffix(suffix.unwrap_or_else(|| " ".to_owned()));
    table.insert(key, value);
    if let Some(mut key) = table.key_mut(key) {
        key.leaf_decor_mut().set_prefix(prefix);
        key.leaf_decor_mut().set_suffix(" ");
    }
}

/// Returns the white space before an element that follows one with this prefix.
fn extend_indent(prefix: Option<&str>) -> String {
    match prefix.unwrap_or_default().rsplit_once('\n') {
        Some((_, indent)) => format!("\n{indent}"),
        None => " ".to_owned(),
    }
}

pub(super) fn last_position(table: &Table) -> isize {
    let mut last = 0;
    visit_headed(table, &mut |table| last = last.max(table.position().unwrap_or(0)));
    last
}

/// Gives a new table its position, after the table at `after` or at the end, and the text above it.
pub(super) fn place_table(document: &mut DocumentMut, table: &mut Table, after: Option<isize>) {
    let last = last_position(document.as_table());
    table.set_position(Some(after.unwrap_or(last + 1)));
    // Only a table at the end takes over the trailing text: in the middle, it would separate a comment from the table
    // below.
    if after.is_some_and(|after| after < last) {
        table.decor_mut().set_prefix("\n");
        return;
    }
    let mut above = document.trailing().as_str().unwrap_or_default().to_owned();
    // The library stores the text after the last table separately, and would print it below the new one.
    document.set_trailing("");
    if !above.is_empty() && !above.ends_with('\n') {
        above.push('\n');
    }
    let is_first = above.is_empty() && document.is_empty();
    // One empty line separates the tables, as in files written by hand.
    if !is_first && above != "\n" && !above.ends_with("\n\n") {
        above.push('\n');
    }
    table.decor_mut().set_prefix(above);
}

/// Clears the positions of a table and of those in it, so that a copy is printed where it is inserted.
pub(super) fn clear_positions(table: &mut Table) {
    visit_headed_mut(table, &mut |table| table.set_position(None));
}

/// Returns the detached comments of a table to be removed, and its position.
pub(super) fn detached_comments(table: &Table) -> (isize, String) {
    let mut found = Vec::new();
    visit_headed(table, &mut |table| {
        let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
        found.push((table.position().unwrap_or(0), detached_part(prefix).to_owned()));
    });
    // Tables are visited in arbitrary order, but comments have to stay in the order of the file.
    found.sort();
    let first = found.first().map_or(0, |(position, _)| *position);
    (first, found.into_iter().map(|(_, comments)| comments).collect())
}

/// Inserts the comments of a table removed at `position` above the following table, or at the end.
pub(super) fn insert_comments(document: &mut DocumentMut, position: isize, comments: &str) {
    if comments.is_empty() {
        return;
    }
    // If no table follows, the comments go to the end.
    let mut next = isize::MAX;
    visit_headed(document.as_table(), &mut |table| {
        if let Some(own) = table.position().filter(|own| position < *own) {
            next = next.min(own);
        }
    });
    let mut is_put = false;
    visit_headed_mut(document.as_table_mut(), &mut |table| {
        if !is_put && table.position() == Some(next) {
            let own = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
            let prefix = format!("{comments}{own}");
            table.decor_mut().set_prefix(prefix);
            is_put = true;
        }
    });
    if !is_put {
        let trailing = format!("{comments}{}", document.trailing().as_str().unwrap_or_default());
        document.set_trailing(trailing);
    }
}

/// Returns the part above the last empty line.
pub(super) fn detached_part(prefix: &str) -> &str {
    let mut end = 0;
    let mut kept = 0;
    for line in prefix.split_inclusive('\n') {
        // A comment directly above a header belongs to that table and is removed with it.
        if line.trim().is_empty() {
            kept = end;
        }
        end += line.len();
    }
    &prefix[..kept]
}

/// Calls `visit` with every table that has a header, in arbitrary order.
fn visit_headed(table: &Table, visit: &mut impl FnMut(&Table)) {
    // Dotted and implicit tables have no header, and so no position of their own in the file.
    if !table.is_dotted() && !table.is_implicit() {
        visit(table);
    }
    for (_, item) in table {
        match item {
            Item::Table(below) => visit_headed(below, visit),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|below| visit_headed(below, visit)),
            Item::None | Item::Value(_) => {}
        }
    }
}

fn visit_headed_mut(table: &mut Table, change: &mut impl FnMut(&mut Table)) {
    if !table.is_dotted() && !table.is_implicit() {
        change(table);
    }
    for (_, item) in table.iter_mut() {
        match item {
            Item::Table(below) => visit_headed_mut(below, change),
            Item::ArrayOfTables(tables) => {
                tables.iter_mut().for_each(|below| visit_headed_mut(below, change));
            }
            Item::None | Item::Value(_) => {}
        }
    }
}

/// Returns a text as a value on one line. The library would write line breaks in a text as such, and an editor that
/// converts line endings would change the value.
pub(super) fn text_value(text: &str) -> Value {
    if !text.contains(char::is_control) {
        return Value::from(text);
    }
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => {
                write!(quoted, "\\u{:04X}", u32::from(c)).expect("writing to memory does not fail");
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted.parse().expect("an escaped text is a TOML string")
}

pub(super) fn text_array(list: &[String]) -> Array {
    list.iter().map(|line| text_value(line)).collect()
}

/// Returns a slice as a table, omitting unknown fields.
pub(super) fn slice_table(slice: &Slice) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| table.insert(key, Item::Value(value));
    put("start_line", i64::from(slice.start_line).into());
    put("end_line", i64::from(slice.end_line).into());
    for (key, words) in [("tag", &slice.tag), ("comment", &slice.comment)] {
        if !words.is_empty() {
            put(key, text_value(words));
        }
    }
    let anchors = &slice.anchors;
    if let Some(hash) = anchors.content_hash {
        put("content_hash", hash.to_string().into());
    }
    let lists = [
        ("start_context", &anchors.before),
        ("end_context", &anchors.after),
        ("line_hashes", &anchors.line_hashes),
    ];
    for (key, list) in lists {
        if !list.is_empty() {
            put(key, text_array(list).into());
        }
    }
    if !anchors.unique_before.is_empty() || !anchors.unique_after.is_empty() {
        let mut unique = InlineTable::new();
        unique.insert("before", text_array(&anchors.unique_before).into());
        unique.insert("after", text_array(&anchors.unique_after).into());
        put("unique_lines", unique.into());
    }
    if 0 < anchors.copies {
        put("copies", i64::from(anchors.copies).into());
    }
    table
}
