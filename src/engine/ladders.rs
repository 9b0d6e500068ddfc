//! The files of a document on the ladder of their views.

use std::collections::HashMap;

use super::fitting::BYTES_A_TOKEN;
use super::fitting::ShownFile;
use super::fitting::Whole;
use super::scan::KnownState;
use crate::aggregate;
use crate::aggregate::Limits;
use crate::aggregate::Step;
use crate::aggregate::Yielding;
use crate::model::Block;
use crate::model::Omission;
use crate::model::OmittedFile;
use crate::model::SummaryDetail;
use crate::model::ViewMode;
use crate::render;

/// Why a file is shown smaller than wanted.
const FOR_WANT_OF_ROOM: &str = "to keep within the budget";

/// A file in one of its views, with its sizes.
pub(super) struct Rung {
    pub(super) block: Block,
    pub(super) bytes: u64,
    /// `None` until somebody needs to know.
    pub(super) tokens: Option<u64>,
}

/// What was found out about a document while it was made to fit: it holds for other limits too.
#[derive(Default)]
pub(super) struct Memo {
    pub(super) frame: Option<Frame>,
    pub(super) rungs: HashMap<(usize, usize), Rung>,
}

/// Where each file stands after some steps.
pub(super) struct Descent {
    /// For each file, how many rungs it has stepped down; `None` where it is left out.
    pub(super) rungs: Vec<Option<usize>>,
    pub(super) with_tree: bool,
}

/// The files on their ladders.
pub(super) struct Ladders {
    /// By importance.
    pub(super) files: Vec<ShownFile>,
    pub(super) views: Vec<&'static [ViewMode]>,
    pub(super) steps: Vec<Step>,
    pub(super) rungs: HashMap<(usize, usize), Rung>,
    pub(super) frame: Frame,
}

/// What the document has beside its files: its heading and the sections behind them; what says that files are left out;
/// the tree of names.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) rest: Sizes,
    pub(super) cut: Sizes,
    pub(super) tree: Sizes,
}

/// Sizes of a text.
#[derive(Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) bytes: u64,
    pub(super) tokens: u64,
}

impl Sizes {
    pub(super) fn add(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.tokens += other.tokens;
    }

    pub(super) fn is_within(self, limits: Limits) -> bool {
        limits.bytes.is_none_or(|bytes| self.bytes <= bytes)
            && limits.tokens.is_none_or(|tokens| self.tokens <= tokens)
    }
}

impl Ladders {
    pub(super) fn new(
        files: Vec<ShownFile>,
        frame: Frame,
        limits: Limits,
        mut rungs: HashMap<(usize, usize), Rung>,
    ) -> Self {
        let mut views = Vec::new();
        let mut yielding = Vec::new();
        for (at, shown) in files.iter().enumerate() {
            let block = &shown.candidate.block;
            // A line that tells an error is as short as can be, and is not to be taken for a file that has been read.
            let is_shown = block.content.is_some();
            let has_detail = shown.detail != SummaryDetail::Words;
            let own: &[ViewMode] = if is_shown { aggregate::ladder(block.view, has_detail) } else { &[] };
            views.push(own);
            let top = rungs.entry((at, 0)).or_insert_with(|| Rung {
                block: block.clone(),
                bytes: render::block_text(block).len() as u64,
                tokens: None,
            });
            let bytes = top.bytes;
            yielding.push((!shown.candidate.rule.insists()).then_some(Yielding { views: own, bytes }));
        }
        // What is insisted on is there anyway: the others share what it leaves.
        let insisted: u64 =
            (0..files.len()).filter(|at| yielding[*at].is_none()).map(|at| rungs[&(at, 0)].bytes).sum();
        let left = room(limits).saturating_sub(frame.rest.bytes + insisted);
        let steps = aggregate::steps(&yielding, frame.tree.bytes, left);
        Self { files, views, steps, rungs, frame }
    }

    /// Returns where the files stand after so many steps.
    pub(super) fn descent(&self, steps: usize) -> Descent {
        self.after(self.steps[..steps].iter())
    }

    /// Returns the descent that leaves of each file its path, as far as it yields.
    pub(super) fn paths_alone(&self) -> Descent {
        self.after(self.steps.iter().filter(|step| !matches!(step, Step::Out(_))))
    }

    fn after<'a>(&self, steps: impl Iterator<Item = &'a Step>) -> Descent {
        let mut descent = Descent { rungs: vec![Some(0); self.files.len()], with_tree: true };
        for step in steps {
            match step {
                Step::Down(file) => descent.rungs[*file] = descent.rungs[*file].map(|rung| rung + 1),
                Step::WithoutTree => descent.with_tree = false,
                Step::Out(file) => descent.rungs[*file] = None,
            }
        }
        descent
    }

    /// Guesses after how many steps all fits, from the sizes that views usually have.
    pub(super) fn guess(&self, limits: Limits) -> usize {
        let room = room(limits);
        let usual = |file: usize, rung: usize| match rung.checked_sub(1).map(|rung| self.views[file][rung]) {
            None => self.rungs[&(file, 0)].bytes,
            Some(view) => usual_bytes(view).min(self.rungs[&(file, 0)].bytes),
        };
        let mut at = vec![0; self.files.len()];
        let files: u64 = (0..self.files.len()).map(|file| usual(file, 0)).sum();
        let mut bytes = self.frame.rest.bytes + self.frame.tree.bytes + files;
        for (taken, step) in self.steps.iter().enumerate() {
            if bytes <= room {
                return taken;
            }
            match step {
                Step::Down(file) => {
                    bytes = bytes + usual(*file, at[*file] + 1) - usual(*file, at[*file]);
                    at[*file] += 1;
                }
                Step::WithoutTree => bytes -= self.frame.tree.bytes,
                Step::Out(file) => bytes -= usual(*file, at[*file]),
            }
        }
        self.steps.len()
    }

    /// Returns the document's parts where its files stand so, with what became of each file and why; and the rungs.
    pub(super) fn taken(self, descent: &Descent, mut whole: Whole) -> (Whole, HashMap<(usize, usize), Rung>) {
        if !descent.with_tree {
            whole.remarks.without_tree = whole.plan.tree.take().is_some();
        }
        for (at, mut shown) in self.files.into_iter().enumerate() {
            let Some(rung) = descent.rungs[at] else {
                whole.remarks.left_out.push(left_out(&shown));
                shown.candidate.why = Some(FOR_WANT_OF_ROOM.to_owned());
                whole.crowded_out.push(shown);
                continue;
            };
            let held = self.rungs.get(&(at, rung)).filter(|held| held.block != shown.candidate.block);
            if let Some(held) = held {
                shown.candidate.block = held.block.clone();
                shown.detail = SummaryDetail::Words;
                shown.candidate.why = Some(match shown.candidate.why {
                    Some(why) => format!("{why}; then {FOR_WANT_OF_ROOM}"),
                    None => FOR_WANT_OF_ROOM.to_owned(),
                });
            }
            whole.files.push(shown);
        }
        whole.remarks.left_out.sort_by(|a, b| a.path.cmp(&b.path));
        (whole, self.rungs)
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

/// Returns about how many bytes a document may have.
fn room(limits: Limits) -> u64 {
    let bytes = limits.bytes.unwrap_or(u64::MAX);
    bytes.min(limits.tokens.map_or(u64::MAX, |tokens| tokens.saturating_mul(BYTES_A_TOKEN)))
}

/// Returns about how many bytes a file's block has in a view.
const fn usual_bytes(view: ViewMode) -> u64 {
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
