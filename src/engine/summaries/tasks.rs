//! Lists the tasks: contents without summaries, and folders whose contents have theirs.
//!
//! Everything except the stamps comes from the scan and from the store, so that listing the tasks of an unchanged
//! project again reads no file.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::Duration;

use super::prompt::is_clean;
use super::subjects::{
    EligibilityRules, SubjectContent, SubjectIndex, eligibility, file_task, folder_strategy, folder_task,
};
use super::task::{
    KnownSummaries, SubjectFolder, SubjectKey, SubjectLocation, SummaryPolicy, SummaryTasks, WantedSummary,
    known_summaries,
};
use crate::aggregate::Selector;
use crate::engine::artifacts::{ArtifactCache, ContentRef, importance};
use crate::engine::error::Error;
use crate::engine::index::{ScanRequest, scan};
use crate::engine::workspace::{KnownFile, Workspace};
use crate::model::{RelPath, SummaryKey, SummaryScope};
use crate::summarize::is_machine_written;
use crate::summarize::prompt::{FolderChild, PromptStrategy};
use crate::sys::Files;

/// The state of a task listing in progress.
struct TaskSurvey<'a> {
    policy: &'a SummaryPolicy,
    rules: EligibilityRules,
    picks: Vec<Selector>,
    known: KnownSummaries,
    states: HashMap<SubjectKey, SubjectState>,
    tasks: SummaryTasks,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SubjectState {
    Done,
    /// An attempt failed, or it is generated: the heuristic summary has to do.
    Settled,
    Ready,
    /// It depends on something else first.
    Waiting,
}

impl SubjectState {
    const fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Settled)
    }
}

/// Returns the summaries to ask a model for, after a scan of all files.
///
/// Folders become ready when everything in them is summarized, so a caller that wants them too asks again after these
/// tasks are done, until none is ready.
pub(in crate::engine) fn summary_tasks(
    cache: &mut ArtifactCache<'_>,
    policy: &SummaryPolicy,
) -> Result<SummaryTasks, Error> {
    let files = all_files(cache)?;
    let picks = path_selectors(&cache.workspace, &policy.paths, &files)?;
    let rules = eligibility(&cache.workspace, policy)?;
    let subjects = SubjectIndex::from_files(&files, &rules, &picks);
    let known = known_summaries(&cache.workspace, policy, &subjects.keys())?;
    let tasks = SummaryTasks { ineligible: subjects.ineligible, ..SummaryTasks::default() };
    let mut survey = TaskSurvey { policy, rules, picks, known, states: HashMap::new(), tasks };
    let ready = add_contents(cache, &subjects.contents, &mut survey);
    for content in most_important_first(cache, ready, &files, &survey.rules) {
        survey.tasks.ready.extend(file_task(content, &survey.known, policy));
    }
    add_folder_tasks(cache, &subjects, &mut survey);
    cache.workspace.check_cancelled()?;
    Ok(survey.tasks)
}

/// Returns the missing summaries, whether or not a model may be asked for them now: another writer may have them.
pub(in crate::engine) fn wanted_summaries(
    cache: &mut ArtifactCache<'_>,
    policy: &SummaryPolicy,
) -> Result<Vec<WantedSummary>, Error> {
    let files = all_files(cache)?;
    let picks = path_selectors(&cache.workspace, &policy.paths, &files)?;
    let subjects = SubjectIndex::from_files(&files, &eligibility(&cache.workspace, policy)?, &picks);
    let known = known_summaries(&cache.workspace, policy, &subjects.keys())?;
    let mut wanted = Vec::new();
    for content in subjects.contents.iter().filter(|content| content.is_picked) {
        let paths: Vec<RelPath> = content.subjects.iter().map(|subject| subject.path.clone()).collect();
        let found = known.wanted(&content.key, content.strategy).into_iter();
        wanted.extend(found.map(|wanted| WantedSummary { paths: paths.clone(), ..wanted }));
    }
    let mut listed = HashSet::new();
    for folder in subjects.folders.iter().filter(|folder| is_picked(folder, &picks)) {
        // Another folder with the same contents is the same subject.
        if let Some(strategy) = folder_strategy(folder)
            && listed.insert(folder.key)
        {
            wanted.extend(known.wanted(&folder.key, strategy));
        }
    }
    Ok(wanted)
}

