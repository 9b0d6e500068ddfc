//! The selection: part by part, highest value per token first, then whatever fits into the remaining tokens.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bound::{BoundInputs, PricedChoice};
use super::order::{SymbolQueue, symbol_tokens};
use super::problem::{
    BodyTurn, FileDemand, PackCosts, PackInput, PackPart, PackSymbol, PackableFile, PackedFile, PackedView,
    Packing, PartTokens, factor, sound_score,
};

/// The number of consecutive pieces that do not fit after which a part counts as full.
const MAX_MISSES: usize = 25;
/// The same for the pass that fills the rest: it looks further, because any small piece will do.
const MAX_MISSES_IN_REST: usize = 400;
/// A file takes at most this, or 1/`FILE_SHARE` of the budget if that is more, until all others were considered.
const MIN_FILE_TOKENS: u64 = 200;
const FILE_SHARE: u64 = 24;
/// How often a row of names may double; each time, the added names are worth a quarter.
pub(super) const ROW_GROWTHS: usize = 3;
const GROWTH_WORTH: f64 = 0.25;

/// Selects what is shown of which file. The same input gives the same selection.
pub fn pack(input: &PackInput<'_>, costs: &mut dyn PackCosts) -> Packing {
    let mut selection = PackSelection::new(input, costs);
    selection.take_given();
    let left = input.budget.saturating_sub(selection.tokens.given);
    let mut spill = 0;
    for part in PackPart::ALL {
        let room = left.saturating_mul(input.shares.thousandths(part)) / 1000 + spill;
        selection.rooms[part as usize] = room;
        selection.fill(part, PackRound::Share);
        spill = room.saturating_sub(*selection.tokens.part_mut(part));
    }
    for part in PackPart::ALL {
        selection.fill(part, PackRound::Rest);
    }
    selection.finish()
}

/// The limit that applies to a piece.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PackRound {
    /// The share of its part.
    Share,
    /// All remaining tokens.
    Rest,
}

impl PackRound {
    const fn max_misses(self) -> usize {
        match self {
            Self::Share => MAX_MISSES,
            Self::Rest => MAX_MISSES_IN_REST,
        }
    }
}

/// Whether a symbol was taken.
enum FitOutcome {
    Taken,
    NoRoom,
    /// It is larger than the limit for one piece or one file.
    BeyondLimit,
}

/// How a file is shown so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SelectedView {
    Given,
    /// Unchanged, as it is already shown.
    Shown,
    /// As a block with the given tokens of signatures and of bodies.
    Block {
        signatures: u64,
        bodies: u64,
    },
    /// By a row that has grown this many times.
    Row {
        growth: usize,
    },
    Path,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SymbolDepth {
    Hidden,
    Signature,
    Body,
}

struct PackSelection<'i, 'c> {
    input: &'i PackInput<'i>,
    costs: &'c mut dyn PackCosts,
    queues: [SymbolQueue; 2],
    /// `None` for files that are not shown.
    files: Vec<Option<SelectedView>>,
    symbols: Vec<SymbolDepth>,
    tokens: PartTokens,
    rooms: [u64; PackPart::COUNT],
    value: f64,
    /// For how many files the tokens of a row were requested, and of a path.
    ranks_asked: [usize; 2],
}

impl<'i, 'c> PackSelection<'i, 'c> {
    fn new(input: &'i PackInput<'i>, costs: &'c mut dyn PackCosts) -> Self {
        Self {
            input,
            costs,
            queues: [PackPart::Bodies, PackPart::Signatures].map(|part| SymbolQueue::new(input, part)),
            files: vec![None; input.files.len()],
            symbols: vec![SymbolDepth::Hidden; input.symbols.len()],
            tokens: PartTokens::default(),
            rooms: [0; PackPart::COUNT],
            value: 0.0,
            ranks_asked: [0; 2],
        }
    }

