//! Values of the model as TOML.

use std::fmt::Write as _;

use toml_edit::Array;
use toml_edit::InlineTable;
use toml_edit::Item;
use toml_edit::Table;
use toml_edit::Value;

use crate::model::Slice;

/// Returns a text as a value on one line. The library would write one with line ends over several lines, where an
/// editor that changes line ends changes the value.
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
    quoted.parse().expect("what is escaped is a TOML string")
}

/// Returns texts as a list.
pub(super) fn text_array(list: &[String]) -> Array {
    list.iter().map(|line| text_value(line)).collect()
}

/// Returns a slice as a table; what it does not know is not written.
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
