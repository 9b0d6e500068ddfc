//! Threads that answer and derive. Each has a session of its own; what they know of the tree they share.

use std::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::mpsc::SyncSender;

use super::event::Event;
use super::event::Question;
use super::event::Refreshed;
use super::front::cancelled;
use super::settle::Due;
use crate::api::Answered;
use crate::api::AuditStatus;
use crate::api::Fault;
use crate::api::FreshnessNote;
use crate::api::Job;
use crate::api::Progress;
use crate::api::Response;
use crate::api::Session;
use crate::api::World;
use crate::config::Inputs;
use crate::config::Loaded;
use crate::config::load;
use crate::engine::Change;
use crate::engine::Tree;
use crate::service::Asker;
use crate::service::Sources;
use crate::service::fault_of_settings;
use crate::service::resolve;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// A question that is to be answered now, and what the answer can be relied on for.
pub(super) struct Work {
    pub(super) question: Question,
    pub(super) freshness: FreshnessNote,
}

/// What all workers of a daemon work with.
pub(super) struct Shop {
    pub(super) root: std::path::PathBuf,
    pub(super) sources: Sources,
    pub(super) tree: Arc<Tree>,
    pub(super) is_paranoid: bool,
    pub(super) events: SyncSender<Event>,
    pub(super) fingerprint: Arc<Mutex<String>>,
    /// Whether the daemon is about to end, and nobody waits any more.
    pub(super) is_stopping: AtomicBool,
}

/// Tells whoever waits for the answer at hand how far it is.
struct Relay<'r> {
    job: Mutex<Option<Arc<Job>>>,
    is_stopping: &'r AtomicBool,
}

impl Relay<'_> {
    fn set(&self, job: Option<Arc<Job>>) {
        *self.job.lock().unwrap_or_else(PoisonError::into_inner) = job;
    }

    fn job(&self) -> Option<Arc<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Progress for Relay<'_> {
    fn begins(&self, files: usize) {
        self.job().iter().for_each(|job| job.begins(files));
    }

    fn advances(&self) {
        self.job().iter().for_each(|job| job.advances());
    }

    fn is_cancelled(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed) || self.job().is_some_and(|job| job.is_cancelled())
    }
}

/// Answers questions until there will be no more.
pub(super) fn answer_all(shop: &Shop, work: &Mutex<Receiver<Work>>) {
    with_bench(shop, |bench| {
        loop {
            let next = work.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(Work { question, freshness }) = next else { return };
            bench.relay.set(Some(Arc::clone(&question.call.job)));
            let mut audit = None;
            let answer = bench.survives(|bench| bench.answer(&question, freshness, &mut audit));
            bench.relay.set(None);
            // Whoever asked may have gone.
            let _ = question.reply.send(answer);
            let _ = shop.events.send(Event::Answered { audit });
        }
    });
}

/// Derives from changed files until there will be no more.
pub(super) fn refresh_all(shop: &Shop, due: &Receiver<Due>) {
    with_bench(shop, |bench| {
        for due in due {
            let began = WallClock.monotonic();
            let is_everything = due == Due::Everything;
            let (changes, notes) = match bench.survives(|bench| bench.refresh(&due)) {
                Ok(found) => found,
                Err(fault) => (Vec::new(), vec![format!("cannot {}", fault.message)]),
            };
            let took = WallClock.monotonic().saturating_sub(began);
            let _ = shop.events.send(Event::Refreshed(Refreshed { changes, is_everything, took, notes }));
        }
    });
}

/// Where one thread works.
struct Bench<'b> {
    shop: &'b Shop,
    world: World<'b>,
    relay: &'b Relay<'b>,
    /// The settings as they were read last, and the session that was opened by them.
    open: Option<Open<'b>>,
}

struct Open<'b> {
    inputs: Inputs,
    loaded: Loaded,
    fingerprint: String,
    session: Session<'b>,
}

fn with_bench(shop: &Shop, work: impl FnOnce(&mut Bench<'_>)) {
    // The project's folder is what it is, wherever its name leads later.
    let Ok(files) = RealFiles::open(&shop.root) else { return };
    let relay = Relay { job: Mutex::default(), is_stopping: &shop.is_stopping };
    let world = World {
        clock: &WallClock,
        disk: &RealDisk,
        files: &files,
        processes: &RealProcesses,
        progress: &relay,
    };
    work(&mut Bench { shop, world, relay: &relay, open: None });
}

impl<'b> Bench<'b> {
    /// Does some work. A panic in it costs that work and the session, for nobody knows what that was in the midst of;
    /// the thread goes on with a new one.
    fn survives<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        // What a panic leaves half done is dropped below.
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            self.open = None;
            self.shop.tree.lose_track();
            Err(Fault::bug())
        })
    }

    fn answer(
        &mut self,
        question: &Question,
        freshness: FreshnessNote,
        audit: &mut Option<AuditStatus>,
    ) -> Result<Answered, Fault> {
        let Question { ask, call, .. } = question;
        if call.job.is_cancelled() {
            return Err(cancelled());
        }
        let shop = self.shop;
        let open = self.open()?;
        if call.settings.as_ref().is_some_and(|settings| *settings != open.fingerprint) {
            return Err(Fault::other_settings());
        }
        // What an answer that failed has left behind is not this one's.
        open.session.begin();
        let request = resolve(ask.clone(), &open.loaded, &shop.root, Asker::Client)?;
        let response = open.session.answer(request)?;
        let freshness = freshness.unsettled(open.session.take_unsettled());
        freshness.check(call.require_fresh)?;
        if let Response::Audited(found) = &response {
            let differences = found.differences.len() as u64;
            *audit = Some(AuditStatus { at_ms: freshness.as_of_ms, differences });
        }
        let answered = Answered::of(response, freshness, call);
        let answered = answered.expect("what an ask is resolved to has an answer on the wire");
        // Whoever is gone has received nothing.
        if !call.job.is_cancelled() {
            open.session.delivered();
        }
        Ok(Answered { notes: open.session.take_notes(), ..answered })
    }

    fn refresh(&mut self, due: &Due) -> Result<(Vec<Change>, Vec<String>), Fault> {
        let open = self.open()?;
        let changes = match due {
            Due::Everything => open.session.refresh_all()?,
            Due::Files(files) => open.session.refresh(files)?,
        };
        Ok((changes, open.session.take_notes()))
    }

    /// Returns the settings as they are now, and a session by them.
    fn open(&mut self) -> Result<&mut Open<'b>, Fault> {
        let inputs = self.shop.sources.inputs(&self.shop.root)?;
        if self.open.as_ref().is_none_or(|open| open.inputs != inputs) {
            self.open = None;
            let loaded = load(&inputs).map_err(|error| fault_of_settings(&error))?;
            let mut session = open_session(&self.shop.root, &loaded, self.world)?;
            session.share(Arc::clone(&self.shop.tree));
            session.set_paranoid(self.shop.is_paranoid);
            let fingerprint = loaded.fingerprint();
            self.open = Some(Open { inputs, loaded, fingerprint, session });
        }
        let open = self.open.as_mut().expect("a session was opened above where there was none");
        // Also where nothing is new to this one: another may have told of settings that were changed back since.
        let mut known = self.shop.fingerprint.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != open.fingerprint {
            known.clone_from(&open.fingerprint);
            drop(known);
            // The loop ends before its workers do.
            let _ = self.shop.events.send(Event::SettingsChanged);
        }
        Ok(open)
    }
}

fn open_session<'b>(root: &Path, loaded: &Loaded, world: World<'b>) -> Result<Session<'b>, Fault> {
    Session::open(root, loaded.engine_options(root), world)
}
