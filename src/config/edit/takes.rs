//! The takes of a project: the curation of the current one is in `slop.toml`, that of the others in `slop.takes.toml`.
//!
//! A switch writes two files, and can be interrupted between any two of its writes:
//!
//! 1. `slop.takes.toml` gets the curation of the old take, and `switching`: the name of the new take, and the revisions
//!    of `slop.toml` before and after. The new take stays in the file.
//! 2. `slop.toml` gets the curation of the new take.
//! 3. The new take and `switching` are removed from `slop.takes.toml`.
//!
//! If `switching` is found, the revision of `slop.toml` shows whether step 2 was done (`finish_switch`). If `slop.toml`
//! was edited in the meantime, its curation is compared with both takes. If it equals neither, both are kept as saved,
//! and the content of `slop.toml` becomes a take of its own.

use crate::model::suggest_known_name;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use super::format::{
    clear_positions, detached_comments, detached_part, insert_comments, place_table, text_value,
};
use super::items::{clear_items, push_item};
use super::keys::{DOCUMENT_KEY, FILES_KEY, item_tables};
use super::page::{SettingsDocument, check_revision, read_curation, read_file, write_changed};
use super::presets::is_same_table;
use super::screenshots::SCREENSHOTS_KEY;
use crate::config::error::Error;
use crate::config::load::{revision_of, with_large_stack};
use crate::sys::Disk;

/// The name of the take in a project without others.
const FIRST_TAKE: &str = "main";

/// The name of the take for a curation that was found in `slop.toml` after an interrupted switch and equals neither
/// take.
const RECOVERED_TAKE: &str = "recovered";

const LONGEST_NAME: usize = 60;

const CURRENT_KEY: &str = "current";
const SWITCHING_KEY: &str = "switching";
const TAKES_KEY: &str = "takes";

/// The keys of `slop.toml` that a take consists of.
const CURATED_KEYS: [&str; 3] = [FILES_KEY, SCREENSHOTS_KEY, DOCUMENT_KEY];

const HEADER: &str = "# The takes of this project that are not current, written by `slop take`. The current one is in slop.toml.\n";

/// The files of the takes, in the same folder.
#[derive(Debug, Clone)]
pub struct TakeFiles {
    /// `slop.toml`.
    pub settings: PathBuf,
    /// `slop.takes.toml`.
    pub takes: PathBuf,
}

/// The takes of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakesSummary {
    /// The name of the current take.
    pub current: String,
    /// All takes, the current one first, the others by name.
    pub takes: Vec<TakeSummary>,
}

/// The size of a take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeSummary {
    pub name: String,
    pub items: usize,
    /// How many of the items have a mask.
    pub masks: usize,
    pub slices: usize,
    pub screenshots: usize,
    /// How many keys `[document]` has.
    pub document: usize,
}

/// A change of the takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakeChange {
    /// Creates a copy of a take, by default of the current one. It does not become current.
    Create {
        name: String,
        from: Option<String>,
    },
    /// Makes a different take current.
    Switch {
        name: String,
    },
    Rename {
        name: String,
        to: String,
    },
    /// Deletes a take, which must not be current, and must be empty unless `may_lose` is set.
    Delete {
        name: String,
        may_lose: bool,
    },
}

/// The result of changing the takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakesOutcome {
    /// The name of the take that was current before.
    pub before: String,
    /// The name of the take that is current now.
    pub current: String,
    /// The revision of `slop.toml` now.
    pub revision: String,
}

/// Returns the current takes, without writing anything.
pub fn read_takes(disk: &dyn Disk, files: &TakeFiles) -> Result<TakesSummary, Error> {
    with_large_stack(|| {
        let open = OpenTakes::read(disk, files)?;
        // For an unreadable file, the name is still useful without the counts.
        let mut settings = SettingsDocument::parse(&files.settings, open.settings_text()).ok();
        let curation = settings.as_mut().map(|settings| remove_curation(&mut settings.document));
        let mut takes = vec![summary(&open.current, &curation.unwrap_or_default())];
        let mut names = open.other_names();
        names.sort();
        takes.extend(names.iter().filter_map(|name| Some(summary(name, open.other(name)?))));
        Ok(TakesSummary { current: open.current, takes })
    })
}

