//! The Model Context Protocol, on standard input and output and over HTTP: the tools and resources that agents use.
//!
//! Knows: the description of each tool, the text of each answer, and how long it may be. Does not know: how questions
//! are answered, which any [`super::Service`] can do. The protocol itself is implemented by the official SDK.
//!
//! Start with [`serve`] and `http.rs`, then `tools.rs`.

mod agent_hints;
mod arguments;
mod http;
mod hydration;
mod kept;
mod lines;
mod questions;
mod references;
mod resources;
mod server;
mod show;
mod structured;
mod subscriptions;
mod tasks;
mod tools;
mod transport;

#[cfg(test)]
mod tests;

pub(super) use http::{EndpointLimits, MCP_PATH, endpoint};
pub(super) use tools::tool_texts;
pub use transport::{McpInfo, serve};
