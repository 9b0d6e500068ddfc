//! Opens, reads and writes the cache; answers stay correct whatever is wrong with it.
//!
//! The cache is disposable. A store that cannot be opened, read or written costs time and a note, but never an answer.
//! Only a store of a newer slop stops the run, because two versions must not take turns rebuilding it.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::derive::producers_fingerprint;
use super::kept_vectors::KeptVectors;
use crate::engine::error::Error;
use crate::engine::options::Options;
use crate::engine::timings::AnswerStep;
use crate::engine::workspace::{CacheLocation, FileRows, TreeSnapshot, TreeTracker, Workspace};
use crate::model::{ContentHash, Producer, RelPath, error_chain};
use crate::store;
use crate::store::HISTORY_DATABASE;
use crate::store::agent::AGENT_DATABASE;
use crate::store::{ContentArtifacts, DeletedRows, OpenedStore, Store, WriteBatch};
use crate::sys::{Disk, FileKind, Files, RealFiles};

/// Name of the database in the cache's folder.
const DATABASE: &str = "index.db";
/// Names by which a cache folder is recognized.
const OURS: [&str; 6] =
    ["CACHEDIR.TAG", DATABASE, AGENT_DATABASE, HISTORY_DATABASE, "cookies", "daemon.lock"];
/// The name of the file whose stamp shows the file system's time.
const STAMP: &str = "stamp";

/// The key under which the store records the producers of its artifacts.
const PRODUCERS: &str = "producers";

/// How long to wait before a lost cache is opened again.
const REOPEN_AFTER: Duration = Duration::from_secs(2);

/// The signature required by the cache directory tagging standard, so that backups skip the folder.
const CACHEDIR_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55\n\
# This folder is the cache of slop. It can be deleted at any time.\n";

/// The artifacts of a project: those in the store, and those that could not be stored.
pub(in crate::engine) struct ArtifactCache<'w> {
    pub(in crate::engine) workspace: Workspace<'w>,
    /// The store; `None` if it is not available, and everything has to be derived again.
    pub(in crate::engine) store: Option<Store>,
    /// Artifacts that could not, or should not, be stored.
    pub(super) unsaved: HashMap<ContentKey, ContentArtifacts>,
    pub(in crate::engine) kept_vectors: Arc<KeptVectors>,
    /// The moment before which a lost store is not opened again.
    pub(in crate::engine) reopens_after: Duration,
}

