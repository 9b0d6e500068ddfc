//! Startup and shutdown of a daemon.

use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::barrier::Barrier;
use super::debounce::ChangeDebouncer;
use super::error::Error;
use super::event::{DaemonEvent, Notice};
use super::event_loop::{EventLoop, ROOT_GONE, TAKEN_OVER, TrustMode};
use super::instance::{DaemonPaths, InstanceLock, ensure_cache_folder};
use super::plan::KeyLookup;
use super::settings::LastSettings;
use super::sockets::{ListenSockets, ServiceHandle};
use super::status::{DaemonInfo, Metrics};
use super::summarizer::BackgroundSummarizer;
use super::worker::{WorkQueues, WorkerContext};
use super::{summarizer, supervisor, worker};
use crate::api::{ClockPosition, DaemonControl, Feed, McpInfo, VERSION};
use crate::config::load;
use crate::engine::WorkspaceCache;
use crate::model::{RootReason, STACK_BYTES};
use crate::service::{SettingsSources, project_name, settings_error};
use crate::sys::{Clock, RealProcesses, WallClock};
use crate::watch::Watcher;
use crate::{engine, watch};

/// Threads that answer queries: more than one, so that a long answer does not delay the short ones.
const WORKER_THREADS: u32 = 3;
/// The reason to stop after a thread has ended.
const THREAD_LOST: &str = "a thread of the daemon has ended";
/// The percentage of the user's inotify watches that a tree may take.
const WATCH_LIMIT_PERCENT: u64 = 80;
/// How long to wait for the threads before the process ends without them.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(1500);
/// Capacity of the event queue; senders block when it is full, and the watcher coalesces changes meanwhile.
const EVENT_QUEUE_CAPACITY: usize = 256;

/// How to run a daemon.
#[derive(Debug, Clone)]
pub struct Options {
    pub paths: DaemonPaths,
    /// Why this folder was chosen as the project's.
    pub root_reason: RootReason,
    pub sources: SettingsSources,
    /// An additional loopback address to listen on.
    pub listen: Option<SocketAddr>,
    /// Looks up the key in an environment variable. This is the only access to keys.
    pub key_lookup: KeyLookup,
    /// Whether every file of every answer is hashed.
    pub is_paranoid: bool,
    /// Whether it runs in the background, with its output in the log.
    pub is_detached: bool,
}

