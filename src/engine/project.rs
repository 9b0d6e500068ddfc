//! A project that is open: its files, its settings, its cache.

use std::collections::HashMap;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use super::agent::ModelSummaries;
use super::agent::SummaryLookup;
use super::error::Error;
use super::given::PendingDelivery;
use super::options::Options;
use super::options::World;
use super::report::IndexReport;
use super::scan::KnownFile;
use super::tree::WorkspaceCache;
use crate::discover::NameRules;
use crate::model::ContentHash;
use crate::store::ContentArtifacts;
use crate::store::Store;

/// Something that a person should be told, beside the answer.
pub type Note = String;

/// A project that is open.
pub struct Project<'w> {
    pub(super) root: PathBuf,
    pub(super) options: Options,
    pub(super) world: World<'w>,
    pub(super) names: Arc<NameRules>,
    /// Of the settings that `names` are made by.
    pub(super) names_key: ContentHash,
    /// The cache; `None` where there is none to be had, and everything is derived anew.
    pub(super) store: Option<Store>,
    /// What could not be stored, or was not to be.
    pub(super) unsaved: HashMap<(ContentHash, &'static str), ContentArtifacts>,
    /// The files whose skeletons are likely to be shown next.
    pub(super) prefetch: Vec<KnownFile>,
    pub(super) notes: Vec<Note>,
    pub(super) last_scan: Option<IndexReport>,
    /// What is to be remembered when the last document has been given.
    pub(super) pending_delivery: Option<PendingDelivery>,
    /// What is known between answers, where a process gives more than one.
    pub(super) shared: Option<Arc<WorkspaceCache>>,
    pub(super) paranoid: bool,
    /// Before this moment a cache that was lost is not looked for again.
    pub(super) reopens_after: Duration,
    /// Files that could not be read because they change all the time, since that was last asked.
    pub(super) unstable: u64,
    /// Where models' words are looked up.
    pub(super) summary_lookup: Arc<Mutex<SummaryLookup>>,
    /// Those that the answer under way shows.
    pub(super) summaries: ModelSummaries,
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
    pub(super) fn check_cancelled(&self) -> Result<(), Error> {
        if self.world.progress.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }

    pub(super) fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
