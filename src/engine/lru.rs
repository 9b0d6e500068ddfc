//! A cache of values that keeps those used last, in a long-running process.

use std::hash::Hash;
use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;

use crate::model::lock;

/// A value with a known size.
pub(in crate::engine) trait MemorySize {
    /// Returns the approximate size in bytes.
    fn memory_size(&self) -> usize;
}

/// The values that were used last, with a total size of at most `MAX_BYTES`.
pub(in crate::engine) struct LruCache<K, V, const MAX_BYTES: usize>(Mutex<LruEntries<K, V>>);

struct LruEntries<K, V> {
    entries: FxHashMap<K, LruEntry<V>>,
    bytes: usize,
    uses: u64,
}

struct LruEntry<V> {
    value: Arc<V>,
    /// Recorded when the value was inserted, because some values grow.
    bytes: usize,
    last_use: u64,
}

impl<K, V, const MAX_BYTES: usize> Default for LruCache<K, V, MAX_BYTES> {
    fn default() -> Self {
        Self(Mutex::new(LruEntries { entries: FxHashMap::default(), bytes: 0, uses: 0 }))
    }
}

impl<K: Eq + Hash, V: MemorySize, const MAX_BYTES: usize> LruCache<K, V, MAX_BYTES> {
    pub(in crate::engine) fn get(&self, key: &K) -> Option<Arc<V>> {
        let LruEntries { entries, uses, .. } = &mut *lock(&self.0);
        let entry = entries.get_mut(key)?;
        *uses += 1;
        entry.last_use = *uses;
        Some(Arc::clone(&entry.value))
    }

    pub(in crate::engine) fn contains(&self, key: &K) -> bool {
        lock(&self.0).entries.contains_key(key)
    }

    /// Adds a value, and evicts others if all together are too large. A value that is too large by itself is not kept.
    pub(in crate::engine) fn insert(&self, key: K, value: Arc<V>) {
        let cache = &mut *lock(&self.0);
        let bytes = value.memory_size();
        if MAX_BYTES < bytes {
            cache.bytes -= cache.entries.remove(&key).map_or(0, |old| old.bytes);
            return;
        }
        cache.uses += 1;
        let entry = LruEntry { bytes, value, last_use: cache.uses };
        cache.bytes += bytes;
        cache.bytes -= cache.entries.insert(key, entry).map_or(0, |old| old.bytes);
        while MAX_BYTES < cache.bytes {
            cache.evict();
        }
    }
}

impl<K, V> LruEntries<K, V> {
    /// Evicts the least recently used quarter of the values.
    fn evict(&mut self) {
        // A quarter at once, so that not every insertion into a full cache has to sort.
        let mut uses: Vec<u64> = self.entries.values().map(|entry| entry.last_use).collect();
        uses.sort_unstable();
        let oldest = uses[uses.len() / 4];
        self.entries.retain(|_, entry| oldest < entry.last_use);
        self.bytes = self.entries.values().map(|entry| entry.bytes).sum();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl MemorySize for usize {
        fn memory_size(&self) -> usize {
            *self
        }
    }

    #[test]
    fn the_least_recently_used_values_are_evicted() {
        let cache = LruCache::<u32, usize, 1_000>::default();
        for key in 0..100 {
            cache.insert(key, Arc::new(50));
            assert!(cache.get(&0).is_some(), "{key}: it is used in every round");
            assert!(lock(&cache.0).bytes <= 1_000);
        }
        assert!(!cache.contains(&1) && cache.contains(&99));
    }

    #[test]
    fn a_value_that_is_larger_than_the_cache_is_not_kept_and_evicts_no_other() {
        let cache = LruCache::<u32, usize, 1_000>::default();
        cache.insert(1, Arc::new(10));
        cache.insert(2, Arc::new(20));
        cache.insert(2, Arc::new(2_000));
        assert!(cache.contains(&1) && !cache.contains(&2));
        assert_eq!(lock(&cache.0).bytes, 10);
    }

    #[test]
    fn a_value_replaces_the_one_with_its_key() {
        let cache = LruCache::<u32, usize, 1_000>::default();
        cache.insert(1, Arc::new(10));
        cache.insert(1, Arc::new(20));
        assert_eq!(cache.get(&1), Some(Arc::new(20)));
        assert_eq!(lock(&cache.0).bytes, 20);
    }
}
