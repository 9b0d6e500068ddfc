//! Orders pieces by their value per token.
//!
//! The value of a piece is its score times its tokens, so its value per token is its score, reduced by the cost of the
//! block if it is the first piece of a file; that cost is ignored if the task points to the piece. The score is
//! therefore an upper bound, and the tokens of a piece are only requested when no piece with known tokens is worth
//! more: for a few hundred of 80,000 files.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::problem::{PackCosts, PackInput, PackPart, PackSymbol, factor, sound_score};

/// Returns the tokens of a symbol's body or signature.
pub(super) fn symbol_tokens(costs: &mut dyn PackCosts, part: PackPart, symbol: usize) -> u64 {
    if part == PackPart::Bodies { costs.body(symbol) } else { costs.signature(symbol) }
}

/// A piece whose tokens are known; the greatest is the best.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PricedSymbol {
    /// The bits of its value per token. As the value is not negative, the bits sort like the number.
    density: u64,
    place: Reverse<usize>,
    is_open: bool,
}

/// The symbols of one part, best first.
pub(super) struct SymbolQueue {
    part: PackPart,
    /// The symbols that have such a piece, by score.
    order: Vec<usize>,
    /// The number of them whose tokens were requested.
    asked: usize,
    priced: BinaryHeap<PricedSymbol>,
    /// The places of those that were priced while their files had no block.
    waiting: FxHashMap<usize, Vec<usize>>,
    skipped: Vec<usize>,
}

impl SymbolQueue {
    pub(super) fn new(input: &PackInput<'_>, part: PackPart) -> Self {
        let has_piece = |at: &usize| {
            let symbol = &input.symbols[*at];
            if part == PackPart::Bodies { symbol.has_body } else { symbol.has_signature }
        };
        let mut order: Vec<usize> = (0..input.symbols.len()).filter(has_piece).collect();
        let score = |at: usize| sound_score(input.symbols[at].score);
        order.sort_by(|a, b| score(*b).total_cmp(&score(*a)).then(a.cmp(b)));
        let (priced, waiting, skipped) = (BinaryHeap::new(), FxHashMap::default(), Vec::new());
        Self { part, order, asked: 0, priced, waiting, skipped }
    }

    /// Returns the symbol with the highest value per token. `is_open` returns whether a file has a block.
    pub(super) fn pop(
        &mut self,
        input: &PackInput<'_>,
        costs: &mut dyn PackCosts,
        is_open: &dyn Fn(usize) -> bool,
    ) -> Option<usize> {
        loop {
            let best = self.priced.peek().map(|best| best.density);
            let next = self.frontier(input);
            match (best, next) {
                (None, None) => return None,
                (Some(best), next) if next.is_none_or(|next| next.to_bits() <= best) => {
                    let popped = self.priced.pop()?;
                    let symbol = self.order[popped.place.0];
                    // A symbol that was priced including its file's block was queued again when the file got one.
                    if popped.is_open == is_open(input.symbols[symbol].file) {
                        return Some(symbol);
                    }
                }
                (_, _) => {
                    let place = self.asked;
                    self.asked += 1;
                    self.price(place, input, costs, is_open);
                }
            }
        }
    }

    /// Puts skipped symbols back, at their current prices.
    pub(super) fn restore(
        &mut self,
        input: &PackInput<'_>,
        costs: &mut dyn PackCosts,
        is_open: &dyn Fn(usize) -> bool,
    ) {
        for place in std::mem::take(&mut self.skipped) {
            self.price(place, input, costs, is_open);
        }
    }

    pub(super) fn skip(&mut self, symbol: usize, input: &PackInput<'_>) {
        let score = |at: usize| sound_score(input.symbols[at].score);
        let found = self
            .order
            .binary_search_by(|other| score(symbol).total_cmp(&score(*other)).then(other.cmp(&symbol)));
        self.skipped.extend(found.ok());
    }

    /// Prices the symbols of a file again that has got a block.
    pub(super) fn open(&mut self, file: usize, input: &PackInput<'_>, costs: &mut dyn PackCosts) {
        for place in self.waiting.remove(&file).unwrap_or_default() {
            self.price(place, input, costs, &|_| true);
        }
    }

    /// Returns the maximum value per token of the symbols whose tokens were not requested.
    pub(super) fn frontier(&self, input: &PackInput<'_>) -> Option<f64> {
        let symbol = self.order.get(self.asked)?;
        Some(sound_score(input.symbols[*symbol].score) * self.part.weight())
    }

    /// Returns the symbols whose tokens were requested.
    pub(super) fn asked(&self) -> &[usize] {
        &self.order[..self.asked]
    }

    fn price(
        &mut self,
        place: usize,
        input: &PackInput<'_>,
        costs: &mut dyn PackCosts,
        is_open: &dyn Fn(usize) -> bool,
    ) {
        let symbol = self.order[place];
        let file = input.symbols[symbol].file;
        let is_open = is_open(file);
        let tokens = symbol_tokens(costs, self.part, symbol);
        let block = if is_open { 0 } else { costs.block(file) };
        let PackSymbol { score, is_pointed_to, .. } = input.symbols[symbol];
        let share = if is_pointed_to { 1.0 } else { factor(tokens) / factor((tokens + block).max(1)) };
        let density = sound_score(score) * self.part.weight() * share;
        if !is_open {
            self.waiting.entry(file).or_default().push(place);
        }
        self.priced.push(PricedSymbol { density: density.to_bits(), place: Reverse(place), is_open });
    }
}