    /// Takes what a person or the request has chosen: binding views in any case, the others if they fit.
    fn take_given(&mut self) {
        for (file, packable) in self.input.files.iter().enumerate() {
            match packable.demand {
                FileDemand::Binding(tokens) => {
                    self.tokens.given += tokens;
                    self.files[file] = Some(SelectedView::Given);
                }
                FileDemand::Shown => self.files[file] = Some(SelectedView::Shown),
                FileDemand::Curated(_) | FileDemand::Ranked => {}
            }
        }
        for (file, packable) in self.input.files.iter().enumerate() {
            if let FileDemand::Curated(tokens) = packable.demand
                && self.tokens.given.saturating_add(tokens) <= self.input.budget
            {
                self.tokens.given += tokens;
                self.files[file] = Some(SelectedView::Given);
            }
        }
    }

    fn fill(&mut self, part: PackPart, round: PackRound) {
        match part {
            PackPart::Bodies => {
                let share = self.file_cap();
                for pass in 0..BodyTurn::PASSES {
                    self.fill_with_symbols(part, round, &|file| file.turn.cap(pass, share));
                }
            }
            PackPart::Signatures => {
                let cap = self.file_cap();
                self.fill_with_symbols(part, round, &|_| cap);
                // Now every file was considered.
                self.fill_with_symbols(part, round, &|_| u64::MAX);
            }
            PackPart::Names => self.fill_with_rows(round),
            PackPart::Paths => self.fill_with_paths(round),
        }
    }

    /// Returns the maximum tokens for a piece.
    fn room(&mut self, part: PackPart, round: PackRound) -> u64 {
        let left = self.input.budget.saturating_sub(self.tokens.total());
        match round {
            PackRound::Share => {
                left.min(self.rooms[part as usize].saturating_sub(*self.tokens.part_mut(part)))
            }
            PackRound::Rest => left,
        }
    }

    fn file_cap(&self) -> u64 {
        MIN_FILE_TOKENS.max(self.input.budget / FILE_SHARE)
    }

    fn fill_with_symbols(&mut self, part: PackPart, round: PackRound, cap: &dyn Fn(&PackableFile) -> u64) {
        let most = round.max_misses();
        let mut misses = 0;
        let Self { queues, input, costs, files, .. } = self;
        queues[part as usize].restore(input, *costs, &|file| is_block(files, file));
        while misses <= most && 0 < self.room(part, round) {
            let Self { queues, input, costs, files, .. } = self;
            let Some(symbol) = queues[part as usize].pop(input, *costs, &|file| is_block(files, file)) else {
                break;
            };
            if self.is_shown(part, symbol) {
                continue;
            }
            let cap = cap(&self.input.files[self.input.symbols[symbol].file]);
            match self.take_symbol(part, symbol, round, cap) {
                FitOutcome::Taken => misses = 0,
                FitOutcome::NoRoom => {
                    misses += 1;
                    self.queues[part as usize].skip(symbol, self.input);
                }
                FitOutcome::BeyondLimit => self.queues[part as usize].skip(symbol, self.input),
            }
        }
    }

    /// Returns whether a symbol is shown at this depth or deeper, or its file has a chosen view.
    fn is_shown(&self, part: PackPart, symbol: usize) -> bool {
        let is_given = self.files[self.input.symbols[symbol].file] == Some(SelectedView::Given);
        is_given
            || match self.symbols[symbol] {
                SymbolDepth::Hidden => false,
                SymbolDepth::Signature => part == PackPart::Signatures,
                SymbolDepth::Body => true,
            }
    }

