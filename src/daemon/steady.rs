//! The one loop: all that happens comes in as events, one after the other, and all state is here.
//!
//! Nothing in it takes long: questions are answered, and changed files derived from, by workers.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::RecvTimeoutError;
use std::sync::mpsc::Sender;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use super::barrier::Barrier;
use super::condition::Constants;
use super::condition::Counted;
use super::error::Error;
use super::event::Event;
use super::event::Question;
use super::event::Refreshed;
use super::owner::Owner;
use super::run::make_cache;
use super::scribe::Scribe;
use super::settle::Due;
use super::settle::Settling;
use super::sockets::Sockets;
use super::supervisor;
use super::told::Told;
use super::worker::Work;
use crate::api::Event as News;
use crate::api::EventKind;
use crate::api::Feed;
use crate::api::FreshnessNote;
use crate::api::Position;
use crate::engine;
use crate::engine::Change;
use crate::engine::Tree;
use crate::model::RelPath;
use crate::model::with_causes;
use crate::sys::Clock;
use crate::watch::Signal;
use crate::watch::Watcher;

/// How often the daemon looks whether all that it stands on is still there.
const TICK: Duration = Duration::from_secs(1);
/// The longest pause between two looks whether events come again.
const MOST_PROBE_PAUSE: Duration = Duration::from_mins(1);
/// Events that are taken in before anything else is done: a flood of them must not put off the questions.
const EVENTS_AT_ONCE: usize = 256;

/// How far events are to be trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mode {
    /// Nothing is watched yet: each answer looks at all of its files.
    Starting,
    /// Each change is told before an answer that it matters to.
    Events,
    /// There are no events, or they are late: each answer looks at all of its files.
    Verified(String),
}

/// The daemon's state.
pub(super) struct Steady<'d> {
    pub(super) clock: &'d dyn Clock,
    pub(super) tell: &'d mut dyn FnMut(Told<'_>),
    pub(super) owner: Owner,
    pub(super) watcher: Watcher,
    pub(super) tree: Arc<Tree>,
    pub(super) workers: Sender<Work>,
    pub(super) refresher: Sender<Due>,
    /// Tells the scribe that there may be something to ask.
    pub(super) pokes: SyncSender<()>,
    pub(super) scribe: Arc<Scribe>,
    pub(super) feed: Arc<Feed>,
    /// The count of what was told.
    pub(super) position: Position,
    pub(super) constants: Constants,
    /// What the daemon was started with; its folder does not move while it runs.
    pub(super) settings: engine::Options,
    /// Of the settings that answers are made by.
    pub(super) fingerprint: Arc<Mutex<String>>,
    /// `None` before the first and after the last question.
    pub(super) sockets: Option<Sockets>,
    /// Whether the socket is gone, and cannot be had again.
    pub(super) is_unreachable: bool,
    pub(super) barrier: Barrier<Question>,
    pub(super) settling: Settling,
    pub(super) mode: Mode,
    /// How many files the refresher is at; `None` where it is idle.
    pub(super) refreshing: Option<usize>,
    pub(super) counted: Counted,
    pub(super) next_tick: Duration,
    /// Whether a supervisor wants to hear that the loop turns.
    pub(super) pulse: Option<Duration>,
    /// When it is looked next whether events come again, and how long it was waited before.
    pub(super) next_probe: Duration,
    pub(super) probe_pause: Duration,
}

