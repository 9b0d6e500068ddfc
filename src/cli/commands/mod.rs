//! What each command does.

mod agent;
mod asking;
mod cache;
mod cache_replay;
mod context;
mod curation;
mod daemon;
mod daemon_status;
mod doctor;
mod document;
mod given;
mod history;
mod hook;
mod hook_session;
mod hydration;
mod input;
mod install;
mod item;
mod items;
mod link;
mod plan;
mod preset;
mod queries;
mod references;
mod run;
mod servers;
mod setup;
mod share;
mod status;
mod summarize;
mod take;
mod ui;
mod uninstall;

pub(super) use hook::run as run_hook;
pub(super) use run::run;
pub(super) use servers::{lsp as run_lsp, mcp as run_mcp};
