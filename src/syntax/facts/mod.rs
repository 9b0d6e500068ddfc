//! The facts of a file about its names: definitions, scopes, imports, bindings and uses, from one parse of the full
//! text.
//!
//! Knows: how each language defines, binds and imports names. Does not know: other files. What a name refers to is
//! decided by the room `references`, which joins the facts of all files.
//!
//! `builder` collects facts, `derive` chooses the reader of a language, and `by_name` reads the languages whose names
//! are only compared; each folder reads one language, starting in its `reader`. Imports `text`, `outline`,
//! `preprocess` and `languages`.
//!
//! Start with [`source_facts`].

mod branches;
mod builder;
mod by_name;
mod c;
mod derive;
mod go;
mod java;
mod manifest;
mod python;
mod rust;
mod rust_macros;
mod script;
mod script_objects;

#[cfg(test)]
mod tests;

pub use derive::{facts_producer, has_facts, source_facts};
