//! All files of a project with their states, as one document shows them; and what of that has changed since.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::aggregate::CuratedItems;
use crate::engine::index::{FileStatus, Freshness};
use crate::model::{FileItem, Omission, Receipt, RelPath, SkipReason, Tier, ViewMode};

/// How many tables are remembered, for changes since them.
const REMEMBERED: usize = 8;

/// A file in a table.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TableRow {
    pub path: RelPath,
    pub state: &'static str,
    /// Why it is left out.
    pub skipped: Option<SkipReason>,
    /// The id of its type; `None` if it has no text.
    pub language: Option<&'static str>,
    /// How it is shown; `None` if it is not.
    pub view: Option<ViewMode>,
    /// How it would be shown, had nothing stood in the way.
    pub wanted: Option<ViewMode>,
    /// The name of the rule that decided.
    pub rule: &'static str,
    /// Why it is not shown as wanted.
    pub why: String,
    /// Tokens of its block in the document.
    pub tokens: u64,
    /// The size of its content; 0 if it was never read.
    pub bytes: u64,
    /// The number of its lines; 0 if they were not counted.
    pub lines: u32,
    /// The tiers for which a model has summarized its content, as bits: tier 1 is the lowest.
    pub agent_tiers: u8,
    /// The path of the item that applies to it.
    pub item: Option<String>,
}

/// A table of all files, by folder and then by name.
#[derive(Debug)]
pub struct FileTable {
    pub version: TableVersion,
    pub rows: Vec<TableRow>,
    /// Tokens of the whole document.
    pub tokens: u64,
    pub budget_tokens: Option<u64>,
    /// Whether tokens were counted, and not estimated.
    pub is_exact: bool,
}

/// A digest of a table, by which a client names the one that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableVersion([u8; 16]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a version of a table: expected 32 hex digits")]
pub struct InvalidTableVersion;

impl fmt::Display for TableVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for TableVersion {
    type Err = InvalidTableVersion;

    fn from_str(text: &str) -> Result<Self, InvalidTableVersion> {
        let mut digest = [0; 16];
        if text.len() != 2 * digest.len() || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(InvalidTableVersion);
        }
        for (byte, at) in digest.iter_mut().zip((0..).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| InvalidTableVersion)?;
        }
        Ok(Self(digest))
    }
}

impl FileTable {
    /// Joins the states of all files with what a document shows of them.
    pub fn new(files: Vec<FileStatus>, receipt: &Receipt, items: &[FileItem], is_exact: bool) -> Self {
        let items = CuratedItems::new(items.to_vec());
        let mut rows: Vec<TableRow> = files.into_iter().map(|file| row(file, &items)).collect();
        rows.sort_by(|one, other| sort_key(&one.path).cmp(&sort_key(&other.path)));
        let find = |rows: &[TableRow], path: &RelPath| {
            rows.binary_search_by(|row| sort_key(&row.path).cmp(&sort_key(path))).ok()
        };
        for entry in &receipt.files {
            // A file that is gone has a block in a document of changes, and no row.
            let Some(at) = find(&rows, &entry.path) else { continue };
            let row = &mut rows[at];
            row.view = (entry.content.is_some() || entry.view == ViewMode::Path).then_some(entry.view);
            row.wanted = Some(entry.wanted);
            row.rule = entry.rule.name();
            row.why = entry.reason.clone().unwrap_or_default();
            row.tokens = entry.tokens;
            row.lines = entry.details.lines.unwrap_or(0);
        }
        for omitted in &receipt.omitted {
            let Some(at) = find(&rows, &omitted.path) else { continue };
            rows[at].why = omitted.reason.name().to_owned();
            rows[at].lines = omitted.details.lines.unwrap_or(0);
            if let Omission::Budget { wanted } = omitted.reason {
                rows[at].wanted = Some(wanted);
            }
        }
        let version = version(&rows, (receipt.tokens, receipt.budget_tokens), is_exact);
        Self { version, rows, tokens: receipt.tokens, budget_tokens: receipt.budget_tokens, is_exact }
    }

    /// Returns the rows that differ from those of an earlier table; `None` if files have come or gone since.
    pub fn changed_rows(&self, earlier: &Self) -> Option<Vec<usize>> {
        let has_same_files = self.rows.len() == earlier.rows.len()
            && self.rows.iter().zip(&earlier.rows).all(|(row, before)| row.path == before.path);
        let differs = |at: &usize| self.rows[*at] != earlier.rows[*at];
        has_same_files.then(|| (0..self.rows.len()).filter(differs).collect())
    }
}

/// The order of rows: the files of a folder are next to each other.
fn sort_key(path: &RelPath) -> (&[u8], &[u8]) {
    split_folder(path)
}

/// Returns the folder of a file, without the slash at its end, and the file's name.
pub fn split_folder(path: &RelPath) -> (&[u8], &[u8]) {
    let bytes = path.as_bytes();
    match bytes.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&bytes[..slash], &bytes[slash + 1..]),
        None => (b"", bytes),
    }
}

