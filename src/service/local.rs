//! Answers in this process: the project is opened for each question, and every file of the answer is checked. Programs
//! that use slop as a library do this through [`Project`].

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::answer::resolve;
use super::project_root::RootGuard;
use super::resolved::{AnswerWithMissing, QueryOrigin, QuerySettings, ResolvedQuery};
use super::sources::SettingsSources;
use crate::api::{
    AggregateQuery, AnyQuery, ApiError, CallOptions, ComposedDocument, Delivery, FreshnessNote, IndexRun,
    LocalQuery, OutputTarget, Payload, Query, Receiver, Service, ServiceAnswer, TraceEvent,
    WriteDocumentQuery, WrittenDocument, ask, pretty,
};
use crate::config::LoadedConfig;
use crate::engine::{self, PriorOutputs, ScanProgress, WorkspaceCache, World};
use crate::model::lock;
use crate::sys::{Clock, RealFiles, WallClock, user_key};

#[derive(Clone)]
pub struct LocalService {
    root: PathBuf,
    settings: SettingsSource,
    origin: QueryOrigin,
    guard: RootGuard,
    /// What is kept between answers, in a process that gives several.
    kept: Option<Arc<KeptWorkspace>>,
}

/// What is kept of a project between two answers under the same settings. Because no events are reported to it, each
/// answer lists the files and compares their stamps.
#[derive(Default)]
struct KeptWorkspace(Mutex<Option<(String, Arc<WorkspaceCache>)>>);

impl KeptWorkspace {
    fn with_settings(&self, fingerprint: String) -> Arc<WorkspaceCache> {
        let mut kept = lock(&self.0);
        let current = kept.take().filter(|(settings, _)| *settings == fingerprint);
        let current = current.unwrap_or_else(|| (fingerprint, Arc::new(WorkspaceCache::new())));
        Arc::clone(&kept.insert(current).1)
    }
}

/// Where the settings of an answer come from.
#[derive(Clone)]
enum SettingsSource {
    /// The settings are read again for each question.
    Sources(SettingsSources),
    /// The settings were read once, by a process that asks one question.
    Loaded(Arc<LoadedConfig>),
}

/// Composes a document in another process; `None` if that is not possible.
pub type RemoteComposer<'c> = &'c dyn Fn(AnyQuery) -> Option<Result<ServiceAnswer, ApiError>>;

impl LocalService {
    /// Returns a service for the project in the folder `root`, an absolute path without links, which reads the settings
    /// again for each question.
    pub const fn new(root: PathBuf, sources: SettingsSources) -> Self {
        let settings = SettingsSource::Sources(sources);
        Self { root, settings, origin: QueryOrigin::Remote, guard: RootGuard::none(), kept: None }
    }

    /// Returns a service for the command line, with settings that have already been read.
    pub const fn for_command_line(root: PathBuf, loaded: Arc<LoadedConfig>) -> Self {
        let settings = SettingsSource::Loaded(loaded);
        Self { root, settings, origin: QueryOrigin::CommandLine, guard: RootGuard::none(), kept: None }
    }

    /// Returns a service that rejects the projects that `guard` rejects.
    pub fn guarded_by(self, guard: RootGuard) -> Self {
        Self { guard, ..self }
    }