impl Steady<'_> {
    /// Takes in events until it is time to go. Returns why.
    pub(super) fn run(&mut self, events: &Receiver<Event>) -> &'static str {
        loop {
            let event = events.recv_timeout(self.wait());
            self.counted.began_turn(self.clock.monotonic());
            match event {
                Ok(event) => {
                    let mut rest = events.try_iter().take(EVENTS_AT_ONCE);
                    if let Some(why) =
                        std::iter::once(event).chain(&mut rest).find_map(|event| self.take(event))
                    {
                        return why;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return "nobody is left to serve",
            }
            if let Some(why) = self.turn() {
                return why;
            }
            self.counted.ends_turn(self.clock.monotonic());
        }
    }

    /// Returns how long there is nothing to do, as far as is known.
    fn wait(&self) -> Duration {
        let settled = if self.refreshing.is_none() { self.settling.next() } else { None };
        let times = [Some(self.next_tick), self.barrier.deadline(), settled];
        let next = times.into_iter().flatten().min().unwrap_or(self.next_tick);
        next.saturating_sub(self.clock.monotonic())
    }

    /// Takes in one event. Returns why it is time to go, if it is.
    fn take(&mut self, event: Event) -> Option<&'static str> {
        match event {
            Event::Signal(signal) => return self.hear(signal),
            Event::Asked(question) => self.ask(question),
            Event::Answered { audit } => {
                self.counted.working = self.counted.working.saturating_sub(1);
                self.counted.last_audit = audit.or(self.counted.last_audit);
            }
            Event::Refreshed(refreshed) => {
                self.refreshed(refreshed);
                self.poke();
            }
            Event::SettingsChanged => {
                self.settling.touch_everything(self.clock.monotonic());
                self.poke();
            }
            Event::Written(written) => (self.tell)(Told::Written {
                answered: written.answered,
                cost: &written.cost,
                unanswered: &written.unanswered,
                stopped: written.stopped.as_deref(),
            }),
            Event::Salvaged(note) => (self.tell)(Told::Note(&note)),
            Event::Status(reply) => {
                // Whoever asked may be gone.
                let _ = reply.send(self.status());
            }
            Event::Stop(why) => return Some(why),
        }
        None
    }

    /// Does what is due.
    fn turn(&mut self) -> Option<&'static str> {
        let now = self.clock.monotonic();
        let overdue = self.barrier.overdue(now);
        if !overdue.is_empty() {
            let why = "the file system told nothing of a file for a second".to_owned();
            self.distrust(why, "");
            self.release(overdue);
            let waiting = self.barrier.give_up();
            self.release(waiting);
        }
        self.send_cookie(now);
        if self.refreshing.is_none()
            && let Some(due) = self.settling.due(now)
        {
            self.refreshing = Some(match &due {
                Due::Everything => 1,
                Due::Files(files) => files.len(),
            });
            // Without a refresher there is no daemon: its end is an event of its own.
            let _ = self.refresher.send(due);
        }
        if self.next_tick <= now {
            self.next_tick = now.saturating_add(TICK);
            return self.tick();
        }
        None
    }

    /// Looks whether all that the daemon stands on is still there.
    fn tick(&mut self) -> Option<&'static str> {
        if self.pulse.is_some() {
            supervisor::alive();
        }
        if !self.watcher.check_root() {
            return Some(ROOT_GONE);
        }
        self.probe();
        if self.owner.is_alone() {
            self.keep_log();
            self.keep_sockets();
            return None;
        }
        (self.tell)(Told::Note("the cache folder was deleted, and is made anew"));
        if let Err(error) = self.move_in() {
            (self.tell)(Told::Note(&with_causes(&error)));
            return Some(TAKEN_OVER);
        }
        self.keep_log();
        self.keep_sockets();
        self.lose_track("the cache folder was deleted");
        None
    }

    /// Makes the cache's folder anew, with the lock in it.
    fn move_in(&mut self) -> Result<(), Error> {
        make_cache(&self.owner.places, &self.settings)?;
        self.owner.renew()
    }

    /// Looks whether events come again, ever less often. The cookie that comes back says so.
    fn probe(&mut self) {
        let now = self.clock.monotonic();
        if !matches!(self.mode, Mode::Verified(_)) || now < self.next_probe {
            return;
        }
        self.probe_pause = self.probe_pause.saturating_mul(2).clamp(TICK, MOST_PROBE_PAUSE);
        self.next_probe = now.saturating_add(self.probe_pause);
        // Where no cookie can be made there is no event to come.
        let _ = self.watcher.mark();
    }

    /// Takes a question in: it waits for a cookie where there are any to wait for.
    fn ask(&mut self, question: Question) {
        self.counted.asked += 1;
        match self.mode {
            Mode::Events => self.barrier.join(question),
            Mode::Starting | Mode::Verified(_) => self.release(vec![question]),
        }
    }

    /// Makes a cookie if somebody waits for one.
    fn send_cookie(&mut self, now: Duration) {
        if !self.barrier.wants_cookie() {
            return;
        }
        match self.watcher.mark() {
            Ok(cookie) => self.barrier.sent(cookie, now),
            Err(error) => {
                self.distrust(
                    format!("no cookie can be made in the cache folder: {error}"),
                    "see whether the disk is full",
                );
                let waiting = self.barrier.give_up();
                self.release(waiting);
            }
        }
    }

    /// Hands questions to the workers. All that was done before they were asked is known to the tree, or it knows that
    /// it does not know.
    fn release(&mut self, questions: Vec<Question>) {
        for question in questions {
            let freshness = FreshnessNote {
                clock: Some(self.position.to_string()),
                pending: self.pending(),
                ..FreshnessNote::at(self.clock.now_ns() / 1_000_000)
            };
            self.counted.working += 1;
            let _ = self.workers.send(Work { question, freshness });
        }
    }

    pub(super) fn pending(&self) -> u64 {
        (self.settling.len() + self.refreshing.unwrap_or(0)) as u64
    }

    fn hear(&mut self, signal: Signal) -> Option<&'static str> {
        let now = self.clock.monotonic();
        match signal {
            Signal::Touched { paths, relist } => self.touched(paths, relist, now),
            Signal::Passed(cookie) => {
                if matches!(self.mode, Mode::Verified(_)) {
                    self.trust();
                }
                let questions = self.barrier.passed(cookie);
                self.release(questions);
            }
            Signal::Watching { folders } => {
                // What was changed before this moment made no event.
                self.tree.lose_track();
                self.settling.touch_everything(now);
                self.trust();
                let listen = self.constants.listen.as_deref();
                (self.tell)(Told::Watching { folders, socket: &self.owner.places.socket, listen });
            }
            Signal::TouchedAll => {
                self.tree.lose_track();
                self.settling.touch_everything(now);
            }
            Signal::Lost { why } => {
                self.lose_track(&why);
                self.distrust(why, "");
                let waiting = self.barrier.give_up();
                self.release(waiting);
            }
            Signal::Verified { why, hint } => {
                // What was told last may not have been told to its end.
                self.lose_track(&why);
                self.distrust(why, hint);
                let waiting = self.barrier.give_up();
                self.release(waiting);
            }
            Signal::RootGone => return Some(ROOT_GONE),
        }
        None
    }

    fn touched(&mut self, paths: Vec<RelPath>, relist: bool, now: Duration) {
        self.tree.touch(&paths);
        if relist {
            self.tree.relist();
        }
        // Which files count may have changed with it, wherever they are.
        if relist && (paths.is_empty() || paths.iter().any(RelPath::is_ignore_file)) {
            self.settling.touch_everything(now);
        }
        self.settling.touch(paths, now);
    }

    /// Takes in that anything may have changed, and nobody told what.
    fn lose_track(&mut self, why: &str) {
        (self.tell)(Told::Lost { why });
        self.tree.lose_track();
        self.position = Position { epoch: self.position.epoch + 1, sequence: 0 };
        self.publish(EventKind::LostTrack, Vec::new());
        self.settling.touch_everything(self.clock.monotonic());
    }

    fn distrust(&mut self, why: String, hint: &str) {
        self.tree.set_trusted(false);
        let mode = Mode::Verified(why);
        if self.mode != mode {
            if let Mode::Verified(why) = &mode {
                (self.tell)(Told::Verified { why, hint });
            }
            self.mode = mode;
        }
    }

    fn trust(&mut self) {
        self.probe_pause = Duration::ZERO;
        self.tree.set_trusted(true);
        self.mode = Mode::Events;
    }

    /// Lets the scribe look. One that has been told already need not be told again.
    fn poke(&self) {
        let _ = self.pokes.try_send(());
    }

    fn refreshed(&mut self, refreshed: Refreshed) {
        self.refreshing = None;
        self.watcher.extra(self.tree.outside());
        if refreshed.is_everything {
            // What git tracks, or what is ignored, may have changed, and with it which folders matter.
            self.watcher.refolder();
        }
        for note in &refreshed.notes {
            (self.tell)(Told::Note(note));
        }
        if refreshed.changes.is_empty() {
            return;
        }
        (self.tell)(Told::Refreshed { changes: &refreshed.changes, took: refreshed.took });
        self.position.sequence += 1;
        self.publish(EventKind::Changed, refreshed.changes);
    }

    /// Tells all subscribers.
    fn publish(&self, kind: EventKind, changes: Vec<Change>) {
        let changes = changes.into_iter().map(Into::into).collect();
        self.feed.publish(News { kind, clock: self.position, changes });
    }
}

/// Why a daemon ends whose cache is gone.
pub(super) const TAKEN_OVER: &str = "the cache folder was deleted, and cannot be had again";
/// Why a daemon ends whose project is gone.
pub(super) const ROOT_GONE: &str = "the project's folder was moved, deleted or replaced";
