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
mod audit;
mod budgets;
mod cache;
mod cache_paid;
mod commands;
mod curated;
mod curation;
mod curious_files;
mod daemon;
mod discovery;
mod disk_full;
mod freshness;
mod help;
mod index;
mod kill;
mod languages;
mod mcp;
mod outputs;
mod picks;
mod providers;
mod sandbox;
mod sections;
mod session;
mod since;
mod slices;
mod store_file;
mod tiers;
mod written;
