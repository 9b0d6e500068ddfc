//! Edits of the modes in which items of `[[files]]` show their files, and the removal of items.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml_edit::{DocumentMut, Table, TableLike, Value};

use super::format::text_value;
use super::items::{
    ItemMut, find, find_or_add, find_required, item_at, item_path, plain_path, remove_if_plain, remove_item,
};
use super::keys::{FILES_KEY, item_tables};
use super::page::{SettingsDocument, edit_file};
use crate::config::error::Error;
use crate::model::{Tier, ViewMode};
use crate::sys::Disk;

/// How an item shows its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemMode {
    /// In full, whatever the tier specifies.
    ForceFull,
    /// As the tier specifies.
    AutoAggregate,
    Signatures,
    Definitions,
    View(ViewMode),
}

impl ItemMode {
    /// Returns the key that sets the mode.
    pub const fn key(self) -> &'static str {
        self.setting().key()
    }

    const fn setting(self) -> ItemSetting {
        match self {
            Self::ForceFull => ItemSetting::ForceFull(true),
            Self::AutoAggregate => ItemSetting::AutoAggregate(true),
            Self::Signatures => ItemSetting::Signatures(true),
            Self::Definitions => ItemSetting::Definitions(true),
            Self::View(mode) => ItemSetting::ViewMode(mode),
        }
    }
}

/// A key of an item with a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ItemSetting {
    AutoAggregate(bool),
    ForceFull(bool),
    ViewMode(ViewMode),
    Selected(bool),
    Signatures(bool),
    Definitions(bool),
    Tier(Tier),
    /// Seconds since the epoch.
    InjectedAt(f64),
}

impl ItemSetting {
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::AutoAggregate(_) => "auto_aggregate",
            Self::ForceFull(_) => "force_full",
            Self::ViewMode(_) => "view_mode",
            Self::Selected(_) => "selected",
            Self::Signatures(_) => "ast_signatures",
            Self::Definitions(_) => "ast_definitions",
            Self::Tier(_) => "tier",
            Self::InjectedAt(_) => "injected_at",
        }
    }

    fn value(self) -> Value {
        match self {
            Self::AutoAggregate(is_set)
            | Self::ForceFull(is_set)
            | Self::Selected(is_set)
            | Self::Signatures(is_set)
            | Self::Definitions(is_set) => is_set.into(),
            Self::ViewMode(mode) => text_value(mode.name()),
            Self::Tier(tier) => i64::from(tier.number()).into(),
            Self::InjectedAt(time) => time.into(),
        }
    }
}

/// The keys that set how an item shows its files. Only the first matching rule decides, so of two keys in one item one
/// would have no effect.
const MODE_KEYS: [&str; 5] =
    ["force_full", "auto_aggregate", "view_mode", "ast_signatures", "ast_definitions"];

/// What an edit did to an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemChange {
    Added,
    Changed,
    Removed,
}

impl ItemChange {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Removed => "removed",
        }
    }
}

/// Sets how the items of some paths show their files. Missing items are added. Masks, slices and all other keys are
/// kept.
pub fn set_item_mode(
    disk: &dyn Disk,
    file: &Path,
    paths: &[String],
    mode: ItemMode,
) -> Result<Vec<ItemChange>, Error> {
    edit_file(disk, file, |page| {
        let others: Vec<&str> = MODE_KEYS.into_iter().filter(|key| *key != mode.key()).collect();
        Ok(paths.iter().map(|path| set_keys_of(disk, page, path, &[mode.setting()], &others)).collect())
    })
}

/// Sets keys of the item of a path, which is created if there is none, and removes others.
pub(super) fn set_keys_of(
    disk: &dyn Disk,
    page: &mut SettingsDocument,
    path: &str,
    settings: &[ItemSetting],
    unset: &[&str],
) -> ItemChange {
    let is_known = find(&page.document, path).is_some();
    let at = find_or_add(disk, page, path);
    set_keys_at(&mut page.document, at, settings, unset);
    if is_known { ItemChange::Changed } else { ItemChange::Added }
}

pub(super) fn set_keys_at(document: &mut DocumentMut, at: usize, settings: &[ItemSetting], unset: &[&str]) {
    let comments = remove_keys(item_at(document, at), unset);
    let mut item = item_at(document, at);
    for setting in settings {
        item.set(setting.key(), setting.value());
    }
    if let Some(first) = settings.first() {
        add_comments(item_at(document, at), first.key(), &comments);
    }
}

