//! Threads that answer queries and refresh files. Each has a session of its own; they share the workspace cache.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender};
use std::sync::{Arc, Mutex};

use super::debounce::DueChanges;
use super::error::cancelled_error;
use super::event::{DaemonEvent, PendingQuery, RefreshOutcome};
use super::settings::{CurrentSettings, LastSettings};
use crate::api::{
    AnyQuery, ApiError, AuditResult, AuditStatus, FreshnessNote, HydrationResult, QueryJob, ServiceAnswer,
};
use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::engine;
use crate::engine::{FileChange, Project, ScanProgress, WorkspaceCache, World};
use crate::model::lock;
use crate::service::{
    AnswerWithMissing, CurationHistory, QueryOrigin, QuerySettings, SettingsSources, resolve, settings_error,
};
use crate::sys::{Clock, RealFiles, WallClock};

/// A query to answer now, and how fresh the answer is.
pub(super) struct WorkItem {
    pub(super) query: PendingQuery,
    pub(super) freshness: FreshnessNote,
}

/// The queues by which the event loop hands work to other threads. The threads end when all copies are dropped.
#[derive(Clone)]
pub(super) struct WorkQueues {
    pub(super) queries: Sender<WorkItem>,
    pub(super) refreshes: Sender<DueChanges>,
    /// Wakes the summarizer, because there may be something to summarize.
    pub(super) wakeups: SyncSender<()>,
}

/// What all workers of a daemon share.
pub(super) struct WorkerContext {
    pub(super) root: std::path::PathBuf,
    pub(super) sources: SettingsSources,
    pub(super) last_settings: Arc<LastSettings>,
    pub(super) workspace: Arc<WorkspaceCache>,
    pub(super) is_paranoid: bool,
    pub(super) events: SyncSender<DaemonEvent>,
    pub(super) fingerprint: Arc<Mutex<String>>,
    /// Whether the daemon is about to end, so that no client waits anymore.
    pub(super) is_stopping: AtomicBool,
}

/// Reports the progress of the current answer to the client that waits for it.
struct JobProgress<'r> {
    job: Mutex<Option<Arc<QueryJob>>>,
    is_stopping: &'r AtomicBool,
}

impl JobProgress<'_> {
    fn set_job(&self, job: Option<Arc<QueryJob>>) {
        *lock(&self.job) = job;
    }

    fn job(&self) -> Option<Arc<QueryJob>> {
        lock(&self.job).clone()
    }
}

impl ScanProgress for JobProgress<'_> {
    fn begin(&self, files: usize) {
        self.job().iter().for_each(|job| job.begin(files));
    }

    fn advance(&self) {
        self.job().iter().for_each(|job| job.advance());
    }

    fn is_cancelled(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed) || self.job().is_some_and(|job| job.is_cancelled())
    }
}

/// Answers queries until the queue is closed.
pub(super) fn run_query_worker(context: &WorkerContext, work: &Mutex<Receiver<WorkItem>>) {
    with_worker(context, |worker| {
        loop {
            let next = lock(work).recv();
            let Ok(WorkItem { query: question, freshness }) = next else { return };
            worker.progress.set_job(Some(Arc::clone(&question.call.job)));
            let mut audit = None;
            let answer = worker.catch_panic(|worker| worker.answer(&question, freshness, &mut audit));
            worker.progress.set_job(None);
            // The client may be gone.
            let _ = question.reply.send(answer);
            let _ = context.events.send(DaemonEvent::QueryAnswered { audit });
            // Each worker has a connection to the store, whose pages the system has in memory too.
            if let Some(open) = &worker.open {
                open.project.release_memory();
            }
        }
    });
}

/// Refreshes changed files until the queue is closed.
pub(super) fn run_refresh_worker(context: &WorkerContext, due: &Receiver<DueChanges>) {
    with_worker(context, |worker| {
        let mut recorded = None;
        for due in due {
            let began = WallClock.monotonic();
            let is_everything = due == DueChanges::AllFiles;
            let (changes, mut notes) = match worker.catch_panic(|worker| worker.refresh(&due)) {
                Ok(found) => found,
                Err(fault) => (Vec::new(), vec![fault.message]),
            };
            notes.extend(worker.record_curation(&mut recorded).err().map(|error| error.message));
            let took = WallClock.monotonic().saturating_sub(began);
            if let Some(open) = &worker.open {
                open.project.release_memory();
            }
            let _ = context.events.send(DaemonEvent::Refreshed(RefreshOutcome {
                changes,
                is_everything,
                elapsed: took,
                notes,
            }));
        }
    });
}

/// The state of one worker thread.
struct Worker<'w> {
    context: &'w WorkerContext,
    world: World<'w>,
    progress: &'w JobProgress<'w>,
    /// The last settings that were read, and the session opened with them.
    open: Option<OpenSession<'w>>,
}

struct OpenSession<'w> {
    inputs: ConfigInputs,
    /// Why these are not the current settings.
    fault: Option<String>,
    loaded: LoadedConfig,
    fingerprint: String,
    options: engine::Options,
    project: Project<'w>,
}

