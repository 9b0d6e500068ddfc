//! The pieces in the order of their value per token.
//!
//! The value of a piece is its score times its tokens, so that its value per token is its score, but for the block that
//! the first piece of a file has to open; that counts for nothing where the task points to the piece. Its score is
//! therefore what a piece can be worth at most, and its tokens are asked for only when no piece whose tokens are known is
//! worth more: of 80,000 files those of a few hundred are.

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
    /// The bits of its value per token, which is not negative: they sort as the number does.
    density: u64,
    place: Reverse<usize>,
    is_open: bool,
}

/// The symbols of one part, the best first.
pub(super) struct SymbolQueue {
    part: PackPart,
    /// The symbols that have such a piece, by score.
    order: Vec<usize>,
    /// How many of them were asked for their tokens.
    asked: usize,
    priced: BinaryHeap<PricedSymbol>,
    /// The places of those that were asked for while their files had no block.
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

    /// Returns the next symbol and what a token of it is worth. `is_open` says whether a file has a block.
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
                    // One that was priced with the block of its file is in the queue again since the file has one.
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

    /// Puts back what was skipped, and prices anew what waited for the block of a file.
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

    /// Prices the symbols of a file anew that now has a block.
    pub(super) fn open(&mut self, file: usize, input: &PackInput<'_>, costs: &mut dyn PackCosts) {
        for place in self.waiting.remove(&file).unwrap_or_default() {
            self.price(place, input, costs, &|_| true);
        }
    }

    /// Returns what a token of the best symbol is worth whose tokens were not asked for.
    pub(super) fn frontier(&self, input: &PackInput<'_>) -> Option<f64> {
        let symbol = self.order.get(self.asked)?;
        Some(sound_score(input.symbols[*symbol].score) * self.part.weight())
    }

    /// Returns the symbols that were asked for their tokens.
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
