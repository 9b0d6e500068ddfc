//! That there is one daemon for a project, and that it can be reached.

use std::io;

use super::error::Error;
use super::places::Places;
use crate::sys::FileLock;
use crate::sys::RealDisk;

/// Holds a project's lock for as long as it lives, and knows whether the socket's name still stands for our socket.
pub(super) struct Owner {
    pub(super) places: Places,
    lock: FileLock,
}

impl Owner {
    /// Becomes the one daemon of a project. The cache's folder is there.
    pub(super) fn become_one(places: Places) -> Result<Self, Error> {
        let lock = lock(&places)?;
        Ok(Self { places, lock })
    }

    /// Says whether the lock is still what keeps others away.
    pub(super) fn is_alone(&self) -> bool {
        self.lock.still_there()
    }

    /// Takes the lock anew, after somebody has deleted it.
    pub(super) fn renew(&mut self) -> Result<(), Error> {
        self.lock = lock(&self.places)?;
        Ok(())
    }

    /// Leaves nothing behind that a client would try. The lock's file stays: by deleting it we would have two others
    /// lock two files.
    pub(super) fn leave(self) {
        for path in [&self.places.socket, &self.places.listener] {
            // What is not there need not be deleted.
            let _ = RealDisk.remove_name(path);
        }
    }
}

fn lock(places: &Places) -> Result<FileLock, Error> {
    let held = FileLock::acquire(&places.lock);
    let lock = held.map_err(|source| match source.kind() {
        io::ErrorKind::Unsupported => Error::NoLocks { path: places.lock.clone() },
        _ => Error::Lock { path: places.lock.clone(), source },
    })?;
    let lock = lock.ok_or_else(|| Error::Runs { pid: FileLock::holder(&places.lock) })?;
    // For `slop daemon stop`, should the socket not answer.
    lock.write_holder().map_err(|source| Error::Lock { path: places.lock.clone(), source })?;
    Ok(lock)
}
