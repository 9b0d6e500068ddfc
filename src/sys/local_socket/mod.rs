//! Connections between programs of one user on one machine: a Unix socket, or a named pipe on Windows.
//!
//! Knows: paths, owners and access lists of sockets. Does not know: the protocols on them.

mod error;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as platform;
#[cfg(windows)]
use windows as platform;

pub use error::BindError;
pub use platform::{
    BoundSocket, ClientStream, LocalListener, PORTABLE_SOCKET_PATH_BYTES, ServerStream, bind_local,
    connect_local,
};
