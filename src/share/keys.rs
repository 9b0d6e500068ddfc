//! The keys of a team and of its writers, and keys derived from them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::aead::{CHACHA20_POLY1305, LessSafeKey, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{Ed25519KeyPair, KeyPair};
use ring::{hkdf, hmac};

use crate::model::{SummaryKey, WriterKey};

/// Separates these keys and signatures from any other use, and from later formats of entries.
pub(super) const DOMAIN: &[u8] = b"slop-share-v1";

const KEY_BYTES: usize = 32;

/// The number of bytes that identify a writer in an entry.
pub(super) const WRITER_ID_BYTES: usize = 8;

pub(super) type WriterId = [u8; WRITER_ID_BYTES];

/// Why a text is not a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("not base64")]
    NotBase64,
    #[error("{0} bytes, not 32")]
    Length(usize),
    #[error("not a writer of the form NAME=ed25519:BASE64")]
    NotAWriter,
}

/// A writer whose summaries are trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Writer {
    /// The writer's name in messages.
    pub name: String,
    pub key: WriterKey,
}

/// The secret that the members of a team share: without it, entries can be neither read nor found.
#[derive(Clone)]
pub struct TeamKey {
    names: hmac::Key,
    seal: LessSafeKey,
}

impl TeamKey {
    /// Parses a key in the format of [`generate_key`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        decode_key(text).map(|secret| Self::from_bytes(&secret))
    }

    pub(super) fn from_bytes(secret: &[u8; KEY_BYTES]) -> Self {
        let sealing = hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(secret);
        let info = [DOMAIN, b" seal"];
        let sealing = sealing.expand(&info, &CHACHA20_POLY1305).expect("the key is as long as the hash");
        Self {
            names: hmac::Key::new(hmac::HMAC_SHA256, secret),
            seal: LessSafeKey::new(UnboundKey::from(sealing)),
        }
    }

    /// Returns the key under which engines store the summary: an HMAC, so that nobody outside of the team can compute
    /// it from a content.
    pub(super) fn remote_key(&self, key: &SummaryKey) -> [u8; KEY_BYTES] {
        self.digest(b"", key.0.as_bytes())
    }

    /// Returns a writer's id in entries. It depends on the team, so that a writer cannot be recognized in the entries
    /// of two teams.
    pub(super) fn writer_id(&self, writer: &WriterKey) -> WriterId {
        let digest = self.digest(b" writer", &writer.0);
        digest[..WRITER_ID_BYTES].try_into().expect("a digest is longer")
    }

    pub(super) const fn sealing_key(&self) -> &LessSafeKey {
        &self.seal
    }

    fn digest(&self, purpose: &[u8], message: &[u8]) -> [u8; KEY_BYTES] {
        let mut context = hmac::Context::with_key(&self.names);
        context.update(DOMAIN);
        context.update(purpose);
        context.update(message);
        context.sign().as_ref().try_into().expect("SHA-256 has 32 bytes")
    }
}

impl fmt::Debug for TeamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TeamKey")
    }
}

/// The secret key of a writer.
pub struct SigningKey(Ed25519KeyPair);

impl SigningKey {
    /// Parses a key in the format of [`generate_key`].
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        decode_key(text).map(|seed| Self::from_bytes(&seed))
    }

    pub(super) fn from_bytes(seed: &[u8; KEY_BYTES]) -> Self {
        Self(Ed25519KeyPair::from_seed_unchecked(seed).expect("any 32 bytes are a seed"))
    }

    /// Returns the public key, with which others verify signatures.
    pub fn writer_key(&self) -> WriterKey {
        WriterKey(self.0.public_key().as_ref().try_into().expect("a public key has 32 bytes"))
    }

    pub(super) fn sign(&self, message: &[u8]) -> ring::signature::Signature {
        self.0.sign(message)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey")
    }
}

/// Returns a new key as text; `None` if the system has no random numbers.
pub fn generate_key() -> Option<String> {
    let mut bytes = [0; KEY_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(STANDARD.encode(bytes))
}

/// Parses `NAME=ed25519:BASE64`.
pub fn parse_writer(text: &str) -> Result<Writer, KeyError> {
    let (name, key) = text.split_once('=').ok_or(KeyError::NotAWriter)?;
    let key = key.trim().strip_prefix("ed25519:").ok_or(KeyError::NotAWriter)?;
    let name = name.trim();
    if name.is_empty() || name.chars().any(char::is_control) {
        return Err(KeyError::NotAWriter);
    }
    Ok(Writer { name: name.to_owned(), key: WriterKey(decode_key(key)?) })
}

impl fmt::Display for Writer {
    /// Writes the format that [`parse_writer`] parses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=ed25519:{}", self.name, STANDARD.encode(self.key.0))
    }
}

fn decode_key(text: &str) -> Result<[u8; KEY_BYTES], KeyError> {
    let bytes = STANDARD.decode(text.trim()).map_err(|_| KeyError::NotBase64)?;
    let length = bytes.len();
    bytes.try_into().map_err(|_| KeyError::Length(length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ContentHash;

    #[test]
    fn a_key_is_32_bytes_of_base64() {
        assert!(TeamKey::parse(&format!(" {}\n", generate_key().unwrap())).is_ok());
        assert_eq!(TeamKey::parse(&STANDARD.encode([7; 31])).unwrap_err(), KeyError::Length(31));
        assert_eq!(SigningKey::parse("no key!").unwrap_err(), KeyError::NotBase64);
        assert_eq!(TeamKey::parse("").unwrap_err(), KeyError::Length(0));
    }

    #[test]
    fn a_writer_is_read_as_it_is_written() {
        let writer = Writer { name: "ci".to_owned(), key: SigningKey::from_bytes(&[1; 32]).writer_key() };
        assert_eq!(parse_writer(&writer.to_string()), Ok(writer));
        for wrong in ["ci", "ci=rsa:AAAA", "=ed25519:AAAA", "c\ni=ed25519:AAAA"] {
            assert_eq!(parse_writer(wrong), Err(KeyError::NotAWriter), "{wrong:?}");
        }
        assert_eq!(parse_writer("ci=ed25519:AAAA"), Err(KeyError::Length(3)));
    }

    #[test]
    fn keys_of_entries_depend_on_the_team() {
        let key = SummaryKey(ContentHash::digest(b"a content"));
        let (ours, theirs) = (TeamKey::from_bytes(&[1; 32]), TeamKey::from_bytes(&[2; 32]));
        assert_ne!(ours.remote_key(&key), theirs.remote_key(&key));
        assert_ne!(&ours.remote_key(&key), key.0.as_bytes());
        let writer = SigningKey::from_bytes(&[1; 32]).writer_key();
        assert_ne!(ours.writer_id(&writer), theirs.writer_id(&writer));
    }
}
