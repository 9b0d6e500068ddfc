//! The difference between two texts by lines.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff, group_diff_ops};

/// The maximum number of line pairs compared in total. Beyond it, only lines that occur once in both texts are matched.
/// The limit is not a time, so that the same texts always give the same diff.
const MAX_PAIRS: usize = 100_000_000;

/// The maximum number of line pairs compared in one part of the texts.
const MAX_PAIRS_AT_ONCE: usize = 9_000_000;

/// Returns the changes between two texts as the hunks of a unified diff, with `context` unchanged lines around each.
/// Only line feeds end lines, as in git.
pub fn render_hunks(old: &str, new: &str, context: usize) -> String {
    let [old, new] = [old, new].map(|text| text.split_inclusive('\n').collect::<Vec<&str>>());
    let mut out = String::new();
    for hunk in group_diff_ops(compare_lines(&old, &new), context) {
        write_hunk(&mut out, &hunk, &old, &new);
    }
    out
}

fn write_hunk(out: &mut String, hunk: &[DiffOp], old: &[&str], new: &[&str]) {
    let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { return };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let _ = writeln!(out, "@@ -{} +{} @@", hunk_range(&old_range), hunk_range(&new_range));
    for op in hunk {
        let is_same = matches!(op, DiffOp::Equal { .. });
        if is_same {
            write_lines(out, ' ', &old[op.old_range()]);
            continue;
        }
        write_lines(out, '-', &old[op.old_range()]);
        write_lines(out, '+', &new[op.new_range()]);
    }
}

/// Returns lines as in the header of a hunk: an empty range is placed after the line before it.
fn hunk_range(range: &Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => (range.start + 1).to_string(),
        count => format!("{},{count}", range.start + 1),
    }
}

fn write_lines(out: &mut String, sign: char, lines: &[&str]) {
    for line in lines {
        out.push(sign);
        out.push_str(line);
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}

/// A comparison of two texts whose lines are numbered; equal lines have equal numbers.
struct LineComparison {
    old: Vec<u32>,
    new: Vec<u32>,
    ops: Vec<DiffOp>,
    pairs_left: usize,
}

/// Returns the operations that turn one list of lines into the other. The result is deterministic.
pub fn compare_lines(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let mut known = HashMap::new();
    let mut number = |line| {
        let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
        *known.entry(line).or_insert(next)
    };
    // Numbers, because the time of comparing lines repeatedly depends on their length.
    let old: Vec<u32> = old.iter().map(|line| number(*line)).collect();
    let new: Vec<u32> = new.iter().map(|line| number(*line)).collect();
    let (old_range, new_range) = (0..old.len(), 0..new.len());
    let mut comparison = LineComparison { old, new, ops: Vec::new(), pairs_left: MAX_PAIRS };
    comparison.compare(old_range, new_range, true);
    comparison.ops
}

impl LineComparison {
    /// Compares a part of the texts. A part that is too large is `split` at the lines that are unique on both sides;
    /// parts that are still too large count as changed as a whole.
    fn compare(&mut self, mut old: Range<usize>, mut new: Range<usize>, split: bool) {
        // Most edits leave both ends of a text unchanged; without these, fewer pairs have to be compared.
        let same = self.old[old.clone()].iter().zip(&self.new[new.clone()]);
        let before = same.take_while(|(a, b)| a == b).count();
        self.push_equal(old.start, new.start, before);
        (old.start, new.start) = (old.start + before, new.start + before);
        let same = self.old[old.clone()].iter().rev().zip(self.new[new.clone()].iter().rev());
        let after = same.take_while(|(a, b)| a == b).count();
        (old.end, new.end) = (old.end - after, new.end - after);
        let pairs = old.len().saturating_mul(new.len());
        if pairs == 0 {
            self.push_change(&old, &new);
        } else if pairs <= MAX_PAIRS_AT_ONCE.min(self.pairs_left) {
            // The limit applies to the whole file: many parts, each within its own limit, would add up.
            self.pairs_left -= pairs;
            let found =
                capture_diff(Algorithm::Myers, &self.old[..], old.clone(), &self.new[..], new.clone());
            for op in found {
                self.push(op);
            }
        } else if split {
            self.compare_between_anchors(&old, &new);
        } else {
            self.push_change(&old, &new);
        }
        self.push_equal(old.end, new.end, after);
    }

    fn compare_between_anchors(&mut self, old: &Range<usize>, new: &Range<usize>) {
        let (mut old_at, mut new_at) = (old.start, new.start);
        for (in_old, in_new) in unique_line_pairs(&self.old, old, &self.new, new) {
            // Not split again, which bounds the recursion for any text.
            self.compare(old_at..in_old, new_at..in_new, false);
            self.push_equal(in_old, in_new, 1);
            (old_at, new_at) = (in_old + 1, in_new + 1);
        }
        self.compare(old_at..old.end, new_at..new.end, false);
    }

    fn push_change(&mut self, old: &Range<usize>, new: &Range<usize>) {
        let (old_index, old_len, new_index, new_len) = (old.start, old.len(), new.start, new.len());
        match (old_len, new_len) {
            (0, 0) => {}
            (0, _) => self.push(DiffOp::Insert { old_index, new_index, new_len }),
            (_, 0) => self.push(DiffOp::Delete { old_index, old_len, new_index }),
            (_, _) => self.push(DiffOp::Replace { old_index, old_len, new_index, new_len }),
        }
    }

    fn push_equal(&mut self, old_index: usize, new_index: usize, len: usize) {
        if 0 < len {
            self.push(DiffOp::Equal { old_index, new_index, len });
        }
    }

    /// Adds the next operation; adjacent equal lines are merged into one run.
    fn push(&mut self, op: DiffOp) {
        if let (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) = (self.ops.last_mut(), op)
        {
            *len += more;
            return;
        }
        self.ops.push(op);
    }
}

/// Returns the positions of lines that are unique in both texts, as many as are in the same order.
fn unique_line_pairs(
    old: &[u32],
    old_range: &Range<usize>,
    new: &[u32],
    new_range: &Range<usize>,
) -> Vec<(usize, usize)> {
    let in_new = unique_lines(new, new_range);
    let mut pairs: Vec<(usize, usize)> = unique_lines(old, old_range)
        .into_iter()
        .filter_map(|(line, at)| Some((at, *in_new.get(&line)?)))
        .collect();
    pairs.sort_unstable();
    longest_ascending(&pairs)
}

/// Returns the longest subsequence of pairs in which the second numbers ascend, too. The first numbers of `pairs`
/// ascend.
pub fn longest_ascending(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the smallest second number that ends a subsequence of that length.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (_, place)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].1 < *place);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let last = ends.last().copied();
    let mut run: Vec<(usize, usize)> =
        std::iter::successors(last, |at| before[*at]).map(|at| pairs[at]).collect();
    run.reverse();
    run
}

