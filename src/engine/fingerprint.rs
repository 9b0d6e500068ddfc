//! Hashes of several values, as cache keys.

use crate::model::ContentHash;

/// Builds a hash of several values.
///
/// Each value is preceded by its length, so that different sequences of values never have the same encoding. `{:?}` is
/// not suitable: its output may change with a field's name or a compiler's version, but a key must not.
#[derive(Debug, Default)]
pub(super) struct Fingerprint(Vec<u8>);

impl Fingerprint {
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.number(bytes.len() as u64);
        self.0.extend_from_slice(bytes);
        self
    }

    pub(super) fn number(&mut self, number: u64) -> &mut Self {
        // A fixed width and byte order, because the store contains keys made from these hashes.
        self.0.extend_from_slice(&number.to_le_bytes());
        self
    }

    pub(super) fn finish(&self) -> ContentHash {
        ContentHash::digest(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_do_not_run_into_each_other() {
        let hash = |values: &[&str]| {
            let mut hash = Fingerprint::default();
            for value in values {
                hash.bytes(value.as_bytes());
            }
            hash.finish()
        };
        assert_ne!(hash(&["ab", "c"]), hash(&["a", "bc"]));
        assert_ne!(hash(&["a"]), hash(&["a", ""]));
    }
}
