//! Several edits of one file at once, all or none.

use std::collections::BTreeSet;
use std::path::Path;

use super::document::change_document;
use super::items::{
    SliceChange, SliceKey, add_slice_to, change_slice_of, item_path, plain_path, remove_masks_of,
    remove_slices_of, set_masks_of,
};
use super::keys::{FILES_KEY, item_tables};
use super::modes::{ItemSetting, remove_items_of, set_keys_at, set_keys_of, unset_keys_at};
use super::page::{EditedFile, SettingsDocument, edit_revision};
use super::presets::{PresetDraft, apply_preset_in, delete_preset_in, save_preset_in};
use super::screenshots::{ScreenshotChange, change_screenshots};
use crate::config::error::Error;
use crate::engine::CoveringEntry;
use crate::model::{DocumentDefaults, MaskMode, Slice, is_within};
use crate::sys::Disk;

/// One edit of the curation.
#[derive(Debug, Clone)]
pub enum CurationEdit {
    SetKeys {
        entries: Vec<CoveringEntry>,
        settings: Vec<ItemSetting>,
        unset: Vec<&'static str>,
    },
    RemoveItems {
        entries: Vec<CoveringEntry>,
    },
    AddSlice {
        path: String,
        slice: Slice,
    },
    ChangeSlice {
        path: String,
        index: usize,
        change: SliceChange,
    },
    RemoveSlice {
        path: String,
        index: usize,
    },
    Mask {
        path: String,
        set: Vec<(String, MaskMode)>,
        unset: Vec<String>,
    },
    SavePreset(PresetDraft),
    /// Replaces all items, without those whose paths are `gone`.
    ApplyPreset {
        name: String,
        gone: Vec<String>,
    },
    DeletePreset(String),
    Screenshots(ScreenshotChange),
    Document {
        to: DocumentDefaults,
        unset: Vec<&'static str>,
    },
}

impl CurationEdit {
    /// Returns the label of the edit in the history, in the words of the commands that make the same edits.
    pub fn label(&self) -> String {
        let paths = |entries: &[CoveringEntry]| listed_names(entries.iter().map(|entry| entry.path.as_str()));
        match self {
            Self::SetKeys { entries, .. } => format!("keys of {}", paths(entries)),
            Self::RemoveItems { entries } => format!("items removed: {}", paths(entries)),
            Self::AddSlice { path, .. } => format!("slice of {path}"),
            Self::ChangeSlice { path, .. } => format!("slice of {path} changed"),
            Self::RemoveSlice { path, .. } => format!("slice removed from {path}"),
            Self::Mask { path, set, .. } if set.is_empty() => {
                format!("symbols removed from the mask of {path}")
            }
            Self::Mask { path, set, .. } => {
                format!("mask of {path}: {}", listed_names(set.iter().map(|(symbol, _)| symbol.as_str())))
            }
            Self::SavePreset(draft) => format!("preset {} saved", draft.name),
            Self::ApplyPreset { name, .. } => format!("preset {name} applied"),
            Self::DeletePreset(name) => format!("preset {name} deleted"),
            Self::Screenshots(_) => "screenshots".to_owned(),
            Self::Document { .. } => "defaults of documents".to_owned(),
        }
    }
}

/// The most names in the label of an edit.
const MAX_LABELED: usize = 3;

fn listed_names<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> String {
    let more = names.len().saturating_sub(MAX_LABELED);
    let shown = names.take(MAX_LABELED).collect::<Vec<_>>().join(", ");
    if more == 0 { shown } else { format!("{shown} and {more} more") }
}

/// What edits did, or would do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditOutcome {
    /// The new revision of the file.
    pub revision: String,
    /// How many items, presets, lists of screenshots and tables `[document]` were added, changed or removed.
    pub entries_written: usize,
}

