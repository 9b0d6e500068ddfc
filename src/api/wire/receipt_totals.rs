//! The sums of a receipt: over all files, and by folder.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::scalars::wire_path;
use crate::model::{FileDetails, Receipt, RelPath, ViewMode};

/// Sums over the files of a document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptTotals {
    /// The number of files in the document, in any view.
    pub files: u64,
    /// The number of files in each view.
    pub views: BTreeMap<String, u64>,
    /// The number of files that are not in it, by reason.
    pub left_out: BTreeMap<String, u64>,
    /// The number of files in the document that are replaced by an error.
    pub errors: u64,
    /// The lines of the files in the document.
    pub lines: u64,
    /// Their size in bytes.
    pub size: u64,
    /// Size of their blocks in bytes.
    pub bytes: u64,
    /// Size of their blocks in tokens.
    pub tokens: u64,
    /// The symbols of the files with a block, by kind; absent if they were not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub symbols: BTreeMap<String, u64>,
}

/// Sums over the files of a folder, without those of the folders in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReceiptGroup {
    /// The folder, relative to the project's; empty for the project's own.
    pub folder: String,
    /// The number of its files in the document, in any view.
    pub files: u64,
    /// The number of those of which more than the name is shown.
    pub shown: u64,
    /// The number of its files that are not in the document.
    pub left_out: u64,
    /// The lines of its files in the document.
    pub lines: u64,
    /// Their size in bytes.
    pub size: u64,
    /// Size of their blocks in bytes.
    pub bytes: u64,
    /// Size of their blocks in tokens.
    pub tokens: u64,
}

impl ReceiptTotals {
    /// Returns of how many files only the name is shown.
    pub fn named(&self) -> u64 {
        [ViewMode::Names, ViewMode::Path].iter().filter_map(|view| self.views.get(view.name())).sum()
    }
}

impl From<&Receipt> for ReceiptTotals {
    fn from(receipt: &Receipt) -> Self {
        let mut totals = Self::default();
        for entry in &receipt.files {
            totals.bytes += entry.bytes;
            totals.tokens += entry.tokens;
            if entry.is_repeated {
                continue;
            }
            totals.files += 1;
            let FileDetails { size, lines, .. } = entry.details;
            *totals.views.entry(entry.view.name().to_owned()).or_default() += 1;
            totals.errors += u64::from(entry.error().is_some());
            totals.lines += lines.map_or(0, u64::from);
            totals.size += size.unwrap_or(0);
        }
        for omitted in &receipt.omitted {
            *totals.left_out.entry(omitted.reason.name().to_owned()).or_default() += 1;
        }
        let symbols = receipt.symbols.iter().map(|(kind, count)| (kind.name().to_owned(), *count));
        totals.symbols = symbols.collect();
        totals
    }
}

/// Returns the sums of each of these folders.
pub(super) fn folder_groups(receipt: &Receipt, folders: &BTreeSet<&[u8]>) -> Vec<ReceiptGroup> {
    let mut groups: BTreeMap<&[u8], ReceiptGroup> = BTreeMap::new();
    for entry in &receipt.files {
        let group = groups.entry(entry.path.parent()).or_default();
        group.bytes += entry.bytes;
        group.tokens += entry.tokens;
        if entry.is_repeated {
            continue;
        }
        let FileDetails { size, lines, .. } = entry.details;
        group.files += 1;
        group.shown += u64::from(!matches!(entry.view, ViewMode::Names | ViewMode::Path));
        group.lines += lines.map_or(0, u64::from);
        group.size += size.unwrap_or(0);
    }
    for omitted in &receipt.omitted {
        groups.entry(omitted.path.parent()).or_default().left_out += 1;
    }
    let listed = groups.into_iter().filter(|(folder, _)| folders.contains(folder));
    listed.map(|(folder, group)| ReceiptGroup { folder: folder_text(folder), ..group }).collect()
}

fn folder_text(folder: &[u8]) -> String {
    RelPath::new(folder).map_or_else(|_| String::new(), |path| wire_path(&path).0)
}
