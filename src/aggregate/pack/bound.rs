//! An upper bound for the value of any selection.
//!
//! By Lagrangian relaxation: every part of the budget gets a price per token. At these prices, each file is shown in
//! the way that is most valuable by itself, regardless of the limits; that value plus the price of the limits is at
//! least the value of any selection within the limits. The prices are then varied to make this bound small. It is the
//! value of the fractional relaxation, except that the choice between the views of a file is not relaxed.
//!
//! A piece whose tokens are not known is worth at most its frontier per token. No price is below that, so that such a
//! piece would never be chosen and need not be known.

use std::collections::BTreeMap;

use super::problem::{PackPart, factor};

/// How often the prices are varied, if there are few choices.
const MAX_TRIES: usize = 240;
/// The maximum number of choices that are examined.
const MAX_WORK: usize = 400_000;
/// The number of prices of one part that are tried first, from the highest downwards.
const FIRST_TRIES: usize = 8;

/// The price of a token of each part, and a surcharge for any token.
type Prices = [f64; COMMON + 1];
const COMMON: usize = PackPart::COUNT;

/// A choice: its tokens and its value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PricedChoice {
    pub(super) tokens: u64,
    pub(super) value: f64,
}

/// The choices of one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct FileChoices {
    /// The tokens of its block.
    pub(super) block: u64,
    /// The bodies and the signatures of its symbols, by symbol.
    pub(super) symbols: BTreeMap<usize, [Option<PricedChoice>; 2]>,
    pub(super) rows: Vec<PricedChoice>,
    pub(super) path: Option<PricedChoice>,
}

/// The data that a bound is computed from.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct BoundInputs {
    rooms: [u64; PackPart::COUNT],
    /// The tokens that all parts may have together.
    room: u64,
    /// The maximum value per token of a piece whose tokens are not known.
    frontiers: [f64; PackPart::COUNT],
    /// The maximum value per token of any piece of a part.
    highest: [f64; PackPart::COUNT],
    pub(super) files: BTreeMap<usize, FileChoices>,
}

impl BoundInputs {
    pub(super) const fn new(
        rooms: [u64; PackPart::COUNT],
        room: u64,
        frontiers: [f64; PackPart::COUNT],
        highest: [f64; PackPart::COUNT],
    ) -> Self {
        Self { rooms, room, frontiers, highest, files: BTreeMap::new() }
    }

    /// Raises the prices to the frontiers.
    fn legal(&self, mut prices: Prices) -> Prices {
        let common = prices[COMMON].max(0.0);
        prices[COMMON] = common;
        for (price, frontier) in prices.iter_mut().zip(self.frontiers) {
            *price = price.max(frontier - common).max(0.0);
        }
        prices
    }

    /// Returns the bound at these prices, and what the best views leave of each limit: negative if they exceed it.
    fn at(&self, prices: &Prices) -> (f64, Prices) {
        let room = |part: usize| self.rooms.get(part).copied().unwrap_or(self.room);
        let mut left: Prices = std::array::from_fn(|part| factor(room(part)));
        let mut bound: f64 = left.iter().zip(prices).map(|(room, price)| room * price).sum();
        let full: [f64; PackPart::COUNT] = std::array::from_fn(|part| prices[part] + prices[COMMON]);
        for file in self.files.values() {
            let (gain, used) = file.best(&full);
            bound += gain;
            for part in 0..PackPart::COUNT {
                left[part] -= factor(used[part]);
                left[COMMON] -= factor(used[part]);
            }
        }
        (bound, left)
    }

    fn choices(&self) -> usize {
        self.files.values().map(|file| 1 + 2 * file.symbols.len() + file.rows.len()).sum()
    }
}

impl FileChoices {
    /// Returns the value of the file's best view minus its price, and the tokens that the view takes of each part.
    fn best(&self, prices: &[f64; PackPart::COUNT]) -> (f64, [u64; PackPart::COUNT]) {
        let gain = |choice: &PricedChoice, price: f64| choice.value - price * factor(choice.tokens);
        let (mut with_bodies, mut without) = ((0.0, [0; PackPart::COUNT]), (0.0, [0; PackPart::COUNT]));
        for choices in self.symbols.values() {
            let gains = [0, 1].map(|part| choices[part].as_ref().map_or(0.0, |own| gain(own, prices[part])));
            let tokens = |part: usize| choices[part].map_or(0, |choice| choice.tokens);
            if 0.0 < gains[1] {
                without.0 += gains[1];
                without.1[1] += tokens(1);
            }
            let part = usize::from(gains[0] < gains[1]);
            if 0.0 < gains[part] {
                with_bodies.0 += gains[part];
                with_bodies.1[part] += tokens(part);
            }
        }
        for (part, block) in [&mut with_bodies, &mut without].into_iter().enumerate() {
            block.0 -= factor(self.block) * prices[part];
            block.1[part] += self.block;
        }
        let mut best = (0.0, [0; PackPart::COUNT]);
        let rows = self.rows.iter().map(|row| (2, row)).chain(self.path.iter().map(|path| (3, path)));
        let short = rows.map(|(part, choice)| {
            let mut used = [0; PackPart::COUNT];
            used[part] = choice.tokens;
            (gain(choice, prices[part]), used)
        });
        for view in short.chain([with_bodies, without]) {
            if best.0 < view.0 {
                best = view;
            }
        }
        best
    }
}

/// Returns the smallest upper bound found by varying the prices.
pub(super) fn value_bound(inputs: &BoundInputs, value: f64) -> f64 {
    let tries = (MAX_WORK / inputs.choices().max(1)).clamp(4, MAX_TRIES);
    let mut prices = inputs.legal([0.0; COMMON + 1]);
    let (mut best, mut left) = inputs.at(&prices);
    for part in 0..PackPart::COUNT {
        let start = prices;
        for step in 0..FIRST_TRIES.min(tries / PackPart::COUNT) {
            // Each price is half the previous one: scores differ by orders of magnitude.
            let mut other = start;
            other[part] = inputs.highest[part] * 0.5_f64.powi(i32::try_from(step).unwrap_or(0));
            let other = inputs.legal(other);
            let (bound, rest) = inputs.at(&other);
            if bound < best {
                (best, left, prices) = (bound, rest, other);
            }
        }
    }
    descend(inputs, value, tries, (best, left, prices))
}

/// Varies the prices along the subgradient, with Polyak's step size: unused tokens make a part cheaper.
fn descend(
    inputs: &BoundInputs,
    value: f64,
    tries: usize,
    (mut best, mut left, mut prices): (f64, Prices, Prices),
) -> f64 {
    let mut reach = 1.0;
    for _ in 0..tries {
        let length: f64 = left.iter().map(|left| left * left).sum();
        if best <= value || length <= 0.0 {
            break;
        }
        let step = reach * (best - value) / length;
        let other = inputs.legal(std::array::from_fn(|part| prices[part] - step * left[part]));
        let (bound, rest) = inputs.at(&other);
        if bound < best {
            (best, left, prices) = (bound, rest, other);
        } else {
            reach *= 0.7;
        }
    }
    best
}
