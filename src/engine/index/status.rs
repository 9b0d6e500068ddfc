//! The status of each file, without reading any.

use super::examine::reason_not_to_read;
use super::scan::{StampCheck, Trust, check_stamp, state_from_row};
use super::scope::{SnapshotScope, place_of};
use super::snapshot::{ProjectSnapshot, take_snapshot};
use crate::aggregate;
use crate::discover::DiscoveredFile;
use crate::engine::artifacts::{ArtifactCache, producer};
use crate::engine::error::Error;
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::{ArtifactKind, ContentHash, FileType, RelPath, SkipReason, Tier};
use crate::store::StoredFileState;
use crate::sys::Files;

/// How the stored data of a file compares with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    Fresh,
    /// The file has changed, or may have.
    Stale,
    /// Nothing is stored yet.
    New,
    /// The file has no text to show.
    LeftOut(SkipReason),
}

#[derive(Debug, Clone)]
pub struct FileStatus {
    pub path: RelPath,
    pub freshness: Freshness,
    /// Its content and file type when it was last read.
    pub content: Option<(ContentHash, &'static FileType)>,
    /// The size of that content in bytes.
    pub size: Option<u64>,
    /// The lines of its text.
    pub lines: Option<u32>,
    pub written_for: Vec<Tier>,
}

impl FileStatus {
    /// Returns an estimate of its tokens, more likely too high than too low.
    pub fn estimated_tokens(&self) -> Option<u64> {
        self.size.map(aggregate::estimate_tokens)
    }

    /// Returns the producer of summaries for files of its type.
    pub fn summary_author(&self) -> Option<String> {
        let (_, file_type) = self.content?;
        producer(ArtifactKind::Summary, file_type).map(|by| by.version)
    }
}

pub(in crate::engine) fn status(cache: &mut ArtifactCache<'_>) -> Result<Vec<FileStatus>, Error> {
    let snapshot = take_snapshot(cache, &SnapshotScope::All)?;
    let mut all = Vec::new();
    for (at, found) in snapshot.files().iter().enumerate() {
        let check = check_stamp(&cache.workspace, at, &snapshot, Trust::Stamps);
        let row = snapshot.rows.get(&found.path);
        // Without neighbors, so that a header has the type that it was last read as: this is about the stored data.
        let known = row.and_then(|row| state_from_row(row, None));
        let freshness = match &check {
            StampCheck::LeftOut(reason) | StampCheck::Unchanged(KnownState::LeftOut(reason)) => {
                Freshness::LeftOut(*reason)
            }
            StampCheck::Unchanged(KnownState::Content { .. }) => Freshness::Fresh,
            StampCheck::Read => unread_freshness(&cache.workspace, found, known.is_some()),
        };
        let measures = match &known {
            Some(KnownState::Content { facts, .. }) => Some((facts.size, facts.lines)),
            Some(KnownState::LeftOut(_)) | None => None,
        };
        let content = match known {
            Some(KnownState::Content { hash, file_type, .. }) => Some((hash, file_type)),
            Some(KnownState::LeftOut(_)) | None => None,
        };
        let is_shown = !matches!(freshness, Freshness::LeftOut(_));
        // A row may have outlived the text, for example of a file that can no longer be read; nothing of it is shown
        // then.
        let content = content.filter(|_| is_shown);
        let measures = measures.filter(|_| content.is_some());
        all.push(FileStatus {
            path: found.path.clone(),
            freshness,
            content,
            size: measures.map(|(size, _)| size),
            lines: measures.map(|(_, lines)| lines),
            written_for: Vec::new(),
        });
    }
    Ok(all)
}

/// The files of the project, as far as they are known without comparing all stamps.
pub(in crate::engine) struct ListedFiles<'c> {
    snapshot: ProjectSnapshot,
    workspace: &'c Workspace<'c>,
}

/// Returns the files of the project.
pub(in crate::engine) fn listed_files<'c>(
    cache: &'c mut ArtifactCache<'_>,
) -> Result<ListedFiles<'c>, Error> {
    let snapshot = take_snapshot(cache, &SnapshotScope::Nothing)?;
    Ok(ListedFiles { snapshot, workspace: &cache.workspace })
}

impl ListedFiles<'_> {
    /// Returns the paths, sorted by their bytes.
    pub(in crate::engine) fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.snapshot.files().iter().map(|found| &found.path)
    }

    /// Returns why a file cannot be shown, as far as that is known without reading it.
    pub(in crate::engine) fn left_out(&self, path: &RelPath) -> Option<SkipReason> {
        let found = &self.snapshot.files()[place_of(path, self.snapshot.files())?];
        found.skip_reason.or_else(|| match self.snapshot.rows.get(path)?.state {
            StoredFileState::LeftOut(reason) => Some(reason),
            StoredFileState::Content { .. } => None,
        })
    }

    /// Returns whether a file can be shown.
    pub(in crate::engine) fn may_show(&self, path: &RelPath) -> bool {
        let Some(at) = place_of(path, self.snapshot.files()) else { return false };
        let found = &self.snapshot.files()[at];
        let row = self.snapshot.rows.get(path);
        if found.skip_reason.is_some() {
            return false;
        }
        if row.is_some_and(|row| matches!(row.state, StoredFileState::Content { .. })) {
            return true;
        }
        // It may have become showable.
        let stamp = self.workspace.files.stat(path).ok().map(|stat| stat.stamp);
        row.is_none_or(|row| row.stamp != stamp)
            && !matches!(unread_freshness(self.workspace, found, false), Freshness::LeftOut(_))
    }
}

/// Returns the status of a selected file, which is up to date.
pub(in crate::engine) fn selected_status(workspace: &Workspace<'_>, file: &KnownFile) -> FileStatus {
    let unread = FileStatus {
        path: file.path.clone(),
        freshness: Freshness::Fresh,
        content: None,
        size: None,
        lines: None,
        written_for: Vec::new(),
    };
    match &file.state {
        KnownState::LeftOut(reason) => FileStatus { freshness: Freshness::LeftOut(*reason), ..unread },
        KnownState::Content { hash, file_type, facts } => FileStatus {
            content: Some((workspace.hidden.file_hash(&file.path, *hash), *file_type)),
            size: Some(facts.size),
            lines: Some(facts.lines),
            ..unread
        },
    }
}

/// Returns the status of a file that an index run would read.
fn unread_freshness(workspace: &Workspace<'_>, found: &DiscoveredFile, is_known: bool) -> Freshness {
    // A file without a row may have no stat in the snapshot, and a file that would be left out must not be reported as
    // new.
    let reason = match workspace.files.stat(&found.path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(SkipReason::Vanished),
        Err(_) => Some(SkipReason::Unreadable),
        Ok(stat) => reason_not_to_read(&stat, workspace.options.structure_max_bytes),
    };
    match reason {
        Some(reason) => Freshness::LeftOut(reason),
        None if is_known => Freshness::Stale,
        None => Freshness::New,
    }
}
