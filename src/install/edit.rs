//! Adds entries to the bytes of a settings file, and removes them again.

use std::path::Path;

use serde_json::Value;

use super::entry::{ConfigEntry, EntryKind, FileFormat};
use super::error::{Error, TextError};
use super::json_text::{JsonText, line_of, newline_of, spliced};
use super::toml_text::{toml_value, with_table, without_table};
use crate::model::BYTE_ORDER_MARK;

/// The result of adding entries to a file.
pub(super) struct InsertedEntries {
    pub(super) bytes: Option<Vec<u8>>,
    /// The entries that were added. Entries that already existed are not slop's to remove.
    pub(super) added: Vec<ConfigEntry>,
    /// The entries that were not added because a different one exists, which is kept.
    pub(super) refused: Vec<ConfigEntry>,
}

/// Adds entries to a file, which may not exist yet.
pub(super) fn insert_entries(
    path: &Path,
    before: Option<&[u8]>,
    entries: &[ConfigEntry],
) -> Result<InsertedEntries, Error> {
    let (mark, original) = decode(path, before.unwrap_or_default())?;
    let mut text = original.to_owned();
    let (mut added, mut refused) = (Vec::new(), Vec::new());
    for entry in entries {
        let found = existing_value(&text, before.is_some(), entry).map_err(|error| error.at(path))?;
        let is_added = match (entry.kind, found) {
            (EntryKind::Element, Some(Value::Array(list))) => !list.contains(&entry.value),
            (_, None) => true,
            (EntryKind::Shared, Some(_)) => false,
            (_, Some(found)) => {
                if found != entry.value {
                    refused.push(entry.clone());
                }
                false
            }
        };
        if is_added {
            text = with_entry(&text, entry).map_err(|error| error.at(path))?;
            added.push(entry.clone());
        }
    }
    let is_same = before.is_none() && added.is_empty();
    let bytes = (!is_same).then(|| encode(mark, &text));
    Ok(InsertedEntries { bytes, added, refused })
}

/// Removes entries from a file that was edited after they were added to `before`. All other bytes are kept; objects
/// that become empty are removed if they came with the entries. `None` if nothing is left of a file that did not exist
/// before.
pub(super) fn remove_entries(
    path: &Path,
    current: &[u8],
    before: Option<&[u8]>,
    entries: &[ConfigEntry],
) -> Result<Option<Vec<u8>>, Error> {
    let (mark, text) = decode(path, current)?;
    let (_, old) = decode(path, before.unwrap_or_default())?;
    let mut text = text.to_owned();
    for entry in entries.iter().rev() {
        text = without_entry(&text, old, entry).map_err(|error| error.at(path))?;
    }
    let is_empty = match entries.first().map(|entry| entry.format) {
        Some(FileFormat::Json) => matches!(text.trim(), "" | "{}"),
        Some(FileFormat::Toml | FileFormat::Text) | None => text.trim().is_empty(),
    };
    if before.is_none() && is_empty {
        return Ok(None);
    }
    Ok(Some(encode(mark, &text)))
}

/// Returns whether a file has an entry, unchanged or edited.
pub(super) fn has_entry(path: &Path, bytes: &[u8], entry: &ConfigEntry) -> Result<bool, Error> {
    let (_, text) = decode(path, bytes)?;
    let found = existing_value(text, true, entry).map_err(|error| error.at(path))?;
    Ok(match (entry.kind, found) {
        (EntryKind::Element, Some(Value::Array(list))) => position_of(&list, &entry.value).is_some(),
        (_, found) => found.is_some(),
    })
}

/// Returns the existing value at an entry's keys.
fn existing_value(text: &str, has_file: bool, entry: &ConfigEntry) -> Result<Option<Value>, TextError> {
    match (entry.kind, entry.format) {
        (EntryKind::WholeFile, _) | (_, FileFormat::Text) => Ok(has_file.then(|| Value::from(text))),
        (_, FileFormat::Json) => JsonText::parse(text)?.get(&entry.keys),
        (_, FileFormat::Toml) => {
            let whole = toml_value(text)?;
            Ok(entry.keys.iter().try_fold(&whole, |value, key| value.get(key)).cloned())
        }
    }
}

fn with_entry(text: &str, entry: &ConfigEntry) -> Result<String, TextError> {
    match (entry.kind, entry.format) {
        (EntryKind::WholeFile, _) | (_, FileFormat::Text) => {
            Ok(entry.value.as_str().ok_or(TextError::Uneditable)?.to_owned())
        }
        (_, FileFormat::Toml) => with_table(text, &entry.keys, &entry.value),
        (kind, FileFormat::Json) => {
            let json = JsonText::parse(text)?;
            let edited = json.with(&entry.keys, kind == EntryKind::Element, &entry.value)?;
            // An edit is valid only if it can be read back.
            let expected = with_value(json.value(), entry).ok_or(TextError::Uneditable)?;
            if JsonText::parse(&edited)?.value() == expected {
                Ok(edited)
            } else {
                Err(TextError::Uneditable)
            }
        }
    }
}

