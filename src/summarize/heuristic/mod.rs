//! The summary of a file without a model: structure to text, in at most 600 bytes.
//!
//! | file | describes |
//! |---|---|
//! | `summary` | every file: it selects one of the others |
//! | `code`, `symbols`, `exports`, `docs`, `comments`, `declarations`, `language_names` | source code, with and without a parser |
//! | `templates`, `components` | templates, single-file components and pages |
//! | `prose`, `prose_reading`, `markdown`, `markup` | texts in several markups |
//! | `row_names` | files without an outline, by names alone |
//! | `config`, `config_values`, `yaml` | configuration files by their keys |
//! | `data` | tables, records, lock files, patches, notebooks |
//!
//! All of them write on the `SummaryPage` of `page`. Start with [`heuristic`].

mod code;
mod comments;
mod components;
mod config;
mod config_values;
mod data;
mod declarations;
mod docs;
mod exports;
mod language_names;
mod markdown;
mod markup;
mod page;
mod prose;
mod prose_reading;
mod row_names;
mod summary;
mod symbols;
mod templates;
mod yaml;

pub(super) use comments::leading_paragraph;
pub(super) use config::keys;
pub use page::{SummaryInput, is_machine_written, is_marked_as_generated};
pub use prose::{Introduction, introduction};
pub use row_names::names_without_outline;
#[cfg(test)]
pub(super) use summary::tests;
pub use summary::{heuristic, producer};
pub(super) use symbols::{importance, main_symbols};
