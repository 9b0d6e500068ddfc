//! What a file says about its names: definitions, scopes, imports, bindings and uses, from one parse of the full text.
//!
//! Knows: how each language defines, binds and imports names. Does not know: other files. What a name refers to is
//! decided by the room `references`, which joins the facts of all files.
//!
//! `builder` collects facts; the other files walk the tree of a language each. Imports `languages` and `outline`.
//!
//! Start with [`source_facts`].

mod builder;
mod c;
mod c_tokens;
mod derive;
mod python;
mod python_types;
mod script;
mod script_types;

#[cfg(test)]
mod tests;

pub use derive::{facts_version, has_facts, source_facts};
