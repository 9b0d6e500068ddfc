//! Answers without a daemon: the project is opened for each question, and every file of the answer is looked at.

use std::path::PathBuf;

use super::resolve::QueryOrigin;
use super::resolve::resolve;
use super::sources::SettingsSources;
use crate::api::AnyQuery;
use crate::api::ApiError;
use crate::api::CallOptions;
use crate::api::FreshnessNote;
use crate::api::ProjectSession;
use crate::api::Service;
use crate::api::ServiceAnswer;
use crate::api::World;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// A project that is opened for one question at a time. Settings are read anew for each.
#[derive(Debug, Clone)]
pub struct LocalService {
    root: PathBuf,
    sources: SettingsSources,
}

impl LocalService {
    /// Returns what answers for the project in the folder `root`, an absolute path without links.
    pub const fn new(root: PathBuf, sources: SettingsSources) -> Self {
        Self { root, sources }
    }
}

impl Service for LocalService {
    fn ask(&self, ask: AnyQuery, call: &CallOptions) -> Result<ServiceAnswer, ApiError> {
        let root = &self.root;
        let loaded = self.sources.load(root)?;
        if call.settings.as_ref().is_some_and(|settings| *settings != loaded.fingerprint()) {
            return Err(ApiError::other_settings());
        }
        let as_of_ms = WallClock.now_ns() / 1_000_000;
        let request = resolve(ask, &loaded, root, QueryOrigin::Client)?;
        let files = RealFiles::open(root).map_err(|error| ApiError::no_project(root, &error))?;
        let world = World {
            clock: &WallClock,
            disk: &RealDisk,
            files: &files,
            processes: &RealProcesses,
            progress: &*call.job,
        };
        let mut options = loaded.engine_options(root);
        options.cache_enabled &= request.uses_cache();
        let mut session = ProjectSession::open(root, options, world)?;
        let response = session.answer(request)?;
        let freshness = FreshnessNote::at(as_of_ms).with_unsettled(session.take_unsettled_count());
        freshness.require_fresh(call.require_fresh)?;
        let answered = ServiceAnswer::from_response(response, freshness, call);
        let answered = answered.expect("what is asked in words is answered by an answer");
        // The caller has it as soon as this returns.
        session.mark_delivered();
        Ok(ServiceAnswer { notes: session.take_notes(), ..answered })
    }
}