/// A content with the file type that it is read as: the same bytes have different artifacts as C and as C++.
pub(in crate::engine) type ContentKey = (ContentHash, &'static str);

impl<'w> ArtifactCache<'w> {
    /// Opens the cache of a project, unless its options disable it.
    pub(in crate::engine) fn open(workspace: Workspace<'w>) -> Result<Self, Error> {
        let mut cache = Self {
            workspace,
            store: None,
            unsaved: HashMap::new(),
            kept_vectors: Arc::default(),
            reopens_after: Duration::ZERO,
        };
        if cache.workspace.options.cache_enabled {
            cache.open_store()?;
        }
        Ok(cache)
    }
}

impl ArtifactCache<'_> {
    fn open_store(&mut self) -> Result<(), Error> {
        if let Err(error) = self.make_folder() {
            if self.workspace.location.worktree.is_some() {
                self.workspace.use_own_cache(&format!("that of the repository cannot be used: {error}"));
                return self.open_store();
            }
            let folder = &self.workspace.options.cache_dir;
            self.workspace
                .note(format!("the cache folder {folder} cannot be used, so nothing is kept: {error}"));
            return Ok(());
        }
        match Store::open(&self.workspace.cache_folder().join(DATABASE)) {
            Ok(OpenedStore { mut store, recovery }) => {
                if let Some(worktree) = &self.workspace.location.worktree {
                    store.select_worktree(worktree);
                }
                self.store = Some(store);
                if let Some(recovery) = recovery {
                    let moved_to = recovery.moved_to.file_name().unwrap_or_default().to_string_lossy();
                    let reason = recovery.reason;
                    self.workspace
                        .note(format!("the cache was rebuilt: {reason}; the old file is now {moved_to}"));
                }
                Ok(())
            }
            Err(error @ store::Error::TooNew { .. }) => Err(Error::Store(error)),
            Err(error) if self.workspace.location.worktree.is_some() => {
                let reason = error_chain(&error);
                self.workspace.use_own_cache(&format!("that of the repository cannot be opened: {reason}"));
                self.open_store()
            }
            Err(error) => {
                self.workspace
                    .note(format!("the cache cannot be opened, so nothing is kept: {}", error_chain(&error)));
                Ok(())
            }
        }
    }

    fn make_folder(&self) -> io::Result<()> {
        let Workspace { location, world, .. } = &self.workspace;
        if location.worktree.is_none() {
            return make_cache_folder(&location.base, &location.folder, world.files, world.disk);
        }
        make_cache_folder(&location.base, &location.folder, &RealFiles::open(&location.base)?, world.disk)
    }

    /// Deletes the stored data of linked worktrees that the repository no longer has.
    pub(in crate::engine) fn delete_lost_worktrees(&mut self) {
        let Workspace { location, world, .. } = &self.workspace;
        let Some(store) = &mut self.store else { return };
        let is_there = |name: &str| location.has_worktree(name, world.disk);
        if let Err(error) = store.delete_worktrees(&is_there, world.clock.now_s()) {
            self.recover(&error);
        }
    }

    /// Returns how far the file system's clock is ahead of the machine's, in nanoseconds.
    pub(in crate::engine) fn clock_skew_ns(&self) -> i64 {
        let stamp = self.stamp_folder().join(STAMP);
        // Without a cache, there is no file to stamp, and the clocks are assumed to agree.
        let now = self.store.as_ref().and_then(|_| self.workspace.world.disk.file_system_time(&stamp).ok());
        // Compared with a time after the stamp, not before it: if the write had to wait for the disk, all later reads
        // would seem later than they are, and young files older. The opposite error only causes a file to be read
        // again.
        now.map_or(0, |now| now.saturating_sub(self.workspace.world.clock.now_ns()))
    }

    /// Returns one of slop's own folders on the project's file system.
    fn stamp_folder(&self) -> PathBuf {
        let Workspace { location, world, root, options, .. } = &self.workspace;
        if location.worktree.is_none() || location.is_on_device_of(root) {
            return location.path();
        }
        // If this fails, so does the stamp, and the clocks are assumed to agree.
        let _ = make_cache_folder(root, &options.cache_dir, world.files, world.disk);
        root.join(options.cache_dir.as_path())
    }

    /// Queries the store. On failure the result is `None`, as if nothing were stored.
    pub(in crate::engine) fn query_store<T>(
        &mut self,
        ask: impl FnOnce(&Store) -> Result<T, store::Error>,
    ) -> Option<T> {
        let timer = self.workspace.steps.time(AnswerStep::Store);
        let answer = ask(self.store.as_ref()?);
        drop(timer);
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                self.recover(&error);
                None
            }
        }
    }

    pub(in crate::engine) fn new_batch(&self) -> WriteBatch {
        let at_s = self.workspace.world.clock.now_s();
        WriteBatch { contents: Vec::new(), files: Vec::new(), removed: Vec::new(), at_s }
    }

    pub(in crate::engine) fn save_contents(&mut self, contents: Vec<ContentArtifacts>) {
        let batch = WriteBatch { contents, ..self.new_batch() };
        self.save(batch, None);
    }

    /// Writes a batch, without the files that were touched and read again after `began`. What cannot be stored is kept
    /// in memory, so that the answers of this run are correct.
    pub(in crate::engine) fn save(&mut self, mut batch: WriteBatch, began: Option<&TreeSnapshot>) {
        let touches = began.map(|began| began.touches);
        if batch.contents.is_empty() && batch.files.is_empty() && batch.removed.is_empty() {
            return;
        }
        let tree = self.workspace.tracker.clone();
        let _alone = tree.as_ref().map(|tree| tree.lock_writes());
        if let Some(tree) = &tree {
            // Before outdated rows are dropped: a file whose row is not stored was still read.
            let paths: Vec<RelPath> =
                batch.files.iter().map(|row| &row.path).chain(&batch.removed).cloned().collect();
            if let Some(touches) = touches {
                tree.drop_outdated(&mut batch, touches);
            }
            tree.apply_batch(&batch);
            if let Some(touches) = touches {
                tree.mark_read(paths.iter(), touches);
            }
        }
        // Twice: a store that is damaged or deleted is first created again, then written to.
        for _ in 0..2 {
            let Some(store) = &mut self.store else { break };
            let _timer = self.workspace.steps.time(AnswerStep::Store);
            // SQLite keeps writing to a deleted file without an error.
            let saved = if store.is_file_in_place() { store.save(&batch) } else { Err(store::Error::Gone) };
            match saved {
                Ok(()) => return,
                Err(error) => self.recover(&error),
            }
        }
        if let Some(tree) = &tree {
            tree.mark_behind();
            // The store may have rows of an earlier state of these files with the same stamps, or of files that no
            // longer exist.
            let files = batch.files.iter().map(|row| &row.path).chain(&batch.removed);
            tree.touch(&files.cloned().collect::<Vec<RelPath>>());
        }
        for derived in batch.contents {
            let language = derived.artifacts.first().map(|(producer, _)| producer.language);
            if let Some(language) = language {
                self.keep_unsaved((derived.hash, language), derived);
            }
        }
    }

    /// Keeps artifacts in memory, merged with others of the same content.
    fn keep_unsaved(&mut self, key: (ContentHash, &'static str), mut derived: ContentArtifacts) {
        if let Some(before) = self.unsaved.remove(&key) {
            let is_new = |by: &Producer| derived.artifacts.iter().all(|(other, _)| other != by);
            let kept: Vec<_> = before.artifacts.into_iter().filter(|(by, _)| is_new(by)).collect();
            derived.artifacts.extend(kept);
        }
        self.unsaved.insert(key, derived);
    }

    /// Recovers from an error of the store: rebuilds it, or continues without it.
    pub(in crate::engine) fn recover(&mut self, error: &store::Error) {
        let Some(store) = self.store.take() else { return };
        if let Some(tree) = &self.workspace.tracker {
            tree.drop_rows();
        }
        let reason = error_chain(error);
        if error.is_damage() {
            self.store = Some(store);
            self.rebuild_store(&reason);
        } else if matches!(error, store::Error::Gone) {
            self.reopen_store();
        } else {
            self.workspace.note(format!("the cache is not used in this run: {reason}"));
        }
    }

    /// Moves a damaged store aside and opens a new one.
    pub(super) fn rebuild_store(&mut self, reason: &str) {
        let Some(store) = self.store.take() else { return };
        let moved = store.set_aside().ok().flatten().and_then(|path| path.file_name().map(PathBuf::from));
        let moved_to =
            moved.map_or(String::new(), |name| format!("; the old file is now {}", name.display()));
        self.workspace.note(format!("the cache was rebuilt: {reason}{moved_to}"));
        self.reopen_store();
    }

    /// Clears the store although the disk is full, and opens it again. `None` if that is not possible.
    pub(super) fn clear_store_in_place(&mut self) -> Option<DeletedRows> {
        if !self.workspace.options.cache_enabled {
            return None;
        }
        // An open connection would prevent it.
        self.store = None;
        let file = self.workspace.cache_folder().join(DATABASE);
        let freed = Store::clear_in_place(&file, self.workspace.location.worktree.as_deref());
        self.reopen_store();
        freed.ok()
    }

    fn reopen_store(&mut self) {
        if self.open_store().is_err() {
            self.workspace.note(
                "the cache is not used in this run: it was replaced by that of a newer slop".to_owned(),
            );
        }
    }

    /// Tries to open a lost cache again, so that a long-running process does not lose it forever to a full disk.
    fn retry_open(&mut self) {
        let now = self.workspace.world.clock.monotonic();
        if self.store.is_some() || !self.workspace.options.cache_enabled || now < self.reopens_after {
            return;
        }
        self.reopens_after = now.saturating_add(REOPEN_AFTER);
        self.reopen_store();
        if self.store.is_none() {
            return;
        }
        if let Some(tree) = &self.workspace.tracker {
            tree.drop_rows();
        }
        // Otherwise, a process that has lost its cache now and then keeps all that it derived meanwhile.
        let unsaved = std::mem::take(&mut self.unsaved);
        self.save_contents(unsaved.into_values().collect());
    }

    /// Returns whether everything in the store was made by the producers of this program.
    pub(in crate::engine) fn has_current_producers(&mut self) -> bool {
        if let Some(stored) = self.query_store(|store| store.get_meta(PRODUCERS)).flatten() {
            return stored == producers_fingerprint().as_bytes();
        }
        // In a new store, so that a file that was read alone is not read again until all have been.
        let is_empty = self.query_store(Store::file_count) == Some(0);
        if is_empty {
            self.remember_producers();
        }
        is_empty
    }

    pub(in crate::engine) fn remember_producers(&mut self) {
        self.remember(PRODUCERS, producers_fingerprint().as_bytes());
    }

    /// Makes the next scan read every file again, because some of the derived data is missing.
    pub(super) fn forget_producers(&mut self) -> Result<(), Error> {
        let store = self.store.as_mut().ok_or(Error::NoCache)?;
        Ok(store.delete_meta_of_all_worktrees(PRODUCERS)?)
    }

    pub(in crate::engine) fn remember(&mut self, key: &str, value: &[u8]) {
        if let Some(store) = &mut self.store
            && let Err(error) = store.set_meta(key, value)
        {
            self.recover(&error);
        }
    }

    /// Deletes the value recorded under a key.
    pub(in crate::engine) fn forget(&mut self, key: &str) {
        if let Some(store) = &mut self.store
            && let Err(error) = store.delete_meta(key)
        {
            self.recover(&error);
        }
    }

    /// Opens a second connection to the store, for queries by other threads.
    pub(in crate::engine) fn open_reader(&self) -> Option<Store> {
        self.store.as_ref()?;
        let mut reader = Store::open_reader(&self.workspace.cache_folder().join(DATABASE)).ok()?;
        if let Some(worktree) = &self.workspace.location.worktree {
            reader.select_worktree(worktree);
        }
        Some(reader)
    }
}

