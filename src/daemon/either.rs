//! Whoever can answer: the daemon where one runs, else this process.

use std::path::PathBuf;

use super::front::cancelled;
use super::places::Places;
use crate::api::Answered;
use crate::api::Ask;
use crate::api::AskOptions;
use crate::api::Call;
use crate::api::Client;
use crate::api::ClientError;
use crate::api::Fault;
use crate::api::Service;
use crate::service::Local;
use crate::service::Sources;

/// Faults of a daemon that is not the one to ask, or not now, and of what no transport carries; what it was asked can be
/// answered without it.
const NOT_FOR_US: [&str; 10] = [
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
pub struct Either {
    root: PathBuf,
    sources: Sources,
    runtime: PathBuf,
    local: Local,
    without_daemon: bool,
}

impl Either {
    /// Returns what answers for the project in the folder `root`, an absolute path without links. `runtime` is as for
    /// [`Places::of`].
    pub fn new(root: PathBuf, sources: Sources, runtime: PathBuf, without_daemon: bool) -> Self {
        let local = Local::new(root.clone(), sources.clone());
        Self { root, sources, runtime, local, without_daemon }
    }
}

impl Service for Either {
    fn ask(&self, ask: Ask, call: &Call) -> Result<Answered, Fault> {
        if self.without_daemon {
            return self.local.ask(ask, call);
        }
        let loaded = self.sources.load(&self.root)?;
        let cache_dir = loaded.engine_options(&self.root).cache_dir;
        let places = Places::of(&self.root, &cache_dir, &self.runtime);
        let fingerprint = loaded.fingerprint();
        let mut progress = |done, total| {
            call.job.reaches(done, total);
        };
        let options = AskOptions {
            require_fresh: call.require_fresh,
            settings: Some(&fingerprint),
            job: Some(&call.job),
            progress: Some(&mut progress),
        };
        match ask_daemon(&places, &ask, options) {
            Some(answer) => answer,
            None => self.local.ask(ask, call),
        }
    }
}

/// Asks the daemon of a project. `None` where there is none that answers as this process would.
pub fn ask_daemon(places: &Places, ask: &Ask, options: AskOptions<'_>) -> Option<Result<Answered, Fault>> {
    // Nearly always there is none, and then this is all that it costs to know.
    if !places.socket.exists() {
        return None;
    }
    match Client::connect(&places.socket).ok()?.ask(ask, options) {
        Ok(answered) => Some(Ok(answered)),
        Err(ClientError::Fault(fault)) if NOT_FOR_US.contains(&&*fault.code) => None,
        Err(ClientError::Fault(fault)) => Some(Err(fault)),
        Err(ClientError::Cancelled) => Some(Err(cancelled())),
        Err(ClientError::Unreachable(_) | ClientError::NotUnderstood(_)) => None,
    }
}
