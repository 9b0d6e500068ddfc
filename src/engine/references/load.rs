//! The references of the files as they are now, and what a process keeps of them between answers.

use std::sync::{Arc, Mutex, PoisonError};

use super::graph::ReferenceGraph;
use crate::engine::artifacts::{
    ArtifactCache, ContentKey, ContentRef, FactsByContent, hide_by_settings, load_facts,
};
use crate::engine::error::Error;
use crate::engine::index::{Trust, select_named};
use crate::engine::workspace::KnownFile;
use crate::model::{ContentHash, SourceFacts};
use crate::references::{ProjectFile, find_changed_references, find_references};
use crate::syntax;

/// The references that were joined last, in a process that stays.
#[derive(Default)]
pub(in crate::engine) struct ReferenceCache(Mutex<Option<JoinedFiles>>);

#[derive(Clone)]
struct JoinedFiles {
    /// A hash of the paths, the contents and the types of the files.
    key: ContentHash,
    /// The contents of the files, in the order of the graph.
    contents: Vec<ContentKey>,
    graph: Arc<ReferenceGraph>,
    /// The facts that were joined, so that after an edit only those of the edited file are read.
    facts: Arc<FactsByContent>,
}

impl ReferenceCache {
    fn get(&self) -> Option<JoinedFiles> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, joined: JoinedFiles) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(joined);
    }
}

/// Returns the references of the project's files as they are now.
pub(in crate::engine) fn reference_graph(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&ReferenceCache>,
) -> Result<Arc<ReferenceGraph>, Error> {
    let mut files = select_named(cache, &[], Trust::Stamps, &|_| false)?.files;
    hide_by_settings(cache, &mut files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    graph_of_files(cache, kept, &files)
}

/// Returns the references of these files, which are sorted by path.
pub(super) fn graph_of_files(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&ReferenceCache>,
    files: &[KnownFile],
) -> Result<Arc<ReferenceGraph>, Error> {
    let subjects: Vec<ContentRef<'_>> = files
        .iter()
        .filter_map(ContentRef::from_file)
        .filter(|subject| syntax::has_facts(subject.file_type.id, subject.path.file_name()))
        .collect();
    let key = files_key(&subjects);
    let before = kept.and_then(ReferenceCache::get);
    if let Some(joined) = before.as_ref().filter(|joined| joined.key == key) {
        return Ok(Arc::clone(&joined.graph));
    }
    let known = before.as_ref().map(|joined| Arc::clone(&joined.facts)).unwrap_or_default();
    let facts = load_facts(cache, &subjects, &known);
    cache.workspace.check_cancelled()?;
    let is_complete = subjects.iter().all(|subject| facts.contains_key(&subject.key()));
    let files = project_files(&subjects, &facts);
    let edited = before.filter(|_| is_complete).and_then(|joined| join_edited(&joined, &subjects, &files));
    let graph = Arc::new(edited.unwrap_or_else(|| join(&subjects, &files)));
    cache.workspace.check_cancelled()?;
    // A file that changed since it was listed has no references in this answer; the next one has to join again.
    if let Some(kept) = kept.filter(|_| is_complete) {
        let contents = subjects.iter().map(ContentRef::key).collect();
        kept.replace(JoinedFiles { key, contents, graph: Arc::clone(&graph), facts: Arc::new(facts) });
    }
    Ok(graph)
}

fn join(subjects: &[ContentRef<'_>], files: &[ProjectFile]) -> ReferenceGraph {
    let paths: Vec<_> = subjects.iter().map(|subject| (subject.path.clone(), subject.file_type)).collect();
    ReferenceGraph::new(files, &paths, &find_references(files))
}

/// Joins the files alone that were edited; `None` if that is not enough: other files came or went, or see the edits.
fn join_edited(
    joined: &JoinedFiles,
    subjects: &[ContentRef<'_>],
    files: &[ProjectFile],
) -> Option<ReferenceGraph> {
    let is_same = |(at, subject): (u32, &ContentRef<'_>)| {
        subject.path == joined.graph.path(at) && subject.file_type.id == joined.graph.language(at)
    };
    if joined.contents.len() != subjects.len() || !(0..).zip(subjects).all(is_same) {
        return None;
    }
    let mut edited = Vec::new();
    for ((at, subject), before) in (0..).zip(subjects).zip(&joined.contents) {
        if subject.key() != *before {
            edited.push((at, &**joined.facts.get(before)?));
        }
    }
    let found = find_changed_references(files, &edited)?;
    let edited: Vec<u32> = edited.into_iter().map(|(at, _)| at).collect();
    Some(joined.graph.edited(files, &edited, &found))
}

fn project_files(subjects: &[ContentRef<'_>], facts: &FactsByContent) -> Vec<ProjectFile> {
    let nothing = Arc::<SourceFacts>::default();
    let file = |subject: &ContentRef<'_>| ProjectFile {
        path: subject.path.to_string(),
        language: subject.file_type.id,
        facts: Arc::clone(facts.get(&subject.key()).unwrap_or(&nothing)),
    };
    subjects.iter().map(file).collect()
}

fn files_key(subjects: &[ContentRef<'_>]) -> ContentHash {
    let mut bytes = Vec::with_capacity(subjects.len() * 80);
    for subject in subjects {
        bytes.extend_from_slice(subject.hash.as_bytes());
        bytes.extend_from_slice(subject.file_type.id.as_bytes());
        bytes.push(0);
        bytes.extend_from_slice(subject.path.as_bytes());
        bytes.push(0);
    }
    ContentHash::digest(&bytes)
}