/// Finishes a switch that was interrupted, and returns the name of the current take.
pub fn settle_takes(disk: &dyn Disk, files: &TakeFiles) -> Result<String, Error> {
    if read_file(disk, &files.takes)?.is_none() {
        return Ok(FIRST_TAKE.to_owned());
    }
    with_large_stack(|| {
        let _lock = lock_folder(disk, files)?;
        let mut open = OpenTakes::read(disk, files)?;
        open.write_takes(disk, files)?;
        Ok(open.current)
    })
}

/// Makes a change, provided that `slop.toml` has the expected revision.
pub fn change_takes(
    disk: &dyn Disk,
    files: &TakeFiles,
    expected: &str,
    change: &TakeChange,
) -> Result<TakesOutcome, Error> {
    with_large_stack(|| {
        let _lock = lock_folder(disk, files)?;
        let mut open = OpenTakes::read(disk, files)?;
        check_revision(&files.settings, open.settings_text(), expected)?;
        let before = open.current.clone();
        let mut revision = expected.to_owned();
        match change {
            TakeChange::Create { name, from } => {
                open.require_free(name)?;
                let curation = match from.as_ref().filter(|from| **from != open.current) {
                    Some(from) => open.require(from)?.clone(),
                    None => remove_curation(&mut open.settings_document(files)?.document),
                };
                put_take(&mut open.page.document, name, curation);
            }
            TakeChange::Switch { name } if *name == open.current => {}
            TakeChange::Switch { name } => revision = open.switch(disk, files, name)?,
            TakeChange::Rename { name, to } => {
                open.require_free(to)?;
                if *name == open.current {
                    open.set_current(to);
                } else {
                    open.require(name)?;
                    rename_take(&mut open.page.document, name, to);
                }
            }
            TakeChange::Delete { name, may_lose } => {
                if *name == open.current {
                    return Err(Error::TakeIsCurrent { name: name.clone() });
                }
                let found = summary(name, open.require(name)?);
                if !may_lose && 0 < found.items + found.screenshots + found.document {
                    return Err(Error::TakeNotEmpty { name: name.clone() });
                }
                remove_take(&mut open.page.document, name);
            }
        }
        open.write_takes(disk, files)?;
        Ok(TakesOutcome { before, current: open.current, revision })
    })
}

/// Returns an error for an invalid name of a take.
fn check_take_name(name: &str) -> Result<(), Error> {
    let is_name = !name.trim().is_empty()
        && name.trim() == name
        && !name.contains(|c: char| c == '/' || c.is_control())
        && name.chars().count() <= LONGEST_NAME;
    if is_name { Ok(()) } else { Err(Error::BadTakeName { name: name.to_owned() }) }
}

fn lock_folder(disk: &dyn Disk, files: &TakeFiles) -> Result<Option<std::fs::File>, Error> {
    let folder = files.settings.parent().unwrap_or(Path::new("."));
    disk.lock_folder(folder).map_err(|source| Error::Write { path: files.takes.clone(), source })
}

/// Both files as read, with an interrupted switch finished in memory.
struct OpenTakes {
    page: SettingsDocument,
    current: String,
    takes_bytes: Option<Vec<u8>>,
    settings_bytes: Option<Vec<u8>>,
}

impl OpenTakes {
    fn read(disk: &dyn Disk, files: &TakeFiles) -> Result<Self, Error> {
        let takes_bytes = read_file(disk, &files.takes)?;
        let settings_bytes = read_file(disk, &files.settings)?;
        let page = SettingsDocument::parse(&files.takes, takes_bytes.as_deref().unwrap_or_default())?;
        let bad = |reason| Error::BadTakes { path: files.takes.clone(), reason };
        let current = check_page(&page.document).map_err(bad)?;
        let mut open = Self { page, current, takes_bytes, settings_bytes };
        if let Some(switch) = open.page.document.remove(SWITCHING_KEY) {
            open.finish_switch(&switch, files).map_err(bad)?;
        }
        // Without an interrupted switch, neither of the two can be dropped.
        if open.other(&open.current).is_some() {
            return Err(bad(format!(
                "the take `{}` is listed, although it is the current one",
                open.current
            )));
        }
        Ok(open)
    }

    fn settings_text(&self) -> &[u8] {
        self.settings_bytes.as_deref().unwrap_or_default()
    }

