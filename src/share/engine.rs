//! The interface of engines, which store sealed entries by key, in batches.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use super::s3_address::{S3Keys, S3Server};
use crate::model::printable;

/// The maximum number of keys per request.
pub(super) const BATCH: usize = 500;

/// Returns the beginning of a server's answer, in printable form.
pub(super) fn shorten(answer: &str) -> String {
    const MAX_CHARS: usize = 200;
    printable(&answer.chars().take(MAX_CHARS).collect::<String>())
}

/// A key that is meaningless outside of the team.
pub(super) type RemoteKey = [u8; 32];

/// Why the team's cache cannot be used. No message contains a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("folder of the team's cache does not exist: {}", .0.display())]
    NoFolder(PathBuf),
    #[error("team's cache cannot be {done}")]
    Io {
        /// The operation, as a past participle.
        done: &'static str,
        source: io::Error,
    },
    #[error("team's cache did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("team's cache at {host} cannot be reached: {cause}")]
    Unreachable { host: String, cause: String },
    /// The server responded, but did not do what was requested.
    #[error("team's cache at {host} refused a request: {answer}")]
    Refused { host: String, answer: String },
    /// Nothing can be stored without a signing key.
    #[error("no signing key is configured")]
    NoSigningKey,
    /// Only S3 has packs.
    #[error("this kind of cache has no packs")]
    NoPacks,
    #[error("keys of the bucket are missing")]
    NoBucketKeys,
}

/// An entry as returned by an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RemoteEntry {
    Missing,
    /// The data is longer than an entry, and was not read.
    TooLong,
    Present(Vec<u8>),
}

/// Whether an entry replaces an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PutMode {
    /// The existing one is kept.
    IfAbsent,
    Replace,
}

/// An entry to store.
#[derive(Debug, Clone)]
pub(super) struct NewEntry {
    pub key: RemoteKey,
    pub bytes: Vec<u8>,
    pub mode: PutMode,
}

/// The name of a pack of entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PackName(pub(super) String);

/// How an engine is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineOptions {
    /// The timeout of a batch.
    pub timeout: Duration,
    /// How long an engine with expiry keeps an entry; `None` means forever.
    pub lifetime: Option<Duration>,
    /// Whether questions are claimed before they are asked, so that only one member of the team asks.
    pub claims: bool,
    /// Whether a server that is not on this machine may be reached without TLS.
    pub insecure: bool,
}

/// Additional data for some engines: a bucket's server with its keys, and a proxy.
#[derive(Clone)]
pub struct EngineAccess {
    pub server: S3Server,
    /// Required for a bucket.
    pub keys: Option<S3Keys>,
    pub proxy: Option<String>,
}

/// Stores entries.
pub(super) trait Engine: Send + Sync {
    /// Returns an error if entries can be neither stored nor found.
    fn check(&self) -> Result<(), Error>;

    /// Returns the entries for some keys, in the order of the keys.
    fn get(&self, keys: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error>;

    /// Stores entries; returns for each whether it was stored.
    fn put(&self, entries: &[NewEntry]) -> Result<Vec<bool>, Error>;

    /// Returns whether keys can be claimed.
    fn has_claims(&self) -> bool {
        false
    }

    /// Claims keys for a limited time; returns for each whether nobody else had claimed it.
    fn claim(&self, keys: &[RemoteKey], _lifetime: Duration) -> Result<Vec<bool>, Error> {
        Ok(vec![true; keys.len()])
    }

    /// Releases claims.
    fn release(&self, _keys: &[RemoteKey]) -> Result<(), Error> {
        Ok(())
    }

    /// Returns whether many entries can be stored as one pack.
    fn has_packs(&self) -> bool {
        false
    }

    /// Returns the newest packs, newest first.
    fn packs(&self) -> Result<Vec<PackName>, Error> {
        Ok(Vec::new())
    }

    /// Returns `length` bytes of a pack, or fewer at its end.
    fn read_pack(&self, _pack: &PackName, _start: u64, _length: usize) -> Result<Vec<u8>, Error> {
        Err(Error::NoPacks)
    }

    /// Stores a pack.
    fn put_pack(&self, _pack: &PackName, _bytes: Vec<u8>) -> Result<(), Error> {
        Err(Error::NoPacks)
    }
}