    /// Takes a body or a signature if it fits.
    fn take_symbol(&mut self, part: PackPart, symbol: usize, round: PackRound, cap: u64) -> FitOutcome {
        let file = self.input.symbols[symbol].file;
        let own = symbol_tokens(self.costs, part, symbol);
        let is_open = is_block(&self.files, file);
        let tokens = own + if is_open { 0 } else { self.costs.block(file) };
        let (signatures, bodies) = match self.files[file] {
            Some(SelectedView::Block { signatures, bodies }) => (signatures, bodies),
            Some(_) | None => (0, 0),
        };
        let is_too_large = match part {
            PackPart::Bodies => {
                let cap = if self.input.symbols[symbol].is_pointed_to { u64::MAX } else { cap };
                self.input.budget / 2 < own && 0 < self.tokens.bodies || cap < bodies.saturating_add(own)
            }
            PackPart::Signatures => {
                let of_summary = self.input.summary_room.filter(|_| bodies == 0);
                let of_summary = of_summary.map_or(u64::MAX, |room| room + self.costs.block(file));
                cap.min(of_summary) < signatures + tokens
            }
            PackPart::Names | PackPart::Paths => false,
        };
        if is_too_large {
            return FitOutcome::BeyondLimit;
        }
        if self.room(part, round) < tokens {
            return FitOutcome::NoRoom;
        }
        if !is_open {
            self.open(file, part);
        }
        let score = sound_score(self.input.symbols[symbol].score);
        if self.symbols[symbol] == SymbolDepth::Signature {
            let signature = self.costs.signature(symbol);
            self.tokens.signatures -= signature;
            self.value -= score * factor(signature) * PackPart::Signatures.weight();
        }
        self.symbols[symbol] =
            if part == PackPart::Bodies { SymbolDepth::Body } else { SymbolDepth::Signature };
        if let Some(SelectedView::Block { signatures, bodies }) = &mut self.files[file] {
            if part == PackPart::Bodies {
                *bodies += own;
            } else {
                *signatures += tokens;
            }
        }
        *self.tokens.part_mut(part) += own;
        self.value += score * factor(own) * part.weight();
        FitOutcome::Taken
    }

    /// Gives a file a block, in place of its row or path.
    fn open(&mut self, file: usize, part: PackPart) {
        match self.files[file] {
            Some(SelectedView::Row { growth }) => {
                let tokens = self.row(file, growth);
                self.tokens.names -= tokens;
                self.value -= self.row_value(file, growth);
            }
            Some(SelectedView::Path) => {
                let tokens = self.costs.path(file);
                self.tokens.paths -= tokens;
                self.value -= self.path_value(file);
            }
            Some(SelectedView::Given | SelectedView::Shown | SelectedView::Block { .. }) | None => {}
        }
        self.files[file] = Some(SelectedView::Block { signatures: 0, bodies: 0 });
        *self.tokens.part_mut(part) += self.costs.block(file);
        let Self { queues, input, costs, .. } = self;
        for queue in queues {
            queue.open(file, input, *costs);
        }
    }

    /// Returns the tokens of a row that has grown this many times.
    fn row(&mut self, file: usize, growth: usize) -> u64 {
        self.costs.names(file, self.input.shares.row_names.max(1) << growth)
    }

    fn score(&self, file: usize) -> f64 {
        sound_score(self.input.files[file].score)
    }

    fn row_value(&mut self, file: usize, growth: usize) -> f64 {
        let mut value = 0.0;
        let (mut worth, mut before) = (self.score(file) * PackPart::Names.weight(), 0);
        for growth in 0..=growth {
            let tokens = self.row(file, growth);
            value += worth * factor(tokens.saturating_sub(before));
            before = before.max(tokens);
            worth *= GROWTH_WORTH;
        }
        value
    }

    fn path_value(&mut self, file: usize) -> f64 {
        self.score(file) * PackPart::Paths.weight() * factor(self.costs.path(file))
    }

