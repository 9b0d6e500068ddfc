//! The question about one file or folder, whatever became of it before: what a person looks at before anything is sent.

use super::eligible::{IneligibleReason, eligibility};
use super::errand::{PreparedPrompt, SummaryPolicy, SummaryTask, SummaryTasks, WithheldReason};
use super::errands::{all_files, children, is_written_by_program, path_selector};
use super::folders::SubjectFolder;
use super::known::known_summaries;
use super::prepare::{SecretLocation, preparer};
use super::subjects::{SubjectContent, SubjectIndex, file_task, folder_task};
use crate::aggregate::Selector;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::error::Error;
use crate::engine::workspace::Workspace;
use crate::model::RelPath;

/// What would be sent about a file or a folder.
#[derive(Debug, Clone, PartialEq)]
pub enum PromptPreview {
    /// Nothing, ever.
    Ineligible(IneligibleReason),
    /// This.
    Eligible {
        /// The question.
        task: Box<SummaryTask>,
        /// Its words, or why they do not leave.
        prepared: Result<PreparedPrompt, WithheldReason>,
        /// What was found in the file that looks like a secret.
        secrets: Vec<SecretLocation>,
    },
}

/// Returns what would be sent about the file or folder of that path, and about the project for its root. It need not
/// have been still, and may have been asked about before.
pub(in crate::engine) fn preview(
    cache: &mut ArtifactCache<'_>,
    word: &str,
    wish: &SummaryPolicy,
) -> Result<PromptPreview, Error> {
    let files = all_files(cache)?;
    let rules = eligibility(&cache.workspace, wish)?;
    let nothing = || Error::NothingSelected { word: word.to_owned() };
    let path = match path_selector(&cache.workspace, word)? {
        Selector::Parts(path) if path.is_empty() => None,
        Selector::Parts(path) => Some(RelPath::new(&path).map_err(|_| nothing())?),
        Selector::Pattern { .. } => return Err(nothing()),
    };
    let file = files.iter().find(|file| Some(&file.path) == path.as_ref());
    if let Some(Err(reason)) = file.map(|file| rules.check(file)) {
        return Ok(PromptPreview::Ineligible(reason));
    }
    let subjects = SubjectIndex::from_files(&files, &rules, &[]);
    let known = known_summaries(&cache.workspace, wish, &subjects.keys())?;
    let folder = subjects.folders.iter().find(|folder| folder.path == path);
    if let Some(errand) = folder.and_then(|folder| folder_task(folder, &known, wish)) {
        let children = folder.map(|folder| children(cache, folder, &subjects.by_key(), &known));
        let mut errands = SummaryTasks::default();
        errands.children.insert(errand.id, children.unwrap_or_default());
        return Ok(eligible_preview(&cache.workspace, errand, &errands, wish));
    }
    let content = content_at(path.as_ref(), folder, &subjects).ok_or_else(nothing)?;
    if is_written_by_program(cache, content) {
        return Ok(PromptPreview::Ineligible(IneligibleReason::Data));
    }
    let errand = file_task(content, &known, wish).ok_or_else(nothing)?;
    Ok(eligible_preview(&cache.workspace, errand, &SummaryTasks::default(), wish))
}

fn eligible_preview(
    workspace: &Workspace<'_>,
    errand: SummaryTask,
    errands: &SummaryTasks,
    wish: &SummaryPolicy,
) -> PromptPreview {
    let wording = preparer(workspace, errands, wish);
    let prepared = wording.prepare(&errand, 0);
    let secrets = wording.secrets(&errand);
    PromptPreview::Eligible { task: Box::new(errand), prepared, secrets }
}

/// Returns the content of a file, or the only one that lies in a folder.
pub(in crate::engine) fn content_at<'s, 'f>(
    path: Option<&RelPath>,
    folder: Option<&SubjectFolder>,
    subjects: &'s SubjectIndex<'f>,
) -> Option<&'s SubjectContent<'f>> {
    let is_there = |content: &&SubjectContent<'_>| {
        content.subjects.iter().any(|subject| Some(subject.path) == path)
            || folder.is_some_and(|folder| folder.key == content.key)
    };
    subjects.contents.iter().find(is_there)
}
