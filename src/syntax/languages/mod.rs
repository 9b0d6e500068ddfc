//! One folder a language: a table of nodes, and functions that read those which a table cannot describe.
//!
//! A new language is a folder here and a line in `LANGUAGES`; its name and endings are in `discover`'s table of file
//! types already, or get a row there.

mod c;
mod cpp;
mod python;
mod registry;

pub(super) use python::LARGE_LITERAL;
pub(super) use registry::LANGUAGES;
