//! Reads and identifies files, and derives artifacts from them, on all cores.

use std::collections::HashSet;
use std::mem;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use crate::discover::HeaderNeighbors;
use crate::engine::artifacts::{ArtifactCache, IdentifiedBytes, LARGE_BYTES, derive, producers};
use crate::engine::mounts::MountedFiles;
use crate::engine::options::ScanProgress;
use crate::engine::timings::{AnswerStep, StepClock};
use crate::model::{ContentFacts, ContentHash, FileStamp, FileType, RelPath, STACK_BYTES, SkipReason, lock};
use crate::store::{ContentArtifacts, Store, StoredFileState};
use crate::sys::{FileContent, FileKind, FileStat, Files, ReadError};

/// How long to wait before a file that changed while it was read is read again.
const RETRY_AFTER: [Duration; 3] =
    [Duration::from_millis(20), Duration::from_millis(100), Duration::from_millis(500)];

/// Results are sent in batches of this number and size: each send costs a thread switch, which takes about as long as
/// reading a small file.
const SENT_FILES: usize = 32;
const SENT_BYTES: u64 = 1 << 20;

/// The result of reading one file.
pub(super) struct ExaminedFile {
    pub(super) path: RelPath,
    /// `None` if it could not be read.
    pub(super) stamp: Option<FileStamp>,
    /// The stamp of a file that is too large to be read.
    pub(super) unread: Option<FileStamp>,
    pub(super) read_at_ns: i64,
    pub(super) bytes: u64,
    pub(super) outcome: ReadOutcome,
}

/// The state of a file after reading.
pub(super) enum ReadOutcome {
    Content {
        hash: ContentHash,
        file_type: &'static FileType,
        facts: ContentFacts,
        /// The derived artifacts; `None` if this content was known, or another thread is deriving them.
        derived: Option<Box<ContentArtifacts>>,
        text: Option<String>,
    },
    /// There is nothing to show.
    LeftOut(SkipReason),
}

pub(super) struct FileExaminer<'a> {
    pub(super) files: MountedFiles<'a>,
    pub(super) steps: StepClock<'a>,
    /// How far the file system's clock is ahead of ours, in nanoseconds.
    pub(super) skew_ns: i64,
    pub(super) neighbors: &'a HeaderNeighbors,
    pub(super) max_bytes: u64,
    pub(super) parse_timeout: Duration,
    /// A connection for queries; the writer uses the other one.
    pub(super) known: Option<Mutex<Store>>,
    /// Held while artifacts are derived from a large text.
    pub(super) large: Mutex<()>,
    /// The contents that some thread of this run is processing.
    claimed: Mutex<HashSet<(ContentHash, &'static str)>>,
    /// Whether a file's text will be needed after it was read.
    pub(super) keeps_text: &'a (dyn Fn(&RelPath) -> bool + Sync),
}

pub(super) fn examiner<'a, 'w>(
    cache: &ArtifactCache<'w>,
    neighbors: &'a HeaderNeighbors,
    keeps_text: &'a (dyn Fn(&RelPath) -> bool + Sync),
) -> FileExaminer<'a>
where
    'w: 'a,
{
    FileExaminer {
        files: cache.workspace.files.clone(),
        steps: cache.workspace.steps.clone(),
        skew_ns: cache.clock_skew_ns(),
        neighbors,
        max_bytes: cache.workspace.options.structure_max_bytes,
        parse_timeout: cache.workspace.options.parse_timeout,
        known: cache.open_reader().map(Mutex::new),
        large: Mutex::default(),
        claimed: Mutex::default(),
        keeps_text,
    }
}

impl ReadOutcome {
    /// Returns whether a file still matches its row.
    pub(super) fn is_as_stored(&self, stored: &StoredFileState) -> bool {
        match (self, stored) {
            (Self::Content { hash, .. }, StoredFileState::Content { hash: stored, .. }) => hash == stored,
            (Self::LeftOut(reason), StoredFileState::LeftOut(stored)) => reason == stored,
            (Self::Content { .. } | Self::LeftOut(_), _) => false,
        }
    }
}

