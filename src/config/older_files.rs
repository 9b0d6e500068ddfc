//! The files in an older project file: `[files]` with a list of `paths` instead of one `[[files]]` for each, and
//! `[screenshots]` with such a list instead of the plain list.

use std::collections::HashMap;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::curation::{read_items, tier_number};
use super::error::Error;
use super::section::{SettingsSource, TomlSection};
use crate::model::{FileItem, Tier, normalized_path};

const KEYS: [&str; 3] = ["paths", "base_dir", "tier_assignments"];
const WANTED: &str = "a table with paths";

/// Returns whether the value of `files` or `screenshots` is of the older form.
pub(super) fn has_paths(value: &Spanned<DeValue<'_>>) -> bool {
    value.get_ref().as_table().is_some_and(|table| table.contains_key("paths"))
}

/// Renames settings that had a different name.
pub(super) fn move_settings(top: &mut DeTable<'_>) {
    let folder = top.get_mut("output").and_then(|output| match output.get_mut() {
        DeValue::Table(output) => output.remove_entry("output_dir"),
        _ => None,
    });
    if let (Some((name, folder)), Some(project)) = (folder, top.get_mut("project"))
        && let DeValue::Table(project) = project.get_mut()
    {
        project.entry(name).or_insert(folder);
    }
}

/// Reads the files, in their order. A file with an invalid value is left out.
pub(super) fn read<'s>(
    source: &'s SettingsSource<'s>,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<Vec<FileItem>, Error> {
    let section = TomlSection::new(source, "files".to_owned(), value, WANTED)?;
    section.warn_unknown_keys(&KEYS);
    let base = source.or_leave_out(section.text("base_dir")).flatten().unwrap_or_default();
    let tiers = source.or_leave_out(assigned_tiers(&section)).unwrap_or_default();
    let moved = read_items(&section, "paths")?.into_iter().map(|item| {
        let tier = item.tier.or_else(|| tiers.get(&item.path).copied());
        FileItem { path: below(&base, &item.path), tier, ..item }
    });
    Ok(moved.collect())
}

/// Reads the screenshots, in their order.
pub(super) fn read_screenshots<'s>(
    source: &'s SettingsSource<'s>,
    value: &'s Spanned<DeValue<'s>>,
) -> Result<Vec<String>, Error> {
    let section = TomlSection::new(source, "screenshots".to_owned(), value, WANTED)?;
    section.warn_unknown_keys(&["paths", "base_dir"]);
    let base = section.text("base_dir")?.unwrap_or_default();
    Ok(section.strings("paths")?.iter().map(|path| below(&base, path)).collect())
}

/// Returns the tiers assigned to files, by their paths in `paths`.
fn assigned_tiers(section: &TomlSection<'_>) -> Result<HashMap<String, Tier>, Error> {
    let Some(assigned) = section.subsection("tier_assignments", "a table from paths to tiers")? else {
        return Ok(HashMap::new());
    };
    let tier = |name: &str| Ok((name.to_owned(), tier_number(&assigned, name)?));
    let tiers = assigned.entries().into_iter().filter_map(|(name, _)| {
        let (path, tier) = section.source.or_leave_out(tier(name.get_ref()))?;
        Some((path, tier?))
    });
    Ok(tiers.collect())
}

/// Returns a path relative to the project's folder; `base` is the base folder that the older file specifies.
fn below(base: &str, path: &str) -> String {
    let base = normalized_path(base);
    if path.starts_with('/') || base.is_empty() || base == "." {
        return path.to_owned();
    }
    format!("{}/{path}", base.trim_end_matches('/'))
}
