//! What questions may be about: contents, each once, and the folders that hold them.

use std::collections::HashMap;

use super::eligible::EligibilityRules;
use super::errand::{SubjectLocation, SummaryPolicy, SummaryTask};
use super::folders::{SubjectFile, SubjectFolder, SubjectKey, subject_folders};
use super::known::KnownSummaries;
use crate::aggregate::Selector;
use crate::engine::artifacts::ContentRef;
use crate::engine::workspace::KnownFile;
use crate::model::RelPath;
use crate::model::SummaryScope;
use crate::summarize::prompt::PromptStrategy;
use crate::summarize::prompt::instructions;

/// About how many bytes the words about one thing in a folder have.
const WORDS_BYTES: u64 = 300;

/// A content that a model may be asked about, and the files that have it.
pub(in crate::engine) struct SubjectContent<'a> {
    pub(in crate::engine) key: SubjectKey,
    pub(in crate::engine) strategy: PromptStrategy,
    /// By path.
    pub(in crate::engine) subjects: Vec<ContentRef<'a>>,
    /// Whether one of them was picked.
    pub(in crate::engine) is_picked: bool,
}

/// All that questions may be about.
pub(in crate::engine) struct SubjectIndex<'a> {
    /// By their first paths.
    pub(in crate::engine) contents: Vec<SubjectContent<'a>>,
    /// Those below before those that they lie in.
    pub(in crate::engine) folders: Vec<SubjectFolder>,
    /// How many files no model is asked about, among those that were picked.
    pub(in crate::engine) ineligible: u64,
}

impl<'a> SubjectIndex<'a> {
    /// Finds them among the files of a project.
    pub(in crate::engine) fn from_files(
        files: &'a [KnownFile],
        rules: &EligibilityRules,
        picks: &[Selector],
    ) -> Self {
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

    /// Returns everything that there may be a question about, each with how it is asked.
    pub(in crate::engine) fn keys(&self) -> Vec<(SubjectKey, PromptStrategy)> {
        let contents = self.contents.iter().map(|content| (content.key, content.strategy));
        let folders = self.folders.iter().filter_map(|folder| Some((folder.key, folder_strategy(folder)?)));
        contents.chain(folders).collect()
    }

    /// Returns the contents by what they are.
    pub(in crate::engine) fn by_key(&self) -> HashMap<SubjectKey, &SubjectContent<'a>> {
        self.contents.iter().map(|content| (content.key, content)).collect()
    }
}

/// Returns what stands for each folder that holds files that a model may be asked about: the subjects under which their
/// summaries are kept. Those below stand before those that they lie in, and the root is the last.
pub(in crate::engine) fn folders_among(files: &[KnownFile], rules: &EligibilityRules) -> Vec<SubjectFolder> {
    SubjectIndex::from_files(files, rules, &[]).folders
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

/// Returns how a folder is asked about; `None` where it is the one thing that lies in it, and no question of its own.
pub(in crate::engine) fn folder_strategy(folder: &SubjectFolder) -> Option<PromptStrategy> {
    if folder.children.is_empty() { None } else { PromptStrategy::for_scope(folder.key.scope) }
}

/// Returns the question about a content; `None` where nobody is asked.
pub(in crate::engine) fn file_task(
    content: &SubjectContent<'_>,
    known: &KnownSummaries,
    wish: &SummaryPolicy,
) -> Option<SummaryTask> {
    let paths: Vec<RelPath> = content.subjects.iter().map(|subject| subject.path.clone()).collect();
    let material = content.subjects.first()?.facts.size.min(wish.material_bytes as u64);
    Some(SummaryTask {
        id: known.task_id(&content.key, content.strategy)?,
        subject: content.key.subject,
        language: content.key.language,
        scope: SummaryScope::File,
        strategy: content.strategy,
        location: SubjectLocation::File(paths.first()?.clone()),
        paths,
        tiers: wish.tiers.clone(),
        estimated_bytes: material + instructions(content.strategy, &wish.tiers).len() as u64,
    })
}

/// Returns the question about a folder; `None` where there is none of its own, or nobody is asked.
pub(in crate::engine) fn folder_task(
    folder: &SubjectFolder,
    known: &KnownSummaries,
    wish: &SummaryPolicy,
) -> Option<SummaryTask> {
    let strategy = folder_strategy(folder)?;
    let material = (folder.children.len() as u64 * WORDS_BYTES).min(wish.material_bytes as u64);
    Some(SummaryTask {
        id: known.task_id(&folder.key, strategy)?,
        subject: folder.key.subject,
        language: folder.key.language,
        scope: folder.key.scope,
        strategy,
        location: folder.path.clone().map_or(SubjectLocation::Root, SubjectLocation::Folder),
        paths: Vec::new(),
        tiers: wish.tiers.clone(),
        estimated_bytes: material + instructions(strategy, &wish.tiers).len() as u64,
    })
}
