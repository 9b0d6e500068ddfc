//! Questions about the curation in `slop.toml`, and edits of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::choices::MaskName;
use crate::api::inline_curation::{ITEM_VIEWS, ViewName, item_view, nonempty_text, tier_number};

/// Asks for the curation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurationQuery {}

/// Edits of the curation: all of them are made, in order, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CurationEditAsk")]
pub struct EditCurationQuery {
    /// The `revision` of the answer on which the edits are based. If that of `slop.toml` differs, nothing is written.
    pub revision: String,
    /// A description of the edits for the history.
    #[serde(default)]
    pub label: String,
    /// The edits.
    pub edits: Vec<CurationEdit>,
    /// Whether to return only what would be written.
    #[serde(default)]
    pub dry_run: bool,
}

/// One edit: an object whose only key is the action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CurationEdit {
    /// Set and remove keys of the entries for files. Missing entries are added, one for a folder if all its files are
    /// selected.
    Set(SetEdit),
    /// Remove the entries for files, and those for the content of folders.
    Remove(RemoveEdit),
    /// Mark lines of a file.
    SliceAdd(SliceAddEdit),
    /// Change a slice.
    SliceChange(SliceChangeEdit),
    /// Remove a slice.
    SliceRemove(SliceRemoveEdit),
    /// Choose how symbols of a file are shown.
    Mask(MaskEdit),
    /// Save entries as a preset of the project.
    PresetSave(PresetSaveEdit),
    /// Replace all entries with those of a preset of the project; missing files are left out.
    PresetApply(PresetEdit),
    /// Delete a preset of the project.
    PresetDelete(PresetEdit),
    /// Change the images that every document of the project contains.
    Screenshots(ScreenshotsEdit),
    /// Change the defaults of requests for documents.
    Document(DocumentEdit),
}

/// Keys to set and to remove.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetEdit {
    /// The files.
    pub files: FileSelect,
    /// The keys to set.
    #[serde(default)]
    pub to: ItemKeys,
    /// The keys to remove. An entry with only its path left is removed.
    #[serde(default)]
    pub unset: Vec<ItemKeyName>,
}

/// Entries to remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoveEdit {
    /// The files.
    pub files: FileSelect,
}

/// A selection of files: either `paths`, or `rows` with the `clock` of their table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("examples" = [{"paths": ["text"]}]))]
pub struct FileSelect {
    /// Files, folders or patterns, or paths as they are written in entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The `clock` of an answer of `/v1/table`. If files were added or removed since, the edit is rejected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// The first and the last row of each run of rows, counted from 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<(usize, usize)>,
}

/// Keys of an entry, with their values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ItemKeys {
    /// `false`: leave it out of documents; `true`: the tier decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auto_aggregate: Option<bool>,
    /// Show it in full, regardless of tier and budget.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub force_full: Option<bool>,
    /// The view.
    #[serde(deserialize_with = "item_view", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", extend("enum" = ITEM_VIEWS))]
    pub view_mode: Option<ViewName>,
    /// Kept for other programs; slop ignores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selected: Option<bool>,
    /// Show the signatures of all symbols.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ast_signatures: Option<bool>,
    /// Show the definitions of all symbols.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ast_definitions: Option<bool>,
    /// 3: show it in full in documents for tier 3.
    #[serde(deserialize_with = "tier_number", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// Kept for other programs; slop ignores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub injected_at: Option<f64>,
}

/// A key of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ItemKeyName {
    AutoAggregate,
    ForceFull,
    ViewMode,
    Selected,
    AstSignatures,
    AstDefinitions,
    AstMask,
    Tier,
    InjectedAt,
    CustomSlices,
}

impl ItemKeyName {
    /// Returns the key in `slop.toml`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::AutoAggregate => "auto_aggregate",
            Self::ForceFull => "force_full",
            Self::ViewMode => "view_mode",
            Self::Selected => "selected",
            Self::AstSignatures => "ast_signatures",
            Self::AstDefinitions => "ast_definitions",
            Self::AstMask => "ast_mask",
            Self::Tier => "tier",
            Self::InjectedAt => "injected_at",
            Self::CustomSlices => "custom_slices",
        }
    }
}

/// Lines to mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceAddEdit {
    /// A file.
    pub path: String,
    /// The first line, counted from 1.
    pub start_line: u32,
    /// The last line, inclusive.
    pub end_line: u32,
    /// A short name.
    #[serde(default)]
    pub tag: String,
    /// Why the lines matter.
    #[serde(default)]
    pub comment: String,
}

