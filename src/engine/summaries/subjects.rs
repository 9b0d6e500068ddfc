//! The subjects of summaries: distinct contents, and the folders that contain them; and the rules for eligible files.

use std::collections::HashMap;

use super::task::{
    KnownSummaries, SubjectFile, SubjectFolder, SubjectKey, SubjectLocation, SummaryPolicy, SummaryTask,
    subject_folders,
};
use crate::aggregate::{CuratedItems, ExclusionPatterns, Selector, hides_symbols};
use crate::discover;
use crate::discover::NameRules;
use crate::engine::artifacts::ContentRef;
use crate::engine::error::Error;
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::{FileItem, RelPath, SkipReason, SummaryScope, ViewMode};
use crate::summarize::prompt::{PromptStrategy, instructions};

/// The approximate size of the summary of one subject in a folder.
const WORDS_BYTES: u64 = 300;

/// A content that a model may be asked about, and the files that have it.
pub(super) struct SubjectContent<'a> {
    pub(super) key: SubjectKey,
    pub(super) strategy: PromptStrategy,
    /// By path.
    pub(super) subjects: Vec<ContentRef<'a>>,
    pub(super) is_picked: bool,
}

pub(super) struct SubjectIndex<'a> {
    /// Sorted by their first paths.
    pub(super) contents: Vec<SubjectContent<'a>>,
    /// Subfolders before the folders that contain them.
    pub(super) folders: Vec<SubjectFolder>,
    /// How many of the selected files no model is asked about.
    pub(super) ineligible: u64,
}

impl<'a> SubjectIndex<'a> {
    /// Finds the subjects among the files of a project.
    pub(super) fn from_files(files: &'a [KnownFile], rules: &EligibilityRules, picks: &[Selector]) -> Self {
        let (mut contents, mut ineligible): (Vec<SubjectContent<'_>>, _) = (Vec::new(), 0);
        let mut places: HashMap<SubjectKey, usize> = HashMap::new();
        for file in files {
            let is_picked = picks.is_empty() || picks.iter().any(|pick| pick.selects(&file.path));
            let Ok((subject, strategy)) = rules.check(file) else {
                ineligible += u64::from(is_picked);
                continue;
            };
            let node = SubjectKey {
                scope: SummaryScope::File,
                subject: subject.hash,
                language: subject.file_type.id,
            };
            let at = *places.entry(node).or_insert_with(|| {
                contents.push(SubjectContent { key: node, strategy, subjects: Vec::new(), is_picked: false });
                contents.len() - 1
            });
            contents[at].subjects.push(subject);
            contents[at].is_picked |= is_picked;
        }
        let folders = folders(&contents);
        Self { contents, folders, ineligible }
    }

    /// Returns all possible subjects, each with its prompt strategy.
    pub(super) fn keys(&self) -> Vec<(SubjectKey, PromptStrategy)> {
        let contents = self.contents.iter().map(|content| (content.key, content.strategy));
        let folders = self.folders.iter().filter_map(|folder| Some((folder.key, folder_strategy(folder)?)));
        contents.chain(folders).collect()
    }

    pub(super) fn by_key(&self) -> HashMap<SubjectKey, &SubjectContent<'a>> {
        self.contents.iter().map(|content| (content.key, content)).collect()
    }
}

