//! The order of the HOT files in their document.
//!
//! A provider's prompt cache keeps everything before the first byte that differs from the previous document. So the
//! files before the first changed one keep their places. What follows is lost in any order; there, the order is chosen
//! that will lose least the next time. Of two files, the one with the higher `s * (1 - p) / p` comes first, where `s`
//! is its size in bytes and `p` the probability that the next commit changes it: swapping any two such neighbors would
//! keep less on average.
//!
//! Over 60 to 100 commits each of flask, click and redis, at two dates of the first two, this kept a mean of 0.68 of
//! the document; the order by the last commits that changed the files kept 0.62. No order can keep more than 0.90: the
//! commits change the rest. docs/benchmarks-documents.md has the figures.

use std::cmp::Reverse;

/// A HOT file, with the data that decides its place in the document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HotFile {
    /// Its place in the previous document, from 0, if it was shown in the same way.
    pub place_before: Option<usize>,
    /// The size of its view in bytes.
    pub bytes: u64,
    /// How likely the next commit is to change it, between 0 and 1; `None` if its history is not known.
    pub change_rate: Option<f64>,
}

/// Returns the positions of the files in the order of their document. Files that compare equal keep their order.
pub fn order_hot_files(files: &[HotFile]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|at| (files[*at].place_before.unwrap_or(usize::MAX), Reverse(endurance(&files[*at]))));
    // A file missing from its place changes the text there just as an edit does.
    let is_kept = |(place, at): &(usize, &usize)| files[**at].place_before == Some(*place);
    let kept = order.iter().enumerate().take_while(is_kept).count();
    order[kept..].sort_by_key(|at| (Reverse(endurance(&files[*at])), *at));
    order
}

/// Returns the value of placing a file before others: its size, times the odds that it stays unchanged.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "sizes are far below the limit of exact floats, and larger ones saturate"
)]
fn endurance(file: &HotFile) -> u64 {
    // Rounded, so that platform differences in the last digits do not matter.
    file.change_rate.map_or(0, |rate| (file.bytes as f64 * (1.0 - rate) / rate).round() as u64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const fn file(place_before: Option<usize>, bytes: u64, rate: f64) -> HotFile {
        HotFile { place_before, bytes, change_rate: Some(rate) }
    }

    #[test]
    fn files_before_a_change_stay_and_the_rest_is_ordered_by_size_and_rate() {
        let mut files = [
            file(Some(0), 1, 0.9),
            file(Some(1), 900, 0.01),
            file(Some(2), 100, 0.5),
            file(Some(3), 100, 0.01),
            file(None, 900, 0.02),
        ];
        assert_eq!(order_hot_files(&files), [0, 1, 2, 3, 4]);
        files[2].place_before = None;
        assert_eq!(order_hot_files(&files), [0, 1, 4, 3, 2]);
        // A file that is no longer HOT has left a gap.
        assert_eq!(order_hot_files(&files[1..]), [0, 3, 2, 1]);
    }

    #[test]
    fn files_without_a_history_keep_their_order() {
        let files = [5, 900, 30].map(|bytes| HotFile { place_before: None, bytes, change_rate: None });
        assert_eq!(order_hot_files(&files), [0, 1, 2]);
    }

    proptest! {
        /// No two neighbors would keep more if they were swapped.
        #[test]
        fn neighbors_are_in_the_order_that_keeps_more(
            files in prop::collection::vec((1_u64..100_000, 0.001..0.9_f64), 2..20),
        ) {
            let files: Vec<HotFile> = files.into_iter().map(|(bytes, rate)| file(None, bytes, rate)).collect();
            let kept = |first: &HotFile, second: &HotFile| {
                let stays = |file: &HotFile| 1.0 - file.change_rate.unwrap_or(1.0);
                #[expect(clippy::cast_precision_loss, reason = "the sizes are small")]
                let [a, b] = [first.bytes as f64, second.bytes as f64];
                stays(first) * (a + stays(second) * b)
            };
            for pair in order_hot_files(&files).windows(2) {
                let [first, second] = [pair[0], pair[1]].map(|at| &files[at]);
                // Rounding loses less than a thousandth.
                prop_assert!(kept(second, first) <= kept(first, second) * 1.000_001 + 1.0);
            }
        }
    }
}
