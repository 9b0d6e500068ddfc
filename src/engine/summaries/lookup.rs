//! Looks up model summaries for answers. They are chosen when an answer begins, so that it is consistent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

use super::subjects::{EligibilityRules, SubjectIndex};
use super::task::SubjectFolder;
use crate::aggregate;
use crate::aggregate::{ExclusionPatterns, TierOptions};
use crate::engine::artifacts::ArtifactCache;
use crate::engine::index::FileStatus;
use crate::engine::options::SummaryLookupOptions;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::{
    ContentHash, FileItem, ModelName, RelPath, SummaryProvenance, SummaryScope, Tier, error_chain, lock,
};
use crate::store::Error;
use crate::store::agent::{AGENT_DATABASE, AgentDb, StoredSummary};

/// Up to this number of files, single queries are faster than reading all summaries.
const FEW_FILES: usize = 32;
/// Queries about 1/`FEW_SHARE` of the files take as long as reading the latest summaries of all.
const FEW_SHARE: usize = 4;

#[derive(Debug)]
pub(in crate::engine) struct LoadedSummary {
    /// As stored in the database, which may have come with a checked-out project: it is sanitized before it is shown.
    pub(in crate::engine) text: String,
    pub(in crate::engine) by: ModelName,
    subject: ContentHash,
    hash: OnceLock<ContentHash>,
}

impl LoadedSummary {
    /// Returns a hash of the text, computed on first use, which only long-running processes need.
    pub(in crate::engine) fn hash(&self) -> ContentHash {
        *self.hash.get_or_init(|| ContentHash::digest(self.text.as_bytes()))
    }
}

/// Looks up model summaries, and caches what was last read. The projects of a process share it.
#[derive(Default)]
pub(in crate::engine) struct SummaryLookup {
    db: Option<AgentDb>,
    read: Vec<TierSummaries>,
}

struct TierSummaries {
    tier: Tier,
    generation: u64,
    files: FxHashMap<ContentHash, Vec<(String, Arc<LoadedSummary>)>>,
    /// By the subject of the folder.
    folders: FxHashMap<ContentHash, Arc<LoadedSummary>>,
    /// The latest summaries by path, as far as requested.
    latest: FxHashMap<Vec<u8>, Option<Arc<LoadedSummary>>>,
}