    fn settings_document(&self, files: &TakeFiles) -> Result<SettingsDocument, Error> {
        SettingsDocument::parse(&files.settings, self.settings_text())
    }

    fn other(&self, name: &str) -> Option<&Table> {
        self.page.document.get(TAKES_KEY)?.get(name)?.as_table()
    }

    fn other_names(&self) -> Vec<String> {
        let takes = self.page.document.get(TAKES_KEY).and_then(Item::as_table);
        takes.into_iter().flatten().map(|(name, _)| name.to_owned()).collect()
    }

    /// Returns a take that is not current, which must exist.
    fn require(&self, name: &str) -> Result<&Table, Error> {
        self.other(name).ok_or_else(|| {
            let names = self.other_names();
            let known = names.iter().chain([&self.current]).map(String::as_str);
            Error::NoSuchTake { name: name.to_owned(), suggestion: suggest_known_name(name, known) }
        })
    }

    fn require_free(&self, name: &str) -> Result<(), Error> {
        check_take_name(name)?;
        if name == self.current || self.other(name).is_some() {
            return Err(Error::TakeExists { name: name.to_owned() });
        }
        Ok(())
    }

    fn set_current(&mut self, name: &str) {
        name.clone_into(&mut self.current);
        let document = &mut self.page.document;
        if let Some(old) = document.get_mut(CURRENT_KEY).and_then(Item::as_value_mut) {
            let decor = old.decor().clone();
            *old = text_value(name);
            *old.decor_mut() = decor;
        } else {
            document.insert(CURRENT_KEY, Item::Value(text_value(name)));
        }
    }

    /// Finishes or reverts an interrupted switch. `slop.toml` shows how far it got.
    fn finish_switch(&mut self, switch: &Item, files: &TakeFiles) -> Result<(), String> {
        let text = |key: &str| {
            let value = switch.get(key).and_then(Item::as_str).map(str::to_owned);
            value.ok_or_else(|| format!("`{SWITCHING_KEY}.{key}` is not a text"))
        };
        let (to, before, after) = (text("to")?, text("before")?, text("after")?);
        let revision = revision_of(self.settings_text());
        let (mut is_after, mut is_before) = (revision == after, revision == before);
        if !is_after && !is_before {
            let settings = self.settings_document(files);
            let curation = settings.ok().map(|mut settings| remove_curation(&mut settings.document));
            let is_that_of = |name: &str| {
                curation.as_ref().zip(self.other(name)).is_some_and(|(one, other)| is_same_table(one, other))
            };
            (is_after, is_before) = (is_that_of(&to), is_that_of(&self.current));
        }
        if is_after {
            remove_take(&mut self.page.document, &to);
            self.set_current(&to);
        } else if is_before {
            remove_take(&mut self.page.document, &self.current);
        } else {
            let name = self.free_name(RECOVERED_TAKE);
            self.set_current(&name);
        }
        Ok(())
    }

    fn free_name(&self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name} {number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| self.require_free(name).is_ok()).expect("there are more names than takes")
    }

    /// Makes a different take current, and returns the new revision of `slop.toml`. The last write, of
    /// `slop.takes.toml`, is left to the caller.
    fn switch(&mut self, disk: &dyn Disk, files: &TakeFiles, name: &str) -> Result<String, Error> {
        let entered = self.require(name)?.clone();
        let mut settings = self.settings_document(files)?;
        let left = remove_curation(&mut settings.document);
        insert_curation(&mut settings, &entered)?;
        let after = settings.to_text();
        read_curation(&files.settings, &after)
            .map_err(|_| Error::Unwritable { path: files.settings.clone() })?;
        let revision = revision_of(after.as_bytes());
        let original = self.page.to_text();
        let current = self.current.clone();
        self.set_current(&current);
        put_take(&mut self.page.document, &current, left);
        let switch = [("to", name), ("before", &revision_of(self.settings_text())), ("after", &revision)];
        let switch: InlineTable = switch.into_iter().map(|(key, value)| (key, text_value(value))).collect();
        self.page.document.insert(SWITCHING_KEY, Item::Value(Value::InlineTable(switch)));
        self.write_takes(disk, files)?;
        let written = write_changed(disk, &files.settings, self.settings_bytes.as_deref(), &after);
        if let Err(error) = written {
            // If this fails as well, the next command reverts the switch.
            let _ = write_changed(disk, &files.takes, self.takes_bytes.as_deref(), &original);
            return Err(error);
        }
        self.settings_bytes = Some(after.into_bytes());
        self.page.document.remove(SWITCHING_KEY);
        remove_take(&mut self.page.document, name);
        self.set_current(name);
        Ok(revision)
    }

    /// Writes `slop.takes.toml`, if anything in it has changed.
    fn write_takes(&mut self, disk: &dyn Disk, files: &TakeFiles) -> Result<(), Error> {
        if self.takes_bytes.is_none() && self.other_names().is_empty() && self.current == FIRST_TAKE {
            return Ok(());
        }
        let is_new = self.page.document.get(CURRENT_KEY).is_none();
        let current = self.current.clone();
        self.set_current(&current);
        if is_new && let Some(mut key) = self.page.document.key_mut(CURRENT_KEY) {
            key.leaf_decor_mut().set_prefix(HEADER);
        }
        let text = self.page.to_text();
        if self.takes_bytes.as_deref() == Some(text.as_bytes()) {
            return Ok(());
        }
        write_changed(disk, &files.takes, self.takes_bytes.as_deref(), &text)?;
        self.takes_bytes = Some(text.into_bytes());
        Ok(())
    }
}

