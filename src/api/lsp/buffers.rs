//! The texts that the client has open, which take precedence over the files on disk.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::text::{IndexedText, PositionEncoding, TextChange};

/// An open text.
#[derive(Debug, Clone)]
pub(super) struct OpenBuffer {
    /// Its address in the client's spelling.
    pub(super) uri: String,
    pub(super) text: IndexedText,
}

/// The open texts by absolute path. A request uses those that were open when it was received.
#[derive(Debug, Clone, Default)]
pub(super) struct OpenBuffers(HashMap<PathBuf, Arc<OpenBuffer>>);

impl OpenBuffers {
    pub(super) fn open(&mut self, path: PathBuf, uri: String, text: String) {
        self.0.insert(path, Arc::new(OpenBuffer { uri, text: IndexedText::new(text) }));
    }

    /// Changes an open text. Returns whether it is open.
    pub(super) fn change(
        &mut self,
        path: &Path,
        changes: Vec<TextChange>,
        encoding: PositionEncoding,
    ) -> bool {
        let Some(buffer) = self.0.get_mut(path) else { return false };
        let OpenBuffer { uri, text } = OpenBuffer::clone(buffer);
        *buffer = Arc::new(OpenBuffer { uri, text: text.changed(changes, encoding) });
        true
    }

    pub(super) fn close(&mut self, path: &Path) {
        self.0.remove(path);
    }

    pub(super) fn get(&self, path: &Path) -> Option<&Arc<OpenBuffer>> {
        self.0.get(path)
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }
}
