//! Which files are likely to change next, so that they stand last.

use std::collections::HashSet;

use super::artifacts::Subject;
use super::derive::derive;
use super::derive::identify;
use super::derive::producers;
use super::fitting::ShownFile;
use super::history::History;
use super::project::Project;
use super::rendering::Rendering;
use super::scan::KnownFile;
use super::scan::KnownState;
use crate::aggregate::Candidate;
use crate::aggregate::FocusLines;
use crate::aggregate::Stability;
use crate::discover::Neighbors;
use crate::model::RelPath;
use crate::model::SummaryDetail;
use crate::model::ViewMode;
use crate::store::Batch;

/// So many old contents are held in memory at once.
const CONTENTS_AT_ONCE: usize = 200;

impl Project<'_> {
    /// Sets the stability of each file.
    pub(super) fn weigh(&mut self, files: &mut [ShownFile], detail: SummaryDetail) {
        let Some(history) = self.history() else { return };
        let same = self.same_as_frozen(files, &history, detail);
        for shown in files {
            let path = &shown.file.path;
            let is_moving = !shown.file.tracked || (history.changed.contains(path) && !same.contains(path));
            let score = history.scores.get(path).copied().unwrap_or(0);
            shown.candidate.stability = Stability { is_moving, score };
        }
    }

    /// Returns the changed files whose blocks are what they were at the frozen commit. Most edits do not touch a
    /// summary; every edit touches the other views, or the hash in their heads.
    fn same_as_frozen(
        &mut self,
        files: &[ShownFile],
        history: &History,
        detail: SummaryDetail,
    ) -> HashSet<RelPath> {
        let is_asked = |shown: &&ShownFile| {
            shown.candidate.block.view == ViewMode::Summary && history.changed.contains(&shown.file.path)
        };
        let asked: Vec<&ShownFile> = files.iter().filter(is_asked).collect();
        let mut same = HashSet::new();
        for some in asked.chunks(CONTENTS_AT_ONCE) {
            let paths: Vec<&RelPath> = some.iter().map(|shown| &shown.file.path).collect();
            let contents = self.contents_at(&history.frozen, &paths);
            for shown in some {
                let Some(bytes) = contents.get(&shown.file.path) else { continue };
                if self.looks_the_same(&shown.candidate, &shown.file, bytes, detail) {
                    same.insert(shown.file.path.clone());
                }
            }
        }
        same
    }

    /// Says whether a file with the bytes of then would be shown as the candidate is shown now.
    fn looks_the_same(
        &mut self,
        candidate: &Candidate,
        file: &KnownFile,
        bytes: &[u8],
        detail: SummaryDetail,
    ) -> bool {
        let Some(now) = Subject::of(file) else { return false };
        let Ok(mut then) = identify(now.path, bytes, &Neighbors::of(std::iter::empty())) else {
            return false;
        };
        then.file_type = now.file_type;
        let by = producers(now.file_type);
        if !self.stored(|store| store.has_all(&then.hash, &by)).unwrap_or(false) {
            let derived = derive(&then, self.options.parse_timeout, self.world.clock);
            let at_s = self.world.clock.now_s();
            self.save(Batch { contents: vec![derived], files: Vec::new(), removed: Vec::new(), at_s });
        }
        let state =
            KnownState::Content { hash: then.hash, file_type: now.file_type, facts: then.facts.clone() };
        let old = KnownFile { path: file.path.clone(), tracked: true, state };
        let lines = FocusLines(Vec::new());
        let (item, picks, text) = (None, None, None);
        let rendering = Rendering { view: ViewMode::Summary, detail, lines: &lines, item, picks, text };
        let rendered = self.render(&old, rendering, u64::MAX);
        rendered.body == candidate.block.body && rendered.remarks == candidate.block.remarks
    }
}
