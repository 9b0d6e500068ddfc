//! Bytes to structure: outline, skeleton, signatures, docs and parse health. Never fails.
//!
//! Knows: tree-sitter, and what each language's nodes mean. Does not know: files, paths, the cache, the clock (the
//! caller says when to give up). What cannot be understood comes back as a health below 1, never as an error.
//!
//! A text goes through some steps, each a file: `source` holds the text and tells where a parsed byte stands in it,
//! `reduce` makes it smaller and fitter for its grammar, `parse` makes a tree of it within limits, `walk` visits the
//! nodes that a language's table names and collects symbols and cuts, `recover` adds what was lost on the way,
//! `skeleton` carries the cuts out. A language is a folder under `languages`: a table of nodes, and the functions that
//! read those which a table cannot describe.
//!
//! Start with [`derive()`].

mod comments;
mod define;
mod directives;
mod forward;
mod heads;
mod health;
mod identifiers;
mod language;
mod languages;
mod markup;
mod nodes;
mod notebook;
mod parse;
mod recover;
mod reduce;
mod reduced;
mod rule;
mod skeleton;
mod source;
mod structure;
mod taken;
mod trim;
mod walk;
mod words;

#[cfg(test)]
mod golden_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod taken_tests;
#[cfg(test)]
mod testing;

pub use identifiers::identifiers;
pub use identifiers::import_number;
pub use identifiers::name_number;
pub use identifiers::references;
pub use identifiers::references_producer;
pub use language::grammar_version;
pub use language::has_structure;
pub use languages::missing_feature;
pub use structure::FileStructure;
pub use structure::checked_skeleton;
pub use structure::count_errors;
pub use structure::derive;
pub use structure::derive_without_preprocessing;
pub use structure::outline_producer;
pub use structure::preprocessed_text;
pub use structure::skeleton_producer;
