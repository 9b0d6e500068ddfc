//! The local API: HTTP on a socket of the user's own, over any [`super::Keeper`].
//!
//! Knows: routes, who may come in, how much of anything is borne. Does not know: how an ask is answered.
//! It opens its sockets itself, for `sys` has none: what is served here is asked by a stranger until `guard` has seen it.
//!
//! Start with [`Server`]; what can be asked stands as a table in `routes`.

mod body;
mod guard;
mod handlers;
mod limits;
mod openapi;
mod patient;
mod progress;
mod refusal;
mod reply;
mod routes;
mod seats;
mod server;
mod stream;
#[cfg(test)]
mod tests;
mod unix;

pub use server::HttpServer;
pub use unix::BindError;
pub use unix::SOCKET_PATH_BYTES;
pub use unix::bind_unix;
