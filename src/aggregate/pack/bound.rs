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

    fn choices(&self) -> usize {
        self.files.values().map(|file| 1 + 2 * file.symbols.len() + file.rows.len()).sum()
    }
}

/// The choices as a bound is computed from them, hundreds of times.
struct Relaxation<'i> {
    inputs: &'i BoundInputs,
    files: Vec<FlatChoices>,
}

/// The choices of one file without the symbols that they belong to.
struct FlatChoices {
    block: f64,
    /// The body and the signature of each symbol.
    symbols: Vec<[FlatChoice; 2]>,
    /// Rows and paths with their parts.
    short: Vec<(usize, FlatChoice)>,
}

/// A choice, or nothing: neither costs nor is worth anything.
#[derive(Clone, Copy, Default)]
struct FlatChoice {
    tokens: f64,
    value: f64,
}

impl FlatChoice {
    fn from_choice(choice: &PricedChoice) -> Self {
        Self { tokens: factor(choice.tokens), value: choice.value }
    }

    fn gain(self, price: f64) -> f64 {
        self.value - price * self.tokens
    }
}

impl<'i> Relaxation<'i> {
    fn new(inputs: &'i BoundInputs) -> Self {
        let flatten = |file: &FileChoices| {
            let symbols = file.symbols.values();
            let of = |choice: &Option<PricedChoice>| {
                choice.as_ref().map(FlatChoice::from_choice).unwrap_or_default()
            };
            let short = file.rows.iter().map(|row| (2, FlatChoice::from_choice(row)));
            FlatChoices {
                block: factor(file.block),
                symbols: symbols.map(|[body, signature]| [of(body), of(signature)]).collect(),
                short: short.chain(file.path.iter().map(|path| (3, FlatChoice::from_choice(path)))).collect(),
            }
        };
        Self { inputs, files: inputs.files.values().map(flatten).collect() }
    }

    /// Returns the bound at these prices, and what the best views leave of each limit: negative if they exceed it.
    fn at(&self, prices: &Prices) -> (f64, Prices) {
        let BoundInputs { rooms, room, .. } = self.inputs;
        let mut left: Prices = std::array::from_fn(|part| factor(rooms.get(part).copied().unwrap_or(*room)));
        let mut bound: f64 = left.iter().zip(prices).map(|(room, price)| room * price).sum();
        let full: [f64; PackPart::COUNT] = std::array::from_fn(|part| prices[part] + prices[COMMON]);
        for file in &self.files {
            let (gain, used) = file.best(&full);
            bound += gain;
            for part in 0..PackPart::COUNT {
                left[part] -= used[part];
                left[COMMON] -= used[part];
            }
        }
        (bound, left)
    }
}

impl FlatChoices {
    /// Returns the value of the file's best view minus its price, and the tokens that the view takes of each part.
    fn best(&self, prices: &[f64; PackPart::COUNT]) -> (f64, [f64; PackPart::COUNT]) {
        let nothing = (0.0, [0.0; PackPart::COUNT]);
        let mut best = nothing;
        for (part, choice) in &self.short {
            let gain = choice.gain(prices[*part]);
            if best.0 < gain {
                best = (gain, nothing.1);
                best.1[*part] = choice.tokens;
            }
        }
        let (mut with_bodies, mut without) = (nothing, nothing);
        for choices in &self.symbols {
            let gains = [choices[0].gain(prices[0]), choices[1].gain(prices[1])];
            if 0.0 < gains[1] {
                without.0 += gains[1];
                without.1[1] += choices[1].tokens;
            }
            let part = usize::from(gains[0] < gains[1]);
            if 0.0 < gains[part] {
                with_bodies.0 += gains[part];
                with_bodies.1[part] += choices[part].tokens;
            }
        }
        for (part, mut view) in [with_bodies, without].into_iter().enumerate() {
            view.0 -= self.block * prices[part];
            view.1[part] += self.block;
            if best.0 < view.0 {
                best = view;
            }
        }
        best
    }
}

/// Returns the smallest upper bound found by varying the prices.
pub(super) fn value_bound(inputs: &BoundInputs, value: f64) -> f64 {
    let relaxation = Relaxation::new(inputs);
    let tries = (MAX_WORK / inputs.choices().max(1)).clamp(4, MAX_TRIES);
    let mut prices = inputs.legal([0.0; COMMON + 1]);
    let (mut best, mut left) = relaxation.at(&prices);
    for part in 0..PackPart::COUNT {
        let start = prices;
        for step in 0..FIRST_TRIES.min(tries / PackPart::COUNT) {
            // Each price is half the previous one: scores differ by orders of magnitude.
            let mut other = start;
            other[part] = inputs.highest[part] * 0.5_f64.powi(i32::try_from(step).unwrap_or(0));
            let other = inputs.legal(other);
            let (bound, rest) = relaxation.at(&other);
            if bound < best {
                (best, left, prices) = (bound, rest, other);
            }
        }
    }
    descend(&relaxation, value, tries, (best, left, prices))
}

/// Varies the prices along the subgradient, with Polyak's step size: unused tokens make a part cheaper.
fn descend(
    relaxation: &Relaxation<'_>,
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
        let other = relaxation.inputs.legal(std::array::from_fn(|part| prices[part] - step * left[part]));
        let (bound, rest) = relaxation.at(&other);
        if bound < best {
            (best, left, prices) = (bound, rest, other);
        } else {
            reach *= 0.7;
        }
    }
    best
}
