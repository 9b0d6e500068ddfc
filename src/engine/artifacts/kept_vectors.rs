//! The term vectors that a process keeps between answers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::model::{ContentHash, lock};

/// The maximum size of a project's vectors that are kept in memory: those of some 15,000 files.
const MAX_BYTES: usize = 8 << 20;

/// The encoded term vectors of contents, each as the type that it is read as.
pub(in crate::engine) type VectorsByContent = HashMap<(ContentHash, &'static str), Arc<[u8]>>;

/// The term vectors of the files that were ranked last.
#[derive(Default)]
pub(in crate::engine) struct KeptVectors(Mutex<Arc<VectorsByContent>>);

impl KeptVectors {
    pub(super) fn get(&self) -> Arc<VectorsByContent> {
        Arc::clone(&lock(&self.0))
    }

    /// Keeps these vectors in the place of the last ones, if they are not too large.
    pub(super) fn replace(&self, vectors: &Arc<VectorsByContent>) {
        if vectors.values().map(|vector| vector.len()).sum::<usize>() <= MAX_BYTES {
            *lock(&self.0) = Arc::clone(vectors);
        }
    }
}
