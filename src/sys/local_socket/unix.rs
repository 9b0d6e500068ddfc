//! A Unix socket that only its owner can connect to.
//!
//! The socket's folder has to belong to the owner and must not be writable by others, so nobody else can replace the
//! socket. The socket gets its mode *before* it is bound (on Linux it is created with the mode of the open socket), and
//! again by its path before it listens; a socket that does not listen refuses connections. So the umask, which belongs
//! to the whole process, never matters and need not be changed.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::fs::{FileType, Mode, Stat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType};

use super::error::{BindError, SOCKET_PATH_BYTES};
use crate::model::path_bytes;

/// The most bytes of a socket's path on every system.
// `sun_path` has 108 bytes on Linux and 104 on macOS and the BSDs, one of which is the final NUL.
pub const PORTABLE_SOCKET_PATH_BYTES: usize = 103;

/// A socket that is bound, but not served yet.
pub type BoundSocket = UnixListener;
/// The server's side of a connection.
pub type ServerStream = tokio::net::UnixStream;
/// The client's side of a connection.
pub type ClientStream = tokio::net::UnixStream;

/// The number of connections that the system queues until they are accepted.
const BACKLOG: i32 = 128;

/// Binds a socket that only its owner can connect to, and listens on it.
///
/// A stale socket is replaced if nothing listens on it. The caller holds the daemon's lock, so that nobody else binds
/// here between that check and the removal.
pub fn bind_local(path: &Path) -> Result<BoundSocket, BindError> {
    if SOCKET_PATH_BYTES < path_bytes(path).len() {
        return Err(BindError::TooLong(path.to_owned()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // Checked before anything at the path is examined, because in another user's folder both could be replaced in
    // between.
    check_folder(folder)?;
    remove_stale_socket(path)?;
    let failed = |errno: Errno| BindError::Io { path: path.to_owned(), source: errno.into() };
    let socket = new_socket().map_err(failed)?;
    let owner = Mode::RUSR | Mode::WUSR;
    // Systems other than Linux may reject this; the mode is also set by the path before anybody can connect.
    let _ = rustix::fs::fchmod(&socket, owner);
    let address = SocketAddrUnix::new(path).map_err(failed)?;
    rustix::net::bind(&socket, &address).map_err(failed)?;
    rustix::fs::chmod(path, owner).map_err(failed)?;
    rustix::net::listen(&socket, BACKLOG).map_err(failed)?;
    Ok(UnixListener::from(socket))
}

fn check_folder(folder: &Path) -> Result<(), BindError> {
    let unsafe_because = |reason| Err(BindError::UnsafeFolder { folder: folder.to_owned(), reason });
    // A link is rejected, even to a safe folder, because it could be changed before the socket is bound.
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
    // A program that another thread starts between these calls inherits the socket: this system has no atomic call.
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

/// A socket that accepts programs of the same user, and of root.
#[derive(Debug)]
pub struct LocalListener {
    listener: tokio::net::UnixListener,
    user: u32,
}

impl LocalListener {
    /// Serves a bound socket. Must be called within a runtime.
    pub fn new(bound: BoundSocket) -> io::Result<Self> {
        bound.set_nonblocking(true)?;
        let user = rustix::process::geteuid().as_raw();
        Ok(Self { listener: tokio::net::UnixListener::from_std(bound)?, user })
    }

    /// Waits for a connection; `None` if it is another user's.
    pub async fn accept(&self) -> io::Result<Option<ServerStream>> {
        let (stream, _) = self.listener.accept().await?;
        let uid = stream.peer_cred()?.uid();
        Ok(is_trusted_peer(uid, self.user).then_some(stream))
    }
}

/// Connects to a socket; `None` if another user listens on it, who could answer anything.
///
/// An error of kind `NotFound` if there is no socket, `ConnectionRefused` if nobody listens on it, and `WouldBlock` if
/// more connections are waiting than the system queues.
pub async fn connect_local(socket: &Path) -> io::Result<Option<ClientStream>> {
    let stream = ClientStream::connect(socket).await?;
    let other = stream.peer_cred()?.uid();
    Ok(is_trusted_peer(other, rustix::process::geteuid().as_raw()).then_some(stream))
}

/// Returns whether the program on the other side runs as the same user, or as root: root can read every file and trace
/// this process, so rejecting it would protect nothing.
const fn is_trusted_peer(other: u32, us: u32) -> bool {
    other == us || other == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_user_and_root_are_trusted() {
        assert!(is_trusted_peer(1000, 1000) && is_trusted_peer(0, 1000) && is_trusted_peer(0, 0));
        assert!(!is_trusted_peer(1000, 0) && !is_trusted_peer(1001, 1000));
    }
}
