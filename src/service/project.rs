//! The project as programs see it that use slop as a library.

use std::path::Path;

use super::local::LocalService;
use super::sources::SettingsSources;
use crate::api::{ApiError, CallOptions, Query, ask};

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
    /// Opens the project in the folder `root`.
    pub fn open(root: &Path) -> Result<Self, ApiError> {
        let root = root.canonicalize().map_err(|error| ApiError::no_project(root, &error))?;
        Ok(Self { service: LocalService::new(root, SettingsSources::default()) })
    }

    /// Answers a question. Of several paths that it names, those without an answer are left out; it is an error if none
    /// has one.
    pub fn ask<Q: Query>(&self, query: Q) -> Result<Q::Answer, ApiError> {
        Ok(ask(&self.service, query, &CallOptions::default())?.answer)
    }
}
