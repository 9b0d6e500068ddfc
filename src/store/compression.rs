//! Compresses the values that make up most of a database: bodies of artifacts, and delivered texts. Each is compressed
//! by itself, so that it can be read without others.

use std::borrow::Cow;

use crate::model;

/// The first byte of a stored value: the uncompressed value follows.
const RAW: u8 = 0;
/// The first byte of a stored value: a Zstandard frame follows, which contains the size of the value.
const ZSTANDARD: u8 = 1;

/// Longer values are stored uncompressed, so a frame that claims a longer one is damaged.
const MAX_BYTES: usize = 256 << 20;

/// Returns the stored form of a value: compressed if that makes it smaller.
pub(super) fn compress(value: &[u8]) -> Vec<u8> {
    let frame = if value.len() <= MAX_BYTES { model::compress(value) } else { None };
    match frame {
        Some(frame) => [&[ZSTANDARD], frame.as_slice()].concat(),
        None => store_raw(value),
    }
}

/// Returns the stored form of a value that compression is known not to make smaller.
pub(super) fn store_raw(value: &[u8]) -> Vec<u8> {
    [&[RAW], value].concat()
}

/// Returns the value that was stored; `None` if the bytes are not a stored value.
pub(super) fn decompress(stored: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (kind, rest) = stored.split_first()?;
    match *kind {
        RAW => Some(Cow::Borrowed(rest)),
        ZSTANDARD => model::decompress(rest, MAX_BYTES).map(Cow::Owned),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::noise;
    use super::*;

    #[test]
    fn a_value_round_trips() {
        let text = "def alpha(self): ...\n".repeat(100);
        for value in ["", "a", &text[..64], &text] {
            assert_eq!(decompress(&compress(value.as_bytes())).as_deref(), Some(value.as_bytes()));
            assert_eq!(decompress(&store_raw(value.as_bytes())).as_deref(), Some(value.as_bytes()));
        }
        assert!(compress(text.as_bytes()).len() * 10 < text.len());
    }

    #[test]
    fn an_incompressible_value_is_stored_raw() {
        let noise = noise(1_000);
        assert_eq!(compress(&noise), store_raw(&noise));
    }

    #[test]
    fn bytes_that_are_not_a_stored_value_are_rejected() {
        let good = compress("def alpha(self): ...\n".repeat(100).as_bytes());
        for end in 0..good.len() {
            assert_eq!(decompress(&good[..end]), None, "{end}");
        }
        assert_eq!(decompress(&[2, 0]), None);
        // The header of a frame that claims 2^62 bytes.
        let huge = [ZSTANDARD, 0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0];
        assert_eq!(decompress(&huge), None);
    }
}
