//! The Language Server Protocol on the standard input and output: outlines, definitions and references for editors, and for
//! agents that speak it.
//!
//! Knows: the protocol's messages, its positions, and the texts that a client has open. Does not know: who answers; any
//! [`super::Service`] does. [`super::mcp`] leaves JSON-RPC to the official SDK, whose messages are those of its own protocol:
//! so nothing of it can be shared, and `message.rs` has the little that is needed.
//!
//! Start with [`serve`], then `requests.rs`.

mod addresses;
mod alignment;
mod buffers;
mod context;
mod framing;
mod hover;
mod message;
mod navigation;
mod requests;
mod server;
mod structure;
mod text;

pub use server::{LspProject, serve};
