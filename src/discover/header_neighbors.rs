//! Decides whether an ambiguous header is C++ from the names of the sources around it.

use std::collections::{HashMap, HashSet};

use crate::model::RelPath;

/// The C and C++ sources of a project, by folder and name.
#[derive(Debug, Clone, Default)]
pub struct HeaderNeighbors {
    c: SourceNames,
    cpp: SourceNames,
}

/// Names of sources without their extensions, by folder.
#[derive(Debug, Clone, Default)]
struct SourceNames(HashMap<Box<[u8]>, HashSet<Box<[u8]>>>);

impl HeaderNeighbors {
    /// Collects the names of the sources among all files of a project.
    pub fn from_paths<'a>(paths: impl Iterator<Item = &'a RelPath>) -> Self {
        let mut neighbors = Self::default();
        for path in paths {
            match source_language(path) {
                Some(SourceLanguage::C) => neighbors.c.insert(path),
                Some(SourceLanguage::Cpp) => neighbors.cpp.insert(path),
                None => {}
            }
        }
        neighbors
    }

    /// Returns whether the sources of a folder suffice for a decision, so that those of the whole project are not
    /// needed.
    pub fn decides_in(&self, folder: &[u8]) -> bool {
        self.c.0.contains_key(folder) || self.cpp.0.contains_key(folder)
    }

    /// Returns whether an ambiguous header is C++: like the source with the same name, else like the sources in its
    /// folder, else like those of the whole project; C if these are mixed.
    pub(super) fn suggests_cpp(&self, header: &RelPath) -> bool {
        if self.c.has_twin(header) {
            return false;
        }
        if self.cpp.has_twin(header) {
            return true;
        }
        let folder = header.parent();
        match (self.c.0.contains_key(folder), self.cpp.0.contains_key(folder)) {
            (true, _) => false,
            (false, true) => true,
            (false, false) => self.c.0.is_empty() && !self.cpp.0.is_empty(),
        }
    }
}

impl SourceNames {
    fn insert(&mut self, source: &RelPath) {
        // Looked up before it is allocated, because a folder occurs once for each of its files.
        let stem = source.stem().into();
        match self.0.get_mut(source.parent()) {
            Some(stems) => {
                stems.insert(stem);
            }
            None => {
                self.0.insert(source.parent().into(), HashSet::from([stem]));
            }
        }
    }

    fn has_twin(&self, header: &RelPath) -> bool {
        let stems = self.0.get(header.parent());
        stems.is_some_and(|stems| stems.contains(header.stem()))
    }
}

enum SourceLanguage {
    C,
    Cpp,
}

/// Headers such as `.hpp` do not count, because many C libraries include one.
fn source_language(path: &RelPath) -> Option<SourceLanguage> {
    let extension = path.extension()?;
    if extension == b"C" {
        return Some(SourceLanguage::Cpp);
    }
    match extension.to_ascii_lowercase().as_slice() {
        b"c" => Some(SourceLanguage::C),
        b"cc" | b"cpp" | b"cxx" | b"c++" | b"cppm" | b"ixx" | b"cp" => Some(SourceLanguage::Cpp),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sources: &[&str], header: &str, cpp: bool) {
        let path = |text: &str| RelPath::new(text.as_bytes()).unwrap();
        let paths: Vec<RelPath> = sources.iter().map(|source| path(source)).collect();
        let neighbors = HeaderNeighbors::from_paths(paths.iter());
        assert_eq!(neighbors.suggests_cpp(&path(header)), cpp, "{header} among {sources:?}");
    }

    #[test]
    fn a_source_of_the_same_name_decides() {
        check(&["a/x.cpp", "a/y.c"], "a/x.h", true);
        check(&["a/x.cpp", "a/y.c"], "a/y.h", false);
        check(&["a/x.cpp", "a/x.c"], "a/x.h", false);
        check(&["b/x.cpp", "a/y.c"], "a/x.h", false);
    }

    #[test]
    fn otherwise_the_sources_of_the_folder_decide() {
        check(&["a/z.CC", "b/y.c"], "a/x.h", true);
        check(&["a/z.cpp", "a/y.c"], "a/x.h", false);
        check(&["a/Z.C", "b/y.c"], "a/x.h", true);
        check(&["a/z.hpp", "a/y.py"], "a/x.h", false);
    }

    #[test]
    fn a_folder_without_sources_does_not_decide() {
        let path = |text: &str| RelPath::new(text.as_bytes()).unwrap();
        let neighbors = HeaderNeighbors::from_paths([path("a/x.cpp"), path("b/y.h")].iter());
        assert!(neighbors.decides_in(b"a"));
        assert!(!neighbors.decides_in(b"b") && !neighbors.decides_in(b""));
    }

    #[test]
    fn otherwise_the_sources_of_the_project_decide() {
        check(&["src/z.cc"], "include/x.h", true);
        check(&["src/z.cc", "src/y.c"], "include/x.h", false);
        check(&["x.cxx"], "x.h", true);
        check(&[], "x.h", false);
    }
}
