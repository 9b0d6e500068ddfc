//! The index is compared with the project, by nothing that the index is made with.

use std::time::Duration;

use rustc_hash::FxHashMap;
use rustc_hash::FxHashSet;

use super::derive::identify;
use super::error::Error;
use super::parallel::on_all_cores;
use super::project::Project;
use crate::discover;
use crate::discover::Found;
use crate::discover::Neighbors;
use crate::model::ContentHash;
use crate::model::LeftOut;
use crate::model::RelPath;
use crate::store;
use crate::store::FileRow;
use crate::store::FileState;
use crate::store::Store;
use crate::sys::Files;

/// When files that differ are looked at again.
const AGAIN_AFTER: [Duration; 3] =
    [Duration::from_millis(50), Duration::from_millis(200), Duration::from_millis(500)];

/// What an audit found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditReport {
    /// Files that were looked at.
    pub files: u64,
    /// Bytes that were read.
    pub bytes: u64,
    /// What is wrong, by path.
    pub differences: Vec<Difference>,
}

/// A file of which the index says something else than the project.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// The file.
    pub path: RelPath,
    /// What is wrong.
    pub kind: DifferenceKind,
}

/// How index and project differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    /// The index does not have the file.
    NotIndexed,
    /// The index has other bytes.
    OtherContent,
    /// The index has a file that is none of the project's.
    StillIndexed,
    /// The index has another reason why the file has no text, or none, or the file has text.
    OtherReason,
    /// What the index has is damaged.
    DamagedRow,
}

impl DifferenceKind {
    /// Returns the stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotIndexed => "not_indexed",
            Self::OtherContent => "other_content",
            Self::StillIndexed => "still_indexed",
            Self::OtherReason => "other_reason",
            Self::DamagedRow => "damaged_row",
        }
    }
}

impl Project<'_> {
    /// Compares what is stored of every file with the file. Writes nothing itself; but a file of which an event told and
    /// that was not read since is brought up to date, for the index owns to be behind.
    pub fn audit(&mut self) -> Result<AuditReport, Error> {
        self.leave_deleted_store()?;
        let listing = discover::list(&self.root, &self.names, self.world.processes)?;
        let neighbors = Neighbors::of(listing.files.iter().map(|found| &found.path));
        let rows = self.audited_rows()?;
        let (files, most) = (self.world.files, self.options.structure_max_bytes);
        let truths = on_all_cores(&listing.files, |found| truth(files, found, &neighbors, most));
        let mut report = AuditReport { files: listing.files.len() as u64, ..AuditReport::default() };
        for (found, (truth, bytes)) in listing.files.iter().zip(truths) {
            report.bytes += bytes;
            report.differences.extend(difference(&found.path, &truth, rows.get(&found.path)));
        }
        let listed: FxHashSet<&RelPath> = listing.files.iter().map(|found| &found.path).collect();
        let stale = rows.keys().filter(|path| !listed.contains(path));
        let kind = DifferenceKind::StillIndexed;
        report.differences.extend(stale.map(|path| Difference { path: path.clone(), kind }));
        report.differences.sort();
        self.look_again(&mut report, &neighbors)?;
        Ok(report)
    }

    /// Turns to the store that has taken the place of one that was deleted. Between answers nobody may have noticed yet.
    fn leave_deleted_store(&mut self) -> Result<(), Error> {
        if self.store.as_ref().is_none_or(Store::still_there) {
            return Ok(());
        }
        self.recover(&store::Error::Gone);
        if self.tree.is_some() {
            self.refresh_all()?;
        }
        Ok(())
    }

    /// Returns the rows as they are stored; what is in memory proves nothing.
    fn audited_rows(&self) -> Result<FxHashMap<RelPath, FileRow>, Error> {
        let store = self.store.as_ref().ok_or(Error::NoCache)?;
        Ok(store.files()?.into_iter().map(|row| (row.path.clone(), row)).collect())
    }

    /// Looks again at the files that differ: one may have been written after it was indexed, or indexed after it was
    /// looked at. Where events are to be had these are waited for.
    fn look_again(&mut self, report: &mut AuditReport, neighbors: &Neighbors) -> Result<(), Error> {
        for wait in AGAIN_AFTER {
            if report.differences.is_empty() {
                return Ok(());
            }
            self.world.clock.sleep(wait);
            let suspects: Vec<RelPath> =
                report.differences.iter().map(|difference| difference.path.clone()).collect();
            if self.tree.is_some() {
                self.refresh_told(&suspects)?;
            }
            let listing = discover::list(&self.root, &self.names, self.world.processes)?;
            let rows = self.audited_rows()?;
            let (files, most) = (self.world.files, self.options.structure_max_bytes);
            report.differences.clear();
            for path in suspects {
                let found = listing.files.binary_search_by(|found| found.path.cmp(&path));
                let (truth, bytes) = match found {
                    Ok(at) => truth(files, &listing.files[at], neighbors, most),
                    Err(_) => (Truth::NotListed, 0),
                };
                report.bytes += bytes;
                report.differences.extend(difference(&path, &truth, rows.get(&path)));
            }
        }
        self.name_damage(report)
    }

    /// Derives from those of the files of which an event told: they are not wrong, only not yet done.
    fn refresh_told(&mut self, suspects: &[RelPath]) -> Result<(), Error> {
        let Some(tree) = self.tree.clone() else { return Ok(()) };
        let dirty = tree.begin(&self.names_key).dirty;
        let told: Vec<RelPath> = suspects.iter().filter(|path| dirty.contains(path)).cloned().collect();
        if !told.is_empty() {
            self.refresh(&told)?;
        }
        Ok(())
    }

    /// Tells a row that is damaged from one that is not there.
    fn name_damage(&mut self, report: &mut AuditReport) -> Result<(), Error> {
        let store = self.store.as_ref().ok_or(Error::NoCache)?;
        for difference in &mut report.differences {
            if difference.kind == DifferenceKind::NotIndexed && store.has_row(&difference.path)? {
                difference.kind = DifferenceKind::DamagedRow;
            }
        }
        Ok(())
    }
}

