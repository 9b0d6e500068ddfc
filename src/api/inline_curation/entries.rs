//! Entries for files, with the keys of `[[files]]`, and their slices.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::sources::NameOrInline;
use super::views::{ITEM_VIEWS, ViewName, item_view, tier_number};
use crate::api::choices::MaskName;
use crate::model::{ContentHash, FileItem, Slice, SliceAnchors, Tier};

/// An entry for a file, a folder or a pattern, with the keys of `[[files]]` in `slop.toml`.
#[expect(clippy::struct_excessive_bools, reason = "each is a key of `[[files]]` of its own")]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ItemEntry {
    /// A file, a folder or a pattern: relative to the project's folder, or absolute.
    #[serde(deserialize_with = "nonempty_text")]
    #[schemars(length(min = 1))]
    pub path: String,
    /// `false`: leave it out of documents.
    #[serde(default = "yes")]
    pub auto_aggregate: bool,
    /// Show it in full, regardless of tier and budget.
    #[serde(default)]
    pub force_full: bool,
    /// The view; by default, the tier decides.
    #[serde(default, deserialize_with = "item_view")]
    #[schemars(with = "Option<String>", extend("enum" = ITEM_VIEWS))]
    pub view_mode: Option<ViewName>,
    /// Kept for other programs; slop ignores it.
    #[serde(default)]
    pub selected: bool,
    /// Show the signatures of all symbols.
    #[serde(default)]
    pub ast_signatures: bool,
    /// Show the definitions of all symbols.
    #[serde(default)]
    pub ast_definitions: bool,
    /// How to show single symbols, by their names as in outlines.
    #[serde(default)]
    pub ast_mask: BTreeMap<String, MaskName>,
    /// 3: show it in full in documents for tier 3.
    #[serde(default, deserialize_with = "tier_number")]
    #[schemars(range(min = 1, max = 4))]
    pub tier: Option<u8>,
    /// Kept for other programs; slop ignores it.
    #[serde(default)]
    pub injected_at: Option<f64>,
    /// Lines to show, and nothing else of the file.
    #[serde(default)]
    pub custom_slices: Vec<SliceEntry>,
}

impl ItemEntry {
    /// Returns an entry with only defaults.
    pub fn new(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            auto_aggregate: yes(),
            force_full: false,
            view_mode: None,
            selected: false,
            ast_signatures: false,
            ast_definitions: false,
            ast_mask: BTreeMap::new(),
            tier: None,
            injected_at: None,
            custom_slices: Vec::new(),
        }
    }
}

/// A range of lines that is tracked across edits, as `slop slice make` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "SliceFields", into = "SliceFields")]
pub struct SliceEntry(SliceFields);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "SliceEntry")]
struct SliceFields {
    /// The first line, counted from 1.
    start_line: NonZeroU32,
    /// The last line, inclusive.
    end_line: NonZeroU32,
    /// A short name.
    tag: Option<String>,
    /// Why the lines matter.
    comment: Option<String>,
    /// The SHA-256 of the text.
    content_hash: Option<String>,
    /// The lines before it.
    start_context: Option<Vec<String>>,
    /// The lines after it.
    end_context: Option<Vec<String>>,
    /// The older form of both: the lines before it, or an object with `before` and `after`.
    #[serde(skip_serializing_if = "Option::is_none")]
    anchor_lines: Option<AnchorLines>,
    /// A short hash for each line.
    line_hashes: Option<Vec<String>>,
    /// The nearest lines that occur once in the file.
    unique_lines: Option<ContextSides>,
    /// How often the text occurred in the file.
    copies: Option<u32>,
}

/// The lines on both sides of a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
struct ContextSides {
    // A missing side is not an error, because the file may begin or end there.
    before: Option<Vec<String>>,
    after: Option<Vec<String>>,
}

/// The form in which older systems wrote contexts: only the lines before the slice, or both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum AnchorLines {
    Before(Vec<String>),
    Sides(ContextSides),
}

impl AnchorLines {
    fn into_sides(self) -> ContextSides {
        match self {
            Self::Before(before) => ContextSides { before: Some(before), after: None },
            Self::Sides(sides) => sides,
        }
    }
}

impl TryFrom<SliceFields> for SliceEntry {
    type Error = String;

    fn try_from(fields: SliceFields) -> Result<Self, String> {
        let SliceFields { start_line, end_line, .. } = fields;
        if end_line < start_line {
            return Err(format!("`end_line` {end_line} is before `start_line` {start_line}"));
        }
        Ok(Self(fields))
    }
}

impl From<SliceEntry> for SliceFields {
    fn from(slice: SliceEntry) -> Self {
        slice.0
    }
}

impl From<SliceEntry> for Slice {
    fn from(slice: SliceEntry) -> Self {
        let written = slice.0;
        // As in the settings, the older form counts if the newer one is missing or empty.
        let old = written.anchor_lines.map_or_else(ContextSides::default, AnchorLines::into_sides);
        let or_old = |new: Option<Vec<String>>, old: Option<Vec<String>>| {
            new.filter(|lines| !lines.is_empty()).or(old).unwrap_or_default()
        };
        let unique = written.unique_lines.unwrap_or_default();
        Self {
            start_line: written.start_line.get(),
            end_line: written.end_line.get(),
            tag: written.tag.unwrap_or_default(),
            comment: written.comment.unwrap_or_default(),
            anchors: SliceAnchors {
                // Other programs store different hashes here: such a slice is found by its anchors.
                content_hash: written.content_hash.and_then(|hash| hash.parse::<ContentHash>().ok()),
                before: or_old(written.start_context, old.before),
                after: or_old(written.end_context, old.after),
                line_hashes: written.line_hashes.unwrap_or_default(),
                unique_before: unique.before.unwrap_or_default(),
                unique_after: unique.after.unwrap_or_default(),
                copies: written.copies.unwrap_or_default(),
            },
        }
    }
}

