//! The files of a document on the ladder of their views.

use std::collections::HashMap;

use super::gather::{DraftDocument, ShownFile};
use crate::aggregate::{BudgetStep, DocumentLimits, ShrinkableFile};
use crate::engine::workspace::KnownState;
use crate::model::{DocumentBlock, Omission, OmittedFile, SummaryDetail, ViewMode};
use crate::{aggregate, render};

/// A text has about so many bytes a token: good enough for a guess.
pub(super) const BYTES_A_TOKEN: u64 = 4;
/// Why a file is shown smaller than wanted.
const BUDGET_REASON: &str = "to keep within the budget";

/// A file in one of its views, with its sizes.
pub(super) struct LadderRung {
    pub(super) block: DocumentBlock,
    pub(super) bytes: u64,
    /// `None` until they are needed.
    pub(super) tokens: Option<u64>,
}

/// What was found out about a document while it was made to fit: it holds for other limits too.
#[derive(Default)]
pub(super) struct FitMemo {
    pub(super) frame: Option<FrameSizes>,
    pub(super) rungs: HashMap<(usize, usize), LadderRung>,
}

/// The view of each file after some steps.
pub(super) struct LadderState {
    /// For each file, how many rungs it has stepped down; `None` if it is left out.
    pub(super) rungs: Vec<Option<usize>>,
    pub(super) with_tree: bool,
}

pub(super) struct ViewLadders {
    /// By importance.
    pub(super) files: Vec<ShownFile>,
    pub(super) views: Vec<&'static [ViewMode]>,
    pub(super) steps: Vec<BudgetStep>,
    pub(super) rungs: HashMap<(usize, usize), LadderRung>,
    pub(super) frame: FrameSizes,
}

/// The sizes of the parts of a document other than its files: its heading and the attachments; the note that files are
/// left out; the tree of names.
#[derive(Clone, Copy)]
pub(super) struct FrameSizes {
    pub(super) rest: TextSizes,
    pub(super) cut: TextSizes,
    pub(super) tree: TextSizes,
}

#[derive(Clone, Copy, Default)]
pub(super) struct TextSizes {
    pub(super) bytes: u64,
    pub(super) tokens: u64,
}

impl TextSizes {
    pub(super) fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.tokens += other.tokens;
    }

    pub(super) fn is_within(self, limits: DocumentLimits) -> bool {
        limits.bytes.is_none_or(|bytes| self.bytes <= bytes)
            && limits.tokens.is_none_or(|tokens| self.tokens <= tokens)
    }
}

impl ViewLadders {
    pub(super) fn new(
        files: Vec<ShownFile>,
        frame: FrameSizes,
        limits: DocumentLimits,
        mut rungs: HashMap<(usize, usize), LadderRung>,
    ) -> Self {
        let mut views = Vec::new();
        let mut yielding = Vec::new();
        for (at, shown) in files.iter().enumerate() {
            let block = &shown.candidate.block;
            // An error line is as short as it can be, and must not look like a file that was read.
            let is_shown = block.content.is_some();
            let has_detail = shown.detail != SummaryDetail::Words;
            let own: &[ViewMode] =
                if is_shown { aggregate::view_ladder(block.view, has_detail) } else { &[] };
            views.push(own);
            let top = rungs.entry((at, 0)).or_insert_with(|| LadderRung {
                block: block.clone(),
                bytes: render::block_text(block).len() as u64,
                tokens: None,
            });
            let bytes = top.bytes;
            yielding
                .push((!shown.candidate.rule.is_binding()).then_some(ShrinkableFile { views: own, bytes }));
        }
        // What is insisted on is there anyway: the others share what it leaves.
        let insisted: u64 =
            (0..files.len()).filter(|at| yielding[*at].is_none()).map(|at| rungs[&(at, 0)].bytes).sum();
        // What is insisted on may exceed the limit by itself; the others then share nothing, and the document is
        // refused later.
        let left = byte_room(limits).saturating_sub(frame.rest.bytes + insisted);
        let steps = aggregate::reduction_steps(&yielding, frame.tree.bytes, left);
        Self { files, views, steps, rungs, frame }
    }

    pub(super) fn state_after(&self, steps: usize) -> LadderState {
        self.after(self.steps[..steps].iter())
    }

    /// Returns the descent that leaves of each file its path, as far as it yields.
    pub(super) fn paths_alone(&self) -> LadderState {
        self.after(self.steps.iter().filter(|step| !matches!(step, BudgetStep::Omit(_))))
    }