/// Clears how the items of some paths show their files. Items with nothing but a path left are removed.
pub fn clear_item_mode(disk: &dyn Disk, file: &Path, paths: &[String]) -> Result<Vec<ItemChange>, Error> {
    edit_file(disk, file, |page| {
        // If a path is given twice, its item may already be gone.
        let mut cleared: BTreeMap<String, ItemChange> = BTreeMap::new();
        let clear = |path: &String| {
            let plain = plain_path(path);
            if let Some(change) = cleared.get(&plain) {
                return Ok(*change);
            }
            let at = find_required(page, path)?;
            let change = unset_keys_at(&mut page.document, at, &MODE_KEYS);
            cleared.insert(plain, change);
            Ok(change)
        };
        paths.iter().map(clear).collect()
    })
}

/// Removes keys of an item, and the item if nothing but its path is left.
pub(super) fn unset_keys_at(document: &mut DocumentMut, at: usize, keys: &[&str]) -> ItemChange {
    let comments = remove_keys(item_at(document, at), keys);
    // A comment was written by hand, so an item with one is kept.
    if comments.is_empty() && remove_if_plain(document, at) {
        return ItemChange::Removed;
    }
    add_comments(item_at(document, at), "path", &comments);
    ItemChange::Changed
}

/// Removes the items of some paths, and returns how many there were. Those with masks or slices are removed only with
/// `may_lose`.
pub fn remove_items(disk: &dyn Disk, file: &Path, paths: &[String], may_lose: bool) -> Result<usize, Error> {
    edit_file(disk, file, |page| {
        for path in paths {
            find_required(page, path)?;
        }
        let lost = if may_lose { Vec::new() } else { curated_among(&page.document, paths) };
        if !lost.is_empty() {
            return Err(Error::WouldLose { items: lost });
        }
        let paths: BTreeSet<String> = paths.iter().map(|path| plain_path(path)).collect();
        Ok(remove_items_of(page, |path| paths.contains(path)))
    })
}

/// Removes the items with matching paths, and returns how many there were. Several items may have the same path.
pub(super) fn remove_items_of(page: &mut SettingsDocument, is_meant: impl Fn(&str) -> bool) -> usize {
    let document = &mut page.document;
    let paths: Vec<String> = item_tables(document.get(FILES_KEY)).into_iter().map(item_path).collect();
    let meant: Vec<usize> = (0..paths.len()).filter(|at| is_meant(&paths[*at])).collect();
    // From the end, so that the indices of earlier ones stay valid.
    meant.iter().rev().for_each(|at| remove_item(document, *at));
    meant.len()
}

/// Returns the paths whose items have masks or slices. Several items may have the same path.
fn curated_among(document: &DocumentMut, paths: &[String]) -> Vec<String> {
    let paths: BTreeSet<String> = paths.iter().map(|path| plain_path(path)).collect();
    let items = item_tables(document.get(FILES_KEY)).into_iter();
    let curated = items.filter(|item| has_curated_parts(*item)).map(item_path);
    curated.filter(|path| paths.contains(path)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Returns whether an item has masks or slices, which take more work than a flag to restore.
fn has_curated_parts(item: &dyn TableLike) -> bool {
    ["ast_mask", "custom_slices"].iter().any(|key| item.contains_key(key))
}

/// Removes keys of an item, and returns the comments above them and after their values.
fn remove_keys(item: ItemMut<'_>, keys: &[&str]) -> String {
    let mut comments = String::new();
    match item {
        ItemMut::Headed(item) => {
            for key in keys {
                comments.push_str(&comments_of(item, key));
                item.remove(key);
            }
        }
        ItemMut::Inline(item) => {
            for key in keys {
                item.remove(key);
            }
        }
    }
    comments
}

/// Returns the comments of a key, each on a line.
fn comments_of(item: &Table, key: &str) -> String {
    let Some((name, value)) = item.get_key_value(key) else { return String::new() };
    let above = name.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default();
    let after = value.as_value().and_then(|value| value.decor().suffix()?.as_str()).unwrap_or_default();
    let lines = above.lines().chain(after.lines()).map(str::trim);
    lines.filter(|line| line.starts_with('#')).flat_map(|line| [line, "\n"]).collect()
}

/// Inserts comments above a key. Inline items have no comments.
fn add_comments(item: ItemMut<'_>, key: &str, comments: &str) {
    let ItemMut::Headed(item) = item else { return };
    let Some(mut key) = item.key_mut(key).filter(|_| !comments.is_empty()) else { return };
    let own = key.leaf_decor().prefix().and_then(|prefix| prefix.as_str()).unwrap_or_default().to_owned();
    key.leaf_decor_mut().set_prefix(format!("{comments}{own}"));
}