fn folders(contents: &[SubjectContent<'_>]) -> Vec<SubjectFolder> {
    let leaves = contents.iter().flat_map(|content| {
        content.subjects.iter().map(|subject| SubjectFile {
            path: subject.path,
            key: content.key,
            bytes: subject.facts.size,
        })
    });
    subject_folders(&leaves.collect::<Vec<_>>())
}

/// Returns the prompt strategy for a folder; `None` if it contains a single subject, and is not one itself.
pub(super) fn folder_strategy(folder: &SubjectFolder) -> Option<PromptStrategy> {
    if folder.children.is_empty() { None } else { PromptStrategy::for_scope(folder.key.scope) }
}

/// Returns the task for a content; `None` if no model should be asked.
pub(super) fn file_task(
    content: &SubjectContent<'_>,
    known: &KnownSummaries,
    policy: &SummaryPolicy,
) -> Option<SummaryTask> {
    let paths: Vec<RelPath> = content.subjects.iter().map(|subject| subject.path.clone()).collect();
    let location = SubjectLocation::File(paths.first()?.clone());
    let bytes = content.subjects.first()?.facts.size;
    let task = task(&content.key, content.strategy, location, bytes, known, policy)?;
    Some(SummaryTask { paths, ..task })
}

/// Returns the task for a folder; `None` if it is not a subject itself, or no model should be asked.
pub(super) fn folder_task(
    folder: &SubjectFolder,
    known: &KnownSummaries,
    policy: &SummaryPolicy,
) -> Option<SummaryTask> {
    let location = folder.path.clone().map_or(SubjectLocation::Root, SubjectLocation::Folder);
    let bytes = folder.children.len() as u64 * WORDS_BYTES;
    task(&folder.key, folder_strategy(folder)?, location, bytes, known, policy)
}

fn task(
    key: &SubjectKey,
    strategy: PromptStrategy,
    location: SubjectLocation,
    bytes: u64,
    known: &KnownSummaries,
    policy: &SummaryPolicy,
) -> Option<SummaryTask> {
    let material = bytes.min(policy.material_bytes as u64);
    Some(SummaryTask {
        id: known.task_id(key, strategy)?,
        subject: key.subject,
        language: key.language,
        scope: key.scope,
        strategy,
        location,
        paths: Vec::new(),
        tiers: policy.tiers.clone(),
        estimated_bytes: material + instructions(strategy, &policy.tiers).len() as u64,
    })
}

/// Why no model is asked about a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IneligibleReason {
    /// It has no text, or none that may be shown.
    LeftOut(SkipReason),
    /// A pattern of `agent.exclude` matches it.
    Excluded,
    /// A person excluded it from documents.
    Hidden,
    /// It contains rows of data, or is generated.
    Data,
    /// It is so small that the heuristic summary is enough.
    Small,
}

/// The rules for asking models about files.
pub(super) struct EligibilityRules {
    exclude: ExclusionPatterns,
    secrets: NameRules,
    items: CuratedItems,
    min_bytes: u64,
}

impl EligibilityRules {
    pub(super) fn new(
        exclude: ExclusionPatterns,
        secrets: &discover::Options,
        items: Vec<FileItem>,
        least_bytes: u64,
    ) -> Result<Self, Error> {
        let secrets = NameRules::new(secrets)?;
        Ok(Self { exclude, secrets, items: CuratedItems::new(items), min_bytes: least_bytes })
    }

    /// Returns the content to ask about, and the strategy.
    pub(super) fn check<'a>(
        &self,
        file: &'a KnownFile,
    ) -> Result<(ContentRef<'a>, PromptStrategy), IneligibleReason> {
        if let KnownState::LeftOut(reason) = file.state {
            return Err(IneligibleReason::LeftOut(reason));
        }
        if let Some(reason) = self.secrets.skip_reason(&file.path) {
            return Err(IneligibleReason::LeftOut(reason));
        }
        if self.exclude.excludes(&file.path) {
            return Err(IneligibleReason::Excluded);
        }
        if self.is_hidden(&file.path) {
            return Err(IneligibleReason::Hidden);
        }
        let subject = ContentRef::from_file(file).ok_or(IneligibleReason::Data)?;
        let strategy = PromptStrategy::for_type(subject.file_type).ok_or(IneligibleReason::Data)?;
        // Even without a limit, an empty file has nothing to ask about.
        if subject.facts.size < self.min_bytes.max(1) {
            return Err(IneligibleReason::Small);
        }
        Ok((subject, strategy))
    }

    /// Returns whether a person selected the file.
    pub(super) fn is_curated(&self, path: &RelPath) -> bool {
        self.items.find(path).is_some()
    }

    fn is_hidden(&self, path: &RelPath) -> bool {
        self.items.find(path).is_some_and(|item| {
            // `force_full` shows a file in full, whatever else the item has.
            let is_hidden = !item.auto_aggregate || item.view_mode == Some(ViewMode::None);
            // A model's summary would mention what a mask hides.
            hides_symbols(&item.ast_mask) || is_hidden && !(item.auto_aggregate && item.force_full)
        })
    }
}

/// Returns the rules of a policy.
pub(super) fn eligibility(
    workspace: &Workspace<'_>,
    policy: &SummaryPolicy,
) -> Result<EligibilityRules, Error> {
    let exclude = ExclusionPatterns::new(&policy.exclude, &workspace.root)?;
    EligibilityRules::new(
        exclude,
        &policy.secret_names,
        workspace.relative_items(&policy.items),
        policy.min_bytes,
    )
}
