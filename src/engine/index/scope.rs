//! The set of files that a snapshot covers.

use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::discover::DiscoveredFile;
use crate::engine::workspace::{FileRows, TreeTracker};
use crate::model::RelPath;

/// The set of files that a snapshot covers.
pub(super) enum SnapshotScope<'s> {
    All,
    /// Only the listing.
    Nothing,
    Matching(&'s (dyn Fn(&RelPath) -> bool + Sync)),
    Named(NamedPaths<'s>),
    /// As [`Self::Named`], but of the listing only what events have reported is checked.
    Reported(NamedPaths<'s>),
}

/// Up to this number of paths, comparing each with a path is faster than looking up the path's folders.
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

    /// Returns the rows of the files, including those that are no longer listed, and perhaps of others. For named
    /// files, it is a copy: if an answer held all rows, each change would have to copy them.
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
    pub(super) fn new(paths: &'p [RelPath]) -> Self {
        Self { paths, set: paths.iter().map(RelPath::as_bytes).collect() }
    }

    /// Returns whether a path, or a folder that contains it, was named.
    fn matches(&self, path: &RelPath) -> bool {
        let path = path.as_bytes();
        if self.paths.len() <= FEW_PATHS {
            let rest = |named: &RelPath| path.strip_prefix(named.as_bytes());
            return self.paths.iter().filter_map(rest).any(|rest| matches!(rest, [] | [b'/', ..]));
        }
        let mut slashes = (0..path.len()).filter(|at| path[*at] == b'/');
        self.set.contains(path) || slashes.any(|slash| self.set.contains(&path[..slash]))
    }

    /// Looks up each path, because a large project has many more files than change at once.
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
                // An answer may have found a file in place of a folder.
                && tree.is_none_or(|tree| !tree.is_unreported_addition(path))
        };
        if self.paths.iter().all(is_file) {
            let row = |path: &RelPath| Some((path.clone(), Arc::clone(rows.get(path)?)));
            return self.paths.iter().filter_map(row).collect();
        }
        // The rows of a folder's files are in arbitrary order.
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
    fn named_files_are_found_as_by_checking_each_file() {
        let paths = ["a", "a b/c", "a-b", "a.py", "a/b", "a/b.py", "a/b/c.py", "a/c", "a0", "b", "é/a"];
        let paths = paths.map(|path| RelPath::new(path.as_bytes()).unwrap());
        let file = |path: &RelPath| DiscoveredFile { path: path.clone(), skip_reason: None, tracked: true };
        let files: Vec<DiscoveredFile> = paths.iter().map(file).collect();
        assert!(files.is_sorted_by_key(|found| &found.path));
        let mut names: Vec<RelPath> = paths.to_vec();
        names.extend(["a b", "a/b/c", "é", "z"].map(|path| RelPath::new(path.as_bytes()).unwrap()));
        for pair in names.iter().flat_map(|one| names.iter().map(move |other| [one.clone(), other.clone()])) {
            let scope = SnapshotScope::Named(NamedPaths::new(&pair));
            let each = (0..files.len()).filter(|at| scope.matches(&files[*at].path));
            assert_eq!(scope.places(&files), each.collect::<Vec<_>>(), "{pair:?}");
        }
        // Enough paths for the lookup of folders.
        let many = ["a b", "a/b", "b", "c", "d", "e", "f", "g", "h"];
        let many = many.map(|path| RelPath::new(path.as_bytes()).unwrap());
        assert!(FEW_PATHS < many.len());
        let looked_up = NamedPaths::new(&many);
        for path in &paths {
            let compared = many.iter().any(|one| NamedPaths::new(std::slice::from_ref(one)).matches(path));
            assert_eq!(looked_up.matches(path), compared, "{path}");
        }
        let inside = NamedPaths::new(&names[4..5]).places(&files);
        assert_eq!(inside, [4, 6], "a/b, and what would be in it if it were a folder");
    }
}
