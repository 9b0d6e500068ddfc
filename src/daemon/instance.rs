//! The single daemon of a project: its files, and the lock that excludes a second one.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::error::Error;
use crate::engine;
use crate::model::{ContentHash, RelPath, path_bytes};
use crate::sys::{
    Clock, Disk, FileLock, PORTABLE_SOCKET_PATH_BYTES, RealDisk, RealFiles, WallClock, is_alive,
    is_other_users, is_own, user_tag,
};

/// The paths of the files of a project's daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonPaths {
    /// The project's folder, without links.
    pub root: PathBuf,
    pub cache: PathBuf,
    /// The file that the daemon keeps locked.
    pub lock: PathBuf,
    pub socket: PathBuf,
    pub log: PathBuf,
    /// The file with the address of `--listen` and the token for it.
    pub listener: PathBuf,
}

impl DaemonPaths {
    /// Returns the paths for a project. `runtime` is the user's folder for sockets, such as `$XDG_RUNTIME_DIR`, or else
    /// a shared one, such as `/tmp`.
    pub fn for_project(root: &Path, cache_dir: &RelPath, runtime: &Path) -> Self {
        let cache = root.join(cache_dir.as_path());
        let near = cache.join("daemon.sock");
        let socket = if near.as_os_str().len() <= PORTABLE_SOCKET_PATH_BYTES {
            near
        } else {
            // Half of the digest, because the path has to be short, and 128 bits distinguish all projects of a user.
            let name = ContentHash::digest(path_bytes(&cache)).to_string();
            runtime.join(format!("slop-{}", user_tag())).join(format!("{}.sock", &name[..32]))
        };
        Self {
            root: root.to_owned(),
            lock: cache.join("daemon.lock"),
            log: cache.join("daemon.log"),
            listener: cache.join("daemon.listen"),
            socket,
            cache,
        }
    }
}

/// How long to wait for a lock whose holder is dead or unknown.
const TAKEOVER_TIMEOUT: Duration = Duration::from_secs(1);

/// The lock of a project's only daemon, held until this value is dropped.
pub(super) struct InstanceLock {
    pub(super) paths: DaemonPaths,
    lock: FileLock,
}

impl InstanceLock {
    /// Acquires the lock of a project whose cache folder exists.
    pub(super) fn acquire(paths: DaemonPaths) -> Result<Self, Error> {
        let lock = lock_instance(&paths)?;
        Ok(Self { paths, lock })
    }

    /// Returns whether the lock file is still the one that others would lock.
    pub(super) fn is_held(&self) -> bool {
        self.lock.is_intact()
    }

    /// Acquires the lock again after its file was deleted.
    pub(super) fn reacquire(&mut self) -> Result<(), Error> {
        self.lock = lock_instance(&self.paths)?;
        Ok(())
    }

    /// Deletes the listener file, unless another daemon may have written it.
    pub(super) fn remove_listener_file(&self) {
        if self.is_held() {
            // The file may already be gone.
            let _ = RealDisk.unlink(&self.paths.listener);
        }
    }

    /// Lets another process become the daemon. The lock file is kept, because deleting it would let two processes lock
    /// two different files. It is emptied, because our process id may soon be reused.
    pub(super) fn release(self) {
        // If it cannot be emptied, readers still check whether the lock is held.
        let _ = self.lock.clear_holder();
    }
}

/// Locks a file. Waits a while for a lock without a live holder: a process that checks whether a daemon runs holds it
/// for a moment, and a child that a killed daemon had just forked keeps its files open until it has executed its
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

fn lock_instance(paths: &DaemonPaths) -> Result<FileLock, Error> {
    let lock = acquire_with_retry(&paths.lock);
    let lock = lock.map_err(|source| match source.kind() {
        io::ErrorKind::Unsupported => Error::NoLocks { path: paths.lock.clone() },
        _ => Error::Lock { path: paths.lock.clone(), source },
    })?;
    let lock = lock.ok_or_else(|| Error::AlreadyRunning { pid: FileLock::holder(&paths.lock) })?;
    // For `slop daemon stop`, in case the socket does not answer.
    lock.write_holder().map_err(|source| Error::Lock { path: paths.lock.clone(), source })?;
    Ok(lock)
}

/// Creates the cache folder if it is missing.
pub(super) fn ensure_cache_folder(paths: &DaemonPaths, settings: &engine::Options) -> Result<(), Error> {
    if !settings.cache_enabled {
        return Err(Error::NoCache);
    }
    let failed = |source| Error::CacheFolder { path: paths.cache.clone(), source };
    if is_other_users(&paths.root).map_err(failed)? {
        return Err(Error::ForeignProject { path: paths.root.clone() });
    }
    let files = RealFiles::open(&paths.root).map_err(failed)?;
    engine::make_cache_folder(&paths.root, &settings.cache_dir, &files, &RealDisk).map_err(failed)?;
    // Before any file is created: root could create files that the owner of the folder cannot open afterwards.
    if !is_own(&paths.cache).map_err(failed)? {
        return Err(Error::ForeignProject { path: paths.cache.clone() });
    }
    RealDisk.check_writable(&paths.cache).map_err(failed)
}

#[cfg(test)]
mod places_tests {
    use super::*;

    fn paths(root: &str) -> DaemonPaths {
        DaemonPaths::for_project(
            Path::new(root),
            &RelPath::new(b".slop_cache").unwrap(),
            Path::new("/run/user/7"),
        )
    }

    #[test]
    fn all_files_are_in_the_cache_folder() {
        let paths = paths("/home/me/project");
        for path in [&paths.lock, &paths.socket, &paths.log, &paths.listener] {
            assert_eq!(path.parent(), Some(Path::new("/home/me/project/.slop_cache")));
        }
    }

    #[test]
    fn a_socket_whose_path_would_be_too_long_is_elsewhere_and_unique_to_its_project() {
        let long = format!("/{}", "long/".repeat(60));
        let (one, other) = (paths(&long), paths(&format!("{long}x")));
        assert!(one.socket.starts_with("/run/user/7"));
        assert!(one.socket.as_os_str().len() < PORTABLE_SOCKET_PATH_BYTES);
        assert_ne!(one.socket, other.socket);
        assert!(one.lock.starts_with(&long));
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test looks at real files")]
mod owner_tests {
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
        // Like a forked child that has not executed its program yet, which holds the lock as well.
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
