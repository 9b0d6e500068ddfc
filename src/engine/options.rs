//! The options for opening a project.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::aggregate::TokenCounter;
use crate::discover;
use crate::model::{FileItem, LinkedFolder, ModelName, RelPath, SkipReason, WriterKey};
use crate::sys::{Clock, Disk, Files, Processes, RealDisk, RealFiles, RealProcesses, WallClock};

/// The I/O traits that a project uses.
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

impl<'w> World<'w> {
    /// Returns the I/O of this machine.
    pub fn real(files: &'w RealFiles, progress: &'w dyn ScanProgress) -> Self {
        Self { clock: &WallClock, disk: &RealDisk, files, processes: &RealProcesses, progress }
    }
}

/// How a project is treated.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whether the user trusts the project to write through its links, and to speak for the user.
    pub trusts_project: bool,
    pub cache_enabled: bool,
    pub cache_dir: RelPath,
    /// The folders of clones that share the cache of the first of them.
    pub cache_clones: Arc<[PathBuf]>,
    /// The names that are ignored, or contain secrets.
    pub names: discover::Options,
    /// The folders that are mounted in the project, by name.
    pub linked: Arc<[LinkedFolder]>,
    /// More files than this are an error where git does not list them; `None` for no limit.
    pub max_files: Option<u64>,
    /// Whether the full view of a file shows the secrets in it.
    pub shows_secrets_in_full: bool,
    /// A larger file is not rendered in full.
    pub max_bytes: u64,
    /// A larger file is not read.
    pub structure_max_bytes: u64,
    /// The processor time that parsing a file may take.
    pub parse_timeout: Duration,
    pub window_lines: u32,
    pub counter: TokenCounter,
    /// A larger image is not included in a document.
    pub screenshot_bytes: u64,
    /// A larger file with a discussion or issues is not read.
    pub section_bytes: u64,
    /// The project's items, whose masks hide symbols from every answer. Documents have additional items.
    pub items: Arc<[FileItem]>,
    /// Problems in the settings, for the receipts of documents.
    pub settings_problems: Arc<[String]>,
    /// Which summaries are shown where a tier asks for a model's.
    pub summary_lookup: SummaryLookupOptions,
}

impl Options {
    /// Returns whether a project with other options has the same index. Curation does not matter: it only affects how
    /// files are shown.
    pub fn has_index_of(&self, other: &Self) -> bool {
        let Self { items, settings_problems, .. } = other.clone();
        Self { items, settings_problems, ..self.clone() } == *other
    }
}

/// Which summaries by models are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryLookupOptions {
    /// Models in order of preference; summaries by others come last, newest first.
    pub models: Vec<ModelName>,
    /// Whether a summary of an earlier content is preferred over the heuristic's of the current one.
    pub uses_earlier: bool,
    /// Patterns of files that no model is asked about, and which are not part of a folder's subject.
    pub exclude: Vec<String>,
    /// The same for smaller files.
    pub min_bytes: u64,
    pub secret_names: discover::Options,
    /// The writers whose summaries from a team's cache are trusted.
    pub writers: Vec<WriterKey>,
}

/// Receives the progress of a scan. Called from several threads.
pub trait ScanProgress: Sync {
    /// This many files will be read.
    fn begin(&self, files: usize);

    /// One more file was read, or left out.
    fn advance(&self);

    /// Returns whether the request was cancelled. Called between files, so it should be cheap.
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
    /// Files whose content was already known.
    pub reused: u64,
    /// Known files that no longer exist.
    pub removed: u64,
    /// Listed files that have no text to show, by reason.
    pub left_out: BTreeMap<SkipReason, u64>,
    pub bytes: u64,
    pub elapsed: Duration,
}

impl IndexReport {
    /// Returns whether any file was left out because of an error.
    pub fn has_errors(&self) -> bool {
        self.left_out.keys().any(|reason| reason.is_error())
    }
}
