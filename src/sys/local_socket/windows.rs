//! A named pipe that only its owner can connect to.
//!
//! All pipes of a machine are in one folder, in which every user may make one. So the pipe has a random name, which is in a
//! file at the socket's path; its access list names the user alone; and a client believes a pipe only if it belongs to the
//! user. The file takes the place of the socket's name on other systems: it is deleted with the daemon, and one that was
//! left behind is replaced.

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

/// Bytes of a socket's path: the path is that of a file, and of any length.
pub const PORTABLE_SOCKET_PATH_BYTES: usize = usize::MAX;

/// What the name of each of our pipes begins with.
const PREFIX: &str = r"\\.\pipe\slop-";
/// Digits of the random part of a name.
const DIGITS: usize = 32;

/// A connection, as the server has it.
pub type ServerStream = NamedPipeServer;
/// A connection, as the client has it.
pub type ClientStream = NamedPipeClient;

/// A pipe that was made, and that nobody serves yet.
#[derive(Debug)]
pub struct BoundSocket {
    name: String,
    /// Who may connect, as SDDL.
    access: String,
    first: NamedPipeServer,
}

/// Makes a pipe that only its owner can connect to, and writes its name down at the path. A runtime has to be entered.
///
/// A name that was left behind is replaced if nobody listens there any more. The caller holds the daemon's lock, so that
/// nobody else binds here between that check and the replacement.
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
            // It runs, whether it lets us connect or not.
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
        .map_err(|_| io::Error::other("the system gives no random numbers"))?;
    let mut name = PREFIX.to_owned();
    bytes.iter().for_each(|byte| _ = write!(name, "{byte:02x}"));
    Ok(name)
}

/// Reads the name of the pipe at a path; `None` if what is there names none of ours.
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
    /// Serves a pipe that was made. A runtime has to be entered.
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    pub fn new(bound: BoundSocket) -> io::Result<Self> {
        Ok(Self { name: bound.name, access: bound.access, next: Mutex::new(bound.first) })
    }

    /// Waits for a connection. Those of other users are refused by the system.
    pub async fn accept(&self) -> io::Result<Option<ServerStream>> {
        let mut next = self.next.lock().await;
        let connected = next.connect().await;
        // Made before the one is served, because the pipe would not exist without an instance.
        let new = win32::create_pipe(OsStr::new(&self.name), &self.access, false)?;
        let accepted = std::mem::replace(&mut *next, new);
        // A client that was gone before it was accepted leaves an instance that is good for nothing.
        connected.map(|()| Some(accepted))
    }
}

/// Connects to a pipe; `None` if it belongs to another user, who could answer whatever they like.
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
