//! A file's identity: the SHA-256 of its bytes.

use std::fmt;
use std::str::FromStr;

use sha2::Digest;
use sha2::Sha256;

/// The SHA-256 digest of a file's bytes: what the file *is*, wherever it lies.
///
/// Paths and timestamps never enter it, so a moved or touched file keeps all that was derived from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Returns the digest of `bytes`.
    pub fn digest(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Wraps a digest that was computed before.
    pub const fn from_bytes(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// Returns the 32 bytes of the digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first 12 hex digits: enough to tell contents apart in a header.
    pub fn short_hex(&self) -> String {
        hex(&self.0[..6])
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({})", self.short_hex())
    }
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        text.push(char::from(DIGITS[usize::from(byte >> 4)]));
        text.push(char::from(DIGITS[usize::from(byte & 15)]));
    }
    text
}

/// The text is not 64 hex digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("read a SHA-256 of 64 hex digits")]
pub struct ParseHashError;

impl FromStr for ContentHash {
    type Err = ParseHashError;

    fn from_str(text: &str) -> Result<Self, ParseHashError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(ParseHashError);
        }
        let mut digest = [0; 32];
        for (byte, pair) in digest.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(digest))
    }
}

fn nibble(digit: u8) -> Result<u8, ParseHashError> {
    let value = char::from(digit).to_digit(16).ok_or(ParseHashError)?;
    u8::try_from(value).map_err(|_| ParseHashError)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_sha_256_and_reads_back() {
        let hash = ContentHash::digest(b"abc");
        assert_eq!(hash.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(hash.short_hex(), "ba7816bf8f01");
        assert_eq!(hash.to_string().parse(), Ok(hash));
    }

    #[test]
    fn what_is_not_a_digest_is_refused() {
        assert_eq!("abc".parse::<ContentHash>(), Err(ParseHashError));
        assert_eq!("zz".repeat(32).parse::<ContentHash>(), Err(ParseHashError));
    }
}