/// Returns all files of the project in their current state.
pub(super) fn all_files(cache: &mut ArtifactCache<'_>) -> Result<Vec<KnownFile>, Error> {
    Ok(scan(cache, &ScanRequest::BY_STAMPS)?.files)
}

/// Returns the subjects among the selected files and folders, summarized or not, by location.
pub(in crate::engine) fn summary_subjects(
    cache: &mut ArtifactCache<'_>,
    policy: &SummaryPolicy,
) -> Result<Vec<(SubjectLocation, SubjectKey)>, Error> {
    let files = all_files(cache)?;
    let picks = path_selectors(&cache.workspace, &policy.paths, &files)?;
    let all = SubjectIndex::from_files(&files, &eligibility(&cache.workspace, policy)?, &picks);
    let is_picked_file = |path: &RelPath| picks.is_empty() || picks.iter().any(|pick| pick.selects(path));
    let mut subjects = Vec::new();
    for content in &all.contents {
        let paths = content.subjects.iter().map(|subject| subject.path);
        let picked = paths.filter(|path| is_picked_file(path));
        subjects.extend(picked.map(|path| (SubjectLocation::File(path.clone()), content.key)));
    }
    let folders = all.folders.into_iter().filter(|folder| is_picked(folder, &picks));
    subjects.extend(
        folders
            .map(|folder| (folder.path.map_or(SubjectLocation::Root, SubjectLocation::Folder), folder.key)),
    );
    subjects.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(subjects)
}

/// Returns the selectors of path arguments; empty without arguments, which selects everything.
fn path_selectors(
    workspace: &Workspace<'_>,
    words: &[String],
    files: &[KnownFile],
) -> Result<Vec<Selector>, Error> {
    let mut picks = Vec::new();
    for word in words {
        let selects = |pick: &Selector| files.iter().any(|file| pick.selects(&file.path));
        let pick = path_selector(workspace, word)?;
        // A name may look like a pattern.
        let pick = if selects(&pick) { pick } else { Selector::new(word)? };
        if !selects(&pick) {
            return Err(Error::NothingSelected { word: word.clone() });
        }
        picks.push(pick);
    }
    Ok(picks)
}

/// Returns a selector for the file or folder whose path, absolute or relative to the root, is given.
pub(super) fn path_selector(workspace: &Workspace<'_>, word: &str) -> Result<Selector, Error> {
    let word = if word.len() < 2 { word } else { word.trim_end_matches('/') };
    if matches!(word, "." | "") || Path::new(word) == workspace.root {
        return Ok(Selector::Parts(Vec::new()));
    }
    let path = workspace.resolve_path(word)?;
    Ok(Selector::Parts(path.map_or_else(|| word.as_bytes().to_vec(), |path| path.as_bytes().to_vec())))
}

/// Determines the state of each content. Returns those to ask about.
fn add_contents<'c, 'f>(
    cache: &mut ArtifactCache<'_>,
    contents: &'c [SubjectContent<'f>],
    survey: &mut TaskSurvey<'_>,
) -> Vec<&'c SubjectContent<'f>> {
    let mut ready = Vec::new();
    for content in contents {
        let state = state_of(cache, content, survey);
        survey.states.insert(content.key, state);
        if state == SubjectState::Ready && content.is_picked {
            ready.push(content);
        }
    }
    ready
}

