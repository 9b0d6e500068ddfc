//! What there is to ask: real files, a real store, a real database of paid things, and a count of the readings.

mod asked;
mod withheld;
mod worded;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering;
use std::time::Duration;
use std::time::SystemTime;

use super::errand::{
    PreparedPrompt, SubjectLocation, SummaryPolicy, SummaryTask, SummaryTasks, WithheldReason, summary_keys,
};
use super::previewing::PromptPreview;
use crate::discover;
use crate::engine::error::Error;
use crate::engine::index::Trust;
use crate::engine::options::{Options, World};
use crate::engine::project::Project;
use crate::engine::report::NoProgress;
use crate::engine::tests::options;
use crate::model::FileItem;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::RelPath;
use crate::model::SummaryModel;
use crate::model::SummaryScope;
use crate::model::Tier;
use crate::model::TokenUsage;
use crate::store::agent::AGENT_DATABASE;
use crate::store::agent::AgentDb;
use crate::store::agent::ClaimStatus;
use crate::store::agent::SpendCaps;
use crate::store::agent::SpendOutcome;
use crate::store::agent::SpendReservation;
use crate::store::agent::SpendSettlement;
use crate::store::agent::StoredSummary;
use crate::sys::Clock;
use crate::sys::Disk;
use crate::sys::FileContent;
use crate::sys::FileKind;
use crate::sys::FileStat;
use crate::sys::Files;
use crate::sys::ReadError;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

const HOLDER: &str = "agent-0123456789abcdef.lock";

/// A clock that is ahead of the files' by so many seconds.
#[derive(Default)]
struct AheadClock(AtomicU64);

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

/// Real files, with a count of the readings.
struct ReadCounter(RealFiles, AtomicU64);

impl Files for ReadCounter {
    fn stat(&self, path: &RelPath) -> io::Result<FileStat> {
        self.0.stat(path)
    }

    fn read(&self, path: &RelPath, limit: u64) -> Result<FileContent, ReadError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.read(path, limit)
    }

    fn entry_names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.0.entry_names(folder)
    }

    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        self.0.entries(folder)
    }
}

struct SummaryTestProject {
    folder: tempfile::TempDir,
    files: ReadCounter,
    clock: AheadClock,
}

