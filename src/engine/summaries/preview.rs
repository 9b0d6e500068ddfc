//! Previews the prompt for one file or folder, and explains why files are skipped.

use std::collections::{BTreeMap, HashSet};

use super::prompt::{SecretLocation, preparer};
use super::subjects::{IneligibleReason, SubjectContent, SubjectIndex, eligibility, file_task, folder_task};
use super::task::{
    PreparedPrompt, SubjectFolder, SummaryPolicy, SummaryTask, SummaryTasks, WithheldReason, known_summaries,
};
use super::tasks::{all_files, children, is_written_by_program, path_selector};
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
    Eligible {
        task: Box<SummaryTask>,
        prepared: Result<PreparedPrompt, WithheldReason>,
        /// Text in the file that looks like a secret.
        secrets: Vec<SecretLocation>,
    },
}

/// Returns what would be sent about the file or folder of that path, or about the project for its root. Neither recent
/// changes nor earlier summaries matter.
pub(in crate::engine) fn preview(
    cache: &mut ArtifactCache<'_>,
    word: &str,
    policy: &SummaryPolicy,
) -> Result<PromptPreview, Error> {
    let files = all_files(cache)?;
    let rules = eligibility(&cache.workspace, policy)?;
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
    let known = known_summaries(&cache.workspace, policy, &subjects.keys())?;
    let folder = subjects.folders.iter().find(|folder| folder.path == path);
    if let Some(task) = folder.and_then(|folder| folder_task(folder, &known, policy)) {
        let children = folder.map(|folder| children(cache, folder, &subjects.by_key(), &known));
        let mut tasks = SummaryTasks::default();
        tasks.children.insert(task.id, children.unwrap_or_default());
        return Ok(eligible_preview(&cache.workspace, task, &tasks, policy));
    }
    let content = content_at(path.as_ref(), folder, &subjects).ok_or_else(nothing)?;
    if is_written_by_program(cache, content) {
        return Ok(PromptPreview::Ineligible(IneligibleReason::Data));
    }
    let task = file_task(content, &known, policy).ok_or_else(nothing)?;
    Ok(eligible_preview(&cache.workspace, task, &SummaryTasks::default(), policy))
}

fn eligible_preview(
    workspace: &Workspace<'_>,
    task: SummaryTask,
    tasks: &SummaryTasks,
    policy: &SummaryPolicy,
) -> PromptPreview {
    let preparer = preparer(workspace, tasks, policy);
    let (prompt, secrets) = (preparer.prepare(&task, 0), preparer.secrets(&task));
    PromptPreview::Eligible { task: Box::new(task), prepared: prompt, secrets }
}

/// Returns the content of a file, or the only one in a folder.
pub(super) fn content_at<'s, 'f>(
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

/// Why no model is asked about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskSkipReason {
    /// Models are never asked about such a file.
    Ineligible(IneligibleReason),
    /// An earlier attempt failed.
    Refused(String),
}

/// Returns why no model is asked about files that were named individually. Files that are to be summarized, or have
/// summaries, are absent.
pub(in crate::engine) fn skipped_files(
    cache: &mut ArtifactCache<'_>,
    policy: &SummaryPolicy,
) -> Result<BTreeMap<RelPath, TaskSkipReason>, Error> {
    let mut named = HashSet::new();
    for word in &policy.paths {
        if let Selector::Parts(path) = path_selector(&cache.workspace, word)? {
            named.insert(path);
        }
    }
    let files = all_files(cache)?;
    let rules = eligibility(&cache.workspace, policy)?;
    let subjects = SubjectIndex::from_files(&files, &rules, &[]);
    let known = known_summaries(&cache.workspace, policy, &subjects.keys())?;
    let mut quiet = BTreeMap::new();
    for file in files.iter().filter(|file| named.contains(file.path.as_bytes())) {
        if let Err(reason) = rules.check(file) {
            quiet.insert(file.path.clone(), TaskSkipReason::Ineligible(reason));
            continue;
        }
        let Some(content) = content_at(Some(&file.path), None, &subjects) else { continue };
        if known.is_done(&content.key, content.strategy) {
            continue;
        }
        let id = known.task_id(&content.key, content.strategy);
        if let Some(why) = id.and_then(|id| known.refusal(&id)) {
            quiet.insert(file.path.clone(), TaskSkipReason::Refused(why.to_owned()));
        } else if is_written_by_program(cache, content) {
            quiet.insert(file.path.clone(), TaskSkipReason::Ineligible(IneligibleReason::Data));
        }
    }
    Ok(quiet)
}
