//! Asks a daemon by its socket, from a thread that may wait.
//!
//! Knows: how to distinguish a running daemon from none, and a busy one from one that hangs. Does not
//! know: where the socket is, and what to do where nobody answers.
//!
//! Start with [`Client::connect`].

mod answer;
mod connection;
mod error;

pub use connection::Client;
pub use error::ClientError;
#[cfg(test)]
pub use error::ConnectError;