impl FileExaminer<'_> {
    /// Reads all files on all cores, and sends the results in arbitrary order.
    pub(super) fn examine_all(
        &self,
        paths: &[RelPath],
        results: &SyncSender<Vec<ExaminedFile>>,
        progress: &dyn ScanProgress,
    ) {
        let next = AtomicUsize::new(0);
        let work = |results: SyncSender<Vec<ExaminedFile>>| {
            let (mut examined, mut bytes) = (Vec::new(), 0);
            while !progress.is_cancelled()
                && let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed))
            {
                let file = self.examine(path);
                progress.advance();
                bytes += file.bytes;
                examined.push(file);
                if SENT_FILES <= examined.len() || SENT_BYTES <= bytes {
                    bytes = 0;
                    if results.send(mem::take(&mut examined)).is_err() {
                        return;
                    }
                }
            }
            // The receiver may be gone.
            let _ = results.send(examined);
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(paths.len());
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let results = results.clone();
                let builder = std::thread::Builder::new().name("examine".to_owned()).stack_size(STACK_BYTES);
                if builder.spawn_scoped(scope, || work(results)).is_err() {
                    // If no thread can be started, the work is done by the existing ones, or by this one.
                    break;
                }
            }
        });
        // Does all of the work if no thread could be started.
        work(results.clone());
    }

    pub(super) fn examine(&self, path: &RelPath) -> ExaminedFile {
        let mut waits = RETRY_AFTER.iter();
        loop {
            // Taken before the file is opened: this read may miss what is written from here on.
            let read_at_ns = self.steps.clock.now_ns().saturating_add(self.skew_ns);
            let timer = self.steps.time(AnswerStep::Read);
            let read = self.files.read(path, self.max_bytes);
            drop(timer);
            match (read, waits.len()) {
                (Err(ReadError::Changing), 1..) => {
                    waits.next().into_iter().for_each(|wait| self.steps.clock.sleep(*wait));
                }
                (Ok(reading), _) => return self.identify_and_derive(path, &reading, read_at_ns),
                (Err(error), _) => {
                    let reason = left_out_reason(&error);
                    let is_too_large = reason == SkipReason::TooLarge;
                    let unread = is_too_large.then(|| self.files.stat(path).ok()).flatten();
                    return ExaminedFile {
                        path: path.clone(),
                        stamp: None,
                        unread: unread.map(|stat| stat.stamp),
                        read_at_ns,
                        bytes: 0,
                        outcome: ReadOutcome::LeftOut(reason),
                    };
                }
            }
        }
    }

    fn identify_and_derive(&self, path: &RelPath, reading: &FileContent, read_at_ns: i64) -> ExaminedFile {
        let outcome = match IdentifiedBytes::new(path, &reading.bytes, self.neighbors) {
            Err(reason) => ReadOutcome::LeftOut(reason),
            Ok(bytes) => self.derive_unless_known(path, bytes),
        };
        let bytes = reading.bytes.len() as u64;
        let stamp = Some(reading.stamp);
        ExaminedFile { path: path.clone(), stamp, unread: None, read_at_ns, bytes, outcome }
    }

    fn derive_unless_known(&self, path: &RelPath, bytes: IdentifiedBytes<'_>) -> ReadOutcome {
        let (hash, file_type) = (bytes.hash, bytes.file_type);
        let (is_known, keeps_text) = (self.is_known(hash, file_type), (self.keeps_text)(path));
        if is_known && !keeps_text {
            return ReadOutcome::Content { hash, file_type, facts: bytes.facts, derived: None, text: None };
        }
        let content = bytes.into_text();
        let derived = (!is_known).then(|| {
            let is_large = LARGE_BYTES < content.text.text.len();
            let _alone = is_large.then(|| lock(&self.large));
            Box::new(derive(&content, self.parse_timeout, &self.steps))
        });
        let text = keeps_text.then(|| content.text.text.into_owned());
        ReadOutcome::Content { hash, file_type, facts: content.facts, derived, text }
    }

    /// Returns whether nothing has to be derived from a content: it is stored, or a thread of this run is deriving it.
    /// A store that cannot be queried knows nothing.
    fn is_known(&self, hash: ContentHash, file_type: &'static FileType) -> bool {
        // Claimed before the store is queried: of several files with the same content that are read concurrently, only
        // the first is parsed.
        if !lock(&self.claimed).insert((hash, file_type.id)) {
            return true;
        }
        let Some(known) = &self.known else { return false };
        lock(known).has_artifacts(&hash, &producers(file_type)).unwrap_or(false)
    }
}

/// Returns why an attempt to read a file of at most `most_bytes` would fail, as far as its stamp shows.
pub(super) fn reason_not_to_read(stat: &FileStat, most_bytes: u64) -> Option<SkipReason> {
    reason_of_kind(stat.kind).or_else(|| (most_bytes < stat.stamp.size).then_some(SkipReason::TooLarge))
}

/// Returns why something other than a regular file is left out.
pub(super) const fn reason_of_kind(kind: FileKind) -> Option<SkipReason> {
    match kind {
        FileKind::Regular => None,
        FileKind::Symlink => Some(SkipReason::Symlink),
        // Git tracks a file of this name.
        FileKind::Directory => Some(SkipReason::Vanished),
        FileKind::Special => Some(SkipReason::Special),
    }
}

fn left_out_reason(error: &ReadError) -> SkipReason {
    match error {
        ReadError::TooLarge { .. } => SkipReason::TooLarge,
        ReadError::Changing => SkipReason::Unstable,
        ReadError::NotRegular(kind) => reason_of_kind(*kind).unwrap_or(SkipReason::Special),
        ReadError::Io(error) if error.kind() == std::io::ErrorKind::NotFound => SkipReason::Vanished,
        ReadError::Io(_) => SkipReason::Unreadable,
    }
}
