//! Answers without a daemon: the project is opened for each question, and every file of the answer is looked at.

use std::path::PathBuf;

use super::resolve::Asker;
use super::resolve::resolve;
use super::sources::Sources;
use crate::api::Answered;
use crate::api::Ask;
use crate::api::Call;
use crate::api::Fault;
use crate::api::FreshnessNote;
use crate::api::Service;
use crate::api::Session;
use crate::api::World;
use crate::sys::Clock;
use crate::sys::RealDisk;
use crate::sys::RealFiles;
use crate::sys::RealProcesses;
use crate::sys::WallClock;

/// A project that is opened for one question at a time. Settings are read anew for each.
#[derive(Debug, Clone)]
pub struct Local {
    root: PathBuf,
    sources: Sources,
}

impl Local {
    /// Returns what answers for the project in the folder `root`, an absolute path without links.
    pub const fn new(root: PathBuf, sources: Sources) -> Self {
        Self { root, sources }
    }
}

impl Service for Local {
    fn ask(&self, ask: Ask, call: &Call) -> Result<Answered, Fault> {
        let root = &self.root;
        let loaded = self.sources.load(root)?;
        if call.settings.as_ref().is_some_and(|settings| *settings != loaded.fingerprint()) {
            return Err(Fault::other_settings());
        }
        let as_of_ms = WallClock.now_ns() / 1_000_000;
        let request = resolve(ask, &loaded, root, Asker::Client)?;
        let files = RealFiles::open(root).map_err(|error| Fault::no_project(root, &error))?;
        let world = World {
            clock: &WallClock,
            disk: &RealDisk,
            files: &files,
            processes: &RealProcesses,
            progress: &*call.job,
        };
        let mut options = loaded.engine_options(root);
        options.cache_enabled &= request.uses_cache();
        let mut session = Session::open(root, options, world)?;
        let response = session.answer(request)?;
        let freshness = FreshnessNote::at(as_of_ms).unsettled(session.take_unsettled());
        freshness.check(call.require_fresh)?;
        let answered = Answered::of(response, freshness, call);
        let answered = answered.expect("what is asked in words is answered by an answer");
        // The caller has it as soon as this returns.
        session.delivered();
        Ok(Answered { notes: session.take_notes(), ..answered })
    }
}
