//! The names of a project's files and folders, by which a text's paths are recognized.

use rustc_hash::FxHashSet;

use super::location::has_source_extension;
use crate::model::RelPath;

/// The names of a project's files and folders. Without them, only files with a common extension are recognized, and
/// only paths without blanks and brackets.
#[derive(Debug, Default)]
pub struct ProjectNames<'p> {
    files: FxHashSet<&'p [u8]>,
    /// The names of files and folders that are more than one word of a text: `[id]`, `My Project`, `@types`.
    unusual: FxHashSet<&'p [u8]>,
    /// The length of the longest of these.
    longest: usize,
}

/// A longer name with unusual characters is not recognized, so that the time is linear in the text.
const MAX_UNUSUAL_BYTES: usize = 64;

impl<'p> ProjectNames<'p> {
    /// Collects the names in the paths of a project's files.
    pub fn new(paths: impl Iterator<Item = &'p RelPath>) -> Self {
        let mut names = Self::default();
        let mut known_folders: FxHashSet<&[u8]> = FxHashSet::default();
        for path in paths {
            names.files.insert(path.file_name());
            names.add_unusual(path.file_name());
            // The ancestors of a known folder are known as well.
            for folder in path.ancestors().take_while(|folder| known_folders.insert(folder)) {
                names.add_unusual(folder.rsplit(|byte| *byte == b'/').next().unwrap_or_default());
            }
        }
        names
    }

    fn add_unusual(&mut self, name: &'p [u8]) {
        let is_usual =
            |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"_-.+~$".contains(byte);
        if name.len() <= MAX_UNUSUAL_BYTES && !name.iter().all(is_usual) {
            self.longest = self.longest.max(name.len());
            self.unusual.insert(name);
        }
    }

    /// Returns whether a path ends with a possible name of a file that a tool reads, or with that of one of the
    /// project's files. A name without a dot may be any word, unless a folder precedes it.
    pub(in crate::search) fn may_be_file(&self, path: &str) -> bool {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let is_path = name.len() < path.len() || name.contains('.');
        has_source_extension(path) || is_path && self.files.contains(name.as_bytes())
    }

    /// Returns whether all parts of a path that contain blanks are names of the project's files and folders.
    pub(super) fn has_known_blanks(&self, path: &str) -> bool {
        path.split(['/', '\\']).all(|name| !name.contains(' ') || self.unusual.contains(name.as_bytes()))
    }

    /// Returns a path without the `@` that marks it as a file in a prompt: `@src/a.py`. In `@types/node.d.ts`, it is a
    /// part of a folder's name.
    pub(in crate::search) fn without_at<'t>(&self, path: &'t str) -> &'t str {
        let name = path.split('/').next().unwrap_or_default();
        let is_named = self.unusual.contains(name.as_bytes());
        path.strip_prefix('@').filter(|_| !is_named).unwrap_or(path)
    }

    /// Returns the end of a file's or folder's name in a text that starts at a position and continues after a separator;
    /// `None` if the project has no such name.
    pub(in crate::search) fn unusual_end(&self, text: &str, start: usize, separator: usize) -> Option<usize> {
        let longest = start + self.longest;
        if longest <= separator {
            return None;
        }
        let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-'));
        let ends =
            text[separator..].char_indices().take(self.longest + 1).skip(1).filter(|(_, c)| is_end(*c));
        let ends = ends.map(|(at, _)| separator + at).chain([text.len()]);
        let mut near = ends.take_while(|end| *end <= longest && separator < *end);
        near.find(|end| self.unusual.contains(&text.as_bytes()[start..*end]))
    }
}
