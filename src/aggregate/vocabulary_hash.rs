//! Where the table of the vocabulary has a token. `build.rs` includes this file, so it imports nothing and does not
//! depend on the width of the machine's words.

/// Some three tokens are in each bucket.
pub(super) const BUCKETS: usize = 1 << 16;

/// Returns the bucket that a token is in.
pub(super) fn bucket_of(token: &[u8]) -> usize {
    let mut hash = token.len() as u64;
    for word in token.chunks(8) {
        let mut bytes = [0; 8];
        bytes[..word.len()].copy_from_slice(word);
        // The multiplier of FxHash.
        hash = (hash.rotate_left(5) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
    usize::try_from((hash ^ hash >> 32) % BUCKETS as u64).unwrap_or(0)
}
