//! A project that is open: its files, its settings, its cache.

use std::collections::HashMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use super::error::Error;
use super::options::{Options, World};
use super::report::IndexReport;
use crate::discover::NameRules;
use crate::engine::document::PendingDelivery;
use crate::engine::index::KnownFile;
use crate::engine::summaries::{ModelSummaries, SummaryLookup};
use crate::engine::workspace::WorkspaceCache;
use crate::model::ContentHash;
use crate::store::ContentArtifacts;
use crate::store::Store;

/// Something that a person should be told, beside the answer.
pub type Note = String;

/// A project that is open.
pub struct Project<'w> {
    pub(in crate::engine) root: PathBuf,
    pub(in crate::engine) options: Options,
    pub(in crate::engine) world: World<'w>,
    pub(in crate::engine) names: Arc<NameRules>,
    /// Of the settings that `names` are made by.
    pub(in crate::engine) names_key: ContentHash,
    /// The cache; `None` where there is none to be had, and everything is derived anew.
    pub(in crate::engine) store: Option<Store>,
    /// What could not be stored, or was not to be.
    pub(in crate::engine) unsaved: HashMap<(ContentHash, &'static str), ContentArtifacts>,
    /// The files whose skeletons are likely to be shown next.
    pub(in crate::engine) prefetch: Vec<KnownFile>,
    pub(in crate::engine) notes: Vec<Note>,
    pub(in crate::engine) last_scan: Option<IndexReport>,
    /// What is to be remembered when the last document has been given.
    pub(in crate::engine) pending_delivery: Option<PendingDelivery>,
    /// What is known between answers, where a process gives more than one.
    pub(in crate::engine) shared: Option<Arc<WorkspaceCache>>,
    pub(in crate::engine) paranoid: bool,
    /// Before this moment a cache that was lost is not looked for again.
    pub(in crate::engine) reopens_after: Duration,
    /// Files that could not be read because they change all the time, since that was last asked.
    pub(in crate::engine) unstable: u64,
    /// Where models' words are looked up.
    pub(in crate::engine) summary_lookup: Arc<Mutex<SummaryLookup>>,
    /// Those that the answer under way shows.
    pub(in crate::engine) summaries: ModelSummaries,
}

impl<'w> Project<'w> {
    /// Opens the project in the folder `root`, and its cache.
    pub fn open(root: &Path, options: Options, world: World<'w>) -> Result<Self, Error> {
        let names = Arc::new(NameRules::new(&options.names)?);
        let names_key = ContentHash::digest(format!("{:?}", options.names).as_bytes());
        let root = root.to_owned();
        let mut project = Self {
            root,
            options,
            world,
            names,
            store: None,
            unsaved: HashMap::new(),
            prefetch: Vec::new(),
            notes: Vec::new(),
            last_scan: None,
            pending_delivery: None,
            shared: None,
            names_key,
            paranoid: false,
            reopens_after: Duration::ZERO,
            unstable: 0,
            summary_lookup: Arc::default(),
            summaries: ModelSummaries::default(),
        };
        if project.options.cache_enabled {
            project.open_store()?;
        }
        Ok(project)
    }

    /// Shares what is known of the tree with other projects that have the same root and the same options.
    pub fn share_cache(&mut self, tree: Arc<WorkspaceCache>) {
        self.summary_lookup = tree.summary_lookup();
        self.shared = Some(tree);
    }

    /// Sets whether every file of an answer is hashed though its stamp is believed, and a difference told.
    pub const fn set_paranoid(&mut self, paranoid: bool) {
        self.paranoid = paranoid;
    }

    /// Returns how many files of the answers since this was last asked could not be read because they change all the
    /// time.
    pub const fn take_unstable(&mut self) -> u64 {
        std::mem::replace(&mut self.unstable, 0)
    }

    /// Returns what a person should be told since this was last asked.
    pub fn take_notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// Returns what the last scan of the project's files did; `None` where answers took none.
    pub fn last_scan(&self) -> Option<&IndexReport> {
        self.last_scan.as_ref()
    }

    /// Ends the work if nobody waits for its answer any more. What was derived until then is kept.
    pub(in crate::engine) fn check_cancelled(&self) -> Result<(), Error> {
        if self.world.progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    pub(in crate::engine) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
