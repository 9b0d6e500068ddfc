//! What is known of each file, without reading any.

use super::scan::{KnownState, StampCheck, Trust, state_from_row};
use crate::discover::DiscoveredFile;
use crate::engine::artifacts::producer;
use crate::engine::error::Error;
use crate::engine::project::Project;
use crate::engine::summaries::LookupFile;
use crate::model::ArtifactKind;
use crate::model::ContentHash;
use crate::model::FileType;
use crate::model::RelPath;
use crate::model::SkipReason;
use crate::model::Tier;
use crate::sys::FileKind;

/// How what is stored of a file compares with the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It was derived from the bytes that are there.
    Fresh,
    /// The file has changed since, or may have.
    Stale,
    /// Nothing is stored yet.
    New,
    /// The file has no text to show.
    LeftOut(SkipReason),
}

/// What is known of one file.
#[derive(Debug, Clone)]
pub struct FileStatus {
    /// The file.
    pub path: RelPath,
    /// How what is stored compares with it.
    pub freshness: Freshness,
    /// Its content when it was last read, and the type that it was read as.
    pub content: Option<(ContentHash, &'static FileType)>,
    /// Who made its summary.
    pub summary_by: Option<String>,
    /// For which tiers a model has written of its content.
    pub written_for: Vec<Tier>,
}

impl Project<'_> {
    /// Returns the status of every file that the project lists, by path. Reads no file, and stores nothing.
    pub fn status(&mut self) -> Result<Vec<FileStatus>, Error> {
        let sight = self.take_snapshot(&|_| true)?;
        let mut all = Vec::new();
        for (at, found) in sight.files().iter().enumerate() {
            let look = self.check_stamp(at, &sight, Trust::Stamps);
            let row = sight.rows.get(&found.path);
            let known = row.and_then(|row| state_from_row(row, None));
            let freshness = match &look {
                StampCheck::LeftOut(reason) | StampCheck::Unchanged(KnownState::LeftOut(reason)) => {
                    Freshness::LeftOut(*reason)
                }
                StampCheck::Unchanged(KnownState::Content { .. }) => Freshness::Fresh,
                StampCheck::Read => self.unread_freshness(found, known.is_some()),
            };
            let content = match known {
                Some(KnownState::Content { hash, file_type, .. }) => Some((hash, file_type)),
                Some(KnownState::LeftOut(_)) | None => None,
            };
            let is_shown = !matches!(freshness, Freshness::LeftOut(_));
            let content = content.filter(|_| is_shown);
            let summary_by = content.and_then(|(_, file_type)| producer(ArtifactKind::Summary, file_type));
            let summary_by = summary_by.map(|by| by.version);
            all.push(FileStatus {
                path: found.path.clone(),
                freshness,
                content,
                summary_by,
                written_for: Vec::new(),
            });
        }
        self.add_summarized_tiers(&mut all);
        Ok(all)
    }

    fn add_summarized_tiers(&mut self, all: &mut [FileStatus]) {
        let asked: Vec<LookupFile<'_>> = all.iter().filter_map(asked).collect();
        let tiers = self.summarized_tiers(&asked);
        let with_content = all.iter_mut().filter(|file| file.content.is_some());
        with_content.zip(tiers).for_each(|(file, tiers)| file.written_for = tiers);
    }

    /// Returns the status of a file that an index run would read.
    fn unread_freshness(&self, found: &DiscoveredFile, is_known: bool) -> Freshness {
        let reason = match self.world.files.stat(&found.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(SkipReason::Vanished),
            Err(_) => Some(SkipReason::Unreadable),
            Ok(stat) => match stat.kind {
                FileKind::Symlink => Some(SkipReason::Symlink),
                FileKind::Directory | FileKind::Special => Some(SkipReason::Special),
                FileKind::Regular if self.options.structure_max_bytes < stat.stamp.size => {
                    Some(SkipReason::TooLarge)
                }
                FileKind::Regular => None,
            },
        };
        match reason {
            Some(reason) => Freshness::LeftOut(reason),
            None if is_known => Freshness::Stale,
            None => Freshness::New,
        }
    }
}

fn asked(file: &FileStatus) -> Option<LookupFile<'_>> {
    let (content, file_type) = file.content?;
    Some(LookupFile { path: &file.path, content, language: file_type.id })
}
