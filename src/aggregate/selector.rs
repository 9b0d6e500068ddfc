//! Which files a person means: by a path, a folder, a name or a pattern; by exclusions.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::model::{RelPath, bytes_as_path, is_within, normalized_path, unescaped_path};

/// Why a word selects nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("invalid pattern `{pattern}`")]
    Pattern { pattern: String, source: globset::Error },
    #[error("invalid pattern `{pattern}`")]
    Ignored { pattern: String, source: ignore::Error },
}

/// A word that selects files.
#[derive(Debug, Clone)]
pub enum Selector {
    /// These bytes: a path, the path of a folder, or some of a path's parts in a row.
    Parts(Vec<u8>),
    /// A pattern with `*`, `?`, `[…]` or `{…}`; `*` stops at a slash, `**` does not. Names such as `[id].tsx` are
    /// common, so that the same bytes are taken literally as well.
    Pattern { glob: Box<GlobMatcher>, word: Vec<u8> },
}

impl Selector {
    /// Reads a word. A leading `./` and a trailing slash mean nothing.
    pub fn new(word: &str) -> Result<Self, Error> {
        let word = &*normalized_path(word);
        if !word.contains(['*', '?', '[', '{']) {
            return Ok(Self::Parts(word.as_bytes().to_vec()));
        }
        let glob = GlobBuilder::new(word).literal_separator(true).build();
        let glob = glob.map_err(|source| Error::Pattern { pattern: word.to_owned(), source })?;
        Ok(Self::Pattern { glob: Box::new(glob.compile_matcher()), word: word.as_bytes().to_vec() })
    }

    /// Reads a word of somebody who is not there to correct it: a pattern that cannot be read is a name.
    pub fn new_lenient(word: &str) -> Self {
        Self::new(word).unwrap_or_else(|_| Self::Parts(normalized_path(word).into_bytes()))
    }

    /// Returns the only path that the word can be; `None` for a pattern, and for a name that may be spelled as it is
    /// printed.
    pub fn literal_path(&self) -> Option<RelPath> {
        match self {
            Self::Parts(word) if unescaped_path(word).is_none() => RelPath::new(word).ok(),
            Self::Parts(_) | Self::Pattern { .. } => None,
        }
    }

    /// Returns whether the word is this file's path, or that of a folder it lies in.
    pub fn selects(&self, path: &RelPath) -> bool {
        match self {
            Self::Parts(word) => word.is_empty() || word == b"." || lies_in(path.as_bytes(), word),
            Self::Pattern { glob, word } => glob.is_match(path.as_path()) || lies_in(path.as_bytes(), word),
        }
    }

    /// Returns whether the word is this file's path, its name, or some of its path's parts in a row.
    pub fn touches(&self, path: &RelPath) -> bool {
        match self {
            Self::Parts(word) if word.is_empty() => false,
            Self::Parts(word) => has_parts(path.as_bytes(), word),
            Self::Pattern { glob, word } => {
                // By the name too, because `*` stops at a slash: `*.py` is to reach files in every folder.
                let is_match = glob.is_match(path.as_path()) || glob.is_match(name_of(path));
                is_match || has_parts(path.as_bytes(), word)
            }
        }
    }
}

/// Returns whether a path is that of a folder or of something in it. A folder's name that is not UTF-8 may be spelled as
/// it is printed.
fn lies_in(path: &[u8], folder: &[u8]) -> bool {
    is_within(path, folder) || unescaped_path(folder).is_some_and(|folder| is_within(path, &folder))
}

fn name_of(path: &RelPath) -> &std::path::Path {
    bytes_as_path(path.file_name())
}

fn has_parts(path: &[u8], parts: &[u8]) -> bool {
    let starts =
        std::iter::once(0).chain(path.iter().enumerate().filter(|(_, b)| **b == b'/').map(|(at, _)| at + 1));
    starts.into_iter().any(|start| lies_in(&path[start..], parts))
}

/// Patterns that exclude files.
///
/// A pattern excludes what git would ignore by it, and what a [`Selector`] of these words touches: where the two differ,
/// the one that excludes more is what somebody meant who wants to keep a file to himself.
#[derive(Debug)]
pub struct ExclusionPatterns {
    selectors: Vec<Selector>,
    ignored: Gitignore,
}

