//! A project in a folder of its own, for the tests of this room: real files and a real store, with a record of reads
//! and runs.

#![expect(clippy::disallowed_methods, reason = "a test prepares its own files")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use super::options::{NoProgress, Options, SummaryLookupOptions, World};
use super::project::Project;
use super::shared::WorkspaceCache;
use crate::aggregate::{DocumentLimits, TierOptions, TokenCounter};
use crate::discover;
use crate::engine::document::{AggregationRequest, SectionRequest, ViewRequest};
use crate::engine::index::Trust;
use crate::model::{AggregationStrategy, DocsDetail, FileOrder, RelPath, SummaryDetail, Tier, ViewMode};
use crate::store::agent::AGENT_DATABASE;
use crate::sys::{
    Clock, FileContent, FileKind, FileStat, Files, ProcessOutput, Processes, ReadError, RealDisk, RealFiles,
    RealProcesses, WallClock,
};

/// Real files, with a record of reads.
pub(super) struct RecordingFiles {
    files: RealFiles,
    reads: Mutex<Vec<String>>,
    /// How many more reads are disturbed by a change.
    pub(super) disturbances: AtomicUsize,
    /// The bytes that the next read returns, as if the file were being written.
    pub(super) torn: Mutex<Option<Vec<u8>>>,
    /// Runs during the next read.
    pub(super) meanwhile: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Files for RecordingFiles {
    fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        self.files.stat(path)
    }

    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError> {
        self.reads.lock().unwrap().push(path.to_string());
        if let Some(work) = self.meanwhile.lock().unwrap().take() {
            work();
        }
        let disturbed =
            self.disturbances.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        if disturbed.is_ok() {
            return Err(ReadError::Changing);
        }
        let mut content = self.files.read(path, limit)?;
        if let Some(bytes) = self.torn.lock().unwrap().take() {
            content.bytes = bytes;
        }
        Ok(content)
    }

    fn entry_names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.files.entry_names(folder)
    }

    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        self.files.entries(folder)
    }
}

/// Real processes, with a count of runs.
#[derive(Default)]
struct CountingProcesses(AtomicUsize);

impl Processes for CountingProcesses {
    fn run(
        &self,
        program: &str,
        arguments: &[&OsStr],
        folder: &Path,
        variables: &[(&str, Option<&str>)],
        input: &[u8],
    ) -> io::Result<ProcessOutput> {
        self.0.fetch_add(1, Ordering::SeqCst);
        RealProcesses.run(program, arguments, folder, variables, input)
    }
}

/// A clock that is ahead of the files' clock by a number of seconds.
#[derive(Default)]
pub(super) struct AheadClock(AtomicU64);

impl Clock for AheadClock {
    fn now(&self) -> SystemTime {
        WallClock.now() + Duration::from_secs(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, time: Duration) {
        WallClock.sleep(time);
    }

    fn thread_time(&self) -> Duration {
        WallClock.thread_time()
    }

    fn monotonic(&self) -> Duration {
        WallClock.monotonic()
    }
}

/// A folder with files, and a record of accesses.
pub(super) struct TestProject {
    pub(super) folder: tempfile::TempDir,
    pub(super) files: RecordingFiles,
    processes: CountingProcesses,
    pub(super) clock: AheadClock,
}

impl TestProject {
    /// Returns a project with these files, given as paths and texts.
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let recording = RecordingFiles {
            files: RealFiles::open(folder.path()).unwrap(),
            reads: Mutex::default(),
            disturbances: AtomicUsize::new(0),
            torn: Mutex::default(),
            meanwhile: Mutex::default(),
        };
        let (processes, clock) = (CountingProcesses::default(), AheadClock::default());
        let project = Self { folder, files: recording, processes, clock };
        for (path, text) in files {
            project.write(path, text);
        }
        project
    }

