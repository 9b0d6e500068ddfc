//! Compares the selection with an exact solver on small cases, and checks properties of cases of any size.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::problem::{PackPart, factor};
use super::select::ROW_GROWTHS;
use super::{
    BodyTurn, FileDemand, PackCosts, PackInput, PackShares, PackSymbol, PackableFile, PackedView, Packing,
    pack,
};
use crate::model::Tier;

/// A deterministic generator of pseudorandom numbers (`SplitMix64`).
struct SplitMix(u64);

impl SplitMix {
    fn between(&mut self, least: u64, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        least + ((mixed ^ (mixed >> 31)) >> 8) % (most - least + 1)
    }

    fn index(&mut self, least: u64, most: u64) -> usize {
        usize::try_from(self.between(least, most)).unwrap()
    }

    fn score(&mut self) -> f64 {
        factor(self.between(1, 1000)) / 1000.0
    }
}

/// Files and symbols with the tokens of all their pieces.
struct PackCase {
    budget: u64,
    shares: PackShares,
    files: Vec<PackableFile>,
    symbols: Vec<PackSymbol>,
    blocks: Vec<u64>,
    paths: Vec<u64>,
    name_counts: Vec<usize>,
    bodies: Vec<u64>,
    signatures: Vec<u64>,
    summary_room: Option<u64>,
    /// The pieces whose tokens were requested: the kind, the file or symbol, and the number of names.
    asked: RefCell<BTreeSet<(char, usize, usize)>>,
}

impl PackCase {
    /// Returns a case in which the first `with_symbols` of the files have symbols. The budget is a random share of the
    /// tokens of all bodies and blocks.
    fn random(seed: u64, files: usize, with_symbols: usize, most_symbols: u64) -> Self {
        let mut dice = SplitMix(seed);
        let mut scores: Vec<f64> = (0..files).map(|_| dice.score()).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let ranked = |score| PackableFile { score, demand: FileDemand::Ranked, turn: BodyTurn::First };
        let mut case = Self {
            budget: 0,
            shares: PackShares { bodies: 0, signatures: 0, names: 0, paths: 0, row_names: 1 },
            files: scores.into_iter().map(ranked).collect(),
            symbols: Vec::new(),
            blocks: (0..files).map(|_| dice.between(12, 25)).collect(),
            paths: (0..files).map(|_| dice.between(4, 7)).collect(),
            name_counts: Vec::new(),
            bodies: Vec::new(),
            signatures: Vec::new(),
            summary_room: None,
            asked: RefCell::default(),
        };
        for file in 0..files {
            let count = if file < with_symbols { dice.between(1, most_symbols) } else { 0 };
            case.name_counts.push(dice.index(1, 8));
            for _ in 0..count {
                let score = case.files[file].score + dice.score();
                let (has_body, has_signature, is_pointed_to) = (true, true, false);
                case.symbols.push(PackSymbol { file, score, has_body, has_signature, is_pointed_to });
                case.bodies.push(dice.between(20, 220));
                case.signatures.push(dice.between(8, 30));
            }
        }
        let all: u64 = case.bodies.iter().chain(&case.blocks).sum();
        case.budget = all * dice.between(15, 75) / 100;
        let tier = [Tier::TechLead, Tier::Worker][dice.index(0, 1)];
        case.shares = PackShares::for_tier(Some(tier), dice.between(0, 3) != 0, 10_000);
        case
    }

    fn pack(&self) -> Packing {
        let mut costs = self;
        let input = PackInput {
            budget: self.budget,
            shares: self.shares,
            files: &self.files,
            symbols: &self.symbols,
            has_bound: true,
            summary_room: self.summary_room,
        };
        pack(&input, &mut costs)
    }

    fn row(&self, file: usize, growth: usize) -> u64 {
        let names = (self.shares.row_names << growth).min(self.name_counts[file]);
        self.paths[file] + 3 + 3 * names as u64
    }

    fn row_value(&self, file: usize, growth: usize) -> f64 {
        let first = factor(self.row(file, 0));
        let grown = (1..=growth).map(|at| {
            0.25_f64.powi(i32::try_from(at).unwrap()) * factor(self.row(file, at) - self.row(file, at - 1))
        });
        self.files[file].score * PackPart::Names.weight() * (first + grown.sum::<f64>())
    }