/// Determines the state of a content, and counts it.
fn state_of(
    cache: &mut ArtifactCache<'_>,
    content: &SubjectContent<'_>,
    survey: &mut TaskSurvey<'_>,
) -> SubjectState {
    let TaskSurvey { known, tasks, .. } = survey;
    let counted = u64::from(content.is_picked);
    if known.is_done(&content.key, content.strategy) {
        tasks.done += counted;
        return SubjectState::Done;
    }
    let Some(id) = known.task_id(&content.key, content.strategy) else { return SubjectState::Settled };
    if known.is_refused(&id) && !tasks.retry(&id, content.is_picked, survey.policy) {
        tasks.refused += counted;
        return SubjectState::Settled;
    }
    // After the lookups in memory, because a summary may have to be derived for it.
    if is_written_by_program(cache, content) {
        tasks.ineligible += counted;
        return SubjectState::Settled;
    }
    // Last, because it is the only check that needs the file system.
    let Some(wait) = remaining_quiet_time(&cache.workspace, content, survey.policy.min_age) else {
        return SubjectState::Ready;
    };
    tasks.too_recent += counted;
    if content.is_picked {
        tasks.next_ready_in = Some(tasks.next_ready_in.map_or(wait, |before| before.min(wait)));
    }
    SubjectState::Waiting
}

/// Returns whether a content is generated, according to its heuristic summary.
pub(super) fn is_written_by_program(cache: &mut ArtifactCache<'_>, content: &SubjectContent<'_>) -> bool {
    let words = content.subjects.first().and_then(|subject| cache.summary(subject));
    words.is_some_and(|words| is_machine_written(&words))
}

/// Returns the time until one of the files with this content has not been written for the required time; `None` if one
/// already has not.
fn remaining_quiet_time(
    workspace: &Workspace<'_>,
    content: &SubjectContent<'_>,
    still: Duration,
) -> Option<Duration> {
    let now_ns = workspace.world.clock.now_ns();
    let wait = |subject: &ContentRef<'_>| {
        let stat = workspace.files.stat(subject.path).ok()?;
        // No tool can set this time. A time in the future was set before the clock was set back.
        let age = now_ns.saturating_sub(stat.stamp.ctime_ns).unsigned_abs();
        Some(still.saturating_sub(Duration::from_nanos(age)))
    };
    let shortest = content.subjects.iter().filter_map(wait).min();
    // None of them has a stamp any more: the next scan will find out why.
    shortest.map_or(Some(still), |wait| (!wait.is_zero()).then_some(wait))
}

/// Orders contents by the importance of the first files that have them.
fn most_important_first<'c, 'f>(
    cache: &mut ArtifactCache<'_>,
    ready: Vec<&'c SubjectContent<'f>>,
    files: &[KnownFile],
    rules: &EligibilityRules,
) -> Vec<&'c SubjectContent<'f>> {
    // Importance is computed over all files, which a single task does not justify.
    if ready.len() < 2 {
        return ready;
    }
    let files: Vec<&KnownFile> = files.iter().collect();
    let importance = importance(cache, &files, &|path| rules.is_curated(path));
    let by_path: HashMap<&RelPath, _> = files.iter().map(|file| &file.path).zip(importance).collect();
    let best = |content: &SubjectContent<'_>| {
        content.subjects.iter().filter_map(|subject| by_path.get(subject.path)).max().copied()
    };
    let mut ranked: Vec<_> = ready.into_iter().map(|content| (best(content), content)).collect();
    // Stable: equal contents stay in path order.
    ranked.sort_by_key(|(importance, _)| Reverse(*importance));
    ranked.into_iter().map(|(_, content)| content).collect()
}

/// Determines the state of each folder, bottom-up, and adds those to ask about.
fn add_folder_tasks(cache: &mut ArtifactCache<'_>, subjects: &SubjectIndex<'_>, survey: &mut TaskSurvey<'_>) {
    let by_node = subjects.by_key();
    let mut counted = HashSet::new();
    for folder in &subjects.folders {
        let Some(strategy) = folder_strategy(folder) else { continue };
        let Some(id) = survey.known.task_id(&folder.key, strategy) else { continue };
        let is_picked = is_picked(folder, &survey.picks);
        let state = survey.folder_state(folder, strategy, &id, is_picked);
        // Also if the folder is not selected: its parents depend on its state.
        survey.states.insert(folder.key, state);
        // Another folder with the same contents is the same question.
        if !is_picked || !counted.insert(folder.key) {
            continue;
        }
        match state {
            SubjectState::Done => survey.tasks.done += 1,
            SubjectState::Settled => survey.tasks.refused += 1,
            SubjectState::Waiting => {
                let task = folder_task(folder, &survey.known, survey.policy);
                survey.tasks.waiting_folders += 1;
                survey.tasks.waiting_bytes += task.map_or(0, |task| task.estimated_bytes);
            }
            SubjectState::Ready => {
                let children = children(cache, folder, &by_node, &survey.known);
                survey.tasks.children.insert(id, children);
                survey.tasks.ready.extend(folder_task(folder, &survey.known, survey.policy));
            }
        }
    }
}

