//! The event loop: it owns all state, and handles everything that happens as one event after another.
//!
//! Nothing in it takes long: workers answer queries and refresh changed files.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::barrier::Barrier;
use super::debounce::{ChangeDebouncer, DueChanges};
use super::error::Error;
use super::event::{DaemonEvent, Notice, PendingQuery, RefreshOutcome};
use super::instance::{InstanceLock, ensure_cache_folder};
use super::settings::LastSettings;
use super::sockets::ListenSockets;
use super::status::{DaemonInfo, Metrics};
use super::summarizer::BackgroundSummarizer;
use super::supervisor;
use super::worker::{WorkItem, WorkQueues};
use crate::api::{ClockPosition, Feed, FeedEvent, FeedEventKind, FreshnessNote};
use crate::engine;
use crate::engine::{AnswerStep, FileChange, WorkspaceCache};
use crate::model::{RelPath, error_chain};
use crate::sys::{Clock, RealDisk, redirect_output};
use crate::watch::{WatchSignal, Watcher};

/// Why a daemon ends if its cache is gone.
pub(super) const TAKEN_OVER: &str = "the cache folder was deleted, and cannot be created again";
/// Why a daemon ends if its project is gone.
pub(super) const ROOT_GONE: &str = "the project's folder was moved, deleted or replaced";
/// How often the daemon checks whether its folder, lock and sockets still exist.
const TICK_INTERVAL: Duration = Duration::from_secs(1);
/// The longest pause between two checks whether events arrive again.
const MAX_PROBE_PAUSE: Duration = Duration::from_mins(1);
/// The most events that are handled before anything else is done, so that a flood of them does not delay the queries.
const MAX_EVENTS_PER_TURN: usize = 256;

/// How far events are to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TrustMode {
    /// Nothing is watched yet: each answer checks all of its files.
    Starting,
    /// Every change is reported before an answer that depends on it.
    Events,
    /// There are no events, or they are late: each answer checks all of its files.
    Verified(String),
}

/// The daemon's state.
pub(super) struct EventLoop<'d> {
    pub(super) clock: &'d dyn Clock,
    pub(super) notify: &'d mut dyn FnMut(Notice<'_>),
    pub(super) instance: InstanceLock,
    pub(super) watcher: Watcher,
    pub(super) workspace: Arc<WorkspaceCache>,
    pub(super) queues: WorkQueues,
    pub(super) summarizer: Arc<BackgroundSummarizer>,
    pub(super) feed: Arc<Feed>,
    pub(super) position: ClockPosition,
    pub(super) constants: DaemonInfo,
    /// The options at the start, including the folder, which does not move while the daemon runs.
    pub(super) settings: engine::Options,
    /// The options with which the project was opened last.
    pub(super) index_options: engine::Options,
    pub(super) last_settings: Arc<LastSettings>,
    /// The fingerprint of the settings in use.
    pub(super) fingerprint: Arc<Mutex<String>>,
    /// `None` before the sockets are opened and after they are closed.
    pub(super) sockets: Option<ListenSockets>,
    /// Whether the socket is gone, and cannot be created again.
    pub(super) is_unreachable: bool,
    pub(super) barrier: Barrier<PendingQuery>,
    pub(super) debouncer: ChangeDebouncer,
    pub(super) mode: TrustMode,
    /// How many files the refresher is working on; `None` if it is idle.
    pub(super) refreshing: Option<usize>,
    pub(super) metrics: Metrics,
    pub(super) next_tick: Duration,
    /// How often the supervisor expects a sign that the loop is running; `None` if it does not.
    pub(super) watchdog_interval: Option<Duration>,
    /// When to check next whether events arrive again, and the pause before that check.
    pub(super) next_probe: Duration,
    pub(super) probe_pause: Duration,
}

