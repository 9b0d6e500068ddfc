//! The engine for a folder, for example on a mounted disk: a file for each entry.

use std::io;
use std::path::PathBuf;

use super::engine::{Engine, Error, NewEntry, PutMode, RemoteEntry, RemoteKey};
use super::entry::MAX_ENTRY_BYTES;
use crate::model::hex;
use crate::sys::{Disk, RealDisk};

/// The folder for this format of entries; later formats have their own, so that both can be used at once.
const SUBFOLDER: &str = "slop-share-v1";

/// Entries in files, in subfolders by the first byte of their keys.
pub(super) struct FolderEngine {
    folder: PathBuf,
}

impl FolderEngine {
    pub(super) const fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn path(&self, key: &RemoteKey) -> PathBuf {
        let name = hex(key);
        self.folder.join(SUBFOLDER).join(&name[..2]).join(name)
    }
}

impl Engine for FolderEngine {
    fn check(&self) -> Result<(), Error> {
        // Never created: if a disk is not mounted, entries would be written below its mount point.
        match RealDisk.is_folder(&self.folder) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::NoFolder(self.folder.clone())),
            Err(source) => Err(Error::Io { done: "read", source }),
        }
    }

    fn get(&self, keys: &[RemoteKey]) -> Result<Vec<RemoteEntry>, Error> {
        self.check()?;
        let read = |key| match RealDisk.read_prefix(&self.path(key), MAX_ENTRY_BYTES as u64 + 1) {
            Ok(bytes) if MAX_ENTRY_BYTES < bytes.len() => Ok(RemoteEntry::TooLong),
            Ok(bytes) => Ok(RemoteEntry::Present(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(RemoteEntry::Missing),
            // Something other than a file has the name of an entry.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(RemoteEntry::TooLong),
            Err(source) => Err(Error::Io { done: "read", source }),
        };
        keys.iter().map(read).collect()
    }

    fn put(&self, entries: &[NewEntry]) -> Result<Vec<bool>, Error> {
        self.check()?;
        let write = |entry: &NewEntry| {
            RealDisk
                .write_shared(&self.path(&entry.key), &entry.bytes, entry.mode == PutMode::Replace)
                .map_err(|source| Error::Io { done: "written", source })
        };
        entries.iter().map(write).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(engine: &FolderEngine, key: RemoteKey, bytes: &[u8], mode: PutMode) -> Result<Vec<bool>, Error> {
        engine.put(&[NewEntry { key, bytes: bytes.to_vec(), mode }])
    }

    #[test]
    fn the_first_entry_stays_unless_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let engine = FolderEngine::new(folder.path().to_owned());
        let (key, other) = ([1; 32], [2; 32]);
        assert_eq!(put(&engine, key, b"first", PutMode::IfAbsent).unwrap(), [true]);
        assert_eq!(put(&engine, key, b"second", PutMode::IfAbsent).unwrap(), [false]);
        let found = engine.get(&[other, key]).unwrap();
        assert_eq!(found, [RemoteEntry::Missing, RemoteEntry::Present(b"first".to_vec())]);
        assert_eq!(put(&engine, key, &[0; MAX_ENTRY_BYTES + 1], PutMode::Replace).unwrap(), [true]);
        assert_eq!(engine.get(&[key]).unwrap(), [RemoteEntry::TooLong]);
    }

    #[test]
    fn a_folder_that_is_missing_is_not_created() {
        let folder = tempfile::tempdir().unwrap();
        let engine = FolderEngine::new(folder.path().join("not mounted"));
        assert!(matches!(put(&engine, [1; 32], b"", PutMode::IfAbsent), Err(Error::NoFolder(_))));
        assert!(matches!(engine.get(&[[1; 32]]), Err(Error::NoFolder(_))));
        assert!(!folder.path().join("not mounted").exists());
    }
}
