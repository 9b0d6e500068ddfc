//! The rows of a table, by folder and then by name.

use rustc_hash::FxHashMap;

use crate::engine::document::FilePlacement;
use crate::engine::index::{FileStatus, Freshness};
use crate::model::{RelPath, Tier};

/// The files of a table, in the order of its rows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableNames {
    pub paths: Vec<RelPath>,
}

/// One file in a table.
#[derive(Debug, Clone, PartialEq)]
pub struct TableRow {
    pub state: Freshness,
    /// The id of its type; `None` if it is not text.
    pub language: Option<&'static str>,
    pub placement: FilePlacement,
    pub bytes: u64,
    pub lines: u32,
    /// The tiers for which a model has summarized its content.
    pub written_for: Vec<Tier>,
}

/// The totals of all files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TableTotals {
    pub tokens: u64,
    pub bytes: u64,
    pub budget_tokens: Option<u64>,
}

impl TableNames {
    /// Returns the names of files with these paths, and their positions among them. The paths are sorted, so that those
    /// of one folder are sorted by name.
    pub(super) fn from_files<'f>(files: impl Iterator<Item = &'f RelPath>) -> (Self, Vec<usize>) {
        let files: Vec<&RelPath> = files.collect();
        let mut folders: FxHashMap<&[u8], Vec<usize>> = FxHashMap::default();
        for (at, file) in files.iter().enumerate() {
            folders.entry(file.parent()).or_default().push(at);
        }
        let mut folders: Vec<(&[u8], Vec<usize>)> = folders.into_iter().collect();
        folders.sort_unstable_by_key(|(folder, _)| *folder);
        let order: Vec<usize> = folders.into_iter().flat_map(|(_, files)| files).collect();
        let paths = order.iter().map(|at| files[*at].clone()).collect();
        (Self { paths }, order)
    }
}

/// Returns the rows of files in the order given by their positions.
pub(super) fn rows_in_order(
    files: Vec<FileStatus>,
    order: &[usize],
    placements: Vec<FilePlacement>,
) -> Vec<TableRow> {
    let mut rows: Vec<Option<TableRow>> =
        files.into_iter().zip(placements).map(|(file, placement)| Some(row(file, placement))).collect();
    order.iter().filter_map(|at| rows[*at].take()).collect()
}

/// Returns the row of a file.
pub(super) fn row(file: FileStatus, placement: FilePlacement) -> TableRow {
    TableRow {
        state: file.freshness,
        language: file.content.map(|(_, file_type)| file_type.id),
        placement,
        bytes: file.size.unwrap_or_default(),
        lines: file.lines.unwrap_or_default(),
        written_for: file.written_for,
    }
}

impl TableRow {
    /// Returns whether the file has a text.
    pub(super) const fn has_text(&self) -> bool {
        !matches!(self.state, Freshness::LeftOut(_))
    }
}