/// Makes edits one after the other, or none of them if one fails or the file's revision is not `revision`. With
/// `is_trial`, nothing is written.
pub fn edit_curation(
    disk: &dyn Disk,
    file: &Path,
    revision: &str,
    edits: &[CurationEdit],
    is_trial: bool,
) -> Result<EditOutcome, Error> {
    let edited = edit_revision(disk, file, Some(revision), is_trial, |page| {
        edits.iter().map(|edit| apply_edit(disk, page, edit)).sum::<Result<usize, Error>>()
    })?;
    let EditedFile { value: entries_written, revision } = edited;
    Ok(EditOutcome { revision, entries_written })
}

/// Makes one edit, and returns how many entries it has written.
fn apply_edit(disk: &dyn Disk, page: &mut SettingsDocument, edit: &CurationEdit) -> Result<usize, Error> {
    match edit {
        CurationEdit::SetKeys { entries, settings, unset } => {
            Ok(set_keys(disk, page, entries, settings, unset))
        }
        CurationEdit::RemoveItems { entries } => Ok(remove_items_of(page, |path| is_covered(path, entries))),
        CurationEdit::AddSlice { path, slice } => add_slice_to(disk, page, path, slice).map(|()| 1),
        CurationEdit::ChangeSlice { path, index, change } => {
            change_slice_of(page, path, *index, change).map(|()| 1)
        }
        CurationEdit::RemoveSlice { path, index } => {
            let removed = remove_slices_of(page, path, &[SliceKey::Index(*index)]);
            removed.map_err(|error| match error {
                Error::NoSuchSlice { item } => Error::NoSliceAt { item, index: *index },
                other => other,
            })
        }
        CurationEdit::Mask { path, set, unset } => {
            if !set.is_empty() {
                set_masks_of(disk, page, path, set);
            }
            // Without names, all symbols would be removed from the mask.
            if !unset.is_empty() {
                remove_masks_of(page, path, unset)?;
            }
            Ok(1)
        }
        CurationEdit::SavePreset(draft) => save_preset_in(page, draft).map(|_| 1),
        CurationEdit::ApplyPreset { name, gone } => apply_preset_in(page, name, gone),
        CurationEdit::DeletePreset(name) => delete_preset_in(page, name).map(|()| 1),
        CurationEdit::Screenshots(change) => change_screenshots(page, change).map(|()| 1),
        CurationEdit::Document { to, unset } => {
            change_document(page, to, unset);
            Ok(1)
        }
    }
}

/// Sets and removes keys of the entries, and of all items below the folders that entries cover, which would otherwise
/// take precedence.
fn set_keys(
    disk: &dyn Disk,
    page: &mut SettingsDocument,
    entries: &[CoveringEntry],
    settings: &[ItemSetting],
    unset: &[&str],
) -> usize {
    let paths: Vec<String> = item_tables(page.document.get(FILES_KEY)).into_iter().map(item_path).collect();
    let covered: Vec<usize> = (0..paths.len()).filter(|at| is_covered(&paths[*at], entries)).collect();
    // From the end, because items without remaining keys are removed.
    for at in covered.iter().rev() {
        if settings.is_empty() {
            unset_keys_at(&mut page.document, *at, unset);
        } else {
            set_keys_at(&mut page.document, *at, settings, unset);
        }
    }
    if settings.is_empty() {
        return covered.len();
    }
    let known: BTreeSet<&String> = paths.iter().collect();
    let is_known = |entry: &&CoveringEntry| {
        known.contains(&plain_path(&entry.path))
            || entry.folder.as_ref().is_some_and(|folder| known.contains(folder))
    };
    let missing = entries.iter().filter(|entry| !is_known(entry));
    let added = missing.map(|entry| set_keys_of(disk, page, &entry.path, settings, unset)).count();
    covered.len() + added
}

/// Returns whether the path of an item is that of an entry, or below the folder that one covers.
fn is_covered(path: &str, entries: &[CoveringEntry]) -> bool {
    entries.iter().any(|entry| {
        let in_folder = |folder: &String| is_within(path.as_bytes(), folder.as_bytes());
        plain_path(&entry.path) == path || entry.folder.as_ref().is_some_and(in_folder)
    })
}