impl ExclusionPatterns {
    /// Reads the patterns of a project in the folder `root`. One that cannot be read is an error: a file that was to be
    /// excluded must not be shown because of a slip.
    pub fn new(patterns: &[String], root: &Path) -> Result<Self, Error> {
        let mut words = Vec::with_capacity(patterns.len());
        let mut ignored = GitignoreBuilder::new("");
        for pattern in patterns {
            let plain = normalize_pattern(pattern, root);
            words.push(Selector::new(plain.trim_start_matches('/'))?);
            // Neither mark has its meaning here: a list of what is excluded lets nothing in.
            let escape = if plain.starts_with(['!', '#']) { "\\" } else { "" };
            let wrong = |source| Error::Ignored { pattern: pattern.clone(), source };
            ignored.add_line(None, &format!("{escape}{plain}")).map_err(wrong)?;
        }
        let wrong = |source| Error::Ignored { pattern: "all of them together".to_owned(), source };
        Ok(Self { selectors: words, ignored: ignored.build().map_err(wrong)? })
    }

    /// Returns whether a file is excluded, by itself or with a folder that it lies in.
    pub fn excludes(&self, path: &RelPath) -> bool {
        self.selectors.iter().any(|word| word.touches(path) || word.selects(path))
            || self.ignored.matched_path_or_any_parents(path.as_path(), false).is_ignore()
    }
}

/// Returns a pattern relative to the root, without what means nothing: `./a//b` is `a/b`.
fn normalize_pattern(pattern: &str, root: &Path) -> String {
    let pattern = pattern.trim();
    let below = root.to_str().filter(|root| 1 < root.len()).and_then(|root| pattern.strip_prefix(root));
    let pattern = below.filter(|rest| rest.starts_with('/')).unwrap_or(pattern);
    // What ends in a slash is a folder, as git reads a pattern.
    let mut plain = normalized_path(pattern);
    if pattern.ends_with('/') && !plain.is_empty() && plain != "/" {
        plain.push('/');
    }
    plain
}

#[cfg(test)]
mod selector_tests {
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

#[cfg(test)]
mod exclusions_tests {
    use super::*;

    fn exclusions(pattern: &str) -> Result<ExclusionPatterns, Error> {
        ExclusionPatterns::new(&[pattern.to_owned()], Path::new("/home/me/project"))
    }

    #[track_caller]
    fn check(pattern: &str, path: &str, excludes: bool) {
        let path = RelPath::new(path.as_bytes()).unwrap();
        assert_eq!(exclusions(pattern).unwrap().excludes(&path), excludes, "{pattern} {path}");
    }

    #[test]
    fn a_folder_is_excluded_with_all_in_it_however_it_is_spelled() {
        for pattern in [
            "private",
            "private/",
            "/private",
            "/private/",
            "./private",
            "./private/",
            "private/*",
            "/private/*",
            "private/**",
            "**/deep",
            "**/deep/",
            "private//deep",
            "private/./deep",
            "*/deep",
            "priv*",
            "/home/me/project/private",
            "/home/me/project/private/",
            " private ",
            "private/deep/a.py",
            "*.py",
        ] {
            check(pattern, "private/deep/a.py", true);
            check(pattern, "public/b.rs", false);
        }
    }

    #[test]
    fn what_is_not_meant_is_not_excluded() {
        check("/deep", "private/shallow/a.py", false);
        check("private", "privately/a.py", false);
        check("/home/me/projects", "private/a.py", false);
        check("/home/me/project-2/private", "private/a.py", false);
    }

    #[test]
    fn a_list_of_what_is_excluded_lets_nothing_in() {
        let both = ExclusionPatterns::new(&["a.py".to_owned(), "!a.py".to_owned()], Path::new("/p")).unwrap();
        assert!(both.excludes(&RelPath::new(b"a.py").unwrap()));
        check("#a", "#a", true);
        check("!a", "!a", true);
    }

    #[test]
    fn a_pattern_that_cannot_be_read_is_refused() {
        for pattern in ["{private", "a[", "/a["] {
            assert!(exclusions(pattern).is_err(), "{pattern}");
        }
    }
}
