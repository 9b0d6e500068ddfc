//! C and C++: the files that `#include` lines name.

use rustc_hash::FxHashMap;

use crate::references::project::{FileId, NameRules, ProjectIndex, folder_of, joined, shared_prefix};

/// The maximum number of files with one name that are considered.
const MAX_SAME_NAME: usize = 64;

/// Finds the files that `#include` lines name.
#[derive(Default)]
pub(in crate::references) struct IncludePaths<'a> {
    by_basename: FxHashMap<&'a str, Vec<FileId>>,
}

impl<'a> IncludePaths<'a> {
    pub(in crate::references) fn new(index: &ProjectIndex<'a>) -> Self {
        let mut by_basename: FxHashMap<&str, Vec<FileId>> = FxHashMap::default();
        for (id, file) in (0..).zip(index.files) {
            if matches!(index.rules[id as usize], Some(NameRules::C | NameRules::Cpp)) {
                let name = file.path.rsplit('/').next().unwrap_or_default();
                by_basename.entry(name).or_default().push(id);
            }
        }
        Self { by_basename }
    }

    /// Returns the file that an `#include` names: in the same folder, or the nearest one whose path ends with it.
    pub(in crate::references) fn find(
        &self,
        index: &ProjectIndex<'_>,
        from: FileId,
        written: &str,
    ) -> Option<FileId> {
        let path = &index.file(from).path;
        let mut folder = folder_of(path);
        let mut rest = written;
        while let Some(below) = rest.strip_prefix("../") {
            folder = folder_of(folder);
            rest = below;
        }
        if let Some(beside) = index.by_path.get(joined(folder, rest).as_str()) {
            return Some(*beside);
        }
        let name = written.rsplit('/').next().unwrap_or_default();
        let candidates = self.by_basename.get(name)?.iter().copied().take(MAX_SAME_NAME);
        let is_match = |file: &FileId| {
            let candidate = &index.file(*file).path;
            candidate.strip_suffix(rest).is_some_and(|before| before.is_empty() || before.ends_with('/'))
        };
        let near = |file: &FileId| (shared_prefix(&index.file(*file).path, path), std::cmp::Reverse(*file));
        candidates.filter(is_match).max_by_key(near)
    }
}
