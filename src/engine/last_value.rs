//! The last result of a computation, as cached by a long-running process.

use std::sync::{Arc, Mutex};

use crate::model::lock;

/// A value with the key that it was computed for.
pub(in crate::engine) struct LastValue<K, T>(Mutex<Option<(K, Arc<T>)>>);

impl<K, T> Default for LastValue<K, T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<K: PartialEq, T> LastValue<K, T> {
    /// Returns the value, if it was computed for this key.
    pub(in crate::engine) fn get(&self, key: &K) -> Option<Arc<T>> {
        let last = lock(&self.0);
        last.as_ref().filter(|(of, _)| of == key).map(|(_, value)| Arc::clone(value))
    }

    pub(in crate::engine) fn insert(&self, key: K, value: &Arc<T>) {
        *lock(&self.0) = Some((key, Arc::clone(value)));
    }
}
