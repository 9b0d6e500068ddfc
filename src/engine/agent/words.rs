//! Which words of models an answer shows: chosen when it begins, so that all of it is of one moment.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use super::eligible::Eligibility;
use super::folders::Folder;
use super::lookup::Desk;
use super::lookup::Written;
use super::subjects::Subjects;
use crate::aggregate::Exclusions;
use crate::aggregate::TierOptions;
use crate::discover;
use crate::engine::project::Project;
use crate::engine::scan::KnownFile;
use crate::engine::scan::KnownState;
use crate::model::ContentHash;
use crate::model::FileItem;
use crate::model::ModelName;
use crate::model::RelPath;
use crate::model::SummaryBy;
use crate::model::Tier;
use crate::model::with_causes;
use crate::store::Error;
use crate::store::paid::PAID_DATABASE;

/// Whose words are shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LookupOptions {
    /// Whose come first where more than one wrote; whoever is not named comes last, the newest words first.
    pub models: Vec<ModelName>,
    /// Whether words of what a file was earlier are better than the heuristic's of what it is.
    pub uses_earlier: bool,
    /// Patterns of files that no model is asked about: they are no part of what stands for a folder.
    pub exclude: Vec<String>,
    /// Nor are smaller files.
    pub least_bytes: u64,
    /// Nor are files with these names.
    pub secrets: discover::Options,
}

/// The words that stand for a file.
#[derive(Debug, Clone)]
pub(in crate::engine) struct Chosen {
    pub(in crate::engine) written: Arc<Written>,
    pub(in crate::engine) is_earlier: bool,
    /// What the file is now.
    pub(super) content: ContentHash,
}

impl Chosen {
    pub(in crate::engine) fn by(&self) -> SummaryBy {
        SummaryBy::Model { name: self.written.by.clone(), is_earlier: self.is_earlier }
    }
}

/// The models' words that an answer shows.
#[derive(Debug, Default)]
pub(in crate::engine) struct Words {
    pub(super) chosen: FxHashMap<RelPath, Chosen>,
    /// About folders, by their paths; about the project under the empty path.
    pub(in crate::engine) folders: BTreeMap<Vec<u8>, String>,
}

impl Words {
    /// Returns the words about a file, if it still is what they were chosen for.
    pub(in crate::engine) fn of(&self, path: &RelPath, content: &ContentHash) -> Option<&Chosen> {
        self.chosen.get(path).filter(|chosen| chosen.content == *content)
    }

    /// Returns a hash of what is said of files and folders, and of who says it.
    pub(in crate::engine) fn fingerprint(&self, files: &[KnownFile]) -> ContentHash {
        let mut text = String::new();
        for (at, file) in files.iter().enumerate() {
            if let Some(Chosen { written, is_earlier, .. }) = self.chosen.get(&file.path) {
                let _ = writeln!(text, "{at} {} {is_earlier} {}", written.hash(), written.by);
            }
        }
        for (path, words) in &self.folders {
            let _ = writeln!(text, "{} {}", ContentHash::of(path), ContentHash::of(words.as_bytes()));
        }
        ContentHash::of(text.as_bytes())
    }
}

/// A file that words are looked up for.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Asked<'a> {
    pub(in crate::engine) path: &'a RelPath,
    pub(in crate::engine) content: ContentHash,
    pub(in crate::engine) language: &'static str,
}

impl<'a> Asked<'a> {
    fn of(file: &'a KnownFile) -> Option<Self> {
        match &file.state {
            KnownState::Content { hash, file_type, .. } => {
                Some(Self { path: &file.path, content: *hash, language: file_type.id })
            }
            KnownState::LeftOut(_) => None,
        }
    }
}

impl Project<'_> {
    /// Looks up which models' words the answer that begins is to show, if its tier asks for some.
    /// Where the files are all of the project, `whole` is what people say of them.
    pub(in crate::engine) fn take_up_words(
        &mut self,
        tier: Option<&TierOptions>,
        files: &[KnownFile],
        whole: Option<&[FileItem]>,
    ) {
        self.words = Words::default();
        let Some(tier) = tier.filter(|tier| tier.by_model) else { return };
        let asked: Vec<Asked<'_>> = files.iter().filter_map(Asked::of).collect();
        let items = whole.filter(|_| tier.tree).map(|items| self.items_within(items));
        let root = self.root.clone();
        let found = self.at_desk(|desk, file, options| {
            let folders = items.map(|items| || folders(files, items, options, &root));
            desk.words(file, tier.tier, options, (&asked, folders))
        });
        self.words = found.unwrap_or_default();
    }

    /// Returns for which tiers there are models' words about each file.
    pub(in crate::engine) fn tiers_written(&mut self, asked: &[Asked<'_>]) -> Vec<Vec<Tier>> {
        let found = self.at_desk(|desk, file, options| desk.tiers(file, options, asked));
        found.unwrap_or_else(|| vec![Vec::new(); asked.len()])
    }

    /// Asks what models have written. Where that cannot be told it is noted, and the heuristic has the word.
    fn at_desk<T>(
        &mut self,
        ask: impl FnOnce(&mut Desk, &Path, &LookupOptions) -> Result<T, Error>,
    ) -> Option<T> {
        // Without a cache that can be used, the folder is not to be looked into either.
        self.store.as_ref()?;
        let file = self.cache_folder().join(PAID_DATABASE);
        let answer = {
            let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
            ask(&mut desk, &file, &self.options.words)
        };
        match answer {
            Ok(answer) => Some(answer),
            Err(error) => {
                let why = with_causes(&error);
                self.note(format!(
                    "no summary by a model is shown, for they cannot be read: {why}; \
                                   `slop cache verify` mends it"
                ));
                None
            }
        }
    }
}

/// Returns the folders, as the models that were asked about them saw them.
fn folders(files: &[KnownFile], items: Vec<FileItem>, options: &LookupOptions, root: &Path) -> Vec<Folder> {
    // Patterns that cannot be read are told by whoever asks a model.
    let Ok(exclude) = Exclusions::new(&options.exclude, root) else { return Vec::new() };
    let said = (exclude, &options.secrets);
    let Ok(rules) = Eligibility::new(said, items, options.least_bytes) else { return Vec::new() };
    Subjects::among(files, &rules, &[]).folders
}