/// Checks the types in `slop.takes.toml`, and returns the name of the current take.
fn check_page(document: &DocumentMut) -> Result<String, String> {
    let current = document.get(CURRENT_KEY).map_or(Some(FIRST_TAKE), Item::as_str);
    let current = current.filter(|name| check_take_name(name).is_ok());
    let current = current.ok_or_else(|| format!("`{CURRENT_KEY}` is not the name of a take"))?;
    let Some(takes) = document.get(TAKES_KEY) else { return Ok(current.to_owned()) };
    let takes = takes.as_table().ok_or_else(|| format!("`{TAKES_KEY}` is not a table with a header"))?;
    for (name, take) in takes {
        check_take_name(name).map_err(|error| error.to_string())?;
        let take = take.as_table().ok_or_else(|| format!("take `{name}` is not a table with a header"))?;
        // A take is moved to slop.toml as a whole, where unknown keys would be lost.
        if let Some((key, _)) = take.iter().find(|(key, item)| !is_curated(key, item)) {
            return Err(format!("take `{name}` has an unknown key `{key}`, or an invalid value for it"));
        }
    }
    Ok(current.to_owned())
}

/// Returns whether a key is part of a take. Older programs had sections of the same names.
fn is_curated(key: &str, item: &Item) -> bool {
    match item {
        Item::ArrayOfTables(_) => key == FILES_KEY,
        Item::Value(value) if key == DOCUMENT_KEY => value.is_inline_table(),
        Item::Value(value) => value.is_array(),
        Item::Table(_) if key == DOCUMENT_KEY => true,
        Item::Table(table) => key == FILES_KEY && !table.contains_key("max_bytes"),
        Item::None => false,
    }
}

/// Removes the curation from a settings file, and returns it as a take.
fn remove_curation(document: &mut DocumentMut) -> Table {
    let mut take = Table::new();
    for name in CURATED_KEYS {
        match document.get(name) {
            Some(item) if !is_curated(name, item) => {}
            Some(Item::ArrayOfTables(tables)) => {
                let copies = tables.iter().map(copy_with_comment).collect();
                take.insert(name, Item::ArrayOfTables(copies));
                clear_items(document);
            }
            Some(Item::Table(table)) => {
                let (position, comments) = detached_comments(table);
                take.insert(name, Item::Table(copy_with_comment(table)));
                document.remove(name);
                insert_comments(document, position, &comments);
            }
            Some(Item::Value(_)) => {
                let Some((mut key, item)) = document.remove_entry(name) else { continue };
                let prefix = key.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
                let (detached, attached) = prefix.split_at(detached_part(prefix).len());
                let (detached, attached) =
                    (detached.to_owned(), attached.trim_start_matches('\n').to_owned());
                key.leaf_decor_mut().set_prefix(attached);
                take.insert_formatted(&key, item);
                // No table has a position below 0, so they end up above the first one.
                insert_comments(document, -1, &detached);
            }
            Some(Item::None) | None => {}
        }
    }
    take
}