    /// Computes the value of a selection independently, and checks its tokens.
    fn value(&self, packing: &Packing) -> f64 {
        let (mut value, mut tokens) = (0.0, packing.tokens.given);
        for shown in &packing.files {
            let file = shown.file;
            match &shown.view {
                PackedView::Given => {}
                PackedView::Block { bodies, signatures, .. } => {
                    tokens += self.blocks[file];
                    assert!(!bodies.is_empty() || !signatures.is_empty(), "a block shows something");
                    for symbol in bodies {
                        tokens += self.bodies[*symbol];
                        value += self.symbols[*symbol].score * factor(self.bodies[*symbol]);
                    }
                    for symbol in signatures {
                        tokens += self.signatures[*symbol];
                        let worth = self.symbols[*symbol].score * PackPart::Signatures.weight();
                        value += worth * factor(self.signatures[*symbol]);
                    }
                }
                PackedView::Names(count) => {
                    let growth =
                        (0..=ROW_GROWTHS).find(|growth| self.shares.row_names << growth == *count).unwrap();
                    tokens += self.row(file, growth);
                    value += self.row_value(file, growth);
                }
                PackedView::Path => {
                    tokens += self.paths[file];
                    value += self.files[file].score * PackPart::Paths.weight() * factor(self.paths[file]);
                }
            }
        }
        assert_eq!(tokens, packing.tokens.total(), "the tokens of the parts are those of the pieces");
        value
    }
}

impl PackCosts for &PackCase {
    fn block(&mut self, file: usize) -> u64 {
        self.asked.borrow_mut().insert(('k', file, 0));
        self.blocks[file]
    }

    fn body(&mut self, symbol: usize) -> u64 {
        self.asked.borrow_mut().insert(('b', symbol, 0));
        self.bodies[symbol]
    }

    fn signature(&mut self, symbol: usize) -> u64 {
        self.asked.borrow_mut().insert(('s', symbol, 0));
        self.signatures[symbol]
    }

    fn names(&mut self, file: usize, count: usize) -> u64 {
        self.asked.borrow_mut().insert(('n', file, count));
        self.paths[file] + 3 + 3 * count.min(self.name_counts[file]) as u64
    }

    fn path(&mut self, file: usize) -> u64 {
        self.asked.borrow_mut().insert(('p', file, 0));
        self.paths[file]
    }
}

/// One way to show a file: its tokens of each part, and its value.
struct FileOption {
    used: [u64; PackPart::COUNT],
    value: f64,
}

/// Returns every way to show a file.
fn file_options(case: &PackCase, file: usize) -> Vec<FileOption> {
    let mut options = vec![FileOption { used: [0; 4], value: 0.0 }];
    let symbols: Vec<usize> =
        (0..case.symbols.len()).filter(|symbol| case.symbols[*symbol].file == file).collect();
    for choice in 1..3_usize.pow(u32::try_from(symbols.len()).unwrap()) {
        let mut option = FileOption { used: [0; 4], value: 0.0 };
        let mut rest = choice;
        let mut is_allowed = true;
        for symbol in &symbols {
            let score = case.symbols[*symbol].score;
            let tokens = match rest % 3 {
                1 => case.bodies[*symbol],
                2 => case.signatures[*symbol],
                _ => 0,
            };
            is_allowed &= rest % 3 != 1 || tokens <= case.budget / 2;
            if rest % 3 != 0 {
                option.used[rest % 3 - 1] += tokens;
                option.value += score * factor(tokens) * PackPart::ALL[rest % 3 - 1].weight();
            }
            rest /= 3;
        }
        option.used[usize::from(option.used[0] == 0)] += case.blocks[file];
        if is_allowed {
            options.push(option);
        }
    }
    for growth in 0..=ROW_GROWTHS {
        let used = [0, 0, case.row(file, growth), 0];
        options.push(FileOption { used, value: case.row_value(file, growth) });
    }
    let value = case.files[file].score * PackPart::Paths.weight() * factor(case.paths[file]);
    options.push(FileOption { used: [0, 0, 0, case.paths[file]], value });
    let is_dominated = |at: usize| {
        let one = &options[at];
        options.iter().enumerate().any(|(other_at, other)| {
            let is_as_small = other.used.iter().zip(&one.used).all(|(other, one)| other <= one);
            is_as_small && (one.value < other.value || (one.value <= other.value && other_at < at))
        })
    };
    let kept: Vec<bool> = (0..options.len()).map(|at| !is_dominated(at)).collect();
    options.into_iter().zip(kept).filter(|(_, kept)| *kept).map(|(option, _)| option).collect()
}

