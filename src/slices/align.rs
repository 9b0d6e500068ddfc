//! Aligns anchor lines with a text: as many as possible, in the same order; rare lines weigh more than common ones, and
//! none may be far from the previous one.
//!
//! This is a diff for the few lines that are known of the old text. Lines that occur very often in the text are
//! skipped, so that it takes near-linear time for any text.

use super::anchors::AnchorLine;
use super::lines::{LineTable, to_index};

/// The maximum number of pairs of an anchor line and a position that are considered.
const MAX_PAIRS: usize = 10_000;

/// An anchor line that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ChainLink {
    pub(super) item: usize,
    /// Its line in the text, from 0.
    pub(super) place: usize,
}

/// The links that were found, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct MatchChain {
    pub(super) links: Vec<ChainLink>,
    pub(super) score: i64,
}

/// A pair that may become a link: the score of a chain that ends with it, and the previous pair of that chain.
struct CandidatePair {
    link: ChainLink,
    score: i64,
    previous: Option<usize>,
}

pub(super) fn best_chain(
    items: &[AnchorLine],
    lines: &LineTable<'_>,
    allows: impl Fn(ChainLink) -> bool,
) -> MatchChain {
    let mut pairs: Vec<CandidatePair> = Vec::new();
    let mut reach = ScoreReach::new(lines.ids.len());
    for (item, id) in within_budget(items, lines) {
        let begin = pairs.len();
        for place in lines.places(id).iter().map(|place| to_index(*place)) {
            let link = ChainLink { item, place };
            if !allows(link) {
                continue;
            }
            let (gained, previous) = reach.best_before(place);
            pairs.push(CandidatePair { link, score: gained + items[item].weight, previous });
        }
        // Added only after all positions of this line were looked up: an anchor line is used at most once, so none of
        // its positions may precede another in a chain.
        for (at, pair) in pairs.iter().enumerate().skip(begin) {
            reach.add(pair.link.place, pair.score, at);
        }
    }
    // The first of equally good chains, so that the result is deterministic.
    let Some(last) = (0..pairs.len()).rev().max_by_key(|at| pairs[*at].score) else {
        return MatchChain::default();
    };
    let mut found = Vec::new();
    let mut next = Some(last);
    while let Some(at) = next {
        found.push(pairs[at].link);
        next = pairs[at].previous;
    }
    found.reverse();
    MatchChain { links: found, score: pairs[last].score }
}

/// Returns the anchor lines that occur in the text, in order, without those that occur most often.
fn within_budget(items: &[AnchorLine], lines: &LineTable<'_>) -> Vec<(usize, u32)> {
    let mut found: Vec<(usize, u32)> =
        items.iter().enumerate().filter_map(|(at, item)| Some((at, item.id?))).collect();
    // The rarest lines are kept: they are the most informative, and the cheapest.
    found.sort_by_key(|(at, id)| (lines.places(*id).len(), *at));
    let mut pairs = 0;
    found.retain(|(_, id)| {
        pairs += lines.places(*id).len();
        pairs <= MAX_PAIRS
    });
    // Chosen by rarity, but returned in the order of the slice, which a chain has to follow.
    found.sort_unstable();
    found
}

/// The best pairs so far above each line, nearby and at any distance: two Fenwick trees.
struct ScoreReach {
    near: Vec<Option<(i64, usize)>>,
    far: Vec<Option<(i64, usize)>>,
}

impl ScoreReach {
    fn new(lines: usize) -> Self {
        Self { near: vec![None; lines + 1], far: vec![None; lines + 1] }
    }

    /// Returns the best score of a chain that can continue at `place`, and the pair that it ends with.
    fn best_before(&self, place: usize) -> (i64, Option<usize>) {
        let (mut near, mut far) = (None, None);
        // Only prefixes are queried and entries only grow, so a Fenwick tree of maxima suffices.
        let mut at = place;
        while 0 < at {
            near = near.max(self.near[at]);
            far = far.max(self.far[at]);
            at &= at - 1;
        }
        // Nearby scores are stored as if all lines so far were free; the lines in between are charged here.
        let near = near.map(|(score, pair)| (score - GAP_COST * signed(place), pair));
        let far = far.map(|(score, pair)| (score - JUMP_COST, pair));
        match near.max(far) {
            // A predecessor whose distance costs as much as it gains is worse than none: a chain may begin anywhere.
            Some((score, pair)) if 0 < score => (score, Some(pair)),
            Some(_) | None => (0, None),
        }
    }

    fn add(&mut self, place: usize, score: i64, pair: usize) {
        // Adding the position here and subtracting it in queries yields the number of lines in between, so that an
        // adjacent line costs nothing and no entry has to be updated for distance.
        let near = Some((score + GAP_COST * (signed(place) + 1), pair));
        let far = Some((score, pair));
        let mut at = place + 1;
        while at < self.near.len() {
            self.near[at] = self.near[at].max(near);
            self.far[at] = self.far[at].max(far);
            at += at & at.wrapping_neg();
        }
    }
}