/// A slice to change; omitted keys are unchanged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceChangeEdit {
    /// The path of the entry.
    pub path: String,
    /// Its index among the entry's slices, counted from 0, after the preceding edits.
    pub index: usize,
    /// The first line in the current file, counted from 1; requires `end_line`.
    #[serde(default)]
    pub start_line: Option<u32>,
    /// The last line, inclusive.
    #[serde(default)]
    pub end_line: Option<u32>,
    /// A short name; empty for none.
    #[serde(default)]
    pub tag: Option<String>,
    /// Why the lines matter; empty for nothing.
    #[serde(default)]
    pub comment: Option<String>,
}

/// A slice to remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceRemoveEdit {
    /// The path of the entry.
    pub path: String,
    /// Its index among the entry's slices, counted from 0, after the preceding edits.
    pub index: usize,
}

/// A change of a mask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskEdit {
    /// A file or a pattern.
    pub path: String,
    /// How to show symbols, by their names as in outlines. Each has to exist.
    #[serde(default)]
    pub set: BTreeMap<String, MaskName>,
    /// The symbols to remove from the mask, as written there.
    #[serde(default)]
    pub unset: Vec<String>,
}

/// A preset to save.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PresetSaveEdit {
    /// Its name.
    #[serde(deserialize_with = "nonempty_text")]
    #[schemars(length(min = 1))]
    pub name: String,
    /// Its description; by default unchanged.
    #[serde(default)]
    pub description: String,
    /// The paths of its files; by default, all entries are saved.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether an existing preset may be overwritten.
    #[serde(default)]
    pub overwrite: bool,
}

/// A preset by its name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PresetEdit {
    /// Its name.
    pub name: String,
}

/// Images to add, to remove and to reorder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScreenshotsEdit {
    /// Paths of images in the project, or patterns, to append.
    pub add: Vec<String>,
    /// The images to remove.
    pub remove: Vec<String>,
    /// The images to move to the front, in this order.
    pub order: Vec<String>,
}

/// The defaults of requests for documents.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DocumentKeys {
    /// The tier, without a persona.
    #[serde(deserialize_with = "tier_number", skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// The name of a persona, without a tier.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub persona: Option<String>,
    /// The name of a preset.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Files to focus on: a path, a name, part of a path, a pattern, `path:line` or `path:4-9`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub focus: Vec<String>,
    /// The most tokens; 0 for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_tokens: Option<u64>,
}

/// Keys of `[document]` to set and to remove.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DocumentEdit {
    /// The keys to set. A tier replaces a persona, and vice versa.
    #[serde(default)]
    pub to: DocumentKeys,
    /// The keys to remove.
    #[serde(default)]
    pub unset: Vec<DocumentKeyName>,
}

/// A key of `[document]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKeyName {
    Tier,
    Persona,
    Preset,
    Focus,
    BudgetTokens,
}

impl DocumentKeyName {
    /// Returns the key in `slop.toml`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Tier => "tier",
            Self::Persona => "persona",
            Self::Preset => "preset",
            Self::Focus => "focus",
            Self::BudgetTokens => "budget_tokens",
        }
    }
}

/// Asks for the earlier states of `slop.toml` in a take.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "HistoryAsk")]
pub struct HistoryQuery {
    /// The name of the take; by default the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub take: Option<String>,
}

/// Asks for the takes of the project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TakesQuery {}

/// Changes the takes of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TakesEditAsk")]
pub struct EditTakesQuery {
    /// The expected revision of `slop.toml`; if it differs, nothing is written.
    pub revision: String,
    /// What to do.
    #[serde(rename = "do")]
    pub action: TakeAction,
    /// The name of the take.
    pub name: String,
    /// For `create`, the take to copy; by default the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// For `rename`, the new name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// For `delete`, whether curated entries may be lost.
    #[serde(default)]
    pub force: bool,
}

/// What to do with a take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TakeAction {
    /// Create a copy of another take.
    Create,
    /// Make it the current one.
    Switch,
    /// Rename it.
    Rename,
    /// Delete it.
    Delete,
}

/// Restores `slop.toml` to its state before the last edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UndoAsk")]
pub struct UndoQuery {
    /// The expected revision of `slop.toml`; if it differs, nothing is written.
    pub revision: String,
}

/// Restores `slop.toml` to the newest state after the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RedoAsk")]
pub struct RedoQuery {
    /// The expected revision of `slop.toml`; if it differs, nothing is written.
    pub revision: String,
}

/// Restores `slop.toml` to any earlier state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JumpAsk")]
pub struct JumpQuery {
    /// The expected revision of `slop.toml`; if it differs, nothing is written.
    pub revision: String,
    /// The `id` of the state.
    pub to: i64,
}
