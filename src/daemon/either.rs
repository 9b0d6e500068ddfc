//! Whoever can answer: the daemon where one runs, else this process.

use std::path::PathBuf;

use super::front::cancelled_error;
use super::places::DaemonPaths;
use crate::api::AnyQuery;
use crate::api::ApiError;
use crate::api::CallOptions;
use crate::api::Client;
use crate::api::ClientError;
use crate::api::QueryOptions;
use crate::api::Service;
use crate::api::ServiceAnswer;
use crate::service::LocalService;
use crate::service::SettingsSources;

/// Faults of a daemon that is not the one to ask, or not now, and of what no transport carries; what it was asked can be
/// answered without it.
const FALLBACK_CODES: [&str; 10] = [
    "other_settings",
    "other_protocol",
    "other_version",
    "stopping",
    "busy",
    "too_long",
    "too_large",
    "too_slow",
    "bad_body",
    "bad_answer",
];

/// Asks the daemon where one runs that has the same settings, else answers in this process. Starts none.
pub struct DaemonOrLocal {
    root: PathBuf,
    sources: SettingsSources,
    runtime: PathBuf,
    local: LocalService,
    without_daemon: bool,
}

impl DaemonOrLocal {
    /// Returns what answers for the project in the folder `root`, an absolute path without links. `runtime` is as for
    /// [`Places::of`].
    pub fn new(root: PathBuf, sources: SettingsSources, runtime: PathBuf, without_daemon: bool) -> Self {
        let local = LocalService::new(root.clone(), sources.clone());
        Self { root, sources, runtime, local, without_daemon }
    }
}

impl Service for DaemonOrLocal {
    fn ask(&self, ask: AnyQuery, call: &CallOptions) -> Result<ServiceAnswer, ApiError> {
        if self.without_daemon {
            return self.local.ask(ask, call);
        }
        let loaded = self.sources.load(&self.root)?;
        let cache_dir = loaded.engine_options(&self.root).cache_dir;
        let places = DaemonPaths::for_project(&self.root, &cache_dir, &self.runtime);
        let fingerprint = loaded.fingerprint();
        let mut progress = |done, total| {
            call.job.set_progress(done, total);
        };
        let options = QueryOptions {
            require_fresh: call.require_fresh,
            settings: Some(&fingerprint),
            job: Some(&call.job),
            progress: Some(&mut progress),
        };
        match query_daemon(&places, &ask, options) {
            Some(answer) => answer,
            None => self.local.ask(ask, call),
        }
    }
}

/// Asks the daemon of a project. `None` where there is none that answers as this process would.
pub fn query_daemon(
    places: &DaemonPaths,
    ask: &AnyQuery,
    options: QueryOptions<'_>,
) -> Option<Result<ServiceAnswer, ApiError>> {
    // Nearly always there is none, and then this is all that it costs to know.
    if !places.socket.exists() {
        return None;
    }
    match Client::connect(&places.socket).ok()?.ask(ask, options) {
        Ok(answered) => Some(Ok(answered)),
        Err(ClientError::Fault(fault)) if FALLBACK_CODES.contains(&&*fault.code) => None,
        Err(ClientError::Fault(fault)) => Some(Err(fault)),
        Err(ClientError::Cancelled) => Some(Err(cancelled_error())),
        Err(ClientError::Unreachable(_) | ClientError::NotUnderstood(_)) => None,
    }
}