    pub(super) fn open(&self, options: Options) -> Project<'_> {
        let world = World {
            clock: &self.clock,
            disk: &RealDisk,
            files: &self.files,
            processes: &self.processes,
            progress: &NoProgress,
        };
        Project::open(self.folder.path(), options, world).unwrap()
    }

    /// Opens the project with or without a cache.
    pub(super) fn project(&self, cache_enabled: bool) -> Project<'_> {
        self.open(Options { cache_enabled, ..options() })
    }

    /// Opens the project as a long-running process does.
    pub(super) fn open_shared(&self, shared: &Arc<WorkspaceCache>) -> Project<'_> {
        let mut project = self.open(options());
        project.share_cache(Arc::clone(shared));
        project
    }

    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file in place, so that its inode does not change.
    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn rename(&self, from: &str, to: &str) {
        fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        fs::rename(self.path(from), self.path(to)).unwrap();
    }

    pub(super) fn remove(&self, path: &str) {
        fs::remove_file(self.path(path)).unwrap();
    }

    pub(super) fn git(&self, arguments: &[&str]) {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@t"];
        let arguments: Vec<&OsStr> = identity.iter().chain(arguments).map(OsStr::new).collect();
        let finished = RealProcesses.run("git", &arguments, self.folder.path(), &[], b"").unwrap();
        assert!(finished.success, "{finished:?}");
    }

    /// Lets all stamps settle.
    pub(super) fn rest(&self) {
        std::thread::sleep(Duration::from_millis(120));
        let _ = self;
    }

    /// Sets the clock ahead of the files' clock, so that they seem older.
    pub(super) fn wait(&self, seconds: u64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Resets the clock to that of the files, so that stamps of new writes are not settled.
    pub(super) fn reset_clock(&self) {
        self.clock.0.store(0, Ordering::SeqCst);
    }

    /// Returns the files that were read since the last call, in order.
    pub(super) fn reads(&self) -> Vec<String> {
        std::mem::take(&mut *self.files.reads.lock().unwrap())
    }

    /// Returns how often each file was read since the last call.
    pub(super) fn read_counts(&self) -> Vec<(String, usize)> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for path in self.reads() {
            *counts.entry(path).or_default() += 1;
        }
        counts.into_iter().collect()
    }

    /// Returns how many programs were run since the last call.
    pub(super) fn runs(&self) -> usize {
        self.processes.0.swap(0, Ordering::SeqCst)
    }

    /// Returns the path of the database of model summaries.
    pub(super) fn agent_db(&self) -> PathBuf {
        self.path(".slop_cache").join(AGENT_DATABASE)
    }
}

pub(super) fn options() -> Options {
    Options {
        cache_enabled: true,
        cache_dir: RelPath::new(b".slop_cache").unwrap(),
        cache_clones: Arc::default(),
        linked: Arc::default(),
        names: discover::Options {
            apart: vec![b".slop_cache".to_vec()],
            skip: vec!["node_modules".to_owned()],
            secret_names: vec![],
            secrets_allowed: vec![],
        },
        max_files: None,
        shows_secrets_in_full: false,
        max_bytes: 1 << 20,
        structure_max_bytes: 8 << 20,
        parse_timeout: std::time::Duration::from_mins(1),
        window_lines: 1,
        counter: TokenCounter::O200kBase,
        screenshot_bytes: 1 << 10,
        section_bytes: 1 << 10,
        trusts_project: false,
        items: Arc::default(),
        settings_problems: Arc::default(),
        summary_lookup: SummaryLookupOptions { uses_earlier: true, ..SummaryLookupOptions::default() },
    }
}

pub(super) fn request(strategy: AggregationStrategy, view: ViewMode, focus: &[&str]) -> AggregationRequest {
    let tier = TierOptions {
        tier: Tier::Worker,
        view,
        focus_view: ViewMode::Full,
        summary_detail: SummaryDetail::Words,
        by_model: false,
        tree: false,
        stable_thousandths: 0,
        language_views: BTreeMap::new(),
    };
    AggregationRequest {
        base: None,
        items: Vec::new(),
        preset: None,
        overrides: Vec::new(),
        hydrated: None,
        limits: DocumentLimits::default(),
        exact_tokens: false,
        counts_symbols: false,
        tier: Some(tier),
        strategy,
        default_mode: ViewMode::Summary,
        overview: false,
        docs: DocsDetail::Full,
        order: FileOrder::Path,
        focus: focus.iter().map(|word| (*word).to_owned()).collect(),
        task: None,
        files: vec![],
        include: vec![],
        exclude: vec![],
        trust: Trust::Stamps,
        sections: SectionRequest::nothing(),
        history: None,
    }
}

pub(super) fn view_request(mode: ViewMode, files: &[&str]) -> ViewRequest {
    ViewRequest {
        items: Vec::new(),
        overrides: Vec::new(),
        files: files.iter().map(|&file| file.to_owned()).collect(),
        mode: Some(mode),
        docs: DocsDetail::Full,
        mask: Vec::new(),
        keeps_hidden: false,
        lines: Vec::new(),
        base: None,
        trust: Trust::Stamps,
    }
}

/// Two small files.
pub(super) const FILES: &[(&str, &str)] =
    &[("a.py", "def a():\n    return 1\n"), ("b.py", "def b():\n    return 2\n")];
