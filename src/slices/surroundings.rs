//! How well each place of a text fits what stood around a slice.

use super::items::AnchorLine;
use super::lines::LineTable;
use super::lines::to_index;

/// What a line that stands between two others which stood side by side costs.
pub(super) const GAP_COST: i64 = 25;
/// What any number of such lines costs at the most: a whole function may have been put there.
pub(super) const JUMP_COST: i64 = 500;

/// Returns for each border between two lines how well the lines above it go with `before`: `score[j]` is for the border
/// above line `j`, from 0.
pub(super) fn score_above(before: &[AnchorLine], lines: &LineTable<'_>) -> Vec<i64> {
    align(before.iter(), lines, |place| place, lines.ids.len())
}

/// Returns for each border between two lines how well the lines below it go with `after`.
pub(super) fn score_below(after: &[AnchorLine], lines: &LineTable<'_>) -> Vec<i64> {
    let count = lines.ids.len();
    let mut score = align(after.iter().rev(), lines, |place| count - 1 - place, count);
    score.reverse();
    score
}

/// Aligns items, the nearest last, with the lines before each border; `turn` turns the text around where the items
/// stand below.
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
        let found: Vec<(usize, i64)> = places.map(|place| (place, best[place] + item.weight)).collect();
        for (place, value) in found {
            best[place + 1] = best[place + 1].max(value);
        }
        propagate(&mut best);
    }
    best
}

/// Lets each border know of the best one before it, at the cost of what stands between.
fn propagate(best: &mut [i64]) {
    let (mut near, mut far) = (0, 0);
    for value in best {
        near = (near - GAP_COST).max(*value);
        far = far.max(*value - JUMP_COST);
        *value = near.max(far);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slices::items::UNIT;

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
