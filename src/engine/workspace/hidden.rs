//! Files of which a mask hides some symbols: for as long as an answer is made, they are the texts without these.
//!
//! Everything that is derived for an answer, and everything that it shows, comes from such a text and not from the file,
//! so that no view, name, rank or reference can mention what is hidden. It has a hash of its own, under which its
//! artifacts are kept; readers are given that of the file.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::files::HashedText;
use crate::model::{ContentHash, MaskMode, Outline, RelPath};

/// A file with symbols that a mask hides.
#[derive(Debug)]
pub(in crate::engine) struct HiddenSymbols {
    pub(in crate::engine) mask: Vec<(String, MaskMode)>,
    /// The file's own text.
    pub(in crate::engine) original: HashedText,
    /// The outline of the file's own text; `None` if its structure is not known.
    pub(in crate::engine) outline: Option<Outline>,
    /// The text without what is hidden, in which every line has the number that it has in the file.
    pub(in crate::engine) visible: HashedText,
    /// The same text with a note alone in place of what is hidden.
    pub(in crate::engine) shown: String,
}

impl HiddenSymbols {
    /// Returns whether the mask hides nothing of the file after all.
    pub(in crate::engine) fn hides_nothing(&self) -> bool {
        self.visible.1 == self.original.1
    }
}

/// The files with hidden symbols, as far as the answer in progress has selected them.
#[derive(Debug, Default)]
pub(in crate::engine) struct HiddenFiles {
    files: HashMap<RelPath, Arc<HiddenSymbols>>,
    /// What is hidden of any file, selected or not: in an earlier version it may be in another file.
    pub(in crate::engine) keys: BTreeSet<String>,
}

impl HiddenFiles {
    pub(in crate::engine) fn clear(&mut self) {
        self.files.clear();
        self.keys.clear();
    }

    pub(in crate::engine) fn insert(&mut self, path: RelPath, hidden: HiddenSymbols) {
        self.files.insert(path, Arc::new(hidden));
    }

    /// Returns what is hidden of a file; `None` if nothing is.
    pub(in crate::engine) fn get(&self, path: &RelPath) -> Option<&Arc<HiddenSymbols>> {
        self.files.get(path)
    }

    /// Returns what is hidden of a file in the version that was selected: an earlier one is another text.
    pub(in crate::engine) fn of_content(
        &self,
        path: &RelPath,
        content: &ContentHash,
    ) -> Option<&Arc<HiddenSymbols>> {
        self.get(path).filter(|hidden| hidden.visible.0 == *content)
    }

    /// Returns the hash of the bytes of a file whose text has the hash `content`.
    pub(in crate::engine) fn file_hash(&self, path: &RelPath, content: ContentHash) -> ContentHash {
        self.of_content(path, &content).map_or(content, |hidden| hidden.original.0)
    }
}
