//! The languages: for each, a table of nodes, and functions for the nodes that a table cannot describe.
//!
//! A new language is a file here and a line in `registry`; its name and file name endings are rows of `discover`'s
//! table of file types. Imports `text`, `preprocess` and `outline`.

#[cfg(any(feature = "lang-csharp", feature = "lang-kotlin"))]
mod braces;
mod c;
#[cfg(feature = "lang-cmake")]
mod cmake;
#[cfg(feature = "lang-typescript")]
mod components;
#[cfg(feature = "lang-csharp")]
mod csharp;
#[cfg(feature = "lang-css")]
mod css;
#[cfg(feature = "lang-dockerfile")]
mod dockerfile;
#[cfg(feature = "lang-go")]
mod go;
#[cfg(feature = "lang-html")]
mod html;
#[cfg(feature = "lang-java")]
mod java;
#[cfg(any(feature = "lang-javascript", feature = "lang-typescript"))]
mod javascript;
#[cfg(feature = "lang-json")]
mod json;
#[cfg(feature = "lang-kotlin")]
mod kotlin;
#[cfg(any(
    feature = "lang-cmake",
    feature = "lang-dockerfile",
    feature = "lang-html",
    feature = "lang-json",
    feature = "lang-makefile",
    feature = "lang-toml",
    feature = "lang-typescript",
    feature = "lang-yaml",
))]
mod lines;
#[cfg(feature = "lang-lua")]
mod lua;
#[cfg(feature = "lang-makefile")]
mod make;
#[cfg(feature = "lang-markdown")]
mod markdown;
#[cfg(feature = "lang-php")]
mod php;
#[cfg(feature = "lang-protobuf")]
mod protobuf;
mod python;
mod registry;
#[cfg(feature = "lang-ruby")]
mod ruby;
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
#[cfg(feature = "lang-toml")]
mod toml;
#[cfg(feature = "lang-typescript")]
mod typescript;
#[cfg(feature = "lang-yaml")]
mod yaml;
#[cfg(feature = "lang-zig")]
mod zig;

pub(in crate::syntax) use python::PYTHON;
#[cfg(test)]
pub(in crate::syntax) use registry::LANGUAGES;
pub(in crate::syntax) use registry::compiled_language;
pub use registry::{LANGUAGE_COUNT, missing_feature};
