//! Term vectors that a process caches between answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::model::{ContentHash, lock};

/// The maximum size of the cached vectors of a project: those of some 15,000 files.
const MAX_BYTES: usize = 8 << 20;

/// The encoded term vectors of contents, by content and file type.
pub(in crate::engine) type VectorsByContent = HashMap<(ContentHash, &'static str), Arc<[u8]>>;

/// The term vectors of the files that were ranked last.
#[derive(Default)]
pub(in crate::engine) struct KeptVectors(Mutex<Arc<VectorsByContent>>);

impl KeptVectors {
    pub(super) fn get(&self) -> Arc<VectorsByContent> {
        Arc::clone(&lock(&self.0))
    }

    /// Replaces the cached vectors by these, unless they are too large.
    pub(super) fn replace(&self, vectors: &Arc<VectorsByContent>) {
        if vectors.values().map(|vector| vector.len()).sum::<usize>() <= MAX_BYTES {
            *lock(&self.0) = Arc::clone(vectors);
        }
    }
}
