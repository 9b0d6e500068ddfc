//! The command line: parses arguments, and produces output, progress and an exit code.
//!
//! Knows: flags, the terminal, the environment, where a project's folder is. Does not know: how anything is found or
//! derived; it asks [`crate::api`] like any other client. `args.rs` and the `*_args.rs` files declare every command,
//! `commands/` implements them.
//!
//! Start with [`main`].

mod args;
mod background_args;
mod cache_args;
mod commands;
mod curation_args;
mod document_args;
mod failure;
mod file_args;
mod first_page;
mod hydration_args;
mod install_args;
mod link_args;
mod location;
mod output;
mod progress;
mod reference_args;
mod run;
mod share_args;
mod values;
mod version;

pub use args::CliArgs;
pub use run::main;