impl From<&Slice> for SliceEntry {
    fn from(slice: &Slice) -> Self {
        // The lines of an existing slice are counted from 1.
        let line = |line: u32| NonZeroU32::new(line).unwrap_or(NonZeroU32::MIN);
        let anchors = &slice.anchors;
        Self(SliceFields {
            start_line: line(slice.start_line),
            end_line: line(slice.end_line),
            tag: Some(slice.tag.clone()),
            comment: Some(slice.comment.clone()),
            content_hash: anchors.content_hash.map(|hash| hash.to_string()),
            start_context: Some(anchors.before.clone()),
            end_context: Some(anchors.after.clone()),
            anchor_lines: None,
            line_hashes: Some(anchors.line_hashes.clone()),
            unique_lines: Some(ContextSides {
                before: Some(anchors.unique_before.clone()),
                after: Some(anchors.unique_after.clone()),
            }),
            copies: Some(anchors.copies),
        })
    }
}

impl From<&FileItem> for ItemEntry {
    fn from(item: &FileItem) -> Self {
        Self {
            path: item.path.clone(),
            auto_aggregate: item.auto_aggregate,
            force_full: item.force_full,
            view_mode: item.view_mode.map(ViewName),
            selected: item.selected,
            ast_signatures: item.ast_signatures,
            ast_definitions: item.ast_definitions,
            ast_mask: item.ast_mask.iter().map(|(symbol, show)| (symbol.clone(), (*show).into())).collect(),
            tier: item.tier.map(Tier::number),
            injected_at: item.injected_at,
            custom_slices: item.custom_slices.iter().map(Into::into).collect(),
        }
    }
}

impl From<ItemEntry> for FileItem {
    fn from(entry: ItemEntry) -> Self {
        Self {
            path: entry.path,
            auto_aggregate: entry.auto_aggregate,
            force_full: entry.force_full,
            view_mode: entry.view_mode.map(|view| view.0),
            selected: entry.selected,
            ast_signatures: entry.ast_signatures,
            ast_definitions: entry.ast_definitions,
            ast_mask: entry.ast_mask.into_iter().map(|(symbol, show)| (symbol, show.into())).collect(),
            tier: entry.tier.and_then(Tier::from_number),
            injected_at: entry.injected_at,
            custom_slices: entry.custom_slices.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<NameOrInline<ItemEntry>> for FileItem {
    fn from(file: NameOrInline<ItemEntry>) -> Self {
        match file {
            NameOrInline::Name(path) => Self::plain(path),
            NameOrInline::Inline(entry) => (*entry).into(),
        }
    }
}

/// Reads the files of a preset.
pub(super) fn paths_or_entries<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<NameOrInline<ItemEntry>>, D::Error> {
    /// A path that is checked while parsing, so that an error has its location.
    struct PathOrEntry(NameOrInline<ItemEntry>);

    impl<'de> Deserialize<'de> for PathOrEntry {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let file = NameOrInline::deserialize(deserializer)?;
            match &file {
                NameOrInline::Name(path) if !is_text(path) => Err(D::Error::custom(NO_TEXT)),
                NameOrInline::Name(_) | NameOrInline::Inline(_) => Ok(Self(file)),
            }
        }
    }

    let files = Vec::<PathOrEntry>::deserialize(deserializer)?;
    Ok(files.into_iter().map(|file| file.0).collect())
}

const NO_TEXT: &str = "expected a text that is not empty";

pub(in crate::api) fn nonempty_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if is_text(&text) { Ok(text) } else { Err(D::Error::custom(NO_TEXT)) }
}

/// Returns whether a text can be a path. No path contains a NUL, at which a system call would stop.
fn is_text(text: &str) -> bool {
    !text.is_empty() && !text.contains('\0')
}

const fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::api::located_json::convert_located;

    #[track_caller]
    fn refused(items: &Value) -> String {
        convert_located::<Vec<ItemEntry>>(items.clone()).unwrap_err().to_string()
    }

    #[test]
    fn the_error_of_an_entry_names_its_position_and_key() {
        let check = |items: Value, begins: &str| {
            let error = refused(&items);
            assert!(error.starts_with(begins), "{error}");
        };
        check(json!([{"path": "a"}, {"path": ""}]), "[1].path: expected a text");
        check(json!([{"view_mode": "full"}]), "[0]: missing field `path`");
        check(
            json!([{"path": "a", "view_mode": "window"}]),
            "[0].view_mode: unknown variant `window`, expected",
        );
        check(
            json!([{"path": "a", "ast_mask": {"A.b": "show"}}]),
            "[0].ast_mask.A.b: unknown variant `show`",
        );
        check(json!([{"path": "a", "tier": 5}]), "[0].tier: no tier 5");
        check(json!([{"path": "a", "forcefull": true}]), "[0].forcefull: unknown field `forcefull`");
        let slices =
            |slice: Value| json!([{"path": "a", "custom_slices": [{"start_line": 1, "end_line": 2}, slice]}]);
        check(slices(json!({"start_line": 0, "end_line": 2})), "[0].custom_slices[1].start_line: ");
        check(
            slices(json!({"start_line": 3, "end_line": 2})),
            "[0].custom_slices[1]: `end_line` 2 is before `start_line` 3",
        );
    }
}
