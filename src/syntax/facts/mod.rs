//! What a file says about its names: definitions, scopes, imports, bindings and uses, from one parse of the full text.
//!
//! Knows: how each language defines, binds and imports names. Does not know: other files. What a name refers to is
//! decided by the room `references`, which joins the facts of all files.
//!
//! `builder` collects facts and `derive` chooses the reader of a language; the other files read a language each. Imports
//! `text`, `outline` and `languages`.
//!
//! Start with [`source_facts`].

mod builder;
mod by_name;
mod c;
mod c_heads;
mod c_tokens;
mod common_js;
mod cpp;
mod cpp_body;
mod cpp_functions;
mod cpp_paths;
mod cpp_tokens;
mod cpp_types;
mod derive;
mod go;
mod go_constraints;
mod go_types;
mod java;
mod java_types;
mod manifest;
mod python;
mod python_fixtures;
mod python_narrowing;
mod python_types;
mod rust;
mod rust_imports;
mod rust_items;
mod rust_macros;
mod rust_patterns;
mod rust_tokens;
mod rust_types;
mod script;
mod script_context;
mod script_manifest;
mod script_modules;
mod script_objects;
mod script_patterns;
mod script_syntax;
mod script_types;

#[cfg(test)]
mod tests;

pub use derive::{facts_producer, has_facts, source_facts};
