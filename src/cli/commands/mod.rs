//! What each command does, a file each.

mod agent;
mod aggregate;
mod asking;
mod audit;
mod cache;
mod completions;
mod config;
mod context;
mod daemon;
mod explain;
mod index;
mod init;
mod man;
mod mask;
mod mcp;
mod outline;
mod persona;
mod plan;
mod preset;
mod run;
mod slice;
mod slices;
mod status;
mod summarize;
mod symbol;
mod view;
mod watch;
mod words;

pub(super) use mcp::run as run_mcp;
pub(super) use run::{name, run};