    /// Gives files rows by rank; a row grows as soon as that is worth more than the next file's row.
    fn fill_with_rows(&mut self, round: PackRound) {
        let most = round.max_misses();
        let cap = if round == PackRound::Share { self.file_cap() } else { u64::MAX };
        let mut growing: BinaryHeap<(u64, Reverse<usize>, usize)> = BinaryHeap::new();
        let (mut next, mut misses) = (0, 0);
        while misses <= most && 0 < self.room(PackPart::Names, round) {
            while next < self.input.files.len()
                && !matches!(self.files[next], None | Some(SelectedView::Path))
            {
                if let Some(SelectedView::Row { growth }) = self.files[next] {
                    growing.extend(self.growth(next, growth));
                }
                next += 1;
            }
            let rank = (next < self.input.files.len()).then(|| self.score(next).to_bits());
            let is_growth = growing.peek().is_some_and(|(worth, ..)| rank.is_none_or(|rank| rank < *worth));
            let grown = if is_growth { growing.pop() } else { None };
            let (file, growth) = match grown {
                Some((_, Reverse(file), growth)) => (file, growth),
                None if rank.is_some() => (next, 0),
                None => break,
            };
            if growth == 0 {
                next += 1;
                self.ranks_asked[0] = self.ranks_asked[0].max(next);
            }
            if self.take_row(file, growth, round, cap) {
                misses = 0;
                growing.extend(self.growth(file, growth));
            } else if self.row(file, growth) <= self.input.budget {
                // Rows larger than the whole budget are not counted: they say nothing about the next ones.
                misses += 1;
            }
        }
    }

    /// Returns the value of the next growth of a row, the file, and how often its row has then grown.
    fn growth(&mut self, file: usize, growth: usize) -> Option<(u64, Reverse<usize>, usize)> {
        let next = growth + 1;
        let is_longer = next <= ROW_GROWTHS && self.row(file, growth) < self.row(file, next);
        let times = i32::try_from(next).unwrap_or(i32::MAX);
        is_longer.then(|| ((self.score(file) * GROWTH_WORTH.powi(times)).to_bits(), Reverse(file), next))
    }

    fn take_row(&mut self, file: usize, growth: usize, round: PackRound, cap: u64) -> bool {
        let tokens = self.row(file, growth);
        let before = match self.files[file] {
            Some(SelectedView::Row { growth }) => Some(growth),
            Some(_) | None => None,
        };
        let already = before.map_or(0, |growth| self.row(file, growth));
        if cap < tokens || self.room(PackPart::Names, round) < tokens.saturating_sub(already) {
            return false;
        }
        if self.files[file] == Some(SelectedView::Path) {
            self.tokens.paths -= self.costs.path(file);
            self.value -= self.path_value(file);
        }
        self.value -= before.map_or(0.0, |growth| self.row_value(file, growth));
        self.value += self.row_value(file, growth);
        self.tokens.names = self.tokens.names + tokens - already;
        self.files[file] = Some(SelectedView::Row { growth });
        true
    }

    fn fill_with_paths(&mut self, round: PackRound) {
        let most = round.max_misses();
        let mut misses = 0;
        for file in 0..self.input.files.len() {
            if most < misses || self.room(PackPart::Paths, round) == 0 {
                break;
            }
            self.ranks_asked[1] = self.ranks_asked[1].max(file + 1);
            if self.files[file].is_some() {
                continue;
            }
            let tokens = self.costs.path(file);
            if self.room(PackPart::Paths, round) < tokens {
                misses += 1;
                continue;
            }
            misses = 0;
            self.tokens.paths += tokens;
            self.value += self.path_value(file);
            self.files[file] = Some(SelectedView::Path);
        }
    }

    fn finish(mut self) -> Packing {
        let choices = self.input.has_bound.then(|| self.choices());
        let mut shown = vec![(Vec::new(), Vec::new(), true); self.files.len()];
        for (at, (symbol, state)) in self.input.symbols.iter().zip(&self.symbols).enumerate() {
            let (bodies, signatures, is_whole) = &mut shown[symbol.file];
            match state {
                SymbolDepth::Body => bodies.push(at),
                SymbolDepth::Signature => signatures.push(at),
                SymbolDepth::Hidden => {}
            }
            *is_whole &= *state == SymbolDepth::Body;
        }
        let files = self.files.iter().zip(shown).enumerate().filter_map(|(file, (view, symbols))| {
            let view = match (*view)? {
                SelectedView::Given | SelectedView::Shown => PackedView::Given,
                SelectedView::Block { .. } => {
                    let (bodies, signatures, is_whole) = symbols;
                    PackedView::Block { bodies, signatures, is_whole }
                }
                SelectedView::Row { growth } => {
                    PackedView::Names(self.input.shares.row_names.max(1) << growth)
                }
                SelectedView::Path => PackedView::Path,
            };
            Some(PackedFile { file, view })
        });
        let files = files.collect();
        Packing { files, tokens: self.tokens, rooms: self.rooms, value: self.value, choices }
    }

