//! The input of the selection, and its result.

use super::bound::{BoundInputs, value_bound};
use crate::model::Tier;

/// The parts of a budget, in the order in which they are filled: unused tokens go to the next part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackPart {
    Bodies,
    Signatures,
    Names,
    Paths,
}

impl PackPart {
    pub(super) const COUNT: usize = 4;
    pub(super) const ALL: [Self; Self::COUNT] = [Self::Bodies, Self::Signatures, Self::Names, Self::Paths];

    /// Returns the value per token of this part, for equal scores. A name says less than a signature; the numbers only
    /// matter when parts compete for the remaining tokens.
    pub(super) const fn weight(self) -> f64 {
        match self {
            Self::Bodies => 1.0,
            Self::Signatures => 0.5,
            Self::Names => 0.25,
            Self::Paths => 0.05,
        }
    }
}

/// The division of a budget in thousandths, and the form of names rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackShares {
    /// For bodies.
    pub bodies: u64,
    /// For signatures of symbols whose bodies are not shown, and for summaries.
    pub signatures: u64,
    /// For rows of names.
    pub names: u64,
    /// For paths in the tree.
    pub paths: u64,
    /// The initial number of names in a row. A row grows if tokens are left.
    pub row_names: usize,
}

/// The tokens with which rows of two names show most of the files that a task needs, whatever the budget. With 900,
/// commits of five repositories had 7 % fewer of their files shown at 8,000 tokens, and issues 1 % more of their lines.
const USEFUL_NAME_TOKENS: u64 = 1_600;

impl PackShares {
    /// Returns the shares for a tier. `is_guided` means that a task or a focus makes the first ranks worth showing with
    /// their bodies; without either, breadth is worth more than depth.
    ///
    /// A name costs a fifth of a signature, and is as easy to find. With several times as much for signatures and
    /// summaries, and rows of one or two names, documents of 8,000 tokens named 0.10 to 0.26 fewer of the symbols that
    /// the next commit edits (docs/benchmarks-documents.md). An orchestrator gets more about what files are for.
    pub fn for_tier(tier: Option<Tier>, is_guided: bool, budget: u64) -> Self {
        match (tier, is_guided) {
            (Some(Tier::Orchestrator), true) => {
                Self { bodies: 200, signatures: 200, names: 560, paths: 40, row_names: 3 }
            }
            (Some(Tier::Orchestrator), false) => {
                Self { bodies: 150, signatures: 200, names: 610, paths: 40, row_names: 3 }
            }
            (Some(Tier::TechLead), true) => {
                Self { bodies: 300, signatures: 60, names: 600, paths: 40, row_names: 3 }
            }
            (Some(Tier::TechLead), false) => {
                Self { bodies: 200, signatures: 60, names: 700, paths: 40, row_names: 3 }
            }
            (Some(Tier::Worker | Tier::Qa) | None, true) => {
                let names = (USEFUL_NAME_TOKENS * 1000 / budget.max(1)).clamp(100, 200);
                Self { bodies: 880 - names, signatures: 100, names, paths: 20, row_names: 2 }
            }
            (Some(Tier::Worker | Tier::Qa) | None, false) => {
                Self { bodies: 280, signatures: 100, names: 600, paths: 20, row_names: 3 }
            }
        }
    }

    pub(super) const fn thousandths(&self, part: PackPart) -> u64 {
        match part {
            PackPart::Bodies => self.bodies,
            PackPart::Signatures => self.signatures,
            PackPart::Names => self.names,
            PackPart::Paths => self.paths,
        }
    }
}

/// What decides how a file is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileDemand {
    /// Its rank, and the ranks of its symbols.
    Ranked,
    /// A person chose a view of this many tokens. It precedes everything that is ranked; if it does not fit, the file
    /// is shown by its rank.
    Curated(u64),
    /// The request or a binding rule: the view, of this many tokens, is shown even if it exceeds the budget.
    Binding(u64),
    /// The file is shown already: it needs neither a row nor a path, and gets a block for what is worth adding.
    Shown,
}

/// A file that may be shown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackableFile {
    /// Its value to the reader; never negative.
    pub score: f64,
    /// What decides how it is shown.
    pub demand: FileDemand,
    /// When its bodies are considered.
    pub turn: BodyTurn,
}

/// When the bodies of a file are considered. A changelog or a style sheet may be longer than the whole program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyTurn {
    /// By their scores, without a limit.
    First,
    /// By their scores, but limited to a share of the budget until all others were considered.
    Shared,
    /// As [`Self::Shared`], after those of all other files.
    Last,
}

impl BodyTurn {
    /// The number of passes over all symbols after which every file was considered.
    pub(super) const PASSES: usize = 3;

    /// Returns the maximum tokens of the file's bodies in a pass, counted from 0; `share` is the limit before others
    /// were considered.
    pub(super) const fn cap(self, pass: usize, share: u64) -> u64 {
        match (self, pass) {
            (Self::First, _) | (Self::Shared, 1..) | (Self::Last, 2..) => u64::MAX,
            (Self::Shared, _) | (Self::Last, 1) => share,
            (Self::Last, _) => 0,
        }
    }
}