/// Returns a copy of a table with the comment directly above it.
fn copy_with_comment(table: &Table) -> Table {
    let mut copy = table.clone();
    clear_positions(&mut copy);
    copy.decor_mut().set_prefix(format!("\n{}", attached_comment(table)));
    copy
}

fn attached_comment(table: &Table) -> String {
    let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
    prefix[detached_part(prefix).len()..].trim_start_matches('\n').to_owned()
}

/// Inserts a take into a settings file without curation.
fn insert_curation(settings: &mut SettingsDocument, take: &Table) -> Result<(), Error> {
    let document = &mut settings.document;
    for name in CURATED_KEYS {
        let Some((key, item)) = take.get_key_value(name) else { continue };
        // An existing section belongs to an older program.
        if document.contains_key(name) {
            return Err(Error::Unwritable { path: settings.path.clone() });
        }
        match item {
            Item::ArrayOfTables(tables) => {
                for table in tables {
                    push_item(document, copy_with_comment(table));
                    let pushed = document.get_mut(name).and_then(Item::as_array_of_tables_mut);
                    if let Some(pushed) = pushed.and_then(|tables| tables.get_mut(tables.len() - 1)) {
                        add_comment(pushed, &attached_comment(table));
                    }
                }
            }
            Item::Table(table) => {
                let mut copy = copy_with_comment(table);
                place_table(document, &mut copy, None);
                add_comment(&mut copy, &attached_comment(table));
                document.insert(name, Item::Table(copy));
            }
            Item::Value(_) => drop(document.insert_formatted(key, item.clone())),
            Item::None => {}
        }
    }
    Ok(())
}

/// Adds a comment directly above the header of a table.
fn add_comment(table: &mut Table, comment: &str) {
    let prefix = table.decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
    let prefix = format!("{prefix}{comment}");
    table.decor_mut().set_prefix(prefix);
}

/// Adds a take at the end of `slop.takes.toml`.
fn put_take(document: &mut DocumentMut, name: &str, mut take: Table) {
    clear_positions(&mut take);
    place_table(document, &mut take, None);
    let takes = document.entry(TAKES_KEY).or_insert_with(|| {
        let mut takes = Table::new();
        takes.set_implicit(true);
        Item::Table(takes)
    });
    takes.as_table_mut().expect("it was checked when the file was read").insert(name, Item::Table(take));
}

/// Removes a take from `slop.takes.toml`, keeping the comments above its header.
fn remove_take(document: &mut DocumentMut, name: &str) {
    let takes = document.get_mut(TAKES_KEY).and_then(Item::as_table_mut);
    let Some(Item::Table(removed)) = takes.and_then(|takes| takes.remove(name)) else { return };
    let own = attached_comment(&removed);
    let (position, detached) = detached_comments(&removed);
    insert_comments(document, position, &format!("{detached}{own}"));
}

fn rename_take(document: &mut DocumentMut, name: &str, to: &str) {
    let Some(takes) = document.get_mut(TAKES_KEY).and_then(Item::as_table_mut) else { return };
    // Its position and those of its items are cleared.
    if let Some(take) = takes.remove(name) {
        takes.insert(to, take);
    }
}

fn summary(name: &str, take: &Table) -> TakeSummary {
    let items = item_tables(take.get(FILES_KEY));
    let length = |item: Option<&Item>| match item {
        Some(Item::ArrayOfTables(tables)) => tables.len(),
        Some(Item::Value(Value::Array(values))) => values.len(),
        Some(_) | None => 0,
    };
    let has_mask =
        |mask: Option<&Item>| mask.and_then(Item::as_table_like).is_some_and(|mask| !mask.is_empty());
    let older = take.get(FILES_KEY).and_then(Item::as_table).map_or(0, |files| length(files.get("paths")));
    TakeSummary {
        name: name.to_owned(),
        items: items.len() + older,
        masks: items.iter().filter(|item| has_mask(item.get("ast_mask"))).count(),
        slices: items.iter().map(|item| length(item.get("custom_slices"))).sum(),
        screenshots: length(take.get(SCREENSHOTS_KEY)),
        document: take.get(DOCUMENT_KEY).and_then(Item::as_table_like).map_or(0, TableLike::len),
    }
}
