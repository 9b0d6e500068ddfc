//! What a project needs to be told before it is opened.

use std::time::Duration;

use super::report::ScanProgress;
use crate::aggregate::TokenCounter;
use crate::discover;
use crate::model::ModelName;
use crate::model::RelPath;
use crate::sys::Clock;
use crate::sys::Disk;
use crate::sys::Files;
use crate::sys::Processes;

/// The windows to the world that a project looks through.
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
    /// Is told how far a scan is that has files to read.
    pub progress: &'w dyn ScanProgress,
}

/// What a project is to be treated like.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whether what is derived is kept in the cache.
    pub cache_enabled: bool,
    /// The cache's folder.
    pub cache_dir: RelPath,
    /// Which names do not count, or hold secrets.
    pub names: discover::Options,
    /// A file of more bytes is not rendered in full.
    pub max_bytes: u64,
    /// A file of more bytes is not read.
    pub structure_max_bytes: u64,
    /// How much processor time the parse of one file may take.
    pub parse_timeout: Duration,
    /// Lines on each side of the one that a window is about.
    pub window_lines: u32,
    /// How tokens are counted.
    pub counter: TokenCounter,
    /// An image of more bytes is not put into a document.
    pub screenshot_bytes: u64,
    /// A file of discussion or of issues that has more bytes is not read.
    pub section_bytes: u64,
    /// Whose words are shown where a tier asks for a model's.
    pub summary_lookup: SummaryLookupOptions,
}

/// Whose words are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SummaryLookupOptions {
    /// Whose come first where more than one wrote; whoever is not named comes last, the newest words first.
    pub models: Vec<ModelName>,
    /// Whether words of what a file was earlier are better than the heuristic's of what it is.
    pub uses_earlier: bool,
    /// Patterns of files that no model is asked about: they are no part of what stands for a folder.
    pub exclude: Vec<String>,
    /// Nor are smaller files.
    pub min_bytes: u64,
    /// Nor are files with these names.
    pub secret_names: discover::Options,
}