    /// Returns a service that keeps the files, their stamps and the references between symbols from one answer to the
    /// next. This takes as much memory as a daemon.
    pub fn with_kept_workspace(self) -> Self {
        Self { kept: Some(Arc::default()), ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the settings that apply to a question.
    pub fn settings(&self) -> Result<Arc<LoadedConfig>, ApiError> {
        match &self.settings {
            SettingsSource::Sources(sources) => sources.load(&self.root).map(Arc::new),
            SettingsSource::Loaded(loaded) => Ok(Arc::clone(loaded)),
        }
    }

    /// Notes the problems of settings that were read for this answer. A process that has read its own settings has
    /// already reported theirs.
    pub fn note_problems(&self, loaded: &LoadedConfig, call: &CallOptions) {
        if matches!(self.settings, SettingsSource::Sources(_)) {
            loaded.notes(&self.root).into_iter().for_each(|note| call.job.note(note));
        }
    }

    /// Answers as [`Service::answer`] does; a document that goes into a file is composed by `remote`, if it can be.
    pub fn answer_with(
        &self,
        query: AnyQuery,
        call: &CallOptions,
        receive: Receiver<'_>,
        remote: Option<RemoteComposer<'_>>,
    ) -> Result<(), ApiError> {
        self.guard.check_folder()?;
        let loaded = self.settings()?;
        // Compared with the settings that were read for this answer, because they may have been edited since the client
        // read its own.
        if call.settings.as_ref().is_some_and(|settings| *settings != loaded.fingerprint()) {
            return Err(ApiError::other_settings());
        }
        self.note_problems(&loaded, call);
        let settings = QuerySettings { loaded: &loaded, root: &self.root, origin: self.origin };
        let (query, output) = Output::take_from(query);
        // The time is taken before anything is read: a write that comes later may be missing from the answer.
        let as_of_ms = WallClock.now_ms();
        let resolved = resolve(query.clone(), settings)?;
        let mut options = loaded.engine_options(&self.root);
        // Opening the cache would create its folder, for a question that reads one file.
        options.cache_enabled &= resolved.uses_cache;
        options.max_files = self.guard.max_files(&loaded);
        // A rejected folder gets no cache, because that would mark it as a project.
        let has_cache = self.root.join(options.cache_dir.as_path()).exists();
        options.cache_enabled &= has_cache || self.guard.check_file_count(&self.root, &loaded).is_ok();
        with_world(&self.root, &*call.job, |world| {
            // Without the cache, a project has different options, so nothing can be shared.
            let kept = self.kept.as_ref().filter(|_| options.cache_enabled);
            let kept = kept.map(|kept| kept.with_settings(loaded.fingerprint()));
            let mut project = engine::Project::open(&self.root, options, world)?;
            if let Some(kept) = kept {
                project.share_cache(kept);
            }
            // This run must not delete what another one writes meanwhile.
            let prior = output.as_ref().and_then(|output| output.prior(&project));
            let composed = output.as_ref().and(remote).and_then(|compose| compose(query));
            // A daemon composes from its warm cache, but only this process writes files for its user.
            let answer = composed.unwrap_or_else(|| answer_here(resolved, &mut project, as_of_ms, call));
            let ServiceAnswer { mut payload, freshness, missing } = answer?;
            if let Some(output) = output {
                payload = Payload::local(output.write(payload, prior, &mut project)?);
                // A document that was written to its file has been delivered.
                project.confirm_delivery();
            }
            // If the answer is lost, nothing is confirmed, and the next `--since-last` shows the same changes again.
            let delivery = receive(ServiceAnswer { freshness, missing, payload });
            if delivery == Delivery::Arrived && !call.is_read_only {
                project.confirm_delivery();
            }
            project.take_notes().into_iter().for_each(|note| call.job.note(note));
            Ok(())
        })
    }
}

impl Service for LocalService {
    fn answer(&self, query: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        self.answer_with(query, call, receive, None)
    }
}

/// The file that a document goes into.
struct Output {
    target: OutputTarget,
    receipt: Option<PathBuf>,
    extension: &'static str,
}

impl Output {
    /// Splits a question for a document in a file into the question for the document and that file.
    fn take_from(query: AnyQuery) -> (AnyQuery, Option<Self>) {
        match query {
            AnyQuery::Local(LocalQuery::WriteDocument(write)) => {
                let WriteDocumentQuery { document, target, receipt } = *write;
                let extension = document.format.extension();
                (document.into_any(), Some(Self { target, receipt, extension }))
            }
            query => (query, None),
        }
    }

    /// Returns the numbered files that exist before the document is composed.
    fn prior(&self, project: &engine::Project<'_>) -> Option<PriorOutputs> {
        match &self.target {
            OutputTarget::Numbered { folder, name, .. } => Some(project.prior_outputs(folder, name)),
            OutputTarget::File(_) => None,
        }
    }

    /// Writes the document, then deletes old ones, then writes the receipt: there is none for a document that could not
    /// be written.
    fn write(
        self,
        payload: Payload,
        prior: Option<PriorOutputs>,
        project: &mut engine::Project<'_>,
    ) -> Result<WrittenDocument, ApiError> {
        let ComposedDocument { text, receipt, .. } = AggregateQuery::read_answer(payload)?;
        let text = text.unwrap_or_else(|| String::new().into());
        let path = match self.target {
            OutputTarget::File(path) => {
                project.write_file(&path, &text)?;
                path
            }
            OutputTarget::Numbered { folder, name, keep } => {
                let path = project.write_numbered(&folder, &name, self.extension, &text)?;
                // Pruned only once the new document is in its folder: a failed run must not cost an old one.
                if let Some(prior) = prior {
                    project.prune_outputs(&folder, prior, keep);
                }
                path
            }
        };
        if let Some(file) = &self.receipt {
            project.write_file(file, &pretty(&receipt).into())?;
        }
        Ok(WrittenDocument { path, receipt })
    }
}

/// Answers from the files of the opened project.
fn answer_here(
    resolved: ResolvedQuery,
    project: &mut engine::Project<'_>,
    as_of_ms: i64,
    call: &CallOptions,
) -> Result<ServiceAnswer, ApiError> {
    let found = resolved.answer(project);
    let unsettled = project.take_unstable();
    // Reported before an error is returned: what was read, and what was noted, may explain it.
    report(project, call);
    let freshness = FreshnessNote::at(as_of_ms).with_unsettled(unsettled);
    freshness.require_fresh(call.require_fresh)?;
    let AnswerWithMissing { answer, missing } = found?;
    Ok(ServiceAnswer { freshness, missing, payload: answer })
}

/// Reports what happened while a question was answered, whether there is an answer or not.
fn report(project: &mut engine::Project<'_>, call: &CallOptions) {
    let scan = project.last_scan().map(IndexRun::from);
    call.job.trace(scan.map_or(TraceEvent::NamedFilesOnly, TraceEvent::Scanned));
    project.take_notes().into_iter().for_each(|note| call.job.note(note));
}

/// Opens the folder of a project, and does some work in it.
pub fn with_world<T, E: From<ApiError>>(
    root: &Path,
    progress: &dyn ScanProgress,
    work: impl FnOnce(World<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let files = RealFiles::open(root).map_err(|error| ApiError::no_project(root, &error))?;
    work(World::real(&files, progress))
}

/// A project whose questions are answered in this process.
///
/// Every answer reflects the files as they are. What is derived from them is cached in the project's folder, as the
/// settings in its `slop.toml` specify; the settings of the user and the environment are not read.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("engine.py"), "def run():\n    return 1\n")?;
///
/// let project = slop::Project::open(folder.path())?;
/// let outlines = project.ask(slop::OutlineQuery::default())?;
/// assert_eq!(outlines[0].symbols[0].name, "run");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Project {
    service: LocalService,
}

impl Project {
    /// Opens the project in the folder `root`. Only rows that were authenticated with the user's key are read from an
    /// existing cache.
    pub fn open(root: &Path) -> Result<Self, ApiError> {
        engine::authenticate_cache(&user_key());
        let root = dunce::canonicalize(root).map_err(|error| ApiError::no_project(root, &error))?;
        Ok(Self { service: LocalService::new(root, SettingsSources::default()) })
    }

    /// Answers a question. Of several paths that it names, those without an answer are left out; it is an error if none
    /// has one.
    pub fn ask<Q: Query>(&self, query: Q) -> Result<Q::Answer, ApiError> {
        Ok(ask(&self.service, query, &CallOptions::default())?.payload)
    }
}
