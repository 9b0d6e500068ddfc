//! An open project: where it is, how it may be read, and what a run reports.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::cache_location::CacheLocation;
use super::hidden::HiddenFiles;
use super::text::{CleanContents, redact_slices};
use super::tracker::TreeTracker;
use crate::discover::{DecodedText, NameRules};
use crate::engine::error::Error;
use crate::engine::mounts::MountedFiles;
use crate::engine::options::{IndexReport, Options, World};
use crate::engine::timings::{AnswerStep, StepClock};
use crate::model::{
    ContentHash, FileItem, RelPath, SkipReason, bytes_as_path, normalized_path, slashed_bytes, unescaped_path,
};
use crate::store::agent::AGENT_DATABASE;
use crate::sys::{Files, ReadError};

/// A project's folder, and everything by which its files are read.
pub(in crate::engine) struct Workspace<'w> {
    pub(in crate::engine) root: PathBuf,
    pub(in crate::engine) options: Options,
    pub(in crate::engine) world: World<'w>,
    /// The files of the root and of the linked folders.
    pub(in crate::engine) files: MountedFiles<'w>,
    pub(in crate::engine) names: Arc<NameRules>,
    /// What is known between answers, in a process that gives more than one.
    pub(in crate::engine) tracker: Option<Arc<TreeTracker>>,
    /// What need not be searched for secrets again.
    pub(in crate::engine) clean: Arc<CleanContents>,
    /// Whether every file of an answer is hashed although its stamp is trusted, and a difference reported.
    pub(in crate::engine) paranoid: bool,
    /// Files that are read without what masks hide of them.
    pub(in crate::engine) hidden: HiddenFiles,
    pub(in crate::engine) log: RunLog,
    /// Measures the steps of answers, in a process that gives more than one.
    pub(in crate::engine) steps: StepClock<'w>,
    pub(in crate::engine) location: CacheLocation,
}

impl<'w> Workspace<'w> {
    /// Opens the project in the folder `root`.
    pub(in crate::engine) fn open(
        root: &Path,
        mut options: Options,
        world: World<'w>,
    ) -> Result<Self, Error> {
        let names = Arc::new(NameRules::new(&options.names)?);
        let mut log = RunLog::default();
        let (location, reason) =
            CacheLocation::find(root, &options.cache_dir, &options.cache_clones, world.disk);
        if let Some(reason) = reason {
            log.note(own_cache_note(&reason));
        }
        // What was written of a path last may have been written of another worktree's file.
        options.summary_lookup.uses_earlier &= !location.is_shared();
        let hidden = HiddenFiles::default();
        let steps = StepClock { clock: world.clock, timings: None };
        let root = root.to_owned();
        let files = MountedFiles::open(world.files, &options.linked);
        Ok(Self {
            root,
            options,
            world,
            files,
            names,
            tracker: None,
            clean: Arc::default(),
            paranoid: false,
            hidden,
            log,
            steps,
            location,
        })
    }
}