/// A branch-and-bound search. The prices only decide what is pruned.
struct ExactSearch {
    options: Vec<Vec<FileOption>>,
    prices: [f64; PackPart::COUNT],
    /// The maximum value, minus prices, of the files from each position on.
    gains: Vec<f64>,
    best: f64,
}

impl ExactSearch {
    fn new(case: &PackCase, rooms: [u64; 4]) -> Self {
        let options: Vec<Vec<FileOption>> =
            (0..case.files.len()).map(|file| file_options(case, file)).collect();
        let mut search = Self { options, prices: [0.0; 4], gains: Vec::new(), best: 0.0 };
        let mut dice = SplitMix(1);
        let mut least = f64::INFINITY;
        let mut chosen = [0.0; 4];
        for _ in 0..80 {
            let near = |old: f64, dice: &mut SplitMix| old * (0.5 + dice.score()) + dice.score() * 0.05;
            search.prices = if least.is_finite() {
                chosen.map(|old| near(old, &mut dice))
            } else {
                [1.0, 0.5, 0.2, 0.05]
            };
            let bound = search.priced_rooms(&rooms) + search.gains_from(0);
            if bound < least {
                (least, chosen) = (bound, search.prices);
            }
        }
        search.prices = chosen;
        for file in 0..search.options.len() {
            let mut options = std::mem::take(&mut search.options[file]);
            options.sort_by(|a, b| search.gain(b).total_cmp(&search.gain(a)));
            search.options[file] = options;
        }
        search.gains = (0..=search.options.len()).map(|file| search.gains_from(file)).collect();
        search
    }

    fn priced_rooms(&self, rooms: &[u64; 4]) -> f64 {
        rooms.iter().zip(self.prices).map(|(room, price)| factor(*room) * price).sum()
    }

    fn gain(&self, option: &FileOption) -> f64 {
        option.value - self.priced_rooms(&option.used)
    }

    fn gains_from(&self, file: usize) -> f64 {
        let best = |options: &Vec<FileOption>| {
            options.iter().map(|option| self.gain(option)).fold(f64::NEG_INFINITY, f64::max)
        };
        self.options[file..].iter().map(best).sum()
    }

    fn search(&mut self, file: usize, rooms: [u64; 4], room: u64, value: f64) {
        self.best = self.best.max(value);
        if file == self.options.len() || value + self.priced_rooms(&rooms) + self.gains[file] <= self.best {
            return;
        }
        // The options are sorted by gain.
        for at in 0..self.options[file].len() {
            let FileOption { used, value: own } = self.options[file][at];
            let total: u64 = used.iter().sum();
            if total <= room && used.iter().zip(&rooms).all(|(used, room)| used <= room) {
                let left = std::array::from_fn(|part| rooms[part] - used[part]);
                self.search(file + 1, left, room - total, value + own);
            }
        }
    }
}

#[test]
fn the_bound_is_true_and_close_on_a_thousand_exactly_solved_cases() {
    let mut gaps = Vec::new();
    let mut losses = Vec::new();
    for seed in 0..1000 {
        let files = 3 + usize::try_from(seed).unwrap() % 3;
        let case = PackCase::random(seed, files, files - 1, 2);
        let packing = case.pack();
        assert!(packing.tokens.total() <= case.budget, "case {seed} exceeds its budget");
        let value = case.value(&packing);
        assert!((value - packing.value).abs() < 1e-6, "case {seed}: {value} is not {}", packing.value);
        let mut exact = ExactSearch::new(&case, packing.rooms);
        exact.search(0, packing.rooms, case.budget, 0.0);
        let best = exact.best;
        assert!(
            best <= packing.bound() + 1e-6,
            "case {seed}: the best is {best}, the bound {}",
            packing.bound()
        );
        let shortfall = f64::from(packing.shortfall_percent()) / 100.0;
        assert!(best * (1.0 - shortfall) <= packing.value + 1e-6, "case {seed}: the receipt would be wrong");
        gaps.push(1.0 - packing.value / packing.bound());
        losses.push((1.0 - packing.value / best).max(0.0));
    }
    gaps.sort_by(f64::total_cmp);
    losses.sort_by(f64::total_cmp);
    assert!(gaps[500] <= 0.05, "the median gap is {}", gaps[500]);
    assert!(losses[900] <= 0.10, "the loss is {} in a tenth of the cases", losses[900]);
}

