//! Selects files by path, folder, name or pattern, and excludes files by pattern.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::model::{RelPath, bytes_as_path, is_within, normalized_path, unescaped_path};

/// Why a path or pattern is not valid.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("invalid pattern `{pattern}`")]
    Pattern { pattern: String, source: globset::Error },
    #[error("invalid pattern `{pattern}`")]
    Ignored { pattern: String, source: ignore::Error },
}

/// A path, name or pattern that selects files.
#[derive(Debug, Clone)]
pub enum Selector {
    /// Literal bytes: a path, the path of a folder, or consecutive components of a path.
    Parts(Vec<u8>),
    /// A pattern with `*`, `?`, `[…]` or `{…}`; `*` stops at a slash, `**` does not. Names such as `[id].tsx` are
    /// common, so that it also matches as literal bytes.
    Pattern { glob: Box<GlobMatcher>, word: Vec<u8> },
}

impl Selector {
    /// Parses a selector. A leading `./` and a trailing slash are ignored.
    pub fn new(word: &str) -> Result<Self, Error> {
        let word = &*normalized_path(word);
        if !word.contains(['*', '?', '[', '{']) {
            return Ok(Self::Parts(word.as_bytes().to_vec()));
        }
        let glob = GlobBuilder::new(word).literal_separator(true).build();
        let glob = glob.map_err(|source| Error::Pattern { pattern: word.to_owned(), source })?;
        Ok(Self::Pattern { glob: Box::new(glob.compile_matcher()), word: word.as_bytes().to_vec() })
    }

    /// Parses a selector that nobody can correct: an invalid pattern is taken as a name.
    pub fn new_lenient(word: &str) -> Self {
        Self::new(word).unwrap_or_else(|_| Self::Parts(normalized_path(word).into_bytes()))
    }

    /// Returns the only path that this can be; `None` for a pattern, and for a name that may be an escaped one.
    pub fn literal_path(&self) -> Option<RelPath> {
        match self {
            Self::Parts(word) if unescaped_path(word).is_none() => RelPath::new(word).ok(),
            Self::Parts(_) | Self::Pattern { .. } => None,
        }
    }

    /// Returns whether this is the file's path, or that of a folder that contains it.
    pub fn selects(&self, path: &RelPath) -> bool {
        match self {
            Self::Parts(word) => word.is_empty() || word == b"." || lies_in(path.as_bytes(), word),
            Self::Pattern { glob, word } => glob.is_match(path.as_path()) || lies_in(path.as_bytes(), word),
        }
    }

    /// Returns whether this is the file's path, its name, or consecutive components of its path.
    pub fn touches(&self, path: &RelPath) -> bool {
        match self {
            Self::Parts(word) if word.is_empty() => false,
            Self::Parts(word) => has_parts(path.as_bytes(), word),
            Self::Pattern { glob, word } => {
                // The name is matched too, because `*` stops at a slash: `*.py` is meant to match files in every
                // folder.
                let is_match = glob.is_match(path.as_path()) || glob.is_match(name_of(path));
                is_match || has_parts(path.as_bytes(), word)
            }
        }
    }
}

/// Returns whether a path is that of a folder, or inside it. A folder's name that is not UTF-8 may be given in its
/// escaped form.
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
/// A pattern excludes what git would ignore by it, and what a [`Selector`] of the same text touches: where the two
/// differ, the user wants to keep files private, so both are excluded.
#[derive(Debug)]
pub struct ExclusionPatterns {
    selectors: Vec<Selector>,
    ignored: Gitignore,
}

impl ExclusionPatterns {
    /// Parses the patterns of a project in the folder `root`. An invalid one is an error: a file that was meant to be
    /// excluded must not be shown because of a typo.
    pub fn new(patterns: &[String], root: &Path) -> Result<Self, Error> {
        let mut words = Vec::with_capacity(patterns.len());
        let mut ignored = GitignoreBuilder::new("");
        for pattern in patterns {
            let plain = normalize_pattern(pattern, root);
            words.push(Selector::new(plain.trim_start_matches('/'))?);
            // `!` and `#` have no special meaning here: a list of exclusions includes nothing.
            let escape = if plain.starts_with(['!', '#']) { "\\" } else { "" };
            let wrong = |source| Error::Ignored { pattern: pattern.clone(), source };
            ignored.add_line(None, &format!("{escape}{plain}")).map_err(wrong)?;
        }
        let wrong = |source| Error::Ignored { pattern: "all of them together".to_owned(), source };
        Ok(Self { selectors: words, ignored: ignored.build().map_err(wrong)? })
    }

    /// Returns whether a file is excluded, by itself or through a folder that contains it.
    pub fn excludes(&self, path: &RelPath) -> bool {
        self.selectors.iter().any(|word| word.touches(path) || word.selects(path))
            || self.ignored.matched_path_or_any_parents(path.as_path(), false).is_ignore()
    }
}

/// Returns a pattern relative to the root and normalized: `./a//b` is `a/b`.
fn normalize_pattern(pattern: &str, root: &Path) -> String {
    let pattern = pattern.trim();
    let below = root.to_str().filter(|root| 1 < root.len()).and_then(|root| pattern.strip_prefix(root));
    let pattern = below.filter(|rest| rest.starts_with('/')).unwrap_or(pattern);
    // A pattern with a trailing slash is a folder, as in git.
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
    fn a_path_a_folder_a_name_or_a_component_is_selected() {
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
    fn a_pattern_matches_whole_paths_or_names() {
        check("src/*.py", "src/a.py", true, true);
        check("src/*.py", "src/b/a.py", false, false);
        check("src/**/*.py", "src/b/a.py", true, true);
        check("test_*", "tests/test_a.py", false, true);
    }

    #[test]
    fn a_name_that_looks_like_a_pattern_is_matched_literally_too() {
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
    fn a_folder_is_excluded_with_its_contents_in_any_spelling() {
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
    fn other_files_are_not_excluded() {
        check("/deep", "private/shallow/a.py", false);
        check("private", "privately/a.py", false);
        check("/home/me/projects", "private/a.py", false);
        check("/home/me/project-2/private", "private/a.py", false);
    }

    #[test]
    fn a_list_of_exclusions_includes_nothing() {
        let both = ExclusionPatterns::new(&["a.py".to_owned(), "!a.py".to_owned()], Path::new("/p")).unwrap();
        assert!(both.excludes(&RelPath::new(b"a.py").unwrap()));
        check("#a", "#a", true);
        check("!a", "!a", true);
    }

    #[test]
    fn an_invalid_pattern_is_refused() {
        for pattern in ["{private", "a[", "/a["] {
            assert!(exclusions(pattern).is_err(), "{pattern}");
        }
    }
}
