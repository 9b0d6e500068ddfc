//! Loads the references of the current files, and caches them between answers.

use std::sync::{Arc, Mutex};

use super::graph::ReferenceGraph;
use crate::engine::artifacts::{ArtifactCache, ContentKey, ContentRef, FactsByContent, load_facts};
use crate::engine::error::Error;
use crate::engine::index::{Trust, select_visible};
use crate::engine::workspace::KnownFile;
use crate::model::{SourceFacts, lock};
use crate::references::{ProjectFile, find_changed_references, find_references};
use crate::search::PathClass;
use crate::syntax;

/// The last references, as cached by a long-running process.
#[derive(Default)]
pub(in crate::engine) struct ReferenceCache(Mutex<Option<Arc<JoinedFiles>>>);

struct JoinedFiles {
    /// The contents of the files, in the order of the graph.
    contents: Vec<ContentKey>,
    graph: Arc<ReferenceGraph>,
    /// The facts of the files, so that after an edit only those of the edited file are read.
    facts: FactsByContent,
}

impl JoinedFiles {
    /// Returns the files whose contents have changed; `None` if files came or went, or have another type.
    fn edited(&self, subjects: &[ContentRef<'_>]) -> Option<Vec<u32>> {
        let files = || (0..).zip(self.contents.iter().zip(subjects));
        let is_same = |(at, (before, subject)): (u32, (&ContentKey, &ContentRef<'_>))| {
            subject.path == self.graph.path(at) && subject.file_type.id == before.1
        };
        let are_same = self.contents.len() == subjects.len() && files().all(is_same);
        let edited = || files().filter(|(_, (before, subject))| subject.key() != **before);
        are_same.then(|| edited().map(|(at, _)| at).collect())
    }
}

impl ReferenceCache {
    fn get(&self) -> Option<Arc<JoinedFiles>> {
        lock(&self.0).clone()
    }

    fn replace(&self, joined: JoinedFiles) {
        *lock(&self.0) = Some(Arc::new(joined));
    }
}

/// Returns the references of the project's current files.
pub(in crate::engine) fn reference_graph(
    cache: &mut ArtifactCache<'_>,
    kept: Option<&ReferenceCache>,
) -> Result<Arc<ReferenceGraph>, Error> {
    let mut files = select_visible(cache, Trust::Stamps)?.files;
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
    let before = kept.and_then(ReferenceCache::get);
    let edited = before.as_ref().and_then(|joined| joined.edited(&subjects));
    if let (Some(joined), Some([])) = (&before, edited.as_deref()) {
        return Ok(Arc::clone(&joined.graph));
    }
    let nothing = FactsByContent::default();
    let known = before.as_ref().map_or(&nothing, |joined| &joined.facts);
    let facts = load_facts(cache, &subjects, known);
    cache.workspace.check_cancelled()?;
    let is_complete = subjects.iter().all(|subject| facts.contains_key(&subject.key()));
    let files = project_files(&subjects, &facts);
    let joined_alone = match (&before, edited) {
        (Some(joined), Some(edited)) if is_complete => join_edited(joined, &edited, &files),
        _ => None,
    };
    let graph = Arc::new(joined_alone.unwrap_or_else(|| join(&subjects, &files)));
    cache.workspace.check_cancelled()?;
    // A file that changed since it was listed has no references in this answer, so the result is not cached.
    if let Some(kept) = kept.filter(|_| is_complete) {
        let contents = subjects.iter().map(ContentRef::key).collect();
        kept.replace(JoinedFiles { contents, graph: Arc::clone(&graph), facts });
    }
    Ok(graph)
}

fn join(subjects: &[ContentRef<'_>], files: &[ProjectFile]) -> ReferenceGraph {
    let paths: Vec<_> = subjects.iter().map(|subject| subject.path.clone()).collect();
    ReferenceGraph::new(files, &paths, &find_references(files))
}

/// Joins only the edited files; `None` if other files see the edits.
fn join_edited(joined: &JoinedFiles, edited: &[u32], files: &[ProjectFile]) -> Option<ReferenceGraph> {
    let with_facts = |at: &u32| Some((*at, &**joined.facts.get(&joined.contents[*at as usize])?));
    let changed = edited.iter().map(with_facts).collect::<Option<Vec<_>>>()?;
    let found = find_changed_references(files, &changed, || joined.graph.outer_references(edited))?;
    Some(joined.graph.edited(files, edited, &found))
}

fn project_files(subjects: &[ContentRef<'_>], facts: &FactsByContent) -> Vec<ProjectFile> {
    let nothing = Arc::<SourceFacts>::default();
    let file = |subject: &ContentRef<'_>| ProjectFile {
        path: subject.path.to_string(),
        language: subject.file_type.id,
        is_test: PathClass::from_path(subject.path, subject.file_type.role, false) == PathClass::Test,
        facts: Arc::clone(facts.get(&subject.key()).unwrap_or(&nothing)),
    };
    subjects.iter().map(file).collect()
}
