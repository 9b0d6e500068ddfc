//! In which order files stand, so that what a provider has cached stays the beginning of the document.

use std::cmp::Ordering;

use crate::model::Order;
use crate::model::RelPath;

/// How likely a file's block is to change: what is likely to change stands last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Stability {
    /// Which commit since the scores were frozen changed the rendered block last, counted from 1; 0 for none, and the
    /// highest number for what is not committed.
    pub moved_at: u32,
    /// How often commits changed the file, each change halved with age; in millionths.
    pub score: u64,
}

/// Sorts `files`. `given` ranks a file by the place at which the request named it.
pub fn arrange<T>(
    files: &mut [T],
    order: Order,
    path: impl Fn(&T) -> &RelPath,
    stability: impl Fn(&T) -> Stability,
    given: impl Fn(&T) -> usize,
) {
    files.sort_by(|a, b| {
        let first = match order {
            Order::Stable => stability(a).cmp(&stability(b)),
            Order::Given => given(a).cmp(&given(b)),
            Order::Path => Ordering::Equal,
        };
        first.then_with(|| path(a).cmp(path(b)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(order: Order, expected: &[&str]) {
        let file = |path: &str, moved_at, score, given| {
            (RelPath::new(path.as_bytes()).unwrap(), Stability { moved_at, score }, given)
        };
        let mut files = [
            file("e", 7, 9, 4),
            file("b", 8, 0, 0),
            file("a", 0, 9, 3),
            file("c", 0, 1, 1),
            file("d", 0, 1, 2),
        ];
        arrange(&mut files, order, |f| &f.0, |f| f.1, |f| f.2);
        let paths: Vec<_> = files.iter().map(|f| f.0.to_string()).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn what_seldom_changes_comes_first_and_what_is_moving_last() {
        check(Order::Stable, &["c", "d", "a", "e", "b"]);
    }

    #[test]
    fn other_orders_are_as_named() {
        check(Order::Path, &["a", "b", "c", "d", "e"]);
        check(Order::Given, &["b", "c", "d", "a", "e"]);
    }
}
