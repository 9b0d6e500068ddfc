//! What a project is opened with.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::aggregate::TokenCounter;
use crate::discover;
use crate::model::{FileItem, LinkedFolder, ModelName, RelPath, SkipReason, WriterKey};
use crate::sys::{Clock, Disk, Files, Processes};

/// The I/O traits through which a project sees the world.
#[derive(Clone, Copy)]
pub struct World<'w> {
    /// The time.
    pub clock: &'w dyn Clock,
    /// Files that slop itself writes.
    pub disk: &'w dyn Disk,
    /// The project's files.
    pub files: &'w dyn Files,
    /// Other programs.
    pub processes: &'w dyn Processes,
    /// Receives the progress of scans that have files to read.
    pub progress: &'w dyn ScanProgress,
}

/// What a project is to be treated like.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whether the user trusts the project to write through its links, and to speak for the user.
    pub trusts_project: bool,
    pub cache_enabled: bool,
    pub cache_dir: RelPath,
    /// The folders of clones that share the cache of the first of them.
    pub cache_clones: Arc<[PathBuf]>,
    /// Which names do not count, or hold secrets.
    pub names: discover::Options,
    /// The folders that are mounted in the project, by name.
    pub linked: Arc<[LinkedFolder]>,
    /// More files than these are an error where git does not list them; `None` for any number.
    pub max_files: Option<u64>,
    /// Whether the full view of a file shows the secrets in it.
    pub shows_secrets_in_full: bool,
    /// A file of more bytes is not rendered in full.
    pub max_bytes: u64,
    /// A file of more bytes is not read.
    pub structure_max_bytes: u64,
    /// How much processor time the parse of one file may take.
    pub parse_timeout: Duration,
    pub window_lines: u32,
    pub counter: TokenCounter,
    /// An image of more bytes is not put into a document.
    pub screenshot_bytes: u64,
    /// A file of discussion or of issues that has more bytes is not read.
    pub section_bytes: u64,
    /// The project's items, whose masks hide symbols from every answer. A document brings items of its own.
    pub items: Arc<[FileItem]>,
    /// What is wrong in the settings, for the receipts of documents.
    pub settings_problems: Arc<[String]>,
    /// Whose words are shown where a tier asks for a model's.
    pub summary_lookup: SummaryLookupOptions,
}

impl Options {
    /// Returns whether a project with other options has the same files, and derives the same from them: what is curated
    /// decides only how they are shown.
    pub fn has_index_of(&self, other: &Self) -> bool {
        let Self { items, settings_problems, .. } = other.clone();
        Self { items, settings_problems, ..self.clone() } == *other
    }
}

/// Whose words are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryLookupOptions {
    /// Models in the order of preference; summaries by others come last, the newest first.
    pub models: Vec<ModelName>,
    /// Whether words of what a file was earlier are better than the heuristic's of what it is.
    pub uses_earlier: bool,
    /// Patterns of files that no model is asked about: they are not part of a folder's subject.
    pub exclude: Vec<String>,
    /// Nor are smaller files.
    pub min_bytes: u64,
    pub secret_names: discover::Options,
    /// Whose summaries are believed among those that were fetched from a team's cache.
    pub writers: Vec<WriterKey>,
}

/// Receives the progress of a scan. Called from several threads.
pub trait ScanProgress: Sync {
    /// This many files are to be read.
    fn begin(&self, files: usize);

    /// One more file was read, or left out.
    fn advance(&self);

    /// Returns whether the request was cancelled. Called between files, so it should cost nothing.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Discards all progress.
#[derive(Debug, Clone, Copy)]
pub struct NoProgress;

impl ScanProgress for NoProgress {
    fn begin(&self, _files: usize) {}

    fn advance(&self) {}
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexReport {
    pub files: u64,
    pub hashed: u64,
    /// Contents that structure and summary were derived from.
    pub parsed: u64,
    /// Files whose content was known already.
    pub reused: u64,
    /// Files that were known and are gone.
    pub removed: u64,
    /// Files that the project lists and that have no text to show, by reason.
    pub left_out: BTreeMap<SkipReason, u64>,
    pub bytes: u64,
    pub elapsed: Duration,
}

impl IndexReport {
    /// Returns whether an error left out some file.
    pub fn has_errors(&self) -> bool {
        self.left_out.keys().any(|reason| reason.is_error())
    }
}
