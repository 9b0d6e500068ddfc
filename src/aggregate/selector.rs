//! Which files a person means by a word: a path, a folder, a name or a pattern.

use globset::GlobBuilder;
use globset::GlobMatcher;

use crate::model::RelPath;

/// Why a word selects nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The pattern cannot be read.
    #[error("read the pattern `{pattern}`")]
    Pattern {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        source: globset::Error,
    },
    /// The pattern cannot be read as git would.
    #[error("read the pattern `{pattern}`")]
    Ignored {
        /// The pattern as it was given.
        pattern: String,
        /// What is wrong with it.
        source: ignore::Error,
    },
}

/// A word that selects files.
#[derive(Debug, Clone)]
pub enum Selector {
    /// These bytes: a path, the path of a folder, or some of a path's parts in a row.
    Parts(Vec<u8>),
    /// A pattern with `*`, `?`, `[…]` or `{…}`; `*` stops at a slash, `**` does not. Names such as `[id].tsx` are
    /// common, so that the same bytes are taken literally as well.
    Pattern {
        /// The pattern.
        glob: Box<GlobMatcher>,
        /// Its bytes.
        word: Vec<u8>,
    },
}

impl Selector {
    /// Reads a word. A leading `./` and a trailing slash mean nothing.
    pub fn new(word: &str) -> Result<Self, Error> {
        let word = word.strip_prefix("./").unwrap_or(word).trim_end_matches('/');
        if !word.contains(['*', '?', '[', '{']) {
            return Ok(Self::Parts(word.as_bytes().to_vec()));
        }
        let glob = GlobBuilder::new(word).literal_separator(true).build();
        let glob = glob.map_err(|source| Error::Pattern { pattern: word.to_owned(), source })?;
        Ok(Self::Pattern { glob: Box::new(glob.compile_matcher()), word: word.as_bytes().to_vec() })
    }

    /// Reads a word of somebody who is not there to mend it: a pattern that cannot be read is a name.
    pub fn new_lenient(word: &str) -> Self {
        let name = || word.strip_prefix("./").unwrap_or(word).trim_end_matches('/').as_bytes().to_vec();
        Self::new(word).unwrap_or_else(|_| Self::Parts(name()))
    }

    /// Says whether the word is this file's path, or that of a folder it lies in.
    pub fn selects(&self, path: &RelPath) -> bool {
        match self {
            Self::Parts(word) => word.is_empty() || word == b"." || lies_in(path.as_bytes(), word),
            Self::Pattern { glob, word } => glob.is_match(path.as_path()) || lies_in(path.as_bytes(), word),
        }
    }

    /// Says whether the word is this file's path, its name, or some of its path's parts in a row.
    pub fn touches(&self, path: &RelPath) -> bool {
        match self {
            Self::Parts(word) if word.is_empty() => false,
            Self::Parts(word) => has_parts(path.as_bytes(), word),
            Self::Pattern { glob, word } => {
                let is_match = glob.is_match(path.as_path()) || glob.is_match(name_of(path));
                is_match || has_parts(path.as_bytes(), word)
            }
        }
    }
}

fn name_of(path: &RelPath) -> &std::path::Path {
    use std::os::unix::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(path.file_name()))
}

fn lies_in(path: &[u8], folder: &[u8]) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

fn has_parts(path: &[u8], parts: &[u8]) -> bool {
    let starts =
        std::iter::once(0).chain(path.iter().enumerate().filter(|(_, b)| **b == b'/').map(|(at, _)| at + 1));
    starts.into_iter().any(|start| lies_in(&path[start..], parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, path: &str, selects: bool, touches: bool) {
        let (selector, path) = (Selector::new(word).unwrap(), RelPath::new(path.as_bytes()).unwrap());
        assert_eq!((selector.selects(&path), selector.touches(&path)), (selects, touches), "{word} {path}");
    }

    #[test]
    fn a_path_a_folder_a_name_or_a_part_is_meant() {
        check("src/engine/run.py", "src/engine/run.py", true, true);
        check("./src/", "src/engine/run.py", true, true);
        check("engine", "src/engine/run.py", false, true);
        check("run.py", "src/engine/run.py", false, true);
        check("engine/run.py", "src/engine/run.py", false, true);
        check("run", "src/engine/run.py", false, false);
        check("src/eng", "src/engine/run.py", false, false);
        check(".", "src/engine/run.py", true, false);
    }

    #[test]
    fn a_pattern_means_whole_paths_or_names() {
        check("src/*.py", "src/a.py", true, true);
        check("src/*.py", "src/b/a.py", false, false);
        check("src/**/*.py", "src/b/a.py", true, true);
        check("test_*", "tests/test_a.py", false, true);
    }

    #[test]
    fn a_name_that_looks_like_a_pattern_is_meant_too() {
        check("app/[id]/page.tsx", "app/[id]/page.tsx", true, true);
        check("app/[id]", "app/[id]/page.tsx", true, true);
        check("[id]", "app/[id]/page.tsx", false, true);
        check("[id]", "app/i", false, true);
    }

    #[test]
    fn a_broken_pattern_is_refused() {
        assert!(Selector::new("a[").is_err());
        let (selector, path) = (Selector::new_lenient("./a["), RelPath::new(b"a[/b.py").unwrap());
        assert!(selector.selects(&path));
    }
}
