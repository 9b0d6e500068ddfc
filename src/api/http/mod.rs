//! The local API: HTTP on a private socket of the user, over any [`DaemonControl`](super::DaemonControl).
//!
//! Knows: routes, which requests are allowed, and limits. Does not know: how a question is answered.
//! Every request is untrusted until `guard` has checked it.
//!
//! Start with [`HttpServer`]; `routes` has the table of all routes.

mod body;
mod guard;
mod handlers;
mod limits;
mod openapi;
mod page;
mod parameters;
mod response;
mod routes;
mod server;
mod sessions;
mod stream;
#[cfg(test)]
mod tests;

pub use server::HttpServer;
pub use sessions::random_token;
