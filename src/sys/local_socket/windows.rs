//! A named pipe that only its owner can connect to.
//!
//! All pipes of a machine are in one namespace, in which every user may create one. So the pipe has a random name,
//! which is stored in a file at the socket's path; its access list grants access only to the user; and a client trusts
//! a pipe only if it belongs to the user. The file corresponds to the socket on other systems: it is deleted with the
//! daemon, and a stale one is replaced.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io;
use std::path::Path;

use ring::rand::{SecureRandom, SystemRandom};
use tokio::net::windows::named_pipe::{ClientOptions, NamedPipeClient, NamedPipeServer};
use tokio::sync::Mutex;
use windows_sys::Win32::Foundation::{ERROR_FILE_NOT_FOUND, ERROR_PIPE_BUSY};

use super::error::BindError;
use crate::sys::disk::{Disk, RealDisk};
use crate::sys::file_access::is_other_users;
use crate::sys::win32;

/// The most bytes of a socket's path: unlimited, because it is the path of a file.
pub const PORTABLE_SOCKET_PATH_BYTES: usize = usize::MAX;

/// The prefix of the names of slop's pipes.
const PREFIX: &str = r"\\.\pipe\slop-";
/// The number of digits in the random part of a name.
const DIGITS: usize = 32;

/// The server's side of a connection.
pub type ServerStream = NamedPipeServer;
/// The client's side of a connection.
pub type ClientStream = NamedPipeClient;

/// A pipe that was created, but is not served yet.
#[derive(Debug)]
pub struct BoundSocket {
    name: String,
    /// Who may connect, as SDDL.
    access: String,
    first: NamedPipeServer,
}

/// Creates a pipe that only its owner can connect to, and writes its name to a file at the path. Must be called within
/// a runtime.
///
/// A stale name is replaced if nothing listens there. The caller holds the daemon's lock, so that nobody else binds
/// here between that check and the replacement.
pub fn bind_local(path: &Path) -> Result<BoundSocket, BindError> {
    let failed = |source| BindError::Io { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match is_other_users(folder) {
        Ok(false) => {}
        Ok(true) => {
            let reason = "belongs to another user";
            return Err(BindError::UnsafeFolder { folder: folder.to_owned(), reason });
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(BindError::UnsafeFolder { folder: folder.to_owned(), reason: "does not exist" });
        }
        Err(error) => return Err(failed(error)),
    }
    match read_name(path) {
        Ok(Some(name)) => match ClientOptions::new().open(&name) {
            Err(error) if is_code(&error, ERROR_FILE_NOT_FOUND) => {}
            // The daemon is running, whether or not it accepts this connection.
            Ok(_) | Err(_) => return Err(BindError::InUse(path.to_owned())),
        },
        Ok(None) => return Err(BindError::Occupied(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(_) => return Err(BindError::Occupied(path.to_owned())),
    }
    let (name, user) = (random_name().map_err(failed)?, win32::user_sid().map_err(failed)?);
    let access = format!("O:{user}D:P(A;;GA;;;{user})");
    let first = win32::create_pipe(OsStr::new(&name), &access, true).map_err(failed)?;
    RealDisk.replace_private(path, name.as_bytes()).map_err(failed)?;
    Ok(BoundSocket { name, access, first })
}

fn random_name() -> io::Result<String> {
    let mut bytes = [0; DIGITS / 2];
    SystemRandom::new()
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("the system provides no random numbers"))?;
    let mut name = PREFIX.to_owned();
    bytes.iter().for_each(|byte| _ = write!(name, "{byte:02x}"));
    Ok(name)
}

/// Reads the name of the pipe from the file at a path; `None` if it does not name one of slop's pipes.
fn read_name(path: &Path) -> io::Result<Option<String>> {
    let bytes = RealDisk.read_prefix(path, 256)?;
    let name = String::from_utf8(bytes).ok();
    let is_ours = |name: &String| {
        let digits = name.strip_prefix(PREFIX).unwrap_or_default();
        digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    Ok(name.filter(is_ours))
}

fn is_code(error: &io::Error, code: u32) -> bool {
    error.raw_os_error() == Some(code.cast_signed())
}

/// A pipe that accepts programs of its owner.
#[derive(Debug)]
pub struct LocalListener {
    name: String,
    access: String,
    /// The instance that the next client connects to.
    next: Mutex<NamedPipeServer>,
}

impl LocalListener {
    /// Serves a created pipe. Must be called within a runtime.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    pub fn new(bound: BoundSocket) -> io::Result<Self> {
        Ok(Self { name: bound.name, access: bound.access, next: Mutex::new(bound.first) })
    }

    /// Waits for a connection. The system rejects those of other users.
    pub async fn accept(&self) -> io::Result<Option<ServerStream>> {
        let mut next = self.next.lock().await;
        let connected = next.connect().await;
        // Created before the current one is served, because the pipe would not exist without an instance.
        let new = win32::create_pipe(OsStr::new(&self.name), &self.access, false)?;
        let accepted = std::mem::replace(&mut *next, new);
        // A client that disconnects before it is accepted leaves an unusable instance.
        connected.map(|()| Some(accepted))
    }
}

/// Connects to a pipe; `None` if it belongs to another user, who could answer anything.
///
/// An error of kind `NotFound` if there is none, `ConnectionRefused` if nobody listens on it, and `WouldBlock` if no
/// instance of it is free at the moment.
pub async fn connect_local(socket: &Path) -> io::Result<Option<ClientStream>> {
    let Some(name) = read_name(socket)? else { return Ok(None) };
    let stream = ClientOptions::new().open(&name).map_err(|error| {
        if is_code(&error, ERROR_FILE_NOT_FOUND) {
            io::ErrorKind::ConnectionRefused.into()
        } else if is_code(&error, ERROR_PIPE_BUSY) {
            io::ErrorKind::WouldBlock.into()
        } else {
            error
        }
    })?;
    let (owner, _) = win32::security(&stream)?;
    Ok((owner == win32::user_sid()?).then_some(stream))
}
