//! Files with symbols that a mask hides: while an answer is made, they are replaced by the texts without these.
//!
//! Everything that an answer derives and shows comes from such a text rather than the file, so that no view, name, rank
//! or reference can mention what is hidden. The text has a hash of its own, under which its artifacts are stored;
//! readers get the hash of the file.

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
    /// The outline of the file's own text; `None` if its structure is unknown.
    pub(in crate::engine) outline: Option<Outline>,
    /// The text without hidden parts, in which every line keeps its number.
    pub(in crate::engine) visible: HashedText,
    /// The same text with only a note in place of each hidden part.
    pub(in crate::engine) shown: String,
}

impl HiddenSymbols {
    /// Returns whether the mask actually hides nothing in the file.
    pub(in crate::engine) fn hides_nothing(&self) -> bool {
        self.visible.1 == self.original.1
    }
}

/// The files with hidden symbols that the current answer has selected.
#[derive(Debug, Default)]
pub(in crate::engine) struct HiddenFiles {
    files: HashMap<RelPath, Arc<HiddenSymbols>>,
    /// All hidden names of any file, selected or not: in an earlier version, the symbol may be in another file.
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

    /// Returns the hidden symbols of a file; `None` if there are none.
    pub(in crate::engine) fn get(&self, path: &RelPath) -> Option<&Arc<HiddenSymbols>> {
        self.files.get(path)
    }

    /// Returns the hidden symbols of a file for the selected version: an earlier one is another text.
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
