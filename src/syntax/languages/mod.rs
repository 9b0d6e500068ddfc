//! One folder a language: a table of nodes, and functions that read those which a table cannot describe.
//!
//! A new language is a folder here and a line in `LANGUAGES`; its name and endings are in `discover`'s table of file
//! types already, or get a row there.

mod c;
mod cpp;
#[cfg(feature = "lang-csharp")]
mod csharp;
#[cfg(feature = "lang-go")]
mod go;
#[cfg(feature = "lang-java")]
mod java;
#[cfg(feature = "lang-kotlin")]
mod kotlin;
#[cfg(feature = "lang-lua")]
mod lua;
mod python;
mod registry;
#[cfg(feature = "lang-rust")]
mod rust;
#[cfg(feature = "lang-scala")]
mod scala;
#[cfg(feature = "lang-shell")]
mod shell;
#[cfg(feature = "lang-sql")]
mod sql;
#[cfg(feature = "lang-swift")]
mod swift;
#[cfg(feature = "lang-zig")]
mod zig;

pub(super) use python::PYTHON;
pub(super) use registry::LANGUAGES;
