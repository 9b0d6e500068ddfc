//! The program at its door: the real binary in a sandbox, on real files and real git repositories.
//!
//! Knows: what is typed, printed and written. Does not know: how any of it comes about. Each file is a subject; start
//! with [`sandbox::Sandbox`].

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks at real files and may stop"
)]

mod agent;
mod aggregate;
mod cache;
mod commands;
mod curated_documents;
mod curation_commands;
mod daemon;
mod discovery;
mod freshness;
mod help;
mod incremental;
mod index;
mod mcp;
mod outputs;
mod providers;
mod samples;
mod sandbox;
mod sections;
mod session;
mod slices;
mod store_file;
mod tiers;
mod unusual_files;
mod view_flags;