/// Runs the daemon of a project on this thread until it is stopped. Returns the reason for an orderly end.
pub fn run(options: Options, notify: &mut dyn FnMut(Notice<'_>)) -> Result<&'static str, Error> {
    let clock = &WallClock;
    let paths = options.paths.clone();
    let inputs = options.sources.inputs(&paths.root).map_err(Error::Project)?;
    let loaded = load(&inputs).map_err(|error| Error::Project(settings_error(&error)))?;
    let last_settings = Arc::new(LastSettings::new(inputs, loaded.settings_problems()));
    let settings = loaded.engine_options(&paths.root);
    ensure_cache_folder(&paths, &settings)?;
    // Before the store, the watches and the sockets: a second daemon must not touch any of them.
    let instance = InstanceLock::acquire(paths.clone())?;

    let (events, inbox) = sync_channel(EVENT_QUEUE_CAPACITY);
    let started_at_ms = clock.now_ms();
    // Greater than that of every earlier daemon, so that none of their clocks is mistaken for ours.
    let position = ClockPosition { epoch: u64::try_from(started_at_ms).unwrap_or(0), sequence: 0 };
    let workspace = Arc::new(WorkspaceCache::new());
    let context = Arc::new(WorkerContext {
        root: paths.root.clone(),
        sources: options.sources,
        last_settings: Arc::clone(&last_settings),
        workspace: Arc::clone(&workspace),
        is_paranoid: options.is_paranoid,
        events: events.clone(),
        fingerprint: Arc::new(Mutex::new(loaded.fingerprint())),
        is_stopping: AtomicBool::new(false),
    });
    let summarizer = Arc::new(BackgroundSummarizer::new(options.key_lookup));
    let pool = WorkerPool::spawn(&context, &summarizer)?;
    let watcher = start_watcher(&paths, &settings, position.epoch, events.clone())?;
    let constants = DaemonInfo {
        project: project_name(&paths.root, &loaded.settings.project.name),
        started_at_ms,
        workers: WORKER_THREADS,
        is_paranoid: options.is_paranoid,
        is_detached: options.is_detached,
        listen: None,
    };
    let now = clock.monotonic();
    let mut event_loop = EventLoop {
        clock,
        notify,
        instance,
        watcher,
        workspace,
        queues: pool.queues.clone(),
        summarizer,
        feed: Arc::new(Feed::new(position)),
        position,
        constants,
        index_options: settings.clone(),
        settings,
        last_settings,
        fingerprint: Arc::clone(&context.fingerprint),
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
    let page = loaded.settings.ui.listen;
    let sockets = open_sockets(&event_loop, options.root_reason, options.listen, page, &events)?;
    event_loop.constants.listen = sockets.address().map(|address| address.to_string());
    event_loop.sockets = Some(sockets);
    supervisor::report_ready();
    let reason = event_loop.run(&inbox);
    shut_down(event_loop, pool, &context, inbox, reason);
    match reason {
        ROOT_GONE | TAKEN_OVER | THREAD_LOST => Err(Error::StateLost(reason)),
        reason => Ok(reason),
    }
}

/// Opens the sockets. To be called last, because clients that find them expect an answer.
fn open_sockets(
    event_loop: &EventLoop<'_>,
    root_reason: RootReason,
    listen: Option<SocketAddr>,
    page: SocketAddr,
    events: &SyncSender<DaemonEvent>,
) -> Result<ListenSockets, Error> {
    let handle: Arc<dyn DaemonControl> = Arc::new(ServiceHandle {
        events: events.clone(),
        feed: Arc::clone(&event_loop.feed),
        timings: Arc::clone(event_loop.workspace.timings()),
        last_status: Mutex::new(event_loop.status()),
        fingerprint: Arc::clone(&event_loop.fingerprint),
    });
    let paths = &event_loop.instance.paths;
    let agents = McpInfo { root: paths.root.clone(), root_reason, version: VERSION, require_fresh: false };
    ListenSockets::open(handle, agents, paths, listen, page, events)
}

/// Shuts down in order: no client is left waiting, and the lock is released last, when nothing else is held.
fn shut_down(
    event_loop: EventLoop<'_>,
    pool: WorkerPool,
    context: &WorkerContext,
    inbox: Receiver<DaemonEvent>,
    reason: &str,
) {
    supervisor::report_stopping();
    context.is_stopping.store(true, Ordering::Relaxed);
    (event_loop.notify)(Notice::Stopping { reason });
    // Blocked senders and queued queries see a closed channel instead of waiting.
    drop(inbox);
    let EventLoop { instance, watcher, sockets, queues, .. } = event_loop;
    drop(queues);
    if let Some(sockets) = sockets {
        sockets.unlink();
        instance.remove_listener_file();
    }
    watcher.stop();
    pool.join();
    // Last: another daemon may start only now.
    instance.release();
}

fn start_watcher(
    paths: &DaemonPaths,
    settings: &engine::Options,
    epoch: u64,
    events: SyncSender<DaemonEvent>,
) -> Result<Watcher, Error> {
    let folders = engine::watch_folders(&paths.root, settings, &RealProcesses);
    let folders = folders.map_err(|error| Error::Project(error.into()))?;
    let options = watch::Options {
        root: paths.root.clone(),
        cache_dir: settings.cache_dir.clone(),
        epoch,
        watch_limit_percent: WATCH_LIMIT_PERCENT,
        linked: settings.linked.to_vec(),
    };
    // If nobody receives it, the daemon is about to end.
    let sink = Box::new(move |signal| drop(events.send(DaemonEvent::Signal(signal))));
    Ok(Watcher::start(options, folders, sink))
}

/// The daemon's threads, and the queues that feed them.
struct WorkerPool {
    queues: WorkQueues,
    threads: Vec<JoinHandle<()>>,
}

impl WorkerPool {
    fn spawn(context: &Arc<WorkerContext>, summarizer: &Arc<BackgroundSummarizer>) -> Result<Self, Error> {
        let (queries, work) = channel();
        let (refreshes, due) = channel();
        let work: Arc<Mutex<Receiver<_>>> = Arc::new(Mutex::new(work));
        let mut threads = Vec::new();
        for _ in 0..WORKER_THREADS {
            let (context, work) = (Arc::clone(context), Arc::clone(&work));
            threads.push(spawn_thread("answer", &Arc::clone(&context), move || {
                worker::run_query_worker(&context, &work);
            })?);
        }
        let refreshing = Arc::clone(context);
        threads
            .push(spawn_thread("refresh", context, move || worker::run_refresh_worker(&refreshing, &due))?);
        // One pending wakeup is enough: it only says that something may have changed, not what.
        let (wakeups, woken) = sync_channel(1);
        let (writing, summarizer) = (Arc::clone(context), Arc::clone(summarizer));
        threads.push(spawn_thread("summarize", context, move || {
            summarizer::run_summarizer(&writing, &summarizer, &woken);
        })?);
        Ok(Self { queues: WorkQueues { queries, refreshes, wakeups }, threads })
    }

    /// Closes the queues, and waits a while for the threads to end.
    fn join(self) {
        let Self { queues, threads } = self;
        drop(queues);
        let deadline = WallClock.monotonic().saturating_add(SHUTDOWN_TIMEOUT);
        while !threads.iter().all(JoinHandle::is_finished) && WallClock.monotonic() < deadline {
            WallClock.sleep(Duration::from_millis(5));
        }
    }
}

/// Starts a thread whose end stops the daemon: with a thread missing, the daemon would keep its clients waiting.
fn spawn_thread(
    name: &'static str,
    context: &WorkerContext,
    work: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    let builder = std::thread::Builder::new().name(name.to_owned()).stack_size(STACK_BYTES);
    let events = context.events.clone();
    let work = move || {
        // Nothing uses the state that a panic may have left inconsistent.
        let _ = catch_unwind(AssertUnwindSafe(work));
        // In an orderly shutdown, the loop has already ended.
        let _ = events.send(DaemonEvent::Stop(THREAD_LOST));
    };
    builder.spawn(work).map_err(|source| Error::Spawn { what: "a thread", source })
}