/// A symbol, or a range of lines that belongs to none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackSymbol {
    /// The index of its file.
    pub file: usize,
    /// Its value to the reader; never negative.
    pub score: f64,
    /// Whether it has a body that may be shown.
    pub has_body: bool,
    /// Whether it has a signature that may be shown.
    pub has_signature: bool,
    /// Whether the task points to lines of it. If so, the cost of its file's block does not lower its value.
    pub is_pointed_to: bool,
}

/// The input of a selection.
#[derive(Debug, Clone, Copy)]
pub struct PackInput<'a> {
    /// The maximum tokens of all pieces together.
    pub budget: u64,
    /// How the budget is divided.
    pub shares: PackShares,
    /// The files, by rank.
    pub files: &'a [PackableFile],
    /// The symbols of those files whose symbols have scores, in any order.
    pub symbols: &'a [PackSymbol],
    /// Whether to collect the data for an upper bound.
    pub has_bound: bool,
    /// The maximum tokens of signatures in a block without a body, where such a block is a summary.
    pub summary_room: Option<u64>,
}

/// The tokens of pieces. They are requested when a piece's turn comes, then often again: implementations should cache
/// them.
pub trait PackCosts {
    /// Returns the tokens of a file's block before any symbol is shown in it: its heading, its fence, and its summary
    /// where the tier shows summaries, which has at most 150 tokens.
    fn block(&mut self, file: usize) -> u64;

    /// Returns the tokens of a symbol's body, with the marks of the gaps around it.
    fn body(&mut self, symbol: usize) -> u64;

    /// Returns the tokens of a symbol's signature, with the marks of the gaps around it.
    fn signature(&mut self, symbol: usize) -> u64;

    /// Returns the tokens of the row that names `count` symbols of a file, or fewer if it has no more.
    fn names(&mut self, file: usize, count: usize) -> u64;

    /// Returns the tokens of a file's line in the tree.
    fn path(&mut self, file: usize) -> u64;
}

/// How a file is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PackedView {
    /// In the view that a person or the request chose, or as it is shown already.
    Given,
    /// As a block with these symbols.
    Block {
        /// The symbols whose bodies are shown, ascending.
        bodies: Vec<usize>,
        /// The symbols whose signatures are shown, ascending.
        signatures: Vec<usize>,
        /// Whether every symbol of the file is shown with its body, so that its text may replace an excerpt.
        is_whole: bool,
    },
    /// By a row of this many names.
    Names(usize),
    /// By a line in the tree.
    Path,
}

impl PackedView {
    /// Returns the view with `symbols` in place of their positions in this list; `None` if it is not a block.
    pub fn with_symbols(self, symbols: &[usize]) -> Option<Self> {
        let Self::Block { bodies, signatures, is_whole } = self else { return None };
        let named = |some: Vec<usize>| some.into_iter().map(|at| symbols[at]).collect();
        Some(Self::Block { bodies: named(bodies), signatures: named(signatures), is_whole })
    }
}

/// A file that was selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedFile {
    /// Its index.
    pub file: usize,
    /// How it is shown.
    pub view: PackedView,
}

/// The tokens of the selected pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PartTokens {
    /// Views that a person or the request chose.
    pub given: u64,
    /// Bodies, and the blocks that were opened for them.
    pub bodies: u64,
    /// Signatures, and the blocks that were opened for them.
    pub signatures: u64,
    /// Rows of names.
    pub names: u64,
    /// Lines of the tree.
    pub paths: u64,
}

impl PartTokens {
    /// Returns the tokens of all parts.
    pub const fn total(&self) -> u64 {
        self.given + self.bodies + self.signatures + self.names + self.paths
    }

    pub(super) const fn part_mut(&mut self, part: PackPart) -> &mut u64 {
        match part {
            PackPart::Bodies => &mut self.bodies,
            PackPart::Signatures => &mut self.signatures,
            PackPart::Names => &mut self.names,
            PackPart::Paths => &mut self.paths,
        }
    }
}

/// The result of a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Packing {
    /// The files that are shown, by rank.
    pub files: Vec<PackedFile>,
    /// Their tokens.
    pub tokens: PartTokens,
    /// The maximum tokens of each part: its share, and what the parts before it left.
    pub rooms: [u64; PackPart::COUNT],
    /// The value of the selection: scores times tokens.
    pub value: f64,
    /// The data for the bound; `None` if it was not requested.
    pub(super) choices: Option<BoundInputs>,
}

impl Packing {
    /// Returns an upper bound for the value of any selection within the limits. This takes longer than selecting.
    pub fn bound(&self) -> f64 {
        self.choices.as_ref().map_or(self.value, |choices| value_bound(choices, self.value).max(self.value))
    }

    /// Returns by how many percent at most the selection is worse than the best possible one, rounded up.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 100")]
    pub fn shortfall_percent(&self) -> u32 {
        let bound = self.bound();
        if bound <= self.value || bound <= 0.0 {
            return 0;
        }
        // A rounding error in the last digits must not count as a percent.
        ((1.0 - self.value / bound) * 100.0 - 1e-6).ceil().clamp(0.0, 100.0) as u32
    }
}

/// Returns a score in usable form: 0 unless it is positive and finite.
pub(super) fn sound_score(score: f64) -> f64 {
    if score.is_finite() && 0.0 < score { score } else { 0.0 }
}

/// Returns a number of tokens as a float.
#[expect(clippy::cast_precision_loss, reason = "tokens of a document, which f64 holds exactly")]
pub(super) const fn factor(tokens: u64) -> f64 {
    tokens as f64
}
