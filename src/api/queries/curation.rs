//! Questions about what people curate in `slop.toml`, and edits of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::api::choices::MaskName;
use crate::api::inline_curation::{ITEM_VIEWS, ViewName, item_view, nonempty_text, tier_number};

/// Asks for what is curated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurationQuery {}

/// Edits of what is curated: all of them are made, one after the other, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "CurationEditAsk")]
pub struct EditCurationQuery {
    /// The `revision` of the answer that the edits were made from. If `slop.toml` has another one, nothing is written.
    pub revision: String,
    /// What the edits are for, for a person.
    #[serde(default)]
    pub label: String,
    /// The edits.
    pub edits: Vec<CurationEdit>,
    /// Whether to return only what would be written.
    #[serde(default)]
    pub dry_run: bool,
}

/// One edit: an object with one key, which says what is done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CurationEdit {
    /// Set and remove keys of the entries for files. Entries are added where there are none, one for a folder of which
    /// all files are selected.
    Set(SetEdit),
    /// Remove the entries for files, and those for what is in folders.
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
    /// Replace all entries with those of a preset of the project; files that are gone are left out.
    PresetApply(PresetEdit),
    /// Delete a preset of the project.
    PresetDelete(PresetEdit),
    /// Change the images that every document of the project has.
    Screenshots(ScreenshotsEdit),
    /// Change what documents are made for where a request leaves it open.
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
    /// The keys to remove. An entry of which nothing but its path is left is removed.
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

/// A selection of files: either `paths`, or `rows` with the `clock` of the table that they are counted in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(extend("examples" = [{"paths": ["text"]}]))]
pub struct FileSelect {
    /// Files, folders or patterns, or paths as they are written in entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The `clock` of an answer of `/v1/table`. If files came or went since, the edit is refused.
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
    /// Returns the key as it is written.
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

/// A slice to change; what is left out stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SliceChangeEdit {
    /// The path of the entry.
    pub path: String,
    /// Its place among the entry's slices, counted from 0, as the edits before this one left them.
    pub index: usize,
    /// The first line of the file as it is now, counted from 1; together with `end_line`.
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
    /// Its place among the entry's slices, counted from 0, as the edits before this one left them.
    pub index: usize,
}

/// Symbols to show in another way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MaskEdit {
    /// A file or a pattern.
    pub path: String,
    /// How to show symbols, by their names as in outlines. Each has to exist.
    #[serde(default)]
    pub set: BTreeMap<String, MaskName>,
    /// The symbols to take off the mask, as they are written there.
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
    /// What it is for; by default as it was.
    #[serde(default)]
    pub description: String,
    /// The paths of its files; by default, all entries are saved.
    #[serde(default)]
    pub files: Vec<String>,
    /// Whether one of that name may be overwritten.
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

/// Images to add, to remove and to put in order.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ScreenshotsEdit {
    /// Paths of images in the project, or patterns, to put at the end.
    pub add: Vec<String>,
    /// Those to remove.
    pub remove: Vec<String>,
    /// Those that come first then, in this order.
    pub order: Vec<String>,
}

/// What documents are made for where a request leaves it open.
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
    /// The keys to set. A tier takes the place of a persona, and the other way round.
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
    /// Returns the key as it is written.
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

/// Asks for the states that `slop.toml` had in a take.
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
    /// The revision that `slop.toml` has; if it has another one, nothing is written.
    pub revision: String,
    /// What to do.
    #[serde(rename = "do")]
    pub action: TakeAction,
    /// The name of the take.
    pub name: String,
    /// For `create`, the take that is copied; by default the current one.
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
    /// Make one with the curation of another.
    Create,
    /// Make it the current one.
    Switch,
    /// Give it another name.
    Rename,
    /// Delete it.
    Delete,
}

/// Returns `slop.toml` to its state before the last edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "UndoAsk")]
pub struct UndoQuery {
    /// The revision that `slop.toml` has; if it has another one, nothing is written.
    pub revision: String,
}

/// Returns `slop.toml` to the newest state after the current one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "RedoAsk")]
pub struct RedoQuery {
    /// The revision that `slop.toml` has; if it has another one, nothing is written.
    pub revision: String,
}

/// Returns `slop.toml` to any state that it had.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "JumpAsk")]
pub struct JumpQuery {
    /// The revision that `slop.toml` has; if it has another one, nothing is written.
    pub revision: String,
    /// The `id` of the state.
    pub to: i64,
}
