//! What an engine does: it stores sealed entries by their keys, in batches.

use std::io;

use super::folder::FolderEngine;
use super::url::ShareUrl;

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
    /// Something is to be written, and there is nothing to sign it with.
    #[error("no signing key is configured")]
    NoSigningKey,
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

/// Stores entries.
pub(super) trait Engine: Send + Sync {
    /// Fails if entries cannot be stored or found at all.
    fn check(&self) -> Result<(), Error>;

    /// Returns the entries of at most [`BATCH`] keys, in their order.
    fn get(&self, keys: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error>;

    /// Stores an entry; returns whether it was stored.
    fn put(&self, key: &RemoteKey, entry: &[u8], mode: PutMode) -> Result<bool, Error>;
}

/// Returns the engine of an address, without connecting to it.
pub(super) fn open(url: &ShareUrl) -> Box<dyn Engine> {
    match url {
        ShareUrl::Folder(folder) => Box::new(FolderEngine::new(folder.clone())),
    }
}
