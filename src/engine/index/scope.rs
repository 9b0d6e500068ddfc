//! The files that a snapshot is about.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::discover::DiscoveredFile;
use crate::engine::workspace::{FileRows, TreeTracker};
use crate::model::RelPath;

/// The files that a snapshot is about.
pub(super) enum SnapshotScope<'s> {
    All,
    /// The listing alone.
    Nothing,
    Matching(&'s (dyn Fn(&RelPath) -> bool + Sync)),
    Named(NamedPaths<'s>),
    /// As [`Self::Named`], and of the listing only what events have reported is checked.
    Reported(NamedPaths<'s>),
}

/// The number of paths up to which comparing them with one another is faster than looking up the folders of a path.
const FEW_PATHS: usize = 8;

/// Paths that were named, each of which may be a folder.
pub(super) struct NamedPaths<'p> {
    paths: &'p [RelPath],
    set: FxHashSet<&'p [u8]>,
}

impl SnapshotScope<'_> {
    pub(super) fn matches(&self, path: &RelPath) -> bool {
        match self {
            Self::All => true,
            Self::Nothing => false,
            Self::Matching(matches) => matches(path),
            Self::Named(named) | Self::Reported(named) => named.matches(path),
        }
    }

    /// Returns the positions of the files in a listing, which is sorted by path.
    pub(super) fn places(&self, files: &[DiscoveredFile]) -> Vec<usize> {
        match self {
            Self::All => (0..files.len()).collect(),
            Self::Nothing => Vec::new(),
            Self::Matching(matches) => (0..files.len()).filter(|at| matches(&files[*at].path)).collect(),
            Self::Named(named) | Self::Reported(named) => named.places(files),
        }
    }

    /// Returns the rows of the files, also of those that are not listed any more, and perhaps of others. Of named files it
    /// is a copy: as long as an answer holds all rows, they are copied for each change.
    pub(super) fn rows(
        &self,
        rows: Arc<FileRows>,
        files: &[DiscoveredFile],
        tree: Option<&TreeTracker>,
    ) -> Arc<FileRows> {
        match self {
            Self::Named(named) | Self::Reported(named) => Arc::new(named.rows(&rows, files, tree)),
            Self::All | Self::Nothing | Self::Matching(_) => rows,
        }
    }
}

impl<'p> NamedPaths<'p> {
    pub(super) fn of(paths: &'p [RelPath]) -> Self {
        Self { paths, set: paths.iter().map(RelPath::as_bytes).collect() }
    }

    /// Returns whether a path, or a folder that it lies in, was named.
    fn matches(&self, path: &RelPath) -> bool {
        let path = path.as_bytes();
        if self.paths.len() <= FEW_PATHS {
            let rest = |named: &RelPath| path.strip_prefix(named.as_bytes());
            return self.paths.iter().filter_map(rest).any(|rest| matches!(rest, [] | [b'/', ..]));
        }
        let mut slashes = (0..path.len()).filter(|at| path[*at] == b'/');
        self.set.contains(path) || slashes.any(|slash| self.set.contains(&path[..slash]))
    }

    /// Looks each path up, because the files of a large project are many more than those that change at once.
    fn places(&self, files: &[DiscoveredFile]) -> Vec<usize> {
        let mut places = Vec::new();
        for path in self.paths {
            places.extend(place_of(path, files));
            let inside = [path.as_bytes(), b"/"].concat();
            let first = files.partition_point(|found| found.path.as_bytes() < inside.as_slice());
            let count = files[first..].iter().take_while(|found| found.path.as_bytes().starts_with(&inside));
            places.extend(first..first + count.count());
        }
        places.sort_unstable();
        places.dedup();
        places
    }

    fn rows(&self, rows: &FileRows, files: &[DiscoveredFile], tree: Option<&TreeTracker>) -> FileRows {
        let is_file = |path: &RelPath| {
            rows.contains_key(path)
                && place_of(path, files).is_some()
                // An answer may have found a file where there was a folder.
                && tree.is_none_or(|tree| !tree.is_unreported_addition(path))
        };
        if self.paths.iter().all(is_file) {
            let row = |path: &RelPath| Some((path.clone(), Arc::clone(rows.get(path)?)));
            return self.paths.iter().filter_map(row).collect();
        }
        // What is known of a folder is in no order.
        let named = rows.iter().filter(|(path, _)| self.matches(path));
        named.map(|(path, row)| (path.clone(), Arc::clone(row))).collect()
    }
}

/// Returns the position of a file in a listing.
pub(super) fn place_of(path: &RelPath, files: &[DiscoveredFile]) -> Option<usize> {
    files.binary_search_by(|found| found.path.cmp(path)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_files_are_found_where_a_look_at_each_file_finds_them() {
        let paths = ["a", "a b/c", "a-b", "a.py", "a/b", "a/b.py", "a/b/c.py", "a/c", "a0", "b", "é/a"];
        let paths = paths.map(|path| RelPath::new(path.as_bytes()).unwrap());
        let file = |path: &RelPath| DiscoveredFile { path: path.clone(), skip_reason: None, tracked: true };
        let files: Vec<DiscoveredFile> = paths.iter().map(file).collect();
        assert!(files.is_sorted_by_key(|found| &found.path));
        let mut names: Vec<RelPath> = paths.to_vec();
        names.extend(["a b", "a/b/c", "é", "z"].map(|path| RelPath::new(path.as_bytes()).unwrap()));
        for pair in names.iter().flat_map(|one| names.iter().map(move |other| [one.clone(), other.clone()])) {
            let scope = SnapshotScope::Named(NamedPaths::of(&pair));
            let each = (0..files.len()).filter(|at| scope.matches(&files[*at].path));
            assert_eq!(scope.places(&files), each.collect::<Vec<_>>(), "{pair:?}");
        }
        // Enough for a look-up.
        let many = ["a b", "a/b", "b", "c", "d", "e", "f", "g", "h"];
        let many = many.map(|path| RelPath::new(path.as_bytes()).unwrap());
        assert!(FEW_PATHS < many.len());
        let looked_up = NamedPaths::of(&many);
        for path in &paths {
            let compared = many.iter().any(|one| NamedPaths::of(std::slice::from_ref(one)).matches(path));
            assert_eq!(looked_up.matches(path), compared, "{path}");
        }
        let inside = NamedPaths::of(&names[4..5]).places(&files);
        assert_eq!(inside, [4, 6], "a/b, and what would be in it if it were a folder");
    }
}