/// Returns the folder with the databases of a project. For linked worktrees and some clones, it is that of another
/// checkout. Creates nothing.
pub fn cache_folder(root: &Path, options: &Options, disk: &dyn Disk) -> PathBuf {
    CacheLocation::find(root, &options.cache_dir, &options.cache_clones, disk).0.path()
}

/// Creates the cache folder below `root`, with the files by which other programs recognize it. An existing folder is
/// left as it is. Fails if it is not a folder, or contains files other than a cache's.
pub fn make_cache_folder(
    root: &Path,
    cache_dir: &RelPath,
    files: &dyn Files,
    disk: &dyn Disk,
) -> io::Result<()> {
    let folder = root.join(cache_dir.as_path());
    let name = cache_dir.as_bytes();
    let ends = name.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    let mut is_there = false;
    for end in ends.chain([name.len()]) {
        let part = RelPath::new(&name[..end]).map_err(io::Error::other)?;
        match files.stat(&part) {
            Ok(stat) if stat.kind != FileKind::Directory => {
                // A link could lead out of the project, where slop must not write.
                let what = if stat.kind == FileKind::Symlink { "a link" } else { "not a folder" };
                return Err(io::Error::new(io::ErrorKind::NotADirectory, format!("{part} is {what}")));
            }
            Ok(_) => is_there = true,
            Err(_) => is_there = false,
        }
    }
    if !is_there {
        disk.create_private_folder(&folder)?;
    } else if is_foreign(&folder, disk)? {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it holds other files"));
    }
    // The tag first: another run that starts in between recognizes the folder by it.
    for (name, bytes) in [("CACHEDIR.TAG", CACHEDIR_TAG), (".gitignore", &b"*\n"[..])] {
        match disk.create_new(&folder.join(name), bytes) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) | Err(_) => {}
        }
    }
    Ok(())
}

