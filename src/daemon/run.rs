//! From the first look at a project to the last event.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::Sender;
use std::sync::mpsc::SyncSender;
use std::sync::mpsc::channel;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;

use super::barrier::Barrier;
use super::condition::DaemonInfo;
use super::condition::Metrics;
use super::error::Error;
use super::event::DaemonEvent;
use super::front::ServiceHandle;
use super::owner::InstanceLock;
use super::places::DaemonPaths;
use super::scribe;
use super::scribe::BackgroundSummarizer;
use super::scribe::KeyLookup;
use super::settle::ChangeDebouncer;
use super::sockets::ListenSockets;
use super::steady::EventLoop;
use super::steady::ROOT_GONE;
use super::steady::TAKEN_OVER;
use super::steady::TrustMode;
use super::supervisor;
use super::told::Notice;
use super::worker;
use super::worker::WorkerContext;
use crate::api::ClockPosition;
use crate::api::DaemonControl;
use crate::api::Feed;
use crate::engine;
use crate::engine::WorkspaceCache;
use crate::service::SettingsSources;
use crate::service::project_name;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;
use crate::sys::user_id;
use crate::watch;
use crate::watch::Watcher;

/// Threads that answer questions; a long answer must not keep the short ones waiting.
const WORKER_THREADS: u32 = 3;
/// Why a daemon ends that has lost a thread.
const THREAD_LOST: &str = "a thread of the daemon has ended";
/// The part of the watches that the system grants the user which a tree may take, in percent.
const WATCH_LIMIT_PERCENT: u64 = 80;
/// How long the threads may take to end. The process ends without them.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1500);
/// Events that wait for the loop; who has more to tell waits, and the watcher makes one of many meanwhile.
const EVENT_QUEUE_CAPACITY: usize = 256;

/// What a daemon is to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where its files are.
    pub places: DaemonPaths,
    /// Where settings come from.
    pub sources: SettingsSources,
    /// An address of the machine itself to listen on too.
    pub listen: Option<std::net::SocketAddr>,
    /// Looks up the key that a variable of the environment holds; nobody else asks for keys.
    pub key_lookup: KeyLookup,
    /// Whether every file of every answer is hashed.
    pub is_paranoid: bool,
    /// Whether all that it says goes to its log, in the background.
    pub is_detached: bool,
}