/// Collects the known data about the contents of a folder.
pub(super) fn children(
    cache: &mut ArtifactCache<'_>,
    folder: &SubjectFolder,
    contents: &HashMap<SubjectKey, &SubjectContent<'_>>,
    known: &KnownSummaries,
) -> Vec<FolderChild> {
    let mut children = Vec::with_capacity(folder.children.len());
    for (node, bytes) in &folder.children {
        let content = contents.get(node);
        let strategy =
            content.map(|content| content.strategy).or_else(|| PromptStrategy::for_scope(node.scope));
        let words = strategy.and_then(|strategy| known.summary_text(node, strategy));
        let words = words.or_else(|| content.and_then(|content| heuristic_summary(cache, content, known)));
        // A replacement character would cause the whole folder to be withheld.
        let words = words.map(|words| words.replace(char::REPLACEMENT_CHARACTER, " "));
        children.push(FolderChild {
            subject: node.subject,
            description: words.unwrap_or_else(|| "Nothing is known of it but its size.".to_owned()),
            bytes: *bytes,
            is_folder: node.scope != SummaryScope::File,
        });
    }
    children
}

/// Returns the heuristic summary of a content, if its text could be sent too: what must not be sent must not be
/// revealed by its outline either, whatever is recorded of earlier attempts.
fn heuristic_summary(
    cache: &mut ArtifactCache<'_>,
    content: &SubjectContent<'_>,
    known: &KnownSummaries,
) -> Option<String> {
    let subject = content.subjects.first()?;
    let (files, max_bytes) = (cache.workspace.files.clone(), cache.workspace.options.structure_max_bytes);
    let is_kept_here = known.is_withheld(&content.key, content.strategy)
        || is_written_by_program(cache, content)
        || !is_clean(&files, max_bytes, subject.path, &subject.hash);
    if is_kept_here { None } else { cache.summary(subject) }
}

impl SummaryTasks {
    /// Returns whether a failed attempt is to be repeated, and records what has to be deleted for that.
    fn retry(&mut self, id: &SummaryKey, is_picked: bool, policy: &SummaryPolicy) -> bool {
        if policy.retries && is_picked {
            self.retried_refusals.push(policy.refusal_key(id));
        }
        policy.retries && is_picked
    }
}

impl TaskSurvey<'_> {
    fn folder_state(
        &mut self,
        folder: &SubjectFolder,
        strategy: PromptStrategy,
        id: &SummaryKey,
        is_picked: bool,
    ) -> SubjectState {
        if self.known.is_done(&folder.key, strategy) {
            return SubjectState::Done;
        }
        if self.known.is_refused(id) && !self.tasks.retry(id, is_picked, self.policy) {
            return SubjectState::Settled;
        }
        let is_settled = |child: &SubjectKey| self.states.get(child).is_some_and(|state| state.is_settled());
        if folder.children.keys().all(is_settled) { SubjectState::Ready } else { SubjectState::Waiting }
    }
}

fn is_picked(folder: &SubjectFolder, picks: &[Selector]) -> bool {
    let is_of = |pick: &Selector| match (&folder.path, pick) {
        (Some(path), _) => pick.selects(path),
        (None, Selector::Parts(word)) => word.is_empty() || word == b".",
        (None, Selector::Pattern { .. }) => false,
    };
    picks.is_empty() || picks.iter().any(is_of)
}