impl SummaryLookup {
    /// Returns the summaries of files and folders; those without one are absent.
    fn choose(
        &mut self,
        file: &Path,
        tier: Tier,
        options: &SummaryLookupOptions,
        asked: &[LookupFile<'_>],
        folders: Option<impl FnOnce() -> Vec<SubjectFolder>>,
    ) -> Result<ModelSummaries, Error> {
        let Some(generation) = self.generation(file, options)? else { return Ok(ModelSummaries::default()) };
        let is_read = self.read.iter().any(|read| read.tier == tier && read.generation == generation);
        let mut words = ModelSummaries::default();
        if asked.len() <= FEW_FILES && folders.is_none() && !is_read {
            let Some(db) = &self.db else { return Ok(words) };
            for asked in asked {
                words.files.extend(choose_one(db, tier, options, asked)?);
            }
        } else {
            words.files = self.choose_all(tier, generation, options, asked)?;
            let read = self.load_tier(tier, generation, options)?;
            // Computing the subjects of folders is not worthwhile if no folder has a summary.
            let folders = folders.filter(|_| !read.folders.is_empty()).map(|find| find()).unwrap_or_default();
            words.folders.extend(folders.iter().filter_map(|folder| folder_summary(folder, read)));
        }
        Ok(words)
    }

    /// Returns the tiers for which there are model summaries of a content.
    fn summarized_tiers(
        &mut self,
        file: &Path,
        options: &SummaryLookupOptions,
        asked: &[LookupFile<'_>],
    ) -> Result<Vec<Vec<Tier>>, Error> {
        let mut tiers = vec![Vec::new(); asked.len()];
        let Some(generation) = self.generation(file, options)? else { return Ok(tiers) };
        for tier in Tier::ALL {
            let read = self.load_tier(tier, generation, options)?;
            for (asked, tiers) in asked.iter().zip(&mut tiers) {
                tiers.extend(current_summary(read, asked).map(|_| tier));
            }
        }
        Ok(tiers)
    }

    /// Returns a number that changes with the stored summaries; `None` if there are none. This takes one query of the
    /// database, or if there is none, one of the file system.
    fn generation(&mut self, file: &Path, options: &SummaryLookupOptions) -> Result<Option<u64>, Error> {
        // The file may have been replaced, and the trusted writers may have changed.
        let is_current = |db: &AgentDb| db.is_file_in_place() && db.trusted_writers() == options.writers;
        if self.db.as_ref().is_some_and(|db| !is_current(db)) {
            *self = Self::default();
        }
        if self.db.is_none() {
            self.db = AgentDb::open_reader(file)?;
            if let Some(db) = &mut self.db {
                db.trust_writers(&options.writers);
            }
        }
        let generation = self.db.as_ref().map(AgentDb::generation).transpose();
        // A connection that failed would keep failing: the next lookup opens the file again.
        if generation.is_err() {
            *self = Self::default();
        }
        generation
    }

    fn choose_all(
        &mut self,
        tier: Tier,
        generation: u64,
        options: &SummaryLookupOptions,
        asked: &[LookupFile<'_>],
    ) -> Result<FxHashMap<RelPath, ChosenSummary>, Error> {
        let read = self.load_tier(tier, generation, options)?;
        let mut chosen = FxHashMap::default();
        let mut without = Vec::new();
        for asked in asked {
            match current_summary(read, asked) {
                Some(written) => {
                    let written = Arc::clone(written);
                    let content = asked.content;
                    chosen.insert(
                        asked.path.clone(),
                        ChosenSummary { summary: written, is_earlier: false, content },
                    );
                }
                None => without.push(asked),
            }
        }
        if options.uses_earlier && !without.is_empty() {
            let latest = self.latest(tier, &without)?;
            for asked in without {
                let found = latest.get(asked.path.as_bytes()).and_then(Option::as_ref);
                let found = found.and_then(|written| earlier_summary(written, asked));
                chosen.extend(found.map(|found| (asked.path.clone(), found)));
            }
        }
        Ok(chosen)
    }

    /// Reads the summaries for a tier, unless they were read before and nothing has been added.
    fn load_tier(
        &mut self,
        tier: Tier,
        generation: u64,
        options: &SummaryLookupOptions,
    ) -> Result<&TierSummaries, Error> {
        // An older generation is never needed again, and holds the texts of a whole project.
        self.read.retain(|read| read.generation == generation);
        if let Some(at) = self.read.iter().position(|read| read.tier == tier) {
            return Ok(&self.read[at]);
        }
        let all = self.db.as_ref().map_or_else(|| Ok(Vec::new()), |db| db.summaries_for_tier(tier))?;
        let (files, folders) = pick_preferred(all, options);
        self.read.push(TierSummaries { tier, generation, files, folders, latest: FxHashMap::default() });
        Ok(self.read.last().expect("it was pushed above"))
    }

    /// Returns the latest summaries of files; must be called after `read`.
    fn latest(
        &mut self,
        tier: Tier,
        asked: &[&LookupFile<'_>],
    ) -> Result<&FxHashMap<Vec<u8>, Option<Arc<LoadedSummary>>>, Error> {
        let read = self.read.iter_mut().find(|read| read.tier == tier);
        let read = read.expect("the tier was read before");
        let Some(db) = &self.db else { return Ok(&read.latest) };
        let is_new = |asked: &&&LookupFile<'_>| !read.latest.contains_key(asked.path.as_bytes());
        let new: Vec<Vec<u8>> =
            asked.iter().filter(is_new).map(|asked| asked.path.as_bytes().to_vec()).collect();
        let of_file = |summary: StoredSummary| {
            (summary.scope == SummaryScope::File).then(|| Arc::new(model_summary(summary)))
        };
        if new.len() * FEW_SHARE < read.files.len() {
            for path in new {
                let latest = db.latest_summary(&path, tier)?.and_then(of_file);
                read.latest.insert(path, latest);
            }
        } else if !new.is_empty() {
            // Paths without summaries are recorded too, so that they are not queried again.
            read.latest.extend(new.into_iter().map(|path| (path, None)));
            let all = db.latest_summaries(tier)?.into_iter();
            read.latest.extend(all.map(|(path, summary)| (path, of_file(summary))));
        }
        Ok(&read.latest)
    }
}

/// Summaries of contents, with the types that these were read as.
type FileSummaries = FxHashMap<ContentHash, Vec<(String, Arc<LoadedSummary>)>>;

/// Keeps the preferred summary of each content and of each folder.
fn pick_preferred(
    mut all: Vec<StoredSummary>,
    options: &SummaryLookupOptions,
) -> (FileSummaries, FxHashMap<ContentHash, Arc<LoadedSummary>>) {
    let (mut files, mut folders) = (FileSummaries::default(), FxHashMap::default());
    // Stable: among equally preferred summaries, the newest stays first, and the first is kept.
    all.sort_by_key(|summary| preference_rank(&summary.model, options));
    for summary in all {
        if summary.scope != SummaryScope::File {
            folders.entry(summary.subject).or_insert_with(|| Arc::new(model_summary(summary)));
            continue;
        }
        let known = files.entry(summary.subject).or_default();
        if !known.iter().any(|(language, _)| *language == summary.language) {
            let language = summary.language.clone();
            known.push((language, Arc::new(model_summary(summary))));
        }
    }
    (files, folders)
}

/// Returns the summary of a folder, with its path. A folder with a single subject has no summary of its own.
fn folder_summary(folder: &SubjectFolder, read: &TierSummaries) -> Option<(Vec<u8>, String)> {
    let written = read.folders.get(&folder.key.subject).filter(|_| !folder.children.is_empty())?;
    let path = folder.path.as_ref().map_or(Vec::new(), |path| path.as_bytes().to_vec());
    Some((path, written.text.clone()))
}

fn current_summary<'r>(read: &'r TierSummaries, asked: &LookupFile<'_>) -> Option<&'r Arc<LoadedSummary>> {
    let known = read.files.get(&asked.content)?;
    known.iter().find(|(language, _)| language == asked.language).map(|(_, written)| written)
}

/// Looks up a single file.
fn choose_one(
    db: &AgentDb,
    tier: Tier,
    options: &SummaryLookupOptions,
    asked: &LookupFile<'_>,
) -> Result<Option<(RelPath, ChosenSummary)>, Error> {
    let all = db.summaries_of_subject(&asked.content, asked.language, tier)?;
    let all = all.into_iter().filter(|summary| summary.scope == SummaryScope::File);
    if let Some(summary) = all.min_by_key(|summary| preference_rank(&summary.model, options)) {
        let written = Arc::new(model_summary(summary));
        let chosen = ChosenSummary { summary: written, is_earlier: false, content: asked.content };
        return Ok(Some((asked.path.clone(), chosen)));
    }
    if !options.uses_earlier {
        return Ok(None);
    }
    let latest = db.latest_summary(asked.path.as_bytes(), tier)?;
    let latest = latest
        .filter(|summary| summary.scope == SummaryScope::File)
        .map(|summary| model_summary(summary).into());
    let found = latest.and_then(|written| earlier_summary(&written, asked));
    Ok(found.map(|found| (asked.path.clone(), found)))
}

/// Returns a summary of a path as one of an earlier content; `None` if the content is the same, but was read as another
/// type.
fn earlier_summary(written: &Arc<LoadedSummary>, asked: &LookupFile<'_>) -> Option<ChosenSummary> {
    let is_earlier = written.subject != asked.content;
    let written = Arc::clone(written);
    is_earlier.then_some(ChosenSummary { summary: written, is_earlier, content: asked.content })
}

/// Returns the rank of a model in the order of preference. Sorts by it keep the newest first.
fn preference_rank(by: &ModelName, options: &SummaryLookupOptions) -> usize {
    options.models.iter().position(|model| model == by).unwrap_or(usize::MAX)
}

fn model_summary(summary: StoredSummary) -> LoadedSummary {
    let plain = |name: &str| aggregate::sanitize_line(name);
    let by = ModelName { provider: plain(&summary.model.provider), model: plain(&summary.model.model) };
    LoadedSummary { text: summary.text, by, subject: summary.subject, hash: OnceLock::new() }
}

/// The summary that is shown for a file.
#[derive(Debug, Clone)]
pub(in crate::engine) struct ChosenSummary {
    pub(in crate::engine) summary: Arc<LoadedSummary>,
    pub(in crate::engine) is_earlier: bool,
    /// The current content of the file.
    pub(in crate::engine) content: ContentHash,
}

impl ChosenSummary {
    pub(in crate::engine) fn by(&self) -> SummaryProvenance {
        SummaryProvenance::Model { name: self.summary.by.clone(), is_outdated: self.is_earlier }
    }
}

#[derive(Debug, Default)]
pub(in crate::engine) struct ModelSummaries {
    pub(in crate::engine) files: FxHashMap<RelPath, ChosenSummary>,
    /// Summaries of folders, by path; that of the project has the empty path.
    pub(in crate::engine) folders: BTreeMap<Vec<u8>, String>,
}

impl ModelSummaries {
    /// Returns the summary of a file, if it still has the content that the summary was chosen for.
    pub(in crate::engine) fn get(&self, path: &RelPath, content: &ContentHash) -> Option<&ChosenSummary> {
        self.files.get(path).filter(|chosen| chosen.content == *content)
    }

    /// Returns a hash of the summaries of files and folders, and of their authors.
    pub(in crate::engine) fn fingerprint(&self, files: &[KnownFile]) -> ContentHash {
        let mut text = String::new();
        for (at, file) in files.iter().enumerate() {
            if let Some(ChosenSummary { summary: written, is_earlier, .. }) = self.files.get(&file.path) {
                let _ = writeln!(text, "{at} {} {is_earlier} {}", written.hash(), written.by);
            }
        }
        for (path, words) in &self.folders {
            let _ = writeln!(text, "{} {}", ContentHash::digest(path), ContentHash::digest(words.as_bytes()));
        }
        ContentHash::digest(text.as_bytes())
    }
}

/// A file whose summary is looked up.
#[derive(Clone, Copy)]
struct LookupFile<'a> {
    path: &'a RelPath,
    content: ContentHash,
    language: &'static str,
}

impl<'a> LookupFile<'a> {
    fn from_file(file: &'a KnownFile) -> Option<Self> {
        match &file.state {
            KnownState::Content { hash, file_type, .. } => {
                Some(Self { path: &file.path, content: *hash, language: file_type.id })
            }
            KnownState::LeftOut(_) => None,
        }
    }
}

/// Chooses the model summaries for an answer, if its tier uses them. If the files are all of the project, `whole` has
/// their curated items.
pub(in crate::engine) fn choose_summaries(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
    tier: Option<&TierOptions>,
    files: &[KnownFile],
    whole: Option<&[FileItem]>,
) -> ModelSummaries {
    let Some(tier) = tier.filter(|tier| tier.by_model) else { return ModelSummaries::default() };
    let asked: Vec<LookupFile<'_>> = files.iter().filter_map(LookupFile::from_file).collect();
    let items = whole.filter(|_| tier.tree).map(|items| cache.workspace.relative_items(items));
    let root = cache.workspace.root.clone();
    let found = with_lookup(cache, lookup, |lookup, file, options| {
        let folders = items.map(|items| || folders(files, items, options, &root));
        lookup.choose(file, tier.tier, options, &asked, folders)
    });
    found.unwrap_or_default()
}

/// Returns the tiers for which there are model summaries of each file.
fn summarized_tiers(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
    asked: &[LookupFile<'_>],
) -> Vec<Vec<Tier>> {
    let found =
        with_lookup(cache, lookup, |lookup, file, options| lookup.summarized_tiers(file, options, asked));
    found.unwrap_or_else(|| vec![Vec::new(); asked.len()])
}

/// Queries the model summaries. If they cannot be read, that is noted, and the heuristic summaries are shown.
fn with_lookup<T>(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
    ask: impl FnOnce(&mut SummaryLookup, &Path, &SummaryLookupOptions) -> Result<T, Error>,
) -> Option<T> {
    // Without a usable cache, the folder is not read either.
    cache.store.as_ref()?;
    let file = cache.workspace.cache_folder().join(AGENT_DATABASE);
    let answer = {
        let mut guard = lock(lookup);
        ask(&mut guard, &file, &cache.workspace.options.summary_lookup)
    };
    match answer {
        Ok(answer) => Some(answer),
        Err(error) => {
            let reason = error_chain(&error);
            cache.workspace.note(format!(
                "no summary by a model is shown, for they cannot be read: {reason}; \
                               `slop cache verify` repairs it"
            ));
            None
        }
    }
}

/// Returns the folders as they were when models were asked about them.
fn folders(
    files: &[KnownFile],
    items: Vec<FileItem>,
    options: &SummaryLookupOptions,
    root: &Path,
) -> Vec<SubjectFolder> {
    // Invalid patterns are reported when tasks are listed.
    let Ok(exclude) = ExclusionPatterns::new(&options.exclude, root) else { return Vec::new() };
    let rules = EligibilityRules::new(exclude, &options.secret_names, items, options.min_bytes);
    let Ok(rules) = rules else { return Vec::new() };
    SubjectIndex::from_files(files, &rules, &[]).folders
}

/// Returns a number that changes with the stored model summaries; `None` if there are none.
pub(in crate::engine) fn summaries_generation(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
) -> Option<u64> {
    with_lookup(cache, lookup, SummaryLookup::generation).flatten()
}

/// Adds to the status of each file the tiers for which there are model summaries of its content.
pub(in crate::engine) fn add_summarized_tiers(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
    all: &mut [FileStatus],
) {
    let asked: Vec<LookupFile<'_>> = all.iter().filter_map(lookup_file).collect();
    let tiers = summarized_tiers(cache, lookup, &asked);
    let with_content = all.iter_mut().filter(|file| file.content.is_some());
    with_content.zip(tiers).for_each(|(file, tiers)| file.written_for = tiers);
}

fn lookup_file(file: &FileStatus) -> Option<LookupFile<'_>> {
    let (content, file_type) = file.content?;
    Some(LookupFile { path: &file.path, content, language: file_type.id })
}
