//! The curation in `slop.toml`, and how it applies to the files as they are now.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::choices::MaskName;
use crate::api::inline_curation::{InlinePersona, InlinePreset, ItemEntry};
use crate::api::queries::DocumentKeys;
use crate::model::{FileItem, Persona, Preset, Slice, SliceResolution};

/// The curation of a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurationState {
    /// The revision of `slop.toml`, which edits name.
    pub revision: String,
    /// The entries under `[[files]]`, in their order.
    pub items: Vec<CuratedItem>,
    /// The presets of the project and of the user, by name.
    pub presets: Vec<SavedPreset>,
    /// The personas of the project and of the user, by name.
    pub personas: Vec<SavedPersona>,
    /// The images that every document of the project has, in their order.
    pub screenshots: Vec<String>,
    /// The table `[document]`: the defaults of requests for documents.
    #[serde(default)]
    pub document: DocumentKeys,
    /// The name of the current take.
    pub take: String,
    /// The names of all takes, the current one first.
    pub takes: Vec<String>,
    /// Whether there is an earlier state of `slop.toml` to return to.
    pub can_undo: bool,
    /// Whether there is a later state of `slop.toml` to return to.
    pub can_redo: bool,
}

/// An entry, with its slices and its mask resolved in the file as it is now.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CuratedItem {
    /// The entry.
    pub item: ItemEntry,
    /// Where the lines of each slice are now, in the order of `custom_slices`.
    pub slices: Vec<ResolvedSlice>,
    /// What each name in the mask refers to now, in the order of the mask.
    pub mask: Vec<ResolvedMask>,
}

/// A slice in the file as it is now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedSlice {
    /// A short name; may be empty.
    pub tag: String,
    /// Why the lines matter; may be empty.
    pub comment: String,
    /// Where the lines are.
    pub resolved: SlicePosition,
}

/// Where the lines of a slice are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SlicePosition {
    /// `exact`, `moved`, `changed` or `stale`.
    pub status: String,
    /// The first line, counted from 1; the best guess if it is stale.
    pub start_line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
    /// The reason as text.
    pub reason: String,
}

/// A name in a mask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResolvedMask {
    /// The name, as written in the mask.
    pub symbol: String,
    /// How it is shown.
    pub show: MaskName,
    /// How many symbols have the name.
    pub found: usize,
    /// Similar names of other symbols, if no symbol has the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<String>,
}

/// A preset in a file of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedPreset {
    /// The preset.
    pub preset: InlinePreset,
    /// The file and the line where it is defined.
    pub origin: String,
}

/// A persona in a file of settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SavedPersona {
    /// The persona.
    pub persona: InlinePersona,
    /// The file and the line where it is defined.
    pub origin: String,
}

/// What edits did, or would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CurationEdited {
    /// The revision that `slop.toml` has now.
    pub revision: String,
    /// How many entries, presets, lists of screenshots and tables `[document]` were added, changed or removed.
    pub entries_written: usize,
    /// How many files of the project the edits affect.
    pub files_affected: usize,
}

/// The states that `slop.toml` had.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryState {
    /// The states that are recorded, the oldest first.
    pub entries: Vec<HistoryStep>,
    /// The `id` of the state that was current when it was last recorded; null if none is recorded.
    pub current: Option<i64>,
    /// Whether `slop.toml` is still as it was recorded. If not, it was edited since, and is recorded before the next
    /// edit.
    pub is_recorded: bool,
    /// Whether there is an earlier state to return to.
    pub can_undo: bool,
    /// Whether there is a later state to return to.
    pub can_redo: bool,
}

/// The takes of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakesState {
    /// The revision of `slop.toml`, which changes name.
    pub revision: String,
    /// The name of the current take, which is in `slop.toml`.
    pub current: String,
    /// All takes, the current one first, the others by name.
    pub takes: Vec<TakeState>,
}

/// A take, with the size of its curation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TakeState {
    /// Its name.
    pub name: String,
    /// How many entries there are under `[[files]]`.
    pub entries: usize,
    /// How many of them have a mask.
    pub masks: usize,
    /// How many slices they have.
    pub slices: usize,
    /// How many images every document has.
    pub screenshots: usize,
    /// How many keys `[document]` has.
    #[serde(default)]
    pub document: usize,
}

/// A state that `slop.toml` had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryStep {
    /// A number that grows with each state.
    pub id: i64,
    /// What the edit was for.
    pub label: String,
    /// Whether the file was not edited by slop.
    pub by_hand: bool,
    /// The revision of `slop.toml` in that state.
    pub revision: String,
    /// The state that was current before; it may no longer be recorded.
    pub parent: Option<i64>,
    /// When it was recorded, in milliseconds since the epoch.
    pub at_ms: i64,
}

/// The state that `slop.toml` was returned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryMoved {
    /// The revision that `slop.toml` has now.
    pub revision: String,
    /// The state.
    pub entry: HistoryStep,
}

impl CuratedItem {
    pub fn new(item: &FileItem, slices: &[SliceResolution], mask: Vec<ResolvedMask>) -> Self {
        let slices = item.custom_slices.iter().zip(slices);
        Self { item: item.into(), slices: slices.map(ResolvedSlice::from).collect(), mask }
    }
}

impl From<(&Slice, &SliceResolution)> for ResolvedSlice {
    fn from((slice, resolution): (&Slice, &SliceResolution)) -> Self {
        let SliceResolution { status, start_line, end_line, reason } = resolution;
        Self {
            tag: slice.tag.clone(),
            comment: slice.comment.clone(),
            resolved: SlicePosition {
                status: status.name().to_owned(),
                start_line: *start_line,
                end_line: *end_line,
                reason: reason.clone(),
            },
        }
    }
}

impl SavedPreset {
    pub fn new(preset: &Preset, origin: String) -> Self {
        Self { preset: preset.into(), origin }
    }
}

impl SavedPersona {
    pub fn new(persona: &Persona, origin: String) -> Self {
        Self { persona: persona.into(), origin }
    }
}
