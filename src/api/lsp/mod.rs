//! The Language Server Protocol on standard input and output: outlines, definitions and references for editors, and for
//! agents that support it.
//!
//! Knows: the protocol's messages, its positions, and the texts that a client has open. Does not know: how questions
//! are answered, which any [`super::Service`] can do. [`super::mcp`] leaves JSON-RPC to the official SDK, whose
//! messages are specific to MCP, so `message.rs` has the little that is needed here.
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