fn with_worker(context: &WorkerContext, work: impl FnOnce(&mut Worker<'_>)) {
    // The project's folder is resolved once, whatever its path refers to later.
    let Ok(files) = RealFiles::open(&context.root) else { return };
    let progress = JobProgress { job: Mutex::default(), is_stopping: &context.is_stopping };
    let world = World::real(&files, &progress);
    work(&mut Worker { context, world, progress: &progress, open: None });
}

impl<'w> Worker<'w> {
    /// Runs `work`. After a panic, this work is lost and the session, whose state is unknown, is replaced; the thread
    /// continues.
    fn catch_panic<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, ApiError>) -> Result<T, ApiError> {
        // The possibly inconsistent session is dropped below.
        catch_unwind(AssertUnwindSafe(|| work(self))).unwrap_or_else(|_| {
            self.open = None;
            self.context.workspace.invalidate_all();
            Err(ApiError::bug())
        })
    }

    fn answer(
        &mut self,
        question: &PendingQuery,
        freshness: FreshnessNote,
        audit: &mut Option<AuditStatus>,
    ) -> Result<ServiceAnswer, ApiError> {
        let PendingQuery { query, call, .. } = question;
        if call.job.is_cancelled() {
            return Err(cancelled_error());
        }
        let context = self.context;
        let open = self.open()?;
        if call.settings.as_ref().is_some_and(|settings| *settings != open.fingerprint) {
            return Err(ApiError::other_settings());
        }
        // Discards what a failed answer has left behind.
        open.project.discard_delivery();
        open.project.take_unstable();
        open.project.take_trusted_events();
        open.project.take_notes();
        // Remote, because clients of the socket must not read files outside of the project.
        let settings =
            QuerySettings { loaded: &open.loaded, root: &context.root, origin: QueryOrigin::Remote };
        let AnswerWithMissing { answer: payload, missing } =
            resolve(query.clone(), settings)?.answer(&mut open.project)?;
        let freshness = freshness
            .with_unsettled(open.project.take_unstable())
            .with_trusted_events(open.project.take_trusted_events());
        freshness.require_fresh(call.require_fresh)?;
        if let Some(found) = payload.downcast_ref::<AuditResult>() {
            let differences = found.differences.len() as u64;
            *audit = Some(AuditStatus { at_ms: freshness.as_of_ms, differences });
        }
        if matches!(query, AnyQuery::Hydrate(_))
            && let Some(placed) = payload.downcast_ref::<HydrationResult>()
        {
            let _ = context.events.send(DaemonEvent::Hydrated(placed.into()));
        }
        // A client that has disconnected has received nothing.
        if !call.job.is_cancelled() && !call.is_read_only {
            open.project.confirm_delivery();
        }
        open.project.take_notes().into_iter().for_each(|note| call.job.note(note));
        // A client that has read the settings itself knows their problems.
        if call.settings.is_none() {
            open.loaded.notes(&context.root).into_iter().for_each(|note| call.job.note(note));
        }
        Ok(ServiceAnswer { freshness, missing, payload })
    }

    fn refresh(&mut self, due: &DueChanges) -> Result<(Vec<FileChange>, Vec<String>), ApiError> {
        let open = self.open()?;
        let changes = match due {
            DueChanges::AllFiles => open.project.refresh_all()?,
            DueChanges::Files(files) => open.project.refresh(files)?,
        };
        Ok((changes, open.project.take_notes()))
    }

    /// Records the project's settings in the history of the curation if they differ from `recorded`.
    fn record_curation(&self, recorded: &mut Option<String>) -> Result<(), ApiError> {
        let Some(open) = &self.open else { return Ok(()) };
        let revision = &open.loaded.revision;
        if recorded.as_ref() == Some(revision) {
            return Ok(());
        }
        *recorded = Some(revision.clone());
        CurationHistory::new(&self.context.root, &open.loaded).record_settled()
    }

    /// Reads the settings, and returns a session opened with them.
    fn open(&mut self) -> Result<&mut OpenSession<'w>, ApiError> {
        let context = self.context;
        let CurrentSettings { inputs, fault, is_new } =
            context.last_settings.current(&context.sources, &context.root);
        if let Some(fault) = fault.as_ref().filter(|_| is_new) {
            let _ = context.events.send(DaemonEvent::SettingsBroken(fault.clone()));
        }
        if self.open.as_ref().is_none_or(|open| open.inputs != inputs || open.fault != fault) {
            self.open = None;
            let mut loaded = load(&inputs).map_err(|error| settings_error(&error))?;
            loaded.problems.splice(0..0, fault.clone());
            let options = loaded.engine_options(&self.context.root);
            let mut project = Project::open(&self.context.root, options.clone(), self.world)?;
            project.share_cache(Arc::clone(&self.context.workspace));
            project.set_paranoid(self.context.is_paranoid);
            let fingerprint = loaded.fingerprint();
            self.open = Some(OpenSession { inputs, fault, loaded, fingerprint, options, project });
        }
        let open = self.open.as_mut().expect("a session was opened above where there was none");
        open.project.reopen_linked();
        context.last_settings.set_problems(&open.loaded);
        // Even if nothing is new to this worker, because another one may have read settings that were changed back
        // since.
        let mut known = lock(&self.context.fingerprint);
        if *known != open.fingerprint {
            known.clone_from(&open.fingerprint);
            drop(known);
            // The loop ends before its workers do.
            let options = Box::new(open.options.clone());
            let _ = self.context.events.send(DaemonEvent::SettingsChanged(options));
        }
        Ok(open)
    }
}
