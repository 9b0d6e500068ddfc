//! A unix socket that only its owner can connect to.
//!
//! The socket's folder has to be the owner's, and no other user may write in it: nobody can then put anything in the socket's
//! place. The socket gets its mode *before* it is bound (on Linux it is created with the mode of the open socket), and
//! once more by its path before it listens; a socket that does not listen refuses connections. So there is no
//! moment at which the umask decides, and the umask, which is the whole process's, need not be touched.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use crate::model::path_bytes;

/// Bytes of the longest path that a socket can have.
// `sun_path` has 108 bytes on Linux, the last of which is the NUL.
pub const SOCKET_PATH_BYTES: usize = 107;

/// Connections that the system keeps until they are accepted.
const BACKLOG: i32 = 128;

/// Why no socket can be had at a path.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    #[error("socket path {} has {} bytes, limit is {SOCKET_PATH_BYTES}", .0.display(), .0.as_os_str().len())]
    TooLong(PathBuf),
    /// The folder is not one in which only we can write.
    #[error("socket folder {} {reason}", .folder.display())]
    UnsafeFolder { folder: PathBuf, reason: &'static str },
    #[error("{} exists and is not a socket", .0.display())]
    Occupied(PathBuf),
    #[error("socket {} is in use", .0.display())]
    InUse(PathBuf),
    #[error("socket {} cannot be bound", .path.display())]
    Io { path: PathBuf, source: io::Error },
}

/// Binds a socket that only its owner can connect to, and listens on it.
///
/// A socket that was left behind is replaced if nobody listens on it any more. The caller holds the daemon's lock, so
/// that nobody else binds here between that check and the removal.
pub fn bind_unix(path: &Path) -> Result<UnixListener, BindError> {
    if SOCKET_PATH_BYTES < path_bytes(path).len() {
        return Err(BindError::TooLong(path.to_owned()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Checked before anything at the path is examined: in a folder of others, both could be swapped in between.
    check_folder(folder)?;
    remove_stale_socket(path)?;
    let failed = |errno: Errno| BindError::Io { path: path.to_owned(), source: errno.into() };
    let socket = new_socket().map_err(failed)?;
    let owner = Mode::RUSR | Mode::WUSR;
    // Other systems than Linux may refuse this; the mode is set by the path, too, before anybody can connect.
    let _ = rustix::fs::fchmod(&socket, owner);
    let address = SocketAddrUnix::new(path).map_err(failed)?;
    rustix::net::bind(&socket, &address).map_err(failed)?;
    rustix::fs::chmod(path, owner).map_err(failed)?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed)?;
    Ok(UnixListener::from(socket))
}

fn check_folder(folder: &Path) -> Result<(), BindError> {
    let unsafe_because = |reason| Err(BindError::UnsafeFolder { folder: folder.to_owned(), reason });
    // A link is refused, even to a safe folder: it could be pointed elsewhere before the socket is bound.
    let stat = lstat(folder)?;
    let Some(stat) = stat else { return unsafe_because("does not exist") };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return unsafe_because("is not a folder");
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return unsafe_because("belongs to another user");
    }
    if Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH) {
        return unsafe_because("is writable by other users");
    }
    Ok(())
}

fn remove_stale_socket(path: &Path) -> Result<(), BindError> {
    let Some(stat) = lstat(path)? else { return Ok(()) };
    if FileType::from_raw_mode(stat.st_mode) != FileType::Socket {
        return Err(BindError::Occupied(path.to_owned()));
    }
    let failed = |source| BindError::Io { path: path.to_owned(), source };
    let address = SocketAddrUnix::new(path).map_err(|errno| failed(errno.into()))?;
    let socket = new_socket().map_err(|errno| failed(errno.into()))?;
    match rustix::net::connect(&socket, &address) {
        // Do not wait: a listener with a full backlog is running as well.
        Ok(()) | Err(Errno::AGAIN) => Err(BindError::InUse(path.to_owned())),
        Err(Errno::CONNREFUSED) => std::fs::remove_file(path).map_err(failed),
        Err(errno) => Err(failed(errno.into())),
    }
}

#[cfg(target_os = "linux")]
fn new_socket() -> rustix::io::Result<OwnedFd> {
    use rustix::net::SocketFlags;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

#[cfg(not(target_os = "linux"))]
fn new_socket() -> rustix::io::Result<OwnedFd> {
    let socket = rustix::net::socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    // A program that another thread starts between these calls inherits the socket: this system has no call for all.
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&socket, true)?;
    Ok(socket)
}

/// Returns the metadata of a path, without following a link.
fn lstat(path: &Path) -> Result<Option<Stat>, BindError> {
    match rustix::fs::lstat(path) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(BindError::Io { path: path.to_owned(), source: errno.into() }),
    }
}
