//! Converts the project file of an older program to a `slop.toml`.

use std::path::Path;

use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value};

use super::format::{slice_table, text_value};
use crate::config::curation::Curation;
use crate::config::error::{Error, SettingOrigin};
use crate::config::layers::{FileOwner, SettingAssignment, from_file};
use crate::config::load::{ConfigInputs, load, with_large_stack};
use crate::config::pages::commented_template;
use crate::config::schema::SettingsSchema;
use crate::model::FileItem;

/// A settings file that is equivalent to an older one.
#[derive(Debug)]
pub struct ConvertedProject {
    pub text: String,
    /// What the older file has that could not be converted, and its errors.
    pub notes: Vec<String>,
}

/// Returns the text of a new file with the settings and the files of the one at `path`, whose content is `bytes`.
/// Writes nothing.
pub fn convert_older(path: &Path, bytes: &[u8]) -> Result<ConvertedProject, Error> {
    with_large_stack(|| {
        let origin = |line| SettingOrigin::ProjectFile { path: path.to_owned(), line };
        let layer = from_file(bytes, FileOwner::OlderProject, &origin, &SettingsSchema::built_in())?;
        let mut notes = layer.warnings;
        notes.extend(layer.left_out.iter().map(|error| format!("{error}; the entry is left out")));
        let mut text = commented_template();
        for setting in layer.settings {
            let changed = with_setting(&text, &setting);
            // Converted individually, so that an unknown value does not affect others.
            match changed.filter(|text| is_readable(text)) {
                Some(changed) => text = changed,
                None => notes.push(format!("{}: `{}` is left out", setting.origin, setting.key)),
            }
        }
        text.push_str(&items_text(&layer.curation.files));
        Ok(ConvertedProject { text: screenshots_text(&layer.curation.screenshots) + &text, notes })
    })
}

/// Returns the text of an older file with its files and screenshots in the current form; `None` if they already have
/// it.
pub(super) fn with_current_lists(document: &DocumentMut, curation: &Curation) -> Option<String> {
    let is_older = |key: &str| {
        let section = document.get(key).and_then(Item::as_table_like);
        section.is_some_and(|section| section.contains_key("paths"))
    };
    let (has_files, has_screenshots) = (is_older("files"), is_older("screenshots"));
    if !has_files && !has_screenshots {
        return None;
    }
    let mut rest = document.clone();
    let mut text = String::new();
    if has_screenshots {
        text.push_str(&comments_above(&rest, "screenshots"));
        text.push_str(&screenshots_text(&curation.screenshots));
        rest.remove("screenshots");
    }
    let files = comments_above(&rest, "files") + &items_text(&curation.files);
    if has_files {
        rest.remove("files");
    }
    text.push_str(&rest.to_string());
    if has_files {
        text.push_str(&files);
    }
    Some(text)
}

/// Returns the comments above the header of a section.
fn comments_above(document: &DocumentMut, section: &str) -> String {
    let table = document.get(section).and_then(Item::as_table);
    let above = table.and_then(|table| table.decor().prefix()?.as_str()).unwrap_or_default();
    if above.trim().is_empty() { String::new() } else { above.to_owned() }
}

/// Returns the list at the top of a file; nothing if it is empty.
fn screenshots_text(paths: &[String]) -> String {
    if paths.is_empty() {
        return String::new();
    }
    let mut document = DocumentMut::new();
    let list: Array = paths.iter().map(|path| text_value(path)).collect();
    document.insert("screenshots", Item::Value(Value::Array(list)));
    document.to_string() + "\n"
}

fn is_readable(text: &str) -> bool {
    let file = Some(("slop.toml".into(), text.as_bytes().to_vec()));
    load(&ConfigInputs { project_file: file, ..ConfigInputs::default() }).is_ok()
}

/// Returns the page with a setting instead of its commented default; `None` if it has none.
fn with_setting(page: &str, setting: &SettingAssignment) -> Option<String> {
    let (section, name) = setting.key.rsplit_once('.')?;
    let mut current = "";
    let mut is_set = false;
    let mut changed = String::with_capacity(page.len());
    for line in page.split_inclusive('\n') {
        if let Some(header) = line.trim_end().strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            current = header;
        }
        let is_default = |line: &str| {
            line.strip_prefix('#')
                .and_then(|line| line.split_once('='))
                .is_some_and(|(key, _)| key.trim() == name)
        };
        if !is_set && current == section && is_default(line) {
            changed.extend([name, " = ", &setting.value.to_string(), "\n"]);
            is_set = true;
        } else {
            changed.push_str(line);
        }
    }
    is_set.then_some(changed)
}

fn items_text(items: &[FileItem]) -> String {
    if items.is_empty() {
        return String::new();
    }
    let mut tables = ArrayOfTables::new();
    for item in items {
        let mut table = item_table(item);
        table.decor_mut().set_prefix("\n");
        tables.push(table);
    }
    let mut document = DocumentMut::new();
    document.insert("files", Item::ArrayOfTables(tables));
    document.to_string()
}

/// Returns an item as a table, omitting defaults.
fn item_table(item: &FileItem) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key, Item::Value(value));
        }
    };
    let plain = FileItem::plain(item.path.clone());
    let flag = |own: bool, default: bool| (own != default).then(|| Value::from(own));
    put("path", Some(text_value(&item.path)));
    put("auto_aggregate", flag(item.auto_aggregate, plain.auto_aggregate));
    put("force_full", flag(item.force_full, plain.force_full));
    put("view_mode", item.view_mode.map(|mode| mode.name().into()));
    put("selected", flag(item.selected, plain.selected));
    put("ast_signatures", flag(item.ast_signatures, plain.ast_signatures));
    put("ast_definitions", flag(item.ast_definitions, plain.ast_definitions));
    let mut mask = InlineTable::new();
    for (name, mode) in &item.ast_mask {
        mask.insert(name, mode.name().into());
    }
    put("ast_mask", (!mask.is_empty()).then(|| mask.into()));
    put("tier", item.tier.map(|tier| i64::from(tier.number()).into()));
    put("injected_at", item.injected_at.map(Value::from));
    if !item.custom_slices.is_empty() {
        let slices: ArrayOfTables = item.custom_slices.iter().map(slice_table).collect();
        table.insert("custom_slices", Item::ArrayOfTables(slices));
    }
    table
}
