//! Where a daemon's files are.
//!
//! All lie in the cache's folder, but for a socket whose path would be too long for the system.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::path::PathBuf;

use crate::model::ContentHash;
use crate::model::RelPath;
use crate::sys::user_id;

/// Bytes of a socket's path that every system takes.
const MAX_SOCKET_PATH_BYTES: usize = 103;

/// Where a project's daemon has its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DaemonPaths {
    /// The project's folder, without links.
    pub root: PathBuf,
    /// The cache's folder.
    pub cache: PathBuf,
    /// The file that the daemon locks for as long as it lives.
    pub lock: PathBuf,
    /// The socket that it listens on.
    pub socket: PathBuf,
    /// What a daemon in the background says.
    pub log: PathBuf,
    /// How the socket of `--listen` is reached, and the word that opens it.
    pub listener: PathBuf,
}

impl DaemonPaths {
    /// Returns the places of a project. `runtime` is a folder of the user's for sockets, such as `$XDG_RUNTIME_DIR`, and
    /// else one that is everybody's, such as `/tmp`.
    pub fn for_project(root: &Path, cache_dir: &RelPath, runtime: &Path) -> Self {
        let cache = root.join(cache_dir.as_path());
        let near = cache.join("daemon.sock");
        let socket = if near.as_os_str().len() <= MAX_SOCKET_PATH_BYTES {
            near
        } else {
            let name = ContentHash::digest(cache.as_os_str().as_bytes()).to_string();
            runtime.join(format!("slop-{}", user_id())).join(format!("{}.sock", &name[..32]))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn places(root: &str) -> DaemonPaths {
        DaemonPaths::for_project(
            Path::new(root),
            &RelPath::new(b".slop_cache").unwrap(),
            Path::new("/run/user/7"),
        )
    }

    #[test]
    fn everything_is_in_the_cache() {
        let places = places("/home/me/project");
        for path in [&places.lock, &places.socket, &places.log, &places.listener] {
            assert_eq!(path.parent(), Some(Path::new("/home/me/project/.slop_cache")));
        }
    }

    #[test]
    fn a_socket_whose_path_is_too_long_lies_elsewhere_and_each_project_has_its_own() {
        let long = format!("/{}", "long/".repeat(60));
        let (one, other) = (places(&long), places(&format!("{long}x")));
        assert!(one.socket.starts_with("/run/user/7"));
        assert!(one.socket.as_os_str().len() < MAX_SOCKET_PATH_BYTES);
        assert_ne!(one.socket, other.socket);
        assert!(one.lock.starts_with(&long));
    }
}