    /// Returns the choices whose tokens are known.
    fn choices(&mut self) -> BoundInputs {
        // The rows of files with a block were not needed so far. They are few, and must not count as unknown.
        while matches!(
            self.files.get(self.ranks_asked[0]),
            Some(Some(SelectedView::Given | SelectedView::Shown | SelectedView::Block { .. }))
        ) {
            self.ranks_asked[0] += 1;
        }
        while matches!(self.files.get(self.ranks_asked[1]), Some(Some(_))) {
            self.ranks_asked[1] += 1;
        }
        let frontier_of = |asked: usize, part: PackPart| {
            let score = self.input.files.get(asked).map_or(0.0, |file| sound_score(file.score));
            score * part.weight()
        };
        let frontiers = [
            self.queues[0].frontier(self.input).unwrap_or(0.0),
            self.queues[1].frontier(self.input).unwrap_or(0.0),
            frontier_of(self.ranks_asked[0], PackPart::Names),
            frontier_of(self.ranks_asked[1], PackPart::Paths),
        ];
        let left = self.input.budget.saturating_sub(self.tokens.given);
        let best_symbol =
            self.input.symbols.iter().map(|symbol| sound_score(symbol.score)).fold(0.0, f64::max);
        let best_file = self.input.files.iter().map(|file| sound_score(file.score)).fold(0.0, f64::max);
        let best = [best_symbol, best_symbol, best_file, best_file];
        let highest = std::array::from_fn(|part| best[part] * PackPart::ALL[part].weight());
        let mut inputs = BoundInputs::new(self.rooms, left, frontiers, highest);
        for part in [PackPart::Bodies, PackPart::Signatures] {
            for symbol in self.queues[part as usize].asked().to_vec() {
                self.add_symbol(&mut inputs, part, symbol);
            }
        }
        for file in 0..self.ranks_asked[0].max(self.ranks_asked[1]) {
            self.add_breadth(&mut inputs, file);
        }
        inputs
    }

    fn add_symbol(&mut self, inputs: &mut BoundInputs, part: PackPart, symbol: usize) {
        let PackSymbol { file, score, .. } = self.input.symbols[symbol];
        let tokens = symbol_tokens(self.costs, part, symbol);
        let is_too_large = part == PackPart::Bodies && self.input.budget / 2 < tokens;
        if is_too_large || self.files[file] == Some(SelectedView::Given) {
            return;
        }
        let choices = inputs.files.entry(file).or_default();
        choices.block = self.costs.block(file);
        let value = sound_score(score) * factor(tokens) * part.weight();
        choices.symbols.entry(symbol).or_default()[part as usize] = Some(PricedChoice { tokens, value });
    }

    fn add_breadth(&mut self, inputs: &mut BoundInputs, file: usize) {
        if matches!(self.files[file], Some(SelectedView::Given | SelectedView::Shown)) {
            return;
        }
        if file < self.ranks_asked[0] {
            for growth in 0..=ROW_GROWTHS {
                let row =
                    PricedChoice { tokens: self.row(file, growth), value: self.row_value(file, growth) };
                inputs.files.entry(file).or_default().rows.push(row);
            }
        }
        if file < self.ranks_asked[1] {
            let path = PricedChoice { tokens: self.costs.path(file), value: self.path_value(file) };
            inputs.files.entry(file).or_default().path = Some(path);
        }
    }
}

/// Returns whether a file has a block.
const fn is_block(files: &[Option<SelectedView>], file: usize) -> bool {
    matches!(files[file], Some(SelectedView::Block { .. }))
}