fn signed(place: usize) -> i64 {
    i64::try_from(place).expect("a text has fewer lines than half of 64 bits can count")
}

/// The cost of a line between two lines that were adjacent.
pub(super) const GAP_COST: i64 = 25;
/// The maximum cost of such lines: a whole function may have been inserted.
pub(super) const JUMP_COST: i64 = 500;

/// Returns for each border between two lines how well the lines above it match `before`: `score[j]` is for the border
/// above line `j`, from 0.
pub(super) fn score_above(before: &[AnchorLine], lines: &LineTable<'_>) -> Vec<i64> {
    align(before.iter(), lines, |place| place, lines.ids.len())
}

/// Returns for each border between two lines how well the lines below it match `after`.
pub(super) fn score_below(after: &[AnchorLine], lines: &LineTable<'_>) -> Vec<i64> {
    let count = lines.ids.len();
    let mut score = align(after.iter().rev(), lines, |place| count - 1 - place, count);
    score.reverse();
    score
}

/// Aligns items, nearest last, with the lines before each border; `turn` reverses the text if the items are below the
/// border.
fn align<'i>(
    items: impl Iterator<Item = &'i AnchorLine>,
    lines: &LineTable<'_>,
    turn: impl Fn(usize) -> usize,
    count: usize,
) -> Vec<i64> {
    let mut best = vec![0; count + 1];
    for item in items {
        let Some(id) = item.id else { continue };
        let places = lines.places(id).iter().map(|place| turn(to_index(*place)));
        // Collected before any is written: a border raised by this item must not count the same item twice.
        let found: Vec<(usize, i64)> = places.map(|place| (place, best[place] + item.weight)).collect();
        for (place, value) in found {
            best[place + 1] = best[place + 1].max(value);
        }
        propagate(&mut best);
    }
    best
}

/// Propagates the best score to each following border, reduced by the cost of the lines in between.
fn propagate(best: &mut [i64]) {
    let (mut near, mut far) = (0, 0);
    for value in best {
        near = (near - GAP_COST).max(*value);
        far = far.max(*value - JUMP_COST);
        *value = near.max(far);
    }
}

#[cfg(test)]
mod chain_tests {
    use super::*;
    use crate::slices::anchors::UNIT;

    fn check(text: &str, remembered: &str, expected: &[(usize, usize)]) {
        let lines = LineTable::new(text);
        let item = |line| AnchorLine { id: lines.id_of(line), weight: UNIT, is_solid: true };
        let items: Vec<AnchorLine> = remembered.lines().map(item).collect();
        let chain = best_chain(&items, &lines, |_| true);
        let found: Vec<_> = chain.links.iter().map(|link| (link.item, link.place)).collect();
        assert_eq!(found, expected, "{remembered:?} in {text:?}");
    }

    #[test]
    fn lines_are_found_in_order_and_close_together() {
        check("a\nb\nc\n", "a\nb\nc\n", &[(0, 0), (1, 1), (2, 2)]);
        check("a\nx\nc\n", "a\nb\nc\n", &[(0, 0), (2, 2)]);
        check("b\nx\nx\na\nb\nc\n", "a\nb\nc\n", &[(0, 3), (1, 4), (2, 5)]);
        check("c\nb\na\n", "a\nb\nc\n", &[(0, 2)]);
        check("x\n", "a\n", &[]);
    }

    #[test]
    fn a_text_of_equal_lines_stays_within_the_budget() {
        let text = "a\n".repeat(50_000);
        let remembered = "a\n".repeat(1000);
        check(&text, &remembered, &[]);
    }
}

#[cfg(test)]
mod surroundings_tests {
    use super::*;
    use crate::slices::anchors::UNIT;

    fn items(words: &[&str], lines: &LineTable<'_>) -> Vec<AnchorLine> {
        words.iter().map(|word| AnchorLine { id: lines.id_of(word), weight: UNIT, is_solid: true }).collect()
    }

    #[test]
    fn a_border_next_to_its_neighbors_scores_best() {
        let lines = LineTable::new("a\nb\nx\ny\na\nb\n");
        let above = score_above(&items(&["a", "b"], &lines), &lines);
        assert_eq!(
            above,
            [
                0,
                UNIT,
                2 * UNIT,
                2 * UNIT - GAP_COST,
                2 * UNIT - 2 * GAP_COST,
                2 * UNIT - 3 * GAP_COST,
                2 * UNIT
            ]
        );
        let below = score_below(&items(&["x", "y"], &lines), &lines);
        assert_eq!(below[2], 2 * UNIT);
        assert_eq!(below[3], UNIT);
        assert_eq!(below[6], 0);
    }
}