fn row(file: FileStatus, items: &CuratedItems) -> TableRow {
    let (state, skipped) = match file.freshness {
        Freshness::Fresh => ("fresh", None),
        Freshness::Stale => ("stale", None),
        Freshness::New => ("new", None),
        Freshness::LeftOut(reason) => ("left_out", Some(reason)),
    };
    let bit = |tier: &Tier| 1 << (tier.number() - 1);
    TableRow {
        item: items.find(&file.path).map(|item| item.path.clone()),
        state,
        skipped,
        language: file.content.map(|(_, file_type)| file_type.id),
        view: None,
        wanted: None,
        rule: "",
        why: skipped.map_or(String::new(), |reason| reason.name().to_owned()),
        tokens: 0,
        bytes: file.size.unwrap_or(0),
        lines: 0,
        agent_tiers: file.written_for.iter().map(bit).sum(),
        path: file.path,
    }
}

fn version(rows: &[TableRow], totals: (u64, Option<u64>), is_exact: bool) -> TableVersion {
    let mut digest = Sha256::new();
    // Rust's own hashers have 64 bits, too few to tell tables apart by; what they are fed is what counts here.
    let mut sink = DigestHasher(&mut digest);
    std::hash::Hash::hash(&(rows, totals, is_exact), &mut sink);
    let digest: [u8; 32] = digest.finalize().into();
    let [first, _] = digest.as_chunks::<16>().0 else { unreachable!("32 bytes are twice 16") };
    TableVersion(*first)
}

struct DigestHasher<'d>(&'d mut Sha256);

impl std::hash::Hasher for DigestHasher<'_> {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }
}

/// The newest tables of a project, whatever they were asked for.
#[derive(Debug, Default)]
pub(super) struct RecentTables(Mutex<VecDeque<Arc<FileTable>>>);

impl RecentTables {
    pub(super) fn find(&self, version: TableVersion) -> Option<Arc<FileTable>> {
        let tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tables.iter().find(|table| table.version == version).cloned()
    }

    pub(super) fn remember(&self, table: &Arc<FileTable>) {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tables.retain(|known| known.version != table.version);
        tables.push_front(Arc::clone(table));
        tables.truncate(REMEMBERED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, tokens: u64) -> TableRow {
        TableRow {
            path: RelPath::new(path.as_bytes()).unwrap(),
            state: "fresh",
            skipped: None,
            language: Some("c"),
            view: Some(ViewMode::Full),
            wanted: Some(ViewMode::Full),
            rule: "tier",
            why: String::new(),
            tokens,
            bytes: 3,
            lines: 1,
            agent_tiers: 0,
            item: None,
        }
    }

    fn table(rows: &[(&str, u64)]) -> FileTable {
        let rows: Vec<TableRow> = rows.iter().map(|(path, tokens)| row(path, *tokens)).collect();
        let version = version(&rows, (0, None), false);
        FileTable { version, rows, tokens: 0, budget_tokens: None, is_exact: false }
    }

    #[test]
    fn changes_name_the_rows_that_differ_and_nothing_if_files_came_or_went() {
        let before = table(&[("a.c", 1), ("b.c", 2), ("c.c", 3)]);
        let edited = table(&[("a.c", 1), ("b.c", 9), ("c.c", 3)]);
        assert_eq!(before.changed_rows(&before), Some(vec![]));
        assert_eq!(edited.changed_rows(&before), Some(vec![1]));
        for other in [
            table(&[("a.c", 1), ("c.c", 3)]),
            table(&[("a.c", 1), ("b.c", 2), ("b.h", 2), ("c.c", 3)]),
            // A file was renamed, so that there are as many as before.
            table(&[("a.c", 1), ("b.h", 2), ("c.c", 3)]),
        ] {
            assert_eq!(other.changed_rows(&before), None);
            assert_ne!(other.version, before.version);
        }
        assert_ne!(edited.version, before.version);
        assert_eq!(table(&[("a.c", 1), ("b.c", 2), ("c.c", 3)]).version, before.version);
    }

    #[test]
    fn the_files_of_a_folder_follow_each_other() {
        let mut paths = ["src-old/z.c", "src/a.c", "src/b/c.c", "z.c", "src/z.c"];
        paths.sort_by(|one, other| {
            let path = |text: &str| RelPath::new(text.as_bytes()).unwrap();
            sort_key(&path(one)).cmp(&sort_key(&path(other)))
        });
        assert_eq!(paths, ["z.c", "src/a.c", "src/z.c", "src-old/z.c", "src/b/c.c"]);
    }

    #[test]
    fn a_version_is_read_as_it_is_written() {
        let version = table(&[("a.c", 1)]).version;
        assert_eq!(version.to_string().parse(), Ok(version));
        for wrong in ["", "12", &"x".repeat(32), &"é".repeat(16), &"0".repeat(33)] {
            assert_eq!(wrong.parse::<TableVersion>(), Err(InvalidTableVersion), "{wrong}");
        }
    }

    #[test]
    fn the_newest_tables_are_remembered() {
        let recent = RecentTables::default();
        let tables: Vec<Arc<FileTable>> =
            (0..=REMEMBERED as u64).map(|tokens| Arc::new(table(&[("a.c", tokens)]))).collect();
        for table in &tables {
            recent.remember(table);
        }
        assert!(recent.find(tables[0].version).is_none());
        assert!(tables[1..].iter().all(|table| recent.find(table.version).is_some()));
    }
}
