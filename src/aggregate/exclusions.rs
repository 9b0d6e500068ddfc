//! Which files patterns exclude, however people are used to spell them.

use std::path::Path;

use ignore::gitignore::Gitignore;
use ignore::gitignore::GitignoreBuilder;

use super::selector::Error;
use super::selector::Selector;
use crate::model::RelPath;

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

    /// Says whether a file is excluded, by itself or with a folder that it lies in.
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
    let mut plain = pattern.strip_prefix("./").unwrap_or(pattern).to_owned();
    while plain.contains("//") {
        plain = plain.replace("//", "/");
    }
    plain.replace("/./", "/")
}

#[cfg(test)]
mod tests {
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
