//! In which order files stand, so that what a provider has cached stays the beginning of the document.

use std::cmp::Ordering;

use crate::model::FileOrder;
use crate::model::RelPath;

/// How likely a file's block is to change: what is likely to change stands last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct FileStability {
    /// Which commit since the scores were frozen changed the rendered block last, counted from 1; 0 for none, and the
    /// highest number for what is not committed.
    pub changed_at: u32,
    /// How often commits changed the file, each change halved with age; in millionths.
    pub score: u64,
}

/// Sorts `files`. `given` ranks a file by the place at which the request named it.
pub fn sort_files<T>(
    files: &mut [T],
    order: FileOrder,
    path: impl Fn(&T) -> &RelPath,
    stability: impl Fn(&T) -> FileStability,
    given: impl Fn(&T) -> usize,
) {
    files.sort_by(|a, b| {
        let first = match order {
            FileOrder::Stable => stability(a).cmp(&stability(b)),
            FileOrder::Given => given(a).cmp(&given(b)),
            FileOrder::Path => Ordering::Equal,
        };
        first.then_with(|| path(a).cmp(path(b)))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(order: FileOrder, expected: &[&str]) {
        let file = |path: &str, moved_at, score, given| {
            (RelPath::new(path.as_bytes()).unwrap(), FileStability { changed_at: moved_at, score }, given)
        };
        let mut files = [
            file("e", 7, 9, 4),
            file("b", 8, 0, 0),
            file("a", 0, 9, 3),
            file("c", 0, 1, 1),
            file("d", 0, 1, 2),
        ];
        sort_files(&mut files, order, |f| &f.0, |f| f.1, |f| f.2);
        let paths: Vec<_> = files.iter().map(|f| f.0.to_string()).collect();
        assert_eq!(paths, expected);
    }

    #[test]
    fn what_seldom_changes_comes_first_and_what_is_moving_last() {
        check(FileOrder::Stable, &["c", "d", "a", "e", "b"]);
    }

    #[test]
    fn other_orders_are_as_named() {
        check(FileOrder::Path, &["a", "b", "c", "d", "e"]);
        check(FileOrder::Given, &["b", "c", "d", "a", "e"]);
    }
}