#[test]
fn a_selection_is_the_same_each_time_and_uses_its_budget() {
    let mut gaps = Vec::new();
    for seed in 0..50 {
        let mut case = PackCase::random(seed, 400, 120, 12);
        case.budget = 4000 + 500 * seed;
        let packing = case.pack();
        assert_eq!(packing, case.pack());
        case.value(&packing);
        let used = packing.tokens.total();
        gaps.push(1.0 - packing.value / packing.bound());
        assert!(
            used <= case.budget && case.budget * 97 / 100 <= used,
            "case {seed}: {used} of {}",
            case.budget
        );
    }
    gaps.sort_by(f64::total_cmp);
    assert!(gaps[25] <= 0.02 && gaps[49] <= 0.08, "the gaps are {gaps:?}");
}

#[test]
fn twice_the_budget_is_never_worth_less_and_shows_more_files() {
    for seed in 0..200 {
        let mut case = PackCase::random(seed, 60, 30, 6);
        case.budget = 300 + 20 * seed;
        let small = case.pack();
        case.budget *= 2;
        let large = case.pack();
        assert!(small.value <= large.value, "case {seed}");
        assert!(small.files.len() <= large.files.len(), "case {seed}");
    }
}

#[test]
fn everything_is_shown_if_everything_fits() {
    let mut case = PackCase::random(3, 20, 20, 4);
    case.budget = 1_000_000;
    let packing = case.pack();
    assert_eq!(packing.files.len(), 20);
    assert!(packing.files.iter().all(|file| matches!(&file.view, PackedView::Block { is_whole: true, .. })));
    assert_eq!(packing.shortfall_percent(), 0);
}

#[test]
fn binding_views_are_shown_and_curated_files_precede_ranked_ones() {
    let mut case = PackCase::random(5, 12, 10, 3);
    case.budget = 1000;
    case.files[9].demand = FileDemand::Binding(700);
    case.files[11].demand = FileDemand::Curated(250);
    case.files[10].demand = FileDemand::Curated(400);
    let packing = case.pack();
    let given: Vec<usize> =
        packing.files.iter().filter(|file| file.view == PackedView::Given).map(|file| file.file).collect();
    assert_eq!((given, packing.tokens.given), (vec![9, 11], 950));
    assert!(packing.tokens.total() <= 1000);
    case.files[9].demand = FileDemand::Binding(1700);
    let beyond = case.pack();
    assert_eq!((beyond.files.len(), beyond.tokens.total()), (1, 1700));
}

#[test]
fn only_bodies_are_added_to_a_file_that_is_shown_already() {
    let mut case = PackCase::random(5, 12, 10, 3);
    case.budget = 1_000_000;
    for file in [3, 4] {
        case.files[file].demand = FileDemand::Shown;
    }
    for symbol in case.symbols.iter_mut().filter(|symbol| matches!(symbol.file, 3 | 4)) {
        (symbol.has_body, symbol.has_signature) = (symbol.file == 3, false);
    }
    let packing = case.pack();
    let view = |file: usize| &packing.files.iter().find(|packed| packed.file == file).unwrap().view;
    assert!(
        matches!(view(3), PackedView::Block { bodies, signatures, .. } if !bodies.is_empty() && signatures.is_empty())
    );
    // Neither a row nor a path, although they would fit.
    assert_eq!(view(4), &PackedView::Given);
    assert_eq!(packing.tokens.given, 0);
}

