//! An open project: where it is, how it may be read, and what a run reports.

use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;

use super::run_log::RunLog;
use super::tracker::TreeTracker;
use crate::discover::NameRules;
use crate::engine::error::Error;
use crate::engine::options::{Options, World};
use crate::model::FileItem;
use crate::model::RelPath;
use crate::store::agent::AGENT_DATABASE;

/// A project's folder, and everything by which its files are read.
pub(in crate::engine) struct Workspace<'w> {
    pub(in crate::engine) root: PathBuf,
    pub(in crate::engine) options: Options,
    pub(in crate::engine) world: World<'w>,
    pub(in crate::engine) names: Arc<NameRules>,
    /// What is known between answers, in a process that gives more than one.
    pub(in crate::engine) tracker: Option<Arc<TreeTracker>>,
    /// Whether every file of an answer is hashed although its stamp is trusted, and a difference reported.
    pub(in crate::engine) paranoid: bool,
    pub(in crate::engine) log: RunLog,
}

impl<'w> Workspace<'w> {
    /// Opens the project in the folder `root`.
    pub(in crate::engine) fn open(root: &Path, options: Options, world: World<'w>) -> Result<Self, Error> {
        let names = Arc::new(NameRules::new(&options.names)?);
        let log = RunLog::default();
        Ok(Self { root: root.to_owned(), options, world, names, tracker: None, paranoid: false, log })
    }
}

impl Workspace<'_> {
    /// Returns an error if the request was cancelled. What was derived until then is kept.
    pub(in crate::engine) fn check_cancelled(&self) -> Result<(), Error> {
        if self.world.progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    /// Reports a note to whoever reads the answer.
    pub(in crate::engine) fn note(&mut self, note: String) {
        self.log.note(note);
    }

    /// Returns the cache's folder.
    pub(in crate::engine) fn cache_folder(&self) -> PathBuf {
        self.root.join(self.options.cache_dir.as_path())
    }

    /// Returns where what models wrote is kept; nothing may be there yet.
    pub(in crate::engine) fn agent_db_path(&self) -> PathBuf {
        self.cache_folder().join(AGENT_DATABASE)
    }

    /// Returns the path within the project that a word spells, absolute or relative to the root.
    pub(in crate::engine) fn resolve_path(&self, word: &str) -> Result<Option<RelPath>, Error> {
        use std::os::unix::ffi::OsStrExt;
        let path = std::path::Path::new(word);
        let inside = path.strip_prefix(&self.root).unwrap_or(path);
        let bytes = inside.as_os_str().as_bytes();
        let bytes = bytes.strip_prefix(b"./").unwrap_or(bytes);
        let is_root = bytes.is_empty() && !word.is_empty();
        if is_root || bytes == b"." || bytes.ends_with(b"/") {
            return Ok(None);
        }
        match RelPath::new(bytes) {
            Ok(path) => Ok(Some(path)),
            Err(source) => Err(Error::BadPath { path: word.to_owned(), source }),
        }
    }

    /// Returns items with their paths as the project spells them; one that lies elsewhere matches no file.
    pub(in crate::engine) fn relative_items(&self, items: &[FileItem]) -> Vec<FileItem> {
        let within = |item: &FileItem| {
            let path = std::path::Path::new(&item.path).strip_prefix(&self.root);
            let path = path.ok().and_then(std::path::Path::to_str).unwrap_or(&item.path);
            FileItem { path: path.to_owned(), ..item.clone() }
        };
        items.iter().map(within).collect()
    }
}
