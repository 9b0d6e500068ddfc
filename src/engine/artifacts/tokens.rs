//! Tokens of texts, counted once.

use std::collections::HashMap;

use super::cache::ArtifactCache;
use crate::engine::parallel::on_all_cores;
use crate::model::ContentHash;

impl ArtifactCache<'_> {
    /// Returns how many tokens each of the texts is, as the settings say that they are counted.
    ///
    /// What was counted before is looked up, so that the vocabulary is loaded only where some text is new.
    pub(in crate::engine) fn count_tokens(&mut self, texts: &[&str]) -> Vec<u64> {
        let counter = self.workspace.options.counter;
        let Some(key) = counter.key() else {
            return texts.iter().map(|text| counter.count(text)).collect();
        };
        let hashes = on_all_cores(texts, |text| ContentHash::digest(text.as_bytes()));
        let known = self.query_store(|store| store.get_token_counts(key, &hashes)).unwrap_or_default();
        let mut counts: HashMap<ContentHash, u64> = HashMap::new();
        counts.extend(hashes.iter().zip(known).filter_map(|(hash, count)| Some((*hash, count?))));
        let mut new: Vec<(ContentHash, &str)> = hashes.iter().copied().zip(texts.iter().copied()).collect();
        new.retain(|(hash, _)| !counts.contains_key(hash));
        new.sort_unstable_by_key(|(hash, _)| *hash);
        new.dedup_by_key(|(hash, _)| *hash);
        let fresh = on_all_cores(&new, |(hash, text)| (*hash, counter.count(text)));
        self.save_token_counts(key, &fresh);
        counts.extend(fresh);
        hashes.iter().map(|hash| counts[hash]).collect()
    }

    fn save_token_counts(&mut self, key: &str, counts: &[(ContentHash, u64)]) {
        if counts.is_empty() {
            return;
        }
        let at_s = self.workspace.world.clock.now_s();
        if let Some(store) = &mut self.store
            && let Err(error) = store.save_token_counts(key, counts, at_s)
        {
            self.recover(&error);
        }
    }
}