#[test]
fn no_file_takes_the_signatures_of_all_others() {
    let mut case = PackCase::random(7, 30, 30, 1);
    // The first file has two hundred symbols, with the same score as those of the others.
    for symbol in &mut case.symbols {
        symbol.score = 1.0;
        symbol.has_body = false;
    }
    for _ in 0..200 {
        let (has_body, has_signature, is_pointed_to) = (false, true, false);
        case.symbols.insert(0, PackSymbol { file: 0, score: 1.0, has_body, has_signature, is_pointed_to });
        case.signatures.insert(0, 20);
        case.bodies.insert(0, 100);
    }
    case.budget = 2400;
    case.shares = PackShares { bodies: 0, signatures: 900, names: 100, paths: 0, row_names: 1 };
    let packing = case.pack();
    let blocks = packing.files.iter().filter(|file| matches!(file.view, PackedView::Block { .. })).count();
    assert_eq!(blocks, 30);
}

#[test]
fn signatures_in_a_block_without_a_body_are_limited_to_the_size_of_a_summary() {
    let mut blocks = [0; 2];
    for seed in 0..50 {
        let mut case = PackCase { summary_room: Some(60), ..PackCase::random(seed, 12, 8, 12) };
        for symbol in &mut case.symbols {
            symbol.has_body = symbol.file % 2 == 0;
        }
        for shown in case.pack().files {
            if let PackedView::Block { bodies, signatures, .. } = shown.view {
                let tokens: u64 = signatures.iter().map(|symbol| case.signatures[*symbol]).sum();
                assert!(!bodies.is_empty() || tokens <= 60, "seed {seed}, file {}: {tokens}", shown.file);
                blocks[usize::from(bodies.is_empty())] += 1;
            }
        }
    }
    assert!(blocks.iter().all(|count| 20 < *count), "{blocks:?}");
}

#[test]
fn a_file_shares_its_turn_or_comes_last() {
    let mut case = PackCase::random(15, 30, 30, 1);
    for _ in 0..100 {
        let (has_body, has_signature, is_pointed_to) = (true, false, false);
        case.symbols.insert(0, PackSymbol { file: 0, score: 9.0, has_body, has_signature, is_pointed_to });
        case.signatures.insert(0, 20);
        case.bodies.insert(0, 100);
    }
    case.budget = 4800;
    case.shares = PackShares { bodies: 1000, signatures: 0, names: 0, paths: 0, row_names: 1 };
    let blocks = |case: &PackCase| {
        let packing = case.pack();
        assert!(case.budget * 9 / 10 <= packing.tokens.total());
        packing.files.iter().filter(|file| matches!(file.view, PackedView::Block { .. })).count()
    };
    assert!(blocks(&case) < 5);
    case.files[0].turn = BodyTurn::Shared;
    assert_eq!(blocks(&case), 30);
    case.files[0].turn = BodyTurn::Last;
    assert!(29 <= blocks(&case));
    // Tokens that nobody else needs are available again.
    case.budget = 9600;
    assert_eq!(blocks(&case), 30);
}

#[test]
fn a_symbol_that_the_task_points_to_is_shown_however_large_its_files_block_is() {
    let mut case = PackCase::random(9, 12, 12, 3);
    case.symbols[0].score = 4.0;
    (case.blocks[0], case.bodies[0]) = (400, 80);
    case.budget = 1500;
    let shows_first = |case: &PackCase| {
        let is_first =
            |view: &PackedView| matches!(view, PackedView::Block { bodies, .. } if bodies.contains(&0));
        case.pack().files.iter().any(|file| is_first(&file.view))
    };
    assert!(!shows_first(&case));
    case.symbols[0].is_pointed_to = true;
    assert!(shows_first(&case));
}

#[test]
fn scores_that_are_not_finite_count_as_zero() {
    let mut case = PackCase::random(11, 8, 8, 2);
    case.files[0].score = f64::NAN;
    case.files[1].score = f64::NEG_INFINITY;
    case.symbols[0].score = f64::INFINITY;
    let packing = case.pack();
    assert!(packing.value.is_finite() && packing.bound().is_finite());
    assert!(packing.tokens.total() <= case.budget);
}

#[test]
fn tokens_are_requested_only_for_the_best_of_many_files() {
    let mut case = PackCase::random(13, 80_000, 300, 20);
    case.budget = 15_000;
    let packing = case.pack();
    assert!(packing.tokens.total() <= 15_000);
    let asked = case.asked.borrow().len();
    assert!(asked < 8000, "{asked} pieces were asked for");
}