fn with_value(mut whole: Value, entry: &ConfigEntry) -> Option<Value> {
    let (name, above) = entry.keys.split_last()?;
    let empty = || Value::Object(serde_json::Map::new());
    let mut holder = &mut whole;
    for key in above {
        holder = holder.as_object_mut()?.entry(key.clone()).or_insert_with(empty);
    }
    let holder = holder.as_object_mut()?;
    if entry.kind == EntryKind::Element {
        let list = holder.entry(name.clone()).or_insert_with(|| Value::Array(Vec::new()));
        list.as_array_mut()?.push(entry.value.clone());
    } else {
        holder.insert(name.clone(), entry.value.clone());
    }
    Some(whole)
}

fn without_entry(text: &str, old: &str, entry: &ConfigEntry) -> Result<String, TextError> {
    let is_there = existing_value(text, true, entry)?;
    match (entry.kind, entry.format) {
        // A file of slop's own that was edited belongs to the user.
        (EntryKind::WholeFile, _) | (_, FileFormat::Text) => {
            let is_same = is_there.as_ref() == Some(&entry.value);
            Ok(if is_same { String::new() } else { text.to_owned() })
        }
        (_, _) if is_there.is_none() => Ok(text.to_owned()),
        (_, FileFormat::Toml) => without_table(text, &entry.keys),
        (kind, FileFormat::Json) => {
            let json = JsonText::parse(text)?;
            let (edited, depth) = match kind {
                EntryKind::Element => {
                    let list = is_there.as_ref().and_then(Value::as_array).map(Vec::as_slice);
                    let Some(place) = position_of(list.unwrap_or_default(), &entry.value) else {
                        return Ok(text.to_owned());
                    };
                    (without_place(&json, &entry.keys, place)?, entry.keys.len())
                }
                // Other entries still need it.
                EntryKind::Shared if 1 < json.value().as_object().map_or(0, serde_json::Map::len) => {
                    return Ok(text.to_owned());
                }
                EntryKind::Shared | EntryKind::Property | EntryKind::WholeFile => {
                    (json.without(&entry.keys)?, entry.keys.len() - 1)
                }
            };
            without_new_containers(edited, old, &entry.keys[..depth])
        }
    }
}

/// The position of an element in a list.
#[derive(Clone, Copy)]
enum ElementPlace {
    Whole(usize),
    /// One of several commands in an element.
    Command(usize, usize),
}

/// Finds an equal element, or else one that runs the same command.
fn position_of(list: &[Value], value: &Value) -> Option<ElementPlace> {
    if let Some(at) = list.iter().position(|element| element == value) {
        return Some(ElementPlace::Whole(at));
    }
    let command = |value: &Value| value.get("command").and_then(Value::as_str).map(str::to_owned);
    let inner = |value: &Value| value.get("hooks").and_then(Value::as_array).cloned();
    let wanted = command(value).or_else(|| command(inner(value)?.first()?))?;
    list.iter().enumerate().find_map(|(at, element)| {
        if command(element).as_ref() == Some(&wanted) {
            return Some(ElementPlace::Whole(at));
        }
        let commands = inner(element)?;
        let found = commands.iter().position(|inner| command(inner).as_ref() == Some(&wanted))?;
        Some(if commands.len() == 1 { ElementPlace::Whole(at) } else { ElementPlace::Command(at, found) })
    })
}

fn without_place(json: &JsonText<'_>, keys: &[String], place: ElementPlace) -> Result<String, TextError> {
    match place {
        ElementPlace::Whole(at) => json.without_element(keys, at),
        ElementPlace::Command(at, inner) => {
            let deeper = [keys, &[at.to_string(), "hooks".to_owned()]].concat();
            json.without_element(&deeper, inner)
        }
    }
}

/// Removes containers that are empty and did not exist before, from the inside out. The first one that existed before
/// gets its original white space back.
fn without_new_containers(mut text: String, old: &str, keys: &[String]) -> Result<String, TextError> {
    let old_json = JsonText::parse(old)?;
    for depth in (0..=keys.len()).rev() {
        let json = JsonText::parse(&text)?;
        let Some(inside) = json.empty_inside(&keys[..depth])? else { break };
        if old_json.get(&keys[..depth]).is_ok_and(|value| value.is_some()) {
            if let Some(space) = old_json.empty_inside(&keys[..depth]).ok().flatten() {
                text = spliced(&text, &[(inside, &old[space])]);
            }
            break;
        }
        if depth == 0 {
            let after = &text[inside.end + 1..];
            let newline = after.len() - after.strip_prefix(newline_of(&text)).unwrap_or(after).len();
            text = spliced(&text, &[(inside.start - 1..inside.end + 1 + newline, "")]);
            break;
        }
        text = json.without(&keys[..depth])?;
    }
    Ok(text)
}

/// Returns the byte order mark of a file, which may be empty, and its text.
fn decode<'b>(path: &Path, bytes: &'b [u8]) -> Result<(&'b str, &'b str), Error> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = line_of(bytes, error.valid_up_to());
        TextError::Syntax { line, message: "not UTF-8".to_owned() }.at(path)
    })?;
    let plain = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    Ok(text.split_at(text.len() - plain.len()))
}

fn encode(mark: &str, text: &str) -> Vec<u8> {
    [mark.as_bytes(), text.as_bytes()].concat()
}