/// What a file is.
enum Truth {
    Content(ContentHash, &'static str),
    /// It has no text, which a row is kept of.
    LeftOut(LeftOut),
    /// No row is kept of it.
    Unkept,
    NotListed,
}

/// Reads a file and says what it is, with the bytes that were read.
fn truth(files: &dyn Files, found: &Found, neighbors: &Neighbors, most: u64) -> (Truth, u64) {
    if found.left_out.is_some() {
        return (Truth::Unkept, 0);
    }
    let Ok(reading) = files.read(&found.path, most) else { return (Truth::Unkept, 0) };
    let bytes = reading.bytes.len() as u64;
    match identify(&found.path, &reading.bytes, neighbors) {
        Ok(content) => (Truth::Content(content.hash, content.file_type.id), bytes),
        Err(reason) => (Truth::LeftOut(reason), bytes),
    }
}

fn difference(path: &RelPath, truth: &Truth, row: Option<&FileRow>) -> Option<Difference> {
    let kind = match (truth, row.map(|row| &row.state)) {
        (Truth::Content(hash, id), Some(FileState::Content { hash: stored, language, .. })) => {
            (hash != stored || id != language).then_some(DifferenceKind::OtherContent)
        }
        (Truth::LeftOut(reason), Some(FileState::LeftOut(stored))) => {
            (reason != stored).then_some(DifferenceKind::OtherReason)
        }
        (Truth::Content(..), Some(FileState::LeftOut(_)))
        | (Truth::LeftOut(_), Some(FileState::Content { .. })) => Some(DifferenceKind::OtherReason),
        (Truth::Content(..) | Truth::LeftOut(_), None) => Some(DifferenceKind::NotIndexed),
        (Truth::Unkept | Truth::NotListed, Some(_)) => Some(DifferenceKind::StillIndexed),
        (Truth::Unkept | Truth::NotListed, None) => None,
    }?;
    Some(Difference { path: path.clone(), kind })
}
