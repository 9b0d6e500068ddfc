//! That there is one daemon for a project, and that it can be reached.

use std::io;
use std::path::Path;
use std::time::Duration;

use super::error::Error;
use super::places::DaemonPaths;
use crate::sys::Clock;
use crate::sys::FileLock;
use crate::sys::RealDisk;
use crate::sys::WallClock;
use crate::sys::is_alive;

/// How long a lock is waited for whose holder is dead, or has not said who it is.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(1);

/// Holds a project's lock for as long as it lives, and knows whether the socket's name still stands for our socket.
pub(super) struct InstanceLock {
    pub(super) places: DaemonPaths,
    lock: FileLock,
}

impl InstanceLock {
    /// Becomes the one daemon of a project. The cache's folder is there.
    pub(super) fn acquire(places: DaemonPaths) -> Result<Self, Error> {
        let lock = lock_instance(&places)?;
        Ok(Self { places, lock })
    }

    /// Says whether the lock is still what keeps others away.
    pub(super) fn is_held(&self) -> bool {
        self.lock.is_intact()
    }

    /// Takes the lock anew, after somebody has deleted it.
    pub(super) fn reacquire(&mut self) -> Result<(), Error> {
        self.lock = lock_instance(&self.places)?;
        Ok(())
    }

    /// Deletes how the port is reached, where no other daemon can have written it.
    pub(super) fn remove_listener_file(&self) {
        if self.is_held() {
            // What is not there need not be deleted.
            let _ = RealDisk.unlink(&self.places.listener);
        }
    }

    /// Lets another one become the daemon. The lock's file stays: by deleting it we would have two others lock two
    /// files. It no longer names us, whose number may soon be that of a stranger.
    pub(super) fn release(self) {
        // Where it cannot be emptied, whoever reads it looks whether it is held, too.
        let _ = self.lock.clear_holder();
    }
}

/// Locks a file; waits a while for one that no living process says it holds: whoever looks whether a daemon runs has it
/// for a moment, and a child that a killed daemon was about to start has all of its files open until it has become another
/// program.
fn acquire_with_retry(path: &Path) -> io::Result<Option<FileLock>> {
    let deadline = WallClock.monotonic().saturating_add(TAKEOVER_TIMEOUT);
    loop {
        let lock = FileLock::acquire(path)?;
        let is_held = FileLock::holder(path).is_some_and(is_alive);
        if lock.is_some() || is_held || deadline < WallClock.monotonic() {
            return Ok(lock);
        }
        WallClock.sleep(Duration::from_millis(2));
    }
}

fn lock_instance(places: &DaemonPaths) -> Result<FileLock, Error> {
    let held = acquire_with_retry(&places.lock);
    let lock = held.map_err(|source| match source.kind() {
        io::ErrorKind::Unsupported => Error::NoLocks { path: places.lock.clone() },
        _ => Error::Lock { path: places.lock.clone(), source },
    })?;
    let lock = lock.ok_or_else(|| Error::AlreadyRunning { pid: FileLock::holder(&places.lock) })?;
    // For `slop daemon stop`, should the socket not answer.
    lock.write_holder().map_err(|source| Error::Lock { path: places.lock.clone(), source })?;
    Ok(lock)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at real files")]
mod tests {
    use std::os::fd::AsFd;
    use std::process::Command;

    use super::*;

    #[test]
    fn the_lock_of_a_dead_daemon_is_waited_for_and_that_of_a_living_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = std::fs::File::create(&path).unwrap();
        held.try_lock().unwrap();
        std::fs::write(&path, std::process::id().to_string()).unwrap();
        assert!(acquire_with_retry(&path).unwrap().is_none());
        let mut dead = Command::new("true").spawn().unwrap();
        dead.wait().unwrap();
        std::fs::write(&path, dead.id().to_string()).unwrap();
        // As a child has it that is not yet another program: the lock is its own as well.
        let inherited = held.as_fd().try_clone_to_owned().unwrap();
        drop(held);
        std::thread::scope(|scope| {
            let acquired = scope.spawn(|| acquire_with_retry(&path).unwrap().is_some());
            std::thread::sleep(Duration::from_millis(50));
            drop(inherited);
            assert!(acquired.join().unwrap());
        });
    }
}
