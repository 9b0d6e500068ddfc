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

use super::Errand;
use super::Errands;
use super::Place;
use super::Prepared;
use super::Preview;
use super::Wish;
use super::Withheld;
use super::keys_of;
use crate::discover;
use crate::engine::Error;
use crate::engine::Options;
use crate::engine::Project;
use crate::engine::Silent;
use crate::engine::Trust;
use crate::engine::World;
use crate::engine::tests::options;
use crate::model::FileItem;
use crate::model::ModelName;
use crate::model::Money;
use crate::model::RelPath;
use crate::model::Scope;
use crate::model::Tier;
use crate::model::Tokens;
use crate::model::Writer;
use crate::store::paid::Caps;
use crate::store::paid::Claim;
use crate::store::paid::PAID_DATABASE;
use crate::store::paid::Paid;
use crate::store::paid::Reservation;
use crate::store::paid::Settlement;
use crate::store::paid::SpendOutcome;
use crate::store::paid::Summary;
use crate::sys::Clock;
use crate::sys::Disk;
use crate::sys::FileKind;
use crate::sys::Files;
use crate::sys::ReadError;
use crate::sys::Reading;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::Stat;
use crate::sys::WallClock;

const HOLDER: &str = "agent-0123456789abcdef.lock";

/// A clock that is ahead of the files' by so many seconds.
#[derive(Default)]
struct Ahead(AtomicU64);

impl Clock for Ahead {
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
struct Counted(RealFiles, AtomicU64);

impl Files for Counted {
    fn stat(&self, path: &RelPath) -> io::Result<Stat> {
        self.0.stat(path)
    }

    fn read(&self, path: &RelPath, limit: u64) -> Result<Reading, ReadError> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.read(path, limit)
    }

    fn names(&self, folder: &[u8]) -> io::Result<Vec<Vec<u8>>> {
        self.0.names(folder)
    }

    fn entries(&self, folder: &[u8]) -> io::Result<Vec<(Vec<u8>, FileKind)>> {
        self.0.entries(folder)
    }
}

struct Bench {
    folder: tempfile::TempDir,
    files: Counted,
    clock: Ahead,
}

impl Bench {
    /// Makes a project whose files have not been written for an hour.
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let real = RealFiles::open(folder.path()).unwrap();
        let bench = Self { folder, files: Counted(real, AtomicU64::new(0)), clock: Ahead::default() };
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
            progress: &Silent,
        };
        Project::open(self.folder.path(), options, world).unwrap()
    }

    fn errands(&self, wish: &Wish) -> Errands {
        self.project().errands(wish).unwrap()
    }

    fn paid(&self) -> Paid {
        Paid::open(&self.path(".slop_cache").join(PAID_DATABASE)).unwrap().paid
    }

    /// Answers an errand as a model would.
    fn answer(paid: &mut Paid, errand: &Errand, wish: &Wish) {
        let by = &wish.models[0].name;
        let keys = keys_of(errand, wish, by);
        assert_eq!(keys[0].1, errand.id);
        let wanted: Vec<_> = keys.iter().map(|(_, key)| *key).collect();
        assert_eq!(paid.claim(&errand.id, &errand.id, &wanted, HOLDER, 0, &|_| true).unwrap(), Claim::Yours);
        let reservation = Reservation {
            errand: errand.id,
            by: by.clone(),
            worst: Money::from_nanos(1),
            holder: HOLDER.to_owned(),
            is_batch: false,
            at_ms: 0,
            day: 0,
        };
        let most = Money::from_nanos(u64::MAX / 4);
        let caps = Caps { day: most, total: most, calls_a_day: u64::MAX / 4 };
        let spend = paid.reserve(&reservation, &caps).unwrap().unwrap();
        let settlement = Settlement {
            outcome: SpendOutcome::Answered,
            cost: None,
            tokens: Tokens::default(),
            request_id: None,
            at_ms: 0,
        };
        let summary = |(tier, key): &(Tier, _)| Summary {
            key: *key,
            subject: errand.subject,
            language: errand.language.to_owned(),
            scope: errand.scope,
            tier: *tier,
            prompt: errand.strategy.versioned(),
            by: by.clone(),
            text: format!("A model's words about {}.", errand.subject.short()),
            tokens: Tokens::default(),
            cost: Money::ZERO,
            at_ms: 0,
        };
        let summaries: Vec<Summary> = keys.iter().map(summary).collect();
        paid.accept(spend, &settlement, &errand.id, HOLDER, &summaries, &[]).unwrap();
    }

    /// Answers all that there is to ask, until nothing is; returns what was asked, round by round.
    fn answer_all(&self, wish: &Wish) -> Vec<Vec<String>> {
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

fn names(errands: &Errands) -> Vec<String> {
    let name = |errand: &Errand| match &errand.place {
        Place::File(path) => path.to_string(),
        Place::Folder(path) => format!("{path}/"),
        Place::Root => ".".to_owned(),
    };
    let mut names: Vec<String> = errands.ready.iter().map(name).collect();
    names.sort();
    names
}

fn wish() -> Wish {
    let name = ModelName { provider: "test".to_owned(), model: "one".to_owned() };
    Wish {
        tiers: vec![Tier::Orchestrator, Tier::TechLead],
        models: vec![Writer::plain(name)],
        asked: String::new(),
        picks: Vec::new(),
        exclude: Vec::new(),
        items: Vec::new(),
        still: Duration::from_mins(1),
        material_bytes: 4_000,
        answer_tokens: 300,
        redacts: false,
        least_bytes: 20,
        secrets: discover::Options::default(),
        retries: false,
    }
}

/// A program that is long enough to be asked about.
fn program(name: &str) -> String {
    format!("def {name}():\n    \"\"\"Does what {name} does.\"\"\"\n    return 1\n")
}

fn bench(paths: &[&str]) -> Bench {
    let texts: Vec<(&str, String)> = paths.iter().map(|path| (*path, program(&function(path)))).collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, text.as_str())).collect();
    Bench::new(&files)
}

fn function(path: &str) -> String {
    path.replace(['/', '.'], "_")
}

const FILES: &[&str] = &["src/a.py", "src/b.py", "src/deep/c.py", "src/deep/d.py", "tools/e.py", "f.py"];