    fn after<'a>(&self, steps: impl Iterator<Item = &'a BudgetStep>) -> LadderState {
        let mut state = LadderState { rungs: vec![Some(0); self.files.len()], with_tree: true };
        for step in steps {
            match step {
                BudgetStep::StepDown(file) => {
                    state.rungs[*file] = state.rungs[*file].map(|rung| rung + 1);
                }
                BudgetStep::DropTree => state.with_tree = false,
                BudgetStep::Omit(file) => state.rungs[*file] = None,
            }
        }
        state
    }

    /// Guesses after how many steps all fits, from the sizes that views usually have.
    pub(super) fn guess(&self, limits: DocumentLimits) -> usize {
        let room = byte_room(limits);
        let usual = |file: usize, rung: usize| match rung.checked_sub(1).map(|rung| self.views[file][rung]) {
            None => self.rungs[&(file, 0)].bytes,
            Some(view) => usual_bytes(view).min(self.rungs[&(file, 0)].bytes),
        };
        let mut at = vec![0; self.files.len()];
        let files: u64 = (0..self.files.len()).map(|file| usual(file, 0)).sum();
        let mut bytes = self.frame.rest.bytes + self.frame.tree.bytes + files;
        for (done, step) in self.steps.iter().enumerate() {
            if bytes <= room {
                return done;
            }
            match step {
                BudgetStep::StepDown(file) => {
                    // In this order, because the numbers are unsigned: a file's current view is a part of the sum.
                    bytes = bytes + usual(*file, at[*file] + 1) - usual(*file, at[*file]);
                    at[*file] += 1;
                }
                BudgetStep::DropTree => bytes -= self.frame.tree.bytes,
                BudgetStep::Omit(file) => bytes -= usual(*file, at[*file]),
            }
        }
        self.steps.len()
    }

    /// Returns the draft in this state, with the reason for each change; and the rungs.
    pub(super) fn apply(
        self,
        state: &LadderState,
        mut draft: DraftDocument,
    ) -> (DraftDocument, HashMap<(usize, usize), LadderRung>) {
        if !state.with_tree {
            draft.remarks.tree_omitted = draft.plan.tree.take().is_some();
        }
        for (at, mut shown) in self.files.into_iter().enumerate() {
            let Some(rung) = state.rungs[at] else {
                draft.remarks.omitted.push(left_out(&shown));
                shown.candidate.reason = Some(BUDGET_REASON.to_owned());
                draft.dropped.push(shown);
                continue;
            };
            // A view that was no smaller than the one above it was replaced by that one (`render_rung`), and then
            // nothing has changed that a reason could be given for.
            let smaller =
                self.rungs.get(&(at, rung)).filter(|smaller| smaller.block != shown.candidate.block);
            if let Some(smaller) = smaller {
                shown.candidate.block = smaller.block.clone();
                shown.detail = SummaryDetail::Words;
                shown.candidate.reason = Some(match shown.candidate.reason {
                    Some(earlier) => format!("{earlier}; then {BUDGET_REASON}"),
                    None => BUDGET_REASON.to_owned(),
                });
            }
            draft.files.push(shown);
        }
        draft.remarks.omitted.sort_by(|a, b| a.path.cmp(&b.path));
        (draft, self.rungs)
    }
}

/// A file that could not be shown anyway is left out for that reason.
fn left_out(shown: &ShownFile) -> OmittedFile {
    let reason = match &shown.file.state {
        KnownState::LeftOut(reason) => Omission::LeftOut(*reason),
        KnownState::Content { .. } => Omission::Budget { wanted: shown.candidate.wanted },
    };
    OmittedFile { path: shown.file.path.clone(), reason }
}

fn byte_room(limits: DocumentLimits) -> u64 {
    let bytes = limits.bytes.unwrap_or(u64::MAX);
    bytes.min(limits.tokens.map_or(u64::MAX, |tokens| tokens.saturating_mul(BYTES_A_TOKEN)))
}

/// Returns about how many bytes a file's block has in a view.
const fn usual_bytes(view: ViewMode) -> u64 {
    // Rough figures suffice: a guess that is far off costs some more steps of the search, never another result.
    match view {
        ViewMode::Path | ViewMode::None => 60,
        ViewMode::Summary => 600,
        ViewMode::Outline | ViewMode::Signatures => 1500,
        ViewMode::Skeleton
        | ViewMode::Masked
        | ViewMode::Custom
        | ViewMode::Diff
        | ViewMode::Window
        | ViewMode::Definitions
        | ViewMode::Full => 4000,
    }
}
