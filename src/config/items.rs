//! File items as they are written, with their masks and slices.

use toml::Spanned;
use toml::de::DeValue;

use super::Error;
use super::section::TomlSection;
use super::section::string_list;
use crate::model::ContentHash;
use crate::model::FileItem;
use crate::model::MaskMode;
use crate::model::Slice;
use crate::model::SliceAnchors;
use crate::model::Tier;
use crate::model::ViewMode;

/// What an item may be, in words.
pub(super) const ITEM: &str = "a table with a path";

/// The keys of an item.
pub(super) const ITEM_KEYS: [&str; 11] = [
    "path",
    "auto_aggregate",
    "force_full",
    "view_mode",
    "selected",
    "ast_signatures",
    "ast_definitions",
    "ast_mask",
    "tier",
    "injected_at",
    "custom_slices",
];

/// The keys of a slice.
const SLICE_KEYS: [&str; 11] = [
    "start_line",
    "end_line",
    "tag",
    "comment",
    "content_hash",
    "start_context",
    "end_context",
    "anchor_lines",
    "line_hashes",
    "unique_lines",
    "copies",
];

/// Reads an item that may be written as its path alone.
pub(super) fn read_item_or_path<'s>(
    section: &TomlSection<'s>,
    key: &str,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<FileItem, Error> {
    match value.get_ref() {
        DeValue::String(path) if !path.is_empty() && !path.contains('\0') => {
            Ok(FileItem::plain(path.as_ref()))
        }
        _ => read_item(&TomlSection::new(
            section.source,
            key.to_owned(),
            value,
            "a path or a table with a path",
        )?),
    }
}

/// Reads an item.
pub(super) fn read_item(section: &TomlSection<'_>) -> Result<FileItem, Error> {
    section.warn_unknown_keys(&ITEM_KEYS);
    let plain = FileItem::plain(section.required_text("path", "a path or a pattern")?);
    let key = section.dotted_key("custom_slices");
    let slices = section.values("custom_slices", "a list of tables, each with its lines")?;
    let slice =
        |value| read_slice(&TomlSection::new(section.source, key.clone(), value, "a table with its lines")?);
    Ok(FileItem {
        auto_aggregate: section.boolean("auto_aggregate", plain.auto_aggregate)?,
        force_full: section.boolean("force_full", plain.force_full)?,
        view_mode: section.choice("view_mode", &view_modes())?,
        selected: section.boolean("selected", plain.selected)?,
        ast_signatures: section.boolean("ast_signatures", plain.ast_signatures)?,
        ast_definitions: section.boolean("ast_definitions", plain.ast_definitions)?,
        ast_mask: read_mask(section)?,
        tier: read_tier(section)?,
        injected_at: section.float("injected_at", "seconds since the epoch", f64::MAX)?,
        custom_slices: slices.into_iter().map(slice).collect::<Result<_, _>>()?,
        ..plain
    })
}

/// A window is about a line, which an item has no way to name.
fn view_modes() -> Vec<(&'static str, ViewMode)> {
    let modes = ViewMode::ALL.into_iter().filter(|mode| *mode != ViewMode::Window);
    modes.map(|mode| (mode.name(), mode)).collect()
}

/// Reads the tier of an item or a persona.
pub(super) fn read_tier(section: &TomlSection<'_>) -> Result<Option<Tier>, Error> {
    let number = section.integer("tier", 1..=4)?;
    Ok(number.and_then(|number| u8::try_from(number).ok()).and_then(Tier::from_number))
}

fn read_mask(section: &TomlSection<'_>) -> Result<Vec<(String, MaskMode)>, Error> {
    let Some(mask) =
        section.subsection("ast_mask", "a table from symbols to \"def\", \"sig\" or \"hide\"")?
    else {
        return Ok(Vec::new());
    };
    let mode = |(name, value): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)| {
        let name = name.get_ref().as_ref();
        let allowed = match value.get_ref() {
            // `Engine.run = "def"` is an easy slip.
            DeValue::Table(_) => "a mode; a name with a dot in it stands in quotes",
            _ => "\"def\", \"sig\" or \"hide\"",
        };
        let mode = value.get_ref().as_str().and_then(MaskMode::from_name);
        let mode = mode.ok_or_else(|| section.source.invalid(&mask.dotted_key(name), value, allowed))?;
        Ok((name.to_owned(), mode))
    };
    mask.entries().into_iter().map(mode).collect()
}

fn read_slice(section: &TomlSection<'_>) -> Result<Slice, Error> {
    section.warn_unknown_keys(&SLICE_KEYS);
    let start_line = section.required_integer("start_line", 1..=u32::MAX)?;
    let end_line = section.required_integer("end_line", start_line..=u32::MAX)?;
    let (old_before, old_after) = read_old_anchors(section)?;
    let or_old = |new: Vec<String>, old| if new.is_empty() { old } else { new };
    let (unique_before, unique_after) = match section.subsection("unique_lines", BEFORE_AFTER)? {
        Some(unique) => read_before_after(&unique)?,
        None => (Vec::new(), Vec::new()),
    };
    let hash = |value: &DeValue<'_>| value.as_str().and_then(|text| text.parse::<ContentHash>().ok());
    Ok(Slice {
        start_line,
        end_line,
        tag: section.text("tag")?.unwrap_or_default(),
        comment: section.text("comment")?.unwrap_or_default(),
        anchors: SliceAnchors {
            content_hash: section.read("content_hash", "a SHA-256 of 64 hex digits", hash)?,
            before: or_old(section.strings("start_context")?, old_before),
            after: or_old(section.strings("end_context")?, old_after),
            line_hashes: section.strings("line_hashes")?,
            unique_before,
            unique_after,
            copies: section.integer("copies", 0..=u32::MAX)?.unwrap_or(0),
        },
    })
}

const BEFORE_AFTER: &str = "a table of two lists of strings, { before = […], after = […] }";

/// Reads the older spelling of anchors: the lines before the slice, or those before and after it.
fn read_old_anchors(section: &TomlSection<'_>) -> Result<(Vec<String>, Vec<String>), Error> {
    let name = "anchor_lines";
    if section.value(name).is_some_and(|value| value.get_ref().is_table()) {
        return section
            .subsection(name, BEFORE_AFTER)?
            .map_or(Ok(Default::default()), |both| read_before_after(&both));
    }
    let before = section.read(name, "a list of strings, or { before = […], after = […] }", string_list)?;
    Ok((before.unwrap_or_default(), Vec::new()))
}

fn read_before_after(section: &TomlSection<'_>) -> Result<(Vec<String>, Vec<String>), Error> {
    section.warn_unknown_keys(&["before", "after"]);
    Ok((section.strings("before")?, section.strings("after")?))
}