/// Returns the lines that are unique in a part of a text, with their positions.
fn unique_lines(lines: &[u32], range: &Range<usize>) -> HashMap<u32, usize> {
    let mut places: HashMap<u32, Option<usize>> = HashMap::new();
    for at in range.clone() {
        // The `None` is kept: the third occurrence of a line must not look like its first.
        places.entry(lines[at]).and_modify(|place| *place = None).or_insert(Some(at));
    }
    places.into_iter().filter_map(|(line, place)| Some((line, place?))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::*;

    /// Applies a diff, and checks each of its context and removed lines.
    #[track_caller]
    fn apply(old: &str, diff: &str) -> String {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let (mut out, mut at, mut is_in_new) = (String::new(), 0, true);
        for line in diff.split_inclusive('\n') {
            if let Some(head) = line.strip_prefix("@@ -") {
                let (start, count) = head.split(' ').next().unwrap().split_once(',').unwrap_or((head, "1"));
                let start: usize = start.split(' ').next().unwrap().parse().unwrap();
                let next = if count == "0" { start } else { start - 1 };
                out.extend(old[at..next].iter().copied());
                at = next;
            } else if line.starts_with('\\') {
                out.truncate(out.len() - usize::from(is_in_new));
            } else {
                let (sign, text) = line.split_at(1);
                if sign != "+" {
                    assert_eq!(old[at].trim_end_matches('\n'), text.trim_end_matches('\n'));
                    at += 1;
                }
                is_in_new = sign != "-";
                if is_in_new {
                    out.push_str(text);
                }
            }
        }
        out.extend(old[at..].iter().copied());
        out
    }

    fn diff(old: &str, new: &str) -> String {
        render_hunks(old, new, 3)
    }

    #[test]
    fn texts_too_large_to_compare_in_full_are_compared_by_their_unique_lines() {
        let rows =
            |from: usize, to: usize| (from..to).fold(String::new(), |text, n| text + &format!("{n}\n"));
        let old = format!("first\n{}same\n{}last\n", "x\n".repeat(4000), rows(0, 4000));
        let new = format!("1st\n{}same\n{}end\n", "y\n".repeat(4000), rows(0, 4000));
        let diff = diff(&old, &new);
        assert_eq!(apply(&old, &diff), new);
        assert!(!diff.contains("\n-2000\n"), "what is the same was not found");
    }

    #[test]
    fn texts_with_the_same_lines_in_another_order_are_compared_in_bounded_time() {
        let old = (0..200_000).fold(String::new(), |text, n| text + &format!("{}\n", n % 50_000));
        let new = (0..200_000).rev().fold(String::new(), |text, n| text + &format!("{}\n", n % 50_000));
        assert_eq!(apply(&old, &diff(&old, &new)), new);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(1),
            ..ProptestConfig::default()
        })]
        #[test]
        fn a_diff_makes_the_new_text_of_the_old(old in "([abc]?\r?\n){0,12}[ab]?", new in "([abc]?\r?\n){0,12}[ab]?") {
            prop_assume!(old != new);
            prop_assert_eq!(apply(&old, &diff(&old, &new)), new);
        }
    }
}
