//! Edits TOML texts, preserving all other bytes.
//!
//! A table is appended and removed as lines, which is verified by parsing the result. If that does not work (an inline
//! table, a dotted key), the document is edited by `toml_edit`.

use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item};

use super::error::TextError;
use super::json_text::{line_of, newline_of};

/// Returns the values of a text.
pub(super) fn toml_value(text: &str) -> Result<Value, TextError> {
    let table = toml::from_str::<toml::Table>(text).map_err(|error| {
        let start = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = line_of(text.as_bytes(), start);
        TextError::Syntax { line, message: format!("not TOML: {}", error.message().replace('\n', ", ")) }
    })?;
    serde_json::to_value(table).map_err(|_| TextError::Uneditable)
}

/// Returns the text with a new table, which must not exist yet.
pub(super) fn with_table(text: &str, keys: &[String], value: &Value) -> Result<String, TextError> {
    let expected = with_value(toml_value(text)?, keys, value.clone())
        .ok_or_else(|| TextError::OtherForm { key: keys[..keys.len() - 1].join("."), expected: "a table" })?;
    let lines = table_lines(keys, value)?;
    let newline = newline_of(text);
    let gap = match text {
        "" => "",
        _ if text.ends_with('\n') => newline,
        _ => &newline.repeat(2),
    };
    let appended = format!("{text}{gap}{}", lines.replace('\n', newline));
    if toml_value(&appended).is_ok_and(|found| found == expected) {
        return Ok(appended);
    }
    let edited = edited(text, |document| {
        let (name, above) = keys.split_last()?;
        let table = above.iter().try_fold(document.as_item_mut(), |item, key| item.get_mut(key.as_str()))?;
        let inline: InlineTable =
            lines.split_once('\n')?.1.parse::<DocumentMut>().ok()?.as_table().clone().into_inline_table();
        table.as_table_like_mut()?.insert(name, Item::Value(inline.into()));
        Some(())
    })?;
    checked(edited, &expected)
}

/// Returns the text without the table at a path of keys, which must exist.
pub(super) fn without_table(text: &str, keys: &[String]) -> Result<String, TextError> {
    let mut expected = toml_value(text)?;
    let (name, above) = keys.split_last().ok_or(TextError::Uneditable)?;
    let holder = above.iter().try_fold(&mut expected, |value, key| value.get_mut(key));
    holder.and_then(Value::as_object_mut).ok_or(TextError::Uneditable)?.remove(name);
    // After the removal, an empty table is missing if nothing else declares it, and empty otherwise.
    let pruned = without_empty(expected.clone(), above);
    let is_expected = |found: &Value| *found == expected || *found == pruned;
    let cut = without_lines(text, keys);
    if let Some(cut) = cut.filter(|cut| toml_value(cut).is_ok_and(|found| is_expected(&found))) {
        return Ok(cut);
    }
    let edited = edited(text, |document| {
        let table = above.iter().try_fold(document.as_item_mut(), |item, key| item.get_mut(key.as_str()))?;
        table.as_table_like_mut()?.remove(name).map(|_| ())
    })?;
    if is_expected(&toml_value(&edited)?) { Ok(edited) } else { Err(TextError::Uneditable) }
}

/// Removes the lines of a table and of its subtables, and one blank line before them.
fn without_lines(text: &str, keys: &[String]) -> Option<String> {
    let header = format!("[{}]", keys.join("."));
    let deeper = format!("[{}.", keys.join("."));
    let is_header = |line: &str| {
        line.strip_prefix(&header).is_some_and(|rest| {
            let rest = rest.trim();
            rest.is_empty() || rest.starts_with('#')
        })
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut first = lines.iter().position(|line| is_header(line.trim()))?;
    let following = lines[first + 1..].iter().position(|line| {
        let line = line.trim_start();
        line.starts_with('[') && !line.starts_with(&deeper)
    });
    let mut end = following.map_or(lines.len(), |following| first + 1 + following);
    // Comments of the next table stay with it.
    let is_apart = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    while is_apart(lines[end - 1]) {
        end -= 1;
    }
    if 0 < first && lines[first - 1].trim().is_empty() {
        first -= 1;
    }
    Some([&lines[..first], &lines[end..]].concat().concat())
}

/// Edits a document with its parser, which writes uniform line endings.
fn edited(text: &str, change: impl FnOnce(&mut DocumentMut) -> Option<()>) -> Result<String, TextError> {
    let newline = newline_of(text);
    let plain = text.replace("\r\n", "\n");
    // Mixed line endings could not be restored afterwards.
    if newline == "\r\n" && plain.replace('\n', "\r\n") != text || newline == "\n" && plain != text {
        return Err(TextError::Uneditable);
    }
    let mut document: DocumentMut = plain.parse().map_err(|_| TextError::Uneditable)?;
    change(&mut document).ok_or(TextError::Uneditable)?;
    Ok(document.to_string().replace('\n', newline))
}

fn checked(text: String, expected: &Value) -> Result<String, TextError> {
    if toml_value(&text)? == *expected { Ok(text) } else { Err(TextError::Uneditable) }
}

fn table_lines(keys: &[String], value: &Value) -> Result<String, TextError> {
    let body = toml::to_string(value).map_err(|_| TextError::Uneditable)?;
    Ok(format!("[{}]\n{body}", keys.join(".")))
}

/// Returns a value with another one at a path of keys; `None` if the path is blocked.
fn with_value(mut whole: Value, keys: &[String], value: Value) -> Option<Value> {
    let (name, above) = keys.split_last()?;
    let mut holder = &mut whole;
    for key in above {
        let empty = || Value::Object(serde_json::Map::new());
        holder = holder.as_object_mut()?.entry(key.clone()).or_insert_with(empty);
    }
    holder.as_object_mut()?.insert(name.clone(), value);
    Some(whole)
}

fn without_empty(mut whole: Value, keys: &[String]) -> Value {
    for depth in (1..=keys.len()).rev() {
        let (name, above) = (&keys[depth - 1], &keys[..depth - 1]);
        let holder = above.iter().try_fold(&mut whole, |value, key| value.get_mut(key));
        let Some(holder) = holder.and_then(Value::as_object_mut) else { break };
        if holder.get(name).and_then(Value::as_object).is_some_and(serde_json::Map::is_empty) {
            holder.remove(name);
        }
    }
    whole
}
