//! Ranks the files of a project by their versions at the frozen commits, regardless of a task.

use std::sync::Arc;

use super::earlier::{EarlierContent, EarlierSources};
use super::rank::{ProjectRanking, RankingRequest, rank_project};
use super::source::SourceCache;
use crate::engine::artifacts::ArtifactCache;
use crate::engine::fingerprint::Fingerprint;
use crate::engine::history::{FrozenContent, PastCommits, ProjectHistory};
use crate::engine::last_value::LastValue;
use crate::engine::options::Options;
use crate::engine::workspace::{KnownFile, KnownState, Workspace};
use crate::model::ContentHash;
use crate::search::{ChangeHorizon, PathClass, RankingQuery};

/// The number of further files, changed since the frozen commit, whose names at that commit are looked up, so that an
/// edit changes neither the size of their rows in a document nor what else fits.
const FILES_WITH_NAMES: usize = 256;

/// The last frozen ranking, in a long-running process: an edit does not change it.
#[derive(Default)]
pub(in crate::engine) struct FrozenRankings {
    /// Without the sources of files of which only names are shown.
    last: LastValue<FrozenKey, ProjectRanking>,
    earlier: EarlierSources,
}

/// What a frozen ranking depends on.
#[derive(PartialEq)]
struct FrozenKey {
    options: Options,
    /// A hash of the list of files, and of the frozen commits.
    files: ContentHash,
}

/// The files to rank at the frozen commits.
pub(in crate::engine) struct FrozenRequest<'a> {
    pub(in crate::engine) files: &'a [&'a KnownFile],
    /// The class of each file.
    pub(in crate::engine) classes: &'a [PathClass],
    /// `None` if nothing is frozen.
    pub(in crate::engine) history: Option<&'a ProjectHistory>,
    /// The commits up to the frozen ones.
    pub(in crate::engine) past: &'a PastCommits,
    /// Texts that are not read again.
    pub(in crate::engine) kept: &'a SourceCache,
}

impl FrozenRankings {
    /// Ranks files regardless of a task and of files in focus.
    pub(in crate::engine) fn rank(
        &self,
        cache: &mut ArtifactCache<'_>,
        request: &FrozenRequest<'_>,
    ) -> ProjectRanking {
        let FrozenRequest { files, classes, history, past, kept } = *request;
        // Without commits, references decide, which may change with any file.
        let frozen = history.filter(|_| past.has_any_of(files.iter().map(|file| &file.path)));
        let key = frozen.map(|history| request.key(&cache.workspace, history));
        let last = key.as_ref().and_then(|key| self.last.get(key));
        let mut ranking = if let Some(last) = last.filter(|last| !last.is_too_slow()) {
            ProjectRanking::clone(&last)
        } else {
            let wanted = RankingRequest {
                query: &RankingQuery::empty(),
                in_focus: &|_| false,
                past,
                horizon: ChangeHorizon::Near,
                frozen_at: history.map(|history| (history, &self.earlier)),
                room: None,
                kept,
                classes,
            };
            let ranking = rank_project(cache, &wanted, files);
            if let Some(key) = key.filter(|_| ranking.is_complete) {
                self.last.insert(key, &Arc::new(ranking.clone()));
            }
            ranking
        };
        if let Some(history) = history {
            let changed = changed_files(history, files, &ranking);
            ranking.add_earlier(self.earlier.read(cache, changed));
        }
        ranking
    }
}

impl FrozenRequest<'_> {
    fn key(&self, workspace: &Workspace<'_>, history: &ProjectHistory) -> FrozenKey {
        let mut hash = Fingerprint::default();
        for (name, log) in history.commits.iter() {
            hash.bytes(name.as_bytes()).bytes(log.frozen.as_bytes());
        }
        for (file, class) in self.files.iter().zip(self.classes) {
            hash.bytes(file.path.as_bytes()).number(*class as u64);
            let KnownState::Content { hash: content, file_type, .. } = &file.state else {
                hash.number(0);
                continue;
            };
            hash.bytes(file_type.id.as_bytes());
            // What masks hide of a file is hidden only in the version that was selected.
            let is_frozen = history.of_file(&file.path).is_some();
            if !is_frozen || workspace.hidden.get(&file.path).is_some() {
                hash.bytes(content.as_bytes());
            }
            hash.number(1 + u64::from(history.frozen_content(file) == FrozenContent::Absent));
        }
        FrozenKey { options: workspace.options.clone(), files: hash.finish() }
    }
}

/// Returns the first files by rank, besides those whose sources are known, that have changed since the frozen commit,
/// with their contents at that commit.
fn changed_files(
    history: &ProjectHistory,
    files: &[&KnownFile],
    ranking: &ProjectRanking,
) -> Vec<(usize, EarlierContent)> {
    let others = ranking.order.iter().filter(|at| !ranking.sources.contains_key(at));
    let changed = others.filter_map(|at| match history.frozen_content(files[*at]) {
        FrozenContent::Blob(name) => Some((*at, EarlierContent::new(files[*at], name)?)),
        FrozenContent::Current | FrozenContent::Absent => None,
    });
    changed.take(FILES_WITH_NAMES).collect()
}