impl SummaryTestProject {
    /// Makes a project whose files have not been written for an hour.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = RealFiles::open(folder.path()).unwrap();
        let bench =
            Self { folder, files: ReadCounter(real, AtomicU64::new(0)), clock: AheadClock::default() };
        for (path, text) in files {
            bench.write(path, text);
        }
        bench.wait(3_600);
        bench
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        match RealDisk.create_new(&self.path(path), text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                RealDisk.replace(&self.path(path), text.as_bytes()).unwrap();
            }
            other => other.unwrap(),
        }
    }

    fn rename(&self, from: &str, to: &str) {
        std::fs::create_dir_all(self.path(to).parent().unwrap()).unwrap();
        std::fs::rename(self.path(from), self.path(to)).unwrap();
    }

    fn wait(&self, seconds: u64) {
        self.clock.0.fetch_add(seconds, Ordering::SeqCst);
    }

    /// Sets the clock to that of the files: what is written now is young.
    fn come_back(&self) {
        self.clock.0.store(0, Ordering::SeqCst);
    }

    fn project(&self) -> Project<'_> {
        let options = Options { cache_enabled: true, ..options() };
        let world = World {
            clock: &self.clock,
            disk: &RealDisk,
            files: &self.files,
            processes: &RealProcesses,
            progress: &NoProgress,
        };
        Project::open(self.folder.path(), options, world).unwrap()
    }

    fn errands(&self, wish: &SummaryPolicy) -> SummaryTasks {
        self.project().summary_tasks(wish).unwrap()
    }

    fn paid(&self) -> AgentDb {
        AgentDb::open(&self.path(".slop_cache").join(AGENT_DATABASE)).unwrap().db
    }

    /// Answers an errand as a model would.
    fn answer(paid: &mut AgentDb, errand: &SummaryTask, wish: &SummaryPolicy) {
        let by = &wish.models[0].name;
        let keys = summary_keys(errand, wish, by);
        assert_eq!(keys[0].1, errand.id);
        let wanted: Vec<_> = keys.iter().map(|(_, key)| *key).collect();
        assert_eq!(
            paid.claim(&errand.id, &errand.id, &wanted, HOLDER, 0, &|_| true).unwrap(),
            ClaimStatus::Acquired
        );
        let reservation = SpendReservation {
            task_key: errand.id,
            model: by.clone(),
            max_cost: Money::from_nanos(1),
            holder: HOLDER.to_owned(),
            is_batch: false,
            at_ms: 0,
            day: 0,
        };
        let most = Money::from_nanos(u64::MAX / 4);
        let caps = SpendCaps { day: most, total: most, calls_a_day: u64::MAX / 4 };
        let spend = paid.reserve(&reservation, &caps).unwrap().unwrap();
        let settlement = SpendSettlement {
            outcome: SpendOutcome::Answered,
            cost: None,
            tokens: TokenUsage::default(),
            request_id: None,
            at_ms: 0,
        };
        let summary = |(tier, key): &(Tier, _)| StoredSummary {
            key: *key,
            subject: errand.subject,
            language: errand.language.to_owned(),
            scope: errand.scope,
            tier: *tier,
            prompt: errand.strategy.versioned(),
            model: by.clone(),
            text: format!("A model's words about {}.", errand.subject.short_hex()),
            tokens: TokenUsage::default(),
            cost: Money::ZERO,
            at_ms: 0,
        };
        let summaries: Vec<StoredSummary> = keys.iter().map(summary).collect();
        paid.record_answer(spend, &settlement, &errand.id, HOLDER, &summaries, &[]).unwrap();
    }

    /// Answers all that there is to ask, until nothing is; returns what was asked, round by round.
    fn answer_all(&self, wish: &SummaryPolicy) -> Vec<Vec<String>> {
        let mut rounds = Vec::new();
        loop {
            let errands = self.errands(wish);
            if errands.ready.is_empty() {
                assert_eq!(errands.waiting_folders, 0);
                return rounds;
            }
            let mut paid = self.paid();
            for errand in &errands.ready {
                Self::answer(&mut paid, errand, wish);
            }
            rounds.push(names(&errands));
        }
    }

    fn readings(&self) -> u64 {
        self.files.1.swap(0, Ordering::SeqCst)
    }
}

fn names(errands: &SummaryTasks) -> Vec<String> {
    let name = |errand: &SummaryTask| match &errand.location {
        SubjectLocation::File(path) => path.to_string(),
        SubjectLocation::Folder(path) => format!("{path}/"),
        SubjectLocation::Root => ".".to_owned(),
    };
    let mut names: Vec<String> = errands.ready.iter().map(name).collect();
    names.sort();
    names
}

fn wish() -> SummaryPolicy {
    let name = ModelName { provider: "test".to_owned(), model: "one".to_owned() };
    SummaryPolicy {
        tiers: vec![Tier::Orchestrator, Tier::TechLead],
        models: vec![SummaryModel::plain(name)],
        provider_chain: String::new(),
        paths: Vec::new(),
        exclude: Vec::new(),
        items: Vec::new(),
        min_age: Duration::from_mins(1),
        material_bytes: 4_000,
        answer_tokens: 300,
        redacts: false,
        min_bytes: 20,
        secret_names: discover::Options::default(),
        retries: false,
    }
}

/// A program that is long enough to be asked about.
fn program(name: &str) -> String {
    format!("def {name}():\n    \"\"\"Does what {name} does.\"\"\"\n    return 1\n")
}

fn bench(paths: &[&str]) -> SummaryTestProject {
    let texts: Vec<(&str, String)> = paths.iter().map(|path| (*path, program(&function(path)))).collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    SummaryTestProject::new(&files)
}

fn function(path: &str) -> String {
    path.replace(['/', '.'], "_")
}

const FILES: &[&str] = &["src/a.py", "src/b.py", "src/deep/c.py", "src/deep/d.py", "tools/e.py", "f.py"];
