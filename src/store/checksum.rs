//! The checksum that each row carries.
//!
//! SQLite's own checks do not see a flipped bit within a value, nor a row that stands under another row's key. So a
//! checksum is taken over all that a row says *and* over what it is about, and compared on every read.

use sha2::Digest;
use sha2::Sha256;

/// The first 16 bytes of a SHA-256.
pub(super) type RowChecksum = [u8; 16];

/// Takes in the fields of a row, each with its length before it so that none can pass for two.
pub(super) struct ChecksumBuilder(Sha256);

impl ChecksumBuilder {
    /// Begins the checksum of a row of that kind. The kind carries a version, which rises when the meaning of a field
    /// or the coding of a body changes: then the rows of before are misses, not nonsense.
    pub(super) fn new(kind: &str) -> Self {
        Self(Sha256::new()).bytes(kind.as_bytes())
    }

    pub(super) fn bytes(mut self, field: &[u8]) -> Self {
        self.0.update((field.len() as u64).to_le_bytes());
        self.0.update(field);
        self
    }

    pub(super) fn text(self, field: &str) -> Self {
        self.bytes(field.as_bytes())
    }

    pub(super) fn number(self, field: i64) -> Self {
        self.bytes(&field.to_le_bytes())
    }

    /// Takes in a text that may be absent, which is not the same as an empty one.
    pub(super) fn optional_text(self, field: Option<&str>) -> Self {
        match field {
            Some(text) => self.number(1).text(text),
            None => self.number(0),
        }
    }

    pub(super) fn finish(self) -> RowChecksum {
        let digest: [u8; 32] = self.0.finalize().into();
        let mut checksum = [0; 16];
        checksum.copy_from_slice(&digest[..16]);
        checksum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_join_to_the_same_bytes_differ() {
        let sum = |fields: [&str; 2]| ChecksumBuilder::new("row").text(fields[0]).text(fields[1]).finish();
        assert_ne!(sum(["ab", "c"]), sum(["a", "bc"]));
        assert_eq!(sum(["ab", "c"]), sum(["ab", "c"]));
    }

    #[test]
    fn an_absent_text_is_not_an_empty_one() {
        let sum = |text| ChecksumBuilder::new("row").optional_text(text).finish();
        assert_ne!(sum(None), sum(Some("")));
    }

    #[test]
    fn a_checksum_knows_its_kind() {
        assert_ne!(ChecksumBuilder::new("file/1").finish(), ChecksumBuilder::new("content/1").finish());
    }
}