/// Runs the daemon of a project on this thread, until it is told to stop. Returns why it ended in good order.
pub fn run(options: Options, tell: &mut dyn FnMut(Notice<'_>)) -> Result<&'static str, Error> {
    let clock = &WallClock;
    let places = options.places.clone();
    let loaded = options.sources.load(&places.root).map_err(Error::Project)?;
    let settings = loaded.engine_options(&places.root);
    ensure_cache_folder(&places, &settings)?;
    let owner = InstanceLock::acquire(places.clone())?;

    let (events, inbox) = sync_channel(EVENT_QUEUE_CAPACITY);
    let started_at_ms = clock.now_ns() / 1_000_000;
    // Greater than that of every daemon before, so that no clock of theirs is taken for ours.
    let position = ClockPosition { epoch: u64::try_from(started_at_ms).unwrap_or(0), sequence: 0 };
    let feed = Arc::new(Feed::new(position));
    let tree = Arc::new(WorkspaceCache::new());
    let shop = Arc::new(WorkerContext {
        root: places.root.clone(),
        sources: options.sources,
        workspace: Arc::clone(&tree),
        is_paranoid: options.is_paranoid,
        events: events.clone(),
        fingerprint: Arc::new(Mutex::new(loaded.fingerprint())),
        is_stopping: AtomicBool::new(false),
    });
    let scribe = Arc::new(BackgroundSummarizer::new(options.key_lookup));
    let staff = WorkerPool::spawn(&shop, &scribe)?;
    let watcher = start_watcher(&places, &settings, position.epoch, events.clone())?;
    let constants = DaemonInfo {
        project: project_name(&places.root, &loaded.settings.project.name),
        started_at_ms,
        workers: WORKER_THREADS,
        is_paranoid: options.is_paranoid,
        is_detached: options.is_detached,
        listen: None,
    };
    let now = clock.monotonic();
    let mut steady = EventLoop {
        clock,
        notify: tell,
        instance: owner,
        watcher,
        workspace: tree,
        work_queue: staff.work_queue.clone(),
        refresh_queue: staff.refresh_queue.clone(),
        wakeups: staff.wakeups.clone(),
        summarizer: scribe,
        feed: Arc::clone(&feed),
        position,
        constants,
        settings,
        fingerprint: Arc::clone(&shop.fingerprint),
        sockets: None,
        is_unreachable: false,
        barrier: Barrier::new(),
        debouncer: ChangeDebouncer::default(),
        mode: TrustMode::Starting,
        refreshing: None,
        metrics: Metrics::default(),
        next_tick: now,
        watchdog_interval: supervisor::watchdog_interval(),
        next_probe: now,
        probe_pause: Duration::ZERO,
    };
    let front: Arc<dyn DaemonControl> = Arc::new(ServiceHandle {
        events: events.clone(),
        feed,
        last_status: Mutex::new(steady.status()),
        fingerprint: Arc::clone(&shop.fingerprint),
    });
    let sockets = ListenSockets::open(front, &places, options.listen, &events)?;
    steady.constants.listen = sockets.address().map(|address| address.to_string());
    steady.sockets = Some(sockets);
    supervisor::notify_ready();
    let why = steady.run(&inbox);
    shut_down(steady, staff, &shop, inbox, why);
    match why {
        ROOT_GONE | TAKEN_OVER | THREAD_LOST => Err(Error::StateLost(why)),
        why => Ok(why),
    }
}

/// Ends in good order: nobody is left waiting, and the next daemon begins when this one holds nothing any more.
fn shut_down(
    steady: EventLoop<'_>,
    staff: WorkerPool,
    shop: &WorkerContext,
    inbox: Receiver<DaemonEvent>,
    why: &str,
) {
    supervisor::notify_stopping();
    shop.is_stopping.store(true, Ordering::Relaxed);
    (steady.notify)(Notice::Stopping { reason: why });
    // Whoever waits for a place in the queue, or in it, learns that nobody answers.
    drop(inbox);
    let EventLoop {
        instance: owner,
        watcher,
        sockets,
        work_queue: workers,
        refresh_queue: refresher,
        wakeups: pokes,
        ..
    } = steady;
    drop((workers, refresher, pokes));
    if let Some(sockets) = sockets {
        sockets.unlink();
        owner.remove_listener_file();
    }
    watcher.stop();
    staff.join();
    // Last of all: only now may another daemon begin.
    owner.release();
}

/// Makes the cache's folder, if it is not there.
pub(super) fn ensure_cache_folder(places: &DaemonPaths, settings: &engine::Options) -> Result<(), Error> {
    if !settings.cache_enabled {
        return Err(Error::NoCache);
    }
    let failed = |source| Error::CacheFolder { path: places.cache.clone(), source };
    if belongs_to_other_user(RealDisk.owner(&places.root).map_err(failed)?, user_id()) {
        return Err(Error::ForeignProject { path: places.root.clone() });
    }
    let files = RealFiles::open(&places.root).map_err(failed)?;
    engine::make_cache_folder(&places.root, &settings.cache_dir, &files, &RealDisk).map_err(failed)
}

/// Says whether a folder is another user's, whose settings and files would have us work for him. Root works for all.
const fn belongs_to_other_user(owner: u32, us: u32) -> bool {
    us != 0 && owner != us
}

fn start_watcher(
    places: &DaemonPaths,
    settings: &engine::Options,
    epoch: u64,
    events: SyncSender<DaemonEvent>,
) -> Result<Watcher, Error> {
    let folders = engine::watch_folders(&places.root, settings, &RealProcesses);
    let folders = folders.map_err(|error| Error::Project(error.into()))?;
    let options = watch::Options {
        root: places.root.clone(),
        cache_dir: settings.cache_dir.clone(),
        epoch,
        watch_limit_percent: WATCH_LIMIT_PERCENT,
    };
    // The daemon is about to end where nobody hears it.
    let sink = Box::new(move |signal| drop(events.send(DaemonEvent::Signal(signal))));
    Ok(Watcher::start(options, folders, sink))
}

/// The daemon's threads, and the ways to them.
struct WorkerPool {
    work_queue: Sender<worker::WorkItem>,
    refresh_queue: Sender<super::settle::DueChanges>,
    wakeups: SyncSender<()>,
    threads: Vec<JoinHandle<()>>,
}

impl WorkerPool {
    fn spawn(shop: &Arc<WorkerContext>, scribe: &Arc<BackgroundSummarizer>) -> Result<Self, Error> {
        let (workers, work) = channel();
        let (refresher, due) = channel();
        let work: Arc<Mutex<Receiver<_>>> = Arc::new(Mutex::new(work));
        let mut threads = Vec::new();
        for _ in 0..WORKER_THREADS {
            let (shop, work) = (Arc::clone(shop), Arc::clone(&work));
            threads.push(spawn_thread("answer", &Arc::clone(&shop), move || {
                worker::run_query_worker(&shop, &work)
            })?);
        }
        let refreshing = Arc::clone(shop);
        threads.push(spawn_thread("refresh", shop, move || worker::run_refresh_worker(&refreshing, &due))?);
        // One that waits is enough: it says that there may be something, not what.
        let (pokes, heard) = sync_channel(1);
        let (writing, scribe) = (Arc::clone(shop), Arc::clone(scribe));
        threads
            .push(spawn_thread("scribe", shop, move || scribe::run_summarizer(&writing, &scribe, &heard))?);
        Ok(Self { work_queue: workers, refresh_queue: refresher, wakeups: pokes, threads })
    }

    /// Lets the threads end, and waits for them a while.
    fn join(self) {
        let Self { work_queue: workers, refresh_queue: refresher, wakeups: pokes, threads } = self;
        drop((workers, refresher, pokes));
        let deadline = WallClock.monotonic().saturating_add(SHUTDOWN_TIMEOUT);
        while !threads.iter().all(JoinHandle::is_finished) && WallClock.monotonic() < deadline {
            WallClock.sleep(Duration::from_millis(5));
        }
    }
}

/// Starts a thread that ends with the daemon, and the daemon with it: half a daemon would keep its clients waiting.
fn spawn_thread(
    name: &'static str,
    shop: &WorkerContext,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    let builder = std::thread::Builder::new().name(name.to_owned()).stack_size(engine::STACK_BYTES);
    let events = shop.events.clone();
    let work = move || {
        // What a panic leaves half done is not looked at any more.
        let _ = catch_unwind(AssertUnwindSafe(work));
        // The loop is gone where the thread ends as it should.
        let _ = events.send(DaemonEvent::Stop(THREAD_LOST));
    };
    builder.spawn(work).map_err(|source| Error::Spawn { what: "a thread", source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_of_another_user_is_watched_by_root_alone() {
        assert!(belongs_to_other_user(1000, 1001));
        assert!(belongs_to_other_user(0, 1000));
        assert!(!belongs_to_other_user(1000, 1000));
        assert!(!belongs_to_other_user(1000, 0));
    }
}