impl EventLoop<'_> {
    /// Handles events until the daemon has to end. Returns the reason.
    pub(super) fn run(&mut self, events: &Receiver<DaemonEvent>) -> &'static str {
        loop {
            let event = events.recv_timeout(self.idle_time());
            self.metrics.begin_turn(self.clock.monotonic());
            match event {
                Ok(event) => {
                    let mut rest = events.try_iter().take(MAX_EVENTS_PER_TURN);
                    if let Some(reason) =
                        std::iter::once(event).chain(&mut rest).find_map(|event| self.handle(event))
                    {
                        return reason;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return "nobody is left to serve",
            }
            if let Some(reason) = self.run_due_work() {
                return reason;
            }
            self.metrics.end_turn(self.clock.monotonic());
        }
    }

    /// Returns how long the loop can sleep if no event arrives.
    fn idle_time(&self) -> Duration {
        // The refresher takes one batch at a time, so files that settle while it works must not wake the loop.
        let settled = if self.refreshing.is_none() { self.debouncer.next_due() } else { None };
        let times = [Some(self.next_tick), self.barrier.deadline(), settled];
        let next = times.into_iter().flatten().min().unwrap_or(self.next_tick);
        next.saturating_sub(self.clock.monotonic())
    }

    /// Handles one event. Returns the reason to end, if there is one.
    fn handle(&mut self, event: DaemonEvent) -> Option<&'static str> {
        match event {
            DaemonEvent::Signal(signal) => return self.handle_signal(signal),
            DaemonEvent::QueryReceived(question) => self.enqueue(question),
            DaemonEvent::QueryAnswered { audit } => {
                self.metrics.in_progress = self.metrics.in_progress.saturating_sub(1);
                self.metrics.last_audit = audit.or(self.metrics.last_audit);
            }
            DaemonEvent::Refreshed(refreshed) => {
                self.finish_refresh(refreshed);
                self.wake();
            }
            DaemonEvent::SettingsChanged(options) => {
                self.watcher.set_links(options.linked.to_vec());
                // They may exclude different files, or change what is derived from them.
                if !options.has_index_of(&self.index_options) {
                    self.debouncer.record_all(self.clock.monotonic());
                }
                self.index_options = *options;
                self.wake();
            }
            DaemonEvent::SummariesWritten(written) => (self.notify)(Notice::Summarized {
                answered: written.answered,
                cost: &written.cost,
                unanswered: &written.unanswered,
                stopped: written.stopped.as_deref(),
            }),
            DaemonEvent::Hydrated(counts) => (self.notify)(Notice::Hydrated(counts)),
            DaemonEvent::SettingsBroken(note)
            | DaemonEvent::LedgerRecovered(note)
            | DaemonEvent::TeamCacheFailed(note) => {
                (self.notify)(Notice::Note(&note));
            }
            DaemonEvent::StatusRequested(reply) => {
                // The client may be gone.
                let _ = reply.send(self.status());
            }
            DaemonEvent::Stop(reason) => return Some(reason),
        }
        None
    }

    fn run_due_work(&mut self) -> Option<&'static str> {
        let now = self.clock.monotonic();
        if self.barrier.deadline().is_some_and(|deadline| deadline <= now) {
            let reason = "the file system reported no event for a test file within a second".to_owned();
            self.fall_back(reason, "");
        }
        self.send_cookie(now);
        if self.refreshing.is_none()
            && let Some(due) = self.debouncer.take_due(now)
        {
            self.refreshing = Some(match &due {
                DueChanges::AllFiles => 1,
                DueChanges::Files(files) => files.len(),
            });
            // Fails only if the refresher has ended, which stops the daemon by an event of its own.
            let _ = self.queues.refreshes.send(due);
        }
        if self.next_tick <= now {
            self.next_tick = now.saturating_add(TICK_INTERVAL);
            return self.tick();
        }
        None
    }

    /// Checks whether the project's folder, the lock and the sockets still exist, and frees what is no longer needed.
    fn tick(&mut self) -> Option<&'static str> {
        self.workspace.release_opened(self.clock.now_ms());
        if self.watchdog_interval.is_some() {
            supervisor::report_alive();
        }
        if !self.watcher.check_root() {
            return Some(ROOT_GONE);
        }
        self.watcher.check_links();
        self.probe();
        if self.instance.is_held() {
            self.restore_log();
            self.restore_sockets();
            return None;
        }
        (self.notify)(Notice::Note("the cache folder was deleted, and is created again"));
        if let Err(error) = self.recreate_cache() {
            (self.notify)(Notice::Note(&error_chain(&error)));
            // The deletion may still be in progress: the next tick finds out.
            return (!error.is_not_found()).then_some(TAKEN_OVER);
        }
        self.restore_log();
        self.restore_sockets();
        self.lose_track("the cache folder was deleted");
        None
    }

    /// Creates the cache folder again, with the lock in it.
    fn recreate_cache(&mut self) -> Result<(), Error> {
        ensure_cache_folder(&self.instance.paths, &self.settings)?;
        self.instance.reacquire()
    }

    /// Checks at growing intervals whether events arrive again, which a cookie that comes back proves.
    fn probe(&mut self) {
        let now = self.clock.monotonic();
        if !matches!(self.mode, TrustMode::Verified(_)) || now < self.next_probe {
            return;
        }
        self.probe_pause = self.probe_pause.saturating_mul(2).clamp(TICK_INTERVAL, MAX_PROBE_PAUSE);
        self.next_probe = now.saturating_add(self.probe_pause);
        // If no cookie can be created, no event will arrive.
        let _ = self.watcher.request_cookie();
    }

    /// Accepts a query, which waits for a cookie if cookies are in use.
    fn enqueue(&mut self, question: PendingQuery) {
        self.metrics.queries += 1;
        match self.mode {
            TrustMode::Events => self.barrier.join(question),
            TrustMode::Starting | TrustMode::Verified(_) => self.release(vec![question]),
        }
    }

    /// Creates a cookie if a query waits for one.
    fn send_cookie(&mut self, now: Duration) {
        if !self.barrier.needs_cookie() {
            return;
        }
        match self.watcher.request_cookie() {
            Ok(cookie) => self.barrier.cookie_sent(cookie, now),
            Err(error) => {
                let reason = format!("no cookie can be created in the cache folder: {error}");
                self.fall_back(reason, "check whether the disk is full");
            }
        }
    }

    /// Passes queries to the workers. By now, the workspace cache has recorded every change made before they were
    /// received, or records that it may have missed some.
    fn release(&mut self, questions: Vec<PendingQuery>) {
        for question in questions {
            let freshness = FreshnessNote {
                clock: Some(self.position.to_string()),
                pending: self.pending(),
                ..FreshnessNote::at(self.clock.now_ms())
            };
            self.metrics.in_progress += 1;
            // Fails only if all workers have ended, and their end stops the daemon by an event of its own.
            let _ = self.queues.queries.send(WorkItem { query: question, freshness });
        }
    }

    pub(super) fn pending(&self) -> u64 {
        (self.debouncer.len() + self.refreshing.unwrap_or(0)) as u64
    }

    fn handle_signal(&mut self, signal: WatchSignal) -> Option<&'static str> {
        let now = self.clock.monotonic();
        match signal {
            WatchSignal::Touched { paths, relist } => self.record_touched(paths, relist, now),
            WatchSignal::CookiePassed(cookie) => {
                if matches!(self.mode, TrustMode::Verified(_)) {
                    self.trust();
                }
                if let Some(sent_at) = self.barrier.sent_at(cookie) {
                    self.workspace.timings().record(AnswerStep::Cookie, now.saturating_sub(sent_at));
                }
                let questions = self.barrier.take_passed(cookie);
                self.release(questions);
            }
            WatchSignal::Watching { folders } => {
                // Earlier changes caused no event.
                self.workspace.invalidate_all();
                self.debouncer.record_all(now);
                self.trust();
                let listen = self.constants.listen.as_deref();
                (self.notify)(Notice::Watching { folders, socket: &self.instance.paths.socket, listen });
            }
            WatchSignal::AllTouched => {
                self.workspace.invalidate_all();
                self.debouncer.record_all(now);
            }
            WatchSignal::Lost { reason } => {
                self.lose_track(&reason);
                self.fall_back(reason, "");
            }
            WatchSignal::Verified { reason, hint } => {
                // The last batch of changes may be incomplete.
                self.lose_track(&reason);
                self.fall_back(reason, hint);
            }
            WatchSignal::RootGone => return Some(ROOT_GONE),
        }
        None
    }

    fn record_touched(&mut self, paths: Vec<RelPath>, relist: bool, now: Duration) {
        self.workspace.touch(&paths);
        if relist {
            self.workspace.invalidate_listing();
        }
        // This may have changed the set of relevant files anywhere.
        if relist && (paths.is_empty() || paths.iter().any(RelPath::is_ignore_file)) {
            self.debouncer.record_all(now);
        }
        self.debouncer.record(paths, now);
    }

    /// Records that any file may have changed.
    fn lose_track(&mut self, reason: &str) {
        (self.notify)(Notice::Lost { reason });
        self.workspace.invalidate_all();
        // This begins a new epoch, because changes since a clock of the old one cannot be listed.
        self.position = ClockPosition { epoch: self.position.epoch + 1, sequence: 0 };
        self.publish(FeedEventKind::LostTrack, Vec::new());
        self.debouncer.record_all(self.clock.monotonic());
    }

    /// Stops trusting events, and releases the queries that wait for a cookie: their answers check the files
    /// themselves.
    fn fall_back(&mut self, reason: String, hint: &str) {
        self.workspace.set_trusted(false);
        let mode = TrustMode::Verified(reason);
        // The reason is part of the mode, so that the same one is not reported twice, but a different one is.
        if self.mode != mode {
            if let TrustMode::Verified(reason) = &mode {
                (self.notify)(Notice::Verified { reason, hint });
            }
            self.mode = mode;
        }
        let waiting = self.barrier.drain();
        self.release(waiting);
    }

    fn trust(&mut self) {
        self.probe_pause = Duration::ZERO;
        self.workspace.set_trusted(true);
        self.mode = TrustMode::Events;
    }

    /// Wakes the summarizer, unless a wakeup is already pending.
    fn wake(&self) {
        let _ = self.queues.wakeups.try_send(());
    }

    fn finish_refresh(&mut self, refreshed: RefreshOutcome) {
        self.refreshing = None;
        // Files found by the first listing are refreshed without delay.
        if !refreshed.is_everything {
            self.debouncer.record_refresh(self.clock.monotonic(), refreshed.elapsed);
        }
        // Only a listing reveals which files of git and of the user the next one depends on.
        self.watcher.set_extra_files(self.workspace.external_dependencies());
        if refreshed.is_everything {
            // The files that git tracks or ignores may have changed, and with them the relevant folders.
            self.watcher.relist_folders();
        }
        for note in &refreshed.notes {
            (self.notify)(Notice::Note(note));
        }
        if refreshed.changes.is_empty() {
            return;
        }
        (self.notify)(Notice::Refreshed { changes: &refreshed.changes, elapsed: refreshed.elapsed });
        self.position.sequence += 1;
        self.publish(FeedEventKind::Changed, refreshed.changes);
    }

    /// Notifies all subscribers.
    fn publish(&self, kind: FeedEventKind, changes: Vec<FileChange>) {
        let changes = changes.into_iter().map(Into::into).collect();
        self.feed.publish(FeedEvent { kind, clock: self.position, changes });
    }

    /// Creates the socket again if it is gone. A failure is retried at every tick.
    fn restore_sockets(&mut self) {
        let Some(sockets) = self.sockets.as_mut().filter(|sockets| !sockets.are_intact()) else {
            self.is_unreachable = false;
            return;
        };
        let renewed = sockets.reopen();
        let was_reported = std::mem::replace(&mut self.is_unreachable, renewed.is_err());
        if was_reported {
            return;
        }
        (self.notify)(Notice::Note("the socket was deleted, and is created again"));
        if let Err(error) = renewed {
            (self.notify)(Notice::Note(&error_chain(&error)));
        }
    }

    /// Starts a new log if the file is gone: further output would be lost with the old one.
    fn restore_log(&self) {
        let log = &self.instance.paths.log;
        if self.constants.is_detached && RealDisk.identity(log).is_none() {
            // Without a log, the daemon continues silently.
            let _ = redirect_output(log);
        }
    }
}