impl Workspace<'_> {
    /// Returns an error if the request was cancelled. What was derived until then is kept.
    pub(in crate::engine) fn check_cancelled(&self) -> Result<(), Error> {
        if self.world.progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Adds a note for the reader of the answer.
    pub(in crate::engine) fn note(&mut self, note: String) {
        self.log.note(note);
    }

    pub(in crate::engine) fn cache_folder(&self) -> PathBuf {
        self.location.path()
    }

    /// Goes on with a cache in the project's own folder, where that of the repository cannot be used.
    pub(in crate::engine) fn use_own_cache(&mut self, reason: &str) {
        self.note(own_cache_note(reason));
        self.location = CacheLocation::own(&self.root, &self.options.cache_dir, &[]);
    }

    /// Returns where what models wrote is kept; nothing may be there yet.
    pub(in crate::engine) fn agent_db_path(&self) -> PathBuf {
        self.cache_folder().join(AGENT_DATABASE)
    }

    /// Returns the path within the project that a word spells, absolute or relative to the root.
    pub(in crate::engine) fn resolve_path(&self, word: &str) -> Result<Option<RelPath>, Error> {
        let literal = self.path_within(word, word.as_bytes())?;
        match (&literal, unescaped_path(word.as_bytes())) {
            // A name that is not UTF-8 is spelled as it is printed, unless a file has that very spelling as its name.
            (Some(path), Some(meant)) if self.files.stat(path).is_err() => self.path_within(word, &meant),
            _ => Ok(literal),
        }
    }

    fn path_within(&self, word: &str, bytes: &[u8]) -> Result<Option<RelPath>, Error> {
        let path = bytes_as_path(bytes);
        // Also for a path in the root: files of a linked folder within it have no other names.
        let mounted = self.files.path_in_mount(&self.root.join(path));
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let inside = slashed_bytes(inside);
        let bytes = mounted.as_deref().unwrap_or(&inside);
        let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
        // An empty word is more likely a mistake, such as an unset variable, than a name for the root; it fails as a
        // path below.
        let is_root = bytes.is_empty() && !word.is_empty();
        if is_root || bytes == b"." || bytes.ends_with(b"/") {
            return Ok(None);
        }
        // What leads out and in again is meant as it is written, whatever links there are.
        let direct = std::str::from_utf8(bytes).ok().filter(|text| text.contains("/../"));
        let direct = direct.map(normalized_path);
        match RelPath::new(direct.as_ref().map_or(bytes, String::as_bytes)) {
            Ok(path) => Ok(Some(path)),
            Err(source) => Err(Error::BadPath { path: word.to_owned(), source }),
        }
    }

    /// Returns items with their paths as the project spells them, and without the secrets in the words of their slices. One
    /// that lies elsewhere matches no file.
    pub(in crate::engine) fn relative_items(&self, items: &[FileItem]) -> Vec<FileItem> {
        let within = |item: &FileItem| {
            let path = std::path::Path::new(&item.path).strip_prefix(&self.root);
            let path = path.ok().and_then(std::path::Path::to_str).unwrap_or(&item.path);
            let mut item = FileItem { path: path.to_owned(), ..item.clone() };
            redact_slices(&mut item);
            item
        };
        items.iter().map(within).collect()
    }

    /// Reads a file's text, with the hash of the bytes that it was read from; without what a mask hides of it.
    pub(in crate::engine) fn read_text(&self, path: &RelPath) -> Result<(ContentHash, String), SkipReason> {
        if let Some(hidden) = self.hidden.get(path) {
            return Ok(hidden.visible.clone());
        }
        self.read_text_up_to(path, self.options.structure_max_bytes)
    }

    /// Reads the text of a file of at most `max_bytes`, all of it except its secrets.
    pub(in crate::engine) fn read_text_up_to(
        &self,
        path: &RelPath,
        max_bytes: u64,
    ) -> Result<(ContentHash, String), SkipReason> {
        self.read_decoded(path, max_bytes, |hash, bytes| self.clean.decode(hash, bytes))
    }

    /// Reads a file's text with its secrets, which only the full view shows, and only where the user's settings say so.
    pub(in crate::engine) fn read_unredacted(
        &self,
        path: &RelPath,
    ) -> Result<(ContentHash, String), SkipReason> {
        let max_bytes = self.options.structure_max_bytes;
        self.read_decoded(path, max_bytes, |_, bytes| crate::discover::read_as_text(bytes))
    }

    fn read_decoded(
        &self,
        path: &RelPath,
        max_bytes: u64,
        decode: impl for<'a> Fn(&ContentHash, &'a [u8]) -> Result<DecodedText<'a>, SkipReason>,
    ) -> Result<(ContentHash, String), SkipReason> {
        let timer = self.steps.time(AnswerStep::Read);
        let reading = self.files.read(path, max_bytes);
        drop(timer);
        let reading = reading.map_err(|error| match error {
            ReadError::TooLarge { .. } => SkipReason::TooLarge,
            ReadError::Changing => SkipReason::Unstable,
            ReadError::NotRegular(_) => SkipReason::Special,
            ReadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => SkipReason::Vanished,
            ReadError::Io(_) => SkipReason::Unreadable,
        })?;
        let hash = ContentHash::digest(&reading.bytes);
        let text = decode(&hash, &reading.bytes)?;
        Ok((hash, text.text.into_owned()))
    }
}

fn own_cache_note(reason: &str) -> String {
    format!("this worktree has a cache of its own: {reason}")
}

/// Collects what use cases report besides their answers: notes for a person, and what the last scan did.
///
/// Whoever answers reads it afterwards; nothing in the engine decides anything by it.
#[derive(Debug, Default)]
pub(in crate::engine) struct RunLog {
    notes: Vec<String>,
    last_scan: Option<IndexReport>,
    unstable: u64,
    trusted_events: bool,
}

impl RunLog {
    /// Adds a note, once.
    pub(in crate::engine) fn note(&mut self, note: String) {
        // Several steps of one answer may meet with the same obstacle, such as a cache that cannot be opened.
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Returns how many notes were added since they were last taken.
    pub(in crate::engine) const fn note_count(&self) -> usize {
        self.notes.len()
    }

    /// Records what a scan of the project's files did.
    pub(in crate::engine) fn record_scan(&mut self, report: IndexReport) {
        self.last_scan = Some(report);
    }

    /// Counts files that could not be read because they kept changing.
    pub(in crate::engine) const fn count_unstable(&mut self, files: u64) {
        self.unstable += files;
    }

    /// Records that only files were looked at that events have reported.
    pub(in crate::engine) const fn record_trusted_events(&mut self) {
        self.trusted_events = true;
    }

    /// Returns whether only files reported by file events were checked, since this was last called.
    pub(in crate::engine) const fn take_trusted_events(&mut self) -> bool {
        std::mem::replace(&mut self.trusted_events, false)
    }

    /// Returns the notes added since this was last called.
    pub(in crate::engine) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Returns how many files could not be read, since this was last called, because they kept changing.
    pub(in crate::engine) const fn take_unstable(&mut self) -> u64 {
        std::mem::replace(&mut self.unstable, 0)
    }

    pub(in crate::engine) const fn last_scan(&self) -> Option<&IndexReport> {
        self.last_scan.as_ref()
    }
}
