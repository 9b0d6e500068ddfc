//! Which words of models an answer shows: chosen when it begins, so that all of it is of one moment.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use super::eligible::EligibilityRules;
use super::folders::SubjectFolder;
use super::lookup::{LoadedSummary, SummaryLookup};
use super::subjects::SubjectIndex;
use crate::aggregate::ExclusionPatterns;
use crate::aggregate::TierOptions;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::index::FileStatus;
use crate::engine::options::SummaryLookupOptions;
use crate::engine::workspace::{KnownFile, KnownState};
use crate::model::ContentHash;
use crate::model::FileItem;
use crate::model::RelPath;
use crate::model::SummaryProvenance;
use crate::model::Tier;
use crate::model::error_chain;
use crate::store::Error;
use crate::store::agent::AGENT_DATABASE;

/// The words that stand for a file.
#[derive(Debug, Clone)]
pub(in crate::engine) struct ChosenSummary {
    pub(in crate::engine) summary: Arc<LoadedSummary>,
    pub(in crate::engine) is_earlier: bool,
    /// What the file is now.
    pub(in crate::engine) content: ContentHash,
}

impl ChosenSummary {
    pub(in crate::engine) fn by(&self) -> SummaryProvenance {
        SummaryProvenance::Model { name: self.summary.by.clone(), is_outdated: self.is_earlier }
    }
}

/// The models' words that an answer shows.
#[derive(Debug, Default)]
pub(in crate::engine) struct ModelSummaries {
    pub(in crate::engine) files: FxHashMap<RelPath, ChosenSummary>,
    /// About folders, by their paths; about the project under the empty path.
    pub(in crate::engine) folders: BTreeMap<Vec<u8>, String>,
}

impl ModelSummaries {
    /// Returns the words about a file, if it still is what they were chosen for.
    pub(in crate::engine) fn of(&self, path: &RelPath, content: &ContentHash) -> Option<&ChosenSummary> {
        self.files.get(path).filter(|chosen| chosen.content == *content)
    }

    /// Returns a hash of what is said of files and folders, and of who says it.
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

/// A file that words are looked up for.
#[derive(Clone, Copy)]
pub(in crate::engine) struct LookupFile<'a> {
    pub(in crate::engine) path: &'a RelPath,
    pub(in crate::engine) content: ContentHash,
    pub(in crate::engine) language: &'static str,
}

impl<'a> LookupFile<'a> {
    fn of(file: &'a KnownFile) -> Option<Self> {
        match &file.state {
            KnownState::Content { hash, file_type, .. } => {
                Some(Self { path: &file.path, content: *hash, language: file_type.id })
            }
            KnownState::LeftOut(_) => None,
        }
    }
}

/// Looks up which models' words the answer that begins is to show, if its tier asks for some.
/// Where the files are all of the project, `whole` is what people say of them.
pub(in crate::engine) fn choose_summaries(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
    tier: Option<&TierOptions>,
    files: &[KnownFile],
    whole: Option<&[FileItem]>,
) -> ModelSummaries {
    let Some(tier) = tier.filter(|tier| tier.by_model) else { return ModelSummaries::default() };
    let asked: Vec<LookupFile<'_>> = files.iter().filter_map(LookupFile::of).collect();
    let items = whole.filter(|_| tier.tree).map(|items| cache.workspace.relative_items(items));
    let root = cache.workspace.root.clone();
    let found = with_lookup(cache, lookup, |desk, file, options| {
        let folders = items.map(|items| || folders(files, items, options, &root));
        desk.choose(file, tier.tier, options, (&asked, folders))
    });
    found.unwrap_or_default()
}

/// Returns for which tiers there are models' words about each file.
pub(in crate::engine) fn summarized_tiers(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
    asked: &[LookupFile<'_>],
) -> Vec<Vec<Tier>> {
    let found = with_lookup(cache, lookup, |desk, file, options| desk.summarized_tiers(file, options, asked));
    found.unwrap_or_else(|| vec![Vec::new(); asked.len()])
}

/// Asks what models have written. Where that cannot be told it is noted, and the heuristic has the word.
fn with_lookup<T>(
    cache: &mut ArtifactCache<'_>,
    lookup: &Mutex<SummaryLookup>,
    ask: impl FnOnce(&mut SummaryLookup, &Path, &SummaryLookupOptions) -> Result<T, Error>,
) -> Option<T> {
    // Without a cache that can be used, the folder is not to be looked into either.
    cache.store.as_ref()?;
    let file = cache.workspace.cache_folder().join(AGENT_DATABASE);
    let answer = {
        let mut desk = lookup.lock().unwrap_or_else(PoisonError::into_inner);
        ask(&mut desk, &file, &cache.workspace.options.summary_lookup)
    };
    match answer {
        Ok(answer) => Some(answer),
        Err(error) => {
            let why = error_chain(&error);
            cache.workspace.note(format!(
                "no summary by a model is shown, for they cannot be read: {why}; \
                               `slop cache verify` mends it"
            ));
            None
        }
    }
}

/// Returns the folders, as the models that were asked about them saw them.
fn folders(
    files: &[KnownFile],
    items: Vec<FileItem>,
    options: &SummaryLookupOptions,
    root: &Path,
) -> Vec<SubjectFolder> {
    // Patterns that cannot be read are told by whoever asks a model.
    let Ok(exclude) = ExclusionPatterns::new(&options.exclude, root) else { return Vec::new() };
    let said = (exclude, &options.secret_names);
    let Ok(rules) = EligibilityRules::new(said, items, options.min_bytes) else { return Vec::new() };
    SubjectIndex::from_files(files, &rules, &[]).folders
}

/// Adds to the status of each file the tiers for which a model has written about its content.
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