/// Returns whether a folder contains files but no cache: `cache_dir = "src"` must neither hide a project's sources nor
/// write among them.
fn is_foreign(folder: &Path, disk: &dyn Disk) -> io::Result<bool> {
    let names = disk.entry_names(folder)?;
    // One name is enough: a process that was killed early, or a daemon that is still starting, has created only some.
    let is_ours = names.iter().any(|name| OURS.iter().any(|ours| name == ours));
    Ok(!names.is_empty() && !is_ours)
}

impl ArtifactCache<'_> {
    pub(in crate::engine) fn stored_rows(&mut self) -> FileRows {
        let rows = self.query_store(Store::files).unwrap_or_default();
        rows.into_iter().map(|row| (row.path.clone(), Arc::new(row))).collect()
    }

    /// Returns the shared rows, which are read again if another process has changed them.
    pub(in crate::engine) fn shared_rows(&mut self, tree: &TreeTracker) -> Arc<FileRows> {
        self.retry_open();
        if self.store.is_some() {
            tree.catch_up();
        }
        if let Some(rows) = self.kept_rows(tree) {
            return rows;
        }
        let _alone = tree.lock_writes();
        // Another session may have loaded them in the meantime.
        if let Some(rows) = self.kept_rows(tree) {
            return rows;
        }
        // Read first: rows that are deleted while they are read must not count for the next generation.
        let generation = self.generation();
        let rows = Arc::new(self.stored_rows());
        tree.store_rows(Arc::clone(&rows), generation);
        self.release_memory();
        rows
    }

    /// Releases memory for pages of the store in a long-running process: the system caches them too, and the next
    /// answer may be a long time off.
    pub(in crate::engine) fn release_memory(&self) {
        if let Some(store) = self.store.as_ref().filter(|_| self.workspace.tracker.is_some()) {
            // If this fails, the next query does too, and reports it.
            let _ = store.release_memory();
        }
    }

    /// Returns the rows in memory, unless some were deleted from the store since they were read. Rows that other
    /// processes write in the meantime are as correct as those in memory.
    fn kept_rows(&mut self, tree: &TreeTracker) -> Option<Arc<FileRows>> {
        let generation = self.generation();
        match &self.store {
            Some(_) => tree.rows_of(generation.as_deref()),
            None => tree.rows(),
        }
    }

    fn generation(&mut self) -> Option<Vec<u8>> {
        self.query_store(
            |store| if store.is_file_in_place() { store.generation() } else { Err(store::Error::Gone) },
        )?
    }
}
