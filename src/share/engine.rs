//! What an engine does: it stores sealed entries by their keys, in batches.

use std::io;
use std::time::Duration;

use super::s3_address::{S3Keys, S3Server};

/// The most keys that are asked for at once.
pub(super) const BATCH: usize = 500;

/// A key that means nothing outside of the team.
pub(super) type RemoteKey = [u8; 32];

/// Why the team's cache cannot be used. No message shows a password.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("folder of the team's cache is missing")]
    NoFolder,
    #[error("team's cache cannot be {done}")]
    Io {
        /// What was to be done, as a past participle.
        done: &'static str,
        source: io::Error,
    },
    #[error("team's cache did not answer within {} ms", .0.as_millis())]
    TimedOut(Duration),
    #[error("team's cache at {host} cannot be reached: {cause}")]
    Unreachable { host: String, cause: String },
    /// The server is there, and does not do what it was asked for.
    #[error("team's cache at {host} refused a request: {answer}")]
    Refused { host: String, answer: String },
    /// Something is to be written, and there is nothing to sign it with.
    #[error("no signing key is configured")]
    NoSigningKey,
    /// Only S3 has packs.
    #[error("this kind of cache has no packs")]
    NoPacks,
    #[error("keys of the bucket are missing")]
    NoBucketKeys,
}

/// An entry as an engine returned it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RemoteEntry {
    Missing,
    /// There is something longer than an entry, which was not read.
    TooLong,
    Present(Vec<u8>),
}

/// Whether an entry takes the place of one that exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PutMode {
    /// The first one stays.
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
    /// How long one batch may take.
    pub timeout: Duration,
    /// How long an engine that knows ages keeps an entry; `None` means forever.
    pub lifetime: Option<Duration>,
    /// Whether questions are claimed before they are asked, so that only one member of the team asks.
    pub claims: bool,
    /// Whether a server that is not on this machine may be reached without TLS.
    pub insecure: bool,
}

/// What some engines need besides: the server of a bucket, whose keys are used there, and the proxy on the way.
#[derive(Clone)]
pub struct EngineAccess {
    pub server: S3Server,
    /// Needed for a bucket.
    pub keys: Option<S3Keys>,
    pub proxy: Option<String>,
}

/// Stores entries.
pub(super) trait Engine: Send + Sync {
    /// Fails if entries cannot be stored or found at all.
    fn check(&self) -> Result<(), Error>;

    /// Returns the entries of some keys, in their order.
    fn get(&self, keys: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error>;

    /// Stores entries; returns of each whether it was stored.
    fn put(&self, entries: &[NewEntry]) -> Result<Vec<bool>, Error>;

    /// Returns whether keys can be claimed.
    fn has_claims(&self) -> bool {
        false
    }

    /// Claims keys for a time; returns of each whether nobody else had claimed it.
    fn claim(&self, keys: &[RemoteKey], _lifetime: Duration) -> Result<Vec<bool>, Error> {
        Ok(vec![true; keys.len()])
    }

    /// Gives up claims.
    fn release(&self, _keys: &[RemoteKey]) -> Result<(), Error> {
        Ok(())
    }

    /// Returns whether many entries can be stored as one.
    fn has_packs(&self) -> bool {
        false
    }

    /// Returns the newest packs, the newest first.
    fn packs(&self) -> Result<Vec<PackName>, Error> {
        Ok(Vec::new())
    }

    /// Returns `length` bytes of a pack, or fewer where it ends.
    fn read_pack(&self, _pack: &PackName, _start: u64, _length: usize) -> Result<Vec<u8>, Error> {
        Err(Error::NoPacks)
    }

    /// Stores a pack.
    fn put_pack(&self, _pack: &PackName, _bytes: Vec<u8>) -> Result<(), Error> {
        Err(Error::NoPacks)
    }
}
