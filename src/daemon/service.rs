//! Services that ask a daemon: one that requires it, and one that otherwise answers in this process.

use std::path::PathBuf;

use super::error::cancelled_error;
use super::instance::DaemonPaths;
use crate::api::{
    AnyQuery, ApiError, AttachmentOptions, CallOptions, Client, ClientError, Delivery, FeedSource,
    LocalQuery, Payload, Receiver, Service, ServiceAnswer, TraceEvent,
};
use crate::config::{ConfigInputs, LoadedConfig, load};
use crate::service::LocalService;

/// Errors of a daemon that is unsuitable or busy, and of questions that no transport carries: these are answered
/// without it.
const FALLBACK_CODES: [&str; 10] = [
    "other_settings", "other_protocol", "other_version", "stopping", "busy", "too_long", "too_large",
    "too_slow", "bad_body", "bad_answer",
];

/// Asks the daemon of a project, without falling back.
#[derive(Debug, Clone)]
pub struct DaemonService {
    paths: DaemonPaths,
}

impl DaemonService {
    /// Returns a service that asks the daemon with these files.
    pub const fn new(paths: DaemonPaths) -> Self {
        Self { paths }
    }

    fn ask(&self, query: &AnyQuery, call: &CallOptions) -> Result<ServiceAnswer, ApiError> {
        // There is rarely a daemon, and this check is all that its absence costs.
        if !self.paths.socket.exists() {
            return Err(no_answer("no daemon is running for this project".to_owned()));
        }
        let client = Client::connect(&self.paths.socket).map_err(|error| no_answer(error.to_string()))?;
        let answer = client.ask(query, call).map_err(|error| match error {
            ClientError::Fault(error) => error,
            ClientError::Cancelled => cancelled_error(),
            ClientError::Unreachable(_) | ClientError::NotUnderstood(_) | ClientError::NoRoute => {
                no_answer(error.to_string())
            }
        })?;
        let Payload::Json(data) = &answer.payload else { return Ok(answer) };
        match query.decode_answer(data) {
            Ok(payload) => {
                call.job.trace(TraceEvent::AnsweredByDaemon(answer.freshness.clock.clone()));
                Ok(ServiceAnswer { payload, ..answer })
            }
            Err(error) => {
                call.job.trace(TraceEvent::UnreadableAnswer(error.to_string()));
                Err(no_answer(error.to_string()))
            }
        }
    }
}

impl Service for DaemonService {
    fn answer(&self, query: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        // A daemon counts an answer as delivered once it is sent.
        let _: Delivery = receive(self.ask(&query, call)?);
        Ok(())
    }
}

/// Asks the daemon if one with the same settings is running, and otherwise answers in this process. Never starts one.
pub struct DaemonOrLocal {
    local: LocalService,
    runtime: PathBuf,
    without_daemon: bool,
}

impl DaemonOrLocal {
    /// Returns a service with the answers of `local`. `runtime` is as for [`DaemonPaths::for_project`].
    pub const fn new(local: LocalService, runtime: PathBuf, without_daemon: bool) -> Self {
        Self { local, runtime, without_daemon }
    }

    /// Asks the daemon. `None` if there is none whose answer would equal that of this process.
    fn ask_daemon(&self, query: &AnyQuery, call: &CallOptions) -> Option<Result<ServiceAnswer, ApiError>> {
        if self.without_daemon || is_local_only(query) {
            return None;
        }
        let loaded = match self.local.settings() {
            Ok(loaded) => loaded,
            // A daemon that was started before the settings broke answers with the last valid ones, and says so.
            Err(error) => return Some(self.ask_by_last_settings(query, call).unwrap_or(Err(error))),
        };
        let paths = self.paths(&loaded);
        let call = CallOptions { settings: Some(loaded.fingerprint()), ..call.clone() };
        let answer = match DaemonService::new(paths).ask(query, &call) {
            Err(error) if FALLBACK_CODES.contains(&&*error.code) => return None,
            answer => answer,
        };
        self.local.note_problems(&loaded, &call);
        Some(answer)
    }

