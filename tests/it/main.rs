//! End-to-end tests: the real binary in a sandbox, with real files and real git repositories.
//!
//! They check command lines, output and written files, never internals. Each file covers one subject; start
//! with [`sandbox::Sandbox`].

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests use real files and may panic")]

mod agent;
mod aggregate;
mod cache;
mod cache_replay;
mod commands;
mod curated_documents;
mod curation_commands;
mod daemon;
mod discovery;
mod finding;
mod freshness;
mod help;
mod hidden_symbols;
mod hostile_cache;
mod hostile_links;
mod hostile_repository;
mod hostile_text;
mod hostile_words;
mod hydration;
mod incremental;
mod index;
mod install;
mod left_out_folders;
mod library;
mod links;
mod lsp;
mod mcp;
mod orchestrator;
mod outputs;
mod project_root;
mod providers;
mod references;
mod request_curation;
mod samples;
mod sandbox;
mod secrets;
mod sections;
mod session;
mod settings_problems;
mod slices;
mod store_file;
mod tasks;
mod tiers;
mod unusual_files;
mod view_flags;
mod worktrees;
