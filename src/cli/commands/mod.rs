//! What each command does, a file each.

mod aggregate;
mod beside;
mod cache;
mod choice;
mod completions;
mod config;
mod desk;
mod explain;
mod index;
mod init;
mod man;
mod mask;
mod mcp;
mod mcp_service;
mod outline;
mod persona;
mod plan;
mod preset;
mod profile;
mod run;
mod slice;
mod slices;
mod status;
mod symbol;
mod view;

pub(super) use mcp::run as run_mcp;
pub(super) use run::name;
pub(super) use run::run;