    /// Asks the daemon in the default cache folder, whatever its settings.
    fn ask_by_last_settings(
        &self,
        query: &AnyQuery,
        call: &CallOptions,
    ) -> Option<Result<ServiceAnswer, ApiError>> {
        let paths = self.paths(&load(&ConfigInputs::default()).ok()?);
        let answer = DaemonService::new(paths).ask(query, call);
        answer.map_or_else(|_| None, |answer| Some(Ok(answer)))
    }

    fn paths(&self, loaded: &LoadedConfig) -> DaemonPaths {
        let cache_dir = loaded.engine_options(self.local.root()).cache_dir;
        DaemonPaths::for_project(self.local.root(), &cache_dir, &self.runtime)
    }
}

impl FeedSource for DaemonOrLocal {
    fn feed_socket(&self) -> Result<PathBuf, ApiError> {
        if self.without_daemon {
            let hint =
                "restart the server; `slop mcp --no-daemon` and SLOP_NO_DAEMON keep it from asking one";
            return Err(ApiError::user("no_daemon", "this server asks no daemon", hint));
        }
        Ok(self.paths(&*self.local.settings()?).socket)
    }
}

impl Service for DaemonOrLocal {
    fn answer(&self, query: AnyQuery, call: &CallOptions, receive: Receiver<'_>) -> Result<(), ApiError> {
        if let Some(answer) = self.ask_daemon(&query, call) {
            let _: Delivery = receive(answer?);
            return Ok(());
        }
        let compose = |document: AnyQuery| self.ask_daemon(&document, call);
        self.local.answer_with(query, call, receive, Some(&compose))
    }
}

/// Returns whether only this process can answer a question.
fn is_local_only(query: &AnyQuery) -> bool {
    match query {
        // The next document omits these changes only if this one was written, not just sent, which only this process
        // knows.
        AnyQuery::Aggregate(query) => names_files_elsewhere(&query.attachments) || query.since_last,
        AnyQuery::OpenDocument(query) => names_files_elsewhere(&query.0.attachments),
        AnyQuery::Local(
            LocalQuery::MakeSlice(_)
            | LocalQuery::ResolveSlices(_)
            | LocalQuery::MatchSymbols(_)
            | LocalQuery::SourceTexts(_)
            | LocalQuery::AllReferences(_)
            | LocalQuery::Compose(_)
            | LocalQuery::WriteDocument(_),
        ) => true,
        AnyQuery::Index(_)
        | AnyQuery::Files(_)
        | AnyQuery::Links(_)
        | AnyQuery::Outline(_)
        | AnyQuery::View(_)
        | AnyQuery::Image(_)
        | AnyQuery::Symbols(_)
        | AnyQuery::Search(_)
        | AnyQuery::Find(_)
        | AnyQuery::Refs(_)
        | AnyQuery::Calls(_)
        | AnyQuery::Impact(_)
        | AnyQuery::ReadDocument(_)
        | AnyQuery::CompareDocuments(_)
        | AnyQuery::Given(_)
        | AnyQuery::Hydrate(_)
        | AnyQuery::Simulate(_)
        | AnyQuery::Fragments(_)
        | AnyQuery::EditFragments(_)
        | AnyQuery::Explain(_)
        | AnyQuery::Table(_)
        | AnyQuery::Curation(_)
        | AnyQuery::EditCuration(_)
        | AnyQuery::History(_)
        | AnyQuery::Undo(_)
        | AnyQuery::Redo(_)
        | AnyQuery::Jump(_)
        | AnyQuery::Takes(_)
        | AnyQuery::EditTakes(_)
        | AnyQuery::CacheStatus(_)
        | AnyQuery::CacheClear(_)
        | AnyQuery::CacheExport(_)
        | AnyQuery::CacheVerify(_)
        | AnyQuery::CacheGc(_)
        | AnyQuery::Audit(_) => false,
    }
}

/// Returns whether attachments may be outside of the project, from where a daemon shows nothing.
fn names_files_elsewhere(attachments: &AttachmentOptions) -> bool {
    let has_file = attachments.history.as_ref().is_some_and(|history| history.file().is_some());
    has_file || !attachments.screenshots.is_empty()
}

/// Returns the error for a daemon that sent no usable answer.
fn no_answer(message: String) -> ApiError {
    ApiError::environment("bad_answer", message, "ask again without the daemon")
}
